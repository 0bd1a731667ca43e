"""Learn the constraints of databases from statements alone, and compare what was learned with the catalogue.

python benchmarks/bench_induction_sql.py [--quick] [--engine SQLite] [--only shop] [--out FILE]

No vocabulary is given. The model reads a journal: the rows, the statement's name and arguments, and whether it was
taken, no messages; it is asked about statements that were drawn with another seed. A constraint of the catalogue counts
as learned when at least 95 % of the held-out refusals that name it are predicted to be refused, and none is predicted
to be accepted; its words are right when the reason that is given names one of its columns.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _harness import Report, command_of, results_of
from _sql_schemas import SCHEMAS, Schema, Statement, blamed, run, world_of
from surefoot import Journal, Vocabulary, open_journal
from surefoot.environments.database import Constraint
from surefoot.environments.database.engine import Table
from surefoot.errors import WorldUnavailable
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.induction import InducedActionModel
from surefoot.testing.postgres import TemporaryPostgres

__all__ = ["Compared", "compare", "main", "statements_of"]

SIZES = (1_000, 3_000)
HELD_OUT = 1_000
QUICK = 400
_ENOUGH = 0.95


@dataclass(frozen=True)
class Recorded:
    """The statements that were run in a schema, and what its catalogue says."""

    train: Sequence[Statement]
    heldout: Sequence[Statement]
    constraints: tuple[Constraint, ...]
    tables: tuple[Table, ...]


@dataclass
class Compared:
    """What a model says of statements that it has not seen, beside what the database said.

    Attributes:
        verdicts: how often each (verdict, accepted) came.
        by_constraint: {what refused: how often each verdict came}.
        named: how many of the refusals that were foreseen give a reason that names a column of the constraint, and how
            many there were.
    """

    verdicts: Counter[tuple[str, bool]] = field(default_factory=Counter)
    by_constraint: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    named: tuple[int, int] = (0, 0)
    wrong: list[str] = field(default_factory=list)

    @property
    def false_accepts(self) -> int:
        """Return how many refused statements were predicted to be accepted."""
        return self.verdicts["accept", False]

    @property
    def false_refusals(self) -> int:
        """Return how many accepted statements were predicted to be refused."""
        return self.verdicts["refuse", True]

    def learned(self, names: Iterable[str]) -> list[str]:
        """Return which of these constraints are learned."""
        found = []
        for name in names:
            said = self.by_constraint.get(name, Counter())
            if said["refuse"] and not said["accept"] and said["refuse"] >= _ENOUGH * said.total():
                found.append(name)
        return found

    def met(self, names: Iterable[str]) -> list[str]:
        """Return which of these constraints refused any statement."""
        return [name for name in names if name in self.by_constraint]


def statements_of(schema: Schema, source: str | None, train: int, heldout: int) -> Recorded:
    """Run statements in a schema."""
    with world_of(schema, source) as world:
        tables, constraints = world.tables(), world.constraints()
        return Recorded(run(schema, world, 1, train), run(schema, world, 2, heldout), constraints, tables)


def names_of(constraints: Iterable[Constraint]) -> list[str]:
    """Return the constraints in words; a foreign key twice: it refuses rows that point nowhere, and deletions."""
    return [
        f"{one}{aside}" for one in constraints for aside in (("", " (delete)") if one.kind == "foreign key" else ("",))
    ]


def compare(model: Any, recorded: Recorded) -> Compared:
    """Ask a model about the held-out statements; it does not learn from them."""
    found = Compared()
    columns = {name: one.columns for one in recorded.constraints for name in names_of([one])}
    named = foreseen = 0
    for said in recorded.heldout:
        prediction = model.predict(said.state, said.action, said.args)
        found.verdicts[prediction.verdict, said.accepted] += 1
        if said.accepted:
            if prediction.verdict == "refuse":
                found.wrong.append(f"{said.action} {dict(said.args)} was accepted: {prediction.reason}")
            continue
        what = blamed(said, recorded.constraints, recorded.tables)
        found.by_constraint[what][prediction.verdict] += 1
        if prediction.verdict == "accept":
            found.wrong.append(f"{said.action} {dict(said.args)} was refused: {what}")
        if prediction.verdict == "refuse" and what in columns:
            foreseen += 1
            named += any(column in prediction.reason for column in columns[what])
    found.named = named, foreseen
    return found


def measure(
    report: Report,
    where: str,
    schema: Schema,
    recorded: Recorded,
    sizes: Sequence[int],
    make: Callable[[Journal], Any] = InducedActionModel.replay,
) -> None:
    """Let a model learn from a journal of more and more statements, and write down what it is worth."""
    journal, names, place, seen = open_journal(), names_of(recorded.constraints), f"{where}, {schema.name}", 0
    recorder = ConservativeActionModel(Vocabulary({"any": lambda state, args: True}), journal=journal)
    for size in sizes:
        for said in recorded.train[seen:size]:
            recorder.observe(said.state, said.action, said.args, said.accepted)
        seen = size
        began = time.process_time()
        model = make(journal)
        learning = time.process_time() - began
        began = time.process_time()
        found = compare(model, recorded)
        asking = (time.process_time() - began) / len(recorded.heldout)
        met = found.met(names)
        report.section = f"{place}: {len(met)} constraints met in {len(recorded.heldout):,} statements"
        report.note(f"{place}: false accepts", "surefoot", size, found.false_accepts, "")
        report.note(f"{place}: false refusals", "surefoot", size, found.false_refusals, "")
        report.note(f"{place}: unknown, accepted", "surefoot", size, found.verdicts["unknown", True], "")
        report.note(f"{place}: unknown, refused", "surefoot", size, found.verdicts["unknown", False], "")
        report.note(f"{place}: constraints learned", "surefoot", size, len(found.learned(met)), "")
        report.note(f"{place}: reasons that name a column", "surefoot", size, _percent(*found.named), "%")
    learned = set(found.learned(met))
    missing = "; ".join(f"{name} ({_said(found.by_constraint[name])})" for name in met if name not in learned)
    report.notes.append(
        f"{place}, {sizes[-1]:,} statements: {len(learned)} of {len(met)} constraints learned"
        f"{f'; not yet: {missing}' if missing else ''}; {learning:.1f} s of CPU to learn from all of them, "
        f"{1000 * asking:.2f} ms to answer"
    )
    print(report.notes[-1])
    for line in found.wrong[:5]:
        print(f"    wrong: {line[:300]}")


def _said(verdicts: Counter[str]) -> str:
    return ", ".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items()))


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


@contextlib.contextmanager
def engines(only: str) -> Iterator[list[tuple[str, str | None]]]:
    """Return the databases whose name holds a text, as (name, address); PostgreSQL runs as long as the block lasts."""
    found: list[tuple[str, str | None]] = [("SQLite", None)] if only in "SQLite" else []
    with contextlib.ExitStack() as stack:
        if only in "PostgreSQL":
            try:
                found.append(("PostgreSQL", stack.enter_context(TemporaryPostgres()).url))
            except WorldUnavailable as missing:
                print(f"PostgreSQL is left out: {missing}")
        yield found


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="SQLite alone, one schema, 400 statements")
    parser.add_argument("--only", default="", help="the schemas whose name holds this text; prints, writes nothing")
    parser.add_argument("--engine", default="", help="the databases whose name holds this text")
    parser.add_argument("--out", type=Path, default=results_of(__file__))
    options = parser.parse_args()
    report = Report("Constraints of databases, learned from statements", command_of(__file__))
    schemas = [schema for schema in SCHEMAS if options.only in schema.name][: 1 if options.quick else None]
    sizes, heldout = ((QUICK,), QUICK // 2) if options.quick else (SIZES, HELD_OUT)
    with engines("SQLite" if options.quick else options.engine) as found:
        for where, source in found:
            for schema in schemas:
                measure(report, where, schema, statements_of(schema, source, sizes[-1], heldout), sizes)
    if not options.only:
        report.write(options.out)
    print(report.table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
