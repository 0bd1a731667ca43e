from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from surefoot import WorldMap
from surefoot.agent.walker import Step
from surefoot.cli.trial import Subject, Task, choose, fewest_in_commands, fewest_in_files, run_trial
from surefoot.environments.commands import Commands
from surefoot.environments.corridor import Corridor
from surefoot.environments.files import Files
from surefoot.errors import BadArgument

CORRIDOR = Subject("a corridor", lambda: Corridor(length=4), lambda: {n: n for n in range(5)})


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a/b/c", "a/d", "skip/me", "e"):
        (tmp_path / "tree" / name).mkdir(parents=True)
    (tmp_path / "tree" / "a" / "100%.txt").write_text("x")
    os.symlink("a", tmp_path / "tree" / "link")
    return tmp_path / "tree"


def test_the_search_finds_what_the_world_has(tree: Path) -> None:
    found = fewest_in_files(tree, without=["skip"])
    assert found == {".": 0, "a": 1, "a/100%25.txt": 2, "a/b": 2, "a/b/c": 3, "a/d": 2, "e": 1, "link": 1}
    known = WorldMap()
    went = run_trial(Subject("tree", lambda: Files(tree), lambda: fewest_in_files(tree)), known, count=3, seed=0)
    assert went.ok
    assert set(known.states()) == set(fewest_in_files(tree))


@pytest.mark.skipif(os.geteuid() == 0, reason="the root user may read every directory")
def test_a_directory_that_may_not_be_read_is_no_place(tree: Path) -> None:
    (tree / "e").chmod(0)
    assert "e" not in fewest_in_files(tree)


def test_a_directory_that_cannot_be_listed_is_no_place(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def scandir(path: str | Path) -> object:
        if os.path.basename(path) == "b":
            raise PermissionError(path)
        return real(path)

    monkeypatch.setattr("surefoot.cli.trial.os.scandir", scandir)
    assert set(fewest_in_files(tree)) & {"a/b", "a/b/c", "a/d"} == {"a/d"}


def test_the_search_over_help_pages_finds_what_the_world_has(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        '"--help") printf "usage: tool\\n\\ncommands:\\n  list    List things.\\n  broken  Is not there.\\n";;\n'
        '"list --help") printf "usage: tool list\\n\\ncommands:\\n  all   All of them.\\n";;\n'
        '"list all --help") printf "usage: tool list all\\n";;\n'
        "*) echo no such command >&2; exit 2;;\n"
        "esac\n"
    )
    program.chmod(0o755)
    found = fewest_in_commands(Commands(str(program)))
    assert found == {("tool",): 0, ("tool", "list"): 1, ("tool", "list", "all"): 2}
    subject = Subject("tool", lambda: Commands(str(program)), lambda: found)
    went = run_trial(subject, WorldMap(), count=2, seed=0)
    assert went.ok
    assert [task.carried for task in went.tasks] == [1, 2]


def test_a_program_without_commands() -> None:
    assert fewest_in_commands(Commands([sys.executable, "-m", "json.tool"])) == {("json.tool",): 0}


def test_tasks_are_deep_ones_and_the_same_for_the_same_seed() -> None:
    fewest = {f"s{n:03}": n // 10 for n in range(200)}
    chosen = choose(fewest, 10, seed=1)
    assert chosen == choose(dict(reversed(fewest.items())), 10, seed=1)
    assert chosen != choose(fewest, 10, seed=2)
    assert len(set(chosen)) == 10
    assert min(fewest[state] for state in chosen) >= 16
    assert choose({"a": 0}, 5, seed=0) == ["a"]


def test_a_trial_compares_an_empty_map_a_carried_one_and_the_search() -> None:
    steps: list[Step] = []
    explored: list[float] = []
    tasks: list[Task] = []
    known = WorldMap()
    went = run_trial(
        CORRIDOR,
        known,
        count=2,
        seed=0,
        on_step=steps.append,
        on_explored=lambda walk, seconds: explored.append(seconds),
        on_task=tasks.append,
    )
    assert went.ok
    assert went.tasks == tuple(tasks) == (Task(3, 3, 8, 3), Task(4, 4, 11, 4))
    assert len(steps) == went.explored.steps + 8 + 3 + 11 + 4
    assert len(explored) == 1
    assert went.pays_after == -(-11 * 2 // (19 - 7))
    assert known.verify()


def test_a_map_that_differs_from_the_search_is_not_ok() -> None:
    too_few = replace(CORRIDOR, fewest=lambda: {n: n for n in range(4)})
    went = run_trial(too_few, WorldMap(), count=1, seed=0)
    assert (went.ok, went.missing) == (False, (4,))
    too_many = replace(CORRIDOR, fewest=lambda: {n: n for n in range(6)})
    with pytest.raises(BadArgument, match="5 was not reached in a corridor: no way known"):
        run_trial(too_many, WorldMap(), count=1, seed=0)


def test_a_walk_that_is_not_the_shortest_is_not_ok() -> None:
    subject = replace(CORRIDOR, fewest=lambda: {0: 0, 1: 1, 2: 2, 3: 3, 4: 2})
    assert not run_trial(subject, WorldMap(), count=5, seed=0).ok


def test_where_nothing_is_saved_it_never_pays() -> None:
    subject = Subject("a step", lambda: Corridor(length=1), lambda: {0: 0, 1: 1})
    went = run_trial(subject, WorldMap(), count=1, seed=1)
    saved = went.tasks[0].empty - went.tasks[0].carried
    assert (went.pays_after is None) == (saved == 0)
    assert replace(went, tasks=(Task(1, 1, 1, 1),)).pays_after is None
