"""What can be drawn: nodes, edges with a status, and the graph of both; checked once, then never changed.

This layer knows nothing of maps, claims or models. Whoever wants a picture makes a `Graph` and hands it to `to_dot`,
`to_graphml`, `to_html` or `to_networkx`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from surefoot import values
from surefoot.drawing.looks import look_of
from surefoot.errors import BadArgument, ValueRejected

__all__ = ["Edge", "Graph", "Node"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Node:
    """Hold one node.

    Args:
        id: what tells it from every other node; any text.
        label: what is shown; any text.
        kind: what it is. `state`, `start`, `here`, `goal`, `choice` (a point where chance decides) and `unknown` have
            looks of their own; anything else looks like a state and is named in the legend of `to_html`.
        attributes: more to show, plain values by name; copied, and in the order of the names from then on.

    Raises:
        BadArgument: `id`, `label` or `kind` is not text, or `attributes` is not a mapping.
        ValueRejected: a text holds a lone surrogate, or an attribute is not a plain value.

    Cost: about 2 µs, more with attributes.

    Example:
        >>> Node("s1", "kitchen", attributes={"visits": 3})
        Node(id='s1', label='kitchen', kind='state', attributes={'visits': 3})
    """

    id: str
    label: str
    kind: str = "state"
    attributes: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check and copy what was given."""
        for name in ("id", "label", "kind"):
            object.__setattr__(self, name, _text(getattr(self, name), name, "a node"))
        object.__setattr__(self, "attributes", _attributes(self.attributes, f"node {self.id!r}"))

    def flat(self) -> dict[str, object]:
        """Return label, kind and attributes as one dict; an attribute whose name is taken gets a `_` at its end.

        Example:
            >>> Node("s1", "kitchen", attributes={"label": "K", "visits": 3}).flat()
            {'label': 'kitchen', 'kind': 'state', 'label_': 'K', 'visits': 3}
        """
        return _flat({"label": self.label, "kind": self.kind}, self.attributes)


@dataclass(frozen=True, slots=True)
class Edge:
    """Hold one edge.

    Args:
        source: the id of the node where it begins.
        target: the id of the node where it ends; None where nobody knows.
        label: what is shown, mostly the action; any text.
        status: how sure it is. `given`, `confirmed`, `hypothesis`, `doubtful`, `untaken`, `refuted` and `refused`
            have looks of their own (see `looks`); any other word is given one.
        attributes: more to show, plain values by name; copied, and in the order of the names from then on.
        weight: what it costs, a finite number; None where that has no meaning.
        probability: the odds that its source leads to its target, in [0, 1]; None where that has no meaning.

    Raises:
        BadArgument: a text is not text, `attributes` is not a mapping, or a number is outside its range.
        ValueRejected: a text holds a lone surrogate, or an attribute is not a plain value.

    Cost: about 3 µs, more with attributes.

    Example:
        >>> Edge("s1", None, "open", "untaken").target is None
        True
        >>> Edge("s1", "s2", "roll", probability=1.5)
        Traceback (most recent call last):
        surefoot.errors.BadArgument: probability of edge 'roll' from 's1' must be in [0, 1], got 1.5
    """

    source: str
    target: str | None
    label: str
    status: str = "given"
    attributes: Mapping[str, object] = field(default_factory=dict, hash=False)
    weight: float | None = None
    probability: float | None = None

    def __post_init__(self) -> None:
        """Check and copy what was given."""
        for name in ("source", "label", "status"):
            object.__setattr__(self, name, _text(getattr(self, name), name, "an edge"))
        if self.target is not None:
            object.__setattr__(self, "target", _text(self.target, "target", "an edge"))
        what = f"edge {self.label!r} from {self.source!r}"
        object.__setattr__(self, "attributes", _attributes(self.attributes, what))
        if self.weight is not None:
            object.__setattr__(self, "weight", _number(self.weight, f"weight of {what}", "finite", -math.inf, math.inf))
        if self.probability is not None:
            checked = _number(self.probability, f"probability of {what}", "in [0, 1]", 0, 1)
            object.__setattr__(self, "probability", checked)

    @property
    def caption(self) -> str:
        """Return the label, with the probability behind it where there is one.

        Example:
            >>> Edge("s1", "s2", "roll", probability=1 / 6).caption
            'roll (0.1667)'
        """
        if self.probability is None:
            return self.label
        odds = f"({self.probability:.4g})"
        return f"{self.label} {odds}" if self.label else odds

    def flat(self) -> dict[str, object]:
        """Return label, status, weight, probability and attributes as one dict, without the numbers that are None.

        An attribute whose name is taken gets a `_` at its end.

        Example:
            >>> Edge("s1", "s2", "roll", weight=2, attributes={"source": "seen"}).flat()
            {'label': 'roll', 'status': 'given', 'weight': 2, 'source': 'seen'}
        """
        own: dict[str, object] = {"label": self.label, "status": self.status}
        numbers = {"weight": self.weight, "probability": self.probability}
        taken = own | numbers
        flat = _flat(taken, self.attributes)
        return {name: value for name, value in flat.items() if not (name in numbers and value is None)}


