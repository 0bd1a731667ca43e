"""The numbers of states, in the order in which they are found: 1, True and 1.0 stay apart, in tuples too."""

from __future__ import annotations

import contextlib
import itertools
import marshal
import operator
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from surefoot.errors import BadModel

__all__ = ["PLAIN", "WORDS", "Numbering", "show"]

WORDS = frozenset({str, int})
"""The types of values that are equal only where they are the same."""
PLAIN = frozenset({str, int, float, bool, complex, bytes, type(None)})
_TUPLES = frozenset({tuple})
_KEYED = WORDS | {tuple, bool, float, type(None), bytes, complex}


class Numbering:
    """Give states their numbers.

    A text, an integer, and a tuple of those is its own key, as long as there is nothing in any tuple that is equal to
    one of those without being one (True, 1.0).

    Args:
        limit: how many states are allowed; None: any number.
        source: what leads to the state, for messages.
    """

    def __init__(self, limit: int | None, source: Callable[[], str]) -> None:
        self._limit, self._source = limit, source
        self.states: list[Any] = []
        self.worded = True
        """Say whether every tuple so far holds texts and integers only, and is its own key."""
        self._regular = True  # until something else than tuples of integers is met
        self._fresh = itertools.count()
        self._numbers: dict[Any, int] = defaultdict(self._fresh.__next__)  # what is looked up and new gets the next

    def number(self, state: Any) -> int:
        """Return the number of a state; a new one gets the next.

        Raises:
            BadModel: it cannot be hashed, or is one too many.
        """
        kind = type(state)
        try:
            if kind is tuple and self.worded and not set(map(type, state)) <= WORDS:
                self._key_exactly()
            if kind in WORDS or (kind is tuple and self.worded):
                key = state
            else:
                key = _key(state, kind) if kind in _KEYED else (kind, state)
            found = self._numbers.get(key)
        except TypeError:
            raise _unhashable(state, self._source) from None
        return self._enter(state, key) if found is None else found

    def number_all(self, states: list[Any]) -> Sequence[int]:
        """Return the numbers of many states, at least one; new ones get the next.

        Raises:
            BadModel: one of them cannot be a state, or is one too many.
        """
        if self.worded and self._regular:
            self._regular = _are_rows_of_integers(states)
            if self._regular:
                return self._number_words(states)
        kinds = set(map(type, states))
        if kinds == _TUPLES and self.worded and not set(map(type, itertools.chain.from_iterable(states))) <= WORDS:
            self._key_exactly()
        if kinds <= WORDS or (kinds == _TUPLES and self.worded):
            return self._number_words(states)
        keys: Sequence[Any] = ()
        if kinds == _TUPLES:
            with contextlib.suppress(ValueError):  # a tuple with an object in it
                keys = list(map(marshal.dumps, states, itertools.repeat(2)))
        if not keys:
            return list(map(self.number, states))
        for key, state in dict(zip(keys, states, strict=True)).items():
            if key not in self._numbers:
                self._enter(state, key)
        return list(map(self._numbers.__getitem__, keys))

    def _number_words(self, states: list[Any]) -> Sequence[int]:
        """Return the numbers of states that are their own keys."""
        first, before = len(self.states), len(self._numbers)
        many = states if len(states) > 1 else states * 2  # one number alone would be no tuple
        found: tuple[int, ...] = operator.itemgetter(*many)(self._numbers)
        added = len(self._numbers) - before
        if added:
            fresh = list(itertools.islice(reversed(self._numbers), added))
            if self._limit is not None and first + added > self._limit:
                for state in fresh:
                    del self._numbers[state]
                self._fresh = itertools.count(first)
                self._numbers = defaultdict(self._fresh.__next__, self._numbers)
                return list(map(self.number, states))  # until there is one too many
            self.states.extend(reversed(fresh))
        return found[: len(states)]

    def _key_exactly(self) -> None:
        """From now on keep 1, True and 1.0 apart in tuples too: the first tuple is there that holds more than words."""
        self.worded = False
        exact = {_key(key, tuple) if _is_worded(key) else key: one for key, one in self._numbers.items()}
        self._numbers = defaultdict(self._fresh.__next__, exact)

    def _enter(self, state: Any, key: Any) -> int:
        """Return the number of a state that is not there yet."""
        try:
            hash(state)
        except TypeError:
            raise _unhashable(state, self._source) from None
        plain = _without_numpy(state)
        number = len(self.states)
        if plain is not state:
            number = self.number(plain)  # one state with Python's own numbers
        elif number == self._limit:
            raise BadModel(
                f"there are more than limit={self._limit} states; {self._source()} leads to one more, {show(state)}. "
                f"Raise the limit, or see whether a state holds something that only ever grows"
            )
        else:
            self.states.append(state)
            next(self._fresh)
        self._numbers[key] = number
        return number


def show(value: object) -> str:
    """Return a repr that is not too long for a message."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _key(state: Any, kind: type) -> Any:
    """Return a key under which 1, True, 1.0 and (1,), (True,) stay apart."""
    try:
        return marshal.dumps(state, 2)
    except ValueError:  # a tuple with an object in it
        return kind, state


def _are_rows_of_integers(states: list[Any]) -> bool:
    """Say whether all states are tuples of one length that hold integers of 32 bits, and no True; False: perhaps not.

    Looking at marshal's bytes takes half of what asking each part for its type does: such a tuple is there a head of
    five bytes, "(" and its length, and five for each integer, "i" and its bytes.
    """
    first, count = states[0], len(states)
    if type(first) is not tuple:
        return False
    try:
        text = marshal.dumps(states, 2)
    except ValueError:  # there is an object in one of them
        return False
    size, start = 5 * len(first) + 5, 5
    if len(text) != start + size * count:
        return False
    heads = all(text[start + at :: size].count(text[start + at]) == count for at in range(5))
    return heads and all(text[at::size].count(b"i") == count for at in range(start + 5, start + size, 5))


def _is_worded(key: Any) -> bool:
    """Say whether a key is a tuple of texts and integers, and so the state itself."""
    return type(key) is tuple and set(map(type, key)) <= WORDS


def _unhashable(state: Any, source: Callable[[], str]) -> BadModel:
    better: dict[type, str] = {list: "a tuple", dict: "a tuple of its items, sorted", set: "a frozenset"}
    return BadModel(
        f"{source()} leads to {show(state)}, which holds a {type(state).__name__} or another thing that can change: "
        f"use {better.get(type(state), 'tuples and frozen dataclasses')}"
    )


def _without_numpy(state: Any) -> Any:
    """Return a state with NumPy's numbers as Python's own; the state itself where it has none."""
    if isinstance(state, np.generic):
        return state.item()
    if type(state) is tuple and not set(map(type, state)) <= PLAIN:
        items = tuple(map(_without_numpy, state))
        return state if all(map(operator.is_, items, state)) else items
    return state
