"""Interval models: what their graph decides, problems in which somebody picks from intervals, and sweeps over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from surefoot.models._compiled import compiled
from surefoot.models.components import Direction, components
from surefoot.solvers._numba import sweep_intervals, sweep_policy, take_rows
from surefoot.solvers._numpy import sums_of_changes
from surefoot.solvers._problem import spans, unit_roundoff

__all__ = [
    "CompiledIntervalSweeps",
    "IntervalProblem",
    "IntervalRows",
    "IntervalSweeps",
    "can_stay",
    "end_components_of_both",
    "pick",
    "possible",
    "zero_of_both",
    "zero_of_game",
]

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
_ALMOST_ONE = 1 - 1e-9  # as models check their sums
_FLOOR = 1e-3


@dataclass(frozen=True, eq=False)
class IntervalRows:
    """Hold the rows of a model with an interval on each branch; see `Model`."""

    choice_start: NDArray[np.int64]
    branch_start: NDArray[np.int64]
    target: NDArray[np.int32]
    lower: Values
    upper: Values

    def only(self, choices: NDArray[np.int64]) -> IntervalRows:
        """Return the rows where each state has the one given choice; -1: none."""
        taken = choices[choices >= 0]
        where = spans(self.branch_start[taken], self.branch_start[taken + 1])
        sizes = self.branch_start[taken + 1] - self.branch_start[taken]
        return IntervalRows(
            np.r_[0, np.cumsum(choices >= 0)].astype(np.int64),
            np.r_[0, np.cumsum(sizes)].astype(np.int64),
            self.target[where],
            self.lower[where],
            self.upper[where],
        )


def _sums(rows: IntervalRows, values: Values) -> Values:
    return np.add.reduceat(values, rows.branch_start[:-1]) if len(rows.branch_start) > 1 else np.zeros(0)


def possible(rows: IntervalRows) -> IntervalRows:
    """Return the rows without branches that cannot be taken, because the others must have all of the probability."""
    least = np.repeat(_sums(rows, rows.lower), np.diff(rows.branch_start))
    keep = (rows.lower > 0) | (least - rows.lower < 1 - 1e-12)
    if keep.all():
        return rows
    row = np.repeat(np.arange(len(rows.branch_start) - 1), np.diff(rows.branch_start))
    counts = np.bincount(row[keep], minlength=len(rows.branch_start) - 1)
    start = np.r_[0, np.cumsum(counts)].astype(np.int64)
    return IntervalRows(rows.choice_start, start, rows.target[keep], rows.lower[keep], rows.upper[keep])


def can_stay(rows: IntervalRows, inside: Mask) -> Mask:
    """Say for which choices one can pick from the intervals so that they lead only to states `inside`."""
    within = inside[rows.target]
    room = _sums(rows, np.where(within, rows.upper, 0.0))
    must = _sums(rows, np.where(within, 0.0, rows.lower))
    return np.asarray((room >= _ALMOST_ONE) & (must == 0.0), bool)


def zero_of_both(rows: IntervalRows, target: Mask, through: Mask) -> Mask:
    """Say where the target can be missed for certain, if both who pick want that."""
    owner = np.repeat(np.arange(len(target)), np.diff(rows.choice_start))
    ends = rows.choice_start[1:] == rows.choice_start[:-1]
    inside = ~target
    while True:
        stays = can_stay(rows, inside)
        some = np.zeros(len(target), bool)
        some[owner[stays]] = True
        smaller = inside & (some | ends | ~through)
        if bool((smaller == inside).all()):
            return inside
        inside = smaller


def zero_of_game(rows: IntervalRows, target: Mask, through: Mask) -> Mask:
    """Say where the target can be missed for certain by who picks from intervals, whatever choices are taken."""
    owner = np.repeat(np.arange(len(target)), np.diff(rows.choice_start))
    hit = target.copy()
    while True:
        forced = np.zeros(len(target), bool)
        forced[owner[~can_stay(rows, ~hit)]] = True
        more = hit | (forced & through)
        if bool((more == hit).all()):
            return ~hit
        hit = more


def end_components_of_both(rows: IntervalRows, open_: Mask) -> tuple[int, NDArray[np.int32], Mask]:
    """Return the end components that both together can stay in, as `end_components`, and the choices that can stay."""
    states = len(open_)
    owner = np.repeat(np.arange(states), np.diff(rows.choice_start))
    source = np.repeat(owner, np.diff(rows.branch_start))
    label = np.where(open_, 0, -1).astype(np.int32)
    allowed = open_[owner]
    while True:
        same = (label[source] == label[rows.target]) & (label[source] >= 0)
        room = _sums(rows, np.where(same, rows.upper, 0.0))
        must = _sums(rows, np.where(same, 0.0, rows.lower))
        allowed = allowed & (room >= _ALMOST_ONE) & (must == 0.0)
        some = np.zeros(states, bool)
        some[owner[allowed]] = True
        inside = some & (label >= 0)
        _, fresh = components(_Edges(rows, same & np.repeat(allowed, np.diff(rows.branch_start))), within=inside)
        new = np.where(inside, fresh, -1).astype(np.int32)
        if _same_parts(label, new):
            break
        label = new
    numbers = np.full(states, -1, np.int32)
    found, which = np.unique(label[label >= 0], return_inverse=True)
    numbers[label >= 0] = which
    return len(found), numbers, allowed


class _Edges:
    """Hold the rows with some branches only."""

    def __init__(self, rows: IntervalRows, keep: Mask) -> None:
        row = np.repeat(np.arange(len(rows.branch_start) - 1), np.diff(rows.branch_start))
        counts = np.bincount(row[keep], minlength=len(rows.branch_start) - 1)
        self.choice_start = rows.choice_start
        self.branch_start = np.r_[0, np.cumsum(counts)].astype(np.int64)
        self.target = rows.target[keep]


def _same_parts(old: NDArray[np.int32], new: NDArray[np.int32]) -> bool:
    """Say whether two numberings part the states in the same way, where new parts only ever lie inside old ones."""
    if not np.array_equal(old >= 0, new >= 0):
        return False
    return len(np.unique(old)) == len(np.unique(new))


@dataclass(frozen=True, eq=False)
class IntervalProblem:
    """Hold rows in which somebody picks a choice and somebody picks from the intervals, with exactly one solution.

    Like `Problem`, but branches may lead to decided values too, because it matters for what is picked.

    Args:
        rows: N nodes; a target below N is a node, any other one a decided value.
        fixed: the decided values.
        constant: (K,) what each choice pays.
        extra: (M,) what each branch pays, or None.
        direction: who picks choices.
        nature: who picks from intervals.
        rounding: bound of the error of one row, as a part of the largest value.
        floor: the least size against which an error is measured.
    """

    rows: IntervalRows
    fixed: Values
    constant: Values
    extra: Values | None
    direction: Direction
    nature: Direction
    rounding: float
    floor: float = _FLOOR
    relative: bool = False

    @property
    def size(self) -> int:
        """Return N."""
        return len(self.rows.choice_start) - 1

    @property
    def choice_start(self) -> NDArray[np.int64]:
        """Return where the choices of each node start."""
        return self.rows.choice_start

    @classmethod
    def of(
        cls,
        rows: IntervalRows,
        fixed: Values,
        constant: Values,
        extra: Values | None,
        direction: Direction,
        nature: Direction,
        floor: float = _FLOOR,
    ) -> IntervalProblem:
        """Return the problem, with the bound of its rounding."""
        longest = int(np.diff(rows.branch_start).max(initial=0))
        return cls(rows, fixed, constant, extra, direction, nature, (4 * longest + 16) * unit_roundoff, floor)


def pick(branch_start: NDArray[np.int64], lower: Values, upper: Values, worth: Values, direction: Direction) -> Values:
    """Return the distributions inside the intervals that make the mean of `worth` greatest, or least.

    Each branch gets its lower end; what is left goes to the best branches first.

    Source: Nilim, El Ghaoui 2005; Givan, Leach, Dean 2000, section 4.
    """
    sizes = np.diff(branch_start)
    row = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((-worth if direction == "max" else worth, row))
    room = (upper - lower)[order]
    starts = branch_start[:-1]
    left = 1.0 - np.add.reduceat(lower, starts)
    before = np.cumsum(room) - room
    before -= np.repeat(before[starts], sizes)
    given = np.clip(np.repeat(left, sizes) - before, 0.0, room)
    found = lower.copy()
    found[order] += given
    return found


class IntervalSweeps:
    """Sweep over the nodes of an interval problem with NumPy; the methods mean what those of `NumpySweeps` mean."""

    patience = 8.0

    def __init__(self, problem: IntervalProblem) -> None:
        self.problem = problem
        self.best = np.maximum if problem.direction == "max" else np.minimum
        self.picked = problem.rows.lower
        """(M,) what was last picked from the intervals."""

    def worth(self, values: Values) -> Values:
        """Return what each choice is worth, and keep what was picked."""
        rows, problem = self.problem.rows, self.problem
        at = np.concatenate([values, problem.fixed])[rows.target]
        if problem.extra is not None:
            at = at + problem.extra
        self.picked = pick(rows.branch_start, rows.lower, rows.upper, at, problem.nature)
        return np.add.reduceat(self.picked * at, rows.branch_start[:-1]) + problem.constant

    def improve(self, values: Values, push: tuple[float, float]) -> tuple[Values, NDArray[np.int64]]:
        """Return the values after one sweep over all choices, and the best choice of each node."""
        start = self.problem.choice_start[:-1]
        worth = self.worth(values)
        best = self.best.reduceat(worth, start)
        hits = np.flatnonzero(worth == np.repeat(best, np.diff(self.problem.choice_start)))
        return best * push[0] + push[1], hits[np.searchsorted(hits, start)]

    def check(self, values: Values, push: tuple[float, float]) -> Values:
        """Return the values after one sweep over all choices."""
        return self.improve(values, push)[0]

    def evaluate(
        self, policy: NDArray[np.int64], values: Values, push: tuple[float, float], sweeps: int
    ) -> tuple[Values, Values, Values]:
        """Return the values after sweeps over a policy and what was last picked, and the last changes."""
        rows, problem = self.problem.rows, self.problem
        where = spans(rows.branch_start[policy], rows.branch_start[policy + 1])
        start = np.r_[0, np.cumsum(rows.branch_start[policy + 1] - rows.branch_start[policy])]
        picked, to = self.picked[where], rows.target[where]
        row = np.repeat(np.arange(problem.size), np.diff(start))
        outside = to >= problem.size
        constant = problem.constant[policy].copy()
        constant += np.bincount(
            row[outside], picked[outside] * problem.fixed[to[outside] - problem.size], minlength=problem.size
        )
        if problem.extra is not None:
            constant += np.bincount(row, picked * problem.extra[where], minlength=problem.size)
        matrix = csr_matrix((picked[~outside], (row[~outside], to[~outside])), (problem.size, problem.size))
        constant = constant * push[0] + push[1]
        change = before = np.zeros_like(values)
        for _ in range(max(sweeps, 2)):
            new = matrix @ values
            new *= push[0]
            new += constant
            before, change, values = change, new - values, new
        return values, change, before

    def steps(self, policy: NDArray[np.int64], size: Values, start: Values, sweeps: int) -> tuple[Values, Values]:
        """Return, after some more sweeps, how many steps are to come, each counted as `size`; and the last change."""
        rows = self.problem.rows
        where = spans(rows.branch_start[policy], rows.branch_start[policy + 1])
        row = np.repeat(np.arange(self.problem.size), rows.branch_start[policy + 1] - rows.branch_start[policy])
        picked, to = self.picked[where], rows.target[where]
        inside = to < self.problem.size
        matrix = csr_matrix((picked[inside], (row[inside], to[inside])), (self.problem.size, self.problem.size))
        change = size
        for _ in range(sweeps):
            new = matrix @ start + size
            change, start = new - start, new
        return start, change

    def sums(self, values: Values, change: Values, before: Values, floor: float) -> tuple[float, ...]:
        """Return what `sums_of_changes` does."""
        return sums_of_changes(values, change, before, floor)


class CompiledIntervalSweeps(IntervalSweeps):
    """Sweep with numba: every node from the newest values; the order of the branches is kept between sweeps."""

    def __init__(self, problem: IntervalProblem) -> None:
        super().__init__(problem)
        self._sweep = compiled(sweep_intervals)
        self.order = np.arange(len(problem.rows.target), dtype=np.int64)
        self.picked = problem.rows.lower.copy()
        self._extra = np.zeros(0) if problem.extra is None else problem.extra

    def improve(self, values: Values, push: tuple[float, float]) -> tuple[Values, NDArray[np.int64]]:
        """Return the values after one sweep over all choices, and the best choice of each node."""
        problem, rows = self.problem, self.problem.rows
        new, policy = np.concatenate([values, problem.fixed]), np.empty(problem.size, np.int64)
        self._sweep(
            rows.choice_start,
            rows.branch_start,
            rows.target,
            rows.lower,
            rows.upper,
            problem.constant,
            self._extra,
            problem.direction == "max",
            problem.nature == "max",
            new,
            policy,
            self.order,
            self.picked,
            *push,
        )
        return new[: problem.size], policy

    def evaluate(
        self, policy: NDArray[np.int64], values: Values, push: tuple[float, float], sweeps: int
    ) -> tuple[Values, Values, Values]:
        """Return the values after sweeps over a policy and what was last picked, and the last changes."""
        problem, rows = self.problem, self.problem.rows
        constant = problem.constant
        if problem.extra is not None:
            constant = constant + np.add.reduceat(self.picked * problem.extra, rows.branch_start[:-1])
        new = np.concatenate([values, problem.fixed])
        change, before = np.zeros_like(values), np.zeros_like(values)
        count = int((rows.branch_start[policy + 1] - rows.branch_start[policy]).sum())
        taken = np.zeros(problem.size + 1, np.int64), np.empty(count, np.int32), np.empty(count), np.empty(problem.size)
        compiled(take_rows)(rows.branch_start, rows.target, self.picked, constant, policy, *taken)
        compiled(sweep_policy)(*taken, new, change, before, *push, max(sweeps, 2))
        return new[: problem.size], change, before
