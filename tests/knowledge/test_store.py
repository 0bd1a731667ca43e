"""The store against a naive twin: a list of statements, and their meaning worked out from the definition each time."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Journal, open_journal, values
from surefoot.errors import (
    AppendFailed,
    BadArgument,
    BrokenChain,
    SurefootError,
    UnknownFormat,
    UnknownItem,
    ValueRejected,
)
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.knowledge.items import SOURCES, Interval, item_id
from surefoot.knowledge.store import KnowledgeStore
from surefoot.knowledge.support import settle

# -- the twin ----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Said:
    """One statement."""

    at: int
    item: str
    key: bytes
    rank: int
    by: str | None
    premises: frozenset[str] = frozenset()
    replaces: frozenset[str] = frozenset()
    valid: Interval = (None, None)
    fades: float = inf
    trial: bool = False
    resolves: bool = False


Some = set[Said]


class Twin:
    """The definition: no index, no number, no cache; every question works out everything again."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.keys: dict[str, bytes] = {}
        self.flags: dict[int, tuple[int, set[str]]] = {}
        self.promoted: set[str] = set()
        self.retired: set[str] = set()
        self.clock = self.count = 0

    def add(self, item: str, key: bytes, rank: int, by: str | None, **more: Any) -> None:
        self.keys.setdefault(item, key)
        self.said.append(Said(self.count, item, key, rank, by, **more))
        self.count += 1

    def take_back(self, which: Callable[[Said], bool]) -> None:
        self.said = [s for s in self.said if not which(s)]

    def begin(self, s: Said) -> float:
        return -inf if s.valid[0] is None else s.valid[0]

    def closes(self, a: Said, b: Said) -> bool:
        later = b.item in a.replaces and a.at > b.at and a.rank >= b.rank
        return later and not a.premises and self.begin(a) > self.begin(b)

    def end(self, s: Said) -> float:
        return inf if s.valid[1] is None else s.valid[1]

    def span(self, b: Said) -> tuple[float, float]:
        return self.begin(b), min([self.end(b), *(self.begin(a) for a in self.said if self.closes(a, b))])

    def overlap(self, a: Said, b: Said) -> bool:
        return max(self.span(a)[0], self.span(b)[0]) < min(self.span(a)[1], self.span(b)[1])

    def compete(self, a: Said, b: Said) -> bool:
        return a.key == b.key and a.item != b.item and self.overlap(a, b)

    def beats(self, a: Said, b: Said) -> bool:
        return self.compete(a, b) and (a.rank > b.rank or (a.rank == b.rank == 3 and a.at > b.at))

    def replaces(self, a: Said, b: Said) -> bool:
        older = b.item in a.replaces and a.at > b.at and a.rank >= b.rank
        stated = max(self.begin(a), self.begin(b)) < min(self.end(a), self.end(b))
        return older and stated and not self.closes(a, b)

    def overruled(self) -> Some:
        answers = [a for a in self.said if a.resolves]
        return {b for b in self.said for a in answers if a.at > b.at and self.compete(a, b)}

    def least(self, alive: Some, standing: Some) -> tuple[Some, Some]:
        """Return what is alive, and what of it stands, when only these are assumed to replace and to beat."""
        over = self.overruled()
        free = {
            b
            for b in self.said
            if b not in over
            and not any(self.beats(a, b) for a in standing)
            and not any(self.replaces(a, b) for a in alive - over)
        }
        found: Some = set()
        while True:
            held = {s.item for s in found & free}
            more = {s for s in self.said if s.premises <= held}
            if more == found:
                return found, found & free
            found = more

    def model(self) -> tuple[Some, Some, Some, Some]:
        """Return the well-founded model: alive and standing for sure, alive and standing perhaps."""
        sure: tuple[Some, Some] = set(), set()
        while True:
            likely = self.least(*sure)
            surer = self.least(*likely)
            if surer == sure:
                return *sure, *likely
            sure = surer

    def stale(self, item: str, alive: Some) -> bool:
        mine = [s for s in alive if s.item == item]
        return any(
            item in items and any(s.at < when for s in mine) and not any(s.at >= when and s.rank >= 2 for s in mine)
            for when, items in self.flags.values()
        )

    def statuses(self) -> dict[str, str]:
        alive, standing, likely, perhaps = self.model()
        found: dict[str, str] = {}
        for item in self.keys:
            holds, may = (any(s.item == item for s in some) for some in (standing, perhaps))
            if may and not holds:
                found[item] = "disputed"
            elif not holds:
                found[item] = "refuted" if any(s.item == item for s in likely) else "retracted"
            elif any(a.item == item and self.compete(a, b) for a in perhaps for b in perhaps):
                found[item] = "disputed"
            elif item in self.retired or all(s.fades <= self.clock for s in alive if s.item == item):
                found[item] = "expired"
            else:
                found[item] = "hypothesis"
        able = {i for i, status in found.items() if status == "hypothesis" and not self.stale(i, alive)}
        active: set[str] = set()
        while True:
            more = {
                s.item
                for s in alive
                if s.item in able and s.premises <= active and (not s.trial or s.item in self.promoted)
            }
            if more == active:
                return found | dict.fromkeys(active, "active")
            active = more

    def stated_at(self, item: str, at: float) -> bool:
        return any(s.item == item and self.span(s)[0] <= at < self.span(s)[1] for s in self.model()[1])

    def questions(self) -> set[bytes]:
        alive = self.model()[2]
        disputed = {self.keys[item] for item, status in self.statuses().items() if status == "disputed"}
        return {key for key in disputed if len({s.item for s in alive if s.key == key}) > 1}


# -- histories ---------------------------------------------------------------------------------------------------------

