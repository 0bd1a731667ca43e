"""What a map can be asked beside ways: states, facts, claims and their stories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.knowledge import history
from surefoot.knowledge.claims import Claim, Why
from surefoot.knowledge.finding import Finding
from surefoot.knowledge.fold import CONFIRMED, DOUBT, OPEN, REFUSED

if TYPE_CHECKING:
    pass

__all__ = ["Questions"]


class Questions(Finding):
    """The questions of a map; `WorldMap` inherits them.

    Example:
        >>> from surefoot.knowledge.worldmap import WorldMap
        >>> issubclass(WorldMap, Questions)
        True
    """

    def states(self, *, since: int = 0) -> list[Any]:
        """Return every state the map has heard of, in the order in which it did.

        Args:
            since: leave out the first so many, >= 0: those that were there when it was asked before.

        Example:
            >>> from surefoot import WorldMap
            >>> known = WorldMap().see("hall", "north", to="garden")
            >>> known.states(), known.states(since=1)
            (['hall', 'garden'], ['garden'])
        """
        with self._lock:
            self._catch_up()
            return [self._state_value(s) for s in range(since, len(self._fold.state_key))]

    def facts(self, state: Any) -> dict[str, Any]:
        """Return what was noticed in `state`, a fresh copy; empty when nothing was.

        Example:
            >>> from surefoot import WorldMap
            >>> WorldMap().visit("/", title="Home").facts("/")
            {'title': 'Home'}
        """
        key = values.encode_state(state)
        with self._lock:
            self._catch_up()
            known = self._fold.facts.get(self._fold.state_id.get(key, -1), {})
            return {name: values.decode(value) for name, value in known.items()}

    def claim(self, state: Any, action: Any) -> Claim | None:
        """Return what is known about an action, as it stands; None when nothing is.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north", to="garden")
            >>> m.claim("hall", "north").to, m.claim("hall", "south")
            ('garden', None)
        """
        s, a = values.encode_state(state), values.encode_action(action)
        with self._lock:
            self._catch_up()
            claim = self._number(s, a)
            return None if claim < 0 else self._claim(claim)

    def doubts(self, state: bytes, action: bytes) -> bool:
        """Say whether what is known about an action is in doubt, for a state and an action that are encoded already.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north").refuse("hall", "north")
            >>> m.doubts(b'"hall"', b'"north"'), m.drop("a new key"), m.doubts(b'"hall"', b'"north"')
            (False, 0, True)
        """
        with self._lock:
            self._catch_up()
            claim = self._number(state, action)
            return claim >= 0 and bool(self._fold.flags[claim] & DOUBT)

    def claims(self, state: Any = None) -> list[Claim]:
        """Return the claims about one state, or all of them, in the order in which they were first heard of.

        Example:
            >>> from surefoot import WorldMap
            >>> [c.action for c in WorldMap().see("hall", "north").see("hall", "down").claims("hall")]
            ['north', 'down']
        """
        with self._lock:
            self._catch_up()
            if state is None:
                return [self._claim(claim) for claim in range(len(self._fold.to))]
            s = self._fold.state_id.get(values.encode_state(state), -1)
            return [] if s < 0 else [self._claim(claim) for claim in self._fold.out[s].values()]

    def flapping(self, switches: int = 2) -> list[Claim]:
        """Return the claims whose action led somewhere else than the time before, at least `switches` times.

        Counted since the last drop. The world is random there, or the state does not tell enough apart.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap()
            >>> refuted = [m.arrive("ice", "east", to) for to in ("shore", "hole", "shore")]
            >>> [(c.action, c.counts) for c in m.flapping()]
            [('east', (('shore', 2), ('hole', 1)))]
        """
        if type(switches) is not int or switches < 1:
            raise BadArgument(f"switches must be an int >= 1, got {switches!r}")
        with self._lock:
            self._catch_up()
            return [self._claim(c) for c, times in sorted(self._fold.switches.items()) if times >= switches]

    def snapshot(self, state: Any, targets: Iterable[Any] = ()) -> dict[str, Any]:
        """Return the part of the map that a decision in `state` needs, as plain data that can be recorded with it.

        Returns:
            {"state", "next", "cost", "actions", "unchecked", "visits", "head"}: the first action and the cost of the
            way to a target (None without one), what is on offer here ({action: {to, status, source}}, or a list of
            such objects with "action" when not every action is text), which of it is open, and the journal's head.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().see("hall", "north", to="garden")
            >>> shot = m.snapshot("hall", {"garden"})
            >>> shot["next"], shot["cost"], shot["unchecked"], shot["actions"]["north"]["to"]
            ('north', 3, ['north'], 'garden')
        """
        with self._lock:
            self._catch_up()
            route = self.route(state, targets)
            here = {id(c): c for c in self.claims(state)}.values()
            rows = [
                {"action": c.action, "to": c.to, "status": c.status, "source": c.source, "refused": c.refused}
                for c in here
            ]
            named: Any = rows
            if all(isinstance(c.action, str) for c in here):
                named = {row["action"]: {name: row[name] for name in row if name != "action"} for row in rows}
            s = self._fold.state_id.get(values.encode_state(state), -1)
            return {
                "state": values.copy(state),
                "next": route.action,
                "cost": route.cost if route.known else None,
                "actions": named,
                "unchecked": [c.action for c in here if c.doubtful or not (c.taken or c.refused)],
                "visits": 0 if s < 0 else self._fold.visits[s],
                "head": str(self._journal.head),
            }

    def stats(self) -> dict[str, int]:
        """Return counts.

        states (visited), known (heard of), claims, confirmed, unchecked (open), doubtful, refused, flapping,
        refuted (arrivals that refuted something), journal (entries read).

        Example:
            >>> from surefoot import WorldMap
            >>> WorldMap().see("hall", "north", to="garden").stats()["known"]
            2
        """
        with self._lock:
            self._catch_up()
            fold = self._fold
            return {
                "states": len(fold.visits) - fold.visits.count(0),
                "known": len(fold.state_key),
                "claims": len(fold.to),
                "confirmed": fold.count(CONFIRMED),
                "unchecked": fold.count(OPEN),
                "doubtful": fold.count(DOUBT),
                "refused": fold.count(REFUSED),
                "flapping": sum(1 for times in fold.switches.values() if times >= 2),
                "refuted": fold.refuted,
                "journal": self._read,
            }

    def why(self, state: Any, action: Any) -> Why:
        """Return the story of one claim: who said what, when, on what evidence, what was refuted.

        Cost: linear in the number of entries about it.

        Example:
            >>> from surefoot import WorldMap
            >>> m = WorldMap().told("hall", "north", "garden", quote="a sign")
            >>> [words for _, words in m.why("hall", "north")]
            ['told: a hypothesis']
        """
        s, a = values.encode_state(state), values.encode_action(action)
        with self._lock:
            self._catch_up()
            claim = self._number(s, a)
            if claim < 0:
                return Why(values.copy(state), values.copy(action), None)
            steps = history.story(self._journal, self._fold, claim)
            return Why(values.copy(state), values.copy(action), self._claim(claim), steps)
