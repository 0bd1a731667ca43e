"""Which raw values tell refusals that a vocabulary cannot explain from what was accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from surefoot import values
from surefoot.learners._parts import ABSENT, children, get, is_number
from surefoot.learners._spaces import places_of, resolved
from surefoot.learners.effects import Arg, Field

__all__ = ["Suggestion", "separate"]

Row = tuple[Any, Mapping[str, Any]]
"""The state and the arguments of one call."""

MOST_PLACES = 400
"""Only so many parts of a state are looked at, those first that most calls have."""
_SCALARS = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Name something that a vocabulary could read, and say how well it separates.

    Attributes:
        action: the action's name.
        what: the condition in words, with its values among the refused calls.
        reads: what it reads: an `Arg`, a `Field`, or a comparison of two of them as (word, one, other).
        code: the source of a predicate that reads it.
        refused: how many of the unexplained refusals it tells apart from every accepted call.
        unexplained: how many there are.
        accepted: how many of the accepted calls it tells apart from every unexplained refusal.
        of: how many accepted calls there are.

    Example:
        >>> found = separate("open", [({"lock": "red"}, {})] * 3, [({"lock": None}, {})] * 4)[0]
        >>> print(found)
        lock is 'red': 3 of 3 unexplained refusals, none of 4 accepted
        >>> found.code
        "lambda state, args: state['lock']"
    """

    action: str
    what: str
    reads: Any
    code: str
    refused: int
    unexplained: int
    accepted: int
    of: int

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.what}: {self.refused} of {self.unexplained} unexplained refusals, none of {self.of} accepted"


def separate(action: str, refused: Sequence[Row], accepted: Sequence[Row]) -> list[Suggestion]:
    """Return what separates refused calls from accepted ones, the best first.

    Looked at are the scalar arguments and parts of the state (a step of a path may be an argument), whether an argument
    is among the elements or keys of a part, whether two of them are equal, and whether one number is at most another. A
    value that is never repeated tells nothing: each distinct value has to explain more than one call.

    Args:
        action: the action's name.
        refused: (state, args) of the refusals to explain.
        accepted: (state, args) of the accepted calls.

    Cost: the number of calls times the square of what can be compared in one (at most `MOST_PLACES` parts).

    Example:
        >>> wet = [({"sky": "rain", "day": n}, {}) for n in range(3)]
        >>> dry = [({"sky": "sun", "day": n}, {}) for n in range(3, 6)]
        >>> [str(found) for found in separate("walk", wet, dry)][0]
        "sky is 'rain': 3 of 3 unexplained refusals, none of 3 accepted"
    """
    if not refused or not accepted:
        return []
    rows = [*refused, *accepted]
    columns = _columns(rows)
    found = []
    for reads, column in columns.items():
        told = _told(column[: len(refused)], column[len(refused) :])
        if told is None:
            continue
        gain, words, bad, good = told
        what = _words(reads, words)
        code = f"lambda state, args: {_code(reads, rows)}"
        found.append(
            (-bad, -gain, len(what), Suggestion(action, what, reads, code, bad, len(refused), good, len(accepted)))
        )
    return [suggestion for *_, suggestion in sorted(found, key=lambda item: (*item[:3], item[3].what))]


def _columns(rows: Sequence[Row]) -> dict[Any, list[Any]]:
    """Return what each thing that can be read holds in every row, `ABSENT` where it is not there."""
    names = sorted({name for _, args in rows for name in args})
    places: Counter[Any] = Counter()
    for state, args in rows:
        steps: dict[tuple[type, Any], list[Arg]] = {}
        for name in sorted(args):
            if type(args[name]) in (str, int):
                steps.setdefault((type(args[name]), args[name]), []).append(Arg(name))
        for path in _paths(state, ()):
            places.update(places_of(path, steps))
    kept = [place for place, _ in sorted(places.items(), key=lambda item: (-item[1], str(item[0])))[:MOST_PLACES]]
    raw: dict[Any, list[Any]] = {Arg(name): [args.get(name, ABSENT) for _, args in rows] for name in names}
    for place in kept:
        raw[Field(place)] = [_at(place, state, args) for state, args in rows]
    found = {reads: column for reads, column in raw.items() if any(isinstance(v, _SCALARS) for v in column)}
    scalars = list(found)
    for name, place in product(names, kept):
        mine, theirs = raw[Arg(name)], raw[Field(place)]
        if any(isinstance(part, list | tuple | Mapping) and part for part in theirs):
            found["in", Arg(name), Field(place)] = [_member(a, b) for a, b in zip(mine, theirs, strict=True)]
    for one, other in product(scalars, scalars):
        mine, theirs = raw[one], raw[other]
        if str(one) < str(other) and (isinstance(one, Arg) or isinstance(other, Arg)):
            found["equal", one, other] = [_equal(a, b) for a, b in zip(mine, theirs, strict=True)]
        if one != other and any(is_number(a) and is_number(b) for a, b in zip(mine, theirs, strict=True)):
            found["at most", one, other] = [
                bool(a <= b) if is_number(a) and is_number(b) else ABSENT for a, b in zip(mine, theirs, strict=True)
            ]
    return found


