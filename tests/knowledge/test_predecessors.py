"""Which claims lead to a state."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from surefoot.knowledge.predecessors import Predecessors


@pytest.mark.parametrize("claims", [10, 6000])
def test_predecessors_of_small_and_large_maps(claims: int) -> None:
    to = array("i", [n % 7 if n % 5 else -1 for n in range(claims)])
    found = Predecessors(to, 7)
    assert sorted(found.of(3)) == [n for n, t in enumerate(to) if t == 3]
    found.add(1, 3)
    assert 1 in found.of(3)
    found.add(2, 9)  # a state that came later
    assert found.of(9) == [2]
    assert found.of(8) == []


def test_predecessors_that_are_sorted_already_are_taken_as_they_are() -> None:
    to = array("i", [n % 7 for n in range(6000)])
    order = np.argsort(np.array(to), kind="stable").astype(np.int32)
    assert sorted(Predecessors(to, 7, order).of(3)) == [n for n, t in enumerate(to) if t == 3]
