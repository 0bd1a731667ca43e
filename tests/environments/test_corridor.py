"""The corridor keeps the laws, and says what is wrong with what it is given."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot.environments.corridor import Corridor
from surefoot.errors import BadArgument, NotStarted
from surefoot.protocols import Describable, Environment, Outcome, Signposted, Snapshotable, ended, moved, refused
from surefoot.testing import EnvironmentContract


class TestCorridor(EnvironmentContract):
    offered, long, examples = True, 60, 6

    def make(self) -> Corridor:
        return Corridor(length=3)

    def walk(self) -> list[str]:
        return ["left", "right", "right", "right"]


def test_the_walk_of_the_contract_step_by_step() -> None:
    world = Corridor(length=2)
    assert world.reset(seed=5) == 0
    assert [world.step(action) for action in ("left", "right", "left", "right", "up", "right")] == [
        refused(0, "a wall"),
        moved(1, effect={"cell": 1}),
        moved(0, effect={"cell": 0}),
        moved(1, effect={"cell": 1}),
        refused(1, "no such action"),
        ended(2, effect={"cell": 2}),
    ]


def test_it_is_what_it_says() -> None:
    world = Corridor()
    assert isinstance(world, Environment)
    assert isinstance(world, Snapshotable)
    assert not isinstance(world, Describable | Signposted)


def test_nothing_is_on_offer_outside() -> None:
    assert [Corridor(length=2).actions(cell) for cell in range(3)] == [["left", "right"], ["left", "right"], []]


def test_step_needs_a_reset_before_and_after_an_episode() -> None:
    world = Corridor(length=1)
    with pytest.raises(NotStarted, match=r"^step\('right'\) before reset\(\): call reset\(seed=\.\.\.\) first$"):
        world.step("right")
    with pytest.raises(NotStarted, match=r"^save_state\(\) before reset\(\)"):
        world.save_state()
    world.reset()
    assert world.step("right").done
    with pytest.raises(NotStarted, match=r"^step\('left'\) after the episode was over: call reset"):
        world.step("left")
    assert world.reset() == 0
    assert world.step("right") == ended(1, effect={"cell": 1})


def test_a_snapshot_remembers_the_end_too() -> None:
    world = Corridor(length=1)
    start = world.reset()
    before = world.save_state()
    world.step("right")
    after = world.save_state()
    assert (world.restore_state(before), world.step("right").done) == (start, True)
    assert world.restore_state(after) == 1
    with pytest.raises(NotStarted, match="after the episode was over"):
        world.step("left")


@pytest.mark.parametrize("length", [0, -1, 1.0, True, "3", None])
def test_the_length_is_an_int_of_at_least_one(length: Any) -> None:
    with pytest.raises(BadArgument, match=r"^length must be an int >= 1, got "):
        Corridor(length=length)


@pytest.mark.parametrize("state", [-1, 4, 1.0, True, "1", None])
def test_what_is_no_cell_is_refused_and_changes_nothing(state: Any) -> None:
    world = Corridor(length=3)
    world.reset()
    with pytest.raises(BadArgument, match=r"^a state of this corridor is an int from 0 to 3, got "):
        world.actions(state)
    with pytest.raises(BadArgument, match=r"^a state of this corridor is an int from 0 to 3, got "):
        world.restore_state(state)
    assert world.step("right") == Outcome(1, effect={"cell": 1})
