"""Which of the conditions that no accepted call violates explain the refusals; which rivals explain them as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from surefoot.learners.induction.columns import Frame
from surefoot.learners.induction.conditions import Condition, frozen
from surefoot.learners.induction.terms import Term, way_to
from surefoot.learners.vocabulary import MISSING

__all__ = ["Chosen", "Knowledge", "Pool", "select"]

ACTIVATION = 1.0
"""What it costs an action to share a condition that another one pays for, before their experience is counted."""
STRONG = float(__import__("os").environ.get("STRONG", 6.0))
RIVAL = float(__import__("os").environ.get("RIVAL", 6.0))
DOUBT = float(__import__("os").environ.get("DOUBT", 5.0))
LEAK = (0.3, 6.0)
"""Prior of the rate of refusals that no condition explains: Beta, mean 5 %."""
GUARD = float(__import__("os").environ.get("GUARD", 20.0))
PLAIN_GUARD = float(__import__("os").environ.get("PLAIN_GUARD", 9.0))
TOUCHED = float(__import__("os").environ.get("TOUCHED", 3.0))
EXPECTED = 4.0
"""How many conditions an action is expected to have, before anything is seen."""
MOST_RIVALS = 24
EXCEPTIONS = float(__import__("os").environ.get("EXCEPTIONS", 0))
CAPPED = float(__import__("os").environ.get("CAPPED", 3.0))
MOST_PAIRS = 300
FEW_ACCEPTED = 60
SURPRISE = float(__import__("os").environ.get("SURPRISE", 2.0))
COMPUTED = 8.0
MOST_WATCHED = 48
FEW_ODD = 3
FLAKES = 0.12
"""More refusals than this share that nothing explains are never taken for flakes."""
WORD = 20.0
"""What a person's word is worth, in nats."""
Bools = NDArray[np.bool_]


