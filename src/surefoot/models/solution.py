"""What is asked of a solver, and what it answers: bounds that hold, a policy, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models.components import Direction

if TYPE_CHECKING:
    from surefoot.models.model import Model

__all__ = ["Objective", "Solution", "Solver", "Status", "check_objective"]


class Status(Enum):
    """Say how a solver ended, and so what its bounds are worth.

    Example:
        >>> Status.CERTIFIED.value
        'the bounds hold, and are as close as was asked'
    """

    EXACT = "decided by the graph alone: the bounds are equal"
    CERTIFIED = "the bounds hold, and are as close as was asked"
    LOOSE = "the bounds hold, but are further apart than was asked"
    LOWER_ONLY = "the lower bound holds; nothing was proved above it"


@dataclass(frozen=True, eq=False)
class Objective:
    """Hold what a solver is to work out: how likely a target is reached, or what is paid until it is.

    Args:
        target: (S,) bool, the states where a run is over.
        direction: `max` or `min`: who picks the choices.
        through: (S,) bool, the states that a run may pass on its way; any other ends it without success. None: all.
            For probabilities only.
        reward: (C,) float64, what each choice pays on average; None: probabilities are asked for. A run that never
            reaches the target pays infinity: so `max` is infinite where some way to choose may miss the target, and
            `min` is the least over the ways to choose that never miss it (infinite where there is none).
        transition: (B,) float64, what each branch pays on top; for interval models, where the mean of a choice is not
            known. None: nothing.

    Source: the meanings are those of the property language of PRISM (Forejt et al. 2011, section 4).

    Example:
        >>> import numpy as np
        >>> Objective(np.array([False, True])).direction
        'max'
    """

    target: NDArray[np.bool_]
    direction: Direction = "max"
    through: NDArray[np.bool_] | None = None
    reward: NDArray[np.float64] | None = None
    transition: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        """Check what can be checked without a model."""
        if self.direction not in ("max", "min"):
            raise BadArgument(f"direction must be 'max' or 'min', got {self.direction!r}")
        if self.through is not None and self.rewards:
            raise BadArgument("through is for probabilities; rewards are paid until the target, whatever is passed")

    @property
    def rewards(self) -> bool:
        """Say whether rewards are asked for."""
        return self.reward is not None or self.transition is not None


def check_objective(model: Model, objective: Objective) -> None:
    """Refuse an objective whose arrays do not fit the model.

    Raises:
        BadArgument: an array of another length, or an interval model's transition rewards on an ordinary model.

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MarkovChain
        >>> chain = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> check_objective(chain, Objective(np.array([True, False])))
        Traceback (most recent call last):
        surefoot.errors.BadArgument: target has 2 entries; the model has 1 states
    """
    for name, array, count, what in (
        ("target", objective.target, model.n_states, "states"),
        ("through", objective.through, model.n_states, "states"),
        ("reward", objective.reward, model.n_choices, "choices"),
        ("transition", objective.transition, model.n_branches, "branches"),
    ):
        if array is not None and len(array) != count:
            raise BadArgument(f"{name} has {len(array)} entries; the model has {count} {what}")
    if objective.transition is not None and not model.has_intervals:
        raise BadArgument("transition rewards are for interval models: give the mean of each choice as reward")


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Hold what a solver proved: for each state a lower and an upper bound, and a policy.

    There is no single number on purpose: a number without a bound is not an answer. `lower` and `upper` hold for the
    model as it stands, rounding of the solver's own arithmetic included.

    Args:
        status: how it ended.
        lower: (S,) float64, read-only once here; the value is not below it. May be infinite.
        upper: (S,) float64; the value is not above it. May be infinite.
        policy: (S,) int64, the choice to take in each state: choosing so earns at least `lower` (`max`) or at most
            `upper` (`min`). -1 where a state has no choices. None where the solver finds no policy.
        sweeps: how often the solver went over the states.

    Example:
        >>> import numpy as np
        >>> done = Solution(Status.CERTIFIED, np.array([0.25]), np.array([0.5]), np.array([0]), sweeps=3)
        >>> done
        <Solution: 1 states, certified, bounds at most 0.25 apart, 3 sweeps>
        >>> done.bounds(0)
        (0.25, 0.5)
    """

    status: Status
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    policy: NDArray[np.int64] | None
    sweeps: int

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for array in (self.lower, self.upper, self.policy):
            if array is not None:
                array.setflags(write=False)

    @property
    def gap(self) -> float:
        """Return how far apart the bounds are in the state where they are furthest apart; 0 where both are infinite."""
        with np.errstate(invalid="ignore"):
            apart = self.upper - self.lower
        same = self.upper == self.lower
        return float(np.where(same, 0.0, apart).max(initial=0.0))

    def bounds(self, state: int) -> tuple[float, float]:
        """Return the lower and the upper bound of one state, by its number."""
        return float(self.lower[state]), float(self.upper[state])

    def __repr__(self) -> str:
        how = self.status.name.lower().replace("_", " ")
        return f"<Solution: {len(self.lower)} states, {how}, bounds at most {self.gap:.3g} apart, {self.sweeps} sweeps>"


class Solver(Protocol):
    """Say what every solver is: a function of a model and an objective.

    Its bounds must hold on every model that it takes; what it cannot prove it leaves infinite (or 0 and 1), and says so
    in the status.

    Example:
        >>> from surefoot.solvers.optimistic import optimistic
        >>> solver: Solver = optimistic
    """

    def __call__(
        self, model: Model, objective: Objective, /, *, tolerance: float = 1e-6, max_sweeps: int = 1_000_000
    ) -> Solution:
        """Return bounds of the value of every state.

        Args:
            model: the model.
            objective: what is asked.
            tolerance: how far the middle of the bounds may be from the value, as a part of it.
            max_sweeps: how often to go over the states at most.
        """
