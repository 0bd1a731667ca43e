"""What can be known of a state that is not seen: exact beliefs over the states of a POMDP or an HMM."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadModel, NotADistribution
from surefoot.models._arrays import frozen, frozen_now
from surefoot.models._checks import check_distribution
from surefoot.models._names import number_of
from surefoot.models.markov import HMM, POMDP

__all__ = ["beliefs", "observation_odds", "predict", "start", "update"]


def start(model: POMDP | HMM, observation: Hashable = None) -> NDArray[np.float64]:
    """Return the belief before the first step, (S,): the initial distribution, given what is observed at once.

    Raises:
        NotADistribution: the observation cannot be made at the start.

    Example:
        >>> from surefoot.models.examples import weather
        >>> start(weather(), "walk").round(3).tolist()
        [0.2, 0.8]
    """
    if observation is None:
        return model.initial
    return _given(model, model.initial, observation, "the initial distribution")


def predict(model: POMDP | HMM, belief: Any, action: Hashable = 0) -> NDArray[np.float64]:
    """Return the belief after a step, (S,), before anything is observed.

    A state without choices stays where it is. In an interval model the nominal probabilities are used.

    Args:
        model: the model.
        belief: (S,) a distribution over states.
        action: what was done, by number or name; left out in an HMM.

    Raises:
        BadModel: a state that is believed possible does not offer the action.
        NotADistribution: `belief` is none.

    Cost: linear in the branches of the action.

    Source: Kaelbling, Littman, Cassandra 1998, section 3.3 (the sum over s).

    Example:
        >>> from surefoot.models.examples import weather
        >>> predict(weather(), [1.0, 0.0]).tolist()
        [0.7, 0.3]
    """
    old = _belief(model, belief)
    number = number_of(action, model.action_names, "action") if model.has_actions else 0
    choices = np.flatnonzero((model.choice_action == number) & (old[model.choice_state] > 0))
    state = model.choice_state[choices]
    left = old.copy()
    left[state] = 0.0
    stuck = (left > 0) & (np.diff(model.choice_start) > 0)
    if stuck.any():
        name = model.state_name(int(np.argmax(stuck)))
        raise BadModel(
            f"the action {model.action_name(number)!r} is not offered in state {name!r}, which is believed possible "
            f"with {left.max():.4g}; a POMDP's states that look alike should offer the same actions"
        )
    lengths = model.branch_start[choices + 1] - model.branch_start[choices]
    first = np.repeat(model.branch_start[choices] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    branch = np.arange(int(lengths.sum())) + first
    flow = np.repeat(old[state], lengths) * model.probability[branch]
    new = np.bincount(model.target[branch], weights=flow, minlength=model.n_states) + left
    return frozen_now(new)


def observation_odds(model: POMDP | HMM, belief: Any) -> NDArray[np.float64]:
    """Return how likely each observation is under a belief, (O,).

    Raises:
        NotADistribution: `belief` is none.

    Example:
        >>> from surefoot.models.examples import weather
        >>> observation_odds(weather(), [1.0, 0.0]).tolist()
        [0.1, 0.4, 0.5]
    """
    weight = np.repeat(_belief(model, belief), np.diff(model.observation_start)) * model.observation_probability
    return frozen_now(np.bincount(model.observation, weights=weight, minlength=model.n_observations))


def update(model: POMDP | HMM, belief: Any, observation: Hashable, action: Hashable = 0) -> NDArray[np.float64]:
    """Return the belief after an action was taken and something was observed, (S,).

    Args:
        model: the model.
        belief: (S,) the belief before.
        observation: what was observed after the step, by number or name.
        action: what was done, by number or name; left out in an HMM.

    Raises:
        NotADistribution: the observation is impossible under this belief and action.
        BadModel: as for `predict`.

    Cost: linear in the branches of the action and in the observations of all states.

    Source: Kaelbling, Littman, Cassandra 1998, section 3.3 (SE); for an HMM, Rabiner 1989, equation 20, normalised.

    Example:
        >>> from surefoot.models.examples import tiger
        >>> model = tiger()
        >>> heard = update(model, start(model), "hear left", "listen")
        >>> round(float(heard[model.state("tiger left, listened")]), 2)
        0.85
    """
    return _given(model, predict(model, belief, action), observation, "this belief and action")


def beliefs(
    model: POMDP | HMM, observations: Iterable[Hashable], actions: Iterable[Hashable] | None = None
) -> NDArray[np.float64]:
    """Return the beliefs along a run, (T + 1, S): after the first observation, and after each step.

    Args:
        model: the model.
        observations: T + 1 observations, the first before any step.
        actions: T actions; None in an HMM.

    Raises:
        BadModel: there is not one observation more than there are actions.
        NotADistribution: an observation is impossible.

    Cost: linear in T times the branches.

    Source: Rabiner 1989, section III A (the forward pass, normalised in each step).

    Example:
        >>> from surefoot.models.examples import weather
        >>> beliefs(weather(), ["walk", "walk", "clean"])[:, 0].round(3).tolist()
        [0.2, 0.124, 0.795]
    """
    seen = list(observations)
    done: list[Hashable] = [0] * (len(seen) - 1) if actions is None else list(actions)
    if len(seen) != len(done) + 1:
        raise BadModel(f"one observation more than actions is wanted, got {len(seen)} and {len(done)}")
    found = [start(model, seen[0])]
    for action, observation in zip(done, seen[1:], strict=True):
        found.append(update(model, found[-1], observation, action))
    return frozen_now(np.stack(found))


def _belief(model: POMDP | HMM, belief: Any) -> NDArray[np.float64]:
    """Return a belief that was checked."""
    checked = frozen(belief, np.float64, "belief", (model.n_states,))
    check_distribution(checked, "belief", lambda i: f"state {model.state_name(i)!r}")
    return checked


def _given(model: POMDP | HMM, belief: NDArray[np.float64], observation: Hashable, when: str) -> NDArray[np.float64]:
    """Return a belief given an observation: weighed by how likely the observation is in each state."""
    number = number_of(observation, model.observation_names, "observation")
    entries = np.flatnonzero(model.observation == number)
    states = np.searchsorted(model.observation_start, entries, side="right") - 1
    new = np.zeros(model.n_states)
    new[states] = belief[states] * model.observation_probability[entries]
    total = float(new.sum())
    if not total > 0:
        raise NotADistribution(
            f"observation {model.observation_name(number)!r} is impossible under {when}: no state that is believed "
            f"possible shows it"
        )
    return frozen_now(new / total)
