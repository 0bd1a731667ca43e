"""From counts to the arrays of models: ordered tables, rows of intervals, the state that stands for all unseen ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.learners._bounds import successor_bounds
from surefoot.models import MDP, RewardModel

__all__ = [
    "NO_VALUE",
    "TRIAL",
    "UNSEEN",
    "Row",
    "Table",
    "bounds_of",
    "error_of",
    "estimated",
    "interval_model",
    "led_to_by_nothing",
    "name_of",
    "named",
    "order",
    "table_of",
    "tried_of",
]

UNSEEN = "unseen"
"""The name of the state that stands for all that were never seen."""
TRIAL = "trial"
"""The name of the state that choices lead to which may be tried without a proof."""
NO_VALUE = b""
"""What stands for that state among encodings; no value has it."""
_ANY = "?"
_Key = tuple[bytes, bytes]


@dataclass(frozen=True)
class Table:
    """Hold counts in the order of a model.

    Args:
        states, actions: the encodings, in order.
        rows: for each state {number of an action: {number of a state: count}}; an action never tried has no counts.
        ended: the numbers of the states where nothing follows.
        initial: (S,) where episodes start.
        labels: {name: (S,) bool}.
        paid: {(state, action, state): the average reward}.
    """

    states: list[bytes]
    actions: list[bytes]
    rows: list[dict[int, dict[int, int]]]
    ended: frozenset[int]
    initial: NDArray[np.float64]
    labels: dict[str, NDArray[np.bool_]]
    paid: dict[tuple[int, int, int], float]

    @property
    def choices(self) -> list[tuple[int, int]]:
        """Return the choices that were tried, in order."""
        return [(s, a) for s, row in enumerate(self.rows) for a, seen in row.items() if seen]


@dataclass(frozen=True)
class Row:
    """Hold the intervals of one choice: to states by number; `rest` is what goes to states never seen there."""

    to: list[int]
    lower: list[float]
    upper: list[float]
    nominal: list[float]
    rest: float = 0.0
    excluded: bool = field(default=False)


def order(raw: bytes) -> tuple[int, bytes]:
    """Return by what encodings are ordered: shorter ones first, so that numbers of one sign stand by size."""
    return len(raw), raw


def name_of(value: Any) -> str:
    """Return the name of a state or action: a text is its own, anything else has its encoding."""
    return named(values.encode(value))


def named(raw: bytes) -> str:
    """Return the name of an encoded state or action."""
    if raw == NO_VALUE:
        return TRIAL
    value = values.decode(raw)
    # A text that reads like an encoding keeps its quotes, so that `1` and "1" have two names.
    plain = isinstance(value, str) and value and value not in (UNSEEN, TRIAL, _ANY) and value[0] not in '0123456789-[{"'
    return value if plain and value not in ("null", "true", "false") else raw.decode()


def error_of(confidence: float) -> float:
    """Return the error that a confidence leaves.

    Raises:
        BadArgument: it is outside (0, 1).
    """
    if not (isinstance(confidence, float) and 0 < confidence < 1):
        raise BadArgument(f"confidence must be a number in (0, 1), such as 0.95, got {confidence!r}")
    return 1 - confidence


def table_of(
    kept: Mapping[_Key, Counter[bytes]],
    offered: Mapping[bytes, set[bytes]],
    ended: Collection[bytes],
    started: Counter[bytes],
    paid: Mapping[tuple[bytes, bytes, bytes], Counter[float]],
    initial: Any,
    labels: Mapping[str, Callable[[Any], bool]],
) -> Table:
    """Return the counts in order; what was counted in which order makes no difference."""
    if not offered:
        raise BadArgument("nothing was counted: there is no model of nothing")
    states = sorted(offered, key=order)
    number = {raw: n for n, raw in enumerate(states)}
    actions = sorted({raw for some in offered.values() for raw in some}, key=order)
    action = {raw: n for n, raw in enumerate(actions)}
    rows: list[dict[int, dict[int, int]]] = []
    for here in states:
        row: dict[int, dict[int, int]] = {}
        for what in sorted(offered[here], key=order):
            seen = kept.get((here, what), Counter())
            row[action[what]] = {number[to]: seen[to] for to in sorted(seen, key=order)}
        rows.append(row)
    starts = np.zeros(len(states))
    if initial is not None:
        raw = values.encode_state(initial)
        if raw not in number:
            raise BadArgument(f"initial is {initial!r}, a state that was never seen")
        starts[number[raw]] = 1.0
    elif started:
        for raw, count in started.items():
            starts[number[raw]] = count / started.total()
        starts /= starts.sum()
    else:
        starts[number[_first(states, kept)]] = 1.0
    known = [values.decode(raw) for raw in states] if labels else []
    marks = {name: np.array([bool(has(state)) for state in known]) for name, has in labels.items()}
    over = frozenset(number[raw] for raw in ended if not offered[raw])
    marks.setdefault("ended", np.isin(np.arange(len(states)), list(over)))
    means = {
        (number[s], action[a], number[t]): sum(float(r) * n for r, n in sorted(some.items())) / some.total()
        for (s, a, t), some in paid.items()
    }
    return Table(states, actions, rows, over, starts, marks, means)


def led_to_by_nothing(states: Iterable[bytes], kept: Mapping[_Key, Counter[bytes]]) -> list[bytes]:
    """Return the states that no outcome was."""
    led = {to for seen in kept.values() for to in seen}
    return [raw for raw in states if raw not in led]


def _first(states: Sequence[bytes], kept: Mapping[_Key, Counter[bytes]]) -> bytes:
    """Return the only state that nothing leads to.

    Raises:
        BadArgument: there are several.
    """
    first = led_to_by_nothing(states, kept)
    if len(first) != 1:
        raise BadArgument("nothing says where episodes start: give initial=, or note each start with start(state)")
    return first[0]


def estimated(table: Table) -> MDP:
    """Return the MDP of the frequencies."""
    start, action, branch, target, odds = [0], [], [0], [], []
    pay: list[float] = []
    for here, row in enumerate(table.rows):
        for what, seen in row.items():
            if seen:
                total = sum(seen.values())
                action.append(what)
                target += list(seen)
                odds += [count / total for count in seen.values()]
                pay += [table.paid.get((here, what, to), 0.0) for to in seen]
                branch.append(len(target))
        start.append(len(action))
    return MDP(
        choice_start=start,
        choice_action=action,
        branch_start=branch,
        target=target,
        probability=odds,
        initial=table.initial,
        state_names=[named(raw) for raw in table.states],
        action_names=[named(raw) for raw in table.actions],
        labels=table.labels,
        rewards={"reward": RewardModel(transition=np.array(pay))} if table.paid else None,
    )


def bounds_of(
    seen: Mapping[bytes, int], kinds: Sequence[bytes], error: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the Clopper-Pearson bounds of some successors of one choice."""
    counts = np.array([seen.get(one, 0) for one in kinds], np.int64)
    total = np.full(len(kinds), counts.sum(), np.int64)
    return successor_bounds("clopper-pearson", counts, total, np.full(len(kinds), error))


