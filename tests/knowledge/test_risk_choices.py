"""Exact amounts, choices, and the default policy."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadArgument, ValueRejected
from surefoot.knowledge.risk_choices import Choice, Protect, amount, exact, protective, read
from surefoot.protocols import Prediction, RiskPolicy


def forged(**fields: Any) -> Any:
    """Return a prediction that its own constructor would refuse."""

    class Forged:
        verdict, risk, support, hard, reason = "accept", 0.0, 9, False, ""

    made = Forged()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


class Third(Fraction):
    """Be a fraction under another name."""


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (0, Fraction(0)),
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        (-0.0, Fraction(0)),
        (1e-9, Fraction(1, 10**9)),
        (np.float64(0.1), Fraction(1, 10)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Third(1, 3), Fraction(1, 3)),
        (10**400, Fraction(10**400)),
    ],
)
def test_a_number_is_taken_as_it_is_written(given: Any, number: Fraction) -> None:
    assert amount(given, "risk") == number
    assert type(amount(given, "risk")) is Fraction


@pytest.mark.parametrize(
    "wrong", [math.nan, math.inf, -math.inf, Decimal("NaN"), Decimal("Infinity"), np.float64("nan")]
)
def test_what_is_not_finite_is_refused(wrong: Any) -> None:
    with pytest.raises(BadArgument, match="risk must be a finite number, got"):
        exact(wrong, "risk")


@pytest.mark.parametrize("wrong", [None, True, "0.1", 1j, np.int64(1), [1]])
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueRejected, match="risk must be a number, got"):
        amount(wrong, "risk")


@pytest.mark.parametrize("wrong", [-1, -1e-300, Fraction(-1, 9)])
def test_what_is_negative_is_refused(wrong: Any) -> None:
    assert exact(wrong, "level") < 0
    with pytest.raises(BadArgument, match="gain must be a number >= 0, got"):
        amount(wrong, "gain")


def test_a_choice_is_checked_and_frozen() -> None:
    choice = Choice("take", "worth it", Fraction(0.5), ["k"])
    with pytest.raises(AttributeError):
        choice.word = "avoid"  # type: ignore[misc]  # wrong on purpose
    with pytest.raises(BadArgument, match="word must be 'take', 'avoid' or 'ask', got 'maybe'"):
        Choice("maybe")
    with pytest.raises(BadArgument, match="charge must be a number >= 0"):
        Choice("take", charge=Fraction(-1))
    with pytest.raises(BadArgument, match="only 'take' has a charge, got 1 for 'ask'"):
        Choice("ask", charge=Fraction(1))
    key = ["k"]
    choice = Choice("take", key=key)
    key.append("x")
    assert choice.key == ["k"]


@pytest.mark.parametrize(
    "fields",
    [
        {"risk": math.nan},
        {"risk": math.inf},
        {"risk": -1},
        {"risk": None},
        {"support": -77},
        {"support": 1.5},
        {"support": True},
        {"verdict": "maybe"},
    ],
)
def test_a_forged_prediction_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        read(forged(**fields), 0)
    with pytest.raises(ValueError, match="must be"):
        Protect().decide(forged(**fields))


def test_protect_takes_what_is_accepted_and_nothing_else() -> None:
    policy = Protect()
    assert isinstance(policy, RiskPolicy)
    words = {"accept": "take", "refuse": "avoid", "unknown": "ask"}
    for verdict, word in words.items():
        for hard in (False, True):
            choice = policy.decide(Prediction(verdict, risk=0.5, support=99, hard=hard), gain=1e9, key=("k", 1))
            assert choice.word == word
            assert choice.charge == 0
        assert policy.decide(Prediction(verdict, reason="because")).reason == "because"
        assert protective(Prediction(verdict)).reason
    for wrong in (math.nan, math.inf, -1):
        with pytest.raises(BadArgument, match="gain must be"):
            policy.decide(Prediction("accept"), gain=wrong)
    assert policy == Protect()
