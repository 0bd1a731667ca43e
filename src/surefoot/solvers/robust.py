"""Interval models: bounds of the value when somebody picks the probabilities from the intervals, for or against us."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models.components import Direction, prob0, reach_back
from surefoot.models.model import Model
from surefoot.models.solution import Objective, Solution, Status, check_objective
from surefoot.solvers._enclose import Enclosure, Engine, enclose
from surefoot.solvers._intervals import (
    IntervalProblem,
    IntervalRows,
    can_stay,
    end_components_of_both,
    pick,
    possible,
    zero_of_both,
    zero_of_game,
)
from surefoot.solvers._problem import spans
from surefoot.solvers._reduce import answer, first_choices, reduce_rows
from surefoot.solvers.optimistic import check_budget

__all__ = ["Nature", "robust"]

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
Nature = Literal["adversarial", "cooperative", "max", "min"]
"""Who picks from the intervals: against or for whoever picks choices; or somebody who wants much, or little.

Example:
    >>> from typing import get_args
    >>> get_args(Nature)
    ('adversarial', 'cooperative', 'max', 'min')
"""
_ROUNDS = 60


def robust(
    model: Model,
    objective: Objective,
    /,
    *,
    nature: Nature = "adversarial",
    tolerance: float = 1e-6,
    max_sweeps: int = 1_000_000,
    engine: Engine = "auto",
) -> Solution:
    """Return bounds of the value of an interval model.

    Each time a choice is taken, the probabilities of its branches are picked from their intervals. With `adversarial`
    the policy earns its value whatever the true probabilities are, as long as they lie inside. Lower ends may be 0, so
    that a branch may also be missing.

    Both bounds are proved. Where the two players can go round in circles together, and want different things, the
    lower bound is that of a fixed policy and the upper one that of fixed probabilities; they meet in all but contrived
    models, and the status is LOOSE where they do not.

    Rewards until a target are answered where the target is reached for certain whatever is picked; elsewhere the value
    is infinite if both want much, and otherwise the bounds are infinite and the status LOOSE.

    Args:
        model: an interval model. An ordinary model is one whose intervals are points.
        objective: what is asked.
        nature: who picks from the intervals.
        tolerance: how far the middle of the bounds may be from the value, as a part of it or of 0.001 (for rewards: of
            the largest reward), whichever is more.
        max_sweeps: how often to go over all choices at most; then the status is LOOSE.
        engine: who sweeps; see `optimistic`.

    Raises:
        BadArgument: the objective does not fit the model, or an argument is out of its range.

    Cost: a sweep sorts the branches of each choice; with numba they stay sorted and it costs little more than an
        ordinary one.

    Source: Givan, Leach, Dean 2000; Nilim, El Ghaoui 2005; Hartmanns, Kaminski 2020 (the proof); Hoffman, Karp 1966
        (policies against picked probabilities).

    Example:
        >>> from surefoot.models import MarkovChain
        >>> bet = MarkovChain(choice_start=[0, 1, 1, 1], branch_start=[0, 2], target=[1, 2], lower=[0.25, 0.5],
        ...                   upper=[0.5, 0.75], initial=0, labels={"win": [1]})
        >>> worst = robust(bet, Objective(bet.labels["win"]), nature="adversarial").bounds(0)
        >>> best = robust(bet, Objective(bet.labels["win"]), nature="cooperative").bounds(0)
        >>> worst[0] <= 0.25 <= worst[1], best[0] <= 0.5 <= best[1]
        (True, True)
    """
    check_budget(tolerance, max_sweeps)
    check_objective(model, objective)
    if nature not in ("adversarial", "cooperative", "max", "min"):
        raise BadArgument(f"nature must be 'adversarial', 'cooperative', 'max' or 'min', got {nature!r}")
    rows = IntervalRows(
        model.choice_start,
        model.branch_start,
        model.target,
        model.probability if model.lower is None else model.lower,
        model.probability if model.upper is None else np.minimum(model.upper, 1.0),
    )
    work = _Robust(rows, objective, tolerance, max_sweeps, engine)
    against: dict[Direction, Direction] = {"max": "min", "min": "max"}
    picks: Direction = objective.direction
    if nature in ("max", "min"):
        picks = nature
    elif nature == "adversarial":
        picks = against[objective.direction]
    if objective.rewards:
        return work.rewards(picks)
    if picks == objective.direction:
        return work.both(rows)
    return work.game()


@dataclass(frozen=True, eq=False)
class _Robust:
    """Hold what is asked, and how closely."""

    rows: IntervalRows
    objective: Objective
    tolerance: float
    max_sweeps: int
    engine: Engine

    @property
    def through(self) -> Mask:
        """Return the states that may be passed."""
        through = self.objective.through
        return np.ones(len(self.objective.target), bool) if through is None else through

    def _enclose(self, problem: IntervalProblem) -> Enclosure:
        return enclose(problem, tolerance=self.tolerance, max_sweeps=self.max_sweeps, engine=self.engine)

    def _solution(self, open_: Mask, node: NDArray[np.int64], value: Values, found: Enclosure) -> Solution:
        """Return the solution without a policy."""
        lower, upper = value.copy(), value.copy()
        lower[open_] = np.clip(found.lower[node[open_]], 0.0, 1.0)
        upper[open_] = np.clip(found.upper[node[open_]], 0.0, 1.0)
        status = Status.EXACT if not open_.any() else Status.CERTIFIED if found.close else Status.LOOSE
        return Solution(status, lower, upper, None, found.sweeps)

    def both(self, rows: IntervalRows) -> Solution:
        """Solve it where both want the same."""
        target, direction = self.objective.target, self.objective.direction
        value = target.astype(np.float64)
        real = possible(rows)
        if direction == "min":
            zero = zero_of_both(rows, target, self.through)
        else:
            zero = prob0(real, target, through=self.through)
        open_ = ~(target | zero)
        none = np.full(len(target), -1, np.int32)
        count, numbers, stays = end_components_of_both(real, open_) if direction == "max" else (0, none, None)
        if not count:
            problem, node, kept = _interval_problem(rows, open_, value, direction, direction)
            found = self._enclose(problem)
            solution = self._solution(open_, node, value, found)
            return self._with_policy(rows, solution, open_, kept[found.policy], zero, None, real)
        problem, node, kept = _merged_problem(rows, real, open_, value, numbers, stays)
        found = self._enclose(problem)
        solution = self._solution(open_, node, value, found)
        return self._with_policy(rows, solution, open_, kept[found.policy], zero, stays, real)

    def _with_policy(
        self,
        rows: IntervalRows,
        solution: Solution,
        open_: Mask,
        taken: NDArray[np.int64],
        zero: Mask,
        stays: Mask | None,
        real: IntervalRows,
    ) -> Solution:
        """Return the solution with the choices of the nodes, and the ways to them inside what was merged."""
        owner = np.repeat(np.arange(len(open_)), np.diff(rows.choice_start))
        policy = first_choices(rows)
        if self.objective.direction == "min" and len(owner):
            safe = np.flatnonzero(can_stay(rows, zero) & zero[owner])
            policy[owner[safe][::-1]] = safe[::-1]
        policy[owner[taken]] = taken
        if stays is not None:
            goals = np.zeros(len(open_), bool)
            goals[owner[taken]] = True
            _, nearer = reach_back(real, goals, through=open_, choices=stays)
            others = open_ & ~goals
            policy[others] = nearer[others]
        return Solution(solution.status, solution.lower, solution.upper, policy, solution.sweeps)

    # ── two players ─────────────────────────────────────────────────────────────────────────────────────────────────

    def game(self) -> Solution:
        """Solve it where they want different things."""
        target, direction = self.objective.target, self.objective.direction
        picks: Direction = "min" if direction == "max" else "max"
        value = target.astype(np.float64)
        real = possible(self.rows)
        if direction == "max":
            zero = zero_of_game(self.rows, target, self.through)
        else:
            zero = prob0(real, target, "min", through=self.through)
        open_ = ~(target | zero)
        count, _, _ = end_components_of_both(real, open_)
        if count:
            return self._by_policies(zero, open_)
        problem, node, kept = _interval_problem(self.rows, open_, value, direction, picks)
        found = self._enclose(problem)
        solution = self._solution(open_, node, value, found)
        policy = first_choices(self.rows)
        owner = np.repeat(np.arange(len(open_)), np.diff(self.rows.choice_start))
        if direction == "min":
            policy = _avoiding(real, zero, policy, owner)
        taken = kept[found.policy]
        policy[owner[taken]] = taken
        return Solution(solution.status, solution.lower, solution.upper, policy, solution.sweeps)

    def _by_policies(self, zero: Mask, open_: Mask) -> Solution:
        """Improve a policy against the worst probabilities for it; then bound the other side by fixed probabilities."""
        direction = self.objective.direction
        picks: Direction = "min" if direction == "max" else "max"
        owner = np.repeat(np.arange(len(zero)), np.diff(self.rows.choice_start))
        policy = self._first_policy(owner)
        if direction == "min":
            policy = _avoiding(possible(self.rows), zero, policy, owner)
        sweeps, best = 0, None
        for _ in range(_ROUNDS):
            fixed = self._of_policy(policy, picks)
            sweeps += fixed.sweeps
            value = fixed.lower if direction == "max" else fixed.upper
            if best is None or float((value - best[0]).sum()) * (1 if direction == "max" else -1) >= 0:
                best = value, policy, fixed
            worth = self._worth(value, picks)
            policy, changed = _better(self.rows, owner, policy, worth, value, direction, open_)
            if not changed:
                break
        assert best is not None
        value, policy, fixed = best
        other = self._of_probabilities(value, picks, direction)
        sweeps += other.sweeps
        lower, upper = (fixed.lower, other.upper) if direction == "max" else (other.lower, fixed.upper)
        lower = np.where(zero, 0.0, lower)
        upper = np.where(zero, 0.0, upper)
        size = np.maximum(lower, 1e-3)
        close = bool((upper - lower <= 2 * self.tolerance * size).all())
        return Solution(Status.CERTIFIED if close else Status.LOOSE, lower, upper, policy, sweeps)

    def _first_policy(self, owner: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the policy that is best for probabilities in the middle of the intervals."""
        middle = pick(
            self.rows.branch_start,
            self.rows.lower,
            self.rows.upper,
            np.zeros(len(self.rows.target)),
            "max",
        )
        share = 0.5 * middle + 0.5 * pick(
            self.rows.branch_start, self.rows.lower, self.rows.upper, np.arange(len(middle), dtype=float), "max"
        )
        solution = self._ordinary(share)
        assert solution.policy is not None
        return solution.policy.copy()

    def _ordinary(self, probability: Values) -> Solution:
        """Solve the model with fixed probabilities."""
        keep = probability > 0
        row = np.repeat(np.arange(len(self.rows.branch_start) - 1), np.diff(self.rows.branch_start))
        counts = np.bincount(row[keep], minlength=len(self.rows.branch_start) - 1)
        start = np.r_[0, np.cumsum(counts)].astype(np.int64)
        rows = IntervalRows(
            self.rows.choice_start, start, self.rows.target[keep], self.rows.lower[keep], self.rows.upper[keep]
        )
        reduced = reduce_rows(rows, probability[keep], self.objective)
        found = enclose(reduced.problem, tolerance=self.tolerance / 4, max_sweeps=self.max_sweeps, engine=self.engine)
        return answer(reduced, found)

    def _of_policy(self, policy: NDArray[np.int64], picks: Direction) -> Solution:
        """Bound what a policy earns."""
        chain = _Robust(
            self.rows,
            Objective(self.objective.target, picks, self.objective.through),
            self.tolerance / 4,
            self.max_sweeps,
            self.engine,
        )
        return chain.both(self.rows.only(policy))

    def _worth(self, value: Values, picks: Direction) -> Values:
        """Return what each choice is worth when the worst is picked."""
        at = value[self.rows.target]
        picked = pick(self.rows.branch_start, self.rows.lower, self.rows.upper, at, picks)
        return np.add.reduceat(picked * at, self.rows.branch_start[:-1])

    def _of_probabilities(self, value: Values, picks: Direction, direction: Direction) -> Solution:
        """Bound what is earned against the probabilities that are worst for these values."""
        at = value[self.rows.target]
        return self._ordinary(pick(self.rows.branch_start, self.rows.lower, self.rows.upper, at, picks))

    # ── rewards ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def rewards(self, picks: Direction) -> Solution:
        """Solve rewards until the target where it is reached for certain whatever is picked."""
        target, direction = self.objective.target, self.objective.direction
        free = np.ones(len(target), bool)
        missing = zero_of_both(self.rows, target, free)
        real = possible(self.rows)
        missed = reach_back(real, missing, through=~target)[0]
        open_ = ~(missed | target)
        paid = self.objective.reward
        constant = np.zeros(len(self.rows.branch_start) - 1) if paid is None else paid
        extra = self.objective.transition
        largest = float(np.abs(constant).max(initial=0.0))
        largest += 0.0 if extra is None else float(np.abs(extra).max(initial=0.0))
        problem, node, kept = _interval_problem(
            self.rows, open_, np.zeros(len(target)), direction, picks, constant, extra, max(largest, 1e-280)
        )
        found = self._enclose(problem)
        lower, upper = np.zeros(len(target)), np.zeros(len(target))
        lower[open_], upper[open_] = found.lower[node[open_]], found.upper[node[open_]]
        known = direction == "max" and picks == "max"
        lower[missed], upper[missed] = (np.inf if known else -np.inf), np.inf
        policy = first_choices(self.rows)
        owner = np.repeat(np.arange(len(open_)), np.diff(self.rows.choice_start))
        taken = kept[found.policy]
        policy[owner[taken]] = taken
        close = found.close and (known or not missed.any())
        return Solution(Status.CERTIFIED if close else Status.LOOSE, lower, upper, policy, found.sweeps)


