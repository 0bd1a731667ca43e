"""Rows whose equal targets are added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surefoot.models._arrays import frozen_now, rows_with_repeats, running_sum

__all__ = ["Rows"]


@dataclass(frozen=True)
class Rows:
    """Hold which branches of a table of rows are one.

    Args:
        start: (C + 1,) int64, where each row starts once equal targets are one.
        target: (B,) int32, the different targets of each row, in the order in which they first come.
        kept: of the branches that were given, those that are the first in their row with their target; None where all
            are different.
        again: the others, by place.
        into: for each of these the branch that it is added to.
    """

    start: NDArray[np.int64]
    target: NDArray[np.int32]
    kept: NDArray[np.bool_] | None
    again: NDArray[np.int64]
    into: NDArray[np.int64]

    @classmethod
    def of(cls, lengths: Any, target: Any) -> Self:
        """Return the rows with the given lengths and targets."""
        start, targets = running_sum(lengths), np.array(target, dtype=np.int32)
        rows = np.unique(rows_with_repeats(start, targets))
        if not len(rows):
            none = np.zeros(0, np.int64)
            return cls(start, frozen_now(targets), None, none, none)
        sizes = start[rows + 1] - start[rows]
        row = np.repeat(np.arange(len(rows)), sizes)
        members = np.arange(len(row)) + np.repeat(start[rows] - np.cumsum(sizes) + sizes, sizes)
        keys = row * (np.int64(targets.max()) + 1) + targets[members]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        head = members[first[inverse]]
        again = members[head != members]
        kept = np.ones(len(targets), dtype=bool)
        kept[again] = False
        into = head[head != members]
        into = into - np.searchsorted(again, into)
        left = np.diff(start) - np.bincount(rows[row[head != members]], minlength=len(start) - 1)
        return cls(running_sum(left), frozen_now(targets[kept]), kept, again, into)

    def summed(self, numbers: Any) -> NDArray[np.float64]:
        """Return the sum of each group, added up in the order in which they come."""
        given = np.array(numbers, dtype=np.float64)
        if self.kept is None:
            return frozen_now(given)
        sums = given[self.kept]
        np.add.at(sums, self.into, given[self.again])
        return frozen_now(sums)

    def first(self, numbers: Any) -> NDArray[np.float64]:
        """Return the first number of each group."""
        given = np.array(numbers, dtype=np.float64)
        return frozen_now(given if self.kept is None else given[self.kept])
