"""What predictions of recorded calls are worth: verdicts counted by action, and the figures that follow from them.

TR, FR: "refuse" where it was refused, accepted; TA, FA: "accept" where it was accepted, refused; UR, UA: "unknown"
where it was refused, accepted; N: all. Errors (FA + FR) come first, then abstention: one who abstains can be
right about the rest.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from _harness import quiet
from _recording import Probe

__all__ = ["Counts", "Score", "measure"]


@dataclass(slots=True)
class Counts:
    """How often each verdict met each outcome."""

    tr: int = 0
    fr: int = 0
    ta: int = 0
    fa: int = 0
    ur: int = 0
    ua: int = 0

    @classmethod
    def of(cls, verdicts: Iterable[tuple[str, bool]]) -> Counts:
        """Count (verdict, accepted) pairs."""
        found = Counter(verdicts)
        return cls(
            found["refuse", False],
            found["refuse", True],
            found["accept", True],
            found["accept", False],
            found["unknown", False],
            found["unknown", True],
        )

    @property
    def n(self) -> int:
        """Return how many calls there were."""
        return self.tr + self.fr + self.ta + self.fa + self.ur + self.ua

    @property
    def errors(self) -> int:
        """Return FA + FR."""
        return self.fa + self.fr

    @property
    def precision(self) -> float:
        """Return TR / (TR + FR)."""
        return _share(self.tr, self.tr + self.fr)

    @property
    def accept_precision(self) -> float:
        """Return TA / (TA + FA)."""
        return _share(self.ta, self.ta + self.fa)

    @property
    def recall_of_answered(self) -> float:
        """Return TR / (TR + FA)."""
        return _share(self.tr, self.tr + self.fa)

    @property
    def recall_of_all(self) -> float:
        """Return TR / (TR + FA + UR)."""
        return _share(self.tr, self.tr + self.fa + self.ur)

    @property
    def refusals_answered(self) -> float:
        """Return (TR + FA) / (TR + FA + UR)."""
        return _share(self.tr + self.fa, self.tr + self.fa + self.ur)

    @property
    def abstention(self) -> float:
        """Return (UR + UA) / N."""
        return (self.ur + self.ua) / self.n if self.n else 0.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


@dataclass(slots=True)
class Score:
    """What came of one model: learned from `trained` calls of a sample, asked about all that are held out.

    Attributes:
        track: "H" (hand-written vocabulary), "raw" (one generated without thought), "Z" (none), "Z+M" (none, and the
            messages of refusals), each with the noise where there is any; "settled": asked again after `settle`, whose
            cost then stands as that of observing.
        who: the model.
        all: every held-out call.
        actions: the same by action.
        observe_us: CPU time of learning, of all threads, divided by the calls.
        predict_us: CPU time of predicting, divided by the calls.
        longest_observe_ms: the longest single `observe`, by the wall clock.
        longest_predict_ms: the longest single `predict`, by the wall clock; on a busy machine, mostly the wait for a
            CPU.
        longest_predict_cpu_ms: the longest single `predict`, by the CPU time of the thread that asks.
        wrong: the held-out calls that were answered wrongly, by number, with the reason given.
        silent: how often "unknown" was answered, by action, outcome and the reason given.
        conditions: what the model says it relies on, when it can say so.
    """

    track: str
    who: str
    trained: int
    seed: int
    all: Counts
    actions: dict[str, Counts]
    observe_us: float = 0.0
    predict_us: float = 0.0
    longest_observe_ms: float = 0.0
    longest_predict_ms: float = 0.0
    longest_predict_cpu_ms: float = 0.0
    wrong: list[tuple[int, str, str]] = field(default_factory=list)
    silent: Counter[tuple[str, bool, str]] = field(default_factory=Counter)
    conditions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return everything as plain values, but of the wrong calls only how many, and no reasons."""
        found = asdict(self)
        del found["silent"]
        found["wrong"] = len(self.wrong)
        return found


def measure(
    track: str,
    who: str,
    model: Any,
    train: Sequence[Probe],
    heldout: Sequence[Probe],
    *,
    seed: int = 0,
    wrong: frozenset[int] = frozenset(),
    messages: bool = False,
) -> Score:
    """Let a model observe calls in order, then ask it about each held-out call, without learning from these.

    Args:
        track: what it may know, see `Score`.
        who: the model's name.
        model: with `observe(state, action, args, accepted, ...)` and `predict(state, action, args).verdict`.
        train: what it observes: state, action, arguments and acceptance; never `effect` or `intent`.
        heldout: what it is asked about.
        seed: of the sample.
        wrong: the numbers of accepted training calls that are reported as refused.
        messages: whether `observe` is told what the tools said when they refused, as `reason`.
    """
    told = []
    for probe in train:
        accepted = probe.accepted and probe.number not in wrong
        more = {"reason": probe.message} if messages and not probe.accepted else {}
        told.append((probe.state, probe.action, probe.args, accepted, more))
    longest_observe = longest_predict = longest_cpu = 0.0
    verdicts: list[Any] = []
    clock = time.perf_counter
    with quiet():
        start = time.process_time()
        for state, action, args, accepted, more in told:
            before = clock()
            model.observe(state, action, args, accepted, **more)
            longest_observe = max(longest_observe, clock() - before)
        trained = time.process_time()
        cpu = time.thread_time()
        for probe in heldout:
            before = clock()
            verdicts.append(model.predict(probe.state, probe.action, probe.args))
            longest_predict = max(longest_predict, clock() - before)
            cpu, last = time.thread_time(), cpu
            longest_cpu = max(longest_cpu, cpu - last)
        asked = time.process_time()
    pairs = [(answer.verdict, probe.accepted) for answer, probe in zip(verdicts, heldout, strict=True)]
    actions = {
        action: Counts.of(pair for pair, probe in zip(pairs, heldout, strict=True) if probe.action == action)
        for action in sorted({probe.action for probe in heldout})
    }
    bad = {("accept", False), ("refuse", True)}
    found = [
        (probe.number, probe.action, str(getattr(answer, "reason", "")))
        for answer, probe, pair in zip(verdicts, heldout, pairs, strict=True)
        if pair in bad
    ]
    return Score(
        track,
        who,
        len(told),
        seed,
        Counts.of(pairs),
        actions,
        (trained - start) / max(1, len(told)) * 1e6,
        (asked - trained) / max(1, len(heldout)) * 1e6,
        longest_observe * 1e3,
        longest_predict * 1e3,
        longest_cpu * 1e3,
        found,
        Counter(
            (probe.action, probe.accepted, str(getattr(answer, "reason", "")))
            for answer, probe in zip(verdicts, heldout, strict=True)
            if answer.verdict == "unknown"
        ),
    )