@dataclass(frozen=True, slots=True)
class Graph:
    """Hold nodes and edges; more than one edge may join two nodes.

    Args:
        name: what it is a picture of; any text.
        nodes: the nodes, each id once; kept in this order.
        edges: the edges between those nodes; kept in this order.
        directed: False where an edge means both ways.
        notes: sentences to show beside it.

    Raises:
        BadArgument: two nodes have one id, an edge has an end that is not a node, or an argument is of another type.

    Cost: linear in nodes and edges.

    Example:
        >>> kitchen, hall = Node("s1", "kitchen"), Node("s2", "hall")
        >>> graph = Graph("house", [kitchen, hall], [Edge("s1", "s2", "door", "confirmed"), Edge("s2", None, "stairs")])
        >>> len(graph.nodes), len(graph.edges)
        (2, 2)
        >>> Graph("house", [kitchen], [Edge("s1", "s2", "door")])
        Traceback (most recent call last):
        surefoot.errors.BadArgument: edge 'door' from 's1' has the end 's2', which is not a node; add \
Node('s2', ...), or use target=None where nobody knows
    """

    name: str
    nodes: Sequence[Node]
    edges: Sequence[Edge] = ()
    directed: bool = True
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check that ids are unique and that every end is a node."""
        object.__setattr__(self, "name", _text(self.name, "name", "a graph"))
        if not isinstance(self.directed, bool):
            raise BadArgument(f"directed must be True or False, got {self.directed!r}")
        object.__setattr__(self, "nodes", _all_of(self.nodes, Node, "nodes"))
        object.__setattr__(self, "edges", _all_of(self.edges, Edge, "edges"))
        notes = tuple(_text(note, "note", "a graph") for note in _all_of(self.notes, str, "notes"))
        object.__setattr__(self, "notes", notes)
        ids: set[str] = set()
        for node in self.nodes:
            if node.id in ids:
                raise BadArgument(f"two nodes have the id {node.id!r}: an id belongs to one node")
            ids.add(node.id)
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end is not None and end not in ids:
                    raise BadArgument(
                        f"edge {edge.label!r} from {edge.source!r} has the end {end!r}, which is not a node; "
                        f"add Node({end!r}, ...), or use target=None where nobody knows"
                    )

    def closed(self) -> Graph:
        """Return the same graph with a small node of kind `unknown` at the end of each edge that has none.

        Cost: linear in nodes and edges.

        Example:
            >>> Graph("house", [Node("s1", "kitchen")], [Edge("s1", None, "door")]).closed().nodes[1]
            Node(id='?0', label='?', kind='unknown', attributes={})
        """
        if all(edge.target is not None for edge in self.edges):
            return self
        free = self._free_ids()
        nodes, edges = list(self.nodes), []
        for edge in self.edges:
            if edge.target is None:
                nodes.append(Node(next(free), look_of(edge.status).stub, "unknown"))
                edge = replace(edge, target=nodes[-1].id)
            edges.append(edge)
        return replace(self, nodes=nodes, edges=edges)

    def _free_ids(self) -> Iterator[str]:
        """Return ids that no node has: `?0`, `?1`, …, with more `?` in front where one of those is taken."""
        longest = max((len(node.id) - len(node.id.lstrip("?")) for node in self.nodes), default=0)
        return (f"{'?' * (longest + 1)}{number}" for number in itertools.count())


def _text(value: object, name: str, what: str) -> str:
    """Return `value` as a plain str, or refuse it by its name."""
    if not isinstance(value, str):
        raise BadArgument(f"{name} of {what} must be text, got {value!r}")
    try:
        values.encode(value)
    except ValueRejected as error:
        raise ValueRejected(f"{name} of {what}: {error}") from None
    return str.__str__(value)


def _attributes(value: object, what: str) -> dict[str, object]:
    """Return a copy of the attributes in the order of their names."""
    if not isinstance(value, Mapping):
        raise BadArgument(f"attributes of {what} must be a mapping of names to plain values, got {value!r}")
    if not value:
        return {}
    try:
        copied: dict[str, object] = values.copy(value)
    except ValueRejected as error:
        raise ValueRejected(f"attributes of {what}: {error}") from None
    return copied


def _number(value: object, what: str, wanted: str, low: float, high: float) -> float:
    """Return a finite number within its range, as the plain int or float that it is."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    if not good or (isinstance(value, float) and math.isinf(value)):
        raise BadArgument(f"{what} must be {wanted}, got {value!r}")
    plain: float = values.copy(value)
    return plain


def _all_of(items: Sequence[T], kind: type[T], name: str) -> tuple[T, ...]:
    """Return the items as a tuple, or say which one is something else."""
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise BadArgument(f"{name} must be a sequence of {kind.__name__}, got {items!r}; put it into a list")
    kept = tuple(items)
    for place, item in enumerate(kept):
        if not isinstance(item, kind):
            raise BadArgument(f"{name}[{place}] must be a {kind.__name__}, got {item!r}")
    return kept


def _flat(own: dict[str, object], attributes: Mapping[str, object]) -> dict[str, object]:
    """Return `own` and the attributes; names that are taken get a `_` at their end."""
    flat = dict(own)
    for name, value in attributes.items():
        free = name
        while free in own or (free != name and free in attributes):
            free += "_"
        flat[free] = value
    return flat
