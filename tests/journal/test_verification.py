"""Checking a journal against what you hold: exhaustive, each entry and each cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from surefoot.errors import BadArgument, CutTail
from surefoot.journal import Entry, Head, Journal, Verification
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.journal.chain import GENESIS, label_of, link
from surefoot.journal.verification import examine

COUNT = 8


def journal_of(count: int, word: str = "n") -> Journal:
    journal = Journal(MemoryBackend())
    journal.append_many([("note", {word: n}) for n in range(count)])
    return journal


def verify(lines: Sequence[bytes], head: Head | str | None = None, since: Head | None = None) -> Verification:
    return Journal(MemoryBackend(lines)).verify(head=head, since=since)


def rewritten(lines: Sequence[bytes], place: int) -> list[bytes]:
    """Return a chain that is whole, with another entry at `place` and everything after it computed anew."""
    kept = Journal(MemoryBackend(lines[:place]))
    kept.append("note", {"n": "forged"})
    for line in lines[place + 1 :]:
        entry = next(Journal(MemoryBackend([line])).entries())
        kept.append(entry.kind, entry.data)
    return list(kept.lines())


def test_a_whole_journal_verifies_and_says_its_head() -> None:
    journal = journal_of(3)
    assert journal.verify() == Verification(True, 3, head=journal.head)
    assert journal.verify(head=journal.head).head == journal.head
    assert Journal(MemoryBackend()).verify() == Verification(True, 0, head=Head(0, GENESIS))


def test_a_journal_verifies_against_every_head_it_had() -> None:
    journal = journal_of(COUNT)
    for place in range(COUNT + 1):
        held = journal.at(place).head
        assert journal.verify(head=held)
        assert journal.verify(head=str(held))
        for since in range(COUNT + 1):
            if since <= place:
                checked = journal.verify(head=held, since=journal.at(since).head)
                assert (bool(checked), checked.entries) == (True, COUNT - since)


def test_every_cut_of_the_tail_is_caught_with_a_head_and_only_with_one() -> None:
    journal = journal_of(COUNT)
    lines, head = list(journal.lines()), journal.head
    for length in range(COUNT):
        assert verify(lines[:length])
        checked = verify(lines[:length], head)
        assert (bool(checked), checked.failed, checked.at, checked.entries) == (False, "head", None, length)
        assert "its tail was cut" in str(checked.problem)


def test_every_history_written_anew_is_caught_with_a_head_and_only_with_one() -> None:
    journal = journal_of(COUNT)
    lines, head = list(journal.lines()), journal.head
    for place in range(COUNT):
        forged = rewritten(lines, place)
        assert len(forged) == COUNT
        assert forged[:place] == lines[:place]
        assert forged[place] != lines[place]
        assert verify(forged)
        checked = verify(forged, head)
        assert (bool(checked), checked.failed) == (False, "head")
        assert "its history was written anew" in str(checked.problem)
        assert not verify(forged, since=journal.at(place + 1).head)
        assert verify(forged, journal.at(place).head)


def test_more_entries_than_the_head_names_are_a_journal_that_has_grown() -> None:
    journal = journal_of(3)
    head = journal.head
    journal.append("note", {"n": 3})
    assert journal.verify(head=head)


@pytest.mark.parametrize("place", range(COUNT))
def test_an_edit_is_told_with_its_place(place: int) -> None:
    lines = list(journal_of(COUNT).lines())
    lines[place] = lines[place].replace(b'"n":%d' % place, b'"n":99')
    checked = verify(lines)
    assert (bool(checked), checked.at, checked.entries, checked.failed) == (False, place, place, "chain")
    assert checked.problem == f"entry {place} was edited: its hash does not fit what it says"
    assert checked.head is None


def test_every_removed_doubled_and_swapped_entry_is_caught_with_a_head() -> None:
    journal = journal_of(COUNT)
    lines, head = list(journal.lines()), journal.head
    for i in range(COUNT):
        assert not verify(lines[:i] + lines[i + 1 :], head)
        assert not verify([*lines[: i + 1], *lines[i:]], head)
        if i + 1 < COUNT:
            assert not verify([*lines[:i], lines[i + 1], lines[i], *lines[i + 2 :]], head)


def test_since_reads_only_what_came_after() -> None:
    journal = journal_of(COUNT)
    asked: list[tuple[int, int]] = []

    def lines(first: int, stop: int) -> Iterator[bytes]:
        asked.append((first, stop))
        return journal.lines(first, stop)

    assert examine(lines, COUNT, since=journal.at(5).head)
    assert asked == [(4, 5), (5, COUNT)]
    asked.clear()
    assert examine(lines, COUNT, since=Head(0, GENESIS))
    assert asked == [(0, COUNT)]


def test_since_is_a_head_that_must_fit() -> None:
    journal = journal_of(COUNT)
    lines = list(journal.lines())
    wrong = Head(5, "0" * 64)
    checked = journal.verify(since=wrong)
    assert (bool(checked), checked.failed) == (False, "head")
    assert "entry 4 is not the one that since (000000000000) names" in str(checked.problem)
    assert not journal.verify(since=Head(0, "0" * 64))
    short = verify(lines[:3], since=journal.at(5).head)
    assert short.problem == "the journal ends after 3 entries, since is of 5: its tail was cut"
    assert journal.verify(since=str(journal.head)).entries == 0


def test_the_entry_that_since_names_is_read_again() -> None:
    journal = journal_of(COUNT)
    lines, since = list(journal.lines()), journal.at(5).head
    lines[4] = lines[4].replace(b'"n":4', b'"n":7')
    checked = verify(lines, since=since)
    assert (checked.at, checked.entries, checked.failed) == (4, 0, "chain")


def test_a_head_before_since_is_refused_since_it_is_not_read() -> None:
    journal = journal_of(COUNT)
    with pytest.raises(BadArgument, match="the head you hold is of 2 entries, since is of 5"):
        journal.verify(head=journal.at(2).head, since=journal.at(5).head)


def test_a_line_that_fits_but_is_not_written_as_the_format_writes_is_told() -> None:
    odd = link(1, label_of("main", "note") + b',"kind":"note"', b"{}", journal_of(1).head.hash.encode())[0]
    checked = verify([*journal_of(1).lines(), odd])
    assert checked.problem == "entry 1 is damaged: it is not written as this format writes it"
    rubbish = link(1, label_of("main", "note"), b"{}x", journal_of(1).head.hash.encode())[0]
    assert str(verify([*journal_of(1).lines(), rubbish]).problem).startswith("entry 1 is damaged: not a line of")


def test_storage_that_cannot_be_read_to_the_end_is_no_exception() -> None:
    def lines(first: int, stop: int) -> Iterator[bytes]:
        yield from journal_of(2).lines(first, stop)
        raise CutTail("it ends here")

    checked = examine(lines, 5)
    assert (checked.at, checked.entries, checked.problem) == (2, 2, "entry 2 is damaged: it ends here")


def test_fewer_lines_than_announced_are_a_cut_tail_for_whoever_holds_a_head() -> None:
    whole = journal_of(5)
    checked = examine(lambda first, stop: whole.lines(first, 3), 5, heads=[whole.head])
    assert checked.problem == "the journal ends after 3 entries, the head you hold is of 5: its tail was cut"


def test_every_entry_is_shown_once_it_is_found_to_follow() -> None:
    journal = journal_of(4)
    seen: list[Entry] = []
    assert examine(journal.lines, 4, note=seen.append)
    assert seen == list(journal.entries())


def test_one_of_several_heads_is_enough_to_fail() -> None:
    journal = journal_of(4)
    heads = [journal.at(2).head, Head(3, "0" * 64), journal.head]
    checked = examine(journal.lines, 4, heads=heads)
    assert "after 3 entries the journal is at" in str(checked.problem)
    assert examine(journal.lines, 4, heads=heads[::2])
