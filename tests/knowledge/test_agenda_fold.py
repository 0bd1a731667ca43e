"""The events of an agenda, and what is no event."""

from __future__ import annotations

import msgspec
import pytest

from surefoot.errors import UnknownFormat
from surefoot.journal import open_journal
from surefoot.knowledge.agenda import Agenda
from surefoot.knowledge.agenda_fold import AgendaFold, Override, pack, unpack
from surefoot.knowledge.gates import Pattern


def test_patterns_are_packed_exactly() -> None:
    patterns = (Pattern("name", "go*"), Pattern("code", "ab"), Pattern("call", "go", b'{"n":{"~l":[1]}}'))
    assert unpack(pack(patterns)) == patterns


@pytest.mark.parametrize(
    "raw", [b'"go"', b'[["name"]]', b'[["name",1]]', b'[["call","go",1]]', b'[["what","go"]]', b"{"]
)
def test_what_is_no_pattern_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="pattern|encoding"):
        unpack(msgspec.Raw(raw))


@pytest.mark.parametrize(
    ("updates", "steps", "over"), [(1, None, True), (2, None, False), (None, 3, True), (None, 4, False)]
)
def test_an_override_runs_out(updates: int | None, steps: int | None, over: bool) -> None:
    assert Override("Ann", "a drill", (), updates, steps).after(3).over is over
    assert Override("Ann", "a drill", (), updates, steps).ends


def test_an_override_without_an_end_has_none() -> None:
    forever = Override("Ann", "a drill", (), None, None)
    assert not forever.ends
    assert not forever.after(1_000).over


GOAL = {"name": "wood", "done": "ab", "python": "3.11", "requires": (), "gates": ()}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("dance", {}),
        ("goal", {**GOAL, "extra": 1}),
        ("goal", {**GOAL, "name": 1}),
        ("gate", {"name": "g", "check": "ab", "trigger": None, "python": "3", "blocks": 1, "blocks_goals": ()}),
        ("drop", {"what": "goal", "name": "nowhere", "why": ""}),
        ("drop", {"what": "gate", "name": "nowhere", "why": ""}),
        ("update", {"done": ("wood", "nowhere"), "undone": (), "steps": 1}),
        ("update", {"done": (), "undone": ("nowhere",), "steps": 1}),
        ("reopen", {"names": ("wood", "nowhere"), "why": ""}),
        ("override", {"gate": "nowhere", "who": "a", "why": "b", "calls": (), "updates": 1, "steps": None}),
        ("clear", {"gate": "nowhere", "who": "", "why": ""}),
        ("agenda", {"sticky": 1}),
    ],
)
def test_an_entry_that_is_no_event_is_refused_and_changes_nothing(kind: str, data: dict[str, object]) -> None:
    journal = open_journal()
    agenda = Agenda(journal=journal).goal("wood", lambda s: s > 0)
    before = agenda.fingerprint()
    journal.append(kind, data, stream="agenda")
    with pytest.raises(UnknownFormat, match="entry 2 cannot be read"):
        agenda.open(1)
    assert not agenda.verify()
    with pytest.raises(UnknownFormat, match="entry 2 cannot be read"):
        Agenda(journal=journal)
    assert agenda.rebuild(2).fingerprint() == before


def test_a_fold_counts_its_events() -> None:
    fold = AgendaFold()
    fold.apply(fold.settings)
    assert (fold.version, fold.begun) == (1, True)
