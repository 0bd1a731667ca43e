"""Schemas whose constraints are to be learned from statements, and the statements: drawn, run, written down.

A statement is drawn from the rows that are there and from pools of values: most columns get a value that may do, some
one that may not. Whether it does is up to the database.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surefoot.environments.database import Constraint, Database
from surefoot.environments.database.engine import Table
from surefoot.protocols import Outcome

__all__ = ["SCHEMAS", "Schema", "Statement", "blamed", "run"]

State = Mapping[str, Any]
_EPISODE = 80
"""Statements after which the database is at its start again."""


@dataclass(frozen=True)
class Ref:
    """Draw a key that is in another table, or, as a bad one, a key that is not."""

    table: str
    column: str = "id"


@dataclass(frozen=True)
class Pool:
    """Draw from what may do, or from what may not; `fresh`: what no row has yet is good, what one has is bad."""

    good: tuple[Any, ...]
    bad: tuple[Any, ...] = ()
    fresh: bool = False


@dataclass(frozen=True)
class Schema:
    """Tables with their constraints, and what to draw for their columns."""

    name: str
    setup: str
    columns: Mapping[str, Mapping[str, Ref | Pool]]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that was run: in which state, with what arguments, and what the database said."""

    state: State
    action: str
    args: Mapping[str, Any]
    accepted: bool
    reason: str | None


_IDS = Pool(tuple(range(1, 41)), fresh=True)
_NAMES = tuple(f"{a}{b}" for a in ("al", "be", "ca", "du", "el", "fo") for b in ("ra", "to", "mi", "ne", "su", "ko"))
_DAYS = tuple(f"2026-0{month}-{day:02}" for month in range(1, 7) for day in (1, 8, 15, 22))
_EMAILS = Pool(tuple(f"{name}@x.org" for name in _NAMES), ("nobody", "@"), fresh=True)

