"""From journal entries to a fold: in order, and for merged maps in the one order that all of them share.

Each event has an identity, the hash of the entry that first recorded it, and a place, its number among the events of
the map it was recorded in. A map that took over events of others folds all of them sorted by (place, identity): that
keeps the order of each history and depends on nothing but the set of events, so merging is commutative, associative
and idempotent.

Source: a grow-only set of events as a state-based replicated data type (Shapiro, Preguiça, Baquero and Zawirski 2011,
sec. 3.3), folded deterministically.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from surefoot import events, values
from surefoot.errors import MergeRefused, UnknownFormat
from surefoot.journal import Journal
from surefoot.journal.chain import ENDS, GENESIS, Entry, check, hash_of, is_exact, label_of, parse
from surefoot.knowledge.fold import Fold
from surefoot.knowledge.settings import Settings

__all__: list[str] = []  # the parts of a map; nothing here is public

_see = msgspec.json.Decoder(events.Seen).decode
_arrive = msgspec.json.Decoder(events.Arrived).decode
_visit = msgspec.json.Decoder(events.Visited).decode


class Foreign(NamedTuple):
    """An event with its identity.

    Attributes:
        place: its number among the events of the map it was recorded in, from 0.
        hash: the hash of the entry that first recorded it.
        kind: its kind.
        raw: its encoded data.
        name: the name of that map, if it had one.
        seq: the entry here that holds it.
    """

    place: int
    hash: str
    kind: str
    raw: bytes
    name: str | None
    seq: int


def fold_lines(
    journal: Journal, start: int, stop: int, stream: str, fold: Fold, last: str | None, *, checked: bool = False
) -> tuple[Fold, bool, str | None]:
    """Fold the entries `start:stop` of a stream into `fold`, checking the chain on the way.

    Args:
        journal: where they are.
        start: the first of them.
        stop: the one to stop before.
        stream: whose.
        fold: what is known before them; changed, unless merged events make a new one necessary.
        last: the hash of the entry before `start`; None at the beginning.
        checked: the chain was checked already.

    Returns:
        the fold, whether settings were among the entries, and the hash of the last entry.

    Raises:
        BrokenChain: an entry does not follow.
        UnknownFormat: an entry is no event of a map.
    """
    lines = journal.lines(start, stop)
    folding = Folding(journal, start, stream, fold)
    deque(folding.through(lines if checked else check(lines, start=start, prev=last or GENESIS)), maxlen=0)
    return folding.done(stop), folding.begun, hash_of(folding.line).decode() if folding.line else last


class Folding:
    """Fold the lines that pass through, one by one."""

    def __init__(self, journal: Journal, start: int, stream: str, fold: Fold, *, exact: bool = False) -> None:
        """Start with what is known before entry `start`."""
        self._journal, self._start, self._stream, self._exact = journal, start, stream, exact
        self._known = len(fold.state_key), len(fold.action_key)
        self._merged = False
        self._seq = start
        self.line = b""
        self.fold = fold
        self.begun = False

    def through(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Pass lines on after they were folded."""
        saw, went, was = (b'%b,"data":' % label_of(self._stream, kind) for kind in ("see", "arrive", "visit"))
        to_saw, to_went, to_was = len(saw), len(went), len(was)
        fold = self.fold
        seq = self._start
        at, longer = len(b'{"seq":%d,' % seq), 10 ** len(str(seq))
        line = b""
        for line in lines:
            if seq == longer:
                at, longer = at + 1, 10 * longer
            try:
                if line.startswith(saw, at):
                    seen = _see(line[at + to_saw : -ENDS])
                    if self._merged:
                        fold = self._refold(seq)
                    fold.see(bytes(seen.state), bytes(seen.action), bytes(seen.to), seq)
                elif line.startswith(went, at):
                    came = _arrive(line[at + to_went : -ENDS])
                    if self._merged:
                        fold = self._refold(seq)
                    fold.arrive(bytes(came.state), bytes(came.action), bytes(came.to), seq)
                elif line.startswith(was, at):
                    visited = _visit(line[at + to_was : -ENDS])
                    if visited.facts or self._merged:
                        fold = self._slowly(seq, line)
                    else:
                        fold.visit(bytes(visited.state), b"")
                else:
                    fold = self._slowly(seq, line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # nested deep, or with a time: see there
                fold = self._slowly(seq, line)
            yield line
            seq += 1
        self._seq, self.line = seq, line

    def _slowly(self, seq: int, line: bytes) -> Fold:
        """Fold a line of any kind, or that was not read at once; return the fold."""
        entry = parse(line)
        if self._exact and not is_exact(line, entry):
            raise UnknownFormat("it is not written as this format writes it")
        if entry.stream != self._stream:
            return self.fold
        if entry.kind == events.Merged.kind:
            self._merged = True
            return self.fold
        if self._merged:
            self._refold(seq)
        try:
            self.fold.apply(events.event_of(entry.kind, entry.raw), seq)
        except ValueError as error:
            raise UnknownFormat(f"entry {seq} is no event of a map: {error}") from None
        self.begun = self.begun or entry.kind == events.Configured.kind
        return self.fold

    def _refold(self, stop: int) -> Fold:
        self.fold, self._merged, self._known = refold(self._journal, stop, self._stream), False, (0, 0)
        return self.fold

    def upto(self, stop: int) -> Fold:
        """Fold what has not passed through yet, and return the fold of all lines."""
        if self._seq < stop:
            rest = Folding(self._journal, self._seq, self._stream, self.fold)
            rest._merged = self._merged
            deque(rest.through(self._journal.lines(self._seq, stop)), maxlen=0)
            return rest.done(stop)
        return self.done(stop)

    def done(self, stop: int) -> Fold:
        """Return the fold of all lines."""
        if self._merged:
            self._refold(stop)
        _require_canonical(self.fold.state_key[self._known[0] :], states=True)
        _require_canonical(self.fold.action_key[self._known[1] :], states=False)
        return self.fold


def _require_canonical(keys: list[bytes], *, states: bool) -> None:
    """Refuse keys that no gate of ours wrote: two spellings of one value would be two states."""
    if values.all_canonical(keys):
        return
    for key in keys:
        value = values.decode(key)
        if states and b"{" in key:
            values.encode_state(value)


def refold(journal: Journal, stop: int, stream: str) -> Fold:
    """Fold the first `stop` entries, merged events in their shared order."""
    settings = Settings()
    gathered = events_of(journal, stream, stop)
    for entry in journal.entries(0, stop, events.Configured.kind, stream):
        configured = events.event_of(entry.kind, entry.raw)
        assert isinstance(configured, events.Configured)
        settings = Settings.of(configured)
    fold = Fold(settings)
    for event in sorted(gathered, key=lambda e: (e.place, e.hash)):
        if event.kind != events.Configured.kind:  # settings are each map's own
            fold.apply(events.event_of(event.kind, event.raw), event.seq)
    return fold


def events_of(journal: Journal, stream: str, stop: int | None = None) -> list[Foreign]:
    """Return every event of a map, those it was merged with included, each once."""
    found: dict[str, Foreign] = {}
    name: str | None = None
    for place, entry in enumerate(journal.entries(0, stop, stream=stream)):
        event = unwrap(entry)
        if event is None:
            if entry.kind == events.Configured.kind:
                name = entry.data["name"]
            event = Foreign(place, entry.hash, entry.kind, bytes(entry.raw), name, entry.seq)
        found.setdefault(event.hash, event)
    return list(found.values())


def unwrap(entry: Entry) -> Foreign | None:
    """Return the event that a merge entry took over, None for an entry of the map's own."""
    if entry.kind != events.Merged.kind:
        return None
    data = events.event_of(entry.kind, entry.raw)
    assert isinstance(data, events.Merged)
    place, hash_, of, name = (values.decode(bytes(raw)) for raw in (data.seq, data.hash, data.of, data.map))
    return Foreign(place, hash_, of, bytes(data.event), name, entry.seq)


def missing(
    journal: Journal, stream: str, incoming: list[Foreign], mine: Settings, theirs: Settings
) -> tuple[list[tuple[str, bytes]], int]:
    """Return the merge entries for what a map does not hold yet of `incoming`, and how many are events of the world.

    Raises:
        MergeRefused: the two maps fold events differently.
    """
    for field in ("stochastic", "stale_after", "stale_visits"):
        if getattr(mine, field) != getattr(theirs, field):
            raise MergeRefused(
                f"the maps differ in {field} ({getattr(mine, field)!r} here, {getattr(theirs, field)!r} there), "
                "so one history would mean two things: give both the same setting first"
            )
    held = {event.hash for event in events_of(journal, stream)}
    fresh = sorted((event for event in incoming if event.hash not in held), key=lambda e: (e.place, e.hash))
    return [("merge", _wrap(event)) for event in fresh], sum(event.kind != events.Configured.kind for event in fresh)


def _wrap(event: Foreign) -> bytes:
    """Return the data of the entry that takes over `event`."""
    fields: Iterator[tuple[bytes, bytes]] = iter(
        (
            (b"event", event.raw),
            (b"hash", values.encode(event.hash)),
            (b"map", values.encode(event.name)),
            (b"of", values.encode(event.kind)),
            (b"seq", values.encode(event.place)),
        )
    )
    return b"{" + b",".join(b'"%b":%b' % field for field in fields) + b"}"
