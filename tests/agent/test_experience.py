from __future__ import annotations

import msgspec
import pytest

from surefoot import Agent, Knowledge, open_journal, values
from surefoot.agent.decision import DONE, Answer, Option, event_of
from surefoot.agent.episode_events import Began, Came, Learned, Over
from surefoot.agent.experience import Experience, ExperienceFold, Skill
from surefoot.environments.corridor import Corridor
from surefoot.errors import UnknownFormat


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(values.encode(value))


class Life:
    """An agent's events, made by hand."""

    def __init__(self, map_: str = "main") -> None:
        self.fold = ExperienceFold()
        self.episode = self.step = 0
        self.map = map_
        self.fold.apply(Began(0, map_, None, raw("a")))

    def go(self, state: str, action: str, to: str, verdict: str = "accepted", **more: object) -> Life:
        goals = more.pop("open", (DONE,))
        option = Option(action, choice="take")
        place = self.episode, self.step, "0:0", values.encode(state)
        self.fold.apply(event_of(place, goals, (option,), Answer(action, "fast", "way")))  # type: ignore[arg-type]  # any action
        done = bool(more.pop("done", False))
        self.fold.apply(Came(self.episode, self.step, verdict, raw(to), done, **more))  # type: ignore[arg-type]  # of several types
        self.step += 1
        return self


def test_it_remembers_where_a_goal_was_reached_and_forgets_where_it_is_not() -> None:
    life = Life().go("a", "x", "b", done=True)
    assert life.fold.targets == {"main": {DONE: {b'"b"': None}}}
    life.go("b", "x", "c")
    assert life.fold.targets == {"main": {DONE: {}}}
    assert life.fold.running[0].drift


def test_a_skill_earns_and_loses_credit() -> None:
    life = Life().go("a", "x", "b", goals=("wood",), open=("wood",))
    assert life.fold.skills == {("wood", b'"x"'): Skill(1, 1)}
    for _ in range(3):
        life.go("b", "x", "b", open=("wood",))
    assert life.fold.skills["wood", b'"x"'] == Skill(1, 4)
    assert life.fold.skills["wood", b'"x"'].rate < 0.5
    assert life.fold.running[0].anchor == b'"b"'


def test_change_and_chance_are_told_apart() -> None:
    life = Life()
    for to in "bbb":
        life.go("a", "x", to)
    assert life.fold.surprise("main", b'"a"', b'"x"', b'"b"') == ""
    assert life.fold.surprise("main", b'"a"', b'"x"', b'"c"') == "drift"
    assert life.fold.surprise("main", b'"a"', b'"x"', None) == "drift"
    assert life.fold.surprise("main", b'"a"', b'"y"', None) == ""
    life.go("a", "x", "c")
    assert life.fold.surprise("main", b'"a"', b'"x"', b'"b"') == "chance"
    for _ in range(4):
        life.go("a", "x", "c")
    assert life.fold.surprise("main", b'"a"', b'"x"', b'"b"') == "drift"
    life.go("a", "y", "a", "refused")
    assert life.fold.surprise("main", b'"a"', b'"y"', b'"b"') == "drift"
    assert life.fold.surprise("main", b'"a"', b'"y"', None) == ""


def test_a_plan_gets_old_when_something_is_new_or_counts_have_doubled() -> None:
    life = Life()
    versions = []
    for _ in range(9):
        life.go("a", "x", "b")
        versions.append(life.fold.version["main"])
    assert versions == [2, 3, 3, 4, 4, 4, 4, 5, 5]  # the first is the episode's own


def test_a_fault_is_no_evidence() -> None:
    life = Life().go("a", "x", "a", "fault")
    assert not life.fold.runs
    assert life.fold.running[0].verdicts["fault"] == 1


def test_places_are_kept_for_each_map_and_only_so_many() -> None:
    life = Life("cave")
    for number in range(80):
        life.go("a", "x", f"b{number}", goals=("wood",), open=("wood",))
    places = life.fold.targets["cave"]["wood"]
    assert len(places) == 64
    assert b'"b79"' in places
    assert "main" not in life.fold.targets


def test_what_another_agent_had_learned_is_added() -> None:
    fold = ExperienceFold()
    event = Learned("ab", 5, raw({"main": {"wood": ["b"]}}), raw([["wood", "x", 2, 3]]))
    fold.apply(event)
    fold.apply(msgspec.structs.replace(event, origin="cd", length=9, skills=raw([])))
    assert fold.skills == {("wood", b'"x"'): Skill(2, 3)}
    assert fold.targets == {"main": {"wood": {b'"b"': None}}}
    assert fold.merged == {"ab": 5, "cd": 9}


def test_looking_again_gets_rarer_where_nothing_is_ever_left() -> None:
    fold, looked = ExperienceFold(), []
    for number in range(20):
        fold.apply(Began(number, "main", None, raw("a")))
        looked.append(fold.may_doubt(fold.running[number]))
        fold.apply(Over(number, "nothing left"))
    assert [n for n, look in enumerate(looked) if look] == [1, 2, 4, 8, 16]


@pytest.mark.parametrize(
    "event",
    [
        Began(3, "main", None, msgspec.Raw(b"0")),
        Came(0, 0, "accepted", msgspec.Raw(b"0"), False),
        Over(9, "done"),
    ],
)
def test_what_cannot_have_happened_is_refused(event: object) -> None:
    with pytest.raises((ValueError, LookupError)):
        Life().fold.apply(event)  # type: ignore[arg-type]  # wrong on purpose


def test_it_is_the_same_after_it_was_opened_again() -> None:
    journal = open_journal()
    knowledge = Knowledge(journal=journal)
    agent = Agent(Corridor(length=3), knowledge=knowledge)
    agent.run()
    agent.run(steps=1)
    again = Experience(journal)
    assert again.fold.same_as(knowledge.experience.fold) is None
    assert again.fingerprint() == knowledge.experience.fingerprint()
    assert knowledge.experience.verify()
    assert len(list(again.events())) > 10
    journal.append("dance", {}, stream="agent")
    with pytest.raises(UnknownFormat):
        _ = knowledge.experience.fold
