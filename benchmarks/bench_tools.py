"""Let agents solve scripted tasks with tools that refuse: a git repository, SQLite and PostgreSQL, again and again.

nice python benchmarks/bench_tools.py [--quick] [--induced] [--only git] [--out results/tools.json]

The unguarded agent takes the calls of a task in their order, from the first again after the last, until the task is
solved. The guarded ones are an `Agent` that carries its `Knowledge` from task to task: with the same calls in the same
order as its slow path, where it knows nothing better, or with a search of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from _harness import Report, command_of, results_of
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


@contextlib.contextmanager
def families(only: str, quick: bool) -> Iterator[list[tuple[str, list[Task], Vocabulary]]]:
    """Make the families of tasks whose name holds a text; PostgreSQL runs as long as the block lasts."""
    found = [("git", git_tasks(), GIT_WORDS), ("SQLite", shop_tasks(), SHOP_WORDS)]
    with contextlib.ExitStack() as stack:
        if not quick and (not only or only in "PostgreSQL"):
            try:
                server = stack.enter_context(TemporaryPostgres())
                found.append(("PostgreSQL", shop_tasks(server.url), SHOP_WORDS))
            except WorldUnavailable as missing:
                print(f"PostgreSQL is left out: {missing}")
        kept = [family for family in found if only in family[0]]
        yield [(name, tasks[:2] if quick else tasks, words) for name, tasks, words in kept]


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two tasks of each, twice, without PostgreSQL")
    parser.add_argument("--only", default="", help="the families whose name holds this text; prints, writes nothing")
    parser.add_argument(
        "--induced", action="store_true", help="agents that induce their conditions, too: it takes long"
    )
    parser.add_argument("--out", type=Path, default=results_of(__file__))
    options = parser.parse_args()
    report = Report("Tools that refuse", command_of(__file__))
    with families(options.only, options.quick) as found:
        for family, tasks, words in found:
            compare(report, family, tasks, words, 2 if options.quick else VISITS, options.induced)
    if not options.only:
        report.write(options.out)
    print(report.table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
