"""The map against a naive twin: a dict of records and a textbook Dijkstra, on random histories."""

from __future__ import annotations

import copy
import heapq
import pickle
import random
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surefoot import WorldMap, values
from surefoot.errors import BadArgument, BrokenChain, UnknownFormat, ValueRejected
from surefoot.journal import open_journal
from surefoot.knowledge import routes

# -- the twin ----------------------------------------------------------------------------------------------------------


@dataclass
class Record:
    to: Any = None
    shown: Any = None
    confirmed: bool = False
    doubt: bool = False
    refused: bool = False
    source: str = "seen"
    taken: int = 0
    refusals: int = 0
    observed: list[Any] = field(default_factory=list)

    @property
    def open(self) -> bool:
        return self.doubt or (self.taken == 0 and not self.refused)


def same(a: Any, b: Any) -> bool:
    return values.encode(a) == values.encode(b)


class Twin:
    """What the contract says, without an index, a number or a cache."""

    def __init__(self, hypothesis_cost: int = 3) -> None:
        self.records: dict[tuple[bytes, bytes], Record] = {}
        self.names: dict[bytes, Any] = {}
        self.cost = hypothesis_cost

    def at(self, state: Any, action: Any) -> Record | None:
        return self.records.get((values.encode(state), values.encode(action)))

    def make(self, state: Any, action: Any, record: Record) -> Record:
        self.names[values.encode(state)] = state
        self.names[values.encode(action)] = action
        self.records[values.encode(state), values.encode(action)] = record
        return record

    def see(self, state: Any, action: Any, to: Any) -> None:
        r = self.at(state, action)
        if r is None:
            self.make(state, action, Record(to, to))
        elif to is None or (r.shown is not None and same(r.shown, to)):
            pass
        elif r.shown is None and r.confirmed and same(r.to, to):
            pass
        else:
            changed = r.shown is not None
            r.shown = to
            self.offered_again(r)
            if r.confirmed:
                r.doubt = r.doubt or (changed and not same(r.to, to))
            elif r.to is None or r.source == "seen" or (changed and r.source == "observed"):
                r.to, r.source = to, "seen"

    def offered_again(self, r: Record) -> None:
        if r.refused:
            r.refused = False
            r.doubt = r.doubt or r.taken > 0

    def told(self, state: Any, action: Any, to: Any, source: str) -> None:
        r = self.at(state, action)
        if r is None:
            self.make(state, action, Record(to, source=source))
            return
        self.offered_again(r)
        if r.confirmed:
            r.doubt = r.doubt or (source == "human" and not same(r.to, to))
        elif r.source != "human" or source == "human" or r.to is None:
            r.to, r.source = to, source

    def arrive(self, state: Any, action: Any, to: Any) -> bool:
        r = self.at(state, action) or self.make(state, action, Record())
        refuted = r.to is not None and not same(r.to, to)
        r.to, r.confirmed, r.doubt, r.refused, r.source = to, True, False, False, "observed"
        r.taken += 1
        r.observed.append(to)
        return refuted

    def refuse(self, state: Any, action: Any) -> None:
        r = self.at(state, action) or self.make(state, action, Record(source="observed"))
        r.refused, r.doubt = True, False
        r.refusals += 1

    def drop(self, states: list[Any] | None) -> int:
        keys = None if states is None else {values.encode(s) for s in states}
        dropped = 0
        for (state, _), r in self.records.items():
            if keys is None or state in keys:
                dropped += r.confirmed
                r.doubt = r.doubt or r.confirmed or r.refused
                r.confirmed = False
                if r.taken:
                    r.observed = []
        return dropped

    def edges(self, confirmed_only: bool) -> list[tuple[bytes, bytes, bytes, int]]:
        found = []
        for (state, action), r in self.records.items():
            if r.to is not None and not r.refused and (r.confirmed or not confirmed_only):
                found.append((state, action, values.encode(r.to), 1 if r.confirmed else self.cost))
        return found

    def distances(self, targets: Iterable[bytes], confirmed_only: bool = False) -> dict[bytes, int]:
        far = dict.fromkeys(targets, 0)
        queue = [(0, t) for t in far]
        heapq.heapify(queue)
        edges = self.edges(confirmed_only)
        while queue:
            d, at = heapq.heappop(queue)
            if d > far[at]:
                continue
            for state, _, to, cost in edges:
                if to == at and d + cost < far.get(state, 10**9):
                    far[state] = d + cost
                    heapq.heappush(queue, (d + cost, state))
        return far

    def best(self, state: bytes, far: dict[bytes, int], confirmed_only: bool = False) -> bytes | None:
        """Return the first, in the order of actions, of those on a cheapest way."""
        ways = [
            action
            for s, action, to, cost in self.edges(confirmed_only)
            if s == state and to in far and cost + far[to] == far.get(state)
        ]
        return min(ways, key=lambda a: values.order(self.names[a]), default=None) if far.get(state) else None

    def explore(self, state: Any) -> bytes | None:
        key = values.encode(state)
        here = [(r.doubt, values.order(self.names[a]), a) for (s, a), r in self.records.items() if s == key and r.open]
        if here:
            return min(here)[2]
        return self.best(key, self.distances({s for (s, _), r in self.records.items() if r.open}))


