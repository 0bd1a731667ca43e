"""Any model as a world: a state is its name, and an action that a state does not offer is refused.

| question | answer |
|---|---|
| a state | the name of the state; of a POMDP or an HMM, where that is hidden, the name of what is observed |
| an action | its name; chains and HMMs have the one action `"step"` |
| the effect | the variables that changed, with their new values; without any `{"state": name}`; None if nothing did |
| the end | where nothing leads away, or where `terminal_label` holds; or never |
| a fault | none: a model does not break |
| `info` | `{"reward": …}`: what the step paid |

Of the seven shapes of a refusal it has the plainest, the flag. A refusal takes no time and draws no number, so it
leaves no trace. In a POMDP all actions are on offer that a state with this observation may offer; the hidden state may
still refuse one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument, NotStarted
from surefoot.models.draws import INITIAL, OBSERVATION, TRANSITION, cumulative, draw, fold_seed, stream
from surefoot.models.markov import Model, ObservedModel
from surefoot.protocols import Outcome, moved, refused
from surefoot.values import encode_state

__all__ = ["FromModel"]

_ONLY = "step"
"""The action of models that have none."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """Where an episode is."""

    episode: int
    step: int
    state: int
    observation: int
    done: bool


class FromModel:
    """Step a `MarkovChain`, `MDP`, `POMDP` or `HMM` as a world.

    `reset(seed=s)` starts episode 0 of that seed, and each `reset()` after it the next one. What happens is drawn
    at the addresses (seed, episode, step) of `surefoot.models.draws`, as `ModelEnv` and `simulate` do, so that the same
    seed and actions give the same episode everywhere. Of intervals the nominal probabilities are used.

    Args:
        model: the model.
        reward: which reward model `info["reward"]` tells; None: the only one, or 0 where there is none.
        termination: `"absorbing"`: an episode ends where nothing leads away; `"never"`: it does not end.
        terminal_label: a label whose states end an episode too; None: none does.
        seed: the seed of the first `reset()` that is given none.
        observed: whether only observations are seen; None: as the kind of the model is.

    Raises:
        BadArgument: an argument is outside its range.
        UnknownName: there is no such reward model or label.
        BadModel: there are several reward models and no name.

    Cost: about 15 µs a step; the running sums of the branches are computed once.

    Example:
        >>> from surefoot.models.examples import monty_hall
        >>> world = FromModel(monty_hall())
        >>> here = world.reset(seed=0)
        >>> here, world.actions(here)
        ('start', ['play'])
        >>> world.step("open").reason
        'not on offer'
        >>> world.step("play").effect
        {'phase': 'pick', 'car': 'middle'}
    """

    def __init__(
        self,
        model: Model,
        *,
        reward: str | None = None,
        termination: Literal["absorbing", "never"] = "absorbing",
        terminal_label: str | None = None,
        seed: int = 0,
        observed: bool | None = None,
    ) -> None:
        """Compute what steps need; `reset` starts an episode."""
        if not isinstance(model, Model):
            raise BadArgument(f"model must be a MarkovChain, MDP, POMDP or HMM, got {model!r}")
        if termination not in ("absorbing", "never"):
            raise BadArgument(f"termination must be 'absorbing' or 'never', got {termination!r}")
        if observed and not isinstance(model, ObservedModel):
            raise BadArgument(f"observed=True, but a {type(model).__name__} has no observations")
        self.model = model
        self._seen = isinstance(model, ObservedModel) if observed is None else bool(observed)
        self._ends = np.zeros(model.n_states, dtype=bool)
        if termination == "absorbing":
            self._ends |= model.absorbing
        if terminal_label is not None:
            self._ends[model.states_with(terminal_label)] = True
        self._paid = _paid(model, reward)
        self._sums = cumulative(model.branch_start, model.probability)
        self._starts = cumulative([0, model.n_states], model.initial)
        self._seed, self._episode = fold_seed(seed), 0
        self._stream = stream(self._seed, 0)
        self._now: _Moment | None = None

    @property
    def all_actions(self) -> list[str]:
        """Return the names of all actions of the model, in the order of their numbers."""
        return list(self.model.action_names) if self.model.has_actions else [_ONLY]

    @property
    def all_states(self) -> list[str]:
        """Return the names of all states that can be reported, in the order of their numbers."""
        return list(self._names)

    @property
    def _names(self) -> Sequence[str]:
        model = self.model
        return model.observation_names if self._seen and isinstance(model, ObservedModel) else model.state_names

    def reset(self, seed: int | None = None) -> str:
        """Start an episode and return its first state; the same seed gives the same episode.

        Raises:
            BadArgument: `seed` is no int >= 0.

        Example:
            >>> from surefoot.models.examples import die
            >>> FromModel(die()).reset(seed=3)
            'start'
        """
        if seed is not None:
            self._seed, self._episode = fold_seed(seed), 0
        episode, self._episode = self._episode, self._episode + 1
        self._stream = stream(self._seed, episode)
        state = bisect_right(self._starts, draw(*self._stream, 0, INITIAL))
        self._now = self._moment(episode, 0, int(state), done=False)
        return self._name(self._now)

    def actions(self, state: str) -> Sequence[str]:
        """Return the names of the actions on offer in `state`.

        Raises:
            UnknownName: there is no such state.

        Example:
            >>> from surefoot.models.examples import die
            >>> FromModel(die()).actions("one"), FromModel(die()).actions("odd")
            ([], ['step'])
        """
        encode_state(state)
        if self._seen:
            number = self.model.observation_number(state) if isinstance(self.model, ObservedModel) else 0
            return list(self._offers[number])
        return self._offered(self.model.state(state))

    def step(self, action: str) -> Outcome[str]:
        """Take an action, by its name.

        Raises:
            NotStarted: before `reset`, or after the episode was over.

        Example:
            >>> from surefoot.models.examples import die
            >>> world = FromModel(die())
            >>> _ = world.reset(seed=3)
            >>> world.step("step").info, world.step("jump").reason
            ({'reward': 1.0}, 'no such action')
        """
        now = self._now
        if now is None or now.done:
            when = "before reset()" if now is None else "after the episode was over"
            raise NotStarted(f"step({action!r}) {when}: call reset(seed=...) first")
        number = self._numbers.get(action) if isinstance(action, str) else None
        if number is None:
            return refused(self._name(now), "no such action")
        choice = self._choice(now.state, number)
        if choice is None:
            return refused(self._name(now), "not on offer")
        start = self.model.branch_start
        low, high = int(start[choice]), int(start[choice + 1])
        branch = bisect_right(self._sums, draw(*self._stream, now.step, TRANSITION), low, high - 1)
        target = int(self.model.target[branch])
        then = self._moment(now.episode, now.step + 1, target, done=bool(self._ends[target]))
        self._now = then
        reward = float(self._paid[branch])
        return moved(self._name(then), effect=self._effect(now, then), done=then.done, info={"reward": reward})

    def save_state(self) -> tuple[int, int, int, int, int, bool, int]:
        """Return a token for `restore_state`: seed, episode, step, state, observation, end, and the next episode.

        Raises:
            NotStarted: before `reset`.
        """
        now = self._now
        if now is None:
            raise NotStarted("save_state() before reset(): call reset(seed=...) first")
        return self._seed, now.episode, now.step, now.state, now.observation, now.done, self._episode

    def restore_state(self, token: tuple[int, int, int, int, int, bool, int]) -> str:
        """Go back to where `save_state` gave `token`, and return the state there.

        Raises:
            BadArgument: it is no such token.
        """
        try:
            seed, episode, step, state, observation, done, upcoming = token
            self.model.state_number(state)
        except (TypeError, ValueError) as error:
            raise BadArgument(f"{token!r} is no token of save_state(): {error}") from None
        self._seed, self._episode = seed, upcoming
        self._stream = stream(seed, episode)
        self._now = _Moment(episode, step, state, observation, done)
        return self._name(self._now)

    def describe(self, state: str) -> dict[str, Any]:
        """Return what the model says about a state: its labels and the values of its variables.

        Raises:
            UnknownName: there is no such state.

        Example:
            >>> from surefoot.models.examples import die
            >>> FromModel(die()).describe("two")
            {'title': 'two', 'labels': ['done', 'two'], 'values': {'face': 2}}
        """
        model = self.model
        if self._seen and isinstance(model, ObservedModel):
            return {"title": state, "values": model.observation_valuation(model.observation_number(state))}
        number = model.state(state)
        return {"title": state, "labels": list(model.labels_of(number)), "values": model.valuation(number)}

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.all_actions)}

    @cached_property
    def _offers(self) -> list[list[str]]:
        """What is on offer for each observation: what one of its states offers."""
        model = self.model
        assert isinstance(model, ObservedModel)
        found: list[dict[int, None]] = [{} for _ in model.observation_names]
        for state in range(model.n_states):
            if not self._ends[state]:
                for one in model.observations_of(state)[0].tolist():
                    found[one].update(dict.fromkeys(model.available(state).tolist()))
        return [[self.all_actions[number] for number in sorted(numbers)] for numbers in found]

    def _offered(self, state: int) -> list[str]:
        """Return the names of what a state offers."""
        if self._ends[state]:
            return []
        names = self.model.action_names
        return [names[number] if self.model.has_actions else _ONLY for number in self.model.available(state).tolist()]

    def _choice(self, state: int, action: int) -> int | None:
        """Return the choice of an action in a state, None if it is not on offer."""
        model = self.model
        first, last = int(model.choice_start[state]), int(model.choice_start[state + 1])
        for choice in range(first, last):
            if model.choice_action[choice] == action:
                return choice
        return None

    def _moment(self, episode: int, step: int, state: int, *, done: bool) -> _Moment:
        """Return where the episode is, with what is observed there."""
        observation = state
        model = self.model
        if self._seen and isinstance(model, ObservedModel):
            seen, chances = model.observations_of(state)
            place = 0
            if len(seen) > 1:
                sums = cumulative([0, len(seen)], chances)
                place = bisect_right(sums, draw(*self._stream, step, OBSERVATION))
            observation = int(seen[place])
        return _Moment(episode, step, state, observation, done)

    def _name(self, moment: _Moment) -> str:
        return self._names[moment.observation]

    def _effect(self, before: _Moment, after: _Moment) -> dict[str, Any] | None:
        """Return what changed, as far as it is seen."""
        if before.observation == after.observation:
            return None
        model = self.model
        if self._seen and isinstance(model, ObservedModel):
            key = "observation"
            old, new = (model.observation_valuation(moment.observation) for moment in (before, after))
        else:
            key = "state"
            old, new = (model.valuation(moment.state) for moment in (before, after))
        absent = object()
        changed = {name: value for name, value in new.items() if not _same(old.get(name, absent), value)}
        changed |= {name: None for name in old if name not in new}
        return changed or {key: self._name(after)}


def _same(one: Any, other: Any) -> bool:
    """Say whether two values are equal and of one type, so that 1 and True are not."""
    return type(one) is type(other) and bool(one == other)


def _paid(model: Model, name: str | None) -> NDArray[np.float64]:
    """Return what a step along each branch pays."""
    total = np.zeros(model.n_branches)
    if name is None and not model.rewards:
        return total
    reward = model.reward(name)
    if reward.state is not None:
        total += reward.state[model.choice_state][model.branch_choice]
    if reward.choice is not None:
        total += reward.choice[model.branch_choice]
    if reward.transition is not None:
        total += reward.transition
    return total
