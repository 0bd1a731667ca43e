"""Bits and marks: the small things that a knowledge store keeps beside its columns."""

from __future__ import annotations

from math import inf

from surefoot.knowledge.items import PERSON, Interval

__all__ = ["ALWAYS", "Contest", "Marks", "Span", "as_interval", "bounds"]

Span = tuple[float, float]
"""An interval with infinities in place of what is open.

Example:
    >>> span: Span = bounds((None, 3))
"""
ALWAYS: Span = (-inf, inf)
"""The span of an assertion without an interval.

Example:
    >>> ALWAYS
    (-inf, inf)
"""

SURE, MAYBE = 1, 2
"""Of an assertion: it is alive; of an item: it holds.

Example:
    >>> SURE | MAYBE
    3
"""
GONE, TRIAL, RESOLVES, OVERRULED = 4, 8, 16, 32
"""Of an assertion: taken back, on trial, a person's answer to a question, overruled by one.

Example:
    >>> GONE | TRIAL | RESOLVES | OVERRULED
    60
"""
CONTESTED, FIRM, PRESENT = 4, 8, 16
"""Of an item: in dispute, supported by what is active, stated by something alive.

Example:
    >>> CONTESTED | FIRM | PRESENT
    28
"""


class Contest:
    """Where a key stands that has several values, kept so that one more assertion costs no look at the others.

    Attributes:
        top: the rank of the strongest alive assertion.
        held: the items that hold.

    Example:
        >>> Contest(2, {7}).held
        {7}
    """

    __slots__ = ("held", "top")

    def __init__(self, top: int, held: set[int]) -> None:
        """Keep them."""
        self.top = top
        self.held = held


class Marks:
    """What few items have: doubts, an age, a place in or out of use.

    Attributes:
        flags: the flags that stand against it, the oldest first.
        first, confirmed: its oldest alive assertion, and its newest by an outcome or a person; -1 for none.
        fades: the tick at which the last of its alive assertions is too old; None: never.
        aging: whether any live assertion of it can get too old.
        promoted, retired: what somebody said last.

    Example:
        >>> Marks().blank
        True
    """

    __slots__ = ("aging", "confirmed", "fades", "first", "flags", "promoted", "retired")

    def __init__(self) -> None:
        """Mark nothing."""
        self.flags: list[int] = []
        self.first = self.confirmed = -1
        self.fades: int | None = None
        self.aging = self.promoted = self.retired = False

    @property
    def ages(self) -> tuple[int, int, int | None]:
        """Return (first, confirmed, fades)."""
        return self.first, self.confirmed, self.fades

    def with_one_more(self, row: int, rank: int, fades: int | None, others: bool) -> tuple[int, int, int | None]:
        """Return the ages with one more alive assertion, the newest; `others` says whether it has others."""
        last = None if fades is None or (others and self.fades is None) else fades
        if last is not None and others and self.fades is not None:
            last = max(last, self.fades)
        return self.first if others else row, row if rank >= PERSON else self.confirmed, last

    @property
    def blank(self) -> bool:
        """Say whether nothing is marked."""
        return not (self.flags or self.aging or self.promoted or self.retired)

    def __eq__(self, other: object) -> bool:
        """Compare every mark."""
        return isinstance(other, Marks) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # the usual way to say so


def as_interval(span: Span) -> Interval | None:
    """Return a span as people give it, None for always.

    Example:
        >>> as_interval((2020, inf)), as_interval(ALWAYS)
        ((2020, None), None)
    """
    since, until = (None if abs(end) == inf else end for end in span)
    return None if since is None and until is None else (since, until)


def bounds(valid: Interval | None) -> Span:
    """Return an interval with numbers in place of what is open.

    Example:
        >>> bounds((2020, None)), bounds(None)
        ((2020, inf), (-inf, inf))
    """
    since, until = valid or (None, None)
    return -inf if since is None else since, inf if until is None else until
