"""Known ways to where a goal was reached, as a decision asks for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from surefoot import values
from surefoot.knowledge.worldmap import WorldMap

__all__ = ["Ways"]

_PLANS = 16


class Ways:
    """Ask a map for ways; on a map of chance keep each plan until what it rests on has changed enough.

    A plan for a map of chance is a solve over the whole map. It is made anew when a place, an outcome or a refusal is
    new, when something was contradicted, and when an action has been taken twice as often as before (`version`): a plan
    is then never older than half of what was observed.

    Source: re-planning when counts have doubled, Jaksch, Ortner and Auer 2010, sec. 3 (UCRL2).

    Example:
        >>> known = WorldMap()
        >>> _ = known.arrive("hall", "north", "garden")
        >>> Ways().next(known, ("main", 1), "hall", (b'"garden"',), ())
        'north'
    """

    def __init__(self) -> None:
        """Keep no plan yet."""
        self._plans: dict[tuple[str, frozenset[bytes]], tuple[int, Mapping[Any, tuple[float, Any]]]] = {}
        self._wanted: dict[frozenset[bytes], list[Any]] = {}

    def next(
        self,
        known: WorldMap,
        which: tuple[str, int],
        state: Any,
        targets: Collection[bytes],
        without: Collection[tuple[Any, Any]],
    ) -> Any:
        """Return the action to take towards a target, None when no way is known.

        Args:
            known: the map.
            which: the map's name, and the version of what is known about it.
            state: where.
            targets: encoded states.
            without: pairs (state, action) that no way may use.
        """
        if not targets:
            return None
        key = frozenset(targets)
        wanted = self._wanted.get(key)
        if wanted is None:
            wanted = self._wanted[key] = [values.decode_known(target) for target in sorted(key)]
            if len(self._wanted) > _PLANS:
                del self._wanted[next(iter(self._wanted))]
        if without:
            return known.next_without(state, wanted, without)
        if not known.stochastic:
            action = known.next_encoded(values.encode_state(state), key)
            return None if action is None else values.decode_known(action)
        name, version = which
        kept = self._plans.get((name, key))
        if kept is None or kept[0] != version:
            kept = self._plans[name, key] = version, known.distances(wanted)
            if len(self._plans) > _PLANS:
                del self._plans[next(iter(self._plans))]
        found = kept[1].get(state)
        return None if found is None else found[1]
