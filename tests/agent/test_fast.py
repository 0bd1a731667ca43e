from __future__ import annotations

from typing import Any

import pytest

from surefoot import WorldMap
from surefoot.agent.decision import Option
from surefoot.agent.experience import ExperienceFold, Running, Skill
from surefoot.agent.fast import fast
from surefoot.agent.situation import Situation, situation_of
from surefoot.agent.ways import Ways


def here(*options: Option, fold: ExperienceFold | None = None, goals: tuple[str, ...] = ("",)) -> Situation:
    known = WorldMap()
    known.arrive("a", "x", "b")
    running = Running(0, "main", b'"a"')
    return situation_of(("a", b'"a"'), goals, options, known, fold or ExperienceFold(), running, Ways())


def reached(goal: str, place: bytes) -> ExperienceFold:
    fold = ExperienceFold()
    fold.targets["main"] = {goal: {place: None}}
    return fold


@pytest.mark.parametrize(
    ("option", "rule"),
    [
        (Option("x", choice="take"), "way"),
        (Option("x", choice="ask"), None),
        (Option("x", choice="avoid"), None),
        (Option("x", choice="take", failed="lately"), None),
        (Option("x", choice="take", gate=("reject", "no")), None),
        (Option("y", choice="take"), None),
    ],
)
def test_a_known_way_is_taken_where_the_policy_takes_it_and_no_check_bars_it(option: Option, rule: Any) -> None:
    answer = fast(here(option, fold=reached("", b'"b"')))
    assert (answer and answer.rule) == rule


def test_it_says_nothing_where_it_knows_nothing() -> None:
    assert fast(here(Option("x", choice="take"))) is None
    assert fast(here()) is None


def test_what_is_expected_to_reach_a_goal_is_taken() -> None:
    answer = fast(here(Option("z", choice="take"), Option("y", choice="take", advances=("wood",)), goals=("wood",)))
    assert answer is not None
    assert (answer.rule, answer.action, answer.goal) == ("advance", "y", "wood")


@pytest.mark.parametrize(("skill", "rule"), [(Skill(2, 2), "skill"), (Skill(1, 2), None), (Skill(3, 9), None)])
def test_what_reached_it_elsewhere_more_often_than_not_is_taken(skill: Skill, rule: Any) -> None:
    fold = ExperienceFold()
    fold.skills["wood", b'"y"'] = skill
    answer = fast(here(Option("y", choice="take"), fold=fold, goals=("wood",)))
    assert (answer and answer.rule) == rule


def test_a_skill_that_was_tried_here_is_no_progress() -> None:
    fold = ExperienceFold()
    fold.skills["wood", b'"y"'] = Skill(5, 5)
    fold.runs["main", b'"a"', b'"y"'] = [[b'"a"', 1]]
    assert fast(here(Option("y", choice="take"), fold=fold, goals=("wood",))) is None
