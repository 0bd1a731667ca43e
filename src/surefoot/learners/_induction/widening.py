"""Dearer terms, for refusals that nothing else explains: two keys, exceptions for some elements, extremes, ratios."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from surefoot.learners._induction.growing import Growth
from surefoot.learners._induction.measuring import alike, by_key_first, fixed_parts
from surefoot.learners._induction.operations import is_number
from surefoot.learners._induction.terms import Term
from surefoot.learners.vocabulary import MISSING

__all__ = ["WIDER", "widen"]

WIDER = 128
"""So many more terms of an action at most."""
DEAREST = 24.0
"""They cost at most so much."""
FEW = 4
"""An element's field with at most so many values may say that others do not matter."""


def widen(growth: Growth) -> None:
    """Add dearer terms to those of a sample.

    In order: joins with two keys, also element by element, and when an argument is what the owner of the list has;
    what is there unless an element is such an exception, or in its stead; the least and the largest of numbers and of
    differences; differences of sums, and times a count; ratios.
    """
    growth.most = len(growth.terms) + WIDER
    guards = _guards(growth)
    for guard in guards[:3]:
        _except(growth, guard)
    _except_values(growth)
    vectors = _numbers(growth, 1)
    _extremes(growth, vectors)
    _totals(growth, vectors)
    _ratios(growth)


def _numbers(growth: Growth, rank: int) -> list[Term]:
    """Return the terms of a rank that hold numbers, cheap ones first."""
    found = []
    for term in growth.terms[2:]:
        shape = growth.shapes[term.key]
        if term.rank == rank and shape.scalars and not shape.maps and not shape.lists:
            if all(is_number(v) for v in shape.scalars if v is not None):
                found.append(term)
    return by_key_first(growth, found)


def _add(growth: Growth, terms: Iterable[Term], most: int) -> list[Term]:
    """Add at most so many terms; return those that are new."""
    added: list[Term] = []
    for term in terms:
        if len(added) >= most:
            break
        if growth.add(term, DEAREST):
            added.append(term)
    return added


def _parts(growth: Growth, term: Term) -> list[Any]:
    """Return the elements that a term of rank 1 has on the sample."""
    return [part for value in growth.values(term) if value is not MISSING for part in value]


# -- joins with two keys, and exceptions -----------------------------------------------------------------------------


def _guards(growth: Growth) -> list[Term]:
    """Return the look-ups that find something for some elements of an argument and nothing for others."""
    keys = [key for key in growth.keys if key.rooted and key.op == "field"]
    joins = [t for t in growth.terms if t.op == "join" and t.rank and t.parents[1].rooted]
    for records in growth.lists[:12]:
        if not records.rank and not records.rooted:
            joins += _add(growth, _on_two(growth, records, keys), 3)
    joins.sort(key=lambda t: (t.op != "join2", t.cost, t.key))
    joins = [new for join in joins for new in _add(growth, _when(growth, join), 2)] + joins
    for join in joins:
        _add(growth, growth.expand(join), 8)
    guards = []
    for join in joins:
        if join.rank:
            parts = _parts(growth, join)
            missing = sum(part is MISSING for part in parts)
            if 0 < missing < len(parts):
                guards.append(join)
    return sorted(guards, key=lambda t: (t.op != "when", t.op != "join2", t.cost, t.key))


def _on_two(growth: Growth, records: Term, keys: Sequence[Term]) -> list[Term]:
    """Return the joins of a list of records with two parts of arguments that are named as its fields are."""
    fields = {
        name for part in growth.shapes[records.key].lists[:16] for r in part[:8] if isinstance(r, dict) for name in r
    }
    named = [key for key in keys if key.param in fields]
    found = []
    for one, other in combinations(named[:6], 2):
        if one.param != other.param and growth.zips(one, other):
            term = Term("join2", (records, one, other), (one.param, other.param))
            if term.key not in growth.shapes and growth.hits(term):
                found.append(term)
    return found


def _when(growth: Growth, join: Term) -> list[Term]:
    """Return a join for when an argument is what the owner of the joined list has in the field of that name."""
    records = join.parents[0]
    if records.op != "field" or not records.parents[0].parents:
        return []
    given = [t for t in growth.terms[2:] if t.op == "field" and t.parents[0].op == "args" and not t.rank]
    given = [t for t in given if growth.shapes[t.key].scalars]
    owned = [(t, Term("field", (records.parents[0],), t.param)) for t in given]
    return [Term("when", (join, *pair)) for pair in owned if pair[1].key in growth.shapes and _differ(growth, *pair)]


def _differ(growth: Growth, one: Term, other: Term) -> bool:
    """Say whether two terms are equal in some calls of the sample, and different in others."""
    both = zip(growth.values(one), growth.values(other), strict=True)
    return len({a == b for a, b in both if a is not MISSING and b is not MISSING}) == 2


def _except(growth: Growth, guard: Term) -> None:
    """Add what other look-ups find for the elements that one finds nothing for, and one's numbers in their stead."""
    fixed = fixed_parts(growth)
    records = (guard.parents[0] if guard.op == "when" else guard).parents[0]
    others = [
        t
        for t in growth.terms[2:]
        if t.rank
        and t.origin == guard.origin
        and not t.rooted
        and t.op in ("field", "get", "number")
        and t not in fixed
    ]
    plain = []
    for term in others:
        shape = growth.shapes[term.key]
        if shape.scalars and not shape.maps and not shape.lists and records.key not in term.parts:
            if _is_count(growth, term) or len(set(map(repr, shape.scalars))) <= 2 * FEW:
                plain.append(term)
    plain.sort(key=lambda t: (t.cost, t.key))
    _add(growth, [Term("unless", (term, guard)) for term in plain], 8)
    fields = [t for t in _numbers(growth, 1) if t.op == "field" and t.parents[0] == guard]
    numbers = [t for t in plain if _is_count(growth, t)]
    _add(growth, [Term("else", (one, t)) for one in fields for t in numbers if alike(growth, one, t)], 4)


