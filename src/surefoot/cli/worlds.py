"""Worlds by name: `files:PATH`, `commands:PROGRAM`, `site:URL`, `gym:ID`, `corridor:LENGTH`.

An option is a keyword argument of the world's class, written `name=value`: after `-o`, or, for the worlds whose own
name may hold no `?`, after one (`gym:FrozenLake-v1?is_slippery=false&map_name=8x8`). Which options there are is read
from the class, so that a new one needs no change here.
"""

from __future__ import annotations

import fnmatch
import inspect
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from surefoot.cli.spelling import spelled
from surefoot.errors import BadArgument
from surefoot.protocols import Closable, Describable, Environment, Outcome, Signposted, refused

__all__ = ["LEFT_OUT", "WORLDS", "Without", "open_world", "options_of"]

LEFT_OUT = "left out"
"""Why `Without` refuses an action.

Example:
    >>> LEFT_OUT
    'left out'
"""


def open_world(name: str, options: Iterable[str] = (), *, without: Sequence[str] = ()) -> Environment[Any, Any]:
    """Return the world called `name`.

    Args:
        name: KIND:REST, see the module.
        options: texts `name=value`.
        without: patterns of actions to leave out, see `Without`.

    Raises:
        BadArgument: there is no such kind of world, or no such option, or its value is none.
        WorldUnavailable: the world is not there.

    Example:
        >>> open_world("corridor:5").length, open_world("files:.", ["hidden=no"]).hidden
        (5, False)
        >>> open_world("corridoor:5")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: no world 'corridoor:5': did you mean 'corridor:5'? There are files:PATH, ...
    """
    kind, colon, rest = name.partition(":")
    if not colon or kind not in WORLDS:
        near = get_close_matches(kind, WORLDS, n=1, cutoff=0.5)
        hint = f"did you mean {f'{near[0]}:{rest}'!r}? " if near and colon else ""
        shown = ", ".join(f"{kind}:{rest}" for kind, (rest, _) in WORLDS.items())
        raise BadArgument(f"no world {name!r}: {hint}There are {shown}")
    given = list(options)
    if kind not in ("files", "site"):  # whose own names may hold a ?
        rest, _, query = rest.partition("?")
        given = [*filter(None, query.split("&")), *given]
    if not rest:
        raise BadArgument(f"{name!r} names no world: write {kind}:{WORLDS[kind][0]}")
    world = WORLDS[kind][1](rest, given)
    return Without(world, without) if without else world


class Without:
    """A world some of whose actions are left out: they are not on offer, and refused when they are taken.

    Args:
        world: the world.
        patterns: what to leave out, as for file names (`__pycache__`, `*.pyc`, `Log out*`): an action is left out when
            its text matches, or, of an action that is a tuple, a text in it.

    Raises:
        BadArgument: `patterns` is one text.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> world = Without(Corridor(), ["left"])
        >>> world.reset(), world.actions(0), world.step("left").reason, world.step("right").state
        (0, ['right'], 'left out', 1)
    """

    def __init__(self, world: Environment[Any, Any], patterns: Sequence[str]) -> None:
        """Wrap it."""
        if isinstance(patterns, str):
            raise BadArgument(f"patterns must be a list of texts, got {patterns!r}: write [{patterns!r}]")
        self._world = world
        self._match = re.compile("|".join(map(fnmatch.translate, patterns)) or "(?!)").match
        self._here: Any = None

    def reset(self, seed: int | None = None) -> Any:
        """Start an episode."""
        self._here = self._world.reset(seed=seed)
        return self._here

    def actions(self, state: Any) -> Sequence[Any]:
        """Return what is on offer and not left out."""
        return [action for action in self._world.actions(state) if not self._is_left_out(action)]

    def step(self, action: Any) -> Outcome[Any]:
        """Take an action that is not left out."""
        if self._is_left_out(action):
            return refused(self._here, LEFT_OUT)
        outcome = self._world.step(action)
        self._here = outcome.state
        return outcome

    def signs(self, state: Any) -> Sequence[tuple[Any, Any]]:
        """Return the world's signs, those left out excepted."""
        if not isinstance(self._world, Signposted):
            return []
        return [(action, to) for action, to in self._world.signs(state) if not self._is_left_out(action)]

    def describe(self, state: Any) -> Mapping[str, Any]:
        """Return what the world says about a state."""
        return self._world.describe(state) if isinstance(self._world, Describable) else {}

    def close(self) -> None:
        """Close the world."""
        if isinstance(self._world, Closable):
            self._world.close()

    def _is_left_out(self, action: Any) -> bool:
        if type(action) is str:
            return self._match(action) is not None
        parts = action if isinstance(action, tuple) else (action,)
        return any(self._match(part if isinstance(part, str) else spelled(part)) for part in parts)


