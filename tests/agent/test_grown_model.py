from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from surefoot import Agent, Knowledge, Outcome, Vocabulary, moved, open_journal, refused
from surefoot.agent.grown_model import GrownModel
from surefoot.errors import BadArgument


class Locks:
    """Rooms in a row, each behind a door whose colour says which key opens it; states are mappings."""

    def __init__(self, colours: str = "rgrg") -> None:
        self.colours = colours
        self.at, self.key = 0, "r"

    def _state(self) -> dict[str, Any]:
        return {"room": self.at, "door": self.colours[self.at : self.at + 1] or "none", "key": self.key}

    def reset(self, seed: int | None = None) -> dict[str, Any]:
        self.at, self.key = 0, "r"
        return self._state()

    def actions(self, state: dict[str, Any]) -> list[Any]:
        return [] if state["room"] == len(self.colours) else ["open", "swap"]

    def step(self, action: str) -> Outcome[dict[str, Any]]:
        if action == "swap":
            self.key = "g" if self.key == "r" else "r"
        elif self.key == self.colours[self.at]:
            self.at += 1
        else:
            return refused(self._state(), "the wrong key")
        return moved(self._state(), effect={"key": self.key})


def through(knowledge: Knowledge, rooms: int) -> Knowledge:
    return knowledge.goal("out", lambda s: s["room"] == rooms, replace=True)


def test_an_agent_that_induces_its_conditions_carries_them_on_and_can_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "k.db"
    with through(Knowledge(path, induce=True), 4) as knowledge:
        agent = Agent(Locks(), knowledge=knowledge)
        steps = [agent.run(steps=60).steps for _ in range(3)]
        assert steps[1:] == [7, 7]  # four doors, three times the other key
        assert agent.replay().ok
        assert agent.replay().predicted > 14
    with through(Knowledge(path, induce=True), 12) as knowledge:  # more rooms, the same rule
        longer = Agent(Locks("rggrgrrgrgrr"), knowledge=knowledge)
        episode = longer.run(steps=200, map="longer")
        assert episode
        replayed = longer.replay()
        assert replayed.ok, replayed
        assert replayed.predicted == replayed.decisions
        assert knowledge.verify()
        exact = through(Knowledge(), 12)
        without = Agent(Locks("rggrgrrgrgrr"), knowledge=exact).run(steps=200)
        assert episode.refused < without.refused


def test_it_is_the_same_model_wherever_it_is_grown() -> None:
    journal = open_journal()
    model = GrownModel.of(journal)
    calls: list[tuple[dict[str, Any], str, dict[str, Any], bool]] = [
        ({"open": n % 3 == 0, "n": n % 5}, "enter", {}, n % 3 == 0) for n in range(60)
    ]
    for state, action, args, accepted in calls:
        model.observe(state, action, args, accepted)
    again = GrownModel.of(journal)
    for state, action, args, _ in calls:
        assert again.predict(state, action, args) == model.predict(state, action, args)
    assert again.reads == model.reads
    again.observe({"open": True, "n": 9}, "enter", {}, True)
    assert len(journal) == 61


def test_induced_conditions_go_without_others() -> None:
    with pytest.raises(BadArgument, match="without a vocabulary"):
        Knowledge(induce=True, vocabulary=Vocabulary({"a": lambda s, args: True}))
    knowledge = Knowledge(induce=True)
    assert not knowledge.exact
    assert knowledge.foresees
    with pytest.raises(BadArgument, match="model of its own"):
        Knowledge(model=knowledge.actions).model(None)


def test_a_model_of_ones_own_is_not_made_again_on_replay() -> None:
    knowledge = through(Knowledge(model=GrownModel.of(None)), 4)
    agent = Agent(Locks(), knowledge=knowledge)
    assert agent.run(steps=60)
    replayed = agent.replay()
    assert replayed.ok
    assert replayed.predicted == 0


def test_what_no_condition_explains_is_known_where_it_happened() -> None:
    model = GrownModel.of(None)
    for accepted, name in ((False, "late"), (True, "early")):
        model.observe({"hour": 3, "who": name}, "call", {}, accepted)
    said = {name: model.predict({"hour": 3, "who": name}, "call", {}).verdict for name in ("late", "early", "new")}
    assert (said["late"], said["early"]) == ("refuse", "accept")
    assert said["new"] != "refuse"
