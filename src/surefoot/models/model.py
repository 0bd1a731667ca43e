"""What all models have in common: finite, sparse, checked once when they are made, and never changed.

All kinds hold the same arrays. S states have C choices between them, and the choices have B branches between them:

| array | shape, dtype | meaning |
|---|---|---|
| `choice_start` | (S + 1,) int64 | the choices of state s are `choice_start[s]` to `choice_start[s + 1] - 1` |
| `choice_action` | (C,) int32 | the number of the action of each choice; each once in a state; 0 in chains and HMMs |
| `branch_start` | (C + 1,) int64 | the branches of choice c are `branch_start[c]` to `branch_start[c + 1] - 1` |
| `target` | (B,) int32 | the state that a branch leads to; each once in a choice, in any order |
| `probability` | (B,) float64 | how likely it is, in (0, 1]; sums to 1 (±1e-9) in each choice |
| `lower`, `upper` | (B,) float64 or None | interval models: what the probability may be; in [0, 1], `upper` > 0 |
| `initial` | (S,) float64 | how likely an episode starts in each state; sums to 1 (±1e-9) |

A state without choices is absorbing, and so is one where every branch leads back to it. In an interval model
`probability` is one distribution inside the intervals, the nominal one: what simulations draw from and pictures show.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadModel, UnknownName
from surefoot.models import drawing, draws
from surefoot.models._arrays import frozen, frozen_now, running_sum, same
from surefoot.models._checks import check_model, check_starts, row_sums
from surefoot.models._given import initial_of, key_of, label_of, nominal, reward_of
from surefoot.models._names import Names, nearest, number_of
from surefoot.models.rewards import RewardModel
from surefoot.models.spaces import Variable
from surefoot.models.valuations import Valuations

__all__ = ["Model"]


class Model:
    """Hold what all kinds of models have; make a `MarkovChain`, `MDP`, `POMDP` or `HMM`.

    Every argument is a keyword, and becomes a read-only attribute of the same name. Arrays that are read-only already
    are not copied.

    Args:
        choice_start: (S + 1,) int64, a running sum from 0 to C.
        choice_action: (C,) int32; may be left out in chains and HMMs.
        branch_start: (C + 1,) int64, a running sum from 0 to B; no choice is without branches.
        target: (B,) int32.
        probability: (B,) float64; may be left out in interval models, and is then computed: the same part of the way
            from `lower` to `upper` on each branch of a choice.
        lower: (B,) float64, or None where probabilities are exact.
        upper: (B,) float64, or None; given together with `lower`.
        initial: (S,) float64; or one state, by number or name; or {state: probability}.
        state_names: S texts, each once; None: `s0`, `s1`, …, which cost no memory.
        action_names: as many texts as there are actions, each once; None: `a0`, `a1`, …
        labels: {name: (S,) bool}, or {name: the states, by number or name}.
        rewards: {name: RewardModel}; or an array of one number a state, which is a reward on states.
        state_valuations: the values of variables, one row a state.

    Raises:
        NotADistribution: negative or NaN probabilities, rows or `initial` that do not sum to 1, intervals that hold no
            distribution. The message names state, action, value and mend.
        BadModel: anything else that is wrong: targets that are not there, names twice, shapes.

    Cost: linear; about 0.25 s and 90 MB for 1,000,000 states and 4,000,000 branches.

    Source: Puterman 1994, chapter 2 (finite S and A, stationary); Givan, Leach, Dean 2000 (bounded parameters).

    Example:
        >>> from surefoot.models import MarkovChain
        >>> chain = MarkovChain(choice_start=[0, 1, 1], branch_start=[0, 2], target=[0, 1], probability=[0.5, 0.5],
        ...                     initial=0, state_names=["wet", "dry"])
        >>> chain
        <MarkovChain: 2 states, 1 choice, 2 branches>
        >>> chain.state("dry"), chain.state_name(0), chain.absorbing.tolist()
        (1, 'wet', [False, True])
    """

    kind: ClassVar[str] = "model"
    has_actions: ClassVar[bool] = False
    has_observations: ClassVar[bool] = False
    _FIELDS: ClassVar[tuple[str, ...]] = (
        "choice_start",
        "choice_action",
        "branch_start",
        "target",
        "probability",
        "lower",
        "upper",
        "initial",
        "state_names",
        "action_names",
        "labels",
        "rewards",
        "state_valuations",
    )

    choice_start: NDArray[np.int64]
    choice_action: NDArray[np.int32]
    branch_start: NDArray[np.int64]
    target: NDArray[np.int32]
    probability: NDArray[np.float64]
    lower: NDArray[np.float64] | None
    upper: NDArray[np.float64] | None
    initial: NDArray[np.float64]
    state_names: Names
    action_names: Names
    labels: Mapping[str, NDArray[np.bool_]]
    rewards: Mapping[str, RewardModel]
    state_valuations: Valuations | None

    def __init__(
        self,
        *,
        choice_start: Any,
        branch_start: Any,
        target: Any,
        initial: Any,
        probability: Any = None,
        choice_action: Any = None,
        lower: Any = None,
        upper: Any = None,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
        labels: Mapping[str, Any] | None = None,
        rewards: Mapping[str, Any] | None = None,
        state_valuations: Valuations | None = None,
    ) -> None:
        if type(self).kind == "model":
            raise TypeError("Model is what the kinds have in common: make a MarkovChain, MDP, POMDP or HMM")
        fields = self.__dict__
        fields["choice_start"] = frozen(choice_start, np.int64, "choice_start")
        fields["branch_start"] = frozen(branch_start, np.int64, "branch_start")
        fields["target"] = frozen(target, np.int32, "target")
        states, choices, branches = self.n_states, self.n_choices, self.n_branches
        if states < 1:
            raise BadModel("a model needs at least one state; choice_start has one entry more than there are states")
        check_starts(self.choice_start, choices, "choice_start", "choices")
        check_starts(self.branch_start, branches, "branch_start", "branches")
        fields["state_names"] = Names(state_names, states, "s", "state")
        self._take_actions(choice_action, action_names)
        self._take_probabilities(probability, lower, upper)
        fields["initial"] = initial_of(self, initial)
        check_model(self)
        fields["labels"] = MappingProxyType(
            {key_of(name, "a label"): label_of(self, name, where) for name, where in (labels or {}).items()}
        )
        fields["rewards"] = MappingProxyType(
            {key_of(name, "a reward model"): reward_of(self, name, given) for name, given in (rewards or {}).items()}
        )
        if state_valuations is not None and len(state_valuations) != states:
            raise BadModel(f"state_valuations has {len(state_valuations)} rows; there are {states} states")
        fields["state_valuations"] = state_valuations

    def _take_actions(self, action: Any, names: Sequence[str] | None) -> None:
        """Set `choice_action` and `action_names`."""
        fields, choices = self.__dict__, self.n_choices
        if self.has_actions:
            if action is None:
                raise BadModel(f"choice_action is missing: {type(self).__name__} needs the action of each choice")
            fields["choice_action"] = frozen(action, np.int32, "choice_action", (choices,))
            count = int(self.choice_action.max(initial=-1)) + 1
            fields["action_names"] = Names(names, count if names is None else len(names), "a", "action")
            return
        many = np.diff(self.choice_start) > 1
        if many.any():
            state = int(np.argmax(many))
            raise BadModel(
                f"state {self.state_name(state)!r} has {self.choice_start[state + 1] - self.choice_start[state]} "
                f"choices; a {type(self).__name__} has at most one a state: make an MDP or POMDP"
            )
        if names is not None and tuple(names) != ("",):
            raise BadModel(f"a {type(self).__name__} has no actions to name: make an MDP or POMDP")
        fields["choice_action"] = frozen(
            np.zeros(choices, np.int32) if action is None else action, np.int32, "choice_action", (choices,)
        )
        fields["action_names"] = Names(("",), 1, "a", "action")

    def _take_probabilities(self, probability: Any, lower: Any, upper: Any) -> None:
        """Set `probability`, `lower` and `upper`."""
        fields, shape = self.__dict__, (self.n_branches,)
        if (lower is None) != (upper is None):
            raise BadModel("lower and upper belong together: give both, or neither")
        fields["lower"] = None if lower is None else frozen(lower, np.float64, "lower", shape)
        fields["upper"] = None if upper is None else frozen(upper, np.float64, "upper", shape)
        if probability is None:
            if self.lower is None or self.upper is None:
                raise BadModel("probability is missing; only an interval model (lower and upper) can do without")
            probability = nominal(self.branch_start, self.lower, self.upper)
        fields["probability"] = frozen(probability, np.float64, "probability", shape)

    # ── sizes, numbers and names ────────────────────────────────────────────────────────────────────────────────────

    @property
    def n_states(self) -> int:
        """Return S, the number of states."""
        return len(self.choice_start) - 1

    @property
    def n_choices(self) -> int:
        """Return C, the number of choices of all states."""
        return len(self.branch_start) - 1

    @property
    def n_branches(self) -> int:
        """Return B, the number of branches of all choices."""
        return len(self.target)

    @property
    def n_actions(self) -> int:
        """Return the number of different actions; 1 in chains and HMMs."""
        return len(self.action_names)

    @property
    def has_intervals(self) -> bool:
        """Say whether probabilities are intervals."""
        return self.lower is not None

    def state(self, name: object) -> int:
        """Return the number of a state by its name, or by the value that it was built from.

        Raises:
            UnknownName: there is no such state; the message names the nearest one.
        """
        return self.state_names.number(name)

    def action(self, name: object) -> int:
        """Return the number of an action by its name, or by the value that it was built from.

        Raises:
            UnknownName: there is no such action; the message names the nearest one.
        """
        return self.action_names.number(name)

    def state_name(self, state: int) -> str:
        """Return the name of a state.

        Raises:
            UnknownName: there is no state of that number.
        """
        return self.state_names[self.state_number(state)]

    def action_name(self, action: int) -> str:
        """Return the name of an action.

        Raises:
            UnknownName: there is no action of that number.
        """
        return self.action_names[number_of(action, self.action_names, "action")]

    def state_number(self, state: object) -> int:
        """Return the number of a state that is given by number or by name.

        Raises:
            UnknownName: there is no such state.
        """
        return number_of(state, self.state_names, "state")

    # ── rows ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def choices(self, state: Hashable) -> range:
        """Return the choices of a state, given by number or name."""
        number = self.state_number(state)
        return range(int(self.choice_start[number]), int(self.choice_start[number + 1]))

    def available(self, state: Hashable) -> NDArray[np.int32]:
        """Return the numbers of the actions that a state offers, in the order of its choices."""
        rows = self.choices(state)
        return self.choice_action[rows.start : rows.stop]

    def choice(self, state: Hashable, action: Hashable = 0) -> int:
        """Return the choice of an action in a state, both given by number or name.

        Raises:
            UnknownName: the state does not offer the action; the message says what it offers.
        """
        number = number_of(action, self.action_names, "action")
        rows = self.choices(state)
        for row in rows:
            if self.choice_action[row] == number:
                return row
        offered = [self.action_name(int(one)) for one in self.available(state)]
        raise UnknownName(
            f"state {self.state_name(self.state_number(state))!r} does not offer the action "
            f"{self.action_name(number)!r}; " + (f"it offers {offered}" if offered else "it has no choices")
        )

    def row(self, state: Hashable, action: Hashable = 0) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return where an action leads from a state: the targets, and their probabilities.

        Raises:
            UnknownName: the state does not offer the action.
        """
        choice = self.choice(state, action)
        where = slice(int(self.branch_start[choice]), int(self.branch_start[choice + 1]))
        return self.target[where], self.probability[where]

    @cached_property
    def choice_state(self) -> NDArray[np.int32]:
        """The state of each choice, (C,) int32; computed once, when it is first asked for."""
        return frozen_now(np.repeat(np.arange(self.n_states, dtype=np.int32), np.diff(self.choice_start)))

    @cached_property
    def branch_choice(self) -> NDArray[np.int32]:
        """The choice of each branch, (B,) int32; computed once, when it is first asked for."""
        return frozen_now(np.repeat(np.arange(self.n_choices, dtype=np.int32), np.diff(self.branch_start)))

    @cached_property
    def absorbing(self) -> NDArray[np.bool_]:
        """Whether a state is never left, (S,) bool: it has no choices, or all its branches lead back to it."""
        source = self.choice_state[self.branch_choice]
        left = np.zeros(self.n_states, dtype=bool)
        left[source[self.target != source]] = True
        return frozen_now(~left)

    @cached_property
    def cumulative(self) -> NDArray[np.float64]:
        """The running sums of `probability` in each choice, (B,) float64, for `surefoot.models.draws.pick`."""
        return draws.cumulative(self.branch_start, self.probability)

    @cached_property
    def action_table(self) -> NDArray[np.int32]:
        """The choice of each state and action, (S, A) int32; -1 where the state does not offer the action."""
        table = np.full((self.n_states, self.n_actions), -1, dtype=np.int32)
        table[self.choice_state, self.choice_action] = np.arange(self.n_choices, dtype=np.int32)
        return frozen_now(table)

    # ── labels, rewards, variables ──────────────────────────────────────────────────────────────────────────────────

    def states_with(self, label: str) -> NDArray[np.int64]:
        """Return the numbers of the states that have a label, rising.

        Raises:
            UnknownName: there is no such label.
        """
        if label not in self.labels:
            raise UnknownName(f"there is no label {label!r}: {nearest(str(label), self.labels)}")
        return np.flatnonzero(self.labels[label])

    @cached_property
    def _labels_of(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the labels of each state start, and the places of the labels."""
        where = [np.flatnonzero(mask) for mask in self.labels.values()]
        places = np.repeat(np.arange(len(where)), [len(states) for states in where])
        states = np.concatenate(where) if where else np.zeros(0, np.int64)
        order = np.argsort(states, kind="stable")
        return running_sum(np.bincount(states, minlength=self.n_states)), places[order]

    def labels_of(self, state: Hashable) -> tuple[str, ...]:
        """Return the labels of a state, in the order of `labels`; costs nothing for the labels that it has not."""
        number = self.state_number(state)
        start, places = self._labels_of
        return tuple(self._label_names[place] for place in places[start[number] : start[number + 1]])

    @cached_property
    def _label_names(self) -> list[str]:
        return list(self.labels)

    def reward(self, name: str | None = None) -> RewardModel:
        """Return the reward model of that name; without a name the only one there is.

        Raises:
            UnknownName: there is none of that name, or none at all.
            BadModel: no name was given and there are several.
        """
        if name is None and len(self.rewards) > 1:
            raise BadModel(f"there are multiple reward models, {list(self.rewards)}; say which one")
        wanted = next(iter(self.rewards), None) if name is None else name
        if wanted is None or wanted not in self.rewards:
            raise UnknownName(f"there is no reward model {wanted!r}: {nearest(str(wanted), self.rewards)}")
        return self.rewards[wanted]

    def expected_reward(self, name: str | None = None) -> NDArray[np.float64]:
        """Return what each choice pays on average, (C,) float64: state, choice and transition parts added up.

        In an interval model the transition part is averaged by the nominal probabilities.

        Raises:
            UnknownName: there is no such reward model.
        """
        given = self.reward(name)
        total = np.zeros(self.n_choices)
        if given.state is not None:
            total += given.state[self.choice_state]
        if given.choice is not None:
            total += given.choice
        if given.transition is not None:
            total += row_sums(self.branch_start, self.probability * given.transition)
        return total

    @property
    def state_variables(self) -> tuple[Variable, ...]:
        """Return the variables that states have values of."""
        return () if self.state_valuations is None else self.state_valuations.variables

    @property
    def state_values(self) -> NDArray[np.int64]:
        """Return the codes of the values, (S, V) int64; see `Valuations`."""
        if self.state_valuations is None:
            return frozen_now(np.zeros((self.n_states, 0), dtype=np.int64))
        return self.state_valuations.codes

    def valuation(self, state: Hashable) -> dict[str, Any]:
        """Return the values of the variables in a state, by name; those without a value are left out."""
        number = self.state_number(state)
        return {} if self.state_valuations is None else self.state_valuations.row(number)

    # ── other models ────────────────────────────────────────────────────────────────────────────────────────────────

    def replace(self, **changes: Any) -> Self:
        """Return a model with some arguments changed; all is checked again, and arrays that stay are shared.

        Raises:
            UnknownName: there is no such argument.
        """
        fields = {name: getattr(self, name) for name in self._FIELDS}
        for name in changes:
            if name not in fields:
                raise UnknownName(f"{type(self).__name__} has no {name!r}: {nearest(name, fields)}")
        return type(self)(**(fields | changes))

    def with_initial(self, initial: Any) -> Self:
        """Return the model with another initial state or distribution."""
        return self.replace(initial=initial)

    def with_labels(self, **labels: Any) -> Self:
        """Return the model with more labels, or others of the same names."""
        return self.replace(labels={**self.labels, **labels})

    def with_rewards(self, **rewards: Any) -> Self:
        """Return the model with more reward models, or others of the same names."""
        return self.replace(rewards={**self.rewards, **rewards})

    # ── looking at it ───────────────────────────────────────────────────────────────────────────────────────────────

    def summary(self) -> str:
        """Return a few lines of text: sizes, where it starts, and what it has; see `surefoot.models.drawing`."""
        return drawing.summary(self)

    def to_dot(self) -> str:
        """Return the model as Graphviz text; see `surefoot.models.drawing`."""
        return drawing.to_dot(self)

    def to_html(self, *, title: str | None = None, most: int = 8_000) -> str:
        """Return the model as one HTML page that needs no network; see `surefoot.drawing.to_html`."""
        return drawing.to_html(self, title=title, most=most)

    # ── equality, copies, files ─────────────────────────────────────────────────────────────────────────────────────

    def is_close(self, other: Model, tolerance: float = 1e-9) -> bool:
        """Say whether both are equal but for numbers that differ by at most `tolerance`."""
        if type(self) is not type(other):
            return False
        return all(_alike(getattr(self, name), getattr(other, name), tolerance) for name in self._FIELDS)

    def __eq__(self, other: object) -> bool:
        return self.is_close(other, 0.0) if isinstance(other, Model) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.n_states, self.n_choices, self.n_branches))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a model does not change: use replace({name}=...) to get another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a model does not change: {name!r} stays")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing in it can change

    def __getstate__(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self._FIELDS}
        return {name: dict(held) if isinstance(held, MappingProxyType) else held for name, held in plain.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, held in state.items():
            if isinstance(held, np.ndarray):
                held.setflags(write=False)
            elif isinstance(held, dict):
                for one in held.values():
                    if isinstance(one, np.ndarray):
                        one.setflags(write=False)
                held = MappingProxyType(held)
            self.__dict__[name] = held

    def more_lines(self) -> list[str]:
        """Return what a kind adds to the summary."""
        return []

    def more_attributes(self, state: int) -> dict[str, object]:
        """Return what a kind adds to the picture of a state."""
        return {}

    @property
    def sizes(self) -> str:
        """Return the sizes as text."""
        sizes = {"state": self.n_states, "choice": self.n_choices, "branch": self.n_branches}
        words = [f"{n} {word if n == 1 else word + ('es' if word == 'branch' else 's')}" for word, n in sizes.items()]
        return ", ".join(words) + (", intervals" if self.has_intervals else "")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sizes}>"


def _alike(one: Any, other: Any, tolerance: float) -> bool:
    """Say whether two fields are equal, numbers but for `tolerance`."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return same(one, other, tolerance)
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_alike(held, other[name], tolerance) for name, held in one.items())
    if isinstance(one, RewardModel):
        return one.is_close(other, tolerance)
    return bool(one == other)
