"""Learning what is accepted: ours beside solvi's action model, as the number of observations grows.

    python benchmarks/bench_actions.py [--sizes 1e3,5e3,1e4,1e5,1e6] [--worlds noise,skewed] [--conditions 5,20]
                                       [--turn 25] [--quick] [--alone] [--floor] [--cap 60] [--json FILE]

One action, 5 or 20 conditions of five labels each, all as likely, and four worlds: *clean* (refused where one of two
conditions holds its fifth label), *noise* (the same, and 1 % of what is accepted is refused all the same), *skewed*
(noise, with labels as 9 : 7 : 5 : 3 : 1), *continuous* (one of the conditions is a number in [0, 1), refused above 0.9,
instead of a label).

A model that has taken in so many observations observes up to 1,000 more and predicts: the call just observed ("observe,
then predict", in turn), calls observed a little earlier ("predict"), and calls that were not observed ("predict, new";
with 20 conditions hardly any call comes twice). The models take turns, 25 calls each (`--turn`), and figures are CPU
time per call, the median over the turns. Ours observes everything; the peer gets what was before by its `replay`, which
is no part of the figures: it would take hours to observe. One figure may take a quarter of the cap; what was done until
then counts, marked `*`, and larger sizes are left out. Ours alone, up to 1e6: `--alone --sizes 1e3,1e4,1e5,1e6`.

Then batches: 10,000 calls at once, as coded columns, as columns of plain lists, and as states, beside the single call.
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

import numpy as np

from _harness import CAP, Report, Sample, command_of, here, quiet, results_of
from surefoot.learners.batches import Coded
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.vocabulary import Vocabulary
from surefoot.protocols import Prediction

__all__ = ["main"]

SIZES = (1_000, 5_000, 10_000, 100_000, 1_000_000)
WORLDS = ("clean", "noise", "skewed", "continuous")
WEIGHTS = (9, 7, 5, 3, 1)
CONDITIONS = (5, 20)
EVERY = tuple((world, conditions) for world in WORLDS for conditions in CONDITIONS)
CHUNK = 500
CALLS = 1_000
TURN = 25
BATCH = 10_000
BOTH = "observe, then predict"
Row = tuple[tuple[Any, ...], bool]
World = tuple[str, int]
"""A world by name, and how many conditions it has."""
Predicate = Callable[[Any, Mapping[str, Any]], Any]

GROWTH = 2.0
"""How much more a call may take at the largest size than at the smallest: as good as constant."""
TARGETS = (
    ("noise", 10_000, 50.0),
    ("noise", 100_000, 500.0),
    ("skewed", 10_000, 50.0),
    ("skewed", 100_000, 500.0),
    ("continuous", 5_000, 1_000.0),
)
AT_ONCE = 20.0
"""How many times faster a row of a coded batch is to be than a single call."""


def rows(world: str, conditions: int, number: int, seed: int) -> Iterator[list[Row]]:
    """Yield calls in chunks, the same for the same seed: a tuple of condition values, and whether it is accepted."""
    rng = random.Random(f"{world} {conditions} {seed}")
    labels = "abcde"
    for start in range(0, number, CHUNK):
        chunk: list[Row] = []
        for _ in range(min(CHUNK, number - start)):
            held: list[Any] = rng.choices(labels, WEIGHTS if world == "skewed" else None, k=conditions)
            accepted = held[1] != "e"
            if world == "continuous":
                held[0] = rng.random()
                accepted = accepted and held[0] <= 0.9
            else:
                accepted = accepted and held[0] != "e"
            if world in ("noise", "skewed") and rng.random() < 0.01:
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


class Floor:
    """What the least costs that any such model must do: read the conditions, look the vector up, and answer."""

    def __init__(self, conditions: int) -> None:
        self._vocabulary = Vocabulary(predicates(conditions))
        self._seen: dict[tuple[Any, ...], int] = {}

    def observe(self, state: Any, action: str, args: Mapping[str, Any], accepted: bool) -> Prediction:
        """Count a vector."""
        vector = self._vocabulary.features(state, action, args)
        times = self._seen.get(vector, 0)
        self._seen[vector] = times + 1
        return Prediction("unknown", 0.5, times, "", False, None, action)

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        """Look a vector up."""
        vector = self._vocabulary.features(state, action, args)
        return Prediction("unknown", 0.5, self._seen.get(vector, 0), "", False, None, action)


def floor(world: str, conditions: int, number: int) -> Any:
    """Return what learns nothing; it needs no calls before."""
    return Floor(conditions)


def run(
    models: Mapping[str, Any], world: str, conditions: int, calls: int, limit: float, turn: int = TURN
) -> dict[str, dict[str, list[Sample]]]:
    """Return what observing calls takes, predicting them again, both in turn, and predicting calls that are new.

    Over the limit a model is stopped after its turn, and what it has done counts.
    """

    def observe(model: Any, row: Row) -> None:
        model.observe(row[0], "act", {}, row[1])

    def predict(model: Any, row: Row) -> None:
        model.predict(row[0], "act", {})

    def both(model: Any, row: Row) -> None:
        model.observe(row[0], "act", {}, row[1])
        model.predict(row[0], "act", {})

    first, second, new = (
        [row for chunk in rows(world, conditions, calls, seed) for row in chunk] for seed in (2, 3, 4)
    )
    parts = {BOTH: (both, first), "observe": (observe, second), "predict": (predict, second)}
    parts["predict, new"] = predict, new
    for model in models.values():
        predict(model, new[0])  # the peer works out what it replayed when it is first asked
    with quiet():
        return {what: _in_turn(models, do, found, limit, turn) for what, (do, found) in parts.items()}


def _in_turn(
    models: Mapping[str, Any], do: Callable[[Any, Row], None], found: Sequence[Row], limit: float, size: int = TURN
) -> dict[str, list[Sample]]:
    """Return what each model takes for its turns; the loop around the calls is counted."""
    taken: dict[str, list[Sample]] = {who: [] for who in models}
    for start in range(0, len(found), size):
        turn = found[start : start + size]
        for who, model in models.items():
            if taken[who] and taken[who][-1].capped:
                continue
            cpu, wall = time.process_time(), time.perf_counter()
            for row in turn:
                do(model, row)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            over = sum(sample.cpu for sample in taken[who]) + cpu > limit and start + size < len(found)
            taken[who].append(Sample(cpu, wall, len(turn), over))
    return taken


def batches(report: Report, size: int, worlds: Sequence[World] = EVERY, repeats: int = 7) -> None:
    """Measure ours on very many calls at once, after `size` observations: calls that are new, and calls observed."""
    for world, conditions in worlds:
        report.section = f"at once: {world}, {conditions} conditions"
        model = ours(world, conditions, size)
        for what, seed in (("new", 4), ("observed", 1)):
            states = [state for chunk in rows(world, conditions, size, seed) for state, _ in chunk]
            ways = ways_of(model, states, coded(model.vocabulary.names, states))
            samples: dict[str, list[Sample]] = {way: [] for way in ways}
            model.predict_many(states, "act")  # the arrays are made once
            with quiet():
                for _ in range(repeats):
                    for way, (ask, count) in ways.items():
                        cpu, wall = time.process_time(), time.perf_counter()
                        ask()
                        taken = time.process_time() - cpu, time.perf_counter() - wall
                        samples[way].append(Sample(*taken, count))
            for way, found in samples.items():
                report.add(f"{report.section}, {what}: {way}", report.ours, size, found)


def coded(names: Sequence[str], states: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """Return states as columns, labels coded."""
    columns: dict[str, Any] = {}
    for name, column in zip(names, zip(*states, strict=True), strict=True):
        if isinstance(column[0], float):
            columns[name] = np.array(column)
        else:
            labels = sorted(set(column))
            columns[name] = Coded(labels, np.array([labels.index(label) for label in column]))
    return columns


def ways_of(
    model: ConservativeActionModel, states: list[tuple[Any, ...]], columns: Mapping[str, Any]
) -> dict[str, tuple[Callable[[], object], int]]:
    """Return the ways to predict states, and how many calls each makes."""
    lists = {name: list(column) for name, column in zip(columns, zip(*states, strict=True), strict=True)}
    few = states[:CALLS]

    def one_by_one() -> None:
        for state in few:
            model.predict(state, "act", {})

    return {
        "single calls": (one_by_one, len(few)),
        "coded columns": (lambda: model.predict_columns(columns, "act"), len(states)),
        "columns of lists": (lambda: model.predict_columns(lists, "act"), len(states)),
        "states": (lambda: model.predict_many(states, "act"), len(states)),
    }


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
    report: Report,
    contenders: Mapping[str, Callable[[str, int, int], Any]],
    worlds: Sequence[World],
    sizes: Sequence[int],
    limit: float,
    turn: int,
) -> None:
    """Measure worlds at every size; a contender that was stopped is left out of the larger ones."""
    for world, conditions in worlds:
        report.section = f"{world}, {conditions} conditions"
        stopped: set[str] = set()
        for size in sizes:
            models = {who: make(world, conditions, size) for who, make in contenders.items() if who not in stopped}
            taken = run(models, world, conditions, min(size // 10, CALLS), limit / 4, turn)
            for what, found in taken.items():
                for who, samples in found.items():
                    report.add(f"{report.section}: {what}", who, size, samples)
                    if any(sample.capped for sample in samples):
                        stopped.add(who)


def memory(
    report: Report,
    contenders: Mapping[str, Callable[[str, int, int], Any]],
    worlds: Sequence[World],
    sizes: Sequence[int],
) -> None:
    """Weigh the models: few different cases (5 conditions), and almost all different (20)."""
    for conditions in (conditions for world, conditions in worlds if world == "clean"):
        report.section = f"memory, clean, {conditions} conditions"
        for size in (size for size in sizes if size <= 100_000):
            distinct = len({state for chunk in rows("clean", conditions, size, seed=1) for state, _ in chunk})
            for who, make in contenders.items():
                held = weigh(make, conditions, size)
                report.note(f"{report.section}: an observation", who, size, held / size, "B")
                report.note(f"{report.section}: a distinct case", who, size, held / distinct, "B")


def judge(report: Report, worlds: Sequence[World]) -> bool:
    """Say of each target whether it was met; return whether none was missed."""
    _judge_growth(report, worlds)
    _judge_peer(report, worlds)
    _judge_batches(report, worlds)
    return all(one["held"] is not False for one in report.judged)


def _judge_growth(report: Report, worlds: Sequence[World]) -> None:
    """Say whether calls take the same however many were observed before."""
    for world, conditions in worlds:
        for what in (BOTH, "observe", "predict", "predict, new"):
            name = f"{world}, {conditions} conditions: {what}"
            growth = report.growth(name, report.ours)
            text = "needs two sizes" if growth is None else f"×{growth[0]:.2f} from {growth[1]:,} to {growth[2]:,}"
            held = None if growth is None else growth[0] <= GROWTH
            report.found(f"{name} is constant (at most ×{GROWTH:g})", text, held)


def _judge_peer(report: Report, worlds: Sequence[World]) -> None:
    """Say whether ours is as much faster than the peer as it should be."""
    for world, size, at_least in TARGETS:
        for conditions in (conditions for known, conditions in worlds if known == world):
            what = f"{world}, {conditions} conditions: {BOTH}"
            ratio, row = report.ratio(what, size), report.find(what, report.peer, size)
            calls = "" if row is None or not row.capped else f" (over {row.ops * row.repeats} calls of the peer)"
            text = "not measured" if ratio is None else f"{ratio:,.3g}×{calls}"
            held = None if ratio is None else ratio >= at_least
            report.found(f"{world}, {conditions} conditions, {size:,} calls: at least {at_least:g}×", text, held)
    for conditions in (conditions for known, conditions in worlds if known == "clean"):
        what = f"clean, {conditions} conditions: {BOTH}"
        for size in report.sizes(what, report.peer):
            ratio = report.ratio(what, size)
            assert ratio is not None  # both have a figure at the peer's sizes
            report.found(f"clean, {conditions} conditions, {size:,} calls: not slower", f"{ratio:.2f}×", ratio >= 1.0)


def _judge_batches(report: Report, worlds: Sequence[World]) -> None:
    """Say whether a row of a coded batch takes as much less than a single call as it should."""
    for world, conditions in worlds:
        for what in ("new", "observed"):
            name = f"at once: {world}, {conditions} conditions, {what}"
            single, many = (
                report.find(f"{name}: {way}", report.ours, BATCH) for way in ("single calls", "coded columns")
            )
            times = None if single is None or many is None or not single.cpu or not many.cpu else single.cpu / many.cpu
            text = "not measured" if times is None else f"{times:.1f}×"
            held = None if times is None else times >= AT_ONCE
            report.found(f"{name}: coded columns at least {AT_ONCE:g}×", text, held)


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures."""
    parser = argparse.ArgumentParser(description="Measure how fast what is accepted is learned.")
    parser.add_argument("--sizes", help="numbers of observations, with commas; default: 1e3,5e3,1e4,1e5,1e6")
    parser.add_argument("--worlds", default=",".join(WORLDS), help="some of the worlds, with commas")
    parser.add_argument("--conditions", default="5,20", help="numbers of conditions, with commas")
    parser.add_argument("--turn", type=int, default=TURN, help="calls of a model before the other takes its turn")
    parser.add_argument("--quick", action="store_true", help="1e3, 5e3 and 1e4 only, cap of 10 s")
    parser.add_argument("--alone", action="store_true", help="without the peer")
    parser.add_argument("--floor", action="store_true", help="beside them what learns nothing: the least it can cost")
    parser.add_argument("--cap", type=float, default=0.0, help="CPU seconds for a contender and size, default 60")
    parser.add_argument("--strict", action="store_true", help="a missed target is an error")
    parser.add_argument("--json", type=Path, help="write every figure there; default for a full run: results/")
    given = parser.parse_args(words)
    if not given.alone and find_spec("solvi") is None:
        parser.error("the peer is not installed: pip install 'surefoot[bench]', or --alone")
    sizes = (
        [int(float(size)) for size in given.sizes.split(",")] if given.sizes else list(SIZES[: 3 if given.quick else 5])
    )
    worlds = [(world, int(many)) for world in given.worlds.split(",") for many in given.conditions.split(",")]
    if not set(worlds) <= set(EVERY):
        parser.error(f"worlds are {', '.join(WORLDS)} with 5 or 20 conditions, got {worlds}")
    report = Report("Learning what is accepted", command_of(__file__))
    print(f"{report.title}: {here()}")
    contenders = {report.ours: ours} if given.alone else {report.ours: ours, report.peer: peers}
    if given.floor:
        contenders["floor"] = floor
    measure(report, contenders, worlds, sizes, given.cap or (10.0 if given.quick else CAP), given.turn)
    if BATCH in sizes:
        batches(report, BATCH, worlds)
    contenders.pop("floor", None)
    memory(report, contenders, worlds, sizes)
    print(f"\n{report.table()}\n")
    for note in report.notes:
        print(f"*  {note}")
    met = judge(report, worlds)
    if given.json or not (given.quick or given.sizes or set(worlds) < set(EVERY)):
        report.write(given.json or results_of(__file__))
    return 1 if given.strict and not met else 0


if __name__ == "__main__":
    sys.exit(main())
