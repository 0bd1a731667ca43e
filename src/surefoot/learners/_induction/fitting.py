"""Amounts that must come to what others come to: linear expressions that are exact on every accepted call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners._induction.conditions import EXACT
from surefoot.learners._induction.operations import is_number
from surefoot.learners._induction.programs import derive
from surefoot.learners._induction.terms import Term

__all__ = ["fit"]

TARGETS = 3
"""So many amounts of the arguments are looked at."""
LONGEST = 4
"""An expression has at most so many parts, and a constant."""
BEAM = 8
"""So many beginnings are followed at once."""
MOST = 256
"""An expression is made from at most so many parts, cheap ones first."""
CALLS = 256
"""It is looked for in so many accepted calls, and tried on all."""
LABELS = 4
"""An argument with at most so many values can decide whether a part counts."""
Figures = NDArray[np.float64]


def fit(terms: Sequence[Term], columns: Sequence[Any], refused: Sequence[bool], marks: Sequence[int]) -> list[Term]:
    """Return linear expressions to which an amount in the arguments comes in every accepted call.

    Numbers, lengths, sums, products of two of them, and these only where an argument has some value, are the parts.
    Parts are added one by one, each time that which leaves the least, by least squares, from `BEAM` beginnings at once
    (orthogonal least squares with a beam: Chen, Billings & Luo 1989); factors are rounded to four places.

    Args:
        terms: what was read.
        columns: their values on each call.
        refused: whether each call was refused.
        marks: numbers that order the calls whatever the order of observation.

    Cost: `LONGEST` * `BEAM` * `MOST` * `CALLS` multiplications for each of at most `TARGETS` amounts.
    """
    held = {term.key: column for term, column in zip(terms, columns, strict=True)}
    good = sorted((at for at, bad in enumerate(refused) if not bad), key=lambda at: marks[at])
    found: list[Term] = []
    if len(good) < 3 * LONGEST:
        return found
    targets = [t for t in _numbers(terms, held, good) if t.rooted and t.op in ("sum", "field", "number")]
    targets = [t for t in targets if len({held[t.key][at] for at in good}) > 8]
    targets.sort(key=lambda t: (t.op != "sum", t.cost, t.key))
    for target in targets[:TARGETS]:
        rows = [at for at in good if is_number(held[target.key][at])]
        parts = _Parts(terms, held, rows, target)
        found += _expressions(parts, np.array([held[target.key][at] for at in rows], dtype=float))
    return found


def _numbers(terms: Sequence[Term], held: dict[str, Sequence[Any]], rows: Sequence[int]) -> list[Term]:
    """Return the terms of rank 0 that hold numbers in nearly all of some calls."""
    found = []
    for term in terms:
        if not term.rank:
            column = held[term.key]
            if sum(is_number(column[at]) for at in rows) >= 0.95 * len(rows):
                found.append(term)
    return found


class _Parts:
    """What an expression may be made of, with the values on some calls."""

    def __init__(self, terms: Sequence[Term], held: dict[str, Sequence[Any]], rows: list[int], target: Term) -> None:
        self.held, self.rows = dict(held), rows
        self.terms: list[Term] = []
        columns: list[Figures] = []
        for term in self._made(terms, held, target)[:MOST]:
            values = self._values(term)
            figures = np.array([values[at] if is_number(values[at]) else np.nan for at in rows], dtype=float)
            if not np.isnan(figures).any() and np.ptp(figures) > 0:
                self.terms.append(term)
                columns.append(figures)
        self.figures = np.array(columns, dtype=float).reshape(len(columns), len(rows))

    def _values(self, term: Term) -> Sequence[Any]:
        if term.key not in self.held:
            self.held[term.key] = derive(term, [self._values(parent) for parent in term.parents])
        return self.held[term.key]

    def _made(self, terms: Sequence[Term], held: dict[str, Sequence[Any]], target: Term) -> list[Term]:
        aside = target.arguments
        usable = [t for t in _numbers(terms, held, self.rows) if not t.arguments & aside and t.cost <= 9]
        given = [t for t in usable if t.rooted and t.op in ("field", "number")][:6]
        counts = sorted((t for t in usable if t.op == "len"), key=lambda t: (not t.rooted, t.cost, t.key))[:4]
        sums = [t for t in usable if t.op in ("sum", "sumtimes", "sumdiff")]
        sums.sort(key=lambda t: (t.parents[0].op != "get", t.cost, t.key))
        del sums[10:]
        single = [t for t in usable if not t.rooted and t.op in ("field", "get", "number") and t.reads_args][:6]
        by_count = [Term("times", (one, n)) for one in (*sums, *given, *single) for n in counts if one != n]
        by_number = [Term("times", (one, n)) for one in (*sums, *single) for n in given if one != n]
        plain = [*given, *counts, *(t for t in by_count if t.parents[0] in given)]
        own = [t for t in plain if all(p.rooted for p in (t.parents if t.op == "times" else (t,)))]
        labels = self._labels(terms, held)
        gated = [Term("gated", (t, label), value) for label, value in labels for t in own]
        flags = [Term("flag", (label,), value) for label, value in labels]
        made = [*given, *counts, *flags, *sums, *single, *by_count, *by_number, *gated]
        return sorted(made, key=lambda t: (t.cost, t.key))

    def _labels(self, terms: Sequence[Term], held: dict[str, Sequence[Any]]) -> list[tuple[Term, Any]]:
        """Return arguments with few values, and all of these but one, which the others tell."""
        found: list[tuple[Term, Any]] = []
        for term in terms:
            if not term.rank and term.op == "field" and term.parents[0].op == "args":
                values = {held[term.key][at] for at in self.rows if isinstance(held[term.key][at], str | bool)}
                if 2 <= len(values) <= LABELS:
                    found += [(term, value) for value in sorted(values, key=repr)]
        return found[:12]


def _expressions(parts: _Parts, amounts: Figures) -> list[Term]:
    """Return the shortest exact expressions: the cheapest of them."""
    few = slice(0, CALLS)
    figures, wanted = parts.figures[:, few], amounts[few]
    beginnings: list[tuple[int, ...]] = [()]
    for _ in range(LONGEST):
        scored: dict[tuple[int, ...], float] = {}
        for chosen in beginnings:
            left = _left(figures, wanted, chosen)
            for at in np.argsort(left, kind="stable")[:BEAM].tolist():
                if at not in chosen:
                    scored[tuple(sorted((*chosen, at)))] = float(left[at])
        beginnings = sorted(scored, key=lambda chosen: (scored[chosen], chosen))[:BEAM]
        exact = [term for chosen in beginnings if (term := _exact(parts, amounts, chosen)) is not None]
        if exact:
            return sorted(exact, key=lambda t: (t.cost, t.key))[:2]
    return []


def _left(figures: Figures, wanted: Figures, chosen: tuple[int, ...]) -> Figures:
    """Return what each further part would leave of the amounts: sums of squares, a constant taken out."""
    base, _ = np.linalg.qr(np.vstack([np.ones(figures.shape[1]), figures[list(chosen)]]).T)
    rest = wanted - base @ (base.T @ wanted)
    others = figures - (figures @ base) @ base.T
    size = (others * others).sum(axis=1)
    new = size > 1e-9 * np.maximum(1.0, (figures * figures).sum(axis=1))
    gain = np.where(new, (others @ rest) ** 2 / np.where(new, size, 1.0), 0.0)
    return np.asarray(rest @ rest - gain)


def _exact(parts: _Parts, amounts: Figures, chosen: tuple[int, ...]) -> Term | None:
    """Return the expression of some parts when it gives every amount, None when it does not."""
    if len(amounts) < 3 * len(chosen) + 6:
        return None
    x = np.vstack([parts.figures[list(chosen)], np.ones(len(amounts))]).T
    factors: Figures = np.around(np.asarray(np.linalg.lstsq(x, amounts, rcond=None)[0]), 4)
    if np.abs(x @ factors - amounts).max() >= EXACT or not factors[:-1].all():
        return None
    plain = [int(by) if float(by).is_integer() else float(by) for by in factors.tolist()]
    terms = tuple(parts.terms[at] for at in chosen)
    return Term("linear", terms, tuple(plain if plain[-1] else plain[:-1]))
