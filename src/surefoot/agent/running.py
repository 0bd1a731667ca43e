"""Several episodes side by side, each process with a journal of its own, and what they learned put together after."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from surefoot import values
from surefoot.agent import loop, report
from surefoot.agent.agent import Agent
from surefoot.agent.episode import Episode
from surefoot.agent.episode_events import Learned
from surefoot.agent.knowledge_base import Knowledge
from surefoot.agent.replay import Divergence, Replayed, diff, replay
from surefoot.errors import BadArgument
from surefoot.knowledge.worldmap import WorldMap

__all__ = ["Many", "merge", "run_many"]


@dataclass(frozen=True, slots=True)
class Many:
    """What came of episodes side by side.

    Attributes:
        episodes: {seed: its episodes, in order}.
        journals: {seed: where its journal is}.
        failed: {seed: what was raised}, of the seeds whose process failed.

    Example:
        >>> bool(Many({7: ()}, {}, {})), bool(Many({}, {}, {7: "OSError: the disk is full"}))
        (True, False)
    """

    episodes: dict[int, tuple[Episode, ...]]
    journals: dict[int, Path]
    failed: dict[int, str]

    def __bool__(self) -> bool:
        """Say whether every process came to its end."""
        return not self.failed

    def replay(self, make: Callable[[Path], Agent]) -> dict[int, Replayed]:
        """Make every decision of every journal again; see `surefoot.agent.replay`.

        A decision belongs to the journal that it read, so each journal is replayed by itself: what is merged of them
        into one knowledge is what they learned, not their episodes.

        Args:
            make: what `run_many` was given: its agents know the vocabulary.

        Returns:
            {seed: what came of it}, of the seeds that have a journal.

        Cost: that of deciding once more.
        """
        found = {}
        for seed, path in self._there():
            with make(path).knowledge as knowledge:
                found[seed] = replay(knowledge)
        return found

    def diff(self, run_a: tuple[int, int], run_b: tuple[int, int]) -> Divergence | None:
        """Return where two episodes first went apart, each given as (seed, number in its journal); None: nowhere.

        Raises:
            BadArgument: there is no such journal, or no such episode in it.

        Cost: a pass over each journal.
        """
        for seed, _ in (run_a, run_b):
            if seed not in dict(self._there()):
                raise BadArgument(
                    f"there is no journal of the seed {seed!r}; there are {[s for s, _ in self._there()]}"
                )
        with Knowledge(self.journals[run_a[0]]) as one, Knowledge(self.journals[run_b[0]]) as other:
            return diff(one, run_a[1], run_b[1], other)

    def report(self, html: str | os.PathLike[str] | None = None) -> str:
        """Return what happened in all of them, in words; with `html` also write it as one readable page.

        Cost: a pass over each journal.
        """
        told = {}
        for seed, path in self._there():
            with Knowledge(path) as knowledge:
                told[f"seed {seed}"] = report.gather(knowledge)
        if html is not None:
            report.write_page(told, html)
        words = [f"{name}: {report.in_words(one)}" for name, one in told.items()]
        return "\n".join([*words, *(f"seed {seed}: failed: {why}" for seed, why in self.failed.items())])

    def _there(self) -> list[tuple[int, Path]]:
        """Return the seeds that have a journal, each with its path."""
        return [(seed, path) for seed, path in self.journals.items() if path.exists()]


def run_many(
    make: Callable[[Path], Agent],
    seeds: Iterable[int],
    folder: str | os.PathLike[str],
    *,
    episodes: int = 1,
    steps: int = 1_000,
    map: str = "main",
    workers: int | None = None,
) -> Many:
    """Play episodes in processes of their own, one for each seed, each with a journal of its own.

    Args:
        make: makes an agent whose knowledge is kept at the path that it is given: a function that a new process can
            import, since environments, goals and gates are code. The path of a journal that is there already goes on.
        seeds: a seed for each process, all different; episode n of one is reset with its own (seed, n).
        folder: where the journals are kept, `seed-7.db` for the seed 7; made when it is not there.
        episodes: how many episodes each plays, an int >= 1.
        steps: see `Agent.run`.
        map: see `Agent.run`.
        workers: how many processes at a time; None: as many as there are processors.

    Raises:
        BadArgument: a number is out of its range, or a seed comes twice.

    Example:
        >>> run_many(len, [1, 1], "journals")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: seeds must all be different ints >= 0, got [1, 1]
    """
    given = list(seeds)
    if any(type(seed) is not int or seed < 0 for seed in given) or len(set(given)) != len(given):
        raise BadArgument(f"seeds must all be different ints >= 0, got {given!r}")
    for name, number in (("episodes", episodes), ("workers", 1 if workers is None else workers)):
        if type(number) is not int or number < 1:
            raise BadArgument(f"{name} must be an int >= 1, got {number!r}")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    journals = {seed: place / f"seed-{seed}.db" for seed in given}
    played: dict[int, tuple[Episode, ...]] = {}
    failed: dict[int, str] = {}
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        jobs = {seed: pool.submit(_play, make, journals[seed], seed, episodes, steps, map) for seed in given}
        for seed, job in jobs.items():
            try:
                played[seed] = job.result()
            except Exception as error:  # told in the result: the others go on
                failed[seed] = f"{type(error).__name__}: {error}"
    return Many(played, journals, failed)


def _play(
    make: Callable[[Path], Agent], path: Path, seed: int, episodes: int, steps: int, map_: str
) -> tuple[Episode, ...]:
    """Play episodes; in a process of its own."""
    agent = make(path)
    agent.seed = seed
    with agent.knowledge:
        return tuple(_portable(agent.run(steps=steps, map=map_)) for _ in range(episodes))


def _portable(episode: Episode) -> Episode:
    """Return an episode that can be sent to another process: an error may hold what cannot."""
    return episode if episode.error is None else replace(episode, error=None)


def merge(knowledge: Knowledge, paths: Sequence[str | os.PathLike[str]] | str | os.PathLike[str]) -> dict[str, int]:
    """Take over what other journals know: maps, observations of actions, where goals were reached and what helped.

    Their episodes stay where they are: a decision belongs to the journal that it read. A journal that was merged before
    and has grown since is taken over from there.

    Args:
        knowledge: what is to know it; the other journals hold observations of the same vocabulary, or of any.
        paths: one journal, or several.

    Returns:
        {"events", "observations", "journals"}: how many map events, observations and journals were new.

    Raises:
        BadArgument: there is nothing at a path, or the knowledge has an action model of its own.

    Cost: folds the histories again.

    Example:
        >>> import os, tempfile
        >>> from surefoot.environments.corridor import Corridor
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     there = os.path.join(folder, "there.db")
        ...     with Knowledge(there) as other:
        ...         _ = Agent(Corridor(length=3), knowledge=other).run()
        ...     here = Knowledge()
        ...     merge(here, there)["journals"], Agent(Corridor(length=3), knowledge=here).run().steps
        (1, 3)
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    for path in given:
        if not os.path.exists(path):
            raise BadArgument(f"there is no journal to merge at {os.fspath(path)!r}")
    counts = {"events": 0, "observations": 0, "journals": 0}
    for path in given:
        with Knowledge(path, failures=None) as other:
            done = _merged(knowledge, other)
            if len(other.journal) == done:
                continue
            counts["journals"] += 1
            for name in sorted(other.experience.fold.version):
                counts["events"] += _merge_map(knowledge.map(name), other.map(name))
            counts["observations"] += _merge_actions(knowledge, other, done)
            _merge_experience(knowledge, other, again=done > 0)
    if counts["observations"]:
        knowledge.actions = knowledge.model(knowledge.journal)
    return counts


