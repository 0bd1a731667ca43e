from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import BadArgument
from surefoot.models.examples import ALL, die, grid, monty_hall, random_mdp, tiger
from surefoot.models.graph import reachable
from surefoot.models.parts import part
from surefoot.models.simulation import simulate


@pytest.mark.parametrize("name", [*ALL, "random"])
def test_all_choices_of_what_can_be_reached_are_that_model_whole(name: str) -> None:
    model = random_mdp(50, seed=3) if name == "random" else ALL[name]()
    everything = part(model, np.ones(model.n_choices, dtype=bool), np.ones(model.n_states, dtype=bool))
    assert everything == model
    there = reachable(model)
    reached = part(model, there[model.choice_state])
    assert list(reached.state_names) == [model.state_name(int(state)) for state in np.flatnonzero(there)]


def test_rows_labels_and_rewards_are_those_of_the_model() -> None:
    model = grid()
    some = part(model, range(0, model.n_choices, 3))
    for state in range(some.n_states):
        name = some.state_name(state)
        assert some.labels_of(state) == model.labels_of(name)
        assert some.valuation(state) == model.valuation(name)
        for choice in some.choices(state):
            action = some.action_name(int(some.choice_action[choice]))
            targets, odds = some.row(state, action)
            theirs, true = model.row(name, action)
            assert [some.state_name(int(t)) for t in targets] == [model.state_name(int(t)) for t in theirs]
            assert odds.tolist() == true.tolist()
    old = [
        model.choice(some.state_name(s), some.action_name(a)) for s in range(some.n_states) for a in some.available(s)
    ]
    for reward in model.rewards:
        assert some.expected_reward(reward).tolist() == model.expected_reward(reward)[old].tolist()


def test_observations_are_kept() -> None:
    blind = tiger()
    some = part(blind, blind.choices(0))
    assert some.observations_of(0)[1].tolist() == blind.observations_of(some.state_name(0))[1].tolist()


def test_what_was_explored_has_true_probabilities() -> None:
    one = simulate(die(), runs=1, steps=100, seed=5)
    seen = one.explored()
    assert seen.n_choices == len(np.unique(die().branch_choice[one.taken > 0])) > 1
    assert set(seen.probability.tolist()) == {0.5}
    everything = simulate(monty_hall(), runs=5_000, steps=10, seed=1).explored()
    assert everything == monty_hall()


@pytest.mark.parametrize("choices", [[-1], [99], [0.5], np.ones(3, dtype=bool)])
def test_choices_that_are_not_there_are_refused(choices: object) -> None:
    with pytest.raises(BadArgument, match="choices"):
        part(die(), choices)
