from __future__ import annotations

from pathlib import Path

import pytest

from surefoot import WorldMap
from surefoot.cli.maps import known_action, known_state, open_known, open_walked
from surefoot.errors import BadArgument, CutTail, UnknownFormat, UnknownPlace


def test_a_map_to_be_asked_must_be_there_and_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "no.map"
    with pytest.raises(BadArgument, match="there is no map .*: surefoot explore WORLD --map .* makes one"):
        open_known(str(path))
    assert not path.exists()


def test_a_map_to_be_written_is_made_by_its_first_entry(tmp_path: Path) -> None:
    path = str(tmp_path / "new.map")
    with open_walked(path) as known:
        known.see("hall", "north")
    with open_known(path) as again:
        assert again.states() == ["hall"]


def test_a_file_that_ends_in_the_middle_of_an_entry_is_mended_when_the_walk_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cut.jsonl"
    with open_walked(str(path)) as known:
        known.see("hall", "north").see("hall", "south")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CutTail):
        open_known(str(path))
    with open_walked(str(path)) as known:
        assert [claim.action for claim in known.claims()] == ["north"]
    assert "mended: " in capsys.readouterr().err
    with open_known(str(path)) as known:
        assert known.verify()


def test_what_is_no_map_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader")
    for open_it in (open_known, open_walked):
        with pytest.raises(UnknownFormat):
            open_it(str(path))
    assert path.read_text() == "Dear reader"


def test_a_setting_is_recorded_when_it_is_asked_for(tmp_path: Path) -> None:
    path = str(tmp_path / "lake.map")
    with open_walked(path, stochastic=True) as known:
        known.see("ice", "east")
    with open_walked(path) as known:
        assert known.settings.stochastic


def test_states_and_actions_must_be_known_exactly() -> None:
    known = WorldMap().see(1, "north", to="garden").see("hall", ("link", "Out"))
    assert known_state(known, "=1") == 1
    assert known_state(known, "garden") == "garden"
    for text in ("1", "=true", "=1.0", "gardens"):
        with pytest.raises(UnknownPlace, match="the map has no state"):
            known_state(known, text)
    assert known_action(known, "hall", '=["link","Out"]') == ("link", "Out")
    with pytest.raises(UnknownPlace, match=r'no action \'link out\' in that state; the nearest: =\["link","Out"\]'):
        known_action(known, "hall", "link out")
    with pytest.raises(UnknownPlace, match="the map knows no action 'north' in that state$"):
        known_action(known, "garden", "north")
