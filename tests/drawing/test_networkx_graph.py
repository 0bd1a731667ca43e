from __future__ import annotations

import subprocess
import sys

import networkx

from surefoot.drawing import Edge, Graph, Node, to_networkx

WITHOUT_NETWORKX = """
import sys
sys.modules["networkx"] = None  # what an import of a missing package comes to
from surefoot.drawing import Graph, to_dot, to_graphml, to_html, to_networkx
from surefoot.errors import MissingExtra
graph = Graph("house", [])
assert to_dot(graph) and to_graphml(graph) and to_html(graph)
try:
    to_networkx(graph)
except MissingExtra as error:
    sys.stdout.write(str(error))
"""


def house(*, directed: bool = True) -> Graph:
    nodes = [Node("a", "kitchen", "start", {"visits": 3, "where": (1, 2)}), Node("b", "hall")]
    edges = [
        Edge("a", "b", "door", "confirmed", {"label": "D", "key": 7, "u_for_edge": 1}, weight=2, probability=0.5),
        Edge("a", "b", "door", "refuted"),
        Edge("a", "a", "stay"),
    ]
    return Graph("house", nodes, edges, directed=directed, notes=["small"])


def test_nodes_and_edges_carry_exact_values() -> None:
    graph = house()
    result = to_networkx(graph)
    assert type(result) is networkx.MultiDiGraph
    assert result.graph == {"name": "house", "directed": True, "notes": ["small"]}
    assert list(result) == [node.id for node in graph.nodes]
    assert [result.nodes[node.id] for node in graph.nodes] == [node.flat() for node in graph.nodes]
    assert result.nodes["a"]["where"] == (1, 2)
    found = {key: (source, target, data) for source, target, key, data in result.edges(keys=True, data=True)}
    assert found == {place: (edge.source, edge.target, edge.flat()) for place, edge in enumerate(graph.edges)}
    assert result.edges["a", "b", 0] == {
        "label": "door", "status": "confirmed", "weight": 2, "probability": 0.5, "key": 7, "label_": "D",
        "u_for_edge": 1,
    }  # fmt: skip


def test_no_notes_no_attribute() -> None:
    assert to_networkx(Graph("", [])).graph == {"name": "", "directed": True}


def test_an_open_edge_ends_in_an_unknown_node() -> None:
    result = to_networkx(Graph("house", [Node("a", "kitchen")], [Edge("a", None, "door", "refused")]))
    assert list(result.edges) == [("a", "?0", 0)]
    assert result.nodes["?0"] == {"label": "⊘", "kind": "unknown"}


def test_an_undirected_graph_has_each_edge_both_ways_and_comes_back_whole() -> None:
    result = to_networkx(house(directed=False))
    assert sorted(result.edges(keys=True)) == [
        ("a", "a", 2),
        ("a", "b", 0),
        ("a", "b", 1),
        ("b", "a", 0),
        ("b", "a", 1),
    ]
    whole = result.to_undirected()
    assert sorted(whole.edges(keys=True)) == [("a", "a", 2), ("a", "b", 0), ("a", "b", 1)]
    assert whole.edges["b", "a", 1]["status"] == "refuted"


def test_changing_the_result_leaves_the_drawing_alone() -> None:
    graph = house()
    to_networkx(graph).nodes["a"]["visits"] = 4
    assert graph == house()


def test_without_networkx_one_sentence_says_what_to_install_and_the_rest_works() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NETWORKX], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "NetworkX graphs need the package networkx: pip install 'surefoot[networkx]'"
