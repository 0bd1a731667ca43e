"""Rows of a model as they come from a file or another library: one choice after another, with its branches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadModel
from surefoot.models._arrays import running_sum
from surefoot.models._checks import TOLERANCE, row_sums
from surefoot.models.markov import HMM, MDP, POMDP, MarkovChain, Model
from surefoot.models.rewards import RewardModel

__all__ = ["KINDS", "Rows", "distinct", "make", "rewards_of", "unlabelled"]

KINDS: Mapping[str, type[Model]] = {kind.kind: kind for kind in (MarkovChain, MDP, POMDP, HMM)}


class Rows:
    """Collect the choices of all states, in the order of the states; equal targets of a choice are added up.

    Args:
        states: S, how many states there are.
        rewards: the names of the rewards that each branch carries.
        intervals: whether a probability is a pair (lower, upper).
    """

    def __init__(self, states: int, rewards: Sequence[str] = (), *, intervals: bool = False) -> None:
        self.states, self.rewards, self.intervals = states, tuple(rewards), intervals
        self.state: list[int] = []
        self.action: list[str] = []
        self.sizes: list[int] = []
        self.target: list[int] = []
        self.probability: list[Any] = []
        self.paid: list[list[float]] = [[] for _ in self.rewards]

    def choice(self, state: int, action: str, branches: Iterable[tuple[Any, ...]]) -> None:
        """Add a choice: its action, and its branches as (target, probability, reward, …).

        A branch of probability 0 is left out. Where two branches lead to one target and pay differently, what is paid
        there is the mean by their probabilities.
        """
        if self.state and state < self.state[-1]:
            raise BadModel(f"the choices of state {state} come after those of state {self.state[-1]}: sort them")
        held: dict[int, list[Any]] = {}
        for target, probability, *paid in branches:
            if probability == 0 and not self.intervals:
                continue
            if self.intervals and probability == (0.0, 0.0):
                continue
            old = held.get(target)
            if old is None:
                held[target] = [probability, *paid]
            else:
                self._join(old, probability, paid)
        self.state.append(state)
        self.action.append(action)
        self.sizes.append(len(held))
        self.target += held
        for old in held.values():
            self.probability.append(old[0])
            for place, reward in enumerate(old[1:]):
                self.paid[place].append(float(reward))

    def _join(self, old: list[Any], probability: Any, paid: list[float]) -> None:
        """Add a branch to one that leads to the same target."""
        if self.intervals:
            old[0] = (old[0][0] + probability[0], min(old[0][1] + probability[1], 1.0))
            return
        total = old[0] + probability
        for place, reward in enumerate(paid, 1):
            if old[place] != reward:
                old[place] = (old[place] * old[0] + reward * probability) / total
        old[0] = total

    def arrays(self, actions: bool = True, *, tolerance: float = 0.0) -> dict[str, Any]:
        """Return the arrays as arguments of a model, actions numbered in the order in which they first occur.

        Rows whose sum differs from 1 by more than what a model allows, but at most `tolerance`, are divided by it.
        """
        number: dict[str, int] = {}
        found: dict[str, Any] = {
            "choice_start": running_sum(np.bincount(np.asarray(self.state, np.int64), minlength=self.states)),
            "branch_start": running_sum(self.sizes),
            "target": np.asarray(self.target, np.int32),
        }
        if actions:
            choices = [number.setdefault(action, len(number)) for action in self.action]
            found |= {"choice_action": np.asarray(choices, np.int32), "action_names": tuple(number)}
        if self.intervals:
            bounds = np.asarray(self.probability, np.float64).reshape(-1, 2)
            found |= {"lower": bounds[:, 0].copy(), "upper": bounds[:, 1].copy()}
        else:
            found["probability"] = _rescaled(np.asarray(self.probability, np.float64), found["branch_start"], tolerance)
        return found

    def transition_rewards(self) -> dict[str, NDArray[np.float64]]:
        """Return the rewards of the branches by name."""
        return {name: np.asarray(paid, np.float64) for name, paid in zip(self.rewards, self.paid, strict=True)}


def _rescaled(probability: NDArray[np.float64], start: NDArray[np.int64], tolerance: float) -> NDArray[np.float64]:
    """Return the probabilities with rows divided by their sums where that mends a rounding."""
    sums = row_sums(start, probability)
    off = np.abs(sums - 1)
    mend = (off > TOLERANCE) & (off <= tolerance)
    return probability / np.repeat(np.where(mend, sums, 1.0), np.diff(start)) if mend.any() else probability


def make(kind: str, **arguments: Any) -> Model:
    """Return a model of that kind.

    Raises:
        BadModel: there is no such kind here.
    """
    if kind not in KINDS:
        raise BadModel(f"a model of kind {kind!r} cannot be read: there are {', '.join(KINDS)}")
    return KINDS[kind](**arguments)


def unlabelled(place: int, count: int) -> str:
    """Return the name of an action that has none: empty if it is the only one of its state, else `#` and its place."""
    return "" if count == 1 else f"#{place}"


def distinct(names: Sequence[str | None]) -> list[str]:
    """Return names for the choices of a state, each once: what has none, or one again, gets `#` and its place."""
    seen: set[str] = set()
    result = []
    for place, name in enumerate(names):
        if name is None:
            name = unlabelled(place, len(names))
        while name in seen:
            name = f"{name}#{place}"
        seen.add(name)
        result.append(name)
    return result


def rewards_of(
    names: Sequence[str],
    state: Mapping[str, Any] | None = None,
    choice: Mapping[str, Any] | None = None,
    transition: Mapping[str, Any] | None = None,
) -> dict[str, RewardModel]:
    """Return reward models from their parts; a part that is 0 everywhere is left out unless it is all there is."""
    found = {}
    for name in names:
        parts: dict[str, Any] = {}
        for part, given in (("state", state), ("choice", choice), ("transition", transition)):
            if given is not None and name in given and np.any(given[name]):
                parts[part] = given[name]
        found[name] = RewardModel(**parts) if parts else RewardModel(state=(state or {}).get(name))
    return found
