"""Worlds that nobody here wrote, with goals, limits and what the best policy comes to: Gymnasium, MiniGrid, a cave.

Each is reset, asked and stepped like any other environment; `best` says what is possible, `learn` is a plain Q-learner
that gets the same worlds, seeds, states and actions.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from surefoot import check
from surefoot.environments.from_gymnasium import FromGymnasium
from surefoot.models import RewardModel
from surefoot.models.exchange.gymnasium import from_gymnasium
from surefoot.protocols import Outcome, ended, moved

__all__ = ["WORLDS", "Best", "Cave", "DoorKey", "World", "learn"]


@dataclass(frozen=True)
class Best:
    """What is possible: the success rate within the limit, the expected steps, and how that was worked out."""

    success: float
    steps: float
    how: str


@dataclass(frozen=True)
class World:
    """A world to learn.

    Attributes:
        make: makes it, given the seed of the run: layouts may differ between runs, never within one.
        goal: says of a state whether the goal is reached; None: where the environment says done it is.
        episodes, limit: how many, and of how many steps at most.
        best: works out what is possible, given the seed of the run.
        rate: the learning rate of the Q-learner.
        varies: what is possible differs between runs.
    """

    make: Callable[[int], Any]
    goal: Callable[[Any], bool] | None
    episodes: int
    limit: int
    best: Callable[[int], Best]
    rate: float = 0.5
    varies: bool = False


# ── tables ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _of_table(name: str, limit: int, label: str = "goal", **options: Any) -> Callable[[int], Best]:
    """Return what value iteration over the environment's own table says."""

    def best(seed: int) -> Best:
        model = from_gymnasium(name, **options)
        model = model.with_rewards(steps=RewardModel(choice=np.ones(model.n_choices)))
        success = check(model, f'Pmax=? [ F<={limit} "{label}" ]').lower
        steps = check(model, f'R{{"steps"}}min=? [ F "{label}" ]').lower
        return Best(success, steps, "value iteration over the table P")

    return best


def _delivered(state: int) -> bool:
    """Say whether Taxi's passenger is where they want to be: a state is ((row 5 + column) 5 + passenger) 4 + goal."""
    return state // 4 % 5 == state % 4


# ── MiniGrid ────────────────────────────────────────────────────────────────────────────────────────────────────────


class DoorKey(gymnasium.Wrapper[Any, Any, Any, Any]):
    """MiniGrid's DoorKey with its symbolic state, always in the same layout.

    A state is (x, y, direction, key carried, where the key lies, door).
    """

    def __init__(self, layout: int) -> None:
        import minigrid  # noqa: F401  # registers its environments

        super().__init__(gymnasium.make("MiniGrid-DoorKey-5x5-v0", max_steps=1_000_000))
        self._layout = layout

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        self.env.reset(seed=self._layout)
        return self._symbols(), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Any]:
        _, reward, terminated, truncated, _ = self.env.step(action)
        return self._symbols(), reward, terminated, truncated, {}

    def _symbols(self) -> tuple[Any, ...]:
        world: Any = self.env.unwrapped
        key, door = None, "none"
        for x, y in np.ndindex(world.width, world.height):
            thing = world.grid.get(x, y)
            if thing is not None and thing.type == "key":
                key = (x, y)
            elif thing is not None and thing.type == "door":
                door = "open" if thing.is_open else "locked" if thing.is_locked else "shut"
        x, y = map(int, world.agent_pos)
        return x, y, int(world.agent_dir), world.carrying is not None, key, door


def _door_key(seed: int) -> FromGymnasium:
    names = ["turn left", "turn right", "forward", "pick up", "drop", "toggle", "done"]
    return FromGymnasium(DoorKey(seed), names=names)


# ── Colossal Cave ───────────────────────────────────────────────────────────────────────────────────────────────────


