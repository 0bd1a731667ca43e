"""An action model that induces its own conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.learners.induction.columns import Frame, reduced
from surefoot.learners.induction.conditions import Condition, frozen
from surefoot.learners.induction.growing import grow
from surefoot.learners.induction.selecting import STRONG, Knowledge, Pool, select
from surefoot.learners.induction.terms import Program
from surefoot.protocols import Prediction

__all__ = ["InducedActionModel"]

UNMET = 0.02


class _Compiled:
    def __init__(self, known: Knowledge) -> None:
        wanted: list[Condition] = []
        for one in known.chosen:
            wanted += [one.condition, *one.rivals]
        wanted += known.doubts + known.guards
        terms = [t for c in wanted for t in _terms(c)]
        self.program = Program(terms)
        index = self.program.index
        self.known = known
        self.chosen = [
            (one, one.condition.check(index), [(r, r.check(index)) for r in one.rivals]) for one in known.chosen
        ]
        self.doubts = [(c, c.check(index)) for c in (*known.doubts, *known.guards)]
        self.index = index

    def judge(self, state: Any, args: Any) -> tuple[str, str]:
        slots = self.program.run(state, args)
        violated = False
        doubt = ""
        for one, check, rivals in self.chosen:
            if not check(slots):
                violated = True
                if one.score < STRONG:
                    doubt = doubt or f"weak: {one.condition}"
                    continue
                if one.condition.kind == "domain":
                    value = frozen(slots[self.index[one.condition.terms[0].key]])
                    if one.values.get(value, 0) < 1 and len(one.values) < 3:
                        doubt = doubt or f"new value: {one.condition}"
                        continue
                for rival, agree in rivals:
                    if agree(slots):
                        doubt = doubt or f"rival of {one.condition}: {rival}"
                        break
                else:
                    return "refuse", f"not {one.condition} ({one.support} cases)"
            else:
                for rival, agree in rivals:
                    if not agree(slots):
                        doubt = doubt or f"rival of {one.condition}: {rival}"
                        break
        if violated:
            return "unknown", doubt
        if doubt:
            return "unknown", doubt
        for c, check in self.doubts:
            if not check(slots):
                return "unknown", f"doubt: {c}"
        if self.known.missed > UNMET:
            return "unknown", f"unmet reasons {self.known.missed:.1%}"
        return "accept", ""


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
            frame = Frame(terms, columns, refused)
            pools[action] = Pool(list(frame.survivors()), int((~refused).sum()), int(refused.sum()))
            pools[action].frame = frame  # type: ignore[attr-defined]
        for action, known in select(pools).items():
            frame = pools[action].frame  # type: ignore[attr-defined]
            for one in known.chosen:
                if one.condition.kind == "domain":
                    column = frame.column[one.condition.terms[0].key]
                    for i in frame.bad:
                        v = frozen(column[i])
                        if v not in one.condition.param:
                            one.values[v] = one.values.get(v, 0) + 1
            self.compiled[action] = _Compiled(known)

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        compiled = self.compiled.get(action)
        if compiled is None:
            return Prediction("unknown", 0.5, 0, f"{action!r} was never observed")
        verdict, reason = compiled.judge(state, args)
        return Prediction(verdict, 0.5, 0, reason)
