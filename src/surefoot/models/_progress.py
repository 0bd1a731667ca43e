"""Say how far a long computation is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["Report", "reporting"]

Report = Callable[[int, int], None]
"""Called with how many are done, and how many are known so far."""

_PATIENCE = 2.0
"""How many seconds pass before a bar is shown that nobody asked for."""


@contextmanager
def reporting(progress: bool | Report | None, what: str) -> Iterator[Report | None]:
    """Yield what to call now and then: the caller's own function, a bar on standard error, or None for neither.

    Args:
        progress: a function is called as it is; True shows a bar; None shows one if standard error is a terminal and
            the work takes longer than two seconds; False shows none.
        what: what is being done, beside the bar.
    """
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield None
        return
    columns = (TextColumn(what), BarColumn(), TextColumn("{task.completed:,} of {task.total:,}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=True) as bar:
        task = bar.add_task(what, total=0)
        begin = time.monotonic()

        def report(done: int, known: int) -> None:
            if bar.disable and (progress or time.monotonic() - begin > _PATIENCE):
                bar.disable = False
                bar.start()
            bar.update(task, completed=done, total=known)

        yield report
