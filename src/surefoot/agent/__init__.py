"""What walks a world and keeps a map of it: one loop that closes the circle, and a walker that needs no model.

| name | what it does |
|---|---|
| `begin`, `step`, `look` | one step: the world's answer becomes what the map knows (`surefoot.agent.loop`) |
| `explore` | take whatever is unchecked until nothing is left (`surefoot.agent.walker`) |
| `walk` | get to a state that is named, by a known way or by exploring |

Example:
    >>> from surefoot import WorldMap
    >>> from surefoot.environments.corridor import Corridor
    >>> known = WorldMap()
    >>> explore(Corridor(length=3), known).stopped.value, walk(Corridor(length=3), known, {3}).steps
    ('nothing left', 3)
"""

from __future__ import annotations

from surefoot.agent.loop import Noticed, begin, look, step
from surefoot.agent.walker import Step, Stopped, Walk, explore, walk

__all__ = ["Noticed", "Step", "Stopped", "Walk", "begin", "explore", "look", "step", "walk"]
