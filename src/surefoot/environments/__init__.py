"""Worlds that are ready to walk, one module each; import the one you need.

| module | world | a state is |
|---|---|---|
| `surefoot.environments.corridor` | the smallest one there is, to try things on | the number of a cell |
| `surefoot.environments.files` | a tree of files and directories | a path below the root |
| `surefoot.environments.commands` | the command tree of a program, read from its help | the words of a command |
| `surefoot.environments.database` | the rows of a database, SQLite or PostgreSQL | the rows |
| `surefoot.environments.site` | the pages of a web site | a normalised address |
| `surefoot.environments.tools` | programs that say yes or no by their exit code; a git repository | what readers read |
| `surefoot.environments.from_gymnasium` | any Gymnasium environment with discrete actions | its observation |
| `surefoot.environments.from_model` | any model of `surefoot.models` | the name of a state, or of what is observed |

Each says in its own documentation which of the seven shapes of a refusal it reads. None imports another one, and this
package imports none of them.

Example:
    >>> from surefoot.environments.corridor import Corridor
    >>> Corridor(length=2).reset(seed=0)
    0
"""

from __future__ import annotations

__all__: list[str] = []
