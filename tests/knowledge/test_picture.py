"""A map as a picture."""

from __future__ import annotations

import networkx as nx

from surefoot import WorldMap


def drawn() -> WorldMap:
    m = WorldMap(name="house").visit("hall", title="Hall").see("hall", "north", to="garden").see("hall", "down")
    m.see("hall", "west", to="attic").see("hall", 1, to="den")
    m.arrive("hall", "west", "cellar")
    m.arrive("hall", "west", "cellar")
    m.refuse("hall", "east", "locked")
    m.arrive("garden", "south", "hall")
    m.human("garden", "south", "road")
    return m


def test_every_kind_of_claim_is_drawn_by_its_status() -> None:
    graph = drawn().to_graph()
    assert graph.name == "house"
    assert [(e.label, e.status) for e in graph.edges] == [
        ("north", "hypothesis"),
        ("down", "untaken"),
        ("west", "confirmed"),
        ("1", "hypothesis"),
        ("east", "refused"),
        ("south", "doubtful"),
        ("west", "refuted"),
    ]
    assert [n.label for n in graph.nodes] == ["hall", "garden", "attic", "den", "cellar", "road"]
    assert graph.nodes[0].attributes["title"] == "Hall"


def test_odds_are_drawn_on_a_stochastic_map() -> None:
    m = WorldMap(stochastic=True).see("ice", "up")
    for to in ("shore", "hole", "shore", "shore"):
        m.arrive("ice", "east", to)
    edges = m.to_graph().edges
    assert [(e.target, e.probability) for e in edges if e.label == "east"] == [('"shore"', 0.75), ('"hole"', 0.25)]


def test_a_refutation_that_was_right_after_all_is_not_drawn() -> None:
    m = WorldMap().see("a", "x", to="b").visit("a", facts={"refutes": {"to": 1}})
    m.arrive("a", "x", "c")
    m.arrive("a", "x", "b")
    assert [(e.status, e.target) for e in m.to_graph().edges] == [("confirmed", '"b"'), ("refuted", '"c"')]


def test_all_four_forms() -> None:
    m = drawn()
    graph = m.to_networkx()
    assert isinstance(graph, nx.MultiDiGraph)
    assert graph.number_of_edges() >= 6
    assert "digraph" in m.to_dot()
    assert nx.parse_graphml(m.to_graphml()).number_of_nodes() >= 6
    page = m.to_html("A house")
    assert "A house" in page
    assert "http://" not in page.split("<body")[1].split("<script")[0]
