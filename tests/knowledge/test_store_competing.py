"""The quick ways in: they give what working everything out gives, and say when they cannot."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot import open_journal
from surefoot.errors import UnknownFormat
from surefoot.knowledge.items import item_id
from surefoot.knowledge.store import KnowledgeStore
from surefoot.knowledge.store_columns import name_of
from surefoot.knowledge.store_competing import Competing
from surefoot.knowledge.support import settle


def say(store: KnowledgeStore, o: Any, source: str = "spec", s: Any = 1, **more: Any) -> str:
    return store.add("fact", {"s": s, "r": "is", "o": o}, source=source, **more)


def as_worked_out(store: KnowledgeStore) -> bool:
    fold = store.rebuild()._fold
    settle(fold, range(len(fold.key_name)))
    return fold.same_as(store._fold) is None


@pytest.mark.parametrize("valid", [None, (0, 9)])
@pytest.mark.parametrize("source", ["spec", "outcome"])
def test_what_rests_on_the_others_of_a_key_is_noticed(valid: Any, source: str) -> None:
    store = KnowledgeStore()
    a, b = say(store, "a", valid=valid), say(store, "b", valid=valid)
    use = say(store, "use", "verified", s=2, derived_from=[a, b])
    assert (store.get(a).status, store.get(use).status) == ("disputed", "hypothesis")
    say(store, "c", source, valid=valid)
    assert store.get(use).status == ("hypothesis" if source == "spec" else "retracted")
    say(store, "a", "outcome", valid=valid)
    assert store.get(use).status == "retracted"
    say(store, "b", "outcome", valid=valid)
    assert as_worked_out(store)


@pytest.mark.parametrize("valid", [None, (0, 9)])
def test_a_lone_value_that_something_rests_on_may_get_company(valid: Any) -> None:
    store = KnowledgeStore()
    a = say(store, "a", valid=valid)
    use = say(store, "use", "verified", s=2, derived_from=[a])
    say(store, "c", "verified", valid=valid)
    assert (store.usable(use), as_worked_out(store)) == (True, True)
    say(store, "b", valid=valid)
    assert store.get(use).status == "hypothesis"
    say(store, "a", "outcome", valid=valid)
    assert store.usable(use)
    say(store, "b", "outcome", valid=valid)
    assert store.get(use).status == "retracted"
    store.retract(a)
    say(store, "a", "outcome", valid=valid)
    assert store.usable(use)
    say(store, "b", "person", valid=valid, reconfirm_after=1)
    assert as_worked_out(store)


def test_many_values_on_one_key() -> None:
    for source, valid in (("spec", False), ("outcome", False), ("spec", True), ("outcome", True)):
        store = KnowledgeStore()
        for n in range(30):
            say(store, n, source, valid=(n, n + 1) if valid else None)
            say(store, n // 2, "verified", valid=(n, None) if valid else None)
        assert as_worked_out(store)


def test_intervals_that_come_back() -> None:
    store = KnowledgeStore()
    early = say(store, "early", "outcome", valid=(0, 10))
    low = say(store, "low", "spec", valid=(8, 9))
    assert store.get(low).status == "refuted"
    say(store, "high", "outcome", valid=(0, 2))  # refutes early, which no longer keeps low from standing
    assert [store.get(i).status for i in (early, low)] == ["refuted", "active"]
    assert as_worked_out(store)


def test_closing_where_it_lets_others_hold() -> None:
    store = KnowledgeStore()
    a = say(store, "a", "outcome", valid=(0, None))
    low = say(store, "low", "spec", valid=(20, 30))
    say(store, "b", "outcome", valid=(5, 10), supersedes=a)
    assert [item.o for item in store.find(s=1, at=25)] == ["low"]
    assert store.get(low).usable
    c = say(store, "c", "spec", valid=(40, None))
    say(store, "d", "spec", valid=(45, 50))  # in dispute with c
    say(store, "e", "spec", valid=(45, None), supersedes=c)  # closes it before
    assert [item.o for item in store.find(s=1, status="disputed")] == ["d", "e"]
    say(store, "e", "verified", valid=(40, 41))
    say(store, "f", "spec", valid=(60, None), supersedes=store.find(o="e")[0].id)
    assert as_worked_out(store)


def test_no_entry_makes_an_item_rest_on_itself_or_replace_what_it_has_nothing_to_do_with() -> None:
    body = {"s": 1, "r": "is", "o": 1}
    other = {"s": 2, "r": "is", "o": 1}
    for word, problem in (("derived_from", "rests on itself"), ("supersedes", "no other value of its key")):
        journal = open_journal()
        store = KnowledgeStore(journal=journal)
        store.add("fact", body, source="spec")
        store.add("fact", other, source="spec")
        id_ = item_id("fact", body)
        data = (body if word == "derived_from" else other) | {"source": "spec", word: (id_,)}
        journal.append("fact", data, stream="facts")
        with pytest.raises(UnknownFormat, match=f"entry 2 cannot be read: .*{problem}"):
            store.find()


def test_rows_are_numbered() -> None:
    fold = Competing()
    name = name_of(b"1", b'"is"', b"null")
    assert [fold.add(name, 0, value, 2, b"", n) for n, value in enumerate((b"1", b"1", b"2"))] == [0, 1, 2]
    assert (fold.rows_of(0), fold.items_of(0), fold.item_with(0, b"2"), fold.item_with(0, b"3")) == (
        [1, 0],
        [1, 0],
        1,
        -1,
    )
