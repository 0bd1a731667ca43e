"""The projection behind a knowledge store: events in, columns out.

Nothing here reads a clock, a journal or a file: the functions in `takers` are the only way in, so that the same events
always give the same columns. What follows from the assertions is worked out by `store_competing` for the common cases,
by `store_rules` for a key and by `support` for everything that a change reaches.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Annotated, assert_never

import msgspec

from surefoot import values
from surefoot.errors import UnknownFormat
from surefoot.knowledge import fact_events
from surefoot.knowledge.items import ACTIVE, FACT, KINDS, PERSON, SOURCES, Interval
from surefoot.knowledge.store_columns import name_of
from surefoot.knowledge.store_competing import Details
from surefoot.knowledge.store_doubting import Doubting
from surefoot.knowledge.store_marks import FIRM, PRESENT, SURE

__all__ = ["StoreFold"]


class _PlainFact(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The fields of a `FactStated` that says nothing unusual."""

    s: msgspec.Raw
    r: msgspec.Raw
    o: msgspec.Raw
    source: msgspec.Raw
    scope: msgspec.Raw = msgspec.Raw(b"null")
    by: msgspec.Raw = msgspec.Raw(b"")
    evidence: msgspec.Raw = msgspec.Raw(b"")


_RANK = {values.encode(source): rank for rank, source in enumerate(SOURCES)}
_KIND = {values.encode(kind): number for number, kind in enumerate(KINDS)}
_plain_fact = msgspec.json.Decoder(_PlainFact).decode
_ids = msgspec.json.Decoder(list[str]).decode
_key = msgspec.json.Decoder(fact_events.FlaggedKey).decode
_text = msgspec.json.Decoder(str).decode
_count = msgspec.json.Decoder(Annotated[int, msgspec.Meta(ge=1)]).decode
_place = msgspec.json.Decoder(int).decode
_moment = int | float | None


def _interval(raw: msgspec.Raw) -> Interval | None:
    """Return the interval of an event."""
    if not raw:
        return None
    since, until = values.decode(bytes(raw))
    if not (isinstance(since, _moment) and isinstance(until, _moment)):
        raise UnknownFormat(f"an interval is two numbers, not {bytes(raw)!r}")
    return None if since is None and until is None else (since, until)


