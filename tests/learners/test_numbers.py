"""Numbers in order, against a sorted list."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.learners import numbers
from surefoot.learners.numbers import SortedNumbers

number_st = st.integers(-20, 20) | st.floats(-20, 20)


@pytest.mark.parametrize("block", [2, 512])
@given(
    adds=st.lists(number_st, max_size=60), asked=st.lists(number_st, min_size=1, max_size=10), seed=st.integers(0, 9)
)
def test_agrees_with_a_sorted_list(block: int, adds: list[float], asked: list[float], seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers, "_BLOCK", block)
        held, plain = SortedNumbers(), []
        rng = random.Random(seed)
        for x in adds:
            held.add(x)
            plain.append(x)
            held.span(None, x)  # the sizes are kept up to date from now on
            if rng.random() < 0.3:
                gone = plain.pop(rng.randrange(len(plain)))
                held.remove(gone)
        distinct = sorted(set(plain))
        assert len(held) == len(distinct)
        if distinct:
            assert (held.low, held.high) == (distinct[0], distinct[-1])
        for x in asked:
            below = [y for y in distinct if y <= x]
            above = [y for y in distinct if y >= x]
            assert held.around(x) == (below[-1] if below else None, above[0] if above else None)
            assert (x in held) == (x in distinct)
            assert held.between(x, x + 7) == [y for y in distinct if x < y < x + 7]
            for low, high in ((x, x + 7), (None, x), (x, None), (None, None), (x, x), (x + 1, x)):
                inside = [y for y in distinct if (low is None or low < y) and (high is None or y < high)]
                assert held.span(low, high) == ((len(inside), inside[0], inside[-1]) if inside else None)
