"""Why calls were refused: what of a refused case no accepted case shows, and which refusals have it in common."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappush
from itertools import combinations
from typing import TYPE_CHECKING, Any

from surefoot.learners._cases import Case, Group, Item, Reading, Signature, exact, pair
from surefoot.learners._labels import Labels
from surefoot.learners.numbers import SortedNumbers
from surefoot.learners.vocabulary import MISSING

if TYPE_CHECKING:
    from surefoot.protocols import Prediction

__all__: list[str] = []  # the parts of an action model; nothing here is public

NOTHING: Signature = frozenset()
"""The signature of a refusal that nothing explains."""


class Refusals(Labels):
    """The refused cases by what explains them; a part of `ActionEvidence`.

    Attributes:
        signatures: {violations: number of refusals} of the cases that were only ever refused.
        oddly: refusals that no single condition explains.
        said: signatures of labels, in words.
        answers: to cases that were only refused.
    """

    __slots__ = (
        "_alone",
        "_by_item",
        "_extremes",
        "_held",
        "_joined",
        "_pushed",
        "_sides",
        "_watched",
        "_watching",
        "answers",
        "oddly",
        "said",
        "signatures",
    )

    if TYPE_CHECKING:
        quantities: set[int]
        standing: set[Item]
        touched: list[Case] | None
        numbers: list[SortedNumbers]

        def read(self, features: tuple[Any, ...]) -> Reading: ...

        def group_of(self, features: tuple[Any, ...], *, make: bool = False) -> Group | None: ...

    def _forget_refusals(self) -> None:
        """Start anew."""
        self.signatures: dict[Signature, int] = {}
        self.oddly = 0
        self._alone: dict[int, Signature] = {}
        self._joined: Reading | None = None  # a reading whose pairs are all seen, and stay so
        self._held: tuple[Reading, list[Item]] | None = None  # the violations of a reading, until a case is admitted
        self._by_item: dict[Item, set[Case]] = {}
        self.said: dict[Signature | None, str] = {}  # signatures of labels, in words
        self.answers: dict[tuple[Signature | None, int, float], Prediction] = {}  # to cases that were only refused
        self._watched: dict[Item, set[Signature]] = {}  # each signature under one of its violations, a rare one
        self._watching: dict[Signature, Item] = {}
        self._sides: dict[Item, list[tuple[float, int, Case]]] = {}
        self._extremes: dict[tuple[Signature, Item], SortedNumbers] = {}
        self._pushed = 0

    def extremes(self, signature: Signature, item: Item) -> tuple[float, float]:
        """Return the least and the greatest number that was refused under a signature."""
        numbers = self._extremes[signature, item]
        return numbers.low, numbers.high

    def alone(self, code: int) -> Signature:
        """Return the signature of a vector that has one label which was never accepted, and nothing else."""
        signature = self._alone.get(code)
        if signature is None:
            at, value = self.meaning[code]
            signature = self._alone[code] = frozenset([(at, exact(value))])
        return signature

    def violations(self, features: tuple[Any, ...]) -> list[Item]:
        """Return what of a vector no accepted case shows, condition by condition, and the relations it breaks."""
        reading = self.read(features)
        if not reading.new and not reading.shape.numbers and not self.standing:
            return []
        if self._held is not None and self._held[0] is reading:
            return self._held[1]
        found: list[Item] = []
        for at in reading.new:
            value = features[at]
            found.append((at, value if type(value) is str else exact(value)))
        for at in reading.shape.numbers:
            side = self._side(at, features[at])
            if side:
                found.append((at, "number", side))
        if self.standing:
            found += [relation for relation in sorted(self.standing) if not holds(relation, features)]
        self._held = reading, found
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
        if not self._open:
            return []
        reading = self.read(features)
        if self._joined is reading:
            return []
        found: list[Item] = []
        left = self._mask(reading.codes) & self._open  # what is not open was seen with all
        for code in reading.codes if left else ():
            bit = self._bits[code]
            if bit & left:
                left ^= bit
                missing = left & ~self.together[code]
                if missing:
                    found += [pair(code, other) for other in reading.codes if self._bits[other] & missing]
        if not found:
            self._joined = reading
        return found

    def _explain(self, case: Case) -> None:
        """Find the violations that explain a refusal: of single conditions, or where there are none, of pairs."""
        alone = self.read(case.features).alone
        if alone >= 0:
            case.single, case.violations = True, self.alone(alone)
            return
        found = self.violations(case.features)
        case.single = bool(found) and type(found[0][0]) is int  # those come first
        case.violations = frozenset(found or self.pairs(case.features))

    def _refuse(self, case: Case, times: int) -> None:
        """Count refusals of a case that was never accepted."""
        if case.violations is None:
            self._explain(case)
            self._sign(case, times)
            for at in self.read(case.features).new:
                self._code(at, case.features[at])
        else:
            self.signatures[case.violations] += times
            if not case.single:
                self.oddly += times

    def _sign(self, case: Case, times: int) -> None:
        """Count a refused case under its violations."""
        signature = case.violations
        assert signature is not None
        before = self.signatures.get(signature)
        self.signatures[signature] = (before or 0) + times
        if not case.single:
            self.oddly += times
        if signature and before is None:
            rare = min(signature, key=lambda item: len(self._watched.get(item, ())))
            self._watching[signature] = rare
            self._watched.setdefault(rare, set()).add(signature)
        for item in signature:
            held = self._by_item.get(item)
            if held is None:
                held = self._by_item[item] = set()
            held.add(case)
            if len(item) == 3 and item[1] == "number" and item[-1] != "any":
                value = case.features[item[0]]
                self._pushed += 1
                heappush(
                    self._sides.setdefault(item, []), (value if item[2] == "above" else -value, self._pushed, case)
                )
                self._extremes.setdefault((signature, item), SortedNumbers()).add(value)
        if not signature and self.quantities:
            group = self.group_of(case.features, make=True)
            assert group is not None  # it was just made
            group.refused_cases += 1
            for at in group.numbers:
                group.refused.setdefault(at, SortedNumbers()).add(case.features[at])

    def _unsign(self, case: Case, times: int) -> None:
        """Take a refused case back out."""
        signature = case.violations
        assert signature is not None
        self.signatures[signature] -= times
        if not case.single:
            self.oddly -= times
        if not self.signatures[signature]:
            del self.signatures[signature]
            rare = self._watching.pop(signature, None)
            if rare is not None:
                self._watched[rare].discard(signature)
        for item in signature:
            self._by_item[item].discard(case)
            if not self._by_item[item]:
                del self._by_item[item]
            if len(item) == 3 and item[1] == "number" and item[-1] != "any":
                self._extremes[signature, item].remove(case.features[item[0]])
        if not signature and self.quantities:
            group = self.group_of(case.features)
            assert group is not None  # it was counted there
            group.refused_cases -= 1
            for at in group.numbers:
                group.refused[at].remove(case.features[at])
        case.violations = None

    def _resign(self, case: Case) -> None:
        """Work out a refused case's violations again."""
        if case.violations is not None:
            self._unsign(case, case.refused)
            self._explain(case)
            self._sign(case, case.refused)
            if self.touched is not None:
                self.touched.append(case)

    def matching(self, items: Iterable[Item], features: tuple[Any, ...]) -> tuple[Signature, int] | None:
        """Return the signature with the most refusals that lies within `items`, and that number."""
        found = list(items)
        if len(found) == 1:
            only = frozenset(found)
            times = self.signatures.get(only, 0)
            if not times or (len(found[0]) == 3 and not self._within(only, features)):
                return None
            return only, times
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
        if len(best) > 1:
            best.sort(key=self._rank)
        return (best[0], most) if best else None

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
            if len(item) == 3 and item[1] == "number" and item[-1] != "any":
                refused = self._extremes[signature, item]
                if not refused or not refused.low <= features[item[0]] <= refused.high:
                    return False
        return True

    def is_plain(self, reading: Reading) -> bool:
        """Say whether nothing but refusals that nothing explains speaks against taking conditions one by one.

        That is where all pairs of labels were seen. All labels of the vector must have been accepted.
        """
        return not (self._open or self.standing or reading.shape.numbers)

    def unexplained(self) -> int:
        """Return how many refusals no violation explains."""
        return self.signatures.get(NOTHING, 0)


def relations_of(features: tuple[Any, ...], pairs: Iterable[tuple[int, int]]) -> list[Item]:
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
