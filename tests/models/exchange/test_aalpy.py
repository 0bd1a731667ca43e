from __future__ import annotations

import importlib
import importlib.util
from types import SimpleNamespace
from typing import Any

import pytest

from surefoot.errors import BadModel, MissingExtra
from surefoot.models import HMM, MDP, POMDP, MarkovChain, Model
from surefoot.models.exchange.aalpy import from_aalpy, to_aalpy

MISSING_AALPY = "aalpy is missing: pip install 'surefoot[aalpy]' (make peers)"


def shaped(*transitions: Any, **outputs: Any) -> SimpleNamespace:
    states = [SimpleNamespace(state_id=name, output=output) for name, output in outputs.items()]
    for state, given in zip(states, transitions, strict=True):
        state.transitions = given(*states)
    return SimpleNamespace(initial_state=states[-1], states=states)


def test_an_mdp_is_read() -> None:
    lamp = shaped(
        lambda off, on: {"press": [(on, 0.5), (off, 0.25), (on, 0.25)], 1: [(off, 1.0)], "never": []},
        lambda off, on: {"press": [(off, 1.0)]},
        off="dark__cold",
        on=None,
    )
    model = from_aalpy(lamp)
    assert isinstance(model, MDP)
    assert tuple(model.action_names) == ("press", "1")
    assert model.row("off", "press")[1].tolist() == [0.75, 0.25]
    assert model.initial.tolist() == [0, 1]
    assert [model.labels_of(s) for s in range(2)] == [("dark", "cold"), ()]
    assert [model.valuation(s) for s in range(2)] == [{"output": "dark__cold"}, {}]
    pomdp = from_aalpy(lamp, observed=True)
    assert isinstance(pomdp, POMDP)
    assert tuple(pomdp.observation_names) == ("dark__cold", "None")


def test_a_chain_and_a_moore_machine_are_read() -> None:
    chain = shaped(lambda a, b: [(a, 0.5), (b, 0.5)], lambda a, b: [], a=1, b=2)
    model = from_aalpy(chain)
    assert isinstance(model, MarkovChain)
    assert model.labels_of("a") == ("1",)
    assert model.absorbing.tolist() == [False, True]
    assert isinstance(from_aalpy(chain, observed=True), HMM)
    moore = from_aalpy(shaped(lambda a, b: {"x": b}, lambda a, b: {"x": a, "y": b}, a="p", b="q"))
    assert isinstance(moore, MDP)
    assert moore.row("b", "y")[0].tolist() == [1]


def test_what_cannot_be_read_is_refused(noisy: Model) -> None:
    with pytest.raises(BadModel, match="an automaton of AALpy is wanted, got 7"):
        from_aalpy(7)
    smm = shaped(lambda a: {"x": [(a, "out", 1.0)]}, a=None)
    del smm.states[0].output
    with pytest.raises(BadModel, match=r"'a' has its outputs on transitions: use to_mdp\(\)"):
        from_aalpy(smm)
    away = SimpleNamespace(state_id="away")
    with pytest.raises(BadModel, match="leads to 'away', which is not one of the states"):
        from_aalpy(shaped(lambda a: {"x": [(away, 1.0)]}, a="p"))
    with pytest.raises(BadModel, match="AALpy has one initial state"):
        to_aalpy(noisy.with_initial({0: 0.5, 1: 0.5}))


def benchmarks() -> list[Any]:
    suls = importlib.import_module("aalpy.utils.BenchmarkSULs")
    generators = importlib.import_module("aalpy.utils.AutomatonGenerators")
    random = importlib.import_module("random")
    random.seed(7)
    return [
        suls.get_faulty_coffee_machine_MDP(),
        suls.get_weird_coffee_machine_MDP(),
        suls.get_faulty_coffee_machine_SMM().to_mdp(),
        suls.get_small_pomdp(),
        suls.get_Angluin_dfa(),
        generators.generate_random_mdp(12, 3, 4),
        generators.generate_random_markov_chain(9),
        generators.generate_random_moore_machine(8, [1, 2, 3], ["a", "b"]),
    ]


def test_the_round_trip_is_exact() -> None:
    pytest.importorskip("aalpy", reason=MISSING_AALPY)
    for automaton in benchmarks():
        model = from_aalpy(automaton)
        back = from_aalpy(to_aalpy(model))
        if "accepting" in model.labels:
            back = back.replace(labels=model.labels)  # only a Dfa knows that its outputs mean this
        assert back == model
        assert model.n_states == len(automaton.states)


def test_what_aalpy_learns_from_samples_is_read() -> None:
    pytest.importorskip("aalpy", reason=MISSING_AALPY)
    alergia = importlib.import_module("aalpy.learning_algs").run_Alergia
    samples = [["off", ("press", "on"), ("press", "off")], ["off", ("press", "off"), ("press", "on")]] * 20
    model = from_aalpy(alergia(samples, automaton_type="mdp", print_info=False))
    assert isinstance(model, MDP)
    assert model.n_choices == len(model.branch_start) - 1 > 0
    assert {"off", "on"} == set(model.labels)


def test_without_aalpy_the_message_says_how_to_get_it(odd_mdp: MDP) -> None:
    if importlib.util.find_spec("aalpy"):
        pytest.skip("aalpy is installed: the round trips above try the real thing")
    with pytest.raises(MissingExtra, match=r"surefoot\[aalpy\]"):
        to_aalpy(odd_mdp.with_initial(0))
