"""Sweeps over a problem with NumPy and SciPy: every node from the values of the sweep before (Jacobi)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from surefoot.solvers._problem import Problem

__all__ = ["NumpySweeps", "sums_of_changes"]

Values = NDArray[np.float64]
_FAR = 1e60  # so that squares stay finite


def sums_of_changes(values: Values, change: Values, before: Values, floor: float) -> tuple[float, ...]:
    """Return the largest of the last changes and of those before; the sums of c², cb and b². All relative to values."""
    size = np.maximum(np.abs(values), floor)
    new, old = np.clip(change / size, -_FAR, _FAR), np.clip(before / size, -_FAR, _FAR)
    return (  # sums of products, not `@`: that would wake the threads of BLAS, which wait in a loop afterwards
        float(np.abs(new).max(initial=0.0)),
        float(np.abs(old).max(initial=0.0)),
        float((new * new).sum()),
        float((new * old).sum()),
        float((old * old).sum()),
    )


class NumpySweeps:
    """Sweep over the nodes of a problem.

    Each method takes `push`, a pair (factor, shift) that moves every new value to the safe side of what rounding may
    have done: new = value * factor + shift. (1.0, 0.0) does nothing.
    """

    patience = 40.0

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        shape = (len(problem.constant), problem.size)
        self.matrix = csr_matrix((problem.weight, problem.target, problem.branch_start), shape)
        self.best = np.maximum if problem.direction == "max" else np.minimum
        self.owner = np.repeat(np.arange(problem.size), np.diff(problem.choice_start))
        self._chosen: NDArray[np.int64] | None = None
        self._rows: csr_matrix | None = None

    def improve(self, values: Values, push: tuple[float, float]) -> tuple[Values, NDArray[np.int64]]:
        """Return the values after one sweep over all choices, and the best choice of each node."""
        problem = self.problem
        worth = self.matrix @ values
        worth += problem.constant
        best = self.best.reduceat(worth, problem.choice_start[:-1])
        hits = np.flatnonzero(worth == best[self.owner])[::-1]
        policy = np.empty(problem.size, np.int64)
        policy[self.owner[hits]] = hits  # of several that are best, the first is written last
        return best * push[0] + push[1], policy

    def check(self, values: Values, push: tuple[float, float]) -> Values:
        """Return the values after one sweep over all choices."""
        worth = self.matrix @ values
        worth += self.problem.constant
        best = self.best.reduceat(worth, self.problem.choice_start[:-1])
        return best * push[0] + push[1]

    def evaluate(
        self, policy: NDArray[np.int64], values: Values, push: tuple[float, float], sweeps: int
    ) -> tuple[Values, Values, Values]:
        """Return the values after some sweeps (at least 2) over the choices of a policy, and the last two changes."""
        if self._chosen is not policy:
            self._rows, self._chosen = self.matrix[policy], policy
        rows, constant = self._rows, self.problem.constant[policy] * push[0] + push[1]
        assert rows is not None
        last = [values, values, values]
        for _ in range(max(sweeps, 2)):
            new = rows @ last[-1]
            if push[0] != 1.0:
                new *= push[0]
            new += constant
            last = [*last[1:], new]
        return last[2], last[2] - last[1], last[1] - last[0]

    def steps(self, policy: NDArray[np.int64], size: Values, start: Values, sweeps: int) -> tuple[Values, Values]:
        """Return, after some more sweeps, how many steps are to come, each counted as `size`; and the last change."""
        if self._chosen is not policy:
            self._rows, self._chosen = self.matrix[policy], policy
        rows = self._rows
        assert rows is not None
        change = size
        for _ in range(sweeps):
            new = rows @ start + size
            change, start = new - start, new
        return start, change

    def sums(self, values: Values, change: Values, before: Values, floor: float) -> tuple[float, ...]:
        """Return what `sums_of_changes` does."""
        return sums_of_changes(values, change, before, floor)
