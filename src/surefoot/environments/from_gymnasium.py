"""Any Gymnasium environment with discrete actions as a world.

| question | answer |
|---|---|
| a state | the observation as a plain value, or what `key(observation, info)` makes of it |
| an action | its number; of a compound space a tuple or an object (`Dict`) of numbers; or your name for it |
| the effect | `{"observation": state}`, of a `Dict` observation the entries that changed; None when nothing changed |
| the end | `done` when the environment terminated or truncated; then `info["truncated"]` says that it was cut short |
| a fault | none: Gymnasium has no word for it, so errors come through as they are |

An observation becomes a state without loss: numbers of NumPy become Python's, arrays nested tuples, a `Dict` the tuple
of its pairs, sorted by key. Pixels work but are long: give a `key`.

Of the seven shapes of a refusal this reads

- the *mask*: what `info["action_mask"]` forbids is not on offer; stepped all the same, it is refused as *predicted*
  (`info["predicted"]`), and the environment is not stepped;
- the *exception*: those listed in `refusals`, and no others;
- the *silent no-op*: accepted with the effect None; or, when `no_op="refused"`, a step that changes nothing and does
  not terminate is refused, whatever its reward. The environment did run: its clock and its dice went on, so such a
  refusal leaves a trace (`max_episode_steps=-1` stops the clock), and in a world with dice it can be chance.

It does not guess at flags, texts or penalties.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import isfinite, prod
from types import TracebackType
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces

from surefoot.errors import BadArgument, NotStarted, ValueRejected, WorldUnavailable
from surefoot.protocols import Outcome, moved, refused
from surefoot.values import copy as copy_value
from surefoot.values import encode, encode_action, encode_state

__all__ = ["CopyableFromGymnasium", "FromGymnasium"]

AnyEnv: TypeAlias = "gymnasium.Env[Any, Any]"

_MOST_MASKS = 100_000


@dataclass(frozen=True, slots=True)
class _Moment:
    """Where an episode is."""

    state: Any
    encoded: bytes
    terminated: bool = False
    truncated: bool = False

    @property
    def done(self) -> bool:
        """Say whether the episode is over."""
        return self.terminated or self.truncated


class FromGymnasium:
    """Step a Gymnasium environment as a world.

    Args:
        env: an environment, or the id of one (`"FrozenLake-v1"`). It becomes ours: `close` closes it.
        seed: the seed of the first `reset()` that is given none; an int >= 0. Later ones go on with the same generator.
        mask: the key of the action mask in `info`, or in a `Dict` observation (whose state is then without it); or a
            function of the environment that returns it (`lambda env: env.unwrapped.action_masks()`); None for no mask.
            A mask has one flag an action, or, as in Gymnasium, one array for each part of a compound action.
        no_op: `"accepted"` or `"refused"`: what to call a step that changes nothing.
        key: makes a state of (observation, info); for pixels, for floats to be rounded, for what is no matter.
        names: names for the actions, in the order of their numbers; all different.
        refusals: the exceptions of `env.step` that are refusals; the state is then the one before.
        most_actions: how many actions a compound space may have.
        **make_kwargs: for `gymnasium.make` when `env` is an id: `is_slippery=False`, `max_episode_steps=50`.

    Raises:
        BadArgument: an argument is outside its range, or the action space is not one that can be listed.
        WorldUnavailable: Gymnasium cannot make the environment.

    Cost: about 10 to 20 µs a step above the environment's own, plus the size of the observation.

    Example:
        >>> lake = FromGymnasium("FrozenLake-v1", is_slippery=False, names=["left", "down", "right", "up"])
        >>> lake.reset(seed=0), lake.actions(0)
        (0, ['left', 'down', 'right', 'up'])
        >>> lake.step("down").effect, lake.step("left").effect
        ({'observation': 4}, None)
        >>> fall = lake.step("right")
        >>> fall.state, fall.done, fall.info["reward"], lake.actions(5)
        (5, True, 0.0, [])
        >>> lake.close()
    """

    def __init__(
        self,
        env: AnyEnv | str,
        *,
        seed: int | None = None,
        mask: str | Callable[[AnyEnv], Any] | None = "action_mask",
        no_op: Literal["accepted", "refused"] = "accepted",
        key: Callable[[Any, Mapping[str, Any]], Any] | None = None,
        names: Sequence[str] | None = None,
        refusals: tuple[type[Exception], ...] = (),
        most_actions: int = 10_000,
        **make_kwargs: Any,
    ) -> None:
        """Make the environment and list its actions."""
        if no_op not in ("accepted", "refused"):
            raise BadArgument(f"no_op must be 'accepted' or 'refused', got {no_op!r}")
        if not isinstance(refusals, tuple) or not all(
            isinstance(e, type) and issubclass(e, Exception) for e in refusals
        ):
            raise BadArgument(f"refusals must be a tuple of exception classes, got {refusals!r}")
        self._seed = _checked_seed(seed)
        self._env = _made(env, make_kwargs)
        self._sizes = _sizes(self._env.action_space)
        if prod(self._sizes) > most_actions:
            raise BadArgument(
                f"the action space {self._env.action_space} has {prod(self._sizes)} actions, more than most_actions="
                f"{most_actions}; raise it, or offer fewer with gymnasium.wrappers.TransformAction"
            )
        pairs = list(_listed(self._env.action_space))
        self._natives = [native for _, native in pairs]
        self._names = [plain for plain, _ in pairs] if names is None else _checked_names(names, len(pairs))
        self._numbers = {encode_action(name): number for number, name in enumerate(self._names)}
        self._mask, self._no_op, self._key, self._refusals = mask, no_op, key, refusals
        self._offers: dict[bytes, tuple[int, ...]] = {}
        self._now: _Moment | None = None

    def reset(self, seed: int | None = None) -> Any:
        """Start an episode and return its first state; the same seed gives the same episode.

        Raises:
            BadArgument: `seed` is no int >= 0, or the mask does not fit the actions.
            ValueRejected: the observation is no plain value; the message says where, and `key` is the way out.

        Example:
            >>> game = FromGymnasium("Blackjack-v1")
            >>> game.reset(seed=3) == game.reset(seed=3)
            True
        """
        seed = _checked_seed(seed)
        if seed is None:
            seed, self._seed = self._seed, None
        self._now = None
        observation, info = self._env.reset(seed=seed)
        self._now = self._moment(observation, info)
        return self._now.state

    def actions(self, state: Any) -> Sequence[Any]:
        """Return the actions on offer in `state`: those that its mask allowed when it was last seen, all without one.

        Where the episode has just terminated, none is.

        Raises:
            ValueRejected: `state` is no plain value.

        Example:
            >>> name = "Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3"  # v4 came with Gymnasium 1.3
            >>> taxi = FromGymnasium(name, names=["south", "north", "east", "west", "pick up", "drop"])
            >>> taxi.actions(taxi.reset(seed=0))
            ['south', 'north']
        """
        encoded = encode_state(state)
        if self._now is not None and self._now.terminated and self._now.encoded == encoded:
            return []
        offered = self._offers.get(encoded)
        actions = self._names if offered is None else [self._names[number] for number in offered]
        return [name if type(name) in (int, str) else copy_value(name) for name in actions]

    def step(self, action: Any) -> Outcome[Any]:
        """Take an action.

        `info` holds the `reward`, `truncated` when the episode was cut short, and of the environment's own info what is
        plain; the names of the rest are in `info["left_out"]`.

        Raises:
            NotStarted: before `reset`, or after the episode was over.
            ValueRejected: `action` or the observation is no plain value.

        Example:
            >>> taxi = FromGymnasium("Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3")
            >>> here = taxi.reset(seed=0)
            >>> out = taxi.step(5)
            >>> out.verdict, out.reason, out.state == here, out.info
            ('refused', 'masked', True, {'predicted': True})
        """
        now = self._now
        if now is None or now.done:
            when = "before reset()" if now is None else "after the episode was over"
            raise NotStarted(f"step({action!r}) {when}: call reset(seed=...) first")
        number = self._numbers.get(encode_action(action))
        if number is None:
            return refused(now.state, "no such action")
        offered = self._offers.get(now.encoded)
        if offered is not None and number not in offered:
            return refused(now.state, "masked", info={"predicted": True})
        try:
            observation, reward, terminated, truncated, info = self._env.step(copy.deepcopy(self._natives[number]))
        except self._refusals as error:
            return refused(now.state, f"{type(error).__name__}: {error}".removesuffix(": "))
        self._now = None  # where the environment is now cannot be said if this fails
        then = self._now = self._moment(observation, info, terminated=bool(terminated), truncated=bool(truncated))
        told = _plain_info({**info, "reward": float(reward)} | ({"truncated": True} if truncated else {}))
        if then.encoded != now.encoded:
            effect = self._effect(now.state, then.state, observation)
            return moved(then.state, effect=effect, done=then.done, info=told)
        if self._no_op == "refused" and not terminated:
            return refused(now.state, "nothing changed", done=then.done, info=told)
        return moved(then.state, done=then.done, info=told)

    def close(self) -> None:
        """Close the environment and end the episode; calling twice is harmless."""
        self._now = None
        self._env.close()

    def __enter__(self) -> FromGymnasium:
        """Return the world."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _moment(self, observation: Any, info: Mapping[str, Any], **ends: bool) -> _Moment:
        """Return where the episode is now, and note what is on offer there."""
        mask = None
        if isinstance(self._mask, str):
            mask = info.get(self._mask)
            if mask is None and isinstance(observation, Mapping):
                mask = observation.get(self._mask)
        elif self._mask is not None:
            mask = self._mask(self._env)
        state, encoded = self._state(observation, info)
        if mask is not None:
            self._offers[encoded] = self._allowed(mask)
            if len(self._offers) > _MOST_MASKS:
                del self._offers[next(iter(self._offers))]
        return _Moment(state, encoded, **ends)

    def _state(self, observation: Any, info: Mapping[str, Any]) -> tuple[Any, bytes]:
        """Return (state, its encoding) of an observation."""
        if self._key is not None:
            state = self._key(observation, info)
            try:
                return copy_value(state), encode_state(state)
            except ValueRejected as error:
                raise ValueRejected(f"key(observation, info) of {self._name} gave no state: {error}") from None
        state = _plain(self._unmasked(observation))
        try:
            return state, encode_state(state)
        except ValueRejected as error:
            wrong = next(_wrong(observation, "observation"), str(error))
            raise ValueRejected(f"{self._name}: {wrong}; or make a state of it with key=") from None

    def _unmasked(self, observation: Any) -> Any:
        """Return the observation without a mask in it."""
        if isinstance(observation, Mapping) and self._mask in observation:
            return {name: part for name, part in observation.items() if name != self._mask}
        return observation

    def _effect(self, before: Any, after: Any, observation: Any) -> dict[str, Any]:
        """Return what changed."""
        if (
            self._key is None
            and isinstance(observation, Mapping)
            and all(isinstance(name, str) for name in observation)
        ):
            old = {name: encode(part) for name, part in before}
            return {name: part for name, part in after if old.get(name) != encode(part)}
        return {"observation": after}

    def _allowed(self, mask: Any) -> tuple[int, ...]:
        """Return the numbers of the actions that a mask allows."""
        parts = list(_parts_of_mask(mask, self._env.action_space))
        if [len(part) for part in parts] == self._sizes:
            flags = reduce(np.multiply.outer, [part.astype(bool) for part in parts]).ravel()
        elif len(parts) == 1 and len(parts[0]) == len(self._names):
            flags = parts[0]
        else:
            raise BadArgument(
                f"the action mask of {self._name} has {[len(part) for part in parts]} flags, its actions are "
                f"{self._sizes}: pass mask=None to do without it, or a function that returns one that fits"
            )
        return tuple(np.flatnonzero(flags).tolist())

    @property
    def _name(self) -> str:
        """Return what to call the environment in a message."""
        return self._env.spec.id if self._env.spec is not None else type(self._env.unwrapped).__name__


