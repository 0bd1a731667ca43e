"""`surefoot walk WORLD --to STATE`: get to a state, by a known way or by exploring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from surefoot.cli.showing import columns, counted, json_option, say, say_json
from surefoot.cli.spelling import nearest, safe, spelled, state_of
from surefoot.cli.walking import Walking, exit_of_walk, report_of, say_walk, walking, walking_options

if TYPE_CHECKING:
    from surefoot.agent.walker import Step, Walk

__all__: list[str] = []

_MOST_SHOWN = 30

_HELP = """Walk in WORLD to a STATE: by the cheapest known way, and where none is known by exploring.

A sign (a link's address, a directory entry) counts as a way. With --to more than once, any of them will do.

\b
Examples:
  surefoot walk files:. --to docs/index.md --map tree.map
  surefoot walk commands:git --to '=["git","remote","add"]' --map git.map
  surefoot walk gym:FrozenLake-v1 --to =15 --map lake.map --stochastic

Exit codes: 0 it is there; 1 no way is known, out of steps, stalled; 3 the world broke; 130 stopped.
"""


@click.command("walk", help=_HELP, short_help="Get to a state.")
@walking_options
@click.option("--to", "to", multiple=True, required=True, metavar="STATE", help="Where to; may be repeated.")
@click.option("--known-only", is_flag=True, help="Go only where the map shows a way; explore nothing.")
@json_option
def command(world: str, to: tuple[str, ...], known_only: bool, as_json: bool, **options: Any) -> int:
    """Walk."""
    from surefoot.agent.walker import walk

    targets = [state_of(text) for text in to]
    with walking(world, **options) as trip:
        went = walk(trip.env, trip.known, targets, explore=not known_only, **trip.rules)
        if as_json:
            trail = tuple(step._asdict() for step in went.trail)
            say_json({**report_of("walk", world, went, trip), "targets": tuple(targets), "trail": trail})
        else:
            _say(world, to, went, trip)
        return exit_of_walk(went, trip)


def _say(world: str, to: tuple[str, ...], went: Walk, trip: Walking) -> None:
    """Print the way."""
    say(f"walked {world}: {went.stopped.value}, at {spelled(went.state)} after {counted(went.steps, 'step')}")
    rows = [_row(number, step) for number, step in enumerate(went.trail, went.steps - len(went.trail) + 1)]
    if len(rows) > _MOST_SHOWN:
        say(f"  … {counted(went.steps - _MOST_SHOWN, 'earlier step')}")
    say(*columns(rows[-_MOST_SHOWN:]))
    say("")
    say_walk(went, trip)
    if not went:
        near = [found for text in to for found in nearest(text, trip.known.states())]
        if near:
            say("", "The nearest states that the map knows:", *(f"  {state}" for state in dict.fromkeys(near)))


def _row(number: int, step: Step) -> tuple[str, ...]:
    """Return a line of the way."""
    what = spelled(step.to) if step.verdict == "accepted" else f"{step.verdict}: {safe(step.why or 'no reason given')}"
    return f"{number:,}", spelled(step.state), spelled(step.action), what
