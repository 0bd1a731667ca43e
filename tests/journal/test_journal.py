"""The journal: what is recorded, what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import copy
import itertools
import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from surefoot import values
from surefoot.errors import (
    AppendFailed,
    BadArgument,
    BrokenChain,
    Conflict,
    CutTail,
    JournalClosed,
    ReadOnly,
    ValueRejected,
)
from surefoot.journal import Backend, Entry, Head, Journal, open_journal
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.journal.chain import GENESIS, parse


def three() -> Journal:
    journal = open_journal()
    journal.append("see", {"door": 1})
    journal.append("note", {"text": "red"}, stream="other")
    journal.append("see", {"door": 2})
    return journal


def noon() -> str:
    return "noon"


class Failing(MemoryBackend):
    """Storage that is full."""

    def extend(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> None:
        build(len(self._lines), self._lines[-1] if self._lines else None)
        raise AppendFailed("full")


def test_an_append_returns_its_entry() -> None:
    journal = open_journal()
    first = journal.append("see", {"door": 1, "at": (1, 2.0, None)})
    second = journal.append("note", {}, stream="other")
    assert (first.seq, first.stream, first.kind, first.data) == (0, "main", "see", {"at": (1, 2.0, None), "door": 1})
    assert (second.seq, second.stream, second.prev) == (1, "other", first.hash)
    assert list(journal.entries()) == [first, second]
    assert journal.head == Head(2, second.hash)


def test_the_same_events_give_the_same_bytes() -> None:
    assert list(three().lines()) == list(three().lines())
    assert three().head.hash == "e77629ff8425fd7066022d3d1e46ee3929759056eaa89faed2bd9858739aa7d1"


def test_arguments_are_copied() -> None:
    journal = open_journal()
    data: dict[str, Any] = {"doors": [1]}
    entry = journal.append("see", data)
    data["doors"].append(2)
    data["more"] = 1
    assert entry.data == {"doors": [1]} == next(journal.entries()).data
    entry.data["doors"].append(3)
    assert next(journal.entries()).data == {"doors": [1]}


def test_look_alikes_stay_apart() -> None:
    journal = open_journal()
    alike = [1, True, 1.0, "1", -0.0, 0.0, 0, False, None, (1,), [1]]
    hashes = {open_journal().append("note", {"v": value}).hash for value in alike}
    assert len(hashes) == len(alike)
    for value in alike:
        found = journal.append("note", {"v": value}).data["v"]
        assert (type(found), repr(found)) == (type(value), repr(value))


@pytest.mark.untraced
def test_data_of_any_depth_can_be_appended() -> None:
    deep: tuple[object, ...] = ()
    for _ in range(20_000):
        deep = (deep,)
    journal = open_journal()
    entry = journal.append("deep", {"v": deep})
    assert bytes(entry.raw) == values.encode({"v": deep})
    assert journal.verify(head=journal.head)


@pytest.mark.parametrize(
    "data", [{"v": float("nan")}, {"v": b"x"}, {"v": {1}}, {1: 2}, {"v": "\ud800"}, [1], (1,), "text", 5, None, 2**80]
)
def test_data_that_is_no_plain_mapping_is_refused_and_changes_nothing(data: Any) -> None:
    journal = three()
    with pytest.raises(ValueRejected):
        journal.append_many([("note", {"fine": 1}), ("note", data)])
    assert journal.head == three().head


@pytest.mark.parametrize("word", ["", None, 1, b"x", ["x"], {}])
def test_a_kind_or_stream_that_is_no_word_is_refused_and_changes_nothing(word: Any) -> None:
    journal = three()
    with pytest.raises(BadArgument, match="kind must be a non-empty str"):
        journal.append_many([("fine", {}), (word, {})])
    with pytest.raises(BadArgument, match="stream must be a non-empty str"):
        journal.append("note", {}, stream=word)
    assert journal.head == three().head


def test_many_are_one() -> None:
    one, many = open_journal(), open_journal()
    events = [("note", {"n": n}) for n in range(5)]
    entries = many.append_many(iter(events))
    assert [one.append(kind, data) for kind, data in events] == list(entries)
    assert one.head == many.head
    assert many.append_many([]) == ()
    assert one.head == many.head


def test_events_that_stop_half_way_record_nothing() -> None:
    def events() -> Iterator[tuple[str, Any]]:
        yield "note", {"n": 1}
        raise LookupError

    journal = three()
    with pytest.raises(LookupError):
        journal.append_many(events())
    assert journal.head == three().head


def test_a_failed_storage_records_nothing() -> None:
    journal = Journal(Failing(three().lines()))
    with pytest.raises(AppendFailed, match="full"):
        journal.append("note", {})
    assert journal.head == three().head


def test_expect_refuses_to_build_on_what_was_not_read() -> None:
    journal = open_journal()
    journal.append("note", {"n": 0}, expect=0)
    journal.append_many([("note", {"n": 1})], expect=1)
    for seen in (0, 1, 3):
        with pytest.raises(Conflict, match=f"expected {seen} entries, the journal has 2"):
            journal.append("note", {}, expect=seen)
    with pytest.raises(Conflict):
        journal.append_many([], expect=0)
    assert len(journal) == 2


def test_a_clock_is_inside_the_hash() -> None:
    ticks = iter([(2026, 1), (2026, 2)])
    timed = Journal(MemoryBackend(), clock=lambda: next(ticks))
    plain = open_journal()
    first, second = timed.append("note", {}), timed.append("note", {})
    assert (first.time, second.time, plain.append("note", {}).time) == ((2026, 1), (2026, 2), None)
    assert first.hash != next(plain.entries()).hash
    assert timed.verify(head=timed.head)


def test_the_clock_is_asked_once_an_append() -> None:
    ticks = itertools.count(1)
    journal = Journal(MemoryBackend(), clock=lambda: next(ticks))
    entries = journal.append_many([("note", {}), ("note", {})])
    assert [entry.time for entry in entries] == [1, 1]


@pytest.mark.parametrize(
    ("clock", "error"), [(lambda: float("nan"), ValueRejected), (lambda: 1 // 0, ZeroDivisionError)]
)
def test_a_clock_that_fails_records_nothing(clock: Callable[[], Any], error: type[Exception]) -> None:
    journal = Journal(MemoryBackend(), clock=clock)
    with pytest.raises(error):
        journal.append("note", {})
    assert len(journal) == 0


def test_entries_are_chosen_by_place_kind_and_stream() -> None:
    journal = three()

    def seqs(**which: Any) -> list[int]:
        return [entry.seq for entry in journal.entries(**which)]

    assert seqs() == [0, 1, 2]
    assert (seqs(since=1), seqs(upto=1), seqs(since=1, upto=2), seqs(since=3)) == ([1, 2], [0], [1], [])
    assert (seqs(kind="see"), seqs(kind="note"), seqs(kind="none")) == ([0, 2], [1], [])
    assert (seqs(stream="other"), seqs(stream="main", kind="see", since=1)) == ([1], [2])


@pytest.mark.parametrize(
    ("since", "upto"), [(-1, None), (4, None), (0, 4), (2, 1), (0, -1), (True, None), (0.0, None), (0, "1")]
)
def test_entries_outside_the_journal_are_refused_at_the_call(since: Any, upto: Any) -> None:
    with pytest.raises(BadArgument, match="entries need 0 <= since <= upto <= 3"):
        three().entries(since, upto)


def test_lines_are_as_they_are_stored() -> None:
    journal = three()
    assert list(journal.lines()) == list(journal.backend.lines())
    assert list(journal.lines(1, 2)) == list(journal.lines())[1:2]
    assert list(journal.lines(5)) == []
    for since, upto in ((-1, None), (0, -1), (0, True), ("0", None)):
        with pytest.raises(BadArgument, match="lines need"):
            journal.lines(since, upto)  # type: ignore[arg-type]  # wrong on purpose


def test_a_view_shows_the_past_at_every_place() -> None:
    journal = open_journal()
    heads = [journal.head]
    for n in range(5):
        journal.append("note", {"n": n})
        heads.append(journal.head)
    assert heads[0] == Head(0, GENESIS)
    for place, head in enumerate(heads):
        view = journal.at(place)
        assert (len(view), view.head) == (place, head)
        assert [entry.data["n"] for entry in view.entries()] == list(range(place))
        assert list(view.lines(1)) == list(journal.lines(1, place))
        assert list(view.lines(0, 99)) == list(journal.lines(0, place))
        assert view.verify(head=head)
        assert view.at(place).head == head


def test_a_view_of_the_past_takes_nothing_and_leaves_the_journal_open() -> None:
    journal = three()
    view = journal.at(2)
    for call in (lambda: view.append("note", {}), lambda: view.append_many([]), lambda: view.seal(bytes(32))):
        with pytest.raises(ReadOnly, match="memory at 2 is the past"):
            call()
    view.flush()
    view.close()
    journal.append("note", {})
    assert len(journal) == 4
    with pytest.raises(JournalClosed):
        len(view)


@pytest.mark.parametrize("upto", [-1, 4, True, 1.0, None, "1"])
def test_a_view_outside_the_journal_is_refused(upto: Any) -> None:
    with pytest.raises(BadArgument, match=r"at\(upto\) must be an int in 0..3"):
        three().at(upto)


def test_a_closed_journal_says_so() -> None:
    journal = three()
    journal.close()
    journal.close()
    calls: list[Callable[[], object]] = [
        lambda: journal.append("note", {}),
        lambda: journal.append_many([]),
        lambda: len(journal),
        lambda: journal.head,
        lambda: journal.at(0),
        journal.entries,
        journal.lines,
        journal.verify,
    ]
    for call in calls:
        with pytest.raises(JournalClosed, match="open it again with open_journal"):
            call()
    assert repr(journal) == "<Journal memory: closed>"


def test_a_journal_is_a_context_and_shows_itself() -> None:
    with open_journal() as journal:
        journal.append("note", {})
        assert repr(journal) == "<Journal memory: 1 entries>"
        journal.flush()
    with pytest.raises(JournalClosed):
        journal.append("note", {})


@pytest.mark.parametrize(
    "edit", [lambda line: line.replace(b'"door":2', b'"door":3'), lambda line: b"rubbish", lambda line: line[:-1]]
)
def test_nothing_is_built_on_a_damaged_end(edit: Callable[[bytes], bytes]) -> None:
    lines = list(three().lines())
    journal = Journal(MemoryBackend([*lines[:2], edit(lines[2])]))
    with pytest.raises(BrokenChain, match="entry 2"):
        journal.append("note", {})
    with pytest.raises(BrokenChain, match="entry 2"):
        _ = journal.head
    assert len(journal) == 3


def test_somebody_elses_last_line_is_checked_and_built_on() -> None:
    backend = MemoryBackend()
    one, other = Journal(backend), Journal(backend)
    for n in range(3):
        one.append("note", {"n": n})
        other.append("note", {"n": n})
    assert one.verify(head=other.head).entries == 6


def test_a_backend_may_ask_twice() -> None:
    class Twice(MemoryBackend):
        def extend(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> None:
            build(7, None)
            super().extend(build)

    journal = Journal(Twice())
    assert journal.append("note", {}).seq == 0
    assert journal.verify()


def test_threads_and_journals_on_one_backend_make_one_chain() -> None:
    journal = open_journal()

    def work(name: str) -> None:
        for n in range(100):
            journal.append_many([("note", {"n": n}), ("note", {"n": n})], stream=name)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert journal.verify().entries == 800
    for name in "abcd":
        assert [entry.data["n"] for entry in journal.entries(stream=name)] == [n for n in range(100) for _ in range(2)]


def test_a_journal_can_be_pickled_and_copied() -> None:
    journal = Journal(MemoryBackend(three().lines()), clock=noon)
    for other in (pickle.loads(pickle.dumps(journal)), copy.deepcopy(journal)):
        assert other.append("note", {}).time == "noon"
        assert (len(other), len(journal)) == (4, 3)
        assert other.at(3).head == journal.head
    assert pickle.loads(pickle.dumps(journal.at(2))).head == journal.at(2).head


def test_storage_that_cannot_be_counted_is_a_failed_verification() -> None:
    class Cut(MemoryBackend):
        def __len__(self) -> int:
            raise CutTail("it ends in the middle")

    checked = Journal(Cut()).verify()
    assert (bool(checked), checked.entries, checked.problem) == (False, 0, "it ends in the middle")
    assert checked.failed == "chain"


def test_what_is_recorded_ready_made_is_what_append_records() -> None:
    one, other = open_journal(), open_journal()
    lines = one.record([("note", b'{"n":1}'), ("note", b'{"n":2}')], stream="s", expect=0)
    assert [bytes(entry.raw) for entry in other.append_many([("note", {"n": 1}), ("note", {"n": 2})], stream="s")] == [
        b'{"n":1}',
        b'{"n":2}',
    ]
    assert lines == list(one.lines()) == list(other.lines())
    lines.clear()
    assert len(one) == 2


def test_the_ports_are_what_they_say() -> None:
    assert isinstance(MemoryBackend(), Backend)
    assert isinstance(three().at(1).backend, Backend)
    assert not isinstance(object(), Backend)
    assert all(isinstance(entry, Entry) for entry in three().entries())


def test_a_journal_knows_what_it_recorded_itself_and_in_which_streams() -> None:
    journal = open_journal()
    journal.append("note", {"n": 1}, stream="a")
    journal.append_many([("note", {"n": 2}), ("note", {"n": 3})], stream="b")
    head = journal.append("note", {"n": 4}, stream="a").hash
    assert journal.others(0, 4, "c") == head
    assert journal.others(1, 4, "b") is None
    assert journal.others(3, 4, "b") == head
    assert journal.others(0, 2, "c") is None  # not up to its newest entry
    assert journal.others(4, 4, "c") is None
    assert Journal(journal.backend).others(0, 4, "c") is None
    for n in range(100):
        journal.append("note", {"n": n}, stream="a")
    assert journal.others(0, 104, "c") == journal.head.hash
    Journal(journal.backend).append("note", {"n": 0}, stream="b")
    assert journal.others(0, 105, "c") is None  # somebody else's is the newest
    newest = journal.append("note", {"n": 0}, stream="a").hash
    assert journal.others(105, 106, "b") == newest
    assert journal.others(104, 106, "c") is None  # somebody else's is among them


def test_records_of_several_streams_are_one_transaction() -> None:
    journal = open_journal()
    lines = journal.record_all([("a", "note", b'{"n":1}'), ("b", "note", b'{"n":2}')])
    assert [parse(line).stream for line in lines] == ["a", "b"]
    with pytest.raises(Conflict):
        journal.record_all([("a", "note", b'{"n":3}'), ("b", "note", b'{"n":4}')], expect=1)
    assert len(journal) == 2
    assert journal.others(1, 2, "b") is None
    assert journal.others(1, 2, "a") == journal.head.hash
    assert journal.verify()


def test_a_closed_journal_says_no_length_either() -> None:
    journal = open_journal()
    assert journal.length() == 0
    journal.close()
    with pytest.raises(JournalClosed):
        journal.length()
