"""Solvers beside Storm, in one process: reachability with bounds at 1e-6, and interval models.

    python benchmarks/bench_solvers.py [--quick] [--only NAME,...] [--repeats N] [--json FILE]

Models: random sparse ones, a grid where one slips and may fail, the shared coin of a consensus protocol, a grid where
the goal is reached almost surely. Storm answers with its default for ordinary models (sound, relative 1e-6), and with
its plain value iteration; building its model is not counted, nor is building ours. Without stormpy only our figures are
measured. All bounds must hold Storm's number, but for what it promises.
"""

from __future__ import annotations

import argparse
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from _harness import Report, Target, clocked, command_of, results_of
from _models import coin, grid, random_sparse, widened
from surefoot.models import MDP
from surefoot.models._compiled import is_there, without_numba
from surefoot.models.solution import Objective, Solution
from surefoot.solvers import storm
from surefoot.solvers._enclose import Engine
from surefoot.solvers.optimistic import optimistic
from surefoot.solvers.robust import robust

__all__ = ["main"]

Family = tuple[Callable[[], MDP], str, str]
FAMILIES: dict[str, Family] = {
    "random 1e4": (lambda: random_sparse(10_000), "goal", "max"),
    "random 1e5": (lambda: random_sparse(100_000), "goal", "max"),
    "random 1e6": (lambda: random_sparse(1_000_000, actions=2, branches=4), "goal", "max"),
    "slip grid 1e4": (lambda: grid(100), "goal", "max"),
    "slip grid 1e5": (lambda: grid(316), "goal", "max"),
    "slip grid 1e6": (lambda: grid(1000), "goal", "max"),
    "coin K=20 split max": (lambda: coin(20), "split", "max"),
    "coin K=20 heads min": (lambda: coin(20), "heads", "min"),
    "coin K=60 split max": (lambda: coin(60), "split", "max"),
    "coin K=60 heads min": (lambda: coin(60), "heads", "min"),
    "grid almost surely 1e5": (lambda: grid(316, failure=0.0), "goal", "max"),
}
QUICK = ("random 1e4", "slip grid 1e4", "coin K=20 split max", "coin K=20 heads min")
INTERVALS = ("random 1e4", "random 1e5")
ASKED = {"random 1e4": 1.8, "random 1e5": 1.9, "random 1e6": 1.5}
SECONDS = 4.0
"""What is answered sooner is asked again for this long: of few samples of milliseconds the median wanders."""
ENGINES: tuple[Engine, ...] = ("numba", "numpy") if is_there() else ("numpy",)


def contenders(model: MDP, label: str, direction: str) -> dict[str, Callable[[], Any]]:
    """Return what to run on a model; building is over by then."""
    objective = Objective(model.labels[label], direction)  # type: ignore[arg-type]  # one of two texts
    found: dict[str, Callable[[], Any]] = {}
    for engine in ENGINES:
        who = "surefoot" if engine == ENGINES[0] else "surefoot, NumPy"
        found[who] = lambda engine=engine: by_engine(model, objective, engine)
    if storm.is_there():
        made, text = storm.to_storm(model), f'P{direction}=? [F "{label}"]'
        import stormpy

        plain = stormpy.environments.Environment()
        plain.solver().min_max().method = stormpy.environments.MinMaxMethod.VALUE_ITERATION
        found["storm"] = lambda: storm.ask(made, text)
        found["storm, plain VI"] = lambda: storm.ask(made, text, environment=plain)
    return found


def by_engine(model: MDP, objective: Objective, engine: Engine) -> Solution:
    """Return what an engine answers; for NumPy nothing is compiled, the searches through the graph neither."""
    with nullcontext() if engine == "numba" else without_numba():
        return optimistic(model, objective, engine=engine)


