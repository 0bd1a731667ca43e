"""The laws of every environment, tried on a small site with all that can happen to a link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from surefoot.environments.site import Site
from surefoot.protocols import Environment
from surefoot.testing import EnvironmentContract
from surefoot.testing.loopback import LoopbackSite, Page, Reply

PAGES: dict[str, Page] = {
    "/": "<title>Start</title><a href=a>A</a><a href=/gone>Gone</a><a href=/old>Old</a><a href=/broken>Broken</a>",
    "/a": Reply("<a href=/>Next</a><a href=/b?x=1>Next</a><a href=/private>P</a>", headers={"ETag": '"a"'}),
    "/b?x=1": "<a href=/a.zip>Zip</a><a href=#top>Top</a><a href=http://elsewhere.example/>E</a>",
    "/a.zip": Reply(b"PK", kind="application/zip"),
    "/old": Reply(status=301, headers={"Location": "/a"}),
    "/broken": Reply(status=503),
    "/robots.txt": "User-agent: *\nDisallow: /private",
}


class TestSite(EnvironmentContract):
    seeds, examples, long, steps = (0,), 5, 30, 10
    offered = True
    server: LoopbackSite

    @pytest.fixture(autouse=True)
    def _serve(self, served: LoopbackSite) -> None:
        type(self).server = served

    def make(self) -> Environment[Any, Any]:
        return Site(self.server.url)

    def walk(self) -> Sequence[Any]:
        return [("link", "Gone"), ("link", "Old"), ("link", "P"), ("link", "Next", 2), ("link", "Zip"), ("home",)]


@pytest.fixture(scope="module")
def served() -> Iterator[LoopbackSite]:
    with LoopbackSite(PAGES) as server:
        yield server
