"""The worlds that maps are measured on: square grids with tuple states, and what happens to a walker in them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cached_property
from typing import Any

__all__ = ["Edge", "Grid", "State", "disagreement", "disagreement_on_ways"]

State = tuple[int, int]
Edge = tuple[State, str, State]

MOVES = {"east": (1, 0), "north": (0, -1), "south": (0, 1), "west": (-1, 0)}
REFUTED = 0.05


class Grid:
    """A square grid with about `claims` claims, four actions a state, half of them taken before.

    Args:
        claims: about how many (state, action) pairs there are: the nearest whole grid has `len(edges)`.
        seed: for what was taken, and for the 5 % of the moves that lead elsewhere than they are shown to.
    """

    def __init__(self, claims: int, seed: int = 0) -> None:
        side = 2
        while abs(4 * side * (side + 1) - claims) <= abs(4 * side * (side - 1) - claims):
            side += 1
        self.side = side
        self.seed = seed

    @cached_property
    def edges(self) -> list[Edge]:
        """Every move as it is shown: (state, action, where it is said to lead)."""
        places = {(x, y): (x, y) for x in range(self.side) for y in range(self.side)}
        return [
            (here, action, there)
            for here in places
            for action, (dx, dy) in MOVES.items()
            for there in [places.get((here[0] + dx, here[1] + dy))]
            if there is not None
        ]

    @cached_property
    def taken(self) -> list[Edge]:
        """A random half of the moves, in a random order."""
        rng = random.Random(f"taken {self.seed}")
        chosen = rng.sample(self.edges, len(self.edges) // 2)
        return chosen

    @cached_property
    def west(self) -> list[Edge]:
        """The moves of the western half, so that whoever stands at the edge has all to learn far away."""
        return [edge for edge in self.edges if edge[0][0] < self.side // 2]

    @cached_property
    def moved(self) -> dict[tuple[State, str], State]:
        """The 5 % of the moves that lead elsewhere than they are shown to, and where."""
        rng = random.Random(f"moved {self.seed}")
        moved: dict[tuple[State, str], State] = {}
        for (x, y), action, shown in self.edges:
            if rng.random() < REFUTED:
                others = [(x, y), *(there for there in self._around((x, y)) if there != shown)]
                moved[(x, y), action] = rng.choice(others)
        return moved

    def _around(self, state: State) -> Iterator[State]:
        for dx, dy in MOVES.values():
            x, y = state[0] + dx, state[1] + dy
            if 0 <= x < self.side and 0 <= y < self.side:
                yield x, y

    def leads(self, state: State, action: str) -> State:
        """Return where a move really leads."""
        dx, dy = MOVES[action]
        return self.moved.get((state, action), (state[0] + dx, state[1] + dy))

    def offers(self, state: State) -> list[str]:
        """Return the actions on offer in a state."""
        return [a for a, (dx, dy) in MOVES.items() if 0 <= state[0] + dx < self.side and 0 <= state[1] + dy < self.side]

    def some(self, number: int, what: str) -> list[State]:
        """Return random states, the same each time for the same `what`."""
        rng = random.Random(f"{what} {self.seed}")
        return [(rng.randrange(self.side), rng.randrange(self.side)) for _ in range(number)]

    def fill(self, world_map: Any, taken: list[Edge] | None = None) -> Any:
        """Report every move as seen and those of `taken` (half of all) as taken; return the map."""
        for here, action, there in self.edges:
            world_map.see(here, action, there)
        for here, action, there in self.taken if taken is None else taken:
            world_map.arrive(here, action, there)
        return world_map


def disagreement(ours: Any, peer: Any) -> str | None:
    """Say where two maps with the same history differ, None when they agree on each claim."""
    claims = ours.claims()
    if len(claims) != len(peer.edges):
        return f"{len(claims)} claims against {len(peer.edges)}"
    for claim in claims:
        theirs = peer.edges.get((claim.state, claim.action))
        mine = (claim.to, claim.status, claim.source, claim.taken)
        if theirs is None or mine != (theirs["to"], theirs["status"], theirs["source"], theirs["taken"]):
            return f"{claim.action!r} in {claim.state!r}: {mine} against {theirs}"
    differing = set(ours.frontier()) ^ set(peer.frontier())
    return f"the frontier differs in {len(differing)} pairs" if differing else None


def disagreement_on_ways(ours: Any, peer: Any, target: State, starts: list[State]) -> str | None:
    """Say where two maps differ about the ways to a target: costs must be equal, and first steps equally good."""
    mine, theirs = dict(ours.distances({target}).items()), peer.distances({target})
    if mine.keys() != theirs.keys():
        return f"to {target}: {len(mine.keys() ^ theirs.keys())} states are reached by one map only"
    for state, (cost, action) in mine.items():
        if cost != theirs[state][0]:
            return f"from {state} to {target}: {cost} against {theirs[state][0]}"
        for chosen in (action, theirs[state][1]):
            if chosen is not None and _cost(peer, state, chosen) + theirs[peer.edges[state, chosen]["to"]][0] != cost:
                return f"from {state} to {target}: {chosen!r} is not on a cheapest way"
    for start in starts:
        if start not in mine:
            continue
        cost, at = 0, start
        for state, action in ours.path(start, {target}):
            if state != at:
                return f"the path from {start} to {target} jumps from {at} to {state}"
            cost += _cost(peer, state, action)
            at = peer.edges[state, action]["to"]
        if at != target or cost != mine[start][0]:
            return f"the path from {start} to {target} ends at {at} and costs {cost}, not {mine[start][0]}"
        if ours.next(start, {target}) != mine[start][1]:
            return f"next and distances differ from {start} to {target}"
    return None


def _cost(peer: Any, state: State, action: str) -> int:
    return 1 if peer.edges[state, action]["status"] == "confirmed" else int(peer.hypothesis_cost)
