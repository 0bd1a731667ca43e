"""Intervals around frequencies that hold for all successors of a choice at once, however many there may be.

A choice is tried n times and leads k times to a successor whose true probability is p. The number of its successors is
not known, so a share of the error for each cannot be fixed beforehand. Here a successor of probability p gets the share
`error * p`: a p is kept only where what was seen is likelier than that. The shares of all true successors, seen or not,
sum to `error`, because their probabilities sum to 1; so all intervals of a choice hold at once with `1 - error`, and
for two or three likely successors they are as narrow as with an equal share for each.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, gammaln

from surefoot.models._checks import row_sums

__all__ = ["METHODS", "missing_mass", "successor_bounds", "tightened"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_HALVINGS = 44
_TINY = 1e-300


def successor_bounds(method: str, seen: Ints, tried: Ints, error: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper ends for each branch.

    Args:
        method: a key of `METHODS`.
        seen: (B,) how often each branch was taken, >= 0.
        tried: (B,) how often its choice was, >= 1.
        error: (B,) the error allowed to all branches of the choice together, in (0, 1).

    Cost: 88 evaluations for each different (seen, tried, error).
    """
    if not len(seen):
        return np.zeros(0), np.zeros(0)
    keys, back = np.unique(np.stack([seen, tried, error], axis=1).astype(float), axis=0, return_inverse=True)
    lower, upper = METHODS[method](keys[:, 0], keys[:, 1], keys[:, 2])
    back = np.asarray(back).ravel()
    return lower[back], upper[back]


def _clopper_pearson(seen: Floats, tried: Floats, error: Floats) -> tuple[Floats, Floats]:
    """Keep p where both tails of the binomial are likelier than `error * p / 2`. Source: Clopper, Pearson 1934."""

    def too_low(p: Floats) -> NDArray[np.bool_]:  # as many successes as this are too unlikely
        tail = betainc(np.maximum(seen, 1.0), tried - np.maximum(seen, 1.0) + 1, p)
        return np.asarray(tail <= error * p / 2, bool)

    def too_high(p: Floats) -> NDArray[np.bool_]:
        rest = np.maximum(tried - seen, 1.0)
        tail = betainc(rest, tried - rest + 1, 1 - p)
        return np.asarray(tail <= error * p / 2, bool)

    return _ends(seen, tried, too_low, too_high)


def _mixture(seen: Floats, tried: Floats, error: Floats) -> tuple[Floats, Floats]:
    """Keep p where the likelihood ratio of a uniform mixture against p never reached `1 / (error * p)`.

    The ratio is a martingale under p that starts at 1, so it reaches that height at some time, ever, with a probability
    of `error * p` at most: the intervals hold at all times at once.

    Source: Ville 1939; Robbins 1970, section 2; Howard, Ramdas, McAuliffe, Sekhon 2021, section 3.2 (beta-binomial).
    """
    prior = betaln(seen + 1, tried - seen + 1)

    def out(p: Floats) -> NDArray[np.bool_]:
        p = np.clip(p, _TINY, 1 - 1e-16)
        ratio = prior - seen * np.log(p) - (tried - seen) * np.log1p(-p)
        return np.asarray(ratio + np.log(error) + np.log(p) >= 0, bool)

    return _ends(seen, tried, out, out)


def _hoeffding(seen: Floats, tried: Floats, error: Floats) -> tuple[Floats, Floats]:
    """Keep what is within twice the largest gap between the true and the seen distribution function.

    Source: Hoeffding 1963; Dvoretzky, Kiefer, Wolfowitz 1956 with the constant of Massart 1990, for all at once.
    """
    gap = 2 * np.sqrt(np.log(2 / error) / (2 * tried))
    return np.maximum(seen / tried - gap, 0.0), np.minimum(seen / tried + gap, 1.0)


def _ends(
    seen: Floats,
    tried: Floats,
    too_low: Callable[[Floats], NDArray[np.bool_]],
    too_high: Callable[[Floats], NDArray[np.bool_]],
) -> tuple[Floats, Floats]:
    """Halve towards both ends; what is returned is the outer side of the last halves.

    With one success there is no lower end but 0: it may always have been one of many that are as rare.
    """
    middle = seen / tried
    out, inside = np.zeros(len(seen)), middle.copy()
    for _ in range(_HALVINGS):
        half = (out + inside) / 2
        low = too_low(half)
        out, inside = np.where(low, half, out), np.where(low, inside, half)
    lower = np.where(seen <= 1, 0.0, out)
    out, inside = np.ones(len(seen)), middle.copy()
    for _ in range(_HALVINGS):
        half = (out + inside) / 2
        high = too_high(half)
        out, inside = np.where(high, half, out), np.where(high, inside, half)
    return lower, np.where(seen >= tried, 1.0, out)


METHODS: dict[str, Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]] = {
    "clopper-pearson": _clopper_pearson,
    "hoeffding": _hoeffding,
    "anytime": _mixture,
}
"""How to bound: by name."""


def missing_mass(kinds: Ints, tried: Ints, error: Floats, *, anytime: bool = False) -> Floats:
    """Return how likely a successor that was never seen may be, all of them together, (C,).

    The successors that were seen are given by as many of the tries as there are kinds; all other tries fell among them.
    For a fixed set of tries that has a probability of `(1 - x) ** (n - kinds)` at most where the mass outside is x, and
    there are `binomial(n, kinds)` such sets; the number of kinds may be anything, the share of `m` kinds is
    `error / (m (m + 1))`. At all times at once: the share of n tries is that, divided by `n (n + 1)`.

    Source: Littlestone, Warmuth 1986; Floyd, Warmuth 1995, theorem 6 (sample compression).
    """
    n, m = tried.astype(float), kinds.astype(float)
    share = np.log(error) - np.log(np.maximum(m, 1) * (m + 1))
    if anytime:
        share = share - np.log(np.maximum(n, 1) * (n + 1))
    sets = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    rest = n - m
    mass = np.where(rest > 0, -np.expm1((share - sets) / np.maximum(rest, 1.0)), 1.0)
    return np.asarray(np.clip(mass * (1 + 1e-12), 0.0, 1.0), np.float64)


def tightened(start: Ints, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return the intervals without what cannot be, since the probabilities of a choice sum to 1."""
    if not len(lower):
        return lower, upper
    sizes = np.diff(start)
    least, most = np.repeat(row_sums(start, lower), sizes), np.repeat(row_sums(start, upper), sizes)
    low = np.maximum(lower, 1 - (most - upper) - 1e-12)
    high = np.minimum(upper, 1 - (least - lower) + 1e-12)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
