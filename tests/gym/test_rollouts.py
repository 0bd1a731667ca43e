"""A rollout is many steps: the same states, rewards and ends, whichever policy is followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefoot.errors import ActionUnavailableError, BadArgument
from surefoot.gym import ModelVectorEnv
from surefoot.gym.rollouts import Recorder, Table, rolled
from surefoot.models import MDP, POMDP

COUNT, STEPS = 6, 40


def by_hand(envs: ModelVectorEnv, run: Any, seed: int) -> None:
    """Step with the actions that a rollout recorded, and compare everything else."""
    envs.reset(seed=seed)
    episodes = np.zeros(COUNT, dtype=int)
    for step in range(run.steps):
        observations, rewards, terminated, truncated, _ = envs.step(run.actions[step])
        shown = run.observations if not isinstance(run.observations, dict) else None
        if shown is not None:
            assert observations.tolist() == shown[step + 1].tolist()
        else:
            for name, column in observations.items():
                assert column.tolist() == run.observations[name][step + 1].tolist()
        assert rewards.tolist() == run.rewards[step].tolist()
        assert terminated.tolist() == run.terminated[step].tolist()
        assert truncated.tolist() == run.truncated[step].tolist()
        episodes += terminated | truncated
    assert run.episodes.tolist() == episodes.tolist()
    assert run.total == pytest.approx(run.rewards.sum(axis=0))


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("name", ["hunt", "tiger", "maze", "lamp", "ring", "die"])
def test_a_rollout_is_what_steps_with_its_actions_are(name: str, mode: str, request: pytest.FixtureRequest) -> None:
    envs = ModelVectorEnv(request.getfixturevalue(name), COUNT, max_steps=7, autoreset_mode=mode)
    envs.reset(seed=4)
    first = envs.states
    run = envs.rollout(steps=STEPS)
    after = envs.save_state()
    if not envs._rules.hidden:
        assert run.observations[0].tolist() == first.tolist()
    by_hand(envs, run, seed=4)
    assert all(np.array_equal(one, two) for one, two in zip(envs.save_state(), after, strict=True))
    envs.reset(seed=4)
    sums = envs.rollout(steps=STEPS, record=False)
    assert sums.total.tolist() == run.total.tolist()
    assert sums.episodes.tolist() == run.episodes.tolist()
    assert sums.observations is None
    assert sums.actions is None


def test_two_short_rollouts_are_one_long_one(ring: MDP) -> None:
    envs = ModelVectorEnv(ring, COUNT)
    envs.reset(seed=1)
    whole = envs.rollout(steps=30).observations
    envs.reset(seed=1)
    first, second = envs.rollout(steps=13).observations, envs.rollout(steps=17).observations
    assert np.array_equal(whole, np.concatenate([first, second[1:]]))


def test_a_random_policy_takes_each_action_on_offer_equally_often(hunt: MDP) -> None:
    envs = ModelVectorEnv(hunt, 1000)
    envs.reset(seed=0)
    run = envs.rollout(steps=20)
    assert run.actions is not None
    before = run.observations[:-1]
    ended = np.zeros_like(before, dtype=bool)
    ended[1:] = run.terminated[:-1]  # type: ignore[index]  # recorded
    for state, offered in ((0, (0, 1)), (1, (1, 2))):
        taken = run.actions[(before == state) & ~ended]
        counts = np.bincount(taken, minlength=3)
        assert counts[[a for a in range(3) if a not in offered]].sum() == 0
        assert abs(counts[offered[0]] - len(taken) / 2) < 4 * np.sqrt(len(taken)) / 2


def test_a_policy_may_be_a_table_of_actions_or_of_probabilities(hunt: MDP, tiger: POMDP) -> None:
    envs = ModelVectorEnv(hunt, COUNT)
    envs.reset(seed=2)
    run = envs.rollout(np.array([1, 2, 0]), steps=STEPS)
    assert run.actions is not None
    assert np.array_equal(run.actions, np.array([1, 2, 0])[run.observations[:-1]])
    by_hand(envs, run, seed=2)
    envs = ModelVectorEnv(tiger, 2000)
    envs.reset(seed=2)
    run = envs.rollout(np.array([[0.7, 0.0, 0.3], [0.0, 1.0, 0.0]]), steps=5)
    assert run.actions is not None
    heard_left = run.actions[run.observations[:-1] == 0]
    counts = np.bincount(heard_left, minlength=3)
    assert counts[1] == 0
    assert abs(counts[0] - 0.7 * len(heard_left)) < 4 * np.sqrt(len(heard_left) * 0.21)
    assert (run.actions[run.observations[:-1] == 1] == 1).all()


def test_a_policy_may_be_a_function_of_observations_and_masks(hunt: MDP) -> None:
    envs = ModelVectorEnv(hunt, COUNT, obs_type="valuations")
    envs.reset(seed=2)

    def last_on_offer(observations: Any, masks: Any) -> Any:
        assert set(observations) == {"colour", "door", "x"}
        return masks.shape[1] - 1 - np.argmax(masks[:, ::-1], axis=1)

    run = envs.rollout(last_on_offer, steps=STEPS)
    by_hand(envs, run, seed=2)


def test_a_refused_rollout_changes_nothing(hunt: MDP) -> None:
    envs = ModelVectorEnv(hunt, COUNT)
    envs.reset(seed=2)
    before = envs.save_state()
    with pytest.raises(
        ActionUnavailableError, match=r"environment \d: action 0 \('wait'\) is not available in state 's1'"
    ):
        envs.rollout(np.array([1, 0, 0]), steps=STEPS)
    with pytest.raises(ZeroDivisionError):
        envs.rollout(lambda observations, masks: 1 // 0, steps=3)
    assert all(np.array_equal(one, two) for one, two in zip(envs.save_state(), before, strict=True))


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (np.array([0, 1]), r"policy must be None, a function, \(3,\) whole numbers or \(3, 3\) probabilities"),
        (np.array([0, 1, 3]), r"policy has actions that do not exist: numbers are in \[0, 3\)"),
        (np.array([0, 1, -1]), "policy has actions that do not exist"),
        (np.eye(3, dtype=int), "got int64 of the shape"),
        (np.full((3, 3), 0.3), "policy gives no distribution in row 0"),
        (np.array([[1.0, 0, 0], [2.0, -1.0, 0], [0, 0, 1.0]]), "policy gives no distribution in row 1"),
    ],
)
def test_wrong_policies(hunt: MDP, policy: Any, says: str) -> None:
    envs = ModelVectorEnv(hunt, 2)
    envs.reset(seed=0)
    with pytest.raises(BadArgument, match=says):
        envs.rollout(policy, steps=2)


@pytest.mark.parametrize("steps", [0, True, 1.5])
def test_wrong_numbers_of_steps(hunt: MDP, steps: Any) -> None:
    envs = ModelVectorEnv(hunt, 2)
    envs.reset(seed=0)
    with pytest.raises(BadArgument, match="steps must be a whole number >= 1"):
        envs.rollout(steps=steps)


def test_tables_and_recorders(hunt: MDP) -> None:
    envs = ModelVectorEnv(hunt, 2)
    envs.reset(seed=0)
    table = Table(envs, None)
    assert [table.action[low:high].tolist() for low, high in zip(table.start, table.start[1:], strict=False)] == [
        [0, 1],
        [1, 2],
        [0, 1, 2],
    ]
    assert not table.certain
    assert Table(envs, np.array([0, 1, 2])).certain
    assert Recorder(2, 3, record=False).finish(lambda seen: seen).rewards is None
    assert rolled(envs, None, 2, True).steps == 2
