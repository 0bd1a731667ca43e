"""How the arguments of a model may be given, and what they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadModel
from surefoot.models._arrays import frozen, frozen_now
from surefoot.models._checks import row_sums
from surefoot.models._names import name_of
from surefoot.models.rewards import RewardModel

if TYPE_CHECKING:
    from surefoot.models.model import Model

__all__ = ["initial_of", "key_of", "label_of", "nominal", "reward_of"]


def nominal(start: NDArray[np.int64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distribution that goes the same part of the way from `lower` to `upper` on each branch of a choice."""
    least, most = row_sums(start, lower), row_sums(start, upper)
    room = most - least
    part = np.clip((1 - least) / np.where(room > 0, room, 1.0), 0.0, 1.0)
    return lower + np.repeat(part, np.diff(start)) * (upper - lower)


def initial_of(model: Model, given: Any) -> NDArray[np.float64]:
    """Return the initial distribution that was given as one, as a state, or as {state: probability}."""
    if isinstance(given, Mapping) or isinstance(given, str) or np.ndim(given) == 0:
        pairs = given.items() if isinstance(given, Mapping) else [(given, 1.0)]
        array = np.zeros(model.n_states)
        for state, probability in pairs:
            if state is None:
                raise BadModel("initial is None: say which state to start in")
            array[model.state_number(state)] += float(probability)
        return frozen_now(array)
    return frozen(given, np.float64, "initial", (model.n_states,))


def key_of(name: object, what: str) -> str:
    """Return the name of a label or a reward model."""
    if not isinstance(name, str) or not name:
        raise BadModel(f"the name of {what} must be text and not empty, got {name!r}; use {name_of(name)!r}")
    return name


def label_of(model: Model, name: str, where: Any) -> NDArray[np.bool_]:
    """Return the mask of a label that was given as one, or as states."""
    if isinstance(where, np.ndarray) and where.dtype == bool:
        return frozen(where, np.bool_, f"label {name!r}", (model.n_states,))
    if isinstance(where, str):
        raise BadModel(
            f"label {name!r} must be a mask or a collection of states, got the text {where!r}; use [{where!r}]"
        )
    listed = list(where)
    if listed and all(isinstance(one, bool | np.bool_) for one in listed):
        return frozen(listed, np.bool_, f"label {name!r}", (model.n_states,))
    mask = np.zeros(model.n_states, dtype=bool)
    mask[np.fromiter((model.state_number(one) for one in listed), np.int64, len(listed))] = True
    return frozen_now(mask)


def reward_of(model: Model, name: str, given: Any) -> RewardModel:
    """Return a reward model whose parts fit the model."""
    rewards = given if isinstance(given, RewardModel) else RewardModel(state=given)
    for part, count, what in (
        (rewards.state, model.n_states, "states"),
        (rewards.choice, model.n_choices, "choices"),
        (rewards.transition, model.n_branches, "branches"),
    ):
        if part is not None and len(part) != count:
            raise BadModel(f"reward model {name!r} has {len(part)} numbers for {what}; there are {count} {what}")
    return rewards
