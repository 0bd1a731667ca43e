"""Learned rules as text that people can read."""

from __future__ import annotations

import random
from typing import Any

import pytest

from surefoot.errors import BadArgument
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.rules import MOST, to_markdown, to_text
from surefoot.learners.vocabulary import Vocabulary


def shop() -> ConservativeActionModel:
    rng = random.Random(0)
    words = Vocabulary(
        {
            "price": lambda state, args: state["price"],
            "gold": lambda state, args: state["gold"],
            "open": lambda state, args: state["open"],
        }
    )
    model = ConservativeActionModel(words)
    for _ in range(300):
        state: dict[str, Any] = {"price": rng.uniform(1, 9), "gold": rng.uniform(1, 9), "open": rng.random() < 0.8}
        state["bag"] = rng.randint(0, 3)
        accepted = state["price"] <= state["gold"] and state["open"]
        after = {**state, "bag": 1} if accepted else state
        model.observe(state, "buy", {}, accepted, next_state=after)
    return model


def test_the_relation_that_holds_is_said_and_not_its_opposite() -> None:
    model = shop()
    summary = model.summary("buy")
    assert summary is not None
    assert summary["relations"] == ["price is at most gold"]
    assert "  in every accepted case: price is at most gold\n" in to_text(model)


def test_text_and_markdown_say_the_same() -> None:
    model = shop()
    lines = to_text(model).splitlines()
    assert lines[0].startswith("buy: accepted ")
    assert lines[1].startswith("  accepted with: open True; ") or "gold 1." in lines[1]
    assert any(line.startswith("  refused because: open is False") for line in lines)
    assert any("price is more than gold" in line for line in lines)
    assert lines[-1].startswith("  changes: set bag to 1 (")
    marked = to_markdown(model).splitlines()
    assert marked[0] == "## `buy`"
    assert len(marked) == len(lines) + 3


def test_long_lists_are_cut() -> None:
    model = ConservativeActionModel(Vocabulary({"name": lambda state, args: args["name"]}))
    for n in range(MOST + 3):
        model.observe({"n": 0}, "greet", {"name": f"a{n}"}, True, next_state={"n": n * n})
        model.observe({"n": 0}, "greet", {"name": f"b{n}"}, False)
    text = to_text(model)
    assert "or 3 more" in text
    assert "of 3 other reasons (3 refusals)" in text
    assert "3 more cases" in text


def test_marks_of_markdown_are_escaped() -> None:
    model = ConservativeActionModel(Vocabulary({"x": lambda state, args: args["x"]}))
    model.observe({}, "do", {"x": "*a*"}, True)
    model.observe({}, "do", {"x": "b"}, True)
    assert r"x '\*a\*' or 'b'" in to_markdown(model)


def test_what_no_condition_explains_is_counted() -> None:
    model = ConservativeActionModel(
        Vocabulary({"x": lambda state, args: args["x"], "y": lambda state, args: args["y"]})
    )
    for _ in range(9):
        model.observe({}, "do", {"x": 1, "y": 1}, True)
    model.observe({}, "do", {"x": 1, "y": 1}, False)
    assert "refused though the same was accepted too: 1 refusal" in to_text(model)


def test_only_actions_that_were_observed_can_be_written() -> None:
    model = shop()
    assert to_text(model, []) == ""
    assert to_text(model, ["buy"]) == to_text(model)
    with pytest.raises(BadArgument, match=r"'sell' was never observed; there are \['buy'\]"):
        to_text(model, ["sell"])


def test_only_the_smallest_reasons_are_told_each_with_all_refusals_in_which_it_held() -> None:
    model = ConservativeActionModel(
        Vocabulary({"open": lambda state, args: state["open"], "mine": lambda state, args: state["mine"]})
    )
    for open_, mine, times in ((True, True, 4), (False, True, 3), (True, False, 2), (False, False, 5)):
        for _ in range(times):
            model.observe({"open": open_, "mine": mine}, "go", {}, open_ and mine)
    summary = model.summary("go")
    assert summary is not None
    assert summary["signatures"] == [["mine is False", 7], ["open is False", 8]]
