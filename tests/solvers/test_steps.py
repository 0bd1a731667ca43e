from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from surefoot.errors import BadArgument
from surefoot.models.components import Direction
from surefoot.solvers.steps import Backup, steps
from surefoot.testing.solvers import random_model


def naive(model: object, values: list[Fraction], count: int, direction: str, reward: np.ndarray) -> list[Fraction]:
    """Return what the definition says, in fractions."""
    from surefoot.models import Model

    assert isinstance(model, Model)
    take = max if direction == "max" else min
    for _ in range(count):
        new = []
        for state in range(model.n_states):
            worth = [
                Fraction(float(reward[c]))
                + sum(
                    Fraction(float(model.probability[b])) * values[int(model.target[b])]
                    for b in range(int(model.branch_start[c]), int(model.branch_start[c + 1]))
                )
                for c in model.choices(state)
            ]
            new.append(take(worth) if worth else values[state])
        values = new
    return values


@pytest.mark.parametrize("direction", ["max", "min"])
def test_agrees_with_the_definition_in_fractions(direction: Direction) -> None:
    for seed in range(30):
        model = random_model([50, seed], states=6, signed=True)
        reward = model.expected_reward("cost")
        start = np.zeros(6)
        for count in (0, 1, 5):
            (lower, upper), policy = steps(Backup(model, direction, reward=reward), (start, start), count)
            exact = naive(model, [Fraction(0)] * 6, count, direction, reward)
            assert all(a <= v <= b for a, v, b in zip(lower, exact, upper, strict=True))
            assert float((upper - lower).max()) < 1e-10
            assert (policy is None) == (count == 0)


def test_a_negative_number_of_steps_is_refused() -> None:
    model = random_model(1)
    with pytest.raises(BadArgument, match="count must be at least 0, got -1"):
        steps(Backup(model, "max"), (np.zeros(5), np.zeros(5)), -1)


def test_states_that_keep_their_value_are_kept_and_a_still_sweep_ends_it() -> None:
    model = random_model(7)
    goal = model.labels["goal"]
    end = goal.astype(float)
    (lower, _), policy = steps(Backup(model, "max"), (end, end), 1_000_000, keep=np.ones(5, bool))
    assert np.array_equal(lower, end)
    assert policy is not None
