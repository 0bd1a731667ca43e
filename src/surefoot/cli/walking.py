"""What `explore` and `walk` share: their options, the progress on a terminal, Ctrl-C, and the report."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from surefoot.cli.exits import Exit
from surefoot.cli.maps import open_walked
from surefoot.cli.showing import columns, counted, say
from surefoot.cli.spelling import safe, spelled
from surefoot.cli.worlds import open_world
from surefoot.protocols import Closable

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from surefoot.agent.walker import Step, Walk
    from surefoot.knowledge.worldmap import WorldMap
    from surefoot.protocols import Environment

__all__ = [
    "MOST_STEPS",
    "Interruption",
    "Progress",
    "Walking",
    "exit_of_walk",
    "report_of",
    "say_walk",
    "walking",
    "walking_options",
]

F = TypeVar("F", bound=Callable[..., Any])
MOST_STEPS = 1_000_000_000
"""The most that `--steps` takes: more is a slip of the fingers, and would never end.

Example:
    >>> MOST_STEPS
    1000000000
"""


def walking_options(command: F) -> F:
    """Add the argument WORLD and the options that `explore` and `walk` share.

    Example:
        >>> walking_options(lambda: None).__name__
        '<lambda>'
    """
    for add in reversed(
        [
            click.argument("world", metavar="WORLD"),
            click.option("--map", "path", metavar="FILE", help="Keep the map there. Without: in memory."),
            click.option("--steps", type=click.IntRange(0, MOST_STEPS), help="Take at most so many steps."),
            click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The world's seed."),
            click.option("--same-seed", is_flag=True, help="Give each episode that seed, not one of its own."),
            click.option("-o", "options", multiple=True, metavar="NAME=VALUE", help="An option of the world."),
            click.option(
                "--without", multiple=True, metavar="PATTERN", help="Leave out actions like that, as in '*.pyc'."
            ),
            click.option(
                "--stochastic/--deterministic",
                default=None,
                help="Whether one action may lead to several places; a new map is deterministic.",
            ),
            click.option(
                "--retries",
                type=click.IntRange(min=0),
                default=2,
                show_default=True,
                help="How often to try again what faulted.",
            ),
            click.option(
                "--pause",
                type=click.FloatRange(min=0),
                default=1.0,
                show_default=True,
                help="Seconds before the first such try.",
            ),
        ]
    ):
        command = add(command)
    return command


@dataclass(frozen=True)
class Walking:
    """A world, its map, and the rules of a walk, as the options say.

    Attributes:
        env: the world.
        known: its map.
        rules: keyword arguments for `surefoot.agent.explore` and `walk`.
        interruption: whether Ctrl-C was pressed.
        path: where the map is kept, None for in memory.
        started: when, by `time.monotonic`.

    Example:
        >>> with walking("corridor:3", path=None, steps=5) as trip:
        ...     trip.rules["steps"], trip.known.stats()["states"]
        (5, 0)
    """

    env: Environment[Any, Any]
    known: WorldMap
    rules: dict[str, Any]
    interruption: Interruption
    path: str | None
    started: float


@contextmanager
def walking(
    world: str,
    *,
    path: str | None = None,
    steps: int | None = None,
    seed: int = 0,
    same_seed: bool = False,
    options: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    stochastic: bool | None = None,
    retries: int = 2,
    pause: float = 1.0,
) -> Iterator[Walking]:
    """Open a world and its map, show progress, heed Ctrl-C; close all of it at the end.

    Raises:
        BadArgument: see `open_world`.
        WorldUnavailable: the world is not there.
        JournalError: the map's journal cannot be read.

    Example:
        >>> with walking("corridor:3") as trip:
        ...     trip.env.length
        3
    """
    env = open_world(world, options, without=without)
    try:
        known = open_walked(path, stochastic=stochastic)
        try:
            with Interruption() as interruption, Progress(known, steps) as progress:
                rules: dict[str, Any] = {"steps": steps, "seed": seed, "reseed": not same_seed, "retries": retries}
                rules |= {"pause": pause, "interrupt": interruption, "on_step": progress.on_step}
                yield Walking(env, known, rules, interruption, path, time.monotonic())
        finally:
            known.close()
    finally:
        if isinstance(env, Closable):
            env.close()


class Interruption:
    """Turn the first Ctrl-C (or SIGTERM) into a wish to stop, which the walk asks for before each step.

    The second one is a `KeyboardInterrupt`.

    Example:
        >>> with Interruption() as interruption:
        ...     interruption()
        False
    """

    def __init__(self) -> None:
        """Notice nothing yet."""
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        """Say whether the walk is to stop."""
        return self.signal is not None

    @property
    def exit(self) -> Exit:
        """Return the exit code of a walk that was stopped."""
        return Exit.TERMINATED if self.signal == signal.SIGTERM else Exit.INTERRUPTED

    def __enter__(self) -> Interruption:
        """Listen, which Python allows to the main thread alone."""
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._notice)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Listen no more."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _notice(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number
        os.write(2, b"\nstopping after this step; once more to stop at once\n")


class Progress:
    """Show counts and the rate on the standard error, when that is a terminal.

    Args:
        known: the map.
        steps: how many steps are to be taken at most.

    Cost: asks the map for its counts so seldom that it takes a twentieth of the time.

    Example:
        >>> from surefoot import WorldMap
        >>> with Progress(WorldMap(), None) as progress:
        ...     progress.line()
        '0 steps, 0/s'
    """

    def __init__(self, known: WorldMap, steps: int | None) -> None:
        """Show nothing yet."""
        self._known, self._most = known, steps
        self._counts = {"accepted": 0, "refused": 0, "fault": 0}
        self._started = time.monotonic()
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._stats = ""
        self._next_stats = self._next_line = 0.0

    def __enter__(self) -> Progress:
        """Start to show."""
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

            shown = [BarColumn(bar_width=20)] if self._most else [SpinnerColumn()]
            self._bar = Progress(
                *shown, TextColumn("{task.description}", markup=False), console=Console(stderr=True), transient=True
            )
            self._bar.start()
            self._task = self._bar.add_task(self.line(), total=self._most)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear the line."""
        if self._bar is not None:
            self._bar.stop()

    def on_step(self, step: Step) -> None:
        """Count a step."""
        self._counts[step.verdict] += 1
        if self._bar is None or self._task is None:
            return
        now = time.monotonic()
        if now >= self._next_line:
            if now >= self._next_stats:
                stats = self._known.stats()
                self._stats = f", {stats['states']:,} states visited, {stats['unchecked']:,} unchecked"
                self._next_stats = now + max(0.5, 20 * (time.monotonic() - now))
            self._next_line = now + 0.1
            self._bar.update(self._task, description=self.line(), completed=sum(self._counts.values()))

    def line(self) -> str:
        """Return what is shown."""
        steps = sum(self._counts.values())
        rate = steps / max(time.monotonic() - self._started, 1e-6)
        odd = "".join(f", {self._counts[kind]:,} {name}" for kind, name in _ODD if self._counts[kind])
        return f"{counted(steps, 'step')}, {rate:,.0f}/s{odd}{self._stats}"


