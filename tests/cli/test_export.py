from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from surefoot import WorldMap
from surefoot.cli import main


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "house.map")
    with WorldMap(path) as known:
        known.see("hall", "north", to="garden").see("garden", ("up", 1))
    return path


def test_each_format_is_what_the_map_gives(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    with WorldMap(path) as known:
        wanted = {
            "--dot": known.to_dot(),
            "--graphml": known.to_graphml(),
            "--html": known.to_html("house.map"),
        }
    for option, text in wanted.items():
        assert main(["export", "--map", path, option]) == 0
        assert capsys.readouterr().out.rstrip("\n") == text.rstrip("\n")
    assert ET.fromstring(wanted["--graphml"]) is not None


def test_json_is_all_of_it(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--map", path, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [claim["action"] for claim in data["claims"]] == ["north", ["up", 1]]
    assert len(data["journal"]) == 3


def test_a_file_is_written_whole_with_the_usual_rights(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "house.html"
    assert main(["export", "--map", path, "--html", "-o", str(page), "--title", "My house"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"wrote {page}: 2 states, 2 claims, " in shown.err
    assert "<title>My house</title>" in page.read_text(encoding="utf-8")
    plain = tmp_path / "plain"
    plain.write_text("")
    assert page.stat().st_mode == plain.stat().st_mode
    assert sorted(p.name for p in tmp_path.iterdir()) == ["house.html", "house.map", "plain"]


def test_a_failed_export_leaves_what_was_there(path: str, tmp_path: Path) -> None:
    (tmp_path / "x.dot").mkdir()
    assert main(["export", "--map", path, "--dot", "-o", str(tmp_path / "x.dot")]) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["house.map", "x.dot"]


def test_where_nothing_can_be_written_the_file_is_named(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in (tmp_path / "no" / "such" / "x.dot", Path(path) / "x.dot", Path("/proc/x.dot")):
        assert main(["export", "--map", path, "--dot", "-o", str(place)]) == 2
        (said,) = capsys.readouterr().err.splitlines()
        assert str(place) in said
        assert "nothing was written; name a file that can be" in said
    assert [p.name for p in tmp_path.iterdir()] == ["house.map"]


def test_a_format_must_be_named(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--map", path]) == 2
    assert "--html, --dot, --graphml or --json" in capsys.readouterr().err
