"""The three policies under one roof."""

from __future__ import annotations

import pytest

from surefoot.knowledge import risk
from surefoot.knowledge.gates import GateDecision
from surefoot.knowledge.risk import LearnedGate, Protect, RiskBudget
from surefoot.protocols import Prediction, RiskPolicy

POLICIES = [Protect(), RiskBudget(per_episode=10**6), LearnedGate("depth")]


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_trades_a_hard_refusal_or_a_gate(policy: RiskPolicy) -> None:
    best = Prediction("accept", risk=0.0, support=10**6)
    assert policy.decide(best, 10**9).word == "take"
    for word in ("reject", "terminate", "escalate"):
        shown = GateDecision(word, ("closed",), ("hours",)).over(best)
        choice = policy.decide(shown, 10**9, "k")
        assert choice.word == ("ask" if word == "escalate" else "avoid")
        assert choice.reason == "closed"


def test_the_module_names_them() -> None:
    assert risk.__all__ == ["Amount", "Booking", "Choice", "LearnedGate", "Protect", "RiskBudget"]
