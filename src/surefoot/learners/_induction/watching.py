"""Many conditions that only keep a call from being accepted, read in one pass: the first violated one is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from surefoot.learners._induction.conditions import Check, Condition

__all__ = ["Watch"]


class Watch:
    """Conditions in order, grouped by how they are read fastest.

    Comparisons of numbers share the numbers, and those of the form "one or the other" share their parts: each part is
    looked at once.

    Attributes:
        conditions: all of them, in order.
    """

    def __init__(self, conditions: Sequence[Condition], index: Mapping[str, int]) -> None:
        """Sort conditions into groups; `index` says where each term's value is."""
        self.conditions = list(conditions)
        self._index = index
        self._checks: list[Check] = []  # made when they are asked for
        self._plain: list[tuple[int, Check]] = []
        self._most: list[tuple[int, int, int]] = []
        self._less: list[tuple[int, int, int]] = []
        self._parts: list[tuple[int, Check]] = []
        self._pairs: list[tuple[int, int]] = []
        places: dict[int, int] = {}
        bits: dict[str, int] = {}
        for at, condition in enumerate(self.conditions):
            if condition.kind in ("le", "lt"):
                one, other = (places.setdefault(index[term.key], len(places)) for term in condition.terms)
                (self._most if condition.kind == "le" else self._less).append((at, one, other))
            elif condition.kind == "either":
                both = 0
                for part in condition.param:
                    if part.key not in bits:
                        bits[part.key] = 1 << len(bits)
                        self._parts.append((bits[part.key], part.check(index)))
                    both |= bits[part.key]
                self._pairs.append((at, both))
            else:
                self._plain.append((at, condition.check(index)))
        self._numbers = list(places)

    def first(self, slots: Sequence[Any]) -> Condition | None:
        """Return the first condition that a call violates, None when it keeps them all."""
        least = len(self.conditions)
        for at, check in self._plain:
            if not check(slots):
                least = at
                break
        if self._numbers:
            found = [slots[place] for place in self._numbers]
            figures = [v if type(v) is int or type(v) is float else nan for v in found]
            for at, one, other in self._most:
                if figures[one] > figures[other]:
                    least = min(least, at)
                    break
            for at, one, other in self._less:
                if figures[one] >= figures[other]:
                    least = min(least, at)
                    break
        if self._pairs and self._pairs[0][0] < least:
            wrong = 0
            for bit, check in self._parts:
                if not check(slots):
                    wrong |= bit
            for at, both in self._pairs:
                if wrong & both == both:
                    least = min(least, at)
                    break
        return self.conditions[least] if least < len(self.conditions) else None

    def violated(self, slots: Sequence[Any]) -> list[Condition]:
        """Return every condition that a call violates, in order."""
        if len(self._checks) < len(self.conditions):
            self._checks = [condition.check(self._index) for condition in self.conditions]
        return [one for one, check in zip(self.conditions, self._checks, strict=True) if not check(slots)]
