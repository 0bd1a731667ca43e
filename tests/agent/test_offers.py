from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Agent, Knowledge, open_journal, values
from surefoot.agent import offers as module
from surefoot.agent.decision import DONE, Answer, Option, event_of
from surefoot.agent.episode_events import Began, Configured, Decided, seal_of
from surefoot.agent.experience import Experience
from surefoot.agent.offers import FORMAT, LONG, Offers, is_varied
from surefoot.agent.replay import replay
from surefoot.agent.report import gather
from surefoot.errors import UnknownFormat
from surefoot.journal import Journal
from surefoot.protocols import Outcome, moved


class Halls:
    """Three halls with 30 doors each, one of which leads on."""

    def __init__(self) -> None:
        self.hall = 0

    def reset(self, seed: int | None = None) -> int:
        self.hall = 0
        return 0

    def actions(self, state: int) -> Sequence[str]:
        return [f"door {number}" for number in range(30)]

    def step(self, action: str) -> Outcome[int]:
        if action == f"door {7 * self.hall + 3}":
            self.hall += 1
        return moved(self.hall, done=self.hall == 3)


def walked(episodes: int = 3, knowledge: Knowledge | None = None) -> Knowledge:
    known = Knowledge() if knowledge is None else knowledge
    for _ in range(episodes):
        assert Agent(Halls(), knowledge=known).run()
    return known


def decided(journal: Journal) -> list[tuple[int, Decided]]:
    entries = journal.entries(kind="decide")
    return [(entry.seq, msgspec.json.decode(bytes(entry.raw), type=Decided)) for entry in entries]


rows = st.lists(st.integers(0, 60), min_size=20, max_size=60, unique=True)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from([b'"a"', b'"b"']), rows, st.integers(0, 2)), min_size=2, max_size=6))
def test_a_list_comes_back_whatever_was_recorded_before(history: list[tuple[bytes, list[int], int]]) -> None:
    wrote, reads = Offers(), Offers()
    for step, (state, numbers, support) in enumerate(history):
        options = tuple(Option(n, reason="r" * 150, support=support if n % 9 == 0 else 0) for n in numbers)
        event = event_of((0, step, "0:0", state), (DONE,), options, Answer(None, "none", ""), offers=wrote)
        wanted = [option.encode() for option in options]
        assert list(reads.rows(event)) == wanted
        wrote.take(event)
        reads.take(event)
        assert event.seal == seal_of(event)
    assert wrote.as_data() == reads.as_data()


def test_what_a_decision_takes_grows_with_what_changed_and_not_with_the_list() -> None:
    knowledge = walked()
    events = [event for _, event in decided(knowledge.journal)]
    whole = [event for event in events if not is_varied(event)]
    varied = [len(bytes(event.options)) for event in events if is_varied(event)]
    assert len(whole) == 3  # one for each hall
    assert min(len(bytes(event.options)) for event in whole) > LONG
    assert len(varied) > 30
    assert sum(varied) / len(varied) < 600
    assert replay(knowledge).ok
    assert replay(knowledge).decisions == replay(knowledge).predicted == len(events)
    assert knowledge.verify()
    assert [len(shown.decision.options) for shown in gather(knowledge).shown[2]] == [30, 30, 30]
    last = list(Agent(Halls(), knowledge=knowledge).decisions(2))
    assert [decision.options[2].action for decision in last] == ["door 2"] * 3


def changed(knowledge: Knowledge, at: int, change: Any) -> Knowledge:
    """Return the knowledge over a journal whose entry `at` was changed and everything after it linked anew."""
    made = open_journal()
    for entry in knowledge.journal.entries():
        data = change(copy.deepcopy(entry.data)) if entry.seq == at else entry.data
        made.append(entry.kind, data, stream=entry.stream)
    shown = copy.copy(knowledge)
    shown.journal = made
    return shown


def sealed_anew(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "seal": seal_of(msgspec.json.decode(values.encode(data), type=Decided))}


