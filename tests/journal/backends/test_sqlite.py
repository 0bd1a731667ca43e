"""The backend in SQLite: the contract, what is in the file, and everything that SQLite can refuse."""

from __future__ import annotations

import copy
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from surefoot.errors import AppendFailed, BadArgument, BrokenChain, JournalClosed, JournalError, UnknownFormat
from surefoot.journal import Journal, open_journal
from surefoot.journal.backends import sqlite
from surefoot.journal.backends.sqlite import NotSqlite, SqliteBackend
from surefoot.testing.journals import BackendContract

LINES = [b'{"n":%d}' % n for n in range(4)]


class TestSqlite(BackendContract):
    def open(self, where: Path) -> SqliteBackend:
        return SqliteBackend(where)


class TestSqliteFull(BackendContract):
    processes = False

    def open(self, where: Path) -> SqliteBackend:
        return SqliteBackend(where, durability="full")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.map"


@pytest.fixture
def three(path: Path) -> Iterator[SqliteBackend]:
    """Return an open backend with three lines."""
    backend = SqliteBackend(path)
    add(backend, *LINES[:3])
    yield backend
    backend.close()


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Look at a file as SQLite does, without us."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        yield connection
    finally:
        connection.close()


def add(backend: SqliteBackend, *lines: bytes) -> None:
    backend.extend(lambda count, last: lines)


def connection_of(backend: SqliteBackend) -> sqlite3.Connection:
    assert backend._connection is not None
    return backend._connection


# -- what is in the file --


def test_the_file_is_stamped_and_its_table_is_strict(three: SqliteBackend, path: Path) -> None:
    with opened(path) as connection:

        def ask(query: str) -> Any:
            return connection.execute(query).fetchone()[0]

        assert ask("PRAGMA application_id").to_bytes(4) == b"Sure"
        assert (ask("PRAGMA user_version"), ask("PRAGMA journal_mode"), ask("PRAGMA integrity_check")) == (
            1,
            "wal",
            "ok",
        )
        assert connection.execute("SELECT seq, line FROM lines").fetchall() == list(enumerate(LINES[:3]))
        assert ask("SELECT strict FROM pragma_table_list WHERE name = 'lines'") == 1


@pytest.mark.parametrize(
    "statement", ["UPDATE lines SET line = x'00'", "DELETE FROM lines WHERE seq = 2", "DELETE FROM lines"]
)
def test_a_slip_of_the_hand_is_refused(statement: str, three: SqliteBackend, path: Path) -> None:
    with opened(path) as connection, pytest.raises(sqlite3.IntegrityError, match="a journal is append-only"):
        connection.execute(statement)
    assert list(three.lines()) == LINES[:3]


@pytest.mark.parametrize(("durability", "level"), [("normal", 1), ("full", 2)])
def test_durability_is_sqlites_synchronous(durability: str, level: int, path: Path) -> None:
    for _ in range(2):  # when it is made, and when it is opened
        backend = SqliteBackend(path, durability=durability)
        add(backend, LINES[0])
        assert connection_of(backend).execute("PRAGMA synchronous").fetchone() == (level,)
        backend.close()


def test_durability_is_one_of_two_words(path: Path) -> None:
    with pytest.raises(BadArgument, match='durability must be "normal" or "full", got None'):
        SqliteBackend(path, durability=None)  # type: ignore[arg-type]  # wrong on purpose


def test_a_reader_never_sees_what_is_not_committed(three: SqliteBackend, path: Path) -> None:
    with opened(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO lines VALUES (3, ?)", (LINES[3],))
        assert len(three) == 3
        assert list(three.lines()) == LINES[:3]
        connection.execute("COMMIT")
        assert list(three.lines()) == LINES


def test_closing_leaves_one_file(three: SqliteBackend, path: Path) -> None:
    three.close()
    assert os.listdir(path.parent) == [path.name]


# -- files that are not ours --


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("PRAGMA application_id = 5", "is a SQLite file of another program: name another file"),
        ("PRAGMA user_version = 2", "is a journal of version 2, this Surefoot reads 1: use the Surefoot that wrote it"),
        ("DROP TABLE lines", "is a journal without its table of lines: restore a copy"),
        ("PRAGMA user_version = 0", "is a journal of version 0"),
    ],
)
def test_a_file_that_is_not_a_journal_of_this_version_is_refused(
    statement: str, problem: str, three: SqliteBackend, path: Path
) -> None:
    three.close()
    with opened(path) as connection:
        connection.execute(statement)
    before = path.read_bytes()
    with pytest.raises(UnknownFormat, match=problem):
        SqliteBackend(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"x", b"rubbish", b"rubbish" * 1000])
