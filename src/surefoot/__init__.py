"""Surefoot: agents that learn a world by acting in it, and can prove every answer they give about it.

The names below are loaded when they are first used, so that `import surefoot` costs almost nothing. What costs more to
load stays in a module of its own: `surefoot.environments.<name>`, `surefoot.testing`, and every error in
`surefoot.errors`.

Example:
    >>> import surefoot
    >>> surefoot.moved("kitchen").verdict
    'accepted'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.agent.agent import Agent
    from surefoot.agent.decision import Decision
    from surefoot.agent.episode import Episode
    from surefoot.agent.knowledge_base import Knowledge
    from surefoot.agent.verifying import Verify
    from surefoot.checking.quantitative import check
    from surefoot.checking.shield import shield
    from surefoot.journal import Entry, Head, Journal, Verification, open_journal
    from surefoot.knowledge.agenda import Agenda
    from surefoot.knowledge.claims import Claim
    from surefoot.knowledge.failures import FailureMemory
    from surefoot.knowledge.risk import LearnedGate, Protect, RiskBudget
    from surefoot.knowledge.routes import Route
    from surefoot.knowledge.store import KnowledgeStore
    from surefoot.knowledge.worldmap import WorldMap
    from surefoot.learners.batches import Coded, Predictions
    from surefoot.learners.conservative import ConservativeActionModel
    from surefoot.learners.counts import Counts
    from surefoot.learners.vocabulary import MISSING, UNREAD, Vocabulary
    from surefoot.models.build import build
    from surefoot.models.markov import HMM, MDP, POMDP, MarkovChain
    from surefoot.protocols import (
        ActionModel,
        Environment,
        Outcome,
        Prediction,
        RiskPolicy,
        SlowPath,
        call_of,
        ended,
        faulted,
        moved,
        refused,
    )

__all__ = [
    "ActionModel",
    "Agenda",
    "Agent",
    "Claim",
    "Coded",
    "ConservativeActionModel",
    "Counts",
    "Decision",
    "Entry",
    "Environment",
    "Episode",
    "FailureMemory",
    "HMM",
    "Head",
    "Journal",
    "Knowledge",
    "KnowledgeStore",
    "LearnedGate",
    "MDP",
    "MISSING",
    "MarkovChain",
    "Outcome",
    "POMDP",
    "Prediction",
    "Predictions",
    "Protect",
    "RiskBudget",
    "RiskPolicy",
    "Route",
    "SlowPath",
    "UNREAD",
    "Verification",
    "Verify",
    "Vocabulary",
    "WorldMap",
    "build",
    "call_of",
    "check",
    "ended",
    "faulted",
    "moved",
    "open_journal",
    "refused",
    "shield",
]

__version__ = "0.1.0"

_HOMES = {
    "ActionModel": "surefoot.protocols",
    "Agenda": "surefoot.knowledge.agenda",
    "Agent": "surefoot.agent.agent",
    "Claim": "surefoot.knowledge.claims",
    "Coded": "surefoot.learners.batches",
    "ConservativeActionModel": "surefoot.learners.conservative",
    "Counts": "surefoot.learners.counts",
    "Decision": "surefoot.agent.decision",
    "Entry": "surefoot.journal",
    "Environment": "surefoot.protocols",
    "Episode": "surefoot.agent.episode",
    "FailureMemory": "surefoot.knowledge.failures",
    "HMM": "surefoot.models.markov",
    "Head": "surefoot.journal",
    "Journal": "surefoot.journal",
    "Knowledge": "surefoot.agent.knowledge_base",
    "KnowledgeStore": "surefoot.knowledge.store",
    "LearnedGate": "surefoot.knowledge.risk",
    "MDP": "surefoot.models.markov",
    "MISSING": "surefoot.learners.vocabulary",
    "MarkovChain": "surefoot.models.markov",
    "Outcome": "surefoot.protocols",
    "POMDP": "surefoot.models.markov",
    "Prediction": "surefoot.protocols",
    "Predictions": "surefoot.learners.batches",
    "Protect": "surefoot.knowledge.risk",
    "RiskBudget": "surefoot.knowledge.risk",
    "RiskPolicy": "surefoot.protocols",
    "Route": "surefoot.knowledge.routes",
    "SlowPath": "surefoot.protocols",
    "UNREAD": "surefoot.learners.vocabulary",
    "Verification": "surefoot.journal",
    "Verify": "surefoot.agent.verifying",
    "Vocabulary": "surefoot.learners.vocabulary",
    "WorldMap": "surefoot.knowledge.worldmap",
    "build": "surefoot.models.build",
    "call_of": "surefoot.protocols",
    "check": "surefoot.checking.quantitative",
    "ended": "surefoot.protocols",
    "faulted": "surefoot.protocols",
    "moved": "surefoot.protocols",
    "open_journal": "surefoot.journal",
    "refused": "surefoot.protocols",
    "shield": "surefoot.checking.shield",
}
"""Where each public name is defined (PEP 562)."""


if not TYPE_CHECKING:  # so that a type checker reports a name that is not there

    def __getattr__(name: str) -> Any:
        """Load a public name when it is first used."""
        if name not in _HOMES:
            raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
