"""The check of action models: its report, its breaches, and the contract to inherit."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from surefoot.errors import BadArgument, ContractBroken, MissingExtra, ValueRejected
from surefoot.protocols import ActionModel
from surefoot.testing.action_model_liars import MODEL_LIARS, TRANSITIONS, Rote
from surefoot.testing.action_models import ActionModelContract, ModelLaw, check_action_model


def breach_of(name: str, rows: Any = TRANSITIONS, **options: Any) -> str:
    liar = MODEL_LIARS[name]
    with pytest.raises(ContractBroken) as caught:
        check_action_model(liar.model, rows, **{**liar.options, **options})
    return str(caught.value)


def test_a_report_is_true_and_a_mapping_and_reads_as_a_table() -> None:
    report = check_action_model(Rote, TRANSITIONS)
    assert report
    assert dict(report) == {"observations": 14, "actions": 4, "accepted": 7, "refused": 7, "answered": 11}
    assert len(report) == 5
    with pytest.raises(KeyError):
        report["precision"]
    assert set(report.tried) | set(report.untried) == set(ModelLaw)
    assert all(report.tried.values())
    lines = str(report).splitlines()
    assert lines[0] == (
        "Rote keeps the laws of an action model (14 observations, 4 actions, 7 accepted, 7 refused, 11 answered)."
    )
    assert [re.split(r"  +", line.strip())[0] for line in lines[3:]] == [law.value for law in ModelLaw]
    assert lines[-1].endswith("-  it is not claimed: order_free=True")


def test_what_is_held_out_is_measured() -> None:
    held_out: list[Any] = [
        ({"gold": 2, "items": ["axe"]}, "buy", {"item": "axe", "count": [2]}, True),
        ({"gold": 0, "items": ["axe"]}, "buy", {"item": "axe", "count": [0]}, False),
        ({"gold": 1, "items": ["axe"]}, "buy", {"item": "axe", "count": [1]}, True, {"gold": 9}),
        ((1, 2), "open", {"door": 1}, False),
        ((1, 2), "open", {"door": 2}, False),
    ]
    report = check_action_model(Rote, TRANSITIONS, held_out)
    assert [report[key] for key in ("held_out", "precision", "recall", "abstention")] == [5, 0.5, 0.5, 0.2]
    assert [report[key] for key in ("false_accepts", "false_refusals")] == [1, 1]
    assert "0.5 precision" in str(report)
    nothing = check_action_model(Rote, TRANSITIONS, held_out=[])
    assert [nothing[key] for key in ("held_out", "precision", "recall", "abstention")] == [0, None, None, None]


def test_next_states_that_are_held_out_are_measured() -> None:
    shop = {"gold": 2, "items": ["axe"]}
    held_out: list[Any] = [(shop, "wait", {}, True, None, shop), (shop, "wait", {}, True, None, {"gold": 3})]
    report = check_action_model(Rote, TRANSITIONS, held_out)
    assert [report[key] for key in ("next_states", "wrong_next_states")] == [2, 1]


def test_a_wrong_next_state_is_told_with_the_state() -> None:
    text = breach_of("wrong next state")
    assert "expected: the next state is {'gold': " in text
    assert "happened: {'gold': 1000000}" in text
    assert ", next_state={'gold': " in text


def test_a_breach_reads_as_a_report_with_the_shortest_run() -> None:
    assert breach_of("wrong effects").splitlines() == [
        'WrongEffects breaks the law "predicted effects are those observed".',
        "",
        "    For a call that always had the same effect in a state, no other effect is predicted",
        "    there.",
        "",
        "The shortest run found that shows it has 2 calls:",
        "    observe({'gold': 2, 'items': ['axe']}, 'sell', {'item': 'axe'}, accepted=True, "
        "effect=['sold', {'gold': 3}])  ->  unknown, risk 0.5, support 0",
        "    predict({'gold': 2, 'items': ['axe']}, 'sell', {'item': 'axe'})  ->  accept, "
        "risk 0.3333333333333333, support 1, effects {'gold': 1000000}",
        "",
        "expected: the effect is ['sold', {'gold': 3}], or not predicted",
        "happened: {'gold': 1000000}",
        "",
        "Where this model cannot keep it, leave it out:",
        '    without=["predicted effects are those observed"]',
    ]


def test_a_breach_tells_what_else_is_broken_and_how() -> None:
    text = breach_of("one memory for two models")
    assert 'Broken too:\n    "what was never seen is not accepted"' in text
    assert "Another model observed the opposite meanwhile." in text
    text = breach_of("support -77")
    assert "without=" not in text
    assert "expected: the support is an int >= -1\nhappened: the support is -77" in text
    assert "It shows before the first call." in breach_of("fingerprint is no method")
    assert "… 12 more calls …" in breach_of("the first outcome wins")


def test_a_model_that_raises_is_told_with_the_call() -> None:
    text = breach_of("an argument that makes it raise")
    assert "happened: predict({'gold': 2, 'items': ['axe']}, 'buy'" in text
    assert "raised ZeroDivisionError: division by zero" in text


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((7, TRANSITIONS), BadArgument, "make must be a function that returns a fresh model, got 7"),
        ((Rote, []), BadArgument, "transitions must be one or more, got none"),
        ((Rote, [("s", "a", {})]), ValueRejected, r"transitions\[0\] must be \(state, action, args, accepted"),
        ((Rote, [("s", "a", {}, 1)]), ValueRejected, "a mapping as the args, and True or False"),
        ((Rote, [("s", ("a",), {}, True)]), ValueRejected, "must have a text as the action"),
        ((Rote, [("s", "a", [], True)]), ValueRejected, "a mapping as the args"),
        ((Rote, [({1}, "a", {}, True)]), ValueRejected, "set has no order"),
        ((Rote, TRANSITIONS, ["x"]), ValueRejected, r"held_out\[0\] must be"),
    ],
)
def test_arguments_are_checked(arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        check_action_model(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order_free": 1}, "order_free must be True, False or None, got 1"),
        ({"without": "it answers"}, "without must be a collection of names of laws, got 'it answers'"),
        ({"without": ["be nice"]}, r"got \['be nice'\]; they are \['it is an action model'"),
        ({"without": ["it answers"]}, r"these laws cannot be left out, .*\['it answers'\]"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        check_action_model(Rote, TRANSITIONS, **options)


def test_what_there_is_nothing_to_try_on_is_told() -> None:
    report = check_action_model(Rote, [(0, "go", {}, True), (0, "go", {}, False)], without=["nothing is shared"])
    assert report.untried == {
        ModelLaw.SHARED: "left out",
        ModelLaw.OPPOSITE: "no call had one outcome only",
        ModelLaw.EFFECTS: "no effect that was always the same is predicted",
        ModelLaw.NEXT: "no next state that was always the same is predicted",
        ModelLaw.ORDER: "it is not claimed: order_free=True",
    }
    report = check_action_model(Rote, [(0, "go", {}, True)] * 2, order_free=True)
    assert report.untried[ModelLaw.ORDER] == "there are no two different observations"


def test_the_claim_of_a_model_is_believed_and_tried() -> None:
    class Claims(Rote):
        order_free = True

    assert check_action_model(Claims, TRANSITIONS).tried[ModelLaw.ORDER] == 2
    assert ModelLaw.ORDER in check_action_model(Claims, TRANSITIONS, order_free=False).untried


class TestRote(ActionModelContract):
    def make(self) -> ActionModel:
        return Rote()

    def transitions(self) -> Any:
        return TRANSITIONS


def test_a_contract_needs_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytest", None)
    with pytest.raises(MissingExtra, match=r"contracts need the package pytest: pip install 'surefoot\[testing\]'"):
        TestRote().test_the_order_of_observations_does_not_matter()


def test_the_contract_has_a_test_for_each_law() -> None:
    tests = {name.removeprefix("test_").replace("_", " ") for name in vars(ActionModelContract) if "test_" in name}
    assert tests == {law.value.replace("Prediction", "prediction").lower() for law in ModelLaw}


def test_a_contract_fails_where_its_law_is_broken_and_skips_what_stands_on_it() -> None:
    class TestLiar(ActionModelContract):
        def make(self) -> Any:
            return MODEL_LIARS["support -77"].model()

        def transitions(self) -> Any:
            return TRANSITIONS

    contract = TestLiar()
    contract.test_it_answers()
    with pytest.raises(ContractBroken, match="Changed breaks the law"):
        contract.test_predictions_are_well_formed()
    with pytest.raises(pytest.skip.Exception, match="'predictions are well formed' is broken, mend that first"):
        contract.test_later_outcomes_count()


def test_a_contract_says_what_is_to_be_written() -> None:
    with pytest.raises(NotImplementedError, match=r"write ActionModelContract.make\(\)"):
        ActionModelContract().make()
    with pytest.raises(NotImplementedError, match=r"write ActionModelContract.transitions\(\)"):
        ActionModelContract().transitions()
