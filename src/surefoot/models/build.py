"""Models from functions: say where an action leads, and all that can be reached is explored."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadModel
from surefoot.models._arrays import frozen_now, running_sum
from surefoot.models._exploring import Explorer, Reward, pairs_of
from surefoot.models._merging import Rows
from surefoot.models._names import Names, name_of
from surefoot.models._numbering import show
from surefoot.models._progress import Report, reporting
from surefoot.models.markov import HMM, MDP, POMDP, MarkovChain
from surefoot.models.rewards import RewardModel
from surefoot.models.spaces import Variable
from surefoot.models.valuations import Valuations

__all__ = ["build"]

Step = Callable[..., Any]
RewardFunction = Callable[..., float]


class _Options(TypedDict, total=False):
    reward: RewardFunction | Mapping[str, RewardFunction] | None
    labels: Callable[[Any], Iterable[str] | str | None] | None
    valuation: Callable[[Any], Mapping[str, Any]] | None
    variables: Sequence[Variable | str] | None
    observation_valuation: Callable[[Any], Mapping[str, Any]] | None
    observation_variables: Sequence[Variable | str] | None
    name: Callable[[Any], str] | None
    limit: int | None
    progress: bool | Report | None


@overload
def build(
    initial: Any, actions: None = None, step: Step | None = None, *, observe: None = None, **options: Unpack[_Options]
) -> MarkovChain: ...
@overload
def build(
    initial: Any,
    actions: Callable[[Any], Any],
    step: Step | None = None,
    *,
    observe: None = None,
    **options: Unpack[_Options],
) -> MDP: ...
@overload
def build(
    initial: Any,
    actions: Callable[[Any], Any],
    step: Step | None = None,
    *,
    observe: Callable[[Any], Any],
    **options: Unpack[_Options],
) -> POMDP: ...
@overload
def build(
    initial: Any,
    actions: None = None,
    step: Step | None = None,
    *,
    observe: Callable[[Any], Any],
    **options: Unpack[_Options],
) -> HMM: ...
def build(
    initial: Any,
    actions: Callable[[Any], Any] | None = None,
    step: Step | None = None,
    *,
    reward: RewardFunction | Mapping[str, RewardFunction] | None = None,
    labels: Callable[[Any], Iterable[str] | str | None] | None = None,
    valuation: Callable[[Any], Mapping[str, Any]] | None = None,
    variables: Sequence[Variable | str] | None = None,
    observe: Callable[[Any], Any] | None = None,
    observation_valuation: Callable[[Any], Mapping[str, Any]] | None = None,
    observation_variables: Sequence[Variable | str] | None = None,
    name: Callable[[Any], str] | None = None,
    limit: int | None = None,
    progress: bool | Report | None = None,
) -> MarkovChain | MDP | POMDP | HMM:
    """Return the model of all that can be reached from the initial states, explored breadth-first.

    States get their numbers in the order in which they are found, actions and observations in the order of their first
    use. A state is any hashable value; 1, True and 1.0 are different states. Its name is the text itself, or its repr.

    Args:
        initial: a state, or {state: probability}.
        actions: the actions of a state, [] where it is absorbing; None: a chain.
        step: where an action leads, as pairs (probability, state) or {state: probability}. Equal states are added up,
            a probability of 0 is left out, and a pair (lower, upper) makes an interval model. Called with
            (state, action); in a chain with (state), and [] there means that the state is absorbing.
        reward: what a step pays; (state), (state, action) or (state, action, next state), by how many arguments it
            needs, and in a chain (state) or (state, next state). A mapping {name: function} makes several reward
            models; a function alone makes one, called `reward`.
        labels: the names of what holds in a state: a list, one text, or None.
        valuation: {variable: value} of a state.
        variables: the variables and their domains; None: those that occur, without domains.
        observe: what is observed in a state: one observation, or {observation: probability}; makes a POMDP or an HMM.
        observation_valuation: {variable: value} of an observation.
        observation_variables: as `variables`, for observations.
        name: the name of a state, where its repr will not do.
        limit: how many states are allowed; None: any number.
        progress: True shows a bar; a function is called with (states done, states found); None shows a bar where
            standard error is a terminal and the search takes more than two seconds; False shows none.

    Returns:
        A `MarkovChain`, `MDP`, `HMM` (chain with `observe`) or `POMDP` (`actions` and `observe`).

    Raises:
        NotADistribution: probabilities that do not sum to 1, negative or NaN ones.
        BadModel: a function returned something else than it should, changed the state that it was given, a state
            cannot be hashed, two states have one name, or there are more states than `limit`.
        Exception: what a function raised, with a note that says for which state.

    Cost: about 1.5 µs for each state, 0.3 µs for each choice and 0.7 µs for each branch, beside the time spent in the
        functions; a state that can change costs a copy, since it is checked afterwards.

    Example:
        >>> model = build((0, 0), lambda s: [] if s == (2, 1) else ["right", "up"],
        ...               lambda s, a: [(0.9, (min(s[0] + (a == "right"), 2), min(s[1] + (a == "up"), 1))), (0.1, s)],
        ...               reward=lambda s, a: -1.0, labels=lambda s: ["goal"] if s == (2, 1) else [])
        >>> model, model.state((2, 1)), model.states_with("goal").tolist()
        (<MDP: 6 states, 10 choices, 17 branches>, 5, [5])
    """
    if step is None:
        raise BadModel("build needs step=: a function that says where an action leads")
    given = reward if isinstance(reward, Mapping) else {} if reward is None else {"reward": reward}
    rewards = [Reward(title, function, actions is not None) for title, function in given.items()]
    kept = _Kept(labels, valuation, observe)
    explorer = Explorer(step, actions, rewards, kept.each, limit)
    start = initial if isinstance(initial, Mapping) else {initial: 1.0} if _hashable(initial) else {}
    odds = {explorer.numbering.number(state): probability for state, probability in start.items()}
    if not start:
        raise BadModel("initial is an empty mapping: give at least one state to start in")
    with reporting(progress, "exploring") as report:
        explorer.run(report)
    states = explorer.states
    fields = _arrays(explorer, odds, rewards)
    kinds = set(map(type, states))
    different = kinds == {int} or (kinds == {tuple} and explorer.numbering.worded)  # and so are their reprs
    if name is None and different:
        fields["state_names"] = Names.of(states, "s", "state")
    else:
        fields["state_names"] = _names(states, name)
    fields["labels"] = {label: _mask(found, len(states)) for label, found in kept.labels.items()}
    if valuation is not None:
        fields["state_valuations"] = Valuations.from_rows(
            variables, kept.values, owner=lambda i: f"state {show(states[i])}"
        )
    if actions is not None:
        fields["action_names"] = list(explorer.action_numbers)
    if observe is None:
        return MarkovChain(**fields) if actions is None else MDP(**fields)
    seen = list(kept.observations.values())
    fields |= {
        "observation_start": running_sum(kept.observed),
        "observation": np.array(kept.observation, dtype=np.int32),
        "observation_probability": np.array(kept.odds, dtype=np.float64),
        "observation_names": list(kept.observations),
    }
    if observation_valuation is not None:
        fields["observation_valuations"] = Valuations.from_rows(
            observation_variables,
            [observation_valuation(one) for one in seen],
            owner=lambda i: f"observation {show(seen[i])}",
        )
    return HMM(**fields) if actions is None else POMDP(**fields)


class _Kept:
    """Keep labels, valuations and observations of the states, in the order in which they have their turn."""

    def __init__(
        self,
        labels: Callable[[Any], Iterable[str] | str | None] | None,
        valuation: Callable[[Any], Mapping[str, Any]] | None,
        observe: Callable[[Any], Any] | None,
    ) -> None:
        self._label, self._value, self._observe = labels, valuation, observe
        self._turn = 0
        self.labels: dict[str, array[int]] = {}
        self.values: list[Mapping[str, Any]] = []
        self.observations: dict[str, Any] = {}
        self._numbers: dict[str, int] = {}
        self.observed, self.observation, self.odds = array("i"), array("i"), array("d")
        self.each: list[tuple[str, Callable[[Iterator[Any]], None]]] = []
        if labels is not None:
            self.each.append(("labels", self._add_labels))
        if valuation is not None:
            self.each.append(("valuation", self._add_values))
        if observe is not None:
            self.each.append(("observe", self._add_observations))

    def _add_labels(self, states: Iterator[Any]) -> None:
        label_of = self._label
        assert label_of is not None
        turn = self._turn - 1
        for turn, state in enumerate(states, self._turn):
            found = label_of(state)
            if found:
                for label in (found,) if isinstance(found, str) else found:
                    self.labels.setdefault(label, array("i")).append(turn)
        self._turn = turn + 1

    def _add_values(self, states: Iterator[Any]) -> None:
        assert self._value is not None
        for state in states:
            found = self._value(state)
            if not isinstance(found, Mapping):
                raise BadModel(f"valuation({show(state)}) is {show(found)}: a dict {{variable: value}} is wanted")
            self.values.append(dict(found))

    def _add_observations(self, states: Iterator[Any]) -> None:
        assert self._observe is not None
        for state in states:
            self._add_observation(state, self._observe(state))

    def _add_observation(self, state: Any, found: Any) -> None:
        pairs = [(1.0, found)]
        if isinstance(found, Mapping | list):
            pairs = pairs_of(found, lambda: f"observe({show(state)})")
        row: dict[int, float] = {}
        for probability, one in pairs:
            title = name_of(one)
            number = self._numbers.setdefault(title, len(self._numbers))
            self.observations.setdefault(title, one)
            if probability:
                row[number] = row.get(number, 0.0) + probability
        self.observed.append(len(row))
        self.observation.extend(row)
        self.odds.extend(row.values())


def _arrays(explorer: Explorer, odds: Mapping[int, float], rewards: list[Reward]) -> dict[str, Any]:
    """Return the arrays of what was explored."""
    initial = np.zeros(len(explorer.states))
    for number, probability in odds.items():
        initial[number] += probability
    rows = Rows.of(explorer.branches, explorer.target)
    fields: dict[str, Any] = {
        "choice_start": running_sum(explorer.choices),
        "choice_action": _own(explorer.action, np.int32),
        "branch_start": rows.start,
        "target": rows.target,
        "initial": frozen_now(initial),
        "rewards": {},
    }
    if explorer.upper is None:
        fields["probability"] = rows.summed(explorer.lower)
    else:
        fields |= {"lower": rows.summed(explorer.lower), "upper": rows.summed(explorer.upper)}
    for one in rewards:
        numbers = rows.first(one.numbers) if one.part == "transition" else _own(one.numbers, np.float64)
        fields["rewards"][one.name] = RewardModel(**{one.part: numbers})
    return fields


def _own(numbers: Any, dtype: Any) -> NDArray[Any]:
    return frozen_now(np.array(numbers, dtype=dtype))


def _mask(found: Iterable[int], count: int) -> NDArray[np.bool_]:
    mask = np.zeros(count, dtype=bool)
    mask[np.fromiter(found, np.int64)] = True
    return frozen_now(mask)


def _hashable(state: Any) -> bool:
    """Refuse an initial state that cannot be one."""
    try:
        hash(state)
    except TypeError:
        raise BadModel(
            f"initial is {show(state)}, a {type(state).__name__} that cannot be hashed: use a tuple, or "
            f"{{state: probability}}"
        ) from None
    return True


def _names(states: list[Any], name: Callable[[Any], str] | None) -> list[str]:
    """Return the names of the states, or say which two are named alike."""
    names = [name_of(state) for state in states] if name is None else [name(state) for state in states]
    nowhere = [] if name is not None or set(map(type, states)) <= {str, int} else [" at 0x" in one for one in names]
    if any(nowhere):
        raise BadModel(
            f"state {names[nowhere.index(True)]} is named by where it is in memory, which is another name in each "
            f"run: give its class a __repr__, or build(..., name=...)"
        )
    if len(set(names)) < len(names):
        first: dict[str, Any] = {}
        for state, title in zip(states, names, strict=True):
            if title in first:
                raise BadModel(
                    f"the states {show(first[title])} and {show(state)} have one name, {title!r}: give names of their "
                    f"own with build(..., name=...)"
                )
            first[title] = state
    return names
