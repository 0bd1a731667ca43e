from __future__ import annotations

from typing import Any

import pytest

from surefoot import values
from surefoot.testing._probe import Item, Kept, Vandal, brief, first_difference, own


def test_a_vandal_changes_everything_and_takes_it_back() -> None:
    inner: list[Any] = [1, 2]
    value: dict[str, Any] = {"list": inner, "pair": (inner, {"a": []}), "text": "x"}
    value["again"] = inner
    before = values.copy(value)
    vandal = Vandal()
    vandal.hurt((value, [value]))
    assert value == {"changed": "by the caller"}
    assert inner == ["changed by the caller"]
    assert vandal.hits >= 4
    vandal.mend()
    assert value == before
    assert inner == [1, 2]
    vandal.mend()
    assert value == before


def test_a_vandal_leaves_alone_what_cannot_be_changed_and_survives_what_holds_itself() -> None:
    endless: list[Any] = []
    endless.append(endless)
    vandal = Vandal()
    for value in (None, 1, "text", (), ((1,), "a"), frozenset({1})):
        vandal.hurt(value)
    assert vandal.hits == 0
    vandal.hurt(endless)
    vandal.mend()
    assert endless[0] is endless


def test_what_was_kept_is_looked_at_again() -> None:
    item, kept = Item(b'"up"', b"0"), Kept()
    things: list[list[int]] = [[n] for n in range(10)]
    for thing in things:
        kept.add(thing, "the effect", item, None)
    assert kept.changed() is None
    things[0].append(1)
    assert kept.changed(recent=9) is None
    broken = kept.changed(recent=10)
    assert broken is not None
    assert broken.expected == "the effect after step('up') stays [0]"
    assert (broken.happened, broken.differs) == ("now it is [0, 1]", "$ has 1 items, then 2")


def test_what_is_not_plain_any_more() -> None:
    thing: dict[str, Any] = {}
    kept = Kept()
    kept.add(thing, "the state", Item(None, b"{}"), b"{}")
    kept.add({"not": {"plain"}}, "the info", Item(None, b"{}"), None)
    assert kept.changed() is None
    thing["set"] = {1}
    broken = kept.changed()
    assert broken is not None
    assert broken.expected == "the state after reset(...) stays {}"
    assert broken.happened.startswith("now it is not plain any more: $.set is {1}")


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ((1, "a"), (1, "a"), ""),
        ((1, True), (1, 1), "state[1] is the bool True, then the int 1"),
        (0.0, -0.0, "state is the float 0.0, then the float -0.0"),
        ([1], (1,), "state is the list [1], then the tuple (1,)"),
        ((1,), (1, 2), "state has 1 items, then 2"),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "state['a']['b'][1] is the int 2, then the int 3"),
        ({"a": 1}, {"a": 1, "b": 2}, "state['b'] is in one of them only"),
        ({"a": 1}, {"a": 1}, ""),
    ],
)
def test_the_first_difference(one: object, other: object, says: str) -> None:
    assert first_difference(one, other, "state") == says


def test_a_value_in_brief() -> None:
    class Shy:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert brief("x" * 10) == "'xxxxxxxxxx'"
    long = brief("a" * 500 + "z")
    assert len(long) == 120
    assert long.endswith("az'")
    assert brief(Shy()) == "<Shy, whose repr raises RuntimeError>"


def test_ones_own_action_is_found_by_its_exact_value() -> None:
    here = [1, True, {"b": 2, "a": 1}]
    codes = [values.encode(option) for option in here]
    assert own(codes[2], here, codes) is here[2]
    assert own(codes[1], here, codes) is True
    assert own(codes[2], here[::-1], codes) is here[2]
    assert own(codes[0], [True, 1], codes) == 1
    assert type(own(codes[0], [True, 1], codes)) is int
    assert own(b'"up"', here, codes) == "up"
