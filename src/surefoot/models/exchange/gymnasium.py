"""Gymnasium's toy-text tables, `P[state][action] = [(probability, next state, reward, terminated), …]`, as models.

| in the table | in the model |
|---|---|
| all outcomes of an action | the branches of a choice, in their order; those to one state are added up |
| the reward of each outcome | a reward on transitions, `"reward"`; of those that are added up the mean |
| `terminated` | the state that is entered ends the episode: it has no choices and the label `"terminal"` |
| `initial_state_distrib` of the environment | the initial distribution |
| the states of FrozenLake, CliffWalking and Taxi | variables (`row`, `column`, …) and labels (`hole`, `goal`, …) |

A table has rows for states that end an episode too. No episode ever uses them, so a model has none; `to_gymnasium`
writes `(1.0, state, 0.0, True)` there. Where a state ends the episode for some outcomes but not for others that can
come about, those that end it lead to a copy of the state, behind all others, whose name ends with ` (ended)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from surefoot.errors import BadArgument, BadModel
from surefoot.models.exchange._rows import Rows
from surefoot.models.markov import MDP, Model
from surefoot.models.rewards import RewardModel
from surefoot.models.spaces import CategoricalDomain, IntDomain, Variable
from surefoot.models.valuations import Valuations

__all__ = ["from_gymnasium", "to_gymnasium"]

Table = dict[int, dict[int, list[tuple[float, int, float, bool]]]]
_TERMINAL = "terminal"
_ACTIONS = {
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "CliffWalkingEnv": ("up", "right", "down", "left"),
    "TaxiEnv": ("south", "north", "east", "west", "pick up", "drop off"),
}


def from_gymnasium(
    env: Any,
    *,
    initial: Any = None,
    actions: Sequence[str] | None = None,
    **make_kwargs: Any,
) -> MDP:
    """Return the MDP of an environment that has a table `P`.

    Args:
        env: an environment of Gymnasium, wrapped or not; its id; or a table.
        initial: where an episode starts: a state, {state: probability} or an array; None: what the environment says.
        actions: names of the actions, in the order of their numbers; None: those of the three toys, else `a0`, `a1`, …
        **make_kwargs: for `gymnasium.make` when `env` is an id.

    Raises:
        BadArgument: the environment has no table, or nothing says where an episode starts.
        BadModel: the table is none, or a row of it no distribution; the message says where.

    Cost: linear; about 3 µs for each outcome.

    Example:
        >>> lake = from_gymnasium("FrozenLake-v1")
        >>> lake, lake.action_name(1), lake.valuation(7), lake.labels_of(7)
        (<MDP: 16 states, 44 choices, 128 branches>, 'down', {'row': 1, 'column': 3}, ('terminal', 'hole'))
        >>> lake.row(14, "right")[0].tolist(), lake.row(14, "right")[1].round(3).tolist()
        ([14, 15, 10], [0.333, 0.333, 0.333])
        >>> from_gymnasium({0: {0: [(1.0, 1, 5.0, True)]}, 1: {0: []}}, initial=0).reward().transition.tolist()
        [5.0]
    """
    if isinstance(env, str):
        import gymnasium

        env = gymnasium.make(env, **make_kwargs).unwrapped
    elif make_kwargs:
        raise BadArgument(f"{sorted(make_kwargs)} are for gymnasium.make, but an environment was given, not an id")
    bare = getattr(env, "unwrapped", env)
    given = env if isinstance(env, Mapping | list | tuple) else getattr(bare, "P", None)
    if given is None:
        raise BadArgument(f"{env} has no table P; learn a model from steps instead (surefoot.learners)")
    table = _checked(given)
    start = _start(bare, initial, len(table))
    names = actions if actions is not None else _ACTIONS.get(type(bare).__name__)
    return _model(table, start, names, type(bare).__name__, bare)


def to_gymnasium(
    model: Model,
    reward: str | None = None,
    *,
    terminal: str | None = None,
    unavailable: Literal["omit", "stay"] = "omit",
) -> Table:
    """Return a model as a table: `P[state][action] = [(probability, next state, reward, terminated), …]`.

    The reward of an outcome is what the step pays: state, choice and transition parts added up. States, actions and
    outcomes are in the model's order. A state that ends the episode has `(1.0, state, 0.0, True)` for every action.

    Args:
        model: the model; of intervals the nominal probabilities are taken, observations are left out.
        reward: which reward model; None: the only one there is, or 0 without any.
        terminal: the label of the states that end the episode; None: the label `"terminal"` if there is one, else the
            states that are never left.
        unavailable: what to do about an action that a state does not offer: `"omit"` it, or `"stay"` for
            `(1.0, state, 0.0, False)`, which makes the table rectangular, as Gymnasium's are.

    Raises:
        UnknownName: there is no such reward model or label.

    Cost: linear; about 1 µs for each outcome.

    Example:
        >>> P = to_gymnasium(from_gymnasium("FrozenLake-v1", is_slippery=False))
        >>> P[14][2], P[15][0]
        ([(1.0, 15, 1.0, True)], [(1.0, 15, 0.0, True)])
    """
    if unavailable not in ("omit", "stay"):
        raise BadArgument(f"unavailable must be 'omit' or 'stay', got {unavailable!r}")
    if terminal is not None:
        model.states_with(terminal)  # refuses a label that is not there
    label = terminal if terminal is not None else _TERMINAL
    ends = (model.labels[label] if label in model.labels else model.absorbing).tolist()
    paid = _paid(model, reward)
    start, targets, values = model.branch_start.tolist(), model.target.tolist(), model.probability.tolist()
    table: Table = {}
    for state in range(model.n_states):
        every = range(model.n_actions)
        if ends[state]:
            table[state] = {action: [(1.0, state, 0.0, True)] for action in every}
            continue
        rows = {
            int(model.choice_action[choice]): [
                (values[at], targets[at], paid[at], ends[targets[at]]) for at in range(start[choice], start[choice + 1])
            ]
            for choice in model.choices(state)
        }
        if unavailable == "stay":
            rows = {action: rows.get(action, [(1.0, state, 0.0, False)]) for action in every}
        table[state] = rows
    return table


def _paid(model: Model, name: str | None) -> list[float]:
    """Return what a step along each branch pays."""
    total = np.zeros(model.n_branches)
    if name is not None or model.rewards:
        reward = model.reward(name)
        if reward.state is not None:
            total += reward.state[model.choice_state][model.branch_choice]
        if reward.choice is not None:
            total += reward.choice[model.branch_choice]
        if reward.transition is not None:
            total += reward.transition
    found: list[float] = total.tolist()
    return found


def _checked(given: Any) -> list[dict[int, list[tuple[float, int, float, bool]]]]:
    """Return the table with plain numbers."""
    rows = dict(given) if isinstance(given, Mapping) else dict(enumerate(given))
    if not rows or sorted(rows) != list(range(len(rows))):
        raise BadModel(f"a table has a row for each of the states 0, 1, …; got {sorted(rows)[:5]}")
    found = []
    for state in range(len(rows)):
        row = rows[state]
        of_state: dict[int, list[tuple[float, int, float, bool]]] = {}
        for action, outcomes in row.items() if isinstance(row, Mapping) else enumerate(row):
            where = f"P[{state}][{action}]"
            try:
                kept = [(float(p), int(to), float(reward), bool(end)) for p, to, reward, end in outcomes]
            except (TypeError, ValueError) as error:
                raise BadModel(
                    f"{where} must be a list of (probability, next state, reward, terminated): {error}"
                ) from None
            lost = [to for _, to, _, _ in kept if not 0 <= to < len(rows)]
            if lost:
                raise BadModel(f"{where} leads to state {lost[0]}, which has no row; there are {len(rows)}")
            of_state[int(action)] = kept
        found.append(of_state)
    return found


def _start(env: Any, initial: Any, states: int) -> Any:
    """Return where an episode starts, as an array."""
    given = initial if initial is not None else getattr(env, "initial_state_distrib", None)
    if given is None:
        raise BadArgument("nothing says where an episode starts: give initial=, a state or {state: probability}")
    array = np.zeros(states)
    if isinstance(given, Mapping):
        for state, probability in given.items():
            array[_state(state, states)] += probability
    elif np.ndim(given) == 0:
        array[_state(given, states)] = 1.0
    else:
        array = np.asarray(given, np.float64)
    return array


def _state(state: Any, states: int) -> int:
    number = int(state)
    if not 0 <= number < states:
        raise BadModel(f"initial names state {state}, but the table has the states 0 to {states - 1}")
    return number


def _model(
    table: list[dict[int, list[tuple[float, int, float, bool]]]],
    start: Any,
    names: Sequence[str] | None,
    toy: str,
    env: Any,
) -> MDP:
    """Return the model of a checked table."""
    ended = {to for row in table for outcomes in row.values() for p, to, _, end in outcomes if end and p > 0}
    both = sorted(ended & _alive(table, np.flatnonzero(start).tolist()))
    copy = {state: len(table) + place for place, state in enumerate(both)}
    terminal = (ended - set(both)) | set(copy.values())
    count = len(table) + len(copy)
    rows = Rows(count, ["reward"])
    most = max((action for row in table for action in row), default=-1) + 1
    if names is not None and len(names) < most:
        raise BadModel(f"the table has the actions 0 to {most - 1}, but there are {len(names)} names")
    numbers: list[int] = []
    for state, row in enumerate(table):
        for action, outcomes in row.items() if state not in terminal else ():
            if outcomes:
                rows.choice(state, "", [(copy.get(to, to) if end else to, p, paid) for p, to, paid, end in outcomes])
                numbers.append(action)
    arrays = rows.arrays()
    arrays["choice_action"] = np.asarray(numbers, np.int32)
    arrays["action_names"] = tuple(names) if names is not None else tuple(f"a{n}" for n in range(most))
    origin = [*range(len(table)), *both]
    labels, valuations = _known(toy, env, origin)
    state_names = [f"s{n}" for n in range(len(table))] + [f"s{n} (ended)" for n in both] if both else None
    return MDP(
        **arrays,
        initial=np.concatenate([start, np.zeros(len(copy))]),
        state_names=state_names,
        labels={_TERMINAL: sorted(terminal), **labels},
        rewards={"reward": RewardModel(transition=rows.transition_rewards()["reward"])},
        state_valuations=valuations,
    )


def _alive(table: list[dict[int, list[tuple[float, int, float, bool]]]], start: list[int]) -> set[int]:
    """Return the states that an episode can be in and go on."""
    seen, waiting = set(start), list(start)
    while waiting:
        for outcomes in table[waiting.pop()].values():
            for probability, to, _, end in outcomes:
                if probability > 0 and not end and to not in seen:
                    seen.add(to)
                    waiting.append(to)
    return seen


# ── the three toys ──────────────────────────────────────────────────────────────────────────────────────────────────


def _known(toy: str, env: Any, origin: list[int]) -> tuple[dict[str, list[int]], Valuations | None]:
    """Return the labels and the values of the states of an environment that we know."""
    make: Callable[[Any, list[int]], tuple[dict[str, list[int]], Valuations]] | None = {
        "FrozenLakeEnv": _lake,
        "CliffWalkingEnv": _cliff,
        "TaxiEnv": _taxi,
    }.get(toy)
    return make(env, origin) if make is not None else ({}, None)


def _grid(shape: tuple[int, int], origin: list[int]) -> Valuations:
    """Return the rows and columns of cells that are numbered row by row."""
    rows, columns = (np.asarray(part) for part in np.divmod(origin, shape[1]))
    return Valuations.from_columns(
        {Variable("row", IntDomain(0, shape[0] - 1)): rows, Variable("column", IntDomain(0, shape[1] - 1)): columns}
    )


def _lake(env: Any, origin: list[int]) -> tuple[dict[str, list[int]], Valuations]:
    letters = [letter.decode() for letter in np.asarray(env.desc).ravel().tolist()]
    labels = {
        name: [place for place, cell in enumerate(origin) if letters[cell] == letter]
        for name, letter in (("start", "S"), ("hole", "H"), ("goal", "G"))
    }
    return labels, _grid(np.asarray(env.desc).shape, origin)


def _cliff(env: Any, origin: list[int]) -> tuple[dict[str, list[int]], Valuations]:
    cliff = np.asarray(env._cliff).ravel()
    last = int(np.prod(env.shape)) - 1
    labels = {
        "cliff": [place for place, cell in enumerate(origin) if cliff[cell]],
        "goal": [place for place, cell in enumerate(origin) if cell == last],
    }
    return labels, _grid(tuple(env.shape), origin)


def _taxi(env: Any, origin: list[int]) -> tuple[dict[str, list[int]], Valuations]:
    row, column, passenger, destination = zip(*(tuple(map(int, env.decode(state))) for state in origin), strict=True)
    colours = ("red", "green", "yellow", "blue")
    places = (*colours, "in the taxi")
    valuations = Valuations.from_columns(
        {
            Variable("row", IntDomain(0, 4)): np.array(row),
            Variable("column", IntDomain(0, 4)): np.array(column),
            Variable("passenger", CategoricalDomain(places)): [places[one] for one in passenger],
            Variable("destination", CategoricalDomain(colours)): [colours[one] for one in destination],
        }
    )
    return {"in the taxi": [place for place, one in enumerate(passenger) if one == 4]}, valuations
