"""Parameters are found where they are parameters, and a table has the calls that its columns make."""

from __future__ import annotations

import pytest

from surefoot.environments.database.engine import Table
from surefoot.environments.database.statements import Statement, quoted, statements_of, written
from surefoot.errors import BadArgument

TRICKY = """SELECT ':a', ":b", E'\\':c', $$ :d $$, $t$ $$ :e $t$, x::text, /* :f */ :g -- :h
            , :i2 + :g"""


def test_parameters_stand_outside_quotes_comments_and_casts() -> None:
    assert Statement(TRICKY).names == ("g", "i2")
    assert written(TRICKY, "%({})s", "%").count("%(g)s") == 2
    assert written("SELECT 1 % :a", "%({})s", "%") == "SELECT 1 %% %(a)s"


@pytest.mark.parametrize("sql", ["DELETE FROM a; DELETE FROM b", "SELECT ';'; ;\nSELECT 1"])
def test_one_statement_at_a_time(sql: str) -> None:
    with pytest.raises(BadArgument, match="is more than one statement"):
        Statement(sql)
    assert Statement("SELECT ';' ; -- the end\n").names == ()


@pytest.mark.parametrize("sql", ["COMMIT", "/* so */ rollback", "BEGIN IMMEDIATE", "Savepoint a", "ATTACH 'x' AS y"])
def test_a_statement_controls_no_transaction(sql: str) -> None:
    with pytest.raises(BadArgument, match="begins or ends a transaction"):
        Statement(sql)


@pytest.mark.parametrize("sql", ["", "  \n", None, 3])
def test_a_statement_is_a_text(sql: str) -> None:
    with pytest.raises(BadArgument, match="a statement must be a text of SQL, got"):
        Statement(sql)


def test_arguments_fit_or_it_says_why_not() -> None:
    statement = Statement("UPDATE t SET a = :a WHERE b = :b")
    assert statement.bind({"b": 1, "a": None}) == (statement.sql, {"b": 1, "a": None})
    assert statement.bind({"a": 1}) == "the arguments are a, b, got a"
    assert Statement("DELETE FROM t").bind({"a": 1}) == "the arguments are none, got a"


def test_a_table_has_calls_of_its_own() -> None:
    calls = dict(statements_of(Table("t", {"a": "", "b": "", "odd name": ""}, ("a", "b"))))
    assert calls["insert t"].bind({}) == ('INSERT INTO "t" DEFAULT VALUES', {})
    assert calls["insert t"].bind({"odd name": 1}) == ('INSERT INTO "t" ("odd name") VALUES (:c2_)', {"c2_": 1})
    assert calls["delete t"].bind({"a": 1, "b": 2}) == ('DELETE FROM "t" WHERE "a" = :a AND "b" = :b', {"a": 1, "b": 2})
    assert calls["update t"].bind({"b": 2, "a": 1, "odd name": 3}) == (
        'UPDATE "t" SET "odd name" = :c2_ WHERE "a" = :a AND "b" = :b',
        {"b": 2, "a": 1, "c2_": 3},
    )
    assert calls["update t"].bind({"a": 1, "b": 2}) == "update needs a column to change"
    assert calls["update t"].bind({"a": 1, "odd name": 2}) == "update needs the key: b"
    assert calls["delete t"].bind({"a": 1, "b": 2, "odd name": 3}) == "delete takes the key alone, got odd name"
    assert calls["insert t"].bind({"c": 1}) == "t has no column c"
    assert [name for name, _ in statements_of(Table("log", {"line": ""}))] == ["insert log"]


def test_names_are_quoted() -> None:
    assert quoted('a"b', "c d") == '"a""b"."c d"'
