"""What failed a moment ago is blocked for a while: exactly there, bounded, and never everything."""

from __future__ import annotations

import copy
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import values
from surefoot.errors import BadArgument, UnknownFormat, ValueRejected
from surefoot.journal import open_journal
from surefoot.knowledge.failures import FailureMemory
from surefoot.protocols import Call, call_of


def names(failures: FailureMemory, state: Any, **options: Any) -> list[str]:
    return [call.name for call in failures.blocked(state, **options)]


def test_a_failed_call_is_blocked_at_that_state_for_a_while() -> None:
    failures = FailureMemory(window=3).failed("hall", ("open", "door"), why="locked")
    prediction = failures.check("hall", ("open", "door"))
    assert (prediction.verdict, prediction.hard, prediction.support, prediction.action) == ("refuse", True, 1, "open")
    assert prediction.reason == "'open' failed here 0 steps ago (locked); it is blocked for 3 more"
    for other in [("cellar", ("open", "door")), ("hall", ("open", "window")), ("hall", "open")]:
        assert failures.check(*other).verdict == "accept"
    assert failures.tick().check("hall", ("open", "door")).reason.startswith("'open' failed here 1 step ago")
    assert failures.tick().check("hall", ("open", "door")).verdict == "refuse"
    assert failures.tick().check("hall", ("open", "door")).verdict == "accept"


def test_the_key_is_exact() -> None:
    cases: list[tuple[Any, list[Any]]] = [
        (1, [("go", 1), Call("go", {"0": 1}), {"name": "go", "0": 1}]),
        (True, [("go", True)]),
    ]
    for n, same in cases:
        failures = FailureMemory().failed((1, 2), ("go", n))
        assert all(failures.check((1, 2), call).verdict == "refuse" for call in same)
        others: list[Any] = [("go", other) for other in (1, True, 1.0, "1") if type(other) is not type(n)]
        assert all(failures.check((1, 2), call).verdict == "accept" for call in others)
        states: list[Any] = [[1, 2], (1, 2.0), (1, True), "[1,2]", (True, 2)]
        assert all(failures.check(state, ("go", n)).verdict == "accept" for state in states)


def test_what_is_given_is_copied() -> None:
    state, action = {"cells": [1]}, {"name": "go", "to": [1]}
    failures = FailureMemory().failed(state, action)
    state["cells"].append(2)
    action["to"].append(2)  # type: ignore[attr-defined]  # is it a copy?
    assert failures.blocked({"cells": [1]}) == (Call("go", {"to": [1]}),)
    failures.blocked({"cells": [1]})[0].args["to"].append(9)
    assert failures.blocked({"cells": [1]}) == (Call("go", {"to": [1]}),)


def test_a_success_opens_it_again() -> None:
    failures = FailureMemory().failed("hall", "open").failed("hall", "push")
    assert names(failures.succeeded("hall", "open"), "hall") == ["push"]


def test_each_failure_and_success_is_a_step() -> None:
    failures = FailureMemory(window=3).failed("hall", "a").failed("hall", "b").succeeded("hall", "c")
    assert names(failures, "hall") == ["b", "a"]
    assert names(failures.failed("attic", "d"), "hall") == ["b"]


def test_a_failure_that_comes_again_is_counted_and_blocked_anew() -> None:
    failures = FailureMemory(window=3).failed("hall", "a", "locked").tick(2).failed("hall", "a")
    assert failures.check("hall", "a").support == 2
    assert failures.check("hall", "a").reason == "'a' failed here 0 steps ago; it is blocked for 3 more"
    assert failures.tick(3).failed("hall", "a").check("hall", "a").support == 1, "it was forgotten in between"


def test_episodes_as_the_unit() -> None:
    failures = FailureMemory(window=2, unit="episodes").failed("hall", "a").tick(100).succeeded("hall", "b")
    assert "0 episodes ago" in failures.check("hall", "a").reason
    assert "1 episode ago" in failures.new_episode().check("hall", "a").reason
    assert failures.new_episode().blocked("hall") == ()
    assert names(FailureMemory().failed("hall", "a").new_episode(), "hall") == ["a"]


def test_at_most_so_many_are_blocked_at_a_state_the_newest() -> None:
    failures = FailureMemory(max_blocked=2)
    for name in "abc":
        failures.failed("hall", name).failed("attic", name)
    assert names(failures, "hall") == names(failures, "attic") == ["c", "b"]


