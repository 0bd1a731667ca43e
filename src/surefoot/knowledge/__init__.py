"""What is known of a world, as folds over the journal: maps, routes, and what else an agent may know."""

from __future__ import annotations

__all__: list[str] = []