# -- histories ---------------------------------------------------------------------------------------------------------

STATES = ["a", "b", "c", "d", 1, True, 1.0, "1", (1,), (1.0,), 0.0, -0.0]
ACTIONS = ["x", "y", 0, False, ("x", 1), {"name": "x", "to": [1]}]
state_st, action_st = st.sampled_from(STATES), st.sampled_from(ACTIONS)

change_st = st.one_of(
    st.tuples(st.just("see"), state_st, action_st, st.none() | state_st),
    st.tuples(st.just("arrive"), state_st, action_st, state_st),
    st.tuples(st.just("arrive"), state_st, action_st, state_st),
    st.tuples(st.just("told"), state_st, action_st, state_st, st.sampled_from(["told", "human", "seen"])),
    st.tuples(st.just("refuse"), state_st, action_st),
    st.tuples(st.just("visit"), state_st),
    st.tuples(st.just("drop"), st.none() | st.lists(state_st, max_size=3)),
)
op_st = st.one_of(
    change_st,
    st.tuples(st.just("cost"), st.integers(1, 5)),
    st.tuples(st.just("next"), state_st, st.lists(state_st, min_size=1, max_size=2), st.booleans()),
    st.tuples(st.just("explore"), state_st),
)
history_st = st.lists(op_st, max_size=40)
write_st = st.lists(change_st, max_size=25)


def play(m: WorldMap, op: tuple[Any, ...]) -> Any:
    match op:
        case ("see", s, a, to):
            return m.see(s, a, to)
        case ("arrive", s, a, to):
            return m.arrive(s, a, to)
        case ("told", s, a, to, source):
            return m.told(s, a, to, source)
        case ("refuse", s, a):
            return m.refuse(s, a)
        case ("visit", s):
            return m.visit(s, seen=len(op))
        case ("drop", states):
            return m.drop("test", states=states)
        case ("cost", cost):
            m.hypothesis_cost = cost
    return None


def play_both(m: WorldMap, twin: Twin, op: tuple[Any, ...]) -> None:
    """Play one operation on both; where there is an answer, compare it."""
    match op:
        case ("see", s, a, to):
            play(m, op)
            twin.see(s, a, to)
        case ("arrive", s, a, to):
            assert play(m, op) == twin.arrive(s, a, to)
        case ("told", s, a, to, source):
            play(m, op)
            twin.told(s, a, to, source)
        case ("refuse", s, a):
            play(m, op)
            twin.refuse(s, a)
        case ("drop", states):
            assert play(m, op) == twin.drop(states)
        case ("cost", cost):
            play(m, op)
            twin.cost = cost
        case ("next", s, targets, confirmed_only):
            keys = {values.encode(t) for t in targets}
            far = twin.distances(keys, confirmed_only)
            key = values.encode(s)
            best = twin.best(key, far, confirmed_only)
            got = m.next(s, targets, confirmed_only)
            assert (None if got is None else values.encode(got)) == best
            route = m.route(s, targets, confirmed_only)
            assert route.reached == (key in keys)
            assert route.cost == far.get(key, float("inf"))
            assert bool(route) == (key in far)
            check_way(twin, route, confirmed_only)
        case ("explore", s):
            got = m.explore(s)
            assert (None if got is None else values.encode(got)) == twin.explore(s)
        case _:
            play(m, op)


