"""Plain values, exactly: equal bytes mean equal values, different bytes different values, and nothing else gets in."""

from __future__ import annotations

import collections
import copy
import datetime
import decimal
import enum
import hashlib
import json
import math
import os
import pickle
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from surefoot import values
from surefoot.errors import ValueRejected
from surefoot.testing import strategies
from surefoot.values import ExactDict, decode, digest, encode, encode_action, encode_state, name_of_path, path_of_name

SAFE = 2**53 - 1

# -- what is drawn --

texts = strategies.texts()
scalars = strategies.scalars()
keys = st.one_of(texts, st.sampled_from(["~", "~~", "~l", "~i", "", "a", "é", "\U0001f5fa", "\uffff"]))
states = strategies.states()
plain = strategies.values()


def same(one: Any, other: Any) -> bool:
    """Say whether two plain values are the same: the definition."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


def look_alike(value: Any) -> list[Any]:
    """Return values that are easily taken for `value`."""
    alike: list[Any] = [str(value), (value,), [value], {"": value}]
    if isinstance(value, bool | int) and abs(value) < 2**1000:
        alike += [float(value), int(value), bool(value), -value, 0 - value]
    if isinstance(value, float):
        alike += [-value, int(value), bool(value), math.nextafter(value, math.inf)]
    if isinstance(value, tuple | list):
        alike += [list(value), tuple(value), *([look_alike(value[0])[0], *value[1:]] for _ in value[:1])]
    if isinstance(value, dict):
        alike += [{"~" + key: item for key, item in value.items()}, list(value.items()), {**value, "~l": []}]
    return [item for item in alike if not isinstance(item, float) or math.isfinite(item)]


def nest(depth: int, kind: str) -> Any:
    value: Any = 7
    for n in range(depth):
        which = kind if kind != "mixed" else ("tuple", "list", "dict")[n % 3]
        value = (value,) if which == "tuple" else [value] if which == "list" else {"k": value}
    return value


# -- the encoding --


@pytest.mark.parametrize(
    ("value", "encoding"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-5, "-5"),
        (SAFE, "9007199254740991"),
        (-SAFE, "-9007199254740991"),
        (SAFE + 1, '{"~i":"0x20000000000000"}'),
        (-SAFE - 1, '{"~i":"-0x20000000000000"}'),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (1e16, "1e+16"),
        (1e-7, "1e-07"),
        ("", '""'),
        ('"\\/\n\t\x00\x1f', '"\\"\\\\/\\n\\t\\u0000\\u001f"'),
        ("été 🗺 \x7f\u2028", '"été 🗺 \x7f\u2028"'),
        ((), "[]"),
        ((1,), "[1]"),
        ((1, (2, "x"), None), '[1,[2,"x"],null]'),
        ((1, 2**60), '[1,{"~i":"0x1000000000000000"}]'),
        ((1, 2.0), "[1,2.0]"),
        ([], '{"~l":[]}'),
        ([1, [2]], '{"~l":[1,{"~l":[2]}]}'),
        ({}, "{}"),
        ({"b": 1, "a": {}}, '{"a":{},"b":1}'),
        (("/a", {"b": 1, "a": (True, "x")}, None), '["/a",{"a":[true,"x"],"b":1},null]'),
        (("/a", {"b": 1.0, "a": 1e16}), '["/a",{"a":1e+16,"b":1.0}]'),
        (("/a", {"~": 2**60}), '["/a",{"~~":{"~i":"0x1000000000000000"}}]'),
        ({"a": (1, 2**60)}, '{"a":[1,{"~i":"0x1000000000000000"}]}'),
        ({"a": 2**60}, '{"a":{"~i":"0x1000000000000000"}}'),
        ({"~": 1, "~l": 2, "~~": 3}, '{"~~":1,"~~l":2,"~~~":3}'),
        ({"é": 1, "z": 2, "\U0001f5fa": 3, "\uffff": 4}, '{"z":2,"é":1,"\uffff":4,"\U0001f5fa":3}'),
    ],
)
def test_the_encoding_is_fixed_to_the_byte(value: object, encoding: str) -> None:
    """Old journals load for ever: none of these may ever read otherwise."""
    assert encode(value) == encoding.encode()
    assert same(decode(encoding.encode()), value)


@given(plain)
@example((10, 2**53, "x" * 40))
@example(("\ue000", 2**63))
@example({"": (), "~": [], "\x7f": 0.5, "}": {"~l": None}, "~~": (1e16, [True], -0.0), "\ue000": 1, "\U0001f5fa": 2})
def test_every_value_reads_back_the_same(value: Any) -> None:
    data = encode(value)
    assert values._encode_deep(value, "a plain value") == data  # the definition, step by step
    assert same(decode(data), value)
    assert encode(decode(data)) == data
    json.loads(data)  # any reader can read it


@given(plain, plain)
def test_equal_bytes_mean_equal_values(one: Any, other: Any) -> None:
    assert (encode(one) == encode(other)) == same(one, other)


@given(strategies.look_alikes())
def test_drawn_look_alikes_stay_apart(pair: tuple[Any, Any]) -> None:
    assert encode_state(pair[0]) != encode_state(pair[1])


@given(strategies.not_plain())
def test_what_is_not_plain_is_refused_wherever_it_is(value: Any) -> None:
    for gate in (encode, encode_action, encode_state):
        with pytest.raises(ValueRejected, match=r"^\$"):
            gate(value)


@given(strategies.not_states())
def test_what_could_change_is_no_state(value: Any) -> None:
    encode(value)
    with pytest.raises(ValueRejected, match="cannot be a state"):
        encode_state(value)


@given(plain)
def test_look_alikes_stay_apart(value: Any) -> None:
    for other in look_alike(value):
        assert (encode(value) == encode(other)) == same(value, other), other
        assert (digest(value) == digest(other)) == same(value, other)


def test_look_alikes_that_others_mix_up_stay_apart() -> None:
    alike: list[object] = [
        1,
        True,
        1.0,
        "1",
        "True",
        (1,),
        [1],
        {"1": 1},
        0,
        False,
        0.0,
        -0.0,
        "",
        (),
        [],
        {},
        None,
        "null",
    ]
    alike += [
        0.1,
        0.1 + 4e-10,
        math.nextafter(0.1, 1),
        2**53,
        2**53 + 1,
        float(2**53),
        "é",
        "e\u0301",
        ((),),
        {"~l": (1,)},
    ]
    alike += [{"~i": "0x20000000000000"}, ("~i", "0x1"), {"a": {"b": 1}}, {"a": (("b", 1),)}]
    assert len({encode(value) for value in alike}) == len(alike)
    assert len({digest(value) for value in alike}) == len(alike)


@given(st.dictionaries(keys, scalars, min_size=2))
def test_the_order_of_keys_means_nothing(value: dict[str, Any]) -> None:
    assert encode(dict(reversed(value.items()))) == encode(value)


json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-SAFE, SAFE), st.floats(allow_nan=False, allow_infinity=False), texts
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(texts.filter(lambda key: not key.startswith("~")), inner, max_size=4),
    ),
)


@given(json_values)
def test_without_lists_big_ints_and_marks_it_is_the_json_that_python_writes(value: Any) -> None:
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert json.loads(encode(value)) == json.loads(written)
    if "\x7f" not in written and "\\u00" not in written:
        assert encode(value).decode() == written.replace("\\b", "\\b")


@given(plain)
def test_a_digest_is_the_whole_sha256(value: Any) -> None:
    assert digest(value) == hashlib.sha256(encode(value)).hexdigest()


@given(plain)
def test_a_copy_is_independent(value: Any) -> None:
    before = encode(value)
    made = values.copy(value)
    assert same(made, value)
    if isinstance(made, list | dict):
        made.clear()
    assert encode(value) == before


@given(st.lists(plain, max_size=6), st.randoms())
def test_all_values_have_one_order(items: list[Any], random: Any) -> None:
    shuffled = items[:]
    random.shuffle(shuffled)
    ordered = sorted(shuffled, key=values.order)
    assert [encode(item) for item in ordered] == [encode(item) for item in sorted(items, key=values.order)]


# -- what gets in as something simpler --


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Place(NamedTuple):
    x: int
    y: float


class Text(str):
    def __str__(self) -> str:
        return "a lie"


class Whole(int):
    def __repr__(self) -> str:
        return "a lie"


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (np.float64(0.1), 0.1),
        (np.str_("x"), "x"),
        (Place(1, 2.0), (1, 2.0)),
        (Text("x"), "x"),
        (Whole(5), 5),
        ((Colour.RED, Whole(5)), ("red", 5)),
        ([Colour.RED, None, True, False], ["red", None, True, False]),
        (collections.OrderedDict(b=1, a=2), {"a": 2, "b": 1}),
        (collections.defaultdict(list, {"a": [1]}), {"a": [1]}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (ExactDict([("a", 1)]), {"a": 1}),
        ({Colour.RED: 1}, {"red": 1}),
        (collections.UserDict({"a": 1}), {"a": 1}),
    ],
)
def test_what_is_a_plain_value_under_another_name_is_taken_as_that(given: Any, taken: Any) -> None:
    assert encode(given) == encode(taken)
    assert same(values.copy(given), taken)


# -- what is refused --


@dataclass
class Point:
    x: int


class Mood(enum.Enum):
    GOOD = object()


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (NAN, "$ is nan: not a finite number; leave it out or use None"),
        (INF, "$ is inf: not a finite number"),
        ((1, -INF), "$[1] is -inf: not a finite number"),
        ([(), {"a": [NAN]}], "$[1].a[0] is nan"),
        ({"a b": {"c": NAN}}, "$['a b'].c is nan"),
        ("\ud800", "$ is '\\ud800': a lone surrogate is not text; for a file name use surefoot.values.name_of_path"),
        (("x", "\udcff"), "$[1] is '\\udcff': a lone surrogate"),
        (("x", {"a": "\ud800"}), "$[1].a is '\\ud800': a lone surrogate"),
        ({"\ud800": 1}, "$['\\ud800'] is '\\ud800': a lone surrogate"),
        ({"a": {"x\udfff": 1}}, "$.a['x\\udfff'] is 'x\\udfff': a lone surrogate"),
        (b"x", "$ is b'x': bytes is not a plain value; use text, .hex(), or name_of_path() for a file name"),
        (bytearray(b"x"), "bytearray is not a plain value; use text"),
        (memoryview(b"x"), "memoryview is not a plain value; use text"),
        ({1}, "$ is {1}: set has no order; use tuple(sorted(it))"),
        ((frozenset(),), "$[0] is frozenset(): frozenset has no order"),
        (Point(1), "is not a plain value; use dataclasses.astuple() or .asdict()"),
        (np.int64(3), "numpy.int64 is not a plain value; use .tolist() or .item(), int() or float()"),
        (np.bool_(True), "numpy.bool is not a plain value; use .tolist() or .item()"),
        (np.float32(0.5), "numpy.float32 is not a plain value; use .tolist() or .item()"),
        (np.zeros(2), "numpy.ndarray is not a plain value; use .tolist() or .item()"),
        (range(3), "range is not a plain value"),
        (Mood.GOOD, "Mood is not a plain value; use its .value"),
        (decimal.Decimal(1), "decimal.Decimal is not a plain value; use str, int, float, bool, None, or tuples"),
        (datetime.date(2026, 1, 1), "datetime.date is not a plain value"),
        (1j, "complex is not a plain value"),
        (object, "type is not a plain value"),
        (len, "builtin_function_or_method is not a plain value"),
        (iter(()), "tuple_iterator is not a plain value"),
        ({1: "x"}, "$ has the key 1: keys of an object are str; use str(key), or a tuple of pairs"),
        (({"a": {None: 1}},), "$[0].a has the key None: keys of an object are str"),
        ({(1, 2): "x"}, "$ has the key (1, 2): keys of an object are str"),
    ],
)
def test_what_is_not_plain_is_refused_with_the_place_and_the_mend(value: Any, message: str) -> None:
    for gate in (encode, encode_action, digest, values.copy, values.order):
        if gate is encode_action and isinstance(value, list):
            continue
        with pytest.raises(ValueRejected) as caught:
            gate(value)
        assert message in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
    str(caught.value).encode()


@pytest.mark.parametrize("value", [[], {"a": 1}, (1, [2]), ({},), (1, (2, ({"a": 1},)))])
def test_a_state_holds_no_list_and_no_mapping(value: Any) -> None:
    with pytest.raises(ValueRejected, match=r"a (list|mapping) cannot be a state; use a tuple"):
        encode_state(value)


def test_an_action_holds_lists_only_inside_objects() -> None:
    assert encode_action({"name": "go", "to": [1, (2, [3])]}) == encode({"name": "go", "to": [1, (2, [3])]})
    assert encode_action(({"a": [1]}, 2)) == encode(({"a": [1]}, 2))
    for value in ([1], (1, [2]), ({"a": [1]}, [2])):
        with pytest.raises(ValueRejected, match="a list cannot be an action; use a tuple"):
            encode_action(value)


@given(states)
def test_a_state_is_also_an_action_and_a_value(value: Any) -> None:
    assert encode_state(value) == encode_action(value) == encode(value)


def test_what_contains_itself_is_refused() -> None:
    loop: list[Any] = [1]
    loop.append((loop,))
    ring: dict[str, Any] = {"a": {}}
    ring["a"]["b"] = ring
    for value, place in ((loop, r"\$\[1\]\[0\]"), (ring, r"\$\.a\.b")):
        with pytest.raises(ValueRejected, match=f"{place} contains itself: a plain value is finite"):
            encode(value)


def test_the_same_part_twice_is_no_loop() -> None:
    part: list[Any] = [1]
    value = {"a": part, "b": (part, part, [part])}
    assert same(values.copy(value), value)
    assert values.copy(value)["a"] is not values.copy(value)["b"][0]


def test_a_refusal_is_short_whatever_was_given() -> None:
    with pytest.raises(ValueRejected) as caught:
        encode({"a": {i for i in range(100_000)}})
    assert len(str(caught.value)) < 200


# -- what is no encoding --

DEEP = sys.getrecursionlimit() + 200
NOT_WHEN_DEEP = (b"",)


NOT_ENCODINGS = [
    b"",
    b" 1",
    b"1 ",
    b"01",
    b"-0",
    b"+1",
    b"1.",
    b"1.00",
    b"1E5",
    b"1e5",
    b"1e400",
    b"NaN",
    b"Infinity",
    b"9007199254740992",
    b"1" * 400,
    b"1" * 5000,
    b"nul",
    b"True",
    b'"a',
    b'"\\u0061"',
    b'"\\/"',
    b'"\\ud800"',
    b'"\xff"',
    b"\xff",
    b"[1,]",
    b"[1, 2]",
    b"[1",
    b'{"b":1,"a":2}',
    b'{"a":1,"a":1}',
    b'{"a": 1}',
    b'{"~a":1}',
    b'{"~":1}',
    b'{"~l":1}',
    b'{"~l":{}}',
    b'{"~l":[1],"a":2}',
    b'{"~i":1}',
    b'{"~i":"5"}',
    b'{"~i":"0x5"}',
    b'{"~i":"0X20000000000000"}',
    b'{"~i":"0x020000000000000"}',
    b'{"~i":"0x2000_0000000000"}',
    b'{"~i":"rubbish"}',
    b"[1]]",
    b"1 1",
]


@pytest.mark.parametrize("data", NOT_ENCODINGS)
def test_what_is_not_the_encoding_to_the_byte_is_refused(data: bytes) -> None:
    with pytest.raises(ValueRejected, match="is not the encoding of a plain value"):
        decode(data)


@pytest.mark.untraced
@pytest.mark.parametrize("data", [data for data in NOT_ENCODINGS if data not in NOT_WHEN_DEEP])
def test_nor_is_it_taken_however_deep_it_is(data: bytes) -> None:
    for deep in (b"[" * DEEP + data + b"]" * DEEP, b'{"~l":[' * DEEP + data + b"]}" * DEEP):
        with pytest.raises(ValueRejected, match="is not the encoding of a plain value"):
            decode(deep)


def test_a_deep_one_is_refused_whatever_is_wrong_with_it() -> None:
    for data in (b"1 ", b"[1", b'{"~a":1}', b'{"~i":"rubbish"}', b'{"~i":"0x020000000000000"}'):
        with pytest.raises(ValueRejected, match="is not the encoding of a plain value"):
            decode(b"[" * DEEP + data + b"]" * DEEP)


@given(st.binary(max_size=20))
def test_bytes_are_an_encoding_to_the_byte_or_refused(data: bytes) -> None:
    try:
        value = decode(data)
    except ValueRejected:
        return
    assert encode(value) == data


@given(plain, st.data())
def test_an_encoding_with_one_byte_changed_is_another_value_or_refused(value: Any, draw: st.DataObject) -> None:
    data = bytearray(encode(value))
    place = draw.draw(st.integers(0, len(data) - 1))
    data[place] ^= draw.draw(st.integers(1, 255))
    try:
        other = decode(bytes(data))
    except ValueRejected:
        return
    assert not same(other, value)
    assert encode(other) == data


# -- depth and size --


@pytest.mark.untraced
@pytest.mark.parametrize("kind", ["tuple", "list", "dict", "mixed"])
def test_depth_is_no_limit(kind: str) -> None:
    depth = 11_000 if kind == "tuple" else 3_000  # Python nests calls 1,000 deep, and C at most 10,000
    read = decode(encode(nest(depth, kind)))
    for _ in range(depth):
        read = read["k"] if isinstance(read, dict) else read[0]
    assert read == 7


def test_a_deep_place_is_told() -> None:
    value: Any = NAN
    for _ in range(1000):
        value = (value,)
    with pytest.raises(ValueRejected) as caught:
        encode(value)
    assert str(caught.value).startswith("$[0][0]")
    assert "is nan: not a finite number" in str(caught.value)


class Rude:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([10**5000], r"\$ is a list: a list cannot be a state; use a tuple"),
        (nest(20_000, "list"), r"\$ is a list: a list cannot be a state"),
        ({"k": nest(20_000, "dict")}, r"\$ is a dict: a mapping cannot be a state"),
        (Rude(), r"\$ is a Rude: .*Rude is not a plain value"),
    ],
)
def test_what_cannot_be_shown_is_refused_all_the_same(value: Any, message: str) -> None:
    with pytest.raises(ValueRejected, match=message):
        encode_state(value)


def test_the_place_is_short_however_deep() -> None:
    value: Any = NAN
    for _ in range(3_000):
        value = (value,)
    with pytest.raises(ValueRejected, match="nan: not a finite number") as caught:
        encode(value)
    assert len(str(caught.value)) < 300


@pytest.mark.untraced
def test_names_in_any_script_cost_the_same_at_any_depth() -> None:
    value: Any = {}
    for _ in range(3_000):
        value = {"é": value}
    assert decode(encode(value)).keys() == {"é"}


def test_values_of_any_depth_have_an_order() -> None:
    assert values.order(nest(2_000, "mixed"))[1] == encode(nest(2_000, "mixed"))


@pytest.mark.untraced
def test_deep_values_with_all_kinds_of_leaves_read_back() -> None:
    leaves: tuple[Any, ...] = (
        1,
        2**70,
        -0.0,
        'a"]}é\\',
        "",
        None,
        True,
        [],
        {},
        (),
        [1, 2],
        {"~k": 1, "b": (2.5,)},
        "~l",
    )
    value: Any = leaves
    for n in range(2_000):
        value = {"k": value, "~n": n} if n % 2 else (value, [n])
    assert encode(decode(encode(value))) == encode(value)


@pytest.mark.untraced
def test_large_values_are_taken() -> None:
    for value in (
        "x" * 1_000_000,
        tuple(range(100_000)),
        {str(n): n for n in range(10_000)},
        10**5000,
        (1, -(7**9000)),
    ):
        assert same(decode(encode(value)), value)
        assert values.order(value)[1] == encode(value)


# -- names of files --


@given(st.binary(min_size=1))
@example(b"caf\xe9 100%")
@example(b"%41%")
@example(b"%25")
@example("é%é".encode())
@example(b"\xff\xfe/\x80")
def test_any_name_of_a_file_is_a_plain_value_and_comes_back(name: bytes) -> None:
    given_ = name_of_path(name)
    encode_state(given_)
    assert os.fsencode(path_of_name(given_)) == name
    assert name_of_path(path_of_name(given_)) == given_


@given(st.binary(min_size=1), st.binary(min_size=1))
def test_different_names_of_files_stay_different(one: bytes, other: bytes) -> None:
    assert (name_of_path(one) == name_of_path(other)) == (one == other)


def test_real_files_with_any_name_are_found_again(tmp_path: Path) -> None:
    for name in (b"plain", b"caf\xe9", "café".encode(), b"100%", b"%41", b"\xff\xfe", b" \n\t", b"a\\b"):
        raw = os.path.join(os.fsencode(tmp_path), name)
        with open(raw, "wb") as file:
            file.write(name)
        state = decode(encode_state(name_of_path(raw)))
        assert Path(path_of_name(state)).read_bytes() == name
    assert name_of_path(Path("a") / "b") == "a/b"
    assert {name_of_path(name) for name in os.listdir(os.fsencode(tmp_path))} == {
        name_of_path(name) for name in os.listdir(tmp_path)
    }


@pytest.mark.parametrize("name", ["%", "a%", "%4", "%4x", "100%%", "% 1", "%1 ", "%é", "%\n\n", "%+1"])
def test_a_name_that_no_file_gave_is_refused(name: str) -> None:
    with pytest.raises(ValueRejected, match="is no name of a file: a % must be followed by two hex digits"):
        path_of_name(name)


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueRejected, match="a lone surrogate is not text"):
        path_of_name("\udcff")
    with pytest.raises(ValueRejected, match="5 is no name of a file: it is no text"):
        path_of_name(5)  # type: ignore[arg-type]  # wrong on purpose


# -- the mapping with exact keys --


@given(st.lists(st.tuples(plain, st.integers()), max_size=8), plain)
def test_an_exact_dict_is_a_dict_over_encodings(pairs: list[tuple[Any, int]], probe: Any) -> None:
    exact = ExactDict(pairs)
    naive = {encode(key): (key, value) for key, value in pairs}
    assert len(exact) == len(naive)
    assert [(encode(key), value) for key, value in exact.items()] == [
        (data, value) for data, (_, value) in naive.items()
    ]
    assert [encode(key) for key in exact] == list(naive) == [encode(key) for key in exact.keys()]
    assert list(exact.values()) == [value for _, value in naive.values()]
    for key, _ in [*pairs, (probe, 0)]:
        assert (key in exact) == (encode(key) in naive)
        assert exact.get(key, "none") == naive.get(encode(key), (0, "none"))[1]
    assert exact == ExactDict(reversed(list(exact.items())))
    assert (exact == ExactDict([*pairs, ("another key", 1)])) == (naive.get(b'"another key"', (0, 0))[1] == 1)


def test_an_exact_dict_keeps_look_alikes_apart() -> None:
    exact = ExactDict([(1, "int"), (True, "bool"), (1.0, "float"), ("1", "text"), ((1,), "tuple"), (-0.0, "minus")])
    assert [exact[key] for key in (1, True, 1.0, "1", (1,), -0.0)] == ["int", "bool", "float", "text", "tuple", "minus"]
    for missing in (0.0, 0, False, (True,), [1], "2"):
        assert missing not in exact
        with pytest.raises(KeyError, match=r"^"):
            exact[missing]
    assert repr(ExactDict([(1, "a"), ("b", None)])) == "{1: 'a', 'b': None}"


def test_an_exact_dict_compares_with_mappings_and_nothing_else() -> None:
    assert ExactDict([("a", 1)]) == {"a": 1}
    assert ExactDict([(1, 1)]) != {True: 1}
    assert ExactDict([("a", 1)]) != {"a": 2}
    assert ExactDict() != 5
    assert ExactDict() == {}
    assert ExactDict().__eq__(5) is NotImplemented
    assert ExactDict() != {object(): 1}


def test_what_cannot_be_a_key_is_not_in_an_exact_dict() -> None:
    exact = ExactDict([("a", 1)])
    assert b"a" not in exact
    assert exact.get({1, 2}) is None
    with pytest.raises(KeyError):
        exact[NAN]
    with pytest.raises(ValueRejected, match="is nan"):
        ExactDict([(NAN, 1)])
    with pytest.raises(TypeError, match="unhashable"):
        hash(exact)
    with pytest.raises(TypeError):
        exact["a"] = 2  # type: ignore[index]  # wrong on purpose


def test_an_exact_dict_can_be_copied_and_pickled() -> None:
    exact = ExactDict([(1, ["int"]), (True, ["bool"])])
    for other in (pickle.loads(pickle.dumps(exact)), copy.deepcopy(exact)):
        assert other == exact
        other[1].append("changed")
        assert exact[1] == ["int"]
    assert copy.copy(exact) == exact


def test_the_parser_is_the_one_that_was_tested() -> None:
    """What the fast path counts on: how msgspec writes text and ints."""
    assert (
        msgspec.json.encode(("\x7f\u2028é/", SAFE, True, None))
        == '["\x7f\u2028é/",9007199254740991,true,null]'.encode()
    )
