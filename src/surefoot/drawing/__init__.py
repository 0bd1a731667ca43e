"""Pictures of graphs: Graphviz DOT, GraphML, NetworkX, and one HTML page that needs no network."""

from __future__ import annotations

from surefoot.drawing.dot import to_dot
from surefoot.drawing.graph import Edge, Graph, Node
from surefoot.drawing.graphml import to_graphml
from surefoot.drawing.networkx_graph import to_networkx
from surefoot.drawing.page import to_html

__all__ = ["Edge", "Graph", "Node", "to_dot", "to_graphml", "to_html", "to_networkx"]
