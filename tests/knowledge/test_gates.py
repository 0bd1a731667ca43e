"""Gates over whole calls: patterns, answers, and how several gates answer together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadArgument, ValueRejected
from surefoot.knowledge.gates import (
    WORDS,
    Blocked,
    DryRun,
    GateDecision,
    Pattern,
    Ready,
    answer_of,
    call_key,
    decide,
    patterns_of,
    whole_call,
)
from surefoot.protocols import Call, Prediction


def gate(answer: Any, name: str = "g", blocks: Any = "*", trigger: Any = None, override: Any = None) -> Ready:
    """Return a gate that answers this, or what this function answers."""
    check = answer if callable(answer) else lambda state, call: answer
    patterns, functions = patterns_of(blocks, "blocks", lambda f: "code")
    return Ready(name, check, trigger, patterns, functions, override)


def matching(pattern: Any, *actions: Any) -> list[Any]:
    patterns, functions = patterns_of(pattern, "blocks", lambda f: "code")
    ready = Ready("g", lambda state, call: False, None, patterns, functions)
    return [action for action in actions if ready.stands_before(whole_call(action))]


# ── which calls ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("pattern", "actions", "matched"),
    [
        ("go", ["go", ("go", 1), {"name": "go", "x": 1}, "gone"], ["go", ("go", 1), {"name": "go", "x": 1}]),
        ("go*", ["go", "gone", "ago"], ["go", "gone"]),
        ("[gn]o", ["go", "no", "[gn]o", "so"], ["go", "no", "[gn]o"]),
        ("GO", ["go"], []),
        (["buy", "sell_?"], ["buy", "sell_a", "sell_ab"], ["buy", "sell_a"]),
        ([("go", 2)], [("go", 2), ("go", 2.0), ("go", True), ("go", "2"), ("go", 3)], [("go", 2)]),
        ([1], [1, True, 1.0, "1"], [1]),
        ([{"name": "go", "x": [1]}], [{"name": "go", "x": [1]}, {"name": "go", "x": (1,)}], [{"name": "go", "x": [1]}]),
        ({"name": "go", "x": 1}, [{"name": "go", "x": 1}, "go"], [{"name": "go", "x": 1}]),
        (Call("go", {"x": 1}), [{"name": "go", "x": 1}, "go"], [{"name": "go", "x": 1}]),
        (lambda call: call.args.get("0") == 2, [("go", 2), ("go", 3), "wait"], [("go", 2)]),
        (["wait", lambda call: call.args.get("0") == 2], [("go", 2), ("go", 3), "wait"], [("go", 2), "wait"]),
        ((), ["go"], []),
    ],
)
def test_patterns_mean_whole_calls(pattern: Any, actions: list[Any], matched: list[Any]) -> None:
    assert matching(pattern, *actions) == matched


def test_what_is_no_pattern_is_refused() -> None:
    with pytest.raises(
        ValueRejected, match="blocks must be a name, a glob, a function or a collection of those, got 7"
    ):
        patterns_of(7, "blocks")
    with pytest.raises(BadArgument, match="blocks holds an empty name"):
        patterns_of(["go", ""], "blocks")
    with pytest.raises(BadArgument, match="calls takes names, globs and whole calls, not the function"):
        patterns_of(len, "calls")
    with pytest.raises(ValueRejected, match="set has no order"):
        patterns_of([{1, 2}], "blocks")
    with pytest.raises(ValueRejected, match="the name of a call must be a str, got 1"):
        whole_call(Call(1))  # type: ignore[arg-type]  # wrong on purpose


def test_patterns_read_as_they_were_declared() -> None:
    patterns, _ = patterns_of(["go*", ("go", 2), len], "blocks", lambda f: "0123456789abcdef")
    assert [str(pattern) for pattern in patterns] == ["go*", "go(0=2)", "<a function, 0123456789ab>"]


def test_calls_are_copied_and_keyed_exactly() -> None:
    args = {"items": ["a"]}
    call = whole_call(Call("buy", args))
    args["items"].append("b")
    assert call.args == {"items": ["a"]}
    assert len({call_key(Call("go", {"n": n})) for n in (1, True, 1.0, "1")}) == 4


# ── what a gate answers ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (True, ("approve", "", None)),
        (False, ("reject", "", None)),
        (np.bool_(True), ("approve", "", None)),
        (np.bool_(False), ("reject", "", None)),
        ("not today", ("reject", "not today", None)),
        ("escalate", ("escalate", "", None)),
        ("approve", ("approve", "", None)),
        (("terminate", "fire"), ("terminate", "fire", None)),
        (Call("go", {"n": 1}), ("modify", "", Call("go", {"n": 1}))),
        (("modify", ("go", 1)), ("modify", "", Call("go", {"0": 1}))),
        (GateDecision("escalate", ("a", "b"), ("x", "y")), ("escalate", "a; b", None)),
    ],
)
def test_a_check_answers_in_many_ways(answer: Any, said: Any) -> None:
    assert answer_of(answer) == said


@pytest.mark.parametrize("answer", [None, 1, 0, "", "  ", "modify", ("reject", 1), ("no", "x"), (), [], 1.0])
def test_any_other_answer_lets_nothing_pass(answer: Any) -> None:
    with pytest.raises(ValueRejected, match="answered .*; a check answers True, False, a reason"):
        answer_of(answer)
    decision = decide([gate(answer)], "hall", Call("go"))
    assert decision.word == "escalate"
    assert "gate 'g': it could not be asked: answered" in decision.reason


def test_a_check_that_raises_lets_nothing_pass_and_is_named() -> None:
    decision = decide([gate(lambda state, call: call.args["amount"] < 3, "cap")], "hall", Call("buy"))
    assert not decision
    assert (decision.word, decision.gates) == ("escalate", ("cap",))
    assert decision.reasons == ("gate 'cap': it could not be asked: KeyError: 'amount'",)


def test_a_pattern_or_a_trigger_that_raises_lets_nothing_pass() -> None:
    assert decide([gate(True, blocks=lambda call: call.args["x"])], 1, Call("go")).word == "escalate"
    assert decide([gate(True, blocks=lambda call: None)], 1, Call("go")).word == "escalate"
    assert decide([gate(True, trigger=lambda state, call: state["x"])], {}, Call("go")).word == "escalate"
    assert decide([gate(True, trigger=lambda state, call: None)], {}, Call("go")).word == "escalate"


def test_a_gate_is_asked_only_where_its_trigger_is_true() -> None:
    night = gate(False, trigger=lambda state, call: state == "night")
    assert decide([night], "night", Call("go")).word == "reject"
    assert decide([night], "day", Call("go")).word == "approve"


def test_each_check_has_a_call_of_its_own() -> None:
    seen = []

    def spoil(state: Any, call: Any) -> bool:
        call.args["items"].append("x")
        seen.append(call.args["items"])
        return True

    def trigger(state: Any, call: Any) -> bool:
        call.args["items"].append("t")
        return True

    asked = Call("buy", {"items": ["a"]})
    decide([gate(spoil, "one"), gate(spoil, "two", trigger=trigger)], None, asked)
    assert seen == [["a", "x"], ["a", "x"]]
    assert asked.args == {"items": ["a"]}


# ── several gates ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("stricter", range(1, len(WORDS)))
def test_the_strictest_word_is_heard(stricter: int) -> None:
    answers: dict[str, Any] = {"approve": True, "modify": Call("go", {"n": 1}), "reject": False}
    gates = [gate(answers.get(word, word), word) for word in WORDS[: stricter + 1]]
    decision = decide(gates, None, Call("go", {"n": 2}))
    assert decision.word == (WORDS[stricter] if stricter != 1 else "modify")
    assert decision.gates == tuple(reversed(WORDS[1 : stricter + 1]))
    assert len(decision.reasons) == len(decision.gates)
    assert not decision


def test_the_reasons_say_which_gate() -> None:
    gates = [gate(False, "a"), gate("closed", "b"), gate("terminate", "c"), gate(True, "d")]
    decision = decide(gates, None, Call("go"))
    assert decision.reasons == ("gate 'c': says terminate", "gate 'a': says no", "gate 'b': closed")
    assert decision.reason == "gate 'c': says terminate; gate 'a': says no; gate 'b': closed"


def test_no_gate_is_an_approval() -> None:
    assert decide([], None, Call("go")) == GateDecision("approve")
    assert decide([gate(False, blocks="buy")], None, Call("go")) == GateDecision("approve")


def capped(most: int) -> Any:
    return lambda state, call: Call(call.name, {"n": min(most, call.args["n"])})


def test_a_modified_call_passes_all_gates_as_modified() -> None:
    assert decide([gate(capped(3))], None, Call("buy", {"n": 2})).word == "approve"
    decision = decide([gate(capped(3))], None, Call("buy", {"n": 9}))
    assert (decision.word, decision.call, bool(decision)) == ("modify", Call("buy", {"n": 3}), False)
    decision = decide([gate(capped(3), "a"), gate(capped(3), "b")], None, Call("buy", {"n": 9}))
    assert (decision.word, decision.gates) == ("modify", ("a", "b"))
    strict = gate(lambda state, call: call.args["n"] != 3, "odd")
    decision = decide([gate(capped(3)), strict], None, Call("buy", {"n": 9}))
    assert (decision.word, decision.gates) == ("reject", ("odd",))
    assert decision.reasons == ("the call it would be modified to does not pass: gate 'odd': says no",)


def test_gates_that_want_different_calls_need_a_person() -> None:
    decision = decide([gate(capped(3), "a"), gate(capped(2), "b")], None, Call("buy", {"n": 9}))
    assert (decision.word, decision.gates) == ("escalate", ("a", "b"))
    same = [gate(lambda s, c: Call("buy", {"n": 1})), gate(lambda s, c: Call("buy", {"n": True}))]
    assert decide(same, None, Call("buy", {"n": 9})).word == "escalate"


def test_a_call_that_is_modified_without_end_needs_a_person() -> None:
    decision = decide([gate(lambda s, c: Call("buy", {"n": c.args["n"] + 1}))], None, Call("buy", {"n": 1}))
    assert decision.word == "escalate"


def test_a_gate_before_a_goal_is_asked_without_a_call() -> None:
    assert decide([gate(lambda state, call: (state, call) == ("hall", None))], "hall", None)
    decision = decide([gate(Call("go"))], "hall", None)
    assert decision.word == "escalate"
    assert "this is about a goal" in decision.reason


def test_an_override_lets_pass_and_is_told() -> None:
    words = ("Ann", "a drill", ())
    decision = decide([gate(False, override=words), gate(True)], None, Call("go"))
    assert decision
    assert decision.overridden == (("g", "Ann", "a drill"),)
    assert decide([gate(True, override=words)], None, Call("go")).overridden == ()
    only = ("Ann", "a drill", patterns_of("buy", "calls")[0])
    assert not decide([gate(False, override=only)], None, Call("go"))
    assert decide([gate(False, override=only)], None, Call("buy"))
    assert not decide([gate(False, override=only)], None, None)
    assert decide([gate(False, override=words)], None, None)


# ── decisions ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_decision_is_checked() -> None:
    with pytest.raises(BadArgument, match="word must be one of"):
        GateDecision("allow")
    for word, call in [("modify", None), ("approve", Call("go"))]:
        with pytest.raises(BadArgument, match="'modify' comes with the call"):
            GateDecision(word, call=call)


@pytest.mark.parametrize(
    ("word", "verdict"),
    [("reject", "refuse"), ("terminate", "refuse"), ("escalate", "unknown"), ("modify", "unknown")],
)
def test_a_policy_is_shown_what_it_may_not_trade(word: str, verdict: str) -> None:
    call = Call("go") if word == "modify" else None
    given = Prediction("accept", risk=0.1, support=9, effects={"x": 1}, action="go", next_state="hall")
    shown = GateDecision(word, ("closed",), ("hours",), call).over(given)
    assert (shown.verdict, shown.hard, shown.reason, shown.risk) == (verdict, True, "closed", 0.1)
    assert (shown.effects, shown.next_state, shown.action) == (None, None, "go")
    assert GateDecision("approve").over(given) is given


def test_a_dry_run_counts() -> None:
    no = GateDecision("reject", ("gate 'a': says no", "gate 'b': says no"), ("a", "b"))
    run = DryRun(3, (Blocked(0, Call("go"), no), Blocked(2, Call("buy"), GateDecision("escalate", ("x",), ("b",)))))
    assert not run
    assert run.by_gate() == {"a": 1, "b": 2}
    assert str(run).splitlines() == [
        "2 of 3 recorded successes would have been blocked",
        "  0: go: gate 'a': says no; gate 'b': says no",
        "  2: buy: x",
    ]
    assert DryRun(3)
    assert Pattern("name", "go").meets("go")
