"""The contract of backends is itself tested: one liar for each law, and the law must catch it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import surefoot.testing.journals as contract
from surefoot.errors import BrokenChain, CutTail
from surefoot.journal import Backend
from surefoot.journal.backends.jsonfile import JsonFileBackend
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.testing.journals import BackendContract

Build = Callable[[int, "bytes | None"], Sequence[bytes]]


class InMemory(BackendContract):
    persistent = False
    processes = False
    make: Callable[[], Backend] = MemoryBackend

    def open(self, where: Path) -> Backend:
        return type(self).make()


class OnDisk(BackendContract):
    make: Callable[[Path], Backend] = JsonFileBackend

    def open(self, where: Path) -> Backend:
        return type(self).make(where.with_suffix(".jsonl"))

    def cut(self, where: Path) -> None:
        path = where.with_suffix(".jsonl")
        path.write_bytes(path.read_bytes()[:-20])

    def mend(self, where: Path) -> Backend:
        return JsonFileBackend(where.with_suffix(".jsonl"), repair=True)


class Haunted(MemoryBackend):
    """Has a line in it before anybody wrote one."""

    def __init__(self) -> None:
        super().__init__([b"{}"])


class Nameless(MemoryBackend):
    """Cannot be told from others in a message."""

    name = ""


class Trimming(MemoryBackend):
    """Thinks that spaces do not matter."""

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        return (line.replace(b" ", b"") for line in super().lines(start, stop))


class Short(MemoryBackend):
    """Has a column of a megabyte."""

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        return (line[: 1 << 20] for line in super().lines(start, stop))


class Mutable(MemoryBackend):
    """Gives buffers instead of bytes."""

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        return (bytearray(line) for line in super().lines(start, stop))  # type: ignore[misc]  # the lie


class Backwards(MemoryBackend):
    """Shows the first line as the last."""

    def extend(self, build: Build) -> None:
        super().extend(lambda count, last: build(count, self._lines[0] if self._lines else None))


class Miscounting(MemoryBackend):
    """Starts to count at one."""

    def extend(self, build: Build) -> None:
        super().extend(lambda count, last: build(count + 1, last))


class Padding(MemoryBackend):
    """Adds a line where none was given."""

    def extend(self, build: Build) -> None:
        super().extend(lambda count, last: build(count, last) or [b"{}"])


class Swallowing(MemoryBackend):
    """Says nothing when `build` raises."""

    def extend(self, build: Build) -> None:
        try:
            super().extend(build)
        except LookupError:
            pass


class HalfWay(MemoryBackend):
    """Stores each line as it comes."""

    def extend(self, build: Build) -> None:
        for line in build(len(self._lines), self._lines[-1] if self._lines else None):
            self._lines.append(line)


class Stuck(MemoryBackend):
    """Keeps the lock when `build` raises."""

    def extend(self, build: Build) -> None:
        self._lock.acquire()
        self._lines += list(build(len(self._lines), self._lines[-1] if self._lines else None))
        self._lock.release()


class Inclusive(MemoryBackend):
    """Gives the line at `stop` too."""

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        return super().lines(start, None if stop is None else stop + 1)


class Live(MemoryBackend):
    """Reads on into what was added later."""

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        return iter(self._lines) if (start, stop) == (0, None) else super().lines(start, stop)


class Unlocked(MemoryBackend):
    """Lets two threads build on one line."""

    def extend(self, build: Build) -> None:
        made = list(build(len(self._lines), self._lines[-1] if self._lines else None))
        time.sleep(0.0005)
        self._lines += made


class Improving(MemoryBackend):
    """Edits what it keeps."""

    def extend(self, build: Build) -> None:
        super().extend(lambda count, last: [line.replace(b'"note"', b'"Note"') for line in build(count, last)])


class CloseOnce(MemoryBackend):
    """Trips over a second `close`."""

    closed = False

    def close(self) -> None:
        assert not self.closed, "already closed"
        self.closed = True


class Forgetful(MemoryBackend):
    """Takes a path and writes nothing there."""

    def __init__(self, path: Path) -> None:
        super().__init__()


class Undead(JsonFileBackend):
    """Opens itself again after `close`."""

    def close(self) -> None:
        super().close()
        self._closed = False


class Alone(JsonFileBackend):
    """Looks at the file once."""

    def __len__(self) -> int:
        return len(self._starts)


class Rushing(JsonFileBackend):
    """Takes no lock of the file, and lets others in between."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._flock = lambda descriptor, take: None

    def extend(self, build: Build) -> None:
        def slow(count: int, last: bytes | None) -> Sequence[bytes]:
            time.sleep(0.001)
            return build(count, last)

        super().extend(slow)


class Buffering(JsonFileBackend):
    """Says "done" and writes later."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._held: list[bytes] = []

    def extend(self, build: Build) -> None:
        self._held += build(len(self._held), self._held[-1] if self._held else None)

    def close(self) -> None:
        super().extend(lambda count, last: self._held)
        super().close()


class Piecemeal(JsonFileBackend):
    """Stores the lines of an append one after the other."""

    def extend(self, build: Build) -> None:
        for line in build(len(self), next(self.lines(len(self) - 1), None) if len(self) else None):
            super().extend(lambda count, last, line=line: [line])  # type: ignore[misc]  # its argument is a default


class Naive(MemoryBackend):
    """Takes whatever stands between two line feeds for a line."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.read_bytes().split(b"\n") if path.exists() else ())
        self._path = path

    def close(self) -> None:
        self._path.write_bytes(b"\n".join(self._lines))


