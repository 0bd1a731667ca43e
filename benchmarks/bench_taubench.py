"""Learn what τ-bench's real retail tools accept and refuse from recorded calls, beside solvi on the same calls.

    python benchmarks/bench_taubench.py --data FOLDER [--json FILE] [--quick] [--alone]

FOLDER holds a recording in the format of `record_taubench.py`. Each model observes the calls of the split "train" in
file order, then predicts each call of "heldout" without learning from it. What an answer is worth is the model's
verdict against what the tool did:

    precision          = refused rightly / predicted "refuse"
    recall of answered = refused rightly / (refused rightly + false accepts)
    recall of all      = refused rightly / all refused
    abstention         = "unknown" / all

Arms: a rich vocabulary written by one who has read the tools, the same without the condition on pairs of items, and
without the comparisons of money; ours with each `caution`, and `run_solvi`. Then the rich vocabulary on 100 to 15,000
calls (`random.Random(seed).sample(train, n)`, seeds 0 to 4), and with accepted training calls reported as refused.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import Any

from _harness import command_of, here
from _induction import hand
from _retail import MONEY, PAIRS, Probe, Recording, conditions
from surefoot.learners.conservative import CAUTIONS, ConservativeActionModel
from surefoot.learners.vocabulary import Vocabulary

__all__ = ["main"]

VOCABULARIES: dict[str, frozenset[str]] = {"rich": frozenset(), "no pairs": PAIRS, "no money": MONEY}
SIZES = (100, 300, 1_000, 3_000, 10_000, 15_000)
SEEDS = range(5)
NOISE = (0.002, 0.01, 0.05)

Predicates = Mapping[str, Callable[[Any, Mapping[str, Any]], Any]]
Only = Mapping[str, list[str]]
Maker = Callable[[Predicates, Only], Any]


@dataclass(slots=True)
class Score:
    """What came of the predictions of one model."""

    arm: str
    who: str
    trained: int
    right_refusals: int
    right_accepts: int
    false_accepts: int
    false_refusals: int
    unknown_refused: int
    unknown_accepted: int
    train_s: float = 0.0
    predict_us: float = 0.0

    @property
    def precision(self) -> float:
        """Return refused rightly / predicted "refuse"."""
        return _share(self.right_refusals, self.right_refusals + self.false_refusals)

    @property
    def recall_of_answered(self) -> float:
        """Return refused rightly / refused calls that were answered."""
        return _share(self.right_refusals, self.right_refusals + self.false_accepts)

    @property
    def recall_of_all(self) -> float:
        """Return refused rightly / refused calls."""
        return _share(self.right_refusals, self.right_refusals + self.false_accepts + self.unknown_refused)

    @property
    def abstention(self) -> float:
        """Return "unknown" / all."""
        unknown = self.unknown_refused + self.unknown_accepted
        answered = self.right_refusals + self.right_accepts + self.false_accepts + self.false_refusals
        return _share(unknown, unknown + answered)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def makers(alone: bool) -> dict[str, Maker]:
    """Return how to make a model of each contender from predicates and `only`."""

    def ours(caution: str) -> Maker:
        return lambda predicates, only: ConservativeActionModel(Vocabulary(predicates, only=only), caution=caution)

    found = {caution: ours(caution) for caution in CAUTIONS}
    return found if alone else {**found, "solvi": run_solvi}


def run_solvi(predicates: Predicates, only: Only) -> Any:
    """Make the peer's model over the same conditions."""
    from solvi.core.knowledge import ConservativeActionModel as Model
    from solvi.core.knowledge import Vocabulary as Conditions

    return Model(Conditions(predicates, only=only))


def tell(model: Any, probes: Iterable[Probe], wrong: frozenset[int], states: Mapping[int, Any] | None) -> None:
    """Let a model observe calls; those in `wrong` are reported as refused."""
    for probe in probes:
        state = probe.state if states is None else states[probe.number]
        accepted = probe.accepted and probe.number not in wrong
        model.observe(state, probe.action, probe.args, accepted, probe.effect if accepted else None)


def ask(model: Any, probes: Sequence[Probe], states: Mapping[int, Any] | None) -> Counter[tuple[str, bool]]:
    """Count the verdicts of a model on calls, by what the tool did."""
    if states is None:
        return Counter((model.predict(p.state, p.action, p.args).verdict, p.accepted) for p in probes)
    return Counter((model.predict(states[p.number], p.action, p.args).verdict, p.accepted) for p in probes)


def score(
    arm: str,
    who: str,
    model: Any,
    train: Sequence[Probe],
    heldout: Sequence[Probe],
    wrong: frozenset[int] = frozenset(),
    states: Mapping[int, Any] | None = None,
) -> Score:
    """Train a model, ask it about each held-out call, and return what came of it."""
    start = time.process_time()
    tell(model, train, wrong, states)
    trained = time.process_time()
    found = ask(model, heldout, states)
    asked = time.process_time()
    return Score(
        arm,
        who,
        len(train),
        found["refuse", False],
        found["accept", True],
        found["accept", False],
        found["refuse", True],
        found["unknown", False],
        found["unknown", True],
        trained - start,
        (asked - trained) / max(1, len(heldout)) * 1e6,
    )


def arms(recording: Recording, contenders: Mapping[str, Maker]) -> list[Score]:
    """Measure each vocabulary on everything."""
    scores = []
    for arm, left_out in VOCABULARIES.items():
        for who, make in contenders.items():
            model = make(*conditions(left_out))
            scores.append(score(arm, who, model, recording.train, recording.heldout))
            _say(scores[-1])
    return scores


