"""Ways over a map, and what is left to explore."""

from __future__ import annotations

import pytest

from surefoot import WorldMap, values
from surefoot.errors import BadArgument
from surefoot.knowledge.expected import LOST


def test_distances_are_exact_and_know_unknown_targets() -> None:
    m = WorldMap().see(1, "x", to=True)
    far = m.distances([True, "moon"])
    assert far[1] == (3, "x")
    assert far[True] == (0, None)
    assert far["moon"] == (0, None)
    assert len(far) == 3


def test_what_has_no_way_has_no_distance() -> None:
    m = WorldMap().see("a", "x", to="b").see("elsewhere", "x")
    assert m.distances(["b"]) == {"a": (3, "x"), "b": (0, None)}


def test_an_open_action_here_comes_first_and_a_doubtful_one_after_the_untaken() -> None:
    m = WorldMap().see("a", "z")
    m.arrive("a", "b", "c")
    m.human("a", "b", "d")
    assert m.explore("a") == "z"
    m.refuse("a", "z")
    assert m.explore("a") == "b"
    assert m.explore("nowhere") is None


def test_a_question_asked_encoded_has_the_same_answer() -> None:
    m = WorldMap().see("a", "n", to="b").see("b", "n", to="c").see("d", "n")
    for state in ("a", "b", "c", "d", "nowhere"):
        action = m.next(state, {"c"})
        encoded = m.next_encoded(values.encode_state(state), frozenset({b'"c"'}))
        assert encoded == (None if action is None else values.encode_action(action))


def test_hope_leads_where_little_was_tried_and_fades() -> None:
    m = WorldMap(stochastic=True)
    for place in ["shore", *["water"] * 9]:
        m.arrive("ice", "walk", place)
    m.see("ice", "crawl")
    sure = m.distances({"shore"})
    assert sure["ice"] == (1 + 0.9 * LOST, "walk")
    assert m.hopes({"shore"})["ice"] == (1.0, "crawl")
    costs = []
    for _ in range(18):  # beyond what hope lasts
        m.arrive("ice", "crawl", "water")
        costs.append(m.hopes({"shore"})["ice"][0])
    assert costs == sorted(costs)
    assert m.hopes({"shore"})["ice"][1] == "walk"
    assert m.hopes({"shore", "moon"})["moon"] == (0, None)
    assert m.distances({"shore"}) == sure


def test_a_certain_map_has_no_hopes() -> None:
    with pytest.raises(BadArgument, match="stochastic"):
        WorldMap().hopes({"a"})
