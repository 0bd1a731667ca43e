"""Loops that are written out do what loops do, and are made from numbers alone."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.learners import _unrolled as module
from surefoot.learners._unrolled import coder, reader
from surefoot.learners.vocabulary import Vocabulary


class Text(str):
    """Equal to a text, and yet none: it may change."""


values = st.sampled_from(["a", "b", "c", "never met", Text("a"), 1, 1.0, True, None, ("a",)])


def at(n: int, state: Any, args: Any) -> Any:
    return state[n]


def naive(held: list[Any], tables: list[dict[str, int]]) -> tuple[int, ...] | None:
    """Loop."""
    if any(type(value) is not str for value in held):
        return None
    return tuple(table[value] for value, table in zip(held, tables, strict=True))


@given(st.lists(values, min_size=1, max_size=5))
def test_codes_are_those_of_the_loop(held: list[Any]) -> None:
    tables = [{"a": 3 * n, "b": 3 * n + 1, "c": 3 * n + 2} for n in range(len(held))]
    try:
        expected = naive(held, tables)
    except KeyError:
        with pytest.raises(KeyError):
            coder(len(held))(held, tables)
    else:
        assert coder(len(held))(tuple(held), tables) == expected


@pytest.mark.parametrize("width", [1, 2, 300])
def test_any_number_of_conditions_is_read_and_coded(width: int) -> None:
    read = reader([partial(at, n) for n in range(width)])
    state = tuple("ab"[n % 2] for n in range(width))
    tables = [{"a": n, "b": n + width} for n in range(width)]
    assert read(state, {}) == state
    assert coder(width)(state, tables) == naive(list(state), tables)


def test_no_text_of_a_user_becomes_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, the action, the state and the arguments are never run."""
    run: list[str] = []

    def recorded(text: str, names: dict[str, Any]) -> Any:
        run.append(text)
        return eval(text, names)

    monkeypatch.setattr(module, "eval", recorded, raising=False)
    hostile = '), __import__("os").abort(), ('
    predicates = {name: lambda state, args: args[state] for name in (hostile, "read_0(state, args)", "b\n")}
    vocabulary = Vocabulary(predicates, hard={hostile: hostile}, only={hostile + "only": [hostile]})
    for action, width in ((hostile, 3), (hostile + "only", 1)):
        assert vocabulary.features(hostile, action, {hostile: hostile}) == (hostile,) * width
    assert run == [f"lambda state, args: ({''.join(f'read_{n}(state, args), ' for n in range(w))})" for w in (3, 1)]
