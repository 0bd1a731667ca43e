"""`surefoot check`: what a model keeps of a property."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from surefoot.cli.exits import Exit
from surefoot.cli.models import model_argument, nature_option, read_model
from surefoot.cli.showing import columns, json_option, say, say_json
from surefoot.cli.spelling import safe

if TYPE_CHECKING:
    from surefoot.checking.quantitative import Answer
    from surefoot.models.model import Model

__all__: list[str] = []

_HELP = """Work out what a MODEL keeps of a PROPERTY, with bounds that are proved.

Of a model with intervals both ends are told: with the probabilities that work against whoever picks actions, and with
those that work for them; with --nature only one of them.

\b
Examples:
  surefoot check lake.drn 'Pmax=? [ F "goal" ]'
  surefoot check lake.drn 'Pmax>=0.4 [ !"bad" U "goal" ]'

Exit codes: 0 it holds, or the number asked for is told; 1 it does not hold; 5 neither is proved: the bounds are too far
apart; 2 the property or the model cannot be read.
"""


@click.command("check", help=_HELP, short_help="Work out what a model keeps of a property.")
@model_argument
@click.argument("property", metavar="PROPERTY")
@nature_option
@click.option(
    "--tolerance",
    type=click.FloatRange(min=1e-13, max=1.0, min_open=True),
    default=1e-6,
    show_default=True,
    help="How far the middle of the bounds may be from the value, as a part of it.",
)
@click.option("--states", "of_states", is_flag=True, help="Tell the bounds, and the action to take, in every state.")
@json_option
def command(path: str, property: str, nature: str | None, tolerance: float, of_states: bool, as_json: bool) -> int:
    """Check."""
    from surefoot.checking.quantitative import check

    model, claims = read_model(path)
    natures = [nature or "adversarial"]
    if model.has_intervals and nature is None:
        natures.append("cooperative")
    worst, *others = [check(model, property, nature=one, tolerance=tolerance) for one in natures]  # type: ignore[arg-type]  # one of the two words
    best = others[0] if others else worst
    holds = worst.holds if worst.holds == best.holds else None
    asks = worst.holds is None and worst.solution is not None and "=?" in property
    report: dict[str, Any] = {
        "command": "check",
        "model": path,
        "property": property,
        "holds": holds,
        "lower": _number(_outer(min, worst.lower, best.lower)),
        "upper": _number(_outer(max, worst.upper, best.upper)),
        "natures": tuple({"nature": n, **_bounds(one)} for n, one in zip(natures, (worst, *others), strict=True)),
        "claims": claims,
    }
    if of_states:
        report["states"] = tuple(_states(model, worst, best))
    if as_json:
        say_json(report)
    else:
        _say(report, asks)
    return Exit.FINE if asks or holds else Exit.NO if holds is False else Exit.OPEN


def _outer(pick: Callable[[float, float], float], one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else pick(one, other)


def _bounds(answer: Answer) -> dict[str, Any]:
    found = {"lower": _number(answer.lower), "upper": _number(answer.upper), "holds": answer.holds}
    return found | {"status": answer.status.name.lower()}


def _number(value: float | None) -> Any:
    """Return a bound as JSON has it: infinity is a word there."""
    if value is None or abs(value) != float("inf"):
        return value
    return "infinity" if value > 0 else "-infinity"


def _states(model: Model, worst: Answer, best: Answer) -> list[dict[str, Any]]:
    """Return what is known of each state."""
    rows: list[dict[str, Any]] = []
    for state in range(model.n_states):
        row: dict[str, Any] = {"state": model.state_name(state)}
        if worst.solution is not None and best.solution is not None:
            ends = [*worst.solution.bounds(state), *best.solution.bounds(state)]
            row |= {"lower": _number(min(ends)), "upper": _number(max(ends))}
        if worst.states is not None:
            row["holds"] = bool(worst.states[state])
        if worst.policy is not None and model.has_actions and worst.policy[state] >= 0:
            row["action"] = model.action_name(int(model.choice_action[int(worst.policy[state])]))
        rows.append(row)
    return rows


def _say(report: dict[str, Any], asks: bool) -> None:
    holds, text = report["holds"], safe(report["property"])
    verdict = "" if asks else {True: ": holds", False: ": does not hold", None: ": neither is proved"}[holds]
    between = "" if report["lower"] is None else f"{',' if verdict else ':'} in [{report['lower']}, {report['upper']}]"
    say(f"{text}{verdict}{between}")
    if len(report["natures"]) > 1:
        words = {"adversarial": "probabilities against the choices", "cooperative": "probabilities with the choices"}
        said = {True: "holds", False: "does not hold", None: ""}
        rows = []
        for one in report["natures"]:
            bounds = "" if one["lower"] is None else f"in [{one['lower']}, {one['upper']}]"
            rows.append((words[one["nature"]], said[one["holds"]] or bounds))
        say(*columns(rows))
    for claim in report["claims"][:1]:
        say(f"  learned  {safe(claim)}")
    if "states" in report:
        table = []
        for one in report["states"]:
            bounds = f"in [{one['lower']}, {one['upper']}]" if "lower" in one else ""
            holds_here = "" if "holds" not in one else "holds" if one["holds"] else "does not hold"
            table.append((safe(one["state"]), bounds or holds_here, safe(one.get("action", ""))))
        say(*columns(table))
