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

Bools = NDArray[np.bool_]


def count_values(pool: Pool, one: Chosen, unique: Bools, leftover: int) -> None:
    """Weigh each value outside a domain by the refusals that only it explains; say how closed the domain looks."""
    c = one.condition
    column = pool.frame.column[c.terms[0].key]
    counts: dict[Any, int] = {}
    for at, row in enumerate(pool.frame.bad):
        odd = odd_values(c, column[row])
        for value in odd:
            counts[value] = counts.get(value, 0) + int(unique[at] and len(odd) == 1)
    good: Counter[Any] = Counter()
    for row in pool.frame.good:
        value = column[row]
        good.update({value if value is MISSING else frozen(value)} if c.kind == "domain" else _parts(value))
    once = sum(times == 1 for times in good.values())
    if len(counts) >= 3:
        one.closed = log((pool.accepted + 1) / (once + 0.5))
    if c.key in pool.wishes.pinned:
        one.closed = WORD
    one.values = {v: float(pool.worth(m, leftover + m)) for v, m in counts.items()}


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
    allowed: dict[str, Counter[Any]] = {}
    refused: dict[str, Counter[Any]] = {}
    for found in known.values():
        for one in found.chosen:
            if one.condition.kind in ("domain", "each domain"):
                allowed.setdefault(one.condition.key, Counter()).update(one.condition.param)
                refused.setdefault(one.condition.key, Counter()).update(v for v, w in one.values.items() if w > 0)
    for found in known.values():
        for one in found.chosen:
            if one.condition.kind in ("domain", "each domain"):
                key = one.condition.key
                for value in {*refused[key], *one.values} - set(one.condition.param):
                    own = one.values.get(value, 0.0)
                    against = refused[key][value] - (own > 0)
                    one.values[value] = own + log((against + 0.5) / (allowed[key][value] + 0.5))
