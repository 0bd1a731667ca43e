"""Bounds of the one solution of a problem: a good guess by policy iteration, then a proof by one sweep.

The proof is that of optimistic value iteration: when one sweep over all choices, with every rounding pushed upwards,
raises no value, then the values are upper bounds (and likewise below). It does not matter where the guess comes from.
What a policy earns bounds the solution from one side; there sweeps over the policy are proof enough. The guess is what
modified policy iteration has reached, with a slack around it: a function of the values that every step uses up a part
of, so that what is still missing is less. Where all changes shrink by one factor, the rest is added up at once.

Source: Hartmanns, Kaminski 2020 (the proof); Puterman 1994, section 6.5 (modified policy iteration); Aitken 1926 (the
rest). The slack from concavity is our own; see `_Search._make_slack`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models._compiled import is_there
from surefoot.solvers._direct import cost_of_equations, solve_directly
from surefoot.solvers._intervals import CompiledIntervalSweeps, IntervalProblem, IntervalSweeps
from surefoot.solvers._numba import NumbaSweeps
from surefoot.solvers._numpy import NumpySweeps
from surefoot.solvers._problem import Problem

__all__ = [
    "Enclosure",
    "Engine",
    "Sweeps",
    "close",
    "enclose",
    "prove",
    "proved_directly",
    "pushes",
    "relative_size",
    "sweeps_of",
]

Values = NDArray[np.float64]
Engine = Literal["auto", "numba", "numpy"]
_TINY = 1e-280
_MOST_FAILURES = 60
_MOST_STEPS = 5_000
_NONE = (1.0, 0.0)
_PART = 0.2
_LEAST = 1e-11
_GROWTH = 1.1


class Sweeps(Protocol):
    """Say what both engines offer; see `NumpySweeps`."""

    @property
    def problem(self) -> Problem | IntervalProblem:
        """Return what is swept over."""

    @property
    def patience(self) -> float:
        """Return how many sweeps over a policy to spend at first before it is improved."""

    def improve(self, values: Values, push: tuple[float, float], /) -> tuple[Values, NDArray[np.int64]]:
        """Return the values after one sweep over all choices, and the best choice of each node."""

    def check(self, values: Values, push: tuple[float, float], /) -> Values:
        """Return the values after one sweep over all choices."""

    def evaluate(
        self, policy: NDArray[np.int64], values: Values, push: tuple[float, float], sweeps: int, /
    ) -> tuple[Values, Values, Values]:
        """Return the values after some sweeps over the choices of a policy, and the last two changes."""

    def steps(self, policy: NDArray[np.int64], size: Values, start: Values, sweeps: int, /) -> tuple[Values, Values]:
        """Return, after some more sweeps, how many steps are to come, each counted as `size`; and the last change."""

    def sums(self, values: Values, change: Values, before: Values, floor: float, /) -> tuple[float, ...]:
        """Return the largest change, the largest before, and three sums of both; see `sums_of_changes`."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Hold bounds of the nodes of a problem.

    Args:
        lower: (N,) float64.
        upper: (N,) float64, infinite where nothing was proved.
        policy: (N,) int64, the choice of each node.
        sweeps: sweeps over all choices; those over a policy count as the part of the choices that they touch.
        close: whether the bounds are as close as was asked.
    """

    lower: Values
    upper: Values
    policy: NDArray[np.int64]
    sweeps: int
    close: bool


def sweeps_of(problem: Problem | IntervalProblem, engine: Engine = "auto") -> Sweeps:
    """Return sweeps over a problem: compiled where numba is there (`auto`), or as asked."""
    if engine not in ("auto", "numba", "numpy"):
        raise BadArgument(f"engine must be 'auto', 'numba' or 'numpy', got {engine!r}")
    fast = engine == "numba" or (engine == "auto" and is_there())
    if isinstance(problem, IntervalProblem):
        return CompiledIntervalSweeps(problem) if fast else IntervalSweeps(problem)
    if fast:
        return NumbaSweeps(problem)
    return NumpySweeps(problem)


def pushes(problem: Problem | IntervalProblem, values: Values) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return what moves a computed row down, and up, at least as far as rounding may have moved it the other way."""
    if problem.relative:
        return (1.0 - problem.rounding, 0.0), (1.0 + problem.rounding, 0.0)
    most = float(np.abs(problem.constant).max(initial=0.0)) + 2.0 * float(np.abs(values).max(initial=0.0))
    if isinstance(problem, IntervalProblem):
        most += float(np.abs(problem.fixed).max(initial=0.0))
        most += 0.0 if problem.extra is None else float(np.abs(problem.extra).max(initial=0.0))
    shift = problem.rounding * most
    return (1.0, -shift), (1.0, shift)


