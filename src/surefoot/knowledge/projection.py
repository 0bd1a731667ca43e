"""What a projection stands on: a journal, one stream of it, and a fold that is kept in step with it.

A projection is anything that is known because of the entries of a journal. This module holds what does not depend on
*what* is known: decide, record, apply; take in what others recorded; decide again when somebody was faster; prove,
rebuild, save, load, pickle. A fold says what the entries of its stream mean: `takers` maps each kind of entry to the
function that takes its encoded data in.

```
decide on what is known -> encode -> journal.record(expect=what was read) -> apply to the fold
```
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from surefoot.errors import BadArgument, BrokenChain, Conflict, CutTail, UnknownFormat
from surefoot.journal import Head, Journal, Verification, open_journal
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.journal.chain import ENDS, GENESIS, check, hash_of, is_exact, label_of, parse

__all__ = ["Fold", "Kept", "Path", "Projection", "Take", "fold_lines", "together"]

Path = str | os.PathLike[str]
"""A place in the file system.

Example:
    >>> isinstance("facts.db", Path)
    True
"""

Take = Callable[[bytes, int], object]
"""How a fold takes one entry in: its encoded data, and its place in the journal.

Example:
    >>> seen: Take = lambda raw, seq: None
    >>> seen(b"{}", 0)
"""

_DATA = b',"data":'
_TIME = b',"time":'


class Fold(Protocol):
    """What follows from the entries of one stream.

    Example:
        >>> class Ticks:
        ...     count = 0
        ...     def takers(self):
        ...         return {"tick": self.take}
        ...     def take(self, raw, seq):
        ...         self.count += 1
        ...     def check_new(self):
        ...         pass
        >>> fold: Fold = Ticks()
    """

    def takers(self) -> Mapping[str, Take]:
        """Return for each kind of entry the function that takes it in.

        It raises a ValueError for data that is no such entry, and then has changed nothing.
        """
        ...

    def check_new(self) -> None:
        """Check what was taken in since the last call, as far as that is cheaper done for many entries at once.

        Raises:
            ValueError: something in it was not written by this library.
        """
        ...

    def same_as(self, other: Self) -> str | None:
        """Say in what two folds differ, None when they agree."""
        ...


class Kept(Protocol):
    """What a projection keeps in step with its journal: usually a `Fold`.

    Example:
        >>> class Ticks:
        ...     count = 0
        ...     def same_as(self, other):
        ...         return None if self.count == other.count else "count"
        >>> kept: Kept = Ticks()
    """

    def same_as(self, other: Self) -> str | None:
        """Say in what two of them differ, None when they agree."""
        ...


F = TypeVar("F", bound=Kept)


def fold_lines(
    fold: Fold, journal: Journal, start: int, stop: int, *, stream: str, last: str | None, checked: bool = False
) -> str | None:
    """Fold the entries `start:stop` of a stream into `fold`, checking the chain on the way: one pass does both.

    Args:
        fold: what is known before them; changed.
        journal: where they are.
        start: the first of them.
        stop: the one to stop before.
        stream: whose.
        last: the hash of the entry before `start`; None at the beginning.
        checked: the chain was checked already.

    Returns:
        the hash of the last entry.

    Raises:
        BrokenChain: an entry does not follow.
        UnknownFormat: an entry of the stream is none that the fold knows, or a line is not of this format.

    Cost: one SHA-256 an entry, and what the fold takes; lines of this stream are cut, not parsed.

    Example:
        >>> from surefoot import open_journal
        >>> class Ticks:
        ...     clock = 0
        ...     def takers(self):
        ...         return {"tick": self.take}
        ...     def take(self, raw, seq):
        ...         self.clock += 2
        ...     def check_new(self):
        ...         pass
        >>> journal, fold = open_journal(), Ticks()
        >>> _ = journal.append("tick", {"k": 2}, stream="facts")
        >>> last = fold_lines(fold, journal, 0, 1, stream="facts", last=None)
        >>> fold.clock, last == journal.head.hash
        (2, True)
    """
    folding = _Folding(fold, stream, start)
    lines = journal.lines(start, stop)
    try:
        for _ in folding.through(lines if checked else check(lines, start=start, prev=last or GENESIS)):
            pass
    except UnknownFormat as error:
        raise UnknownFormat(f"entry {folding.count} cannot be read: {error}") from None
    try:
        fold.check_new()
    except ValueError as error:
        raise UnknownFormat(f"one of the entries {start}..{stop - 1} cannot be read: {error}") from None
    return hash_of(folding.line).decode() if folding.line else last


class _Folding:
    """Fold the lines that pass through, one by one.

    Attributes:
        fold: what is known.
        count: up to which entry.
        line: the last line.
    """

    def __init__(self, fold: Fold, stream: str, start: int) -> None:
        self.fold, self.count, self.line = fold, start, b""
        self._stream = stream

    def through(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Pass lines on after they were folded; raise `UnknownFormat` for one that cannot be."""
        takers = self.fold.takers()
        labels = {b'%b,"data":' % label_of(self._stream, kind): take for kind, take in takers.items()}
        label, take = next(iter(labels.items()))
        line, seq = b"", self.count
        at, longer = len(b'{"seq":%d,' % seq), 10 ** len(str(seq))
        try:
            for seq, line in enumerate(lines, self.count):
                if seq == longer:
                    at, longer = at + 1, 10 * longer
                if not line.startswith(label, at):  # another kind than the last one, or another stream
                    found = line[at : line.find(_DATA, at) + len(_DATA)]
                    if found not in labels:
                        self._take_slowly(line, seq, takers)
                        yield line
                        continue
                    label, take = found, labels[found]
                begin = at + len(label)
                if line.find(_TIME, begin) < 0:
                    take(line[begin:-ENDS], seq)
                else:
                    self._take_slowly(line, seq, takers)
                yield line
        except (BrokenChain, CutTail):
            raise
        except (ValueError, LookupError) as error:
            self.count = seq
            raise UnknownFormat(str(error)) from None
        if line:
            self.count, self.line = seq + 1, line

    def _take_slowly(self, line: bytes, seq: int, takers: Mapping[str, Take]) -> None:
        """Take in a line by parsing it: of another stream, with a time, of an unknown kind, or not as we write it."""
        entry = parse(line)
        if not is_exact(line, entry):
            raise UnknownFormat("it is not written as this format writes it")
        if entry.stream == self._stream:
            if entry.kind not in takers:
                raise UnknownFormat(f"no event of kind {entry.kind!r} is known; a newer version may know it")
            takers[entry.kind](bytes(entry.raw), seq)


