"""One call opens any journal: by what the file holds, a new one by its name."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from surefoot.errors import BadArgument, CutTail, UnknownFormat
from surefoot.journal import Journal, open_journal
from surefoot.journal.backends.jsonfile import JsonFileBackend
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.journal.backends.sqlite import SqliteBackend


def kind_of(path: Path) -> str:
    with open_journal(path) as journal:
        return f"{type(journal.backend).__name__} {len(journal)}"


def written(path: Path) -> Path:
    with open_journal(path) as journal:
        journal.append_many([("note", {"n": n}) for n in range(3)])
    return path


def test_without_a_path_it_is_in_memory() -> None:
    assert isinstance(open_journal().backend, MemoryBackend)


@pytest.mark.parametrize(
    ("name", "kind", "start"),
    [
        ("walk.map", SqliteBackend, b"SQLite format 3\0"),
        ("walk", SqliteBackend, b"SQLite format 3\0"),
        ("walk.db", SqliteBackend, b"SQLite format 3\0"),
        ("walk.jsonl", JsonFileBackend, b'{"seq":0,'),
        ("walk.JSON", JsonFileBackend, b'[\n{"seq":0,'),
        ("walk.json", JsonFileBackend, b'[\n{"seq":0,'),
    ],
)
def test_a_new_journal_is_what_its_name_says(name: str, kind: type, start: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    with open_journal(path) as journal:
        assert type(journal.backend) is kind
        assert list(tmp_path.iterdir()) == [], "opening makes no file"
        journal.append("note", {})
    assert path.read_bytes().startswith(start)
    assert kind_of(path) == f"{kind.__name__} 1"


@pytest.mark.parametrize("made", ["a.map", "a.json", "a.jsonl"])
@pytest.mark.parametrize("moved", ["b.map", "b.json", "b.jsonl", "b"])
def test_an_old_journal_is_what_it_holds_whatever_its_name(made: str, moved: str, tmp_path: Path) -> None:
    kind = kind_of(written(tmp_path / made))
    (tmp_path / made).rename(tmp_path / moved)
    assert kind_of(tmp_path / moved) == kind
    with open_journal(tmp_path / moved) as journal:
        journal.append("note", {"n": 3})
        assert journal.verify().entries == 4
    assert kind_of(tmp_path / moved) == kind.replace("3", "4")


@pytest.mark.parametrize("name", ["a.map", "a.json", "a.jsonl"])
def test_an_empty_file_is_an_empty_journal(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.touch()
    assert kind_of(path).endswith(" 0")
    assert path.read_bytes() == b""
    assert kind_of(written(path)).endswith(" 3")


@pytest.mark.parametrize("name", ["a.map", "a.json", "a.jsonl"])
def test_paths_may_be_text_or_relative_or_links(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / name)
    written(tmp_path / "link") if name == "a.map" else written(Path(name))
    assert kind_of(Path(name)).endswith(" 3")
    assert kind_of(Path("link")).endswith(" 3")
    assert (tmp_path / "link").is_symlink()


def test_names_that_are_not_utf8_are_names(tmp_path: Path) -> None:
    for suffix in (b".map", b".json", b".jsonl"):
        path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9 %?#" + suffix))
        assert kind_of(written(path)).endswith(" 3")


@pytest.mark.parametrize("name", ["a.map", "a.json", "a.jsonl", "a"])
@pytest.mark.parametrize(
    "content",
    [
        b"hello",
        b"\x7fELF" * 400,
        b"{}",
        b'{\n  "seq": 0\n}',
        b"[1, 2]",
        b"[]",
        b'{"version": 1}\n',
        b"SQLite format 2\0" * 99,
        b" ",
    ],
)
def test_what_is_no_journal_is_refused_and_left_alone(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UnknownFormat, match=rf"{name} is no journal of surefoot.journal/1, it starts with .*: name"):
        open_journal(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a.map", "a.json"])
def test_a_database_of_another_program_is_refused_and_left_alone(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine(x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(UnknownFormat, match="is a SQLite file of another program"):
        open_journal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("", "names no file; a journal in memory is open_journal"),
        (":memory:", "names no file; a journal in memory is open_journal"),
        ("no/such/folder/a.map", "is in a folder that does not exist: create"),
        ("no/such/folder/a.json", "is in a folder that does not exist: create"),
        (".", "is a folder or a device: name a file"),
        ("folder.json", "is a folder or a device: name a file"),
        ("folder.json/a.json/b.json", "is in a folder that does not exist"),
        ("file.txt/a.json", "is in a folder that does not exist"),
    ],
)
def test_a_path_that_names_no_file_is_refused(
    path: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file.txt").touch()
    with pytest.raises(BadArgument, match=problem):
        open_journal(path)


@pytest.mark.parametrize("name", [None, "a.map", "a.json"])
def test_durability_is_one_of_two_words(name: str | None, tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match='durability must be "normal" or "full", got \'fast\''):
        open_journal(name and tmp_path / name, durability="fast")
    for durability in ("normal", "full"):
        with open_journal(name and tmp_path / f"{durability}{name}", durability=durability) as journal:
            journal.append("note", {})
            assert len(journal) == 1


def test_a_clock_and_repair_are_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with open_journal(path, clock=lambda: (2026, 7)) as journal:
        assert journal.append("note", {}).time == (2026, 7)
        journal.append("note", {})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(CutTail, match="repair=True"):
        open_journal(path)
    with open_journal(path, repair=True) as journal:
        assert len(journal) == 1
    assert kind_of(path) == "JsonFileBackend 1"


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.map"])
def test_a_start_that_was_cut_is_still_known(name: str, tmp_path: Path) -> None:
    whole = written(tmp_path / ("b.jsonl" if name != "a.json" else "b.json")).read_bytes()
    for length in range(1, 12):
        (tmp_path / name).write_bytes(whole[:length])
        with pytest.raises(CutTail, match=f"0 whole entries, then {length} bytes"):
            open_journal(tmp_path / name)


def test_looking_at_a_file_does_not_drop_sqlites_locks(tmp_path: Path) -> None:
    """Closing any descriptor of a file drops a process's locks on it; then another process could delete the log."""
    for name in ("a.map", "b.json"):
        written(tmp_path / "a.map") if name == "a.map" else (tmp_path / "a.map").rename(tmp_path / name)
        path = tmp_path / name
        with open_journal(path) as journal, open_journal(path) as other:
            journal.append("note", {"n": "held"})
            other.close()
            open_journal(path).close()
            script = (
                "import sys; from surefoot.journal import open_journal\nwith open_journal(sys.argv[1]) as j: len(j)"
            )
            subprocess.run([sys.executable, "-c", script, path], check=True)
            assert Path(f"{path}-wal").exists(), "the other process thought that it was alone"


def test_the_journal_is_cheap_to_import() -> None:
    script = (
        "import sys; from surefoot.journal import open_journal; open_journal().append('n', {})\n"
        "heavy = {'sqlite3', 'cryptography', 'numpy', 'fcntl', 'tempfile', 'urllib.parse'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_all_kinds_hold_the_same_lines(tmp_path: Path) -> None:
    journals = [open_journal(), *(open_journal(tmp_path / name) for name in ("a.map", "a.json", "a.jsonl"))]
    heads = set()
    for journal in journals:
        with journal:
            journal.append_many([("note", {"text": "été", "n": n}) for n in range(3)])
            heads.add(journal.head)
            assert list(journal.lines()) == list(Journal(MemoryBackend(journal.lines())).lines())
    assert len(heads) == 1
