"""What an end component pays for each step in the long run: bounds by relative value iteration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.models.components import Direction, Rows
from surefoot.solvers._problem import spans, unit_roundoff

__all__ = ["gain_bounds", "sign_of_least_gain"]

Values = NDArray[np.float64]


def gain_bounds(
    rows: Rows,
    probability: Values,
    paid: Values,
    states: NDArray[np.int64],
    choices: NDArray[np.bool_],
    direction: Direction,
    *,
    tolerance: float,
    max_sweeps: int,
    sign_only: bool = False,
) -> tuple[float, float, NDArray[np.int64], Values, int]:
    """Return bounds of the best mean reward for each step inside an end component.

    For any potential h the best gain lies between the least and the greatest of max over c of (paid + row · h) - h: so
    whatever is iterated, the bounds hold. Rows are mixed with standing still, which changes no gain and makes the
    iteration converge.

    Args:
        rows: the model.
        probability: (B,) float64.
        paid: (C,) float64.
        states: the states of the end component, rising.
        choices: (C,) bool, the choices that stay inside it.
        direction: `max` or `min`.
        tolerance: how far the bounds may be apart, times two, as a part of the largest reward.
        max_sweeps: how often to go over the states at most.
        sign_only: stop when both bounds are on one side of 0.

    Returns:
        Lower and upper bound; the choice of each of the states; the potential; and the sweeps.

    Source: Puterman 1994, theorem 8.5.5 and section 8.5.4; Odoni 1969.
    """
    taken = spans(rows.choice_start[states], rows.choice_start[states + 1])
    taken = taken[choices[taken]]
    owner = np.searchsorted(rows.choice_start, taken, side="right") - 1
    place = np.full(len(rows.choice_start) - 1, -1, np.int64)
    place[states] = np.arange(len(states))
    home = place[owner]
    first = np.flatnonzero(np.r_[True, home[1:] != home[:-1]])
    where = spans(rows.branch_start[taken], rows.branch_start[taken + 1])
    sizes = rows.branch_start[taken + 1] - rows.branch_start[taken]
    to, weight = place[rows.target[where]], probability[where]
    starts = np.cumsum(sizes) - sizes
    reward = paid[taken]
    best = np.maximum if direction == "max" else np.minimum
    scale = max(float(np.abs(reward).max(initial=0.0)), 1e-300)
    potential = np.zeros(len(states))
    low, high, sweep = -scale, scale, 0
    policy = taken[first]
    while sweep < max_sweeps:
        sweep += 1
        worth = reward + np.add.reduceat(weight * potential[to], starts)
        new = best.reduceat(worth, first)
        rise = new - potential
        slack = (float(sizes.max()) + 8) * unit_roundoff * (scale + 2 * float(np.abs(potential).max()))
        bounds = float(rise.min()) - slack, float(rise.max()) + slack
        if bounds[1] - bounds[0] < high - low or sweep == 1:
            hits = np.flatnonzero(worth == new[home])
            policy = taken[hits[np.searchsorted(hits, first)]]
        low, high = max(low, bounds[0]), min(high, bounds[1])
        if high - low <= 2 * tolerance * max(abs(low), abs(high)) or high - low <= 8 * slack:
            break
        if sign_only and (low > 0 or high < 0):
            break
        potential = 0.5 * potential + 0.5 * new
        potential -= potential[0]
    return low, high, policy, potential, sweep


def sign_of_least_gain(
    rows: Rows, probability: Values, paid: Values, states: NDArray[np.int64], choices: NDArray[np.bool_]
) -> int:
    """Return -1 or 1 where the least gain of an end component is proved to be below or above 0, else 0."""
    low, high, _, _, _ = gain_bounds(
        rows, probability, paid, states, choices, "min", tolerance=1e-9, max_sweeps=100_000, sign_only=True
    )
    return -1 if high < 0 else 1 if low > 0 else 0
