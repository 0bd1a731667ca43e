"""An image holds a folder byte for byte, and puts it back over anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from surefoot.environments.tools.images import put, take
from surefoot.errors import WorldUnavailable


def test_a_folder_is_put_back_byte_for_byte(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").write_bytes(b"\x00\xff")
    (folder / "a" / "file").chmod(0o400)
    (folder / "link").symlink_to("a/nowhere")
    os.utime(folder / "a", ns=(1, 123_456_789))
    image = take(str(folder), 100)
    for path in (folder / "a" / "file", folder / "link"):
        path.unlink()
    (folder / "link").mkdir()
    (folder / "link" / "more").write_text("x")
    (folder / "a" / "b").rmdir()
    put(str(folder), image)
    assert take(str(folder), 100) == image
    assert (folder / "a").stat().st_mtime_ns == 123_456_789
    assert (folder / "a" / "b").is_dir()
    assert os.readlink(folder / "link") == "a/nowhere"


def test_what_is_too_large_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 11)
    with pytest.raises(WorldUnavailable, match="the folder holds more than 10 bytes"):
        take(str(tmp_path), 10)
