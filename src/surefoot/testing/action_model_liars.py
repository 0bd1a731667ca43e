"""Action models that lie, each about one law, and an honest one that they start from.

Use them to test a checker: it has to catch every liar in `MODEL_LIARS`, by the law that is broken, and to pass `Rote`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any, NamedTuple

from surefoot import values
from surefoot.protocols import Prediction
from surefoot.testing.action_models import ModelLaw, Transition

__all__ = ["MODEL_LIARS", "TRANSITIONS", "ModelLiar", "Rote"]


def _transitions() -> list[Transition]:
    rows: list[Transition] = []
    for n in range(3):
        shop = {"gold": n, "items": ["axe"]}
        bought = ({"gold": n - 2}, {"gold": n - 2, "items": ["axe", "axe"]}) if n > 1 else ()
        rows.append((shop, "buy", {"item": "axe", "count": [n]}, n > 1, *bought))
        rows.extend([(shop, "sell", {"item": "axe"}, n > 0, ["sold", {"gold": n + 1}] if n > 0 else None)] * 2)
    rows.append((shop, "wait", {}, True, None, shop))
    for likeness in (1, True, 1.0, "1"):
        rows.append(((1, 2), "open", {"door": likeness}, type(likeness) is int))
    return rows


TRANSITIONS = _transitions()
"""What a small shop did, without noise: (state, action, args, accepted[, effect[, next state]]).

Example:
    >>> len(TRANSITIONS), sorted({row[1] for row in TRANSITIONS})
    (14, ['buy', 'open', 'sell', 'wait'])
