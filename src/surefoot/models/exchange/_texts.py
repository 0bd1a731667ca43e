"""What the writers of text formats share: tokens for names, and rewards as the formats have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from surefoot.errors import BadModel
from surefoot.models._checks import row_sums
from surefoot.models.markov import Model, ObservedModel

__all__ = ["checked_observations", "folded_rewards", "loops", "tokens_for"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def tokens_for(
    names: Iterable[str], *, taken: Sequence[str] = (), keep: re.Pattern[str] = _PLAIN, empty: str = "_"
) -> list[str]:
    """Return a token for each name: the name itself where the pattern allows it, else one like it; each once."""
    used = set(taken)
    names = list(names)
    found: list[str | None] = [None] * len(names)
    for place, name in enumerate(names):  # names that can stay as they are come first
        if keep.fullmatch(name) and name not in used:
            found[place] = name
            used.add(name)
    for place, name in enumerate(names):
        if found[place] is None:
            base = re.sub(r"[^A-Za-z0-9_]", "_", name) or empty
            again, token = 1, base
            while token in used or not keep.fullmatch(token):
                again += 1
                token = f"{base}_{again}"
            found[place] = token
            used.add(token)
    return [token for token in found if token is not None]


def folded_rewards(model: Model) -> tuple[list[Any], list[Any]]:
    """Return what each reward model pays on states, and on choices with the average of its transitions added.

    A state without choices pays nothing here, whatever its number is: it is never left, but formats that want a choice
    in every state would have it pay for ever.
    """
    states, choices = [], []
    for reward in model.rewards.values():
        state = np.zeros(model.n_states) if reward.state is None else reward.state.copy()
        state[np.diff(model.choice_start) == 0] = 0.0
        states.append(state)
        total = np.zeros(model.n_choices) if reward.choice is None else reward.choice.copy()
        if reward.transition is not None:
            total += row_sums(model.branch_start, model.probability * reward.transition)
        choices.append(total)
    return states, choices


def checked_observations(model: Model, what: str) -> None:
    """Refuse observations that are drawn at random."""
    if isinstance(model, ObservedModel) and not model.deterministic_observations:
        state = int(np.argmax(np.diff(model.observation_start) > 1))
        raise BadModel(
            f"{what} has one observation a state, but {model.state_name(state)!r} has "
            f"{len(model.observations_of(state)[0])}: make a state for each of them first"
        )


def loops(model: Model) -> list[int]:
    """Return the states without choices, which most formats want a branch back to themselves in."""
    found: list[int] = np.flatnonzero(np.diff(model.choice_start) == 0).tolist()
    return found
