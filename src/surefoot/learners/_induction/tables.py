"""The values of an action's terms on all its observed calls, as arrays, and simple conditions that some violate."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners._induction.conditions import Condition
from surefoot.learners._induction.memory import Bools, Memory, Tally
from surefoot.learners._induction.terms import MEASURES, Term
from surefoot.learners.vocabulary import MISSING

__all__ = ["Table"]

FEW_VALUES = 8
"""A term with at most so many values gives literals, one for each."""


class Table:
    """The columns of one action.

    Attributes:
        refused: (n,) bool.
        good, bad: the places of accepted and of refused calls.
        scalars, codes: terms of rank 0, and (terms, n) a number for each value; 0 is `MISSING`.
        numbers, figures: terms of rank 0 that hold numbers, and (terms, n) float64, NaN where there is none.
        vectors, lists: terms of rank 1, and for each (n, longest) numbers for its elements, -1 past the end.
        place: the place of a term of rank 0 among `scalars`, of rank 1 among `vectors`.
        computed: terms whose numbers the action's effects hold.
        touched: (part of the state, field) that the action was seen to change.
        prior: sum of exp(-cost) over all conditions that were looked at.
        seqs: the places of the calls in the journal.
        memo: what was worked out from these columns alone, by what it is: they never change.
    """

    def __init__(
        self,
        terms: Sequence[Term],
        columns: Sequence[Any],
        refused: Bools,
        touched: frozenset[tuple[str, str]] = frozenset(),
        messages: NDArray[np.int64] | None = None,
        memory: Memory | None = None,
    ) -> None:
        """Sort the terms by what they hold."""
        self.refused = refused
        self.memo: dict[Any, Any] = {}
        self._ranges: tuple[NDArray[Any], ...] = ()
        self.seqs: list[int | None] = []
        self.computed: frozenset[str] = frozenset()
        self.n = len(refused)
        self.touched = touched
        self.messages = np.full(self.n, -1, dtype=np.int64) if messages is None else messages
        self.bad = np.flatnonzero(refused)
        self.good = np.flatnonzero(~refused)
        self.memory = Memory() if memory is None else memory
        self.column: dict[str, Any] = {t.key: c for t, c in zip(terms, columns, strict=True)}
        self.scalars: list[Term] = []
        self.vectors: list[Term] = []
        self.numbers: list[Term] = []
        self.look_ups: list[Term] = []
        self.lists: list[NDArray[np.int32]] = []
        self.absent: list[Bools] = []
        self.kinds: list[frozenset[str]] = []
        self.vector_kinds: list[frozenset[str]] = []
        self.prior = 0.0
        codes, figures = [], []
        for term, column in zip(terms, columns, strict=True):
            if term.op in ("get", "join", "join2"):
                self.look_ups.append(term)
            if term.rank:
                coded = self.memory.list(term, column, self.n)
                if (coded.array > 1).any():
                    self.vectors.append(term)
                    self.lists.append(coded.array)
                    self.absent.append(coded.absent)
                    self.vector_kinds.append(frozenset(coded.kinds))
                continue
            held = self.memory.scalar(term, column, self.n)
            if not (held.codes > 1).any():
                continue
            if term.op not in MEASURES or term.op == "len":
                self.scalars.append(term)
                codes.append(held.codes)
                self.kinds.append(frozenset(held.kinds))
            if not np.isnan(held.figures).all():
                self.numbers.append(term)
                figures.append(held.figures)
        self.place = {t.key: at for found in (self.scalars, self.vectors) for at, t in enumerate(found)}
        self.codes = np.array(codes, dtype=np.int32).reshape(len(self.scalars), self.n)
        self.figures = np.array(figures, dtype=np.float64).reshape(len(self.numbers), self.n)

    def _tally(self, name: str, terms: Sequence[Term]) -> tuple[Tally, NDArray[Any]]:
        """Return what was found of tests on these terms, and the calls that came since, which then count as seen."""
        names = tuple([term.key for term in terms])
        tally = self.memory.tallies.get(name)
        if tally is None or tally.names != names:
            tally = self.memory.tallies[name] = Tally(names, 0, {})
        rows = np.arange(tally.upto, self.n)
        tally.upto = self.n
        return tally, rows

    def _alike(self) -> Bools:
        """Return which two scalars hold values of one kind."""
        kinds = sorted(frozenset[str]().union(*self.kinds))
        held = np.zeros((len(self.kinds), len(kinds)), dtype=bool)
        for at, mine in enumerate(self.kinds):
            held[at] = [kind in mine for kind in kinds]
        return np.asarray(held @ held.T)

    def _comparable(self, i: int) -> Bools:
        """Return which numbers a number can be compared with: counts with whole numbers, and where ranges overlap."""
        if not self._ranges:
            known = ~np.isnan(self.figures)
            whole = ((self.figures == np.round(self.figures)) | ~known).all(axis=1)
            counts = np.array([t.op == "len" for t in self.numbers])
            dear = np.array([t.dear for t in self.numbers])
            ratios = np.array([t.op == "over" for t in self.numbers])
            self._ranges = (
                np.nanmin(self.figures, axis=1),
                np.nanmax(self.figures, axis=1),
                whole,
                counts,
                dear,
                ratios,
            )
        low, high, whole, counts, dear, ratios = self._ranges
        fits = (high[i] >= low) & (high >= low[i]) & ~(dear[i] & dear) & ~(ratios[i] | ratios)
        return np.asarray(fits & (whole if counts[i] else (~counts | whole[i])))

    # -- literals for pairs ------------------------------------------------------------------------------------------

    def literals(self, most: int = 600) -> tuple[list[Condition], Bools]:
        """Return simple conditions that some calls violate and others do not, and where each is violated."""
        known = self.memo.get(("literals", most))
        if known is None:
            known = self.memo["literals", most] = self._literals(most)
        found: tuple[list[Condition], Bools] = known
        return found

    def _literals(self, most: int) -> tuple[list[Condition], Bools]:
        found: list[tuple[Condition, Bools]] = []

        def add(one: Condition, other: Condition, wrong: Bools) -> None:
            share = int(wrong.sum())
            if 2 <= share <= self.n - 2:
                found.append((one, wrong))
                found.append((other, ~wrong))

        back = self.memory.values
        for at, term in enumerate(self.scalars):
            values, counts = np.unique(self.codes[at], return_counts=True)
            if len(values) > FEW_VALUES:
                continue
            extra = log(len(values))
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                if count >= 2:
                    wrong = self.codes[at] != value
                    add(
                        Condition("is", (term,), back[value], extra),
                        Condition("is not", (term,), back[value], extra),
                        wrong,
                    )
        for term in self.look_ups:
            if not term.rank:
                wrong = np.array([v is MISSING for v in self.column[term.key][: self.n]], dtype=bool)
                add(self.memory.condition("present", term), self.memory.condition("absent", term), wrong)
        alike = self._alike()
        for i, one in enumerate(self.scalars[:-1]):
            fits = alike[i, i + 1 :]
            same = (self.codes[i] == self.codes[i + 1 :]) & (self.codes[i] != 0)
            shares = same.sum(axis=1)
            for j in np.flatnonzero(fits & (shares >= 2) & (shares <= self.n - 2)).tolist():
                terms = (one, self.scalars[i + 1 + j])
                add(self.memory.condition("equal", *terms), self.memory.condition("differ", *terms), ~same[j])
        with np.errstate(invalid="ignore"):
            for i, one in enumerate(self.numbers):
                above = self.figures[i] > self.figures
                often = (above.sum(axis=1) >= 2) & ((self.figures[i] < self.figures).sum(axis=1) >= 2)
                for j in np.flatnonzero(self._comparable(i) & often).tolist():
                    if j != i:
                        found.append((self.memory.condition("le", one, self.numbers[j]), above[j]))
        for j, other in enumerate(self.vectors):
            for i, one in enumerate(self.scalars):
                if one.rooted and (self.kinds[i] & self.vector_kinds[j]) - {"bool"}:
                    wrong = ~(self.codes[i][:, None] == self.lists[j]).any(axis=1) & (self.codes[i] != 0)
                    both = self.memory.condition("member", one, other), self.memory.condition("not member", one, other)
                    add(*both, wrong)
        found.sort(key=lambda pair: (pair[0].cost, pair[0].key))
        kept: list[tuple[Condition, Bools]] = []
        seen: dict[bytes, int] = {}
        for condition, wrong in found:
            pattern = np.packbits(wrong).tobytes()
            if seen.setdefault(pattern, 0) < 2:
                seen[pattern] += 1
                kept.append((condition, wrong))
            if len(kept) >= most:
                break
        if not kept:
            return [], np.zeros((0, self.n), dtype=bool)
        return [c for c, _ in kept], np.array([w for _, w in kept], dtype=bool)
