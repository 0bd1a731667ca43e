"""Measure contenders side by side in one process: clocks, interleaving, a cap, tables, and a record of where it ran.

CPU time is `time.process_time`, so that a busy machine disturbs it less than it disturbs the wall clock, which stands
beside it. Each figure is a median over repeats; contenders take turns, so that what slows the machine down for a
while slows both.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from types import FrameType

__all__ = [
    "Capped",
    "Report",
    "Row",
    "Sample",
    "Target",
    "cap",
    "clocked",
    "command_of",
    "here",
    "hurry",
    "quiet",
    "results_of",
    "seconds",
]

CAP = 60.0
"""CPU seconds after which one measurement is given up."""


class Capped(Exception):
    """A measurement took longer than it may."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement: seconds of CPU and of the wall clock for `ops` operations."""

    cpu: float
    wall: float
    ops: int = 1
    capped: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A figure: an operation of one contender on one size; seconds are per operation, or `value` is something else."""

    what: str
    who: str
    size: int
    cpu: float | None = None
    wall: float | None = None
    low: float | None = None
    high: float | None = None
    ops: int = 0
    repeats: int = 0
    capped: bool = False
    value: float | None = None
    unit: str = "s"
    section: str = ""


@contextmanager
def cap(limit: float = CAP) -> Iterator[None]:
    """Raise `Capped` when the block uses more than `limit` seconds of CPU (between two lines of Python).

    The alarm is one of the wall clock, which looks at the CPU's: an alarm of the CPU's own would make `process_time`
    coarse on Linux.
    """
    start = time.process_time()

    def look(signum: int, frame: FrameType | None) -> None:
        if time.process_time() - start >= limit:
            raise Capped

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, min(limit, 1.0), min(limit, 1.0))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the garbage collector on, but away from what is there already: that may be the other contender's."""
    already = froze_before()
    gc.collect()
    gc.freeze()
    gc.collect()  # and now its sense of proportion is that of an empty process
    try:
        yield
    finally:
        if not already:  # else whoever froze that wants it to stay so
            gc.unfreeze()


@cache
def froze_before() -> bool:
    """Say whether something was kept out of all collections before the first measurement; counting it takes long."""
    return gc.get_freeze_count() > 0


def hurry() -> None:
    """Let what is loaded now stay out of all collections, for a quick run: they are most of what `quiet` takes."""
    gc.collect()
    gc.freeze()
    froze_before.cache_clear()


def clocked(work: Callable[[], object], ops: int = 1, *, limit: float = CAP, gentle: bool = True) -> Sample:
    """Run `work` once and return what it took.

    Args:
        work: what to measure.
        ops: how many operations it does.
        limit: CPU seconds after which it is stopped and marked.
        gentle: shield it from the garbage of others, see `quiet`; not worth it for microseconds.
    """
    if gentle:
        with quiet():
            return clocked(work, ops, limit=limit, gentle=False)
    capped = False
    with cap(limit):
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            work()
        except Capped:
            capped = True
        took = time.process_time() - cpu, time.perf_counter() - wall
    return Sample(*took, ops, capped)


@dataclass(frozen=True, slots=True)
class Target:
    """What must hold: a ratio of the peer to ours (or to `who`), or how a figure of ours may grow with the size."""

    name: str
    what: str
    at_least: float = 0.0
    grows_at_most: float = 0.0
    size: int = 0
    who: str = ""


