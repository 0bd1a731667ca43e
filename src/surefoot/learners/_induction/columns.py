"""The conditions that survive an action's accepted calls, each with the refused ones that violate it."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners._induction.conditions import EXACT, TESTS, Condition
from surefoot.learners._induction.memory import Bools
from surefoot.learners._induction.tables import Table

__all__ = ["Frame"]

MOST_VALUES = 24
"""A closed set of values has at most so many: longer lists are of names, and the next one is new."""
ROWS = 32
"""So many calls are compared with one another's terms at once."""


def log_choose(n: int, k: int) -> float:
    """Return the logarithm of the number of ways to choose k of n."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


class Frame(Table):
    """The columns of one action, and which conditions hold on all its accepted calls."""

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
                known = self.memory.condition("known", term)
                self.prior += exp(-known.cost)
                if not ((good == nothing) | (good == 0)).any():
                    yield known, (bad == nothing) | (bad == 0)
        test = TESTS["present"]
        for term in self.look_ups:
            column = self.column[term.key]
            there = self.memory.condition("present", term)
            self.prior += exp(-there.cost)
            if all(test(column[i]) for i in self.good):
                yield there, np.array([not test(column[i]) for i in self.bad], dtype=bool)

    def _domains(self) -> Iterator[tuple[Condition, Bools]]:
        back = self.memory.values
        for at, term in enumerate(self.scalars):
            codes = self.codes[at]
            self.prior += exp(-self.memory.condition("domain", term).cost)
            if ("domain", term.key, term.key) in self.memory.dead:
                continue
            allowed = np.unique(codes[self.good])
            if len(allowed) > MOST_VALUES:
                self.memory.dead.add(("domain", term.key, term.key))
                continue
            seen = np.unique(codes)
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
            self.prior += exp(-self.memory.condition("each domain", term).cost)
            if ("each domain", term.key, term.key) in self.memory.dead:
                continue
            good = np.sort(array[self.good], axis=1)
            fresh = good >= 0
            fresh[:, 1:] &= good[:, 1:] != good[:, :-1]
            allowed, counts = np.unique(good[fresh], return_counts=True)
            if absent[self.good].any():
                allowed = np.union1d(allowed, [0])
            seen = np.unique(array[array >= 0])
            if len(allowed) > MOST_VALUES:
                self.memory.dead.add(("each domain", term.key, term.key))
                continue
            bad = array[self.bad]
            wrong: Bools = np.asarray(((bad >= 0) & ~np.isin(bad, allowed)).any(axis=1))
            if 0 not in allowed:
                wrong |= absent[self.bad]
            seen = np.union1d(seen, allowed)
            extra = log_choose(len(seen), len(allowed)) + self._open(counts)
            values = frozenset(back[c] for c in allowed.tolist())
            yield Condition("each domain", (term,), values, extra, size=log(len(seen) + 1)), wrong

    def _met(self) -> dict[str, Bools]:
        """Return which two scalars were equal in some accepted and in some refused call, and which differed in one."""
        tally, rows = self._tally("same", self.scalars)
        found, many = tally.facts, len(self.scalars)
        if not found:
            found |= {name: np.zeros((many, many), dtype=bool) for name in ("met", "met bad", "apart")}
        for start in range(0, len(rows), ROWS):
            some = rows[start : start + ROWS]
            for refused, name in ((False, "met"), (True, "met bad")):
                codes = self.codes[:, some[self.refused[some] == refused]]
                if codes.shape[1]:
                    same = codes[:, None, :] == codes[None, :, :]
                    found[name] |= (same & (codes != 0)[:, None, :]).any(axis=2)
                    if not refused:
                        found["apart"] |= ~same.all(axis=2)
        return found

    def _pairs_of_scalars(self) -> Iterator[tuple[Condition, Bools]]:
        good, bad = self.codes[:, self.good], self.codes[:, self.bad]
        found = self._met()
        fits: Bools = np.triu(self._alike(), 1)
        filled = np.asarray(good.any(axis=1))
        for i, one in enumerate(self.scalars[:-1]):
            self.prior += float(fits[i].sum()) * exp(-4.0 - one.cost)
            if filled[i]:
                for j in np.flatnonzero(fits[i] & ~found["apart"][i]).tolist():
                    wrong = bad[i] != bad[j]
                    if wrong.any() or one.rooted != self.scalars[j].rooted:
                        yield self.memory.condition("equal", one, self.scalars[j]), wrong
            for j in np.flatnonzero(fits[i] & found["met bad"][i] & ~found["met"][i]).tolist():
                yield self.memory.condition("differ", one, self.scalars[j]), (bad[i] == bad[j]) & (bad[i] != 0)

    def _pairs_of_vectors(self) -> Iterator[tuple[Condition, Bools]]:
        for i, one in enumerate(self.vectors):
            if not one.rooted:
                self._count_pairs(i)
            if one.rooted or (one.op == "unless" and one.parents[0].rooted):
                repeated = self._repeated(i)
                distinct = self.memory.condition("distinct", one)
                self.prior += exp(-distinct.cost)
                if not repeated[self.good].any():
                    yield distinct, repeated[self.bad]
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
            place = (kind, terms[0].key, terms[1].key)
            if place in self.memory.dead:
                continue
            if place not in self.memory.broken and self._broken(kind, i, j, self.good[:48]).any():
                self.memory.dead.add(place)
                continue
            broken = self._all_broken(place, i, j)
            if broken[self.good].any():
                self.memory.dead.add(place)
                self.memory.broken.pop(place)
                continue
            wrong = broken[self.bad]
            if kind in ("subset", "bag") or wrong.any():
                yield self.memory.condition(kind, *terms), wrong

    def _all_broken(self, place: tuple[str, str, str], i: int, j: int) -> Bools:
        """Return where a condition between two lists is violated; only new calls are looked at."""
        held = self.memory.broken.get(place)
        since = 0 if held is None else len(held)
        if held is None or since < self.n:
            found = self._broken(place[0], i, j, slice(since, None))
            held = self.memory.broken[place] = found if held is None else np.concatenate([held, found])
        return held

    def _broken(self, kind: str, i: int, j: int, rows: NDArray[Any] | slice) -> Bools:
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
        rooted = np.array([term.rooted for term in self.scalars], dtype=bool)
        fitting: dict[frozenset[str], NDArray[Any]] = {}
        for j, other in enumerate(self.vectors):
            wanted = self.vector_kinds[j] - {"bool"}
            if wanted not in fitting:
                fitting[wanted] = np.flatnonzero([not wanted.isdisjoint(kinds) for kinds in self.kinds])
            places = fitting[wanted]
            if not len(places):
                continue
            self.prior += len(places) * exp(-4.5 - other.cost)
            array = self.lists[j]
            tally, rows = self._tally(other.key, [self.scalars[at] for at in places.tolist()])
            facts = tally.facts
            if not facts:
                facts |= {name: np.zeros(len(places), dtype=bool) for name in ("in", "out", "bad in", "bad out")}
            for refused, mark in ((False, ""), (True, "bad ")) if len(rows) else ():
                some = rows[self.refused[rows] == refused]
                codes = self.codes[np.ix_(places, some)]
                found = (codes[:, :, None] == array[some][None]).any(axis=2)
                facts[mark + "in"] |= (found & (codes != 0)).any(axis=1)
                facts[mark + "out"] |= (~found & (codes != 0)).any(axis=1)
            all_in = facts["in"] & ~facts["out"] & (rooted[places] | facts["bad out"])
            none_in = ~facts["in"] & facts["bad in"] & bool(len(self.good))
            for at in np.flatnonzero(all_in | none_in):
                i = int(places[at])
                mine = self.codes[i][self.bad]
                bad = (mine[:, None] == array[self.bad]).any(axis=1) & (mine != 0)
                if all_in[at]:
                    yield self.memory.condition("member", self.scalars[i], other), ~bad & (mine != 0)
                else:
                    yield self.memory.condition("not member", self.scalars[i], other), bad

    def _numbers(self) -> Iterator[tuple[Condition, Bools]]:
        good, bad = self.figures[:, self.good], self.figures[:, self.bad]
        if not good.shape[1]:
            return
        more = self._compared()
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
                for kind, alive, keep in (
                    ("le", ~more["gt"][i], more["gt bad"][i] | more["both"][i]),
                    ("lt", ~more["ge"][i], more["ge bad"][i]),
                ):
                    for j in np.flatnonzero(alive & keep & fits).tolist():
                        if j != i:
                            wrong = bad[i] > bad[j] if kind == "le" else bad[i] >= bad[j]
                            yield self.memory.condition(kind, one, self.numbers[j]), wrong
            yield from self._amounts()

    def _amounts(self) -> Iterator[tuple[Condition, Bools]]:
        """Yield which numbers are always what a linear expression comes to."""
        good, bad = self.figures[:, self.good], self.figures[:, self.bad]
        for j, other in enumerate(self.numbers):
            if other.op == "linear":
                both = ~np.isnan(good) & ~np.isnan(good[j])
                same = ~(np.abs(good - good[j]) >= EXACT).any(axis=1) & (2 * both.sum(axis=1) > good.shape[1])
                for i in np.flatnonzero(same).tolist():
                    wrong = np.abs(bad[i] - bad[j]) >= EXACT
                    if i != j and wrong.any() and self.numbers[i].op != "linear":
                        self.prior += exp(-3.0 - other.cost)
                        yield self.memory.condition("comes to", self.numbers[i], other), wrong

    def _compared(self) -> dict[str, Bools]:
        """Return which number was more, or not less, than which in some accepted, and in some refused call."""
        tally, rows = self._tally("more", self.numbers)
        found, many = tally.facts, len(self.numbers)
        if not found:
            found |= {name: np.zeros((many, many), dtype=bool) for name in ("gt", "ge", "both", "gt bad", "ge bad")}
        for start in range(0, len(rows), ROWS):
            some = rows[start : start + ROWS]
            for refused, mark in ((False, ""), (True, " bad")):
                figures = self.figures[:, some[self.refused[some] == refused]]
                if figures.shape[1]:
                    found["gt" + mark] |= (figures[:, None, :] > figures[None, :, :]).any(axis=2)
                    found["ge" + mark] |= (figures[:, None, :] >= figures[None, :, :]).any(axis=2)
                    if not refused:
                        known = (~np.isnan(figures)).astype(np.float32)
                        found["both"] |= known @ known.T > 0
        return found


def _plain(bound: float) -> float:
    return int(bound) if float(bound).is_integer() else float(bound)
