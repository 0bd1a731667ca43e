from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.errors import BadArgument, UnknownName
from surefoot.learners.baum_welch import baum_welch, log_likelihood, random_hmm
from surefoot.models import HMM
from surefoot.models.examples import die, weather
from surefoot.models.matrices import from_arrays

TRUE_MOVE = np.array([[0.9, 0.1], [0.2, 0.8]])
TRUE_SHOW = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])


def matrices(model: HMM) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    size = model.n_states
    move, show = np.zeros((size, size)), np.zeros((size, model.n_observations))
    for state in range(size):
        targets, odds = model.row(state)
        move[state, targets] = odds
        seen, often = model.observations_of(state)
        show[state, seen] = often
    return model.initial, move, show


def sampled(lengths: list[int], seed: int) -> list[list[int]]:
    numbers = np.random.default_rng(seed)
    found = []
    for length in lengths:
        state, seen = int(numbers.random() < 0.4), []
        for _ in range(length):
            seen.append(int(numbers.choice(3, p=TRUE_SHOW[state])))
            state = int(numbers.choice(2, p=TRUE_MOVE[state]))
        found.append(seen)
    return found


def naive(model: HMM, seen: list[int]) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Return how likely a sequence is, and the expected counts, by going through all hidden paths."""
    start, move, show = matrices(model)
    total, first, moves, shown = 0.0, np.zeros_like(start), np.zeros_like(move), np.zeros_like(show)
    for path in product(range(model.n_states), repeat=len(seen)):
        p = start[path[0]] * show[path[0], seen[0]]
        for t in range(1, len(seen)):
            p *= move[path[t - 1], path[t]] * show[path[t], seen[t]]
        total += p
        first[path[0]] += p
        for t, state in enumerate(path):
            shown[state, seen[t]] += p
            if t:
                moves[path[t - 1], state] += p
    return total, first / total, moves / total, shown / total


def test_one_round_is_what_all_hidden_paths_say() -> None:
    model = random_hmm(3, 2, seed=5)
    sequences = [[0, 1, 1, 0], [1, 0, 0], [0]]
    parts: list[Any] = [naive(model, seen) for seen in sequences]
    fitted = baum_welch(model, sequences, rounds=1, tolerance=0.0)
    first, moves, shown = (np.sum([part[n] for part in parts], axis=0) for n in (1, 2, 3))
    start, move, show = matrices(fitted.model)
    assert fitted.log_likelihoods[0] == pytest.approx(sum(np.log(part[0]) for part in parts))
    assert start == pytest.approx(first / 3)
    assert move == pytest.approx(moves / moves.sum(axis=1, keepdims=True))
    assert show == pytest.approx(shown / shown.sum(axis=1, keepdims=True))
    assert log_likelihood(fitted.model, sequences) == pytest.approx(fitted.log_likelihoods[1])


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12), min_size=1, max_size=4),
    st.integers(1, 4),
    st.integers(0, 1000),
)
@settings(max_examples=40)
def test_the_likelihood_never_falls(sequences: list[list[int]], states: int, seed: int) -> None:
    history = baum_welch(random_hmm(states, 3, seed=seed), sequences, rounds=25, tolerance=0.0).log_likelihoods
    for earlier, later in zip(history, history[1:], strict=False):
        assert later >= earlier - 1e-9 * max(abs(earlier), 1)


def test_parameters_are_recovered() -> None:
    """From a rough guess, on 16,000 observations; what is found is likelier than the truth."""
    guess = from_arrays(
        np.array([[0.7, 0.3], [0.4, 0.6]]),
        initial=[0.5, 0.5],
        observations=np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]),
    )
    truth = from_arrays(TRUE_MOVE, initial=[0.6, 0.4], observations=TRUE_SHOW)
    assert isinstance(guess, HMM)
    assert isinstance(truth, HMM)
    sequences = sampled([40] * 400, seed=1)
    fitted = baum_welch(guess, sequences, rounds=100, tolerance=1e-4)
    _, move, show = matrices(fitted.model)
    assert np.abs(move - TRUE_MOVE).max() < 0.05
    assert np.abs(show - TRUE_SHOW).max() < 0.05
    assert fitted.log_likelihoods[-1] > log_likelihood(truth, sequences)


def test_a_long_sequence_does_not_underflow() -> None:
    (seen,) = sampled([5000], seed=3)
    assert -8000 < log_likelihood(weather(), [seen]) < -2000


@pytest.mark.nightly  # loading hmmlearn takes two seconds; `naive` is the twin of every run
def test_hmmlearn_reaches_the_same_model_on_the_same_data() -> None:
    hmm = pytest.importorskip("hmmlearn.hmm", reason="hmmlearn, of the extra dev, is not installed")
    sequences = sampled([60, 100, 40], seed=8)
    model = random_hmm(2, 3, seed=4)
    peer: Any = hmm.CategoricalHMM(n_components=2, n_iter=30, tol=-np.inf, init_params="", params="ste")
    peer.startprob_, peer.transmat_, peer.emissionprob_ = (one.copy() for one in matrices(model))
    peer.n_features = 3
    peer.fit(np.concatenate(sequences)[:, None], [len(one) for one in sequences])
    ours = baum_welch(model, sequences, rounds=30, tolerance=0.0)
    start, move, show = matrices(ours.model)
    assert len(ours.log_likelihoods) == 31
    assert start == pytest.approx(peer.startprob_, abs=1e-7)
    assert move == pytest.approx(peer.transmat_, abs=1e-7)
    assert show == pytest.approx(peer.emissionprob_, abs=1e-7)
    assert ours.log_likelihoods[:30] == pytest.approx(list(peer.monitor_.history)[-30:], abs=1e-6)


def test_what_is_impossible_stays_impossible_and_names_are_kept() -> None:
    model = weather()
    first = matrices(model)
    fitted = baum_welch(model, [[model.observation_name(0), 1, 2, 2, 0]], rounds=5).model
    for before, after in zip(first, matrices(fitted), strict=True):
        assert not after[before == 0].any()
    assert list(fitted.state_names) == list(model.state_names)
    assert list(fitted.observation_names) == list(model.observation_names)


def test_a_state_that_is_never_reached_keeps_its_row() -> None:
    model = from_arrays(np.eye(2), initial=0, observations=np.array([[0.5, 0.5], [0.25, 0.75]]))
    assert isinstance(model, HMM)
    fitted = baum_welch(model, [[0, 1, 1, 1]], rounds=3).model
    assert matrices(fitted)[2].tolist() == [[0.25, 0.75], [0.25, 0.75]]


def test_wrong_arguments_are_named() -> None:
    model = weather()
    bad: list[tuple[dict[str, Any], Any, str]] = [
        ({"rounds": -1}, [[0]], "rounds must be a whole number"),
        ({"tolerance": -1.0}, [[0]], "tolerance must be >= 0"),
        ({}, [], "sequences is empty"),
        ({}, [[0], []], "sequence 1 is empty"),
    ]
    for arguments, sequences, message in bad:
        with pytest.raises(BadArgument, match=message):
            baum_welch(model, sequences, **arguments)
    with pytest.raises(BadArgument, match="model must be an HMM"):
        baum_welch(die(), [[0]])  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(UnknownName, match="sequence 0 has the observation 9"):
        baum_welch(model, [[9]])
    with pytest.raises(UnknownName):
        baum_welch(model, [["swimm"]])
    with pytest.raises(BadArgument, match="states must be a whole number"):
        random_hmm(0, 2)


def test_a_sequence_that_cannot_be_is_named_with_its_place() -> None:
    model = from_arrays(np.eye(2), initial=0, observations=np.eye(2))
    assert isinstance(model, HMM)
    with pytest.raises(BadArgument, match="sequence 1 is impossible in the model from place 2 on"):
        log_likelihood(model, [[0], [0, 0, 1]])
