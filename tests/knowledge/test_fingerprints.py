"""Digests of functions: equal as long as they would do the same."""

from __future__ import annotations

import functools
import operator
import re
import sys
import textwrap
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import Any

import pytest

from surefoot.knowledge.fingerprints import describe, fingerprint_of

LIMIT = 10
NAMES = ["a"]


def above(limit: Any) -> Callable[[Any], bool]:
    return lambda state: bool(state > limit)


def made(source: str, name: str = "f", **names: Any) -> Any:
    """Return what a source of its own defines."""
    space: dict[str, Any] = {"__name__": "a_script", **names}
    exec(compile(textwrap.dedent(source), "a_script.py", "exec"), space)
    return space[name]


def same(one: Any, other: Any) -> bool:
    return fingerprint_of(one) == fingerprint_of(other)


def test_it_is_a_digest_and_the_same_each_time() -> None:
    assert fingerprint_of(above(1)) == fingerprint_of(above(1))
    assert len(fingerprint_of(above(1))) == 64


def test_two_functions_on_one_line_differ() -> None:
    one, other = (lambda s: s > 1), (lambda s: s > 2)
    assert not same(one, other)
    assert same(one, lambda s: s > 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (above(10), above(100)),
        (above(1), above(True)),
        (above(1), above(1.0)),
        (above((1, [2])), above((1, [3]))),
        (above(float("inf")), above(float("-inf"))),
        (above(b"a"), above(b"b")),
        (above({"a", "b"}), above({"a", "c"})),
        (above({1: above(1)}), above({1: above(2)})),
        (above([above(1)]), above([above(2)])),
        (above(Decimal("0.1")), above(Decimal("0.2"))),
        (above(Fraction(1, 2)), above(Fraction(1, 3))),
        (above(PurePath("a")), above(PurePath("b"))),
        (above(re.compile("a")), above(re.compile("b"))),
        (functools.partial(operator.lt, 1), functools.partial(operator.lt, 2)),
        (functools.partial(operator.lt, 1), functools.partial(operator.gt, 1)),
        (operator.itemgetter("a"), operator.itemgetter("b")),
        ({"a"}.__contains__, {"b"}.__contains__),
        ("abc".startswith, "abd".startswith),
        (len, max),
    ],
)
def test_what_a_function_holds_counts(one: Any, other: Any) -> None:
    assert not same(one, other)
    assert same(one, one)


def test_defaults_count() -> None:
    def one(s: Any, limit: int = 1) -> bool:
        return bool(s > limit)

    def other(s: Any, limit: int = 2) -> bool:
        return bool(s > limit)

    def third(s: Any, *, limit: int = 2) -> bool:
        return bool(s > limit)

    assert len({fingerprint_of(f) for f in (one, other, third)}) == 3


def test_comments_lines_docstrings_and_names_do_not_count() -> None:
    one = made("def f(s):\n    return s['x'] == 'gold'")
    other = made('\n\ndef g(s):\n    """Say."""\n    # look\n    return s["x"] == "gold"', "g")
    assert same(one, other)
    assert not same(one, made("def f(s):\n    return s['x'] == 'iron'"))
    assert not same(made("def f(s):\n    return 'x'"), made("def f(s):\n    return 'y'"))


def test_constants_of_the_code_inside_count() -> None:
    for source in ("lambda s: any(k == '{}' for k in s)", "lambda s: ['{}' for k in s]", "lambda s: (lambda: '{}')()"):
        one, other = (made("f = " + source.format(word)) for word in ("gold", "iron"))
        assert not same(one, other)


def test_an_exception_that_is_caught_counts() -> None:
    source = "def f(s):\n    try:\n        return s[0]\n    except {}:\n        return 0"
    assert not same(made(source.format("KeyError")), made(source.format("IndexError")))


def test_globals_that_it_reads_count() -> None:
    source = "def f(s):\n    return s > LIMIT"
    assert not same(made(source, LIMIT=1), made(source, LIMIT=2))
    assert same(made(source, LIMIT=1, OTHER=1), made(source, LIMIT=1, OTHER=2))


def test_functions_that_it_calls_are_followed_round_a_circle() -> None:
    source = "def g(s):\n    return f(s) if s else {}\ndef f(s):\n    return g(s - 1)"
    one, other = made(source.format(1)), made(source.format(2))
    assert not same(one, other)
    assert same(one, made(source.format(1)))


