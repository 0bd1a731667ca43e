"""The server is a real one, of this test alone, and nothing of it stays."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psycopg
import pytest

from surefoot.errors import WorldUnavailable
from surefoot.testing import postgres as ours
from surefoot.testing.postgres import TemporaryPostgres, programs_of_postgres


def test_it_answers_at_its_url(postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        assert connection.execute("SELECT current_user, inet_server_addr()").fetchone() == ("surefoot", None)
        assert (connection.execute("SHOW listen_addresses").fetchone() or ("?",))[0] == ""


def test_where_it_is_not_installed_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(ours, "_PLACES", ())
    with pytest.raises(WorldUnavailable, match="PostgreSQL is not installed here"):
        programs_of_postgres()


def test_a_server_that_does_not_start_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("initdb", "pg_isready", "postgres"):
        (tmp_path / name).write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if os.stat(folder).st_uid == os.geteuid() and str(folder) not in ("/", "/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    monkeypatch.setattr(ours, "programs_of_postgres", lambda: str(tmp_path))
    server = TemporaryPostgres()
    with pytest.raises(WorldUnavailable, match="initdb failed: no room"):
        server.__enter__()
    assert server._folder is None
