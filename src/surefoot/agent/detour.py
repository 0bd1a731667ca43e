"""Ways over a map around actions that one walk has given up, while the map itself goes on believing in them."""

from __future__ import annotations

from collections.abc import Collection
from heapq import heappop, heappush
from typing import Any, NamedTuple

from surefoot import values
from surefoot.knowledge.claims import Claim
from surefoot.knowledge.worldmap import WorldMap

__all__ = ["Leg", "detour", "is_open"]


class Leg(NamedTuple):
    """One step of a planned way.

    Attributes:
        state, action: what to take where.
        to: where it is believed to lead, None when nobody knows.

    Example:
        >>> Leg("hall", "north", "garden").to
        'garden'
    """

    state: Any
    action: Any
    to: Any


def is_open(claim: Claim) -> bool:
    """Say whether taking an action can still teach something.

    Example:
        >>> known = WorldMap().see("hall", "north")
        >>> is_open(known.claim("hall", "north")), known.arrive("hall", "north", "garden")
        (True, False)
        >>> is_open(known.claim("hall", "north"))
        False
    """
    return claim.doubtful or not (claim.taken or claim.refused)


def detour(
    known: WorldMap,
    state: Any,
    *,
    without: Collection[tuple[bytes, bytes]],
    targets: Collection[bytes] | None = None,
) -> list[Leg]:
    """Return the cheapest way that takes none of the actions in `without`.

    Args:
        known: the map.
        state: where the way starts.
        without: actions to leave out, as pairs (encoded state, encoded action).
        targets: encodings of the states to get to; None: to an action that is open, which is the way's last leg.

    Returns:
        the legs; empty when there is no such way (or, with targets, when none is needed).

    Cost: looks at the claims of every state that is nearer than the end of the way.

    Source: Dijkstra 1959.

    Example:
        >>> known = WorldMap().see("hall", "north").see("hall", "south")
        >>> detour(known, "hall", without={(b'"hall"', b'"north"')})
        [Leg(state='hall', action='south', to=None)]
    """
    start = values.encode_state(state)
    cost: dict[bytes, int] = {start: 0}
    before: dict[bytes, tuple[bytes, Leg]] = {}
    queue: list[tuple[int, int, bytes, Any]] = [(0, 0, start, state)]
    queued = 0
    done: set[bytes] = set()
    while queue:
        so_far, _, here, place = heappop(queue)
        if here in done:
            continue
        done.add(here)
        if targets is not None and here in targets:
            return _way(before, here)
        usable = _usable(known, place, here, without)
        if targets is None:
            unchecked = [claim for claim in usable if is_open(claim)]
            if unchecked:
                claim = min(unchecked, key=lambda claim: claim.doubtful)
                return [*_way(before, here), Leg(place, claim.action, claim.to)]
        for claim in usable:
            if claim.to is None:
                continue
            there = values.encode_state(claim.to)
            total = so_far + (1 if claim.status == "confirmed" else known.hypothesis_cost)
            if there not in cost or total < cost[there]:
                cost[there] = total
                before[there] = (here, Leg(place, claim.action, claim.to))
                queued += 1
                heappush(queue, (total, queued, there, claim.to))
    return []


def _usable(known: WorldMap, place: Any, here: bytes, without: Collection[tuple[bytes, bytes]]) -> list[Claim]:
    """Return the claims of a state that a way may use, in the order in which equally good ones are chosen."""
    claims = [c for c in known.claims(place) if not c.refused and (here, values.encode_action(c.action)) not in without]
    return sorted(claims, key=lambda claim: values.order(claim.action))


def _way(before: dict[bytes, tuple[bytes, Leg]], end: bytes) -> list[Leg]:
    """Return the legs that lead to `end`."""
    legs: list[Leg] = []
    while end in before:
        end, leg = before[end]
        legs.append(leg)
    return legs[::-1]
