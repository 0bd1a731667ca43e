from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import pytest

from surefoot import Agent, Knowledge, WorldMap
from surefoot.environments.corridor import Corridor
from surefoot.errors import BadArgument, MergeRefused, UnknownFormat, ValueRejected
from surefoot.gym import ModelEnv
from surefoot.journal import open_journal
from surefoot.learners.counts import Counts
from surefoot.learners.histories import count_journal, count_trace_file, count_traces, count_world
from surefoot.models.examples import grid


def test_a_map_and_what_was_merged_into_it_are_counted_once_each() -> None:
    here, there = WorldMap(), WorldMap(name="there")
    for world, to in ((here, "room"), (there, "hall")):
        world.arrive("hall", "open", to)
    there.refuse("hall", "climb")
    here.merge(there)
    counts = count_journal(here.journal)
    assert counts.followed("hall", "open") == {"hall": 1, "room": 1}
    assert counts.followed("hall", "climb") == {"hall": 1}
    assert count_journal(there.journal, counts=counts) == counts  # its entries are known by their hashes


def test_an_agents_steps_are_counted_once_though_the_journal_says_them_twice() -> None:
    knowledge = Knowledge()
    Agent(Corridor(length=3), knowledge=knowledge).run()
    journal = knowledge.journal
    steps = sum(1 for entry in journal.entries(kind="came") if entry.data["verdict"] != "fault")
    counts = count_journal(journal)
    assert counts.outcomes == steps > 0
    assert counts.estimate().initial[counts.states.index(0)] == 1.0
    on_map = count_journal(journal, read="map")
    for state in counts.states:
        assert on_map.followed(state, "right") == counts.followed(state, "right")


def test_refusals_stay_or_are_skipped() -> None:
    world = WorldMap()
    world.refuse("hall", "open")
    assert count_journal(world.journal).followed("hall", "open") == {"hall": 1}
    skipped = count_journal(world.journal, refusals="skip")
    assert skipped.outcomes == 0
    assert skipped.intervals(initial="hall").model.available("hall").tolist() == [0]


def test_one_journal_in_two_learners_does_not_merge() -> None:
    world = WorldMap()
    world.arrive("hall", "open", "room")
    one, two = count_journal(world.journal), count_journal(world.journal)
    with pytest.raises(MergeRefused, match="1 entries of a journal were counted by both"):
        one.merge(two)


def test_reading_on_counts_only_what_is_new() -> None:
    world = WorldMap()
    world.arrive("hall", "open", "room")
    counts = count_journal(world.journal)
    world.arrive("hall", "open", "room")
    assert count_journal(world.journal, counts=counts).tried("hall", "open") == 2


def test_faults_are_no_outcomes() -> None:
    journal = open_journal()
    decide = {"episode": 0, "step": 0, "state": 1, "action": "go"}
    journal.append("decide", decide, stream="agent")
    came = {"episode": 0, "step": 0, "verdict": "fault", "to": 1, "done": False}
    journal.append("came", came, stream="agent")
    assert count_journal(journal).outcomes == 0


def test_trace_files_are_traces(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    file.write_text(
        '{"state": [0, 1], "action": "up", "to": [0, 2], "reward": 1.5}\n\n'
        '{"state": [0, 2], "action": "up", "to": [0, 3], "ended": true}\n'
    )
    same = count_traces([[((0, 1), "up", (0, 2), False, 1.5)], [((0, 2), "up", (0, 3), True)]])
    assert count_trace_file(file) == same
    assert same.estimate().initial.tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("line", ["{", "[1]", '{"state": 1, "action": "up"}', '{"state": 1, "to": 2, "do": 3}'])
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "trace.jsonl"
    file.write_text('{"state": 1, "action": "up", "to": 2}\n' + line + "\n")
    with pytest.raises(UnknownFormat, match="line 2 of .* is no step"):
        count_trace_file(file)


def test_a_bad_step_is_named() -> None:
    with pytest.raises(ValueRejected, match="a step is"):
        count_traces([[("a", "go")]])


def test_one_seed_counts_the_same_twice() -> None:
    def walk(seed: int) -> Counts:
        return count_world(gymnasium.make("FrozenLake-v1"), steps=300, seed=seed)

    assert walk(3) == walk(3)
    assert walk(3) != walk(4)
    assert walk(3).outcomes == 300


def test_a_model_that_is_tried_is_learned() -> None:
    model = grid(3, 3, holes=())
    counts = count_world(ModelEnv(model, "goal"), steps=6000, seed=1)
    learned = counts.intervals(choices=model.n_choices)
    for choice in range(model.n_choices):
        here, what = int(model.choice_state[choice]), int(model.choice_action[choice])
        for to, p in zip(*model.row(here, what), strict=True):
            low, high = learned.interval(here, what, int(to))
            assert low <= p <= high


def test_an_environment_is_tried_with_its_refusals() -> None:
    counts = count_world(Corridor(length=3), steps=60, seed=0)
    assert counts.outcomes == 60
    assert set(counts.followed(0, "left")) == {0}


def test_a_policy_decides() -> None:
    counts = count_world(Corridor(length=3), steps=20, policy=lambda state, actions, numbers: "right")
    assert counts.tried(0, "left") == 0
    assert counts.tried(0, "right") > 3


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(BadArgument, match="steps must be a whole number"):
        count_world(Corridor(), steps=-1)
    with pytest.raises(BadArgument, match="env must be"):
        count_world(np.zeros(1), steps=1)
    with pytest.raises(BadArgument, match="only discrete ones"):
        count_world(gymnasium.make("Pendulum-v1"), steps=1)
    with pytest.raises(BadArgument, match="read must be"):
        count_journal(open_journal(), read="all")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(BadArgument, match="refusals must be"):
        count_journal(open_journal(), refusals="go")  # type: ignore[arg-type]  # wrong on purpose
