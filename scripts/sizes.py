"""Say which functions and modules outgrow the house's soft limits; fail where one is twice too long.

Usage: python scripts/sizes.py
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["main", "overlong"]

ROOT = Path(__file__).resolve().parent.parent
FUNCTION, MODULE = 60, 400
"""Soft limits, in lines; twice as many fail."""


def overlong(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield (what, its lines, its soft limit) for everything in one file that is over its limit."""
    source = path.read_text(encoding="utf-8")
    lines = source.count("\n")
    if lines > MODULE:
        yield "the module", lines, MODULE
    for node in statements(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION:
                yield f"line {node.lineno}: {node.name}()", lines, FUNCTION


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the statements in it, to any depth, but none of the expressions: they are most of a tree."""
    yield node
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, name, None)
        for child in inner if isinstance(inner, list) else ():
            yield from statements(child)


def main() -> int:
    """Print what is over its limit; return 1 when something is over twice its limit."""
    worst = 0
    for path in sorted((ROOT / "src").rglob("*.py")):
        for what, lines, limit in overlong(path):
            over = lines > 2 * limit
            worst |= over
            verdict = "TOO LONG" if over else "long"
            print(
                f"{verdict}: {path.relative_to(ROOT)}: {what} has {lines} lines (soft limit {limit}, hard {2 * limit})"
            )
    return worst


if __name__ == "__main__":
    sys.exit(main())
