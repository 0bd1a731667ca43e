from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from surefoot.environments.from_gymnasium import CopyableFromGymnasium, FromGymnasium
from surefoot.errors import BadArgument, NotStarted, ValueRejected, WorldUnavailable
from surefoot.protocols import Closable, Environment, Outcome, Snapshotable
from surefoot.testing import EnvironmentContract, check_environment
from surefoot.values import encode, encode_state

Obs = Any
TAXI = "Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3"
LEFT, DOWN, RIGHT, UP = range(4)


class Told(gymnasium.Env[Obs, Any]):
    """An environment that observes what it is told to, and writes down what it was stepped with."""

    action_space: spaces.Space[Any] = spaces.Discrete(3)
    observation_space = spaces.Discrete(1)

    def __init__(self, *observations: Any, action_space: spaces.Space[Any] | None = None, **ends: Any) -> None:
        self.observations, self.ends = list(observations), ends
        if action_space is not None:
            self.action_space = action_space
        self.taken: list[Any] = []
        self.seeds: list[int | None] = []
        self.closed = 0

    def _info(self) -> dict[str, Any]:
        infos = self.ends.get("infos", [])
        return dict(infos[min(len(self.taken), len(infos) - 1)]) if infos else {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.taken = []
        return self.observations[0], self._info()

    def step(self, action: Any) -> tuple[Obs, SupportsFloat, bool, bool, dict[str, Any]]:
        if isinstance(action, int) and "raises" in self.ends and action == 1:
            raise self.ends["raises"]
        self.taken.append(action)
        place = min(len(self.taken), len(self.observations) - 1)
        last = len(self.taken) >= len(self.observations) - 1
        terminated, truncated = last and "terminated" in self.ends, last and "truncated" in self.ends
        return self.observations[place], np.float32(0.5), terminated, truncated, self._info()

    def close(self) -> None:
        self.closed += 1


def told(*observations: Any, **ends: Any) -> Told:
    return Told(*observations, **ends)


# ── the real ones ──


class TestFrozenLake(EnvironmentContract):
    examples, long, steps = 3, 40, 12

    def make(self) -> Environment[Any, Any]:
        return CopyableFromGymnasium("FrozenLake-v1", is_slippery=False, no_op="refused", max_episode_steps=-1)

    def walk(self) -> Sequence[int]:
        return [LEFT, DOWN, DOWN, RIGHT, RIGHT, DOWN, RIGHT]

    def clone(self, env: CopyableFromGymnasium, state: Any) -> Environment[Any, Any]:
        other = CopyableFromGymnasium("FrozenLake-v1", is_slippery=False, no_op="refused", max_episode_steps=-1)
        assert other.restore_state(env.save_state()) == state
        return other


class TestSlipperyLake(EnvironmentContract):
    seeds, examples, long, steps = (0,), 3, 30, 12
    offered = True

    def make(self) -> Environment[Any, Any]:
        return CopyableFromGymnasium("FrozenLake-v1", names=["left", "down", "right", "up"])

    def walk(self) -> Sequence[str]:
        return ["down", "fly", "down"]


class TestTaxi(EnvironmentContract):
    seeds, examples, long, steps = (0,), 1, 30, 10
    offered = True

    def make(self) -> Environment[Any, Any]:
        return CopyableFromGymnasium(TAXI)

    def walk(self) -> Sequence[int]:
        return [5, 4, 3, 2, 1, 0, 1]


class TestCliffWalking(EnvironmentContract):
    seeds, examples, long, steps = (0,), 3, 30, 12

    def make(self) -> Environment[Any, Any]:
        return CopyableFromGymnasium("CliffWalking-v1", no_op="refused")

    def walk(self) -> Sequence[int]:
        return [3, 0, 1, 1]


class TestBlackjack(EnvironmentContract):
    seeds, examples, long, steps = (0,), 3, 30, 12
    refuses = False

    def make(self) -> Environment[Any, Any]:
        return CopyableFromGymnasium("Blackjack-v1")

    def walk(self) -> Sequence[int]:
        return [1, 0]


class TestCartPole(EnvironmentContract):
    seeds, examples, long, steps = (0,), 3, 30, 12
    refuses = False

    def make(self) -> Environment[Any, Any]:
        return CopyableFromGymnasium("CartPole-v1")

    def walk(self) -> Sequence[int]:
        return [0, 1, 1]


@pytest.fixture
def lake() -> Iterator[FromGymnasium]:
    with FromGymnasium("FrozenLake-v1", is_slippery=False) as world:
        yield world


def test_frozen_lake_says_what_changed_and_when_it_ends(lake: FromGymnasium) -> None:
    assert isinstance(lake, Environment)
    assert isinstance(lake, Closable)
    assert not isinstance(lake, Snapshotable)
    assert lake.reset(seed=0) == 0
    assert lake.step(RIGHT) == Outcome(1, effect={"observation": 1}, info={"prob": 1.0, "reward": 0.0})
    assert lake.step(UP) == Outcome(1, effect=None, info={"prob": 1.0, "reward": 0.0})
    for action in (RIGHT, DOWN, DOWN, DOWN):
        out = lake.step(action)
        assert out.accepted
        assert not out.done
    out = lake.step(RIGHT)
    assert (out.state, out.done, out.info["reward"], "truncated" in out.info) == (15, True, 1.0, False)
    assert lake.actions(15) == []
    assert lake.actions(14) == [0, 1, 2, 3]
    with pytest.raises(NotStarted, match=r"step\(0\) after the episode was over: call reset"):
        lake.step(0)
    assert lake.reset(seed=0) == 0
    assert lake.actions(15) == [0, 1, 2, 3], "terminated is a thing of the moment, not of the observation"


def test_a_time_limit_truncates() -> None:
    with FromGymnasium("FrozenLake-v1", is_slippery=False, max_episode_steps=2) as world:
        world.reset(seed=0)
        assert not world.step(LEFT).done
        out = world.step(LEFT)
        assert (out.done, out.info["truncated"], out.accepted, out.effect) == (True, True, True, None)
        assert world.actions(0) == [0, 1, 2, 3]
        with pytest.raises(NotStarted, match="after the episode was over"):
            world.step(LEFT)
    with FromGymnasium("FrozenLake-v1", is_slippery=False, max_episode_steps=1, no_op="refused") as world:
        world.reset(seed=0)
        out = world.step(LEFT)
        assert (out.verdict, out.reason, out.done, out.info["truncated"]) == ("refused", "nothing changed", True, True)


def test_slippery_ice_is_reproducible_and_surprises() -> None:
    def run(seed: int, world: FromGymnasium) -> list[Outcome[Any]]:
        world.reset(seed=seed)
        outs: list[Outcome[Any]] = []
        while not outs or not outs[-1].done:
            outs.append(world.step(RIGHT))
        return outs

    with FromGymnasium("FrozenLake-v1") as one, FromGymnasium("FrozenLake-v1") as two:
        runs = {seed: run(seed, one) for seed in range(10)}
        assert {seed: run(seed, two) for seed in reversed(range(10))} == runs
        firsts = {outs[0].state for outs in runs.values()}
        assert firsts == {0, 1, 4}, "one action leads to several places"


def test_taxi_honours_its_mask() -> None:
    with FromGymnasium(TAXI) as taxi:
        here = taxi.reset(seed=0)
        table = taxi._env.unwrapped.P  # type: ignore[attr-defined]  # looks inside
        offered = list(taxi.actions(here))
        assert offered == [a for a in range(6) if any(there != here for _, there, _, _ in table[here][a])]
        forbidden = next(a for a in range(6) if a not in offered)
        out = taxi.step(forbidden)
        assert out == Outcome(here, accepted=False, reason="masked", info={"predicted": True})
        went = taxi.step(offered[0])
        assert went.effect == {"observation": went.state}
        assert went.info["reward"] == -1.0
        assert went.info["action_mask"] == tuple(int(a in taxi.actions(went.state)) for a in range(6))
        assert taxi.actions(here) == offered, "the mask of a state that was left is remembered"
        assert taxi.actions(499 if here != 499 else 498) == list(range(6)), "nothing is known of a state never seen"
    with FromGymnasium(TAXI, mask=None) as free:
        here = free.reset(seed=0)
        assert free.actions(here) == list(range(6))
        out = free.step(forbidden)
        assert (out.verdict, out.effect, out.state) == ("accepted", None, here)


def test_blackjack_states_are_tuples_and_cartpole_states_are_exact_floats() -> None:
    with FromGymnasium("Blackjack-v1") as game:
        state = game.reset(seed=1)
        assert [type(part) for part in state] == [int, int, int]
        assert game.step(0).done
    with FromGymnasium("CartPole-v1") as pole, gymnasium.make("CartPole-v1") as raw:
        state, (observation, _) = pole.reset(seed=1), raw.reset(seed=1)
        assert state == tuple(float(x) for x in observation)
        assert np.array(state, dtype=np.float32).tobytes() == observation.tobytes()
        out, there = pole.step(1), raw.step(1)
        assert out.state == tuple(map(float, there[0]))
        assert out.effect == {"observation": out.state}


def test_a_report_of_the_whole_contract() -> None:
    report = check_environment(lambda: FromGymnasium("CliffWalking-v1"), seeds=(0,), examples=2, long=20, steps=10)
    assert report["deterministic"]


# ── seeds ──


def test_the_constructors_seed_is_for_the_first_reset_without_one() -> None:
    env = told(0)
    world = FromGymnasium(env, seed=7)
    world.reset()
    world.reset()
    world.reset(seed=3)
    assert env.seeds == [7, None, 3]
    late = FromGymnasium(env := told(0), seed=7)
    late.reset(seed=1)
    late.reset()
    assert env.seeds == [1, 7]


@pytest.mark.parametrize("seed", [-1, True, 1.0, "1", np.int64(3)])
def test_no_other_seeds(seed: Any) -> None:
    with pytest.raises(BadArgument, match="seed must be an int >= 0 or None, got"):
        FromGymnasium(told(0), seed=seed)
    with pytest.raises(BadArgument, match="seed must be an int >= 0 or None, got"):
        FromGymnasium(told(0)).reset(seed)


# ── actions ──


def offers(space: spaces.Space[Any], **options: Any) -> tuple[list[Any], Told]:
    env = told(0, 1, action_space=space)
    world = FromGymnasium(env, **options)
    actions = list(world.actions(world.reset()))
    for action in actions:
        world.reset()
        assert world.step(action).accepted
        assert space.contains(env.taken[0]), (action, env.taken)
    return actions, env


@pytest.mark.parametrize(
    ("space", "actions"),
    [
        (spaces.Discrete(3), [0, 1, 2]),
        (spaces.Discrete(2, start=-1), [-1, 0]),
        (spaces.MultiDiscrete([2, 3]), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]),
        (spaces.MultiDiscrete(np.array([[1, 2]]), start=np.array([[5, 6]])), [((5, 6),), ((5, 7),)]),
        (spaces.MultiBinary(2), [(0, 0), (0, 1), (1, 0), (1, 1)]),
        (spaces.Tuple([spaces.Discrete(2), spaces.MultiBinary(1)]), [(0, (0,)), (0, (1,)), (1, (0,)), (1, (1,))]),
        (
            spaces.Dict({"b": spaces.Discrete(2), "a": spaces.Discrete(1)}),
            [{"b": 0, "a": 0}, {"b": 1, "a": 0}],
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_space_that_can_be_listed_is(space: spaces.Space[Any], actions: list[Any]) -> None:
    listed, _ = offers(space)
    assert [encode(action) for action in listed] == [encode(action) for action in actions]


def test_an_action_that_was_returned_and_changed_changes_nothing() -> None:
    world = FromGymnasium(told(0, 1, action_space=spaces.Dict({"a": spaces.Discrete(2)})))
    world.reset()
    world.actions(0)[0]["a"] = 9
    assert world.actions(0) == [{"a": 0}, {"a": 1}]


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(0, 1, (2,)),
        spaces.Text(3),
        spaces.Sequence(spaces.Discrete(2)),
        spaces.Tuple([spaces.Discrete(2), spaces.Box(0, 1)]),
        spaces.Dict({"a": spaces.Box(0, 1)}),
    ],
    ids=lambda space: type(space).__name__,
)
def test_a_space_that_cannot_be_listed_is_refused_with_the_mend(space: spaces.Space[Any]) -> None:
    with pytest.raises(BadArgument, match=r"the action space .* cannot be listed; .*TransformAction") as caught:
        FromGymnasium(told(0, action_space=space))
    assert str(space if isinstance(space, spaces.Box) else "Box" if "Box" in str(space) else space) in str(caught.value)


def test_the_mend_for_a_continuous_space_works() -> None:
    actions = [np.array([x], dtype=np.float32) for x in (-2.0, 0.0, 2.0)]
    pendulum = gymnasium.make("Pendulum-v1")
    with pytest.raises(BadArgument, match="TransformAction"):
        FromGymnasium(pendulum)
    wrapped = gymnasium.wrappers.TransformAction(pendulum, lambda n: actions[n], spaces.Discrete(len(actions)))
    with FromGymnasium(wrapped, names=["left", "rest", "right"]) as world:
        state = world.reset(seed=0)
        assert world.actions(state) == ["left", "rest", "right"]
        assert world.step("left").state != state


def test_there_can_be_too_many_actions() -> None:
    space = spaces.MultiDiscrete([1000] * 10)
    with pytest.raises(BadArgument, match=f"has {1000**10} actions, more than most_actions=10000; raise it"):
        FromGymnasium(told(0, action_space=space))
    with pytest.raises(BadArgument, match="has 4 actions, more than most_actions=3"):
        FromGymnasium("FrozenLake-v1", most_actions=3)


def test_names_stand_for_the_actions_in_their_order() -> None:
    env = told(0, 1, action_space=spaces.Discrete(2, start=5))
    world = FromGymnasium(env, names=("stay", "go"))
    assert world.actions(world.reset()) == ["stay", "go"]
    world.step("go")
    assert env.taken == [6]
    out = world.step(6)
    assert (out.verdict, out.reason) == ("refused", "no such action")


@pytest.mark.parametrize(
    ("names", "why"),
    [("abc", "names must be a list of texts"), ([1, 2, 3], "names must be a list of texts")]
    + [(names, "names must be 3 different texts") for names in (["a", "b"], ["a", "b", "a"], [])],
)
def test_no_other_names(names: Any, why: str) -> None:
    with pytest.raises(BadArgument, match=why):
        FromGymnasium(told(0), names=names)


@pytest.mark.parametrize("action", [3, -1, True, 1.0, "1", (1,), {"a": 1}, None])
def test_what_is_no_action_is_refused_and_not_taken(action: Any) -> None:
    env = told(0, 1)
    world = FromGymnasium(env)
    world.reset()
    out = world.step(action)
    assert (out.verdict, out.state, out.reason) == ("refused", 0, "no such action")
    assert env.taken == []


def test_an_action_that_is_not_plain_is_an_error() -> None:
    world = FromGymnasium(told(0, 1))
    world.reset()
    with pytest.raises(ValueRejected, match=r"use \.tolist\(\) or \.item\(\)"):
        world.step(np.int64(1))
    assert world.step(1).state == 1


# ── masks ──


@pytest.mark.parametrize(
    "mask", [[0, 1, 1], (0, 1, 1), np.array([0, 1, 1], dtype=np.int8), np.array([False, True, True])]
)
def test_a_mask_may_be_any_array_of_flags(mask: Any) -> None:
    world = FromGymnasium(told(0, 1, infos=[{"action_mask": mask}]))
    assert world.actions(world.reset()) == [1, 2]
    assert world.step(0).reason == "masked"


@pytest.mark.parametrize(
    ("space", "mask", "allowed"),
    [
        (spaces.MultiDiscrete([2, 2]), (np.array([1, 0]), np.array([1, 1])), [(0, 0), (0, 1)]),
        (spaces.MultiDiscrete([2, 2]), np.array([0, 0, 0, 1]), [(1, 1)]),
        (spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)]), (None, np.array([0, 1])), [(0, 1), (1, 1)]),
        (
            spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Discrete(2)}),
            {"b": [0, 1]},
            [{"a": 0, "b": 1}, {"a": 1, "b": 1}],
        ),
        (spaces.Tuple([spaces.MultiBinary(1), spaces.Discrete(1)]), (([1, 0],), [1]), [((0,), 0)]),
    ],
    ids=str,
)
def test_a_mask_of_a_compound_space_may_have_its_parts(space: Any, mask: Any, allowed: list[Any]) -> None:
    world = FromGymnasium(told(0, 1, action_space=space, infos=[{"action_mask": mask}]))
    assert world.actions(world.reset()) == allowed


