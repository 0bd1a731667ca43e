from __future__ import annotations

import pickle

import numpy as np
import pytest

from surefoot.errors import BadModel
from surefoot.models import RewardModel


def test_parts_are_kept_and_cannot_be_changed() -> None:
    given = np.array([1.0, 2.0])
    rewards = RewardModel(given, [3], None)
    given[0] = 9
    assert rewards.state is not None
    assert rewards.state.tolist() == [1.0, 2.0]
    assert rewards.choice is not None
    assert rewards.choice.tolist() == [3.0]
    with pytest.raises(ValueError, match="read-only"):
        rewards.state[0] = 0
    assert repr(rewards) == "RewardModel(state: 2, choice: 1)"


def test_equality_is_exact_and_closeness_is_not() -> None:
    one, near = RewardModel([1.0]), RewardModel([1.0 + 1e-10])
    assert one == RewardModel([1.0])
    assert one != near
    assert one.is_close(near)
    assert not one.is_close(near, 1e-12)
    assert one != RewardModel(choice=[1.0])
    assert one != RewardModel([1.0, 1.0])
    assert one != [1.0]
    copied = pickle.loads(pickle.dumps(one))
    assert copied == one
    assert hash(copied) == hash(one)
    assert not copied.state.flags.writeable


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_rewards_are_finite(bad: float) -> None:
    with pytest.raises(BadModel, match="the reward of transition 1 is (nan|inf): rewards are finite"):
        RewardModel(transition=[0.0, bad])


@pytest.mark.parametrize("bad", [["a"], [[1.0]], 1.0, [object()]])
def test_rewards_are_flat_arrays_of_numbers(bad: object) -> None:
    with pytest.raises(BadModel, match="the rewards of a state must"):
        RewardModel(bad)
