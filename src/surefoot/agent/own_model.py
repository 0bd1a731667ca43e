"""The action models that an agent's knowledge keeps: over a vocabulary, the exact state, or induced conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from surefoot import values
from surefoot.journal import Journal
from surefoot.learners._judging import always
from surefoot.learners._programs import told
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.evidence import ActionEvidence
from surefoot.learners.induction import InducedActionModel
from surefoot.learners.vocabulary import Vocabulary
from surefoot.protocols import Prediction

__all__ = ["GrownModel", "OwnModel", "exact_vocabulary"]


def exact_vocabulary() -> Vocabulary:
    """Return the vocabulary of an agent that was given none: the exact state, with the exact arguments.

    Nothing carries over to a state that is another one; that is what a vocabulary of your own is for.

    Example:
        >>> exact_vocabulary().features("hall", "go", {"to": "garden"}), exact_vocabulary().features("hall", "wait", {})
        (('["hall",{"to":"garden"}]',), ('"hall"',))
    """
    return Vocabulary({"exactly": _exactly})


def _exactly(state: Any, args: Mapping[str, Any]) -> str:
    return values.encode((state, dict(args)) if args else state).decode()


class OwnModel(ConservativeActionModel):
    """The action model of a knowledge: its vocabulary is read once, since it is not to change under it.

    What it adds is for calls without arguments over the exact state, which is given encoded: most of an agent's steps.

    Example:
        >>> model = OwnModel(exact_vocabulary())
        >>> _ = model.observe("hall", "go", {}, True)
        >>> model.predict_exactly(b'"hall"', "go")[0].verdict, model.unseen(b'"yard"', "go")
        ('accept', True)
    """

    _digest: str | None = None
    _alone = True
    _foretells = False  # nobody reads it

    def _fingerprint_of_vocabulary(self) -> str:
        if self._digest is None:
            self._digest = super()._fingerprint_of_vocabulary()
        return self._digest

    def _hidden(self, evidence: ActionEvidence, accepted: int, refused: int) -> bool:
        self._alone = False  # what was observed of other actions is looked at
        return super()._hidden(evidence, accepted, refused)

    def _all_hidden(self, evidence: ActionEvidence) -> bool:
        self._alone = False
        return super()._all_hidden(evidence)

    @property
    def reads(self) -> str:
        """Return what the observations of this model are marked with in a journal: what it reads states with."""
        return self._fingerprint_of_vocabulary()

    def stamp(self, action: str) -> Any:
        """Return what changes with each observation of an action."""
        evidence = self._actions.get(action)
        return None if evidence is None else (evidence, evidence.accepted, evidence.refused, len(self.changes))

    def unseen(self, key: bytes, action: str) -> bool:
        """Say whether an action was accepted somewhere, and nothing was observed of it in an (encoded) state."""
        evidence = self._actions.get(action)
        return evidence is not None and evidence.accepted > 0 and (key.decode(),) not in evidence.cases

    def predict_exactly(self, key: bytes, action: str) -> tuple[Prediction, bool]:
        """Return what `predict` says of a call without arguments, over the exact state, which is given encoded.

        Also whether it rests on what was observed of this action alone. Effects are left out.
        """
        with self._lock:
            features = (key.decode(),)
            evidence = self._actions.get(action)
            case = None if evidence is None else evidence.find(features, True)
            if evidence is not None and case is not None and case.accepted and not case.refused:  # as `_judge` says it
                severity = self.severity if type(self.severity) is float else self._severity_of(action)
                risk = severity * (evidence.flaked + 1) / (evidence.settled + evidence.flaked + 2)
                reason, rate = always(case.accepted)
                times, seqs = case.accepted, case.seqs
                return Prediction("accept", risk, times, reason, False, None, action, None, 1.0, rate, seqs), True
            self._alone = True
            return self._judge(action, evidence, features, case), self._alone

    def observing(
        self, state: Any, key: bytes, action: str, accepted: bool, effect: Any
    ) -> tuple[tuple[str, str, bytes], Callable[[int], object]]:
        """Return what `observe` would record of a call without arguments over the exact state, and what takes it in.

        Raises:
            ValueRejected: the effect is no plain value.
        """
        encoded = more = None
        if effect is not None:
            encoded = values.encode(effect)
            more = told(state, {}, accepted, encoded, None)
        data = self._written(state, action, {}, accepted, encoded, None, None)

        def take(seq: int) -> None:
            with self._lock:
                features = (key.decode(),)
                evidence = self._actions.get(action)
                case = None if evidence is None else evidence.find(features, True)
                self._learn(action, features, True, case, accepted, encoded, seq, state, {}, more)

        return (self._stream, "observe", data), take

    def _severity_of(self, action: str) -> float:
        return self.severity.get(action, 1.0) if isinstance(self.severity, dict) else self.severity


class GrownModel(InducedActionModel):
    """The action model of a knowledge that induces its conditions: what it predicts depends on the observations alone.

    An `InducedActionModel` that is read from a journal selects its conditions once, at the end. This one is grown
    observation by observation, wherever it is read, so that each decision can be made again as it was made. And where
    the conditions say nothing of a call, it says what came of this very call in this very state.

    Example:
        >>> from surefoot import open_journal
        >>> journal = open_journal()
        >>> model = GrownModel.of(journal)
        >>> for n in range(20):
        ...     _ = model.observe({"open": n % 2 == 0}, "enter", {}, n % 2 == 0)
        >>> model.predict({"open": False}, "enter", {}).verdict, len(journal)
        ('refuse', 20)
        >>> GrownModel.of(journal).fingerprint() == model.fingerprint()
        True
    """

    def __init__(self, **options: Any) -> None:
        """Know nothing yet."""
        super().__init__(**options)
        told = {name: value for name, value in options.items() if name in ("severity", "caution")}
        self._exactly = OwnModel(exact_vocabulary(), **told)

    def predict(self, state: Any, action: str, args: Mapping[str, Any] | None = None) -> Prediction:
        """Say what the environment will do with a call; changes nothing."""
        said = super().predict(state, action, args)
        if said.verdict != "unknown" or said.hard:
            return said
        seen = self._exactly.predict(state, action, args)
        return said if seen.verdict == "unknown" else seen

    def observe(
        self, state: Any, action: str, args: Mapping[str, Any] | None, accepted: bool, effect: Any = None, **told: Any
    ) -> Prediction:
        """Take in what the environment did with a call, and return the prediction made before it."""
        before = self.predict(state, action, args)
        super().observe(state, action, args, accepted, effect, **told)
        self._exactly.observe(state, action, args, accepted)
        return before

    @classmethod
    def of(cls, journal: Journal | None, *, stream: str = "actions", **options: Any) -> GrownModel:
        """Return one with what a journal holds, which keeps its records there; None: with nothing, kept nowhere.

        Cost: that of observing it all again: the selections for each action, whose sizes grow by a third each time.
        """
        model = cls(stream=stream, **options)
        if journal is None:
            return model
        for entry in journal.entries(kind="observe", stream=stream):
            data = entry.data
            told = {name: data.get(name) for name in ("effect", "reason", "next_state")}
            model.observe(data["state"], data["action"], data["args"], data["accepted"], **told)
        model._journal = journal
        return model

    @property
    def reads(self) -> str:
        """Return what the observations of this model are marked with in a journal: what it reads states with."""
        return self._fingerprint_of_vocabulary()