@pytest.mark.parametrize(
    ("min_open", "options", "blocked"),
    [
        (1, "abcd", "cba"),
        (1, "abc", "cb"),
        (2, "abc", "c"),
        (3, "abc", ""),
        (9, "abc", ""),
        (0, "abc", "cba"),
        (1, "c", "ba"),
        (1, "ax", "cba"),
        (1, "aa", "cb"),
        (1, "", "cba"),
    ],
)
def test_so_many_options_stay_open(min_open: int, options: str, blocked: str) -> None:
    failures = FailureMemory(min_open=min_open)
    for name in "abc":
        failures.failed("hall", name)
    found = names(failures, "hall", options=list(options))
    assert found == list(blocked)
    assert [n for n in "abc" if failures.check("hall", n, options=list(options)).verdict == "refuse"] == sorted(blocked)
    assert len(set(options) - set(found)) >= min(min_open, len(set(options)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"window": 0}, "window must be an int >= 1, got 0"),
        ({"window": 1.5}, "window must be an int >= 1, got 1.5"),
        ({"max_blocked": 0}, "max_blocked must be an int >= 1"),
        ({"min_open": -1}, "min_open must be an int >= 0"),
        ({"min_open": True}, "min_open must be an int >= 0"),
        ({"max_kept": 0}, "max_kept must be an int >= 1"),
        ({"unit": "days"}, "unit must be 'steps' or 'episodes', got 'days'"),
        ({"stream": ""}, "stream must be a non-empty str"),
    ],
)
def test_settings_are_checked(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        FailureMemory(**wrong)


def test_bad_reports_are_refused_and_change_nothing() -> None:
    failures = FailureMemory().failed("hall", "a")
    before = failures.fingerprint()
    with pytest.raises(ValueRejected, match="not a finite number"):
        failures.failed(float("nan"), "a")
    with pytest.raises(ValueRejected, match="cannot be an action"):
        failures.succeeded("hall", ["a"])
    with pytest.raises(ValueRejected, match="why must be a str, got 7"):
        failures.failed("hall", "b", why=7)  # type: ignore[arg-type]  # wrong on purpose
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(BadArgument, match="steps must be an int >= 1"):
            failures.tick(wrong)  # type: ignore[arg-type]  # wrong on purpose
    assert failures.fingerprint() == before


def test_memory_is_bounded() -> None:
    failures = FailureMemory(window=1_000, max_kept=50)
    for n in range(300):
        failures.failed(n, "a")
    assert len(failures.given()["failed"]) == 50
    assert [n for n in range(300) if failures.blocked(n)] == list(range(250, 300))
    assert len(list(failures.journal.lines())) == 1, "without a place, nothing is kept of the past"
    for n in range(3_000):
        failures.succeeded(n, "a")
    assert failures.given()["failed"] == []


def test_nothing_is_recorded_while_nothing_is_remembered(tmp_path: Path) -> None:
    with FailureMemory(window=2, path=tmp_path / "f.jsonl") as failures:
        failures.tick(5).succeeded("hall", "a").new_episode()
        assert len(failures.journal) == 0
        failures.failed("hall", "a").tick().new_episode().tick().tick()
        assert len(failures.journal) == 4


@pytest.mark.parametrize("name", ["f.jsonl", "f.db"])
def test_everything_is_restored(tmp_path: Path, name: str) -> None:
    with FailureMemory(5, "steps", 2, 1, tmp_path / name) as failures:
        failures.failed("hall", ("go", 1), "locked").failed("attic", "b").tick(2)
        fingerprint, given_ = failures.fingerprint(), failures.given()
    with FailureMemory(path=tmp_path / name) as failures:
        assert failures.settings.window == 5
        assert (failures.fingerprint(), failures.given()) == (fingerprint, given_)
        assert failures.verify(head=failures.head)
        assert names(failures.tick(2), "hall") == []
        assert names(failures, "attic") == ["b"]
        count = len(failures.journal)
    with FailureMemory(1, path=tmp_path / name, unit="episodes") as failures:
        assert (failures.settings.window, failures.settings.unit) == (1, "episodes")
        assert len(failures.journal) == count + 1
        assert names(failures, "attic") == []
        assert failures.verify()
        assert [names(failures.rebuild(n), "attic") for n in range(count + 2)] == [[], [], [], ["b"], ["b"], ["b"], []]
        assert repr(failures) == f"<FailureMemory {tmp_path / name}: 0 failures>"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("failed", {"state": "hall", "call": "a", "why": None}),
        ("failed", {"state": "hall", "call": ("a", {}), "why": 1}),
        ("passed", {"unit": "steps", "count": "1"}),
        ("failures", {"window": 0, "unit": "steps", "max_blocked": 1, "min_open": 1, "max_kept": 1}),
        ("other", {}),
    ],
)
def test_an_entry_that_is_no_event_is_refused(kind: str, data: Any) -> None:
    journal = open_journal()
    failures = FailureMemory(journal=journal).failed("hall", "a")
    journal.append(kind, data, stream="failures")
    with pytest.raises(UnknownFormat, match="entry 2 cannot be read"):
        failures.check("hall", "a")
    assert names(failures.rebuild(2), "hall") == ["a"]


