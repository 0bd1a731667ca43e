"""An action model that induces its own conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.learners.induction.columns import Frame, reduced
from surefoot.learners.induction.conditions import Condition, frozen
from surefoot.learners.induction.growing import grow
from surefoot.learners.induction.selecting import CAPPED, STRONG, Knowledge, Pool, select
from surefoot.learners.induction.terms import Program
from surefoot.protocols import Prediction

__all__ = ["InducedActionModel"]

UNMET = float(__import__("os").environ.get("UNMET", 0.02))


class _Compiled:
    def __init__(self, known: Knowledge) -> None:
        wanted: list[Condition] = []
        for one in known.chosen:
            wanted += [one.condition, *(r for r, _ in one.rivals)]
        wanted += known.doubts + known.guards
        terms = [t for c in wanted for t in _terms(c)]
        terms += [t for one in known.chosen for t, _ in one.labels]
        self.program = Program(terms)
        index = self.program.index
        self.known = known
        self.chosen = [
            (one, one.condition.check(index), [(r, r.check(index), by) for r, by in one.rivals]) for one in known.chosen
        ]
        self.doubts = [(c, c.check(index)) for c in (*known.doubts, *known.guards)]
        self.index = index

    def judge(self, state: Any, args: Any) -> tuple[str, str]:
        slots = self.program.run(state, args)
        against = 0.0
        violated = False
        doubt = words = ""
        for one, check, rivals in self.chosen:
            if check(slots):
                if not doubt:
                    for rival, agree, _ in rivals:
                        if not agree(slots):
                            doubt = f"rival of {one.condition}: {rival}"
                            break
                continue
            violated = True
            score = one.score
            why = "weak"
            if one.condition.kind == "domain":
                value = frozen(slots[self.index[one.condition.terms[0].key]])
                known = one.values.get(value, 0.0) + one.closed
                if known < score:
                    score, why = known, f"value {value!r}"
            for term, seen in one.labels:
                if frozen(slots[self.index[term.key]]) not in seen and score > CAPPED:
                    score, why = CAPPED, f"perhaps an exception for {term}"
            for rival, agree, by in rivals:
                if by < score and agree(slots):
                    score, why = by, f"rival {rival}"
            if score > 0:
                against += score
            doubt = f"{why} {score:.1f}: {one.condition}"
            words = words or f"not {one.condition} ({one.support} cases)"
            if against >= STRONG:
                return "refuse", words
        if violated or doubt:
            return "unknown", doubt
        for c, check in self.doubts:
            if not check(slots):
                return "unknown", f"doubt: {c}"
        if self.known.missed > UNMET:
            return "unknown", f"unmet reasons {self.known.missed:.1%}"
        return "accept", ""


def _names(value: Any, found: set[str]) -> None:
    if isinstance(value, str):
        found.add(value)
    elif isinstance(value, list | tuple):
        for part in value:
            _names(part, found)
    elif isinstance(value, dict):
        found.update(value)
        for part in value.values():
            _names(part, found)


def _terms(c: Condition) -> list[Any]:
    if c.kind == "either":
        return [t for part in c.param for t in _terms(part)]
    return list(c.terms)


class InducedActionModel:
    """v0."""

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[Any, Any, bool, Any, Any]]] = {}
        self.compiled: dict[str, _Compiled] = {}

    def observe(self, state: Any, action: str, args: Any, accepted: bool, effect: Any = None, *, reason: Any = None) -> None:
        self.rows.setdefault(action, []).append((state, args, accepted, effect, reason))

    def settle(self) -> None:
        pools = {}
        for action, rows in self.rows.items():
            step = max(1, len(rows) // 64)
            terms = grow([(s, a) for s, a, *_ in rows[::step][:64]])
            program = Program(terms)
            slots = [program.index[t.key] for t in terms]
            columns: list[list[Any]] = [[] for _ in terms]
            for s, a, *_ in rows:
                found = program.run(s, a)
                for column, at in zip(columns, slots, strict=True):
                    column.append(reduced(found[at]))
            refused = np.array([not r[2] for r in rows], dtype=bool)
            touched: set[str] = set()
            for row in rows:
                if row[3] is not None:
                    _names(row[3], touched)
            frame = Frame(terms, columns, refused, frozenset(touched))
            pools[action] = Pool(frame)
        for action, known in select(pools).items():
            self.compiled[action] = _Compiled(known)

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        compiled = self.compiled.get(action)
        if compiled is None:
            return Prediction("unknown", 0.5, 0, f"{action!r} was never observed")
        verdict, reason = compiled.judge(state, args)
        return Prediction(verdict, 0.5, 0, reason)
