from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from surefoot.models import Model
from surefoot.models.solution import Objective, Solution, Solver
from surefoot.solvers.optimistic import optimistic
from surefoot.testing.solvers import SolverContract, assert_bounds, exact_values, random_model


def lying(change: Any) -> Solver:
    """Return a solver that is right but for one change."""

    def solve(
        model: Model, objective: Objective, /, *, tolerance: float = 1e-6, max_sweeps: int = 1_000_000
    ) -> Solution:
        return dataclasses.replace(optimistic(model, objective, tolerance=tolerance), **change(model, objective))

    return solve


def too_high(model: Model, objective: Objective) -> dict[str, Any]:
    return {"lower": np.minimum(optimistic(model, objective).lower + 1e-3, 1.0)}


def too_wide(model: Model, objective: Objective) -> dict[str, Any]:
    return {"lower": optimistic(model, objective).lower * 0.9}


def first_choice(model: Model, objective: Objective) -> dict[str, Any]:
    return {"policy": np.where(np.diff(model.choice_start) > 0, model.choice_start[:-1], -1)}


@pytest.mark.parametrize("change", [too_high, too_wide, first_choice])
def test_the_contract_catches_a_liar(change: Any) -> None:
    class Liar(SolverContract):
        models = 15

        def solver(self) -> Solver:
            return lying(change)

    with pytest.raises(AssertionError):
        Liar().test_bounds_of_probabilities_hold()


def test_a_contract_without_a_solver_says_so() -> None:
    with pytest.raises(NotImplementedError):
        SolverContract().test_bounds_of_probabilities_hold()


def test_exact_values_are_what_can_be_worked_out_by_hand() -> None:
    model = random_model(5, states=4)
    values = exact_values(model, Objective(model.labels["goal"]))
    assert values[3] == 1
    with pytest.raises(AssertionError, match="state 3: 1 is not in"):
        assert_bounds(Solution(None, np.zeros(4), np.full(4, 0.5), None, 0), [0, 0, 0, 1])  # type: ignore[arg-type]  # a stand-in
