from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from surefoot.environments.corridor import Corridor
from surefoot.environments.from_gymnasium import FromGymnasium
from surefoot.environments.from_model import FromModel
from surefoot.errors import BadArgument, NotStarted
from surefoot.gym.environment_env import EnvironmentEnv
from surefoot.gym.model_env import ModelEnv
from surefoot.models.examples import ALL, die, grid, monty_hall
from surefoot.protocols import Outcome, faulted, moved, refused
from surefoot.testing import check_environment


def world_of(name: str) -> FromModel:
    model = ALL[name]()
    return FromModel(model, reward=next(iter(model.rewards), None))


def checked(env: gymnasium.Env[Any, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("fixed", [False, True])
def test_gymnasium_checks_every_example(name: str, fixed: bool) -> None:
    world = world_of(name)
    options: dict[str, Any] = {"actions": world.all_actions, "states": world.all_states} if fixed else {}
    checked(EnvironmentEnv(world, max_steps=50, **options))


def test_gymnasium_checks_other_worlds() -> None:
    checked(EnvironmentEnv(Corridor(), render_mode="ansi"))
    checked(EnvironmentEnv(FromGymnasium("Taxi-v4"), actions=range(6), states=range(500)))


def run(env: Any, seed: int, count: int = 40) -> list[Any]:
    """Return what a run tells that takes the actions on offer in turn."""
    told = []
    state = env.reset(seed)
    for step in range(count):
        offered = sorted(env.actions(state))
        if not offered:
            break
        outcome: Outcome[Any] = env.step(offered[step % len(offered)])
        state = outcome.state
        told.append((outcome.state, outcome.accepted, outcome.done, outcome.info["reward"]))
        if outcome.done:
            break
    return told


@pytest.mark.parametrize("name", ALL)
def test_there_and_back_is_the_same_world(name: str) -> None:
    """Model to world to Gymnasium and back to a world: the same states, actions, rewards and ends."""
    there = world_of(name)
    env = EnvironmentEnv(world_of(name), actions=there.all_actions)
    back = FromGymnasium(env, names=there.all_actions, key=lambda text, info: EnvironmentEnv.state_of(text))
    for seed in range(4):
        assert run(back, seed) == run(there, seed)


def test_the_world_that_comes_back_keeps_the_laws() -> None:
    def make() -> FromGymnasium:
        world = FromModel(monty_hall())
        return FromGymnasium(EnvironmentEnv(world, actions=world.all_actions), names=world.all_actions)

    report = check_environment(make, examples=4, steps=10, long=20)
    assert report["seeds"] == 2


def test_it_agrees_with_the_environment_over_the_model() -> None:
    """`FromModel` through `EnvironmentEnv` and `ModelEnv` draw the same numbers."""
    model = monty_hall()
    world = FromModel(model)
    one = EnvironmentEnv(world, actions=world.all_actions, states=world.all_states)
    other = ModelEnv(model)
    for seed in range(20):
        first: Any = one.reset(seed=seed)
        second: Any = other.reset(seed=seed)
        for _ in range(10):
            assert int(first[0]) == int(second[0])
            assert first[-1]["action_mask"].tolist() == second[-1]["action_mask"].tolist()
            action = int(np.argmax(first[-1]["action_mask"][::-1]))
            action = model.n_actions - 1 - action
            first, second = one.step(action), other.step(action)
            assert first[1:4] == second[1:4]
            if first[2]:
                break


def test_a_refused_step_changes_nothing() -> None:
    env = EnvironmentEnv(Corridor(length=2), most_actions=3, refused_reward=-1.0)
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(0)
    assert (observation, reward, terminated, truncated) == ("0", -1.0, False, False)
    assert info["refused"] == "a wall"
    assert info["effect"] is None
    assert env.step(2)[4]["refused"] == "not on offer"
    assert env.step(1)[4]["effect"] == {"cell": 1}
    end = env.step(1)
    assert end[2]
    assert end[4]["action_mask"].tolist() == [0, 0, 0]
    assert env.step(1)[4]["refused"] == "the episode is over"
    assert env.step(1)[2]
    strict = EnvironmentEnv(Corridor(length=2), on_refused="terminate")
    strict.reset(seed=0)
    assert strict.step(0)[2]


class Shaky(Corridor):
    """Breaks at the second step, is cut short at the third, offers nothing at the fourth."""

    def __init__(self) -> None:
        super().__init__(length=9)
        self.count = 0

    def step(self, action: str) -> Outcome[int]:
        self.count += 1
        if self.count == 2:
            return faulted(1, "time-out")
        outcome = super().step(action)
        return moved(outcome.state, done=True, info={"truncated": True}) if self.count == 3 else outcome

    def actions(self, state: int) -> list[str]:
        return [] if state == 3 else ["right"]


def test_faults_cuts_and_dead_ends_are_told() -> None:
    env = EnvironmentEnv(Shaky(), actions=["left", "right"])
    env.reset(seed=0)
    assert env.action_masks().tolist() == [False, True]
    assert "fault" not in env.step(1)[4]
    broken = env.step(1)
    assert (broken[0], broken[2], broken[4]["fault"]) == ("1", False, "time-out")
    cut = env.step(1)
    assert cut[2:4] == (False, True)
    dead = env.step(1)
    assert dead[2:4] == (True, False)
    assert dead[4]["actions"] == []


def test_steps_are_counted_and_rewards_can_be_made() -> None:
    env = EnvironmentEnv(Corridor(length=9), max_steps=2, reward=lambda outcome: 2 * outcome.state)
    env.reset(seed=0)
    assert env.step(1)[1:4] == (2.0, False, False)
    assert env.step(1)[1:4] == (4.0, False, True)
    env.reset(seed=0)
    assert env.step(0)[3] is False


def test_any_state_is_a_text_and_comes_back() -> None:
    states = ["", 'a "b"\n', "Zoë 𝄞", "\x7f", "\\u00eb \\\\", ("x", 1, True, 1.0, None), 2**70, -0.0]

    class Shelf:
        def reset(self, seed: int | None = None) -> Any:
            self.place = 0
            return states[0]

        def actions(self, state: Any) -> list[str]:
            return ["next"]

        def step(self, action: str) -> Outcome[Any]:
            self.place += 1
            return moved(states[self.place])

    env = EnvironmentEnv(Shelf())
    seen = [env.reset()[0], *(env.step(0)[0] for _ in states[1:])]
    assert all(env.observation_space.contains(text) for text in seen)
    assert [repr(EnvironmentEnv.state_of(text)) for text in seen] == [repr(state) for state in states]
    short = EnvironmentEnv(Shelf(), longest=3)
    short.reset()
    with pytest.raises(BadArgument, match=r"more than longest=3: raise it"):
        short.step(0)


def test_an_observation_can_be_made() -> None:
    box = gymnasium.spaces.Box(0, 9, (1,), np.float32)
    env = EnvironmentEnv(Corridor(), observe=lambda cell: np.array([cell], np.float32), observation_space=box)
    checked(env)
    assert env.reset(seed=0)[0].tolist() == [0.0]


def test_it_can_be_put_back_copied_and_pickled() -> None:
    env = EnvironmentEnv(FromModel(grid(), reward="goal"), actions=FromModel(grid(), reward="goal").all_actions)
    env.reset(seed=4)
    env.step(1)
    token = env.save_state()
    after = [env.step(1)[0] for _ in range(2)]
    for other in (env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        other.reset(options={"token": token})
        assert [other.step(1)[0] for _ in range(2)] == after
    with pytest.raises(BadArgument, match=r"options has \['tokens'\]; it may have 'token'"):
        env.reset(options={"tokens": token})


def test_it_works_in_a_vector() -> None:
    envs = gymnasium.vector.SyncVectorEnv([lambda: EnvironmentEnv(Corridor(), states=range(4)) for _ in range(3)])
    envs.reset(seed=1)
    observations, _, _, _, infos = envs.step(np.array([1, 0, 1]))
    assert observations.tolist() == [1, 0, 1]
    assert infos["action_mask"].shape == (3, 32)
    envs.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"most_actions": 0}, "most_actions must be an int >= 1"),
        ({"max_steps": 1.5}, "max_steps must be an int >= 1"),
        ({"actions": []}, "actions must be one value or more"),
        ({"actions": ["left", "left"]}, "all different"),
        ({"states": [1, 1]}, "states must be one value or more, all different"),
        ({"on_refused": "raise"}, "on_refused must be"),
        ({"render_mode": "human"}, "render_mode must be 'ansi' or None"),
        ({"observe": repr}, "observe and observation_space belong together"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        EnvironmentEnv(Corridor(), **options)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(BadArgument, match="world must have reset, actions and step"):
        EnvironmentEnv("corridor")  # type: ignore[arg-type]  # wrong on purpose
    env = EnvironmentEnv(Corridor(), most_actions=1)
    with pytest.raises(NotStarted, match="before reset"):
        env.step(0)
    with pytest.raises(BadArgument, match="offers 2 actions, more than most_actions=1"):
        env.reset()
    env = EnvironmentEnv(Corridor(), states=[0])
    env.reset()
    for action in (-1, 99, 1.0, True, None):
        with pytest.raises(BadArgument, match="an action is a whole number"):
            env.step(action)
    with pytest.raises(BadArgument, match="the world is in state 1, which is not among the 1 states"):
        env.step(1)
    with pytest.raises(BadArgument, match="no action on offer has the number 7"):
        env.action_of(7)
    fixed = EnvironmentEnv(FromGymnasium("FrozenLake-v1"))
    fixed.reset(seed=0)
    with pytest.raises(BadArgument, match="cannot be put back"):
        fixed.save_state()
    fixed.close()
    fixed.close()
    assert EnvironmentEnv(Corridor()).render() is None
    assert refused(0).verdict == "refused"
    assert FromModel(die()).all_actions == ["step"]
