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

from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import combinations
from math import copysign
from typing import Any, NamedTuple

from surefoot import values
from surefoot.learners.numbers import SortedNumbers
from surefoot.learners.vocabulary import MISSING

__all__: list[str] = []  # the parts of an action model; nothing here is public

Item = tuple[Any, ...]
Signature = frozenset[Item]

WIDE = 256
"""Conditions with more different values than this are left out of the pairs: most pairs of theirs are seen once."""
COUNTED = 64
"""Integers of a condition with more different values than this are taken as quantities."""
_KEPT = 8
_SCALARS = frozenset({str, int, bool, float, type(None), type(MISSING)})
_LABELS = frozenset({str, bool, type(None), type(MISSING)})


class Case:
    """One vector of condition values, and what happened to calls like it."""

    __slots__ = (
        "accepted",
        "accepted_at",
        "codes",
        "effects",
        "features",
        "last",
        "mask",
        "refused",
        "refused_at",
        "run",
        "seqs",
        "violations",
    )

    def __init__(self, features: tuple[Any, ...]) -> None:
        self.features = features
        self.accepted = 0
        self.refused = 0
        self.accepted_at = -1
        self.refused_at = -1
        self.effects: dict[bytes, int] = {}
        self.seqs: tuple[int, ...] = ()
        self.codes: tuple[int, ...] = ()
        self.mask = 0
        self.last = True
        self.run = 0
        self.violations: Signature | None = None


class Reading(NamedTuple):
    """A vector as codes: of its labels that were accepted, as a list and as bits; the rest by condition.

    Attributes:
        features: the vector.
        codes: the codes of the labels that were seen accepted.
        mask: those of them that take part in pairs, as bits.
        new: the conditions whose label was never seen accepted.
        numbers: the conditions that hold quantities.
        size: how many codes there were when it was read.
    """

    features: tuple[Any, ...]
    codes: list[int]
    mask: int
    new: list[int]
    numbers: list[int]
    size: int


class Group:
    """The numbers of the cases that agree in all their labels: accepted, and refused without another explanation."""

    __slots__ = ("accepted", "accepted_cases", "refused", "refused_cases")

    def __init__(self) -> None:
        self.accepted: dict[int, SortedNumbers] = {}
        self.refused: dict[int, SortedNumbers] = {}
        self.accepted_cases = self.refused_cases = 0

    def gap(self, at: int, value: float) -> list[float]:
        """Return the refused numbers that lie with `value` between two accepted neighbours."""
        refused = self.refused.get(at)
        if not refused or at not in self.accepted:
            return []
        below, above = self.accepted[at].around(value)
        if below is not None and below == above:
            return []
        low = refused.low - 1 if below is None else below
        high = refused.high + 1 if above is None else above
        return refused.between(low, high)

    def surrounded(self, features: tuple[Any, ...]) -> bool:
        """Say whether the refused cases are more than flakes, and a case's numbers all lie among theirs."""
        total = self.accepted_cases + self.refused_cases
        if self.refused_cases < 3 or self.refused_cases <= 0.05 * total:
            return False
        return all(n and n.low <= features[at] <= n.high for at, n in self.refused.items())


