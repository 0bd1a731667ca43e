"""The benchmark of learned models knows the truth that it measures against."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from surefoot import Counts

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(FOLDER)
    yield importlib.import_module("bench_verified")
    for name in ("bench_verified", "_harness"):
        sys.modules.pop(name, None)


def test_the_truth_is_that_of_the_environments(bench: Any) -> None:
    lake, cliff = (bench.worlds()[name] for name in ("lake", "cliff"))
    assert lake.best() == pytest.approx(14 / 17, abs=1e-9)
    assert cliff.best() == pytest.approx(1.0, abs=1e-6)
    assert lake.value(dict.fromkeys(range(16), 0)) == 0.0
    assert cliff.truth[36][0] == pytest.approx({36: 1 / 3, 24: 1 / 3, 48: 1 / 3})


def test_a_walk_over_the_table_is_counted_with_its_ends(bench: Any) -> None:
    counts = bench.worlds()["lake"].walk(Counts(), 500, seed=1)
    assert counts.outcomes == 500
    assert counts.starts == [0]
    model = counts.intervals(support="seen").model
    assert set(model.states_with("ended").tolist()) <= {
        model.state(str(hole)) for hole in (5, 7, 11, 12, 15) if hole in counts.states
    }