def test_a_mask_in_the_observation_is_not_part_of_the_state() -> None:
    observations = [{"x": i, "action_mask": np.array([i, 1, 1], dtype=np.int8)} for i in range(2)]
    env = told(*observations)
    world = FromGymnasium(env)
    state = world.reset()
    assert (state, world.actions(state)) == ((("x", 0),), [1, 2])
    out = world.step(1)
    assert (out.state, out.effect, world.actions(out.state)) == ((("x", 1),), {"x": 1}, [0, 1, 2])
    assert world.actions(state) == [1, 2]
    whole = FromGymnasium(env, mask=None)
    assert whole.reset() == (("action_mask", (0, 1, 1)), ("x", 0))


def test_a_mask_may_come_from_a_function_and_have_another_name() -> None:
    env = told(0, 1)
    world = FromGymnasium(env, mask=lambda _: [1, 0, env.taken == []])
    assert world.actions(world.reset()) == [0, 2]
    assert world.actions(world.step(0).state) == [0]
    other = FromGymnasium(told(0, 1, infos=[{"legal": [0, 0, 1], "action_mask": [1, 1, 0]}]), mask="legal")
    assert other.actions(other.reset()) == [2]


def test_a_mask_that_does_not_fit_is_an_error() -> None:
    world = FromGymnasium(told(0, infos=[{"action_mask": [1, 0]}]))
    with pytest.raises(
        BadArgument, match=r"the action mask of Told has \[2\] flags, its actions are \[3\]: pass mask=None"
    ):
        world.reset()


