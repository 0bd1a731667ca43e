"""A drawing as one HTML page: pan, zoom, search, hide, read; no server and no network."""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import importlib.resources
import json
import re
from collections.abc import Mapping

from surefoot import values
from surefoot.drawing.graph import Graph
from surefoot.drawing.looks import looks_of
from surefoot.errors import BadArgument

__all__ = ["to_html"]

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_IN_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_FIRST = ("here", "start")


def to_html(graph: Graph, *, title: str | None = None, focus: str | None = None, most: int = 12_000) -> str:
    """Return one self-contained page that shows the graph and lets a reader search, hide and select in it.

    Edges are told apart by line, arrowhead and colour; each entry of the legend hides and shows its status, so refuted
    and untaken ones are there to be seen. The search box finds nodes and edges by label and id; a click, or Enter in a
    list, shows every attribute as text. Light or dark goes by the reader's system. All works from the keyboard.

    The page holds its data, its styles and its scripts, and a policy that forbids everything else: no request leaves
    it, and no text of the graph can run as code. Equal graphs give equal bytes.

    Args:
        graph: what to show.
        title: the headline; the name of the graph where it is None.
        focus: the id of the node from which the layout begins and around which a large graph is drawn; where it is
            None, the first node of kind `here`, else of kind `start`, else the first.
        most: how many nodes and edges are drawn at once, at least 1; of a larger graph the neighbourhood of the
            selected node is drawn, and lists and search hold the rest.

    Raises:
        BadArgument: `focus` is not the id of a node, `title` is not text, or `most` is not a positive int.
        ValueRejected: `title` holds a lone surrogate.

    Cost: linear; about 10 µs for a node or an edge, and 0.5 MB for the scripts.

    Example:
        >>> from surefoot.drawing import Edge, Graph, Node
        >>> house = Graph("house", [Node("a", "kitchen")], [Edge("a", None, "</script> door", "untaken")])
        >>> page = to_html(house, title="My house")
        >>> "<title>My house</title>" in page, "</script> door" in page, "http-equiv=" in page
        (True, False, True)
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise BadArgument(f"most must be an int >= 1, got {most!r}")
    if title is not None and not isinstance(title, str):
        raise BadArgument(f"title must be text, got {title!r}")
    if title is not None:
        values.encode(title)  # refuses a lone surrogate, which no file can hold
    data = json.dumps(_data(graph, focus, most), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    parts = {
        "title": html.escape(graph.name if title is None else title),
        "data": data.translate(_IN_SCRIPT),
        "style": _asset("page.css"),
        "cytoscape": _asset("cytoscape.min.js"),
        "layouts": _asset("layouts.js"),
        "springs": _asset("springs.js"),
        "page": _asset("page.js"),
        "policy": _policy(),
    }
    return _PLACE.sub(lambda found: parts[found[1]], _asset("page.html"))


def _data(graph: Graph, focus: str | None, most: int) -> dict[str, object]:
    """Return what the page's script reads: rows of places instead of objects, since there may be many."""
    places = {node.id: place for place, node in enumerate(graph.nodes)}
    if focus is not None and focus not in places:
        raise BadArgument(f"focus must be the id of a node, got {focus!r}")
    looks = looks_of(edge.status for edge in graph.edges)
    statuses = {status: place for place, status in enumerate(looks)}
    kinds = {kind: place for place, kind in enumerate(dict.fromkeys(node.kind for node in graph.nodes))}
    return {
        "name": graph.name,
        "notes": list(graph.notes),
        "directed": graph.directed,
        "first": _first(graph) if focus is None else places[focus],
        "most": most,
        "kinds": list(kinds),
        "statuses": [
            {
                "name": status,
                "meaning": look.meaning,
                "line": look.line,
                "arrow": look.arrow,
                "light": look.light,
                "dark": look.dark,
                "stub": look.stub,
            }
            for status, look in looks.items()
        ],
        "nodes": [[node.id, node.label, kinds[node.kind], _shown(node.attributes)] for node in graph.nodes],
        "edges": [
            [
                places[edge.source],
                -1 if edge.target is None else places[edge.target],
                edge.label,
                statuses[edge.status],
                _shown(edge.attributes),
                None if edge.weight is None else [repr(edge.weight)],
                edge.probability,
            ]
            for edge in graph.edges
        ],
    }


def _first(graph: Graph) -> int:
    """Return the place of the node to begin with, 0 where there is none."""
    for kind in _FIRST:
        for place, node in enumerate(graph.nodes):
            if node.kind == kind:
                return place
    return 0


def _shown(attributes: Mapping[str, object]) -> dict[str, object]:
    """Return attributes for reading: a text as it is, anything else as Python writes it, in a list of one."""
    return {name: value if isinstance(value, str) else [repr(value)] for name, value in attributes.items()}


@functools.cache
def _asset(name: str) -> str:
    """Return one of the files that the page is made of."""
    return (importlib.resources.files("surefoot.drawing") / "assets" / name).read_text(encoding="utf-8")


@functools.cache
def _policy() -> str:
    """Return the policy of the page: our own scripts and styles by their hash, and nothing from anywhere."""
    scripts = " ".join(_hash(name) for name in ("cytoscape.min.js", "layouts.js", "springs.js", "page.js"))
    return (
        f"default-src 'none'; script-src {scripts}; style-src {_hash('page.css')}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(name: str) -> str:
    """Return the source expression that allows exactly this file."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(_asset(name).encode()).digest()).decode()}'"