def test_copies_are_independent() -> None:
    for failures in (FailureMemory(window=5), FailureMemory(window=5, journal=open_journal())):
        failures.failed("hall", "a")
        for twin in (copy.deepcopy(failures), pickle.loads(pickle.dumps(failures))):
            assert twin.fingerprint() == failures.fingerprint()
            twin.succeeded("hall", "a")
            assert (names(twin, "hall"), names(failures, "hall")) == ([], ["a"])
            assert twin.verify()
            assert failures.verify()


def test_threads_lose_nothing() -> None:
    failures = FailureMemory(window=10_000, journal=open_journal())

    def work(number: int) -> None:
        for n in range(30):
            failures.failed((number, n), "a")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failures.given()["failed"]) == 120
    assert failures.verify()


class Naive:
    """The definition: a list of all failures and a clock."""

    def __init__(self, window: int, unit: str, max_blocked: int, min_open: int) -> None:
        self.window, self.unit, self.max_blocked, self.min_open = window, unit, max_blocked, min_open
        self.now, self.failures = 0, list[tuple[int, bytes, bytes]]()

    def tell(self, what: str, state: Any, call: Any) -> None:
        key = values.encode(state), values.encode(call)
        self.now += (what == "episode") if self.unit == "episodes" else (what != "episode")
        if what in ("failed", "succeeded"):
            self.failures = [failure for failure in self.failures if failure[1:] != key]
        if what == "failed":
            self.failures.append((self.now, *key))

    def blocked(self, state: Any, options: list[Any]) -> list[Any]:
        live = [f for f in self.failures if f[1] == values.encode(state) and self.now - f[0] < self.window]
        newest = [values.decode(call) for _, _, call in reversed(live)][: self.max_blocked]
        while sum(option not in newest for option in set(options)) < self.min_open and any(
            n in options for n in newest
        ):
            newest.remove([n for n in newest if n in options][-1])
        return newest


@given(
    st.integers(1, 5),
    st.sampled_from(["steps", "episodes"]),
    st.integers(1, 3),
    st.integers(0, 3),
    st.lists(
        st.tuples(
            st.sampled_from(["failed", "failed", "succeeded", "tick", "episode"]),
            st.sampled_from("xy"),
            st.sampled_from("abc"),
        ),
        max_size=30,
    ),
    st.lists(st.sampled_from("abcd"), max_size=4),
)
def test_it_agrees_with_the_definition(
    window: int, unit: str, max_blocked: int, min_open: int, told: list[Any], options: list[str]
) -> None:
    naive = Naive(window, unit, max_blocked, min_open)
    journal = open_journal()
    memories = [FailureMemory(window, unit, max_blocked, min_open, journal=j) for j in (journal, None)]
    for what, state, call in told:
        naive.tell(what, state, call)
        for failures in memories:
            match what:
                case "failed":
                    failures.failed(state, call)
                case "succeeded":
                    failures.succeeded(state, call)
                case "tick":
                    failures.tick()
                case _:
                    failures.new_episode()
        for failures in memories:
            for where in "xy":
                assert names(failures, where, options=options) == naive.blocked(where, options)
    reopened = FailureMemory(journal=journal)
    if len(journal):
        assert reopened.fingerprint() == memories[0].fingerprint()
    assert memories[0].verify()


def test_the_call_that_is_given_back_is_the_call_that_failed() -> None:
    for action in ["go", ("go", 1, (2, 3)), {"name": "go", "to": [1, {"x": None}]}, 7]:
        assert FailureMemory().failed("hall", action).blocked("hall") == (call_of(action),)


def test_its_length_is_what_it_remembers_and_an_empty_one_is_still_true() -> None:
    memory = FailureMemory()
    assert (len(memory), bool(memory)) == (0, True)
    memory.failed("hall", "open")
    assert len(memory) == 1
    memory.succeeded("hall", "open")
    assert len(memory) == 0
