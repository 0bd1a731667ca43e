"""From a model and an objective to a problem that has one solution, and back: graph analysis, quotients, policies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models.components import (
    Predecessors,
    Rows,
    end_components,
    has_choices,
    internal_choices,
    prob0,
    prob1,
    reach_back,
    staying,
)
from surefoot.models.model import Model
from surefoot.models.solution import Objective, Solution, Status, check_objective
from surefoot.solvers._enclose import Enclosure
from surefoot.solvers._gain import sign_of_least_gain
from surefoot.solvers._problem import Made, Problem, make_problem

__all__ = ["Reduced", "answer", "first_choices", "reduce", "reduce_rows", "solved_by"]

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(eq=False)
class Reduced:
    """Hold what the graph has decided, and the problem that is left.

    Args:
        lower: (S,) float64, the values of the states that are decided; anything elsewhere.
        upper: (S,) float64.
        policy: (S,) int64, the choices in the states that are decided, and inside what was merged.
        made: the problem that is left.
        open_: (S,) bool, the states that it is about.
        back: the predecessors.
        rows: the model.
        inside: (C,) bool, the choices that stay inside what was merged; None: nothing was.
        top: 1 for probabilities, infinity for rewards.
    """

    lower: Values
    upper: Values
    policy: NDArray[np.int64]
    made: Made
    open_: Mask
    back: Predecessors
    rows: Rows
    inside: Mask | None = None
    top: float = 1.0
    exact: bool = field(default=True)

    @property
    def problem(self) -> Problem:
        """Return the problem that is left."""
        return self.made.problem

    def expand(self, found: Enclosure) -> Solution:
        """Return the solution of the model from the bounds of the problem."""
        lower, upper, policy = self.lower, self.upper, self.policy
        where = np.flatnonzero(self.open_)
        node = self.made.node[where]
        lower[where] = np.minimum(found.lower[node], self.top)
        upper[where] = np.minimum(found.upper[node], self.top)
        if len(where):
            self._policy_of(found.policy)
        if len(where) == 0:
            status = Status.EXACT
        else:
            status = Status.CERTIFIED if found.close else Status.LOOSE
        return Solution(status, lower, upper, policy, found.sweeps)

    def _policy_of(self, chosen: NDArray[np.int64]) -> None:
        """Set the policy: the chosen choice where it lies, and the way to it elsewhere in what was merged."""
        taken = self.made.choice[chosen]
        owner = self.back.state[taken]
        self.policy[owner] = taken
        if self.inside is None:
            return
        goals = np.zeros(len(self.open_), bool)
        goals[owner] = True
        _, nearer = reach_back(self.rows, goals, through=self.open_, choices=self.inside, back=self.back)
        others = self.open_ & ~goals
        self.policy[others] = nearer[others]


def first_choices(rows: Rows) -> NDArray[np.int64]:
    """Return the first choice of each state, -1 where it has none."""
    return np.where(has_choices(rows), rows.choice_start[:-1], -1)


def reduce(model: Model, objective: Objective) -> Reduced:
    """Return the problem that the graph leaves open.

    Raises:
        BadArgument: the objective does not fit the model, or the model has intervals.
    """
    check_objective(model, objective)
    if model.has_intervals:
        raise BadArgument("the model has intervals: use surefoot.solvers.robust, which says who picks from them")
    return reduce_rows(model, model.probability, objective)


def reduce_rows(rows: Rows, probability: Values, objective: Objective) -> Reduced:
    """Return the problem that the graph of some rows leaves open."""
    back = Predecessors.of(rows)
    if objective.rewards:
        return _rewards(rows, probability, objective, back)
    return _probability(rows, probability, objective, back)


def _probability(rows: Rows, probability: Values, objective: Objective, back: Predecessors) -> Reduced:
    direction, target, through = objective.direction, objective.target, objective.through
    policy = first_choices(rows)
    zero = prob0(rows, target, direction, through=through, back=back)
    one, to_one = prob1(rows, target, direction, through=through, zero=zero, back=back)
    policy = np.where(one & (to_one >= 0), to_one, policy)
    open_ = ~(zero | one)
    if direction == "min":
        safe = np.flatnonzero(staying(rows, zero))
        safe = safe[zero[back.state[safe]]]
        policy[back.state[safe][::-1]] = safe[::-1]  # so that the first such choice of a state is the one kept
    value = one.astype(np.float64)
    choices = open_[back.state]
    merged, inside = None, None
    if direction == "max" and open_.any():
        count, numbers = end_components(rows, within=open_, back=back)
        if count:
            merged, inside = numbers, internal_choices(rows, numbers)
            choices = choices & ~inside
    made = make_problem(
        rows,
        probability,
        open_=open_,
        merged=merged,
        choices=choices,
        decided=value,
        paid=None,
        direction=direction,
    )
    return Reduced(value, value.copy(), policy, made, open_, back, rows, inside)


def _rewards(rows: Rows, probability: Values, objective: Objective, back: Predecessors) -> Reduced:
    """Reduce what is paid until the target. See `Objective` for what is infinite."""
    target, direction, paid = objective.target, objective.direction, objective.reward
    assert paid is not None
    sure, to_sure = prob1(rows, target, "min" if direction == "max" else "max", back=back)
    value = np.where(sure, 0.0, np.inf)
    policy = np.where(sure & (to_sure >= 0), to_sure, first_choices(rows))
    free, to_free = _for_nothing(rows, objective, sure, back)
    policy = np.where(free & (to_free >= 0), to_free, policy)
    open_ = sure & ~target & ~free
    choices = open_[back.state]
    merged, inside = None, None
    endless = np.zeros(len(target), bool)
    if direction == "min":
        choices &= staying(rows, sure)
        endless, unknown, merged, inside = _cycles(rows, probability, paid, open_, choices, back)
        lost = reach_back(rows, endless | unknown, through=open_, choices=choices, back=back)[0] & open_
        if inside is not None:
            choices = choices & ~inside
    else:
        lost = np.zeros(len(target), bool)
    return _reward_problem(
        rows, probability, objective, back, (value, open_, policy, choices), (merged, inside), (lost, endless)
    )


def _for_nothing(rows: Rows, objective: Objective, sure: Mask, back: Predecessors) -> tuple[Mask, NDArray[np.int64]]:
    """Say where exactly nothing is paid, if no reward is below 0; and by which choices."""
    assert objective.reward is not None
    none = np.zeros(len(sure), bool), np.full(len(sure), -1, np.int64)
    if bool((objective.reward[(sure & ~objective.target)[back.state]] < 0).any()):
        return none
    if objective.direction == "min":
        return prob1(rows, objective.target, choices=objective.reward == 0, back=back)
    pays = np.zeros(len(sure), bool)
    pays[back.state[objective.reward > 0]] = True
    pays &= sure & ~objective.target
    return sure & ~reach_back(rows, pays, through=sure & ~objective.target, back=back)[0], none[1]


def _reward_problem(
    rows: Rows,
    probability: Values,
    objective: Objective,
    back: Predecessors,
    parts: tuple[Values, Mask, NDArray[np.int64], Mask],
    quotient: tuple[NDArray[np.int32] | None, Mask | None],
    without: tuple[Mask, Mask],
) -> Reduced:
    """Make the problem of the states from which no cycle can be used to pay less and less."""
    value, open_, policy, choices = parts
    merged, inside = quotient
    lost, endless = without
    lower, upper = value, value.copy()
    exact = not lost.any()
    if lost.any():
        # States that can come to a cycle that pays less and less: minus infinity. Where that is not certain, only
        # the lower bound is minus infinity, and nothing is known above.
        lower[lost] = -np.inf
        certain = reach_back(rows, endless, through=open_, choices=choices, back=back)[0] & lost
        upper[certain] = -np.inf
        upper[lost & ~certain] = np.inf
        open_ = open_ & ~lost
        choices = choices & open_[back.state]
        if merged is not None:
            merged = np.where(lost, -1, merged).astype(np.int32)
    made = make_problem(
        rows,
        probability,
        open_=open_,
        merged=merged,
        choices=choices,
        decided=np.where(np.isfinite(value), value, 0.0),
        paid=objective.reward,
        direction=objective.direction,
    )
    return Reduced(lower, upper, policy, made, open_, back, rows, inside, np.inf, exact)


def _cycles(
    rows: Rows, probability: Values, paid: Values, open_: Mask, choices: Mask, back: Predecessors
) -> tuple[Mask, Mask, NDArray[np.int32] | None, Mask | None]:
    """Find the end components that matter when the least is asked for.

    Returns:
        The states of end components that pay less and less; those of which that is not known; and which states are one
        because they can go round for nothing, with the choices that do.
    """
    none = np.zeros(len(open_), bool)
    count, numbers = end_components(rows, within=open_, choices=choices, back=back)
    if not count:
        return none, none, None, None
    within = internal_choices(rows, numbers) & choices
    of = numbers[back.state[within]]
    least = np.full(count, np.inf)
    np.minimum.at(least, of, paid[within])
    free = choices & within & (paid == 0) & (least >= 0)[np.maximum(numbers[back.state], 0)]
    mixed = np.flatnonzero(least < 0)
    endless, unknown = none.copy(), none.copy()
    for one in mixed:
        sign = sign_of_least_gain(rows, probability, paid, np.flatnonzero(numbers == one), within)
        if sign < 0:
            endless[numbers == one] = True
        elif sign == 0:
            unknown[numbers == one] = True
    if not free.any():
        return endless, unknown, None, None
    some, merged = end_components(rows, within=open_ & (numbers >= 0), choices=free, back=back)
    if not some:
        return endless, unknown, None, None
    return endless, unknown, merged, internal_choices(rows, merged) & free


def solved_by(work: Callable[[Problem], Enclosure], model: Model, objective: Objective) -> Solution:
    """Return what a way to enclose the solution of a problem answers for a model."""
    reduced = reduce(model, objective)
    return answer(reduced, work(reduced.problem))


def answer(reduced: Reduced, found: Enclosure) -> Solution:
    """Return the solution, marked as loose where a value could not be told from minus infinity."""
    solution = reduced.expand(found)
    with np.errstate(invalid="ignore"):
        unknown = (solution.lower == -np.inf) & (solution.upper == np.inf)
    if solution.status is not Status.LOOSE and bool(unknown.any()):
        return Solution(Status.LOOSE, solution.lower, solution.upper, solution.policy, solution.sweeps)
    return solution
