from __future__ import annotations

import pytest

from surefoot.errors import NotStarted
from surefoot.protocols import Closable, Describable, Environment, Signposted, Snapshotable
from surefoot.testing.environments import check_environment
from surefoot.testing.honest import HONEST, Hallway, Notebook, Windy
from surefoot.testing.laws import Law


@pytest.mark.parametrize("name", HONEST)
def test_every_honest_world_keeps_every_law(name: str) -> None:
    report = check_environment(HONEST[name], offered=True, clone=lambda world, _: copied(world), long=60, examples=6)
    assert set(report.untried) <= {Law.FAULTS}
    assert (Law.FAULTS in report.untried) == (name != "faults at any time")


def copied(world: Hallway) -> Hallway:
    clone = type(world)()
    clone.restore_state(world.save_state())
    return clone


@pytest.mark.parametrize("capability", [Environment, Snapshotable, Signposted, Describable, Closable])
def test_a_hallway_can_do_all_that_an_environment_may_do(capability: type) -> None:
    assert isinstance(Hallway(), capability)


def test_a_hallway() -> None:
    world = Hallway()
    with pytest.raises(NotStarted, match=r"step\('right'\) outside an episode"):
        world.step("right")
    assert world.reset(seed=1) == 1
    assert [world.step(action).state for action in ("wait", "left", "left", "up")] == [1, 0, 0, 0]
    outcomes = [world.step("right") for _ in range(4)]
    assert [outcome.done for outcome in outcomes] == [False, False, False, True]
    assert world.actions(4) == world.signs(4) == []
    with pytest.raises(NotStarted):
        world.step("left")


def test_a_notebook_takes_calls() -> None:
    world = Notebook()
    state = world.reset(seed=0)
    assert world.step({"name": "go", "by": -1}).verdict == "refused"
    assert world.step("right").reason == "no such action"
    (sign,) = world.signs(state)
    assert world.step(sign[0]).state == sign[1]


def test_the_wind_blows_as_its_seed_has_it() -> None:
    def walk(seed: int) -> list[int]:
        world = Windy()
        return [world.reset(seed=seed), *(world.step(way).state for way in ["right", "left"] * 20)]

    assert walk(2) == walk(2)
    assert len({tuple(walk(seed)) for seed in range(0, 20, 2)}) > 1
