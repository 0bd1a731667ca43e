"""Recording first, applying second; several writers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from surefoot import Journal, WorldMap, open_journal
from surefoot.errors import UnknownFormat
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.knowledge.mapcore import collection, field_of, step_of


class Crowded(MemoryBackend):
    """A backend on which somebody else is sometimes faster."""

    def __init__(self) -> None:
        super().__init__()
        self.before_next: list[Callable[[], object]] = []

    def extend(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> None:
        if self.before_next:
            self.before_next.pop()()
        super().extend(build)


def test_a_decision_is_made_again_when_somebody_was_faster() -> None:
    backend = Crowded()
    mine, theirs = WorldMap(journal=Journal(backend)), WorldMap(journal=Journal(backend))
    backend.before_next.append(lambda: theirs.see("a", "x", to="b"))
    mine.see("a", "y")
    backend.before_next.append(lambda: theirs.arrive("a", "x", "c"))
    assert mine.arrive("a", "x", "c") is False  # theirs refuted it already
    backend.before_next.append(lambda: theirs.see("q", "q"))
    mine.merge(WorldMap(name="other").see("z", "z"))
    assert mine.claims() == theirs.claims()
    assert mine.verify()


def test_a_journal_that_shrinks_is_an_error() -> None:
    backend = MemoryBackend()
    m = WorldMap(journal=Journal(backend)).see("a", "x")
    del backend._lines[1:]
    with pytest.raises(UnknownFormat, match="has shrunk from 2 entries"):
        m.next("a", {"b"})


def test_a_clock_is_inside_the_chain() -> None:
    ticks = iter(range(100))
    m = WorldMap(clock=lambda: next(ticks)).see("a", "x").see("a", "y")
    assert [e.time for e in m.journal.entries()] == [0, 1, 2]
    assert m.verify()


def test_the_same_events_give_the_same_bytes() -> None:
    a, b = (WorldMap().visit("s", title="T").see("s", "x", to=1) for _ in range(2))
    assert list(a.journal.lines()) == list(b.journal.lines())


def test_entries_have_their_fields_in_order() -> None:
    m = WorldMap(journal=open_journal())
    m.visit("s", 1, title="T").see("s", "x", "t", 2).told("s", "x", "u", "human", "q", 3, by="Kim")
    m.arrive("s", "x", "v", 4)
    m.refuse("s", "x", "no", 5)
    m.drop("why", 6, states=["s"])
    for entry in m.journal.entries():
        data: dict[str, Any] = entry.data
        assert list(data) == sorted(data)
    assert [e.kind for e in m.journal.entries()] == ["map", "visit", "see", "told", "arrive", "refuse", "drop"]


def test_small_parts() -> None:
    assert (field_of(b"why", None), field_of(b"why", "x")) == (b"", b',"why":"x"')
    assert (step_of(None), step_of((1, 2))) == (b"", b',"step":[1,2]')
    assert collection(["a"], "targets") == ["a"]


def test_a_map_can_become_one_of_chance() -> None:
    m = WorldMap()
    m.arrive("a", "x", "b")
    m.stochastic = True
    assert m.stochastic
    assert m.settings.stochastic
    assert m.verify()


def test_refreshing_folds_the_journal_again_and_changes_nothing() -> None:
    m = WorldMap(hypothesis_cost=2).see("a", "y", to="c")
    m.arrive("a", "x", "b")
    before = m.claims(), m.next("a", {"b"}), m.settings
    m.refresh()
    assert (m.claims(), m.next("a", {"b"}), m.settings) == before
    m.arrive("b", "z", "c")
    assert m.verify()
    fresh = WorldMap(hypothesis_cost=5)
    fresh.refresh()
    assert fresh.hypothesis_cost == 5
