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
from collections.abc import Callable, Sequence
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
    """Check with plain loops. Everything below is what has to be trusted."""

    def __init__(
        self, model: Model, target: set[int], through: set[int], policy: list[int], paid: list[float] | None
    ) -> None:
        self.model, self.target, self.policy = model, target, policy
        self.inner = through - target
        self.rows: list[list[Row]] = []
        self.mine: list[list[Row]] = []
        for state in range(model.n_states):
            rows = {choice: self._row(choice, paid) for choice in model.choices(state)}
            self.rows.append(list(rows.values()))
            if rows and policy[state] not in rows:
                raise Refuted(f"state {state} ({model.state_name(state)}): the policy takes no choice of it")
            self.mine.append([rows[policy[state]]] if rows else [])

    def _row(self, choice: int, paid: list[float] | None) -> Row:
        branches = range(int(self.model.branch_start[choice]), int(self.model.branch_start[choice + 1]))
        row = {int(self.model.target[b]): Fraction(float(self.model.probability[b])) for b in branches}
        total = sum(row.values())
        return Fraction(float(paid[choice])) if paid else Fraction(0), {t: p / total for t, p in row.items()}

    def _grow(self, start: set[int], joins: Callable[[int, set[int]], bool]) -> set[int]:
        found = set(start)
        while more := {s for s in self.inner - found if joins(s, found)}:
            found |= more
        return found

    def _may_reach(self, rows: list[list[Row]], start: set[int]) -> set[int]:
        return self._grow(start, lambda s, found: any(t in found for _, row in rows[s] for t in row))

    def _cannot_avoid(self, rows: list[list[Row]]) -> set[int]:
        def joins(state: int, found: set[int]) -> bool:
            return bool(rows[state]) and all(any(t in found for t in row) for _, row in rows[state])

        return self._grow(self.target, joins)

    def _every_state(self, fine: Callable[[int], bool], states: set[int], what: str) -> None:
        for state in sorted(states):
            if not fine(state):
                raise Refuted(f"state {state} ({self.model.state_name(state)}): {what}")

    def _steady(self, values: list[Any], rows: list[list[Row]], states: set[int], up: bool, what: str) -> None:
        """Check that no given choice raises an upper bound, or lowers a lower one."""

        def fine(state: int) -> bool:
            worth = [paid + sum(p * values[t] for t, p in row.items()) for paid, row in rows[state]]
            return all(values[state] >= w if up else values[state] <= w for w in worth)

        self._every_state(fine, states, f"the {what} bound {'rises' if up else 'falls'} by a choice")

    def probabilities(self, most: bool, low: list[Any], high: list[Any]) -> None:
        """Check bounds of a greatest (`most`) or least probability."""
        lower_rows, upper_rows = (self.mine, self.rows) if most else (self.rows, self.mine)
        alive = self._may_reach(lower_rows, self.target) if most else self._cannot_avoid(lower_rows)
        everywhere = set(range(self.model.n_states))
        self._every_state(lambda s: low[s] <= 1, self.target, "the lower bound is above 1")
        self._every_state(lambda s: low[s] <= 0, everywhere - alive, "the lower bound is above 0, where 0 is the value")
        self._steady(low, lower_rows, alive - self.target, False, "lower")
        self._every_state(lambda s: high[s] >= 1, self.target, "the upper bound is below 1 in the target")
        self._every_state(lambda s: high[s] >= 0, everywhere, "the upper bound is below 0")
        self._steady(high, upper_rows, {s for s in self.inner if self.rows[s]}, True, "upper")

    def rewards(self, most: bool, low: list[Any], high: list[Any]) -> None:
        """Check bounds of a greatest (`most`) or least reward until the target."""
        everywhere = set(range(self.model.n_states))
        if most:
            finite = everywhere - self._may_reach(self.rows, everywhere - self._cannot_avoid(self.rows))
            rows = self.rows
        else:
            finite, rows = everywhere, self.rows
            while True:  # the states from which the target is reached for certain by staying among such states
                rows = [[r for r in self.rows[s] if set(r[1]) <= finite] for s in range(self.model.n_states)]
                smaller = self._may_reach(rows, self.target) & finite
                if smaller == finite:
                    break
                finite = smaller
            own = finite - self._may_reach(self.mine, everywhere - self._may_reach(self.mine, self.target))
            bounded = {s for s in finite if math.isfinite(high[s])}
            self._every_state(lambda s: s in own, bounded, "the policy may miss the target, so pays infinity")
        inner = finite - self.target
        self._every_state(lambda s: low[s] <= 0 <= high[s], self.target, "0 is not within the bounds, in the target")
        self._every_state(lambda s: high[s] == math.inf, everywhere - finite, "the upper bound is not infinite")
        self._steady(low, self.mine if most else rows, {s for s in inner if low[s] > -math.inf}, False, "lower")
        self._steady(high, rows if most else self.mine, {s for s in inner if high[s] < math.inf}, True, "upper")
