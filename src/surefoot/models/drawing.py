"""Models as text and as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot import drawing
from surefoot.drawing import Edge, Graph, Node

if TYPE_CHECKING:
    from surefoot.models.model import Model

__all__ = ["graph_of", "summary", "to_dot", "to_html"]

_MOST_NAMED = 8


def summary(model: Model) -> str:
    """Return a few lines of text: sizes, where it starts, and what it has.

    Cost: linear in the arrays.

    Example:
        >>> from surefoot.models.examples import die
        >>> print(summary(die()))
        MarkovChain: 13 states, 7 choices, 14 branches
        starts in: start
        absorbing: 6 states
        labels: done (6), one (1), two (1), three (1), four (1), five (1), six (1)
        rewards: tosses (state)
        state variables: face
    """
    lines = [f"{type(model).__name__}: {model.sizes}"]
    starts = np.flatnonzero(model.initial)
    shown = [
        model.state_name(int(state)) + ("" if len(starts) == 1 else f" ({model.initial[state]:.4g})")
        for state in starts[:_MOST_NAMED]
    ]
    lines.append(f"starts in: {_listed(shown, len(starts))}")
    if model.has_actions:
        names = [model.action_name(action) for action in range(min(model.n_actions, _MOST_NAMED))]
        lines.append(f"actions: {_listed(names, model.n_actions) or 'none'}")
    absorbing = int(model.absorbing.sum())
    lines.append(f"absorbing: {absorbing} state{'s' * (absorbing != 1)}")
    if model.labels:
        counts = [f"{name} ({int(mask.sum())})" for name, mask in list(model.labels.items())[:_MOST_NAMED]]
        lines.append(f"labels: {_listed(counts, len(model.labels))}")
    if model.rewards:
        parts = ("state", "choice", "transition")
        has = {n: " + ".join(p for p in parts if getattr(r, p) is not None) for n, r in model.rewards.items()}
        lines.append("rewards: " + ", ".join(f"{name} ({held or 'nothing'})" for name, held in has.items()))
    if model.state_variables:
        lines.append("state variables: " + ", ".join(variable.name for variable in model.state_variables))
    return "\n".join([*lines, *model.more_lines()])


def graph_of(model: Model) -> Graph:
    """Return what is drawn: a node for each state, and one for each choice that has more than one branch.

    States that an episode may start in are of kind `start`. Nodes carry labels, values, observations and rewards as
    attributes; branches carry their probability, and the ends of an interval.

    Cost: about 10 µs for each node and branch.

    Example:
        >>> from surefoot.models.examples import monty_hall
        >>> graph = graph_of(monty_hall())
        >>> graph.nodes[0].label, graph.nodes[0].kind
        ('start', 'start')
    """
    nodes, edges = [_node(model, state) for state in range(model.n_states)], []
    for choice in range(model.n_choices):
        state = int(model.choice_state[choice])
        action = model.action_name(int(model.choice_action[choice])) if model.has_actions else ""
        branches = range(int(model.branch_start[choice]), int(model.branch_start[choice + 1]))
        paid = {
            f"reward {name}": float(one.choice[choice])
            for name, one in model.rewards.items()
            if one.choice is not None and one.choice[choice]
        }
        source = f"s{state}"
        if model.has_actions and len(branches) > 1:
            nodes.append(Node(f"c{choice}", action, "choice", paid))
            edges.append(Edge(source, f"c{choice}", action, attributes=paid))
            source, action, paid = f"c{choice}", "", {}
        edges += [_edge(model, source, action, paid, branch) for branch in branches]
    return Graph(type(model).__name__, nodes, edges, notes=summary(model).splitlines())


def to_dot(model: Model) -> str:
    """Return the model as Graphviz text.

    Cost: about 30 µs for each node and branch.

    Example:
        >>> from surefoot.models.examples import die
        >>> to_dot(die()).splitlines()[0]
        'digraph "MarkovChain" {'
    """
    return drawing.to_dot(graph_of(model))


def to_html(model: Model, *, title: str | None = None, most: int = 8_000) -> str:
    """Return the model as one HTML page that needs no network.

    Args:
        model: what to show.
        title: the headline; the kind of the model where it is None.
        most: how many nodes and edges are drawn at once; of a larger model, a neighbourhood.

    Cost: about 20 µs for each node and branch.

    Example:
        >>> from surefoot.models.examples import die
        >>> "<title>A die</title>" in to_html(die(), title="A die")
        True
    """
    return drawing.to_html(graph_of(model), title=title, most=most)


def _node(model: Model, state: int) -> Node:
    """Return the node of a state."""
    attributes: dict[str, object] = {}
    labels = model.labels_of(state)
    if labels:
        attributes["labels"] = ", ".join(labels)
    for name, value in model.valuation(state).items():
        attributes[f"value {name}"] = value
    for name, one in model.rewards.items():
        if one.state is not None and one.state[state]:
            attributes[f"reward {name}"] = float(one.state[state])
    attributes |= model.more_attributes(state)
    return Node(f"s{state}", model.state_name(state), "start" if model.initial[state] > 0 else "state", attributes)


def _edge(model: Model, source: str, label: str, paid: dict[str, float], branch: int) -> Edge:
    """Return the edge of a branch."""
    attributes: dict[str, object] = dict(paid)
    for name, one in model.rewards.items():
        if one.transition is not None and one.transition[branch]:
            attributes[f"reward {name} on the way"] = float(one.transition[branch])
    if model.lower is not None and model.upper is not None:
        low, high = float(model.lower[branch]), float(model.upper[branch])
        attributes |= {"lower": low, "upper": high}
        label = f"{label} [{low:.4g}, {high:.4g}]".strip()
    probability = min(float(model.probability[branch]), 1.0)
    return Edge(source, f"s{model.target[branch]}", label, attributes=attributes, probability=probability)


def _listed(shown: list[str], count: int) -> str:
    """Return names with commas, and how many more there are."""
    return ", ".join(shown) + (f", and {count - len(shown)} more" if count > len(shown) else "")
