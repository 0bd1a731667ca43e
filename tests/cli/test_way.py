from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot import WorldMap
from surefoot.cli import main


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "house.map")
    with WorldMap(path) as known:
        known.see("hall", "north", to="garden").see("garden", "gate", to=("road", 1)).see("attic", "look")
        known.arrive("hall", "north", "garden")
    return path


def test_the_way_its_cost_and_how_sure_each_step_is(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["way", "--map", path, "--from", "hall", "--to", '=["road",1]']) == 0
    assert capsys.readouterr().out == (
        '2 steps, cost 4: hall to =["road",1]\n'
        "  hall    north  garden       confirmed\n"
        '  garden  gate   =["road",1]  hypothesis\n'
    )


def test_the_same_in_json(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["way", "--map", path, "--from", "hall", "--to", '=["road",1]', "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["cost"], report["known"], report["reached"], report["to"]) == (4, True, False, ["road", 1])
    assert report["steps"][1] == {"action": "gate", "state": "garden", "status": "hypothesis", "to": ["road", 1]}


def test_no_way_is_a_no(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["way", "--map", path, "--from", "hall", "--to", "attic"]) == 1
    assert capsys.readouterr().out == "no way is known from hall to attic\n"
    assert main(["way", "--map", path, "--from", "hall", "--to", "attic", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["cost"] is None


def test_there_already(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["way", "--map", path, "--from", "hall", "--to", "hall", "--to", "garden"]) == 0
    assert capsys.readouterr().out == "already there: hall\n"


def test_confirmed_claims_alone(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["way", "--map", path, "--from", "hall", "--confirmed", "--to"]
    assert main([*asked, '=["road",1]']) == 1
    assert main([*asked, "garden"]) == 0
    with WorldMap(path) as known:
        known.drop()
    assert main([*asked, "garden"]) == 1
    assert main(["way", "--map", path, "--from", "hall", "--to", "garden"]) == 0
    assert "hypothesis, doubtful" in capsys.readouterr().out


def test_an_unknown_state_is_bad_input_with_the_nearest(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["way", "--map", path, "--from", "hal", "--to", "garden"]) == 2
    assert capsys.readouterr().err == "Error: the map has no state 'hal'; the nearest: hall\n"
    assert main(["way", "--map", path, "--from", "hall", "--to", "road 1"]) == 2
    assert '=["road",1]' in capsys.readouterr().err


def test_asking_changes_nothing(path: str) -> None:
    before = Path(path).read_bytes()
    assert main(["way", "--map", path, "--from", "hall", "--to", "garden"]) == 0
    assert Path(path).read_bytes() == before


def test_without_from_it_starts_at_the_start(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["way", "--map", path, "--to", "garden"]) == 0
    assert capsys.readouterr().out.startswith("1 step, cost 1: hall to garden\n")
    empty = str(tmp_path / "empty.map")
    with WorldMap(empty) as known:
        known.drop()
    assert main(["way", "--map", empty, "--to", "garden"]) == 2
    assert "is empty: surefoot explore WORLD --map" in capsys.readouterr().err
