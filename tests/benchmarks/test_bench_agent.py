"""The benchmark of the agent runs alone and writes what it says, and its worlds keep the laws; times do not matter."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from surefoot.testing import check_environment

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench_agent")


def test_a_quick_run_writes_the_episodes_and_the_second_takes_the_fewest_steps(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "MARKS", (100,))
    monkeypatch.setattr(sys, "argv", ["bench_agent.py", "--quick", "--out", str(tmp_path / "agent.json")])
    bench.main()
    found = json.loads((tmp_path / "agent.json").read_text(encoding="utf-8"))
    steps = [row["value"] for row in found["rows"] if row["what"] == "corridor of 8: steps"]
    assert len(steps) == 12
    assert steps[1:] == [8] * 11


@pytest.mark.parametrize("name", ["Grid", "Button", "KeyDoor"])
def test_its_worlds_keep_the_laws(bench: Any, name: str) -> None:
    check_environment(getattr(importlib.import_module("_agent_worlds"), name), steps=20, long=60, examples=3)


def test_the_optimal_policy_of_a_slippery_grid_is_better_than_chance(bench: Any) -> None:
    rate, steps = bench.best_success(0.2, 3, 50, episodes=40)
    assert rate > 0.95
    assert 4 <= steps < 8
