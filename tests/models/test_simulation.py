from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadArgument, BadModel, UnknownName
from surefoot.models import MDP, Model, RewardModel, draws
from surefoot.models.builder import from_dicts
from surefoot.models.examples import ALL, die, grid, monty_hall, monty_hall_blind, random_mdp, retries, tiger, weather
from surefoot.models.markov import ObservedModel
from surefoot.models.simulation import paths, simulate


def naive(model: Model, run: int, steps: int, seed: int) -> tuple[list[int], list[int], list[float], list[int]]:
    """Return states, actions, rewards and observations of one run under the even policy, one step at a time."""

    def pick(odds: Any, number: float) -> int:
        total = 0.0
        for place, probability in enumerate(odds):
            total += probability
            if number < total:
                return place
        return max(place for place, probability in enumerate(odds) if probability > 0)

    def observe(state: int, step: int) -> int:
        if not isinstance(model, ObservedModel):
            return -1
        seen, odds = model.observations_of(state)
        return int(seen[pick(odds, draws.uniform(seed, run, step, draws.OBSERVATION))])

    state = pick(model.initial, draws.uniform(seed, run, 0, draws.INITIAL))
    states, actions, rewards, seen = [state], [], [], [observe(state, 0)]
    for step in range(steps):
        if model.absorbing[state]:
            break
        choices = model.choices(state)
        choice = (
            choices[int(draws.uniform(seed, run, step, draws.POLICY) * len(choices))]
            if model.has_actions
            else choices[0]
        )
        low, high = int(model.branch_start[choice]), int(model.branch_start[choice + 1])
        branch = low + pick(model.probability[low:high], draws.uniform(seed, run, step, draws.TRANSITION))
        paid = 0.0
        for one in list(model.rewards.values())[:1]:
            paid += one.state[state] if one.state is not None else 0.0
            paid += one.choice[choice] if one.choice is not None else 0.0
            paid += one.transition[branch] if one.transition is not None else 0.0
        state = int(model.target[branch])
        states.append(state)
        actions.append(int(model.choice_action[choice]))
        rewards.append(paid)
        seen.append(observe(state, step + 1))
    return states, actions, rewards, seen


@pytest.mark.parametrize("name", [*ALL, "intervals", "random"])
def test_agrees_with_a_plain_loop(name: str) -> None:
    made = {"intervals": lambda: retries(loss=(0.1, 0.3)), "random": lambda: random_mdp(30, branches=5, seed=2)}
    model = (made | ALL)[name]()
    found = paths(model, runs=12, steps=9, seed=5)
    for run in range(12):
        states, actions, rewards, seen = naive(model, run, 9, 5)
        length = len(actions)
        assert found.length[run] == length
        assert found.state[run].tolist() == states + [-1] * (9 - length)
        assert found.action[run].tolist() == actions + [-1] * (9 - length)
        for table in list(found.reward.values())[:1]:
            assert table[run].tolist() == rewards + [0.0] * (9 - length)
        if found.observation is not None:
            assert found.observation[run].tolist() == seen + [-1] * (9 - length)


def test_simulate_and_paths_are_the_same_runs() -> None:
    model = grid(slip=0.3)
    every, summed = paths(model, runs=50, steps=30, seed=3), simulate(model, runs=50, steps=30, seed=3)
    assert np.array_equal(every.length, summed.length)
    assert np.array_equal(every.state[np.arange(50), every.length], summed.state)
    assert np.allclose(every.reward["cost"].sum(axis=1), summed.total["cost"])
    assert np.array_equal(np.bincount(every.state[every.state >= 0], minlength=model.n_states), summed.visits)
    assert summed.taken.sum() == summed.length.sum()
    assert np.array_equal(summed.ended, model.absorbing[summed.state])
    assert (repr(every), repr(summed)) == (
        f"<Paths: 50 runs, {every.length.sum()} steps>",
        f"<Simulation: 50 runs, {every.length.sum()} steps>",
    )
    assert len(every) == 50


