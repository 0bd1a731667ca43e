"""Which of the conditions that no accepted call violates explain the refusals; which rivals explain them as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners.induction.conditions import Condition

__all__ = ["Chosen", "Knowledge", "Pool", "select"]

ACTIVATION = 1.0
"""What it costs an action to share a condition that another one pays for."""
STRONG = 5.0
RIVAL = 5.0
DOUBT = 5.0
GUARD = 9.0
MOST_RIVALS = 24
Bools = NDArray[np.bool_]


@dataclass
class Chosen:
    """A condition that explains refusals of one action."""

    condition: Condition
    score: float
    support: int
    unique: int
    rivals: list[Condition] = field(default_factory=list)
    values: dict[Any, int] = field(default_factory=dict)


@dataclass
class Knowledge:
    """What was selected for one action."""

    chosen: list[Chosen]
    doubts: list[Condition]
    guards: list[Condition]
    leftover: int
    accepted: int
    refused: int
    missed: float


class Pool:
    """The surviving conditions of one action, and which refused calls each explains."""

    def __init__(self, found: list[tuple[Condition, Bools]], accepted: int, refused: int) -> None:
        self.accepted, self.refused = accepted, refused
        self.found = [(c, w) for c, w in found if w.any()]
        self.guards = [c for c, w in found if not w.any()]
        self.wrong = (
            np.array([w for _, w in self.found], dtype=bool) if self.found else np.zeros((0, refused), dtype=bool)
        )
        self.costs = np.array([c.cost for c, _ in self.found])
        self.at = {c.key: i for i, (c, _) in enumerate(self.found)}
        self.open = np.ones(refused, dtype=bool)
        self.picked: list[int] = []

    def worth(self, explained: Any, uncovered: int) -> Any:
        """Return the gain in log-likelihood of explaining some of the uncovered refusals."""
        return likelihood(uncovered - explained, self.accepted) - likelihood(uncovered, self.accepted)


def likelihood(uncovered: Any, accepted: int) -> Any:
    """Return the log-likelihood when each call that violates nothing is refused at one rate (with a half added)."""
    u = np.asarray(uncovered, dtype=float)
    rate = (u + 0.5) / (u + accepted + 1.0)
    return u * np.log(rate) + accepted * np.log1p(-rate)


def select(pools: Mapping[str, Pool]) -> dict[str, Knowledge]:
    """Pick, for all actions together, the conditions whose explanation is worth their cost; then look for rivals."""
    paid: set[str] = set()
    gains: dict[str, NDArray[Any]] = {}

    def refresh(name: str) -> None:
        pool = pools[name]
        explained = pool.wrong[:, pool.open].sum(axis=1) if len(pool.found) else np.zeros(0)
        gains[name] = pool.worth(explained, int(pool.open.sum()))

    for name in pools:
        refresh(name)
    while True:
        total: dict[str, float] = {}
        cost: dict[str, float] = {}
        who: dict[str, list[str]] = {}
        for name, pool in pools.items():
            worthy = np.flatnonzero(gains[name] > ACTIVATION)
            for i in worthy:
                c = pool.found[i][0]
                total[c.key] = total.get(c.key, 0.0) + float(gains[name][i]) - ACTIVATION
                total[c.key] -= c.extra
                cost[c.key] = c.cost - c.extra
                who.setdefault(c.key, []).append(name)
        best, key = 0.0, None
        for k, gain in total.items():
            net = gain - (0.0 if k in paid else cost[k])
            if net > best or (net == best and key is not None and k < key):
                best, key = net, k
        if key is None or best <= 0:
            break
        paid.add(key)
        for name in who[key]:
            pool = pools[name]
            i = pool.at[key]
            if gains[name][i] - ACTIVATION - pool.found[i][0].extra <= 0:
                gains[name][i] = 0
                continue
            pool.picked.append(i)
            pool.open &= ~pool.wrong[i]
            refresh(name)
    return {name: _conclude(pool, paid) for name, pool in pools.items()}


def _conclude(pool: Pool, paid: set[str]) -> Knowledge:
    """Weigh each picked condition by what it alone explains, and collect its rivals."""
    effective = np.array(
        [ACTIVATION + c.extra if c.key in paid else c.cost for c, _ in pool.found], dtype=float
    )
    leftover = int(pool.open.sum())
    chosen: list[Chosen] = []
    picked = list(pool.picked)
    counts = pool.wrong[picked].sum(axis=0) if picked else np.zeros(pool.refused)
    for i in sorted(picked, key=lambda i: (int(pool.wrong[i].sum()), pool.found[i][0].key)):
        unique = pool.wrong[i] & (counts == 1)
        if not unique.any():  # others explain all of it
            counts = counts - pool.wrong[i]
            picked.remove(i)
    single = 0
    for i in picked:
        c = pool.found[i][0]
        unique = pool.wrong[i] & (counts == 1)
        k = int(unique.sum())
        single += k == 1
        without = leftover + k
        scores = pool.worth(pool.wrong[:, unique].sum(axis=1), without) - effective
        mine = float(scores[i])
        near = [j for j in np.flatnonzero(scores > mine - RIVAL) if j != i and j not in picked]
        near.sort(key=lambda j: (-scores[j], pool.found[j][0].key))
        own = float(pool.worth(k, without))
        one = Chosen(c, mine, int(pool.wrong[i].sum()), k, [pool.found[j][0] for j in near[:MOST_RIVALS]])
        one.score = own - effective[i]
        chosen.append(one)
    doubts = []
    if len(pool.found):
        explained = pool.wrong[:, pool.open].sum(axis=1)
        scores = pool.worth(explained, leftover) - effective
        close = [j for j in np.flatnonzero((scores > -DOUBT)) if j not in picked]
        close.sort(key=lambda j: (-scores[j], pool.found[j][0].key))
        doubts = [pool.found[j][0] for j in close[:64]]
    guards = [c for c in pool.guards if c.cost <= GUARD or c.key in paid]
    n = pool.accepted + pool.refused
    missed = (single + leftover + 0.5) / max(1, n)
    return Knowledge(chosen, doubts, guards, leftover, pool.accepted, pool.refused, missed)
