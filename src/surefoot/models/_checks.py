"""The checks that a model passes once, when it is made: whole arrays at a time, and messages with names in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadModel, NotADistribution
from surefoot.models._arrays import rows_with_repeats

if TYPE_CHECKING:
    from surefoot.models.markov import Model, ObservedModel

__all__ = ["check_distribution", "check_model", "check_observations", "check_starts", "repeated", "row_sums", "within"]

TOLERANCE = 1e-9
"""How far the sum of a distribution may be from 1."""
_BLOCK = 1 << 17


def check_model(model: Model) -> None:
    """Refuse arrays that do not make a model.

    Cost: linear in the arrays; about 0.3 s and 60 MB for 4,000,000 branches.
    """
    _check_choices(model)
    _check_targets(model)
    if model.lower is not None and model.upper is not None:
        _check_intervals(model, model.lower, model.upper)
    else:
        _check_probabilities(model)
    check_distribution(model.initial, "the initial distribution", lambda i: f"state {model.state_name(i)!r}")


def check_observations(model: ObservedModel) -> None:
    """Refuse arrays that do not say what is observed in each state."""
    start, which, values = model.observation_start, model.observation, model.observation_probability
    none = start[1:] == start[:-1]
    if none.any():
        state = int(np.argmax(none))
        raise NotADistribution(f"state {model.state_name(state)!r} has no observation; give it at least one")
    lost = (which < 0) | (which >= model.n_observations)
    if lost.any():
        entry = int(np.argmax(lost))
        raise BadModel(
            f"state {model.state_name(_row_of(start, entry))!r} has the observation {which[entry]}; there are "
            f"{model.n_observations} observations, so numbers are in [0, {model.n_observations})"
        )
    bad = ~((values > 0) & (values <= 1 + TOLERANCE))
    if bad.any():
        entry = int(np.argmax(bad))
        mend = "leave it out" if values[entry] == 0 else "probabilities are in (0, 1]"
        raise NotADistribution(
            f"observation {model.observation_name(int(which[entry]))!r} of state "
            f"{model.state_name(_row_of(start, entry))!r} has the probability {values[entry]}; {mend}"
        )
    twice = repeated(start, which)
    if twice is not None:
        raise BadModel(
            f"state {model.state_name(_row_of(start, twice))!r} has the observation "
            f"{model.observation_name(int(which[twice]))!r} twice; add them up"
        )
    sums = row_sums(start, values)
    off = ~(np.abs(sums - 1) <= TOLERANCE)
    if off.any():
        state = int(np.argmax(off))
        raise NotADistribution(
            f"the observations of state {model.state_name(state)!r} sum to {sums[state]:.12g}, "
            f"not to 1 (±{TOLERANCE:g}); {_MEND}"
        )


def check_starts(start: NDArray[np.int64], end: int, what: str, of: str) -> None:
    """Refuse `start` if it is not a running sum from 0 to `end`."""
    if len(start) == 0 or start[0] != 0:
        raise BadModel(f"{what} must begin with 0, got {start[0] if len(start) else 'no entry'}")
    falls = np.diff(start) < 0
    if falls.any():
        place = int(np.argmax(falls))
        raise BadModel(f"{what} must never fall, got {start[place]} and then {start[place + 1]} at place {place}")
    if start[-1] != end:
        raise BadModel(f"{what} must end with the number of {of}, {end}, got {start[-1]}")


def within(start: NDArray[np.int64], blocks: int = _BLOCK) -> Iterable[tuple[int, int]]:
    """Yield the rows in blocks that hold not many members, so that a check needs little memory."""
    rows = len(start) - 1
    low = 0
    while low < rows:
        high = int(np.searchsorted(start, start[low] + blocks, side="right")) - 1
        high = min(max(high, low + 1), rows)
        yield low, high
        low = high


def row_sums(start: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each row; an empty row sums to 0."""
    sums = np.zeros(len(start) - 1)
    full = np.flatnonzero(start[1:] > start[:-1])
    if len(full):
        sums[full] = np.add.reduceat(values, start[full])
    return sums


def check_distribution(values: NDArray[np.float64], what: str, member: object) -> None:
    """Refuse what is no distribution."""
    name = member if callable(member) else str
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        place = int(np.argmax(bad))
        raise NotADistribution(
            f"{what} gives {name(place)} the probability {values[place]}; probabilities are in [0, 1]"
        )
    total = float(values.sum())
    if total == 0:
        raise NotADistribution(f"{what} is 0 everywhere: give at least one state to start in")
    if not abs(total - 1) <= TOLERANCE:
        raise NotADistribution(f"{what} sums to {total:.12g}, not to 1 (±{TOLERANCE:g}); {_MEND}")


_MEND = "give what is missing, or divide them by their sum if they are weights"


def _check_choices(model: Model) -> None:
    """Refuse choices without branches, unknown actions, and one action twice in a state."""
    action, start = model.choice_action, model.choice_start
    lost = (action < 0) | (action >= model.n_actions)
    if lost.any():
        choice = int(np.argmax(lost))
        raise BadModel(
            f"choice {choice} of {_state(model, choice)} has the action {action[choice]}; "
            f"there are {model.n_actions} actions, so numbers are in [0, {model.n_actions})"
        )
    empty = model.branch_start[1:] == model.branch_start[:-1]
    if empty.any():
        choice = int(np.argmax(empty))
        raise NotADistribution(
            f"{_choice(model, choice)} leads nowhere: give it a branch, or leave the choice out "
            f"(a state without choices is absorbing)"
        )
    for low, high in within(start):
        first, last = int(start[low]), int(start[high])
        twice = repeated(start[low : high + 1] - first, action[first:last])
        if twice is not None:
            raise BadModel(
                f"{_state(model, first + twice)} has two choices with the action "
                f"{model.action_name(int(action[first + twice]))!r}; give each an action of its own, or join them"
            )