def check_way(twin: Twin, route: routes.Route, confirmed_only: bool) -> None:
    """Check that a route's steps follow each other, cost what it says and end at its target."""
    cost = {(s, a): (to, c) for s, a, to, c in twin.edges(confirmed_only)}
    at, total = values.encode(route.start), 0
    for state, action in route.steps:
        assert values.encode(state) == at
        at, step = cost[at, values.encode(action)]
        total += step
    if route.known:
        assert (total, at) == (route.cost, values.encode(route.target))


def look(m: WorldMap) -> Any:
    """Everything a map says about its claims, comparable."""
    return [
        values.encode([c.state, c.action, c.to, c.status, c.source, c.taken, c.refused, c.doubtful, c.counts])
        for c in m.claims()
    ]


def check_same(m: WorldMap, twin: Twin) -> None:
    claims = m.claims()
    assert [(values.encode(c.state), values.encode(c.action)) for c in claims] == list(twin.records)
    for c, r in zip(claims, twin.records.values(), strict=True):
        assert same(c.to, r.to)
        assert (c.status == "confirmed", c.doubtful, c.refused) == (r.confirmed, r.doubt, r.refused)
        assert (c.source, c.taken, c.refusals) == (r.source, r.taken, r.refusals)
        counted = {values.encode(to): times for to, times in c.counts}
        observed = [values.encode(to) for to in r.observed]
        assert counted == {to: observed.count(to) for to in observed}
    frontier = [(values.encode(s), values.encode(a)) for s, a in m.frontier()]
    assert frontier == [key for key, r in twin.records.items() if r.open]
    for target in STATES:
        far = twin.distances({values.encode(target)})
        got = m.distances({target} if target != "1" else ["1"])
        assert {values.encode(s): cost for s, (cost, _) in got.items()} == far
        for s, (_, action) in got.items():
            best = twin.best(values.encode(s), far)
            assert (None if action is None else values.encode(action)) == best


@given(history_st)
@settings(max_examples=max(200, settings().max_examples))  # what the whole library stands on: more than the others
def test_agrees_with_the_twin(history: list[tuple[Any, ...]]) -> None:
    m, twin = WorldMap(), Twin()
    for op in history:
        play_both(m, twin, op)
    check_same(m, twin)
    assert m.verify()


