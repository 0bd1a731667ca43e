"""Many runs of a model at once, each with a stream of random numbers of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models import draws, parts
from surefoot.models._arrays import frozen_now
from surefoot.models._policies import Policy, chooser_of
from surefoot.models.markov import Model, ObservedModel

__all__ = ["Paths", "Simulation", "paths", "simulate"]

_NEVER = -1


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Hold what many runs came to.

    Args:
        model: what was run.
        state: (R,) int32, the state in which each run ended.
        length: (R,) int32, how many steps it took.
        ended: (R,) bool, whether it ended by itself (else it was cut off after `steps` steps).
        total: {reward model: (R,) float64}, what each run was paid in all.
        visits: (S,) int64, how often each state was entered or started in, over all runs.
        taken: (B,) int64, how often each branch was taken, over all runs.

    Example:
        >>> from surefoot.models.examples import die
        >>> result = simulate(die(), runs=10_000, steps=100, seed=7)
        >>> bool(result.ended.all()), abs(result.mean("tosses") - 11 / 3) < 0.05
        (True, True)
    """

    model: Model
    state: NDArray[np.int32]
    length: NDArray[np.int32]
    ended: NDArray[np.bool_]
    total: Mapping[str, NDArray[np.float64]]
    visits: NDArray[np.int64]
    taken: NDArray[np.int64]

    def mean(self, reward: str | None = None) -> float:
        """Return what a run was paid on average.

        Raises:
            UnknownName: there is no such reward model.
        """
        self.model.reward(reward)
        return float(self.total[next(iter(self.total)) if reward is None else reward].mean())

    def frequency(self, label: str) -> float:
        """Return the part of the runs that ended in a state with a label.

        Raises:
            UnknownName: there is no such label.
        """
        self.model.states_with(label)
        return float(self.model.labels[label][self.state].mean())

    def explored(self) -> Model:
        """Return the part of the model that was tried: the choices that were taken, with their true probabilities.

        States that a choice which was taken may lead to are there too; those where none was taken are absorbing in it.

        Cost: linear in the model.

        Example:
            >>> from surefoot.models.examples import die
            >>> list(simulate(die(), runs=1, steps=1, seed=7).explored().state_names)
            ['start', 'odd', 'even']
        """
        choices = np.zeros(self.model.n_choices, dtype=np.bool_)
        choices[self.model.branch_choice[self.taken > 0]] = True
        return parts.part(self.model, choices)

    def __repr__(self) -> str:
        return f"<Simulation: {len(self.state)} runs, {int(self.length.sum())} steps>"


@dataclass(frozen=True, eq=False, repr=False)
class Paths:
    """Hold every step of many runs; -1 stands where a run was over.

    Args:
        model: what was run.
        state: (R, T + 1) int32, the states from the start on.
        action: (R, T) int32, the numbers of the actions (0 in chains).
        reward: {reward model: (R, T) float64}; 0 where the run was over.
        observation: (R, T + 1) int32, what was observed in each state; None without observations.
        length: (R,) int32, how many steps each run took.

    Example:
        >>> from surefoot.models.examples import die
        >>> one = paths(die(), runs=1, steps=10, seed=1)
        >>> one.names(0)
        ['start', 'odd', 'two or three', 'three']
    """

    model: Model
    state: NDArray[np.int32]
    action: NDArray[np.int32]
    reward: Mapping[str, NDArray[np.float64]]
    observation: NDArray[np.int32] | None
    length: NDArray[np.int32]

    def names(self, run: int) -> list[str]:
        """Return the names of the states of a run, with those of the actions between them where there are any."""
        length = int(self.length[run])
        states = [self.model.state_name(int(state)) for state in self.state[run, : length + 1]]
        if not self.model.has_actions:
            return states
        actions = [self.model.action_name(int(action)) for action in self.action[run, :length]]
        return [name for pair in zip(states, actions, strict=False) for name in pair] + states[-1:]

    def __len__(self) -> int:
        return len(self.state)

    def __repr__(self) -> str:
        return f"<Paths: {len(self.state)} runs, {int(self.length.sum())} steps>"


