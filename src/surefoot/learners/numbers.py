"""Numbers in order, with their neighbours."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

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
        >>> numbers.span(None, 3)
        (2, 1, 2.5)
    """

    __slots__ = ("_blocks", "_highs", "_sizes", "_twice")

    def __init__(self) -> None:
        """Hold nothing."""
        self._blocks: list[list[float]] = []
        self._highs: list[float] = []
        self._sizes: list[int] | None = None  # of blocks, as a Fenwick tree; None: to be made when asked
        self._twice: dict[float, int] | None = None  # how often more than once, if any was

    def __len__(self) -> int:
        """Return how many different numbers there are. Cost: linear in a 512th of them."""
        return sum(map(len, self._blocks))

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return bool(self._blocks)

    def __contains__(self, x: float) -> bool:
        """Say whether `x` was added."""
        below, above = self.around(x)
        return below is not None and below == above

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
        if not self._blocks:
            self._blocks.append([x])
            self._highs.append(x)
            return
        at = min(bisect_left(self._highs, x), len(self._highs) - 1)
        block = self._blocks[at]
        place = bisect_left(block, x)
        if place < len(block) and block[place] == x:
            self._twice = self._twice or {}
            self._twice[x] = self._twice.get(x, 0) + 1
            return
        block.insert(place, x)
        self._highs[at] = block[-1]
        if len(block) > 2 * _BLOCK:
            self._blocks[at : at + 1] = [block[:_BLOCK], block[_BLOCK:]]
            self._highs[at : at + 1] = [block[_BLOCK - 1], block[-1]]
            self._sizes = None
        elif self._sizes is not None:
            self._resize(at, 1)

    def remove(self, x: float) -> None:
        """Take back one adding of a number that was added."""
        if self._twice and x in self._twice:
            self._twice[x] -= 1
            if not self._twice[x]:
                del self._twice[x]
            return
        at = bisect_left(self._highs, x)
        block = self._blocks[at]
        del block[bisect_left(block, x)]
        if block:
            self._highs[at] = block[-1]
            if self._sizes is not None:
                self._resize(at, -1)
        else:
            del self._blocks[at], self._highs[at]
            self._sizes = None

    def _resize(self, at: int, by: int) -> None:
        """Note that block `at` grew."""
        assert self._sizes is not None  # else there is nothing to note
        at += 1
        while at < len(self._sizes):
            self._sizes[at] += by
            at += at & -at

    def _rank(self, at: int, place: int) -> int:
        """Return how many numbers lie before a place in block `at`."""
        if self._sizes is None:
            self._sizes = [0, *map(len, self._blocks)]
            for node in range(1, len(self._sizes)):
                parent = node + (node & -node)
                if parent < len(self._sizes):
                    self._sizes[parent] += self._sizes[node]
        while at:
            place += self._sizes[at]
            at &= at - 1
        return place

    def span(self, below: float | None, above: float | None) -> tuple[int, float, float] | None:
        """Return how many numbers lie strictly between two, the least and the greatest of them; None: no bound there.

        Returns:
            (how many, least, greatest), or None when there are none.

        Cost: the logarithm of the size; after 512 numbers were added, once a 512th of the size more.

        Source: Fenwick 1994, of the sizes of blocks.
        """
        if not self._blocks:
            return None
        first, start = (0, 0) if below is None else self._after(below)
        last, end = (len(self._blocks) - 1, len(self._blocks[-1])) if above is None else self._before(above)
        if (first, start) >= (last, end):
            return None
        if last == first:
            return end - start, self._blocks[first][start], self._blocks[last][end - 1]
        greatest = self._blocks[last][end - 1] if end else self._highs[last - 1]
        return self._rank(last, end) - self._rank(first, start), self._blocks[first][start], greatest

    def _after(self, x: float) -> tuple[int, int]:
        """Return the block and the place in it of the first number above `x`; past the last block if there is none."""
        at = bisect_right(self._highs, x)
        return at, bisect_right(self._blocks[at], x) if at < len(self._blocks) else 0

    def _before(self, x: float) -> tuple[int, int]:
        """Return the block of the first number at or above `x`, and its place there."""
        at = bisect_left(self._highs, x)
        if at == len(self._highs):
            return at - 1, len(self._blocks[-1])
        return at, bisect_left(self._blocks[at], x)

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
