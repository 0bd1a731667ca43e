"""The scripted tasks can be solved, and who carries what it knows is refused no more."""

from __future__ import annotations

import importlib
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench_tools")


def test_a_quick_run_solves_all_and_refusals_fall_to_zero(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "FAMILIES", ("SQLite",))
    monkeypatch.setattr(sys, "argv", ["bench_tools.py", "--quick", "--out", str(tmp_path / "tools.json")])
    bench.main()
    found = json.loads((tmp_path / "tools.json").read_text(encoding="utf-8"))
    assert found["command"] == "python benchmarks/bench_tools.py --quick"  # not where it wrote
    assert [target["held"] for target in found["targets"]] == [True, True, True]
    rows: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in found["rows"]:
        rows[row["what"], row["who"]].append(row["value"])
    for who in {who for _, who in rows}:
        assert rows["SQLite: tasks solved", who] == [2, 2]
        first, second = rows["SQLite: refused calls", who]
        assert first > 0
        assert second == (first if who == "unguarded" else 0)


@pytest.mark.parametrize("number", range(10))
def test_the_unguarded_agent_solves_every_task_in_sql(bench: Any, number: int) -> None:
    task = importlib.import_module("_tool_tasks").shop_tasks()[number]
    with task.make() as world:
        played = bench.unguarded(task, world)
    assert played.solved, task.name
    assert played.refused > 0


def test_a_task_in_git_is_solved_without_a_refusal_the_second_time(bench: Any) -> None:
    task = importlib.import_module("_tool_tasks").git_tasks()[0]
    with task.make() as world:
        knowledge = bench.Knowledge()
        plain, first, second = bench.unguarded(task, world), *(bench.play(task, world, knowledge, True) for _ in "12")
    assert plain.solved
    assert first.solved
    assert (second.solved, second.refused, second.foreseen) == (True, 0, 0)
    assert first.refused > 0


def test_what_does_not_hold_is_said(bench: Any) -> None:
    report = bench.Report("", "", say=lambda line: None)
    for who, refused in (("unguarded", 5), ("search, exact state", 1)):
        report.note("git: refused calls", who, 2, refused, "")
    report.notes += ["git, unguarded: no task lost", "git, search: a (visit 2) lost, 2 calls taken that were predicted"]
    bench.judge(report, "git")
    assert [target["held"] for target in report.judged] == [False, False, False]
    assert report.judged[0]["found"] == "{'search, exact state': 1}"
