from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Agent, Knowledge, Outcome, Vocabulary, moved
from surefoot.agent.course import as_data, course_of, from_data
from surefoot.agent.hoping import Thought, think_whole
from surefoot.agent.replay import _Copy, _Differs

Edges = dict[int, list[int]]
Says = dict[int, set[str]]


def naive(edges: Edges, says: Says, most: int) -> int | None:
    """Return the fewest steps to all goals, by trying all walks up to a length."""
    walks: list[tuple[tuple[int, ...], frozenset[str]]] = [((0,), frozenset())]
    for length in range(1, most):
        walks = [((*w, to), done | says.get(to, set())) for w, done in walks for to in edges.get(w[-1], [])]
        walks = list({(w[-1], done): (w, done) for w, done in walks}.values())
        if any(done >= {"a", "b"} for _, done in walks):
            return length
    return None


def thought_of(edges: Edges, says: Says, hopes: dict[int, list[int]]) -> Thought:
    """Return what is thought of numbered places: moves that are known, and one jump a place that is not."""

    def steps(key: bytes, state: int) -> Iterator[tuple[bytes, bytes, Any]]:
        yield from ((b"%d" % to, b"%d" % to, to) for to in edges.get(state, []))
        if state in hopes:
            yield b"jump", b"", None

    def possible(key: bytes, state: int, action: bytes, most: int) -> tuple[bool, list[tuple[bytes, Any]]]:
        return True, [(b"%d" % to, to) for to in hopes[state][:most]]

    def would(state: int, goals: tuple[str, ...]) -> list[str]:
        return [goal for goal in goals if goal in says.get(state, ())]

    return Thought(steps, possible, would, {"a": (), "b": ()})


places = st.integers(0, 4)
graphs = st.dictionaries(places, st.lists(places, max_size=3), max_size=5)
signs = st.dictionaries(places, st.sets(st.sampled_from("ab"), min_size=1), max_size=3)


@given(graphs, signs, st.integers(2, 8))
def test_without_hopes_a_course_is_a_shortest_one(edges: Edges, says: Says, most: int) -> None:
    found, _ = think_whole(thought_of(edges, says, {}), (b"0", 0), frozenset(), most=most, bound=most, expansions=1_000)
    assert (None if found is None else len(found.strides)) == naive(edges, says, most)
    if found:
        assert not found.hopes
        assert from_data(as_data(found.strides, 1)) == list(found.strides)
        assert len(course_of(found.strides, ())) == len(found.strides)


@given(graphs, signs, st.dictionaries(places, st.lists(places, min_size=1, max_size=2), max_size=2), st.data())
def test_whatever_comes_of_a_hope_the_goals_are_reached_within_the_bound(
    edges: Edges, says: Says, hopes: dict[int, list[int]], data: st.DataObject
) -> None:
    found, _ = think_whole(thought_of(edges, says, hopes), (b"0", 0), frozenset(), most=8, bound=7, expansions=1_000)
    fewest = naive(edges, says, 8)
    if found is None:
        assert fewest is None
        return
    assert len(found.strides) <= found.bound <= (7 if fewest is None else fewest)
    reached = frozenset[str]()
    for place, stride in enumerate(found.strides):
        if place in found.hopes:
            at = int(stride.state)
            ends = data.draw(st.sampled_from([at, *hopes[at]]))  # refused, or one of those thought of
            done = reached | (says.get(ends, set()) if ends != at else set())
            rest, _ = thought_of(edges, says, {}).run(
                (b"%d" % ends, ends), done, found.bound - place, 1_000, hopes=False
            )
            assert rest is not None or done >= {"a", "b"}
        reached |= frozenset(stride.goals)
    assert reached >= {"a", "b"}


class Track:
    """Cells from 0 to 9: a step goes one on; a leap goes three on, or, with a spring, from anywhere to the fifth."""

    def __init__(self, *, spring: bool) -> None:
        self.spring, self.at = spring, 0

    def reset(self, seed: int | None = None) -> int:
        self.at = 0
        return 0

    def actions(self, state: int) -> list[str]:
        return ["leap", "step"]

    def step(self, action: str) -> Outcome[int]:
        to = self.at + 1 if action == "step" else 5 if self.spring else self.at + 3
        if to > 9:
            return Outcome(self.at, accepted=False, reason="the end")
        self.at = to
        return moved(to)


def runner(*, spring: bool) -> Agent:
    """Return an agent that was led over the track once, with a leap from the second cell."""
    vocabulary = Vocabulary({"on track": lambda state, args: state < 9})
    knowledge = Knowledge(vocabulary=vocabulary).goal("half", lambda s: s >= 5).goal("end", lambda s: s == 9)
    script = iter(["step", "step", "leap", "step", "step", "step", "step"])
    world = Track(spring=spring)
    assert Agent(world, knowledge=knowledge, slow=lambda snapshot: next(script)).run(steps=7)
    return Agent(world, knowledge=knowledge)


@pytest.mark.parametrize(("spring", "steps"), [(True, [7, 5, 5]), (False, [3, 3, 3])])
def test_what_was_never_tried_is_tried_where_no_episode_gets_longer_for_it(spring: bool, steps: list[int]) -> None:
    agent = runner(spring=spring)
    assert [agent.run(steps=200).steps for _ in range(3)] == steps
    hoped, again = [d for d in agent.decisions(1) if d.rule == "course" and d.path == "slow"]
    assert (hoped.action, hoped.answer["bound"], hoped.answer["hopes"]) == ("leap", 7, [0, 2])
    assert hoped.why == "3 steps instead of 7, if 2 of them turn out well"
    assert again.why == ("4 steps instead of 5, thought out" if spring else "2 steps instead of 7, thought out")
    assert agent.replay().ok


def test_a_hope_that_nothing_allows_is_found_out() -> None:
    agent = runner(spring=False)
    agent.run(steps=200)
    copy, asked = _Copy(agent.knowledge), list[str]()
    again = copy._course_again

    def look(decision: Any, here: Any) -> Any:
        answer = decision.answer or {}
        changes: list[dict[str, Any]] = [{"hopes": []}, {"hopes": [0, 1]}, {"bound": 99}]
        for change in changes if answer.get("hopes") else []:
            with pytest.raises(_Differs):
                again(replace(decision, answer={**answer, **change}), here)
            asked.append(str(change))
        return again(decision, here)

    copy._course_again = look  # type: ignore[method-assign]  # to ask where it is asked
    for seq, line in enumerate(agent.knowledge.journal.lines()):
        copy.take(seq, line)
    assert len(asked) == 3
