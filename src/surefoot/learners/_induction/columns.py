"""The values of an action's terms on all its observed calls, as arrays, and the conditions that survive them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners._induction.conditions import TESTS, Condition
from surefoot.learners._induction.terms import MEASURES, Term
from surefoot.learners.vocabulary import MISSING

__all__ = ["Frame", "HERE"]

HERE = "…"
"""Stands for a record or a list in a column: only that it is there matters."""
Bools = NDArray[np.bool_]
MOST_ELEMENTS = 48
"""Only so many elements of a list are compared."""
MOST_VALUES = 24
"""A closed set of values has at most so many: longer lists are of names, and the next one is new."""
FEW_VALUES = 8
"""A term with at most so many values gives literals, one for each."""
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


@dataclass
class _Scalars:
    """A column of scalars: a number for each value (0 `MISSING`, 1 a record), the figures, and the types met."""

    codes: NDArray[np.int64]
    figures: NDArray[np.float64]
    kinds: set[str]


@dataclass
class _Lists:
    """A column of lists: numbers for the elements, -1 past the end; where there is no list; the types met."""

    array: NDArray[np.int64]
    absent: Bools
    kinds: set[str]


class Memory:
    """Numbers for values, and the columns that were turned into numbers: only what is new has to be turned."""

    def __init__(self) -> None:
        """Start with `MISSING` and the mark of records."""
        self.intern: dict[Any, int] = {MISSING: 0, HERE: 1}
        self.values: list[Any] = [MISSING, HERE]
        self._scalars: dict[str, _Scalars] = {}
        self._lists: dict[str, _Lists] = {}

    def code(self, value: Any) -> int:
        """Return the number that stands for a value in every column."""
        key = ("bool", value) if type(value) is bool else value
        known = self.intern.get(key)
        if known is None:
            known = self.intern[key] = len(self.values)
            self.values.append(key)
        return known

    def scalar(self, term: Term, column: Sequence[Any], n: int) -> _Scalars:
        """Return a column of rank 0 as numbers."""
        held = self._scalars.get(term.key)
        if held is None:
            held = self._scalars[term.key] = _Scalars(np.zeros(0, np.int64), np.zeros(0), set())
        known = len(held.codes)
        if known < n:
            fresh = column[known:n]
            code = self.code
            held.codes = np.concatenate([held.codes, np.array([code(v) for v in fresh], dtype=np.int64)])
            figures = [v if type(v) is float or type(v) is int else np.nan for v in fresh]
            held.figures = np.concatenate([held.figures, np.array(figures, dtype=np.float64)])
            held.kinds |= _kinds(term, fresh)
        return held

    def list(self, term: Term, column: Sequence[Any], n: int) -> _Lists:
        """Return a column of rank 1 as numbers."""
        held = self._lists.get(term.key)
        if held is None:
            held = self._lists[term.key] = _Lists(np.full((0, 1), -1), np.zeros(0, dtype=bool), set())
        known = len(held.absent)
        if known < n:
            fresh = column[known:n]
            longest = min(MOST_ELEMENTS, max((len(v) for v in fresh if v is not MISSING), default=1))
            width = max(longest, held.array.shape[1])
            array = np.full((n, width), -1, dtype=np.int64)
            array[:known, : held.array.shape[1]] = held.array
            code = self.code
            for at, value in enumerate(fresh, known):
                if value is not MISSING and value:
                    few = value[:width]
                    array[at, : len(few)] = [code(part) for part in few]
            held.array = array
            held.absent = np.concatenate([held.absent, np.array([v is MISSING for v in fresh], dtype=bool)])
            held.kinds |= _kinds(term, [x for v in fresh if v is not MISSING for x in v])
        return held

    def keep(self, keys: set[str]) -> None:
        """Forget the columns of other terms."""
        self._scalars = {key: held for key, held in self._scalars.items() if key in keys}
        self._lists = {key: held for key, held in self._lists.items() if key in keys}


def _kinds(term: Term, found: Sequence[Any]) -> set[str]:
    """Return the types of a term's values, as far as they can be equal to those of other terms."""
    if term.op == "shape":
        return set()
    names = {type(v).__name__ for v in found if v is not MISSING and v is not HERE}
    number = "count" if term.op == "len" else "number"
    return {number if name in ("int", "float") else name for name in names} - {"NoneType"}


