"""`surefoot demo`: two real worlds explored, tasks with and without the map, an agent, a falsified record caught."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surefoot.cli.exits import Exit
from surefoot.cli.showing import columns, counted, json_option, say, say_json
from surefoot.cli.spelling import spelled
from surefoot.cli.walking import Progress

if TYPE_CHECKING:
    from surefoot.agent.walker import Walk
    from surefoot.cli.trial import Subject, Task, Trial
    from surefoot.knowledge.worldmap import WorldMap

__all__ = ["LEFT_OUT", "commands_subject", "files_subject", "run_demo"]

LEFT_OUT = ("site-packages", "dist-packages", "__pycache__")
"""Names that the demo leaves out of the standard library: what was installed beside it, and what running it made.

Example:
    >>> "__pycache__" in LEFT_OUT
    True
"""

_MOST = 20_000
"""After how many steps the agent's visit is given up."""

_HELP = """Explore the files of this Python's standard library and the commands of git (of pip, where there is no git);
then do tasks "get to X" in each, first with an empty map, then with the map carried over; compare with the fewest steps
possible, which a plain breadth-first search finds; then send an agent into the last world twice, and make each of its
decisions again from its journal; then falsify copies of the record, and show that each is caught.

Takes about a minute. Exit codes: 0 all held; 1 a walk was not the shortest, a decision came out otherwise when it was
made again, or a falsified copy was not caught.
"""


@click.command("demo", help=_HELP, short_help="All of it, on two real worlds.")
@click.option("--out", default="demo", show_default=True, metavar="FOLDER", help="Where the maps and the page go.")
@click.option("--tasks", type=click.IntRange(min=1), default=10, show_default=True, help="Tasks in each world.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the choice of the tasks.")
@json_option
def command(out: str, tasks: int, seed: int, as_json: bool) -> int:
    """Run the demo."""
    subjects = [("files", files_subject(sysconfig.get_path("stdlib")))]
    subjects += [("commands", subject) for subject in commands_subject()]
    report = run_demo(subjects, Path(out), tasks=tasks, seed=seed, tell=_nothing if as_json else say)
    if as_json:
        say_json({"command": "demo", **report})
    return Exit.FINE if report["ok"] else Exit.NO


def files_subject(root: str) -> Subject:
    """Return the tree of files below `root` as a world to be tried, without `LEFT_OUT`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files_subject(folder).fewest()
        {'.': 0}
    """
    from surefoot.cli.trial import Subject, fewest_in_files
    from surefoot.cli.worlds import Without
    from surefoot.environments.files import Files

    name = f"the files of {root}, without {', '.join(LEFT_OUT)}"
    return Subject(name, lambda: Without(Files(root), LEFT_OUT), lambda: fewest_in_files(root, LEFT_OUT))


def commands_subject() -> Iterator[Subject]:
    """Yield the commands of git as a world to be tried; of pip where there is no git; nothing where there is neither.

    Example:
        >>> [subject.name.split()[:3] for subject in commands_subject()]
        [['the', 'commands', 'of']]
    """
    from surefoot.cli.trial import Subject, fewest_in_commands
    from surefoot.environments.commands import Commands

    make: Callable[[], Commands]
    if shutil.which("git"):
        name = "the commands of git (their help)"

        def make() -> Commands:
            return Commands("git")
    elif subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
        name = "the commands of pip (their help)"

        def make() -> Commands:
            return Commands([sys.executable, "-m", "pip"], timeout=60.0)
    else:
        return
    yield Subject(name, make, lambda: fewest_in_commands(make()))


