from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot import WorldMap
from surefoot.cli import main


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "docs" / "img").mkdir(parents=True)
    (root / "docs" / "index.md").write_text("hello")
    (root / "__pycache__").mkdir()
    return root


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    report = json.loads(out)
    assert isinstance(report, dict)
    return report


def test_it_explores_and_says_what_it_found(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", f"files:{tree}", "--without", "__pycache__"]) == 0
    shown = capsys.readouterr()
    assert f"explored files:{tree}: nothing left" in shown.out
    assert "4 visited of 4 known" in shown.out
    assert "in memory, and gone now" in shown.out
    assert shown.err == "", "no progress where there is no terminal"


def test_it_keeps_the_map_and_goes_on_from_it(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x.map")
    first = ["explore", f"files:{tree}", "--map", path, "--steps", "2", "--json"]
    assert main(first) == 0
    report = told(capsys)
    assert (report["stopped"], report["steps"], report["map"]) == ("out of steps", 2, path)
    assert main(["explore", f"files:{tree}", "--map", path]) == 0
    assert "nothing left" in capsys.readouterr().out
    assert main(["explore", f"files:{tree}", "--map", path, "--json"]) == 0
    report = told(capsys)
    assert (report["steps"], report["stats"]["unchecked"]) == (0, 0)
    with WorldMap(path) as known:
        assert str(known.head) == report["head"]
        assert known.verify()


def test_what_was_cut_short_says_how_to_go_on(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x map")
    assert main(["explore", f"files:{tree}", "--map", path, "--steps", "1"]) == 0
    assert f"To go on:\n  surefoot explore files:{tree} --map '{path}' --steps 1\n" in capsys.readouterr().out


def test_states_are_exact_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "corridor:2", "--json"]) == 0
    report = told(capsys)
    assert (report["state"], report["refused"], report["given_up"], report["world"]) == (2, 1, [], "corridor:2")


def test_a_world_with_dice_is_noticed_and_mapped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "lake.map")
    world = "gym:FrozenLake-v1?map_name=4x4"
    assert main(["explore", world, "--seed", "3"]) == 0
    assert "led somewhere else than the time before. A world with dice? --stochastic" in capsys.readouterr().out
    assert main(["explore", world, "--map", path, "--stochastic"]) in (0, 1)
    assert "A world with dice" not in capsys.readouterr().out
    with WorldMap(path) as known:
        assert known.settings.stochastic
        assert len(known.claim(0, 2).counts) > 1  # type: ignore[union-attr]  # it is there


def test_all_episodes_may_have_one_seed(tmp_path: Path) -> None:
    for flag in ([], ["--same-seed"]):
        assert main(["explore", "gym:FrozenLake-v1?is_slippery=false", "--seed", "5", *flag]) == 0


def test_what_cannot_be_reached_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x.map")
    with WorldMap(path) as known:
        known.see("attic", "window")
    assert main(["explore", "corridor:2", "--map", path]) == 0
    assert "What is unchecked (1) cannot be reached" in capsys.readouterr().out


def test_a_world_that_breaks_has_an_exit_code_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    from surefoot.testing.loopback import LoopbackSite, Reply

    with LoopbackSite({"/": "<a href=a>A</a> <a href=b>B</a>", "/a": Reply("", 503), "/b": "b"}) as site:
        asked = ["explore", f"site:{site.url}/", "-o", "obey_robots=no", "--pause", "0", "--retries", "1"]
        assert main(asked) == 3
    shown = capsys.readouterr().out
    assert "world faulted" in shown
    assert "1 actions were given up, the last for: 503" in shown
    assert 'Given up (1), for this walk only:\n  /  =["link","A"]\n' in shown
    assert "2 faults" in shown
