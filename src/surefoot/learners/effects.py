"""What accepted calls change: a small language of edits of a plain state, read from before and after.

A *path* leads from the root of a state to a part of it: the keys of objects and the places of arrays. A tuple of pairs
(text, value) in the order of the texts is read as an object too, so that `(("axe", 1), ("log", 2))` has the parts `axe`
and `log`. A step of a path, and a value, may be an argument of the call (`Arg`); a value may be another part of the
state
before the call (`Field`).

| `do` | what it does to the part at `path` |
|---|---|
| `set` | makes it `value`; makes it anew where it is not there |
| `delete` | takes it away |
| `add`, `subtract` | adds `value` to a number, or takes it away from it |
| `gain`, `lose` | the same for a count that is not there while it is 0 |
| `append` | puts `value` behind the last element of an array |
| `insert` | puts `value` into an array at its place in the order |
| `remove` | takes the first element equal to `value` out of an array |

A *program* is a set of edits whose places do not contain one another and that can be made in every call; amounts that
are added to a float have at most nine decimals, and the float is less than a million. A model keeps, for the accepted
calls of each case, all programs that explain what was seen, and predicts what all that count agree on:

- with `caution="safe"` all of them count. Where one program changes the state in each case, a predicted next state is
  the true one, whatever was seen: that program is among those that agreed.
- else only those count that edit nothing that never changed; and all accepted calls of the action are taken together
  where one program explains them, or those with one value of the condition that has the fewest values. That is right
  once calls have been seen in which the candidates differ; before, what never changed so far is taken to stay.

Source: version spaces, Mitchell 1982; for programs by demonstration, Lau, Wolfman, Domingos and Weld 2003.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.learners._parts import ABSENT, children, get, is_number, kind_of, path_in_words, put, same

__all__ = ["Arg", "Edit", "EffectRule", "Field", "apply_edits", "diff"]

_EXACT = 1e6
"""Below this, a difference of two floats, rounded to nine decimals, is the amount that was added if that has so few."""
_WORDS = {
    "set": "set {path} to {value}",
    "delete": "delete {path}",
    "add": "add {value} to {path}",
    "subtract": "subtract {value} from {path}",
    "gain": "gain {value} of {path}",
    "lose": "lose {value} of {path}",
    "append": "append {value} to {path}",
    "insert": "insert {value} into {path}",
    "remove": "remove {value} from {path}",
}


@dataclass(frozen=True, slots=True)
class Arg:
    """Stand for the value of an argument, or of a part of it.

    Attributes:
        name: the argument's name.
        path: the way to a part of it; () for all of it.

    Example:
        >>> str(Arg("order")), str(Arg("card", ("number",)))
        ('{order}', '{card.number}')
    """

    name: str
    path: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        """Show it in braces."""
        part = path_in_words(self.path) if self.path else ""
        return "{" + self.name + (f".{part}" if part and part[0] != "[" else part) + "}"


@dataclass(frozen=True, slots=True)
class Field:
    """Stand for the value of a part of the state before the call.

    Attributes:
        path: the way to it; a step may be an `Arg`.

    Example:
        >>> str(Field(("shop", Arg("item"), "price")))
        'shop[{item}].price'
    """

    path: tuple[str | int | Arg, ...]

    def __str__(self) -> str:
        """Show the path."""
        return path_in_words(self.path)


@dataclass(frozen=True, slots=True)
class Edit:
    """Say one change of a state; see the module's table.

    Attributes:
        do: what is done, one of the table's words.
        path: where; a step may be an `Arg`.
        value: a plain value, an `Arg` or a `Field`; None for "delete".

    Raises:
        BadArgument: `do` is none of the words.

    Example:
        >>> print(Edit("add", ("gold",), 3), "and", Edit("set", ("orders", Arg("id"), "status"), "cancelled"))
        add 3 to gold and set orders[{id}].status to 'cancelled'
        >>> Edit("set", ("place",), "hall").to_json()
        {'do': 'set', 'path': ['place'], 'value': 'hall'}
    """

    do: str
    path: tuple[str | int | Arg, ...]
    value: Any = None

    def __post_init__(self) -> None:
        """Check the word."""
        if self.do not in _WORDS:
            raise BadArgument(f"do must be one of {sorted(_WORDS)}, got {self.do!r}")

    def __str__(self) -> str:
        """Say it in words."""
        value = str(self.value) if isinstance(self.value, Arg | Field) else repr(self.value)
        return _WORDS[self.do].format(path=path_in_words(self.path), value=value)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data: arguments as {"arg": path}, fields as {"field": path}.

        Example:
            >>> Edit("remove", ("bag",), Arg("item")).to_json()
            {'do': 'remove', 'path': ['bag'], 'value': {'arg': ['item']}}
        """
        told: dict[str, Any] = {"do": self.do, "path": _path_to_json(self.path)}
        if isinstance(self.value, Arg):
            told["value"] = {"arg": [self.value.name, *self.value.path]}
        elif isinstance(self.value, Field):
            told["value"] = {"field": _path_to_json(self.value.path)}
        elif self.do != "delete":
            told["value"] = values.copy(self.value)
        return told

    def to(self, state: Any, args: Mapping[str, Any]) -> Edit:
        """Return the same edit with every `Arg` and `Field` replaced by what it holds in a call.

        Raises:
            BadArgument: an argument or a field is not there.

        Example:
            >>> print(Edit("add", ("bag", Arg("what")), Field(("luck",))).to({"luck": 2}, {"what": "log"}))
            add 2 to bag.log
        """
        value = self.value
        if isinstance(value, Field):
            value = _held(state, tuple(_step(step, args) for step in value.path), value)
        elif isinstance(value, Arg):
            value = _held(args, (value.name, *value.path), value)
        return Edit(self.do, tuple(_step(step, args) for step in self.path), value)