@given(history_st)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_agrees_with_the_twin_through_scipy(history: list[tuple[Any, ...]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routes, "_LARGE", 0)
        patch.setattr(routes, "_PATIENCE", 1)
        m, twin = WorldMap(), Twin()
        for op in history:
            play_both(m, twin, op)
        check_same(m, twin)


@given(history_st)
def test_rebuilds_as_it_was_at_every_position(history: list[tuple[Any, ...]]) -> None:
    m = WorldMap()
    shots = {0: look(m)}
    for op in history:
        play(m, op)
        shots[len(m.journal)] = look(m)
    for n in range(len(m.journal) + 1):
        rebuilt = m.rebuild(n)
        assert rebuilt.verify()
        assert len(rebuilt.journal) == n
        if n in shots:
            assert look(rebuilt) == shots[n]


@given(history_st)
def test_pickles_and_copies_are_the_same_map_and_independent(history: list[tuple[Any, ...]]) -> None:
    m = WorldMap()
    for op in history:
        play(m, op)
    before = look(m)
    for other in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
        assert look(other) == before
        assert other.head == m.head
        other.arrive("a", "new", "z")
        assert look(m) == before


@pytest.mark.untraced
def test_a_large_map_agrees_with_dijkstra_while_it_changes() -> None:
    side = 60  # 14,400 claims: the arrays of NumPy and SciPy are in play, and repairs on top of them
    rng = random.Random(5)
    m, cost = WorldMap(), {}
    moves = {"n": (-1, 0), "s": (1, 0), "w": (0, -1), "e": (0, 1)}
    for i in range(side):
        for j in range(side):
            for action, (di, dj) in moves.items():
                to = (min(max(i + di, 0), side - 1), min(max(j + dj, 0), side - 1))
                m.see((i, j), action, to)
                cost[(i, j), action] = (to, 3)
    target = (side - 1, side - 1)

    def far() -> dict[Any, int]:
        found, queue = {target: 0}, [(0, target)]
        back: dict[Any, list[tuple[Any, int]]] = {}
        for (s, _), (to, c) in cost.items():
            back.setdefault(to, []).append((s, c))
        while queue:
            d, at = heapq.heappop(queue)
            if d == found[at]:
                for s, c in back.get(at, ()):
                    if d + c < found.get(s, 10**9):
                        found[s] = d + c
                        heapq.heappush(queue, (d + c, s))
        return found

    state = (0, 0)
    for n in range(400):
        route = m.route(state, {target})
        if n % 80 == 0:
            assert route.cost == far()[state]
        action = route.action
        if action is None:
            break
        believed = cost[state, action][0]
        to = state if rng.random() < 0.15 else believed
        m.arrive(state, action, to)
        cost[state, action] = (to, 1)
        if rng.random() < 0.1:
            other = (rng.randrange(side), rng.randrange(side))
            m.refuse(other, "s")
            cost.pop((other, "s"), None)
        state = to
    assert n > 100
    assert {s: c for s, (c, _) in m.distances({target}).items()} == far()


# -- the contract, one sentence a test ---------------------------------------------------------------------------------


def test_an_exploration_of_a_refusing_world_ends() -> None:
    m = WorldMap().see("hall", "door").see("hall", "window")
    taken = []
    while (action := m.explore("hall")) is not None:
        taken.append(action)
        m.refuse("hall", action, "locked")
        m.see("hall", "door").see("hall", "window")
    assert taken == ["door", "window"]
    m.told("hall", "door", "garden", quote="it is open now")
    assert m.explore("hall") == "door"


def test_what_was_dropped_is_offered_again() -> None:
    m = WorldMap()
    m.arrive("hall", "north", "garden")
    m.refuse("hall", "south")
    assert m.frontier() == []
    assert m.drop("a new release", step=7) == 1
    assert m.frontier() == [("hall", "north"), ("hall", "south")]
    claim = m.claim("hall", "north")
    assert claim is not None
    assert (claim.status, claim.source, claim.taken, claim.doubtful) == ("hypothesis", "observed", 1, True)
    assert m.next("hall", {"garden"}) == "north"


def test_staleness_by_events() -> None:
    m = WorldMap(stale_after=3)
    m.arrive("a", "x", "b")
    for n in range(3):
        m.visit("b", n)
        assert m.frontier() == []
    m.visit("b")
    assert m.frontier() == [("a", "x")]
    m.arrive("a", "x", "b")
    assert m.frontier() == []
    assert m.verify()


def test_staleness_by_visits() -> None:
    m = WorldMap(stale_visits=2)
    m.arrive("a", "x", "b")
    m.visit("a")
    assert m.frontier() == []
    m.visit("a")
    assert m.frontier() == [("a", "x")]
    assert m.verify()


def test_ages_count_from_the_moment_the_setting_is_recorded(tmp_path: Any) -> None:
    place = tmp_path / "x.jsonl"
    with WorldMap(place) as m:
        m.arrive("a", "x", "b")
    with WorldMap(place, stale_after=1) as m:
        m.visit("a")
        assert m.frontier() == []
        m.visit("a")
        assert m.frontier() == [("a", "x")]
        assert m.verify()


def test_a_changed_sign_makes_a_confirmed_claim_doubtful_and_does_not_touch_it() -> None:
    m = WorldMap().see("/", "Billing", to="/old")
    m.arrive("/", "Billing", "/old")
    m.see("/", "Billing", to="/old")
    assert m.frontier() == []
    m.see("/", "Billing", to="/new")
    claim = m.claim("/", "Billing")
    assert claim is not None
    assert (claim.to, claim.status, claim.doubtful) == ("/old", "confirmed", True)
    m.arrive("/", "Billing", "/old")
    assert m.frontier() == []


def test_a_documents_word_does_not_replace_a_persons() -> None:
    m = WorldMap().human("/", "Help", "/people", note="moved", by="Kim").told("/", "Help", "/docs", by="README")
    claim = m.claim("/", "Help")
    assert claim is not None
    assert (claim.to, claim.source) == ("/people", "human")
    assert "stands" in str(m.why("/", "Help"))


def test_a_repeat_is_no_entry() -> None:
    m = WorldMap().see("/", "Billing", to="/billing")
    head = m.head
    m.see("/", "Billing", to="/billing").see("/", "Billing")
    assert m.head == head


def test_look_alikes_stay_apart() -> None:
    m = WorldMap()
    for value in (1, True, 1.0, "1", (1,), -0.0, 0.0):
        m.arrive("here", value, value)
    assert len(m.claims("here")) == 7
    assert [type(a) for _, a in [(c.to, c.action) for c in m.claims("here")]] == [
        int,
        bool,
        float,
        str,
        tuple,
        float,
        float,
    ]
    assert not any(m.arrive("here", value, value) for value in (1, True, 1.0, "1", (1,), -0.0, 0.0))


def test_a_changed_argument_changes_nothing() -> None:
    action, facts = {"name": "go", "to": ["a"]}, {"seen": ["x"]}
    m = WorldMap().see("s", action).visit("s", facts=facts)
    action["to"] = ["b"]
    facts["seen"].append("y")
    assert m.claim("s", {"name": "go", "to": ["a"]}) is not None
    assert m.facts("s") == {"seen": ["x"]}
    m.facts("s")["seen"].append("z")
    claims = m.claims()
    claims[0].action["to"].append("c")
    assert m.facts("s") == {"seen": ["x"]}
    assert m.verify()


def test_facts_may_have_any_name() -> None:
    m = WorldMap().visit("s", 3, facts={"state": 1, "step": 2, "facts": 3}, title="T")
    assert m.facts("s") == {"state": 1, "step": 2, "facts": 3, "title": "T"}
    assert m.facts("nowhere") == {}


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "\ud800", ["list"], b"bytes", {1}, object(), {"a": 1}])
def test_a_state_that_is_not_plain_changes_nothing(bad: Any) -> None:
    m = WorldMap().see("a", "x", to="b")
    before = look(m), m.head
    for call in (
        lambda: m.see(bad, "x"),
        lambda: m.see("a", "y", to=bad),
        lambda: m.arrive("a", "x", bad),
        lambda: m.told("a", "x", bad),
        lambda: m.refuse(bad, "x"),
        lambda: m.visit(bad),
        lambda: m.drop(states=[bad]),
        lambda: m.next(bad, {"b"}),
        lambda: m.next("a", [bad]),
        lambda: m.explore(bad),
        lambda: m.claim(bad, "x"),
    ):
        with pytest.raises(ValueRejected, match=r"\$"):
            call()
    assert (look(m), m.head) == before
    assert m.verify()