SCHEMAS = (
    Schema(
        "shop",
        """
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    email VARCHAR(40) NOT NULL UNIQUE CHECK (email LIKE '_%@_%'),
    credit INTEGER NOT NULL DEFAULT 0 CHECK (credit >= 0)
);
CREATE TABLE products (
    id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE, price INTEGER NOT NULL CHECK (price > 0)
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer INTEGER NOT NULL REFERENCES customers (id),
    status VARCHAR(10) NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'sent'))
);
CREATE TABLE items (
    ordered INTEGER NOT NULL REFERENCES orders (id),
    product INTEGER NOT NULL REFERENCES products (id),
    pieces INTEGER NOT NULL CHECK (pieces BETWEEN 1 AND 99),
    PRIMARY KEY (ordered, product)
);
INSERT INTO customers VALUES (1, 'ann@x.org', 20), (2, 'bob@x.org', 0), (3, 'cat@x.org', 5);
INSERT INTO products VALUES (1, 'bolt', 5), (2, 'nut', 1), (3, 'cog', 7);
INSERT INTO orders VALUES (1, 1, 'open'), (2, 2, 'paid'), (3, 1, 'sent');
INSERT INTO items VALUES (1, 1, 2), (2, 1, 1), (2, 3, 4);
""",
        {
            "customers": {"id": _IDS, "email": _EMAILS, "credit": Pool((0, 1, 5, 20, 300), (-1, -20))},
            "products": {"id": _IDS, "name": Pool(_NAMES, fresh=True), "price": Pool((1, 2, 9, 40), (0, -1, -9))},
            "orders": {
                "id": _IDS,
                "customer": Ref("customers"),
                "status": Pool(("open", "paid", "sent"), ("done", "OPEN", "")),
            },
            "items": {
                "ordered": Ref("orders"),
                "product": Ref("products"),
                "pieces": Pool((1, 2, 7, 50, 99), (0, -3, 100, 400)),
            },
        },
    ),
    Schema(
        "library",
        """
CREATE TABLE members (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL CHECK (length(name) >= 2));
CREATE TABLE books (
    id INTEGER PRIMARY KEY,
    isbn VARCHAR(13) NOT NULL UNIQUE CHECK (length(isbn) IN (10, 13)),
    title VARCHAR(40) NOT NULL,
    copies INTEGER NOT NULL CHECK (copies >= 0)
);
CREATE TABLE loans (
    id INTEGER PRIMARY KEY,
    book INTEGER NOT NULL REFERENCES books (id),
    member INTEGER NOT NULL REFERENCES members (id),
    lent DATE NOT NULL,
    back DATE,
    CHECK (back >= lent),
    UNIQUE (book, member, lent)
);
INSERT INTO members VALUES (1, 'ann'), (2, 'bob'), (3, 'cy');
INSERT INTO books VALUES (1, '1234567890', 'One', 2), (2, '1234567890123', 'Two', 0), (3, '1234567891', 'Three', 1);
INSERT INTO loans VALUES (1, 1, 1, '2026-01-08', NULL), (2, 2, 1, '2026-02-01', '2026-03-01');
""",
        {
            "members": {"id": _IDS, "name": Pool(_NAMES, ("x", ""))},
            "books": {
                "id": _IDS,
                "isbn": Pool(
                    tuple(f"{n:0{width}}" for n in range(301, 320) for width in (10, 13)),
                    ("12345", "12345678901", ""),
                    fresh=True,
                ),
                "title": Pool(_NAMES),
                "copies": Pool((0, 1, 2, 5), (-1, -2)),
            },
            "loans": {
                "id": _IDS,
                "book": Ref("books"),
                "member": Ref("members"),
                "lent": Pool(_DAYS),
                "back": Pool((*_DAYS[8:], None, None)),
            },
        },
    ),
    Schema(
        "school",
        """
CREATE TABLE students (
    id INTEGER PRIMARY KEY, email VARCHAR(40) UNIQUE, year INTEGER NOT NULL CHECK (year BETWEEN 1 AND 6)
);
CREATE TABLE courses (
    code VARCHAR(5) PRIMARY KEY NOT NULL CHECK (length(code) = 5),
    low INTEGER NOT NULL CHECK (low >= 0),
    high INTEGER NOT NULL,
    CHECK (low < high)
);
CREATE TABLE marks (
    student INTEGER NOT NULL REFERENCES students (id),
    course VARCHAR(5) NOT NULL REFERENCES courses (code),
    term INTEGER NOT NULL CHECK (term IN (1, 2)),
    mark INTEGER CHECK (mark >= 0 AND mark <= 100),
    passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
    CHECK (passed = 0 OR mark >= 50),
    PRIMARY KEY (student, course, term)
);
INSERT INTO students VALUES (1, 'a@x.org', 1), (2, NULL, 3), (3, 'c@x.org', 6);
INSERT INTO courses VALUES ('MA101', 5, 20), ('PH101', 0, 10), ('CH202', 3, 9);
INSERT INTO marks VALUES (1, 'MA101', 1, 60, 1), (1, 'PH101', 1, NULL, 0), (2, 'MA101', 2, 40, 0);
""",
        {
            "students": {
                "id": _IDS,
                "email": Pool((*(f"{name}@x.org" for name in _NAMES), None, None, None), fresh=True),
                "year": Pool((1, 2, 3, 4, 5, 6), (0, -1, 7, 12)),
            },
            "courses": {
                "code": Pool(tuple(f"{a}{n}" for a in ("MA", "PH", "CH", "BI") for n in range(300, 310)), ("MA1",)),
                "low": Pool((0, 1, 3, 5, 8), (-1, -4)),
                "high": Pool((9, 12, 20, 30), (0, 2, 4)),
            },
            "marks": {
                "student": Ref("students"),
                "course": Ref("courses", "code"),
                "term": Pool((1, 2), (0, 3)),
                "mark": Pool((0, 20, 49, 50, 51, 75, 100, None), (-1, 101, 150)),
                "passed": Pool((0, 0, 1), (2, -1)),
            },
        },
    ),
    Schema(
        "company",
        """
CREATE TABLE departments (
    id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, budget INTEGER NOT NULL CHECK (budget > 0)
);
CREATE TABLE staff (
    id INTEGER PRIMARY KEY,
    department INTEGER NOT NULL REFERENCES departments (id),
    boss INTEGER REFERENCES staff (id),
    pay INTEGER NOT NULL CHECK (pay >= 1000),
    most INTEGER NOT NULL,
    CHECK (pay <= most),
    CHECK (boss <> id)
);
CREATE TABLE projects (
    department INTEGER NOT NULL REFERENCES departments (id),
    number INTEGER NOT NULL CHECK (number > 0),
    starts DATE NOT NULL,
    ends DATE NOT NULL,
    CHECK (starts < ends),
    PRIMARY KEY (department, number)
);
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    department INTEGER NOT NULL,
    number INTEGER NOT NULL,
    share INTEGER NOT NULL CHECK (share > 0 AND share <= 100),
    FOREIGN KEY (department, number) REFERENCES projects (department, number)
);
INSERT INTO departments VALUES (1, 'sales', 100), (2, 'works', 500), (3, 'labs', 900);
INSERT INTO staff VALUES (1, 1, NULL, 3000, 4000), (2, 1, 1, 2000, 2000), (3, 2, 1, 1500, 2500);
INSERT INTO projects VALUES (1, 1, '2026-01-01', '2026-02-01'), (2, 1, '2026-01-08', '2026-05-01');
INSERT INTO tasks VALUES (1, 1, 1, 50), (2, 2, 1, 100);
""",
        {
            "departments": {"id": _IDS, "name": Pool(_NAMES, fresh=True), "budget": Pool((1, 50, 700), (0, -50))},
            "staff": {
                "id": _IDS,
                "department": Ref("departments"),
                "boss": Ref("staff"),
                "pay": Pool((1000, 1500, 2000, 3000), (0, 500, 999)),
                "most": Pool((3000, 4000, 5000), (1000, 1500)),
            },
            "projects": {
                "department": Ref("departments"),
                "number": Pool((1, 2, 3, 4, 5), (0, -1)),
                "starts": Pool(_DAYS[:14]),
                "ends": Pool(_DAYS[10:]),
            },
            "tasks": {
                "id": _IDS,
                "department": Ref("projects", "department"),
                "number": Pool((1, 1, 2, 3)),
                "share": Pool((1, 10, 50, 100), (0, -5, 101, 300)),
            },
        },
    ),
)  # fmt: skip
"""The schemas, each with its own shapes: lists of values, ranges, lengths, two columns compared, an implication,
composite keys, a reference to the same table.
"""


