"""The smallest environment: a row of cells with a door at its right end. Copy it to start one of your own.

Refusals: of the seven shapes it has the plainest, the flag (`accepted=False` with a reason). There is nothing to read.
"""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.errors import BadArgument, NotStarted
from surefoot.protocols import Outcome, ended, moved, refused

__all__ = ["Corridor"]


class Corridor:
    """Walk along cells 0, 1, …, `length`; the last one is outside, and reaching it ends the episode.

    The actions are `"left"` and `"right"`. Going left from cell 0 is refused, as is any other action. Outside there is
    nothing left to do: no action is on offer. There is no randomness, so every seed gives the same episode.

    Args:
        length: how many steps to the right it takes to get out; an int >= 1.

    Raises:
        BadArgument: `length` is no int >= 1.

    Cost: constant time for every call.

    Example:
        >>> world = Corridor(length=2)
        >>> world.reset(seed=0)
        0
        >>> world.step("left")
        Outcome(state=0, accepted=False, effect=None, done=False, info={}, reason='a wall', fault=None)
        >>> world.step("right").effect, world.step("right").done
        ({'cell': 1}, True)
    """

    def __init__(self, length: int = 3) -> None:
        """Build the corridor; `reset` puts the walker into it."""
        if type(length) is not int or length < 1:
            raise BadArgument(f"length must be an int >= 1, got {length!r}")
        self.length = length
        self._cell: int | None = None

    def reset(self, seed: int | None = None) -> int:
        """Start in cell 0; `seed` changes nothing.

        Example:
            >>> Corridor().reset(seed=7)
            0
        """
        self._cell = 0
        return 0

    def actions(self, state: int) -> Sequence[str]:
        """Return the actions on offer in cell `state`.

        Raises:
            BadArgument: there is no such cell.

        Example:
            >>> world = Corridor(length=2)
            >>> world.actions(0), world.actions(2)
            (['left', 'right'], [])
        """
        return ["left", "right"] if self._checked(state) < self.length else []

    def step(self, action: str) -> Outcome[int]:
        """Go one cell to the left or to the right.

        Raises:
            NotStarted: before `reset`, or after the episode was over.

        Example:
            >>> world = Corridor()
            >>> _ = world.reset()
            >>> world.step("right").state, world.step("up").reason
            (1, 'no such action')
        """
        if self._cell is None:
            raise NotStarted(f"step({action!r}) before reset(): call reset(seed=...) first")
        if self._cell == self.length:
            raise NotStarted(f"step({action!r}) after the episode was over: call reset(seed=...) first")
        if action not in ("left", "right"):
            return refused(self._cell, "no such action")
        if action == "left" and self._cell == 0:
            return refused(self._cell, "a wall")
        self._cell += 1 if action == "right" else -1
        effect = {"cell": self._cell}
        return (ended if self._cell == self.length else moved)(self._cell, effect=effect)

    def save_state(self) -> int:
        """Return a token for `restore_state`: the number of the cell.

        Raises:
            NotStarted: before `reset`.

        Example:
            >>> world = Corridor()
            >>> _ = world.reset()
            >>> world.save_state()
            0
        """
        if self._cell is None:
            raise NotStarted("save_state() before reset(): call reset(seed=...) first")
        return self._cell

    def restore_state(self, token: int) -> int:
        """Go to the cell that `save_state` gave as `token`, and return it.

        Raises:
            BadArgument: there is no such cell.

        Example:
            >>> world = Corridor(length=3)
            >>> world.restore_state(2), world.step("right").done
            (2, True)
        """
        self._cell = self._checked(token)
        return self._cell

    def _checked(self, state: int) -> int:
        """Return `state` if it is a cell."""
        if type(state) is not int or not 0 <= state <= self.length:
            raise BadArgument(f"a state of this corridor is an int from 0 to {self.length}, got {state!r}")
        return state
