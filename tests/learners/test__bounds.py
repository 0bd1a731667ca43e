from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from scipy.special import bdtrik, betaincinv

from surefoot.learners._bounds import METHODS, missing_mass, successor_bounds, tightened

CASES = [
    np.array([1.0]),
    np.array([0.5, 0.5]),
    np.array([1 / 3, 1 / 3, 1 / 3]),
    np.array([0.9, 0.06, 0.03, 0.01]),
    np.array([0.999, 0.001]),
    np.full(40, 1 / 40),
]


def most_of(runs: int, rate: float) -> int:
    """Return so many misses of so many runs that more come about once in 10,000 times at that rate."""
    return ceil(bdtrik(0.9999, runs, rate))


def missed(method: str, odds: np.ndarray, tried: int, error: float, runs: int, seed: int) -> int:
    """Return in how many simulated learnings of one choice some interval, or the mass of the unseen, is wrong."""
    seen = np.random.default_rng(seed).multinomial(tried, odds, size=runs)
    size = seen.size
    lower, upper = successor_bounds(
        method, seen.ravel(), np.full(size, tried, np.int64), np.full(size, error / 2, np.float64)
    )
    truth = np.tile(odds, runs)
    outside = ((truth < lower) | (truth > upper)).reshape(seen.shape) & (seen > 0)
    kinds = (seen > 0).sum(axis=1)
    rest = missing_mass(kinds, np.full(runs, tried, np.int64), np.full(runs, error / 2), anytime=method == "anytime")
    unseen = np.where(seen == 0, odds, 0.0).sum(axis=1) > rest
    return int((outside.any(axis=1) | unseen).sum())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tried", [5, 60])
def test_the_intervals_of_a_choice_hold_at_least_as_often_as_stated(method: str, tried: int) -> None:
    for n, odds in enumerate(CASES):
        runs = 400
        limit = most_of(runs, 0.1)  # so many misses and more are all but impossible at the nominal rate
        assert missed(method, odds, tried, 0.1, runs, seed=n) <= limit


@pytest.mark.nightly
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tried", [1, 7, 50, 1000])
def test_coverage_over_many_learnings(method: str, tried: int) -> None:
    for n, odds in enumerate(CASES):
        assert missed(method, odds, tried, 0.1, 20_000, seed=n) <= 2000


def test_a_band_that_is_half_as_wide_is_found_out() -> None:
    """The test above can fail: with half the width the intervals of a fair coin miss more than stated."""
    seen = np.random.default_rng(0).binomial(60, 0.5, size=400)
    lower, upper = successor_bounds("clopper-pearson", seen, np.full(400, 60), np.full(400, 0.1))
    half = (upper - lower) / 4
    middle = (lower + upper) / 2
    assert ((middle - half > 0.5) | (middle + half < 0.5)).sum() > most_of(400, 0.1)


def test_clopper_pearson_is_the_textbook_interval_where_the_share_of_a_successor_is_known() -> None:
    """The share of p is `error * p`: with p at an end of the interval the tail there is half of that."""
    seen, tried, error = np.array([37]), np.array([100]), np.array([0.05])
    lower, upper = successor_bounds("clopper-pearson", seen, tried, error)
    assert betaincinv(37, 64, 0.05 * lower[0] / 2) == pytest.approx(lower[0], abs=1e-9)
    assert betaincinv(38, 63, 1 - 0.05 * upper[0] / 2) == pytest.approx(upper[0], abs=1e-9)


def test_one_success_has_no_lower_end_and_all_successes_no_upper_end() -> None:
    for method in METHODS:
        lower, upper = successor_bounds(method, np.array([1, 9]), np.array([9, 9]), np.array([0.05, 0.05]))
        assert lower[0] == 0.0
        assert upper[1] == 1.0


def test_anytime_intervals_hold_at_all_times_at_once() -> None:
    """Each walk is looked at after every step; a fixed-time interval is left by far more walks than it states."""
    numbers = np.random.default_rng(3)
    runs, steps, error = 200, 300, 0.2
    heads = (numbers.random((runs, steps)) < 0.5).cumsum(axis=1)
    tried = np.broadcast_to(np.arange(1, steps + 1), heads.shape)
    left = {}
    for method in ("anytime", "clopper-pearson"):
        seen, total = heads.ravel().astype(np.int64), tried.ravel().astype(np.int64)
        lower, upper = successor_bounds(method, seen, total, np.full(len(seen), error))
        left[method] = int(((lower > 0.5) | (upper < 0.5)).reshape(heads.shape).any(axis=1).sum())
    assert left["anytime"] <= most_of(runs, error / 2)  # one successor of probability 1/2 has half the error
    assert left["clopper-pearson"] > most_of(runs, error / 2)


def test_missing_mass_of_one_kind_is_what_the_geometric_law_says() -> None:
    """One kind: of n sets of one try each, all other n - 1 tries fell on it; its share is a half."""
    (mass,) = missing_mass(np.array([1]), np.array([100]), np.array([0.05]))
    assert 100 * (1 - mass) ** 99 == pytest.approx(0.025)


def test_missing_mass_is_all_where_every_try_led_elsewhere() -> None:
    assert missing_mass(np.array([5]), np.array([5]), np.array([0.05])).tolist() == [1.0]


def test_tightened_keeps_every_distribution_that_was_inside() -> None:
    numbers = np.random.default_rng(1)
    for _ in range(50):
        odds = numbers.dirichlet(np.ones(4))
        lower, upper = odds * numbers.random(4), odds + (1 - odds) * numbers.random(4)
        low, high = tightened(np.array([0, 4]), lower, upper)
        assert (low >= lower).all()
        assert (high <= upper).all()
        assert (low <= odds + 1e-12).all()
        assert (high >= odds - 1e-12).all()


def test_no_branches_have_no_bounds() -> None:
    none = np.zeros(0, np.int64)
    assert [len(one) for one in successor_bounds("anytime", none, none, np.zeros(0))] == [0, 0]
    assert len(tightened(np.array([0]), np.zeros(0), np.zeros(0))[0]) == 0
