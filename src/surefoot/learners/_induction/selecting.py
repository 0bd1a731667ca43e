"""Which of the conditions that no accepted call violates explain the refusals; which rivals explain them as well."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners._induction.conditions import Condition
from surefoot.learners._induction.doubting import guard, holds_always, kept_apart, never_together, proofs, regions
from surefoot.learners._induction.narrowing import narrower
from surefoot.learners._induction.pools import DOUBT, Pool
from surefoot.learners._induction.results import Chosen, Knowledge
from surefoot.learners._induction.weighing import count_values, weigh_values

__all__ = ["STRONG", "select"]

ACTIVATION = 1.0
"""What it costs an action to share a condition that another one pays for, before their experience is counted."""
SHARED = 0.5
"""Of actions that could have a condition just as others have it, so many are expected not to, beyond those met."""
STRONG = 6.0
"""The log odds that a refusal needs."""
RIVAL = 6.0
"""What explains the same refusals, and is so many nats worse at most, is a rival."""
OWN = 0.4
"""Reasons not met yet that an action is granted beyond those that all actions' experience says."""
FEW = 2.0
"""So much at most an action's unforeseen refusals say about others: many of them mostly have one reason."""
UNDERSTOOD = 0.25
"""When a larger share of the refusals has no reason, being watched does not make up for it."""
SLIGHT = 0.7
"""What others pay for conditions may change by so many nats before what was concluded is worked out again."""
MOST_RIVALS = 24
MOST_WATCHED = 48
Bools = NDArray[np.bool_]


class _Sharing:
    """What the actions know together about conditions on the same terms."""

    def __init__(self, pools: Mapping[str, Pool]) -> None:
        self.pools = pools
        self.using: dict[str, set[str]] = {}
        self._explained: dict[tuple[str, str], frozenset[str]] = {}

    def cost(self, action: str, condition: Condition) -> float:
        """Return what a condition that others use costs an action."""
        users = self.using.get(condition.key, set()) - {action}
        if not users:
            return float("inf")
        against = 0
        for name, pool in self.pools.items():
            if name != action and name not in users and pool.accepted >= 5:
                against += pool.denies(condition)
        alike = sum(self._param(user, condition) == condition.param for user in users)
        found = max(-2.0, ACTIVATION - log((len(users) + 0.5) / (against + 0.5)))
        if alike:
            found = min(found, log((against + len(users) - alike + SHARED) / alike))
        return found + condition.extra

    def _param(self, user: str, condition: Condition) -> object:
        pool = self.pools[user]
        return pool.found[pool.at[condition.key]][0].param

    def explained(self, action: str, key: str) -> frozenset[str]:
        """Return what explains all that, of what was picked for an action, only one condition does; picks are final."""
        known = self._explained.get((action, key))
        if known is None:
            pool, found = self.pools[action], frozenset[str]()
            i = pool.at.get(key)
            if i is not None:
                rest = [p for p in pool.picked if p != i]
                alone = pool.wrong[i] & ~pool.wrong[rest].any(axis=0)
                whole = np.flatnonzero(pool.wrong[:, alone].all(axis=1))
                found = frozenset(pool.found[j][0].key for j in whole.tolist())
            known = self._explained[action, key] = found
        return known


def select(
    pools: Mapping[str, Pool], only: Collection[str] | None = None, *, exact: bool = True
) -> dict[str, Knowledge]:
    """Pick, for all actions together, the conditions whose explanation is worth their cost; then look for rivals.

    Of `only` some actions, when they are given: then the others keep what was picked for them before. Unless it must
    be `exact`, what was concluded of an action stays as long as its calls and its picks do, and what others pay for
    conditions has changed by no more than `SLIGHT`.
    """
    sharing = _Sharing(pools)
    mine = pools if only is None else {name: pools[name] for name in only}
    for name, pool in pools.items():
        if name in mine:
            pool.reset()
        else:
            for i in pool.picked:
                sharing.using.setdefault(pool.found[i][0].key, set()).add(name)
    _greedy(mine, sharing)
    if any([pool.add_pairs() for pool in mine.values()]):
        _greedy(mine, sharing)
    if any([pool.loosen() for pool in mine.values()]):
        _greedy(mine, sharing)
        if any([pool.add_pairs() for pool in mine.values()]):
            _greedy(mine, sharing)
    for name, pool in mine.items():
        _adopt(name, pool, sharing)
    for name, pool in mine.items():
        _improve(name, pool, sharing)
    concluded = {name: _concluded(name, pools, sharing, exact=exact) for name in pools}
    _share_missed(pools, concluded)
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


