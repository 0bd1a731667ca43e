from __future__ import annotations

from typing import Any

import pytest

from surefoot.errors import BadModel, NotADistribution, UnknownName
from surefoot.models import HMM, MDP, POMDP, BoolDomain, IntDomain, MarkovChain, Variable
from surefoot.models.build import build
from surefoot.models.builder import ModelBuilder, from_dicts


def test_the_kind_follows_from_the_dicts() -> None:
    chain = {"a": {"b": 1.0}, "b": {}}
    mdp = {"a": {"go": "b"}, "b": {}}
    seen = {"a": "x", "b": "y"}
    kinds = [
        type(from_dicts(table, initial="a", observations=observations))
        for table in (chain, mdp)
        for observations in (None, seen)
    ]
    assert kinds == [MarkovChain, HMM, MDP, POMDP]
    assert type(from_dicts({"a": {"go": [(0.5, "a"), (0.5, "b")]}}, initial="a")) is MDP
    assert type(from_dicts({"a": {"b": (0.5, 1.0), "a": (0.0, 0.5)}}, initial="a")) is MarkovChain


def test_dicts_and_functions_make_equal_models() -> None:
    table = {"a": {"x": {"a": 0.25, "b": 0.75}, "y": {"b": 1.0}}, "b": {}}
    one = from_dicts(
        table,
        initial="a",
        labels={"end": ["b"]},
        rewards={"cost": {"choice": {("a", "x"): 1.0, ("a", "y"): 2.0}}},
        valuations={"a": {"n": 0}, "b": {"n": 1}},
        variables=[Variable("n", IntDomain(0, 1))],
        observations={"a": {"o": 0.5, "p": 0.5}, "b": "p"},
        observation_valuations={"o": {"up": True}, "p": {"up": False}},
        observation_variables=[Variable("up", BoolDomain())],
    )
    two = build(
        "a",
        lambda s: list(table[s]),
        lambda s, a: table[s][a],
        labels=lambda s: ["end"] if s == "b" else [],
        reward={"cost": lambda s, a: 1.0 if a == "x" else 2.0},
        valuation=lambda s: {"n": int(s == "b")},
        variables=[Variable("n", IntDomain(0, 1))],
        observe=lambda s: {"o": 0.5, "p": 0.5} if s == "a" else "p",
        observation_valuation=lambda o: {"up": o == "o"},
        observation_variables=[Variable("up", BoolDomain())],
    )
    assert one == two


def test_rewards_may_be_on_every_part() -> None:
    model = from_dicts(
        {"a": {"x": {"a": 0.5, "b": 0.5}}},
        initial="a",
        rewards={
            "plain": {"a": 1.0},
            "parts": {"state": {"a": 1.0}, "choice": {("a", "x"): 2.0}, "transition": {("a", "x", "b"): 4.0}},
        },
    )
    assert model.expected_reward("plain").tolist() == [1.0]
    assert model.expected_reward("parts").tolist() == [5.0]
    chain = from_dicts(
        {"a": {"a": 0.5, "b": 0.5}},
        initial={"a": 1.0},
        rewards={"parts": {"choice": {"a": 2.0}, "transition": {("a", "b"): 4.0}}},
    )
    assert chain.expected_reward().tolist() == [4.0]


def test_states_of_dicts_may_be_any_values() -> None:
    model = from_dicts({(0, 1): {(1, 0): 1.0}, (1, 0): {(0, 1): 1.0}}, initial=(0, 1), labels={"x": [(1, 0)]})
    assert (model.state((1, 0)), model.states_with("x").tolist()) == (1, [1])


def test_a_model_is_built_one_piece_at_a_time() -> None:
    builder = ModelBuilder(POMDP, variables=[Variable("x", IntDomain(0, 5))])
    builder.add_choice("a", "go", [(0.5, "b"), (0.25, "a"), (0.25, "b"), (0.0, "c")], reward={"cost": 1})
    builder.add_choice("b", "go", "a", transition_reward={"cost": {"a": 5.0}})
    builder.add_state("a", labels=["first"], reward=2.0, valuation={"x": 1}, observation="o")
    builder.add_state("b", observation={"o": 0.5, "p": 0.5}, valuation={"x": 2})
    builder.add_observation("p", valuation={"loud": True})
    model = builder.build({"a": 0.5, "b": 0.5})
    assert repr(model) == "<POMDP: 2 states, 2 choices, 3 branches>"
    assert model.row("a", "go")[1].tolist() == [0.75, 0.25]
    assert model.expected_reward("cost").tolist() == [1.0, 5.0]
    assert model.expected_reward("reward").tolist() == [2.0, 0.0]
    assert (model.valuation("b"), model.observation_valuation("p")) == ({"x": 2}, {"loud": True})
    builder.add_choice("b", "stay", "b")
    assert builder.build("a").n_choices == 3, "the builder goes on"
    assert model.n_choices == 2
    assert repr(builder) == "<ModelBuilder: POMDP, 2 states, 3 choices>"


def test_choices_of_a_state_stay_in_the_order_in_which_they_were_added() -> None:
    builder = ModelBuilder(MDP)
    for state, action in [("a", "z"), ("b", "y"), ("a", "x"), ("b", "z")]:
        builder.add_choice(state, action, "a")
    model = builder.build("a")
    assert [[model.action_name(int(a)) for a in model.available(s)] for s in ("a", "b")] == [["z", "x"], ["y", "z"]]


