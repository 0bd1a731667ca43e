"""Discounted rewards without end: what comes a step later counts a little less."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models.components import Direction, has_choices
from surefoot.models.model import Model
from surefoot.models.solution import Solution, Status
from surefoot.solvers._enclose import Engine, enclose
from surefoot.solvers._problem import make_problem
from surefoot.solvers._reduce import first_choices
from surefoot.solvers.optimistic import check_budget
from surefoot.solvers.steps import Backup

__all__ = ["discounted"]


def discounted(
    model: Model,
    reward: NDArray[np.float64],
    discount: float,
    direction: Direction = "max",
    *,
    nature: Direction = "min",
    transition: NDArray[np.float64] | None = None,
    tolerance: float = 1e-6,
    max_sweeps: int = 1_000_000,
    engine: Engine = "auto",
) -> Solution:
    """Return bounds of the discounted sum of rewards, for ever.

    Args:
        model: any model; a state without choices pays nothing more.
        reward: (C,) float64, what each choice pays on average.
        discount: in (0, 1).
        direction: who picks choices.
        nature: who picks from the intervals of an interval model.
        transition: (B,) float64, what each branch of an interval model pays on top.
        tolerance: how far the middle of the bounds may be from the value, as a part of it or of the largest reward.
        max_sweeps: how often to go over all choices at most.
        engine: who sweeps; see `optimistic`.

    Raises:
        BadArgument: an argument is out of its range.

    Source: Puterman 1994, chapter 6; Iyengar 2005 (intervals).

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MarkovChain
        >>> loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> lower, upper = discounted(loop, np.array([1.0]), 0.9).bounds(0)
        >>> lower <= 10.0 <= upper
        True
    """
    check_budget(tolerance, max_sweeps)
    if not 0 < discount < 1:
        raise BadArgument(f"discount must be in (0, 1), got {discount!r}")
    if model.has_intervals:
        backup = Backup(model, direction, nature, reward, transition, discount)
        return _by_steps(backup, tolerance, max_sweeps)
    open_ = has_choices(model)
    value = np.zeros(model.n_states)
    made = make_problem(
        model,
        model.probability,
        open_=open_,
        merged=None,
        choices=np.ones(model.n_choices, bool),
        decided=value,
        paid=reward,
        direction=direction,
        discount=discount,
    )
    # A state that is never paid has the value 0 exactly, against which nothing is small: measure against the rewards.
    problem = made.problem.with_constant(
        made.problem.constant, relative=False, floor=float(np.abs(reward).max(initial=0.0))
    )
    found = enclose(problem, tolerance=tolerance, max_sweeps=max_sweeps, engine=engine)
    lower, upper, policy = value.copy(), value.copy(), first_choices(model)
    lower[open_], upper[open_] = found.lower[made.node[open_]], found.upper[made.node[open_]]
    taken = made.choice[found.policy]
    policy[model.choice_state[taken]] = taken
    return Solution(Status.CERTIFIED if found.close else Status.LOOSE, lower, upper, policy, found.sweeps)


def _by_steps(backup: Backup, tolerance: float, max_sweeps: int) -> Solution:
    """Close in from both sides, where the first bounds are those of the largest reward paid for ever."""
    most = 0.0
    for part in (backup.reward, backup.transition):
        most += 0.0 if part is None else float(np.abs(part).max(initial=0.0))
    upper = np.where(has_choices(backup.model), most / (1 - backup.discount) * (1 + 1e-12), 0.0)
    lower, count = -upper, 0
    while count < max_sweeps:
        size = np.maximum(np.maximum(lower, -upper), most)
        if bool((upper - lower <= 2 * tolerance * size).all()):
            break
        below, above = backup.once((lower, upper))
        lower, upper = np.maximum(lower, below), np.minimum(upper, above)
        count += 1
    close = bool((upper - lower <= 2 * tolerance * np.maximum(np.maximum(lower, -upper), most)).all())
    policy = backup.policy(lower if backup.direction == "max" else upper)
    return Solution(Status.CERTIFIED if close else Status.LOOSE, lower, upper, policy, count)
