"""How the intervals of each choice are made from counts, and what is claimed of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.learners import _priors
from surefoot.learners._bounds import METHODS, missing_mass, successor_bounds, tightened
from surefoot.learners._tables import NO_VALUE, TRIAL, Row, Table, error_of, order

__all__ = ["How", "check_unseen", "claimed", "excused", "interval_rows", "share_of", "trials_said"]

_BELIEFS = ("bayes", "linear")
_Key = tuple[bytes, bytes]


def share_of(confidence: float, table: Table, choices: int | None) -> tuple[float, str]:
    """Return the error of each choice, and in words among how many it is shared."""
    error, tried = error_of(confidence), len(table.choices)
    if choices is None:
        power = max(tried - 1, 0).bit_length()
        return error / (2**power * (power + 1) * (power + 2)), f"{tried} choices tried of a number not known beforehand"
    if type(choices) is not int or choices < max(tried, 1):
        raise BadArgument(f"choices must be a whole number and at least those tried, {tried}, got {choices!r}")
    return error / choices, f"{choices} choices"


@dataclass(frozen=True)
class How:
    """Say how intervals are made; see `Counts.intervals`.

    Raises:
        BadArgument: something is out of its range.
    """

    method: str
    weight: float
    strength: tuple[float, float]
    support: Any

    def __post_init__(self) -> None:
        if self.method not in (*METHODS, *_BELIEFS):
            raise BadArgument(f"method must be one of {', '.join((*METHODS, *_BELIEFS))}, got {self.method!r}")
        if not (isinstance(self.weight, int | float) and 0 < self.weight < np.inf):
            raise BadArgument(f"weight must be a finite number > 0, got {self.weight!r}")
        pair = self.strength
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(one, int | float) for one in pair)):
            raise BadArgument(f"strength must be a pair of numbers, got {pair!r}")
        if not 0 <= pair[0] <= pair[1] < np.inf or pair[1] == 0:
            raise BadArgument(f"strength must be 0 <= least <= most, finite and not both 0, got {pair!r}")

    def ends(
        self, seen: NDArray[np.int64], tried: NDArray[np.int64], start: NDArray[np.int64], share: float, before: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and the upper end of each branch, and what is left for unseen ones in each choice.

        Args:
            seen: (B,) how often each branch was taken.
            tried: (C,) how often each choice was tried.
            start: (C + 1,) the first branch of each choice.
            share: the error of each choice.
            before: how often a branch was taken, and its choice tried, before the window; for `linear`.
        """
        sizes, open_ = np.diff(start), self.support is None
        every = np.repeat(tried, sizes)
        rest: NDArray[np.float64] = np.zeros(len(tried))
        part = np.full(len(tried), share / 2 if open_ else share)
        kinds = sizes + int(open_)
        if self.method == "bayes":
            error = np.full(len(seen), share) / np.repeat(kinds, sizes)
            lower, upper = _priors.bayes_bounds(seen, every, np.repeat(kinds, sizes), error, self.weight)
            if open_:
                rest = _priors.bayes_rest(tried, kinds, share / kinds, self.weight)
        elif self.method == "linear":
            prior = np.zeros(len(seen)), np.ones(len(seen))
            for went, times in (before, (seen, every)):
                prior = _priors.linear_bounds(went, times, start, prior, self.strength)
            lower, upper = prior
            if open_:
                most = self.strength[1]
                rest = np.asarray(most / (most + tried), np.float64)
        else:
            lower, upper = successor_bounds(self.method, seen, every, np.repeat(part, sizes))
            if open_:
                # All kinds that were seen are branches.
                rest = missing_mass(sizes, tried, part, anytime=self.method == "anytime")
        return lower, upper, rest


def check_unseen(unseen: Any, trials: Any) -> None:
    """Refuse arguments of `Counts.intervals` that are out of their range."""
    if unseen not in ("sink", "full"):
        raise BadArgument(f"unseen must be 'sink' or 'full', got {unseen!r}")
    if type(trials) is not int or trials < 0:
        raise BadArgument(f"trials must be a whole number >= 0, got {trials!r}")


def interval_rows(
    table: Table, how: How, share: float, older: Mapping[_Key, Counter[bytes]]
) -> dict[tuple[int, int], Row]:
    """Return the intervals of each choice that was tried."""
    number = {raw: n for n, raw in enumerate(table.states)}
    to: list[list[int]] = []
    for here, what in table.choices:
        seen = dict.fromkeys(table.rows[here][what])
        if older:
            gone = older.get((table.states[here], table.actions[what]), Counter())
            seen.update(dict.fromkeys(number[raw] for raw in sorted(gone, key=order)))
        to.append(list(seen) if how.support in (None, "seen") else _declared(table, here, what, how.support, number))
    sizes = np.array([len(one) for one in to], np.int64)
    start = np.concatenate([[0], np.cumsum(sizes)])
    places = [(s, a, t) for (s, a), one in zip(table.choices, to, strict=True) for t in one]
    seen_ = np.array([table.rows[s][a].get(t, 0) for s, a, t in places], np.int64)
    tried = np.array([sum(table.rows[s][a].values()) for s, a in table.choices], np.int64)
    past = [older.get((table.states[s], table.actions[a]), Counter()) for s, a, _ in places] if older else []
    before = (
        np.array([seen[table.states[t]] for seen, (_, _, t) in zip(past, places, strict=True)], np.int64)
        if older
        else np.zeros(len(seen_), np.int64),
        np.array([seen.total() for seen in past], np.int64) if older else np.zeros(len(seen_), np.int64),
    )
    lower, upper, rest = how.ends(seen_, tried, start, share, before)
    rows = {}
    for n, (choice, one) in enumerate(zip(table.choices, to, strict=True)):
        where = slice(int(start[n]), int(start[n + 1]))
        low, high = np.append(lower[where], 0.0), np.append(upper[where], rest[n])
        low, high = tightened(np.array([0, len(low)], np.int64), low, high)
        odds = seen_[where] / tried[n]
        if how.method == "linear":
            odds = _inside(low[:-1], high[:-1])
        low[:-1], high[:-1] = np.minimum(low[:-1], odds), np.maximum(high[:-1], odds)
        rows[choice] = Row(one, low[:-1].tolist(), high[:-1].tolist(), odds.tolist(), float(high[-1]))
    return rows


