"""What a selection comes to: the conditions of an action, with what speaks for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from surefoot.learners._induction.conditions import Condition

__all__ = ["Chosen", "Knowledge"]


@dataclass
class Chosen:
    """A condition that explains refusals of one action."""

    condition: Condition
    score: float
    support: int
    unique: int
    rivals: list[tuple[Condition, float]] = field(default_factory=list)
    values: dict[Any, float] = field(default_factory=dict)
    closed: float = 0.0


@dataclass
class Knowledge:
    """What was selected for one action."""

    chosen: list[Chosen]
    doubts: list[Condition]
    leftover: int
    accepted: int
    refused: int
    missed: float
    proofs: list[tuple[Condition, int]] | None = None