def _except_values(growth: Growth) -> None:
    """Add what elements have unless a field of theirs, with a few values, has one of these."""
    vectors = []
    for term in growth.terms[2:]:
        shape = growth.shapes[term.key]
        plain = shape.scalars and not shape.maps and not shape.lists
        if plain and term.rank and term.op == "field" and _over_argument(growth, term):
            vectors.append((term, set(shape.scalars)))
    vectors.sort(key=lambda pair: (pair[0].cost, pair[0].key))
    labels = [(t, values) for t, values in vectors if 2 <= len(values - {None}) <= FEW and not _is_count(growth, t)]
    found = []
    for label, values in labels[:4]:
        for term, _ in vectors:
            if term.origin == label.origin and term != label and _is_apart(growth, term, label):
                found += [Term("unless", (term, label), value) for value in sorted(values - {None}, key=repr)]
    _add(growth, sorted(found, key=lambda t: (not t.parents[0].rooted, t.cost, t.key)), 12)


def _is_apart(growth: Growth, term: Term, label: Term) -> bool:
    """Say whether a term is neither in the same record as a label nor a label itself."""
    return term.parents[0] != label.parents[0] or _is_count(growth, term)


def _over_argument(growth: Growth, term: Term) -> bool:
    """Say whether a term has one value for each element of a list in the arguments."""
    return any(t.key == term.origin and t.rooted for t in growth.terms)


def _is_count(growth: Growth, term: Term) -> bool:
    return all(is_number(v) for v in growth.shapes[term.key].scalars)


# -- extremes, totals and ratios --------------------------------------------------------------------------------------


def _extremes(growth: Growth, vectors: Sequence[Term]) -> None:
    """Add the least and the largest of numbers, and the least difference of what is held and what is given."""
    dear = [t for t in vectors if t.op == "unless"]
    plain = [t for t in vectors if t.op not in ("unless", "else") and t.param is not None or t.op == "get"]
    _add(growth, [Term("min", (t,)) for t in (*dear[:8], *plain[:12])], 16)
    _add(growth, [Term("max", (t,)) for t in plain if t.rooted or len(plain) <= 8], 8)
    given = [t for t in vectors if t.rooted]
    held = [t for t in vectors if not t.rooted]
    pairs = [(h, g) for g in given for h in held if g.op != "unless" and h.origin == g.origin and alike(growth, h, g)]
    _add(growth, [Term("min", (Term("minus", pair),)) for pair in pairs], 6)


def _totals(growth: Growth, vectors: Sequence[Term]) -> None:
    """Add differences of sums, and these and sums times a number of elements."""
    instead = [t for t in vectors if t.op == "else"]
    _add(growth, [Term("sum", (t,)) for t in instead], 4)
    sums = [t for t in _numbers(growth, 0) if t.op == "sum" and not t.rooted]
    asked = [t for t in sums if _over_argument(growth, t.parents[0]) and t.parents[0].op in ("else", "get", "field")]
    asked.sort(key=lambda t: (t.parents[0].op != "else", t.parents[0].op != "get"))
    held = [t for t in sums if not _over_argument(growth, t.parents[0])]
    pairs = [(one, other) for one in asked[:4] for other in held[:6] if _one_kind(growth, one, other)]
    differences = _add(growth, [Term("minus", pair) for pair in pairs], 4)
    counts = [t for t in _numbers(growth, 0) if t.op == "len"]
    counts.sort(key=lambda t: (t.cost, t.key))
    for total in (*differences, *asked[:3]):
        fitting = [t for t in counts if t.parents[0].key not in total.parts]
        _add(growth, [Term("times", (total, t)) for t in fitting[:4]], 3)


def _one_kind(growth: Growth, one: Term, other: Term) -> bool:
    """Say whether two sums are of numbers of one kind: in fields of one name, or alike."""
    a, b = one.parents[0], other.parents[0]
    names = {t.param for t in (a, *a.parents) if t.op == "field"}
    return b.param in names or (a.op == "get" and alike(growth, one, other))


def _ratios(growth: Growth) -> None:
    """Add what is held of what is asked for: ratios of numbers that records hold and numbers that arguments give."""
    scalars = [t for t in _numbers(growth, 0) if t.op not in ("time", "over", "times", "plus")]
    given = [t for t in scalars if t.rooted and t.op != "len"][:3]
    changes = [
        t for t in scalars if t.op == "minus" and t.parents[0].param == t.parents[1].param and t.parents[0].param
    ]
    turned = [Term("minus", (t.parents[1], t.parents[0])) for t in changes[:3]]
    changes = [*_add(growth, turned, 3), *changes[:3]]
    held = [t for t in scalars if t.op in ("field", "number", "get") and (t.reads_args or t.hops < 2) and not t.rooted]
    held.sort(key=lambda t: (not t.reads_args, t.hops, t.cost, t.key))
    found = [(h, g) for h in held[:4] for g in (*changes, *given) if h not in g.parents]
    _add(growth, [Term("over", pair) for pair in found], 16)
