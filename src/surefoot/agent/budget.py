"""What the slow path may cost in an episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surefoot.errors import BadArgument

__all__ = ["Budget", "Spent"]


@dataclass(frozen=True, slots=True)
class Spent:
    """What the slow path has cost.

    Attributes:
        decisions: how often it was asked.
        seconds: how long it took.
        money: what it said that it cost, in your own unit.

    Example:
        >>> Spent().plus({"decisions": 1, "seconds": 0.5}).decisions
        1
    """

    decisions: int = 0
    seconds: float = 0.0
    money: float = 0.0

    def plus(self, more: Mapping[str, Any]) -> Spent:
        """Return this and what one decision cost."""
        if not more:
            return self
        return Spent(
            self.decisions + more.get("decisions", 0),
            self.seconds + more.get("seconds", 0.0),
            self.money + more.get("money", 0.0),
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """Bound what the slow path may cost in one episode. None is no bound.

    It is asked as long as nothing is used up, so that the last decision may go beyond the seconds and the money.

    Args:
        decisions: how often it is asked, an int >= 0.
        seconds: how long it may take in all, a number >= 0.
        money: what it may cost in all, a number >= 0.

    Raises:
        BadArgument: one of them is out of its range.

    Example:
        >>> budget = Budget(decisions=2, seconds=10)
        >>> budget.used_up(Spent(1)), budget.used_up(Spent(2))
        (None, 'decisions')
    """

    decisions: int | None = None
    seconds: float | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.decisions is not None and (type(self.decisions) is not int or self.decisions < 0):
            raise BadArgument(f"decisions must be an int >= 0 or None, got {self.decisions!r}")
        for name in ("seconds", "money"):
            given = getattr(self, name)
            if given is None:
                continue
            if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < float("inf"):
                raise BadArgument(f"{name} must be a finite number >= 0 or None, got {given!r}")

    @classmethod
    def of(cls, given: Budget | int | None) -> Budget:
        """Return a budget; a bare number is one of decisions.

        Raises:
            BadArgument: it is neither.
        """
        if given is None or isinstance(given, Budget):
            return given or cls()
        if type(given) is not int:
            raise BadArgument(f"budget must be a Budget, a number of decisions or None, got {given!r}")
        return cls(decisions=given)

    def used_up(self, spent: Spent) -> str | None:
        """Return the name of what is used up; None when the slow path may be asked again."""
        for name in ("decisions", "seconds", "money"):
            limit = getattr(self, name)
            if limit is not None and getattr(spent, name) >= limit:
                return name
        return None
