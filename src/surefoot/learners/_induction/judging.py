"""What the selected conditions of an action say about one call, read as quickly as may be."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from surefoot.learners._induction.conditions import Check, Condition
from surefoot.learners._induction.programs import Program
from surefoot.learners._induction.results import Chosen, Knowledge
from surefoot.learners._induction.selecting import STRONG
from surefoot.learners._induction.terms import Term
from surefoot.learners._induction.watching import Watch
from surefoot.learners._induction.weighing import odd_values

__all__ = ["UNMET", "Answer", "Judge", "terms_of"]

UNMET = 0.02
"""Above this share of calls with a reason met once, or none, nothing is accepted: the next may be new (Good-Turing)."""


class Answer(NamedTuple):
    """What is said about a call.

    Attributes:
        verdict: "accept", "refuse" or "unknown".
        words: why.
        support: how many cases stand behind it.
        against: what speaks for a refusal, in nats.
    """

    verdict: str
    words: str
    support: int
    against: float
    condition: Condition | None = None


def terms_of(condition: Condition) -> list[Term]:
    """Return the terms that a condition reads."""
    if condition.kind == "either":
        return [term for part in condition.param for term in terms_of(part)]
    return list(condition.terms)


_BY_VALUE = ("domain", "each domain", "at least", "at most")


class _Line(NamedTuple):
    chosen: Chosen
    check: Check
    rivals: tuple[tuple[Condition, Check, float], ...]
    slot: int
    """Where the value of a domain's term is, -1 for other conditions."""
    others: Mapping[Any, tuple[tuple[Condition, Check, float], ...]]
    """By value outside a domain, what explains its refusals as well."""

    def renewed(self, one: Chosen) -> _Line:
        """Return the same with other weights."""
        others = {
            value: tuple((r, check, by) for (r, check, _), (_, by) in zip(found, one.others[value], strict=True))
            for value, found in self.others.items()
        }
        return self._replace(chosen=one, others=others)


def _all_of(one: Chosen) -> list[Condition]:
    """Return a chosen condition with all that might take its place."""
    others = [r for found in one.others.values() for r, _ in found]
    return [one.condition, *(r for r, _ in one.rivals), *others]


