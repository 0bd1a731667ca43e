"""The knowledge store beside solvi's, as the number of facts grows.

    python benchmarks/bench_store.py [--sizes 1e3,1e4,1e5] [--quick] [--alone] [--json FILE]

World: a walker's notes. A plan says where each place leads, somebody went to a third of them and found the plan right
or wrong, and a program concluded things from two facts each. Both stores get the same history, and before anything is
believed they must agree on the status of every fact, also after some facts that others rest on were taken back.

Then: stating, finding, snapshots, verifying, reopening, at each size; taking back the root of a chain and of a fan; the
same fact stated again and again; ever new values on one key. Figures are CPU time per call, or per entry where it
says so. One figure may take the cap; what was done until then counts, marked `*`, and larger sizes are left out.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _harness import CAP, Report, Sample, clocked, command_of, here, results_of
from surefoot.knowledge.store import KnowledgeStore

__all__ = ["main"]

SIZES = (1_000, 10_000, 100_000)
CHAINS = (150, 1_000, 10_000)
"""The peer cannot take back a chain of 199 or more."""
REPEATS = (1_000, 2_000, 4_000)
VALUES = (250, 500, 1_000)
CHUNK = 50

LIMITS = (
    ("add", 100_000, 1 / 20_000, "at least 20,000 facts a second, in memory"),
    ("find by subject", 100_000, 50e-6, "under 50 µs"),
    ("retract the root of a chain", 10_000, 1.0, "under 1 s"),
    ("retract the root of a fan", 10_000, 1.0, "under 1 s"),
    ("verify, an entry", 100_000, 1 / 200_000, "at least 200,000 entries a second"),
)
"""What our figures must not exceed: (what, size, seconds a call, in words)."""
CONSTANT = ("add", "find by subject", "the same fact again", "another value of one key, spec")
GROWTH = 1.6
"""How much more a call may take at the largest size than at the smallest: as good as constant."""

Statement = tuple[dict[str, Any], str, str, tuple[int, ...]]


def history(size: int, seed: int = 0) -> list[Statement]:
    """Return statements (body, source, by, the statements that it rests on)."""
    rng = random.Random(f"store {seed}")
    told: list[Statement] = []
    right: list[int] = []
    for n in range(size * 6 // 10):
        told.append(({"s": f"p{n}", "r": "leads to", "o": f"p{n + 1}"}, "spec", "the plan", ()))
        if n % 3 == 0:
            wrong = rng.random() < 0.2
            told.append(({"s": f"p{n}", "r": "leads to", "o": f"p{n + 1 + wrong}"}, "outcome", "a walker", ()))
        right.append(len(told) - 1)
        if n % 3 == 1:
            rests_on = tuple(sorted({rng.choice(right), rng.choice(right[-50:])}))
            told.append(({"s": f"p{n}", "r": "near", "o": n}, "spec", "a program", rests_on))
            right.append(len(told) - 1)
    return told[:size]


def fill(store: Any, told: Iterable[Statement]) -> list[str]:
    """State a history; return the ids."""
    ids: list[str] = []
    for body, source, by, rests_on in told:
        ids.append(store.add("fact", body, source=source, by=by, derived_from=[ids[n] for n in rests_on]))
    return ids


def statuses(store: Any) -> dict[tuple[Any, ...], str]:
    """Return the status of every fact."""
    if isinstance(store, KnowledgeStore):
        return {(item.s, item.r, item.o): item.status for item in store}
    found = store.find(kind="fact")
    return {(item["body"]["s"], item["body"]["r"], item["body"]["o"]): item["status"] for item in found}


@dataclass
class Bench:
    """What all measurements of one run share."""

    report: Report
    makers: dict[str, Callable[..., Any]]
    limit: float
    repeats: int
    stopped: set[tuple[str, str]] = field(default_factory=set)

    def each(self, what: str, size: int, work: Callable[[str, Callable[..., Any]], Sample]) -> None:
        """Measure something for each contender that has not been stopped at it."""
        contenders = {
            who: (lambda who=who, make=make: work(who, make))
            for who, make in self.makers.items()
            if (what, who) not in self.stopped
        }
        for who, samples in self.report.measure(what, size, contenders, self.repeats).items():
            if any(sample.capped for sample in samples):
                self.stopped.add((what, who))

    def calls(self, call: Callable[[int], object], count: int) -> Sample:
        """Return what `count` calls take, stopped at the cap."""
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        done = 0
        while done < count:
            for n in range(done, min(done + CHUNK, count)):
                call(n)
            done = min(done + CHUNK, count)
            if time.process_time() - cpu > self.limit:
                break
        return Sample(time.process_time() - cpu, time.perf_counter() - wall, done, done < count)


def agree(bench: Bench, size: int) -> None:
    """Fail when the stores differ on a history, or on what is left of it after retractions."""
    if len(bench.makers) < 2:
        return
    told = history(size)
    stores = {who: make() for who, make in bench.makers.items()}
    ids = {who: fill(store, told) for who, store in stores.items()}
    rng = random.Random("retracted")
    rested_on = sorted({n for _, _, _, rests_on in told for n in rests_on})
    gone = rng.sample(rested_on, len(rested_on) // 10)
    for when in ("as stated", "after retractions"):
        ours, peers = (statuses(stores[who]) for who in bench.makers)
        differ = {
            fact: (ours.get(fact), peers.get(fact)) for fact in {**ours, **peers} if ours.get(fact) != peers.get(fact)
        }
        if differ:
            raise SystemExit(f"the stores differ {when}, so no figure means anything: {list(differ.items())[:3]}")
        bench.report.checks.append(f"{size:,} statements, {when}: the status of every fact is the same")
        bench.report.say(f"  = {bench.report.checks[-1]}")
        for who, store in stores.items():
            for n in gone:
                store.retract(ids[who][n])


def stating_and_asking(bench: Bench, size: int, folder: Path) -> None:
    """Measure everything that has a size."""
    built: dict[str, Any] = {}

    def add(who: str, make: Callable[..., Any]) -> Sample:
        built[who] = store = make()
        return bench.calls(
            lambda n: store.add("fact", {"s": f"p{n}", "r": "leads to", "o": n + 1}, source="outcome", by="a walker"),
            size,
        )

    bench.each("add", size, add)
    rng = random.Random("asked")
    asked = [f"p{rng.randrange(size)}" for _ in range(1_000)]
    ids = {who: store.find(s="p7")[0] for who, store in built.items()}
    ids = {who: item["id"] if isinstance(item, dict) else item.id for who, item in ids.items()}
    few = {bench.report.peer: max(3, 20_000 // size)}
    for what, call in (
        ("find by subject", lambda store, n, who: store.find(s=asked[n % 1_000])),
        ("find by subject and relation", lambda store, n, who: store.find(s=asked[n % 1_000], r="leads to")),
        ("usable", lambda store, n, who: store.usable(ids[who])),
        ("snapshot of one subject", lambda store, n, who: store.snapshot(about=[asked[n % 1_000]])),
    ):

        def ask(who: str, make: Callable[..., Any], call: Callable[..., object] = call) -> Sample:
            return bench.calls(lambda n: call(built[who], n, who), few.get(who, 1_000))

        bench.each(what, size, ask)

    def verify(who: str, make: Callable[..., Any]) -> Sample:
        assert built[who].verify()
        return clocked(lambda: built[who].verify(), size, limit=bench.limit)

    bench.each("verify, an entry", size, verify)
    bench.each("rebuild, an entry", size, lambda who, make: clocked(built[who].rebuild, size, limit=bench.limit))
    built.clear()
    for ending in (".jsonl", ".db"):
        on_disk(bench, size, ending, folder)


def on_disk(bench: Bench, size: int, ending: str, folder: Path) -> None:
    """Measure stating into a file, and opening it again; ours alone: the peer's files hold another kind of journal."""
    report = bench.report
    path = folder / f"{size}{ending}"
    with KnowledgeStore(path) as store:
        count = min(size, 10_000)

        def add(n: int) -> None:
            store.add("fact", {"s": f"p{n}", "r": "leads to", "o": n + 1}, source="outcome", by="a walker")

        report.add(f"add ({ending})", report.ours, size, [bench.calls(add, count)])
    samples = []
    for _ in range(bench.repeats):
        opened: list[KnowledgeStore] = []
        samples.append(clocked(lambda opened=opened: opened.append(KnowledgeStore(path)), count))
        opened[0].close()
    report.add(f"reopen ({ending}), an entry", report.ours, size, samples)


