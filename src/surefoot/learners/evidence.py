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

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import combinations
from math import copysign
from operator import countOf, getitem
from typing import TYPE_CHECKING, Any

from surefoot import values
from surefoot.learners._cases import (
    LETTERS,
    MARK,
    NO_EFFECTS,
    Group,
    Reading,
    Shape,
    Signature,
    counted,
    exact,
    pair,
    places,
)
from surefoot.learners._cases import Case as Case
from surefoot.learners._cases import Item as Item
from surefoot.learners.numbers import SortedNumbers
from surefoot.learners.vocabulary import MISSING

if TYPE_CHECKING:
    from surefoot.protocols import Prediction

__all__: list[str] = []  # the parts of an action model; nothing here is public

WIDE = 256
"""Conditions with more different values than this are left out of the pairs: most pairs of theirs are seen once."""
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
_NOTHING: Signature = frozenset()
_get = dict.get


class ActionEvidence:
    """Everything observed of one action.

    Attributes:
        cases: {exact key: case}.
        accepted, refused: numbers of observations.
        settled, flaked: observations of cases that were accepted at least once: the accepted and the refused ones.
        signatures: {violations: number of refusals} of the cases that were only ever refused.
        oddly: refusals that no single condition explains.
    """

    __slots__ = (
        "_alone",
        "_bits",
        "_by_item",
        "_code_of",
        "_extremes",
        "_gone",
        "_held",
        "_integers",
        "_joined",
        "_last",
        "_met",
        "_open",
        "_own",
        "_paired",
        "_patterns",
        "_pushed",
        "_reading",
        "_shapes",
        "_sides",
        "_tables",
        "_text",
        "_watched",
        "_watching",
        "accepted",
        "accepted_cases",
        "allowed",
        "answers",
        "cases",
        "counts",
        "effects",
        "flaked",
        "groups",
        "index",
        "meaning",
        "names",
        "never",
        "numbers",
        "oddly",
        "quantities",
        "quiet",
        "refused",
        "relations",
        "said",
        "settled",
        "signatures",
        "standing",
        "together",
        "touched",
        "wide",
    )  # faster to reach, where there are so many

    def __init__(self, names: tuple[str, ...]) -> None:
        """Start with nothing."""
        self.names = names
        self.cases: dict[Any, Case] = {}
        self.accepted = self.refused = self.settled = self.flaked = 0
        self.quantities: set[int] = set()  # conditions whose integers are quantities
        self.effects: Mapping[bytes, int] = NO_EFFECTS
        self._integers: dict[int, set[int]] = {}
        self.touched: list[Case] | None = None  # cases observed since `index` took them in; None: there is no index
        self.signatures: dict[Signature, int] = {}
        self._forget_conclusions()

    def _forget_conclusions(self) -> None:
        """Start the conclusions anew; the cases stay."""
        width = len(self.names)
        self.allowed: list[int] = [0] * width  # how many labels were accepted, by condition
        self._tables: list[dict[type, dict[Any, int]]] = [{} for _ in range(width)]  # kind -> label -> its code
        self._shapes: dict[tuple[type, ...], Shape] = {}
        self._text = Shape((str,) * width, self.quantities, self._tables)
        self._last: tuple[tuple[Any, ...], Shape] = ((), self._text)
        self.wide: set[int] = set()
        self.counts: list[int] = []  # accepted observations by code; 0: only seen refused
        self.meaning: list[tuple[int, Any]] = []  # (condition, label) by code
        self.never: set[int] = set()  # codes of labels that were only seen refused
        self._gone = 0  # how many left it: a set is slow to look through where many were
        self._bits: list[int] = []  # the bit of each code in a set of codes; 0 when it takes part in no pairs
        self._code_of: list[int] = []  # by place of the bit
        self._own: list[int] = [0] * width  # the bits of a condition's labels
        self._paired = 0  # all bits that take part
        self._open = 0  # those that were not yet seen with each label of every other condition
        self.together: list[int] = []  # labels seen in one accepted case, as bits, by code
        self.numbers: list[SortedNumbers] = [SortedNumbers() for _ in range(width)]
        self.groups: dict[Any, Group] = {}
        self.relations: dict[Item, int] = {}  # that no accepted case has broken, and how many have kept them
        self._patterns: set[tuple[int, ...]] = set()  # what could not be read in an accepted case
        self._met: set[tuple[int, int]] = set()  # pairs of conditions that could both be read in one
        self._alone: dict[int, Signature] = {}
        self.standing: set[Item] = set()  # those of them that count
        self.quiet = False  # nothing but the labels of a vector of texts, one by one, has anything to say about it
        self.index: Any = None  # the cases as arrays, once very many were asked for
        self.touched = None
        self.signatures = {}
        self.oddly = 0
        self._reading: Reading | None = None
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

    def recall(self, raw: tuple[Any, ...]) -> Case | list[int] | None:
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
                codes = list(map(getitem, self._text.tables, raw))
                if countOf(map(type, raw), str) == len(codes):
                    return codes
        except (TypeError, KeyError):  # it cannot be hashed, or holds something else; a label that was never met
            pass
        return None

    def support(self, codes: list[int]) -> int:
        """Return how often the rarest of some labels was accepted."""
        counts, support = self.counts, self.accepted
        for code in codes:  # faster than min
            if counts[code] < support:
                support = counts[code]
        return support

    def take(self, features: tuple[Any, ...], codes: list[int], alone: int, accepted: bool, at: int) -> None:
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
            self.settled += 1
            self.accepted_cases += 1
            counts = self.counts
            for code in codes:
                counts[code] += 1
            self._held = self._reading = None
        else:
            signature = self._alone[alone] if alone >= 0 else _NOTHING
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

    def code_of(self, at: int, value: Any) -> int | None:
        """Return a label's code, None when it was never met."""
        kind = type(value)
        kind, held = (kind, value) if kind in LETTERS else (bytes, values.encode(value))
        return self._tables[at].get(kind, {}).get(held)

    def text_codes(self, at: int, held: Sequence[Any]) -> list[int] | None:
        """Return the codes of some labels, None where one of them is no text or was never met."""
        if not held or not _TEXT.issuperset(map(type, held)):
            return None
        try:
            return list(map(self._tables[at].get(str, {}).__getitem__, held))
        except KeyError:
            return None

    def seen_with(self, code: int) -> set[int]:
        """Return the codes of the labels that were accepted together with one, its own among them."""
        return {self._code_of[place] for place in places(self.together[code])}

    @property
    def open_codes(self) -> set[int]:
        """The codes of the labels that were not yet seen with each label of every other condition."""
        return {self._code_of[place] for place in places(self._open)}

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

    def _mask(self, codes: list[int]) -> int:
        """Return codes as bits."""
        return sum(map(self._bits.__getitem__, codes))  # different bits: their sum is their union

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
            self.settled += 1
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
        self.settled = self.accepted
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
            again |= self._allow(at, case.features[at])
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
            again |= self._join(codes)
        if self.relations or shape.unread not in self._patterns:
            again |= self._relate(case, shape.unread)
        for other in again:
            self._resign(other)
        self.quiet = bool(codes) and not (self._open or self.relations or self.quantities) and () in self._patterns

    def _code(self, at: int, value: Any) -> int:
        """Return a label's code, which it gets now if it has none."""
        kind = type(value)
        kind, held = (kind, value) if kind in LETTERS else (bytes, values.encode(value))
        table = self._tables[at].setdefault(kind, {})
        code = table.get(held)
        if code is None:
            code = table[held] = len(self.counts)
            self.counts.append(0)
            self.meaning.append((at, value))
            self.together.append(0)
            self._bits.append(0)
            self.never.add(code)
        return code

    def _allow(self, at: int, value: Any) -> set[Case]:
        """Give a label that is accepted for the first time its code; return the refused cases that had it."""
        code = self._code(at, value)
        self.never.discard(code)
        self._gone += 1
        if self._gone > len(self.never):
            self.never, self._gone = set(self.never), 0
        self.allowed[at] += 1
        again = set(self._by_item.get((at, exact(value)), ()))
        if self.allowed[at] <= WIDE:
            bit = 1 << len(self._code_of)
            self._code_of.append(code)
            self._bits[code] = bit
            self._paired |= bit
            self._own[at] |= bit
            self._open |= self._paired & ~self._own[at] | bit
            return again
        if at not in self.wide:
            self.wide.add(at)
            for place in places(self._own[at]):
                self._bits[self._code_of[place]] = 0
            self._paired &= ~self._own[at]
            self._open &= self._paired
            for place in places(self._open):
                self._close(self._code_of[place])
            again |= {case for item, held in self._by_item.items() if item[0] == "pair" for case in held}
        return again

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

    def _join(self, codes: list[int]) -> set[Case]:
        """Note which values were accepted together; return the refused cases that this explains less well."""
        again: set[Case] = set()
        together, bits, open_ = self.together, self._bits, self._open
        mask = self._mask(codes)
        for code in codes:
            if not bits[code] & open_:
                continue
            fresh = mask & ~together[code]
            if fresh:
                together[code] |= mask
                for place in places(fresh):
                    again |= self._by_item.get(pair(code, self._code_of[place]), set())
            self._close(code)
        return again

    def _close(self, code: int) -> None:
        """Note when a label was seen together with each label of every other condition."""
        if not self._paired & ~self._own[self.meaning[code][0]] & ~self.together[code]:
            self._open &= ~self._bits[code]

    def _relate(self, case: Case, unread: tuple[int, ...]) -> set[Case]:
        """Give up the relations that an accepted case breaks; return the refused cases that this changes."""
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

    # -- violations ---------------------------------------------------------------------------------------------------

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
        return self.signatures.get(_NOTHING, 0)


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
