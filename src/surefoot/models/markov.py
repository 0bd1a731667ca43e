"""The four kinds of models: Markov chains, MDPs, and the two of which only observations are seen, POMDPs and HMMs.

The arrays that all of them hold are described in `surefoot.models.model`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadModel
from surefoot.models._arrays import frozen, frozen_now
from surefoot.models._checks import check_observations, check_starts
from surefoot.models._names import Names, number_of
from surefoot.models.model import Model
from surefoot.models.spaces import Variable
from surefoot.models.valuations import Valuations

__all__ = ["HMM", "MDP", "POMDP", "MarkovChain", "Model", "ObservedModel"]


class MarkovChain(Model):
    """Hold a discrete-time Markov chain: at most one choice a state, with action 0, whose name is empty.

    For the arguments see `Model`; `choice_action` and `action_names` are left out.

    Example:
        >>> coin = MarkovChain(choice_start=[0, 1, 1, 1], branch_start=[0, 2], target=[1, 2], probability=[0.5, 0.5],
        ...                    initial=0, state_names=["toss", "heads", "tails"], labels={"done": ["heads", "tails"]})
        >>> targets, probabilities = coin.row("toss")
        >>> targets.tolist(), coin.states_with("done").tolist(), coin.labels_of("heads")
        ([1, 2], [1, 2], ('done',))
    """

    kind = "dtmc"


class MDP(Model):
    """Hold a Markov decision process. For the arguments see `Model`; `choice_action` is needed.

    Example:
        >>> from surefoot.models import RewardModel
        >>> mdp = MDP(choice_start=[0, 2, 2], choice_action=[0, 1], branch_start=[0, 1, 3], target=[0, 0, 1],
        ...           probability=[1.0, 0.25, 0.75], initial=0, action_names=["wait", "go"],
        ...           rewards={"cost": RewardModel(choice=[1.0, 2.0])})
        >>> mdp.available(0).tolist(), mdp.choice("s0", "go"), mdp.expected_reward("cost").tolist()
        ([0, 1], 1, [1.0, 2.0])
        >>> mdp.choice("s1", "go")
        Traceback (most recent call last):
        surefoot.errors.UnknownName: state 's1' does not offer the action 'go'; it has no choices
    """

    kind = "mdp"
    has_actions = True


class ObservedModel(Model):
    """Hold what a POMDP and an HMM have beyond a `Model`: what can be observed in each state.

    O observations; E entries, at least one a state:

    | array | shape, dtype | meaning |
    |---|---|---|
    | `observation_start` | (S + 1,) int64 | the entries of state s are `observation_start[s]` to `…[s + 1] - 1` |
    | `observation` | (E,) int32 | the number of an observation; each once in a state |
    | `observation_probability` | (E,) float64 | how likely it is in that state, in (0, 1]; sums to 1 (±1e-9) |

    Args:
        observation: (E,) int32; with nothing else given (S,): the observation of each state.
        observation_start: (S + 1,) int64; may be left out where each state has one observation.
        observation_probability: (E,) float64; may be left out where each state has one observation.
        observation_names: O texts, each once; None: `o0`, `o1`, …
        observation_valuations: the values of variables, one row an observation.
        arguments: those of `Model`.

    Raises:
        NotADistribution: observation probabilities that are none.
        BadModel: anything else that is wrong.

    Example:
        >>> issubclass(POMDP, ObservedModel) and issubclass(HMM, ObservedModel)
        True
    """

    has_observations = True
    _FIELDS = (
        *Model._FIELDS,
        "observation_start",
        "observation",
        "observation_probability",
        "observation_names",
        "observation_valuations",
    )

    observation_start: NDArray[np.int64]
    observation: NDArray[np.int32]
    observation_probability: NDArray[np.float64]
    observation_names: Names
    observation_valuations: Valuations | None

    def __init__(
        self,
        *,
        observation: Any,
        observation_start: Any = None,
        observation_probability: Any = None,
        observation_names: Sequence[str] | None = None,
        observation_valuations: Valuations | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        fields, states = self.__dict__, self.n_states
        entries = None if observation_start is not None else states
        fields["observation"] = frozen(observation, np.int32, "observation", (entries,))
        start = np.arange(states + 1) if observation_start is None else observation_start
        fields["observation_start"] = frozen(start, np.int64, "observation_start", (states + 1,))
        size = len(self.observation)
        if observation_probability is None:
            observation_probability = np.ones(size)
        fields["observation_probability"] = frozen(
            observation_probability, np.float64, "observation_probability", (size,)
        )
        check_starts(self.observation_start, size, "observation_start", "entries of observation")
        count = int(self.observation.max(initial=-1)) + 1 if observation_names is None else len(observation_names)
        fields["observation_names"] = Names(observation_names, count, "o", "observation")
        check_observations(self)
        if observation_valuations is not None and len(observation_valuations) != count:
            raise BadModel(
                f"observation_valuations has {len(observation_valuations)} rows; there are {count} observations"
            )
        fields["observation_valuations"] = observation_valuations

    @property
    def n_observations(self) -> int:
        """Return O, the number of observations."""
        return len(self.observation_names)

    @property
    def deterministic_observations(self) -> bool:
        """Say whether each state has exactly one observation."""
        return len(self.observation) == self.n_states

    def observation_number(self, name: object) -> int:
        """Return the number of an observation by its name, or by the value that it was built from.

        Raises:
            UnknownName: there is no such observation.
        """
        return self.observation_names.number(name)

    def observation_name(self, observation: int) -> str:
        """Return the name of an observation.

        Raises:
            UnknownName: there is no observation of that number.
        """
        return self.observation_names[number_of(observation, self.observation_names, "observation")]

    def observations_of(self, state: Hashable) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return what can be observed in a state: the observations, and their probabilities."""
        number = self.state_number(state)
        where = slice(int(self.observation_start[number]), int(self.observation_start[number + 1]))
        return self.observation[where], self.observation_probability[where]

    @property
    def observation_variables(self) -> tuple[Variable, ...]:
        """Return the variables that observations have values of."""
        return () if self.observation_valuations is None else self.observation_valuations.variables

    @property
    def observation_values(self) -> NDArray[np.int64]:
        """Return the codes of the values, (O, V) int64; see `Valuations`."""
        if self.observation_valuations is None:
            return frozen_now(np.zeros((self.n_observations, 0), dtype=np.int64))
        return self.observation_valuations.codes

    def observation_valuation(self, observation: Hashable) -> dict[str, Any]:
        """Return the values of the variables of an observation, by name; those without a value are left out."""
        number = number_of(observation, self.observation_names, "observation")
        return {} if self.observation_valuations is None else self.observation_valuations.row(number)

    def more_lines(self) -> list[str]:
        """Return what the summary says of observations."""
        how = "one a state" if self.deterministic_observations else "stochastic"
        lines = [f"observations: {self.n_observations}, {how}"]
        if self.observation_variables:
            lines.append("observation variables: " + ", ".join(one.name for one in self.observation_variables))
        return lines

    def more_attributes(self, state: int) -> dict[str, object]:
        """Return what the picture says of the observations of a state."""
        seen, odds = self.observations_of(state)
        if len(seen) == 1:
            return {"observation": self.observation_name(int(seen[0]))}
        return {f"observation {self.observation_name(int(one))}": float(p) for one, p in zip(seen, odds, strict=True)}