def rows_of(state: State, table: str) -> list[Mapping[str, Any]]:
    """Return the rows of a table, however the state holds them."""
    rows = state[table]
    return list(rows.values()) if isinstance(rows, Mapping) else list(rows)


def _value(rng: random.Random, state: State, table: str, column: str, how: Ref | Pool, good: bool) -> Any:
    """Draw a value for a column."""
    if isinstance(how, Ref):
        there = [row[how.column] for row in rows_of(state, how.table)]
        if good and there:
            return rng.choice(there)
        missing = [n for n in range(1, 45) if n not in there] if all(isinstance(n, int) for n in there) else ["XX999"]
        return rng.choice(missing)
    used = {row[column] for row in rows_of(state, table)} if how.fresh else set()
    fresh = [value for value in how.good if value not in used or value is None]
    if good:
        return rng.choice(fresh or list(how.good))
    bad = [*how.bad, *(value for value in sorted(used, key=str) if value is not None)]
    return rng.choice(bad or list(how.good))


def _draw(rng: random.Random, schema: Schema, keys: Mapping[str, tuple[str, ...]], state: State) -> tuple[str, Any]:
    """Draw a statement."""
    table = rng.choice(list(schema.columns))
    columns, key = schema.columns[table], keys[table]
    verb = rng.choices(("insert", "update", "delete"), (55, 30, 15))[0]
    rows = rows_of(state, table)
    if verb == "insert" or not rows:
        named = list(columns)
        verb = "insert"
        args: dict[str, Any] = {}
    else:
        row = rng.choice(rows)
        args = {name: row[name] for name in key}
        if rng.random() < 0.1:  # a row that is not there
            name = rng.choice(key)
            args[name] = rng.choice([97, 98, 99]) if isinstance(args[name], int) else "ZZ000"
        if verb == "delete":
            return f"delete {table}", args
        free = [name for name in columns if name not in key]
        named = rng.sample(free, min(len(free), rng.choice((1, 1, 2))))
    wrong = set() if rng.random() < 0.5 else {rng.choice(named)}
    for name in named:
        how = columns[name]
        if name in wrong and rng.random() < 0.2:
            args[name] = None
        elif isinstance(how, Ref) and name not in wrong and name not in key and rng.random() < 0.05:
            args[name] = None
        else:
            args[name] = _value(rng, state, table, name, how, name not in wrong)
    if verb == "insert" and rng.random() < 0.1:
        del args[rng.choice(named)]
    return f"{verb} {table}", args


