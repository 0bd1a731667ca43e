"""Many steps of many environments by a policy: what is recorded, and how it is done with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models.draws import POLICY, cumulative, pick

if TYPE_CHECKING:
    from surefoot.gym.vector_env import ModelVectorEnv
    from surefoot.models.model import Model

__all__ = ["Policy", "Recorder", "Rollout", "Table", "rolled"]

Policy = NDArray[Any] | Callable[[Any, NDArray[np.int8]], Any] | None
"""What `rollout` follows: None for any action on offer, an array by state, or a function.

Example:
    >>> Policy is not None
    True
"""


@dataclass(frozen=True, slots=True)
class Rollout:
    """Hold T steps of N environments, as that many calls of `step` would have given them.

    Args:
        steps: T.
        total: (N,) float64, the rewards of each environment added up.
        episodes: (N,) int64, how many episodes of each have ended.
        observations: (T + 1, N) int64, or a dict of such arrays; the first is from before the first step. None where
            nothing was recorded, as for all that follows.
        actions: (T, N) int64. In "NextStep" the action of a step that is a reset means nothing.
        rewards: (T, N) float64.
        terminated: (T, N) bool.
        truncated: (T, N) bool.

    Example:
        >>> from surefoot.gym import ModelVectorEnv
        >>> from surefoot.models import MarkovChain
        >>> chain = MarkovChain(choice_start=[0, 1, 1], branch_start=[0, 1], target=[1], probability=[1.0], initial=0,
        ...                     rewards={"step": [1.0, 0.0]})
        >>> envs = ModelVectorEnv(chain, 2, autoreset_mode="SameStep")
        >>> _ = envs.reset(seed=0)
        >>> run = envs.rollout(steps=3)
        >>> run.total.tolist(), run.episodes.tolist(), run.rewards.shape
        ([3.0, 3.0], [3, 3], (3, 2))
    """

    steps: int
    total: NDArray[np.float64]
    episodes: NDArray[np.int64]
    observations: Any = None
    actions: NDArray[np.int64] | None = None
    rewards: NDArray[np.float64] | None = None
    terminated: NDArray[np.bool_] | None = None
    truncated: NDArray[np.bool_] | None = None


class Recorder:
    """Hold the arrays that a rollout fills, and make a `Rollout` of them.

    Args:
        count: N.
        steps: T.
        record: whether more is kept than sums.

    Example:
        >>> Recorder(2, 3, record=True).rewards.shape
        (3, 2)
    """

    def __init__(self, count: int, steps: int, *, record: bool) -> None:
        self.steps, self.record = steps, record
        rows = steps if record else 0
        self.total = np.zeros(count)
        self.episodes = np.zeros(count, dtype=np.int64)
        self.seen = np.zeros((rows + record, count), dtype=np.int64)
        self.actions = np.zeros((rows, count), dtype=np.int64)
        self.rewards = np.zeros((rows, count))
        self.terminated = np.zeros((rows, count), dtype=bool)
        self.truncated = np.zeros((rows, count), dtype=bool)

    def finish(self, decoded: Callable[[NDArray[np.int64]], Any]) -> Rollout:
        """Return what was recorded."""
        if not self.record:
            return Rollout(self.steps, self.total, self.episodes)
        return Rollout(
            self.steps,
            self.total,
            self.episodes,
            decoded(self.seen),
            self.actions,
            self.rewards,
            self.terminated,
            self.truncated,
        )


class Table:
    """Hold a policy as arrays, whichever way it was given; a row is a state, or an observation if states are hidden.

    `start`: (X + 1,) int64, where each row starts. `sums`: float64, the running sums of a row; `action`: int64, what is
    done if a number picks that place. `even`: every place of a row is equally likely, so that it is found by a product.

    Example:
        >>> from surefoot.gym import ModelVectorEnv
        >>> from surefoot.models import MarkovChain
        >>> chain = MarkovChain(choice_start=[0, 1, 1], branch_start=[0, 1], target=[1], probability=[1.0], initial=0)
        >>> Table(ModelVectorEnv(chain, 2), None).action.tolist()
        [0, 0]
    """

    def __init__(self, env: ModelVectorEnv, policy: NDArray[Any] | None) -> None:
        model, rules = env.model, env._rules
        self.by_state = policy is None or not rules.hidden
        self.sums = np.zeros(0)
        self.even = True
        if policy is None:
            self.start, self.action = _on_offer(model)
            return
        count: int = model.n_observations if rules.hidden else model.n_states  # type: ignore[attr-defined]  # hidden: it has them
        what = "observations" if rules.hidden else "states"
        given = np.asarray(policy)
        if given.shape == (count,) and given.dtype.kind in "iu":
            self.start, self.action = np.arange(count + 1), given.astype(np.int64)
            if ((self.action < 0) | (self.action >= model.n_actions)).any():
                raise BadArgument(f"policy has actions that do not exist: numbers are in [0, {model.n_actions})")
            return
        if given.shape != (count, model.n_actions) or given.dtype.kind not in "f":
            raise BadArgument(
                f"policy must be None, a function, ({count},) whole numbers or ({count}, {model.n_actions}) "
                f"probabilities, for {count} {what}; got {given.dtype.name} of the shape {given.shape}"
            )
        off = ~(np.isfinite(given).all(axis=1) & (given >= 0).all(axis=1) & (np.abs(given.sum(axis=1) - 1) <= 1e-9))
        if off.any():
            row = int(np.argmax(off))
            raise BadArgument(f"policy gives no distribution in row {row}: {given[row]}")
        self.even = False
        self.start = np.arange(count + 1) * model.n_actions
        self.sums = np.array(cumulative(self.start, given.ravel()))
        self.action = np.tile(np.arange(model.n_actions, dtype=np.int64), count)

    @property
    def certain(self) -> bool:
        """Say whether each row has one action, so that no number is needed."""
        return len(self.action) == len(self.start) - 1

    def act(self, rows: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return what is done in each environment."""
        low, high = self.start.take(rows), self.start.take(rows + 1)
        if self.even:
            low = low + (numbers * (high - low)).astype(np.int64)
        else:
            low = pick(self.sums, low, high, numbers)
        done: NDArray[np.int64] = self.action.take(low)
        return done