VALUES = [0, 1, True, 1.0, "1"]
BY = [None, "x", "y"]
small = st.integers(0, 5)
statement_st = st.tuples(
    st.just("add"),
    st.tuples(st.sampled_from([0, 0, 0, 1, 2, 3]), st.sampled_from(VALUES), st.sampled_from([None, None, "S"])),
    st.sampled_from([*SOURCES, "outcome"]),
    st.sampled_from(BY),
    st.lists(small, max_size=2),
    st.lists(small, max_size=1),
    st.sampled_from([None, None, (0, 2), (1, None), (None, 2.5), (2, 3), (1, 3)]),
    st.sampled_from([None, None, None, 1, 3]),
    st.sampled_from([False, False, False, True]),
)
op_st = st.one_of(
    statement_st,
    statement_st,
    statement_st,
    st.tuples(st.just("retract"), small, st.sampled_from(BY)),
    st.tuples(st.just("forget"), st.sampled_from(["x", "y"])),
    st.tuples(st.just("flag"), st.sampled_from(["ids", "scope", "key"]), small),
    st.tuples(st.just("end_flag"), small),
    st.tuples(st.just("tick"), st.integers(1, 2)),
    st.tuples(st.sampled_from(["promote", "retire"]), small),
    st.tuples(st.just("resolve"), small, small),
)
Op = tuple[Any, ...]


class Pair:
    """A store and its twin, led through one history."""

    def __init__(self, wild: bool) -> None:
        self.store, self.twin = KnowledgeStore(), Twin()
        self.ids: list[str] = []
        self.wild = wild

    def do(self, op: Op) -> None:
        before = list(self.store.journal.lines())
        try:
            getattr(self, op[0])(*op[1:])
        except (BadArgument, UnknownItem):
            assert list(self.store.journal.lines()) == before

    def pick(self, some: Sequence[int], among: Sequence[str]) -> list[str]:
        return [among[n % len(among)] for n in some if among]

    def add(
        self,
        what: tuple[int, Any, Any],
        source: str,
        by: str | None,
        premises: list[int],
        replaces: list[int],
        valid: Interval | None,
        after: int | None,
        trial: bool,
    ) -> None:
        s, o, scope = what
        kind, body = ("rule", o) if s == 3 else ("fact", {"s": s, "r": "is", "o": o})
        id_ = item_id(kind, body, scope)
        key = values.encode(id_ if s == 3 else (scope, s, "is"))
        rests_on = self.pick(premises, self.ids)
        rivals = [i for i in self.ids if self.twin.keys[i] == key or (s == 3 and self.store.get(i).kind == "rule")]
        more = self.pick(replaces, rivals)
        given: dict[str, Any] = {
            "source": source,
            "by": by,
            "valid": valid,
            "reconfirm_after": after,
            "trial": trial or None,
        }
        if self.wild:  # what no gate of ours would let in
            if id_ in (*rests_on, *more):
                return
            data = {"of": kind, "body": body} if s == 3 else dict(body)
            data |= {
                "scope": scope,
                "derived_from": tuple(rests_on) or None,
                "supersedes": tuple(more) or None,
                **given,
            }
            kept = {name: value for name, value in data.items() if value is not None or name == "o"}
            self.store.journal.append("item" if s == 3 else "fact", kept, stream="facts")
        else:
            given["trial"] = trial
            assert self.store.add(kind, body, scope, derived_from=rests_on, supersedes=more, **given) == id_
        if id_ not in self.ids:
            self.ids.append(id_)
        fades = inf if after is None else self.twin.clock + after
        links = {"premises": frozenset(rests_on), "replaces": frozenset(more)}
        more_ = {"valid": valid or (None, None), "fades": fades, "trial": trial}
        self.twin.add(id_, key, SOURCES.index(source), by, **links, **more_)

    def retract(self, n: int, by: str | None) -> None:
        for id_ in self.pick([n], self.ids):
            was = self.twin.statuses()
            changed = self.store.retract(id_, only_from=by)
            self.twin.take_back(lambda s, id_=id_: s.item == id_ and by in (None, s.by))  # type: ignore[misc]  # its argument is a default
            now = self.twin.statuses()
            assert changed == {i: (was[i], now[i]) for i in now if was[i] != now[i]}

    def forget(self, by: str) -> None:
        self.store.forget(by)
        self.twin.take_back(lambda s: s.by == by)

    def flag(self, how: str, n: int) -> None:
        key = (None, n % 3, "is")
        scope = "S" if n % 2 else None
        if how == "ids":
            items = set(self.pick([n, n + 1], self.ids))
            flag = self.store.flag(items)
        elif how == "scope":
            items = {i for i in self.ids if self.store.get(i).scope == scope}
            flag = self.store.flag(scope=scope)
        else:
            items = {i for i in self.ids if self.twin.keys[i] == values.encode(key)}
            flag = self.store.flag(key=key)
        self.twin.flags[flag] = self.twin.count, items

    def end_flag(self, n: int) -> None:
        for flag in sorted(self.twin.flags)[n : n + 1]:
            self.store.end_flag(flag)
            del self.twin.flags[flag]

    def tick(self, k: int) -> None:
        self.store.tick(k)
        self.twin.clock += k

    def promote(self, n: int) -> None:
        for id_ in self.pick([n], self.ids):
            count = len(self.store.journal)
            self.store.promote(id_)
            if len(self.store.journal) > count:
                self.twin.promoted.add(id_)
                self.twin.retired.discard(id_)

    def retire(self, n: int) -> None:
        for id_ in self.pick([n], self.ids):
            self.store.retire(id_)
            self.twin.retired.add(id_)
            self.twin.promoted.discard(id_)

    def resolve(self, n: int, side: int) -> None:
        questions = self.store.questions()
        if not questions:
            return
        question = questions[n % len(questions)]
        chosen = question.sides[side % len(question.sides)]
        self.store.resolve(question.key, chosen.value, by="y")
        valid = list(self.store.journal.entries())[-1].data.get("valid", (None, None))
        self.twin.add(chosen.id, values.encode(tuple(question.key)), 2, "y", valid=valid, resolves=True)

    def statuses(self, store: KnowledgeStore | None = None) -> dict[str, str]:
        return {item.id: item.status for item in (store or self.store)}

    def check(self) -> None:
        want = self.twin.statuses()
        assert self.statuses() == want
        assert {values.encode(tuple(q.key)) for q in self.store.questions()} == self.twin.questions()
        for id_ in self.ids:
            for at in (0, 1.5, 2.75):
                usable = want[id_] == "active" and self.twin.stated_at(id_, at)
                assert self.store.usable(id_, at=at) is usable


