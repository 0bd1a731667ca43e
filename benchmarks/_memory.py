"""Weigh one map in a process of its own: `python benchmarks/_memory.py surefoot|solvi CLAIMS rss|traced [FILE]`.

Prints JSON: bytes that the process grew by while the map was filled (or opened from FILE), and with its answers to
`next` and `explore`. `rss` is resident memory, what the system gives; `traced` is what Python allocated.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tracemalloc
from importlib import import_module
from pathlib import Path
from typing import Any

from _worlds import Grid

__all__ = ["weigh"]


def weigh(who: str, claims: int, how: str, path: str | None = None) -> dict[str, float]:
    """Return bytes per claim, filled and after routing."""
    make: Any
    if who == "surefoot":
        import numpy as np  # loaded before the scales are set to zero
        import scipy.sparse.csgraph

        make = import_module("surefoot.knowledge.worldmap").WorldMap
        scipy.sparse.csgraph.dijkstra(scipy.sparse.csr_array(np.eye(2)), indices=[0], min_only=True)
    else:
        make = import_module("solvi.core.knowledge.worldmap").WorldMap
    grid = Grid(claims)
    corner = (grid.side - 1, grid.side - 1)
    small = Grid(100).fill(make())
    small.next((0, 0), {(1, 1)}), small.explore((0, 0)), small.verify()
    del small
    grid.edges, grid.taken  # noqa: B018  # made before what is measured
    zero = _weight(how, start=True)
    m: Any = grid.fill(make()) if path is None else make(path)
    filled = _weight(how) - zero
    m.next((0, 0), {corner})
    m.next((0, 0), {(grid.side - 1, 0)})
    m.explore((0, 0))
    routed = _weight(how) - zero
    count = len(grid.edges)
    return {"claims": count, "filled": filled / count, "routed": routed / count}


def _weight(how: str, *, start: bool = False) -> int:
    gc.collect()
    if how == "traced":
        if start:
            tracemalloc.start()
        return tracemalloc.get_traced_memory()[0]
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    who, claims, how, *path = sys.argv[1:]
    print(json.dumps(weigh(who, int(claims), how, *path)))
