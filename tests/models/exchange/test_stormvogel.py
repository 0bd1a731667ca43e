"""Without stormvogel: what a model of its shape says. With it, on all its example models: tests/peers."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

import pytest

from surefoot.errors import BadModel, MissingExtra
from surefoot.models import HMM, MDP, POMDP, BoolDomain, IntDomain, MarkovChain, Model, Variable
from surefoot.models.exchange.stormvogel import from_stormvogel, is_stormvogel, to_stormvogel


class Kind(Enum):
    DTMC, MDP, CTMC, POMDP, HMM = range(5)


@dataclass(frozen=True)
class Action:
    label: str | None = None


@dataclass(frozen=True)
class Named:
    label: str
    domain: Any = None


@dataclass(frozen=True)
class Computed:
    label: str
    domain: Any
    expr: Any


@dataclass(eq=False)
class Seen:
    alias: str
    valuations: dict[Any, Any] | None = None


@dataclass(eq=False)
class State:
    friendly_name: str | None = None
    valuations: dict[Any, Any] = field(default_factory=dict)
    observation: Any = None
    choices: list[tuple[Action, list[tuple[Any, Any]]]] = field(default_factory=list)


@dataclass
class Reward:
    name: str
    rewards: dict[Any, Any]
    transition_rewards: dict[Any, Any]


@dataclass
class Shaped:
    """Has the attributes that are read, and no others."""

    model_type: Kind
    states: list[State]
    state_labels: dict[str, set[State]]
    rewards: list[Reward] = field(default_factory=list)
    intervals: bool = False

    def is_interval_model(self) -> bool:
        return self.intervals


@dataclass
class Ends:
    lower: float
    upper: float


def mdp(kind: Kind = Kind.MDP) -> Shaped:
    a, b, c = State("a"), State(None), State("a")
    go, stay = Action("go"), Action("stay")
    a.choices = [(stay, [(1, a)]), (go, [(Fraction(1, 3), c), (Fraction(2, 3), b), (0, a)])]
    b.choices = [(Action(), [(1.0, b)])]
    a.valuations = {Named("x", IntDomain(0, 3)): 2, Named("free"): "any"}
    b.valuations = {Named("x", IntDomain(0, 3)): 0}
    rewards = [Reward("state", {a: 3, c: 1}, {}), Reward("way", {}, {(a, go, b): 5}), Reward("none", {}, {})]
    return Shaped(kind, [a, b, c], {"init": {a}, "end": {c, b}, "empty": set()}, rewards)


def test_all_that_a_model_says_is_read() -> None:
    model = from_stormvogel(mdp())
    assert isinstance(model, MDP)
    assert tuple(model.action_names) == ("stay", "go", "")
    assert tuple(model.state_names) == ("a", "#1", "a#2")
    assert model.row(0, "go")[0].tolist() == [2, 1]
    assert model.row(0, "go")[1].tolist() == [1 / 3, 2 / 3]
    assert list(model.choices(2)) == []
    assert {name: where.tolist() for name, where in model.labels.items()} == {
        "init": [True, False, False],
        "end": [False, True, True],
        "empty": [False] * 3,
    }
    assert "init" not in from_stormvogel(mdp(), init_label=False).labels
    rewards = model.rewards
    assert rewards["state"].state is not None
    assert rewards["state"].state.tolist() == [3, 0, 1]
    assert rewards["way"].transition is not None
    assert rewards["way"].transition.tolist() == [0, 0, 5, 0]
    assert (rewards["none"].state, rewards["none"].choice, rewards["none"].transition) == (None, None, None)
    assert model.state_variables == (Variable("x", IntDomain(0, 3)), Variable("free"))
    assert [model.valuation(s) for s in range(3)] == [{"x": 2, "free": "any"}, {"x": 0}, {}]


def test_observations_are_numbered_as_they_are_first_seen() -> None:
    given = mdp(Kind.POMDP)
    flag, computed = Named("flag", BoolDomain(True)), Computed("odd", BoolDomain(), len)
    dark, light = Seen("dark", {flag: None, computed: True}), Seen("light", {flag: True})
    for state, seen in zip(given.states, (light, [(0.25, dark), (0.75, light), (0.0, Seen("no"))], dark), strict=True):
        state.observation = seen
    model = from_stormvogel(given)
    assert isinstance(model, POMDP)
    assert tuple(model.observation_names) == ("light", "dark")
    assert model.observations_of(1)[0].tolist() == [1, 0]
    assert model.observations_of(1)[1].tolist() == [0.25, 0.75]
    assert [model.observation_valuation(o) for o in range(2)] == [{"flag": True}, {"flag": None}]
    loops = [[(Action(), [(1, state)])] for state in given.states]
    for state, choices in zip(given.states, loops, strict=True):
        state.choices = choices
    given.model_type, given.rewards = Kind.HMM, []
    assert isinstance(from_stormvogel(given), HMM)


def test_intervals_and_numbers_may_be_mixed() -> None:
    a, b = State(), State()
    a.choices = [(Action(), [(Ends(0.25, 1.0), a), (Ends(0.0, 0.5), b)])]
    b.choices = [(Action(), [(1, b)])]
    model = from_stormvogel(Shaped(Kind.DTMC, [a, b], {"init": {a}}, intervals=True))
    assert isinstance(model, MarkovChain)
    assert model.lower is not None
    assert model.upper is not None
    assert model.lower.tolist() == [0.25, 0, 1]
    assert model.upper.tolist() == [1, 0.5, 1]
    assert list(model.state_names) == ["s0", "s1"]


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(BadModel, match="a CTMC cannot be read: it must be one of DTMC, MDP, POMDP, HMM"):
        from_stormvogel(mdp(Kind.CTMC))
    with pytest.raises(BadModel, match="a model of stormvogel is wanted, got 7"):
        from_stormvogel(7)
    nowhere = mdp()
    del nowhere.state_labels["init"]
    with pytest.raises(BadModel, match="no state has the label init"):
        from_stormvogel(nowhere)
    unknown = mdp()
    unknown.states[1].choices = [(Action(), [(Named("p"), unknown.states[1])])]
    with pytest.raises(BadModel, match=r"state 1 has the probability .*fix the parameters first"):
        from_stormvogel(unknown)
    odd = mdp()
    odd.states[0].valuations = {Named("y", object()): 1}
    with pytest.raises(BadModel, match="there is no domain like"):
        from_stormvogel(odd)
    assert not is_stormvogel(mdp())


def test_several_initial_states_are_refused(model: Model) -> None:
    if (model.initial > 0).sum() == 1:
        model = model.with_initial({0: 0.5, 1: 0.5})
    with pytest.raises(BadModel, match="stormvogel has one initial state"):
        to_stormvogel(model)


def test_without_stormvogel_the_message_says_how_to_get_it(odd_mdp: MDP) -> None:
    if importlib.util.find_spec("stormvogel"):
        pytest.skip("stormvogel is installed: tests/peers tries the real thing")
    with pytest.raises(MissingExtra, match=r"surefoot\[stormvogel\]"):
        to_stormvogel(odd_mdp.with_initial(0))
