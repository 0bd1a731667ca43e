"""Loops over the conditions of an action, written out: code that is made from a number alone.

Each call has a place of its own in its code, where Python remembers which function is called there: 20 predicates take
0.9 µs so, a loop over them 1.3 to 1.7, functions that call five each 1.5 (Python 3.11 and 3.12). To see that 20 values
are texts and look them up takes 1.0 µs so, and 1.7 by `map`. That is half of what a prediction costs, so this is the
one place where code is made from text: from how many conditions there are, never from a name or from anything that a
user wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

__all__: list[str] = []  # the parts of an action model; nothing here is public

Reader = Callable[[Any, Mapping[str, Any]], tuple[Any, ...]]
Coder = Callable[[Sequence[Any], Sequence[Mapping[Any, int]]], tuple[int, ...] | None]


def reader(predicates: Sequence[Callable[[Any, Mapping[str, Any]], Any]]) -> Reader:
    """Return one function that calls all of them, and returns what they say."""
    names = {f"read_{n}": predicate for n, predicate in enumerate(predicates)}
    calls = "".join(f"{name}(state, args), " for name in names)
    made: Reader = eval(f"lambda state, args: ({calls})", names)
    return made


@lru_cache(maxsize=64)
def coder(width: int) -> Coder:
    """Return a function that looks the `width` values of a vector up, at least one, each in a table of its own.

    It returns the codes; None where a value is no text. It raises `KeyError` where one is not in its table. To compile
    it takes about 1 ms for 20.
    """
    places = range(width)
    values = ", ".join(f"v{n}" for n in places)
    named = ", ".join(f"t{n}" for n in places)
    kinds = " and ".join(f"type(v{n}) is str" for n in places)
    codes = ", ".join(f"t{n}[v{n}]" for n in places)
    names: dict[str, Any] = {}
    text = f"""
def code(held, tables):
    {values}, = held
    if {kinds}:
        {named}, = tables
        return ({codes},)
"""
    exec(text, names)
    made: Coder = names["code"]
    return made
