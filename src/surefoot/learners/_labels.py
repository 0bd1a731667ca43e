"""The labels of an action's conditions: how often each was accepted, and which were accepted together.

A label has a code, a small integer; a set of labels is an integer with a bit for each. Labels of conditions with very
many of them have no bit, and take part in no pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from surefoot import values
from surefoot.learners._cases import LETTERS, Item, pair, places

__all__: list[str] = []  # the parts of an action model; nothing here is public

WIDE = 256
"""Conditions with more different values than this are left out of the pairs: most pairs of theirs are seen once."""
FEW = 8
"""No more labels than this that were never accepted are looked for one by one."""
_TEXT = frozenset({str})


class Labels:
    """The labels that were met; a part of `ActionEvidence`.

    Attributes:
        allowed: how many labels were accepted, by condition.
        wide: conditions with more than `WIDE` of them.
        counts: accepted observations by code; 0: only seen refused.
        meaning: (condition, label) by code.
        never, few: the labels only seen refused; and with their conditions, None where there are more than `FEW`.
        together: labels seen in one accepted case, as bits, by code.
    """

    __slots__ = (
        "_bits",
        "_code_of",
        "_gone",
        "_open",
        "_own",
        "_paired",
        "_tables",
        "allowed",
        "counts",
        "few",
        "meaning",
        "never",
        "together",
        "wide",
    )

    if TYPE_CHECKING:
        accepted: int

    def _forget_labels(self, width: int) -> None:
        """Start anew."""
        self.allowed: list[int] = [0] * width
        self._tables: list[dict[type, dict[Any, int]]] = [{} for _ in range(width)]  # kind -> label -> its code
        self.wide: set[int] = set()
        self.counts: list[int] = []
        self.meaning: list[tuple[int, Any]] = []
        self.never: set[int] = set()
        self.few: list[tuple[int, int]] | None = []
        self._gone = 0  # how many left it: a set is slow to look through where many were
        self._bits: list[int] = []  # the bit of each code in a set of codes; 0 when it takes part in no pairs
        self._code_of: list[int] = []  # by place of the bit
        self._own: list[int] = [0] * width  # the bits of a condition's labels
        self._paired = 0  # all bits that take part
        self._open = 0  # those that were not yet seen with each label of every other condition
        self.together: list[int] = []

    def support(self, codes: tuple[int, ...]) -> int:
        """Return how often the rarest of a vector's labels was accepted."""
        counts, support = self.counts, self.accepted
        for code in codes:  # faster than min
            if counts[code] < support:
                support = counts[code]
        return support

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

    def _mask(self, codes: list[int]) -> int:
        """Return codes as bits."""
        return sum(map(self._bits.__getitem__, codes))  # different bits: their sum is their union

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
            self._list_few()
        return code

    def _list_few(self) -> None:
        """List the labels that were never accepted, where they are few."""
        few = len(self.never) <= FEW
        self.few = [(self.meaning[code][0], code) for code in self.never] if few else None

    def _allow(self, at: int, value: Any) -> bool:
        """Give a label that is accepted for the first time its code; say whether its condition now has too many."""
        code = self._code(at, value)
        self.never.discard(code)
        self._list_few()
        self._gone += 1
        if self._gone > len(self.never):
            self.never, self._gone = set(self.never), 0
        self.allowed[at] += 1
        if self.allowed[at] <= WIDE:
            bit = 1 << len(self._code_of)
            self._code_of.append(code)
            self._bits[code] = bit
            self._paired |= bit
            self._own[at] |= bit
            self._open |= self._paired & ~self._own[at] | bit
            return False
        if at in self.wide:
            return False
        self.wide.add(at)
        for place in places(self._own[at]):
            self._bits[self._code_of[place]] = 0
        self._paired &= ~self._own[at]
        self._open &= self._paired
        for place in places(self._open):
            self._close(self._code_of[place])
        return True

    def _join(self, codes: list[int]) -> list[Item]:
        """Note which labels were accepted together; return the pairs that were not before."""
        found: list[Item] = []
        together, bits, open_ = self.together, self._bits, self._open
        mask = self._mask(codes)
        for code in codes:
            if not bits[code] & open_:
                continue
            fresh = mask & ~together[code]
            if fresh:
                together[code] |= mask
                found += [pair(code, self._code_of[place]) for place in places(fresh)]
            self._close(code)
        return found

    def _close(self, code: int) -> None:
        """Note when a label was seen together with each label of every other condition."""
        if not self._paired & ~self._own[self.meaning[code][0]] & ~self.together[code]:
            self._open &= ~self._bits[code]