def check_history(ops: Iterable[Op], wild: bool) -> None:
    pair = Pair(wild)
    lagging = KnowledgeStore(journal=pair.store.journal)
    then = {0: pair.statuses()}
    for n, op in enumerate(ops):
        pair.do(op)
        pair.check()
        then[len(pair.store.journal)] = pair.statuses()
        if n % 3 == 0:
            assert pair.statuses(lagging) == pair.statuses()
    store = pair.store
    assert store.verify(head=store.head)
    for upto, statuses in then.items():
        assert pair.statuses(store.rebuild(upto)) == statuses
    for other in (lagging, store.rebuild(), pickle.loads(pickle.dumps(store)), KnowledgeStore(journal=store.journal)):
        assert pair.statuses(other) == pair.statuses()
        assert other._fold.same_as(store._fold) is None
        settle(other._fold, range(len(other._fold.key_name)))  # what is kept is what working everything out gives
        assert other._fold.same_as(store._fold) is None
    for item in store:
        told = store.why(item.id)
        assert bool(told.reasons) is (item.status != "active")
        assert str(told).startswith(str(item))


@given(st.lists(op_st, max_size=14))
def test_every_history_means_what_its_definition_says(ops: list[Op]) -> None:
    check_history(ops, wild=False)


@given(st.lists(op_st, max_size=14))
def test_so_does_a_history_that_no_gate_has_seen(ops: list[Op]) -> None:
    check_history(ops, wild=True)


TRACED = {1, 7}
"""The seeds of the histories that reach what nothing else does: an answer within a scope, a fact superseded twice."""


@pytest.mark.parametrize("seed", [pytest.param(n, marks=() if n in TRACED else pytest.mark.nightly) for n in range(16)])
def test_long_random_histories(seed: int) -> None:
    rng = random.Random(seed)
    words = ["add"] * 12 + ["retract", "retract", "forget", "flag", "end_flag", "tick", "promote", "retire", "resolve"]
    subjects = rng.choice([[0], [0, 1], [0, 1, 2, 3]])
    intervals: list[Interval | None] = rng.choice([[None], [None, (0, 2), (1, None), (None, 2.5), (2, 3)]])
    ops: list[Op] = []
    for _ in range(40):
        n = rng.randrange(6)
        links = [rng.sample(range(6), rng.choice([0, 0, 1, 2])), rng.sample(range(6), rng.choice([0, 0, 0, 1]))]
        what = rng.choice(subjects), rng.choice(VALUES), rng.choice([None, None, None, "S"])
        limits = rng.choice(intervals), rng.choice([None, None, 1, 2]), rng.random() < 0.1
        ops.append(
            {
                "add": ("add", what, rng.choice(SOURCES), rng.choice(BY), *links, *limits),
                "retract": ("retract", n, rng.choice(BY)),
                "forget": ("forget", rng.choice(["x", "y"])),
                "flag": ("flag", rng.choice(["ids", "scope", "key"]), n),
                "end_flag": ("end_flag", n),
                "tick": ("tick", 1),
                "promote": ("promote", n),
                "retire": ("retire", n),
                "resolve": ("resolve", n, n),
            }[rng.choice(words)]
        )
    check_history(ops, wild=seed % 4 == 3)


# -- what its users rely on --------------------------------------------------------------------------------------------


def fact(o: Any, s: Any = "door", r: str = "opens") -> dict[str, Any]:
    return {"s": s, "r": r, "o": o}


def status(store: KnowledgeStore, *ids: str) -> list[str]:
    return [store.get(id_).status for id_ in ids]


@pytest.mark.parametrize(
    ("first", "second", "then"),
    [
        ("spec", "spec", ["disputed", "disputed"]),
        ("person", "person", ["disputed", "disputed"]),
        ("verified", "verified", ["disputed", "disputed"]),
        ("outcome", "outcome", ["refuted", "active"]),
        ("verified", "spec", ["refuted", "active"]),
        ("spec", "person", ["refuted", "active"]),
        ("person", "outcome", ["refuted", "active"]),
        ("outcome", "person", ["active", "refuted"]),
        ("spec", "verified", ["active", "refuted"]),
    ],
)
def test_ranks(first: str, second: str, then: list[str]) -> None:
    store = KnowledgeStore()
    ids = [store.add("fact", fact(o), source=source) for o, source in (("north", first), ("south", second))]
    assert status(store, *ids) == then
    assert bool(store.questions()) is ("disputed" in then)


def test_a_dispute_ends_with_an_observation_or_with_a_person() -> None:
    store = KnowledgeStore()
    a, b = (store.add("fact", fact(o), source="spec") for o in "ab")
    store.add("fact", fact("a"), source="outcome")
    assert status(store, a, b) == ["active", "refuted"]
    store = KnowledgeStore()
    a, b, c = (store.add("fact", fact(o), source="person", by=o) for o in "abc")
    (question,) = store.questions()
    assert [(side.value, side.by) for side in question.sides] == [("a", ("a",)), ("b", ("b",)), ("c", ("c",))]
    assert store.resolve(question.key, "b", by="Kim", why="asked") == {
        a: ("disputed", "refuted"),
        b: ("disputed", "active"),
        c: ("disputed", "refuted"),
    }
    assert store.resolve(question.key, "c", by="Kim")[c] == ("refuted", "active")  # Kim thought again
    assert store.why(a).assertions[0].standing == "overruled"
    d = store.add("fact", fact("d"), source="person")
    assert status(store, c, d) == ["disputed", "disputed"]


