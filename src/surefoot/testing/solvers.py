"""What a solver owes, as tests to inherit: its bounds hold on random models with exactly known values.

The exact values are worked out in fractions. Write a class that inherits `SolverContract` and returns the solver from
`solver()`; pytest does the rest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from surefoot.models import MDP, MarkovChain, Model, RewardModel
from surefoot.models.components import Direction
from surefoot.models.solution import Objective, Solution, Solver, Status

__all__ = ["SolverContract", "assert_bounds", "exact_values", "random_model"]

_INF = math.inf
_DIRECTIONS: tuple[Direction, ...] = ("max", "min")
Exact = Fraction | float
"""A fraction, or plus or minus infinity."""


def random_model(
    seed: int | Sequence[int],
    *,
    states: int = 5,
    actions: int = 2,
    branches: int = 3,
    ends: int = 2,
    signed: bool = False,
) -> Model:
    """Return a small random model whose probabilities are multiples of 1/16, so that floats hold them exactly.

    The last `ends` states have no choices; the last is labelled `goal`. Rewards `cost` are multiples of 1/4 in [0, 4],
    or in [-4, 4] if `signed`; a third of them are 0, so that there are cycles that cost nothing.

    Args:
        seed: what the model depends on.
        states: how many states.
        actions: how many choices a state has at most; 1 makes a chain.
        branches: how many branches a choice has at most.
        ends: how many states have no choices, >= 1.
        signed: whether rewards may be negative.

    Example:
        >>> random_model(1, states=4)
        <MDP: 4 states, 3 choices, 7 branches>
        >>> random_model(1) == random_model(1)
        True
    """
    rng = np.random.default_rng(seed)
    choice_start, branch_start, action = [0], [0], []
    target: list[int] = []
    probability: list[float] = []
    for state in range(states):
        for one in range(int(rng.integers(1, actions + 1)) if state < states - ends else 0):
            count = int(rng.integers(1, branches + 1))
            to = np.sort(rng.choice(states, size=min(count, states), replace=False))
            cuts = np.sort(rng.choice(np.arange(1, 16), size=len(to) - 1, replace=False))
            target += to.tolist()
            probability += (np.diff(np.r_[0, cuts, 16]) / 16).tolist()
            branch_start.append(len(target))
            action.append(one)
        choice_start.append(len(action))
    paid = rng.integers(-16 if signed else 0, 17, size=len(action)) / 4
    paid[rng.random(len(action)) < 1 / 3] = 0.0
    arrays: dict[str, Any] = {
        "choice_start": choice_start,
        "branch_start": branch_start,
        "target": np.array(target, dtype=np.int32),
        "probability": np.array(probability, dtype=np.float64),
        "initial": 0,
        "labels": {"goal": [states - 1]},
    }
    arrays["rewards"] = {"cost": RewardModel(choice=paid)}
    if actions == 1:
        return MarkovChain(**arrays)
    return MDP(choice_action=np.array(action, dtype=np.int32), **arrays)


def _policies(model: Model) -> Iterator[list[int]]:
    """Yield every way to take one choice in each state; -1 where there is none."""
    yield from (list(one) for one in itertools.product(*(model.choices(s) or [-1] for s in range(model.n_states))))


def _rows(model: Model, policy: list[int]) -> list[dict[int, Fraction]]:
    rows: list[dict[int, Fraction]] = []
    for choice in policy:
        row: dict[int, Fraction] = {}
        if choice >= 0:
            for branch in range(int(model.branch_start[choice]), int(model.branch_start[choice + 1])):
                row[int(model.target[branch])] = Fraction(float(model.probability[branch]))
        rows.append(row)
    return rows


def _can_reach(rows: list[dict[int, Fraction]], target: set[int], through: set[int]) -> set[int]:
    reached = set(target)
    while True:
        more = {s for s in through - reached if any(t in reached for t in rows[s])}
        if not more:
            return reached
        reached |= more


def _solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Solve linear equations exactly (Gauss, Jordan)."""
    size = len(right)
    table = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = next(row for row in range(column, size) if table[row][column])
        table[column], table[pivot] = table[pivot], table[column]
        head = table[column][column]
        table[column] = [value / head for value in table[column]]
        for row in range(size):
            factor = table[row][column]
            if row != column and factor:
                table[row] = [a - factor * b for a, b in zip(table[row], table[column], strict=True)]
    return [row[size] for row in table]


def _chain_values(model: Model, objective: Objective, policy: list[int]) -> list[Exact]:
    """Return the values of one policy, by the definition."""
    rows = _rows(model, policy)
    states, target = set(range(model.n_states)), set(np.flatnonzero(objective.target).tolist())
    through = states if objective.through is None else set(np.flatnonzero(objective.through).tolist())
    may = _can_reach(rows, target, through - target)
    values: list[Exact] = [Fraction(1 if s in target else 0) for s in range(model.n_states)]
    open_ = sorted(may - target)
    paid = [Fraction(0)] * model.n_states
    if objective.reward is not None:
        may_miss = _can_reach(rows, states - may, states - target)
        values = [_INF if s in may_miss else Fraction(0) for s in range(model.n_states)]
        open_ = sorted(states - may_miss - target)
        paid = [Fraction(float(objective.reward[c])) if c >= 0 else Fraction(0) for c in policy]
    place = {state: number for number, state in enumerate(open_)}
    matrix = [[Fraction(int(i == j)) for j in range(len(open_))] for i in range(len(open_))]
    right = [paid[s] for s in open_]
    for i, state in enumerate(open_):
        for to, probability in rows[state].items():
            if to in place:
                matrix[i][place[to]] -= probability
            else:
                known = values[to]
                assert isinstance(known, Fraction)
                right[i] += probability * known
    for state, value in zip(open_, _solve(matrix, right), strict=True):
        values[state] = value
    return values


