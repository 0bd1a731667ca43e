from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import values
from surefoot.cli.spelling import action_of, nearest, safe, spelled, state_of, words_of
from surefoot.errors import BadArgument, ValueRejected

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
STATES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)
ACTIONS = st.recursive(
    STATES, lambda inner: st.dictionaries(st.text(max_size=3), inner | st.lists(inner, max_size=2), max_size=3)
)


@given(STATES)
def test_what_is_shown_can_be_typed_back_exactly(state: Any) -> None:
    text = spelled(state)
    assert values.encode(state_of(text)) == values.encode(state)
    assert text.isprintable()


@given(ACTIONS)
def test_so_can_actions(action: Any) -> None:
    assert values.encode(action_of(spelled(action))) == values.encode(action)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("docs/index.md", "docs/index.md"),
        ("15", "15"),
        ("true", "true"),
        ("=15", 15),
        ("=15.0", 15.0),
        ("=true", True),
        ("=null", None),
        ('= [ "git" , "remote" ]', ("git", "remote")),
        ("=[[0, 1], []]", ((0, 1), ())),
        ('="=15"', "=15"),
        ("=123456789012345678901234567890", 123456789012345678901234567890),
        ('={"~i":"-0x20000000000000"}', -(2**53)),
        ("", ""),
    ],
)
def test_the_rule(text: str, value: Any) -> None:
    got = state_of(text)
    assert (got, type(got)) == (value, type(value))


def test_an_object_is_an_action_and_its_marks_are_read() -> None:
    assert action_of('={"name":"pick","ids":{"~l":[1,2]}, "~~x":1}') == {"name": "pick", "ids": [1, 2], "~x": 1}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("=docs", r"'=docs' is not JSON after the '=' .* or for the text itself '=\"=docs\"'"),
        ("=", "is not JSON after the '='"),
        ('={"a":1,"a":2}', r"a key stands twice in the object with the keys \['a', 'a'\]"),
        ('={"~i":"zz"}', "'zz' is no hexadecimal number"),
        ("=" + "[" * 100_000, "is not JSON after the '='"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_way_out(text: str, says: str) -> None:
    with pytest.raises(BadArgument, match=says):
        action_of(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("=NaN", "not a finite number"),
        ("=1e999", "not a finite number"),
        ('={"a":1}', "a mapping cannot be a state"),
        ('={"~l":[1]}', "a list cannot be a state"),
        ("caf\udce9", "a lone surrogate is not text"),
    ],
)
def test_the_gate_refuses_what_is_no_state(text: str, says: str) -> None:
    with pytest.raises(ValueRejected, match=says):
        state_of(text)


def test_what_a_terminal_might_obey_is_made_visible() -> None:
    assert safe("a\x1b[2J\x9b\u202e\nb") == "a\\x1b[2J\\x9b\\u202e\\nb"
    assert spelled(("link", "\x1b[31mred")) == '=["link","\\u001b[31mred"]'
    assert words_of({"title": "\x07"}) == '{"title":"\\u0007"}'
    assert spelled(" padded ") == '=" padded "'
    assert spelled("") == '=""'
    assert json.loads(spelled("\x85")[1:]) == "\x85"


def test_the_nearest_are_those_that_hold_the_text_then_those_that_look_alike() -> None:
    known = ["docs/index.md", "docs/reference/index.md", "src/main.py", ("git", "remote"), ("git", "remote", "add"), 15]
    assert nearest("index.md", known) == ["docs/index.md", "docs/reference/index.md"]
    assert nearest("docs/indx.md", known)[0] == "docs/index.md"
    assert nearest("git remote", known) == ['=["git","remote"]', '=["git","remote","add"]']
    assert nearest("GIT REMOTE", known, most=1) == ['=["git","remote"]']
    assert nearest("15", known, most=1) == ["=15"]
    assert nearest("zzz", known) == []
    assert nearest("a", []) == []


def test_the_nearest_of_many_are_found_among_those_of_like_length() -> None:
    known = [f"{'x' * 200}{number}" for number in range(5_000)]
    assert nearest("attic", [*known, "atttic"]) == ["atttic"]
