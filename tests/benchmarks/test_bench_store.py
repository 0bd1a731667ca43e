"""The benchmark of the store runs, alone and beside the peer, and writes what it says; times do not matter."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
HAS_PEER = importlib.util.find_spec("solvi") is not None


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    made = importlib.import_module("bench_store")
    for name, value in (("CHAINS", (5,)), ("REPEATS", (5, 9)), ("VALUES", (4, 6))):
        monkeypatch.setattr(made, name, value)
    return made


def figures(path: Path, who: str) -> set[tuple[str, int]]:
    found = json.loads(path.read_text(encoding="utf-8"))
    return {(row["what"], row["size"]) for row in found["rows"] if row["who"] == who}


def test_it_is_measured_alone(bench: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "out.json"
    assert bench.main(["--alone", "--quick", "--sizes", "20,60", "--json", str(place)]) == 0
    measured = figures(place, "surefoot")
    for what in (
        "add",
        "find by subject",
        "usable",
        "snapshot of one subject",
        "verify, an entry",
        "reopen (.db), an entry",
    ):
        assert {(what, 20), (what, 60)} <= measured
    assert {("retract the root of a chain", 5), ("the same fact again", 9)} <= measured
    assert figures(place, "solvi") == set()
    printed = capsys.readouterr().out
    assert "-     add, 100,000: at least 20,000 facts a second, in memory: not measured" in printed
    assert "the same fact again: constant (at most ×1.6): ×" in printed


@pytest.mark.skipif(not HAS_PEER, reason="needs solvi: pip install 'surefoot[bench]'")
def test_it_is_measured_beside_the_peer_when_both_agree(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "out.json"
    words = ["--quick", "--sizes", "50", "--json", str(place)]
    assert bench.main(words) == 0
    assert {("add", 50), ("verify, an entry", 50), ("retract the root of a fan", 5)} <= figures(place, "solvi")
    checks = json.loads(place.read_text(encoding="utf-8"))["checks"]
    assert "50 statements, after retractions: the status of every fact is the same" in checks
    monkeypatch.setattr(bench, "statuses", lambda store: {type(store).__module__: "active"})
    with pytest.raises(SystemExit, match="the stores differ as stated, so no figure means anything"):
        bench.main(words)


def test_targets_are_judged(bench: Any) -> None:
    report = bench.Report("targets", "none")
    for size in (1_000, 100_000):
        for what in bench.CONSTANT:
            report.add(what, "surefoot", size, [bench.Sample(size * 1e-5, 1.0, size)])
    report.add("verify, an entry", "surefoot", 100_000, [bench.Sample(1.0, 1.0, 100_000)])
    judged = dict(bench.judge(report))
    verdicts = {target.rpartition(":")[0]: met for target, met in judged.items()}
    assert verdicts["add, 100,000: at least 20,000 facts a second, in memory"] is True
    assert verdicts["verify, an entry, 100,000: at least 200,000 entries a second"] is False
    assert verdicts["retract the root of a fan, 10,000: under 1 s"] is None
    assert "100,000 a second" in next(target for target in judged if target.startswith("verify"))


def test_it_runs_as_a_script() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "bench_store.py"), "--help"], capture_output=True, text=True, check=True
    )
    assert "KnowledgeStore" in done.stdout
