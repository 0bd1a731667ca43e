"""The ground of the agenda, the failure memory and the risk policies: what is kept, and what is not."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.journal import open_journal
from surefoot.knowledge._ledger import _Newest, plain
from surefoot.knowledge.agenda_fold import GateDeclared, pack
from surefoot.knowledge.failures import FailureMemory
from surefoot.knowledge.gates import Pattern


def test_an_event_is_encoded_as_values_are() -> None:
    event = GateDeclared("é~", "ab", None, "3.11", pack((Pattern("call", "go", b'{"~~x":{"~l":[1]}}'),)), pack(()))
    assert event.encode() == values.encode(event.as_data())
    assert plain(event.blocks) == (("call", "go", {"~x": [1]}),)


def test_without_a_place_nothing_is_kept_of_the_past(tmp_path: Path) -> None:
    failures = FailureMemory().failed("hall", "a").failed("hall", "b")
    assert failures.verify()
    assert failures.verify().entries == 0
    assert failures.head.length == 3
    for past in (
        lambda: failures.rebuild(1),
        lambda: failures.save(tmp_path / "f.db"),
        lambda: FailureMemory().load(tmp_path / "f.db"),
    ):
        with pytest.raises(
            BadArgument, match="this failure memory keeps nothing of the past: give it path= or journal="
        ):
            past()
    failures.close()
    failures.close()


def test_with_a_journal_it_can_be_saved_and_loaded(tmp_path: Path) -> None:
    with FailureMemory(journal=open_journal()).failed("hall", "a") as failures:
        failures.save(tmp_path / "f.db")
        with FailureMemory(path=tmp_path / "f.db") as saved:
            assert saved.fingerprint() == failures.fingerprint()
        loaded = FailureMemory(journal=open_journal()).load(tmp_path / "f.db")
        assert loaded.blocked("hall") == failures.blocked("hall")


def test_a_difference_between_memory_and_journal_is_found() -> None:
    failures = FailureMemory(journal=open_journal()).failed("hall", "a")
    failures._fold.now += 1
    assert failures.verify().problem == "the failure memory in memory differs from its journal in: what is known"
    failures = FailureMemory(journal=open_journal()).failed("hall", "a")
    failures._fold.settings = msgspec.structs.replace(failures._fold.settings, window=3)
    assert failures.verify().problem == "the failure memory in memory differs from its journal in: the settings"


def test_what_others_record_meanwhile_is_taken_in_first() -> None:
    journal = open_journal()
    one, other = FailureMemory(journal=journal), FailureMemory(window=3, journal=journal)
    other.failed("hall", "a")
    assert one.failed("hall", "b").settings.window == 3
    assert len(journal) == 3
    assert other.fingerprint() == one.fingerprint()


def test_the_newest_line_is_all_that_is_kept() -> None:
    backend = _Newest()
    assert list(backend.lines()) == []
    for line in (b"a", b"b"):
        backend.extend(lambda count, last, line=line: [line] if (count, last) in [(0, None), (1, b"a")] else [])  # type: ignore[misc]  # its argument is a default
    assert len(backend) == 2
    assert [list(backend.lines(*place)) for place in ((), (1,), (1, 2), (1, 9), (0, 1), (2,))] == [
        [b"b"],
        [b"b"],
        [b"b"],
        [b"b"],
        [],
        [],
    ]
    backend.flush()
    backend.close()
