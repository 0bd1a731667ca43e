"""Many terms of one call read at once, and one term of many calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.learners._induction.operations import Reader, reader_of
from surefoot.learners._induction.terms import ARGS, STATE, Term

__all__ = ["Program", "derive"]


def _reader(term: Term, at: tuple[int, ...]) -> Reader:
    return reader_of(term.op, tuple(p.rank for p in term.parents), term.param, at)


class Program:
    """Read many terms of one call at once: what they share is read once."""

    def __init__(self, terms: Sequence[Term]) -> None:
        """Order the terms so that each comes after what it is made of."""
        self.index: dict[str, int] = {"state": 0, "args": 1}
        self._readers: list[Reader] = []
        self.terms: list[Term] = [STATE, ARGS]
        for term in terms:
            self._add(term)

    def _add(self, term: Term) -> int:
        known = self.index.get(term.key)
        if known is not None:
            return known
        at = tuple([self._add(p) for p in term.parents])
        self._readers.append(_reader(term, at))
        self.terms.append(term)
        self.index[term.key] = place = len(self.terms) - 1
        return place

    def add(self, term: Term) -> int:
        """Add a term, and return its slot."""
        return self._add(term)

    def extended(self, terms: Sequence[Term]) -> Program:
        """Return a program that reads more terms, after those of this one."""
        more = Program(())
        more.index, more.terms, more._readers = dict(self.index), list(self.terms), list(self._readers)
        for term in terms:
            more._add(term)
        return more

    def continue_with(self, slots: list[Any]) -> None:
        """Read the terms that are not in `slots` yet."""
        push = slots.append
        for read in self._readers[len(slots) - 2 :]:
            push(read(slots))

    def run(self, state: Any, args: Any) -> list[Any]:
        """Return the value of each term, in the order of `terms`."""
        slots: list[Any] = [state, args]
        push = slots.append
        for read in self._readers:
            push(read(slots))
        return slots


def derive(term: Term, columns: Sequence[Sequence[Any]]) -> list[Any]:
    """Return a term's values on many calls from those of its parents, one column each."""
    read = _reader(term, tuple(range(len(columns))))
    return [read(row) for row in zip(*columns, strict=True)]
