"""Small models that everybody knows, and a family of large ones."""

from __future__ import annotations

import numpy as np

from surefoot.errors import BadModel
from surefoot.models._arrays import frozen_now, running_sum
from surefoot.models.build import build
from surefoot.models.markov import HMM, MDP, POMDP, MarkovChain
from surefoot.models.rewards import RewardModel
from surefoot.models.spaces import BoolDomain, CategoricalDomain, IntDomain, Variable

__all__ = [
    "ALL",
    "cheese_maze",
    "die",
    "grid",
    "monty_hall",
    "monty_hall_blind",
    "random_mdp",
    "retries",
    "taxi",
    "tiger",
    "weather",
]

_WORDS = ("one", "two", "three", "four", "five", "six")


def die() -> MarkovChain:
    """Return a fair die made of coin tosses: 13 states, each face with probability 1/6.

    Variable `face` (0 while it is not known); labels `done` and the six faces; reward `tosses`, 11/3 on average.

    Source: Knuth, Yao 1976, The complexity of nonuniform random number generation, figure 2.

    Example:
        >>> die()
        <MarkovChain: 13 states, 7 choices, 14 branches>
    """
    ways = {
        "start": ("odd", "even"),
        "odd": ("one?", "two or three"),
        "even": ("four or five", "six?"),
        "one?": ("odd", "one"),
        "two or three": ("two", "three"),
        "four or five": ("four", "five"),
        "six?": ("six", "even"),
    }
    return build(
        "start",
        step=lambda state: [(0.5, after) for after in ways.get(state, ())],
        reward={"tosses": lambda state: float(state in ways)},
        labels=lambda state: ["done", state] if state in _WORDS else [],
        valuation=lambda state: {"face": _WORDS.index(state) + 1 if state in _WORDS else 0},
        variables=[Variable("face", IntDomain(0, 6))],
    )


_DOORS = ("left", "middle", "right")
Doors = tuple[str, str, str, str]


def monty_hall() -> MDP:
    """Return the Monty Hall problem as an MDP whose player could see the car: phase, car, pick, opened door.

    Actions `play`, the three doors, `open`, `stay`, `switch`; reward `prize` of 1 on arriving at a win.

    Source: Selvin 1975, A problem in probability.

    Example:
        >>> monty_hall().states_with("won").tolist() != []
        True
    """
    return build(
        ("start", "", "", ""),
        _monty_actions,
        _monty_step,
        name=_monty_name,
        reward={"prize": _monty_prize},
        labels=lambda state: [state[0]] if state[0] in ("won", "lost") else [],
        valuation=lambda state: {"phase": state[0], "car": state[1] or None, "pick": state[2] or None},
        variables=[
            Variable("phase", CategoricalDomain(("start", "pick", "open", "decide", "won", "lost"))),
            Variable("car", CategoricalDomain(_DOORS, allow_none=True)),
            Variable("pick", CategoricalDomain(_DOORS, allow_none=True)),
        ],
    )


def monty_hall_blind() -> POMDP:
    """Return the Monty Hall problem as a POMDP: the player sees the phase, the pick and the opened door, not the car.

    Example:
        >>> model = monty_hall_blind()
        >>> model.n_observations < model.n_states, model.deterministic_observations
        (True, True)
    """
    return build(
        ("start", "", "", ""),
        _monty_actions,
        _monty_step,
        name=_monty_name,
        reward={"prize": _monty_prize},
        labels=lambda state: [state[0]] if state[0] in ("won", "lost") else [],
        observe=lambda state: (state[0], state[2], state[3]),
        observation_valuation=lambda seen: {"phase": seen[0], "pick": seen[1] or None, "opened": seen[2] or None},
        observation_variables=[
            Variable("phase", CategoricalDomain(("start", "pick", "open", "decide", "won", "lost"))),
            Variable("pick", CategoricalDomain(_DOORS, allow_none=True)),
            Variable("opened", CategoricalDomain(_DOORS, allow_none=True)),
        ],
    )


def _monty_name(state: Doors) -> str:
    phase, car, pick, opened = state
    said = [f"car {car}" if car else "", f"picked {pick}" if pick else "", f"opened {opened}" if opened else ""]
    return ", ".join([phase, *filter(None, said)])


def _monty_actions(state: Doors) -> list[str]:
    phases = {"start": ["play"], "pick": list(_DOORS), "open": ["open"], "decide": ["stay", "switch"]}
    return phases.get(state[0], [])


def _monty_step(state: Doors, action: str) -> list[tuple[float, Doors]]:
    phase, car, pick, opened = state
    if phase == "start":
        return [(1 / 3, ("pick", door, "", "")) for door in _DOORS]
    if phase == "pick":
        return [(1.0, ("open", car, action, ""))]
    if phase == "open":
        closed = [door for door in _DOORS if door not in (car, pick)]
        return [(1 / len(closed), ("decide", car, pick, door)) for door in closed]
    kept = pick if action == "stay" else next(door for door in _DOORS if door not in (pick, opened))
    return [(1.0, ("won" if kept == car else "lost", "", "", ""))]


