"""A map of an environment, written by acting in it: claims, each with its source and its evidence.

```python
from surefoot import WorldMap

m = WorldMap("console.map")                  # made, or opened where it is
m.see(page, "Billing", to="/billing")        # on offer here, and where the environment says it leads
m.arrive(page, "Billing", "/billing")        # it was taken: confirmed, or what was believed is refuted
m.refuse(page, "Delete", "403")              # the world said no
m.next(page, {"/billing/refunds"})           # the action to take towards a target, over what is known
m.explore(page)                              # the action to take towards the nearest thing nobody has checked
```

A claim "(state, action) leads to state" is a hypothesis until somebody goes and looks, whoever made it. Every change
is an entry of a hash-chained journal before it is anything else; the map is a fold over those entries, so it can be
rebuilt as it was after any of them, and a file that was edited is caught. States and actions are plain values
(`surefoot.values`).

What a map does not do: it makes no first exploration shorter, it gives nothing where everything is one step away, and
it does not say which state a task needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

from surefoot import values
from surefoot.errors import BadArgument, Conflict
from surefoot.journal import Journal
from surefoot.knowledge import merging
from surefoot.knowledge.fold import CONFIRMED, SOURCES
from surefoot.knowledge.keeping import Keeping
from surefoot.knowledge.mapcore import collection, field_of, step_of
from surefoot.knowledge.projection import Change, Path
from surefoot.knowledge.settings import Settings

__all__ = ["WorldMap"]


class WorldMap(Keeping):
    """A map that an agent writes as it goes, and that it can prove.

    Args:
        path: where its journal is kept: `.json` or `.jsonl` for a text file, anything else for SQLite; made when it
            is not there. None: in memory, until `save(path)`.
        hypothesis_cost: int >= 1, how many confirmed steps an unchecked claim counts as; 3 for a new map. Another value
            than a stored map has is recorded as a change.
        stochastic: one action may lead to several places; then nothing is refuted by a second outcome, and routes
            have the least expected cost over the frequencies observed.
        stale_after: doubt what was confirmed more than so many events ago; None: never.
        stale_visits: doubt what was confirmed more than so many visits to its state ago; None: never.
        name: what to call this map where several are merged.
        journal: use this journal instead of opening one; the map's entries are those of `stream`.
        stream: the map's name inside the journal.
        durability: "normal" or "full", see `open_journal`.
        clock: see `Journal`.
        repair: keep the whole entries of a file that ends in the middle of one, instead of refusing to open it.

    Raises:
        BadArgument: a setting is out of its range.
        BrokenChain, CutTail, UnknownFormat: the stored journal is not whole; each says where.

    Thread-safe; several maps (processes, too) may write to one SQLite or JSON file. Pickles and deep copies are
    independent maps in memory with the same history.

    Example:
        >>> m = WorldMap()
        >>> m.see("hall", "north", to="garden").see("hall", "down").explore("hall")
        'down'
        >>> m.arrive("hall", "down", "cellar")
        False
        >>> m.next("hall", {"garden"}), m.path("hall", {"garden"}), m.explore("hall")
        ('north', [('hall', 'north')], 'north')
        >>> bool(m.verify())
        True
    """

    def __init__(
        self,
        path: Path | None = None,
        hypothesis_cost: int | None = None,
        *,
        stochastic: bool | None = None,
        stale_after: int | None = None,
        stale_visits: int | None = None,
        name: str | None = None,
        journal: Journal | None = None,
        stream: str = "main",
        durability: str = "normal",
        clock: Callable[[], Any] | None = None,
        repair: bool = False,
    ) -> None:
        """Open or make the map; see the class."""
        asked = {
            "hypothesis_cost": hypothesis_cost,
            "stochastic": stochastic,
            "stale_after": stale_after,
            "stale_visits": stale_visits,
            "name": name,
        }
        given = {field: value for field, value in asked.items() if value is not None}
        settings = Settings(**given)  # type: ignore[arg-type]  # Settings checks them
        self._given = settings
        self._open(path, journal, stream, durability=durability, clock=clock, repair=repair)
        if self._begun and replace(self._fold.settings, **given) != self._fold.settings:  # type: ignore[arg-type]  # Settings checks them
            self._configure(**given)

    def visit(self, state: Any, step: Any = None, *, facts: Mapping[str, Any] | None = None, **named: Any) -> Self:
        """Record that the agent is in `state`, with what it noticed there.

        Args:
            state: the state.
            step: the caller's own step, any plain value.
            facts: facts by name, any plain values; merged into what is known of the state.
            named: more facts, as keywords.

        Raises:
            ValueRejected: the state or a fact is not plain.

        Example:
            >>> WorldMap().visit("/", title="Home").facts("/")
            {'title': 'Home'}
        """
        s = values.encode_state(state)
        noticed = values.encode({**(facts or {}), **named}) if facts or named else b""
        data = b'{%b"state":%b%b}' % (b'"facts":%b,' % noticed if noticed else b"", s, step_of(step))
        self._change(lambda: ("visit", data), lambda _: self._fold.visit(s, noticed))
        return self

    def see(self, state: Any, action: Any, to: Any = None, step: Any = None) -> Self:
        """Record that `action` is on offer in `state`, and where the environment shows that it leads.

        A repeat is no entry. A confirmed claim stays as it is; a sign that has changed since makes it doubtful. A
        sign that has changed replaces an unchecked one, and puts a refused action back on offer.

        Args:
            state: the state.
            action: the action on offer.
            to: where it leads, when the environment shows that (a link's address, a directory entry).
            step: the caller's own step.

        Raises:
            ValueRejected: one of them is not plain.

        Cost: constant in the size of the map; docs/explanation/measured.md has figures.

        Example:
            >>> WorldMap().see("/", "Billing", to="/billing").claim("/", "Billing").status
            'hypothesis'
        """
        s, a = values.encode_state(state), values.encode_action(action)
        t = b"" if to is None else values.encode_state(to)

        def decide() -> tuple[str, bytes] | None:
            if not self._fold.see_is_news(s, a, t):
                return None
            return "see", b'{"action":%b,"state":%b%b%b}' % (a, s, step_of(step), b',"to":%b' % t if t else b"")

        self._change(decide, lambda seq: self._fold.see(s, a, t, seq))
        return self

    def told(
        self,
        state: Any,
        action: Any,
        to: Any,
        source: str = "told",
        quote: Any = None,
        step: Any = None,
        *,
        by: Any = None,
    ) -> Self:
        """Record that somebody says where `action` leads: a hypothesis, whoever it is.

        It replaces an unchecked claim, but a document's word does not replace a person's. A confirmed claim stands
        until an observation refutes it; a person who contradicts it makes it doubtful. A refused action is on offer
        again.

        Args:
            state: the state.
            action: the action.
            to: where it is said to lead.
            source: "told" (a document, a sign), "human" or "seen".
            quote: the words.
            step: the caller's own step.
            by: who.

        Raises:
            BadArgument: there is no destination, or no such source.
            ValueRejected: something is not plain.

        Example:
            >>> m = WorldMap().told("/", "Help", "/docs", quote="see the docs", by="README")
            >>> m.claim("/", "Help").source
            'told'
        """
        if source not in SOURCES[:3]:
            raise BadArgument(
                f"source must be 'told', 'human' or 'seen', got {source!r}; use arrive() for an observation"
            )
        if to is None:
            raise BadArgument("told(...) needs a destination, got None: use see(state, action) when nobody knows it")
        s, a, t = values.encode_state(state), values.encode_action(action), values.encode_state(to)
        said = b'{"action":%b%b%b,"source":"%b","state":%b%b,"to":%b}'
        data = said % (a, field_of(b"by", by), field_of(b"quote", quote), source.encode(), s, step_of(step), t)
        self._change(lambda: ("told", data), lambda seq: self._fold.told(s, a, t, SOURCES.index(source), seq))
        return self

    def human(self, state: Any, action: Any, to: Any, note: Any = None, step: Any = None, *, by: Any = None) -> Self:
        """Record a person's correction: `told` with the source "human".

        Example:
            >>> WorldMap().human("/", "Help", "/support", note="moved last week").claim("/", "Help").source
            'human'
        """
        return self.told(state, action, to, "human", note, step, by=by)

    def arrive(self, state: Any, action: Any, to: Any, step: Any = None) -> bool:
        """Record that `action` was taken in `state` and led to `to`.

        Returns:
            True when this refuted what was believed (another destination, whoever claimed it).

        Raises:
            BadArgument: `to` is None: an arrival has a place.
            ValueRejected: something is not plain.

        Cost: constant in the size of the map; docs/explanation/measured.md has figures.

        Example:
            >>> m = WorldMap().see("/", "Billing", to="/billing")
            >>> m.arrive("/", "Billing", "/login"), m.arrive("/", "Billing", "/login")
            (True, False)
        """
        if to is None:
            raise BadArgument("arrive(...) needs the state that the action led to, got None")
        s, a, t = values.encode_state(state), values.encode_action(action), values.encode_state(to)
        refuted = False

        def decide() -> tuple[str, bytes]:
            nonlocal refuted
            claim = self._fold.believed(s, a, t)
            refuted = claim >= 0
            against = self._refuted(claim) if refuted else b""
            return "arrive", b'{"action":%b%b,"state":%b%b,"to":%b}' % (a, against, s, step_of(step), t)

        self._change(decide, lambda seq: self._fold.arrive(s, a, t, seq))
        return refuted

    def arriving(self, state: bytes, action: bytes, to: bytes) -> Change:
        """Return what `arrive` would record, to be recorded together with other changes; all is encoded already."""

        def decide() -> tuple[str, bytes]:
            claim = self._fold.believed(state, action, to)
            against = self._refuted(claim) if claim >= 0 else b""
            return "arrive", b'{"action":%b%b,"state":%b,"to":%b}' % (action, against, state, to)

        return self, decide, lambda seq: self._fold.arrive(state, action, to, seq)

    def _refuted(self, claim: int) -> bytes:
        """Return the part of an arrival's entry that says what it refutes."""
        fold = self._fold
        status = b"confirmed" if fold.flags[claim] & CONFIRMED else b"hypothesis"
        source = SOURCES[fold.source[claim]].encode()
        return b',"refutes":{"source":"%b","status":"%b","to":%b}' % (source, status, fold.state_key[fold.to[claim]])

    def refuse(self, state: Any, action: Any, why: Any = None, step: Any = None) -> Self:
        """Record that the world did not take `action` in `state`.

        It is off the frontier and off the routes until something new is seen or told about it, or it is taken after
        all.

        Args:
            state: the state.
            action: the action.
            why: the world's reason, any plain value.
            step: the caller's own step.

        Raises:
            ValueRejected: something is not plain.

        Example:
            >>> m = WorldMap().see("hall", "open").refuse("hall", "open", "locked")
            >>> m.explore("hall"), m.claim("hall", "open").refused
            (None, True)
        """
        s, a = values.encode_state(state), values.encode_action(action)
        data = b'{"action":%b,"state":%b%b%b}' % (a, s, step_of(step), field_of(b"why", why))
        self._change(lambda: ("refuse", data), lambda seq: self._fold.refuse(s, a, seq))
        return self

    def drop(self, why: Any = None, step: Any = None, *, states: Iterable[Any] | None = None) -> int:
        """Doubt everything that was confirmed or refused (the world has changed), or only at `states`.

        Doubtful claims stay on the map as hypotheses, and `frontier` and `explore` offer them again.

        Returns:
            how many claims were confirmed until now.

        Example:
            >>> m = WorldMap()
            >>> _ = m.arrive("hall", "north", "garden")
            >>> m.explore("hall"), m.drop("a new release"), m.explore("hall")
            (None, 1, 'north')
        """
        keys = None if states is None else [values.encode_state(state) for state in collection(states, "states")]
        where = b"" if keys is None else b',"states":[%b]' % b",".join(keys)
        data = b"{%b}" % (where + step_of(step) + field_of(b"why", why))[1:]
        dropped = 0

        def apply(seq: int) -> None:
            nonlocal dropped
            dropped = self._fold.drop(keys, seq)

        self._change(lambda: ("drop", data), apply)
        return dropped

    def merge(self, other: WorldMap | Path) -> int:
        """Take over everything that `other`, a map of the same world, knows; every claim keeps its origin.

        The events of both are folded in one order that depends on nothing but the events, so `a.merge(b)` and
        `b.merge(a)` know the same, and merging twice changes nothing. Two entries with one hash are one event: give
        maps that are written apart different names, so that the same first steps of two walkers count twice.

        Returns:
            how many events were new.

        Raises:
            MergeRefused: the maps fold events differently (one is stochastic, or they age differently).
            BadArgument: there is nothing at that path.

        Cost: folds both histories again.

        Example:
            >>> a, b = WorldMap().see("hall", "north"), WorldMap().see("hall", "south")
            >>> a.merge(b), a.merge(b), sorted(a.frontier())
            (1, 0, [('hall', 'north'), ('hall', 'south')])
        """
        if not isinstance(other, WorldMap):
            if not os.path.exists(other):
                raise BadArgument(f"there is no map to merge at {os.fspath(other)!r}")
            with WorldMap(other) as stored:
                return self.merge(stored)
        with other._lock:
            other._catch_up()
            incoming = merging.events_of(other._journal, other._stream)
            settings = other._fold.settings
        with self._lock:
            while True:
                self._catch_up()
                records, count = merging.missing(self._journal, self._stream, incoming, self._fold.settings, settings)
                if not records:
                    return 0
                try:
                    self._prepare()
                    self._record(records)
                except Conflict:
                    continue
                self._catch_up()
                return count
