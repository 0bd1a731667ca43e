"""Open the right backend for a path: by what the file holds, or for a new one by its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from surefoot.errors import BadArgument, UnknownFormat
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.journal.journal import Backend, Journal

__all__ = ["open_journal"]

_STARTS = (b'{"seq":', b'[\n{"seq":', b'\0"seq":', b'[\n\0"seq":')
"""How a JSON journal starts: one line an entry, or an array; with a zero while its first append is unfinished."""
_SQLITE = b"SQLite format 3\0"
_left_open: list[int] = []
"""Descriptors of SQLite files: closing one would drop the locks of this process's other connections to that file."""


def open_journal(
    path: str | os.PathLike[str] | None = None,
    *,
    durability: str = "normal",
    clock: Callable[[], Any] | None = None,
    repair: bool = False,
) -> Journal:
    """Open a journal, or start one.

    A file that exists is read as what it is, whatever its name. A new one becomes a JSON file when its name ends in
    `.json` (one array) or `.jsonl` (an entry a line), and SQLite otherwise. It is made by the first append, not by
    opening it.

    Args:
        path: the file; None keeps the journal in memory.
        durability: `"normal"`: an entry outlives this process at once, and a power cut after `flush()` or `close()`.
            `"full"`: it outlives a power cut at once.
        clock: called once an append; what it returns (a plain value) becomes the entries' `time`, inside the hash.
            None: no time is recorded, and the same events give the same bytes.
        repair: mend a JSON file that ends in the middle of an entry; whole entries stay, other bytes are kept beside
            it. SQLite mends itself.

    Raises:
        BadArgument: the path names no file in a folder that exists, or `durability` is another word.
        CutTail: the file ends in the middle of an entry, and `repair` is False.
        UnknownFormat: it is no journal, or one of a newer version.

    Example:
        >>> import os, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with open_journal(os.path.join(folder.name, "walk.map"), clock=lambda: "noon") as journal:
        ...     journal.append("note", {"text": "hello"}).time
        'noon'
        >>> with open_journal(os.path.join(folder.name, "walk.map")) as journal:
        ...     [entry.data for entry in journal.entries()]
        [{'text': 'hello'}]
        >>> folder.cleanup()
    """
    if durability not in ("normal", "full"):
        raise BadArgument(f'durability must be "normal" or "full", got {durability!r}')
    backend = MemoryBackend() if path is None else _backend(path, durability, repair)
    return Journal(backend, clock=clock)


def _backend(path: str | os.PathLike[str], durability: str, repair: bool) -> Backend:
    if os.fsdecode(path).lower().endswith((".json", ".jsonl")):
        start = _start_of(path)
        if not start or _is_json(start):
            return _json(path, durability, repair)
        if not start.startswith(_SQLITE):
            raise _unknown(path, start)
    return _sqlite_or_json(path, durability, repair)


def _json(path: str | os.PathLike[str], durability: str, repair: bool) -> Backend:
    from surefoot.journal.backends.jsonfile import JsonFileBackend

    return JsonFileBackend(path, durability=durability, repair=repair)


def _sqlite_or_json(path: str | os.PathLike[str], durability: str, repair: bool) -> Backend:
    """Let SQLite look first: it knows its own files, and looking for it could drop its locks."""
    from surefoot.journal.backends.sqlite import NotSqlite, SqliteBackend

    try:
        return SqliteBackend(path, durability=durability)
    except NotSqlite:
        start = _start_of(path)
    if _is_json(start):
        return _json(path, durability, repair)
    raise _unknown(path, start)


def _is_json(start: bytes) -> bool:
    """Say whether these first bytes are a JSON journal's, as far as they go."""
    return any(start[: len(known)] == known[: len(start)] for known in _STARTS)


def _start_of(path: str | os.PathLike[str]) -> bytes:
    """Return the first bytes of a file, none when there is no such file."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return b""  # the backend says what is wrong with it
    start = b""
    try:
        start = os.read(descriptor, len(_SQLITE))
    except IsADirectoryError:
        pass  # so does it here
    finally:
        if start.startswith(_SQLITE):
            _left_open.append(descriptor)
        else:
            os.close(descriptor)
    return start


def _unknown(path: str | os.PathLike[str], start: bytes) -> UnknownFormat:
    return UnknownFormat(
        f"{os.fsdecode(path)} is no journal of surefoot.journal/1, it starts with {start!r}: name another file, "
        "or a new one and copy what you need into it"
    )
