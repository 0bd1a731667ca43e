"""Let two agents learn the same worlds side by side: ours and solvi's, 12 episodes each, and time their steps.

python benchmarks/bench_agent.py [--quick] [--out results/agent.json]

Both get the same worlds, seeds, step limits and goals, and no vocabulary; in one world both get the same vocabulary. A
world's figure for an episode is its number of steps; an episode that was not solved is marked in the table, and counts
with the steps it took.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from _agent_worlds import WORLDS, Grid, Theirs, World
from _harness import Report, Row, Sample, Target, command_of, quiet
from surefoot import Agent, Knowledge, Vocabulary

__all__ = ["main"]

EPISODES = 12
SEEDS = 3
TARGETS = [
    Target("a step at step 500: at least 5 times solvi's", "one step, around step 500", at_least=5.0, size=500),
    Target("a step at step 7,000: at least 30 times solvi's", "one step, around step 7,000", at_least=30.0, size=7_000),
]


def ours(world: World, seed: int) -> list[tuple[int, bool]]:
    """Return (steps, solved) of our episodes."""
    words = world.words
    knowledge = Knowledge() if words is None else Knowledge(vocabulary=Vocabulary(words[0], only=words[1]))
    for name, (done, requires) in world.goals.items():
        knowledge.goal(name, done, requires=requires)
    agent = Agent(world.make(), knowledge=knowledge)
    episodes = [agent.run(seed=1000 * seed + n, steps=world.limit) for n in range(EPISODES)]
    replayed = agent.replay()
    assert replayed.ok, replayed.first
    return [(episode.steps, bool(episode)) for episode in episodes]


def theirs(world: World, seed: int) -> list[tuple[int, bool]]:
    """Return (steps, solved) of solvi's episodes."""
    from solvi import Agent as SolviAgent
    from solvi import Knowledge as SolviKnowledge
    from solvi.core.knowledge import Vocabulary as SolviVocabulary

    knowledge = SolviKnowledge()
    if world.words is not None:
        conditions, only = world.words
        knowledge = SolviKnowledge(vocabulary=SolviVocabulary(conditions, only=only))
    for name, (done, requires) in world.goals.items():
        knowledge.goal(name, done, requires=requires)
    shown = Ending(Theirs(world.make()))
    agent = SolviAgent(shown, knowledge=knowledge)
    found = []
    for n in range(EPISODES):
        shown.over = False
        told = agent.run(seed=1000 * seed + n, steps=world.limit, map="main")
        goals = set(told.get("goals", told.get("goals_done", ())))
        found.append((int(told["steps"]), shown.over or (bool(world.goals) and goals >= set(world.goals))))
    return found


class Ending:
    """Remember whether an environment said done."""

    def __init__(self, world: Any) -> None:
        self._world, self.over = world, False

    def reset(self, seed: int | None = None) -> Any:
        return self._world.reset(seed=seed)

    def actions(self, state: Any) -> list[Any]:
        return list(self._world.actions(state))

    def step(self, action: Any) -> Any:
        outcome = self._world.step(action)
        self.over = self.over or outcome.done
        return outcome


def best_success(slip: float, side: int, limit: int, episodes: int = 400) -> tuple[float, float]:
    """Return the success rate and the mean steps of the optimal policy of a slippery grid, by value iteration."""
    world = Grid(side, slip=slip)
    moves = {"down": (0, 1), "left": (-1, 0), "right": (1, 0), "up": (0, -1)}
    goal = (side - 1, side - 1)
    value = np.zeros((side, side))

    def to(cell: tuple[int, int], way: tuple[int, int]) -> tuple[int, int]:
        there = cell[0] + way[0], cell[1] + way[1]
        return there if 0 <= there[0] < side and 0 <= there[1] < side else cell

    def cost(cell: tuple[int, int], way: tuple[int, int]) -> float:
        sides = ((way[1], way[0]), (-way[1], -way[0]))
        return float(1 + (1 - slip) * value[to(cell, way)] + slip / 2 * sum(value[to(cell, turn)] for turn in sides))

    for _ in range(500):
        for cell in np.ndindex(side, side):
            if cell != goal:
                value[cell] = min(cost(cell, way) for way in moves.values())
    solved, steps = 0, []
    for seed in range(episodes):
        at, count = world.reset(seed=seed), 0
        while count < limit and at != goal:
            here = at
            at = world.step(min(moves, key=lambda name, here=here: cost(here, moves[name]))).state  # type: ignore[misc]  # its argument is a default
            count += 1
        solved += at == goal
        steps.append(count)
    return solved / episodes, statistics.fmean(steps)


