"""Ways over a map, and ways to what is left to explore."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.knowledge.fold import CONFIRMED, DOUBT, OPEN
from surefoot.knowledge.layers import Layers
from surefoot.knowledge.mapcore import MapCore, collection
from surefoot.knowledge.routes import INFINITE, Route, Router

if TYPE_CHECKING:
    from surefoot.knowledge.expected import ExpectedRouter

__all__ = ["Finding"]

_ROUTERS = 8


class Finding(MapCore):
    """The questions of a map that are about ways; `Questions` inherits them.

    Example:
        >>> from surefoot.knowledge.worldmap import WorldMap
        >>> issubclass(WorldMap, Finding)
        True
    """

    def next(self, state: Any, targets: Iterable[Any], confirmed_only: bool = False) -> Any:
        """Return the action to take in `state` on the cheapest known way to a target.

        None when no way is known, and when `state` is a target; `route` tells the two apart.

        Args:
            state: where the agent is.
            targets: the states to get to; a single state must be wrapped, `{state}`.
            confirmed_only: use confirmed claims alone.

        Raises:
            BadArgument: `targets` is a single state.

        Cost: the first time one search from the targets; then what changed on the map between here and there.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north", to="garden")
            >>> m.next("hall", {"garden"}), m.next("garden", {"garden"}), m.next("hall", {"moon"})
            ('north', None, None)
        """
        with self._lock:
            router, s, _ = self._ask(state, targets, confirmed_only)
            if s < 0 or router.distance(s) >= INFINITE:
                return None
            claim = router.step(s)
            return None if claim < 0 else self._action_value(self._fold.action[claim])

    def next_encoded(self, state: bytes, targets: frozenset[bytes]) -> bytes | None:
        """Return what `next` does, encoded, for a state and targets that are encoded already; for many questions.

        Example:
            >>> from surefoot import WorldMap
            >>> WorldMap().see("hall", "north", to="garden").next_encoded(b'"hall"', frozenset({b'"garden"'}))
            b'"north"'
        """
        with self._lock:
            self._catch_up()
            router, s = self._router(targets, False), self._fold.state_id.get(state, -1)
            if s < 0 or router.distance(s) >= INFINITE:
                return None
            claim = router.step(s)
            return None if claim < 0 else self._fold.action_key[self._fold.action[claim]]

    def route(self, state: Any, targets: Iterable[Any], confirmed_only: bool = False) -> Route:
        """Return the whole answer: already there, a way with its cost, or no way known.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north", to="garden")
            >>> m.route("hall", {"garden"}).cost, m.route("hall", {"hall"}).reached, m.route("hall", {"moon"}).known
            (3, True, False)
        """
        with self._lock:
            router, s, keys = self._ask(state, targets, confirmed_only)
            here = values.copy(state)
            if values.encode_state(state) in keys:
                return Route(here, True, None, 0, (), here)
            if s < 0 or router.distance(s) >= INFINITE:
                return Route(here, False, None, float("inf"))
            steps = self._follow(router, s)
            last = self._fold.to[steps[-1]]
            shown = tuple(
                (self._state_value(self._fold.origin[c]), self._action_value(self._fold.action[c])) for c in steps
            )
            return Route(here, False, shown[0][1], router.distance(s), shown, self._state_value(last))

    def path(self, state: Any, targets: Iterable[Any], confirmed_only: bool = False) -> list[tuple[Any, Any]]:
        """Return the cheapest known way as pairs (state, action); empty when there is none, or none is needed.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north", to="garden").see("garden", "gate", to="road")
            >>> m.path("hall", {"road"})
            [('hall', 'north'), ('garden', 'gate')]
        """
        return list(self.route(state, targets, confirmed_only).steps)

    def distances(self, targets: Iterable[Any], confirmed_only: bool = False) -> Mapping[Any, tuple[float, Any]]:
        """Return for each state with a known way (cost to the nearest target, first action).

        Targets map to (0, None).

        The mapping is exact: `1`, `True` and `1.0` are different keys.

        Cost: linear in the map, plus one search the first time.

        Example:
            >>> from surefoot import WorldMap
            >>> WorldMap().see("hall", "north", to="garden").distances({"garden"})
            {'hall': (3, 'north'), 'garden': (0, None)}
        """
        with self._lock:
            self._catch_up()
            keys = self._targets(targets)
            router = self._router(keys, confirmed_only)
            return self._costs(router, keys)

    def hopes(self, targets: Iterable[Any]) -> Mapping[Any, tuple[float, Any]]:
        """Return what `distances` may come to on a stochastic map, for all that is known: (cost, first action).

        Each action counts as if it had led to a target once more, so that what was tried little looks good. Where the
        cost is much below that of `distances`, its action is worth a try. A cost of `LOST` times p is a probability of
        p to end where no way is known; see `surefoot.knowledge.expected`.

        Raises:
            BadArgument: the map is not stochastic: there is nothing to hope for.

        Cost: a solve over the whole map.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap(stochastic=True)
            >>> for place in ("shore", "water", "water"):
            ...     _ = m.arrive("ice", "walk", place)
            >>> _ = m.see("ice", "crawl")
            >>> m.distances({"shore"})["ice"][1], m.hopes({"shore"})["ice"]
            ('walk', (1.0, 'crawl'))
        """
        if not self.stochastic:
            raise BadArgument("hopes(targets) needs a stochastic map: on this one a try is enough to know")
        from surefoot.knowledge.expected import ExpectedRouter  # NumPy and SciPy, for stochastic maps only

        with self._lock:
            self._catch_up()
            keys = self._targets(targets)
            return self._costs(ExpectedRouter(self._fold, keys, False, self._rank, hopeful=True), keys)

    def _costs(self, router: Router | ExpectedRouter, keys: frozenset[bytes]) -> Mapping[Any, tuple[float, Any]]:
        """Return for each state with a known way its cost and its first action."""
        fold, actions = self._fold, [self._action_value(a) for a in range(len(self._fold.action_key))]
        found: dict[bytes, tuple[Any, tuple[float, Any]]] = {}
        for s, cost in enumerate(router.all()):
            if cost < INFINITE:
                claim = router.step(s)
                action = None if claim < 0 else actions[fold.action[claim]]
                found[fold.state_key[s]] = (self._state_value(s), (cost, action))
        for key in sorted(key for key in keys if key not in fold.state_id):
            found[key] = (values.decode(key), (0, None))
        return values.ExactDict._of(found)

    def next_without(self, state: Any, targets: Iterable[Any], without: Iterable[tuple[Any, Any]]) -> Any:
        """Return what `next` does, on ways that take none of the actions in `without`; the map goes on believing them.

        On a stochastic map ways lead to the likeliest places.

        Args:
            state: where the agent is.
            targets: the states to get to; a single state must be wrapped, `{state}`.
            without: pairs (state, action) to leave out.

        Cost: looks at the claims of every state that is nearer than the target.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north", to="garden").see("hall", "south", to="garden")
            >>> m.next("hall", {"garden"}), m.next_without("hall", {"garden"}, [("hall", "north")])
            ('north', 'south')
        """
        here = values.encode_state(state)
        with self._lock:
            self._catch_up()
            ids = self._fold.state_id
            if here not in ids:
                return None
            wanted = {ids[key] for key in self._targets(targets) if key in ids}
            layers = Layers(self._fold, self._numbers(without), 0, self._rank)
            claim = layers.towards(ids[here], wanted, self._fold.settings.hypothesis_cost)
            return None if claim < 0 else self._action_value(self._fold.action[claim])

    def _numbers(self, pairs: Iterable[tuple[Any, Any]]) -> set[int]:
        """Return the numbers of the claims about pairs (state, action), of those that there are."""
        keys = ((values.encode_state(s), values.encode_action(a)) for s, a in pairs)
        return {claim for s, a in keys if (claim := self._number(s, a)) >= 0}

    def explore_from(
        self,
        state: Any,
        start: Any = None,
        *,
        without: Iterable[tuple[Any, Any]] = (),
        most: int = 0,
        unvisited: bool = False,
    ) -> Any:
        """Return the action to take in `state` towards what is unchecked, layer by layer around `start`.

        `explore` goes to what is nearest to the agent, which is cheap. This goes to what is nearest to where it began,
        so that what is found first is found by a shortest way from there.

        Args:
            state: where the agent is.
            start: where the layers begin; None: what is nearest to the agent.
            without: pairs (state, action) to leave out.
            most: an int >= 0: what was taken at most so often counts as unchecked too, for a world of chance.
            unvisited: so does a place that was arrived at but never visited, where nothing is known to be on offer.

        Raises:
            BadArgument: `most` is out of its range.

        Cost: the claims of every state that is nearer to `start`, or to the agent, than the answer.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north").see("cellar", "dig")
            >>> _ = m.arrive("hall", "down", "cellar"), m.arrive("cellar", "up", "hall")
            >>> m.explore_from("cellar"), m.explore_from("cellar", "hall"), m.explore_from("hall", "hall")
            ('dig', 'up', 'north')
            >>> m.explore_from("cellar", "hall", without=[("hall", "north")])
            'dig'
        """
        if type(most) is not int or most < 0:
            raise BadArgument(f"most must be an int >= 0, got {most!r}")
        here, begin = values.encode_state(state), None if start is None else values.encode_state(start)
        with self._lock:
            self._catch_up()
            ids = self._fold.state_id
            if here not in ids:
                return None
            layers = Layers(self._fold, self._numbers(without), most, self._rank, unvisited=unvisited)
            claim = layers.next(ids[here], None if begin is None else ids.get(begin))
            return None if claim < 0 else self._action_value(self._fold.action[claim])

    def explore(self, state: Any) -> Any:
        """Return the action to take in `state` towards what nobody has checked.

        One that is open here, else a step to the nearest state where one is; None when there is nothing left to check
        that can be reached from here.

        An action is open when it was never taken (and not refused), or when it is doubtful.

        Cost: the actions on offer here; when nothing is open here, what changed since the last time.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north", to="garden").see("hall", "down")
            >>> _ = m.arrive("hall", "down", "cellar")
            >>> m.explore("hall"), m.explore("cellar")
            ('north', None)
        """
        key = values.encode_state(state)
        with self._lock:
            self._catch_up()
            fold = self._fold
            s = fold.state_id.get(key, -1)
            if s < 0:
                return None
            if fold.opens[s]:
                flags = fold.flags
                here = [(flags[c] & DOUBT, self._rank(a), a) for a, c in fold.out[s].items() if flags[c] & OPEN]
                return self._action_value(min(here)[2])
            router = self._router(None, False)
            if router.distance(s) >= INFINITE:
                return None
            claim = router.step(s)
            return self._action_value(fold.action[claim])

    def frontier(self) -> list[tuple[Any, Any]]:
        """Return what acting can still teach: pairs (state, action) never taken and not refused, and doubtful ones.

        Cost: linear in the map.

        Example:
            >>> from surefoot import WorldMap
            >>> WorldMap().see("hall", "north").frontier()
            [('hall', 'north')]
        """
        with self._lock:
            self._catch_up()
            fold, actions = self._fold, [self._action_value(a) for a in range(len(self._fold.action_key))]
            return [
                (self._state_value(fold.origin[claim]), actions[fold.action[claim]])
                for claim, flags in enumerate(fold.flags)
                if flags & OPEN
            ]

    def unvisited(self, *, arrived: bool = False) -> list[Any]:
        """Return the states that are known of but were never visited.

        Args:
            arrived: only those that an action has led to, and where nothing is known to be on offer: whoever was there
                was cut off before saying what it found.

        Cost: linear in the map.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().visit("hall").see("hall", "north", to="garden")
            >>> _ = m.arrive("hall", "down", "cellar")
            >>> m.unvisited(), m.unvisited(arrived=True)
            (['garden', 'cellar'], ['cellar'])
        """
        with self._lock:
            self._catch_up()
            fold = self._fold
            found = [s for s, visits in enumerate(fold.visits) if not visits]
            if arrived and found:
                led = {to for to, flags in zip(fold.to, fold.flags, strict=True) if flags & CONFIRMED}
                led.update(*fold.several.values())
                found = [s for s in found if s in led and not fold.out[s]]
            return [self._state_value(s) for s in found]

    def _ask(
        self, state: Any, targets: Iterable[Any], confirmed_only: bool
    ) -> tuple[Router | ExpectedRouter, int, frozenset[bytes]]:
        """Return the router for `targets`, the number of `state` (-1: unknown) and the targets' encodings."""
        key = values.encode_state(state)
        self._catch_up()
        keys = self._targets(targets)
        return self._router(keys, confirmed_only), self._fold.state_id.get(key, -1), keys

    def _targets(self, targets: Iterable[Any]) -> frozenset[bytes]:
        """Return the encodings of the targets; a bare state is refused."""
        if isinstance(targets, tuple) and targets:
            try:
                bare = values.encode_state(targets) in self._fold.state_id
            except ValueError:
                bare = False
            if bare:
                raise BadArgument(
                    f"targets is {targets!r}, which is itself a state of this map: wrap it, {{{targets!r}}}"
                )
        return frozenset(map(values.encode_state, collection(targets, "targets")))

    def _router(self, keys: frozenset[bytes] | None, confirmed_only: bool) -> Router | ExpectedRouter:
        """Return the router for these targets (None: for what is open), the most recently used last."""
        asked = (keys, bool(confirmed_only))
        router = self._routers.pop(asked, None)
        if router is None or not router.valid:
            if router is not None:
                router.close()
            if self._fold.settings.stochastic:
                from surefoot.knowledge.expected import ExpectedRouter  # NumPy and SciPy, for stochastic maps only

                router = ExpectedRouter(self._fold, keys, bool(confirmed_only), self._rank)
            else:
                router = Router(self._fold, keys, bool(confirmed_only), self._rank)
            if len(self._routers) >= _ROUTERS:
                self._routers.pop(next(iter(self._routers))).close()
        self._routers[asked] = router
        return router

    def _follow(self, router: Router | ExpectedRouter, s: int) -> list[int]:
        """Return the claims of the way from `s`."""
        steps: list[int] = []
        seen: set[int] = set()
        while (claim := router.step(s)) >= 0 and s not in seen:
            seen.add(s)
            steps.append(claim)
            s = self._fold.to[claim]
        return steps
