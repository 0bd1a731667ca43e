"""The backend in a JSON file: the contract, the layout, and every way in which a write can stop half way."""

from __future__ import annotations

import copy
import errno
import fcntl
import itertools
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from surefoot.errors import (
    AppendFailed,
    BadArgument,
    BrokenChain,
    CutTail,
    JournalClosed,
    JournalError,
    UnknownFormat,
)
from surefoot.journal import Journal, open_journal
from surefoot.journal.backends import jsonfile
from surefoot.journal.backends.jsonfile import JsonFileBackend
from surefoot.testing.journals import BackendContract

LINES = [b'{"n":0,"text":"one"}', '{"n":1,"text":"été ]"}'.encode(), b'{"n":2,"a":[1,{"b":[]}]}', b'{"n":3}']


class TestLines(BackendContract):
    suffix = ".jsonl"

    def open(self, where: Path) -> JsonFileBackend:
        return JsonFileBackend(where.with_suffix(self.suffix))

    def cut(self, where: Path) -> None:
        path = where.with_suffix(self.suffix)
        path.write_bytes(path.read_bytes()[:-20])

    def mend(self, where: Path) -> JsonFileBackend:
        return JsonFileBackend(where.with_suffix(self.suffix), repair=True)


class TestArray(TestLines):
    suffix = ".json"


