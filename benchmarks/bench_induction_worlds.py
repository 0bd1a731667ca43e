"""Hold a learner with no vocabulary to what it states: small random worlds with a hidden rule, with and without noise.

    python benchmarks/bench_induction_worlds.py [--worlds 200] [--calls 200] [--noise 0,0.01,0.05] [--json FILE]
                                                [--quick] [--rules]

For each world (`_hidden_rules.py`) and rate of noise (accepted calls reported as refused, in training only) a model of
each `caution` observes some calls and is asked about as many fresh ones. What is held against it:

- "safe" accepts nothing that is refused, ever;
- a refusal is stated at log odds of 6: at most 1 in 403 may be wrong; acceptance while at most 2 % of the calls may
  show a reason that was not met: at most 2 % may be wrong;
- of the worlds, at most 5 % have any wrong answer (more would happen with under 1 % chance if that were so);
- the upper 95 % bound that is stated of the rate of flakes holds in as many worlds.

Beside it, how often it abstained.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from itertools import product
from math import comb, exp
from pathlib import Path
from typing import Any

from _harness import results_of
from _hidden_rules import World
from _induction import induced
from _tables import Tables
from _verdicts import Counts

__all__ = ["allowed", "main", "try_world"]

WORLDS, CALLS = 200, 200
NOISE = (0.0, 0.01, 0.05)
CAUTIONS = ("balanced", "safe")
STATED = 0.95
"""What is stated of worlds and of bounds: at least so often they hold."""
WRONG_REFUSALS = 1 / (1 + exp(6.0))
WRONG_ACCEPTANCES = 0.02
"""What is stated of single answers."""


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


def _judged(tables: Tables, name: str, caution: str, found: Sequence[tuple[Counts, bool]]) -> list[object]:
    """Hold one kind of model to what it states, in all worlds; return its row."""
    counts, most = [one for one, _ in found], allowed(len(found))
    fa, fr, ta, tr = (sum(getattr(c, kind) for c in counts) for kind in ("fa", "fr", "ta", "tr"))
    falsely, broken = sum(c.fa > 0 for c in counts), sum(c.errors > 0 for c in counts)
    unbound = sum(not held for _, held in found)
    silent = sum(c.ur + c.ua for c in counts) / sum(c.n for c in counts)
    if caution == "safe":
        tables.judge(f"{name}: no false accept", f"{fa} in {falsely} worlds", not fa)
    else:
        limit = WRONG_ACCEPTANCES * (fa + ta)
        tables.judge(f"{name}: at most {WRONG_ACCEPTANCES:.0%} of acceptances wrong", f"{fa} of {fa + ta}", fa <= limit)
    limit = WRONG_REFUSALS * (fr + tr)
    tables.judge(f"{name}: at most {WRONG_REFUSALS:.2%} of refusals wrong", f"{fr} of {fr + tr}", fr <= limit)
    tables.judge(f"{name}: at most {most} worlds with a wrong answer", str(broken), broken <= most)
    tables.judge(f"{name}: the bound of flakes fails in at most {most} worlds", str(unbound), unbound <= most)
    wrong = [f"{fa} of {fa + ta:,}", f"{fr} of {fr + tr:,}"]
    return [name, falsely, broken, *wrong, f"{silent:.2%}", f"{len(found) - unbound} of {len(found)}"]


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
        found = []
        for seed in range(given.worlds):
            counts, rule, model = try_world(seed, given.calls, rate, caution)
            found.append((counts, model.flake_rate(World.action)[1] >= rate))
            if counts.errors and given.rules:
                print(f"  {rate:.1%} {caution}: seed {seed}, {counts.fa} FA {counts.fr} FR: {rule}", flush=True)
        rows.append(_judged(tables, f"{rate:.1%} noise, {caution}", caution, found))
    head = ["noise, caution", "worlds with a false accept", "with a wrong answer", "false accepts", "false refusals"]
    tables.add("What is stated, and what happened", [*head, "unknown", "bound of flakes holds"], rows)
    tables.say_targets()
    where = given.json or (None if given.quick else results_of(__file__))
    if where is not None:
        tables.write(where, {})
    return 0


if __name__ == "__main__":
    sys.exit(main())
