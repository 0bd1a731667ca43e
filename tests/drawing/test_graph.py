from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.drawing import Edge, Graph, Node
from surefoot.errors import BadArgument, ValueRejected

A, B = Node("a", "kitchen"), Node("b", "hall")
names = st.sampled_from(["label", "kind", "status", "weight", "probability", "label_", "label__", "kind_", "x", ""])


@pytest.mark.parametrize("field", ["id", "label", "kind"])
def test_a_node_refuses_what_is_not_text(field: str) -> None:
    given: dict[str, Any] = {"id": "a", "label": "kitchen", "kind": "state", field: 3}
    with pytest.raises(BadArgument, match=f"^{field} of a node must be text, got 3$"):
        Node(**given)


@pytest.mark.parametrize("field", ["source", "target", "label", "status"])
def test_an_edge_refuses_what_is_not_text(field: str) -> None:
    given: dict[str, Any] = {"source": "a", "target": "b", "label": "door", "status": "given", field: 3}
    with pytest.raises(BadArgument, match=f"^{field} of an edge must be text, got 3$"):
        Edge(**given)


def test_a_lone_surrogate_is_refused_by_its_place() -> None:
    with pytest.raises(ValueRejected, match="^label of a node: "):
        Node("a", "\ud800")
    with pytest.raises(ValueRejected, match="^note of a graph: "):
        Graph("house", [], notes=["\ud800"])


def test_attributes_are_copied_and_in_the_order_of_their_names() -> None:
    inner = [1]
    mine: dict[str, object] = {"z": inner, "a": 1}
    node = Node("a", "kitchen", attributes=mine)
    inner.append(2)
    mine["b"] = 3
    assert list(node.attributes.items()) == [("a", 1), ("z", [1])]


def test_attributes_that_are_not_plain_are_refused_by_their_path() -> None:
    with pytest.raises(ValueRejected, match=r"^attributes of node 'a': \$\.x"):
        Node("a", "kitchen", attributes={"x": float("nan")})
    with pytest.raises(ValueRejected, match=r"^attributes of edge 'door' from 'a': "):
        Edge("a", "b", "door", attributes={"x": object()})
    nothing: Any = [("x", 1)]
    with pytest.raises(BadArgument, match=r"must be a mapping of names to plain values, got \[\('x', 1\)\]"):
        Node("a", "kitchen", attributes=nothing)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), True, "1", 1j])
def test_a_weight_is_a_finite_number(value: Any) -> None:
    with pytest.raises(BadArgument, match="^weight of edge 'door' from 'a' must be finite, got "):
        Edge("a", "b", "door", weight=value)


@pytest.mark.parametrize("value", [-0.001, 1.001, float("nan"), False, "1"])
def test_a_probability_is_in_its_range(value: Any) -> None:
    with pytest.raises(BadArgument, match=r"^probability of edge 'door' from 'a' must be in \[0, 1\], got "):
        Edge("a", "b", "door", probability=value)


def test_the_ends_of_the_ranges_are_taken() -> None:
    assert Edge("a", "b", "door", weight=-(10**400)).weight == -(10**400)
    assert [Edge("a", "b", "door", probability=p).probability for p in (0, 1)] == [0, 1]


@pytest.mark.parametrize(
    ("label", "probability", "caption"),
    [
        ("roll", None, "roll"),
        ("roll", 0.5, "roll (0.5)"),
        ("", 1, "(1)"),
        ("", None, ""),
        ("roll", 1e-9, "roll (1e-09)"),
    ],
)
def test_a_caption_shows_the_odds(label: str, probability: float | None, caption: str) -> None:
    assert Edge("a", "b", label, probability=probability).caption == caption


def test_nodes_edges_and_graphs_are_frozen_equal_by_value_and_survive_a_pickle() -> None:
    graph = Graph("house", [A, B], [Edge("a", "b", "door", attributes={"n": 1})], notes=["small"])
    with pytest.raises(FrozenInstanceError):
        graph.nodes[0].label = "x"  # type: ignore[misc]  # wrong on purpose
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert hash(graph.nodes[0]) == hash(Node("a", "kitchen"))
    assert graph != Graph("house", [A, B], [Edge("a", "b", "door", attributes={"n": 2})], notes=["small"])