_ODD = (("refused", "refused"), ("fault", "faults"))


def exit_of_walk(went: Walk, trip: Walking) -> Exit:
    """Return the exit code for how a walk ended.

    Example:
        >>> from surefoot.agent.walks import Stopped, Walk
        >>> with walking("corridor:3") as trip:
        ...     [exit_of_walk(Walk(stopped, 0), trip).name for stopped in (Stopped.REACHED, Stopped.NO_WAY)]
        ['FINE', 'NO']
    """
    from surefoot.agent.walker import Stopped

    match went.stopped:
        case Stopped.REACHED | Stopped.NOTHING_LEFT:
            return Exit.FINE
        case Stopped.INTERRUPTED:
            return trip.interruption.exit
        case Stopped.FAULTED:
            return Exit.WORLD
        case _:
            return Exit.NO


def report_of(command: str, world: str, went: Walk, trip: Walking) -> dict[str, Any]:
    """Return what both commands say with `--json`.

    Example:
        >>> from surefoot.agent.walks import Stopped, Walk
        >>> with walking("corridor:3") as trip:
        ...     report_of("explore", "corridor:3", Walk(Stopped.NOTHING_LEFT, 0), trip)["stopped"]
        'nothing left'
    """
    return {
        "command": command,
        "world": world,
        "map": trip.path,
        "stopped": went.stopped.value,
        "why": went.why,
        "state": went.state,
        "steps": went.steps,
        "accepted": went.accepted,
        "refused": went.refused,
        "faults": went.faults,
        "episodes": went.episodes,
        "given_up": went.given_up,
        "seconds": round(time.monotonic() - trip.started, 3),
        "head": str(trip.known.head),
        "stats": trip.known.stats(),
    }


def say_walk(went: Walk, trip: Walking) -> None:
    """Print what both commands say to people, after their first line.

    Example:
        >>> from surefoot.agent.walks import Stopped, Walk
        >>> with walking("corridor:3") as trip:
        ...     say_walk(Walk(Stopped.NOTHING_LEFT, 0, steps=1, accepted=1), trip)
          steps     1: 1 accepted, 0 refused, 0 faults; 1 episode, 0.0 s
          states    0 visited of 0 known
        ...
    """
    from surefoot.agent.walker import Stopped

    stats = trip.known.stats()
    if went.why:
        say(f"  why       {safe(went.why)}")
    say(
        f"  steps     {went.steps:,}: {went.accepted:,} accepted, {went.refused:,} refused, "
        f"{counted(went.faults, 'fault')}; {counted(went.episodes, 'episode')}, "
        f"{time.monotonic() - trip.started:.1f} s",
        f"  states    {stats['states']:,} visited of {stats['known']:,} known",
        f"  claims    {stats['claims']:,}: {stats['confirmed']:,} confirmed, {stats['refused']:,} refused, "
        f"{stats['unchecked']:,} unchecked; {stats['refuted']:,} refuted on the way",
        f"  journal   {counted(stats['journal'], 'entry', 'entries')}, head {trip.known.head}",
        f"  map       {trip.path or 'in memory, and gone now: --map FILE keeps it'}",
    )
    if went.given_up:
        rows = [(spelled(state), spelled(action)) for state, action in went.given_up[:5]]
        say("", f"Given up ({len(went.given_up)}), for this walk only:", *columns(rows))
    if stats["unchecked"] and went.stopped is Stopped.NOTHING_LEFT and not went.given_up:
        say("", f"What is unchecked ({stats['unchecked']:,}) cannot be reached from where episodes start.")
    dice = [] if trip.known.settings.stochastic else trip.known.flapping(switches=1)
    if dice:
        say(
            "",
            f"{counted(len(dice), 'action')} led somewhere else than the time before. A world with dice? --stochastic",
        )
    if went.stopped in (Stopped.INTERRUPTED, Stopped.FAULTED, Stopped.OUT_OF_STEPS) and trip.path:
        typed = click.get_current_context().find_root().obj
        say("", "The journal is whole. To go on:", f"  surefoot {shlex.join(typed)}")