def relative_size(problem: Problem | IntervalProblem, values: Values) -> Values:
    """Return the sizes against which errors are measured."""
    return np.maximum(np.abs(values), max(problem.floor, _TINY))


def close(problem: Problem | IntervalProblem, lower: Values, upper: Values, tolerance: float) -> bool:
    """Say whether the middle of the bounds is nowhere further from the value than `tolerance` allows."""
    with np.errstate(invalid="ignore"):
        return bool((upper - lower <= 2 * tolerance * relative_size(problem, np.maximum(lower, -upper))).all())


def prove(
    sweeps: Sweeps,
    guess: Values,
    side: Literal["lower", "upper"],
    policy: NDArray[np.int64],
    *,
    margin: float = 0.0,
    inner: Sequence[int] = (0, 1, 2, 4),
) -> tuple[Values | None, float]:
    """Return bounds if a sweep proves them, starting from a guess; and how many sweeps that took.

    Upper: when B(u) <= u, rounding against us, then u is at least the solution, because the solution is the only one
    and B is monotone. Lower likewise.

    Args:
        sweeps: who sweeps.
        guess: (N,) what may be a bound.
        side: `lower` or `upper`.
        policy: (N,) the choices to sweep over between two tries.
        margin: how much to add on every step while doing so, as a part of the value: what rounding takes must be less.
        inner: for each try, how many sweeps over the policy go before it.
    """
    problem, up, used = sweeps.problem, side == "upper", 0.0
    share = problem.size / max(len(problem.constant), 1)
    if problem.relative:
        guess = np.maximum(guess, 0.0)  # which the solution is; and rounding is pushed the right way only there
    for count in inner:
        if count:
            guess, _, _ = sweeps.evaluate(policy, guess, _widened(problem, guess, margin)[up], count)
            used += max(count, 2) * share
        new, policy = sweeps.improve(guess, pushes(problem, guess)[up])
        used += 1
        if bool((new <= guess).all() if up else (new >= guess).all()):
            return new, used
        guess = new
    return None, used


