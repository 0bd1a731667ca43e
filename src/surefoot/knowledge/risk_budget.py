"""A budget of risk: what may be taken although it may be refused, when the gain is worth it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import msgspec

from surefoot import values
from surefoot.errors import BadArgument, ValueRejected
from surefoot.journal import Journal
from surefoot.knowledge._ledger import EventFold, Ledger, Path, Record
from surefoot.knowledge.risk_choices import Amount, Choice, amount, read
from surefoot.protocols import Prediction

__all__ = ["Booking", "BudgetFold", "Charged", "Configured", "NewEpisode", "RiskBudget", "Settled"]

_LOG = 1_000
"""How many bookings, and how many charges that are not settled, are remembered."""
_KEYS = 10_000
"""How many keys of an episode are remembered; one that was forgotten pays again."""
_NOTHING = Fraction(0)


class Configured(Record, frozen=True):
    """The limits of a budget, as exact texts; see `RiskBudget`.

    Example:
        >>> Configured(per_episode="3/10").encode()
        b'{"min_gain_ratio":"1","min_support":3,"overall":null,"per_episode":"3/10"}'
    """

    kind: ClassVar[str] = "budget"
    per_episode: str = "1"
    overall: str | None = None
    min_gain_ratio: str = "1"
    min_support: int = 3

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("per_episode", "overall", "min_gain_ratio"):
            if getattr(self, name) is not None:
                amount(_number(getattr(self, name)), name)
        if type(self.min_support) is not int or self.min_support < 0:
            raise BadArgument(f"min_support must be an int >= 0, got {self.min_support!r}")


class Charged(Record, frozen=True):
    """An action was taken, and its risk is charged.

    Example:
        >>> Charged(0, "1/10", msgspec.Raw(b"null")).encode()
        b'{"amount":"1/10","key":null,"number":0}'
    """

    kind: ClassVar[str] = "charge"
    number: int
    amount: str
    key: msgspec.Raw


class Settled(Record, frozen=True):
    """What a taken action really cost is known; `number` is its charge, null when it had none.

    Example:
        >>> Settled(0, "0", msgspec.Raw(b"null")).encode()
        b'{"actual":"0","key":null,"number":0}'
    """

    kind: ClassVar[str] = "settle"
    number: int | None
    actual: str
    key: msgspec.Raw


class NewEpisode(Record, frozen=True):
    """A new episode begins.

    Example:
        >>> NewEpisode().encode()
        b'{}'
    """

    kind: ClassVar[str] = "episode"


def _number(text: str) -> Fraction:
    """Return the number that a text of ours is."""
    number = Fraction(text)
    if str(number) != text:
        raise ValueError(f"{text!r} is not written as {number}")
    return number


class Booking(NamedTuple):
    """One line of a budget's log.

    Attributes:
        what: "charge", "settle" or "episode".
        number: the number of the charge, None where there is none.
        amount: what was charged, or what it really cost.
        key: what for.

    Example:
        >>> Booking("charge", 0, Fraction(1, 10), None).what
        'charge'
    """

    what: str
    number: int | None
    amount: Fraction
    key: Any


class _Open(NamedTuple):
    """A charge that is not settled."""

    amount: Fraction
    key: bytes
    episode: int


class BudgetFold(EventFold):
    """What was spent, after some events; bounded.

    Attributes:
        episode: the number of the episode.
        spent: what was spent in it; `total`: in all.
        keys: {encoded key: what it was charged in this episode}.
        open: {number: charge} of those that are not settled, the newest 1,000.
        log: the newest 1,000 bookings.

    Example:
        >>> fold = BudgetFold(Configured(per_episode="3/10"))
        >>> fold.apply(Charged(0, "1/10", msgspec.Raw(b"null")))
        >>> fold.left
        Fraction(1, 5)
    """

    kinds = (Configured, Charged, Settled, NewEpisode)
    settings: Configured

    def __init__(self, settings: Configured | None = None) -> None:
        """Have spent nothing."""
        super().__init__(settings or Configured())
        self.episode = self.number = 0
        self.spent = self.total = _NOTHING
        self.keys: dict[bytes, Fraction] = {}
        self.open: dict[int, _Open] = {}
        self.log: deque[Booking] = deque(maxlen=_LOG)

    @property
    def left(self) -> Fraction:
        """Return what may still be charged, never negative."""
        lefts = [_number(self.settings.per_episode) - self.spent]
        if self.settings.overall is not None:
            lefts.append(_number(self.settings.overall) - self.total)
        return max(_NOTHING, min(lefts))

    def take(self, event: Record) -> None:
        """Take in an event that is not about the settings.

        Raises:
            ValueError, LookupError: there is no such charge, or it is no amount.
        """
        match event:
            case Charged():
                self._charge(event.number, amount(_number(event.amount), "amount"), bytes(event.key))
            case Settled():
                self._settle(event.number, amount(_number(event.actual), "actual"), bytes(event.key))
            case _:  # NewEpisode: there are no other kinds
                self.episode += 1
                self.spent = _NOTHING
                self.keys.clear()
                self.log.append(Booking("episode", None, _NOTHING, None))

    def _charge(self, number: int, charge: Fraction, key: bytes) -> None:
        shown = values.decode(key)
        if number != self.number:
            raise ValueError(f"charge {number} comes where number {self.number} should")
        self.number += 1
        self.open[number] = _Open(charge, key, self.episode)
        if len(self.open) > _LOG:
            del self.open[next(iter(self.open))]
        self._spend(charge, key)
        self.log.append(Booking("charge", number, charge, shown))

    def _settle(self, number: int | None, actual: Fraction, key: bytes) -> None:
        shown = values.decode(key)
        if number is None:
            self._spend(actual, key)
        else:
            charge = self.open.pop(number)
            if charge.episode == self.episode:
                self._spend(actual - charge.amount, charge.key)
            else:
                self.total += actual - charge.amount
        self.log.append(Booking("settle", number, actual, shown))

    def _spend(self, more: Fraction, key: bytes) -> None:
        """Add to what was spent, and to what a key was charged; a refund is negative."""
        self.spent += more
        self.total += more
        if key == b"null":
            return
        charged = self.keys.pop(key, _NOTHING) + more
        if charged > 0:
            self.keys[key] = charged
            if len(self.keys) > _KEYS:
                del self.keys[next(iter(self.keys))]

    def find(self, charge: Fraction, key: bytes) -> int | None:
        """Return the newest charge of this amount for this key that is not settled."""
        return next((n for n, o in reversed(self.open.items()) if o.amount == charge and o.key == key), None)

    def as_data(self) -> Any:
        """Return all that is known, as a plain value."""
        return {
            "episode": self.episode,
            "number": self.number,
            "spent": [str(self.spent), str(self.total)],
            "keys": [[values.decode(key), str(charged)] for key, charged in self.keys.items()],
            "open": [[n, str(o.amount), values.decode(o.key), o.episode] for n, o in self.open.items()],
        }


class RiskBudget(Ledger[BudgetFold]):
    """Take a risk when the gain is worth it and the budget has it; every unit is accounted for exactly.

    `decide` is pure. Whoever acts on a choice charges it (`charge`), tells what it really cost (`settle`), and tells
    when a new episode begins (`new_episode`); these three are recorded. The order of a decision:

    1. A hard refusal is avoided and a hard "unknown" asked about, whatever there is to gain.
    2. An "accept" is taken, and its risk charged; avoided when the budget does not have it.
    3. Anything else is asked about when its estimate rests on fewer than `min_support` cases (a support of -1 is a rate
       that somebody wrote down, and is enough).
    4. It is taken, and its risk charged, when there is something to gain, the gain is at least `min_gain_ratio` times
       the risk, and the budget has it; otherwise a refusal is avoided and an "unknown" asked about.

    A key pays once an episode: of a later, higher risk it pays the difference, and each take must be worth its gain.

    Args:
        per_episode: what may be risked in an episode; 1 for a new budget.
        overall: what may be risked in all; None: as stored, and no limit for a new budget.
        min_gain_ratio: how many times the risk the gain must be; 1 for a new budget.
        min_support: on how many cases an estimate must rest; 3 for a new budget.
        path: where its journal is kept. Without a path or a journal only what was spent is kept.
        journal: use this journal instead; the budget's entries are those of `stream`.
        stream: the budget's name inside the journal.

    A limit that is given and is another one than a stored budget has is recorded as a change.

    Raises:
        BadArgument: a limit is NaN, infinite or negative.
        BrokenChain, CutTail, UnknownFormat: the stored journal is not whole.

    Thread-safe. Pickles and deep copies are independent budgets.

    Example:
        >>> budget = RiskBudget(per_episode=0.3)
        >>> risky = Prediction("refuse", risk=0.1, support=9)
        >>> for _ in range(3):
        ...     _ = budget.charge(budget.decide(risky, gain=1))
        >>> budget.left, budget.decide(risky, gain=1).word, budget.new_episode().decide(risky, gain=1).word
        (Fraction(0, 1), 'avoid', 'take')
    """

    _noun = "risk budget"
    _makes = BudgetFold

    def __init__(
        self,
        per_episode: Amount | None = None,
        overall: Amount | None = None,
        min_gain_ratio: Amount | None = None,
        min_support: int | None = None,
        path: Path | None = None,
        *,
        journal: Journal | None = None,
        stream: str = "risk",
    ) -> None:
        """Open or make the budget; see the class."""
        limits = {"per_episode": per_episode, "overall": overall, "min_gain_ratio": min_gain_ratio}
        given: Mapping[str, Any] = {
            **{name: None if limit is None else str(amount(limit, name)) for name, limit in limits.items()},
            "min_support": min_support,
        }
        self._begin(Configured(), given, (path, journal, stream))

    @property
    def left(self) -> Fraction:
        """Return what may still be charged now, exactly; never negative."""
        with self._lock:
            self._catch_up()
            return self._fold.left

    @property
    def spent(self) -> Fraction:
        """Return what was spent in this episode, as far as is settled what it really cost."""
        with self._lock:
            self._catch_up()
            return self._fold.spent

    @property
    def spent_overall(self) -> Fraction:
        """Return what was spent in all."""
        with self._lock:
            self._catch_up()
            return self._fold.total

    @property
    def log(self) -> tuple[Booking, ...]:
        """Return the newest 1,000 bookings, the oldest of them first."""
        with self._lock:
            self._catch_up()
            return tuple(self._fold.log)

    def decide(self, prediction: Prediction, gain: Amount = 0.0, key: Any = None) -> Choice:
        """Return the choice; pure: nothing is charged, and the same question gets the same answer.

        Args:
            prediction: what is known about the action.
            gain: a finite number >= 0, in the unit of the risk.
            key: what the risk is for (a call, a place), any plain value; None: each take pays.

        Raises:
            BadArgument: the risk or the gain is NaN, infinite or negative.
            ValueRejected: the key is not plain.

        Example:
            >>> RiskBudget().decide(Prediction("refuse", risk=0.5, support=9), gain=0.1).reason
            'a gain of 1/10 is not worth a risk of 1/2'
        """
        risk, worth = read(prediction, gain)
        name = values.encode(key)
        with self._lock:
            self._catch_up()
            left, settings = self._fold.left, self._fold.settings
            paid = _NOTHING if key is None else self._fold.keys.get(name, _NOTHING)
        due = max(_NOTHING, risk - paid)
        short = f"a risk of {due} is more than the {left} that is left"
        if prediction.verdict == "accept":
            if due > left:
                return Choice("avoid", short, key=key)
            return Choice("take", prediction.reason or "predicted to be accepted", due, key)
        no = "avoid" if prediction.verdict == "refuse" else "ask"
        if prediction.hard:
            return Choice(no, prediction.reason or "a hard rule, which is never traded", key=key)
        if 0 <= prediction.support < settings.min_support:
            cases = f"{prediction.support} of the {settings.min_support} cases that an estimate needs"
            return Choice("ask", f"the risk rests on {cases}", key=key)
        if not worth or worth < _number(settings.min_gain_ratio) * risk:
            return Choice(no, f"a gain of {worth} is not worth a risk of {risk}", key=key)
        if due > left:
            return Choice(no, short, key=key)
        return Choice("take", f"a gain of {worth} is worth a risk of {risk}", due, key)

    def charge(self, choice: Choice) -> Choice:
        """Charge a choice to take; call it when the action is taken.

        Returns:
            the choice with the number of its charge, for `settle`; a choice that costs nothing is returned as it is,
            and is no entry.

        Raises:
            BadArgument: it is no choice to take, it is charged already, or the budget does not have it any more.

        Example:
            >>> budget = RiskBudget()
            >>> choice = budget.charge(budget.decide(Prediction("accept", risk=0.25, support=9)))
            >>> choice.number, budget.left
            (0, Fraction(3, 4))
        """
        _require_take(choice)
        if choice.number is not None:
            raise BadArgument(f"this choice is charged already, as number {choice.number}: decide again")
        if not choice.charge:
            return choice
        number = 0

        def decide() -> Record:
            nonlocal number
            number, left = self._fold.number, self._fold.left
            if choice.charge > left:
                raise BadArgument(f"a charge of {choice.charge} is more than the {left} that is left: decide again")
            return Charged(number, str(choice.charge), msgspec.Raw(values.encode(choice.key)))

        self._note(decide)
        return Choice(choice.word, choice.reason, choice.charge, choice.key, number)

    def settle(self, choice: Choice, actual: Amount) -> Self:
        """Tell what a taken action really cost: the difference to its charge is given back, or spent as well.

        Args:
            choice: what `charge` returned; a choice without a number stands for the newest charge that is the same.
            actual: the harm that came of it, in the unit of the risk, a finite number >= 0; 0 when all went well.

        Raises:
            BadArgument: `actual` is out of its range, or there is no such charge that is not settled.

        Example:
            >>> budget = RiskBudget()
            >>> choice = budget.charge(budget.decide(Prediction("accept", risk=0.25, support=9)))
            >>> budget.settle(choice, 0).left
            Fraction(1, 1)
        """
        _require_take(choice)
        cost, key = amount(actual, "actual"), values.encode(choice.key)

        def decide() -> Record | None:
            fold = self._fold
            number = fold.find(choice.charge, key) if choice.number is None else choice.number
            if choice.charge and number not in fold.open:
                raise BadArgument(f"there is no such charge that is not settled: {choice}")
            if not choice.charge and not cost:
                return None
            return Settled(number if choice.charge else None, str(cost), msgspec.Raw(key))

        self._note(decide)
        return self

    def new_episode(self) -> Self:
        """Begin a new episode: what may be risked in one is there again; what was spent in all stands.

        Example:
            >>> budget = RiskBudget(per_episode=1, overall=1.5)
            >>> for _ in range(2):
            ...     choice = budget.decide(Prediction("accept", risk=1))
            ...     _ = budget.charge(choice) if choice.word == "take" else budget
            ...     _ = budget.new_episode()
            >>> budget.left, choice.word
            (Fraction(1, 2), 'avoid')
        """
        self._note(lambda: NewEpisode() if self._fold.spent or self._fold.keys else None)
        return self

    def lift_overall(self) -> Self:
        """Let there be no limit in all; what was spent stands.

        Example:
            >>> RiskBudget(per_episode=3, overall=2).lift_overall().left
            Fraction(3, 1)
        """
        self._configure(overall=None)
        return self

    def __repr__(self) -> str:
        """Show what is left."""
        with self._lock:
            return f"<RiskBudget {self._path or 'in memory'}: {self._fold.left} left>"


def _require_take(choice: Any) -> None:
    if not isinstance(choice, Choice):
        raise ValueRejected(f"choice must be a Choice that decide() returned, got {choice!r}")
    if choice.word != "take":
        raise BadArgument(f"only a choice to take has a cost, got {choice.word!r} ({choice.reason})")
