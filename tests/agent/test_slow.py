from __future__ import annotations

from typing import Any

import pytest

from surefoot import SlowPath, WorldMap
from surefoot.agent.decision import Option
from surefoot.agent.experience import ExperienceFold, Running, Skill
from surefoot.agent.situation import Situation, situation_of
from surefoot.agent.slow import Proposal, Search, judge, snapshot
from surefoot.agent.ways import Ways
from surefoot.errors import BadArgument


def here(*options: Option, known: WorldMap | None = None, fold: ExperienceFold | None = None) -> Situation:
    running = Running(0, "main", b'"a"')
    place = "a", b'"a"'
    return situation_of(place, ("wood",), options, known or WorldMap(), fold or ExperienceFold(), running, Ways())


def test_the_order_of_a_search() -> None:
    known, fold = WorldMap().see("a", "new"), ExperienceFold()
    known.arrive("a", "x", "b")
    options = [Option("x"), Option("new"), Option("skilled"), Option("ahead", advances=("wood",))]
    fold.targets["main"] = {"wood": {b'"b"': None}}
    fold.skills["wood", b'"skilled"'] = Skill(1, 1)
    rules = []
    for _ in range(4):
        answer = Search().find(here(*options, known=known, fold=fold))
        rules.append((answer.rule, answer.action))
        options = [option for option in options if option.action != answer.action]
    assert rules == [("way", "x"), ("advance", "ahead"), ("skill", "skilled"), ("unchecked", "new")]


def test_what_the_map_was_not_told_of_is_unchecked_too() -> None:
    known = WorldMap().see("a", "gone")
    assert Search().find(here(Option("y"), known=known)).action == "y"
    known.refuse("a", "y")
    fold = ExperienceFold()
    fold.refused.add(("main", b'"a"', b'"y"'))
    assert Search().find(here(Option("y"), known=known, fold=fold)).rule == "nothing left"


def test_on_a_map_of_chance_what_was_taken_rarely_is_taken_again() -> None:
    known = WorldMap(stochastic=True)
    for _ in range(5):
        known.arrive("a", "x", "a")
    known.arrive("a", "y", "a")
    fold = ExperienceFold()
    fold.runs["main", b'"a"', b'"x"'] = fold.runs["main", b'"a"', b'"y"'] = [[b'"a"', 1]]
    answer = Search().find(here(Option("x"), Option("y"), known=known, fold=fold))
    assert (answer.rule, answer.action) == ("rare", "y")


def test_where_only_a_recent_failure_bars_the_way_it_waits() -> None:
    known, fold = WorldMap(), ExperienceFold()
    known.visit("b").arrive("a", "safe", "b")
    fold.runs["main", b'"a"', b'"safe"'] = [[b'"b"', 1]]
    options = Option("x", failed="lately"), Option("safe", "accept", choice="take")
    assert Search().find(here(*options, known=known, fold=fold)).rule == "wait"
    assert Search().find(here(options[0], known=known, fold=fold)).rule == "blocked"


@pytest.mark.parametrize(
    ("asked", "rule", "words"),
    [
        ({"action": "x", "why": "so"}, "asked", "so"),
        ({"action": None, "why": ""}, "unsure", "declined"),
        ({"action": "fly", "why": ""}, "unsure", "not on offer"),
        ({"action": "shut", "why": ""}, "blocked", "closed"),
        ({"action": "person", "why": ""}, "unsure", "ask Kim"),
        ({"action": "fire", "why": ""}, "terminated", "fire"),
        ({"action": None, "why": "", "error": "no answer"}, "unsure", "no answer"),
    ],
)
def test_an_answer_is_taken_as_it_is_or_not_at_all(asked: dict[str, Any], rule: str, words: str) -> None:
    options = (
        Option("x"),
        Option("shut", gate=("reject", "closed")),
        Option("person", gate=("escalate", "ask Kim")),
        Option("fire", gate=("terminate", "fire")),
    )
    answer = judge(here(*options), asked)
    assert answer.rule == rule
    assert words in answer.why
    assert (answer.action is None) == (rule != "asked")


def test_a_snapshot_is_plain_data() -> None:
    from surefoot import values

    known, fold = WorldMap(), ExperienceFold()
    known.arrive("a", "x", "b")
    fold.targets["main"] = {"wood": {b'"b"': None}}
    situation = here(Option("x"), Option("y", gate=("reject", "no")), known=known, fold=fold)
    situation.running.walk((b'"z"', b'"q"', b""))
    shown = snapshot(situation)
    assert values.copy(shown) == shown
    assert shown["way"] == "x"
    assert [row["leads_to"] for row in shown["options"]] == ["b", None]
    assert shown["trail"] == [{"state": "z", "action": "q", "to": None}]


@pytest.mark.parametrize("money", [-1, float("nan"), True, "much"])
def test_a_price_must_be_one(money: Any) -> None:
    with pytest.raises(BadArgument, match="money"):
        Proposal("x", money=money)


def test_a_function_is_a_slow_path() -> None:
    assert isinstance(lambda snapshot: None, SlowPath)
