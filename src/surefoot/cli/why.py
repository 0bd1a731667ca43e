"""`surefoot why`: the story of one claim."""

from __future__ import annotations

from dataclasses import asdict

import click

from surefoot.cli.exits import Exit
from surefoot.cli.maps import known_action, known_state, map_option, open_known
from surefoot.cli.show import claim_row
from surefoot.cli.showing import json_option, say, say_json
from surefoot.cli.spelling import safe

__all__: list[str] = []

_HELP = """Tell the story of one claim, "this ACTION in this STATE leads there": who said what, when, on what evidence,
and what was refuted. The numbers are the places of the entries in the journal.

\b
Example:
  surefoot why --map tree.map . docs
"""


@click.command("why", help=_HELP, short_help="Tell the story of one claim.")
@map_option
@click.argument("state", metavar="STATE")
@click.argument("action", metavar="ACTION")
@json_option
def command(path: str, state: str, action: str, as_json: bool) -> int:
    """Tell."""
    with open_known(path) as known:
        here = known_state(known, state)
        story = known.why(here, known_action(known, here, action))
        assert story.claim is not None  # known_action has seen to it
        if as_json:
            steps = tuple({**asdict(evidence), "words": words} for evidence, words in story)
            shown = {"command": "why", "map": path, "state": story.state, "action": story.action}
            say_json({**shown, "claim": claim_row(story.claim), "steps": steps})
        else:
            say(*map(safe, str(story).split("\n")))
        return Exit.FINE
