"""The exit codes of the command `surefoot`, and which error leads to which."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from surefoot.errors import BrokenChain, ContractBroken, CutTail, JournalError, WorldError

__all__ = ["Exit", "exit_of", "reading"]


class Exit(IntEnum):
    """Say how a command ended, to whoever called it.

    Example:
        >>> Exit.NO + 0, Exit.INTERRUPTED + 0
        (1, 130)
    """

    FINE = 0
    """It did what it was asked for."""
    NO = 1
    """The answer is no: no way is known, the target was not reached, the verification failed."""
    USAGE = 2
    """It was asked in a way that it cannot answer: a wrong option, a state that the map does not know, no such file, a
    model that cannot be read."""
    WORLD = 3
    """The world is not there, or broke."""
    JOURNAL = 4
    """The map's journal cannot be read, or cannot be written."""
    OPEN = 5
    """Neither yes nor no is proved."""
    INTERRUPTED = 130
    """Ctrl-C."""
    TERMINATED = 143
    """SIGTERM."""


def exit_of(error: Exception) -> Exit:
    """Return the exit code for an error.

    Example:
        >>> from surefoot.errors import BadArgument, CutTail, WorldUnavailable
        >>> [exit_of(kind("…")).name for kind in (BadArgument, CutTail, WorldUnavailable)]
        ['USAGE', 'JOURNAL', 'WORLD']
    """
    if isinstance(error, JournalError):
        return Exit.JOURNAL
    if isinstance(error, WorldError | ContractBroken):
        return Exit.WORLD
    return Exit.USAGE


@contextmanager
def reading(path: str | None) -> Iterator[None]:
    """Name the journal, and what to type, in errors that tell neither.

    Example:
        >>> with reading("x.jsonl"):
        ...     raise BrokenChain("entry 7 was edited")
        Traceback (most recent call last):
        surefoot.errors.BrokenChain: x.jsonl: entry 7 was edited; take it from a copy that ...
    """
    try:
        yield
    except PermissionError as error:
        raise JournalError(f"{path}: {error.strerror}: let this user read it, or name another file") from None
    except CutTail as error:
        typed = f"`surefoot verify --map {path} --repair` keeps the"
        error.args = (str(error).replace("open it with repair=True to keep the", typed), *error.args[1:])
        raise
    except BrokenChain as error:
        if path is not None and path not in str(error):
            mend = "take it from a copy that `surefoot verify --map` finds whole"
            error.args = (f"{path}: {error}; {mend}", *error.args[1:])
        raise
