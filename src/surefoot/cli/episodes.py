"""What `replay` and `report` share: a journal that holds an agent's episodes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from surefoot.cli.exits import reading
from surefoot.errors import BadArgument

if TYPE_CHECKING:
    from surefoot.agent.knowledge_base import Knowledge

__all__ = ["opened"]


@contextmanager
def opened(path: str) -> Iterator[Knowledge]:
    """Open the journal of an agent, and close it at the end.

    Raises:
        BadArgument: there is no such file, or no agent has kept its episodes there.
        JournalError: it cannot be read.

    Example:
        >>> with opened("nowhere.jsonl") as knowledge: ...
        Traceback (most recent call last):
        surefoot.errors.BadArgument: there is no journal 'nowhere.jsonl': surefoot agent WORLD --journal ...
    """
    from surefoot.agent.knowledge_base import Knowledge
    from surefoot.journal import open_journal

    if not os.path.exists(path):
        raise BadArgument(f"there is no journal {path!r}: surefoot agent WORLD --journal {path} makes one")
    with reading(path):
        journal = open_journal(path)
    try:
        if next(iter(journal.entries(kind="begin", stream="agent")), None) is None:
            raise BadArgument(
                f"{path!r} holds no episodes of an agent: `surefoot agent WORLD --journal FILE` keeps some"
            )
        with reading(path):
            knowledge = Knowledge(journal=journal)
        yield knowledge
    finally:
        journal.close()
