from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadModel, NotADistribution, UnknownName
from surefoot.models import HMM, MDP, POMDP, MarkovChain, Valuations
from surefoot.models.examples import cheese_maze, tiger, weather

CHAIN: dict[str, Any] = {
    "choice_start": [0, 1, 1],
    "branch_start": [0, 2],
    "target": [0, 1],
    "probability": [0.5, 0.5],
    "initial": 0,
}


def hidden(**changes: Any) -> HMM:
    return HMM(**(CHAIN | {"observation": [0, 1]} | changes))


def test_a_chain_has_one_action_without_a_name() -> None:
    chain = MarkovChain(**CHAIN)
    assert (chain.kind, chain.n_actions, list(chain.action_names), chain.choice_action.tolist()) == (
        "dtmc",
        1,
        [""],
        [0],
    )
    assert (chain.row(0)[0].tolist(), chain.action(""), chain.available(1).tolist()) == ([0, 1], 0, [])
    assert chain == MarkovChain(**CHAIN, choice_action=[0], action_names=[""])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"choice_start": [0, 2, 2], "branch_start": [0, 1, 2], "probability": [1.0, 1.0]},
            "state 's0' has 2 choices; a MarkovChain has at most one a state",
        ),
        ({"action_names": ["go"]}, "has no actions to name"),
        ({"choice_action": [1]}, "choice 0 of state 's0' has the action 1"),
        ({"probability": [0.5, 0.4]}, "the probabilities of state 's0' sum to 0.9"),
        ({"branch_start": [0, 0], "target": [], "probability": []}, "state 's0' leads nowhere"),
    ],
)
def test_what_is_no_chain_is_refused(changes: Any, message: str) -> None:
    with pytest.raises(BadModel, match=message):
        MarkovChain(**(CHAIN | changes))


def test_kinds_differ_even_where_their_arrays_do_not() -> None:
    as_mdp = MDP(**CHAIN, choice_action=[0], action_names=[""])
    assert MarkovChain(**CHAIN) != as_mdp
    assert [kind.kind for kind in (MarkovChain, MDP, POMDP, HMM)] == ["dtmc", "mdp", "pomdp", "hmm"]


def test_observations_of_one_a_state_need_no_more_arrays() -> None:
    model = hidden(observation_names=["dark", "light"])
    assert model.deterministic_observations
    assert (model.observation_start.tolist(), model.observation_probability.tolist()) == ([0, 1, 2], [1.0, 1.0])
    assert (model.observation_number("light"), model.observation_name(0), model.n_observations) == (1, "dark", 2)
    assert model == hidden(observation_start=[0, 1, 2], observation_names=("dark", "light"))
    assert model != hidden()


def test_stochastic_observations() -> None:
    model = tiger()
    seen, odds = model.observations_of("tiger left, listened")
    assert [model.observation_name(int(one)) for one in seen] == ["hear left", "hear right"]
    assert odds.tolist() == [0.85, 1 - 0.85]
    assert not model.deterministic_observations
    assert [variable.name for variable in model.observation_variables] == ["heard"]
    assert model.observation_valuation("nothing") == {"heard": None}
    assert model.observation_values.tolist() == [[2], [0], [1]]


def test_a_model_without_observation_variables_has_an_empty_table() -> None:
    model = hidden()
    assert (model.observation_variables, model.observation_values.shape, model.observation_valuation(0)) == (
        (),
        (2, 0),
        {},
    )


def test_observations_may_be_more_than_occur() -> None:
    assert hidden(observation_names=["a", "b", "c"]).n_observations == 3


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"observation": [0]}, BadModel, "observation must have the shape 2, got 1"),
        ({"observation": [0, 2], "observation_names": ["a", "b"]}, BadModel, "state 's1' has the observation 2"),
        ({"observation": [0, -1]}, BadModel, "state 's1' has the observation -1"),
        ({"observation_start": [0, 2, 2]}, NotADistribution, "state 's1' has no observation"),
        ({"observation_start": [0, 1, 3]}, BadModel, "must end with the number of entries of observation, 2, got 3"),
        (
            {"observation": [0, 1, 0], "observation_start": [0, 2, 3], "observation_probability": [0.5, 0.4, 1]},
            NotADistribution,
            r"the observations of state 's0' sum to 0\.9",
        ),
        (
            {"observation": [0, 1, 0], "observation_start": [0, 2, 3], "observation_probability": [1.0, 0.0, 1]},
            NotADistribution,
            "observation 'o1' of state 's0' has the probability 0.0; leave it out",
        ),
        (
            {"observation": [0, 1, 0], "observation_start": [0, 2, 3], "observation_probability": [0.5, np.nan, 1]},
            NotADistribution,
            "'o1' of state 's0' has the probability nan",
        ),
        (
            {"observation": [1, 1, 0], "observation_start": [0, 2, 3], "observation_probability": [0.5, 0.5, 1]},
            BadModel,
            "state 's0' has the observation 'o1' twice; add them up",
        ),
        ({"observation_names": ["a", "a"]}, BadModel, "observations 0 and 1 have one name, 'a'"),
        (
            {"observation_valuations": Valuations.from_rows(["x"], [{}])},
            BadModel,
            "observation_valuations has 1 rows; there are 2 observations",
        ),
    ],
)
def test_what_are_no_observations_is_refused(changes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        hidden(**changes)


def test_unknown_observations_are_told_the_nearest() -> None:
    model = weather()
    with pytest.raises(UnknownName, match="there is no observation 'walks': did you mean 'walk'"):
        model.observation_number("walks")
    for ask in (model.observation_valuation, model.observation_name):
        with pytest.raises(UnknownName, match="there is no observation 9"):
            ask(9)


def test_replacing_keeps_observations() -> None:
    model = cheese_maze()
    other = model.with_initial("cell 3")
    assert other.observation is model.observation
    assert other.observation_names == model.observation_names
