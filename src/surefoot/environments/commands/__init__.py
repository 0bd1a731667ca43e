"""The commands of a program as a world to walk, found by asking for help and by nothing else.

`Commands` is the world, `HelpStyle` says how a program is asked and `commands_in` how its answer is read.
"""

from __future__ import annotations

from surefoot.environments.commands.grammar import Listed, commands_in
from surefoot.environments.commands.style import STYLES, HelpStyle
from surefoot.environments.commands.world import RUN, Commands

__all__ = ["RUN", "STYLES", "Commands", "HelpStyle", "Listed", "commands_in"]
