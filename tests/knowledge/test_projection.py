"""Keeping a fold in step with its journal, whatever the fold is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import pytest

from surefoot import Journal, WorldMap, open_journal
from surefoot.errors import BadArgument, BrokenChain, JournalClosed, UnknownFormat
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.journal.seal import new_key, public_key
from surefoot.knowledge.agenda import Agenda
from surefoot.knowledge.projection import Fold, Projection, Take, fold_lines, together
from surefoot.knowledge.projection import Path as Place


class Count:
    """The smallest fold: how many, and of what length."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, bytes]] = []

    def takers(self) -> Mapping[str, Take]:
        return {"note": self.take, "fuss": self.fuss}

    def take(self, raw: bytes, seq: int) -> None:
        self.seen.append((seq, raw))

    def fuss(self, raw: bytes, seq: int) -> None:
        raise KeyError("nobody knows")

    def check_new(self) -> None:
        if any(b"odd" in raw for _, raw in self.seen):
            raise ValueError("odd")

    def same_as(self, other: Self) -> str | None:
        return None if self.seen == other.seen else "seen"


class Counter(Projection[Count]):
    """The smallest projection."""

    _noun = "counter"

    def __init__(self, path: Place | None = None, *, journal: Journal | None = None, stream: str = "notes") -> None:
        self._open(path, journal, stream)

    def _blank(self) -> Count:
        return Count()

    def note(self, text: str) -> None:
        data = b'{"text":"%b"}' % text.encode()
        self._change(lambda: ("note", data), lambda seq: self._fold.take(data, seq))

    def count(self) -> int:
        with self._lock:
            self._catch_up()
            return len(self._fold.seen)


def test_a_projection_folds_its_own_stream() -> None:
    fold: Fold = Count()
    assert set(fold.takers()) == {"note", "fuss"}
    journal = open_journal()
    mine, theirs = Counter(journal=journal), Counter(journal=journal, stream="others")
    mine.note("a")
    theirs.note("b")
    mine.note("c")
    assert (mine.count(), theirs.count(), mine.stream, mine.head) == (2, 1, "notes", journal.head)
    assert [seq for seq, _ in mine._fold.seen] == [0, 2]
    assert mine.verify()
    assert theirs.verify(head=str(journal.head))
    assert [mine.rebuild(n).count() for n in range(4)] == [0, 1, 1, 2]


def test_lines_with_a_time_are_read_too() -> None:
    times = iter(range(9))
    journal = open_journal(clock=lambda: next(times))
    journal.append_many([("note", {"n": n}) for n in range(2)], stream="notes")
    assert Counter(journal=journal)._fold.seen == [(0, b'{"n":0}'), (1, b'{"n":1}')]
    plain = Counter()
    plain.note('a","time":"b')
    assert plain.rebuild()._fold.seen == [(0, b'{"text":"a","time":"b"}')]


def test_what_cannot_be_read_is_said_with_its_place() -> None:
    journal = open_journal()
    counter = Counter(journal=journal)
    counter.note("a")
    journal.append("fuss", {}, stream="notes")
    with pytest.raises(UnknownFormat, match="entry 1 cannot be read: 'nobody knows'"):
        counter.count()
    assert len(counter._fold.seen) == 1
    found = counter.verify()
    assert (found.ok, found.at, found.problem) == (False, 1, "entry 1 is damaged: 'nobody knows'")
    fresh = open_journal()
    fresh.append("note", {"text": "odd"}, stream="notes")
    with pytest.raises(UnknownFormat, match=r"one of the entries 0\.\.0 cannot be read: odd"):
        Counter(journal=fresh)
    counter = Counter()
    counter.note("even")
    counter.journal.append("note", {"text": "odd"}, stream="notes")
    assert counter.verify().problem == "one of the entries 1..1 cannot be read: odd"
    early = open_journal()
    empty = Counter(journal=early)
    early.append("fuss", {}, stream="notes")
    with pytest.raises(UnknownFormat, match="entry 0 cannot be read"):
        empty.count()


def test_a_line_spelled_otherwise_is_refused_though_its_hash_fits() -> None:
    journal = open_journal()
    journal.append("note", {"text": "a"}, stream="notes")
    (line,) = journal.lines()
    body = line[:-75].replace(b'"kind":"note"', b'"kind": "note"')
    forged = body + b',"hash":"' + hashlib.sha256(body + b"}").hexdigest().encode() + b'"}'
    with pytest.raises(UnknownFormat, match="not written as this format writes it"):
        fold_lines(Count(), Journal(MemoryBackend([forged])), 0, 1, stream="notes", last=None)


