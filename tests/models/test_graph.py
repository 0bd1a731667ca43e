from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import UnknownName
from surefoot.models import MDP
from surefoot.models.examples import random_mdp
from surefoot.models.graph import can_reach, reachable

EDGES = st.lists(st.lists(st.integers(0, 7), max_size=3, unique=True), min_size=8, max_size=8)


def mdp(edges: list[list[int]], start: int) -> MDP:
    """Return the model where state s has one sure action to each state of `edges[s]`."""
    flat = [target for row in edges for target in row]
    return MDP(
        choice_start=np.concatenate([[0], np.cumsum([len(row) for row in edges])]),
        choice_action=[action for row in edges for action in range(len(row))],
        branch_start=np.arange(len(flat) + 1),
        target=flat,
        probability=np.ones(len(flat)),
        initial=start,
    )


def closure(edges: list[list[int]]) -> Any:
    """Return whether each state leads to each, by Warshall's loop."""
    lead = np.eye(8, dtype=bool)
    for source, row in enumerate(edges):
        lead[source, row] = True
    for middle in range(8):
        lead |= np.outer(lead[:, middle], lead[middle])
    return lead


@given(EDGES, st.integers(0, 7), st.integers(0, 7))
def test_agrees_with_the_closure(edges: list[list[int]], one: int, other: int) -> None:
    model, lead = mdp(edges, one), closure(edges)
    assert reachable(model).tolist() == lead[one].tolist()
    assert reachable(model, [one, f"s{other}"]).tolist() == (lead[one] | lead[other]).tolist()
    assert can_reach(model, [one, other]).tolist() == (lead[:, one] | lead[:, other]).tolist()
    assert not reachable(model, []).any()


def test_many_choices_to_one_state_are_no_trouble() -> None:
    model = MDP(
        choice_start=[0, 256, 256],
        choice_action=np.arange(256),
        branch_start=np.arange(257),
        target=np.ones(256, dtype=int),
        probability=np.ones(256),
        initial=0,
    )
    assert reachable(model).tolist() == [True, True]


def test_unknown_states_are_refused() -> None:
    with pytest.raises(UnknownName, match="there is no state 99"):
        reachable(random_mdp(10), [99])
