"""`surefoot replay JOURNAL`: make each recorded decision of an agent again, from the journal alone."""

from __future__ import annotations

import click

from surefoot.cli.episodes import opened
from surefoot.cli.exits import Exit
from surefoot.cli.showing import json_option, say, say_json
from surefoot.cli.spelling import safe

__all__: list[str] = []

_HELP = """Make each decision that a JOURNAL holds again, without the world, and compare it with what is recorded.

What code outside of the journal answered is taken as recorded: a gate, a done check, a slow path of your own, and the
predictions of a vocabulary of your own, which only your program has (`Agent.replay` in Python makes those again too).

\b
Example:
  surefoot replay docs.jsonl

Exit codes: 0 all are the same; 1 one is not: it is named; 4 the file is no journal, or an entry of it was edited.
"""


@click.command("replay", help=_HELP, short_help="Make each recorded decision again.")
@click.argument("journal", metavar="JOURNAL")
@json_option
def command(journal: str, as_json: bool) -> int:
    """Replay."""
    from surefoot.agent.replay import replay

    with opened(journal) as knowledge:
        found = replay(knowledge)
        if as_json:
            first = None if found.first is None else {"seq": found.first.seq, "field": found.first.field}
            told = {"decisions": found.decisions, "predicted": found.predicted, "ok": found.ok, "first": first}
            say_json({"command": "replay", "journal": journal, "head": str(knowledge.head), **told})
        else:
            say(f"{journal}: {safe(str(found))}")
        return Exit.FINE if found else Exit.NO
