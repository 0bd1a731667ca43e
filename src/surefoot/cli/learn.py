"""`surefoot learn`: a model of what happened, with intervals that hold with a stated confidence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from surefoot.cli.exits import Exit, reading
from surefoot.cli.models import write_model
from surefoot.cli.showing import counted, json_option, say, say_json
from surefoot.cli.spelling import safe, spelled, state_of
from surefoot.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from surefoot.journal import Journal
    from surefoot.learners.counts import Counts, LearnedModel
    from surefoot.models.model import Model

__all__: list[str] = []

_LISTED = 8
"""So many maps are named in an error."""

_HELP = """Count what happened, as a JOURNAL tells it, and make an interval model of it: all true probabilities are
inside the intervals with the --confidence, on the assumptions that are told. The model is written where -o says, as
.drn, .umb or .tra, told by the end of the name.

A JOURNAL is what an agent or `surefoot explore` keeps; with --traces it is a file of traces, a JSON object a line:
{"state", "action", "to"} and perhaps "ended" and "reward"; an empty line begins a new episode.

\b
Examples:
  surefoot learn lake.map --start =0 -o lake.drn --label goal =15 --label bad =5 --label bad =7
  surefoot learn agent.journal --map main --pooled --support seen -o lake.drn
  surefoot learn traces.jsonl --traces --estimate -o frequencies.drn

