"""Models that AALpy learned from samples or from a system: to read one nothing is imported.

| AALpy | here |
|---|---|
| `Mdp`, `MarkovChain` | `MDP`, `MarkovChain` |
| `MooreMachine`, `Dfa` | `MDP`, where every action leads to one state |
| the output of a state | the variable `output`, and its parts between `__` as labels, as AALpy's own export has them |
| an accepting state of a `Dfa` | the label `accepting` |
| the id of a state, an input | the names of a state and of an action |

A `StochasticMealyMachine` has its outputs on transitions: `machine.to_mdp()` of AALpy makes an `Mdp` of it.

Source: AALpy (MIT); Tappler, Aichernig, Bacci, Eichlseder, Larsen 2019 (learning MDPs by queries); Mao, Chen, Jaeger,
Nielsen, Larsen, Nielsen 2016 (from samples).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from surefoot.errors import BadModel, MissingExtra
from surefoot.models._names import name_of
from surefoot.models.exchange._rows import Rows, make
from surefoot.models.markov import Model
from surefoot.models.valuations import Valuations

__all__ = ["from_aalpy", "to_aalpy"]

_OUTPUT = "output"


def from_aalpy(automaton: Any, *, observed: bool = False, tolerance: float = 0.0) -> Model:
    """Return an automaton of AALpy as a model; AALpy need not be imported for it.

    Args:
        automaton: an `Mdp`, `MarkovChain`, `MooreMachine` or `Dfa`.
        observed: whether only the outputs are seen: then the model is a POMDP or an HMM.
        tolerance: rows whose sum differs from 1 by at most this are divided by it.

    Raises:
        BadModel: it is another automaton, or two states have one id.
        NotADistribution: probabilities that do not sum to 1.

    Cost: linear; about 2 µs for each transition.

    Example:
        >>> from types import SimpleNamespace as Shaped
        >>> off, on = Shaped(state_id="q0", output="off"), Shaped(state_id="q1", output="on")
        >>> off.transitions = {"press": [(on, 0.9), (off, 0.1)]}
        >>> on.transitions = {"press": [(off, 1.0)]}
        >>> lamp = from_aalpy(Shaped(initial_state=off, states=[off, on]))
        >>> lamp.row("q0", "press")[1].tolist(), lamp.labels_of("q1"), lamp.valuation("q1")
        ([0.9, 0.1], ('on',), {'output': 'on'})
    """
    states = list(getattr(automaton, "states", ()))
    if not states or not hasattr(automaton, "initial_state"):
        raise BadModel(f"an automaton of AALpy is wanted, got {automaton!r}")
    number = {id(state): place for place, state in enumerate(states)}
    chain = isinstance(states[0].transitions, list)
    rows = Rows(len(states))
    for place, state in enumerate(states):
        _check(state)
        for action, outcomes in [("", state.transitions)] if chain else state.transitions.items():
            branches = list(_branches(outcomes, number, state))
            if branches:
                rows.choice(place, "" if chain else name_of(action), branches)
    outputs = [getattr(state, "output", None) for state in states]
    accepts = hasattr(states[0], "is_accepting")
    arguments = rows.arrays(not chain, tolerance=tolerance)
    arguments |= {
        "initial": number[id(automaton.initial_state)],
        "state_names": [name_of(state.state_id) for state in states],
        "labels": {"accepting": np.array(outputs, dtype=bool)} if accepts else _labels(outputs),
    }
    kept = [{} if output is None else {_OUTPUT: output} for output in outputs]
    if any(kept):
        arguments["state_valuations"] = Valuations.from_rows(None, kept)
    if observed:
        seen: dict[str, int] = {}
        arguments["observation"] = [seen.setdefault(name_of(output), len(seen)) for output in outputs]
        arguments["observation_names"] = tuple(seen)
    return make(("hmm" if observed else "dtmc") if chain else ("pomdp" if observed else "mdp"), **arguments)


def to_aalpy(model: Model) -> Any:
    """Return a model as an `Mdp` or a `MarkovChain` of AALpy.

    The output of a state is its variable `output`, or without one its labels with `__` between them. Rewards, other
    variables and observations are left out: AALpy has no place for them.

    Raises:
        MissingExtra: AALpy is not installed.
        BadModel: there are several initial states.

    Cost: linear; about 3 µs for each branch.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> try:
        ...     print(from_aalpy(to_aalpy(loop)).row(0)[0].tolist())
        ... except MissingExtra:
        ...     print([0])
        [0]
    """
    starts = np.flatnonzero(model.initial).tolist()
    if len(starts) != 1:
        raise BadModel(
            f"AALpy has one initial state, but this model starts in {len(starts)}: "
            f"choose one with model.with_initial(state)"
        )
    try:
        from aalpy.automata import MarkovChain, McState, Mdp, MdpState
    except ImportError as error:
        raise MissingExtra.of("aalpy", extra="aalpy", what="AALpy's models") from error
    chain = not model.has_actions
    kind: Any = McState if chain else MdpState
    states = [kind(name, _output(model, number)) for number, name in enumerate(model.state_names)]
    for number, state in enumerate(states):
        for choice in model.choices(number):
            where = slice(int(model.branch_start[choice]), int(model.branch_start[choice + 1]))
            pairs = zip(model.target[where].tolist(), model.probability[where].tolist(), strict=True)
            outcomes = [(states[target], probability) for target, probability in pairs]
            if chain:
                state.transitions.extend(outcomes)
            else:
                state.transitions[model.action_name(int(model.choice_action[choice]))].extend(outcomes)
    return (MarkovChain if chain else Mdp)(states[starts[0]], states)


def _check(state: Any) -> None:
    """Refuse states whose outputs stand on transitions."""
    if hasattr(state, "output_fun") or (not hasattr(state, "output") and not hasattr(state, "is_accepting")):
        raise BadModel(
            f"state {state.state_id!r} has its outputs on transitions: use to_mdp() of a stochastic Mealy machine, or "
            f"learn a Moore machine instead of a Mealy machine"
        )


def _branches(outcomes: Any, number: dict[int, int], state: Any) -> Iterator[tuple[int, float]]:
    """Yield the branches of one choice."""
    for outcome in outcomes if isinstance(outcomes, list) else [(outcomes, 1.0)]:
        target, probability = outcome
        if id(target) not in number:
            raise BadModel(f"state {state.state_id!r} leads to {target.state_id!r}, which is not one of the states")
        yield number[id(target)], float(probability)


def _labels(outputs: list[Any]) -> dict[str, list[int]]:
    """Return the states of each part of an output."""
    found: dict[str, list[int]] = {}
    for place, output in enumerate(outputs):
        parts = [] if output is None else name_of(output).split("__") if isinstance(output, str) else [name_of(output)]
        for part in dict.fromkeys(parts):
            if part:
                found.setdefault(part, []).append(place)
    return found


def _output(model: Model, state: int) -> Any:
    """Return the output of a state."""
    values = model.valuation(state)
    return values[_OUTPUT] if _OUTPUT in values else "__".join(model.labels_of(state))
