"""A database as a world: its rows are the state, statements are the actions, a constraint that says no is a refusal.

`Database` is the world. `SQLite` and `Postgres` are the engines behind it, `Constraint` is what a catalogue says.
"""

from __future__ import annotations

from surefoot.environments.database.engine import Constraint
from surefoot.environments.database.postgres import Postgres
from surefoot.environments.database.sqlite import SQLite
from surefoot.environments.database.world import Database

__all__ = ["Constraint", "Database", "Postgres", "SQLite"]
