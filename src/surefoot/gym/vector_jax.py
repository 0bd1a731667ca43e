"""Whole rollouts of `ModelVectorEnv` as one compiled program (extra `jax`), for a CPU or for a GPU where there is one.

The random numbers are those of the other backends, so the trajectories are too. All of it is traced with 64-bit numbers
switched on, for this program only; JAX's own setting stays as it is.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

from surefoot.errors import ActionUnavailableError, MissingExtra
from surefoot.gym._rules import choice_named
from surefoot.models.draws import INITIAL, LANES, OBSERVATION, POLICY

if TYPE_CHECKING:
    from surefoot.gym.rollouts import Recorder, Table
    from surefoot.gym.vector_env import ModelVectorEnv

__all__ = ["Engine", "engine"]

_NEVER = 1 << 62
_LINEAR = 8
"""Rows up to this long are counted through, longer ones are searched."""


class _How(NamedTuple):
    """What the program is compiled for; with another one it is compiled anew."""

    steps: int
    actions: int
    stops: int
    limit: int
    can_end: bool
    same_step: bool
    record: bool
    width: int
    longest: int
    padded: bool
    hidden: bool
    random: bool
    most_seen: int
    by_state: bool
    certain: bool
    even: bool
    most_actions: int


class _Now(NamedTuple):
    """Where the environments are: what a step changes."""

    states: Any
    episodes: Any
    starts: Any
    strides: Any
    steps: Any
    over: Any
    total: Any
    ended: Any
    bad: Any


def _mixed(x: Any) -> Any:
    """Hash 64-bit numbers: see `surefoot.models.draws`."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _number(now: _Now, lane: int) -> Any:
    """Draw a number for each environment."""
    place = now.steps.astype(np.uint64) * np.uint64(LANES) + np.uint64(lane + 1)
    return (_mixed(now.starts + place * now.strides) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _searched(sums: Any, low: Any, high: Any, numbers: Any, most: int) -> Any:
    """Find in each row the first place whose running sum is greater than the number."""
    import jax.numpy as jnp

    high = high - 1
    for _ in range(max(most - 1, 0).bit_length()):
        middle = (low + high) >> 1
        right = (sums[middle] <= numbers) & (low < high)
        low, high = jnp.where(right, middle + 1, low), jnp.where(right, high, middle)
    return low


def _step(model: dict[str, Any], how: _How, now: _Now, _: Any) -> tuple[_Now, Any]:
    """Take one step each."""
    import jax.numpy as jnp

    sight = _sight(model, how, now)
    at = now.states if how.by_state else sight
    place = model["policy_start"][at]
    if not how.certain:
        number, end = _number(now, POLICY), model["policy_start"][at + 1]
        if how.even:
            place = place + (number * (end - place)).astype(np.int64)
        else:
            place = _searched(model["policy_sums"], place, end, number, how.most_actions)
    action = model["policy_action"][place]
    row = now.states * how.actions + action
    bad = now.bad
    if "table" in model:
        row = model["table"][row]
        wrong = (row < 0) & ~now.over
        first = jnp.argmax(wrong)
        found = jnp.array([first, now.states[first], action[first]], dtype=np.int64)
        bad = jnp.where((bad[0] < 0) & wrong[first], found, bad)
        row = jnp.maximum(row, 0)
    branch = _branch(model, how, row, _number(now, 0))
    then = model["target"][branch]
    gain = model["reward"][branch] if "reward" in model else jnp.zeros(now.total.shape)
    if not how.can_end:
        none = jnp.zeros(now.over.shape, dtype=bool)
        later = now._replace(states=then, steps=now.steps + 1, total=now.total + gain, bad=bad)
        return later, (sight, action, gain, none, none) if how.record else None
    stop = (model["ends"][then] | (row >= how.stops)) & ~now.over
    cut = (now.steps + 1 >= how.limit) & ~now.over
    gain = jnp.where(now.over, 0.0, gain)
    done = stop | cut
    again = done if how.same_step else now.over
    later = _Now(
        then, now.episodes, now.starts, now.strides, now.steps + 1, done, now.total + gain, now.ended + done, bad
    )
    return _restarted(model, later, again), (sight, action, gain, stop, cut) if how.record else None


def _branch(model: dict[str, Any], how: _How, row: Any, number: Any) -> Any:
    """Find the branch that each number picks."""
    if not how.padded:
        return _searched(model["sums"], model["start"][row], model["start"][row + 1], number, how.longest)
    low = row * how.width
    if how.width > _LINEAR:
        return _searched(model["sums"], low, low + how.width, number, how.width)
    for place in range(how.width - 1):
        low = low + (model["sums"][row * how.width + place] <= number)
    return low


def _sight(model: dict[str, Any], how: _How, now: _Now) -> Any:
    """Return the number of what is observed in each environment."""
    if not how.hidden or (how.by_state and not how.record):
        return now.states
    if not how.random:
        return model["observed"][now.states]
    low, high = model["entry_start"][now.states], model["entry_start"][now.states + 1]
    entry = _searched(model["entry_sums"], low, high, _number(now, OBSERVATION), how.most_seen)
    return model["entry"][entry]


def _restarted(model: dict[str, Any], now: _Now, again: Any) -> _Now:
    """Begin the next episode where `again` says so."""
    import jax.numpy as jnp

    episodes = now.episodes + again
    key = _mixed(model["seeds"] + np.uint64(0x9E3779B97F4A7C15))
    starts = _mixed(key + episodes.astype(np.uint64) * np.uint64(0xD1342543DE82EF95))
    strides = _mixed(starts ^ np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
    fresh = now._replace(
        episodes=episodes,
        starts=jnp.where(again, starts, now.starts),
        strides=jnp.where(again, strides, now.strides),
        steps=jnp.where(again, 0, now.steps),
        over=now.over & ~again,
    )
    first = jnp.searchsorted(model["start_sums"], _number(fresh, INITIAL), side="right")
    return fresh._replace(states=jnp.where(again, model["start_states"][first], now.states))


def _rollout(model: dict[str, Any], now: _Now, how: _How) -> tuple[_Now, Any, Any]:
    """Take many steps each."""
    from jax import lax

    later, shown = lax.scan(partial(_step, model, how), now, None, length=how.steps)
    return later, shown, _sight(model, how, later) if how.record else None


class Engine:
    """Hold the compiled program, and call it with the arrays of a `ModelVectorEnv`.

    Example:
        >>> from surefoot.errors import MissingExtra
        >>> try:
        ...     ready = callable(engine().rollout)
        ... except MissingExtra as error:
        ...     ready = "surefoot[jax]" in str(error)
        >>> ready
        True
    """

    def __init__(self, program: Any, wide: Any, put: Any) -> None:
        self._program, self._wide, self._put = program, wide, put

    def prepare(self, env: ModelVectorEnv) -> dict[str, Any]:
        """Return the arrays of the model, put where the program runs."""
        layout, rules = env._layout, env._rules
        observations: Any = env.model
        held = {
            "table": layout.table,
            "start": layout.start,
            "sums": layout.sums,
            "target": layout.target,
            "reward": layout.reward,
            "ends": layout.ends,
            "start_states": rules.start_states,
            "start_sums": rules.start_sums,
            "observed": rules.observed if rules.hidden else None,
        }
        if rules.random_observations:
            held["entry_start"] = observations.observation_start
            held["entry"] = observations.observation.astype(np.int64)
            held["entry_sums"] = rules.observation_sums
        with self._wide(True):
            return {name: self._put(np.array(array)) for name, array in held.items() if array is not None}

    def rollout(self, env: ModelVectorEnv, policy: Table, recorder: Recorder) -> None:
        """Take many steps each, and fill the recorder."""
        streams, over = env._streams, np.zeros(env.num_envs, dtype=bool)
        over[env._over] = True
        none = np.array([-1, 0, 0])
        now = _Now(
            *(env._states, streams.episodes, streams.starts, streams.strides, streams.steps, over),
            *(recorder.total, recorder.episodes, none),
        )
        followed = {"policy_start": policy.start, "policy_sums": policy.sums, "policy_action": policy.action}
        with self._wide(True):
            model = {**env._for_engine, **followed, "seeds": streams.seeds}
            later, shown, last = self._program(model, now, how=_how(env, policy, recorder))
            place, state, action = (int(part) for part in np.asarray(later.bad))
            if place >= 0:
                raise ActionUnavailableError(f"environment {place}: {choice_named(env.model, state, action)}")
            if recorder.record:
                seen, recorder.actions, recorder.rewards, recorder.terminated, recorder.truncated = (
                    np.array(part) for part in shown
                )
                recorder.seen = np.concatenate([seen, np.asarray(last)[None]])
            recorder.total, recorder.episodes = np.array(later.total), np.array(later.ended)
            env._states, env._over = np.array(later.states), np.flatnonzero(later.over)
            streams.put_back((streams.seeds, np.array(later.episodes), np.array(later.steps)))


def _how(env: ModelVectorEnv, policy: Table, recorder: Recorder) -> _How:
    """Return what the program is compiled for."""
    layout, rules = env._layout, env._rules
    model: Any = env.model
    most_seen = int(np.diff(model.observation_start).max()) if rules.random_observations else 1
    return _How(
        steps=recorder.steps,
        actions=layout.actions,
        stops=layout.stops,
        limit=_NEVER if env.max_steps is None else env.max_steps,
        can_end=layout.any_ends or env.max_steps is not None or layout.stops < layout.rows or len(env._over) > 0,
        same_step=env.autoreset_mode is AutoresetMode.SAME_STEP,
        record=recorder.record,
        width=layout.width,
        longest=layout.longest,
        padded=layout.start is None,
        hidden=rules.hidden,
        random=rules.random_observations,
        most_seen=most_seen,
        by_state=policy.by_state,
        certain=policy.certain,
        even=policy.even,
        most_actions=layout.actions,
    )


@cache
def engine() -> Engine:
    """Return the compiled program, the same for all environments.

    Raises:
        MissingExtra: JAX is not installed.

    Example:
        >>> from surefoot.errors import MissingExtra
        >>> try:
        ...     same = engine() is engine()
        ... except MissingExtra:
        ...     same = True
        >>> same
        True
    """
    try:
        import jax
    except ImportError:
        raise MissingExtra.of("jax", extra="jax", what="compiled rollouts (backend='jax')") from None
    return Engine(jax.jit(_rollout, static_argnames="how"), jax.enable_x64, jax.device_put)
