"""One case: a vector of condition values, how it is read, and what happened to calls like it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import msgspec

from surefoot import values
from surefoot.learners.numbers import SortedNumbers
from surefoot.learners.vocabulary import MISSING

__all__: list[str] = []  # the parts of an action model; nothing here is public

Item = tuple[Any, ...]
Signature = frozenset[Item]

EFFECTS = 16
"""Of a case (or an action) with more different effects than this, no more is kept than that they vary."""
VARIED = b""
"""Stands for more than `EFFECTS` different effects; no effect is encoded so."""
NO_EFFECTS: Mapping[bytes, int] = MappingProxyType({})
"""No effect was seen yet."""
MARK = type(MISSING)
LETTERS = {str: "s", int: "i", bool: "b", float: "f", type(None): "n", MARK: "m"}
"""The kinds of values that are looked up as they are; what is missing here is looked up as it is encoded."""


class Case(msgspec.Struct, eq=False, gc=False):
    """One vector of condition values, and what happened to calls like it.

    The garbage collector is spared them (there may be very many): nothing that they hold leads back to them.

    Attributes:
        features: the vector.
        accepted, refused: numbers of observations.
        accepted_at, refused_at: the number of observations of the model before the last of either kind, -1: none.
        effects: {encoded effect: how often}, at most `EFFECTS` of them.
        seqs: places in the journal, the newest last.
        codes: of its labels, once it was accepted twice.
        last, run: the last outcome, and how often in a row.
        violations: of a case that was only ever refused.
        single: whether one of them is about a single condition.
        place: in the arrays for batches, -1 when it is not there.
    """

    features: tuple[Any, ...]
    accepted: int = 0
    refused: int = 0
    accepted_at: int = -1
    refused_at: int = -1
    effects: Mapping[bytes, int] = NO_EFFECTS
    seqs: tuple[int, ...] = ()
    codes: tuple[int, ...] = ()
    last: bool = True
    run: int = 0
    violations: Signature | None = None
    single: bool = False
    place: int = -1


class Shape:
    """How to read the vectors whose values are of the same kinds.

    Attributes:
        sign: the kinds, a letter each; a `-` is a container.
        numbers: the conditions that hold quantities.
        places: the other conditions, which hold labels.
        pick: takes the labels out of a vector; None where that is all of it.
        tables: for each of `places`, {label: its code}.
        packed: which of `places` hold containers, that are looked up as they are encoded.
        unread: the conditions that could not be read.
        whole: whether a vector is looked up as it is.
    """

    __slots__ = ("numbers", "packed", "pick", "places", "sign", "tables", "unread", "whole")

    def __init__(self, kinds: tuple[type, ...], quantities: set[int], tables: list[dict[type, dict[Any, int]]]) -> None:
        self.sign = "".join(LETTERS.get(kind, "-") for kind in kinds)
        numeric = [kind is float or (kind is int and at in quantities) for at, kind in enumerate(kinds)]
        self.numbers = [at for at, yes in enumerate(numeric) if yes]
        self.places = [at for at, yes in enumerate(numeric) if not yes]
        self.pick = _picker(self.places) if self.numbers else None
        self.packed = [n for n, at in enumerate(self.places) if kinds[at] not in LETTERS]
        self.tables = [tables[at].setdefault(kinds[at] if kinds[at] in LETTERS else bytes, {}) for at in self.places]
        self.whole = self.pick is None and not self.packed
        self.unread = tuple(at for at, kind in enumerate(kinds) if kind is MARK)

    def held(self, features: tuple[Any, ...]) -> Any:
        """Return the labels of a vector, as `tables` has them."""
        held: Any = features if self.pick is None else self.pick(features)
        if self.packed:
            held = list(held)
            for n in self.packed:
                held[n] = values.encode(held[n])
        return held


def _picker(places: list[int]) -> Any:
    """Return a function that takes the values at `places` out of a tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda features: [features[at] for at in places]


class Reading(msgspec.Struct, eq=False, gc=False):
    """A vector as codes.

    Attributes:
        features: the vector.
        codes: the codes of its labels; none where one was never seen accepted.
        new: the conditions whose label was never seen accepted.
        shape: how it was read.
        support: how often the rarest of its labels was seen accepted.
        alone: the code of the label that was never accepted, where that is all that is new about it; else -1.
    """

    features: tuple[Any, ...]
    codes: list[int]
    new: list[int]
    shape: Shape
    support: int
    alone: int


class Group:
    """The numbers of the cases that agree in all their labels: accepted, and refused without another explanation."""

    __slots__ = ("_accepted", "_waiting", "accepted_cases", "numbers", "refused", "refused_cases")

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        self.refused: dict[int, SortedNumbers] = {}
        self.accepted_cases = self.refused_cases = 0
        self._accepted: dict[int, SortedNumbers] = {}
        self._waiting: list[tuple[Any, ...]] = []  # accepted, not yet sorted: few groups are ever asked

    def admit(self, features: tuple[Any, ...]) -> None:
        """Add an accepted case."""
        self.accepted_cases += 1
        self._waiting.append(features)

    @property
    def accepted(self) -> dict[int, SortedNumbers]:
        """The accepted numbers by condition."""
        for features in self._waiting:
            for at in self.numbers:
                if at not in self._accepted:
                    self._accepted[at] = SortedNumbers()
                self._accepted[at].add(features[at])
        self._waiting.clear()
        return self._accepted

    def gap(self, at: int, value: float) -> tuple[int, float, float] | None:
        """Return how many refused numbers lie with `value` between two accepted neighbours, the least and the greatest.

        None when there are none.
        """
        refused, accepted = self.refused.get(at), self.accepted.get(at)
        if not refused or accepted is None:
            return None
        below, above = accepted.around(value)
        if below is not None and below == above:
            return None
        return refused.span(below, above)

    def surrounded(self, features: tuple[Any, ...]) -> bool:
        """Say whether the refused cases are more than flakes, and a case's numbers all lie among theirs."""
        total = self.accepted_cases + self.refused_cases
        if self.refused_cases < 3 or self.refused_cases <= 0.05 * total:
            return False
        return all(n and n.low <= features[at] <= n.high for at, n in self.refused.items())


def places(bits: int) -> Iterator[int]:
    """Yield the places of the bits that are set, the lowest first."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def pair(a: int, b: int) -> Item:
    """Return two codes as a violation."""
    return ("pair", a, b) if a < b else ("pair", b, a)


def counted(counts: Mapping[bytes, int], effect: bytes, times: int) -> Mapping[bytes, int]:
    """Return effects with one of them seen `times` more; the dict may be the same."""
    if not counts:
        return {effect: times}
    held = counts if isinstance(counts, dict) else dict(counts)
    if effect in held:
        held[effect] += times
    elif effect == VARIED or VARIED in held or len(held) >= EFFECTS:
        held = {VARIED: sum(held.values()) + times}
    else:
        held[effect] = times
    return held


def exact(value: Any) -> Any:
    """Return a value as a key: look-alikes apart."""
    kind = type(value)
    if kind is str or value is MISSING:
        return value
    if kind in (bool, int) or value is None:
        return kind, value
    return values.encode(value)
