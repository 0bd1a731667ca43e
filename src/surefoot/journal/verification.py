"""Check a journal: every entry against the one before it, and the whole against what you hold.

`Journal.verify` is the usual way in; this module is the checking itself, over lines, so that whoever keeps lines
elsewhere can check them too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from surefoot.errors import BadArgument, BrokenChain, CutTail, UnknownFormat
from surefoot.journal.chain import GENESIS, Entry, Head, Verification, check, hash_of, is_exact, parse

__all__ = ["examine"]


def examine(
    lines: Callable[[int, int], Iterator[bytes]],
    count: int,
    *,
    heads: Sequence[Head] = (),
    since: Head | None = None,
    note: Callable[[Entry], None] | None = None,
    through: Callable[[Iterator[bytes]], Iterator[bytes]] | None = None,
) -> Verification:
    """Check `count` lines and say whether all follow from one another, and from what you hold.

    Args:
        lines: called once with (first, stop); iterates over those lines.
        count: how many lines there are.
        heads: heads kept elsewhere, in any order; each must name the journal as it was then.
        since: a head up to which all was verified before: only its last line and what came after are read.
        note: called with each entry that was read, after it was found to follow.
        through: passes checked lines on, and raises `UnknownFormat` for one that is not as this format writes it; None:
            `exact(note)`.

    Raises:
        BadArgument: one of `heads` is of a place before `since`, which is not read.

    Cost: one SHA-256 a line read; see `chain.check`.

    Example:
        >>> from surefoot.journal import open_journal
        >>> journal = open_journal()
        >>> head = journal.append("note", {}) and journal.head
        >>> bool(examine(journal.lines, 1, heads=[head])), examine(journal.lines, 1, heads=[Head(1, "0" * 64)]).failed
        (True, 'head')
    """
    first = 0 if since is None else since.length
    for head in heads:
        if head.length < first:
            raise BadArgument(
                f"the head you hold is of {head.length} entries, since is of {first}: what came before is not read, "
                "verify without since"
            )
    if first > count:
        return _broken_head(0, f"the journal ends after {count} entries, since is of {first}: its tail was cut")
    walk = _Walk({head.length for head in heads}, first, through or exact(note))
    try:
        if since is not None and not walk.starts_at(since, lines):
            problem = (
                f"entry {first - 1} is not the one that since ({since.hash[:12]}) names: its history was written anew"
            )
            return _broken_head(0, problem)
        walk.all(lines(first, count))
    except BrokenChain as error:
        return walk.broken(str(error))
    except (UnknownFormat, CutTail) as error:
        return walk.broken(f"entry {walk.seen} is damaged: {error}")
    here = Head(walk.seen, walk.last)
    for head in heads:
        if head.length > walk.seen:
            problem = (
                f"the journal ends after {walk.seen} entries, the head you hold is of {head.length}: its tail was cut"
            )
            return _broken_head(walk.seen - first, problem, here)
        if walk.held[head.length] != head.hash:
            problem = (
                f"after {head.length} entries the journal is at {walk.held[head.length][:12]}, the head you hold is "
                f"{head.hash[:12]}: its history was written anew"
            )
            return _broken_head(walk.seen - first, problem, here)
    return Verification(True, walk.seen - first, head=here)


def _broken_head(entries: int, problem: str, head: Head | None = None) -> Verification:
    """Return the result for a chain that is not the one somebody holds a head of."""
    return Verification(False, entries, None, problem, head, failed="head")


class _Walk:
    """Where the checking is: what was seen, and the hashes at the places that somebody holds a head of."""

    def __init__(self, wanted: set[int], first: int, through: Callable[[Iterator[bytes]], Iterator[bytes]]) -> None:
        self.first = self.seen = first
        self.last = GENESIS
        self.held = {0: GENESIS}
        self._wanted = wanted
        self._through = through

    def starts_at(self, since: Head, lines: Callable[[int, int], Iterator[bytes]]) -> bool:
        """Say whether the journal, at that place, is still the one that `since` names."""
        if since.length:
            self.seen -= 1
            for line in lines(since.length - 1, since.length):
                before = line[-140:-76].decode("ascii", "replace")
                for whole in check([line], start=self.seen, prev=before):
                    self.last = hash_of(whole).decode()
            self.seen += 1
        self.held[since.length] = self.last
        return self.last == since.hash

    def all(self, lines: Iterator[bytes]) -> None:
        """Check the lines that come next."""
        line = b""
        wanted = self._wanted
        for line in self._through(check(lines, start=self.seen, prev=self.last)):
            self.seen += 1
            if self.seen in wanted:
                self.held[self.seen] = hash_of(line).decode()
        if line:
            self.last = hash_of(line).decode()

    def broken(self, problem: str) -> Verification:
        """Return the result for a chain that broke here."""
        return Verification(False, max(self.seen - self.first, 0), self.seen, problem, failed="chain")


def exact(note: Callable[[Entry], None] | None) -> Callable[[Iterator[bytes]], Iterator[bytes]]:
    """Return what passes lines on that are written as this format writes them."""

    def through(lines: Iterator[bytes]) -> Iterator[bytes]:
        for line in lines:
            entry = parse(line)
            if not is_exact(line, entry):
                raise UnknownFormat("it is not written as this format writes it")
            if note is not None:
                note(entry)
            yield line

    return through
