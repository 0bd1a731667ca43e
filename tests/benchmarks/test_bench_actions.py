"""The benchmark of the action models runs, alone and beside the peer, and writes what it says; times do not matter."""

from __future__ import annotations

import importlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
HAS_PEER = importlib.util.find_spec("solvi") is not None
CALLS = ("observe, then predict", "observe", "predict", "predict, new")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench_actions")


def test_it_is_measured_alone(bench: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module("_harness").hurry()
    assert bench.main(["--alone", "--sizes", "60,200", "--json", str(tmp_path / "out.json")]) == 0
    printed = capsys.readouterr().out
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    figures = {(row["what"], row["size"]) for row in found["rows"]}
    for world in ("clean", "noise", "skewed", "continuous"):
        for conditions in (5, 20):
            for call in CALLS:
                assert {(f"{world}, {conditions} conditions: {call}", size) for size in (60, 200)} <= figures
    assert ("memory, clean, 5 conditions: a distinct case", 200) in figures
    assert {row["who"] for row in found["rows"]} == {"surefoot"}
    assert "held -    noise, 5 conditions, 10,000 calls: at least 50×: not measured" in printed
    assert "at once: clean, 5 conditions, new: coded columns at least 20×: not measured" in printed
    assert len(found["targets"]) == 32 + 10 + 16
    growth = [target for target in found["targets"] if "is constant" in target["target"]]
    assert {target["held"] for target in growth} <= {True, False}  # two sizes are enough to say so
    assert {target["held"] for target in found["targets"] if target not in growth} == {None}
    page = importlib.import_module("publish").section_of(found)
    assert "| noise, 5 conditions, 10,000 calls: at least 50× | not measured | not measured |" in page


@pytest.mark.skipif(not HAS_PEER, reason="needs solvi: pip install 'surefoot[bench]'")
def test_it_is_measured_beside_the_peer(bench: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--sizes", "100", "--worlds", "clean,noise", "--turn", "50", "--json", str(tmp_path / "out.json")]
    assert bench.main(words) == 0
    printed = capsys.readouterr().out
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    peers = {row["what"] for row in found["rows"] if row["who"] == "solvi"}
    assert {f"noise, 20 conditions: {call}" for call in CALLS} <= peers
    assert not [row for row in found["rows"] if row["what"].startswith(("skewed", "continuous"))]
    assert "clean, 5 conditions, 100 calls: not slower: " in printed


def test_the_calls_are_the_same_each_time(bench: Any) -> None:
    for world in bench.WORLDS:
        first, again, other = (list(bench.rows(world, 5, 700, seed)) for seed in (1, 1, 2))
        assert [len(chunk) for chunk in first] == [500, 200]
        assert first == again != other


def test_the_worlds_refuse_what_they_say(bench: Any) -> None:
    for world in bench.WORLDS:
        calls = [row for chunk in bench.rows(world, 5, 3000, seed=1) for row in chunk]
        right = [
            state[1] != "e" and (state[0] <= 0.9 if world == "continuous" else state[0] != "e") for state, _ in calls
        ]
        odd = sum(a != b for a, (_, b) in zip(right, calls, strict=True))
        assert (0 < odd < 90) if world in ("noise", "skewed") else odd == 0


@pytest.mark.skipif(not HAS_PEER, reason="needs solvi: pip install 'surefoot[bench]'")
def test_the_peer_replays_what_ours_observes(bench: Any) -> None:
    assert bench.peers("clean", 5, 300).summary("act")["transitions"] == 300
    assert bench.ours("clean", 5, 300).observations == 300


def test_what_learns_nothing_is_measured_too(bench: Any) -> None:
    model = bench.floor("clean", 5, 100)
    assert model.observe(("a",) * 5, "act", {}, True).support == 0
    assert model.predict(("a",) * 5, "act", {}).support == 1


def test_a_batch_is_measured_each_way(bench: Any) -> None:
    importlib.import_module("_harness").hurry()
    lines: list[str] = []
    report = bench.Report("batches", "here", say=lines.append)
    bench.batches(report, 60, repeats=1)
    ways = {row.what for row in report.rows}
    for way in ("single calls", "coded columns", "columns of lists", "states"):
        assert f"at once: continuous, 20 conditions, observed: {way}" in ways
    assert len(lines) == len(report.rows) == 4 * 2 * 2 * 4
