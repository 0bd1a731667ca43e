"""What backends with a file share."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.errors import BadArgument
from surefoot.journal import files


def test_a_file_appears_whole_and_is_never_replaced(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    assert files.create_whole(path, b"one") == files.identity_of(os.stat(path))
    assert files.create_whole(path, b"two") is None
    assert Path(path).read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_file_has_the_permissions_that_are_usual(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    files.create_whole(str(tmp_path / "a"), b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_long_names_are_no_trouble(tmp_path: Path) -> None:
    assert files.create_whole(str(tmp_path / ("x" * 255)), b"one")


def refuse(code: int) -> Callable[..., Any]:
    def call(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return call


def test_without_hard_links_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", refuse(errno.EPERM))
    path = str(tmp_path / "a")
    assert files.create_whole(path, b"one")
    assert not files.create_whole(path, b"two")
    assert Path(path).read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("name", ["pwrite", "fsync"])
def test_a_failure_leaves_nothing_behind(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, name, refuse(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left"):
        files.create_whole(str(tmp_path / "a"), b"one")
    assert os.listdir(tmp_path) == []


def test_what_the_system_takes_in_bites_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, offset: pwrite(descriptor, data[:3], offset))
    files.create_whole(str(tmp_path / "a"), b"0123456789")
    assert (tmp_path / "a").read_bytes() == b"0123456789"


def test_a_path_is_made_absolute_and_links_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("real")
    real = os.path.realpath(tmp_path)
    assert files.resolve("link") == os.path.join(real, "real")
    assert files.resolve(Path("a")) == os.path.join(real, "a")


@pytest.mark.parametrize("path", ["", ":memory:", "folder", "nowhere/a", "pipe"])
def test_a_path_that_names_no_file_is_refused(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    os.mkfifo("pipe")
    with pytest.raises(BadArgument, match=f"'{path}'"):
        files.resolve(path)


def test_holders_are_told_what_a_child_is_told() -> None:
    told: list[str] = []

    class Holder:
        def after_fork(self) -> None:
            told.append("kept")

    holder = Holder()
    files.renew_after_fork(holder)
    files._renew()
    assert told == ["kept"]


def test_a_child_is_told_and_a_holder_that_is_gone_is_not(tmp_path: Path) -> None:
    script = """
import os, sys
from surefoot.journal.files import renew_after_fork
class Holder:
    def __init__(self, name): self.name = name; renew_after_fork(self)
    def after_fork(self): print(self.name, os.getpid() != parent, flush=True)
parent = os.getpid()
kept = Holder("kept")
Holder("gone")
child = os.fork()
if not child:
    os._exit(0)
os.waitpid(child, 0)
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == "kept True\n"
