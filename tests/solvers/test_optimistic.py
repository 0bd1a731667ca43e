from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefoot.checking.certificate import confirm
from surefoot.errors import BadArgument
from surefoot.models import MDP, MarkovChain, RewardModel
from surefoot.models.examples import random_mdp
from surefoot.models.solution import Objective, Solver, Status
from surefoot.solvers._enclose import Engine
from surefoot.solvers.optimistic import optimistic
from surefoot.testing.solvers import SolverContract, assert_bounds, exact_values, random_model


class TestOptimistic(SolverContract):
    models = 12

    def solver(self) -> Solver:
        return optimistic


COUNTS = [100, pytest.param(1000, marks=pytest.mark.nightly)]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_random_models_against_a_naive_twin_in_fractions(engine: Engine, count: int) -> None:
    if engine == "numba":
        pytest.importorskip("numba", reason="the package numba (extra: fast) is not installed")
    for seed in range(count):
        model = random_model([20, seed], states=4, ends=1 + seed % 2)
        objective = Objective(model.labels["goal"], "max" if seed % 4 < 2 else "min")
        assert_bounds(optimistic(model, objective, engine=engine), exact_values(model, objective), what=f"{seed}: ")


@pytest.mark.parametrize("count", COUNTS)
def test_rewards_below_0_of_random_models(count: int) -> None:
    for seed in range(count):
        model = random_model([21, seed], states=4, ends=1, actions=1 + seed % 2, signed=True)
        objective = Objective(model.labels["goal"], "max", reward=model.expected_reward("cost"))
        found = optimistic(model, objective, engine="numpy")
        assert_bounds(found, exact_values(model, objective), what=f"{seed}: ")
        assert found.status is not Status.LOOSE


def test_the_least_of_rewards_below_0_is_bounded_or_minus_infinity() -> None:
    """Where no cycle pays less and less, the best policy without memory is the best."""
    loose = 0
    for seed in range(60):
        model = random_model([22, seed], states=4, ends=1, signed=True)
        objective = Objective(model.labels["goal"], "min", reward=model.expected_reward("cost"))
        found = optimistic(model, objective, engine="numpy")
        for state, value in enumerate(exact_values(model, objective)):
            lower, upper = found.bounds(state)
            if upper == -np.inf:
                continue  # a cycle pays less and less: what no policy without memory shows
            loose += lower == -np.inf
            assert lower <= value <= upper, f"{seed}: state {state}: {value} is not in [{lower}, {upper}]"
    assert loose <= 2


def chain_of_minus_100() -> MarkovChain:
    """Return the chain on which Storm 2.0 certifies -59.5: half of the time it goes round, and each step costs 50."""
    return MarkovChain(
        choice_start=[0, 1, 2, 2],
        branch_start=[0, 2, 3],
        target=[1, 2, 0],
        probability=[0.5, 0.5, 1.0],
        initial=0,
        labels={"target": [2]},
        rewards={"r": RewardModel(state=[-50.0, 0.0, 0.0])},
    )


def test_minus_100_is_minus_100() -> None:
    model = chain_of_minus_100()
    found = optimistic(model, Objective(model.labels["target"], reward=model.expected_reward("r")))
    assert found.status is Status.CERTIFIED
    assert found.lower[0] <= -100.0 <= found.upper[0]
    assert found.upper[0] - found.lower[0] < 1e-3


def test_a_cycle_that_pays_is_taken_for_ever() -> None:
    model = MDP(
        choice_start=[0, 2, 2],
        choice_action=[0, 1],
        branch_start=[0, 1, 2],
        target=[0, 1],
        probability=[1.0, 1.0],
        initial=0,
        labels={"target": [1]},
    )
    objective = Objective(model.labels["target"], "min", reward=np.array([-1.0, 5.0]))
    assert optimistic(model, objective).bounds(0) == (-np.inf, -np.inf)
    free = Objective(model.labels["target"], "min", reward=np.array([0.0, 5.0]))
    lower, upper = optimistic(model, free).bounds(0)
    assert lower <= 5.0 <= upper < 5.1
    most = Objective(model.labels["target"], "max", reward=np.array([-1.0, 5.0]))
    assert optimistic(model, most).bounds(0) == (np.inf, np.inf)


