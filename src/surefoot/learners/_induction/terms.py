"""What can be read before a call: arguments, parts of the state, look-ups and joins, and these element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from surefoot.learners.vocabulary import MISSING

__all__ = ["ARGS", "STATE", "Program", "Term", "derive"]

Slots = Sequence[Any]
Reader = Callable[[Slots], Any]

_COSTS = {
    "args": 0.0,
    "state": 0.0,
    "field": 0.4,
    "first": 0.8,
    "last": 1.6,
    "item": 0.5,
    "each": 0.3,
    "keys": 0.8,
    "values": 0.8,
    "get": 0.9,
    "join": 0.9,
    "join2": 1.2,
    "len": 0.8,
    "sum": 0.8,
    "sumdiff": 1.2,
    "minus": 1.5,
    "times": 1.5,
    "sumtimes": 1.5,
    "shape": 1.5,
    "number": 0.3,
    "time": 0.3,
    "else": 0.5,
    "symbols": 1.2,
    "plus": 1.5,
    "flat": 0.5,
}


MEASURES = frozenset({"len", "sum", "sumdiff", "sumtimes", "minus", "plus", "times", "number", "time"})
"""Operations whose values are only compared as numbers."""


class Term:
    """One thing that can be read from (state, args): an operation on other terms.

    Attributes:
        op: the operation, one of those in the table of the module.
        parents: what it is applied to.
        param: a field's or argument's name, or the fields of a join.
        rank: 0 for one value, 1 for a tuple with one value per element of a list.
        origin: for rank 1, the key of the list whose elements these are.
        cost: how much there is to say, in nats: the prior of a condition falls with it.
        key: the term in words; equal terms have equal keys.
        arguments: the names of the arguments that it reads.
        hops: how many references lead to it: look-ups in parts of the state that start at the state itself.
        rooted: it is a part of an argument.
        reads_args: its value comes from an argument other than by the first look-up that leads to it.
    """

    __slots__ = (
        "arguments",
        "cost",
        "depth",
        "hops",
        "key",
        "op",
        "origin",
        "param",
        "parents",
        "parts",
        "rank",
        "reads_args",
        "rooted",
    )

    def __init__(self, op: str, parents: tuple[Term, ...] = (), param: Any = None) -> None:
        """Put a term together; its rank and cost follow from its parts."""
        self.op: str = op
        self.parents: tuple[Term, ...] = parents
        self.param: Any = param
        self.rank: int = max((p.rank for p in parents), default=0)
        self.origin: str = next((p.origin for p in parents if p.rank), "")
        if op in ("each", "keys", "values", "symbols"):
            self.rank, self.origin = 1, parents[0].key
        elif op in ("len", "sum", "sumdiff", "sumtimes"):
            self.rank, self.origin = 0, ""
        elif op == "flat":
            self.origin = f"flat {parents[0].key}"
        self.rooted: bool = op == "args" or (len(parents) == 1 and parents[0].rooted)
        if self.rooted:
            self.reads_args = op != "args"
        elif op in ("get", "join", "join2"):
            self.reads_args = parents[0].depth > 1 and any(p.reads_args for p in parents[1:])
        else:
            self.reads_args = any(p.reads_args for p in parents)
        self.hops: int = max((p.hops for p in parents), default=0)
        if op in ("get", "join", "join2") and of_state(parents[0]):
            self.hops = 1 + max(p.hops for p in parents[1:])
        self.arguments: frozenset[str] = frozenset().union(*[p.arguments for p in parents])
        if op == "field" and parents[0].op == "args":
            self.arguments = frozenset({str(param)})
        own = _COSTS[op]
        if op in ("first", "last") and param:
            own += 2.0  # one of several, by its place alone
        if op in ("get", "join", "join2"):
            if parents[1].rooted:
                own -= 0.5
            if op == "get" and _visits(parents[1], parents[0].key):
                own += 2.5
        self.depth: int = 1 + max((p.depth for p in parents), default=-1)
        self.key: str = _words(op, parents, param)
        self.parts: dict[str, float] = {}
        for parent in parents:
            self.parts.update(parent.parts)
        self.parts[self.key] = own
        self.cost = sum(self.parts.values())

    def __repr__(self) -> str:
        """Say it in words."""
        return self.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.key == other.key


def of_state(term: Term) -> bool:
    """Say whether a term is a part of the state that no look-up leads to."""
    while term.op == "field":
        term = term.parents[0]
    return term.op == "state"


def way_to(term: Term) -> tuple[str, list[str]]:
    """Return the name of the part of the state that a term is in, and the fields on the way to it."""
    names: list[str] = []
    while term.parents:
        if term.op == "field":
            if term.parents[0].op == "state":
                return str(term.param), names
            names.append(str(term.param))
        term = term.parents[0]
    return "", names


def _visits(term: Term, table: str) -> bool:
    """Say whether a term was reached through a table."""
    return any(p.key == table or _visits(p, table) for p in term.parents)


def _words(op: str, parents: tuple[Term, ...], param: Any) -> str:
    inner = [p.key for p in parents]
    match op:
        case "args" | "state":
            return op
        case "field":
            if parents[0].op in ("args", "state"):
                return str(param)
            return f"{inner[0]}.{param}"
        case "first":
            return f"{inner[0]}[0]"
        case "last":
            return f"{inner[0]}[-1]"
        case "item":
            return f"{inner[0]}[{param}]"
        case "each":
            return f"{inner[0]}[*]"
        case "flat":
            return f"{inner[0]}[*]"
        case "keys":
            return f"keys({inner[0]})"
        case "values":
            return f"{inner[0]}[*]"
        case "get":
            return f"{inner[0]}[{inner[1]}]"
        case "join":
            return f"{inner[0]}[{param[0]}={inner[1]}]"
        case "join2":
            return f"{inner[0]}[{param[0]}={inner[1]}, {param[1]}={inner[2]}]"
        case "plus":
            return f"({inner[0]} + {inner[1]})"
        case "else":
            return f"({inner[0]} else {inner[1]})"
        case "len" | "sum" | "shape" | "number" | "time" | "symbols":
            return f"{op}({inner[0]})"
        case "sumdiff":
            return f"sum({inner[0]} - {inner[1]})"
        case "sumtimes":
            return f"sum({inner[0]} * {inner[1]})"
        case "minus":
            return f"({inner[0]} - {inner[1]})"
        case "times":
            return f"({inner[0]} * {inner[1]})"
    raise AssertionError(op)


ARGS = Term("args")
STATE = Term("state")


# -- reading -----------------------------------------------------------------------------------------------------------


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


def _reader(term: Term, at: tuple[int, ...]) -> Reader:
    return reader_of(term.op, tuple(p.rank for p in term.parents), term.param, at)


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
            a, b = at
            return lambda s: s[b] if s[a] is MISSING else s[a]
    raise AssertionError(op)


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


class Program:
    """Read many terms of one call at once: what they share is read once."""

    def __init__(self, terms: Sequence[Term]) -> None:
        """Order the terms so that each comes after what it is made of."""
        self.index: dict[str, int] = {"state": 0, "args": 1}
        self._readers: list[Reader] = []
        self.terms: list[Term] = [STATE, ARGS]
        for term in terms:
            self._add(term)

    def _add(self, term: Term) -> int:
        known = self.index.get(term.key)
        if known is not None:
            return known
        at = tuple([self._add(p) for p in term.parents])
        self._readers.append(_reader(term, at))
        self.terms.append(term)
        self.index[term.key] = place = len(self.terms) - 1
        return place

    def add(self, term: Term) -> int:
        """Add a term, and return its slot."""
        return self._add(term)

    def extended(self, terms: Sequence[Term]) -> Program:
        """Return a program that reads more terms, after those of this one."""
        more = Program(())
        more.index, more.terms, more._readers = dict(self.index), list(self.terms), list(self._readers)
        for term in terms:
            more._add(term)
        return more

    def continue_with(self, slots: list[Any]) -> None:
        """Read the terms that are not in `slots` yet."""
        push = slots.append
        for read in self._readers[len(slots) - 2 :]:
            push(read(slots))

    def run(self, state: Any, args: Any) -> list[Any]:
        """Return the value of each term, in the order of `terms`."""
        slots: list[Any] = [state, args]
        push = slots.append
        for read in self._readers:
            push(read(slots))
        return slots


def derive(term: Term, columns: Sequence[Sequence[Any]]) -> list[Any]:
    """Return a term's values on many calls from those of its parents, one column each."""
    read = _reader(term, tuple(range(len(columns))))
    return [read(row) for row in zip(*columns, strict=True)]
