from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.cli import main
from surefoot.cli.episodes import opened
from surefoot.errors import BadArgument


def test_a_journal_without_episodes_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert main(["explore", "corridor:2", "--map", str(path)]) == 0
    before = path.read_bytes()
    with pytest.raises(BadArgument, match="holds no episodes of an agent"), opened(str(path)):
        pass
    assert path.read_bytes() == before
    with pytest.raises(BadArgument, match="there is no journal"), opened(str(tmp_path / "y.jsonl")):
        pass
    assert not (tmp_path / "y.jsonl").exists()
