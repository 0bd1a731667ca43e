"""The events of a store as a format."""

from __future__ import annotations

import msgspec
import pytest

from surefoot import values
from surefoot.errors import UnknownFormat
from surefoot.knowledge.fact_events import FACT_KINDS, FactStated, fact_event_of, read_event
from surefoot.knowledge.store import KnowledgeStore


def test_every_kind_is_written_as_it_is_read() -> None:
    store = KnowledgeStore()
    ids = [store.add("fact", {"s": 1, "r": "is", "o": o}, source="spec", by="Kim", evidence=[o]) for o in "ab"]
    store.add("rule", 1, {"a": 1}, source="outcome", derived_from=ids, valid=(1, 2), reconfirm_after=3, trial=True)
    store.resolve((None, 1, "is"), "a", by="Kim", why="asked")
    store.flag([ids[0]], by="Kim", why="old")
    store.flag(key=(None, 1, "is"))
    store.flag(scope={"a": 1})
    store.end_flag(4, why="new")
    store.tick()
    rule = store.find(kind="rule")[0].id
    store.add("rule", 2, {"a": 1}, source="outcome", supersedes=rule)
    store.retire(rule, by="Kim")
    store.promote(rule)
    store.retract(ids[0], only_from="Kim", by="Kim", why="no")
    store.forget("Kim")
    kinds = set()
    for entry in store.journal.entries():
        event = fact_event_of(entry.kind, entry.raw)
        kinds.add(type(event))
        assert event.encode() == bytes(entry.raw) == values.encode(entry.data)
        assert event.fields == entry.data
    assert kinds == set(FACT_KINDS.values())


def test_what_is_no_event_is_refused() -> None:
    with pytest.raises(UnknownFormat, match="no event of kind 'dance'"):
        fact_event_of("dance", b"{}")
    for raw in (b"", b"[]", b'{"k":1,"j":2}', b"{}", b'{"k":1'):
        with pytest.raises(UnknownFormat, match="not the data of a 'tick' event"):
            fact_event_of("tick", raw)


def test_what_is_nested_deep_is_read() -> None:
    deep = b'{"~l":[' * 2_000 + b"1" + b"]}" * 2_000
    event = read_event("fact", b'{"o":%b,"r":"is","s":1,"source":"spec"}' % deep)
    assert isinstance(event, FactStated)
    assert bytes(event.o) == deep
    for data in (b'{"o":%b}', b'{"o":%b,"r":"is","s":1,"source":"spec","z":1}', b"%b"):
        with pytest.raises(msgspec.DecodeError):
            read_event("fact", data % deep)