def simulate(
    model: Model,
    policy: Policy = None,
    runs: int = 1,
    steps: int = 1_000,
    seed: int = 0,
    *,
    until: str | None = None,
    observing: bool = False,
    first_run: int = 0,
) -> Simulation:
    """Run a model many times and return what it came to.

    A run starts in a state of the initial distribution, and ends in an absorbing state, in one with the label `until`,
    or after `steps` steps. A step pays as `RewardModel` says. Run r draws from the stream (seed, r): runs are
    independent of each other, do not depend on how many there are, and are the same in `paths` and in the environments
    of `surefoot.gym`.

    Args:
        model: the model; in one with intervals the nominal probabilities are drawn from.
        policy: None: each available action is as likely as the others. A function is called with the states of all
            runs that go on, (n,) int32, and returns an action number for each. A mapping is from state to action, by
            name or number; a state with one action needs no entry. An array (S,) of ints is an action number a state;
            one (C,) of floats is how likely each choice is in its state.
        runs: how many, >= 1.
        steps: how many steps at most, >= 0.
        seed: a whole number >= 0.
        until: a label that ends a run.
        observing: the policy sees observations instead of states: a function gets their numbers, a mapping is by
            their names or numbers, an array of ints is (O,).
        first_run: the number of the first run.

    Raises:
        BadArgument: a number is out of its range.
        BadModel: the policy chooses an action that the state does not offer, or is of another shape.
        UnknownName: there is no label `until`; the policy names a state or action that is not there.

    Cost: about 0.2 µs for each step of a run when there are 10,000 runs or more, and 50 µs for each step of all runs.

    Example:
        >>> from surefoot.models.examples import monty_hall
        >>> policy = {s: "left" if s.startswith("pick") else "switch" for s in monty_hall().state_names if s[0] in "pd"}
        >>> result = simulate(monty_hall(), policy, runs=10_000, steps=10, seed=7)
        >>> abs(result.frequency("won") - 2 / 3) < 0.02
        True
    """
    run = _Run(model, policy, runs, steps, seed, until, observing, first_run)
    visits = np.bincount(run.state, minlength=model.n_states)
    taken = np.zeros(model.n_branches, dtype=np.int64)
    total = {name: np.zeros(runs) for name in model.rewards}
    length = np.zeros(runs, dtype=np.int32)
    for _ in range(steps):
        if not run.step():
            break
        length[run.active] += 1
        np.add.at(visits, run.arrived, 1)
        np.add.at(taken, run.branch, 1)
        for name, paid in run.paid().items():
            total[name][run.active] += paid
        run.settle()
    ended = run.over(run.state)
    return Simulation(
        model,
        run.state,
        length,
        ended,
        {n: frozen_now(t) for n, t in total.items()},
        frozen_now(visits),
        frozen_now(taken),
    )


def paths(
    model: Model,
    policy: Policy = None,
    runs: int = 1,
    steps: int = 1_000,
    seed: int = 0,
    *,
    until: str | None = None,
    observing: bool = False,
    first_run: int = 0,
) -> Paths:
    """Run a model many times and return every step; for the arguments see `simulate`.

    Cost: as `simulate`, and about 20 bytes for each step of a run.

    Example:
        >>> from surefoot.models.examples import weather
        >>> week = paths(weather(), runs=3, steps=7, seed=1)
        >>> week.state.shape, week.observation.shape, week.length.tolist()
        ((3, 8), (3, 8), [7, 7, 7])
    """
    run = _Run(model, policy, runs, steps, seed, until, observing, first_run)
    state = np.full((runs, steps + 1), _NEVER, dtype=np.int32)
    action = np.full((runs, steps), _NEVER, dtype=np.int32)
    reward = {name: np.zeros((runs, steps)) for name in model.rewards}
    observation = np.full((runs, steps + 1), _NEVER, dtype=np.int32) if model.has_observations else None
    length = np.zeros(runs, dtype=np.int32)
    state[:, 0] = run.state
    if observation is not None:
        observation[:, 0] = run.observe(np.arange(runs), 0)
    for step in range(steps):
        if not run.step():
            break
        active = run.active
        length[active] += 1
        state[active, step + 1] = run.arrived
        action[active, step] = model.choice_action[run.choice]
        for name, paid in run.paid().items():
            reward[name][active, step] = paid
        if observation is not None:
            observation[active, step + 1] = run.seen(step + 1)
        run.settle()
    return Paths(model, state, action, reward, observation, length)