def taking_back(bench: Bench, size: int) -> None:
    """Measure retracting what much rests on, deep and wide, and stating it again."""
    for shape in ("chain", "fan"):

        def build(make: Callable[..., Any], shape: str = shape) -> tuple[Any, str]:
            store = make()
            root = last = store.add("fact", {"s": "root", "r": "is", "o": 0}, source="person", by="Kim")
            for n in range(size):
                body = {"s": f"d{n}", "r": "is", "o": n}
                last = store.add("fact", body, source="spec", derived_from=[root if shape == "fan" else last])
            return store, root

        def retract(
            who: str, make: Callable[..., Any], build: Callable[..., Any] = build, shape: str = shape
        ) -> Sample:
            if who == bench.report.peer and shape == "chain" and size > CHAINS[0]:
                return Sample(0, 0, 0)  # it raises, and its journal cannot be read any more
            store, root = build(make)
            return clocked(lambda: store.retract(root), limit=bench.limit)

        bench.each(f"retract the root of a {shape}", size, retract)


def saying_again(bench: Bench) -> None:
    """Measure the same fact, and ever new values on one key."""
    for count in REPEATS:

        def again(who: str, make: Callable[..., Any], count: int = count) -> Sample:
            store = make()
            body = {"s": "door", "r": "opens", "o": "north"}
            return bench.calls(lambda n: store.add("fact", body, source="outcome", evidence=[n]), count)

        bench.each("the same fact again", count, again)
    for count in VALUES:
        for source in ("spec", "outcome"):

            def other(who: str, make: Callable[..., Any], count: int = count, source: str = source) -> Sample:
                store = make()
                return bench.calls(
                    lambda n: store.add("fact", {"s": "door", "r": "opens", "o": n}, source=source), count
                )

            bench.each(f"another value of one key, {source}", count, other)


