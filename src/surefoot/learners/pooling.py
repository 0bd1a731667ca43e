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
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.learners import _tables
from surefoot.learners._bounds import METHODS, tightened
from surefoot.learners._intervals import check_unseen, excused, trials_said
from surefoot.learners._pools import UNSEEN, Member, Slots, discover, held_out, members_of, row, slot_bounds
from surefoot.learners.counts import Counts, Method
from surefoot.learners.learned import LearnedModel

__all__ = ["Pool", "effect_of", "pooled", "pooled_pieces"]

Floats = NDArray[np.float64]
Effect = Callable[[Any, Any, Any], Any]
_MAPS_SHARE = 0.1  # the part of the error that goes to taking the wrong map
_TEST_SHARE = 0.1  # and to setting a choice apart by mistake, where maps are chosen


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
        maps: `hull`: see above. `chosen`: of the maps that say the same of how many slots each effect has, one is taken
            to be right; where slots look equally likely their order cannot be told, and the hull is as wide as that.
            Pools and maps are chosen by a tenth of the outcomes, drawn at random, and the rest is counted, so that the
            counts do not depend on the choice; another tenth of the error goes to tests of the rest. With `anytime`
            that is an estimate, since each time another tenth is drawn.
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
    pools: list[Slots]
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
            member.key: row(member, pool, *one, self.doubt, self.maps)
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
    members = members_of(table, effect)
    doubt = error * _MAPS_SHARE / max(len(members), 1)
    many = max(len(members), 1)
    if maps == "chosen":
        pools = held_out(members, level / many, doubt, across, error * _TEST_SHARE / many)
    else:
        pools = discover(members, level / many, doubt, across)
    left = 1 - _MAPS_SHARE - (_TEST_SHARE if maps == "chosen" else 0)
    share = error * left / max(len(pools), 1)
    bounds = [slot_bounds(pool, method, share, support) for pool in pools]
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


def _said(pool: Slots, table: _tables.Table, lower: Floats, upper: Floats) -> Pool:
    choices, effects = [], []
    for member in pool.members:
        here, what = member.key
        choices.append((values.decode(table.states[here]), values.decode(table.actions[what])))
        effects.append(tuple(None if one == UNSEEN else values.decode(member.effects[one]) for one in member.slots))
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
    pools: list[Slots],
    members: list[Member],
    level: float,
    maps: str,
    support: str | None,
) -> tuple[str, tuple[str, ...]]:
    tests = ", one among the tests that set choices apart" if maps == "chosen" else ""
    claim = (
        f"if the choices of each pool have one distribution over slots, then with probability {confidence:g} or more "
        f"every true transition probability of the {len(members)} choices that were tried is inside its interval "
        f"({method}; the error is shared among {len(pools)} pools, one tenth of it among the maps of the choices"
        f"{tests})"
    )
    assumes = [
        f"The choices of each pool have one distribution over slots: {len(members)} choices are in {len(pools)} pools; "
        f"a test of homogeneity with the error {level:g} spoke against none of these.",
        "The outcomes of a choice are independent and have one distribution (the state says all that matters).",
    ]
    if method != "anytime":
        assumes.append("How often the choices of a pool are tried does not depend on what came of them.")
    if maps == "chosen":
        if method == "anytime":
            claim = f"an estimate, since each time other outcomes choose the maps: {claim}"
        assumes.append(
            "Each choice has the map from slots to effects that is named with its pool, or one that gives an effect "
            "another number of slots."
        )
    if support == "seen":
        assumes.append("No slots exist but those that were seen in a pool.")
    return claim, tuple(assumes)
