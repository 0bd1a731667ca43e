"""Rules that may hold only for some values of an argument: where no refusal shows that it holds for the others too."""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from surefoot.learners._induction.conditions import Condition
from surefoot.learners._induction.pools import Pool

__all__ = ["narrower"]

COMPARISONS = frozenset({"le", "lt", "above", "at least", "at most", "comes to"})
"""Only these are thought to hold for some values alone: that an order must be covered when it is one to buy, say."""
LABELS = 4
"""An argument with at most so many values may decide whether a comparison is asked for."""
MOST = 8


def narrower(pool: Pool, condition: Condition, unique: NDArray[np.bool_]) -> list[tuple[Condition, float]]:
    """Return a comparison's rivals that ask less: an argument has some value, or the comparison holds.

    They are those of values that no refusal has which only the comparison explains. They explain all that it explains;
    what they cost more to say is how many nats worse they are, less what speaks for them: that so many refusals, drawn
    at random, would have missed the value.
    """
    if condition.kind not in COMPARISONS or not unique.any():
        return []
    frame, found = pool.frame, []
    for at, term in enumerate(frame.scalars):
        if term.op != "field" or term.parents[0].op != "args":
            continue
        codes = frame.codes[at]
        values, counts = np.unique(codes[codes > 0], return_counts=True)
        if not 2 <= len(values) <= LABELS:
            continue
        met = set(codes[frame.bad][unique].tolist())
        for code, count in zip(values.tolist(), counts.tolist(), strict=True):
            value = frame.memory.values[code]
            if code not in met and isinstance(value, str | tuple):
                label = Condition("is", (term,), value, log(len(values)))
                both = Condition("either", (term, *condition.terms), (label, condition))
                missed = int(unique.sum()) * log(1.0 - count / (frame.n + 1))
                found.append((both, max(0.0, both.cost - condition.cost + missed)))
    found.sort(key=lambda pair: (pair[1], pair[0].key))
    return found[:MOST]
