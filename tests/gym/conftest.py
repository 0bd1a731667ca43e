"""Small models that the tests of this folder step."""

from __future__ import annotations

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
    RewardModel,
    Valuations,
    Variable,
)

__all__: list[str] = []


@pytest.fixture(scope="session")
def hunt() -> MDP:
    """Return a model: s0 offers wait and go, s1 go and hunt, s2 is a goal without choices."""
    return MDP(
        choice_start=[0, 2, 4, 4],
        choice_action=[0, 1, 1, 2],
        branch_start=[0, 1, 3, 4, 6],
        target=[0, 0, 1, 0, 1, 2],
        probability=[1.0, 0.25, 0.75, 1.0, 0.5, 0.5],
        initial=0,
        action_names=["wait", "go", "hunt"],
        labels={"start": [0], "goal": [2], "safe": [0, 1]},
        rewards={
            "all": RewardModel(state=[1.0, 2.0, 50.0], choice=[0.0, 0.5, 0.25, 0.125], transition=np.arange(6) * 10.0)
        },
        state_valuations=Valuations.from_rows(
            [
                Variable("x", IntDomain(-1, 3)),
                Variable("door", BoolDomain(allow_none=True)),
                Variable("colour", CategoricalDomain(("red", "green"))),
                Variable("note"),
            ],
            [
                {"x": -1, "door": False, "colour": "red", "note": "free text"},
                {"x": 0, "door": True, "colour": "green"},
                {"x": 3, "door": None, "colour": "red"},
            ],
        ),
    )


@pytest.fixture(scope="session")
def die() -> MarkovChain:
    """Return one throw of a die: 0 leads to 1 to 6, which have no choices."""
    return MarkovChain(
        choice_start=[0, *[1] * 7],
        branch_start=[0, 6],
        target=[1, 2, 3, 4, 5, 6],
        probability=[1 / 6] * 6,
        initial=0,
        state_names=["throw", "one", "two", "three", "four", "five", "six"],
        labels={"even": [2, 4, 6]},
        rewards={"spots": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]},
    )


@pytest.fixture(scope="session")
def tiger() -> POMDP:
    """Return a game: listen, what you hear is right in 85 %; then open a door, and all begins anew."""
    return POMDP(
        choice_start=[0, 3, 6],
        choice_action=[0, 1, 2, 0, 1, 2],
        branch_start=[0, 1, 3, 5, 6, 8, 10],
        target=[0, 0, 1, 0, 1, 1, 0, 1, 0, 1],
        probability=[1.0, 0.5, 0.5, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5, 0.5],
        initial={"left": 0.5, "right": 0.5},
        state_names=["left", "right"],
        action_names=["listen", "open-left", "open-right"],
        observation=[0, 1, 0, 1],
        observation_start=[0, 2, 4],
        observation_probability=[0.85, 0.15, 0.15, 0.85],
        observation_names=["hear-left", "hear-right"],
        observation_valuations=Valuations.from_rows(
            [Variable("ear", CategoricalDomain(("l", "r")))], [{"ear": "l"}, {"ear": "r"}]
        ),
        labels={"behind-left": [0]},
        rewards={"money": RewardModel(choice=[-1.0, -100.0, 10.0, -1.0, 10.0, -100.0])},
    )


@pytest.fixture(scope="session")
def maze() -> POMDP:
    """Return three rooms of which the first two look alike; one action."""
    return POMDP(
        choice_start=[0, 1, 2, 2],
        choice_action=[0, 0],
        branch_start=[0, 1, 2],
        target=[1, 2],
        probability=[1.0, 1.0],
        initial=0,
        action_names=["on", "back"],
        observation=[0, 0, 1],
        observation_names=["dark", "bright"],
        observation_valuations=Valuations.from_rows(
            [Variable("light", IntDomain(0, 9)), Variable("exit", BoolDomain())],
            [{"light": 0, "exit": False}, {"light": 9, "exit": True}],
        ),
    )


@pytest.fixture(scope="session")
def lamp() -> HMM:
    """Return a lamp that flickers, of which one sees whether it is dark or bright."""
    return HMM(
        choice_start=[0, 1, 2],
        branch_start=[0, 2, 3],
        target=[0, 1, 0],
        probability=[0.5, 0.5, 1.0],
        initial=0,
        observation=[0, 1],
        observation_names=["dark", "bright"],
    )


@pytest.fixture(scope="session")
def ring() -> MDP:
    """Return a random model in which every state offers three actions with four branches each; it never ends."""
    return random_mdp(states=40, actions=3, branches=4)


def random_mdp(states: int, actions: int, branches: int) -> MDP:
    """Return a model with random targets, probabilities and rewards, and two labelled states."""
    numbers = np.random.default_rng(5)
    choices = states * actions
    target = np.sort([numbers.choice(states, branches, replace=False) for _ in range(choices)], axis=1)
    return MDP(
        choice_start=np.arange(states + 1) * actions,
        choice_action=np.tile(np.arange(actions), states),
        branch_start=np.arange(choices + 1) * branches,
        target=target.ravel(),
        probability=numbers.dirichlet(np.ones(branches), choices).ravel(),
        initial=numbers.dirichlet(np.ones(states)),
        labels={"far": [states - 1, states - 2]},
        rewards={
            "pay": RewardModel(
                state=numbers.normal(size=states),
                choice=numbers.normal(size=choices),
                transition=numbers.normal(size=choices * branches),
            )
        },
    )
