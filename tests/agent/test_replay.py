from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from surefoot import Agent, Knowledge, Vocabulary, values
from surefoot.agent.episode_events import Decided, seal_of
from surefoot.agent.replay import diff, replay
from surefoot.environments.corridor import Corridor
from surefoot.environments.crafting import Crafting
from surefoot.errors import BadArgument
from surefoot.journal import Journal, open_journal
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.protocols import Outcome, moved


def corridor(length: int = 3) -> Knowledge:
    """Two episodes of a corridor with a gate and a goal."""
    knowledge = Knowledge().goal("out", lambda s: s == length)
    knowledge.gate("not twice", lambda s, call: s != length - 1 or "closed", blocks="left")
    agent = Agent(Corridor(length=length), knowledge=knowledge)
    agent.run()
    agent.run()
    return knowledge


def edited(journal: Journal, change: Any) -> Journal:
    """Return the journal with each entry's data passed through `change(seq, kind, data)`, linked anew."""
    made = open_journal()
    for entry in journal.entries():
        made.append(entry.kind, change(entry.seq, entry.kind, copy.deepcopy(entry.data)), stream=entry.stream)
    return made


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each leaf of plain data, and to each empty container."""
    if isinstance(data, dict) and data:
        for name, part in data.items():
            yield from places(part, (*path, name))
    elif isinstance(data, list | tuple) and data:
        for number, part in enumerate(data):
            yield from places(part, (*path, number))
    else:
        yield path


def other(value: Any) -> Any:
    """Return another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value + 0.25
        case str():
            return value + "x"
        case None:
            return "x"
    return ["x"]


def put(data: Any, path: tuple[Any, ...], change: Any) -> Any:
    """Return plain data with one leaf changed; tuples are made anew."""
    if not path:
        return change(data)
    first, *rest = path
    if isinstance(data, tuple):
        return tuple(put(part, tuple(rest), change) if n == first else part for n, part in enumerate(data))
    data[first] = put(data[first], tuple(rest), change)
    return data


def test_every_decision_comes_out_the_same() -> None:
    knowledge = corridor()
    replayed = replay(knowledge)
    decisions = [e for e in knowledge.journal.entries(kind="decide")]
    assert replayed.ok
    assert replayed.decisions == replayed.predicted == len(decisions) > 8


def test_every_single_field_edit_of_a_decision_is_caught_even_in_a_chain_written_anew() -> None:
    knowledge = corridor(length=2)
    count = 0
    for entry in list(knowledge.journal.entries(kind="decide")):
        for path in places(entry.data):

            def change(seq: int, kind: str, data: Any, at: int = entry.seq, path: tuple[Any, ...] = path) -> Any:
                return put(data, path, other) if seq == at else data

            forged = edited(knowledge.journal, change)
            assert forged.verify()
            count += 1
            found = _replayed(knowledge, forged)
            assert found is not None, (entry.seq, path)
            assert found == entry.seq, (entry.seq, path)
    assert count > 150


def _replayed(knowledge: Knowledge, journal: Journal) -> int | None:
    """Return where the first difference is, None without one."""
    shown = copy.copy(knowledge)
    shown.journal = journal
    first = replay(shown).first
    return None if first is None else first.seq


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("action", "left"),
        ("path", "slow"),
        ("rule", "skill"),
        ("goal", None),
        ("why", "a whim"),
        ("step", 4),
        ("head", "3:" + "0" * 64),
        ("head", "nonsense"),
        ("goals", ("out", "in")),
        ("episode", 7),
        ("spent", {"decisions": 1, "money": 0.0, "seconds": 0.1}),
    ],
)
def test_an_edit_with_a_new_seal_is_caught_where_it_can_be_worked_out(field: str, value: Any) -> None:
    knowledge = corridor()
    last = [e.seq for e in knowledge.journal.entries(kind="decide")][-1]

    def change(seq: int, kind: str, data: Any) -> Any:
        if seq != last:
            return data
        data[field] = value
        event = msgspec.json.decode(values.encode(data), type=Decided)
        return {**data, "seal": seal_of(event)}

    forged = edited(knowledge.journal, change)
    assert _replayed(knowledge, forged) == last


def test_a_prediction_with_a_new_seal_is_caught() -> None:
    knowledge = corridor()
    last = [e.seq for e in knowledge.journal.entries(kind="decide")][-1]
    for name, value in (("risk", 0.75), ("support", 99), ("reason", "so I was told"), ("failed", "it failed here")):

        def change(seq: int, kind: str, data: Any, name: str = name, value: Any = value) -> Any:
            if seq != last:
                return data
            data["options"] = tuple({**row, name: value} if n == 1 else row for n, row in enumerate(data["options"]))
            event = msgspec.json.decode(values.encode(data), type=Decided)
            return {**data, "seal": seal_of(event)}

        assert _replayed(knowledge, edited(knowledge.journal, change)) == last, name


