"""Interval iteration: one sequence from below and one from above, until they meet."""

from __future__ import annotations

import numpy as np

from surefoot.models.model import Model
from surefoot.models.solution import Objective, Solution
from surefoot.solvers._enclose import Enclosure, Engine, Sweeps, close, enclose, pushes, sweeps_of
from surefoot.solvers._problem import Problem
from surefoot.solvers._reduce import solved_by
from surefoot.solvers.optimistic import check_budget

__all__ = ["interval_iteration"]


def interval_iteration(
    model: Model,
    objective: Objective,
    /,
    *,
    tolerance: float = 1e-6,
    max_sweeps: int = 1_000_000,
    engine: Engine = "auto",
) -> Solution:
    """Return bounds from two sequences of values that close in on the only solution from both sides.

    It needs a first bound above: 1 for probabilities; for rewards the largest reward times a bound of the number of
    steps. Slower than `optimistic`, with nothing to guess.

    Args:
        model: a chain or an MDP, without intervals.
        objective: what is asked.
        tolerance: see `optimistic`.
        max_sweeps: how often to go over all choices at most, for each side; then the status is LOOSE.
        engine: who sweeps; see `optimistic`.

    Raises:
        BadArgument: the objective does not fit the model, or an argument is out of its range.

    Source: Haddad, Monmege 2018; Brázdil et al. 2014; Baier et al. 2017 (rewards).

    Example:
        >>> from surefoot.models import MarkovChain
        >>> coins = MarkovChain(choice_start=[0, 1, 2, 2, 2], branch_start=[0, 2, 4], target=[1, 3, 0, 2],
        ...                     probability=[0.5, 0.5, 0.5, 0.5], initial=0, labels={"goal": [2]})
        >>> lower, upper = interval_iteration(coins, Objective(coins.labels["goal"])).bounds(0)
        >>> lower <= 1 / 3 <= upper and upper - lower < 1e-6
        True
    """
    check_budget(tolerance, max_sweeps)

    def work(problem: Problem) -> Enclosure:
        lower, upper = _first_bounds(problem, rewards=objective.rewards, max_sweeps=max_sweeps, engine=engine)
        return _close_in(sweeps_of(problem, engine), lower, upper, tolerance, max_sweeps)

    return solved_by(work, model, objective)


def _first_bounds(problem: Problem, *, rewards: bool, max_sweeps: int, engine: Engine) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds to start from."""
    if not rewards:
        return np.zeros(problem.size), np.ones(problem.size)
    # Whoever picks: the number of steps of the policy that takes longest, or of one that ends at all for `min`.
    steps = enclose(
        problem.with_constant(np.ones_like(problem.constant), relative=True),
        tolerance=0.5,
        max_sweeps=max_sweeps,
        engine=engine,
    ).upper
    most = float(problem.constant.max(initial=0.0))
    least = float(problem.constant.min(initial=0.0))
    return least * steps if least < 0 else np.zeros(problem.size), max(most, 0.0) * steps


def _close_in(sweeps: Sweeps, lower: np.ndarray, upper: np.ndarray, tolerance: float, max_sweeps: int) -> Enclosure:
    """Sweep on both sides until they are close."""
    problem = sweeps.problem
    policy, count = problem.choice_start[:-1].copy(), 0
    while problem.size and count < max_sweeps and not close(problem, lower, upper, tolerance):
        below, policy = sweeps.improve(lower, pushes(problem, lower)[0])
        above, other = sweeps.improve(upper, pushes(problem, upper)[1])
        lower, upper = np.maximum(lower, below), np.minimum(upper, above)
        if problem.direction == "min":
            policy = other  # what the upper bound was earned with
        count += 1
    return Enclosure(lower, upper, policy, count, close(problem, lower, upper, tolerance))
