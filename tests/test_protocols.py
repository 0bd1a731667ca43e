"""Outcomes: what one step did, and what is no outcome."""

from __future__ import annotations

import dataclasses

import pytest

from surefoot import Environment, Outcome, ended, faulted, moved, refused
from surefoot.environments.corridor import Corridor
from surefoot.errors import BadArgument, ValueRejected
from surefoot.protocols import Closable, Describable, Prediction, Signposted, Snapshotable, call_of


def test_the_contract_of_an_outcome() -> None:
    outcome = Outcome({"pos": 1}, True, {"pos": 1}, False, {"score": 3})
    assert (outcome.state, outcome.accepted, outcome.effect, outcome.done) == ({"pos": 1}, True, {"pos": 1}, False)
    assert outcome.info == {"score": 3}
    assert Outcome("s").info == {}
    assert Outcome("s") == Outcome("s")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Outcome("s").done = True  # type: ignore[misc]  # wrong on purpose


def test_the_three_verdicts() -> None:
    assert moved("s", effect=1, info={"a": 1}).verdict == "accepted"
    assert moved("s", done=True).done
    assert (refused("s", "locked").verdict, refused("s", "locked").reason) == ("refused", "locked")
    assert refused("s", done=True).done
    assert (ended("s", effect=2).done, ended("s").accepted) == (True, True)
    broken = faulted("s", "time-out", info={"after": 10})
    assert (broken.verdict, broken.accepted, broken.fault, broken.done) == ("fault", False, "time-out", False)


@pytest.mark.parametrize("bad", [None, 1, "yes"])
def test_what_is_no_outcome(bad: object) -> None:
    with pytest.raises(BadArgument, match="accepted must be True or False"):
        Outcome("s", accepted=bad)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(BadArgument, match="done must be True or False"):
        Outcome("s", done=bad)  # type: ignore[arg-type]  # wrong on purpose


def test_a_fault_is_not_accepted() -> None:
    with pytest.raises(BadArgument, match="is not accepted"):
        Outcome("s", fault="time-out")


def test_capabilities_are_protocols_of_their_own() -> None:
    world = Corridor()
    assert isinstance(world, Environment)
    assert isinstance(world, Snapshotable)
    assert not isinstance(world, Closable | Describable | Signposted)
    assert not isinstance(object(), Environment)


@pytest.mark.parametrize(
    ("action", "name", "args"),
    [
        ("open", "open", {}),
        ("=open", "==open", {}),
        (("go", 1, "x"), "go", {"0": 1, "1": "x"}),
        (("go", {"to": (1, 2)}), "go", {"to": (1, 2)}),
        (("go",), "go", {}),
        ({"name": "go", "to": 1}, "go", {"to": 1}),
        ({"name": "go", "args": {"to": [1]}}, "go", {"to": [1]}),
        ({"name": "go", "args": 3}, "go", {"args": 3}),
        ({"name": "=go"}, "==go", {}),
        (1, "=1", {}),
        (True, "=true", {}),
        ((1, 2), "=[1,2]", {}),
        ((), "=[]", {}),
    ],
)
def test_an_action_is_a_name_and_arguments(action: object, name: str, args: dict[str, object]) -> None:
    call = call_of(action)
    assert (call.name, call.args) == (name, args)


@pytest.mark.parametrize("bad", [{"to": 1}, {"name": 3}, ["go"], float("nan")])
def test_what_is_no_action(bad: object) -> None:
    with pytest.raises(ValueRejected):
        call_of(bad)


@pytest.mark.parametrize(
    "bad", [{"verdict": "yes"}, {"risk": float("nan")}, {"risk": -1.0}, {"risk": float("inf")}, {"support": -77}]
)
def test_what_is_no_prediction(bad: dict[str, object]) -> None:
    with pytest.raises(BadArgument, match=next(iter(bad))):
        Prediction(**{"verdict": "accept", **bad})  # type: ignore[arg-type]  # wrong on purpose


def test_predictions_may_rest_on_a_written_rate() -> None:
    assert Prediction("accept", 0.25, -1).support == -1
