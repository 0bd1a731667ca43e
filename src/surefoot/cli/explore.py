"""`surefoot explore WORLD`: check whatever can be reached and nobody has checked."""

from __future__ import annotations

from typing import Any

import click

from surefoot.cli.exits import Exit
from surefoot.cli.showing import json_option, say, say_json
from surefoot.cli.walking import exit_of_walk, report_of, say_walk, walking, walking_options

__all__: list[str] = []

_HELP = """Explore WORLD until nothing is left to check.

With --map, what the map knows already is not checked again: an exploration that was stopped, or killed, goes on where
it was. A refusal is remembered with its reason; a fault (a time-out, a 5xx) is tried again and is no evidence.

\b
Examples:
  surefoot explore files:. --without .git --map tree.map
  surefoot explore commands:git --map git.map
  surefoot explore site:https://example.org/docs/ -o rate=5 --map docs.map
  surefoot explore 'gym:FrozenLake-v1?is_slippery=false' --map lake.map

Exit codes: 0 nothing is left, or --steps are taken; 1 stalled; 3 the world broke; 130 stopped.
"""


@click.command("explore", help=_HELP, short_help="Check whatever nobody has checked.")
@walking_options
@json_option
def command(world: str, as_json: bool, **options: Any) -> int:
    """Explore."""
    from surefoot.agent.walker import Stopped, explore

    with walking(world, **options) as trip:
        went = explore(trip.env, trip.known, keep=0, **trip.rules)
        if as_json:
            say_json(report_of("explore", world, went, trip))
        else:
            say(f"explored {world}: {went.stopped.value}")
            say_walk(went, trip)
        return Exit.FINE if went.stopped is Stopped.OUT_OF_STEPS else exit_of_walk(went, trip)