def test_only_a_value_that_somebody_asserts_resolves_a_question() -> None:
    store = KnowledgeStore()
    store.add("fact", fact("a"), source="spec")
    for key, value, problem in (
        ((None, "door", "opens"), "a", "there is no question"),
        ((None, "door", "opens"), "z", "nobody asserts 'z'"),
        ((None, "window", "opens"), "a", "nothing is known about"),
        (("door", "opens"), "a", r"a key is \(scope, subject, relation\)"),
    ):
        with pytest.raises(SurefootError, match=problem):
            store.resolve(key, value, by="Kim")  # type: ignore[arg-type]  # wrong on purpose
    store.add("fact", fact("b"), source="spec")
    with pytest.raises(BadArgument, match="by must be a non-empty str"):
        store.resolve((None, "door", "opens"), "a", by="")
    assert len(store.journal) == 2


def test_values_that_look_alike_are_different_items() -> None:
    store = KnowledgeStore()
    ids = [store.add("fact", fact(o), source="spec") for o in (1, True, 1.0, "1", (1,), [1])]
    assert len(set(ids)) == 6
    assert set(status(store, *ids)) == {"disputed"}
    others = [store.add("fact", fact("x", s), source="spec") for s in (1, True, 1.0, "1")]
    assert set(status(store, *others)) == {"active"}
    assert [store.find(s=s)[0].id for s in (1, True, 1.0, "1")] == others
    assert all(len(id_) == 64 for id_ in ids)
    assert ids[0] == values.digest(("fact", fact(1), None)) == item_id("fact", fact(1))


def test_circular_support_keeps_nothing_alive() -> None:
    store = KnowledgeStore()
    a = store.add("fact", fact("a", 1), source="person", by="Kim")
    b = store.add("fact", fact("b", 2), source="verified", derived_from=a)
    store.add("fact", fact("a", 1), source="verified", derived_from=[b])
    assert status(store, a, b) == ["active", "active"]
    assert store.retract(a, only_from="Kim") == {a: ("active", "retracted"), b: ("active", "retracted")}
    store.add("fact", fact("b", 2), source="spec")
    assert status(store, a, b) == ["active", "active"]


def test_what_hangs_on_itself_through_what_it_refutes_is_disputed() -> None:
    store = KnowledgeStore()
    base = store.add("fact", fact("base", 0), source="person")
    b = store.add("fact", fact("b", 1), source="spec")
    a = store.add("fact", fact("a", 2), source="spec", derived_from=[b])
    store.add("fact", fact("a", 2), source="spec", derived_from=[base])
    c = store.add("fact", fact("c", 1), source="outcome", derived_from=[a])  # refutes b; a still rests on base
    assert status(store, a, b, c) == ["active", "refuted", "active"]
    store.retract(base)  # now a rests on b alone, c on a, and c refutes b
    assert status(store, a, b, c) == ["disputed", "disputed", "disputed"]
    assert not store.usable(b)
    (question,) = store.questions()
    store.resolve(question.key, "b", by="Kim")
    assert status(store, a, b, c) == ["active", "active", "refuted"]
    assert store.verify()


def test_a_statement_may_not_refute_what_it_rests_on() -> None:
    store = KnowledgeStore()
    b = store.add("fact", fact("b", 1), source="spec")
    a = store.add("fact", fact("a", 2), source="spec", derived_from=[b])
    lines = list(store.journal.lines())
    with pytest.raises(BadArgument, match=f"would refute what it rests on: {a[:12]} would fall with it"):
        store.add("fact", fact("c", 1), source="outcome", derived_from=[a])
    with pytest.raises(BadArgument, match="would refute what it rests on"):
        store.add("fact", fact("c", 1), source="outcome", by="a new writer", derived_from=[b])
    assert list(store.journal.lines()) == lines
    assert store._fold.same_as(store.rebuild()._fold) is None
    store.add("fact", fact("c", 1), source="spec", derived_from=[b])  # a contradiction is a question, no refutation
    assert status(store, a, b) == ["hypothesis", "disputed"]


def test_supersedes_replaces_what_is_not_stronger() -> None:
    store = KnowledgeStore()
    a = store.add("fact", fact("a"), source="spec")
    b = store.add("fact", fact("b"), source="spec", supersedes=a)
    c = store.add("fact", fact("c"), source="spec", supersedes=[b])
    assert status(store, a, b, c) == ["refuted", "refuted", "active"]
    assert store.retract(c) == {b: ("refuted", "active"), c: ("active", "retracted")}
    store.add("fact", fact("b"), source="outcome")
    with pytest.raises(BadArgument, match="is stated by 'outcome', which is stronger than 'person'"):
        store.add("fact", fact("d"), source="person", supersedes=[b])
    old = store.add("action", {"name": "go", "version": 1}, source="outcome")
    new = store.add("action", {"name": "go", "version": 2}, source="outcome", supersedes=old)
    assert status(store, old, new) == ["refuted", "active"]
    assert store.why(old).reasons == (f"refuted by {new[:12]} (outcome, entry {store.get(new).since})",)


def test_a_later_beginning_closes_what_it_supersedes() -> None:
    store = KnowledgeStore()
    ids = [store.add("fact", fact(10, "tea", "costs"), source="spec", valid=(2020, None))]
    for price, year in ((12, 2022), (14, 2024), (15, 2025)):
        ids.append(
            store.add("fact", fact(price, "tea", "costs"), source="spec", valid=(year, None), supersedes=ids[-1])
        )
    assert status(store, *ids) == ["active"] * 4
    prices = {at: [item.o for item in store.find(s="tea", at=at)] for at in (2019, 2021, 2022, 2023.5, 2030)}
    assert prices == {2019: [], 2021: [10], 2022: [12], 2023.5: [12], 2030: [15]}
    assert store.get(ids[0]).valid == ((2020, 2022),)
    store.retract(ids[1])
    assert [item.o for item in store.find(s="tea", at=2023, status="disputed")] == [10]  # open again: 14 contradicts it


