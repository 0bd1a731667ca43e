"""How a vector of condition values is answered, from what was observed of one action."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log, sqrt
from typing import TYPE_CHECKING, Any

from surefoot.learners._cases import Case, Item, Signature
from surefoot.learners._judging import (
    BOUND,
    always,
    effects_of,
    exceeds,
    never,
    one_by_one,
    refusals,
    say,
    unexplained,
    weighed,
)
from surefoot.learners._refusals import NOTHING
from surefoot.learners.evidence import ANSWERS, ActionEvidence
from surefoot.learners.vocabulary import Vocabulary
from surefoot.protocols import Prediction

if TYPE_CHECKING:
    from surefoot.learners._programs import Foresight

__all__: list[str] = []  # the parts of an action model; nothing here is public

_Unknown = Callable[..., Prediction]
_UNSEEN = log(100)  # a pair expected so often and never seen: 1 % under independence (Poisson)
_ONE_IN_1000 = log(1000)


class Deciding:
    """The rule by which a model answers; a part of `ConservativeActionModel`."""

    vocabulary: Vocabulary
    caution: str
    severity: float | dict[str, float]
    _actions: dict[str, ActionEvidence]
    _required: dict[str, list[tuple[int, Any]]]
    _foresight: Foresight

    def _judge(
        self, action: str, evidence: ActionEvidence | None, features: tuple[Any, ...], case: Case | None
    ) -> Prediction:
        """Answer for a vector of condition values; `case` is what was observed of it."""
        severity = self.severity
        if isinstance(severity, dict):
            severity = severity.get(action, 1.0)
        if self.vocabulary.required:
            broken = self._broken(action, features)
            if broken is not None:
                return Prediction("refuse", severity, 0, broken, True, None, action)
        if evidence is None:
            return Prediction("unknown", 0.5 * severity, 0, f"{action!r} was never observed", False, None, action)
        if case is not None:
            times = case.accepted
            if times and case.refused:
                return self._weigh(action, evidence, case, severity)
            if times:
                risk = severity * (evidence.flaked + 1) / (evidence.accepted + evidence.flaked + 2)
                effects, confidence = effects_of(case.effects, times) if case.effects else (None, 1.0)
                reason, rate = always(times)
                return Prediction(
                    "accept", risk, times, reason, False, effects, action, None, confidence, rate, case.seqs
                )
            if not self._may_be_noise(evidence, case):
                return self._refuse_seen(action, evidence, case, severity)
        return self._judge_unseen(action, evidence, features, case, severity)

    def _broken(self, action: str, features: tuple[Any, ...]) -> str | None:
        """Return in words which hard condition does not hold what it must, None when all do."""
        required = self._required.get(action)
        if required is None:
            names = self.vocabulary.of(action)
            required = [(names.index(n), v) for n, v in self.vocabulary.required.items() if n in names]
            self._required[action] = required
        for at, value in required:
            held = features[at]
            if type(held) is not type(value) or held != value:
                return f"{self.vocabulary.of(action)[at]} is {held!r} and must be {value!r}"
        return None

    def _weigh(self, action: str, evidence: ActionEvidence, case: Case, severity: float) -> Prediction:
        """Answer for a case that was accepted and refused."""
        accepted, refused = case.accepted, case.refused
        verdict, reason, rate = weighed(accepted, refused)
        if verdict == "accept":
            if self.caution != "balanced":
                verdict = "unknown"
            elif self._hidden(evidence, accepted, refused) or (len(self._actions) > 1 and self._all_hidden(evidence)):
                verdict, reason = "unknown", f"{reason}, more refusals than this world's noise: something else decides"
        times = accepted + refused
        effects, confidence = None, 0.0
        if verdict == "accept":
            effects, confidence = effects_of(case.effects, accepted) if case.effects else (None, 1.0)
        risk = severity * (refused + 1) / (times + 2)
        return Prediction(verdict, risk, times, reason, False, effects, action, None, confidence, rate, case.seqs)

    def _all_hidden(self, evidence: ActionEvidence) -> bool:
        """Say whether all refusals of an action that nothing explains are too many to be noise."""
        if len(self._actions) == 1:
            return False  # there is nothing to compare them with
        return self._hidden(evidence, evidence.accepted, evidence.flaked + evidence.unexplained())

    def _hidden(self, evidence: ActionEvidence, accepted: int, refused: int) -> bool:
        """Say whether refusals are too many to be noise, which is the same everywhere: elsewhere there is less of it.

        Tested against what other actions' accepted cases show, the least refused ones first, one by one more of them
        (likelihood ratio, 0.1 % for all tests together), and against the other cases of the same action.
        """
        settled, flaked = evidence.accepted - accepted, evidence.flaked - refused
        if len(self._actions) == 1:
            if refused * settled <= flaked * accepted:  # here there is less of it
                return False
            return settled > 0 and exceeds(accepted, refused, settled, flaked if flaked > 0 else 0, _ONE_IN_1000)
        rest = settled if settled > 0 else 0, flaked if flaked > 0 else 0
        others = sorted(
            (other.flaked / other.accepted, other.accepted, other.flaked)
            for other in self._actions.values()
            if other.accepted and other is not evidence
        )
        limit = _ONE_IN_1000 + log(len(others) + 1)
        if exceeds(accepted, refused, *rest, limit):
            return True
        settled = flaked = 0
        for rate, more, odd in others:
            if rate * accepted >= refused:
                return False
            settled, flaked = settled + more, flaked + odd
            if exceeds(accepted, refused, settled, flaked, limit):
                return True
        return False

    def _may_be_noise(self, evidence: ActionEvidence, case: Case) -> bool:
        """Say whether a case's few refusals are what flakes of an accepted case look like."""
        if case.violations or self.caution != "balanced" or not evidence.flaked:
            return False
        flake = evidence.flaked / (evidence.accepted + evidence.flaked)
        return bool(flake**case.refused > 1e-3)

    def _refuse_seen(self, action: str, evidence: ActionEvidence, case: Case, severity: float) -> Prediction:
        """Answer for a case that was refused each time."""
        times, violations = case.refused, case.violations
        if not case.seqs:  # then it is the same for all cases that were refused so often, for the same reason
            known = evidence.answers.get((violations, times, severity))
            if known is not None:
                return known
        hard = bool(violations and self.vocabulary.hard and all(self._is_hard(action, item) for item in violations))
        words = evidence.said.get(violations) if violations else ""
        if words is None:
            words = self._words(action, evidence, violations or ())
            if not any(len(item) == 3 and item[1] == "number" for item in violations or ()):
                evidence.said[violations] = words
        reason = never(words or "this very case", times)
        rate = 0.0, min(1.0, sqrt(BOUND / times))
        risk = severity * (times + 1) / (times + 2)
        answer = Prediction("refuse", risk, times, reason, hard, None, action, None, 0.0, rate, case.seqs)
        if not case.seqs and (not violations or violations in evidence.said):
            if len(evidence.answers) >= ANSWERS:
                evidence.answers.clear()
            evidence.answers[violations, times, severity] = answer
        return answer

    def _judge_labels(
        self, action: str, evidence: ActionEvidence, codes: tuple[int, ...]
    ) -> tuple[Prediction | None, int]:
        """Answer for labels that were all met, where nothing else matters.

        Returns:
            The answer, None where more has to be looked at; and the code of the only label that was never accepted, -1
            where all were.
        """
        if self.vocabulary.required or self.caution == "seed" or self._foresight.known:
            return None, -1
        severity = self.severity
        if isinstance(severity, dict):
            severity = severity.get(action, 1.0)
        if evidence.few is None:
            strange = [] if evidence.never.isdisjoint(codes) else list(evidence.never.intersection(codes))
        else:
            strange = [code for at, code in evidence.few if codes[at] == code]
        if not strange:
            odd = evidence.signatures.get(NOTHING, 0)
            if evidence.flaked:
                doubt = self._unexplained(action, evidence, (), severity)
            else:  # there is nothing to compare the others with
                doubt = unexplained(action, odd, severity) if odd else None
            return doubt or self._accept_unseen(action, evidence, evidence.support(codes), severity), -1
        code = strange[0]
        signature = evidence.alone(code)
        times = evidence.signatures.get(signature)
        if len(strange) > 1 or not times:
            return None, code
        return self._refuse_unseen(action, evidence, (), signature, times, severity), code

    def _judge_unseen(
        self, action: str, evidence: ActionEvidence, features: tuple[Any, ...], case: Case | None, severity: float
    ) -> Prediction:
        """Answer for a case that decides nothing by itself."""
        seed = self.caution == "seed"
        reading = evidence.read(features)
        if reading.support and evidence.is_plain(reading) and not (seed and evidence.oddly):
            doubt = None if seed else self._unexplained(action, evidence, features, severity)
            return doubt or self._accept_unseen(action, evidence, reading.support, severity)
        if reading.alone >= 0 and not (seed and evidence.oddly):
            signature = evidence.alone(reading.alone)
            times = evidence.signatures.get(signature, 0)
            if times:
                return self._refuse_unseen(action, evidence, features, signature, times, severity)

        def unknown(reason: str, hard: bool = False) -> Prediction:
            return Prediction("unknown", 0.5 * severity, 0, reason, hard, None, action)

        if seed and evidence.oddly:  # of the seed's rule only single conditions explain a refusal
            return unexplained(action, evidence.oddly, severity)
        violations = evidence.violations(features)
        if seed:
            violations = [item for item in violations if isinstance(item[0], int)]
        if violations:
            return self._judge_violations(action, evidence, features, violations, severity, unknown)
        if not seed:
            doubt = self._paired(action, evidence, features, severity, unknown)
            doubt = doubt or self._unexplained(action, evidence, features, severity)
            if doubt is not None:
                return doubt
        if not evidence.accepted:
            return unknown(f"{action!r} was never accepted")
        return self._accept_unseen(action, evidence, reading.support, severity)

    def _accept_unseen(self, action: str, evidence: ActionEvidence, support: int, severity: float) -> Prediction:
        """Answer for a case whose conditions were accepted one by one."""
        flake = (evidence.flaked + 1) / (evidence.accepted + evidence.flaked + 2)
        rare = 1 / (support + 2)
        effects, confidence = effects_of(evidence.effects, evidence.accepted) if evidence.effects else (None, 1.0)
        reason, rate = one_by_one(support)
        risk = severity * (flake if flake > rare else rare)
        return Prediction("accept", risk, support, reason, False, effects, action, None, confidence, rate)

    def _judge_violations(
        self,
        action: str,
        evidence: ActionEvidence,
        features: tuple[Any, ...],
        violations: list[Item],
        severity: float,
        unknown: _Unknown,
    ) -> Prediction:
        """Answer for a case that has what no accepted case has."""
        found = evidence.matching(violations, features)
        if found is not None:
            return self._refuse_unseen(action, evidence, features, *found, severity)
        hard = any(self._is_hard(action, item) for item in violations)
        return unknown(
            f"{self._words(action, evidence, violations, features)}, seen neither accepted nor refused", hard
        )

    def _refuse_unseen(
        self,
        action: str,
        evidence: ActionEvidence,
        features: tuple[Any, ...],
        signature: Signature,
        times: int,
        severity: float,
    ) -> Prediction:
        """Answer for a case that has all that some refused cases had."""
        hard = bool(self.vocabulary.hard) and all(self._is_hard(action, item) for item in signature)
        words = evidence.said.get(signature)
        if words is None:
            words = self._words(action, evidence, signature, features)
            if not any(item[1] == "number" for item in signature):
                evidence.said[signature] = words
        risk = severity * (times + 1) / (times + 2)
        return Prediction("refuse", risk, times, never(words, times), hard, None, action)

    def _near(
        self,
        action: str,
        evidence: ActionEvidence,
        features: tuple[Any, ...],
        severity: float,
    ) -> Prediction | None:
        """Return what refusals inside the accepted ranges say about a case, None when they say nothing."""

        def unknown(reason: str) -> Prediction:
            return Prediction("unknown", 0.5 * severity, 0, reason, False, None, action)

        group = evidence.group_of(features)
        if group is None or not group.refused_cases:
            return None
        if not group.accepted_cases:
            return unknown(
                "all its conditions hold values seen accepted, but cases with these labels were only refused"
            )
        if len(group.accepted) > 1:
            if group.surrounded(features):
                return unknown(f"its numbers lie among those of {refusals(group.refused_cases)} that nothing explains")
            return None
        ((at, _),) = group.accepted.items()
        gap = group.gap(at, features[at])
        if gap is None:
            return None
        (times, low, high), name = gap, self.vocabulary.of(action)[at]
        if times >= 3 and low <= features[at] <= high:
            reason = f"{name} is {features[at]!r}, between {refusals(times)}"
            return Prediction("refuse", severity * (times + 1) / (times + 2), times, reason, False, None, action)
        return unknown(f"{name} is {features[at]!r}, near {refusals(times)}")

    def _paired(
        self,
        action: str,
        evidence: ActionEvidence,
        features: tuple[Any, ...],
        severity: float,
        unknown: _Unknown,
    ) -> Prediction | None:
        """Return what pairs of values say against taking the conditions one by one, None when nothing."""
        pairs = evidence.pairs(features)
        if pairs:
            found = evidence.matching(pairs, features)
            if found is not None:
                signature, times = found
                reason = f"{self._words(action, evidence, signature)}, never accepted ({refusals(times)})"
                return Prediction("refuse", severity * (times + 1) / (times + 2), times, reason, False, None, action)
            for pair in pairs:
                _, a, b = pair
                expected = evidence.counts[a] * evidence.counts[b] / max(1, evidence.accepted)
                if self.caution == "safe" or expected >= _UNSEEN:
                    words = self._words(action, evidence, [pair])
                    return unknown(f"{words}, never seen together (expected {expected:.1f} times)")
        return None

    def _unexplained(
        self, action: str, evidence: ActionEvidence, features: tuple[Any, ...], severity: float
    ) -> Prediction | None:
        """Return what refusals that nothing explains say against taking conditions one by one, None when nothing."""
        odd, flaked = evidence.signatures.get(NOTHING, 0), evidence.flaked
        if not flaked and not evidence.quantities:  # there is nothing to compare them with
            return unexplained(action, odd, severity) if odd else None
        if not odd and not flaked:
            return None
        if self._all_hidden(evidence):
            return unexplained(action, odd + flaked, severity)
        if odd and evidence.quantities and self.caution == "balanced":
            return self._near(action, evidence, features, severity)
        if odd and not self._flakes(evidence, odd):
            return unexplained(action, odd, severity)
        return None

    def _flakes(self, evidence: ActionEvidence, odd: int) -> bool:
        """Say whether unexplained refusals are as many as the flakes of accepted cases would make."""
        if self.caution == "safe":
            return False
        if not evidence.flaked:
            return False
        repeated = evidence.accepted + evidence.flaked
        flake = min(1.0, evidence.flaked / repeated + sqrt(BOUND / repeated))
        expected = (evidence.accepted + odd) * flake
        return odd <= expected + 3 * sqrt(expected) + 1

    def _is_hard(self, action: str, item: Item) -> bool:
        return isinstance(item[0], int) and self.vocabulary.of(action)[item[0]] in self.vocabulary.hard

    def _words(
        self, action: str, evidence: ActionEvidence, items: Iterable[Item], features: tuple[Any, ...] | None = None
    ) -> str:
        """Say in words what a set of violations is."""
        names = self.vocabulary.of(action)
        return " and ".join(sorted(say(item, names, evidence, features) for item in items))
