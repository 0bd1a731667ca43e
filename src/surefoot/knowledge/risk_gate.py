"""A gate learned from what failed: not beyond the level at which it ended badly, until evidence says otherwise."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from statistics import median
from typing import Any, ClassVar, Self

from surefoot.errors import BadArgument, ValueRejected
from surefoot.journal import Journal
from surefoot.knowledge._ledger import EventFold, Ledger, Path, Record, text
from surefoot.knowledge.risk_choices import Amount, Choice, amount, exact, protective, read
from surefoot.protocols import Prediction

__all__ = ["Attempted", "Configured", "EpisodeClosed", "GateFold", "LearnedGate"]

_ATTEMPTS = 1_000
"""How many different (context, level) of one episode are remembered."""

Counts = dict[tuple[Fraction, Fraction], tuple[int, int]]
"""For each (context, level) how often it went well and how often it failed."""


class Configured(Record, frozen=True):
    """How a learned gate is set, numbers as exact texts; see `LearnedGate`.

    Example:
        >>> Configured("depth", expiry=0)
        Traceback (most recent call last):
        surefoot.errors.BadArgument: expiry must be an int >= 1, got 0
    """

    kind: ClassVar[str] = "learned gate"
    name: str
    expiry: int = 10
    floor: str = "0"
    near: str = "1"
    min_support: int = 3
    margin: str = "1"
    prior: str = "1/2"

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("expiry", "min_support"):
            given = getattr(self, name)
            if type(given) is not int or given < 1:
                raise BadArgument(f"{name} must be an int >= 1, got {given!r}")
        Fraction(self.floor)
        for name in ("near", "margin", "prior"):
            amount(Fraction(getattr(self, name)), name)
        if Fraction(self.prior) > 1:
            raise BadArgument(f"prior must be a probability in [0, 1], got {self.prior}")


class Attempted(Record, frozen=True):
    """A level was attempted in a context: it went well, or it failed.

    Example:
        >>> Attempted("0", "7/2", False).encode()
        b'{"context":"0","level":"7/2","well":false}'
    """

    kind: ClassVar[str] = "attempt"
    context: str
    level: str
    well: bool


class EpisodeClosed(Record, frozen=True):
    """The episode is over; what was attempted in it counts from now on.

    Example:
        >>> EpisodeClosed().encode()
        b'{}'
    """

    kind: ClassVar[str] = "closed"


class GateFold(EventFold):
    """What was attempted, after some events: the present episode and the last `expiry` closed ones.

    Example:
        >>> fold = GateFold(Configured("depth"))
        >>> fold.apply(Attempted("0", "5", False))
        >>> fold.apply(EpisodeClosed())
        >>> fold.limit(Fraction(0))
        Fraction(4, 1)
    """

    kinds = (Configured, Attempted, EpisodeClosed)
    settings: Configured

    def __init__(self, settings: Configured) -> None:
        """Have seen nothing."""
        super().__init__(settings)
        self.present: Counts = {}
        self.closed: deque[Counts] = deque(maxlen=settings.expiry)

    def reset(self) -> None:
        """Keep as many episodes as the new settings say."""
        self.closed = deque(self.closed, maxlen=self.settings.expiry)

    def take(self, event: Record) -> None:
        """Take in an event that is not about the settings.

        Raises:
            ValueError: it is no number.
        """
        if isinstance(event, Attempted):
            key = Fraction(event.context), Fraction(event.level)
            well, badly = self.present.pop(key, (0, 0))
            self.present[key] = (well + 1, badly) if event.well else (well, badly + 1)
            if len(self.present) > _ATTEMPTS:
                del self.present[next(iter(self.present))]
        else:
            self.closed.append(self.present)
            self.present = {}

    @property
    def empty(self) -> bool:
        """Return whether nothing is remembered that an episode more could change."""
        return not self.present and not any(self.closed)

    def limit(self, context: Fraction) -> Fraction | None:
        """Return how far it may go in a context, None where nothing has failed near it."""
        near = Fraction(self.settings.near)
        levels = [
            level
            for counts in self.closed
            for (at, level), (_, failed) in counts.items()
            for _ in range(failed)
            if abs(at - context) <= near
        ]
        if not levels:
            return None
        return max(Fraction(self.settings.floor), median(levels) - Fraction(self.settings.margin))

    def beyond(self, limit: Fraction, context: Fraction) -> tuple[int, int]:
        """Return (attempts, failures) beyond a limit near a context, the present episode included."""
        near, attempts, failures = Fraction(self.settings.near), 0, 0
        for counts in (*self.closed, self.present):
            for (at, level), (well, failed) in counts.items():
                if level > limit and abs(at - context) <= near:
                    attempts += well + failed
                    failures += failed
        return attempts, failures

    def as_data(self) -> Any:
        """Return all that is known, as a plain value."""
        return [_rows(counts) for counts in (*self.closed, self.present)]


def _rows(counts: Counts) -> list[Any]:
    return [[str(context), str(level), well, failed] for (context, level), (well, failed) in counts.items()]


class LearnedGate(Ledger[GateFold]):
    """Refuse to go beyond the level at which it lately ended badly; open again where evidence says so.

    A *level* says how far an action goes (a depth, an amount, a difficulty), a *context* how able the agent is (its
    strength, its rank): two numbers that the caller knows. Tell it of each attempt (`arrived`, `failed`) and of each
    episode's end (`new_episode`). The order of a check:

    1. The limit is the median of the levels that failed in the last `expiry` closed episodes, in contexts within `near`
       of the present one, less `margin`, but at least `floor`. Without such a failure there is no limit.
    2. Up to the limit, or without one, the gate does not object.
    3. Beyond it, the attempts beyond the limit near the context count, in those episodes and the present one: with n of
       them, f failed, the rate is (f + 1) / (n + 2). With n >= `min_support` and a rate below `prior` the gate is open
       again.
    4. Otherwise it refuses, with that rate as the risk where n >= `min_support`, and with `prior` where not.

    So it is bounded: never below `floor`, and gone `expiry` episodes after the last failure.

    As a risk policy: a hard refusal is avoided; then the gate is asked, where `key` is a level or a pair (level,
    context), and avoids what it refuses; the rest is as `Protect` decides.

    Args:
        name: what it is about, for messages.
        expiry: an int >= 1, after how many episodes a failure is forgotten; 10 for a new gate.
        floor: the level that is always allowed; 0 for a new gate.
        near: how far two contexts may be apart, a number >= 0; 1 for a new gate.
        min_support: an int >= 1, how many attempts beyond the limit make a rate; 3 for a new gate.
        margin: how far below the failures the limit is, a number >= 0; 1 for a new gate.
        prior: the risk that is assumed where too little is known, in [0, 1]; 0.5 for a new gate.
        path: where its journal is kept. Without a path or a journal only what counts now is kept.
        journal: use this journal instead; the gate's entries are those of `stream`.
        stream: the gate's name inside the journal; "gate NAME" when it is not given.

    A setting that is given and is another one than a stored gate has is recorded as a change.

    Raises:
        BadArgument: a setting is out of its range.
        BrokenChain, CutTail, UnknownFormat: the stored journal is not whole.

    Thread-safe. Pickles and deep copies are independent gates.

    Example:
        >>> gate = LearnedGate("depth")
        >>> _ = gate.failed(5).new_episode()
        >>> gate.limit(), gate.check(4).verdict, gate.check(6).verdict
        (4, 'accept', 'refuse')
        >>> _ = gate.arrived(5).arrived(6).arrived(5).arrived(7)
        >>> gate.check(6).reason
        "gate 'depth': open again beyond 4: 1 of 5 attempts failed"
    """

    _noun = "learned gate"
    _makes = GateFold

    def __init__(
        self,
        name: str,
        expiry: int | None = None,
        floor: Amount | None = None,
        near: Amount | None = None,
        min_support: int | None = None,
        margin: Amount | None = None,
        prior: Amount | None = None,
        path: Path | None = None,
        *,
        journal: Journal | None = None,
        stream: str | None = None,
    ) -> None:
        """Open or make the gate; see the class."""
        called = text(name, "name")
        numbers = {"floor": floor, "near": near, "margin": margin, "prior": prior}
        given: dict[str, Any] = {k: None if n is None else str(exact(n, k)) for k, n in numbers.items()}
        given |= {"expiry": expiry, "min_support": min_support, "name": called}
        self._begin(Configured(called), given, (path, journal, f"gate {called}" if stream is None else stream))

    @property
    def name(self) -> str:
        """Return what it is about."""
        return self._fold.settings.name

    def arrived(self, level: Amount, context: Amount = 0) -> Self:
        """Record that a level was attempted and went well.

        Raises:
            BadArgument: a number is not finite.

        Example:
            >>> LearnedGate("depth").arrived(3).check(9).verdict
            'accept'
        """
        return self._attempt(level, context, True)

    def failed(self, level: Amount, context: Amount = 0) -> Self:
        """Record that an attempt at a level ended badly; it counts for the limit once the episode is closed.

        Raises:
            BadArgument: a number is not finite.

        Example:
            >>> gate = LearnedGate("depth").failed(5)
            >>> gate.limit(), gate.new_episode().limit()
            (None, 4)
        """
        return self._attempt(level, context, False)

    def _attempt(self, level: Amount, context: Amount, well: bool) -> Self:
        event = Attempted(str(exact(context, "context")), str(exact(level, "level")), well)
        self._note(lambda: event)
        return self

    def new_episode(self) -> Self:
        """Close the episode; no entry where nothing is remembered that this could change.

        Example:
            >>> gate = LearnedGate("depth", expiry=2).failed(5).new_episode()
            >>> gate.new_episode().limit(), gate.new_episode().limit()
            (4, None)
        """
        self._note(lambda: None if self._fold.empty else EpisodeClosed())
        return self

    def limit(self, context: Amount = 0) -> int | float | None:
        """Return how far it may go in a context, None when there is no limit.

        Example:
            >>> LearnedGate("depth", margin=0.5).failed(5).new_episode().limit()
            4.5
        """
        at = exact(context, "context")
        with self._lock:
            self._catch_up()
            limit = self._fold.limit(at)
        return None if limit is None else _shown(limit)

    def check(self, level: Amount, context: Amount = 0) -> Prediction:
        """Say what the gate says about going to a level; changes nothing.

        Returns:
            a "refuse" with the risk and the attempts that it rests on, or an "accept", which says no more than that the
            gate does not object.

        Raises:
            BadArgument: a number is not finite.

        Example:
            >>> gate = LearnedGate("depth").failed(5).new_episode()
            >>> gate.check(6).reason, gate.check(6).risk
            ("gate 'depth': beyond the limit 4; 1 of 1 attempts there failed", 0.5)
        """
        far, at = exact(level, "level"), exact(context, "context")
        with self._lock:
            self._catch_up()
            fold, settings = self._fold, self._fold.settings
            limit = fold.limit(at)
            if limit is None or far <= limit:
                within = "no limit is known" if limit is None else f"within the limit {_shown(limit)}"
                return Prediction("accept", reason=f"gate {settings.name!r}: {within}", action=None)
            attempts, failures = fold.beyond(limit, at)
        prior, known = Fraction(settings.prior), attempts >= settings.min_support
        rate = Fraction(failures + 1, attempts + 2) if known else prior
        if known and rate < prior:
            told = f"open again beyond {_shown(limit)}: {failures} of {attempts} attempts failed"
            return Prediction("accept", float(rate), attempts, f"gate {settings.name!r}: {told}")
        told = f"beyond the limit {_shown(limit)}; {failures} of {attempts} attempts there failed"
        return Prediction("refuse", float(rate), attempts, f"gate {settings.name!r}: {told}")

    def decide(self, prediction: Prediction, gain: Amount = 0.0, key: Any = None) -> Choice:
        """Return the choice; pure. See the class for the order.

        Args:
            prediction: what is known about the action.
            gain: a finite number >= 0; not weighed here.
            key: the level that the action goes to, or (level, context); anything else is not this gate's business.

        Raises:
            BadArgument: the risk or the gain is NaN, infinite or negative.

        Example:
            >>> gate = LearnedGate("depth").failed(5, 2).new_episode()
            >>> [gate.decide(Prediction("accept"), key=(level, 2)).word for level in (4, 5)]
            ['take', 'avoid']
        """
        read(prediction, gain)
        asked = key if isinstance(key, tuple) and len(key) == 2 else (key,)
        if not (prediction.hard and prediction.verdict == "refuse") and all(map(_is_number, asked)):
            said = self.check(*asked)
            if said.verdict == "refuse":
                return Choice("avoid", said.reason)
        return protective(prediction)

    def given(self) -> dict[str, Any]:
        """Return what is remembered as plain data, to be recorded with a decision.

        Returns:
            {"settings", "episodes"}: the closed episodes and the present one, each a list of [context, level, times
            that it went well, times that it failed].

        Example:
            >>> LearnedGate("depth").failed(5).given()["episodes"]
            [[['0', '5', 0, 1]]]
        """
        with self._lock:
            self._catch_up()
            return {"settings": self._fold.settings.as_data(), "episodes": self._fold.as_data()}

    def __repr__(self) -> str:
        """Show what it is about."""
        return f"<LearnedGate {self.name!r} {self._path or 'in memory'}>"


def _is_number(value: Any) -> bool:
    """Say whether a key is a level or a context."""
    try:
        exact(value, "key")
    except ValueRejected:
        return False
    return True


def _shown(number: Fraction) -> int | float:
    return number.numerator if number.denominator == 1 else float(number)
