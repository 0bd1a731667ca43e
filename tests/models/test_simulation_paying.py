"""What users of other simulators rely on: when a step pays, what it pays where nothing was said, what a run is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadModel
from surefoot.models import MDP, RewardModel
from surefoot.models.builder import from_dicts
from surefoot.models.examples import monty_hall, monty_hall_blind
from surefoot.models.simulation import paths, simulate


def test_a_step_pays_for_the_state_that_it_leaves_in_chains() -> None:
    chain = from_dicts({"a": {"b": 1.0}, "b": {"c": 1.0}, "c": {}}, initial="a")
    paid = chain.with_rewards(gold=RewardModel(state=[1.0, 2.0, 50.0]))
    assert paths(paid, runs=1, steps=9, seed=0).reward["gold"][0, :2].tolist() == [1.0, 2.0]
    assert simulate(paid, runs=4, steps=9, seed=0).total["gold"].tolist() == [3.0] * 4


def test_a_step_pays_for_the_state_that_it_leaves_in_mdps_and_each_time() -> None:
    mdp = MDP(
        choice_start=[0, 2, 2],
        choice_action=[0, 1],
        branch_start=[0, 1, 2],
        target=[0, 1],
        probability=[1.0, 1.0],
        initial=0,
        action_names=["stay", "go"],
        rewards={"gold": RewardModel(state=[7.0, 50.0])},
    )
    turns = iter([0, 0, 1])
    run = paths(mdp, lambda states: np.array([next(turns)]), runs=1, steps=9, seed=0)
    assert run.names(0) == ["s0", "stay", "s0", "stay", "s0", "go", "s1"]
    assert run.reward["gold"][0].tolist() == [7.0, 7.0, 7.0] + [0.0] * 6


def test_where_nothing_is_paid_it_is_zero() -> None:
    chain = from_dicts({"a": {"b": 1.0}, "b": {}}, initial="a")
    assert simulate(chain, runs=2, steps=3, seed=0).total == {}
    none = chain.with_rewards(gold=RewardModel(transition=[0.0]), silver=RewardModel(state=[3.0, 0.0]))
    result = simulate(none, runs=2, steps=3, seed=0)
    assert (result.total["gold"].tolist(), result.total["silver"].tolist()) == ([0.0, 0.0], [3.0, 3.0])


def test_every_reward_model_is_there_and_kept_in_what_was_explored() -> None:
    chain = from_dicts({"a": {"b": 1.0}, "b": {"a": 1.0}}, initial="a")
    paid = chain.with_rewards(gold=RewardModel(state=[1.0, 2.0]), silver=RewardModel(choice=[3.0, 4.0]))
    result = simulate(paid, runs=3, steps=4, seed=0)
    assert (result.mean("gold"), result.mean("silver")) == (6.0, 14.0)
    assert result.explored() == paid


@pytest.mark.parametrize("form", ["mapping", "function", "numbers"])
def test_a_policy_of_any_form_plays_monty_hall(form: str) -> None:
    model = monty_hall()
    first = [
        int(model.choice_action[model.choices(s)[0]]) if len(model.choices(s)) else 0 for s in range(model.n_states)
    ]
    policies: dict[str, Any] = {
        "mapping": {
            model.state_name(s): model.action_name(first[s]) for s in range(model.n_states) if model.choices(s)
        },
        "function": lambda states: np.array(first)[states],
        "numbers": np.array(first),
    }
    runs = paths(model, policies[form], runs=20, steps=4, seed=3)
    for run in range(len(runs)):
        for state, action in zip(runs.state[run], runs.action[run, : runs.length[run]], strict=False):
            assert action == first[state]
    assert runs.names(0) == paths(model, policies["numbers"], runs=1, steps=4, seed=3).names(0)


def test_a_hidden_game_is_played_by_its_states_too_and_ends_in_time() -> None:
    runs = paths(monty_hall_blind(), runs=10, steps=4, seed=1)
    assert runs.length.max() <= 4
    assert runs.observation is not None
    for run in range(10):
        length = int(runs.length[run])
        assert (runs.state[run, length + 1 :] == -1).all()
        assert (runs.observation[run, : length + 1] >= 0).all()
        assert len(runs.names(run)) == 2 * length + 1


def test_a_policy_that_names_what_is_not_offered_is_refused() -> None:
    with pytest.raises(BadModel, match="'switch' in state 'start', which offers"):
        simulate(monty_hall(), np.full(monty_hall().n_states, monty_hall().n_actions - 1), runs=1, steps=4, seed=0)
