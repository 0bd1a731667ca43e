"""What was learned: an interval model with its claim, and what has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners import _tables
from surefoot.models import MDP

__all__ = ["Change", "LearnedModel"]


@dataclass(frozen=True, eq=False, repr=False)
class LearnedModel:
    """Hold an interval MDP that was learned, and what is claimed of it.

    Args:
        model: the interval MDP; its nominal probabilities are the frequencies.
        confidence: the least probability that all intervals hold at once, in (0, 1).
        method: how they were made.
        tried: (C,) int64, how often each choice of `model` was tried; 0 for those that nothing is known of.
        claim: what is claimed, in words.
        assumes: what the claim rests on, in words, one sentence each.
        pools: the choices whose outcomes were counted together, see `surefoot.learners.pooling`; none without pooling.

    Example:
        >>> from surefoot import Counts
        >>> counts = Counts()
        >>> for n in range(100):
        ...     counts.observe("start", "toss", "heads" if n % 2 else "tails", ended=True)
        >>> learned = counts.intervals()
        >>> learned
        <LearnedModel: 95% confidence, 4 states, 100 tries, widest interval of a tried choice 0.28>
        >>> learned.interval("start", "toss", "heads")
        (0.356..., 0.634...)
    """

    model: MDP
    confidence: float
    method: str
    tried: NDArray[np.int64]
    claim: str
    assumes: tuple[str, ...]
    pools: tuple[Any, ...] = ()

    @property
    def widest(self) -> float:
        """Return the width of the widest interval of a choice that was tried; 1 where none was."""
        model = self.model
        assert model.lower is not None
        assert model.upper is not None
        known = self.tried[model.branch_choice] > 0
        return float((model.upper - model.lower)[known].max(initial=0.0 if known.any() else 1.0))

    def interval(self, state: Any, action: Any, to: Any) -> tuple[float, float]:
        """Return the interval of a transition, each argument by its value; (0, 0) where the model has no such branch.

        Raises:
            UnknownName: the model has no such state, or the state does not offer the action.
        """
        model = self.model
        assert model.lower is not None
        assert model.upper is not None
        choice, target = model.choice(_tables.name_of(state), _tables.name_of(action)), _tables.name_of(to)
        first, last = model.branch_start[choice], model.branch_start[choice + 1]
        for branch in range(int(first), int(last)):
            if model.state_names[int(model.target[branch])] == target:
                return float(model.lower[branch]), float(model.upper[branch])
        return 0.0, 0.0

    def __repr__(self) -> str:
        return (
            f"<LearnedModel: {100 * self.confidence:.6g}% confidence, {self.model.n_states} states, "
            f"{int(self.tried.sum())} tries, "
            f"widest interval of a tried choice {self.widest:.2g}>"
        )


@dataclass(frozen=True)
class Change:
    """Say that a choice behaves otherwise than before.

    Attributes:
        state: where.
        action: which action.
        to: the successor whose probability changed.
        before: its interval before the window.
        now: its interval inside the window.
        confidence: that some such change is real, whatever else was tested in the same call.

    Example:
        >>> Change("hall", "open", "room", (0.9, 1.0), (0.0, 0.2), 0.95).to
        'room'
    """

    state: Any
    action: Any
    to: Any
    before: tuple[float, float]
    now: tuple[float, float]
    confidence: float

    def __str__(self) -> str:
        return (
            f"{self.action!r} in {self.state!r} leads to {self.to!r} with [{self.now[0]:.3g}, {self.now[1]:.3g}], "
            f"before with [{self.before[0]:.3g}, {self.before[1]:.3g}] (confidence {self.confidence:g})"
        )