class CopyableFromGymnasium(FromGymnasium):
    """Step a Gymnasium environment that can be put back to where it was, by copying it whole (`copy.deepcopy`).

    You say by choosing this class that a deep copy of the environment is exact: all it knows is in its Python
    attributes, its random generator too. For FrozenLake, Taxi, CliffWalking, Blackjack and CartPole that is tested; it
    does not hold for one that lives in another process or in a C library.

    Cost: `save_state` and `restore_state` copy the environment: 0.5 ms for CartPole, 1.4 for FrozenLake, 19 for Taxi.

    Example:
        >>> lake = CopyableFromGymnasium("FrozenLake-v1")
        >>> start = lake.reset(seed=0)
        >>> token = lake.save_state()
        >>> first = [lake.step(1).state for _ in range(3)]
        >>> lake.restore_state(token) == start, [lake.step(1).state for _ in range(3)] == first
        (True, True)
        >>> lake.close()
    """

    def save_state(self) -> Any:
        """Return a token for `restore_state`: a copy of the environment.

        Raises:
            NotStarted: before `reset`.
            BadArgument: the environment cannot be copied.
        """
        if self._now is None:
            raise NotStarted("save_state() before reset(): call reset(seed=...) first")
        return self._copied(self._env), self._now, dict(self._offers)

    def restore_state(self, token: Any) -> Any:
        """Go back to where `save_state` gave `token`, and return the state there; a token can be used again."""
        env, now, offers = token
        self._env = self._copied(env)
        self._now, self._offers = now, dict(offers)
        return now.state

    def _copied(self, env: AnyEnv) -> AnyEnv:
        """Return a copy of an environment."""
        try:
            return copy.deepcopy(env)
        except Exception as error:
            raise BadArgument(f"{self._name} cannot be copied ({error}); use FromGymnasium for it") from error


