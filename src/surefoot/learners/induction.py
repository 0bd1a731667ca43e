"""An action model without a vocabulary: it induces its conditions from raw states and arguments."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from surefoot import values
from surefoot.errors import BadArgument, MergeRefused
from surefoot.learners._cases import Case
from surefoot.learners._induction.asking import Question
from surefoot.learners._induction.exporting import Rule
from surefoot.learners._induction.judging import Answer, Judge
from surefoot.learners._induction.learning import Learner
from surefoot.learners._induction.reading import field, holds, read
from surefoot.learners._induction.snapshots import slice_of
from surefoot.learners._induction.speaking import GRAMMAR, Spoken
from surefoot.learners._programs import Told, told
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.evidence import ActionEvidence
from surefoot.learners.vocabulary import UNREAD, Vocabulary
from surefoot.protocols import Prediction

if TYPE_CHECKING:
    from surefoot.journal import Journal
    from surefoot.learners.batches import Predictions

__all__ = ["InducedActionModel", "Question", "Rule", "field", "holds", "read"]


class InducedActionModel(Spoken):
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

    Order: after `settle`, the model is the same for every order of the same observations, up to 4,096 accepted and
    4,096 refused calls of an action. Beyond, those of the lowest hashes are kept, the same in every order, and up to
    512 that went against what was said of them, which are not; all are counted.

    Cost: observing takes the time to read some 200 terms (below 1 ms). When the calls of an action have grown by a
    third and not all were foretold (doubled when they were; by 6 % after a wrong answer) its
    conditions are selected again, within that call of `observe`: tenths of a second. A prediction is made with what
    was selected last, and never selects. Memory: what of the states the kept calls can lead to, each part once, and
    their terms' values.

    Example:
        >>> from surefoot import ConservativeActionModel
        >>> model = ConservativeActionModel()
        >>> state = {"orders": {f"A{n}": {"status": ("open", "sent")[n % 2]} for n in range(90)}}
        >>> for n in range(60):
        ...     _ = model.observe(state, "cancel", {"order": f"A{n}"}, accepted=n % 2 == 0)
        >>> [model.predict(state, "cancel", {"order": order}).verdict for order in ("A88", "A89")]
        ['accept', 'refuse']
        >>> model.predict(state, "cancel", {"order": "A39"}).reason
        "orders[order].status is 'sent', accepted only for 'open' (19 cases)"
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
        self._learner = Learner(safe=caution == "safe")

    @property
    def refuted(self) -> tuple[str, ...]:
        """The pinned conditions that an accepted call has refuted, as "action: key".

        Example:
            >>> InducedActionModel().refuted
            ()
        """
        return self._learner.refuted

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
        severity = self.severity.get(action, 1.0) if isinstance(self.severity, dict) else self.severity
        found = self._learner.answer(state, action, args)
        if found is None:
            known = action in self._learner.rows
            reason = "too few calls were observed" if known else f"{action!r} was never observed"
            return Prediction("unknown", 0.5 * severity, 0, reason, False, None, action)
        return self._said(action, *found, severity)

    def _features(self, state: Any, action: str, args: Mapping[str, Any]) -> tuple[Any, ...]:
        return ()  # all calls of an action are one case, whatever the conditions

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
        from surefoot.learners import _batch  # with NumPy, which single calls do without

        given = [args or {}] * len(states) if args is None or isinstance(args, Mapping) else args
        if len(given) != len(states):
            raise BadArgument(f"there must be arguments for each of {len(states)} states, got {len(given)}")
        answers = [self.predict(state, action, one) for state, one in zip(states, given, strict=True)]
        return _batch.gathered(answers)

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
            found = self._learner.shelf.put(kept, given)
            before = self.predict(kept, action, given)
            seq = None
            if self._journal is not None:
                seq = self._record(state, action, given, accepted, encoded, reason, next_state)
            odd = before.verdict == ("refuse" if accepted else "accept")
            self._learner.take(found, kept, action, given, accepted, effect, reason, seq, odd=odd)
            self._count(action, accepted, encoded, more, seq)
            self.surprises += odd
            self._learner.weigh(action, before.verdict, accepted, kept, given)
        return before

    def settle(self) -> Self:
        """Select conditions again from all that was observed; afterwards the order of observations does not matter.

        Cost: seconds at 10,000 observations.

        Example:
            >>> InducedActionModel().settle().actions()
            []
        """
        with self._lock:
            self._learner.settle()
        return self

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
            found = model._learner.shelf.put(kept, args)
            model._learner.take(found, kept, action, args, accepted, effect, data.get("reason"), entry.seq)
            encoded = None if effect is None else values.encode(effect)
            after = data.get("next_state")
            none = encoded is None and after is None
            more = None if none else told(state, args, accepted, encoded, after)
            model._count(action, accepted, encoded, more, entry.seq)
        model._journal = journal
        return model.settle()

    def _count(self, action: str, accepted: bool, effect: bytes | None, more: Told | None, seq: int | None) -> None:
        """Count an outcome, and keep what the call led to."""
        evidence = self._actions.setdefault(action, ActionEvidence(()))
        key = evidence.key_of((), True)
        if more is not None:
            self._foresight.add(action, key, (), more)
        case = evidence.cases.get(key) or evidence.start(key, ())
        evidence.count(case, accepted, effect, seq, self.observations)
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
        with other._lock:
            theirs = other._learner.everything()
        with self._lock:
            self._learner.absorb(theirs)
            for action, evidence in other._actions.items():
                mine = self._actions.setdefault(action, ActionEvidence(()))
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
            lines = self._learner.digests()
            wishes = self._learner.wished()
            effects = self._foresight.canonical()
        digest = hashlib.sha256(GRAMMAR.encode())
        for line in (*lines, repr(wishes).encode(), *effects):
            digest.update(line)
        return digest.hexdigest()

    def __repr__(self) -> str:
        """Show what it holds."""
        count = sum(len(judge.known.chosen) for judge in self._learner.judges.values())
        actions = len(self._learner.rows)
        return f"<{type(self).__name__}: {self.observations} observations, {actions} actions, {count} conditions>"


def _unread(state: Any, args: Any) -> Any:
    """Stand in for a vocabulary."""
    return UNREAD
