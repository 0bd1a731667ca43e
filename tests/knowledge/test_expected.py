"""Expected-cost routes against plain value iteration on random stochastic maps."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import WorldMap
from surefoot.knowledge.expected import LOST

arrival_st = st.tuples(st.integers(0, 5), st.sampled_from("xy"), st.integers(0, 5), st.integers(1, 4))
said_st = st.tuples(st.integers(0, 5), st.sampled_from("xyz"), st.integers(0, 5))


def make(arrivals: list[tuple[int, str, int, int]], said: list[tuple[int, str, int]]) -> WorldMap:
    m = WorldMap(stochastic=True)
    for s, a, to, times in arrivals:
        for _ in range(times):
            m.arrive(s, a, to)
    for s, a, to in said:
        m.see(s, a, to)
    return m


def quality(m: WorldMap, value: dict[Any, float]) -> dict[tuple[Any, Any], float]:
    """Return the definition: what each claim costs, and then going on as well as `value` says."""
    found = {}
    for c in m.claims():
        places = c.counts if c.status == "confirmed" else ((c.to, 1),)
        total = sum(times for _, times in places)
        cost = 1 if c.status == "confirmed" else m.hypothesis_cost
        found[c.state, c.action] = cost + sum(times / total * value[to] for to, times in places)
    return found


def naive(m: WorldMap, target: int, sweeps: int = 4000) -> dict[Any, float]:
    """Value iteration with the option to give up, from above."""
    value: dict[Any, float] = {s: 0.0 if s == target else LOST for s in m.states()}
    for _ in range(sweeps):
        better = quality(m, value)
        new = {s: 0.0 if s == target else min([LOST, *(q for (at, _), q in better.items() if at == s)]) for s in value}
        if max((abs(new[s] - value[s]) for s in value), default=0.0) < 1e-10:
            break
        value = new
    return value


@given(st.lists(arrival_st, max_size=14), st.lists(said_st, max_size=5), st.integers(0, 5))
def test_agrees_with_value_iteration(arrivals: list[Any], said: list[Any], target: int) -> None:
    m = make(arrivals, said)
    value = naive(m, target)
    got = m.distances({target})
    for s, v in value.items():
        if v >= LOST * (1 - 1e-9):
            assert s not in got
            assert m.next(s, {target}) is None
            continue
        assert got[s][0] == pytest.approx(v, rel=1e-6, abs=1e-6)
        if s != target:
            best = quality(m, value)[s, m.next(s, {target})]
            assert best == pytest.approx(v, rel=1e-6, abs=1e-6)


def test_keeps_every_outcome_and_plans_on_the_odds() -> None:
    m = WorldMap(stochastic=True)
    refuted = [m.arrive("ice", "east", to) for to in ("shore", "hole", "shore", "shore")]
    assert refuted == [False, True, False, False]
    m.arrive("ice", "round", "path")
    m.arrive("path", "on", "shore")
    m.arrive("hole", "climb", "ice")
    claim = m.claim("ice", "east")
    assert claim is not None
    assert claim.to == "shore"
    assert [(o.to, o.times, len(o.evidence)) for o in claim.outcomes] == [("shore", 3, 3), ("hole", 1, 1)]
    # x = 1 + (1/4)(1 + x): the sum of a walk that falls in a quarter of the time
    assert m.route("ice", {"shore"}).cost == pytest.approx(5 / 3)
    assert m.route("ice", {"shore"}).steps == (("ice", "east"),)
    for _ in range(20):
        m.arrive("ice", "east", "hole")
    assert m.next("ice", {"shore"}) == "round"
    assert m.verify()


def test_a_certain_way_is_better_than_a_shorter_one_that_may_be_lost() -> None:
    m = WorldMap(stochastic=True)
    for to in ("goal", "pit", "goal"):
        m.arrive("start", "jump", to)
    assert m.next("start", {"goal"}) == "jump"
    assert m.route("start", {"goal"}).cost == pytest.approx(1 + LOST / 3)
    previous = "start"
    for n in range(6):
        m.arrive(previous, "walk", n if n < 5 else "goal")
        previous = n  # type: ignore[assignment]  # a number here
    assert m.next("start", {"goal"}) == "walk"
    assert m.route("pit", {"goal"}).known is False


def test_explores_towards_what_is_open() -> None:
    m = WorldMap(stochastic=True)
    for to in ("b", "a", "b"):
        m.arrive("a", "x", to)
    m.see("b", "y")
    assert m.explore("a") == "x"
    assert m.explore("b") == "y"
    m.arrive("b", "y", "c")
    assert m.explore("a") is None
    m.see("c", "z", to="a")
    assert m.explore("a") == "x"


def test_of_equal_ways_the_first_action_is_taken() -> None:
    m = WorldMap(stochastic=True)
    for action in ("m", "z", "k"):
        m.arrive("a", action, "b")
    assert m.next("a", {"b"}) == "k"
    assert m.distances({"b"}) == {"a": (1, "k"), "b": (0, None)}


def test_refused_and_unconfirmed_claims_are_left_out_when_asked() -> None:
    m = WorldMap(stochastic=True).see("a", "x", to="b").see("a", "y", to="b")
    assert m.next("a", {"b"}, confirmed_only=True) is None
    m.refuse("a", "x")
    assert m.next("a", {"b"}) == "y"
    assert WorldMap(stochastic=True).next("a", {"b"}) is None


@pytest.mark.untraced
def test_the_policy_reaches_the_target_as_fast_as_it_says() -> None:
    rng = random.Random(3)
    odds = {("s", "slip"): [("s", 0.8), ("t", 0.2)], ("s", "safe"): [("u", 1.0)], ("u", "go"): [("t", 0.5), ("s", 0.5)]}
    m = WorldMap(stochastic=True)
    for (s, a), places in odds.items():
        for to, p in places:
            for _ in range(round(20 * p)):
                m.arrive(s, a, to)
    steps = 0
    for _ in range(4000):
        at = "s"
        while at != "t":
            places = odds[at, m.next(at, {"t"})]
            at = rng.choices([to for to, _ in places], [p for _, p in places])[0]
            steps += 1
    assert steps / 4000 == pytest.approx(m.route("s", {"t"}).cost, rel=0.05)
