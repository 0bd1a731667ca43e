from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadModel
from surefoot.models import HMM, MDP, POMDP, MarkovChain
from surefoot.models.belief import beliefs
from surefoot.models.examples import ALL, cheese_maze, die, grid, monty_hall, random_mdp, retries, taxi
from surefoot.models.graph import can_reach, reachable
from surefoot.models.simulation import simulate


@pytest.mark.parametrize("name", ALL)
def test_every_example_is_whole(name: str) -> None:
    model = ALL[name]()
    assert isinstance(model, MarkovChain | MDP | POMDP | HMM)
    assert reachable(model).all(), "no state is out of reach"
    assert model == ALL[name](), "made twice, it is the same"
    if model.absorbing.any():
        assert can_reach(model, np.flatnonzero(model.absorbing)).all(), "an end can be reached from everywhere"
    if model.state_valuations is not None:
        assert (model.state_values >= 0).all(), "every state has a value of every variable"
        assert all(variable.domain is not None for variable in model.state_variables)
    if isinstance(model, POMDP | HMM):
        assert (model.observation_values >= 0).all()


@pytest.mark.parametrize("name", [name for name in ALL if ALL[name]().has_observations and ALL[name]().has_actions])
def test_states_that_look_alike_offer_the_same_actions(name: str) -> None:
    model: Any = ALL[name]()
    offered: dict[int, set[tuple[int, ...]]] = {}
    for state in range(model.n_states):
        for seen in model.observations_of(state)[0]:
            offered.setdefault(int(seen), set()).add(tuple(model.available(state).tolist()))
    assert all(len(kinds) == 1 for kinds in offered.values())


def test_the_die_is_fair() -> None:
    """Solve for the odds of absorption: (I - Q) x = r."""
    model = die()
    matrix = np.zeros((13, 13))
    matrix[model.choice_state[model.branch_choice], model.target] = model.probability
    inner = ~model.absorbing
    odds = np.linalg.solve(np.eye(int(inner.sum())) - matrix[np.ix_(inner, inner)], matrix[np.ix_(inner, ~inner)])
    assert np.allclose(odds[0], 1 / 6)
    tosses = np.linalg.solve(np.eye(7) - matrix[np.ix_(inner, inner)], np.ones(7))
    assert tosses[0] == pytest.approx(11 / 3)


SIZES = {
    "die": (13, 7, 14),
    "monty_hall": (27, 43, 48),
    "monty_hall_blind": (27, 43, 48),
    "grid": (16, 56, 162),
    "taxi": (260, 784, 784),
    "tiger": (4, 12, 20),
    "cheese_maze": (11, 40, 40),
    "weather": (2, 2, 4),
    "retries": (5, 6, 9),
}


@pytest.mark.parametrize("name", ALL)
def test_sizes(name: str) -> None:
    model = ALL[name]()
    assert (model.n_states, model.n_choices, model.n_branches) == SIZES[name]


def test_monty_hall_is_won_two_times_in_three_by_switching() -> None:
    model = monty_hall()
    for act, odds in (("switch", 2 / 3), ("stay", 1 / 3)):
        policy = {
            s: "left" if s.startswith("pick") else act for s in model.state_names if s.startswith(("pick", "decide"))
        }
        assert abs(simulate(model, policy, runs=5000, steps=9, seed=1).mean("prize") - odds) < 0.03


def test_a_grid_without_slip_goes_where_it_should() -> None:
    model = grid(3, 1, slip=0.0, holes=())
    result = simulate(model, dict.fromkeys(model.state_names, "east"), runs=1, steps=9, seed=0)
    assert (result.length.tolist(), result.mean("goal"), result.mean("cost")) == ([2], 1.0, 2.0)


def test_a_taxi_can_be_driven_home() -> None:
    model = taxi()

    def drive(states: Any) -> list[int]:
        acts = []
        for state in states:
            value = model.valuation(int(state))
            at = value["destination"] if value["passenger"] == "taxi" else value["passenger"]
            x, y = {"red": (0, 0), "green": (3, 0), "blue": (0, 3), "yellow": (3, 3)}[at]
            way = "east" if x > value["x"] else "west" if x < value["x"] else ""
            way = way or ("south" if y > value["y"] else "north" if y < value["y"] else "")
            acts.append(model.action(way or ("set down" if value["passenger"] == "taxi" else "pick up")))
        return acts

    result = simulate(model, drive, runs=100, steps=30, seed=0)
    assert result.ended.all()
    assert result.frequency("arrived") == 1.0
    assert np.array_equal(result.total["reward"], 20.0 - result.length)


def test_the_mouse_can_find_out_where_it_is() -> None:
    model = cheese_maze()
    found = beliefs(model, ["walls ns", "walls n"], ["east"])
    assert found[0].tolist() == [0, 0.5, 0, 0.5, *[0] * 7], "both sides of the junction look alike"
    assert model.state_name(int(found[1].argmax())) == "cell 2", "one step tells them apart"
    assert found[1].max() == 1.0


def test_more_retries_deliver_more() -> None:
    delivered = []
    for most in (1, 3):
        model = retries(most, loss=0.5)
        policy = dict.fromkeys([s for s in model.state_names if s.startswith("sent")], "send")
        delivered.append(simulate(model, policy, runs=4000, steps=9, seed=3).frequency("delivered"))
    assert delivered == [pytest.approx(0.5, abs=0.04), pytest.approx(0.875, abs=0.03)]


def test_random_models_are_as_asked_for() -> None:
    model = random_mdp(500, actions=3, branches=4, seed=7, goals=2)
    assert (model.n_states, model.n_actions, model.n_choices) == (500, 3, 498 * 3)
    assert np.all(np.diff(model.branch_start) == 4)
    assert model.states_with("goal").tolist() == [498, 499]
    assert np.flatnonzero(model.absorbing).tolist() == [498, 499]
    assert model == random_mdp(500, actions=3, branches=4, seed=7, goals=2)
    assert model != random_mdp(500, actions=3, branches=4, seed=8, goals=2)
    counts = np.bincount(random_mdp(50, actions=20, branches=10, goals=0).target, minlength=50)
    assert abs(counts - 200).max() < 4 * np.sqrt(200), "targets are even"
    assert random_mdp(4, branches=4, goals=0).target.reshape(-1, 4).sum() == 8 * 6
    assert not random_mdp(3, goals=0).labels


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: grid(1), "a grid needs width >= 2"),
        (lambda: grid(slip=1.5), "slip in"),
        (lambda: retries(0), "most must be at least 1, got 0"),
        (lambda: random_mdp(1), "random_mdp needs 0 <= goals < states"),
        (lambda: random_mdp(5, branches=6), "branches <= states"),
    ],
)
def test_what_is_no_example_is_refused(make: Any, message: str) -> None:
    with pytest.raises(BadModel, match=message):
        make()