def test_intervals_are_kept() -> None:
    model = from_dicts({"a": {"x": {"a": (0.1, 0.5), "b": (0.5, 0.9)}, "y": {"a": 1.0}}}, initial="a")
    assert model.lower is not None
    assert model.lower.tolist() == [0.1, 0.5, 1.0]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: from_dicts({"a": {"b": 0.5}}, initial="a"), NotADistribution, "state 'a' sum to 0.5"),
        (lambda: from_dicts({"a": {"b": "x"}, "b": {"c": 1.0}}, initial="a"), BadModel, "pairs|probability"),
        (lambda: from_dicts({"a": 1.0}, initial="a"), BadModel, "each state needs a dict"),
        (lambda: from_dicts({"a": {}}, initial="b"), UnknownName, "there is no state 'b' to start in"),
        (lambda: from_dicts({"aa": {}}, initial="aa", labels={"x": ["ab"]}), UnknownName, "did you mean 'aa'"),
        (lambda: from_dicts({"a": {}}, initial="a", labels={"x": "a"}), BadModel, r"got the text 'a'; use \['a'\]"),
        (
            lambda: from_dicts({"a": {}}, initial="a", observations={"b": "o"}),
            UnknownName,
            "observations names the state",
        ),
        (
            lambda: from_dicts({"a": {}, "b": {}}, initial="a", observations={"a": "o"}),
            BadModel,
            "state 'b' has no observation; use add_state",
        ),
        (lambda: from_dicts({"a": {}}, initial="a", valuations={"b": {}}), UnknownName, "valuations names the state"),
        (lambda: from_dicts({"a": {}}, initial="a", rewards={"r": {"b": 1}}), UnknownName, "reward model 'r' names"),
        (
            lambda: from_dicts({"a": {"b": 1.0}}, initial="a", rewards={"r": {"choice": {"b": 1}}}),
            UnknownName,
            "a number for the choice 'b', which is not there",
        ),
        (
            lambda: from_dicts({"a": {"x": "b"}}, initial="a", rewards={"r": {"choice": {("a", "y"): 1}}}),
            UnknownName,
            r"the choice \('a', 'y'\), which is not there",
        ),
        (
            lambda: from_dicts({"a": {"x": "b"}}, initial="a", rewards={"r": {"transition": {("a", "x", "a"): 1}}}),
            UnknownName,
            "which is not there",
        ),
        (
            lambda: from_dicts({"a": {"x": "b"}}, initial="a", rewards={"r": {"transition": {"ax": 1}}}),
            UnknownName,
            "which is not there",
        ),
        (
            lambda: from_dicts({"a": {}}, initial="a", rewards={"r": {"way": {"a": 1}}}),
            UnknownName,
            "there are state, choice and transition",
        ),
        (
            lambda: from_dicts(
                {"a": {}}, initial="a", valuations={"a": {"x": 3}}, variables=[Variable("x", BoolDomain())]
            ),
            BadModel,
            "variable 'x' has a wrong value in state 'a'",
        ),
        (lambda: ModelBuilder(dict), BadModel, "kind must be MarkovChain, MDP, POMDP or HMM"),  # type: ignore[type-var]  # wrong on purpose
        (lambda: ModelBuilder(MDP).add_state("a", labels="xy"), BadModel, r"use \['xy'\]"),
        (lambda: ModelBuilder(MDP).add_state("a", observation="o"), BadModel, "a MDP has no observations"),
        (
            lambda: ModelBuilder(MDP).add_choice("a", "x", "a").add_choice("a", "x", "a"),
            BadModel,
            "state 'a' has the action 'x' already",
        ),
        (
            lambda: ModelBuilder(MarkovChain).add_choice("a", "x", "a").add_choice("a", "y", "a"),
            BadModel,
            "has a distribution already",
        ),
        (lambda: ModelBuilder(MDP).add_choice("a", "x", ["ab"]), BadModel, "'ab' among its targets"),
        (lambda: ModelBuilder(MDP).add_choice("a", "x", {"b": "y"}), BadModel, "leads to 'b' with 'y'"),
        (lambda: ModelBuilder(MDP).add_choice("a", "x", {"b": (1, 2, 3)}), BadModel, "pair .lower, upper. is wanted"),
        (
            lambda: ModelBuilder(MDP).add_choice("a", "x", "b", transition_reward={"c": 1}),
            UnknownName,
            "does not lead to 'c'",
        ),
        (lambda: ModelBuilder(MDP).add_choice("a", "x", {}).build("a"), NotADistribution, "leads nowhere"),
        (lambda: ModelBuilder(MDP).build("a"), UnknownName, "there is none"),
    ],
)
def test_what_is_no_model_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_a_refused_choice_changes_nothing() -> None:
    builder = ModelBuilder(MDP).add_choice("a", "x", "a")
    before = builder.build("a")
    for targets in ({"b": "y"}, ["ab"]):
        with pytest.raises(BadModel):
            builder.add_choice("c", "z", targets)
    with pytest.raises(UnknownName):
        builder.add_choice("c", "z", "b", transition_reward={"d": 1})
    assert builder.build("a") == before