def _monty_prize(state: Doors, action: str, after: Doors) -> float:
    return float(after[0] == "won")


_MOVES = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}


def grid(width: int = 4, height: int = 4, *, slip: float = 0.2, holes: tuple[tuple[int, int], ...] = ((1, 1),)) -> MDP:
    """Return a grid that must be crossed from the top left to the bottom right, with holes and a slippery floor.

    A move goes where it should with probability 1 - slip, and to either side of that with slip / 2; a wall keeps one
    where one is. Variables `x` and `y`; labels `goal` and `hole`, both absorbing; reward `cost` of 1 a move, and `goal`
    of 1 on arriving there.

    Args:
        width: how many columns, >= 2.
        height: how many rows, >= 1.
        slip: how likely a move goes aside, in [0, 1].
        holes: the cells that hold one.

    Source: Sutton, Barto 2018, Reinforcement Learning, example 4.1, with slip as in Russell, Norvig 1995, section 17.1.

    Example:
        >>> grid(3, 2, holes=())
        <MDP: 6 states, 20 choices, 54 branches>
    """
    if width < 2 or height < 1 or not 0 <= slip <= 1:
        raise BadModel(f"a grid needs width >= 2, height >= 1, slip in [0, 1], got {width}, {height}, {slip}")
    goal = (width - 1, height - 1)

    def moved(cell: tuple[int, int], by: tuple[int, int]) -> tuple[int, int]:
        x, y = cell[0] + by[0], cell[1] + by[1]
        return (x, y) if 0 <= x < width and 0 <= y < height else cell

    def step(cell: tuple[int, int], action: str) -> list[tuple[float, tuple[int, int]]]:
        x, y = _MOVES[action]
        return [(1 - slip, moved(cell, (x, y))), (slip / 2, moved(cell, (y, x))), (slip / 2, moved(cell, (-y, -x)))]

    return build(
        (0, 0),
        lambda cell: [] if cell == goal or cell in holes else list(_MOVES),
        step,
        reward={"cost": lambda cell, action: 1.0, "goal": lambda cell, action, after: float(after == goal)},
        labels=lambda cell: ["goal"] if cell == goal else ["hole"] if cell in holes else [],
        valuation=lambda cell: {"x": cell[0], "y": cell[1]},
        variables=[Variable("x", IntDomain(0, width - 1)), Variable("y", IntDomain(0, height - 1))],
    )


_STANDS = {"red": (0, 0), "green": (3, 0), "blue": (0, 3), "yellow": (3, 3)}


def taxi() -> MDP:
    """Return a taxi on a 4 by 4 field that fetches a passenger at one of four stands and brings them to another.

    An episode starts anywhere on the field, with passenger and destination at any two different stands. Where picking
    up or setting down makes no sense it is not offered. Reward `reward`: -1 a step, 20 more on arrival.

    Source: after Dietterich 2000, Hierarchical reinforcement learning with MAXQ, section 2 (smaller, without walls).

    Example:
        >>> taxi()
        <MDP: 260 states, 784 choices, 784 branches>
    """
    places = (*_STANDS, "taxi")

    def actions(state: tuple[int, int, str, str]) -> list[str]:
        x, y, passenger, destination = state
        if passenger == destination:
            return []
        moves = [name for name, (right, down) in _MOVES.items() if 0 <= x + right < 4 and 0 <= y + down < 4]
        if passenger == "taxi" and _STANDS[destination] == (x, y):
            moves.append("set down")
        elif passenger != "taxi" and _STANDS[passenger] == (x, y):
            moves.append("pick up")
        return moves

    def step(state: tuple[int, int, str, str], action: str) -> list[tuple[float, tuple[int, int, str, str]]]:
        x, y, passenger, destination = state
        if action == "pick up":
            return [(1.0, (x, y, "taxi", destination))]
        if action == "set down":
            return [(1.0, (x, y, destination, destination))]
        right, down = _MOVES[action]
        return [(1.0, (x + right, y + down, passenger, destination))]

    starts = [(x, y, at, to) for y in range(4) for x in range(4) for at in _STANDS for to in _STANDS if at != to]
    return build(
        {start: 1 / len(starts) for start in starts},
        actions,
        step,
        name=lambda s: f"taxi {s[0]},{s[1]}, passenger {s[2]}, to {s[3]}",
        reward=lambda state, action: 19.0 if action == "set down" else -1.0,
        labels=lambda state: ["arrived"] if state[2] == state[3] else [],
        valuation=lambda s: {"x": s[0], "y": s[1], "passenger": s[2], "destination": s[3]},
        variables=[
            Variable("x", IntDomain(0, 3)),
            Variable("y", IntDomain(0, 3)),
            Variable("passenger", CategoricalDomain(places)),
            Variable("destination", CategoricalDomain(tuple(_STANDS))),
        ],
    )


