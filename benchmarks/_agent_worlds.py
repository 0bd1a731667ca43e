"""The worlds that agents are compared in: small, seeded, each with one thing that makes learning hard.

Each has `reset`, `actions` and `step` for us; `Theirs` shows it to the peer with its own outcome type.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from surefoot.environments.corridor import Corridor
from surefoot.environments.crafting import Crafting
from surefoot.protocols import Outcome, ended, moved, refused

__all__ = ["WORLDS", "Button", "Grid", "KeyDoor", "Theirs", "World"]

Condition = Callable[[Any, Any], Any]
TOOLS = ("axe", "pick")
MOVES = {"down": (0, 1), "left": (-1, 0), "right": (1, 0), "up": (0, -1)}


class Grid:
    """A square of cells from (0, 0) to the goal in the far corner; walls refuse.

    Args:
        side: cells a side.
        slip: the probability that a move goes to one of the two sides instead, half each.
        press: there is a fifth action, "press", which is accepted and changes nothing.
        swap_after: after so many episodes left and right change places; None: never.
    """

    def __init__(self, side: int = 8, *, slip: float = 0.0, press: bool = False, swap_after: int | None = None) -> None:
        self.side, self.slip, self.press, self.swap_after = side, slip, press, swap_after
        self.episodes = 0
        self._random = random.Random(0)
        self._at = (0, 0)

    def reset(self, seed: int | None = None) -> tuple[int, int]:
        self._random = random.Random(seed)
        self.episodes += 1
        self._at = (0, 0)
        return self._at

    def actions(self, state: tuple[int, int]) -> list[str]:
        goal = (self.side - 1, self.side - 1)
        return [] if state == goal else [*sorted(MOVES), *(["press"] if self.press else [])]

    def step(self, action: str) -> Outcome[tuple[int, int]]:
        if action == "press":
            return moved(self._at)
        way = MOVES[action]
        if self.swap_after is not None and self.episodes > self.swap_after:
            way = (-way[0], way[1])
        if self.slip and self._random.random() < self.slip:
            turn = self._random.choice((1, -1))
            way = (way[1] * turn, way[0] * turn)
            if not self._inside(way):  # it slips against a wall, and stays
                return moved(self._at)
        elif not self._inside(way):
            return moved(self._at) if self.slip else refused(self._at, "a wall")
        self._at = self._at[0] + way[0], self._at[1] + way[1]
        done = self._at == (self.side - 1, self.side - 1)
        return (ended if done else moved)(self._at, effect={"at": self._at})

    def _inside(self, way: tuple[int, int]) -> bool:
        return 0 <= self._at[0] + way[0] < self.side and 0 <= self._at[1] + way[1] < self.side


class Button:
    """A corridor with a button to press: accepted everywhere, it opens the door from one place only."""

    def __init__(self, length: int = 8, works_at: int = 5) -> None:
        self.length, self.works_at = length, works_at
        self._at = 0

    def reset(self, seed: int | None = None) -> int:
        self._at = 0
        return 0

    def actions(self, state: int) -> list[str]:
        return ["left", "press", "right"] if 0 <= state < self.length else []

    def step(self, action: str) -> Outcome[int]:
        if action == "press":
            return ended(self.length, effect={"door": "open"}) if self._at == self.works_at else moved(self._at)
        to = self._at + (1 if action == "right" else -1)
        if not 0 <= to < self.length:
            return refused(self._at, "a wall")
        self._at = to
        return moved(to, effect={"at": to})


class KeyDoor:
    """Two rooms with a locked door between them; the key lies in the first, the goal in the second.

    A state is (x, y, key carried, door open). "toggle" opens the door from beside it with the key; "pickup" takes the
    key from where it lies. Both are accepted everywhere, and mostly change nothing.
    """

    KEY, DOOR, GOAL = (0, 3), (3, 1), (6, 3)

    def __init__(self) -> None:
        self._at, self._key, self._open = (0, 0), False, False

    def reset(self, seed: int | None = None) -> tuple[int, int, bool, bool]:
        self._at, self._key, self._open = (0, 0), False, False
        return self._state()

    def actions(self, state: tuple[int, int, bool, bool]) -> list[str]:
        return [] if (state[0], state[1]) == self.GOAL else [*sorted(MOVES), "pickup", "toggle"]

    def step(self, action: str) -> Outcome[tuple[int, int, bool, bool]]:
        before = self._state()
        if action == "pickup":
            self._key = self._key or self._at == self.KEY
        elif action == "toggle":
            self._open = self._open or (self._key and self._at == (self.DOOR[0] - 1, self.DOOR[1]))
        else:
            dx, dy = MOVES[action]
            x, y = self._at[0] + dx, self._at[1] + dy
            if not (0 <= x < 7 and 0 <= y < 4) or (x == 3 and (x, y) != self.DOOR):
                return refused(before, "a wall")
            if (x, y) == self.DOOR and not self._open:
                return refused(before, "locked")
            self._at = x, y
        now = self._state()
        return (ended if self._at == self.GOAL else moved)(now, effect=None if now == before else {"state": now})

    def _state(self) -> tuple[int, int, bool, bool]:
        return (*self._at, self._key, self._open)


class Theirs:
    """Show one of our worlds to the peer."""

    def __init__(self, world: Any) -> None:
        from solvi.core import Outcome as SolviOutcome

        self._world, self._outcome = world, SolviOutcome

    def reset(self, seed: int | None = None) -> Any:
        return self._world.reset(seed=seed)

    def actions(self, state: Any) -> list[Any]:
        return list(self._world.actions(state))

    def step(self, action: Any) -> Any:
        out = self._world.step(action)
        return self._outcome(out.state, accepted=out.accepted, effect=out.effect, done=out.done)


class World:
    """A world to compare in.

    Args:
        make: makes one.
        limit: steps an episode.
        fewest: the fewest steps that solve it, None where chance decides.
        goals: subgoals, {name: (done, requires)}, given to both.
        words: conditions, and the actions that each is read for, given to both; None: no vocabulary.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        limit: int,
        fewest: int | None,
        goals: dict[str, tuple[Callable[[Any], bool], list[str]]] | None = None,
        words: tuple[dict[str, Condition], dict[str, list[str]]] | None = None,
    ) -> None:
        self.make, self.limit, self.fewest, self.goals, self.words = make, limit, fewest, goals or {}, words


