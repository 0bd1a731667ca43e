"""What a selection comes to: the conditions of an action, with what speaks for each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from surefoot.learners._induction.conditions import Condition

__all__ = ["Chosen", "Knowledge"]


@dataclass
class Chosen:
    """A condition that explains refusals of one action.

    Attributes:
        condition: what must hold.
        score: what speaks for it, in nats.
        support, unique: how many refusals violate it, and how many violate nothing else that was chosen.
        rivals: what explains all that it explains, and by how many nats it is worse.
        values: by value outside a domain, what speaks against this value.
        closed: what speaks against values outside a domain that were not met.
        seen: how many accepted calls there were, and how many values of a domain only one of them has.
        others: by value outside a domain, what explains all its refusals as well, and by how many nats it is worse.
    """

    condition: Condition
    score: float
    support: int
    unique: int
    rivals: list[tuple[Condition, float]] = field(default_factory=list)
    values: dict[Any, float] = field(default_factory=dict)
    closed: float = 0.0
    seen: tuple[int, int] = (0, 0)
    others: dict[Any, list[tuple[Condition, float]]] = field(default_factory=dict)


@dataclass
class Knowledge:
    """What was selected for one action.

    Attributes:
        chosen: what must hold.
        doubts: what only keeps a call from being accepted.
        leftover: how many refusals nothing explains.
        accepted, refused: how many calls there were.
        missed: the chance that the next call shows a reason that was not met yet: (`unmet` / calls) + `world`.
        unmet: reasons met once, and what is granted beyond them.
        world: what the experience of all actions says about it.
        proofs: literals, and which accepted calls satisfy each; None unless only that counts.
        source: what this is a copy of: copies differ in their weights alone, and read the same conditions.
    """

    chosen: list[Chosen]
    doubts: list[Condition]
    leftover: int
    accepted: int
    refused: int
    missed: float
    proofs: list[tuple[Condition, int]] | None = None
    source: Knowledge | None = field(default=None, repr=False, compare=False)
    unmet: float = 0.0
    world: float = 0.0

    def after(self, calls: float, unforeseen: int) -> Knowledge:
        """Return the same after more calls, so many of which were refused for a reason that nothing foresaw."""
        unmet = self.unmet + unforeseen
        return replace(self, unmet=unmet, missed=min(unmet / calls + self.world, 1.0))

    def copy(self) -> Knowledge:
        """Return knowledge whose weights can be changed without changing those of this one."""
        chosen = [replace(one, values=dict(one.values), others=dict(one.others)) for one in self.chosen]
        return replace(self, chosen=chosen, source=self.source or self)
