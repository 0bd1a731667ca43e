"""Tables of what was found: printed as Markdown while a benchmark runs, and kept for its page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from _harness import command_of, here

__all__ = ["Tables", "markdown"]


class Tables:
    """Tables, each with its title."""

    def __init__(self, title: str, script: str) -> None:
        """Start with none.

        Args:
            title: what was measured.
            script: the benchmark, as a path.
        """
        self.title, self.command, self.where = title, command_of(script), here()
        self.all: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.targets: list[dict[str, Any]] = []

    def add(self, title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Add a table and print it; a table without rows is left out."""
        found = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
        if found:
            self.all.append({"title": title, "head": list(head), "rows": found})
            print(f"\n{title}\n\n{markdown(head, found)}\n", flush=True)

    def judge(self, target: str, found: str, held: bool) -> None:
        """Say of a target what was found, and whether it was met."""
        self.targets.append({"target": target, "found": found, "held": held})

    def say_targets(self) -> bool:
        """Print each target; return whether all were met."""
        for target in self.targets:
            print(f"{'pass' if target['held'] else 'MISS'}  {target['target']}: {target['found']}")
        return all(target["held"] for target in self.targets)

    def write(self, path: Path, more: Mapping[str, Any]) -> None:
        """Write everything as JSON, as `publish.py` reads it."""
        data: dict[str, Any] = {"title": self.title, "command": self.command, **self.where, "notes": self.notes}
        data |= {"checks": [], "targets": self.targets, "rows": [], "tables": self.all, **more}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
