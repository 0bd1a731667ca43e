from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot.cli import main
from surefoot.cli.models import write_model
from surefoot.models import MDP

KEEP = 'P>=0.95 [ G !"bad" ]'


@pytest.fixture
def ledge(tmp_path: Path) -> str:
    path = str(tmp_path / "ledge.drn")
    model = MDP(
        choice_start=[0, 2, 2, 2],
        choice_action=[0, 1],
        branch_start=[0, 1, 3],
        target=[1, 1, 2],
        probability=[1.0, 0.5, 0.5],
        initial=0,
        action_names=["walk", "jump"],
        state_names=["edge", "home", "gorge"],
        labels={"bad": ["gorge"]},
    )
    write_model(model, path)
    return path


def test_what_may_be_done_and_why_not_the_rest(ledge: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shield", ledge, KEEP]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0] == f"{KEEP}: can be kept from the start; 1 of 2 choices allowed"
    assert "  edge: walk; refused: jump\n  home: the end\n" in shown
    assert main(["shield", ledge, KEEP, "--state", "edge"]) == 0
    assert "can be kept with 0.5 at most; walk keeps it with 1" in capsys.readouterr().out


def test_the_exit_code_says_whether_it_can_be_kept(ledge: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shield", ledge, KEEP, "--state", "gorge", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["keeps"] is False
    assert main(["shield", ledge, KEEP, "--state", "egde"]) == 2
    assert "edge" in capsys.readouterr().err
    assert main(["shield", ledge, 'Pmax=? [ F "bad" ]']) == 2


def test_all_of_it_is_written_as_json(ledge: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shield.json"
    assert main(["shield", ledge, KEEP, "-o", str(path)]) == 0
    made = json.loads(path.read_text(encoding="utf-8"))
    assert [row["allowed"] for row in made["states"]] == [["walk"], [], []]
    assert made["states"][0]["refused"][0]["worth"] == 0.5
    assert f"wrote {path}: 3 states" in capsys.readouterr().err
    assert main(["shield", ledge, KEEP, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == made
