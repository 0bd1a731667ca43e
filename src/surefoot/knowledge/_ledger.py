"""What the agenda, the failure memory and the risk policies stand on: a projection whose events are small structs.

Each of them has settings that change its answers, so these are recorded too, before the first event and whenever they
change. Where no journal is asked for, only the newest entry is kept, and what is known is bounded.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar, Self, TypeVar

import msgspec

from surefoot import values
from surefoot.errors import BadArgument, ValueRejected
from surefoot.journal import Head, Journal, Verification
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.knowledge.projection import Path, Projection, Take

__all__ = ["EventFold", "Ledger", "Path", "Record", "plain", "text"]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that happened: the base of the events here. A field holds a scalar, a tuple of those, or `Raw`."""

    kind: ClassVar[str] = ""

    def encode(self) -> bytes:
        """Return the data of the entry that records this event, to the byte what `values.encode` would write."""
        return b"{" + b",".join([name + _encoded(getattr(self, field)) for field, name in _names(type(self))]) + b"}"

    def as_data(self) -> dict[str, Any]:
        """Return its fields as plain values."""
        data: dict[str, Any] = values.decode(self.encode())
        return data


_WORDS = {True: b"true", False: b"false", None: b"null", (): b"[]"}


def _encoded(value: Any) -> bytes:
    kind = type(value)
    if kind is msgspec.Raw:
        return bytes(value)
    if kind is str:
        return values.encode(value)
    if value is None or kind is bool or value == ():
        return _WORDS[value]
    return values.encode(value)


def plain(raw: msgspec.Raw) -> Any:
    """Return the value of a field, fresh."""
    return values.decode(bytes(raw))


class EventFold:
    """What follows from events of a few kinds: the base of the folds here."""

    kinds: ClassVar[Sequence[type[Record]]]
    begun = False

    def __init__(self, settings: Record) -> None:
        """Know nothing, under these settings."""
        self.settings = settings

    def takers(self) -> Mapping[str, Take]:
        """Return for each kind of entry the function that takes it in."""
        return {kind.kind: partial(self._take, _decoder(kind)) for kind in self.kinds}

    def _take(self, decode: Callable[[bytes], Record], raw: bytes, seq: int) -> None:
        self.apply(decode(raw))

    def apply(self, event: Record) -> None:
        """Take in one event: reads no clock, writes no journal.

        Raises:
            ValueError, LookupError: it cannot have happened; nothing has changed.
        """
        if type(event) is type(self.settings):
            self.settings, self.begun = event, True
            self.reset()
        else:
            self.take(event)

    def reset(self) -> None:
        """Take up new settings."""

    @abstractmethod
    def take(self, event: Record) -> None:
        """Take in an event that is not about the settings."""

    @abstractmethod
    def as_data(self) -> Any:
        """Return all that is known, as a plain value."""

    def check_new(self) -> None:
        """Check nothing more: each event was checked as it came."""

    def same_as(self, other: Self) -> str | None:
        """Say in what two folds differ, None when they agree."""
        if self.settings != other.settings or self.begun != other.begun:
            return "the settings"
        return None if values.encode(self.as_data()) == values.encode(other.as_data()) else "what is known"


@cache
def _names(kind: type[Record]) -> tuple[tuple[str, bytes], ...]:
    """Return the fields of an event in the order in which they are written, each with its name as it is written."""
    return tuple((name, b'"%b":' % name.encode()) for name in sorted(kind.__struct_fields__))


@cache
def _decoder(kind: type[Record]) -> Callable[[bytes], Record]:
    return msgspec.json.Decoder(kind).decode


F = TypeVar("F", bound=EventFold)


