"""An action model without a vocabulary: it induces its conditions from raw states and arguments."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from scipy.special import betaincinv

from surefoot import values
from surefoot.errors import BadArgument, MergeRefused
from surefoot.learners._cases import Case
from surefoot.learners._induction.asking import Question, best_question
from surefoot.learners._induction.columns import reduced
from surefoot.learners._induction.conditions import Condition
from surefoot.learners._induction.exporting import Rule, as_json, as_python, describe_schema
from surefoot.learners._induction.judging import Answer, Judge
from surefoot.learners._induction.pools import Pool, Wishes
from surefoot.learners._induction.reading import field, holds, read
from surefoot.learners._induction.rows import Rows
from surefoot.learners._induction.selecting import select
from surefoot.learners._induction.snapshots import Shelf, slice_of
from surefoot.learners._programs import told
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.evidence import ActionEvidence
from surefoot.learners.explaining import Explanation
from surefoot.learners.vocabulary import UNREAD, Vocabulary
from surefoot.protocols import Prediction

if TYPE_CHECKING:
    from surefoot.journal import Journal
    from surefoot.learners.batches import Predictions

__all__ = ["InducedActionModel", "Question", "Rule", "field", "holds", "read"]

GRAMMAR = "induced conditions, grammar 1"
"""What stands for the vocabulary in a journal."""
PACE = 0.35
"""Conditions are selected again when there are this share more calls than the last time."""
EAGER = 8
"""Up to so many calls they are selected again after each."""
_MASKED = re.compile(r"\d+")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class InducedActionModel(ConservativeActionModel):
    """Learn what calls are accepted without a vocabulary: from raw JSON-like states and arguments.

    `ConservativeActionModel()` makes one. It reads what the arguments and the state hold, follows keys to records,
    generates conditions over that (the page "Induced conditions" lists the grammar), and selects those that explain
    the refusals. A call is refused when the selected conditions and all their rivals (others that explain the same
    refusals about as well) speak against it; accepted when none of these, nor any condition that never was violated by
    an accepted call and may be a rule not met yet, is violated; unknown otherwise.

    Args:
        severity: as in `ConservativeActionModel`.
        caution: "balanced", or "safe": a call is accepted only if it violates no condition of the grammar that all
            accepted calls kept, whatever it costs to say.
        journal: record each observation here.
        store: anything with a `journal`.
        stream: the model's name inside the journal.

    Statistics: minimum description length over all actions at once. A condition has the prior exp(-cost), divided by
    the sum of these over all conditions looked at (which is how multiple testing is accounted for); what it explains is
    worth the Beta-binomial likelihood that refusals without a reason would have had; actions share the cost of equal
    conditions. The rate of refusals that nothing explains (flakes) is marginalised per action, with a Beta(0.3, 6)
    prior. Log odds of at least 6 (1 in 400) are needed to refuse.

    Order: after `settle`, the model is the same for every order of the same observations.

    Cost: observing takes the time to read some 200 terms (below 1 ms), and a new selection, tenths of a second to
    seconds, each time the calls of an action have grown by a third; a prediction never waits for one.

    Example:
        >>> from surefoot import ConservativeActionModel
        >>> model = ConservativeActionModel()
        >>> state = {"orders": {f"A{n}": {"status": ("open", "sent")[n % 2]} for n in range(40)}}
        >>> for n in range(30):
        ...     _ = model.observe(state, "cancel", {"order": f"A{n}"}, accepted=n % 2 == 0)
        >>> [model.predict(state, "cancel", {"order": order}).verdict for order in ("A38", "A39")]
        ['accept', 'refuse']
        >>> model.predict(state, "cancel", {"order": "A39"}).reason
        "orders[order].status is 'sent', accepted only for 'open' (14 cases)"
    """

    def __init__(
        self,
        vocabulary: None = None,
        severity: float | Mapping[str, float] = 1.0,
        store: Any = None,
        *,
        caution: str = "balanced",
        journal: Journal | None = None,
        stream: str = "actions",
    ) -> None:
        """Know nothing yet; see the class."""
        if vocabulary is not None:
            raise BadArgument("an induced model has no vocabulary; give it to ConservativeActionModel")
        if caution == "seed":
            raise BadArgument("caution must be 'balanced' or 'safe' without a vocabulary, got 'seed'")
        super().__init__(
            Vocabulary({"induced": _unread}), severity, store, caution=caution, journal=journal, stream=stream
        )
        self._shelf = Shelf()
        self._rows: dict[str, Rows] = {}
        self._judges: dict[str, Judge] = {}
        self._pools: dict[str, Pool] = {}
        self._stale: set[str] = set()
        self._fitted: dict[str, int] = {}
        self._messages: dict[str, int] = {}
        self._wishes: dict[str, Wishes] = {}
        self.refuted: tuple[str, ...] = ()

    # -- predicting ---------------------------------------------------------------------------------------------------

    def predict(self, state: Any, action: str, args: Mapping[str, Any] | None = None) -> Prediction:
        """Say what the environment will do with a call; changes nothing, and never waits for a selection.

        Example:
            >>> InducedActionModel().predict({"open": True}, "enter", {}).reason
            "'enter' was never observed"
        """
        given = {} if args is None else args
        answer = self._predicted(state, action, given)
        if answer.verdict == "accept" and self._foresight.known:
            with self._lock:
                evidence = self._actions[action]
                return self._foresight.foresee(
                    answer, evidence, evidence.key_of((), True), (), state, given, self.caution
                )
        return answer

    def _predicted(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        judge = self._judges.get(action)
        severity = self.severity.get(action, 1.0) if isinstance(self.severity, dict) else self.severity
        if judge is None:
            known = action in self._rows
            reason = "too few calls were observed" if known else f"{action!r} was never observed"
            return Prediction("unknown", 0.5 * severity, 0, reason, False, None, action)
        return self._said(action, judge(state, args), judge, severity)

    @staticmethod
    def _said(action: str, answer: Answer, judge: Judge, severity: float) -> Prediction:
        times = answer.support
        if answer.verdict == "refuse":
            words = f"{answer.words} ({times} case{'s' if times != 1 else ''})"
            return Prediction("refuse", severity * (times + 1) / (times + 2), times, words, False, None, action)
        if answer.verdict == "accept":
            known = judge.known
            flake = (known.leftover + 0.5) / (known.leftover + known.accepted + 1.0)
            return Prediction("accept", severity * flake, times, answer.words, False, None, action, None, 1.0)
        return Prediction("unknown", 0.5 * severity, times, answer.words, False, None, action)

    def predict_many(
        self,
        states: Sequence[Any],
        action: str,
        args: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Predictions:
        """Say what the environment will do with a call in each of many states.

        Raises:
            BadArgument: there are not as many arguments as states.

        Cost: a prediction for each.

        Example:
            >>> InducedActionModel().predict_many([{}, {}], "go").verdicts
            ['unknown', 'unknown']
        """
        from surefoot.learners import batches  # with NumPy, which single calls do without

        given = [args or {}] * len(states) if args is None or isinstance(args, Mapping) else args
        if len(given) != len(states):
            raise BadArgument(f"there must be arguments for each of {len(states)} states, got {len(given)}")
        answers = [self.predict(state, action, one) for state, one in zip(states, given, strict=True)]
        return batches.gathered(answers)

    def predict_columns(
        self,
        columns: Mapping[str, Any],
        action: str,
        *,
        states: Sequence[Any] | None = None,
        args: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Predictions:
        """Refuse: there are no columns without a vocabulary.

        Raises:
            BadArgument: always.

        Example:
            >>> InducedActionModel().predict_columns({}, "go")
            Traceback (most recent call last):
            surefoot.errors.BadArgument: predict_columns needs a vocabulary; use predict_many(states, action, args)
        """
        raise BadArgument("predict_columns needs a vocabulary; use predict_many(states, action, args)")

    # -- observing ----------------------------------------------------------------------------------------------------

    def observe(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any] | None,
        accepted: bool,
        effect: Any = None,
        *,
        reason: str | None = None,
        next_state: Any = None,
    ) -> Prediction:
        """Take in what the environment did with a call, and return the prediction made before it.

        Args:
            state: the state before the call; what the call can lead to is kept as bytes.
            action: the action's name.
            args: its arguments.
            accepted: whether the environment took it.
            effect: what it changed; names in it mark what the action is about.
            reason: the environment's words for a refusal; refusals of one wording are looked at together.
            next_state: the state after it.

        Raises:
            BadArgument: `accepted` is not a bool, or `action` not a name; or a refused call led to another state.
            ValueRejected: something is not plain data. Nothing was learned.

        Cost: see the class.

        Example:
            >>> model = InducedActionModel()
            >>> model.observe({"open": True}, "enter", {}, True).verdict
            'unknown'
        """
        if type(accepted) is not bool:
            raise BadArgument(f"accepted must be True or False, got {accepted!r}; a fault is no observation")
        if type(action) is not str or not action:
            raise BadArgument(f"action must be a non-empty str, got {action!r}; split it with call_of(action)")
        given = {} if args is None else args
        if reason is not None and type(reason) is not str:
            raise BadArgument(f"reason must be a str, got {reason!r}")
        encoded = None if effect is None else values.encode(effect)
        more = None if encoded is None and next_state is None else told(state, given, accepted, encoded, next_state)
        with self._lock:
            kept = slice_of(state, given)
            found = self._shelf.put(kept, given)
            before = self.predict(kept, action, given)
            seq = None
            if self._journal is not None:
                seq = self._record(state, action, given, accepted, encoded, reason, next_state)
            self._take(found, kept, action, given, accepted, effect, reason, seq)
            evidence = self._actions[action]
            key = evidence.key_of((), True)
            if more is not None:
                self._foresight.add(action, key, (), more)
            case = evidence.cases.get(key) or evidence.start(key, ())
            evidence.count(case, accepted, encoded, seq, self.observations)
            self.observations += 1
            if before.verdict == ("refuse" if accepted else "accept"):
                self.surprises += 1
                self._contradicted(action, kept, given, accepted)
            self._keep_up(action)
        return before

    def _take(
        self,
        found: tuple[int, ...],
        kept: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any,
        reason: str | None,
        seq: int | None,
    ) -> None:
        """Append a call to those of its action."""
        rows = self._rows.get(action)
        if rows is None:
            rows = self._rows[action] = Rows(self._shelf)
            self._actions.setdefault(action, ActionEvidence(()))
        message = -1
        if reason is not None and not accepted:
            words = _MASKED.sub("0", _QUOTED.sub("''", reason))
            message = self._messages.setdefault(words, len(self._messages))
        rows.add(found, kept, args, not accepted, message, seq)
        if accepted and effect is not None:
            rows.touch(effect)
        self._stale.add(action)

    def _contradicted(self, action: str, state: Any, args: Mapping[str, Any], accepted: bool) -> None:
        """Take back at once what an outcome has shown to be wrong; the next selection mends it."""
        judge = self._judges[action]
        if accepted:
            wrong = [c.key for c, _, _ in judge.violated(state, args)]
            for key in wrong:
                if (action, key) in {(a, k) for a, w in self._wishes.items() for k in w.pinned}:
                    self.refuted = (*self.refuted, f"{action}: {key}")
                    self._wishes[action].pinned.discard(key)
            judge = judge.without(frozenset(wrong))
        else:
            judge = judge.doubted()
        self._judges[action] = judge

    def _keep_up(self, action: str) -> None:
        """Select again when enough has come since the last time."""
        size, fitted = len(self._rows[action]), self._fitted.get(action, 0)
        if size <= EAGER or size >= fitted * (1 + PACE):
            self._select({action})

    def settle(self) -> Self:
        """Select conditions again from all that was observed; afterwards the order of observations does not matter.

        Cost: seconds at 10,000 observations.

        Example:
            >>> InducedActionModel().settle().actions()
            []
        """
        with self._lock:
            if self._stale:
                self._select(set(self._stale), anew=True)
            self._stale.clear()
        return self

    def _select(self, fresh: set[str], *, anew: bool = False) -> None:
        """Tabulate the conditions of some actions anew, and select for all."""
        for action in sorted(fresh):
            rows = self._rows[action]
            if anew or rows.due():
                rows.regrow()
            self._pools[action] = Pool(rows.frame(), self._wishes.get(action), safe=self.caution == "safe")
            self._fitted[action] = len(rows)
        pools = {action: self._pools[action] for action in sorted(self._pools)}
        for pool in pools.values():
            pool.reset()
        for action, known in select(pools).items():
            self._judges[action] = Judge(known)

    # -- journal, merging -------------------------------------------------------------------------------------------

    def _fingerprint_of_vocabulary(self) -> str:
        return hashlib.sha256(GRAMMAR.encode()).hexdigest()

    @classmethod
    def replay(
        cls, store: Any, vocabulary: Vocabulary | None = None, *, stream: str = "actions", **options: Any
    ) -> Self:
        """Return the model of the observations recorded in a journal, whatever vocabulary they were read with.

        Example:
            >>> from surefoot import ConservativeActionModel, open_journal
            >>> journal = open_journal()
            >>> model = ConservativeActionModel(journal=journal)
            >>> _ = model.observe({"open": True}, "enter", {}, True)
            >>> InducedActionModel.replay(journal).fingerprint() == model.fingerprint()
            True
        """
        if vocabulary is not None:
            raise BadArgument("an induced model has no vocabulary; replay with ConservativeActionModel")
        return cls._read(getattr(store, "journal", store), None, stream, options)

    def relearn(self, vocabulary: Vocabulary | None = None) -> Any:
        """Return a model of the same recorded observations: with a vocabulary, or induced anew without one.

        Raises:
            BadArgument: the observations were not recorded (the model has no journal).

        Example:
            >>> from surefoot import open_journal
            >>> model = InducedActionModel(journal=open_journal())
            >>> _ = model.observe({"open": True}, "enter", {}, True)
            >>> model.relearn(Vocabulary({"open": lambda state, args: state["open"]})).summary("enter")["allowed"]
            {'open': [True]}
        """
        if self._journal is None:
            raise BadArgument("relearn needs recorded observations: make the model with journal=open_journal(...)")
        options: dict[str, Any] = {"severity": self.severity, "caution": self.caution}
        if vocabulary is None:
            return self._read(self._journal, None, self._stream, options)
        return ConservativeActionModel._read(self._journal, vocabulary, self._stream, options)

    @classmethod
    def _read(cls, journal: Journal, vocabulary: Any, stream: str, options: dict[str, Any]) -> Self:
        model = cls(None, stream=stream, **options)
        for entry in journal.entries(kind="observe", stream=stream):
            data = entry.data
            state, action, args, accepted = (data[name] for name in ("state", "action", "args", "accepted"))
            effect = data.get("effect")
            kept = slice_of(state, args)
            model._take(
                model._shelf.put(kept, args), kept, action, args, accepted, effect, data.get("reason"), entry.seq
            )
            model._count(action, state, args, accepted, effect, data.get("next_state"), entry.seq)
        model._journal = journal
        return model.settle()

    def _count(
        self, action: str, state: Any, args: Any, accepted: bool, effect: Any, next_state: Any, seq: int | None
    ) -> None:
        encoded = None if effect is None else values.encode(effect)
        more = None if encoded is None and next_state is None else told(state, args, accepted, encoded, next_state)
        evidence = self._actions[action]
        key = evidence.key_of((), True)
        if more is not None:
            self._foresight.add(action, key, (), more)
        case = evidence.cases.get(key) or evidence.start(key, ())
        evidence.count(case, accepted, encoded, seq, self.observations)
        self.observations += 1

    def merge(self, other: ConservativeActionModel) -> Self:
        """Take over what `other` observed: afterwards this model knows what it would have, had it observed both.

        Raises:
            MergeRefused: the other model has a vocabulary.

        Cost: that of observing what the other did, and one selection.

        Example:
            >>> a, b = InducedActionModel(), InducedActionModel()
            >>> _ = a.observe({"open": True}, "enter", {}, True), b.observe({"open": False}, "enter", {}, False)
            >>> a.merge(b).summary("enter")["refused"]
            1
        """
        if not isinstance(other, InducedActionModel):
            raise MergeRefused("the other model has a vocabulary, this one induces its conditions")
        words = {number: text for text, number in other._messages.items()}
        rows = {
            action: (list(r.kept), list(r.refused), list(r.messages), set(r.touched))
            for action, r in other._rows.items()
        }
        shelf = other._shelf
        with self._lock:
            for action, (kept, refused, messages, touched) in rows.items():
                for found, bad, message in zip(kept, refused, messages, strict=True):
                    state, args = shelf.get(found)
                    self._take(
                        self._shelf.put(state, args), state, action, args, not bad, None, words.get(message), None
                    )
                self._rows[action].touched |= touched
            for action, evidence in other._actions.items():
                mine = self._actions[action]
                for key, case in evidence.cases.items():
                    held = mine.cases.setdefault(key, Case(case.features))
                    held.accepted += case.accepted
                    held.refused += case.refused
                mine.conclude()
            self._foresight.merge(other._foresight)
            self.observations += other.observations
            self.settle()
        return self

    def fingerprint(self) -> str:
        """Return a digest of all that was observed, and of what a person has said; the order is not in it.

        Example:
            >>> model = InducedActionModel()
            >>> before = model.fingerprint()
            >>> _ = model.observe({"open": True}, "enter", {}, True)
            >>> before == model.fingerprint()
            False
        """
        with self._lock:
            lines = sorted(
                hashlib.sha256(b"%b\x00%d\x00%b" % (action.encode(), refused, self._shelf.bytes_of(kept))).digest()
                for action, rows in self._rows.items()
                for kept, refused in zip(rows.kept, rows.refused, strict=True)
            )
            wishes = sorted((action, sorted(w.pinned), sorted(w.struck)) for action, w in self._wishes.items())
            effects = self._foresight.canonical()
        digest = hashlib.sha256(GRAMMAR.encode())
        for line in (*lines, repr(wishes).encode(), *effects):
            digest.update(line)
        return digest.hexdigest()

    # -- what was learned -------------------------------------------------------------------------------------------

    def conditions(self, action: str) -> list[Rule]:
        """Return the conditions selected for an action, the best supported first, each with its rivals.

        Example:
            >>> InducedActionModel().conditions("go")
            []
        """
        judge = self._judges.get(action)
        pinned = self._wishes[action].pinned if action in self._wishes else set()
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
            >>> model = InducedActionModel()
            >>> for n in range(6):
            ...     _ = model.observe({"open": True}, "enter", {"day": n}, True)
            >>> _ = model.pin("enter", "domain(open)")
            >>> model.predict({"open": False}, "enter", {"day": 3}).verdict
            'refuse'
        """
        with self._lock:
            known = self._rows.get(action)
            if known is not None and action in self._stale and action not in self._pools:
                self._select({action})
            pool = self._pools.get(action)
            if pool is None or key not in pool.at:
                raise BadArgument(f"{key!r} is no condition that every accepted call of {action!r} kept")
            wishes = self._wishes.setdefault(action, Wishes())
            wishes.struck.discard(key)
            wishes.pinned.add(key)
            self._select({action})
        return self

    def strike(self, action: str, key: str) -> Self:
        """Say that a condition is no rule: a person's word, until much more evidence speaks for it.

        Raises:
            BadArgument: the action was never observed.

        Example:
            >>> model = InducedActionModel()
            >>> for n in range(20):
            ...     _ = model.observe({"open": n % 2 == 0}, "enter", {}, n % 2 == 0)
            >>> [rule.key for rule in model.conditions("enter")]
            ['domain(open)']
            >>> model.strike("enter", "domain(open)").conditions("enter")
            []
        """
        with self._lock:
            if action not in self._rows:
                raise BadArgument(f"{action!r} was never observed")
            wishes = self._wishes.setdefault(action, Wishes())
            wishes.pinned.discard(key)
            wishes.struck.add(key)
            self._select({action})
        return self

    def candidates(self, action: str, most: int = 50) -> list[str]:
        """Return keys of conditions that every accepted call of an action kept, the cheapest to say first.

        Example:
            >>> model = InducedActionModel()
            >>> _ = model.observe({"open": True}, "enter", {}, True)
            >>> model.candidates("enter")
            ['domain(open)']
        """
        with self._lock:
            pool = self._pools.get(action)
            if pool is None:
                return []
            found = sorted((c.cost, c.key) for c, _ in pool.found)
        return [key for _, key in found[:most]]

    def flake_rate(self, action: str) -> tuple[float, float]:
        """Return the rate of refusals that no condition explains, among calls that violate none: mean and upper 95 %.

        The posterior of a Beta(0.3, 6) prior.

        Example:
            >>> InducedActionModel().flake_rate("go")[0] < 0.05
            True
        """
        judge = self._judges.get(action)
        odd, fine = (0, 0) if judge is None else (judge.known.leftover, judge.known.accepted)
        return (odd + 0.3) / (odd + fine + 6.3), float(betaincinv(odd + 0.3, fine + 6.0, 0.95))

    def summary(self, action: str) -> dict[str, Any] | None:
        """Return what was learned about one action as plain data, None when it was never observed.

        Returns:
            {"action", "accepted", "refused", "transitions", "conditions", "unexplained", "flake_rate"}.

        Example:
            >>> model = InducedActionModel()
            >>> _ = model.observe({"open": True}, "enter", {}, True)
            >>> model.summary("enter")["accepted"], model.summary("go")
            (1, None)
        """
        with self._lock:
            rows = self._rows.get(action)
            if rows is None:
                return None
            judge = self._judges.get(action)
            refused = sum(rows.refused)
            return {
                "action": action,
                "accepted": len(rows) - refused,
                "refused": refused,
                "transitions": len(rows),
                "conditions": [rule.plain() for rule in self.conditions(action)],
                "unexplained": judge.known.leftover if judge is not None else refused,
                "flake_rate": self.flake_rate(action)[0],
            }

    def schema(self) -> dict[str, dict[str, Any]]:
        """Return what the observed arguments and states are made of, as inferred: {path: its types and values}.

        Example:
            >>> model = InducedActionModel()
            >>> state = {"users": {"u1": {"age": 30}, "u2": {"age": 41}}}
            >>> for user in ("u1", "u2"):
            ...     _ = model.observe(state, "greet", {"user": user}, True)
            >>> model.schema()["greet"]["user"]["references"]
            ['users']
        """
        with self._lock:
            return {action: describe_schema(rows.terms, rows.columns) for action, rows in sorted(self._rows.items())}

    def explain(self, state: Any, action: str, args: Mapping[str, Any] | None = None) -> Explanation:
        """Say why a call is answered as it is: the violated conditions with their paths, and the values read.

        Example:
            >>> model = InducedActionModel()
            >>> for n in range(20):
            ...     _ = model.observe({"open": n % 2 == 0}, "enter", {}, n % 2 == 0)
            >>> print(model.settle().explain({"open": False}, "enter", {}))
            'enter' is refused: open is False, accepted only for True (10 cases)
            no accepted case shows that not (open in {True}) (chosen)
            nearest accepted case (10 times): open is True, not False
        """
        given = {} if args is None else args
        answer = self.predict(state, action, given)
        judge = self._judges.get(action)
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
                    seqs = self._evidence(action, [c for c, _, kind in found if kind == "chosen"])
        times, nearest, differs = self._nearest(action, read) if accepted else (0, (), ())
        return Explanation(
            action, answer.verdict, answer.reason, False, read, refusing, nearest, differs, times, seqs, ()
        )

    def _nearest(
        self, action: str, read: tuple[tuple[str, Any], ...]
    ) -> tuple[int, tuple[tuple[str, Any], ...], tuple[tuple[str, Any, Any], ...]]:
        """Return how often the accepted calls that differ least were made; what they read, and where they differ."""
        with self._lock:
            rows = self._rows[action]
            columns = {term.key: column for term, column in zip(rows.terms, rows.columns, strict=True)}
            known = [(name, reduced(value), columns[name]) for name, value in read if name in columns]
            counts: dict[Any, int] = {}
            for row, bad in enumerate(rows.refused):
                if not bad:
                    place = tuple(repr(column[row]) for _, _, column in known)
                    counts[place] = counts.get(place, 0) + 1
        here = tuple(repr(value) for _, value, _ in known)
        best = min(
            counts, key=lambda place: (sum(a != b for a, b in zip(place, here, strict=True)), -counts[place], place)
        )
        row = next(
            row
            for row, bad in enumerate(rows.refused)
            if not bad and tuple(repr(column[row]) for _, _, column in known) == best
        )
        nearest = tuple((name, column[row]) for name, _, column in known)
        differs = tuple((name, value, column[row]) for name, value, column in known if repr(value) != repr(column[row]))
        return counts[best], nearest, differs

    def _evidence(self, action: str, violated: list[Condition]) -> tuple[int, ...]:
        """Return the newest places in the journal of refusals that violate one of these conditions."""
        pool, rows = self._pools.get(action), self._rows[action]
        if pool is None:
            return ()
        found: set[int] = set()
        for condition in violated:
            at = pool.at.get(condition.key)
            if at is not None:
                for row in pool.frame.bad[pool.found[at][1]][-8:]:
                    seq = rows.seqs[row]
                    if seq is not None:
                        found.add(seq)
        return tuple(sorted(found)[-8:])

    def to_python(self) -> str:
        """Return the induced vocabulary as the source of a Python module: readable, and to be edited.

        Run, it defines `vocabulary`, a `Vocabulary` of one predicate for each selected condition.

        Example:
            >>> print(InducedActionModel().to_python().splitlines()[0])
            \"\"\"Conditions induced from observed calls: edit, and give `vocabulary` to ConservativeActionModel.\"\"\"
        """
        return as_python({action: self.conditions(action) for action in self.actions()})

    def to_json(self) -> dict[str, Any]:
        """Return the induced conditions as plain data.

        Example:
            >>> InducedActionModel().to_json()["actions"]
            {}
        """
        return as_json(GRAMMAR, {action: self.conditions(action) for action in self.actions()})

    def next_probe(self, candidates: Iterable[tuple[Any, str, Mapping[str, Any]]]) -> Question | None:
        """Return the candidate call whose outcome would tell the most, None when none would tell anything.

        Args:
            candidates: (state, action, args) of calls that could be made.

        Example:
            >>> model = InducedActionModel()
            >>> for n in range(8):
            ...     _ = model.observe({"open": n % 2 == 0, "day": n}, "enter", {}, n % 2 == 0)
            >>> question = model.next_probe([({"open": True, "day": 4}, "enter", {}), ({}, "leave", {})])
            >>> question.action
            'leave'
        """
        return best_question(self._judges, candidates)

    def __repr__(self) -> str:
        """Show what it holds."""
        count = sum(len(judge.known.chosen) for judge in self._judges.values())
        return (
            f"<{type(self).__name__}: {self.observations} observations, {len(self._rows)} actions, {count} conditions>"
        )


def _unread(state: Any, args: Any) -> Any:
    """Stand in for a vocabulary."""
    return UNREAD
