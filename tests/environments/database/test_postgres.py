"""PostgreSQL, a real server: the laws, SQLSTATE, sequences, locks, a lost connection, the catalogue."""

from __future__ import annotations

import sys
from typing import Any

import psycopg
import pytest

from surefoot.environments.database import Database
from surefoot.environments.database.engine import Broke, No, Ran
from surefoot.environments.database.postgres import Postgres
from surefoot.errors import BadArgument, MissingExtra, WorldUnavailable
from surefoot.testing import check_environment

SETUP = """
CREATE TABLE a (id SERIAL PRIMARY KEY, name VARCHAR(5) NOT NULL, x INTEGER CONSTRAINT small CHECK (x < 10));
CREATE TABLE b (k TEXT, n INTEGER, a INTEGER REFERENCES a DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY (k, n),
                price NUMERIC(6, 2), due DATE, more JSONB, tags TEXT[]);
CREATE UNIQUE INDEX one ON a (name, x);
"""


def world_at(url: str, **options: Any) -> Database:
    given: dict[str, Any] = {
        "setup": SETUP,
        "tables": ["a", "b"],
        "offers": {
            "insert a": [{"name": name, "x": x} for name in ("one", "much too long") for x in (1, 10)],
            "insert b": [{"k": "k", "n": 1, "a": 1}, {"k": "k", "n": 1}],
            "delete a": lambda state: [{"id": row["id"]} for row in state["a"].values()],
        },
    }
    return Database(url, **(given | options))


@pytest.fixture
def engine(postgres: str) -> Any:
    made = Postgres(postgres, setup=SETUP)
    made.start()
    yield made
    made.close()


def taken(engine: Postgres, sql: str, args: Any = None) -> Ran | No | Broke:
    answer = engine.attempt(sql, args or {}, empty=True)
    return (engine.keep() or answer) if isinstance(answer, Ran) else answer


def test_it_keeps_the_laws(postgres: str) -> None:
    report = check_environment(
        lambda: world_at(postgres),
        seeds=(0,),
        steps=5,
        long=8,
        examples=1,
        walk=[{"name": "insert b", "args": {"k": "k", "n": 1, "a": 1}}, {"name": "insert a", "args": {"name": "two"}}],
    )
    assert report["refusals"] > 0


@pytest.mark.parametrize(
    ("sql", "args", "reason"),
    [
        ("INSERT INTO a (id, name) VALUES (1, 'x')", {}, "23505 a_pkey"),
        ("INSERT INTO a (name) VALUES (:name)", {"name": None}, "23502 a.name"),
        ("INSERT INTO a (name, x) VALUES ('x', :x)", {"x": 10}, "23514 small"),
        ("INSERT INTO a (name, x) VALUES ('one', 1)", {}, "23505 one"),
        ("INSERT INTO b (k, n, a) VALUES ('k', 1, 9)", {}, "23503 b_a_fkey"),  # at the end of the transaction
        ("INSERT INTO a (name) VALUES ('123456')", {}, "22001"),
        ("INSERT INTO a (name, x) VALUES ('x', :x)", {"x": "many"}, "22P02"),
        ("SELECT 1 / :n", {"n": 0}, "22012"),
        ("SELECT * FROM nowhere", {}, "42P01"),
        ("INSERT INTO a (name) VALUES (:name)", {"name": "a\0"}, "DataError"),
    ],
)
def test_what_the_database_says_no_to_is_a_refusal(engine: Postgres, sql: str, args: Any, reason: str) -> None:
    assert isinstance(taken(engine, "INSERT INTO a (name, x) VALUES ('one', 1)"), Ran)
    answer = taken(engine, sql, args)
    assert isinstance(answer, No), answer
    assert answer.reason == reason
    assert engine.attempt("UPDATE a SET x = 2 WHERE id = 9", {}, empty=False) == No("no row")
    made = taken(engine, "INSERT INTO a (name, x) VALUES ('two', 2) RETURNING id")
    assert made == Ran(1, ({"id": 2},)), "a refusal leaves a trace in the sequence"


