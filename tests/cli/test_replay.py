from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot.cli import main


def test_every_decision_is_made_again_and_one_that_was_edited_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.jsonl"
    assert main(["agent", "corridor:3", "--episodes", "2", "--journal", str(path)]) == 0
    capsys.readouterr()
    before = path.read_bytes()
    assert main(["replay", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: 11 decisions made again from the journal: all the same\n"
    assert path.read_bytes() == before
    path.write_bytes(before.replace(b'"action":"right"', b'"action":"wrong"', 1))
    assert main(["replay", str(path)]) == 4
    told = capsys.readouterr().err
    assert told.startswith(f"Error: {path}: entry ")
    assert "was edited: its hash does not fit what it says; take it from a copy that" in told
    for command in (["replay", str(path)], ["report", str(path)], ["agent", "corridor:3", "--journal", str(path)]):
        path.write_bytes(before[:700])
        assert main(command) == 4
        assert f"`surefoot verify --map {path} --repair` keeps the 2" in " ".join(capsys.readouterr().err.split())
        assert path.read_bytes() == before[:700]


def test_what_is_no_journal_is_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(tmp_path / "none.jsonl")]) == 2
    assert "surefoot agent WORLD --journal" in capsys.readouterr().err
    (tmp_path / "text.jsonl").write_text("hello\n")
    assert main(["replay", str(tmp_path / "text.jsonl")]) == 4
    capsys.readouterr()
    path = str(tmp_path / "x.jsonl")
    assert main(["agent", "corridor:1", "--journal", path, "--json"]) == 0
    head = json.loads(capsys.readouterr().out)["head"]
    assert main(["replay", path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["head"], told["decisions"], told["predicted"]) == (True, head, 2, 2)
