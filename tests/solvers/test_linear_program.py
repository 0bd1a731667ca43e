from __future__ import annotations

from surefoot.models.solution import Solver
from surefoot.solvers.linear_program import linear_program
from surefoot.testing.solvers import SolverContract


class TestLinearProgram(SolverContract):
    models = 10

    def solver(self) -> Solver:
        return linear_program