def test_what_is_installed_counts_by_name() -> None:
    import hypothesis

    assert describe(textwrap.dedent) == ("named", "textwrap.dedent") or describe(textwrap.dedent)[0] == "function"
    held = describe(above(hypothesis.given))
    assert "('named', 'hypothesis" in str(held)
    assert "('module', 'textwrap')" in str(describe(above(textwrap)))
    assert "('named', 'collections.OrderedDict')" in str(
        describe(above(type(sys.modules["collections"].OrderedDict())))
    )


class Limit:
    """A callable with a threshold of its own."""

    __slots__ = ("_most", "unset")

    def __init__(self, most: int) -> None:
        self._most = most

    def __call__(self, state: Any) -> bool:
        return bool(state <= self._most)

    def check(self, state: Any) -> bool:
        return self(state)


class Wider(Limit):
    __slots__ = "more"

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.more = 1


class World:
    """Something that lives."""

    kind = "world"

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts = object()
        self._cell = 0
        self.lock = threading.Lock()

    @property
    def cell(self) -> int:
        return self._cell

    @staticmethod
    def one() -> int:
        return 1

    @classmethod
    def two(cls) -> int:
        return 2

    def check(self, state: Any) -> bool:
        return bool(self._cell)


@dataclass(frozen=True)
class Config:
    _most: int
    check: Callable[[Any], bool] = len  # type: ignore[assignment]  # wrong on purpose


class Colour(Enum):
    RED = object()
    BLUE = object()


def test_a_callable_object_and_a_method_count_with_all_they_hold() -> None:
    for kind in (Limit, Wider):
        assert not same(kind(1), kind(2))
        assert same(kind(1), kind(1))
        assert not same(kind(1).check, kind(2).check)
    assert not same(Limit(1), Wider(1))
    assert not same(Config(1), Config(2))
    assert not same(above(Config(1)), above(Config(2)))
    assert not same(above(Colour.RED), above(Colour.BLUE))
    assert same(above(Colour.RED), above(Colour.RED))


def test_what_lives_counts_by_its_class_and_its_public_values() -> None:
    one, other = World("a"), World("a")
    other._cell = 5
    other.parts = object()
    assert same(above(one), above(other))
    assert not same(above(one), above(World("b")))
    assert not same(above(one), above(Limit(1)))
    assert not same(one.check, other.check), "the object of a bound method is its own"


def test_classes_count_with_their_code() -> None:
    source = "class C:\n    @property\n    def p(self):\n        return {}\nf = lambda s: C().p"
    assert not same(made(source.format(1)), made(source.format(2)))
    assert "surefoot" not in str(describe(above(World)))
    assert {"cell", "one", "two", "check"} <= {part[0] for part in describe(World)[3:]}


def test_decorated_functions_count_by_what_they_wrap() -> None:
    def cached(limit: int) -> Any:
        return functools.cache(above(limit))

    assert not same(cached(1), cached(2))
    assert same(cached(1), cached(1))


def test_what_cannot_be_copied_counts_by_its_class() -> None:
    assert same(above(threading.Lock()), above(threading.Lock()))
    assert same(above(x for x in "ab"), above(y for y in "cd"))
    assert same(above(object()), above(object()))


def test_an_empty_cell_is_no_error() -> None:
    def outer() -> Any:
        def inner() -> Any:
            return later

        if LIMIT < 0:
            later = 1
        return inner

    assert "('empty',)" in str(describe(outer()))


@pytest.mark.untraced
def test_no_id_is_taken_for_something_seen_before() -> None:
    """Things that are made on the way and let go of must not lend their ids to the next."""
    parts = [functools.partial(above(n), object()) for n in range(50)]
    assert len({fingerprint_of(above(parts[:n])) for n in range(50)}) == 50


def test_a_namespace_counts_with_its_values() -> None:
    assert not same(above(types.SimpleNamespace(a=1)), above(types.SimpleNamespace(a=2)))


def test_what_is_copied_by_name_counts_by_it() -> None:
    assert same(above(NotImplemented), above(NotImplemented))
    assert same(above(range(3)), above(range(3)))
    assert not same(above(range(3)), above(range(4)))
