"""Count what followed what, and make models of it: an estimate, and intervals that hold with a stated confidence.

`Counts` takes in transitions (state, action, next state): by hand, from a journal, from traces, from an environment
(`surefoot.learners.histories`). The order does not matter, and two histories merge into what one learner of both would
have counted.

From the counts come two models. `Counts.estimate` is the MDP of the frequencies, and promises nothing.
`Counts.intervals` is an interval MDP with a claim in words: which probabilities are inside with which confidence, on
what assumption. `surefoot.learners.pooling` makes narrower ones, on one assumption more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce
from typing import Any, Literal

import numpy as np

from surefoot import values
from surefoot.errors import BadArgument, MergeRefused
from surefoot.learners import _intervals, _tables
from surefoot.learners.learned import Change, LearnedModel
from surefoot.models import MDP

__all__ = ["Change", "Counts", "LearnedModel", "Method"]

Method = Literal["clopper-pearson", "hoeffding", "anytime", "bayes", "linear"]
"""How intervals are made; see `Counts.intervals`.

Example:
    >>> how: Method = "anytime"
"""
Support = Literal["seen"] | Callable[[Any, Any], Collection[Any]] | None
_Key = tuple[bytes, bytes]


class Counts:
    """Count transitions, and make models of them.

    States and actions are plain values (`surefoot.values`), told apart exactly: `1` and `"1"` are two states.

    Args:
        window: int >= 1: only the latest so many outcomes of each choice make the models, the older ones serve
            `changes`; None: all of them.

    Raises:
        BadArgument: the window is no whole number >= 1.

    Cost: about 2 µs an outcome; memory by the number of different transitions, with a window by that of outcomes.

    Example:
        >>> counts = Counts()
        >>> counts.observe("hall", "open", "room")
        >>> counts.observe("hall", "open", "hall")
        >>> counts.tried("hall", "open"), counts.followed("hall", "open")
        (2, {'hall': 1, 'room': 1})
        >>> counts
        <Counts: 2 outcomes of 1 choice, 2 states>
    """

    def __init__(self, *, window: int | None = None) -> None:
        if window is not None and (type(window) is not int or window < 1):
            raise BadArgument(f"window must be a whole number >= 1, or None to forget nothing, got {window!r}")
        self.window = window
        self._seen: dict[_Key, Counter[bytes]] = {}
        self._log: dict[_Key, list[tuple[int, bytes]]] = {}  # only with a window
        self._paid: dict[tuple[bytes, bytes, bytes], Counter[float]] = {}
        self._offered: dict[bytes, set[bytes]] = {}  # every state is a key
        self._ended: set[bytes] = set()
        self._started: Counter[bytes] = Counter()
        self._events: set[str] = set()
        self._time = 0

    # ── taking in ───────────────────────────────────────────────────────────────────────────────────────────────────

    def observe(
        self,
        state: Any,
        action: Any,
        to: Any,
        *,
        ended: bool = False,
        reward: float | None = None,
        time: int | None = None,
        times: int = 1,
    ) -> None:
        """Count that `action` was taken in `state` and led to `to`.

        Args:
            state: the state before.
            action: the action.
            to: the state after.
            ended: whether the episode is over there by the rules of the world, so that nothing follows.
            reward: what it paid; finite. None: not said.
            time: when, in steps; decides what a window keeps. None: later than all before.
            times: how often, at once, an int >= 1.

        Raises:
            ValueRejected: a state or action is no plain value.
            BadArgument: the reward is not finite, or the time no whole number, or `times` less than 1.
        """
        if reward is not None and not np.isfinite(reward):
            raise BadArgument(f"reward must be finite, got {reward!r}")
        if time is not None and type(time) is not int:
            raise BadArgument(f"time must be a whole number of steps, got {time!r}")
        if type(times) is not int or times < 1:
            raise BadArgument(f"times must be a whole number >= 1, got {times!r}")
        here, what, there = values.encode_state(state), values.encode_action(action), values.encode_state(to)
        self._count(here, what, there, self._time if time is None else time, times)
        if ended:
            self._ended.add(there)
        if reward is not None:
            self._paid.setdefault((here, what, there), Counter())[float(reward)] += times

    def _count(self, here: bytes, what: bytes, there: bytes, time: int, times: int) -> None:
        key = here, what
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = Counter()
            self._offered.setdefault(here, set()).add(what)
        seen[there] += times
        self._offered.setdefault(there, set())
        if self.window is not None:
            self._log.setdefault(key, []).extend([(time, there)] * times)
        self._time = max(self._time, time) + 1

    def offer(self, state: Any, *actions: Any) -> None:
        """Note that `state` offers `actions`; those never tried are in the interval model too, with nothing known.

        Raises:
            ValueRejected: a state or action is no plain value.
        """
        here, what = values.encode_state(state), {values.encode_action(action) for action in actions}
        self._offered.setdefault(here, set()).update(what)

    def end(self, state: Any) -> None:
        """Note that nothing follows `state`: episodes end there by the rules of the world.

        Raises:
            ValueRejected: the state is no plain value.
        """
        here = values.encode_state(state)
        self._ended.add(here)
        self._offered.setdefault(here, set())

    def start(self, state: Any) -> None:
        """Note that an episode started in `state`.

        Raises:
            ValueRejected: the state is no plain value.
        """
        here = values.encode_state(state)
        self._started[here] += 1
        self._offered.setdefault(here, set())

    def merge(self, other: Counts) -> Counts:
        """Return the learner of both histories; neither is changed. The order of merging makes no difference.

        Raises:
            MergeRefused: the windows differ, or both counted the same entries of a journal.

        Example:
            >>> here, there = Counts(), Counts()
            >>> here.observe(0, "up", 1)
            >>> there.observe(0, "up", 0)
            >>> here.merge(there).followed(0, "up") == there.merge(here).followed(0, "up") == {0: 1, 1: 1}
            True
        """
        if self.window != other.window:
            raise MergeRefused(
                f"one learner has the window {self.window}, the other {other.window}: give both the same"
            )
        both = self._events & other._events
        if both:
            raise MergeRefused(
                f"{len(both)} entries of a journal were counted by both: read that journal with one only"
            )
        merged = Counts(window=self.window)
        for one in (self, other):
            for key, seen in one._seen.items():
                merged._seen.setdefault(key, Counter()).update(seen)
            for key, log in one._log.items():
                merged._log.setdefault(key, []).extend(log)
            for place, paid in one._paid.items():
                merged._paid.setdefault(place, Counter()).update(paid)
            for state, actions in one._offered.items():
                merged._offered.setdefault(state, set()).update(actions)
            merged._ended |= one._ended
            merged._started.update(one._started)
            merged._events |= one._events
            merged._time = max(merged._time, one._time)
        return merged

    @classmethod
    def merged(cls, learners: Iterable[Counts]) -> Counts:
        """Return the learner of all histories.

        Raises:
            BadArgument: there are no learners.
            MergeRefused: see `merge`.

        Example:
            >>> Counts.merged([Counts(), Counts()])
            <Counts: 0 outcomes of 0 choices, 0 states>
        """
        given = list(learners)
        if not given:
            raise BadArgument("learners is empty: give at least one")
        return reduce(cls.merge, given)

    # ── asking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def outcomes(self) -> int:
        """Return how many outcomes were counted, forgotten ones included."""
        return sum(seen.total() for seen in self._seen.values())

    @property
    def states(self) -> list[Any]:
        """Return the states that were seen, in the order of the models."""
        return [values.decode(raw) for raw in sorted(self._offered, key=_tables.order)]

    @property
    def starts(self) -> list[Any]:
        """Return the states that models start in: those that episodes did, else the only one that nothing leads to."""
        if self._started:
            return [values.decode(raw) for raw in sorted(self._started, key=_tables.order)]
        first = _tables.led_to_by_nothing(self._offered, self._kept())
        return [values.decode(raw) for raw in first] if len(first) == 1 else []

    def tried(self, state: Any, action: Any) -> int:
        """Return how many outcomes of a choice count."""
        return sum(self.followed(state, action).values())

    def followed(self, state: Any, action: Any) -> dict[Any, int]:
        """Return {the encoding-ordered successors of a choice: how often each came}, as far as they count.

        Successors that Python cannot hash or tell apart are given as they decode; see `surefoot.values`.
        """
        key = values.encode_state(state), values.encode_action(action)
        seen = self._kept().get(key, Counter())
        found = values.ExactDict((values.decode(raw), seen[raw]) for raw in sorted(seen, key=_tables.order))
        return dict(found.items())

    def _kept(self) -> Mapping[_Key, Counter[bytes]]:
        """Return what counts: all, or the latest of each choice."""
        if self.window is None:
            return self._seen
        return {key: Counter(to for _, to in sorted(log)[-self.window :]) for key, log in self._log.items()}

    def _older(self) -> dict[_Key, Counter[bytes]]:
        """Return what is out of the window."""
        window = self.window or 0
        return {key: Counter(to for _, to in sorted(log)[:-window]) for key, log in self._log.items()}

    def changes(self, *, confidence: float = 0.95) -> list[Change]:
        """Return the successors whose probability is not what it was before the window.

        Intervals from before and from now hold together with the confidence, over all choices and successors; where
        two of them do not meet, the probability has changed. Where nothing changes this finds something with
        `1 - confidence` at most, for each call.

        Raises:
            BadArgument: there is no window, or the confidence is outside (0, 1).

        Example:
            >>> counts = Counts(window=50)
            >>> for n in range(100):
            ...     counts.observe("hall", "open", "room" if n < 50 else "hall")
            >>> [change.to for change in counts.changes()]
            ['hall', 'room']
        """
        if self.window is None:
            raise BadArgument("without a window nothing is older than the rest: make Counts(window=…)")
        error = _tables.error_of(confidence)
        now, before = self._kept(), {key: seen for key, seen in self._older().items() if seen}
        found = []
        for key in sorted(before, key=lambda key: (_tables.order(key[0]), _tables.order(key[1]))):
            kinds = sorted(before[key] | now[key], key=_tables.order)
            share = error / len(before) / 2
            (low, high), (old_low, old_high) = (_tables.bounds_of(seen[key], kinds, share) for seen in (now, before))
            for n, to in enumerate(kinds):
                if low[n] > old_high[n] or high[n] < old_low[n]:
                    then, since = (float(old_low[n]), float(old_high[n])), (float(low[n]), float(high[n]))
                    state, action, after = (values.decode(raw) for raw in (*key, to))
                    found.append(Change(state, action, after, then, since, confidence))
        return found

    # ── models ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def estimate(
        self,
        *,
        initial: Any = None,
        labels: Mapping[str, Callable[[Any], bool]] | None = None,
    ) -> MDP:
        """Return the MDP of the frequencies. It promises nothing: for promises see `intervals`.

        Choices that were never tried are left out. Where rewards were given, the reward model `reward` pays on each
        transition what it paid on average.

        Args:
            initial: the state that episodes start in; None: as often in each as they did.
            labels: {name: whether a state has it}. `ended` is added: where episodes ended.

        Raises:
            BadArgument: nothing was counted, or nothing says where episodes start.

        Example:
            >>> counts = Counts()
            >>> for to in (1, 1, 1, 0):
            ...     counts.observe(0, "up", to)
            >>> counts.estimate(initial=0).row("0", "up")[1].tolist()
            [0.25, 0.75]
        """
        return _tables.estimated(self._table(initial, labels))

    def intervals(
        self,
        *,
        confidence: float = 0.95,
        method: Method = "clopper-pearson",
        weight: float = 1.0,
        strength: tuple[float, float] = (2.0, 10.0),
        choices: int | None = None,
        support: Support = None,
        unseen: Literal["sink", "full"] = "sink",
        initial: Any = None,
        labels: Mapping[str, Callable[[Any], bool]] | None = None,
        unseen_labels: Collection[str] = (),
        trials: int = 0,
        trial_labels: Collection[str] = (),
    ) -> LearnedModel:
        """Return the interval MDP in which the true one is, with the confidence.

        What is claimed: with probability `confidence` or more, every true transition probability of every choice that
        was tried is inside its interval, those of successors never seen included. The error is shared among the
        choices, equally (Bonferroni); within a choice each true successor takes its part by its own probability, so
        that the number of successors need not be known (`_bounds`). Nothing is claimed about `initial` and rewards.

        `clopper-pearson` and `hoeffding` suppose that how often a choice is tried does not depend on what came of it;
        `anytime` supposes nothing of the kind: its intervals hold at all times at once, so an agent may look at them
        as often as it likes and stop when it likes.

        Two methods start from a belief, and claim nothing of how often they hold. `bayes`: central intervals of the
        posterior of a Dirichlet prior, in which each successor has the same `weight`, and all unseen ones together have
        it too; the confidence is a posterior probability. `linear`: linearly updating intervals, which know no
        confidence. They start from [0, 1], which rests on `strength` outcomes, at least and at most; with a window they
        start from what the older outcomes made of that, with the same strength, so that what contradicts them soon
        outweighs them.

        Args:
            confidence: in (0, 1).
            method: `clopper-pearson` (exact tails), `hoeffding` (a distribution-free band, wider), `anytime`, `bayes`
                or `linear`.
            weight: for `bayes`, > 0 and finite.
            strength: for `linear`, 0 <= least <= most, finite.
            choices: how many choices there are at most, those not tried yet included. None: not known; then the
                error is shared among the next power of two above those tried, and among the powers.
            support: None: any state may follow, even one never seen. `seen`: what followed each choice is all that can
                follow it. A function (state, action) -> states: what can follow at most.
            unseen: where the mass of unseen successors goes. `sink`: one new state, `unseen`, from which nature may go
                to any state or stay. `full`: to every known state and to that one, so that what is bounded in steps is
                bounded too.
            initial: the state that episodes start in; None: as often in each as they did.
            labels: {name: whether a state has it}; `ended` is added.
            unseen_labels: labels that the new state has; give `bad` ones for a shield. A new state may have any label,
                in truth: a property about labels is proved of new states only as far as these say.
            trials: choices that were tried fewer times than this lead to a state of their own, `trial`, where all ends;
                for whoever may try each choice so often without having to prove anything (see `Agent`).
            trial_labels: the labels that this state has.

        Raises:
            BadArgument: an argument is out of its range, nothing was counted, more choices were tried than `choices`,
                or something followed that `support` excludes.

        Cost: linear, and 88 evaluations of a tail for each different pair of counts.

        Source: Clopper, Pearson 1934; Massart 1990; Howard et al. 2021; Givan, Leach, Dean 2000 (bounded parameters);
            Suilen, Simão, Parker, Jansen 2022 (linearly updating intervals).

        Example:
            >>> counts = Counts()
            >>> for n in range(1000):
            ...     counts.observe(0, "up", 1 if n % 4 else 0)
            >>> learned = counts.intervals(initial=0, choices=1)
            >>> learned.interval(0, "up", 1)
            (0.716..., 0.781...)
        """
        how = _intervals.How(method, weight, strength, support)
        _intervals.check_unseen(unseen, trials)
        table = self._table(initial, labels)
        share, among = _intervals.share_of(confidence, table, choices)
        older = self._older() if self.window is not None and method == "linear" else {}
        rows = _intervals.interval_rows(table, how, share, older)
        table, rows = _intervals.excused(table, rows, trials, tuple(trial_labels))
        model = _tables.interval_model(table, rows, unseen, tuple(unseen_labels))
        claim, assumes = _intervals.claimed(confidence, how, among, trials)
        return LearnedModel(model, confidence, method, _tables.tried_of(model, table), claim, assumes)

    def _table(self, initial: Any, labels: Mapping[str, Callable[[Any], bool]] | None) -> _tables.Table:
        return _tables.table_of(
            self._kept(), self._offered, self._ended, self._started, self._paid, initial, labels or {}
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return self._state() == other._state()

    __hash__ = None  # type: ignore[assignment]  # as Python has it for what can change

    def _state(self) -> tuple[Any, ...]:
        logs = {key: sorted(log) for key, log in self._log.items()}
        return (self.window, self._seen, logs, self._paid, self._offered, self._ended, self._started, self._events)

    def __repr__(self) -> str:
        many, states = len(self._seen), len(self._offered)
        return (
            f"<Counts: {self.outcomes} outcome{'' if self.outcomes == 1 else 's'} of {many} "
            f"choice{'' if many == 1 else 's'}, {states} state{'' if states == 1 else 's'}>"
        )
