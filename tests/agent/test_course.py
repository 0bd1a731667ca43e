from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Agent, Knowledge, Outcome, moved
from surefoot.agent.course import Stride, Walked
from surefoot.agent.replay import _Copy, _Differs
from surefoot.agent.slow import Search
from surefoot.environments.crafting import MEADOW, Crafting


class Line:
    """Cells in a row, without an end of the episode."""

    def __init__(self, low: int = -3, high: int = 5) -> None:
        self.low, self.high, self.at = low, high, 0
        self.shut: set[tuple[int, int]] = set()

    def reset(self, seed: int | None = None) -> int:
        self.at = 0
        return 0

    def actions(self, state: int) -> list[str]:
        return ["left", "right"]

    def step(self, action: str) -> Outcome[int]:
        to = self.at + (1 if action == "right" else -1)
        if not self.low <= to <= self.high or (self.at, to) in self.shut:
            return Outcome(self.at, accepted=False, reason="a wall")
        self.at = to
        return moved(to)


def has(thing: str, state: Any) -> bool:
    return thing in dict(state[1])


def errands() -> Knowledge:
    return Knowledge().goal("far", lambda s: s == 4).goal("near", lambda s: s == 1).goal("back", lambda s: s == -2)


def test_the_second_episode_reaches_all_goals_in_the_fewest_steps() -> None:
    agent = Agent(Line(), knowledge=errands())
    steps = [agent.run(steps=200).steps for _ in range(4)]
    assert steps[0] > 8
    assert steps[1:] == [8, 8, 8]  # two left, six right; with the nearest first it would be ten
    decisions = [decision for decision in agent.decisions() if decision.episode > 0]
    assert [d.path for d in decisions if d.step == 0] == ["slow", "fast", "fast"]
    assert {d.rule for d in decisions} == {"course"}
    assert agent.replay().ok


def test_without_thinking_a_success_is_repeated() -> None:
    agent = Agent(Line(), knowledge=errands(), slow=Search(whole=0))
    steps = [agent.run(steps=200).steps for _ in range(4)]
    assert all(after <= before for before, after in zip(steps, steps[1:], strict=False))
    assert {d.path for d in agent.decisions() if d.episode > 0} == {"fast"}
    assert agent.replay().ok


def test_over_the_exact_state_a_crafted_thing_is_crafted_again_and_never_in_more_steps() -> None:
    land = replace(MEADOW, room=2, tools={}, goal="axe", recipes={"axe": MEADOW.recipes["axe"]})
    knowledge = Knowledge()
    for thing in ("branch", "stone", "axe"):
        knowledge.goal(thing, partial(has, thing))
    agent = Agent(Crafting(land), knowledge=knowledge)
    episodes = [agent.run(steps=4_000) for _ in range(3)]
    assert all(episodes)
    steps = [episode.steps for episode in episodes]
    assert steps[1:] == [7, 7]  # to the wood, a branch, over the hill or back; a stone, to the camp, an axe
    assert steps[0] > 7
    assert agent.replay().ok


def test_a_course_that_the_world_contradicts_is_forgotten() -> None:
    world = Line()
    agent = Agent(world, knowledge=errands())
    for _ in range(2):
        agent.run(steps=200)
    world.shut.add((1, 2))
    assert not agent.run(steps=60)
    fold = agent.knowledge.experience.fold
    agent.run(steps=60)
    assert not fold.courses.best
    world.shut.clear()
    assert any(agent.run(steps=200) for _ in range(4))
    assert agent.replay().ok


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: {**answer, "course": answer["course"][1:]},
        lambda answer: {**answer, "course": [[0, "right", 9, []], *answer["course"][1:]]},
        lambda answer: {**answer, "course": answer["course"] * 3},
    ],
)
def test_a_course_that_cannot_be_is_found_out(change: Callable[[Any], Any]) -> None:
    knowledge = errands().goal("back", lambda s: s == -2, requires=["far"], replace=True)
    agent = Agent(Line(), knowledge=knowledge)
    agent.run(steps=200)
    knowledge.goal("back", lambda s: s == -2, replace=True)
    assert agent.run(steps=200).steps == 8
    (thought,) = [decision for decision in agent.decisions() if decision.rule == "course" and decision.path == "slow"]
    copy = _Copy(agent.knowledge)
    seen = []

    def look(decision: Any, here: Any) -> Any:
        seen.append(again(decision, here))
        with pytest.raises(_Differs):
            again(replace(decision, answer=change(decision.answer)), here)
        return seen[0]

    again, copy._course_again = copy._course_again, look  # type: ignore[method-assign]  # to ask where it is asked
    for seq, line in enumerate(agent.knowledge.journal.lines()):
        copy.take(seq, line)
    assert [answer.action for answer in seen] == [thought.action]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=20))
def test_what_was_walked_in_circles_is_left_out(moves: list[tuple[int, bool]]) -> None:
    walked, at, reached = Walked(b"0", ()), 0, frozenset[str]()
    for number, (to, reaches) in enumerate(moves):
        goals = (str(number),) if reaches else ()
        walked.add(Stride(b"%d" % at, b"go", b"%d" % to, goals))
        at, reached = to, reached | set(goals)
    here, seen, done = b"0", [(b"0", frozenset[str]())], frozenset[str]()
    for stride in walked.strides:
        assert stride.state == here
        here, done = stride.to, done | frozenset(stride.goals)
        seen.append((here, done))
    assert (here, done) == (b"%d" % at, reached)
    assert len(set(seen)) == len(seen)
