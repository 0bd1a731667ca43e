from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from surefoot.drawing import Edge, Graph, Node, to_dot
from surefoot.drawing.looks import LOOKS

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text(
    '\\"<>&;\n\r\tuNGn0aamp{}[]', max_size=8
)
NASTY = [
    "", "\\", "\\\\", '"', '\\"', '"]; evil [label="', "<b>bold</b>", "&amp;", "&lt;", "a\nb", "a\r\nb", "\\n", "\\N",
    "\\G", "\\l", "\x00", "\x07", "\\u0007", "\u2028", "node", "graph", "a -> b", "a:b:c", "//", "/*", "#", "ünï",
    "日本", "🐈", "x" * 3000, " ", "?0", "%", "%3", "$", "a\\",
]  # fmt: skip
TOKEN = re.compile(r'\s+|("(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*")|(->|--|[\[\]{};,=])|([a-z]+)')


@dataclass
class Read:
    """What the text says, to the letter."""

    kind: str
    name: str
    join: set[str] = field(default_factory=set)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    defaults: dict[str, dict[str, str]] = field(default_factory=dict)


def tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, f"not DOT from here: {text[at : at + 60]!r}"
        at = match.end()
        if match.lastindex:
            found.append(match[0])
    return found


def read(text: str) -> Read:
    """Read the part of the DOT grammar that `to_dot` writes, and fail at anything else."""
    rest = iter(tokens(text))
    result = Read(next(rest), quoted(next(rest)))
    assert next(rest) == "{"
    for token in rest:
        if token == "}":
            assert next(rest, None) is None
            return result
        mark = next(rest)
        if mark in ("->", "--"):
            result.join.add(mark)
            target = quoted(next(rest))
            assert next(rest) == "["
            result.edges.append((quoted(token), target, settings(rest)))
            continue
        assert mark == "["
        if token.startswith('"'):
            assert quoted(token) not in result.nodes
            result.nodes[quoted(token)] = settings(rest)
        else:
            result.defaults[token] = settings(rest)
    raise AssertionError("no closing brace")


