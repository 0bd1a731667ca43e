from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot import Agent, Knowledge
from surefoot.cli import main
from surefoot.cli.models import read_model
from surefoot.environments.corridor import Corridor


@pytest.fixture
def traces(tmp_path: Path) -> str:
    """Return a file of 400 episodes on a ledge: `walk` is safe, `jump` falls every other time."""
    rows = []
    for n in range(400):
        action = "jump" if n % 4 == 0 else "walk"
        to = "gorge" if action == "jump" and n % 8 == 0 else "home"
        rows += [json.dumps({"state": "edge", "action": action, "to": to, "ended": True}), ""]
    path = tmp_path / "ledge.jsonl"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def test_traces_become_a_model_that_says_what_is_claimed(
    traces: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = str(tmp_path / "ledge.drn")
    assert main(["learn", traces, "--traces", "-o", made, "--label", "bad", "gorge", "--support", "seen"]) == 0
    shown = capsys.readouterr().out
    assert "400 outcomes" in shown
    assert "  labels    bad (1), ended (2), unseen (0)\n" in shown
    assert "  assumed   What followed a choice is all that can follow it.\n" in shown
    model, claims = read_model(made)
    assert model.has_intervals
    assert claims[0].startswith("with probability 0.95 or more, every true transition probability")


def test_an_agents_journal_is_read_map_by_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "agent.jsonl")
    with Knowledge(path) as knowledge:
        agent = Agent(Corridor(length=2), knowledge=knowledge)
        agent.run(map="short")
        agent.run(map="other")
        agent.run(map="other")
    found: dict[str, Any] = {}
    for name in ("short", "other"):
        assert main(["learn", path, "--map", name, "--json"]) == 0
        found[name] = json.loads(capsys.readouterr().out)
    assert main(["learn", path, "--map", "sort"]) == 2
    assert "no outcome on the map 'sort'; its maps are 'other', 'short'" in capsys.readouterr().err
    assert found["short"]["outcomes"] < found["other"]["outcomes"]
    assert found["short"]["labels"]["ended"] == 1
    assert found["short"]["method"] == "clopper-pearson"


def test_frequencies_pools_and_beliefs(traces: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["learn", traces, "--traces", "--json"]
    for more, claim in (
        (["--estimate"], "an estimate: the frequencies"),
        (["--pooled"], "if the choices of each pool"),
        (["--method", "bayes"], "an estimate: after a Dirichlet prior"),
        (["--method", "linear"], "an estimate: intervals updated linearly"),
    ):
        assert main([*given, *more]) == 0
        assert json.loads(capsys.readouterr().out)["claims"][0].startswith(claim)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--confidence", "2"], "confidence must be a number in (0, 1)"),
        (["--estimate", "--pooled"], "leave out --pooled"),
        (["--pooled", "--choices", "9"], "leave out --choices"),
        (["-o", "ledge.txt"], "its name should end in .drn"),
        (["--start", "cellar"], "initial is 'cellar', a state that was never seen"),
        (["--method", "wald"], "'wald' is not one of"),
        (
            ["--label", "bad", "gorgee"],
            "no state that was heard of has the label 'bad': gorgee is none of edge, home, gorge",
        ),
    ],
)
def test_wrong_usage_is_one_line(more: list[str], says: str, traces: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", traces, "--traces", *more]) == 2
    assert says in capsys.readouterr().err


def test_where_episodes_start_has_to_be_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "walk.map")
    assert main(["explore", "corridor:3", "--map", path]) == 0
    assert main(["learn", path]) == 2
    assert "give --start STATE, one of =0, =1, =2" in capsys.readouterr().err
    assert main(["learn", path, "--start", "=0", "--end", "=3"]) == 0
    assert "ended (1)" in capsys.readouterr().out
    assert main(["learn", path, "--start", "=0", "--map", "nosuch"]) == 2
    assert "its maps are 'main'" in capsys.readouterr().err
    assert main(["learn", path, "--start", "=0", "--label", "goal", "=99", "--unseen-label", "goal"]) == 0
    assert main(["learn", str(tmp_path / "no.map")]) == 2
