"""`surefoot show`: what a map knows, of the world or of one state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from surefoot.cli.exits import Exit
from surefoot.cli.maps import known_state, map_option, open_known
from surefoot.cli.showing import columns, counted, json_option, say, say_json
from surefoot.cli.spelling import safe, spelled, words_of

if TYPE_CHECKING:
    from surefoot.knowledge.claims import Claim
    from surefoot.knowledge.worldmap import WorldMap

__all__: list[str] = []

_HELP = """Show what a map knows: counts and what is left to check; of a STATE its facts and what can be done there.

\b
Examples:
  surefoot show --map tree.map
  surefoot show --map tree.map docs
"""


@click.command("show", help=_HELP, short_help="Show what a map knows.")
@map_option
@click.option("--most", type=click.IntRange(min=0), default=20, show_default=True, help="List at most so many.")
@click.argument("state", metavar="[STATE]", required=False)
@json_option
def command(path: str, most: int, state: str | None, as_json: bool) -> int:
    """Show."""
    with open_known(path) as known:
        if state is None:
            report = _of_map(known, most)
        else:
            report = _of_state(known, known_state(known, state))
        if as_json:
            say_json({"command": "show", "map": path, **report})
        elif state is None:
            _say_map(path, report)
        else:
            _say_state(report, most)
        return Exit.FINE


def _of_map(known: WorldMap, most: int) -> dict[str, Any]:
    settings = known.settings
    states, frontier = known.states(), known.frontier()
    flapping = known.flapping()
    return {
        "stats": known.stats(),
        "head": str(known.head),
        "settings": {name: getattr(settings, name) for name in settings.__slots__},
        "first": states[0] if states else None,
        "frontier": tuple({"state": state, "action": action} for state, action in frontier[:most]),
        "flapping": tuple({"state": claim.state, "action": claim.action} for claim in flapping[:most]),
    }


def _say_map(path: str, report: dict[str, Any]) -> None:
    stats, settings = report["stats"], report["settings"]
    kind = "stochastic" if settings["stochastic"] else "deterministic"
    say(
        f"{path}: {counted(stats['known'], 'state')}, {counted(stats['claims'], 'claim')}",
        f"  states    {stats['states']:,} visited of {stats['known']:,} known",
        f"  claims    {stats['confirmed']:,} confirmed, {stats['refused']:,} refused, {stats['unchecked']:,} unchecked "
        f"({stats['doubtful']:,} of them doubtful); {stats['refuted']:,} were refuted",
        f"  settings  {kind}, an unchecked step counts {settings['hypothesis_cost']}",
        f"  journal   {counted(stats['journal'], 'entry', 'entries')}, head {report['head']}",
    )
    if report["first"] is not None:
        say(f"  start     {spelled(report['first'])}")
    for title, rows, total in (
        ("Left to check", report["frontier"], stats["unchecked"]),
        ("Led now here, now there", report["flapping"], stats["flapping"]),
    ):
        if rows:
            say("", f"{title} ({total:,}):", *columns([(spelled(r["state"]), spelled(r["action"])) for r in rows]))
            say(*_more(total - len(rows)))


def _of_state(known: WorldMap, state: Any) -> dict[str, Any]:
    shot = known.snapshot(state)
    claims = tuple(claim_row(claim) for claim in known.claims(state))
    return {"state": state, "visits": shot["visits"], "facts": known.facts(state), "claims": claims}


def claim_row(claim: Claim) -> dict[str, Any]:
    return {
        "action": claim.action,
        "to": claim.to,
        "status": claim.status,
        "source": claim.source,
        "taken": claim.taken,
        "refused": claim.refused,
        "doubtful": claim.doubtful,
        "outcomes": tuple({"to": to, "times": times} for to, times in claim.counts),
    }


def _say_state(report: dict[str, Any], most: int) -> None:
    say(f"{spelled(report['state'])}: visited {counted(report['visits'], 'time')}")
    say(*columns([(safe(name), words_of(value)) for name, value in report["facts"].items()]))
    claims = report["claims"]
    if claims:
        say("", f"What can be done there ({len(claims):,}):")
        say(*columns([_cells(claim) for claim in claims[:most]]), *_more(len(claims) - most))


def _cells(claim: dict[str, Any]) -> tuple[str, ...]:
    status = "doubtful" if claim["doubtful"] else "refused" if claim["refused"] else claim["status"]
    places = [f"{spelled(o['to'])} ({o['times']:,})" for o in claim["outcomes"]]
    to = " or ".join(places) if len(places) > 1 else "?" if claim["to"] is None else spelled(claim["to"])
    return spelled(claim["action"]), to, status, claim["source"], f"taken {counted(claim['taken'], 'time')}"


def _more(left: int) -> list[str]:
    return [f"  … and {left:,} more"] if left > 0 else []
