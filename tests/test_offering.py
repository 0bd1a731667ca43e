from __future__ import annotations

import pytest

from surefoot.errors import ValueRejected
from surefoot.offering import offered


def test_a_call_is_offered_once_with_arguments_of_its_own() -> None:
    args = {"ids": ["a"]}
    calls = offered({"show": False, "list": True}, {"show": lambda state: [args, {"n": state}, args]}, 3)
    args["ids"].append("b")
    assert calls == [{"name": "show", "args": {"ids": ["a"]}}, {"name": "show", "args": {"n": 3}}, "list"]


def test_look_alikes_stay_apart_and_what_has_no_offer_needs_none() -> None:
    assert offered({"a": True, "b": False}, {"a": [{"n": 1}, {"n": True}, {"n": 1.0}]}, None) == [
        {"name": "a", "args": {"n": 1}},
        {"name": "a", "args": {"n": True}},
        {"name": "a", "args": {"n": 1.0}},
    ]
    assert offered({"a": True}, {"a": []}, None) == []


def test_an_argument_that_is_no_plain_value_is_refused() -> None:
    with pytest.raises(ValueRejected, match=r"\$\.n is nan"):
        offered({"a": False}, {"a": [{"n": float("nan")}]}, None)
