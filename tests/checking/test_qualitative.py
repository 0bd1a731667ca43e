from __future__ import annotations

import numpy as np
import pytest

from surefoot.checking.formula import parse
from surefoot.checking.qualitative import satisfying
from surefoot.errors import BadProperty
from surefoot.models import BoolDomain, IntDomain, MarkovChain, Valuations, Variable

TABLE = Valuations.from_rows(
    [Variable("x", IntDomain(0, 3)), Variable("up", BoolDomain()), Variable("colour"), Variable("y", IntDomain(0, 9))],
    [
        {"x": 0, "up": True, "colour": "red", "y": 5},
        {"x": 1, "up": False, "colour": 1, "y": 4},
        {"x": 3, "up": True, "colour": True},
    ],
)
MODEL = MarkovChain(
    choice_start=[0, 1, 2, 2],
    branch_start=[0, 1, 2],
    target=[1, 2],
    probability=[1.0, 1.0],
    initial=0,
    labels={"goal": [2], "start": [0]},
    state_valuations=TABLE,
)


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ('"goal"', [2]),
        ('"init" | "deadlock"', [0, 2]),
        ('!"goal" <=> true', [0, 1]),
        ("x<=1", [0, 1]),
        ("x+1 = 2", [1]),
        ("2*x > 3 & up", [2]),
        ("up => x=3", [1, 2]),
        ("x-1 != 2", [0, 1]),
        ("-x >= 0", [0]),
        ("x/2 < 1", [0, 1]),
        ('colour = "red"', [0]),
        ("colour = 1", [1]),
        ("colour = true", [2]),
        ("x = up", []),
        ("false", []),
    ],
)
def test_states(text: str, states: list[int]) -> None:
    assert np.flatnonzero(satisfying(MODEL, parse(text), text)).tolist() == states


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"gaol"', "there is no label 'gaol': did you mean 'goal'"),
        ("z = 1", "there is no variable 'z'"),
        ("goal", 'the label is written "goal"'),
        ("x", "is not True or False: compare it"),
        ("colour < 2", "only numbers have an order"),
        ("up + 1 = 2", "a number is wanted here"),
        ("y = 4", "variable 'y' has no value in state 's2'"),
        ("1", "states are wanted here"),
        ("(x < 1) < 2", "a number or a variable is wanted"),
        ('P>=0.5 [ F "goal" ]', "P cannot stand here"),
    ],
)
def test_what_is_wrong_is_shown_with_its_place(text: str, message: str) -> None:
    with pytest.raises(BadProperty, match=message) as caught:
        satisfying(MODEL, parse(text), text)
    assert str(caught.value).endswith("^")
    with pytest.raises(BadProperty, match=message):
        satisfying(MODEL, parse(text))