def world_of(schema: Schema, source: str | None) -> Database:
    """Return the world of a schema; a call for a row that is not there is refused."""
    calls = [f"{verb} {table}" for table in schema.columns for verb in ("update", "delete")]
    return Database(source, setup=schema.setup, tables=list(schema.columns), refuse_empty=calls)


def run(schema: Schema, world: Database, seed: int, statements: int) -> list[Statement]:
    """Draw statements, run them, and return what the database said."""
    rng = random.Random(seed)
    found: list[Statement] = []
    keys = {table.name: table.key for table in world.tables()}
    state: State = world.reset()
    while len(found) < statements:
        if len(found) % _EPISODE == 0:
            state = world.reset()
        action, args = _draw(rng, schema, keys, state)
        outcome: Outcome[Any] = world.step({"name": action, "args": args})
        assert outcome.verdict != "fault", outcome
        found.append(Statement(state, action, args, outcome.accepted, outcome.reason))
        state = outcome.state
    return found


def blamed(said: Statement, constraints: tuple[Constraint, ...], tables: tuple[Table, ...]) -> str:
    """Return which constraint of the catalogue a refusal names, in words; its reason where it is none of them."""
    assert said.reason is not None  # a refusal has one
    code, _, what = said.reason.partition(" ")
    verb, table = said.action.split(" ", 1)
    aside = " (delete)" if verb == "delete" else ""
    for one in constraints:
        if one.name and one.name == what:
            return f"{one}{aside}"
    kind = {
        "SQLITE_CONSTRAINT_NOTNULL": "not null",
        "SQLITE_CONSTRAINT_UNIQUE": "unique",
        "SQLITE_CONSTRAINT_PRIMARYKEY": "unique",
        "SQLITE_CONSTRAINT_CHECK": "check",
        "SQLITE_CONSTRAINT_FOREIGNKEY": "foreign key",
        "23502": "not null",
    }.get(code)
    columns = tuple(part.partition(".")[2] for part in what.split(", "))
    for one in constraints:
        if one.kind != kind:
            continue
        if kind == "check" and one.table == table and one.rule == what:
            return str(one)
        if kind in ("not null", "unique") and one.table == table and one.columns == columns:
            return str(one)
        if kind == "foreign key" and _dangles(one, said, verb, table, tables):
            return f"{one}{aside}"
    return said.reason


def _dangles(one: Constraint, said: Statement, verb: str, table: str, tables: tuple[Table, ...]) -> bool:
    """Say whether a statement would leave a reference that leads nowhere: SQLite does not say which."""
    other, _, to = one.rule.removesuffix(")").partition(" (")
    names = to.split(", ")
    key = next(known.key for known in tables if known.name == table)

    def same(row: Mapping[str, Any]) -> bool:
        return all(row[name] == said.args.get(name) for name in key)

    if verb == "delete":
        gone = next((row for row in rows_of(said.state, table) if same(row)), None)
        return (
            other == table
            and gone is not None
            and any(
                [row[name] for name in one.columns] == [gone[name] for name in names]
                for row in rows_of(said.state, one.table)
            )
        )
    if one.table != table:
        return False
    before = next((row for row in rows_of(said.state, table) if same(row)), {}) if verb == "update" else {}
    after = {**before, **said.args}
    wanted = [after.get(name) for name in one.columns]
    there = [
        [row.get(name) for name in names] for row in [*rows_of(said.state, other), *([after] if other == table else [])]
    ]
    return None not in wanted and wanted not in there
