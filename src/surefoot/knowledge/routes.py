"""Shortest ways over a map that changes under the walker.

`Router` keeps, for one set of targets, each state's distance to the nearest of them, and repairs it when claims
change, only as far as the next question needs. Its cost is that of what changed between the walker and the targets,
not of the map.

Source: Lifelong Planning A* with h = 0 (Koenig, Likhachev and Furcy 2004, sec. 3), searching backwards from the
targets; that is DynamicSWSF-FP (Ramalingam and Reps 1996, sec. 3) with early termination. A large cold start is one
Dijkstra over CSR arrays (SciPy) instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from surefoot.knowledge.fold import CONFIRMED, REFUSED, Fold
from surefoot.knowledge.predecessors import Predecessors

__all__ = ["LOST", "TRIES", "Route"]

LOST = 1_000_000.0
"""What it costs to end where no way to a target is known, on a map of chance.

Example:
    >>> LOST
    1000000.0
"""
TRIES = 16
"""How often an action is tried on a map of chance before there is no hope left that it does what it never did.

Without an end to hope, to stay where it is safe would look best.

Example:
    >>> TRIES
    16
"""
INFINITE = 1 << 60
_LARGE = 2_000  # states from which a cold start goes through SciPy
_PATIENCE = 400  # expansions before it does


@dataclass(frozen=True, slots=True)
class Route:
    """A way from a state to a target, or the answer that there is none, or that none is needed.

    Attributes:
        start: where it starts.
        reached: the start is a target already.
        action: the first action to take; None when there is nothing to take (or, with `known`, when already there).
        cost: confirmed steps count 1, unchecked ones the map's `hypothesis_cost`; on a stochastic map the expected
            number. 0 when reached, infinity when no way is known.
        steps: pairs (state, action), the expected way; on a stochastic map the likeliest.
        target: the target it leads to; None when no way is known.

    True when a way is known (or none is needed).

    Example:
        >>> from surefoot.knowledge.worldmap import WorldMap
        >>> m = WorldMap().see("hall", "north", to="garden")
        >>> way = m.route("hall", {"garden"})
        >>> way.action, way.cost, way.reached, bool(m.route("garden", {"hall"}))
        ('north', 3, False, False)
    """

    start: Any
    reached: bool
    action: Any
    cost: float
    steps: tuple[tuple[Any, Any], ...] = ()
    target: Any = None

    @property
    def known(self) -> bool:
        """Say whether a way is known, or none is needed."""
        return self.reached or bool(self.steps)

    def __bool__(self) -> bool:
        """Return `known`."""
        return self.known


class Router:
    """Distances to one set of targets, repaired as the map changes.

    Args:
        fold: the map's columns.
        targets: the encodings of the target states; None: the states where something is left to learn.
        confirmed_only: plan over confirmed claims alone.
        rank: an action's place in the order in which equally good actions are chosen.

    Cost: cold, one search from the targets until the asked state is reached; then what changed.
    """

    def __init__(
        self, fold: Fold, targets: frozenset[bytes] | None, confirmed_only: bool, rank: Callable[[int], Any]
    ) -> None:
        """Search nothing yet."""
        self._fold = fold
        self._epoch = fold.epoch
        self._watcher = fold.watch()
        self._rank = rank
        self._confirmed_only = confirmed_only
        self._hypothesis_cost = 0 if confirmed_only else fold.settings.hypothesis_cost
        self._unknown = set(targets or ())
        self._explore = targets is None
        self._targets: set[int] = set()
        self._g: list[int] = []
        self._rhs: list[int] = []
        self._heap: list[tuple[int, int]] = []
        self._sync()
        large = len(self._g) > _LARGE
        if self._explore:
            open_here = [s for s, opens in enumerate(fold.opens) if opens]
            if large and len(open_here) > _PATIENCE:
                self._bulk()
            else:
                self._watcher.update(open_here)
        elif large and fold.preds is None:  # nobody has asked yet where claims come from: searching far is as cheap
            self._bulk()
            self._watcher.clear()

    def close(self) -> None:
        """Stop watching the map."""
        self._fold.unwatch(self._watcher)

    @property
    def valid(self) -> bool:
        """Say whether repairs are enough: False once everything changed at once (a drop, new settings)."""
        return self._epoch == self._fold.epoch

    def distance(self, s: int) -> int:
        """Return the distance from a state, `INFINITE` when no way is known."""
        self._settle(s)
        return self._g[s]

    def step(self, s: int) -> int:
        """Return the claim to follow from a state that `distance` found a way from, -1 at a target."""
        g, fold = self._g, self._fold
        if g[s] == 0 or g[s] >= INFINITE:
            return -1
        best, best_rank = -1, None
        for action, claim in fold.out[s].items():
            cost = self._cost(claim)
            if cost and cost + g[fold.to[claim]] == g[s]:
                rank = self._rank(action)
                if best_rank is None or rank < best_rank:
                    best, best_rank = claim, rank
        return best

    def all(self) -> list[int]:
        """Return every state's distance. Cost: one search over the whole map, or what changed."""
        self._sync()
        if len(self._heap) > _PATIENCE and len(self._g) > _LARGE:
            self._bulk()
        while self._heap:
            self._expand()
        return self._g

    def _is_target(self, s: int) -> bool:
        return self._fold.opens[s] > 0 if self._explore else s in self._targets

    def _cost(self, claim: int) -> int:
        """Return what following a claim costs, 0 when no route may."""
        flags = self._fold.flags[claim]
        if flags & REFUSED or self._fold.to[claim] < 0:
            return 0
        return 1 if flags & CONFIRMED else self._hypothesis_cost

    def _sync(self) -> None:
        """Take in what has changed since the last question."""
        fold = self._fold
        fresh = len(fold.state_key) - len(self._g)
        if fresh > 0:
            self._g.extend([INFINITE] * fresh)
            self._rhs.extend([INFINITE] * fresh)
        if self._unknown:
            for key in [key for key in self._unknown if key in fold.state_id]:
                self._unknown.discard(key)
                self._targets.add(fold.state_id[key])
                self._watcher.add(fold.state_id[key])
        if self._watcher:
            for s in self._watcher:
                self._update(s)
            self._watcher.clear()

    def _update(self, s: int) -> None:
        """Work out again what the claims of a state promise; queue it when that is not its distance."""
        g = self._g
        promise = INFINITE
        if self._is_target(s):
            promise = 0
        else:
            fold, unchecked = self._fold, self._hypothesis_cost
            flags, to = fold.flags, fold.to
            for claim in fold.out[s].values():
                flag, t = flags[claim], to[claim]
                if t >= 0 and not flag & REFUSED:
                    cost = 1 if flag & CONFIRMED else unchecked
                    if cost and cost + g[t] < promise:
                        promise = cost + g[t]
        self._rhs[s] = promise
        old = g[s]
        if old != promise:
            heappush(self._heap, (old if old < promise else promise, s))

    def _settle(self, s: int) -> None:
        """Repair distances until that of `s` is right."""
        self._sync()
        g, rhs, heap = self._g, self._rhs, self._heap
        patience = _PATIENCE if len(g) > _LARGE else -1
        while heap and (heap[0][0] < min(g[s], rhs[s]) or g[s] != rhs[s]):
            if patience == 0:
                self._bulk()
                return
            patience -= 1
            self._expand()

    def _expand(self) -> None:
        """Take the nearest state whose distance is not what its claims promise, and mend it."""
        g, rhs, heap = self._g, self._rhs, self._heap
        key, s = heappop(heap)
        old, distance = g[s], rhs[s]
        if old == distance or key != (old if old < distance else distance):
            return  # queued again since, or mended
        fold = self._fold
        flags, origin, unchecked = fold.flags, fold.origin, self._hypothesis_cost
        if old > distance:
            g[s] = distance
            for claim in fold.leading_to(s):
                flag = flags[claim]
                cost = 0 if flag & REFUSED else 1 if flag & CONFIRMED else unchecked
                before = origin[claim]
                promise = cost + distance
                if cost and promise < rhs[before]:
                    rhs[before] = promise
                    now = g[before]
                    heappush(heap, (now if now < promise else promise, before))
            return
        g[s] = INFINITE
        self._update(s)
        for claim in fold.leading_to(s):
            if rhs[origin[claim]] == self._cost(claim) + old:
                self._update(origin[claim])

    def _bulk(self) -> None:
        """Search from all targets at once, with SciPy, over the claims as CSR arrays."""
        import numpy as np  # these two only for large maps
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        fold = self._fold
        states = len(self._g)
        to = np.array(fold.to, dtype=np.int32)
        flags = np.array(fold.flags, dtype=np.uint8)
        cost = np.where(flags & CONFIRMED, 1.0, float(self._hypothesis_cost))
        cost[(to < 0) | ((flags & REFUSED) != 0)] = 0.0
        order = np.argsort(to, kind="stable").astype(np.int32)
        if fold.preds is None:
            fold.preds = Predecessors(fold.to, states, order)
        claims = order[cost[order] > 0]
        first = np.searchsorted(to[claims], np.arange(states + 1)).astype(np.int32)
        before = np.array(fold.origin, dtype=np.int32)[claims]
        if self._explore:
            targets = np.flatnonzero(np.array(fold.opens, dtype=np.int64))
        else:
            targets = np.array(sorted(self._targets), dtype=np.int64)
        self._heap.clear()
        if not len(targets):
            found = [INFINITE] * states
        else:
            graph = csr_array((cost[claims], before, first), shape=(states, states))
            distance = dijkstra(graph, indices=targets, min_only=True)
            found = np.where(np.isfinite(distance), distance, INFINITE).astype(np.int64).tolist()
        self._g[:] = found
        self._rhs[:] = found
