"""Fit a hidden Markov model to sequences of observations: the algorithm of Baum and Welch, with scaled passes.

Each round computes how likely each hidden state and each move was, given all observations and the model so far, and
takes these as counts. No round makes the sequences less likely; where that ends is a local best, which depends on where
it started. What is impossible in the model that it starts from stays impossible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument, UnknownName
from surefoot.models import HMM
from surefoot.models.matrices import from_arrays

__all__ = ["FittedHMM", "baum_welch", "log_likelihood", "random_hmm"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FittedHMM:
    """Hold a hidden Markov model and how it was reached.

    Args:
        model: the model.
        log_likelihoods: the natural logarithm of how likely all sequences are, before the first round and after each.
        converged: whether the last round gained less than was asked for; if not, the rounds ran out.

    Example:
        >>> from surefoot.models.examples import weather
        >>> fitted = baum_welch(weather(), [[0, 1, 2, 0, 0, 1]], rounds=3)
        >>> len(fitted.log_likelihoods), fitted.converged
        (4, False)
    """

    model: HMM
    log_likelihoods: tuple[float, ...]
    converged: bool


@dataclass
class _Parameters:
    """Hold a model as matrices: `start` (S,), `move` (S, S), `show` (S, O)."""

    start: Floats
    move: Floats
    show: Floats


def baum_welch(
    model: HMM,
    sequences: Iterable[Sequence[Any]],
    *,
    rounds: int = 100,
    tolerance: float = 1e-6,
) -> FittedHMM:
    """Return the model that the rounds lead to from `model`.

    Args:
        model: where to start; a state without choices stays where it is. Its labels and valuations are kept.
        sequences: what was observed, each a sequence of numbers or names of observations, not empty.
        rounds: how many at most, >= 0.
        tolerance: stop when a round gains less than this in the log-likelihood, >= 0.

    Raises:
        BadArgument: `model` is no HMM or has intervals, there is nothing to learn from, an argument is out of its
            range, or a sequence is impossible in `model`; the message says where it becomes so.
        UnknownName: an observation that the model does not have.

    Cost: each round O(S * S) for each observation, in vectors of S.

    Source: Baum et al. 1970; Rabiner 1989, section III.C and, for the scaling and many sequences, V.A and V.B.

    Example:
        >>> from surefoot.models.examples import weather
        >>> fitted = baum_welch(weather(), [[0, 0, 1, 2, 2, 2, 1, 0, 0, 0]], rounds=20)
        >>> all(later >= earlier - 1e-9 for earlier, later in zip(fitted.log_likelihoods, fitted.log_likelihoods[1:]))
        True
    """
    if type(rounds) is not int or rounds < 0:
        raise BadArgument(f"rounds must be a whole number >= 0, got {rounds!r}")
    if not tolerance >= 0:
        raise BadArgument(f"tolerance must be >= 0, got {tolerance!r}")
    now, seen = _parameters(model), _groups(_numbers(model, sequences))
    if not seen:
        raise BadArgument("sequences is empty: there is nothing to learn from")
    likely, better = _round(now, seen)
    history = [likely]
    converged = False
    for _ in range(rounds):
        now = better
        likely, better = _round(now, seen)
        history.append(likely)
        if history[-1] - history[-2] < tolerance:
            converged = True
            break
    return FittedHMM(_model(model, now), tuple(history), converged)


def log_likelihood(model: HMM, sequences: Iterable[Sequence[Any]]) -> float:
    """Return the natural logarithm of how likely all sequences are.

    Raises:
        BadArgument: `model` is no HMM or has intervals, or a sequence is empty or impossible.
        UnknownName: an observation that the model does not have.

    Example:
        >>> from surefoot.models import HMM
        >>> coin = HMM(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0,
        ...            observation_start=[0, 2], observation=[0, 1], observation_probability=[0.5, 0.5])
        >>> round(2 ** (log_likelihood(coin, [[0, 1, 1]]) / float(np.log(2))), 9)
        0.125
    """
    now = _parameters(model)
    return float(sum(_forward(now, *group)[1].sum() for group in _groups(_numbers(model, sequences))))


def random_hmm(states: int, observations: int, *, seed: int = 0) -> HMM:
    """Return an HMM with random probabilities, none of them 0: where to start when nothing is known.

    Args:
        states: how many hidden states, >= 1.
        observations: how many observations, >= 1.
        seed: of the numbers.

    Raises:
        BadArgument: a number is less than 1.

    Example:
        >>> random_hmm(2, 3, seed=1)
        <HMM: 2 states, 2 choices, 4 branches>
    """
    for name, size in (("states", states), ("observations", observations)):
        if type(size) is not int or size < 1:
            raise BadArgument(f"{name} must be a whole number >= 1, got {size!r}")
    numbers = np.random.default_rng(seed)

    def rows(count: int, width: int) -> Floats:
        weights = 0.5 + numbers.random((count, width))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float64)

    made = from_arrays(rows(states, states), initial=rows(1, states)[0], observations=rows(states, observations))
    assert isinstance(made, HMM)
    return made


def _parameters(model: HMM) -> _Parameters:
    """Return the matrices of a model."""
    if not isinstance(model, HMM) or model.has_intervals:
        raise BadArgument(f"model must be an HMM without intervals, got {model!r}")
    size = model.n_states
    move, show = np.zeros((size, size)), np.zeros((size, model.n_observations))
    move[model.choice_state[model.branch_choice], model.target] = model.probability
    still = np.flatnonzero(np.diff(model.choice_start) == 0)
    move[still, still] = 1.0
    where = np.repeat(np.arange(size), np.diff(model.observation_start))
    show[where, model.observation] = model.observation_probability
    return _Parameters(model.initial.copy(), move, show)


def _numbers(model: HMM, sequences: Iterable[Sequence[Any]]) -> list[Ints]:
    """Return the observations by their numbers."""
    found = []
    for n, sequence in enumerate(sequences):
        given = [int(one) if isinstance(one, int | np.integer) else model.observation_number(one) for one in sequence]
        if not given:
            raise BadArgument(f"sequence {n} is empty: leave it out")
        for one in given:
            if not 0 <= one < model.n_observations:
                raise UnknownName(
                    f"sequence {n} has the observation {one}; there are {model.n_observations} observations, so "
                    f"numbers are in [0, {model.n_observations})"
                )
        found.append(np.array(given, np.int64))
    return found


def _groups(sequences: list[Ints]) -> list[tuple[Ints, Ints]]:
    """Return the sequences of each length together: (N, T) observations, and (N,) which sequences they are."""
    lengths: dict[int, list[int]] = {}
    for n, one in enumerate(sequences):
        lengths.setdefault(len(one), []).append(n)
    return [
        (np.stack([sequences[n] for n in which]), np.array(which, np.int64)) for _, which in sorted(lengths.items())
    ]


def _forward(now: _Parameters, seen: Ints, which: Ints) -> tuple[Floats, Floats]:
    """Return (T, N, S) how likely each state is given what was seen so far, and (T, N) the logarithms of the scales."""
    many, length = seen.shape
    alpha, scale = np.empty((length, many, len(now.start))), np.empty((length, many))
    row = np.broadcast_to(now.start, (many, len(now.start)))
    for t in range(length):
        row = row * now.show[:, seen[:, t]].T
        total = row.sum(axis=1)
        if not (total > 0).all():
            raise BadArgument(
                f"sequence {which[int(np.argmin(total > 0))]} is impossible in the model from place {t} on: "
                f"give a model that allows it"
            )
        alpha[t] = row / total[:, None]
        scale[t] = total
        row = alpha[t] @ now.move
    return alpha, np.log(scale)


def _round(now: _Parameters, groups: list[tuple[Ints, Ints]]) -> tuple[float, _Parameters]:
    """Return how likely the sequences are, and the parameters that the expected counts give."""
    start, move, show = np.zeros_like(now.start), np.zeros_like(now.move), np.zeros_like(now.show)
    likely = 0.0
    for seen, which in groups:
        alpha, logs = _forward(now, seen, which)
        likely += float(logs.sum())
        scale = np.exp(logs)[:, :, None]
        beta = np.ones_like(alpha)
        for t in range(seen.shape[1] - 1, 0, -1):
            after = now.show[:, seen[:, t]].T * beta[t] / scale[t]
            move += now.move * (alpha[t - 1].T @ after)
            beta[t - 1] = after @ now.move.T
        gamma = alpha * beta
        gamma /= gamma.sum(axis=2, keepdims=True)
        start += gamma[0].sum(axis=0)
        np.add.at(show.T, seen.T, gamma)
    return likely, _Parameters(start / start.sum(), _rows(move, now.move), _rows(show, now.show))


def _rows(counts: Floats, old: Floats) -> Floats:
    """Return counts as distributions; a row that was never used keeps what it had."""
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), old)


def _model(model: HMM, now: _Parameters) -> HMM:
    """Return the model with other numbers."""
    made = from_arrays(
        now.move,
        initial=now.start / now.start.sum(),
        observations=now.show,
        state_names=list(model.state_names),
        observation_names=list(model.observation_names),
        labels=dict(model.labels),
        state_valuations=model.state_valuations,
        observation_valuations=model.observation_valuations,
    )
    assert isinstance(made, HMM)
    return made
