"""Contracts to hold your own implementations to: laws as tests to inherit, or as one call (needs the extra `testing`).

| you wrote | check it by a call | or inherit |
|---|---|---|
| an environment | `check_environment(make)` | `EnvironmentContract` |
| a journal backend | | `BackendContract` |
| an action model | `check_action_model(make, transitions)` | `ActionModelContract` |
| a risk policy | `check_risk_policy(make)` | `RiskPolicyContract` |
| a solver of models | | `SolverContract` |

`surefoot.testing.strategies` draws values, actions and walks for property tests; `surefoot.testing.liars` holds worlds
that break one law each, to test a checker with.

Example:
    >>> from surefoot.environments.corridor import Corridor
    >>> from surefoot.testing import check_environment
    >>> check_environment(Corridor)["deterministic"]
    True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.testing.action_models import ActionModelContract, ModelLaw, check_action_model
    from surefoot.testing.environments import EnvironmentContract, Report, check_environment
    from surefoot.testing.journals import BackendContract
    from surefoot.testing.laws import Law
    from surefoot.testing.risk_policies import PolicyLaw, RiskPolicyContract, check_risk_policy
    from surefoot.testing.solvers import SolverContract

__all__ = [
    "ActionModelContract",
    "BackendContract",
    "EnvironmentContract",
    "Law",
    "ModelLaw",
    "PolicyLaw",
    "Report",
    "RiskPolicyContract",
    "SolverContract",
    "check_action_model",
    "check_environment",
    "check_risk_policy",
]

_HOMES = {
    "ActionModelContract": "surefoot.testing.action_models",
    "BackendContract": "surefoot.testing.journals",
    "EnvironmentContract": "surefoot.testing.environments",
    "Law": "surefoot.testing.laws",
    "ModelLaw": "surefoot.testing.action_models",
    "PolicyLaw": "surefoot.testing.risk_policies",
    "Report": "surefoot.testing.environments",
    "RiskPolicyContract": "surefoot.testing.risk_policies",
    "SolverContract": "surefoot.testing.solvers",
    "check_action_model": "surefoot.testing.action_models",
    "check_environment": "surefoot.testing.environments",
    "check_risk_policy": "surefoot.testing.risk_policies",
}
"""Where each public name is defined (PEP 562)."""


if not TYPE_CHECKING:  # so that a type checker reports a name that is not there

    def __getattr__(name: str) -> Any:
        """Load a public name when it is first used."""
        if name not in _HOMES:
            raise AttributeError(f"module 'surefoot.testing' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
