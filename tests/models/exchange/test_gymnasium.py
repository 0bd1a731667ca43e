from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from surefoot.errors import BadArgument, BadModel, UnknownName
from surefoot.models import MDP, MarkovChain, RewardModel
from surefoot.models.exchange.gymnasium import from_gymnasium, to_gymnasium

TOYS: list[tuple[str, dict[str, Any]]] = [
    ("FrozenLake-v1", {}),
    ("FrozenLake-v1", {"is_slippery": False, "map_name": "8x8"}),
    ("FrozenLake-v1", {"desc": ["FFS", "HFG"]}),
    ("CliffWalking-v1", {}),
    ("CliffWalking-v1", {"is_slippery": True}),
    ("Taxi-v4", {}),
    ("Taxi-v4", {"is_rainy": True}),
]


def table_of(name: str, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    env: Any = gymnasium.make(name, **kwargs).unwrapped
    return env, env.P


def summed(outcomes: list[tuple[float, int, float, bool]]) -> dict[tuple[int, bool], tuple[float, float]]:
    """Add up what leads to one state; return {(state, terminated): (probability, mean reward)}."""
    found: dict[tuple[int, bool], tuple[float, float]] = {}
    for p, to, reward, end in outcomes:
        old, mean = found.get((int(to), bool(end)), (0.0, float(reward)))
        mean = mean if mean == reward else (mean * old + reward * p) / (old + p)
        found[int(to), bool(end)] = (old + p, mean)
    return found


@pytest.mark.parametrize(("name", "kwargs"), TOYS)
def test_the_round_trip_gives_the_same_values(name: str, kwargs: dict[str, Any]) -> None:
    env, given = table_of(name, kwargs)
    model = from_gymnasium(gymnasium.make(name, **kwargs))
    back = to_gymnasium(model)
    assert sorted(back) == sorted(given) == list(range(env.observation_space.n))
    ends = set(model.states_with("terminal").tolist())
    live, waiting = set(np.flatnonzero(env.initial_state_distrib).tolist()), []
    waiting = list(live)
    while waiting:
        for outcomes in given[waiting.pop()].values():
            fresh = {int(to) for p, to, _, end in outcomes if p > 0 and not end} - live
            live |= fresh
            waiting += fresh
    assert not live & ends
    for state in live:
        assert sorted(back[state]) == list(range(env.action_space.n))
        for action, outcomes in given[state].items():
            wanted = {key: value for key, value in summed(outcomes).items() if value[0] > 0}
            assert summed(back[state][action]) == wanted
    for state in ends:
        assert back[state] == {action: [(1.0, state, 0.0, True)] for action in range(env.action_space.n)}


@pytest.mark.parametrize(("name", "kwargs"), TOYS)
def test_the_second_round_trip_is_exact(name: str, kwargs: dict[str, Any]) -> None:
    model = from_gymnasium(name, **kwargs)
    again = from_gymnasium(to_gymnasium(model), initial=model.initial, actions=list(model.action_names))
    kept = {label: where for label, where in model.labels.items() if label == "terminal"}
    assert again == model.replace(labels=kept, state_valuations=None)


def test_sizes_starts_and_ends_are_those_of_gymnasium() -> None:
    lake, cliff, taxi = (from_gymnasium(name) for name in ("FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"))
    assert (lake.n_states, lake.n_actions) == (16, 4)
    assert (cliff.n_states, cliff.n_actions) == (48, 4)
    assert (taxi.n_states, taxi.n_actions) == (500, 6)
    assert np.flatnonzero(lake.initial).tolist() == [0]
    assert np.flatnonzero(cliff.initial).tolist() == [36]
    assert np.count_nonzero(taxi.initial) == 300
    assert lake.states_with("terminal").tolist() == [5, 7, 11, 12, 15]
    assert cliff.states_with("terminal").tolist() == [47]
    assert taxi.states_with("terminal").tolist() == [0, 85, 410, 475]
    assert lake.absorbing.tolist() == lake.labels["terminal"].tolist()


def test_the_values_that_are_worth_it_come_out() -> None:
    """Value iteration: 0.8235 with the 4x4 lake for reaching the goal; -13 for the cliff."""
    for name, best in (("FrozenLake-v1", 0.8235), ("CliffWalking-v1", -13.0)):
        model = from_gymnasium(name)
        paid, value = model.expected_reward(), np.zeros(model.n_states)
        for _ in range(2000):
            gained = paid + np.add.reduceat(model.probability * value[model.target], model.branch_start[:-1])
            fresh = np.full(model.n_states, -np.inf)
            np.maximum.at(fresh, model.choice_state, gained)
            value = np.where(model.labels["terminal"], 0.0, fresh)
        assert float(model.initial @ value) == pytest.approx(best, abs=5e-5)


def test_states_say_where_they_are() -> None:
    cliff = from_gymnasium("CliffWalking-v1")
    assert cliff.valuation(47) == {"row": 3, "column": 11}
    assert cliff.labels_of(47) == ("terminal", "goal")
    assert cliff.labels_of(37) == ("cliff",)
    taxi = from_gymnasium("Taxi-v4")
    assert taxi.valuation(16) == {"row": 0, "column": 0, "passenger": "in the taxi", "destination": "red"}
    lake = from_gymnasium("FrozenLake-v1", desc=["FFS", "HFG"])
    assert lake.valuation(3) == {"row": 1, "column": 0}
    assert [lake.states_with(label).tolist() for label in ("start", "hole", "goal")] == [[2], [3], [5]]


def test_an_outcome_that_ends_and_one_that_does_not_lead_to_two_states() -> None:
    table = {
        0: {0: [(0.5, 1, 1.0, True), (0.5, 1, 2.0, False)]},
        1: {0: [(1.0, 0, 0.0, False)], 1: [(1.0, 1, 9.0, True)]},
    }
    model = from_gymnasium(table, initial=0)
    assert list(model.state_names) == ["s0", "s1", "s1 (ended)"]
    assert model.row(0, 0)[0].tolist() == [2, 1]
    assert model.reward() == RewardModel(transition=[1.0, 2.0, 0.0, 9.0])
    assert model.states_with("terminal").tolist() == [2]
    assert to_gymnasium(model)[1][1] == [(1.0, 2, 9.0, True)]


def test_outcomes_to_one_state_are_added_up_and_pay_the_mean() -> None:
    model = from_gymnasium([[[(0.25, 0, 4.0, False), (0.75, 0, 0.0, False)]]], initial={0: 1.0})
    assert model.row(0, 0)[1].tolist() == [1.0]
    assert model.expected_reward().tolist() == [1.0]


def test_every_part_of_a_reward_is_in_the_table() -> None:
    model = MDP(
        choice_start=[0, 2, 3, 3],
        choice_action=[0, 1, 1],
        branch_start=[0, 2, 3, 4],
        target=[1, 2, 0, 2],
        probability=[0.25, 0.75, 1.0, 1.0],
        initial=0,
        rewards={
            "a": RewardModel(state=[1, 2, 3], choice=[10, 20, 30], transition=[100, 200, 300, 400]),
            "b": RewardModel(),
        },
    )
    assert to_gymnasium(model, "a") == {
        0: {0: [(0.25, 1, 111.0, False), (0.75, 2, 211.0, True)], 1: [(1.0, 0, 321.0, False)]},
        1: {1: [(1.0, 2, 432.0, True)]},
        2: {0: [(1.0, 2, 0.0, True)], 1: [(1.0, 2, 0.0, True)]},
    }
    assert to_gymnasium(model, "b", unavailable="stay")[1][0] == [(1.0, 1, 0.0, False)]
    assert to_gymnasium(model.with_labels(stop=[1]), "b", terminal="stop")[0][0] == [
        (0.25, 1, 0.0, True),
        (0.75, 2, 0.0, False),
    ]
    with pytest.raises(BadModel, match="multiple reward models"):
        to_gymnasium(model)
    with pytest.raises(UnknownName, match="there is no label 'stopp'"):
        to_gymnasium(model.with_labels(stop=[1]), "a", terminal="stopp")
    with pytest.raises(BadArgument, match="unavailable must be"):
        to_gymnasium(model, "a", unavailable="raise")  # type: ignore[arg-type]  # wrong on purpose


def test_a_chain_has_one_action() -> None:
    chain = MarkovChain(choice_start=[0, 1, 1], branch_start=[0, 2], target=[0, 1], probability=[0.5, 0.5], initial=0)
    assert to_gymnasium(chain) == {
        0: {0: [(0.5, 0, 0.0, False), (0.5, 1, 0.0, True)]},
        1: {0: [(1.0, 1, 0.0, True)]},
    }


@pytest.mark.parametrize(
    ("table", "initial", "message"),
    [
        ({0: {0: [(1.0, 0, 0.0)]}}, 0, r"P\[0\]\[0\] must be a list of \(probability"),
        ({0: {0: [(1.0, 5, 0.0, False)]}}, 0, r"P\[0\]\[0\] leads to state 5, which has no row"),
        ({0: {0: [(0.5, 0, 0.0, False)]}}, 0, "sum to 0.5"),
        ({1: {}}, 0, "a row for each of the states"),
        ({0: {0: [(1.0, 0, 0.0, False)]}}, 3, "initial names state 3"),
        ({0: {0: [(1.0, 0, 0.0, False)]}}, None, "nothing says where an episode starts"),
    ],
)
def test_a_wrong_table_is_refused(table: Any, initial: Any, message: str) -> None:
    with pytest.raises((BadModel, BadArgument), match=message):
        from_gymnasium(table, initial=initial)


def test_what_has_no_table_is_refused() -> None:
    with pytest.raises(BadArgument, match="has no table P"):
        from_gymnasium("Blackjack-v1")
    with pytest.raises(BadArgument, match="are for gymnasium.make"):
        from_gymnasium([[[(1.0, 0, 0.0, False)]]], initial=0, is_slippery=True)
    with pytest.raises(BadModel, match="the actions 0 to 1, but there are 1 names"):
        from_gymnasium([[[(1.0, 0, 0.0, False)], [(1.0, 0, 0.0, False)]]], initial=0, actions=["one"])
