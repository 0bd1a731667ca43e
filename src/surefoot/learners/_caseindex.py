"""The cases of an action as arrays, so that very many rows of condition values can be looked up at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.learners._cases import LETTERS, Case
from surefoot.learners.evidence import ActionEvidence
from surefoot.learners.vocabulary import plain_value

__all__: list[str] = []  # the parts of an action model; nothing here is public

EXACT = 2**53
"""A float holds the integers below this."""
_WORD = 62
_ROOM = 256
_TABLE = 22
_PLAIN = frozenset(LETTERS)
_HUGE = 1 << 62
_JOINED = 4096
"""Columns are taken together while there are no more combinations of their values than this: a table in the cache."""
_ARRAYS = (
    *("_labels", "_numbers", "_words", "_keys", "accepted", "refused", "explained"),
    *("verdict", "risk", "support", "hard", "answered"),
)


class Column:
    """One condition's values: all different ones with a code for each row, or all rows as numbers.

    Attributes:
        values: the different values; for numbers, the kind alone matters.
        codes: the code of each row; None for a column of numbers.
        numbers: the number of each row, None where there is none at all.
        numeric: which rows hold a number; None for all of them.
    """

    __slots__ = ("codes", "kind", "numbers", "numeric", "values")

    def __init__(self, values: list[Any], codes: Any, numbers: Any = None, kind: type = str) -> None:
        self.values = values
        self.codes = codes
        self.numbers = numbers
        self.numeric: Any = None
        self.kind = kind

    def __len__(self) -> int:
        return len(self.numbers if self.codes is None else self.codes)

    def value(self, row: int) -> Any:
        """Return the value in a row."""
        return self.kind(self.numbers[row]) if self.codes is None else self.values[self.codes[row]]

    def spread(self, per_value: Any, number: Any) -> Any:
        """Return for each row what stands for its value; `number` is that of a column of numbers."""
        return number if self.codes is None else per_value[self.codes]


def listed(name: str, given: Sequence[Any], quantity: bool) -> Column:
    """Return a column from a list of values."""
    kinds = set(map(type, given))
    if kinds == {float} or (kinds == {int} and quantity and -EXACT < min(given) <= max(given) < EXACT):
        numbers = np.array(given, np.float64)
        if np.isfinite(numbers).all():
            return Column([], None, numbers, kinds.pop())
    place: dict[Any, int]
    if kinds == {str}:
        place = dict.fromkeys(given, 0)
        for n, value in enumerate(place):
            place[value] = n
        return Column(list(place), np.fromiter(map(place.__getitem__, given), np.int64, len(given)))
    held: list[Any] = []
    codes: list[int] = []
    place = {}
    for value in given:
        plain = checked(name, value)
        kind = type(plain)
        # a repr tells signed zeros, and what is inside a container, apart
        key = (kind, plain) if kind in _PLAIN and kind is not float else (kind, repr(plain))
        if key not in place:
            place[key] = len(held)
            held.append(plain)
        codes.append(place[key])
    return Column(held, np.array(codes, np.int64))


def checked(name: str, value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN and (kind is not float or value - value == 0.0):
        return value
    return plain_value(name, value)


class Looked(NamedTuple):
    """A column as an index sees it.

    Attributes:
        codes: the code of each row; None for a column of numbers, where all rows are alike.
        labels: for each value, which of its condition's labels it is; the first that is free for one never met.
        counts: for each value, how often it was accepted; for a number, very often.
    """

    codes: Any
    labels: Any
    counts: Any

    def of(self, per_value: Any, rows: Any = None) -> Any:
        """Return for each row (of these rows) what stands for its value."""
        if self.codes is None:
            return per_value
        return per_value.take(self.codes if rows is None else self.codes[rows], mode="clip")


class Joined(NamedTuple):
    """Neighbouring columns as one: few values each, a code for each of their combinations.

    Attributes:
        word: in which word their labels lie.
        codes: the code of each row; None where all rows are alike.
        labels: for each combination, its labels in their places in the word.
        counts: for each combination, how often the rarest of its labels was accepted.
    """

    word: int
    codes: Any
    labels: Any
    counts: Any


class Index:
    """The cases of an action as arrays, to find and count very many at once; it follows what is observed.

    A case's labels are packed into as few integers as hold them, its numbers are integers by their bits; where that is
    more than one it is mixed into one, and compared whole when found. Small ones are places in a table, others are
    hashed into one (open addressing, at most half full).

    Attributes:
        fits: whether all cases could be written as integers, each as another; if not, nothing can be found here.
        accepted, refused: numbers of observations by place.
        explained: whether there are violations, by place.
        verdict, risk, support, hard: the answers of the cases that were asked for, by place.
        answered: the version of each of these answers.
        version: counts the changes of what was observed; an answer of an older version is out of date.
    """

    def __init__(self, evidence: ActionEvidence) -> None:
        self.evidence = evidence
        self.fits = True
        self.width = len(evidence.names)
        self.cases: list[Case] = []
        self.quantities = sorted(evidence.quantities)
        self._local = np.zeros(0, np.int64)  # by code: which of its condition's labels it is
        self._next = [2 if at in evidence.quantities else 0 for at in range(self.width)]
        self._bits: list[int] = []
        self._labels = np.zeros((self.width, _ROOM), np.int64)
        self._numbers = np.zeros((len(self.quantities), _ROOM))
        self._words = np.zeros((0, _ROOM), np.int64)
        self._keys = np.zeros(_ROOM, np.int64)
        self.accepted = np.zeros(_ROOM, np.int64)
        self.refused = np.zeros(_ROOM, np.int64)
        self.explained = np.zeros(_ROOM, np.bool_)
        self.verdict = np.zeros(_ROOM, np.int8)
        self.risk = np.zeros(_ROOM)
        self.support = np.zeros(_ROOM, np.int64)
        self.hard = np.zeros(_ROOM, np.bool_)
        self.answered = np.zeros(_ROOM, np.int64)
        self.version = 1
        self._when: tuple[Any, ...] = ()
        evidence.touched = list(evidence.cases.values())
        for case in evidence.touched:
            case.place = -1

    def since(self, when: tuple[Any, ...]) -> int:
        """Return the version of what was observed at `when`: a new one if that is not the time of the last."""
        if when != self._when:
            self._when = when
            self.version += 1
        return self.version

    def keep(self, places: Any, verdict: Any, risk: Any, support: Any, hard: Any) -> None:
        """Keep the answer of some cases, for the last version."""
        self.verdict[places], self.risk[places] = verdict, risk
        self.support[places], self.hard[places] = support, hard
        self.answered[places] = self.version

    def refresh(self) -> None:
        """Take in what was observed since."""
        touched = self.evidence.touched
        assert touched is not None  # else this index would be gone
        self._count_labels()
        before = len(self.cases)
        for case in touched:
            if case.place < 0:
                case.place = len(self.cases)
                self.cases.append(case)
        new = self.cases[before:]
        if new:
            for name in _ARRAYS:
                setattr(self, name, _with_room(getattr(self, name), len(self.cases)))
            self._write(new, before)
        if touched:
            at = np.fromiter((case.place for case in touched), np.int64, len(touched))
            self.accepted[at] = [case.accepted for case in touched]
            self.refused[at] = [case.refused for case in touched]
            self.explained[at] = [bool(case.violations) for case in touched]
            touched.clear()
        bits = [(more + 1).bit_length() for more in self._next]
        if bits != self._bits:
            self._lay_out(bits)
            before = 0
        if before < len(self.cases):
            self._enter(before)

    def _count_labels(self) -> None:
        """Give each label a number among those of its condition, in the order in which they came."""
        meaning = self.evidence.meaning
        if len(meaning) == len(self._local):
            return
        more = np.zeros(len(meaning) - len(self._local), np.int64)
        for n, (at, _) in enumerate(meaning[len(self._local) :]):
            more[n] = self._next[at]
            self._next[at] += 1
        self._local = np.concatenate([self._local, more])

    def _write(self, cases: list[Case], start: int) -> None:
        """Write down the labels and the numbers of cases."""
        end = start + len(cases)
        for at, column in enumerate(zip(*(case.features for case in cases), strict=True)):
            quantity = at in self.evidence.quantities
            found = listed("", column, quantity)
            looked = self.look_up(at, found)
            self._labels[at, start:end] = looked.of(looked.labels)
            if quantity:
                self.fits = self.fits and not beyond_floats(column)
                self._numbers[self.quantities.index(at), start:end] = 0.0 if found.numbers is None else found.numbers

    def look_up(self, at: int, column: Column) -> Looked:
        """Return a condition's column as it is seen here; gives a column of values its numbers."""
        evidence, free = self.evidence, self._next[at]
        if column.codes is None:
            known = at in evidence.quantities
            return Looked(None, int(column.kind is int) if known else free, _HUGE)
        known_codes = evidence.text_codes(at, column.values)
        if known_codes is not None:
            held = list(map(evidence.counts.__getitem__, known_codes))
            return Looked(column.codes, self._local[known_codes], np.array(held, np.int64))
        labels, counts, numbers, numeric = [], [], [], []
        for value in column.values:
            number = evidence.is_number(at, value)
            numeric.append(number)
            numbers.append(float(value) if number and abs(value) < EXACT else 0.0)
            code = None if number else evidence.code_of(at, value)
            if number:
                labels.append(int(type(value) is int) if at in evidence.quantities else free)
            else:
                labels.append(free if code is None else int(self._local[code]))
            counts.append(_HUGE if number else 0 if code is None else evidence.counts[code])
        if any(numeric):
            column.numbers = np.array(numbers)[column.codes]
            column.numeric = np.array(numeric)[column.codes]
        return Looked(column.codes, np.array(labels, np.int64), np.array(counts, np.int64))

    def _lay_out(self, bits: list[int]) -> None:
        """Give each condition its place in the words."""
        self._bits = bits
        self._layout: list[tuple[int, int]] = []
        word = shift = 0
        for width in bits:
            if shift + width > _WORD:
                word, shift = word + 1, 0
            self._layout.append((word, shift))
            shift += width
        self._size = word + 1
        self._words = np.zeros((self._size + len(self.quantities), len(self._keys)), np.int64)
        self._direct = len(self._words) == 1 and shift <= _TABLE
        self._table = np.full(1 << shift if self._direct else 2 * _ROOM, -1, np.int64)

    def _enter(self, start: int) -> None:
        """Make cases findable, from a place on."""
        end = len(self.cases)
        words = np.zeros((self._size, end - start), np.int64)
        for (word, shift), labels in zip(self._layout, self._labels, strict=True):
            words[word] += labels[start:end] << shift
        self._words[: self._size, start:end] = words
        self._words[self._size :, start:end] = self._numbers[:, start:end].view(np.int64)
        self._keys[start:end] = _mixed(self._words[:, start:end])
        if self._direct:
            self._table[self._keys[start:end]] = np.arange(start, end)
            return
        if 2 * end > len(self._table):
            self._table = np.full(1 << (4 * end - 1).bit_length(), -1, np.int64)
            start = 0
        entered = start
        left = np.arange(start, end)
        slot = self._slots(self._keys[start:end])
        while len(left):
            free = self._table[slot] < 0
            self._table[slot[free]] = left[free]
            lost = self._table[slot] != left
            left, slot = left[lost], (slot[lost] + 1) & (len(self._table) - 1)
        if len(self._words) > 1 and (self.find(self._words[:, entered:end]) != np.arange(entered, end)).any():
            self.fits = False

    def _slots(self, keys: Any) -> Any:
        """Return where to look for keys first."""
        bits = len(self._table).bit_length() - 1
        mixed = keys.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        return (mixed >> np.uint64(64 - bits)).view(np.int64)

    def join(self, looked: Sequence[Looked]) -> list[Joined]:
        """Return columns as fewer ones, so that each row is looked up in fewer tables."""
        found: list[Joined] = []
        made = False  # whether the last codes are those of a join, which may be written over
        for (word, shift), one in zip(self._layout, looked, strict=True):
            labels, counts, codes = one.labels << shift, one.counts, one.codes
            last = found[-1] if found else None
            together = codes is not None and last is not None and last.word == word and last.codes is not None
            if together and last and len(last.labels) * len(labels) <= min(_JOINED, len(codes)):
                joined = np.multiply(last.codes, len(labels), out=last.codes if made else None)
                joined += codes
                codes, made = joined, True
                labels = np.add.outer(last.labels, labels).ravel()
                counts = np.minimum.outer(last.counts, counts).ravel()
                found.pop()
            else:
                made = False
            found.append(Joined(word, codes, labels, counts))
        return found

    def words(self, joined: Sequence[Joined], columns: Sequence[Column], count: int) -> Any:
        """Return rows as words."""
        words = np.zeros((self._size + len(self.quantities), count), np.int64)
        for word, codes, labels, _ in joined:
            words[word] += labels if codes is None else labels.take(codes, mode="clip")
        for n, at in enumerate(self.quantities):
            if columns[at].numbers is not None:
                words[self._size + n] = columns[at].numbers.view(np.int64)
        return words

    def patterns(self, looked: Sequence[Looked], rows: Any) -> list[Any]:
        """Return rows as words of the labels that were never accepted, at least one; short ones where they fit."""
        parts = [(one, np.where(one.counts == 0, one.labels + 1, 0)) for one in looked if np.any(one.counts == 0)]
        bits = [int(labels.max()).bit_length() for _, labels in parts]
        kind = np.uint16 if sum(bits) <= 16 else np.int64  # short ones are sorted by counting
        words: list[Any] = [np.zeros(len(rows), kind)]
        shift = 0
        for (one, labels), width in zip(parts, bits, strict=True):
            if shift + width > _WORD:
                words.append(np.zeros(len(rows), kind))
                shift = 0
            words[-1] += one.of((labels << shift).astype(kind), rows)
            shift += width
        return words

    def find(self, words: Any) -> Any:
        """Return the place of each row of words, -1 where there is no such case."""
        count = words.shape[1]
        if not self.cases:
            return np.full(count, -1, np.int64)
        keys = _mixed(words)
        if self._direct:
            return self._table.take(keys, mode="clip")
        slot = self._slots(keys)
        place = self._table.take(slot, mode="clip")
        left = np.flatnonzero((place >= 0) & (self._keys.take(place, mode="clip") != keys))
        while len(left):
            slot[left] = (slot[left] + 1) & (len(self._table) - 1)
            place[left] = self._table[slot[left]]
            at = place[left]
            left = left[(at >= 0) & (self._keys[at] != keys[left])]
        if len(words) > 1:
            same = (self._words[:, place] == words).all(axis=0)
            place[~same] = -1
        return place


def _with_room(array: Any, count: int) -> Any:
    """Return an array with room for `count` along its last axis."""
    room = array.shape[-1]
    if room >= count:
        return array
    more = np.zeros((*array.shape[:-1], max(count, 2 * room)), array.dtype)
    more[..., :room] = array
    return more


def beyond_floats(column: Sequence[Any]) -> bool:
    """Say whether there are integers that a float does not hold exactly."""
    return any(type(value) is int and not -EXACT < value < EXACT for value in column)


def _mixed(words: Any) -> Any:
    """Return words as one; equal ones stay equal."""
    if len(words) == 1:
        return words[0]
    mixed = np.zeros(words.shape[1], np.uint64)
    for word in words:
        mixed = (mixed ^ word.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed.view(np.int64)
