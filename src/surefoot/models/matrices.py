"""Models from matrices: NumPy arrays, or SciPy's sparse ones, whole arrays at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadModel
from surefoot.models._arrays import frozen_now, running_sum
from surefoot.models.markov import HMM, MDP, POMDP, MarkovChain
from surefoot.models.rewards import RewardModel

__all__ = ["from_arrays"]


def from_arrays(
    probability: Any = None,
    *,
    initial: Any,
    lower: Any = None,
    upper: Any = None,
    order: str = "sas",
    rewards: Mapping[str, Any] | None = None,
    observations: Any = None,
    action_names: Sequence[str] | None = None,
    **names_and_labels: Any,
) -> MarkovChain | MDP | POMDP | HMM:
    """Return the model of transition matrices.

    | `probability` | makes |
    |---|---|
    | (S, S), dense or sparse | a chain; a row of zeros is a state without choices, which is absorbing |
    | (S, A, S), dense | an MDP; a row of zeros is an action that the state does not offer |
    | (A, S, S), dense, with `order="ass"` | the same |
    | a sequence of A matrices (S, S), dense or sparse | the same |
    | {name of the action: matrix (S, S)} | the same, with names |

    Sparse is whatever has `tocsr()`. Entries that are 0 are left out, equal places of a sparse matrix are added up.

    Args:
        probability: the matrices; may be left out in an interval model.
        initial: a state, by number or name, or {state: probability}, or (S,) probabilities.
        lower: the lower ends of intervals, in the same form as `probability`.
        upper: the upper ends; an entry that is 0 there is no branch.
        order: what the axes of a dense three-dimensional array are: `"sas"` or `"ass"`.
        rewards: {name: array}. (S,) is paid on leaving a state; (S, A) for a choice; a form of `probability` for a
            transition (in a chain (S, S)). Or a `RewardModel`, whose parts fit the rows of the model.
        observations: (S,) the number of the observation of each state, or (S, O) their probabilities; makes a POMDP or
            an HMM.
        action_names: names of the A actions.
        names_and_labels: `state_names`, `labels`, `state_valuations`, `observation_names`, `observation_valuations`,
            as for `Model` and `ObservedModel`.

    Returns:
        A `MarkovChain`, `MDP`, `POMDP` or `HMM`.

    Raises:
        NotADistribution: rows that do not sum to 1, and the like; the message names state and action.
        BadModel: shapes that do not fit.

    Cost: linear in the entries of dense arrays and in those that sparse ones hold; about 0.3 s for 4,000,000.

    Example:
        >>> from_arrays([[0.5, 0.5], [0.0, 0.0]], initial=0)
        <MarkovChain: 2 states, 1 choice, 2 branches>
        >>> stay, go = np.eye(2), np.array([[0.1, 0.9], [0.0, 0.0]])
        >>> mdp = from_arrays({"stay": stay, "go": go}, initial=0, rewards={"cost": np.array([[0.0, 1.0], [0.0, 0.0]])})
        >>> mdp, mdp.available(1).tolist(), mdp.expected_reward().tolist()
        (<MDP: 2 states, 3 choices, 4 branches>, [0], [0.0, 1.0, 0.0])
    """
    if order not in ("sas", "ass"):
        raise BadModel(f"order must be 'sas' or 'ass', got {order!r}")
    if (lower is None) != (upper is None):
        raise BadModel("lower and upper belong together: give both, or neither")
    main = probability if upper is None else upper
    if main is None:
        raise BadModel("from_arrays needs probability, or lower and upper")
    rows = _rows(main, order, "probability" if upper is None else "upper")
    if action_names is None and rows.names is not None:
        action_names = rows.names
    fields: dict[str, Any] = dict(names_and_labels)
    fields |= {
        "choice_start": running_sum(np.bincount(rows.choice_state, minlength=rows.states)),
        "branch_start": rows.start,
        "target": rows.target,
        "initial": initial,
    }
    if upper is None:
        fields["probability"] = rows.value
    else:
        fields |= {"lower": _aligned(rows, _rows(lower, order, "lower"), "lower"), "upper": rows.value}
        if probability is not None:
            fields["probability"] = _aligned(rows, _rows(probability, order, "probability"), "probability")
    fields["rewards"] = {name: _reward(rows, given, order, name) for name, given in (rewards or {}).items()}
    decides = rows.actions is not None
    if decides:
        fields["choice_action"] = rows.choice_action
        fields["action_names"] = (
            action_names if action_names is not None else [f"a{n}" for n in range(rows.actions or 0)]
        )
    if observations is None:
        return MDP(**fields) if decides else MarkovChain(**fields)
    fields |= _observed(observations, rows.states)
    return POMDP(**fields) if decides else HMM(**fields)


@dataclass(frozen=True)
class _Rows:
    """Hold matrices as rows of choices: those that have an entry, state by state, and in each action by action."""

    states: int
    actions: int | None
    names: list[str] | None
    choice_state: NDArray[np.int64]
    choice_action: NDArray[np.int32]
    start: NDArray[np.int64]
    target: NDArray[np.int32]
    value: NDArray[np.float64]

    def keys(self) -> NDArray[np.int64]:
        """Return one number for each branch: which state, action and target it is."""
        place: NDArray[np.int64] = self.choice_state * (self.actions or 1) + self.choice_action
        keys: NDArray[np.int64] = np.repeat(place, np.diff(self.start)) * self.states + self.target
        return keys


def _rows(given: Any, order: str, what: str) -> _Rows:
    """Return the rows of matrices in any of the forms."""
    names = None
    if isinstance(given, Mapping):
        names, given = [str(name) for name in given], list(given.values())
    if hasattr(given, "tocsr"):
        return _stacked([_sparse(given, what)], None, names)
    if isinstance(given, list | tuple) and given and all(hasattr(one, "tocsr") for one in given):
        return _stacked([_sparse(one, what) for one in given], len(given), names)
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadModel(f"{what} is no matrix, and no sequence of matrices of one shape: {error}") from None
    if isinstance(given, list | tuple) and given and np.ndim(given[0]) == 2 and isinstance(given[0], np.ndarray):
        order = "ass"
    if names is not None:
        order = "ass"
    if array.ndim == 2:
        if array.shape[0] != array.shape[1]:
            raise BadModel(f"{what} must be square, (S, S), or (S, A, S), got {array.shape}")
        return _dense(array[:, None, :], None, names)
    if array.ndim != 3:
        raise BadModel(f"{what} must be (S, S) or (S, A, S), got the shape {array.shape}")
    if order == "ass":
        array = array.transpose(1, 0, 2)
    if array.shape[0] != array.shape[2]:
        shape = "(A, S, S)" if order == "ass" else "(S, A, S)"
        raise BadModel(f"{what} must be {shape}, got the shape {np.shape(given)}; order= says which axis is which")
    return _dense(array, array.shape[1], names)


def _dense(array: NDArray[np.float64], actions: int | None, names: list[str] | None) -> _Rows:
    """Return the rows of an array (S, A, S)."""
    states, width, _ = array.shape
    state, action, target = np.nonzero(array)
    place = state * width + action
    counts = np.bincount(place, minlength=states * width)
    return _made(states, actions, names, counts, target.astype(np.int32), array[state, action, target])


def _made(
    states: int,
    actions: int | None,
    names: list[str] | None,
    counts: NDArray[np.int64],
    target: NDArray[np.int32],
    value: NDArray[np.float64],
) -> _Rows:
    """Return rows from how many entries each (state, action) has."""
    full = np.flatnonzero(counts)
    width = actions or 1
    return _Rows(
        states,
        actions,
        names,
        full // width,
        (full % width).astype(np.int32),
        running_sum(counts[full]),
        frozen_now(target),
        frozen_now(value),
    )


def _sparse(given: Any, what: str) -> Any:
    """Return one sparse matrix by rows, with equal places added up and zeros left out."""
    matrix = given.tocsr()
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise BadModel(f"{what} must be square, (S, S), got {matrix.shape}")
    if not matrix.has_canonical_format or (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def _stacked(matrices: list[Any], actions: int | None, names: list[str] | None) -> _Rows:
    """Return the rows of sparse matrices, one an action."""
    states, width = matrices[0].shape[0], len(matrices)
    for matrix in matrices:
        if matrix.shape[0] != states:
            raise BadModel(f"all matrices must have one shape, got {matrix.shape} beside {matrices[0].shape}")
    counts = np.stack([np.diff(matrix.indptr) for matrix in matrices], axis=1).astype(np.int64).ravel()
    first = running_sum(counts)[:-1].reshape(states, width)
    target = np.empty(int(counts.sum()), dtype=np.int32)
    value = np.empty(len(target))
    for action, matrix in enumerate(matrices):
        lengths = np.diff(matrix.indptr)
        places = np.arange(len(matrix.indices)) + np.repeat(first[:, action] - matrix.indptr[:-1], lengths)
        target[places] = matrix.indices
        value[places] = matrix.data
    return _made(states, actions, names, counts, target, value)


def _aligned(rows: _Rows, other: _Rows, what: str) -> NDArray[np.float64]:
    """Return the values of `other` at the branches of `rows`; 0 where it has none."""
    if (rows.states, rows.actions) != (other.states, other.actions):
        raise BadModel(
            f"{what} is for {other.states} states and {other.actions or 1} actions; "
            f"there are {rows.states} states and {rows.actions or 1} actions"
        )
    keys, wanted = rows.keys(), other.keys()
    order = np.argsort(keys)
    at = np.searchsorted(keys, wanted, sorter=order)
    found = at < len(keys)
    at[~found] = 0
    found &= keys[order[at]] == wanted if len(keys) else False
    if not found.all():
        entry = int(np.argmin(found))
        place, target = divmod(int(wanted[entry]), rows.states)
        state, action = divmod(place, rows.actions or 1)
        raise BadModel(
            f"{what} has {other.value[entry]} for state {state}, action {action}, target {target}: no branch there"
        )
    values = np.zeros(len(keys))
    values[order[at]] = other.value
    return frozen_now(values)


def _reward(rows: _Rows, given: Any, order: str, name: str) -> RewardModel:
    """Return a reward model from an array whose shape says what it is on."""
    if isinstance(given, RewardModel):
        return given
    dense = isinstance(given, np.ndarray | list | tuple) and not any(
        hasattr(one, "tocsr") for one in (given if isinstance(given, list | tuple) else ())
    )
    array = np.asarray(given, dtype=np.float64) if dense else None
    if array is not None and array.shape == (rows.states,):
        return RewardModel(state=array)
    if array is not None and rows.actions is not None and array.shape == (rows.states, rows.actions):
        return RewardModel(choice=array[rows.choice_state, rows.choice_action])
    return RewardModel(transition=_aligned(rows, _rows(given, order, f"reward {name!r}"), f"reward {name!r}"))


def _observed(given: Any, states: int) -> dict[str, Any]:
    """Return the fields of observations."""
    if hasattr(given, "tocsr"):
        given = given.toarray()
    array = np.asarray(given)
    if array.ndim == 1:
        return {"observation": array}
    if array.ndim != 2 or len(array) != states:
        raise BadModel(f"observations must be (S,) or (S, O) with {states} states, got the shape {array.shape}")
    state, observation = np.nonzero(array)
    return {
        "observation_start": running_sum(np.bincount(state, minlength=states)),
        "observation": observation,
        "observation_probability": array[state, observation],
    }