@dataclass(frozen=True, slots=True)
class EffectRule:
    """Say what accepted calls of an action change, in one kind of cases.

    Attributes:
        action: the action's name.
        when: the condition that it goes for, in words; "" when it goes for all of the action's accepted calls.
        edits: the fewest edits that explain all that was seen; () when nothing changed, None when no program of this
            language explains it.
        times: how many accepted calls it rests on.
        settled: only these edits explain what was seen; otherwise others do too, and a call where they would differ
            is not predicted.
        seen: (edits in words, how often), the most frequent first: more than one where the effects vary; empty when
            there were too many different ones.

    Example:
        >>> print(EffectRule("rest", "", (Edit("add", ("energy",), 1),), 5, True, (("add 1 to energy", 5),)))
        add 1 to energy (5 calls)
    """

    action: str
    when: str
    edits: tuple[Edit, ...] | None
    times: int
    settled: bool
    seen: tuple[tuple[str, int], ...]

    @property
    def confidence(self) -> float:
        """Return the share of calls that the edits explain: 1.0, or where effects vary that of the most frequent.

        Example:
            >>> EffectRule("roll", "", None, 4, False, (("add 1 to n", 3), ("add 2 to n", 1))).confidence
            0.75
        """
        if self.edits is not None:
            return 1.0
        return self.seen[0][1] / self.times if self.seen else 0.0

    def __str__(self) -> str:
        """Say it in one line."""
        calls = "1 call" if self.times == 1 else f"{self.times} calls"
        if self.edits is None:
            told = ", or ".join(f"{words} ({times} of {self.times})" for words, times in self.seen[:4])
            what = f"it varies: {told or 'too many different effects to list'}"
        else:
            what = f"{' and '.join(map(str, self.edits)) or 'nothing changes'} ({calls})"
        return f"when {self.when}: {what}" if self.when else what


def diff(before: Any, after: Any) -> list[Edit]:
    """Return edits without arguments that make `after` out of `before`, each as deep as it can be.

    Raises:
        ValueRejected: one of them is not plain.

    Cost: linear in the size of both.

    Example:
        >>> for edit in diff({"gold": 5, "bag": ["axe"]}, {"gold": 3, "bag": ["axe", "bow"], "wet": True}):
        ...     print(edit)
        append 'bow' to bag
        subtract 2 from gold
        set wet to True
    """
    found: list[Edit] = []
    _diff(values.copy(before), values.copy(after), (), found)
    return found


def apply_edits(state: Any, edits: Iterable[Edit], args: Mapping[str, Any] | None = None) -> Any:
    """Return the state after some edits; all of them read the state before the first. `state` stays as it was.

    Raises:
        BadArgument: an edit cannot be made there.
        ValueRejected: the state is not plain.

    Example:
        >>> apply_edits({"gold": 5, "at": "hall"}, [Edit("set", ("at",), Arg("to"))], {"to": "yard"})
        {'at': 'yard', 'gold': 5}
        >>> apply_edits((1, (("log", 1),)), [Edit("lose", (1, "log"), 1)])
        (1, ())
    """
    start = values.copy(state)
    now = start
    for edit in edits:
        concrete = edit.to(start, args or {})
        path: tuple[Any, ...] = concrete.path
        made = applied(concrete.do, get(now, path), concrete.value)
        if made is None:
            raise BadArgument(f"cannot {concrete}: there is {_shown(get(now, path))}")
        now = put(now, path, made[0])
    return values.copy(now)