@pytest.mark.parametrize("anew", [False, True])
def test_every_edit_of_a_varied_list_is_caught(anew: bool) -> None:
    knowledge = walked(1)
    seq = [seq for seq, event in decided(knowledge.journal) if is_varied(event)][2]
    (entry,) = knowledge.journal.entries(since=seq, upto=seq + 1)
    parts = entry.data["options"]["rows"]
    assert sum(isinstance(part, tuple) for part in parts) >= 2

    def edits() -> list[Any]:
        made: list[Any] = [{"of": "0" * 64, "rows": parts}, {"of": entry.data["options"]["of"], "rows": parts[1:]}]
        for place, part in enumerate(parts):
            if isinstance(part, tuple):
                news: list[Any] = [(part[0] + 1, part[1]), (part[0], part[1] + 1), (-1, 1), (0, 0)]
            else:
                news = [{**part, name: other} for name, other in (("support", 77), ("risk", 0.123), ("verdict", "x"))]
            made += [{**entry.data["options"], "rows": (*parts[:place], new, *parts[place + 1 :])} for new in news]
        return made

    for options in edits():

        def change(data: Any, options: Any = options) -> Any:
            data["options"] = options
            return sealed_anew(data) if anew else data

        first = replay(changed(knowledge, seq, change)).first
        assert first is not None, options
        assert first.seq == seq or (anew and first.seq > seq), options  # of what was on offer there is no second record


def test_a_list_that_was_changed_under_a_later_one_is_caught_there_too() -> None:
    knowledge = Knowledge(journal=walked(1).journal)
    knowledge.own = False  # nothing is predicted again: only the seals speak
    at = next(seq for seq, event in decided(knowledge.journal) if not is_varied(event))

    def change(data: Any) -> Any:
        data["options"] = tuple({**row, "support": 5} if n == 20 else row for n, row in enumerate(data["options"]))
        return sealed_anew(data)

    first = replay(changed(knowledge, at, change)).first
    assert first is not None
    assert first.seq > at


def test_a_journal_of_before_replays_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(module, "LONG", 1 << 30)  # as format 1 has it: every list is whole
        knowledge = walked(1)
        assert replay(knowledge).ok
    assert not any(is_varied(event) for _, event in decided(knowledge.journal))
    assert knowledge.experience.fold.settings.version == 1
    opened = walked(2, Knowledge(journal=knowledge.journal))
    assert opened.experience.fold.settings.version == FORMAT
    assert sum(is_varied(event) for _, event in decided(opened.journal)) >= 3
    assert replay(opened).ok


def test_a_later_format_is_refused() -> None:
    journal = open_journal()
    journal.append("agent", Configured(version=FORMAT + 1).as_data(), stream="agent")
    with pytest.raises(UnknownFormat, match=r"format 3: this Surefoot reads formats up to 2; open the journal with"):
        Experience(journal)


def test_somebody_who_decided_in_between_makes_the_list_whole() -> None:
    journal = open_journal()
    one, two = Experience(journal), Experience(journal)
    one.note(Began(0, "main", None, msgspec.Raw(b"0")))

    def event(step: int, who: Experience) -> Decided:
        options = tuple(Option(n, reason="r" * 150, support=step if n == 5 else 0) for n in range(30))
        return event_of((0, step, "0:0", b"0"), (DONE,), options, Answer(5, "fast", "way"), offers=who.fold.offers)

    one.note(event(0, one))
    mine, other = event(1, one), event(2, two)
    assert is_varied(mine)
    assert is_varied(other)
    two.note(other)
    one.note(mine)
    last = decided(journal)[-1][1]
    assert not is_varied(last)
    assert last.seal == seal_of(last)
    assert one.verify()
    assert two.fold.offers.as_data() == one.fold.offers.as_data() == {"0": last.seal}


def test_only_the_newest_lists_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 4 * LONG)
    offers = Offers()
    for state in range(5):
        options = tuple(Option(n, reason="r" * 150) for n in range(20))
        place = 0, state, "0:0", b"%d" % state
        offers.take(event_of(place, (DONE,), options, Answer(None, "none", ""), offers=offers))
    assert set(offers.as_data()) == {"3", "4"}
