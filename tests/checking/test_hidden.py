from __future__ import annotations

import numpy as np
import pytest

from surefoot.checking.hidden import reach_hidden, reward_hidden
from surefoot.errors import BadArgument, BadModel, UnknownName
from surefoot.models import POMDP
from surefoot.models.examples import cheese_maze, monty_hall_blind, tiger


def test_switching_doors_wins_two_times_in_three() -> None:
    found = reach_hidden(monty_hall_blind(), "won", points=40, sweeps=20)
    assert found.lower == pytest.approx(2 / 3, abs=1e-9)
    assert found.lower <= 2 / 3 <= found.upper


def test_the_cheese_is_found_by_acting() -> None:
    found = reach_hidden(cheese_maze(), "cheese", points=60, sweeps=40)
    assert found.lower == pytest.approx(1.0)


def test_one_step_of_the_tiger_is_worked_out_by_hand() -> None:
    """With a discount near 0 only the first step counts: to listen costs 1, to open a door at random -45."""
    found = reward_hidden(tiger(), 1e-6, points=20, sweeps=20)
    assert found.lower == pytest.approx(-1.0, abs=1e-3)
    assert found.lower <= found.upper


def test_more_points_never_make_it_worse_and_bounds_keep_their_order() -> None:
    few, many = (reward_hidden(tiger(), 0.75, points=count, sweeps=25) for count in (2, 40))
    assert few.lower <= many.lower + 1e-9
    assert many.lower <= many.upper <= many.seen


def test_what_is_seen_whole_is_an_mdp() -> None:
    """One observation a state: all three bounds are the value of the MDP, 0.5 + 0.5 * 0.5."""
    model = POMDP(
        choice_start=[0, 1, 2, 2, 2],
        choice_action=[0, 0],
        branch_start=[0, 2, 4],
        target=[1, 2, 2, 3],
        probability=[0.5, 0.5, 0.5, 0.5],
        initial=0,
        observation=[0, 1, 2, 3],
        labels={"goal": [2]},
    )
    found = reach_hidden(model, "goal", points=10, sweeps=10)
    assert found.lower == pytest.approx(0.75, abs=1e-6)
    assert found.upper == pytest.approx(0.75, abs=1e-5)
    assert found.lower <= 0.75 <= found.upper


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadArgument, match="points and sweeps must be at least 1"):
        reward_hidden(tiger(), 0.5, points=0)
    with pytest.raises(UnknownName):
        reach_hidden(tiger(), "nowhere")
    model = tiger()
    with pytest.raises(BadArgument, match="intervals"):
        reward_hidden(model.replace(lower=model.probability, upper=model.probability), 0.5)
    alike = POMDP(
        choice_start=[0, 1, 2, 2],
        choice_action=[0, 1],
        branch_start=[0, 1, 2],
        target=[2, 2],
        probability=[1.0, 1.0],
        initial=np.array([0.5, 0.5, 0.0]),
        observation=[0, 0, 1],
        labels={"goal": [2]},
    )
    with pytest.raises(BadModel, match="offer different actions"):
        reach_hidden(alike, "goal")