def _has(thing: str) -> Callable[[Any], bool]:
    return lambda state: thing in dict(state[1])


def _crafting_goals() -> dict[str, tuple[Callable[[Any], bool], list[str]]]:
    chain = ["branch", "stone", "axe", "log", "pick", "ore", "ingot", "bell"]
    return {name: (_has(name), [chain[place - 1]] if place else []) for place, name in enumerate(chain)}


def _crafting_words() -> tuple[dict[str, Condition], dict[str, list[str]]]:
    """Return conditions over what the world itself says of a state: what needs which tool or station is not told."""
    seen = Crafting("meadow").describe
    conditions: dict[str, Condition] = {
        "a way": lambda state, args: args["0"] in seen(state)["ways"],
        "carried": lambda state, args: args["0"] in seen(state)["bag"],
        "here": lambda state, args: args["0"] in seen(state)["materials"],
        "kit": lambda state, args: " with ".join([args["0"], *(t for t in TOOLS if t in seen(state)["bag"])]),
        "parts": lambda state, args: all(
            seen(state)["bag"].get(part, 0) >= number for part, number in seen(state)["recipes"][args["0"]].items()
        ),
        "room": lambda state, args: seen(state)["free"] > 0,
        "site": lambda state, args: " at ".join([args["0"], *seen(state)["stations"]]),
    }
    only = {"drop": ["carried"], "go": ["a way"], "make": ["parts", "site"], "take": ["here", "kit", "room"]}
    return conditions, only


WORLDS = {
    "corridor of 8": World(lambda: Corridor(length=8), 100, 8),
    "grid 4x4": World(lambda: Grid(4), 400, 6),
    "grid 8x8": World(lambda: Grid(8), 1_000, 14),
    "grid 4x4 with a press": World(lambda: Grid(4, press=True), 200, 6),
    "crafting, the meadow": World(lambda: Crafting("meadow"), 300, None, _crafting_goals()),
    "crafting, the meadow, with a vocabulary": World(
        lambda: Crafting("meadow"), 300, None, _crafting_goals(), _crafting_words()
    ),
    "door and key": World(KeyDoor, 400, 15),
    "grid 5x5, 20 % slip": World(lambda: Grid(5, slip=0.2), 300, None),
    "a button that works in one place": World(Button, 60, 6),
    "left and right swapped after 3": World(lambda: Grid(4, swap_after=3), 200, 6),
}
"""By name; each is made anew for each contender."""
