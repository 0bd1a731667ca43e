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
        group: for each branch that was given the one that it became; None where all are different.
        kept: for each branch that is left, the first one that was given for it; None where all are different.
    """

    start: NDArray[np.int64]
    target: NDArray[np.int32]
    group: NDArray[np.int64] | None
    kept: NDArray[np.int64] | None

    @classmethod
    def of(cls, lengths: Any, target: Any) -> Self:
        """Return the rows with the given lengths and targets."""
        start, targets = running_sum(lengths), np.array(target, dtype=np.int32)
        row = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
        twice = rows_with_repeats(start, targets, row)
        if not len(twice):
            return cls(start, frozen_now(targets), None, None)
        rows = np.zeros(len(start) - 1, dtype=bool)
        rows[twice] = True
        members = np.flatnonzero(rows[row])
        keys = row[members] * (np.int64(targets.max()) + 1) + targets[members]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        head = np.arange(len(targets))
        head[members] = members[first[inverse]]
        again = head != np.arange(len(targets))
        kept = np.flatnonzero(~again)
        lengths = np.bincount(row[kept], minlength=len(start) - 1)
        return cls(running_sum(lengths), frozen_now(targets[kept]), (np.cumsum(~again) - 1)[head], kept)

    def summed(self, numbers: Any) -> NDArray[np.float64]:
        """Return the sum of each group, added up in the order in which they come."""
        given = np.array(numbers, dtype=np.float64)
        if self.group is None:
            return frozen_now(given)
        return frozen_now(np.bincount(self.group, weights=given, minlength=len(self.target)))

    def first(self, numbers: Any) -> NDArray[np.float64]:
        """Return the first number of each group."""
        given = np.array(numbers, dtype=np.float64)
        return frozen_now(given if self.kept is None else given[self.kept])
