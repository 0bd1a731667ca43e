"""The laws of a risk policy, each as a function that raises `Broken`, or returns how often it was tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from surefoot import values
from surefoot.knowledge.risk_choices import CHOICES, exact
from surefoot.protocols import Prediction
from surefoot.testing._contract import Broken, Finding, Untried, is_plain
from surefoot.testing._probe import brief

__all__: list[str] = []

_RISKS = (0.0, 0.1, 0.5, 2.0)
_SUPPORTS = (-1, 0, 50)
_GAINS = (0.0, 0.05, 1.0, 1000.0)
_NO_NUMBERS = (float("nan"), float("inf"), -0.5)
_KEYS: tuple[Any, ...] = (1, True, 1.5, "text", (1, ("a",)), ["a", {"b": 1}], {"name": "go", "to": [1]})
"""Keys of every kind."""
_MANY = 100
"""How many choices are charged in a row."""


class Asked(NamedTuple):
    """A question to a policy."""

    prediction: Prediction
    gain: Any = 0.0
    key: Any = None

    def __str__(self) -> str:
        """Show the call that asks it."""
        p = self.prediction
        hard = ", hard" if p.hard else ""
        key = "" if self.key is None else f", key={brief(self.key, 40)}"
        return f"decide({p.verdict}, risk {p.risk!r}, support {p.support}{hard}; gain={self.gain!r}{key})"


@dataclass
class Plan:
    """What is tested."""

    make: Callable[[], Any]
    keys: Sequence[Any] = (None, "a key")
    name: str = field(init=False, default="")

    def __post_init__(self) -> None:
        """Learn the policy's name."""
        self.name = type(self.make()).__name__


class Driver:
    """A policy, and the calls that were made to it."""

    def __init__(self, plan: Plan) -> None:
        self.policy = plan.make()
        self.calls: list[tuple[str, str]] = []

    def broken(self, expected: str, happened: str, how: str = "") -> Broken:
        """Return the exception that tells what was found."""
        return Broken(Finding(self.calls, expected, happened, how))

    def decide(self, asked: Asked, *, quiet: bool = True) -> Any:
        """Ask the policy."""
        try:
            choice = self.policy.decide(asked.prediction, asked.gain, asked.key)
        except Exception as error:
            raise self.broken("it returns", f"{asked} raised {type(error).__name__}: {error}") from error
        if not quiet:
            self.calls.append((str(asked), told(choice)))
        return choice

    def charge(self, choice: Any) -> Any:
        """Charge a choice; return it with its charge where the policy gives it back."""
        try:
            charged = self.policy.charge(choice)
        except Exception as error:
            raise self.broken("it charges", f"charge({told(choice)}) raised {type(error).__name__}: {error}") from error
        self.calls.append((f"charge({told(choice)})", f"left {brief(getattr(self.policy, 'left', None))}"))
        return choice if charged is None else charged

    def left(self) -> Fraction:
        """Return what is left, exactly."""
        left = self.policy.left
        try:
            return exact(left, "left")
        except ValueError:
            raise self.broken("what is left is a finite number", f"it is {left!r}") from None


def told(choice: Any) -> str:
    """Return a choice as text."""
    word, charge = getattr(choice, "word", None), getattr(choice, "charge", 0)
    return brief(choice) if not isinstance(word, str) else f"{word}, {charge}" if charge else word


def _same(choice: Any) -> tuple[Any, Any, Any]:
    """Return what two choices are compared by."""
    return getattr(choice, "word", None), getattr(choice, "reason", None), getattr(choice, "charge", 0)


def _questions(plan: Plan) -> Iterator[Asked]:
    """Yield questions of every kind."""
    for verdict in ("accept", "refuse", "unknown"):
        for hard in (False, True) if verdict != "accept" else (False,):
            for risk in _RISKS:
                for support in _SUPPORTS:
                    prediction = Prediction(verdict, risk=risk, support=support, hard=hard, action="go")
                    for gain in _GAINS:
                        for key in plan.keys:
                            yield Asked(prediction, gain, key)


def _risky(risk: Any = 0.1, verdict: str = "refuse") -> Prediction:
    return Prediction(verdict, risk=risk, support=50, action="go")


def _budget(plan: Plan, *more: str) -> Driver:
    """Return a driver of a policy that has a budget.

    Raises:
        Untried: it has none, or takes no risk from it.
    """
    driver = Driver(plan)
    missing = [name for name in ("charge", *more) if not callable(getattr(driver.policy, name, None))]
    if missing or not hasattr(driver.policy, "left"):
        raise Untried(f"it has no {' or '.join([*missing] or ['left'])}")
    return driver


