"""What speaks against single values outside a domain, in one action and in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners._induction.conditions import Condition, frozen
from surefoot.learners._induction.pools import WORD, Pool
from surefoot.learners._induction.results import Chosen, Knowledge
from surefoot.learners.vocabulary import MISSING

__all__ = ["count_values", "odd_values", "weigh_values"]

ALIKE = 9.2
"""What explains a value's refusals in its stead is looked at when the odds for it are at least 1 in 10,000."""
MOST_OTHERS = 8
DISTINCT = 3
"""So many values must have been refused before those that were not met are taken to be refused too."""
ALONE = 0.25
"""How many actions that do not share what others do are expected beyond those that were met."""
Bools = NDArray[np.bool_]


def count_values(pool: Pool, one: Chosen, unique: Bools, leftover: int) -> None:
    """Weigh each value outside a domain by the refusals that only it explains; say how closed the domain looks."""
    c = one.condition
    column = pool.frame.column[c.terms[0].key]
    counts: dict[Any, int] = {}
    places: dict[Any, list[int]] = {}
    for at, row in enumerate(pool.frame.bad):
        odd = odd_values(c, column[row])
        for value in odd:
            counts[value] = counts.get(value, 0) + int(unique[at] and len(odd) == 1)
            if unique[at] and len(odd) == 1:
                places.setdefault(value, []).append(at)
    good: Counter[Any] = Counter()
    for row in pool.frame.good:
        value = column[row]
        good.update({value if value is MISSING else frozen(value)} if c.kind == "domain" else _parts(value))
    once = sum(times == 1 for times in good.values())
    one.seen = pool.accepted, once
    if len(counts) >= DISTINCT:
        one.closed = log((pool.accepted + 1) / (once + 0.5))
    if c.key in pool.wishes.pinned:
        one.closed = WORD
    one.values = {v: float(pool.worth(m, leftover + m)) for v, m in counts.items()}
    one.others = {v: _instead(pool, one, rows) for v, rows in places.items()}


def _instead(pool: Pool, one: Chosen, rows: list[int]) -> list[tuple[Condition, float]]:
    """Return what explains all refusals of a value, so that the value itself may be fine, and what it costs to say.

    It comes on top of what was picked, so that only what its terms do not share with that is counted.
    """
    at = pool.at[one.condition.key]
    said = {part for i in pool.picked for term in pool.found[i][0].terms for part in term.parts}
    found = []
    for j in np.flatnonzero(pool.wrong[:, rows].all(axis=1)).tolist():
        c = pool.found[j][0]
        if j != at and j not in pool.picked and c.kind not in ("domain", "each domain"):
            known = {part: cost for term in c.terms for part, cost in term.parts.items() if part in said}
            cost = float(pool.costs[j]) - sum(known.values())
            if cost + one.closed < ALIKE:
                found.append((c, max(0.0, cost) + one.closed))
    found.sort(key=lambda pair: (pair[1], pair[0].key))
    return found[:MOST_OTHERS]


def _parts(value: Any) -> set[Any]:
    return {MISSING} if value is MISSING else {frozen(v) for v in value}


def odd_values(condition: Condition, value: Any) -> set[Any]:
    """Return what of a value is outside a domain."""
    if condition.kind == "domain":
        key = frozen(value)
        return set() if key in condition.param else {key}
    return {part for part in _parts(value) if part not in condition.param}


def weigh_values(pools: Mapping[str, Pool], known: Mapping[str, Knowledge]) -> None:
    """Add to the evidence against a value what other actions say about it."""
    by_key: dict[str, list[Chosen]] = {}
    for found in known.values():
        for one in found.chosen:
            if one.condition.kind in ("domain", "each domain"):
                by_key.setdefault(one.condition.key, []).append(one)
    for group in by_key.values():
        _close(group)
        allowed = Counter([value for one in group for value in one.condition.param])
        refused = Counter([value for one in group for value, weight in one.values.items() if weight > 0])
        for one in group:
            for value in set(refused) | set(one.values):
                if value not in one.condition.param:
                    own = one.values.get(value, 0.0)
                    against = refused[value] - (own > 0)
                    elsewhere = log((against + ALONE) / (allowed[value] + ALONE))
                    one.values[value] = own + elsewhere
                    one.others[value] = [(c, by + elsewhere) for c, by in one.others.get(value, [])]


def _close(group: list[Chosen]) -> None:
    """Say how closed the domains of the same term look in several actions: those that allow the same share a list.

    That one has the list of `n` others has the odds n to `ALONE` (Chinese restaurant process: Aldous 1985); then no
    accepted call of all of them has shown another value, else none of its own.
    """
    for one in group:
        if one.closed >= WORD:
            continue
        alike = [other for other in group if other.condition.param == one.condition.param]
        values = {value for other in alike for value, weight in other.values.items() if weight > 0}
        if len(values) < DISTINCT:
            continue
        own = (one.seen[1] + 0.5) / (one.seen[0] + 1)
        accepted, once = (sum(counts) for counts in zip(*[other.seen for other in alike], strict=True))
        share = (len(alike) - 1) / (len(alike) - 1 + ALONE)
        closed = -log((1.0 - share) * own + share * (once + 0.5) / (accepted + 1))
        more, one.closed = closed - one.closed, closed
        one.others = {value: [(c, by + more) for c, by in found] for value, found in one.others.items()}