def test_masks_are_remembered_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.environments.from_gymnasium._MOST_MASKS", 2)
    world = FromGymnasium(told(0, 1, 2, infos=[{"action_mask": [1, 0, 0]}]))
    world.reset()
    world.step(0)
    world.step(0)
    assert [world.actions(state) for state in range(3)] == [[0, 1, 2], [0], [0]]


# ── refusals ──


def test_a_silent_no_op_is_accepted_without_effect_or_refused_if_asked() -> None:
    env = told(0, 0, 1)
    world = FromGymnasium(env)
    world.reset()
    assert world.step(2) == Outcome(0, effect=None, info={"reward": 0.5})
    strict = FromGymnasium(env, no_op="refused")
    strict.reset()
    assert strict.step(2) == Outcome(0, accepted=False, reason="nothing changed", info={"reward": 0.5})
    assert strict.step(2).effect == {"observation": 1}


def test_an_end_without_a_change_is_no_refusal() -> None:
    world = FromGymnasium(told(0, 0, terminated=True), no_op="refused")
    world.reset()
    out = world.step(1)
    assert (out.verdict, out.done, out.effect) == ("accepted", True, None)


def test_listed_exceptions_are_refusals_and_others_come_through() -> None:
    env = told(0, 1, raises=KeyError("locked"))
    world = FromGymnasium(env, refusals=(LookupError,))
    world.reset()
    out = world.step(1)
    assert (out.verdict, out.state, out.reason) == ("refused", 0, "KeyError: 'locked'")
    assert world.step(0).state == 1
    env.ends["raises"] = ValueError()
    with pytest.raises(ValueError, match="^$"):
        world.step(1)
    silent = FromGymnasium(env, refusals=(ValueError,))
    silent.reset()
    assert silent.step(1).reason == "ValueError"


