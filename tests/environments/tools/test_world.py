"""Programs are a world: the exit code refuses, a time-out is a fault, what moved has moved."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.environments.tools import Reader, Tool, Tools
from surefoot.errors import BadArgument, NotStarted, WorldUnavailable
from surefoot.protocols import Closable, Describable, Environment, Signposted, Snapshotable
from surefoot.testing import check_environment

READS = {"names": Reader(("ls",), "lines")}
TOOLS = {
    "make": Tool(("mkdir", "{name}")),
    "remove": Tool(("rmdir", "{name}")),
    "half": Tool(("sh", "-c", "mkdir half; echo sorry >&2; exit 3")),
    "hang": Tool(("sh", "-c", "mkdir hung; sleep 60")),
    "kill": Tool(("sh", "-c", "kill -9 $$")),
    "later": Tool(("sh", "-c", "exit 75")),
    "where": Tool(("sh", "-c", 'echo "$PWD $HOME"; env | cut -d= -f1 | sort | tr "\\n" " "')),
}


def world(**options: Any) -> Tools:
    given: dict[str, Any] = {
        "tools": TOOLS,
        "reads": READS,
        "offers": {"make": [{"name": "a"}], "remove": [{"name": "a"}]},
    }
    return Tools(**(given | options))


def test_it_keeps_the_laws() -> None:
    few = {name: TOOLS[name] for name in ("make", "remove")}
    report = check_environment(
        lambda: world(tools=few, setup=[("make", {"name": "b"})]),
        seeds=(0,),
        steps=2,
        long=2,
        examples=1,
        walk=[("remove", {"name": "b"}), ("remove", {"name": "b"})],
    )
    assert report["refusals"] > 0
    for protocol in (Environment, Snapshotable, Describable, Closable):
        assert isinstance(world(), protocol)
    assert not isinstance(world(), Signposted)


def test_codes_say_yes_no_or_neither() -> None:
    with world(timeout=0.5) as tools:
        start = tools.reset()
        assert tools.actions(start)[:2] == [
            {"name": "make", "args": {"name": "a"}},
            {"name": "remove", "args": {"name": "a"}},
        ]
        made = tools.step(("make", {"name": "a"}))
        assert (made.verdict, made.state, made.effect) == ("accepted", {"names": ["a"]}, None)
        again = tools.step(("make", {"name": "a"}))
        assert (again.verdict, again.state) == ("refused", made.state)
        assert (again.reason or "").startswith("exit 1: mkdir: cannot create directory")
        half = tools.step("half")
        assert (half.verdict, half.state["names"], half.info["code"], half.info["err"]) == (
            "accepted",
            ["a", "half"],
            3,
            "sorry\n",
        )
        assert [tools.step(action).fault for action in ("hang", "kill", "later")] == [
            "no answer within 0.5 s",
            "signal 9",
            "exit 75",
        ]
        assert tools.save_state() is not None
        assert tools.step(("remove", {"name": "hung"})).accepted, "what a time-out left half done is in the state"


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("fly", "no such tool"),
        ("make", "the arguments are name, got none"),
        (("make", {"name": "-p"}), "begin with '-'"),
    ],
)
def test_a_call_that_cannot_be_made_is_refused(action: Any, reason: str) -> None:
    with world() as tools:
        tools.reset()
        outcome = tools.step(action)
        assert outcome.verdict == "refused"
        assert reason in (outcome.reason or "")


def test_it_is_shut_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "token")
    with world(env={"MINE": "1"}) as tools:
        tools.reset()
        told = tools.step("where").info["out"]
        assert told.startswith("~ ~\n")
        assert "SECRET" not in told
        assert "MINE" in told


def test_snapshots_resets_and_the_end_of_an_episode(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    with world(folder=tmp_path, setup=[("make", {"name": "b"})], done=lambda state: "c" in state["names"]) as tools:
        start = tools.reset()
        assert start == {"names": ["b", "given"]}
        token = tools.save_state()
        assert tools.step(("make", {"name": "a"})).state["names"] == ["a", "b", "given"]
        assert tools.restore_state(token) == start
        last = tools.step(("make", {"name": "c"}))
        assert last.done
        assert tools.actions(last.state) == []
        with pytest.raises(NotStarted, match="after the episode was over"):
            tools.step("half")
        assert tools.reset() == start
        folder = tools.folder
    assert not folder.exists()
    assert os.listdir(tmp_path) == ["given"]


def test_readers_may_find_nothing_or_break() -> None:
    with world(reads={"x": Reader(("sh", "-c", "exit 4"), absent={4})}) as tools:
        assert tools.reset() == {"x": None}
    for argv, wrong in ((("sh", "-c", "exit 4"), "exit 4"), (("/nowhere",), "cannot be started")):
        with world(reads={"x": Reader(argv)}) as tools, pytest.raises(WorldUnavailable, match=f"cannot read .*{wrong}"):
            tools.reset()
    fragile = {"names": Reader(("sh", "-c", "test ! -d bad && ls"), "lines")}
    with world(reads=fragile) as tools:
        tools.reset()
        outcome = tools.step(("make", {"name": "bad"}))
        assert (outcome.fault or "").startswith("the state cannot be read: sh -c")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": float("inf")}, "timeout must be a number of seconds > 0, got inf"),
        ({"most_output": True}, "most_output must be an int >= 1, got True"),
        ({"tools": {"ls": ["ls"]}, "offers": {}}, r"tools\['ls'\] must be a Tool, got"),
        ({"offers": {"fly": []}}, r"offers names \['fly'\], which are no tools"),
    ],
)
def test_bad_arguments_are_refused_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        world(**options)


def test_what_cannot_begin_says_why(tmp_path: Path) -> None:
    with pytest.raises(WorldUnavailable, match="there is no folder"):
        world(folder=tmp_path / "nowhere")
    with world(setup=["fly"]) as tools, pytest.raises(BadArgument, match="setup cannot take 'fly': no such tool"):
        tools.reset()
    calls: list[Callable[[Tools], object]] = [lambda t: t.step("half"), lambda t: t.save_state(), lambda t: t.folder]
    for call in calls:
        with pytest.raises(NotStarted, match=r"before reset\(\)"):
            call(world())
