"""What of a state a call can depend on: kept as bytes, each record once, so that old calls can be read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from surefoot.errors import ValueRejected

__all__ = ["Partial", "PartialList", "Shelf", "slice_of"]

WHOLE = 24
"""Tables of at most so many entries are kept whole."""
WHOLE_LIST = 64
"""Lists of at most so many elements are kept whole."""
HOPS = 2
"""How many references are followed: from the arguments to records, and from these to others."""
MOST_RECORDS = 256
"""The most records of large tables that are kept for one call."""


class Partial(dict[Any, Any]):
    """A table of which only the entries that a call can lead to are here."""


class PartialList(list[Any]):
    """A list of records of which only those are here that hold a value that a call leads to."""


def scalars_of(value: Any, found: set[Any]) -> None:
    """Collect the texts and whole numbers in a value, and the keys of its mappings."""
    kind = type(value)
    if kind is str or kind is int:
        found.add(value)
    elif kind is dict or isinstance(value, Mapping):
        for key, part in value.items():
            found.add(key)
            scalars_of(part, found)
    elif kind is list or kind is tuple:
        for part in value:
            scalars_of(part, found)


def slice_of(state: Any, args: Mapping[str, Any]) -> Any:
    """Return the part of a state that a call can lead to within `HOPS` references.

    Small parts are whole; of a large table there are the entries whose keys are met, of a large list the records that
    hold a value that is met. Nothing is copied.

    Cost: the size of what is kept, and a scan of each large list.

    Example:
        >>> state = {"users": {f"u{n}": {"n": n} for n in range(100)}, "open": True}
        >>> slice_of(state, {"user": "u7"})
        {'users': {'u7': {'n': 7}}, 'open': True}
    """
    large: list[tuple[tuple[Any, ...], Any]] = []
    kept = _small(state, (), large)
    if not large:
        return kept
    fresh: set[Any] = set()
    scalars_of(args, fresh)
    small: set[Any] = set()
    for value in _scalars_outside(kept):
        small.add(value)
    fresh |= small
    seen = set(fresh)
    budget = MOST_RECORDS
    places = [(container, _at(kept, path)) for path, container in large]
    for hop in range(HOPS):
        found: set[Any] = set()
        turned: list[tuple[Any, Any]] = [(key, int(key)) for key in fresh if type(key) is str and key.isdigit()]
        turned += [(key, str(key)) for key in fresh if type(key) is int]
        for container, into in places:
            if isinstance(into, Partial):
                for key in _keys_in(container, fresh, turned):
                    if budget and key not in into:
                        record = into[key] = container[key]
                        budget -= 1
                        if hop + 1 < HOPS:
                            scalars_of(record, found)
            else:
                for record in container:
                    if isinstance(record, dict | Mapping) and budget:
                        parts = [v for v in record.values() if type(v) in (str, int)]
                        if not fresh.isdisjoint(parts) and not any(record is r for r in into):
                            into.append(record)
                            budget -= 1
                            if hop + 1 < HOPS:
                                scalars_of(record, found)
        fresh = found - seen
        seen |= fresh
        if not fresh:
            break
    return kept


def _keys_in(table: Any, keys: set[Any], turned: list[tuple[Any, Any]]) -> list[Any]:
    """Return which keys a table has, as it has them: JSON may have turned a number into text."""
    found = list(keys & table.keys()) if type(table) is dict else [key for key in keys if key in table]
    return found + [other for key, other in turned if other in table and key not in table]


def _small(value: Any, path: tuple[Any, ...], large: list[tuple[tuple[Any, ...], Any]]) -> Any:
    """Return a value with its large containers empty, and collect these; only containers are looked into."""
    if isinstance(value, dict) or isinstance(value, Mapping):
        if len(value) > WHOLE:
            large.append((path, value))
            return Partial()
        if len(path) >= 4:
            return value
        return {key: _small(part, (*path, key), large) for key, part in value.items()}
    if isinstance(value, list | tuple) and len(value) > WHOLE_LIST:
        large.append((path, value))
        return PartialList()
    return value


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _scalars_outside(kept: Any) -> set[Any]:
    """Return the scalars directly in the state and in its records: they may be references too."""
    found: set[Any] = set()
    if isinstance(kept, dict) and not isinstance(kept, Partial):
        for part in kept.values():
            if type(part) in (str, int):
                found.add(part)
            elif isinstance(part, dict) and not isinstance(part, Partial) and len(part) <= 16:
                found |= {v for v in part.values() if type(v) in (str, int)}
    return found


class Shelf:
    """Keep slices as bytes: each record of a large table, and each remaining state, once."""

    def __init__(self) -> None:
        """Start empty."""
        self._ids: dict[bytes, int] = {}
        self._data: list[bytes] = []
        self._users: list[int] = []
        self._free: list[int] = []
        self._read: dict[int, Any] = {}

    def __len__(self) -> int:
        """Return how many different parts are kept."""
        return len(self._ids)

    def put(self, kept: Any, args: Mapping[str, Any]) -> tuple[int, ...]:
        """Keep a slice and the arguments; return what finds them again.

        Raises:
            ValueRejected: something is not plain data.
        """
        parts: list[int] = []
        try:
            rest = self._strip(kept, parts)
            return self._id(rest), self._id(dict(args)), *parts
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueRejected(f"the state and the arguments must be plain data: {error}") from None

    def _strip(self, value: Any, parts: list[int]) -> Any:
        """Return how to put a slice together again from its parts."""
        if isinstance(value, Partial):
            keys = sorted(value, key=lambda k: (str(type(k)), k))
            parts.extend(self._id(value[key]) for key in keys)
            return keys
        if isinstance(value, PartialList):
            parts.extend(self._id(record) for record in value)
            return len(value)
        if type(value) is dict and any(isinstance(part, dict | PartialList) for part in value.values()):
            return {key: self._strip(part, parts) for key, part in value.items()}
        parts.append(self._id(value))
        return None

    def _id(self, value: Any) -> int:
        data = msgspec.msgpack.encode(value)
        known = self._ids.get(data)
        if known is None:
            if self._free:
                known = self._free.pop()
                self._data[known] = data
            else:
                known = len(self._data)
                self._data.append(data)
                self._users.append(0)
            self._ids[data] = known
        self._users[known] += 1
        return known

    def drop(self, found: tuple[int, ...]) -> None:
        """Let go of what `put` returned: parts that nothing else needs are forgotten."""
        for at in found:
            self._users[at] -= 1
            if not self._users[at]:
                del self._ids[self._data[at]]
                self._data[at] = b""
                self._read.pop(at, None)
                self._free.append(at)

    def get(self, found: tuple[int, ...]) -> tuple[Any, Any]:
        """Return the slice and the arguments that were kept; shared with others, not to be changed."""
        rest, args, *parts = found
        return self._fill(self._value(rest), iter(parts)), self._value(args)

    def _fill(self, shape: Any, left: Iterator[int]) -> Any:
        if shape is None:
            return self._value(next(left))
        if type(shape) is int:
            return PartialList([self._value(next(left)) for _ in range(shape)])
        if type(shape) is list:
            return Partial({key: self._value(next(left)) for key in shape})
        return {key: self._fill(part, left) for key, part in shape.items()}

    def _value(self, at: int) -> Any:
        known = self._read.get(at)
        if known is None:
            if len(self._read) > 20_000:
                self._read.clear()
            known = self._read[at] = msgspec.msgpack.decode(self._data[at], strict=False)
        return known

    def bytes_of(self, found: tuple[int, ...]) -> bytes:
        """Return what was kept as bytes: the same for the same call, whatever was kept before."""
        return b"\x00".join(self._data[at] for at in found)
