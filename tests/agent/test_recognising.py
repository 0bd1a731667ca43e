"""A goal that is new is gone to at once where the map has heard of the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surefoot import Agent, Knowledge
from surefoot.agent.experience import TARGETS
from surefoot.agent.recognising import recognise
from surefoot.environments.files import Files
from surefoot.protocols import Outcome, moved


class Pages:
    """A site of ten chapters with ten sections each; a page shows where its links lead."""

    def reset(self, seed: int | None = None) -> str:
        self.at = "/"
        return self.at

    def actions(self, state: str) -> list[str]:
        return [to for to, _ in self.signs(state)]

    def signs(self, state: str) -> list[tuple[str, str]]:
        if state == "/":
            return [(f"chapter {n}", f"/{n}") for n in range(10)]
        below = [(f"section {n}", f"{state}/{n}") for n in range(10)] if state.count("/") == 1 else []
        return [*below, ("home", "/")]

    def step(self, action: str) -> Outcome[str]:
        self.at = dict(self.signs(self.at))[action]
        return moved(self.at)


def goal(knowledge: Knowledge, page: str) -> None:
    knowledge.goal(f"get to {page}", lambda state: state == page)


def test_a_page_that_a_sign_has_named_is_gone_to_by_the_shortest_way() -> None:
    knowledge = Knowledge()
    agent = Agent(Pages(), knowledge=knowledge)
    goal(knowledge, "/9/9")
    first = agent.run()
    assert first.steps == 20  # to each chapter and back, the last section without looking at any other
    for page in ("/3/4", "/7/0", "/5"):
        for done in knowledge.agenda.goals():
            knowledge.agenda.drop_goal(done.name)
        goal(knowledge, page)
        assert agent.run().steps == page.count("/")
    assert agent.replay()


def test_what_was_found_for_one_goal_is_known_for_the_next_in_another_process(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c.txt").touch()
    (tmp_path / "d").mkdir()
    path = tmp_path / "known.jsonl"
    with Knowledge(path) as knowledge:
        goal(knowledge, "nowhere")
        Agent(Files(tmp_path / "a"), knowledge=knowledge).run()
    with Knowledge(path) as knowledge:
        goal(knowledge, "nowhere")
        goal(knowledge, "b/c.txt")
        episode = Agent(Files(tmp_path / "a"), knowledge=knowledge).run(steps=2)
        assert "get to b/c.txt" in episode.goals_done
        assert episode.fast == 2
        assert Agent(Files(tmp_path / "a"), knowledge=knowledge).replay()


def test_a_check_that_cannot_answer_says_no_and_a_key_is_not_asked() -> None:
    knowledge = Knowledge().goal("deep", lambda state: len(state[3]) > 0)
    known = knowledge.map("main").see("ab", "on", to="abcd")
    looked: dict[tuple[str, str, str], int] = {}
    recognise(knowledge, known, "main", ["deep"], b'"ab"', looked)
    assert knowledge.experience.fold.targets == {"main": {"deep": {b'"abcd"': None}}}
    head = knowledge.head
    recognise(knowledge, known, "main", ["deep"], b'"ab"', looked)
    assert knowledge.head == head
    knowledge.goal("deep", lambda state: state == "ab" or len(state) > 3, replace=True)
    recognise(knowledge, known, "main", ["deep"], b'"abcd"', looked)
    assert list(knowledge.experience.fold.targets["main"]["deep"]) == [b'"abcd"', b'"ab"']
    own = Knowledge()
    goal(own, "/5")
    with_key: Any = Agent(Pages(), knowledge=own, key=lambda state: ("page", state))
    with_key.run(steps=1)
    assert own.experience.fold.targets == {}


def test_no_more_places_are_recorded_than_are_kept() -> None:
    knowledge = Knowledge().goal("any", lambda state: state > 0)
    known = knowledge.map("main")
    for n in range(1, TARGETS + 10):
        known.see(0, n, to=n)
    recognise(knowledge, known, "main", ["any"], b"0", {})
    assert len(knowledge.experience.fold.targets["main"]["any"]) == TARGETS