def test_other_bad_arguments_change_nothing() -> None:
    m = WorldMap().see("a", "x", to="b")
    before = look(m), m.head
    for call, message in (
        (lambda: m.arrive("a", "x", None), "state that the action led to"),
        (lambda: m.told("a", "x", None), "needs a destination"),
        (lambda: m.told("a", "x", "b", source="observed"), "source must be"),
        (lambda: m.next("a", "b"), r"wrap it, \{'b'\}"),
        (
            lambda: m.next("a", 3),  # type: ignore[arg-type]  # wrong on purpose
            "collection of states",
        ),
        (lambda: m.drop(states="a"), "collection of states"),
        (lambda: setattr(m, "hypothesis_cost", 0), "hypothesis_cost must be an int >= 1, got 0"),
        (lambda: setattr(m, "hypothesis_cost", 0.5), "got 0.5"),
        (lambda: WorldMap(hypothesis_cost=-1), "hypothesis_cost must be an int >= 1"),
        (lambda: WorldMap(stale_after=0), "stale_after must be an int >= 1 or None"),
        (lambda: WorldMap(stochastic=1), "stochastic must be True or False"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: WorldMap(name=""), "name must be"),
        (lambda: WorldMap("x.json", journal=open_journal()), "not both"),
        (lambda: m.rebuild(99), r"0\.\.2"),
        (lambda: m.rebuild(-1), r"0\.\.2"),
        (lambda: m.diff(0, 99), r"0\.\.2"),
        (lambda: m.flapping(0), "switches"),
        (lambda: m.visit("a", step=object()), r"\$"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert (look(m), m.head) == before


def test_a_bare_tuple_state_is_refused_as_targets_when_the_map_knows_it() -> None:
    m = WorldMap().see((0, 0), "e", to=(0, 1))
    with pytest.raises(BadArgument, match="wrap it"):
        m.next((0, 0), (0, 1))
    assert m.next((0, 0), [(0, 1)]) == "e"
    assert m.next((0, 0), ((0, 1),)) == "e"
    with pytest.raises(ValueRejected):
        m.next((0, 0), ((0, 1), []))
    assert m.next("nowhere", {(0, 1)}) is None


def test_a_stored_map_keeps_its_settings_and_a_new_one_is_recorded(tmp_path: Any) -> None:
    place = tmp_path / "map.jsonl"
    with WorldMap(place, hypothesis_cost=5) as m:
        m.see("a", "x", to="b")
    with WorldMap(place) as m:
        assert m.hypothesis_cost == 5
        n = len(m.journal)
    with WorldMap(place, hypothesis_cost=7) as m:
        assert m.hypothesis_cost == 7
        assert len(m.journal) == n + 1
        assert m.rebuild(n).hypothesis_cost == 5
        m.hypothesis_cost = 7
        assert m.distances({"b"})["a"] == (7, "x")


def test_settings_before_the_first_event_are_its_settings() -> None:
    m = WorldMap()
    m.hypothesis_cost = 9
    assert len(m.journal) == 0
    m.see("a", "x", to="b")
    assert m.rebuild().hypothesis_cost == 9


def test_four_threads_write_one_map() -> None:
    m = WorldMap()

    def work(n: int) -> None:
        for i in range(200):
            m.see((n, i), "x", to=(n, i + 1))
            m.arrive((n, i), "x", (n, i + 1))
            if i % 50 == 0:
                m.next((n, 0), {(n, i)})

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert m.stats()["confirmed"] == 800
    assert m.verify()


def test_two_maps_on_one_journal_see_each_other() -> None:
    journal = open_journal()
    a, b = WorldMap(journal=journal), WorldMap(journal=journal)
    a.see("hall", "north", to="garden")
    assert b.next("hall", {"garden"}) == "north"
    b.arrive("hall", "north", "cellar")
    assert a.claim("hall", "north") == b.claim("hall", "north")
    assert a.verify()
    assert b.verify()


def test_two_streams_of_one_journal_are_two_maps() -> None:
    journal = open_journal()
    a, b = WorldMap(journal=journal, stream="a"), WorldMap(journal=journal, stream="b")
    a.see("hall", "north")
    b.see("attic", "down")
    a.see("hall", "south")
    assert (a.states(), b.states()) == (["hall"], ["attic"])
    assert a.verify()
    assert b.verify()


def test_an_entry_that_is_no_event_is_refused_and_the_map_stays_as_it_was() -> None:
    journal = open_journal()
    m = WorldMap(journal=journal).see("a", "x", to="b")
    before = look(m)
    journal.append("see", {"state": "a", "action": "y", "to": "c"})
    journal.append("dance", {})
    with pytest.raises(UnknownFormat, match="entry 3 is no event of a map: no event of kind 'dance'"):
        m.next("a", {"b"})
    assert [values.encode([c.state, c.action]) for c in WorldMap(journal=journal.at(2)).claims()] == [
        b'{"~l":["a","x"]}'
    ]
    assert look(m.rebuild(2)) == before


def test_two_spellings_of_one_state_are_refused() -> None:
    journal = open_journal()
    WorldMap(journal=journal).see("a", "x")
    journal.record([("see", b'{"action":"x","state":"\\u0061"}')])
    with pytest.raises(ValueRejected, match="should read"):
        WorldMap(journal=journal)
    fresh = open_journal()
    fresh.record([("see", b'{"action":"x","state":{"a":1}}')])
    with pytest.raises(ValueRejected, match="cannot be a state"):
        WorldMap(journal=fresh)


def test_a_broken_journal_is_not_folded() -> None:
    m = WorldMap().see("a", "x", to="b")
    m.arrive("a", "x", "b")
    lines = list(m.journal.lines())
    lines[1] = lines[1].replace(b'"to":"b"', b'"to":"c"')
    with pytest.raises(BrokenChain, match="entry 1 was edited"):
        pickle.loads(pickle.dumps(_with_lines(m, lines)))


def _with_lines(m: WorldMap, lines: list[bytes]) -> WorldMap:
    state = m.__getstate__()
    state["lines"] = lines

    class Forged(WorldMap):
        def __reduce__(self) -> Any:
            return _restore, (state,)

    return Forged()


def _restore(state: dict[str, Any]) -> WorldMap:
    m = WorldMap.__new__(WorldMap)
    m.__setstate__(state)
    return m


# -- merging -----------------------------------------------------------------------------------------------------------


@given(write_st, write_st, write_st, write_st)
def test_merging_is_commutative_associative_and_idempotent(
    common: list[Any], left: list[Any], right: list[Any], later: list[Any]
) -> None:
    a = WorldMap()
    for op in common:
        play(a, op)
    b, c = copy.deepcopy(a), WorldMap(name="c")
    for m, ops in ((a, left), (b, right), (c, later)):
        for op in ops:
            play(m, op)

    def merged(*maps: WorldMap) -> WorldMap:
        whole = copy.deepcopy(maps[0])
        for other in maps[1:]:
            whole.merge(other)
        return whole

    ab, ba = merged(a, b), merged(b, a)
    assert sorted(look(ab)) == sorted(look(ba))
    assert ab.merge(b) == 0
    assert ab.merge(ba) == 0
    first, second = merged(ab, c), merged(a, merged(b, c))
    assert sorted(look(first)) == sorted(look(second))
    assert first.verify()
    for op in right:
        play(first, op)
        play(second, op)
    assert sorted(look(first)) == sorted(look(second))
    assert look(first.rebuild()) == look(first)
    for n in range(len(first.journal) + 1):
        assert first.rebuild(n).verify()


def test_a_merge_keeps_origins(tmp_path: Any) -> None:
    mine = WorldMap(name="mine").see("hall", "north", to="garden")
    with WorldMap(tmp_path / "yours.jsonl", name="yours") as yours:
        yours.arrive("hall", "north", "cellar")
    assert mine.merge(tmp_path / "yours.jsonl") == 1
    claim = mine.claim("hall", "north")
    assert claim is not None
    assert {e.origin for e in claim.evidence} == {None, "yours"}
    assert "from yours" in str(mine.why("hall", "north"))


def test_maps_that_fold_differently_do_not_merge() -> None:
    with pytest.raises(ValueError, match="differ in stochastic"):
        WorldMap().see("a", "x").merge(WorldMap(stochastic=True).see("a", "x"))
