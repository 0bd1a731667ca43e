from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from surefoot.errors import BadModel, NotADistribution
from surefoot.models import HMM, MDP, POMDP, MarkovChain, Model, RewardModel
from surefoot.models.matrices import from_arrays


def dense(model: Model) -> Any:
    """Return the array (S, A, S) of a model, by a plain loop."""
    array = np.zeros((model.n_states, model.n_actions, model.n_states))
    for state in range(model.n_states):
        for action in model.available(state):
            targets, odds = model.row(state, int(action))
            for target, probability in zip(targets, odds, strict=True):
                array[state, action, target] = probability
    return array


@given(
    hnp.arrays(
        np.int64,
        st.tuples(st.integers(1, 5), st.integers(1, 4)).map(lambda t: (t[0], t[1], t[0])),
        elements=st.integers(0, 3),
    )
)
def test_every_form_makes_the_same_model(weights: Any) -> None:
    total = weights.sum(axis=2, keepdims=True)
    array = np.divide(weights, total, out=np.zeros(weights.shape), where=total > 0)
    names = [f"a{number}" for number in range(array.shape[1])]
    matrices = [array[:, action, :] for action in range(array.shape[1])]
    model = from_arrays(array, initial=0)
    assert np.array_equal(dense(model), array)
    assert from_arrays(array.tolist(), initial=0) == model
    assert from_arrays(array.transpose(1, 0, 2), initial=0, order="ass") == model
    assert from_arrays(matrices, initial=0) == model
    assert from_arrays(dict(zip(names, matrices, strict=True)), initial=0) == model
    for make in (sp.csr_matrix, sp.coo_array, sp.csc_array):
        assert from_arrays([make(matrix) for matrix in matrices], initial=0) == model


def test_chains_dense_and_sparse() -> None:
    matrix = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    chain = from_arrays(matrix, initial="a", state_names=["a", "b", "c"], labels={"end": ["b"]})
    assert type(chain) is MarkovChain
    assert chain.absorbing.tolist() == [False, True, False]
    assert np.array_equal(dense(chain)[:, 0, :], matrix)
    assert from_arrays(sp.csr_array(matrix), initial=0) == from_arrays(matrix, initial=0)


def test_sparse_entries_are_added_up_and_zeros_left_out() -> None:
    rows, columns, values = [0, 0, 0, 1], [1, 1, 0, 0], [0.25, 0.75, 0.0, 1.0]
    model = from_arrays(sp.coo_array((values, (rows, columns)), shape=(2, 2)), initial=0)
    assert (model.target.tolist(), model.probability.tolist()) == ([1, 0], [1.0, 1.0])
    twice = sp.csr_array((values, columns, [0, 3, 4]), shape=(2, 2))
    assert from_arrays(twice, initial=0) == model
    assert twice.nnz == 4, "the caller's matrix is left as it was"


def test_rewards_by_their_shape() -> None:
    array = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]]])
    ways = np.arange(8.0).reshape(2, 2, 2) * (array > 0)
    model = from_arrays(
        array,
        initial=0,
        rewards={
            "state": np.array([1.0, 2.0]),
            "choice": np.array([[1.0, 2.0], [9.0, 3.0]]),
            "way": ways,
            "sparse": [sp.csr_array(ways[:, 0, :]), sp.csr_array(ways[:, 1, :])],
            "given": RewardModel(choice=[1, 2, 3]),
        },
    )
    assert model.expected_reward("state").tolist() == [1.0, 1.0, 2.0]
    assert model.expected_reward("choice").tolist() == [1.0, 2.0, 3.0]
    assert model.expected_reward("way").tolist() == [0.5, 3.0, 6.0]
    assert model.rewards["way"] == model.rewards["sparse"]
    chain = from_arrays(np.eye(2), initial=0, rewards={"way": np.diag([3.0, 4.0])})
    assert chain.expected_reward().tolist() == [3.0, 4.0]