@pytest.mark.parametrize("refusals", [ValueError, [ValueError], (ValueError(),), (BaseException,)])
def test_no_other_refusals(refusals: Any) -> None:
    with pytest.raises(BadArgument, match="refusals must be a tuple of exception classes"):
        FromGymnasium(told(0), refusals=refusals)


def test_no_other_no_op() -> None:
    with pytest.raises(BadArgument, match="no_op must be 'accepted' or 'refused', got 'ignored'"):
        FromGymnasium(told(0), no_op="ignored")  # type: ignore[arg-type]  # wrong on purpose


# ── observations ──


@pytest.mark.parametrize(
    ("observation", "state"),
    [
        (3, 3),
        (True, True),
        (0.1, 0.1),
        ("hall", "hall"),
        (None, None),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.float32(0.1), 0.10000000149011612),
        (np.float64(-0.0), -0.0),
        (np.str_("hall"), "hall"),
        (np.array(7), 7),
        (np.array([[1, 2], [3, 4]], dtype=np.uint8), ((1, 2), (3, 4))),
        (np.array([0.5, 0.25], dtype=np.float16), (0.5, 0.25)),
        (np.array([True, False]), (True, False)),
        (np.array([], dtype=np.int8), ()),
        (np.array(["a", 1], dtype=object), ("a", 1)),
        ([1, [2.0]], (1, (2.0,))),
        ((np.int8(1), np.array([2])), (1, (2,))),
        ({"b": np.array([1]), "a": {"z": 0, "y": 1}}, (("a", (("y", 1), ("z", 0))), ("b", (1,)))),
        ({2: "two", 1: "one"}, ((1, "one"), (2, "two"))),
    ],
    ids=repr,
)
def test_observations_become_plain_values_exactly(observation: Any, state: Any) -> None:
    world = FromGymnasium(told(observation))
    assert encode_state(world.reset()) == encode_state(state)