def compare(report: Report, name: str, world: World, peer: bool) -> None:
    """Let both play one world, and write down what came of it."""
    report.section = name
    for who, play in (("surefoot", ours), ("solvi", theirs)):
        if who == "solvi" and not peer:
            continue
        runs = []
        began = time.process_time()
        for seed in range(SEEDS if world.fewest is None and not world.goals else 1):
            runs.append(play(world, seed))
        cpu = time.process_time() - began
        solved = sum(well for run in runs for _, well in run)
        total = sum(len(run) for run in runs)
        for episode in range(EPISODES):
            steps = statistics.fmean(run[episode][0] for run in runs)
            report._put(Row(f"{name}: steps", who, episode + 1, value=steps, unit="steps", section=name))
        taken = sum(steps for run in runs for steps, _ in run)
        fewest = f", the fewest possible is {world.fewest}" if world.fewest is not None else ""
        second = f"; the second takes {runs[0][1][0]}{fewest}" if world.fewest is not None else ""
        report.notes.append(
            f"{name}: {who} solves {solved} of {total} episodes ({world.limit} steps at most){second}; "
            f"{taken:,} steps in {cpu:.1f} s of CPU"
        )
        print(report.notes[-1])


MARKS = (500, 1_000, 7_000, 10_000)


def speed(report: Report, peer: bool, last: int) -> None:
    """Time the steps of a learned route, early and late: an agent for each mark, and all of them take turns."""
    report.section = "one step of a learned route, 8x8 grid, 5 actions"
    agents: dict[tuple[str, int], Callable[[], int]] = {}
    for mark in [mark for mark in MARKS if mark <= last]:
        agents["surefoot", mark] = _walker_of_ours()
        if peer and mark in (500, 7_000):
            agents["solvi", mark] = _walker_of_theirs()
    for (_, mark), play in agents.items():
        done = 0
        while done < mark - 500:
            done += play()
    samples: dict[tuple[str, int], list[Sample]] = {key: [] for key in agents}
    with quiet():
        for _ in range(9):
            for key, play in agents.items():
                counted = 0
                wall, cpu = time.perf_counter(), time.process_time()
                while counted < 84:
                    counted += play()
                samples[key].append(Sample(time.process_time() - cpu, time.perf_counter() - wall, counted))
    for (who, mark), taken in samples.items():
        report.add(f"one step, around step {mark:,}", who, mark, taken)


def _walker_of_ours() -> Callable[[], int]:
    agent = Agent(Grid(8, press=True), knowledge=Knowledge())
    return lambda: agent.run(seed=1, steps=1_000).steps


def _walker_of_theirs() -> Callable[[], int]:
    from solvi import Agent as SolviAgent
    from solvi import Knowledge as SolviKnowledge

    agent = SolviAgent(Theirs(Grid(8, press=True)), knowledge=SolviKnowledge())
    return lambda: int(agent.run(seed=1, steps=1_000, map="main")["steps"])


def main() -> int:
    """Run it; return 1 when a target is missed and that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two worlds, without the peer, and short timings")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "agent.json")
    parser.add_argument("--only", help="the worlds whose name holds this text, and no timings; prints, writes nothing")
    parser.add_argument("--strict", action="store_true", help="a missed target is an error")
    options = parser.parse_args()
    report = Report("The agent beside solvi's", command_of(__file__))
    worlds = dict(list(WORLDS.items())[:2]) if options.quick else WORLDS
    if options.only is not None:
        worlds = {name: world for name, world in WORLDS.items() if options.only in name}
    for name, world in worlds.items():
        compare(report, name, world, peer=not options.quick)
    if options.only is not None:
        print(report.table())
        return 0
    if not options.quick:
        rate, steps = best_success(0.2, 5, WORLDS["grid 5x5, 20 % slip"].limit)
        report.notes.append(
            f"grid 5x5, 20 % slip: the optimal policy solves {rate:.1%} of 400 episodes, in {steps:.1f} steps each"
        )
        print(report.notes[-1])
    speed(report, peer=not options.quick, last=1_000 if options.quick else 10_000)
    early, late = (
        report.find(f"one step, around step {m}", "surefoot", s) for m, s in (("1,000", 1_000), ("10,000", 10_000))
    )
    if early is not None and late is not None and early.cpu and late.cpu:
        report.notes.append(
            f"a step at step 10,000 takes {late.cpu / early.cpu:.2f} times one at step 1,000 (allowed: 1.1)"
        )
        print(report.notes[-1])
    targets = [] if options.quick else TARGETS
    report.write(options.out, targets)
    print(report.table())
    judged = report.judge(targets)
    for target, text, held in judged:
        print(f"{'not measured' if held is None else 'pass' if held else 'MISS'}: {target.name}: {text}")
    return int(options.strict and any(held is False for _, _, held in judged))


if __name__ == "__main__":
    sys.exit(main())
