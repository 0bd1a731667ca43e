"""Let an agent get to 20 pages of a real documentation site over HTTP, one after the other, and count its clicks.

    python benchmarks/bench_agent_site.py [FOLDER] [--tasks N] [--json FILE]

FOLDER holds a site with an index.html; by default Debian's python3-doc. It is served on loopback by this same process.
What the agent knows is carried from task to task, and half-way through its journal is closed and opened anew. The
fewest clicks possible are those of a breadth-first search over all links of all files, by a parser that is not ours.

Twice: the whole site, whose table of contents links to nearly all pages, and the site without its tables and indexes.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import deque
from collections.abc import Collection, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from _harness import Report, here, results_of
from surefoot import Agent, Knowledge
from surefoot.environments.site import Site
from surefoot.testing.loopback import LoopbackSite

__all__ = ["Trimmed", "fewest", "main", "site_folder", "tasks_of"]

START = "/index.html"
TABLES = ("contents.html", "genindex.html", "genindex-all.html", "py-modindex.html", "modindex.html", "search.html")
LIMIT = 5_000
SECONDS = 900.0
CLICKS = "{}: clicks to page"


class Links(HTMLParser):
    """Collect where the links of a page lead."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in a link."""
        to = dict(attrs).get("href") if tag in ("a", "area") else None
        if to:
            self.found.append(to)


def fewest(folder: Path, without: Collection[str] = ()) -> dict[str, int]:
    """Return {page: the fewest clicks from the start page}, by breadth-first search over the files."""
    clicks = {START: 0}
    queue = deque(clicks)
    while queue:
        page = queue.popleft()
        parser = Links()
        parser.feed((folder / page.lstrip("/")).read_text(encoding="utf-8", errors="replace"))
        for link in parser.found:
            address = urlsplit(urljoin(f"http://site{page}", link))
            to = unquote(address.path)
            known = to in clicks or to in without or address.netloc != "site" or not to.endswith(".html")
            if not known and (folder / to.lstrip("/")).is_file():
                clicks[to] = clicks[page] + 1
                queue.append(to)
    return clicks


class Trimmed(Site):
    """A site some of whose pages are not linked to.

    Args:
        start: the URL of the start page.
        without: the pages.
        options: see `Site`.
    """

    def __init__(self, start: str, without: Collection[str], **options: Any) -> None:
        super().__init__(start, **options)
        self._without = frozenset(without)

    def actions(self, state: str) -> Sequence[tuple[str | int, ...]]:
        """Return the links that are left."""
        offered = super().actions(state)
        links = self._page(state).links
        return [action for action in offered if links.get(action) not in self._without] if self._without else offered


def tasks_of(clicks: dict[str, int], count: int) -> list[str]:
    """Return pages to get to, drawn from all that can be reached; the same each time."""
    pages = sorted(page for page in clicks if page != START)
    return random.Random(1).sample(pages, min(count, len(pages)))


def play(report: Report, name: str, folder: Path, without: Collection[str], count: int) -> None:
    """Let an agent do the tasks in one version of the site, and write down its clicks."""
    report.section = name
    clicks = fewest(folder, without)
    depth = [sum(n == far for n in clicks.values()) for far in range(max(clicks.values()) + 1)]
    report.notes.append(f"{name}: {len(clicks)} pages, by clicks from the start: {depth}")
    shortest, cpu = [], []
    with (
        tempfile.TemporaryDirectory() as place,
        LoopbackSite(folder=folder) as server,
        Trimmed(f"{server.url}{START}", without, recheck=False) as site,
    ):
        kept = Path(place) / "knowledge.jsonl"
        knowledge = Knowledge(kept)
        for number, page in enumerate(tasks_of(clicks, count), 1):
            if number == count // 2 + 1:  # as another process would
                knowledge.journal.close()
                knowledge = Knowledge(kept)
            knowledge.goal(page, done=lambda state, page=page: state == page)
            began = time.process_time()
            episode = Agent(site, knowledge=knowledge).run(steps=LIMIT, seconds=SECONDS)
            cpu.append(time.process_time() - began)
            knowledge.agenda.drop_goal(page)
            report.note(CLICKS.format(name), report.ours, number, episode.steps, "clicks")
            report.note(CLICKS.format(name), report.peer, number, clicks[page], "clicks")
            shortest.append(bool(episode) and episode.steps == clicks[page])
            if not episode:
                report.notes.append(f"{name}, task {number}: {page}: {episode.stopped.value}")
        began = time.process_time()
        told = f"{Agent(site, knowledge=knowledge).replay()}, in {time.process_time() - began:.1f} s of CPU"
        entries = len(knowledge.journal)
        knowledge.journal.close()
        size = kept.stat().st_size / 1e6
    late = next((n for n in range(len(shortest)) if all(shortest[n:])), len(shortest))
    report.notes += [
        f"{name}: {sum(shortest)} of {len(shortest)} tasks took the fewest clicks, all from task {late + 1} on",
        f"{name}: {sum(cpu):.1f} s of CPU with the server's share; {entries:,} entries, {size:.1f} MB; {told}",
    ]


def site_folder(given: str | None) -> Path | None:
    """Return the folder of a site that is there, None without one."""
    folders = [Path(given)] if given else sorted(Path("/usr/share/doc").glob("python3*/html"))
    return next((folder for folder in folders if (folder / "index.html").is_file()), None)


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures."""
    parser = argparse.ArgumentParser(description="Measure how an agent gets around a documentation site.")
    parser.add_argument("folder", nargs="?", help="a site with an index.html; default: Debian's python3-doc")
    parser.add_argument("--tasks", type=int, default=20, help="how many pages to get to; default 20")
    parser.add_argument("--json", type=Path, help="write every figure there; default for a full run: results/")
    given = parser.parse_args(words)
    folder = site_folder(given.folder)
    if folder is None:
        parser.error("no site: apt-get install python3-doc, or name a folder with an index.html")
    tables = [f"/{name}" for name in TABLES if (folder / name).is_file()]
    report = Report("An agent on a documentation site", "python benchmarks/bench_agent_site.py FOLDER", peer="fewest")
    print(f"{report.title}: {here()}")
    play(report, "the whole site", folder, (), given.tasks)
    if tables:
        play(report, "without tables and indexes", folder, tables, given.tasks)
    print(f"\n{report.table()}\n")
    for note in report.notes:
        print(f"*  {note}")
    if given.json or given.tasks == 20:
        report.write(given.json or results_of(__file__))
    return 0


if __name__ == "__main__":
    sys.exit(main())