@pytest.mark.parametrize(
    ("observation", "why"),
    [
        (float("nan"), "Told: observation is nan: not a finite number"),
        (np.array([[1.0, np.nan]]), r"Told: observation\[0\]\[1\] is nan: not a finite number"),
        ({"a": 1, "position": np.array([0, np.inf])}, r"Told: observation\['position'\]\[1\] is inf: not a finite"),
        ((1, {"x": b"bytes"}), r"Told: observation\[1\]\['x'\] is b'bytes': bytes is not a plain value"),
        (np.array([b"raw"]), r"Told: observation\[0\] is b'raw'"),
        (object(), "Told: observation is <object object"),
        ({b"key": 1}, r"Told: observation has a key: it is b'key': bytes"),
    ],
    ids=["nan", "array", "dict", "nested", "bytes", "object", "key"],
)
def test_an_observation_that_is_not_plain_is_named_by_its_place(observation: Any, why: str) -> None:
    world = FromGymnasium(told(0, observation))
    with pytest.raises(ValueRejected, match=why + ".*; or make a state of it with key="):
        FromGymnasium(told(observation)).reset()
    world.reset()
    with pytest.raises(ValueRejected, match=why):
        world.step(0)
    with pytest.raises(NotStarted):
        world.step(0)  # where it is now cannot be said


