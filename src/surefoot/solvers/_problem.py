"""The equation that solvers solve: x = max (or min) over choices of constant + row · x, with exactly one solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from surefoot.models._compiled import compiled, fill_rows, is_there, list_choices, spread, sweep_back
from surefoot.models.components import Direction, components

if TYPE_CHECKING:
    from surefoot.models.components import Rows

__all__ = ["Problem", "make_problem", "spans", "unit_roundoff"]

unit_roundoff = 2.0**-53
_ALONG = 20
_ROUNDS = 12
_NEARLY = 0.9


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
        node: (S,) int32, the node of each state, -1 for states that are decided.
        choice: (K,) int64, the choice of the model that each choice was.
    """

    problem: Problem
    node: NDArray[np.int32]
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
        kept, home = _listed(rows, first, choices)
    else:
        owner = np.repeat(np.arange(len(node)), np.diff(rows.choice_start))
        kept = np.flatnonzero(choices)
        kept = kept[np.argsort(node[owner[kept]], kind="stable")]
        home = node[owner[kept]].astype(np.int64)
    rounding = (2 * int((rows.branch_start[kept + 1] - rows.branch_start[kept]).max(initial=0)) + 16) * unit_roundoff
    filled = _fill(rows, probability, kept, home, node, decided, paid, discount)
    choice_start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(filled.home, minlength=count), out=choice_start[1:])
    relative = bool((filled.constant >= 0).all())
    floor = 0.0
    if not relative:
        floor = max(
            0.0 if paid is None else float(np.abs(paid).max(initial=0.0)), float(np.abs(decided).max(initial=0.0))
        )
    problem = Problem(
        choice_start,
        filled.branch_start,
        filled.target,
        filled.weight,
        filled.constant,
        direction,
        relative,
        rounding,
        floor,
    )
    return Made(problem, node, filled.kept)


