from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from surefoot import WorldMap
from surefoot.agent.loop import NOT_ON_OFFER, Noticed, begin, look, on_offer, step
from surefoot.environments.corridor import Corridor
from surefoot.environments.files import Files
from surefoot.errors import BadArgument, ContractBroken, WorldUnavailable
from surefoot.protocols import Outcome, ended, faulted, moved, refused


class House:
    """A hall with two doors that carry signs; what each action does is scripted."""

    def __init__(self, outcomes: Mapping[str, Any]) -> None:
        self.outcomes = dict(outcomes)
        self.doors = ["north", "south"]
        self.leads: list[tuple[str, str]] = [("north", "garden")]
        self.title = "Hall"

    def reset(self, seed: int | None = None) -> str:
        return "hall"

    def actions(self, state: str) -> Sequence[str]:
        return list(self.doors)

    def step(self, action: str) -> Outcome[str]:
        outcome: Outcome[str] = self.outcomes[action]
        return outcome

    def signs(self, state: str) -> Sequence[tuple[str, str]]:
        return list(self.leads) if state == "hall" else []

    def describe(self, state: str) -> Mapping[str, Any]:
        return {"title": self.title}


def kinds(known: WorldMap) -> list[str]:
    return [entry.kind for entry in known.journal.entries()]


def test_begin_records_the_start_its_facts_and_what_is_on_offer_with_signs() -> None:
    known = WorldMap()
    assert begin(House({}), known, seed=3) == "hall"
    assert kinds(known) == ["map", "see", "see", "visit"]
    assert known.facts("hall") == {"title": "Hall"}
    assert [(c.action, c.to, c.source) for c in known.claims("hall")] == [
        ("north", "garden", "seen"),
        ("south", None, "seen"),
    ]


def test_an_accepted_step_is_an_arrival_what_is_on_offer_there_and_a_visit() -> None:
    known = WorldMap()
    house = House({"north": moved("garden")})
    begin(house, known)
    before = len(known.journal)
    assert step(house, known, "hall", "north").state == "garden"
    assert kinds(known)[before:] == ["arrive", "see", "see", "visit"]
    claim = known.claim("hall", "north")
    assert claim is not None
    assert (claim.status, claim.to) == ("confirmed", "garden")


def test_a_refusal_is_recorded_with_its_reason_and_moves_nothing() -> None:
    known = WorldMap()
    house = House({"south": refused("hall", "locked")})
    begin(house, known)
    assert step(house, known, "hall", "south").accepted is False
    claim = known.claim("hall", "south")
    assert claim is not None
    assert claim.refused
    assert claim.evidence[-1].quote == "locked"


def test_what_a_refusal_changed_on_offer_is_seen_at_once() -> None:
    known = WorldMap()
    house = House({"south": refused("hall", "locked, but a hatch opened")})
    begin(house, known)
    house.doors.append("hatch")
    step(house, known, "hall", "south")
    assert known.claim("hall", "hatch") is not None


def test_a_fault_is_evidence_of_nothing() -> None:
    known = WorldMap()
    house = House({"north": faulted("hall", "time-out")})
    begin(house, known)
    head = known.head
    assert step(house, known, "hall", "north").fault == "time-out"
    assert known.head == head


def test_nothing_is_on_offer_after_the_end() -> None:
    known = WorldMap()
    house = House({"north": ended("street")})
    begin(house, known)
    step(house, known, "hall", "north")
    assert known.claims("street") == []
    assert known.unvisited() == ["garden"]
    house.outcomes["south"] = refused("hall", "the lights go out", done=True)
    house.doors.append("hatch")
    step(house, known, "hall", "south")
    assert known.claim("hall", "hatch") is None


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (refused("cellar", "no"), "House refused 'north' in 'hall', and yet went to 'cellar'"),
        (("garden", 0.0, False), r"House.step\('north'\) returned \('garden', 0.0, False\)"),
    ],
)
def test_a_world_that_breaks_its_contract_is_told_so_and_the_map_nothing(outcome: Any, says: str) -> None:
    known = WorldMap()
    house = House({"north": outcome})
    begin(house, known)
    head = known.head
    with pytest.raises(ContractBroken, match=says):
        step(house, known, "hall", "north")
    assert known.head == head


