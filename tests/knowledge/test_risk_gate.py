"""A gate learned from what failed: bounded, and open again where evidence says so."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import BadArgument, UnknownFormat, ValueRejected
from surefoot.journal import open_journal
from surefoot.knowledge.risk_gate import LearnedGate
from surefoot.protocols import Prediction, RiskPolicy


def burnt(*levels: Any, context: Any = 0, **settings_: Any) -> LearnedGate:
    """Return a gate after an episode a level, each of which failed there."""
    gate = LearnedGate("depth", **settings_)
    for level in levels:
        gate.failed(level, context).new_episode()
    return gate


def test_without_failures_there_is_no_limit() -> None:
    gate = LearnedGate("depth").arrived(9).new_episode()
    assert gate.limit() is None
    assert gate.check(10**9).verdict == "accept"
    assert gate.check(1).reason == "gate 'depth': no limit is known"


def test_the_limit_is_the_median_less_the_margin_but_at_least_the_floor() -> None:
    assert burnt(5).limit() == 4
    assert burnt(5, 9, 6).limit() == 5
    assert burnt(5, 8).limit() == 5.5
    assert burnt(5, margin=0.5).limit() == 4.5
    assert burnt(0.3, margin=0.1).limit() == 0.2
    assert burnt(1, margin=3, floor=2).limit() == 2
    assert burnt(-5, floor=-7).limit() == -6
    assert burnt(5, 5, 9).limit() == 4


def test_a_failure_counts_when_its_episode_is_closed() -> None:
    gate = LearnedGate("depth").failed(5).failed(5)
    assert gate.limit() is None
    assert gate.new_episode().limit() == 4


def test_only_contexts_nearby_count() -> None:
    gate = burnt(5, context=2).failed(9, context=7).new_episode()
    assert [gate.limit(context) for context in (0.9, 1, 2, 3, 4, 6, 8)] == [None, 4, 4, 4, None, 8, 8]
    assert burnt(5, context=0.3, near=0.2).limit(0.1) == 4, "0.3 and 0.1 are 0.2 apart, exactly"


def test_beyond_the_limit_it_refuses_with_what_it_knows() -> None:
    gate = burnt(5, 5)
    assert gate.check(4).reason == "gate 'depth': within the limit 4"
    prediction = gate.check(4.0001)
    assert (prediction.verdict, prediction.risk, prediction.support, prediction.hard) == ("refuse", 0.5, 2, False)
    assert prediction.reason == "gate 'depth': beyond the limit 4; 2 of 2 attempts there failed"
    prediction = gate.failed(6).check(5)
    assert (prediction.risk, prediction.support) == (0.8, 3)
    assert burnt(5, prior=0.9).check(5).risk == 0.9


def test_evidence_opens_it_again() -> None:
    gate = burnt(5)
    for n, verdict in enumerate(["refuse", "accept", "accept", "accept"]):
        assert gate.arrived(6 + n).check(7).verdict == verdict
    prediction = gate.check(7)
    assert prediction.reason == "gate 'depth': open again beyond 4: 1 of 5 attempts failed"
    assert prediction.risk == pytest.approx(2 / 7)
    assert gate.failed(9).failed(9).check(7).verdict == "accept", "(3 + 1) / (7 + 2) is below 1/2"
    assert gate.failed(9).check(7).verdict == "refuse", "(4 + 1) / (8 + 2) is not"


def test_a_failure_is_forgotten() -> None:
    gate = burnt(5, expiry=3)
    assert [gate.new_episode().limit() for _ in range(3)] == [4, 4, None]


def test_attempts_of_an_episode_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.knowledge.risk_gate._ATTEMPTS", 3)
    gate = LearnedGate("depth")
    for level in (5, 6, 7, 5, 8):
        gate.arrived(level)
    assert gate.given()["episodes"] == [[["0", "7", 1, 0], ["0", "5", 2, 0], ["0", "8", 1, 0]]]
    assert len(list(gate.journal.lines())) == 1


def test_as_a_policy() -> None:
    gate = burnt(5, context=2)
    assert isinstance(gate, RiskPolicy)
    accept, refuse, unknown = (Prediction(verdict, reason="r") for verdict in ("accept", "refuse", "unknown"))
    for key, words in [
        ((5, 2), ["avoid", "avoid", "avoid"]),
        ((4, 2), ["take", "avoid", "ask"]),
        ((5, 9), ["take", "avoid", "ask"]),
        (5, ["take", "avoid", "ask"]),
        (None, ["take", "avoid", "ask"]),
        ("door", ["take", "avoid", "ask"]),
        (True, ["take", "avoid", "ask"]),
        ((5, "x"), ["take", "avoid", "ask"]),
        ((5, 2, 1), ["take", "avoid", "ask"]),
    ]:
        assert [gate.decide(p, 100, key).word for p in (accept, refuse, unknown)] == words, key
    assert gate.decide(accept, key=(5, 2)).reason.startswith("gate 'depth': beyond the limit 4")
    assert gate.decide(Prediction("refuse", hard=True, reason="never"), key=(5, 2)).reason == "never"
    assert burnt(5).decide(accept, key=5).word == "avoid"
    for wrong in (math.nan, math.inf, -1):
        with pytest.raises(BadArgument, match="gain must be"):
            gate.decide(accept, wrong)
    with pytest.raises(BadArgument, match="must be a finite number"):
        gate.decide(accept, key=(math.nan, 2))


def test_deciding_is_pure() -> None:
    gate = burnt(5, 7)
    before = gate.fingerprint()
    choices = [gate.decide(Prediction("accept"), 1, 6.5) for _ in range(20)]
    assert all(choice == choices[0] for choice in choices)
    assert gate.fingerprint() == before


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"expiry": 0}, "expiry must be an int >= 1"),
        ({"expiry": 1.5}, "expiry must be an int >= 1"),
        ({"min_support": 0}, "min_support must be an int >= 1"),
        ({"near": -1}, "near must be a number >= 0"),
        ({"margin": -0.1}, "margin must be a number >= 0"),
        ({"prior": 1.1}, r"prior must be a probability in \[0, 1\], got 11/10"),
        ({"prior": math.nan}, "prior must be a finite number"),
        ({"floor": math.inf}, "floor must be a finite number"),
        ({"name": ""}, "name must not be empty"),
    ],
)
def test_settings_are_checked(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        LearnedGate(**{"name": "depth", **wrong})


def test_reports_are_checked_and_change_nothing() -> None:
    gate = burnt(5)
    before = gate.fingerprint()
    for report in (gate.arrived, gate.failed, gate.check):
        for wrong in ((math.nan, 0), (5, math.inf)):
            with pytest.raises(BadArgument, match="must be a finite number"):
                report(*wrong)
        with pytest.raises(ValueRejected, match="level must be a number, got '5'"):
            report("5")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueRejected, match="context must be a number"):
        gate.limit(None)  # type: ignore[arg-type]  # wrong on purpose
    assert gate.fingerprint() == before


@pytest.mark.parametrize("name", ["g.jsonl", "g.db"])
def test_everything_is_restored(tmp_path: Path, name: str) -> None:
    with LearnedGate("depth", 3, path=tmp_path / name) as gate:
        gate.new_episode()
        assert len(gate.journal) == 0
        gate.failed(5.5, 1).new_episode().arrived(2)
        fingerprint, given_ = gate.fingerprint(), gate.given()
    with LearnedGate("depth", path=tmp_path / name) as gate:
        assert (gate.fingerprint(), gate.given()) == (fingerprint, given_)
        assert gate.verify(head=gate.head)
        assert [gate.rebuild(n).limit() for n in range(5)] == [None, None, None, 4.5, 4.5]
        assert (gate.name, repr(gate)) == ("depth", f"<LearnedGate 'depth' {tmp_path / name}>")
        other = LearnedGate("price", journal=gate.journal)
        assert other.limit() is None
        other.failed(100)
        assert gate.limit() == 4.5
        gate.new_episode().new_episode()
    with LearnedGate("depth", 1, path=tmp_path / name) as gate:
        assert gate.limit() is None
        assert gate.verify()


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("attempt", {"context": "0", "level": "x", "well": True}),
        ("attempt", {"context": "0", "level": "1"}),
        ("learned gate", {"name": "depth"}),
        ("other", {}),
    ],
)
def test_an_entry_that_is_no_event_is_refused(kind: str, data: Any) -> None:
    journal = open_journal()
    gate = LearnedGate("depth", journal=journal).failed(5).new_episode()
    journal.append(kind, data, stream="gate depth")
    if kind == "learned gate":
        assert gate.limit() == 4, "what is left out has its default"
        return
    with pytest.raises(UnknownFormat, match="entry 3 cannot be read"):
        gate.limit()


def test_copies_are_independent() -> None:
    for gate in (burnt(5), burnt(5, journal=open_journal())):
        for twin in (copy.deepcopy(gate), pickle.loads(pickle.dumps(gate))):
            assert twin.fingerprint() == gate.fingerprint()
            twin.failed(1).new_episode()
            assert (twin.limit(), gate.limit()) == (2, 4)


@given(
    st.lists(
        st.tuples(st.sampled_from(["failed", "arrived", "closed"]), st.integers(0, 8), st.integers(0, 3)), max_size=30
    ),
    st.integers(1, 4),
)
def test_it_never_goes_below_the_floor_and_agrees_when_it_is_reopened(told: list[Any], expiry: int) -> None:
    journal = open_journal()
    gates = [LearnedGate("depth", expiry, floor=2, journal=journal), LearnedGate("depth", expiry, floor=2)]
    closed: list[list[Any]] = []
    present: list[Any] = []
    for what, level, context in told:
        if what == "closed":
            closed, present = [*closed, present][-expiry:], []
        else:
            present.append((what, level, context))
        for gate in gates:
            match what:
                case "failed":
                    gate.failed(level, context)
                case "arrived":
                    gate.arrived(level, context)
                case _:
                    gate.new_episode()
    for context in range(4):
        levels = sorted(lv for e in closed for w, lv, c in e if w == "failed" and abs(c - context) <= 1)
        middle = None if not levels else (levels[(len(levels) - 1) // 2] + levels[len(levels) // 2]) / 2
        for gate in gates:
            assert gate.limit(context) == (None if middle is None else max(2, middle - 1))
            assert gate.check(2, context).verdict == "accept"
    if len(journal):
        assert LearnedGate("depth", journal=journal).fingerprint() == gates[0].fingerprint()
    assert gates[0].verify()