def run_demo(
    subjects: list[tuple[str, Subject]],
    out: Path,
    *,
    tasks: int,
    seed: int,
    tell: Callable[..., object] = say,
) -> dict[str, Any]:
    """Run the demo and return what came of it; `"ok"` says whether all held.

    Args:
        subjects: pairs (name of the map's file, world).
        out: the folder for the maps and the page, made when it is not there; only the demo's own files are replaced.
        tasks: how many tasks in each world.
        seed: of the choice of the tasks.
        tell: is given lines to print.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     (pathlib.Path(folder) / "tree" / "docs").mkdir(parents=True)
        ...     subject = files_subject(f"{folder}/tree")
        ...     out = pathlib.Path(folder, "out")
        ...     report = run_demo([("files", subject)], out, tasks=1, seed=0, tell=lambda *lines: None)
        >>> report["ok"], [task["carried"] for task in report["worlds"][0]["tasks"]], len(report["falsified"])
        (True, [1], 3)
        >>> report["agent"]["second"], report["agent"]["fewest"]
        (1, 1)
    """
    from surefoot.knowledge.worldmap import WorldMap

    start = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    worlds, tries, ok = [], list[str](), True
    with ExitStack() as stack:
        maps = {}
        for number, (name, subject) in enumerate(subjects, 1):
            for old in out.glob(f"{name}.map*"):
                old.unlink()
            known = maps[name] = stack.enter_context(WorldMap(out / f"{name}.map"))
            tell(f"{number}. {subject.name[0].upper()}{subject.name[1:]}", "")
            trial = _try(subject, known, tasks, seed, tell)
            ok &= trial.ok
            worlds.append({"name": subject.name, "map": str(out / f"{name}.map"), **_shown(trial)})
            tries += _worth_trying(out / f"{name}.map", known, trial)
        tell(f"{len(subjects) + 1}. An agent in {subject.name}", "")
        agent = _visit_twice(subject, max(trial.tasks, key=lambda task: task.fewest), out / "agent.journal", tell)
        ok &= agent["ok"]
        tell(f"{len(subjects) + 2}. The record", "")
        falsified = [row for name, known in list(maps.items())[:1] for row in _falsify(known, out / name, tell)]
        whole = {name: known.verify() for name, known in maps.items()}
        for name, checked in whole.items():
            known = maps[name]
            tell(f"   {out / name}.map: {'whole' if checked else checked.problem}, head {known.head}")
        last = list(maps)[-1]
        page = out / "map.html"
        page.write_text(maps[last].to_html(f"{last}.map"), encoding="utf-8")
    ok &= all(whole.values()) and all(row["caught"] for row in falsified)
    tell("", f"Open {page} in a browser: the map of the last world. Then try:", *tries[:4])
    tell(f"  {_program()} explore files:. --map here.map")
    tell("", f"{'All of this held' if ok else 'NOT ALL OF THIS HELD, see above'}; {time.monotonic() - start:.0f} s.")
    return {"ok": ok, "worlds": tuple(worlds), "agent": agent, "falsified": tuple(falsified), "page": str(page)}


def _try(subject: Subject, known: WorldMap, tasks: int, seed: int, tell: Callable[..., object]) -> Trial:
    """Run one trial and tell how it went."""
    from surefoot.cli.trial import run_trial

    def explored(went: Walk, seconds: float) -> None:
        stats, rate = known.stats(), went.steps / max(seconds, 1e-6)
        tell(
            f"   Explored in {counted(went.steps, 'step')} and {seconds:.1f} s ({rate:,.0f}/s): "
            f"{counted(stats['states'], 'state')}, {counted(stats['claims'], 'claim')}, "
            f"{stats['refused']:,} refused; {went.stopped.value}."
        )

    with Progress(known, None) as progress:
        trial = run_trial(subject, known, count=tasks, seed=seed, on_step=progress.on_step, on_explored=explored)
    rows: list[tuple[str, ...]] = [("steps to get to", "empty map", "carried map", "fewest possible")]
    rows += [_row(spelled(task.target), task.empty, task.carried, task.fewest) for task in trial.tasks]
    totals = [sum(getattr(task, name) for task in trial.tasks) for name in ("empty", "carried", "fewest")]
    rows.append(_row("all of them", *totals))
    tell("", *columns(_aligned(rows, _width()), indent="   "), "")
    wrong = [task for task in trial.tasks if not task.is_shortest]
    if wrong or trial.missing:
        tell(f"   WRONG: {len(wrong)} walks were not the shortest, {len(trial.missing)} states are missing or extra.")
    else:
        tell("   With the carried map each took the fewest steps possible (found without it, breadth first).")
    if trial.pays_after is not None:
        made = counted(trial.explored.steps, "step")
        tell(f"   Making the map took {made}, once: it pays after {counted(trial.pays_after, 'task')} like these.")
    tell("")
    return trial


