from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import BadArgument
from surefoot.models.solution import Objective, Solution, Status, check_objective
from surefoot.testing.solvers import random_model


def test_a_solution_cannot_be_changed_and_says_how_far_its_bounds_are_apart() -> None:
    found = Solution(Status.CERTIFIED, np.array([0.25, np.inf]), np.array([0.5, np.inf]), np.array([0, 1]), 3)
    assert found.gap == 0.25
    assert found.bounds(1) == (np.inf, np.inf)
    with pytest.raises(ValueError, match="read-only"):
        found.lower[0] = 1.0
    assert "certified" in repr(found)


def test_there_is_no_single_number_to_take_for_an_answer() -> None:
    found = Solution(Status.LOWER_ONLY, np.array([0.25]), np.array([1.0]), None, 3)
    assert not hasattr(found, "value")
    with pytest.raises(TypeError):
        float(found)  # type: ignore[arg-type]  # wrong on purpose


def test_an_objective_must_fit_the_model() -> None:
    model = random_model(1)
    check_objective(model, Objective(model.labels["goal"], reward=np.zeros(model.n_choices)))
    for name, size in (("through", 4), ("reward", model.n_choices + 1)):
        arguments = {name: np.zeros(size, bool if name == "through" else float)}
        with pytest.raises(BadArgument, match=f"{name} has {size} entries"):
            check_objective(model, Objective(model.labels["goal"], **arguments))  # type: ignore[arg-type]  # of several types
