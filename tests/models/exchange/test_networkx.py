from __future__ import annotations

import pickle
from typing import Any

import networkx
import numpy as np
import pytest

from surefoot.errors import BadModel, NotADistribution
from surefoot.models import HMM, MDP, POMDP, MarkovChain, Model
from surefoot.models.exchange.networkx import from_networkx, to_networkx


def test_the_round_trip_is_exact(model: Model) -> None:
    graph = to_networkx(model)
    assert from_networkx(graph) == model
    assert from_networkx(pickle.loads(pickle.dumps(graph))) == model
    assert graph.number_of_nodes() == model.n_states
    assert graph.number_of_edges() == model.n_branches


def test_the_round_trip_with_observations_at_random_is_exact(noisy: Model) -> None:
    assert from_networkx(to_networkx(noisy)) == noisy


def test_what_the_attributes_say_is_enough_without_the_rest(odd_mdp: MDP) -> None:
    graph = to_networkx(odd_mdp)
    del graph.graph["surefoot"]
    read = from_networkx(graph)
    assert isinstance(read, MDP)
    assert list(read.state_names) == list(odd_mdp.state_names)
    for name in odd_mdp.rewards:
        if name != "nothing":
            assert np.allclose(sorted(read.expected_reward(name)), sorted(odd_mdp.expected_reward(name)), atol=1e-15)
    assert [read.valuation(s) for s in range(4)] == [odd_mdp.valuation(s) for s in range(4)]


def test_a_plain_graph_is_a_chain() -> None:
    graph: networkx.DiGraph[Any] = networkx.DiGraph()
    graph.add_edge("wet", "dry", weight=1)
    graph.add_edge("wet", (1, "x"), weight=3)
    graph.add_edge("dry", "wet")
    chain = from_networkx(graph, initial={"wet": 0.5, "dry": 0.5}, probability="weight", weights=True)
    assert isinstance(chain, MarkovChain)
    assert list(chain.state_names) == ["wet", "dry", "(1, 'x')"]
    assert chain.row("wet")[1].tolist() == [0.25, 0.75]
    assert chain.row("dry")[1].tolist() == [1.0]
    assert chain.absorbing.tolist() == [False, False, True]


def test_the_kind_is_read_from_the_attributes() -> None:
    graph: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
    graph.add_edge("a", "b", action="go")
    graph.add_edge("a", "a", action=1)
    graph.nodes["a"].update(initial=True, labels="start")
    mdp = from_networkx(graph)
    assert isinstance(mdp, MDP)
    assert tuple(mdp.action_names) == ("go", "1")
    assert mdp.labels_of("a") == ("start",)
    graph.nodes["a"]["observation"], graph.nodes["b"]["observation"] = "dark", {"dark": 0.5, "light": 0.5}
    pomdp = from_networkx(graph)
    assert isinstance(pomdp, POMDP)
    assert pomdp.observations_of("b")[1].tolist() == [0.5, 0.5]
    assert isinstance(from_networkx(graph.subgraph(["a"]), kind="pomdp"), POMDP)
    graph.remove_edges_from(list(graph.edges))
    assert isinstance(from_networkx(graph), HMM)


def test_bounds_alone_make_an_interval_model() -> None:
    graph: networkx.DiGraph[Any] = networkx.DiGraph()
    graph.add_edge(0, 0, lower=0.1, upper=0.5)
    graph.add_edge(0, 1, lower=0.2, upper=1.0)
    model = from_networkx(graph, initial=0)
    assert model.has_intervals
    assert model.probability.sum() == pytest.approx(1)


def node(**data: Any) -> networkx.DiGraph[Any]:
    graph: networkx.DiGraph[Any] = networkx.DiGraph()
    graph.add_edge("a", "a", **data)
    graph.add_edge("a", "b", **data)
    return graph


@pytest.mark.parametrize(
    ("graph", "options", "error", "message"),
    [
        (networkx.Graph([(0, 1)]), {}, BadModel, "use graph.to_directed"),
        (networkx.DiGraph(), {}, BadModel, "a graph without nodes is no model"),
        (node(probability=0.5), {}, BadModel, "no node says `initial`"),
        (node(probability=0.5), {"initial": "c"}, BadModel, "initial names 'c', which is no node"),
        (node(probability=0.4), {"initial": "a"}, NotADistribution, "sum to 0.8"),
        (node(prob=0.5), {"initial": "a"}, BadModel, "no attribute 'probability': did you mean 'prob'?"),
        (node(probability="x"), {"initial": "a"}, BadModel, "must be a number, got 'x'"),
        (node(probability=0.5), {"initial": "a", "kind": "ctmc"}, BadModel, "kind must be one of"),
        (node(probability=0.5), {"initial": "a", "kind": "hmm"}, BadModel, "'a' has no attribute 'observation'"),
    ],
)
def test_what_is_no_model_is_refused(graph: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        from_networkx(graph, **options)
