from __future__ import annotations

from surefoot.models.solution import Solver
from surefoot.solvers.interval_iteration import interval_iteration
from surefoot.testing.solvers import SolverContract


class TestIntervalIteration(SolverContract):
    models = 10

    def solver(self) -> Solver:
        return interval_iteration
