"""What an explanation shows beside the violated conditions: the nearest accepted call, and the refusals behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from surefoot.learners._induction.conditions import Condition
from surefoot.learners._induction.memory import reduced
from surefoot.learners._induction.pools import Pool
from surefoot.learners._induction.rows import Rows

__all__ = ["nearest", "seqs_behind"]

Read = tuple[tuple[str, Any], ...]
NEWEST = 8
"""So many places in the journal are shown."""


def nearest(rows: Rows, read: Read) -> tuple[int, Read, tuple[tuple[str, Any, Any], ...]]:
    """Return how often the accepted calls that differ least were made; what they read, and where they differ."""
    columns = {term.key: column for term, column in zip(rows.terms, rows.columns, strict=True)}
    known = [(name, reduced(value), columns[name]) for name, value in read if name in columns]
    counts: dict[tuple[str, ...], int] = {}
    first: dict[tuple[str, ...], int] = {}
    for row, bad in enumerate(rows.refused):
        if not bad:
            place = tuple([repr(column[row]) for _, _, column in known])
            counts[place] = counts.get(place, 0) + 1
            first.setdefault(place, row)
    if not counts:
        return 0, (), ()
    here = tuple([repr(value) for _, value, _ in known])
    best = min(counts, key=lambda place: (sum(map(str.__ne__, place, here)), -counts[place], place))
    row = first[best]
    found = tuple((name, column[row]) for name, _, column in known)
    differs = tuple((name, value, column[row]) for name, value, column in known if repr(value) != repr(column[row]))
    return counts[best], found, differs


def seqs_behind(pool: Pool, violated: Iterable[Condition]) -> tuple[int, ...]:
    """Return the newest places in the journal of refusals that violate one of these conditions."""
    found: set[int] = set()
    for condition in violated:
        at = pool.at.get(condition.key)
        if at is not None:
            for row in pool.frame.bad[pool.found[at][1]][-NEWEST:]:
                seq = pool.frame.seqs[row]
                if seq is not None:
                    found.add(seq)
    return tuple(sorted(found)[-NEWEST:])
