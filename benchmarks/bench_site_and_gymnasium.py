"""Measure how fast a real site and the toy environments of Gymnasium are walked.

Usage: python benchmarks/bench_site_and_gymnasium.py [FOLDER]

FOLDER holds a site with an index.html; by default Debian's python3-doc. It is served on loopback by this same process,
so the figure for pages includes the server's share.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium

from surefoot.environments.from_gymnasium import FromGymnasium
from surefoot.environments.site import Site
from surefoot.testing.loopback import LoopbackSite

__all__ = ["crawl", "main"]

HOME = ("home",)
STEPS = 50_000


def crawl(folder: Path, *, recheck: bool) -> str:
    """Walk every page of the site in `folder` by `step` alone, nearest first, and say how long it took."""
    with LoopbackSite(folder=folder) as server, Site(f"{server.url}/index.html", recheck=recheck) as site:
        began, cpu = time.perf_counter(), time.process_time()
        start = site.reset()
        ways: dict[str, list[Any]] = {start: []}
        refused, steps, queue = set(), 0, [start]
        for state in queue:
            here = ""
            for action, target in site.signs(state):
                if target in ways or target in refused:
                    continue
                for go in [HOME, *ways[state]] if here != state else []:
                    site.step(go)
                    steps += 1
                out = site.step(action)
                steps += 1
                here = out.state
                if not out.accepted:
                    refused.add(target)
                elif here not in ways:
                    ways[here] = [*ways[state], action]
                    queue.append(here)
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        asked = len(server.asked)
    return (
        f"site, recheck={recheck}: {len(ways)} pages, {steps} steps, {asked} requests, {len(refused)} refused: "
        f"{wall:.2f} s ({cpu:.2f} s CPU), {len(ways) / wall:.0f} new pages/s, {asked / wall:.0f} requests/s"
    )


def per_second(step: Callable[[int], bool], reset: Callable[[], object]) -> float:
    """Return how many steps a second `step(number)` takes; it says when the episode is over."""
    reset()
    began = time.perf_counter()
    for number in range(STEPS):
        if step(number):
            reset()
    return STEPS / (time.perf_counter() - began)


def play(name: str) -> str:
    """Step an environment as it is and as a world, with the same actions."""
    raw = gymnasium.make(name)
    count = int(raw.action_space.n)  # type: ignore[attr-defined]  # its space is Discrete
    bare = per_second(lambda number: any(raw.step(number * 7 % count)[2:4]), raw.reset)
    with FromGymnasium(name, mask=None) as world:
        ours = per_second(lambda number: world.step(number * 7 % count).done, world.reset)
    return f"{name}: {ours:,.0f} steps/s as a world, {bare:,.0f} as it is, {1e6 / ours - 1e6 / bare:.1f} µs on top"


def main() -> int:
    """Print every figure."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/doc/python3-doc/html")
    if (folder / "index.html").is_file():
        for recheck in (False, True):
            print(crawl(folder, recheck=recheck))
    else:
        print(f"no site in {folder}: apt-get install python3-doc, or name a folder")
    for name in ("FrozenLake-v1", "CartPole-v1", "Taxi-v4"):
        print(play(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