def test_a_key_makes_the_state() -> None:
    pixels = [np.full((64, 64, 3), i, dtype=np.uint8) for i in (1, 1, 2)]

    def brightness(observation: Any, info: Mapping[str, Any]) -> Any:
        return ("bright", int(observation.max()), info["turn"])

    world = FromGymnasium(told(*pixels, infos=[{"turn": 0}, {"turn": 0}, {"turn": 1}]), key=brightness)
    assert world.reset() == ("bright", 1, 0)
    assert world.step(0).effect is None
    assert world.step(0).effect == {"observation": ("bright", 2, 1)}
    typed = FromGymnasium(told(0), key=lambda observation, info: np.float64(0.5))
    assert type(typed.reset()) is float
    wrong = FromGymnasium(told(0), key=lambda observation, info: [1])
    with pytest.raises(
        ValueRejected, match=r"key\(observation, info\) of Told gave no state: \$ is \[1\]: a list cannot"
    ):
        wrong.reset()


def test_of_a_dict_observation_the_effect_is_what_changed() -> None:
    world = FromGymnasium(told({"x": 1, "y": (0, 0)}, {"x": 1, "y": (0, 1)}, {"x": 1.0, "y": (0, 1), "z": 0}))
    world.reset()
    assert world.step(0).effect == {"y": (0, 1)}
    effect = world.step(0).effect
    assert encode(effect) == encode({"x": 1.0, "z": 0})
    numbered = FromGymnasium(told({1: 1}, {1: 2}))
    numbered.reset()
    assert numbered.step(0).effect == {"observation": ((1, 2),)}


