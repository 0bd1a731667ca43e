"""The surviving conditions of one action as a table: which refusals each explains, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from surefoot.learners._induction.columns import Frame
from surefoot.learners._induction.conditions import Condition

__all__ = ["DOUBT", "WORD", "Pool", "Wishes"]

LEAK = (0.3, 6.0)
"""Prior of the rate of refusals that no condition explains: Beta, mean 5 %."""
DOUBT = 5.0
"""A condition whose log odds are no worse than minus this may be needed."""
EXPECTED = 4.0
"""How many conditions an action is expected to have, before anything is seen."""
MOST_PAIRS = 300
"""The most pairs of literals that are taken up."""
MOST_KEPT = 64
"""So many results are remembered before they are forgotten."""
WORD = 20.0
"""What a person's word is worth, in nats."""
Bools = NDArray[np.bool_]


@dataclass
class Wishes:
    """What a person has said about the conditions of one action."""

    pinned: set[str] = field(default_factory=set)
    struck: set[str] = field(default_factory=set)


class Pool:
    """The surviving conditions of one action, and which refused calls each explains."""

    def __init__(self, frame: Frame, wishes: Wishes | None = None, *, safe: bool = False) -> None:
        self.frame = frame
        self.wishes = wishes or Wishes()
        self.safe = safe
        self.accepted, self.refused = len(frame.good), len(frame.bad)
        self.drawn = float(self.accepted + self.refused)
        self.found = list(frame.survivors())
        self.many = max(0.0, log(max(frame.prior, 1e-9) / EXPECTED))
        self._singles = len(self.found)
        self._changed = True
        self.reset()

    def reset(self) -> None:
        """Forget what was picked, and the pairs."""
        self.found = self.found[: self._singles]
        if len(self.frame.memo) > MOST_KEPT:
            self.frame.memo.clear()
        self.open = np.ones(self.refused, dtype=bool)
        self.picked: list[int] = []
        if self._changed:
            self.loose: set[int] = set()
            self._tabulate()
            self._changed = False

    def _tabulate(self) -> None:
        self.wrong = (
            np.array([w for _, w in self.found], dtype=bool) if self.found else np.zeros((0, self.refused), dtype=bool)
        )
        self._sort_by_message()
        wishes = self.wishes
        self.wished = np.array(
            [WORD * ((c.key in wishes.struck) - (c.key in wishes.pinned)) for c, _ in self.found], dtype=float
        )
        self.costs = np.array([c.cost + self.many for c, _ in self.found]) + self.wished
        self.extras = np.array([c.extra for c, _ in self.found])
        self.at = {c.key: i for i, (c, _) in enumerate(self.found)}

    def _sort_by_message(self) -> None:
        """Let a condition explain the refusals of one wording only when it explains all of them."""
        messages = self.frame.messages[self.frame.bad]
        for message in np.unique(messages).tolist():
            if message >= 0 and message not in self.loose:
                columns = messages == message
                whole = np.asarray(self.wrong[:, columns].all(axis=1))
                self.wrong[:, columns] &= whole[:, None]

    def loosen(self) -> bool:
        """Let refusals be explained one by one where nothing explains all of a wording; say whether there are any."""
        messages = self.frame.messages[self.frame.bad]
        odd = {m for m in np.unique(messages[self.open]).tolist() if m >= 0} - self.loose
        self.loose |= odd
        if odd:
            self._changed = True
            self._tabulate()
        return bool(odd)

    def place(self) -> tuple[Any, ...]:
        """Return what tells the state of the selection from others, for what the frame remembers."""
        return self.open.tobytes(), tuple([c.key for c, _ in self.found[self._singles :]]), frozenset(self.loose)

    def denies(self, condition: Condition) -> bool:
        """Say whether an accepted call of this action violates a condition that it could have."""
        at = self.at.get(condition.key)
        if at is not None and condition.kind not in ("domain", "each domain"):
            return False
        if not all(t.key in self.frame.column for t in condition.terms):
            return False
        return at is None or not self.wrong[at].any()

    def worth(self, explained: Any, uncovered: int) -> Any:
        """Return the gain in log-likelihood of explaining some of the uncovered refusals."""
        return likelihood(uncovered - explained, self.accepted) - likelihood(uncovered, self.accepted)

    def gains(self) -> NDArray[Any]:
        """Return what each condition's explanation of open refusals is worth."""
        if not self.found:
            return np.zeros(0)
        return np.asarray(self.worth(self.wrong[:, self.open].sum(axis=1), int(self.open.sum())))

    def add_pairs(self) -> bool:
        """Add conditions of the form "one or the other" that explain what is left open."""
        if self.open.sum() < 2 or not self.accepted:
            return False
        place = ("pairs", *self.place())
        more = self.frame.memo.get(place)
        if more is None:
            more = self.frame.memo[place] = self._pairs()
        if more:
            self.found += more
            self._changed = True
            self._tabulate()
        return bool(more)

    def _pairs(self) -> list[tuple[Condition, Bools]]:
        literals, wrong = self.frame.literals()
        if not literals:
            return []
        good = wrong[:, self.frame.good].astype(np.float32)
        bad = wrong[:, self.frame.bad]
        left = bad[:, self.open].astype(np.float32)
        some = (good.sum(axis=1) > 0) & (left.sum(axis=1) > 0)
        places = np.flatnonzero(some)
        good, left = good[places], left[places]
        explained = left @ left.T
        clear = (good @ good.T == 0) & (explained >= 2)
        uncovered = int(self.open.sum())
        rows, columns = np.nonzero(np.triu(clear, 1))
        if not len(rows):
            return []
        worth = self.worth(explained[rows, columns], uncovered)
        price = np.array([literals[place].cost for place in places.tolist()])
        costs = price[rows] + price[columns]
        order = np.argsort(-(worth - costs), kind="stable")[:MOST_PAIRS]
        found = []
        for at in order.tolist():
            one, other = literals[places[rows[at]]], literals[places[columns[at]]]
            pair = Condition("either", (*one.terms, *other.terms), (one, other), self.many)
            if pair.key in self.at or (one.terms == other.terms and one.kind == other.kind):
                continue
            both = bad[places[rows[at]]] & bad[places[columns[at]]]
            if float(worth[at]) - pair.cost > -DOUBT:
                found.append((pair, both))
        return found


def likelihood(uncovered: Any, accepted: int) -> Any:
    """Return the log-likelihood of so many refusals without a reason: each at one unknown rate, Beta-distributed."""
    u = np.asarray(uncovered, dtype=float)
    return betaln(u + LEAK[0], accepted + LEAK[1]) - betaln(*LEAK)
