"""Copies of a journal in other files."""

from __future__ import annotations

from pathlib import Path

from surefoot import WorldMap, open_journal


def test_only_what_is_missing_is_appended(tmp_path: Path) -> None:
    place = tmp_path / "copy.jsonl"
    m = WorldMap().see("a", "x")
    m.save(place)
    first = place.read_bytes()
    m.see("a", "y")
    m.save(place)
    assert place.read_bytes().startswith(first)
    m.close()
    with open_journal(place) as copy:
        assert copy.head.length == 3


def test_a_map_on_disk_saves_a_copy_elsewhere(tmp_path: Path) -> None:
    with WorldMap(tmp_path / "map.db") as m:
        m.see("a", "x")
        m.save(tmp_path / "copy.json")
        m.save(tmp_path / "map.db")
        head = m.head
    assert WorldMap(tmp_path / "copy.json").head == head
