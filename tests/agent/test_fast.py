from __future__ import annotations

import random
from typing import Any

import pytest

from surefoot import Agent, Knowledge, WorldMap
from surefoot.agent.decision import Option
from surefoot.agent.experience import ExperienceFold, Running, Skill
from surefoot.agent.fast import fast
from surefoot.agent.situation import Situation, situation_of
from surefoot.agent.ways import Ways
from surefoot.protocols import Outcome, ended, moved


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


class Ice:
    """Two ways to the shore: to dash, which mostly ends in the water, and to walk, which takes its time."""

    def reset(self, seed: int | None = None) -> str:
        self._random = random.Random(seed)
        return "ice"

    def actions(self, state: str) -> list[str]:
        return ["dash", "walk"] if state == "ice" else []

    def step(self, action: str) -> Outcome[str]:
        if self._random.random() < 0.7:
            return ended("water") if action == "dash" else moved("ice")
        return ended("shore")


def test_a_way_that_may_be_lost_is_left_for_a_better_one() -> None:
    knowledge = Knowledge().goal("out", lambda state: state == "shore")
    known = knowledge.map("main")
    known.stochastic = True
    agent = Agent(Ice(), knowledge=knowledge)
    episodes = [agent.run() for _ in range(40)]
    assert not all(episodes[:20])
    assert all(episodes[-20:])
    assert {decision.rule for decision in agent.decisions()} >= {"hope", "way"}
    assert agent.replay()


def test_where_nobody_else_can_be_asked_a_way_that_may_be_lost_is_taken() -> None:
    agent = Agent(Ice(), knowledge=Knowledge().goal("out", lambda state: state == "shore"), budget=0)
    agent.knowledge.map().stochastic = True
    for place in ("water", "shore"):
        agent.knowledge.map().arrive("ice", "dash", place)
        agent.knowledge.actions.observe("ice", "dash", {}, True)
    episode = agent.run()
    assert (episode.steps, episode.slow) == (1, 0)
    assert agent.replay()
