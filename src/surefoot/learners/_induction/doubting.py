"""What keeps a call from being accepted though nothing selected refuses it: rules not met yet, and odd refusals."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from surefoot.learners._induction.columns import Frame
from surefoot.learners._induction.conditions import Condition
from surefoot.learners._induction.pools import Pool
from surefoot.learners._induction.terms import Term, way_to

__all__ = ["FEW_ODD", "bars", "guard", "holds_always", "kept_apart", "never_together", "proofs", "regions"]

Bools = NDArray[np.bool_]
GUARD = 20.0
"""How improbable, in nats, a condition on the arguments may be and still be watched; less the log of the calls."""
PLAIN_GUARD = 9.0
"""The same for a condition on the state alone."""
TOUCHED = 3.0
"""What is added for conditions on what the action changes."""
COMPUTED = 8.0
"""What is added for comparisons of what the action computes."""
FEW_ACCEPTED = 60
"""With more accepted calls than this, labels that were never accepted together are no longer watched."""
PAIR = 9.2
"""A pair of labels is watched when the odds that it is a rule, its cost less what speaks for it, are 1 in 10,000."""
FEW_ODD = 3
"""So many unexplained refusals are needed to tell flakes from a rule."""
FLAKES = 0.08
"""More refusals than this share that nothing explains are never taken for flakes."""


def _is_touched(term: Term, touched: frozenset[tuple[str, str]]) -> bool:
    """Say whether a term is in what the action was seen to change."""
    root, names = way_to(term)
    return any((root, name) in touched or ("", name) in touched for name in names)


def holds_always(condition: Condition, touched: frozenset[tuple[str, str]]) -> bool:
    """Say whether a condition is watched however many calls have kept it: one on what the action itself changes."""
    return condition.kind in ("domain", "each domain") and _is_touched(condition.terms[0], touched)


def guard(condition: Condition, frame: Frame) -> float:
    """Return how improbable a condition may be and still keep a call that violates it from being accepted.

    Conditions that tie arguments to each other or to the state are what environments check, and so are conditions on
    what the action changes; a single value somewhere in the state is mostly an accident of the sample.
    """
    if condition.kind in ("domain", "each domain", "at least", "at most"):
        (term,) = condition.terms
        return PLAIN_GUARD + TOUCHED * _is_touched(term, frame.touched)
    if condition.kind == "present":
        return GUARD
    if condition.kind in ("le", "lt") and condition.terms[0].key in frame.computed:
        return GUARD + COMPUTED
    mixed = any(t.reads_args for t in condition.terms)
    return GUARD if mixed else PLAIN_GUARD


def kept_apart(pool: Pool) -> NDArray[Any]:
    """Return what it says for each condition that all its violators are among the refused, whatever they violate else.

    Minus the log of the chance that none of so many calls, drawn at random, would be an accepted one (hypergeometric).
    Of a domain, the refusals with its most frequent bad value count, less the choice of the value (one that is missing
    says that something else does not exist); bounds were fitted to the accepted calls, so that nothing follows.
    """
    n = pool.accepted + pool.refused
    violated = pool.wrong.sum(axis=1)
    choice = np.zeros(len(pool.found))
    most, choices = pool.remembered("most frequent", _most_frequent)
    by_value = most >= 0
    violated[: len(most)][by_value] = most[by_value]
    choice[: len(most)] = choices
    drawn = gammaln(n - violated + 1) - gammaln(pool.refused - violated + 1)
    said = gammaln(n + 1) - gammaln(pool.refused + 1) - drawn - choice
    return np.asarray(np.maximum(0.0, said))


def _most_frequent(pool: Pool, found: list[tuple[Condition, Bools]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return how many refusals hold the most frequent bad value of each domain, -1 of others; what its choice costs."""
    most, choices = np.full(len(found), -1), np.zeros(len(found))
    for i, (c, wrong) in enumerate(found):
        if c.kind in ("domain", "each domain"):
            counts = _bad_values(pool.frame, c, wrong)
            most[i], choices[i] = counts.max(initial=0), log(max(1, len(counts)))
        elif c.kind in ("at least", "at most"):
            most[i] = 0
    return most, choices


