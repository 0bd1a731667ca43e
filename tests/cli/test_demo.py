from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from surefoot import WorldMap
from surefoot.cli import main
from surefoot.cli.demo import LEFT_OUT, commands_subject, files_subject, run_demo
from surefoot.cli.trial import Subject
from surefoot.environments.corridor import Corridor


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("src/pkg/deep", "docs/img", "site-packages/other", "src/__pycache__"):
        (tmp_path / "tree" / name).mkdir(parents=True)
    for name in ("docs/index.md", "src/pkg/deep/module.py"):
        (tmp_path / "tree" / name).write_text("x")
    return tmp_path / "tree"


CORRIDOR = Subject("a corridor", lambda: Corridor(length=6), lambda: {n: n for n in range(7)})


def test_two_small_worlds(tree: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    out = tmp_path / "out"
    subjects = [("files", files_subject(str(tree))), ("corridor", CORRIDOR)]
    report = run_demo(subjects, out, tasks=3, seed=0, tell=lambda *more: lines.extend(more))
    shown = "\n".join(lines)
    assert report["ok"], shown
    assert sorted(path.name for path in out.iterdir()) == ["agent.journal", "corridor.map", "files.map", "map.html"]
    for world in report["worlds"]:
        assert [task["carried"] for task in world["tasks"]] == [task["fewest"] for task in world["tasks"]]
        assert len(world["tasks"]) == 3
        with WorldMap(world["map"]) as known:
            assert known.verify()
            assert f"{world['map']}: whole, head {known.head}" in shown
    assert "steps to get to" in shown
    agent = report["agent"]
    assert (agent["ok"], agent["second"]) == (True, agent["fewest"])
    assert agent["first"] > agent["second"]
    assert f"{agent['replayed']} decisions replayed, all equal." in shown
    assert agent["replayed"] >= agent["first"] + agent["second"]
    assert "src/pkg/deep/module.py" in shown
    assert "site-packages/other" not in shown
    assert shown.count("CAUGHT: ") == 3
    assert "NOT CAUGHT" not in shown
    assert [row["needs_head"] for row in report["falsified"]] == [False, True, True]
    assert "was edited: its hash does not fit what it says" in report["falsified"][0]["problem"]
    assert (out / "map.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "All of this held" in shown


def test_what_it_says_to_try_next_works(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import shlex

    monkeypatch.chdir(tmp_path)
    lines: list[str] = []
    run_demo([("files", files_subject(str(tree)))], Path("demo"), tasks=2, seed=0, tell=lambda *m: lines.extend(m))
    start = next(n for n, line in enumerate(lines) if line.startswith("Open "))
    tries = [shlex.split(line)[1:] for line in lines[start + 1 : -2]]
    assert [words[0] for words in tries] == ["way", "show", "why", "verify", "explore"]
    for words in tries:
        assert main(words) == 0, words
    assert capsys.readouterr().err == ""


def test_it_can_be_run_again_and_leaves_other_files_alone(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    subjects = [("files", files_subject(str(tree)))]
    first, second = (run_demo(subjects, out, tasks=2, seed=0, tell=lambda *_: None) for _ in range(2))
    for report in (first, second):
        for world in report["worlds"]:
            world.pop("seconds")
    assert first == second
    assert (out / "notes.txt").read_text() == "mine"


def test_a_walk_that_is_not_the_shortest_is_shown_and_fails(tmp_path: Path) -> None:
    lines: list[str] = []
    wrong = replace(CORRIDOR, fewest=lambda: {**{n: n for n in range(6)}, 6: 2})
    report = run_demo([("corridor", wrong)], tmp_path / "out", tasks=7, seed=0, tell=lambda *m: lines.extend(m))
    assert not report["ok"]
    assert any("WRONG: 1 walks were not the shortest" in line for line in lines)
    assert any("NOT ALL OF THIS HELD" in line for line in lines)


def test_a_falsified_copy_that_is_not_caught_fails(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.cli.tampering.cut_the_tail", lambda path: None)
    report = run_demo([("files", files_subject(str(tree)))], tmp_path / "out", tasks=1, seed=0, tell=lambda *_: None)
    assert not report["ok"]
    assert [row["caught"] for row in report["falsified"]] == [True, False, True]


def test_the_table_fits_a_narrow_terminal(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "x" * 150
    (tree / long / long).mkdir(parents=True)
    monkeypatch.setenv("COLUMNS", "72")
    lines: list[str] = []
    run_demo([("files", files_subject(str(tree)))], tmp_path / "o", tasks=9, seed=0, tell=lambda *m: lines.extend(m))
    table = [line for line in lines if line.endswith("fewest possible") or "…" in line[:60]]
    assert len(table) > 1
    assert all(len(line) <= 72 for line in table)


def test_the_command_itself(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("surefoot.cli.demo.sysconfig.get_path", lambda name: str(tree))
    monkeypatch.setattr("surefoot.cli.demo.commands_subject", lambda: iter(()))
    assert main(["demo", "--out", str(tmp_path / "out"), "--tasks", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["command"], report["ok"], len(report["worlds"])) == ("demo", True, 1)
    assert main(["demo", "--out", str(tmp_path / "out"), "--tasks", "2"]) == 0
    assert "All of this held" in capsys.readouterr().out
    monkeypatch.setattr("surefoot.cli.tampering.forge", lambda path: 0)
    assert main(["demo", "--out", str(tmp_path / "out"), "--tasks", "1"]) == 1


def test_git_where_there_is_one() -> None:
    if shutil.which("git") is None:
        pytest.skip("there is no git on this machine")
    (subject,) = commands_subject()
    assert subject.name.startswith("the commands of git")
    world = subject.make()
    assert "remote" in world.actions(world.reset())
    world.step("remote")
    assert world.step("add").accepted, "it needs no repository"


def hide_git(monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **more: None if name == "git" else real(name, **more))


@pytest.mark.skipif(find_spec("pip") is None, reason="needs pip in this environment: python -m ensurepip")
def test_pip_where_there_is_no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_git(monkeypatch)
    (subject,) = commands_subject()
    assert subject.name == "the commands of pip (their help)"
    world = subject.make()
    assert "install" in world.actions(world.reset())


def test_neither_git_nor_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_git(monkeypatch)
    without_pip = shutil.which("false")
    assert without_pip is not None
    monkeypatch.setattr(sys, "executable", without_pip)
    assert list(commands_subject()) == []


def test_names_left_out_are_those_of_the_docs() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "command-line.md"
    for name in LEFT_OUT:
        assert f"`{name}`" in page.read_text(encoding="utf-8")