def _told(refused: list[Any], accepted: list[Any]) -> tuple[int, str, int, int] | None:
    """Return (how much a column separates, its values in words, refused and accepted calls told apart), or None."""
    bad, good = Counter(map(_key, refused)), Counter(map(_key, accepted))
    only_bad, only_good = bad.keys() - good.keys(), good.keys() - bad.keys()
    separated, kept = sum(bad[v] for v in only_bad), sum(good[v] for v in only_good)
    gain = separated + kept - len(only_bad) - len(only_good)
    best = None
    if separated and gain > 0:
        shown = sorted({_key(v): v for v in refused if _key(v) in only_bad}.values(), key=repr)
        words = " or ".join("not there" if v is ABSENT else repr(v) for v in shown[:4])
        best = gain, f"is {words}{' or …' if len(shown) > 4 else ''}", separated, kept
    if all(map(is_number, refused)) and all(map(is_number, accepted)):
        for side in ("above", "below"):
            edge = max(accepted) if side == "above" else min(accepted)
            beyond = [v for v in refused if (v > edge if side == "above" else v < edge)]
            if len(beyond) > 1 and (best is None or len(beyond) + len(accepted) - 2 > best[0]):
                best = len(beyond) + len(accepted) - 2, f"is {side} {edge!r}", len(beyond), len(accepted)
    return best


def _words(reads: Any, words: str) -> str:
    if not isinstance(reads, tuple):
        return f"{reads} {words}"
    verb, one, other = reads
    says = {"in": "in", "equal": "equal to", "at most": "at most"}[verb]
    if words == "is False":
        return f"{one} is not {says} {other}" if verb != "at most" else f"{one} is more than {other}"
    return f"{one} is {says} {other}" if words == "is True" else f"whether {one} is {says} {other} {words}"


def _code(reads: Any, rows: Iterable[Row]) -> str:
    """Return the source of an expression that reads it."""
    if isinstance(reads, tuple):
        verb, one, other = reads
        sign = {"in": "in", "equal": "==", "at most": "<="}[verb]
        return f"{_code(one, rows)} {sign} {_code(other, rows)}"
    if isinstance(reads, Arg):
        return f"args[{reads.name!r}]"
    code = "state"
    sample = next((row for row in rows if _at(reads.path, *row) is not ABSENT), None)
    for at, step in enumerate(reads.path):
        part = ABSENT if sample is None else _at(reads.path[:at], *sample)
        table = type(part) is tuple and type(step) is not int
        key = f"args[{step.name!r}]" if isinstance(step, Arg) else repr(step)
        code = f"dict({code})[{key}]" if table else f"{code}[{key}]"
    return code


def _paths(value: Any, path: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
    if path:
        yield path
    for key, part in children(value).items():
        yield from _paths(part, (*path, key))


def _at(place: tuple[Any, ...], state: Any, args: Mapping[str, Any]) -> Any:
    path = resolved(place, args)
    return ABSENT if path is None else get(state, path)


def _member(a: Any, b: Any) -> Any:
    if not isinstance(b, list | tuple | Mapping) or not isinstance(a, str | int):
        return ABSENT
    parts = children(b)
    inside: Iterable[Any] = parts.keys() if all(isinstance(key, str) for key in parts) else parts.values()
    return any(type(item) is type(a) and item == a for item in inside)


def _equal(a: Any, b: Any) -> Any:
    if not isinstance(a, _SCALARS) or not isinstance(b, _SCALARS):
        return ABSENT
    return (is_number(a) and is_number(b) and a == b) or (type(a) is type(b) and a == b)


def _key(value: Any) -> Any:
    """Return a value as a key, look-alikes apart."""
    if value is ABSENT or type(value) in (str, bool, int):
        return type(value), value
    return values.encode(value)
