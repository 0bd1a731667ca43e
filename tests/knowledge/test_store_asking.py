"""Questions to a store."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import BadArgument, UnknownItem
from surefoot.knowledge.store import KnowledgeStore
from surefoot.knowledge.store_asking import moment


@pytest.fixture(scope="module")
def full() -> KnowledgeStore:
    rng = random.Random(7)
    store = KnowledgeStore()
    for _ in range(150):
        scope = rng.choice([None, "shop", ("shop", 1)])
        source = rng.choice(["spec", "outcome", "person"])
        body = {"s": rng.choice([1, True, "1", "a"]), "r": rng.choice(["is", "has"]), "o": rng.choice([1, 1.0, "1"])}
        store.add("fact", body, scope, source=source)
        store.add(rng.choice(["rule", "skill"]), rng.randrange(20), scope, source=source)
    return store


maybe = st.just(...)


@given(
    st.none() | st.sampled_from(["fact", "rule", "episode"]),
    maybe | st.sampled_from([1, True, "1", "a", "z"]),
    maybe | st.sampled_from(["is", "has", "was"]),
    maybe | st.sampled_from([1, 1.0, "1", 2]),
    maybe | st.sampled_from([None, "shop", ("shop", 1), "z"]),
    st.none() | st.sampled_from(["active", "refuted", "disputed", "expired"]),
)
def test_find_is_a_filter(
    full: KnowledgeStore, kind: str | None, s: Any, r: Any, o: Any, scope: Any, status: str | None
) -> None:
    def wanted(item: Any) -> bool:
        asked = {"s": s, "r": r, "o": o, "scope": scope}
        parts = all(v is ... or (type(getattr(item, n)), getattr(item, n)) == (type(v), v) for n, v in asked.items())
        factual = item.kind == "fact" or (s is ... and r is ... and o is ...)
        return parts and factual and kind in (None, item.kind) and status in (None, item.status)

    assert full.find(kind=kind, s=s, r=r, o=o, scope=scope, status=status) == [i for i in full if wanted(i)]


def test_ids_may_be_cut_where_that_is_clear() -> None:
    store = KnowledgeStore()
    ids = [store.add("rule", n, source="spec") for n in range(40)]
    for id_ in ids:
        length = next(n for n in range(1, 65) if sum(i.startswith(id_[:n]) for i in ids) == 1)
        assert store.get(id_[:length]).id == id_
        assert id_[:length] in store
        if length > 1:
            with pytest.raises(BadArgument, match=f"several items begin with '{id_[: length - 1]}'"):
                store.get(id_[: length - 1])
    late = store.add("rule", 41, source="spec")
    assert store.get(late[:12]).id == late
    assert ("0" * 64 in store, "" in store, 7 in store) == (False, False, False)
    with pytest.raises(UnknownItem, match="there is no item '000000'"):
        store.get("000000")


def test_a_store_is_a_collection() -> None:
    store = KnowledgeStore()
    assert (len(store), list(store), bool(store), store.questions()) == (0, [], True, [])
    id_ = store.add("rule", 1, source="spec")
    assert (len(store), [item.id for item in store], id_ in store) == (1, [id_], True)
    assert repr(store) == "<KnowledgeStore in memory: 1 items>"


def test_snapshot_says_what_may_be_relied_on_and_what_it_rests_on() -> None:
    store = KnowledgeStore()
    base = store.add("fact", {"s": "base", "r": "is", "o": 1}, source="person")
    mid = store.add("rule", 1, source="verified", derived_from=[base])
    top = store.add("fact", {"s": "a", "r": "is", "o": 1}, source="verified", derived_from=[mid, base])
    weak = store.add("fact", {"s": "a", "r": "has", "o": 1}, source="verified", trial=True)
    store.add("fact", {"s": "a", "r": "was", "o": 1}, "shop", source="outcome", valid=(1, 3), derived_from=[mid])
    old = store.add("fact", {"s": "b", "r": "is", "o": 1}, source="spec")
    store.add("fact", {"s": "b", "r": "is", "o": 2}, source="outcome")
    shot = store.snapshot(about=["a", "a"], scope=None)
    assert [fact["id"] for fact in shot["facts"]] == [top]
    assert [fact["id"] for fact in shot["doubtful"]] == [weak]
    assert shot["rests_on"] == [base, mid]
    assert (shot["about"], shot["at"], shot["ticks"], shot["head"]) == (["a", "a"], None, 0, str(store.head))
    assert len(store.snapshot(about={"a"}, at=2)["facts"]) == 2
    assert len(store.snapshot(about={"a"}, at=3)["facts"]) == 1
    every = store.snapshot()
    assert every["about"] is None
    assert old not in [fact["id"] for fact in every["facts"] + every["doubtful"]]
    assert KnowledgeStore().snapshot()["head"] == str(KnowledgeStore().head)


def test_moments() -> None:
    assert [moment(at, "at") for at in (None, 3, 2.5)] == [None, 3, 2.5]
    for at in (True, "1", float("inf"), float("nan")):
        with pytest.raises(BadArgument, match="at must be a finite number or None"):
            moment(at, "at")