class Cave:
    """Colossal Cave (Crowther and Woods 1977), with the commands that its own tables admit where one is.

    A state is (room, what is carried, the grate, the lamp). On offer are the ways of the room, to take what lies here,
    and, with what it takes at hand, to unlock the grate and to light the lamp. The goal is to stand below the grate
    with the lamp on.

    Args:
        seed: of the game's own dice: some ways in the forest lead here or there.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._game: Any = None

    def reset(self, seed: int | None = None) -> tuple[Any, ...]:
        from adventure import load_advent_dat
        from adventure.game import Game

        self._game = Game(seed=self._seed if seed is None else seed)
        load_advent_dat(self._game)
        self._game.start()
        self._game.do_command(["no"])  # no instructions
        return self._state()

    def _state(self) -> tuple[Any, ...]:
        game = self._game
        held = tuple(sorted(thing.names[0] for thing in game.inventory))
        return game.loc.n, held, "open" if game.grate.prop else "shut", "on" if game.lamp.prop else "off"

    def actions(self, state: tuple[Any, ...]) -> list[str]:
        return [] if self.reached(state) else list(dict.fromkeys(self._admitted()))

    @staticmethod
    def reached(state: tuple[Any, ...]) -> bool:
        return state[0] == 9 and state[3] == "on"

    def _admitted(self) -> Iterator[str]:
        game = self._game
        for move in game.loc.travel_table:
            for verb in move.verbs[:1]:
                yield str(verb.text)
        for thing in game.objects_here:
            if not thing.is_fixed and not thing.is_toting:
                yield f"get {thing.names[0]}"
        if game.keys.is_toting and game.loc.n in (8, 9):
            yield "unlock grate"
        if game.lamp.is_toting:
            yield "light lamp"

    def step(self, action: str) -> Outcome[tuple[Any, ...]]:
        before = self._state()
        text = self._game.do_command(action.split())
        now = self._state()
        asked = self._game.yesno_callback is not None  # it asks whether to be revived: that was a death
        say = ended if self.reached(now) or self._game.is_finished or asked else moved
        return say(now, effect=None if now == before else {"state": now}, info={"text": text})

    def save_state(self) -> bytes:
        return pickle.dumps(self._game)

    def restore_state(self, token: bytes) -> None:
        self._game = pickle.loads(token)


# ── what is possible where there is no table ────────────────────────────────────────────────────────────────────────


def _fewest(start: Any, moves: Callable[[Any], Iterator[tuple[Any, Any, bool]]], key: Any) -> int:
    """Return the fewest steps to a goal, breadth first over the world itself.

    Args:
        start: a token of where it begins.
        moves: yields (token, key, whether that is a goal) for each action of a token.
        key: of the start.
    """
    seen, queue = {key}, deque([(start, 0)])
    while queue:
        token, far = queue.popleft()
        for to, at, reached in moves(token):
            if reached:
                return far + 1
            if at not in seen:
                seen.add(at)
                queue.append((to, far + 1))
    raise AssertionError("there is no way to the goal")


def _best_door_key(seed: int) -> Best:
    env = DoorKey(seed)
    start, _ = env.reset()

    def moves(token: Any) -> Iterator[tuple[Any, Any, bool]]:
        for action in range(6):
            there = copy.deepcopy(token)
            at, _, over, _, _ = there.step(action)
            yield there, at, over

    return Best(1.0, _fewest(env, moves, start), "breadth first over copies of the environment")


def _best_cave(seed: int) -> Best:
    world = Cave(seed)
    start = world.reset()

    def moves(token: bytes) -> Iterator[tuple[Any, Any, bool]]:
        world.restore_state(token)
        for action in world.actions(world._state()):
            world.restore_state(token)
            outcome = world.step(action)
            if not outcome.done:
                yield world.save_state(), outcome.state, False
            elif world.reached(outcome.state):
                yield b"", outcome.state, True

    return Best(1.0, _fewest(world.save_state(), moves, start), "breadth first over saved games")


# ── the baseline ────────────────────────────────────────────────────────────────────────────────────────────────────


def learn(world: World, seed: int, explores: float = 0.1) -> list[tuple[int, bool]]:
    """Return (steps, solved) of each episode of a tabular Q-learner.

    A step pays -1, an end without the goal minus the limit; values begin at 0, which is more than can be had, so that
    what was not tried is tried. One step in ten is random. Nothing is discounted.

    Source: Watkins 1989; optimistic initial values, Sutton and Barto 2018, sec. 2.6.
    """
    env, dice = world.make(seed), random.Random(seed)
    value: dict[Any, dict[Any, float]] = {}
    found = []
    for episode in range(world.episodes):
        state, steps, solved, over = env.reset(seed=100_000 * seed + episode), 0, False, False
        offered = env.actions(state)
        while not over and steps < world.limit and offered:
            row = value.setdefault(state, {})
            for action in offered:
                row.setdefault(action, 0.0)
            if dice.random() < explores:
                action = dice.choice(offered)
            else:
                top = max(row[action] for action in offered)
                action = dice.choice([action for action in offered if row[action] == top])
            outcome = env.step(action)
            steps += 1
            state, over = outcome.state, outcome.done
            solved = over and (world.goal is None or world.goal(state)) and not outcome.info.get("truncated")
            offered = [] if over else env.actions(state)
            onward = value.get(state, {})
            ahead = max([onward.get(action, 0.0) for action in offered], default=0.0)
            lost = -float(world.limit) if over and not solved and not outcome.info.get("truncated") else 0.0
            row[action] += world.rate * (-1.0 + lost + ahead - row[action])
        found.append((steps, solved))
    return found


_LAKE = ["left", "down", "right", "up"]
_TAXI = ["south", "north", "east", "west", "pick up", "drop off"]
_CLIFF = ["up", "right", "down", "left"]

WORLDS = {
    "FrozenLake": World(
        lambda seed: FromGymnasium("FrozenLake-v1", is_slippery=False, names=_LAKE),
        lambda state: state == 15,
        100,
        100,
        _of_table("FrozenLake-v1", 100, is_slippery=False),
    ),
    "FrozenLake, slippery": World(
        lambda seed: FromGymnasium("FrozenLake-v1", is_slippery=True, names=_LAKE),
        lambda state: state == 15,
        500,
        100,
        _of_table("FrozenLake-v1", 100, is_slippery=True),
        0.1,
    ),
    "Taxi, with its mask": World(
        lambda seed: FromGymnasium("Taxi-v4", names=_TAXI), _delivered, 400, 200, _of_table("Taxi-v4", 200, "terminal")
    ),
    "CliffWalking": World(
        lambda seed: FromGymnasium("CliffWalking-v1", names=_CLIFF), None, 100, 300, _of_table("CliffWalking-v1", 300)
    ),
    "MiniGrid DoorKey 5x5": World(_door_key, None, 100, 250, _best_door_key, varies=True),
    "Colossal Cave": World(Cave, Cave.reached, 100, 300, _best_cave),
}
"""By name."""
