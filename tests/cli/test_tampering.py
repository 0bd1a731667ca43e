from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot import WorldMap, open_journal
from surefoot.cli.tampering import change_a_word, cut_the_tail, forge
from surefoot.errors import BadArgument


def saved(path: Path, *places: Any) -> WorldMap:
    known = WorldMap()
    for here, there in zip(places, places[1:], strict=False):
        known.arrive(here, "go", there)
    known.save(path)
    return known


@pytest.mark.parametrize("places", [("a", "b", "c"), (("a",), ("a", "b7"), ("a",)), (10, 11, 17), ("é", "é x", "é")])
@pytest.mark.parametrize("falsify", [change_a_word, forge])
def test_the_entry_says_something_else_afterwards(
    falsify: Callable[[Path], int], places: tuple[Any, ...], tmp_path: Path
) -> None:
    path = tmp_path / "copy.jsonl"
    known = saved(path, *places)
    number = falsify(path)
    with open_journal(path) as journal:
        was, now = list(known.journal.entries()), list(journal.entries())
        assert [n for n, (a, b) in enumerate(zip(was, now, strict=True)) if a.data != b.data] == [number]
        assert was[number].data["to"] != now[number].data["to"]
        assert not journal.verify(head=known.head)
        assert bool(journal.verify()) == (falsify is forge)


def test_a_cut_tail_is_a_whole_chain(tmp_path: Path) -> None:
    path = tmp_path / "copy.jsonl"
    known = saved(path, "a", "b", "c", "d")
    cut_the_tail(path, 2)
    with open_journal(path) as journal:
        assert len(journal) == len(known.journal) - 2
        assert journal.verify()
        assert journal.verify(head=known.head).failed == "head"


def test_where_nothing_leads_anywhere_there_is_nothing_to_falsify(tmp_path: Path) -> None:
    path = tmp_path / "copy.jsonl"
    WorldMap().see("hall", "north").save(path)
    with pytest.raises(BadArgument, match="nothing to falsify"):
        change_a_word(path)


def test_without_an_arrival_a_sign_will_do(tmp_path: Path) -> None:
    path = tmp_path / "copy.jsonl"
    WorldMap().see("hall", "north").see("hall", "south", to="shed").save(path)
    assert change_a_word(path) == 2
