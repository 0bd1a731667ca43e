from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot import WorldMap
from surefoot.cli import main


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "house.map")
    with WorldMap(path, stochastic=True) as known:
        known.visit("hall", title="The \x1b[31mHall", doors=["n", "s"])
        known.see("hall", "north", to="garden").see("hall", "south").see("hall", ("up", 1))
        known.refuse("hall", "south", "locked")
        for to in ("garden", "shed", "garden"):
            known.arrive("hall", "north", to)
    return path


def test_the_whole_map(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--map", path]) == 0
    shown = capsys.readouterr().out
    assert "3 states, 3 claims" in shown
    assert "1 visited of 3 known" in shown
    assert "1 confirmed, 1 refused, 1 unchecked (0 of them doubtful)" in shown
    assert "stochastic, an unchecked step counts 3" in shown
    assert "start     hall" in shown
    assert 'Left to check (1):\n  hall  =["up",1]\n' in shown
    assert "Led now here, now there (1):\n  hall  north\n" in shown
    with WorldMap(path) as known:
        assert f"head {known.head}" in shown


def test_the_whole_map_in_json(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--map", path, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["stats"]["refused"] == 1
    assert report["settings"]["stochastic"] is True
    assert report["frontier"] == [{"action": ["up", 1], "state": "hall"}]
    assert (report["first"], report["command"]) == ("hall", "show")


def test_one_state(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--map", path, "hall"]) == 0
    assert capsys.readouterr().out == (
        "hall: visited 1 time\n"
        '  doors  ["n","s"]\n'
        "  title  The \\x1b[31mHall\n"
        "\n"
        "What can be done there (3):\n"
        "  north      garden (2) or shed (1)  confirmed   observed  taken 3 times\n"
        "  south      ?                       refused     seen      taken 0 times\n"
        '  =["up",1]  ?                       hypothesis  seen      taken 0 times\n'
    )


def test_one_state_in_json(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--map", path, "hall", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["facts"]["doors"] == {"~l": ["n", "s"]}
    assert report["claims"][0]["outcomes"] == [{"times": 2, "to": "garden"}, {"times": 1, "to": "shed"}]
    assert [claim["refused"] for claim in report["claims"]] == [False, True, False]


def test_long_lists_are_cut_and_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x.map")
    with WorldMap(path) as known:
        for number in range(30):
            known.see("hall", f"door {number:02}")
    assert main(["show", "--map", path]) == 0
    assert "  … and 10 more\n" in capsys.readouterr().out
    assert main(["show", "--map", path, "hall", "--most", "29"]) == 0
    assert "  … and 1 more\n" in capsys.readouterr().out
    assert main(["show", "--map", path, "--most", "30"]) == 0
    assert "…" not in capsys.readouterr().out


def test_a_doubtful_claim_is_called_so(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    with WorldMap(path) as known:
        known.drop()
    assert main(["show", "--map", path, "hall"]) == 0
    assert "  north      garden  doubtful    observed" in capsys.readouterr().out
    assert main(["show", "--map", path]) == 0
    assert "2 of them doubtful" in capsys.readouterr().out


def test_an_empty_map_and_an_unknown_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "empty.map")
    with WorldMap(path) as known:
        known.save()
    assert main(["show", "--map", path]) == 0
    assert "0 states, 0 claims" in capsys.readouterr().out
    assert main(["show", "--map", path, "hall"]) == 2
    assert capsys.readouterr().err == "Error: the map has no state 'hall'\n"
