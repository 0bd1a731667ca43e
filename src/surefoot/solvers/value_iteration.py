"""Plain value iteration: what textbooks stop when it moves little. It proves a lower bound, and no more."""

from __future__ import annotations

import numpy as np

from surefoot.models.model import Model
from surefoot.models.solution import Objective, Solution, Status
from surefoot.solvers._enclose import Enclosure, Engine, pushes, relative_size, sweeps_of
from surefoot.solvers._problem import Problem
from surefoot.solvers._reduce import reduce
from surefoot.solvers.optimistic import check_budget

__all__ = ["value_iteration"]


def value_iteration(
    model: Model,
    objective: Objective,
    /,
    *,
    tolerance: float = 1e-6,
    max_sweeps: int = 1_000_000,
    engine: Engine = "auto",
) -> Solution:
    """Return the lower bound that plain value iteration reaches; the upper one stays 1, or infinity.

    It stops when no value moves by more than `tolerance`, which says nothing about how far the value still is: on the
    coin protocol with K=60 it is off by 1.8e-3 at a tolerance of 1e-6. So the status is LOWER_ONLY unless the graph
    decides everything. It is here to be compared with, and as a cheap lower bound.

    With rewards of both signs values from 0 upwards are no bound at all; then the lower bound is minus infinity.

    Args:
        model: a chain or an MDP, without intervals.
        objective: what is asked.
        tolerance: it stops when no value moves by more than this part of it.
        max_sweeps: how often to go over all choices at most.
        engine: who sweeps; see `optimistic`.

    Raises:
        BadArgument: the objective does not fit the model, or an argument is out of its range.

    Source: Bellman 1957; Haddad, Monmege 2018, section 2 (why it stops too early).

    Example:
        >>> from surefoot.models import MarkovChain
        >>> coins = MarkovChain(choice_start=[0, 1, 2, 2, 2], branch_start=[0, 2, 4], target=[1, 3, 0, 2],
        ...                     probability=[0.5, 0.5, 0.5, 0.5], initial=0, labels={"goal": [2]})
        >>> found = value_iteration(coins, Objective(coins.labels["goal"]))
        >>> found.status.name, bool(found.lower[0] <= 1 / 3), float(found.upper[0])
        ('LOWER_ONLY', True, 1.0)
    """
    check_budget(tolerance, max_sweeps)
    reduced = reduce(model, objective)
    solution = reduced.expand(_iterate(reduced.problem, tolerance, max_sweeps, engine))
    if solution.status is Status.EXACT:
        return solution
    return Solution(Status.LOWER_ONLY, solution.lower, solution.upper, solution.policy, solution.sweeps)


def _iterate(problem: Problem, tolerance: float, max_sweeps: int, engine: Engine) -> Enclosure:
    """Sweep from 0 until little moves."""
    sweeps = sweeps_of(problem, engine)
    values, policy, count = np.zeros(problem.size), problem.choice_start[:-1].copy(), 0
    while count < max_sweeps and problem.size:
        new, policy = sweeps.improve(values, pushes(problem, values)[0])
        count += 1
        moved = bool((np.abs(new - values) > tolerance * relative_size(problem, new)).any())
        values = new
        if not moved:
            break
    lower = values if problem.relative else np.full(problem.size, -np.inf)
    return Enclosure(lower, np.full(problem.size, np.inf), policy, count, False)
