"""Let the agent learn worlds that nobody here wrote, beside a Q-learner and the best policy, and draw the curves.

python benchmarks/bench_gym_agent.py [--only lake] [--seeds 3] [--draw docs/explanation/learning-curves.png]

Both get the same worlds, seeds, limits, states and actions. The agent is given the goal (a check of the state, where
the end of an episode may be another one), the Q-learner a cost of 1 a step and of the limit where an episode is lost.
An episode that was not solved counts with the limit. `--redraw` draws the stored results again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from _gym_worlds import WORLDS, World, learn
from _harness import Report, Row, command_of
from surefoot import Agent, Knowledge

__all__ = ["main"]

HERE = Path(__file__).resolve().parent
PICTURE = HERE.parent / "docs" / "explanation" / "learning-curves.png"
PARTS = 20
WHO = ("surefoot", "Q-learning")


def ours(world: World, seed: int, *, replayed: bool = False) -> list[tuple[int, bool]]:
    """Return (steps, solved) of our episodes."""
    knowledge = Knowledge()
    if world.goal is not None:
        knowledge.goal("there", world.goal)
    agent = Agent(world.make(seed), knowledge=knowledge)
    episodes = [agent.run(seed=100_000 * seed + n, steps=world.limit) for n in range(world.episodes)]
    if replayed:
        again = agent.replay()
        assert again.ok, again.first
    return [(episode.steps, bool(episode)) for episode in episodes]


def play(who: str, name: str, seed: int) -> tuple[list[tuple[int, bool]], float]:
    """Return the episodes of one of the two in one world, and the seconds of CPU that they took."""
    began, world = time.process_time(), WORLDS[name]
    run = ours(world, seed, replayed=seed == 0) if who == "surefoot" else learn(world, seed)
    return run, time.process_time() - began


def learn_one(report: Report, name: str, world: World, seeds: int, jobs: int) -> None:
    """Let both learn one world, and write down what came of it."""
    report.section = name
    bests = [world.best(seed) for seed in range(seeds if world.varies else 1)]
    best = replace(bests[0], steps=statistics.fmean(each.steps for each in bests))
    for who in WHO:
        asked = [who] * seeds, [name] * seeds, range(seeds)
        if jobs == 1:
            played = list(map(play, *asked))
        else:
            with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
                played = list(pool.map(play, *asked))
        runs, cpu = [run for run, _ in played], sum(seconds for _, seconds in played)
        length = world.episodes // PARTS
        for part in range(PARTS):
            rows = [run[part * length : (part + 1) * length] for run in runs]
            counted = [statistics.fmean(s if well else world.limit for s, well in row) for row in rows]
            solved = [100 * statistics.fmean(well for _, well in row) for row in rows]
            for what, found, unit in (("steps", counted, "steps"), ("solved", solved, "%")):
                value, low, high = statistics.fmean(found), min(found), max(found)
                size = (part + 1) * length
                report._put(Row(f"{name}: {what}", who, size, low=low, high=high, value=value, unit=unit, section=name))
        last = [pair for run in runs for pair in run[world.episodes // 2 :]]
        well = statistics.fmean(well for _, well in last)
        steps = statistics.fmean([s for s, well in last if well] or [world.limit])
        total = sum(s for run in runs for s, _ in run)
        report.notes.append(
            f"{name}: {who} solves {well:.1%} of the second half of {world.episodes} episodes, in {steps:.1f} steps "
            f"each; {total:,} steps in {cpu:.1f} s of CPU{', one replay included' if who == 'surefoot' else ''}"
        )
        print(report.notes[-1])
    steps = f", in {best.steps:.1f} steps each" if best.steps < float("inf") else ""
    report.notes.append(
        f"{name}: the best policy solves {best.success:.1%} within {world.limit} steps{steps} ({best.how})"
    )
    print(report.notes[-1])
    for what, value, unit in (("steps", best.steps, "steps"), ("solved", 100 * best.success, "%")):
        if value == float("inf"):  # some episodes are lost whatever is done
            continue
        report._put(Row(f"{name}: {what}", "best", world.episodes, value=value, unit=unit, section=name))


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the curves: the mean over the seeds of each twentieth of the episodes, the range as a band."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    names = list(dict.fromkeys(row["section"] for row in rows))
    figure, panels = plt.subplots((len(names) + 2) // 3, min(3, len(names)), figsize=(11, 6.2), squeeze=False)
    looks = {"surefoot": ("#00695c", "-", "surefoot"), "Q-learning": ("#8a5a00", "--", "Q-learning")}
    for panel, name in zip(panels.flat, names, strict=False):
        chance = any(r["section"] == name and r["who"] == "best" and r["unit"] == "%" and r["value"] < 99 for r in rows)
        what = "solved" if chance else "steps"
        for who, (colour, line, label) in looks.items():
            found = sorted(
                (r for r in rows if r["what"] == f"{name}: {what}" and r["who"] == who), key=lambda r: r["size"]
            )
            at = [r["size"] for r in found]
            panel.plot(at, [r["value"] for r in found], color=colour, linestyle=line, label=label)
            panel.fill_between(
                at, [r["low"] for r in found], [r["high"] for r in found], color=colour, alpha=0.15, linewidth=0
            )
        best = next(r["value"] for r in rows if r["what"] == f"{name}: {what}" and r["who"] == "best")
        panel.axhline(best, color="#444444", linestyle=":", label="the best policy")
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("episodes", fontsize=8)
        panel.set_ylabel("% solved" if chance else "steps, unsolved = the limit", fontsize=8)
        panel.set_ylim(bottom=0)
        panel.tick_params(labelsize=7)
        panel.grid(alpha=0.25)
    for panel in list(panels.flat)[len(names) :]:
        panel.axis("off")
    panels.flat[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=80, metadata={"Software": None})


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="the worlds whose name holds this text; prints, writes nothing")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each world (default: 3)")
    parser.add_argument("--jobs", type=int, default=1, help="how many runs of a world at a time (default: 1)")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "gym_agent.json")
    parser.add_argument("--draw", type=Path, default=PICTURE, help="where the picture goes")
    parser.add_argument("--redraw", action="store_true", help="draw the results at --out again, and measure nothing")
    options = parser.parse_args()
    if not options.redraw:
        report = Report("The agent in worlds that nobody here wrote", command_of(__file__))
        for name, world in WORLDS.items():
            if options.only is None or options.only in name:
                learn_one(report, name, world, options.seeds, options.jobs)
        if options.only is not None:
            return 0
        report.write(options.out, [])
    draw(json.loads(options.out.read_text(encoding="utf-8"))["rows"], options.draw)
    return 0


if __name__ == "__main__":
    sys.exit(main())