def test_out_of_budget_says_so_and_the_bounds_hold() -> None:
    model = random_mdp(300, actions=1, branches=3, seed=3)
    goal, bad = np.zeros(300, bool), np.zeros(300, bool)
    goal[10:12], bad[20:22] = True, True
    objective = Objective(goal, "max", through=~bad)
    short = optimistic(model, objective, max_sweeps=2)
    assert short.status is Status.LOOSE
    sound = optimistic(model, objective)
    assert sound.status is Status.CERTIFIED
    assert np.all(short.lower <= sound.upper)
    assert np.all(sound.lower <= short.upper)
    assert repr(short).startswith("<Solution: 300 states, loose")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tolerance": 0.0}, "tolerance must be in"),
        ({"max_sweeps": 0}, "max_sweeps must be at least 1"),
        ({"engine": "gpu"}, "engine must be 'auto', 'numba' or 'numpy'"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    model = random_model(1)
    with pytest.raises(BadArgument, match=message):
        optimistic(model, Objective(model.labels["goal"]), **change)


def test_objectives_that_do_not_fit_are_refused() -> None:
    model = random_model(1)
    with pytest.raises(BadArgument, match="target has 3 entries; the model has 5 states"):
        optimistic(model, Objective(np.zeros(3, bool)))
    with pytest.raises(BadArgument, match="direction must be 'max' or 'min', got 'most'"):
        Objective(np.zeros(5, bool), "most")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(BadArgument, match="through is for probabilities"):
        Objective(np.zeros(5, bool), through=np.ones(5, bool), reward=np.zeros(model.n_choices))
    interval = model.replace(lower=model.probability, upper=model.probability)
    with pytest.raises(BadArgument, match=r"use surefoot\.solvers\.robust"):
        optimistic(interval, Objective(model.labels["goal"]))
    with pytest.raises(BadArgument, match="transition rewards are for interval models"):
        optimistic(model, Objective(model.labels["goal"], transition=np.zeros(model.n_branches)))


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_long_runs_through_a_graph_without_order_take_few_sweeps(engine: Engine) -> None:
    """A run takes 1e5 steps, and all changes shrink by the same factor just below 1: no bound needs as many sweeps."""
    if engine == "numba":
        pytest.importorskip("numba", reason="the package numba (extra: fast) is not installed")
    rng = np.random.default_rng(5)
    states, rows = 400, 800
    target = np.c_[np.sort(rng.permuted(np.tile(np.arange(states), (rows, 1)), axis=1)[:, :3]), np.full(rows, states)]
    target[rng.random(rows) < 0.5, 3] += 1
    leaves = 1e-5 * (0.5 + rng.random(rows))
    share = np.c_[np.tile((1 - leaves)[:, None] / 3, 3), leaves]
    model = MDP(
        choice_start=np.r_[np.arange(0, rows + 1, 2), rows, rows],
        choice_action=np.tile(np.arange(2, dtype=np.int32), states),
        branch_start=np.arange(rows + 1) * 4,
        target=target.ravel().astype(np.int32),
        probability=share.ravel(),
        initial=0,
        labels={"goal": [states], "over": [states, states + 1]},
        rewards={"steps": RewardModel(choice=np.ones(rows))},
    )
    least = Objective(model.labels["over"], "min", reward=model.expected_reward("steps"))
    for text, objective in (
        ('Pmax=? [ F "goal" ]', Objective(model.labels["goal"])),
        ('R{"steps"}min=? [ F "over" ]', least),
    ):
        found = optimistic(model, objective, engine=engine)
        assert found.status is Status.CERTIFIED
        assert found.sweeps < 2_000
        confirm(model, text, found.policy, found.lower, found.upper)
