from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import WorldMap
from surefoot.errors import BadArgument

Grid = tuple[int, int]
MOVES = {"down": (0, 1), "left": (-1, 0), "right": (1, 0), "up": (0, -1)}


def explored(side: int, goal: Grid, *, layered: bool) -> tuple[WorldMap, int]:
    """Walk a grid from its corner until the goal is found; return the map and the steps."""
    known, here, steps = WorldMap(), (0, 0), 0
    while here != goal:
        for way in MOVES:
            known.see(here, way)
        way = known.explore_from(here, (0, 0) if layered else None)
        assert way is not None
        dx, dy = MOVES[way]
        there = here[0] + dx, here[1] + dy
        steps += 1
        if 0 <= there[0] < side and 0 <= there[1] < side:
            known.arrive(here, way, there)
            here = there
        else:
            known.refuse(here, way, "a wall")
    return known, steps


@pytest.mark.parametrize("goal", [(3, 3), (0, 3), (2, 1)])
def test_what_is_found_first_is_found_by_a_shortest_way(goal: Grid) -> None:
    known, _ = explored(4, goal, layered=True)
    assert known.route((0, 0), {goal}).cost == sum(goal)


def test_without_a_start_the_nearest_is_next_and_it_ends_when_nothing_is_left() -> None:
    known, steps = explored(3, (2, 2), layered=False)
    assert steps > 0
    for place in product(range(3), range(3)):
        for way, (dx, dy) in MOVES.items():
            there = place[0] + dx, place[1] + dy
            if there in {*product(range(3), range(3))}:
                known.arrive(place, way, there)
            else:
                known.refuse(place, way)
    assert known.explore_from((1, 1)) is None
    assert known.explore_from((1, 1), (0, 0)) is None


def test_what_is_left_out_is_neither_checked_nor_walked() -> None:
    m = WorldMap().see("a", "x").see("b", "y")
    m.arrive("a", "go", "b")
    m.arrive("b", "back", "a")
    assert m.explore_from("a", "a", without=[("a", "x")]) == "go"
    assert m.explore_from("a", "a", without=[("a", "x"), ("a", "go")]) is None
    assert m.explore_from("b", "a", without=[("b", "back"), ("nowhere", "x")]) == "y"


def test_what_cannot_be_reached_any_more_is_passed_over() -> None:
    m = WorldMap().see("a", "x").see("b", "y")
    m.arrive("a", "fall", "b")
    assert m.explore_from("b", "a") == "y"


def test_a_start_that_nobody_knows_counts_for_nothing() -> None:
    m = WorldMap().see("a", "x")
    assert m.explore_from("a", "moon") == "x"
    assert m.explore_from("moon", "a") is None


def test_in_a_world_of_chance_what_was_taken_rarely_can_count_as_unchecked() -> None:
    m = WorldMap(stochastic=True)
    m.arrive("a", "x", "b")
    m.arrive("b", "back", "a")
    m.refuse("a", "no")
    for _ in range(3):
        m.arrive("a", "y", "a")
    assert m.explore_from("a") is None
    assert m.explore_from("a", most=1) == "x"
    assert m.explore_from("b", "a", most=1) == "back"
    assert m.explore_from("a", most=3, without=[("a", "x")]) == "y"


@pytest.mark.parametrize("most", [-1, 1.0, True])
def test_a_number_of_times_must_be_one(most: object) -> None:
    with pytest.raises(BadArgument, match="most must be an int >= 0"):
        WorldMap().explore_from("a", most=most)  # type: ignore[arg-type]  # wrong on purpose


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("xyz"), st.integers(0, 5)), max_size=12))
def test_it_agrees_with_explore_on_whether_anything_is_left(moves: list[tuple[int, str, int]]) -> None:
    m = WorldMap()
    for s, a, t in moves:
        m.see(s, a)
        if (s + t) % 2:
            m.arrive(s, a, t)
    for s in range(6):
        assert (m.explore_from(s) is None) == (m.explore(s) is None)
        assert (m.explore_from(s, 0) is None) == (m.explore(s) is None)


def test_a_way_around_what_is_left_out() -> None:
    m = WorldMap(hypothesis_cost=2).see("a", "sign", to="d").see("d", "x").see("a", "nowhere")
    m.arrive("a", "one", "b")
    m.arrive("b", "two", "c")
    m.arrive("c", "back", "a")
    m.refuse("a", "wall")
    assert m.next_without("a", {"c"}, []) == m.next("a", {"c"}) == "one"
    assert m.next_without("a", {"d"}, [("moon", "x"), ("a", "moon")]) == "sign"
    assert m.next_without("a", {"c"}, [("b", "two")]) is None
    assert m.next_without("a", {"a"}, []) is None
    assert m.next_without("moon", {"a"}, []) is None
    assert m.next_without("a", {"moon"}, []) is None
    m.arrive("a", "short", "c")
    assert m.next_without("b", {"c"}, []) == "two"
    assert m.next_without("a", {"c"}, []) == "short"


def test_a_place_that_a_cheaper_way_led_to_is_not_looked_at_again() -> None:
    m = WorldMap(hypothesis_cost=9).see("a", "sign", to="c").see("c", "on", to="e")
    m.arrive("a", "one", "b")
    m.arrive("b", "two", "c")
    assert m.next_without("a", {"e"}, []) == m.next("a", {"e"}) == "one"


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("xyz"), st.integers(0, 5)), max_size=14))
def test_a_way_around_nothing_costs_what_the_way_costs(moves: list[tuple[int, str, int]]) -> None:
    m = WorldMap()
    for s, a, t in moves:
        m.see(s, a, to=t)
        if (s + t) % 2:
            m.arrive(s, a, t)
    for s in range(6):
        action = m.next_without(s, {0}, [])
        expected = m.route(s, {0})
        assert (action is None) == (not expected.steps)
        if action is not None:
            claim = m.claim(s, action)
            assert claim is not None
            first = 1 if claim.status == "confirmed" else m.hypothesis_cost
            assert first + m.route(claim.to, {0}).cost == expected.cost


def test_a_place_that_nobody_has_looked_at_can_count_as_unchecked() -> None:
    m = WorldMap().visit("a")
    m.arrive("a", "x", "b")
    m.arrive("b", "back", "a")
    m.arrive("b", "y", "c")
    assert m.explore_from("a") is None
    assert m.explore_from("a", unvisited=True) == m.explore_from("a", "b", unvisited=True) == "x"
    assert m.explore_from("b", "a", unvisited=True) == "y"
    assert m.explore_from("c", unvisited=True) is None
    m.visit("c")
    assert m.explore_from("a", unvisited=True) is None
