"""Finding in the time of the answer."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot.knowledge.store import KnowledgeStore
from surefoot.knowledge.store_index import Index, Wanted


class Counting(Index):
    """An index that counts what it looks at."""

    looked = 0

    def _fits(self, item: int, wanted: Wanted) -> bool:
        self.looked += 1
        return super()._fits(item, wanted)


@pytest.fixture(scope="module")
def store() -> KnowledgeStore:
    made = KnowledgeStore()
    for n in range(400):
        made.add("fact", {"s": n, "r": "is", "o": n % 100}, n % 50, source="spec")
        made.add("fact", {"s": "hub", "r": f"r{n}", "o": n}, source="spec")
    made.add("fact", {"s": 7, "r": "is", "o": "other"}, 7, source="outcome")
    made.add("rule", 1, 7, source="spec")
    return made


@pytest.mark.parametrize(
    ("asked", "most", "count"),
    [
        ({"s": b"3"}, 1, 1),
        ({"s": b'"hub"', "r": b'"r7"'}, 1, 1),
        ({"s": b"3", "r": b'"is"', "scope": b"3"}, 1, 1),
        ({"s": b"3", "r": b'"is"', "scope": b"9"}, 0, 0),
        ({"r": b'"is"', "scope": b"7"}, 10, 9),
        ({"r": b'"r7"', "scope": b"null"}, 1, 1),
        ({"r": b'"is"', "o": b'"other"'}, 1, 1),
        ({"s": b'"hub"', "o": b'"other"'}, 1, 0),
        ({"r": b'"r9"', "o": b"9"}, 1, 1),
        ({"scope": b"7"}, 10, 10),
        ({"status": 3}, 1, 1),
        ({"kind": 1}, 1, 1),
        ({"kind": 0, "status": 3}, 1, 1),
        ({"kind": 1, "status": 0}, 1, 1),
        ({"kind": 1, "s": b"3"}, 0, 0),
        ({"kind": 1, "scope": b"7"}, 10, 1),
        ({"s": b"7", "o": b'"other"', "kind": 0, "status": 0}, 2, 1),
    ],
)
def test_the_shortest_list_is_looked_through(
    store: KnowledgeStore, asked: dict[str, Any], most: int, count: int
) -> None:
    index = Counting(store._fold)
    assert len(index.find(Wanted(**asked))) == count
    assert index.looked <= most
    assert len(index.find(Wanted(**asked))) == count


def test_an_index_reads_what_is_new() -> None:
    made = KnowledgeStore()
    found = []
    for n in range(5):
        made.add("fact", {"s": "x", "r": f"r{n}", "o": 1}, source="spec")
        found.append((len(made.find(s="x")), len(made.find(o=1)), len(made.find(r="r1")), len(made.find(scope=None))))
    assert found == [(1, 1, 0, 1), (2, 2, 1, 2), (3, 3, 1, 3), (4, 4, 1, 4), (5, 5, 1, 5)]
    lagging = KnowledgeStore(journal=made.journal)
    made.add("fact", {"s": "x", "r": "last", "o": 1}, source="spec")
    assert len(lagging.find(s="x")) == 6
