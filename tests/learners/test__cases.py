"""One case: its key, its shape, its effects, its group."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.learners._cases import EFFECTS, NO_EFFECTS, VARIED, Case, Group, Shape, counted, exact, pair, places
from surefoot.learners.vocabulary import MISSING


@given(st.integers(0, 2**70))
def test_places_are_those_of_the_bits(bits: int) -> None:
    assert list(places(bits)) == [n for n in range(71) if bits >> n & 1]


def test_a_pair_has_one_form() -> None:
    assert pair(3, 1) == pair(1, 3) == ("pair", 1, 3)


def test_look_alikes_are_apart() -> None:
    values: list[Any] = [0, False, 0.0, -0.0, "0", None, (0,), (False,), MISSING]
    assert len({repr(exact(value)) for value in values}) == len(values)


@given(st.lists(st.sampled_from([b"%d" % n for n in range(EFFECTS + 3)]), max_size=60), st.randoms())
def test_effects_are_counted_in_any_order(effects: list[bytes], rng: Any) -> None:
    def count(given: list[bytes]) -> dict[bytes, int]:
        held = NO_EFFECTS
        for effect in given:
            held = counted(held, effect, 1)
        return dict(held)

    shuffled = [*effects]
    rng.shuffle(shuffled)
    assert count(effects) == count(shuffled)
    distinct = set(effects)
    naive = {effect: effects.count(effect) for effect in distinct}
    assert count(effects) == (naive if len(distinct) <= EFFECTS else {VARIED: len(effects)})
    half = len(effects) // 2
    merged = count(effects[:half])
    for effect, times in count(effects[half:]).items():
        merged = dict(counted(merged, effect, times))
    assert merged == count(effects)


def test_no_case_shares_its_effects() -> None:
    one, other = Case(("a",)), Case(("b",))
    one.effects = counted(one.effects, b"1", 1)
    assert (dict(one.effects), dict(other.effects)) == ({b"1": 1}, {})
    with pytest.raises(TypeError):
        NO_EFFECTS[b"1"] = 1  # type: ignore[index]  # wrong on purpose


def test_a_shape_takes_the_labels_out() -> None:
    kinds = (str, int, float, tuple, type(MISSING), bool)
    shape = Shape(kinds, {1}, [{} for _ in kinds])
    assert (shape.sign, shape.numbers, shape.places, shape.unread) == ("sif-mb", [1, 2], [0, 3, 4, 5], (4,))
    assert shape.held(("a", 1, 2.0, ("x",), MISSING, True)) == ["a", b'["x"]', MISSING, True]
    one = Shape((float, str), set(), [{}, {}])
    assert list(one.held((1.0, "a"))) == ["a"]


def test_a_group_sorts_when_it_is_asked() -> None:
    group = Group([0])
    for x in (1.0, 5.0, 1.0):
        group.admit((x,))
    assert group.accepted_cases == 3
    assert group.gap(0, 3.0) is None
    assert len(group.accepted[0]) == 2
