"""The crafting worlds keep the laws, refuse with reasons, and can be played to the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from surefoot import values
from surefoot.environments.crafting import CHANGED, ISLAND, MEADOW, WORLDS, Crafting, Land, Place, Recipe
from surefoot.errors import BadArgument, NotStarted
from surefoot.protocols import Describable, Environment, Signposted, Snapshotable, moved, refused
from surefoot.testing import EnvironmentContract

TAKE_BOTH = [("go", "wood"), ("take", "branch"), ("take", "branch"), ("go", "hill"), ("take", "stone")]
TOOLS = [*TAKE_BOTH, ("take", "stone"), ("take", "stone"), ("go", "wood"), ("go", "camp"), ("make", "axe")]
PARTS = [("make", "pick"), ("go", "wood"), ("take", "log"), ("take", "log"), ("go", "hill"), ("take", "ore")]
BELL = [*TOOLS, *PARTS, ("take", "ore"), ("go", "kiln"), ("make", "ingot"), ("make", "ingot"), ("make", "bell")]


class TestMeadow(EnvironmentContract):
    offered, long, examples = True, 60, 3

    def make(self) -> Crafting:
        return Crafting("meadow")

    def walk(self) -> list[tuple[str, str]]:
        return [("take", "ore"), *BELL]


class TestIsland(EnvironmentContract):
    seeds, offered, long, examples = (0,), True, 60, 3

    def make(self) -> Crafting:
        return Crafting(ISLAND)

    def walk(self) -> list[tuple[str, str]]:
        return [("make", "bell"), ("take", "branch"), ("take", "stone"), ("go", "jetty"), ("make", "axe")]


def test_the_goal_can_be_made_in_the_meadow() -> None:
    world = Crafting("meadow")
    world.reset(seed=1)
    outcomes = [world.step(action) for action in BELL]
    assert all(outcome.accepted for outcome in outcomes)
    assert [outcome.done for outcome in outcomes] == [False] * (len(BELL) - 1) + [True]
    assert outcomes[-1].state == ("kiln", (("axe", 1), ("bell", 1), ("pick", 1)))
    assert outcomes[-1].effect == {"bag": {"bell": 1, "ingot": -2}}
    assert world.actions(outcomes[-1].state) == []
    with pytest.raises(NotStarted, match="after the episode was over"):
        world.step(("go", "hill"))


def test_the_goal_can_be_made_on_the_island() -> None:
    world = Crafting("island")
    world.reset()
    tools = [("take", "branch")] * 2 + [("take", "stone")] * 3 + [("go", "jetty"), ("make", "axe"), ("make", "pick")]
    logs = [("go", "beach"), ("go", "grove"), ("take", "log"), ("take", "log"), ("go", "cave")]
    back = [("take", "ore"), ("take", "ore"), ("go", "grove"), ("go", "beach"), ("go", "jetty")]
    walk = [*tools, *logs, *back, ("make", "ingot"), ("make", "ingot"), ("make", "bell")]
    assert [world.step(action).accepted for action in walk] == [True] * len(walk)
    assert world.save_state()[1] == (("axe", 1), ("bell", 1), ("pick", 1))


@pytest.mark.parametrize(
    ("state", "action", "reason"),
    [
        (("camp", ()), ("go", "kiln"), "no way there"),
        (("camp", ()), ("go", "camp"), "no way there"),
        (("camp", ()), ("take", "stone"), "none here"),
        (("camp", ()), ("take", "gold"), "none here"),
        (("wood", ()), ("take", "log"), "needs axe"),
        (("hill", (("axe", 1),)), ("take", "ore"), "needs pick"),
        (("brook", (("stone", 6),)), ("take", "stone"), "the bag is full"),
        (("camp", (("branch", 1), ("stone", 1))), ("make", "pick"), "not enough stone"),
        (("wood", (("branch", 1), ("stone", 1))), ("make", "axe"), "no bench here"),
        (("camp", (("log", 1), ("ore", 1))), ("make", "ingot"), "no forge here"),
        (("camp", ()), ("make", "gold"), "no such recipe"),
        (("camp", ()), ("drop", "axe"), "not in the bag"),
        (("camp", ()), "go", "no such action"),
        (("camp", ()), ("go",), "no such action"),
        (("camp", ()), ("go", 3), "no such action"),
        (("camp", ()), ("dance", "camp"), "no such action"),
        (("camp", ()), {"go": "wood"}, "no such action"),
    ],
)
def test_each_refusal_has_its_reason_and_changes_nothing(state: Any, action: Any, reason: str) -> None:
    world = Crafting("meadow")
    world.restore_state(state)
    assert world.step(action) == refused(state, reason)
    assert world.save_state() == state


def test_what_is_dropped_is_gone() -> None:
    world = Crafting("meadow")
    world.restore_state(("hill", (("ore", 2),)))
    assert world.step(("drop", "ore")) == moved(("hill", (("ore", 1),)), effect={"bag": {"ore": -1}})
    assert world.step(("drop", "ore")) == moved(("hill", ()), effect={"bag": {"ore": -1}})


def test_it_is_what_it_says() -> None:
    world = Crafting()
    assert isinstance(world, Environment)
    assert isinstance(world, Snapshotable)
    assert isinstance(world, Describable)
    assert not isinstance(world, Signposted)


def test_the_worlds_differ_as_they_say() -> None:
    assert WORLDS == {"meadow": MEADOW, "island": ISLAND, "changed": CHANGED}
    assert not set(MEADOW.places) & set(ISLAND.places)
    assert (MEADOW.recipes, MEADOW.tools, MEADOW.room) == (ISLAND.recipes, ISLAND.tools, ISLAND.room)
    assert CHANGED == replace(MEADOW, tools=CHANGED.tools)
    for bag, material, before, after in (
        ("", "log", False, True),
        ("pick", "ore", True, False),
        ("axe", "ore", False, True),
    ):
        state = ("wood" if material == "log" else "hill", ((bag, 1),) if bag else ())
        for land, accepted in ((MEADOW, before), (CHANGED, after)):
            world = Crafting(land)
            world.restore_state(state)
            assert world.step(("take", material)).accepted is accepted


def test_what_is_described_does_not_give_the_rules_away() -> None:
    seen = Crafting("meadow").describe(("hill", (("axe", 1), ("ore", 2))))
    assert values.encode(seen)
    assert seen == {
        "place": "hill",
        "bag": {"axe": 1, "ore": 2},
        "free": 3,
        "ways": ["brook", "wood", "kiln"],
        "materials": ["ore", "stone"],
        "stations": [],
        "recipes": {
            "axe": {"branch": 1, "stone": 1},
            "bell": {"ingot": 2},
            "ingot": {"log": 1, "ore": 1},
            "pick": {"branch": 1, "stone": 2},
        },
    }


def test_step_and_save_state_need_a_reset() -> None:
    world = Crafting()
    with pytest.raises(NotStarted, match=r"^step\(\('go', 'wood'\)\) before reset\(\)"):
        world.step(("go", "wood"))
    with pytest.raises(NotStarted, match=r"^save_state\(\) before reset\(\)"):
        world.save_state()


@pytest.mark.parametrize(
    "state",
    [
        "camp",
        None,
        ("camp",),
        ["camp", ()],
        ("nowhere", ()),
        ("camp", []),
        ("camp", (("ore", 0),)),
        ("camp", (("ore", True),)),
        ("camp", (("stone", 1), ("ore", 1))),
        ("camp", (("ore", 7),)),
        ("camp", ((3, 1),)),
        (["camp"], ()),
    ],
)
def test_what_is_no_state_is_refused_and_changes_nothing(state: Any) -> None:
    world = Crafting("meadow")
    before = world.reset()
    for call in (world.actions, world.describe, world.restore_state):
        with pytest.raises(BadArgument, match=r"^a state of this world is \(place, "):
            call(state)
    assert world.save_state() == before


@pytest.mark.parametrize("land", ["nowhere", 3, None, {}])
def test_there_must_be_such_a_land(land: Any) -> None:
    with pytest.raises(BadArgument, match=r"^land must be a Land or one of \['changed', 'island', 'meadow'\], got "):
        Crafting(land)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": "moon"}, "start is 'moon': there is no such place"),
        ({"goal": "moon"}, "goal is 'moon': it has no recipe"),
        ({"room": 0}, "room must be an int >= 1, got 0"),
        ({"room": True}, "room must be an int >= 1, got True"),
        ({"places": {"camp": Place(("moon",))}}, "a way leads from 'camp' to 'moon': there is no such place"),
        ({"recipes": {"bell": Recipe({"ore": 0})}}, "the recipe of 'bell' must use ints >= 1"),
    ],
)
def test_a_land_must_hold_together(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=f"^{message}"):
        replace(MEADOW, **change)


def test_a_recipe_may_give_more_room_than_it_takes_or_less() -> None:
    land = Land({"hut": Place((), ("clay",))}, {"pot": Recipe({"clay": 1}), "air": Recipe({})}, "pot", "hut", room=1)
    world = Crafting(land)
    world.reset()
    assert world.step(("take", "clay")).accepted
    assert world.step(("make", "air")).reason == "the bag is full"
    assert world.step(("make", "pot")).done
