"""Exact amounts, and the choice that a risk policy makes."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from surefoot import values
from surefoot.errors import BadArgument, ValueRejected
from surefoot.protocols import Prediction

__all__ = ["CHOICES", "Amount", "Choice", "Protect", "amount", "exact", "protective", "read"]

Amount = int | float | Fraction | Decimal
"""What may be given as a risk, a gain or a budget: a finite number, taken exactly as it is written.

Example:
    >>> isinstance(Fraction(1, 3), Amount)
    True
"""

CHOICES = ("take", "avoid", "ask")
"""What a risk policy may say: take the action, avoid it, or ask (the slow path, or a person).

Example:
    >>> CHOICES
    ('take', 'avoid', 'ask')
"""


def exact(value: Any, name: str) -> Fraction:
    """Return a number exactly as it is written: 0.1 is one tenth, not the nearest binary fraction.

    Args:
        value: an int, a finite float, a `Fraction` or a finite `Decimal`.
        name: the argument's name, for messages.

    Raises:
        ValueRejected: it is no number.
        BadArgument: it is NaN or infinite.

    Example:
        >>> 3 * exact(0.1, "risk") == exact(0.3, "budget"), 3 * 0.1 == 0.3
        (True, False)
    """
    if type(value) is Fraction:
        return value
    if isinstance(value, bool) or not isinstance(value, Amount):
        raise ValueRejected(f"{name} must be a number, got {value!r}")
    if isinstance(value, Fraction):
        return Fraction(value)
    text = float.__repr__(value) if isinstance(value, float) else str(value)
    try:
        return Fraction(int(value)) if isinstance(value, int) else _written(text)
    except ValueError:
        raise BadArgument(f"{name} must be a finite number, got {text}") from None


@lru_cache(maxsize=1024)
def _written(text: str) -> Fraction:
    """Return the number that a text is; the same few are asked for again and again, and reading one takes 5 µs."""
    return Fraction(text)


def amount(value: Any, name: str) -> Fraction:
    """Return a risk, a gain or a budget exactly.

    Raises:
        ValueRejected: it is no number.
        BadArgument: it is NaN, infinite or negative.

    Example:
        >>> amount(0.25, "gain")
        Fraction(1, 4)
        >>> amount(float("nan"), "gain")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: gain must be a finite number, got nan
    """
    number = exact(value, name)
    if number.numerator < 0:
        raise BadArgument(f"{name} must be a number >= 0, got {value!r}")
    return number


def read(prediction: Any, gain: Any) -> tuple[Fraction, Fraction]:
    """Return the risk and the gain that a decision is about, exactly; a forged prediction is refused.

    Raises:
        ValueRejected, BadArgument: one of them, or the prediction's verdict or support, is out of its range.

    Example:
        >>> read(Prediction("refuse", risk=0.5), 2)
        (Fraction(1, 2), Fraction(2, 1))
    """
    if prediction.verdict not in ("accept", "refuse", "unknown"):
        raise BadArgument(f"prediction.verdict must be 'accept', 'refuse' or 'unknown', got {prediction.verdict!r}")
    support = prediction.support
    if type(support) is not int or support < -1:
        raise BadArgument(f"prediction.support must be an int >= -1, got {support!r}")
    return amount(prediction.risk, "prediction.risk"), amount(gain, "gain")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a risk policy says about an action.

    Attributes:
        word: "take", "avoid" or "ask".
        reason: why, in words.
        charge: what taking it costs a budget, exactly; 0 unless the word is "take".
        key: what the charge is for, a plain value; None for nothing in particular.
        number: the number of the charge, once it is charged.

    Raises:
        BadArgument: the word is none of these, or the charge is negative.

    Example:
        >>> Choice("take", "worth it", Fraction(1, 10)).charge
        Fraction(1, 10)
    """

    word: str
    reason: str = ""
    charge: Fraction = Fraction(0)
    key: Any = None
    number: int | None = None

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.word not in CHOICES:
            raise BadArgument(f"word must be 'take', 'avoid' or 'ask', got {self.word!r}")
        object.__setattr__(self, "charge", amount(self.charge, "charge"))
        if self.charge and self.word != "take":
            raise BadArgument(f"only 'take' has a charge, got {self.charge} for {self.word!r}")
        object.__setattr__(self, "key", values.copy(self.key))


def protective(prediction: Prediction) -> Choice:
    """Return the choice that takes nothing but what is predicted to be accepted.

    Example:
        >>> protective(Prediction("unknown")).word
        'ask'
    """
    if prediction.verdict == "accept":
        return Choice("take", prediction.reason or "predicted to be accepted")
    if prediction.verdict == "refuse":
        return Choice("avoid", prediction.reason or "predicted to be refused")
    return Choice("ask", prediction.reason or "nothing is known about it")


@dataclass(frozen=True, slots=True)
class Protect:
    """Take what is predicted to be accepted, avoid what is predicted to be refused, ask about the rest.

    The default policy. It weighs nothing and remembers nothing; a gain or a key changes nothing.

    Example:
        >>> policy = Protect()
        >>> [policy.decide(Prediction(verdict)).word for verdict in ("accept", "refuse", "unknown")]
        ['take', 'avoid', 'ask']
    """

    def decide(self, prediction: Prediction, gain: Amount = 0.0, key: Any = None) -> Choice:
        """Return the choice; pure.

        Args:
            prediction: what is known about the action.
            gain: a finite number >= 0; not weighed here.
            key: not used here.

        Raises:
            BadArgument: the risk or the gain is NaN, infinite or negative.
        """
        read(prediction, gain)
        return protective(prediction)
