from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from surefoot import WorldMap, values
from surefoot.agent.detour import Leg, detour, is_open


def key(state: Any, action: Any) -> tuple[bytes, bytes]:
    return values.encode_state(state), values.encode_action(action)


def test_the_nearest_open_action_that_is_not_left_out() -> None:
    known = WorldMap().see("a", "x").see("a", "y", to="b").see("b", "x")
    known.arrive("a", "y", "b")
    assert detour(known, "a", without=()) == [Leg("a", "x", None)]
    assert detour(known, "a", without={key("a", "x")}) == [Leg("a", "y", "b"), Leg("b", "x", None)]
    assert detour(known, "a", without={key("a", "x"), key("b", "x")}) == []
    assert detour(known, "a", without={key("a", "x"), key("a", "y")}) == []


def test_what_nobody_has_checked_comes_before_what_is_in_doubt() -> None:
    known = WorldMap()
    known.arrive("a", "x", "b")
    known.drop()
    known.see("a", "y")
    assert detour(known, "a", without=())[0].action == "y"
    assert detour(known, "a", without={key("a", "y")})[0].action == "x"


def test_refused_actions_and_unknown_destinations_lead_nowhere() -> None:
    known = WorldMap().see("a", "x", to="b").refuse("a", "x").see("a", "y")
    assert detour(known, "a", without=(), targets={values.encode_state("b")}) == []
    assert detour(known, "a", without={key("a", "y")}) == []


def test_a_target_that_is_here_needs_no_way_and_an_unknown_state_has_none() -> None:
    known = WorldMap().see("a", "x", to="b")
    assert detour(known, "a", without=(), targets={values.encode_state("a")}) == []
    assert detour(known, "nowhere", without=()) == []


def test_open_is_what_can_teach_something() -> None:
    known = WorldMap().see("a", "x").refuse("a", "y")
    known.arrive("a", "z", "b")
    assert [is_open(claim) for claim in known.claims("a")] == [True, False, False]
    known.drop()
    assert [is_open(claim) for claim in known.claims("a")] == [True, True, True]


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("xy"), st.sampled_from("abcde"), st.booleans())),
    st.sampled_from("abcde"),
)
def test_with_nothing_left_out_it_costs_what_the_map_says(moves: list[tuple[str, str, str, bool]], target: str) -> None:
    known = WorldMap(hypothesis_cost=4)
    for state, action, to, went in moves:
        if went:
            known.arrive(state, action, to)
        else:
            known.see(state, action, to)
    legs = detour(known, "a", without=(), targets={values.encode_state(target)})
    way = known.route("a", {target})
    taken = [claim for leg in legs if (claim := known.claim(leg.state, leg.action)) is not None]
    cost = sum(1 if claim.status == "confirmed" else 4 for claim in taken)
    assert len(taken) == len(legs)
    assert cost == (way.cost if way.known else 0)
    assert bool(legs) == bool(way.steps)
    if legs:
        assert legs[-1].to == target
