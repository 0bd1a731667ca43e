from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.cli.writing import write_whole


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    write_whole(tmp_path / "note.txt", "one")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "note.txt", "two \ud800")
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]
    assert (tmp_path / "note.txt").read_text(encoding="utf-8") == "one"


@pytest.mark.parametrize("name", ["folder", "missing/note.txt"])
def test_what_cannot_be_written_is_told_by_the_name_that_was_given(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="nothing was written; name a file that can be") as caught:
        write_whole(tmp_path / name, "one")
    assert caught.value.filename == str(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
