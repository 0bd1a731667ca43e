"""Which of the conditions that no accepted call violates explain the refusals; which rivals explain them as well."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners._induction.conditions import Condition
from surefoot.learners._induction.doubting import guard, holds_always, never_together, proofs, regions
from surefoot.learners._induction.pools import DOUBT, Pool
from surefoot.learners._induction.results import Chosen, Knowledge
from surefoot.learners._induction.weighing import count_values, weigh_values

__all__ = ["STRONG", "select"]

ACTIVATION = 1.0
"""What it costs an action to share a condition that another one pays for, before their experience is counted."""
STRONG = 6.0
"""The log odds that a refusal needs."""
RIVAL = 6.0
"""What explains the same refusals, and is so many nats worse at most, is a rival."""
MOST_RIVALS = 24
MOST_WATCHED = 48


class _Sharing:
    """What the actions know together about conditions on the same terms."""

    def __init__(self, pools: Mapping[str, Pool]) -> None:
        self.pools = pools
        self.using: dict[str, set[str]] = {}

    def cost(self, action: str, condition: Condition) -> float:
        """Return what a condition that others use costs an action."""
        users = self.using.get(condition.key, set()) - {action}
        if not users:
            return float("inf")
        against = 0
        for name, pool in self.pools.items():
            if name != action and name not in users and pool.accepted >= 5:
                against += pool.denies(condition)
        return max(-2.0, ACTIVATION - log((len(users) + 0.5) / (against + 0.5))) + condition.extra


def select(pools: Mapping[str, Pool]) -> dict[str, Knowledge]:
    """Pick, for all actions together, the conditions whose explanation is worth their cost; then look for rivals."""
    sharing = _Sharing(pools)
    _greedy(pools, sharing)
    if any([pool.add_pairs() for pool in pools.values()]):
        _greedy(pools, sharing)
    if any([pool.loosen() for pool in pools.values()]):
        _greedy(pools, sharing)
        if any([pool.add_pairs() for pool in pools.values()]):
            _greedy(pools, sharing)
    for name, pool in pools.items():
        _adopt(name, pool, sharing)
    for name, pool in pools.items():
        _improve(name, pool, sharing)
    concluded = {name: _concluded(name, pool, sharing) for name, pool in pools.items()}
    weigh_values(pools, concluded)
    return concluded


def _greedy(pools: Mapping[str, Pool], sharing: _Sharing) -> None:
    gains = {name: pool.gains() for name, pool in pools.items()}
    paid = sharing.using
    while True:
        total: dict[str, float] = {}
        cost: dict[str, float] = {}
        who: dict[str, list[str]] = {}
        for name, pool in pools.items():
            for i in np.flatnonzero(gains[name] > ACTIVATION + pool.extras).tolist():
                c = pool.found[i][0]
                total[c.key] = total.get(c.key, 0.0) + float(gains[name][i]) - ACTIVATION - c.extra
                cost[c.key] = float(pool.costs[i]) - c.extra
                total[c.key] -= max(0.0, float(pool.wished[i]))
                who.setdefault(c.key, []).append(name)
        best, key = 0.0, None
        for k, gain in total.items():
            net = gain - (0.0 if k in paid else cost[k])
            if net > best or (net == best and key is not None and k < key):
                best, key = net, k
        if key is None:
            return
        for name in who[key]:
            pool = pools[name]
            i = pool.at[key]
            pool.picked.append(i)
            pool.open &= ~pool.wrong[i]
            gains[name] = pool.gains()
            paid.setdefault(key, set()).add(name)


def _adopt(name: str, pool: Pool, sharing: _Sharing) -> None:
    """Take over what most other actions that could have a condition do have."""
    effective = _effective(name, pool, sharing)
    wanted = (effective < 0) & (pool.wrong.any(axis=1) | (pool.wished < 0))
    for i in np.flatnonzero(wanted).tolist():
        if i not in pool.picked:
            pool.picked.append(i)
            pool.open &= ~pool.wrong[i]


def _improve(name: str, pool: Pool, sharing: _Sharing) -> None:
    """Replace what greed picked by what explains the same better, and drop what others explain."""
    for _ in range(12):
        effective = _effective(name, pool, sharing)
        counts = pool.wrong[pool.picked].sum(axis=0) if pool.picked else np.zeros(pool.refused)
        leftover = int(pool.open.sum())
        best = (0.5, -1, -1)
        for i in pool.picked:
            unique = pool.wrong[i] & (counts == 1)
            without = leftover + int(unique.sum())
            scores = pool.worth(pool.wrong[:, unique | pool.open].sum(axis=1), without) - effective
            scores[[p for p in pool.picked if p != i]] = -np.inf
            j = int(np.argmax(scores))
            gain = float(scores[j] - scores[i])
            if gain > best[0]:
                best = (gain, i, j)
            if -float(scores[i]) > max(best[0], gain):
                best = (-float(scores[i]), i, -1)
        _, i, j = best
        if i < 0:
            return
        pool.picked.remove(i)
        sharing.using[pool.found[i][0].key].discard(name)
        if j >= 0:
            pool.picked.append(j)
            sharing.using.setdefault(pool.found[j][0].key, set()).add(name)
        pool.open = ~np.asarray(pool.wrong[pool.picked].any(axis=0))


def _effective(name: str, pool: Pool, sharing: _Sharing) -> NDArray[Any]:
    """Return what each condition costs an action, given what others use."""
    found = np.array(pool.costs, dtype=float)
    for key, users in sharing.using.items():
        at = pool.at.get(key)
        if at is not None and users - {name}:
            found[at] = min(found[at], sharing.cost(name, pool.found[at][0]) + float(pool.wished[at]))
    return found


def _concluded(name: str, pool: Pool, sharing: _Sharing) -> Knowledge:
    """Return a copy of what is concluded, which was worked out before when nothing that it rests on has changed."""
    effective = _effective(name, pool, sharing)
    place = ("concluded", *pool.place(), tuple(pool.picked), effective.tobytes())
    if place not in pool.frame.memo:
        pool.frame.memo[place] = _conclude(pool, effective)
    known: Knowledge = pool.frame.memo[place]
    return known.copy()


def _conclude(pool: Pool, effective: NDArray[Any]) -> Knowledge:
    """Weigh each picked condition by what it alone explains, and collect its rivals."""
    leftover = int(pool.open.sum())
    n = pool.accepted + pool.refused
    chosen: list[Chosen] = []
    picked = list(pool.picked)
    counts = pool.wrong[picked].sum(axis=0) if picked else np.zeros(pool.refused)
    for i in sorted(picked, key=lambda i: (int(pool.wrong[i].sum()), pool.found[i][0].key)):
        unique = pool.wrong[i] & (counts == 1)
        if not unique.any() and effective[i] >= 0:  # others explain all of it
            counts = counts - pool.wrong[i]
            picked.remove(i)
    single = 0
    for i in picked:
        c = pool.found[i][0]
        unique = pool.wrong[i] & (counts == 1)
        k = int(unique.sum())
        single += k == 1 and effective[i] > 0
        without = leftover + k
        scores = pool.worth(pool.wrong[:, unique].sum(axis=1), without) - effective
        mine = float(scores[i])
        near = [j for j in np.flatnonzero(scores > mine - RIVAL) if j != i and j not in picked]
        near.sort(key=lambda j: (-scores[j], pool.found[j][0].key))
        rivals = [
            (pool.found[j][0], mine - float(scores[j])) for j in near[: MOST_RIVALS if n < 1000 else MOST_RIVALS // 3]
        ]
        one = Chosen(c, mine, int(pool.wrong[i].sum()), k, rivals)
        if c.kind in ("domain", "each domain"):
            count_values(pool, one, unique, leftover)
        chosen.append(one)
    doubts = []
    if len(pool.found):
        explained = pool.wrong[:, pool.open].sum(axis=1)
        scores = pool.worth(explained, leftover) - effective
        bar = np.array([guard(c, pool.frame) for c, _ in pool.found])
        held = np.array([holds_always(c, pool.frame.touched) for c, _ in pool.found])
        dear = scores > np.where(held, 0.0, log(max(1, n))) - bar
        close = [j for j in np.flatnonzero((scores > -DOUBT) | dear | pool.safe) if j not in picked]
        close.sort(key=lambda j: (-scores[j], pool.found[j][0].key))
        doubts = [pool.found[j][0] for j in (close if pool.safe else close[: max(MOST_WATCHED, 40_000 // max(1, n))])]
    odd, around = regions(pool, leftover)
    doubts = around + never_together(pool) + doubts
    missed = (single + odd + (0.5 if pool.refused else 0.25)) / max(1, n)
    return Knowledge(chosen, doubts, leftover, pool.accepted, pool.refused, missed, proofs(pool) if pool.safe else None)
