"""Saving, loading, proving, drawing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from surefoot import WorldMap
from surefoot.errors import AppendFailed, BadArgument, BrokenChain, CutTail

FILES = ["map.json", "map.jsonl", "map.db", "map"]


def fill(m: WorldMap) -> WorldMap:
    m.visit("a", title="été").see("a", "x", to=(1, 2.0)).see("a", {"name": "go"})
    m.arrive("a", "x", "c", step=4)
    return m.refuse("a", {"name": "go"}, "no")


@pytest.mark.parametrize("name", FILES)
def test_a_map_on_disk_goes_on_where_it_was(tmp_path: Path, name: str) -> None:
    with fill(WorldMap(tmp_path / name)) as m:
        head, claims = m.head, m.claims()
        assert m.save() == os.fspath(tmp_path / name)
    with WorldMap(tmp_path / name) as m:
        assert (m.head, m.claims()) == (head, claims)
        assert m.verify(head=head)
        m.see("c", "y")
    with WorldMap(tmp_path / name) as m:
        assert m.frontier() == [("c", "y")]


@pytest.mark.parametrize("name", FILES)
def test_a_map_in_memory_is_saved_step_by_step(tmp_path: Path, name: str) -> None:
    m = WorldMap()
    for n in range(5):
        m.arrive(n, "on", n + 1)
        assert m.save(tmp_path / name) == tmp_path / name
    m.close()
    loaded = WorldMap().load(tmp_path / name)
    with WorldMap(tmp_path / name) as stored:
        assert loaded.head == stored.head
        assert loaded.claims() == stored.claims()
    assert loaded.path(0, {5}) == [(n, "on") for n in range(5)]


def test_an_empty_map_can_be_saved(tmp_path: Path) -> None:
    m = WorldMap(hypothesis_cost=8)
    m.save(tmp_path / "empty.jsonl")
    assert WorldMap(tmp_path / "empty.jsonl").hypothesis_cost == 8


def test_another_history_is_not_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "map.jsonl"
    with WorldMap(place) as m:
        m.see("a", "x")
    content = place.read_bytes()
    other = WorldMap().see("b", "y")
    with pytest.raises(BadArgument, match="holds another history"):
        other.save(place)
    assert place.read_bytes() == content


def test_save_and_load_need_a_place(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give save"):
        WorldMap().save()
    with pytest.raises(ValueError, match="no saved map"):
        WorldMap().load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="fills an empty map"):
        WorldMap().see("a", "x").load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="no map to merge"):
        WorldMap().merge(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_a_cut_file_is_reported_and_can_be_repaired(tmp_path: Path) -> None:
    place = tmp_path / "map.jsonl"
    with WorldMap(place) as m:
        m.see("a", "x").see("a", "y")
        head = m.head
    place.write_bytes(place.read_bytes()[:-20])
    with pytest.raises(CutTail):
        WorldMap(place)
    with WorldMap(place, repair=True) as m:
        assert m.frontier() == [("a", "x")]
        assert m.verify()
        assert not m.verify(head=head)


def test_an_edited_file_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "map.jsonl"
    with WorldMap(place) as m:
        m.arrive("a", "x", 0.1)
    place.write_bytes(place.read_bytes().replace(b'"to":0.1', b'"to":0.1000000004'))
    with pytest.raises(BrokenChain, match="entry 1 was edited"):
        WorldMap(place)


def test_verify_compares_the_map_with_its_journal() -> None:
    m = fill(WorldMap())
    assert m.verify()
    m._fold.taken[0] += 1
    assert m.verify().problem == "the map in memory differs from its journal in: taken"
    empty = WorldMap()
    assert empty.verify()
    m = WorldMap()
    m.journal.append("see", {"state": 1})
    assert not m.verify()


def test_a_failed_write_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    m = fill(WorldMap(tmp_path / "map.jsonl"))
    claims, head = m.claims(), m.head

    def full(*_: object) -> None:
        raise AppendFailed("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(m.journal.backend, "extend", full)
        for call in (
            lambda: m.see("q", "q"),
            lambda: m.arrive("a", "x", "q"),
            lambda: m.drop(),
            lambda: m.visit("q"),
            lambda: m.merge(WorldMap().see("q", "q")),
            lambda: setattr(m, "hypothesis_cost", 2),
        ):
            with pytest.raises(AppendFailed):
                call()
        assert (m.claims(), m.head, m.hypothesis_cost) == (claims, head, 3)
    m.see("q", "q")
    assert m.verify()


def test_to_dict_is_json_and_complete() -> None:
    m = fill(WorldMap())
    data = json.loads(json.dumps(m.to_dict()))
    assert data["format"] == "surefoot.worldmap/1"
    assert data["head"] == str(m.head)
    assert len(data["journal"]) == len(m.journal)
    assert [row["action"] for row in data["claims"]] == ["x", {"name": "go"}]
    assert {"state": "a", "visits": 1, "facts": {"title": "été"}} in data["states"]
    plain = WorldMap().visit("a").to_dict()
    assert plain["states"] == {"a": {"visits": 1, "facts": {}}}


def test_a_map_says_what_it_is(tmp_path: Path) -> None:
    assert repr(WorldMap().see("a", "x", to="b")) == "<WorldMap in memory: 2 states, 1 claims>"
    with WorldMap(tmp_path / "m.jsonl") as m:
        assert "m.jsonl" in repr(m)
        m.close()