def _taken(driver: Driver, prediction: Prediction, key: Any = None) -> Any:
    """Return a choice to take that costs something.

    Raises:
        Untried: the policy does not take it.
    """
    choice = driver.decide(Asked(prediction, 1000.0, key), quiet=False)
    if choice.word != "take" or not getattr(choice, "charge", 0):
        raise Untried("it charges nothing for a risk of 0.1 with a gain of 1000")
    return choice


# ── the form of answers ─────────────────────────────────────────────────────────────────────────────────────────────


def is_policy(plan: Plan) -> int:
    """Look for the method."""
    policy = plan.make()
    if not callable(getattr(policy, "decide", None)):
        raise Broken(Finding([], "decide is a method", f"decide is {brief(getattr(policy, 'decide', 'missing'))}"))
    return 1


def answers(plan: Plan) -> int:
    """Ask in each of the ways in which one may ask."""
    prediction = _risky()
    ways: list[tuple[str, Callable[[Any], Any]]] = [
        ("decide(prediction)", lambda policy: policy.decide(prediction)),
        ("decide(prediction, 1)", lambda policy: policy.decide(prediction, 1)),
        ("decide(prediction, gain=1.0)", lambda policy: policy.decide(prediction, gain=1.0)),
        ("decide(prediction, gain=1.0, key=None)", lambda policy: policy.decide(prediction, gain=1.0, key=None)),
    ]
    for words, ask in ways:
        driver = Driver(plan)
        try:
            ask(driver.policy)
        except Exception as error:
            raise driver.broken("it returns", f"{words} raised {type(error).__name__}: {error}") from error
    driver = Driver(plan)
    questions = [*_questions(plan), *(Asked(prediction, 1.0, key) for key in _KEYS)]
    for asked in questions:
        driver.decide(asked)
    return len(ways) + len(questions)


def choices(plan: Plan) -> int:
    """Look at each field of each answer."""
    driver, questions = Driver(plan), list(_questions(plan))
    for asked in questions:
        choice = driver.decide(asked)
        word, reason = getattr(choice, "word", None), getattr(choice, "reason", None)
        if word not in CHOICES:
            raise driver.broken("word is 'take', 'avoid' or 'ask'", f"{asked} gives {brief(choice)}")
        if not isinstance(reason, str) or not reason:
            raise driver.broken("a reason in words", f"{asked} gives the reason {brief(reason)}")
        charge = getattr(choice, "charge", 0)
        if not _is_amount(charge) or (charge and word != "take"):
            raise driver.broken("a finite charge >= 0, and none unless it is taken", f"{asked} gives {told(choice)}")
    return len(questions)


def _is_amount(value: Any) -> bool:
    try:
        return exact(value, "charge") >= 0
    except ValueError:
        return False


def kept(plan: Plan) -> int:
    """Compare what was given with what it was."""
    driver = Driver(plan)
    effects, key = {"gold": [1]}, ["a", {"b": 1}]
    prediction = Prediction("refuse", risk=0.1, support=50, effects=effects, action="go")
    before = values.encode([effects, key])
    for gain in _GAINS:
        driver.decide(Asked(prediction, gain, key), quiet=False)
        if not is_plain([effects, key]) or values.encode([effects, key]) != before:
            raise driver.broken("the prediction and the key stay as they were", f"they became {brief([effects, key])}")
    return len(_GAINS)


# ── deciding is pure ────────────────────────────────────────────────────────────────────────────────────────────────


def pure(plan: Plan) -> int:
    """Ask everything twice; nothing that can be looked at changes, and nor do the answers."""
    driver = Driver(plan)
    looks = _looks(driver.policy)
    questions = list(_questions(plan))
    first = [_same(driver.decide(asked)) for asked in questions]
    for asked, before in zip(questions, first, strict=True):
        if (now := _same(driver.decide(asked))) != before:
            raise driver.broken(f"{asked} says the same again: {before}", f"it says {now}")
    again = [driver.decide(questions[0]) for _ in range(_MANY)]
    if any(_same(choice) != first[0] for choice in again):
        raise driver.broken(f"{questions[0]} says the same {_MANY} times", "it does not")
    if (now_ := _looks(driver.policy)) != looks:
        raise driver.broken(f"{looks} stays as it was", f"it became {now_}", "the policy was only asked")
    return 2 * len(questions) + _MANY


def _looks(policy: Any) -> dict[str, Any]:
    """Return what can be looked at in a policy."""
    looks: dict[str, Any] = {name: brief(getattr(policy, name)) for name in ("left", "spent") if hasattr(policy, name)}
    if callable(getattr(policy, "fingerprint", None)):
        looks["fingerprint"] = policy.fingerprint()
    if hasattr(policy, "log"):
        looks["length of log"] = len(policy.log)
    return looks


