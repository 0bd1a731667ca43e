"""Numbers in order, with their neighbours."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

__all__ = ["SortedNumbers"]

_BLOCK = 512


class SortedNumbers:
    """Hold distinct numbers in order, each with how often it was added.

    Cost: adding, removing and looking up take the logarithm of the size, and a move inside one block of 512.

    Example:
        >>> numbers = SortedNumbers()
        >>> for x in (3, 1, 2.5, 3):
        ...     numbers.add(x)
        >>> len(numbers), numbers.low, numbers.high, numbers.around(2), numbers.between(1, 3)
        (3, 1, 3, (1, 2.5), [2.5])
    """

    __slots__ = ("_blocks", "_counts", "_highs")

    def __init__(self) -> None:
        """Hold nothing."""
        self._blocks: list[list[float]] = []
        self._highs: list[float] = []
        self._counts: dict[float, int] = {}

    def __len__(self) -> int:
        """Return how many different numbers there are."""
        return len(self._counts)

    def __contains__(self, x: float) -> bool:
        """Say whether `x` was added."""
        return x in self._counts

    @property
    def low(self) -> float:
        """Return the smallest; there must be one."""
        return self._blocks[0][0]

    @property
    def high(self) -> float:
        """Return the largest; there must be one."""
        return self._highs[-1]

    def add(self, x: float) -> None:
        """Add a number."""
        count = self._counts.get(x)
        if count is not None:
            self._counts[x] = count + 1
            return
        self._counts[x] = 1
        if not self._blocks:
            self._blocks.append([x])
            self._highs.append(x)
            return
        at = min(bisect_left(self._highs, x), len(self._highs) - 1)
        block = self._blocks[at]
        insort(block, x)
        self._highs[at] = block[-1]
        if len(block) > 2 * _BLOCK:
            self._blocks[at : at + 1] = [block[:_BLOCK], block[_BLOCK:]]
            self._highs[at : at + 1] = [block[_BLOCK - 1], block[-1]]

    def remove(self, x: float) -> None:
        """Take back one adding of a number that was added."""
        self._counts[x] -= 1
        if self._counts[x]:
            return
        del self._counts[x]
        at = bisect_left(self._highs, x)
        block = self._blocks[at]
        del block[bisect_left(block, x)]
        if block:
            self._highs[at] = block[-1]
        else:
            del self._blocks[at], self._highs[at]

    def around(self, x: float) -> tuple[float | None, float | None]:
        """Return the nearest number at or below `x` and the nearest at or above, None where there is none."""
        if not self._blocks:
            return None, None
        at = bisect_left(self._highs, x)
        if at == len(self._highs):
            return self._highs[-1], None
        block = self._blocks[at]
        place = bisect_left(block, x)
        above = block[place]
        if above == x:
            return above, above
        if place:
            return block[place - 1], above
        return (self._highs[at - 1] if at else None), above

    def between(self, a: float, b: float) -> list[float]:
        """Return the numbers strictly between `a` and `b`, in order. Cost: linear in their number."""
        found: list[float] = []
        for at in range(bisect_right(self._highs, a), len(self._blocks)):
            block = self._blocks[at]
            found += block[bisect_right(block, a) : bisect_left(block, b)]
            if block[-1] >= b:
                break
        return found
