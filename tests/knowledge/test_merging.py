"""Events with an identity, in one order; and maps folded in one pass."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from surefoot import WorldMap, values
from surefoot.errors import UnknownFormat, ValueRejected
from surefoot.events import event_of
from surefoot.journal import Journal, open_journal
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.knowledge import routes
from surefoot.knowledge.fold import Fold
from surefoot.knowledge.merging import Folding, events_of, unwrap


def test_a_merged_event_is_found_once_with_its_origin() -> None:
    a, b = WorldMap(name="a").see("s", "x"), WorldMap(name="b").see("s", "y")
    a.merge(b)
    found = events_of(a.journal, "main")
    assert [(e.kind, e.name) for e in found] == [("map", "a"), ("see", "a"), ("map", "b"), ("see", "b")]
    wrapped = [unwrap(entry) for entry in a.journal.entries()]
    assert [w is None for w in wrapped] == [True, True, False, False]
    c = WorldMap(name="c")
    c.merge(a)
    assert {e.hash for e in events_of(c.journal, "main")} >= {e.hash for e in found}


def test_common_history_is_counted_once() -> None:
    a = WorldMap(stochastic=True)
    a.arrive("s", "x", "t")
    b = copy.deepcopy(a)
    a.arrive("s", "x", "u")
    b.arrive("s", "x", "u")
    b.arrive("s", "x", "u")
    a.merge(b)
    claim = a.claim("s", "x")
    assert claim is not None
    assert claim.taken == 3  # the second entry of both is the same event: the same bytes after the same history


def test_maps_written_apart_count_apart_when_named() -> None:
    a, b = WorldMap(stochastic=True, name="a"), WorldMap(stochastic=True, name="b")
    a.arrive("s", "x", "t")
    b.arrive("s", "x", "t")
    assert a.merge(b) == 1
    claim = a.claim("s", "x")
    assert claim is not None
    assert claim.taken == 2


def deep(levels: int) -> tuple[Any, ...]:
    value: tuple[Any, ...] = ()
    for _ in range(levels):
        value = (value,)
    return value


def test_ties_are_decided_alike_after_a_merge_and_after_a_rebuild() -> None:
    a, b = WorldMap(name="a"), WorldMap(name="b")
    b.see("s", "zz", to="m1").see("s", "aa", to="m2").see("m1", "g", to="G").see("m2", "g", to="G")
    a.visit("s").visit("s").visit("s").see("q", "k").see("s", "zz", to="m1")
    assert (a.explore("s"), a.next("s", {"m1"})) == ("zz", "zz")
    a.merge(b)
    rebuilt = a.rebuild()
    assert (a.explore("s"), a.next("s", {"G"})) == (rebuilt.explore("s"), rebuilt.next("s", {"G"})) == ("aa", "aa")


def test_states_of_any_depth_are_rebuilt_and_verified() -> None:
    m = WorldMap().see(deep(1500), "in", to="out").visit(deep(1500), facts={"deep": deep(1500)})
    assert m.arrive(deep(1500), "in", deep(1200))
    assert m.verify()
    assert [values.encode(s) for s in m.rebuild().states()] == [values.encode(s) for s in m.states()]
    for wrong in ({"dance": deep(3000)}, {"action": deep(3000)}):
        with pytest.raises(UnknownFormat, match="not the data of a 'see' event"):
            event_of("see", values.encode(wrong))


@pytest.mark.untraced
def test_entries_with_a_time_and_of_other_streams_are_folded_right() -> None:
    ticks: Iterator[int] = iter(range(10_000))
    journal = open_journal(clock=lambda: next(ticks))
    m = WorldMap(journal=journal)
    for n in range(1200):  # past 10, 100 and 1,000, where the numbers get longer
        m.see(n, "on", to=n + 1)
        if n % 7 == 0:
            journal.append("note", {"n": n}, stream="other")
            m.visit(n)
    assert m.verify()
    assert m.rebuild().claims() == m.claims()


def test_a_map_that_starts_with_a_merge_keeps_its_name_and_what_it_took() -> None:
    a = WorldMap(name="a", hypothesis_cost=2)
    assert a.merge(WorldMap(name="b").see("s", "x", to="t")) == 1
    a.see("t", "y")
    assert (a.settings.name, a.hypothesis_cost, len(a.claims()), bool(a.verify())) == ("a", 2, 2, True)


def test_events_that_others_append_before_there_are_settings_are_kept() -> None:
    journal = open_journal()
    m = WorldMap(journal=journal, hypothesis_cost=2)
    for n, action in enumerate("xyz"):
        journal.append("see", {"action": action, "state": "a"})
        assert len(m.claims()) == n + 1
    journal.append("see", {"state": "a"})
    with pytest.raises(UnknownFormat, match="entry 3 is no event of a map"):
        m.claims()
    assert (len(m._fold.to), m._fold.settings.hypothesis_cost) == (3, 2)


def test_merged_events_come_before_what_follows_them() -> None:
    for kind in ("see", "arrive", "visit", "refuse"):
        a, b = WorldMap(name="a"), WorldMap(name="b").see("s", "x", to="t")
        a.merge(b)
        {
            "see": lambda m: m.see("t", "y"),
            "arrive": lambda m: m.arrive("s", "x", "u"),
            "visit": lambda m: m.visit("s"),
            "refuse": lambda m: m.refuse("s", "x"),
        }[kind](a)
        assert a.verify()
        assert a.rebuild().claims() == a.claims()
        assert a.rebuild().stats() == a.stats()


def test_what_is_not_as_the_format_writes_it_is_found_by_verify() -> None:
    import hashlib

    m = WorldMap().see("a", "x").refuse("a", "x")
    lines = list(m.journal.lines())
    body = lines[-1][:-75].replace(b',"kind"', b', "kind"')
    line = b'%b,"hash":"%b"}' % (body, hashlib.sha256(body + b"}").hexdigest().encode())
    found = WorldMap(journal=Journal(MemoryBackend([*lines[:-1], line]))).verify()
    assert not found
    assert "not written as this format writes it" in str(found.problem)


def test_entries_that_came_during_a_verification_are_compared_too() -> None:
    m = WorldMap().see("a", "x")
    folding = Folding(m.journal, 0, "main", Fold(), exact=True)
    assert m.journal.verify(through=folding.through)
    m.see("a", "y")
    assert folding.upto(len(m.journal)).same_as(m._fold) is None
    assert m.verify(head=m.head)


def test_two_spellings_of_one_state_are_found_by_verify() -> None:
    journal = open_journal()
    m = WorldMap(journal=journal)
    journal.record([("see", b'{"action":"x","state":1.00}')])
    assert "is not the encoding of a plain value" in str(m.verify().problem)


@pytest.mark.untraced
def test_simple_encodings_are_known_at_once_and_others_looked_at() -> None:
    ok = values.all_canonical
    assert ok([values.encode(v) for v in ("a", 1, None, True, (1, ("é", 2)), -5)])
    for odd in (b"1.0", b"1e16", b"[1, 2]", b'"\\u00e9"', b"1" * 17, b'{"b":1}', b"-0", b"01", b"nope"):
        assert not ok([odd])
    assert not ok([values.encode(deep(11_000))])


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"b": 1, "a": (1, "x")},
        {"é": None, "a": True},
        {"~l": 1},
        {"a": 2**60},
        {"a": (2**60,)},
        {"a": 1.5},
        {"a": [1]},
        {"a": {"b": 1}},
        {"a": ((1,),)},
    ],
)
def test_flat_objects_are_encoded_like_all_others(value: dict[str, Any]) -> None:
    assert values.encode(value) == values._encode_deep(value, values._DATA)
    assert values.decode_known(values.encode(value)) == value


def test_a_surrogate_in_a_flat_object_is_refused() -> None:
    with pytest.raises(ValueRejected, match="lone surrogate"):
        values.encode({"a": "\ud800"})


def test_deep_values_are_read_without_a_check() -> None:
    data = values.encode(deep(3000))
    assert values.encode(values.decode_known(data)) == data


def test_large_maps_start_with_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_LARGE", 10)
    monkeypatch.setattr(routes, "_PATIENCE", 5)
    m = WorldMap()
    for n in range(30):
        m.see(n, "on", to=n + 1).see(n, "back", to=max(n - 1, 0))
    assert m.next(0, {30}) == "on"
    assert m.next(7, {3}) == "back"
    m.arrive(30, "round", 0)
    assert (m.next(30, {2}), m.explore(30), len(m.path(0, {30}))) == ("round", "round", 30)
    for n in range(30):
        m.arrive(n, "on", n + 1)
    assert [cost for cost, _ in m.distances({30}).values()] == [30 - n for n in range(31)]