def test_what_was_replaced_stays_so_when_what_replaced_it_is_closed() -> None:
    store = KnowledgeStore()
    first = store.add("rule", 1, source="spec", valid=(1, None))
    second = store.add("rule", 2, source="spec", supersedes=first)
    third = store.add("rule", 3, source="spec", valid=(0, 1), supersedes=second)
    assert status(store, first, second, third) == ["refuted", "active", "active"]
    assert store.get(second).valid == ((None, 0),)
    store.retract(second)
    assert status(store, first, third) == ["active", "active"]


def test_only_overlapping_intervals_compete() -> None:
    store = KnowledgeStore()
    a = store.add("fact", fact(1), source="spec", valid=(0, 5))
    b = store.add("fact", fact(2), source="spec", valid=(5, 9))
    assert status(store, a, b) == ["active", "active"]
    c = store.add("fact", fact(3), source="spec", valid=(4, 6))
    assert status(store, a, b, c) == ["disputed"] * 3
    store.add("fact", fact(3), source="outcome", valid=(4, 5))
    assert status(store, a, b, c) == ["refuted", "disputed", "disputed"]
    (question,) = store.questions()
    store.resolve(question.key, 2, by="Kim")
    assert status(store, a, b, c) == ["refuted", "active", "active"]  # what was observed of 4..5 still is
    assert [store.usable(c, at=at) for at in (4.5, 5.5)] == [True, False]


def test_flags_and_what_ends_them() -> None:
    store = KnowledgeStore()
    a = store.add("fact", fact("a", 1), "shop", source="spec")
    b = store.add("fact", fact("b", 2), "shop", source="verified", derived_from=[a])
    flag = store.flag(scope="shop", why="a new release")
    new = store.add("fact", fact("c", 3), "shop", source="spec")
    assert status(store, a, b, new) == ["hypothesis", "hypothesis", "active"]
    assert store.why(a).reasons == (f"in doubt since entry {flag}: a new release",)
    store.add("fact", fact("a", 1), "shop", source="spec", evidence="again")
    assert status(store, a) == ["hypothesis"]  # a document alone does not end it
    store.add("fact", fact("a", 1), "shop", source="outcome")
    assert status(store, a, b) == ["active", "hypothesis"]  # b was flagged as well
    assert store.end_flag(flag) == {b: ("hypothesis", "active")}
    with pytest.raises(UnknownItem, match="no flag 2 stands"):
        store.end_flag(flag)
    again = store.flag(key=("shop", 1, "opens"), by="Kim")
    assert store.why(a).flags[0].by == "Kim"
    assert store.end_flag(again)[a] == ("hypothesis", "active")


def test_ages() -> None:
    store = KnowledgeStore()
    a = store.add("fact", fact("a", 1), source="outcome", reconfirm_after=2)
    b = store.add("fact", fact("b", 2), source="verified", derived_from=[a])
    assert (store.tick(), store.ticks) == ({}, 1)
    assert store.tick(3) == {a: ("active", "expired"), b: ("active", "hypothesis")}
    assert store.why(a).reasons == ("not confirmed again before tick 2",)
    store.add("fact", fact("a", 1), source="outcome", reconfirm_after=2)
    assert status(store, a, b) == ["active", "active"]
    store.tick(2)
    store.add("fact", fact("a", 1), source="spec")
    assert status(store, a) == ["active"]


def test_trial_promote_retire() -> None:
    store = KnowledgeStore()
    skill = store.add("skill", ["jump"], source="verified", trial=True)
    use = store.add("episode", 1, source="outcome", derived_from=[skill])
    assert status(store, skill, use) == ["hypothesis", "hypothesis"]
    assert store.why(skill).reasons == ("on trial: not promoted yet",)
    assert store.promote(skill, by="Kim") == {skill: ("hypothesis", "active"), use: ("hypothesis", "active")}
    assert store.retire(skill, why="slow") == {skill: ("active", "expired"), use: ("active", "hypothesis")}
    assert store.why(skill).reasons == ("retired",)
    assert (store.retire(skill), store.promote(skill)[skill]) == ({}, ("expired", "active"))
    store.add("skill", ["jump"], source="person")
    assert store.promote(skill) == {}


def test_forget_takes_back_one_writer() -> None:
    store = KnowledgeStore()
    a = store.add("fact", fact("a", 1), source="spec", by="old plan")
    b = store.add("fact", fact("b", 2), source="verified", derived_from=[a], by="a program")
    store.add("fact", fact("a", 1), source="person", by="Kim")
    assert store.forget("Kim", by="Kim", why="unsure") == {}
    assert store.forget("old plan") == {a: ("active", "retracted"), b: ("active", "retracted")}
    assert store.forget("old plan") == {}
    with pytest.raises(BadArgument, match="nobody called 'nobody'"):
        store.forget("nobody")
    with pytest.raises(BadArgument, match="'a program' never stated"):
        store.retract(a, only_from="a program")
    assert (store.retract(a, only_from="Kim"), store.retract(a)) == ({}, {})


@pytest.mark.untraced
def test_depth_and_width_do_not_matter() -> None:
    store = KnowledgeStore()
    root = store.add("fact", fact("root", -1), source="person")
    last = root
    for n in range(1_200):
        last = store.add("fact", fact(n, n), source="verified", derived_from=[last])
    for n in range(1_200):
        store.add("fact", fact(n, ("wide", n)), source="verified", derived_from=[root])
    assert store.usable(last)
    assert len(store.retract(root)) == 2_401
    assert store.stats()["retracted"] == 2_401
    store.add("fact", fact("root", -1), source="person")
    assert store.stats()["active"] == 2_401
    assert store.verify()


