"""One environment over a model, in plain Python: the contract of Gymnasium, seeds that hold, masks, small infos."""

from __future__ import annotations

import copy
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from surefoot.errors import ActionUnavailableError, BadArgument, NotStarted
from surefoot.gym._feed import Feed
from surefoot.gym._picture import as_image, as_text
from surefoot.gym._rules import (
    ObsType,
    OnUnavailable,
    Rules,
    TerminalReward,
    Termination,
    checked_max_steps,
    checked_options,
    checked_reward,
    choice_named,
    one_of,
    state_asked_for,
)
from surefoot.models.draws import OBSERVATION, uniform

__all__ = ["ModelEnv", "StateView"]

Step = tuple[Any, float, bool, bool, dict[str, Any]]
Table = dict[int, dict[int, list[tuple[float, int, float, bool]]]]
_NEVER = 1 << 62
_MOST_IN_P = 1_000_000
_MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class StateView:
    """Hold what `info["state"]` says of a state: a few plain values, which pickle to about 200 bytes.

    Args:
        number: the number of the state in the model.
        name: its name.
        labels: its labels, in the order of the model.
        values: (name, value) of its variables, in the order of the model.

    Example:
        >>> view = StateView(3, "s3", ("goal",), (("x", 1),))
        >>> view.number, view.name, view.has_label("goal"), view.valuation
        (3, 's3', True, {'x': 1})
    """

    number: int
    name: str
    labels: tuple[str, ...] = ()
    values: tuple[tuple[str, Any], ...] = ()

    @property
    def valuation(self) -> dict[str, Any]:
        """Return the values of the variables by name."""
        return dict(self.values)

    def has_label(self, label: str) -> bool:
        """Say whether the state has a label."""
        return label in self.labels

    def __int__(self) -> int:
        return self.number


class _Place:
    """What is known of a state that was visited: built once, shared by all steps that lead there."""

    __slots__ = ("ends", "labels", "mask", "number", "observation", "options", "view")

    number: int
    observation: Any
    ends: bool
    view: Any
    labels: tuple[str, ...]
    mask: NDArray[np.int8]
    options: _Options | None


_Option = tuple[Any, ...]
"""What one action of a state may do: (n, n - 1 running sums, n places, n rewards), in one block of memory."""
_Options = tuple[_Option | None, ...]
_NO_OPTIONS: _Options = ()


def _dry() -> float:
    """Hand out no number: the episode has none drawn yet."""
    raise StopIteration