def _made(env: AnyEnv | str, make_kwargs: Mapping[str, Any]) -> AnyEnv:
    """Return the environment, made if it was named."""
    if isinstance(env, gymnasium.Env):
        if make_kwargs:
            raise BadArgument(f"these are for an id, and env is an environment already: {', '.join(make_kwargs)}")
        return env
    if not isinstance(env, str):
        raise BadArgument(f"env must be the id of a Gymnasium environment or one environment, got {env!r}")
    try:
        return gymnasium.make(env, **make_kwargs)
    except TypeError as error:
        raise BadArgument(f"gymnasium cannot make {env!r}: {error}") from error
    except (gymnasium.error.Error, ImportError) as error:
        raise WorldUnavailable(f"gymnasium cannot make {env!r}: {error}") from error


def _checked_seed(seed: int | None) -> int | None:
    """Return a seed that Gymnasium takes."""
    if seed is not None and (type(seed) is not int or seed < 0):
        raise BadArgument(f"seed must be an int >= 0 or None, got {seed!r}")
    return seed


def _checked_names(names: Sequence[str], count: int) -> list[str]:
    """Return one name for each action."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise BadArgument(f"names must be a list of texts, got {names!r}")
    if len(names) != count or len(set(names)) != count:
        raise BadArgument(f"names must be {count} different texts, one for each action, got {list(names)!r}")
    return [str.__str__(name) for name in names]


# ── spaces ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _sizes(space: gymnasium.Space[Any]) -> list[int]:
    """Return how many values each part of an action has; refuse what cannot be listed."""
    match space:
        case spaces.Discrete():
            return [int(space.n)]
        case spaces.MultiDiscrete():
            return [int(n) for n in space.nvec.ravel()]
        case spaces.MultiBinary():
            return [2] * int(np.prod(space.shape))
        case spaces.Tuple():
            return [size for part in space.spaces for size in _sizes(part)]
        case spaces.Dict():
            return [size for part in space.spaces.values() for size in _sizes(part)]
    raise BadArgument(
        f"the action space {space} cannot be listed; pick some actions and wrap the environment: "
        "gymnasium.wrappers.TransformAction(env, lambda n: actions[n], gymnasium.spaces.Discrete(len(actions)))"
    )


def _listed(space: gymnasium.Space[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield (plain value, what the environment takes) for each action of a space that `_sizes` has passed."""
    match space:
        case spaces.Discrete():
            yield from ((number, number) for number in range(int(space.start), int(space.start + space.n)))
        case spaces.MultiDiscrete() | spaces.MultiBinary():
            if isinstance(space, spaces.MultiBinary):
                ranges = [range(2)] * int(np.prod(space.shape))
            else:
                pairs = zip(space.start.ravel().tolist(), space.nvec.ravel().tolist(), strict=True)
                ranges = [range(start, start + n) for start, n in pairs]
            for numbers in product(*ranges):
                native = np.array(numbers, dtype=space.dtype).reshape(space.shape)
                yield _plain(native), native
        case spaces.Tuple():
            for parts in product(*map(_listed, space.spaces)):
                yield tuple(plain for plain, _ in parts), tuple(native for _, native in parts)
        case spaces.Dict():
            for parts in product(*map(_listed, space.spaces.values())):
                named = list(zip(space.spaces, parts, strict=True))
                yield {name: plain for name, (plain, _) in named}, {name: native for name, (_, native) in named}