def test_a_repeat_is_no_entry_until_it_says_something() -> None:
    store = KnowledgeStore()

    def say(**more: Any) -> int:
        store.add("fact", fact("north"), source="outcome", by="Kim", **more)
        return len(store.journal)

    assert [say(), say(), say(evidence=1), say(evidence=1)] == [1, 1, 2, 2]
    store.add("fact", fact("south"), source="outcome")
    assert [say(evidence=1), say(evidence=1)] == [4, 4]
    store.flag(scope=None)
    assert [say(evidence=1), say(evidence=1)] == [6, 6]
    assert [say(reconfirm_after=3), say(reconfirm_after=3)] == [7, 7]
    store.tick()
    assert [say(reconfirm_after=3), say(reconfirm_after=3)] == [9, 9]
    (north,) = (item.id for item in store.find(o="north"))
    store.add("fact", fact("west"), source="outcome", supersedes=north)
    assert [say(), say()] == [11, 11]
    rule = store.add("rule", 1, source="outcome")
    store.add("rule", 2, source="outcome", supersedes=rule)
    assert status(store, rule) == ["refuted"]
    store.add("rule", 1, source="outcome")
    assert status(store, rule) == ["active"]
    count = len(store.journal)
    store.add("rule", 2, source="outcome", supersedes=rule)  # said before, but it replaces what was said since
    assert (len(store.journal), status(store, rule)) == (count + 1, ["refuted"])


# -- nothing is let in that is wrong -----------------------------------------------------------------------------------

