"""Searches through a graph that `components` stands on: whole passes over all branches, and fronts of states.

Where numba is installed, its compiled searches are used; without it NumPy goes over all branches at once as long as
that finds much, and SciPy or a front of states finds the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order

from surefoot.models._compiled import compiled, drop_stuck, is_there, keep_inside, sweep_attract

if TYPE_CHECKING:
    from surefoot.models.components import Predecessors, Rows

__all__ = [
    "drop",
    "in_order",
    "kept_inside",
    "newly_seen",
    "parts_of",
    "pass_back",
    "room_for",
    "search_from",
    "spans",
    "stays",
]

Mask = NDArray[np.bool_]
_SWEEPS = 3
_MUCH = 0.05


def stays(rows: Rows, inside: Mask) -> Mask:
    """Say which choices lead only to states that are `inside`."""
    if len(rows.branch_start) == 1:
        return np.zeros(0, bool)
    return np.logical_and.reduceat(inside[rows.target], rows.branch_start[:-1])


def spans(start: NDArray[np.int64], stop: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all the half-open ranges, one after the other."""
    counts = stop - start
    ends = np.cumsum(counts)
    numbers = np.arange(int(counts.sum()), dtype=np.int64)
    numbers += np.repeat(start - (ends - counts), counts)
    return numbers


def newly_seen(found: NDArray[np.int32], seen: Mask) -> NDArray[np.int64]:
    """Return what was found and not seen before, each once, and mark it as seen."""
    fresh = found[~seen[found]]
    if len(fresh) > 1:
        fresh = np.unique(fresh)
    seen[fresh] = True
    return fresh.astype(np.int64)


def parts_of(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return the arrays of a graph."""
    return rows.choice_start, rows.branch_start, rows.target


def room_for(rows: Rows) -> tuple[NDArray[np.int32], int]:
    """Return room for what waits, and how many branches to look at before predecessors are sorted instead."""
    return np.empty((2, len(rows.choice_start) - 1), np.int32), _SWEEPS * len(rows.target) + 1000


def search_from(
    target: Mask, goes_to: NDArray[np.int32], owner: NDArray[np.int32], choice: NDArray[np.int32]
) -> tuple[Mask, NDArray[np.int64]]:
    """Search with SciPy from one more node that leads to all of the target; `goes_to` rises."""
    states = len(target)
    first = np.flatnonzero(target).astype(np.int32)
    start = np.zeros(states + 2, np.int64)
    np.cumsum(np.append(np.bincount(goes_to, minlength=states), len(first)), out=start[1:])
    edges = csr_matrix(
        (np.ones(len(owner) + len(first), np.int8), np.concatenate([owner, first]), start), (states + 1, states + 1)
    )
    order, before = breadth_first_order(edges, states, return_predecessors=True)
    seen = np.zeros(states + 1, bool)
    seen[order] = True
    nearer = np.full(states, -1, np.int64)
    hits = before[owner] == goes_to
    nearer[owner[hits]] = choice[hits]
    return seen[:states], nearer


def pass_back(
    rows: Rows, target: Mask, through: Mask | None, choices: Mask | None, owner: NDArray[np.int32]
) -> tuple[Mask, NDArray[np.int64], bool]:
    """Go over all branches at once, as long as that finds much; say whether everything was found."""
    seen, nearer = target.copy(), np.full(len(target), -1, np.int64)
    while len(rows.target):
        leads = np.logical_or.reduceat(seen[rows.target], rows.branch_start[:-1])
        leads &= ~seen[owner]
        if choices is not None:
            leads &= choices
        if through is not None:
            leads &= through[owner]
        taken = np.flatnonzero(leads)[::-1]
        if not len(taken):
            break
        before = int(seen.sum())
        seen[owner[taken]] = True
        nearer[owner[taken]] = taken  # the first choice of a state is written last
        found = int(seen.sum())
        if found == len(seen):
            break
        if found - before < _MUCH * (len(seen) - before):
            return seen, nearer, False
    return seen, nearer, True


def in_order(matrix: csr_matrix, count: int, label: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the labels in an order in which no edge leads to a higher one; SciPy's are so, which is checked here."""
    source = np.repeat(label, np.diff(matrix.indptr))
    to = label[matrix.indices]
    if bool((source >= to).all()):
        return label.astype(np.int32)
    between = source != to  # pragma: no cover (a SciPy that numbers in another way)
    edges = csr_matrix(  # pragma: no cover
        (np.ones(int(between.sum()), np.int8), (to[between], source[between])), (count, count)
    )
    rank, waiting = np.zeros(count, np.int64), np.diff(csr_matrix(edges.T).indptr)  # pragma: no cover
    ready, given = list(np.flatnonzero(waiting == 0)), 0  # pragma: no cover
    while ready:  # pragma: no cover
        one = ready.pop()
        rank[one] = given
        given += 1
        for later in edges.indices[edges.indptr[one] : edges.indptr[one + 1]]:
            waiting[later] -= 1
            if waiting[later] == 0:
                ready.append(later)
    return rank[label].astype(np.int32)  # pragma: no cover


def kept_inside(rows: Rows, inside: Mask, allowed: Mask, target: Mask, back: Predecessors) -> Mask:
    """Return the most of `inside` whose every state has an allowed choice that leads only there or to the target.

    Choices that lead out of it are taken out of `allowed`, in place.
    """
    if not is_there():
        allowed &= inside[back.state]
        while True:
            if len(allowed):
                allowed &= stays(rows, inside | target)
            some = np.zeros(len(inside), bool)
            some[back.state[allowed]] = True
            before, inside = int(inside.sum()), inside & some
            if int(inside.sum()) in (0, before):
                return inside
            if before - int(inside.sum()) < _MUCH * before:
                break
        if len(allowed):
            allowed &= stays(rows, inside | target)
        drop(back, inside, allowed)
        return inside
    hit = ~(inside | target)
    done = compiled(sweep_attract)(*parts_of(rows), inside, allowed, True, hit, *room_for(rows))
    inside = inside & ~hit
    if inside.any():
        compiled(keep_inside)(rows.branch_start, rows.target, ~hit, allowed)
        allowed &= inside[back.state]
        if not done:
            drop(back, inside, allowed)
    return inside


def drop(back: Predecessors, inside: Mask, allowed: Mask) -> None:
    """Take out, in place, states that have no allowed choice, and choices that lead to them, until there are none."""
    if is_there():
        states = len(inside)
        left, queue = np.zeros(states, np.int64), np.empty(states, np.int64)
        compiled(drop_stuck)(back.start, back.choice, back.state, inside, allowed, left, queue)
        return
    left = np.bincount(back.state[allowed], minlength=len(inside))
    stuck = np.flatnonzero(inside & (left == 0))
    while len(stuck):
        inside[stuck] = False
        into = back.of_states(stuck)
        lost = np.unique(into[allowed[into]])
        allowed[lost] = False
        owners = back.state[lost]
        np.subtract.at(left, owners, 1)
        owners = np.unique(owners)
        stuck = owners[inside[owners] & (left[owners] == 0)]