def tiger(*, hearing: float = 0.85) -> POMDP:
    """Return two doors, one with a tiger behind it: listen, or open one.

    A state is where the tiger is, and whether one has just listened: only then something is to be heard, and it is
    right with probability `hearing`. After a door was opened the tiger is placed anew. Reward `reward`: -1 for
    listening, 10 for the right door, -100 for the other.

    Source: Kaelbling, Littman, Cassandra 1998, section 5.1.

    Example:
        >>> tiger().summary().splitlines()[0], tiger().deterministic_observations
        ('POMDP: 4 states, 12 choices, 20 branches', False)
    """

    def step(state: tuple[str, bool], action: str) -> list[tuple[float, tuple[str, bool]]]:
        if action == "listen":
            return [(1.0, (state[0], True))]
        return [(0.5, ("left", False)), (0.5, ("right", False))]

    def observe(state: tuple[str, bool]) -> dict[str, float]:
        side, listened = state
        other = "right" if side == "left" else "left"
        return {f"hear {side}": hearing, f"hear {other}": 1 - hearing} if listened else {"nothing": 1.0}

    def reward(state: tuple[str, bool], action: str) -> float:
        return -1.0 if action == "listen" else -100.0 if action == f"open {state[0]}" else 10.0

    return build(
        {("left", False): 0.5, ("right", False): 0.5},
        lambda state: ["listen", "open left", "open right"],
        step,
        reward=reward,
        observe=observe,
        name=lambda state: f"tiger {state[0]}{', listened' if state[1] else ''}",
        observation_valuation=lambda seen: {"heard": None if seen == "nothing" else seen.removeprefix("hear ")},
        observation_variables=[Variable("heard", CategoricalDomain(("left", "right"), allow_none=True))],
    )


_MAZE = {0: (0, 0), 1: (1, 0), 2: (2, 0), 3: (3, 0), 4: (4, 0)} | {5: (0, 1), 6: (2, 1), 7: (4, 1)}
_MAZE |= {8: (0, 2), 9: (4, 2), 10: (2, 2)}


def cheese_maze() -> POMDP:
    """Return a maze of eleven cells whose mouse sees only the walls around it; the cheese is at the end of the middle.

    An episode starts in any cell but that of the cheese. Reward `cheese` of 1 on arriving there.

    Source: McCallum 1993, Overcoming incomplete perception with utile distinction memory, figure 1.

    Example:
        >>> cheese_maze().n_states, cheese_maze().n_observations
        (11, 7)
    """
    cells = {place: number for number, place in _MAZE.items()}

    def after(cell: int, action: str) -> int:
        (x, y), (right, down) = _MAZE[cell], _MOVES[action]
        return cells.get((x + right, y + down), cell)

    return build(
        {cell: 0.1 for cell in range(10)},
        lambda cell: [] if cell == 10 else list(_MOVES),
        lambda cell, action: [(1.0, after(cell, action))],
        reward={"cheese": lambda cell, action, to: float(to == 10)},
        labels=lambda cell: ["cheese"] if cell == 10 else [],
        observe=lambda cell: (
            "cheese" if cell == 10 else "walls " + "".join(a[0] for a in _MOVES if after(cell, a) == cell)
        ),
        name=lambda cell: f"cell {cell}",
        observation_valuation=lambda seen: (
            {a: a[0] in seen.removeprefix("walls ") for a in _MOVES}
            if seen != "cheese"
            else {"north": False, "south": True, "east": True, "west": True}
        ),
        observation_variables=[Variable(name, BoolDomain()) for name in _MOVES],
    )


def weather() -> HMM:
    """Return the weather of each day, of which only somebody's pastime is seen.

    Source: the usual classroom example; the method is in Rabiner 1989, section III.

    Example:
        >>> weather()
        <HMM: 2 states, 2 choices, 4 branches>
    """
    days = {"rain": {"rain": 0.7, "sun": 0.3}, "sun": {"rain": 0.4, "sun": 0.6}}
    seen = {"rain": {"walk": 0.1, "shop": 0.4, "clean": 0.5}, "sun": {"walk": 0.6, "shop": 0.3, "clean": 0.1}}
    return build(
        {"rain": 0.6, "sun": 0.4},
        step=days.__getitem__,
        observe=seen.__getitem__,
        observation_valuation=lambda one: {"pastime": one},
        observation_variables=[Variable("pastime", CategoricalDomain(("walk", "shop", "clean")))],
    )


