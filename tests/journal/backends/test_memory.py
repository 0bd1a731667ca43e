"""The backend in memory, held to the contract."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

from surefoot.journal import Journal
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.testing.journals import BackendContract


class TestMemory(BackendContract):
    persistent = False
    processes = False

    def open(self, where: Path) -> MemoryBackend:
        return MemoryBackend()


def test_it_starts_with_lines_saved_elsewhere() -> None:
    first = Journal(MemoryBackend())
    first.append_many([("note", {"n": n}) for n in range(3)])
    again = Journal(MemoryBackend(first.lines()))
    assert again.verify(head=first.head)
    assert again.append("note", {"n": 3}).seq == 3
    assert len(first) == 3


def test_it_stays_readable_after_close() -> None:
    backend = MemoryBackend()
    with Journal(backend) as journal:
        journal.append("note", {})
    assert len(Journal(backend)) == 1


def test_copies_are_journals_of_their_own() -> None:
    journal = Journal(MemoryBackend())
    journal.append("note", {"n": 0})
    for other in (copy.deepcopy(journal), pickle.loads(pickle.dumps(journal))):
        assert other.head == journal.head
        other.append("note", {"n": 1})
        assert (len(other), len(journal)) == (2, 1)
        assert other.verify(head=journal.head)
