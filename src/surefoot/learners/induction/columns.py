"""The values of an action's terms on all its observed calls, as arrays, and the conditions that survive them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners.induction.conditions import TESTS, Condition, frozen
from surefoot.learners.induction.terms import Term, is_number, rooted
from surefoot.learners.vocabulary import MISSING

__all__ = ["Frame", "HERE"]

HERE = "…"
"""Stands for a record or a list in a column: only that it is there matters."""
Bools = NDArray[np.bool_]
_SCALARS = (str, int, float, bool, type(None))


def log_choose(n: int, k: int) -> float:
    """Return the logarithm of the number of ways to choose k of n."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def reduced(value: Any) -> Any:
    """Return a value as a column keeps it: what is no scalar is only there."""
    if value is MISSING or isinstance(value, _SCALARS):
        return value
    if type(value) is tuple:
        return tuple([v if v is MISSING or isinstance(v, _SCALARS) else HERE for v in value])
    return HERE


class Frame:
    """The columns of one action.

    Attributes:
        terms: what is read.
        columns: per term, its value on each call.
        refused: (n,) bool.
    """

    def __init__(self, terms: Sequence[Term], columns: Sequence[list[Any]], refused: Bools) -> None:
        """Sort the terms by what they hold."""
        self.refused = refused
        self.n = len(refused)
        self.bad = np.flatnonzero(refused)
        self.good = np.flatnonzero(~refused)
        self.intern: dict[Any, int] = {MISSING: 0}
        self.column: dict[str, list[Any]] = {t.key: c for t, c in zip(terms, columns, strict=True)}
        self.scalars: list[Term] = []
        self.vectors: list[Term] = []
        self.numbers: list[Term] = []
        self.look_ups: list[Term] = []
        codes, numbers = [], []
        self.values = []
        for term, column in zip(terms, columns, strict=True):
            if term.op in ("get", "join", "join2"):
                self.look_ups.append(term)
            if term.rank:
                if any(v is not MISSING and any(x is not MISSING and x is not HERE for x in v) for v in column):
                    self.vectors.append(term)
                continue
            if all(v is MISSING or v is HERE for v in column):
                continue
            measured = term.op in ("len", "sum", "sumdiff", "sumtimes", "minus", "times", "number")
            if not measured or term.op == "len":
                self.scalars.append(term)
                codes.append([self.code(v) for v in column])
            found = [v if is_number(v) else np.nan for v in column]
            if any(v is not np.nan for v in found):
                self.numbers.append(term)
                numbers.append(found)
        self.codes = np.array(codes, dtype=np.int64).reshape(len(self.scalars), self.n)
        self.figures = np.array(numbers, dtype=np.float64).reshape(len(self.numbers), self.n)

    def code(self, value: Any) -> int:
        """Return the number that stands for a value in every column."""
        key = frozen(value)
        known = self.intern.get(key)
        if known is None:
            known = self.intern[key] = len(self.intern)
        return known

    # -- conditions that no accepted call violates -------------------------------------------------------------------

    def survivors(self) -> Iterator[tuple[Condition, Bools]]:
        """Yield each condition that holds on all accepted calls and is violated by a refused one, with its violations.

        The violations are over the refused calls, in the order of `bad`.
        """
        yield from self._present()
        yield from self._domains()
        yield from self._each_domains()
        yield from self._pairs_of_scalars()
        yield from self._pairs_of_vectors()
        yield from self._of_both()
        yield from self._numbers()

    def _present(self) -> Iterator[tuple[Condition, Bools]]:
        for term in self.look_ups:
            column = self.column[term.key]
            test = TESTS["present"]
            if not all(test(column[i]) for i in self.good):
                continue
            bad = np.array([not test(column[i]) for i in self.bad], dtype=bool)
            yield Condition("present", (term,)), bad

    def _domains(self) -> Iterator[tuple[Condition, Bools]]:
        back = {code: value for value, code in self.intern.items()}
        for at, term in enumerate(self.scalars):
            codes = self.codes[at]
            allowed = np.unique(codes[self.good])
            seen = np.unique(codes)
            if len(allowed) == len(seen):
                continue
            bad = ~np.isin(codes[self.bad], allowed)
            extra = log_choose(len(seen), len(allowed))
            param = frozenset(back[c] for c in allowed.tolist())
            yield Condition("domain", (term,), param, extra), bad

    def _each_domains(self) -> Iterator[tuple[Condition, Bools]]:
        for term in self.vectors:
            column = self.column[term.key]
            allowed: set[Any] = set()
            for i in self.good:
                value = column[i]
                allowed.update((MISSING,) if value is MISSING else map(frozen, value))
            seen = set(allowed)
            bad = np.zeros(len(self.bad), dtype=bool)
            for at, i in enumerate(self.bad):
                value = column[i]
                parts = (MISSING,) if value is MISSING else [frozen(v) for v in value]
                bad[at] = not allowed.issuperset(parts)
                seen.update(parts)
            if bad.any():
                extra = log_choose(len(seen), len(allowed))
                yield Condition("each domain", (term,), frozenset(allowed), extra), bad

    def _pairs_of_scalars(self) -> Iterator[tuple[Condition, Bools]]:
        if not len(self.good):
            return
        first = self.codes[:, self.good[:48]]
        good, bad = self.codes[:, self.good], self.codes[:, self.bad]
        kinds = [self._types(t) for t in self.scalars]
        for i, one in enumerate(self.scalars[:-1]):
            same = first[i] == first[i + 1 :]
            filled = (first[i] != 0) & (first[i + 1 :] != 0)
            for j in np.flatnonzero(same.all(axis=1)) + i + 1:
                if (good[i] == good[j]).all() and kinds[i] & kinds[j]:
                    wrong = bad[i] != bad[j]
                    if wrong.any() or rooted(one) != rooted(self.scalars[j]):
                        yield Condition("equal", (one, self.scalars[j])), wrong
            for j in np.flatnonzero(~(same & filled).any(axis=1)) + i + 1:
                wrong = (bad[i] == bad[j]) & (bad[i] != 0)
                if wrong.any() and kinds[i] & kinds[j] and not ((good[i] == good[j]) & (good[i] != 0)).any():
                    yield Condition("differ", (one, self.scalars[j])), wrong

    def _types(self, term: Term) -> set[str]:
        found = {type(v).__name__ for v in self.column[term.key] if v is not MISSING and v is not HERE}
        return {"number" if name in ("int", "float") else name for name in found} - {"NoneType"}

    def _test(self, kind: str, terms: tuple[Term, ...]) -> Bools | None:
        """Return the violations of a condition, None when an accepted call violates it or no refused one does."""
        test = TESTS[kind]
        columns = [self.column[t.key] for t in terms]
        if len(columns) == 1:
            (a,) = columns
            if not all(test(a[i]) for i in self.good):
                return None
            bad = np.array([not test(a[i]) for i in self.bad], dtype=bool)
        else:
            a, b = columns
            if not all(test(a[i], b[i]) for i in self.good):
                return None
            bad = np.array([not test(a[i], b[i]) for i in self.bad], dtype=bool)
        return bad

    def _pairs_of_vectors(self) -> Iterator[tuple[Condition, Bools]]:
        kinds = {t.key: self._kinds(t) for t in self.vectors}
        for one in self.vectors:
            if rooted(one) and (bad := self._test("distinct", (one,))) is not None:
                yield Condition("distinct", (one,)), bad
            for other in self.vectors:
                if other is one or not kinds[one.key] & kinds[other.key]:
                    continue
                if rooted(one):
                    for kind in ("subset", "bag", "disjoint"):
                        if (bad := self._test(kind, (one, other))) is not None:
                            yield Condition(kind, (one, other)), bad
                if one.key < other.key and (one.origin == other.origin or (rooted(one) and rooted(other))):
                    for kind in ("each equal", "each differ"):
                        if (bad := self._test(kind, (one, other))) is not None:
                            yield Condition(kind, (one, other)), bad

    def _kinds(self, term: Term) -> set[str]:
        return {
            type(x).__name__ for v in self.column[term.key] if v is not MISSING for x in v if x is not HERE
        } - {"_Mark", "bool", "NoneType"}

    def _of_both(self) -> Iterator[tuple[Condition, Bools]]:
        kinds = {t.key: self._kinds(t) for t in self.vectors}
        for one in self.scalars:
            types = self._types(one) - {"bool"}
            if not types:
                continue
            for other in self.vectors:
                if types & kinds[other.key]:
                    for kind in ("member", "not member"):
                        if (bad := self._test(kind, (one, other))) is not None:
                            yield Condition(kind, (one, other)), bad

    def _numbers(self) -> Iterator[tuple[Condition, Bools]]:
        good, bad = self.figures[:, self.good], self.figures[:, self.bad]
        if not good.shape[1]:
            return
        with np.errstate(invalid="ignore"):
            for i, one in enumerate(self.numbers):
                known = good[i][~np.isnan(good[i])]
                if len(known):
                    for kind, bound, wrong in (
                        ("at least", known.min(), bad[i] < known.min()),
                        ("at most", known.max(), bad[i] > known.max()),
                    ):
                        if wrong.any():
                            yield Condition(kind, (one,), _plain(bound)), wrong
                for kind, broken in (("le", np.greater), ("lt", np.greater_equal)):
                    alive = ~broken(good[i], good).any(axis=1)
                    wrong = broken(bad[i], bad)
                    for j in np.flatnonzero(alive & wrong.any(axis=1)):
                        if j != i:
                            yield Condition(kind, (one, self.numbers[j])), wrong[j]


def _plain(bound: float) -> float:
    return int(bound) if float(bound).is_integer() else float(bound)