def retries(most: int = 3, *, loss: float | tuple[float, float] = 0.1) -> MDP:
    """Return a sender that sends one message over a line that loses some, up to a number of times, or gives up.

    Variable `sent`; labels `delivered` and `failed`; reward `sent` of 1 for each time.

    Args:
        most: how often it may send, >= 1.
        loss: how likely a message is lost, in (0, 1); or a pair (least, most), which makes an interval model.

    Source: after the bounded retransmission protocol of Helmink, Sellink, Vaandrager 1994.

    Example:
        >>> retries(2), retries(2, loss=(0.1, 0.2)).has_intervals
        (<MDP: 4 states, 4 choices, 6 branches>, True)
    """
    if most < 1:
        raise BadModel(f"most must be at least 1, got {most}")
    kept = (1 - loss[1], 1 - loss[0]) if isinstance(loss, tuple) else 1 - loss

    def step(sent: int | str, action: str) -> list[tuple[float | tuple[float, float], int | str]]:
        assert isinstance(sent, int)
        if action == "give up":
            return [(1.0, "failed")]
        return [(kept, "delivered"), (loss, sent + 1 if sent + 1 < most else "failed")]

    return build(
        0,
        lambda sent: [] if isinstance(sent, str) else ["send", "give up"],
        step,
        reward={"sent": lambda sent, action: float(action == "send")},
        labels=lambda sent: [sent] if isinstance(sent, str) else [],
        name=lambda sent: sent if isinstance(sent, str) else f"sent {sent}",
        valuation=lambda sent: {"sent": None if isinstance(sent, str) else sent},
        variables=[Variable("sent", IntDomain(0, most - 1, allow_none=True))],
    )


def random_mdp(states: int, *, actions: int = 2, branches: int = 2, seed: int = 0, goals: int = 1) -> MDP:
    """Return a random sparse MDP: each state has all actions, and each leads to different random states.

    Probabilities are uniform on the simplex; the reward `reward` of a choice is uniform in [0, 1). The last `goals`
    states are absorbing and have the label `goal`. The same arguments give the same model.

    Args:
        states: how many states, > `goals`.
        actions: how many actions, >= 1.
        branches: how many branches each choice has, in [1, states].
        seed: which of these models, >= 0.
        goals: how many goals, >= 0.

    Cost: about 0.1 µs a branch; 1,000,000 states with 4,000,000 branches take about 0.4 s.

    Source: the Garnet family of Bhatnagar, Sutton, Ghavamzadeh, Lee 2009, section 6.

    Example:
        >>> random_mdp(1000, actions=2, branches=4, seed=1)
        <MDP: 1000 states, 1998 choices, 7992 branches>
    """
    if not (0 <= goals < states and actions >= 1 and 1 <= branches <= states):
        raise BadModel(
            f"random_mdp needs 0 <= goals < states, actions >= 1 and 1 <= branches <= states, "
            f"got states={states}, actions={actions}, branches={branches}, goals={goals}"
        )
    rng = np.random.default_rng([seed, states, actions, branches, goals])
    rows = (states - goals) * actions
    target = _different(rng, rows, branches, states)
    weight = rng.standard_exponential((rows, branches)) + 1e-12
    weight /= weight.sum(axis=1, keepdims=True)
    goal = np.zeros(states, dtype=bool)
    goal[states - goals :] = True
    return MDP(
        choice_start=running_sum(np.where(goal, 0, actions)),
        choice_action=frozen_now(np.tile(np.arange(actions, dtype=np.int32), states - goals)),
        branch_start=frozen_now(np.arange(rows + 1, dtype=np.int64) * branches),
        target=frozen_now(target.ravel()),
        probability=frozen_now(weight.ravel()),
        initial=0,
        labels={"goal": frozen_now(goal)} if goals else None,
        rewards={"reward": RewardModel(choice=frozen_now(rng.random(rows)))},
    )


def _different(rng: np.random.Generator, rows: int, branches: int, states: int) -> np.ndarray:
    """Return `branches` different states in each row: drawn from ever fewer, and moved past those drawn before."""
    target = np.empty((rows, branches), dtype=np.int32)
    for place in range(branches):
        drawn = rng.integers(0, states - place, rows, dtype=np.int32)
        before = np.sort(target[:, :place], axis=1)
        for other in range(place):
            drawn += drawn >= before[:, other]
        target[:, place] = drawn
    return target


ALL = {
    "die": die,
    "monty_hall": monty_hall,
    "monty_hall_blind": monty_hall_blind,
    "grid": grid,
    "taxi": taxi,
    "tiger": tiger,
    "cheese_maze": cheese_maze,
    "weather": weather,
    "retries": retries,
}
"""Every small example by its name; call one to get the model.

Example:
    >>> sorted(ALL)[:3]
    ['cheese_maze', 'die', 'grid']
"""