def _merged(knowledge: Knowledge, other: Knowledge) -> int:
    """Return how many entries of another journal were taken over before: up to a head that it had then."""
    count, found = len(other.journal), 0
    for head, length in knowledge.experience.fold.merged.items():
        if found < length <= count:
            (entry,) = other.journal.entries(length - 1, length)
            if entry.hash == head:
                found = length
    return found


def _merge_map(known: WorldMap, other: WorldMap) -> int:
    """Merge a map; where one of the two is of chance, so is the other."""
    if known.stochastic != other.stochastic:
        if known.stochastic:
            other = other.rebuild()
            other.stochastic = True
        else:
            known.stochastic = True
    return known.merge(other)


def _merge_actions(knowledge: Knowledge, other: Knowledge, since: int) -> int:
    """Record the observations that another journal holds from `since` on."""
    entries = other.journal.entries(since, kind="observe", stream="actions")
    records = [(entry.kind, values.decode_known(bytes(entry.raw))) for entry in entries]
    if records:
        loop.append(knowledge, records)
    return len(records)


def _merge_experience(knowledge: Knowledge, other: Knowledge, *, again: bool) -> None:
    """Record where another agent reached goals, and, the first time, what helped it."""
    fold = other.experience.fold
    targets: dict[str, Any] = {
        name: {goal: [values.decode(place) for place in places] for goal, places in goals.items()}
        for name, goals in fold.targets.items()
    }
    skills = [[goal, values.decode(action), *skill] for (goal, action), skill in sorted(fold.skills.items())]
    told = msgspec.Raw(values.encode([] if again else skills))
    head = other.head
    event = Learned(head.hash, head.length, msgspec.Raw(values.encode(targets)), told)
    loop.note(knowledge.experience, event)
