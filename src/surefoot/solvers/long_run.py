"""Rewards without a target: what a step pays on average in the long run, and what is paid in total."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models.components import (
    Direction,
    Predecessors,
    end_components,
    has_choices,
    internal_choices,
    reach_back,
)
from surefoot.models.model import Model
from surefoot.models.solution import Objective, Solution, Status
from surefoot.solvers._enclose import Enclosure, Engine, enclose
from surefoot.solvers._gain import gain_bounds
from surefoot.solvers._problem import Made, make_problem
from surefoot.solvers._reduce import answer, first_choices, reduce_rows
from surefoot.solvers.optimistic import check_budget

__all__ = ["long_run", "total"]

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Stopping:
    """Hold the rows of a model in which one state of each of some end components may also stop.

    Stopping leads to a new last state. `origin` is the choice of the model that each choice was, -1 for stopping.
    """

    choice_start: NDArray[np.int64]
    branch_start: NDArray[np.int64]
    target: NDArray[np.int32]
    probability: Values
    origin: NDArray[np.int64]


def _with_stops(model: Model, leaders: NDArray[np.int64]) -> _Stopping:
    """Return the rows where each of the `leaders` has one choice more, its last, which stops."""
    extra = np.zeros(model.n_states + 1, np.int64)
    extra[leaders] = 1
    counts = np.append(np.diff(model.choice_start), 0) + extra
    start = np.r_[0, np.cumsum(counts)].astype(np.int64)
    stops = start[leaders + 1] - 1
    origin = np.full(int(start[-1]), -1, np.int64)
    mine = np.ones(len(origin), bool)
    mine[stops] = False
    origin[mine] = np.arange(model.n_choices)
    sizes = np.ones(len(origin), np.int64)
    sizes[mine] = np.diff(model.branch_start)
    branch_start = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    target = np.full(int(branch_start[-1]), model.n_states, np.int32)
    probability = np.ones(len(target))
    old = np.repeat(mine, sizes)
    target[old], probability[old] = model.target, model.probability
    return _Stopping(start, branch_start, target, probability, origin)


def long_run(
    model: Model,
    reward: NDArray[np.float64],
    direction: Direction = "max",
    *,
    ends: NDArray[np.float64] | None = None,
    tolerance: float = 1e-6,
    max_sweeps: int = 1_000_000,
    engine: Engine = "auto",
) -> Solution:
    """Return bounds of the mean reward of a step in the long run.

    Each run ends up in an end component. What is best inside each is bounded first; then which of them to go to.

    Args:
        model: a chain or an MDP, without intervals.
        reward: (C,) float64, what each choice pays.
        direction: who picks choices.
        ends: (S,) float64, what a step pays in states without choices, in which a run stays; None: 0.
        tolerance: how far the middle of the bounds may be from the value, as a part of it or of the largest reward.
        max_sweeps: how often to go over all choices at most.
        engine: who sweeps; see `optimistic`.

    Raises:
        BadArgument: the model has intervals, or an argument is out of its range.

    Cost: the sweeps of relative value iteration in each end component, then those of one reachability problem.

    Source: Puterman 1994, chapters 8 and 9; Ashok et al. 2017 (end components first).

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MarkovChain
        >>> blink = MarkovChain(choice_start=[0, 1, 2], branch_start=[0, 1, 2], target=[1, 0], probability=[1.0, 1.0],
        ...                     initial=0)
        >>> lower, upper = long_run(blink, np.array([1.0, 0.0])).bounds(0)
        >>> lower <= 0.5 <= upper and upper - lower < 1e-5
        True
    """
    check_budget(tolerance, max_sweeps)
    if model.has_intervals:
        raise BadArgument(
            "long-run averages of interval models are not worked out; take bounds on what is paid instead"
        )
    back = Predecessors.of(model)
    count, numbers = end_components(model, back=back)
    policy = first_choices(model)
    low, high, sweeps, scale = np.zeros(count), np.zeros(count), 0, float(np.abs(reward).max(initial=0.0))
    inside = internal_choices(model, numbers) if count else np.zeros(model.n_choices, bool)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(count + 1))
    for one in range(count):
        states = np.sort(order[starts[one] : starts[one + 1]])
        low[one], high[one], chosen, _, used = gain_bounds(
            model, model.probability, reward, states, inside, direction, tolerance=tolerance / 4, max_sweeps=max_sweeps
        )
        policy[states] = chosen
        sweeps = max(sweeps, used)
    decided = np.zeros(model.n_states) if ends is None else np.where(has_choices(model), 0.0, ends)
    leaders = np.array([order[starts[one]] for one in range(count)], np.int64)
    rows = _with_stops(model, leaders)
    found = [
        _choose(
            rows, model, decided, numbers, inside, worth, leaders, direction, scale, (tolerance, max_sweeps, engine)
        )
        for worth in (low, high)
    ]
    (made, least), (_, most) = found
    lower, upper = decided.copy(), decided.copy()
    open_ = has_choices(model)
    node = made.node[: model.n_states][open_]
    lower[open_], upper[open_] = least.lower[node], most.upper[node]
    size = np.maximum(np.maximum(np.abs(lower), np.abs(upper)), scale)
    close = bool((upper - lower <= 2 * tolerance * size).all())
    best = (least if direction == "max" else most).policy
    _leave(model, rows, made, best, numbers, inside, policy, back)
    status = Status.CERTIFIED if close else Status.LOOSE
    return Solution(status, lower, upper, policy, sweeps + least.sweeps + most.sweeps)


def _choose(
    rows: _Stopping,
    model: Model,
    decided: Values,
    numbers: NDArray[np.int32],
    inside: Mask,
    worth: Values,
    leaders: NDArray[np.int64],
    direction: Direction,
    scale: float,
    budget: tuple[float, int, Engine],
) -> tuple[Made, Enclosure]:
    """Bound what it brings to go to the best end components, each of which pays `worth` once."""
    stop = rows.origin < 0
    paid = np.zeros(len(rows.origin))
    paid[stop] = worth[numbers[np.sort(leaders)]]
    allowed = stop.copy()
    allowed[~stop] = ~inside[rows.origin[~stop]]
    open_ = np.append(has_choices(model), False)
    made = make_problem(
        rows,
        rows.probability,
        open_=open_,
        merged=np.append(numbers, -1).astype(np.int32),
        choices=allowed,
        decided=np.append(decided, 0.0),
        paid=paid,
        direction=direction,
    )
    problem = made.problem.with_constant(made.problem.constant, relative=False, floor=scale)
    tolerance, max_sweeps, engine = budget
    return made, enclose(problem, tolerance=tolerance / 2, max_sweeps=max_sweeps, engine=engine)


def _leave(
    model: Model,
    rows: _Stopping,
    made: Made,
    chosen: NDArray[np.int64],
    numbers: NDArray[np.int32],
    inside: Mask,
    policy: NDArray[np.int64],
    back: Predecessors,
) -> None:
    """Set the policy where it is not to stay: the choice that leaves, and the way to it inside its end component."""
    taken = rows.origin[made.choice[chosen]]
    taken = taken[taken >= 0]
    owner = model.choice_state[taken]
    goals = np.zeros(model.n_states, bool)
    goals[owner] = True
    left = np.zeros(int(numbers.max(initial=-1)) + 1, bool)
    left[numbers[owner][numbers[owner] >= 0]] = True
    passing = (numbers >= 0) & left[np.maximum(numbers, 0)] if len(left) else np.zeros(model.n_states, bool)
    _, nearer = reach_back(model, goals, through=passing, choices=inside, back=back)
    policy[owner] = taken
    others = passing & ~goals
    policy[others] = nearer[others]


def total(
    model: Model,
    reward: NDArray[np.float64],
    direction: Direction = "max",
    *,
    tolerance: float = 1e-6,
    max_sweeps: int = 1_000_000,
    engine: Engine = "auto",
) -> Solution:
    """Return bounds of all that is ever paid, for rewards that are not negative.

    Args:
        model: a chain or an MDP, without intervals.
        reward: (C,) float64, >= 0, what each choice pays.
        direction: who picks choices.
        tolerance: see `surefoot.solvers.optimistic`.
        max_sweeps: how often to go over all choices at most.
        engine: who sweeps; see `optimistic`.

    Raises:
        BadArgument: a reward is negative: then the total need not exist. Or the model has intervals.

    Source: Puterman 1994, sections 7.2 and 7.3.

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MarkovChain
        >>> coin = MarkovChain(choice_start=[0, 1, 1], branch_start=[0, 2], target=[0, 1], probability=[0.5, 0.5],
        ...                    initial=0)
        >>> lower, upper = total(coin, np.array([1.0])).bounds(0)
        >>> lower <= 2.0 <= upper
        True
    """
    check_budget(tolerance, max_sweeps)
    if model.has_intervals:
        raise BadArgument("total rewards of interval models are not worked out; give a target or a number of steps")
    if bool((reward < 0).any()):
        raise BadArgument(
            f"choice {int(np.argmax(reward < 0))} pays {reward.min():g}: a total of both signs need not exist; "
            "give a target, a number of steps or a discount"
        )
    back = Predecessors.of(model)
    free = reward == 0
    count, numbers = end_components(model, choices=free, back=back)
    leaders = np.array([int(np.argmax(numbers == one)) for one in range(count)], np.int64)
    rows = _with_stops(model, leaders)
    if direction == "max":
        return _most(model, reward, numbers, back, (tolerance, max_sweeps, engine))
    old = rows.origin >= 0
    paid = np.zeros(len(rows.origin))
    paid[old] = reward[rows.origin[old]]
    target = np.append(~has_choices(model), True)
    reduced = reduce_rows(rows, rows.probability, Objective(target, "min", reward=paid))
    solution = answer(reduced, enclose(reduced.problem, tolerance=tolerance, max_sweeps=max_sweeps, engine=engine))
    assert solution.policy is not None
    # Where it stops it goes round for nothing.
    inside = internal_choices(model, numbers) & free if count else np.zeros(model.n_choices, bool)
    policy, stay = np.full(model.n_states, -1, np.int64), np.full(model.n_states, -1, np.int64)
    loops = np.flatnonzero(inside)
    stay[model.choice_state[loops][::-1]] = loops[::-1]
    chosen = solution.policy[: model.n_states]
    has = chosen >= 0
    policy[has] = rows.origin[chosen[has]]
    policy = np.where(has & (policy < 0), stay, policy)
    return Solution(solution.status, solution.lower[:-1].copy(), solution.upper[:-1].copy(), policy, solution.sweeps)


def _most(
    model: Model,
    reward: Values,
    numbers: NDArray[np.int32],
    back: Predecessors,
    budget: tuple[float, int, Engine],
) -> Solution:
    """Bound the greatest total: infinite where a cycle that pays can be reached."""
    count, every = end_components(model, back=back)
    inside = internal_choices(model, every) if count else np.zeros(model.n_choices, bool)
    paying = np.zeros(model.n_states, bool)
    paying[model.choice_state[inside & (reward > 0)]] = True
    endless, _ = reach_back(model, paying, back=back)
    pays = np.zeros(model.n_states, bool)
    pays[model.choice_state[reward > 0]] = True
    open_ = reach_back(model, pays, back=back)[0] & ~endless
    value = np.where(endless, np.inf, 0.0)
    made = make_problem(
        model,
        model.probability,
        open_=open_,
        merged=np.where(open_, every, -1).astype(np.int32),
        choices=open_[model.choice_state] & ~inside,
        decided=np.zeros(model.n_states),
        paid=reward,
        direction="max",
    )
    tolerance, max_sweeps, engine = budget
    found = enclose(made.problem, tolerance=tolerance, max_sweeps=max_sweeps, engine=engine)
    lower, upper, policy = value, value.copy(), first_choices(model)
    lower[open_], upper[open_] = found.lower[made.node[open_]], found.upper[made.node[open_]]
    taken = made.choice[found.policy]
    goals = np.zeros(model.n_states, bool)
    goals[model.choice_state[taken]] = True
    _, nearer = reach_back(model, goals, through=open_, choices=inside, back=back)
    policy = np.where(open_ & ~goals & (nearer >= 0), nearer, policy)
    policy[model.choice_state[taken]] = taken
    status = Status.EXACT if not open_.any() else Status.CERTIFIED if found.close else Status.LOOSE
    return Solution(status, lower, upper, policy, found.sweeps)
