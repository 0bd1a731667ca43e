"""Policy iteration with sparse linear equations: for problems whose runs are long and whose graph is narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, eye_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from surefoot.models.components import reach_back
from surefoot.solvers._problem import Problem, spans

if TYPE_CHECKING:
    from surefoot.solvers._enclose import Sweeps

__all__ = ["cost_of_equations", "policy_rows", "solve_directly"]

Values = NDArray[np.float64]
_ROUNDS = 200
_LEAST = 64.0


def policy_rows(problem: Problem, policy: NDArray[np.int64]) -> csr_matrix:
    """Return the (N, N) matrix of the rows that a policy takes."""
    where = spans(problem.branch_start[policy], problem.branch_start[policy + 1])
    start = np.zeros(problem.size + 1, np.int64)
    np.cumsum(problem.branch_start[policy + 1] - problem.branch_start[policy], out=start[1:])
    return csr_matrix((problem.weight[where], problem.target[where], start), (problem.size, problem.size))


def cost_of_equations(problem: Problem, policy: NDArray[np.int64]) -> float:
    """Return what factorising costs, in visits of a branch by a sweep, judged by the bandwidth of the graph."""
    rows = policy_rows(problem, policy)
    shape = rows + rows.T
    order = reverse_cuthill_mckee(csr_matrix(shape), symmetric_mode=True)
    place = np.empty(problem.size, np.int64)
    place[order] = np.arange(problem.size)
    owner = np.repeat(np.arange(problem.size), np.diff(rows.indptr))
    reach = np.abs(place[owner] - place[rows.indices])
    # The sum over rows of the square of how far they reach: what elimination inside the band costs.
    furthest = np.maximum.reduceat(np.append(reach, 0), rows.indptr[:-1])
    return float((furthest.astype(np.float64) ** 2).sum()) + 300.0 * problem.size


def _ending(problem: Problem) -> NDArray[np.int64]:
    """Return a policy that ends: choices that leave the problem with some probability, elsewhere a way to those."""
    count = len(problem.constant)
    owner = np.repeat(np.arange(count), np.diff(problem.branch_start))
    ends = np.bincount(owner, problem.weight, minlength=count) < 1 - 1e-12
    nodes = np.repeat(np.arange(problem.size), np.diff(problem.choice_start))
    policy = problem.choice_start[:-1].copy()
    policy[nodes[ends][::-1]] = np.flatnonzero(ends)[::-1]
    goals = np.zeros(problem.size, bool)
    goals[nodes[ends]] = True
    _, nearer = reach_back(problem, goals)
    return np.where(nearer >= 0, nearer, policy)


def solve_directly(
    problem: Problem, sweeps: Sweeps, tolerance: float, *, policy: NDArray[np.int64] | None = None
) -> tuple[Values, Values, NDArray[np.int64]] | None:
    """Return the solution up to rounding, a slack that makes it provable, and the policy. None: it was not to be had.

    The slack is a small part of the value, paid at every step: what is then gained on every step is more than what
    rounding can take.

    Source: Howard 1960; Puterman 1994, section 6.4.
    """
    policy = _ending(problem) if policy is None else policy
    identity = eye_array(problem.size, format="csc")
    values: Values | None = None
    for _ in range(_ROUNDS):
        try:
            factors = splu((identity - policy_rows(problem, policy)).tocsc())
        except (RuntimeError, MemoryError):  # singular to rounding, or too large
            return None
        values = factors.solve(problem.constant[policy])
        better, wanted = sweeps.improve(values, (1.0, 0.0))
        kept = problem.constant[policy] + policy_rows(problem, policy) @ values
        gain = better - kept if problem.direction == "max" else kept - better
        small = 1e-13 * np.maximum(np.abs(values), problem.floor) + 1e-290
        change = gain > small
        if not change.any():
            size = np.maximum(np.abs(values), problem.floor)
            steps = factors.solve(size)
            with np.errstate(divide="ignore", invalid="ignore"):
                longest = float(np.nanmax(np.where(size > 0, steps / size, 0.0), initial=1.0))
            part = max(tolerance / (4 * longest), _LEAST * problem.rounding)
            return values, part * steps, policy
        policy = np.where(change, wanted, policy)
    return None
