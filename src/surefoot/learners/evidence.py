"""What was observed of one action: distinct cases with counts, and what follows from them, kept up to date.

A *case* is one vector of condition values. From the cases follow, whatever the order in which they came:

- per condition the values (for numbers: the range) seen in accepted cases;
- per pair of conditions the combinations seen in accepted cases;
- the relations (equal, at most, member) that no accepted case has broken;
- for each case that was only ever refused, the *violations*: what of it no accepted case shows; and the multiset of
these
  sets, the refusal signatures.

When a case is accepted for the first time, the refused cases that this explains less well are worked out again, each at
most once for each of its violations, so that an observation costs the same however many there were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop
from itertools import combinations
from math import copysign
from operator import getitem
from typing import Any

from surefoot import values
from surefoot.learners._cases import (
    MARK,
    NO_EFFECTS,
    Group,
    Reading,
    Shape,
    counted,
    exact,
)
from surefoot.learners._cases import Case as Case
from surefoot.learners._cases import Item as Item
from surefoot.learners._refusals import NOTHING, Refusals, holds, relations_of
from surefoot.learners._unrolled import coder
from surefoot.learners.numbers import SortedNumbers
from surefoot.learners.vocabulary import MISSING

__all__: list[str] = []  # the parts of an action model; nothing here is public

COUNTED = 64
"""Integers of a condition with more different values than this are taken as quantities."""
TOUCHED = 100_000
"""After more observations than this without a batch of predictions, the arrays for these are given up."""
ANSWERS = 4096
"""No more answers to cases that were only refused are kept than this."""
_KEPT = 8
_SHAPES = 1024
_TEXT = frozenset({str})
_LABELS = frozenset({str, bool, type(None), MARK})
_NONE: list[int] = []
_get = dict.get


class ActionEvidence(Refusals):
    """Everything observed of one action.

    Attributes:
        cases: {exact key: case}.
        accepted, refused: numbers of observations.
        flaked: refusals of cases that were accepted at least once.
        quiet: whether nothing but the labels of a vector of texts, one by one, has anything to say about it.
    """

    __slots__ = (
        "_code_all",
        "_integers",
        "_last",
        "_met",
        "_patterns",
        "_reading",
        "_shapes",
        "_text",
        "accepted",
        "accepted_cases",
        "cases",
        "effects",
        "flaked",
        "groups",
        "index",
        "names",
        "numbers",
        "quantities",
        "quiet",
        "refused",
        "relations",
        "standing",
        "touched",
    )  # faster to reach, where there are so many

    def __init__(self, names: tuple[str, ...]) -> None:
        """Start with nothing."""
        self.names = names
        self.cases: dict[Any, Case] = {}
        self.accepted = self.refused = self.flaked = 0
        self.quantities: set[int] = set()  # conditions whose integers are quantities
        self.effects: Mapping[bytes, int] = NO_EFFECTS
        self._integers: dict[int, set[int]] = {}
        self.touched: list[Case] | None = None  # cases observed since `index` took them in; None: there is no index
        self._forget_conclusions()

    def _forget_conclusions(self) -> None:
        """Start the conclusions anew; the cases stay."""
        width = len(self.names)
        self._forget_labels(width)
        self._forget_refusals()
        self._shapes: dict[tuple[type, ...], Shape] = {}
        self._text = Shape((str,) * width, self.quantities, self._tables)
        self._last: tuple[tuple[Any, ...], Shape] = ((), self._text)
        self.numbers: list[SortedNumbers] = [SortedNumbers() for _ in range(width)]
        self.groups: dict[Any, Group] = {}
        self.relations: dict[Item, int] = {}  # that no accepted case has broken, and how many have kept them
        self._patterns: set[tuple[int, ...]] = set()  # what could not be read in an accepted case
        self._met: set[tuple[int, int]] = set()  # pairs of conditions that could both be read in one
        self.standing: set[Item] = set()  # those of them that count
        self.quiet = False  # nothing but the labels of a vector of texts, one by one, has anything to say about it
        self.index: Any = None  # the cases as arrays, once very many were asked for
        self.touched = None
        self._reading: Reading | None = None
        self.accepted_cases = 0

    # -- keys ---------------------------------------------------------------------------------------------------------

    def key_of(self, features: tuple[Any, ...], text: bool | None = None) -> Any:
        """Return the exact key of a vector: look-alikes and signed zeros apart.

        Args:
            features: the vector.
            text: whether all its values are strings, if that is known.
        """
        if _TEXT.issuperset(map(type, features)) if text is None else text:
            self._last = features, self._text
            return features
        kinds = tuple(map(type, features))
        shape = self._shapes.get(kinds) or self._shape(kinds)
        self._last = features, shape
        if shape.packed:
            return tuple(f if f is MISSING else values.encode(f) for f in features)
        if float in kinds and 0.0 in features:
            return features, shape.sign, tuple(copysign(1.0, f) for f in features if type(f) is float)
        return features, shape.sign

    def recall(self, raw: tuple[Any, ...]) -> Case | tuple[int, ...] | None:
        """Look up a vector that was just read, by its looks.

        Returns:
            The case of a vector of texts. The codes of one that was not observed, where all of its labels were met and
            nothing else about it matters. None: it has to be looked at more closely.
        """
        if self._last[1] is not self._text:
            return None
        try:
            case = self.cases.get(raw)
            if case is not None:
                "".join(raw)  # it is equal to texts: now it is texts
                return case
            if self.quiet:
                return self._code_all(raw, self._text.tables)
        except (TypeError, KeyError):  # it cannot be hashed, or holds something else; a label that was never met
            pass
        return None

    def take(self, features: tuple[Any, ...], codes: tuple[int, ...], alone: int, accepted: bool, at: int) -> None:
        """Count the first observation of a vector that `recall` gave the codes of.

        Args:
            features: the vector.
            codes: those of its labels.
            alone: the code of the one that was never accepted; -1 where all were.
            accepted: the outcome; False where one never was.
            at: the number of observations of the model before it.
        """
        if accepted:
            case = Case(features, 1, 0, at, -1, NO_EFFECTS, (), (), True, 1)
            self.accepted += 1
            self.accepted_cases += 1
            counts = self.counts
            for code in codes:
                counts[code] += 1
            self._held = self._reading = None
        else:
            signature = self._alone[alone] if alone >= 0 else NOTHING
            case = Case(features, 0, 1, -1, at, NO_EFFECTS, (), (), False, 1, signature, alone >= 0)
            self.refused += 1
            if alone >= 0:  # others had it, or it was not alone
                self.signatures[signature] += 1
                for item in signature:
                    self._by_item[item].add(case)
            else:
                self._sign(case, 1)
        self.cases[features] = case
        if self.touched is not None:
            self._touch(case)

    def find(self, features: tuple[Any, ...], text: bool) -> Case | None:
        """Return what was observed of a vector."""
        return self.cases.get(self.key_of(features, text))

    def _shape(self, kinds: tuple[type, ...]) -> Shape:
        """Return how to read vectors of these kinds for the first time."""
        if len(self._shapes) >= _SHAPES:
            self._shapes.clear()
        shape = self._shapes[kinds] = Shape(kinds, self.quantities, self._tables)
        return shape

    def read(self, features: tuple[Any, ...]) -> Reading:
        """Return a vector as codes; the last reading is kept, since a prediction and an observation both ask for it."""
        last = self._reading
        if last is not None and last.features is features:
            return last
        known, shape = self._last
        if known is not features:
            self.key_of(features)
            shape = self._last[1]
        counts = self.counts
        new, support, alone = _NONE, 0, -1
        held = features if shape.whole else shape.held(features)
        try:
            codes = list(map(getitem, shape.tables, held))
        except KeyError:  # a label that was never met
            found = map(_get, shape.tables, held)
            new = [at for at, code in zip(shape.places, found, strict=True) if code is None or not counts[code]]
            codes = []
        else:
            support = self.accepted
            for code in codes:  # faster than min
                if counts[code] < support:
                    support = counts[code]
            if not support and codes:
                never = self.never.intersection(codes)
                new = [self.meaning[code][0] for code in never]
                if len(new) > 1:
                    new.sort()
                elif not shape.numbers and not self.standing:
                    (alone,) = never
                codes = []
        reading = self._reading = Reading(features, codes, new, shape, support, alone)
        return reading

    def is_number(self, at: int, value: Any) -> bool:
        """Say whether a value of condition `at` is a quantity."""
        kind = type(value)
        return kind is float or (kind is int and at in self.quantities)

    # -- observing ----------------------------------------------------------------------------------------------------

    def observe(
        self, key: Any, features: tuple[Any, ...], accepted: bool, effect: bytes | None, seq: int | None, at: int
    ) -> Case:
        """Count one observation; `at` is the number of observations of the model before it."""
        return self.count(self.cases.get(key) or self.start(key, features), accepted, effect, seq, at)

    def start(self, key: Any, features: tuple[Any, ...]) -> Case:
        """Return a new case."""
        case = self.cases[key] = Case(features)
        if self._last[1] is not self._text and not _LABELS.issuperset(map(type, features)):
            self._notice_quantities(features)
        return case

    def count(self, case: Case, accepted: bool, effect: bytes | None, seq: int | None, at: int) -> Case:
        """Count one observation of a case."""
        if self.touched is not None:
            self._touch(case)
        if accepted == case.last:
            case.run += 1
        else:
            case.last, case.run = accepted, 1
        if seq is not None:
            case.seqs = (*case.seqs[1 - _KEPT :], seq)
        if accepted:
            case.accepted_at = at
            self.accepted += 1
            if effect is not None:
                case.effects = counted(case.effects, effect, 1)
                self.effects = counted(self.effects, effect, 1)
            if case.accepted:
                case.accepted += 1
                codes: Sequence[int] = case.codes
                if not codes:  # most cases of many conditions are never met again
                    codes = case.codes = tuple(self.read(case.features).codes)
                counts = self.counts
                for code in codes:
                    counts[code] += 1
            else:
                case.accepted = 1
                self._admit(case)
            self._reading = None
        else:
            case.refused += 1
            case.refused_at = at
            self.refused += 1
            if case.accepted:
                self.flaked += 1
            else:
                self._refuse(case, 1)
        return case

    def _touch(self, case: Case) -> None:
        """Note that the arrays for batches are behind; after very many observations they are given up."""
        assert self.touched is not None  # else there are none
        self.touched.append(case)
        if len(self.touched) > TOUCHED:
            self.touched = self.index = None

    def _notice_quantities(self, features: tuple[Any, ...]) -> None:
        """Take a condition's integers as quantities once it holds a float, or very many integers."""
        kinds = list(map(type, features))
        known = sum(kinds[at] is float or kinds[at] is int for at in self.quantities)
        if known == kinds.count(float) + kinds.count(int):
            return
        before, again = len(self.quantities), False
        for at, value in enumerate(features):
            kind = type(value)
            if at in self.quantities or kind not in (int, float):
                continue
            if kind is float:
                again = again or not self.quantities
                self.quantities.add(at)
                again = any(type(case.features[at]) is int for case in self.cases.values()) or again
            else:
                whole = self._integers.setdefault(at, set())
                whole.add(value)
                if len(whole) > COUNTED:
                    self.quantities.add(at)
                    del self._integers[at]
                    again = True
        if len(self.quantities) > before:
            self._shapes.clear()
            self._last = (), self._text
            self._reading = self.index = self.touched = None
            self.quiet = False
        if again:
            self.conclude()

    def recount_quantities(self) -> None:
        """Decide again which conditions hold quantities, from all cases."""
        for case in list(self.cases.values()):
            for at, value in enumerate(case.features):
                if type(value) is float:
                    self.quantities.add(at)
                elif type(value) is int and at not in self.quantities:
                    whole = self._integers.setdefault(at, set())
                    whole.add(value)
                    if len(whole) > COUNTED:
                        self.quantities.add(at)
                        del self._integers[at]

    def conclude(self) -> None:
        """Work out every conclusion again from the cases. Cost: linear in the cases."""
        self._forget_conclusions()
        self.accepted = sum(case.accepted for case in self.cases.values())
        self.refused = sum(case.refused for case in self.cases.values())
        self.flaked = 0
        for case in self.cases.values():
            case.violations = None
            case.codes = ()
        for case in self.cases.values():
            if case.accepted:
                self._admit(case)
        for case in self.cases.values():
            if case.refused and not case.accepted:
                self._refuse(case, case.refused)

    def _admit(self, case: Case) -> None:
        """Draw the conclusions from a case that is accepted for the first time."""
        self.accepted_cases += 1
        self._held = None
        if case.refused:
            self.flaked += case.refused
            if case.violations is not None:
                self._unsign(case, case.refused)
        reading = self._reading
        if reading is None or reading.features is not case.features:
            reading = self.read(case.features)
        shape, codes, counts, more = reading.shape, reading.codes, self.counts, case.accepted
        news = reading.new or self._open or self.relations or self.quantities or shape.unread not in self._patterns
        if not news:  # it shows nothing that others have not shown
            for code in codes:
                counts[code] += more
            return
        again: set[Case] = set()
        for at in shape.numbers:
            again |= self._widen(at, case.features[at])
        for at in reading.new:
            again |= self._by_item.get((at, exact(case.features[at])), set())
            if self._allow(at, case.features[at]):  # there are too many to pair: none of its pairs counts any more
                again |= {held for item, cases in self._by_item.items() if item[0] == "pair" for held in cases}
        if reading.new:
            codes = list(map(getitem, shape.tables, shape.held(case.features)))
        for code in codes:
            counts[code] += more
        if reading.new:
            self._reading = None
            reading = self.read(case.features)
        if self.quantities:
            group = self.group_of(case.features, make=True)
            assert group is not None  # it was just made
            group.admit(case.features)
        if self._open and self._joined is not reading:
            for item in self._join(codes):
                again |= self._by_item.get(item, set())
        if self.relations or shape.unread not in self._patterns:
            again |= self._relate(case, shape.unread)
        for other in again:
            self._resign(other)
        self.quiet = bool(codes) and not (self._open or self.relations or self.quantities) and () in self._patterns
        if self.quiet:
            self._code_all = coder(len(self.names))

    def _widen(self, at: int, value: float) -> set[Case]:
        """Add an accepted number; return the refused cases that now lie inside the range."""
        numbers = self.numbers[at]
        first = not numbers
        numbers.add(value)
        again: set[Case] = set(self._by_item.get((at, "number", "any"), ())) if first else set()
        for side, sign in (("above", 1.0), ("below", -1.0)):
            heap = self._sides.get((at, "number", side))
            edge = sign * (numbers.high if sign > 0 else numbers.low)
            while heap and heap[0][0] <= edge:
                again.add(heappop(heap)[2])
        return again

    def _relate(self, case: Case, unread: tuple[int, ...]) -> set[Case]:
        """Give up the relations that an accepted case breaks; return the refused cases that this changes."""
        if unread not in self._patterns:
            self._patterns.add(unread)
            pairs = set(combinations((at for at in range(len(case.features)) if at not in unread), 2)) - self._met
            self._met |= pairs
            self.relations.update(dict.fromkeys(relations_of(case.features, pairs), 0))
        if not self.relations:
            return set()
        broken = []
        for relation in self.relations:
            if relation[1] not in unread and relation[2] not in unread:
                if holds(relation, case.features):
                    self.relations[relation] += 1
                else:
                    broken.append(relation)
        again: set[Case] = set()
        for relation in broken:
            del self.relations[relation]
            again |= self._by_item.get(relation, set())
        standing = {relation for relation in self.relations if self._stands(relation)}
        if not standing <= self.standing:
            again |= {other for other in self.cases.values() if other.violations is not None}
        self.standing = standing
        return again

    def _stands(self, relation: Item) -> bool:
        """Say whether enough accepted cases have kept a relation, between conditions that vary."""
        needed = 5 if relation[0] == "equal" else 7
        varies = (self.allowed[at] + len(self.numbers[at]) > 1 for at in relation[1:])
        return self.relations[relation] >= needed and all(varies)

    def group_of(self, features: tuple[Any, ...], *, make: bool = False) -> Group | None:
        """Return the group of cases with the same labels; all of them must have been accepted."""
        reading = self.read(features)
        key = tuple(reading.codes)
        group = self.groups.get(key)
        if group is None and make:
            group = self.groups[key] = Group(reading.shape.numbers)
        return group
