"""The check of risk policies: its report, its breaches, and the contract to inherit."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from surefoot.errors import BadArgument, ContractBroken
from surefoot.knowledge.risk import LearnedGate, Protect, RiskBudget
from surefoot.protocols import RiskPolicy
from surefoot.testing.risk_policies import PolicyLaw, RiskPolicyContract, check_risk_policy
from surefoot.testing.risk_policy_liars import POLICY_LIARS, Purse


def breach_of(name: str, **options: Any) -> str:
    with pytest.raises(ContractBroken) as caught:
        check_risk_policy(POLICY_LIARS[name].policy, **options)
    return str(caught.value)


def burnt() -> LearnedGate:
    return LearnedGate("depth").failed(5, 2).new_episode()


@pytest.mark.parametrize("make", [Protect, RiskBudget, lambda: RiskBudget(0.35, overall=0.5), burnt])
def test_our_policies_keep_the_laws(make: Any) -> None:
    report = check_risk_policy(make, keys=[None, "a key", (3, 2), (7, 2)])
    budget = isinstance(make(), RiskBudget)
    assert set(report.untried) == (set() if budget else set(list(PolicyLaw)[11:]))


def test_a_report_is_true_and_a_mapping_and_reads_as_a_table() -> None:
    report = check_risk_policy(Protect)
    assert report
    assert dict(report) == {"questions": 480, "take": 96, "avoid": 192, "ask": 192}
    lines = str(report).splitlines()
    assert lines[0] == "Protect keeps the laws of a risk policy (480 questions, 96 take, 192 avoid, 192 ask)."
    assert [re.split(r"  +", line.strip())[0] for line in lines[3:]] == [law.value for law in PolicyLaw]
    assert lines[-1].endswith("-  it has no charge or new_episode")


def test_a_breach_reads_as_a_report() -> None:
    assert breach_of("half is kept when it is settled").splitlines() == [
        'KeepsTheChange breaks the law "what is settled adds up".',
        "",
        "    A charge that is settled with 0 is given back whole; what is no amount is refused;",
        "    nothing becomes negative.",
        "",
        "The run that shows it has 3 calls:",
        "    decide(refuse, risk 0.1, support 50; gain=1000.0)  ->  take, 1/10",
        "    charge(take, 1/10)                                 ->  left Fraction(9, 10)",
        "    settle(choice, 0)                                  ->  left 19/20",
        "",
        "expected: 1 is left, as before",
        "happened: 19/20 is left",
        "",
        "Where this policy cannot keep it, leave it out:",
        '    without=["what is settled adds up"]',
    ]
    assert "The policy was only asked." in breach_of("deciding fills a log")
    assert "without=" not in breach_of("a word of its own")
    assert "It shows before the first call." in breach_of("decide is no method")
    assert "decide(refuse, risk 0.0, support -1, hard; gain=1000000000000.0)" in breach_of("a hard refusal is traded")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"make": 7}, "make must be a function that returns a fresh policy, got 7"),
        ({"keys": ()}, r"keys must be a list of one key or more, got \(\)"),
        ({"keys": "key"}, "keys must be a list"),
        ({"keys": {1}}, "keys must be a list"),
        ({"without": "it answers"}, "without must be a collection of names of laws"),
        ({"without": ["it answers"]}, "these laws cannot be left out"),
    ],
)
def test_arguments_are_checked(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        check_risk_policy(**{"make": Protect, **arguments})


class Changed(Purse):
    """An honest policy, changed as a test needs it."""

    def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
        choice = super().decide(prediction, gain, key)
        return self.change(choice, prediction, key)

    def change(self, choice: Any, prediction: Any, key: Any) -> Any:
        return choice


def broken(make: Any) -> str:
    with pytest.raises(ContractBroken) as caught:
        check_risk_policy(make)
    return str(caught.value)


def test_a_policy_that_takes_no_risk_has_nothing_to_charge() -> None:
    class Poor(Purse):
        limit = 0

    report = check_risk_policy(Poor)
    assert report.untried[PolicyLaw.EXACT] == "it takes no risk of 0.1 with a gain of 1000"
    assert report.untried[PolicyLaw.KEYS] == "it charges nothing for a risk of 0.1 with a gain of 1000"


def test_a_policy_without_an_account_has_no_budget() -> None:
    class Secret:
        def __init__(self) -> None:
            self.purse = Purse()

        def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
            return self.purse.decide(prediction, gain, key)

        def charge(self, choice: Any) -> None:
            self.purse.charge(choice)

    assert check_risk_policy(Secret).untried[PolicyLaw.EXACT] == "it has no left"


def test_what_is_left_must_be_a_number() -> None:
    class Endless(Purse):
        left: Any = property(lambda self: float("inf"), lambda self, left: None)

    assert "expected: what is left is a finite number\nhappened: it is inf" in broken(Endless)


def test_a_charge_must_be_a_number_and_charging_must_not_raise() -> None:
    class Strange(Changed):
        def change(self, choice: Any, prediction: Any, key: Any) -> Any:
            return SimpleNamespace(word=choice.word, reason="r", charge=None)

    assert 'breaks the law "every answer is a choice"' in broken(Strange)

    class Fragile(Purse):
        def spend(self, cost: Any, key: Any) -> None:
            raise OSError("the disk is full")

    assert "happened: charge(take, 1/10) raised OSError: the disk is full" in broken(Fragile)


def test_only_type_and_value_errors_refuse_a_number() -> None:
    class Odd(Purse):
        def number(self, value: Any, name: str) -> Any:
            return value

        def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
            if gain != gain:
                raise RuntimeError("nan")
            return super().decide(prediction, gain, key)

    assert "raises a TypeError or ValueError\nhappened: RuntimeError" in broken(Odd)


def test_what_a_bad_number_leaves_behind_is_seen() -> None:
    class Stained(Purse):
        def decide(self, prediction: Any, gain: Any = 0.0, key: Any = None) -> Any:
            if gain < 0:
                self.left = self.left / 2
            return super().decide(prediction, gain, key)

    assert 'breaks the law "what is no amount is refused"' in broken(Stained)


def test_a_policy_that_changes_its_mind_is_seen() -> None:
    class Fickle(Changed):
        asked = 0

        def change(self, choice: Any, prediction: Any, key: Any) -> Any:
            self.asked += 1
            return SimpleNamespace(word="ask", reason="r", charge=0) if 400 < self.asked < 500 else choice

    text = broken(Fickle)
    assert 'breaks the law "deciding changes nothing"' in text


def test_charging_an_old_choice_may_be_refused_or_done() -> None:
    class Lenient(Purse):
        def charge(self, choice: Any) -> None:
            if choice.word == "take":
                self.spend(min(choice.charge, self.left), choice.key)

    report = check_risk_policy(Lenient)
    assert report.tried[PolicyLaw.WITHIN] == 100


def test_a_greedy_policy_has_fewer_choices_to_refuse_to_charge() -> None:
    class Greedy(Changed):
        def change(self, choice: Any, prediction: Any, key: Any) -> Any:
            if choice.word == "ask" or (choice.word == "avoid" and not prediction.hard and prediction.risk == 0.1):
                return SimpleNamespace(word="take", reason="r", charge=0, key=key)
            return choice

    report = check_risk_policy(Greedy, without=["what rests on nothing is not taken", "less risk is never worse"])
    assert report.tried[PolicyLaw.TAKEN] == 1


class TestProtect(RiskPolicyContract):
    def make(self) -> RiskPolicy:
        return Protect()


class TestRiskBudget(RiskPolicyContract):
    def make(self) -> RiskPolicy:
        return RiskBudget(per_episode=1, overall=3)


class TestLearnedGate(RiskPolicyContract):
    keys = (None, (3, 2), (7, 2))

    def make(self) -> RiskPolicy:
        return burnt()


def test_the_contract_has_a_test_for_each_law() -> None:
    tests = {name.removeprefix("test_").replace("_", " ") for name in vars(RiskPolicyContract) if "test_" in name}
    assert tests == {law.value.replace("-", " ") for law in PolicyLaw}


def test_a_contract_fails_where_its_law_is_broken_and_skips_what_stands_on_it() -> None:
    class TestLiar(RiskPolicyContract):
        def make(self) -> Any:
            return POLICY_LIARS["no reason"].policy()

    contract = TestLiar()
    contract.test_it_answers()
    with pytest.raises(ContractBroken, match="NoReason breaks the law"):
        contract.test_every_answer_is_a_choice()
    with pytest.raises(pytest.skip.Exception, match="'every answer is a choice' is broken, mend that first"):
        contract.test_accounts_are_exact()


def test_a_contract_says_what_is_to_be_written() -> None:
    with pytest.raises(NotImplementedError, match=r"write RiskPolicyContract.make\(\)"):
        RiskPolicyContract().make()
