"""Learn what tools accept with no vocabulary, from recorded calls; beside hand-written and unthinking vocabularies.

    python benchmarks/bench_induction.py --data FOLDER [--domain NAME] [--sizes 100,300] [--seeds 0,1] [--tracks H,Z]
                                         [--ask 300] [--json FILE] [--quick] [--alone] [--errors]

FOLDER holds a recording of any domain in the format of `_recording.py`. Each model observes a sample of the calls of
the split "train" (`random.Random(seed).sample(train, n)`, in that order) and then predicts each call of "heldout"
without learning from it. Tracks:

    H     a vocabulary written by one who has read the tools (where there is one for the domain), ours and solvi's model
    Z     no vocabulary: ours sees states, arguments, and what was accepted
    Z+M   the same, and what the tools said when they refused
    N     all training calls, some accepted ones reported as refused, on H and on Z

and "raw" vocabularies, made of what is lying around (`_raw.py`), ours and solvi's, on one sample of each size. Then
what is asked by `next_probe` beside random order. Figures are those of `_verdicts.py`; errors first, always with the
share of the refusals that were answered.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

from _induction import active, curve, noise, raw
from _recording import Recording
from _tables import Tables
from _verdicts import Score

__all__ = ["PUBLISHED", "main"]

SIZES = (100, 300, 1_000, 3_000, 10_000, 15_000)
SEEDS = (0, 1, 2, 3, 4)
TRACKS = ("H", "Z", "Z+M", "N")
NOISE = (0.002, 0.01, 0.05)
RAW = (300, 1_000, 3_000)
ACTIVE = (300, 1_000)

PUBLISHED: dict[str, dict[str, dict[int, tuple[float, float]]]] = {
    "retail": {
        "prototype, Z": {
            100: (10.8, 0.867),
            300: (29.4, 0.409),
            1_000: (4.0, 0.0585),
            3_000: (0.0, 0.0069),
            10_000: (0.0, 0.0026),
            15_000: (0.0, 0.0009),
        },
        "prototype, Z+M": {
            100: (10.8, 0.776),
            300: (75.6, 0.377),
            1_000: (2.4, 0.0153),
            3_000: (0.0, 0.0021),
            10_000: (0.0, 0.0026),
            15_000: (0.0, 0.0009),
        },
    }
}
"""Errors and abstention of a feasibility prototype that this project had before; it is not measured here, and what it
found on other domains was found on other recordings. Development figures: its makers had looked at the errors."""

TARGETS: dict[str, dict[int, float]] = {
    "retail": {100: 0.60, 300: 0.15, 1_000: 0.02, 3_000: 0.003, 10_000: 0.001, 15_000: 0.0005}
}
"""How often it may abstain with no vocabulary, by size; with messages half as often up to 1,000."""
NOISE_TARGETS: dict[str, dict[str, tuple[float, int]]] = {"retail": {"0.2%": (0.01, 0), "5.0%": (0.06, 5)}}
NOISE_TARGETS["retail"]["1.0%"] = (0.02, 5)
OBSERVE_US, PREDICT_US, LONGEST_PREDICT_MS = 2_000.0, 100.0, 5.0


def say(score: Score) -> None:
    """Print a line of progress."""
    c = score.all
    print(
        f"  {score.track:14} {score.who:9} {score.trained:>6,} seed {score.seed}: {c.fa} FA {c.fr} FR, unknown "
        f"{c.abstention:.2%} ({c.ur} UR, {c.ua} UA), refusals answered {c.refusals_answered:.2%}; observe "
        f"{score.observe_us:,.0f} µs (longest {score.longest_observe_ms:,.1f} ms), predict {score.predict_us:,.0f} µs "
        f"(longest {score.longest_predict_ms:.1f} ms)",
        flush=True,
    )


def groups(scores: Iterable[Score]) -> dict[tuple[str, str, int], list[Score]]:
    """Return scores by track, model and size."""
    found: dict[tuple[str, str, int], list[Score]] = {}
    for score in scores:
        found.setdefault((score.track, score.who, score.trained), []).append(score)
    return found


HEAD = (
    *("track", "model", "calls", "errors", "most", "FA", "FR", "unknown", "most", "UR", "UA", "refusals answered"),
    *("precision", "recall, answered", "recall, all", "accept precision"),
)


def curve_rows(scores: Iterable[Score]) -> list[list[str]]:
    """Return a row for each track, model and size: means over the samples, and the worst of them."""
    rows = []
    for (track, who, trained), group in groups(scores).items():
        counts = [score.all for score in group]
        rows.append(
            [
                track,
                who,
                f"{trained:,}",
                f"{mean(c.errors for c in counts):.1f}",
                str(max(c.errors for c in counts)),
                f"{mean(c.fa for c in counts):.1f}",
                f"{mean(c.fr for c in counts):.1f}",
                f"{mean(c.abstention for c in counts):.2%}",
                f"{max(c.abstention for c in counts):.2%}",
                f"{mean(c.ur for c in counts):.1f}",
                f"{mean(c.ua for c in counts):.1f}",
                f"{mean(c.refusals_answered for c in counts):.2%}",
                *(
                    f"{mean(getattr(c, name) for c in counts):.4f}"
                    for name in ("precision", "recall_of_answered", "recall_of_all", "accept_precision")
                ),
            ]
        )
    return rows


def cost_rows(scores: Iterable[Score]) -> list[list[str]]:
    """Return what observing and predicting cost, for each track, model and size."""
    return [
        [
            track,
            who,
            f"{trained:,}",
            f"{mean(score.observe_us for score in group):,.0f} µs",
            f"{max(score.longest_observe_ms for score in group):,.1f} ms",
            f"{mean(score.predict_us for score in group):,.1f} µs",
            f"{max(score.longest_predict_ms for score in group):,.1f} ms",
            f"{max(score.longest_predict_cpu_ms for score in group):,.1f} ms",
        ]
        for (track, who, trained), group in groups(scores).items()
    ]


def action_rows(scores: Iterable[Score]) -> list[list[str]]:
    """Return a row for each action of each track with no vocabulary, at the largest size: sums over the samples."""
    found = [score for score in scores if score.track.startswith("Z")]
    rows = []
    for track in dict.fromkeys(score.track for score in found):
        most = max(score.trained for score in found if score.track == track)
        group = [score for score in found if score.track == track and score.trained == most]
        for action in group[0].actions:
            counts = [score.actions[action] for score in group]
            total = {name: sum(getattr(c, name) for c in counts) for name in ("tr", "fr", "ta", "fa", "ur", "ua", "n")}
            shown = [f"{total[name]:,}" for name in ("n", "tr", "ta", "fa", "fr", "ur", "ua")]
            rows.append([track, f"{most:,}", action, *shown, f"{mean(c.abstention for c in counts):.2%}"])
    return rows


def beside_rows(domain: str, scores: Sequence[Score]) -> list[list[str]]:
    """Return the curve with a column for each contender: errors (mean) and abstention (mean)."""
    found: dict[str, dict[int, str]] = {}
    for (track, who, trained), group in groups(scores).items():
        cell = f"{mean(s.all.errors for s in group):.1f} / {mean(s.all.abstention for s in group):.2%}"
        found.setdefault(f"{who}, {track}", {})[trained] = cell
    for who, figures in PUBLISHED.get(domain, {}).items():
        found[who] = {size: f"{errors:.1f} / {unknown:.2%}" for size, (errors, unknown) in figures.items()}
    sizes = sorted({score.trained for score in scores})
    return [[who, *(cells.get(size, "") for size in sizes)] for who, cells in found.items()]


def judge(tables: Tables, domain: str, scores: Sequence[Score], asked: Sequence[Score]) -> None:
    """Say of each target what was found, and whether it was met."""
    add = tables.judge
    for (track, who, size), group in groups(scores).items():
        if who != "surefoot" or track not in ("Z", "Z+M"):
            continue
        worst = max(score.all.errors for score in group)
        add(f"{track}, {size:,} calls: no errors in any sample", f"at most {worst}", worst == 0)
        limit = TARGETS.get(domain, {}).get(size)
        if track == "Z+M" and limit is not None:
            limit = limit / 2 if size <= 1_000 else None
        if limit is not None:
            unknown = mean(score.all.abstention for score in group)
            add(f"{track}, {size:,} calls: unknown at most {limit:.2%}", f"{unknown:.2%}", unknown <= limit)
        if track == "Z" and size == max(s.trained for s in scores if s.track == "Z"):
            cost = mean(score.observe_us for score in group)
            add(f"observe, {size:,} calls: under {OBSERVE_US:,.0f} µs each", f"{cost:,.0f} µs", cost < OBSERVE_US)
            cost = mean(score.predict_us for score in group)
            add(f"predict, {size:,} calls: under {PREDICT_US:,.0f} µs", f"{cost:,.1f} µs", cost < PREDICT_US)
            longest = max(score.longest_predict_ms for score in group)
            cpu = max(score.longest_predict_cpu_ms for score in group)
            target = f"longest predict, {size:,} calls: under {LONGEST_PREDICT_MS:g} ms"
            add(target, f"{longest:.1f} ms (CPU {cpu:.1f} ms)", longest < LONGEST_PREDICT_MS)
    for score in scores:
        rate = score.track.removeprefix("N ").removesuffix(" on Z")
        if score.track.endswith("on Z") and rate in NOISE_TARGETS.get(domain, {}):
            limit, errors = NOISE_TARGETS[domain][rate]
            met = score.all.errors <= errors and score.all.abstention <= limit
            text = f"{score.all.errors} errors, {score.all.abstention:.2%}"
            add(f"{rate} noise: at most {errors} errors, unknown at most {limit:.0%}", text, met)
    for plain, chosen in zip(asked[::2], asked[1::2], strict=True):
        met = chosen.all.errors <= plain.all.errors and chosen.all.abstention <= plain.all.abstention
        text = f"{chosen.all.errors} errors, {chosen.all.abstention:.2%}; random: {plain.all.errors}"
        target = f"next_probe, {chosen.trained:,} calls: as good as {plain.trained:,} in random order"
        add(target, f"{text}, {plain.all.abstention:.2%}", met)


def last_of(scores: Iterable[Score]) -> Score | None:
    """Return the first sample of the largest size that says what the model relied on."""
    found = [score for score in scores if score.conditions and score.track.startswith("Z,")]
    return max(found, key=lambda score: (score.trained, -score.seed), default=None)


def conditions_rows(score: Score) -> list[list[object]]:
    """Return which conditions the model relied on."""
    return [
        [action, rule["kind"], f"`{rule['words']}`", rule["support"], rule["rivals"]]
        for action, rules in score.conditions.items()
        for rule in rules
    ]


def template_rows(score: Score) -> list[list[object]]:
    """Return how many conditions of each template the model relied on, and for how many refusals."""
    rules = [rule for found in score.conditions.values() for rule in found]
    kinds = Counter(rule["kind"] for rule in rules)
    return [
        [kind, n, sum(rule["support"] for rule in rules if rule["kind"] == kind)] for kind, n in kinds.most_common()
    ]


def tell_errors(scores: Iterable[Score]) -> None:
    """Print wrong answers, and why the model abstained most often."""
    for score in scores:
        if not score.track.startswith("Z"):
            continue
        head = f"{score.track} {score.trained} seed {score.seed}"
        for number, action, reason in score.wrong[:50]:
            print(f"wrong: {head} call {number} {action}: {reason}")
        for (action, accepted, reason), times in score.silent.most_common(20):
            print(f"unknown: {head} {times:,} {'accepted' if accepted else 'refused'} {action}: {reason}")


def numbers(text: str) -> list[int]:
    """Read whole numbers, with commas between them."""
    return [int(float(part)) for part in text.split(",")]


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures."""
    parser = argparse.ArgumentParser(description="Learn what recorded tools accept, with no vocabulary.")
    parser.add_argument("--data", type=Path, help="the folder of a recording")
    parser.add_argument("--domain", help="which recording of the folder, where there are several")
    parser.add_argument("--sizes", type=numbers, default=list(SIZES), help="how many calls to learn from")
    parser.add_argument("--seeds", type=numbers, default=list(SEEDS), help="the samples")
    parser.add_argument("--tracks", type=lambda text: text.split(","), default=list(TRACKS), help=",".join(TRACKS))
    parser.add_argument("--ask", type=numbers, default=list(ACTIVE), help="calls in random order beside `next_probe`")
    parser.add_argument("--json", type=Path, help="write every figure there")
    parser.add_argument("--quick", action="store_true", help="the curve alone: no noise, no raw values, no asking")
    parser.add_argument("--alone", action="store_true", help="without the peer")
    parser.add_argument("--errors", action="store_true", help="list wrong answers; then it is no cold data any more")
    parser.add_argument("--strict", action="store_true", help="a missed target is an error")
    given = parser.parse_args(words)
    if given.data is None:  # as `make bench` runs it: there is no recording in the repository
        print("skipped: needs --data FOLDER with a recording, made by record_tools.py")
        return 0
    if wrong := set(given.tracks) - set(TRACKS):
        parser.error(f"tracks are {', '.join(TRACKS)}, got {', '.join(sorted(wrong))}")
    if not given.alone and find_spec("solvi") is None:
        parser.error("the peer is not installed: pip install 'surefoot[bench]', or --alone")
    recording = Recording(given.data, given.domain)
    peer = not given.alone
    refused = sum(not probe.accepted for probe in recording.heldout)
    title = f"{recording.domain}: {len(recording.train):,} calls to learn from, {len(recording.heldout):,} held out"
    tables = Tables(title, __file__)
    tables.notes += [f"{title} ({refused:,} of them refused)", *map(" ".join, recording.sha256.items())]
    print(tables.command, tables.where, *tables.notes, "", sep="\n", flush=True)
    scores = curve(recording, given.sizes, given.seeds, given.tracks, peer, say)
    asked: list[Score] = []
    if not given.quick:
        most = max(given.sizes)
        scores += raw(recording, [size for size in RAW if size <= most] or [most], peer, say)
        if "N" in given.tracks:
            scores += noise(recording, NOISE, given.tracks, peer, say)
        for size in given.ask:
            if size <= len(recording.train):
                for seed in given.seeds[:2]:
                    asked += active(recording, size, seed, say)
    sizes = sorted({score.trained for score in scores})
    head = ["errors / unknown, means over samples", *(f"{size:,}" for size in sizes)]
    tables.add("Beside the others", head, beside_rows(recording.domain, scores))
    tables.add("All figures (means over samples; most: of a sample)", HEAD, curve_rows([*scores, *asked]))
    head = ["track", "calls", "action", "N", "TR", "TA", "FA", "FR", "UR", "UA", "unknown"]
    tables.add("By action (sums over samples)", head, action_rows(scores))
    head = ["track", "model", "calls", "observe", "longest (wall)", "predict", "longest (wall)", "longest (CPU)"]
    tables.add("Costs (CPU time, means over calls and samples)", head, cost_rows(scores))
    last = last_of(scores)
    if last is not None:
        head = ["template", "conditions", "refusals that violate them"]
        tables.add(f"Templates that fired, {last.trained:,} calls, seed {last.seed}", head, template_rows(last))
        head = ["action", "template", "condition", "refusals", "rivals"]
        tables.add(f"What it relied on, {last.trained:,} calls, seed {last.seed}", head, conditions_rows(last))
    judge(tables, recording.domain, scores, asked)
    met = tables.say_targets()
    if given.errors:
        tell_errors(scores)
    if given.json:
        tables.write(given.json, {"figures": [score.plain() for score in (*scores, *asked)]})
    return 1 if given.strict and not met else 0


if __name__ == "__main__":
    sys.exit(main())