NAN = float("nan")
BAD: list[tuple[str, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    ("add", ("rumour", 1), {"source": "spec"}, BadArgument, "kind must be one of fact, rule"),
    ("add", ("rule", 1), {"source": "gossip"}, BadArgument, "source must be one of outcome, person, spec, verified"),
    ("add", ("fact", {"s": 1}), {"source": "spec"}, BadArgument, 'a fact is {"s": subject'),
    ("add", ("fact", "x"), {"source": "spec"}, BadArgument, 'a fact is {"s": subject'),
    ("add", ("fact", fact(1, r="")), {"source": "spec"}, BadArgument, "the relation r must be a non-empty str"),
    ("add", ("fact", fact(NAN)), {"source": "spec"}, ValueRejected, "not a finite number"),
    ("add", ("rule", {1: 2}), {"source": "spec"}, ValueRejected, "keys of an object are str"),
    ("add", ("rule", 1, {NAN}), {"source": "spec"}, ValueRejected, "has no order"),
    ("add", ("rule", 1), {"source": "spec", "evidence": NAN}, ValueRejected, "not a finite number"),
    ("add", ("rule", 1), {"source": "spec", "by": 7}, BadArgument, "by must be a non-empty str"),
    ("add", ("rule", 1), {"source": "spec", "derived_from": ["ab" * 32]}, UnknownItem, "there is no item"),
    ("add", ("rule", 1), {"source": "spec", "derived_from": [7]}, BadArgument, "derived_from must be an id"),
    ("add", ("rule", 1), {"source": "spec", "derived_from": 7}, BadArgument, "derived_from must be an id"),
    ("add", ("rule", 1), {"source": "spec", "supersedes": "ab" * 32}, UnknownItem, "there is no item"),
    ("add", ("rule", 1), {"source": "spec", "valid": (2, 1)}, BadArgument, "valid must begin before it ends"),
    ("add", ("rule", 1), {"source": "spec", "valid": (NAN, 1)}, BadArgument, "valid must be"),
    ("add", ("rule", 1), {"source": "spec", "valid": (True, 2)}, BadArgument, "valid must be"),
    ("add", ("rule", 1), {"source": "spec", "valid": 3}, BadArgument, "valid must be"),
    ("add", ("rule", 1), {"source": "spec", "reconfirm_after": 0}, BadArgument, "reconfirm_after must be an int >= 1"),
    ("add", ("rule", 1), {"source": "spec", "reconfirm_after": True}, BadArgument, "reconfirm_after must be"),
    ("add", ("rule", 1), {"source": "spec", "trial": 1}, BadArgument, "trial must be True or False"),
    ("retract", ("ab" * 32,), {}, UnknownItem, "there is no item"),
    ("retract", ("xyz",), {}, UnknownItem, "an id is hexadecimal"),
    ("retract", ("",), {}, BadArgument, "an id is a non-empty str"),
    ("flag", (), {}, BadArgument, "exactly one of ids, scope and key"),
    ("flag", (["ab"],), {"scope": 1}, BadArgument, "exactly one of ids, scope and key"),
    ("flag", ([],), {}, BadArgument, "at least one id"),
    ("flag", (["ab" * 32],), {}, UnknownItem, "there is no item"),
    ("flag", (), {"key": (None, "nothing", "is")}, UnknownItem, "nothing is known about"),
    ("end_flag", (True,), {}, UnknownItem, "no flag True stands"),
    ("tick", (0,), {}, BadArgument, "k must be an int >= 1, got 0"),
    ("tick", (-5,), {}, BadArgument, "k must be an int >= 1, got -5"),
    ("tick", (1.0,), {}, BadArgument, "k must be an int >= 1, got 1.0"),
    ("tick", (True,), {}, BadArgument, "k must be an int >= 1, got True"),
    ("promote", ("ab" * 32,), {}, UnknownItem, "there is no item"),
    ("retire", ("ab" * 32,), {}, UnknownItem, "there is no item"),
    ("get", ("ab" * 32,), {}, UnknownItem, "there is no item"),
    ("usable", ("ab" * 32,), {}, UnknownItem, "there is no item"),
    ("why", ("ab" * 32,), {}, UnknownItem, "there is no item"),
    ("find", (), {"kind": "rumour"}, BadArgument, "kind must be one of"),
    ("find", (), {"status": "fine"}, BadArgument, "status must be one of"),
    ("find", (), {"at": NAN}, BadArgument, "at must be a finite number"),
    ("find", (), {"s": NAN}, ValueRejected, "not a finite number"),
    ("snapshot", ("door",), {}, BadArgument, "about must be a collection"),
    ("snapshot", (7,), {}, BadArgument, "about must be a collection"),
    ("rebuild", (-1,), {}, BadArgument, r"rebuild\(upto\) must be an int in 0..1"),
    ("rebuild", (2,), {}, BadArgument, r"rebuild\(upto\) must be an int in 0..1"),
]


@pytest.mark.parametrize(("method", "args", "more", "kind", "problem"), BAD)
def test_bad_input_is_one_clear_error_and_changes_nothing(
    method: str, args: tuple[Any, ...], more: dict[str, Any], kind: type[Exception], problem: str
) -> None:
    store = KnowledgeStore()
    store.add("fact", fact("north"), source="spec")
    with pytest.raises(kind, match=problem):
        getattr(store, method)(*args, **more)
    assert (len(store.journal), len(store), status(store, store.find()[0].id)) == (1, 1, ["active"])
    assert store.verify()


def test_premises_must_hold() -> None:
    store = KnowledgeStore()
    wrong = store.add("fact", fact("a"), source="spec")
    right = store.add("fact", fact("b"), source="outcome")
    gone = store.add("rule", 1, source="spec")
    store.retract(gone)
    for premise, problem in ((wrong, "is refuted"), (gone, "is retracted")):
        with pytest.raises(BadArgument, match=f"derived_from: {premise[:12]} {problem}"):
            store.add("rule", 2, source="spec", derived_from=[right, premise])
    for word in ("derived_from", "supersedes"):
        with pytest.raises(BadArgument, match="itself; leave it out"):
            store.add("fact", fact("b"), source="outcome", **{word: [right]})  # type: ignore[arg-type]  # of several types
    with pytest.raises(BadArgument, match="a rule cannot supersede"):
        store.add("rule", 2, source="outcome", supersedes=[right])
    other = store.add("fact", fact("x", "window"), source="spec")
    with pytest.raises(BadArgument, match="is a fact about something else"):
        store.add("fact", fact("c"), source="outcome", supersedes=[other])


def test_writers_write_what_they_may() -> None:
    store = KnowledgeStore(writers={"plan": "spec", "Kim": ("person", "spec")})
    store.add("rule", 1, source="spec", by="plan")
    store.add("rule", 2, source="person", by="Kim")
    with pytest.raises(BadArgument, match="'plan' may not write with the source 'outcome', only with"):
        store.add("rule", 3, source="outcome", by="plan")
    for by in (None, "Eve"):
        with pytest.raises(BadArgument, match="may not write here: the writers are"):
            store.add("rule", 3, source="spec", by=by)
    for o in "ab":
        store.add("fact", fact(o), source="spec", by="Kim")
    for copied in (pickle.loads(pickle.dumps(store)), store.rebuild(), copy.deepcopy(store), store):
        with pytest.raises(BadArgument, match="'plan' may not write with the source 'person'"):
            copied.resolve((None, "door", "opens"), "a", by="plan")
        copied.resolve((None, "door", "opens"), "a", by="Kim")
    for writers in ({"Kim": "gossip"}, {"": "spec"}, ["Kim"]):
        with pytest.raises(BadArgument, match=r"the sources of 'Kim'|a writer must be|writers must map"):
            KnowledgeStore(writers=writers)  # type: ignore[arg-type]  # wrong on purpose


def test_nothing_is_shared_with_the_caller() -> None:
    store = KnowledgeStore()
    body, evidence, scope = {"steps": ["a"]}, {"pages": [1]}, {"level": [1]}
    id_ = store.add("skill", body, scope, source="person", evidence=evidence)
    body["steps"].append("b")
    evidence["pages"].append(2)
    scope["level"].append(2)
    item, told, shot = store.get(id_), store.why(id_), store.snapshot()
    assert (item.body, item.scope, told.assertions[0].evidence) == ({"steps": ["a"]}, {"level": [1]}, {"pages": [1]})
    item.body["steps"].append("b")
    told.assertions[0].evidence["pages"].append(2)
    shot["facts"][0]["body"]["steps"].append("c")
    assert (item.body, store.get(id_).body) == ({"steps": ["a"]}, {"steps": ["a"]})
    assert store.why(id_) == told
    assert store.verify()
    with pytest.raises(AttributeError):
        item.status = "active"  # type: ignore[misc]  # wrong on purpose


# -- many hands, and accidents -----------------------------------------------------------------------------------------


class Crowded(MemoryBackend):
    """A backend on which somebody else is sometimes faster."""

    def __init__(self) -> None:
        super().__init__()
        self.before_next: list[Callable[[], object]] = []

    def extend(self, build: Callable[[int, bytes | None], Sequence[bytes]]) -> None:
        if self.before_next:
            self.before_next.pop()()
        super().extend(build)


def test_a_decision_is_made_again_when_somebody_was_faster() -> None:
    backend = Crowded()
    mine, theirs = (KnowledgeStore(journal=Journal(backend)) for _ in range(2))
    a = mine.add("fact", fact("a"), source="spec")
    backend.before_next.append(lambda: theirs.retract(a))
    with pytest.raises(BadArgument, match="is retracted"):
        mine.add("rule", 1, source="spec", derived_from=[a])
    backend.before_next.append(lambda: theirs.add("fact", fact("b"), source="spec"))
    mine.add("fact", fact("c"), source="spec")
    backend.before_next.append(lambda: theirs.tick())
    assert mine.flag(scope=None) == 5
    assert mine._fold.same_as(theirs.rebuild()._fold) is None
    assert mine.verify()


def test_threads_share_a_store() -> None:
    store = KnowledgeStore()

    def work(who: int) -> None:
        for n in range(50):
            id_ = store.add("fact", fact(who, n), source="spec", by=str(who))
            store.find(s=n)
            if n % 10 == 0:
                store.retract(id_)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store) == 200
    assert store.verify()


