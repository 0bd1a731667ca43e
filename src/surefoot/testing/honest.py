"""Small worlds that keep every law of an environment, to test a checker with, or to start a liar from."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar

from surefoot.errors import NotStarted
from surefoot.protocols import faulted, moved, refused

__all__ = ["DICE", "HONEST", "Hallway", "Notebook", "Overloaded", "Windy"]

DICE = Random(20_250_101)
"""Randomness that no seed given to `reset` governs.

Example:
    >>> 0 <= DICE.random() < 1
    True
"""


class Hallway:
    """An honest world: a row of cells with a door at its right end, which can do all that an environment may do.

    The actions are `"left"`, `"right"` and `"wait"`. Left of cell 0 is a wall. Reaching the last cell ends the episode.
    An odd seed starts in cell 1.

    Example:
        >>> world = Hallway()
        >>> world.reset(seed=0), world.actions(0), world.step("left").reason
        (0, ['left', 'right', 'wait'], 'a wall')
        >>> world.step("right").effect, world.signs(1)
        ({'passed': [1]}, [('left', 0), ('right', 2)])
    """

    length: ClassVar[int] = 4

    def __init__(self) -> None:
        self.cell: Any = None

    def reset(self, seed: int | None = None) -> Any:
        """Start in cell 0, or in cell 1 when the seed is odd."""
        self.cell = (seed or 0) % 2
        return self.state()

    def state(self) -> Any:
        """Return the state: the number of the cell."""
        return self.cell

    def actions(self, state: Any) -> Any:
        """Return the actions on offer in `state`: none behind the door."""
        return [] if state == self.length else ["left", "right", "wait"]

    def step(self, action: Any) -> Any:
        """Go left, go right or wait."""
        if self.cell is None or self.cell == self.length:
            raise NotStarted(f"step({action!r}) outside an episode: call reset(seed=...) first")
        return self.take(action)

    def take(self, action: Any) -> Any:
        """Take a step within an episode."""
        if action == "wait":
            return moved(self.state())
        if action not in ("left", "right"):
            return refused(self.state(), "no such action")
        if action == "left" and self.cell == 0:
            return refused(self.state(), "a wall")
        self.cell += 1 if action == "right" else -1
        passed, done = {"passed": [self.cell]}, self.cell == self.length
        return moved(self.state(), effect=passed, done=done, info={"cells": [self.cell]})

    def save_state(self) -> Any:
        """Return a copy of everything that is hidden in this world."""
        return copy.deepcopy(vars(self))

    def restore_state(self, token: Any) -> Any:
        """Go back to where `save_state` gave `token`."""
        vars(self).update(copy.deepcopy(token))
        return self.state()

    def signs(self, state: Any) -> Any:
        """Return where left and right lead."""
        if state == self.length:
            return []
        return [*([("left", state - 1)] if state else []), ("right", state + 1)]

    def describe(self, state: Any) -> Any:
        """Return a title."""
        return {"title": f"cell {state}"}

    def close(self) -> Any:
        """Let go of nothing."""


class Notebook(Hallway):
    """An honest world whose states are objects and whose actions are calls: `{"name": "go", "to": 1}`.

    Example:
        >>> world = Notebook()
        >>> world.reset(seed=0), world.actions({"cell": 0})[0]
        ({'cell': 0}, {'name': 'go', 'by': -1})
    """

    def state(self) -> Any:
        """Return the state as an object."""
        return {"cell": self.cell}

    def actions(self, state: Any) -> Any:
        """Return the calls on offer."""
        return [] if state["cell"] == self.length else [{"name": "go", "by": by} for by in (-1, 0, 1)]

    def take(self, action: Any) -> Any:
        """Take a call."""
        if not isinstance(action, Mapping) or action.get("by") not in (-1, 0, 1):
            return refused(self.state(), "no such action")
        return super().take(("wait", "right", "left")[action["by"]])

    def signs(self, state: Any) -> Any:
        """Return where going right leads."""
        return [] if state["cell"] == self.length else [({"name": "go", "by": 1}, {"cell": state["cell"] + 1})]


class Windy(Hallway):
    """An honest world of chance: going right fails now and then, as its seed has it.

    Example:
        >>> def walk(seed):
        ...     world = Windy()
        ...     return [world.reset(seed=seed), *(world.step("right").state for _ in range(3))]
        >>> walk(3) == walk(3)
        True
    """

    def reset(self, seed: int | None = None) -> Any:
        """Start with dice of its own."""
        self.dice = Random(seed)
        return super().reset(seed)

    def take(self, action: Any) -> Any:
        """Go right with chance two thirds."""
        if action == "right" and self.dice.random() < 1 / 3:
            return moved(self.state(), info={"wind": True})
        return super().take(action)


class Overloaded(Hallway):
    """An honest world that breaks down now and then, whatever the seed, and says so.

    Example:
        >>> world = Overloaded()
        >>> _ = world.reset(seed=0)
        >>> {world.step("wait").verdict for _ in range(200)} == {"accepted", "fault"}
        True
    """

    def take(self, action: Any) -> Any:
        """Break down with chance one in ten."""
        return faulted(self.state(), "time-out") if DICE.random() < 0.1 else super().take(action)


HONEST: Mapping[str, type[Hallway]] = {
    "a hallway": Hallway,
    "objects as states and actions": Notebook,
    "chance, given the seed": Windy,
    "faults at any time": Overloaded,
}
"""Worlds that keep every law.

Example:
    >>> from surefoot.testing.environments import check_environment
    >>> all(check_environment(world, long=40, examples=3) for world in HONEST.values())
    True
"""
