"""The benchmark of models runs and writes what it says; times do not matter."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def test_it_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    words = ["--quick", "--json", str(tmp_path / "out.json")]
    assert importlib.import_module("bench_models").main(words) == 0
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    figures = {(row["what"], row["who"]) for row in found["rows"]}
    for name in ("slippery grid", "grid of objects", "random numbers"):
        assert {(f"build, {name}", "surefoot"), (f"build, {name}", "functions")} <= figures
    for what in ("MDP(arrays)", "MDP(arrays), memory at the peak", "from_arrays(sparse)", "simulate, 1,000 runs"):
        assert (what, "surefoot") in figures
    assert len(found["targets"]) == 3
