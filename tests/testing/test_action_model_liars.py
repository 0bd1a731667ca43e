from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from surefoot.errors import ContractBroken
from surefoot.testing._contract import left_out
from surefoot.testing.action_model_liars import MODEL_LIARS, TRANSITIONS, Rote
from surefoot.testing.action_models import ALWAYS, ModelLaw, _planned, _tried, check_action_model


def broken_by(name: str, **more: Any) -> list[str]:
    """Return the laws that a liar breaks, in their order; without looking for the shortest run, which takes a while."""
    liar = MODEL_LIARS[name]
    options = {"order_free": None, "without": (), **liar.options, **more}
    plan, seen = _planned(liar.model, TRANSITIONS, options["order_free"])
    return [law.value for law in _tried(plan, seen, left_out(options["without"], ModelLaw, ALWAYS)).broken]


@pytest.mark.parametrize("name", MODEL_LIARS)
def test_every_liar_is_caught_by_its_law(name: str) -> None:
    law, laws = MODEL_LIARS[name].law, list(ModelLaw)
    without = {*MODEL_LIARS[name].options.get("without", ()), *laws[laws.index(law) + 1 :]} - ALWAYS
    assert broken_by(name, without=without) == [law.value], "no law before it is broken; those after it do not matter"


@pytest.mark.parametrize(
    "name",
    [
        "an effect that is kept, not copied",
        "a predicted effect that is lent",
        "all unseen accepted, later",
        "never refuses",
        "the first outcome wins",
        "1, True and 1.0 are one argument",
        "wrong effects",
        "wrong next state",
        "a predicted next state that is lent",
        "any next state is taken",
        "a thousand times the support",
        "any effect is taken",
        "refused with an odd exception",
        "the order is claimed not to matter",
    ],
)
def test_nothing_else_catches_it(name: str) -> None:
    liar = MODEL_LIARS[name]
    assert broken_by(name, without=[*liar.options.get("without", ()), liar.law]) == []


@pytest.mark.parametrize("law", ModelLaw)
def test_every_law_has_a_liar(law: ModelLaw) -> None:
    assert law in {liar.law for liar in MODEL_LIARS.values()}, f"add a model that breaks {law.value!r} to MODEL_LIARS"


def test_every_lie_is_told_once_and_starts_from_the_honest_model() -> None:
    assert set(Counter(liar.model for liar in MODEL_LIARS.values()).values()) == {1}
    assert all(issubclass(liar.model, Rote) for liar in MODEL_LIARS.values())


def test_a_liar_is_told_by_its_name() -> None:
    with pytest.raises(ContractBroken, match='Silent breaks the law "it answers what it has seen often"'):
        check_action_model(MODEL_LIARS["never answers"].model, TRANSITIONS)


@pytest.mark.parametrize("order_free", [None, False, True])
def test_the_honest_model_passes(order_free: bool | None) -> None:
    report = check_action_model(Rote, TRANSITIONS, order_free=order_free)
    assert set(report.untried) == (set() if order_free else {ModelLaw.ORDER})
