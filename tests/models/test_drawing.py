from __future__ import annotations

import json
import re

import pytest

from surefoot.models.drawing import graph_of, summary, to_dot, to_html
from surefoot.models.examples import ALL, die, grid, retries, tiger, weather
from surefoot.models.rewards import RewardModel


@pytest.mark.parametrize("name", ALL)
def test_every_state_and_branch_is_in_the_picture(name: str) -> None:
    model = ALL[name]()
    graph = graph_of(model)
    states = [node for node in graph.nodes if node.kind != "choice"]
    assert [node.label for node in states] == list(model.state_names)
    assert {node.id for node in states if node.kind == "start"} == {f"s{s}" for s in model.initial.nonzero()[0]}
    assert len([edge for edge in graph.edges if edge.probability is not None]) == model.n_branches
    assert model.to_dot() == to_dot(model)
    assert model.to_html() == to_html(model)
    assert model.summary() == summary(model)


def test_choices_by_chance_have_a_point_of_their_own() -> None:
    graph = graph_of(retries(1, loss=0.25))
    choices = [node for node in graph.nodes if node.kind == "choice"]
    assert [node.label for node in choices] == ["send"]
    edges = {(edge.source, edge.target, edge.label, edge.probability) for edge in graph.edges}
    assert edges == {
        ("s0", "c0", "send", None),
        ("c0", "s1", "", 0.75),
        ("c0", "s2", "", 0.25),
        ("s0", "s2", "give up", 1.0),
    }
    assert next(edge for edge in graph.edges if edge.label == "send").attributes == {"reward sent": 1.0}


def test_what_a_state_has_is_shown() -> None:
    nodes = {node.label: node.attributes for node in graph_of(die()).nodes}
    assert nodes["six"] == {"labels": "done, six", "value face": 6}
    assert nodes["start"] == {"value face": 0, "reward tosses": 1.0}
    heard = {node.label: node.attributes for node in graph_of(tiger()).nodes}
    assert heard["tiger left"] == {"observation": "nothing"}
    assert heard["tiger left, listened"] == {"observation hear left": 0.85, "observation hear right": 1 - 0.85}


def test_intervals_and_rewards_on_the_way_are_shown() -> None:
    model = retries(1, loss=(0.1, 0.2)).with_rewards(fee=RewardModel(transition=[5, 0, 0]))
    edge = next(edge for edge in graph_of(model).edges if edge.target == "s1")
    assert edge.label == "[0.8, 0.9]"
    assert edge.attributes == {"lower": 0.8, "upper": 0.9, "reward fee on the way": 5.0}


def test_the_page_holds_the_model() -> None:
    page = to_html(grid(), title="A grid")
    assert "<title>A grid</title>" in page
    assert json.dumps("(3, 3)")[1:-1] in page
    assert not re.search(r'(src|href)="https?:', page)


def test_a_summary_says_what_there_is() -> None:
    assert summary(retries(loss=(0.1, 0.2))).splitlines() == [
        "MDP: 5 states, 6 choices, 9 branches, intervals",
        "starts in: sent 0",
        "actions: send, give up",
        "absorbing: 2 states",
        "labels: delivered (1), failed (1)",
        "rewards: sent (choice)",
        "state variables: sent",
    ]
    assert summary(weather()).splitlines() == [
        "HMM: 2 states, 2 choices, 4 branches",
        "starts in: rain (0.6), sun (0.4)",
        "absorbing: 0 states",
        "observations: 3, stochastic",
        "observation variables: pastime",
    ]
    taxi = summary(ALL["taxi"]()).splitlines()
    assert taxi[1].endswith(", and 184 more")
    nothing = die().replace(rewards={"none": RewardModel()}, labels=None, state_valuations=None)
    assert summary(nothing).splitlines()[-1] == "rewards: none (nothing)"
