"""Models put together one piece at a time, and models from plain dicts."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadModel, UnknownName
from surefoot.models._arrays import frozen_now, running_sum
from surefoot.models._names import name_of, nearest
from surefoot.models.markov import HMM, MDP, POMDP, MarkovChain, Model
from surefoot.models.rewards import RewardModel
from surefoot.models.spaces import Variable
from surefoot.models.valuations import Valuations

__all__ = ["ModelBuilder", "from_dicts"]

Built = MarkovChain | MDP | POMDP | HMM
K = TypeVar("K", bound=Model)


class ModelBuilder(Generic[K]):
    """Collect states, choices, rewards and labels in any order, and make a model of them.

    States, actions and observations are any values with a name: a text is its own name, anything else is named by its
    repr. They get their numbers in the order in which they are first mentioned.

    Args:
        kind: the class of the model: `MarkovChain`, `MDP`, `POMDP` or `HMM`.
        variables: the variables of states, with their domains; None: those that occur, without domains.
        observation_variables: the variables of observations, in the same way.

    Cost: about 3 µs a branch. `surefoot.models.matrices.from_arrays` is a hundred times faster.

    Example:
        >>> builder = ModelBuilder(MDP)
        >>> builder.add_state("idle", labels=["safe"]).add_choice("idle", "work", {"done": 0.9, "idle": 0.1}, reward=-1)
        <ModelBuilder: MDP, 2 states, 1 choice>
        >>> builder.build(initial="idle").summary().splitlines()[0]
        'MDP: 2 states, 1 choice, 2 branches'
    """

    def __init__(
        self,
        kind: type[K],
        *,
        variables: Sequence[Variable | str] | None = None,
        observation_variables: Sequence[Variable | str] | None = None,
    ) -> None:
        if kind not in (MarkovChain, MDP, POMDP, HMM):
            raise BadModel(f"kind must be MarkovChain, MDP, POMDP or HMM, got {kind!r}")
        self.kind = kind
        self._variables, self._observation_variables = variables, observation_variables
        self._states: dict[str, int] = {}
        self._actions: dict[str, int] = {}
        self._observations: dict[str, int] = {}
        self._rows: dict[tuple[int, int], dict[int, tuple[float, float]]] = {}
        self._intervals = False
        self._labels: dict[str, set[int]] = {}
        self._rewards: dict[str, tuple[dict[Any, float], dict[Any, float], dict[Any, float]]] = {}
        self._values: dict[int, dict[str, Any]] = {}
        self._observed: dict[int, dict[int, float]] = {}
        self._observation_values: dict[int, dict[str, Any]] = {}

    def add_state(
        self,
        state: Hashable,
        *,
        labels: Iterable[str] = (),
        reward: float | Mapping[str, float] | None = None,
        valuation: Mapping[str, Any] | None = None,
        observation: Any = None,
    ) -> ModelBuilder[K]:
        """Add a state, or say more about one that was mentioned before; return the builder.

        Args:
            state: the state.
            labels: names of what holds in it.
            reward: what each step that leaves it pays; a number, or {name of the reward model: number}.
            valuation: the values of variables in it.
            observation: what is observed in it: one observation, or {observation: probability}.

        Raises:
            BadModel: an observation for a kind that has none, or a text where a collection of labels is wanted.

        Example:
            >>> ModelBuilder(HMM).add_state("rain", observation={"umbrella": 0.9, "none": 0.1})
            <ModelBuilder: HMM, 1 state, 0 choices>
        """
        if isinstance(labels, str):
            raise BadModel(f"labels of state {state!r} must be a collection of names, got {labels!r}; use [{labels!r}]")
        if observation is not None and not self.kind.has_observations:
            raise BadModel(f"a {self.kind.__name__} has no observations: make a POMDP or HMM")
        paid = _by_name(reward)
        number = self._number(state)
        for label in labels:
            self._labels.setdefault(label, set()).add(number)
        for name, value in paid.items():
            self._reward_of(name)[0][number] = value
        if valuation is not None:
            self._values.setdefault(number, {}).update(valuation)
        if observation is not None:
            self._observe(number, observation)
        return self

    def add_choice(
        self,
        state: Hashable,
        action: Hashable,
        targets: Any,
        *,
        reward: float | Mapping[str, float] | None = None,
        transition_reward: Mapping[Any, float] | Mapping[str, Mapping[Any, float]] | None = None,
    ) -> ModelBuilder[K]:
        """Add what an action does in a state; return the builder.

        Args:
            state: the state; added if it is new.
            action: the action; anything in chains and HMMs, where it is not kept.
            targets: {target: probability}, or pairs (probability, target), or one target that is a text. In an interval
                model a probability is a pair (lower, upper). Equal targets are added up; those with 0 are left out.
            reward: what taking the choice pays; a number, or {name of the reward model: number}.
            transition_reward: {target: what arriving there pays}, or {name: {target: number}}.

        Raises:
            BadModel: the state has that choice already (or, in a chain, any), or a probability is no number.
            UnknownName: a transition reward for a state that is no target.

        Example:
            >>> ModelBuilder(MDP).add_choice("a", "try", {"b": (0.2, 0.4), "a": (0.6, 0.8)}, transition_reward={"b": 5})
            <ModelBuilder: MDP, 2 states, 1 choice>
        """
        act = name_of(action) if self.kind.has_actions else ""
        row: dict[str, tuple[float, float]] = {}
        intervals = False
        for probability, target in _pairs(targets, f"action {action!r} in state {state!r}"):
            low, high = _ends(probability, state, target)
            intervals |= isinstance(probability, tuple | list)
            if high or low:
                before = row.get(name_of(target), (0.0, 0.0))
                row[name_of(target)] = (before[0] + low, before[1] + high)
        paid, on_the_way = _by_name(reward), _by_name(transition_reward, nested=True)
        for table in on_the_way.values():
            for target, value in table.items():
                if name_of(target) not in row or not isinstance(value, float | int):
                    raise UnknownName(f"action {action!r} in state {state!r} does not lead to {target!r} for {value!r}")
        if self._has(state, act):
            what = f"the action {action!r} already" if self.kind.has_actions else "a distribution already"
            raise BadModel(f"state {state!r} has {what}; give all its targets at once")
        key = (self._number(state), self._actions.setdefault(act, len(self._actions)))
        self._rows[key] = {self._number(target): ends for target, ends in row.items()}
        self._intervals |= intervals
        for name, one in paid.items():
            self._reward_of(name)[1][key] = one
        for name, table in on_the_way.items():
            for target, value in table.items():
                self._reward_of(name)[2][(*key, self._number(target))] = float(value)
        return self

    def add_observation(self, observation: Hashable, *, valuation: Mapping[str, Any] | None = None) -> ModelBuilder[K]:
        """Add an observation, or the values of variables in it; return the builder.

        Example:
            >>> ModelBuilder(POMDP).add_observation("beep", valuation={"loud": True})
            <ModelBuilder: POMDP, 0 states, 0 choices>
        """
        number = self._observations.setdefault(name_of(observation), len(self._observations))
        if valuation is not None:
            self._observation_values.setdefault(number, {}).update(valuation)
        return self

    def build(self, initial: Any) -> K:
        """Return the model of all that was added; the builder can go on.

        Args:
            initial: the state to start in, or {state: probability}.

        Raises:
            BadModel: what was added is no model; the message says why.

        Cost: linear.

        Example:
            >>> ModelBuilder(MarkovChain).add_choice("a", None, {"b": 0.5, "a": 0.5}).build(initial="a")
            <MarkovChain: 2 states, 1 choice, 2 branches>
        """
        names = list(self._states)
        order = sorted(self._rows, key=lambda key: key[0])  # stable: choices stay in the order in which they were added
        choices: list[int] = [0] * len(names)
        lower, upper, target = array("d"), array("d"), array("i")
        for key in order:
            choices[key[0]] += 1
            for to, (low, high) in self._rows[key].items():
                target.append(to)
                lower.append(low)
                upper.append(high)
        fields: dict[str, Any] = {
            "choice_start": running_sum(choices),
            "choice_action": np.array([action for _, action in order], dtype=np.int32),
            "branch_start": running_sum([len(self._rows[key]) for key in order]),
            "target": np.array(target, dtype=np.int32),
            "initial": self._initial(initial),
            "state_names": names,
            "labels": {name: self._mask(states) for name, states in self._labels.items()},
            "rewards": {name: self._rewards_of(parts, order) for name, parts in self._rewards.items()},
        }
        if self._intervals:
            fields |= {"lower": np.array(lower), "upper": np.array(upper)}
        else:
            fields["probability"] = np.array(lower)
        if self.kind.has_actions:
            fields["action_names"] = list(self._actions)
        if self._values or self._variables is not None:
            rows = [self._values.get(number, {}) for number in range(len(names))]
            fields["state_valuations"] = Valuations.from_rows(
                self._variables, rows, owner=lambda i: f"state {names[i]!r}"
            )
        if self.kind.has_observations:
            fields |= self._observation_fields(names)
        return self.kind(**fields)

    def _number(self, state: Hashable) -> int:
        return self._states.setdefault(name_of(state), len(self._states))

    def _reward_of(self, name: str) -> tuple[dict[Any, float], dict[Any, float], dict[Any, float]]:
        return self._rewards.setdefault(name, ({}, {}, {}))

    def _has(self, state: Hashable, act: str) -> bool:
        """Say whether a state has a choice of that action."""
        return (self._states.get(name_of(state)), self._actions.get(act)) in self._rows

    def _observe(self, number: int, observation: Any) -> None:
        given = observation if isinstance(observation, Mapping) else {observation: 1.0}
        row = self._observed[number] = {}
        for one, probability in given.items():
            place = self._observations.setdefault(name_of(one), len(self._observations))
            if probability:
                row[place] = row.get(place, 0.0) + float(probability)

    def _observation_fields(self, names: list[str]) -> dict[str, Any]:
        missing = next((name for number, name in enumerate(names) if number not in self._observed), None)
        if missing is not None:
            raise BadModel(f"state {missing!r} has no observation; use add_state({missing!r}, observation=...)")
        rows = [self._observed[number] for number in range(len(names))]
        fields: dict[str, Any] = {
            "observation_start": running_sum([len(row) for row in rows]),
            "observation": np.array([place for row in rows for place in row], dtype=np.int32),
            "observation_probability": np.array([p for row in rows for p in row.values()], dtype=np.float64),
            "observation_names": list(self._observations),
        }
        if self._observation_values or self._observation_variables is not None:
            seen = list(self._observations)
            held = [self._observation_values.get(number, {}) for number in range(len(seen))]
            fields["observation_valuations"] = Valuations.from_rows(
                self._observation_variables, held, owner=lambda i: f"observation {seen[i]!r}"
            )
        return fields

    def _initial(self, initial: Any) -> Any:
        given = initial if isinstance(initial, Mapping) else {initial: 1.0}
        values = np.zeros(len(self._states))
        for state, probability in given.items():
            name = name_of(state)
            if name not in self._states:
                raise UnknownName(f"there is no state {name!r} to start in: {nearest(name, self._states)}")
            values[self._states[name]] += probability
        return frozen_now(values)

    def _mask(self, states: set[int]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self._states), dtype=bool)
        mask[list(states)] = True
        return frozen_now(mask)

    def _rewards_of(
        self, parts: tuple[dict[Any, float], dict[Any, float], dict[Any, float]], order: list[tuple[int, int]]
    ) -> RewardModel:
        state, choice, transition = parts
        return RewardModel(
            [state.get(number, 0.0) for number in range(len(self._states))] if state else None,
            [choice.get(key, 0.0) for key in order] if choice else None,
            [transition.get((*key, to), 0.0) for key in order for to in self._rows[key]] if transition else None,
        )

    def __repr__(self) -> str:
        states, rows = len(self._states), len(self._rows)
        return (
            f"<ModelBuilder: {self.kind.__name__}, {states} state{'s' * (states != 1)}, "
            f"{rows} choice{'s' * (rows != 1)}>"
        )


def from_dicts(
    transitions: Mapping[Any, Any],
    *,
    initial: Any,
    labels: Mapping[str, Iterable[Any]] | None = None,
    rewards: Mapping[str, Mapping[Any, Any]] | None = None,
    observations: Mapping[Any, Any] | None = None,
    valuations: Mapping[Any, Mapping[str, Any]] | None = None,
    variables: Sequence[Variable | str] | None = None,
    observation_valuations: Mapping[Any, Mapping[str, Any]] | None = None,
    observation_variables: Sequence[Variable | str] | None = None,
) -> Built:
    """Return the model that plain dicts describe.

    The numbers of states follow the keys of `transitions`, then the targets that have no key (they are absorbing).

    Args:
        transitions: `{state: {action: {target: probability}}}` for an MDP, `{state: {target: probability}}` for a
            chain; a probability may be a pair (lower, upper); a state with `{}` is absorbing. In an MDP a target that
            is certain may be given alone, if it is a text.
        initial: the state to start in, or {state: probability}.
        labels: {label: the states that have it}.
        rewards: {name: {state: number}}; or {name: parts}, where parts is a dict with any of the keys `"state"`:
            {state: number}, `"choice"`: {(state, action): number}, `"transition"`: {(state, action, target): number}.
            In a chain keys of choices are states, those of transitions are (state, target).
        observations: {state: observation, or {observation: probability}}; makes a POMDP or an HMM.
        valuations: {state: {variable: value}}.
        variables: the variables with their domains; None: those that occur, without domains.
        observation_valuations: {observation: {variable: value}}.
        observation_variables: as `variables`, for observations.

    Returns:
        A `MarkovChain`, `MDP`, `POMDP` or `HMM`.

    Raises:
        BadModel: the dicts are no model; the message names the state and the mend.
        UnknownName: labels, rewards, observations or valuations for states that are not there.

    Cost: about 3 µs a branch.

    Example:
        >>> model = from_dicts({"sun": {"sun": 0.9, "rain": 0.1}, "rain": {"sun": 0.5, "rain": 0.5}}, initial="sun")
        >>> model, model.row("sun")[1].tolist()
        (<MarkovChain: 2 states, 2 choices, 4 branches>, [0.9, 0.1])
        >>> from_dicts({"bed": {"sleep": {"bed": 1.0}, "rise": "desk"}}, initial="bed", rewards={"fun": {"bed": 1.0}})
        <MDP: 2 states, 2 choices, 2 branches>
    """
    decides = any(_is_choice(held) for row in transitions.values() for held in _values_of(row))
    kinds: dict[tuple[bool, bool], Any] = {
        (False, False): MarkovChain,
        (True, False): MDP,
        (True, True): POMDP,
        (False, True): HMM,
    }
    builder: ModelBuilder[Any] = ModelBuilder(
        kinds[decides, observations is not None], variables=variables, observation_variables=observation_variables
    )
    for state in transitions:
        builder.add_state(state)
    for state, row in transitions.items():
        if decides:
            for action, targets in row.items():
                builder.add_choice(state, action, targets)
        elif row:
            builder.add_choice(state, None, row)
    known = builder._states
    for label, states in (labels or {}).items():
        for state in _known(states, known, f"label {label!r}"):
            builder.add_state(state, labels=[label])
    for state in _known(observations or {}, known, "observations"):
        builder.add_state(state, observation=(observations or {})[state])
    for state in _known(valuations or {}, known, "valuations"):
        builder.add_state(state, valuation=(valuations or {})[state])
    for observation, row in (observation_valuations or {}).items():
        builder.add_observation(observation, valuation=row)
    for name, given in (rewards or {}).items():
        _add_rewards(builder, name, given)
    built: Built = builder.build(initial)
    return built


_PARTS = {"state", "choice", "transition"}


def _add_rewards(builder: ModelBuilder[Any], name: str, given: Mapping[Any, Any]) -> None:
    """Add one reward model of `from_dicts`."""
    parts = given if given and all(isinstance(held, Mapping) for held in given.values()) else {"state": given}
    if not parts.keys() <= _PARTS:
        raise UnknownName(f"reward model {name!r} has the parts {list(parts)}; there are state, choice and transition")
    state, choice, transition = builder._reward_of(name)
    known, actions, decides = builder._states, builder._actions, builder.kind.has_actions
    for one in _known(parts.get("state", {}), known, f"reward model {name!r}"):
        state[known[name_of(one)]] = float(parts["state"][one])
    for part, table, length in (("choice", choice, 1 + decides), ("transition", transition, 2 + decides)):
        for key, value in parts.get(part, {}).items():
            path = key if length > 1 else (key,)
            numbers = []
            if isinstance(path, tuple) and len(path) == length:
                names = [name_of(one) for one in path]
                numbers = [known.get(names[0]), actions.get(names[1]) if decides else 0]
                numbers += [known.get(names[-1])] if part == "transition" else []
            row = builder._rows.get((numbers[0], numbers[1])) if numbers else None  # type: ignore[arg-type]  # None: no row
            if row is None or (part == "transition" and numbers[2] not in row):
                raise UnknownName(f"reward model {name!r} has a number for the {part} {key!r}, which is not there")
            table[tuple(numbers)] = float(value)


def _known(given: Iterable[Any], known: Mapping[str, int], what: str) -> list[Any]:
    """Return the states that were given, or refuse one that is not there."""
    if isinstance(given, str):
        raise BadModel(f"{what} must hold a collection of states, got the text {given!r}; use [{given!r}]")
    states = list(given)
    for state in states:
        if name_of(state) not in known:
            raise UnknownName(f"{what} names the state {state!r}, which is not there: {nearest(name_of(state), known)}")
    return states


def _values_of(row: Any) -> Iterable[Any]:
    if not isinstance(row, Mapping):
        raise BadModel(f"each state needs a dict, of actions or of targets, got {row!r}; {{}} if it is absorbing")
    return row.values()


def _is_choice(held: Any) -> bool:
    """Say whether what stands beside a key makes that key an action (else it is a target)."""
    if isinstance(held, Mapping | str):
        return True
    return isinstance(held, list | tuple) and bool(held) and isinstance(held[0], list | tuple)


def _pairs(targets: Any, what: str) -> Iterable[tuple[Any, Any]]:
    """Return (probability, target) pairs of what was given as targets."""
    if isinstance(targets, Mapping):
        return [(probability, target) for target, probability in targets.items()]
    if isinstance(targets, str):
        return [(1.0, targets)]
    if not isinstance(targets, Iterable):
        raise BadModel(f"{what} has the targets {targets!r}: {{target: probability}} is wanted")
    pairs = list(targets)
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise BadModel(f"{what} has {pair!r} among its targets: pairs (probability, target) are wanted")
    return pairs


def _ends(probability: Any, state: object, target: object) -> tuple[float, float]:
    """Return the ends of a probability; they are equal where it is no interval."""
    try:
        low, high = probability if isinstance(probability, tuple | list) else (probability, probability)
        return float(low), float(high)
    except (TypeError, ValueError):
        raise BadModel(
            f"state {state!r} leads to {target!r} with {probability!r}: "
            f"a probability or a pair (lower, upper) is wanted"
        ) from None


def _by_name(given: Any, nested: bool = False) -> dict[str, Any]:
    """Return rewards by the name of their model; without a name it is `reward`."""
    if given is None:
        return {}
    if not nested:
        return (
            {name: float(one) for name, one in given.items()}
            if isinstance(given, Mapping)
            else {"reward": float(given)}
        )
    named = bool(given) and all(isinstance(held, Mapping) for held in given.values())
    return dict(given) if named else {"reward": given}