def _parts_of_mask(mask: Any, space: gymnasium.Space[Any]) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the arrays of a mask, which may be nested as its space is; None for a part allows all of it."""
    if mask is None:
        yield from (np.ones(size, dtype=bool) for size in _sizes(space))
    elif isinstance(space, spaces.Dict) and isinstance(mask, Mapping):
        for name, part in space.spaces.items():
            yield from _parts_of_mask(mask.get(name), part)
    elif isinstance(space, spaces.Tuple) and isinstance(mask, tuple) and len(mask) == len(space.spaces):
        for inner, part in zip(mask, space.spaces, strict=True):
            yield from _parts_of_mask(inner, part)
    elif isinstance(mask, tuple) and any(np.ndim(part) for part in mask):
        yield from (np.asarray(part).ravel() for part in mask)
    else:
        yield np.asarray(mask).ravel()


# ── observations ────────────────────────────────────────────────────────────────────────────────────────────────────

_ITSELF = frozenset({int, float, str, bool, type(None)})


def _plain(value: Any) -> Any:
    """Return an observation as a plain value; what is none stays as it is, for the gate to refuse."""
    if type(value) in _ITSELF:
        return value
    if isinstance(value, np.ndarray):
        value = value.tolist()
        return tuple(map(_plain, value)) if isinstance(value, list) else value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        pairs = [(_plain(name), _plain(part)) for name, part in value.items()]
        return tuple(sorted(pairs, key=lambda pair: pair[0] if isinstance(pair[0], str) else repr(pair[0])))
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return value


def _wrong(value: Any, place: str) -> Iterator[str]:
    """Yield what is wrong in an observation that is no plain value, and where."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from (f"{place} has a key: {why}" for why in _wrong(name, "it"))
            yield from _wrong(part, f"{place}[{name!r}]")
    elif isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.ndim):
        for number, part in enumerate(value):
            yield from _wrong(part, f"{place}[{number}]")
    else:
        try:
            encode_state(_plain(value))
        except ValueRejected as error:
            yield f"{place}{str(error).removeprefix('$')}"


def _plain_info(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is plain in an info, and the names of the rest."""
    told: dict[str, Any] = {}
    left_out: list[str] = []
    for name, part in info.items():
        plain = _plain(part)
        try:
            if type(plain) is not float or not isfinite(plain):  # most are floats, and then there is nothing to find
                encode(plain)
            told[name] = plain
        except ValueRejected:
            left_out.append(str(name))
    if left_out:
        told["left_out"] = sorted(left_out)
    return told