@pytest.fixture(params=["a.jsonl", "a.json"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


@pytest.fixture
def three(path: Path) -> Iterator[JsonFileBackend]:
    """Return an open backend with three lines."""
    backend = JsonFileBackend(path)
    add(backend, *LINES[:3])
    yield backend
    backend.close()


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: in a test of many rounds that looks at the bytes only."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def add(backend: JsonFileBackend, *lines: bytes) -> None:
    backend.extend(lambda count, last: lines)


def content(path: Path, lines: Sequence[bytes]) -> bytes:
    """Return what a file with these lines must hold: the definition."""
    if path.suffix == ".json":
        return b"[\n" + b",\n".join(lines) + b"\n]\n"
    return b"".join(line + b"\n" for line in lines)


def refuse(
    code: int, when: Callable[..., bool] = lambda *_: True, real: Callable[..., Any] = print
) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        if when(*arguments):
            raise OSError(code, os.strerror(code))
        return real(*arguments, **named)

    return call


def test_the_file_is_laid_out_as_told_after_every_append(path: Path) -> None:
    backend = JsonFileBackend(path)
    assert not path.exists()
    for n, line in enumerate(LINES):
        add(backend, line)
        assert path.read_bytes() == content(path, LINES[: n + 1])
    add(backend, *LINES)
    assert path.read_bytes() == content(path, LINES * 2)
    if path.suffix == ".json":
        assert json.loads(path.read_bytes()) == [json.loads(line) for line in LINES * 2]
    backend.close()
    assert path.read_bytes() == content(path, LINES * 2)


def test_an_append_costs_the_step_and_touches_no_earlier_byte(
    three: JsonFileBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[tuple[int, int]] = []
    pwrite = os.pwrite

    def watched(descriptor: int, data: bytes, offset: int) -> int:
        writes.append((offset, len(data)))
        return pwrite(descriptor, data, offset)

    monkeypatch.setattr(os, "pwrite", watched)
    end = len(content(Path(three.name), LINES[:3])) - (3 if three.name.endswith(".json") else 1)
    add(three, LINES[3])
    ((offset, size),) = writes
    assert offset == end
    assert size <= len(LINES[3]) + 5


def test_the_first_append_leaves_nothing_else_in_the_folder(three: JsonFileBackend, path: Path) -> None:
    assert os.listdir(path.parent) == [path.name]


def test_a_line_with_a_line_break_is_refused_and_changes_nothing(three: JsonFileBackend, path: Path) -> None:
    for lines in ([b'{"a":\n1}'], [LINES[3], b"\n"]):
        with pytest.raises(BadArgument, match="a line holds a line break"):
            add(three, *lines)
        assert path.read_bytes() == content(path, LINES[:3])
    with pytest.raises(BadArgument, match="a line holds a line break"):
        add(JsonFileBackend(path.with_name(f"new{path.suffix}")), b"\n")
    assert os.listdir(path.parent) == [path.name]


def test_durability_is_one_of_two_words(path: Path) -> None:
    with pytest.raises(BadArgument, match='durability must be "normal" or "full", got None'):
        JsonFileBackend(path, durability=None)  # type: ignore[arg-type]  # wrong on purpose


def test_many_lines_are_read_in_chunks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonfile, "_CHUNK", 64)
    lines = [b'{"n":%d,"pad":"%b"}' % (n, b"x" * (n % 97)) for n in range(300)]
    backend = JsonFileBackend(path)
    add(backend, *lines)
    again = JsonFileBackend(path)
    for one in (backend, again):
        assert list(one.lines()) == lines
        for start, stop in ((0, 1), (17, 18), (17, 230), (299, 300), (250, None), (300, None)):
            assert list(one.lines(start, stop)) == lines[start:stop]
        one.close()


# -- an end that was cut --


def whole_lines(data: bytes) -> list[bytes]:
    """Return the lines that are whole in what is left of a file: the definition."""
    pieces = [piece.removesuffix(b",") for piece in data.split(b"\n")]
    return [piece for piece in pieces if piece in LINES]


@pytest.mark.usefixtures("unsynced")
def test_every_cut_is_reported_and_repaired_without_losing_a_whole_entry(path: Path) -> None:
    data = content(path, LINES)
    for length in range(len(data)):
        left = data[:length]
        whole = whole_lines(left)
        for file in path.parent.iterdir():
            file.unlink()
        path.write_bytes(left)
        if left == content(path, whole) or not left:  # cut between two lines: only a head tells
            assert list(JsonFileBackend(path).lines()) == whole
            continue
        with pytest.raises(CutTail, match=f"{path.name} does not end as it was written .*: {len(whole)} whole entries"):
            JsonFileBackend(path)
        assert path.read_bytes() == left, "a refusal changes nothing"
        mended = JsonFileBackend(path, repair=True)
        assert list(mended.lines()) == whole
        assert path.read_bytes() == (content(path, whole) if whole else b"")
        kept = path.read_bytes().rstrip(b"\n]") if whole else b""
        beside = path.with_name(f"{path.name}.damaged-1")
        lost = beside.read_bytes() if beside.exists() else b""
        assert len(kept + lost) == len(left) or not left[len(kept) :].strip(b",\n]"), "nothing is lost but separators"
        assert left.startswith(kept)
        assert left.endswith(lost)
        add(mended, *LINES[len(whole) :])
        assert path.read_bytes() == data
        mended.close()


@pytest.mark.parametrize(
    "rest",
    [
        b"\0" * 5000,
        b'{"n":\0\0\0\0}\n',
        b"\n\n\n",
        b'{"n":\n{"n":',
        b'"text"\n',
        b"}\n",
        b'{"a":1}{"b":2}\n',
        b"{\xff}",
    ],
)
def test_other_rubbish_at_the_end_is_reported_and_kept_beside(rest: bytes, path: Path) -> None:
    data = content(path, LINES)
    path.write_bytes(data + rest)
    with pytest.raises(CutTail, match=f"4 whole entries, then {len(rest) + len(data) - len(data.rstrip())} bytes|then"):
        JsonFileBackend(path)
    mended = JsonFileBackend(path, repair=True)
    assert list(mended.lines()) == LINES
    assert path.read_bytes() == data
    assert path.with_name(f"{path.name}.damaged-1").read_bytes().endswith(rest)
    mended.close()


@pytest.mark.usefixtures("unsynced")
def test_an_append_of_several_lines_is_there_wholly_or_not_at_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after any byte of the first write, or before the one byte that makes it valid."""
    batch = [b'{"n":7}', b'{"n":8,"text":"x"}', b'{"n":9}']
    pwrite = os.pwrite
    for known in (0, 2):
        for file in path.parent.iterdir():
            file.unlink()
        path.touch()
        backend = JsonFileBackend(path)
        add(backend, *LINES[:known])
        before = path.read_bytes()
        writes: list[tuple[bytes, int]] = []

        def watched(descriptor: int, data: bytes, offset: int, writes: list[tuple[bytes, int]] = writes) -> int:
            writes.append((bytes(data), offset))
            return pwrite(descriptor, data, offset)

        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", watched)
            add(backend, *batch)
        backend.close()
        assert path.read_bytes() == content(path, LINES[:known] + batch)
        (first, offset), (second, _) = writes
        assert (b"\0" in first, second) == (True, b"{")
        for length in range(1, len(first) + 1):
            path.write_bytes(before[:offset] + first[:length])
            if path.read_bytes() == before:
                continue
            with pytest.raises(CutTail, match=f"{known} whole entries"):
                JsonFileBackend(path)
            mended = JsonFileBackend(path, repair=True)
            assert list(mended.lines()) == LINES[:known]
            assert path.read_bytes() == before
            mended.close()


def test_a_journals_first_append_into_an_empty_file_is_known_when_it_was_killed(path: Path) -> None:
    with open_journal(path) as journal:
        journal.append_many([("note", {}), ("note", {})])
    path.write_bytes(path.read_bytes().replace(b"{", b"\0", 1))
    with pytest.raises(CutTail, match="0 whole entries"):
        open_journal(path)
    with open_journal(path, repair=True) as journal:
        assert len(journal) == 0


def test_a_zero_inside_a_line_is_damage_and_no_unfinished_append(path: Path) -> None:
    path.write_bytes(content(path, LINES).replace(b'"one"', b'"\0ne"'))
    backend = JsonFileBackend(path)
    assert len(backend) == 4
    backend.close()


def test_every_damage_keeps_a_file_of_its_own(path: Path) -> None:
    for n in (1, 2, 3):
        path.write_bytes(content(path, LINES) + b"rubbish %d" % n)
        JsonFileBackend(path, repair=True).close()
    for n in (1, 2, 3):
        assert path.with_name(f"{path.name}.damaged-{n}").read_bytes().endswith(b"rubbish %d" % n)


def test_an_entry_too_deep_for_a_parser_is_whole_all_the_same(path: Path) -> None:
    deep = b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    path.write_bytes(content(path, [deep])[:-1])
    if path.suffix == ".jsonl":
        mended = JsonFileBackend(path, repair=True)
        assert list(mended.lines()) == [deep]
        mended.close()
    path.write_bytes(content(path, [deep]))
    backend = JsonFileBackend(path)
    assert list(backend.lines()) == [deep]
    backend.close()


def test_a_repair_that_cannot_write_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = content(path, LINES)[:-1] + b"{"
    path.write_bytes(left)
    monkeypatch.setattr(os, "ftruncate", refuse(errno.EIO))
    with pytest.raises(JournalError, match="cannot be repaired"):
        JsonFileBackend(path, repair=True)
    assert path.read_bytes() == left


def test_converted_line_ends_are_told(path: Path) -> None:
    data = content(path, LINES).replace(b"\n", b"\r\n")
    path.write_bytes(data)
    for repair in (False, True):
        with pytest.raises(UnknownFormat, match="has Windows line ends"):
            JsonFileBackend(path, repair=repair)
    assert path.read_bytes() == data


def test_a_cut_by_another_process_is_noticed_and_nothing_is_written(three: JsonFileBackend, path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"n":3,"te')
    left = path.read_bytes()
    for call in (lambda: add(three, LINES[3]), lambda: len(three), lambda: list(three.lines())):
        with pytest.raises(CutTail, match="3 whole entries"):
            call()
    assert path.read_bytes() == left
    mended = JsonFileBackend(path, repair=True)
    add(three, LINES[3])
    assert list(mended.lines()) == LINES == list(three.lines())
    mended.close()


def test_a_journal_opened_for_repair_mends_what_others_leave_later(path: Path) -> None:
    backend = JsonFileBackend(path, repair=True)
    add(backend, *LINES[:2])
    with path.open("ab") as file:
        file.write(b'{"n":3,"te')
    assert len(backend) == 2
    add(backend, *LINES[2:])
    assert path.read_bytes() == content(path, LINES)
    backend.close()


def test_lines_that_others_add_to_a_large_file_are_read_on(path: Path) -> None:
    one, other = JsonFileBackend(path), JsonFileBackend(path)
    for n in range(20):
        add((one, other)[n % 2], b'{"n":%d}' % n, b'{"n":"%db"}' % n)
        assert len(one) == len(other) == 2 * n + 2
        assert list(one.lines(2 * n)) == list(other.lines(2 * n)) == [b'{"n":%d}' % n, b'{"n":"%db"}' % n]
    one.close()
    other.close()


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.rename(path)


# -- a file that is not the one that was opened --


@pytest.mark.parametrize("looked", [False, True])
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda path: path.unlink(), "was deleted"),
        (lambda path: path.rename(path.with_name("moved")), "was deleted"),
        (replace, "was replaced by another file"),
        (lambda path: os.truncate(path, 10), "shrank from [0-9]+ to 10 bytes"),
    ],
)
def test_a_file_changed_under_us_is_told_and_never_written(
    change: Callable[[Path], object], problem: str, looked: bool, three: JsonFileBackend, path: Path
) -> None:
    assert not looked or len(three) == 3
    change(path)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(
        AppendFailed, match=f"{problem} .*while it was open; nothing was recorded: put the old file back"
    ):
        add(three, LINES[3])
    for call in (lambda: len(three), lambda: three.lines()):
        with pytest.raises(BrokenChain, match=problem):
            call()
    checked = Journal(three).verify()
    assert not checked
    assert "while it was open" in str(checked.problem)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_file_that_others_tore_up_is_no_longer_followed(three: JsonFileBackend, path: Path) -> None:
    """Longer than before, but what follows our last line is no line."""
    path.write_bytes(path.read_bytes()[:-3] + b"x" * 100)
    with pytest.raises(CutTail):
        add(three, LINES[3])


def test_a_file_cut_while_it_is_read_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonfile, "_CHUNK", 16)
    backend = JsonFileBackend(path)
    add(backend, *LINES)
    reading = backend.lines()
    next(reading)
    os.truncate(path, 30)
    with pytest.raises(BrokenChain, match="was cut at 30 bytes"):
        list(reading)
    backend.close()


def test_reading_on_after_close_is_refused(three: JsonFileBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = three.lines()
    three.close()
    with pytest.raises(JournalClosed, match="open it again"):
        next(reading)


def test_a_disk_that_cannot_be_read_is_told(three: JsonFileBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pread", refuse(errno.EIO))
    with pytest.raises(JournalError, match="cannot be read: Input/output error"):
        list(three.lines())


def test_a_file_that_cannot_be_opened_is_told(
    path: Path, as_somebody_else: Callable[[Path], AbstractContextManager[None]]
) -> None:
    path.write_bytes(content(path, LINES))
    path.chmod(0)
    with as_somebody_else(path), pytest.raises(JournalError, match="cannot be opened: Permission denied"):
        JsonFileBackend(path)


# -- writes that fail --


def test_a_write_that_fails_at_any_byte_changes_nothing(
    three: JsonFileBackend, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pwrite = os.pwrite
    before = path.read_bytes()
    for upto in range(len(LINES[3]) + 8):
        taken = 0

        def full(descriptor: int, data: bytes, offset: int, upto: int = upto) -> int:
            nonlocal taken
            room = upto - taken
            if offset >= len(before) - 3 and not room and taken >= 0:
                taken = -1  # the disk is full once: what puts the file back fits
                raise OSError(errno.ENOSPC, "No space left on device")
            if taken < 0:
                return pwrite(descriptor, data, offset)
            done = pwrite(descriptor, data[:room], offset)
            taken += done
            return done

        monkeypatch.setattr(os, "pwrite", full)
        if upto < len(LINES[3]) + (5 if path.suffix == ".json" else 2):
            with pytest.raises(AppendFailed, match="No space left on device; nothing was recorded") as caught:
                add(three, LINES[3])
            assert caught.value.errno == errno.ENOSPC
            assert path.read_bytes() == before
            assert list(three.lines()) == LINES[:3]
    monkeypatch.setattr(os, "pwrite", pwrite)
    add(three, LINES[3])
    assert path.read_bytes() == content(path, LINES)


def test_a_write_that_cannot_even_be_undone_must_be_opened_again(
    three: JsonFileBackend, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pwrite = os.pwrite
    with monkeypatch.context() as patch:
        patch.setattr(
            os, "pwrite", lambda fd, data, at: pwrite(fd, data[:5], at) if len(data) > 9 else refuse(errno.EIO)()
        )
        patch.setattr(os, "ftruncate", refuse(errno.EIO))
        with pytest.raises(
            AppendFailed, match="could not be put back after a failed write .*: open it with repair=True"
        ):
            add(three, LINES[3] + b" " * 5)
    for call in (lambda: add(three, LINES[3]), lambda: len(three), lambda: list(three.lines())):
        with pytest.raises(AppendFailed, match="open it with repair=True"):
            call()
    mended = JsonFileBackend(path, repair=True)
    assert list(mended.lines()) == LINES[:3]
    mended.close()


def test_an_interrupt_in_a_write_changes_nothing(
    three: JsonFileBackend, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pwrite, calls = os.pwrite, itertools.count()

    def interrupted(descriptor: int, data: bytes, offset: int) -> int:
        n = next(calls)
        if n == 1:
            raise KeyboardInterrupt
        return pwrite(descriptor, data if n else data[:4], offset)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", interrupted)
        with pytest.raises(KeyboardInterrupt):
            add(three, LINES[3])
    assert path.read_bytes() == content(path, LINES[:3])
    add(three, LINES[3])
    assert list(three.lines()) == LINES


def test_a_first_write_that_fails_leaves_no_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = JsonFileBackend(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", refuse(errno.ENOSPC))
        with pytest.raises(AppendFailed, match="could not be made: No space left on device; nothing was recorded"):
            add(backend, *LINES)
    assert os.listdir(path.parent) == []
    add(backend, *LINES)
    assert list(backend.lines()) == LINES
    backend.close()


def test_a_write_into_an_empty_file_that_fails_leaves_it_empty(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.touch()
    backend = JsonFileBackend(path)
    assert list(backend.lines()) == []
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", refuse(errno.ENOSPC))
        with pytest.raises(AppendFailed):
            add(backend, *LINES)
    assert path.read_bytes() == b""
    add(backend, *LINES)
    assert path.read_bytes() == content(path, LINES)
    backend.close()


def test_full_durability_reaches_the_disk_at_each_append(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(descriptor)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    for durability, each in (("normal", 0), ("full", 1)):
        path.unlink(missing_ok=True)
        backend = JsonFileBackend(path, durability=durability)
        add(backend, LINES[0])
        synced.clear()
        add(backend, LINES[1])
        assert len(synced) == each
        backend.flush()
        backend.flush()
        assert len(synced) == 1, "a flush syncs what is not synced yet, once"
        add(backend, LINES[2])
        backend.close()
        assert len(synced) == 2


def test_a_sync_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = JsonFileBackend(path, durability="full")
    add(backend, *LINES[:3])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse(errno.EIO))
        with pytest.raises(AppendFailed, match="nothing was recorded"):
            add(backend, LINES[3])
    assert path.read_bytes() == content(path, LINES[:3])
    backend.close()


def test_a_flush_that_fails_says_what_may_be_lost_and_close_lets_go(
    three: JsonFileBackend, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(three, LINES[3])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse(errno.EIO))
        for call in (three.flush, three.close):
            with pytest.raises(JournalError, match="a power cut may lose its last entries"):
                call()
    three.close()
    with pytest.raises(JournalClosed):
        len(three)
    assert path.read_bytes() == content(path, LINES)


FILE_SIZE_LIMIT = """
import os, resource, signal, sys
from pathlib import Path
from surefoot.errors import AppendFailed
from surefoot.journal import open_journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
path = Path(sys.argv[1])
with open_journal(path) as journal:
    journal.append("note", {"n": 0})
before = path.read_bytes()
refused = 0
for limit in range(len(before), len(before) + 300):
    with open_journal(path) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            journal.append("note", {"n": 1})
            after = path.read_bytes()
            assert len(journal) == 2
        except AppendFailed as error:
            assert "nothing was recorded" in str(error), error
            assert path.read_bytes() == before
            assert len(journal) == 1
            refused += 1
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert journal.verify()
        path.write_bytes(before)
print(refused, len(after) - len(before))
"""


def test_a_real_limit_at_every_byte_of_an_append_changes_nothing(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FILE_SIZE_LIMIT, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused, needed = map(int, done.stdout.split())
    assert refused == needed > 200


def test_a_file_that_may_not_be_written_can_be_read(
    path: Path, as_somebody_else: Callable[[Path], AbstractContextManager[None]]
) -> None:
    path.write_bytes(content(path, LINES))
    path.chmod(0o444)
    path.parent.chmod(0o555)
    with as_somebody_else(path):
        backend = JsonFileBackend(path)
        assert list(backend.lines()) == LINES
        with pytest.raises(AppendFailed, match="is read-only here; nothing was recorded"):
            add(backend, LINES[0])
        assert len(backend) == 4
        backend.close()
        with pytest.raises(AppendFailed, match="could not be made: Permission denied; nothing was recorded"):
            add(JsonFileBackend(path.with_name(f"new{path.suffix}")), LINES[0])
    path.parent.chmod(0o755)
    assert path.read_bytes() == content(path, LINES)


# -- others --


def test_a_writer_that_keeps_the_file_is_waited_for_and_then_told(
    three: JsonFileBackend, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    descriptor = os.open(path, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:
            fcntl.flock(descriptor, fcntl.LOCK_UN)

    monkeypatch.setattr(time, "sleep", pause)
    add(three, LINES[3])
    assert len(pauses) == 4
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    monkeypatch.setattr(jsonfile, "WAIT", -1)
    with pytest.raises(AppendFailed, match="has been locked by another writer for -1 s; nothing was recorded"):
        add(three, LINES[3])
    assert len(three) == 4, "reading does not wait"
    os.close(descriptor)
    add(three, LINES[3])


def test_a_file_system_without_locks_is_told(three: JsonFileBackend, path: Path) -> None:
    three._flock = refuse(errno.ENOLCK)
    with pytest.raises(AppendFailed, match="cannot be locked: No locks available; nothing was recorded"):
        add(three, LINES[3])
    assert path.read_bytes() == content(path, LINES[:3])


def test_a_system_without_locks_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(BadArgument, match="which this system lacks: keep the journal in SQLite"):
        JsonFileBackend(path)


def test_two_who_make_the_file_at_once_both_get_their_lines_in(path: Path) -> None:
    one, other = JsonFileBackend(path), JsonFileBackend(path)
    seen: list[int] = []

    def build(count: int, last: bytes | None) -> list[bytes]:
        if not seen:
            add(other, LINES[0])
        seen.append(count)
        return [LINES[1]]

    one.extend(build)
    assert seen == [0, 1], "the first build was for a file that another made in the meantime"
    assert list(one.lines()) == list(other.lines()) == LINES[:2]
    one.close()
    other.close()


def test_a_copy_is_one_more_hand_on_the_file(three: JsonFileBackend) -> None:
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
        os._exit(0)
    children.append(child)
for n in range(40):
    journal.append("note", {"n": n}, stream="parent")
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
assert journal.verify().entries == 123 == len(journal), journal.verify()
for name in ("a", "b", "parent"):
    assert [entry.data["n"] for entry in journal.entries(stream=name)] == list(range(40))
journal.close()
if sys.argv[1].endswith("json"):
    os.fork() or os._exit(0)
    os.wait()
"""


def test_a_fork_shares_nothing_but_the_file(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORK, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_child_finds_that_the_file_is_gone(three: JsonFileBackend, path: Path) -> None:
    three.after_fork()
    path.unlink()
    with pytest.raises(AppendFailed, match="was deleted while it was open; nothing was recorded"):
        add(three, LINES[3])
    path.write_bytes(b"")
    with pytest.raises(BrokenChain, match="was replaced by another file|shrank"):
        len(three)


@pytest.mark.untraced
def test_every_flip_of_a_byte_in_a_journal_is_caught(path: Path) -> None:
    """Each byte of the whole file, one bit of it: opening or verifying says so, given the head."""
    with open_journal(path) as journal:
        journal.append_many([("note", {"n": n}) for n in range(2)])
        head = journal.head
    data = path.read_bytes()
    for place in range(len(data)):
        for bit in (place % 8,):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            try:
                with open_journal(path) as journal:
                    assert not journal.verify(head=head), (place, bit)
            except (CutTail, UnknownFormat):
                pass
    path.write_bytes(data)
    with open_journal(path) as journal:
        assert journal.verify(head=head)


def test_readers_in_threads_see_whole_lines_while_others_write(path: Path) -> None:
    with open_journal(path) as journal:
        stop = threading.Event()
        problems: list[object] = []

        def read() -> None:
            while not stop.is_set():
                checked = journal.verify()
                if not checked:
                    problems.append(checked)

        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for n in range(100):
            journal.append_many([("note", {"n": n})] * 3)
        stop.set()
        for thread in threads:
            thread.join()
        assert problems == []
        assert journal.verify().entries == 300