def test_two_nodes_with_one_id_are_refused() -> None:
    with pytest.raises(BadArgument, match="^two nodes have the id 'a': an id belongs to one node$"):
        Graph("house", [A, Node("a", "other")])


@pytest.mark.parametrize("edge", [Edge("c", "a", "door"), Edge("a", "c", "door"), Edge("c", None, "door")])
def test_an_end_that_is_not_a_node_is_refused(edge: Edge) -> None:
    with pytest.raises(BadArgument, match=r"has the end 'c', which is not a node; add Node\('c', \.\.\.\)"):
        Graph("house", [A], [edge])


def test_a_graph_refuses_arguments_of_another_type() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"name": None}, "name of a graph must be text, got None"),
        ({"directed": 1}, "directed must be True or False, got 1"),
        ({"nodes": "ab"}, "nodes must be a sequence of Node, got 'ab'; put it into a list"),
        ({"nodes": None}, "nodes must be a sequence of Node, got None; put it into a list"),
        ({"nodes": A}, "nodes must be a sequence of Node, got Node"),
        ({"nodes": ["a"]}, r"nodes\[0\] must be a Node, got 'a'"),
        ({"edges": [A]}, r"edges\[0\] must be a Edge, got Node"),
        ({"notes": "one"}, "notes must be a sequence of str, got 'one'; put it into a list"),
        ({"notes": [1]}, r"notes\[0\] must be a str, got 1"),
    ]
    for change, message in wrong:
        given: dict[str, Any] = {"name": "house", "nodes": [A], **change}
        with pytest.raises(BadArgument, match="^" + message):
            Graph(**given)


def test_a_graph_keeps_its_own_nodes_and_edges_in_their_order() -> None:
    nodes = [B, A]
    edges = (edge for edge in [Edge("b", "a", "2"), Edge("b", "a", "1"), Edge("b", "a", "1")])
    graph = Graph("house", nodes, edges)  # type: ignore[arg-type]  # any iterable will do
    nodes.clear()
    assert [node.id for node in graph.nodes] == ["b", "a"]
    assert [edge.label for edge in graph.edges] == ["2", "1", "1"]


@given(attributes=st.dictionaries(names, st.integers()))
def test_flat_loses_nothing_whatever_the_names(attributes: dict[str, int]) -> None:
    node = Node("a", "L", "K", attributes).flat()
    edge = Edge("a", None, "L", "S", attributes, weight=-1, probability=0.5).flat()
    bare = Edge("a", None, "L", "S", attributes).flat()
    for flat, own in (
        (node, {"label": "L", "kind": "K"}),
        (edge, {"label": "L", "status": "S", "weight": -1, "probability": 0.5}),
        (bare, {"label": "L", "status": "S"}),
    ):
        assert {name: flat[name] for name in own} == own
        rest = {name: value for name, value in flat.items() if name not in own}
        assert sorted(map(repr, rest.values())) == sorted(map(repr, attributes.values()))
        assert {name.rstrip("_") for name in rest} == {name.rstrip("_") for name in attributes}
    assert "weight" not in bare
    assert "probability" not in bare


def test_closed_gives_every_open_edge_an_end_of_its_own() -> None:
    graph = Graph("house", [A, Node("?0", "x")], [Edge("a", None, "1"), Edge("a", None, "2", "refused")], notes=["n"])
    closed = graph.closed()
    assert [(node.id, node.label, node.kind) for node in closed.nodes[2:]] == [
        ("??0", "?", "unknown"),
        ("??1", "⊘", "unknown"),
    ]
    assert [(edge.source, edge.target, edge.label) for edge in closed.edges] == [("a", "??0", "1"), ("a", "??1", "2")]
    assert (closed.name, closed.directed, closed.notes) == (graph.name, graph.directed, graph.notes)
    assert closed.closed() is closed
    assert len(graph.nodes) == 2


@given(ids=st.lists(st.text(alphabet="?0", max_size=4), unique=True, min_size=1))
def test_closed_never_takes_an_id_that_is_there(ids: list[str]) -> None:
    closed = Graph("g", [Node(one, "") for one in ids], [Edge(one, None, "") for one in ids]).closed()
    assert len({node.id for node in closed.nodes}) == 2 * len(ids)