# ── the kinds ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _files(rest: str, given: list[str]) -> Environment[Any, Any]:
    from surefoot.environments.files import Files

    return Files(rest, **_read(Files, "files", given))


def _commands(rest: str, given: list[str]) -> Environment[Any, Any]:
    from surefoot.environments.commands import Commands

    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise BadArgument(f"the program {rest!r} cannot be split into words: {error}") from None
    return Commands(words[0] if len(words) == 1 else words, **_read(Commands, "commands", given))


def _site(rest: str, given: list[str]) -> Environment[Any, Any]:
    from surefoot.environments.site import Site

    return Site(rest, **_read(Site, "site", given))


def _gym(rest: str, given: list[str]) -> Environment[Any, Any]:
    from surefoot.environments.from_gymnasium import FromGymnasium

    return FromGymnasium(rest, **_read(FromGymnasium, "gym", given))


def _corridor(rest: str, given: list[str]) -> Environment[Any, Any]:
    from surefoot.environments.corridor import Corridor

    try:
        length = _int(rest)
    except BadArgument as error:
        raise BadArgument(f"no world 'corridor:{rest}': {error}; write it like corridor:5") from None
    return Corridor(length, **_read(Corridor, "corridor", given))


WORLDS: Mapping[str, tuple[str, Callable[[str, list[str]], Environment[Any, Any]]]] = {
    "files": ("PATH", _files),
    "commands": ("PROGRAM", _commands),
    "site": ("URL", _site),
    "gym": ("ID", _gym),
    "corridor": ("LENGTH", _corridor),
}
"""For each kind of world what its name goes on with, and how it is made.

Example:
    >>> [f"{kind}:{rest}" for kind, (rest, _) in WORLDS.items()]
    ['files:PATH', 'commands:PROGRAM', 'site:URL', 'gym:ID', 'corridor:LENGTH']
"""

# ── options ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def options_of(world: type) -> dict[str, str]:
    """Return {option: the type that the class gives it} for what can be typed.

    Example:
        >>> from surefoot.environments.files import Files
        >>> options_of(Files)
        {'hidden': 'bool', 'follow_links': 'bool', 'max_entries': 'int | None'}
    """
    parameters = inspect.signature(world).parameters.values()
    shown = {p.name: str(p.annotation) for p in parameters if p.kind is p.KEYWORD_ONLY}
    return {name: kind for name, kind in shown.items() if _reader(kind) is not None}


def _read(world: type, kind: str, given: list[str]) -> dict[str, Any]:
    """Return the keyword arguments that were given as `name=value`."""
    known = options_of(world)
    more = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(world).parameters.values())
    found: dict[str, Any] = {}
    for option in given:
        name, equals, text = option.partition("=")
        name = name.replace("-", "_")
        if not equals or not name:
            raise BadArgument(f"an option reads name=value, got {option!r}")
        if name not in known and (not more or name in inspect.signature(world).parameters):
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}? " if near else ""
            raise BadArgument(f"{kind} has no option {name!r}: {hint}It has {', '.join(known) or 'none'}")
        if name in found:
            raise BadArgument(f"the option {name} is given twice")
        try:
            found[name] = _value(known[name], text) if name in known else _guess(text)
        except ValueError as error:
            raise BadArgument(f"{name}={text!r}: {error}") from None
    return found


def _value(kind: str, text: str) -> Any:
    """Return the value of an option whose type the class gives."""
    if "None" in kind and text.casefold() == "none":
        return None
    read = _reader(kind)
    assert read is not None  # options_of lists no others
    return read(text)


def _reader(kind: str) -> Callable[[str], Any] | None:
    """Return what reads the text of an option of this type, None for what cannot be typed."""
    names = [part.strip() for part in kind.split("|")]
    for name, read in _READERS.items():
        if name in names:
            return read
    if any(name.startswith("Literal[") for name in names):
        return str
    return _words if any(name.endswith("[str]") for name in names) else None


def _bool(text: str) -> bool:
    for value, words in ((True, ("true", "yes", "on", "1")), (False, ("false", "no", "off", "0"))):
        if text.casefold() in words:
            return value
    raise ValueError("it must be true or false")


def _int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadArgument(f"{text!r} is no whole number") from None


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("it must be a number") from None


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _guess(text: str) -> Any:
    """Return the value of an option that the world only passes on: true, false, none, a number, or a text."""
    lower = text.casefold()
    if lower in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[lower]
    try:
        return json.loads(text)
    except ValueError:
        return text


_READERS: Mapping[str, Callable[[str], Any]] = {"bool": _bool, "int": _int, "float": _float, "str": str}
