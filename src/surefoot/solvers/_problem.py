"""The equation that solvers solve: x = max (or min) over choices of constant + row · x, with exactly one solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from surefoot.models._compiled import compiled, fill_branches, is_there
from surefoot.models.components import Direction, components

if TYPE_CHECKING:
    from surefoot.models.components import Rows

__all__ = ["Problem", "make_problem", "spans", "unit_roundoff"]

unit_roundoff = 2.0**-53


def spans(start: NDArray[np.int64], stop: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all the half-open ranges, one after the other."""
    counts = stop - start
    ends = np.cumsum(counts)
    numbers = np.arange(int(counts.sum()), dtype=np.int64)
    numbers += np.repeat(start - (ends - counts), counts)
    return numbers


@dataclass(frozen=True, eq=False)
class Problem:
    """Hold the rows of a model whose every policy ends, with what is decided already moved into the constants.

    N nodes, K choices, M branches. Nodes stand in an order in which most branches lead to lower numbers.

    Args:
        choice_start: (N + 1,) int64; no node is without choices.
        branch_start: (K + 1,) int64; a choice may have no branches.
        target: (M,) int32, nodes; none leads back to the node of its choice.
        weight: (M,) float64, > 0; the sum of a choice is at most 1 (but for rounding).
        constant: (K,) float64.
        direction: `max` or `min` over the choices of a node.
        relative: whether all constants are >= 0, and so is the solution.
        rounding: bound of the relative error of one row's arithmetic.
        floor: the least size against which an error is measured: 0 where all is >= 0, else the largest reward.
    """

    choice_start: NDArray[np.int64]
    branch_start: NDArray[np.int64]
    target: NDArray[np.int32]
    weight: NDArray[np.float64]
    constant: NDArray[np.float64]
    direction: Direction
    relative: bool
    rounding: float
    floor: float = 0.0

    @property
    def size(self) -> int:
        """Return N."""
        return len(self.choice_start) - 1

    def with_constant(self, constant: NDArray[np.float64], *, relative: bool, floor: float = 0.0) -> Problem:
        """Return the problem with other constants; `floor` is the least size to measure by, unless all is >= 0."""
        return Problem(
            self.choice_start,
            self.branch_start,
            self.target,
            self.weight,
            constant,
            self.direction,
            relative,
            self.rounding,
            0.0 if relative else max(floor, float(np.abs(constant).max(initial=0.0)), 1e-200),
        )


@dataclass(frozen=True, eq=False)
class Made:
    """Hold a problem and where its parts come from.

    Args:
        problem: the problem.
        node: (S,) int64, the node of each state, -1 for states that are decided.
        choice: (K,) int64, the choice of the model that each choice was.
    """

    problem: Problem
    node: NDArray[np.int64]
    choice: NDArray[np.int64]


def make_problem(
    rows: Rows,
    probability: NDArray[np.float64],
    *,
    open_: NDArray[np.bool_],
    merged: NDArray[np.int32] | None,
    choices: NDArray[np.bool_],
    decided: NDArray[np.float64],
    paid: NDArray[np.float64] | None,
    direction: Direction,
    discount: float = 1.0,
) -> Made:
    """Return the problem of the states that are not decided.

    Args:
        rows: the model.
        probability: (B,) float64.
        open_: (S,) bool, the states that are not decided.
        merged: (S,) int32, states with one number become one node; -1: a node by itself. None: all by themselves.
        choices: (C,) bool, the choices that may be taken; each lies in an open state.
        decided: (S,) float64, the values of the other states.
        paid: (C,) float64, what each choice pays; None: nothing.
        direction: `max` or `min`.
        discount: factor on all probabilities.

    Cost: linear; about 0.15 µs for each branch.
    """
    node, count, first = _number(rows, open_, merged, choices)
    if merged is None:  # each node is a state: its choices stand together already
        kept = spans(rows.choice_start[first], rows.choice_start[first + 1])
        taken = choices[kept]
        kept = kept[taken]
        home = np.repeat(np.arange(count), np.diff(rows.choice_start)[first])[taken]
    else:
        owner = np.repeat(np.arange(len(node)), np.diff(rows.choice_start))
        kept = np.flatnonzero(choices)
        kept = kept[np.argsort(node[owner[kept]], kind="stable")]
        home = node[owner[kept]]
    filled = _fill(rows, probability, kept, home, node, decided, discount)
    if discount == 1.0 and not filled.leaves.all():
        # A choice that never leads away, and is not free, is never worth taking.
        kept, home = kept[filled.leaves > 0], home[filled.leaves > 0]
        filled = _fill(rows, probability, kept, home, node, decided, discount)
    constant = filled.constant if paid is None else filled.constant + paid[kept]
    weight = filled.weight
    if filled.stays.any():
        # What stays is 1 minus what leaves: adding up what leaves keeps its digits where it is little.
        leaves = filled.leaves if discount == 1.0 else 1.0 - filled.stays
        leaves = np.where(filled.stays > 0, leaves, 1.0)
        constant = constant / leaves
        weight = weight / np.repeat(leaves, np.diff(filled.branch_start))
    branch_start, goes = filled.branch_start, filled.target
    sizes = rows.branch_start[kept + 1] - rows.branch_start[kept]
    choice_start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(home, minlength=count), out=choice_start[1:])
    relative = bool((constant >= 0).all())
    rounding = (2 * int(sizes.max(initial=0)) + 16) * unit_roundoff
    floor = 0.0
    if not relative:
        floor = max(
            0.0 if paid is None else float(np.abs(paid).max(initial=0.0)), float(np.abs(decided).max(initial=0.0))
        )
    problem = Problem(choice_start, branch_start, goes, weight, constant, direction, relative, rounding, floor)
    return Made(problem, node, kept)


