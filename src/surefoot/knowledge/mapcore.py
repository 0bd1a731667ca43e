"""What every part of a map stands on: its journal, its fold, and how the two are kept together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.journal import Journal
from surefoot.knowledge import history, merging
from surefoot.knowledge.claims import Claim
from surefoot.knowledge.fold import CONFIRMED, DOUBT, REFUSED, SOURCES, Fold
from surefoot.knowledge.projection import Path, Projection
from surefoot.knowledge.settings import Settings

if TYPE_CHECKING:
    from surefoot.knowledge.expected import ExpectedRouter
    from surefoot.knowledge.routes import Router

__all__: list[str] = []  # the parts of a map; nothing here is public

_UNSHOWN = object()


class MapCore(Projection[Fold]):
    """Hold a journal and the fold of one stream of it; record first, then apply.

    Example:
        >>> from surefoot.knowledge.worldmap import WorldMap
        >>> issubclass(WorldMap, MapCore)
        True
    """

    _noun = "map"
    _given = Settings()
    """The settings of a map that has recorded none yet."""

    def _blank(self) -> Fold:
        return Fold(self._given)

    def _set_up(self, journal: Journal, stream: str, path: Path | None) -> None:
        """Fold what the journal holds."""
        self._begun = False
        self._routers: dict[tuple[frozenset[bytes] | None, bool], Router | ExpectedRouter] = {}
        self._ranks: list[tuple[str, bytes]] = []
        self._shown: list[Any] = []
        super()._set_up(journal, stream, path)

    @property
    def settings(self) -> Settings:
        """Return the settings in force."""
        with self._lock:
            self._catch_up()
            return self._fold.settings

    @property
    def hypothesis_cost(self) -> int:
        """Return how many confirmed steps an unchecked claim counts as; assigning records a change."""
        return self.settings.hypothesis_cost

    @hypothesis_cost.setter
    def hypothesis_cost(self, cost: int) -> None:
        self._configure(hypothesis_cost=cost)

    @property
    def stochastic(self) -> bool:
        """Return whether one action may lead to several places; assigning records a change."""
        return self.settings.stochastic

    @stochastic.setter
    def stochastic(self, stochastic: bool) -> None:
        self._configure(stochastic=stochastic)

    def _configure(self, **given: Any) -> None:
        """Record other settings."""
        new = Settings()

        def decide() -> tuple[str, bytes]:
            nonlocal new
            new = replace(self._fold.settings, **given)
            return "map", new.encode()

        with self._lock:
            if self._begun:
                self._change(decide, lambda _: self._fold.configure(new))
            else:
                decide()
                self._given, self._fold = new, Fold(new)
                self._forget_routes()

    def _prepare(self) -> None:
        """Record the settings, before the first event."""
        if not self._begun:
            self._record([("map", self._fold.settings.encode())])
            self._catch_up()

    def _record(self, records: list[tuple[str, bytes]]) -> None:
        self._journal.record(records, stream=self._stream, expect=self._read)

    def _fold_into(
        self, fold: Fold, start: int, stop: int, last: str | None, *, checked: bool = False
    ) -> tuple[Fold, str | None]:
        made, begun, last = merging.fold_lines(self._journal, start, stop, self._stream, fold, last, checked=checked)
        self._begun = self._begun or begun
        if made is not self._fold:
            self._forget_routes()
        return made, last

    def refresh(self) -> None:
        """Fold the journal again from its start; see `Projection.refresh`."""
        with self._lock:
            self._forget_routes()
            self._fold, self._begun, self._read, self._hash = Fold(self._fold.settings), False, 0, None
            self._catch_up()

    def _forget_routes(self) -> None:
        for router in self._routers.values():
            router.close()
        self._routers.clear()
        self._ranks.clear()
        self._shown.clear()

    def _rank(self, action: int) -> tuple[str, bytes]:
        """Return an action's place in the order in which equally good ones are chosen."""
        for known in range(len(self._ranks), len(self._fold.action_key)):
            self._ranks.append(values.order(values.decode(self._fold.action_key[known])))
        return self._ranks[action]

    def _number(self, state: bytes, action: bytes) -> int:
        """Return a claim's number, -1 when there is none."""
        s = self._fold.state_id.get(state)
        a = self._fold.action_id.get(action)
        return -1 if s is None or a is None else self._fold.out[s].get(a, -1)

    def _state_value(self, s: int) -> Any:
        """Return a state; states never change, so each is decoded once."""
        shown = self._shown
        if s >= len(shown):
            shown.extend([_UNSHOWN] * (len(self._fold.state_key) - len(shown)))
        value = shown[s]
        if value is _UNSHOWN:
            value = shown[s] = values.decode_known(self._fold.state_key[s])
        return value

    def _action_value(self, a: int) -> Any:
        return values.decode_known(self._fold.action_key[a])

    def _pair(self, claim: int) -> tuple[Any, Any]:
        return self._state_value(self._fold.origin[claim]), self._action_value(self._fold.action[claim])

    def _claim(self, claim: int) -> Claim:
        """Return a claim as it stands."""
        fold = self._fold
        flags = fold.flags[claim]
        state, action = self._pair(claim)
        return Claim(
            state,
            action,
            None if fold.to[claim] < 0 else self._state_value(fold.to[claim]),
            "confirmed" if flags & CONFIRMED else "hypothesis",
            SOURCES[fold.source[claim]],
            fold.taken[claim],
            bool(flags & REFUSED),
            bool(flags & DOUBT),
            fold.refusals.get(claim, 0),
            tuple((self._state_value(t), times) for t, times in fold.outcomes(claim)),
            history.reader(self._journal, fold, claim),
        )


def field_of(name: bytes, value: Any) -> bytes:
    """Return `,"name":value` encoded, nothing for None."""
    return b"" if value is None else b',"%b":%b' % (name, values.encode(value))


def step_of(step: Any) -> bytes:
    """Return the part of an entry that holds the caller's own step."""
    return b"" if step is None else b',"step":%b' % values.encode(step)


def collection(items: Iterable[Any], name: str) -> Iterable[Any]:
    """Return `items` unless it is a single state."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise BadArgument(f"{name} must be a collection of states, got the single {items!r}: wrap it, {{{items!r}}}")
    return items
