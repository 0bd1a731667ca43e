"""Every example model as an environment: Gymnasium's checker, and the runs of `surefoot.models.simulation`."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from surefoot.gym import ModelEnv, ModelVectorEnv
from surefoot.models.examples import ALL, random_mdp
from surefoot.models.markov import Model
from surefoot.models.simulation import paths

MADE: dict[str, Model] = {name: make() for name, make in ALL.items()}
MADE["random"] = random_mdp(50, seed=1)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("obs_type", ["index", "valuations"])
@pytest.mark.parametrize("rule", ["stay", "terminate"])
def test_gymnasiums_checker_finds_nothing(name: str, obs_type: str, rule: str) -> None:
    """Warnings are errors here. The checker takes any action, so what is not on offer has to be no error."""
    model = MADE[name]
    variables = model.observation_variables if hasattr(model, "observation_variables") else model.state_variables
    if obs_type == "valuations" and not any(variable.domain for variable in variables):
        with pytest.raises(ValueError, match="variables with a domain"):
            ModelEnv(model, obs_type="valuations")
        return
    reward = next(iter(model.rewards), None)
    env = gymnasium.make(
        "surefoot/Model-v0", model=model, reward_model_name=reward, obs_type=obs_type, on_unavailable=rule
    )
    env.action_space.seed(3)
    check_env(env.unwrapped)


@pytest.mark.parametrize("name", [name for name, model in MADE.items() if name != "taxi"])
def test_episodes_are_the_runs_of_the_simulation(name: str) -> None:
    model = MADE[name]
    reward = next(iter(model.rewards), None)
    runs = paths(model, runs=30, steps=12, seed=5)
    env = ModelEnv(model, reward, show_state=True)
    for number in range(30):
        observation, info = env.reset(seed=5 if number == 0 else None)
        for step in range(runs.length[number]):
            assert info["state"].number == runs.state[number, step]
            observation, paid, _, _, info = env.step(int(runs.action[number, step]))
            assert info["state"].number == runs.state[number, step + 1]
            if runs.observation is not None:
                assert observation == runs.observation[number, step + 1]
            if reward is not None:
                assert paid == pytest.approx(runs.reward[reward][number, step], abs=1e-12)


@pytest.mark.parametrize("name", MADE)
def test_random_policies_are_the_same_ones_too(name: str) -> None:
    model = MADE[name]
    envs = ModelVectorEnv(model, 8, next(iter(model.rewards), None), show_state=True)
    envs.reset(seed=40)
    run = envs.rollout(steps=10)
    assert run.actions is not None
    for place in range(8):
        alone = paths(model, runs=1, steps=10, seed=40 + place)
        length = int(alone.length[0])
        assert run.actions[:length, place].tolist() == alone.action[0, :length].tolist()
        if not envs._rules.hidden:
            assert run.observations[: length + 1, place].tolist() == alone.state[0, : length + 1].tolist()


def test_absorbing_is_what_the_simulation_ends_at() -> None:
    for model in MADE.values():
        env = ModelEnv(model, next(iter(model.rewards), None))
        assert np.array_equal(env._rules.ends, model.absorbing)