def same(plan: Plan) -> int:
    """Compare two policies that were asked the same."""
    one, other, questions = Driver(plan), Driver(plan), list(_questions(plan))
    for asked in questions:
        left, right = _same(one.decide(asked)), _same(other.decide(asked))
        if left != right:
            raise one.broken(f"{asked} says what another fresh policy says: {right}", f"it says {left}")
    return len(questions)


def apart(plan: Plan) -> int:
    """Charge one policy, and ask another one."""
    other = _budget(plan)
    driver = Driver(plan)
    left = driver.left()
    other.charge(_taken(other, _risky()))
    if driver.left() != left:
        raise driver.broken(f"{left} is left", f"{driver.left()} is left", "another policy was charged")
    return 1


# ── what may be taken ───────────────────────────────────────────────────────────────────────────────────────────────


def hard(plan: Plan) -> int:
    """Offer a fortune for a hard refusal, before and after other things were charged."""
    count = 0
    for charged in (False, True):
        driver = Driver(plan)
        if charged and callable(getattr(driver.policy, "charge", None)):
            choice = driver.decide(Asked(_risky(), 1000.0, plan.keys[-1]), quiet=False)
            if choice.word == "take":
                driver.charge(choice)
        for asked in _questions(plan):
            for gain in (asked.gain, 1e12):
                offer = asked._replace(gain=gain)
                if asked.prediction.hard and driver.decide(offer).word == "take":
                    driver.calls.append((str(offer), "take"))
                    raise driver.broken("'avoid' or 'ask'", "take")
                count += 1
    return count


def evidence(plan: Plan) -> int:
    """Ask about what nothing is known of."""
    driver, count = Driver(plan), 0
    for asked in _questions(plan):
        prediction = asked.prediction
        if prediction.verdict != "accept" and prediction.support == 0:
            count += 1
            if driver.decide(asked).word == "take":
                driver.calls.append((str(asked), "take"))
                raise driver.broken("'avoid' or 'ask'", "take")
    return count


class _Forged(Prediction, frozen=True):
    """A prediction whose ranges nobody checks."""

    def __post_init__(self) -> None:
        """Check nothing."""


def numbers(plan: Plan) -> int:
    """Give risks and gains that are no amounts."""
    driver = Driver(plan)
    looks = _looks(driver.policy)
    asks = [Asked(_Forged("refuse", risk=wrong, support=50), 1000.0) for wrong in _NO_NUMBERS]
    asks += [Asked(_risky(), wrong) for wrong in _NO_NUMBERS]
    asks += [Asked(_Forged("accept", risk=wrong, support=50), 1000.0) for wrong in _NO_NUMBERS]
    for asked in asks:
        try:
            choice = driver.policy.decide(asked.prediction, asked.gain, asked.key)
        except (TypeError, ValueError):
            continue
        except Exception as error:
            raise driver.broken(f"{asked} raises a TypeError or ValueError", type(error).__name__) from error
        if choice.word == "take":
            raise driver.broken(f"{asked} raises a TypeError or ValueError", "take")
    if (now := _looks(driver.policy)) != looks:
        raise driver.broken(f"{looks} stays as it was", f"it became {now}")
    return len(asks)


def less_risk(plan: Plan) -> int:
    """Compare the answers about two risks, all else equal."""
    return _monotone(
        plan,
        lambda a: (a.prediction.verdict, a.prediction.support, a.prediction.hard, a.gain, a.key),
        lambda a: -a.prediction.risk,
        "what is taken at a higher risk is taken at a lower one",
    )


def more_gain(plan: Plan) -> int:
    """Compare the answers about two gains, all else equal."""
    return _monotone(
        plan,
        lambda a: (a.prediction.verdict, a.prediction.support, a.prediction.hard, a.prediction.risk, a.key),
        lambda a: float(a.gain),
        "what is taken for a lower gain is taken for a higher one",
    )


def _monotone(
    plan: Plan, group: Callable[[Asked], tuple[Any, ...]], rank: Callable[[Asked], float], expected: str
) -> int:
    driver = Driver(plan)
    groups: dict[str, list[Asked]] = {}
    for asked in _questions(plan):
        groups.setdefault(repr(group(asked)), []).append(asked)
    count = 0
    for asks in groups.values():
        words = [(driver.decide(asked).word, asked) for asked in sorted(asks, key=rank)]
        for (word, asked), (better, offer) in zip(words, words[1:], strict=False):
            count += 1
            if word == "take" and better != "take":
                driver.calls = [(str(asked), word), (str(offer), better)]
                raise driver.broken(expected, f"{better} after {word}")
    return count


