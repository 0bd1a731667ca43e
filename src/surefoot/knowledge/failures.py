"""What failed a moment ago is not tried again at once: the same call in the same state, for a while.

```python
from surefoot import FailureMemory

failures = FailureMemory(window=10)
failures.failed("hall", ("open", "door"), why="locked")
failures.check("hall", ("open", "door")).verdict        # "refuse", and hard
failures.check("kitchen", ("open", "door")).verdict     # "accept": another state
failures.succeeded("hall", ("open", "door"))            # open again at once
```

The key is the state and the whole call, exactly: paging through a list is no loop, since each page is another state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple, Self

import msgspec

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.journal import Journal
from surefoot.knowledge._ledger import EventFold, Ledger, Path, Record, plain, text
from surefoot.knowledge.gates import call_key, whole_call
from surefoot.protocols import Call, Prediction

__all__ = ["Configured", "Failed", "FailureFold", "FailureMemory", "Kept", "Passed", "Succeeded"]

_UNITS = ("steps", "episodes")


class Configured(Record, frozen=True):
    """How a failure memory counts; see `FailureMemory`.

    Example:
        >>> Configured(window=0)
        Traceback (most recent call last):
        surefoot.errors.BadArgument: window must be an int >= 1, got 0
    """

    kind: ClassVar[str] = "failures"
    window: int = 10
    unit: str = "steps"
    max_blocked: int = 8
    min_open: int = 1
    max_kept: int = 10_000

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, least in (("window", 1), ("max_blocked", 1), ("min_open", 0), ("max_kept", 1)):
            given = getattr(self, name)
            if type(given) is not int or given < least:
                raise BadArgument(f"{name} must be an int >= {least}, got {given!r}")
        if self.unit not in _UNITS:
            raise BadArgument(f"unit must be 'steps' or 'episodes', got {self.unit!r}")


class Failed(Record, frozen=True):
    """A call failed; one step went by.

    Example:
        >>> Failed(msgspec.Raw(b'["open",{}]'), msgspec.Raw(b'"hall"'), "locked").encode()
        b'{"call":["open",{}],"state":"hall","why":"locked"}'
    """

    kind: ClassVar[str] = "failed"
    call: msgspec.Raw
    state: msgspec.Raw
    why: str | None = None


class Succeeded(Record, frozen=True):
    """A call succeeded; one step went by.

    Example:
        >>> Succeeded(msgspec.Raw(b'["open",{}]'), msgspec.Raw(b'"hall"')).encode()
        b'{"call":["open",{}],"state":"hall"}'
    """

    kind: ClassVar[str] = "succeeded"
    call: msgspec.Raw
    state: msgspec.Raw


class Passed(Record, frozen=True):
    """Steps or episodes went by of which nothing else was told.

    Example:
        >>> Passed("episodes", 1).encode()
        b'{"count":1,"unit":"episodes"}'
    """

    kind: ClassVar[str] = "passed"
    unit: str
    count: int


class Kept(NamedTuple):
    """A failure that is remembered: when it was last, how often, and why.

    Example:
        >>> Kept(4, 2, "locked").times
        2
    """

    at: int
    times: int
    why: str | None


class FailureFold(EventFold):
    """What is remembered after some events; bounded by the settings.

    Attributes:
        now: how many units have gone by.
        kept: {encoded state: {encoded call: Kept}}, in both the oldest failure first.
        count: how many failures that is.

    Example:
        >>> fold = FailureFold(Configured(window=2))
        >>> fold.apply(Failed(msgspec.Raw(b'["open",{}]'), msgspec.Raw(b'"hall"')))
        >>> fold.count, fold.apply(Passed("steps", 2)), fold.count
        (1, None, 0)
    """

    kinds = (Configured, Failed, Succeeded, Passed)
    settings: Configured

    def __init__(self, settings: Configured | None = None) -> None:
        """Remember nothing."""
        super().__init__(settings or Configured())
        self.now = 0
        self.kept: dict[bytes, dict[bytes, Kept]] = {}
        self._ages: dict[tuple[bytes, bytes], int] = {}

    @property
    def count(self) -> int:
        """Return how many failures are remembered."""
        return len(self._ages)

    def reset(self) -> None:
        """Forget what other settings would not have kept."""
        self._forget()

    def take(self, event: Record) -> None:
        """Take in an event that is not about the settings.

        Raises:
            ValueError: it holds what is no plain value.
        """
        match event:
            case Failed():
                self._failed(_key(event), event.why)
            case Succeeded():
                self._drop(_key(event))
                self._pass("steps", 1)
            case _:
                assert isinstance(event, Passed)  # there are no other kinds
                self._pass(event.unit, event.count)

    def _failed(self, key: tuple[bytes, bytes], why: str | None) -> None:
        state, call = key
        before = self.kept.get(state, {}).get(call)
        self._drop(key)
        self._pass("steps", 1)
        self.kept.setdefault(state, {})[call] = Kept(self.now, 1 if before is None else before.times + 1, why)
        self._ages[key] = self.now
        self._forget()

    def _pass(self, unit: str, count: int) -> None:
        if unit == self.settings.unit:
            self.now += count
        self._forget()

    def _forget(self) -> None:
        """Let go of what is too old, and of the oldest where it is too much."""
        ages, settings = self._ages, self.settings
        while ages:
            oldest = next(iter(ages))
            if self.now - ages[oldest] < settings.window and len(ages) <= settings.max_kept:
                break
            self._drop(oldest)

    def _drop(self, key: tuple[bytes, bytes]) -> None:
        if self._ages.pop(key, None) is None:
            return
        state, call = key
        calls = self.kept[state]
        del calls[call]
        if not calls:
            del self.kept[state]

    def blocked(self, state: bytes, options: frozenset[bytes] | None = None) -> list[bytes]:
        """Return the calls that are blocked at a state, the newest failure first."""
        settings = self.settings
        newest = list(reversed(self.kept.get(state, {})))[: settings.max_blocked]
        if options is None:
            return newest
        room = max(len(options) - settings.min_open, 0)
        found = []
        for call in newest:
            if call in options:
                if not room:
                    continue
                room -= 1
            found.append(call)
        return found

    def as_data(self) -> Any:
        """Return all that is known, as a plain value."""
        rows = [
            [values.decode(state), values.decode(call), *kept]
            for state, calls in self.kept.items()
            for call, kept in calls.items()
        ]
        return {"now": self.now, "kept": rows, "order": [[values.decode(s), values.decode(c)] for s, c in self._ages]}


def _key(event: Failed | Succeeded) -> tuple[bytes, bytes]:
    """Return the exact key of an event's state and call; two spellings of one value would be two keys."""
    plain(event.state)
    match plain(event.call):
        case (str(), dict()):
            return bytes(event.state), bytes(event.call)
        case other:
            raise ValueError(f"{other!r} is no call")


