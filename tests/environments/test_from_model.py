from __future__ import annotations

import copy
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

from surefoot.environments.from_model import FromModel
from surefoot.errors import BadArgument, BadModel, NotStarted, UnknownName
from surefoot.models import HMM, MDP, POMDP, MarkovChain, Model, RewardModel, Valuations, Variable
from surefoot.models.draws import INITIAL, OBSERVATION, TRANSITION, uniform
from surefoot.models.examples import ALL, cheese_maze, die, grid, monty_hall, random_mdp, tiger, weather
from surefoot.protocols import Describable, Environment, Snapshotable
from surefoot.testing import EnvironmentContract, check_environment


class TestMontyHall(EnvironmentContract):
    offered, steps, long, examples = True, 20, 40, 4

    def make(self) -> FromModel:
        return FromModel(monty_hall())

    def walk(self) -> list[str]:
        return ["open", "play", "left", "fly", "open", "switch"]

    def clone(self, env: FromModel, state: str) -> FromModel:
        return copy.deepcopy(env)


class TestTiger(EnvironmentContract):
    refuses, steps, long, examples = False, 20, 40, 4

    def make(self) -> FromModel:
        return FromModel(tiger())

    def walk(self) -> list[str]:
        return ["listen", "listen", "open left"]


@pytest.mark.parametrize("name", ALL)
def test_every_example_keeps_the_laws(name: str) -> None:
    model = ALL[name]()
    report = check_environment(
        lambda: FromModel(model, reward=next(iter(model.rewards), None)),
        seeds=(0,),
        examples=2,
        steps=12,
        long=20,
        offered=not model.has_observations,
    )
    assert report["steps"] > 20


def test_it_is_what_it_says() -> None:
    world = FromModel(grid(), reward="goal")
    assert isinstance(world, Environment)
    assert isinstance(world, Snapshotable)
    assert isinstance(world, Describable)


def by_hand(model: Model, seed: int, episode: int, actions: list[str]) -> list[str]:
    """Return the states of an episode, drawn as `surefoot.models.draws` says, one loop at a time."""

    def pick(u: float, row: list[float]) -> int:
        total = 0.0
        for place, probability in enumerate(row):
            total += probability
            if u < total:
                return place
        return max(place for place, probability in enumerate(row) if probability)

    state = pick(uniform(seed, episode, 0, INITIAL), model.initial.tolist())
    path = [model.state_name(state)]
    for step, action in enumerate(actions):
        targets, probabilities = model.row(state, action if model.has_actions else 0)
        state = int(targets[pick(uniform(seed, episode, step, TRANSITION), probabilities.tolist())])
        path.append(model.state_name(state))
    return path


def test_episodes_are_drawn_at_their_addresses() -> None:
    model = random_mdp(30, seed=4).with_initial({0: 0.25, 7: 0.75})
    world = FromModel(model, termination="never")
    for seed in (0, 9, 2**70):
        for episode in range(3):
            path = [world.reset(seed) if episode == 0 else world.reset()]
            actions: list[str] = []
            while len(actions) < 12 and (offered := world.actions(path[-1])):
                actions.append(offered[len(actions) % len(offered)])
                path.append(world.step(actions[-1]).state)
            assert path == by_hand(model, seed, episode, actions)


def test_a_refusal_takes_no_time() -> None:
    one, other = FromModel(grid(), reward="goal"), FromModel(grid(), reward="goal")
    for world in (one, other):
        world.reset(seed=5)
    for action in ("east", "east", "south"):
        assert one.step("north").verdict in ("refused", "accepted")
        assert one.step("jump").reason == "no such action"
        if one.save_state() == other.save_state():
            assert one.step(action) == other.step(action)


def test_frequencies_are_the_probabilities() -> None:
    world = FromModel(die())
    faces: Counter[str] = Counter()
    tosses = 0.0
    for episode in range(3000):
        world.reset(seed=1 if episode == 0 else None)
        while not (outcome := world.step("step")).done:
            tosses += outcome.info["reward"]
        tosses += outcome.info["reward"]
        faces[outcome.state] += 1
    expected = 500
    assert sum((faces[face] - expected) ** 2 / expected for face in faces) < 20.5  # chi square, 5 degrees, p = 0.001
    assert tosses / 3000 == pytest.approx(11 / 3, abs=0.15)


def test_observations_hide_the_state() -> None:
    model = tiger()
    world = FromModel(model)
    first = world.reset(seed=3)
    assert first in model.observation_names
    assert world.all_states == list(model.observation_names)
    assert set(world.actions(first)) <= set(model.action_names)
    seen = world.step("listen")
    assert seen.effect == {"heard": "right"}
    place = bisect(uniform(3, 0, 1, OBSERVATION), model, world.save_state()[3])
    assert seen.state == model.observation_name(place)
    open_world = FromModel(model, observed=False)
    assert open_world.reset(seed=3) in model.state_names


def bisect(u: float, model: POMDP, state: int) -> int:
    seen, chances = model.observations_of(state)
    return int(seen[int(np.searchsorted(np.cumsum(chances), u, side="right"))])


