from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot.cli import main


def test_it_says_what_happened_and_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = str(tmp_path / "x.jsonl"), tmp_path / "x.html"
    assert main(["agent", "corridor:3", "--episodes", "2", "--journal", path]) == 0
    capsys.readouterr()
    assert main(["report", path, "--html", str(page)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("2 episodes, 11 decisions: 3 fast, 8 slow\n")
    assert shown.endswith(f"written to {page}\n")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["report", path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["decisions"] == {"fast": 3, "none": 0, "slow": 8}
    assert [episode["steps"] for episode in told["episodes"]] == [8, 3]