def weigh(bench: Bench, size: int) -> None:
    """Measure memory per fact."""
    for who, make in bench.makers.items():
        if who == bench.report.peer and size > 10_000:
            continue
        fill(make(), history(10))
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        store = make()
        for n in range(size):
            store.add("fact", {"s": f"p{n}", "r": "leads to", "o": n + 1}, source="outcome", by="a walker")
        gc.collect()
        bench.report.note("memory per fact", who, size, (tracemalloc.get_traced_memory()[0] - before) / size, "B")
        tracemalloc.stop()


def judge(report: Report) -> list[tuple[str, bool | None]]:
    """Say of each target whether it was met; None: not measured."""
    found: list[tuple[str, bool | None]] = []
    for what, size, most, words in LIMITS:
        row = report.find(what, report.ours, size)
        text = "not measured" if row is None or row.cpu is None else f"{1 / row.cpu:,.0f} a second"
        if row is not None and row.cpu is not None and most >= 50e-6:
            text = f"{row.cpu * 1e6:,.0f} µs" if most < 0.1 else f"{row.cpu:.2f} s"
        name = f"{what}, {size:,}: {words}"
        found.append((f"{name}: {text}", None if row is None or row.cpu is None else row.cpu <= most))
    for what in CONSTANT:
        growth = report.growth(what, report.ours)
        text = "needs two sizes" if growth is None else f"×{growth[0]:.2f} from {growth[1]:,} to {growth[2]:,}"
        found.append(
            (f"{what}: constant (at most ×{GROWTH:g}): {text}", None if growth is None else growth[0] <= GROWTH)
        )
    return found


def run(bench: Bench, sizes: Sequence[int], chains: Sequence[int]) -> None:
    """Measure everything."""
    agree(bench, min(2_000, max(sizes)))
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            bench.report.section = "one operation, by facts in the store"
            stating_and_asking(bench, size, Path(folder))
            weigh(bench, size)
    for size in chains:
        bench.report.section = "taking back, by what rests on it"
        taking_back(bench, size)
    bench.report.section = "saying it again, by how often"
    saying_again(bench)


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures; return 2 with --strict when a target is missed."""
    parser = argparse.ArgumentParser(description="Measure surefoot's KnowledgeStore beside solvi's.")
    parser.add_argument("--sizes", help="numbers of facts, with commas; default: 1e3,1e4,1e5")
    parser.add_argument("--quick", action="store_true", help="1e3 and 1e4 only, one repeat, cap of 10 s")
    parser.add_argument("--alone", action="store_true", help="without the peer")
    parser.add_argument("--cap", type=float, default=0.0, help="CPU seconds for one figure, default 60")
    parser.add_argument("--strict", action="store_true", help="exit with 2 when a target is missed")
    parser.add_argument("--json", type=Path, help="write every figure there; default for a full run: results/")
    given = parser.parse_args(words)
    if not given.alone and find_spec("solvi") is None:
        parser.error("the peer is not installed: pip install 'surefoot[bench]', or --alone")
    text = given.sizes or ("1e3,1e4" if given.quick else ",".join(map(str, SIZES)))
    sizes = [int(float(size)) for size in text.split(",")]
    report = Report("KnowledgeStore beside solvi", command_of(__file__))
    print(f"{report.title}: {here()}")
    makers: dict[str, Callable[..., Any]] = {report.ours: KnowledgeStore}
    if not given.alone:
        from solvi.core.knowledge.store import KnowledgeStore as Peer

        makers[report.peer] = Peer
    bench = Bench(report, makers, given.cap or (10.0 if given.quick else CAP), 1 if given.quick else 3)
    run(bench, sizes, [size for size in CHAINS if size <= max(*sizes, CHAINS[0])])
    print(f"\n{report.table()}\n\nTargets")
    judged = judge(report)
    for target, met in judged:
        print(f"{'pass' if met else '-   ' if met is None else 'MISS'}  {target}")
    marks = {True: "pass", False: "MISS", None: "not measured"}
    report.notes += [f"{marks[met]}: {target}" for target, met in judged]
    if given.json or not (given.quick or given.sizes):
        report.write(given.json or results_of(__file__))
    return 2 if given.strict and any(met is False for _, met in judged) else 0


if __name__ == "__main__":
    sys.exit(main())
