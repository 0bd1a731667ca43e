from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.cli import main
from surefoot.cli.models import read_model, state_number, write_model
from surefoot.errors import BadArgument, BadModel
from surefoot.learners.counts import Counts


def learned() -> Counts:
    counts = Counts()
    for n in range(40):
        counts.observe((0, 0), "go", (0, n % 2))
    return counts


@pytest.mark.parametrize("name", ["model.drn", "model.tra"])
def test_a_learned_model_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    model = learned().intervals(initial=(0, 0)).model
    write_model(model, str(tmp_path / name), ("all is well", "two\nlines"))
    read, claims = read_model(str(tmp_path / name))
    assert read == model
    assert claims == (("all is well", "two lines") if name.endswith("drn") else ())
    assert state_number(read, "=[0,1]") == model.state("[0,1]")
    assert state_number(read, "unseen") == model.state("unseen")


def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "no.drn").write_text("Dear reader", encoding="utf-8")
    with pytest.raises(BadModel, match="this is no DRN text"):
        read_model(str(tmp_path / "no.drn"))
    with pytest.raises(BadArgument, match=r"cannot be written: its name should end in \.drn"):
        write_model(learned().intervals(initial=(0, 0)).model, str(tmp_path / "model.txt"))


def test_a_model_that_cannot_be_read_is_wrong_usage_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.drn"
    bad.write_bytes(bytes(range(256)))
    for words in (["check", str(bad), 'Pmax=? [ F "goal" ]'], ["shield", str(bad), 'P>=0.5 [ F "goal" ]']):
        assert main(words) == 2
        assert "is no model: it is not UTF-8 text" in capsys.readouterr().err
