"""Any world as a Gymnasium environment: actions by number, with a mask of those on offer.

| the world | Gymnasium |
|---|---|
| a state | an observation: its encoding as `Text`, its place in `states` as `Discrete`, or what `observe` makes of it |
| an action on offer | a number: its place in `actions`, or without those its place in what the state offers |
| what is on offer | `info["action_mask"]`, and `action_masks()`, which MaskablePPO asks for |
| refused | a step that changes nothing and pays `refused_reward`; `info["refused"]` is the reason |
| a fault | the same, with `info["fault"]`; it is no evidence of anything |
| `done` | terminated; truncated where the world says so in `info["truncated"]`, and after `max_steps` |
| `info["reward"]` | the reward; or what `reward` makes of the outcome |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from surefoot.errors import BadArgument, NotStarted
from surefoot.protocols import Closable, Environment, Outcome, Snapshotable
from surefoot.values import decode, encode_action, encode_state

__all__ = ["EnvironmentEnv"]

_ASCII = "".join(map(chr, range(32, 127)))


class EnvironmentEnv(gymnasium.Env[Any, np.int64]):
    """Step a world as a Gymnasium environment.

    An action that is not on offer is never sent to the world: it counts as refused, for `not on offer`. Where nothing
    is on offer the episode is terminated, though the world may not have said so.

    `info` holds `state` (the state of the world), `action_mask` ((n,) int8), `actions` (what is on offer), and of a
    step `effect`, and `refused` or `fault` where it was.

    Args:
        world: an environment of ours. It becomes ours: `close` closes it.
        actions: all actions that count, in the order of their numbers. None: a number is a place in what the state
            offers, so the same number may be another action elsewhere.
        most_actions: how many places there are when `actions` is None.
        states: all states that there are: an observation is a place among them.
        longest: how long an encoding may be when `states` and `observe` are None.
        observe: makes an observation of a state; needs `observation_space`.
        observation_space: the space of what `observe` returns.
        reward: makes a reward of the outcome; None: `outcome.info["reward"]`, 0 where that is not there.
        refused_reward: what a refused step pays.
        on_refused: `"stay"`: a refused step takes place and changes nothing; `"terminate"`: it ends the episode.
        max_steps: after how many steps an episode is truncated; None: never.
        render_mode: `"ansi"`: `render` returns a text with the state and what is on offer; or None.

    Raises:
        BadArgument: an argument is outside its range, or two do not go together.

    Cost: about 15 µs a step above the world's own.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> env = EnvironmentEnv(Corridor(length=2), actions=["left", "right"], states=[0, 1, 2])
        >>> observation, info = env.reset(seed=0)
        >>> int(observation), info["action_mask"].tolist()
        (0, [1, 1])
        >>> _, reward, _, _, info = env.step(0)
        >>> reward, info["refused"]
        (0.0, 'a wall')
        >>> _ = env.step(1)
        >>> observation, _, terminated, _, info = env.step(1)
        >>> int(observation), terminated, info["state"], info["action_mask"].tolist()
        (2, True, 2, [0, 0])
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(
        self,
        world: Environment[Any, Any],
        *,
        actions: Sequence[Any] | None = None,
        most_actions: int = 32,
        states: Sequence[Any] | None = None,
        longest: int = 1000,
        observe: Callable[[Any], Any] | None = None,
        observation_space: spaces.Space[Any] | None = None,
        reward: Callable[[Outcome[Any]], float] | None = None,
        refused_reward: float = 0.0,
        on_refused: Literal["stay", "terminate"] = "stay",
        max_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Check the arguments; nothing is asked of the world yet."""
        if not isinstance(world, Environment):
            raise BadArgument(f"world must have reset, actions and step, got {world!r}")
        for name, number in (("most_actions", most_actions), ("longest", longest), ("max_steps", max_steps)):
            if number is not None and (type(number) is not int or number < 1):
                raise BadArgument(f"{name} must be an int >= 1, got {number!r}")
        if on_refused not in ("stay", "terminate"):
            raise BadArgument(f"on_refused must be 'stay' or 'terminate', got {on_refused!r}")
        if render_mode not in (None, "ansi"):
            raise BadArgument(f"render_mode must be 'ansi' or None, got {render_mode!r}")
        if (observe is None) != (observation_space is None) or (observe is not None and states is not None):
            raise BadArgument("observe and observation_space belong together, and states is instead of them")
        self.world, self.render_mode = world, render_mode
        self._actions = None if actions is None else _numbered(actions, "actions", encode_action)
        self._states = None if states is None else _numbered(states, "states", encode_state)
        self._observe, self._reward = observe, reward
        self._refused_reward, self._on_refused = float(refused_reward), on_refused
        self._max_steps, self._longest = max_steps, longest
        size = most_actions if self._actions is None else len(self._actions)
        self._size = size
        self.action_space = spaces.Discrete(size)
        self.observation_space = self._space(observation_space)
        self._state: Any = None
        self._offered: list[Any | None] = []
        self._steps = 0
        self._over: bool | None = None

    def _space(self, given: spaces.Space[Any] | None) -> spaces.Space[Any]:
        """Return the space of the observations."""
        if given is not None:
            return given
        if self._states is not None:
            return spaces.Discrete(len(self._states))
        return spaces.Text(min_length=1, max_length=self._longest, charset=_ASCII)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; the same seed gives the same episode, if the world keeps that law.

        Args:
            seed: for the world's `reset`; None: it goes on as it likes.
            options: `{"token": …}`: go to where `save_state` gave it, instead.

        Raises:
            BadArgument: an option that is not there, or a world that cannot be put back.

        Example:
            >>> from surefoot.environments.corridor import Corridor
            >>> EnvironmentEnv(Corridor()).reset(seed=1)[0]
            '0'
        """
        super().reset(seed=seed)
        unknown = set(options or {}) - {"token"}
        if unknown:
            raise BadArgument(f"options has {sorted(unknown)}; it may have 'token'")
        if options and "token" in options:
            return self.restore_state(options["token"])
        state = self.world.reset(seed=None if seed is None else int(seed))
        self._steps, self._over = 0, False
        return self._observed(state), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take the action of a number.

        Raises:
            NotStarted: before `reset`.
            BadArgument: it is no number of an action.

        Example:
            >>> from surefoot.environments.corridor import Corridor
            >>> env = EnvironmentEnv(Corridor(), most_actions=4)
            >>> _ = env.reset(seed=1)
            >>> env.step(3)[4]["refused"], env.step(1)[0]
            ('not on offer', '1')
        """
        if self._over is None:
            raise NotStarted(f"step({action!r}) before reset(): call reset(seed=...) first")
        number = _whole(action, self._size)
        self._steps += 1
        on_offer = number < len(self._offered) and self._offered[number] is not _NOT_OFFERED
        if self._over or not on_offer:
            return self._stayed({"refused": "the episode is over" if self._over else "not on offer"})
        outcome = self.world.step(self._offered[number])
        if outcome.verdict != "accepted":
            key, why = ("fault", outcome.fault) if outcome.fault is not None else ("refused", outcome.reason or "")
            return self._stayed({key: why}, outcome)
        reward = self._reward(outcome) if self._reward is not None else outcome.info.get("reward", 0.0)
        observation = self._observed(outcome.state)
        cut = bool(outcome.info.get("truncated", False))
        info = self._info() | {"effect": outcome.effect}
        return observation, float(reward), self._ended(outcome.done and not cut), cut or self._late(), info

    def _stayed(
        self, info: dict[str, Any], outcome: Outcome[Any] | None = None
    ) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return what a step is that changed nothing."""
        done = outcome is not None and outcome.done
        ended = self._ended(bool(self._over) or done or self._on_refused == "terminate")
        told = self._info() | {"effect": None} | info
        return self._observation(self._state), self._refused_reward, ended, self._late(), told

    def _ended(self, done: bool) -> bool:
        """Say, and keep in mind, whether the episode is over: also where nothing is on offer."""
        self._over = bool(done) or all(action is _NOT_OFFERED for action in self._offered)
        return self._over

    def _late(self) -> bool:
        return self._max_steps is not None and self._steps >= self._max_steps

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which numbers are on offer, (n,) bool; the method that MaskablePPO looks for.

        Example:
            >>> from surefoot.environments.corridor import Corridor
            >>> env = EnvironmentEnv(Corridor(), most_actions=3)
            >>> _ = env.reset(seed=1)
            >>> env.action_masks().tolist()
            [True, True, False]
        """
        mask = np.zeros(self._size, dtype=np.bool_)
        mask[[place for place, action in enumerate(self._offered) if action is not _NOT_OFFERED]] = True
        return mask

    def action_of(self, number: int) -> Any:
        """Return the action that a number stands for here.

        Raises:
            BadArgument: it stands for none.

        Example:
            >>> from surefoot.environments.corridor import Corridor
            >>> env = EnvironmentEnv(Corridor())
            >>> _ = env.reset(seed=1)
            >>> env.action_of(1)
            'right'
        """
        if not 0 <= number < len(self._offered) or self._offered[number] is _NOT_OFFERED:
            raise BadArgument(f"no action on offer has the number {number!r}")
        return self._offered[number]

    def save_state(self) -> Any:
        """Return a token for `restore_state`.

        Raises:
            BadArgument: the world is not `Snapshotable`.
        """
        return self._snapshotable().save_state(), self._steps, self._over

    def restore_state(self, token: Any) -> tuple[Any, dict[str, Any]]:
        """Go back to where `save_state` gave `token`; return the observation there and the info.

        Raises:
            BadArgument: the world is not `Snapshotable`.
        """
        held, self._steps, over = token
        state = self._snapshotable().restore_state(held)
        observation = self._observed(state)
        self._over = over
        return observation, self._info()

    def _snapshotable(self) -> Snapshotable:
        if not isinstance(self.world, Snapshotable):
            raise BadArgument(f"{type(self.world).__name__} cannot be put back: it has no save_state and restore_state")
        return self.world

    def render(self) -> str | None:
        """Return the state and what is on offer as text, if `render_mode` is `"ansi"`.

        Example:
            >>> from surefoot.environments.corridor import Corridor
            >>> env = EnvironmentEnv(Corridor(), render_mode="ansi")
            >>> _ = env.reset(seed=1)
            >>> env.render()
            "0: 'left', 'right'"
        """
        if self.render_mode is None:
            return None
        offered = ", ".join(repr(action) for action in self._offered if action is not _NOT_OFFERED)
        return f"{self._state!r}: {offered or 'nothing on offer'}"

    def close(self) -> None:
        """Close the world, if it can be closed; calling twice is harmless."""
        if isinstance(self.world, Closable):
            self.world.close()

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _observed(self, state: Any) -> Any:
        """Take in a new state, and return the observation."""
        offered = list(self.world.actions(state))
        if self._actions is None:
            if len(offered) > self._size:
                raise BadArgument(
                    f"state {state!r} offers {len(offered)} actions, more than most_actions="
                    f"{self._size}: raise it, or name those that count in actions="
                )
            self._offered = offered
        else:
            known = {encode_action(action): action for action in offered}
            self._offered = [known.get(encoded, _NOT_OFFERED) for encoded in self._actions]
        self._state = state
        return self._observation(state)

    def _observation(self, state: Any) -> Any:
        """Return the observation of a state."""
        if self._observe is not None:
            return self._observe(state)
        encoded = encode_state(state)
        if self._states is not None:
            if encoded not in self._states:
                raise BadArgument(f"the world is in state {state!r}, which is not among the {len(self._states)} states")
            return np.int64(self._states[encoded])
        text = _ascii(encoded)
        if len(text) > self._longest:
            raise BadArgument(f"state {state!r} has {len(text)} letters, more than longest={self._longest}: raise it")
        return text

    def _info(self) -> dict[str, Any]:
        offered = [action for action in self._offered if action is not _NOT_OFFERED]
        return {"state": self._state, "action_mask": self.action_masks().astype(np.int8), "actions": offered}

    @staticmethod
    def state_of(observation: str) -> Any:
        """Return the state that a `Text` observation stands for.

        Example:
            >>> EnvironmentEnv.state_of('["kitchen",3]')
            ('kitchen', 3)
        """
        return decode(_from_ascii(observation))


class _NotOffered:
    """Stands at the number of an action that is not on offer."""

    def __deepcopy__(self, memo: Mapping[int, Any]) -> _NotOffered:
        return self

    def __reduce__(self) -> str:
        return "_NOT_OFFERED"


_NOT_OFFERED = _NotOffered()


def _numbered(given: Sequence[Any], what: str, encoding: Callable[[Any], bytes]) -> dict[bytes, int]:
    """Return {encoding: number} of values that are all different."""
    found = {encoding(one): number for number, one in enumerate(given)}
    if not found or len(found) < len(given):
        raise BadArgument(f"{what} must be one value or more, all different, got {list(given)!r}")
    return found


def _whole(action: Any, count: int) -> int:
    """Return the number of an action."""
    if isinstance(action, np.ndarray) and action.ndim == 0:
        action = action.item()
    if isinstance(action, bool | np.bool_) or not isinstance(action, int | np.integer) or not 0 <= action < count:
        raise BadArgument(f"an action is a whole number in [0, {count}), got {action!r}")
    return int(action)


def _ascii(encoded: bytes) -> str:
    """Return an encoding in printable ASCII: JSON has escapes for all other letters."""
    text = encoded.decode()
    if text.isascii() and "\x7f" not in text:
        return text
    units = text.encode("utf-16-be")
    pairs = (int.from_bytes(units[place : place + 2], "big") for place in range(0, len(units), 2))
    return "".join(chr(unit) if unit < 127 else f"\\u{unit:04x}" for unit in pairs)


def _from_ascii(text: str) -> bytes:
    """Return the encoding that `_ascii` wrote."""

    def letter(found: re.Match[str]) -> str:
        escape = found[1]
        return chr(int(escape[1:], 16)) if len(escape) == 5 and int(escape[1:], 16) >= 127 else found[0]

    units = re.sub(r"\\(u[0-9a-f]{4}|.)", letter, text)
    return units.encode("utf-16-be", "surrogatepass").decode("utf-16-be").encode()
