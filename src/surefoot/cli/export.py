"""`surefoot export`: a map as a page, or in a format that other programs read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from surefoot.cli.exits import Exit
from surefoot.cli.maps import map_option, open_known
from surefoot.cli.showing import counted
from surefoot.cli.writing import write_whole
from surefoot.errors import BadArgument

if TYPE_CHECKING:
    from surefoot.knowledge.worldmap import WorldMap

__all__: list[str] = []

_HELP = """Write a map: as a page to look at, which needs no network (--html), in Graphviz's language (--dot), as
GraphML (--graphml), or all of it, with its journal, as JSON (--json).

\b
Examples:
  surefoot export --map tree.map --html -o tree.html
  surefoot export --map tree.map --dot | dot -Tsvg > tree.svg
"""


@click.command("export", help=_HELP, short_help="Write a map as a page, DOT, GraphML or JSON.")
@map_option
@click.option(
    "--html", "as_format", flag_value="html", help="A page: search, colours by status, every claim's details."
)
@click.option("--dot", "as_format", flag_value="dot", help="For Graphviz.")
@click.option("--graphml", "as_format", flag_value="graphml", help="For graph editors and libraries.")
@click.option("--json", "as_format", flag_value="json", help="States, claims, settings and journal.")
@click.option("-o", "--output", metavar="FILE", help="Write there, all or nothing. Without: to the standard output.")
@click.option("--title", help="The page's title. Without: the map's file.")
def command(path: str, as_format: str | None, output: str | None, title: str | None) -> int:
    """Export."""
    if as_format is None:
        raise BadArgument("say in which format: --html, --dot, --graphml or --json")
    with open_known(path) as known:
        text = _FORMATS[as_format](known, title or os.path.basename(path))
        if output is None:
            click.echo(text.removesuffix("\n"))
            return Exit.FINE
        write_whole(Path(output), text)
        stats = known.stats()
        size = f"{len(text.encode()) / 1000:,.0f} kB"
        shown = f"{counted(stats['known'], 'state')}, {counted(stats['claims'], 'claim')}, {size}"
        click.echo(f"wrote {output}: {shown}", err=True)
    return Exit.FINE


_FORMATS: dict[str, Callable[[WorldMap, str], str]] = {
    "html": lambda known, title: known.to_html(title),
    "dot": lambda known, _: known.to_dot(),
    "graphml": lambda known, _: known.to_graphml(),
    "json": lambda known, _: json.dumps(known.to_dict(), ensure_ascii=False, separators=(",", ":")),
}