class FailureMemory(Ledger[FailureFold]):
    """Remember what failed where, for a while, so that it is not tried again at once.

    Each `failed` and `succeeded` is one step; `tick` tells of steps that were neither, `new_episode` of a new episode.
    A failed call is blocked until `window` further steps (or episodes) have gone by.

    Args:
        window: an int >= 1, after how many further units a failed call is open again; 10 for a new memory.
        unit: "steps" (for a new memory) or "episodes".
        max_blocked: an int >= 1, how many calls are blocked at one state, the newest; 8 for a new memory.
        min_open: an int >= 0, how many of the options on offer stay open whatever failed; 1 for a new memory.
        path: where its journal is kept. Without a path or a journal only what is blocked now is kept.
        journal: use this journal instead; the memory's entries are those of `stream`.
        stream: the memory's name inside the journal.
        max_kept: an int >= 1, how many failures are remembered in all, the newest; 10,000 for a new memory.

    A setting that is given and is another one than a stored memory has is recorded as a change.

    Raises:
        BadArgument: a setting is out of its range.
        BrokenChain, CutTail, UnknownFormat: the stored journal is not whole.

    Thread-safe. Pickles and deep copies are independent memories.

    Example:
        >>> failures = FailureMemory(window=2)
        >>> _ = failures.failed("hall", "open", why="locked")
        >>> failures.check("hall", "open").reason
        "'open' failed here 0 steps ago (locked); it is blocked for 2 more"
        >>> failures.tick(2).check("hall", "open").verdict
        'accept'
    """

    _noun = "failure memory"
    _makes = FailureFold

    def __init__(
        self,
        window: int | None = None,
        unit: str | None = None,
        max_blocked: int | None = None,
        min_open: int | None = None,
        path: Path | None = None,
        *,
        journal: Journal | None = None,
        stream: str = "failures",
        max_kept: int | None = None,
    ) -> None:
        """Open or make the memory; see the class."""
        given = {
            "window": window,
            "unit": unit,
            "max_blocked": max_blocked,
            "min_open": min_open,
            "max_kept": max_kept,
        }
        self._begin(Configured(), given, (path, journal, stream))

    @property
    def settings(self) -> Configured:
        """Return the settings in force: `window`, `unit`, `max_blocked`, `min_open`, `max_kept`."""
        with self._lock:
            self._catch_up()
            return self._fold.settings

    def failed(self, state: Any, call: Any, why: str | None = None) -> Self:
        """Record that a call failed in a state (refused, or without the effect that was wanted); one step goes by.

        A fault is no failure: tell `tick()` of it, and try again.

        Args:
            state: any plain value.
            call: an action as the environment takes it, or a `Call`.
            why: the reason, in words.

        Raises:
            ValueRejected: one of them is not plain.

        Example:
            >>> FailureMemory().failed("hall", ("go", 2)).blocked("hall")
            (Call(name='go', args={'0': 2}),)
        """
        s, c = _pair(state, call)
        event = Failed(c, s, None if why is None else text(why, "why"))
        self._note(lambda: event)
        return self

    def succeeded(self, state: Any, call: Any) -> Self:
        """Record that a call succeeded: it is open again in this state; one step goes by.

        It is no entry when nothing is remembered, since there is nothing that could be forgotten.

        Example:
            >>> FailureMemory().failed("hall", "open").succeeded("hall", "open").blocked("hall")
            ()
        """
        s, c = _pair(state, call)
        self._note(lambda: Succeeded(c, s) if self._fold.count else None)
        return self

    def tick(self, steps: int = 1) -> Self:
        """Let steps go by of which neither failure nor success is told.

        Raises:
            BadArgument: `steps` is not an int >= 1.

        Example:
            >>> FailureMemory(window=3).failed("hall", "open").tick(3).blocked("hall")
            ()
        """
        return self._passed("steps", steps)

    def new_episode(self) -> Self:
        """Let a new episode begin: one unit, where the unit is episodes.

        Example:
            >>> FailureMemory(window=1, unit="episodes").failed("hall", "open").new_episode().blocked("hall")
            ()
        """
        return self._passed("episodes", 1)

    def _passed(self, unit: str, count: int) -> Self:
        if type(count) is not int or count < 1:
            raise BadArgument(f"{unit} must be an int >= 1, got {count!r}")
        self._note(lambda: Passed(unit, count) if self._fold.count and unit == self._fold.settings.unit else None)
        return self

    def check(self, state: Any, call: Any, options: Iterable[Any] | None = None) -> Prediction:
        """Say whether a call is blocked in a state; changes nothing.

        Args:
            state: any plain value.
            call: an action as the environment takes it, or a `Call`.
            options: the actions on offer; `min_open` of them stay open, those whose failure is oldest. None: the
                newest `max_blocked` failures are blocked, whatever else there is.

        Returns:
            a hard "refuse" with the reason, or an "accept", which says no more than that nothing failed here lately.

        Cost: linear in what failed in this state, and in `options`.

        Example:
            >>> failures = FailureMemory().failed("hall", "left").failed("hall", "right")
            >>> [failures.check("hall", way, options=["left", "right"]).verdict for way in ("left", "right")]
            ['accept', 'refuse']
        """
        given = whole_call(call)
        s, c = values.encode(state), call_key(given)
        offered = None if options is None else frozenset(call_key(whole_call(option)) for option in options)
        with self._lock:
            self._catch_up()
            fold = self._fold
            if c not in fold.blocked(s, offered):
                return Prediction("accept", reason="it did not fail here lately", action=given.name)
            kept, settings = fold.kept[s][c], fold.settings
            age = fold.now - kept.at
        unit = settings.unit if age != 1 else settings.unit[:-1]
        why = f" ({kept.why})" if kept.why is not None else ""
        reason = f"{given.name!r} failed here {age} {unit} ago{why}; it is blocked for {settings.window - age} more"
        return Prediction("refuse", risk=1.0, support=kept.times, reason=reason, hard=True, action=given.name)

    def blocked(self, state: Any, options: Iterable[Any] | None = None) -> tuple[Call, ...]:
        """Return the calls that are blocked in a state, the newest failure first; `options` as for `check`.

        Example:
            >>> failures = FailureMemory(max_blocked=1).failed("hall", "left").failed("hall", "right")
            >>> failures.blocked("hall"), failures.blocked("cellar")
            ((Call(name='right', args={}),), ())
        """
        s = values.encode(state)
        offered = None if options is None else frozenset(call_key(whole_call(option)) for option in options)
        with self._lock:
            self._catch_up()
            return tuple(Call(*values.decode(call)) for call in self._fold.blocked(s, offered))

    def given(self) -> dict[str, Any]:
        """Return what is remembered as plain data, to be recorded with a decision.

        Example:
            >>> FailureMemory().failed("hall", "open", why="locked").given()["failed"]
            [{'state': 'hall', 'call': 'open', 'args': {}, 'age': 0, 'times': 1, 'why': 'locked'}]
        """
        with self._lock:
            self._catch_up()
            fold, rows = self._fold, []
            for state, calls in fold.kept.items():
                for call, kept in calls.items():
                    name, args = values.decode(call)
                    row = {"state": values.decode(state), "call": name, "args": args, "age": fold.now - kept.at}
                    rows.append({**row, "times": kept.times, "why": kept.why})
            return {"settings": fold.settings.as_data(), "failed": rows}

    def __len__(self) -> int:
        """Return how many failures are remembered.

        Example:
            >>> len(FailureMemory().failed("hall", "open"))
            1
        """
        with self._lock:
            self._catch_up()
            return self._fold.count

    def __bool__(self) -> bool:
        """Say yes: a memory is one, whatever it holds."""
        return True

    def __repr__(self) -> str:
        """Show what it remembers."""
        with self._lock:
            return f"<FailureMemory {self._path or 'in memory'}: {self._fold.count} failures>"


def _pair(state: Any, call: Any) -> tuple[msgspec.Raw, msgspec.Raw]:
    """Return the encoded state and call."""
    return msgspec.Raw(values.encode(state)), msgspec.Raw(call_key(whole_call(call)))