class Ledger(Projection[F]):
    """Keep a stream of small events and what follows from it."""

    _makes: ClassVar[Any]
    """Returns the fold that knows nothing, under given settings."""
    _new: Record
    """The settings of a new stream."""
    _forgets = False
    """Whether only the newest entry is kept."""

    def _begin(
        self,
        new: Record,
        given: Mapping[str, Any],
        place: tuple[Path | None, Journal | None, str],
        *,
        in_memory: bool = False,
    ) -> None:
        """Open the journal, and record those of the `given` settings that are not None and differ from what is stored.

        Args:
            new: the settings of a new stream, without `given`.
            given: settings by name.
            place: a path, or a journal, or neither; and the stream.
            in_memory: keep all entries where neither is given, not just the newest.
        """
        asked = {name: value for name, value in given.items() if value is not None}
        self._new = msgspec.structs.replace(new, **asked)
        path, journal, stream = place
        self._forgets = path is None and journal is None and not in_memory
        self._open(path, Journal(_Newest()) if self._forgets else journal, stream)
        if asked and self._fold.begun:
            self._configure(**asked)

    def _blank(self) -> F:
        """Return a fold that knows nothing."""
        fold: F = type(self)._makes(self._new)
        return fold

    def _configure(self, **given: Any) -> None:
        """Record other settings, if they are other ones."""

        def decide() -> Record | None:
            wanted = msgspec.structs.replace(self._fold.settings, **given)
            return None if wanted == self._fold.settings else wanted

        self._note(decide)

    def _note(self, decide: Callable[[], Record | None]) -> None:
        """Decide on what is known, record the event, then apply it; the settings are recorded before the first one."""
        event: Record | None = None

        def decided() -> tuple[str, bytes] | None:
            nonlocal event
            event = decide()
            if event is None:
                return None
            if not self._fold.begun and event.kind != self._new.kind:
                new = self._new
                begin = new.kind, new.encode()
                self._change(lambda: None if self._fold.begun else begin, lambda _: self._fold.apply(new))
            return event.kind, event.encode()

        def apply(_: int) -> None:
            assert event is not None  # something was recorded
            self._fold.apply(event)

        self._change(decided, apply)

    def _catch_up(self) -> None:
        if self._journal.length() != self._read and not self._forgets:
            super()._catch_up()

    def fingerprint(self) -> str:
        """Return a digest of all that is known here, 64 hexadecimal digits; it changes when that does."""
        with self._lock:
            self._catch_up()
            return values.digest((self._fold.settings.as_data(), self._fold.as_data()))

    def verify(self, head: Head | str | None = None, key: Any = None) -> Verification:
        """Check that the journal is whole, and that what is known is what the journal says.

        Where nothing is kept of the past there is nothing to check, and the answer is yes, of 0 entries.

        Args:
            head: a head kept elsewhere.
            key: the public key of whoever sealed the journal.

        Cost: linear in the journal.
        """
        return Verification(True, 0, head=self.head) if self._forgets else super().verify(head, key)

    def _kept(self, what: str) -> None:
        """Refuse what needs the past where it is not kept."""
        if self._forgets:
            raise BadArgument(f"this {self._noun} keeps nothing of the past: give it path= or journal= to {what}")

    def save(self, path: Path | None = None) -> Path:
        """Make what was recorded durable, or write it to `path` as well; see `WorldMap.save`."""
        self._kept("save it")
        return super().save(path)

    def load(self, path: Path) -> Self:
        """Replace this, which must know nothing and have no place, by a copy of what is saved at `path`."""
        self._kept("load another")
        return super().load(path)

    def _another(self, lines: list[bytes]) -> Self:
        self._kept("rebuild it")
        made = self.__class__.__new__(self.__class__)
        made._new = self._new
        made._take_after(self)
        made._set_up(Journal(MemoryBackend(lines)), self._stream, None)
        return made

    def _take_after(self, other: Self) -> None:
        """Take over what is not in the journal."""

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the history, or what is known where there is none."""
        with self._lock:
            if self._forgets:
                return {"new": self._new, "stream": self._stream, "lines": None, "fold": self._fold}
            return {"new": self._new, **super().__getstate__()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Unpickle into memory, independent of the original."""
        self._new, self._forgets = state["new"], state["lines"] is None
        if self._forgets:
            self._set_up(Journal(_Newest()), state["stream"], None)
            self._fold = state["fold"]
        else:
            super().__setstate__(state)


class _Newest:
    """A backend that counts lines and keeps the newest."""

    name = "the newest entry"

    def __init__(self) -> None:
        self._count = 0
        self._last: bytes | None = None

    def extend(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> None:
        added = build(self._count, self._last)
        self._count += len(added)
        self._last = added[-1]

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        end = self._count if stop is None else min(stop, self._count)
        return iter([self._last] if self._last is not None and start < self._count == end else [])

    def __len__(self) -> int:
        return self._count

    def flush(self) -> None:
        """Nothing is to be written."""

    def close(self) -> None:
        """Nothing is to be let go of."""


def text(value: object, name: str) -> str:
    """Return `value` as text, copied.

    Raises:
        ValueRejected: it is no text at all.
        BadArgument: it is empty.
    """
    if not isinstance(value, str):
        raise ValueRejected(f"{name} must be a str, got {value!r}")
    if not value.strip():
        raise BadArgument(f"{name} must not be empty, got {value!r}")
    copied: str = values.copy(value)
    return copied
