"""A part of a model: some of its choices, and the states that they lead from and to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from surefoot.errors import BadArgument
from surefoot.models.markov import ObservedModel
from surefoot.models.model import Model

__all__ = ["part"]

M = TypeVar("M", bound=Model)


def part(model: M, choices: Any, states: Any = ()) -> M:
    """Return a model with some of the choices of another, whole rows with their true probabilities.

    Its states are those that the choices start in and lead to, those with an initial probability, and those asked
    for, in their old order; a state without a choice of its own is absorbing there. Names, labels, rewards, values of
    variables, observations and intervals are kept.

    Args:
        model: the model.
        choices: (C,) bool, or the numbers of choices.
        states: more states to keep, (S,) bool or numbers.

    Raises:
        BadArgument: a number is out of range, or a mask has another length.

    Cost: linear in the model.

    Example:
        >>> from surefoot.models.examples import die
        >>> start = part(die(), [0])
        >>> list(start.state_names), start.absorbing.tolist()
        (['start', 'odd', 'even'], [False, True, True])
    """
    kept = _mask(choices, model.n_choices, "choices")
    held = _mask(states, model.n_states, "states") | (model.initial > 0)
    branches = kept[model.branch_choice]
    held[model.choice_state[kept]] = True
    held[model.target[branches]] = True
    number = np.cumsum(held) - 1
    changes: dict[str, Any] = {
        "choice_start": _starts(np.bincount(number[model.choice_state[kept]], minlength=int(held.sum()))),
        "choice_action": model.choice_action[kept],
        "branch_start": _starts(np.diff(model.branch_start)[kept]),
        "target": number[model.target[branches]],
        "probability": model.probability[branches],
        "lower": None if model.lower is None else model.lower[branches],
        "upper": None if model.upper is None else model.upper[branches],
        "initial": model.initial[held],
        "state_names": [model.state_name(int(state)) for state in np.flatnonzero(held)],
        "labels": {name: where[held] for name, where in model.labels.items()},
        "rewards": {
            name: type(paid)(
                state=None if paid.state is None else paid.state[held],
                choice=None if paid.choice is None else paid.choice[kept],
                transition=None if paid.transition is None else paid.transition[branches],
            )
            for name, paid in model.rewards.items()
        },
    }
    if model.state_valuations is not None:
        changes["state_valuations"] = replace(model.state_valuations, codes=model.state_valuations.codes[held])
    if isinstance(model, ObservedModel):
        sizes = np.diff(model.observation_start)
        entries = np.repeat(held, sizes)
        changes |= {
            "observation_start": _starts(sizes[held]),
            "observation": model.observation[entries],
            "observation_probability": model.observation_probability[entries],
        }
    return model.replace(**changes)


def _mask(given: Any, size: int, what: str) -> Any:
    """Return a mask of numbers or of a mask."""
    array = np.asarray(given)
    if array.dtype == np.bool_ and array.size:
        if array.shape != (size,):
            raise BadArgument(f"{what} is a mask of shape {array.shape}; it must be ({size},)")
        return array.copy()
    mask = np.zeros(size, dtype=np.bool_)
    if array.size:
        if array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= size:
            raise BadArgument(f"{what} must be numbers from 0 to {size - 1}, or a mask; got {given!r}")
        mask[array] = True
    return mask


def _starts(sizes: Any) -> Any:
    """Return where rows of these sizes start, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)])