def test_intervals() -> None:
    lower, upper = np.array([[0.2, 0.5], [0.0, 1.0]]), np.array([[0.5, 0.9], [0.0, 1.0]])
    model = from_arrays(initial=0, lower=lower, upper=upper)
    assert model.lower is not None
    assert (model.lower.tolist(), model.n_branches) == ([0.2, 0.5, 1.0], 3)
    zero = from_arrays(initial=0, lower=np.array([[0.0, 0.5], [0.0, 1.0]]), upper=upper)
    assert zero.lower is not None
    assert zero.lower.tolist() == [0.0, 0.5, 1.0]
    given = from_arrays(np.array([[0.4, 0.6], [0.0, 1.0]]), initial=0, lower=lower, upper=upper)
    assert given.probability.tolist() == [0.4, 0.6, 1.0]
    assert from_arrays(initial=0, lower=sp.csr_array(lower), upper=sp.csr_array(upper)) == model


def test_observations() -> None:
    hmm = from_arrays(np.eye(2), initial=0, observations=[1, 0], observation_names=["x", "y"])
    assert type(hmm) is HMM
    assert hmm.deterministic_observations
    odds = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    pomdp = from_arrays([np.eye(2)], initial=0, observations=odds, action_names=["wait"])
    assert type(pomdp) is POMDP
    assert (pomdp.observation.tolist(), pomdp.observation_start.tolist()) == ([0, 1, 2], [0, 2, 3])
    assert from_arrays([np.eye(2)], initial=0, observations=sp.csr_array(odds), action_names=["wait"]) == pomdp


def test_names_of_actions() -> None:
    assert list(from_arrays({"x": np.eye(2), "y": np.eye(2)}, initial=0).action_names) == ["x", "y"]
    assert list(from_arrays([np.eye(2)], initial=0).action_names) == ["a0"]
    assert from_arrays([np.eye(2), np.zeros((2, 2))], initial=0).n_actions == 2, "an action that nobody offers stays"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"probability": np.ones((2, 3))}, BadModel, r"probability must be square, .* got \(2, 3\)"),
        ({"probability": np.ones(3)}, BadModel, r"must be \(S, S\) or \(S, A, S\), got the shape \(3,\)"),
        ({"probability": np.ones((2, 3, 4))}, BadModel, r"must be \(S, A, S\), got the shape \(2, 3, 4\); order= says"),
        ({"probability": np.ones((2, 3, 2)), "order": "ass"}, BadModel, r"must be \(A, S, S\)"),
        ({"probability": np.eye(2), "order": "ssa"}, BadModel, "order must be 'sas' or 'ass', got 'ssa'"),
        ({"probability": [np.eye(2), np.eye(3)]}, BadModel, "no sequence of matrices of one shape"),
        ({"probability": [sp.eye_array(2), sp.eye_array(3)]}, BadModel, r"one shape, got \(3, 3\) beside \(2, 2\)"),
        ({"probability": sp.csr_array((2, 3))}, BadModel, r"must be square, \(S, S\), got \(2, 3\)"),
        ({"probability": "x"}, BadModel, "is no matrix"),
        ({}, BadModel, "needs probability, or lower and upper"),
        ({"lower": np.eye(2)}, BadModel, "lower and upper belong together"),
        (
            {"lower": np.eye(2)[::-1], "upper": np.eye(2)},
            BadModel,
            "lower has 1.0 for state 0, action 0, target 1: no branch there",
        ),
        ({"lower": np.eye(3), "upper": np.eye(2)}, BadModel, "lower is for 3 states and 1 actions; there are 2 states"),
        ({"probability": np.eye(2) * 0.5}, NotADistribution, "state 's0' sum to 0.5"),
        ({"probability": [np.eye(2) * 2]}, NotADistribution, "action 'a0' in state 's0' to 's0' has the probability 2"),
        ({"probability": np.full((2, 2), np.nan)}, NotADistribution, "probability nan"),
        ({"probability": np.eye(2), "observations": np.ones((3, 2))}, BadModel, r"\(S,\) or \(S, O\) with 2 states"),
        ({"probability": np.eye(2), "rewards": {"r": np.ones((2, 2))}}, BadModel, "reward 'r' has 1.0 for state 0"),
    ],
)
def test_what_is_no_model_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        from_arrays(initial=0, **options)


def test_a_hundred_thousand_states_at_once() -> None:
    count = 100_000
    ring = sp.csr_array((np.ones(count), (np.arange(count), (np.arange(count) + 1) % count)), shape=(count, count))
    model = from_arrays([ring, sp.eye_array(count)], initial=0)
    assert type(model) is MDP
    assert (model.n_choices, model.row(99_999, 0)[0].tolist(), model.row(7, 1)[0].tolist()) == (200_000, [0], [7])
