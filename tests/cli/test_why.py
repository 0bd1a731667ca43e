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
        known.told("hall", "north", "garden", quote="a \x1b[5msign", by="Ann")
        known.arrive("hall", "north", "cellar", step=7)
    return path


def test_the_story(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "--map", path, "hall", "north"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("'north' in 'hall' leads to 'cellar' (confirmed, observed)\n")
    assert "told: a hypothesis  [by Ann, “a \\x1b[5msign”]" in shown
    assert "observed: refutes 'garden' (hypothesis, told)  [step 7]" in shown
    assert "\x1b" not in shown


def test_the_story_in_json(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "--map", path, "hall", "north", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["state"], report["action"], report["claim"]["to"]) == ("hall", "north", "cellar")
    assert [(step["seq"], step["kind"], step["to"]) for step in report["steps"]] == [
        (1, "told", "garden"),
        (2, "arrive", "cellar"),
    ]


@pytest.mark.parametrize(
    ("state", "action", "says"),
    [
        ("hal", "north", "the map has no state 'hal'; the nearest: hall"),
        ("hall", "nort", "the map knows no action 'nort' in that state; the nearest: north"),
        ("garden", "north", "the map knows no action 'north' in that state"),
    ],
)
def test_what_the_map_has_never_heard_of_is_bad_input(
    state: str, action: str, says: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", "--map", path, state, action]) == 2
    assert capsys.readouterr().err == f"Error: {says}\n"
