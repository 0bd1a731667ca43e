"""Recordings of any domain: read, states rebuilt as a naive twin rebuilds them, written by recording a world."""

from __future__ import annotations

import copy
import gzip
import importlib
import importlib.util
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
HAS = {name: importlib.util.find_spec(name) is not None for name in ("tau2", "bfcl_eval")}


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def put(folder: Path, domain: str, base: Any, lines: list[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"db_{domain}.json.gz").write_bytes(gzip.compress(json.dumps(base).encode()))
    (folder / f"probes_{domain}.jsonl").write_text(text)  # packed or not
    return folder


def line(i: int, split: str, effect: Any, prior: list[int]) -> dict[str, Any]:
    found = {"i": i, "domain": "clinic", "split": split, "ep": None, "step": 0, "action": "book", "args": {"n": i}}
    return found | {"accepted": effect is not None, "message": "", "effect": effect, "prior": prior, "intent": ["x"]}


def test_lines_of_no_side_are_only_what_others_build_on(benchmarks: Any, tmp_path: Path) -> None:
    base = {"open": False, "beds": [1, 2]}
    lines = [
        line(0, "change", [[["open"], True], [["beds", 2], 3]], []),
        line(1, "train", [[["beds", 0]]], [0]),
        line(2, "heldout", None, [0, 1]),
    ]
    recording = benchmarks("_recording").Recording(put(tmp_path, "clinic", base, lines))
    assert recording.domain == "clinic"
    assert [probe.number for probe in recording.train] == [1]
    assert recording.train[0].state == {"open": True, "beds": [1, 2, 3]}
    assert recording.heldout[0].state == {"open": True, "beds": [2, 3]}
    assert recording.base == base
    assert not hasattr(recording.heldout[0], "intent")


def test_a_folder_without_one_recording_says_what_it_needs(benchmarks: Any, tmp_path: Path) -> None:
    recording = benchmarks("_recording").Recording
    with pytest.raises(FileNotFoundError, match=r"one recording \(db_<domain>.json.gz\), found none"):
        recording(tmp_path)
    put(tmp_path, "clinic", {}, [])
    put(tmp_path, "school", {}, [])
    with pytest.raises(FileNotFoundError, match=r"found \['clinic', 'school'\]; name one with `domain`"):
        recording(tmp_path)
    with pytest.raises(FileNotFoundError, match="a recording named 'shop'"):
        recording(tmp_path, "shop")
    assert recording(tmp_path, "school").domain == "school"


def twin(base: Any, effects: list[list[Any]]) -> Any:
    """Apply effects to a copy of everything."""
    state = copy.deepcopy(base)
    for path, *value in (step for effect in effects for step in effect):
        *way, last = path
        holder = state
        for step in way:
            holder = holder[step]
        if not value:
            del holder[last]
        elif isinstance(holder, list) and last == len(holder):
            holder.append(copy.deepcopy(value[0]))
        else:
            holder[last] = copy.deepcopy(value[0])
    return state


def random_step(rng: random.Random, state: Any) -> list[Any]:
    """Return a step that fits a state: down to some container, then set, append or delete there."""
    path: list[Any] = []
    while True:
        inner = [key for key in _keys(state) if isinstance(state[key], dict | list)]
        if not inner or (path and rng.random() < 0.5):
            break
        path.append(rng.choice(inner))
        state = state[path[-1]]
    keys = _keys(state)
    if keys and len(path) > 1 and rng.random() < 0.3:
        return [[*path, rng.choice(keys)]]
    value = rng.choice((1, "a", {"b": [1, {"c": 2}]}, [{"d": 3}, 4]))
    new = len(state) if isinstance(state, list) else f"new{rng.randrange(5)}"
    return [[*path, rng.choice([*keys, new])], value]


def _keys(state: Any) -> list[Any]:
    return list(state) if isinstance(state, dict) else list(range(len(state)))


def plain(value: Any) -> Any:
    """Return an overlaid mapping as the dict that it stands for."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    return {key: plain(value[key]) for key in value} if hasattr(value, "keys") else value


@pytest.mark.parametrize("seed", range(40))
def test_states_are_those_of_a_twin_that_copies_everything(benchmarks: Any, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    many = {f"k{n}": {"s": n, "l": [{"m": n}, n], "d": {"x": {"y": n}}} for n in range(90)}
    base = {"many": many, "few": {"a": {"b": [1, 2, 3]}}, "list": [{"p": [1]}, {"p": [2]}], "root": 1}
    state, effects = base, []
    for _ in range(12):
        effects.append([random_step(rng, state)])
        state = twin(base, effects)
    before = json.dumps(base)
    recording = benchmarks("_recording").Recording(put(tmp_path, "clinic", base, []))
    assert plain(recording.state(effects)) == state
    assert json.dumps(recording.base) == before


class Locker:
    """A tool with a state and refusals, one of which changes something."""

    def _load_scenario(self, scenario: dict[str, Any]) -> None:
        self.tries = scenario.get("tries", 0)
        self.held: list[int] = scenario.get("held", [])
        self._random = None

    def put(self, what: int, into: list[int]) -> dict[str, Any]:
        into.append(what)  # tools do such things to what they are given
        if what < 0:
            self.tries += 1
            return {"error": f"{what} is not there"}
        self.held.append(what)
        return {"put_status": True}

    def take(self, what: int) -> dict[str, Any]:
        self.held.remove(what)
        return {}


def test_a_world_is_recorded_as_it_was(benchmarks: Any, tmp_path: Path) -> None:
    tools, recorder, recording = benchmarks("_tools"), benchmarks("record_tools"), benchmarks("_recording")

    class Lockers(tools.ApiWorld):  # type: ignore[misc, name-defined]  # its base is loaded from a path
        domain = "locker"

        def __init__(self, rng: random.Random) -> None:
            super().__init__(Locker, [{"held": [n], "tries": n % 2} for n in range(8)], rng)

        def propose(self) -> tuple[str, dict[str, Any], list[str]]:
            if self.rng.random() < 0.5:
                return "take", {"what": self.rng.randrange(8)}, []
            return "put", {"what": self.rng.randrange(-3, 8), "into": []}, ["negative"]

    world, lines = recorder.record(Lockers, 400, 1)
    again = recorder.record(Lockers, 400, 1)[1]
    assert json.dumps(lines) == json.dumps(again)
    recording.write(tmp_path, world.domain, world.base, lines)
    found = recording.Recording(tmp_path)
    assert len(found.train) == len(found.heldout) == 200
    assert {probe.accepted for probe in found.train} == {True, False}
    for probe in (*found.train, *found.heldout):
        held, tries = list(probe.state["held"]), probe.state["tries"]
        world.api = Locker()
        world.api._load_scenario({"held": held, "tries": tries})
        assert world.call(probe.action, probe.args) == (probe.message, probe.accepted)
        assert probe.args.get("into", []) == []  # the tool had a copy
    left = [one for one in lines if one["action"] == "left behind"]
    assert left
    assert all(one["effect"][0][0] == ["tries"] for one in left)
    customers = {split: {json.dumps(p["prior"][:1]) for p in lines if p["split"] == split} for split in world.sides}
    assert len(customers["train"]) > 1


@pytest.mark.parametrize(
    ("answer", "refused"),
    [
        ({"error": "no"}, "no"),
        ([{"error": "no"}], "no"),
        (["Error: no"], "Error: no"),
        ({"login_status": False, "message": "no"}, "no"),
        ({"login_status": True}, None),
        ({"status": False}, None),
        (None, None),
        (["a", "b"], None),
    ],
)
def test_an_answer_is_a_refusal_or_not(benchmarks: Any, answer: Any, refused: str | None) -> None:
    assert benchmarks("_tools").refusal(answer) == refused


@pytest.mark.parametrize(("domain", "package"), [("airline", "tau2"), ("trading", "bfcl_eval")])
def test_without_the_tools_the_recorder_says_how_to_get_them(domain: str, package: str, tmp_path: Path) -> None:
    if HAS[package]:
        pytest.skip(f"{package} is installed here")
    words = [domain, "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "record_tools.py"), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "is not installed here: give --venv DIR" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("domain", ["airline", "telecom", "trading", "travel", "messages", "vehicle", "files"])
def test_what_is_recorded_of_real_tools_can_be_read(benchmarks: Any, domain: str, tmp_path: Path) -> None:
    recorder = benchmarks("record_tools")
    if not HAS[recorder.DOMAINS[domain][2][1]]:
        pytest.skip(f"needs the tools: pip install --no-deps {recorder.DOMAINS[domain][2][0]}")
    assert recorder.main([domain, "--out", str(tmp_path), "--probes", "80", "--seed", "3"]) == 0
    recording = benchmarks("_recording").Recording(tmp_path)
    assert len(recording.train) == len(recording.heldout) == 40
    assert {probe.accepted for probe in recording.train} == {True, False}
