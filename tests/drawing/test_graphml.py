from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import values
from surefoot.drawing import Edge, Graph, Node, to_graphml

SPACE = "{http://graphml.graphdrawing.org/xmlns}"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text('\\u0a7&<>"]\n\t\r \x00', max_size=8)
scalars = st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | texts


def unescaped(text: str) -> str:
    return re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), text)


def keys_of(text: str) -> dict[str, str]:
    return {key.attrib["attr.name"]: key.attrib["attr.type"] for key in ET.fromstring(text).iter(f"{SPACE}key")}


def data_of(text: str, tag: str) -> list[dict[str, str]]:
    root = ET.fromstring(text)
    names = {key.attrib["id"]: key.attrib["attr.name"] for key in root.iter(f"{SPACE}key")}
    return [
        {unescaped(names[data.attrib["key"]]): unescaped(data.text or "") for data in one.findall(f"{SPACE}data")}
        for one in root.iter(f"{SPACE}{tag}")
    ]


def test_networkx_reads_back_what_was_written() -> None:
    nodes = [
        Node("a", "kitchen", "start", {"visits": 3, "lit": True, "area": 2.5, "colour": "red & <blue>"}),
        Node("b\n", 'hall "x"', attributes={"visits": -(2**63), "lit": False, "area": 1e300}),
    ]
    edges = [Edge("a", "b\n", "door", "confirmed", weight=2), Edge("a", "b\n", "door", "refuted", weight=0.5)]
    read = networkx.parse_graphml(to_graphml(Graph("house", nodes, [*edges, Edge("b\n", None, "up", "untaken")])))
    assert isinstance(read, networkx.MultiDiGraph)
    assert read.graph["name"] == "house"
    assert dict(read.nodes(data=True)) == {
        "a": nodes[0].flat(),
        "b\n": nodes[1].flat(),
        "?0": {"label": "?", "kind": "unknown"},
    }
    assert [(source, target, data) for source, target, data in read.edges(data=True)] == [
        ("a", "b\n", {"label": "door", "status": "confirmed", "weight": 2.0}),
        ("a", "b\n", {"label": "door", "status": "refuted", "weight": 0.5}),
        ("b\n", "?0", {"label": "up", "status": "untaken"}),
    ]


def test_an_undirected_graph_stays_one() -> None:
    text = to_graphml(Graph("house", [Node("a", "A"), Node("b", "B")], [Edge("a", "b", "door")], directed=False))
    assert not networkx.parse_graphml(text).is_directed()


@given(ids=st.lists(texts, unique=True, min_size=1, max_size=4), label=texts, name=texts, value=scalars)
def test_any_text_comes_through(ids: list[str], label: str, name: str, value: object) -> None:
    graph = Graph(label, [Node(one, one, label, {name: value}) for one in ids], [Edge(ids[0], ids[-1], label, name)])
    text = to_graphml(graph)
    root = ET.fromstring(text.encode())
    assert [unescaped(node.attrib["id"]) for node in root.iter(f"{SPACE}node")] == ids
    rows = data_of(text, "node")
    assert [row["label"] for row in rows] == ids
    assert {row["kind"] for row in rows} == {label}
    (edge,) = data_of(text, "edge")
    assert edge == {"label": label, "status": name}
    (shown,) = {row[next(key for key in row if key not in ("label", "kind"))] for row in rows}
    if isinstance(value, bool):
        assert shown == str(value).lower()
    else:
        assert type(value)(shown) == value  # type: ignore[call-arg]  # any plain type


@given(st.lists(st.text("\x00\x07\\u07", max_size=9), unique=True, min_size=2, max_size=6))
def test_different_ids_stay_different(ids: list[str]) -> None:
    root = ET.fromstring(to_graphml(Graph("g", [Node(one, "") for one in ids])))
    assert len({node.attrib["id"] for node in root.iter(f"{SPACE}node")}) == len(ids)


def test_control_characters_are_written_as_escapes() -> None:
    text = to_graphml(Graph("g", [Node("a", "\x00 \x07 \ufffe \\u0007 \\x")]))
    assert data_of(text, "node")[0]["label"] == "\x00 \x07 \ufffe \\u0007 \\x"
    assert "\\u0000 \\u0007 \\ufffe \\u005cu0007 \\x" in text


@pytest.mark.parametrize(
    "found", [[1, "1"], [1, 1.0], [True, 1], [2**63], [None], [(1, 2)], [{"a": [1.5]}], [-(2**63) - 1, 3]]
)
def test_what_graphml_has_no_type_for_is_written_exactly(found: list[object]) -> None:
    text = to_graphml(Graph("g", [Node(str(n), "", attributes={"x": value}) for n, value in enumerate(found)]))
    assert keys_of(text)["x"] == "string"
    assert values.FORMAT in text
    assert [repr(values.decode(row["x"].encode())) for row in data_of(text, "node")] == [repr(one) for one in found]


def test_weights_and_probabilities_are_doubles_while_that_is_exact() -> None:
    def drawn(*weights: float) -> str:
        edges = [Edge("a", "a", "", weight=weight, probability=1) for weight in weights]
        return to_graphml(Graph("g", [Node("a", "")], edges))

    text = drawn(1, 2.5, 2**53)
    assert [keys_of(text)[name] for name in ("weight", "probability")] == ["double", "double"]
    assert [float(row["weight"]) for row in data_of(text, "edge")] == [1, 2.5, 2**53]
    text = drawn(1, 10**400)
    assert keys_of(text)["weight"] == "string"
    assert [values.decode(row["weight"].encode()) for row in data_of(text, "edge")] == [1.0, 10**400]


def test_notes_and_an_empty_graph() -> None:
    read = networkx.parse_graphml(to_graphml(Graph("house", [], notes=["one", "two"])))
    assert (read.graph["notes"], len(read)) == ("one\ntwo", 0)


def test_equal_graphs_give_equal_text() -> None:
    def made(names: str) -> Graph:
        return Graph("g", [Node("a", "A", attributes=dict.fromkeys(names, 1))], [Edge("a", "a", "s")])

    assert to_graphml(made("pqr")) == to_graphml(made("rqp"))
