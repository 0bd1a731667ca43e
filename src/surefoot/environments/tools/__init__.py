"""Programs as a world: each call runs one, its exit code says whether it was taken, readers say what it changed.

`Tools` is the world, `Tool` one program with its arguments, `Reader` a part of the state. `Git` is a git repository.
"""

from __future__ import annotations

from surefoot.environments.tools.git import Git
from surefoot.environments.tools.tool import Reader, Tool
from surefoot.environments.tools.world import Tools

__all__ = ["Git", "Reader", "Tool", "Tools"]
