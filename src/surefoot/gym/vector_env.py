"""Many environments over one model in a few arrays: a step is a handful of gathers, and no loop over environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from surefoot.errors import ActionUnavailableError, BadArgument, NotStarted
from surefoot.gym._layout import Layout
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
from surefoot.gym._streams import Streams
from surefoot.gym.rollouts import Policy, Rollout, rolled
from surefoot.models.draws import OBSERVATION, pick

__all__ = ["ModelVectorEnv"]

Backend = Literal["numpy", "numba", "jax"]
Array = NDArray[Any]
_NOBODY = np.zeros(0, dtype=np.int64)
_INT64 = np.dtype(np.int64)


class ModelVectorEnv(VectorEnv[Any, Any, Any]):
    """Step N copies of a model at once, as `gymnasium.vector.SyncVectorEnv` of N `ModelEnv` would, 100 times faster.

    The rules, the arguments and the random numbers are those of `ModelEnv`: environment i has the seed `seed + i`, and
    with the same actions it goes through the same states, rewards and ends as a `ModelEnv` with that seed.

    `infos` holds `action_mask` ((N, A) int8) and, unless hidden, `state` ((N,) int64, numbers, not views), each with
    its `_name` as Gymnasium has it; where an action was not on offer and that is no error, `unavailable`. Labels are
    asked for: `has_label(name)`.

    Args:
        model: one of our models, or one of stormvogel's of these kinds.
        num_envs: N.
        reward_model_name: see `ModelEnv`, as for all arguments that are not described here.
        obs_type: see `ModelEnv`.
        termination: see `ModelEnv`.
        terminal_label: see `ModelEnv`.
        terminal_reward: see `ModelEnv`.
        on_unavailable: see `ModelEnv`; an error names the environment, and none has moved.
        unavailable_reward: see `ModelEnv`.
        max_steps: see `ModelEnv`.
        show_state: see `ModelEnv`.
        autoreset_mode: Gymnasium's: "NextStep" (an ended environment is reset by the step after, whose action it
            ignores), "SameStep" (at once; the last observation is in `infos["final_obs"]`), "Disabled" (you reset it:
            `reset(options={"reset_mask": mask})`).
        backend: "numpy"; "numba" (extra `fast`): compiled, the same trajectories; "jax" (extra `jax`): `rollout` runs
            compiled as a whole, with JAX's own random numbers, `step` as with "numpy".
        render_mode: "ansi", "rgb_array" or None; `render` gives one picture for each environment.

    Raises:
        BadArgument: a wrong argument, named with the nearest right one.
        BadModel: several reward models and no name; a value that is missing.
        MissingExtra: the backend is not installed.

    Cost: about 30 ns a step of one environment for models that fit into the cache. Memory: 24 bytes for each branch
    (rows are padded where that takes at most four times as much) and 8 for each state and action.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> coin = MarkovChain(choice_start=[0, 1, 1, 1], branch_start=[0, 2], target=[1, 2], probability=[0.5, 0.5],
        ...                    initial=0, labels={"heads": [1]})
        >>> envs = ModelVectorEnv(coin, 1000)
        >>> observations, infos = envs.reset(seed=0)
        >>> observations, rewards, terminated, truncated, infos = envs.step(np.zeros(1000, dtype=int))
        >>> bool(terminated.all()), 430 < int(envs.has_label("heads").sum()) < 570
        (True, True)
    """

    def __init__(
        self,
        model: Any,
        num_envs: int = 1,
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
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        backend: Backend = "numpy",
        render_mode: str | None = None,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise BadArgument(f"num_envs must be a whole number >= 1, got {num_envs!r}")
        rules = Rules(model, reward_model_name, obs_type, termination, terminal_label, terminal_reward)
        self._rules, self.model, self.obs_type = rules, rules.model, rules.obs_type
        self.reward_model_name = rules.reward_model_name
        self.on_unavailable: OnUnavailable = one_of("on_unavailable", on_unavailable, OnUnavailable)
        self.unavailable_reward = checked_reward(unavailable_reward)
        self.max_steps = checked_max_steps(max_steps)
        self.show_state = (not rules.hidden) if show_state is None else bool(show_state)
        self.autoreset_mode = _mode(autoreset_mode)
        self.backend: Backend = one_of("backend", backend, Backend)
        if render_mode not in (None, "ansi", "rgb_array"):
            raise BadArgument(f"render_mode is {render_mode!r}: it is one of 'ansi', 'rgb_array' or None")
        self.render_mode, self.num_envs = render_mode, int(num_envs)
        self.metadata = {
            "render_modes": ["ansi", "rgb_array"],
            "render_fps": 4,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_action_space, self.single_observation_space = rules.action_space(), rules.observation_space()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._layout = Layout(rules, self.on_unavailable, self.unavailable_reward)
        self._streams = Streams(self.num_envs)
        self._states = np.zeros(self.num_envs, dtype=np.int64)
        self._over = _NOBODY  # who is to be reset
        self._ready = self._seeded = False
        self._shape, self._bare = (self.num_envs,), rules.codes is None and not rules.hidden
        self._all = np.ones(self.num_envs, dtype=bool)
        self._all.setflags(write=False)
        self._compile()

    # ── Gymnasium's interface ───────────────────────────────────────────────────────────────────────────────────────

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start episodes and return (observations, infos).

        Args:
            seed: a whole number: environment i starts episode 0 of seed + i; a sequence: of its own; None: the next
                episode of the seed before.
            options: {"reset_mask": (N,) bool, which environments to reset, "state": the state to start in, by number or
                name, or one for each environment}.

        Raises:
            BadArgument: a wrong seed, or an option that does not exist.
        """
        given = checked_options(options, ("reset_mask", "state"))
        where = self._asked_for(given.get("reset_mask"))
        starts = self._starts(given["state"], where) if given.get("state") is not None else None
        self._seed(where, seed)
        first = self._initial(self._streams.restart(where))
        self._states[where] = first if starts is None else starts
        self._over = np.setdiff1d(self._over, where, assume_unique=True)
        self._ready = True
        return self._observe(self._states, self._streams.steps), self._infos(self._states)

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """Take one step each and return (observations, rewards, terminated, truncated, infos), arrays of length N.

        Args:
            actions: (N,) whole numbers.

        Raises:
            ActionUnavailableError: an action does not exist, or is not on offer and `on_unavailable` is "raise"; no
                environment has moved.
            NotStarted: before `reset`; or an environment is over and `autoreset_mode` is "Disabled".
            BadArgument: not N whole numbers.
        """
        states, rewards, terminated, truncated, unavailable = self._move(self._checked(actions))
        steps = self._streams.steps if self._rules.random_observations else None
        observations = self._observe(states, steps)
        final: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and len(self._over):
            final = self._finals(observations, states, unavailable)
            self._restart_over()
            observations = self._observe(self._states, self._streams.steps if steps is not None else None)
        infos = self._infos(self._states, unavailable)
        return observations, rewards, terminated, truncated, infos | final

    def render(self) -> tuple[Any, ...] | None:
        """Return a text or a picture of each environment, as `ModelEnv.render` does for one."""
        if self.render_mode is None:
            return None
        self._must_be_ready("render")
        draw = as_text if self.render_mode == "ansi" else as_image
        steps = self._streams.steps.tolist()
        return tuple(
            draw(self.model, state, step=step, observed=None)
            for state, step in zip(self._states.tolist(), steps, strict=True)
        )

    # ── more ────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def states(self) -> NDArray[np.int64]:
        """Return the number of each environment's state, (N,) int64."""
        return self._states.copy()

    def has_label(self, label: str) -> NDArray[np.bool_]:
        """Return whether each environment's state has a label, (N,) bool.

        Raises:
            UnknownName: there is no such label.
        """
        self.model.states_with(label)
        return self.model.labels[label][self._states]

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions each environment takes, (N, A) bool."""
        return self._layout.mask_rows(self._states).astype(bool)

    def rollout(self, policy: Policy = None, steps: int = 1, *, record: bool = True) -> Rollout:
        """Take many steps by a policy, and return what happened; the same as that many calls of `step`.

        With the backends "numba" and "jax" all of it runs compiled.

        Args:
            policy: None: each action that is on offer is equally likely; (X,) ints: the action for each state (for each
                observation, where states are hidden); (X, A) floats: how likely each action is there; or a function
                (observations, action_mask) → actions, which only "numpy" and "numba" take, a step at a time.
            steps: how many, >= 1.
            record: False: keep only the sums, which takes no memory.

        Raises:
            ActionUnavailableError: the policy chose an action that is not on offer and `on_unavailable` is "raise".
            BadArgument: a policy of the wrong shape; `autoreset_mode` is "Disabled".

        Cost: 10 to 40 ns a step of one environment, and 26 bytes of memory if it is recorded.
        """
        self._must_be_ready("rollout")
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
            raise BadArgument(f"steps must be a whole number >= 1, got {steps!r}")
        if self.autoreset_mode is AutoresetMode.DISABLED:
            raise BadArgument("rollout needs autoreset_mode 'NextStep' or 'SameStep': it cannot ask you to reset")
        return rolled(self, policy, int(steps), record)

    def save_state(self) -> tuple[Any, ...]:
        """Return a token for `restore_state`: copies of small arrays, no model."""
        self._must_be_ready("save_state")
        return (*self._streams.token(), self._states.copy(), self._over.copy())

    def restore_state(self, token: tuple[Any, ...]) -> tuple[Any, dict[str, Any]]:
        """Go back to where `save_state` gave `token`, and return (observations, infos) there.

        Raises:
            BadArgument: the token is of another number of environments.
        """
        *stream, states, over = token
        self._streams.put_back(tuple(stream))
        self._states, self._over, self._ready, self._seeded = states.copy(), over.copy(), True, True
        return self._observe(self._states, self._streams.steps), self._infos(self._states)

    # ── how it is done ──────────────────────────────────────────────────────────────────────────────────────────────

    def _must_be_ready(self, what: str) -> None:
        if not self._ready:
            raise NotStarted(f"{what} before reset(): call reset(seed=...) first")

    def _asked_for(self, mask: Any) -> NDArray[np.int64]:
        """Return who is to be reset."""
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.num_envs,) or not mask.any():
            raise BadArgument(f"reset_mask must be ({self.num_envs},) bool with at least one True, got {mask!r}")
        self._must_be_ready("reset with a reset_mask")
        return np.flatnonzero(mask)

    def _starts(self, given: Any, where: NDArray[np.int64]) -> Array | int:
        """Return the states to start in."""
        if isinstance(given, np.ndarray | list | tuple) and np.ndim(given) == 1:
            if len(given) != self.num_envs:
                raise BadArgument(f"the option 'state' has {len(given)} states, there are {self.num_envs} environments")
            return np.array([state_asked_for(self._rules, given[int(place)]) for place in where])
        return state_asked_for(self._rules, given)

    def _seed(self, where: NDArray[np.int64], seed: Any) -> None:
        """Take new seeds, or choose some the first time."""
        if seed is None and self._seeded:
            return
        if seed is None or isinstance(seed, int | np.integer):
            super().reset(seed=None if seed is None else int(seed))
            known = int(self.np_random.integers(1 << 63)) if seed is None else int(seed)
            self._streams.seed(where, known)
        else:
            listed = list(seed)
            if len(listed) != self.num_envs:
                raise BadArgument(f"seed has {len(listed)} numbers, there are {self.num_envs} environments")
            if not self._seeded:
                self._streams.seed(where, int(self.np_random.integers(1 << 63)))
            self._streams.seed(where, listed)
        self._seeded = True

    def _initial(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the states that numbers pick from the initial distribution."""
        rules = self._rules
        if len(rules.start_states) == 1:
            return np.full(len(numbers), rules.start_states[0])
        return rules.start_states[np.searchsorted(rules.start_sums, numbers, side="right")]

    def _checked(self, actions: Any) -> NDArray[np.int64]:
        """Return actions as an array of existing ones (compiled steps look at that themselves)."""
        self._must_be_ready("step(...)")
        given = actions if type(actions) is np.ndarray else np.asarray(actions)
        if given.shape != self._shape or given.dtype.kind not in "iu":
            raise BadArgument(
                f"actions must be {self.num_envs} whole numbers in one array, got {given.dtype.name} of the shape "
                f"{given.shape}"
            )
        taken = given if given.dtype is _INT64 else given.astype(np.int64)
        if len(self._over):
            if self.autoreset_mode is AutoresetMode.DISABLED:
                raise NotStarted(
                    f"environments {self._over[:5].tolist()} are over: reset(options={{'reset_mask': mask}}) first"
                )
            taken = taken.copy()
            taken[self._over] = 0
        if self.backend != "numba" and np.maximum.reduce(taken.view(np.uint64)) >= self._layout.actions:
            self._say_unavailable(int(np.argmax(taken.view(np.uint64) >= self._layout.actions)), taken)
        return taken

    def _move(self, actions: NDArray[np.int64]) -> tuple[Array, Array, Array, Array, Array | None]:
        """Take one step each, and return (states, rewards, terminated, truncated, who took what is not on offer)."""
        over = self._over
        moved = self._numpy_step(actions) if self.backend != "numba" else self._compiled.step(self, actions)
        states, rewards, terminated, truncated, unavailable = moved
        self._streams.forward()
        if len(over):  # NEXT_STEP: this was their reset
            states[over] = self._initial(self._streams.restart(over))
            rewards[over], terminated[over], truncated[over] = 0.0, False, False
            if unavailable is not None:
                unavailable[over] = False
        layout = self._layout
        if layout.any_ends or self.max_steps is not None or layout.stops < layout.rows:
            self._over = np.flatnonzero(terminated | truncated)
        self._states = states
        return states, rewards, terminated, truncated, unavailable

    def _numpy_step(self, actions: NDArray[np.int64]) -> tuple[Array, Array, Array, Array, Array | None]:
        layout, over = self._layout, self._over
        rows = self._states * layout.actions
        rows += actions
        if layout.table is not None:
            rows = layout.table.take(rows, mode="clip")
            rows[over] = 0
            if layout.may_lack and np.minimum.reduce(rows) < 0:
                self._say_unavailable(int(np.argmin(rows)), actions)
        stops = rows >= layout.stops if layout.stops < layout.rows else None
        unavailable = rows >= layout.first_unavailable if layout.first_unavailable < layout.rows else None
        branches = layout.branch_of(rows, self._streams.numbers())
        states = layout.target.take(branches, mode="clip")
        rewards = np.zeros(self.num_envs) if layout.reward is None else layout.reward.take(branches, mode="clip")
        terminated = layout.ends.take(states, mode="clip") if layout.any_ends else np.zeros(self.num_envs, dtype=bool)
        if stops is not None:
            terminated |= stops
        if self.max_steps is None:
            truncated = np.zeros(self.num_envs, dtype=bool)
        else:
            truncated = self._streams.begun <= self._streams.clock + 1 - self.max_steps
        return states, rewards, terminated, truncated, unavailable

    def _say_unavailable(self, place: int, actions: NDArray[np.int64]) -> None:
        """Say which environment was given an action that is not on offer."""
        action, count = int(actions[place]), self._layout.actions
        if not 0 <= action < count:
            raise ActionUnavailableError(
                f"environment {place}: there is no action {action}: numbers are in [0, {count})"
            )
        raise ActionUnavailableError(
            f"environment {place}: {choice_named(self.model, int(self._states[place]), action)}"
        )

    def _restart_over(self) -> None:
        """Reset at once who is over (SAME_STEP)."""
        self._states = self._states.copy()
        self._states[self._over] = self._initial(self._streams.restart(self._over))
        self._over = _NOBODY

    def _seen(self, states: NDArray[np.int64], steps: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return the number of what is observed in each environment, fresh."""
        rules = self._rules
        if not rules.hidden:
            return states.copy()
        if not rules.random_observations or steps is None:
            return rules.observed.take(states, mode="clip")
        model: Any = self.model
        numbers = self._streams.lane(OBSERVATION)
        start = model.observation_start
        entries = pick(rules.observation_sums, start[states], start[states + 1], numbers)
        seen: NDArray[np.int64] = model.observation[entries].astype(np.int64)
        return seen

    def _observe(self, states: NDArray[np.int64], steps: NDArray[np.int64] | None) -> Any:
        """Return the observations."""
        if self._bare:
            return states.copy()
        return self._decoded(self._seen(states, steps))

    def _decoded(self, seen: NDArray[np.int64]) -> Any:
        """Return observations by their numbers: those themselves, or the codes of the variables."""
        rules = self._rules
        if rules.codes is None:
            return seen
        return {name: rules.codes[:, place].take(seen) for place, (name, _) in enumerate(rules.variables)}

    def _infos(self, states: NDArray[np.int64], unavailable: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        infos: dict[str, Any] = {"action_mask": self._layout.mask_rows(states), "_action_mask": self._all}
        if self.show_state:
            infos["state"], infos["_state"] = states.copy(), self._all
        if unavailable is not None and unavailable.any():
            infos["unavailable"], infos["_unavailable"] = unavailable, unavailable.copy()
        return infos

    def _finals(
        self, observations: Any, states: NDArray[np.int64], unavailable: NDArray[np.bool_] | None
    ) -> dict[str, Any]:
        """Return what is said of the last step of those that are reset now (SAME_STEP), and no longer of the others."""
        over = self._over
        who = np.zeros(self.num_envs, dtype=bool)
        who[over] = True
        last = np.full(self.num_envs, None, dtype=object)
        if isinstance(observations, dict):
            columns = zip(*(column[over].tolist() for column in observations.values()), strict=True)
            for place, row in zip(over.tolist(), columns, strict=True):
                last[place] = dict(zip(observations, row, strict=True))
        else:
            last[over] = observations[over].astype(object)
        infos = self._infos(states)
        if unavailable is not None:
            lacked = unavailable & who
            unavailable[over] = False
            if lacked.any():
                infos["unavailable"] = lacked
        for name in [name for name in infos if not name.startswith("_")]:
            infos[name][~who] = 0
            infos[f"_{name}"] = lacked.copy() if name == "unavailable" else who.copy()
        return {"final_obs": last, "_final_obs": who, "final_info": infos, "_final_info": who.copy()}

    def __getstate__(self) -> dict[str, Any]:
        return {name: held for name, held in self.__dict__.items() if name not in ("_compiled", "_for_engine")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._compile()

    def _compile(self) -> None:
        """Get what steps instead of NumPy, and what it needs of the model."""
        self._compiled = _engine(self.backend)
        self._for_engine: Any = None if self._compiled is None else self._compiled.prepare(self)


def _mode(given: str | AutoresetMode) -> AutoresetMode:
    """Return one of Gymnasium's modes."""
    if isinstance(given, AutoresetMode):
        return given
    try:
        return AutoresetMode(given)
    except ValueError:
        names = ", ".join(repr(mode.value) for mode in AutoresetMode)
        raise BadArgument(f"autoreset_mode is {given!r}: it is one of {names}") from None


def _engine(backend: Backend) -> Any:
    """Return what steps instead of NumPy, None if that does."""
    if backend == "numba":
        from surefoot.gym import vector_numba

        return vector_numba.engine()
    if backend == "jax":
        from surefoot.gym import vector_jax

        return vector_jax.engine()
    return None
