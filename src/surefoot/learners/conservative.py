"""What an environment accepts, refuses and changes, learned conservatively over a vocabulary of conditions."""

from __future__ import annotations

import copy
import hashlib
import importlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, log
from typing import TYPE_CHECKING, Any, Self

from surefoot import values
from surefoot.errors import BadArgument, MergeRefused
from surefoot.learners._answering import Answering, say_relation
from surefoot.learners._batching import Batched
from surefoot.learners._cases import NO_EFFECTS, Case, counted
from surefoot.learners._deciding import Deciding
from surefoot.learners._judging import difference, minimal, summary_of
from surefoot.learners._programs import Foresight, Told, told
from surefoot.learners.evidence import ActionEvidence
from surefoot.learners.recalling import Recalling, VocabularyChanged
from surefoot.learners.vocabulary import MISSING, Vocabulary
from surefoot.protocols import Prediction

if TYPE_CHECKING:
    from surefoot.journal import Journal

__all__ = ["CAUTIONS", "Changed", "ConservativeActionModel", "VocabularyChanged"]

CAUTIONS = ("balanced", "safe", "seed")
"""How carefully to accept what was not seen just so; see `ConservativeActionModel`.

Example:
    >>> CAUTIONS
    ('balanced', 'safe', 'seed')
"""

_FALSE_ALARM = log(1e-6)
_SHORTEST_RUN = 6
_FEWEST = 3
"""A run is compared with no fewer outcomes of the other kind than this."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A change of the world that was noticed: a rule was relaxed or tightened.

    Attributes:
        action: the action's name.
        kind: "relaxed" (what was refused is now accepted) or "tightened".
        at: the number of observations when it was noticed.
        since: the number of observations when it can have begun: the case that gave it away had its last outcome of
            the old kind just before. The world may have changed later, up to that case's next observation.
        reason: what gave it away, in words.

    Example:
        >>> model = ConservativeActionModel(Vocabulary({"open": lambda state, args: state["open"]}))
        >>> for n in range(60):
        ...     _ = model.observe({"open": False}, "enter", {}, accepted=n >= 30)
        >>> model.changes[0].kind, model.changes[0].since, model.predict({"open": False}, "enter", {}).verdict
        ('relaxed', 30, 'accept')
    """

    action: str
    kind: str
    at: int
    since: int
    reason: str


