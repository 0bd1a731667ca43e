from __future__ import annotations

from surefoot.models.solution import Solver
from surefoot.solvers.policy_iteration import policy_iteration
from surefoot.testing.solvers import SolverContract


class TestPolicyIteration(SolverContract):
    models = 10

    def solver(self) -> Solver:
        return policy_iteration
