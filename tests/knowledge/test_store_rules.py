"""Who wins on a key, against the definition for every pair."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from surefoot.knowledge.items import OUTCOME
from surefoot.knowledge.store_columns import name_of
from surefoot.knowledge.store_competing import Details
from surefoot.knowledge.store_fold import StoreFold
from surefoot.knowledge.store_rules import Rivals, beats, closes, overlap, overlapping, stand, supersedes

row_st = st.tuples(
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from([None, None, (0, 2), (1, 3), (2, None), (None, 1)]),
    st.sampled_from([None, None, 0, 1, 2]),
)


def filled(rows: list[Any], dated: bool) -> StoreFold:
    fold = StoreFold()
    items: dict[int, int] = {}
    for value, rank, valid, replaced in rows:
        other = items.get(replaced, -1)
        supersedes_ = (other,) if other >= 0 and replaced != value else ()
        details = Details(valid=valid if dated else None, supersedes=supersedes_)
        row = fold.add(name_of(b"1", b'"is"', b"null"), 0, b"%d" % value, rank, b"", 0, details)
        items.setdefault(value, fold.row_item[row])
    return fold


@given(st.lists(row_st, max_size=9), st.booleans())
def test_what_stands_is_beaten_by_nothing_that_stands(rows: list[Any], dated: bool) -> None:
    fold = filled(rows, dated)
    every = list(range(len(fold.row_item)))

    def of_others(a: int, b: int) -> bool:
        return fold.row_item[a] != fold.row_item[b]

    sure, likely = stand(fold, 0, every) if every else (set(), set())
    assert sure == likely
    for b in every:
        kept = any(supersedes(fold, a, b) for a in every)
        assert (b in sure) is not (kept or any(of_others(a, b) and beats(fold, a, b) for a in sure))
    pairs = {frozenset(pair) for pair in overlapping(fold, every)}
    assert pairs == {frozenset((a, b)) for a in every for b in every if of_others(a, b) and overlap(fold, a, b)}
    for given_ in (set(), sure, set(every)):
        free = Rivals(fold, 0, every).unbeaten(lambda row: True, given_.__contains__)
        assert free == {b for b in every if not any(of_others(a, b) and beats(fold, a, b) for a in given_)}


def test_beating() -> None:
    fold = filled([(0, OUTCOME, (0, 2), None), (1, OUTCOME, (1, 3), None), (2, 1, (2, 4), None)], True)
    table = [[beats(fold, a, b) for b in range(3)] for a in range(3)]
    assert table == [[False, False, False], [True, False, True], [False, False, False]]


def test_closing_needs_a_later_beginning_and_no_premise() -> None:
    fold = StoreFold()
    name = name_of(b"1", b'"is"', b"null")
    base = fold.add(name_of(b"2", b'"is"', b"null"), 0, b"1", 2, b"", 0)
    old = fold.add(name, 0, b"0", 1, b"", 1)
    made = {
        label: fold.add(name, 0, b"%d" % n, rank, b"", 2, Details(premises, (1,), valid))
        for n, (label, rank, valid, premises) in enumerate(
            [
                ("closes", 1, (5, None), ()),
                ("open", 1, (None, 9), ()),
                ("weak", 0, (5, None), ()),
                ("resting", 1, (5, None), (0,)),
            ],
            start=1,
        )
    }
    assert base == 0
    assert {label: closes(fold, row, old) for label, row in made.items()} == {
        "closes": True,
        "open": False,
        "weak": False,
        "resting": False,
    }
    assert not closes(fold, old, made["closes"])
    assert fold.spans[old][1] == 5