def _widened(
    problem: Problem | IntervalProblem, values: Values, margin: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return pushes that leave a margin on every step."""
    down, up = pushes(problem, values)
    if problem.relative:
        return (down[0] - margin, 0.0), (up[0] + margin, 0.0)
    return (1.0, down[1] - margin * problem.floor), (1.0, up[1] + margin * problem.floor)


def enclose(
    problem: Problem | IntervalProblem,
    *,
    tolerance: float,
    max_sweeps: int,
    engine: Engine = "auto",
    direct: bool | None = None,
) -> Enclosure:
    """Return bounds of the solution of a problem.

    Args:
        problem: what to solve; every policy must end.
        tolerance: how far the middle of the bounds may be from the value, as a part of it.
        max_sweeps: how often to go over all choices at most.
        engine: who sweeps.
        direct: whether to solve linear equations; None: where that is cheaper.

    Cost: for each sweep a few nanoseconds a branch; or one sparse factorisation for each policy.
    """
    sweeps = sweeps_of(problem, engine)
    if not problem.size:
        return Enclosure(np.zeros(0), np.zeros(0), np.zeros(0, np.int64), 0, True)
    if isinstance(problem, IntervalProblem):
        return _Search(sweeps, tolerance, max_sweeps, False).run()
    if direct:
        found = solve_directly(problem, sweeps, tolerance)
        if found is not None:
            return proved_directly(sweeps, *found, tolerance)
    return _Search(sweeps, tolerance, max_sweeps, direct is None).run()


class _Search:
    """Look for bounds until they are close or the budget is spent."""

    def __init__(self, sweeps: Sweeps, tolerance: float, max_sweeps: int, may_be_direct: bool) -> None:
        self.sweeps, self.problem, self.tolerance = sweeps, sweeps.problem, tolerance
        self.budget, self.used, self.failed = float(max_sweeps), 0.0, 0
        self.may_be_direct = may_be_direct
        self.values = np.zeros(self.problem.size)
        self.share = self.problem.size / max(len(self.problem.constant), 1)
        self.policy = self.problem.choice_start[:-1].copy()
        self.patience = sweeps.patience
        self.count = max(4, int(self.patience / 3))
        """How many sweeps over a policy come before one looks how much they moved."""
        self.equations: float | None = None
        self.moved = np.inf
        """By how much the last sweep moved a value, as a part of it."""
        self.part = 0.0
        """How large a change was at last, as a part of the one before."""
        self.slack: Values | None = None
        self.goal = tolerance / 4
        """How much a sweep may move values when they are to be proved, with a slack around them."""
        self.margin = 0.0
        self.bounds: dict[str, Values] = {}

    def run(self) -> Enclosure:
        """Improve, evaluate, try to prove."""
        while self.used < self.budget and self.failed < _MOST_FAILURES:
            values, self.policy = self.sweeps.improve(self.values, _NONE)
            self.used += 1
            gained = self.sweeps.sums(values, values - self.values, self.values, self._floor())[0]
            self.values = values
            if gained <= self.tolerance / 2 and (self.slack is None or self.failed > 1):
                self._make_slack()
            # At first a slack may make up for what is better still; when it did not, that must be less than it is.
            ready = gained <= (self.goal if self.failed else self.tolerance / 2)
            if not self._evaluate(self.goal if ready else max(_PART * gained, self.goal)):
                return self._directly()
            if ready and self.moved <= self.goal:
                done = self._proved()
                if done is not None:
                    return done
                self.failed += 1
                self.goal = self.margin / 4.0 ** min(self.failed - 1, 6)
        return self._spent()

    def _floor(self) -> float:
        return max(self.problem.floor, _TINY)

    def _evaluate(self, wanted: float) -> bool:
        """Sweep over the policy until that moves values by at most `wanted`. False: solve linear equations instead."""
        count, spent, before_jump = self.count, 0.0, np.inf
        while True:
            self.values, change, before = self.sweeps.evaluate(self.policy, self.values, _NONE, count)
            spent += count * self.share
            self.moved, earlier, *sums = self.sweeps.sums(self.values, change, before, self._floor())
            if self.moved <= max(wanted, 4 * self.problem.rounding) or self.used + spent >= self.budget:
                self.count = max(self.count // 2, 2)
                break
            self.count = max(4, int(self.patience / 3))
            if spent >= self.patience * self.share:
                self.patience *= _GROWTH  # while the policy is bad, what it is worth to the last digit is no use
                break
            if self._direct_is_due(spent):
                self.used += spent
                return False
            ratio = min(self.moved / earlier, 0.999999) if earlier > 0 else 0.5
            todo = float(np.log(wanted / self.moved) / np.log(ratio)) if 0 < ratio < 1 else 3.0
            if todo > 3 and self.moved < 0.3 * before_jump and self._jump(change, *sums):
                before_jump, todo = self.moved, 3.0
            count = int(min(max(todo * 0.7, 3), 200, max(self.patience - spent / self.share, 3)))
        self.used += spent
        return True

    def _jump(self, change: Values, squares: float, both: float, others: float) -> bool:
        """Go to where the values lead to, if each change is nearly the same part of the one before: Aitken's guess.

        What is left is then what was not that part, made larger by the jump: so it must be little. Where the part was
        the same the last time, it may be more: what stands beside the slowest way to settle is gone after a few sweeps.
        """
        part = both / others if others > 0 else 0.0
        before, self.part = self.part, part
        if not 0 < part < 1 or not squares * others > 0:
            return False
        astray = 1 - both * both / (squares * others)
        same = abs(part - before) < 0.1 * (1 - part)
        if astray > (0.01 if same else (1 - part) ** 2 / 4):
            return False
        self.values = self.values + change * (part / (1 - part))
        return True

    def _direct_is_due(self, spent: float) -> bool:
        """Say whether sweeping has cost by now what solving linear equations would."""
        swept = (self.used + spent) / self.share
        if not self.may_be_direct or swept < 120 or not isinstance(self.problem, Problem):
            return False
        if self.equations is None:
            self.equations = cost_of_equations(self.problem, self.policy)
        self.may_be_direct = swept * len(self.problem.target) * self.share < self.equations
        return not self.may_be_direct

    def _make_slack(self) -> None:
        """Find what to widen bounds by, and how much a sweep may move values then.

        Something of it must be used up on every step: slack > rows · slack, for the choices that are best or nearly so.
        x (2 - log x) of the values x is such where what follows differs in worth, as where one may fail: it is concave
        and rises, so by Jensen's inequality its mean over what follows is below it, and it is never much more than x.
        Else the slack is in proportion to the steps that are still to come, weighed by what they are worth.
        """
        size = relative_size(self.problem, self.values)
        steps, used_up = self._concave(size) if self.failed < 2 else (size, 0.0)
        part = self.tolerance / (2 * max(float((steps / size).max()), 1.0))
        if used_up * part < _LEAST:
            steps, used_up = self._steps(size, steps / used_up if used_up else size), 0.5
            part = self.tolerance / (2 * max(float((steps / size).max()), 1.0))
        self.slack = part * steps
        self.margin = used_up * part / 2
        self.goal = self.margin / 4.0 ** min(max(self.failed - 1, 0), 6)

    def _concave(self, size: Values) -> tuple[Values, float]:
        """Return a concave function of the values, and which part of the size of each value a step uses up at least."""
        if self.problem.relative:
            some = self.values > 0
            found = np.where(some, self.values, 0.0)
            found[some] *= 2.0 - np.log(found[some] / float(found.max(initial=0.0)))
        else:
            found = np.full_like(size, self._floor())
        _, change = self.sweeps.steps(self.policy, np.zeros_like(size), found, 1)
        self.used += self.share
        left = (-change / size)[found > 0]
        return found, max(float(left.min(initial=np.inf)), 0.0) if len(left) else 0.0

    def _steps(self, size: Values, steps: Values) -> Values:
        """Return how many steps are to come, each counted as the size of the value: enough that half is used up."""
        swept, count = 0, 6
        while swept < _MOST_STEPS:
            steps, change = self.sweeps.steps(self.policy, size, steps, count)
            swept += count
            if bool((change <= 0.5 * size).all()):
                break
            count *= 2
        self.used += swept * self.share
        return steps

    def _proved(self) -> Enclosure | None:
        """Try to prove both sides, with more sweeps where it failed before."""
        assert self.slack is not None
        lower = self._prove(self.values - self.slack, "lower")
        if lower is None:
            return None
        upper = self._prove(self.values + self.slack, "upper")
        if upper is None:
            return None
        self.bounds = {"lower": lower, "upper": upper}
        found = self._found()
        return found if found.close else None

    def _prove(self, guess: Values, side: Literal["lower", "upper"]) -> Values | None:
        """Return what is proved of a guess: by sweeps over the policy on the side where what it earns is a bound."""
        if isinstance(self.problem, Problem) and (side == "lower") == (self.problem.direction == "max"):
            if self.problem.relative:
                guess = np.maximum(guess, 0.0)
            found, change, _ = self.sweeps.evaluate(self.policy, guess, pushes(self.problem, guess)[side == "upper"], 2)
            self.used += 2 * self.share
            return found if bool((change >= 0).all() if side == "lower" else (change <= 0).all()) else None
        inner = ((0, 2), (0,), (0,))[self.failed] if self.failed < 3 else (0, 8, 32, 128)
        bound, count = prove(self.sweeps, guess, side, self.policy, margin=self.margin / 2, inner=inner)
        self.used += count
        return bound

    def _directly(self) -> Enclosure:
        """Solve linear equations; go on sweeping if that does not prove what is asked."""
        assert isinstance(self.problem, Problem)
        found = solve_directly(self.problem, self.sweeps, self.tolerance, policy=self.policy)
        if found is not None:
            done = proved_directly(self.sweeps, *found, self.tolerance)
            if done.close:
                return done
        return self.run()

    def _spent(self) -> Enclosure:
        """Return the bounds that hold although the budget is spent."""
        side: Literal["lower", "upper"] = "lower" if self.problem.direction == "max" else "upper"
        if side not in self.bounds and isinstance(self.problem, Problem):
            bound = self._prove(self.values, side)
            if bound is not None:
                self.bounds[side] = bound
        return self._found()

    def _found(self) -> Enclosure:
        nothing = np.full(self.problem.size, np.inf)
        lower = self.bounds.get("lower", np.zeros_like(nothing) if self.problem.relative else -nothing)
        upper = self.bounds.get("upper", nothing)
        near = close(self.problem, lower, upper, self.tolerance)
        return Enclosure(lower, upper, self.policy, int(np.ceil(self.used)), near)


def proved_directly(
    sweeps: Sweeps, values: Values, slack: Values, policy: NDArray[np.int64], tolerance: float
) -> Enclosure:
    """Return what can be proved of the solution of linear equations."""
    problem = sweeps.problem
    nothing = np.full(problem.size, np.inf)
    upper, above = prove(sweeps, values + slack, "upper", policy, inner=(0,) * 8)
    lower, under = prove(sweeps, values - slack, "lower", policy, inner=(0,) * 8)
    if lower is None:
        lower = np.zeros_like(nothing) if problem.relative else -nothing
    upper = nothing if upper is None else upper
    return Enclosure(lower, upper, policy, int(above + under), close(problem, lower, upper, tolerance))