class Projection(ABC, Generic[F]):
    """Hold a journal and the fold of one stream of it; record first, then apply.

    You write `_blank`, and methods that call `_change`. You get everything below, safe under threads and with several
    processes on one journal. What is kept is a `Fold`; for anything else you write `_fold_into` and `verify` too.

    Example:
        >>> from surefoot.knowledge.agenda import Agenda
        >>> issubclass(Agenda, Projection)
        True
    """

    _noun = "projection"

    @abstractmethod
    def _blank(self) -> F:
        """Return a fold that knows nothing."""

    def _open(
        self,
        path: Path | None,
        journal: Journal | None,
        stream: str,
        *,
        durability: str = "normal",
        clock: Callable[[], Any] | None = None,
        repair: bool = False,
    ) -> None:
        """Fold what the journal holds: the one given, or the one at `path`, or a new one in memory."""
        if journal is not None and path is not None:
            raise BadArgument("give a path or a journal, not both")
        if journal is not None and clock is not None:
            raise BadArgument("give a clock or a journal, not both: a journal has its own clock")
        if not isinstance(stream, str) or not stream:
            raise BadArgument(f"stream must be a non-empty str, got {stream!r}")
        if journal is None:
            journal = open_journal(path, durability=durability, clock=clock, repair=repair)
        self._set_up(journal, stream, path)

    def _set_up(self, journal: Journal, stream: str, path: Path | None) -> None:
        self._lock = threading.RLock()
        self._journal = journal
        self._stream = stream
        self._path = None if path is None else os.fspath(path)
        self._fold: F = self._blank()
        self._read = 0
        self._hash: str | None = None
        self._copies: dict[str, Journal] = {}
        self._catch_up()

    def _change(self, decide: Callable[[], tuple[str, bytes] | None], apply: Callable[[int], object]) -> None:
        """Decide on what is known, record it, then apply it; decide again when somebody else was faster.

        Args:
            decide: returns the kind and the encoded data of the entry, or None when there is nothing to record.
            apply: takes the entry in, given its place.
        """
        with self._lock:
            while True:
                self._catch_up()
                decided = decide()
                if decided is None:
                    return
                try:
                    self._prepare()
                    lines = self._journal.record([decided], stream=self._stream, expect=self._read)
                except Conflict:
                    continue
                seq = self._read
                self._read = seq + 1
                self._hash = lines[0][-66:-2].decode()
                apply(seq)
                return

    def _catch_up(self) -> None:
        """Fold what others have recorded since."""
        count = self._journal.length()
        if count == self._read:
            return
        skipped = self._journal.others(self._read, count, self._stream) if self._read else None
        if skipped is not None:
            self._read, self._hash = count, skipped
            return
        if count < self._read:
            raise UnknownFormat(f"{self._journal!r} has shrunk from {self._read} entries: open the {self._noun} again")
        try:
            self._fold, last = self._fold_into(self._fold, self._read, count, self._hash)
        except ValueError:  # what was folded of the new entries is undone: everything stays as it was
            self._fold, _ = self._fold_into(self._blank(), 0, self._read, None, checked=True)
            raise
        self._read, self._hash = count, last

    def refresh(self) -> None:
        """Fold the journal again from its start.

        For whoever goes on after an exception from outside (Ctrl-C), which may have come between recording something
        and taking it in.
        """
        with self._lock:
            self._fold, self._read, self._hash = self._blank(), 0, None
            self._catch_up()

    def _fold_into(
        self, fold: F, start: int, stop: int, last: str | None, *, checked: bool = False
    ) -> tuple[F, str | None]:
        """Fold some entries; return the fold, which may be another one, and the hash of the last entry."""
        known = cast(Fold, fold)
        return fold, fold_lines(known, self._journal, start, stop, stream=self._stream, last=last, checked=checked)

    def _prepare(self) -> None:
        """Record what has to stand before the first change; a `Conflict` means that somebody else was faster."""

    @property
    def journal(self) -> Journal:
        """Return the journal that this is a fold of."""
        return self._journal

    @property
    def stream(self) -> str:
        """Return whose entries of the journal are folded."""
        return self._stream

    @property
    def head(self) -> Head:
        """Return the journal's head: keep it elsewhere, and `verify(head=…)` catches a cut tail too."""
        return self._journal.head

    def verify(self, head: Head | str | None = None, key: Any = None) -> Verification:
        """Check that the journal is whole, and that what is known is what the journal says.

        Args:
            head: a head kept elsewhere.
            key: the public key of whoever sealed the journal.

        Cost: linear in the journal: one SHA-256 and one fold of each entry, in one pass; with a `key` in two.
        """
        with self._lock:
            fresh = self._blank()
            folding = _Folding(cast(Fold, fresh), self._stream, 0)
            checked = self._journal.verify(head=head, key=key, through=folding.through)
            if not checked:
                return checked
            try:
                self._catch_up()
                fresh, _ = self._fold_into(fresh, folding.count, self._read, None, checked=True)
            except ValueError as error:
                return replace(checked, ok=False, problem=str(error))
            differs = fresh.same_as(self._fold)
            if differs is not None:
                problem = f"the {self._noun} in memory differs from its journal in: {differs}"
                return replace(checked, ok=False, problem=problem)
            return checked

    def rebuild(self, upto: int | None = None) -> Self:
        """Return this as it was after its journal's first `upto` entries: a new one in memory.

        Raises:
            BadArgument: `upto` is outside 0..len(journal).
        """
        with self._lock:
            count = len(self._journal)
            stop = count if upto is None else upto
            if type(stop) is not int or not 0 <= stop <= count:
                raise BadArgument(f"rebuild(upto) must be an int in 0..{count}, got {upto!r}")
            return self._another(list(self._journal.lines(0, stop)))

    def _another(self, lines: list[bytes]) -> Self:
        """Return one like this with the history `lines`, in memory."""
        made = self.__class__.__new__(self.__class__)
        made._set_up(Journal(MemoryBackend(lines)), self._stream, None)
        return made

    def save(self, path: Path | None = None) -> Path:
        """Make what was recorded durable, or write it to `path` as well.

        What has a path is written as it goes, so saving it costs a flush. To `path` only the entries that it does not
        hold yet are appended.

        Returns:
            where it is.

        Raises:
            BadArgument: it has no path and none is given, or `path` holds another history.
            AppendFailed: the storage failed; what was there before is still there.
        """
        with self._lock:
            self._catch_up()
            here = None if self._path is None else os.path.abspath(self._path)
            if path is None or os.path.abspath(os.fspath(path)) == here:
                if self._path is None:
                    raise BadArgument(f"this {self._noun} is in memory: give save(path) a place")
                self._journal.flush()
                return self._path
            place = os.path.abspath(os.fspath(path))
            copy = self._copies.get(place)
            if copy is None:
                copy = self._copies[place] = open_journal(path)
            _extend(copy, self._journal, path)
            copy.flush()
            return path

    def load(self, path: Path) -> Self:
        """Replace this, which must be empty and in memory, by a copy of what is saved at `path`.

        Raises:
            BadArgument: this has a path, or knows something; or there is nothing at `path`.
            BrokenChain, CutTail, UnknownFormat: what is saved there is not whole.
        """
        with self._lock:
            if self._path is not None or len(self._journal):
                raise BadArgument(
                    f"load() fills an empty {self._noun} in memory, this has {len(self._journal)} entries: "
                    f"use {type(self).__name__}(path)"
                )
            if not os.path.exists(path):
                raise BadArgument(f"there is no saved {self._noun} at {os.fspath(path)!r}")
            with open_journal(path) as journal:
                lines = list(journal.lines())
            self._set_up(self._another(lines)._journal, self._stream, None)  # not before it is known to be whole
            return self

    def close(self) -> None:
        """Flush and close the journal; twice is harmless."""
        with self._lock:
            for copy in self._copies.values():
                copy.close()
            self._journal.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the history."""
        with self._lock:
            self._catch_up()
            return {"lines": list(self._journal.lines()), "stream": self._stream}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Unpickle into memory, independent of the original."""
        self._set_up(Journal(MemoryBackend(state["lines"])), state["stream"], None)


