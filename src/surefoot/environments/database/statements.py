r"""Statements with named parameters, and the calls that a table has of its own.

A parameter is written `:name`. What stands in quotes, in comments, in dollar quotes or after `::` is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.environments.database.engine import Table
from surefoot.errors import BadArgument

__all__ = ["Statement", "quoted", "statements_of", "written"]

_PART = re.compile(
    r"""(?P<alone>[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/
        | (?P<tag>\$(?:[A-Za-z_]\w*)?\$).*?(?P=tag) | :: | [A-Za-z_]\w*)
    | :(?P<name>[A-Za-z_]\w*)
    | (?P<end>;)
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_CONTROL = frozenset(
    {"abort", "attach", "begin", "commit", "detach", "end", "pragma", "release", "rollback", "savepoint", "start"}
)
_VERBS = ("insert", "update", "delete")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with named parameters.

    Args:
        sql: the text, one statement, with its parameters as `:name`.

    Attributes:
        names: the names of the parameters, each once, in the order of the text.

    Raises:
        BadArgument: it is empty, more than one statement, or one that begins or ends a transaction: each call is one.

    Example:
        >>> Statement("UPDATE orders SET status = :status WHERE id = :id AND note <> ':no'").names
        ('status', 'id')
        >>> Statement("COMMIT")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: 'COMMIT' begins or ends a transaction: each call is a transaction of its own
    """

    sql: str
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Read the parameters."""
        if not isinstance(self.sql, str) or not self.sql.strip():
            raise BadArgument(f"a statement must be a text of SQL, got {self.sql!r}")
        names: dict[str, None] = {}
        first, ended = "", False
        for part in _PART.finditer(self.sql):
            text = part[0]
            if part["end"]:
                ended = True
            elif text.isspace() or text.startswith(("--", "/*")):
                continue
            elif ended:
                raise BadArgument(f"{self.sql!r} is more than one statement: give each a name of its own")
            elif part["name"]:
                names[part["name"]] = None
            first = first or text.lower()
        if first in _CONTROL:
            raise BadArgument(f"{self.sql!r} begins or ends a transaction: each call is a transaction of its own")
        object.__setattr__(self, "names", tuple(names))

    def bind(self, args: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | str:
        """Return the statement and its arguments, or what is wrong with them.

        Example:
            >>> Statement("DELETE FROM orders WHERE id = :id").bind({"no": 1})
            'the arguments are id, got no'
        """
        if set(args) != set(self.names):
            return f"the arguments are {', '.join(self.names) or 'none'}, got {', '.join(args) or 'none'}"
        return self.sql, dict(args)


@dataclass(frozen=True, slots=True)
class _OfTable:
    """A call that is made for a table: which columns it names is up to its arguments."""

    verb: str
    table: Table

    def bind(self, args: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | str:
        """Return the statement and its arguments, or what is wrong with them."""
        table, key = self.table, self.table.key
        unknown = [name for name in args if name not in table.columns]
        if unknown:
            return f"{table.name} has no column {', '.join(unknown)}"
        lacking = [name for name in key if name not in args] if self.verb != "insert" else []
        if lacking:
            return f"{self.verb} needs the key: {', '.join(lacking)}"
        more = [name for name in args if name not in key]
        if (self.verb == "delete" and more) or (self.verb == "update" and not more):
            return f"delete takes the key alone, got {', '.join(more)}" if more else "update needs a column to change"
        return self._sql(list(args), more), {_plain_name(name, table): value for name, value in args.items()}

    def _sql(self, named: list[str], more: list[str]) -> str:
        into, columns = quoted(self.table.name), self.table
        if self.verb == "insert":
            if not named:
                return f"INSERT INTO {into} DEFAULT VALUES"
            values = ", ".join(f":{_plain_name(name, columns)}" for name in named)
            return f"INSERT INTO {into} ({', '.join(map(quoted, named))}) VALUES ({values})"
        where = " AND ".join(f"{quoted(name)} = :{_plain_name(name, columns)}" for name in self.table.key)
        if self.verb == "delete":
            return f"DELETE FROM {into} WHERE {where}"
        changes = ", ".join(f"{quoted(name)} = :{_plain_name(name, columns)}" for name in more)
        return f"UPDATE {into} SET {changes} WHERE {where}"


def _plain_name(column: str, table: Table) -> str:
    """Return a name for a column's parameter; a column may be called anything."""
    return column if re.fullmatch(r"[A-Za-z_]\w*", column, re.ASCII) else f"c{list(table.columns).index(column)}_"


def statements_of(table: Table) -> Iterator[tuple[str, _OfTable]]:
    """Yield (name, call) for what a table can be told: insert, and with a primary key update and delete.

    `insert` takes any of the columns, the rest have their defaults; `update` the key and the columns to change, and
    cannot change the key; `delete` the key.

    Example:
        >>> calls = dict(statements_of(Table("orders", {"id": "INTEGER", "status": "TEXT"}, ("id",))))
        >>> list(calls)
        ['insert orders', 'update orders', 'delete orders']
        >>> calls["update orders"].bind({"id": 7, "status": "paid"})[0]
        'UPDATE "orders" SET "status" = :status WHERE "id" = :id'
    """
    for verb in _VERBS if table.key else _VERBS[:1]:
        yield f"{verb} {table.name}", _OfTable(verb, table)


def written(sql: str, parameter: str, escape: Collection[str] = ()) -> str:
    """Return a statement with its parameters written as a driver takes them.

    Args:
        sql: with parameters as `:name`.
        parameter: a text with one `{}` for the name.
        escape: characters to double, wherever they stand.

    Example:
        >>> written("SELECT :a || ':b%'::text", "%({})s", "%")
        "SELECT %(a)s || ':b%%'::text"
    """

    def one(part: re.Match[str]) -> str:
        if part["name"]:
            return parameter.format(part["name"])
        text = part[0]
        for character in escape:
            text = text.replace(character, character * 2)
        return text

    return _PART.sub(one, sql)


def quoted(name: str, *more: str) -> str:
    """Return a name as an identifier of SQL, with what it is a part of before it.

    Example:
        >>> quoted('a "b" c'), quoted("public", "orders")
        ('"a ""b"" c"', '"public"."orders"')
    """
    parts: Sequence[str] = (name, *more)
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
