"""The journal by itself: append one by one and in batches, read, check, open, seal; each backend, both durabilities.

    python benchmarks/bench_journal.py [--entries 10000] [--quick] [--folder DIR] [--json FILE]

An entry is a typical one of a map: 245 bytes with its two hashes. `--folder` says on which disk the files are; on a
disk that only pretends to sync, "full" costs what "normal" does.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _harness import Report, Sample, clocked, command_of, here, hurry, results_of
from surefoot.journal import Journal, open_journal

__all__ = ["main"]

BATCHES = (1, 10, 100, 1000)
FILES = {"memory": None, "jsonl": "walk.jsonl", "json": "walk.json", "sqlite": "walk.map"}


def events(number: int) -> list[tuple[str, dict[str, Any]]]:
    """Return typical events."""
    return [("see", {"action": "north", "state": (n % 997, n), "to": (n % 997, n - 1)}) for n in range(number)]


def opener(folder: Path, backend: str, durability: str) -> Callable[[], Journal]:
    """Return how to open one of the journals."""
    name = FILES[backend]
    return partial(open_journal, None if name is None else folder / f"{durability}-{name}", durability=durability)


def append(open_one: Callable[[], Journal], number: int, batch: int) -> Sample:
    """Append `number` events to a new journal, `batch` at a time, and make it durable."""
    made = events(number)

    def work(journal: Journal) -> None:
        if batch == 1:
            for kind, data in made:
                journal.append(kind, data)
        else:
            for start in range(0, number, batch):
                journal.append_many(made[start : start + batch])
        journal.flush()

    with open_one() as journal:
        return clocked(partial(work, journal), number)


def forget(folder: Path) -> None:
    """Remove the files, so that the next journal is a new one."""
    for path in folder.iterdir():
        path.unlink()


def measure_appends(report: Report, folder: Path, entries: int, repeats: int) -> None:
    """Measure appending."""
    for durability in ("normal", "full"):
        for backend in FILES:
            if backend == "memory" and durability == "full":
                continue  # memory has one durability
            for batch in BATCHES:
                slow = durability == "full" and batch < 100
                number = max(batch, entries // 20 if slow else entries)
                samples = []
                for _ in range(repeats):
                    samples.append(append(opener(folder, backend, durability), number, batch))
                    forget(folder)
                report.add(f"append, {batch} at a time, {durability}", backend, entries, samples)


def measure_the_rest(report: Report, folder: Path, entries: int, repeats: int) -> None:
    """Measure reading, checking, opening and sealing journals that are there."""
    made = events(entries)
    for backend in FILES:
        open_one = opener(folder, backend, "normal")
        with open_one() as journal:
            journal.append_many(made)
            path = None if FILES[backend] is None else folder / f"normal-{FILES[backend]}"

            def each(what: str, work: Callable[[], object], ops: int = entries, who: str = backend) -> None:
                report.add(what, who, entries, [clocked(work, ops) for _ in range(repeats)])

            each("read lines", lambda j=journal: sum(1 for _ in j.lines()))  # type: ignore[misc]  # its argument is a default
            each("read entries", lambda j=journal: sum(1 for _ in j.entries()))  # type: ignore[misc]  # its argument is a default
            each("read entries, decoded", lambda j=journal: [entry.data for entry in j.entries()])  # type: ignore[misc]  # its argument is a default
            each("verify", partial(_sound, journal))
            each("head", lambda j=journal: [j.head for _ in range(100)], 100)  # type: ignore[misc]  # its argument is a default
            if path is not None:
                each("open and close, an entry", lambda o=open_one: o().close())  # type: ignore[misc]  # its argument is a default
            _seal(journal, each)
        if path is not None:
            report.note("file per entry, closed", backend, entries, path.stat().st_size / entries, "B")


def _sound(journal: Journal, **given: Any) -> None:
    assert journal.verify(**given)


def _seal(journal: Journal, each: Callable[..., None]) -> None:
    try:
        from surefoot.journal.seal import new_key, public_key

        key = new_key()
    except ImportError as error:  # the extra [seal]
        print(f"  sealing is not measured: {error}")
        return
    each("seal", lambda: [journal.seal(key) for _ in range(20)], 20)
    each("verify with a key, 20 seals or more", partial(_sound, journal, key=public_key(key)))


def floor(report: Report, entries: int, repeats: int) -> None:
    """Measure what no journal of this kind can do without: one SHA-256 of each line."""
    lines = [b"x" * 170 for _ in range(entries)]
    work = partial(_hash_all, lines)
    report.add("one SHA-256 of 170 bytes", "floor", entries, [clocked(work, entries) for _ in range(repeats)])


def _hash_all(lines: list[bytes]) -> None:
    for line in lines:
        hashlib.sha256(line).hexdigest()


def main(words: list[str] | None = None) -> int:
    """Run, print, and write the figures."""
    parser = argparse.ArgumentParser(description="Measure surefoot's journal.")
    parser.add_argument("--entries", type=float, default=0, help="entries in a journal, default 1e5 (--quick: 2e3)")
    parser.add_argument("--quick", action="store_true", help="one repeat, short journals")
    parser.add_argument("--folder", type=Path, help="where the files are made; default: the system's temporary folder")
    parser.add_argument("--json", type=Path, help="write every figure there; default for a full run: results/")
    given = parser.parse_args(words)
    if given.quick:
        hurry()
    entries = int(given.entries) or (2_000 if given.quick else 100_000)
    repeats = 1 if given.quick else 3
    report = Report("Journal", command_of(__file__))
    print(f"{report.title}: {here()}")
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        report.section = f"a journal of {entries:,} entries, per entry"
        floor(report, entries, repeats)
        measure_appends(report, Path(name), entries, repeats)
        measure_the_rest(report, Path(name), entries, repeats)
    print(f"\n{report.table()}")
    if given.json or not (given.quick or given.entries):
        report.write(given.json or results_of(__file__))
    return 0


if __name__ == "__main__":
    sys.exit(main())
