"""The world map beside solvi's, in one process: each operation at 1e3, 1e4, 1e5 and (ours) 1e6 claims.

    python benchmarks/bench_worldmap.py [--sizes 1e3,1e4,1e5,1e6] [--quick] [--alone] [--json FILE]

World: a square grid, states are tuples, every move is seen with the place it is shown to lead to, half of the moves
have been taken. Both maps get the same history. Before anything is believed, the two must agree: on every claim, on
the cost from every state to random targets, and that each other's steps are on a cheapest way; else the run fails.

What is measured, and what the targets are, is at the end of the output and in `TARGETS`. Needs `solvi`
(`pip install 'surefoot[bench]'`) unless `--alone`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import _walks
import _worlds
from _harness import Report, Sample, Target, clocked, command_of, here, hurry, results_of
from surefoot import WorldMap

__all__ = ["TARGETS", "main"]

LARGEST_OF_THE_PEER = 150_000
"""Above so many claims only ours is measured."""

FLAT = 1.5
"""How much a constant cost may differ from 1e3 to 1e6 claims; a linear one grows by 1,000."""

TARGETS = [
    Target("see: no slower", "see", at_least=1.0),
    Target("arrive: no slower", "arrive", at_least=1.0),
    Target("see: constant in the size", "see", grows_at_most=FLAT),
    Target("arrive: constant in the size", "arrive", grows_at_most=FLAT),
    Target("next while walking: 1,000 times faster (mean of the steps)", "next, walking, mean", 1000.0, size=100_000),
    Target("next while walking: 1,000 times faster (median step)", "next, walking", 1000.0, size=100_000),
    Target("next, cold, to a far target: 20 times faster", "next, cold, far", 20.0, size=100_000),
    Target("next, cold, to a near target: 20 times faster", "next, cold, near", 20.0, size=100_000),
    Target("next, the first question of all: 20 times faster", "next, first of all", 20.0, size=100_000),
    Target("explore, an action open here: 1,000 times faster", "explore, open here", 1000.0, size=100_000),
    Target("save after a step (.json): constant in the size", "step and save (.json)", grows_at_most=FLAT),
    Target("save after a step (.jsonl): constant in the size", "step and save (.jsonl)", grows_at_most=FLAT),
    Target("save after a step (SQLite): constant in the size", "step and save (.map)", grows_at_most=FLAT),
    Target("load (.json): 5 times faster", "load (.json)", 5.0, size=100_000),
    Target("load (.jsonl): 5 times faster", "load (.jsonl)", 5.0, size=100_000),
    Target("load (SQLite): 5 times faster", "load (.map)", 5.0, size=100_000),
    Target("verify: 5 times faster", "verify", 5.0, size=100_000),
    Target("memory: no more (allocated)", "memory per claim", 1.0),
    Target("memory with routes: no more (allocated)", "memory per claim, with routes", 1.0),
    Target("memory: no more (resident)", "resident per claim", 1.0, size=100_000),
    Target("memory with routes: no more (resident)", "resident per claim, with routes", 1.0, size=100_000),
]


@dataclass
class Bench:
    """What all measurements of one run share."""

    report: Report
    makers: dict[str, Callable[..., Any]]
    repeats: int
    steps: int
    folder: Path

    def contenders(self, size: int) -> dict[str, Callable[..., Any]]:
        """Return who is measured at a size."""
        return {who: make for who, make in self.makers.items() if who == "surefoot" or size <= LARGEST_OF_THE_PEER}

    def repeats_at(self, size: int) -> int:
        """Return how often what takes seconds is repeated."""
        return self.repeats if size < LARGEST_OF_THE_PEER else max(1, self.repeats // 3)

    def agree(self, what: str, problem: str | None) -> None:
        """Fail when the maps differ."""
        if problem is not None:
            raise SystemExit(f"the maps differ, so no figure means anything: {what}: {problem}")
        self.report.checks.append(what)
        self.report.say(f"  = {what}")


def report_moves(bench: Bench, size: int, grid: _worlds.Grid) -> dict[str, Any]:
    """Measure `see` and `arrive` while each map is built; return the maps."""
    built: dict[str, Any] = {}
    arrivals: dict[str, list[Sample]] = {}

    def contender(who: str, make: Callable[..., Any]) -> Callable[[], Sample]:
        def measure() -> Sample:
            m = built[who] = None
            m = make()

            def see() -> None:
                for place, action, there in grid.edges:
                    m.see(place, action, there)

            def arrive() -> None:
                for place, action, there in grid.taken:
                    m.arrive(place, action, there)

            seen = clocked(see, len(grid.edges))
            arrivals.setdefault(who, []).append(clocked(arrive, len(grid.taken)))
            built[who] = m
            return seen

        return measure

    makers = bench.contenders(size)
    bench.report.measure("see", size, {w: contender(w, make) for w, make in makers.items()}, bench.repeats_at(size))
    for who, samples in arrivals.items():
        bench.report.add("arrive", who, size, samples)
    return built


def agree(bench: Bench, size: int, grid: _worlds.Grid, maps: dict[str, Any], when: str) -> None:
    """Check that both maps say the same."""
    if len(maps) < 2:
        return
    ours, peer = maps["surefoot"], maps["solvi"]
    bench.agree(f"{size:,} claims, {when}: every claim and the frontier", _worlds.disagreement(ours, peer))
    for target in grid.some(2 if size > 20_000 else 5, f"targets {when}"):
        problem = _worlds.disagreement_on_ways(ours, peer, target, grid.some(20, f"starts {when}"))
        bench.agree(f"{size:,} claims, {when}: costs and ways to {target}", problem)


def ask_cold(bench: Bench, size: int, grid: _worlds.Grid, maps: dict[str, Any]) -> None:
    """Measure `next` to targets that were never asked for, and the first question that a map is asked at all."""
    last = grid.side - 1
    far = iter([(last - i, last - i) for i in range(min(grid.side // 3, 12))])
    near = iter([(3 + i, 1) for i in range(min(grid.side - 4, 12))])
    for what, targets in (("next, cold, far", far), ("next, cold, near", near)):
        goals = list(targets)[: bench.repeats]

        def contender(m: Any, goals: list[Any] = goals) -> Callable[[], Sample]:
            left = iter(goals)
            return lambda: clocked(lambda: m.next((0, 0), {next(left)}))

        bench.report.measure(what, size, {who: contender(m) for who, m in maps.items()}, len(goals))

    def fresh(question: Callable[[Any], object]) -> dict[str, Callable[[], Sample]]:
        def contender(m: Any) -> Callable[[], Sample]:
            def measure() -> Sample:
                copy = (
                    m.rebuild() if isinstance(m, WorldMap) else m
                )  # solvi keeps nothing from one question to the next
                return clocked(lambda: question(copy))

            return measure

        return {who: contender(m) for who, m in maps.items()}

    repeats = bench.repeats_at(size)
    bench.report.measure("next, first of all", size, fresh(lambda m: m.next((0, 0), {(last, last)})), repeats)
    bench.report.measure("distances, first of all", size, fresh(lambda m: m.distances({(last, last)})), repeats)


def ask(bench: Bench, size: int, grid: _worlds.Grid, maps: dict[str, Any]) -> None:
    """Measure the questions that do not depend on what was asked before."""
    corner = (grid.side - 1, grid.side - 1)
    places = grid.some(1000, "asked")
    open_here = [p for p in places if any(maps["surefoot"].claim(p, a).taken == 0 for a in grid.offers(p))]

    def several(question: Callable[[Any], object], ours: int, peers: int) -> dict[str, Callable[[], Sample]]:
        def contender(who: str, m: Any) -> Callable[[], Sample]:
            ops = ours if who == "surefoot" else peers
            return lambda: clocked(lambda: [question(m) for _ in range(ops)], ops)

        return {who: contender(who, m) for who, m in maps.items()}

    few = max(1, (20_000 if bench.repeats > 1 else 2_000) // size)  # one repeat: only to see that it runs
    turn = iter(range(10**9))

    def explore(m: Any) -> object:
        return m.explore(open_here[next(turn) % len(open_here)])

    bench.report.measure("explore, open here", size, several(explore, 2000, 10 * few), bench.repeats)
    if size <= LARGEST_OF_THE_PEER:
        bench.report.measure("frontier", size, several(lambda m: m.frontier(), few, few), bench.repeats)
        bench.report.measure("stats", size, several(lambda m: m.stats(), few, few), bench.repeats)
    bench.report.measure(
        "snapshot without targets", size, several(lambda m: m.snapshot(places[0]), 200, few), bench.repeats
    )
    bench.report.measure(
        "snapshot with targets", size, several(lambda m: m.snapshot(places[0], {corner}), 200, few), bench.repeats
    )


def keep(bench: Bench, size: int, grid: _worlds.Grid, maps: dict[str, Any]) -> None:
    """Measure verify, rebuild, load, the size of files, and saving after each step."""
    report, repeats = bench.report, bench.repeats_at(size)

    def verify(m: Any) -> None:
        assert m.verify()

    report.measure("verify", size, {who: partial(clocked, partial(verify, m)) for who, m in maps.items()}, repeats)
    report.measure("rebuild", size, {who: partial(clocked, m.rebuild) for who, m in maps.items()}, repeats)
    of_the_peer: list[list[Sample]] = []
    for ending in (".json", ".jsonl", ".map"):
        made = {who: bench.folder / f"{who}-{size}{ending}" for who in maps if who == "surefoot" or ending == ".json"}
        for who, path in made.items():
            maps[who].save(path)
            report.note(f"file per claim ({ending})", who, size, path.stat().st_size / len(grid.edges), "B")
        loaders = {who: partial(clocked, partial(bench.makers[who], path)) for who, path in made.items()}
        loads = report.measure(f"load ({ending})", size, loaders, repeats)
        saves = {who: _save_after_steps(bench, size, grid, who, path) for who, path in made.items()}
        of_the_peer = of_the_peer or [loads.get("solvi", []), saves.get("solvi", [])]
        for who, samples in saves.items():
            report.add(f"step and save ({ending})", who, size, samples)
        if ending != ".json":  # solvi has one format: its figures stand beside each of ours
            report.add(f"load ({ending})", "solvi", size, of_the_peer[0])
            report.add(f"step and save ({ending})", "solvi", size, of_the_peer[1])
        for path in made.values():
            path.unlink()


def _save_after_steps(bench: Bench, size: int, grid: _worlds.Grid, who: str, path: Path) -> list[Sample]:
    """Walk a few steps with a map in a file, saving after each; return what each took."""
    m = bench.makers[who](path)
    steps = bench.steps if who == "surefoot" else max(3, min(bench.steps, 100_000 // size))
    rng = random.Random(1)
    samples = []
    for _ in range(steps):

        def step(edge: _worlds.Edge) -> None:
            m.arrive(*edge)
            m.save()

        samples.append(clocked(partial(step, rng.choice(grid.edges)), gentle=False))
    if who == "surefoot":
        m.close()
    return samples


def weigh(bench: Bench, size: int) -> None:
    """Measure memory per claim, each map in a process of its own."""
    for how, what in (("traced", "memory per claim"), ("rss", "resident per claim")):
        if (how == "traced" and size > LARGEST_OF_THE_PEER) or (how == "rss" and bench.repeats == 1):
            continue
        for who in bench.contenders(size):
            script = str(Path(__file__).with_name("_memory.py"))
            done = subprocess.run([sys.executable, script, who, str(size), how], capture_output=True, check=True)
            weighed = json.loads(done.stdout)
            bench.report.note(what, who, size, weighed["filled"], "B")
            bench.report.note(f"{what}, with routes", who, size, weighed["routed"], "B")


def cost_of_imports(report: Report, repeats: int) -> None:
    """Say what loading the packages costs, which is part of no other figure."""
    clock = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"
    for name in ("surefoot.knowledge.worldmap", "numpy, scipy.sparse.csgraph", "solvi.core.knowledge.worldmap"):
        code = clock.format(name)
        runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=False) for _ in range(repeats)]
        took = sorted(float(run.stdout) for run in runs if run.returncode == 0)
        if took:
            note = f"import {name}: {took[len(took) // 2] * 1e3:.0f} ms of CPU, once a process, in no figure below"
            report.notes.append(note)
            report.say(f"  {note}")


def warm_up(largest: int) -> None:
    """Load what is loaded at the first use: NumPy and SciPy too, where the largest map needs them."""
    m = _worlds.Grid(12_000 if largest >= 1_000 else largest).fill(WorldMap())
    m.next((0, 0), {(1, 1)})
    time.sleep(0.5)  # until the threads that NumPy's BLAS starts are asleep


def run(bench: Bench, sizes: list[int]) -> None:
    """Measure everything."""
    cost_of_imports(bench.report, min(bench.repeats, 3))
    warm_up(max(sizes))
    bench.report.section = "one operation, by claims on the map"
    for size in sizes:
        grid = _worlds.Grid(size)
        bench.report.say(f"\n{size:,} claims: a grid of {grid.side} × {grid.side}, {len(grid.edges):,} claims")
        maps = report_moves(bench, size, grid)
        agree(bench, size, grid, maps, "as built")
        keep(bench, size, grid, maps)
        ask_cold(bench, size, grid, maps)
        ask(bench, size, grid, maps)
        _walks.walk(bench.report, size, grid, maps, bench.steps)
        agree(bench, size, grid, maps, "after a walk")
        del maps
        _walks.explore_far(bench.report, size, grid, bench.contenders(size), bench.repeats_at(size), bench.steps)
        weigh(bench, size)
    bench.report.section = "a fresh grid explored to the end, by claims"
    sides = [side for side in (10, 20, 40, 158) if 4 * side * side <= max(sizes) * 1.1]
    for side in sides:
        problem = _walks.explore_to_the_end(bench.report, side, bench.makers)
        if len(bench.makers) > 1 and problem != "one only":
            bench.agree(f"a grid of {side} × {side} explored to the end", problem)


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure surefoot's WorldMap beside solvi's.")
    parser.add_argument("--sizes", default="", help="numbers of claims, default 1e3,1e4,1e5,1e6 (--quick: 1e3,1e4)")
    parser.add_argument("--quick", action="store_true", help="one repeat, few steps")
    parser.add_argument("--alone", action="store_true", help="without solvi")
    parser.add_argument("--json", type=Path, help="write every figure there; default for a full run: results/")
    parser.add_argument("--strict", action="store_true", help="exit with 2 when a target is missed")
    given = parser.parse_args(words)
    if given.quick:
        hurry()
    given.partial = bool(given.sizes)
    text = given.sizes or ("1e3,1e4" if given.quick else "1e3,1e4,1e5,1e6")
    given.sizes = [int(float(size)) for size in text.split(",")]
    return given


def makers(alone: bool) -> dict[str, Callable[..., Any]]:
    """Return how to make a map, by contender."""
    if alone:
        return {"surefoot": WorldMap}
    try:
        from solvi.core.knowledge.worldmap import WorldMap as Peer
    except ImportError:
        raise SystemExit("solvi 1.3.0 is not installed: pip install 'surefoot[bench]', or use --alone") from None
    return {"surefoot": WorldMap, "solvi": Peer}


def lines_about_targets(report: Report) -> Iterator[str]:
    """Yield one line a target."""
    words = {True: "pass", False: "MISS", None: "-   "}
    for target, text, held in report.judge(TARGETS):
        yield f"{words[held]}  {target.name}: {text}"


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures; return 2 with --strict when a target is missed."""
    given = arguments(words)
    report = Report("WorldMap beside solvi", command_of(__file__))
    place = here()
    print(f"{report.title}: {place}")
    with tempfile.TemporaryDirectory() as folder:
        repeats, steps = (1, 20) if given.quick else (5, 300)
        run(Bench(report, makers(given.alone), repeats, steps, Path(folder)), given.sizes)
    print(f"\n{report.table()}\n\nTargets")
    print("\n".join(lines_about_targets(report)))
    if given.json or not (given.quick or given.alone or given.partial):
        report.write(given.json or results_of(__file__), TARGETS)
    missed = any(held is False for _, _, held in report.judge(TARGETS))
    return 2 if given.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
