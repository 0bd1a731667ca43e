"""The projection behind a world map: events in, columns of numbers out.

States and actions are numbered as they first appear; a claim is a row in parallel arrays. Nothing here reads a clock, a
journal or a file: `Fold.apply(event, seq)` is the only way in, so that the same events always give the same columns.
"""

from __future__ import annotations

from array import array
from collections import deque
from typing import assert_never

from surefoot import events, values
from surefoot.knowledge.predecessors import Predecessors
from surefoot.knowledge.settings import Settings

__all__ = ["Fold"]

CONFIRMED, DOUBT, REFUSED, OPEN = 1, 2, 4, 8
SEEN, TOLD, HUMAN, OBSERVED = range(4)
SOURCES = ("seen", "told", "human", "observed")


class Fold:
    """What a map knows after some events, as columns.

    Attributes:
        state_key, action_key: list of encodings, by number; `state_id`, `action_id` the other way.
        out: for each state, {action: claim}.
        origin, action, to, shown: (claims,) int32: the state, the action, the destination and the last sign; -1 for
            none.
        flags: (claims,) uint8: CONFIRMED, DOUBT, REFUSED, OPEN.
        source: (claims,) uint8, an index into SOURCES.
        taken, hits: (claims,) int32: how often it was taken; how often it led to `to` since the last drop.
        refuted: how many arrivals refuted what was believed.
        several: {claim: {destination: times}} for claims that led to more than one place since the last drop.
        last: (claims,) int64: its newest row of history; `row_seq`, `row_prev` are that history: entry, older row.
        visits: (states,) list of int; `facts`: {state: {name: encoded value}}; `opens`: (states,) number of OPEN
            claims.
        preds: for each state the claims that lead to it, once somebody asks for them; else None.
        watchers: sets to which each state is added whose claims changed; `epoch` grows when everything did.

    Example:
        >>> fold = Fold()
        >>> fold.see(b'"hall"', b'"north"', b'"garden"', 0)
        >>> fold.state_key, fold.to[0], bool(fold.flags[0] & OPEN)
        ([b'"hall"', b'"garden"'], 1, True)
    """

    def __init__(self, settings: Settings | None = None) -> None:
        """Know nothing."""
        self._use(settings or Settings())
        self.ordinal = 0
        self.epoch = 0
        self.state_id: dict[bytes, int] = {}
        self.state_key: list[bytes] = []
        self.action_id: dict[bytes, int] = {}
        self.action_key: list[bytes] = []
        self.out: list[dict[int, int]] = []
        self.visits: list[int] = []
        self.opens: list[int] = []
        self.facts: dict[int, dict[str, bytes]] = {}
        self.origin, self.action, self.to, self.shown = (array("i") for _ in range(4))
        self.taken, self.hits = array("i"), array("i")
        self.flags, self.source = array("B"), array("B")
        self.last, self.row_seq, self.row_prev = array("q"), array("q"), array("q")
        self.several: dict[int, dict[int, int]] = {}
        self.switches: dict[int, int] = {}
        self.refusals: dict[int, int] = {}
        self.refuted = 0
        self.preds: Predecessors | None = None
        self.watchers: list[set[int]] = []
        self._recent: deque[tuple[int, int]] = deque()
        self._when: dict[int, tuple[int, int]] = {}

    def _use(self, settings: Settings) -> None:
        """Take settings; unpack what is looked at for every event."""
        self.settings = settings
        self.aging = settings.stale_after or 0
        self.timing = bool(settings.stale_after or settings.stale_visits)

    def apply(self, event: events.Event, seq: int) -> None:
        """Take one event in; `seq` is the entry that records it."""
        match event:
            case events.Seen():
                self.see(bytes(event.state), bytes(event.action), bytes(event.to), seq)
            case events.Arrived():
                self.arrive(bytes(event.state), bytes(event.action), bytes(event.to), seq)
            case events.Visited():
                self.visit(bytes(event.state), bytes(event.facts))
            case events.Told():
                source = SOURCES.index(values.decode(bytes(event.source)))
                self.told(bytes(event.state), bytes(event.action), bytes(event.to), source, seq)
            case events.Refused():
                self.refuse(bytes(event.state), bytes(event.action), seq)
            case events.Dropped():
                states = values.decode(bytes(event.states)) if event.states else None
                self.drop(None if states is None else list(map(values.encode_state, states)), seq)
            case events.Configured():
                self.configure(Settings.of(event))
            case _:
                assert_never(event)  # type: ignore[arg-type]  # Merged events are unpacked before they come here

    def configure(self, settings: Settings) -> None:
        """Take new settings; ages count from now."""
        self.ordinal += 1
        self.epoch += 1
        self._use(settings)
        self._recent.clear()
        self._when.clear()
        if settings.stale_after or settings.stale_visits:
            for claim, flags in enumerate(self.flags):
                if flags & CONFIRMED:
                    self._note_time(claim)

    def see_is_news(self, state: bytes, action: bytes, to: bytes) -> bool:
        """Say whether seeing this changes anything."""
        s = self.state_id.get(state)
        a = self.action_id.get(action)
        if s is None or a is None:
            return True
        claim = self.out[s].get(a)
        if claim is None or not to:
            return claim is None
        t = self.state_id.get(to, -2)
        if self.shown[claim] < 0 and self.flags[claim] & CONFIRMED and self.to[claim] == t:
            return False
        return self.shown[claim] != t

    def see(self, state: bytes, action: bytes, to: bytes, seq: int) -> None:
        """Take in that an action is on offer, perhaps with a sign of where it leads (`to` empty: none)."""
        self.ordinal += 1
        if self.aging:
            self._age()
        s = self.state_id.get(state, -1)
        if s < 0:
            s = self._state(state)
        a = self.action_id.get(action, -1)
        if a < 0:
            a = self._action(action)
        t = -1
        if to:
            t = self.state_id.get(to, -1)
            if t < 0:
                t = self._state(to)
        claim = self.out[s].get(a, -1)
        if claim < 0:
            self._claim(s, a, t, SEEN, t, OPEN, seq)
            return
        if t >= 0 and self.shown[claim] != t:
            self._see_again(claim, t)
        self._row(claim, seq)
        self._settle(claim, s)

    def _see_again(self, claim: int, t: int) -> None:
        """Take a sign that differs from the last one: news for what is unchecked, a doubt for what is confirmed."""
        changed = self.shown[claim] >= 0
        self.shown[claim] = t
        flags = self.flags[claim]
        if flags & REFUSED:
            flags = flags & ~REFUSED | (DOUBT if self.taken[claim] else 0)
        if flags & CONFIRMED:
            if changed and t != self.to[claim]:
                flags |= DOUBT
        elif self.to[claim] < 0 or self.source[claim] == SEEN or (changed and self.source[claim] == OBSERVED):
            self._lead(claim, t)
            self.source[claim] = SEEN
        self.flags[claim] = flags

    def told(self, state: bytes, action: bytes, to: bytes, source: int, seq: int) -> None:
        """Take in that somebody says where an action leads."""
        self._tick()
        s = self._state(state)
        a = self._action(action)
        t = self._state(to)
        claim = self.out[s].get(a, -1)
        if claim < 0:
            self._claim(s, a, t, source, -1, OPEN, seq)
            return
        else:
            flags = self.flags[claim]
            if flags & REFUSED:
                flags = flags & ~REFUSED | (DOUBT if self.taken[claim] else 0)
            if flags & CONFIRMED:
                if source == HUMAN and t != self.to[claim]:
                    flags |= DOUBT
            elif self.source[claim] != HUMAN or source == HUMAN or self.to[claim] < 0:
                self._lead(claim, t)
                self.source[claim] = source
            self.flags[claim] = flags
        self._row(claim, seq)
        self._settle(claim, s)

    def believed(self, state: bytes, action: bytes, to: bytes) -> int:
        """Return the claim that arriving at `to` would refute, -1 when it would refute none."""
        s = self.state_id.get(state)
        a = self.action_id.get(action)
        claim = -1 if s is None or a is None else self.out[s].get(a, -1)
        if claim < 0 or self.to[claim] < 0:
            return -1
        t = self.state_id.get(to, -2)
        if self.to[claim] == t or (self.settings.stochastic and t in self.several.get(claim, ())):
            return -1
        return claim

    def arrive(self, state: bytes, action: bytes, to: bytes, seq: int) -> None:
        """Take in that the action was taken and led to `to`."""
        self.ordinal += 1
        if self.aging:
            self._age()
        s = self.state_id.get(state, -1)
        if s < 0:
            s = self._state(state)
        a = self.action_id.get(action, -1)
        if a < 0:
            a = self._action(action)
        t = self.state_id.get(to, -1)
        if t < 0:
            t = self._state(to)
        claim = self.out[s].get(a, -1)
        if claim < 0:
            claim = self._claim(s, a, t, OBSERVED, -1, 0, seq)
        else:
            row_seq = self.row_seq
            self.row_prev.append(self.last[claim])
            self.last[claim] = len(row_seq)
            row_seq.append(seq)
            if self.flags[claim] & OPEN:
                self.opens[s] -= 1
        if self.to[claim] == t and claim not in self.several:
            self.hits[claim] += 1
        else:
            self._arrive_elsewhere(claim, t)
        self.taken[claim] += 1
        self.flags[claim] = CONFIRMED
        self.source[claim] = OBSERVED
        if self.timing:
            self._note_time(claim)
        for watcher in self.watchers:
            watcher.add(s)

    def _arrive_elsewhere(self, claim: int, t: int) -> None:
        """Count an outcome that is not, or not the only, destination so far; decide which one is believed."""
        was = self.to[claim]
        counts = self.several.get(claim)
        if 0 <= was != t and not (self.settings.stochastic and counts and t in counts):
            self.refuted += 1
        if counts is None:
            if not self.hits[claim]:  # a mere hypothesis, refuted: nothing was observed there
                self.hits[claim] = 1
                self._lead(claim, t)
                return
            counts = self.several[claim] = {was: self.hits[claim]}
        counts[t] = counts.get(t, 0) + 1
        if was != t:
            self.switches[claim] = self.switches.get(claim, 0) + 1
        if self.settings.stochastic and counts[t] < counts[was]:
            t = was
        self._lead(claim, t)
        self.hits[claim] = counts[t]

    def refuse(self, state: bytes, action: bytes, seq: int) -> None:
        """Take in that the environment did not take the action."""
        self._tick()
        s = self._state(state)
        a = self._action(action)
        claim = self.out[s].get(a, -1)
        if claim < 0:
            claim = self._claim(s, a, -1, OBSERVED, -1, OPEN, seq)
        else:
            self._row(claim, seq)
        self.refusals[claim] = self.refusals.get(claim, 0) + 1
        self.flags[claim] = self.flags[claim] & ~DOUBT | REFUSED
        self._settle(claim, s)

    def visit(self, state: bytes, facts: bytes) -> None:
        """Take in that the agent is in this state and noticed facts (an encoded object, or nothing)."""
        self._tick()
        s = self._state(state)
        self.visits[s] += 1
        if facts:
            known = self.facts.setdefault(s, {})
            for name, value in values.decode(facts).items():
                known[name] = values.encode(value)
        limit = self.settings.stale_visits
        if limit:
            for claim in self.out[s].values():
                if self.flags[claim] & CONFIRMED and self.visits[s] - self._when[claim][1] >= limit:
                    self._doubt(claim)

    def drop(self, states: list[bytes] | None, seq: int) -> int:
        """Doubt what is confirmed or refused, everywhere or at `states`; return how many were confirmed."""
        self._tick()
        self.epoch += 1
        if states is None:
            claims: list[int] = list(range(len(self.to)))
        else:
            known = {self.state_id[key]: None for key in states if key in self.state_id}
            claims = [c for s in known for c in self.out[s].values()]
        confirmed = 0
        for claim in claims:
            flags = self.flags[claim]
            confirmed += flags & CONFIRMED
            if flags & (CONFIRMED | REFUSED):
                self._doubt(claim)
                self._row(claim, seq)
            if self.taken[claim]:
                self.several.pop(claim, None)
                self.switches.pop(claim, None)
                self.hits[claim] = 0
        return confirmed

    def watch(self) -> set[int]:
        """Return a set to which from now on each state is added whose claims change."""
        watcher: set[int] = set()
        self.watchers.append(watcher)
        return watcher

    def unwatch(self, watcher: set[int]) -> None:
        """Stop adding to `watcher`."""
        self.watchers = [w for w in self.watchers if w is not watcher]

    def leading_to(self, state: int) -> list[int]:
        """Return the claims that lead to a state, in no order. Cost: linear in their number, after the first call."""
        if self.preds is None:
            self.preds = Predecessors(self.to, len(self.state_key))
        to = self.to
        return [claim for claim in self.preds.of(state) if to[claim] == state]

    def rows(self, claim: int) -> list[int]:
        """Return the entries that are about a claim, oldest first. Cost: linear in their number."""
        found, row = [], self.last[claim]
        while row >= 0:
            found.append(self.row_seq[row])
            row = self.row_prev[row]
        return found[::-1]

    def outcomes(self, claim: int) -> list[tuple[int, int]]:
        """Return pairs (destination, times observed since the last drop), most often first."""
        counts = self.several.get(claim)
        if counts is None:
            return [(self.to[claim], self.hits[claim])] if self.hits[claim] else []
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0] != self.to[claim], self.state_key[pair[0]]))

    def count(self, flag: int) -> int:
        """Return how many claims have a flag. Cost: linear, at the speed of `bytes.count`."""
        flags = self.flags.tobytes()
        return sum(flags.count(value) for value in range(16) if value & flag)

    def same_as(self, other: Fold) -> str | None:
        """Say in which column two folds differ, None when they agree."""
        columns = (
            "settings state_key action_key out visits facts origin action to shown taken hits flags source "
            "several switches refusals refuted row_seq row_prev last"
        )
        return next((name for name in columns.split() if getattr(self, name) != getattr(other, name)), None)

    def _state(self, key: bytes) -> int:
        """Return a state's number, a new one when it is new."""
        number = self.state_id.get(key)
        if number is None:
            number = self.state_id[key] = len(self.state_key)
            self.state_key.append(key)
            self.out.append({})
            self.visits.append(0)
            self.opens.append(0)
        return number

    def _action(self, key: bytes) -> int:
        """Return an action's number, a new one when it is new."""
        number = self.action_id.get(key)
        if number is None:
            number = self.action_id[key] = len(self.action_key)
            self.action_key.append(key)
        return number

    def _claim(self, s: int, a: int, t: int, source: int, shown: int, flags: int, seq: int) -> int:
        """Add an unchecked claim with its first row of history."""
        to = self.to
        claim = self.out[s][a] = len(to)
        self.origin.append(s)
        self.action.append(a)
        to.append(t)
        self.shown.append(shown)
        self.taken.append(0)
        self.hits.append(0)
        self.flags.append(flags)
        self.source.append(source)
        row_seq = self.row_seq
        self.last.append(len(row_seq))
        row_seq.append(seq)
        self.row_prev.append(-1)
        if flags:
            self.opens[s] += 1
        if self.preds is not None and t >= 0:
            self.preds.add(claim, t)
        for watcher in self.watchers:
            watcher.add(s)
        return claim

    def _lead(self, claim: int, t: int) -> None:
        """Let a claim lead to `t` from now on."""
        if self.to[claim] != t:
            self.to[claim] = t
            if self.preds is not None:
                self.preds.add(claim, t)

    def _row(self, claim: int, seq: int) -> None:
        """Write down that an entry is about a claim."""
        self.row_prev.append(self.last[claim])
        self.last[claim] = len(self.row_seq)
        self.row_seq.append(seq)

    def _settle(self, claim: int, s: int) -> None:
        """Work out whether there is something to learn from taking a claim, and tell the watchers."""
        flags = self.flags[claim]
        is_open = flags & DOUBT or not (self.taken[claim] or flags & REFUSED)
        if is_open:
            if not flags & OPEN:
                self.flags[claim] = flags | OPEN
                self.opens[s] += 1
        elif flags & OPEN:
            self.flags[claim] = flags & ~OPEN
            self.opens[s] -= 1
        for watcher in self.watchers:
            watcher.add(s)

    def _doubt(self, claim: int) -> None:
        """Turn a confirmed or refused claim into one to be checked again."""
        self.flags[claim] = self.flags[claim] & ~CONFIRMED | DOUBT
        self._settle(claim, self.origin[claim])

    def _note_time(self, claim: int) -> None:
        """Write down when a claim was last confirmed."""
        self._when[claim] = (self.ordinal, self.visits[self.origin[claim]])
        self._recent.append((self.ordinal, claim))

    def _tick(self) -> None:
        """Count an event, and doubt what it makes too old."""
        self.ordinal += 1
        if self.aging:
            self._age()

    def _age(self) -> None:
        """Doubt what is too old."""
        recent, oldest = self._recent, self.ordinal - self.aging
        while recent and recent[0][0] < oldest:
            when, claim = recent.popleft()
            if self.flags[claim] & CONFIRMED and self._when[claim][0] == when:
                self._doubt(claim)
