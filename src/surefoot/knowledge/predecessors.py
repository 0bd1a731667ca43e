"""Which claims of a map lead to a state."""

from __future__ import annotations

from array import array
from typing import Any

__all__: list[str] = []  # the parts of a map; nothing here is public


class Predecessors:
    """The claims by destination: sorted once, what came later beside it; may hold claims that have moved on since."""

    def __init__(self, to: array[int], states: int, order: Any = None) -> None:
        """Sort the claims by destination; large maps with NumPy.

        Args:
            to: (claims,) the destinations.
            states: how many states there are.
            order: (claims,) int32, the claims sorted by destination, when they are sorted already.
        """
        self.later: dict[int, set[int]] = {}
        self.first, self.claims = array("i"), array("i")
        if len(to) < 5_000:
            for claim, t in enumerate(to):
                if t >= 0:
                    self.add(claim, t)
            return
        import numpy as np  # not needed for small maps

        column = np.array(to, dtype=np.int32)
        if order is None:
            order = np.argsort(column, kind="stable").astype(np.int32)
        first = np.searchsorted(column[order], np.arange(states + 1)).astype(np.int32)
        self.first.frombytes(first.tobytes())
        self.claims.frombytes(order.tobytes())

    def add(self, claim: int, t: int) -> None:
        """Let a claim lead to `t` too."""
        there = self.later.get(t)
        if there is None:
            self.later[t] = {claim}
        else:
            there.add(claim)

    def of(self, t: int) -> list[int]:
        """Return the claims that lead, or once led, to `t`, each once."""
        found: list[int] = []
        if t + 1 < len(self.first):
            found = self.claims[self.first[t] : self.first[t + 1]].tolist()
        later = self.later.get(t)
        return found if later is None else list(later.union(found))