def exact_values(model: Model, objective: Objective) -> list[Exact]:
    """Return the exact values, by trying every policy and solving its linear equations in fractions.

    Exponential: for models of a few states. Where cycles can be used to pay less and less, it returns what the best
    policy without memory pays, which is then not the value.

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MarkovChain
        >>> coins = MarkovChain(choice_start=[0, 1, 2, 2, 2], branch_start=[0, 2, 4], target=[1, 3, 0, 2],
        ...                     probability=[0.5, 0.5, 0.5, 0.5], initial=0)
        >>> exact_values(coins, Objective(np.array([False, False, True, False])))[0]
        Fraction(1, 3)
    """
    best: list[Exact] | None = None
    better = max if objective.direction == "max" else min
    for policy in _policies(model):
        values = _chain_values(model, objective, policy)
        best = values if best is None else [better(a, b) for a, b in zip(best, values, strict=True)]
    assert best is not None
    return best


def assert_bounds(solution: Solution, exact: Sequence[Exact], *, what: str = "") -> None:
    """Fail unless every exact value lies between the bounds.

    Raises:
        AssertionError: a bound is false; the message names the state.

    Example:
        >>> import numpy as np
        >>> from fractions import Fraction
        >>> done = Solution(Status.CERTIFIED, np.array([0.5]), np.array([0.6]), None, 1)
        >>> assert_bounds(done, [Fraction(11, 20)])
        >>> try:
        ...     assert_bounds(done, [Fraction(2, 3)])
        ... except AssertionError as error:
        ...     print(str(error).splitlines()[0])
        state 0: 2/3 is not in [0.5, 0.6]
    """
    for state, value in enumerate(exact):
        lower, upper = float(solution.lower[state]), float(solution.upper[state])
        assert lower <= value <= upper, f"{what}state {state}: {value} is not in [{lower!r}, {upper!r}]"


class SolverContract:
    """Inherit this to test a solver: its bounds hold, are close, and its policy earns them.

    Example:
        >>> from surefoot.solvers.optimistic import optimistic
        >>> class TestOptimistic(SolverContract):
        ...     def solver(self):
        ...         return optimistic
        >>> TestOptimistic().test_bounds_of_probabilities_hold()
    """

    models = 60
    two_sided = True

    def solver(self) -> Solver:
        """Return the solver to test."""
        raise NotImplementedError

    def _check(self, model: Model, objective: Objective, what: str) -> None:
        solution = self.solver()(model, objective, tolerance=1e-6)
        exact = exact_values(model, objective)
        assert_bounds(solution, exact, what=what)
        if not self.two_sided:
            return
        assert solution.status in (Status.EXACT, Status.CERTIFIED), f"{what}{solution}"
        for state, value in enumerate(exact):
            if math.isfinite(value):
                size = max(abs(float(value)), 1e-300 if objective.reward is None else 4.0)
                apart = float(solution.upper[state] - solution.lower[state])
                assert apart <= 2.1e-6 * size, f"{what}state {state}: the bounds are {apart} apart"
        if solution.policy is not None:
            self._check_policy(model, objective, solution, what)

    def _check_policy(self, model: Model, objective: Objective, solution: Solution, what: str) -> None:
        assert solution.policy is not None
        earned = _chain_values(model, objective, solution.policy.tolist())
        for state, value in enumerate(earned):
            if objective.direction == "max":
                good = value >= float(solution.lower[state])
            else:
                good = value <= float(solution.upper[state])
            assert good or not math.isfinite(solution.lower[state]), (
                f"{what}state {state}: the policy earns {value}, the bounds are {solution.bounds(state)}"
            )

    def test_bounds_of_probabilities_hold(self) -> None:
        """Bounds of reachability hold, for both directions, on random models and on random chains."""
        for seed in range(self.models):
            model = random_model([1, seed], actions=1 + seed % 3)
            for direction in _DIRECTIONS:
                self._check(model, Objective(model.labels["goal"], direction), f"seed {seed}, {direction}: ")

    def test_bounds_of_until_hold(self) -> None:
        """Bounds hold where some states must not be passed."""
        for seed in range(self.models):
            model = random_model([2, seed], states=6)
            through = np.random.default_rng([3, seed]).random(6) < 0.7
            for direction in _DIRECTIONS:
                objective = Objective(model.labels["goal"], direction, through)
                self._check(model, objective, f"seed {seed}, {direction}: ")

    def test_bounds_of_rewards_hold(self) -> None:
        """Bounds of rewards until the goal hold, where cycles may cost nothing."""
        for seed in range(self.models):
            model = random_model([4, seed], ends=1)
            paid = model.expected_reward("cost")
            for direction in _DIRECTIONS:
                objective = Objective(model.labels["goal"], direction, reward=paid)
                self._check(model, objective, f"seed {seed}, {direction}: ")

    def test_bounds_of_negative_rewards_hold(self) -> None:
        """Bounds hold for rewards of both signs, in chains and where the most is asked for."""
        if not self.two_sided:
            return
        for seed in range(self.models):
            model = random_model([5, seed], ends=1, actions=1 + seed % 2, signed=True)
            objective = Objective(model.labels["goal"], "max", reward=model.expected_reward("cost"))
            self._check(model, objective, f"seed {seed}: ")
