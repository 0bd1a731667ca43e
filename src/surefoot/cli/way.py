"""`surefoot way`: the cheapest known way between two states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from surefoot.cli.exits import Exit
from surefoot.cli.maps import known_state, map_option, open_known
from surefoot.cli.showing import columns, counted, json_option, say, say_json
from surefoot.cli.spelling import spelled
from surefoot.errors import BadArgument

if TYPE_CHECKING:
    from surefoot.knowledge.routes import Route
    from surefoot.knowledge.worldmap import WorldMap

__all__: list[str] = []

_HELP = """Show the cheapest known way between two states, without taking a step.

A confirmed step costs 1, an unchecked one what the map says (3, unless it was made with another cost); on a stochastic
map the cost is the expected number of steps.

\b
Examples:
  surefoot way --map tree.map --to docs/index.md
  surefoot way --map tree.map --from docs --to docs/index.md

Exit codes: 0 a way is known; 1 none is; 2 the map does not know a state.
"""


@click.command("way", help=_HELP, short_help="Show the cheapest known way.")
@map_option
@click.option("--from", "start", metavar="STATE", help="Where it starts. Without: at the map's start.")
@click.option("--to", "to", multiple=True, required=True, metavar="STATE", help="Where it ends; may be repeated.")
@click.option("--confirmed", is_flag=True, help="Use confirmed claims alone.")
@json_option
def command(path: str, start: str | None, to: tuple[str, ...], confirmed: bool, as_json: bool) -> int:
    """Show the way."""
    with open_known(path) as known:
        here = _start(known, path) if start is None else known_state(known, start)
        targets = [known_state(known, text) for text in to]
        route = known.route(here, targets, confirmed_only=confirmed)
        legs = _legs(known, route)
        if as_json:
            cost = route.cost if route.known else None
            shown = {"command": "way", "map": path, "from": here, "targets": tuple(targets), "cost": cost}
            say_json({**shown, "known": route.known, "reached": route.reached, "to": route.target, "steps": legs})
        elif route.reached:
            say(f"already there: {spelled(here)}")
        elif route.known:
            say(f"{counted(len(legs), 'step')}, cost {route.cost:g}: {spelled(here)} to {spelled(route.target)}")
            names = ("state", "action", "to")
            say(*columns([(*(spelled(leg[name]) for name in names), leg["status"]) for leg in legs]))
        else:
            say(f"no way is known from {spelled(here)} to {', '.join(map(spelled, targets))}")
        return Exit.FINE if route.known else Exit.NO


def _start(known: WorldMap, path: str) -> Any:
    """Return the state that was heard of first, which `surefoot show` calls the start."""
    states = known.states()
    if not states:
        raise BadArgument(f"the map {path!r} is empty: surefoot explore WORLD --map {path} fills it")
    return states[0]


def _legs(known: WorldMap, route: Route) -> tuple[dict[str, Any], ...]:
    """Return the steps of a way with where they lead and how sure that is."""
    legs = []
    for state, action in route.steps:
        claim = known.claim(state, action)
        assert claim is not None  # the way is made of claims
        status = f"{claim.status}, doubtful" if claim.doubtful else claim.status
        legs.append({"state": state, "action": action, "to": claim.to, "status": status})
    return tuple(legs)