def test_what_breaks_is_a_fault(postgres: str) -> None:
    engine = Postgres(postgres, setup=SETUP, timeout=0.1)
    engine.start()
    answer = engine.attempt("SELECT pg_sleep(9)", {}, empty=True)
    assert isinstance(answer, Broke)
    assert answer.code == "57014"
    assert taken(engine, "SELECT 1 AS one") == Ran(1, ({"one": 1},))
    engine.close()


def test_a_lock_is_a_fault_and_a_commit_is_kept(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute("CREATE TABLE kept (n INTEGER PRIMARY KEY)")
        with Database(postgres, tables=["kept"], commit=True, timeout=0.2) as world:
            assert world.reset() == {"kept": {}}
            with other.transaction():
                other.execute("LOCK TABLE kept IN EXCLUSIVE MODE")
                outcome = world.step({"name": "insert kept", "args": {"n": 1}})
                assert outcome.verdict == "fault"
                assert (outcome.fault or "")[:5] in ("55P03", "57014")
            assert world.step({"name": "insert kept", "args": {"n": 1}}).accepted
            assert world.step({"name": "insert kept", "args": {"n": 1}}).reason == "23505 kept_pkey"
        with Database(postgres, tables=["kept"]) as rehearsed:
            assert rehearsed.reset() == {"kept": {"1": {"n": 1}}}
            assert rehearsed.step({"name": "delete kept", "args": {"n": 1}}).state == {"kept": {}}
        assert other.execute("SELECT n FROM kept").fetchall() == [(1,)]
        other.execute("DROP TABLE kept")


def test_a_lost_connection_is_a_fault_and_the_world_is_where_it_was(postgres: str) -> None:
    with world_at(postgres) as world:
        world.reset()
        before = world.step({"name": "insert a", "args": {"name": "one", "x": 1}}).state
        assert isinstance(world.engine, Postgres)
        with psycopg.connect(postgres, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'")
        outcome = world.step({"name": "insert a", "args": {"name": "two", "x": 2}})
        assert (outcome.verdict, outcome.state) == ("fault", before)
        assert (outcome.fault or "").startswith(("the connection is lost: ", "57P01: "))
        after = world.step({"name": "insert a", "args": {"name": "two", "x": 2}}).state
        assert after["a"] == {**before["a"], "2": {"id": 2, "name": "two", "x": 2}}


def test_values_come_back_as_plain_ones(postgres: str) -> None:
    args = {"k": "k", "n": 1, "price": "9.5", "due": "2026-01-02", "more": {"b": [1, None]}, "tags": ["x", "y"]}
    with world_at(postgres) as world:
        world.reset()
        outcome = world.step({"name": "insert b", "args": args})
        assert outcome.state["b"] == [{**args, "a": None, "price": "9.50"}], outcome


def test_the_catalogue_is_read(engine: Postgres) -> None:
    assert [(table.name, table.key) for table in engine.tables()] == [("a", ("id",)), ("b", ("k", "n"))]
    assert [str(constraint) for constraint in engine.constraints()] == [
        "a (x): check x < 10",
        "a (id): not null",
        "a (name): not null",
        "a (id): unique",
        "a (name, x): unique",
        "b (a): foreign key a(id) DEFERRABLE INITIALLY DEFERRED",
        "b (k): not null",
        "b (n): not null",
        "b (k, n): unique",
    ]


def test_what_is_no_sql_or_no_server_is_said(postgres: str) -> None:
    with pytest.raises(BadArgument, match=r"statements\['x'\] cannot be run by PostgreSQL .*: syntax error"):
        world_at(postgres, statements={"x": "SELECT FROM WHERE"}).reset()
    with pytest.raises(BadArgument, match="setup cannot be run: syntax error"):
        world_at(postgres, setup="CREATE TABLE (").reset()
    with pytest.raises(WorldUnavailable, match="cannot work in host=/nowhere dbname=x: ") as told:
        Database("postgresql://me:secret@/x?host=/nowhere", timeout=1).reset()
    assert "secret" not in str(told.value)


def test_without_psycopg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"pip install 'surefoot\[postgres\]'"):
        Database("postgresql:///x")
