"""Columns, ids and spelling."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from surefoot import Journal, open_journal, values
from surefoot.errors import UnknownFormat, UnknownItem, ValueRejected
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.journal.chain import GENESIS, label_of, link
from surefoot.knowledge.items import item_id
from surefoot.knowledge.store import KnowledgeStore
from surefoot.knowledge.store_columns import require_canonical

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from(["a", "b", "~", "~l", "é", "1e5"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(plain, max_size=8))
@example([1e22, 1e-7, 0.00001, 2**53, -(2**53), 10**20, "1234567890123456", {"~i": 1}, -0.0, 1e16])
def test_what_a_gate_of_ours_wrote_is_canonical(given_values: list[Any]) -> None:
    parts = [values.encode(value) for value in given_values]
    require_canonical(parts)
    require_canonical([b"\n".join(parts)] if parts else [])


@pytest.mark.parametrize(
    "part",
    [
        b"1.00",
        b"1e5",
        b"0.00001",
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b"12345678901234567890",
        b'{"~x":1}',
        b'{"~i":"0x1"}',
        b"[1, 2]",
        b'"\\u0061"',
        b"-0",
        b"[",
        b"",
        b'{"~l":[' * 2_000 + b"1.0e1" + b"]}" * 2_000,
    ],
)
def test_another_spelling_is_refused(part: bytes) -> None:
    with pytest.raises(ValueRejected):
        require_canonical([b"1", part, b'"x"'])
    with pytest.raises(ValueRejected):
        require_canonical([b'"x"\n' + part])


def test_a_journal_with_another_spelling_is_refused() -> None:
    for kind, data in (
        ("fact", b'{"o":1.00,"r":"is","s":1,"source":"spec"}'),
        ("fact", b'{"o":1,"r":"is","s":[1, 2],"source":"spec"}'),
        ("item", b'{"body":{"b":1,"a":2},"of":"rule","source":"spec"}'),
    ):
        line, _ = link(0, label_of("facts", kind), data, GENESIS.encode())
        with pytest.raises(UnknownFormat, match=r"one of the entries 0\.\.0 cannot be read: .* should read"):
            KnowledgeStore(journal=Journal(MemoryBackend([line])))


def test_subjects_that_look_like_kinds_are_told_apart() -> None:
    store = KnowledgeStore()
    fact = store.add("fact", {"s": "rule", "r": "x", "o": 1}, source="spec")
    falsity = store.add("fact", {"s": False, "r": "x", "o": "\n"}, source="spec")
    rules = [store.add(kind, "x", source="spec") for kind in ("rule", "action", "skill", "episode")]
    again = store.rebuild()
    assert [item.id for item in again] == [fact, falsity, *rules]
    assert [item.id for item in again] == [item_id(item.kind, item.body, item.scope) for item in again]
    assert again.find(s=False)[0].o == "\n"


def test_ids_are_listed_as_they_are_needed() -> None:
    store = KnowledgeStore()
    ids = [store.add("rule", n, source="spec") for n in range(3)]
    fold = store.rebuild()._fold
    assert (fold.id_of(1), fold.number(ids[2]), fold.id_of(0)) == (ids[1], 2, ids[0])
    with pytest.raises(UnknownItem, match="there is no item 'ab'"):
        fold.number("ab")
    journal = open_journal()
    journal.append("retract", {"id": "ab"}, stream="facts")
    with pytest.raises(UnknownFormat, match="entry 0 cannot be read: there is no item 'ab'"):
        KnowledgeStore(journal=journal)


def test_same_as_names_the_column() -> None:
    store = KnowledgeStore()
    store.add("rule", 1, source="spec")
    store._fold.status[0] = 3
    assert store.verify().problem == "the store in memory differs from its journal in: status"
