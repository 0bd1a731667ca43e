"""How states and actions are written on a command line, and shown so that they can be typed back.

| typed | means |
|---|---|
| `docs/index.md` | the text `docs/index.md`: what does not start with `=` is text, as it is |
| `=15`, `=1.0`, `=true`, `=null` | the JSON value after the `=`: a number, a truth value, None |
| `'=["git","remote"]'` | a JSON array is a tuple |
| `'={"name":"cancel"}'` | a JSON object (an action may be one) |
| `'="=x"'` | a text that starts with `=`, or one with blanks at its ends, or with characters that cannot be seen |

Beyond plain JSON the two marks of `surefoot.values` are read: `{"~l":[…]}` is a list, `{"~i":"0x…"}` an integer.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

from surefoot import values
from surefoot.errors import BadArgument

__all__ = ["action_of", "nearest", "safe", "spelled", "state_of", "words_of"]

_MOST_COMPARED = 2_000


def state_of(text: str) -> Any:
    """Return the state that was typed as `text`.

    Raises:
        BadArgument: what follows the `=` is not JSON.
        ValueRejected: it is no state.

    Example:
        >>> state_of("docs/index.md"), state_of('=["git","remote"]'), state_of("=15"), state_of('="=15"')
        ('docs/index.md', ('git', 'remote'), 15, '=15')
    """
    value = _value_of(text)
    values.encode_state(value)
    return value


def action_of(text: str) -> Any:
    """Return the action that was typed as `text`.

    Raises:
        BadArgument: what follows the `=` is not JSON.
        ValueRejected: it is no action.

    Example:
        >>> action_of("north"), action_of('=["link","About us"]'), action_of('={"name":"cancel"}')
        ('north', ('link', 'About us'), {'name': 'cancel'})
    """
    value = _value_of(text)
    values.encode_action(value)
    return value


def spelled(value: Any) -> str:
    r"""Return what to type for a state or an action (a shell may want quotes around it).

    Example:
        >>> spelled("docs/index.md"), spelled(("git", "remote")), spelled(1.0), spelled("=x"), spelled("a\x1b[2J")
        ('docs/index.md', '=["git","remote"]', '=1.0', '="=x"', '="a\\u001b[2J"')
    """
    if type(value) is str and value and value[0] != "=" and value.strip() == value and value.isprintable():
        return value
    text = values.encode(value).decode()
    return "=" + (text if text.isprintable() else json.dumps(json.loads(text), separators=(",", ":")))


def safe(text: str) -> str:
    r"""Return a text from the world with all that a terminal might obey made visible.

    Example:
        >>> safe("404 Not Found"), safe("red \x1b[31m alert\n")
        ('404 Not Found', 'red \\x1b[31m alert\\n')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def words_of(value: Any) -> str:
    """Return any plain value for reading: a text as it is, anything else as JSON.

    Example:
        >>> words_of("Home"), words_of(404), words_of(["a", None])
        ('Home', '404', '["a",null]')
    """
    if isinstance(value, str):
        return safe(value)
    return safe(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def nearest(text: str, known: Iterable[Any], most: int = 3) -> list[str]:
    """Return how the values in `known` that look most like `text` are spelled, the likeliest first.

    Args:
        text: what was typed.
        known: what there is.
        most: how many to return.

    Cost: reads all of `known`; compares letters with 2,000 of them.

    Example:
        >>> nearest("git remote", [("git",), ("git", "remote"), ("git", "rebase")], most=1)
        ['=["git","remote"]']
        >>> nearest("cli.md", ["docs", "docs/index.md", "docs/reference/cli.md"])[0]
        'docs/reference/cli.md'
    """
    wanted = text.casefold()
    forms = [(spelled(value), _loose(value)) for value in known]
    inside = sorted((form for form in forms if wanted in form[1] or wanted in form[0].casefold()), key=_length)
    pool = sorted(
        (form for form in forms if form not in inside[:most]), key=lambda form: abs(_length(form) - len(text))
    )
    by_form = {form[1]: form[0] for form in reversed(pool[:_MOST_COMPARED])}
    alike = difflib.get_close_matches(wanted, by_form, n=most, cutoff=0.5)
    return list(dict.fromkeys([*(form[0] for form in inside[:most]), *(by_form[form] for form in alike)]))[:most]


def _length(form: tuple[str, str]) -> int:
    return len(form[0])


def _loose(value: Any) -> str:
    """Return a value as somebody would type it who has not read the rules."""
    parts = value if isinstance(value, tuple) else (value,)
    return " ".join(map(str, parts)).casefold()


def _value_of(text: str) -> Any:
    if not text.startswith("="):
        return text
    try:
        return _thaw(json.loads(text[1:], object_pairs_hook=_object))
    except BadArgument:
        raise
    except (ValueError, RecursionError) as error:
        raise BadArgument(
            f"{text!r} is not JSON after the '=' ({error}): write '=15', '=[\"git\",\"remote\"]', "
            f"or for the text itself '={json.dumps(text)}'"
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, unless a key stands in it twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise BadArgument(f"a key stands twice in the object with the keys {[key for key, _ in pairs]}")
    return made


def _thaw(raw: Any) -> Any:
    """Turn parsed JSON into the plain value it stands for."""
    if isinstance(raw, list):
        return tuple(map(_thaw, raw))
    if isinstance(raw, dict):
        if list(raw) == ["~l"] and isinstance(raw["~l"], list):
            return list(map(_thaw, raw["~l"]))
        if list(raw) == ["~i"] and isinstance(raw["~i"], str):
            try:
                return int(raw["~i"], 16)
            except ValueError:
                raise BadArgument(f"{raw['~i']!r} is no hexadecimal number") from None
        return {key[1:] if key.startswith("~~") else key: _thaw(item) for key, item in raw.items()}
    return raw
