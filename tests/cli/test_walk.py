from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot.cli import main


def test_it_walks_there_and_shows_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x.map")
    assert main(["walk", "corridor:2", "--to", "=2", "--map", path]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("walked corridor:2: target reached, at =2 after 5 steps\n")
    assert "\n  1  =0  left   refused: a wall\n" in shown
    assert "\n  5  =1  right  =2\n" in shown
    assert main(["walk", "corridor:2", "--to", "=2", "--map", path, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["targets"] == [2]
    assert report["trail"] == [
        {"action": "right", "state": 0, "to": 1, "verdict": "accepted", "why": None},
        {"action": "right", "state": 1, "to": 2, "verdict": "accepted", "why": None},
    ]


def test_a_target_that_is_not_there_is_a_no_with_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tree" / "garden").mkdir(parents=True)
    assert main(["walk", f"files:{tmp_path}/tree", "--to", "gardn"]) == 1
    shown = capsys.readouterr().out
    assert "no way known" in shown
    assert "The nearest states that the map knows:\n  garden\n" in shown


def test_text_is_not_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["walk", "corridor:2", "--to", "2"]) == 1
    assert "The nearest states that the map knows:\n  =2\n" in capsys.readouterr().out


def test_any_of_several_targets_will_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["walk", "corridor:9", "--to", "=8", "--to", "=1", "--to", "nowhere"]) == 0
    assert "at =1 after" in capsys.readouterr().out


def test_only_known_ways_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["walk", "corridor:2", "--to", "=2", "--known-only"]) == 1
    assert "after 0 steps" in capsys.readouterr().out


def test_out_of_steps_is_a_no(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["walk", "corridor:20", "--to", "=20", "--steps", "7"]) == 1
    assert "out of steps" in capsys.readouterr().out


def test_of_a_long_way_the_end_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["walk", "corridor:20", "--to", "=20"]) == 0
    shown = capsys.readouterr().out
    assert "  … 29 earlier steps\n" in shown
    assert "\n  30  " in shown
    assert "\n  29  " not in shown


def test_reasons_from_the_world_cannot_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tree" / "a\x1b[2Jb").mkdir(parents=True)
    assert main(["walk", f"files:{tmp_path}/tree", "--to", '="a\\u001b[2Jb"']) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert '="a\\u001b[2Jb"' in shown
