from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import BadModel, NotADistribution, UnknownName
from surefoot.models import HMM, POMDP, belief
from surefoot.models.examples import cheese_maze, monty_hall_blind, tiger, weather
from surefoot.models.simulation import paths


def naive(model: POMDP | HMM, old: Any, action: int, observation: int) -> Any:
    """Return the belief by the definition, loops and all."""
    new = np.zeros(model.n_states)
    for state in range(model.n_states):
        if old[state] == 0:
            continue
        if not len(model.choices(state)):
            new[state] += old[state]
            continue
        for target, probability in zip(*model.row(state, action), strict=True):
            new[target] += old[state] * probability
    for state in range(model.n_states):
        seen, odds = model.observations_of(state)
        new[state] *= dict(zip(seen.tolist(), odds.tolist(), strict=True)).get(observation, 0.0)
    return new / new.sum()


@pytest.mark.parametrize("make", [tiger, cheese_maze, weather, monty_hall_blind])
@given(seed=st.integers(0, 50))
def test_agrees_with_the_definition_along_real_runs(make: Any, seed: int) -> None:
    model = make()
    run = paths(model, runs=1, steps=8, seed=seed)
    length = int(run.length[0])
    assert run.observation is not None
    seen, done = run.observation[0, : length + 1].tolist(), run.action[0, :length].tolist()
    found = belief.beliefs(model, seen, done if model.has_actions else None)
    old = found[0]
    for step in range(length):
        old = naive(model, old, done[step], seen[step + 1])
        assert np.allclose(found[step + 1], old, atol=1e-12)
        assert found[step + 1, run.state[0, step + 1]] > 0, "the true state is always believed possible"
    assert np.allclose(found.sum(axis=1), 1)


def test_beliefs_are_calibrated() -> None:
    """Of all runs that are believed with p to be in a state, a part p is: summed over states, a martingale."""
    model = weather()
    run = paths(model, runs=600, steps=4, seed=1)
    assert run.observation is not None
    believed = np.array([belief.beliefs(model, seen.tolist())[-1, 0] for seen in run.observation])
    rains = run.state[:, -1] == 0
    for low in np.unique(np.round(believed, 1)):
        group = np.round(believed, 1) == low
        if group.sum() > 50:
            assert abs(believed[group].mean() - rains[group].mean()) < 4 * 0.5 / np.sqrt(group.sum())


def test_listening_twice_is_surer() -> None:
    model = tiger()
    once = belief.update(model, belief.start(model), "hear left", "listen")
    twice = belief.update(model, once, "hear left", "listen")
    assert twice[model.state("tiger left, listened")] == pytest.approx(0.85**2 / (0.85**2 + 0.15**2))
    back = belief.update(model, once, "hear right", "listen")
    assert back[model.state("tiger left, listened")] == pytest.approx(0.5)


def test_the_host_tells_something() -> None:
    model = monty_hall_blind()
    found = belief.beliefs(
        model,
        [("start", "", ""), ("pick", "", ""), ("open", "left", ""), ("decide", "left", "right")],
        ["play", "left", "open"],
    )
    cars = {model.state_name(int(state)): float(found[-1, state]) for state in np.flatnonzero(found[-1])}
    assert cars == {
        "decide, car left, picked left, opened right": pytest.approx(1 / 3),
        "decide, car middle, picked left, opened right": pytest.approx(2 / 3),
    }


def test_odds_of_observations_sum_to_one() -> None:
    model = tiger()
    odds = belief.observation_odds(model, belief.predict(model, belief.start(model), "listen"))
    assert odds.tolist() == pytest.approx([0.0, 0.5, 0.5])
    assert not odds.flags.writeable


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: belief.update(m, belief.start(m), "nothing", "listen"), NotADistribution, "impossible under this"),
        (lambda m: belief.start(m, "hear left"), NotADistribution, "impossible under the initial distribution"),
        (lambda m: belief.start(m, "hear lift"), UnknownName, "did you mean 'hear left'"),
        (lambda m: belief.predict(m, belief.start(m), "listn"), UnknownName, "did you mean 'listen'"),
        (lambda m: belief.predict(m, [0.5, 0.4, 0, 0], 0), NotADistribution, r"belief sums to 0\.9"),
        (lambda m: belief.predict(m, [1.0], 0), BadModel, "belief must have the shape 4, got 1"),
        (lambda m: belief.beliefs(m, ["nothing"], ["listen"]), BadModel, "one observation more than actions"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(tiger())


def test_an_action_that_is_not_offered_is_refused() -> None:
    model = monty_hall_blind()
    with pytest.raises(BadModel, match="the action 'open' is not offered in state 'start', which is believed possible"):
        belief.predict(model, belief.start(model), "open")


def test_a_state_without_choices_is_not_left() -> None:
    model = cheese_maze()
    there = np.zeros(11)
    there[model.state("cell 10")] = 1.0
    assert belief.predict(model, there, "north").tolist() == there.tolist()
