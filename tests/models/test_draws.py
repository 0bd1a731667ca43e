from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import BadArgument
from surefoot.models import draws

U64 = st.integers(0, 2**64 - 1)


@given(U64, U64, st.integers(0, 2**40), st.integers(0, draws.LANES - 1))
def test_one_number_is_the_same_from_python_and_from_numpy(seed: int, episode: int, step: int, lane: int) -> None:
    alone = draws.uniform(seed, episode, step, lane)
    together = draws.uniforms(np.array([seed], np.uint64), np.array([episode], np.uint64), np.array([step]), lane)
    assert [alone] == together.tolist()
    assert 0 <= alone < 1


def test_many_numbers_are_the_same_from_python_and_from_numpy() -> None:
    seeds, episodes = np.arange(4)[:, None], np.arange(5)
    together = draws.uniforms(np.repeat(np.arange(4), 5), np.tile(np.arange(5), 4), 9, draws.OBSERVATION)
    alone = [draws.uniform(int(s), int(e), 9, draws.OBSERVATION) for s in seeds[:, 0] for e in episodes]
    assert together.tolist() == alone
    assert draws.block(3, 2, 0, 50, 1) == [draws.uniform(3, 2, step, 1) for step in range(50)]


def test_known_numbers_stay_what_they_are() -> None:
    """Stored trajectories depend on them: a change here is a change of format."""
    assert [draws.uniform(0, 0, 0), draws.uniform(7, 3, 11, 2), draws.uniform(2**200 + 1, 0, 0)] == KNOWN


KNOWN = [0.4907136960588051, 0.7764260553492344, 0.30389140199994125]


def _chi_square(numbers: np.ndarray, cells: int) -> float:
    """Return how many standard deviations the chi-square statistic is from its mean."""
    counts = np.bincount((numbers * cells).astype(int), minlength=cells)
    expected = len(numbers) / cells
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return (statistic - (cells - 1)) / math.sqrt(2 * (cells - 1))


@pytest.mark.parametrize("axis", ["seed", "episode", "step", "lane"])
def test_numbers_are_uniform_along_each_part_of_the_address(axis: str) -> None:
    n = np.arange(100_000)
    zero = np.zeros_like(n)
    if axis == "lane":
        numbers = np.concatenate([draws.uniforms(1, n[:12_500], 4, lane) for lane in range(draws.LANES)])
    else:
        parts = {name: n if name == axis else zero for name in ("seed", "episode", "step")}
        numbers = draws.uniforms(parts["seed"], parts["episode"], parts["step"])
    assert abs(_chi_square(numbers, 1000)) < 4
    assert abs(numbers.mean() - 0.5) < 4 * math.sqrt(1 / 12 / len(numbers))
    low = (np.floor(numbers * 2**53).astype(np.uint64) & np.uint64(0xFF)).astype(float) / 256
    assert abs(_chi_square(low, 256)) < 4, "the low bits are uniform too"


@pytest.mark.parametrize(
    "shift",
    [{"seeds": 1}, {"episodes": 1}, {"steps": 1}, {"lane": 1}, {"seeds": 1, "episodes": -1}, {"seeds": 1, "steps": -1}],
)
def test_neighbours_are_independent(shift: dict[str, int]) -> None:
    n = np.arange(1, 60_001)
    seeds, episodes, steps = 10 + n % 10, 5 + n // 10 % 60, 3 + n // 600
    one = draws.uniforms(seeds, episodes, steps)
    other = draws.uniforms(
        seeds + shift.get("seeds", 0),
        episodes + shift.get("episodes", 0),
        steps + shift.get("steps", 0),
        shift.get("lane", 0),
    )
    correlation = np.corrcoef(one, other)[0, 1]
    assert abs(correlation) < 4 / math.sqrt(len(n))
    pairs = np.floor(one * 30) / 30 + other / 30
    assert abs(_chi_square(pairs, 900)) < 4


def test_paths_of_neighbouring_seeds_are_not_shifted_copies() -> None:
    paths = [draws.block(seed, 0, 0, 200) for seed in range(8)]
    numbers = [number for path in paths for number in path]
    assert len(set(numbers)) == len(numbers)


def test_big_seeds_are_folded_and_stay_apart() -> None:
    seeds = [7, 2**64 + 7, 2**65 + 7, 2**128 + 7, 7 << 64, 7 << 128]
    assert len({draws.fold_seed(seed) for seed in seeds}) == len(seeds)


@pytest.mark.parametrize("seed", [-1, 1.5, True, None, "7"])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(BadArgument, match="seed must be a whole number >= 0"):
        draws.fold_seed(seed)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("bad", [-1, 0.5, np.array([1, -2])])
def test_addresses_outside_64_bits_are_refused(bad: object) -> None:
    with pytest.raises(BadArgument, match="whole numbers in"):
        draws.uniforms(0, bad, 0)
    with pytest.raises(BadArgument, match="episode must be in"):
        draws.stream(0, -1)


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(sum), min_size=1, max_size=8), st.data())
def test_pick_agrees_with_a_plain_loop(weights: list[list[int]], data: st.DataObject) -> None:
    start = np.concatenate([[0], np.cumsum([len(row) for row in weights])])
    flat = np.array([w / sum(row) for row in weights for w in row])
    sums = draws.cumulative(start, flat)
    rows = data.draw(st.lists(st.integers(0, len(weights) - 1), min_size=1, max_size=10))
    numbers = data.draw(st.lists(st.floats(0, 1, exclude_max=True), min_size=len(rows), max_size=len(rows)))
    got = draws.pick(sums, start[rows], start[np.array(rows) + 1], np.array(numbers))
    for row, number, branch in zip(rows, numbers, got, strict=True):
        place, total = int(start[row]), 0.0
        while True:
            total += flat[place]
            rest = flat[place + 1 : start[row + 1]]
            if number < total or not rest.any():
                break
            place += 1
        assert branch == place
        assert flat[branch] > 0


def test_the_last_branch_that_is_possible_catches_what_rounding_leaves() -> None:
    sums = draws.cumulative([0, 4], [0.1, 0.2, 0.7 - 1e-12, 0.0])
    assert sums.tolist()[2:] == [1.0, 1.0]
    low, high = np.array([0]), np.array([4])
    assert draws.pick(sums, low, high, np.array([1 - 2**-53])).tolist() == [2]
