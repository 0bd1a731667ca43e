"""Learning what is accepted: ours beside solvi's action model, as the number of observations grows.

    python benchmarks/bench_actions.py [--sizes 1e3,5e3,1e4,1e5,1e6] [--quick] [--alone] [--json FILE]

One action, 5 or 20 conditions of five labels each, all as likely, and three worlds: *clean* (refused where one of two
conditions holds its fifth label), *noise* (the same, and 1 % of what is accepted is refused all the same), *continuous*
(one of the conditions is a number in [0, 1), refused above 0.9, instead of a label).

A model that has taken in so many observations observes up to 1,000 more and predicts: the call just observed ("observe,
then predict", in turn), calls observed a little earlier ("predict"), and calls that were not observed ("predict, new";
with 20 conditions hardly any call comes twice). Figures are CPU time per call. Ours observes everything; the peer gets
what was before by its `replay`, which is no part of the figures: it would take hours to observe. One figure may take a
quarter of the cap; what was done until then counts, marked `*`, and larger sizes are left out.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from _harness import CAP, Report, Sample, command_of, here, results_of
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.vocabulary import Vocabulary

__all__ = ["main"]

SIZES = (1_000, 5_000, 10_000, 100_000, 1_000_000)
WORLDS = ("clean", "noise", "continuous")
CONDITIONS = (5, 20)
CHUNK = 500
CALLS = 1_000
TEN = 10
BOTH = "observe, then predict"
Row = tuple[tuple[Any, ...], bool]
Predicate = Callable[[Any, Mapping[str, Any]], Any]

GROWTH = 2.0
"""How much more a call may take at the largest size than at the smallest: as good as constant."""
TARGETS = (("noise", 10_000, 50.0), ("noise", 100_000, 500.0), ("continuous", 5_000, 1_000.0))


def rows(world: str, conditions: int, number: int, seed: int) -> Iterator[list[Row]]:
    """Yield calls in chunks, the same for the same seed: a tuple of condition values, and whether it is accepted."""
    rng = random.Random(f"{world} {conditions} {seed}")
    labels = "abcde"
    for start in range(0, number, CHUNK):
        chunk: list[Row] = []
        for _ in range(min(CHUNK, number - start)):
            held: list[Any] = rng.choices(labels, k=conditions)
            accepted = held[1] != "e"
            if world == "continuous":
                held[0] = rng.random()
                accepted = accepted and held[0] <= 0.9
            else:
                accepted = accepted and held[0] != "e"
            if world == "noise" and rng.random() < 0.01:
                accepted = False
            chunk.append((tuple(held), accepted))
        yield chunk


def predicates(conditions: int) -> dict[str, Predicate]:
    """Return a predicate for each place of a state."""
    return {f"c{at:02}": _reader(at) for at in range(conditions)}


def _reader(at: int) -> Predicate:
    return lambda state, args: state[at]


def ours(world: str, conditions: int, number: int) -> Any:
    """Return our model after `number` calls."""
    model = ConservativeActionModel(Vocabulary(predicates(conditions)))
    for chunk in rows(world, conditions, number, seed=1):
        for state, accepted in chunk:
            model.observe(state, "act", {}, accepted)
    return model


def peers(world: str, conditions: int, number: int) -> Any:
    """Return solvi's model after `number` calls: replayed from a journal, since it would take hours to observe them."""
    from solvi.core.knowledge import ConservativeActionModel as Model
    from solvi.core.knowledge import Vocabulary as Conditions

    vocabulary = Conditions(predicates(conditions))
    entry = {"op": "observe", "vocabulary": vocabulary.fingerprint(), "action": "act", "effect": None}
    found = rows(world, conditions, number, seed=1)
    journal = ({**entry, "fv": state, "accepted": accepted} for chunk in found for state, accepted in chunk)
    return Model.replay(SimpleNamespace(journal=journal), vocabulary)


def run(model: Any, world: str, conditions: int, calls: int, limit: float) -> dict[str, Sample]:
    """Return what observing calls takes, predicting them again, both in turn, and predicting calls that are new.

    Over the limit a model is stopped after the next ten calls, and what it has done counts.
    """

    def observe(row: Row) -> None:
        model.observe(row[0], "act", {}, row[1])

    def predict(row: Row) -> None:
        model.predict(row[0], "act", {})

    def both(row: Row) -> None:
        model.observe(row[0], "act", {}, row[1])
        model.predict(row[0], "act", {})

    first, second, new = (
        [row for chunk in rows(world, conditions, calls, seed) for row in chunk] for seed in (2, 3, 4)
    )
    parts = {BOTH: (both, first), "observe": (observe, second), "predict": (predict, second)}
    parts["predict, new"] = predict, new
    predict(new[0])  # the peer works out what it replayed when it is first asked
    return {what: _timed(do, found, limit) for what, (do, found) in parts.items()}


def _timed(do: Callable[[Row], None], found: Sequence[Row], limit: float) -> Sample:
    """Return what calls take; the loop around them is counted."""
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    done = 0
    for start in range(0, len(found), TEN):
        for row in found[start : start + TEN]:
            do(row)
        done += len(found[start : start + TEN])
        if time.process_time() - cpu > limit:
            break
    return Sample(time.process_time() - cpu, time.perf_counter() - wall, done, done < len(found))


