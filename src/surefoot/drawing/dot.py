"""A drawing in the DOT language of Graphviz."""

from __future__ import annotations

import re

from surefoot.drawing.graph import Edge, Graph, Node
from surefoot.drawing.looks import Arrow, Look, looks_of

__all__ = ["to_dot"]

_ARROWS: dict[Arrow, str] = {
    "filled": "normal",
    "hollow": "empty",
    "open": "vee",
    "diamond": "ediamond",
    "circle": "odot",
    "square": "obox",
    "crossed": "normaltee",
    "wall": "tee",
}
_KINDS = {
    "start": {"style": "rounded,bold"},
    "here": {"style": "rounded,bold,filled", "fillcolor": "#fff3bf"},
    "goal": {"peripheries": "2"},
    "choice": {"shape": "diamond", "style": "solid", "fontsize": "9"},
    "unknown": {"shape": "circle", "style": "dotted", "fontsize": "9", "margin": "0.02", "width": "0.2"},
}
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_HIDDEN = re.compile(_INVISIBLE.pattern + r"|\A%")


def to_dot(graph: Graph) -> str:
    r"""Return the graph as DOT text that Graphviz reads whatever the ids and labels hold.

    Ids are the names of the nodes and labels their labels; quotes, backslashes, `<…>`, `&` and line breaks come out as
    they were given, and a control character (or a `%` that begins an id) as `\u0007`. The status of an edge sets its
    line, its arrowhead and its colour (see `looks`), and the words for them stand under the picture. Equal graphs give
    equal text.

    Cost: linear; about 10 µs for a node or an edge.

    Example:
        >>> from surefoot.drawing import Edge, Graph, Node
        >>> house = Graph("house", [Node("a", 'the "hall"')], [Edge("a", None, "door", "untaken")])
        >>> hall, unknown, door = to_dot(house).splitlines()[4:7]
        >>> print(hall)
          "a" [label="the \"hall\""];
        >>> print(door.partition(", color")[0])
          "a" -> "?0" [style="dotted", arrowhead="odot"
    """
    closed = graph.closed()
    looks = looks_of(edge.status for edge in closed.edges)
    legend = [f"{status}: {look.words if graph.directed else look.line + ' line'}" for status, look in looks.items()]
    about = "\n".join([graph.name, *graph.notes, *legend])
    join = "->" if graph.directed else "--"
    lines = [
        f"{'digraph' if graph.directed else 'graph'} {_name(graph.name)} {{",
        f"  graph {_settings({'rankdir': 'LR', 'labelloc': 'b', 'fontname': 'Helvetica', 'label': about})};",
        f"  node {_settings({'shape': 'box', 'style': 'rounded', 'fontname': 'Helvetica'})};",
        f"  edge {_settings({'fontname': 'Helvetica', 'fontsize': '10'})};",
        *(f"  {_name(node.id)} {_settings(_node(node))};" for node in closed.nodes),
        *(
            f"  {_name(edge.source)} {join} {_name(edge.target or '')} {_settings(_edge(edge, looks[edge.status]))};"
            for edge in closed.edges
        ),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _node(node: Node) -> dict[str, str]:
    """Return the settings of one node."""
    return {"label": node.label} | _KINDS.get(node.kind, {})


def _edge(edge: Edge, look: Look) -> dict[str, str]:
    """Return the settings of one edge; a status that is not listed is named in its label too."""
    return {
        "style": look.line,
        "arrowhead": _ARROWS[look.arrow],
        "color": look.light,
        "fontcolor": look.light,
        "label": edge.caption if look.meaning else f"{edge.caption} [{edge.status}]",
        "tooltip": edge.status,
    }


def _settings(settings: dict[str, str]) -> str:
    """Return an attribute list."""
    return "[" + ", ".join(f'{name}="{_shown(value)}"' for name, value in settings.items()) + "]"


def _name(text: str) -> str:
    r"""Return a quoted name: different texts stay different, since a lone `\u` can only be an escape of ours.

    A `%` in front is escaped too: Graphviz keeps such names for itself and would give the node another one.
    """
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _HIDDEN.sub(_visible, text) + '"'


def _shown(text: str) -> str:
    r"""Return the inside of a quoted text that is drawn, in which `\n` breaks a line and `&` begins an entity."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;").replace("\r\n", "\n")
    return _INVISIBLE.sub(lambda found: "\\n" if found[0] == "\n" else "\\" + _visible(found), text)


def _visible(found: re.Match[str]) -> str:
    r"""Return a control character as `\u0007`."""
    return f"\\u{ord(found[0]):04x}"