def _number(
    rows: Rows, open_: NDArray[np.bool_], merged: NDArray[np.int32] | None, choices: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
    """Return the node of each state, how many there are, and a state of each.

    Sinks come first, and inside a component the highest state.
    """
    _, label = components(rows, within=open_, choices=choices)
    first = np.flatnonzero(open_)[::-1]  # the highest state first
    if merged is not None:
        inside = merged[first]
        grouped = np.flatnonzero(inside >= 0)
        _, lead = np.unique(inside[grouped], return_index=True)
        single = inside < 0
        single[grouped[lead]] = True
        first = first[single]
    first = first[np.argsort(label[first], kind="stable")]
    node = np.full(len(open_), -1, np.int64)
    node[first] = np.arange(len(first))
    if merged is not None:
        of = np.full(int(merged.max(initial=-1)) + 1, -1, np.int64)
        leaders = first[merged[first] >= 0]
        of[merged[leaders]] = node[leaders]
        members = np.flatnonzero(open_ & (merged >= 0))
        node[members] = of[merged[members]]
    return node, len(first), first


@dataclass(frozen=True, eq=False)
class _Filled:
    """Hold the branches that are left, and what became of the others: (K,) each.

    Args:
        branch_start: where the branches of each choice start.
        target: nodes.
        weight: their probabilities.
        constant: what the branches to decided states are worth.
        stays: the probability to stay in the node.
        leaves: the probability to leave it.
    """

    branch_start: NDArray[np.int64]
    target: NDArray[np.int32]
    weight: NDArray[np.float64]
    constant: NDArray[np.float64]
    stays: NDArray[np.float64]
    leaves: NDArray[np.float64]


def _fill(
    rows: Rows,
    probability: NDArray[np.float64],
    kept: NDArray[np.int64],
    home: NDArray[np.int64],
    node: NDArray[np.int64],
    decided: NDArray[np.float64],
    discount: float,
) -> _Filled:
    """Sort the branches of the choices that are kept into those to nodes, to decided states, and back."""
    start, stop = rows.branch_start[kept], rows.branch_start[kept + 1]
    count = len(kept)
    if is_there():
        size = int((stop - start).sum())
        branch_start = np.zeros(count + 1, np.int64)
        target, weight = np.empty(size, np.int32), np.empty(size)
        constant, stays, leaves = np.zeros(count), np.zeros(count), np.zeros(count)
        compiled(fill_branches)(
            start, stop, home, rows.target, probability, node, decided, discount,
            branch_start, target, weight, constant, stays, leaves,
        )  # fmt: skip
        size = int(branch_start[-1])
        return _Filled(branch_start, target[:size], weight[:size], constant, stays, leaves)
    where = spans(start, stop)
    row = np.repeat(np.arange(count), stop - start)
    to = rows.target[where]
    share = probability[where] if discount == 1.0 else probability[where] * discount
    goes = node[to]
    done, back = goes < 0, goes == home[row]
    keep = ~(done | back)
    sizes = np.bincount(row[keep], minlength=count)
    return _Filled(
        np.r_[0, np.cumsum(sizes)].astype(np.int64),
        goes[keep].astype(np.int32),
        share[keep],
        np.bincount(row[done], share[done] * decided[to[done]], minlength=count).astype(np.float64),
        np.bincount(row[back], share[back], minlength=count).astype(np.float64),
        np.bincount(row[~back], share[~back], minlength=count).astype(np.float64),
    )
