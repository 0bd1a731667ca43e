"""What the demo measures: a world explored once, and tasks "get to X" with an empty map and with the one carried over.

The fewest possible steps come from somewhere else than our map: from a plain breadth-first search over what the
operating system lists (`fewest_in_files`), or over what the help pages list (`fewest_in_commands`).
"""

from __future__ import annotations

import os
import random
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot import values
from surefoot.agent import explore, walk
from surefoot.agent.walker import Step, Walk
from surefoot.environments.commands import Commands
from surefoot.errors import BadArgument
from surefoot.knowledge.worldmap import WorldMap
from surefoot.protocols import Environment

__all__ = ["Subject", "Task", "Trial", "choose", "fewest_in_commands", "fewest_in_files", "run_trial"]


@dataclass(frozen=True)
class Subject:
    """A world to be tried.

    Attributes:
        name: what to call it.
        make: makes the world anew.
        fewest: finds, without our map, each state that can be reached and the fewest steps to it.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> Subject("a corridor", Corridor, lambda: {0: 0, 1: 1, 2: 2, 3: 3}).make().length
        3
    """

    name: str
    make: Callable[[], Environment[Any, Any]]
    fewest: Callable[[], Mapping[Any, int]]


@dataclass(frozen=True)
class Task:
    """A task "get to `target`", and how many steps it took.

    Attributes:
        target: the state.
        fewest: the fewest steps possible.
        empty: how many it took with an empty map.
        carried: how many with the map carried over.

    Example:
        >>> Task("docs/index.md", fewest=2, empty=71, carried=2).is_shortest
        True
    """

    target: Any
    fewest: int
    empty: int
    carried: int

    @property
    def is_shortest(self) -> bool:
        """Say whether the carried map led there in the fewest steps."""
        return self.carried == self.fewest


@dataclass(frozen=True)
class Trial:
    """How a trial went.

    Attributes:
        explored: the exploration that made the map.
        seconds: how long that took.
        stats: the map's counts after it.
        tasks: the tasks.
        missing: states that our map has and the search does not, or the other way round; there should be none.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> subject = Subject("a corridor", Corridor, lambda: {0: 0, 1: 1, 2: 2, 3: 3})
        >>> went = run_trial(subject, WorldMap(), count=1, seed=0)
        >>> went.ok, went.tasks[0], went.pays_after
        (True, Task(target=3, fewest=3, empty=8, carried=3), 2)
    """

    explored: Walk
    seconds: float
    stats: Mapping[str, int]
    tasks: tuple[Task, ...]
    missing: tuple[Any, ...]

    @property
    def ok(self) -> bool:
        """Say whether each task took the fewest steps with the carried map, and the map is the world."""
        return bool(self.explored) and not self.missing and all(task.is_shortest for task in self.tasks)

    @property
    def pays_after(self) -> int | None:
        """Return after how many tasks like these the exploration has paid for itself, None for never."""
        saved = sum(task.empty - task.carried for task in self.tasks)
        if saved <= 0:
            return None
        return -(-self.explored.steps * len(self.tasks) // saved)


def run_trial(
    subject: Subject,
    known: WorldMap,
    *,
    count: int,
    seed: int,
    on_step: Callable[[Step], object] | None = None,
    on_explored: Callable[[Walk, float], object] | None = None,
    on_task: Callable[[Task], object] | None = None,
) -> Trial:
    """Explore a world, then do tasks in it: first each with an empty map, then with the map carried over.

    Args:
        subject: the world.
        known: an empty map; it is carried over.
        count: how many tasks.
        seed: of the choice of the tasks.
        on_step: called with each step.
        on_explored: called after the exploration, with how many seconds it took.
        on_task: called after each task.

    Raises:
        BadArgument: a task was not done: its target cannot be reached.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> subject = Subject("a corridor", Corridor, lambda: {0: 0, 1: 1, 2: 2, 3: 3})
        >>> run_trial(subject, WorldMap(), count=2, seed=0).tasks
        (Task(target=2, fewest=2, empty=5, carried=2), Task(target=3, fewest=3, empty=8, carried=3))
    """
    start = time.monotonic()
    explored = explore(subject.make(), known, on_step=on_step, keep=0)
    seconds = time.monotonic() - start
    stats = known.stats()
    if on_explored is not None:
        on_explored(explored, seconds)
    fewest = subject.fewest()
    there = values.ExactDict(fewest.items())
    unvisited = values.ExactDict((state, None) for state in known.unvisited())
    visited = values.ExactDict((state, None) for state in known.states() if state not in unvisited)
    missing = [state for state in visited if state not in there] + [state for state in there if state not in visited]
    tasks = []
    for target in choose(fewest, count, seed):
        steps = []
        for carried in (WorldMap(), known):
            went = walk(subject.make(), carried, {target}, on_step=on_step, keep=0)
            if not went:
                raise BadArgument(f"{target!r} was not reached in {subject.name}: {went.stopped.value}")
            steps.append(went.steps)
        tasks.append(Task(target, fewest[target], *steps))
        if on_task is not None:
            on_task(tasks[-1])
    return Trial(explored, seconds, stats, tuple(tasks), tuple(missing))


def choose(fewest: Mapping[Any, int], count: int, seed: int) -> list[Any]:
    """Return targets, by chance from among the deepest fifth (or the deepest `count`, if that is more).

    Example:
        >>> choose({"near": 1, "far": 4, "farther": 5, "here": 0}, count=2, seed=0)
        ['far', 'farther']
    """
    deepest = sorted(fewest, key=lambda state: (-fewest[state], values.order(state)))
    pool = deepest[: max(count, len(deepest) // 5)]
    chosen = random.Random(seed).sample(pool, min(count, len(pool)))
    return sorted(chosen, key=values.order)


def fewest_in_files(root: str | os.PathLike[str], without: Collection[str] = ()) -> dict[str, int]:
    """Return the fewest steps from `root` to each place below it, by reading the directories breadth first.

    Args:
        root: the directory.
        without: names that are left out.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     (pathlib.Path(folder) / "docs" / "img").mkdir(parents=True)
        ...     fewest_in_files(folder)
        {'.': 0, 'docs': 1, 'docs/img': 2}
    """
    found = {".": 0}
    queue = deque([(".", Path(root))])
    while queue:
        place, path = queue.popleft()
        for entry in _entries(path):
            if entry.name in without:
                continue
            name = values.name_of_path(entry.name)
            there = name if place == "." else f"{place}/{name}"
            if entry.is_dir(follow_symlinks=False):
                if not _may_read(entry.path):
                    continue
                queue.append((there, Path(entry.path)))
            found[there] = found[place] + 1
    return found


def _entries(path: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        yield from sorted(entries, key=lambda entry: entry.name)


def _may_read(path: str) -> bool:
    """Say whether a directory can be listed; one that cannot be is a place nobody gets to."""
    try:
        os.scandir(path).close()
    except PermissionError:
        return False
    return True


def fewest_in_commands(world: Commands) -> dict[tuple[str, ...], int]:
    """Return the fewest steps from the root to each command, by reading the help pages breadth first.

    Example:
        >>> import sys
        >>> fewest_in_commands(Commands([sys.executable, "-m", "json.tool"]))
        {('json.tool',): 0}
    """
    root = world.reset()
    found = {root: 0}
    queue = deque([root])
    while queue:
        place = queue.popleft()
        for word in world.actions(place):
            there = (*place, word)
            if word != ".." and world.describe(there)["kind"] == "command":
                found[there] = found[place] + 1
                queue.append(there)
    return found
