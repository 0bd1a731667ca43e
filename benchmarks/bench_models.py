"""Models: from arrays (time and memory), from functions (beside the time in the functions themselves), simulated.

    python benchmarks/bench_models.py [--quick] [--json FILE]

`functions` is a loop that calls the same functions as often as `build` does, and throws away what they return. It
stands where the peer stands elsewhere: the ratio is what part of `build` is spent in the functions.
"""

from __future__ import annotations

import argparse
import random
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from _harness import Report, Target, clocked, command_of, here, hurry, results_of
from surefoot.models import MDP
from surefoot.models.build import build
from surefoot.models.examples import random_mdp
from surefoot.models.matrices import from_arrays
from surefoot.models.simulation import simulate

__all__ = ["main"]

MOVES = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
TARGETS = [
    Target(f"build, {name}: at most 3 times the functions", f"build, {name}", at_least=1 / 3)
    for name in ("slippery grid", "grid of objects", "random numbers")
]


@dataclass(frozen=True)
class Cell:
    x: int
    y: int


def grid(width: int) -> dict[str, Callable[..., Any]]:
    """Return the functions of a slippery grid whose states are pairs."""

    def moved(cell: tuple[int, int], by: tuple[int, int]) -> tuple[int, int]:
        x, y = cell[0] + by[0], cell[1] + by[1]
        return (x, y) if 0 <= x < width and 0 <= y < width else cell

    def step(cell: tuple[int, int], action: str) -> list[tuple[float, tuple[int, int]]]:
        x, y = MOVES[action]
        return [(0.8, moved(cell, (x, y))), (0.1, moved(cell, (y, x))), (0.1, moved(cell, (-y, -x)))]

    goal = (width - 1, width - 1)
    return {
        "actions": lambda cell: [] if cell == goal else list(MOVES),
        "step": step,
        "reward": lambda cell, action: -1.0,
        "labels": lambda cell: ["goal"] if cell == goal else [],
    }


def objects(width: int) -> dict[str, Callable[..., Any]]:
    """Return the functions of the same grid, with frozen dataclasses for states."""
    plain = grid(width)
    return {
        "actions": lambda cell: plain["actions"]((cell.x, cell.y)),
        "step": lambda cell, action: [(p, Cell(*to)) for p, to in plain["step"]((cell.x, cell.y), action)],
        "reward": plain["reward"],
        "labels": lambda cell: plain["labels"]((cell.x, cell.y)),
    }


def numbers(count: int) -> dict[str, Callable[..., Any]]:
    """Return the functions of a model whose step draws its targets with a generator of its own."""

    def step(state: int, action: str) -> list[tuple[float, int]]:
        rng = random.Random(state * 2 + (action == "b"))
        return [(0.25, rng.randrange(count)) for _ in range(4)]

    return {
        "actions": lambda state: ["a", "b"],
        "step": step,
        "reward": lambda state, action: 1.0,
        "labels": lambda state: [],
    }


def called(states: list[Any], functions: dict[str, Callable[..., Any]]) -> None:
    """Call the functions as often as `build` does."""
    actions, step, reward, labels = (functions[name] for name in ("actions", "step", "reward", "labels"))
    for state in states:
        for action in actions(state):
            step(state, action)
            reward(state, action)
        labels(state)


def reached(initial: Any, functions: dict[str, Callable[..., Any]]) -> list[Any]:
    """Return the states that `build` finds."""
    found = {initial: None}
    queue = [initial]
    for state in queue:
        for action in functions["actions"](state):
            for _, after in functions["step"](state, action):
                if after not in found:
                    found[after] = None
                    queue.append(after)
    return queue


def from_functions(report: Report, size: int, repeats: int) -> None:
    """Measure `build` beside its functions."""
    report.section = "a model"
    width = int(size**0.5)
    for name, initial, functions in (
        ("slippery grid", (0, 0), grid(width)),
        ("grid of objects", Cell(0, 0), objects(width)),
        ("random numbers", 0, numbers(size)),
    ):
        states = reached(initial, functions)
        work = partial(build, initial, progress=False, **functions)
        model = work()
        report.measure(
            f"build, {name}",
            size,
            {
                "surefoot": lambda w=work: clocked(w),
                "functions": lambda s=states, f=functions: clocked(partial(called, s, f)),
            },
            repeats,
        )
        row = report.find(f"build, {name}", "surefoot", size)
        assert row is not None
        assert row.cpu is not None
        report.notes.append(f"{name}: {model.sizes}; {row.cpu / model.n_states * 1e6:.1f} µs a state")


def from_numpy(report: Report, size: int, repeats: int) -> None:
    """Measure models from arrays, and their memory."""
    report.section = "a model"
    made = random_mdp(size)
    names = ("choice_start", "choice_action", "branch_start", "target", "probability")
    arrays: dict[str, Any] = {name: np.array(getattr(made, name)) for name in names}
    work = partial(MDP, initial=0, **arrays)
    report.add("MDP(arrays)", "surefoot", size, [clocked(work) for _ in range(repeats)])
    tracemalloc.start()
    kept = work()
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    report.note("MDP(arrays), memory held", "surefoot", size, held / 1e6, "MB")
    report.note("MDP(arrays), memory at the peak", "surefoot", size, peak / 1e6, "MB")
    report.notes.append(f"arrays: {kept.sizes}")
    report.add("random_mdp", "surefoot", size, [clocked(partial(random_mdp, size)) for _ in range(repeats)])
    rows = [np.flatnonzero(made.choice_action == action) for action in range(2)]
    matrices = []
    for choices in rows:
        branches = (made.branch_start[choices][:, None] + np.arange(2)).ravel()
        place = (np.repeat(made.choice_state[choices], 2), made.target[branches])
        matrices.append(csr_array((made.probability[branches], place), shape=(size, size)))
    again = from_arrays(matrices, initial=0)
    assert np.array_equal(np.sort(again.probability), np.sort(made.probability))
    report.add(
        "from_arrays(sparse)",
        "surefoot",
        size,
        [clocked(partial(from_arrays, matrices, initial=0)) for _ in range(repeats)],
    )


def simulated(report: Report, size: int, repeats: int) -> None:
    """Measure steps of simulated runs."""
    report.section = "a step of a run"
    model = random_mdp(size, actions=4, branches=4, goals=0)
    for runs in (1_000, 100_000):
        work = partial(simulate, model, runs=runs, steps=20, seed=1)
        report.add(f"simulate, {runs:,} runs", "surefoot", size, [clocked(work, runs * 20) for _ in range(repeats)])


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures."""
    parser = argparse.ArgumentParser(description="Measure surefoot's models.")
    parser.add_argument("--quick", action="store_true", help="small models, one repeat")
    parser.add_argument("--json", type=Path, help="write every figure there; default for a full run: results/")
    given = parser.parse_args(words)
    if given.quick:
        hurry()
    repeats = 1 if given.quick else 5
    report = Report("Models", command_of(__file__), peer="functions")
    print(f"{report.title}: {here()}")
    for size in (400,) if given.quick else (2_500, 22_500):
        from_functions(report, size, repeats)
    for size in (1_000,) if given.quick else (100_000, 1_000_000):
        from_numpy(report, size, repeats)
    simulated(report, 1_000 if given.quick else 10_000, repeats)
    print(f"\n{report.table()}\n")
    for target, text, held in report.judge(TARGETS):
        print(f"{'pass' if held else 'MISS'}  {target.name}: {text}")
    if given.json or not given.quick:
        report.write(given.json or results_of(__file__), TARGETS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
