"""The columns of a knowledge store: what is known, as numbers, and how to find one's way in them.

Items, keys and assertions are numbered as they first appear; an assertion is a row in parallel arrays, and so is an
item. Values stay in their encoding, cut out of the entries as they are. Chains of items and of rows link each to the
one before it, so that what most items need is a few numbers and no object of its own.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import msgspec

from surefoot import values
from surefoot.errors import UnknownItem
from surefoot.knowledge.items import (
    ACTIVE,
    DISPUTED,
    EXPIRED,
    FACT,
    HYPOTHESIS,
    KINDS,
    REFUTED,
    RETRACTED,
    Interval,
)
from surefoot.knowledge.store_marks import CONTESTED, FIRM, MAYBE, PRESENT, SURE, Contest, Marks, Span

__all__ = ["Columns", "Standing", "name_of", "require_canonical"]

_CHUNK = 512
_INITIALS = frozenset(kind[:1].encode() for kind in KINDS[1:])
_LONG = b"0" * 16
_DIGITS = bytes(48 if chr(byte).isdigit() and byte < 128 else 32 for byte in range(256))
"""Turns every digit into 0, to find ints so long that they are written in another way."""
_parse = msgspec.json.Decoder(float_hook=lambda text: _float(text)).decode
_sorted = msgspec.json.Encoder(order="sorted").encode


def name_of(s: bytes, r: bytes, scope: bytes) -> bytes:
    """Return the name of a fact's key; the parts are encoded, so none of them holds a line break.

    Example:
        >>> name_of(b"1", b'"is"', b"null").split()
        [b'1', b'"is"', b'null']
    """
    return b"%b\n%b\n%b" % (s, r, scope)


def require_canonical(parts: list[bytes]) -> None:
    """Refuse encodings that no gate of ours wrote: two spellings of one value would be two items.

    Args:
        parts: encodings, or lines of encodings.

    Raises:
        ValueError: one of them is none of a plain value.

    Cost: about 0.3 µs each; more for a chunk with odd ones among them.

    Example:
        >>> require_canonical([b'"door"', b"1.0"])
        >>> require_canonical([b"1.00"])
        Traceback (most recent call last):
        surefoot.errors.ValueRejected: b'1.00' is not the encoding of a plain value: it should read 1.0
    """
    for start in range(0, len(parts), _CHUNK):
        chunk = parts[start : start + _CHUNK]
        if not _is_plain(b"[%b]" % b",".join(chunk).replace(b"\n", b",")):
            for part in chunk:
                for line in part.split(b"\n"):
                    values.decode(line)


def _is_plain(data: bytes) -> bool:
    """Say whether JSON is surely spelled as `values` would spell it; False: perhaps not."""
    if b'"~' in data or _LONG in data.translate(_DIGITS):
        return False
    try:
        return _sorted(_parse(data)) == data
    except (RecursionError, ValueError):
        return False


def _float(text: str) -> float:
    """Read a float that is spelled as Python spells it."""
    number = float(text)
    if repr(number) != text:
        raise ValueError(text)
    return number


class Standing(NamedTuple):
    """A flag that stands.

    Attributes:
        rows: how many assertions there were when it was raised: those are doubtful.
        items: the items it is about.

    Example:
        >>> Standing(3, (0, 1)).rows
        3
    """

    rows: int
    items: tuple[int, ...]


class Columns:
    """What is known, as columns.

    `store_fold.StoreFold` fills them.

    Attributes:
        key_name: (keys,) three lines: subject, relation, scope of a fact, or kind, body, scope of another item; all
            but the kind encoded. `key_id` the other way.
        key_item: (keys,) the newest item of the key; `item_before` links to the older ones, -1 for none.
        item_key, item_kind: (items,) its key; an index into KINDS.
        item_value: (items,) a fact's value, encoded; for others nothing: the name of the key says it all.
        item_row: (items,) its newest live assertion, -1 for none; `row_before` links to the older ones.
        item_best: (items,) its strongest alive assertion, the newest of those.
        item_ground: (items,) how many live assertions of it rest on nothing and are not on trial.
        item_bits: (items,) SURE, MAYBE, CONTESTED, FIRM, PRESENT.
        status: (items,) an index into STATUSES.
        row_item, row_seq, row_by: (rows,) the item, the journal entry, the writer.
        row_rank: (rows,) an index into SOURCES.
        row_bits: (rows,) SURE, MAYBE, GONE, TRIAL, RESOLVES, OVERRULED.
        premises, supersedes, valid, fades: by row, for rows that have any; `uses`, `superseders`: by item, the live
            rows the other way round; `overrides`: by key, its live rows that supersede anything.
        spans: by live row, for rows with an interval or that were closed: the interval in force.
        gone: by item, its newest assertion that was taken back; `row_before` links to the older ones.
        ended: by row that was taken back, the journal entry that says so.
        dated: the keys on which some assertion has, or had, an interval.
        contests, timelines: by key, for keys with several values of which none rests on anything: how they stand; a
            timeline has the spans of the assertions that do.
        marks, flags: see `Marks`, `Standing`.
        clock: how many ticks have passed.
        changed: {item: its status before} while somebody listens; else None.

    Example:
        >>> from surefoot.knowledge.store_fold import StoreFold
        >>> issubclass(StoreFold, Columns)
        True
    """

    def __init__(self) -> None:
        """Know nothing."""
        self.key_id: dict[bytes, int] = {}
        self.key_name: list[bytes] = []
        self.key_item = array("i")
        self.values_of: dict[int, dict[bytes, int]] = {}
        self.item_key, self.item_row, self.item_best = array("i"), array("i"), array("i")
        self.item_before, self.item_ground = array("i"), array("i")
        self.item_value: list[bytes] = []
        self.item_kind, self.item_bits, self.status = bytearray(), bytearray(), bytearray()
        self.row_item, self.row_by, self.row_before = array("i"), array("i"), array("i")
        self.row_seq = array("q")
        self.row_rank, self.row_bits = bytearray(), bytearray()
        self.premises: dict[int, tuple[int, ...]] = {}
        self.supersedes: dict[int, tuple[int, ...]] = {}
        self.valid: dict[int, Interval] = {}
        self.spans: dict[int, Span] = {}
        self.fades: dict[int, int] = {}
        self.uses: dict[int, dict[int, None]] = {}
        self.superseders: dict[int, dict[int, None]] = {}
        self.overrides: dict[int, dict[int, None]] = {}
        self.gone: dict[int, int] = {}
        self.ended: dict[int, int] = {}
        self.dated: set[int] = set()
        self.contests: dict[int, Contest] = {}
        self.timelines: dict[int, dict[int, Span]] = {}
        self.marks: dict[int, Marks] = {}
        self.flags: dict[int, Standing] = {}
        self.writer_id: dict[bytes, int] = {b"": 0}
        self.writer_name: list[bytes] = [b""]
        self.clock = 0
        self.changed: dict[int, int] | None = None
        self._due: list[tuple[int, int]] = []
        self._ids: dict[str, int] = {}
        self._listed: list[str] = []
        self._in_order: list[str] = []
        self._checked = 0, 0
        self._by_scope: dict[bytes, list[int]] = {}
        self._scoped = 0
        self._by_writer: dict[int, list[int]] = {}
        self._written = 0

    # -- chains --------------------------------------------------------------------------------------------------------

    def items_of(self, k: int) -> list[int]:
        """Return the items of a key, the newest first; none for the key -1."""
        found = []
        item = self.key_item[k] if 0 <= k < len(self.key_item) else -1
        while item >= 0:
            found.append(item)
            item = self.item_before[item]
        return found

    def item_with(self, k: int, value: bytes) -> int:
        """Return the item of a key with a value, -1 when there is none."""
        item = self.key_item[k]
        if item < 0 or self.item_value[item] == value:
            return item
        known = self.values_of.get(k)
        return -1 if known is None else known.get(value, -1)

    def rows_of(self, item: int) -> list[int]:
        """Return the live assertions of an item, the newest first."""
        return list(self._chain(self.item_row[item]))

    def gone_of(self, item: int) -> list[int]:
        """Return the assertions of an item that were taken back, the last one taken back first."""
        return list(self._chain(self.gone.get(item, -1)))

    def _chain(self, row: int) -> Iterator[int]:
        while row >= 0:
            yield row
            row = self.row_before[row]

    def is_anchored(self, k: int) -> bool:
        """Say whether a key's only item holds, and is supported, by what rests on nothing: no other can change that."""
        item = self.key_item[k]
        alone = self.item_before[item] < 0 and self.item_ground[item] > 0
        return alone and k not in self.overrides and item not in self.superseders and item not in self.marks

    def writer(self, name: bytes) -> int:
        """Return the number of a writer (encoded; nothing for nobody), a new one when it is new."""
        number = self.writer_id.get(name)
        if number is None:
            number = self.writer_id[name] = len(self.writer_name)
            self.writer_name.append(name)
        return number

    def rows_by(self, writer: bytes) -> list[int]:
        """Return every assertion, live or not, of a writer (encoded), the oldest first."""
        for row in range(self._written, len(self.row_by)):
            self._by_writer.setdefault(self.row_by[row], []).append(row)
        self._written = len(self.row_by)
        number = self.writer_id.get(writer, -1)
        return self._by_writer.get(number, [])

    def keys_in(self, scope: bytes) -> Sequence[int]:
        """Return the keys in a scope (encoded)."""
        for k in range(self._scoped, len(self.key_name)):
            self._by_scope.setdefault(self.key_name[k].rsplit(b"\n", 1)[1], []).append(k)
        self._scoped = len(self.key_name)
        return self._by_scope.get(scope, ())

    # -- ids -----------------------------------------------------------------------------------------------------------

    def body_of(self, item: int) -> tuple[bytes, bytes]:
        """Return an item's body and scope, encoded."""
        first, second, scope = self.key_name[self.item_key[item]].split(b"\n")
        if self.item_kind[item] != FACT:
            return second, scope
        return b'{"o":%b,"r":%b,"s":%b}' % (self.item_value[item], second, first), scope

    def id_of(self, item: int) -> str:
        """Return an item's id."""
        return self._listed[item] if item < len(self._listed) else self._digest(item)

    def keep_id(self, item: int, id_: str) -> None:
        """Take the id of the newest item from somebody who knows it, so that it need not be worked out."""
        if item == len(self._listed):
            self._ids[id_] = item
            self._listed.append(id_)

    def number(self, id_: str) -> int:
        """Return the item with a whole id.

        Raises:
            UnknownItem: there is none.
        """
        self._list_ids(len(self.item_key))
        number = self._ids.get(id_)
        if number is None:
            raise UnknownItem(f"there is no item {id_!r}")
        return number

    def starting_with(self, prefix: str) -> list[int]:
        """Return the items whose ids start with a prefix, at most two.

        Cost: constant for a whole id; logarithmic for a shorter one, after sorting the ids that are new.
        """
        self._list_ids(len(self.item_key))
        whole = self._ids.get(prefix)
        if whole is not None:
            return [whole]
        if len(self._in_order) < len(self._listed):
            self._in_order += self._listed[len(self._in_order) :]
            self._in_order.sort()
        at = bisect_left(self._in_order, prefix)
        return [self._ids[id_] for id_ in self._in_order[at : at + 2] if id_.startswith(prefix)]

    def _list_ids(self, count: int) -> None:
        for item in range(len(self._listed), count):
            id_ = self._digest(item)
            self._ids[id_] = item
            self._listed.append(id_)

    def _digest(self, item: int) -> str:
        body, scope = self.body_of(item)
        return hashlib.sha256(b'["%b",%b,%b]' % (KINDS[self.item_kind[item]].encode(), body, scope)).hexdigest()

    # -- statuses ------------------------------------------------------------------------------------------------------

    def status_of(self, bits: int, marks: Marks | None, ages: tuple[int, int, int | None]) -> int:
        """Return the status of an item with these bits and marks.

        Args:
            bits: its bits.
            marks: its marks.
            ages: its oldest alive assertion, its newest by an outcome or a person, and when the last one fades.
        """
        if not bits & SURE:
            return DISPUTED if bits & MAYBE else REFUTED if bits & PRESENT else RETRACTED
        if bits & CONTESTED:
            return DISPUTED
        if marks is not None:
            first, confirmed, fades = ages
            if marks.retired or (fades is not None and fades <= self.clock):
                return EXPIRED
            if marks.flags and first < self.flags[marks.flags[-1]].rows > confirmed:
                return HYPOTHESIS
        return ACTIVE if bits & FIRM else HYPOTHESIS

    def status_now(self, item: int) -> int:
        """Return the status that an item's bits and marks give it."""
        marks = self.marks.get(item)
        return self.status_of(self.item_bits[item], marks, (-1, -1, None) if marks is None else marks.ages)

    def set_status(self, item: int) -> None:
        """Give an item the status that its bits and marks give it."""
        was = self.status[item]
        self.status[item] = self.status_now(item)
        self.note(item, was)

    def note(self, item: int, was: int) -> None:
        """Tell whoever listens what an item was before it changed."""
        if self.changed is not None and self.status[item] != was:
            self.changed.setdefault(item, was)

    # -- checks --------------------------------------------------------------------------------------------------------

    def check_new(self) -> None:
        """Check the spelling of the keys and values that are new since the last call; see `require_canonical`."""
        keys, items = self._checked
        names = self.key_name[keys:]
        if self.item_kind.count(FACT, items) < len(self.item_kind) - items:  # the first line of others is no encoding
            names = [name if name[:1] not in _INITIALS else name.split(b"\n", 1)[1] for name in names]
        require_canonical(names)
        require_canonical([value for value in self.item_value[items:] if value])
        self._checked = len(self.key_name), len(self.item_value)

    def same_as(self, other: Self) -> str | None:
        """Say in which column two folds differ, None when they agree."""
        columns = (
            "key_name key_item item_key item_kind item_value item_row item_best item_before item_ground item_bits "
            "status row_item row_seq row_by row_rank row_bits row_before premises supersedes valid spans fades uses "
            "superseders overrides gone ended dated marks flags writer_name clock"
        )
        return next((name for name in columns.split() if getattr(self, name) != getattr(other, name)), None)