def of_intervals(model: MDP, label: str) -> dict[str, Callable[[], Any]]:
    """Return what to run on an interval model: the greatest probability against the worst that may be."""
    objective = Objective(model.labels[label], "max")
    found: dict[str, Callable[[], Any]] = {
        "surefoot": lambda: robust(model, objective, nature="adversarial", engine=ENGINES[0])
    }
    if storm.is_there():
        import stormpy

        made, mode = storm.to_storm(model), stormpy.UncertaintyResolutionMode.ROBUST
        found["storm"] = lambda: storm.ask(made, f'Pmax=? [F "{label}"]', uncertainty_resolution_mode=mode)
    return found


def compare(report: Report, what: str, answers: dict[str, Any], start: int) -> None:
    """Stop when Storm's number is not where it must be; write down how far plain value iteration is off."""
    ours = answers["surefoot"]
    lower, upper = ours.bounds(start)
    for who, values in answers.items():
        if not who.startswith("storm"):
            continue
        value = float(values[start])
        if who == "storm" and not lower * (1 - 3e-6) <= value <= upper * (1 + 3e-6) and "interval" not in what:
            raise SystemExit(f"{what}: Storm's {value!r} is not in [{lower!r}, {upper!r}]")
        off = max(lower - value, value - upper, 0.0) / max(value, 1e-300)
        report.checks.append(f"{what}: {who} is {off:.1e} of its number outside our bounds")


def run(report: Report, what: str, section: str, found: dict[str, Callable[[], Any]], model: MDP, repeats: int) -> None:
    """Measure the contenders on one model in turns."""
    answers = {who: work() for who, work in found.items()}  # compiles, and gives what is compared
    compare(report, what, answers, int(np.argmax(model.initial)))
    a_round = sum(clocked(work).cpu for work in found.values())
    repeats = max(repeats, min(25, int(SECONDS / a_round)))
    report.section = section
    report.say(f"  {what}: {answers['surefoot']}")
    report.measure(
        what, model.n_states, {who: (lambda work=work: clocked(work)) for who, work in found.items()}, repeats
    )


def memory(report: Report, model: MDP, label: str) -> None:
    """Write down the most memory that a solve takes beyond the model, for each branch."""
    objective = Objective(model.labels[label])
    tracemalloc.start()
    optimistic(model, objective, engine=ENGINES[0])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    held = sum(a.nbytes for a in (model.choice_start, model.branch_start, model.target, model.probability))
    report.note("memory of a solve, a branch", "surefoot", model.n_states, peak / model.n_branches, "B")
    report.note("memory of the model, a branch", "surefoot", model.n_states, held / model.n_branches, "B")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the small models only")
    parser.add_argument("--only", help="the names of the families, with commas between them")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    names = given.only.split(",") if given.only else list(QUICK if given.quick else FAMILIES)
    report = Report("Solvers", command_of(__file__), peer="storm")
    report.notes.append(f"engines of ours: {', '.join(ENGINES)}; Storm: {'there' if storm.is_there() else 'not there'}")
    for name in names:
        make, label, direction = FAMILIES[name]
        model = make()
        run(report, name, "reachability", contenders(model, label, direction), model, given.repeats)
        if name in INTERVALS and not given.quick:
            wide = widened(model)
            run(report, f"{name}, intervals", "interval models", of_intervals(wide, label), wide, given.repeats)
        if name == "random 1e5":
            memory(report, model, label)
    targets = [
        Target(f"{name}: at least {ASKED.get(name, 1.0):g} times as fast as Storm", name, ASKED.get(name, 1.0))
        for name in names
    ]
    targets += [
        Target(f"{name}: NumPy alone within 4 times of Storm", name, 0.25, who="surefoot, NumPy")
        for name in names
        if len(ENGINES) > 1
    ]
    targets += [
        Target(f"{name}, intervals: at least 1.2 times", f"{name}, intervals", 1.2)
        for name in names
        if name in INTERVALS
    ]
    report.write(given.json or results_of(__file__), targets)
    return 0


if __name__ == "__main__":
    sys.exit(main())
