"""Reading a claim's story back out of the journal, and comparing a map with itself at another time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from surefoot import events, values
from surefoot.journal import Journal
from surefoot.knowledge.claims import Change, Claim, Evidence
from surefoot.knowledge.fold import CONFIRMED, REFUSED, SOURCES, Fold
from surefoot.knowledge.merging import unwrap

if TYPE_CHECKING:
    from surefoot.journal import Entry
    from surefoot.knowledge.asking import Questions

__all__: list[str] = []  # the parts of a map; nothing here is public

_FIELDS = ("to", "status", "source", "taken", "refused", "doubtful", "refusals", "counts")


def reader(journal: Journal, fold: Fold, claim: int) -> Callable[[], tuple[Evidence, ...]]:
    """Return a function that reads the evidence about a claim up to now, whatever is added later."""
    row, seqs, prevs = fold.last[claim], fold.row_seq, fold.row_prev

    def read() -> tuple[Evidence, ...]:
        found = []
        at = row
        while at >= 0:
            found.append(seqs[at])
            at = prevs[at]
        evidence = (_evidence(_entry(journal, seq))[1] for seq in reversed(found))
        return tuple(e for e in evidence if e.kind != "drop")

    return read


def _entry(journal: Journal, seq: int) -> Entry:
    (entry,) = journal.entries(seq, seq + 1)
    return entry


def _evidence(entry: Entry) -> tuple[events.Event, Evidence]:
    """Return the event of an entry, and what it says about its claim."""
    foreign = unwrap(entry)
    kind, raw, origin = entry.kind, bytes(entry.raw), None
    if foreign is not None:
        kind, raw, origin = foreign.kind, foreign.raw, foreign.name or foreign.hash[:12]
    event = events.event_of(kind, raw)
    data = event.fields
    source = {"see": "seen", "told": data.get("source", "told")}.get(kind, "observed")
    quote = data.get("quote", data.get("why"))
    return event, Evidence(entry.seq, kind, data.get("to"), source, data.get("step"), quote, data.get("by"), origin)


def story(journal: Journal, fold: Fold, claim: int) -> tuple[tuple[Evidence, str], ...]:
    """Return each entry about a claim with what came of it, by folding those entries alone."""
    alone = Fold(replace(fold.settings, stale_after=None, stale_visits=None))
    state, action = fold.state_key[fold.origin[claim]], fold.action_key[fold.action[claim]]
    told: list[tuple[Evidence, str]] = []
    for seq in fold.rows(claim):
        event, evidence = _evidence(_entry(journal, seq))
        before = _now(alone, state, action)
        refutes = alone.believed(state, action, bytes(event.to)) >= 0 if isinstance(event, events.Arrived) else False
        alone.apply(event, seq)
        told.append((evidence, _words(evidence, before, _now(alone, state, action), refutes)))
    return tuple(told)


def _now(fold: Fold, state: bytes, action: bytes) -> tuple[Any, str, str, bool] | None:
    """Return (destination, status, source, refused) of a claim in a small fold."""
    s, a = fold.state_id.get(state), fold.action_id.get(action)
    claim = -1 if s is None or a is None else fold.out[s].get(a, -1)
    if claim < 0:
        return None
    flags = fold.flags[claim]
    to = None if fold.to[claim] < 0 else values.decode(fold.state_key[fold.to[claim]])
    status = "confirmed" if flags & CONFIRMED else "hypothesis"
    return to, status, SOURCES[fold.source[claim]], bool(flags & REFUSED)


def _words(e: Evidence, before: Any, after: Any, refutes: bool) -> str:
    """Say what an entry did to a claim."""
    was = "" if before is None or before[0] is None else f"{before[0]!r} ({before[1]}, {before[2]})"
    match e.kind:
        case "arrive":
            if refutes:
                return f"observed: refutes {was}"
            return "observed: confirmed" if before is None or before[1] != "confirmed" else "observed: confirmed again"
        case "refuse":
            return "refused"
        case "drop":
            return "dropped: to be checked again"
    if before is None:
        return f"{e.source}: a hypothesis" if e.to is not None else f"{e.source}: on offer"
    if before[3] and not after[3]:
        return f"{e.source}: on offer again"
    if before[1] == "confirmed":
        agrees = values.encode(before[0]) == values.encode(e.to)
        return f"{e.source}: agrees" if agrees else f"{e.source}: contradicts {was}, which stands until somebody looks"
    if values.encode(after[0]) == values.encode(e.to) and not was:
        return f"{e.source}: a hypothesis"
    if values.encode(after[0]) != values.encode(e.to):
        return f"{e.source}: {was} stands"
    return f"{e.source}: agrees" if values.encode(before[0]) == values.encode(e.to) else f"{e.source}: replaces {was}"


def changes(before: Questions, after: Questions) -> list[Change]:
    """Return what differs between two maps, claim by claim."""
    old = {(values.encode(c.state), values.encode(c.action)): c for c in before.claims()}
    new = {(values.encode(c.state), values.encode(c.action)): c for c in after.claims()}
    found = []
    for key in {**old, **new}:
        a, b = old.get(key), new.get(key)
        what = "added" if a is None else "removed" if b is None else _differs(a, b)
        if what:
            shown = b if a is None else a
            assert shown is not None  # a key comes from one of the two
            found.append(Change(shown.state, shown.action, what, a, b))
    return found


def _differs(a: Claim, b: Claim) -> str:
    return ",".join(name for name in _FIELDS if values.encode(getattr(a, name)) != values.encode(getattr(b, name)))
