"""What to draw in property tests of worlds, maps and journals: plain values, their look-alikes, what is refused, walks.

Each function returns a strategy of Hypothesis, which comes with the extra `testing`. The values are the awkward ones
among the allowed: ints beyond 2**53, `-0.0`, control characters, text beyond the BMP, keys that start with `~`, tuples
in tuples.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot import values as plain
from surefoot.errors import MissingExtra
from surefoot.protocols import Closable, Environment

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = [
    "Walk",
    "actions",
    "look_alikes",
    "not_plain",
    "not_states",
    "scalars",
    "states",
    "texts",
    "values",
    "walks",
]


def texts(*, most: int = 12) -> SearchStrategy[str]:
    """Draw any text but lone surrogates: control characters, combining marks, emoji, a leading `~`, the empty one.

    Args:
        most: the most characters that are drawn; an int >= 1.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5)
        ... @given(texts())
        ... def test(text):
        ...     assert plain.decode(plain.encode(text)) == text
        >>> test()
    """
    st = _st()
    awkward = st.sampled_from(
        [*"~\x00\n\x7f\u2028éß\ufeff", "", "~i", "~l", "~~", "e\u0301", "🦶🏽", "null", "1", "0.0"]
    )
    letters = st.characters(exclude_categories=["Cs"])
    return st.one_of(st.text(letters, max_size=most), awkward)  # type: ignore[no-any-return]  # `st` is loaded at use


def scalars() -> SearchStrategy[Any]:
    """Draw `None`, bools, ints of any size, finite floats and text.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5)
        ... @given(scalars())
        ... def test(value):
        ...     assert plain.decode(plain.encode(value)) == value
        >>> test()
    """
    st = _st()
    edges = [2**53 - 1, 2**53, -(2**53), 2**63, 2**64, 10**100, -(2**4000)]
    floats = st.floats(allow_nan=False, allow_infinity=False)
    return st.one_of(  # type: ignore[no-any-return]  # `st` is loaded at use
        st.none(),
        st.booleans(),
        st.integers(),
        texts(),
        floats,
        st.sampled_from([*edges, *map(float, edges[:6]), 0.0, -0.0, 5e-324, 1e-10, 0.1 + 0.2]),
    )


def states(*, most: int = 8) -> SearchStrategy[Any]:
    """Draw states: scalars, and tuples of states.

    Args:
        most: about how many scalars one state holds; an int >= 1.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5)
        ... @given(states())
        ... def test(state):
        ...     assert plain.decode(plain.encode_state(state)) == state
        >>> test()
    """
    st = _st()
    return st.recursive(scalars(), lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=most)  # type: ignore[no-any-return]  # `st` is loaded at use


def values(*, most: int = 8) -> SearchStrategy[Any]:
    """Draw any plain value: what a state may be, with lists and objects at any place.

    Args:
        most: about how many scalars one value holds; an int >= 1.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5)
        ... @given(values())
        ... def test(value):
        ...     assert plain.decode(plain.encode(value)) == value
        >>> test()
    """
    st = _st()

    def nested(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
        lists = st.lists(inner, max_size=4)
        return st.one_of(lists.map(tuple), lists, st.dictionaries(texts(), inner, max_size=4))  # type: ignore[no-any-return]  # `st` is loaded at use

    return st.recursive(scalars(), nested, max_leaves=most)  # type: ignore[no-any-return]  # `st` is loaded at use


def actions(*, most: int = 8) -> SearchStrategy[Any]:
    """Draw actions: what a state may be, or a call such as `{"name": "cancel", "orders": ["A1"]}`.

    Args:
        most: about how many scalars one action holds; an int >= 1.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5)
        ... @given(actions())
        ... def test(action):
        ...     assert plain.decode(plain.encode_action(action)) == action
        >>> test()
    """
    st = _st()
    named = st.fixed_dictionaries({"name": texts()}).flatmap(
        lambda name: st.dictionaries(texts(), values(most=most), max_size=3).map(lambda rest: {**rest, **name})
    )
    return st.one_of(states(most=most), named)  # type: ignore[no-any-return]  # `st` is loaded at use


def look_alikes() -> SearchStrategy[tuple[Any, Any]]:
    """Draw two different states that Python calls equal, or that look the same as text or as rounded numbers.

    Example:
        >>> from hypothesis import given, settings
        >>> @settings(max_examples=5)
        ... @given(look_alikes())
        ... def test(pair):
        ...     assert plain.encode(pair[0]) != plain.encode(pair[1])
        >>> test()
    """
    st = _st()
    number = st.integers(-(2**60), 2**60)
    finite = st.floats(-1e300, 1e300)
    pairs = st.one_of(
        st.sampled_from([(1, True), (0, False), (1.0, True), (0.0, -0.0), (0, -0.0), ("", None), ("é", "e\u0301")]),
        st.sampled_from([("None", None), ("True", True), ("()", ()), ((), ((),)), (2**53, 2**53 + 1), ("~i", "~~i")]),
        number.map(lambda n: (n, str(n))),
        number.filter(lambda n: int(float(n)) == n).map(lambda n: (n, float(n))),
        finite.map(lambda x: (x, repr(x))),
        finite.map(lambda x: (x, math.nextafter(x, math.inf))),
        states().map(lambda state: (state, (state,))),
    )
    around = st.lists(scalars(), max_size=2)
    wrapped = st.tuples(pairs, around, around).map(lambda drawn: tuple((*drawn[1], one, *drawn[2]) for one in drawn[0]))
    both = st.one_of(pairs, wrapped)
    return both.flatmap(lambda pair: st.sampled_from([pair, pair[::-1]]))  # type: ignore[no-any-return]  # `st` is loaded at use


@dataclass(frozen=True)
class _Point:
    """Stand for the dataclasses that people report as states."""

    x: int = 0


class _Colour(Enum):
    """Stand for the enums that are no text and no number."""

    RED = "red"


def _refused_everywhere() -> list[Any]:
    """Return values that no gate takes."""
    import numpy as np

    endless: list[Any] = []
    endless.append(endless)
    numbers = [
        math.nan,
        math.inf,
        -math.inf,
        1j,
        Decimal("0.1"),
        Fraction(1, 3),
        np.int64(1),
        np.float32(1),
        np.bool_(1),
    ]
    things = [object(), _Point(), _Colour.RED, PurePosixPath("a"), len, int, iter(()), np.zeros(2), range(2), ...]
    return [
        *numbers,
        *things,
        *["\ud800", "a\udcffb"],
        *[b"", b"left", bytearray(b"x"), memoryview(b"x")],
        *[set(), {1, 2}, frozenset({"a"})],
        *[datetime.date(2024, 2, 29), datetime.timedelta(1)],
        *[{1: "a"}, {None: 1}, {(1,): 2}, {True: 1}, {"\ud800": 1}],
        endless,
    ]


def not_plain() -> SearchStrategy[Any]:
    """Draw what `surefoot.values.encode` refuses: by itself, or somewhere in a tuple, a list or an object.

    Example:
        >>> from hypothesis import given, settings
        >>> from surefoot.errors import ValueRejected
        >>> @settings(max_examples=5)
        ... @given(not_plain())
        ... def test(value):
        ...     try:
        ...         plain.encode(value)
        ...     except ValueRejected:
        ...         return
        ...     raise AssertionError(value)
        >>> test()
    """
    st = _st()
    bad = st.sampled_from(_refused_everywhere())
    few = st.lists(values(most=3), max_size=2)

    def nested(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
        among = st.tuples(few, inner, few).map(lambda drawn: [*drawn[0], drawn[1], *drawn[2]])
        return st.one_of(among.map(tuple), among, st.tuples(texts(), inner).map(lambda pair: dict([pair])))  # type: ignore[no-any-return]  # `st` is loaded at use

    return st.one_of(bad, nested(bad), nested(nested(bad)))  # type: ignore[no-any-return]  # `st` is loaded at use


def not_states() -> SearchStrategy[Any]:
    """Draw plain values that cannot be states, because they can be changed: lists, objects, tuples that hold one.

    Example:
        >>> from hypothesis import given, settings
        >>> from surefoot.errors import ValueRejected
        >>> @settings(max_examples=5)
        ... @given(not_states())
        ... def test(value):
        ...     try:
        ...         plain.encode_state(value)
        ...     except ValueRejected:
        ...         return
        ...     raise AssertionError(value)
        >>> test()
    """
    st = _st()
    inside = st.one_of(st.lists(values(most=3), max_size=3), st.dictionaries(texts(), values(most=3), max_size=3))
    few = st.lists(scalars(), max_size=2)
    among = st.tuples(few, inside, few).map(lambda drawn: (*drawn[0], drawn[1], *drawn[2]))
    return st.one_of(inside, among)  # type: ignore[no-any-return]  # `st` is loaded at use


class Walk(NamedTuple):
    """Hold a seed, and actions that were on offer one after the other from `reset(seed)` on.

    Example:
        >>> Walk(0, ["left", "right"]).actions
        ['left', 'right']
    """

    seed: int
    actions: list[Any]


def walks(
    make: Callable[[], Environment[Any, Any]], *, seeds: Sequence[int] = (0, 1), most: int = 30
) -> SearchStrategy[Walk]:
    """Draw walks through an environment, which must be deterministic given its seed.

    Each action is one that was on offer, whether it was refused or not. A walk ends with the episode, or where nothing
    is on offer. Shrinking shortens it and prefers actions that are offered first.

    Args:
        make: returns a fresh environment; it is closed when the walk was drawn.
        seeds: the seeds to draw from.
        most: the most actions of a walk; an int >= 1.

    Example:
        >>> from hypothesis import find
        >>> from surefoot.environments.corridor import Corridor
        >>> find(walks(Corridor), lambda walk: "right" in walk.actions)
        Walk(seed=0, actions=['right'])
    """
    st = _st()

    @st.composite  # type: ignore[untyped-decorator]  # `st` is loaded at use
    def draw_walk(draw: DrawFn) -> Walk:
        walk = Walk(draw(st.sampled_from(list(seeds))), [])
        world = make()
        try:
            state = world.reset(seed=walk.seed)
            for _ in range(draw(st.integers(0, most))):
                options = world.actions(state)
                if not options:
                    break
                action = options[draw(st.integers(0, len(options) - 1))]
                walk.actions.append(plain.copy(action))
                outcome = world.step(action)
                state = outcome.state
                if outcome.done:
                    break
        finally:
            if isinstance(world, Closable):
                world.close()
        return walk

    return draw_walk()  # type: ignore[no-any-return]  # `st` is loaded at use


def _st() -> ModuleType:
    """Return `hypothesis.strategies`.

    Raises:
        MissingExtra: Hypothesis is not installed.
    """
    try:
        import hypothesis.strategies
    except ImportError as error:
        raise MissingExtra.of("hypothesis", extra="testing", what="strategies") from error
    return hypothesis.strategies
