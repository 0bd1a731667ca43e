"""Which terms an action's calls offer: found by following what the sampled arguments and records lead to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from surefoot.learners._induction.programs import derive
from surefoot.learners._induction.snapshots import HOPS, Partial, PartialList
from surefoot.learners._induction.terms import ARGS, NAMED, STATE, Term, of_state
from surefoot.learners.vocabulary import MISSING

__all__ = ["DEAREST", "MOST", "Growth"]

HIT = 0.25
"""A look-up is followed when it finds something in at least this share of the sampled calls."""
RARE = 0.04
"""The same of an argument that is a key itself: what is to be new mostly names nothing."""
FIRST = 24
"""One that finds nothing in so many is not tried in the others."""
MOST = 320
"""The most terms of one action."""
MEASURED = 80
"""So many of them are kept for what is counted, summed and overridden."""
DEAREST = 7.0
"""Terms that cost more are not followed."""
SEVERAL = 0.25
"""Lists of which a larger share has more than one element are not meant when only the first or the last is read."""
WIDE = 40
"""A record has at most this many fields; a wider mapping is a table."""
FEW = 0.08
"""A field that fewer of the sampled records have is left out."""

_SCALARS = (str, int, float, bool, type(None))


def _is_map(value: Any) -> bool:
    return type(value) is dict or isinstance(value, Mapping)


def _are_numbers(keys: Counter[Any]) -> bool:
    """Say whether most keys are whole numbers, as such or as text: then they are no names of fields."""
    found = sum(n for key, n in keys.items() if type(key) is int or (isinstance(key, str) and key.isdigit()))
    return 2 * found >= keys.total() > 0


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


class _Shape:
    """What kind of values a term has on the sample."""

    __slots__ = ("filled", "keys", "lists", "maps", "partial", "scalars", "table")

    def __init__(self, term: Term, column: Sequence[Any]) -> None:
        parts: list[Any] = []
        for value in column:
            if value is MISSING:
                continue
            if term.rank:
                parts += [v for v in value if v is not MISSING]
            else:
                parts.append(value)
        self.filled = len(parts)
        distinct = list({id(part): part for part in parts}.values())
        self.maps = [v for v in distinct if _is_map(v)]
        self.lists = [v for v in distinct if _is_list(v)]
        self.scalars: list[Any] = [v for v in parts if isinstance(v, _SCALARS)]
        self.keys: list[str] = []
        self.partial = any(type(v) in (Partial, PartialList) for v in distinct)
        self.table = self.partial
        if self.maps and not self.partial:
            self._read_maps(term)

    def _read_maps(self, term: Term) -> None:
        few = self.maps[:64]
        if max(len(m) for m in few) > WIDE and term.op != "state":
            self.table = True
            return
        counts: Counter[Any] = Counter()
        for found in few:
            counts.update(list(found))
        if term.op not in ("state", "args") and (_are_numbers(counts) or self._alike(few, counts)):
            self.table = True
            return
        least = FEW * len(few)
        self.keys = [key for key, times in counts.items() if isinstance(key, str) and times >= least][:WIDE]
        self.keys.sort()

    @staticmethod
    def _alike(maps: list[Any], counts: Counter[Any]) -> bool:
        """Say whether the parts of mappings look like one another: then they are tables of records."""
        parts = [part for m in maps for part in islice(m.values(), 8)][:64]
        if not parts or (len(maps) > 1 and len(counts) == 1):  # one part, always of the same name: a field
            return False
        if all(_is_map(part) for part in parts):
            fields: Counter[Any] = Counter()
            for part in parts:
                fields.update(list(part))
            shared = sum(times for times in fields.values() if times >= 0.5 * len(parts))
            total = sum(fields.values())
            if total and shared >= 0.5 * total:
                return True
        return len(maps) > 3 and len(counts) > 3 * max(len(m) for m in maps)


def _signature(column: Sequence[Any]) -> Any:
    """Return what identifies the records that a term leads to; the records are alive as long as the sample is."""
    return tuple(
        tuple(id(part) if isinstance(part, list | dict) else repr(part) for part in value)
        if isinstance(value, tuple)
        else id(value)
        if isinstance(value, list | dict) or isinstance(value, Mapping)
        else repr(value)
        for value in column
    )


class Growth:
    """The terms found so far in a sample, with their values and what kind these are."""

    def __init__(self, sample: Sequence[tuple[Any, Mapping[str, Any]]], arguments: frozenset[str]) -> None:
        """Start with the roots; `arguments` are all names that arguments of the action ever had."""
        self.arguments = arguments
        self.size = len(sample)
        self.columns: dict[str, list[Any]] = {
            "state": [s for s, _ in sample],
            "args": [a for _, a in sample],
        }
        self.terms: list[Term] = [STATE, ARGS]
        self.shapes: dict[str, _Shape] = {}
        self.seen: set[Any] = set()
        self.tables: list[Term] = []
        self.lists: list[Term] = []  # rank 0 lists of records
        self.keys: list[Term] = []
        self.asked = (0, 0, 0)
        self.most = MOST - MEASURED
        for root in (ARGS, STATE):
            self.shapes[root.key] = _Shape(root, self.columns[root.key])

    def follow(self) -> None:
        """Look for parts, look-ups and joins, layer by layer."""
        layer: list[Term] = [ARGS, STATE]
        for _ in range(10):
            following: list[Term] = []
            for term in layer:
                following += [new for new in self.expand(term) if self.add(new)]
            found = sorted(self.look_ups(), key=lambda t: (t.cost, t.key))
            following += [new for new in found if self.add(new)]
            if not following:
                break
            layer = sorted(following, key=lambda t: (t.cost, t.key))

    @property
    def offered(self) -> list[Term]:
        """Return the terms that were found."""
        return self.terms[2:]

    def values(self, term: Term) -> list[Any]:
        """Return a term's values on the sample."""
        known = self.columns.get(term.key)
        if known is not None:
            return known
        parents = [self.values(p) for p in term.parents]
        column = derive(term, parents)
        self.columns[term.key] = column
        return column

    def add(self, term: Term, dearest: float = DEAREST) -> bool:
        """Keep a term unless it never holds anything, or leads where another one leads."""
        if term.cost > dearest or term.hops > HOPS or len(self.terms) >= self.most or term.key in self.shapes:
            return False
        column = self.values(term)
        shape = _Shape(term, column)
        if not shape.filled:
            return False
        if shape.maps or shape.lists:
            signature = (term.rank, _signature(column))
            if signature in self.seen:
                return False
            self.seen.add(signature)
        self.shapes[term.key] = shape
        self.terms.append(term)
        return True

    def expand(self, term: Term) -> list[Term]:
        """Return what a term directly leads to."""
        shape = self.shapes[term.key]
        found: list[Term] = []
        if shape.partial:  # only a few of its parts are known
            (self.tables if shape.maps else self.lists).append(term)
            return found
        if shape.maps:
            if shape.table or len(shape.maps) > 1 or term.op not in ("state", "args"):
                self.tables.append(term)
            found += [Term("field", (self._root(term, key),), key) for key in shape.keys]
            if shape.table and not term.rank:
                sizes = [len(m) for m in shape.maps[:64]]
                if sum(sizes) <= 24 * len(sizes):
                    found += [Term("keys", (term,)), Term("values", (term,))]
        if shape.lists:
            if term.rank:
                if term.op != "flat" and sum(map(len, shape.lists[:64])) <= 24 * len(shape.lists[:64]):
                    found.append(Term("flat", (term,)))
            else:
                first = next((part for part in shape.lists if len(part)), ())
                sizes = [len(v) for v in shape.lists[:64]]
                if sum(sizes) <= 64 * len(sizes):
                    found.append(Term("each", (term,)))
                if first and _is_map(first[0]):
                    self.lists.append(term)
                kinds = {type(part) for part in first}
                if len(set(sizes)) == 1 and sizes[0] <= 6 and (term.op == "state" or len(kinds) > 1):
                    found += [Term("item", (term,), at) for at in range(sizes[0])]
                elif sum(sizes) <= 24 * len(sizes) and term.op != "state" and term.parents[0].op != "args":
                    several = "several" if sum(size > 1 for size in sizes) > SEVERAL * len(sizes) else None
                    found += [Term("first", (term,), several), Term("last", (term,), several)]
        if shape.scalars and not shape.maps and not shape.lists:
            kinds = {type(v) for v in shape.scalars}
            if kinds & {str, int} and len(set(map(repr, shape.scalars))) > 1:
                self.keys.append(term)
        return found

    def _root(self, term: Term, name: str) -> Term:
        """Return the state in other words for a part that is named as an argument is."""
        return NAMED if term.op == "state" and name in self.arguments else term

    def zips(self, one: Term, other: Term) -> bool:
        """Say whether two lists go together element by element."""
        if not one.rank or not other.rank or one.origin == other.origin:
            return True
        a, b = self.values(one), self.values(other)
        both = [(x, y) for x, y in zip(a, b, strict=True) if x is not MISSING and y is not MISSING]
        if not both or max((len(x) for x, _ in both), default=0) < 2:
            return False
        return sum(len(x) == len(y) for x, y in both) >= 0.6 * len(both)

    def hits(self, term: Term) -> bool:
        """Say whether a look-up finds something often enough; not when it finds nothing in the first calls."""
        new = term.op == "get" and not term.rank and _is_argument(term.parents[1])
        if term.key not in self.columns and not new:
            few = derive(term, [self.values(parent)[:FIRST] for parent in term.parents])
            if all(value is MISSING or (term.rank and all(v is MISSING for v in value)) for value in few):
                return False
        column = self.values(term)
        full = empty = 0
        asked = [self.columns[p.key] for p in term.parents]
        for row, value in enumerate(column):
            if any(c[row] is MISSING for c in asked):
                continue
            if term.rank:
                parts = [] if value is MISSING else value
                good = sum(v is not MISSING for v in parts)
                if good and 2 * good >= len(parts):
                    full += 1
                elif parts:
                    empty += 1
            elif value is MISSING:
                empty += 1
            else:
                full += 1
        return full >= 2 and full >= (RARE if new else HIT) * (full + empty) if self.size > 3 else full > 0

    def look_ups(self) -> list[Term]:
        """Return the look-ups and joins, not tried before, that find something."""
        found: list[Term] = []
        tables, records, keys = self.asked
        self.asked = (len(self.tables), len(self.lists), len(self.keys))
        far = [(at, key) for at, key in enumerate(self.keys) if not _is_near(key)]
        near = [(at, key) for at, key in enumerate(self.keys) if _is_near(key)]
        for at, table in enumerate(self.tables):
            root = of_state(table)
            for place, key in (*near, *far) if root else near:
                if at < tables and place < keys:
                    continue
                term = Term("get", (table, key))
                if term.cost <= DEAREST and term.hops <= HOPS and self.zips(table, key) and self.hits(term):
                    found.append(term)
        for at, rows in enumerate(self.lists):
            root = of_state(rows)
            if root and at >= records:
                found += self._joins_on_two(rows)
            for place, key in (*near, *far) if root else near:
                if (at >= records or place >= keys) and key.parents[0] != rows and key.origin != rows.key:
                    found += self._joins(rows, key)
        return found

    def _joins_on_two(self, records: Term) -> list[Term]:
        """Return the joins of a list of records with two arguments of the names of its fields, where one is no key."""
        given = [key for key in self.keys if key.op == "field" and key.parents[0].op == "args"]
        parts = [r for part in self.shapes[records.key].lists[:8] for r in part[:64] if _is_map(r)]
        named = [key for key in given if any(key.param in r for r in parts)]
        several = [key for key in named if len({repr(r.get(key.param)) for r in parts}) < len(parts)]
        found = []
        for at, one in enumerate(several[:4]):
            for other in several[at + 1 : 4]:
                term = Term("join2", (records, one, other), (one.param, other.param))
                if term.hops <= HOPS and self.hits(term):
                    found.append(term)
        return found

    def _joins(self, records: Term, key: Term) -> list[Term]:
        """Return the joins of a list of records with a key: on the fields that hold such values."""
        wanted: set[Any] = set()
        for value in self.values(key):
            if value is not MISSING:
                wanted.update(v for v in (value if key.rank else (value,)) if isinstance(v, str | int))
        fields: Counter[str] = Counter()
        for part in self.shapes[records.key].lists[:200]:
            for record in part[:500]:
                if _is_map(record):
                    for name, value in record.items():
                        if type(value) in (str, int) and value in wanted:
                            fields[name] += 1
        found = []
        for name, times in fields.most_common(3):
            if times < 2 and self.size > 3:
                continue
            term = Term("join", (records, key), (name,))
            if term.cost <= DEAREST and term.hops <= HOPS and self.zips(records, key) and self.hits(term):
                found.append(term)
        return found


def _is_argument(term: Term) -> bool:
    return term.op == "field" and term.parents[0].op == "args"


def _is_near(key: Term) -> bool:
    """Say whether a term may be a key of tables that are not directly in the state: a part of an argument is."""
    return key.rooted
