"""A site that nobody here wrote, served on loopback: Debian's python3-doc, else the pages that come with pygame."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from surefoot.environments.site import Site
from surefoot.protocols import Outcome
from surefoot.testing.loopback import LoopbackSite

HOME = ("home",)
Action = tuple[str | int, ...]


def documentation() -> tuple[Path, int]:
    """Return a folder with a real site in it and how many pages to walk, or skip and say what is missing."""
    for folder in sorted(Path("/usr/share/doc").glob("python3*/html")):
        if (folder / "library" / "index.html").is_file():
            return folder, 300
    package = importlib.util.find_spec("pygame")
    if package is not None and package.origin is not None:
        folder = Path(package.origin).parent / "docs" / "generated"
        if folder.is_dir():
            return folder, 60
    pytest.skip("no documentation site is installed: apt-get install python3-doc, or pip install pygame")


@dataclass
class Crawl:
    """A walk over a site, nearest pages first, by `step` alone."""

    site: Site
    way: dict[str, list[Action]] = field(default_factory=dict)
    refused: dict[str, Outcome[str]] = field(default_factory=dict)
    surprises: list[tuple[str, str]] = field(default_factory=list)

    def until(self, pages: int) -> None:
        """Walk until so many pages were found, or all."""
        start = self.site.reset()
        self.way = {start: []}
        queue = [start]
        for state in queue:
            here = ""
            for action, target in self.site.signs(state):
                if target in self.way or target in self.refused or len(self.way) >= pages:
                    continue
                if here != state:
                    self.go(state)
                here = self.follow(state, action, target)
                if here not in self.way:
                    self.way[here] = [*self.way[state], action]
                    queue.append(here)

    def go(self, state: str) -> None:
        """Walk to a page that is known: home, and from there."""
        self.site.step(HOME)
        for action in self.way[state]:
            assert self.site.step(action).accepted

    def follow(self, state: str, action: Action, target: str) -> str:
        """Follow a link for the first time; return where that led."""
        out = self.site.step(action)
        assert out.fault is None, out
        if out.accepted:
            assert out.effect == {"page": out.state}
            assert self.site.describe(out.state)["status"] == 200
            if out.state != target:
                self.surprises.append((target, out.state))
        else:
            assert out.state == state
            self.refused[target] = out
        return out.state


@pytest.fixture(scope="module")
def crawled() -> Iterator[tuple[Path, LoopbackSite, Crawl]]:
    folder, pages = documentation()
    with LoopbackSite(folder=folder) as server, Site(f"{server.url}/index.html", recheck=False) as site:
        crawl = Crawl(site)
        crawl.until(pages)
        assert len(crawl.way) == pages
        yield folder, server, crawl


def test_a_real_site_is_found_page_by_page(crawled: tuple[Path, LoopbackSite, Crawl]) -> None:
    folder, server, crawl = crawled
    for state in crawl.way:
        page = (folder / state.removeprefix("/")).resolve()
        assert page.is_file() or (page / "index.html").is_file(), state
    assert max(len(way) for way in crawl.way.values()) <= 4
    asked = [path for path, _ in server.asked]
    assert len(asked) == len(set(asked)), "recheck=False asks for each page once"
    assert crawl.surprises == [], "files do not redirect: each sign holds, or the link is dead"


def test_what_was_shown_on_a_real_site_is_what_is_on_offer(crawled: tuple[Path, LoopbackSite, Crawl]) -> None:
    _, server, crawl = crawled
    asked = len(server.asked)
    links = 0
    for state in list(crawl.way)[:100]:
        actions = crawl.site.actions(state)
        links += len(actions)
        assert len(set(actions)) == len(actions)
        assert [action for action, _ in crawl.site.signs(state)] == actions
        assert all(crawl.site.url_of(target).startswith(server.url) for _, target in crawl.site.signs(state))
        assert crawl.site.describe(state)["links"] == len(actions) - (HOME in actions)
    assert links > 500
    assert len(server.asked) == asked


def test_a_dead_link_of_a_real_site_is_refused(crawled: tuple[Path, LoopbackSite, Crawl]) -> None:
    folder, _, crawl = crawled
    whats_new = "/whatsnew/index.html"
    if whats_new not in crawl.way or (folder / "whatsnew" / "changelog.html").exists():
        pytest.skip("this site has no dead link that is known: apt-get install python3-doc brings one that has")
    crawl.go(whats_new)
    (dead,) = [action for action, target in crawl.site.signs(whats_new) if target == "/whatsnew/changelog.html"][:1]
    out = crawl.site.step(dead)
    assert (out.verdict, out.state, out.reason) == ("refused", whats_new, "404 Not Found")
    assert crawl.site.actions(whats_new)[0] == crawl.site.actions(out.state)[0]
    assert crawl.site.step(HOME).state == "/index.html"
