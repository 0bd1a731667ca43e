"""Known ways to where a goal was reached, as a decision asks for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from surefoot import values
from surefoot.knowledge.routes import LOST
from surefoot.knowledge.worldmap import WorldMap

__all__ = ["Ways"]

_PLANS = 32
_MUCH = 0.01
_Costs = Mapping[Any, tuple[float, Any]]


class Ways:
    """Ask a map for ways; on a map of chance keep each plan until what it rests on has changed enough.

    A plan for a map of chance is a solve over the whole map. It is made anew when a place, an outcome or a refusal is
    new, when something was contradicted, and when an action has been taken twice as often as before (`version`): a plan
    is then never older than half of what was observed.

    Args:
        solves: plan on maps of chance; False: no way is known there, and somebody else has to find one.

    Source: re-planning when counts have doubled, Jaksch, Ortner and Auer 2010, sec. 3 (UCRL2).

    Example:
        >>> known = WorldMap()
        >>> _ = known.arrive("hall", "north", "garden")
        >>> Ways().next(known, ("main", 1), "hall", (b'"garden"',), ())
        'north'
    """

    def __init__(self, *, solves: bool = True) -> None:
        """Keep no plan yet."""
        self._solves = solves
        self._plans: dict[tuple[str, str, frozenset[bytes]], tuple[int, _Costs]] = {}
        self._wanted: dict[frozenset[bytes], list[Any]] = {}

    def next(
        self,
        known: WorldMap,
        which: tuple[str, int],
        state: Any,
        targets: Collection[bytes],
        without: Collection[tuple[Any, Any]],
        key: bytes = b"",
    ) -> Any:
        """Return the action to take towards a target, None when no way is known.

        Args:
            known: the map.
            which: the map's name, and the version of what is known about it.
            state: where.
            targets: encoded states.
            without: pairs (state, action) that no way may use.
            key: the encoded state, where it is at hand.
        """
        if not targets:
            return None
        goal = frozenset(targets)
        wanted = self._wanted.get(goal)
        if wanted is None:
            wanted = self._wanted[goal] = [values.decode_known(target) for target in sorted(goal)]
            if len(self._wanted) > _PLANS:
                del self._wanted[next(iter(self._wanted))]
        stochastic = known.stochastic
        if stochastic and not self._solves:
            return None
        if without:
            return known.next_without(state, wanted, without)
        if not stochastic:
            action = known.next_encoded(key or values.encode_state(state), goal)
            return None if action is None else values.decode_known(action)
        found = self._plan(which, goal, wanted, known.distances).get(state)
        return None if found is None else found[1]

    def hope(self, known: WorldMap, which: tuple[str, int], state: Any, targets: Collection[bytes]) -> Any:
        """Return the action that may make it likelier to arrive by more than 1 %, for all that is known; None for none.

        On a certain map there is none: there a way is sure. See `WorldMap.hopes`.

        Example:
            >>> known = WorldMap(stochastic=True)
            >>> for place in ("shore", "water", "water"):
            ...     _ = known.arrive("ice", "walk", place)
            >>> _ = known.see("ice", "crawl")
            >>> Ways().hope(known, ("main", 1), "ice", (b'"shore"',))
            'crawl'
        """
        if not targets or not known.stochastic or not self._solves:
            return None
        key = frozenset(targets)
        wanted = [values.decode_known(target) for target in sorted(key)]
        sure = self._plan(which, key, wanted, known.distances).get(state, (LOST, None))[0]
        if sure < LOST * _MUCH:
            return None
        cost, action = self._plan(which, key, wanted, known.hopes).get(state, (LOST, None))
        return action if cost < sure - LOST * _MUCH else None

    def _plan(
        self, which: tuple[str, int], key: frozenset[bytes], wanted: list[Any], solve: Callable[[list[Any]], _Costs]
    ) -> _Costs:
        """Return a plan for a map of chance: the one that is kept, or a new one."""
        name, version = which
        asked = name, solve.__name__, key
        kept = self._plans.get(asked)
        if kept is None or kept[0] != version:
            kept = self._plans[asked] = version, solve(wanted)
            if len(self._plans) > _PLANS:
                del self._plans[next(iter(self._plans))]
        return kept[1]
