from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from surefoot import Agent, ConservativeActionModel, Knowledge, Vocabulary, WorldMap, values
from surefoot.agent.experience import ExperienceFold, Running
from surefoot.agent.imagining import Ahead, Plan, imagine
from surefoot.agent.knowledge_base import raw_of
from surefoot.agent.slow import Search
from surefoot.errors import BadArgument
from surefoot.protocols import Outcome, moved, refused


class Counter:
    """A number that can be doubled, and raised or lowered by one, up to 99."""

    def __init__(self) -> None:
        self._at = 1

    def reset(self, seed: int | None = None) -> int:
        self._at = 1
        return self._at

    def actions(self, state: int) -> list[str]:
        return ["double", "less", "more"]

    def step(self, action: str) -> Outcome[int]:
        to = {"double": 2 * self._at, "less": self._at - 1, "more": self._at + 1}[action]
        if not 0 <= to <= 99:
            return refused(self._at, "out of range")
        self._at = to
        return moved(to)


def words() -> Vocabulary:
    return Vocabulary({"in range": lambda state, args: 1 <= state <= 48})


def taught(calls: int = 4) -> ConservativeActionModel:
    model = ConservativeActionModel(words())
    for n in range(1, calls + 1):
        model.observe(n, "more", {}, True, next_state=n + 1)
    return model


def think(model: ConservativeActionModel, goal: int, *, known: WorldMap | None = None, **more: Any) -> Plan | None:
    ahead = Ahead(model, lambda state, goals: goals if state == goal else (), known or WorldMap())
    memory = more.pop("fold", ExperienceFold()), Running(0, "main", b"5")
    return imagine(ahead, (b"5", 5), ("there",), [b'"more"'], memory, **more)


def test_a_way_over_states_that_nobody_has_seen() -> None:
    plan = think(taught(), 9)
    assert plan is not None
    assert plan.goal == "there"
    assert [leg.to for leg in plan.legs] == [b"6", b"7", b"8", b"9"]
    assert plan.as_data()["legs"][0] == [5, "more", 6]


@pytest.mark.parametrize("bound", [{"expansions": 3}, {"depth": 3}, {"barred": [(b"7", b'"more"')]}])
def test_it_stays_within_its_bounds(bound: dict[str, Any]) -> None:
    assert think(taught(), 9, **bound) is None


def test_what_the_map_knows_is_taken_from_the_map() -> None:
    fold, known = ExperienceFold(), WorldMap()
    fold.runs["main", b"5", b'"more"'] = [[b"40", 1]]
    fold.refused.add(("main", b"42", b'"more"'))
    known.see(41, "more")
    plan = think(taught(), 42, fold=fold, known=known)
    assert plan is not None
    assert [leg.to for leg in plan.legs] == [b"40", b"41", b"42"]
    assert think(taught(), 43, fold=fold, known=known) is None
    known.see(40, "wait")  # and "more" is not on offer there
    assert think(taught(), 42, fold=fold, known=known) is None


def test_without_a_way_it_leads_to_the_nearest_thing_that_is_not_predicted() -> None:
    plan = think(taught(), 60, depth=100)
    assert plan is not None
    assert plan.goal is None
    assert [leg.to for leg in plan.legs[-2:]] == [b"49", b""]
    assert think(taught(), 60, depth=24) is None
    plan = think(ConservativeActionModel(words()), 60)
    assert plan is not None
    assert (plan.goal, [leg.to for leg in plan.legs]) == (None, [b""])


def agent_for(goal: int, **more: Any) -> Agent:
    knowledge = Knowledge(vocabulary=words()).goal("there", lambda state: state == goal)
    return Agent(Counter(), knowledge=knowledge, slow=Search(**more))


def test_an_agent_goes_by_a_plan_and_makes_no_second_one_while_it_holds() -> None:
    agent = agent_for(37)
    episode = agent.run(steps=60)
    rules = [(decision.path, decision.rule) for decision in agent.decisions()]
    assert episode, rules
    assert episode.steps < 25
    assert rules.count(("slow", "plan")) == 1
    assert rules.count(("fast", "plan")) >= 3
    assert agent.replay().ok
    blind = agent_for(37, expansions=0)
    assert blind.run(steps=60).steps > episode.steps


def test_the_second_episode_is_never_longer() -> None:
    agent = agent_for(23)
    steps = [agent.run(steps=100).steps for _ in range(4)]
    assert steps == sorted(steps, reverse=True)
    assert agent.replay().predicted == agent.replay().decisions


def decisions(agent: Agent) -> Iterator[Any]:
    return (decision for decision in agent.decisions() if decision.path == "slow" and decision.rule == "plan")


def test_a_plan_is_recorded_with_its_decision_and_carried_on_from_the_journal() -> None:
    agent = agent_for(37)
    agent.run(steps=60)
    (decision,) = decisions(agent)
    assert decision.goal == decision.answer["goal"] == "there"
    assert decision.answer["legs"][0][:2] == [decision.state, decision.action]
    assert decision.answer["legs"][-1][2] == 37
    fold = agent.knowledge.experience.fold
    before = values.encode(fold.as_data())
    agent.knowledge.refresh()
    assert values.encode(agent.knowledge.experience.fold.as_data()) == before


@pytest.mark.parametrize("field", ["expanded", "legs"])
def test_another_plan_is_found_out_even_where_the_seal_was_made_anew(field: str) -> None:
    from surefoot.agent.episode_events import Decided, seal_of
    from surefoot.agent.replay import replay

    agent = agent_for(37)
    agent.run(steps=60)
    other = Knowledge(vocabulary=words()).goal("there", lambda state: state == 37)
    with agent.knowledge.journal as journal:
        for entry in journal.entries():
            data = dict(entry.data)
            if entry.kind == Decided.kind and data["rule"] == "plan" and data["path"] == "slow":
                plan = dict(data["answer"])
                plan[field] = plan[field] + 1 if field == "expanded" else [*plan[field][:-1], [0, "more", 1]]
                event = msgspec.json.decode(values.encode({**data, "answer": plan}), type=Decided)
                data = {**data, "answer": plan, "seal": seal_of(event)}
            if entry.seq >= len(other.journal):
                other.journal.append(entry.kind, data, stream=entry.stream)
    said = replay(other)
    assert not said.ok


def test_the_bounds_of_a_search_are_checked() -> None:
    with pytest.raises(BadArgument, match="depth must be an int >= 0, got -1"):
        Search(depth=-1)
    with pytest.raises(BadArgument, match="expansions"):
        Search(expansions=True)


def test_a_text_that_only_looks_like_a_mapping_stays_one() -> None:
    assert raw_of("{half") == "{half"