class ActionEvidence:
    """Everything observed of one action.

    Attributes:
        cases: {exact key: case}.
        accepted, refused: numbers of observations.
        settled, flaked: observations of cases that were accepted at least once: the accepted and the refused ones.
        signatures: {violations: number of refusals} of the cases that were only ever refused.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        """Start with nothing."""
        self.names = names
        self.cases: dict[Any, Case] = {}
        self.accepted = self.refused = self.settled = self.flaked = 0
        self.quantities: set[int] = set()  # conditions whose integers are quantities
        self.effects: dict[bytes, int] = {}
        self._integers: dict[int, set[int]] = {}
        self.signatures: dict[Signature, int] = {}
        self._forget_conclusions()

    def _forget_conclusions(self) -> None:
        """Start the conclusions anew; the cases stay."""
        width = len(self.names)
        self.allowed: list[dict[Any, int]] = [{} for _ in range(width)]  # value -> its code
        self.wide: set[int] = set()
        self.counts: list[int] = []  # accepted observations by code
        self.meaning: list[tuple[int, Any]] = []  # (condition, value) by code
        self._bits: list[int] = []  # 1 << code
        self.together: list[int] = []  # codes seen in one accepted case, as bits, by code
        self.numbers: list[SortedNumbers] = [SortedNumbers() for _ in range(width)]
        self.groups: dict[Any, Group] = {}
        self.relations: dict[Item, int] = {}  # that no accepted case has broken, and how many have kept them
        self._patterns: set[tuple[int, ...]] = set()  # what could not be read in an accepted case
        self._met: set[tuple[int, int]] = set()  # pairs of conditions that could both be read in one
        self.standing: set[Item] = set()  # those of them that count
        self.signatures = {}
        self._reading: Reading | None = None
        self._joined: Reading | None = None  # a reading whose pairs are all seen, and stay so
        self._by_item: dict[Item, set[Any]] = {}
        self.said: dict[Signature | None, str] = {}  # signatures of labels, in words
        self._watched: dict[Item, set[Signature]] = {}  # each signature under one of its violations, a rare one
        self._watching: dict[Signature, Item] = {}
        self._sides: dict[Item, list[tuple[float, int, Any]]] = {}
        self._extremes: dict[tuple[Signature, Item], SortedNumbers] = {}
        self._pushed = 0
        self.accepted_cases = 0

    # -- keys ---------------------------------------------------------------------------------------------------------

    def key_of(self, features: tuple[Any, ...]) -> Any:
        """Return the exact key of a vector: look-alikes and signed zeros apart."""
        kinds = tuple(map(type, features))
        if kinds.count(str) == len(kinds):
            return features
        if not _SCALARS.issuperset(kinds):
            return tuple(f if f is MISSING else values.encode(f) for f in features)
        if float in kinds and 0.0 in features:
            return features, kinds, tuple(copysign(1.0, f) for f in features if type(f) is float)
        return features, kinds

    def read(self, features: tuple[Any, ...]) -> Reading:
        """Return a vector as codes; the last reading is kept, since a prediction and an observation both ask for it."""
        last = self._reading
        if last is not None and last.features is features and last.size == len(self.counts):
            return last
        numbers: list[int] = []
        found = list(map(_get, self.allowed, features)) if _only_text(features) else self._find(features, numbers)
        wide, bits = self.wide, self._bits
        if not numbers and not wide and None not in found:  # the common case: labels, all of them known
            codes: list[int] = found  # type: ignore[assignment]
            new: list[int] = []
            mask = sum(map(bits.__getitem__, codes))  # different bits: their sum is their union
        else:
            codes, new, mask = [], [], 0
            for at, code in enumerate(found):
                if code is None:
                    new.append(at)
                elif code >= 0:
                    codes.append(code)
                    if at not in wide:
                        mask |= bits[code]
        self._reading = Reading(features, codes, mask, new, numbers, len(self.counts))
        return self._reading

    def _find(self, features: tuple[Any, ...], numbers: list[int]) -> list[int | None]:
        """Return each condition's code: None for a new label, -1 for a quantity (its condition goes to `numbers`)."""
        found: list[int | None] = []
        for at, value in enumerate(features):
            kind = type(value)
            if kind is str:
                found.append(self.allowed[at].get(value))
            elif kind is float or (kind is int and at in self.quantities):
                numbers.append(at)
                found.append(-1)
            else:
                found.append(self.allowed[at].get(exact(value)))
        return found

    def is_number(self, at: int, value: Any) -> bool:
        """Say whether a value of condition `at` is a quantity."""
        kind = type(value)
        return kind is float or (kind is int and at in self.quantities)

    # -- observing ----------------------------------------------------------------------------------------------------

    def observe(
        self, key: Any, features: tuple[Any, ...], accepted: bool, effect: bytes | None, seq: int | None, at: int
    ) -> Case:
        """Count one observation; `at` is the number of observations of the model before it."""
        case = self.cases.get(key)
        if case is None:
            case = self.cases[key] = Case(features)
            if not _LABELS.issuperset(map(type, features)):
                self._notice_quantities(features)
        if accepted == case.last:
            case.run += 1
        else:
            case.last, case.run = accepted, 1
        if seq is not None:
            case.seqs = (*case.seqs[1 - _KEPT :], seq)
        if accepted:
            case.accepted += 1
            case.accepted_at = at
            self.accepted += 1
            self.settled += 1
            if effect is not None:
                case.effects[effect] = case.effects.get(effect, 0) + 1
                self.effects[effect] = self.effects.get(effect, 0) + 1
            if case.accepted == 1:
                self._admit(key, case)
            counts = self.counts
            for code in case.codes:
                counts[code] += 1
        else:
            case.refused += 1
            case.refused_at = at
            self.refused += 1
            if case.accepted:
                self.flaked += 1
            else:
                self._refuse(key, case, 1)
        return case

    def _notice_quantities(self, features: tuple[Any, ...]) -> None:
        """Take a condition's integers as quantities once it holds a float, or very many integers."""
        kinds = list(map(type, features))
        known = sum(kinds[at] is float or kinds[at] is int for at in self.quantities)
        if known == kinds.count(float) + kinds.count(int):
            return
        found = False
        for at, value in enumerate(features):
            kind = type(value)
            if at in self.quantities or kind not in (int, float):
                continue
            if kind is float:
                found = found or not self.quantities
                self.quantities.add(at)
                found = any(type(case.features[at]) is int for case in self.cases.values()) or found
            else:
                whole = self._integers.setdefault(at, set())
                whole.add(value)
                if len(whole) > COUNTED:
                    self.quantities.add(at)
                    del self._integers[at]
                    found = True
        if found:
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
        self.settled = self.accepted
        self.flaked = 0
        for case in self.cases.values():
            case.violations = None
        for key, case in self.cases.items():
            if case.accepted:
                self._admit(key, case)
                for code in case.codes:
                    self.counts[code] += case.accepted
        for key, case in self.cases.items():
            if case.refused and not case.accepted:
                self._refuse(key, case, case.refused)

    def _admit(self, key: Any, case: Case) -> None:
        """Draw the conclusions from a case that is accepted for the first time."""
        self.accepted_cases += 1
        self.flaked += case.refused
        if case.violations is not None:
            self._unsign(key, case, case.refused)
        again: set[Any] = set()
        reading = self.read(case.features)
        for at in reading.numbers:
            again |= self._widen(at, case.features[at])
        for at in reading.new:
            again |= self._allow(at, case.features[at])
        if reading.new:
            reading = self.read(case.features)
        codes, mask = reading.codes, reading.mask
        case.codes, case.mask = tuple(codes), mask
        if self.quantities:
            group = self.group_of(case.features, make=True)
            assert group is not None  # it was just made
            group.accepted_cases += 1
            for at in reading.numbers:
                if at not in group.accepted:
                    group.accepted[at] = SortedNumbers()
                group.accepted[at].add(case.features[at])
        if self._joined is not reading:
            again |= self._join(codes, mask)
        again |= self._relate(case)
        for other in again:
            self._resign(other)

    def _allow(self, at: int, value: Any) -> set[Any]:
        """Give a label that is accepted for the first time its code; return the refused cases that had it."""
        held, allowed = exact(value), self.allowed[at]
        allowed[held] = len(self.counts)
        self._bits.append(1 << len(self.counts))
        self.counts.append(0)
        self.meaning.append((at, value))
        self.together.append(0)
        again = set(self._by_item.get((at, held), ()))
        if len(allowed) > WIDE and at not in self.wide:
            self.wide.add(at)
            again |= {key for item, keys in self._by_item.items() if item[0] == "pair" for key in keys}
        return again

    def _widen(self, at: int, value: float) -> set[Any]:
        """Add an accepted number; return the refused cases that now lie inside the range."""
        numbers = self.numbers[at]
        first = not numbers
        numbers.add(value)
        again: set[Any] = set(self._by_item.get((at, "number", "any"), ())) if first else set()
        for side, sign in (("above", 1.0), ("below", -1.0)):
            heap = self._sides.get((at, "number", side))
            edge = sign * (numbers.high if sign > 0 else numbers.low)
            while heap and heap[0][0] <= edge:
                again.add(heappop(heap)[2])
        return again

    def _join(self, codes: list[int], mask: int) -> set[Any]:
        """Note which values were accepted together; return the refused cases that this explains less well."""
        again: set[Any] = set()
        together = self.together
        for code in codes:
            fresh = mask & ~together[code]
            if fresh and mask & self._bits[code]:
                together[code] |= mask
                while fresh:
                    low = fresh & -fresh
                    again |= self._by_item.get(("pair", *sorted((code, low.bit_length() - 1))), set())
                    fresh ^= low
        return again

    def _relate(self, case: Case) -> set[Any]:
        """Give up the relations that an accepted case breaks; return the refused cases that this changes."""
        unread = tuple(at for at, value in enumerate(case.features) if value is MISSING)
        if unread not in self._patterns:
            self._patterns.add(unread)
            pairs = set(combinations((at for at in range(len(case.features)) if at not in unread), 2)) - self._met
            self._met |= pairs
            self.relations.update(dict.fromkeys(_relations(case.features, pairs), 0))
        if not self.relations:
            return set()
        broken = []
        for relation in self.relations:
            if relation[1] not in unread and relation[2] not in unread:
                if holds(relation, case.features):
                    self.relations[relation] += 1
                else:
                    broken.append(relation)
        again: set[Any] = set()
        for relation in broken:
            del self.relations[relation]
            again |= self._by_item.get(relation, set())
        standing = {relation for relation in self.relations if self._stands(relation)}
        if not standing <= self.standing:
            again |= {key for key, other in self.cases.items() if other.violations is not None}
        self.standing = standing
        return again

    def _stands(self, relation: Item) -> bool:
        """Say whether enough accepted cases have kept a relation, between conditions that vary."""
        needed = 5 if relation[0] == "equal" else 7
        varies = (len(self.allowed[at]) + len(self.numbers[at]) > 1 for at in relation[1:])
        return self.relations[relation] >= needed and all(varies)

    def group_of(self, features: tuple[Any, ...], *, make: bool = False) -> Group | None:
        """Return the group of cases with the same labels; all of them must have been accepted."""
        key = tuple(self.read(features).codes)
        group = self.groups.get(key)
        if group is None and make:
            group = self.groups[key] = Group()
        return group

    # -- violations ---------------------------------------------------------------------------------------------------

    def violations(self, features: tuple[Any, ...]) -> list[Item]:
        """Return what of a vector no accepted case shows, condition by condition, and the relations it breaks."""
        reading = self.read(features)
        found: list[Item] = [(at, exact(features[at])) for at in reading.new]
        for at in reading.numbers:
            side = self._side(at, features[at])
            if side:
                found.append((at, "number", side))
        if self.standing:
            found += [relation for relation in sorted(self.standing) if not holds(relation, features)]
        return found

    def _side(self, at: int, value: float) -> str | None:
        """Say on which side of the accepted range a number lies, None inside."""
        numbers = self.numbers[at]
        if not numbers:
            return "any"
        if value > numbers.high:
            return "above"
        if value < numbers.low:
            return "below"
        return None

    def pairs(self, features: tuple[Any, ...]) -> list[Item]:
        """Return the pairs of values that no accepted case shows together; each value alone must be accepted."""
        reading = self.read(features)
        if self._joined is reading:
            return []
        mask, together = reading.mask, self.together
        found: list[Item] = []
        for code in reading.codes:
            missing = mask & ~together[code]
            if missing and not mask & self._bits[code]:  # a label of very many
                continue
            while missing:
                low = missing & -missing
                other = low.bit_length() - 1
                if other > code:
                    found.append(("pair", code, other))
                missing ^= low
        if not found:
            self._joined = reading
        return found

    def _signature(self, case: Case) -> Signature:
        """Return the violations that explain a refusal: of single conditions, or where there are none, of pairs."""
        return frozenset(self.violations(case.features) or self.pairs(case.features))

    def _refuse(self, key: Any, case: Case, times: int) -> None:
        """Count refusals of a case that was never accepted."""
        if case.violations is None:
            case.violations = self._signature(case)
            self._sign(key, case, times)
        else:
            self.signatures[case.violations] += times

    def _sign(self, key: Any, case: Case, times: int) -> None:
        """Count a refused case under its violations."""
        signature = case.violations
        assert signature is not None
        self.signatures[signature] = self.signatures.get(signature, 0) + times
        if signature and signature not in self._watching:
            rare = min(signature, key=lambda item: len(self._watched.get(item, ())))
            self._watching[signature] = rare
            self._watched.setdefault(rare, set()).add(signature)
        for item in signature:
            self._by_item.setdefault(item, set()).add(key)
            if item[1] == "number" and item[-1] != "any" and len(item) == 3:
                value = case.features[item[0]]
                self._pushed += 1
                heappush(self._sides.setdefault(item, []), (value if item[2] == "above" else -value, self._pushed, key))
                self._extremes.setdefault((signature, item), SortedNumbers()).add(value)
        if not signature and self.quantities:
            group = self.group_of(case.features, make=True)
            assert group is not None  # it was just made
            group.refused_cases += 1
            for at in self.read(case.features).numbers:
                group.refused.setdefault(at, SortedNumbers()).add(case.features[at])

    def _unsign(self, key: Any, case: Case, times: int) -> None:
        """Take a refused case back out."""
        signature = case.violations
        assert signature is not None
        self.signatures[signature] -= times
        if not self.signatures[signature]:
            del self.signatures[signature]
            rare = self._watching.pop(signature, None)
            if rare is not None:
                self._watched[rare].discard(signature)
        for item in signature:
            self._by_item[item].discard(key)
            if not self._by_item[item]:
                del self._by_item[item]
            if item[1] == "number" and item[-1] != "any" and len(item) == 3:
                self._extremes[signature, item].remove(case.features[item[0]])
        if not signature and self.quantities:
            group = self.group_of(case.features)
            assert group is not None  # it was counted there
            group.refused_cases -= 1
            for at in self.read(case.features).numbers:
                group.refused[at].remove(case.features[at])
        case.violations = None

    def _resign(self, key: Any) -> None:
        """Work out a refused case's violations again."""
        case = self.cases[key]
        if case.violations is not None:
            self._unsign(key, case, case.refused)
            case.violations = self._signature(case)
            self._sign(key, case, case.refused)

    def matching(self, items: Iterable[Item], features: tuple[Any, ...]) -> tuple[Signature, int] | None:
        """Return the signature with the most refusals that lies within `items`, and that number."""
        found = list(items)
        best: list[Signature] = []
        most = 0
        if len(found) <= 3:
            candidates: Iterable[Signature] = (
                frozenset(subset) for size in range(1, len(found) + 1) for subset in combinations(found, size)
            )
        else:
            whole = frozenset(found)
            watched = (signature for item in found for signature in self._watched.get(item, ()))
            candidates = (signature for signature in watched if signature <= whole)
        for signature in candidates:
            times = self.signatures.get(signature, 0)
            if times and times >= most and self._within(signature, features):
                if times > most:
                    best, most = [], times
                best.append(signature)
        return (min(best, key=self._rank), most) if best else None

    def _rank(self, signature: Signature) -> tuple[int, list[str]]:
        """Return a signature's place among equally frequent ones: the smallest first, then as text."""
        plain = (
            ("pair", *sorted(repr(self.meaning[code]) for code in item[1:])) if item[0] == "pair" else item
            for item in signature
        )
        return len(signature), sorted(map(repr, plain))

    def _within(self, signature: Signature, features: tuple[Any, ...]) -> bool:
        """Say whether a vector's numbers lie among those that were refused under a signature."""
        for item in signature:
            if item[1] == "number" and item[-1] != "any" and len(item) == 3:
                refused = self._extremes[signature, item]
                if not refused or not refused.low <= features[item[0]] <= refused.high:
                    return False
        return True

    def unexplained(self) -> int:
        """Return how many refusals no violation explains."""
        return self.signatures.get(frozenset(), 0)