def settings(rest: Iterator[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    while True:
        name, equals, value, mark = itertools.islice(rest, 4)
        assert name.isalpha()
        assert equals == "="
        assert name not in given
        given[name] = quoted(value)
        if mark == "]":
            assert next(rest) == ";"
            return given
        assert mark == ","


def quoted(token: str) -> str:
    assert token[0] == token[-1] == '"'
    return token[1:-1]


def named(inside: str) -> str:
    """Return the id that a quoted name stands for."""
    return re.sub(r'\\(?:u([0-9a-f]{4})|(["\\]))', lambda m: chr(int(m[1], 16)) if m[1] else m[2], inside)


def drawn(inside: str) -> str:
    """Return what Graphviz draws for the inside of a quoted label."""
    text = re.sub(r'\\([n"\\])', lambda m: "\n" if m[1] == "n" else m[1], inside)
    assert "&" not in text.replace("&amp;", "")
    return text.replace("&amp;", "&")


def as_drawn(text: str) -> str:
    text = text.replace("\r\n", "\n")
    return re.sub("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", lambda m: f"\\u{ord(m[0]):04x}", text)


@given(name=texts, ids=st.lists(texts, unique=True, min_size=1, max_size=5), label=texts, status=texts, note=texts)
@example(name="", ids=NASTY, label='"]', status="\\", note="\n")
def test_any_text_comes_through(name: str, ids: list[str], label: str, status: str, note: str) -> None:
    nodes = [Node(one, one) for one in ids]
    edges = [Edge(ids[0], one, label, status) for one in ids]
    found = read(to_dot(Graph(name, nodes, edges, notes=[note])))
    assert (found.kind, named(found.name), found.join) == ("digraph", name, {"->"})
    assert [named(one) for one in found.nodes] == ids
    assert [drawn(given["label"]) for given in found.nodes.values()] == [as_drawn(one) for one in ids]
    assert [(named(source), named(target)) for source, target, _ in found.edges] == [(ids[0], one) for one in ids]
    wanted = label if status in LOOKS else f"{label} [{status}]"
    assert {drawn(given["label"]) for *_, given in found.edges} == {as_drawn(wanted)}
    assert {drawn(given["tooltip"]) for *_, given in found.edges} == {as_drawn(status)}
    assert drawn(found.defaults["graph"]["label"]).startswith(as_drawn(f"{name}\n{note}\n"))


def test_an_undirected_graph_joins_with_lines_and_speaks_of_no_arrowheads() -> None:
    text = to_dot(
        Graph("house", [Node("a", "A"), Node("b", "B")], [Edge("a", "b", "door", "confirmed")], directed=False)
    )
    found = read(text)
    assert (found.kind, found.join) == ("graph", {"--"})
    assert found.defaults["graph"]["label"] == "house\\nconfirmed: solid line"


def test_each_status_has_its_line_arrowhead_and_colour() -> None:
    edges = [Edge("a", "a", status, status) for status in LOOKS]
    found = read(to_dot(Graph("house", [Node("a", "A")], edges)))
    looks = [look for _, _, look in found.edges]
    assert [(look["style"], look["color"]) for look in looks] == [(look.line, look.light) for look in LOOKS.values()]
    assert len({(look["style"], look["arrowhead"]) for look in looks}) == len(LOOKS)
    assert all(f"{status}: {look.words}" in found.defaults["graph"]["label"] for status, look in LOOKS.items())


def test_kinds_have_looks_and_an_open_edge_ends_in_a_stub() -> None:
    kinds = ["start", "here", "goal", "choice", "unknown", "state", "other"]
    graph = Graph("house", [Node(kind, kind, kind) for kind in kinds], [Edge("start", None, "door", "refused")])
    found = read(to_dot(graph))
    looks = [tuple(sorted((given | {"label": ""}).items())) for given in list(found.nodes.values())[:7]]
    assert len(set(looks)) == 6  # `state` and `other` look the same
    assert found.nodes["?0"]["label"] == "⊘"
    assert found.edges[0][:2] == ("start", "?0")


def test_an_empty_graph_is_a_graph() -> None:
    assert read(to_dot(Graph("", []))).nodes == {}


def test_equal_graphs_give_equal_text() -> None:
    def made(names: str) -> Graph:
        return Graph("g", [Node("a", "A", attributes=dict.fromkeys(names, 1))], [Edge("a", "a", s, s) for s in "zyx"])

    assert to_dot(made("pqr")) == to_dot(made("rqp"))


def graphviz(text: str, form: str) -> str:
    dot = shutil.which("dot")
    if dot is None:
        pytest.skip("Graphviz is not installed: no `dot` on PATH")
    done = subprocess.run([dot, f"-T{form}"], input=text, capture_output=True, encoding="utf-8", timeout=60, check=True)
    assert "syntax" not in done.stderr
    return done.stdout


def test_graphviz_reads_every_name_and_draws_every_label() -> None:
    labels = [text for text in NASTY if text.strip() and len(text) < 100]
    nodes = [Node(text, f"x{text}x") for text in labels]
    edges = [Edge(labels[0], text, "", "tried") for text in labels]
    text = to_dot(Graph('the "graph"', nodes, edges, notes=["<i>", "&"]))
    read_back = json.loads(graphviz(text, "json0"))
    assert [named(one["name"].replace('"', '\\"')) for one in read_back["objects"]] == labels
    assert len(read_back["edges"]) == len(labels)
    picture = ET.fromstring(graphviz(text, "svg"))
    lines = {line.text for line in picture.iter("{http://www.w3.org/2000/svg}text")}
    missing = [line for one in labels for line in as_drawn(f"x{one}x").split("\n") if line not in lines]
    assert missing == []