class _Run:
    """Hold the runs while they go on.

    `step` draws the next branch of every run that is not over, and `settle` moves them there; between the two, `active`
    are their places, `choice`, `branch` and `arrived` what they did, and `paid` what that pays.
    """

    def __init__(
        self,
        model: Model,
        policy: Policy,
        runs: int,
        steps: int,
        seed: int,
        until: str | None,
        observing: bool,
        first_run: int,
    ) -> None:
        for name, value, least in (("runs", runs, 1), ("steps", steps, 0), ("first_run", first_run, 0)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise BadArgument(f"{name} must be a whole number >= {least}, got {value!r}")
        if observing and not isinstance(model, ObservedModel):
            raise BadArgument(f"observing=True needs observations; a {type(model).__name__} has none")
        self.model = model
        episodes = np.arange(first_run, first_run + runs, dtype=np.uint64)
        self._starts, self._strides = draws.streams(np.uint64(draws.fold_seed(seed)), episodes)
        self._sums = model.cumulative
        self._stop = model.absorbing.copy()
        if until is not None:
            self._stop[model.states_with(until)] = True
        self._policy = chooser_of(model, policy, observing)
        self._observing = observing
        sums = draws.cumulative([0, model.n_states], model.initial)
        first = np.searchsorted(sums, draws.draws(self._starts, self._strides, 0, draws.INITIAL), side="right")
        self.state = first.astype(np.int32)
        self._step = 0
        if isinstance(model, ObservedModel):
            self._seen_sums = draws.cumulative(model.observation_start, model.observation_probability)
        self.active = np.flatnonzero(~self._stop[self.state])
        self.choice = self.branch = np.zeros(0, dtype=np.int64)
        self.arrived = np.zeros(0, dtype=np.int32)

    def over(self, state: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which states end a run."""
        return self._stop[state]

    def _draw(self, where: NDArray[np.int64], step: int, lane: int) -> NDArray[np.float64]:
        return draws.draws(self._starts[where], self._strides[where], step, lane)

    def observe(self, where: NDArray[np.int64], step: int) -> NDArray[np.int32]:
        """Return what the runs at some places observe in their states."""
        return self._observed(self.state[where], where, step)

    def seen(self, step: int) -> NDArray[np.int32]:
        """Return what the active runs observe where they arrived."""
        return self._observed(self.arrived, self.active, step)

    def _observed(self, state: NDArray[np.int32], where: NDArray[np.int64], step: int) -> NDArray[np.int32]:
        model = self.model
        assert isinstance(model, ObservedModel)
        low, high = model.observation_start[state], model.observation_start[state + 1]
        return model.observation[draws.pick(self._seen_sums, low, high, self._draw(where, step, draws.OBSERVATION))]

    def step(self) -> bool:
        """Draw the next step; say whether any run goes on."""
        if not len(self.active):
            return False
        state = self.state[self.active]
        seen = self.observe(self.active, self._step) if self._observing else state
        self.choice = self._policy(state, seen, lambda: self._draw(self.active, self._step, draws.POLICY))
        low, high = self.model.branch_start[self.choice], self.model.branch_start[self.choice + 1]
        self.branch = draws.pick(self._sums, low, high, self._draw(self.active, self._step, draws.TRANSITION))
        self.arrived = self.model.target[self.branch]
        return True

    def paid(self) -> dict[str, NDArray[np.float64]]:
        """Return what the step pays, by reward model."""
        state, found = self.state[self.active], {}
        for name, one in self.model.rewards.items():
            paid = np.zeros(len(state))
            for part, where in ((one.state, state), (one.choice, self.choice), (one.transition, self.branch)):
                if part is not None:
                    paid += part[where]
            found[name] = paid
        return found

    def settle(self) -> None:
        """Move the runs to where they arrived."""
        self.state[self.active] = self.arrived
        self.active = self.active[~self._stop[self.arrived]]
        self._step += 1
