"""Intervals that start from a belief: Bayesian ones, and those that are updated linearly. No coverage is promised."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

__all__ = ["bayes_bounds", "bayes_rest", "linear_bounds"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def bayes_bounds(seen: Ints, tried: Ints, kinds: Ints, error: Floats, weight: float) -> tuple[Floats, Floats]:
    """Return credible intervals of the marginals of a Dirichlet posterior.

    Args:
        seen: (B,) how often each branch was taken.
        tried: (B,) how often its choice was.
        kinds: (B,) how many branches its choice has, one for all that is unseen included where that is admitted.
        error: (B,) the posterior probability left to the branch, half of it on either side.
        weight: of each branch in the prior, > 0.

    Source: Gelman et al. 2013, sections 3.4 and 2.3 (Dirichlet and beta posteriors, central intervals).
    """
    own, rest = seen + weight, tried - seen + weight * (kinds - 1)
    alone = kinds == 1
    low = betaincinv(own, np.where(alone, 1.0, rest), error / 2)
    high = betaincinv(own, np.where(alone, 1.0, rest), 1 - error / 2)
    return np.where(alone, 1.0, low), np.where(alone, 1.0, high)


def bayes_rest(tried: Ints, kinds: Ints, error: Floats, weight: float) -> Floats:
    """Return how likely what was never seen may be, all of it together; `kinds` counts it as one, (C,)."""
    return np.asarray(betaincinv(weight, tried + weight * (kinds - 1), 1 - error), np.float64)


def linear_bounds(
    seen: Ints, tried: Ints, start: Ints, prior: tuple[Floats, Floats], strength: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return prior intervals after `tried` more outcomes, `seen` of which went to each branch.

    Where all frequencies of a choice agree with the prior ends, an end moves as if it rested on the greater strength;
    where one does not, on the smaller one, so that it moves faster.

    Args:
        seen: (B,) how often each branch was taken.
        tried: (B,) how often its choice was.
        start: (C + 1,) the first branch of each choice.
        prior: (B,) the lower ends, and the upper ones.
        strength: on how many outcomes the prior rests at least and at most, 0 <= least <= most.

    Source: Suilen, Simão, Parker, Jansen 2022, definition 5 (linearly updating intervals), after Walter 2013.
    """
    lower, upper = prior
    least, most = strength
    rate = np.divide(seen, tried, out=np.zeros(len(seen)), where=tried > 0)
    sizes = np.diff(start)
    ends = []
    for end, against in ((lower, rate < lower), (upper, rate > upper)):
        conflict = np.repeat(np.logical_or.reduceat(against & (tried > 0), start[:-1]), sizes)
        weight = np.where(conflict, least, most)
        ends.append((weight * end + seen) / np.maximum(weight + tried, 1e-300))
    return np.clip(ends[0], 0.0, 1.0), np.clip(ends[1], 0.0, 1.0)
