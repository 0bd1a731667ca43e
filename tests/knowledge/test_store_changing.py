"""Taking back, doubting, ageing: what each call says it changed."""

from __future__ import annotations

from surefoot.knowledge.store import KnowledgeStore


def test_each_change_says_what_it_changed() -> None:
    store = KnowledgeStore()
    a = store.add("fact", {"s": 1, "r": "is", "o": "a"}, source="spec", by="Kim", reconfirm_after=4)
    b = store.add("rule", "b", source="verified", derived_from=[a])
    flag = store.flag([a, a[:10]])
    assert store.end_flag(flag) == {a: ("hypothesis", "active"), b: ("hypothesis", "active")}
    assert store.tick(4) == {a: ("active", "expired"), b: ("active", "hypothesis")}
    assert store.retire(a) == {}  # expired already, for another reason
    assert store.promote(a) == {}
    assert store.add("fact", {"s": 1, "r": "is", "o": "a"}, source="spec", by="Lee") == a
    assert (store.get(a).status, store.get(b).status) == ("active", "active")
    assert store.retract(a, only_from="Lee") == {a: ("active", "expired"), b: ("active", "hypothesis")}
    assert store.forget("Kim") == {a: ("expired", "retracted"), b: ("hypothesis", "retracted")}


def test_what_changes_nothing_is_no_entry() -> None:
    store = KnowledgeStore()
    a = store.add("rule", "a", source="spec", by="Kim")
    store.promote(a)
    store.retract(a)
    store.retract(a)
    store.forget("Kim")
    assert [entry.kind for entry in store.journal.entries()] == ["item", "retract"]


def test_who_and_why_are_kept() -> None:
    store = KnowledgeStore()
    a = store.add("rule", "a", source="spec")
    store.retire(a, by="Kim", why={"ticket": 7})
    assert next(store.journal.entries(1)).data == {"by": "Kim", "id": a, "why": {"ticket": 7}}
