"""What each operation does to values: parts, look-ups and joins, sums, and these element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from surefoot.learners.vocabulary import MISSING

__all__ = ["Reader", "Slots", "as_number", "as_time", "field_of", "is_number", "reader_of"]

Slots = Sequence[Any]
Reader = Callable[[Slots], Any]


def field_of(value: Any, name: Any) -> Any:
    """Return a part of a record, `MISSING` where there is none."""
    if value is MISSING:
        return MISSING
    try:
        return value[name]
    except (KeyError, TypeError, IndexError):
        return MISSING


def look_up(table: Any, key: Any) -> Any:
    """Return a record by its key, which JSON may have turned into text."""
    if isinstance(table, dict) and type(key) is str:  # nearly always, and a miss takes no exception
        found = table.get(key, MISSING)
        if found is not MISSING or not key.isdigit():
            return found
    if table is MISSING or key is MISSING or isinstance(table, list | tuple | str):
        return MISSING
    try:
        return table[key]
    except (KeyError, TypeError):
        if type(key) is int:
            try:
                return table[str(key)]
            except (KeyError, TypeError):
                return MISSING
        if type(key) is str and key.isdigit():
            try:
                return table[int(key)]
            except (KeyError, TypeError):
                return MISSING
        return MISSING


def find(records: Any, name: Any, key: Any) -> Any:
    """Return the first record of a list whose field holds a value."""
    if key is MISSING or not isinstance(records, list | tuple):
        return MISSING
    for record in records:
        if field_of(record, name) == key:
            return record
    return MISSING


def find2(records: Any, name: Any, key: Any, other: Any, second: Any) -> Any:
    """Return the first record of a list of which two fields hold given values."""
    if key is MISSING or second is MISSING or not isinstance(records, list | tuple):
        return MISSING
    for record in records:
        if field_of(record, name) == key and field_of(record, other) == second:
            return record
    return MISSING


_NUMBERS = frozenset({int, float})


def is_number(value: Any) -> bool:
    """Say whether a value is a number (and no truth value)."""
    return type(value) is int or type(value) is float


def as_number(value: Any) -> Any:
    """Return a number, or the number that a text with a decimal point or a currency sign stands for."""
    if is_number(value):
        return value
    if type(value) is str and value:
        text = value.strip().lstrip("$€£").rstrip("%").replace(",", "")
        try:
            return float(text)
        except ValueError:
            return MISSING
    return MISSING


def as_time(value: Any) -> Any:
    """Return the days since the year 1 that a date, or a date and time of day, in ISO 8601 stands for."""
    if type(value) is not str or value[4:5] != "-":
        return MISSING
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return MISSING
    aside = found.utcoffset() or timedelta()
    days = found.replace(tzinfo=None) - aside - datetime(1, 1, 1)
    return days.total_seconds() / 86_400


def shape_of(value: Any) -> Any:
    """Return the pattern of a text: its digits as 9, its letters as a or A."""
    return _shape(value) if type(value) is str else MISSING


@lru_cache(4096)
def _shape(value: str) -> str:
    return "".join("9" if c.isdigit() else ("A" if c.isupper() else "a") if c.isalpha() else c for c in value[:40])


def _total(values: Any) -> Any:
    if values is MISSING:
        return MISSING
    total: float = 0
    for value in values:
        if type(value) in _NUMBERS:
            total += value
    return total


def _total_of(one: Any, other: Any, sign: int) -> Any:
    if one is MISSING or other is MISSING:
        return MISSING
    total: float = 0
    pairs = zip(one, other, strict=False)
    if sign:
        for a, b in pairs:
            if type(a) in _NUMBERS and type(b) in _NUMBERS:
                total += a - b
    else:
        for a, b in pairs:
            if type(a) in _NUMBERS and type(b) in _NUMBERS:
                total += a * b
    return round(total, 6)


def _elements(value: Any) -> Any:
    return tuple(value) if type(value) is list or isinstance(value, list | tuple) else MISSING


def _flat(value: Any) -> Any:
    if value is MISSING:
        return MISSING
    found: list[Any] = []
    for part in value:
        if isinstance(part, list | tuple):
            found += part
    return tuple(found)


def _count(value: Any) -> Any:
    if type(value) in (tuple, list, dict):
        return len(value)
    return len(value) if isinstance(value, list | tuple | dict | Mapping) else MISSING


def _binary(fn: Callable[[Any, Any], Any], a: int, b: int, ra: int, rb: int) -> Reader:
    if not ra and not rb:
        return lambda s: fn(s[a], s[b])
    if ra and rb:
        return lambda s: (
            MISSING
            if s[a] is MISSING or s[b] is MISSING
            else tuple([fn(x, y) for x, y in zip(s[a], s[b], strict=False)])
        )
    if ra:

        def left(s: Slots) -> Any:
            xs, y = s[a], s[b]
            return MISSING if xs is MISSING else tuple([fn(x, y) for x in xs])

        return left

    def right(s: Slots) -> Any:
        x, ys = s[a], s[b]
        return MISSING if ys is MISSING else tuple([fn(x, y) for y in ys])

    return right


def _unary(fn: Callable[[Any], Any], a: int, rank: int) -> Reader:
    if not rank:
        return lambda s: fn(s[a])
    return lambda s: MISSING if s[a] is MISSING else tuple([fn(x) for x in s[a]])


def _sub(a: Any, b: Any) -> Any:
    return round(a - b, 6) if is_number(a) and is_number(b) else MISSING


def symbols_of(value: Any) -> Any:
    """Return the different characters of a text that are no letters, digits or blanks."""
    return _symbols(value) if type(value) is str else MISSING


@lru_cache(4096)
def _symbols(value: str) -> tuple[str, ...]:
    return tuple(sorted({c for c in value if not c.isalnum() and c != " "}))


def _add(a: Any, b: Any) -> Any:
    return round(a + b, 6) if is_number(a) and is_number(b) else MISSING


def _mul(a: Any, b: Any) -> Any:
    return round(a * b, 6) if is_number(a) and is_number(b) else MISSING


def _field0(a: int, name: Any) -> Reader:
    def read(s: Slots) -> Any:
        value = s[a]
        return value.get(name, MISSING) if type(value) is dict else field_of(value, name)

    return read


def _field1(a: int, name: Any) -> Reader:
    def read(s: Slots) -> Any:
        values = s[a]
        if values is MISSING:
            return MISSING
        return tuple([v.get(name, MISSING) if type(v) is dict else field_of(v, name) for v in values])

    return read


def reader_of(op: str, ranks: tuple[int, ...], param: Any, at: tuple[int, ...]) -> Reader:
    """Return what reads an operation, of operands of these ranks, from the slots `at`."""
    match op:
        case "field":
            return (_field1 if ranks[0] else _field0)(at[0], param)
        case "first":
            return _unary(lambda v: v[0] if isinstance(v, list | tuple) and v else MISSING, at[0], ranks[0])
        case "last":
            return _unary(lambda v: v[-1] if isinstance(v, list | tuple) and v else MISSING, at[0], ranks[0])
        case "item":
            return _unary(
                lambda v: v[param] if isinstance(v, list | tuple) and param < len(v) else MISSING, at[0], ranks[0]
            )
        case "each":
            return _unary(_elements, at[0], 0)
        case "flat":
            return _unary(_flat, at[0], 0)
        case "keys":
            return _unary(lambda v: tuple(v) if isinstance(v, dict | Mapping) else MISSING, at[0], 0)
        case "values":
            return _unary(lambda v: tuple(v.values()) if isinstance(v, dict | Mapping) else MISSING, at[0], 0)
        case "get":
            return _binary(look_up, at[0], at[1], *ranks)
        case "join":
            name = param[0]
            return _binary(lambda r, k: find(r, name, k), at[0], at[1], *ranks)
        case "join2":
            return _join2(param, at, ranks)
        case "len":
            return _unary(_count, at[0], 0)
        case "sum":
            return _unary(_total, at[0], 0)
        case "sumdiff":
            a, b = at
            return lambda s: _total_of(s[a], s[b], 1)
        case "sumtimes":
            a, b = at
            return lambda s: _total_of(s[a], s[b], 0)
        case "minus":
            return _binary(_sub, at[0], at[1], *ranks)
        case "times":
            return _binary(_mul, at[0], at[1], *ranks)
        case "plus":
            return _binary(_add, at[0], at[1], *ranks)
        case "symbols":
            return _unary(symbols_of, at[0], 0)
        case "shape":
            return _unary(shape_of, at[0], ranks[0])
        case "number":
            return _unary(as_number, at[0], ranks[0])
        case "time":
            return _unary(as_time, at[0], ranks[0])
        case "else":
            return _else(at, ranks)
        case "min" | "max":
            return _least(op, at[0])
        case "over":
            return _binary(_over, at[0], at[1], *ranks)
        case "when":
            return _when(at, ranks)
        case "unless":
            return _binary(lambda v, g: MISSING if _is_so(g, param) else v, at[0], at[1], *ranks)
        case "gated":
            a, b = at
            return lambda s: s[a] if s[a] is MISSING or s[b] == param else 0
        case "flag":
            return _unary(lambda v: MISSING if v is MISSING else int(v == param), at[0], 0)
        case "linear":
            return lambda s: _linear([s[a] for a in at], param)
    raise AssertionError(op)


def _else(at: tuple[int, ...], ranks: tuple[int, ...]) -> Reader:
    a, b = at
    if ranks[0] and ranks[1]:
        return _binary(lambda x, y: y if x is MISSING else x, a, b, *ranks)
    return lambda s: s[b] if s[a] is MISSING else s[a]


def _when(at: tuple[int, ...], ranks: tuple[int, ...]) -> Reader:
    a, b, c = at

    def read(s: Slots) -> Any:
        value = s[a]
        if value is MISSING or (s[b] is not MISSING and s[b] == s[c]):
            return value
        return (MISSING,) * len(value) if ranks[0] else MISSING

    return read


def _least(op: str, at: int) -> Reader:
    of = min if op == "min" else max

    def read(s: Slots) -> Any:
        values = s[at]
        if values is MISSING:
            return MISSING
        return of([v for v in values if type(v) in _NUMBERS], default=MISSING)

    return read


def _over(a: Any, b: Any) -> Any:
    return round(a / b, 9) if is_number(a) and is_number(b) and b > 0 else MISSING


def _is_so(value: Any, wanted: Any) -> bool:
    """Say whether a value is there, or is the one that is wanted."""
    return value is not MISSING if wanted is None else bool(value == wanted)


def _linear(values: Sequence[Any], factors: Sequence[float]) -> Any:
    total = float(sum(factors[len(values) :]))
    for value, by in zip(values, factors, strict=False):
        if type(value) not in _NUMBERS:
            return MISSING
        total += by * value
    return round(total, 6)


def _join2(param: tuple[str, str], at: tuple[int, ...], ranks: tuple[int, ...]) -> Reader:
    (name, other), (r, a, b) = param, at

    def one(s: Slots) -> Any:
        return find2(s[r], name, s[a], other, s[b])

    def each(s: Slots) -> Any:
        records, first, second = s[r], s[a], s[b]
        if first is MISSING or second is MISSING:
            return MISSING
        if ranks[1] and ranks[2]:
            return tuple([find2(records, name, x, other, y) for x, y in zip(first, second, strict=False)])
        if ranks[1]:
            return tuple([find2(records, name, x, other, second) for x in first])
        return tuple([find2(records, name, first, other, y) for y in second])

    return each if ranks[1] or ranks[2] else one
