r"""Lines kept in one JSON file that other programs can read: `.jsonl` (a line an entry) or `.json` (an array).

A file reads `opening line between line … ending`:

| | opening | between | ending |
|---|---|---|---|
| `.jsonl` | nothing | `\n` | `\n` |
| `.json` | `[\n` | `,\n` | `\n]\n` |

An append writes, over the ending and in one call, `between line … ending`: the cost of the step, not of the file, and
no earlier entry is ever touched. Several lines are one transaction: their first byte is written last, until then it is
a zero, which is in no JSON text. The first entries come with the file itself, which is written under another name,
brought to the disk and only then gets its own.

**A file that does not end this way** (a kill or a full disk in the middle of an append) is reported at opening with
`CutTail`. With `repair=True` the whole entries stay, bytes of an unfinished append go to `<name>.damaged-1`, `-2`, …
beside it, and the ending is written. A last entry that is whole and only lacks its ending is kept.

**Several processes and threads** may append: each takes the file's lock (`flock`), and sees first what others added. A
file that was replaced, deleted or cut while it was open is never written to.

A file of n entries takes 8 n bytes of memory, for the places where they start.
"""

from __future__ import annotations

import itertools
import os
import re
import threading
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import msgspec

from surefoot.errors import AppendFailed, BadArgument, BrokenChain, CutTail, JournalClosed, JournalError, UnknownFormat
from surefoot.journal.files import create_whole, identity_of, renew_after_fork, resolve, write_all

__all__ = ["JsonFileBackend"]

WAIT = 30.0
"""Seconds that an append waits for another writer."""
_CHUNK = 1 << 18
_NEWLINE, _ZERO = re.compile(b"\n"), re.compile(b"\0")
_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class _Layout(NamedTuple):
    opening: bytes
    between: bytes
    ending: bytes


_LINES = _Layout(b"", b"\n", b"\n")
_ARRAY = _Layout(b"[\n", b",\n", b"\n]\n")


