"""A stormvogel model as an environment: its own numbers, and its own state objects in `info`."""

from __future__ import annotations

import copy
import importlib.util
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

from surefoot.gym import ActionUnavailableError, ModelEnv, ModelVectorEnv

needs_stormvogel = pytest.mark.skipif(
    importlib.util.find_spec("stormvogel") is None,
    reason="stormvogel is not installed: it needs Python >= 3.12, and make peers installs it",
)


def lion() -> Any:
    """Return a small MDP of theirs: full goes hunting or rests, dead is absorbing."""
    from stormvogel.model import new_mdp

    model = new_mdp(create_initial_state=True)
    full = model.initial_state
    dead = model.new_state("dead")
    hunt, rest = model.new_action("hunt"), model.new_action("rest")
    full.set_choices({hunt: [(0.5, full), (0.5, dead)], rest: [(1.0, full)]})
    dead.set_choices({rest: [(1.0, dead)]})
    model.new_reward_model("fun").set_state_reward(full, 3.0)
    return model


@needs_stormvogel
def test_the_state_in_the_info_is_theirs() -> None:
    model = lion()
    env = ModelEnv(model, reward_model_name="fun")
    observation, info = env.reset(seed=0)
    assert info["state"] is model.initial_state
    assert list(model.states)[observation] is model.initial_state
    hunt = env.model.action("hunt")
    while not env.step(hunt)[2]:
        env.action_masks()
    assert env._place is not None
    assert env._place.view is list(model.states)[env.state]
    observation, info = env.reset(options={"state": list(model.states)[1]})
    assert (observation, info["labels"]) == (1, ["dead"])
    with pytest.raises(ActionUnavailableError, match="action .* is not available in state"):
        env.step(hunt)


@needs_stormvogel
def test_copies_share_the_model_and_vectors_have_numbers() -> None:
    model = lion()
    env = ModelEnv(model)
    env.reset(seed=3)
    made = copy.deepcopy(env)
    rest = env.model.action("rest")
    assert made.step(rest)[4]["state"] is env.step(rest)[4]["state"]
    again = pickle.loads(pickle.dumps(env))
    assert again.step(rest)[0] == env.step(rest)[0]
    actions = np.random.default_rng(0).integers(0, 2, (30, 3))
    one = SyncVectorEnv([lambda: ModelEnv(model, on_unavailable="stay")] * 3)
    two = ModelVectorEnv(model, 3, on_unavailable="stay")
    assert one.reset(seed=1)[0].tolist() == two.reset(seed=1)[0].tolist()
    for row in actions:
        assert one.step(row)[0].tolist() == two.step(row)[0].tolist()
    assert two.reset(options={"state": list(model.states)[1]})[0].tolist() == [1, 1, 1]