def _visit_twice(subject: Subject, task: Task, path: Path, tell: Callable[..., object]) -> dict[str, Any]:
    """Let an agent find its way to a target, twice, and make its decisions again from the journal."""
    from surefoot.agent.agent import Agent
    from surefoot.agent.knowledge_base import Knowledge

    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    with Knowledge(path) as knowledge:
        knowledge.goal("there", done=lambda state: state == task.target)
        agent = Agent(subject.make(), knowledge=knowledge)
        first, second = (agent.run(steps=_MOST) for _ in range(2))
        replayed = agent.replay()
    rows: list[tuple[str, ...]] = [("steps to get to", "first visit", "second visit", "fewest possible")]
    rows.append(_row(spelled(task.target), first.steps, second.steps, task.fewest))
    tell(*columns(_aligned(rows, _width()), indent="   "), "")
    made = f"{counted(replayed.decisions, 'decision')} replayed"
    tell(f"   {made}, all equal." if replayed.ok else f"   WRONG: {made}, then {replayed.first}", "")
    return {
        "ok": bool(first) and bool(second) and second.steps == task.fewest and replayed.ok,
        "target": task.target,
        "first": first.steps,
        "second": second.steps,
        "fewest": task.fewest,
        "replayed": replayed.decisions,
    }


def _row(name: str, *numbers: int) -> tuple[str, ...]:
    return (name, *(f"{number:,}" for number in numbers))


def _aligned(rows: list[tuple[str, ...]], width: int) -> Iterator[tuple[str, ...]]:
    """Yield rows with their numbers to the right, and long names cut in the middle so that the table fits."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    room = max(20, width - 3 - sum(widths[1:]) - 2 * (len(widths) - 1))
    for name, *numbers in rows:
        if len(name) > room:
            name = f"{name[: room // 2 - 1]}…{name[-(room - room // 2) :]}"
        yield name, *(number.rjust(widths[place]) for place, number in enumerate(numbers, 1))


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def _shown(trial: Trial) -> dict[str, Any]:
    """Return a trial as plain data."""

    def of(task: Task) -> dict[str, Any]:
        return {"target": task.target, "empty": task.empty, "carried": task.carried, "fewest": task.fewest}

    return {
        "ok": trial.ok,
        "steps": trial.explored.steps,
        "seconds": round(trial.seconds, 3),
        "stats": dict(trial.stats),
        "tasks": tuple(map(of, trial.tasks)),
        "missing": trial.missing,
        "pays_after": trial.pays_after,
    }


def _falsify(known: WorldMap, base: Path, tell: Callable[..., object]) -> Iterator[dict[str, Any]]:
    """Falsify copies of a journal in three ways, and tell whether each was caught."""
    from surefoot.cli import tampering
    from surefoot.journal import open_journal

    head = known.head
    length = counted(head.length, "entry", "entries")
    tell(f"   {length} in {base.name}.map; its head, noted down elsewhere: {head.length}:{head.hash[:12]}…")
    ways: list[tuple[str, Callable[[Path], object], bool]] = [
        ("one letter of one entry changed", tampering.change_a_word, False),
        ("the last 3 entries cut off", tampering.cut_the_tail, True),
        ("one letter changed, all hashes after it made anew", tampering.forge, True),
    ]
    for what, falsify, needs_head in ways:
        copy = base.with_name(f"{base.name}-falsified.jsonl")
        copy.unlink(missing_ok=True)
        known.rebuild().save(copy)
        falsify(copy)
        with open_journal(copy) as journal:
            alone, against = journal.verify(), journal.verify(head=head)
        copy.unlink()
        caught = not against and bool(alone) == needs_head
        shown = against if needs_head else alone
        tell(f"   A copy with {what}:")
        if needs_head:
            tell("     alone it looks whole; against the head:")
        tell(f"     {'CAUGHT' if caught else 'NOT CAUGHT'}: {shown.problem}")
        yield {"what": what, "caught": caught, "problem": shown.problem, "needs_head": needs_head}
    tell("")


def _worth_trying(path: Path, known: WorldMap, trial: Trial) -> list[str]:
    """Return commands that ask the map of a world."""
    start, target = known.states()[0], max(trial.tasks, key=lambda task: task.fewest).target
    way = known.path(start, {target})
    (first, action), (last, _) = way[0], way[-1]
    quoted = [shlex.quote(spelled(value)) for value in (start, target, last, first, action)]
    return [
        f"  {_program()} way --map {path} --from {quoted[0]} --to {quoted[1]}",
        f"  {_program()} show --map {path} {quoted[2]}",
        f"  {_program()} why --map {path} {quoted[3]} {quoted[4]}",
        f"  {_program()} verify --map {path}",
    ]


def _program() -> str:
    """Return how to call this program from here."""
    return "surefoot" if shutil.which("surefoot") else os.path.relpath(sys.argv[0])


def _nothing(*lines: str) -> None:
    """Print nothing."""
