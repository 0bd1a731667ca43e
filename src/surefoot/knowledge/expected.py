"""Ways of least expected cost, for maps on which one action may lead to several places.

Each claim is an action of a stochastic shortest path problem: confirmed, it costs 1 and leads to each place observed
with its frequency; unchecked, it costs `hypothesis_cost` and leads where it is said to. An outcome from which no way
to a target is known costs `LOST`, so that the likeliest ways come first and the cheapest of those next.

With hope, each claim that was taken less than 16 times has one more outcome that nobody has seen: a target. Taken n
times, it leads there with the probability 1 / (n + 1); never taken, for certain. So what was tried little looks good,
and less so each time it is tried.

Source: stochastic shortest paths, Bertsekas and Tsitsiklis 1991; a finite penalty for dead ends, Kolobov, Mausam and
Weld 2012, sec. 3 (fSSPUDE); policy iteration from a proper policy, Puterman 1994, sec. 7.2.5, each evaluation one
sparse solve; the hoped-for outcome is the optimistic initial model of Szita and Lőrincz 2008, sec. 4 (OIM), with one
imagined visit, and an end to it as in R-max, Brafman and Tennenholtz 2002.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import spsolve

from surefoot.knowledge.fold import CONFIRMED, REFUSED, Fold
from surefoot.knowledge.routes import INFINITE, LOST, TRIES

__all__ = ["LOST"]

_EQUAL = 1e-9


class ExpectedRouter:
    """Expected costs to one set of targets, for a map as it is now; made anew when the map has changed.

    Args:
        fold: the map's columns.
        targets: the encodings of the target states; None: the states where something is left to learn.
        confirmed_only: plan over confirmed claims alone.
        rank: an action's place in the order in which equally good actions are chosen.
        hopeful: plan with hope.

    Cost: one shortest-path search and a few sparse solves over the whole map; after that constant a question.
    """

    def __init__(
        self,
        fold: Fold,
        targets: frozenset[bytes] | None,
        confirmed_only: bool,
        rank: Callable[[int], Any],
        *,
        hopeful: bool = False,
    ) -> None:
        """Solve it."""
        self._fold = fold
        self._at = fold.ordinal, fold.epoch
        self._rank = rank
        states = len(fold.state_key) + hopeful  # the last one is where hope leads
        self._goal = np.zeros(states, dtype=bool)
        if targets is None:
            self._goal[: len(fold.opens)] = np.array(fold.opens, dtype=np.int64) > 0
        else:
            self._goal[[fold.state_id[key] for key in targets if key in fold.state_id]] = True
        if hopeful:
            self._goal[-1] = True
        self._claims, self._cost, self._leads = _model(fold, confirmed_only, states, hopeful=hopeful)
        origins = np.array(fold.origin, dtype=np.int64)
        self._origin: NDArray[np.int64] = origins[self._claims]
        self._value = self._solve(states)
        quality = self._quality(self._value)
        self._quality_of = dict(zip(self._claims.tolist(), quality.tolist(), strict=True))

    def close(self) -> None:
        """Do nothing: it watches nothing."""

    @property
    def valid(self) -> bool:
        """Say whether the map is still the one that was solved."""
        return self._at == (self._fold.ordinal, self._fold.epoch)

    def distance(self, s: int) -> float:
        """Return the expected cost from a state, `INFINITE` when no way is known."""
        value = float(self._value[s])
        return value if value < LOST else INFINITE

    def step(self, s: int) -> int:
        """Return the claim to follow from a state, -1 at a target or when no way is known."""
        if self._goal[s] or self._value[s] >= LOST:
            return -1
        best, best_rank = -1, None
        slack = _EQUAL * max(1.0, float(self._value[s]))
        for action, claim in self._fold.out[s].items():
            if self._quality_of.get(claim, LOST) <= self._value[s] + slack:
                rank = self._rank(action)
                if best_rank is None or rank < best_rank:
                    best, best_rank = claim, rank
        return best

    def all(self) -> list[float]:
        """Return every state's expected cost."""
        return [self.distance(s) for s in range(len(self._fold.state_key))]

    def _quality(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected cost of taking each claim and then going on as well as `value` says."""
        onward: NDArray[np.float64] = self._leads @ value
        return self._cost + onward

    def _solve(self, states: int) -> NDArray[np.float64]:
        """Return the least expected cost of each state."""
        value = np.full(states, LOST)
        value[self._goal] = 0.0
        policy = self._towards(states)
        while True:
            inside = np.flatnonzero((policy >= 0) & ~self._goal)
            if not len(inside):
                return value
            value = self._evaluate(policy, inside)
            best, chosen = self._improve(value)
            better = ~self._goal & (best < value - _EQUAL * np.maximum(1.0, np.abs(value)))
            if not better.any():
                return np.minimum(value, LOST)
            policy = np.where(better, chosen, policy)

    def _towards(self, states: int) -> NDArray[np.int64]:
        """Return a proper policy: each state's claim on a way along which every step may succeed; -1 without one."""
        policy = np.full(states, -1, dtype=np.int64)
        leads = self._leads.tocoo()
        if not leads.nnz or not self._goal.any():
            return policy
        rows, to, odds = leads.row, leads.col, leads.data
        weight = self._cost[rows] / odds
        order = np.lexsort((weight, self._origin[rows], to))
        pairs = np.stack((to[order], self._origin[rows][order]))
        first = np.concatenate(([True], np.any(pairs[:, 1:] != pairs[:, :-1], axis=0)))
        graph = csr_array((weight[order][first], (pairs[0][first], pairs[1][first])), shape=(states, states))
        far = dijkstra(graph, indices=np.flatnonzero(self._goal), min_only=True)
        promise = weight + far[to]
        usable = np.isfinite(promise)
        order = np.lexsort((promise[usable], self._origin[rows][usable]))
        origin, row = self._origin[rows][usable][order], rows[usable][order]
        found, at = np.unique(origin, return_index=True)
        policy[found] = row[at]
        return policy

    def _evaluate(self, policy: NDArray[np.int64], inside: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what following a proper policy costs, with `LOST` where it has no claim."""
        value = np.full(len(policy), LOST)
        value[self._goal] = 0.0
        chosen = self._leads[policy[inside]]
        outside = value.copy()
        outside[inside] = 0.0
        known = self._cost[policy[inside]] + chosen @ outside
        system = eye_array(len(inside), format="csr") - chosen[:, inside]
        value[inside] = np.atleast_1d(spsolve(system.tocsc(), known))
        return value

    def _improve(self, value: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return each state's best claim under `value`, and its cost."""
        best = np.full(len(value), LOST)
        chosen = np.full(len(value), -1, dtype=np.int64)
        quality = self._quality(value)
        order = np.lexsort((quality, self._origin))
        found, at = np.unique(self._origin[order], return_index=True)
        cheaper = quality[order][at] < LOST
        best[found[cheaper]] = quality[order][at][cheaper]
        chosen[found[cheaper]] = order[at][cheaper]
        return best, chosen


def _model(
    fold: Fold, confirmed_only: bool, states: int, *, hopeful: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64], csr_array[Any, tuple[int, int]]]:
    """Return the usable claims, their costs (claims,) and where they lead: (claims, states) CSR, rows sum to 1.

    With hope, the last state is where hope leads.
    """
    claims: list[int] = []
    cost: list[float] = []
    rows, columns, odds = [], [], []
    for claim, flags in enumerate(fold.flags):
        confirmed = flags & CONFIRMED
        if flags & REFUSED or (fold.to[claim] < 0 and not hopeful) or (confirmed_only and not confirmed):
            continue
        if hopeful:
            outcomes = fold.outcomes(claim) if confirmed else []
            if sum(times for _, times in outcomes) < TRIES:
                outcomes = [*outcomes, (states - 1, 1)]
        else:
            outcomes = fold.outcomes(claim) if confirmed else [(fold.to[claim], 1)]
        total = sum(times for _, times in outcomes)
        for to, times in outcomes:
            rows.append(len(claims))
            columns.append(to)
            odds.append(times / total)
        claims.append(claim)
        cost.append(1.0 if confirmed or hopeful else float(fold.settings.hypothesis_cost))
    shape = (len(claims), states)
    leads = csr_array(
        (np.array(odds), (np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))), shape=shape
    )
    return np.array(claims, dtype=np.int64), np.array(cost), leads