@dataclass
class Report:
    """All figures of one run."""

    title: str
    command: str
    ours: str = "surefoot"
    peer: str = "solvi"
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    judged: list[dict[str, object]] = field(default_factory=list)
    section: str = ""
    say: Callable[[str], object] = print

    def measure(
        self, what: str, size: int, contenders: Mapping[str, Callable[[], Sample]], repeats: int = 1
    ) -> dict[str, list[Sample]]:
        """Let the contenders take turns; a contender that was capped is not asked again. Return all samples."""
        samples: dict[str, list[Sample]] = {who: [] for who in contenders}
        for _ in range(repeats):
            for who, contender in contenders.items():
                if not any(sample.capped for sample in samples[who]):
                    samples[who].append(contender())
        for who, taken in samples.items():
            self.add(what, who, size, taken)
        return samples

    def add(self, what: str, who: str, size: int, samples: Sequence[Sample]) -> None:
        """Write down the median of samples."""
        samples = [s for s in samples if s.ops]
        if not samples:
            return
        cpu = [s.cpu / s.ops for s in samples]
        wall = [s.wall / s.ops for s in samples]
        middle, walls = statistics.median(cpu), statistics.median(wall)
        ops, capped = samples[0].ops, any(s.capped for s in samples)
        self._put(
            Row(what, who, size, middle, walls, min(cpu), max(cpu), ops, len(samples), capped, section=self.section)
        )

    def note(self, what: str, who: str, size: int, value: float, unit: str) -> None:
        """Write down a figure that is no time."""
        self._put(Row(what, who, size, value=value, unit=unit, section=self.section))

    def _put(self, row: Row) -> None:
        self.rows.append(row)
        mark = "  * stopped at the cap" if row.capped else ""
        if row.cpu is None:
            shown = f"{_figure(row.value)} {row.unit}"
        else:
            shown = f"{seconds(row.cpu)} cpu  {seconds(row.wall)} wall"
        ratio = self.ratio(row.what, row.size)
        against = f"  {self.peer}/{self.ours} {_times(ratio)}" if ratio is not None else ""
        self.say(f"  {row.size:>9,}  {row.what:32} {row.who:9} {shown}{against}{mark}")

    def find(self, what: str, who: str, size: int) -> Row | None:
        """Return a figure."""
        return next((r for r in self.rows if (r.what, r.who, r.size) == (what, who, size)), None)

    def ratio(self, what: str, size: int, who: str = "") -> float | None:
        """Return how many times more the peer takes than we, or than `who`."""
        ours, peer = self.find(what, who or self.ours, size), self.find(what, self.peer, size)
        if ours is None or peer is None:
            return None
        return _amount(peer) / max(_amount(ours), 1e-12)

    def sizes(self, what: str, who: str) -> list[int]:
        """Return the sizes for which there is a figure."""
        return sorted({r.size for r in self.rows if r.what == what and r.who == who})

    def growth(self, what: str, who: str, upto: int | None = None) -> tuple[float, int, int] | None:
        """Return by how much a figure grows from the smallest to the largest size, and the two sizes."""
        sizes = [size for size in self.sizes(what, who) if upto is None or size <= upto]
        if len(sizes) < 2:
            return None
        first, last = self.find(what, who, sizes[0]), self.find(what, who, sizes[-1])
        assert first is not None  # both are among the sizes that have a figure
        assert last is not None
        return _amount(last) / max(_amount(first), 1e-12), sizes[0], sizes[-1]

    def judge(self, targets: Sequence[Target]) -> list[tuple[Target, str, bool | None]]:
        """Say of each target what was found, and whether that is enough; None: not measured."""
        found: list[tuple[Target, str, bool | None]] = []
        for target in targets:
            if target.at_least:
                who = target.who or self.ours
                sizes = [s for s in self.sizes(target.what, self.peer) if s in self.sizes(target.what, who)]
                ratio = self.ratio(target.what, sizes[-1], who) if sizes else None
                if ratio is None:
                    found.append((target, "not measured", None))
                    continue
                enough = None if sizes[-1] < target.size * 0.9 else ratio >= target.at_least
                found.append((target, f"{_times(ratio)} at {sizes[-1]:,} (asked: {target.at_least:g}×)", enough))
            else:
                growth = self.growth(target.what, self.ours)
                if growth is None:
                    found.append((target, "needs two sizes", None))
                    continue
                factor, small, large = growth
                text = f"×{factor:.2f} from {small:,} to {large:,} (allowed: ×{target.grows_at_most:g})"
                found.append((target, text, factor <= target.grows_at_most))
        return found

    def found(self, target: str, text: str, held: bool | None) -> None:
        """Write down and say what was found of a target that is judged elsewhere; None: it was not measured."""
        self.judged.append({"target": target, "found": text, "held": held})
        self.say(f"held {'yes' if held else '-  ' if held is None else 'NO '}  {target}: {text}")

    def table(self) -> str:
        """Return everything as Markdown: a table a section, a column a size, then ratios and growth."""
        parts = {row.section: [r for r in self.rows if r.section == row.section] for row in self.rows}
        return "\n\n".join(replace(self, rows=rows)._section(name, rows) for name, rows in parts.items())

    def _section(self, section: str, rows: list[Row]) -> str:
        sizes = sorted({row.size for row in rows})
        if len(sizes) == 1 and not any(row.who == self.peer for row in rows):
            return self._pivot(section, rows)
        lines = [f"| {section or 'operation'} | who | " + " | ".join(f"{size:,}" for size in sizes) + " | growth |"]
        lines.append("|---|---|" + "---|" * (len(sizes) + 1))
        for what in dict.fromkeys(row.what for row in rows):
            for who in dict.fromkeys(row.who for row in rows if row.what == what):
                cells = [_cell(self.find(what, who, size)) for size in sizes]
                growth = self.growth(what, who)
                lines.append(f"| {what} | {who} | " + " | ".join(cells) + f" | {_growth(growth)} |")
            ratios = [self.ratio(what, size) for size in sizes]
            if any(ratio is not None for ratio in ratios):
                cells = ["" if ratio is None else f"**{_times(ratio)}**" for ratio in ratios]
                lines.append(f"| | {self.peer}/{self.ours} | " + " | ".join(cells) + " | |")
        return "\n".join(lines)

    def _pivot(self, section: str, rows: list[Row]) -> str:
        """Return a table with a column a contender, where all have one size."""
        names = list(dict.fromkeys(row.who for row in rows))
        lines = [f"| {section} | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
        for what in dict.fromkeys(row.what for row in rows):
            cells = [_cell(self.find(what, who, rows[0].size)) for who in names]
            lines.append(f"| {what} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def write(self, path: Path, targets: Sequence[Target] = ()) -> None:
        """Write every figure, and where it was measured, as JSON."""
        judged = [{"target": target.name, "found": text, "held": held} for target, text, held in self.judge(targets)]
        data = {
            "title": self.title,
            "command": self.command,
            **here(),
            "notes": self.notes,
            "checks": self.checks,
            "targets": [*self.judged, *judged],
            "rows": [asdict(row) for row in self.rows],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def here() -> dict[str, object]:
    """Return when, on what and with what this runs."""
    versions = {}
    for name in ("surefoot", "solvi", "numpy", "scipy", "msgspec"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "revision": _revision(),
        "python": platform.python_version(),
        "versions": versions,
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def _revision() -> str:
    """Return the commit, with a mark when files differ from it."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), *words], capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    commit = git("rev-parse", "--short=12", "HEAD") or "no commit"
    return f"{commit} with changes" if git("status", "--porcelain", "--", ":/src") else commit


def seconds(amount: float | None) -> str:
    """Return a time for people, with its unit."""
    if amount is None:
        return ""
    for unit, size in (("s ", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if amount >= size:
            return f"{_digits(amount / size)} {unit.strip()}"
    return f"{_digits(amount * 1e9)} ns"


def _digits(number: float) -> str:
    return f"{number:.3g}" if number < 1000 else f"{number:,.0f}"


def _figure(value: float | None) -> str:
    """Return a figure that is no time: a whole number, or a small one with three digits."""
    assert value is not None  # a row without a time has one
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 100 else f"{value:.3g}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{_digits(ratio)}×"


def _growth(growth: tuple[float, int, int] | None) -> str:
    return "" if growth is None else f"×{_digits(growth[0])}"


def _amount(row: Row) -> float:
    amount = row.value if row.cpu is None else row.cpu
    assert amount is not None  # a row holds one or the other
    return amount


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row.cpu is None:
        return f"{_figure(row.value)} {row.unit}".rstrip()
    waits = row.wall is not None and row.wall > 4 * row.cpu  # for a disk: then the wall clock is the figure to know
    return f"{seconds(row.cpu)}{' (wall ' + seconds(row.wall) + ')' if waits else ''}" + ("\\*" if row.capped else "")


def results_of(path: str) -> Path:
    """Return where a benchmark writes the figures of a full run."""
    return Path(path).with_name("results") / f"{Path(path).stem.removeprefix('bench_')}.json"


def command_of(path: str) -> str:
    """Return the command line that measures the same: without this machine's places, wrappers and where it wrote."""
    words, kept = iter(sys.argv[1:]), []
    for word in words:
        if word in ("--out", "--draw"):
            next(words, None)
        elif not word.startswith(("--out=", "--draw=")):
            kept.append(word)
    return " ".join(["python", f"benchmarks/{Path(path).name}", *kept])
