"""What an induced model says of what it has learned, and what a person can say to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from scipy.special import betaincinv

from surefoot.errors import BadArgument
from surefoot.learners._induction.asking import Question
from surefoot.learners._induction.exporting import Rule, as_json, as_python, describe_schema
from surefoot.learners._induction.learning import Learner
from surefoot.learners._induction.telling import nearest, seqs_behind
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.explaining import Explanation

__all__ = ["GRAMMAR", "Spoken"]

GRAMMAR = "induced conditions, grammar 1"
"""What stands for the vocabulary in a journal."""


class Spoken(ConservativeActionModel):
    """The conditions of a model without a vocabulary: shown, explained, exported, pinned, struck out, asked about."""

    _learner: Learner

    def conditions(self, action: str) -> list[Rule]:
        """Return the conditions selected for an action, the best supported first, each with its rivals.

        Example:
            >>> ConservativeActionModel().conditions("go")
            []
        """
        judge = self._learner.judges.get(action)
        wishes = self._learner.wishes.get(action)
        pinned = set() if wishes is None else wishes.pinned
        if judge is None:
            return []
        found = [Rule.of(action, one, one.condition.key in pinned) for one in judge.known.chosen]
        return sorted(found, key=lambda rule: (-rule.evidence, rule.key))

    def pin(self, action: str, key: str) -> Self:
        """Say that a condition is a rule: a person's word, as good as much evidence, until an accepted call refutes it.

        Args:
            action: the action's name.
            key: the condition's key, as in `conditions`, `explain` or `candidates`.

        Raises:
            BadArgument: there is no such condition, or an accepted call violates it.

        Example:
            >>> model = ConservativeActionModel()
            >>> for n in range(6):
            ...     _ = model.observe({"open": True}, "enter", {"day": n}, True)
            >>> _ = model.pin("enter", "domain(open)")
            >>> model.predict({"open": False}, "enter", {"day": 3}).verdict
            'refuse'
        """
        with self._lock:
            pool = self._learner.pool(action)
            if pool is None or key not in pool.at:
                raise BadArgument(f"{key!r} is no condition that every accepted call of {action!r} kept")
            wishes = self._learner.wish(action)
            wishes.struck.discard(key)
            wishes.pinned.add(key)
            self._learner.select({action})
        return self

    def strike(self, action: str, key: str) -> Self:
        """Say that a condition is no rule: a person's word, until much more evidence speaks for it.

        Raises:
            BadArgument: the action was never observed.

        Example:
            >>> model = ConservativeActionModel()
            >>> for n in range(20):
            ...     _ = model.observe({"open": n % 2 == 0}, "enter", {}, n % 2 == 0)
            >>> [rule.key for rule in model.conditions("enter")]
            ['domain(open)']
            >>> model.strike("enter", "domain(open)").conditions("enter")
            []
        """
        with self._lock:
            if action not in self._learner.rows:
                raise BadArgument(f"{action!r} was never observed")
            wishes = self._learner.wish(action)
            wishes.pinned.discard(key)
            wishes.struck.add(key)
            self._learner.select({action})
        return self

    def candidates(self, action: str, most: int = 50) -> list[str]:
        """Return keys of conditions that every accepted call of an action kept, the cheapest to say first.

        Example:
            >>> model = ConservativeActionModel()
            >>> _ = model.observe({"open": True}, "enter", {}, True)
            >>> model.candidates("enter")
            ['domain(open)']
        """
        with self._lock:
            pool = self._learner.pools.get(action)
            if pool is None:
                return []
            found = sorted((c.cost, c.key) for c, _ in pool.found)
        return [key for _, key in found[:most]]

    def flake_rate(self, action: str) -> tuple[float, float]:
        """Return the rate of refusals that no condition explains, among calls that violate none: mean and upper 95 %.

        The posterior of a Beta(0.3, 6) prior.

        Example:
            >>> ConservativeActionModel().flake_rate("go")[0] < 0.05
            True
        """
        judge = self._learner.judges.get(action)
        odd, fine = (0, 0) if judge is None else (judge.known.leftover, judge.known.accepted)
        return (odd + 0.3) / (odd + fine + 6.3), float(betaincinv(odd + 0.3, fine + 6.0, 0.95))

    def summary(self, action: str) -> dict[str, Any] | None:
        """Return what was learned about one action as plain data, None when it was never observed.

        Returns:
            {"action", "accepted", "refused", "transitions", "conditions", "unexplained", "flake_rate"}.

        Example:
            >>> model = ConservativeActionModel()
            >>> _ = model.observe({"open": True}, "enter", {}, True)
            >>> model.summary("enter")["accepted"], model.summary("go")
            (1, None)
        """
        with self._lock:
            rows = self._learner.rows.get(action)
            if rows is None:
                return None
            judge = self._learner.judges.get(action)
            accepted, refused = rows.totals
            return {
                "action": action,
                "accepted": accepted,
                "refused": refused,
                "transitions": rows.total,
                "conditions": [rule.plain() for rule in self.conditions(action)],
                "unexplained": judge.known.leftover if judge is not None else refused,
                "flake_rate": self.flake_rate(action)[0],
            }

    def schema(self) -> dict[str, dict[str, Any]]:
        """Return what the observed arguments and states are made of, as inferred: {path: its types and values}.

        Example:
            >>> model = ConservativeActionModel()
            >>> state = {"users": {"u1": {"age": 30}, "u2": {"age": 41}}}
            >>> for user in ("u1", "u2"):
            ...     _ = model.observe(state, "greet", {"user": user}, True)
            >>> model.schema()["greet"]["user"]["references"]
            ['users']
        """
        with self._lock:
            return {
                action: describe_schema(rows.terms, rows.columns) for action, rows in sorted(self._learner.rows.items())
            }

    def explain(self, state: Any, action: str, args: Mapping[str, Any] | None = None) -> Explanation:
        """Say why a call is answered as it is: the violated conditions with their paths, and the values read.

        Example:
            >>> model = ConservativeActionModel()
            >>> for n in range(20):
            ...     _ = model.observe({"open": n % 2 == 0}, "enter", {}, n % 2 == 0)
            >>> print(model.settle().explain({"open": False}, "enter", {}))
            'enter' is refused: open is False, accepted only for True (10 cases)
            no accepted case shows that not (open in {True}) (chosen)
            nearest accepted case (10 times): open is True, not False
        """
        given = {} if args is None else args
        answer = self.predict(state, action, given)
        judge = self._learner.judges.get(action)
        read: tuple[tuple[str, Any], ...] = ()
        refusing: tuple[str, ...] = ()
        seqs: tuple[int, ...] = ()
        accepted = 0
        if judge is not None:
            read = tuple(judge.values(state, given))
            accepted = judge.known.accepted
            if answer.verdict != "accept":
                found = judge.violated(state, given)
                refusing = tuple(dict.fromkeys(f"not ({c}) ({kind})" for c, _, kind in found))[:12]
                with self._lock:
                    pool = self._learner.pools.get(action)
                    if pool is not None:
                        seqs = seqs_behind(pool, [c for c, _, kind in found if kind == "chosen"])
        with self._lock:
            times, near, differs = nearest(self._learner.rows[action], read) if accepted else (0, (), ())
        return Explanation(action, answer.verdict, answer.reason, False, read, refusing, near, differs, times, seqs, ())

    def to_python(self) -> str:
        """Return the induced vocabulary as the source of a Python module: readable, and to be edited.

        Run, it defines `vocabulary`, a `Vocabulary` of one predicate for each selected condition.

        Example:
            >>> print(ConservativeActionModel().to_python().splitlines()[0])
            \"\"\"Conditions induced from observed calls: edit, and give `vocabulary` to ConservativeActionModel.\"\"\"
        """
        return as_python({action: self.conditions(action) for action in sorted(self._learner.rows)})

    def to_json(self) -> dict[str, Any]:
        """Return the induced conditions as plain data.

        Example:
            >>> ConservativeActionModel().to_json()["actions"]
            {}
        """
        return as_json(GRAMMAR, {action: self.conditions(action) for action in sorted(self._learner.rows)})

    def next_probe(self, candidates: Iterable[tuple[Any, str, Mapping[str, Any]]]) -> Question | None:
        """Return the candidate call whose outcome would tell the most, None when none would tell anything.

        Args:
            candidates: (state, action, args) of calls that could be made.

        Example:
            >>> model = ConservativeActionModel()
            >>> for n in range(8):
            ...     _ = model.observe({"open": n % 2 == 0, "day": n}, "enter", {}, n % 2 == 0)
            >>> question = model.next_probe([({"open": True, "day": 4}, "enter", {}), ({}, "leave", {})])
            >>> question.action
            'leave'
        """
        return self._learner.ask(candidates)