_get = dict.get


def _only_text(features: tuple[Any, ...]) -> bool:
    return set(map(type, features)) == {str}


def exact(value: Any) -> Any:
    """Return a value as a key: look-alikes apart."""
    kind = type(value)
    if kind is str or value is MISSING:
        return value
    if kind in (bool, int) or value is None:
        return kind, value
    return values.encode(value)


def _relations(features: tuple[Any, ...], pairs: Iterable[tuple[int, int]]) -> list[Item]:
    """Return every relation that holds between two conditions of a vector."""
    found: list[Item] = []
    for a, b in sorted(pairs):
        for relation in (("equal", a, b), ("at most", a, b), ("at most", b, a), ("member", a, b), ("member", b, a)):
            if holds(relation, features):
                found.append(relation)
    return found


def holds(relation: Item, features: tuple[Any, ...]) -> bool:
    """Say whether a relation holds, or has a side that cannot be read; between what cannot be compared none does."""
    name, a, b = relation
    x, y = features[a], features[b]
    if x is MISSING or y is MISSING:
        return True  # says nothing about it
    if name == "member":
        return type(y) is tuple and type(x) in (str, int) and any(type(z) is type(x) and z == x for z in y)
    numeric = type(x) in (int, float) and type(y) in (int, float)
    if name == "equal":
        return (numeric or (type(x) is str and type(y) is str)) and bool(x == y)
    return numeric and bool(x <= y)
