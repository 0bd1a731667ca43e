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
