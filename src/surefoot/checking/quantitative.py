"""Check properties of models: `check(model, 'Pmax=? [ F "goal" ]')` answers with bounds that hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.checking import _paths
from surefoot.checking.formula import Formula, Operator, parse
from surefoot.checking.qualitative import satisfying
from surefoot.errors import BadArgument, BadProperty, Undecided
from surefoot.models.components import Direction
from surefoot.models.model import Model
from surefoot.models.solution import Solution, Solver, Status

__all__ = ["Answer", "check", "holds_where"]

Mask = NDArray[np.bool_]
_attribute = property
"""The decorator; inside `Answer` its name is that of a field."""
_FINEST = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """Hold what was found out about a property.

    Args:
        property: its text.
        lower: what was asked for is at least this, at the start (the mean over the initial distribution). None for a
            formula that asks for no number.
        upper: and at most this.
        holds: whether the property holds at the start; None for `=?`, and where the bounds leave it open.
        solution: bounds and policy for every state; None for a formula that asks for no number.
        states: (S,) bool, where the property holds; None for `=?`, and where the bounds leave some state open.

    Example:
        >>> from surefoot.models.examples import die
        >>> answer = check(die(), 'P=? [ F "six" ]')
        >>> answer.lower <= 1 / 6 <= answer.upper, answer.holds is None
        (True, True)
        >>> bool(check(die(), 'P>=0.1 [ F "six" ]'))
        True
    """

    property: str
    lower: float | None
    upper: float | None
    holds: bool | None
    solution: Solution | None
    states: Mask | None

    @_attribute
    def policy(self) -> NDArray[np.int64] | None:
        """Return the choice to take in each state, where there is a policy."""
        return None if self.solution is None else self.solution.policy

    @_attribute
    def status(self) -> Status:
        """Return what the bounds are worth."""
        return Status.EXACT if self.solution is None else self.solution.status

    def __bool__(self) -> bool:
        if self.holds is None:
            asks = self.property.rstrip().find("=?") >= 0
            way = "read lower and upper" if asks else "ask with a smaller tolerance"
            raise Undecided(f"{self.property} is neither true nor false in [{self.lower}, {self.upper}]: {way}")
        return self.holds

    def __repr__(self) -> str:
        found = "" if self.lower is None else f"in [{self.lower!r}, {self.upper!r}]"
        verdict = "" if self.holds is None else f"{'holds' if self.holds else 'does not hold'}"
        return f"<{self.property}: {', '.join(part for part in (verdict, found) if part)}>"


def check(
    model: Model,
    property: str,
    *,
    nature: Literal["adversarial", "cooperative"] = "adversarial",
    tolerance: float = 1e-6,
    max_sweeps: int = 1_000_000,
    solver: Solver | None = None,
) -> Answer:
    """Return what a model keeps of a property, with bounds that hold.

    `P`, `R` and `S` with a bound, such as `P>=0.9 [ … ]`, hold when they hold whatever is chosen; `Pmax>=0.9 [ … ]`
    holds when they can be made to hold. A bound that the value just touches is decided only where the graph decides it,
    or where more sweeps do.

    Args:
        model: a chain, an MDP or one with intervals. Of a POMDP or HMM its states are checked, as if they were seen;
            for bounds of what can be reached without seeing them use `surefoot.checking.hidden`.
        property: see `surefoot.checking.formula`.
        nature: who picks from the intervals, where the property does not say: against or for whoever picks choices.
        tolerance: how far the middle of the bounds may be from the value, as a part of it; see `optimistic`.
        max_sweeps: how often to go over all choices at most.
        solver: what works out reachability and rewards until a target; None: `optimistic`, and `robust` for intervals.

    Raises:
        BadProperty: it cannot be read, or asks what this model cannot answer; the message shows the place.
        Undecided: part of it is a bound that could not be decided in some state.

    Source: Forejt et al. 2011, sections 3 and 4; Baier, Katoen 2008, chapter 10.

    Example:
        >>> from surefoot.models.examples import die
        >>> check(die(), '"init"').holds
        True
        >>> check(die(), 'P=? [ F "sxi" ]')
        Traceback (most recent call last):
        surefoot.errors.BadProperty: there is no label 'sxi': did you mean 'six'?, at column 9:
            P=? [ F "sxi" ]
                    ^
    """
    if nature not in ("adversarial", "cooperative"):
        raise BadArgument(f"nature must be 'adversarial' or 'cooperative', got {nature!r}")
    formula = parse(property)
    how = _paths.How(model, property, nature, tolerance, max_sweeps, solver)
    if isinstance(formula, Operator) and formula.compare == "=?":
        solution = _solve(how, formula)
        lower, upper = at_start(model, solution)
        return Answer(property, lower, upper, None, solution, None)
    if isinstance(formula, Operator):
        return _threshold(how, formula)
    states = satisfying(model, formula, property, inner=lambda one: _decided(how, one))
    return Answer(property, None, None, bool(states[model.initial > 0].all()), None, states)


def holds_where(model: Model, formula: Formula, how: _paths.How) -> Mask:
    """Return in which states a formula holds, those with bounds decided by working them out.

    Raises:
        BadProperty: it is no state formula.
        Undecided: a bound could not be decided in some state.

    Example:
        >>> from surefoot.checking.formula import parse
        >>> from surefoot.checking._paths import How
        >>> from surefoot.models.examples import die
        >>> text = 'P>=0.5 [ F "six" ]'
        >>> model = die()
        >>> [model.state_name(s) for s in np.flatnonzero(holds_where(model, parse(text), How(model, text)))]
        ['six?', 'six']
    """
    return satisfying(model, formula, how.text, inner=lambda one: _decided(how, one))


def at_start(model: Model, solution: Solution) -> tuple[float, float]:
    """Return the bounds of the mean over the initial distribution."""
    where = np.flatnonzero(model.initial)
    if len(where) == 1:
        return solution.bounds(int(where[0]))
    share = model.initial[where]
    lower, upper = solution.lower[where], solution.upper[where]
    slack = 1e-15 * len(where)
    with np.errstate(invalid="ignore"):
        low, high = float((share * lower).sum()), float((share * upper).sum())
    return low - slack * abs(low) if np.isfinite(low) else low, high + slack * abs(high) if np.isfinite(high) else high


def _solve(how: _paths.How, asked: Operator) -> Solution:
    """Work out what an operator asks, with the states inside it decided first."""
    return _paths.solve(how, asked, lambda formula: holds_where(how.model, formula, how))


def pessimistic(asked: Operator, has_actions: bool, has_intervals: bool) -> tuple[Operator, bool]:
    """Return the operator with the directions that a bound speaks of: all choices, unless it says min or max."""
    if asked.direction is not None or not (has_actions or has_intervals):
        return asked, False
    worst: Direction = "min" if asked.compare in (">", ">=") else "max"
    return replace(asked, direction=worst, nature=worst if has_intervals else None), True


def _compare(asked: Operator, solution: Solution) -> tuple[Mask, Mask]:
    """Return where a bound holds for certain, and where it fails for certain."""
    assert asked.bound is not None
    lower, upper, bound = solution.lower, solution.upper, asked.bound
    return {
        ">=": (lower >= bound, upper < bound),
        ">": (lower > bound, upper <= bound),
        "<=": (upper <= bound, lower > bound),
        "<": (upper < bound, lower >= bound),
    }[asked.compare]


def _narrowed(how: _paths.How, asked: Operator, needed: Mask) -> tuple[Solution, Mask, Mask]:
    """Work out a bound, more closely while some state that is needed is open."""
    asked, _ = pessimistic(asked, how.model.has_actions, how.model.has_intervals)
    while True:
        solution = _solve(how, asked)
        yes, no = _compare(asked, solution)
        if bool((yes | no)[needed].all()) or how.tolerance <= _FINEST or solution.status is Status.LOOSE:
            return solution, yes, no
        how = replace(how, tolerance=max(how.tolerance / 1e3, _FINEST))


def _threshold(how: _paths.How, asked: Operator) -> Answer:
    """Decide a bound at the start."""
    model, text = how.model, how.text
    start = model.initial > 0
    if int(start.sum()) > 1 and asked.bound is not None:
        # Several states to start in: the bound is on the mean.
        asked, _ = pessimistic(asked, model.has_actions, model.has_intervals)
        solution = _solve(how, asked)
        lower, upper = at_start(model, solution)
        mean = Solution(solution.status, np.array([lower]), np.array([upper]), None, 0)
        yes, no = _compare(asked, mean)
        all_yes, all_no = _compare(asked, solution)
    else:
        solution, all_yes, all_no = _narrowed(how, asked, start)
        lower, upper = at_start(model, solution)
        yes, no = all_yes[start], all_no[start]
    holds = True if yes.all() else False if no.all() else None
    states = all_yes if bool((all_yes | all_no).all()) else None
    return Answer(text, lower, upper, holds, solution, states)


def _decided(how: _paths.How, asked: Operator) -> Mask:
    """Return where an operator with a bound holds, or say that it cannot be decided."""
    if asked.compare == "=?":
        raise BadProperty(how.place(f"{asked.kind}=? asks for a number: inside a formula give it a bound", asked.at))
    solution, yes, no = _narrowed(how, asked, np.ones(how.model.n_states, bool))
    open_ = ~(yes | no)
    if open_.any():
        state = int(np.argmax(open_))
        raise Undecided(
            how.place(
                f"in state {how.model.state_name(state)!r} the value is in "
                f"[{solution.lower[state]}, {solution.upper[state]}], too close to {asked.bound} to decide",
                asked.at,
            )
        )
    return yes
