"""Hold a learner with no vocabulary to what it states: small random worlds with a hidden rule, with and without noise.

    python benchmarks/bench_induction_worlds.py [--worlds 200] [--calls 400] [--noise 0,0.002,0.01,0.05] [--json FILE]
                                                [--quick] [--rules]

For each world (`_hidden_rules.py`) and rate of noise (accepted calls reported as refused, in training only) a model of
each `caution` observes some calls and is asked about as many fresh ones. A world counts as broken when any answer was
wrong. Of the worlds with noise, so many may be broken as the stated confidence allows, and without noise none in "safe"
mode. Beside it, how often it abstained. What a model states of the rate of its flakes is not checked here.
"""

from __future__ import annotations

import argparse
import random
import sys
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

from _harness import results_of
from _hidden_rules import World
from _induction import induced
from _tables import Tables
from _verdicts import Counts

__all__ = ["allowed", "main", "try_world"]

WORLDS, CALLS = 200, 400
NOISE = (0.0, 0.002, 0.01, 0.05)
CAUTIONS = ("balanced", "safe")
STATED = 0.95
"""What is stated of answers and of intervals: at least so often they hold."""


def try_world(seed: int, calls: int, noise: float, caution: str) -> tuple[Counts, str, Any]:
    """Return what came of a world, its rule, and the model."""
    world, model = World(seed), induced(caution=caution)
    rng = random.Random(f"noise {seed}")
    for _ in range(calls):
        call = world.call()
        model.observe(call.state, world.action, call.args, call.accepted and rng.random() >= noise)
    asked = [world.call() for _ in range(calls)]
    pairs = [(model.predict(call.state, world.action, call.args).verdict, call.accepted) for call in asked]
    return Counts.of(pairs), world.words, model


def allowed(worlds: int, stated: float = STATED, error: float = 0.01) -> int:
    """Return how many of some worlds may be broken: more would happen with under `error` if `stated` were true."""
    tail = 0.0
    for broken in range(worlds, -1, -1):
        tail += comb(worlds, broken) * (1 - stated) ** broken * stated ** (worlds - broken)
        if tail > error:
            return broken
    return 0


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures."""
    parser = argparse.ArgumentParser(description="Hold a learner to what it states, in random worlds.")
    parser.add_argument("--worlds", type=int, default=WORLDS)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--noise", type=lambda text: [float(part) for part in text.split(",")], default=list(NOISE))
    parser.add_argument("--json", type=Path, help="write every figure there")
    parser.add_argument("--quick", action="store_true", help="ten worlds of 150 calls")
    parser.add_argument("--rules", action="store_true", help="print the rules of broken worlds")
    given = parser.parse_args(words)
    if given.quick:
        given.worlds, given.calls = min(given.worlds, 10), min(given.calls, 150)
    tables = Tables("Random worlds with a hidden rule", __file__)
    tables.notes.append(f"{given.worlds} worlds, {given.calls} calls observed and as many asked in each")
    rows = []
    for rate, caution in product(given.noise, CAUTIONS):
        found = [try_world(seed, given.calls, rate, caution)[:2] for seed in range(given.worlds)]
        for seed, (counts, rule) in enumerate(found):
            if counts.errors and given.rules:
                print(f"  {rate:.1%} {caution}: seed {seed}, {counts.fa} FA {counts.fr} FR: {rule}", flush=True)
        all_counts = [counts for counts, _ in found]
        broken = sum(counts.errors > 0 for counts in all_counts)
        falsely = sum(counts.fa > 0 for counts in all_counts)
        silent = sum(counts.ur + counts.ua for counts in all_counts)
        wrong = sum(counts.errors for counts in all_counts)
        asked = sum(counts.n for counts in all_counts)
        rows.append([f"{rate:.1%}", caution, falsely, broken, f"{wrong} of {asked:,}", f"{silent / asked:.2%}"])
        name, most = f"{rate:.1%} noise, {caution}", allowed(given.worlds)
        if caution == "safe" and not rate:
            tables.judge(f"{name}: no false accept", f"in {falsely} worlds", not falsely)
        tables.judge(f"{name}: at most {most} worlds with a wrong answer", str(broken), broken <= most)
    head = ["noise", "caution", "worlds with a false accept", "worlds with a wrong answer", "wrong answers", "unknown"]
    tables.add("What is stated, and what happened", head, rows)
    tables.say_targets()
    where = given.json or (None if given.quick else results_of(__file__))
    if where is not None:
        tables.write(where, {})
    return 0


if __name__ == "__main__":
    sys.exit(main())