class JsonFileBackend:
    """Keep lines in a JSON file; see the module.

    Args:
        path: the file. It is made by the first append. A file that exists is an array when it starts with `[`, whatever
            its name; a new one is an array when the name ends in `.json`.
        durability: `"normal"`: appended lines are the system's at once (they outlive this process) and on the disk
            after `flush()` or `close()`. `"full"`: they are on the disk when `extend` returns.
        repair: mend a cut tail, at opening or when another process leaves one later.

    Raises:
        CutTail: the file ends in the middle of an entry, and `repair` is False.
        UnknownFormat: its line ends were converted.
        BadArgument: the path names no file in a folder that exists, or the system has no file locks (`fcntl`).

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     backend = JsonFileBackend(f"{folder}/walk.json")
        ...     backend.extend(lambda count, last: [b'{"n":1}', b'{"n":2}'])
        ...     print(pathlib.Path(folder, "walk.json").read_text(), len(backend), list(backend.lines(1)))
        ...     backend.close()
        [
        {"n":1},
        {"n":2}
        ]
         2 [b'{"n":2}']
    """

    def __init__(self, path: str | os.PathLike[str], *, durability: str = "normal", repair: bool = False) -> None:
        """Look at the file, if there is one; see the class."""
        if durability not in ("normal", "full"):
            raise BadArgument(f'durability must be "normal" or "full", got {durability!r}')
        self._flock = _file_locks()
        self._path = resolve(path)
        self.name = os.fsdecode(path)
        self._full = durability == "full"
        self._repair = repair
        self._layout = _ARRAY if self._path.lower().endswith(".json") else _LINES
        self._starts = array("q")  # where each line starts
        self._tail = 0  # where the last one ends, without what follows it
        self._size = 0  # of the file, when we last looked
        self._last: bytes | None = None
        self._file: tuple[int, int] | None = None  # device and inode
        self._descriptor = -1
        self._dirty = self._closed = self._writable = False
        self._lost: str | None = None  # why it must be opened again
        self._lock = threading.RLock()
        renew_after_fork(self)
        with self._lock:
            try:
                self._look()
            except BaseException:
                self._let_go()
                raise

    def after_fork(self) -> None:
        """Take a lock and a descriptor of our own: a child that shared the parent's file lock would not be kept out."""
        self._lock = threading.RLock()
        self._dirty = False
        self._let_go()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy as one more hand on the same file."""
        durability = "full" if self._full else "normal"
        return partial(JsonFileBackend, durability=durability, repair=self._repair), (self._path,)

    def extend(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> None:
        """Add the lines that `build(how many there are, the last one)` returns, all or none.

        Raises:
            AppendFailed: they could not be stored, another writer kept the file for 30 s, or the file was replaced,
                deleted or cut under us. Nothing was added.
            CutTail: another process was killed while it appended; see `repair`.
            JournalClosed: after `close()`.

        Cost: of the lines added: about 10 µs, and with `durability="full"` one sync of the disk.
        """
        with self._lock:
            while not self._open(AppendFailed):
                if self._create(build):
                    return
            with self._alone():
                self._notice(AppendFailed)
                lines = list(build(len(self._starts), self._last))
                if lines:
                    self._write(lines)

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Iterate over the lines from `start` up to, not including, `stop`, as they are now.

        Raises:
            CutTail: another process was killed while it appended; see `repair`.
            BrokenChain: the file was replaced, deleted or cut under us.

        Cost: about 0.3 µs a line in order; it reads 256 KiB at a time. Opening reads all of the file once, 0.4 µs a
            line.
        """
        with self._lock:
            self._look()
            count = len(self._starts)
        return self._stream(start, count if stop is None else min(stop, count))

    def _stream(self, start: int, stop: int) -> Iterator[bytes]:
        starts, between = self._starts, self._layout.between
        while start < stop:
            upto = bisect_left(starts, starts[start] + _CHUNK, start + 1, stop)
            with self._lock:
                self._open(BrokenChain)
                end = starts[upto] - len(between) if upto < len(starts) else self._tail
                data = self._read(starts[start], end)
            yield from data.split(between)
            start = upto

    def __len__(self) -> int:
        """Return the number of lines, those of other writers included; raises what `lines` raises."""
        with self._lock:
            self._look()
            return len(self._starts)

    def flush(self) -> None:
        """Return when everything added is on the disk.

        Raises:
            JournalError: the system could not do that: what was appended may be lost with the power.
        """
        with self._lock:
            if self._dirty:
                try:
                    os.fsync(self._descriptor)
                except OSError as error:
                    raise JournalError(
                        f"{self.name} could not be brought to the disk: {error}; a power cut may lose its last entries"
                    ) from error
                self._dirty = False

    def close(self) -> None:
        """Flush, and let go of the file; twice is harmless."""
        with self._lock:
            self._closed = True
            try:
                self.flush()
            finally:
                self._dirty = False
                self._let_go()

    # Below, the thread holds the lock.

    def _let_go(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open(self, why: type[JournalError]) -> bool:
        """Have the file open; False when there is none yet."""
        if self._closed:
            raise JournalClosed(f"{self.name} is closed; open it again with open_journal(...)")
        if self._lost is not None:
            raise AppendFailed(self._lost)
        if self._descriptor < 0:
            try:
                self._descriptor, self._writable = _opened(self._path)
            except FileNotFoundError:
                if self._file is None:
                    return False
                raise self._changed("was deleted", why) from None
            except OSError as error:
                raise JournalError(f"{self.name} cannot be opened: {error.strerror}") from error
            if self._file is None:
                self._file = identity_of(os.fstat(self._descriptor))
        if why is AppendFailed and not self._writable:
            raise AppendFailed(
                f"{self.name} is read-only here; nothing was recorded: change that, or copy it elsewhere"
            )
        return True

    def _look(self) -> None:
        """See what others did, for a reader."""
        if self._open(BrokenChain):
            try:
                here = os.stat(self._path)
                if here.st_size == self._size and identity_of(here) == self._file:
                    return
            except FileNotFoundError:
                pass
            with self._alone():
                self._notice(BrokenChain)

    def _notice(self, why: type[JournalError]) -> None:
        """See what others did, while nobody else writes."""
        try:
            here = os.stat(self._path)
        except FileNotFoundError:
            raise self._changed("was deleted", why) from None
        if identity_of(here) != self._file:
            raise self._changed("was replaced by another file", why)
        if here.st_size < self._size:
            raise self._changed(f"shrank from {self._size} to {here.st_size} bytes", why)
        if here.st_size > self._size:
            self._read_on(here.st_size)

    def _changed(self, what: str, why: type[JournalError]) -> JournalError:
        """Return the error for a file that is not the one we opened any more."""
        nothing = "; nothing was recorded" if why is AppendFailed else ""
        return why(f"{self.name} {what} while it was open{nothing}: put the old file back, or open the new one")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other writers out, those of other processes too."""
        until = time.monotonic() + WAIT
        pause = 0.0005
        while True:
            try:
                self._flock(self._descriptor, True)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise AppendFailed(
                        f"{self.name} has been locked by another writer for {WAIT:g} s; nothing was recorded: "
                        "end it, or try again"
                    ) from None
            except OSError as error:
                raise self._failed("cannot be locked: ", error) from error
            time.sleep(pause)
            pause = min(2 * pause, 0.01)
        try:
            yield
        finally:
            self._flock(self._descriptor, False)

    def _read(self, begin: int, end: int) -> bytes:
        try:
            data = os.pread(self._descriptor, end - begin, begin)
        except OSError as error:
            raise JournalError(f"{self.name} cannot be read: {error.strerror}") from error
        if len(data) != end - begin:
            raise self._changed(f"was cut at {begin + len(data)} bytes", BrokenChain)
        return data

    def _read_on(self, size: int) -> None:
        """Take in what is new up to `size`; report an end that is not as it is written, or mend it."""
        if not self._starts:
            self._layout = _ARRAY if self._read(0, 1) == b"[" else _LINES
        opening, between, ending = self._layout
        expected = between if self._starts else opening
        begin = self._tail + len(expected)
        pieces, end = array("q"), size
        if self._read(self._tail, min(begin, size)) == expected:
            pieces, end = self._pieces(begin, size)
        tail, last = self._tail, self._last
        while pieces:
            line = self._read(pieces[-1], end)
            if line.endswith(b",") and self._layout is _ARRAY:
                line = line[:-1]
            if _is_whole(line):
                tail, last = pieces[-1] + len(line), line
                break
            end = pieces.pop() - 1
        count = len(self._starts) + len(pieces)
        rest = self._read(tail, size)
        if not count or rest != ending:
            self._mend(tail, rest, count)
        self._starts.extend(pieces)
        self._tail, self._last = tail, last
        self._size = tail + len(ending) if count else 0

    def _pieces(self, begin: int, size: int) -> tuple[array[int], int]:
        """Return where the pieces between line breaks start, up to an unfinished append, and where the last ends."""
        pieces = array("q", [begin])
        for offset in range(begin, size, _CHUNK):
            chunk = self._read(offset, min(offset + _CHUNK, size))
            pieces.extend(offset + found.end() for found in _NEWLINE.finditer(chunk))
            for found in _ZERO.finditer(chunk):
                place = bisect_left(pieces, offset + found.start())
                if place < len(pieces) and pieces[place] == offset + found.start():
                    return pieces[:place], pieces[place] - 1
        return pieces, size

    def _mend(self, tail: int, rest: bytes, count: int) -> None:
        """Report a file that does not end as it is written; with `repair`, give it its ending."""
        _, between, ending = self._layout
        if b"}\r\n" in rest:
            raise UnknownFormat(
                f"{self.name} has Windows line ends (a checkout that converts text?): turn them back into line feeds"
            )
        lost = b"" if count and (between.startswith(rest) or ending.startswith(rest)) else rest
        if not self._repair:
            raise CutTail(
                f"{self.name} does not end as it was written (a kill, a full disk?): {count} whole entries, then "
                f"{len(lost)} bytes of an unfinished append; open it with repair=True to keep the {count}"
                + (f", the {len(lost)} bytes go to {self.name}.damaged-1" if lost else "")
            )
        try:
            numbers = itertools.count(1)
            while lost and not create_whole(f"{self._path}.damaged-{next(numbers)}", lost):
                pass
            os.ftruncate(self._descriptor, tail if count else 0)
            if count:
                write_all(self._descriptor, ending, tail)
            os.fsync(self._descriptor)
        except OSError as error:
            raise JournalError(f"{self.name} cannot be repaired: {error}") from error

    def _create(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> bool:
        """Make the file with its first lines; False when another writer just did."""
        lines = list(build(0, None))
        if not lines:
            return True
        opening, _, ending = self._layout
        block = self._block(lines)
        try:
            self._file = create_whole(self._path, opening + block + ending)
        except OSError as error:
            raise self._failed("could not be made: ", error) from error
        if self._file is None:
            return False
        self._added(lines, len(opening), len(block))
        return True

    def _block(self, lines: list[bytes]) -> bytes:
        block = self._layout.between.join(lines)
        if block.count(b"\n") != len(lines) - 1:
            raise BadArgument("a line holds a line break: a backend keeps lines")
        return block

    def _write(self, lines: list[bytes]) -> None:
        """Add lines over the ending, or leave the file as it was."""
        opening, between, ending = self._layout
        block = self._block(lines)
        before = between if self._starts else opening
        begin = self._tail + len(before)
        try:
            if len(lines) == 1:
                self._put(before + block + ending, self._tail)
            else:
                self._put(before + b"\0" + block[1:] + ending, self._tail)
                self._put(block[:1], begin)
        except BaseException as error:
            self._undo()
            if not isinstance(error, OSError):
                raise
            raise self._failed("could not be written: ", error) from error
        self._added(lines, begin, len(block))
        self._dirty = not self._full

    def _put(self, data: bytes, offset: int) -> None:
        write_all(self._descriptor, data, offset)
        if self._full:
            os.fsync(self._descriptor)

    def _added(self, lines: list[bytes], begin: int, size: int) -> None:
        """Know lines that are in the file now, `size` bytes from `begin` on."""
        _, between, ending = self._layout
        self._starts.extend(itertools.accumulate((len(line) + len(between) for line in lines[:-1]), initial=begin))
        self._tail, self._last = begin + size, lines[-1]
        self._size = self._tail + len(ending)

    def _undo(self) -> None:
        """Put the file back to what it was before a write that failed."""
        try:
            os.ftruncate(self._descriptor, self._size)
            if self._starts:
                write_all(self._descriptor, self._layout.ending, self._tail)
        except OSError as error:
            self._lost = f"{self.name} could not be put back after a failed write ({error}): open it with repair=True"

    def _failed(self, what: str, cause: OSError) -> AppendFailed:
        """Return the error for an append that the system refused."""
        undone = "" if self._lost is None else f"; {self._lost}"
        error = AppendFailed(f"{self.name} {what}{cause.strerror or cause}; nothing was recorded{undone}")
        error.errno = cause.errno
        return error


def _opened(path: str) -> tuple[int, bool]:
    """Return a descriptor, and whether it may be written to."""
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC), True
    except FileNotFoundError:
        raise
    except OSError:  # this user may not, or the medium takes nothing: then to read
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC), False


def _is_whole(line: bytes) -> bool:
    """Say whether a line is a JSON object: a part of one never is."""
    if not (line.startswith(b"{") and line.endswith(b"}")):
        return False
    try:
        _object(line)
    except RecursionError:
        return True  # nested too deep to say; its braces say so
    except (msgspec.DecodeError, ValueError):
        return False
    return True


def _file_locks() -> Callable[[int, bool], None]:
    """Return the function that takes (True, without waiting) or gives back (False) a file's lock."""
    try:
        import fcntl
    except ImportError:
        raise BadArgument(
            "a JSON journal needs file locks (fcntl), which this system lacks: keep the journal in SQLite, "
            "under a name that does not end in .json or .jsonl"
        ) from None

    def lock(descriptor: int, take: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if take else fcntl.LOCK_UN)

    return lock