def test_runs_do_not_depend_on_how_many_there_are() -> None:
    model = random_mdp(100, branches=3, goals=0, seed=1)
    many = paths(model, runs=20, steps=40, seed=9)
    few = paths(model, runs=5, steps=20, seed=9, first_run=10)
    assert np.array_equal(many.state[10:15, :21], few.state)
    assert not np.array_equal(many.state, paths(model, runs=20, steps=40, seed=10).state)
    assert np.array_equal(many.state, paths(model, runs=20, steps=40, seed=9).state)


def test_neighbouring_seeds_and_runs_are_independent() -> None:
    """On a fair coin, paths of neighbours agree half of the time, whatever the shift."""
    coin = from_dicts({"h": {"h": 0.5, "t": 0.5}, "t": {"h": 0.5, "t": 0.5}}, initial={"h": 0.5, "t": 0.5})
    one = paths(coin, runs=100, steps=200, seed=0).state
    other = paths(coin, runs=100, steps=200, seed=1).state
    for shift in (0, 1, 2):
        for a, b in ((one[:, shift:], other[:, : 201 - shift]), (one[:-1, shift:], one[1:, : 201 - shift])):
            assert abs((a == b).mean() - 0.5) < 4 * 0.5 / math.sqrt(a.size)


def test_frequencies_are_those_of_the_model() -> None:
    model = die()
    result = simulate(model, runs=60_000, steps=100, seed=11)
    assert result.ended.all()
    for face in ("one", "two", "three", "four", "five", "six"):
        assert abs(result.frequency(face) - 1 / 6) < 4 * math.sqrt(1 / 6 * 5 / 6 / 60_000)
    assert abs(result.mean() - 11 / 3) < 0.03
    taken = result.taken / np.add.reduceat(result.taken, model.branch_start[:-1]).repeat(2)
    assert np.abs(taken - 0.5).max() < 0.02


def test_policies_of_every_form_agree() -> None:
    model = monty_hall()
    names = {}
    for state in model.state_names:
        if state.startswith("pick"):
            names[state] = "middle"
        if state.startswith("decide"):
            names[state] = "switch"
    numbers = {model.state(state): model.action(action) for state, action in names.items()}
    table = np.full(model.n_states, -1)
    table[list(numbers)] = list(numbers.values())
    weights = np.zeros(model.n_choices)
    for number in range(model.n_states):
        if len(model.choices(number)) == 1:
            weights[model.choices(number)[0]] = 1.0
        elif number in numbers:
            weights[model.choice(number, numbers[number])] = 1.0
    policies: list[Any] = [names, numbers, table, weights, lambda states: table[states]]
    results = [simulate(model, policy, runs=3000, steps=10, seed=4) for policy in policies]
    assert all(np.array_equal(one.state, results[0].state) for one in results)
    assert abs(results[0].frequency("won") - 2 / 3) < 0.04


def test_weights_draw_choices() -> None:
    model = MDP(
        choice_start=[0, 3, 3, 3, 3],
        choice_action=[0, 1, 2],
        branch_start=[0, 1, 2, 3],
        target=[1, 2, 3],
        probability=[1, 1, 1],
        initial=0,
    )
    result = simulate(model, np.array([0.2, 0.0, 0.8]), runs=20_000, steps=1, seed=0)
    assert result.visits.tolist()[2] == 0
    assert abs(result.visits[3] / 20_000 - 0.8) < 0.012


def test_a_policy_may_see_observations_only() -> None:
    model = monty_hall_blind()
    policy = {}
    for seen in model.observation_names:
        if seen.startswith("('pick'"):
            policy[seen] = "left"
        if seen.startswith("('decide'"):
            policy[seen] = "switch"
    by_name = simulate(model, policy, runs=5000, steps=10, seed=2, observing=True)
    assert abs(by_name.frequency("won") - 2 / 3) < 0.03
    table = np.full(model.n_observations, -1)
    for name, action in policy.items():
        table[model.observation_number(name)] = model.action(action)
    assert np.array_equal(by_name.state, simulate(model, table, runs=5000, steps=10, seed=2, observing=True).state)
    deaf: Any = {"hear left": "open right", "hear right": "open left", "nothing": "listen"}
    heard = simulate(tiger(), deaf, runs=4000, steps=2, seed=1, observing=True)
    assert abs(heard.mean() - (-1 + 0.85 * 10 - 0.15 * 100)) < 2


