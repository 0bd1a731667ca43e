"""Risk policies that lie, each about one law, and an honest one that they start from.

Use them to test a checker: it has to catch every liar in `POLICY_LIARS`, by the law that is broken, and to pass
`Purse`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

from surefoot import values
from surefoot.knowledge.risk_choices import Choice, amount, read
from surefoot.testing.risk_policies import PolicyLaw

__all__ = ["POLICY_LIARS", "PolicyLiar", "Purse"]


class Purse:
    """An honest policy with a budget, as small as one can be: no journal, no lock.

    Example:
        >>> from surefoot.protocols import Prediction
        >>> purse = Purse()
        >>> purse.charge(purse.decide(Prediction("refuse", risk=0.1, support=9), gain=1))
        >>> purse.left
        Fraction(9, 10)
    """

    limit: Any = Fraction(1)

    def __init__(self) -> None:
        self.left: Any = self.limit
        self.paid: dict[Any, Any] = {}

    def key(self, key: Any) -> Any:
        """Return what a key is known by."""
        return values.encode(key)

    def number(self, value: Any, name: str) -> Any:
        """Return a number as it is counted."""
        return amount(value, name)

    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        """Take what is accepted, and what is worth its risk and rests on a case, as long as the purse lasts."""
        risk, worth = read(prediction, gain)
        if prediction.verdict == "accept":
            return Choice("take", "accepted") if not risk else self.buy(risk, key)
        if prediction.hard:
            return Choice("avoid", "a hard rule")
        if not prediction.support:
            return Choice("ask", "nothing is known")
        return self.buy(risk, key) if worth > risk else Choice("avoid", "not worth it")

    def buy(self, risk: Any, key: Any) -> Any:
        """Return the choice to take it, if the purse has it."""
        due = max(self.number(risk, "risk") - self.paid.get(self.key(key), 0), 0) if key is not None else risk
        return Choice("take", "worth it", due, key) if due <= self.left else Choice("avoid", "too dear")

    def charge(self, choice: Any) -> None:
        """Take the charge out of the purse."""
        cost = self.number(choice.charge, "charge")
        if choice.word != "take" or cost > self.left:
            raise ValueError("not to be charged")
        self.spend(cost, choice.key)

    def spend(self, cost: Any, key: Any) -> None:
        """Take it out."""
        self.left -= cost
        if key is not None:
            self.paid[self.key(key)] = self.paid.get(self.key(key), 0) + cost

    def settle(self, choice: Any, actual: Any) -> None:
        """Give back what a choice cost, and take what it really cost."""
        cost = self.number(actual, "actual")
        self.left = max(self.left + choice.charge - cost, Fraction(0))

    def new_episode(self) -> None:
        """Fill the purse again."""
        self.left = self.limit
        self.paid.clear()


# ── the form of answers ─────────────────────────────────────────────────────────────────────────────────────────────


class NoMethod(Purse):
    decide = "take"  # type: ignore[assignment]  # the lie


class GainRequired(Purse):
    def decide(self, prediction: Any, gain: Any, key: Any = None) -> Any:  # type: ignore[override]  # the lie
        return super().decide(prediction, gain, key)


class RaisesOnKeys(Purse):
    def key(self, key: Any) -> Any:
        return hash(key)


class Words(Purse):
    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        return super().decide(prediction, gain, key).word


class OwnWord(Purse):
    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        choice = super().decide(prediction, gain, key)
        return choice if choice.word != "ask" else SimpleNamespace(word="ask_s2", reason="?", charge=0)


class NoReason(Purse):
    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        choice = super().decide(prediction, gain, key)
        return Choice(choice.word, "", choice.charge, key)


class ChargesForAvoiding(Purse):
    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        choice = super().decide(prediction, gain, key)
        return choice if choice.word == "take" else SimpleNamespace(word=choice.word, reason="r", charge=0.1)


class Grabby(Purse):
    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        choice = super().decide(prediction, gain, key)
        if isinstance(key, list):
            key.append("seen")
        return choice


# ── deciding is pure ────────────────────────────────────────────────────────────────────────────────────────────────


class Moody(Purse):
    dice = Random(3)

    def __init__(self) -> None:
        super().__init__()
        self.mood = self.dice.random()

    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        choice = super().decide(prediction, gain, key)
        return Choice(choice.word, f"{choice.reason} ({self.mood})", choice.charge, key)


class ChargesAtOnce(Purse):
    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        choice = super().decide(prediction, gain, key)
        if choice.charge:
            self.spend(choice.charge, choice.key)
        return choice

    def charge(self, choice: Any) -> None:
        """Was done."""


class Logs(Purse):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[Any] = []

    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        self.log.append(prediction)
        return super().decide(prediction, gain, key)


class Tires(Purse):
    asked = 0

    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        self.asked += 1
        return super().decide(prediction, gain, key) if self.asked < 780 else Choice("ask", "tired")


# ── what may be taken ───────────────────────────────────────────────────────────────────────────────────────────────


class Trader(Purse):
    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        if prediction.hard and gain >= 1e12:
            return self.buy(amount(prediction.risk, "risk"), key)
        return super().decide(prediction, gain, key)


class Gambler(Purse):
    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        risk, worth = read(prediction, gain)
        if not prediction.support and not prediction.hard and worth > risk:
            return self.buy(risk, key)
        return super().decide(prediction, gain, key)


class Floats(Purse):
    """Count in floats and check nothing: NaN compares as neither more nor less."""

    limit = 1.0

    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        if prediction.verdict == "accept" and not prediction.risk:
            return Choice("take", "accepted")
        if prediction.hard or (prediction.verdict != "accept" and not prediction.support):
            return Choice("ask", "not to be traded")
        if gain <= prediction.risk or prediction.risk > self.left:
            return Choice("avoid", "not worth it")
        return SimpleNamespace(word="take", reason="worth it", charge=prediction.risk, key=key)

    def number(self, value: Any, name: str) -> Any:
        return value

    def settle(self, choice: Any, actual: Any) -> None:
        self.left += choice.charge - amount(actual, "actual")


class CarefulFloats(Floats):
    """Count in floats, but check what is given."""

    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        read(prediction, gain)
        return super().decide(prediction, gain, key)


class ExpensiveTaste(Purse):
    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        choice = super().decide(prediction, gain, key)
        small = prediction.verdict == "refuse" and prediction.risk == 0.1
        return Choice("avoid", "a trifle") if small and choice.word == "take" else choice


class FearsGifts(Purse):
    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        choice = super().decide(prediction, gain, key)
        suspicious = gain == 1000 and prediction.support == 50
        return Choice("avoid", "too good") if suspicious and choice.word == "take" else choice


# ── budgets ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class OnePurse(Purse):
    common: Any = [Fraction(1)]

    def __init__(self) -> None:
        OnePurse.common[0] = Fraction(1)
        self.paid = {}

    @property
    def left(self) -> Any:
        return OnePurse.common[0]

    @left.setter
    def left(self, left: Any) -> None:
        OnePurse.common[0] = left


class Rounds(Purse):
    def spend(self, cost: Any, key: Any) -> None:
        super().spend(cost + Fraction(1, 10**12), key)


class Overdraws(Purse):
    def charge(self, choice: Any) -> None:
        if choice.word == "take":
            self.spend(choice.charge, choice.key)
        else:
            raise ValueError("not to be charged")


class OnCredit(Purse):
    def buy(self, risk: Any, key: Any) -> Any:
        return Choice("take", "worth it", risk, key)

    def charge(self, choice: Any) -> None:
        if choice.word != "take":
            raise ValueError("not to be charged")
        self.spend(min(choice.charge, self.left), None)


class ChargesAnything(Purse):
    def charge(self, choice: Any) -> None:
        if choice.word == "take":
            super().charge(choice)
        else:
            self.spend(Fraction(1, 100), None)


class LookAlikeKeys(Purse):
    def key(self, key: Any) -> Any:
        return key if isinstance(key, int | float) else repr(key)


class KeepsTheChange(Purse):
    def settle(self, choice: Any, actual: Any) -> None:
        super().settle(choice, self.number(actual, "actual") + choice.charge / 2)


class SettlesInTheRed(Purse):
    def settle(self, choice: Any, actual: Any) -> None:
        self.left = self.left + choice.charge - self.number(actual, "actual")


class SettlesWithNothing(Purse):
    def settle(self, choice: Any, actual: Any) -> None:
        super().settle(choice, 0 if math.isnan(actual) or actual < 0 else min(actual, 10**9))


class Generous(Purse):
    def new_episode(self) -> None:
        self.left += self.limit
        self.paid.clear()


class Thief(Purse):
    def new_episode(self) -> None:
        self.left = self.left / 2


class PolicyLiar(NamedTuple):
    """Name a policy that breaks a law.

    Example:
        >>> POLICY_LIARS["a hard refusal is traded"].law.value
        'a hard rule is never traded'
    """

    policy: type[Any]
    law: PolicyLaw


POLICY_LIARS: Mapping[str, PolicyLiar] = {
    "decide is no method": PolicyLiar(NoMethod, PolicyLaw.IS_POLICY),
    "the gain is required": PolicyLiar(GainRequired, PolicyLaw.ANSWERS),
    "a key that makes it raise": PolicyLiar(RaisesOnKeys, PolicyLaw.ANSWERS),
    "a bare word": PolicyLiar(Words, PolicyLaw.CHOICES),
    "a word of its own": PolicyLiar(OwnWord, PolicyLaw.CHOICES),
    "no reason": PolicyLiar(NoReason, PolicyLaw.CHOICES),
    "avoiding has a charge": PolicyLiar(ChargesForAvoiding, PolicyLaw.CHOICES),
    "the caller's key is changed": PolicyLiar(Grabby, PolicyLaw.KEPT),
    "reasons by the dice": PolicyLiar(Moody, PolicyLaw.SAME),
    "deciding charges": PolicyLiar(ChargesAtOnce, PolicyLaw.PURE),
    "deciding fills a log": PolicyLiar(Logs, PolicyLaw.PURE),
    "tired of questions": PolicyLiar(Tires, PolicyLaw.PURE),
    "a hard refusal is traded": PolicyLiar(Trader, PolicyLaw.HARD),
    "taken without a case": PolicyLiar(Gambler, PolicyLaw.EVIDENCE),
    "nan is taken": PolicyLiar(Floats, PolicyLaw.NUMBERS),
    "a lower risk is avoided": PolicyLiar(ExpensiveTaste, PolicyLaw.RISK),
    "a higher gain is avoided": PolicyLiar(FearsGifts, PolicyLaw.GAIN),
    "one purse for all": PolicyLiar(OnePurse, PolicyLaw.APART),
    "tenths as floats": PolicyLiar(CarefulFloats, PolicyLaw.EXACT),
    "a little more is charged": PolicyLiar(Rounds, PolicyLaw.EXACT),
    "an old choice makes it negative": PolicyLiar(Overdraws, PolicyLaw.WITHIN),
    "more is taken than there is": PolicyLiar(OnCredit, PolicyLaw.WITHIN),
    "avoiding is charged": PolicyLiar(ChargesAnything, PolicyLaw.TAKEN),
    "1 and True are one key": PolicyLiar(LookAlikeKeys, PolicyLaw.KEYS),
    "half is kept when it is settled": PolicyLiar(KeepsTheChange, PolicyLaw.SETTLED),
    "settled in the red": PolicyLiar(SettlesInTheRed, PolicyLaw.SETTLED),
    "nan settles": PolicyLiar(SettlesWithNothing, PolicyLaw.SETTLED),
    "each episode adds to it": PolicyLiar(Generous, PolicyLaw.EPISODES),
    "each episode takes from it": PolicyLiar(Thief, PolicyLaw.EPISODES),
}
"""Every liar by what it does; each law has one or more.

Example:
    >>> {liar.law for liar in POLICY_LIARS.values()} == set(PolicyLaw)
    True
"""
