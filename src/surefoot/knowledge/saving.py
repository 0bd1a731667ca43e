"""A map as JSON data, and a map's journal in another file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from surefoot.errors import BadArgument
from surefoot.journal import Journal, open_journal

if TYPE_CHECKING:
    from surefoot.knowledge.asking import Questions
    from surefoot.knowledge.mapcore import Path

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


def save(m: Questions, path: Path | None) -> Path:
    """Make a map durable where it is, or append what is missing to its copy at `path`."""
    if path is None or (m._path is not None and os.path.abspath(os.fspath(path)) == os.path.abspath(m._path)):
        if m._path is None:
            raise BadArgument("this map is in memory: give save(path) a place")
        m._journal.flush()
        return m._path
    place = os.path.abspath(os.fspath(path))
    copy = m._copies.get(place)
    if copy is None:
        copy = m._copies[place] = open_journal(path)
    _extend(copy, m._journal, path)
    copy.flush()
    return path


def _extend(copy: Journal, journal: Journal, path: Path) -> None:
    """Append to `copy` the lines of `journal` that it lacks."""

    def build(count: int, last: bytes | None) -> list[bytes]:
        if last is not None and (count > len(journal) or next(journal.lines(count - 1, count)) != last):
            raise BadArgument(f"{os.fspath(path)!r} holds another history ({count} entries): save to another place")
        return list(journal.lines(count))

    copy.backend.extend(build)


def read(path: Path) -> list[bytes]:
    """Return the lines of a saved map.

    Raises:
        BadArgument: there is nothing at `path`.
    """
    if not os.path.exists(path):
        raise BadArgument(f"there is no saved map at {os.fspath(path)!r}")
    with open_journal(path) as journal:
        return list(journal.lines())
