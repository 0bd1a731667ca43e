"""What P, R and S ask, as objectives for solvers and as steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.checking.formula import Binary, Formula, Operator, Reward, Unary, is_temporal
from surefoot.errors import BadProperty, MissingExtra, UnknownName
from surefoot.models._names import nearest
from surefoot.models.components import Direction
from surefoot.models.model import Model
from surefoot.models.solution import Objective, Solution, Solver, Status
from surefoot.solvers import storm
from surefoot.solvers.discounted import discounted
from surefoot.solvers.long_run import long_run, total
from surefoot.solvers.optimistic import optimistic
from surefoot.solvers.robust import robust
from surefoot.solvers.steps import Backup, Bounds, steps

__all__ = ["How", "paid", "solve"]

Mask = NDArray[np.bool_]
States = Callable[[Formula], Mask]
_OTHER: dict[Direction, Direction] = {"max": "min", "min": "max"}


@dataclass(frozen=True, eq=False)
class How:
    """Hold what all parts of a property are worked out with; see `check`."""

    model: Model
    text: str
    nature: Literal["adversarial", "cooperative"] = "adversarial"
    tolerance: float = 1e-6
    max_sweeps: int = 1_000_000
    solver: Solver | None = None

    def place(self, message: str, at: int) -> str:
        """Return a message that shows the place."""
        return f"{message}, at column {at + 1}:\n    {self.text}\n    {' ' * at}^"

    def picks(self, asked: Operator, direction: Direction) -> Direction:
        """Return who picks from intervals."""
        if asked.nature is not None:
            return asked.nature
        return direction if self.nature == "cooperative" else _OTHER[direction]

    def direction(self, asked: Operator) -> Direction:
        """Return who picks choices, or refuse to guess."""
        if asked.direction is not None:
            if asked.nature is not None and not self.model.has_intervals:
                raise BadProperty(
                    self.place(f"{asked.kind}{asked.direction}{asked.nature} is for interval models", asked.at)
                )
            return asked.direction
        if not self.model.has_actions and not self.model.has_intervals:
            return "max"
        kind, what = asked.kind, "choices" if self.model.has_actions else "intervals"
        raise BadProperty(
            self.place(f"the model has {what}: ask for {kind}max or {kind}min instead of {kind}", asked.at)
        )


def solve(how: How, asked: Operator, states: States) -> Solution:
    """Return the solution of what an operator asks."""
    direction = how.direction(asked)
    picks = how.picks(asked, direction)
    if not how.model.has_actions and how.model.has_intervals and asked.nature is None:
        picks = direction  # a chain has no choices: the word speaks of the intervals
    if isinstance(asked.of, Reward):
        return _rewards(how, asked, asked.of, direction, picks, states)
    if asked.kind == "S":
        return _share(how, asked, states(asked.of), direction)
    return _path(how, asked, asked.of, direction, picks, states)


def _reach(how: How, target: Mask, through: Mask | None, direction: Direction, picks: Direction) -> Solution:
    """Work out a reachability probability."""
    objective = Objective(target, direction, through)
    if how.solver is not None:
        return how.solver(how.model, objective, tolerance=how.tolerance, max_sweeps=how.max_sweeps)
    if how.model.has_intervals:
        return robust(how.model, objective, nature=picks, tolerance=how.tolerance, max_sweeps=how.max_sweeps)
    return optimistic(how.model, objective, tolerance=how.tolerance, max_sweeps=how.max_sweeps)


def _not(solution: Solution) -> Solution:
    """Return the bounds of the opposite."""
    lower = np.where(solution.upper == 0, 1.0, np.nextafter(1 - solution.upper, -1))
    upper = np.where(solution.lower == 0, 1.0, np.nextafter(1 - solution.lower, 2))
    lower, upper = np.where(solution.upper == 1, 0.0, lower), np.where(solution.lower == 1, 0.0, upper)
    return Solution(solution.status, np.clip(lower, 0, 1), np.clip(upper, 0, 1), solution.policy, solution.sweeps)


def _path(
    how: How, asked: Operator, path: Formula | Reward, direction: Direction, picks: Direction, states: States
) -> Solution:
    """Work out the probability of a path formula."""
    free = np.ones(how.model.n_states, bool)
    parts = [path.of] if isinstance(path, Unary) else [path.left, path.right] if isinstance(path, Binary) else []
    if any(is_temporal(part) for part in parts) or not isinstance(path, Unary | Binary) or path.operator in "!&|":
        return _linear_time(how, asked, direction)
    if path.operator in ("=>", "<=>"):
        return _linear_time(how, asked, direction)
    least, most = path.least, path.most
    if isinstance(path, Unary):
        of = states(path.of)
        if path.operator == "X":
            return _within(how, of, free, 1, 1, direction, picks)
        if path.operator == "F":
            return _until(how, free, of, least, most, direction, picks)
        return _not(_until(how, free, ~of, least, most, _OTHER[direction], _OTHER[picks]))
    left, right = states(path.left), states(path.right)
    if path.operator == "U":
        return _until(how, left, right, least, most, direction, picks)
    if path.operator == "R":  # a R b is b W (a & b)
        left, right = right, left & right
    return _not(_until(how, ~right, ~left & ~right, least, most, _OTHER[direction], _OTHER[picks]))


def _until(
    how: How, through: Mask, target: Mask, least: int, most: int | None, direction: Direction, picks: Direction
) -> Solution:
    """Work out an until, with or without a bound."""
    if most is not None:
        return _within(how, target, through, least, most, direction, picks)
    solution = _reach(how, target, None if through.all() else through, direction, picks)
    if not least:
        return solution
    backup = Backup(how.model, direction, picks)
    return _before(backup, (solution.lower, solution.upper), through, least, solution.status, solution.sweeps)


def _within(
    how: How, target: Mask, through: Mask, least: int, most: int, direction: Direction, picks: Direction
) -> Solution:
    """Work out an until whose target must be met in the steps from `least` to `most`."""
    backup = Backup(how.model, direction, picks)
    end = target.astype(np.float64)
    (lower, upper), policy = steps(backup, (end, end), most - least, keep=target | ~through)
    found = np.clip(lower, 0, 1), np.clip(upper, 0, 1)
    if least:
        return _before(backup, found, through, least, Status.CERTIFIED, most - least)
    status = Status.EXACT if most == 0 else Status.CERTIFIED
    return Solution(status, *found, policy, most)


def _before(backup: Backup, bounds: Bounds, through: Mask, count: int, status: Status, sweeps: int) -> Solution:
    """Go back over steps in which only `through` states may be passed, whether the target is met or not."""
    policy = None
    for step in range(count):
        if step == count - 1:
            policy = backup.policy(bounds[0] if backup.direction == "max" else bounds[1])
        lower, upper = backup.once(bounds)
        bounds = np.where(through, np.clip(lower, 0, 1), 0.0), np.where(through, np.clip(upper, 0, 1), 0.0)
    if status is Status.EXACT:
        status = Status.CERTIFIED
    return Solution(status, *bounds, policy, sweeps + count)


def _linear_time(how: How, asked: Operator, direction: Direction) -> Solution:
    """Ask Storm, which translates the path to an automaton."""
    if not storm.is_there():
        error = MissingExtra.of("stormpy", extra="storm", what="paths inside paths (LTL)")
        raise MissingExtra(how.place(str(error), asked.at))
    return storm.linear_time(how.model, asked.text, direction, tolerance=how.tolerance)


def _share(how: How, asked: Operator, states: Mask, direction: Direction) -> Solution:
    """Work out in which part of the time a run is in some states."""
    _no_intervals(how, asked, "S")
    paid = states[how.model.choice_state].astype(np.float64)
    solution = long_run(
        how.model,
        paid,
        direction,
        ends=states.astype(np.float64),
        tolerance=how.tolerance,
        max_sweeps=how.max_sweeps,
    )
    return Solution(
        solution.status,
        np.clip(solution.lower, 0, 1),
        np.clip(solution.upper, 0, 1),
        solution.policy,
        solution.sweeps,
    )


def _no_intervals(how: How, asked: Operator, what: str) -> None:
    if how.model.has_intervals:
        raise BadProperty(how.place(f"{what} is not worked out for interval models", asked.at))


def _rewards(
    how: How, asked: Operator, rewards: Reward, direction: Direction, picks: Direction, states: States
) -> Solution:
    """Work out expected rewards."""
    model, budget = how.model, {"tolerance": how.tolerance, "max_sweeps": how.max_sweeps}
    each, more = paid(how, asked)
    if rewards.kind == "F":
        assert rewards.of is not None
        objective = Objective(states(rewards.of), direction, reward=each, transition=more)
        if how.solver is not None:
            return how.solver(model, objective, tolerance=how.tolerance, max_sweeps=how.max_sweeps)
        if model.has_intervals:
            return robust(model, objective, nature=picks, tolerance=how.tolerance, max_sweeps=how.max_sweeps)
        return optimistic(model, objective, tolerance=how.tolerance, max_sweeps=how.max_sweeps)
    if rewards.kind == "S":
        _no_intervals(how, asked, "the long-run average")
        return long_run(model, each, direction, **budget)  # type: ignore[arg-type]  # of several types
    if rewards.kind == "I":
        return _at(how, asked, rewards, direction, picks)
    if rewards.discount is not None:
        return discounted(
            model,
            each,
            rewards.discount,
            direction,
            nature=picks,
            transition=more,
            **budget,  # type: ignore[arg-type]  # of several types
        )
    if rewards.steps is None:
        _no_intervals(how, asked, "C without a bound")
        if bool((each < 0).any()):
            raise BadProperty(
                how.place("the total of rewards below 0 need not exist: use F, C<=k or Cdiscount=0.9", rewards.at)
            )
        return total(model, each, direction, **budget)  # type: ignore[arg-type]  # of several types
    backup = Backup(model, direction, picks, each, more)
    zero = np.zeros(model.n_states)
    # The rewards of a state without choices end, so values are carried only where a step is taken.
    (lower, upper), policy = steps(backup, (zero, zero), rewards.steps)
    return Solution(Status.CERTIFIED if rewards.steps else Status.EXACT, lower, upper, policy, rewards.steps)


def paid(how: How, asked: Operator) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return what each choice pays, and each branch where the mean is not known."""
    model = how.model
    name = asked.reward
    if not model.rewards or (name is not None and name not in model.rewards):
        wanted = "any reward model" if name is None else f"a reward model {name!r}"
        raise BadProperty(how.place(f"the model has not {wanted}: {nearest(str(name), model.rewards)}", asked.at))
    if name is None and len(model.rewards) > 1:
        names = ", ".join(f'R{{"{one}"}}' for one in model.rewards)
        raise BadProperty(how.place(f"the model has several reward models: say which, {names}", asked.at))
    given = model.reward(name)
    if not model.has_intervals or given.transition is None:
        return model.expected_reward(name), None
    each = np.zeros(model.n_choices)
    if given.state is not None:
        each += given.state[model.choice_state]
    if given.choice is not None:
        each += given.choice
    return each, given.transition


def _at(how: How, asked: Operator, rewards: Reward, direction: Direction, picks: Direction) -> Solution:
    """Work out the reward of the state that a run is in after some steps."""
    try:
        given = how.model.reward(asked.reward)
    except UnknownName as error:  # pragma: no cover (refused before)
        raise BadProperty(how.place(str(error), asked.at)) from None
    if given.state is None or given.choice is not None or given.transition is not None:
        raise BadProperty(how.place("I=k is the reward of a state: this reward model pays elsewhere", rewards.at))
    assert rewards.steps is not None
    bounds, policy = steps(Backup(how.model, direction, picks), (given.state, given.state), rewards.steps)
    return Solution(Status.CERTIFIED, bounds[0].copy(), bounds[1].copy(), policy, rewards.steps)