def test_a_file_that_is_none_of_sqlites_is_refused(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(
        NotSqlite, match=r"a.map is no SQLite file: name another file for the journal, or restore a copy"
    ):
        SqliteBackend(path)
    assert path.read_bytes() == content


def test_a_database_that_holds_nothing_yet_is_taken(path: Path) -> None:
    """As one is whose making was interrupted."""
    with opened(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE x(y)")
        connection.execute("DROP TABLE x")
    backend = SqliteBackend(path)
    assert (len(backend), list(backend.lines())) == (0, [])
    add(backend, *LINES)
    assert list(backend.lines()) == LINES
    backend.close()


def test_a_damaged_file_is_told(path: Path) -> None:
    backend = SqliteBackend(path)
    add(backend, *(b'{"pad":"%b"}' % (b"x" * 500) for _ in range(200)))
    backend.close()
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\0" * 4096 * 8 + data[4096 * 9 :])
    backend = SqliteBackend(path)
    with pytest.raises(UnknownFormat, match=r"is damaged .*: restore a copy, or try the command .recover of sqlite3"):
        list(backend.lines())
    with pytest.raises(UnknownFormat, match="is damaged"):
        add(backend, LINES[0])
    assert "is damaged" in str(Journal(backend).verify().problem)
    backend.close()


def test_a_line_that_is_no_blob_is_told(three: SqliteBackend, path: Path) -> None:
    three.close()
    with opened(path) as connection:
        connection.execute("DROP TRIGGER no_update")
        sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'lines'").fetchone()[0]
        connection.execute("PRAGMA writable_schema = ON")
        for text in (sql.replace("STRICT", ""), sql):
            connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'lines'", (text,))
            connection.execute("PRAGMA schema_version = 77" if text is not sql else "PRAGMA schema_version = 78")
            if text is not sql:
                with opened(path) as loose:
                    loose.execute("UPDATE lines SET line = 5 WHERE seq = 1")
    backend = SqliteBackend(path)
    with pytest.raises(UnknownFormat, match="is damaged near entry 0: restore a copy"):
        list(backend.lines())
    backend.close()


def test_a_removed_row_is_caught_by_the_chain(path: Path) -> None:
    with open_journal(path) as journal:
        journal.append_many([("note", {"n": n}) for n in range(5)])
        head = journal.head
    for place in range(5):
        shutil.copy(path, path.with_name("b"))
        with opened(path.with_name("b")) as connection:
            connection.execute("DROP TRIGGER no_delete")
            connection.execute("DELETE FROM lines WHERE seq = ?", (place,))
        with open_journal(path.with_name("b")) as journal:
            assert not journal.verify(head=head)
            assert bool(journal.verify()) == (place == 4), "only a head tells that the last was cut"


def test_flips_of_bytes_in_the_file_are_caught_or_change_nothing(path: Path) -> None:
    with open_journal(path) as journal:
        journal.append_many([("note", {"n": n}) for n in range(3)])
        head, lines = journal.head, list(journal.lines())
    data = path.read_bytes()
    caught = 0
    for place in [*range(0, 100, 3), *range(100, len(data), 97)]:
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            with open_journal(path) as journal:
                whole = bool(journal.verify(head=head))
                assert not whole or list(journal.lines()) == lines, place
                caught += not whole
        except JournalError:
            caught += 1
        for name in os.listdir(path.parent):
            path.with_name(name).unlink()
    assert caught > 10


# -- what SQLite refuses --


def test_a_full_disk_changes_nothing(three: SqliteBackend) -> None:
    connection = connection_of(three)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    big = b'{"pad":"%b"}' % (b"x" * 20_000)
    with pytest.raises(AppendFailed, match="a.map: database or disk is full; nothing was recorded"):
        add(three, LINES[3], big)
    assert list(three.lines()) == LINES[:3]
    connection.execute("PRAGMA max_page_count = 1000000")
    add(three, LINES[3], big)
    assert len(three) == 5


def test_a_first_append_that_fails_leaves_an_empty_journal(path: Path) -> None:
    backend = SqliteBackend(path)

    def failing(count: int, last: bytes | None) -> Sequence[bytes]:
        raise LookupError

    with pytest.raises(LookupError):
        backend.extend(failing)
    assert len(backend) == 0
    add(backend, LINES[0])
    assert list(backend.lines()) == LINES[:1]
    backend.close()


def test_a_lock_that_is_not_given_back_is_told(
    three: SqliteBackend, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "WAIT", 0)
    other = SqliteBackend(path)
    with opened(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            AppendFailed, match="has been locked by another writer for 0 s; nothing was recorded: end it, or try again"
        ):
            add(other, LINES[3])
        assert list(other.lines()) == LINES[:3], "readers do not wait"
    add(other, LINES[3])
    assert list(three.lines()) == LINES
    other.close()


def test_a_file_that_somebody_keeps_for_himself_cannot_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "WAIT", 0)
    backend = SqliteBackend(path)
    add(backend, *LINES)
    backend.close()
    with opened(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        backend = SqliteBackend(path)
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(JournalError, match="has been locked by another writer for 0 s: end it, or try again"):
            len(backend)
        with pytest.raises(JournalError, match="has been locked"):
            SqliteBackend(path)
        connection.execute("COMMIT")
        assert len(backend) == 4
        add(backend, LINES[0])
        backend.close()


def test_making_the_file_waits_for_whoever_has_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.touch()
    backend = SqliteBackend(path)
    pauses: list[float] = []
    with opened(path) as connection:
        connection.execute("BEGIN IMMEDIATE")

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                connection.execute("ROLLBACK")

        monkeypatch.setattr(time, "sleep", pause)
        add(backend, LINES[0])
    assert len(pauses) == 3
    backend.close()


def test_making_the_file_does_not_wait_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.touch()
    backend = SqliteBackend(path)
    monkeypatch.setattr(sqlite, "WAIT", 0)
    with opened(path) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("CREATE TABLE x(y)")
        with pytest.raises(AppendFailed, match="has been locked by another writer for 0 s; nothing was recorded"):
            add(backend, LINES[0])
        connection.execute("ROLLBACK")
    add(backend, LINES[0])
    backend.close()


def test_two_who_make_the_file_at_once_make_one(path: Path) -> None:
    one, other = SqliteBackend(path), SqliteBackend(path)
    add(other, LINES[0])
    one._make()  # it looked before the other had made it
    add(one, LINES[1])
    assert list(one.lines()) == list(other.lines()) == LINES[:2]
    one.close()
    other.close()


def test_a_file_that_may_not_be_written_can_be_read(
    three: SqliteBackend, path: Path, as_somebody_else: Callable[[Path], AbstractContextManager[None]]
) -> None:
    three.close()
    path.chmod(0o444)
    with as_somebody_else(path):
        backend = SqliteBackend(path)
        assert list(backend.lines()) == LINES[:3]
        with pytest.raises(AppendFailed, match="a.map: attempt to write a readonly database; nothing was recorded"):
            add(backend, LINES[3])
        assert len(backend) == 3
        backend.close()
        with pytest.raises(AppendFailed, match="unable to open database file; nothing was recorded"):
            add(SqliteBackend(path.with_name("new")), LINES[3])


def test_a_file_on_a_medium_that_takes_nothing_can_be_read(
    three: SqliteBackend, path: Path, as_somebody_else: Callable[[Path], AbstractContextManager[None]]
) -> None:
    """Whatever is in the name."""
    three.close()
    odd = path.rename(path.with_name("a?b#c%20d e.map"))
    odd.chmod(0o444)
    odd.parent.chmod(0o555)
    with as_somebody_else(odd):
        backend = SqliteBackend(odd)
        assert list(backend.lines()) == LINES[:3]
        assert [list(backend.lines(n, n + 1)) for n in range(3)] == [[line] for line in LINES[:3]]
        with pytest.raises(AppendFailed, match=r"(unable to open|attempt to write) .*; nothing was recorded"):
            add(backend, LINES[3])
        backend.close()
    odd.parent.chmod(0o755)


def test_a_file_that_cannot_be_opened_is_told(
    three: SqliteBackend, path: Path, as_somebody_else: Callable[[Path], AbstractContextManager[None]]
) -> None:
    three.close()
    path.chmod(0)
    with as_somebody_else(path), pytest.raises(JournalError, match="a.map: unable to open database file"):
        SqliteBackend(path)


def test_an_old_sqlite_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 0))
    with pytest.raises(
        BadArgument, match=r"needs SQLite 3.37 or newer, this Python has .*: use a file that ends in .jsonl"
    ):
        SqliteBackend(path)


