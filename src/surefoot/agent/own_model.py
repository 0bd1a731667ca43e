"""The action model that an agent's knowledge keeps, over a vocabulary or the exact state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from surefoot import values
from surefoot.learners._judging import always
from surefoot.learners._programs import told
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.evidence import ActionEvidence
from surefoot.learners.vocabulary import Vocabulary
from surefoot.protocols import Prediction

__all__ = ["OwnModel", "exact_vocabulary"]


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
                risk = severity * (evidence.flaked + 1) / (evidence.accepted + evidence.flaked + 2)
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
