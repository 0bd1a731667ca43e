"""Bounds for POMDPs, whose states are not seen: the fast informed bound above, point-based value iteration below.

Both hold whenever they are stopped: every step of the upper one maps upper bounds to upper bounds, and every vector of
the lower one is what some plan earns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from surefoot.errors import BadArgument, BadModel
from surefoot.models import belief as beliefs
from surefoot.models.markov import POMDP
from surefoot.models.solution import Objective
from surefoot.solvers.discounted import discounted
from surefoot.solvers.optimistic import optimistic

__all__ = ["HiddenBounds", "reach_hidden", "reward_hidden"]

Values = NDArray[np.float64]
_SLACK = 1e-12


@dataclass(frozen=True)
class HiddenBounds:
    """Hold bounds of what can be earned from the start without seeing the state.

    Args:
        lower: what a plan earns (point-based value iteration).
        upper: the fast informed bound.
        seen: what could be earned at most if the state were seen (QMDP); `upper` is not above it.
        points: how many beliefs were looked at.
        plans: how many vectors of plans are left.

    Example:
        >>> HiddenBounds(0.5, 0.5, 1.0, 3, 2).upper
        0.5
    """

    lower: float
    upper: float
    seen: float
    points: int
    plans: int


def reach_hidden(model: POMDP, label: str, *, points: int = 100, sweeps: int = 100) -> HiddenBounds:
    """Return bounds of the greatest probability to reach a label when only observations are seen.

    Args:
        model: a POMDP without intervals.
        label: what is to be reached.
        points: how many beliefs to look at, found by acting from the start.
        sweeps: how often to go over them, and over the states for the upper bound.

    Raises:
        BadArgument: `points` or `sweeps` is below 1, or the model has intervals.
        BadModel: states that look alike offer different actions.
        UnknownName: there is no such label.

    Cost: for each sweep points x actions x observations x plans x states.

    Source: Hauskrecht 2000, section 3 (QMDP, fast informed bound); Pineau, Gordon, Thrun 2003 (point-based backups).

    Example:
        >>> from surefoot.models.examples import monty_hall_blind
        >>> found = reach_hidden(monty_hall_blind(), "won", points=12, sweeps=10)
        >>> found.lower <= 2 / 3 <= found.upper
        True
    """
    target = np.zeros(model.n_states, bool)
    target[model.states_with(label)] = True
    _check(model, points, sweeps)
    full = optimistic(model, Objective(target))
    worth = _Hidden(model, np.zeros(model.n_choices), target, 1.0)
    start = target.astype(np.float64)
    return worth.bounds(full.upper, start, points, sweeps)


def reward_hidden(
    model: POMDP, discount: float, *, reward: str | None = None, points: int = 100, sweeps: int = 100
) -> HiddenBounds:
    """Return bounds of the greatest discounted reward when only observations are seen.

    Args:
        model: a POMDP without intervals.
        discount: in (0, 1).
        reward: the name of the reward model; None: the only one there is.
        points: how many beliefs to look at.
        sweeps: how often to go over them.

    Raises:
        BadArgument: an argument is out of its range, or the model has intervals.
        BadModel: states that look alike offer different actions.
        UnknownName: there is no such reward model.

    Source: as for `reach_hidden`.

    Example:
        >>> from surefoot.models.examples import tiger
        >>> found = reward_hidden(tiger(), 0.5, points=10, sweeps=15)
        >>> found.lower <= found.upper <= found.seen
        True
    """
    _check(model, points, sweeps)
    paid = model.expected_reward(reward)
    full = discounted(model, paid, discount, "max")
    worth = _Hidden(model, paid, np.zeros(model.n_states, bool), discount)
    least = min(float(paid.min(initial=0.0)), 0.0) / (1 - discount)
    return worth.bounds(full.upper, np.full(model.n_states, least), points, sweeps)


def _check(model: POMDP, points: int, sweeps: int) -> None:
    if points < 1 or sweeps < 1:
        raise BadArgument(f"points and sweeps must be at least 1, got points={points}, sweeps={sweeps}")
    if model.has_intervals:
        raise BadArgument("bounds of a POMDP with intervals are not worked out")


class _Hidden:
    """Work out both bounds on dense arrays: S states, A actions, O observations."""

    def __init__(self, model: POMDP, paid: Values, target: NDArray[np.bool_], discount: float) -> None:
        self.model, self.target, self.discount = model, target, discount
        states, actions = model.n_states, model.n_actions
        self.seen_as = np.zeros((states, model.n_observations))
        owner = np.repeat(np.arange(states), np.diff(model.observation_start))
        self.seen_as[owner, model.observation] = model.observation_probability
        self.offers = np.zeros((states, actions), bool)
        self.offers[model.choice_state, model.choice_action] = True
        self.paid = np.zeros((states, actions))
        self.paid[model.choice_state, model.choice_action] = paid
        self.moves: list[csr_matrix] = []
        for action in range(actions):
            mine = (model.choice_action == action)[model.branch_choice]
            rows = model.choice_state[model.branch_choice][mine]
            self.moves.append(csr_matrix((model.probability[mine], (rows, model.target[mine])), (states, states)))
        self.may = self._offered()

    def _offered(self) -> NDArray[np.bool_]:
        """Return which actions are offered after each observation, (O, A); states without choices do not count."""
        ends = ~self.offers.any(axis=1) | self.target
        may = np.ones((self.model.n_observations, self.model.n_actions), bool)
        for which in range(self.model.n_observations):
            alike = self.offers[(self.seen_as[:, which] > 0) & ~ends]
            if len(alike) and bool((alike != alike[0]).any()):
                raise BadModel(
                    f"states that look like {self.model.observation_name(which)!r} offer different actions; "
                    "give them observations of their own"
                )
            if len(alike):
                may[which] = alike[0]
        return may

    def bounds(self, full: Values, least: Values, points: int, sweeps: int) -> HiddenBounds:
        """Return both bounds at the start."""
        initial = self.model.initial
        seen = float(initial @ full)
        upper = min(self._informed(full, sweeps), seen)
        looked = self._reached(points)
        plans, actions = [least], [-1]
        for _ in range(sweeps):
            plans, actions, moved = self._backed_up(looked, plans, actions)
            if not moved:
                break
        first = self.seen_as.T * initial
        lower = float(
            sum(max(float(row @ plan) for plan, _ in self._fitting(o, plans, actions)) for o, row in enumerate(first))
        )
        slack = _SLACK * max(abs(lower), abs(upper), 1.0)
        return HiddenBounds(lower - slack, upper + slack, seen + slack, len(looked), len(plans))

    def _informed(self, full: Values, sweeps: int) -> float:
        """Return the fast informed bound at the start, from the values of states that are seen."""
        count = self.model.n_actions
        worth = np.where(self.offers, self._ahead(np.repeat(full[:, None], count, 1)), -np.inf)
        for _ in range(sweeps):
            new = np.full_like(worth, -np.inf)
            for action in range(count):
                total = np.zeros(self.model.n_states)
                for o in range(self.model.n_observations):
                    through = csr_matrix(self.moves[action].multiply(self.seen_as[:, o]))
                    total += np.max([through @ self._ended(worth[:, a], full) for a in range(count)], axis=0)
                new[:, action] = self.paid[:, action] + self.discount * total
            worth = np.where(self.offers, np.minimum(worth, new), -np.inf)
        first = self.seen_as.T * self.model.initial
        best = [max(float(row @ self._ended(worth[:, a], full)) for a in range(count)) for row in first]
        return float(sum(best))

    def _ahead(self, values: Values) -> Values:
        """Return what each action is worth in each state, (S, A), when the next state is worth `values[:, action]`."""
        steps = [move @ values[:, action] for action, move in enumerate(self.moves)]
        return self.paid + self.discount * np.stack(steps, axis=1)

    def _ended(self, worth: Values, full: Values) -> Values:
        """Return values with those of states where nothing is done any more, and of actions that are not offered."""
        over = ~self.offers.any(axis=1) | self.target
        return np.where(over | ~np.isfinite(worth), full, worth)

    def _reached(self, points: int) -> list[Values]:
        """Return beliefs that can come up, breadth first, each once."""
        model = self.model
        found, keys = list[Values](), set[bytes]()
        waiting = [
            beliefs.start(model, o) for o in range(model.n_observations) if self.seen_as[:, o] @ model.initial > 0
        ]
        while waiting and len(found) < points:
            one = waiting.pop(0)
            key = np.round(one, 9).tobytes()
            if key in keys:
                continue
            keys.add(key)
            found.append(one)
            live = (one > 0) & self.offers.any(axis=1)
            if not live.any():
                continue
            for action in np.flatnonzero(self.offers[live].all(axis=0)):
                ahead = beliefs.predict(model, one, int(action))
                for o in np.flatnonzero(self.seen_as.T @ ahead > 0):
                    weighed = ahead * self.seen_as[:, o]
                    waiting.append(weighed / weighed.sum())
        return found

    def _best_after(self, o: int, ahead: Values, plans: list[Values], actions: list[int]) -> Values:
        """Return the plan that is best after an observation, when the next states are weighed by `ahead`."""
        fitting = self._fitting(o, plans, actions)
        worth = [float((ahead * self.seen_as[:, o]) @ plan) for plan, _ in fitting]
        return fitting[int(np.argmax(worth))][0]

    def _fitting(self, o: int, plans: list[Values], actions: list[int]) -> list[tuple[Values, int]]:
        """Return the plans whose first action is offered after an observation."""
        return [(p, a) for p, a in zip(plans, actions, strict=True) if a < 0 or self.may[o, a]]

    def _backed_up(
        self, looked: list[Values], plans: list[Values], actions: list[int]
    ) -> tuple[list[Values], list[int], bool]:
        """Return better plans for the beliefs, and whether there are any."""
        new, firsts, moved = list(plans), list(actions), False
        for one in looked:
            now = max(float(one @ plan) for plan in new)
            live = (one > 0) & self.offers.any(axis=1) & ~self.target
            for action in np.flatnonzero(self.offers[live].all(axis=0)) if live.any() else ():
                ahead = self.moves[action].T @ np.where(live, one, 0.0)
                total = np.zeros(self.model.n_states)
                for o in range(self.model.n_observations):
                    best = self._best_after(o, ahead, plans, actions)
                    total += self.moves[action] @ (self.seen_as[:, o] * best)
                plan = self.paid[:, action] + self.discount * total
                plan = np.where(self.target, 1.0, np.where(self.offers[:, action], plan, plans[0]))
                if float(one @ plan) > now + 1e-12:
                    now, moved = float(one @ plan), True
                    new.append(plan)
                    firsts.append(int(action))
        return (*_needed(looked, new, firsts), moved)


def _needed(looked: list[Values], plans: list[Values], actions: list[int]) -> tuple[list[Values], list[int]]:
    """Return the plans that are best for some belief, and the first one."""
    best = {0} | {int(np.argmax([one @ plan for plan in plans])) for one in looked}
    keep = sorted(best)
    return [plans[k] for k in keep], [actions[k] for k in keep]
