"""Bounds, tests and sentences."""

from __future__ import annotations

from math import comb, isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.learners._cases import VARIED
from surefoot.learners._judging import difference, exceeds, excess, likelihood, never, refusals, sign_test, summary_of


@pytest.mark.parametrize(
    ("accepted", "refused", "verdict"),
    [
        (1, 1, "unknown"),
        (5, 1, "unknown"),
        (9, 1, "accept"),
        (1, 9, "refuse"),
        (900, 100, "accept"),
        (100, 900, "refuse"),
    ],
)
def test_the_side_of_one_half(accepted: int, refused: int, verdict: str) -> None:
    share, slack = accepted / (accepted + refused), (log(40) / 2 / (accepted + refused)) ** 0.5
    assert sign_test(accepted, refused, (share - slack, share + slack)) == verdict


def test_the_exact_test_is_the_binomial_one() -> None:
    for times in range(2, 51):
        for few in range(times // 2 + 1):
            chance = sum(comb(times, k) for k in range(few + 1)) / 2**times
            assert (sign_test(times - few, few, (0, 1)) == "accept") == (chance <= 0.025 and few < times - few)


def test_a_rate_of_its_own_needs_more_refusals() -> None:
    assert excess(90, 1, 900, 10) == 0.0
    assert excess(50, 50, 990, 10) > 50
    assert isclose(likelihood(1, 1), 2 * log(0.5))
    assert likelihood(3, 0) == 0.0


def test_words() -> None:
    assert (refusals(1), refusals(2)) == ("1 refusal", "2 refusals")
    assert difference({"a": {"x": 1}}, {"a": {"x": 1}}) == ""
    assert difference({"a": {"x": 1}}, {"a": {"y": 1}}) == "a differ in ['x', 'y']"
    assert difference({"a": 1}, {"a": 2}) == "a is 1 here and 2 there"


@given(st.integers(0, 10**6), st.integers(0, 3000), st.integers(0, 10**6), st.integers(0, 3000), st.floats(0.1, 20.0))
def test_far_from_the_limit_no_logarithm_is_needed(a: int, b: int, c: int, d: int, limit: float) -> None:
    if a + b:
        assert exceeds(a, b, c, d, limit) == (excess(a, b, c, d) > limit)


def test_what_is_said_of_refusals_and_effects() -> None:
    assert never("a is 'x'", 1) == "a is 'x', never accepted (1 refusal)"
    assert never("a is 'x'", 2) == f"a is 'x', never accepted ({refusals(2)})"
    assert summary_of({}) == 0
    assert summary_of({b"1": 2}) == [[1, 2]]
    assert summary_of({b"1": 2, b"2": 1}) == 2
    assert summary_of({VARIED: 40}) == "more than 16"
