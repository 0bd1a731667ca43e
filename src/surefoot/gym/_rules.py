"""What a step of a model is, prepared once: where each branch leads, what it pays, where an episode ends, what is seen.

`ModelEnv` and `ModelVectorEnv` both step by these arrays, so they cannot differ in the rules.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, cast, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from surefoot.errors import BadArgument, BadModel, UnknownName
from surefoot.models import draws
from surefoot.models.markov import ObservedModel
from surefoot.models.model import Model
from surefoot.models.rewards import RewardModel
from surefoot.models.spaces import Domain
from surefoot.models.valuations import MISSING

__all__ = [
    "ObsType",
    "OnUnavailable",
    "Rules",
    "TerminalReward",
    "Termination",
    "checked_max_steps",
    "checked_options",
    "checked_reward",
    "choice_named",
    "one_of",
    "state_asked_for",
]

ObsType = Literal["index", "valuations"]
Termination = Literal["absorbing", "label", "never"]
TerminalReward = Literal["none", "collect"]
OnUnavailable = Literal["raise", "stay", "terminate"]

_KINDS = "MarkovChain, MDP, POMDP, HMM; or a stormvogel model of the type MDP, DTMC, POMDP, or HMM"
_FOREIGN = {"DTMC", "MDP", "POMDP", "HMM"}


def one_of(name: str, given: object, allowed: object) -> Any:
    """Return `given` if the literal type `allowed` has it.

    Raises:
        BadArgument: it has not; the message names the nearest value.
    """
    values = [str(value) for value in get_args(allowed)]
    if isinstance(given, str) and given in values:
        return given
    alike = difflib.get_close_matches(str(given), values, n=1, cutoff=0.5)
    hint = f"did you mean {alike[0]!r}?" if alike else f"it is one of {', '.join(map(repr, values))}"
    raise BadArgument(f"{name} is {given!r}: {hint}")


def _taken(model: object) -> tuple[Model, list[Any] | None]:
    """Return a model of ours, and the states of the model that it was made from, if those are to be shown."""
    if isinstance(model, Model):
        return model, None
    if type(model).__module__.partition(".")[0] == "stormvogel":
        kind = getattr(getattr(model, "model_type", None), "name", type(model).__name__)
        if kind not in _FOREIGN:
            raise BadArgument(f"model is a stormvogel model of the type {kind}; accepted are {_KINDS}")
        converter = import_module("surefoot.models.exchange.stormvogel")
        return converter.from_stormvogel(model), list(cast(Any, model).states)
    raise BadArgument(f"model is a {type(model).__name__}; accepted are {_KINDS}")


def state_asked_for(rules: Rules, given: object) -> int:
    """Return the number of a state that was given by number, name, view or as the state of a foreign model."""
    if rules.own_states is not None and not isinstance(given, int | np.integer | str):
        for number, state in enumerate(rules.own_states):
            if state is given:
                return number
    return rules.model.state_number(getattr(given, "number", given))


class Rules:
    """Hold the arrays by which a model is stepped.

    Args:
        model: one of ours, or one of stormvogel's.
        reward_model_name: which reward is paid; None: the only one, or none where there is none.
        obs_type: what is observed: the number of the state (or observation), or the values of its variables.
        termination: where an episode ends; None: at the label if there is one, else in absorbing states.
        terminal_label: the label that ends an episode, or several.
        terminal_reward: whether arriving where an episode ends also pays the reward on that state.

    Raises:
        BadArgument: a name or a combination that does not exist.
        BadModel: several reward models and no name, or a value that is missing.
        UnknownName: no such reward model or label.
    """

    def __init__(
        self,
        model: object,
        reward_model_name: str | None,
        obs_type: str,
        termination: str | None,
        terminal_label: str | Sequence[str] | None,
        terminal_reward: str,
    ) -> None:
        self.model, self.own_states = _taken(model)
        self.obs_type: ObsType = one_of("obs_type", obs_type, ObsType)
        self.terminal_reward: TerminalReward = one_of("terminal_reward", terminal_reward, TerminalReward)
        self.reward_model, self.reward_model_name = self._chosen_reward(reward_model_name)
        self.ends = self._where_it_ends(termination, terminal_label)
        self.hidden = isinstance(self.model, ObservedModel)
        self.codes: NDArray[np.int64] | None = None
        self.variables: tuple[tuple[str, Domain], ...] = ()
        if self.obs_type == "valuations":
            self.codes, self.variables = self._encoded()

    def _chosen_reward(self, name: str | None) -> tuple[RewardModel | None, str | None]:
        """Return the reward model that is paid, and its name."""
        rewards = self.model.rewards
        if name is None and not rewards:
            return None, None
        if name is not None and not isinstance(name, str):
            raise BadArgument(f"reward_model_name must be text or None, got {name!r}")
        chosen = self.model.reward(name)
        return chosen, name if name is not None else next(iter(rewards))

    def _where_it_ends(self, termination: str | None, label: str | Sequence[str] | None) -> NDArray[np.bool_]:
        """Return the states in which an episode ends, (S,) bool."""
        names = () if label is None else (label,) if isinstance(label, str) else tuple(label)
        how = (
            ("label" if names else "absorbing")
            if termination is None
            else one_of("termination", termination, Termination)
        )
        self.termination, self.terminal_labels = how, names
        if how == "label" and not names:
            raise BadArgument("termination='label' needs terminal_label: say which label ends an episode")
        if how == "never" and names:
            raise BadArgument(f"termination='never' and terminal_label={label!r} contradict each other: leave one out")
        ends = np.zeros(self.model.n_states, dtype=bool)
        if how == "absorbing":
            ends |= self.model.absorbing
        for name in names:
            ends[self.model.states_with(name)] = True
        return ends

    # ── actions, branches, rewards ──────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """Return the running sums of each choice, (B,) float64; the last of each is 1."""
        return draws.cumulative(self.model.branch_start, self.model.probability)

    @cached_property
    def start_states(self) -> NDArray[np.int64]:
        """Return the states that an episode may start in, rising."""
        return np.flatnonzero(self.model.initial > 0)

    @cached_property
    def start_sums(self) -> NDArray[np.float64]:
        """Return the running sums of the initial distribution over `start_states`."""
        support = self.model.initial[self.start_states]
        return draws.cumulative([0, len(support)], support)

    def rewards_of(self, choice: int) -> NDArray[np.float64]:
        """Return what each branch of a choice pays."""
        low, high = int(self.model.branch_start[choice]), int(self.model.branch_start[choice + 1])
        source, targets = int(self.model.choice_state[choice]), self.model.target[low:high]
        total, given = np.zeros(high - low), self.reward_model
        if given is None:
            return total
        if given.state is not None:
            total += given.state[source]
        if given.choice is not None:
            total += given.choice[choice]
        if given.transition is not None:
            total += given.transition[low:high]
        if given.state is not None and self.terminal_reward == "collect":
            total += np.where(self.ends[targets] & (targets != source), given.state[targets], 0.0)
        return total

    def reward_of_staying(self, state: int) -> float:
        """Return what a step in a state without choices pays: the reward on the state, as a loop would."""
        given = self.reward_model
        return 0.0 if given is None or given.state is None else float(given.state[state])

    @cached_property
    def rewards(self) -> NDArray[np.float64] | None:
        """Return what each branch pays, (B,) float64; None where all pay 0. The parts are added as in `rewards_of`."""
        given, model = self.reward_model, self.model
        if given is None or (given.state is None and given.choice is None and given.transition is None):
            return None
        source = model.choice_state[model.branch_choice]
        total = np.zeros(model.n_branches)
        if given.state is not None:
            total += given.state[source]
        if given.choice is not None:
            total += given.choice[model.branch_choice]
        if given.transition is not None:
            total += given.transition
        if given.state is not None and self.terminal_reward == "collect":
            arrives = self.ends[model.target] & (model.target != source)
            total[arrives] += given.state[model.target[arrives]]
        return total

    def mask_of(self, state: int) -> NDArray[np.int8]:
        """Return which actions a state takes, (A,) int8: those that it offers, or all where it offers none."""
        offered = self.model.available(state)
        mask = np.zeros(self.model.n_actions, dtype=np.int8)
        mask[offered if len(offered) else slice(None)] = 1
        return mask

    # ── observations ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def random_observations(self) -> bool:
        """Say whether some state has several observations."""
        return isinstance(self.model, ObservedModel) and not self.model.deterministic_observations

    @cached_property
    def observed(self) -> NDArray[np.int64]:
        """Return the number that is observed in each state, (S,) int64, where that is certain; else the first."""
        if isinstance(self.model, ObservedModel):
            return self.model.observation[self.model.observation_start[:-1]].astype(np.int64)
        return np.arange(self.model.n_states, dtype=np.int64)

    @cached_property
    def observation_sums(self) -> NDArray[np.float64]:
        """Return the running sums of the observations of each state, (E,) float64."""
        model = cast(ObservedModel, self.model)
        return draws.cumulative(model.observation_start, model.observation_probability)

    def _encoded(self) -> tuple[NDArray[np.int64], tuple[tuple[str, Domain], ...]]:
        """Return the codes of the variables that have a domain, and those variables, both in the order of names."""
        what = "observation" if isinstance(self.model, ObservedModel) else "state"
        held = (
            self.model.observation_valuations if isinstance(self.model, ObservedModel) else self.model.state_valuations
        )
        chosen = sorted(
            (variable.name, place, variable.domain)
            for place, variable in enumerate(held.variables if held is not None else ())
            if variable.domain is not None
        )
        if held is None or not chosen:
            raise BadModel(
                f"obs_type='valuations' needs {what} variables with a domain, and the model has none; "
                f"give its variables domains, or use obs_type='index'"
            )
        codes = np.ascontiguousarray(held.codes[:, [place for _, place, _ in chosen]])
        if (codes == MISSING).any():
            row, column = (int(place[0]) for place in np.nonzero(codes == MISSING))
            name = cast(ObservedModel, self.model).observation_name if what == "observation" else self.model.state_name
            raise BadModel(
                f"{what} {name(row)!r} has no value for variable {chosen[column][0]!r}; give it one, "
                f"or None in a domain with allow_none=True"
            )
        return codes, tuple((name, domain) for name, _, domain in chosen)

    def observation_space(self) -> spaces.Space[Any]:
        """Return the space of one observation."""
        if self.obs_type == "valuations":
            return spaces.Dict({name: spaces.Discrete(domain.size) for name, domain in self.variables})
        hidden = self.model.n_observations if isinstance(self.model, ObservedModel) else None
        return spaces.Discrete(self.model.n_states if hidden is None else hidden)

    def action_space(self) -> spaces.Discrete:
        """Return the space of one action."""
        return spaces.Discrete(self.model.n_actions)


def checked_options(options: Mapping[str, Any] | None, known: Sequence[str]) -> Mapping[str, Any]:
    """Return the options of a reset.

    Raises:
        BadArgument: an option that does not exist.
    """
    given = options or {}
    for name in given:
        if name not in known:
            alike = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
            hint = f"did you mean {alike[0]!r}?" if alike else f"there are {', '.join(map(repr, known))}"
            raise BadArgument(f"reset has no option {name!r}: {hint}")
    return given


def choice_named(model: Model, state: int, action: int) -> str:
    """Return the end of a message about an action that a state does not offer."""
    offered = [f"{int(one)} ({model.action_name(int(one))!r})" for one in model.available(state)]
    try:
        asked = f"action {action} ({model.action_name(action)!r})"
    except (IndexError, UnknownName):
        asked = f"action {action}"
    return f"{asked} is not available in state {model.state_name(state)!r}; it offers {', '.join(offered)}"


def checked_reward(reward: float) -> float:
    """Return a finite number.

    Raises:
        BadArgument: it is none.
    """
    if isinstance(reward, bool) or not isinstance(reward, int | float | np.number) or not np.isfinite(reward):
        raise BadArgument(f"unavailable_reward must be a finite number, got {reward!r}")
    return float(reward)


def checked_max_steps(steps: int | None) -> int | None:
    """Return a number of steps.

    Raises:
        BadArgument: it is none.
    """
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1):
        raise BadArgument(f"max_steps must be a whole number >= 1 or None, got {steps!r}")
    return None if steps is None else int(steps)
