from __future__ import annotations

import os
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx
import pytest

from surefoot.errors import BadArgument
from surefoot.testing.loopback import LoopbackSite, Page, Reply


def test_it_serves_pages_replies_and_functions_and_writes_down_who_asked() -> None:
    def teapot(handler: BaseHTTPRequestHandler) -> None:
        handler.send_error(418)

    pages: dict[str, Page] = {"/": "<p>é", "/r": Reply(b"\x00", 201, {"X-A": "b"}, kind=None), "/t?x=1": teapot}
    with LoopbackSite(pages) as site, httpx.Client(base_url=site.url) as client:
        assert client.get("/").text == "<p>é"
        got = client.get("/r", headers={"X-Me": "you"})
        assert (got.status_code, got.content, got.headers["x-a"], "content-type" in got.headers) == (
            201,
            b"\x00",
            "b",
            False,
        )
        assert client.get("/t?x=1").status_code == 418
        assert client.get("/t").status_code == 404
        site.pages["/t"] = "now"
        assert client.get("/t").text == "now"
        assert [path for path, _ in site.asked] == ["/", "/r", "/t?x=1", "/t", "/t"]
        assert site.asked[1][1]["X-Me"] == "you"
    assert "/t" not in pages
    with pytest.raises(BadArgument, match="with block"):
        site.url  # noqa: B018  # it raises


def test_it_serves_a_folder_and_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("secret")
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "index.html").write_text("sub")
    (root / "a b.txt").write_text("text")
    os.symlink(tmp_path / "secret.html", root / "out.html")
    with LoopbackSite({"/sub/x": "made"}, folder=root) as site, httpx.Client(base_url=site.url) as client:
        assert client.get("/sub/").text == "sub"
        assert client.get("/sub/x").text == "made"
        got = client.get("/a%20b.txt?v=1")
        assert (got.text, got.headers["content-type"]) == ("text", "text/plain")
        again = client.get("/a%20b.txt", headers={"If-Modified-Since": got.headers["last-modified"]})
        assert (again.status_code, again.content) == (304, b"")
        for path in ("/", "/out.html", "/%2e%2e/secret.html", "/none.html"):
            assert client.get(path).status_code == 404, path
    with pytest.raises(BadArgument, match="folder must be a folder"):
        LoopbackSite(folder=tmp_path / "none")