class Greedy(OnDisk):
    def mend(self, where: Path) -> Backend:
        where.with_suffix(".jsonl").unlink()
        return self.open(where)


class LyingForgetful(OnDisk):
    make = Forgetful


class LyingRushing(OnDisk):
    make = Rushing


class LyingBuffering(OnDisk):
    make = Buffering


class LyingPiecemeal(OnDisk):
    make = Piecemeal


def lying(base: type[Any], backend: Callable[..., Backend]) -> BackendContract:
    made = type(f"Lying{getattr(backend, '__name__', '')}", (base,), {"make": backend})()
    assert isinstance(made, BackendContract)
    return made


@pytest.mark.parametrize(
    ("liar", "law"),
    [
        (Haunted, "a_new_place_is_empty"),
        (Nameless, "it_is_a_backend"),
        (Trimming, "lines_come_back_byte_for_byte_and_in_order"),
        (Short, "lines_come_back_byte_for_byte_and_in_order"),
        (Mutable, "lines_come_back_byte_for_byte_and_in_order"),
        (Backwards, "build_is_told_the_count_and_the_last_line"),
        (Miscounting, "build_is_told_the_count_and_the_last_line"),
        (Padding, "nothing_is_added_when_build_returns_nothing"),
        (Swallowing, "nothing_is_added_when_build_raises"),
        (HalfWay, "nothing_is_added_when_build_raises"),
        (Stuck, "nothing_is_added_when_build_raises"),
        (Inclusive, "ranges_are_those_of_a_list"),
        (Live, "an_iteration_shows_what_was_there_at_the_call"),
        (Unlocked, "threads_lose_nothing"),
        (Improving, "a_journal_on_it_verifies"),
        (CloseOnce, "closing_twice_is_harmless"),
    ],
)
def test_a_liar_in_memory_is_caught(
    liar: type[MemoryBackend], law: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "_STUCK", 0.2)
    test = getattr(lying(InMemory, liar), f"test_{law}")
    with pytest.raises((AssertionError, BrokenChain)):
        test(tmp_path)
    getattr(InMemory(), f"test_{law}")(tmp_path)  # the honest one passes


@pytest.mark.parametrize(
    ("liar", "law"),
    [
        (Forgetful, "it_can_be_opened_again"),
        (Undead, "a_closed_backend_takes_and_gives_nothing"),
        (Alone, "two_backends_on_one_place_see_each_other"),
    ],
)
def test_a_liar_on_disk_is_caught(liar: Callable[[Path], Backend], law: str, tmp_path: Path) -> None:
    test = getattr(lying(OnDisk, liar), f"test_{law}")
    with pytest.raises(AssertionError):
        test(tmp_path / "")
    (tmp_path / "honest").mkdir()
    getattr(OnDisk(), f"test_{law}")(tmp_path / "honest")


@pytest.mark.parametrize(
    ("liar", "law"),
    [
        (LyingForgetful, "two_processes_with_four_threads_lose_nothing"),
        (LyingRushing, "two_processes_with_four_threads_lose_nothing"),
        (LyingBuffering, "a_kill_loses_nothing_acknowledged"),
        (LyingPiecemeal, "a_kill_between_two_lines_of_an_append_leaves_none_of_it"),
    ],
)
def test_a_liar_among_processes_is_caught(liar: type[OnDisk], law: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, CutTail)):
        getattr(liar(), f"test_{law}")(tmp_path)


def test_a_cut_end_that_is_taken_for_a_line_is_caught(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no whole line"):
        lying(OnDisk, Naive).test_a_cut_end_is_reported_and_whole_lines_stay(tmp_path)


def test_a_repair_that_throws_whole_lines_away_is_caught(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="0 are left"):
        Greedy().test_a_cut_end_is_reported_and_whole_lines_stay(tmp_path)


def test_laws_that_do_not_apply_are_not_collected() -> None:
    assert InMemory.test_it_can_be_opened_again is None
    assert InMemory.test_two_processes_with_four_threads_lose_nothing is None
    assert InMemory.test_a_cut_end_is_reported_and_whole_lines_stay is None
    assert callable(OnDisk.test_a_cut_end_is_reported_and_whole_lines_stay)

    class Own(InMemory):
        def test_it_can_be_opened_again(self, tmp_path: Path) -> None:
            """A law that is written anew stays."""

    assert callable(Own.test_it_can_be_opened_again)


def test_open_has_to_be_written(tmp_path: Path) -> None:
    class Empty(BackendContract):
        pass

    with pytest.raises(NotImplementedError, match=r"write Empty.open\(where\)"):
        Empty().test_a_new_place_is_empty(tmp_path)


def test_a_process_that_dies_is_told_with_its_words(tmp_path: Path) -> None:
    class Local(OnDisk):  # not at the top level: no process can load it
        pass

    with pytest.raises(AssertionError, match="has no attribute"):
        Local().test_a_kill_loses_nothing_acknowledged(tmp_path)


def test_what_a_thread_raises_is_raised() -> None:
    def failing() -> None:
        raise LookupError("in a thread")

    assert threading.active_count() >= 1
    with pytest.raises(LookupError, match="in a thread"):
        contract._in_threads([failing, lambda: None])
