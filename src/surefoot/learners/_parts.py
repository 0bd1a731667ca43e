"""The parts of a plain value: objects, arrays, and tuples of pairs that are read as objects."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from math import copysign
from typing import Any

from surefoot import values

__all__: list[str] = []  # the parts of an action model; nothing here is public


class Absent(Enum):
    """The one value that stands for no value."""

    ABSENT = "nothing"


ABSENT = Absent.ABSENT
Path = tuple[str | int, ...]
_SCALARS = frozenset({str, int, bool, type(None)})


def plain(value: Any) -> Any:
    """Return a copy of a plain value, the same as `values.copy` and faster for small ones.

    Raises:
        ValueRejected: it is not plain.
    """
    try:
        return _copied(value)
    except (_Odd, RecursionError):
        return values.copy(value)  # which takes what is a plain value in another guise, and says what is wrong


class _Odd(Exception):
    """Something that needs a closer look."""


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        if value.isascii():
            return value
        raise _Odd
    if kind in _SCALARS:
        return value
    if kind is tuple:
        return tuple([_copied(part) for part in value])
    if kind is list:
        return [_copied(part) for part in value]
    if kind is dict:
        if any(type(key) is not str or not key.isascii() for key in value):
            raise _Odd
        return {key: _copied(part) for key, part in value.items()}
    if kind is float and value - value == 0.0:
        return value
    raise _Odd


def same(a: Any, b: Any) -> bool:
    """Say whether two plain values are equal, look-alikes apart."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b) or a is ABSENT:
        return False
    if kind is dict:
        return a.keys() == b.keys() and all(same(part, b[key]) for key, part in a.items())
    if kind is tuple or kind is list:
        return len(a) == len(b) and all(map(same, a, b))
    if kind is float:
        return bool(a == b and copysign(1.0, a) == copysign(1.0, b))
    return bool(a == b)


def is_number(value: Any) -> bool:
    """Say whether a value is a number; a bool is none."""
    return type(value) is int or type(value) is float


def is_table(value: Any) -> bool:
    """Say whether a value is a tuple of one or more pairs (text, value) in the order of the texts, each once."""
    if type(value) is not tuple or not value:
        return False
    last = None
    for item in value:
        if (
            type(item) is not tuple
            or len(item) != 2
            or type(item[0]) is not str
            or (last is not None and item[0] <= last)
        ):
            return False
        last = item[0]
    return True


def kind_of(a: Any, b: Any) -> str:
    """Say how two values can be compared part by part: as "object", as "array", or "" for not at all."""
    if type(a) is not type(b):
        return ""
    if isinstance(a, dict):
        return "object"
    if type(a) is tuple and (is_table(a) or is_table(b)):
        return "object" if (is_table(a) or not a) and (is_table(b) or not b) else ""
    return "array" if isinstance(a, list | tuple) else ""


def children(value: Any) -> Mapping[Any, Any]:
    """Return the parts of a value by key or place; none of a scalar."""
    if isinstance(value, Mapping):
        return value
    if is_table(value):
        return dict(value)
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return {}


def get(value: Any, path: tuple[Any, ...]) -> Any:
    """Return the part at a path, `ABSENT` when there is none."""
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step, ABSENT)
        elif type(value) is tuple or type(value) is list:
            if type(step) is int:
                value = value[step] if 0 <= step < len(value) and not is_table(value) else ABSENT
            else:
                value = dict(value).get(step, ABSENT) if is_table(value) else ABSENT
        else:
            return ABSENT
    return value


def put(value: Any, path: tuple[Any, ...], part: Any) -> Any:
    """Return a value with the part at a path replaced, or taken out when `part` is `ABSENT`."""
    if not path:
        return part
    step, rest = path[0], path[1:]
    parts = dict(children(value))
    made = put(parts.get(step, ABSENT), rest, part)
    if made is ABSENT:
        parts.pop(step, None)
    else:
        parts[step] = made
    return rebuilt(value, parts)


def rebuilt(value: Any, parts: Mapping[Any, Any]) -> Any:
    """Return a container of the kind of `value` with other parts; what was no container becomes an object."""
    if isinstance(value, list):
        return [parts[key] for key in sorted(parts)]
    if type(value) is tuple:
        if any(type(key) is str for key in parts) or is_table(value):
            return tuple((key, parts[key]) for key in sorted(parts, key=str))
        return tuple(parts[key] for key in sorted(parts))
    return dict(parts)


def path_in_words(path: tuple[Any, ...]) -> str:
    """Return a path as text: `orders[{id}].status`, `$` for the whole."""
    if not path:
        return "$"
    words = ""
    for step in path:
        if type(step) is str and step.isidentifier():
            words += f".{step}" if words else step
        elif type(step) is str or type(step) is int:
            words += f"[{step!r}]"
        else:
            words += f"[{step}]"
    return words