def bars(pool: Pool, found: list[tuple[Condition, Bools]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return by how much each condition may be improbable and still be watched, and which are watched for good."""
    frame = pool.frame
    bar = np.array([guard(c, frame) for c, _ in found])
    return bar, np.array([holds_always(c, frame.touched) for c, _ in found], dtype=bool)


def _bad_values(frame: Frame, condition: Condition, wrong: Bools) -> NDArray[Any]:
    """Return how many of the refusals that violate a domain hold each value outside it."""
    (term,) = condition.terms
    rows = frame.bad[wrong]
    if condition.kind == "domain":
        held = frame.codes[frame.place[term.key]][rows]
        return np.asarray(np.unique(held[held > 0], return_counts=True)[1])
    array = frame.lists[frame.place[term.key]]
    held = np.sort(array[rows], axis=1)
    fresh = held > 0
    fresh[:, 1:] &= held[:, 1:] != held[:, :-1]
    values, counts = np.unique(held[fresh], return_counts=True)
    return np.asarray(counts[~np.isin(values, array[frame.good])])


def never_together(pool: Pool) -> list[tuple[Condition, Bools]]:
    """Return pairs of labels that no accepted call violated together and that may be a rule, with the refusals that do.

    Labels are simple conditions on what the arguments name. How often a pair is expected, were the two independent,
    speaks for a rule (Poisson: the odds of never seeing it); against it speaks what it costs to say.
    """
    if not 4 <= pool.accepted <= FEW_ACCEPTED:
        return []
    memo = pool.frame.memo
    if "never together" not in memo:
        memo["never together"] = _never_together(pool)
    return list(memo["never together"])


def _never_together(pool: Pool) -> list[tuple[Condition, Bools]]:
    literals, wrong = pool.frame.literals()
    near = [
        i
        for i, c in enumerate(literals)
        if c.kind in ("is", "is not", "equal", "differ", "present", "absent", "member", "not member")
        and any(t.reads_args for t in c.terms)
    ][:120]
    if not near:
        return []
    good = wrong[near][:, pool.frame.good].astype(np.float32)
    share = good.sum(axis=1)
    joint = good @ good.T
    expected = np.outer(share, share) / pool.accepted
    rows, columns = np.nonzero(np.triu((joint == 0) & (expected > 0), 1))
    found = []
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        one, other = literals[near[i]], literals[near[j]]
        if set(one.terms) != set(other.terms):
            pair = Condition("either", (*one.terms, *other.terms), (one, other))
            odds = float(expected[i, j]) - pair.cost
            if odds >= -PAIR:
                found.append((odds, pair, wrong[near[i]][pool.frame.bad] & wrong[near[j]][pool.frame.bad]))
    found.sort(key=lambda pair: (-pair[0], pair[1].key))
    return [(c, both) for _, c, both in found[:300]]


def regions(pool: Pool, leftover: int) -> tuple[int, list[Condition]]:
    """Return how many unexplained refusals must be feared everywhere, and where else they are to be feared.

    A flake can come anywhere. Where the unexplained ones are significantly more frequent than elsewhere (likelihood
    ratio, Bonferroni over all literals), something decides that no condition says: there nothing is accepted.
    """
    if leftover < FEW_ODD:
        return leftover, []
    memo, place = pool.frame.memo, ("regions", pool.open.tobytes())
    if place not in memo:
        memo[place] = _regions(pool, leftover)
    odd, around = memo[place]
    return odd, list(around)


def _regions(pool: Pool, leftover: int) -> tuple[int, list[Condition]]:
    literals, wrong = pool.frame.literals()
    good = wrong[:, pool.frame.good]
    left = wrong[:, pool.frame.bad][:, pool.open]
    found: list[Condition] = []
    inside, outside = np.ones(good.shape[1], dtype=bool), np.ones(left.shape[1], dtype=bool)
    for _ in range(4):
        k, g = int(outside.sum()), int(inside.sum())
        if k < FEW_ODD or not g:
            return k, found
        a, b = left[:, outside].sum(axis=1), good[:, inside].sum(axis=1)
        ratio = _entropy(k, g) - _entropy(a, b) - _entropy(k - a, g - b)
        ratio[a * (g + k) <= (a + b) * k] = 0.0
        best = int(np.argmax(ratio)) if len(ratio) else -1
        if best < 0 or ratio[best] < log(max(2, len(literals))) + 4.0:
            return (0 if k <= FLAKES * (k + g) else k), found
        found.append(literals[best])
        inside &= ~good[best]
        outside &= ~left[best]
    return pool.refused + pool.accepted, found


def _entropy(odd: Any, fine: Any) -> Any:
    """Return n times the entropy of a share, in nats."""
    odd, fine = np.asarray(odd, dtype=float), np.asarray(fine, dtype=float)
    n = odd + fine
    with np.errstate(divide="ignore", invalid="ignore"):
        found = -odd * np.log(odd / n) - fine * np.log(fine / n)
    return np.nan_to_num(found)


def proofs(pool: Pool) -> list[tuple[Condition, int]]:
    """Return each literal with the accepted calls that violate it, as the bits of a number.

    A call that violates no more literals than some accepted call did violates no conjunction of disjunctions of
    literals that this one did not: it is accepted, whatever the rule is.
    """
    literals, wrong = pool.frame.literals(most=4000)
    good = wrong[:, pool.frame.good] if literals else np.zeros((0, pool.accepted), dtype=bool)
    found = []
    for condition, row in zip(literals, good, strict=True):
        bits = int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")
        found.append((condition, bits))
    return found
