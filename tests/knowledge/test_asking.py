"""What a map answers."""

from __future__ import annotations

import json

from surefoot import WorldMap, values


def test_stats_count() -> None:
    m = WorldMap().visit("a").see("a", "x", to="b").see("a", "y").see("a", "z")
    m.arrive("a", "x", "c")
    m.refuse("a", "y")
    assert m.stats() == {
        "states": 1,
        "known": 3,
        "claims": 3,
        "confirmed": 1,
        "unchecked": 1,
        "doubtful": 0,
        "refused": 1,
        "flapping": 0,
        "refuted": 1,
        "journal": 7,
    }


def test_a_snapshot_is_plain_data() -> None:
    m = WorldMap().visit("a").see("a", "x", to="b").see("a", "y").refuse("a", "y", "no")
    shot = m.snapshot("a", {"b"})
    assert json.loads(json.dumps(shot)) == shot
    assert values.copy(shot) == shot
    assert shot["actions"]["y"]["refused"] is True
    assert (shot["next"], shot["cost"], shot["unchecked"], shot["visits"]) == ("x", 3, ["x"], 1)
    assert shot["head"] == str(m.head)
    assert m.snapshot("nowhere") == {
        "state": "nowhere",
        "next": None,
        "cost": None,
        "actions": {},
        "unchecked": [],
        "visits": 0,
        "head": str(m.head),
    }


def test_a_snapshot_keeps_look_alike_actions_apart() -> None:
    m = WorldMap().see("a", 1, to="b").see("a", "1", to="c")
    assert [(row["action"], row["to"]) for row in m.snapshot("a")["actions"]] == [(1, "b"), ("1", "c")]


def test_unvisited_and_claims() -> None:
    m = WorldMap().visit("a").see("a", "x", to="b")
    assert m.unvisited() == ["b"]
    assert [c.action for c in m.claims("a")] == ["x"]
    assert m.claims("nowhere") == []
    assert m.claim("a", "nothing") is None
    assert m.claim("nowhere", "x") is None


def test_arrived_at_and_never_visited_is_where_somebody_was_cut_off() -> None:
    m = WorldMap(stochastic=True)
    m.visit("a").see("a", "look", to="sign")
    m.arrive("a", "roll", "b")
    m.arrive("a", "roll", "c")
    m.arrive("a", "go", "d")
    m.see("d", "back", to="a")
    assert m.unvisited() == ["sign", "b", "c", "d"]
    assert m.unvisited(arrived=True) == ["b", "c"]
    m.visit("b").visit("c")
    assert m.unvisited(arrived=True) == []
