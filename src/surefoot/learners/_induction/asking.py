"""Which call to try next: the one whose outcome would settle the most of the calls that may come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp
from typing import Any

from surefoot.learners._induction.judging import UNMET, Answer, Judge
from surefoot.learners._induction.results import Knowledge
from surefoot.learners._induction.selecting import STRONG

__all__ = ["Question", "best_question"]

CASE = 3.0
"""About so many nats another refusal of the same kind adds to what speaks for its condition."""
MOST_CALLS = 25.0
"""An action needs at most about so many more calls until something of it is accepted."""
FEW_ACCEPTED = 5
"""With fewer accepted calls of an action than this, what is refused is asked about too: it may be all that came."""
STEP = 0.25
"""Conditions are selected again when an action's calls have grown by about this share: nothing is settled before."""
RISK = 0.5
"""By how much of its worth a call that is surely refused is worth less than one that is surely accepted."""
MOST_FOR = 2.0
"""One call that was asked for stands for at most so many drawn at random."""


@dataclass(frozen=True, slots=True)
class Question:
    """Name a call that is worth trying.

    Attributes:
        state: the state to try it in.
        action: the action's name.
        args: its arguments.
        gain: how many of the candidates its outcome is expected to settle.
        refused: the estimated probability that it is refused.
        separates: the conditions that its outcome would confirm or refute.
        stands_for: as many calls drawn at random would tell as much about reasons that were not met yet.

    Example:
        >>> Question({}, "go", {}, 0.5, 0.5, ()).action
        'go'
    """

    state: Any
    action: str
    args: Mapping[str, Any]
    gain: float
    refused: float
    separates: tuple[str, ...]
    stands_for: float = 1.0


@dataclass(frozen=True, slots=True)
class _Open:
    """A candidate that is answered "unknown": what leaves it open, and how many calls it may take to settle that.

    `met`: whether it violates a condition that was met, so that it is no test of reasons that were not.
    """

    call: tuple[Any, str, Mapping[str, Any]]
    why: tuple[str, ...]
    calls: float
    refused: float
    separates: tuple[str, ...]
    met: bool = False


def best_question(
    judges: Mapping[str, Judge], candidates: Iterable[tuple[Any, str, Mapping[str, Any]]]
) -> Question | None:
    """Return the candidate that is expected to settle the most candidates a call; of two that are equal, the safer one.

    Calls that are refused or accepted for sure are never asked about. The others are grouped by what leaves them open:
    the action was never tried; too few cases speak for a condition; a rival, or a condition that may be a rule, would
    decide otherwise; too many reasons may not have been met yet. All of a group are settled together, so that what a
    call is worth is the size of its group, divided by the calls this may take. This is uncertainty sampling among the
    alternatives that are left (query by committee), weighted by density: Settles, Active Learning Literature Survey
    (2009), sections 3.1, 3.2 and 3.6. The candidates stand for the calls that will come: they should be as these are.

    Within a group the call that violates the most open alternatives comes first: accepted, it refutes all of them. Of
    those that are refused for what is known, the one that violates the least comes first: it shows what that is.

    A call that was chosen is no random one. If it violates a condition that is known to refuse, it says nothing about
    reasons that were not met yet, and stands for no call; otherwise for as many as had to be drawn to find one such
    (importance sampling: those left out would not have shown a new reason either).

    Example:
        >>> best_question({}, [({}, "go", {})]).gain
        1.0
    """
    offered = list(candidates)
    looked = [(call[1], _opened(judges.get(call[1]), call)) for call in offered]
    found = [one for _, one in looked if type(one) is _Open]
    if not found:
        return None
    sizes = Counter(one.why for one in found)

    def worth(one: _Open) -> tuple[float, float]:
        gain = sizes[one.why] / one.calls * (1.0 - RISK * one.refused)
        return gain, len(one.separates) * (-1.0 if one.met else 1.0 - one.refused)

    best = max(found, key=worth)
    own = [one for action, one in looked if action == best.call[1]]
    tests = sum(one == "accept" or (type(one) is _Open and not one.met) for one in own)
    stands_for = 0.0 if best.met else min(MOST_FOR, len(own) / tests)
    return Question(*best.call, sizes[best.why] / best.calls, best.refused, best.separates[:16], stands_for)


def _opened(judge: Judge | None, call: tuple[Any, str, Mapping[str, Any]]) -> _Open | str:
    """Return what leaves a call open, or the verdict when nothing does."""
    state, action, args = call
    if judge is None:
        return _Open(call, (action,), 1.0, 0.5, ())
    answer, known = judge(state, args), judge.known
    few = known.accepted < FEW_ACCEPTED
    if answer.verdict != "unknown" and not few:
        return answer.verdict
    violated = judge.violated(state, args)
    names = tuple(dict.fromkeys(condition.key for condition, _, _ in violated))
    least = max(1.0, STEP * (known.accepted + known.refused))
    fresh = (known.leftover + 0.5) / (known.accepted + known.refused + 1.0)
    met = any(why == "chosen" for _, _, why in violated)
    if few:
        return _Open(call, (action, "few"), least, _chance(answer) if met else 0.5, names, met)
    if answer.condition is None:
        return _Open(call, (action, "reasons"), _until_accepted(known, least), min(0.9, fresh), names)
    if met:
        calls = max(least, 1.0 + max(0.0, STRONG - answer.against) / CASE)
        return _Open(call, (action, answer.condition.key, answer.words), calls, _chance(answer), names, met)
    refused = max(fresh, 1.0 / (1.0 + exp(0.25 * answer.condition.cost)))
    return _Open(call, (action, answer.condition.key), least, min(0.9, refused), names)


def _chance(answer: Answer) -> float:
    """Return the probability of a refusal when what speaks for it is what is left once rivals are counted."""
    return 1.0 / (1.0 + exp(-min(answer.against, 30.0)))


def _until_accepted(known: Knowledge, least: float) -> float:
    """Return how many calls without a new reason an action needs until something of it is accepted."""
    needed = known.unmet / max(UNMET - known.world, UNMET / 4) - known.accepted - known.refused
    return min(max(needed, least), MOST_CALLS)
