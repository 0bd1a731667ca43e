"""`surefoot report JOURNAL`: what an agent did, in words or as one page."""

from __future__ import annotations

from pathlib import Path

import click

from surefoot.cli.episodes import opened
from surefoot.cli.exits import Exit
from surefoot.cli.showing import json_option, say, say_json
from surefoot.cli.spelling import safe
from surefoot.cli.writing import write_whole

__all__: list[str] = []

_HELP = """Say what the agent did whose episodes a JOURNAL holds: each episode, and with --html each decision.

\b
Examples:
  surefoot report docs.jsonl
  surefoot report docs.jsonl --html docs.html

Exit codes: 0 fine; 2 there is no such journal, or it holds no episodes; 4 the file is no journal.
"""


@click.command("report", help=_HELP, short_help="Say what an agent did.")
@click.argument("journal", metavar="JOURNAL")
@click.option("--html", "page", metavar="FILE", help="Write it as one page that needs no network, too.")
@json_option
def command(journal: str, page: str | None, as_json: bool) -> int:
    """Report."""
    from surefoot.agent.report import gather, in_words
    from surefoot.agent.report import page as page_of

    with opened(journal) as knowledge:
        told = gather(knowledge)
        if page is not None:
            write_whole(Path(page), page_of(told))
        if as_json:
            rows = tuple(
                {"episode": one.number, "map": one.map, "stopped": one.stopped.value, "steps": one.steps}
                | {"refused": one.refused, "fast": one.fast, "slow": one.slow, "reached": one.goals_done}
                for one in told.episodes
            )
            shown = {"journal": journal, "head": told.head, "decisions": dict(told.decisions), "html": page}
            say_json({"command": "report", **shown, "episodes": rows})
        else:
            say(*map(safe, in_words(told).splitlines()))
            if page is not None:
                say(f"written to {page}")
        return Exit.FINE