def test_look_alikes_are_different_states() -> None:
    """A refusal that answers 1 where the state is True has moved."""
    known = WorldMap()
    world = House({"north": refused("1", "no")})
    with pytest.raises(ContractBroken):
        step(world, known, 1, "north")


def test_an_action_that_disappeared_and_is_back_is_put_back_on_offer(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    known = WorldMap()
    world = Files(tmp_path)
    begin(world, known)
    known.refuse(".", "notes", why=NOT_ON_OFFER)
    assert known.next(".", {"notes"}) is None
    begin(world, known)
    assert known.next(".", {"notes"}) == "notes"
    assert [words for _, words in known.why(".", "notes")][-1] == "seen: on offer again"


def test_what_the_world_itself_refused_stays_refused_though_it_is_on_offer(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    known = WorldMap()
    world = Files(tmp_path)
    begin(world, known)
    known.refuse(".", "notes", why="permission denied")
    begin(world, known)
    assert known.next(".", {"notes"}) is None


def test_what_is_not_back_stays_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    known = WorldMap()
    begin(Files(tmp_path), known)
    known.refuse(".", "notes", why=NOT_ON_OFFER)
    (tmp_path / "notes").rmdir()
    begin(Files(tmp_path), known)
    assert known.next(".", {"notes"}) is None


def test_an_unchanged_state_is_not_reported_again_and_a_changed_one_is() -> None:
    known, noticed = WorldMap(), Noticed()
    house = House({})
    begin(house, known, noticed=noticed)
    length = len(known.journal)
    look(house, known, "hall", noticed=noticed)
    assert kinds(known)[length:] == ["visit"]
    assert "facts" not in next(known.journal.entries(since=length)).data
    house.title, house.leads = "Great hall", [("north", "garden"), ("south", "street")]
    look(house, known, "hall", noticed=noticed)
    assert known.facts("hall") == {"title": "Great hall"}
    claim = known.claim("hall", "south")
    assert claim is not None
    assert claim.to == "street"


def test_noticed_forgets_what_was_longest_ago() -> None:
    noticed = Noticed(most=2)
    assert [noticed.is_news(key, "x") for key in (b"a", b"b", b"a", b"c", b"a", b"b")] == [
        True,
        True,
        False,
        True,
        False,
        True,
    ]


def test_noticed_tells_look_alikes_apart() -> None:
    noticed = Noticed()
    assert [noticed.is_news(b"s", what) for what in ([1], [True], [1.0], ["1"], ["1"])] == [True] * 4 + [False]


@pytest.mark.parametrize("most", [0, -1, True, 1.5])
def test_noticed_refuses_a_size_that_is_none(most: Any) -> None:
    with pytest.raises(BadArgument, match="most must be an int >= 1"):
        Noticed(most)


def test_on_offer_is_exact() -> None:
    house = House({})
    house.doors = [1, "1"]  # type: ignore[list-item]  # two types
    assert [on_offer(house, "hall", action) for action in (1, True, 1.0, "1", 2)] == [True, False, False, True, False]


def test_a_world_that_cannot_be_reached_says_so(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    world = Files(tmp_path / "tree")
    (tmp_path / "tree").rmdir()
    with pytest.raises(WorldUnavailable):
        begin(world, WorldMap())


def test_the_same_walk_twice_gives_the_same_journal() -> None:
    def history() -> str:
        known, world = WorldMap(), Corridor(length=2)
        state = begin(world, known, seed=0)
        for action in ("left", "right", "left", "right", "right"):
            state = step(world, known, state, action).state
        return str(known.head)

    assert history() == history()
