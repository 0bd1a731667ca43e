from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

bench = importlib.import_module("bench_agent_site")


def test_it_counts_clicks_against_the_fewest_possible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = tmp_path / "site"
    site.mkdir()
    pages = {"index": "a b contents", "a": "c index", "b": "d", "c": "e", "d": "", "e": "", "contents": "a b c d e"}
    for page, links in pages.items():
        text = "".join(f'<a href="{to}.html#top">to {to}</a>' for to in links.split())
        (site / f"{page}.html").write_text(text, encoding="utf-8")
    assert bench.fewest(site) == {
        "/index.html": 0, "/a.html": 1, "/b.html": 1, "/contents.html": 1, "/c.html": 2, "/d.html": 2, "/e.html": 2
    }  # fmt: skip
    assert bench.fewest(site, ["/contents.html"])["/e.html"] == 3
    assert bench.main([str(site), "--tasks", "4", "--json", str(tmp_path / "out.json")]) == 0
    shown = capsys.readouterr().out
    assert "without tables and indexes: 6 pages, by clicks from the start: [1, 2, 2, 1]" in shown
    assert "all the same" in shown
    rows = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["rows"]
    clicks = {who: [row["value"] for row in rows if row["who"] == who] for who in ("surefoot", "fewest")}
    assert all(ours >= least for ours, least in zip(clicks["surefoot"], clicks["fewest"], strict=True))
    assert any(ours == least for ours, least in zip(clicks["surefoot"], clicks["fewest"], strict=True))
