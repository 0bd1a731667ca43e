"""Which call to try next: the one whose outcome would separate the most alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any

from surefoot.learners.induction.judging import Judge

__all__ = ["Question", "best_question"]


@dataclass(frozen=True, slots=True)
class Question:
    """Name a call that is worth trying.

    Attributes:
        state: the state to try it in.
        action: the action's name.
        args: its arguments.
        gain: how much its outcome is expected to tell, in nats.
        refused: the estimated probability that it is refused.
        separates: the conditions that its outcome would confirm or refute.

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


def best_question(
    judges: Mapping[str, Judge], candidates: Iterable[tuple[Any, str, Mapping[str, Any]]]
) -> Question | None:
    """Return the candidate of the highest expected gain, the safer one of two that are equal.

    An alternative is a condition (chosen, rival, or never violated yet) that the call violates and that is not certain.
    If it were the only one, an accepted outcome would refute it and a refusal would confirm it. The gain is the entropy
    of the outcome; what violates many uncertain conditions at once tells less of each when it is refused.

    Example:
        >>> best_question({}, [({}, "go", {})]).gain
        1.0
    """
    best: Question | None = None
    for state, action, args in candidates:
        question = _weighed(judges.get(action), state, action, args)
        if question.gain > 0 and (best is None or (question.gain, -question.refused) > (best.gain, -best.refused)):
            best = question
    return best


def _weighed(judge: Judge | None, state: Any, action: str, args: Mapping[str, Any]) -> Question:
    if judge is None:
        return Question(state, action, args, 1.0, 0.5, ())
    holds, names = 1.0, []
    for condition, score, kind in judge.violated(state, args):
        nats = score if kind != "doubt" else -condition.cost / 2
        share = 1.0 / (1.0 + exp(-max(-30.0, min(30.0, nats))))
        holds *= 1.0 - share
        names.append(condition.key)
    known = judge.known
    fresh = (known.leftover + 0.5) / (known.accepted + known.refused + 1.0)
    refused = min(1.0 - 1e-9, max(1e-9, 1.0 - holds * (1.0 - fresh)))
    entropy = -refused * log(refused) - (1.0 - refused) * log(1.0 - refused)
    return Question(state, action, args, entropy / max(1, len(names)) ** 0.25, refused, tuple(names[:16]))