def _avoiding(rows: IntervalRows, zero: Mask, policy: NDArray[np.int64], owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the policy with choices that cannot leave `zero`, inside it."""
    inside = np.logical_and.reduceat(zero[rows.target], rows.branch_start[:-1]) & zero[owner]
    safe = np.flatnonzero(inside)
    policy = policy.copy()
    policy[owner[safe][::-1]] = safe[::-1]
    return policy


def _better(
    rows: IntervalRows,
    owner: NDArray[np.int64],
    policy: NDArray[np.int64],
    worth: Values,
    value: Values,
    direction: Direction,
    open_: Mask,
) -> tuple[NDArray[np.int64], bool]:
    """Return the policy with the best choices where they are better than its own, and whether there are any."""
    has = rows.choice_start[1:] > rows.choice_start[:-1]
    sign = 1.0 if direction == "max" else -1.0
    best = np.full(len(value), -np.inf)
    np.maximum.at(best, owner, sign * worth)
    own = np.where(policy >= 0, sign * worth[np.maximum(policy, 0)], -np.inf)
    gain = has & open_ & (best > np.maximum(own, sign * value) + 1e-9)
    hits = np.flatnonzero((sign * worth == best[owner]) & gain[owner])
    policy = policy.copy()
    policy[owner[hits][::-1]] = hits[::-1]
    return policy, bool(gain.any())


def _interval_problem(
    rows: IntervalRows,
    open_: Mask,
    value: Values,
    direction: Direction,
    nature: Direction,
    constant: Values | None = None,
    extra: Values | None = None,
    floor: float = 1e-3,
) -> tuple[IntervalProblem, NDArray[np.int64], NDArray[np.int64]]:
    """Return the problem of the open states, the node of each state, and the choice of the model of each choice."""
    count = int(open_.sum())
    node = np.full(len(open_), -1, np.int64)
    node[np.flatnonzero(open_)[::-1]] = np.arange(count)  # the highest first, as in problems without intervals
    worlds, which = np.unique(value, return_inverse=True)
    place = np.where(open_, node, count + which)
    states = np.flatnonzero(open_)[::-1]
    kept = spans(rows.choice_start[states], rows.choice_start[states + 1])
    where = spans(rows.branch_start[kept], rows.branch_start[kept + 1])
    small = IntervalRows(
        np.r_[0, np.cumsum(rows.choice_start[states + 1] - rows.choice_start[states])].astype(np.int64),
        np.r_[0, np.cumsum(rows.branch_start[kept + 1] - rows.branch_start[kept])].astype(np.int64),
        place[rows.target[where]].astype(np.int32),
        rows.lower[where],
        rows.upper[where],
    )
    paid = np.zeros(len(kept)) if constant is None else constant[kept]
    more = None if extra is None else extra[where]
    return IntervalProblem.of(small, worlds, paid, more, direction, nature, floor), node, kept


def _merged_problem(
    rows: IntervalRows,
    real: IntervalRows,
    open_: Mask,
    value: Values,
    numbers: NDArray[np.int32],
    stays: Mask | None,
) -> tuple[IntervalProblem, NDArray[np.int64], NDArray[np.int64]]:
    """Return the problem where both want much and what they can go round in is one node.

    A choice that can stay inside can also leave to any one state outside with a little probability, again and again: so
    it becomes one choice for each state outside that it may lead to.
    """
    assert stays is not None
    states = len(open_)
    owner = np.repeat(np.arange(states), np.diff(rows.choice_start))
    leader = np.arange(states)
    inside = np.flatnonzero(numbers >= 0)
    first = np.full(int(numbers.max()) + 1, states)
    np.minimum.at(first, numbers[inside], inside)
    leader[inside] = first[numbers[inside]]
    heads = np.flatnonzero(open_ & (leader == np.arange(states)))[::-1]
    count = len(heads)
    node = np.full(states, -1, np.int64)
    node[heads] = np.arange(count)
    node[open_] = node[leader[open_]]
    worlds, which = np.unique(value, return_inverse=True)
    place = np.where(open_, node, count + which)
    plain = np.flatnonzero(open_[owner] & ~stays)
    row = np.repeat(np.arange(len(owner)), np.diff(real.branch_start))
    leaving = np.flatnonzero(stays[row] & (place[real.target] != node[owner[row]]))
    home = np.r_[node[owner[plain]], node[owner[row[leaving]]]]
    origin = np.r_[plain, row[leaving]]
    sizes = np.r_[rows.branch_start[plain + 1] - rows.branch_start[plain], np.ones(len(leaving), np.int64)]
    where = spans(rows.branch_start[plain], rows.branch_start[plain + 1])
    target = np.r_[place[rows.target[where]], place[real.target[leaving]]]
    lower = np.r_[rows.lower[where], np.ones(len(leaving))]
    upper = np.r_[rows.upper[where], np.ones(len(leaving))]
    order = np.argsort(home, kind="stable")
    starts = np.cumsum(sizes) - sizes
    branches = spans(starts[order], starts[order] + sizes[order])
    small = IntervalRows(
        np.r_[0, np.cumsum(np.bincount(home, minlength=count))].astype(np.int64),
        np.r_[0, np.cumsum(sizes[order])].astype(np.int64),
        target[branches].astype(np.int32),
        lower[branches],
        upper[branches],
    )
    problem = IntervalProblem.of(small, worlds, np.zeros(len(order)), None, "max", "max")
    return problem, node, origin[order]
