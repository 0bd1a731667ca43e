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
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import Any

from _induction import hand
from _retail import MONEY, PAIRS, Probe, Recording, conditions
from _tables import Tables
from _verdicts import Counts
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
    """What came of the predictions of one model.

    Attributes:
        arm: what it might read, and of how many calls.
        who: the model.
        trained: how many calls it observed.
        held: how often each verdict met each outcome, of all held-out calls.
        train_s: CPU time of observing.
        predict_us: CPU time of predicting, divided by the calls.
    """

    arm: str
    who: str
    trained: int
    held: Counts
    train_s: float = 0.0
    predict_us: float = 0.0

    def plain(self) -> dict[str, Any]:
        """Return it as it is saved."""
        held = self.held
        return {
            "arm": self.arm,
            "who": self.who,
            "trained": self.trained,
            "right_refusals": held.tr,
            "right_accepts": held.ta,
            "false_accepts": held.fa,
            "false_refusals": held.fr,
            "unknown_refused": held.ur,
            "unknown_accepted": held.ua,
            "train_s": self.train_s,
            "predict_us": self.predict_us,
        }


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


def ask(model: Any, probes: Sequence[Probe], states: Mapping[int, Any] | None) -> Counts:
    """Count the verdicts of a model on calls, by what the tool did."""
    if states is None:
        return Counts.of((model.predict(p.state, p.action, p.args).verdict, p.accepted) for p in probes)
    return Counts.of((model.predict(states[p.number], p.action, p.args).verdict, p.accepted) for p in probes)


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
    return Score(arm, who, len(train), found, trained - start, (asked - trained) / max(1, len(heldout)) * 1e6)


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
    held = found.held
    print(f"  {found.arm:44} {found.who:9} {held.fa} FA {held.fr} FR {held.abstention:.2%}", flush=True)


HEAD = ("vocabulary", "model", "precision", "recall of answered", "recall of all", "abstention")
HEAD += ("false accepts", "false refusals", "predict", "train")


def rows_of(scores: Iterable[Score]) -> list[list[str]]:
    """Return figures as rows under `HEAD`."""
    return [
        [
            *(s.arm, s.who),
            *(f"{part:.4f}" for part in (s.held.precision, s.held.recall_of_answered, s.held.recall_of_all)),
            *(f"{s.held.abstention:.2%}", str(s.held.fa), str(s.held.fr)),
            *(f"{s.predict_us:.1f} µs", f"{s.train_s:.2f} s"),
        ]
        for s in scores
    ]


def curve_rows(scores: Sequence[Score], who: Sequence[str]) -> list[list[str]]:
    """Return the curve as rows, one for each size: abstention, and errors where there are any; means over the seeds."""
    rows = []
    for size in dict.fromkeys(s.trained for s in scores):
        cells = []
        for name in who:
            group = [s.held for s in scores if s.trained == size and s.who == name]
            wrong = mean(held.fa for held in group), mean(held.fr for held in group)
            shown = f"{mean(held.abstention for held in group):.2%}"
            cells.append(shown if not any(wrong) else f"{shown} ({wrong[0]:.1f} FA, {wrong[1]:.1f} FR)")
        rows.append([f"{size:,}", *cells])
    return rows


def judge(tables: Tables, scores: Sequence[Score]) -> None:
    """Say of each target whether it was met."""
    peers = {s.arm: s.held for s in scores if s.who == "solvi"}
    for s in scores:
        if s.who == "solvi":
            continue
        held, name = s.held, f"{s.arm}, {s.who}"
        shown = f"{held.errors} errors, abstention {held.abstention:.2%}"
        if s.arm == "rich":
            met = not held.errors and held.precision == held.recall_of_answered == 1.0 and held.abstention <= 0.0026
            tables.judge(f"{name}: precision and recall 1.000, no errors, abstention at most 0.26 %", shown, met)
        elif s.arm in peers:
            limit = peers[s.arm].abstention
            met = not held.errors and held.abstention <= limit
            tables.judge(f"{name}: no errors, abstention at most solvi's {limit:.2%}", shown, met)
        else:
            tables.judge(f"{name}: no errors", shown, not held.errors)


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
    tables = Tables("Learning what the retail tools of τ-bench accept", __file__)
    tables.command = tables.command.replace(str(given.data), "FOLDER")
    tables.notes.append(
        f"{len(recording.train):,} calls to learn from, {len(recording.heldout):,} held out, of which "
        f"{sum(not probe.accepted for probe in recording.heldout):,} were refused"
    )
    tables.notes += [f"SHA-256 of {name}: {digest}" for name, digest in recording.sha256.items()]
    print(tables.command, *tables.notes, sep="\n")
    contenders = makers(given.alone)
    parts = {"arms": arms(recording, contenders)}
    tables.add("Vocabularies", HEAD, rows_of(parts["arms"]))
    if not given.quick:
        parts["curve"] = curve(recording, contenders, SIZES, SEEDS)
        who = list(contenders)
        tables.add("Abstention by training calls", ["training calls", *who], curve_rows(parts["curve"], who))
        parts["noise"] = noise(recording, contenders, NOISE)
        tables.add("Accepted training calls reported as refused", HEAD, rows_of(parts["noise"]))
    judge(tables, parts["arms"])
    met = tables.say_targets()
    if given.json:
        tables.write(given.json, {"sha256": recording.sha256, **{k: [s.plain() for s in v] for k, v in parts.items()}})
    return 1 if given.strict and not met else 0


if __name__ == "__main__":
    sys.exit(main())
