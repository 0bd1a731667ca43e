"""A real learner on a real model: MaskablePPO of sb3-contrib finds its own way to the masks, and learns."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from surefoot.gym import ModelEnv, ModelVectorEnv
from surefoot.models import MDP

needs_sb3 = pytest.mark.skipif(
    importlib.util.find_spec("sb3_contrib") is None, reason="sb3-contrib is not installed: pip install sb3-contrib"
)


def bridge(length: int) -> MDP:
    """Return a bridge of planks: on plank s only actions s and s + 1 (modulo 4) are on offer, the second leads on.

    The first leads back to the start. A learner that ignores masks is refused at once.
    """
    offers = [sorted({s % 4, (s + 1) % 4}) for s in range(length)]
    rows = [(s, action) for s in range(length) for action in offers[s]]
    target = [s + 1 if action == (s + 1) % 4 else 0 for s, action in rows]
    return MDP(
        choice_start=[*range(0, 2 * length + 1, 2), 2 * length],
        choice_action=[action for _, action in rows],
        branch_start=range(2 * length + 1),
        target=target,
        probability=[1.0] * len(rows),
        initial=0,
        labels={"across": [length]},
        rewards={"cost": [-1.0] * length + [0.0]},
    )


@needs_sb3
@pytest.mark.nightly
@pytest.mark.filterwarnings("default")  # what torch and its friends warn of is theirs
def test_maskable_ppo_learns_to_cross() -> None:
    from sb3_contrib import MaskablePPO

    model = bridge(4)
    agent = MaskablePPO(
        "MlpPolicy", ModelEnv(model, max_steps=100), n_steps=256, batch_size=64, gamma=0.95, learning_rate=2e-3, seed=0
    )
    agent.learn(8_000)
    env = ModelEnv(model, max_steps=60)
    observation, _ = env.reset(seed=1)
    total, over = 0.0, False
    while not over:
        action, _ = agent.predict(observation, action_masks=env.action_masks(), deterministic=True)
        observation, reward, terminated, truncated, _ = env.step(action)
        total, over = total + reward, terminated or truncated
    assert observation == 4
    assert total == -4.0  # the shortest way


def test_the_bridge_is_hard_for_who_acts_at_random() -> None:
    envs = ModelVectorEnv(bridge(6), 500, autoreset_mode="SameStep")
    envs.reset(seed=0)
    run = envs.rollout(steps=60, record=False)
    assert np.mean(run.episodes) < 1.0  # a random walk needs 126 steps on average
