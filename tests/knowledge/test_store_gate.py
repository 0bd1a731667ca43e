"""What is let in, and how it is written."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.knowledge import store_gate as gate
from surefoot.knowledge.items import item_id
from surefoot.knowledge.store import KnowledgeStore


@pytest.mark.parametrize("scope", [None, "shop", {"a": 1}])
def test_contents_have_the_ids_of_their_encoding(scope: Any) -> None:
    body = {"s": (1, "x"), "r": "is", "o": [1.5]}
    content = gate.content_of("fact", body, scope)
    assert content.id == item_id("fact", body, scope) == values.digest(("fact", body, scope))
    assert gate.content_of("skill", body, scope).id == item_id("skill", body, scope)
    assert (b"scope" in content.fields) is (scope is not None)


def test_an_entry_is_what_values_would_write() -> None:
    store = KnowledgeStore()
    base = store.add("rule", 1, source="spec")
    old = store.add("rule", 2, source="spec")
    store.add("rule", {"b": 1, "a": 2}, "x", source="outcome", by="é", evidence={"z": [1]}, derived_from=[base, base],
              supersedes=(old,), valid=(None, 2**60), reconfirm_after=3, trial=True)  # fmt: skip
    (entry,) = store.journal.entries(2)
    assert entry.data == {
        "body": {"a": 2, "b": 1},
        "by": "é",
        "derived_from": (base,),
        "evidence": {"z": [1]},
        "of": "rule",
        "reconfirm_after": 3,
        "scope": "x",
        "source": "outcome",
        "supersedes": (old,),
        "trial": True,
        "valid": (None, 2**60),
    }
    assert bytes(entry.raw) == values.encode(entry.data)
    assert store.rebuild().find(scope="x")[0].valid == ((None, 2**60),)


def test_an_interval_that_is_open_on_both_sides_is_none() -> None:
    store = KnowledgeStore()
    store.add("rule", 1, source="spec", valid=(None, None))
    assert next(store.journal.entries()).data == {"body": 1, "of": "rule", "source": "spec"}


def test_the_hull_of_intervals() -> None:
    store = KnowledgeStore()
    for valid in ((1, 2), (4, 9)):
        store.add("rule", 1, source="spec", valid=valid)
    store.add("rule", 2, source="spec", valid=(1, 2))
    store.add("rule", 2, source="spec")
    assert [gate.hull(store._fold, item) for item in (0, 1)] == [(1, 9), None]


def test_arguments() -> None:
    assert gate.ids_of((), "ids") == gate.ids_of([], "ids") == ()
    assert gate.ids_of({"ab": 1}.keys(), "ids") == ("ab",)
    for ids in (b"ab", {"ab": 1}, 7, [7]):
        with pytest.raises(BadArgument, match="ids must be an id or a collection of ids"):
            gate.ids_of(ids, "ids")  # type: ignore[arg-type]  # wrong on purpose
    for key in ((1, 2), [None, 1, "r"], (None, 1, 2), "key"):
        with pytest.raises(BadArgument, match="a key is"):
            gate.key_of(key)  # type: ignore[arg-type]  # wrong on purpose
    assert gate.about("Kim", 0) == {b"by": b'"Kim"', b"why": b"0"}
    assert gate.about(None, None) == {}
    with pytest.raises(BadArgument, match="k must be an int >= 1"):
        gate.at_least_one(2**53, "k")
