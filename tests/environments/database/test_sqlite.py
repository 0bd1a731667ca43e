"""SQLite: its codes, its catalogue, files of every kind, and what breaks."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from surefoot.environments.database import Database
from surefoot.environments.database.engine import Broke, No, Ran
from surefoot.environments.database.sqlite import SQLite, checks_in
from surefoot.errors import WorldUnavailable

SETUP = """
CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT NOT NULL, x INTEGER CONSTRAINT small CHECK (x < 10 /* or null */));
CREATE TABLE b (k TEXT, n INTEGER, a INTEGER REFERENCES a DEFERRABLE INITIALLY DEFERRED,
                PRIMARY KEY (k, n), FOREIGN KEY (k, n) REFERENCES b (k, n)) WITHOUT ROWID;
CREATE UNIQUE INDEX one ON a (name, x);
CREATE UNIQUE INDEX partial ON a (x) WHERE x > 5;
CREATE TABLE strict (n INTEGER) STRICT;
CREATE TRIGGER never BEFORE DELETE ON a BEGIN SELECT RAISE(ABORT, 'rows of a stay'); END;
INSERT INTO a VALUES (1, 'one', 1);
"""


@pytest.fixture
def engine() -> SQLite:
    made = SQLite(None, setup=SETUP)
    made.start()
    return made


def taken(engine: SQLite, sql: str, args: dict[str, Any] | None = None) -> Ran | No | Broke:
    answer = engine.attempt(sql, args or {}, empty=True)
    return (engine.keep() or answer) if isinstance(answer, Ran) else answer


@pytest.mark.parametrize(
    ("sql", "args", "reason"),
    [
        ("INSERT INTO a VALUES (1, 'x', 1)", {}, "SQLITE_CONSTRAINT_PRIMARYKEY a.id"),
        ("INSERT INTO a VALUES (2, NULL, 1)", {}, "SQLITE_CONSTRAINT_NOTNULL a.name"),
        ("INSERT INTO a VALUES (2, 'x', 10)", {}, "SQLITE_CONSTRAINT_CHECK small"),
        ("INSERT INTO a VALUES (2, 'one', 1)", {}, "SQLITE_CONSTRAINT_UNIQUE a.name, a.x"),
        ("INSERT INTO b VALUES ('k', 1, 9)", {}, "SQLITE_CONSTRAINT_FOREIGNKEY"),  # at the end of the transaction
        ("INSERT INTO strict VALUES ('x')", {}, "SQLITE_CONSTRAINT_DATATYPE"),
        ("DELETE FROM a", {}, "SQLITE_CONSTRAINT_TRIGGER"),
        ("SELECT abs(-9223372036854775808)", {}, "SQLITE_ERROR"),
        ("INSERT INTO a VALUES (:n, 'x', 1)", {"n": 2**70}, "OverflowError"),
        ("INSERT INTO a VALUES (:n, 'x', 1)", {"n": [1]}, "ProgrammingError"),
        ("INSERT INTO a VALUES (2, :n, 1)", {"n": "\udc00"}, "UnicodeEncodeError"),
    ],
)
def test_what_the_database_says_no_to_is_a_refusal(engine: SQLite, sql: str, args: dict[str, Any], reason: str) -> None:
    before = engine.save()
    answer = taken(engine, sql, args)
    assert isinstance(answer, No), answer
    assert answer.reason == reason
    assert engine.save() == before


def test_a_statement_that_takes_too_long_is_a_fault() -> None:
    engine = SQLite(None, timeout=0.05)
    engine.start()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    assert engine.attempt(endless, {}, empty=True) == Broke("SQLITE_INTERRUPT", "interrupted")
    assert taken(engine, "SELECT 1 AS one") == Ran(1, ({"one": 1},))


def test_a_lock_is_a_fault_and_may_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("CREATE TABLE t (n INTEGER PRIMARY KEY)")
    other.execute("BEGIN EXCLUSIVE")
    with Database(path, tables=["t"], commit=True, timeout=0.05) as world:
        with pytest.raises(WorldUnavailable, match="database is locked"):
            world.reset()
        other.execute("COMMIT")
        world.reset()
        other.execute("BEGIN IMMEDIATE")
        outcome = world.step({"name": "insert t", "args": {"n": 1}})
        assert (outcome.verdict, outcome.fault) == ("fault", "SQLITE_BUSY: database is locked")
        other.execute("COMMIT")
        assert world.step({"name": "insert t", "args": {"n": 1}}).accepted
    assert other.execute("SELECT n FROM t").fetchall() == [(1,)]
    other.close()


def test_a_file_with_a_write_ahead_log_is_read_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "wal #1?.db"
    file = sqlite3.connect(path)
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("CREATE TABLE t (n INTEGER PRIMARY KEY)")
    file.commit()
    with Database(path, tables=["t"]) as world:
        assert world.reset() == {"t": {}}
        assert world.step({"name": "insert t", "args": {"n": 7}}).state == {"t": {"7": {"n": 7}}}
        assert world.reset() == {"t": {}}
    assert file.execute("SELECT count(*) FROM t").fetchone() == (0,)
    file.close()


def test_what_is_no_database_is_no_world(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear all, " * 100)
    with pytest.raises(WorldUnavailable, match="cannot read the database .*: file is not a database"):
        Database(path).reset()
    with pytest.raises(WorldUnavailable, match="file is not a database"):
        Database(path, commit=True).reset()


def test_the_catalogue_is_read(engine: SQLite) -> None:
    assert [(table.name, table.key) for table in engine.tables()] == [("a", ("id",)), ("b", ("k", "n")), ("strict", ())]
    assert [str(constraint) for constraint in engine.constraints()] == [
        "a (name): not null",
        "a (id): unique",
        "a (name, x): unique",
        "a (x): check x < 10",
        "b (k): not null",
        "b (n): not null",
        "b (k, n): unique",
        "b (a): foreign key a (id)",
        "b (k, n): foreign key b (k, n)",
    ]


def test_checks_are_found_in_a_definition() -> None:
    definition = """CREATE TABLE "check (no)" (a TEXT CHECK(a LIKE '%)%'), checked INT, -- CHECK (no)
        b INT CHECK ((b > 0)
        AND b < 9), CHECK (a <> "b") /* CHECK (no) */)"""
    assert checks_in(definition) == ["a LIKE '%)%'", "(b > 0) AND b < 9", 'a <> "b"']
