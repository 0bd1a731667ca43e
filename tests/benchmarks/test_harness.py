"""The benchmarks run, agree with the peer where it is installed, and write what they say; no test looks at a time."""

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
def harness(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("_harness")


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("_worlds")


def run(script: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.usefixtures("harness")
def test_the_map_is_measured_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--quick", "--alone", "--sizes", "60,200", "--json", str(tmp_path / "out.json")]
    assert importlib.import_module("bench_worldmap").main(words) == 0
    printed = capsys.readouterr().out
    assert "not measured" in printed  # each ratio needs the peer
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert {"date", "revision", "python", "versions", "cpus", "load", "command", "rows", "targets"} <= found.keys()
    assert set(found["versions"]) >= {"surefoot", "solvi", "numpy", "scipy"}
    figures = {(row["what"], row["size"]) for row in found["rows"]}
    for what in ("see", "arrive", "next, cold, far", "next, walking", "explore, open here", "load (.map)", "verify"):
        assert {(what, 60), (what, 200)} <= figures
    for row in found["rows"]:
        assert row["value"] is not None or (row["cpu"] > 0 and row["wall"] > 0 and row["ops"] > 0 and not row["capped"])


@pytest.mark.skipif(not HAS_PEER, reason="needs solvi: pip install 'surefoot[bench]'")
def test_the_map_agrees_with_the_peer(tmp_path: Path) -> None:
    printed = run("bench_worldmap.py", "--quick", "--sizes", "100", "--json", str(tmp_path / "out.json"))
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert sum("costs and ways" in check for check in found["checks"]) == 10
    assert sum("every claim" in check for check in found["checks"]) == 2
    both = {row["what"] for row in found["rows"] if row["who"] == "solvi"}
    assert both >= {"see", "next, walking, mean", "verify", "memory per claim", "explore, far, cold"}
    assert "solvi/surefoot" in printed


def test_the_journal_is_measured(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    out = tmp_path / "out.json"
    run("bench_journal.py", "--quick", "--entries", "40", "--folder", str(folder), "--json", str(out))
    figures = {(row["what"], row["who"]) for row in json.loads(out.read_text(encoding="utf-8"))["rows"]}
    for backend in ("memory", "jsonl", "json", "sqlite"):
        assert {("append, 1 at a time, normal", backend), ("verify", backend), ("read entries", backend)} <= figures
    assert ("append, 10 at a time, full", "sqlite") in figures
    assert list(folder.iterdir()) == []


class Wrong:
    """A peer with one claim or one cost wrong."""

    hypothesis_cost = 3

    def __init__(self, ours: Any) -> None:
        self.edges = {
            (c.state, c.action): {"to": c.to, "status": c.status, "source": c.source, "taken": c.taken}
            for c in ours.claims()
        }
        self.ours = ours
        self.off = 0

    def frontier(self) -> list[Any]:
        return [key for key, claim in self.edges.items() if not claim["taken"]]

    def distances(self, targets: set[Any]) -> dict[Any, tuple[float, Any]]:
        return {
            s: (cost + (self.off if action else 0), action)
            for s, (cost, action) in self.ours.distances(targets).items()
        }


def test_maps_that_differ_are_noticed(worlds: Any) -> None:
    from surefoot import WorldMap

    grid = worlds.Grid(100)
    ours = grid.fill(WorldMap())
    same = Wrong(ours)
    starts = grid.some(5, "starts")
    assert worlds.disagreement(ours, same) is None
    assert worlds.disagreement_on_ways(ours, same, (0, 0), starts) is None
    same.off = 1
    assert "against" in worlds.disagreement_on_ways(ours, same, (0, 0), starts)
    key = next(iter(same.edges))
    same.edges[key] = {**same.edges[key], "to": (3, 3)}
    assert str(key[0]) in worlds.disagreement(ours, same)
    del same.edges[key]
    assert worlds.disagreement(ours, same) == f"{len(grid.edges)} claims against {len(grid.edges) - 1}"


def test_the_grid_is_what_it_says(worlds: Any) -> None:
    grid, again = worlds.Grid(1000), worlds.Grid(1000)
    assert len(grid.edges) == 960
    assert len(set(grid.taken)) == len(grid.edges) // 2
    assert (grid.taken, grid.moved) == (again.taken, again.moved)
    assert worlds.Grid(1000, seed=1).taken != grid.taken
    assert 0.02 < len(grid.moved) / len(grid.edges) < 0.08
    for (state, action), to in grid.moved.items():
        assert grid.leads(state, action) == to
        assert to not in {there for here, a, there in grid.edges if (here, a) == (state, action)}


def test_contenders_take_turns(harness: Any) -> None:
    turns: list[str] = []

    def contender(who: str, capped: bool) -> Any:
        def measure() -> Any:
            turns.append(who)
            return harness.Sample(1.0 if who == "solvi" else 0.5, 1.0, 2, capped)

        return measure

    report = harness.Report("t", "c", say=lambda text: None)
    report.measure("x", 10, {"surefoot": contender("surefoot", False), "solvi": contender("solvi", True)}, 3)
    assert turns == ["surefoot", "solvi", "surefoot", "surefoot"]
    ours, peer = report.rows
    assert (ours.cpu, ours.repeats, ours.capped, peer.cpu, peer.capped) == (0.25, 3, False, 0.5, True)
    assert report.ratio("x", 10) == 2.0
    assert "\\*" in report.table()


def test_targets_are_judged(harness: Any) -> None:
    report = harness.Report("t", "c", say=lambda text: None)
    for size, ours, peer in ((10, 1.0, 30.0), (1000, 1.2, 3000.0)):
        report.add("x", "surefoot", size, [harness.Sample(ours, ours)])
        report.add("x", "solvi", size, [harness.Sample(peer, peer)])
    target = harness.Target
    found = report.judge(
        [
            target("ratio", "x", at_least=2000.0, size=1000),
            target("too much", "x", at_least=3000.0, size=1000),
            target("for a larger map", "x", at_least=2000.0, size=100_000),
            target("flat", "x", grows_at_most=1.5),
            target("flatter", "x", grows_at_most=1.1),
            target("absent", "y", at_least=1.0),
            target("absent too", "y", grows_at_most=1.0),
        ]
    )
    assert [held for _, _, held in found] == [True, False, None, True, False, None, None]
    assert report.growth("x", "surefoot") == (1.2, 10, 1000)


def test_what_takes_too_long_is_stopped(harness: Any) -> None:
    def endless() -> None:
        while True:
            sum(range(100))

    sample = harness.clocked(endless, limit=0.05)
    assert sample.capped
    assert not harness.clocked(lambda: sum(range(100)), limit=60.0).capped


def test_times_are_shown_with_their_unit(harness: Any) -> None:
    assert [harness.seconds(amount) for amount in (12.0, 0.0031, 4.5e-6, 2e-8, None)] == [
        "12 s",
        "3.1 ms",
        "4.5 µs",
        "20 ns",
        "",
    ]