Exit codes: 0 the model is made; 2 wrong usage, nothing was counted, or a label is that of no state; 4 the journal
cannot be read.
"""


@click.command("learn", help=_HELP, short_help="Make a model of what happened.")
@click.argument("path", metavar="JOURNAL", type=click.Path(dir_okay=False))
@click.option("-o", "--output", metavar="FILE", help="Write the model there: .drn, .umb or .tra. Without: only tell.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="That all intervals hold at once.")
@click.option(
    "--method",
    type=click.Choice(["clopper-pearson", "hoeffding", "anytime", "bayes", "linear"]),
    default="clopper-pearson",
    show_default=True,
    help="How intervals are made; anytime: for who stopped when it liked.",
)
@click.option("--estimate", is_flag=True, help="The frequencies instead of intervals; they promise nothing.")
@click.option("--pooled", is_flag=True, help="Count the outcomes of choices together that look alike.")
@click.option(
    "--support",
    type=click.Choice(["any", "seen"]),
    default="any",
    show_default=True,
    help="What may follow a choice: anything, or only what was seen to.",
)
@click.option("--choices", type=click.IntRange(min=1), help="How many choices there are at most, if that is known.")
@click.option("--window", type=click.IntRange(min=1), help="Only the latest so many outcomes of each choice count.")
@click.option("--map", "map_", metavar="NAME", help="Only what happened on that map.")
@click.option("--stream", metavar="NAME", help="Only that stream of the journal.")
@click.option(
    "--read",
    type=click.Choice(["auto", "agent", "map"]),
    default="auto",
    show_default=True,
    help="What to read: an agent's episodes, or what maps were told.",
)
@click.option(
    "--refusals",
    type=click.Choice(["stay", "skip"]),
    default="stay",
    show_default=True,
    help="A refusal is an outcome that stays where it was, or does not count.",
)
@click.option("--traces", is_flag=True, help="The file holds traces.")
@click.option("--start", metavar="STATE", help="Where episodes start. Without: as often in each state as they did.")
@click.option("--end", "ends", metavar="STATE", multiple=True, help="Episodes end there; maps do not say so.")
@click.option("--label", "labels", metavar="NAME STATE", nargs=2, multiple=True, help="A state has that label.")
@click.option("--unseen-label", "unseen_labels", metavar="NAME", multiple=True, help="What is not known may have it.")
@json_option
def command(
    path: str,
    output: str | None,
    confidence: float,
    method: Any,
    estimate: bool,
    pooled: bool,
    support: str,
    choices: int | None,
    window: int | None,
    labels: tuple[tuple[str, str], ...],
    unseen_labels: tuple[str, ...],
    as_json: bool,
    start: str | None,
    ends: tuple[str, ...],
    **read: Any,
) -> int:
    """Learn."""
    counts = _count(path, window, **read)
    for end in ends:
        counts.end(state_of(end))
    marks = _marks(labels)
    _check_marks(marks, counts, unseen_labels)
    given: dict[str, Any] = {"labels": _checks(marks)}
    if start is not None:
        given["initial"] = state_of(start)
    elif not counts.starts:
        known = ", ".join(spelled(state) for state in counts.states[:3])
        raise BadArgument(f"nothing says where episodes start: give --start STATE, one of {known}, …")
    learned: LearnedModel | None = None
    if not estimate:
        given |= {"confidence": confidence, "method": method, "unseen_labels": unseen_labels}
        given["support"] = "seen" if support == "seen" else None
        learned = _learn(counts, pooled, choices, given)
    elif pooled or unseen_labels:
        raise BadArgument("--estimate makes frequencies: leave out --pooled and --unseen-label")
    model = counts.estimate(**given) if learned is None else learned.model
    claims: tuple[str, ...] = ("an estimate: the frequencies, nothing is claimed",)
    if learned is not None:
        claims = (learned.claim, *learned.assumes)
    if output is not None:
        write_model(model, output, claims)
    report = _report(path, output, counts, model, learned, marks, claims)
    if as_json:
        say_json(report)
    else:
        _say(report)
    return Exit.FINE


def _count(path: str, window: int | None, traces: bool, **read: Any) -> Counts:
    """Count what a file tells."""
    from surefoot.journal import open_journal
    from surefoot.learners.counts import Counts
    from surefoot.learners.histories import count_journal, count_trace_file

    if not os.path.exists(path):
        raise BadArgument(f"there is no journal {path!r}: surefoot explore WORLD --map {path} makes one")
    counts = Counts(window=window)
    if traces:
        return count_trace_file(path, counts=counts)
    map_ = read.pop("map_")
    with reading(path), open_journal(path) as journal:
        count_journal(journal, map=map_, counts=counts, **read)
        if not counts.outcomes and map_ is not None:
            raise BadArgument(f"{path} tells of no outcome on the map {map_!r}; {_maps(journal)}")
    if not counts.outcomes:
        raise BadArgument(f"{path} tells of no outcome: nothing was counted")
    return counts


def _maps(journal: Journal) -> str:
    """Say which maps a journal tells of."""
    found = {entry.data["map"] for entry in journal.entries(kind="begin", stream="agent")}
    for kind in ("arrive", "refuse"):
        streams = {entry.stream for entry in journal.entries(kind=kind)}
        found |= {name.removeprefix("map ") for name in streams if name == "main" or name.startswith("map ")}
    names = ", ".join(repr(name) for name in sorted(found)[:_LISTED])
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return f"its maps are {names}{more}" if found else "it tells of no map at all"


def _check_marks(marks: Mapping[str, list[Any]], counts: Counts, unseen: tuple[str, ...]) -> None:
    """Refuse a label that no state has: what is typed for a state may be misspelt.

    Raises:
        BadArgument: none of a label's states was heard of, and what is not known may not have it either.
    """
    from surefoot import values

    known = {values.encode_state(state) for state in counts.states}
    for name, states in marks.items():
        if name not in unseen and not any(values.encode_state(state) in known for state in states):
            typed = ", ".join(spelled(state) for state in states)
            there = ", ".join(spelled(state) for state in counts.states[:3])
            raise BadArgument(
                f"no state that was heard of has the label {name!r}: {typed} is none of {there}, …; name one that is, "
                f"or say --unseen-label {name}, if what is not known may have it"
            )


def _marks(labels: tuple[tuple[str, str], ...]) -> dict[str, list[Any]]:
    """Return {label: the states that it was given to}."""
    marks: dict[str, list[Any]] = {}
    for name, state in labels:
        marks.setdefault(name, []).append(state_of(state))
    return marks


def _checks(marks: Mapping[str, list[Any]]) -> dict[str, Callable[[Any], bool]]:
    """Return labels as the learner takes them."""
    from surefoot import values

    def has(states: list[Any]) -> Callable[[Any], bool]:
        keys = {values.encode_state(state) for state in states}
        return lambda state: values.encode_state(state) in keys

    return {name: has(states) for name, states in marks.items()}


def _learn(counts: Counts, pooled: bool, choices: int | None, given: dict[str, Any]) -> LearnedModel:
    if not pooled:
        return counts.intervals(choices=choices, **given)
    if choices is not None:
        raise BadArgument("--pooled shares the error among pools: leave out --choices")
    from surefoot.learners.pooling import pooled as made

    return made(counts, **given)


def _report(
    path: str,
    output: str | None,
    counts: Counts,
    model: Model,
    learned: LearnedModel | None,
    marks: Mapping[str, list[Any]],
    claims: tuple[str, ...],
) -> dict[str, Any]:
    seen = {name: int(model.labels[name].sum()) for name in model.labels}
    report: dict[str, Any] = {
        "command": "learn",
        "journal": path,
        "model": output,
        "outcomes": counts.outcomes,
        "states": model.n_states,
        "choices": model.n_choices,
        "branches": model.n_branches,
        "labels": {name: seen.get(name, 0) for name in {**seen, **marks}},
        "claims": claims,
    }
    if learned is not None:
        report |= {"confidence": learned.confidence, "method": learned.method, "widest": learned.widest}
        report |= {"tried": int((learned.tried > 0).sum()), "pools": len(learned.pools)}
    return report


def _say(report: dict[str, Any]) -> None:
    say(
        f"learned from {report['journal']}: {counted(report['outcomes'], 'outcome')}",
        f"  model     {counted(report['states'], 'state')}, {counted(report['choices'], 'choice')}, "
        f"{counted(report['branches'], 'branch', 'branches')}",
        f"  labels    {', '.join(f'{safe(name)} ({many})' for name, many in report['labels'].items())}",
    )
    if "widest" in report:
        pools = f", {counted(report['pools'], 'pool')}" if report["pools"] else ""
        say(f"  intervals {report['tried']} choices tried{pools}; the widest interval of one is {report['widest']:.3g}")
    say(f"  claim     {safe(report['claims'][0])}")
    for assumed in report["claims"][1:]:
        say(f"  assumed   {safe(assumed)}")
    if report["model"] is not None:
        say(f"  written   {report['model']}")
