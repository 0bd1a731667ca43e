"""Find pools: choices with one distribution over slots, and for each a map from slots to its effects."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaln

from surefoot import values
from surefoot.learners import _tables
from surefoot.learners._bounds import missing_mass, successor_bounds, tightened

__all__ = ["UNSEEN", "Member", "Slots", "discover", "held_out", "members_of", "row", "slot_bounds"]

Floats = NDArray[np.float64]
UNSEEN = -1
"""The effect of a slot that was not seen."""
_MOST_SLOTS = 5
_MOST_LISTED = 20_000
_CHOOSING = 0.1  # the part of the outcomes that maps are chosen by, where the rest is counted


@dataclass
class Member:
    """One choice: its effects in order, the state and the count of each, and where its slots go."""

    key: tuple[int, int]
    effects: list[bytes]
    to: list[int]
    seen: NDArray[np.int64]
    slots: tuple[int, ...] = ()

    @property
    def tried(self) -> int:
        return int(self.seen.sum())


@dataclass
class Slots:
    """A pool in the making: slots, and for each action which effect went to which slot."""

    size: int
    members: list[Member] = field(default_factory=list)
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

    def add(self, member: Member, slots: tuple[int, ...], counted: bool) -> None:
        """Take a member in; count those of its slots that share their effect with no other."""
        member.slots = slots
        self.members.append(member)
        if not counted:
            return
        for slot, effect in enumerate(slots):
            if effect != UNSEEN:
                self.known.setdefault((member.key[1], member.effects[effect]), slot)
                if slots.count(effect) == 1:
                    self.alone[slot] += member.seen[effect]
                    self.tries[slot] += member.tried


def members_of(table: _tables.Table, effect: Callable[[Any, Any, Any], Any]) -> list[Member]:
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
        members.append(Member((here, what), list(raws), list(to_), np.array(numbers, np.int64)))
    return sorted(members, key=lambda one: (-one.tried, one.key))


def discover(
    members: list[Member], level: float, doubt: float, across: bool, *, likeliest: bool = False
) -> list[Slots]:
    """Put each choice into the first pool that it fits.

    Those with the most effects come first: a pool must have its slots apart before they can fall together. Of the maps
    that fit the one is taken that agrees best with what is known of the action's effects; then the first one, so that
    the outcomes have no say in what is counted where, or, if these outcomes are not the ones to be counted, the
    `likeliest`.
    """
    pools: list[Slots] = []
    for member in sorted(members, key=lambda one: -len(one.effects)):
        if not any(
            _joins(pool, member, level, doubt, likeliest) for pool in pools if across or _same_action(pool, member)
        ):
            pool = Slots(len(member.effects))
            pool.add(member, tuple(range(pool.size)), counted=True)
            pools.append(pool)
    return pools


def held_out(members: list[Member], level: float, doubt: float, across: bool, test: float) -> list[Slots]:
    """Find pools and maps by a tenth of the outcomes, and count the rest.

    Which tenth is drawn at random, by numbers that depend on the counts alone, so that the same counts give the same
    pools. What is counted is then independent of how it is counted. Only choices are counted of which the tenth says
    how many slots each effect has. One whose rest a test of homogeneity tells apart from its pool gets one of its own.

    Args:
        members: the choices.
        level: the error of each test by which pools are found.
        doubt: the error of each choice of a map.
        across: whether choices of different actions may be in one pool.
        test: the error of each test of the rest.
    """
    text = repr([(one.key, one.effects, one.seen.tolist()) for one in members]).encode()
    numbers = np.random.default_rng(int.from_bytes(hashlib.sha256(text).digest()[:16], "big"))
    some, rest = {}, {}
    for one in members:
        size = round(_CHOOSING * one.tried)
        drawn = numbers.multivariate_hypergeometric(one.seen, size).astype(np.int64)
        some[one.key], rest[one.key] = replace(one, seen=drawn), replace(one, seen=one.seen - drawn)
    whole = {one.key: one for one in members}
    pools: list[Slots] = []
    alone: list[Member] = []
    for found in discover(list(some.values()), level, doubt, across, likeliest=True):
        if len(found.members) == 1:
            alone.append(whole[found.members[0].key])
            continue
        odds = found.odds
        clear = {
            one.key: all(_shape(slots) == _shape(one.slots) for slots in _plausible(one, odds, doubt))
            for one in found.members
        }
        pool = _counted(found, rest, clear)
        apart = {
            one.key
            for one in found.members
            if clear[one.key] and _p_value(pool, replace(rest[one.key], slots=one.slots), one.slots) <= test
        }
        if apart:
            alone += [whole[key] for key in apart]
            found.members = [one for one in found.members if one.key not in apart]
            pool = _counted(found, rest, clear)
        if not pool.members or not pool.tries.min():
            alone += [whole[one.key] for one in found.members]
            continue
        pool.members = [replace(whole[one.key], slots=one.slots) for one in found.members]
        pools.append(pool)
    for one in sorted(alone, key=lambda one: (-one.tried, one.key)):
        pool = Slots(len(one.effects))
        pool.add(one, tuple(range(pool.size)), counted=True)
        pools.append(pool)
    return pools


def _counted(found: Slots, rest: dict[tuple[int, int], Member], clear: dict[tuple[int, int], bool]) -> Slots:
    """Return a pool with the same members and maps, and the rest of their outcomes."""
    pool = Slots(found.size)
    for one in found.members:
        pool.add(replace(rest[one.key]), one.slots, counted=clear[one.key])
    return pool


def _same_action(pool: Slots, member: Member) -> bool:
    return pool.members[0].key[1] == member.key[1]


def _joins(pool: Slots, member: Member, level: float, doubt: float, likeliest: bool) -> bool:
    """Take a choice into a pool if some map fits; count it only where its effects or all plausible maps say how."""
    if pool.size > _MOST_SLOTS or len(member.effects) > pool.size:
        return False
    odds = pool.odds
    plausible = _plausible(member, odds, doubt)
    fitting = [slots for slots in plausible if UNSEEN not in slots and _p_value(pool, member, slots) > level]
    if not fitting:
        return False

    def strange(slots: tuple[int, ...]) -> tuple[int, float, tuple[int, ...]]:
        agree = sum(
            pool.known.get((member.key[1], member.effects[effect])) == slot for slot, effect in enumerate(slots)
        )
        unlikely = -float((member.seen * np.log(_cells(slots, odds, len(member.effects))[:-1])).sum())
        return -agree, unlikely if likeliest else 0.0, slots

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


def _shape(slots: tuple[int, ...]) -> list[int]:
    """Return how many slots each effect has: maps of one shape differ in the order of the slots only."""
    shape: list[int] = np.bincount(np.array(slots) + 1).tolist()
    return shape


def _plausible(member: Member, odds: Floats, doubt: float) -> list[tuple[int, ...]]:
    """Return the maps from slots to effects that the outcomes do not speak against; every seen effect has a slot.

    The ratio of the mixture of all maps to the true one has the mean 1, so it is `1 / doubt` with `doubt` at most.
    """
    effects = len(member.effects)
    every = [
        slots for slots in product([*range(effects), UNSEEN], repeat=len(odds)) if len(set(slots) - {UNSEEN}) == effects
    ]
    cells = np.array([_cells(slots, odds, effects) for slots in every])[:, :effects]
    likely = (member.seen * np.log(cells)).sum(axis=1)
    mixture = np.logaddexp.reduce(likely) - np.log(len(every))
    return [slots for slots, one in zip(every, likely, strict=True) if mixture - one < -np.log(doubt)]


def _p_value(pool: Slots, member: Member, slots: tuple[int, ...]) -> float:
    """Return how likely outcomes are that fit the pool as badly as these, or worse.

    Where every expected number is 5 or more: Pearson's statistic for two samples, the choice and the pool (of which the
    least told slot says how many tries it has). Else the exact multinomial, with the pool's distribution as known.
    """
    cells = _cells(slots, pool.odds, len(member.effects))[:-1]
    expected = member.tried * cells
    if len(cells) == 1 or not member.tried:
        return 1.0
    if expected.min() >= 5 or _compositions(member.tried, len(cells)) > _MOST_LISTED:
        sample = float(((member.seen - expected) ** 2 / expected).sum())
        tries = float(pool.tries.min())
        return float(chdtrc(len(cells) - 1, sample / (1 + member.tried / tries)))
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


def slot_bounds(pool: Slots, method: str, share: float, support: str | None) -> tuple[Floats, Floats, float]:
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


def row(member: Member, pool: Slots, lower: Floats, upper: Floats, rest: float, doubt: float, how: str) -> _tables.Row:
    """Return the hull of the intervals that the plausible maps give to a choice."""
    effects, odds = len(member.effects), pool.odds
    maps = [member.slots] if len(pool.members) == 1 else _plausible(member, odds, doubt)
    if how == "chosen" and member.slots in maps:
        maps = [member.slots, *(slots for slots in maps if _shape(slots) != _shape(member.slots))]
    total_low, total_high = lower.sum(), upper.sum() + rest
    low, high = np.full(effects + 1, np.inf), np.full(effects + 1, -np.inf)
    for slots in maps:
        least, most = _cells(slots, lower, effects), _cells(slots, upper, effects)
        most[-1] += rest
        low = np.minimum(low, np.maximum(least, 1 - (total_high - most)))
        high = np.maximum(high, np.minimum(most, 1 - (total_low - least)))
    low, high = np.clip(low - 1e-12, 0.0, 1.0), np.clip(high + 1e-12, 0.0, 1.0)
    none_unseen = rest == 0 and all(UNSEEN not in slots for slots in maps)
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
