"""Differences between two moments of a map."""

from __future__ import annotations

from surefoot import WorldMap


def test_diff_names_what_changed() -> None:
    m = WorldMap().see("a", "x", to="b").see("a", "y")
    then = len(m.journal)
    m.arrive("a", "x", "c")
    m.refuse("a", "y")
    m.see("b", "z")
    assert [(c.action, c.what) for c in m.diff(then, len(m.journal))] == [
        ("x", "to,status,source,taken,counts"),
        ("y", "refused,refusals"),
        ("z", "added"),
    ]
    assert [(c.action, c.what) for c in m.diff(len(m.journal), then)] == [
        ("x", "to,status,source,taken,counts"),
        ("y", "refused,refusals"),
        ("z", "removed"),
    ]
    assert m.diff(then, then) == []


def test_refutations_are_counted() -> None:
    m = WorldMap().see("a", "refutes", to="b").visit("a", facts={"refutes": {"x": 1}})
    m.arrive("a", "refutes", "c")
    m.arrive("a", "refutes", "c")
    m.arrive("a", {"refutes": 1}, "c")
    assert m.stats()["refuted"] == 1
