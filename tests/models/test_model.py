"""What all kinds of models have in common, shown on MDPs."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadModel, ModelError, NotADistribution, UnknownName
from surefoot.models import MDP, MarkovChain, Model, RewardModel, Valuations
from surefoot.models.examples import ALL, random_mdp, retries

FIELDS: dict[str, Any] = {
    "choice_start": [0, 2, 3, 3],
    "choice_action": [0, 1, 1],
    "branch_start": [0, 1, 3, 5],
    "target": [0, 1, 2, 0, 2],
    "probability": [1.0, 0.25, 0.75, 0.5, 0.5],
    "initial": 0,
    "state_names": ["hall", "attic", "out"],
    "action_names": ["wait", "go"],
    "labels": {"end": [2], "inside": [0, 1]},
    "rewards": {"cost": RewardModel(state=[1, 2, 0], choice=[0.5, 0, 0], transition=[0, 4, 0, 0, 8])},
    "state_valuations": Valuations.from_rows(["level"], [{"level": 0}, {"level": 1}, {}]),
}


def make(**changes: Any) -> MDP:
    return MDP(**(FIELDS | changes))


def test_numbers_and_names_go_both_ways() -> None:
    model = make()
    assert [model.state(name) for name in model.state_names] == [0, 1, 2]
    assert [model.action(name) for name in model.action_names] == [0, 1]
    assert (model.state_name(2), model.action_name(1)) == ("out", "go")
    assert (model.n_states, model.n_choices, model.n_branches, model.n_actions) == (3, 3, 5, 2)
    assert repr(model) == "<MDP: 3 states, 3 choices, 5 branches>"


def test_rows_are_found_by_number_and_by_name() -> None:
    model = make()
    assert model.choices("hall") == range(0, 2)
    assert model.available("attic").tolist() == [1]
    assert model.available(2).tolist() == []
    assert model.choice("hall", "go") == model.choice(0, 1) == 1
    targets, odds = model.row("hall", "go")
    assert (targets.tolist(), odds.tolist()) == ([1, 2], [0.25, 0.75])
    assert model.action_table.tolist() == [[0, 1], [-1, 2], [-1, -1]]
    assert model.choice_state.tolist() == [0, 0, 1]
    assert model.branch_choice.tolist() == [0, 1, 1, 2, 2]


def test_states_that_are_never_left_are_absorbing() -> None:
    loops = MDP(
        choice_start=[0, 2, 3, 3],
        choice_action=[0, 1, 0],
        branch_start=[0, 1, 2, 4],
        target=[0, 0, 1, 0],
        probability=[1.0, 1.0, 0.5, 0.5],
        initial=1,
    )
    assert loops.absorbing.tolist() == [True, False, True]


def test_labels_rewards_and_values() -> None:
    model = make()
    assert model.states_with("inside").tolist() == [0, 1]
    assert [model.labels_of(state) for state in range(3)] == [("inside",), ("inside",), ("end",)]
    assert model.expected_reward().tolist() == [1.5, 1 + 0.25 * 4, 2 + 0.5 * 8]
    assert (model.valuation("attic"), model.valuation("out")) == ({"level": 1}, {})
    assert [variable.name for variable in model.state_variables] == ["level"]
    assert model.state_values.tolist() == [[0], [1], [-1]]
    bare = make(state_valuations=None)
    assert (bare.state_values.shape, bare.state_variables, bare.valuation(0)) == ((3, 0), (), {})


def test_a_reward_model_is_chosen_by_name_or_is_the_only_one() -> None:
    model = make()
    assert model.reward() is model.reward("cost")
    two = model.with_rewards(time=[1.0, 1.0, 1.0])
    assert two.expected_reward("time").tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(BadModel, match="multiple reward models"):
        two.reward()
    with pytest.raises(UnknownName, match="no reward model 'cots': did you mean 'cost'"):
        two.reward("cots")
    with pytest.raises(UnknownName, match="there is none"):
        make(rewards=None).reward()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.state("atic"), "there is no state 'atic': did you mean 'attic'"),
        (lambda m: m.action("fly"), "there is no action 'fly': there are only 'wait', 'go'"),
        (lambda m: m.state(1), "there is no state '1'"),
        (lambda m: m.state_name(-1), "there is no state -1"),
        (lambda m: m.action_name(2), "there is no action 2"),
        (lambda m: m.choices(3), r"there is no state 3: numbers are in \[0, 3\)"),
        (lambda m: m.choices(-1), "there is no state -1"),
        (lambda m: m.choices(True), "there is no state 'True'"),
        (lambda m: m.choice("attic", "wait"), r"'attic' does not offer the action 'wait'; it offers \['go'\]"),
        (lambda m: m.row("out", "go"), "'out' does not offer the action 'go'; it has no choices"),
        (lambda m: m.states_with("ends"), "there is no label 'ends': did you mean 'end'"),
        (lambda m: m.replace(targets=[]), "MDP has no 'targets': did you mean 'target'"),
    ],
)
def test_an_unknown_name_is_told_the_nearest(ask: Any, message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        ask(make())


def test_default_names_are_made_when_asked_for() -> None:
    model = random_mdp(1000, seed=1)
    assert (model.state("s42"), model.state_name(999), model.action("a1")) == (42, "s999", 1)
    assert model.state_names[1:3] == ("s1", "s2")
    assert "s5" in model.state_names
    for wrong in ("s1000", "s01", "s", "x1", "s-1", "s１"):
        with pytest.raises(UnknownName):
            model.state(wrong)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"probability": [1.0, 0.2, 0.7, 0.5, 0.5]},
            NotADistribution,
            r"the probabilities of action 'go' in state 'hall' sum to 0\.9, not to 1 .* give what is missing",
        ),
        ({"probability": [1.0, -0.25, 1.25, 0.5, 0.5]}, NotADistribution, "'go' in state 'hall' to 'attic' .* -0.25"),
        ({"probability": [1.0, 0.25, 0.75, float("nan"), 0.5]}, NotADistribution, "'attic' to 'hall' .* nan"),
        ({"probability": [1.0, 0.25, 0.75, 0.0, 1.0]}, NotADistribution, "'attic' to 'hall' .* 0.0; leave the branch"),
        ({"probability": [1.0, 0.25, 0.75, float("inf"), 0.5]}, NotADistribution, "probability inf"),
        ({"probability": [1.0, 0.25, 0.75]}, BadModel, "probability must have the shape 5, got 3"),
        ({"probability": None}, BadModel, "probability is missing"),
        ({"probability": ["a"] * 5}, BadModel, "probability must be an array of float64"),
        ({"target": [0, 1, 3, 0, 2]}, BadModel, "'go' in state 'hall' leads to state 3, which is not there"),
        ({"target": [0, 1, -1, 0, 2]}, BadModel, "leads to state -1"),
        ({"target": [0, 1, 1, 0, 2]}, BadModel, "'go' in state 'hall' has two branches to 'attic'; add them up"),
        ({"target": [0.0, 1, 2, 0, 2]}, BadModel, "target must be an array of int32, got float64"),
        ({"target": [0, 1, 2**40, 0, 2]}, BadModel, "more than a int32 can hold"),
        ({"target": [[0]]}, BadModel, "target must have the shape any, got 1 x 1"),
        ({"choice_action": [0, 0, 1]}, BadModel, "state 'hall' has two choices with the action 'wait'"),
        ({"choice_action": [0, 2, 1]}, BadModel, "choice 1 of state 'hall' has the action 2; there are 2 actions"),
        ({"choice_action": [0, -1, 1]}, BadModel, "has the action -1"),
        ({"choice_action": None}, BadModel, "choice_action is missing"),
        ({"choice_start": [0, 2, 3, 4]}, BadModel, "choice_start must end with the number of choices, 3, got 4"),
        ({"choice_start": [1, 2, 3, 3]}, BadModel, "choice_start must begin with 0, got 1"),
        ({"choice_start": [0, 3, 2, 3]}, BadModel, "choice_start must never fall, got 3 and then 2 at place 1"),
        ({"choice_start": [0]}, BadModel, "a model needs at least one state"),
        ({"choice_start": []}, BadModel, "a model needs at least one state"),
        ({"branch_start": [0, 1, 1, 5]}, NotADistribution, "'go' in state 'hall' leads nowhere"),
        ({"branch_start": [0, 1, 3, 6]}, BadModel, "branch_start must end with the number of branches, 5, got 6"),
        ({"initial": [0.5, 0.4, 0.0]}, NotADistribution, r"the initial distribution sums to 0\.9, not to 1"),
        ({"initial": [0.0, 0.0, 0.0]}, NotADistribution, "give at least one state to start in"),
        ({"initial": {}}, NotADistribution, "give at least one state to start in"),
        ({"initial": [-0.5, 1.5, 0.0]}, NotADistribution, "gives state 'hall' the probability -0.5"),
        ({"initial": [float("nan"), 1, 0]}, NotADistribution, "gives state 'hall' the probability nan"),
        ({"initial": [1.0]}, BadModel, "initial must have the shape 3, got 1"),
        ({"initial": None}, BadModel, "initial is None: say which state"),
        ({"initial": "atic"}, UnknownName, "did you mean 'attic'"),
        ({"initial": 7}, UnknownName, "there is no state 7"),
        ({"state_names": ["a", "b", "a"]}, BadModel, "states 0 and 2 have one name, 'a'"),
        ({"state_names": ["a", "b"]}, BadModel, "there are 3 states but 2 names"),
        ({"state_names": ["a", "b", 3]}, BadModel, r"the name of state 2 must be text, got 3; use str\(3\)"),
        ({"state_names": "abc"}, BadModel, "must be a sequence of texts, got the text 'abc'"),
        ({"action_names": ["go", "go"]}, BadModel, "actions 0 and 1 have one name, 'go'"),
        ({"labels": {"end": "out"}}, BadModel, r"label 'end' must be .* got the text 'out'; use \['out'\]"),
        ({"labels": {"end": ["oot"]}}, UnknownName, "did you mean 'out'"),
        ({"labels": {"end": np.array([True])}}, BadModel, "label 'end' must have the shape 3, got 1"),
        ({"labels": {"": [0]}}, BadModel, "the name of a label must be text and not empty"),
        ({"labels": {1: [0]}}, BadModel, "the name of a label must be text and not empty, got 1; use '1'"),
        ({"rewards": {"r": [1.0, 2.0]}}, BadModel, "'r' has 2 numbers for states; there are 3 states"),
        ({"rewards": {"r": RewardModel(choice=[1])}}, BadModel, "1 numbers for choices; there are 3 choices"),
        ({"rewards": {"r": RewardModel(transition=[1])}}, BadModel, "1 numbers for branches; there are 5 branches"),
        ({"rewards": {"": [1.0, 2.0, 3.0]}}, BadModel, "the name of a reward model"),
        ({"state_valuations": Valuations.from_rows(["x"], [{}])}, BadModel, "has 1 rows; there are 3 states"),
        ({"lower": [0] * 5}, BadModel, "lower and upper belong together"),
    ],
)
def test_what_is_no_model_is_refused_with_its_place(changes: Any, error: type[ModelError], message: str) -> None:
    with pytest.raises(error, match=message):
        make(**changes)


def test_probabilities_may_be_off_by_the_tolerance_and_no_more() -> None:
    make(probability=[1.0, 0.25, 0.75 + 5e-10, 0.5, 0.5])
    with pytest.raises(NotADistribution):
        make(probability=[1.0, 0.25, 0.75 + 5e-9, 0.5, 0.5])


def test_an_interval_model_has_a_nominal_distribution_inside() -> None:
    lower, upper = [1, 0.2, 0.5, 0.0, 0.1], [1, 0.6, 0.7, 0.5, 1.0]
    model = make(probability=None, lower=lower, upper=upper)
    assert model.has_intervals
    assert "intervals" in repr(model)
    assert np.all(model.probability >= np.array(lower))
    assert np.all(model.probability <= np.array(upper))
    assert np.allclose(np.add.reduceat(model.probability, model.branch_start[:-1]), 1)
    given = make(probability=[1.0, 0.4, 0.6, 0.3, 0.7], lower=lower, upper=upper)
    assert given.probability.tolist() == [1.0, 0.4, 0.6, 0.3, 0.7]
    assert model != given
    assert model.replace() == model
    exact = make(lower=FIELDS["probability"], upper=FIELDS["probability"])
    assert exact.probability.tolist() == FIELDS["probability"]


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (
            [1, 0.6, 0.5, 0, 0],
            [1, 0.7, 0.7, 1, 1],
            r"'go' in state 'hall' hold no distribution: the lower ends sum to 1\.1",
        ),
        ([1, 0.1, 0.1, 0, 0], [1, 0.3, 0.3, 1, 1], r"the upper ends to 0\.6 \(at least 1\)"),
        ([1, 0.4, 0.1, 0, 0], [1, 0.3, 0.9, 1, 1], r"'hall' to 'attic' has the interval \[0\.4, 0\.3\]"),
        ([1, -0.1, 0.1, 0, 0], [1, 0.3, 0.9, 1, 1], r"has the interval \[-0\.1, 0\.3\]"),
        ([1, 0.1, 0.1, 0, 0], [1, 0.3, 1.9, 1, 1], r"has the interval \[0\.1, 1\.9\]"),
        ([1, 0.0, 0.1, 0, 0], [1, 0.0, 1.0, 1, 1], r"has the interval \[0\.0, 0\.0\]"),
        ([1, float("nan"), 0.1, 0, 0], [1, 0.3, 0.9, 1, 1], r"has the interval \[nan, 0\.3\]"),
        ([1, 0.1], [1, 0.3], "lower must have the shape 5"),
    ],
)
def test_intervals_without_a_distribution_are_refused(lower: Any, upper: Any, message: str) -> None:
    with pytest.raises(BadModel, match=message):
        make(probability=None, lower=lower, upper=upper)


def test_a_nominal_distribution_outside_the_intervals_is_refused() -> None:
    bounds = {"lower": [1, 0.2, 0.5, 0.0, 0.1], "upper": [1, 0.6, 0.7, 0.5, 1.0]}
    with pytest.raises(NotADistribution, match=r"'hall' to 'attic' has the nominal probability 0\.1, .* leave `prob"):
        make(probability=[1.0, 0.1, 0.9, 0.5, 0.5], **bounds)
    with pytest.raises(NotADistribution, match=r"sum to 0\.9"):
        make(probability=[1.0, 0.4, 0.5, 0.5, 0.5], **bounds)


def test_nothing_can_be_changed() -> None:
    model = make()
    arrays = [getattr(model, name) for name in ("choice_start", "target", "probability", "initial", "absorbing")]
    for array in [*arrays, model.labels["end"], model.action_table, model.state_values]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError, match=r"use replace\(initial=...\)"):
        model.initial = 1  # type: ignore[assignment]  # wrong on purpose
    with pytest.raises(AttributeError, match="does not change"):
        del model.initial
    with pytest.raises(TypeError):
        model.labels["new"] = np.zeros(3, bool)  # type: ignore[index]  # wrong on purpose


def test_what_was_given_can_be_changed_afterwards() -> None:
    odds = np.array(FIELDS["probability"])
    view = odds[:]
    view.setflags(write=False)
    models = [make(probability=odds), make(probability=view)]
    odds[0] = 0.5
    assert [float(model.probability[0]) for model in models] == [1.0, 1.0]


def test_arrays_that_nobody_can_write_to_are_shared() -> None:
    model = make()
    assert model.with_initial("attic").probability is model.probability


def test_small_helpers_change_one_thing() -> None:
    model = make()
    assert model.with_initial({"hall": 0.5, 2: 0.5}).initial.tolist() == [0.5, 0, 0.5]
    assert list(model.with_labels(top=["attic"]).labels) == ["end", "inside", "top"]
    assert model.replace(state_names=None).state_name(1) == "s1"
    assert model.initial.tolist() == [1, 0, 0]
    with pytest.raises(NotADistribution):
        model.with_initial([0.5, 0.4, 0.0])


@pytest.mark.parametrize("name", [*ALL, "intervals"])
def test_copies_are_equal(name: str) -> None:
    model = retries(loss=(0.1, 0.3)) if name == "intervals" else ALL[name]()
    assert copy.deepcopy(model) is model
    assert copy.copy(model) is model
    assert model.absorbing is model.absorbing  # cached, and not pickled
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert hash(again) == hash(model)
    assert again.state(again.state_name(1)) == 1
    assert not again.target.flags.writeable
    for mask in again.labels.values():
        assert not mask.flags.writeable
    assert model.replace() == model


@pytest.mark.parametrize("name", [name for name in FIELDS if name not in ("choice_start", "branch_start")])
def test_every_field_counts_for_equality(name: str) -> None:
    other: dict[str, Any] = {
        "choice_action": [1, 0, 1],
        "target": [0, 2, 1, 0, 2],
        "probability": [1.0, 0.75, 0.25, 0.5, 0.5],
        "initial": 1,
        "state_names": None,
        "action_names": ["wait", "run"],
        "labels": {"end": ["out"], "inside": [0]},
        "rewards": {"cost": RewardModel(state=[1, 2, 0])},
        "state_valuations": Valuations.from_rows(["level"], [{"level": False}, {"level": 1}, {}]),
    }
    assert make() == make()
    assert make(**{name: other[name]}) != make()


def test_closeness_allows_for_rounding() -> None:
    model = make()
    near = make(probability=[1.0, 0.25 + 1e-10, 0.75 - 1e-10, 0.5, 0.5])
    assert near != model
    assert near.is_close(model)
    assert not near.is_close(model, 1e-12)
    assert not model.is_close(MarkovChain(choice_start=[0, 0], branch_start=[0], target=[], probability=[], initial=0))
    assert model != "model"


def test_a_model_without_a_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="make a MarkovChain, MDP, POMDP or HMM"):
        Model(**FIELDS)


def test_a_large_model_takes_little_memory() -> None:
    small = random_mdp(50_000, seed=3)
    names = ("choice_start", "choice_action", "branch_start", "target", "probability")
    arrays: dict[str, Any] = {name: np.array(getattr(small, name)) for name in names}
    tracemalloc.start()
    model = MDP(**arrays, initial=0)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.n_branches == 199_996
    assert held < 25 * model.n_branches, "88 MB for 4,000,000 branches"
    assert peak < 50 * model.n_branches, "200 MB for 4,000,000 branches"


def test_many_labels_are_told_by_state() -> None:
    names = [f"l{number}" for number in range(200)]
    model = random_mdp(200, goals=0).replace(labels={name: [number] for number, name in enumerate(names)})
    assert [model.labels_of(state) for state in (0, 77, 199)] == [("l0",), ("l77",), ("l199",)]