def _inside(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a distribution inside intervals, or as near to them as there is one."""
    room, left = float((high - low).sum()), 1 - float(low.sum())
    odds = low + (high - low) * min(max(left / room, 0.0), 1.0) if room > 0 else low
    return np.asarray(odds / odds.sum(), np.float64)


def excused(
    table: Table, rows: Mapping[tuple[int, int], Row], trials: int, labels: Sequence[str]
) -> tuple[Table, dict[tuple[int, int], Row]]:
    """Return both with a state more, to which lead all choices that were tried fewer than `trials` times.

    So does a state of which it is not known yet what it offers.
    """
    made = dict(rows)
    few = [(s, a) for s, row in enumerate(table.rows) for a, seen in row.items() if sum(seen.values()) < trials]
    unknown = [s for s, row in enumerate(table.rows) if not row and s not in table.ended and trials]
    if not few and not unknown:
        return table, made
    place, any_action = len(table.states), len(table.actions)
    lists = [*table.rows, {}]
    for state in unknown:
        lists[state] = {any_action: {}}
    made.update(dict.fromkeys((*few, *((s, any_action) for s in unknown)), Row([place], [1.0], [1.0], [1.0])))
    marks = {name: np.append(mask, name in labels) for name, mask in table.labels.items()}
    alone = np.arange(place + 1) == place
    for name in (TRIAL, *labels):
        marks.setdefault(name, alone)
    more = replace(
        table,
        states=[*table.states, NO_VALUE],
        actions=[*table.actions, NO_VALUE] if unknown else table.actions,
        rows=lists,
        ended=table.ended | {place},
        initial=np.append(table.initial, 0.0),
        labels=marks,
    )
    return more, made


def _declared(table: Table, here: int, what: int, support: Any, number: Mapping[bytes, int]) -> list[int]:
    """Return the states that may follow a choice, by what was declared; states never seen go to `unseen`."""
    if not callable(support):
        raise BadArgument(f"support must be None, 'seen' or a function (state, action) -> states, got {support!r}")
    state, action = values.decode(table.states[here]), values.decode(table.actions[what])
    raws = {values.encode_state(one) for one in support(state, action)}
    missing = [raw for raw in raws if raw not in number]
    if missing:
        raise BadArgument(
            f"support of {action!r} in {state!r} names {values.decode(missing[0])!r}, "
            f"a state that the learner does not know: note it with offer(state) first"
        )
    allowed = sorted(number[raw] for raw in raws)
    for to in table.rows[here][what]:
        if to not in allowed:
            raise BadArgument(
                f"{action!r} in {state!r} led to {values.decode(table.states[to])!r}, which support excludes: "
                f"declare it, or leave support out"
            )
    return allowed


def claimed(confidence: float, how: How, among: str, trials: int) -> tuple[str, tuple[str, ...]]:
    """Return what is claimed, in words, and on what assumptions."""
    method, support = how.method, how.support
    all_ = "every true transition probability of every choice that was tried is inside its interval"
    unseen = ", and so is the mass of all successors never seen together" if support is None else ""
    when = " at all times at once" if method == "anytime" else ""
    shared = f"the error is shared equally among {among}, and within a choice"
    claim = (
        f"with probability {confidence:g} or more, {all_}{unseen}{when} ({method}; {shared} by the probability of each "
        f"successor)"
    )
    if method == "bayes":
        claim = (
            f"an estimate: after a Dirichlet prior that gives each successor the weight {how.weight:g}, the posterior "
            f"probability is {confidence:g} or more that {all_}{unseen} ({shared} among its successors); how often "
            f"that holds is not claimed"
        )
    elif method == "linear":
        claim = (
            f"an estimate: intervals updated linearly from [0, 1], which rests on {how.strength[0]:g} to "
            f"{how.strength[1]:g} outcomes; no confidence is claimed"
        )
    assumes = ["The outcomes of a choice are independent and have one distribution (the state says all that matters)."]
    if method not in ("anytime", *_BELIEFS):
        assumes.append("How often a choice is tried does not depend on what came of it.")
    if support == "seen":
        assumes.append("What followed a choice is all that can follow it.")
    elif support is not None:
        assumes.append("Nothing follows a choice but what was declared.")
    if trials:
        assumes.append(trials_said(trials))
    return claim, tuple(assumes)


def trials_said(trials: int) -> str:
    """Return in words that choices that were hardly tried are excused."""
    return f"Choices that were tried fewer than {trials} times may be tried: nothing is asked of them."
