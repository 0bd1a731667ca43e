"""Spans and marks."""

from __future__ import annotations

from math import inf

import pytest

from surefoot.knowledge.store_marks import ALWAYS, Marks, as_interval, bounds


@pytest.mark.parametrize(
    ("valid", "span"),
    [((1, 2.5), (1, 2.5)), ((None, 2), (-inf, 2)), ((1, None), (1, inf)), ((10**400, None), (10**400, inf))],
)
def test_spans_go_both_ways(valid: tuple[float | None, float | None], span: tuple[float, float]) -> None:
    assert bounds(valid) == span
    assert as_interval(span) == valid


def test_always_is_no_interval() -> None:
    assert bounds(None) == ALWAYS
    assert as_interval(ALWAYS) is None


def test_ages_with_one_more() -> None:
    marks = Marks()
    assert marks.with_one_more(5, 1, 8, others=False) == (5, -1, 8)
    marks.first, marks.confirmed, marks.fades = 5, -1, 8
    assert marks.with_one_more(6, 2, 7, others=True) == (5, 6, 8)
    assert marks.with_one_more(6, 2, 9, others=True) == (5, 6, 9)
    assert marks.with_one_more(6, 1, None, others=True) == (5, -1, None)
    marks.fades = None
    assert marks.with_one_more(6, 1, 9, others=True) == (5, -1, None)


def test_marks_are_equal_when_all_is() -> None:
    one, other = Marks(), Marks()
    assert one == other
    assert one.blank
    other.flags.append(3)
    assert one != other
    assert not other.blank
    assert one != 3