def applied(do: str, held: Any, value: Any) -> tuple[Any] | None:
    """Return what one edit makes of a part, in a tuple of one; None where it cannot be made."""
    if do == "set":
        return (value,)
    if do == "delete":
        return None if held is ABSENT else (ABSENT,)
    if do in ("add", "subtract", "gain", "lose"):
        counts = do in ("gain", "lose")
        start = 0 if counts and held is ABSENT else held
        if not is_number(start) or not is_number(value):
            return None
        made = start + value if do in ("add", "gain") else start - value
        if counts:
            return None if made < 0 else (made or ABSENT,)
        return (made,) if made - made == 0 else None
    if not isinstance(held, list | tuple):
        return None
    items = list(held)
    if do == "append":
        items.append(value)
    elif do == "insert":
        if not in_order(items):
            return None
        at = next((n for n, item in enumerate(items) if _rank(item) > _rank(value)), len(items))
        items.insert(at, value)
    else:
        at = next((n for n, item in enumerate(items) if same(item, value)), -1)
        if at < 0:
            return None
        del items[at]
    return (type(held)(items),)


def in_order(items: Sequence[Any]) -> bool:
    """Say whether values stand in their order."""
    keys = [_rank(item) for item in items]
    return all(a <= b for a, b in zip(keys, keys[1:], strict=False))


def _rank(value: Any) -> tuple[int, Any]:
    """Return the place of a value among others: numbers by size, then texts, then anything else."""
    if is_number(value):
        return 0, value
    return (1, value) if type(value) is str else (2, values.order(value))


def _diff(a: Any, b: Any, path: tuple[str | int, ...], found: list[Edit]) -> None:
    """Collect the edits below one part."""
    kind = kind_of(a, b)
    if kind != "object" and same(a, b):
        return
    if kind == "object":
        mine, theirs = children(a), children(b)
        for key in sorted({**mine, **theirs}, key=str):
            if key not in theirs:
                found.append(Edit("delete", (*path, key)))
            elif key not in mine:
                found.append(Edit("set", (*path, key), theirs[key]))
            else:
                _diff(mine[key], theirs[key], (*path, key), found)
        return
    if kind == "array":
        edit = array_edit(a, b, path)
        if edit is not None:
            found.append(edit)
            return
        if len(a) == len(b):
            for at, (mine, theirs) in enumerate(zip(a, b, strict=True)):
                _diff(mine, theirs, (*path, at), found)
            return
    amount = step_between(a, b)
    if amount is not None:
        found.append(Edit("add" if amount >= 0 else "subtract", path, abs(amount)))
    else:
        found.append(Edit("set", path, b))


def array_edit(a: Any, b: Any, path: tuple[str | int, ...]) -> Edit | None:
    """Return the one element that was added or taken out, None when it is not one."""
    if len(b) == len(a) + 1:
        at = next((n for n, item in enumerate(a) if not same(item, b[n])), len(a))
        if at == len(a):
            return Edit("append", path, b[-1])
        made = applied("insert", a, b[at])
        return Edit("insert", path, b[at]) if made is not None and same(made[0], b) else None
    if len(b) == len(a) - 1:
        at = next((n for n, item in enumerate(b) if not same(item, a[n])), len(b))
        made = applied("remove", a, a[at])
        return Edit("remove", path, a[at]) if made is not None and same(made[0], b) else None
    return None


def step_between(a: Any, b: Any) -> int | float | None:
    """Return the number that makes `b` when added to `a`, None when there is none that does so exactly."""
    if not is_number(a) or type(a) is not type(b):
        return None
    amount: int | float = b - a
    if type(amount) is float:
        if amount - amount != 0:
            return None
        amount = round(amount, 9)  # 0.1, not 0.09999999999999998
        if not amount.is_integer() and max(abs(a), abs(b)) > _EXACT:
            return None  # several amounts of nine decimals would do
    return amount if same(a + amount, b) else None


def _step(step: str | int | Arg, args: Mapping[str, Any]) -> str | int:
    if not isinstance(step, Arg):
        return step
    value = _held(args, (step.name, *step.path), step)
    if type(value) not in (str, int):
        raise BadArgument(f"{step} is {value!r}: a step of a path is a text or an int")
    return value  # type: ignore[no-any-return]  # checked above


def _held(whole: Any, path: tuple[str | int, ...], what: Arg | Field) -> Any:
    value = get(whole, path)
    if value is ABSENT:
        raise BadArgument(f"there is no {what}")
    return value


def _path_to_json(path: tuple[str | int | Arg, ...]) -> list[Any]:
    return [{"arg": [step.name, *step.path]} if isinstance(step, Arg) else step for step in path]


def _shown(value: Any) -> str:
    return "nothing" if value is ABSENT else repr(value)
