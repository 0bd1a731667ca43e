"""What a given number of steps brings: backwards from the last step, for models with and without intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models.components import Direction, has_choices
from surefoot.models.model import Model
from surefoot.solvers._intervals import pick
from surefoot.solvers._problem import unit_roundoff

__all__ = ["Backup", "Bounds", "steps"]

Values = NDArray[np.float64]
Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]
"""A lower and an upper bound of each state, (S,) float64 each.

Example:
    >>> import numpy as np
    >>> bounds: Bounds = (np.zeros(1), np.ones(1))
"""


@dataclass(frozen=True, eq=False)
class Backup:
    """Work out what one step brings, with the rounding pushed outwards.

    Args:
        model: the model. A state without choices keeps its value, and pays nothing.
        direction: who picks choices.
        nature: who picks from the intervals of an interval model.
        reward: (C,) float64, what each choice pays; None: nothing.
        transition: (B,) float64, what each branch pays on top; None: nothing.
        discount: what a step makes of what comes after it, in (0, 1].

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MarkovChain
        >>> coin = MarkovChain(choice_start=[0, 1, 1, 1], branch_start=[0, 2], target=[1, 2], probability=[0.5, 0.5],
        ...                    initial=0)
        >>> Backup(coin, "max").worth(np.array([0.0, 1.0, 0.0])).tolist()
        [0.5]
    """

    model: Model
    direction: Direction
    nature: Direction = "min"
    reward: Values | None = None
    transition: Values | None = None
    discount: float = 1.0

    def worth(self, values: Values) -> Values:
        """Return what each choice is worth, (C,), when the next states are worth `values`, (S,)."""
        model = self.model
        if not model.n_choices:
            return np.zeros(0)
        at = values[model.target] * self.discount
        if self.transition is not None:
            at = at + self.transition
        chosen = model.probability
        if model.lower is not None and model.upper is not None:
            chosen = pick(model.branch_start, model.lower, np.minimum(model.upper, 1.0), at, self.nature)
        worth = np.add.reduceat(chosen * at, model.branch_start[:-1])
        return worth if self.reward is None else worth + self.reward

    def best(self, worth: Values, values: Values) -> Values:
        """Return the best of the choices of each state; states without choices keep their value."""
        if not self.model.n_choices:
            return values.copy()
        full = np.flatnonzero(has_choices(self.model))
        take = np.maximum if self.direction == "max" else np.minimum
        new = values.copy()
        new[full] = take.reduceat(worth, self.model.choice_start[full])
        return new

    def slack(self, values: Values) -> float:
        """Return a bound of what rounding does to one step."""
        longest = int(np.diff(self.model.branch_start).max(initial=0))
        most = 2 * float(np.abs(values).max(initial=0.0))
        for part in (self.reward, self.transition):
            most += 0.0 if part is None else float(np.abs(part).max(initial=0.0))
        return (4 * longest + 16) * unit_roundoff * most

    def pushed(self, values: Values, side: Literal["lower", "upper"]) -> Values:
        """Return what each choice is worth, (C,), as a bound: moved by what rounding may have done, where it can have.

        Where a choice leads to states of one value only, it is that value, and nothing is rounded.
        """
        worth = self.worth(values)
        bound = worth + self.slack(values) * (1 if side == "upper" else -1)
        if self.discount != 1.0 or self.transition is not None or not len(worth):
            return bound
        at, start = values[self.model.target], self.model.branch_start[:-1]
        one = at[start]
        same = np.maximum.reduceat(at, start) == np.minimum.reduceat(at, start)
        if self.reward is None:
            return np.where(same, one, bound)
        return np.where(same & ((one == 0) | (self.reward == 0)), one + self.reward, bound)

    def once(self, bounds: Bounds) -> Bounds:
        """Return the bounds one step earlier."""
        lower, upper = bounds
        return self.best(self.pushed(lower, "lower"), lower), self.best(self.pushed(upper, "upper"), upper)

    def policy(self, values: Values) -> NDArray[np.int64]:
        """Return the best choice of each state, -1 where there is none."""
        found = np.full(self.model.n_states, -1, np.int64)
        worth = self.worth(values)
        best = self.best(worth, values)
        hits = np.flatnonzero(worth == best[self.model.choice_state])
        found[self.model.choice_state[hits][::-1]] = hits[::-1]
        return found


def steps(
    backup: Backup,
    last: Bounds,
    count: int,
    *,
    keep: NDArray[np.bool_] | None = None,
) -> tuple[Bounds, NDArray[np.int64] | None]:
    """Return bounds `count` steps before the end, and the best choices for the first of these steps.

    Args:
        backup: what one step brings.
        last: bounds at the end.
        count: how many steps, >= 0.
        keep: (S,) bool, states that keep their value: a run that is there is over. None: none.

    Raises:
        BadArgument: `count` is negative.

    Cost: `count` sweeps.

    Source: Puterman 1994, section 4.5 (backward induction).

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MarkovChain
        >>> coin = MarkovChain(choice_start=[0, 1, 1], branch_start=[0, 2], target=[0, 1], probability=[0.5, 0.5],
        ...                    initial=0)
        >>> done = np.array([0.0, 1.0])
        >>> (lower, upper), _ = steps(Backup(coin, "max"), (done, done), 2)
        >>> bool(lower[0] <= 0.75 <= upper[0])
        True
    """
    if count < 0:
        raise BadArgument(f"count must be at least 0, got {count}")
    bounds, policy = last, None
    for step in range(count):
        if step == count - 1:
            policy = backup.policy(bounds[0] if backup.direction == "max" else bounds[1])
        new = backup.once(bounds)
        if keep is not None:
            new = np.where(keep, last[0], new[0]), np.where(keep, last[1], new[1])
        if np.array_equal(new[0], bounds[0]) and np.array_equal(new[1], bounds[1]) and policy is None:
            policy = backup.policy(bounds[0] if backup.direction == "max" else bounds[1])
            return new, policy
        bounds = new
    return bounds, policy