class ModelEnv(gymnasium.Env[Any, Any]):
    """Step a `MarkovChain`, `MDP`, `POMDP` or `HMM` as a Gymnasium environment.

    States, actions and observations have the numbers of the model. The action space is `Discrete(A)`; chains and HMMs
    have one action. A step from state s by choice c along branch b pays `state[s] + choice[c] + transition[b]` of the
    reward model. A state without choices takes any action and stays where it is. In an interval model the nominal
    probabilities are stepped by.

    All numbers are drawn at addresses (seed, episode, step), see `surefoot.models.draws`: `reset(seed=7)` and the same
    actions give the same episodes, here, in `SyncVectorEnv` and in `ModelVectorEnv`. Without `seed`, `reset` goes on to
    the next episode of the same seed.

    `info` holds `state` (a `StateView`, or the state object of a stormvogel model), `labels` (a list) and `action_mask`
    ((A,) int8). Of a POMDP and an HMM `state` and `labels` are hidden.

    Args:
        model: one of our models, or one of stormvogel's of these kinds, which is converted once.
        reward_model_name: the reward that is paid; None: the only one, or 0 for ever where there is none.
        obs_type: "index": the number of the state (of the observation in POMDPs and HMMs). "valuations": a dict with
            the code of each variable that has a domain, by name.
        termination: "absorbing": an episode ends where nothing leads away; "label": where `terminal_label` holds;
            "never". None: "label" if there is a `terminal_label`, else "absorbing". "absorbing" and a label: either.
        terminal_label: a label, or several, that end an episode.
        terminal_reward: "none": the reward on a state is paid when it is left, so never for the one that an episode
            ends in; "collect": arriving there from another state pays it as well.
        on_unavailable: what an action does that the state does not offer. "raise": `ActionUnavailableError` and nothing
            else; "stay": the step takes place, in the same state; "terminate": it ends the episode there.
        unavailable_reward: what such a step pays.
        max_steps: after how many steps an episode is truncated; None: never.
        show_state: whether `info` has `state` and `labels`; None: yes, unless the state is hidden (POMDP, HMM).
        render_mode: "ansi", "rgb_array" or None.

    Raises:
        BadArgument: a wrong argument, named with the nearest right one.
        BadModel: several reward models and no name; no variable with a domain; a value that is missing in some state.
        UnknownName: no such reward model or label.

    Cost: about 1 µs a step. Each state costs some 10 µs when it is first visited, and what is kept of it about 1 kB.

    Example:
        >>> from surefoot.models import MDP
        >>> mdp = MDP(choice_start=[0, 2, 2], choice_action=[0, 1], branch_start=[0, 1, 3], target=[0, 0, 1],
        ...           probability=[1.0, 0.25, 0.75], initial=0, action_names=["wait", "go"], labels={"goal": [1]},
        ...           rewards={"cost": [-1.0, 10.0]})
        >>> env = ModelEnv(mdp, terminal_reward="collect")
        >>> observation, info = env.reset(seed=0)
        >>> observation, info["action_mask"].tolist(), info["state"].name
        (0, [1, 1], 's0')
        >>> observation, reward, terminated, truncated, info = env.step(mdp.action("go"))
        >>> observation, reward, terminated, info["labels"]
        (1, 9.0, True, ['goal'])
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}

    def __init__(
        self,
        model: Any,
        reward_model_name: str | None = None,
        obs_type: ObsType = "index",
        *,
        termination: Termination | None = None,
        terminal_label: str | Sequence[str] | None = None,
        terminal_reward: TerminalReward = "none",
        on_unavailable: OnUnavailable = "raise",
        unavailable_reward: float = 0.0,
        max_steps: int | None = None,
        show_state: bool | None = None,
        render_mode: str | None = None,
    ) -> None:
        rules = Rules(model, reward_model_name, obs_type, termination, terminal_label, terminal_reward)
        self._given = (model, reward_model_name, obs_type, termination, terminal_label, terminal_reward)
        self.model, self.obs_type = rules.model, rules.obs_type
        self.reward_model_name = rules.reward_model_name
        self.on_unavailable: OnUnavailable = one_of("on_unavailable", on_unavailable, OnUnavailable)
        self.unavailable_reward = checked_reward(unavailable_reward)
        self.max_steps = checked_max_steps(max_steps)
        self._limit = _NEVER if max_steps is None else int(max_steps)
        self.show_state = (not rules.hidden) if show_state is None else bool(show_state)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise BadArgument(f"render_mode is {render_mode!r}: it is one of 'ansi', 'rgb_array' or None")
        self.render_mode = render_mode
        self.action_space = rules.action_space()
        self.observation_space = rules.observation_space()
        self._rules = rules
        self._forget()

    def _forget(self) -> None:
        """Go back to before the first reset."""
        rules = self._rules
        few = len(rules.start_states) <= _MOST_LISTED  # a list is faster, an array smaller
        self._starts: Any = rules.start_states.tolist() if few else rules.start_states
        self._start_sums: Any = rules.start_sums.tolist() if few else rules.start_sums
        self._places: list[_Place | None] = [None] * rules.model.n_states
        self._masks: dict[bytes, NDArray[np.int8]] = {}  # many states share a few
        self._plain = rules.obs_type == "index" and not rules.random_observations
        self._feed: Feed | None = None
        self._place: _Place | None = None
        self._options = _NO_OPTIONS
        self._next: Callable[[], float] = _dry
        self._steps = 0
        self._seen: int | None = None
        self._ready = False  # whether a step may be taken

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode and return (observation, info).

        Args:
            seed: a whole number >= 0: this is episode 0 of that seed. None: the next episode of the seed before; the
                first time, of a seed from `np_random_seed`.
            options: {"state": the state to start in, by number, name or view}.

        Raises:
            BadArgument: an option that does not exist.
            UnknownName: no such state.
        """
        start: int | None = None
        if options and (given := checked_options(options, ("state",))).get("state") is not None:
            start = state_asked_for(self._rules, given["state"])
        if seed is not None:
            super().reset(seed=seed)
            self._feed = Feed(int(seed))
        elif self._feed is None:
            known = self.np_random_seed
            fresh = known if known is not None and known >= 0 else int(self.np_random.integers(1 << 63))
            self._feed = Feed(fresh)
        first, self._next = self._feed.begin(self._feed.episode + 1)
        if start is None:
            start = int(self._starts[bisect_right(self._start_sums, first)])
        self._steps = 0
        self._go_to(start)
        place = self._place
        assert place is not None  # `_go_to` has set it
        return self._observe(place), self._info(place)

    def step(self, action: Any) -> Step:
        """Take one step and return (observation, reward, terminated, truncated, info).

        Args:
            action: the number of an action: an int or a NumPy integer.

        Raises:
            ActionUnavailableError: the action does not exist, or the state does not offer it and `on_unavailable` is
                "raise".
            NotStarted: before `reset`, or after the episode was over.
            BadArgument: the action is no whole number.
        """
        if type(action) is not int:
            action = _whole(action)
        try:
            option = self._options[action]
        except IndexError:
            option = None
        if option is None or action < 0:
            return self._refuse(action)
        try:
            number = self._next()
        except StopIteration:
            number = self._draw_more()
        size = option[0]
        at = bisect_right(option, number, 1, size) + size - 1  # the last sum is 1, so it is left out
        self._place = place = option[at]
        self._steps = steps = self._steps + 1
        truncated = steps >= self._limit
        if place.ends or truncated:
            self._options, self._ready = _NO_OPTIONS, False
        else:
            self._options = place.options or self._expand(place)
        if self.show_state:
            info = {"state": place.view, "labels": [*place.labels], "action_mask": place.mask.copy()}
        else:
            info = {"action_mask": place.mask.copy()}
        observation = place.observation if self._plain else self._observe(place)
        return observation, option[at + size], place.ends, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions the current state takes, (A,) bool; MaskablePPO of sb3-contrib asks for it.

        Raises:
            NotStarted: before `reset`.
        """
        return self._here().mask.astype(bool)

    def render(self) -> Any:
        """Return the current state and what it offers: text, or an (H, W, 3) uint8 picture; None without render_mode.

        Raises:
            NotStarted: before `reset`.
        """
        if self.render_mode is None:
            return None
        place = self._here()
        seen = self._shown_observation() if self._rules.hidden else None
        draw = as_text if self.render_mode == "ansi" else as_image
        return draw(self.model, place.number, step=self._steps, observed=seen)

    # ── more than the contract ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> int:
        """Return the number of the current state.

        Raises:
            NotStarted: before `reset`.
        """
        return self._here().number

    def save_state(self) -> tuple[int, int, int, int, bool]:
        """Return a token for `restore_state`: plain numbers (seed, episode, step, state, whether it goes on).

        Raises:
            NotStarted: before `reset`.
        """
        place, feed = self._here(), self._feed
        assert feed is not None  # there is one once there is a place
        return feed.seed, feed.episode, self._steps, place.number, self._ready

    def restore_state(
        self, token: tuple[int, int, int, int, bool], *, seed: int | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Go back to where `save_state` gave `token`, and return (observation, info) there.

        Args:
            token: what `save_state` returned, here or in another environment over the same model.
            seed: None: the same actions lead to the same states as before; a number: they are drawn anew, from the same
                episode of that seed.

        Raises:
            BadArgument: the token is none of this model.
        """
        try:
            old, episode, steps, number, ready = token
            place = self._place_of(number)
        except (TypeError, ValueError, IndexError):
            raise BadArgument(f"token must come from save_state() of this model, got {token!r}") from None
        self._feed = Feed(old if seed is None else seed)
        self._feed.episode = episode
        self._next, self._steps = _dry, steps
        self._go_to(number)
        if not ready:
            self._options, self._ready = _NO_OPTIONS, False
        return self._observe(place), self._info(place)

    @cached_property
    def P(self) -> Table:
        """Return the model as a toy-text table `P[state][action] = [(probability, next state, reward, terminated), …]`.

        Actions that a state does not offer are left out, or are what `on_unavailable` makes of them.

        Raises:
            AttributeError: the table would have more than 1,000,000 rows: use the arrays of `model`.
        """
        return _table(self)

    @property
    def initial_state_distrib(self) -> NDArray[np.float64]:
        """Return how likely an episode starts in each state, (S,) float64."""
        return self.model.initial

    # ── how it is done ──────────────────────────────────────────────────────────────────────────────────────────────

    def _here(self) -> _Place:
        if self._place is None:
            raise NotStarted("there is no current state before reset(): call reset(seed=...) first")
        return self._place

    def _go_to(self, number: int) -> None:
        """Be in a state, ready for a step."""
        self._place = place = self._place_of(number)
        self._options = place.options or self._expand(place)
        self._ready = True

    def _place_of(self, number: int) -> _Place:
        """Return what is known of a state; looked up in the model when it is first asked for."""
        place = self._places[number]
        if place is None:
            if number < 0:
                raise IndexError(number)
            model, rules = self.model, self._rules
            self._places[number] = place = _Place()
            place.number = number
            place.ends = bool(rules.ends[number])
            place.labels = model.labels_of(number)
            mask = rules.mask_of(number)
            place.mask = self._masks.setdefault(mask.tobytes(), mask)
            place.options = None
            place.observation = int(rules.observed[number])
            if rules.own_states is not None:
                place.view = rules.own_states[number]
            else:
                values = tuple(model.valuation(number).items())
                place.view = StateView(number, model.state_name(number), place.labels, values)
        return place

    def _expand(self, place: _Place) -> _Options:
        """Return what each action of a state may do; kept for the next visit."""
        rules, model = self._rules, self.model
        options: list[_Option | None] = [None] * model.n_actions
        for choice in model.choices(place.number):
            low, high = int(model.branch_start[choice]), int(model.branch_start[choice + 1])
            places = [self._place_of(target) for target in model.target[low:high].tolist()]
            rewards = rules.rewards_of(choice).tolist()
            if rewards.count(rewards[0]) == len(rewards):
                rewards = rewards[:1] * len(rewards)  # one number in memory, not many equal ones
            sums = rules.sums[low : high - 1].tolist()
            options[int(model.choice_action[choice])] = (high - low, *sums, *places, *rewards)
        if not len(model.choices(place.number)):
            options = [(1, place, rules.reward_of_staying(place.number))] * model.n_actions
        place.options = tuple(options)
        return place.options

    def _draw_more(self) -> float:
        """Return the number of this step, and draw those of the steps after it."""
        assert self._feed is not None  # a step is refused before reset
        self._next = self._feed.go_on(self._steps)
        return self._next()

    def _observe(self, place: _Place) -> Any:
        """Return what is observed now."""
        rules = self._rules
        self._seen = place.observation
        if rules.random_observations:
            model: Any = self.model
            low, high = (int(end) for end in model.observation_start[place.number : place.number + 2])
            assert self._feed is not None  # there is one once there is a place
            number = uniform(self._feed.seed, self._feed.episode, self._steps, OBSERVATION)
            self._seen = int(model.observation[bisect_right(rules.observation_sums, number, low, high)])
        if rules.codes is None:
            return self._seen
        row = rules.codes[self._seen].tolist()
        return {name: code for (name, _), code in zip(rules.variables, row, strict=True)}

    def _shown_observation(self) -> str:
        """Return the name of what was observed last."""
        place, model = self._here(), self.model
        if self._plain or self._seen is None:
            return str(getattr(model, "observation_names", ())[place.observation])
        return str(getattr(model, "observation_names", ())[self._seen])

    def _info(self, place: _Place) -> dict[str, Any]:
        if self.show_state:
            return {"state": place.view, "labels": [*place.labels], "action_mask": place.mask.copy()}
        return {"action_mask": place.mask.copy()}

    def _refuse(self, action: int) -> Step:
        """Say why an action cannot be taken, or do what `on_unavailable` says."""
        place = self._place
        if place is None or not self._ready:
            when = "before reset()" if place is None else "after the episode was over"
            raise NotStarted(f"step({action!r}) {when}: call reset(seed=...) first")
        if not 0 <= action < self.model.n_actions:
            raise ActionUnavailableError(f"there is no action {action}: numbers are in [0, {self.model.n_actions})")
        if self.on_unavailable == "raise":
            raise ActionUnavailableError(choice_named(self.model, place.number, action))
        try:
            self._next()  # the number of this step is nobody's
        except StopIteration:
            self._draw_more()
        self._steps += 1
        ends, truncated = place.ends or self.on_unavailable == "terminate", self._steps >= self._limit
        if ends or truncated:
            self._options, self._ready = _NO_OPTIONS, False
        info = self._info(place)
        info["unavailable"] = True
        return self._observe(place), self.unavailable_reward, ends, truncated, info

    # ── copies ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def __getstate__(self) -> dict[str, Any]:
        built = {
            "_places",
            "_starts",
            "_start_sums",
            "_masks",
            "_place",
            "_options",
            "_next",
            "_feed",
            "_rules",
            "_ready",
            "P",
        }
        state = {name: held for name, held in self.__dict__.items() if name not in built}
        return state | {"_token": None if self._place is None else self.save_state()}

    def __setstate__(self, state: dict[str, Any], rules: Rules | None = None) -> None:
        token, seen, steps = state.pop("_token"), state["_seen"], state["_steps"]
        self.__dict__.update(state)
        self._rules = Rules(*self._given) if rules is None else rules
        self._forget()
        if token is not None:
            self.restore_state(token)
        self._seen, self._steps = seen, steps

    def __deepcopy__(self, memo: dict[int, Any]) -> ModelEnv:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        state = self.__getstate__()
        given, model = state.pop("_given"), state.pop("model")  # never changed, so shared
        made.__setstate__(copy.deepcopy(state, memo) | {"_given": given, "model": model}, self._rules)
        return made

    def __repr__(self) -> str:
        return f"<ModelEnv over {self.model!r}>"

    def __str__(self) -> str:
        return repr(self)