def _write(path: str, who: int) -> None:
    with KnowledgeStore(path) as store:
        for n in range(20):
            store.add("fact", fact(who, n), source="spec", by=str(who))


def test_processes_share_a_journal(tmp_path: Path) -> None:
    path = str(tmp_path / "facts.db")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write, args=(path, who)) for who in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with KnowledgeStore(path) as store:
        assert (len(store), len(store.questions())) == (40, 20)
        assert store.verify()


def test_several_projections_share_a_journal() -> None:
    journal = open_journal(clock=lambda: "noon")
    first, second = (KnowledgeStore(journal=journal, stream=name) for name in ("a", "b"))
    first.add("fact", fact("north"), source="spec")
    second.add("rule", 1, source="spec")
    first.tick()
    assert [len(first), len(second), first.ticks, second.ticks] == [1, 1, 1, 0]
    assert first.verify()
    assert second.verify()
    assert (first.stream, [e.time for e in journal.entries()]) == ("a", ["noon"] * 3)


@pytest.mark.parametrize("name", ["facts.json", "facts.jsonl", "facts.db", "facts"])
def test_a_store_on_disk_goes_on_where_it_was(tmp_path: Path, name: str) -> None:
    with KnowledgeStore(tmp_path / name) as store:
        a = store.add("fact", fact("é", (1, 2.5)), {"map": "m"}, source="spec", evidence=[1])
        store.add("skill", {"do": [a]}, source="verified", derived_from=[a], valid=(1, 2), trial=True)
        store.flag([a])
        head, items = store.head, list(store)
    with KnowledgeStore(tmp_path / name) as store:
        assert (store.head, list(store)) == (head, items)
        assert store.verify(head=head)
        store.end_flag(2)
        store.save(tmp_path / "copy.jsonl")
    loaded = KnowledgeStore().load(tmp_path / "copy.jsonl")
    assert loaded.get(a).usable
    assert "copy" not in repr(loaded)
    with KnowledgeStore(tmp_path / name) as store:
        assert name in repr(store)


def test_a_failed_write_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    store = KnowledgeStore()
    a = store.add("fact", fact("a"), source="spec")
    store.add("fact", fact("b"), source="spec")
    flag = store.flag([a])
    items, head = list(store), store.head

    def full(*_: object) -> None:
        raise AppendFailed("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store.journal.backend, "extend", full)
        for call in (
            lambda: store.add("fact", fact("c"), source="outcome", derived_from=[a]),
            lambda: store.retract(a),
            lambda: store.flag(scope=None),
            lambda: store.end_flag(flag),
            lambda: store.tick(),
            lambda: store.retire(a),
            lambda: store.resolve((None, "door", "opens"), "a", by="Kim"),
        ):
            with pytest.raises(AppendFailed):
                call()
    assert (list(store), store.head) == (items, head)
    store.tick()
    assert store.verify()


def test_every_edit_of_a_journal_is_caught() -> None:
    store = KnowledgeStore()
    a = store.add("fact", fact("a"), source="spec")
    store.add("fact", fact("b"), source="outcome")
    store.add("rule", 1, source="spec", derived_from=[store.find(o="b")[0].id])
    store.retract(a)
    store.tick(2)
    lines = list(store.journal.lines())
    for n, line in enumerate(lines):
        for bad in (line.replace(b'"s', b'"S', 1), line.replace(b'"k":2', b'"k":3'), line.replace(b'":"', b'": "', 1)):
            if bad != line:
                with pytest.raises(BrokenChain, match=f"entry {n}"):
                    KnowledgeStore(journal=Journal(MemoryBackend([*lines[:n], bad, *lines[n + 1 :]])))
    swapped = [*lines[:1], lines[2], lines[1], *lines[3:]]
    with pytest.raises(BrokenChain, match="entry 1 is numbered 2"):
        KnowledgeStore(journal=Journal(MemoryBackend(swapped)))
    cut = KnowledgeStore(journal=Journal(MemoryBackend(lines[:-1])))
    assert cut.verify()
    assert cut.verify(head=store.head).failed == "head"


def test_a_damaged_journal_under_an_open_store_is_reported() -> None:
    store = KnowledgeStore()
    store.add("fact", fact("a"), source="spec")
    store.tick()
    backend: Any = store.journal.backend
    backend._lines[0] = backend._lines[0].replace(b"spec", b"plan")
    found = store.verify()
    assert (found.ok, found.at, found.failed) == (False, 0, "chain")
    assert "entry 0 was edited" in str(found.problem)


def test_an_entry_that_is_none_of_ours_is_refused_and_leaves_the_store_as_it_was() -> None:
    store = KnowledgeStore()
    a = store.add("fact", fact("a"), source="spec")
    store.journal.append("dance", {"a": 1}, stream="facts")
    with pytest.raises(UnknownFormat, match="entry 1 cannot be read: no event of kind 'dance'"):
        store.find()
    assert store._fold.same_as(KnowledgeStore(journal=store.journal.at(1))._fold) is None
    found = store.verify()
    assert (found.ok, found.problem) == (
        False,
        "entry 1 is damaged: no event of kind 'dance' is known; a newer version may know it",
    )
    assert a in {item.id for item in store.rebuild(1)}


@pytest.mark.untraced
def test_what_is_nested_deep_is_kept() -> None:
    body: Any = []
    for _ in range(1_500):
        body = [body]
    store = KnowledgeStore()
    rule = store.add("rule", body, source="spec")
    id_ = store.add("fact", fact(body), source="spec", derived_from=[rule], evidence=body)
    again = store.rebuild()
    assert again.get(id_).usable
    assert again.verify()
    assert len(str(again.why(id_))) < 500