def _check_targets(model: Model) -> None:
    """Refuse targets outside the model, and one target twice in a row."""
    target, start = model.target, model.branch_start
    if not len(target):
        return
    if target.min() < 0 or target.max() >= model.n_states:
        branch = int(np.argmax((target < 0) | (target >= model.n_states)))
        raise BadModel(
            f"{_choice(model, _row_of(start, branch))} leads to state {target[branch]}, which is not there; "
            f"there are {model.n_states} states, so numbers are in [0, {model.n_states})"
        )
    for low, high in within(start):
        first, last = int(start[low]), int(start[high])
        twice = repeated(start[low : high + 1] - first, target[first:last])
        if twice is not None:
            branch = first + twice
            raise BadModel(
                f"{_choice(model, _row_of(start, branch))} has two branches to "
                f"{model.state_name(int(target[branch]))!r}; add them up (build, from_dicts and from_arrays do)"
            )


def repeated(start: NDArray[np.int64], values: NDArray[np.int32]) -> int | None:
    """Return the place of a value that comes twice in its row, None where there is none."""
    if len(values) < 2:
        return None
    inside = np.ones(len(values) - 1, dtype=bool)
    inside[start[(start > 0) & (start < len(values))] - 1] = False
    if not (inside & (values[1:] <= values[:-1])).any():
        return None  # each row rises: nothing can come twice
    twice = rows_with_repeats(start, values)
    if not len(twice):
        return None
    first = int(twice.min())
    seen: set[int] = set()
    for place in range(int(start[first]), int(start[first + 1])):
        if int(values[place]) in seen:
            return place
        seen.add(int(values[place]))
    raise AssertionError(f"row {first} holds nothing twice")


def _check_probabilities(model: Model) -> None:
    """Refuse rows that are no distributions."""
    values = model.probability
    if len(values) and not (values.min() > 0 and values.max() <= 1 + TOLERANCE):  # also refuses NaN
        branch = int(np.argmin((values > 0) & (values <= 1 + TOLERANCE)))
        mend = "leave the branch out" if values[branch] == 0 else "probabilities are in (0, 1]"
        raise NotADistribution(f"{_branch(model, branch)} has the probability {values[branch]}; {mend}")
    _check_sums(model, values)


def _check_sums(model: Model, values: NDArray[np.float64]) -> None:
    sums = row_sums(model.branch_start, values)
    bad = ~(np.abs(sums - 1) <= TOLERANCE)
    if bad.any():
        choice = int(np.argmax(bad))
        raise NotADistribution(
            f"the probabilities of {_choice(model, choice)} sum to {sums[choice]:.12g}, "
            f"not to 1 (±{TOLERANCE:g}); {_MEND}"
        )


def _check_intervals(model: Model, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
    """Refuse intervals that hold no distribution, and a nominal one that is not among them."""
    good = (lower >= 0) & (lower <= upper) & (upper > 0) & (upper <= 1 + TOLERANCE)
    if not good.all():
        branch = int(np.argmin(good))
        raise NotADistribution(
            f"{_branch(model, branch)} has the interval [{lower[branch]}, {upper[branch]}]; "
            f"0 <= lower <= upper <= 1 and upper > 0 are wanted"
        )
    least, most = row_sums(model.branch_start, lower), row_sums(model.branch_start, upper)
    bad = (least > 1 + TOLERANCE) | (most < 1 - TOLERANCE)
    if bad.any():
        choice = int(np.argmax(bad))
        raise NotADistribution(
            f"the intervals of {_choice(model, choice)} hold no distribution: the lower ends sum to "
            f"{least[choice]:.12g} (at most 1 is wanted) and the upper ends to {most[choice]:.12g} (at least 1); "
            f"widen one of them"
        )
    _check_sums(model, model.probability)
    values = model.probability
    outside = ~((values >= lower - TOLERANCE) & (values <= upper + TOLERANCE))
    if outside.any():
        branch = int(np.argmax(outside))
        raise NotADistribution(
            f"{_branch(model, branch)} has the nominal probability {values[branch]}, which is outside its interval "
            f"[{lower[branch]}, {upper[branch]}]; leave `probability` out to have one chosen"
        )


def _row_of(start: NDArray[np.int64], member: int) -> int:
    return int(np.searchsorted(start, member, side="right")) - 1


def _state(model: Model, choice: int) -> str:
    return f"state {model.state_name(_row_of(model.choice_start, choice))!r}"


def _choice(model: Model, choice: int) -> str:
    if not model.has_actions:
        return _state(model, choice)
    return f"action {model.action_name(int(model.choice_action[choice]))!r} in {_state(model, choice)}"


def _branch(model: Model, branch: int) -> str:
    choice = _row_of(model.branch_start, branch)
    return f"the branch of {_choice(model, choice)} to {model.state_name(int(model.target[branch]))!r}"