def _share_missed(pools: Mapping[str, Pool], concluded: Mapping[str, Knowledge]) -> None:
    """Turn counts of reasons met once into the chance that the next call shows a new one (Good-Turing).

    An action's own rate, and that of the other actions together for what it had no occasion to show: their reasons met
    once, and half a one for the share of all calls that are theirs.
    """
    calls = max(1.0, sum(pool.drawn for pool in pools.values()))
    missed = {name: min(FEW, known.missed) for name, known in concluded.items()}
    for name, known in concluded.items():
        own = pools[name].drawn
        theirs = sum(missed.values()) - missed[name] + 0.5 * (1 - own / calls)
        known.unmet, known.world = known.missed + OWN, theirs / calls
        known.missed = known.unmet / max(1.0, own) + known.world


def _fresh(pool: Pool, watched: Bools, pairs: list[tuple[Condition, Bools]]) -> Bools:
    """Return which refusals would have come unforeseen, had they come first.

    They violate nothing that is watched for its own sake. What is counted as met once (Good-Turing) are these: had the
    others not been met yet, such a call would have been answered "unknown", not "accept".
    """
    if not len(pool.found):
        return np.ones(pool.refused, dtype=bool)
    known = np.asarray(pool.wrong[watched].any(axis=0))
    for _, both in pairs:
        known |= both
    return ~known


def _bar(pool: Pool) -> NDArray[Any]:
    """Return the log odds that a condition needs to be watched for its own sake."""
    known = pool.frame.memo.setdefault("bars", {})
    for c, _ in pool.found:
        if c.key not in known:
            least = 0.0 if holds_always(c, pool.frame.touched) else log(max(1, pool.accepted + pool.refused))
            known[c.key] = least - guard(c, pool.frame)
    return np.array([known[c.key] for c, _ in pool.found])


def _in_its_place(name: str, i: int, pools: Mapping[str, Pool], sharing: _Sharing, effective: Any) -> NDArray[Any]:
    """Return what each condition costs an action when it takes the place of one picked, wherever that is used.

    That other actions use a stand-in does not speak against what explains all that it explains there as well: the
    two then differ by what it costs to say them.
    """
    pool = pools[name]
    here = pool.found[i][0]
    users = sharing.using.get(here.key, set()) - {name}
    costs = np.array(effective)
    if not users:
        return costs
    instead = float(effective[i]) + pool.costs - float(pool.costs[i]) + float(pool.extras[i])
    cheaper = np.flatnonzero(instead < effective)
    for user in sorted(users):
        explained = sharing.explained(user, here.key)
        cheaper = cheaper[[pool.found[j][0].key in explained for j in cheaper.tolist()]]
    costs[cheaper] = instead[cheaper]
    return costs


def _concluded(name: str, pools: Mapping[str, Pool], sharing: _Sharing, *, exact: bool) -> Knowledge:
    """Return a copy of what is concluded, which was worked out before when nothing that it rests on has changed."""
    pool = pools[name]
    effective = _effective(name, pool, sharing)
    keys = {pool.found[i][0].key for i in pool.picked}
    users = sorted({user for key in keys for user in sharing.using.get(key, ())} - {name})
    others = [(user, pools[user].accepted, *pools[user].place(), tuple(pools[user].picked)) for user in users]
    place = ("concluded", *pool.place(), tuple(pool.picked))
    former: tuple[list[Any], NDArray[Any], Knowledge] | None = pool.frame.memo.get(place)
    if former is not None:
        before, paid, known = former
        change = float(np.abs(paid - effective).max(initial=0.0))
        if change <= (0.0 if exact else SLIGHT) and (not exact or before == others):
            return known.copy()
    instead = {i: _in_its_place(name, i, pools, sharing, effective) for i in pool.picked}
    known = _conclude(pool, effective, instead)
    pool.frame.memo[place] = others, effective, known
    return known.copy()