# -- durability --


def test_a_flush_moves_everything_into_the_file(three: SqliteBackend, path: Path) -> None:
    three.flush()
    three.flush()
    shutil.copy(path, path.with_name("b"))  # the file alone, without its log
    other = SqliteBackend(path.with_name("b"))
    assert list(other.lines()) == LINES[:3]
    other.close()


def test_a_flush_syncs_the_log_when_a_reader_holds_it(
    three: SqliteBackend, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(os.path.realpath(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    with opened(path) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM lines").fetchall()
        add(three, LINES[3])
        monkeypatch.setattr(os, "fsync", watched)
        three.flush()
    assert synced == [os.path.realpath(f"{path}-wal")]


def test_a_flush_that_fails_says_what_may_be_lost_and_close_lets_go(
    three: SqliteBackend, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with opened(path) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM lines").fetchall()
        add(three, LINES[3])
        monkeypatch.setattr(os, "fsync", failing)
        for call in (three.flush, three.close):
            with pytest.raises(JournalError, match="Input/output error; a power cut may lose its last entries"):
                call()
    with pytest.raises(JournalClosed):
        len(three)
    three.close()


def test_a_log_that_was_cut_loses_only_its_end(tmp_path: Path) -> None:
    """As after a kill or a power cut: whatever is left of the log opens, with whole appends only."""
    path = tmp_path / "a.map"
    journal = open_journal(path)
    journal.append("note", {"n": 0})
    journal.flush()
    for n in range(1, 6):
        journal.append_many([("note", {"n": n}), ("note", {"n": -n})])
    data, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    heads = [journal.at(length).head for length in range(len(journal) + 1)]
    journal.close()
    lengths = set()
    for cut in [*range(0, len(log), 509), len(log)]:
        folder = tmp_path / str(cut)
        folder.mkdir()
        (folder / "a.map").write_bytes(data)
        (folder / "a.map-wal").write_bytes(log[:cut])
        with open_journal(folder / "a.map") as left:
            assert left.verify(head=heads[len(left)])
            assert len(left) % 2 == 1, "an append of two is there by half"
            lengths.add(len(left))
            left.append("note", {"more": True})
    assert lengths == {1, 3, 5, 7, 9, 11}


# -- a file that is not the one that was opened --


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda path: path.unlink(), "was deleted"),
        (lambda path: path.with_name("other").replace(path), "was replaced by another file"),
    ],
)
def test_a_file_changed_under_us_is_told_and_never_written(
    change: Callable[[Path], object], problem: str, three: SqliteBackend, path: Path
) -> None:
    path.with_name("other").write_bytes(path.read_bytes())
    change(path)
    with pytest.raises(AppendFailed, match=f"{problem} while it was open; nothing was recorded: put the old file back"):
        add(three, LINES[3])
    for call in (lambda: len(three), lambda: three.lines()):
        with pytest.raises(BrokenChain, match=f"{problem} while it was open: put"):
            call()
    assert "while it was open" in str(Journal(three).verify().problem)


def test_a_child_finds_that_the_file_is_gone(three: SqliteBackend, path: Path) -> None:
    connection = connection_of(three)
    three.after_fork()
    three.after_fork()
    path.rename(path.with_name("moved"))
    with pytest.raises(AppendFailed, match="was deleted while it was open; nothing was recorded"):
        add(three, LINES[3])
    with pytest.raises(BrokenChain, match="was deleted"):
        len(three)
    assert not path.exists()
    connection.close()


def test_a_file_emptied_under_us_is_told(three: SqliteBackend, path: Path) -> None:
    three.close()
    backend = SqliteBackend(path)
    connection_of(backend).close()
    backend._connection = None
    path.write_bytes(b"")
    assert len(backend) == 0
    backend.close()


# -- others --


def test_reading_on_after_close_is_refused(three: SqliteBackend) -> None:
    reading = three.lines()
    three.close()
    with pytest.raises(JournalClosed, match="open it again"):
        next(reading)


def test_a_copy_is_one_more_hand_on_the_file(three: SqliteBackend) -> None:
    for other in (pickle.loads(pickle.dumps(three)), copy.deepcopy(three)):
        before = len(three)
        add(other, LINES[3])
        assert len(three) == before + 1
        other.close()


FORK = """
import os, sys
from surefoot.journal import open_journal
journal = open_journal(sys.argv[1])
for n in range(3):
    journal.append("note", {"n": n})
children = []
for name in ("a", "b"):
    child = os.fork()
    if not child:
        for n in range(40):
            journal.append("note", {"n": n}, stream=name)
        journal.close()
        os._exit(0) if name == "a" else sys.exit(0)
    children.append(child)
for n in range(40):
    journal.append("note", {"n": n}, stream="parent")
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
assert journal.verify().entries == 123 == len(journal), journal.verify()
for name in ("a", "b", "parent"):
    assert [entry.data["n"] for entry in journal.entries(stream=name)] == list(range(40))
journal.close()
"""


def test_a_fork_shares_nothing_but_the_file(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORK, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_readers_in_threads_see_whole_lines_while_others_write(path: Path) -> None:
    with open_journal(path) as journal, open_journal(path) as other:
        stop = threading.Event()
        problems: list[object] = []

        def read(from_: Journal) -> None:
            while not stop.is_set():
                checked = from_.verify()
                if not checked:
                    problems.append(checked)

        threads = [threading.Thread(target=read, args=(one,)) for one in (journal, other)]
        for thread in threads:
            thread.start()
        for n in range(100):
            journal.append_many([("note", {"n": n})] * 3)
        stop.set()
        for thread in threads:
            thread.join()
        assert problems == []
        assert other.verify().entries == 300
