"""Write docs/reference/: a page for each module or package of surefoot, its row in the index, its line in the menu.

Usage: python scripts/reference.py           write them
       python scripts/reference.py --check   say which files are out of date, and fail
"""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path

__all__ = ["main", "tree_of", "wanted"]

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "surefoot"
FOLDER = ROOT / "docs" / "reference"
ORDER = (
    "errors values protocols events journal drawing knowledge models environments learners solvers gym checking".split()
)
"""Pages in the order of the layers, from the bottom; what is not named here comes after, by name."""
BY_HAND = {"command-line.md"}
"""Pages that are written, not generated."""


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a module, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))


def defines_public_names(path: Path) -> bool:
    """Return whether a module defines at least one name of its `__all__` itself (and does not only pass names on)."""
    public: set[str] = set()
    passed_on: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            public = set(ast.literal_eval(node.value))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("surefoot"):
            passed_on |= {alias.asname or alias.name for alias in node.names}
    return bool(public - passed_on)


def first_sentence(top: str) -> str:
    """Return the first line of the docstring of a module or package right below surefoot, without its full stop."""
    path = SOURCE / f"{top}.py"
    path = path if path.is_file() else SOURCE / top / "__init__.py"
    if not path.is_file():
        raise SystemExit(f"add {path.relative_to(ROOT)}, with a docstring that says what the folder is for")
    return (ast.get_docstring(tree_of(path)) or top).splitlines()[0].removesuffix(".").replace("|", "\\|")


def modules() -> dict[str, list[str]]:
    """Return {module or package right below surefoot: the public modules in it}."""
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if parts and not any(part.startswith("_") for part in parts) and defines_public_names(path):
            found.setdefault(parts[0], []).append(".".join(("surefoot", *parts)))
    return dict(sorted(found.items(), key=lambda item: (ORDER.index(item[0]) if item[0] in ORDER else 99, item[0])))


def public_names() -> list[str]:
    """Return a row for each name that `surefoot` itself offers: the name, and where it is described."""
    homes: dict[str, str] = {}
    for node in tree_of(SOURCE / "__init__.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            homes = ast.literal_eval(node.value)
    return [f"| `{name}` | [{home}]({home.split('.')[1]}.md) |" for name, home in homes.items()]


def between(text: str, start: str, end: str, lines: list[str]) -> str:
    """Return `text` with what stands between two markers replaced by `lines`."""
    pattern = re.compile(rf"({re.escape(start)}\n).*?(^[^\n]*{re.escape(end)})", re.DOTALL | re.MULTILINE)
    if not pattern.search(text):
        raise SystemExit(f"the markers {start!r} and {end!r} are gone; put them back")
    return pattern.sub(lambda match: match[1] + "".join(f"{line}\n" for line in lines) + match[2], text, count=1)


def wanted() -> dict[Path, str]:
    """Return what every file of the reference should say."""
    listed = modules()
    files = {
        FOLDER / f"{top}.md": f"# surefoot.{top}\n\n" + "\n".join(f"::: {module}\n" for module in inside)
        for top, inside in listed.items()
    }
    index, menu = FOLDER / "index.md", ROOT / "mkdocs.yml"
    rows = [f"| [surefoot.{top}]({top}.md) | {first_sentence(top)} |" for top in listed]
    files[index] = between(index.read_text(encoding="utf-8"), "|---|---|", "<!-- end of modules -->", rows)
    files[index] = between(files[index], "|:--|:--|", "<!-- end of names -->", public_names())
    lines = [f"      - {top}: reference/{top}.md" for top in listed]
    files[menu] = between(
        menu.read_text(encoding="utf-8"), "- All modules: reference/index.md", "- Explanation:", lines
    )
    return files


def main(arguments: list[str]) -> int:
    """Write what is out of date, or with `--check` only name it; return the exit code."""
    files = wanted()
    stale = [path for path, text in files.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    extra = [path for path in FOLDER.glob("*.md") if path not in files and path.name not in BY_HAND]
    for path in [*stale, *extra]:
        name = path.relative_to(ROOT)
        if "--check" in arguments:
            print(f"{name} is out of date: run `python scripts/reference.py`")
        elif path in extra:
            path.unlink()
            print(f"removed {name}")
        else:
            path.write_text(files[path], encoding="utf-8")
            print(f"wrote {name}")
    return bool(stale or extra) if "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
