from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.agent.guards import LONGEST, TIMES, cycle_of, looping


@pytest.mark.parametrize("length", range(1, LONGEST + 1))
def test_a_cycle_of_any_length_up_to_32_is_seen_when_it_was_walked_three_times(length: int) -> None:
    lap = list(range(length))
    assert cycle_of([99, *lap * TIMES]) == length
    assert cycle_of([99, *lap * TIMES][:-1]) == 0
    steps = [(b"%d" % n, b"go", b"%d" % ((n + 1) % length)) for n in range(length)]
    assert looping(lap * TIMES, steps, b"0") == b"go"
    assert looping(lap * TIMES, steps, b"7000") is None


def test_a_longer_cycle_is_not_looked_for() -> None:
    assert cycle_of(list(range(LONGEST + 1)) * TIMES) == 0


def test_the_same_action_with_other_effects_is_no_cycle() -> None:
    steps = [(b"%d" % n, b"press", b"%d" % (n + 1)) for n in range(9)]
    assert looping(list(range(9)), steps, b"9") is None


@given(st.lists(st.integers(0, 2), max_size=40))
def test_it_agrees_with_the_definition(trail: list[int]) -> None:
    def walked(length: int) -> bool:
        laps = [trail[len(trail) - (n + 1) * length : len(trail) - n * length] for n in range(TIMES)]
        return len(trail) >= TIMES * length and laps[0] == laps[1] == laps[2]

    assert cycle_of(trail) == next((n for n in range(1, LONGEST + 1) if walked(n)), 0)
