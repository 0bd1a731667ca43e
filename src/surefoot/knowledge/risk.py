"""Risk policies: whether to take an action, given what is predicted and what there is to gain.

| policy | takes | for |
|---|---|---|
| `Protect` | what is predicted to be accepted | the default |
| `RiskBudget` | also what is worth its risk, as long as an exact budget lasts | worlds where daring pays |
| `LearnedGate` | what does not go beyond the level at which it lately failed | depths, amounts, difficulties |

Each has `decide(prediction, gain, key)`, which is pure and returns a `Choice`. What is charged, attempted or closed is
an event, told by a call of its own.

Example:
    >>> from surefoot.protocols import RiskPolicy
    >>> all(isinstance(policy, RiskPolicy) for policy in (Protect(), RiskBudget(), LearnedGate("depth")))
    True
"""

from __future__ import annotations

from surefoot.knowledge.risk_budget import Booking, RiskBudget
from surefoot.knowledge.risk_choices import Amount, Choice, Protect
from surefoot.knowledge.risk_gate import LearnedGate

__all__ = ["Amount", "Booking", "Choice", "LearnedGate", "Protect", "RiskBudget"]