def test_a_hidden_state_may_refuse_what_its_observation_offers() -> None:
    pomdp = POMDP(
        choice_start=[0, 1, 2, 2],
        choice_action=[0, 1],
        branch_start=[0, 1, 2],
        target=[1, 2],
        probability=[1, 1],
        initial=0,
        action_names=["go", "stop"],
        observation=[0, 0, 1],
    )
    world = FromModel(pomdp)
    here = world.reset(seed=0)
    assert world.actions(here) == ["go", "stop"]
    assert world.step("stop").reason == "not on offer"
    assert world.step("go").effect is None
    end = world.step("stop")
    assert (end.done, end.state, world.actions(end.state)) == (True, "o1", [])


def test_the_effect_is_what_changed() -> None:
    rows: list[dict[str, Any]] = [{"x": 1, "y": 0}, {"x": True, "y": 0}, {"y": 1}, {"y": 1}]
    chain = MarkovChain(
        choice_start=[0, 1, 2, 3, 3],
        branch_start=[0, 1, 2, 3],
        target=[1, 2, 3],
        probability=[1, 1, 1],
        initial=0,
        state_valuations=Valuations.from_rows([Variable("x"), Variable("y")], rows),
    )
    world = FromModel(chain)
    world.reset()
    assert [world.step("step").effect for _ in range(3)] == [{"x": True}, {"y": 1, "x": None}, {"state": "s3"}]
    assert world.describe("s0") == {"title": "s0", "labels": [], "values": {"x": 1, "y": 0}}
    hidden = HMM(
        choice_start=[0, 1, 2],
        branch_start=[0, 1, 2],
        target=[1, 0],
        probability=[1, 1],
        initial=0,
        observation=[0, 1],
        observation_names=["dark", "bright"],
        observation_valuations=Valuations.from_rows(None, [{"light": 0}, {"light": 5}]),
    )
    world = FromModel(hidden)
    world.reset()
    assert world.step("step").effect == {"light": 5}
    assert world.describe("bright") == {"title": "bright", "values": {"light": 5}}


def test_rewards_of_states_choices_and_transitions_are_added_up() -> None:
    mdp = MDP(
        choice_start=[0, 1, 2],
        choice_action=[0, 0],
        branch_start=[0, 1, 2],
        target=[1, 0],
        probability=[1, 1],
        initial=0,
        rewards={"a": RewardModel([1, 2], [10, 20], [100, 200]), "b": RewardModel()},
    )
    with pytest.raises(BadModel, match="multiple reward models"):
        FromModel(mdp)
    world = FromModel(mdp, reward="a")
    world.reset()
    assert [world.step("a0").info["reward"] for _ in range(2)] == [111.0, 222.0]
    world = FromModel(mdp, reward="b")
    world.reset()
    assert world.step("a0").info == {"reward": 0.0}


def test_when_an_episode_ends_is_a_choice() -> None:
    two = MarkovChain(choice_start=[0, 1, 1], branch_start=[0, 1], target=[1], probability=[1.0], initial=0)
    never = FromModel(two, termination="never")
    never.reset()
    assert not never.step("step").done
    assert never.actions("s1") == []
    assert never.step("step").reason == "not on offer"
    loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
    for termination, done in (("absorbing", True), ("never", False)):
        world = FromModel(loop, termination=termination)  # type: ignore[arg-type]  # one of the words
        world.reset()
        assert world.step("step").done is done
    two = MarkovChain(
        choice_start=[0, 1, 2],
        branch_start=[0, 1, 2],
        target=[1, 0],
        probability=[1, 1],
        initial=0,
        labels={"stop": [1]},
    )
    world = FromModel(two, terminal_label="stop")
    world.reset()
    assert world.step("step").done
    assert world.actions("s1") == []


def test_a_token_is_plain_and_can_be_used_again() -> None:
    world = FromModel(grid(), reward="goal")
    world.reset(seed=2)
    world.step("east")
    token = world.save_state()
    first = [world.step("south").state]
    copied = pickle.loads(pickle.dumps(world))
    for _ in range(2):
        world.restore_state(token)
        assert [world.step("south").state] == first
    copied.restore_state(token)
    assert [copied.step("south").state] == first
    with pytest.raises(BadArgument, match="is no token of save_state"):
        world.restore_state((1, 2))  # type: ignore[arg-type]  # wrong on purpose


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(BadArgument, match="model must be a MarkovChain"):
        FromModel("grid")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(BadArgument, match="termination must be"):
        FromModel(grid(), termination="sometimes")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(BadArgument, match="a MDP has no observations"):
        FromModel(grid(), observed=True)
    with pytest.raises(UnknownName, match="there is no label"):
        FromModel(grid(), reward="goal", terminal_label="gaol")
    with pytest.raises(BadArgument, match="seed must be a whole number"):
        FromModel(grid(), reward="goal", seed=-1)
    world = FromModel(weather())
    with pytest.raises(NotStarted, match="before reset"):
        world.step("step")
    with pytest.raises(NotStarted, match="before reset"):
        world.save_state()
    with pytest.raises(UnknownName, match="there is no observation 'wet'"):
        world.actions("wet")
    with pytest.raises(UnknownName, match="there is no state"):
        FromModel(grid(), reward="goal").actions("nowhere")
    assert FromModel(cheese_maze()).all_actions == list(cheese_maze().action_names)
