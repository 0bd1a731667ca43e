"""How commands speak: lines for people, one JSON object for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from surefoot import values

__all__ = ["columns", "counted", "json_option", "say", "say_json"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
"""The option `--json`.

Example:
    >>> callable(json_option)
    True
"""


def say(*lines: str) -> None:
    """Print lines to the standard output.

    Example:
        >>> say("one", "two")
        one
        two
    """
    for line in lines:
        click.echo(line.rstrip())


def say_json(report: Mapping[str, Any]) -> None:
    """Print one JSON object in one line, states and actions in their exact encoding (`surefoot.values`).

    Args:
        report: plain values; lists of ours are tuples, so that they become plain arrays.

    Example:
        >>> say_json({"state": ("git", "remote"), "cost": 2})
        {"cost":2,"state":["git","remote"]}
    """
    click.echo(values.encode(report).decode())


def columns(rows: Iterable[Sequence[str]], indent: str = "  ") -> list[str]:
    """Return rows as lines, their cells under one another; nothing is cut.

    Example:
        >>> columns([("a", "bb", "c"), ("aaa", "b", "c")])
        ['  a    bb  c', '  aaa  b   c']
    """
    table = [list(row) for row in rows]
    widths: dict[int, int] = {}
    for row in table:
        for place, cell in enumerate(row[:-1]):
            widths[place] = max(widths.get(place, 0), _width(cell))
    lines = []
    for row in table:
        cells = [cell + " " * (widths.get(place, 0) - _width(cell)) for place, cell in enumerate(row)]
        lines.append((indent + "  ".join(cells)).rstrip())
    return lines


def counted(number: int, what: str, many: str | None = None) -> str:
    """Return a number with its noun.

    Example:
        >>> counted(1, "step"), counted(2000, "step"), counted(2, "entry", "entries")
        ('1 step', '2,000 steps', '2 entries')
    """
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
