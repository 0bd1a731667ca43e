"""The benchmark of the environments runs, and the loops by hand draw what we draw; times do not matter."""

from __future__ import annotations

import importlib
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.gym import ModelVectorEnv

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench_gym")


@pytest.mark.parametrize("without", [("numba", "jax"), pytest.param((), marks=pytest.mark.nightly)])
def test_it_runs_and_writes_what_it_says(
    bench: Any,
    without: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out.json"
    monkeypatch.setattr(bench, "COUNTS", (50, 1_000))
    monkeypatch.setattr(bench, "find_spec", lambda name: None if name in without else find_spec(name))
    monkeypatch.setattr(sys, "argv", ["bench_gym.py", "--quick", "--states", "40", "--json", str(out)])
    assert bench.main() == 0
    figures = {row["what"] for row in json.loads(out.read_text(encoding="utf-8"))["rows"]}
    assert "one environment, beside FrozenLake" in figures
    assert "1,000 environments, numpy, beside a loop by hand" in figures
    assert "import surefoot.gym" in figures
    assert "one environment: 2.5 times FrozenLake: " in capsys.readouterr().out


def test_the_loop_by_hand_goes_through_our_states(bench: Any) -> None:
    model = bench.model_of(40)
    envs = ModelVectorEnv(model, 300)
    envs.reset(seed=[0] * 300)
    hand = bench.by_hand_numpy(model, 300)
    for step in range(20):
        actions = np.random.default_rng(step).integers(0, 4, 300)
        if step == 0:  # all environments have one seed here, and the loop has the numbers of 300 episodes of it
            envs._streams.episodes[:] = np.arange(300) - 1
            envs._streams.restart(np.arange(300))
        states, rewards = hand(actions)
        observations, paid, *_ = envs.step(actions)
        assert observations.tolist() == states.tolist()
        assert paid.tolist() == rewards.tolist()