# ── budgets ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def exactly(plan: Plan) -> int:
    """Charge tenths, and add them up."""
    driver = _budget(plan)
    before, count = driver.left(), 0
    while count < _MANY:
        choice = driver.decide(Asked(_risky(), 1000.0), quiet=False)
        if choice.word != "take" or exact(choice.charge, "charge") > before:
            break
        driver.charge(choice)
        charge, left = exact(choice.charge, "charge"), driver.left()
        if left != before - charge:
            raise driver.broken(f"{before} - {charge} = {before - charge} is left", f"{left} is left")
        before, count = left, count + 1
    if not count:
        raise Untried("it takes no risk of 0.1 with a gain of 1000")
    return count


def within(plan: Plan) -> int:
    """Take as much as it lets, and more."""
    driver = _budget(plan)
    _taken(Driver(plan), _risky())
    stale = []
    for n in range(_MANY):
        verdict = ("refuse", "accept", "unknown")[n % 3]
        risk = (0.1, 0.25, 0.07, 1.0, 3.0, 0.5)[n % 6]
        before = driver.left()
        choice = driver.decide(Asked(_risky(risk, verdict), 1000.0), quiet=False)
        if choice.word == "take":
            if exact(choice.charge, "charge") > before:
                raise driver.broken(f"a charge of at most {before}", f"a charge of {choice.charge}")
            stale.append(choice)
            driver.charge(choice)
        _require_not_negative(driver)
    for choice in stale[:3]:
        try:
            driver.policy.charge(choice)
        except ValueError:
            continue
        driver.calls.append((f"charge({told(choice)})", "charged, though it was decided long ago"))
        _require_not_negative(driver)
    return _MANY


def _require_not_negative(driver: Driver) -> None:
    if (left := driver.left()) < 0:
        raise driver.broken("what is left is never negative", f"{left} is left")


def only_taken(plan: Plan) -> int:
    """Charge what is not to be taken."""
    driver, count = _budget(plan), 0
    before = driver.left()
    for asked in (Asked(_risky(0.1)), Asked(Prediction("unknown")), Asked(Prediction("refuse", hard=True), 1000.0)):
        choice = driver.decide(asked)
        if choice.word == "take":
            continue
        count += 1
        try:
            driver.policy.charge(choice)
        except ValueError:
            pass
        if driver.left() != before:
            raise driver.broken(f"{before} is left, nothing was taken", f"{driver.left()} is left after {asked}")
    return count


def keys(plan: Plan) -> int:
    """Charge for one key, and ask about its look-alikes."""
    driver = _budget(plan)
    driver.charge(_taken(driver, _risky(), 1))
    other = _same(driver.decide(Asked(_risky(), 1000.0, "another key")))
    for key in (True, 1.0, "1", (1,)):
        if (choice := _same(driver.decide(Asked(_risky(), 1000.0, key)))) != other:
            expected = f"key={key!r} is another key than 1: {other}"
            raise driver.broken(expected, f"it says {choice}")
    return 4


def settled(plan: Plan) -> int:
    """Settle a charge with nothing, with more, and with what is no amount."""
    driver = _budget(plan, "settle")
    before = driver.left()
    choice = driver.charge(_taken(driver, _risky()))
    for wrong in _NO_NUMBERS:
        left = driver.left()
        try:
            driver.policy.settle(choice, wrong)
        except (TypeError, ValueError):
            pass
        if driver.left() != left:
            raise driver.broken(f"settle(choice, {wrong!r}) is refused", f"{driver.left()} is left")
    driver.policy.settle(choice, 0)
    driver.calls.append(("settle(choice, 0)", f"left {driver.left()}"))
    if driver.left() != before:
        raise driver.broken(f"{before} is left, as before", f"{driver.left()} is left")
    driver.policy.settle(driver.charge(_taken(driver, _risky())), 10**6)
    _require_not_negative(driver)
    return 2 + len(_NO_NUMBERS)


def episodes(plan: Plan) -> int:
    """Begin new episodes, with and without something spent."""
    driver = _budget(plan, "new_episode")
    start = driver.left()
    for spend in (False, True, True):
        before = driver.left()
        if spend:
            driver.charge(_taken(driver, _risky()))
            before = driver.left()
        driver.policy.new_episode()
        driver.calls.append(("new_episode()", f"left {driver.left()}"))
        if not before <= driver.left() <= start:
            raise driver.broken(f"between {before} and {start} is left", f"{driver.left()} is left")
    return 3


def measured(plan: Plan) -> dict[str, Any]:
    """Return the counts of a report."""
    driver = Driver(plan)
    words = [driver.decide(asked).word for asked in _questions(plan)]
    return {"questions": len(words), **{word: words.count(word) for word in CHOICES}}
