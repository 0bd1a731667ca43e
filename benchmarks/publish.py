"""Write what was measured into docs/explanation/measured*.md: each results/<what>.json between its two marks.

python benchmarks/publish.py
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from _harness import Report, Row

__all__ = ["main", "section_of"]

HERE = Path(__file__).resolve().parent
PAGES = HERE.parent / "docs" / "explanation"
WORDS = {True: "yes", False: "**no**", None: "not measured"}


def section_of(found: dict[str, Any]) -> str:
    """Return the Markdown for one run."""
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    load = " ".join(str(part) for part in found["load"])
    lines = [
        f"- command: `{found['command']}`",
        f"- date: {found['date']}; revision: {found['revision']}",
        f"- Python {found['python']}, {versions}; {found['system']}, {found['cpus']} CPUs, load at the end {load}",
        *(f"- {note}" for note in found["notes"]),
        *(
            [f"- checked in the same run: {len(found['checks'])} comparisons of the maps, all equal"]
            * bool(found["checks"])
        ),
    ]
    if found["targets"]:
        lines += ["", "| target | found | held |", "|---|---|---|"]
        lines += [f"| {t['target']} | {t['found']} | {WORDS[t['held']]} |" for t in found["targets"]]
    for table in found.get("tables", ()):
        lines += ["", f"**{table['title']}**", "", "| " + " | ".join(table["head"]) + " |"]
        lines += ["|---" * len(table["head"]) + "|", *("| " + " | ".join(row) + " |" for row in table["rows"])]
    report = Report(found["title"], found["command"], rows=[Row(**row) for row in found["rows"]])
    return "\n".join([*lines, "", report.table()]).rstrip()


def main() -> int:
    """Rewrite the pages; return 1 when a result has no place on any of them."""
    texts = {page: page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("measured*.md"))}
    missing = 0
    for path in sorted((HERE / "results").glob("*.json")):
        section = section_of(json.loads(path.read_text(encoding="utf-8")))
        marks = rf"(<!-- {path.stem} -->\n).*?(<!-- /{path.stem} -->)"
        found = []
        for page, text in texts.items():
            texts[page], times = re.subn(
                marks, lambda old, new=section: old[1] + new + "\n" + old[2], text, flags=re.DOTALL
            )  # type: ignore[misc]  # its argument is a default
            found += [page.name] * times
        print(
            f"{path.stem}: {'written to ' + ', '.join(found) if found else f'no marks <!-- {path.stem} --> anywhere'}"
        )
        missing |= not found
    for page, text in texts.items():
        page.write_text(text, encoding="utf-8")
    return missing


if __name__ == "__main__":
    sys.exit(main())
