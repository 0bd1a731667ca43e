"""Sweeps over a problem, compiled by numba: every node from the newest values (Gauss-Seidel).

The functions are plain Python, so that they can be read and tested without numba; `NumbaSweeps` compiles them at its
first use and keeps what it compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.models._compiled import compiled
from surefoot.solvers._problem import Problem

__all__ = ["NumbaSweeps", "sweep_all", "sweep_intervals", "sweep_policy"]

Values = NDArray[np.float64]


def sweep_all(
    choice_start: Any,
    branch_start: Any,
    target: Any,
    weight: Any,
    constant: Any,
    maximise: bool,
    values: Any,
    policy: Any,
    factor: float,
    shift: float,
) -> None:
    """Set every value to that of its best choice, and `policy` to that choice, in place."""
    for node in range(len(choice_start) - 1):
        first = choice_start[node]
        best, chosen = 0.0, first
        for choice in range(first, choice_start[node + 1]):
            worth = constant[choice]
            for branch in range(branch_start[choice], branch_start[choice + 1]):
                worth += weight[branch] * values[target[branch]]
            if choice == first or (worth > best if maximise else worth < best):
                best, chosen = worth, choice
        values[node] = best * factor + shift
        policy[node] = chosen


def sweep_policy(
    branch_start: Any,
    target: Any,
    weight: Any,
    constant: Any,
    policy: Any,
    values: Any,
    change: Any,
    before: Any,
    factor: float,
    shift: float,
    sweeps: int,
) -> None:
    """Set every value to that of its chosen choice, `sweeps` times, in place; keep the last two changes."""
    for sweep in range(sweeps):
        for node in range(len(policy)):
            choice = policy[node]
            worth = constant[choice]
            for branch in range(branch_start[choice], branch_start[choice + 1]):
                worth += weight[branch] * values[target[branch]]
            worth = worth * factor + shift
            if sweep == sweeps - 2:
                before[node] = worth - values[node]
            elif sweep == sweeps - 1:
                change[node] = worth - values[node]
            values[node] = worth


def sweep_intervals(
    choice_start: Any,
    branch_start: Any,
    target: Any,
    lower: Any,
    upper: Any,
    constant: Any,
    extra: Any,
    maximise: bool,
    most: bool,
    values: Any,
    policy: Any,
    order: Any,
    picked: Any,
    factor: float,
    shift: float,
) -> None:
    """Set every value to that of its best choice, where `most` says whether the intervals are picked for or against it.

    `order` keeps the branches of each choice sorted by what they are worth; from one sweep to the next it changes
    little.
    """
    for node in range(len(choice_start) - 1):
        first = choice_start[node]
        best, chosen = 0.0, first
        for choice in range(first, choice_start[node + 1]):
            begin, end = branch_start[choice], branch_start[choice + 1]
            left = 1.0
            for place in range(begin, end):
                left -= lower[place]
            for place in range(begin + 1, end):
                branch = order[place]
                worth = values[target[branch]] + (extra[branch] if len(extra) else 0.0)
                back = place - 1
                while back >= begin:
                    other = order[back]
                    than = values[target[other]] + (extra[other] if len(extra) else 0.0)
                    if (than >= worth) if most else (than <= worth):
                        break
                    order[back + 1] = other
                    back -= 1
                order[back + 1] = branch
            total = constant[choice]
            for place in range(begin, end):
                branch = order[place]
                given = min(max(left, 0.0), upper[branch] - lower[branch])
                left -= given
                share = lower[branch] + given
                picked[branch] = share
                total += share * (values[target[branch]] + (extra[branch] if len(extra) else 0.0))
            if choice == first or (total > best if maximise else total < best):
                best, chosen = total, choice
        values[node] = best * factor + shift
        policy[node] = chosen


class NumbaSweeps:
    """Sweep over the nodes of a problem; the methods mean what those of `NumpySweeps` mean."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._all, self._policy = compiled(sweep_all), compiled(sweep_policy)

    def improve(self, values: Values, push: tuple[float, float]) -> tuple[Values, NDArray[np.int64]]:
        """Return the values after one sweep over all choices, and the best choice of each node."""
        problem = self.problem
        new, policy = values.copy(), np.empty(problem.size, np.int64)
        self._all(
            problem.choice_start,
            problem.branch_start,
            problem.target,
            problem.weight,
            problem.constant,
            problem.direction == "max",
            new,
            policy,
            *push,
        )
        return new, policy

    def check(self, values: Values, push: tuple[float, float]) -> Values:
        """Return the values after one sweep over all choices."""
        return self.improve(values, push)[0]

    def evaluate(
        self, policy: NDArray[np.int64], values: Values, push: tuple[float, float], sweeps: int
    ) -> tuple[Values, Values, Values]:
        """Return the values after some sweeps (at least 2) over the choices of a policy, and the last two changes."""
        problem = self.problem
        new, change, before = values.copy(), np.empty_like(values), np.empty_like(values)
        self._policy(
            problem.branch_start,
            problem.target,
            problem.weight,
            problem.constant,
            policy,
            new,
            change,
            before,
            *push,
            max(sweeps, 2),
        )
        return new, change, before

    def steps(self, policy: NDArray[np.int64], size: Values, start: Values, sweeps: int) -> tuple[Values, Values]:
        """Return, after some more sweeps, how many steps are to come, each counted as `size`; and the last change."""
        problem = self.problem
        new, change = start.copy(), np.empty_like(start)
        constant = np.zeros_like(problem.constant)
        constant[policy] = size
        self._policy(
            problem.branch_start,
            problem.target,
            problem.weight,
            constant,
            policy,
            new,
            change,
            np.empty_like(start),
            1.0,
            0.0,
            sweeps,
        )
        return new, change
