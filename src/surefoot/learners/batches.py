"""Predict very many calls at once, as columns of condition values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from surefoot.protocols import Prediction

if TYPE_CHECKING:
    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

__all__ = ["VERDICTS", "Coded", "Predictions"]

VERDICTS = ("unknown", "accept", "refuse")
"""What the numbers in `Predictions.verdict` stand for.

Example:
    >>> VERDICTS[2]
    'refuse'
"""
UNKNOWN, ACCEPT, REFUSE = range(3)


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of condition values as codes: row `i` holds `values[codes[i]]`.

    Attributes:
        values: the different values.
        codes: (n,) integers, one per row.

    Example:
        >>> from surefoot import ConservativeActionModel, Vocabulary
        >>> model = ConservativeActionModel(Vocabulary({"open": lambda state, args: state["open"]}))
        >>> _ = model.observe({"open": True}, "enter", {}, True), model.observe({"open": False}, "enter", {}, False)
        >>> model.predict_columns({"open": Coded([False, True], [1, 0, 1])}, "enter").verdicts
        ['accept', 'refuse', 'accept']
    """

    values: Sequence[Any]
    codes: Any


class Predictions(Sequence[Prediction]):
    """What is predicted of each row of a batch: columns for all, and the whole prediction of a row when asked.

    A whole prediction is worked out when it is read, by the model that answered: as long as that has not observed more.
    It says what the call changes where the states are known: from them as they are when it is read.

    Attributes:
        verdict: (n,) int8, places in `VERDICTS`: 0 unknown, 1 accept, 2 refuse.
        risk: (n,) float64.
        support: (n,) int64.
        hard: (n,) bool.

    Example:
        >>> from surefoot import ConservativeActionModel, Vocabulary
        >>> model = ConservativeActionModel(Vocabulary({"open": lambda state, args: state["open"]}))
        >>> _ = model.observe({"open": True}, "enter", {}, True)
        >>> batch = model.predict_many([{"open": True}, {"open": False}], "enter")
        >>> batch.verdicts, batch.accepts.tolist(), batch.support.tolist(), batch[0].reason
        (['accept', 'unknown'], [True, False], [1, 0], 'accepted in all 1 cases like this')
        >>> batch[0] == model.predict({"open": True}, "enter")
        True
    """

    def __init__(self, count: int, ask: Callable[[int], Prediction]) -> None:
        """Make room for `count` answers; `ask` works out a whole one."""
        self.verdict: NDArray[np.int8] = np.zeros(count, np.int8)
        self.risk: Floats = np.zeros(count)
        self.support: Ints = np.zeros(count, np.int64)
        self.hard: Bools = np.zeros(count, np.bool_)
        self._ask = ask

    @property
    def verdicts(self) -> list[str]:
        """The verdicts in words."""
        return [VERDICTS[verdict] for verdict in self.verdict.tolist()]

    @property
    def accepts(self) -> Bools:
        """Which rows are accepted."""
        found: Bools = self.verdict == ACCEPT
        return found

    @property
    def refuses(self) -> Bools:
        """Which rows are refused."""
        found: Bools = self.verdict == REFUSE
        return found

    @property
    def next_states(self) -> list[Any]:
        """What each row's call makes of its state; None where it is not accepted, or that is not determined.

        Cost: that of a single call for each accepted row.

        Example:
            >>> from surefoot import ConservativeActionModel, Vocabulary
            >>> model = ConservativeActionModel(Vocabulary({"free": lambda state, args: state["n"] > 0}))
            >>> for n in range(3, 6):
            ...     _ = model.observe({"n": n}, "take", {}, True, next_state={"n": n - 1})
            >>> model.predict_many([{"n": 9}, {"n": 0}], "take").next_states
            [{'n': 8}, None]
        """
        found: list[Any] = [None] * len(self)
        for row in np.flatnonzero(self.accepts).tolist():
            found[row] = self._ask(row).next_state
        return found

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.verdict)

    @overload
    def __getitem__(self, at: int) -> Prediction: ...
    @overload
    def __getitem__(self, at: slice) -> list[Prediction]: ...
    def __getitem__(self, at: int | slice) -> Prediction | list[Prediction]:
        """Return the whole prediction of a row, or of several.

        Raises:
            BadArgument: the model has observed more since.
        """
        if isinstance(at, slice):
            return [self._ask(row) for row in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(f"there are {len(self)} predictions, got {at}")
        return self._ask(at % len(self))

    def __repr__(self) -> str:
        """Count the verdicts."""
        words = ", ".join(f"{int((self.verdict == n).sum())} {word}" for n, word in enumerate(VERDICTS))
        return f"<{type(self).__name__}: {len(self)} rows, {words}>"
