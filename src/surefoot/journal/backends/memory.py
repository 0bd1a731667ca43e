"""Lines kept in memory: the fastest backend, and the example for the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

from surefoot.journal.files import renew_after_fork

__all__ = ["MemoryBackend"]


class MemoryBackend:
    """Keep lines in a list.

    Args:
        lines: lines to start with, of a journal saved elsewhere.

    Example:
        >>> backend = MemoryBackend()
        >>> backend.extend(lambda count, last: [b"one", b"two"])
        >>> len(backend), list(backend.lines(1))
        (2, [b'two'])
    """

    name = "memory"

    def __init__(self, lines: Iterable[bytes] = ()) -> None:
        """Start with `lines`."""
        self._lines = list(lines)
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Take a lock of our own: another thread of the parent may have held the one there was."""
        self._lock = threading.Lock()

    def extend(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> None:
        """Add the lines that `build(how many there are, the last one)` returns; nothing when it raises."""
        with self._lock:
            lines = self._lines
            lines += tuple(build(len(lines), lines[-1] if lines else None))

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Iterate over the lines from `start` up to, not including, `stop`."""
        return iter(self._lines[start:stop])

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self._lines)

    def flush(self) -> None:
        """Do nothing: memory has nothing to make durable."""

    def close(self) -> None:
        """Do nothing: the lines stay readable through another journal on this backend."""

    def __reduce__(self) -> tuple[type[MemoryBackend], tuple[list[bytes]]]:
        """Pickle and copy the lines, not the lock."""
        return type(self), (list(self._lines),)
