"""Let agents solve scripted tasks with tools that refuse: a git repository, SQLite and PostgreSQL, again and again.

python benchmarks/bench_tools.py [--quick] [--induced] [--only git] [--jobs 1] [--out results/tools.json]

The unguarded agent takes the calls of a task in their order, from the first again after the last, until the task is
solved. The guarded ones are an `Agent` that carries its `Knowledge` from task to task: with the same calls in the same
order as its slow path, where it knows nothing better, or with a search of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from _harness import Report, Row, command_of, results_of
from _tool_tasks import GIT_WORDS, LIMIT, SHOP_WORDS, Task, git_tasks, shop_tasks
from surefoot import Agent, Knowledge, Vocabulary, values
from surefoot.errors import WorldUnavailable
from surefoot.testing.postgres import TemporaryPostgres

__all__ = ["Played", "Script", "main", "play", "unguarded"]

VISITS = 4
WHAT = {"refused": "refused calls", "solved": "tasks solved", "steps": "steps"}


@dataclass(frozen=True)
class Played:
    """What an agent came to in one task: its steps, its refusals, whether it solved it."""

    steps: int
    refused: int
    solved: bool
    foreseen: int = 0
    """Refusals of calls that the model had predicted to be refused."""


@dataclass
class Script:
    """A slow path that knows the calls of a task, in their order, and leaves out what may not be taken."""

    calls: tuple[Any, ...]
    at: int = 0
    __name__: str = field(default="script", init=False)

    def __call__(self, snapshot: dict[str, Any]) -> Any:
        keys = {values.encode_action(row["action"]): row for row in snapshot["options"]}
        around = [(self.at + n) % len(self.calls) for n in range(len(self.calls))]
        on_offer = [at for at in around if values.encode_action(self.calls[at]) in keys]
        free = [at for at in on_offer if keys[values.encode_action(self.calls[at])]["blocked"] is None]
        chosen = next(iter(free or on_offer), None)
        if chosen is None:
            return None
        self.at = chosen + 1
        return self.calls[chosen]


def unguarded(task: Task, world: Any) -> Played:
    """Take the calls in their order until the task is solved."""
    world.reset(seed=0)
    refused = 0
    for steps in range(LIMIT):
        outcome = world.step(task.script[steps % len(task.script)])
        refused += outcome.verdict == "refused"
        if outcome.done:
            return Played(steps + 1, refused, True)
    return Played(LIMIT, refused, False)


def play(task: Task, world: Any, knowledge: Knowledge, scripted: bool) -> Played:
    """Let an agent solve the task with what it knows."""
    agent = Agent(world, knowledge=knowledge, slow=Script(task.script) if scripted else None)
    episode = agent.run(seed=0, steps=LIMIT, map=task.name)
    foreseen = 0
    for decision in agent.decisions(episode.number):
        row = next((o for o in decision.options if o.action == decision.action), None)
        foreseen += row is not None and row.verdict == "refuse"
    return Played(episode.steps, episode.refused, bool(episode), foreseen)


def agents_of(words: Vocabulary, induced: bool) -> dict[str, tuple[Callable[[], Knowledge], bool] | None]:
    """Return {name: (makes its knowledge, whether it has the script)}; None for the unguarded agent."""
    more: dict[str, tuple[Callable[[], Knowledge], bool]] = {
        "script, induced": (partial(Knowledge, induce=True), True),
        "search, induced": (partial(Knowledge, induce=True), False),
    }
    return {
        "unguarded": None,
        "script, exact state": (Knowledge, True),
        "script, vocabulary": (lambda: Knowledge(vocabulary=words), True),
        "search, exact state": (Knowledge, False),
        "search, vocabulary": (lambda: Knowledge(vocabulary=words), False),
        **(more if induced else {}),
    }


def compare(
    report: Report, family: str, tasks: list[Task], words: Vocabulary, visits: int, induced: bool = False
) -> None:
    """Let every agent go through the tasks of a family, several times over."""
    with contextlib.ExitStack() as stack:
        worlds = [stack.enter_context(task.make()) for task in tasks]
        for who, how in agents_of(words, induced).items():
            knowledge = None if how is None else how[0]()
            lost: list[str] = []
            foreseen = 0
            for visit in range(1, visits + 1):
                played = [
                    unguarded(task, world) if how is None else play(task, world, knowledge, how[1])  # type: ignore[arg-type]  # an agent has one
                    for task, world in zip(tasks, worlds, strict=True)
                ]
                for what in ("refused", "solved", "steps"):
                    report.section = f"{family}, {len(tasks)} tasks: {WHAT[what]}, by visit"
                    report.note(f"{family}: {WHAT[what]}", who, visit, sum(getattr(one, what) for one in played), "")
                if visit == 1:
                    report.section = f"{family}: refused calls at the first visit, by task"
                    for number, one in enumerate(played, 1):
                        report.note(f"{family}: refused at first", who, number, one.refused, "")
                lost += [f"{t.name} (visit {visit})" for t, one in zip(tasks, played, strict=True) if not one.solved]
                foreseen += sum(one.foreseen for one in played)
            said = "" if how is None else f", {foreseen} calls taken that were predicted to be refused"
            report.notes.append(f"{family}, {who}: {', '.join(lost) if lost else 'no task'} lost{said}")
            print(report.notes[-1])


FAMILIES = ("git", "SQLite", "PostgreSQL")


@contextlib.contextmanager
def tasks_of(family: str) -> Iterator[tuple[list[Task], Vocabulary]]:
    """Make the tasks of a family, and its vocabulary; PostgreSQL runs as long as the block lasts.

    Raises:
        WorldUnavailable: PostgreSQL is not installed.
    """
    if family == "git":
        yield git_tasks(), GIT_WORDS
    elif family == "SQLite":
        yield shop_tasks(), SHOP_WORDS
    else:
        with TemporaryPostgres() as server:
            yield shop_tasks(server.url), SHOP_WORDS


def one(family: str, quick: bool, induced: bool) -> tuple[list[Row], list[str]]:
    """Let every agent go through a family; return the figures and the notes."""
    report = Report("", "")
    try:
        with tasks_of(family) as (tasks, words):
            compare(report, family, tasks[:2] if quick else tasks, words, 2 if quick else VISITS, induced)
    except WorldUnavailable as missing:
        print(f"{family} is left out: {missing}")
    return report.rows, report.notes


def judge(report: Report, family: str) -> None:
    """Say of a family whether what the issue asks for holds."""
    rows = [row for row in report.rows if row.what == f"{family}: {WHAT['refused']}" and row.who != "unguarded"]
    later = {row.who: row.value for row in rows if row.size > 1 and row.value}
    report.found(
        f"{family}: no call is refused from the second visit on", f"{later or 'none is, of any agent'}", not later
    )
    notes = [note for note in report.notes if note.startswith(f"{family}, ")]
    lost = [note for note in notes if ": no task lost" not in note]
    found = "; ".join(lost) or f"none is, of {len(notes)} agents"
    report.found(f"{family}: no task is lost that the unguarded agent solves", found, not lost)
    foreseen = [note for note in notes if ", 0 calls taken" not in note and "unguarded" not in note]
    found = "; ".join(foreseen) or "none is"
    report.found(f"{family}: no call is taken that is predicted to be refused", found, not foreseen)


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two tasks of each, twice, without PostgreSQL")
    parser.add_argument("--only", default="", help="the families whose name holds this text; prints, writes nothing")
    parser.add_argument(
        "--induced", action="store_true", help="agents that induce their conditions, too: it takes long"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many families at a time (default: 1)")
    parser.add_argument("--out", type=Path, default=results_of(__file__))
    options = parser.parse_args()
    report = Report("Tools that refuse", command_of(__file__))
    names = [name for name in FAMILIES if options.only in name and not (options.quick and name == "PostgreSQL")]
    asked = names, [options.quick] * len(names), [options.induced] * len(names)
    if options.jobs == 1:
        played = list(map(one, *asked))
    else:
        with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
            played = list(pool.map(one, *asked))
    for name, (rows, notes) in zip(names, played, strict=True):
        report.rows += rows
        report.notes += notes
        if rows:
            judge(report, name)
    if not options.only:
        report.write(options.out)
    print(report.table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
