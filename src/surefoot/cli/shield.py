"""`surefoot shield`: which actions can still keep a property."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surefoot.cli.exits import Exit
from surefoot.cli.models import model_argument, nature_option, read_model, state_number
from surefoot.cli.showing import counted, json_option, say, say_json
from surefoot.cli.spelling import safe
from surefoot.cli.writing import write_whole

if TYPE_CHECKING:
    from surefoot.checking.shield import Shield

__all__: list[str] = []

_HELP = """Say which actions of a MODEL can still keep a PROPERTY, such as 'P>=0.95 [ G !"bad" ]', and why the others
cannot. In a model with intervals an action is allowed only if the property can be kept whatever the probabilities are.

\b
Examples:
  surefoot shield lake.drn 'P>=0.9 [ G !"bad" ]'
  surefoot shield lake.drn 'P>=0.9 [ G !"bad" ]' --state =14
  surefoot shield lake.drn 'P>=0.9 [ G !"bad" ]' -o shield.json

Exit codes: 0 the property can be kept from where episodes start, or from --state; 1 it cannot; 2 the property or the
model cannot be read.
"""


@click.command("shield", help=_HELP, short_help="Say which actions can still keep a property.")
@model_argument
@click.argument("property", metavar="PROPERTY")
@nature_option
@click.option("--state", "where", metavar="STATE", help="Tell of one state, with the reasons.")
@click.option("--fallback", is_flag=True, help="Allow the best actions where none keeps the property.")
@click.option("--most", type=click.IntRange(min=0), default=50, show_default=True, help="List at most so many states.")
@click.option("-o", "--output", metavar="FILE", help="Write all of it there, as JSON.")
@json_option
def command(
    path: str,
    property: str,
    nature: str | None,
    where: str | None,
    fallback: bool,
    most: int,
    output: str | None,
    as_json: bool,
) -> int:
    """Shield."""
    from surefoot.checking.shield import shield

    model, claims = read_model(path)
    made = shield(
        model,
        property,
        nature=nature or "adversarial",  # type: ignore[arg-type]  # one of the two words
        fallback="best" if fallback else "none",
    )
    number = None if where is None else state_number(model, where)
    here = [number] if number is not None else [int(state) for state in model.initial.nonzero()[0]]
    keeps = all(bool(made.keeps[state]) for state in here)
    report = {
        "command": "shield",
        "model": path,
        "property": property,
        "keeps": keeps,
        "allowed": int(made.allowed.sum()),
        "choices": model.n_choices,
        "claims": claims,
    }
    states = range(model.n_states) if number is None else (number,)
    rows = tuple(_of_state(made, state) for state in states)
    full = {**report, "states": rows}
    if output is not None:
        write_whole(Path(output), json.dumps(full, ensure_ascii=False) + "\n")
    if as_json:
        say_json(full)
    else:
        _say(report, rows, most if number is None else 1, number is not None)
        if output is not None:
            click.echo(f"wrote {output}: {counted(len(rows), 'state')}", err=True)
    return Exit.FINE if keeps else Exit.NO


def _of_state(made: Shield, state: int) -> dict[str, Any]:
    """Return what may be done in a state, and why not the rest."""
    model = made.model
    allowed, refused = [], []
    for choice in model.choices(state):
        action = int(model.choice_action[choice])
        name = model.action_name(action)
        if made.allowed[choice]:
            allowed.append(name)
        else:
            refused.append({"action": name, "worth": float(made.worth[choice]), "why": made.why(state, action)})
    shown = {"state": model.state_name(state), "keeps": bool(made.keeps[state])}
    return {**shown, "allowed": tuple(allowed), "refused": tuple(refused)}


def _say(report: dict[str, Any], states: tuple[dict[str, Any], ...], most: int, reasons: bool) -> None:
    kept = "can be kept" if report["keeps"] else "cannot be kept"
    from_where = f"from {safe(states[0]['state'])}" if reasons else "from the start"
    share = f"{report['allowed']:,} of {counted(report['choices'], 'choice')} allowed"
    say(f"{safe(report['property'])}: {kept} {from_where}; {share}")
    for claim in report["claims"][:1]:
        say(f"  learned  {safe(claim)}")
    for one in states[:most]:
        allowed = ", ".join(safe(name) for name in one["allowed"]) or "nothing"
        refused = ", ".join(safe(row["action"]) for row in one["refused"])
        if not one["allowed"] and not one["refused"]:
            say(f"  {safe(one['state'])}: the end")
        else:
            say(f"  {safe(one['state'])}: {allowed}{f'; refused: {refused}' if refused else ''}")
        if reasons:
            say(*(f"    {safe(row['why'])}" for row in one["refused"]))
    if len(states) > most:
        say(f"  … and {counted(len(states) - most, 'state')} more: --most, or --json")
