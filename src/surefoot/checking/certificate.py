"""Confirm bounds without trusting what found them: exact fractions, plain loops, one page to read.

`confirm` needs a model, a property, a policy and the bounds, and calls no solver and no graph algorithm of ours: only
the parser of properties, and what it says that labels mean. Each probability is taken as its part of the sum of its
choice.

What is checked: an upper bound of a greatest probability must not rise by any choice; then it bounds the least
solution, which is the value (Park). A lower bound must not fall by the choices of the policy, and be 0 where they
cannot reach the target; then there is one solution only, and it lies above. For least probabilities the two change
places. Rewards likewise, where the target is reached for certain.

Source: Funke, Jantsch, Baier 2020 (Farkas certificates); Chatterjee et al. 2025 (fixed-point certificates).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from surefoot.checking.formula import Binary, Operator, Reward, Unary, parse
from surefoot.checking.qualitative import satisfying
from surefoot.errors import BadProperty
from surefoot.models.model import Model

__all__ = ["Refuted", "confirm"]

Row = tuple[Fraction, dict[int, Fraction]]


class Refuted(AssertionError):
    """A certificate does not prove what it claims; the message names the state and the reason.

    Example:
        >>> raise Refuted("state 0: 1 is not a bound")
        Traceback (most recent call last):
        surefoot.checking.certificate.Refuted: state 0: 1 is not a bound
    """


def confirm(
    model: Model, property: str, policy: Sequence[int] | Any, lower: Sequence[float] | Any, upper: Sequence[float] | Any
) -> None:
    """Return if the bounds of every state are proved by the policy and themselves; else say where they are not.

    Args:
        model: a chain or an MDP, without intervals.
        property: `P` with F, G or U, or `R` with F, without bounds on steps.
        policy: (S,) the choice of each state, -1 where there is none.
        lower: (S,) lower bounds.
        upper: (S,) upper bounds.

    Raises:
        Refuted: they are not proved. It does not follow that they are false.
        BadProperty: the property is of another kind.

    Cost: about 5 µs a branch.

    Of G the bounds are 1 minus those of F, rounded; where that took the last digit that the proof needs, it is refuted,
    and the bounds of F of the opposite can be confirmed instead.

    Example:
        >>> from surefoot.checking.quantitative import check
        >>> from surefoot.models.examples import die
        >>> model, text = die(), 'P=? [ F "six" ]'
        >>> found = check(model, text).solution
        >>> confirm(model, text, found.policy, found.lower, found.upper)
        >>> confirm(model, text, found.policy, found.lower * 0.5, found.upper * 0.5)
        Traceback (most recent call last):
        surefoot.checking.certificate.Refuted: state 12 (six): the upper bound is below 1 in the target
    """
    asked = parse(property)
    of = asked.of if isinstance(asked, Operator) else None
    plain = isinstance(of, Reward) and of.kind == "F" or isinstance(of, Unary | Binary) and of.operator in "FGU"
    if not isinstance(asked, Operator) or not plain or model.has_intervals or _counts_steps(of):
        raise BadProperty(
            f"a certificate is for P with F, G or U, or R with F, on exact probabilities; not {property!r}"
        )
    most = asked.direction != "min"
    low, high = [_exact(x) for x in lower], [_exact(x) for x in upper]
    taken, through = [int(choice) for choice in policy], set(range(model.n_states))
    if isinstance(of, Reward):
        assert of.of is not None
        target = _states(model, of.of, property)
        _Check(model, target, through, taken, list(model.expected_reward(asked.reward))).rewards(most, low, high)
        return
    if isinstance(of, Binary):
        target, through = _states(model, of.right, property), _states(model, of.left, property)
    else:
        assert isinstance(of, Unary)
        target = _states(model, of.of, property)
        if of.operator == "G":
            target, most = through - target, not most
            low, high = [1 - x for x in high], [1 - x for x in low]
    _Check(model, target, through, taken, None).probabilities(most, low, high)


def _counts_steps(of: object) -> bool:
    return isinstance(of, Unary | Binary) and (of.least > 0 or of.most is not None)


def _exact(value: Any) -> Any:
    return Fraction(float(value)) if math.isfinite(value) else float(value)


def _states(model: Model, formula: Any, text: str) -> set[int]:
    return {state for state, holds in enumerate(satisfying(model, formula, text)) if holds}


class _Check:
    """Check with plain loops. Everything below is what has to be trusted: 50 lines of code."""

    def __init__(self, model: Model, target: set[int], through: set[int], policy: list[int], paid: Any) -> None:
        self.model, self.target, self.inner, self.all = model, target, through - target, set(range(model.n_states))
        self.rows = [[self._row(choice, paid) for choice in model.choices(state)] for state in self.all]
        acts = {s for s in self.all if self.rows[s]}
        self._demand(acts, lambda s: policy[s] in model.choices(s), "the policy takes no choice of it")
        self.mine = [[self._row(policy[s], paid)] if self.rows[s] else [] for s in self.all]

    def _row(self, choice: int, paid: Any) -> Row:
        branches = range(int(self.model.branch_start[choice]), int(self.model.branch_start[choice + 1]))
        row = {int(self.model.target[b]): Fraction(float(self.model.probability[b])) for b in branches}
        total = sum(row.values())
        return Fraction(float(paid[choice])) if paid else Fraction(0), {t: p / total for t, p in row.items()}

    def _reach(self, rows: list[list[Row]], start: set[int], which: Callable[[Iterable[bool]], bool]) -> set[int]:
        """Return from where `which` of the choices (any or all) may lead into `start`, the target not being left."""
        found = set(start)

        def joins(state: int) -> bool:
            return bool(rows[state]) and which(any(t in found for t in row) for _, row in rows[state])

        while more := {s for s in self.inner - found if joins(s)}:
            found |= more
        return found

    def _demand(self, states: set[int], fine: Callable[[int], bool], what: str) -> None:
        for state in sorted(s for s in states if not fine(s)):
            raise Refuted(f"state {state} ({self.model.state_name(state)}): {what}")

    def _steady(self, bound: list[Any], rows: list[list[Row]], states: set[int], sign: int) -> None:
        """Demand that no given choice raises an upper bound (sign 1), or lowers a lower one (-1)."""
        what = f"the {'upper bound rises' if sign > 0 else 'lower bound falls'} by a choice"

        def worth(paid: Fraction, row: dict[int, Fraction]) -> Any:
            return sign * (paid + sum(p * bound[t] for t, p in row.items()))

        self._demand(states, lambda s: all(sign * bound[s] >= worth(*row) for row in rows[s]), what)

    def probabilities(self, most: bool, low: list[Any], high: list[Any]) -> None:
        """Check bounds of a greatest (`most`) or least probability."""
        lower_rows, upper_rows = (self.mine, self.rows) if most else (self.rows, self.mine)
        alive = self._reach(lower_rows, self.target, any if most else all)
        self._demand(self.target, lambda s: low[s] <= 1, "the lower bound is above 1")
        self._demand(self.all - alive, lambda s: low[s] <= 0, "the lower bound is above 0, where 0 is the value")
        self._demand(self.target, lambda s: high[s] >= 1, "the upper bound is below 1 in the target")
        self._demand(self.all, lambda s: high[s] >= 0, "the upper bound is below 0")
        self._steady(low, lower_rows, alive - self.target, -1)
        self._steady(high, upper_rows, self.inner, 1)

    def rewards(self, most: bool, low: list[Any], high: list[Any]) -> None:
        """Check bounds of a greatest (`most`) or least reward until the target."""
        rows, less = self.rows, None
        finite = self.all - (self._reach(rows, self.all - self._reach(rows, self.target, all), any) if most else set())
        while not most and finite != less:  # from where the target is reached for certain by staying among such states
            less, rows = finite, [[row for row in self.rows[s] if set(row[1]) <= finite] for s in self.all]
            finite = self._reach(rows, self.target, any) & finite
        own = self.all - self._reach(self.mine, self.all - self._reach(self.mine, self.target, any), any)
        bounded = {s for s in finite if not most and math.isfinite(high[s])}
        self._demand(bounded, lambda s: s in own, "the policy may miss the target, so pays infinity")
        self._demand(self.target, lambda s: low[s] <= 0 <= high[s], "0 is not within the bounds, in the target")
        self._demand(self.all - finite, lambda s: high[s] == math.inf, "the upper bound is not infinite")
        inner = finite - self.target
        self._steady(low, self.mine if most else rows, {s for s in inner if low[s] > -math.inf}, -1)
        self._steady(high, rows if most else self.mine, {s for s in inner if high[s] < math.inf}, 1)
