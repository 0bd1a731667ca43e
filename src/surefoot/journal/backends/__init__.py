"""Where a journal's lines are kept: one file a backend, all behind `surefoot.journal.Backend`."""

from __future__ import annotations

__all__: list[str] = []
