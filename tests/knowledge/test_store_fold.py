"""Entries in: many at once or one by one, and nothing that is no entry."""

from __future__ import annotations

import random
from typing import Any

import pytest

from surefoot import open_journal
from surefoot.errors import UnknownFormat
from surefoot.knowledge.store import KnowledgeStore
from surefoot.knowledge.store_fold import StoreFold


def test_many_at_once_are_what_one_by_one_gives() -> None:
    rng = random.Random(3)
    store = KnowledgeStore()
    for n in range(300):
        by = rng.choice([None, "a", "b"])
        store.add("fact", {"s": rng.randrange(200), "r": "is", "o": rng.randrange(2)}, source="spec", by=by)
        if n % 50 == 49:
            store.add("rule", n, source="spec")
    one_by_one, at_once = StoreFold(), StoreFold()
    for entry in store.journal.entries():
        one_by_one.takers()[entry.kind](bytes(entry.raw), entry.seq)
        one_by_one.check_new()
        at_once.takers()[entry.kind](bytes(entry.raw), entry.seq)
    at_once.check_new()
    assert one_by_one.same_as(at_once) is None
    assert one_by_one.same_as(store._fold) is None
    assert one_by_one.key_id == at_once.key_id == store._fold.key_id


FACT = {"s": 1, "r": "is", "o": 1}
BAD: list[tuple[str, dict[str, Any]]] = [
    ("fact", {"s": 1}),
    ("fact", {**FACT, "source": "gossip"}),
    ("fact", {**FACT, "source": "spec", "more": 1}),
    ("fact", {**FACT, "source": "spec", "valid": ("a", 1)}),
    ("fact", {**FACT, "source": "spec", "valid": (1, 2, 3)}),
    ("fact", {**FACT, "source": "spec", "reconfirm_after": 0}),
    ("fact", {**FACT, "source": "spec", "derived_from": ("ab",)}),
    ("fact", {**FACT, "source": "spec", "derived_from": 7}),
    ("item", {"of": "rumour", "body": 1, "source": "spec"}),
    ("item", {"of": 7, "body": 1, "source": "spec"}),
    ("retract", {"id": 7}),
    ("retract", {"id": "ab"}),
    ("flag", {"why": "nothing"}),
    ("flag", {"ids": ("ab",)}),
    ("flag", {"key": {"s": 1}}),
    ("end_flag", {"flag": 3}),
    ("tick", {"k": 0}),
    ("tick", {"k": 1.5}),
    ("promote", {"id": "ab"}),
    ("retire", {}),
]


@pytest.mark.parametrize(("kind", "data"), BAD)
def test_what_no_gate_of_ours_wrote_is_refused(kind: str, data: dict[str, Any]) -> None:
    journal = open_journal()
    store = KnowledgeStore(journal=journal)
    store.add("rule", 1, source="spec")
    journal.append(kind, data, stream="facts")
    with pytest.raises(UnknownFormat, match="entry 1 cannot be read"):
        store.find()
    with pytest.raises(UnknownFormat, match="entry 1 cannot be read"):
        KnowledgeStore(journal=journal)


def test_fields_that_say_nothing_change_nothing() -> None:
    journal = open_journal()
    journal.append("fact", {**FACT, "source": "spec", "trial": False, "valid": (None, None)}, stream="facts")
    store = KnowledgeStore(journal=journal)
    assert store.find()[0].usable
    assert not store._fold.dated