"""


class Rote:
    """An honest model that learns by rote: it knows the calls that it saw, exactly, and no others.

    Example:
        >>> model = Rote()
        >>> model.observe("hall", "go", {"n": 1}, accepted=True).verdict
        'unknown'
        >>> model.predict("hall", "go", {"n": 1}).verdict, model.predict("hall", "go", {"n": True}).verdict
        ('accept', 'unknown')
    """

    def __init__(self) -> None:
        self.seen: dict[bytes, Counter[bool]] = {}
        self.effects: dict[bytes, Counter[bytes]] = {}
        self.nexts: dict[bytes, Counter[bytes]] = {}

    def key(self, state: Any, action: str, args: Mapping[str, Any]) -> bytes:
        """Return the exact key of a call."""
        return values.encode((state, action, dict(args)))

    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        """Take in one outcome."""
        encoded, after = values.encode(effect), values.encode(next_state)
        before = self.predict(state, action, args)
        key = self.key(state, action, args)
        self.seen.setdefault(key, Counter())[accepted] += 1
        if accepted:
            self.effects.setdefault(key, Counter())[encoded] += 1
            self.nexts.setdefault(key, Counter())[after] += 1
        return before

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        """Say what most of the same calls met with, if nine in ten met with it."""
        key = self.key(state, action, args)
        well, badly = (self.seen.get(key, Counter())[accepted] for accepted in (True, False))
        cases = well + badly
        if not cases or min(well, badly) * 10 > cases:
            return Prediction("unknown", 0.5, cases, "too little was seen", action=action)
        if badly > well:
            return Prediction("refuse", (badly + 1) / (cases + 2), cases, "it was refused", action=action)
        effect, after = (
            values.decode(next(iter(seen[key]))) if len(seen.get(key, ())) == 1 else None
            for seen in (self.effects, self.nexts)
        )
        risk = (badly + 1) / (cases + 2)
        return Prediction("accept", risk, cases, "it was accepted", effects=effect, action=action, next_state=after)

    def fingerprint(self) -> str:
        """Return a digest of everything that was counted."""
        counted = [[key.hex(), seen[True], seen[False]] for key, seen in sorted(self.seen.items())]
        effects, nexts = (
            sorted(([key.hex(), sorted((e.hex(), n) for e, n in seen.items())] for key, seen in kept.items()), key=str)
            for kept in (self.effects, self.nexts)
        )
        return values.digest([counted, effects, nexts])


# ── the form of answers ─────────────────────────────────────────────────────────────────────────────────────────────


class _Forged(Prediction, frozen=True):
    """A prediction whose ranges nobody checks."""

    def __post_init__(self) -> None:
        """Check nothing."""


def _forge(answer: Prediction, **fields: Any) -> Prediction:
    return _Forged(**{**{name: getattr(answer, name) for name in answer.__struct_fields__}, **fields})


class Mute(Rote):
    fingerprint = "none"  # type: ignore[assignment]  # the lie


class Raising(Rote):
    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        if args.get("count") == [2]:
            raise ZeroDivisionError("division by zero")
        return super().predict(state, action, args)


class Unhashable(Rote):
    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        hash(tuple(args.values()))
        return super().observe(state, action, args, accepted, effect, next_state)


class Tuples(Rote):
    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Any:
        answer = super().predict(state, action, args)
        return answer.verdict, answer.risk, answer.support


class Silence(Rote):
    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Any:
        super().observe(state, action, args, accepted, effect, next_state)


class Changed(Rote):
    """Change one field of every answer."""

    field, value = "support", -77

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        return _forge(super().predict(state, action, args), **{self.field: self.value})


class NotANumber(Changed):
    field, value = "risk", float("nan")  # type: ignore[assignment]  # the lie


class NegativeRisk(Changed):
    field, value = "risk", -0.5  # type: ignore[assignment]  # the lie


class Perhaps(Changed):
    field, value = "verdict", "perhaps"  # type: ignore[assignment]  # the lie


class BackwardRate(Changed):
    field, value = "rate", (0.9, 0.1)  # type: ignore[assignment]  # the lie


class SetOfEffects(Changed):
    field, value = "effects", {1, 2}  # type: ignore[assignment]  # the lie


class OtherAction(Changed):
    field, value = "action", "somebody else's"  # type: ignore[assignment]  # the lie


# ── what is given, and what is got ──────────────────────────────────────────────────────────────────────────────────


class Spoiler(Rote):
    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        answer = super().predict(state, action, args)
        if isinstance(state, dict):
            state["asked"] = True
        return answer


class Popper(Rote):
    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        answer = super().observe(state, action, args, accepted, effect, next_state)
        args.pop("count", None)  # type: ignore[attr-defined]  # the lie
        return answer


class KeepsEffects(Rote):
    def __init__(self) -> None:
        super().__init__()
        self.last: dict[bytes, Any] = {}

    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        answer = super().observe(state, action, args, accepted, effect, next_state)
        if accepted:
            self.last[self.key(state, action, args)] = effect
        return answer

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        answer = super().predict(state, action, args)
        if answer.effects is None:
            return answer
        return _forge(answer, effects=self.last[self.key(state, action, args)])


class LendsEffects(Rote):
    def __init__(self) -> None:
        super().__init__()
        self.lent: dict[bytes, Any] = {}

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        answer = super().predict(state, action, args)
        if answer.effects is None:
            return answer
        return _forge(answer, effects=self.lent.setdefault(self.key(state, action, args), answer.effects))


class LendsNext(Rote):
    def __init__(self) -> None:
        super().__init__()
        self.lent: dict[bytes, Any] = {}

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        answer = super().predict(state, action, args)
        if answer.next_state is None:
            return answer
        return _forge(answer, next_state=self.lent.setdefault(self.key(state, action, args), answer.next_state))


class CountsQuestions(Rote):
    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        self.asked = getattr(self, "asked", 0) + 1
        answer = super().predict(state, action, args)
        return _forge(answer, risk=answer.risk + self.asked * 1e-9)


class LearnsFromQuestions(Rote):
    asked = 0

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        self.asked += 1
        return super().predict(state, action, args)

    def fingerprint(self) -> str:
        return values.digest([super().fingerprint(), self.asked])


class Dice(Rote):
    dice = Random(7)

    def __init__(self) -> None:
        super().__init__()
        self.luck = self.dice.random()

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        return _forge(super().predict(state, action, args), confidence=self.luck)


class NumberedPrints(Rote):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        NumberedPrints.made += 1
        self.number = NumberedPrints.made

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} {self.number}"


class OneMemory(Rote):
    """Start afresh with each new model, and share what is learned from then on."""

    common: Any = None

    def __init__(self) -> None:
        super().__init__()
        kept = OneMemory.common
        if kept is not None and not kept.seen:
            self.seen, self.effects = kept.seen, kept.effects
        OneMemory.common = self


# ── what is learned ─────────────────────────────────────────────────────────────────────────────────────────────────


class Hindsight(Rote):
    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        super().observe(state, action, args, accepted, effect, next_state)
        return self.predict(state, action, args)


class OnePrint(Rote):
    def fingerprint(self) -> str:
        return "a model"


class CountedPrint(Rote):
    def fingerprint(self) -> str:
        return str(sum(sum(seen.values()) for seen in self.seen.values()))


class NumberPrint(Rote):
    def fingerprint(self) -> Any:
        return hash(super().fingerprint()) if self.seen else 0


class Eager(Rote):
    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        answer = super().predict(state, action, args)
        return _forge(answer, verdict="accept", risk=0.0) if answer.support == 0 else answer


class EagerLater(Rote):
    """Accept what was never seen, once something was."""

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        answer = super().predict(state, action, args)
        return _forge(answer, verdict="accept", risk=0.0) if self.seen and answer.support == 0 else answer


class Silent(Rote):
    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        return Prediction("unknown", 0.5, action=action)


class NeverRefuses(Rote):
    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        answer = super().predict(state, action, args)
        return _forge(answer, verdict="unknown") if answer.verdict == "refuse" else answer


class FirstWins(Rote):
    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        first = self.seen.get(self.key(state, action, args), {accepted: 1})
        return super().observe(state, action, args, next(iter(first)), effect, next_state)


class IgnoresArguments(Rote):
    def key(self, state: Any, action: str, args: Mapping[str, Any]) -> bytes:
        return values.encode(("anywhere", action))

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        seen = self.seen.get(self.key(state, action, args), Counter())
        most = "accept" if seen[True] >= seen[False] else "refuse"
        return Prediction(most, 0.5, seen.total(), action=action) if seen else super().predict(state, action, args)


class LookAlikes(IgnoresArguments):
    def key(self, state: Any, action: str, args: Mapping[str, Any]) -> bytes:
        alike = {name: value == 1 for name, value in args.items() if not isinstance(value, list)}
        return values.encode((repr(state), action, alike, repr(args.get("count"))))


class WrongEffects(Rote):
    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        answer = super().predict(state, action, args)
        return answer if answer.effects is None else _forge(answer, effects={"gold": 10**6})


class WrongNext(Rote):
    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        answer = super().predict(state, action, args)
        return answer if answer.next_state is None else _forge(answer, next_state={"gold": 10**6})


class Boaster(Rote):
    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        answer = super().predict(state, action, args)
        return _forge(answer, support=answer.support * 1_000)


class TakesAnything(Rote):
    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        return super().observe(state, action, args, accepted, effect if _plain(effect) else repr(effect), next_state)


class TakesAnyNext(Rote):
    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        after = next_state if _plain(next_state) else repr(next_state)
        return super().observe(state, action, args, accepted, effect, after)


class LearnsBeforeItRefuses(Rote):
    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        before = self.predict(state, action, args)
        self.seen.setdefault(self.key(state, action, args), Counter())[accepted] += 1
        if accepted:
            self.effects.setdefault(self.key(state, action, args), Counter())[values.encode(effect)] += 1
            self.nexts.setdefault(self.key(state, action, args), Counter())[values.encode(next_state)] += 1
        return before


class RaisesOddly(Rote):
    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        if not _plain(effect):
            raise RuntimeError("no")
        return super().observe(state, action, args, accepted, effect, next_state)


class InOrder(Rote):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[bytes] = []

    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        next_state: Any = None,
    ) -> Prediction:
        answer = super().observe(state, action, args, accepted, effect, next_state)
        self.told.append(self.key(state, action, args))
        return answer

    def fingerprint(self) -> str:
        return values.digest([super().fingerprint(), [key.hex() for key in self.told]])


def _plain(value: Any) -> bool:
    try:
        values.encode(value)
    except ValueError:
        return False
    return True


class ModelLiar(NamedTuple):
    """Name a model that breaks a law, and what `check_action_model` needs to be told to see it.

    Example:
        >>> MODEL_LIARS["support -77"].law.value
        'predictions are well formed'
    """

    model: type[Any]
    law: ModelLaw
    options: Mapping[str, Any] = {}


MODEL_LIARS: Mapping[str, ModelLiar] = {
    "fingerprint is no method": ModelLiar(Mute, ModelLaw.IS_MODEL),
    "an argument that makes it raise": ModelLiar(Raising, ModelLaw.ANSWERS),
    "a list as an argument": ModelLiar(Unhashable, ModelLaw.ANSWERS),
    "a tuple as a prediction": ModelLiar(Tuples, ModelLaw.PREDICTIONS),
    "observe returns nothing": ModelLiar(Silence, ModelLaw.PREDICTIONS),
    "support -77": ModelLiar(Changed, ModelLaw.FORM),
    "a risk that is nan": ModelLiar(NotANumber, ModelLaw.FORM),
    "a negative risk": ModelLiar(NegativeRisk, ModelLaw.FORM),
    "a verdict of its own": ModelLiar(Perhaps, ModelLaw.FORM),
    "a rate from high to low": ModelLiar(BackwardRate, ModelLaw.FORM),
    "a set as the effects": ModelLiar(SetOfEffects, ModelLaw.FORM),
    "an answer about another action": ModelLiar(OtherAction, ModelLaw.FORM),
    "asking changes the caller's state": ModelLiar(Spoiler, ModelLaw.KEPT),
    "telling changes the caller's arguments": ModelLiar(Popper, ModelLaw.KEPT),
    "an effect that is kept, not copied": ModelLiar(KeepsEffects, ModelLaw.SHARED),
    "a predicted effect that is lent": ModelLiar(LendsEffects, ModelLaw.SHARED),
    "a predicted next state that is lent": ModelLiar(LendsNext, ModelLaw.SHARED),
    "a risk that counts the questions": ModelLiar(CountsQuestions, ModelLaw.PURE),
    "learning from questions": ModelLiar(LearnsFromQuestions, ModelLaw.PURE),
    "answers by the dice": ModelLiar(Dice, ModelLaw.SAME),
    "a fingerprint with the number of the model": ModelLiar(NumberedPrints, ModelLaw.SAME),
    "one memory for two models": ModelLiar(OneMemory, ModelLaw.APART),
    "the prediction made after": ModelLiar(Hindsight, ModelLaw.BEFORE),
    "a fingerprint that does not move": ModelLiar(OnePrint, ModelLaw.MOVES),
    "a fingerprint that counts": ModelLiar(CountedPrint, ModelLaw.MOVES),
    "a fingerprint that is a number": ModelLiar(NumberPrint, ModelLaw.MOVES),
    "all unseen accepted with risk 0": ModelLiar(Eager, ModelLaw.UNSEEN),
    "all unseen accepted, later": ModelLiar(EagerLater, ModelLaw.UNSEEN),
    "never answers": ModelLiar(Silent, ModelLaw.OFTEN),
    "never refuses": ModelLiar(NeverRefuses, ModelLaw.OFTEN),
    "the first outcome wins": ModelLiar(FirstWins, ModelLaw.LATER),
    "1, True and 1.0 are one argument": ModelLiar(LookAlikes, ModelLaw.OPPOSITE),
    "arguments are ignored": ModelLiar(IgnoresArguments, ModelLaw.OPPOSITE),
    "wrong effects": ModelLiar(WrongEffects, ModelLaw.EFFECTS),
    "wrong next state": ModelLiar(WrongNext, ModelLaw.NEXT),
    "a thousand times the support": ModelLiar(Boaster, ModelLaw.SUPPORT),
    "any effect is taken": ModelLiar(TakesAnything, ModelLaw.PLAIN),
    "any next state is taken": ModelLiar(TakesAnyNext, ModelLaw.PLAIN),
    "learned before it is refused": ModelLiar(LearnsBeforeItRefuses, ModelLaw.PLAIN),
    "refused with an odd exception": ModelLiar(RaisesOddly, ModelLaw.PLAIN),
    "the order is claimed not to matter": ModelLiar(InOrder, ModelLaw.ORDER, {"order_free": True}),
}
"""Every liar by what it does; each law has one or more.

Example:
    >>> {liar.law for liar in MODEL_LIARS.values()} == set(ModelLaw)
    True
"""
