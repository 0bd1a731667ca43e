"""What changes a map's answers without being about the world."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot import events, values
from surefoot.errors import BadArgument

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What changes a map's answers without being about the world; recorded like everything else.

    Args:
        hypothesis_cost: int >= 1, how many confirmed steps an unchecked claim counts as.
        stochastic: whether one action may lead to several places.
        stale_after: int >= 1 or None, after how many further events a confirmed claim is doubtful.
        stale_visits: int >= 1 or None, after how many further visits to its state.
        name: the map's name, to tell origins apart after a merge.

    Raises:
        BadArgument: one of them is out of its range.

    Example:
        >>> Settings(hypothesis_cost=-1)
        Traceback (most recent call last):
        surefoot.errors.BadArgument: hypothesis_cost must be an int >= 1, got -1
    """

    hypothesis_cost: int = 3
    stochastic: bool = False
    stale_after: int | None = None
    stale_visits: int | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        """Check the ranges."""
        for field in ("hypothesis_cost", "stale_after", "stale_visits"):
            given = getattr(self, field)
            if given is None and field != "hypothesis_cost":
                continue
            if type(given) is not int or not 1 <= given <= 2**31:
                raise BadArgument(f"{field} must be an int >= 1{_or_none(field)}, got {given!r}")
        if type(self.stochastic) is not bool:
            raise BadArgument(f"stochastic must be True or False, got {self.stochastic!r}")
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise BadArgument(f"name must be a non-empty str or None, got {self.name!r}")

    def encode(self) -> bytes:
        """Return the data of the entry that records them."""
        return values.encode({field: getattr(self, field) for field in self.__slots__})

    @classmethod
    def of(cls, event: events.Configured) -> Settings:
        """Return the settings that an event records."""
        return cls(**event.fields)


def _or_none(field: str) -> str:
    return "" if field == "hypothesis_cost" else " or None"
