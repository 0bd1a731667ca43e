"""The journal: append-only, hash-chained, one store of everything that happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from surefoot import values
from surefoot.errors import (
    BadArgument,
    BrokenChain,
    Conflict,
    CutTail,
    JournalClosed,
    ReadOnly,
    UnknownFormat,
    ValueRejected,
)
from surefoot.journal.chain import GENESIS, Entry, Head, Verification, check_last, label_of, link, parse
from surefoot.journal.verification import examine

if TYPE_CHECKING:
    from surefoot.journal.seal import PrivateKey, PublicKey, Seal

__all__ = ["Backend", "Journal"]


@runtime_checkable
class Backend(Protocol):
    """Store lines of bytes, in order; a backend never looks inside them.

    You implement five methods and `name` (for messages); you get a journal that is tamper-evident, and the tests of
    `surefoot.testing.BackendContract`. A line is a JSON object in UTF-8 and holds no line break.

    Example:
        >>> from surefoot.journal.backends.memory import MemoryBackend
        >>> isinstance(MemoryBackend(), Backend)
        True
    """

    name: str

    def extend(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> None:
        """Add lines, all or none, safe against other threads and processes.

        Hold the writers' lock, call `build(number of lines now, the last line or None)`, store what it returns. When
        `build` raises, or the lines cannot be stored, nothing is added and the exception goes on
        (`AppendFailed` for a failure of the storage). `build` may be called more than once; only what its last call
        returned counts.
        """
        ...

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Iterate over the lines from `start` up to, not including, `stop` (None: the end as it is at the call).

        Both are >= 0; what lies beyond the end is left out. Lines added while you iterate are not shown.
        """
        ...

    def __len__(self) -> int:
        """Return how many lines there are now, those of other writers included."""
        ...

    def flush(self) -> None:
        """Return when everything added is on durable storage."""
        ...

    def close(self) -> None:
        """Flush, and let go of files and connections; twice is harmless."""
        ...


