"""A map as JSON data, and a map's journal in another file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.knowledge.asking import Questions

__all__: list[str] = []  # the parts of a map; nothing here is public

FORMAT = "surefoot.worldmap/1"


def as_data(m: Questions) -> dict[str, Any]:
    """Return everything about a map as JSON data."""
    fold = m._fold
    rows = []
    for s in range(len(fold.state_key)):
        state = m._state_value(s)
        rows.append({"state": state, "visits": fold.visits[s], "facts": m.facts(state)})
    states: Any = rows
    if all(isinstance(row["state"], str) for row in rows):
        states = {row["state"]: {"visits": row["visits"], "facts": row["facts"]} for row in rows}
    claims = [
        {
            "state": c.state,
            "action": c.action,
            "to": c.to,
            "status": c.status,
            "source": c.source,
            "taken": c.taken,
            "refused": c.refused,
            "doubtful": c.doubtful,
            "outcomes": [[to, times] for to, times in c.counts],
        }
        for c in m.claims()
    ]
    entries = [
        {"seq": e.seq, "stream": e.stream, "kind": e.kind, "data": e.data, "prev": e.prev, "hash": e.hash}
        for e in m._journal.entries()
    ]
    settings = {name: getattr(fold.settings, name) for name in fold.settings.__slots__}
    shown = {"format": FORMAT, "settings": settings, "states": states, "claims": claims}
    return {**shown, "journal": entries, "head": str(m._journal.head)}
