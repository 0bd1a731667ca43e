from __future__ import annotations

from surefoot import WorldMap
from surefoot.agent.ways import Ways


def test_a_plan_for_a_map_of_chance_is_kept_until_enough_has_changed() -> None:
    known, ways = WorldMap(stochastic=True), Ways()
    known.arrive("a", "x", "b")
    targets = (b'"b"',)
    assert ways.next(known, ("main", 1), "a", targets, ()) == "x"
    known.refuse("a", "x")
    known.arrive("a", "y", "b")
    assert ways.next(known, ("main", 1), "a", targets, ()) == "x"
    assert ways.next(known, ("main", 2), "a", targets, ()) == "y"
    assert ways.next(known, ("main", 2), "moon", targets, ()) is None


def test_a_certain_map_is_asked_each_time_and_ways_go_around_what_is_left_out() -> None:
    known, ways = WorldMap(), Ways()
    known.arrive("a", "x", "b")
    assert ways.next(known, ("main", 1), "a", (b'"b"',), ()) == "x"
    known.arrive("a", "w", "b")
    assert ways.next(known, ("main", 1), "a", (b'"b"',), ()) == "w"
    assert ways.next(known, ("main", 1), "a", (b'"b"',), [("a", "w")]) == "x"
    assert ways.next(known, ("main", 1), "a", (), ()) is None


def test_only_so_many_plans_are_kept() -> None:
    known, ways = WorldMap(stochastic=True), Ways()
    for number in range(40):
        known.arrive("a", number, f"b{number}")
        assert ways.next(known, ("main", number), "a", (b'"b%d"' % number,), ()) == number
