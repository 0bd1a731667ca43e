"""Linear programming: the values as the solution of inequalities, by HiGHS, then a proof of what it returned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from surefoot.models.model import Model
from surefoot.models.solution import Objective, Solution
from surefoot.solvers._direct import solve_directly
from surefoot.solvers._enclose import Enclosure, Engine, enclose, proved_directly, sweeps_of
from surefoot.solvers._problem import Problem
from surefoot.solvers._reduce import solved_by
from surefoot.solvers.optimistic import check_budget

__all__ = ["linear_program"]


def linear_program(
    model: Model,
    objective: Objective,
    /,
    *,
    tolerance: float = 1e-6,
    max_sweeps: int = 1_000_000,
    engine: Engine = "auto",
) -> Solution:
    """Return bounds from the solution of a linear program, which HiGHS finds to about 1e-7 and we then prove.

    Args:
        model: a chain or an MDP, without intervals.
        objective: what is asked.
        tolerance: see `optimistic`.
        max_sweeps: how often to go over all choices at most, where the proof needs more than the program gave.
        engine: who sweeps; see `optimistic`.

    Raises:
        BadArgument: the objective does not fit the model, or an argument is out of its range.

    Cost: about a second for 10,000 states, growing faster than linear.

    Source: d'Epenoux 1963; Puterman 1994, section 6.9; HiGHS: Huangfu, Hall 2018.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> coins = MarkovChain(choice_start=[0, 1, 2, 2, 2], branch_start=[0, 2, 4], target=[1, 3, 0, 2],
        ...                     probability=[0.5, 0.5, 0.5, 0.5], initial=0, labels={"goal": [2]})
        >>> lower, upper = linear_program(coins, Objective(coins.labels["goal"])).bounds(0)
        >>> lower <= 1 / 3 <= upper and upper - lower < 1e-6
        True
    """
    check_budget(tolerance, max_sweeps)
    return solved_by(lambda problem: _solve(problem, tolerance, max_sweeps, engine), model, objective)


def _solve(problem: Problem, tolerance: float, max_sweeps: int, engine: Engine) -> Enclosure:
    """Ask HiGHS, take the policy it implies, and prove its values."""
    values = _values(problem) if problem.size else None
    if values is None:
        return enclose(problem, tolerance=tolerance, max_sweeps=max_sweeps, engine=engine)
    sweeps = sweeps_of(problem, engine)
    _, policy = sweeps.improve(values, (1.0, 0.0))
    found = solve_directly(problem, sweeps, tolerance, policy=policy)
    if found is not None:
        done = proved_directly(sweeps, *found, tolerance)
        if done.close:
            return done
    return enclose(problem, tolerance=tolerance, max_sweeps=max_sweeps, engine=engine)


def _values(problem: Problem) -> NDArray[np.float64] | None:
    """Return what HiGHS finds: the least values above all choices (`max`), or the greatest below them (`min`)."""
    size, count = problem.size, len(problem.constant)
    owner = np.repeat(np.arange(size), np.diff(problem.choice_start))
    own = csr_matrix((np.ones(count), owner, np.arange(count + 1)), (count, size))
    rows = csr_matrix((problem.weight, problem.target, problem.branch_start), (count, size))
    sign = 1.0 if problem.direction == "max" else -1.0
    done: Any = linprog(  # type: ignore[call-overload]  # scipy-stubs know dense matrices only; HiGHS takes sparse ones
        c=np.full(size, sign),
        A_ub=(rows - own) * sign,
        b_ub=-problem.constant * sign,
        bounds=(None, None),
        method="highs",
    )
    return np.asarray(done.x, dtype=np.float64) if done.status == 0 else None
