from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot.cli import main
from surefoot.cli.models import write_model
from surefoot.learners.counts import Counts
from surefoot.models.examples import die


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = str(tmp_path / "die.drn")
    write_model(die(), path)
    return path


@pytest.fixture
def learned(tmp_path: Path) -> str:
    counts = Counts()
    for n in range(100):
        counts.observe("toss", "go", "heads" if n % 2 else "tails", ended=True)
    path = str(tmp_path / "coin.drn")
    made = counts.intervals(support="seen", labels={"heads": lambda state: state == "heads"})
    write_model(made.model, path, (made.claim,))
    return path


def test_a_number_is_told_with_its_bounds(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", model, 'P=? [ F "six" ]', "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["lower"] <= 1 / 6 <= report["upper"]
    assert report["holds"] is None
    assert [one["nature"] for one in report["natures"]] == ["adversarial"]


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ('P>=0.16 [ F "six" ]', 0, "holds, in [0.16"),
        ('P>=0.17 [ F "six" ]', 1, "does not hold, in [0.16"),
        ('"init"', 0, '"init": holds\n'),
    ],
)
def test_the_exit_code_is_the_answer(
    text: str, code: int, says: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", model, text]) == code
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(("bound", "code"), [("0.2", 0), ("0.5", 5), ("0.9", 1)])
def test_with_intervals_both_ends_decide(
    bound: str, code: int, learned: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", learned, f'Pmax>={bound} [ F "heads" ]']) == code
    shown = capsys.readouterr().out
    assert "  probabilities against the choices  " in shown
    assert "  learned  with probability 0.95 or more" in shown
    assert main(["check", learned, f'Pmax>={bound} [ F "heads" ]', "--nature", "cooperative"]) in (0, 1)


def test_states_are_listed_with_what_to_do(learned: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", learned, 'Pmax=? [ F "heads" ]', "--states"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[0] == "toss" and line.endswith("go") for line in lines)
    assert main(["check", learned, 'R{"x"}=? [ F "heads" ]']) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('P=? [ F "sxi" ]', "Error: there is no label 'sxi': did you mean 'six'?, at column 9\n"),
        ("P=? [ F six", "Error: expected ']' at the end\n"),
        (
            'P=? [ F<=99999999999999999999 "six" ]',
            "Error: expected at most 1,000,000,000 steps, or no bound, at column 10\n",
        ),
    ],
)
def test_a_property_that_does_not_fit_is_one_line(
    text: str, says: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", model, text]) == 2
    assert capsys.readouterr().err == says


def test_what_is_no_model_is_told_with_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.drn"
    path.write_bytes(b"\xff\xfe")
    assert main(["check", str(path), 'P=? [ F "six" ]']) == 2
    assert capsys.readouterr().err == (
        f"Error: '{path}' is no model: it is not UTF-8 text (invalid start byte at byte 0)\n"
    )
    path.write_text("not a model", encoding="utf-8")
    assert main(["check", str(path), 'P=? [ F "six" ]']) == 2
    assert capsys.readouterr().err == f"Error: '{path}' cannot be read: this is no DRN text: there is no line @type\n"
