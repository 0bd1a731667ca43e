"""What a policy may be given as, and the choices that it makes in many states at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument, BadModel, UnknownName
from surefoot.models import draws
from surefoot.models.markov import Model, ObservedModel

__all__ = ["Chooser", "Policy", "chooser_of"]

Policy = Callable[[NDArray[np.int32]], Any] | Mapping[Any, Any] | NDArray[Any] | None
"""How actions are chosen; see `surefoot.models.simulation.simulate`."""

Chooser = Callable[[NDArray[np.int32], NDArray[np.int32], Callable[[], NDArray[np.float64]]], NDArray[np.int64]]


def chooser_of(model: Model, policy: Policy, observing: bool) -> Chooser:
    """Return a function from states, what is seen and a way to draw numbers, to choices."""
    start = model.choice_start
    if not model.has_actions:
        if policy is not None:
            raise BadArgument(f"a {type(model).__name__} has no actions: leave the policy out")
        return lambda state, seen, draw: start[state]
    if policy is None:

        def even(state: NDArray[np.int32], seen: NDArray[np.int32], draw: Callable[[], NDArray[np.float64]]) -> Any:
            count = start[state + 1] - start[state]
            return start[state] + np.minimum((draw() * count).astype(np.int64), count - 1)

        return even
    if isinstance(policy, np.ndarray) and policy.dtype.kind == "f":
        return _weighted(model, policy)
    if callable(policy):
        return lambda state, seen, draw: _choices(model, state, np.asarray(policy(seen)))
    table = _table(model, policy, observing)
    return lambda state, seen, draw: _choices(model, state, table[seen])


def _weighted(model: Model, policy: NDArray[np.float64]) -> Chooser:
    """Return the policy that draws a choice by its weight."""
    if policy.shape != (model.n_choices,):
        raise BadModel(f"a policy of floats must be ({model.n_choices},), one for each choice; got {policy.shape}")
    total = np.zeros(model.n_states)
    np.add.at(total, model.choice_state, policy)
    bad = (np.abs(total - 1) > 1e-9) & (np.diff(model.choice_start) > 0)
    if bad.any() or not (policy >= 0).all():
        state = int(np.argmax(bad)) if bad.any() else int(model.choice_state[int(np.argmax(~(policy >= 0)))])
        raise BadModel(
            f"the policy gives no distribution over the choices of state {model.state_name(state)!r}: "
            f"{policy[model.choices(state).start : model.choices(state).stop].tolist()}"
        )
    sums = draws.cumulative(model.choice_start, policy)
    start = model.choice_start
    return lambda state, seen, draw: draws.pick(sums, start[state], start[state + 1], draw())


def _table(model: Model, policy: Any, observing: bool) -> NDArray[np.int64]:
    """Return the action of each state (or observation); -1 where the policy has none."""
    names = model.observation_names if observing and isinstance(model, ObservedModel) else model.state_names
    what = "observation" if observing else "state"
    if isinstance(policy, Mapping):
        table = np.full(len(names), -1, dtype=np.int64)
        for key, action in policy.items():
            place = int(key) if isinstance(key, int | np.integer) and not isinstance(key, bool) else names.number(key)
            if not 0 <= place < len(names):
                raise UnknownName(f"the policy names {what} {place}; numbers are in [0, {len(names)})")
            table[place] = action if isinstance(action, int | np.integer) else model.action(action)
        return table
    table = np.asarray(policy)
    if table.dtype.kind not in "iu" or table.shape != (len(names),):
        raise BadModel(f"a policy of ints must be ({len(names)},), one a {what}; got {table.dtype} {table.shape}")
    return table.astype(np.int64)


def _choices(model: Model, state: NDArray[np.int32], action: NDArray[Any]) -> NDArray[np.int64]:
    """Return the choices of actions in states, or refuse one that is not offered."""
    if action.shape != state.shape or action.dtype.kind not in "iu":
        raise BadModel(
            f"the policy must return {len(state)} action numbers, one for each state it got; "
            f"got {action.dtype} {action.shape}"
        )
    inside = (action >= 0) & (action < model.n_actions)
    choice = np.where(inside, model.action_table[state, np.where(inside, action, 0)], -1).astype(np.int64)
    only = (action == -1) & (model.choice_start[state + 1] - model.choice_start[state] == 1)
    choice[only] = model.choice_start[state[only]]
    if (choice < 0).any():
        place = int(np.argmax(choice < 0))
        number, at = int(action[place]), int(state[place])
        name = repr(model.action_name(number)) if inside[place] else str(number)
        offered = [model.action_name(int(one)) for one in model.available(at)]
        raise BadModel(
            f"the policy has no action for state {model.state_name(at)!r}; it offers {offered}"
            if number == -1
            else f"the policy chooses the action {name} in state {model.state_name(at)!r}, which offers {offered}"
        )
    return choice
