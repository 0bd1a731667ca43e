"""Models learned from what was recorded: what a world accepts, refuses and changes."""

from __future__ import annotations

__all__: list[str] = []
