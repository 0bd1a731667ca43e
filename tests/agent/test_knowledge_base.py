from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from surefoot import Agent, Knowledge, Vocabulary, WorldMap, open_journal
from surefoot.agent.knowledge_base import place_of, stream_of
from surefoot.agent.own_model import exact_vocabulary
from surefoot.environments.corridor import Corridor
from surefoot.errors import BadArgument, ValueRejected


def test_all_of_it_is_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "k.db"
    with Knowledge(path) as knowledge:
        knowledge.goal("out", lambda s: s == 3).gate("no", lambda s, c: True, blocks="*")
        Agent(Corridor(), knowledge=knowledge).run()
        knowledge.store.add("fact", {"s": "door", "r": "is", "o": "green"}, source="spec", by="the plan")
        knowledge.failures.failed(0, "left", "a wall")
        streams = {entry.stream for entry in knowledge.journal.entries()}
        assert streams == {"actions", "agenda", "agent", "facts", "failures", "main"}
        assert knowledge.verify()
        head = str(knowledge.head)
    with WorldMap(path) as known:
        assert known.path(0, {3}) == [(0, "right"), (1, "right"), (2, "right")]
    with Knowledge(path) as again:
        assert again.verify(head=head)
        assert again.maps() == ["main"]
        assert len(again.store) == 1
        assert again.actions.predict(0, "left", {}).verdict == "refuse"
        assert "1 episodes" in repr(again)


def test_what_was_observed_is_read_again_under_another_vocabulary() -> None:
    journal = open_journal()
    Agent(Corridor(), knowledge=Knowledge(journal=journal)).run()
    parity = Vocabulary({"wall": lambda s, a: s == 0})
    knowledge = Knowledge(journal=journal, vocabulary=parity)
    assert knowledge.actions.predict(0, "left", {}).verdict == "refuse"
    assert knowledge.actions.predict(17, "left", {}).verdict == "accept"


def test_the_exact_state_says_nothing_about_another() -> None:
    knowledge = Knowledge()
    Agent(Corridor(length=9), knowledge=knowledge).run()
    assert knowledge.actions.predict(3, "left", {}).verdict == "accept"
    assert knowledge.actions.predict(17, "left", {}).verdict == "unknown"
    assert knowledge.actions.predict("3", "left", {}).verdict == "unknown"
    assert exact_vocabulary().fingerprint() == exact_vocabulary().fingerprint()


def test_maps_have_names() -> None:
    knowledge = Knowledge()
    assert knowledge.map() is knowledge.map("main")
    assert knowledge.map("a") is not knowledge.map("b")
    for wrong in ("", 3):
        with pytest.raises(BadArgument, match="name of a map"):
            knowledge.map(wrong)  # type: ignore[arg-type]  # wrong on purpose
    assert stream_of("agent") == "map agent"


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": "x.db", "journal": open_journal()},
        {"vocabulary": exact_vocabulary(), "model": Knowledge().actions},
        {"severity": -1.0},
        {"caution": "bold"},
        {"failures": 0},
    ],
)
def test_what_does_not_go_together_or_is_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadArgument):
        Knowledge(**wrong)


def test_a_model_of_ones_own_keeps_its_own_records() -> None:
    model = Knowledge().actions
    knowledge = Knowledge(model=model)
    assert knowledge.actions is model
    with pytest.raises(BadArgument, match="model of its own"):
        knowledge.model(None)
    knowledge.refresh()
    assert knowledge.actions is model
    with pytest.raises(BadArgument, match="name"):
        knowledge.goal("", lambda s: True)


def test_refreshing_changes_nothing_that_is_known() -> None:
    knowledge = Knowledge()
    agent = Agent(Corridor(), knowledge=knowledge)
    agent.run()
    _ = knowledge.store
    before = knowledge.experience.fingerprint(), knowledge.map().claims(), knowledge.map().next(0, {3})
    knowledge.refresh()
    assert (knowledge.experience.fingerprint(), knowledge.map().claims(), knowledge.map().next(0, {3})) == before
    assert agent.run().steps == 3


def test_a_broken_journal_does_not_verify() -> None:
    from surefoot.journal import Journal
    from surefoot.journal.backends.memory import MemoryBackend

    knowledge = Knowledge()
    Agent(Corridor(), knowledge=knowledge).run()
    lines = list(knowledge.journal.lines())
    backend = MemoryBackend(lines)
    shown = Knowledge(journal=Journal(backend))
    shown.map()
    at = next(n for n, line in enumerate(lines) if b'"left"' in line)
    backend._lines[at] = lines[at].replace(b"left", b"rift")
    assert not shown.verify()


def test_a_state_in_its_three_forms() -> None:
    given = {"pos": [1]}
    place = place_of(given, None)
    given["pos"].append(2)
    assert place.state == '{"pos":{"~l":[1]}}'
    assert place.raw == {"pos": [1]}
    assert place_of((1, "a"), None).raw == (1, "a")
    assert place_of(object(), lambda s: "x").state == "x"
    with pytest.raises(ValueRejected):
        place_of({1, 2}, None)
    with pytest.raises(ValueRejected, match="key"):
        place_of(1, lambda s: [s])


def test_a_call_is_split_once_and_only_so_many_are_kept() -> None:
    knowledge = Knowledge()
    first = knowledge.call("go", b'"go"')
    assert knowledge.call("go", b'"go"') is first
    for number in range(5_000):
        knowledge.call(number, b"%d" % number)
    assert knowledge.call("go", b'"go"') == first