@dataclass
class Chosen:
    """A condition that explains refusals of one action."""

    condition: Condition
    score: float
    support: int
    unique: int
    rivals: list[tuple[Condition, float]] = field(default_factory=list)
    values: dict[Any, float] = field(default_factory=dict)
    closed: float = 0.0
    labels: list[tuple[Term, frozenset[Any]]] = field(default_factory=list)


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
        self.found = list(frame.survivors())
        self.many = max(0.0, log(max(frame.prior, 1e-9) / EXPECTED))
        self._singles = len(self.found)
        self.reset()

    def reset(self) -> None:
        """Forget what was picked, and the pairs."""
        self.found = self.found[: self._singles]
        self.open = np.ones(self.refused, dtype=bool)
        self.picked: list[int] = []
        self.loose: set[int] = set()
        self._tabulate()

    def _tabulate(self) -> None:
        self.wrong = (
            np.array([w for _, w in self.found], dtype=bool)
            if self.found
            else np.zeros((0, self.refused), dtype=bool)
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
                whole = self.wrong[:, columns].all(axis=1)
                self.wrong[:, columns] &= whole[:, None]

    def loosen(self) -> bool:
        """Let refusals be explained one by one where nothing explains all of a wording; say whether there are any."""
        messages = self.frame.messages[self.frame.bad]
        odd = {m for m in np.unique(messages[self.open]).tolist() if m >= 0} - self.loose
        self.loose |= odd
        if odd:
            self._tabulate()
        return bool(odd)

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
        literals, wrong = self.frame.literals()
        if not literals:
            return False
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
            return False
        worth = self.worth(explained[rows, columns], uncovered)
        costs = np.array([literals[places[i]].cost + literals[places[j]].cost for i, j in zip(rows, columns, strict=True)])
        order = np.argsort(-(worth - costs), kind="stable")[:MOST_PAIRS]
        added = False
        for at in order.tolist():
            one, other = literals[places[rows[at]]], literals[places[columns[at]]]
            pair = Condition("either", (*one.terms, *other.terms), (one, other), self.many)
            if pair.key in self.at or (one.terms == other.terms and one.kind == other.kind):
                continue
            both = bad[places[rows[at]]] & bad[places[columns[at]]]
            if float(worth[at]) - pair.cost > -DOUBT:
                self.found.append((pair, both))
                added = True
        if added:
            self._tabulate()
        return added


def likelihood(uncovered: Any, accepted: int) -> Any:
    """Return the log-likelihood of so many refusals without a reason: each at one unknown rate, Beta-distributed."""
    u = np.asarray(uncovered, dtype=float)
    return betaln(u + LEAK[0], accepted + LEAK[1]) - betaln(*LEAK)


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
    concluded = {name: _conclude(name, pool, sharing) for name, pool in pools.items()}
    _weigh_values(pools, concluded)
    return concluded


def _greedy(pools: Mapping[str, Pool], sharing: _Sharing) -> None:
    gains = {name: pool.gains() for name, pool in pools.items()}
    paid = sharing.using
    while True:
        total: dict[str, float] = {}
        cost: dict[str, float] = {}
        who: dict[str, list[str]] = {}
        for name, pool in pools.items():
            for i in np.flatnonzero(gains[name] > ACTIVATION + pool.extras):
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
    for i in np.flatnonzero(wanted):
        if i not in pool.picked:
            pool.picked.append(int(i))
            pool.open &= ~pool.wrong[i]


def _labels(pool: Pool, condition: Condition, wrong: Bools, unique: Bools) -> list[tuple[Term, frozenset[Any]]]:
    """Return the labels near a condition, with those that its violations were refused with.

    A rule may have exceptions ("or a gift card"); what was never refused for this condition may be one.
    """
    if int(unique.sum()) >= EXCEPTIONS:
        return []
    frame = pool.frame
    near = {name for t in condition.terms for name in t.arguments}
    found = []
    for at, term in enumerate(frame.scalars):
        if term in condition.terms or not near & term.arguments or "str" not in frame.kinds[at] or term.op == "len":
            continue
        codes = frame.codes[at]
        good, counts = np.unique(codes[frame.good], return_counts=True)
        if not 2 <= len(np.unique(codes)) <= 6 or (counts == 1).sum() > 1:
            continue
        seen = set(codes[frame.bad[wrong]].tolist())
        found.append((term, frozenset(frozen(frame.column[term.key][row]) for row in frame.bad[wrong])))
        assert len(seen) == len(found[-1][1])
    return found


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
        pool.open = ~pool.wrong[pool.picked].any(axis=0) if pool.picked else np.ones(pool.refused, dtype=bool)


def _effective(name: str, pool: Pool, sharing: _Sharing) -> NDArray[Any]:
    """Return what each condition costs an action, given what others use."""
    return np.array(
        [
            min(float(pool.costs[i]), sharing.cost(name, c) + float(pool.wished[i]))
            for i, (c, _) in enumerate(pool.found)
        ],
        dtype=float,
    )


def _conclude(name: str, pool: Pool, sharing: _Sharing) -> Knowledge:
    """Weigh each picked condition by what it alone explains, and collect its rivals."""
    effective = _effective(name, pool, sharing)
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
        rivals = [(pool.found[j][0], mine - float(scores[j])) for j in near[: MOST_RIVALS if n < 1000 else MOST_RIVALS // 3]]
        one = Chosen(c, mine, int(pool.wrong[i].sum()), k, rivals)
        if c.kind in ("domain", "each domain"):
            _count_values(pool, one, unique, leftover)
        one.labels = _labels(pool, c, pool.wrong[i], unique)
        chosen.append(one)
    doubts = []
    if len(pool.found):
        explained = pool.wrong[:, pool.open].sum(axis=1)
        scores = pool.worth(explained, leftover) - effective
        bar = np.array([_guard(c, pool.frame) for c, _ in pool.found])
        held = np.array([_holds_always(c, pool.frame.touched) for c, _ in pool.found])
        dear = scores > np.where(held, 0.0, log(max(1, n))) - bar
        close = [j for j in np.flatnonzero((scores > -DOUBT) | dear) if j not in picked]
        close.sort(key=lambda j: (-scores[j], pool.found[j][0].key))
        doubts = [pool.found[j][0] for j in close[: max(MOST_WATCHED, 40_000 // max(1, n))]]
    guards: list[Condition] = []
    odd, regions = _regions(pool, leftover)
    doubts = regions + _never_together(pool) + doubts
    missed = (single + odd + (0.5 if pool.refused else 0.25)) / max(1, n)
    return Knowledge(chosen, doubts, guards, leftover, pool.accepted, pool.refused, missed)


def _is_touched(term: Term, touched: frozenset[tuple[str, str]]) -> bool:
    """Say whether a term is in what the action was seen to change."""
    root, names = way_to(term)
    return any((root, name) in touched or ("", name) in touched for name in names)


def _holds_always(condition: Condition, touched: frozenset[tuple[str, str]]) -> bool:
    """Say whether a condition is watched however many calls have kept it: one on what the action itself changes."""
    return condition.kind in ("domain", "each domain") and _is_touched(condition.terms[0], touched)


def _guard(condition: Condition, frame: Frame) -> float:
    """Return how improbable a condition may be and still keep a call that violates it from being accepted.

    Conditions that tie arguments to each other or to the state are what environments check, and so are conditions on
    what the action changes; a single value somewhere in the state is mostly an accident of the sample.
    """
    if condition.kind in ("domain", "each domain", "at least", "at most"):
        (term,) = condition.terms
        return PLAIN_GUARD + TOUCHED * _is_touched(term, frame.touched)
    if condition.kind == "present":
        return GUARD
    if condition.kind in ("le", "lt") and condition.terms[0].key in frame.computed:
        return GUARD + COMPUTED
    mixed = any(t.reads_args for t in condition.terms)
    return GUARD if mixed else PLAIN_GUARD


def _never_together(pool: Pool) -> list[Condition]:
    """Return pairs of labels that should have been accepted together by now, and were not.

    Labels are simple conditions on what the arguments name. A pair is expected, were the two independent, as often as
    the product of their shares says; never seen although expected `SURPRISE` times, it may be what a rule that was not
    met yet refuses.
    """
    if not 4 <= pool.accepted <= FEW_ACCEPTED:
        return []
    literals, wrong = pool.frame.literals()
    near = [
        i
        for i, c in enumerate(literals)
        if c.kind in ("is", "is not", "equal", "differ", "present", "absent", "member", "not member")
        and any(t.reads_args for t in c.terms)
    ][:120]
    if not near:
        return []
    good = wrong[near][:, pool.frame.good].astype(np.float32)
    share = good.sum(axis=1)
    joint = good @ good.T
    expected = np.outer(share, share) / pool.accepted
    tie = np.array([literals[i].kind not in ("is", "is not") for i in near])
    barely = tie & (share <= 2) & (share > 0)  # a tie broken in a call or two: what else was so in these may excuse it
    watched = (expected >= SURPRISE) | ((barely[:, None] | barely[None, :]) & (expected >= 0.3))
    rows, columns = np.nonzero(np.triu((joint == 0) & watched, 1))
    found = []
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        one, other = literals[near[i]], literals[near[j]]
        if set(one.terms) != set(other.terms):
            found.append((float(expected[i, j]), Condition("either", (*one.terms, *other.terms), (one, other))))
    found.sort(key=lambda pair: (-pair[0], pair[1].key))
    return [c for _, c in found[:300]]


def _regions(pool: Pool, leftover: int) -> tuple[int, list[Condition]]:
    """Return how many unexplained refusals must be feared everywhere, and where else they are to be feared.

    A flake can come anywhere. Where the unexplained ones are significantly more frequent than elsewhere (likelihood
    ratio, Bonferroni over all literals), something decides that no condition says: there nothing is accepted.
    """
    if leftover < FEW_ODD:
        return leftover, []
    literals, wrong = pool.frame.literals()
    good = wrong[:, pool.frame.good]
    left = wrong[:, pool.frame.bad][:, pool.open]
    regions: list[Condition] = []
    inside, outside = np.ones(good.shape[1], dtype=bool), np.ones(left.shape[1], dtype=bool)
    for _ in range(4):
        k, g = int(outside.sum()), int(inside.sum())
        if k < FEW_ODD or not g:
            return k, regions
        a, b = left[:, outside].sum(axis=1), good[:, inside].sum(axis=1)
        ratio = _entropy(k, g) - _entropy(a, b) - _entropy(k - a, g - b)
        ratio[a * (g + k) <= (a + b) * k] = 0.0
        best = int(np.argmax(ratio)) if len(ratio) else -1
        if best < 0 or ratio[best] < log(max(2, len(literals))) + 4.0:
            return (0 if k <= FLAKES * (k + g) else k), regions
        regions.append(literals[best])
        inside &= ~good[best]
        outside &= ~left[best]
    return pool.refused + pool.accepted, regions


def _entropy(odd: Any, fine: Any) -> Any:
    """Return n times the entropy of a share, in nats."""
    odd, fine = np.asarray(odd, dtype=float), np.asarray(fine, dtype=float)
    n = odd + fine
    with np.errstate(divide="ignore", invalid="ignore"):
        found = -odd * np.log(odd / n) - fine * np.log(fine / n)
    return np.nan_to_num(found)


def _count_values(pool: Pool, one: Chosen, unique: Bools, leftover: int) -> None:
    """Weigh each value outside a domain by the refusals that only it explains; say how closed the domain looks."""
    c = one.condition
    column = pool.frame.column[c.terms[0].key]
    counts: dict[Any, int] = {}
    for at, row in enumerate(pool.frame.bad):
        odd = odd_values(c, column[row])
        for value in odd:
            counts[value] = counts.get(value, 0) + int(unique[at] and len(odd) == 1)
    good: Counter[Any] = Counter()
    for row in pool.frame.good:
        value = column[row]
        good.update({value if value is MISSING else frozen(value)} if c.kind == "domain" else _parts(value))
    once = sum(times == 1 for times in good.values())
    if len(counts) >= 3:
        one.closed = log((pool.accepted + 1) / (once + 0.5))
    if c.key in pool.wishes.pinned:
        one.closed = WORD
    one.values = {v: float(pool.worth(m, leftover + m)) for v, m in counts.items()}


def _parts(value: Any) -> set[Any]:
    return {MISSING} if value is MISSING else {frozen(v) for v in value}


def odd_values(condition: Condition, value: Any) -> set[Any]:
    """Return what of a value is outside a domain."""
    if condition.kind == "domain":
        key = frozen(value)
        return set() if key in condition.param else {key}
    return _parts(value) - condition.param


def _weigh_values(pools: Mapping[str, Pool], known: Mapping[str, Knowledge]) -> None:
    """Add to the evidence against a value what other actions say about it."""
    allowed: dict[str, Counter[Any]] = {}
    refused: dict[str, Counter[Any]] = {}
    for found in known.values():
        for one in found.chosen:
            if one.condition.kind in ("domain", "each domain"):
                allowed.setdefault(one.condition.key, Counter()).update(one.condition.param)
                refused.setdefault(one.condition.key, Counter()).update(v for v, w in one.values.items() if w > 0)
    for found in known.values():
        for one in found.chosen:
            if one.condition.kind in ("domain", "each domain"):
                key = one.condition.key
                for value in {*refused[key], *one.values} - set(one.condition.param):
                    own = one.values.get(value, 0.0)
                    against = refused[key][value] - (own > 0)
                    one.values[value] = own + log((against + 0.5) / (allowed[key][value] + 0.5))
