from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadArgument
from surefoot.models import MarkovChain, Model
from surefoot.models.components import Direction, bottom_components
from surefoot.models.solution import Objective, Status
from surefoot.solvers.long_run import long_run, total
from surefoot.testing.solvers import _chain_values, _rows, _solve, random_model

DIRECTIONS: tuple[Direction, ...] = ("max", "min")


def mean_of(model: Model, policy: list[int], reward: np.ndarray) -> list[Fraction]:
    """Return the mean reward of a policy: of each bottom component, times how likely it is to end up there."""
    rows = _rows(model, policy)
    pairs = [(s, t) for s, row in enumerate(rows) for t in row]
    count, number = bottom_components(
        MarkovChain(
            choice_start=np.r_[0, np.cumsum([bool(row) for row in rows])],
            branch_start=np.r_[0, np.cumsum([len(row) for row in rows if row])],
            target=np.array([t for _, t in pairs], np.int32),
            probability=np.array([float(rows[s][t]) for s, t in pairs]),
            initial=0,
        )
    )
    values = [Fraction(0)] * model.n_states
    for one in range(count):
        states = np.flatnonzero(number == one).tolist()
        if policy[states[0]] < 0:
            continue
        size = len(states)
        # pi (P - I) = 0, with the last equation replaced by sum pi = 1
        matrix = [
            [rows[states[j]].get(states[i], Fraction(0)) - int(i == j) for j in range(size)] for i in range(size - 1)
        ]
        matrix.append([Fraction(1)] * size)
        share = _solve(matrix, [Fraction(0)] * (size - 1) + [Fraction(1)])
        gain = sum(p * Fraction(float(reward[policy[s]])) for p, s in zip(share, states, strict=True))
        inside = np.isin(np.arange(model.n_states), states)
        reach = _chain_values(model, Objective(inside), policy)
        values = [v + gain * Fraction(r) for v, r in zip(values, reach, strict=True)]
    return values


def best(model: Model, direction: str, of: Any) -> list[Any]:
    take: Any = max if direction == "max" else min
    found: list[Any] = []
    for policy in itertools.product(*(model.choices(s) or [-1] for s in range(model.n_states))):
        values = of(list(policy))
        found = values if not found else [take(a, b) for a, b in zip(found, values, strict=True)]
    return found


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_mean_rewards_hold_on_random_models(direction: Direction) -> None:
    for seed in range(40):
        model = random_model([60, seed], states=4, ends=1, signed=seed % 2 == 0)
        reward = model.expected_reward("cost")
        found = long_run(model, reward, direction)
        exact = best(model, direction, lambda policy, m=model, r=reward: mean_of(m, policy, r))
        assert found.status is Status.CERTIFIED, seed
        assert all(a <= v <= b for a, v, b in zip(found.lower, exact, found.upper, strict=True)), seed
        assert found.policy is not None
        earned = mean_of(model, found.policy.tolist(), reward)
        slack = 1e-5
        for state, value in enumerate(earned):
            if direction == "max":
                assert value >= found.lower[state] - slack, seed
            else:
                assert value <= found.upper[state] + slack, seed


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_totals_hold_on_random_models(direction: Direction) -> None:
    """The total is what is paid until the states from which nothing is paid any more."""
    for seed in range(40):
        model = random_model([61, seed], states=4, ends=1)
        reward = model.expected_reward("cost")

        def of(policy: list[int], model: Model = model, reward: np.ndarray = reward) -> list[Any]:
            rows = _rows(model, policy)
            paying = {s for s, c in enumerate(policy) if c >= 0 and reward[c] > 0}
            for _ in range(4):
                paying |= {s for s, row in enumerate(rows) if any(t in paying for t in row)}
            over = ~np.isin(np.arange(4), list(paying))
            return list(_chain_values(model, Objective(over, reward=reward), policy))

        found = total(model, reward, direction)
        exact = best(model, direction, of)
        assert all(a <= v <= b for a, v, b in zip(found.lower, exact, found.upper, strict=True)), seed
        assert found.status is not Status.LOOSE


def test_what_need_not_exist_is_refused() -> None:
    model = random_model(1)
    interval = model.replace(lower=model.probability, upper=model.probability)
    zero = np.zeros(model.n_choices)
    with pytest.raises(BadArgument, match="need not exist"):
        total(model, zero - 1.0)
    with pytest.raises(BadArgument, match="interval"):
        total(interval, zero)
    with pytest.raises(BadArgument, match="interval"):
        long_run(interval, zero)