class Frame:
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
    """

    def __init__(
        self,
        terms: Sequence[Term],
        columns: Sequence[list[Any]],
        refused: Bools,
        touched: frozenset[tuple[str, str]] = frozenset(),
        messages: NDArray[np.int64] | None = None,
        memory: Memory | None = None,
    ) -> None:
        """Sort the terms by what they hold."""
        self.refused = refused
        self.computed: frozenset[str] = frozenset()
        self.n = len(refused)
        self.touched = touched
        self.messages = np.full(self.n, -1, dtype=np.int64) if messages is None else messages
        self.bad = np.flatnonzero(refused)
        self.good = np.flatnonzero(~refused)
        self.memory = Memory() if memory is None else memory
        self.column: dict[str, list[Any]] = {t.key: c for t, c in zip(terms, columns, strict=True)}
        self.scalars: list[Term] = []
        self.vectors: list[Term] = []
        self.numbers: list[Term] = []
        self.look_ups: list[Term] = []
        self.lists: list[NDArray[np.int64]] = []
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
        self.codes = np.array(codes, dtype=np.int64).reshape(len(self.scalars), self.n)
        self.figures = np.array(figures, dtype=np.float64).reshape(len(self.numbers), self.n)

    # -- conditions that no accepted call violates -------------------------------------------------------------------

    def survivors(self) -> Iterator[tuple[Condition, Bools]]:
        """Yield each condition that holds on all accepted calls, with its violations among the refused ones.

        The violations are in the order of `bad`. Those of conditions between two things are left out when nothing
        violates them and only the state is compared.
        """
        yield from self._present()
        yield from self._domains()
        yield from self._each_domains()
        yield from self._pairs_of_scalars()
        yield from self._pairs_of_vectors()
        yield from self._members()
        yield from self._numbers()

    def _present(self) -> Iterator[tuple[Condition, Bools]]:
        nothing = self.memory.intern.get(None, -1)
        for at, term in enumerate(self.scalars):
            bad = self.codes[at][self.bad]
            if (bad == nothing).any() and nothing > 0:
                good = self.codes[at][self.good]
                self.prior += exp(-Condition("known", (term,)).cost)
                if not ((good == nothing) | (good == 0)).any():
                    yield Condition("known", (term,)), (bad == nothing) | (bad == 0)
        test = TESTS["present"]
        for term in self.look_ups:
            column = self.column[term.key]
            self.prior += exp(-Condition("present", (term,)).cost)
            if all(test(column[i]) for i in self.good):
                yield Condition("present", (term,)), np.array([not test(column[i]) for i in self.bad], dtype=bool)

    def _domains(self) -> Iterator[tuple[Condition, Bools]]:
        back = self.memory.values
        for at, term in enumerate(self.scalars):
            codes = self.codes[at]
            allowed = np.unique(codes[self.good])
            seen = np.unique(codes)
            self.prior += exp(-Condition("domain", (term,)).cost)
            if len(allowed) > MOST_VALUES:
                continue
            bad = ~np.isin(codes[self.bad], allowed)
            _, counts = np.unique(codes[self.good], return_counts=True)
            extra = log_choose(len(seen), len(allowed)) + self._open(counts)
            values = frozenset(back[c] for c in allowed.tolist())
            yield Condition("domain", (term,), values, extra, size=log(len(seen) + 1)), bad

    def _open(self, counts: NDArray[Any]) -> float:
        """Return the cost of taking a set for closed when some of its values were accepted only once.

        Good-Turing: the share of calls with a value met once is the chance that the next one's value is new.
        """
        once = int((counts == 1).sum())
        long = 1.5 * max(0, len(counts) - 3)
        return long + once * max(1.0, log(len(self.good) / len(counts))) if once else long

    def _each_domains(self) -> Iterator[tuple[Condition, Bools]]:
        back = self.memory.values
        for term, array, absent in zip(self.vectors, self.lists, self.absent, strict=True):
            good = np.sort(array[self.good], axis=1)
            fresh = good >= 0
            fresh[:, 1:] &= good[:, 1:] != good[:, :-1]
            allowed, counts = np.unique(good[fresh], return_counts=True)
            if absent[self.good].any():
                allowed = np.union1d(allowed, [0])
            seen = np.unique(array[array >= 0])
            self.prior += exp(-Condition("each domain", (term,)).cost)
            if len(allowed) > MOST_VALUES:
                continue
            bad = array[self.bad]
            wrong: Bools = np.asarray(((bad >= 0) & ~np.isin(bad, allowed)).any(axis=1))
            if 0 not in allowed:
                wrong |= absent[self.bad]
            seen = np.union1d(seen, allowed)
            extra = log_choose(len(seen), len(allowed)) + self._open(counts)
            values = frozenset(back[c] for c in allowed.tolist())
            yield Condition("each domain", (term,), values, extra, size=log(len(seen) + 1)), wrong

    def _pairs_of_scalars(self) -> Iterator[tuple[Condition, Bools]]:
        good, bad = self.codes[:, self.good], self.codes[:, self.bad]
        first = good[:, :48]
        for i, one in enumerate(self.scalars[:-1]):
            fits = np.array([bool(self.kinds[i] & kinds) for kinds in self.kinds[i + 1 :]])
            same = (first[i] == first[i + 1 :]).all(axis=1)
            never = ~((first[i] == first[i + 1 :]) & (first[i] != 0)).any(axis=1)
            self.prior += float(fits.sum()) * exp(-4.0 - one.cost)
            for j in np.flatnonzero(same & fits) + i + 1:
                if (good[i] == good[j]).all() and good[i].any():
                    wrong = bad[i] != bad[j]
                    if wrong.any() or one.rooted != self.scalars[j].rooted:
                        yield Condition("equal", (one, self.scalars[j])), wrong
            for j in np.flatnonzero(never & fits) + i + 1:
                wrong = (bad[i] == bad[j]) & (bad[i] != 0)
                if wrong.any() and not ((good[i] == good[j]) & (good[i] != 0)).any():
                    yield Condition("differ", (one, self.scalars[j])), wrong

    def _pairs_of_vectors(self) -> Iterator[tuple[Condition, Bools]]:
        for i, one in enumerate(self.vectors):
            if not one.rooted:
                self._count_pairs(i)
            if one.rooted:
                repeated = self._repeated(i)
                self.prior += exp(-Condition("distinct", (one,)).cost)
                if not repeated[self.good].any():
                    yield Condition("distinct", (one,)), repeated[self.bad]
            for j, other in enumerate(self.vectors):
                if i == j or not (self.vector_kinds[i] & self.vector_kinds[j]) - {"bool"}:
                    continue
                near = one.origin == other.origin or (one.rooted and other.rooted)
                if not one.rooted and not (near and i < j):
                    continue
                yield from self._pair_of_vectors(i, j, near and i < j)

    def _count_pairs(self, i: int) -> None:
        self.prior += exp(-3.0 - self.vectors[i].cost)

    def _repeated(self, i: int) -> Bools:
        array = np.sort(self.lists[i], axis=1)
        return np.asarray(((array[:, 1:] == array[:, :-1]) & (array[:, 1:] > 0)).any(axis=1))

    def _pair_of_vectors(self, i: int, j: int, near: bool) -> Iterator[tuple[Condition, Bools]]:
        terms = (self.vectors[i], self.vectors[j])
        for kind in (("subset", "bag", "disjoint") if terms[0].rooted else ()) + (
            ("each equal", "each differ") if near else ()
        ):
            self.prior += exp(-5.0 - terms[1].cost)
            if self._broken(kind, i, j, self.good[:48]).any():
                continue
            if self._broken(kind, i, j, self.good).any():
                continue
            wrong = self._broken(kind, i, j, self.bad)
            if wrong.any() or kind in ("subset", "bag"):
                yield Condition(kind, terms), wrong

    def _broken(self, kind: str, i: int, j: int, rows: NDArray[Any]) -> Bools:
        """Return where a condition between two lists is violated."""
        a, b = self.lists[i][rows], self.lists[j][rows]
        if kind in ("each equal", "each differ"):
            width = min(a.shape[1], b.shape[1])
            x, y = a[:, :width], b[:, :width]
            both = (x >= 0) & (y >= 0)
            if kind == "each differ":
                return np.asarray(((x == y) & both & (x != 0)).any(axis=1))
            absent = self.absent[i][rows] != self.absent[j][rows]
            return np.asarray(((x != y) & both).any(axis=1) | absent)
        found = (a[:, :, None] == b[:, None, :]) & (b[:, None, :] >= 0)
        real = a >= 0
        if kind == "disjoint":
            return np.asarray((found.any(axis=2) & real).any(axis=1))
        wrong = (~found.any(axis=2) & real).any(axis=1)
        if kind == "bag":
            mine = ((a[:, :, None] == a[:, None, :]) & real[:, None, :]).sum(axis=2)
            wrong |= ((mine > found.sum(axis=2)) & real).any(axis=1)
        return np.asarray(wrong)

    def _members(self) -> Iterator[tuple[Condition, Bools]]:
        for j, other in enumerate(self.vectors):
            fits = np.array([bool((kinds & self.vector_kinds[j]) - {"bool"}) for kinds in self.kinds], dtype=bool)
            places = np.flatnonzero(fits)
            if not len(places):
                continue
            self.prior += len(places) * exp(-4.5 - other.cost)
            array = self.lists[j]
            there = self.codes[places][:, self.good] != 0
            good = (self.codes[places][:, self.good, None] == array[self.good][None]).any(axis=2) & there
            all_in, none_in = (good | ~there).all(axis=1) & good.any(axis=1), ~good.any(axis=1)
            for at in np.flatnonzero(all_in | none_in):
                i = int(places[at])
                mine = self.codes[i][self.bad]
                bad = (mine[:, None] == array[self.bad]).any(axis=1) & (mine != 0)
                one = self.scalars[i]
                if all_in[at]:
                    wrong = ~bad & (mine != 0)
                    if wrong.any() or one.rooted:
                        yield Condition("member", (one, other)), wrong
                elif none_in[at] and bad.any() and len(self.good):
                    yield Condition("not member", (one, other)), bad

    def _numbers(self) -> Iterator[tuple[Condition, Bools]]:
        good, bad = self.figures[:, self.good], self.figures[:, self.bad]
        if not good.shape[1]:
            return
        with np.errstate(invalid="ignore"):
            for i, one in enumerate(self.numbers):
                self.prior += 2 * exp(-3.0 - one.cost) + 2 * len(self.numbers) * exp(-5.0 - one.cost)
                known = good[i][~np.isnan(good[i])]
                if len(known):
                    for kind, wrong in (("above", bad[i] <= 0), ("at least", bad[i] < 0)):
                        if wrong.any() and (known.min() > 0 or (kind == "at least" and known.min() >= 0)):
                            fixed = Condition(kind, (one,), 0, 0.7)
                            fixed.key += " 0"
                            yield fixed, wrong
                    step = log(1 + len(np.unique(self.figures[i][~np.isnan(self.figures[i])])))
                    for kind, bound, wrong in (
                        ("at least", known.min(), bad[i] < known.min()),
                        ("at most", known.max(), bad[i] > known.max()),
                    ):
                        if wrong.any():
                            odd = bad[i][wrong]
                            near = odd.max() if kind == "at least" else odd.min()
                            yield Condition(kind, (one,), _plain(bound), step, near=_plain(near)), wrong
                fits = self._comparable(i)
                for kind, broken in (("le", np.greater), ("lt", np.greater_equal)):
                    alive = ~broken(good[i], good).any(axis=1)
                    wrong = broken(bad[i], bad)
                    both = (~np.isnan(good[i]) & ~np.isnan(good)).any(axis=1)
                    keep = wrong.any(axis=1) if kind == "lt" else wrong.any(axis=1) | both
                    for j in np.flatnonzero(alive & keep & fits):
                        if j != i:
                            yield Condition(kind, (one, self.numbers[j])), wrong[j]

    def _comparable(self, i: int) -> Bools:
        """Return which numbers a number can be compared with: counts with whole numbers, and where ranges overlap."""
        low, high = np.nanmin(self.figures, axis=1), np.nanmax(self.figures, axis=1)
        known = ~np.isnan(self.figures)
        whole = ((self.figures == np.round(self.figures)) | ~known).all(axis=1)
        counts = np.array([t.op == "len" for t in self.numbers])
        fits = (high[i] >= low) & (high >= low[i])
        return np.asarray(fits & (whole if counts[i] else (~counts | whole[i])))

    # -- literals for pairs ------------------------------------------------------------------------------------------

    def literals(self, most: int = 600) -> tuple[list[Condition], Bools]:
        """Return simple conditions that some calls violate and others do not, and where each is violated."""
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
                add(Condition("present", (term,)), Condition("absent", (term,)), wrong)
        for i, one in enumerate(self.scalars[:-1]):
            fits = np.array([bool(self.kinds[i] & kinds) for kinds in self.kinds[i + 1 :]])
            same = (self.codes[i] == self.codes[i + 1 :]) & (self.codes[i] != 0)
            shares = same.sum(axis=1)
            for j in np.flatnonzero(fits & (shares >= 2) & (shares <= self.n - 2)).tolist():
                terms = (one, self.scalars[i + 1 + j])
                add(Condition("equal", terms), Condition("differ", terms), ~same[j])
        with np.errstate(invalid="ignore"):
            for i, one in enumerate(self.numbers):
                above = self.figures[i] > self.figures
                below = self.figures[i] < self.figures
                fits = self._comparable(i)
                for j in np.flatnonzero(fits).tolist():
                    if j != i and above[j].sum() >= 2 and below[j].sum() >= 2:
                        found.append((Condition("le", (one, self.numbers[j])), above[j]))
        for j, other in enumerate(self.vectors):
            for i, one in enumerate(self.scalars):
                if one.rooted and (self.kinds[i] & self.vector_kinds[j]) - {"bool"}:
                    wrong = ~(self.codes[i][:, None] == self.lists[j]).any(axis=1) & (self.codes[i] != 0)
                    add(Condition("member", (one, other)), Condition("not member", (one, other)), wrong)
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


def _plain(bound: float) -> float:
    return int(bound) if float(bound).is_integer() else float(bound)