class POMDP(ObservedModel):
    """Hold a partially observable MDP. For the arguments see `Model` and `ObservedModel`.

    Source: Kaelbling, Littman, Cassandra 1998, section 3; here what is observed depends on the state alone.

    Example:
        >>> doors = POMDP(choice_start=[0, 1, 2], choice_action=[0, 0], branch_start=[0, 1, 2], target=[0, 1],
        ...               probability=[1.0, 1.0], initial={"left": 0.5, "right": 0.5}, state_names=["left", "right"],
        ...               observation=[0, 1, 0, 1], observation_start=[0, 2, 4],
        ...               observation_probability=[0.85, 0.15, 0.15, 0.85], observation_names=["left?", "right?"])
        >>> doors.deterministic_observations, doors.observations_of("right")[1].tolist()
        (False, [0.15, 0.85])
    """

    kind = "pomdp"
    has_actions = True


class HMM(ObservedModel):
    """Hold a hidden Markov model: a chain of which only observations are seen. See `Model` and `ObservedModel`.

    Source: Rabiner 1989, section II (A, B and pi).

    Example:
        >>> light = HMM(choice_start=[0, 1, 2], branch_start=[0, 1, 2], target=[1, 0], probability=[1.0, 1.0],
        ...             initial=0, observation=[0, 1], observation_names=["dark", "bright"])
        >>> light.deterministic_observations, light.observation_name(1)
        (True, 'bright')
    """

    kind = "hmm"