def test_a_projection_says_what_it_was_given_wrong() -> None:
    with pytest.raises(BadArgument, match="a path or a journal, not both"):
        Counter("x", journal=open_journal())
    with pytest.raises(BadArgument, match="stream must be a non-empty str"):
        Counter(stream="")
    counter = Counter()
    with pytest.raises(BadArgument, match="give a clock or a journal, not both"):
        counter._open(None, open_journal(), "notes", clock=lambda: 1)
    for upto in (-1, 1, True, "0"):
        with pytest.raises(BadArgument, match=r"must be an int in 0..0"):
            counter.rebuild(upto)  # type: ignore[arg-type]  # wrong on purpose


def test_a_journal_that_shrinks_is_an_error() -> None:
    backend = MemoryBackend()
    counter = Counter(journal=Journal(backend))
    counter.note("a")
    counter.note("b")
    del backend._lines[1:]
    with pytest.raises(UnknownFormat, match="has shrunk from 2 entries: open the counter again"):
        counter.count()


def test_verify_compares_memory_with_the_journal_and_the_journal_with_what_you_hold() -> None:
    counter = Counter()
    counter.note("a")
    old = counter.head
    counter.note("b")
    assert counter.verify(head=old)
    assert counter.verify(head=counter.head)
    assert counter.verify(head=f"9:{'0' * 64}").failed == "head"
    key = new_key()
    counter.journal.seal(key)
    assert counter.verify(key=public_key(key)).sealed == 2
    assert counter.verify(key=public_key(new_key())).failed == "seal"
    counter._fold.seen.pop()
    assert counter.verify().problem == "the counter in memory differs from its journal in: seen"


def test_save_and_load(tmp_path: Path) -> None:
    with Counter(tmp_path / "here.jsonl") as counter:
        counter.note("a")
        assert counter.save() == str(tmp_path / "here.jsonl")
        assert counter.save(tmp_path / "here.jsonl") == str(tmp_path / "here.jsonl")
        for n in range(3):
            assert counter.save(tmp_path / "copy.db") == tmp_path / "copy.db"
            counter.note(str(n))
    assert Counter().load(tmp_path / "copy.db").count() == 3
    with pytest.raises(JournalClosed):
        counter.verify()
    other = Counter()
    other.note("another history")
    for call, problem in (
        (lambda: other.save(tmp_path / "copy.db"), "holds another history"),
        (lambda: other.save(), r"this counter is in memory: give save\(path\) a place"),
        (lambda: other.load(tmp_path / "copy.db"), "fills an empty counter in memory, this has 1 entries"),
        (lambda: Counter().load(tmp_path / "nothing"), "there is no saved counter"),
    ):
        with pytest.raises(BadArgument, match=problem):
            call()
    other.close()


def test_a_broken_chain_is_told_as_one() -> None:
    journal = open_journal()
    Agenda(journal=journal).goal("rich", lambda state: bool(state))
    lines = list(journal.lines())
    lines[-1] = lines[-1].replace(b'"stream":"agenda"', b'"stream":"agendb"')
    with pytest.raises(BrokenChain, match="was edited"):
        Agenda(journal=Journal(MemoryBackend(lines)))


class Hasty(MemoryBackend):
    """A backend on which somebody else is once faster."""

    def __init__(self) -> None:
        super().__init__()
        self.before_next: list[Callable[[], object]] = []

    def extend(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> None:
        if self.before_next:
            self.before_next.pop()()
        super().extend(build)


def test_a_decision_is_made_again_when_somebody_else_was_faster() -> None:
    backend = Hasty()
    agenda = Agenda(journal=Journal(backend))
    agenda.goal("rich", lambda state: bool(state))
    backend.before_next.append(lambda: Journal(backend).append("note", {}, stream="other"))
    agenda.goal("wise", lambda state: bool(state))
    assert agenda.verify()
    assert [entry.stream for entry in agenda.journal.entries()].count("other") == 1


def test_changes_recorded_together_are_decided_again_when_somebody_else_was_faster() -> None:
    journal = open_journal()
    known, other = WorldMap(journal=journal), WorldMap(journal=journal)
    held, decide, apply = known.arriving(b"0", b'"right"', b"1")
    asked = []

    def slowly() -> tuple[str, bytes]:
        asked.append(len(journal))
        if len(asked) == 1:
            other.see(1, "up")
        return decide()

    at = together([(held, slowly, apply)], [("notes", "note", b"{}")])
    assert len(asked) == 2
    assert asked[0] < asked[1] == at
    assert [entry.kind for entry in journal.entries(since=at)] == ["arrive", "note"]
    assert (known.next(0, {1}), known.frontier()) == ("right", other.frontier())
    assert known.verify()