def _extend(copy: Journal, journal: Journal, path: Path) -> None:
    """Append to `copy` the lines of `journal` that it lacks."""

    def build(count: int, last: bytes | None) -> list[bytes]:
        if last is not None and (count > len(journal) or next(journal.lines(count - 1, count)) != last):
            raise BadArgument(f"{os.fspath(path)!r} holds another history ({count} entries): save to another place")
        return list(journal.lines(count))

    copy.backend.extend(build)


def together(changes: Sequence[Change], more: Sequence[tuple[str, str, bytes]] = ()) -> int:
    """Record changes of projections of one journal, and `more` (stream, kind, data), at once; return the first's place.

    Example:
        >>> from surefoot import WorldMap
        >>> known = WorldMap()
        >>> together([known.arriving(b"0", b'"right"', b"1")], [("notes", "note", b"{}")]), known.next(0, {1})
        (1, 'right')
    """
    for held, _, _ in changes:
        held._lock.acquire()
    try:
        while True:
            try:
                for held, _, _ in changes:
                    held._catch_up()
                    held._prepare()
                first, journal = changes[0][0]._read, changes[0][0]._journal
                records = [(held._stream, *decide()) for held, decide, _ in changes]
                lines = journal.record_all([*records, *more], expect=first)
            except Conflict:
                continue
            upto, last = first + len(lines), lines[-1][-66:-2].decode()
            for place, (held, _, apply) in enumerate(changes, first):
                held._read, held._hash = upto, last
                apply(place)
            return first
    finally:
        for held, _, _ in changes:
            held._lock.release()


Change = tuple[Projection[Any], Callable[[], tuple[str, bytes]], Callable[[int], object]]
"""(projection, decide, apply), as for `Projection._change`, where there is always something to record."""