def _on_offer(model: Model) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each row starts, and the actions of each state: in the order of its choices, else all."""
    offered = np.diff(model.choice_start)
    stuck = np.flatnonzero(offered == 0)
    start = np.concatenate([[0], np.cumsum(np.where(offered == 0, model.n_actions, offered))])
    action = np.empty(start[-1], dtype=np.int64)
    places = np.arange(model.n_choices) - model.choice_start[model.choice_state] + start[model.choice_state]
    action[places] = model.choice_action
    action[start[stuck][:, None] + np.arange(model.n_actions)] = np.arange(model.n_actions)
    return start, action


def rolled(env: ModelVectorEnv, policy: Policy, steps: int, record: bool) -> Rollout:
    """Return what `ModelVectorEnv.rollout` returns.

    Example:
        >>> from surefoot.gym import ModelVectorEnv
        >>> from surefoot.models import MarkovChain
        >>> loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> envs = ModelVectorEnv(loop, 2, termination="never")
        >>> _ = envs.reset(seed=0)
        >>> rolled(envs, None, 5, True).observations.shape
        (6, 2)
    """
    recorder = Recorder(env.num_envs, steps, record=record)
    if callable(policy) and env.backend == "jax":
        raise BadArgument("policy is a function, and backend='jax' compiles all of a rollout: give an array, or None")
    followed = policy if callable(policy) else Table(env, policy)
    before = env.save_state()
    try:
        if env._compiled is not None and isinstance(followed, Table):
            env._compiled.rollout(env, followed, recorder)
        else:
            _with_numpy(env, followed, recorder)
    except Exception:
        env.restore_state(before)  # a refused call changes nothing
        raise
    return recorder.finish(env._decoded)


def _with_numpy(env: ModelVectorEnv, policy: Any, recorder: Recorder) -> None:
    """Take the steps with NumPy, one after the other."""
    streams, random = env._streams, env._rules.random_observations
    same_step = env.autoreset_mode is AutoresetMode.SAME_STEP
    table = policy if isinstance(policy, Table) else None
    look = table is None or not table.by_state or recorder.record
    seen = env._seen(env._states, streams.steps) if look else env._states
    if recorder.record:
        recorder.seen[0] = seen
    for step in range(recorder.steps):
        if table is None:
            actions = env._checked(policy(env._decoded(seen), env._layout.mask_rows(env._states)))
        else:
            rows = env._states if table.by_state else seen
            actions = table.action.take(rows) if table.certain else table.act(rows, streams.lane(POLICY))
        _, rewards, terminated, truncated, _ = env._move(actions)
        recorder.total += rewards
        if env._layout.any_ends or env.max_steps is not None or len(env._over):
            recorder.episodes += terminated | truncated
        if same_step and len(env._over):
            env._restart_over()
        if look:
            seen = env._seen(env._states, streams.steps if random else None)
        if recorder.record:
            recorder.seen[step + 1], recorder.actions[step], recorder.rewards[step] = seen, actions, rewards
            recorder.terminated[step], recorder.truncated[step] = terminated, truncated
