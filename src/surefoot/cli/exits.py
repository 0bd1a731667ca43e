"""The exit codes of the command `surefoot`, and which error leads to which."""

from __future__ import annotations

from enum import IntEnum

from surefoot.errors import ContractBroken, JournalError, WorldError

__all__ = ["Exit", "exit_of"]


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
    """It was asked in a way that it cannot answer: a wrong option, a state that the map does not know, no such file."""
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
