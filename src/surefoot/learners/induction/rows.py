"""The observed calls of one action: what each was, and the values of its terms as columns."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.learners.induction.columns import Frame, reduced
from surefoot.learners.induction.growing import grow
from surefoot.learners.induction.snapshots import Shelf
from surefoot.learners.induction.terms import Program, Term

__all__ = ["Rows"]

SAMPLE = 64
"""How many calls are looked at to find terms."""


class Rows:
    """The calls of one action, in the order of observation.

    Attributes:
        kept: what finds each call on the shelf.
        refused: whether each was refused.
        messages: the class of each refusal's message, -1 where there was none.
        seqs: the places in the journal, None without one.
        touched: names that the effects of accepted calls hold.
    """

    def __init__(self, shelf: Shelf) -> None:
        """Start with nothing."""
        self._shelf = shelf
        self.kept: list[tuple[int, ...]] = []
        self.refused: list[bool] = []
        self.messages: list[int] = []
        self.seqs: list[int | None] = []
        self.touched: set[str] = set()
        self.terms: list[Term] = []
        self.columns: list[list[Any]] = []
        self._marks: list[int] = []
        self._program = Program(())
        self._slots: list[int] = []
        self._grown = 0

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.kept)

    def add(
        self, kept: tuple[int, ...], state: Any, args: Mapping[str, Any], refused: bool, message: int, seq: Any
    ) -> None:
        """Append a call; `state` may be its slice."""
        self.kept.append(kept)
        self.refused.append(refused)
        self.messages.append(message)
        self.seqs.append(seq)
        self._marks.append(zlib.crc32(self._shelf.bytes_of(kept)))
        if self.terms:
            self._read(state, args, self._program, self._slots, self.columns)

    @staticmethod
    def _read(state: Any, args: Any, program: Program, slots: list[int], columns: list[list[Any]]) -> None:
        found = program.run(state, args)
        for column, at in zip(columns, slots, strict=True):
            column.append(reduced(found[at]))

    def due(self) -> bool:
        """Say whether there are enough new calls to look for more terms."""
        return len(self) >= self._grown + max(1, self._grown // 2)

    def regrow(self) -> None:
        """Look for terms again, in a sample that does not depend on the order of observation."""
        order = sorted(range(len(self)), key=lambda at: (self._marks[at], self.kept[at]))[:SAMPLE]
        sample = [self._shelf.get(self.kept[at]) for at in order]
        self._grown = len(self)
        terms = grow(sample)
        known = {term.key: at for at, term in enumerate(self.terms)}
        fresh = [term for term in terms if term.key not in known]
        columns: dict[str, list[Any]] = {term.key: [] for term in fresh}
        if fresh:
            program = Program(fresh)
            slots = [program.index[t.key] for t in fresh]
            for kept in self.kept:
                self._read(*self._shelf.get(kept), program, slots, list(columns.values()))
        self.columns = [columns[t.key] if t.key in columns else self.columns[known[t.key]] for t in terms]
        self.terms = terms
        self._program = Program(terms)
        self._slots = [self._program.index[t.key] for t in terms]

    def frame(self) -> Frame:
        """Return the columns as arrays."""
        messages = np.array(self.messages, dtype=np.int64)
        return Frame(self.terms, self.columns, np.array(self.refused, dtype=bool), frozenset(self.touched), messages)

    def touch(self, effect: Any) -> None:
        """Remember the names in what an accepted call changed."""
        if len(self.touched) < 4096:
            _names(effect, self.touched)


def _names(value: Any, found: set[str]) -> None:
    if isinstance(value, str):
        found.add(value)
    elif isinstance(value, list | tuple):
        for part in value:
            _names(part, found)
    elif isinstance(value, dict):
        found.update(key for key in value if isinstance(key, str))
        for part in value.values():
            _names(part, found)