def test_a_bare_edit_breaks_the_chain() -> None:
    knowledge = corridor()
    lines = list(knowledge.journal.lines())
    at = [e.seq for e in knowledge.journal.entries(kind="decide")][-1]
    lines[at] = lines[at].replace(b'"rule":"way"', b'"rule":"why"')
    forged = Journal(MemoryBackend(lines))
    shown = copy.copy(knowledge)
    shown.journal = forged
    first = replay(shown).first
    assert first is not None
    assert (first.seq, first.field) == (at, "the chain")
    assert f"entry {at}" in str(replay(shown))


def test_an_entry_that_is_no_decision_is_reported() -> None:
    knowledge = corridor()
    knowledge.journal.append("decide", {"episode": 0}, stream="agent")
    first = replay(knowledge).first
    assert first is not None
    assert first.field == "the entry"


def test_it_needs_neither_the_environment_nor_the_functions() -> None:
    knowledge = corridor()
    lines = list(knowledge.journal.lines())
    opened = Knowledge(journal=Journal(MemoryBackend(lines)))
    assert replay(opened).ok
    assert replay(opened).predicted > 0


def test_without_the_vocabulary_the_predictions_are_taken_as_recorded() -> None:
    vocabulary = Vocabulary({"cell": lambda s, a: f"cell {s}"})
    knowledge = Knowledge(vocabulary=vocabulary)
    agent = Agent(Corridor(length=2), knowledge=knowledge)
    agent.run()
    agent.run()
    opened = Knowledge(journal=knowledge.journal)
    assert replay(knowledge).predicted == replay(knowledge).decisions
    assert replay(opened).ok
    assert replay(opened).predicted < replay(opened).decisions


def test_a_world_of_chance_and_one_that_changes_replay() -> None:
    class Odd(Corridor):
        chance = random.Random(1)
        changed = False

        def step(self, action: str) -> Outcome[int]:
            assert self._cell is not None
            if self.chance.random() < 0.2:
                return moved(self._cell)
            return super().step({"left": "right", "right": "left"}[action] if self.changed else action)

    world, knowledge = Odd(length=6), Knowledge()
    agent = Agent(world, knowledge=knowledge)
    for number in range(6):
        world.changed = number > 3
        agent.run(steps=80)
    replayed = agent.replay()
    assert replayed.ok, replayed.first


def test_a_crafting_world_with_goals_replays() -> None:
    knowledge = Knowledge()
    for thing in ("branch", "stone"):

        def has(state: Any, thing: str = thing) -> bool:
            return thing in dict(state[1])

        knowledge.goal(thing, has)
    agent = Agent(Crafting(), knowledge=knowledge)
    agent.run(steps=60)
    agent.run(steps=60)
    assert agent.replay().ok


def test_two_runs_differ_where_they_first_went_apart() -> None:
    knowledge = corridor()
    agent = Agent(Corridor(length=3), knowledge=knowledge)
    found = agent.diff(0, 1)
    assert found is not None
    assert (found.step, found.what) == (0, "decision")
    three = agent.run(steps=2)
    ended = diff(knowledge, 1, three.number)
    assert ended is not None
    assert (ended.what, ended.step) == ("end", 2)
    assert diff(knowledge, 1, 1) is None
    with pytest.raises(BadArgument, match="no episode 9"):
        diff(knowledge, 0, 9)


def test_the_same_choice_may_lead_elsewhere() -> None:
    class Moved(Corridor):
        far = False

        def step(self, action: str) -> Outcome[int]:
            outcome = super().step(action)
            return moved(outcome.state, done=True) if self.far else outcome

    world, knowledge = Moved(length=3), Knowledge()
    agent = Agent(world, knowledge=knowledge)
    agent.run()
    agent.run()
    agent.run()
    assert agent.diff(1, 2) is None
    world._cell, world.far = 0, True
    agent.run()
    found = agent.diff(1, 3)
    assert found is not None
    assert found.what in ("end", "outcome")


@pytest.mark.nightly
def test_ten_thousand_decisions_replay_exactly() -> None:
    knowledge = Knowledge()
    agent = Agent(Corridor(length=50), knowledge=knowledge)
    while sum(1 for _ in knowledge.journal.entries(kind="decide")) < 10_000:
        for _ in range(20):
            agent.run()
    replayed = agent.replay()
    assert replayed.ok, replayed.first
    assert replayed.decisions >= 10_000
