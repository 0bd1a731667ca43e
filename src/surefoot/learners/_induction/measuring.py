"""What can be counted, summed and compared as a number, of the terms that a sample leads to."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.learners._induction.growing import DEAREST, Growth
from surefoot.learners._induction.operations import as_number, as_time, is_number
from surefoot.learners._induction.terms import Term
from surefoot.learners.vocabulary import MISSING

__all__ = ["alike", "by_key_first", "fixed_parts", "measure", "override"]


def override(growth: Growth) -> None:
    """Add what a field of a record will hold: the argument of its name where it is given, else what it holds."""
    given = [t for t in growth.terms[2:] if t.op == "field" and t.parents[0].op == "args" and _is_left_out(growth, t)]
    for term in growth.terms[2:]:
        if term.op == "field" and term.parents[0].op in ("get", "join", "join2") and term.parents[0].hops == 1:
            for argument in given:
                if argument.param == term.param and not term.rank:
                    growth.add(Term("else", (argument, term)))


def _is_left_out(growth: Growth, argument: Term) -> bool:
    """Say whether an argument is given in some calls and not in others."""
    missing = sum(value is MISSING for value in growth.columns[argument.key])
    return 0 < missing < growth.size


def measure(growth: Growth) -> None:
    """Add what can be counted and summed, numbers written as text, and the patterns of arguments."""
    scalars: list[Term] = []
    vectors: list[Term] = []
    for term in sorted(growth.terms[2:], key=lambda t: t.op != "else"):
        shape = growth.shapes[term.key]
        if term.op in ("each", "keys"):
            growth.add(Term("len", (term,)))
        if not shape.scalars or shape.maps or shape.lists:
            continue
        if all(is_number(v) for v in shape.scalars if v is not None):
            (vectors if term.rank else scalars).append(term)
        elif all(type(v) is str for v in shape.scalars if v is not None):
            texts = [v for v in shape.scalars if v is not None]
            if all(as_time(v) is not MISSING for v in texts):
                growth.add(Term("time", (term,)))
            if _money(texts) and growth.add(number := Term("number", (term,))):
                (vectors if term.rank else scalars).append(number)
            if term.rooted:
                growth.add(Term("shape", (term,)))
                if not term.rank:
                    growth.add(Term("symbols", (term,)))
    given = [t for t in scalars if t.rooted and t.op != "len"]
    held = sorted((t for t in scalars if not t.rooted), key=lambda t: (t.cost, t.key))[:10]
    for one in given[:6]:
        for other in (*held, *(t for t in given if t.key > one.key)):
            for op in ("plus", "times", "minus"):
                pair = (other, one) if op == "minus" else (one, other)
                growth.add(Term(op, pair), DEAREST + 4)
    vectors = by_key_first(growth, vectors)[:16]
    for one in vectors:
        growth.add(Term("sum", (one,)))
    for at, one in enumerate(vectors):
        for other in vectors[at + 1 :]:
            if one.cost + other.cost <= 14 and growth.zips(one, other):
                _join_numbers(growth, one, other)


def by_key_first(growth: Growth, terms: Sequence[Term]) -> list[Term]:
    """Sort terms by cost; last the fixed parts of what a call takes a part of by a key."""
    fixed = fixed_parts(growth)
    return sorted(terms, key=lambda t: (t in fixed, t.cost, t.key))


def fixed_parts(growth: Growth) -> set[Term]:
    """Return the parts by name of what a call takes a part of by a key."""
    keyed = {t.parents[0].key for t in growth.terms if t.op == "get"}
    return {t for t in growth.terms if t.op == "field" and t.parents[0].key in keyed}


def _join_numbers(growth: Growth, one: Term, other: Term) -> None:
    """Add the difference, both ways, and the product of two lists of numbers."""
    if alike(growth, one, other):
        growth.add(Term("sumdiff", (one, other)), DEAREST + 8)
        growth.add(Term("sumdiff", (other, one)), DEAREST + 8)
    else:
        growth.add(Term("sumtimes", (one, other)), DEAREST + 8)


def alike(growth: Growth, one: Term, other: Term) -> bool:
    """Say whether two terms hold numbers of one kind: of the same name, or of the same size."""
    if one.param is not None and one.param == other.param:
        return True
    a = [abs(v) for v in growth.shapes[one.key].scalars if is_number(v)]
    b = [abs(v) for v in growth.shapes[other.key].scalars if is_number(v)]
    low, high = sorted((sum(a) / len(a), sum(b) / len(b)))
    return bool(high <= 10 * low)


def _money(values: Sequence[str]) -> bool:
    """Say whether texts are numbers, and not names made of digits."""
    return all(as_number(v) is not MISSING for v in values) and any("." in v or v[:1] in "$€£" for v in values)