def weigh(make: Callable[[str, int, int], Any], conditions: int, size: int) -> float:
    """Return the bytes that a model holds after `size` clean calls."""
    make("clean", conditions, 10)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    model = make("clean", conditions, size)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    del model
    return float(held)


def measure(
    report: Report, contenders: Mapping[str, Callable[[str, int, int], Any]], sizes: Sequence[int], limit: float
) -> None:
    """Measure every world, number of conditions and size."""
    for world in WORLDS:
        for conditions in CONDITIONS:
            report.section = f"{world}, {conditions} conditions"
            stopped: set[str] = set()
            for size in sizes:
                for who, make in contenders.items():
                    if who in stopped:
                        continue
                    samples = run(make(world, conditions, size), world, conditions, min(size // 10, CALLS), limit / 4)
                    for what, sample in samples.items():
                        report.add(f"{report.section}: {what}", who, size, [sample])
                        if sample.capped:
                            stopped.add(who)


def memory(report: Report, contenders: Mapping[str, Callable[[str, int, int], Any]], sizes: Sequence[int]) -> None:
    """Weigh the models: few different cases (5 conditions), and almost all different (20)."""
    for conditions in CONDITIONS:
        report.section = f"memory, clean, {conditions} conditions"
        for size in (size for size in sizes if size <= 100_000):
            distinct = len({state for chunk in rows("clean", conditions, size, seed=1) for state, _ in chunk})
            for who, make in contenders.items():
                held = weigh(make, conditions, size)
                report.note(f"{report.section}: an observation", who, size, held / size, "B")
                report.note(f"{report.section}: a distinct case", who, size, held / distinct, "B")


def judge(report: Report) -> list[tuple[str, bool | None]]:
    """Say of each target whether it was met; None: not measured."""
    found: list[tuple[str, bool | None]] = []
    for world in WORLDS:
        for conditions in CONDITIONS:
            for what in ("observe", "predict", "predict, new"):
                name = f"{world}, {conditions} conditions: {what}"
                growth = report.growth(name, report.ours)
                text = "needs two sizes" if growth is None else f"×{growth[0]:.2f} from {growth[1]:,} to {growth[2]:,}"
                held = None if growth is None else growth[0] <= GROWTH
                found.append((f"{name} is constant (at most ×{GROWTH:g}): {text}", held))
    for conditions in CONDITIONS:
        for world, size, at_least in TARGETS:
            ratio = report.ratio(f"{world}, {conditions} conditions: {BOTH}", size)
            row = report.find(f"{world}, {conditions} conditions: {BOTH}", report.peer, size)
            mark = f" (over the {row.ops} calls that the peer got through)" if row is not None and row.capped else ""
            text = "not measured" if ratio is None else f"{ratio:,.0f}×{mark}"
            name = f"{world}, {conditions} conditions, {size:,} calls: at least {at_least:g}×"
            found.append((f"{name}: {text}", None if ratio is None else ratio >= at_least))
        for size in report.sizes(f"clean, {conditions} conditions: {BOTH}", report.peer):
            ratio = report.ratio(f"clean, {conditions} conditions: {BOTH}", size)
            assert ratio is not None  # both have a figure at the peer's sizes
            found.append((f"clean, {conditions} conditions, {size:,} calls: not slower: {ratio:.2f}×", ratio >= 1.0))
    return found


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures."""
    parser = argparse.ArgumentParser(description="Measure how fast what is accepted is learned.")
    parser.add_argument("--sizes", help="numbers of observations, with commas; default: 1e3,5e3,1e4,1e5,1e6")
    parser.add_argument("--quick", action="store_true", help="1e3, 5e3 and 1e4 only, cap of 10 s")
    parser.add_argument("--alone", action="store_true", help="without the peer")
    parser.add_argument("--cap", type=float, default=0.0, help="CPU seconds for a contender and size, default 60")
    parser.add_argument("--strict", action="store_true", help="a missed target is an error")
    parser.add_argument("--json", type=Path, help="write every figure there; default for a full run: results/")
    given = parser.parse_args(words)
    if not given.alone and find_spec("solvi") is None:
        parser.error("the peer is not installed: pip install 'surefoot[bench]', or --alone")
    sizes = (
        [int(float(size)) for size in given.sizes.split(",")] if given.sizes else list(SIZES[: 3 if given.quick else 5])
    )
    report = Report("Learning what is accepted", command_of(__file__))
    print(f"{report.title}: {here()}")
    contenders = {report.ours: ours} if given.alone else {report.ours: ours, report.peer: peers}
    measure(report, contenders, sizes, given.cap or (10.0 if given.quick else CAP))
    memory(report, contenders, sizes)
    print(f"\n{report.table()}\n")
    for note in report.notes:
        print(f"*  {note}")
    judged = judge(report)
    for target, met in judged:
        print(f"{'pass' if met else '-   ' if met is None else 'MISS'}  {target}")
    report.checks = [
        f"{'pass' if met else 'not measured' if met is None else 'MISS'}: {target}" for target, met in judged
    ]
    if given.json or not (given.quick or given.sizes):
        report.write(given.json or results_of(__file__))
    return 1 if given.strict and any(met is False for _, met in judged) else 0


if __name__ == "__main__":
    sys.exit(main())