def curve(recording: Recording, contenders: Mapping[str, Maker], sizes: Sequence[int], seeds: range) -> list[Score]:
    """Measure the rich vocabulary on samples of the training calls."""
    predicates, only, states = hand(recording)
    scores = []
    for size in dict.fromkeys(min(size, len(recording.train)) for size in sizes):
        for seed in seeds:
            sample = random.Random(seed).sample(recording.train, size)
            for who, make in contenders.items():
                model = make(predicates, only)
                scores.append(
                    score(f"{size:,} calls, seed {seed}", who, model, sample, recording.heldout, states=states)
                )
    return scores


def noise(recording: Recording, contenders: Mapping[str, Maker], rates: Sequence[float]) -> list[Score]:
    """Measure the rich vocabulary with accepted training calls reported as refused."""
    predicates, only, states = hand(recording)
    accepted = [probe.number for probe in recording.train if probe.accepted]
    scores = []
    for rate in rates:
        wrong = frozenset(random.Random(0).sample(accepted, round(rate * len(accepted))))
        for who, make in contenders.items():
            model = make(predicates, only)
            name = f"{rate:.1%} of accepted calls reported refused"
            scores.append(score(name, who, model, recording.train, recording.heldout, wrong, states))
            _say(scores[-1])
    return scores


def _say(found: Score) -> None:
    print(f"  {found.arm:44} {found.who:9} {found.false_accepts} FA {found.false_refusals} FR {found.abstention:.2%}")


def table(scores: Iterable[Score]) -> str:
    """Return figures as a Markdown table."""
    lines = [
        "| vocabulary | model | precision | recall of answered | recall of all | abstention | false accepts "
        "| false refusals | predict | train |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for s in scores:
        lines.append(
            f"| {s.arm} | {s.who} | {s.precision:.4f} | {s.recall_of_answered:.4f} | {s.recall_of_all:.4f} "
            f"| {s.abstention:.2%} | {s.false_accepts} | {s.false_refusals} | {s.predict_us:.1f} µs "
            f"| {s.train_s:.2f} s |"
        )
    return "\n".join(lines)


def curve_table(scores: Sequence[Score]) -> str:
    """Return the curve as a Markdown table: abstention, and errors where there are any; means over the seeds."""
    who = list(dict.fromkeys(s.who for s in scores))
    lines = ["| training calls | " + " | ".join(who) + " |", "|---|" + "---|" * len(who)]
    for size in dict.fromkeys(s.trained for s in scores):
        cells = []
        for name in who:
            group = [s for s in scores if s.trained == size and s.who == name]
            wrong = mean(s.false_accepts for s in group), mean(s.false_refusals for s in group)
            shown = f"{mean(s.abstention for s in group):.2%}"
            cells.append(shown if not any(wrong) else f"{shown} ({wrong[0]:.1f} FA, {wrong[1]:.1f} FR)")
        lines.append(f"| {size:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def judge(scores: Sequence[Score]) -> list[tuple[str, bool]]:
    """Return each target with whether it was met."""
    found: list[tuple[str, bool]] = []
    peers = {s.arm: s for s in scores if s.who == "solvi"}
    for s in scores:
        if s.who == "solvi" or s.arm not in VOCABULARIES:
            continue
        wrong = s.false_accepts + s.false_refusals
        if s.arm == "rich":
            met = wrong == 0 and s.precision == s.recall_of_answered == 1.0 and s.abstention <= 0.0026
            found.append((f"rich, {s.who}: precision and recall 1.000, no errors, abstention <= 0.26 %", met))
        elif s.arm in peers:
            limit = peers[s.arm].abstention
            met = wrong == 0 and s.abstention <= limit
            found.append((f"{s.arm}, {s.who}: no errors, abstention {s.abstention:.2%} <= solvi's {limit:.2%}", met))
        else:
            found.append((f"{s.arm}, {s.who}: no errors", wrong == 0))
    return found


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures."""
    parser = argparse.ArgumentParser(description="Learn what recorded tools accept.")
    parser.add_argument("--data", type=Path, help="the folder of a recording")
    parser.add_argument("--json", type=Path, help="write every figure there")
    parser.add_argument("--quick", action="store_true", help="no curve and no noise")
    parser.add_argument("--alone", action="store_true", help="without the peer")
    parser.add_argument("--strict", action="store_true", help="a missed target is an error")
    given = parser.parse_args(words)
    if given.data is None:  # as `make bench` runs it: there is no recording in the repository
        print("skipped: needs --data FOLDER with a recording, made by record_taubench.py")
        return 0
    if not given.alone and find_spec("solvi") is None:
        parser.error("the peer is not installed: pip install 'surefoot[bench]', or --alone")
    recording = Recording(given.data)
    where = here()
    print(f"{command_of(__file__)}\n{where}\n{recording.sha256}")
    print(f"{len(recording.train):,} calls to learn from, {len(recording.heldout):,} held out")
    contenders = makers(given.alone)
    scores = arms(recording, contenders)
    parts = {"arms": scores}
    print(f"\n{table(scores)}\n")
    if not given.quick:
        parts["curve"] = curve(recording, contenders, SIZES, SEEDS)
        print(f"{curve_table(parts['curve'])}\n")
        parts["noise"] = noise(recording, contenders, NOISE)
        print(f"\n{table(parts['noise'])}\n")
    judged = judge(scores)
    for target, met in judged:
        print(f"{'pass' if met else 'MISS'}  {target}")
    if given.json:
        figures = {name: [asdict(s) for s in part] for name, part in parts.items()}
        data = {"command": command_of(__file__), **where, "sha256": recording.sha256, "targets": judged, **figures}
        given.json.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if given.strict and not all(met for _, met in judged) else 0


if __name__ == "__main__":
    sys.exit(main())
