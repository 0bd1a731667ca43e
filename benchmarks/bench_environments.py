"""The whole loop in real worlds: the world's own cost a step, and what exploring adds to it, with each kind of map.

    python benchmarks/bench_environments.py [--steps 20000] [--quick] [--json FILE]

Worlds: this Python's standard-library tree (`Files`), and a corridor of 2,000 cells. A world's own cost is that of the
same steps taken again without a map.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _harness import Report, Sample, clocked, command_of, here, hurry, results_of
from surefoot import WorldMap
from surefoot.agent.walker import Step, explore
from surefoot.environments.corridor import Corridor
from surefoot.environments.files import Files

__all__ = ["main"]

MAPS = {"memory": None, "jsonl": "walk.jsonl", "json": "walk.json", "sqlite": "walk.map"}


def again(env: Any, steps: list[Step], reset_after: set[int]) -> None:
    """Take the steps of a walk again, without a map."""
    env.reset(seed=0)
    for n, step in enumerate(steps):
        outcome = env.step(step.action)
        if n in reset_after:
            env.reset(seed=0)
        else:
            env.actions(outcome.state)


def measure(report: Report, name: str, make: Callable[[], Any], most: int, folder: Path, repeats: int) -> None:
    """Explore with each kind of map, then walk the same way without one."""
    steps: list[Step] = []
    size = 0
    samples: dict[str, list[Sample]] = {}
    for turn in range(repeats):
        for kind, file in MAPS.items():
            known = WorldMap(None if file is None else folder / f"{turn}-{file}")
            steps.clear()
            sample = clocked(partial(explore, make(), known, steps=most, on_step=steps.append))
            size = len(steps)
            samples.setdefault(kind, []).append(Sample(sample.cpu, sample.wall, size, sample.capped))
            known.close()
    # an episode ended after a step when the next step starts elsewhere
    ends = {n for n, (step, then) in enumerate(zip(steps, steps[1:], strict=False)) if step.to != then.state}
    alone = [clocked(partial(again, make(), list(steps), ends), size) for _ in range(repeats)]
    report.notes.append(f"{name}: {size:,} steps")
    report.section = "a step"
    report.add(f"{name}: the world's own", "no map", most, alone)
    for kind, taken in samples.items():
        report.add(f"{name}: explore", kind, most, taken)


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures."""
    parser = argparse.ArgumentParser(description="Measure surefoot's loop in real worlds.")
    parser.add_argument("--steps", type=float, default=0, help="at most so many steps, default 2e4 (--quick: 300)")
    parser.add_argument("--quick", action="store_true", help="one repeat, few steps")
    parser.add_argument("--json", type=Path, help="write every figure there; default for a full run: results/")
    given = parser.parse_args(words)
    if given.quick:
        hurry()
    most = int(given.steps) or (300 if given.quick else 20_000)
    repeats = 1 if given.quick else 3
    report = Report("Environments", command_of(__file__))
    print(f"{report.title}: {here()}")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(os.__file__).parent
        measure(report, "standard-library tree", partial(Files, library), most, Path(folder), repeats)
    with tempfile.TemporaryDirectory() as folder:
        measure(report, "corridor", partial(Corridor, 2_000), most, Path(folder), repeats)
    print(f"\n{report.table()}")
    if given.json or not (given.quick or given.steps):
        report.write(given.json or results_of(__file__))
    return 0


if __name__ == "__main__":
    sys.exit(main())
