"""Routes: what they say, and that repairs are as good as a search from nothing."""

from __future__ import annotations

import random

import pytest

from surefoot import Route, WorldMap
from surefoot.knowledge import finding, routes


def test_already_there_and_no_way_are_told_apart() -> None:
    m = WorldMap().see("hall", "north", to="garden")
    there, none, way = m.route("garden", {"garden"}), m.route("garden", {"hall"}), m.route("hall", {"garden", "moon"})
    assert (there.reached, there.known, there.action, there.cost) == (True, True, None, 0)
    assert (none.reached, none.known, none.action, none.cost) == (False, False, None, float("inf"))
    assert (way.reached, way.known, way.action, way.cost, way.target) == (False, True, "north", 3, "garden")
    assert m.route("moon", {"moon"}).reached
    assert m.path("hall", {"garden"}) == [("hall", "north")]
    assert isinstance(way, Route)


def test_unchecked_steps_cost_more_than_confirmed_ones() -> None:
    m = WorldMap().see("a", "short", to="z")
    for here, to in ("ab", "bz"):
        m.arrive(here, "long", to)
    assert m.next("a", {"z"}) == "long"
    assert m.next("a", {"z"}, confirmed_only=True) == "long"
    m.hypothesis_cost = 1
    assert m.next("a", {"z"}) == "short"


def test_a_refused_action_is_on_no_route_until_it_is_taken() -> None:
    m = WorldMap().see("a", "x", to="b").refuse("a", "x", "no")
    assert m.next("a", {"b"}) is None
    m.arrive("a", "x", "b")
    assert m.next("a", {"b"}) == "x"


def test_targets_that_become_known_later_are_found() -> None:
    m = WorldMap().see("a", "x")
    assert m.next("a", {"z"}) is None
    m.arrive("a", "x", "z")
    assert m.next("a", {"z"}) == "x"


def test_many_targets_do_not_pile_up() -> None:
    m = WorldMap()
    for n in range(40):
        m.arrive(n, "on", n + 1)
        assert m.next(0, {n + 1}) == "on"
    assert len(m._routers) == finding._ROUTERS
    assert len(m._fold.watchers) == finding._ROUTERS
    m.drop()
    assert m.next(0, {3}) == "on"
    assert len(m._fold.watchers) <= finding._ROUTERS


def test_exploring_a_maze_to_the_end_takes_every_action_once() -> None:
    rng = random.Random(1)
    side = 12
    moves = {"n": (-1, 0), "s": (1, 0), "w": (0, -1), "e": (0, 1)}
    walls = {((rng.randrange(side), rng.randrange(side)), rng.choice("nswe")) for _ in range(60)}
    m, state, steps, refusals = WorldMap(), (0, 0), 0, 0

    def offer() -> None:
        for action in moves:
            m.see(state, action)

    offer()
    while (action := m.explore(state)) is not None:
        di, dj = moves[action]
        to = (state[0] + di, state[1] + dj)
        if (state, action) in walls or not (0 <= to[0] < side and 0 <= to[1] < side):
            m.refuse(state, action, "a wall")
            refusals += 1
        else:
            m.arrive(state, action, to)
            state = to
            offer()
        steps += 1
        assert steps < 10_000
    assert m.frontier() == []
    assert m.stats()["confirmed"] + refusals == m.stats()["claims"]


def chain(length: int) -> WorldMap:
    m = WorldMap()
    for n in range(length):
        m.arrive(n, "on", n + 1)
    return m.see(length, "open")


@pytest.mark.parametrize("large", [False, True])
def test_the_last_open_action_vanishes(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr(routes, "_LARGE", 0)
        monkeypatch.setattr(routes, "_PATIENCE", 1)
    m = chain(6)
    assert m.explore(0) == "on"
    m.refuse(6, "open")
    assert m.explore(0) is None
    m.told(6, "open", "z")
    assert m.explore(0) == "on"


def test_all_distances_of_a_large_map_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_LARGE", 0)
    monkeypatch.setattr(routes, "_PATIENCE", 1)
    m = chain(6)
    assert m.distances([3, 6]) == {
        n: (d, None if d == 0 else "on") for n, d in zip(range(7), [3, 2, 1, 0, 2, 1, 0], strict=True)
    }


def test_parallel_actions_and_detours_are_weighed_again_after_each_change() -> None:
    m = WorldMap()
    m.see("a", "p", to="b").see("a", "q", to="b").see("b", "r", to="c")
    assert m.next("a", {"c"}) == "p"
    m.arrive("a", "q", "b")  # the cheaper of two parallel ones
    assert m.next("a", {"c"}) == "q"
    m.refuse("a", "q")
    assert m.next("a", {"c"}) == "p"
    m.refuse("a", "p")
    assert m.next("a", {"c"}) is None