class Journal:
    """An append-only record whose every entry holds the hash of the one before it.

    Args:
        backend: where the lines are kept.
        clock: called once an append; what it returns (a plain value) becomes the entries' `time`, inside the hash.
            None: no time is recorded, and the same events give the same bytes.

    Thread-safe. It can be pickled and copied when its backend and clock can: a copy of a journal in memory is a journal
    of its own, a copy of one in a file is one more hand on the same file. `open_journal(path)` is the usual way to get
    one.

    Example:
        >>> from surefoot.journal import open_journal
        >>> with open_journal() as journal:
        ...     first = journal.append("note", {"text": "a door"})
        ...     more = journal.append_many([("note", {"text": "a key"}), ("note", {"text": "a cat"})])
        ...     [entry.data["text"] for entry in journal.entries(since=1)], bool(journal.verify(head=journal.head))
        (['a key', 'a cat'], True)
    """

    def __init__(self, backend: Backend, *, clock: Callable[[], Any] | None = None) -> None:
        """Use `backend`; see the class."""
        self._backend = backend
        self._clock = clock
        self._labels: dict[tuple[str, str], bytes] = {}
        self._tip = b""  # the last line that was found sound: nothing is built on a damaged one
        self._mine = 0, 0  # the newest stretch of entries that this object recorded, nobody else in between
        self._newest: dict[str, int] = {}  # by stream, the newest of its entries that this object recorded
        self._closed = False
        self.length: Callable[[], int] = backend.__len__

    @property
    def backend(self) -> Backend:
        """Return the backend, for those who copy lines from one to another."""
        return self._backend

    def append(self, kind: str, data: Any, *, stream: str = "main", expect: int | None = None) -> Entry:
        """Record one event and return its entry.

        Args:
            kind: what happened, one word.
            data: a mapping with `str` keys and plain values; it is copied.
            stream: whose event it is.
            expect: how many entries you have read; `Conflict` when there are more, so that a decision is never recorded
                on top of something it did not know.

        Raises:
            ValueRejected: `data` is not plain.
            BadArgument: `kind` or `stream` is not a non-empty text.
            AppendFailed: the storage failed.
            Conflict: see `expect`.
            BrokenChain: the journal's last entry is damaged: nothing is built on it. In each case nothing was recorded.

        Cost: one SHA-256 and one write of the backend.

        Example:
            >>> from surefoot.journal import open_journal
            >>> journal = open_journal()
            >>> journal.append("note", {"text": "a door"}, stream="notes").stream
            'notes'
        """
        return self.append_many([(kind, data)], stream=stream, expect=expect)[0]

    def append_many(
        self, events: Iterable[tuple[str, Any]], *, stream: str = "main", expect: int | None = None
    ) -> tuple[Entry, ...]:
        """Record several events in one transaction, all or none; see `append`.

        Example:
            >>> from surefoot.journal import open_journal
            >>> journal = open_journal()
            >>> [entry.seq for entry in journal.append_many([("note", {"n": 1}), ("note", {"n": 2})])]
            [0, 1]
        """
        records = []
        for kind, data in events:
            encoded = values.encode(data)
            if not encoded.startswith(b"{") or encoded.startswith((b'{"~l":', b'{"~i":')):
                raise ValueRejected(f"the data of a {kind!r} entry must be a mapping, got {type(data).__name__}")
            records.append((kind, encoded))
        return tuple(map(parse, self.record(records, stream=stream, expect=expect)))

    def record(
        self, records: Sequence[tuple[str, bytes]], *, stream: str = "main", expect: int | None = None
    ) -> list[bytes]:
        """Record events whose data is encoded already, and return their lines: what `append_many` is made of.

        Args:
            records: pairs (kind, encoding of a mapping); the encoding is not checked again.
            stream: whose events they are.
            expect: see `append`.
        """
        return self.record_all([(stream, kind, data) for kind, data in records], expect=expect)

    def record_all(self, records: Sequence[tuple[str, str, bytes]], *, expect: int | None = None) -> list[bytes]:
        """Record events of several streams in one transaction, (stream, kind, encoding of a mapping) each.

        See `record`.

        Example:
            >>> from surefoot.journal import open_journal
            >>> lines = open_journal().record_all([("a", "note", b'{"n":1}'), ("b", "note", b'{"n":2}')], expect=0)
            >>> [parse(line).stream for line in lines]
            ['a', 'b']
        """
        self._still_open()
        clock = b"" if self._clock is None else values.encode(self._clock())
        labels = self._labels
        made: list[bytes] = []
        first = 0

        def build(count: int, last: bytes | None) -> list[bytes]:
            nonlocal first
            first = count
            if expect is not None and expect != count:
                raise Conflict(f"expected {expect} entries, the journal has {count}: read them, then decide again")
            made.clear()  # a backend may have to try again
            if last is None:
                prev = GENESIS.encode()
            elif last == self._tip:
                prev = last[-66:-2]
            else:
                prev = check_last(last, count)
            for stream, kind, data in records:
                try:
                    label = labels[stream, kind]
                except (KeyError, TypeError):
                    label = labels[stream, kind] = label_of(stream, kind)
                line, prev = link(count, label, data, prev, clock)
                made.append(line)
                count += 1
            return made

        self._backend.extend(build)
        if made:
            self._tip = made[-1]
            upto = first + len(made)
            begin, end = self._mine
            self._mine = (begin if end == first else first), upto
            for place, (stream, _, _) in enumerate(records, first):
                self._newest[stream] = place
        return made

    def others(self, since: int, upto: int, stream: str) -> str | None:
        """Return the hash of entry `upto - 1` when this object recorded all of `since..upto`, none of it in `stream`.

        Whoever folds `stream` may then go on after them without reading them. None: that is not known.

        Args:
            since: the first place.
            upto: the place to stop before.
            stream: the stream that must not be among them.

        Cost: constant; it is known up to this object's newest entry only.

        Example:
            >>> from surefoot.journal import open_journal
            >>> journal = open_journal()
            >>> entry = journal.append("note", {"n": 1}, stream="notes")
            >>> journal.others(0, 1, "facts") == entry.hash, journal.others(0, 1, "notes")
            (True, None)
        """
        begin, end = self._mine
        if not begin <= since < upto == end or self._newest.get(stream, -1) >= since:
            return None
        return self._tip[-66:-2].decode()

    def entries(
        self, since: int = 0, upto: int | None = None, kind: str | None = None, stream: str | None = None
    ) -> Iterator[Entry]:
        """Iterate over entries in order.

        Args:
            since: the first place, from 0.
            upto: the place to stop before; None: the end.
            kind: only entries of this kind.
            stream: only entries of this stream.

        Raises:
            BadArgument: `since` or `upto` is outside the journal.
            UnknownFormat: a stored line is not an entry.

        Example:
            >>> from surefoot.journal import open_journal
            >>> journal = open_journal()
            >>> _ = journal.append_many([("see", {"door": 1}), ("note", {"text": "red"}), ("see", {"door": 2})])
            >>> [entry.data["door"] for entry in journal.entries(since=1, kind="see")]
            [2]
        """
        count = len(self)
        stop = count if upto is None else upto
        if type(since) is not int or type(stop) is not int or not 0 <= since <= stop <= count:
            raise BadArgument(f"entries need 0 <= since <= upto <= {count}, got since={since!r}, upto={upto!r}")
        return self._filtered(since, stop, kind, stream)

    def _filtered(self, since: int, stop: int, kind: str | None, stream: str | None) -> Iterator[Entry]:
        for line in self._backend.lines(since, stop):
            entry = parse(line)
            if (kind is None or entry.kind == kind) and (stream is None or entry.stream == stream):
                yield entry

    def lines(self, since: int = 0, upto: int | None = None) -> Iterator[bytes]:
        """Iterate over the stored lines as they are: for exports, and for folds that parse them on their own.

        Args:
            since: the first place, from 0.
            upto: the place to stop before; None: the end. What lies beyond the end is left out.

        Raises:
            BadArgument: one of them is not an int >= 0.

        Example:
            >>> from surefoot.journal import open_journal
            >>> journal = open_journal()
            >>> _ = journal.append("note", {"text": "hello"})
            >>> [line[:35] for line in journal.lines()]
            [b'{"seq":0,"stream":"main","kind":"no']
        """
        self._still_open()
        for name, place in (("since", since), ("upto", 0 if upto is None else upto)):
            if type(place) is not int or place < 0:
                raise BadArgument(f"lines need {name} to be an int >= 0, got {place!r}")
        return self._backend.lines(since, upto)

    def __len__(self) -> int:
        """Return the number of entries, those of other writers included."""
        if self._closed:
            self._still_open()
        return len(self._backend)

    def _still_open(self) -> None:
        if self._closed:
            raise JournalClosed("this journal is closed; open it again with open_journal(...)")

    @property
    def head(self) -> Head:
        """Return the name of the whole content so far.

        Raises:
            BrokenChain: the last entry is damaged, so that there is no head.
        """
        count = len(self)
        if not count:
            return Head(0, GENESIS)
        (last,) = self._backend.lines(count - 1, count)
        if last == self._tip:
            return Head(count, last[-66:-2].decode())
        return Head(count, check_last(last, count).decode())

    def at(self, upto: int) -> Journal:
        """Return the journal as it was after its first `upto` entries: a view that cannot be written to.

        Raises:
            BadArgument: `upto` is outside 0..len.

        Example:
            >>> from surefoot.journal import open_journal
            >>> journal = open_journal()
            >>> _ = journal.append_many([("note", {"n": 1}), ("note", {"n": 2})])
            >>> [entry.data["n"] for entry in journal.at(1).entries()], journal.at(2).head == journal.head
            ([1], True)
        """
        count = len(self)
        if type(upto) is not int or not 0 <= upto <= count:
            raise BadArgument(f"at(upto) must be an int in 0..{count}, got {upto!r}")
        return Journal(_Past(self._backend, upto))

    def verify(
        self,
        head: Head | str | None = None,
        key: PublicKey | None = None,
        since: Head | str | None = None,
        seal: Seal | Mapping[str, Any] | None = None,
        through: Callable[[Iterator[bytes]], Iterator[bytes]] | None = None,
    ) -> Verification:
        """Check every entry against the one before it, and the whole against what you hold.

        Args:
            head: a head kept elsewhere: a cut tail and a history written anew are caught.
            key: the public key of whoever sealed it: every seal of that key must fit, and what comes after the last one
                is nobody's word, which is a failure too.
            since: a head up to which it was verified before: only what came after is read.
            seal: a seal kept elsewhere (needs `key`): its signature must fit, and the head it signs is used like
                `head`.
            through: what the checked lines pass through, in place of the check that each is as this format writes it:
                for a fold that reads them anyway, and checks that. Not with `key`.

        Returns:
            a `Verification`, true when all is well; never raises for a broken journal.

        Raises:
            BadArgument: `seal` without `key`, or a head that cannot be read.
            BadSeal: `key` or `seal` cannot be read at all.
            MissingExtra: `key` is given and the package cryptography is not installed.

        Cost: one SHA-256 an entry, about 3 µs for 250 bytes; one signature check (0.1 ms) a seal.

        Example:
            >>> from surefoot.journal import open_journal
            >>> journal = open_journal()
            >>> _ = journal.append("note", {"text": "hello"})
            >>> kept = str(journal.head)
            >>> bool(journal.verify(head=kept)), journal.at(0).verify(head=kept).failed
            (True, 'head')
        """
        heads = [] if head is None else [Head.of(head) if isinstance(head, str) else head]
        before = Head.of(since) if isinstance(since, str) else since
        if key is None:
            if seal is not None:
                raise BadArgument(
                    "verify(seal=...) needs key=...: a seal proves nothing without a public key you trust"
                )
            return self._examine(heads, before, None, through)
        from surefoot.journal.seal import Seal, check_seals, is_seal, load_public  # needs the extra [seal]

        public = load_public(key)
        if seal is not None:
            held = Seal.of_dict(seal) if isinstance(seal, Mapping) else seal
            heads.append(held.head)
            if not held.verify(public):
                problem = f"the seal you hold, of {held.head}, was not signed by the key {public}"
                return Verification(False, 0, None, problem, failed="seal")
        seals: list[Entry] = []
        checked = self._examine(heads, before, lambda entry: seals.append(entry) if is_seal(entry) else None)
        if checked.head is None or not checked:
            return checked
        if before is not None:
            seals[:0] = self.entries(upto=before.length, kind="seal", stream="journal")
        sealed, at, wrong = check_seals(seals, public, count=checked.head.length)
        if wrong is None:
            return replace(checked, sealed=sealed)
        return replace(checked, ok=False, at=at, problem=wrong, sealed=sealed, failed="seal")

    def _examine(
        self, heads: list[Head], since: Head | None, note: Callable[[Entry], None] | None = None, through: Any = None
    ) -> Verification:
        self._still_open()
        try:
            count = len(self._backend)
        except (BrokenChain, CutTail, UnknownFormat) as error:
            return Verification(False, 0, None, str(error), failed="chain")
        return examine(self._backend.lines, count, heads=heads, since=since, note=note, through=through)

    def seal(self, key: PrivateKey) -> Seal:
        """Sign the head with an Ed25519 key and append the signature; return it, to be kept elsewhere too.

        Args:
            key: an `Ed25519PrivateKey`, its 32 bytes, or PEM bytes without a password.

        Raises:
            MissingExtra: the package cryptography is not installed.
            BadSeal: the key cannot be read.
            BrokenChain: the last entry is damaged. Only that one is looked at: `verify()` first, then sign.

        Example:
            >>> from surefoot.journal import open_journal
            >>> from surefoot.journal.seal import new_key, public_key
            >>> key = new_key()
            >>> journal = open_journal()
            >>> _ = journal.append("note", {"text": "hello"})
            >>> journal.seal(key).head.length, bool(journal.verify(key=public_key(key)))
            (1, True)
        """
        from surefoot.journal.seal import sign  # needs the extra [seal]

        while True:
            seal = sign(self.head, key)
            try:
                self.append("seal", seal.to_dict(), stream="journal", expect=seal.head.length)
            except Conflict:  # somebody appended between our look and our signature: sign the new head
                continue
            return seal

    def flush(self) -> None:
        """Return when everything appended is on durable storage."""
        self._backend.flush()

    def close(self) -> None:
        """Flush and let go of the backend; twice is harmless."""
        self._closed = True
        self.length = self.__len__  # which refuses
        self._backend.close()

    def __enter__(self) -> Journal:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Show where it is and how long."""
        state = "closed" if self._closed else f"{len(self)} entries"
        return f"<Journal {self._backend.name}: {state}>"


class _Past:
    """A backend that shows the first lines of another and takes no more."""

    def __init__(self, backend: Backend, upto: int) -> None:
        self._backend, self._upto = backend, upto
        self.name = f"{backend.name} at {upto}"

    def extend(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> None:
        raise ReadOnly(f"{self.name} is the past: append to the journal itself, or copy it")

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        return self._backend.lines(start, self._upto if stop is None else min(stop, self._upto))

    def __len__(self) -> int:
        return self._upto

    def flush(self) -> None:
        self._backend.flush()

    def close(self) -> None:
        """Leave the journal open: the view does not own it."""
