"""The benchmark of the environments runs, and the loops by hand draw what we draw; times do not matter."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
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


def test_it_runs_and_writes_what_it_says(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    words = [sys.executable, str(BENCHMARKS / "bench_gym.py"), "--quick", "--states", "40", "--json", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = {row["what"] for row in json.loads(out.read_text(encoding="utf-8"))["rows"]}
    assert "one environment, beside FrozenLake" in figures
    assert "100,000 environments, numpy, beside a loop by hand" in figures
    assert "import surefoot.gym" in figures
    assert "one environment: 2.5 times FrozenLake: " in done.stdout


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
