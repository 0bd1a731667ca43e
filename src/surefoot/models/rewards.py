"""Rewards of a model: on states, on choices and on transitions, added up in one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadModel
from surefoot.models._arrays import frozen, same

__all__ = ["RewardModel"]


@dataclass(frozen=True, eq=False, repr=False)
class RewardModel:
    """Hold one named reward: what one step pays is the sum of its three parts.

    A step that leaves state s by choice c along branch b pays `state[s] + choice[c] + transition[b]`. So a reward on a
    state is paid each time the state is left, and never for a state that is entered; to pay on arriving, use
    `transition`.

    Args:
        state: (S,) float64, finite, in the task's own unit; None: 0 everywhere.
        choice: (C,) float64, for the choices in the order of the model's rows; None: 0 everywhere.
        transition: (B,) float64, for the branches in the order of the model's `target`; None: 0 everywhere.

    Raises:
        BadModel: a part is no flat array of finite numbers. The model that it is given to checks the lengths.

    Source: Puterman 1994, section 2.1 (r(s, a) and r(s, a, j)).

    Example:
        >>> RewardModel(state=[0.0, 1.0]).state
        array([0., 1.])
        >>> RewardModel(choice=[float("nan")])
        Traceback (most recent call last):
        surefoot.errors.BadModel: the reward of choice 0 is nan: rewards are finite numbers
    """

    state: NDArray[np.float64] | None = None
    choice: NDArray[np.float64] | None = None
    transition: NDArray[np.float64] | None = None

    def __init__(self, state: Any = None, choice: Any = None, transition: Any = None) -> None:
        for name, part in (("state", state), ("choice", choice), ("transition", transition)):
            if part is not None:
                part = frozen(part, np.float64, f"the rewards of a {name}")
                if not np.isfinite(part).all():
                    place = int(np.argmin(np.isfinite(part)))
                    raise BadModel(f"the reward of {name} {place} is {part[place]}: rewards are finite numbers")
            object.__setattr__(self, name, part)

    def is_close(self, other: RewardModel, tolerance: float = 1e-9) -> bool:
        """Say whether both have the same parts, and no number differs by more than `tolerance`.

        Example:
            >>> RewardModel(state=[1.0]).is_close(RewardModel(state=[1.0 + 1e-12]))
            True
        """
        return all(same(getattr(self, n), getattr(other, n), tolerance) for n in ("state", "choice", "transition"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RewardModel):
            return NotImplemented
        return self.is_close(other, 0.0)

    def __hash__(self) -> int:
        return hash(tuple(part is None or len(part) for part in (self.state, self.choice, self.transition)))

    def __repr__(self) -> str:
        parts = (("state", self.state), ("choice", self.choice), ("transition", self.transition))
        return f"RewardModel({', '.join(f'{name}: {len(part)}' for name, part in parts if part is not None)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return RewardModel, (self.state, self.choice, self.transition)