class StoreFold(Doubting):
    """What a store knows after some events.

    Example:
        >>> fold = StoreFold()
        >>> fold.takers()["fact"](b'{"o":"north","r":"opens","s":"door","source":"outcome"}', 0)
        >>> fold.check_new()
        >>> len(fold.key_name), len(fold.item_value), len(fold.row_item)
        (1, 1, 1)
    """

    def takers(self) -> Mapping[str, Callable[[bytes, int], object]]:
        """Return the function for each kind of entry; see `projection.Fold`.

        What they take in is complete after `check_new`.
        """
        others: dict[str, Callable[[bytes, int], object]] = {
            kind: partial(self._take, kind) for kind in fact_events.FACT_KINDS
        }
        return {**others, "fact": self._fact_taker()}

    def check_new(self) -> None:
        """Complete the columns, and check the spelling of what is new."""
        self._complete()
        super().check_new()

    def _fact_taker(self) -> Callable[[bytes, int], None]:
        """Return what takes facts in, with everything that it needs at hand: most entries are facts.

        Of the first fact of a key, if it says nothing unusual, only what the entry says is kept, see `_complete`.
        """
        key_id, writer_of = self.key_id, self.writer
        add_name, add_value = self.key_name.append, self.item_value.append
        add_rank, add_writer, add_seq = self.row_rank.append, self.row_by.append, self.row_seq.append

        def take(raw: bytes, seq: int) -> None:
            try:
                event = _plain_fact(raw)
            except (msgspec.DecodeError, RecursionError):
                self._take_unusual(raw, seq)
                return
            name = b"%b\n%b\n%b" % (event.s, event.r, event.scope)
            rank = _RANK[bytes(event.source)]
            if name in key_id:
                self._complete()
                self.add(name, FACT, bytes(event.o), rank, bytes(event.by), seq)
                return
            key_id[name] = len(key_id)
            add_name(name)
            add_value(bytes(event.o))
            add_rank(rank)
            add_writer(writer_of(bytes(event.by)))
            add_seq(seq)

        return take

    def _take_unusual(self, raw: bytes, seq: int) -> None:
        """Take in a fact that rests on something, replaces something, or is limited."""
        event = fact_events.read_event("fact", raw)
        assert isinstance(event, fact_events.FactStated)  # of that kind
        self._complete()
        name = b"%b\n%b\n%b" % (event.s, event.r, event.scope or b"null")
        details = self._details(event)
        self.add(name, FACT, bytes(event.o), _RANK[bytes(event.source)], bytes(event.by), seq, details)

    def _complete(self) -> None:
        """Fill the columns up that follow from how many facts were taken in; it gives what `add` would have given."""
        more = len(self.key_name) - len(self.key_item)
        if not more:
            return
        keys, items, rows = (
            array("i", range(start, start + more))
            for start in (len(self.key_item), len(self.item_key), len(self.row_item))
        )
        none = array("i", [-1]) * more
        self.key_item += items
        self.item_key += keys
        self.item_row += rows
        self.item_best += rows
        self.item_before += none
        self.item_ground += array("i", [1]) * more
        self.item_kind += bytes([FACT]) * more
        self.item_bits += bytes([SURE | PRESENT | FIRM]) * more
        self.status += bytes([ACTIVE]) * more
        self.row_item += items
        self.row_before += none
        self.row_bits += bytes([SURE]) * more

    def _take(self, kind: str, raw: bytes, seq: int) -> None:
        self._complete()
        match fact_events.read_event(kind, raw):
            case fact_events.ItemStated() as event:
                name = b"%b\n%b\n%b" % (_text(event.of).encode(), event.body, event.scope or b"null")
                rank = _RANK[bytes(event.source)]
                details = self._details(event)
                self.add(name, _KIND[bytes(event.of)], b"", rank, bytes(event.by), seq, details)
            case fact_events.Resolved() as event:
                name = b"%b\n%b\n%b" % (event.s, event.r, event.scope or b"null")
                details = Details(valid=_interval(event.valid), resolves=True)
                self.add(name, FACT, bytes(event.o), PERSON, bytes(event.by), seq, details)
            case fact_events.Retracted() as event:
                item = self.number(_text(event.id))
                self.retract(item, bytes(event.only_from), seq)
            case fact_events.Forgotten() as event:
                self.forget(bytes(event.writer), seq)
            case fact_events.Flagged() as event:
                self.flag(self._flagged(event), seq)
            case fact_events.FlagEnded() as event:
                self.end_flag(_place(event.flag))
            case fact_events.Ticked() as event:
                self.tick(_count(event.k))
            case fact_events.Promoted() as event:
                self.promote(self.number(_text(event.id)))
            case fact_events.Retired() as event:
                self.retire(self.number(_text(event.id)))
            case event:
                assert_never(event)  # type: ignore[arg-type]  # facts have a way of their own

    def _details(self, event: fact_events.FactStated | fact_events.ItemStated) -> Details | None:
        details = Details(
            tuple(map(self.number, _ids(event.derived_from))) if event.derived_from else (),
            tuple(map(self.number, _ids(event.supersedes))) if event.supersedes else (),
            _interval(event.valid),
            _count(event.reconfirm_after) if event.reconfirm_after else 0,
            bytes(event.trial) == b"true",
        )
        return None if details == Details() else details

    def _flagged(self, event: fact_events.Flagged) -> Iterable[int]:
        if event.ids:
            return map(self.number, _ids(event.ids))
        if event.key:
            key = _key(event.key)
            return self.items_of(self.key_id.get(name_of(bytes(key.s), bytes(key.r), bytes(key.scope)), -1))
        if not event.scope:
            raise UnknownFormat("a flag is about ids, a key or a scope")
        return [item for k in self.keys_in(bytes(event.scope)) for item in self.items_of(k)]
