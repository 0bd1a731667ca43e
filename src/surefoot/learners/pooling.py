"""Count the outcomes of many choices together, where they look like throws of one die.

What a choice does is said as effects: how the state changed. In a world whose chance is the same everywhere (a floor
that slips the same way in each cell) many choices have one distribution over *slots*, and differ only in which effect
each slot has: at a wall two slots may do the same. A pool is a set of choices with one distribution over slots, and for
each choice a map from slots to its effects. Pools are discovered: choices are taken in the order of how often they were
tried, the same effect of the same action goes to the same slot if that fits, and a choice whose outcomes a test of
homogeneity tells apart from a pool under every map goes to another one, if need be of its own.

That the members of a pool have one distribution is an *assumption*: a test may fail to see a small difference. It is
stated in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import chi2

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.learners import _tables
from surefoot.learners._bounds import METHODS, missing_mass, successor_bounds, tightened
from surefoot.learners._intervals import check_unseen, excused, trials_said
from surefoot.learners.counts import Counts, Method
from surefoot.learners.learned import LearnedModel

__all__ = ["Pool", "effect_of", "pooled", "pooled_pieces"]

Floats = NDArray[np.float64]
Effect = Callable[[Any, Any, Any], Any]
_MOST_SLOTS = 5
_MAPS_SHARE = 0.1  # the part of the error that goes to taking the wrong map
_MOST_LISTED = 20_000
_UNSEEN = -1


@dataclass(frozen=True)
class Pool:
    """Say which choices were counted together, and what they are taken to have in common.

    Attributes:
        choices: (state, action) of each member.
        effects: for each member the effect of each slot, in order; None: one that was not seen.
        seen: for each slot how often it came, where it could be told from the others.
        tried: for each slot in how many tries it could be told.
        lower, upper: the interval of each slot.

    Example:
        >>> Pool(((0, "up"),), ((1,),), (5,), (5,), (0.4,), (1.0,)).choices
        ((0, 'up'),)
    """

    choices: tuple[tuple[Any, Any], ...]
    effects: tuple[tuple[Any, ...], ...]
    seen: tuple[int, ...]
    tried: tuple[int, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]


def effect_of(state: Any, action: Any, to: Any) -> Any:
    """Return how a state changed: the difference of numbers, member by member of tuples; else the state after it.

    Example:
        >>> effect_of(4, "up", 0), effect_of((1, 2), "up", (0, 2)), effect_of("hall", "open", "room")
        (-4, (-1, 0), 'room')
    """
    del action
    if type(state) is int and type(to) is int:
        return to - state
    if isinstance(state, tuple) and isinstance(to, tuple) and len(state) == len(to):
        pairs = list(zip(state, to, strict=True))
        if all(type(one) is int and type(other) is int for one, other in pairs):
            return tuple(other - one for one, other in pairs)
    return to


@dataclass
class _Member:
    """One choice: its effects in order, the state and the count of each, and where its slots go."""

    key: tuple[int, int]
    effects: list[bytes]
    to: list[int]
    seen: NDArray[np.int64]
    slots: tuple[int, ...] = ()
    counted: bool = False

    @property
    def tried(self) -> int:
        return int(self.seen.sum())


@dataclass
class _Pool:
    """A pool in the making: slots, and for each action which effect went to which slot."""

    size: int
    members: list[_Member] = field(default_factory=list)
    known: dict[tuple[int, bytes], int] = field(default_factory=dict)
    alone: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    tries: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        self.alone, self.tries = np.zeros(self.size, np.int64), np.zeros(self.size, np.int64)

    @property
    def odds(self) -> Floats:
        """Return the estimated distribution over slots; no slot has 0."""
        odds = (self.alone + 0.5) / (self.tries + 0.5 * self.size)
        return np.asarray(odds / odds.sum(), np.float64)

    def add(self, member: _Member, slots: tuple[int, ...], counted: bool) -> None:
        """Take a member in; count those of its slots that share their effect with no other."""
        member.slots, member.counted = slots, counted
        self.members.append(member)
        if not counted:
            return
        for slot, effect in enumerate(slots):
            if effect != _UNSEEN:
                self.known.setdefault((member.key[1], member.effects[effect]), slot)
                if slots.count(effect) == 1:
                    self.alone[slot] += member.seen[effect]
                    self.tries[slot] += member.tried


def pooled(
    counts: Counts,
    *,
    confidence: float = 0.95,
    method: Method = "clopper-pearson",
    effect: Effect = effect_of,
    across: bool = True,
    level: float = 0.01,
    maps: Literal["hull", "chosen"] = "hull",
    support: Literal["seen"] | None = None,
    initial: Any = None,
    labels: Mapping[str, Callable[[Any], bool]] | None = None,
    unseen: Literal["sink", "full"] = "sink",
    unseen_labels: Collection[str] = (),
    trials: int = 0,
    trial_labels: Collection[str] = (),
) -> LearnedModel:
    """Return the interval MDP of counts, with the outcomes of like choices counted together.

    What is claimed: *if* the members of each pool have one distribution over slots, all probabilities of the choices
    that were tried are inside their intervals with the confidence. One tenth of the error goes to the maps: each choice
    has the hull of what all maps say that its outcomes do not speak against (a likelihood ratio against the mixture of
    all maps, below the inverse of its error; the pool's frequencies stand for its distribution there). The rest is
    shared equally among the pools.

    Args:
        counts: what was counted.
        confidence: in (0, 1).
        method: as for `Counts.intervals`.
        effect: (state, action, state after) -> a plain value.
        across: whether choices of different actions may be in one pool.
        level: in (0, 1), the error of the tests of homogeneity, shared among the choices: a higher one splits sooner.
        maps: `hull`: see above. `chosen`: each choice that was tried so often that no slot can have gone unseen has the
            first map that fits, of which it is assumed that it is right; where slots look equally likely their order
            cannot be told, and the hull is as wide as that. In simulations of a slippery lake `hull` kept its
            confidence; `chosen` held in 93 % of them where 95 % was asked for: it is an estimate.
        support: `seen`: no slots exist but those seen in a pool. None: there may be more of them, rare ones.
        initial: the state that episodes start in; None: as often in each as they did.
        labels: {name: whether a state has it}; `ended` is added.
        unseen: as for `Counts.intervals`.
        unseen_labels: labels of the state that stands for all unseen ones.
        trials: as for `Counts.intervals`.
        trial_labels: as for `Counts.intervals`.

    Raises:
        BadArgument: an argument is out of its range, or nothing was counted.

    Cost: for each choice the maps that there are, 3^3 for three slots and two effects, 6^5 at most; a choice with more
        than five effects is not pooled.

    Source: Pearson 1900 (homogeneity); Wald 1945 and Ville 1939 (likelihood ratios against a mixture).

    Example:
        >>> import numpy as np
        >>> numbers, counts = np.random.default_rng(0), Counts()
        >>> for n in range(3000):
        ...     here = n % 10
        ...     counts.observe(here, "on", here + int(numbers.random() < 0.7))
        >>> counts.intervals(initial=0).widest > 0.2, pooled(counts, initial=0, support="seen").widest < 0.06
        (True, True)
    """
    made = _made(
        counts, confidence, method, effect, across, level, maps, support, unseen, initial, labels, unseen_labels
    )
    return replace(made, trials=trials, trial_labels=tuple(trial_labels)).learned(made.bounds)


def pooled_pieces(
    counts: Counts,
    *,
    pieces: int = 4,
    confidence: float = 0.95,
    method: Method = "clopper-pearson",
    effect: Effect = effect_of,
    across: bool = True,
    level: float = 0.01,
    maps: Literal["hull", "chosen"] = "hull",
    support: Literal["seen"] | None = None,
    initial: Any = None,
    labels: Mapping[str, Callable[[Any], bool]] | None = None,
    unseen: Literal["sink", "full"] = "sink",
    unseen_labels: Collection[str] = (),
) -> list[LearnedModel]:
    """Return interval MDPs with narrower intervals, in one of which the true model is, with the confidence.

    In one interval model nature may pick other probabilities in each state. But the members of a pool have one
    distribution, so what nature may pick for the largest pool is cut into pieces here, each of which makes a model: the
    lowest bound of all of them, and the highest, are bounds for the true model, and closer ones.

    Args:
        counts: what was counted.
        pieces: whole number >= 1, in how many parts to cut the interval of each slot but one.
        confidence: in (0, 1).
        method: as for `Counts.intervals`.
        effect: (state, action, state after) -> a plain value.
        across: whether choices of different actions may be in one pool.
        level: in (0, 1), the error of the tests of homogeneity.
        maps: `hull` or `chosen`; with `hull` pieces gain little where slots look alike.
        support: `seen`: no slots exist but those seen in a pool.
        initial: the state that episodes start in; None: as often in each as they did.
        labels: {name: whether a state has it}; `ended` is added.
        unseen: as for `Counts.intervals`.
        unseen_labels: labels of the state that stands for all unseen ones.

    Raises:
        BadArgument: an argument is out of its range, or nothing was counted.

    Cost: that of `pooled`, times `pieces ** (slots - 1)` at most.

    Example:
        >>> counts = Counts()
        >>> for n in range(900):
        ...     counts.observe(n % 9, "on", n % 9 + n // 9 % 2)
        >>> whole, parts = pooled(counts, initial=0), pooled_pieces(counts, initial=0, support="seen", maps="chosen")
        >>> len(parts), max(part.widest for part in parts) < whole.widest / 3
        (4, True)
    """
    if type(pieces) is not int or pieces < 1:
        raise BadArgument(f"pieces must be a whole number >= 1, got {pieces!r}")
    made = _made(
        counts, confidence, method, effect, across, level, maps, support, unseen, initial, labels, unseen_labels
    )
    if not made.pools:
        return [made.learned(made.bounds)]
    largest = max(range(len(made.pools)), key=lambda n: len(made.pools[n].members))
    return [
        made.learned([*made.bounds[:largest], bounds, *made.bounds[largest + 1 :]])
        for bounds in _cut(made.bounds[largest], pieces)
    ]


_Bounds = tuple[Floats, Floats, float]


@dataclass(frozen=True)
class _Made:
    """Hold pools and what is needed to make models of them."""

    table: _tables.Table
    pools: list[_Pool]
    bounds: list[_Bounds]
    doubt: float
    maps: str
    unseen: str
    unseen_labels: tuple[str, ...]
    said: tuple[Pool, ...]
    claim: str
    assumes: tuple[str, ...]
    confidence: float
    method: str
    trials: int = 0
    trial_labels: tuple[str, ...] = ()

    def learned(self, bounds: list[_Bounds]) -> LearnedModel:
        """Return the model with these bounds of the slots of each pool."""
        check_unseen(self.unseen, self.trials)
        rows = {
            member.key: _row(member, pool, *one, self.doubt, self.maps)
            for pool, one in zip(self.pools, bounds, strict=True)
            for member in pool.members
        }
        table, rows = excused(self.table, rows, self.trials, self.trial_labels)
        model = _tables.interval_model(table, rows, self.unseen, self.unseen_labels)
        tried = _tables.tried_of(model, table)
        assumes = (*self.assumes, trials_said(self.trials)) if self.trials else self.assumes
        return LearnedModel(model, self.confidence, self.method, tried, self.claim, assumes, self.said)


def _made(
    counts: Counts,
    confidence: float,
    method: Method,
    effect: Effect,
    across: bool,
    level: float,
    maps: str,
    support: Literal["seen"] | None,
    unseen: str,
    initial: Any,
    labels: Mapping[str, Callable[[Any], bool]] | None,
    unseen_labels: Collection[str],
) -> _Made:
    """Check the arguments, find the pools and bound their slots."""
    if method not in METHODS:
        raise BadArgument(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if support not in (None, "seen"):
        raise BadArgument(f"support must be None or 'seen', got {support!r}")
    if maps not in ("hull", "chosen"):
        raise BadArgument(f"maps must be 'hull' or 'chosen', got {maps!r}")
    check_unseen(unseen, 0)
    if not 0 < level < 1:
        raise BadArgument(f"level must be in (0, 1), got {level!r}")
    error = _tables.error_of(confidence)
    table = counts._table(initial, labels)
    members = _members(table, effect)
    doubt = error * _MAPS_SHARE / max(len(members), 1)
    pools = _discover(members, level / max(len(members), 1), doubt, across)
    share = error * (1 - _MAPS_SHARE) / max(len(pools), 1)
    bounds = [_slot_bounds(pool, method, share, support) for pool in pools]
    said = tuple(_said(pool, table, *one[:2]) for pool, one in zip(pools, bounds, strict=True))
    claim, assumes = _claimed(confidence, method, pools, members, level, maps, support)
    return _Made(
        table, pools, bounds, doubt, maps, unseen, tuple(unseen_labels), said, claim, assumes, confidence, method
    )


def _cut(bounds: _Bounds, pieces: int) -> list[_Bounds]:
    """Cut the box of a pool's slots; each part is made as small as the sum of 1 allows, and empty ones are left out."""
    lower, upper, rest = bounds
    found = []
    for place in product(range(pieces), repeat=max(len(lower) - 1, 0)):
        step = (upper - lower) / pieces
        low, high = np.append(lower, 0.0), np.append(upper, rest)
        for slot, part in enumerate(place):
            low[slot], high[slot] = lower[slot] + part * step[slot], lower[slot] + (part + 1) * step[slot]
        if low.sum() > 1 + 1e-12 or high.sum() < 1 - 1e-12:
            continue
        low, high = tightened(np.array([0, len(low)], np.int64), low, high)
        found.append((low[:-1], high[:-1], float(high[-1])))
    return found


def _members(table: _tables.Table, effect: Effect) -> list[_Member]:
    """Return the choices that were tried, the most tried ones first."""
    members = []
    state, action = ([values.decode(raw) for raw in raws] for raws in (table.states, table.actions))
    for here, what in table.choices:
        seen = table.rows[here][what]
        found = sorted(
            (values.encode(effect(state[here], action[what], state[to])), to, count) for to, count in seen.items()
        )
        if len({raw for raw, _, _ in found}) < len(found):  # two states, one effect: then it says too little
            found = sorted((table.states[to], to, count) for to, count in seen.items())
        raws, to_, numbers = zip(*found, strict=True)
        members.append(_Member((here, what), list(raws), list(to_), np.array(numbers, np.int64)))
    return sorted(members, key=lambda one: (-one.tried, one.key))


def _discover(members: list[_Member], level: float, doubt: float, across: bool) -> list[_Pool]:
    """Put each choice into the first pool that it fits.

    Those with the most effects come first: a pool must have its slots apart before they can fall together.
    """
    pools: list[_Pool] = []
    for member in sorted(members, key=lambda one: -len(one.effects)):
        if not any(_joins(pool, member, level, doubt) for pool in pools if across or _same_action(pool, member)):
            pool = _Pool(len(member.effects))
            pool.add(member, tuple(range(pool.size)), counted=True)
            pools.append(pool)
    return pools


def _same_action(pool: _Pool, member: _Member) -> bool:
    return pool.members[0].key[1] == member.key[1]


def _joins(pool: _Pool, member: _Member, level: float, doubt: float) -> bool:
    """Take a choice into a pool if some map fits; count it only where its effects or all plausible maps say how."""
    if pool.size > _MOST_SLOTS or len(member.effects) > pool.size:
        return False
    odds = pool.odds
    plausible = _plausible(member, odds, doubt)
    fitting = [slots for slots in plausible if _UNSEEN not in slots and _p_value(pool, member, slots) > level]
    if not fitting:
        return False

    def strange(slots: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        agree = sum(
            pool.known.get((member.key[1], member.effects[effect])) == slot for slot, effect in enumerate(slots)
        )
        return -agree, slots

    chosen = min(fitting, key=strange)
    cells = np.array([_cells(slots, odds, len(member.effects)) for slots in plausible])
    spread = float((cells.max(axis=0) - cells.min(axis=0)).max())
    wide = 4 * float(np.sqrt(0.25 / max(int(pool.tries.min()), 1)))
    same = -strange(chosen)[0] == pool.size  # the effects themselves say which slots they are
    pool.add(member, chosen, counted=same or spread <= wide)
    return True


def _cells(slots: tuple[int, ...], odds: Floats, effects: int) -> Floats:
    """Return the probability of each effect, and of an unseen one at the end."""
    cells = np.zeros(effects + 1)
    np.add.at(cells, np.array(slots), odds)  # -1, the unseen one, is the last
    return cells


def _plausible(member: _Member, odds: Floats, doubt: float) -> list[tuple[int, ...]]:
    """Return the maps from slots to effects that the outcomes do not speak against; every seen effect has a slot.

    The ratio of the mixture of all maps to the true one has the mean 1, so it is `1 / doubt` with `doubt` at most.
    """
    effects = len(member.effects)
    every = [
        slots
        for slots in product([*range(effects), _UNSEEN], repeat=len(odds))
        if len(set(slots) - {_UNSEEN}) == effects
    ]
    cells = np.array([_cells(slots, odds, effects) for slots in every])[:, :effects]
    likely = (member.seen * np.log(cells)).sum(axis=1)
    mixture = np.logaddexp.reduce(likely) - np.log(len(every))
    return [slots for slots, one in zip(every, likely, strict=True) if mixture - one < -np.log(doubt)]


def _p_value(pool: _Pool, member: _Member, slots: tuple[int, ...]) -> float:
    """Return how likely outcomes are that fit the pool as badly as these, or worse.

    Where every expected number is 5 or more: Pearson's statistic for two samples, the choice and the pool (of which the
    least told slot says how many tries it has). Else the exact multinomial, with the pool's distribution as known.
    """
    cells = _cells(slots, pool.odds, len(member.effects))[:-1]
    expected = member.tried * cells
    if len(cells) == 1:
        return 1.0
    if expected.min() >= 5 or _compositions(member.tried, len(cells)) > _MOST_LISTED:
        sample = float(((member.seen - expected) ** 2 / expected).sum())
        tries = float(pool.tries.min())
        return float(chi2.sf(sample / (1 + member.tried / tries), len(cells) - 1))
    listed = np.array(list(_splits(member.tried, len(cells))))
    logs = (listed * np.log(cells)).sum(axis=1) - gammaln(listed + 1).sum(axis=1) + gammaln(member.tried + 1)
    here = float((member.seen * np.log(cells)).sum() - gammaln(member.seen + 1).sum() + gammaln(member.tried + 1))
    return float(min(np.exp(logs[logs <= here + 1e-9]).sum(), 1.0))


def _compositions(total: int, parts: int) -> float:
    return float(np.exp(gammaln(total + parts) - gammaln(parts) - gammaln(total + 1)))


def _splits(total: int, parts: int) -> list[tuple[int, ...]]:
    """Return all ways to split a number into parts."""
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in _splits(total - first, parts - 1)]


def _slot_bounds(pool: _Pool, method: str, share: float, support: str | None) -> tuple[Floats, Floats, float]:
    """Return the intervals of the slots, and how likely one more slot may be."""
    part = share if support == "seen" else share / 2
    lower, upper = successor_bounds(method, pool.alone, pool.tries, np.full(pool.size, part))
    rest = 0.0
    if support is None:
        tries = np.array([pool.tries.max()], np.int64)
        told = np.array([pool.size], np.int64)
        rest = float(missing_mass(told, tries, np.array([share / 2]), anytime=method == "anytime")[0])
    low, high = tightened(np.array([0, pool.size + 1], np.int64), np.append(lower, 0.0), np.append(upper, rest))
    return low[:-1], high[:-1], float(high[-1])


def _row(
    member: _Member, pool: _Pool, lower: Floats, upper: Floats, rest: float, doubt: float, how: str
) -> _tables.Row:
    """Return the hull of the intervals that the plausible maps give to a choice."""
    effects, odds = len(member.effects), pool.odds
    maps = [member.slots] if len(pool.members) == 1 else _plausible(member, odds, doubt)
    if how == "chosen" and not any(_UNSEEN in slots for slots in maps):
        maps = [member.slots]
    total_low, total_high = lower.sum(), upper.sum() + rest
    low, high = np.full(effects + 1, np.inf), np.full(effects + 1, -np.inf)
    for slots in maps:
        least, most = _cells(slots, lower, effects), _cells(slots, upper, effects)
        most[-1] += rest
        low = np.minimum(low, np.maximum(least, 1 - (total_high - most)))
        high = np.maximum(high, np.minimum(most, 1 - (total_low - least)))
    low, high = np.clip(low - 1e-12, 0.0, 1.0), np.clip(high + 1e-12, 0.0, 1.0)
    none_unseen = rest == 0 and all(_UNSEEN not in slots for slots in maps)
    if none_unseen:
        high[-1] = 0.0
    low[-1] = 0.0
    nominal = _cells(member.slots, odds, effects)[:-1]
    if not (np.all((nominal >= low[:-1]) & (nominal <= high[:-1])) and abs(nominal.sum() - 1) < 1e-9):
        nominal = _inside(low[:-1], high[:-1])
    return _tables.Row(member.to, low[:-1].tolist(), high[:-1].tolist(), nominal.tolist(), float(high[-1]))


def _inside(low: Floats, high: Floats) -> Floats:
    """Return a distribution inside intervals."""
    room = float(high.sum() - low.sum())
    part = min(max((1 - float(low.sum())) / room, 0.0), 1.0) if room > 0 else 0.0
    return np.asarray(low + part * (high - low), np.float64)


def _said(pool: _Pool, table: _tables.Table, lower: Floats, upper: Floats) -> Pool:
    choices, effects = [], []
    for member in pool.members:
        here, what = member.key
        choices.append((values.decode(table.states[here]), values.decode(table.actions[what])))
        effects.append(tuple(None if one == _UNSEEN else values.decode(member.effects[one]) for one in member.slots))
    return Pool(
        tuple(choices),
        tuple(effects),
        tuple(pool.alone.tolist()),
        tuple(pool.tries.tolist()),
        tuple(lower.tolist()),
        tuple(upper.tolist()),
    )


def _claimed(
    confidence: float,
    method: str,
    pools: list[_Pool],
    members: list[_Member],
    level: float,
    maps: str,
    support: str | None,
) -> tuple[str, tuple[str, ...]]:
    claim = (
        f"if the choices of each pool have one distribution over slots, then with probability {confidence:g} or more "
        f"every true transition probability of the {len(members)} choices that were tried is inside its interval "
        f"({method}; the error is shared among {len(pools)} pools, one tenth of it among the maps of the choices)"
    )
    assumes = [
        f"The choices of each pool have one distribution over slots: {len(members)} choices are in {len(pools)} pools; "
        f"a test of homogeneity with the error {level:g} spoke against none of these.",
        "The outcomes of a choice are independent and have one distribution (the state says all that matters).",
    ]
    if method != "anytime":
        assumes.append("How often the choices of a pool are tried does not depend on what came of them.")
    if maps == "chosen":
        claim = f"an estimate, which held less often than {confidence:g} in simulations: {claim}"
        assumes.append(
            "Each choice that showed all its effects has the map from slots to them that is named with its pool."
        )
    if support == "seen":
        assumes.append("No slots exist but those that were seen in a pool.")
    return claim, tuple(assumes)
