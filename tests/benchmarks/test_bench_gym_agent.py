"""The benchmark of the agent in worlds that nobody here wrote: it learns, and its baseline and its best are right."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot import Agent, Knowledge

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
HAS_EXTRA = all(importlib.util.find_spec(name) for name in ("adventure", "matplotlib", "minigrid"))


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench_gym_agent")


def test_both_learn_a_lake_and_the_best_is_that_of_its_table(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "WORLDS", {"lake": replace(bench.WORLDS["FrozenLake"], episodes=40)})
    monkeypatch.setattr(sys, "argv", ["bench_gym_agent.py", "--only", "lake", "--seeds", "1"])
    said: list[Any] = []
    monkeypatch.setattr(bench.Report, "_put", lambda self, row: said.append(row))
    bench.main()
    steps = {row.who: row.value for row in said if row.what == "lake: steps"}  # of the last part
    assert steps == {"surefoot": 6.0, "Q-learning": steps["Q-learning"], "best": pytest.approx(6.0)}
    assert steps["Q-learning"] < 100


@pytest.mark.nightly
@pytest.mark.skipif(not HAS_EXTRA, reason="needs adventure, matplotlib and minigrid: pip install 'surefoot[bench]'")
def test_the_worlds_of_the_extra_can_be_walked_and_the_curves_drawn(bench: Any, tmp_path: Path) -> None:
    for name, fewest in (("MiniGrid DoorKey 5x5", 11), ("Colossal Cave", 5)):
        world = bench.WORLDS[name]
        knowledge = Knowledge().goal("there", world.goal) if world.goal else Knowledge()
        agent = Agent(world.make(0), knowledge=knowledge)
        assert agent.run(seed=0, steps=40).steps > 5
        assert world.best(0).steps == fewest
    rows = json.loads((BENCHMARKS / "results" / "gym_agent.json").read_text(encoding="utf-8"))["rows"]
    bench.draw(rows, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