def test_the_info_is_plain_and_says_what_was_left_out() -> None:
    shared = np.array([1, 2])
    infos = [{"a": shared, "b": object(), "c": float("nan"), "d": {"e": [np.int8(1)]}}]
    world = FromGymnasium(told(0, 1, infos=infos))
    world.reset()
    info = world.step(0).info
    shared[0] = 9
    assert info == {"a": (1, 2), "d": (("e", (1,)),), "reward": 0.5, "left_out": ["b", "c"]}


# ── making, closing ──


def test_an_environment_of_yours_is_taken_as_it_is_and_closed() -> None:
    env = told(0, 1)
    world = FromGymnasium(env)
    with pytest.raises(NotStarted, match=r"step\(0\) before reset\(\): call reset"):
        world.step(0)
    assert world.actions(0) == [0, 1, 2]
    world.reset()
    world.close()
    assert env.closed == 1
    with pytest.raises(NotStarted):
        world.step(0)


@pytest.mark.parametrize(
    ("env", "kwargs", "error", "why"),
    [
        ("Nowhere-v0", {}, WorldUnavailable, "gymnasium cannot make 'Nowhere-v0': .*doesn't exist"),
        ("not an id", {}, WorldUnavailable, "Malformed"),
        ("no_such_module_here:X-v0", {}, WorldUnavailable, "No module named 'no_such_module_here'"),
        ("FrozenLake-v1", {"bogus": 1}, BadArgument, "unexpected keyword argument 'bogus'"),
        (42, {}, BadArgument, "env must be the id of a Gymnasium environment or one environment, got 42"),
        (told(0), {"is_slippery": False}, BadArgument, "env is an environment already: is_slippery"),
    ],
    ids=str,
)
def test_what_cannot_be_made_is_named(env: Any, kwargs: dict[str, Any], error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        FromGymnasium(env, **kwargs)


def test_a_registered_environment_of_yours_can_be_named() -> None:
    def entry(**kwargs: Any) -> Told:
        return told(0, 1, 2, truncated=True, **kwargs)

    gymnasium.register("surefoot/Told-v0", entry_point=entry, disable_env_checker=True)
    try:
        with FromGymnasium("surefoot/Told-v0") as world:
            world.reset(seed=1)
            assert world.step(1).state == 1
            assert world.step(1).info["truncated"] is True
        bad = FromGymnasium("surefoot/Told-v0", mask=lambda env: [])
        with pytest.raises(BadArgument, match="the action mask of surefoot/Told-v0 has"):
            bad.reset()
    finally:
        del gymnasium.registry["surefoot/Told-v0"]


# ── copies ──


@pytest.mark.parametrize("name", ["FrozenLake-v1", TAXI, "CliffWalking-v1", "Blackjack-v1", "CartPole-v1"])
def test_a_copy_goes_on_exactly_as_the_original_did(name: str) -> None:
    def play(world: FromGymnasium) -> list[tuple[str, bytes, bool, Any]]:
        outs = []
        for turn in range(40):
            out = world.step(turn * 7 % 5 % 2)
            outs.append((out.verdict, encode_state(out.state), out.done, out.info.get("reward")))
            if out.done:
                break
        return outs

    world = CopyableFromGymnasium(name)
    with world:
        start = world.reset(seed=5)
        token = world.save_state()
        first = play(world)
        for _ in range(2):
            assert world.restore_state(token) == start
            assert play(world) == first
        assert isinstance(world, Snapshotable)


def test_what_cannot_be_copied_says_so_and_stays_as_it_was() -> None:
    env = told(0, 1)
    world = CopyableFromGymnasium(env)
    with pytest.raises(NotStarted, match=r"save_state\(\) before reset"):
        world.save_state()
    world.reset()
    env.lock = iter(()).__next__  # type: ignore[attr-defined]  # wrong on purpose
    env.handle = open(__file__, "rb")  # type: ignore[attr-defined]  # cannot be copied
    with env.handle:  # type: ignore[attr-defined]  # cannot be copied
        with pytest.raises(BadArgument, match=r"Told cannot be copied \(.*\); use FromGymnasium for it"):
            world.save_state()
        assert world.step(1).state == 1
