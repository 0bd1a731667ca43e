"""A drawing as a NetworkX graph (needs the extra `networkx`)."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from surefoot.drawing.graph import Graph
from surefoot.errors import MissingExtra

if TYPE_CHECKING:
    import networkx

__all__ = ["networkx_module", "to_networkx"]


def networkx_module() -> ModuleType:
    """Return the package networkx, imported when it is first asked for.

    Raises:
        MissingExtra: NetworkX is not installed.

    Example:
        >>> networkx_module().DiGraph([("a", "b")]).number_of_edges()
        1
    """
    try:
        import networkx
    except ImportError as error:
        raise MissingExtra.of("networkx", extra="networkx", what="NetworkX graphs") from error
    return networkx


def to_networkx(graph: Graph) -> networkx.MultiDiGraph[str]:
    """Return the graph for NetworkX: nodes by id, edges keyed by their place in `graph.edges`.

    Nodes and edges carry what `Node.flat` and `Edge.flat` return, with exact Python values; an edge without a target
    ends in a node of kind `unknown`. `result.graph` holds `name`, `directed` and, where there are any, `notes`. An
    undirected graph comes out with each edge both ways under one key, so that `result.to_undirected()` is that graph.

    Raises:
        MissingExtra: NetworkX is not installed.

    Cost: linear; about 5 µs for a node or an edge, and half a second for the first import of NetworkX.

    Example:
        >>> from surefoot.drawing import Edge, Graph, Node
        >>> house = Graph("house", [Node("a", "kitchen"), Node("b", "hall")], [Edge("a", "b", "door", "confirmed")])
        >>> to_networkx(house)["a"]["b"][0]
        {'label': 'door', 'status': 'confirmed'}
    """
    result: networkx.MultiDiGraph[str] = networkx_module().MultiDiGraph(name=graph.name, directed=graph.directed)
    if graph.notes:
        result.graph["notes"] = list(graph.notes)
    closed = graph.closed()
    for node in closed.nodes:
        result.add_node(node.id)
        result.nodes[node.id].update(node.flat())
    for place, edge in enumerate(closed.edges):
        if edge.target is None:
            continue
        ends = [(edge.source, edge.target)]
        if not graph.directed and edge.source != edge.target:
            ends.append((edge.target, edge.source))
        for source, target in ends:
            result.add_edge(source, target, place)
            result.edges[source, target, place].update(edge.flat())
    return result
