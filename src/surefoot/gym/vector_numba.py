"""The steps of `ModelVectorEnv` as compiled loops (extra `fast`): the same numbers, the same trajectories, faster.

The functions are compiled when they are first used, in some seconds, and kept in Numba's cache for the next process.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from surefoot.models._compiled import compiler
from surefoot.models.draws import INITIAL, LANES, OBSERVATION, POLICY

if TYPE_CHECKING:
    from surefoot.gym.rollouts import Recorder, Table
    from surefoot.gym.vector_env import ModelVectorEnv

__all__ = ["Engine", "engine"]

_NEVER = 1 << 62
_NO_INTS, _NO_FLOATS = np.zeros(0, dtype=np.int64), np.zeros(0)
_GOLDEN, _STRIDE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1342543DE82EF95)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11, _S37 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11), np.uint64(37)
_ONE, _LANES = np.uint64(1), np.uint64(LANES)
_INITIAL, _OBSERVATION, _POLICY = np.uint64(INITIAL + 1), np.uint64(OBSERVATION + 1), np.uint64(POLICY + 1)
_UNIT = 2.0**-53


# Plain Python that Numba compiles; what they do is described in `surefoot.models.draws` and `surefoot.gym._layout`.


def _mix(x: Any) -> Any:
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


def _word(start: Any, stride: Any, step: Any, lane: Any) -> Any:
    """Return the 53 bits of a number."""
    return _mix(start + (np.uint64(step) * _LANES + lane) * stride) >> _S11


def _number(start: Any, stride: Any, step: Any, lane: Any) -> Any:
    return _word(start, stride, step, lane) * _UNIT


def _search(sums: Any, low: Any, high: Any, number: Any) -> Any:
    """Find the first place in [low, high) whose running sum is greater; the last is."""
    high -= 1
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low


def _step(
    states: Any,
    actions: Any,
    over: Any,
    where: Any,
    clock: int,
    numbers: Any,
    table: Any,
    start: Any,
    sums: Any,
    bits: Any,
    targets: Any,
    rewards: Any,
    ends: Any,
    out: tuple[Any, Any, Any, Any, Any],
) -> int:
    """Take one step each; return the first environment whose action is not on offer, -1 if there is none."""
    count, stops, unavailable, limit = numbers[0], numbers[1], numbers[2], numbers[3]
    width, to_at, pay_at, per_row = numbers[4], numbers[5], numbers[6], numbers[7] > 0
    to, paid, terminated, truncated, lacked = out
    padded = len(start) == 0
    starts, strides, begun = where[0], where[1], where[2]
    for place in range(len(states)):
        action = actions[place]
        if action < 0 or action >= count:
            return place
        row = states[place] * count + action
        if len(table):
            row = table[row]
            if row < 0:
                if not (len(over) and over[place]):
                    return place
                row = 0
        step = clock - np.int64(begun[place])
        word = _word(starts[place], strides[place], step, _ONE)
        if padded:
            after, tie, top = 0, False, word >> _S37
            for other in range(width - 1):
                after += top > bits[row, other]
                tie |= top == bits[row, other]
            if tie:
                after = _search(sums, row * width, row * width + width, word * _UNIT) - row * width
            then = np.int64(targets[row, to_at + after])
            paid[place] = rewards[row, pay_at] if per_row else rewards[row, pay_at + after]
        else:
            branch = _search(sums, start[row], start[row + 1], word * _UNIT)
            then, paid[place] = np.int64(targets[branch, 0]), rewards[branch, 0]
        to[place] = then
        terminated[place] = ends[then] or row >= stops
        truncated[place] = step + 1 >= limit
        if len(lacked):
            lacked[place] = row >= unavailable
    return -1


def _rollout(
    states: Any,
    seeds: Any,
    episodes: Any,
    starts: Any,
    strides: Any,
    begun: Any,
    clock: int,
    over: Any,
    numbers: Any,
    table: Any,
    start: Any,
    sums: Any,
    bits: Any,
    targets: Any,
    rewards: Any,
    ends: Any,
    initial: tuple[Any, Any],
    look: tuple[Any, Any, Any, Any],
    policy: tuple[Any, Any, Any],
    how: tuple[bool, bool, bool, bool],
    steps: int,
    total: Any,
    ended: Any,
    seen: Any,
    acted: Any,
    paid: Any,
    terminated: Any,
    truncated: Any,
) -> tuple[int, int]:
    """Take many steps each; return (environment, action) where an action is not on offer, (-1, 0) if all were."""
    count, stops, limit = numbers[0], numbers[1], numbers[3]
    width, to_at, pay_at, per_row = numbers[4], numbers[5], numbers[6], numbers[7] > 0
    start_states, start_sums = initial
    observed, entry_start, entry, entry_sums = look
    policy_start, policy_sums, policy_action = policy
    by_state, certain, same_step, record = how
    hidden, padded = len(observed) > 0, len(start) == 0
    for t in range(steps):
        for place in range(len(states)):
            state, step = states[place], clock + t - begun[place]
            sight = state
            if hidden and (record or not by_state):
                sight = observed[state]
                if len(entry):
                    number = _number(starts[place], strides[place], step, _OBSERVATION)
                    sight = np.int64(entry[_search(entry_sums, entry_start[state], entry_start[state + 1], number)])
            at = state if by_state else sight
            low, high = policy_start[at], policy_start[at + 1]
            if not certain:
                number = _number(starts[place], strides[place], step, _POLICY)
                if len(policy_sums):
                    low = _search(policy_sums, low, high, number)
                else:
                    low += np.int64(number * (high - low))
            action = policy_action[low]
            if record:
                seen[t, place], acted[t, place] = sight, action
            begins = over[place]
            if not begins:
                row = state * count + action
                if len(table):
                    row = table[row]
                    if row < 0:
                        states[place] = state
                        return place, action
                word = _word(starts[place], strides[place], step, _ONE)
                if padded:
                    after, tie, top = 0, False, word >> _S37
                    for other in range(width - 1):
                        after += top > bits[row, other]
                        tie |= top == bits[row, other]
                    if tie:
                        after = _search(sums, row * width, row * width + width, word * _UNIT) - row * width
                    state = np.int64(targets[row, to_at + after])
                    gain = rewards[row, pay_at] if per_row else rewards[row, pay_at + after]
                else:
                    branch = _search(sums, start[row], start[row + 1], word * _UNIT)
                    state, gain = np.int64(targets[branch, 0]), rewards[branch, 0]
                states[place] = state
                total[place] += gain
                stop, cut = ends[state] or row >= stops, step + 1 >= limit
                ended[place] += stop or cut
                over[place] = stop or cut
                if record:
                    paid[t, place], terminated[t, place], truncated[t, place] = gain, stop, cut
                begins = same_step and (stop or cut)
            if begins:
                over[place] = False
                episodes[place] += 1
                key = _mix(seeds[place] + _GOLDEN)
                fresh = _mix(key + np.uint64(episodes[place]) * _STRIDE)
                starts[place], strides[place], begun[place] = fresh, _mix(fresh ^ _GOLDEN) | _ONE, clock + t + 1
                number = _number(starts[place], strides[place], 0, _INITIAL)
                states[place] = start_states[_search(start_sums, 0, len(start_sums), number)]
    if record:
        for place in range(len(states)):
            sight = states[place]
            if hidden:
                state, step = sight, clock + steps - begun[place]
                sight = observed[state]
                if len(entry):
                    number = _number(starts[place], strides[place], step, _OBSERVATION)
                    sight = np.int64(entry[_search(entry_sums, entry_start[state], entry_start[state + 1], number)])
            seen[steps, place] = sight
    return -1, 0


class Engine:
    """Hold the compiled functions, and call them with the arrays of a `ModelVectorEnv`.

    Example:
        >>> from surefoot.errors import MissingExtra
        >>> try:
        ...     ready = callable(engine().step)
        ... except MissingExtra as error:
        ...     ready = "surefoot[fast]" in str(error)
        >>> ready
        True
    """

    def __init__(self, step: Any, rollout: Any) -> None:
        self._step, self._rollout = step, rollout

    def prepare(self, env: ModelVectorEnv) -> tuple[Any, ...]:
        """Return the arrays of the model, to be kept: they do not change."""
        return arrays_of(env)

    def step(self, env: ModelVectorEnv, actions: NDArray[np.int64]) -> tuple[Any, Any, Any, Any, Any]:
        """Take one step each: what `ModelVectorEnv` does with NumPy."""
        layout, streams, count = env._layout, env._streams, env.num_envs
        over = _NO_BOOLS
        if len(env._over):
            over = np.zeros(count, dtype=bool)
            over[env._over] = True
        lacks = layout.first_unavailable < layout.rows
        out = (
            np.empty(count, dtype=np.int64),
            np.empty(count),
            np.empty(count, dtype=bool),
            np.empty(count, dtype=bool),
            np.empty(count, dtype=bool) if lacks else _NO_BOOLS,
        )
        bad = self._step(env._states, actions, over, streams.where, streams.clock, *env._for_engine, out)
        if bad >= 0:
            env._say_unavailable(bad, actions)
        return (*out[:4], out[4] if lacks else None)

    def rollout(self, env: ModelVectorEnv, policy: Table, recorder: Recorder) -> None:
        """Take many steps each, and fill the recorder."""
        rules, streams, model = env._rules, env._streams, env.model
        over = np.zeros(env.num_envs, dtype=bool)
        over[env._over] = True
        states = env._states.copy()
        observations: Any = model
        look = (
            rules.observed if rules.hidden else _NO_INTS,
            np.array(observations.observation_start) if rules.random_observations else _NO_INTS,
            np.array(observations.observation) if rules.random_observations else _NO_INT32,
            np.array(rules.observation_sums) if rules.random_observations else _NO_FLOATS,
        )  # copies: Numba would compile once more for arrays that are read-only
        place, action = self._rollout(
            states,
            *(streams.seeds, streams.episodes, streams.starts, streams.strides, streams.begun, streams.clock),
            over,
            *env._for_engine,
            (rules.start_states, rules.start_sums),
            look,
            (policy.start, policy.sums, policy.action),
            (policy.by_state, policy.certain, env.autoreset_mode is AutoresetMode.SAME_STEP, recorder.record),
            recorder.steps,
            *(recorder.total, recorder.episodes, recorder.seen, recorder.actions),
            *(recorder.rewards, recorder.terminated, recorder.truncated),
        )
        env._states, env._over = states, np.flatnonzero(over)
        if place >= 0:
            actions = np.zeros(env.num_envs, dtype=np.int64)
            actions[place] = action
            env._say_unavailable(place, actions)
        streams.jump(recorder.steps)


_NO_BOOLS, _NO_INT32 = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int32)


def arrays_of(env: ModelVectorEnv) -> tuple[Any, ...]:
    """Return the arrays of the model that both functions take; an empty one stands for None."""
    layout = env._layout
    records = layout.records
    limit = _NEVER if env.max_steps is None else env.max_steps
    if records is None:
        at, bits = (0, 0, 0), np.zeros((0, 1), dtype=np.uint16)
        paid = np.zeros(len(layout.target)) if layout.reward is None else layout.reward
        targets, rewards = layout.target.astype(np.int32)[:, None].copy(), paid[:, None].copy()
    else:
        at, bits, targets, rewards = (*records.at, int(records.per_row)), records.bits, records.targets, records.rewards
    return (
        np.array([layout.actions, layout.stops, layout.first_unavailable, limit, layout.width, *at]),
        _NO_INTS if layout.table is None else layout.table,
        _NO_INTS if layout.start is None else layout.start,
        layout.sums,
        bits,
        targets,
        rewards,
        layout.ends,
    )


@cache
def engine() -> Engine:
    """Return the compiled functions, the same for all environments.

    Raises:
        MissingExtra: Numba is not installed.

    Example:
        >>> from surefoot.errors import MissingExtra
        >>> try:
        ...     same = engine() is engine()
        ... except MissingExtra:
        ...     same = True
        >>> same
        True
    """
    njit = compiler("compiled steps (backend='numba')")
    names = globals()
    for name in ("_mix", "_word", "_number", "_search"):
        names[name] = njit(forceinline=True, error_model="numpy")(names[name])
    options = {"nogil": True, "cache": True, "error_model": "numpy"}
    return Engine(njit(**options)(_step), njit(**options)(_rollout))
