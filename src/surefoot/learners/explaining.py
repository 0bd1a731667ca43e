"""Why an action model answers as it does about one call, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Explanation"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Say what stands behind an answer about one call; `str` gives it as a few lines.

    Attributes:
        action: the action's name.
        verdict: "accept", "refuse" or "unknown".
        reason: the prediction's reason.
        hard: a rule that no risk policy trades stands behind it.
        conditions: (name, value) of each condition in this call; `MISSING` where it cannot be read.
        refusing: in words, each thing about this call that no accepted case shows; empty when there is none.
        nearest: (name, value) of the accepted case that differs least from this call; () when nothing was accepted.
        differs: (name, value here, value there) of the conditions in which it differs.
        accepted: how often that case was accepted.
        evidence: places in the journal of observations behind the answer, the newest last; () without a journal.
        nearest_evidence: places in the journal of observations of the nearest accepted case.

    Example:
        >>> from surefoot import ConservativeActionModel, Vocabulary
        >>> model = ConservativeActionModel(Vocabulary({"open": lambda s, a: s["open"], "lit": lambda s, a: s["lit"]}))
        >>> _ = model.observe({"open": True, "lit": True}, "enter", {}, True)
        >>> _ = model.observe({"open": False, "lit": True}, "enter", {}, False)
        >>> print(model.explain({"open": False, "lit": False}, "enter", {}))
        'enter' is refused: open is False, never accepted (1 refusal)
        no accepted case shows that open is False
        nearest accepted case (1 time): lit is True, not False; open is True, not False
    """

    action: str
    verdict: str
    reason: str
    hard: bool
    conditions: tuple[tuple[str, Any], ...]
    refusing: tuple[str, ...]
    nearest: tuple[tuple[str, Any], ...]
    differs: tuple[tuple[str, Any, Any], ...]
    accepted: int
    evidence: tuple[int, ...]
    nearest_evidence: tuple[int, ...]

    def __str__(self) -> str:
        """Say it in a few lines."""
        word = {"accept": "accepted", "refuse": "refused", "unknown": "unknown"}[self.verdict]
        lines = [f"{self.action!r} is {word}{', a hard rule' if self.hard else ''}: {self.reason}"]
        lines += [f"no accepted case shows that {words}" for words in self.refusing]
        if self.nearest:
            times = "1 time" if self.accepted == 1 else f"{self.accepted} times"
            what = "; ".join(f"{name} is {there!r}, not {here!r}" for name, here, there in self.differs)
            lines.append(f"nearest accepted case ({times}): {what or 'the same in every condition'}")
        elif self.verdict != "accept":
            lines.append("it was never accepted")
        for what, places in (("evidence", self.evidence), ("of the nearest case", self.nearest_evidence)):
            if places:
                lines.append(f"{what}: journal entries {', '.join(map(str, places))}")
        return "\n".join(lines)