def _whole(action: Any) -> int:
    """Return an action as an int.

    Raises:
        BadArgument: it is no whole number.
    """
    if isinstance(action, np.integer):
        return int(action)
    if isinstance(action, np.ndarray) and action.size == 1 and action.dtype.kind in "iu":
        return int(action.item())
    raise BadArgument(f"action must be a whole number, an int or a NumPy integer, got {action!r}")


def _table(env: ModelEnv) -> Table:
    """Return the toy-text table of an environment."""
    model, rules = env.model, env._rules
    rows = model.n_branches + (model.n_states * model.n_actions if env.on_unavailable != "raise" else model.n_states)
    if rows > _MOST_IN_P:
        raise AttributeError(f"P would have about {rows:,} rows, more than {_MOST_IN_P:,}: use the arrays of env.model")
    ends, probability, target = rules.ends.tolist(), model.probability.tolist(), model.target.tolist()
    table: Table = {}
    for state in range(model.n_states):
        here: dict[int, list[tuple[float, int, float, bool]]] = {}
        for choice in model.choices(state):
            low, high = int(model.branch_start[choice]), int(model.branch_start[choice + 1])
            here[int(model.choice_action[choice])] = [
                (probability[branch], target[branch], reward, ends[target[branch]])
                for branch, reward in zip(range(low, high), rules.rewards_of(choice).tolist(), strict=True)
            ]
        if not here:
            stays = (1.0, state, rules.reward_of_staying(state), ends[state])
            here = {action: [stays] for action in range(model.n_actions)}
        elif env.on_unavailable != "raise":
            ended = ends[state] or env.on_unavailable == "terminate"
            for action in range(model.n_actions):
                here.setdefault(action, [(1.0, state, env.unavailable_reward, ended)])
        table[state] = dict(sorted(here.items()))
    return table
