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

__all__ = ["NumbaSweeps", "sum_changes", "sweep_all", "sweep_intervals", "sweep_policy", "take_rows"]

Values = NDArray[np.float64]


def sweep_all(
    choice_start: Any,
    branch_start: Any,
    target: Any,
    weight: Any,
    constant: Any,
    sign: float,
    values: Any,
    policy: Any,
    factor: float,
    shift: float,
) -> None:
    """Set every value to that of its best choice, and `policy` to that choice, in place; `sign` is -1 for the least.

    The best is kept without a branch: which choice is best cannot be foreseen, and a wrong guess of the processor costs
    as much as several branches of a model.
    """
    branch, choice = branch_start[0], choice_start[0]
    for node in range(len(choice_start) - 1):
        best, chosen, last = -np.inf, choice, choice_start[node + 1]
        while choice < last:
            worth, end = constant[choice], branch_start[choice + 1]
            while branch < end:
                worth += weight[branch] * values[target[branch]]
                branch += 1
            worth *= sign
            chosen = choice if worth > best else chosen
            best = max(best, worth)
            choice += 1
        values[node] = best * sign * factor + shift
        policy[node] = chosen


def take_rows(
    branch_start: Any,
    target: Any,
    weight: Any,
    constant: Any,
    policy: Any,
    row_start: Any,
    to: Any,
    share: Any,
    due: Any,
) -> None:
    """Copy the rows that a policy takes to where they stand one after the other."""
    end = 0
    for node in range(len(policy)):
        choice = policy[node]
        due[node] = constant[choice]
        for branch in range(branch_start[choice], branch_start[choice + 1]):
            to[end], share[end] = target[branch], weight[branch]
            end += 1
        row_start[node + 1] = end


def sweep_policy(
    row_start: Any,
    target: Any,
    weight: Any,
    constant: Any,
    values: Any,
    change: Any,
    before: Any,
    factor: float,
    shift: float,
    sweeps: int,
) -> None:
    """Set every value to that of its row, `sweeps` times, in place; keep the last two changes."""
    for sweep in range(sweeps):
        branch = 0
        kept = before if sweep == sweeps - 2 else change
        for node in range(len(constant)):
            worth, end = constant[node], row_start[node + 1]
            while branch < end:
                worth += weight[branch] * values[target[branch]]
                branch += 1
            worth = worth * factor + shift
            kept[node] = worth - values[node]
            values[node] = worth


def sum_changes(values: Any, change: Any, before: Any, floor: float) -> tuple[float, float, float, float, float]:
    """Return the largest of the last changes and of those before; the sums of c², cb and b². All relative to values."""
    last = earlier = squares = both = others = 0.0
    for node in range(len(values)):
        size = max(abs(values[node]), floor)
        new = min(max(change[node] / size, -1e60), 1e60)
        old = min(max(before[node] / size, -1e60), 1e60)
        last, earlier = max(last, abs(new)), max(earlier, abs(old))
        squares += new * new
        both += new * old
        others += old * old
    return last, earlier, squares, both, others


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

    patience = 6.0

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._target = problem.target.view(np.uint32)  # a number that has no sign need not be looked at for one
        self._sign = 1.0 if problem.direction == "max" else -1.0
        self._policy: NDArray[np.int64] | None = None
        self._rows: tuple[Any, ...] = ()

    def improve(self, values: Values, push: tuple[float, float]) -> tuple[Values, NDArray[np.int64]]:
        """Return the values after one sweep over all choices, and the best choice of each node."""
        problem = self.problem
        new, policy = values.copy(), np.empty(problem.size, np.int64)
        compiled(sweep_all)(
            problem.choice_start,
            problem.branch_start,
            self._target,
            problem.weight,
            problem.constant,
            self._sign,
            new,
            policy,
            *push,
        )
        return new, policy

    def check(self, values: Values, push: tuple[float, float]) -> Values:
        """Return the values after one sweep over all choices."""
        return self.improve(values, push)[0]

    def _taken(self, policy: NDArray[np.int64]) -> tuple[Any, ...]:
        """Return the rows of a policy, in one piece."""
        if policy is not self._policy:
            problem = self.problem
            if not self._rows:
                longest = np.maximum.reduceat(np.diff(problem.branch_start), problem.choice_start[:-1])
                count = int(longest.sum())
                self._rows = (
                    np.zeros(problem.size + 1, np.int64),
                    np.empty(count, np.uint32),
                    np.empty(count),
                    np.empty(problem.size),
                )
            compiled(take_rows)(
                problem.branch_start, self._target, problem.weight, problem.constant, policy, *self._rows
            )
            self._policy = policy
        return self._rows

    def evaluate(
        self, policy: NDArray[np.int64], values: Values, push: tuple[float, float], sweeps: int
    ) -> tuple[Values, Values, Values]:
        """Return the values after some sweeps (at least 2) over the choices of a policy, and the last two changes."""
        new, change, before = values.copy(), np.empty_like(values), np.empty_like(values)
        compiled(sweep_policy)(*self._taken(policy), new, change, before, *push, max(sweeps, 2))
        return new, change, before

    def steps(self, policy: NDArray[np.int64], size: Values, start: Values, sweeps: int) -> tuple[Values, Values]:
        """Return, after some more sweeps, how many steps are to come, each counted as `size`; and the last change."""
        new, change = start.copy(), np.empty_like(start)
        rows = self._taken(policy)[:3]
        compiled(sweep_policy)(*rows, size, new, change, np.empty_like(start), 1.0, 0.0, sweeps)
        return new, change

    def sums(self, values: Values, change: Values, before: Values, floor: float) -> tuple[float, ...]:
        """Return what `sum_changes` does."""
        return tuple(compiled(sum_changes)(values, change, before, floor))
