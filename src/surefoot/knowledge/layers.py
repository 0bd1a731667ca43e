"""Exploring layer by layer: what is unchecked nearest to where an episode began is checked first.

Whoever checks a layer to its end before the next one has, when something is found, found a shortest way to it from the
start: every shorter way was tried before. The price is walking back and forth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from heapq import heappop, heappush
from typing import Any

from surefoot.knowledge.fold import CONFIRMED, OPEN, REFUSED, Fold

__all__ = ["Layers"]


class Layers:
    """Search a map for the nearest thing to check, without some claims.

    Args:
        fold: the map's columns.
        shut: claims to leave out.
        most: an action counts as unchecked when it was taken at most so often; 0: only what is open.
        rank: an action's place in the order in which equally good actions are chosen.
        unvisited: a place that was never visited, and where nothing is known to be on offer, is to be checked too.

    Cost: a question looks at the claims of every state that is nearer than its answer, to the start or to the asker.

    Source: breadth-first search, Moore 1959.

    Example:
        >>> fold = Fold()
        >>> fold.see(b'"hall"', b'"north"', b"", 0), fold.arrive(b'"hall"', b'"down"', b'"cellar"', 1)
        (None, None)
        >>> fold.see(b'"cellar"', b'"dig"', b"", 2)
        >>> layers = Layers(fold, (), 0, lambda action: action)
        >>> cellar = fold.state_id[b'"cellar"']
        >>> layers.next(cellar, None), layers.next(cellar, fold.state_id[b'"hall"'])
        (2, 2)
    """

    def __init__(
        self, fold: Fold, shut: Collection[int], most: int, rank: Callable[[int], Any], *, unvisited: bool = False
    ) -> None:
        """Search nothing yet."""
        self._unvisited = unvisited
        self._fold, self._shut, self._most, self._rank = fold, shut, most, rank

    def next(self, here: int, start: int | None) -> int:
        """Return the claim to take in `here`: the unchecked one, or the first of the way to it; -1 when there is none.

        Args:
            here: the number of the state where the agent is.
            start: the number of the state whose layers are checked in order; None: what is nearest to `here` is next.
        """
        if start is None or start == here:
            return self._way(here, None)
        for layer in self._layers(start):
            wanted = {s for s in layer if self._is_new(s) or self._unchecked(s) >= 0}
            if wanted:
                found = self._way(here, wanted)
                if found >= 0:
                    return found
        return self._way(here, None)

    def towards(self, here: int, targets: Collection[int], unchecked: int) -> int:
        """Return the first claim of the cheapest way to a target, -1 when there is none, or none is needed.

        Args:
            here: where the agent is.
            targets: the numbers of the states to get to.
            unchecked: what a claim costs that is not confirmed, an int >= 1.

        Source: Dijkstra 1959.
        """
        fold, shut = self._fold, self._shut
        flags, to = fold.flags, fold.to
        cost, first = {here: 0}, {here: -1}
        queue = [(0, 0, here)]
        done: set[int] = set()
        while queue:
            so_far, _, s = heappop(queue)
            if s in done:
                continue
            done.add(s)
            if s in targets:
                return first[s]
            for _, c in sorted(fold.out[s].items(), key=lambda pair: self._rank(pair[0])):
                t = to[c]
                if t < 0 or flags[c] & REFUSED or c in shut:
                    continue
                total = so_far + (1 if flags[c] & CONFIRMED else unchecked)
                if t not in cost or total < cost[t]:
                    cost[t], first[t] = total, c if s == here else first[s]
                    heappush(queue, (total, len(first), t))
        return -1

    def _layers(self, start: int) -> Iterator[list[int]]:
        """Yield the states at distance 0, 1, 2, … of `start`."""
        seen, layer = {start}, [start]
        while layer:
            yield layer
            further = []
            for s in layer:
                for _, t in self._onward(s):
                    if t not in seen:
                        seen.add(t)
                        further.append(t)
            layer = further

    def _way(self, here: int, wanted: Collection[int] | None) -> int:
        """Return the first claim of the way to the nearest unchecked one, in any state or in one of `wanted`."""
        first: dict[int, int] = {here: -1}
        layer = [here]
        while layer:
            further = []
            for s in layer:
                if wanted is None or s in wanted:
                    if s != here and self._is_new(s):
                        return first[s]
                    claim = self._unchecked(s)
                    if claim >= 0:
                        return claim if s == here else first[s]
                for onward, t in self._onward(s):
                    if t not in first:
                        first[t] = onward if s == here else first[s]
                        further.append(t)
            layer = further
        return -1

    def _is_new(self, s: int) -> bool:
        """Say whether a state is to be checked because nobody has looked at it."""
        return self._unvisited and not self._fold.visits[s] and not self._fold.out[s]

    def _unchecked(self, s: int) -> int:
        """Return the claim to check in a state, -1 when there is none."""
        fold, most = self._fold, self._most
        if not most and not fold.opens[s]:
            return -1
        flags, taken, shut = fold.flags, fold.taken, self._shut
        open_ = [
            (taken[c], self._rank(a), c)
            for a, c in fold.out[s].items()
            if (flags[c] & OPEN or (most and taken[c] <= most and not flags[c] & REFUSED)) and c not in shut
        ]
        return min(open_)[2] if open_ else -1

    def _onward(self, s: int) -> list[tuple[int, int]]:
        """Return pairs (claim, destination) of what leads on from a state, in the order of the actions."""
        fold, shut = self._fold, self._shut
        flags, to = fold.flags, fold.to
        pairs = [
            (self._rank(a), c)
            for a, c in fold.out[s].items()
            if flags[c] & CONFIRMED and not flags[c] & REFUSED and c not in shut
        ]
        return [(c, to[c]) for _, c in sorted(pairs)]