def interval_model(table: Table, rows: Mapping[tuple[int, int], Row], unseen: str, unseen_labels: Sequence[str]) -> MDP:
    """Return the interval MDP, with one more state where something may be unseen."""
    states, actions = len(table.states), [named(raw) for raw in table.actions]
    frontier = {s for s, row in enumerate(table.rows) if not row and s not in table.ended}
    open_ = frontier or any(row.rest for row in rows.values()) or _untried(table)
    sink, any_action = states, len(actions)
    made = _Made()
    for here, row in enumerate(table.rows):
        for what in row:
            known = rows.get((here, what))
            if known is None:
                made.choice(what, [sink], [1.0], [1.0], [1.0])
                continue
            to, low, high, odds = [*known.to], [*known.lower], [*known.upper], [*known.nominal]
            if known.rest > 0:
                more = [s for s in range(states) if s not in set(to)] if unseen == "full" else []
                to += [*more, sink]
                low += [0.0] * (len(more) + 1)
                high += [known.rest] * (len(more) + 1)
                odds += [0.0] * (len(more) + 1)
            made.choice(what, to, low, high, odds)
        if here in frontier:
            made.choice(any_action, [sink], [1.0], [1.0], [1.0])
        made.state()
    if open_:
        size = states + 1
        made.choice(any_action, list(range(size)), [0.0] * size, [1.0] * size, [0.0] * states + [1.0])
        made.state()
    marks = {name: np.append(mask, name in unseen_labels) if open_ else mask for name, mask in table.labels.items()}
    if open_:
        marks[UNSEEN] = np.arange(states + 1) == sink
        for name in unseen_labels:
            marks.setdefault(name, np.arange(states + 1) == sink)
    else:
        marks[UNSEEN] = np.zeros(states, bool)
    names = [named(raw) for raw in table.states]
    return MDP(
        choice_start=made.start,
        choice_action=made.action,
        branch_start=made.branch,
        target=made.target,
        lower=made.lower,
        upper=made.upper,
        probability=made.odds,
        initial=np.append(table.initial, 0.0) if open_ else table.initial,
        state_names=[*names, UNSEEN] if open_ else names,
        action_names=[*actions, _ANY] if open_ else actions,
        labels=marks,
        rewards=_rewards(table, made, states),
    )


class _Made:
    """Collect the arrays of a model."""

    def __init__(self) -> None:
        self.start, self.branch = [0], [0]
        self.action: list[int] = []
        self.target: list[int] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.odds: list[float] = []

    def choice(self, action: int, to: list[int], lower: list[float], upper: list[float], odds: list[float]) -> None:
        """Add a choice to the state that is being made; branches that cannot be taken are left out."""
        for target, low, high, nominal in zip(to, lower, upper, odds, strict=True):
            if high > 0:
                self.target.append(target)
                self.lower.append(low)
                self.upper.append(high)
                self.odds.append(nominal)
        self.action.append(action)
        self.branch.append(len(self.target))

    def state(self) -> None:
        """Finish the state."""
        self.start.append(len(self.action))


def _rewards(table: Table, made: _Made, states: int) -> dict[str, RewardModel] | None:
    """Return what was paid on average, on the branches that were seen."""
    if not table.paid:
        return None
    pay = np.zeros(len(made.target))
    sources = np.repeat(np.arange(len(made.start) - 1), np.diff(made.start))
    for choice, (here, what) in enumerate(zip(sources.tolist(), made.action, strict=True)):
        for branch in range(made.branch[choice], made.branch[choice + 1]):
            pay[branch] = table.paid.get((here, what, made.target[branch]), 0.0) if here < states else 0.0
    return {"reward": RewardModel(transition=pay)}


def _untried(table: Table) -> bool:
    return any(not seen for row in table.rows for seen in row.values())


def tried_of(model: MDP, table: Table) -> NDArray[np.int64]:
    """Return how often each choice of the model was tried."""
    tried = np.zeros(model.n_choices, np.int64)
    for choice, (here, what) in enumerate(zip(model.choice_state.tolist(), model.choice_action.tolist(), strict=True)):
        if here < len(table.rows):
            tried[choice] = sum(table.rows[here].get(what, {}).values())
    return tried
