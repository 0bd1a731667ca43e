"""A model sampled out of a Gymnasium environment: what stormvogel's tests of `gym_sampling` ask, asked of ours."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

from surefoot import MDP
from surefoot.errors import BadArgument
from surefoot.gym import ModelEnv
from surefoot.learners.counts import Counts
from surefoot.learners.histories import count_world
from surefoot.models.exchange.gymnasium import from_gymnasium


def lake(**options: Any) -> Any:
    return gymnasium.make("FrozenLake-v1", **options)


class Starts(gymnasium.Env[Any, Any]):
    """Two states to start in; `0` pays 1 and `1` pays 5 on the way to the end, where everything stays for ever."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(2))
        return self.at, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        pay = {0: 1.0, 1: 5.0}[action] if self.at < 2 else 0.0
        self.at = 2
        return self.at, pay, False, False, {}


def test_the_states_where_episodes_start_are_counted() -> None:
    counts = count_world(lake(is_slippery=False), steps=300, seed=1)
    model = counts.estimate()
    assert model.initial[model.state(0)] == 1.0
    assert set(counts.states) <= set(range(16))


def test_a_policy_that_takes_one_action_is_the_only_one_counted() -> None:
    counts = count_world(lake(), steps=200, seed=1, policy=lambda state, actions, numbers: 0)
    model = counts.estimate()
    assert {model.action_name(a) for a in model.choice_action.tolist()} == {"0"}
    assert counts.tried(0, 0) > 0
    assert counts.tried(0, 1) == 0


def test_observations_are_made_into_states() -> None:
    """Row and column of the lake, said as a text."""
    named = count_world(lake(), steps=400, seed=1, state_of=lambda seen: f"{int(seen) // 4},{int(seen) % 4}")
    plain = count_world(lake(), steps=400, seed=1)
    assert {f"{state // 4},{state % 4}" for state in plain.states} == set(named.states)
    assert named.followed("0,0", 2) == {f"{s // 4},{s % 4}": n for s, n in plain.followed(0, 2).items()}


def test_the_model_is_an_mdp_whose_frequencies_are_near_the_truth() -> None:
    counts = count_world(lake(), steps=6_000, seed=1)
    model, truth = counts.estimate(), from_gymnasium(lake())
    assert isinstance(model, MDP)
    for choice in range(model.n_choices):
        action, at = int(model.choice_action[choice]), int(model.state_name(int(model.choice_state[choice])))
        targets, odds = model.row(int(model.choice_state[choice]), action)
        assert odds.sum() == pytest.approx(1)
        real = dict(zip(*(part.tolist() for part in truth.row(at, action)), strict=True))
        assert {int(model.state_name(int(t))) for t in targets} <= set(real)
        if counts.tried(at, action) > 300:
            for target, odd in zip(targets.tolist(), odds.tolist(), strict=True):
                assert odd == pytest.approx(real[int(model.state_name(target))], abs=0.15)
    assert counts.tried(0, 0) > 300
    assert model.expected_reward().max() > 0


def test_several_starts_need_no_state_before_them() -> None:
    model = count_world(Starts(), steps=400, max_steps=2, seed=3).estimate()
    assert model.initial[model.state(0)] == pytest.approx(0.5, abs=0.1)
    assert model.initial[model.state(1)] == pytest.approx(0.5, abs=0.1)
    assert model.initial[model.state(2)] == 0.0


def test_rewards_that_differ_by_the_action_need_no_states_between() -> None:
    model = count_world(Starts(), steps=400, max_steps=2, seed=3).estimate()
    assert model.n_states == 3
    paid = model.expected_reward()
    by_choice = {
        (model.state_name(int(s)), model.action_name(int(a))): paid[i]
        for i, (s, a) in enumerate(zip(model.choice_state, model.choice_action, strict=True))
    }
    assert by_choice == {(s, a): 0.0 if s == "2" else 1.0 if a == "0" else 5.0 for s in "012" for a in "01"}


def test_what_was_sampled_is_an_environment_again() -> None:
    counts = count_world(lake(), steps=3_000, seed=1)
    env = ModelEnv(counts.estimate())
    observation, info = env.reset(seed=1)
    for _ in range(20):
        observation, reward, ended, _, info = env.step(env.action_space.sample(info["action_mask"]))
        assert env.observation_space.contains(observation)
        assert 0 <= float(reward) <= 1
        if ended:
            observation, info = env.reset()


def test_an_episode_is_cut_after_so_many_steps_and_its_last_state_is_no_end() -> None:
    counts = count_world(Starts(), steps=90, max_steps=3, seed=1)
    assert sum(counts.tried(state, action) for state in (0, 1) for action in (0, 1)) == 30
    assert counts.tried(2, 0) + counts.tried(2, 1) == 60
    assert not counts.estimate().states_with("ended").any()
    for wrong in (0, True, 1.5):
        with pytest.raises(BadArgument, match="max_steps must be a whole number >= 1"):
            count_world(Starts(), steps=1, max_steps=wrong)  # type: ignore[arg-type]  # wrong on purpose
    assert isinstance(counts, Counts)
