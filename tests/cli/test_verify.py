from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot import WorldMap, open_journal
from surefoot.cli import main, tampering
from surefoot.journal.seal import new_key, public_key

SUFFIXES = ["map", "json", "jsonl"]


def house(path: Path) -> str:
    """Make a map and return its head."""
    with WorldMap(path) as known:
        known.see("hall", "north", to="garden").see("hall", "south").see("garden", "gate")
        known.arrive("hall", "north", "garden")
        return str(known.head)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_whole_one(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"house.{suffix}"
    head = house(path)
    assert main(["verify", "--map", str(path), "--head", head]) == 0
    assert capsys.readouterr().out == f"{path}: whole, 5 entries\n  head    {head}\n"
    assert main(["verify", "--map", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["entries"], report["head"], report["problem"]) == (True, 5, head, None)


def test_an_edited_entry_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "house.jsonl"
    house(path)
    number = tampering.change_a_word(path)
    assert main(["verify", "--map", str(path)]) == 1
    assert f"NOT WHOLE: entry {number} was edited" in capsys.readouterr().out
    assert main(["verify", "--map", str(path), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["at"], report["failed"], report["head"]) == (False, number, "chain", None)


@pytest.mark.parametrize("falsify", [tampering.cut_the_tail, tampering.forge])
def test_what_looks_whole_is_caught_with_the_head(
    falsify: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "house.jsonl"
    head = house(path)
    falsify(path)
    assert main(["verify", "--map", str(path)]) == 0
    assert main(["verify", "--map", str(path), "--head", head]) == 1
    assert "NOT WHOLE: " in capsys.readouterr().out


def test_a_seal_is_checked_with_the_public_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, mine, other = tmp_path / "house.map", tmp_path / "mine.pub", tmp_path / "other.pub"
    house(path)
    secret = new_key()
    with open_journal(path) as journal:
        journal.seal(secret)
    mine.write_text(public_key(secret) + "\n")
    other.write_text(public_key(new_key()))
    assert main(["verify", "--map", str(path), "--key", str(mine)]) == 0
    assert "sealed  5 entries, by the key in" in capsys.readouterr().out
    mine.write_bytes(bytes.fromhex(public_key(secret)))
    assert main(["verify", "--map", str(path), "--key", str(mine)]) == 0
    assert main(["verify", "--map", str(path), "--key", str(other)]) == 1
    other.write_text("no key at all")
    assert main(["verify", "--map", str(path), "--key", str(other)]) == 4
    assert main(["verify", "--map", str(path), "--key", str(tmp_path / "none")]) == 2


def test_a_cut_entry_is_told_and_mended_if_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "house.jsonl"
    house(path)
    path.write_bytes(path.read_bytes()[:-9])
    assert main(["verify", "--map", str(path)]) == 1
    assert "--repair keeps its whole entries" in capsys.readouterr().out
    assert main(["verify", "--map", str(path), "--repair"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("mended: ")
    assert "whole, 4 entries" in shown
    assert main(["verify", "--map", str(path), "--repair", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mended"] is None


def test_a_chain_that_is_whole_but_no_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.jsonl"
    with open_journal(path) as journal:
        journal.append("dance", {"steps": 3})
    assert main(["verify", "--map", str(path)]) == 1
    assert "the chain is whole, but no map can be made of it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--head", "12"], 2, "a head reads length:hash, got '12'"),
        (["--head", f"4:{'0' * 64}"], 1, ""),
    ],
)
def test_heads(arguments: list[str], code: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "house.map"
    house(path)
    assert main(["verify", "--map", str(path), *arguments]) == code
    assert says in capsys.readouterr().err


def test_no_file_and_no_journal(tmp_path: Path) -> None:
    assert main(["verify", "--map", str(tmp_path / "none.map")]) == 2
    (tmp_path / "letter").write_text("Dear reader")
    assert main(["verify", "--map", str(tmp_path / "letter")]) == 4
    assert list(tmp_path.iterdir()) == [tmp_path / "letter"]
