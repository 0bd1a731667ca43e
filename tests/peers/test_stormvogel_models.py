"""stormvogel's models, all of its example models among them, both ways."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadModel
from surefoot.models import Model, RewardModel
from surefoot.models.exchange.stormvogel import from_stormvogel, is_stormvogel, to_stormvogel

stormvogel_model = pytest.importorskip(
    "stormvogel.model", reason="stormvogel is missing: it needs Python 3.12 (make peers)"
)


def examples() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every function of stormvogel's examples that creates a model."""
    package = importlib.import_module("stormvogel.examples")
    for info in pkgutil.walk_packages(package.__path__, "stormvogel.examples."):
        module = importlib.import_module(info.name)
        for name, function in vars(module).items():
            if not inspect.isfunction(function) or function.__module__ != info.name or not name.startswith("create_"):
                continue
            yield f"{info.name.removeprefix('stormvogel.examples.')}:{name}", function


EXAMPLES = dict(examples())


def described(model: Any) -> list[Any]:
    """Return all that a model of stormvogel says, by numbers and names."""
    states = list(model.states)
    number = {state: place for place, state in enumerate(states)}
    intervals = model.is_interval_model()

    def values(held: Any) -> Any:
        return {(v.label, repr(v.domain)): value for v, value in (held or {}).items() if not hasattr(v, "expr")}

    def observed(state: Any) -> Any:
        if not model.supports_observations():
            return None
        one = state.observation
        pairs = [(1.0, one)] if hasattr(one, "alias") else list(one)
        return [(float(p), o.alias, values(o.valuations)) for p, o in pairs]

    def plain(value: Any) -> Any:
        if intervals:
            return float(getattr(value, "lower", value)), float(getattr(value, "upper", value))
        return float(value)

    return [
        model.model_type.name,
        [(sorted(s.labels), s.friendly_name, values(s.valuations), observed(s)) for s in states],
        [[(a.label, [(plain(p), number[to]) for p, to in row]) for a, row in s.choices] for s in states],
        {label: sorted(number[s] for s in held) for label, held in model.state_labels.items()},
        {
            r.name: (
                {number[s]: float(v) for s, v in r.rewards.items()},
                {(number[s], a.label, number[t]): float(v) for (s, a, t), v in r.transition_rewards.items()},
            )
            for r in model.rewards
        },
    ]


def test_there_are_example_models() -> None:
    assert len(EXAMPLES) >= 27


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_round_trip_of_every_example_model_is_exact(name: str) -> None:
    theirs = EXAMPLES[name]()
    assert is_stormvogel(theirs)
    if theirs.model_type.name in ("CTMC", "MA"):
        with pytest.raises(BadModel, match="cannot be read: it must be one of DTMC, MDP, POMDP, HMM"):
            from_stormvogel(theirs)
        return
    if theirs.is_parametric():
        with pytest.raises(BadModel, match="fix the parameters first"):
            from_stormvogel(theirs)
        numbers = {parameter: 0.5 for parameter in theirs.parameters}
        theirs = theirs.get_instantiated_model(numbers)
    ours = from_stormvogel(theirs)
    back = to_stormvogel(ours)
    assert described(back) == described(theirs)
    assert from_stormvogel(back) == ours
    assert ours.n_states == len(list(theirs.states))


def paid(model: Model, name: str) -> Any:
    reward: RewardModel = model.rewards[name]
    total = np.zeros(model.n_branches)
    if reward.state is not None:
        total += reward.state[model.choice_state][model.branch_choice]
    if reward.choice is not None:
        total += reward.choice[model.branch_choice]
    if reward.transition is not None:
        total += reward.transition
    return total


def same_but_rewards(back: Model, model: Model) -> None:
    """Compare what must be exact, and what each branch pays."""
    assert list(back.rewards) == list(model.rewards)
    for name, reward in model.rewards.items():
        if reward.choice is None and reward.transition is None:
            assert back.rewards[name] == reward
        else:
            assert np.array_equal(paid(back, name), paid(model, name))
    changes: dict[str, Any] = {"rewards": {}}
    if model.has_intervals:  # the nominal probabilities that were chosen by hand are lost
        changes["probability"] = None
    assert back.replace(**changes) == model.replace(**changes)


def prepared(model: Model) -> Model:
    """Return the model with one initial state, used actions in the order of use, used observations in that order."""
    start = int(np.flatnonzero(model.initial)[0])
    changes: dict[str, Any] = {"initial": start, "labels": {**model.labels, "init": [start]}}
    if model.has_actions:
        used = list(dict.fromkeys(model.choice_action.tolist()))
        names = [model.action_name(one) or "unnamed" for one in used]
        changes |= {"choice_action": [used.index(one) for one in model.choice_action.tolist()], "action_names": names}
    if model.has_observations:
        seen = model.observation.tolist()  # type: ignore[attr-defined]  # it has them
        order = list(dict.fromkeys(seen))
        names = [model.observation_name(one) for one in order]  # type: ignore[attr-defined]  # it has them
        changes |= {"observation": [order.index(one) for one in seen], "observation_names": names}
        table = model.observation_valuations  # type: ignore[attr-defined]  # it has them
        if table is not None:
            changes["observation_valuations"] = type(table)(table.variables, table.codes[order], table.tables)
    if any(not name for name in model.state_names):
        changes["state_names"] = [name or "no name" for name in model.state_names]
    return model.replace(**changes)


def test_the_round_trip_of_ours_is_exact(model: Model) -> None:
    model = prepared(model)
    back = from_stormvogel(to_stormvogel(model))
    same_but_rewards(back, model)


def test_the_round_trip_with_observations_at_random_is_exact(noisy: Model) -> None:
    noisy = prepared(noisy)
    back = from_stormvogel(to_stormvogel(noisy))
    same_but_rewards(back, noisy)


def test_what_stormvogel_has_no_words_for_is_refused(model: Model) -> None:
    if np.count_nonzero(model.initial) == 1:
        model = model.with_initial({0: 0.5, 1: 0.5})
    with pytest.raises(BadModel, match="stormvogel has one initial state, but this model starts in"):
        to_stormvogel(model)