def _listed(
    rows: Rows, first: NDArray[np.int64], choices: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the choices of some states that may be taken, in the order of the states, and which state each is of."""
    if is_there():
        kept, home = np.empty(len(choices), np.int64), np.empty(len(choices), np.int64)
        count = compiled(list_choices)(first, rows.choice_start, choices, kept, home)
        return kept[:count], home[:count]
    kept = spans(rows.choice_start[first], rows.choice_start[first + 1])
    taken = choices[kept]
    return kept[taken], np.repeat(np.arange(len(first)), np.diff(rows.choice_start)[first])[taken]


def _number(
    rows: Rows, open_: NDArray[np.bool_], merged: NDArray[np.int32] | None, choices: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
    """Return the node of each state, how many there are, and a state of each.

    Sinks come first, and inside a component the highest state.
    """
    label: NDArray[np.int8] | NDArray[np.int32] | None = _tied(rows, open_, choices) if is_there() else None
    if label is None:
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
    node = np.full(len(open_), -1, np.int32)
    node[first] = np.arange(len(first), dtype=np.int32)
    if merged is not None:
        of = np.full(int(merged.max(initial=-1)) + 1, -1, np.int32)
        leaders = first[merged[first] >= 0]
        of[merged[leaders]] = node[leaders]
        members = np.flatnonzero(open_ & (merged >= 0))
        node[members] = of[merged[members]]
    return node, len(first), first


def _tied(rows: Rows, open_: NDArray[np.bool_], choices: NDArray[np.bool_]) -> NDArray[np.int8] | None:
    """Return an order of components where one of them holds nearly all states, without looking for the others.

    0: what it leads to, 1: that component, 2: what is left, or was not seen to be in it soon. It is an order to sweep
    in: no more depends on it than how many sweeps it takes. None: no such component was seen.
    """
    where = np.flatnonzero(open_)
    if not len(where):
        return None
    graph = (rows.choice_start, rows.branch_start, rows.target)
    after, before = np.zeros(len(open_), bool), np.zeros(len(open_), bool)
    inside = _along(rows, int(where[-1]), open_, choices)
    after[inside] = before[inside] = True
    compiled(spread)(*graph, open_, choices, after, _ROUNDS)
    if after.sum() < _NEARLY * len(where):
        return None
    room = np.empty(len(open_), np.int64), np.empty((2, len(open_)), np.int32), _ROUNDS // 2 * len(rows.target) + 1000
    compiled(sweep_back)(*graph, open_, choices, before, *room)
    both = after & before
    if both.sum() < _NEARLY * len(where):
        return None
    return np.where(both, 1, np.where(after, 0, 2)).astype(np.int8)


def _along(rows: Rows, state: int, open_: NDArray[np.bool_], choices: NDArray[np.bool_]) -> int:
    """Return the state that a few steps from a state lead to: what one comes to is seldom what nothing leads to."""
    for _ in range(_ALONG):
        for choice in range(int(rows.choice_start[state]), int(rows.choice_start[state + 1])):
            to = rows.target[rows.branch_start[choice] : rows.branch_start[choice + 1]]
            to = to[open_[to] & (to != state)]
            if choices[choice] and len(to):
                state = int(to[0])
                break
        else:
            break
    return state


@dataclass(frozen=True, eq=False)
class _Filled:
    """Hold the choices that are left: (K,) each.

    Args:
        kept: the choices of the model.
        home: the node of each.
        branch_start: where the branches of each start.
        target: (M,) nodes.
        weight: (M,) what they are worth to it: what leads back to its own node is shared out.
        constant: what the branches to decided states are worth, and what is paid.
    """

    kept: NDArray[np.int64]
    home: NDArray[np.int64]
    branch_start: NDArray[np.int64]
    target: NDArray[np.int32]
    weight: NDArray[np.float64]
    constant: NDArray[np.float64]


def _fill(
    rows: Rows,
    probability: NDArray[np.float64],
    kept: NDArray[np.int64],
    home: NDArray[np.int64],
    node: NDArray[np.int32],
    decided: NDArray[np.float64],
    paid: NDArray[np.float64] | None,
    discount: float,
) -> _Filled:
    """Sort the branches of the choices that are kept into those to nodes, to decided states, and back.

    Choices that never leave their node are left out: one that is not free is never worth taking.
    """
    if is_there():
        size = int((rows.branch_start[kept + 1] - rows.branch_start[kept]).sum())
        branch_start, constant = np.zeros(len(kept) + 1, np.int64), np.empty(len(kept))
        target, weight = np.empty(size, np.int32), np.empty(size)
        count = compiled(fill_rows)(
            rows.branch_start, rows.target, probability, kept, home, node, decided,
            np.zeros(0) if paid is None else paid, discount, branch_start, target, weight, constant,
        )  # fmt: skip
        size = int(branch_start[count])
        return _Filled(
            kept[:count], home[:count], branch_start[: count + 1], target[:size], weight[:size], constant[:count]
        )
    start, stop = rows.branch_start[kept], rows.branch_start[kept + 1]
    where, row = spans(start, stop), np.repeat(np.arange(len(kept)), stop - start)
    to = rows.target[where]
    share = probability[where] if discount == 1.0 else probability[where] * discount
    goes = node[to]
    done, back = goes < 0, goes == home[row]
    loops = bool(back.any())
    leaves = np.bincount(row[~back], share[~back], minlength=len(kept)) if loops else np.ones(0)
    if discount == 1.0 and not leaves.all():
        use = leaves > 0
        return _fill(rows, probability, kept[use], home[use], node, decided, paid, discount)
    keep = ~(done | back)
    constant = np.bincount(row[done], share[done] * decided[to[done]], minlength=len(kept)).astype(np.float64)
    if paid is not None:
        constant = constant + paid[kept]
    weight, of = share[keep], row[keep]
    if loops:
        # What stays is 1 minus what leaves: adding up what leaves keeps its digits where it is little.
        stays = np.bincount(row[back], share[back], minlength=len(kept))
        part = np.where(stays > 0, leaves if discount == 1.0 else 1.0 - stays, 1.0)
        constant /= part
        weight /= part[of]
    branch_start = np.r_[0, np.cumsum(np.bincount(of, minlength=len(kept)))].astype(np.int64)
    return _Filled(kept, home, branch_start, goes[keep].astype(np.int32), weight, constant)
