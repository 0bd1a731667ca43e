"""What rests on what: components in order, each settled once."""

from __future__ import annotations

import random
from typing import Any

import networkx as nx
import pytest

from surefoot.knowledge import store_rules
from surefoot.knowledge.store import KnowledgeStore
from surefoot.knowledge.store_columns import Columns
from surefoot.knowledge.support import components, settle, successors


def watched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each key is added that is worked out."""
    judged: list[int] = []

    def judge(fold: Columns, k: int) -> None:
        judged.append(k)
        store_rules.judge(fold, k)

    monkeypatch.setattr("surefoot.knowledge.support.judge", judge)
    return judged


def say(store: KnowledgeStore, s: Any, o: Any = 1, source: str = "spec", **more: Any) -> str:
    return store.add("fact", {"s": s, "r": "is", "o": o}, source=source, **more)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.untraced
def test_components_are_those_of_networkx_in_topological_order(seed: int) -> None:
    rng = random.Random(seed)
    store = KnowledgeStore()
    ids: list[str] = []
    for n in range(60):
        s = rng.randrange(max(1, n - 3), n + 2) if rng.random() < 0.7 else rng.randrange(n + 1)
        rests_on = [i for i in rng.sample(ids, min(len(ids), 2)) if rng.random() < 0.8]
        try:
            ids.append(say(store, s, rng.randrange(2), derived_from=rests_on))
        except ValueError:
            continue  # it would rest on itself
    fold = store._fold
    graph: nx.DiGraph[int] = nx.DiGraph()
    seeds = rng.sample(range(len(fold.key_name)), 3)
    graph.add_nodes_from(seeds)
    todo, fixed = list(seeds), set()
    while todo:
        k = todo.pop()
        if k not in seeds and fold.is_anchored(k):
            fixed.add(k)
            continue
        for other in successors(fold, k):
            if other not in graph:
                todo.append(other)
            graph.add_edge(k, other)
    found = components(fold, seeds)
    assert {frozenset(keys) for keys, _ in found} == {frozenset(c) for c in nx.strongly_connected_components(graph)}
    place = {k: n for n, (keys, _) in enumerate(found) for k in keys}
    assert all(place[a] <= place[b] for a, b in graph.edges)
    assert all(circular is (len(keys) > 1 or graph.has_edge(keys[0], keys[0])) for keys, circular in found)


def test_each_key_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    store = KnowledgeStore()
    root = say(store, "root")
    left = right = root
    for n in range(30):  # a ladder of diamonds: 2**30 ways down, 61 keys
        rests_on = [left, right]
        left, right = say(store, ("l", n), derived_from=rests_on), say(store, ("r", n), derived_from=rests_on)
    judged = watched(monkeypatch)
    store.retract(root)
    assert sorted(judged) == list(range(61))
    assert store.stats()["retracted"] == 61


def test_what_comes_out_as_it_was_stops_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    store = KnowledgeStore()
    root = say(store, "root")
    spare = say(store, "spare")
    mid = say(store, "mid", derived_from=[root])
    say(store, "mid", derived_from=[spare])
    last = mid
    for n in range(20):
        last = say(store, n, derived_from=[last])
    judged = watched(monkeypatch)
    store.retract(root)
    assert len(judged) == 2  # the root and mid, which still rests on the spare
    assert store.usable(last)
    judged.clear()
    say(store, "mid", source="outcome")
    store.retract(spare)
    assert len(judged) == 2  # mid holds on its own now
    assert store.usable(last)


def test_a_circle_with_a_way_in_holds_as_long_as_the_way_does() -> None:
    store = KnowledgeStore()
    one, two = say(store, "one"), say(store, "two")
    ring = [say(store, 0, derived_from=[one])]
    for n in range(1, 50):
        ring.append(say(store, n, derived_from=[ring[-1]]))
    say(store, 0, derived_from=[ring[-1]])
    say(store, 25, derived_from=[two])
    assert store.retract(one) == {one: ("active", "retracted")}
    assert store.flag([two]) > 0
    assert {store.get(id_).status for id_ in ring} == {"hypothesis"}
    store.end_flag(len(store.journal) - 1)
    assert len(store.retract(two)) == 51


def test_overruled_in_a_circle() -> None:
    store = KnowledgeStore()
    a = say(store, 1, "a")
    b = say(store, 1, "b", derived_from=[a])  # on one key: in dispute with what it rests on
    assert [store.get(i).status for i in (a, b)] == ["disputed", "disputed"]
    store.resolve((None, 1, "is"), "a", by="Kim")
    assert [store.get(i).status for i in (a, b)] == ["active", "refuted"]
    store.add("rule", 1, source="spec", derived_from=[a])
    settle(store._fold, range(2))
    assert store.verify()


def test_what_is_overruled_supersedes_nothing() -> None:
    store = KnowledgeStore()
    base = say(store, "base")
    old = say(store, 1, "old")
    mid = say(store, 2, derived_from=[old])
    say(store, 2, derived_from=[base])
    new = say(store, 1, "new", derived_from=[mid])
    store.add("fact", {"s": 1, "r": "is", "o": "new"}, source="spec", derived_from=[mid], supersedes=[old])
    store.add("fact", {"s": 1, "r": "is", "o": "third"}, source="spec")
    assert [item.status for item in store.find(s=1)] == ["refuted", "disputed", "disputed"]
    store.resolve((None, 1, "is"), "old", by="Kim")
    store.retract(base)
    assert [store.get(i).status for i in (old, mid, new)] == ["active", "active", "refuted"]
    assert store.verify()


def test_superseding_in_a_circle() -> None:
    store = KnowledgeStore()
    base = store.add("rule", "base", source="spec")
    old = store.add("rule", "old", source="spec")
    mid = store.add("rule", "mid", source="spec", derived_from=[old])
    store.add("rule", "mid", source="spec", derived_from=[base])
    new = store.add("rule", "new", source="spec", derived_from=[mid], supersedes=[old])
    assert [store.get(i).status for i in (old, mid, new)] == ["refuted", "active", "active"]
    store.retract(base)
    assert [store.get(i).status for i in (old, mid, new)] == ["disputed"] * 3
    assert store.questions() == []  # they are no facts: somebody has to state or to retract one of them
    store.add("rule", "old", source="spec")
    assert [store.get(i).status for i in (old, mid, new)] == ["active", "active", "active"]
    assert store.verify()
