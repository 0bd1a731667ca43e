"""Keep an agent inside a shield: masks that leave out what is refused, and refusals with their reason in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, runtime_checkable

import gymnasium
import numpy as np
from numpy.typing import NDArray

from surefoot.errors import ActionUnavailableError, BadArgument, NotStarted
from surefoot.learners._tables import name_of
from surefoot.models import Model

__all__ = ["ShieldLike", "ShieldedEnv"]

_read_only = property  # `property` is the name of a member below
Step = tuple[Any, float, bool, bool, dict[str, Any]]
By = Literal["number", "name", "value"]
OnRefused = Literal["refuse", "replace", "raise"]
Otherwise = Literal["end", "any"]


@runtime_checkable
class ShieldLike(Protocol):
    """What a shield has; `surefoot.checking.shield.Shield` is one.

    Example:
        >>> from surefoot.checking.shield import shield
        >>> from surefoot.models.examples import grid
        >>> isinstance(shield(grid(), 'P>=1 [ G !"hole" ]'), ShieldLike)
        True
    """

    @_read_only
    def model(self) -> Any:
        """Return the model that it is of."""
        ...

    @_read_only
    def property(self) -> str:
        """Return the text of what it keeps."""
        ...

    @_read_only
    def worth(self) -> Any:
        """Return (C,) the proved bound of each choice."""
        ...

    @_read_only
    def above(self) -> bool:
        """Say whether that must be high."""
        ...

    def mask(self, state: int | str) -> NDArray[np.bool_]:
        """Return which actions of the shield's model may be taken in one of its states, (A,) bool."""
        ...

    def why(self, state: int | str, action: int | str) -> str:
        """Return in words why an action may or may not be taken."""
        ...


class ShieldedEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Let only those actions through that a shield allows.

    `info["action_mask"]` ((A,) int8) and `action_masks()` hold what both the environment offers and the shield allows.
    `info["shield"]` says what the shield did with the last action: {"asked", "taken", "why"}, `taken` None where it
    was refused; None where it let it through.

    Args:
        env: a `ModelEnv`, or any Gymnasium environment with discrete actions whose observation is the state.
        shield: a shield of the same model, or of one that was learned.
        by: how a state and an action of the environment are found in the shield's model. `number`: they have the same
            numbers there, as where the models are one. `name`: the same names; needs a `ModelEnv`. `value`: the name
            is that of the observation, and of the number of the action, as in what `surefoot.learners.counts` makes.
        on_refused: what an action does that is not allowed. `refuse`: nothing; the observation stays, the reward is
            `refused_reward`. `replace`: the allowed action that is worth most is taken. `raise`: an error.
        refused_reward: what a refused action pays.
        otherwise: what happens where the shield allows nothing, or does not know the state. `end`: the episode is
            truncated there. `any`: what the environment offers may be taken.
        state_of: the state, by number or name in the shield's model, of an observation; instead of `by`.

    Raises:
        BadArgument: an argument is out of its range, the action space is not discrete, or `by="name"` without a model.

    Example:
        >>> from surefoot.checking.shield import shield
        >>> from surefoot.gym import ModelEnv
        >>> from surefoot.models import MDP
        >>> ledge = MDP(choice_start=[0, 2, 2, 2], choice_action=[0, 1], branch_start=[0, 1, 3], target=[1, 1, 2],
        ...             probability=[1.0, 0.5, 0.5], initial=0, action_names=["walk", "jump"],
        ...             state_names=["edge", "home", "gorge"], labels={"bad": ["gorge"]})
        >>> env = ShieldedEnv(ModelEnv(ledge), shield(ledge, 'P>=0.95 [ G !"bad" ]'))
        >>> observation, info = env.reset(seed=0)
        >>> info["action_mask"].tolist()
        [1, 0]
        >>> observation, reward, terminated, truncated, info = env.step(1)
        >>> observation, info["shield"]["why"]
        (0, 'jump in edge is refused: after it P>=0.95 [ G !"bad" ] can be kept with 0.5 at most; walk keeps it with 1')
        >>> env.step(0)[2]
        True
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        shield: ShieldLike,
        *,
        by: By = "number",
        on_refused: OnRefused = "refuse",
        refused_reward: float = 0.0,
        otherwise: Otherwise = "end",
        state_of: Callable[[Any], int | str] | None = None,
    ) -> None:
        super().__init__(env)
        for name, given, allowed in (
            ("by", by, ("number", "name", "value")),
            ("on_refused", on_refused, ("refuse", "replace", "raise")),
            ("otherwise", otherwise, ("end", "any")),
        ):
            if given not in allowed:
                raise BadArgument(f"{name} must be one of {', '.join(allowed)}, got {given!r}")
        if not isinstance(env.action_space, gymnasium.spaces.Discrete):
            raise BadArgument(f"env has the actions {env.action_space!r}; a shield needs Discrete ones")
        if not isinstance(shield, ShieldLike):
            raise BadArgument(f"shield must have model, property, worth, above, mask and why, got {shield!r}")
        if not np.isfinite(refused_reward):
            raise BadArgument(f"refused_reward must be finite, got {refused_reward!r}")
        model = getattr(env.unwrapped, "model", None)
        if by == "name" and not isinstance(model, Model):
            raise BadArgument("by='name' needs an environment over a model; give by='value' or state_of=")
        self.shield, self.by, self.on_refused, self.otherwise = shield, by, on_refused, otherwise
        self.refused_reward = float(refused_reward)
        self._state_of = state_of
        self._model = model if isinstance(model, Model) else None
        self._first, self._size = int(env.action_space.start), int(env.action_space.n)
        self._actions = self._numbers()
        self._offered: NDArray[np.bool_] | None = None
        self._allowed = np.zeros(self._size, bool)
        self._observation: Any = None
        self._free = False

    def _numbers(self) -> list[int | None]:
        """Return the number that each action has in the shield's model; None for those that it does not have."""
        known = {name: n for n, name in enumerate(self.shield.model.action_names)}
        found: list[int | None] = []
        for n in range(self._size):
            if self.by == "number":
                found.append(n if n < len(known) else None)
            elif self.by == "name" and self._model is not None:
                found.append(known.get(self._model.action_name(n)))
            else:
                found.append(known.get(name_of(n + self._first)))
        return found

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; where the shield allows nothing at its start, `info["shield"]["why"]` says so."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._arrive(observation, info)
        told = None if self._allowed.any() else {"asked": None, "taken": None, "why": self._nothing()}
        return observation, self._told(info, told)

    def step(self, action: Any) -> Step:
        """Take an action if the shield allows it.

        Raises:
            NotStarted: before `reset`.
            ActionUnavailableError: the shield refuses it and `on_refused` is `raise`; nothing has happened.
        """
        if self._offered is None:
            raise NotStarted("the episode has not begun: call reset() first")
        place = int(action) - self._first
        if not 0 <= place < self._size or self._allowed[place] or not self._offered[place]:
            return self._through(action, None)  # what the environment does not offer is for it to answer
        if not self._allowed.any():
            why = self._nothing()
            return self._observation, self.refused_reward, False, True, self._refused(action, why)
        why = self.shield.why(self._here(), self._number(place))
        if self.on_refused == "raise":
            raise ActionUnavailableError(why)
        if self.on_refused == "refuse":
            return self._observation, self.refused_reward, False, False, self._refused(action, why)
        better = self._best() + self._first
        return self._through(better, {"asked": int(action), "taken": better, "why": why})

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions may be taken now, (A,) bool; MaskablePPO of sb3-contrib asks for it.

        Raises:
            NotStarted: before `reset`.
        """
        if self._offered is None:
            raise NotStarted("the episode has not begun: call reset() first")
        return self._allowed.copy()

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _through(self, action: Any, told: dict[str, Any] | None) -> Step:
        observation, reward, ended, truncated, info = self.env.step(action)
        self._arrive(observation, info)
        if not ended and not self._allowed.any():
            truncated = True
            told = told or {"asked": int(action), "taken": int(action), "why": self._nothing()}
        return observation, float(reward), ended, truncated, self._told(info, told)

    def _arrive(self, observation: Any, info: dict[str, Any]) -> None:
        """Work out what may be done here."""
        self._observation = observation
        given = info.get("action_mask")
        self._offered = np.ones(self._size, bool) if given is None else np.asarray(given).astype(bool)
        here = self._here()
        allowed = np.zeros(self._size, bool)
        if here is not None:
            mask = self.shield.mask(here)
            allowed = np.array([n is not None and bool(mask[n]) for n in self._actions], bool) & self._offered
        if not allowed.any() and self.otherwise == "any":
            allowed = self._offered.copy()
        self._allowed = allowed

    def _here(self) -> Any:
        """Return the current state in the shield's model; None where it does not know it."""
        model = self.shield.model
        if self._state_of is not None:
            return self._state_of(self._observation)
        if self.by == "value":
            name = name_of(_plain(self._observation))
            return name if _has(model, name) else None
        inner: Any = self.env.unwrapped
        number = int(inner.state) if self._model is not None else int(self._observation)
        if self.by == "name" and self._model is not None:
            name = self._model.state_name(number)
            return name if _has(model, name) else None
        return number if 0 <= number < model.n_states else None

    def _number(self, place: int) -> int:
        number = self._actions[place]
        return -1 if number is None else number

    def _best(self) -> int:
        """Return the allowed action that is worth most."""
        model, here = self.shield.model, self._here()
        sign = 1.0 if self.shield.above else -1.0

        def worth(place: int) -> float:
            return sign * float(self.shield.worth[model.choice(here, self._number(place))])

        return max(np.flatnonzero(self._allowed).tolist(), key=worth)

    def _nothing(self) -> str:
        here = self._here()
        if here is None:
            return f"the shield does not know the state of {self._observation!r}"
        model = self.shield.model
        name = here if isinstance(here, str) else model.state_name(here)
        return f"no action keeps {self.shield.property} in {name}"

    def _refused(self, action: Any, why: str) -> dict[str, Any]:
        assert self._offered is not None
        return self._told({}, {"asked": int(action), "taken": None, "why": why})

    def _told(self, info: dict[str, Any], told: dict[str, Any] | None) -> dict[str, Any]:
        return {**info, "action_mask": self._allowed.astype(np.int8), "shield": told}


def _has(model: Any, name: str) -> bool:
    return name in model.state_names


def _plain(given: Any) -> Any:
    """Return an observation as a plain value, as `surefoot.learners.histories` does."""
    if isinstance(given, np.generic):
        return given.item()
    if isinstance(given, np.ndarray | tuple | list):
        return tuple(_plain(one) for one in given)
    return given
