"""Models as NetworkX graphs: a node is a state, an edge a branch (making a graph needs the extra `networkx`).

| attribute | of | what it holds |
|---|---|---|
| `probability` | an edge | how likely the branch is; in an interval model the nominal probability |
| `lower`, `upper` | an edge | its bounds, in an interval model |
| `action` | an edge | the name of the action, in MDPs and POMDPs |
| `rewards` | a node, an edge | {name: number}: rewards on states, and on transitions |
| `choice_rewards` | an edge | {name: number}: rewards on its choice, the same on all edges of that |
| `labels` | a node | a list of texts |
| `values` | a node | {variable: value} |
| `observation` | a node | the name of what is observed, or {name: probability} |
| `initial` | a node | how likely an episode starts there; 0 or left out elsewhere |
| `kind` | the graph | `"dtmc"`, `"mdp"`, `"pomdp"` or `"hmm"` |
| `surefoot` | the graph | what the others have no place for (domains, the order of choices), if there is any |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.drawing.networkx_graph import networkx_module
from surefoot.errors import BadModel
from surefoot.models._arrays import running_sum
from surefoot.models._names import name_of, nearest
from surefoot.models.exchange._rest import rest_of, restored
from surefoot.models.exchange._rows import KINDS, make, rewards_of
from surefoot.models.markov import Model, ObservedModel
from surefoot.models.valuations import Valuations

if TYPE_CHECKING:
    import networkx

__all__ = ["from_networkx", "to_networkx"]


def to_networkx(model: Model) -> networkx.MultiDiGraph[str]:
    """Return a model as a graph: nodes by the names of states, in their order; edges keyed by the names of actions.

    Raises:
        MissingExtra: NetworkX is not installed.

    Cost: linear; about 20 µs for each branch.

    Example:
        >>> from surefoot.models import MDP
        >>> mdp = MDP(choice_start=[0, 1, 1], choice_action=[0], branch_start=[0, 2], target=[0, 1],
        ...           probability=[0.25, 0.75], initial=0, action_names=["go"], labels={"goal": [1]})
        >>> graph = to_networkx(mdp)
        >>> graph.nodes["s1"], graph["s0"]["s1"]["go"]
        ({'labels': ['goal']}, {'probability': 0.75, 'action': 'go'})
        >>> from_networkx(graph) == mdp
        True
    """
    graph: networkx.MultiDiGraph[str] = networkx_module().MultiDiGraph(kind=model.kind)
    names = list(model.state_names)
    for state, name in enumerate(names):
        graph.add_node(name)
        graph.nodes[name].update(_node(model, state))
    for state, name in enumerate(names):
        for choice in model.choices(state):
            action = model.action_name(int(model.choice_action[choice]))
            for branch in range(int(model.branch_start[choice]), int(model.branch_start[choice + 1])):
                target = names[int(model.target[branch])]
                graph.add_edge(name, target, action)
                graph.edges[name, target, action].update(_edge(model, choice, branch, action))
    rest = rest_of(model, from_networkx(graph))
    if rest is not None:
        graph.graph["surefoot"] = rest
    return graph


def from_networkx(
    graph: Any,
    *,
    initial: Any = None,
    kind: str | None = None,
    probability: str = "probability",
    action: str = "action",
    weights: bool = False,
) -> Model:
    """Return the model that a directed graph describes; NetworkX need not be installed for it.

    Args:
        graph: a `DiGraph` or `MultiDiGraph`; the attributes that it may have are listed in the module.
        initial: the node where an episode starts, or {node: probability}; None: what the nodes say.
        kind: `"dtmc"`, `"mdp"`, `"pomdp"` or `"hmm"`; None: what the graph says, else what its attributes mean.
        probability: the attribute of edges that holds the probability. An edge that is the only one of its choice can
            do without.
        action: the attribute of edges that holds the action.
        weights: whether the numbers are weights, to be divided by their sum.

    Raises:
        NotADistribution: probabilities that do not sum to 1.
        BadModel: the graph is not directed, or an attribute is missing or wrong.

    Cost: linear; about 6 µs for each edge.

    Example:
        >>> class Graph:  # stands for networkx.DiGraph([("wet", "dry", {"weight": 2}), ...])
        ...     graph, nodes = {}, {"wet": {}, "dry": {}}
        ...     is_directed = lambda self: True
        ...     edges = staticmethod(lambda data: [("wet", "dry", {"weight": 2}), ("wet", "wet", {"weight": 6})])
        >>> chain = from_networkx(Graph(), initial="wet", probability="weight", weights=True)
        >>> chain.row("wet")[1].tolist()
        [0.25, 0.75]
    """
    if not graph.is_directed():
        raise BadModel("a graph without directions is no model: use graph.to_directed()")
    rest = graph.graph.get("surefoot") if initial is None and kind is None else None
    return restored(_Reader(graph, probability, action, weights).model(initial, kind), rest)


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _node(model: Model, state: int) -> dict[str, Any]:
    """Return the attributes of a node."""
    found: dict[str, Any] = {}
    if model.initial[state]:
        found["initial"] = float(model.initial[state])
    if labels := model.labels_of(state):
        found["labels"] = list(labels)
    if values := model.valuation(state):
        found["values"] = values
    rewards = {name: float(r.state[state]) for name, r in model.rewards.items() if r.state is not None}
    if rewards:
        found["rewards"] = rewards
    if isinstance(model, ObservedModel):
        seen, chances = model.observations_of(state)
        named = {model.observation_name(int(one)): float(p) for one, p in zip(seen, chances, strict=True)}
        found["observation"] = named if len(named) > 1 else next(iter(named))
    return found


def _edge(model: Model, choice: int, branch: int, action: str) -> dict[str, Any]:
    """Return the attributes of an edge."""
    found: dict[str, Any] = {"probability": float(model.probability[branch])}
    if model.lower is not None and model.upper is not None:
        found |= {"lower": float(model.lower[branch]), "upper": float(model.upper[branch])}
    if model.has_actions:
        found["action"] = action
    for key, place, part in (("rewards", branch, "transition"), ("choice_rewards", choice, "choice")):
        paid = {name: getattr(reward, part) for name, reward in model.rewards.items()}
        numbers = {name: float(array[place]) for name, array in paid.items() if array is not None}
        if numbers:
            found[key] = numbers
    return found


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Reader:
    """Read one graph."""

    def __init__(self, graph: Any, probability: str, action: str, weights: bool) -> None:
        self.graph, self.probability, self.action, self.weights = graph, probability, action, weights
        self.nodes: list[dict[str, Any]] = []
        self.number: dict[Any, int] = {}
        for node in graph.nodes:
            self.number[node] = len(self.nodes)
            self.nodes.append(graph.nodes[node])
        if not self.nodes:
            raise BadModel("a graph without nodes is no model")

    def model(self, initial: Any, kind: str | None) -> Model:
        """Return the model."""
        choices = self._choices()
        kind = kind or self.graph.graph.get("kind") or self._kind(choices)
        if kind not in KINDS:
            raise BadModel(f"kind must be one of {list(KINDS)}, got {kind!r}")
        arguments = self._arrays(choices, KINDS[kind].has_actions)
        arguments["initial"] = self._initial(initial)
        given = list(self.number)
        names = [name_of(node) for node in given]
        arguments["state_names"] = None if names == [f"s{n}" for n in range(len(names))] else names
        arguments["labels"] = self._labels()
        arguments["rewards"] = self._rewards(choices)
        rows = [node.get("values") or {} for node in self.nodes]
        if any(rows):
            arguments["state_valuations"] = Valuations.from_rows(None, rows)
        if KINDS[kind].has_observations:
            arguments |= self._observations()
        return make(kind, **arguments)

    def _kind(self, choices: Mapping[tuple[int, Any], list[tuple[int, dict[str, Any]]]]) -> str:
        acts = any(action is not None for _, action in choices)
        sees = any("observation" in node for node in self.nodes)
        return ("pomdp" if sees else "mdp") if acts else ("hmm" if sees else "dtmc")

    def _choices(self) -> dict[tuple[int, Any], list[tuple[int, dict[str, Any]]]]:
        """Return {(state, action): its edges as (target, attributes)}, in the order of the states."""
        found: list[dict[Any, list[tuple[int, dict[str, Any]]]]] = [{} for _ in self.nodes]
        for source, target, data in self.graph.edges(data=True):
            row = found[self.number[source]].setdefault(data.get(self.action), [])
            row.append((self.number[target], data))
        return {(state, action): edges for state, row in enumerate(found) for action, edges in row.items()}

    def _arrays(
        self, choices: Mapping[tuple[int, Any], list[tuple[int, dict[str, Any]]]], acts: bool
    ) -> dict[str, Any]:
        """Return the rows as arguments of a model."""
        names: dict[str, int] = {}
        data = [attributes for edges in choices.values() for _, attributes in edges]
        found: dict[str, Any] = {
            "choice_start": running_sum(
                np.bincount(np.array([state for state, _ in choices], np.int64), minlength=len(self.nodes))
            ),
            "branch_start": running_sum([len(edges) for edges in choices.values()]),
            "target": [target for edges in choices.values() for target, _ in edges],
        }
        if acts:
            numbers = [names.setdefault("" if a is None else name_of(a), len(names)) for _, a in choices]
            found |= {"choice_action": np.array(numbers, np.int32), "action_names": tuple(names)}
        if any("lower" in attributes or "upper" in attributes for attributes in data):
            for end in ("lower", "upper"):
                found[end] = [self._number(attributes, end) for attributes in data]
            if not any(self.probability in attributes for attributes in data):
                return found
        found["probability"] = [value for key, edges in choices.items() for value in self._row(key, edges)]
        return found

    def _row(self, key: tuple[int, Any], edges: list[tuple[int, dict[str, Any]]]) -> Iterator[float]:
        """Yield the probabilities of one choice."""
        if len(edges) == 1 and self.probability not in edges[0][1]:
            yield 1.0
            return
        values = []
        for target, data in edges:
            if self.probability not in data:
                where = f"from {list(self.number)[key[0]]!r} to {list(self.number)[target]!r}"
                known = nearest(self.probability, data)
                raise BadModel(f"the edge {where} has no attribute {self.probability!r}: {known}")
            values.append(self._number(data, self.probability))
        total = sum(values) if self.weights else 1.0
        yield from (value / total for value in values)

    @staticmethod
    def _number(data: Mapping[str, Any], name: str) -> float:
        try:
            return float(data[name])
        except (KeyError, TypeError, ValueError):
            raise BadModel(f"the attribute {name!r} of an edge must be a number, got {data.get(name)!r}") from None

    def _initial(self, given: Any) -> dict[int, float]:
        """Return {state: probability}."""
        if given is not None:
            pairs = given if isinstance(given, Mapping) else {given: 1.0}
            for node in pairs:
                if node not in self.number:
                    raise BadModel(f"initial names {node!r}, which is no node")
            return {self.number[node]: float(p) for node, p in pairs.items()}
        found = {n: float(node["initial"]) for n, node in enumerate(self.nodes) if node.get("initial")}
        if not found:
            raise BadModel("no node says `initial`: give initial=, a node or {node: probability}")
        return found

    def _labels(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for state, node in enumerate(self.nodes):
            labels = node.get("labels", ())
            for label in [labels] if isinstance(labels, str) else labels:
                found.setdefault(label, []).append(state)
        return found

    def _rewards(self, choices: Mapping[tuple[int, Any], list[tuple[int, dict[str, Any]]]]) -> Any:
        """Return the reward models."""
        first = [edges[0][1] for edges in choices.values()]
        every = [data for edges in choices.values() for _, data in edges]
        columns = [
            _columns(self.nodes, "rewards"),
            _columns(first, "choice_rewards"),
            _columns(every, "rewards"),
        ]
        names = list(dict.fromkeys(name for column in columns for name in column))
        return rewards_of(names, *columns)

    def _observations(self) -> dict[str, Any]:
        """Return the observations as arguments of a model."""
        numbers: dict[str, int] = {}
        seen, chances, sizes = [], [], []
        for state, node in enumerate(self.nodes):
            if "observation" not in node:
                raise BadModel(f"the node {list(self.number)[state]!r} has no attribute 'observation'")
            given = node["observation"]
            pairs = given if isinstance(given, Mapping) else {given: 1.0}
            sizes.append(len(pairs))
            for one, chance in pairs.items():
                seen.append(numbers.setdefault(name_of(one), len(numbers)))
                chances.append(float(chance))
        return {
            "observation": np.array(seen, np.int32),
            "observation_probability": chances,
            "observation_start": running_sum(sizes),
            "observation_names": tuple(numbers),
        }


def _columns(rows: list[dict[str, Any]], key: str) -> dict[str, Any]:
    """Return {name: one number a row} of what stands under a key in each row."""
    held = [row.get(key) or {} for row in rows]
    names = dict.fromkeys(name for row in held for name in row)
    return {name: np.array([float(row.get(name, 0.0)) for row in held]) for name in names}
