"""The language of edits: what they say, what they do, and how they are read off two states."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import values
from surefoot.errors import BadArgument, ValueRejected
from surefoot.learners.effects import Arg, Edit, EffectRule, Field, apply_edits, diff

scalar_st = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["a", "b", "x y"]), st.sampled_from([0.0, -0.0, 0.5])
)
state_st = st.recursive(
    scalar_st,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3),
        st.lists(parts, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abc"), parts, max_size=3),
        st.dictionaries(st.sampled_from("abc"), parts, max_size=3).map(lambda d: tuple(sorted(d.items()))),
    ),
    max_leaves=12,
)


@given(state_st, state_st)
def test_the_edits_of_two_states_make_one_out_of_the_other(before: Any, after: Any) -> None:
    kept = values.encode(before)
    edits = diff(before, after)
    assert values.encode(apply_edits(before, edits)) == values.encode(after)
    assert values.encode(before) == kept
    assert (edits == []) == (kept == values.encode(after))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"n": 1}, {"n": 3}, ["add 2 to n"]),
        ({"n": 1}, {"n": 1.0}, ["set n to 1.0"]),
        ({"n": 0.3}, {"n": 0.4}, ["add 0.1 to n"]),
        ({"n": True}, {"n": False}, ["set n to False"]),
        ({"n": 1e300}, {"n": -1e300}, ["subtract 2e+300 from n"]),
        ({"n": 1.7e308}, {"n": -1.7e308}, ["set n to -1.7e+308"]),
        ({"a b": {"c": 1}}, {"a b": {}}, ["delete ['a b'].c"]),
        (("hall", ()), ("yard", (("log", 1),)), ["set [0] to 'yard'", "set [1].log to 1"]),
        ([1, 3], [1, 2, 3], ["insert 2 into $"]),
        ([9, 10], [9, 10, 11], ["append 11 to $"]),
        (["b", "a"], ["b", "c", "a"], ["set $ to ['b', 'c', 'a']"]),
        ([1, 2, 1], [1, 2], ["set $ to [1, 2]"]),
        ([2, 1], [2], ["remove 1 from $"]),
        ([1, 2], [1, 5], ["add 3 to [1]"]),
        ((), [], ["set $ to []"]),
    ],
)
def test_edits_are_read_off_as_deep_as_can_be(before: Any, after: Any, words: list[str]) -> None:
    edits = diff(before, after)
    assert [str(edit) for edit in edits] == words
    assert values.encode(apply_edits(before, edits)) == values.encode(after)


def test_edits_take_arguments_and_fields() -> None:
    state = {"gold": 9, "shop": {"axe": {"price": 4}}, "bag": ["bow"]}
    price = Field(("shop", Arg("what"), "price"))
    program = [Edit("subtract", ("gold",), price), Edit("append", ("bag",), Arg("what"))]
    assert apply_edits(state, program, {"what": "axe"}) == {**state, "gold": 5, "bag": ["bow", "axe"]}
    assert str(program[0]) == "subtract shop[{what}].price from gold"
    assert program[0].to_json()["value"] == {"field": ["shop", {"arg": ["what"]}, "price"]}
    assert pickle.loads(pickle.dumps(program)) == program


def test_all_edits_read_the_state_before_the_first() -> None:
    swap = [Edit("set", ("a",), Field(("b",))), Edit("set", ("b",), Field(("a",)))]
    assert apply_edits({"a": 1, "b": 2}, swap) == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("edit", "args", "message"),
    [
        (Edit("add", ("name",), 1), {}, "cannot add 1 to name: there is 'Kim'"),
        (Edit("delete", ("age",)), {}, "cannot delete age: there is nothing"),
        (Edit("remove", ("bag",), "axe"), {}, r"cannot remove 'axe' from bag: there is \['bow', 'awl'\]"),
        (Edit("insert", ("bag",), "axe"), {}, "cannot insert"),
        (Edit("lose", ("n",), 3), {}, "cannot lose 3 of n: there is 2"),
        (Edit("append", ("n",), 3), {}, "cannot append"),
        (Edit("set", ("n",), Arg("x")), {}, r"there is no \{x\}"),
        (Edit("set", ("n",), Field(("y", Arg("x")))), {"x": 1}, r"there is no y\[\{x\}\]"),
        (Edit("set", (Arg("x"),), 1), {"x": 1.5}, r"\{x\} is 1.5: a step of a path is a text or an int"),
    ],
)
def test_an_edit_that_cannot_be_made_says_so(edit: Edit, args: dict[str, Any], message: str) -> None:
    state = {"name": "Kim", "n": 2, "bag": ["bow", "awl"]}
    with pytest.raises(BadArgument, match=message):
        apply_edits(state, [edit], args)


def test_what_is_no_edit_and_what_is_not_plain_is_refused() -> None:
    with pytest.raises(BadArgument, match="do must be one of"):
        Edit("double", ("n",))
    with pytest.raises(ValueRejected, match="set has no order"):
        diff({"a": {1}}, {})


def test_counts_are_not_there_while_they_are_zero() -> None:
    assert apply_edits({}, [Edit("gain", ("log",), 2)]) == {"log": 2}
    assert apply_edits({"log": 2}, [Edit("lose", ("log",), 2)]) == {}


def test_a_rule_is_one_line() -> None:
    rule = EffectRule("roll", "lit is True", None, 4, False, (("add 1 to n", 3), ("add 2 to n", 1)))
    assert str(rule) == "when lit is True: it varies: add 1 to n (3 of 4), or add 2 to n (1 of 4)"
    assert str(EffectRule("wait", "", (), 1, True, ())) == "nothing changes (1 call)"
    assert str(EffectRule("roll", "", None, 99, False, ())) == "it varies: too many different effects to list"
    assert EffectRule("roll", "", None, 99, False, ()).confidence == 0.0
