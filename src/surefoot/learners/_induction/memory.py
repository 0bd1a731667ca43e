"""Columns of values as numbers, and what was found out about them before: only what is new has to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners._induction.conditions import Condition
from surefoot.learners._induction.terms import Term
from surefoot.learners.vocabulary import MISSING

__all__ = ["HERE", "PLAIN", "Bools", "Memory", "Tally", "reduced"]

HERE = "…"
"""Stands for a record or a list in a column: only that it is there matters."""
Bools = NDArray[np.bool_]
MOST_ELEMENTS = 48
"""Only so many elements of a list are compared."""
PLAIN = frozenset({str, int, float, bool, type(None), type(MISSING)})
"""Types of values that a column keeps as they are."""
_SCALARS = (str, int, float, bool, type(None))


def reduced(value: Any) -> Any:
    """Return a value as a column keeps it: what is no scalar is only there."""
    if value is MISSING or isinstance(value, _SCALARS):
        return value
    if type(value) is tuple:
        return tuple([v if v is MISSING or isinstance(v, _SCALARS) else HERE for v in value])
    return HERE


@dataclass
class _Scalars:
    """A column of scalars: a number for each value (0 `MISSING`, 1 a record), the figures, and the types met."""

    codes: NDArray[np.int32]
    figures: NDArray[np.float64]
    kinds: set[str]


@dataclass
class _Lists:
    """A column of lists: numbers for the elements, -1 past the end; where there is no list; the types met."""

    array: NDArray[np.int32]
    absent: Bools
    kinds: set[str]


@dataclass
class Tally:
    """What was seen of some tests on the calls up to one: only what came after has to be looked at.

    Attributes:
        names: what was tested, in order.
        upto: how many calls were looked at.
        facts: the facts, true or false of each test.
    """

    names: tuple[str, ...]
    upto: int
    facts: dict[str, Bools]


class Memory:
    """What was worked out of columns before: numbers for values, and what accepted calls have shown already.

    Calls are only ever appended, so that a condition that an accepted call violated stays violated.

    Attributes:
        dead: (template, term, term) that an accepted call has violated.
        broken: by (template, term, term), which of the first calls violate it.
        tallies: by what was tested.
    """

    def __init__(self) -> None:
        """Start with `MISSING` and the mark of records."""
        self.intern: dict[Any, int] = {MISSING: 0, HERE: 1}
        self.values: list[Any] = [MISSING, HERE]
        self._scalars: dict[str, _Scalars] = {}
        self._lists: dict[str, _Lists] = {}
        self.dead: set[tuple[str, str, str]] = set()
        self.broken: dict[tuple[str, str, str], Bools] = {}
        self.tallies: dict[str, Tally] = {}
        self._made: dict[tuple[str, ...], Condition] = {}

    def condition(self, kind: str, *terms: Term) -> Condition:
        """Return a condition that has no values of its own, made once."""
        place = (kind, *[term.key for term in terms])
        known = self._made.get(place)
        if known is None:
            known = self._made[place] = Condition(kind, terms)
        return known

    def code(self, value: Any) -> int:
        """Return the number that stands for a value in every column."""
        key = ("bool", value) if type(value) is bool else value
        known = self.intern.get(key)
        if known is None:
            known = self.intern[key] = len(self.values)
            self.values.append(key)
        return known

    def coded(self, values: Sequence[Any]) -> list[int]:
        """Return the numbers that stand for values."""
        get, code = self.intern.get, self.code
        return [code(v) if type(v) is bool or (known := get(v)) is None else known for v in values]

    def scalar(self, term: Term, column: Sequence[Any], n: int) -> _Scalars:
        """Return a column of rank 0 as numbers."""
        held = self._scalars.get(term.key)
        if held is None:
            held = self._scalars[term.key] = _Scalars(np.zeros(0, np.int32), np.zeros(0), set())
        known = len(held.codes)
        if known < n:
            fresh = column[known:n]
            held.codes = np.concatenate([held.codes, np.array(self.coded(fresh), dtype=np.int32)])
            figures = [v if type(v) is float or type(v) is int else np.nan for v in fresh]
            held.figures = np.concatenate([held.figures, np.array(figures, dtype=np.float64)])
            held.kinds |= _kinds(term, fresh)
        return held

    def list(self, term: Term, column: Sequence[Any], n: int) -> _Lists:
        """Return a column of rank 1 as numbers."""
        held = self._lists.get(term.key)
        if held is None:
            held = self._lists[term.key] = _Lists(np.full((0, 1), -1, dtype=np.int32), np.zeros(0, dtype=bool), set())
        known = len(held.absent)
        if known < n:
            fresh = column[known:n]
            longest = min(MOST_ELEMENTS, max((len(v) for v in fresh if v is not MISSING), default=1))
            width = max(longest, held.array.shape[1])
            array = np.full((n, width), -1, dtype=np.int32)
            array[:known, : held.array.shape[1]] = held.array
            sizes = np.array([0 if v is MISSING else min(len(v), width) for v in fresh])
            rows = np.repeat(np.arange(known, n), sizes)
            places = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            array[rows, places] = self.coded([part for v in fresh if v is not MISSING for part in v[:width]])
            held.array = array
            held.absent = np.concatenate([held.absent, np.array([v is MISSING for v in fresh], dtype=bool)])
            held.kinds |= _kinds(term, [x for v in fresh if v is not MISSING for x in v])
        return held

    def keep(self, keys: set[str]) -> None:
        """Forget the columns of other terms."""
        self._scalars = {key: held for key, held in self._scalars.items() if key in keys}
        self._lists = {key: held for key, held in self._lists.items() if key in keys}
        self.dead = {place for place in self.dead if place[1] in keys and place[2] in keys}
        self.broken = {place: b for place, b in self.broken.items() if place[1] in keys and place[2] in keys}
        self.tallies = {name: tally for name, tally in self.tallies.items() if name in keys or name in ("same", "more")}
        self._made = {place: one for place, one in self._made.items() if keys.issuperset(place[1:])}


def _kinds(term: Term, found: Sequence[Any]) -> set[str]:
    """Return the types of a term's values, as far as they can be equal to those of other terms."""
    if term.op == "shape":
        return set()
    types = set(map(type, found)) - {type(MISSING)}
    names = {kind.__name__ for kind in types}
    if str in types and all(v == HERE for v in found if type(v) is str):
        names.discard("str")
    number = "count" if term.op == "len" else "number"
    return {number if name in ("int", "float") else name for name in names} - {"NoneType"}
