from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadArgument
from surefoot.models import Model
from surefoot.models.components import Direction
from surefoot.models.solution import Status
from surefoot.solvers.discounted import discounted
from surefoot.testing.solvers import _rows, _solve, random_model


def exact(model: Model, reward: np.ndarray, discount: float, direction: str) -> list[Fraction]:
    """Every policy, its linear equations in fractions."""
    best: list[Any] = []
    take: Any = max if direction == "max" else min
    for policy in itertools.product(*(model.choices(s) or [-1] for s in range(model.n_states))):
        rows, size, factor = _rows(model, list(policy)), model.n_states, Fraction(discount)
        matrix = [[Fraction(int(i == j)) - factor * rows[i].get(j, 0) for j in range(size)] for i in range(size)]
        right = [Fraction(float(reward[c])) if c >= 0 else Fraction(0) for c in policy]
        values = _solve(matrix, right)
        best = values if not best else [take(a, b) for a, b in zip(best, values, strict=True)]
    return best


@pytest.mark.parametrize("direction", ["max", "min"])
def test_bounds_hold_on_random_models(direction: Direction) -> None:
    for seed in range(25):
        model = random_model([51, seed], states=4, signed=seed % 2 == 0)
        reward = model.expected_reward("cost")
        values = exact(model, reward, 0.875, direction)
        interval = model.replace(lower=model.probability, upper=model.probability)
        for one in (model, interval):
            found = discounted(one, reward, 0.875, direction)
            assert found.status is Status.CERTIFIED
            assert all(a <= v <= b for a, v, b in zip(found.lower, values, found.upper, strict=True)), seed
            assert found.gap < 1e-4


def test_a_loop_pays_for_ever() -> None:
    model = random_model(1)
    with pytest.raises(BadArgument, match=r"discount must be in \(0, 1\), got 1.0"):
        discounted(model, np.zeros(model.n_choices), 1.0)