def _nearest(pool: Pool, condition: Condition, unique: NDArray[np.bool_]) -> Condition:
    """Return a bound with the nearest value that is refused for nothing else: others say nothing about the bound."""
    if condition.kind not in ("at least", "at most") or condition.near is None or not unique.any():
        return condition
    column = pool.frame.column[condition.terms[0].key]
    found = [column[row] for row in pool.frame.bad[unique]]
    condition = copy(condition)
    condition.near = max(found) if condition.kind == "at least" else min(found)
    return condition


def _claimed(pool: Pool, i: int, counts: NDArray[Any], costs: NDArray[Any], picked: list[int]) -> Bools:
    """Return the refusals that a picked condition explains, or a rival that explains all that it alone does.

    Another condition is not needed for these, whichever of the two is meant: what explains the rest of what it explains
    is a rival of it.
    """
    unique = pool.wrong[i] & (counts == 1)
    if not unique.any():
        return np.asarray(pool.wrong[i])
    explains = np.array(pool.wrong[:, unique].all(axis=1))
    explains[[p for p in picked if p != i]] = False
    near = explains & (costs < float(costs[i]) + RIVAL)
    near[i] = True
    return np.asarray(pool.wrong[near].any(axis=0))


def _conclude(pool: Pool, effective: NDArray[Any], instead: Mapping[int, NDArray[Any]]) -> Knowledge:
    """Weigh each picked condition by what it alone explains, and collect its rivals.

    Args:
        pool: the conditions, some of them picked.
        effective: what each costs.
        instead: for each that was picked, what each costs in its place.
    """
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
    pairs = never_together(pool)
    apart = kept_apart(pool)
    bar = _bar(pool)
    fresh = _fresh(pool, apart - effective > bar, pairs)
    single = 0
    claims = np.array([_claimed(pool, i, counts, instead[i], picked) for i in picked], dtype=bool)
    for i in picked:
        c = pool.found[i][0]
        unique = pool.wrong[i] & (counts == 1)
        k = int(unique.sum())
        single += k == 1 and effective[i] > 0 and bool(fresh[unique].all())
        without = leftover + k
        scores = pool.worth(pool.wrong[:, unique].sum(axis=1), without) - instead[i]
        mine = float(scores[i])
        sure = unique & ~claims[[p != i for p in picked]].any(axis=0)
        if sure.any():
            others = pool.worth(pool.wrong[:, sure].sum(axis=1), leftover + int(sure.sum())) - instead[i]
            scores = np.maximum(scores, others + mine - float(others[i]))
        near = [j for j in np.flatnonzero(scores > mine - RIVAL) if j != i and j not in picked]
        near.sort(key=lambda j: (-scores[j], pool.found[j][0].key))
        rivals = [
            (pool.found[j][0], mine - float(scores[j])) for j in near[: MOST_RIVALS if n < 1000 else MOST_RIVALS // 3]
        ]
        rivals += narrower(pool, c, unique)
        one = Chosen(_nearest(pool, c, unique), mine, int(pool.wrong[i].sum()), k, rivals)
        if c.kind in ("domain", "each domain"):
            count_values(pool, one, unique, leftover)
        chosen.append(one)
    doubts = []
    if len(pool.found):
        explained = pool.wrong[:, pool.open].sum(axis=1)
        scores = pool.worth(explained, leftover) - effective
        dear = scores + apart > bar
        close = [j for j in np.flatnonzero((scores > -DOUBT) | dear | pool.safe) if j not in picked]
        close.sort(key=lambda j: (-scores[j], pool.found[j][0].key))
        doubts = [pool.found[j][0] for j in (close if pool.safe else close[: max(MOST_WATCHED, 40_000 // max(1, n))])]
    odd, around = regions(pool, leftover)
    if odd == leftover:
        odd = int(fresh[pool.open].sum()) if leftover <= UNDERSTOOD * pool.refused else leftover
    doubts = around + [c for c, _ in pairs] + doubts
    missed = float(single + odd)
    return Knowledge(chosen, doubts, leftover, pool.accepted, pool.refused, missed, proofs(pool) if pool.safe else None)
