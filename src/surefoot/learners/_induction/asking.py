"""Which call to try next: the one whose outcome would separate the most alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any

from surefoot.learners._induction.judging import Judge

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

    The probability of a refusal follows from the log odds that remain once the rivals that would let the call pass are
    counted. The gain is the entropy of the outcome; a call that violates many uncertain conditions at once tells less
    of each when it is refused, so it counts for less.

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
    answer, known = judge(state, args), judge.known
    names = list(dict.fromkeys(condition.key for condition, _, _ in judge.violated(state, args)))
    fresh = (known.leftover + 0.5) / (known.accepted + known.refused + 1.0)
    if answer.verdict == "refuse":
        refused = 1.0 - 0.5 * exp(-min(30.0, answer.against))
    elif answer.condition is None:
        refused = fresh
    elif answer.support or answer.words.startswith("perhaps"):
        refused = 1.0 / (1.0 + exp(-min(answer.against, 30.0)))
    else:  # a rule that was not met yet
        refused = max(fresh, 1.0 / (1.0 + exp(0.25 * answer.condition.cost)))
    refused = min(1.0 - 1e-9, max(1e-9, refused))
    entropy = -refused * log(refused) - (1.0 - refused) * log(1.0 - refused)
    return Question(state, action, args, entropy / max(1, len(names)) ** 0.25, refused, tuple(names[:16]))
