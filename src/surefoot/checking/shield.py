"""Shields: from which states which choices can still keep a property, and why the others cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.checking import _paths
from surefoot.checking.formula import Binary, Formula, Operator, Reward, Unary, parse
from surefoot.checking.quantitative import holds_where
from surefoot.errors import BadArgument, BadProperty
from surefoot.models._names import number_of
from surefoot.models.components import has_choices
from surefoot.models.model import Model
from surefoot.solvers.steps import Backup

__all__ = ["Shield", "shield"]

Mask = NDArray[np.bool_]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Shield:
    """Hold which choices can still keep a property.

    A choice is allowed when the property can be kept with the asked probability after it, by choosing well from then
    on. What counts is the bound that is proved: where it is too close to tell, the choice is refused.

    With `P>=1` an agent that takes only allowed choices, from a state that keeps the property, keeps it for certain.
    With a smaller number each choice leaves a way to keep it that is that likely; a walk that goes on taking risks may
    take them again and again, so this bounds each step, not the sum of all.

    Args:
        model: the model.
        property: the text of what is kept.
        allowed: (C,) bool, the allowed choices.
        worth: (C,) float64, the proved bound of each choice: from below for `>=`, from above for `<=`.
        bound: what it is compared with.
        above: whether it must be above the bound (or at it).
        keeps: (S,) bool, the states in which some choice is allowed, or in which there is nothing left to keep.

    Example:
        >>> from surefoot.models import MDP
        >>> ledge = MDP(choice_start=[0, 2, 2, 2], choice_action=[0, 1], branch_start=[0, 1, 3], target=[1, 1, 2],
        ...             probability=[1.0, 0.5, 0.5], initial=0, action_names=["walk", "jump"],
        ...             state_names=["edge", "home", "gorge"], labels={"bad": ["gorge"]})
        >>> safe = shield(ledge, 'P>=0.95 [ G !"bad" ]')
        >>> safe.allows("edge", "walk"), safe.allows("edge", "jump"), safe.mask("edge").tolist()
        (True, False, [True, False])
        >>> print(safe.why("edge", "jump"))
        jump in edge is refused: after it P>=0.95 [ G !"bad" ] can be kept with 0.5 at most; walk keeps it with 1
    """

    model: Model
    property: str
    allowed: Mask
    worth: Values
    bound: float
    above: bool
    keeps: Mask

    def allows(self, state: int | str, action: int | str) -> bool:
        """Say whether an action may be taken in a state; an action that the state does not offer may not."""
        model = self.model
        number = number_of(action, model.action_names, "action")
        return any(self.allowed[c] and model.choice_action[c] == number for c in model.choices(state))

    def mask(self, state: int | str) -> Mask:
        """Return which actions may be taken in a state, by their numbers, (A,) bool."""
        mask = np.zeros(self.model.n_actions, bool)
        rows = self.model.choices(state)
        part = slice(rows.start, rows.stop)
        mask[self.model.choice_action[part][self.allowed[part]]] = True
        return mask

    def actions(self, state: int | str) -> list[str]:
        """Return the names of the actions that may be taken in a state."""
        return [self.model.action_name(int(a)) for a in np.flatnonzero(self.mask(state))]

    def why(self, state: int | str, action: int | str) -> str:
        """Return in words why an action may or may not be taken in a state.

        Raises:
            UnknownName: the state does not offer the action.
        """
        model = self.model
        choice = model.choice(state, action)
        name = model.action_name(int(model.choice_action[choice]))
        place = model.state_name(model.state_number(state))
        if self.allowed[choice]:
            return f"{name} in {place} is allowed: after it {self._can(choice)}"
        others = [row for row in model.choices(state) if self.allowed[row]]
        said = f"{name} in {place} is refused: after it {self._can(choice)}"
        if not others:
            return f"{said}; no action keeps it there"
        best = (max if self.above else min)(others, key=lambda row: float(self.worth[row]))
        return f"{said}; {model.action_name(int(model.choice_action[best]))} keeps it with {self._shown(best)}"

    def _can(self, choice: int) -> str:
        kept = bool(self.allowed[choice])
        end = "" if kept else " at most" if self.above else " at least"
        return f"{self.property} can be kept with {self._shown(choice)}{end}"

    def _shown(self, choice: int) -> str:
        return f"{self.worth[choice]:.6g}"

    def __repr__(self) -> str:
        count, states = int(self.allowed.sum()), int(self.keeps.sum())
        return (
            f"<Shield {self.property}: {count} of {len(self.allowed)} choices allowed, "
            f"kept in {states} of {len(self.keeps)} states>"
        )


def shield(
    model: Model,
    property: str,
    *,
    nature: Literal["adversarial", "cooperative"] = "adversarial",
    tolerance: float = 1e-9,
    fallback: Literal["none", "best"] = "none",
) -> Shield:
    """Return the shield of a property: `P` with a bound over F, G, U, W or R, or `R` with a bound until a target.

    Args:
        model: an MDP, or one with intervals: then a choice is allowed only if the property can be kept whatever the
            probabilities are.
        property: such as `P>=0.95 [ G !"bad" ]` or `R{"cost"}<=10 [ F "goal" ]`.
        nature: who picks from intervals.
        tolerance: how closely to work it out; see `optimistic`.
        fallback: what is allowed where nothing keeps the property: `none`, or the `best` choices there are.

    Raises:
        BadProperty: it cannot be read, has no bound, or counts steps: what is still allowed would depend on the clock.
        BadArgument: an argument is out of its range.

    Cost: that of `check`, and one sweep.

    Source: Alshiekh et al. 2018 (shields); Jansen et al. 2020 (with probabilities).

    Example:
        >>> from surefoot.models.examples import grid
        >>> safe = shield(grid(), 'P>=1 [ G !"hole" ]')
        >>> bool(safe.keeps.any())
        True
    """
    if fallback not in ("none", "best"):
        raise BadArgument(f"fallback must be 'none' or 'best', got {fallback!r}")
    asked = parse(property)
    if not isinstance(asked, Operator) or asked.bound is None or asked.kind == "S":
        raise BadProperty(f"a shield keeps P or R with a bound, such as 'P>=0.95 [ G !\"bad\" ]'; got {property!r}")
    above = asked.compare in (">", ">=")
    asked = replace(asked, direction=asked.direction or ("max" if above else "min"))
    how = _paths.How(model, property, nature, tolerance)
    if (asked.direction == "max") is not above:
        said = f"{asked.kind}{asked.direction}{asked.compare}"
        raise BadProperty(
            how.place(f"{said} speaks of all choices, but a shield picks them: leave out {asked.direction}", asked.at)
        )
    worth, at = _worth(how, asked, above)
    compare, bound = _COMPARE[asked.compare], asked.bound
    assert bound is not None
    kept = compare(worth, bound)
    if fallback == "best":
        kept = kept | _best(model, worth, above, kept)
    keeps = ~has_choices(model) & compare(at, bound)
    keeps[model.choice_state[kept]] = True
    return Shield(model, property, kept, worth, bound, above, keeps)


_COMPARE: dict[str, Callable[[Values, float], Any]] = {
    ">=": np.greater_equal,
    ">": np.greater,
    "<=": np.less_equal,
    "<": np.less,
}


def _best(model: Model, worth: Values, above: bool, kept: Mask) -> Mask:
    """Return the best choices of the states where none is kept."""
    some = np.zeros(model.n_states, bool)
    some[model.choice_state[kept]] = True
    sign = 1.0 if above else -1.0
    best = np.full(model.n_states, -np.inf)
    np.maximum.at(best, model.choice_state, sign * worth)
    return np.asarray(~some[model.choice_state] & (sign * worth == best[model.choice_state]), bool)


def _worth(how: _paths.How, asked: Operator, above: bool) -> tuple[Values, Values]:
    """Return the proved bound of each choice, and of each state."""
    model = how.model

    def states(formula: Formula) -> Mask:
        return holds_where(model, formula, how)

    path, direction = asked.of, asked.direction or "max"
    if isinstance(path, Unary | Binary) and (path.least or path.most is not None):
        raise BadProperty(how.place("a shield has no clock: leave out the bound on the steps", path.at))
    if isinstance(path, Reward):
        if path.kind != "F" or path.of is None:
            raise BadProperty(how.place("a shield keeps rewards until a target: R<=10 [ F … ]", path.at))
    elif not isinstance(path, Unary | Binary) or path.operator not in ("F", "G", "U", "W", "R"):
        raise BadProperty(how.place("a shield keeps F, G, U, W or R", asked.at))
    solution = _paths.solve(how, asked, states)
    at = solution.lower if above else solution.upper
    if isinstance(path, Reward):
        assert path.of is not None
        return _reward_worth(how, asked, states(path.of), at, above), at
    won, lost = _over(path, states)
    backup = Backup(model, direction, how.picks(asked, direction))
    step = backup.worth(at)
    sure = np.isin(at, (0.0, 1.0))
    certain = np.zeros(model.n_choices, bool)
    if model.n_choices:
        certain = np.logical_and.reduceat(sure[model.target], model.branch_start[:-1])
    # Where all that may follow is 0 or 1, the sum is right but for its last digits, and those of 0 and 1 are known.
    exact = np.where(np.abs(step - 1) < 1e-12, 1.0, step)
    step = np.where(certain, exact, backup.pushed(at, "lower" if above else "upper"))
    step, here = np.clip(step, 0.0, 1.0), model.choice_state
    return np.where(won[here], 1.0, np.where(lost[here], 0.0, step)), at


def _over(path: Unary | Binary, find: Callable[[Formula], Mask]) -> tuple[Mask, Mask]:
    """Return where a path formula is already kept whatever comes, and where it is already broken."""
    if isinstance(path, Unary):
        of = find(path.of)
        none = np.zeros(len(of), bool)
        return (of, none) if path.operator == "F" else (none, ~of)
    left, right = find(path.left), find(path.right)
    if path.operator == "R":
        return left & right, ~right
    return right, ~left & ~right


def _reward_worth(how: _paths.How, asked: Operator, done: Mask, at: Values, above: bool) -> Values:
    """Return the proved bound of what is paid from each choice on."""
    model, direction = how.model, asked.direction or "max"
    paid, more = _paths.paid(how, asked)
    backup = Backup(model, direction, how.picks(asked, direction), paid, more)
    finite = np.where(np.isfinite(at), at, 0.0)
    worth = backup.pushed(finite, "lower" if above else "upper")
    for extreme in (np.inf, -np.inf):
        hit = at == extreme
        if hit.any():
            worth = np.where(np.logical_or.reduceat(hit[model.target], model.branch_start[:-1]), extreme, worth)
    return np.where(done[model.choice_state], 0.0, worth)
