"""Models that have everything that a format may have no words for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from surefoot.models import (
    HMM,
    MDP,
    POMDP,
    BoolDomain,
    CategoricalDomain,
    IntDomain,
    MarkovChain,
    Model,
    RewardModel,
    Valuations,
    Variable,
)

THIRD = 1 / 3


def chain() -> MarkovChain:
    return MarkovChain(
        choice_start=[0, 1, 2, 2],
        branch_start=[0, 3, 4],
        target=[2, 0, 1, 1],
        probability=[0.1, 0.2, 0.7000000000000001, 1.0],
        initial="start here",
        state_names=["start here", 'a "b"', ""],
        labels={"init": [0], "two words": [0, 2], 'odd"one': [1], "none": []},
        rewards={"plain": RewardModel(state=[1.5, -2.0, 0.1])},
    )


def mdp() -> MDP:
    variables = [
        Variable("n", IntDomain(-2, 5, allow_none=True)),
        Variable("flag", BoolDomain()),
        Variable("kind", CategoricalDomain(("1", 1, (2, "x")), allow_none=True)),
        Variable("any thing"),
    ]
    rows: list[dict[str, Any]] = [
        {"n": None, "flag": True, "kind": (2, "x"), "any thing": 1.5},
        {"n": -2, "flag": False, "kind": None, "any thing": True},
        {"n": 5, "flag": False},
        {"n": 0, "flag": True, "kind": 1, "any thing": "1"},
    ]
    return MDP(
        choice_start=[0, 3, 3, 4, 5],
        choice_action=[3, 0, 1, 0, 4],
        branch_start=[0, 2, 3, 5, 6, 8],
        target=[1, 0, 3, 0, 2, 2, 0, 1],
        probability=[THIRD, 1 - THIRD, 1.0, 0.25, 0.75, 1.0, 1e-7, 1 - 1e-7],
        initial={0: 0.3, 2: 0.7},
        action_names=["go to", "", "never used", "#0", 'quote"d'],
        labels={"goal": [1], "init": [3]},
        rewards={
            "all parts": RewardModel(state=[1, 2, 3, 4], choice=[0.1] * 5, transition=np.arange(8) / 3),
            "arrive": RewardModel(transition=[0, 0, 0, 0, 0, 0, 0, 1.0]),
            "even": RewardModel(transition=[2.0, 2.0, 0, 1, 1, 0, 0, 0]),
            "zero": RewardModel(choice=np.zeros(5)),
            "nothing": RewardModel(),
        },
        state_valuations=Valuations.from_rows(variables, rows),
    )


def interval_mdp() -> MDP:
    return MDP(
        choice_start=[0, 2, 3],
        choice_action=[0, 1, 0],
        branch_start=[0, 2, 4, 5],
        target=[0, 1, 0, 1, 1],
        lower=[0.1, 0.2, 0.0, 0.5, 1.0],
        upper=[0.5, 0.9, 0.5, 1.0, 1.0],
        initial=0,
        action_names=["left", "right"],
        labels={"goal": [1]},
        rewards={"cost": RewardModel(choice=[1.0, 2.0, 0.0])},
    )


def interval_chain() -> MarkovChain:
    return MarkovChain(
        choice_start=[0, 1, 2],
        branch_start=[0, 2, 3],
        target=[0, 1, 1],
        probability=[0.45, 0.55, 1.0],
        lower=[0.1, 0.2, 1.0],
        upper=[0.5, 0.9, 1.0],
        initial=0,
    )


def pomdp() -> POMDP:
    return POMDP(
        choice_start=[0, 2, 4, 5],
        choice_action=[0, 1, 0, 1, 0],
        branch_start=[0, 1, 2, 4, 5, 6],
        target=[1, 2, 0, 1, 2, 2],
        probability=[1, 1, 0.5, 0.5, 1, 1],
        initial=0,
        action_names=["left", "right"],
        observation=[1, 1, 0],
        observation_names=["goal!", "same as before", "never seen"],
        observation_valuations=Valuations.from_rows([Variable("near", BoolDomain())], [{"near": True}] * 3),
        labels={"goal": [2]},
        rewards={"cost": RewardModel(state=[1.0, 1.0, 0.0])},
    )


def hmm() -> HMM:
    return HMM(
        choice_start=[0, 1, 2],
        branch_start=[0, 1, 3],
        target=[1, 0, 1],
        probability=[1.0, 0.125, 0.875],
        initial={0: 0.5, 1: 0.5},
        observation=[0, 1],
        observation_names=["dark", "bright"],
    )


def noisy_pomdp() -> POMDP:
    return pomdp().replace(
        observation=[0, 1, 1, 0, 2],
        observation_start=[0, 2, 3, 5],
        observation_probability=[0.85, 0.15, 1.0, 0.1, 0.9],
        observation_names=["goal!", "same as before", "seen"],
    )


def noisy_hmm() -> HMM:
    return hmm().replace(observation=[0, 1, 1], observation_start=[0, 2, 3], observation_probability=[0.85, 0.15, 1.0])


def random_mdp(seed: int) -> MDP:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, 30)
    counts[0] = 2
    choices = int(counts.sum())
    width = rng.integers(1, 5, choices)
    targets = [np.sort(rng.choice(30, n, replace=False)) for n in width]
    rows = [rng.dirichlet(np.ones(n)) for n in width]
    return MDP(
        choice_start=np.concatenate([[0], np.cumsum(counts)]),
        choice_action=np.concatenate([rng.permutation(4)[:n] for n in counts]),
        branch_start=np.concatenate([[0], np.cumsum(width)]),
        target=np.concatenate(targets),
        probability=np.concatenate(rows),
        initial=rng.dirichlet(np.ones(30)),
        rewards={"r": RewardModel(rng.normal(size=30), rng.normal(size=choices), rng.normal(size=int(width.sum())))},
        labels={f"l{n}": rng.random(30) < 0.3 for n in range(3)},
    )


ALL: dict[str, Callable[[], Model]] = {
    "chain": chain,
    "mdp": mdp,
    "interval mdp": interval_mdp,
    "interval chain": interval_chain,
    "pomdp": pomdp,
    "hmm": hmm,
    "random 0": lambda: random_mdp(0),
    "random 1": lambda: random_mdp(1),
}
NOISY: dict[str, Callable[[], Model]] = {"noisy pomdp": noisy_pomdp, "noisy hmm": noisy_hmm}


@pytest.fixture(params=list(ALL))
def model(request: pytest.FixtureRequest) -> Model:
    """Give each model, its observations not drawn at random."""
    return ALL[request.param]()


@pytest.fixture(params=list(NOISY))
def noisy(request: pytest.FixtureRequest) -> Model:
    """Give each model whose observations are drawn at random."""
    return NOISY[request.param]()


@pytest.fixture
def odd_mdp() -> MDP:
    """Return the MDP that has everything."""
    return mdp()