class Judge:
    """The conditions of one action, ready to be read."""

    def __init__(self, known: Knowledge) -> None:
        """Put the readers of all terms together: first those that refuse, then those that only keep from accepting."""
        self.known = known
        first = [t for one in known.chosen for c in _all_of(one) for t in terms_of(c)]
        self._first = Program(first)
        proofs = known.proofs or []
        more = [t for c in (*known.doubts, *(c for c, _ in proofs)) for t in terms_of(c)]
        self._after = self._first.extended(more)
        index = self._after.index
        self._index = index
        self._lines = [
            _Line(
                one,
                one.condition.check(index),
                tuple((r, r.check(index), by) for r, by in one.rivals),
                index[one.condition.terms[0].key] if one.condition.kind in _BY_VALUE else -1,
                {v: tuple((r, r.check(index), by) for r, by in found) for v, found in one.others.items() if found},
            )
            for one in known.chosen
        ]
        self._doubts = Watch(known.doubts, index)
        self._proofs = None if known.proofs is None else [(c.check(index), bits) for c, bits in proofs]

    def __call__(self, state: Any, args: Mapping[str, Any]) -> Answer:
        """Answer for a call."""
        slots = self._first.run(state, args)
        against = 0.0
        best: Chosen | None = None
        doubt = ""
        open_rival: Condition | None = None
        for chosen, check, rivals, slot, others in self._lines:
            if check(slots):
                if open_rival is None and not doubt:
                    for rival, agree, _ in rivals:
                        if not agree(slots):
                            open_rival = rival
                            break
                continue
            score, why = chosen.score, "few cases"
            if slot >= 0:
                value = self._of_value(chosen, slots[slot])
                if value < score:
                    score, why = value, "few cases with this value"
                if others:
                    for odd in odd_values(chosen.condition, slots[slot]):
                        rivals = (*rivals, *others.get(odd, ()))
            for rival, agree, by in rivals:
                if by < score and agree(slots):
                    score, why = by, f"or it is another one: {rival}"
            if score > 0:
                against += score
            if best is None:
                best = chosen
                doubt = f"{why}"
            if against >= STRONG:
                words = best.condition.because([slots[self._index[t.key]] for t in best.condition.terms])
                return Answer("refuse", words, best.support, against, best.condition)
        if best is not None:
            words = best.condition.because([slots[self._index[t.key]] for t in best.condition.terms])
            return Answer("unknown", f"{words}; {doubt}", best.support, against, best.condition)
        if open_rival is not None:
            return Answer("unknown", f"perhaps needed: {open_rival}", 0, 0.0, open_rival)
        known = self.known
        if known.missed > UNMET:
            share = f"{known.missed:.0%} of the calls" if known.missed < 1 else "all calls"
            return Answer("unknown", f"{share} show a reason met once, or none: there may be more", 0, 0.0)
        self._after.continue_with(slots)
        doubted = self._doubts.first(slots)
        if doubted is not None:
            return Answer("unknown", f"never accepted: not ({doubted})", 0, 0.0, doubted)
        if self._proofs is not None and not self._proved(slots):
            return Answer("unknown", "no accepted call violated all the literals that this one does", 0, 0.0)
        return Answer(
            "accept", f"all {len(known.chosen)} conditions hold ({known.accepted} cases)", known.accepted, 0.0
        )

    def _proved(self, slots: list[Any]) -> bool:
        """Say whether some accepted call violated every literal that this one violates."""
        left = (1 << self.known.accepted) - 1
        for check, bits in self._proofs or ():
            if not check(slots):
                left &= bits
                if not left:
                    return False
        return bool(left)

    @staticmethod
    def _of_value(chosen: Chosen, value: Any) -> float:
        """Return what speaks against a value: the refusals with it, or beyond it."""
        condition = chosen.condition
        if condition.kind in ("domain", "each domain"):
            odd = odd_values(condition, value)
            return max((chosen.values.get(v, 0.0) for v in odd), default=0.0) + chosen.closed
        if condition.near is None:
            return chosen.score
        beyond = value <= condition.near if condition.kind == "at least" else value >= condition.near
        return chosen.score if beyond else 0.0

    def renewed(self, known: Knowledge) -> Judge:
        """Return a judge by other weights of the same conditions: what reads them is shared."""
        made = copy(self)
        made.known = known
        made._lines = [line.renewed(one) for line, one in zip(self._lines, known.chosen, strict=True)]
        return made

    def without(self, wrong: frozenset[str]) -> Judge:
        """Return a judge that no longer asks for conditions that an accepted call violated."""
        known = self.known
        chosen = [
            replace(
                one,
                rivals=[(r, by) for r, by in one.rivals if r.key not in wrong],
                others={v: [(r, by) for r, by in found if r.key not in wrong] for v, found in one.others.items()},
            )
            for one in known.chosen
            if one.condition.key not in wrong
        ]
        doubts = [c for c in known.doubts if c.key not in wrong]
        gone = len(chosen) < len(known.chosen)  # what it explained has no reason now
        unmet, missed = (inf, 1.0) if gone else (known.unmet, known.missed)
        return Judge(replace(known, chosen=chosen, doubts=doubts, unmet=unmet, missed=missed, source=None))

    def doubted(self) -> Judge:
        """Return a judge that accepts nothing: a refusal came that nothing explains."""
        return self.renewed(replace(self.known, unmet=inf, missed=1.0))

    def after(self, calls: float, unforeseen: int) -> Judge:
        """Return a judge that has counted more calls, none of which went against it."""
        made = copy(self)
        made.known = self.known.after(calls, unforeseen)
        return made

    def violated(self, state: Any, args: Mapping[str, Any]) -> list[tuple[Condition, float, str]]:
        """Return each condition (chosen, rival or in doubt) that a call violates, with what speaks for it."""
        slots = self._after.run(state, args)
        found: list[tuple[Condition, float, str]] = []
        for chosen, check, rivals, _, _ in self._lines:
            if not check(slots):
                found.append((chosen.condition, chosen.score, "chosen"))
            found += [(r, chosen.score - by, "rival") for r, agree, by in rivals if not agree(slots)]
        found += [(c, 0.0, "doubt") for c in self._doubts.violated(slots)]
        return found

    def values(self, state: Any, args: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """Return the value of each term that the chosen conditions read."""
        slots = self._after.run(state, args)
        keys = dict.fromkeys(t.key for one in self.known.chosen for t in terms_of(one.condition))
        return [(key, slots[self._index[key]]) for key in keys]