class ConservativeActionModel(Deciding, Answering, Recalling, Batched):
    """Learn, for each action, which calls are accepted, which are refused, and what they change.

    A *case* is the vector of a call's condition values. Each answer is one of three:

    - **accept**: a case like this was accepted; or every condition holds a value seen accepted (numbers: within the
    range
      seen accepted, with no refusals around) and nothing contradicts taking the conditions one by one;
    - **refuse**: what this case has that no accepted case has contains all that some refused case had; or it was itself
      refused; or a `hard` condition does not hold what it must;
    - **unknown**: anything else: it hands over to a search, or a person.

    Args:
        vocabulary: the conditions; without one, the model is a `surefoot.learners.induction.InducedActionModel`, which
            induces its own from raw states and arguments.
        severity: the harm of a refused call in your unit, a finite number >= 0, or {action: number}; risk is the
            probability of refusal times this.
        caution: what else an accept needs. "balanced": no pair of values that independence would have shown together by
            now was never seen together (expected at least 4.6 times: 1 % by chance), no relation (equal, at most,
            member) that all accepted cases kept is broken, and no more refusals are unexplained than the flakes of
            accepted cases would make. "safe": every pair of values was seen together in an accepted case: never wrong
            on noise-free data when the true rule is a conjunction of constraints on at most two labels at a time and
            of one interval per quantity. "seed": the values one by one, and nothing else.
        journal: record each observation here, with its raw state and arguments, so that it can be replayed and read
            again under another vocabulary.
        store: anything with a `journal`; the same as `journal=store.journal`.
        stream: the model's name inside the journal.

    Noise: of cases accepted at least once, refusals are flakes; a case with both outcomes is answered by the exact sign
    test (up to 50 observations) or Hoeffding's bound at 95 %, and its `rate` has Hoeffding's bounds. Drift: a run of at
    least 6 outcomes that the case's own past makes less likely than one in a million (Bonferroni over all observations)
    is taken as a change: older evidence to the contrary is dropped, and `changes` says so. Up to such a change the
    observations may come in any order.

    Effects: what `surefoot.learners.effects` promises of predicted next states.

    Source: minimal refusal signatures over allowed values; safe action models, Stern and Juba 2017, sec. 3, for pairs
        of labels instead of literals; Hoeffding 1963, theorem 2.

    Cost: observing and predicting take a few µs, whatever was observed before; memory grows with distinct cases.

    Example:
        >>> vocabulary = Vocabulary({"status": lambda state, args: state["orders"][args["order"]]})
        >>> model = ConservativeActionModel(vocabulary)
        >>> state = {"orders": {"A1": "open", "A2": "sent", "A3": "open", "A4": "sent"}}
        >>> _ = model.observe(state, "cancel", {"order": "A1"}, accepted=True, effect={"status": "cancelled"})
        >>> _ = model.observe(state, "cancel", {"order": "A2"}, accepted=False)
        >>> [model.predict(state, "cancel", {"order": order}).verdict for order in ("A3", "A4", "A5")]
        ['accept', 'refuse', 'unknown']
        >>> model.predict(state, "cancel", {"order": "A4"}).reason
        "status is 'sent', never accepted (1 refusal)"
    """

    _foretells = True
    """Whether `observe` says of what it returns what the call was expected to change, too."""

    def __new__(cls, vocabulary: Vocabulary | None = None, *_: Any, **__: Any) -> Self:
        """Make the model that induces its own conditions when there is no vocabulary."""
        if vocabulary is None and cls is ConservativeActionModel:
            induction = importlib.import_module("surefoot.learners.induction")  # a subclass of this one, with SciPy
            made: Self = object.__new__(induction.InducedActionModel)
            return made
        return object.__new__(cls)

    def __init__(
        self,
        vocabulary: Vocabulary | None = None,
        severity: float | Mapping[str, float] = 1.0,
        store: Any = None,
        *,
        caution: str = "balanced",
        journal: Journal | None = None,
        stream: str = "actions",
    ) -> None:
        """Know nothing yet; see the class."""
        if not isinstance(vocabulary, Vocabulary):
            raise BadArgument(f"vocabulary must be a Vocabulary, got {vocabulary!r}")
        if caution not in CAUTIONS:
            raise BadArgument(f"caution must be one of {CAUTIONS}, got {caution!r}")
        for name, number in severity.items() if isinstance(severity, Mapping) else (("severity", severity),):
            if (
                isinstance(number, bool)
                or not isinstance(number, int | float)
                or not (isfinite(number) and number >= 0)
            ):
                raise BadArgument(f"severity must be a finite number >= 0, got {number!r} for {name!r}")
        if journal is not None and store is not None:
            raise BadArgument("give a journal or a store that has one, not both")
        self.vocabulary = vocabulary
        self.caution = caution
        self.severity: float | dict[str, float] = dict(severity) if isinstance(severity, Mapping) else severity
        self.changes: tuple[Changed, ...] = ()
        self.surprises = 0
        self.observations = 0
        self._journal: Journal | None = journal if store is None else store.journal
        self._stream = stream
        self._actions: dict[str, ActionEvidence] = {}
        self._required: dict[str, list[tuple[int, Any]]] = {}
        self._foresight = Foresight()
        self._lock = threading.RLock()

    # -- predicting ---------------------------------------------------------------------------------------------------

    def predict(self, state: Any, action: str, args: Mapping[str, Any] | None = None) -> Prediction:
        """Say what the environment will do with a call; changes nothing.

        Raises:
            BrokenPredicate: a predicate raised something that does not mean "cannot be read here".

        Example:
            >>> model = ConservativeActionModel(Vocabulary({"open": lambda state, args: state["open"]}))
            >>> model.predict({"open": True}, "enter", {}).reason
            "'enter' was never observed"
        """
        given = {} if args is None else args
        raw = self.vocabulary.raw(state, action, given)
        with self._lock:
            evidence = self._actions.get(action)
            known = None if evidence is None else evidence.recall(raw)
            if type(known) is tuple:
                assert evidence is not None  # it gave the codes
                found, _ = self._judge_labels(action, evidence, known)
                if found is not None:
                    return found
            case = known if type(known) is Case else None
            if case is not None:
                key = features = case.features
            else:
                features, text = self.vocabulary.checked(action, raw)
                if evidence is None:
                    return self._judge(action, None, features, None)
                key = evidence.key_of(features, text)
                case = evidence.cases.get(key)
            answer = self._judge(action, evidence, features, case)
            if self._foresight.known:
                assert evidence is not None  # else it was returned
                return self._foresight.foresee(answer, evidence, key, features, state, given, self.caution)
            return answer

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

        A fault (a time-out, a lost connection) is no observation: do not report it.

        Args:
            state: the state before the call; its predicates are read, and it is recorded when there is a journal.
            action: the action's name.
            args: its arguments.
            accepted: whether the environment took it.
            effect: what it changed, any plain value, as the environment reports it.
            reason: the environment's words for a refusal; recorded, never taken as truth.
            next_state: the state after it; what it changes is learned from both states, see `effects`. The cost of that
                is linear in the size of the state.

        Raises:
            BadArgument: `accepted` is not a bool, or `action` not a name; or a refused call led to another state.
            ValueRejected: the effect (or, with a journal or a next state, the state or an argument) is not plain.
                Nothing was learned.
            BrokenPredicate: a predicate is broken. Nothing was learned.

        Cost: a few µs, whatever was observed before.

        Example:
            >>> model = ConservativeActionModel(Vocabulary({"open": lambda state, args: state["open"]}))
            >>> before = model.observe({"open": True}, "enter", {}, True)
            >>> before.verdict, model.predict({"open": True}, "enter", {}).verdict
            ('unknown', 'accept')
        """
        if type(accepted) is not bool:
            raise BadArgument(f"accepted must be True or False, got {accepted!r}; a fault is no observation")
        if type(action) is not str or not action:
            raise BadArgument(f"action must be a non-empty str, got {action!r}; split it with call_of(action)")
        given = {} if args is None else args
        raw = self.vocabulary.raw(state, action, given)
        encoded = more = seq = None
        if effect is not None or next_state is not None:
            encoded = None if effect is None else values.encode(effect)
            more = told(state, given, accepted, encoded, next_state)
        with self._lock:
            evidence = self._actions.get(action)
            known = None if evidence is None else evidence.recall(raw)
            if known is not None and more is None and self._journal is None and not self._foresight.known:
                assert evidence is not None  # it knows it
                before = self._meet(action, evidence, raw, known, accepted)
                if before is not None:
                    return before
            case = known if type(known) is Case else None
            features, text = self.vocabulary.checked(action, raw) if case is None else (case.features, True)
            if self._journal is not None:
                seq = self._record(state, action, given, accepted, encoded, reason, next_state)
            return self._learn(action, features, text, case, accepted, encoded, seq, state, given, more)

    def _meet(
        self,
        action: str,
        evidence: ActionEvidence,
        raw: tuple[Any, ...],
        known: Case | tuple[int, ...],
        accepted: bool,
    ) -> Prediction | None:
        """Count an observation that `recall` knows, of nothing but an outcome; None: not so soon."""
        at = self.observations
        if type(known) is tuple:
            before, alone = self._judge_labels(action, evidence, known)
            if before is None or (accepted and alone >= 0):
                return None
            evidence.take(raw, known, alone, accepted, at)
            self.observations = at + 1
        else:
            assert type(known) is Case  # the other kind
            before = self._judge(action, evidence, known.features, known)
            evidence.count(known, accepted, None, None, at)
            self.observations = at + 1
            if known.run >= _SHORTEST_RUN and (known.refused if known.last else known.accepted) >= _FEWEST:
                self._notice_change(action, evidence, known)
        if before.verdict == ("refuse" if accepted else "accept"):
            self.surprises += 1
        return before

    def _learn(
        self,
        action: str,
        features: tuple[Any, ...],
        text: bool,
        case: Case | None,
        accepted: bool,
        effect: bytes | None,
        seq: int | None,
        state: Any,
        args: Mapping[str, Any],
        more: Told | None,
    ) -> Prediction:
        """Count one observation; `case` is what was observed of these texts, None where that is not known yet."""
        evidence = self._actions.get(action)
        if evidence is None:
            evidence = self._actions[action] = ActionEvidence(self.vocabulary.of(action))
        key: Any = features
        if case is None:
            key = evidence.key_of(features, text)
            case = evidence.cases.get(key)
        before = self._judge(action, evidence, features, case)
        if self._foresight.known and self._foretells:
            before = self._foresight.foresee(before, evidence, key, features, state, args, self.caution)
        if more is not None:
            self._foresight.add(action, key, features, more)
        if case is None:
            case = evidence.start(key, features)
        at = self.observations
        evidence.count(case, accepted, effect, seq, at)
        self.observations = at + 1
        if before.verdict == ("refuse" if accepted else "accept"):
            self.surprises += 1
        if case.run >= _SHORTEST_RUN and (case.refused if case.last else case.accepted) >= _FEWEST:
            self._notice_change(action, evidence, case)
        return before

    def _notice_change(self, action: str, evidence: ActionEvidence, case: Case) -> None:
        """Drop what the world has outgrown, when a case's last run is not like its past."""
        same, other = (case.accepted, case.refused) if case.last else (case.refused, case.accepted)
        past = same + other - case.run
        likely = (same - case.run + 1) / (past + 2)
        if not same or case.run * (1.0 - likely) < 13.0 * likely:  # -log(x) is at most (1 - x) / x
            return
        if case.run * log(likely) > _FALSE_ALARM - log(self.observations):
            return
        since = self._begin_of_run(case)
        kind = "relaxed" if case.last else "tightened"
        for key, old in list(evidence.cases.items()):
            if case.last and old.refused_at <= since:
                old.refused = 0
            elif not case.last and old.accepted_at <= since:
                old.accepted = 0
                old.effects = NO_EFFECTS
            if not old.accepted and not old.refused:
                del evidence.cases[key]
        evidence.effects = NO_EFFECTS
        for old in evidence.cases.values():
            for effect, times in old.effects.items():
                evidence.effects = counted(evidence.effects, effect, times)
        evidence.conclude()
        self._foresight.keep(action, {key for key, old in evidence.cases.items() if old.accepted})
        word = "accepted" if case.last else "refused"
        reason = f"{case.run} calls in a row were {word} where {other} of {past} before were not"
        self.changes = (*self.changes, Changed(action, kind, self.observations, since + 1, reason))

    @staticmethod
    def _begin_of_run(case: Case) -> int:
        """Return the place of the last outcome before a case's last run."""
        return case.refused_at if case.last else case.accepted_at

    def _fingerprint_of_vocabulary(self) -> str:
        return self.vocabulary.fingerprint()

    # -- many histories, one model ------------------------------------------------------------------------------------

    def merge(self, other: ConservativeActionModel) -> Self:
        """Take over what `other` observed: afterwards this model knows what it would have, had it observed both.

        The histories must be of different observations; counts add up.

        Raises:
            MergeRefused: the vocabularies differ; the message says where.

        Cost: linear in the distinct cases of both.

        Example:
            >>> vocabulary = Vocabulary({"open": lambda state, args: state["open"]})
            >>> a, b = ConservativeActionModel(vocabulary), ConservativeActionModel(vocabulary)
            >>> _ = a.observe({"open": True}, "enter", {}, True), b.observe({"open": False}, "enter", {}, False)
            >>> a.merge(b).predict({"open": False}, "enter", {}).verdict
            'refuse'
        """
        differs = difference(self.vocabulary.describe(), other.vocabulary.describe())
        if differs:
            raise MergeRefused(f"the models read different conditions: {differs}")
        with other._lock:
            theirs = [
                (action, key, case.features, case.accepted, case.refused, dict(case.effects), case.seqs)
                for action, evidence in other._actions.items()
                for key, case in evidence.cases.items()
            ]
            count, changes, quantities = other.observations, other.changes, other._quantities()
            foresight = copy.deepcopy(other._foresight)
        with self._lock:
            for action, key, features, accepted, refused, effects, _ in theirs:
                evidence = self._actions.setdefault(action, ActionEvidence(self.vocabulary.of(action)))
                case = evidence.cases.setdefault(key, Case(features))
                case.accepted += accepted
                case.refused += refused
                for effect, times in effects.items():
                    case.effects = counted(case.effects, effect, times)
                    evidence.effects = counted(evidence.effects, effect, times)
            for action, found in quantities.items():
                self._actions[action].quantities |= found
            for evidence in self._actions.values():
                evidence.recount_quantities()
                evidence.conclude()
            self._foresight.merge(foresight)
            self.observations += count
            self.changes = (*self.changes, *changes)
        return self

    def _quantities(self) -> dict[str, set[int]]:
        return {action: set(evidence.quantities) for action, evidence in self._actions.items()}

    def fingerprint(self) -> str:
        """Return a digest of the vocabulary and of every case with its counts; the order of observations is not in it.

        Example:
            >>> model = ConservativeActionModel(Vocabulary({"open": lambda state, args: state["open"]}))
            >>> before = model.fingerprint()
            >>> _ = model.observe({"open": True}, "enter", {}, True)
            >>> before == model.fingerprint()
            False
        """
        with self._lock:
            rows = sorted(
                values.encode(
                    [
                        action,
                        [None if f is MISSING else [f] for f in case.features],
                        case.accepted,
                        case.refused,
                        sorted([effect.decode(), times] for effect, times in case.effects.items()),
                    ]
                )
                for action, evidence in self._actions.items()
                for case in evidence.cases.values()
            )
        digest = hashlib.sha256(self._fingerprint_of_vocabulary().encode())
        for row in (*rows, *self._foresight.canonical()):
            digest.update(row)
        return digest.hexdigest()

    # -- reading ------------------------------------------------------------------------------------------------------

    def actions(self) -> list[str]:
        """Return the names of the actions observed.

        Example:
            >>> ConservativeActionModel(Vocabulary({"a": len})).actions()
            []
        """
        with self._lock:
            return sorted(self._actions)

    def summary(self, action: str) -> dict[str, Any] | None:
        """Return what was learned about one action as plain data, None when it was never observed.

        Returns:
            {"action", "accepted", "refused", "transitions", "cases", "flaked", "allowed", "ranges", "relations",
            "signatures", "unexplained", "effects"}. The signatures are the minimal ones: none holds another; each with
            the number of refusals in which all of it was violated.

        Example:
            >>> model = ConservativeActionModel(Vocabulary({"open": lambda state, args: state["open"]}))
            >>> _ = model.observe({"open": True}, "enter", {}, True), model.observe({"open": False}, "enter", {}, False)
            >>> model.summary("enter")["allowed"], model.summary("enter")["signatures"]
            ({'open': [True]}, [['open is False', 1]])
        """
        with self._lock:
            evidence = self._actions.get(action)
            if evidence is None:
                return None
            names = self.vocabulary.of(action)
            allowed: dict[str, list[Any]] = {name: [] for name in names}
            for (at, value), count in zip(evidence.meaning, evidence.counts, strict=True):
                if count:
                    allowed[names[at]].append(None if value is MISSING else value)
            return {
                "action": action,
                "accepted": evidence.accepted,
                "refused": evidence.refused,
                "transitions": evidence.accepted + evidence.refused,
                "cases": len(evidence.cases),
                "flaked": evidence.flaked,
                "allowed": {name: sorted(found, key=values.order) for name, found in allowed.items()},
                "ranges": {names[at]: [n.low, n.high] for at, n in enumerate(evidence.numbers) if n},
                "relations": sorted(say_relation(r, names) for r in evidence.standing),
                "signatures": sorted(
                    [self._words(action, evidence, signature), times]
                    for signature, times in minimal(evidence.signatures).items()
                ),
                "unexplained": evidence.unexplained(),
                "effects": summary_of(evidence.effects),
            }

    def __repr__(self) -> str:
        """Show what it holds."""
        cases = sum(len(evidence.cases) for evidence in self._actions.values())
        return f"<{type(self).__name__}: {self.observations} observations, {len(self._actions)} actions, {cases} cases>"
