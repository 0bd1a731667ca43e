"""The laws of a journal backend, as tests to inherit: write `open`, get the rest (needs the extra `testing`)."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

from surefoot.errors import CutTail
from surefoot.journal import Backend, Journal

__all__ = ["BackendContract"]

_Build = Callable[[int, "bytes | None"], Sequence[bytes]]
_STUCK = 20.0
"""Seconds after which an append that is kept waiting counts as one that waits for ever."""
_ENOUGH = 60
"""Acknowledged lines after which the process that appends is killed."""
_NEEDS = {
    "test_it_can_be_opened_again": "persistent",
    "test_a_closed_backend_takes_and_gives_nothing": "persistent",
    "test_two_backends_on_one_place_see_each_other": "persistent",
    "test_two_processes_with_four_threads_lose_nothing": "processes",
    "test_a_kill_loses_nothing_acknowledged": "processes",
    "test_a_kill_between_two_lines_of_an_append_leaves_none_of_it": "processes",
    "test_a_cut_end_is_reported_and_whole_lines_stay": "cut",
}
"""Tests that apply only to some backends."""


class BackendContract:
    """Inherit a test for every law of a journal backend; write `open`, and `cut` when the storage can be damaged.

    Laws that do not apply are not collected: see the attributes; the one about a cut end needs a `cut` of yours.

    Attributes:
        persistent: another `open` of the same place shows what was stored (False for memory).
        processes: several processes may append to one place. The class must then be defined in a file, at its top
            level: the other processes load it from there.

    Example:
        >>> from surefoot.journal.backends.memory import MemoryBackend
        >>> class TestMemory(BackendContract):
        ...     persistent = processes = False
        ...     def open(self, where):
        ...         return MemoryBackend()
        >>> TestMemory().test_a_new_place_is_empty(Path("anywhere"))
    """

    persistent: ClassVar[bool] = True
    processes: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        """Take out the tests that do not apply."""
        applies = {"persistent": cls.persistent, "processes": cls.processes, "cut": cls.cut is not BackendContract.cut}
        for name, needs in _NEEDS.items():
            if name not in vars(cls):
                setattr(cls, name, vars(BackendContract)[name] if applies[needs] else None)

    def open(self, where: Path) -> Backend:
        """Return a backend on the storage at `where`: new the first time, the same storage each time after."""
        raise NotImplementedError(f"write {type(self).__name__}.open(where): it returns a backend")

    def cut(self, where: Path) -> None:
        """Take some bytes off the end of the storage at `where`, which is closed, as a crash might."""

    def mend(self, where: Path) -> Backend:
        """Open storage whose end may be damaged, so that every whole line is there."""
        return self.open(where)

    def test_a_new_place_is_empty(self, tmp_path: Path) -> None:
        """Nothing is there before the first append."""
        with ExitStack() as stack:
            backend = self._opened(stack, tmp_path)
            assert len(backend) == 0, f"{len(backend)} lines in a new place"
            assert list(backend.lines()) == []
            backend.flush()

    def test_it_is_a_backend(self, tmp_path: Path) -> None:
        """It has the methods, and a name for messages."""
        with ExitStack() as stack:
            backend = self._opened(stack, tmp_path)
            assert isinstance(backend, Backend), f"{type(backend).__name__} lacks a method of Backend"
            assert isinstance(backend.name, str), "its name must be a str"
            assert backend.name, "its name must not be empty"

    def test_lines_come_back_byte_for_byte_and_in_order(self, tmp_path: Path) -> None:
        """Text of all kinds, deep and long lines come back as they were given."""
        given = [
            json.dumps({"text": text}, ensure_ascii=False, separators=(",", ":")).encode()
            for text in (
                "plain",
                "",
                "été 漢字 🗺",
                "\u2028\u2029\x7f\x85",
                '"\\,]}\n',
                "tab\tand\0nul",
                "x" * 3_000_000,
            )
        ]
        given += [b'{"deep":' + b"[" * 5_000 + b"]" * 5_000 + b"}", b'{ "spaces" : 1 }']
        with ExitStack() as stack:
            backend = self._opened(stack, tmp_path)
            backend.extend(lambda count, last: given[:3])
            for line in given[3:]:
                backend.extend(lambda count, last, line=line: [line])  # type: ignore[misc]  # its argument is a default
            found = list(backend.lines())
            assert [type(line) for line in found] == [bytes] * len(given)
            assert found == given, "lines came back changed, or in another order"

    def test_build_is_told_the_count_and_the_last_line(self, tmp_path: Path) -> None:
        """Each call of `build` sees what is there now."""
        told: list[tuple[int, bytes | None]] = []

        def build(count: int, last: bytes | None) -> list[bytes]:
            told.append((count, last))
            return [b'{"n":%d}' % n for n in range(count, count + 2)]

        with ExitStack() as stack:
            backend = self._opened(stack, tmp_path)
            for _ in range(3):
                backend.extend(build)
        assert told == [(0, None), (2, b'{"n":1}'), (4, b'{"n":3}')], f"build was told {told}"

    def test_nothing_is_added_when_build_returns_nothing(self, tmp_path: Path) -> None:
        """An empty append changes nothing."""
        with ExitStack() as stack:
            backend = self._opened(stack, tmp_path)
            for length in (0, 1):
                backend.extend(lambda count, last: [])
                assert len(backend) == length == len(list(backend.lines()))
                backend.extend(_numbered("a"))

    def test_nothing_is_added_when_build_raises(self, tmp_path: Path) -> None:
        """The exception goes on, nothing is stored, and the next append is not kept waiting."""

        def failing() -> Iterator[bytes]:
            yield b'{"n":0}'
            raise LookupError("half way")

        def raising(count: int, last: bytes | None) -> Sequence[bytes]:
            raise LookupError("at once")

        with ExitStack() as stack:
            backend = self._opened(stack, tmp_path)
            for n, build in enumerate((raising, lambda count, last: failing(), raising)):
                try:
                    backend.extend(build)  # type: ignore[arg-type]  # it raises
                except LookupError:
                    pass
                else:
                    raise AssertionError("extend swallowed the exception of build")
                done = _in_time(lambda: backend.extend(lambda count, last: [b'{"n":%d}' % count]))
                assert done, "after a build that raised, the next append waits for ever"
                assert list(backend.lines()) == [b'{"n":%d}' % place for place in range(n + 1)]

    def test_ranges_are_those_of_a_list(self, tmp_path: Path) -> None:
        """`lines(start, stop)` is what slicing a list gives, for every start and stop."""
        given = [b'{"n":%d}' % n for n in range(7)]
        with ExitStack() as stack:
            backend = self._opened(stack, tmp_path)
            backend.extend(lambda count, last: given)
            for start in range(9):
                for stop in (None, *range(9)):
                    found = list(backend.lines(start, stop))
                    assert found == given[start:stop], f"lines({start}, {stop}) gave {found}"

    def test_an_iteration_shows_what_was_there_at_the_call(self, tmp_path: Path) -> None:
        """Appends while somebody iterates do not show up in that iteration, and do not disturb it."""
        with ExitStack() as stack:
            backend = self._opened(stack, tmp_path)
            backend.extend(_numbered("a", 3000))
            reading = backend.lines()
            backend.extend(_numbered("b", 3000))
            seen = [next(reading)]
            backend.extend(_numbered("c", 10))
            seen += reading
            assert len(seen) == 3000, f"an iteration over 3000 lines, begun before more came, gave {len(seen)}"
            _check_numbered(seen)
            _check_numbered(list(backend.lines()))

    def test_threads_lose_nothing(self, tmp_path: Path) -> None:
        """Four threads on one backend: every append is there once, each following the one before."""
        with ExitStack() as stack:
            backend = self._opened(stack, tmp_path)
            _in_threads([lambda who=who: _append(backend, who, 25) for who in "abcd"])  # type: ignore[misc]  # its argument is a default
            _check_writers(backend, {who: 25 for who in "abcd"})

    def test_a_journal_on_it_verifies(self, tmp_path: Path) -> None:
        """A journal over this backend is whole, and its views of the past are."""
        with ExitStack() as stack:
            journal = Journal(self._opened(stack, tmp_path))
            journal.append_many([("note", {"n": n}) for n in range(10)])
            journal.append("note", {"text": "été"})
            assert journal.verify(head=journal.head)
            assert [entry.data["n"] for entry in journal.at(4).entries()] == [0, 1, 2, 3]

    def test_closing_twice_is_harmless(self, tmp_path: Path) -> None:
        """`close` after `close`, and on a backend that was never used."""
        for lines in (0, 2):
            backend = self.open(tmp_path / "place")
            if lines:
                backend.extend(_numbered("a", lines))
            backend.close()
            backend.close()

    def test_it_can_be_opened_again(self, tmp_path: Path) -> None:
        """What was stored is there, and goes on where it stopped."""
        with ExitStack() as stack:
            for n in range(1, 4):
                backend = self.open(tmp_path / "place")
                backend.extend(_numbered(f"w{n}", 2))
                backend.close()
                again = self._opened(stack, tmp_path)
                assert len(again) == 2 * n, f"{2 * n} lines were stored, {len(again)} are there when it is opened again"
                _check_numbered(list(again.lines()))

    def test_a_closed_backend_takes_and_gives_nothing(self, tmp_path: Path) -> None:
        """After `close`, appending and reading raise, and nothing is stored."""
        backend = self.open(tmp_path / "place")
        backend.extend(_numbered("a"))
        backend.close()
        calls: dict[str, Callable[[], object]] = {
            "extend": lambda: backend.extend(_numbered("b")),
            "lines": lambda: list(backend.lines()),
            "len": lambda: len(backend),
        }
        for what, call in calls.items():
            try:
                call()
            except Exception:
                continue
            raise AssertionError(f"{what} works after close()")
        with ExitStack() as stack:
            assert len(self._opened(stack, tmp_path)) == 1

    def test_two_backends_on_one_place_see_each_other(self, tmp_path: Path) -> None:
        """Appends through either show in both, at once, and each follows the other's."""
        with ExitStack() as stack:
            pair = [self._opened(stack, tmp_path) for _ in range(2)]
            for n in range(6):
                pair[n % 2].extend(_numbered("ab"[n % 2]))
                assert [len(backend) for backend in pair] == [n + 1, n + 1], "one does not see what the other added"
            _in_threads([lambda b=b: _append(b, "c", 25) for b in pair])  # type: ignore[misc]  # its argument is a default
            for backend in pair:
                _check_writers(backend, {"a": 3, "b": 3, "c": 50})

    def test_two_processes_with_four_threads_lose_nothing(self, tmp_path: Path) -> None:
        """Every append of every process is there once, each following the one before."""
        children = [self._child(tmp_path, "threads", who) for who in "pq"]
        for child in children:
            assert _line_of(child) == b"ready\n"
        for child in children:
            assert child.stdin is not None
            child.stdin.write(b"go\n")
            child.stdin.flush()
        for child in children:
            out, err = child.communicate(timeout=60)
            assert (child.returncode, out) == (0, b"done\n"), err.decode(errors="replace")
        with ExitStack() as stack:
            _check_writers(self._opened(stack, tmp_path), {f"{who}{n}": 25 for who in "pq" for n in range(4)})

    def test_a_kill_loses_nothing_acknowledged(self, tmp_path: Path) -> None:
        """A process is killed while it appends: what `extend` returned from is there, and no append by half."""
        child = self._child(tmp_path, "forever", "k")
        acknowledged = 0
        while acknowledged < _ENOUGH:
            acknowledged = int(_line_of(child))
        child.kill()
        self._check_killed(child, acknowledged, tmp_path)

    def test_a_kill_between_two_lines_of_an_append_leaves_none_of_it(self, tmp_path: Path) -> None:
        """A process is killed while it goes through the lines of one append: none of them is there."""
        self._check_killed(self._child(tmp_path, "half", "h"), 0, tmp_path)

    def _check_killed(self, child: subprocess.Popen[bytes], acknowledged: int, tmp_path: Path) -> None:
        """Check what a killed process left behind."""
        rest, _ = child.communicate(timeout=60)
        assert child.returncode == -signal.SIGKILL
        whole = [int(number) for number in rest.splitlines(keepends=True) if number.endswith(b"\n")]
        acknowledged = max([acknowledged, *whole])
        with ExitStack() as stack:
            backend = self.mend(tmp_path / "place")
            stack.callback(backend.close)
            lines = _check_numbered(list(backend.lines()))
            assert len(lines) >= acknowledged, f"{acknowledged} lines were acknowledged, {len(lines)} are there"
            assert lines[-1]["last"], "a part of the lines of one append is there"
            backend.extend(_numbered("after"))
            _check_numbered(list(backend.lines()))

    def test_a_cut_end_is_reported_and_whole_lines_stay(self, tmp_path: Path) -> None:
        """No part of a line is ever given as a line; what was whole can be kept."""
        backend = self.open(tmp_path / "place")
        for n in range(5):
            backend.extend(_numbered(f"w{n}"))
        backend.close()
        self.cut(tmp_path / "place")
        try:
            cut = self.open(tmp_path / "place")
        except CutTail:
            pass
        else:
            _check_numbered(list(cut.lines()))
            cut.close()
        with ExitStack() as stack:
            mended = self.mend(tmp_path / "place")
            stack.callback(mended.close)
            assert len(mended) >= 4, f"the end of the last of 5 lines was cut, {len(mended)} are left"
            mended.extend(_numbered("after"))
            _check_numbered(list(mended.lines()))

    def _opened(self, stack: ExitStack, tmp_path: Path) -> Backend:
        backend = self.open(tmp_path / "place")
        stack.callback(backend.close)
        return backend

    def _child(self, tmp_path: Path, role: str, who: str) -> subprocess.Popen[bytes]:
        """Start a process that opens the same place and appends."""
        file = inspect.getsourcefile(type(self))
        assert Path(str(file)).is_file(), f"define {type(self).__name__} in a file: processes load it from there"
        name = type(self).__qualname__
        script = "import sys; from surefoot.testing.journals import _play; _play(*sys.argv[1:])"
        return subprocess.Popen(
            [sys.executable, "-c", script, str(file), name, str(tmp_path / "place"), role, who],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )


def _play(file: str, name: str, where: str, role: str, who: str) -> None:
    """Append in a process of our own: 25 times in each of four threads, or until killed, or half an append."""
    spec = importlib.util.spec_from_file_location("surefoot_backend_under_test", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    backend = getattr(module, name)().open(Path(where))
    if role == "threads":
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        _in_threads([lambda n=n: _append(backend, f"{who}{n}", 25) for n in range(4)])  # type: ignore[misc]  # its argument is a default
        backend.close()
        sys.stdout.write("done\n")
        return
    count = 0
    while True:
        if role == "half" and count >= 10:
            backend.extend(lambda count, last: _Deadly(_numbered(who, 3)(count, last)))
        lines = 1 + count % 3 if count < _ENOUGH else 2000  # the kill comes while many are written
        backend.extend(_numbered(who, lines, pad=count % 7 * 1000))
        count += lines
        sys.stdout.write(f"{count}\n")
        sys.stdout.flush()


class _Deadly(list[bytes]):
    """Lines of which nobody gets to the last: the process is killed on the way."""

    def __iter__(self) -> Iterator[bytes]:
        """Kill the process before the last line."""
        for n in range(len(self)):
            if n == len(self) - 1:
                os.kill(os.getpid(), signal.SIGKILL)
            yield self[n]


def _numbered(who: str, lines: int = 1, pad: int = 0) -> _Build:
    """Return a `build` whose lines hold their place and the digest of the line before."""

    def build(count: int, last: bytes | None) -> list[bytes]:
        made: list[bytes] = []
        for n in range(count, count + lines):
            after = "" if last is None else hashlib.sha256(last).hexdigest()
            what = {"n": n, "after": after, "who": who, "last": n + 1 == count + lines, "pad": "x" * pad}
            last = json.dumps(what, separators=(",", ":")).encode()
            made.append(last)
        return made

    return build


def _check_numbered(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return what the lines say; each must hold its place and follow the one before."""
    read: list[dict[str, Any]] = []
    after = ""
    for n, line in enumerate(lines):
        try:
            what = json.loads(line)
        except ValueError:
            raise AssertionError(f"line {n} is no whole line: {line[:80]!r}") from None
        assert (what["n"], what["after"]) == (n, after), f"line {n} does not follow line {n - 1}: {line[:80]!r}"
        after = hashlib.sha256(line).hexdigest()
        read.append(what)
    return read


def _check_writers(backend: Backend, appended: dict[str, int]) -> None:
    """Check that every append of every writer is there once."""
    found = [line["who"] for line in _check_numbered(list(backend.lines()))]
    assert len(backend) == len(found)
    counted = {who: found.count(who) for who in {*found, *appended}}
    assert counted == appended, f"appended {appended}, found {counted}"


def _append(backend: Backend, who: str, times: int) -> None:
    for _ in range(times):
        backend.extend(_numbered(who))


def _in_threads(calls: Sequence[Callable[[], None]]) -> None:
    """Run all calls at once, switching between them as often as Python does; raise what one of them raises."""
    raised: list[BaseException] = []
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], None]) -> None:
        try:
            start.wait()
            call()
        except BaseException as error:
            raised.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=run, args=(call,), daemon=True) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if raised:
        raise raised[0]


def _in_time(call: Callable[[], None]) -> bool:
    """Say whether a call comes back at all."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(_STUCK)
    return not thread.is_alive()


def _line_of(child: subprocess.Popen[bytes]) -> bytes:
    """Return the next line of a process; when it ended, say what it said."""
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        _, err = child.communicate()
        raise AssertionError(f"the process that appends ended: {err.decode(errors='replace')}")
    return line