def test_a_label_ends_a_run() -> None:
    model = grid(slip=0.0, holes=()).with_labels(corner=["(3, 0)"])
    result = simulate(model, dict.fromkeys(model.state_names, "east"), runs=3, steps=50, seed=0, until="corner")
    assert (result.length.tolist(), result.ended.tolist()) == ([3, 3, 3], [True] * 3)
    stuck = simulate(model, dict.fromkeys(model.state_names, "east"), runs=1, steps=50, seed=0)
    assert (stuck.length.tolist(), stuck.ended.tolist()) == ([50], [False])


def test_runs_that_start_at_an_end_take_no_step() -> None:
    result = simulate(die().with_initial("six"), runs=2, steps=5, seed=0)
    assert (result.length.tolist(), result.visits.sum(), result.taken.sum()) == ([0, 0], 2, 0)
    assert paths(die(), runs=2, steps=0).state.shape == (2, 1)


def test_rewards_are_the_sum_of_their_parts_on_leaving() -> None:
    model = from_dicts({"a": {"x": "b"}, "b": {"x": "c"}}, initial="a").with_rewards(
        all=RewardModel(state=[1, 10, 100], choice=[2, 20], transition=[4, 40])
    )
    found = paths(model, runs=1, steps=5)
    assert found.reward["all"].tolist() == [[7.0, 70.0, 0, 0, 0]]
    assert found.names(0) == ["a", "x", "b", "x", "c"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: simulate(die(), runs=0), BadArgument, "runs must be a whole number >= 1, got 0"),
        (lambda: simulate(die(), steps=-1), BadArgument, "steps must be a whole number >= 0, got -1"),
        (lambda: simulate(die(), steps=1.5), BadArgument, "steps must be"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: simulate(die(), runs=True), BadArgument, "runs must be"),
        (lambda: simulate(die(), seed=-1), BadArgument, "seed must be a whole number >= 0"),
        (lambda: simulate(die(), {}), BadArgument, "has no actions: leave the policy out"),
        (lambda: simulate(die(), observing=True), BadArgument, "needs observations; a MarkovChain has none"),
        (lambda: simulate(die(), until="dome"), UnknownName, "did you mean 'done'"),
        (lambda: simulate(grid(), {}), BadModel, r"no action for state '\(0, 0\)'; it offers \['north'"),
        (lambda: simulate(grid(), {"(0, 0)": "up"}), UnknownName, "there is no action 'up'"),
        (lambda: simulate(grid(), {"(9, 9)": "east"}), UnknownName, r"there is no state '\(9, 9\)'"),
        (lambda: simulate(grid(), {99: "east"}), UnknownName, "the policy names state 99"),
        (lambda: simulate(grid(), np.zeros(3, int)), BadModel, r"must be \(16,\), one a state; got int64 \(3,\)"),
        (lambda: simulate(grid(), np.zeros(3)), BadModel, r"a policy of floats must be \(56,\)"),
        (lambda: simulate(grid(), np.zeros(56)), BadModel, r"no distribution over the choices of state '\(0, 0\)'"),
        (lambda: simulate(grid(), np.tile([2.0, -1, 0, 0], 14)), BadModel, "no distribution over the choices"),
        (lambda: simulate(grid(), lambda s: np.full(len(s), 9)), BadModel, "chooses the action 9 in state"),
        (lambda: simulate(grid(), lambda s: [0.5] * len(s)), BadModel, "must return 1 action numbers"),
        (lambda: simulate(grid(), lambda s: [0, 0, 0]), BadModel, r"must return 1 .*; got int64 \(3,\)"),
        (
            lambda: simulate(monty_hall(), lambda s: np.full(len(s), 1)),
            BadModel,
            r"chooses the action 'left' in state 'start', which offers \['play'\]",
        ),
        (lambda: simulate(weather()).mean(), UnknownName, "there is none"),
        (lambda: simulate(grid()).mean("cots"), UnknownName, "did you mean 'cost'"),
        (lambda: simulate(die()).frequency("sax"), UnknownName, "did you mean 'six'"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
