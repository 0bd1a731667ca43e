"""Running done checks, and what an agenda shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surefoot.knowledge.agenda_views import Step, Update, in_order, run_checks


def step(name: str, check: Any, requires: tuple[str, ...] = (), done: bool = False) -> Step:
    return Step(name, requires, done, check)


def test_goals_come_after_what_they_require() -> None:
    order = in_order({"c": ["b"], "b": ["a"], "a": [], "d": ["a", "c"]})
    assert order.index("a") < order.index("b") < order.index("c") < order.index("d")
    with pytest.raises(ValueError, match="cycle"):
        in_order({"a": ["b"], "b": ["a"]})


def test_done_counts_only_when_what_is_required_is_done() -> None:
    steps = [step("a", lambda s: s > 0), step("b", lambda s: s > 1, ("a",)), step("c", lambda s: True, ("b",))]
    assert run_checks(steps, 0, sticky=True) == ({"a": False, "b": False, "c": False}, {})
    assert run_checks(steps, 1, sticky=True) == ({"a": True, "b": False, "c": False}, {})
    assert run_checks(steps, 2, sticky=True) == ({"a": True, "b": True, "c": True}, {})


def test_what_is_done_stays_done_unasked_or_is_asked_again() -> None:
    asked = []

    def check(state: Any) -> bool:
        asked.append(state)
        return False

    steps = [step("a", check, done=True), step("b", lambda s: True, ("a",), True)]
    assert run_checks(steps, 0, sticky=True)[0] == {"a": True, "b": True}
    assert asked == []
    assert run_checks(steps, 0, sticky=False)[0] == {"a": False, "b": False}
    assert asked == [0]


def test_problems_are_told_and_what_is_behind_them_is_not_asked() -> None:
    steps = [
        step("a", lambda s: s["a"]),
        step("b", lambda s: 1 / 0, ("a",)),
        step("c", lambda s: None),
        step("d", lambda s: np.bool_(True)),
    ]
    now, problems = run_checks(steps, {}, sticky=True)
    assert problems == {"a": "KeyError: 'a'", "c": "answered None, which is not True or False"}
    assert now == {"a": False, "b": False, "c": False, "d": True}


def test_an_update_is_a_mapping() -> None:
    update = Update({"a": (False, True), "b": (True, False)}, {}, ("hours",))
    assert update == {"a": (False, True), "b": (True, False)}
    assert (update.done, update.ok, len(update), list(update)) == (("a",), True, 2, ["a", "b"])
    assert not Update(problems={"a": "KeyError"})
    assert not Update(problems={"a": "KeyError"}).ok
