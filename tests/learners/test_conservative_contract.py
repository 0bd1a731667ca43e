"""The conservative model keeps the laws of action models, next states among them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from surefoot.environments.crafting import Crafting
from surefoot.learners.conservative import CAUTIONS, ConservativeActionModel
from surefoot.learners.vocabulary import Vocabulary
from surefoot.protocols import call_of
from surefoot.testing.action_model_liars import TRANSITIONS
from surefoot.testing.action_models import ActionModelContract, check_action_model


def whole() -> Vocabulary:
    """Return conditions that hold all of a call."""
    return Vocabulary({"state": lambda state, args: state, "args": lambda state, args: dict(args)})


@pytest.mark.parametrize("caution", CAUTIONS)
def test_the_shop_is_learned_by_the_laws(caution: str) -> None:
    report = check_action_model(
        lambda: ConservativeActionModel(whole(), caution=caution), TRANSITIONS, TRANSITIONS, order_free=True
    )
    assert not report.untried
    assert (report["false_accepts"], report["false_refusals"]) == (0, 0)
    assert (report["next_states"], report["wrong_next_states"]) == (2, 0)


def walk(seed: int, steps: int) -> list[Any]:
    """Return what a wanderer in the meadow tries and meets."""
    world, rng, rows = Crafting("meadow"), random.Random(seed), []
    state = world.reset()
    for _ in range(steps):
        action = rng.choice(world.actions(state))
        call, outcome = call_of(action), world.step(action)
        after = outcome.state if outcome.accepted else None
        rows.append((state, call.name, call.args, outcome.accepted, outcome.effect, after))
        state = world.reset() if outcome.done else outcome.state
    return rows


class TestMeadow(ActionModelContract):
    order_free = True

    def make(self) -> ConservativeActionModel:
        bag = Vocabulary(
            {
                "what": lambda state, args: args["0"],
                "place": lambda state, args: state[0],
                "carried": lambda state, args: args["0"] in dict(state[1]),
                "axe": lambda state, args: "axe" in dict(state[1]),
                "full": lambda state, args: sum(dict(state[1]).values()) >= 6,
            }
        )
        return ConservativeActionModel(bag)

    def transitions(self) -> Any:
        return walk(seed=5, steps=40)


def test_next_states_of_the_meadow_are_right_where_they_are_named() -> None:
    model = TestMeadow().make()
    for state, action, args, accepted, effect, after in walk(1, 1200):
        model.observe(state, action, args, accepted, effect, next_state=after)
    named = 0
    for state, action, args, _, _, after in walk(2, 600):
        found = model.predict(state, action, args).next_state
        if found is not None:
            named += 1
            assert found == after
    assert named > 50
