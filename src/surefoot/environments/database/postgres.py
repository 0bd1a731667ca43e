"""PostgreSQL behind a world: an episode is one transaction that is never committed, unless that is asked for."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.environments.database.engine import Broke, Constraint, No, Ran, Table, rows_of
from surefoot.environments.database.statements import quoted, written
from surefoot.errors import BadArgument, MissingExtra, WorldUnavailable

if TYPE_CHECKING:
    import psycopg

__all__ = ["REFUSALS", "Postgres"]

REFUSALS = frozenset({"0A", "20", "21", "22", "23", "27", "28", "2F", "42", "44", "P0"})
"""The classes of SQLSTATE that are an answer; all others (08, 25, 40, 53, 55, 57, 58, XX, …) are breakdowns.

Example:
    >>> "23" in REFUSALS, "40" in REFUSALS
    (True, False)
"""

_MOST_RETURNED = 1_000
_SEEN = "n.nspname = ANY (current_schemas(false))"


class Postgres:
    """Run statements in PostgreSQL.

    Without `commit` an episode is one transaction (repeatable read), each call a savepoint in it; going back to the
    start, or to a snapshot, rolls back and takes the accepted calls again. With a `setup` the transaction has a schema
    of its own, which nobody else ever sees. A connection that is lost is opened again at the next call, and the calls
    that were accepted are taken again, so that the world is where it was.

    Args:
        url: where, as `postgresql://user@host/database`.
        setup: a script to run at the start, in a schema of its own; "": work on what is there.
        commit: make each call a transaction, and commit it.
        timeout: seconds that a statement, or waiting for a lock, may take.

    Raises:
        MissingExtra: psycopg is not installed.

    Example:
        >>> Postgres("postgresql:///nowhere").name
        'PostgreSQL'
    """

    def __init__(self, url: str, *, setup: str = "", commit: bool = False, timeout: float = 10.0) -> None:
        """Remember where it is; `start` connects."""
        try:
            import psycopg
            from psycopg.types.json import Json
        except ImportError as error:
            raise MissingExtra.of("psycopg", extra="postgres", what="worlds in PostgreSQL") from error
        self._psycopg, self._json = psycopg, Json
        self.errors: tuple[type[Exception], ...] = (psycopg.Error,)
        self.name = "PostgreSQL"
        self._url, self._setup, self._commit, self._timeout = url, setup, commit, timeout
        self._schema = f"surefoot_{uuid.uuid4().hex}"
        self._connected: psycopg.Connection[Any] | None = None
        self._log: list[tuple[str, dict[str, Any]]] = []
        self._pending: tuple[str, dict[str, Any]] | None = None
        self._first: dict[str, tuple[int, bool]] = {}
        self._counts: dict[str, tuple[int, bool]] = {}
        self._deferred = ""

    # -- the transaction ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Go to the start: roll back to what the set-up made."""
        self._log, self._pending = [], None
        try:
            if self._connected is None or self._connected.broken or self._connected.closed:
                self._connect()
            elif not self._commit:
                self._rewind()
        except self._psycopg.Error as error:
            self.close()
            raise WorldUnavailable(f"cannot work in {self._where()}: {_first_line(error)}") from error

    def _where(self) -> str:
        """Return the address without a password."""
        given = self._psycopg.conninfo.conninfo_to_dict(self._url)
        shown = {name: given.get(name) for name in ("host", "port", "dbname") if given.get(name)}
        return " ".join(f"{name}={value}" for name, value in shown.items()) or "the local PostgreSQL"

    def _connect(self) -> None:
        """Open a connection and make the start."""
        self.close()
        limit = max(1, round(self._timeout))
        connection = self._psycopg.connect(
            self._url, autocommit=True, prepare_threshold=None, connect_timeout=max(2, limit)
        )
        self._connected = connection
        version = connection.info.server_version
        self.name = f"PostgreSQL {version // 10_000}.{version % 10_000}"
        try:
            self._begin(connection)
        except BaseException:
            self.close()
            raise

    def _begin(self, connection: psycopg.Connection[Any]) -> None:
        """Begin the transaction of an episode, and run the set-up in it."""
        milliseconds = round(self._timeout * 1000)
        for setting in ("statement_timeout", "lock_timeout"):
            connection.execute(f"SET {setting} = {milliseconds}")
        if self._commit:
            return
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        if self._setup:
            connection.execute(f"CREATE SCHEMA {self._schema}")
            connection.execute(f"SET LOCAL search_path TO {self._schema}")
            try:
                connection.execute(self._setup.encode())
            except self._psycopg.Error as error:
                if connection.broken:
                    raise
                raise BadArgument(f"setup cannot be run: {_first_line(error)}") from error
            self._first = self._counts = self._sequences()
        rows = connection.execute(
            "SELECT n.nspname, c.conname FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace "
            f"WHERE c.condeferred AND {_SEEN} ORDER BY 1, 2"
        ).fetchall()
        self._deferred = ", ".join(quoted(*row) for row in rows)
        connection.execute("SAVEPOINT start")

    def _rewind(self) -> None:
        """Go back to the savepoint of the start; sequences do not take part in transactions, and are put back."""
        assert self._connected is not None  # whoever calls it is connected
        self._connected.execute("ROLLBACK TO SAVEPOINT start")
        self._count_from(self._first)

    def _again(self) -> psycopg.Connection[Any]:
        """Return the connection; a lost one is opened again, and brought to where the world is."""
        if self._connected is None or self._connected.broken or self._connected.closed:
            self._connect()
            self._take(self._log)
        assert self._connected is not None  # it was made
        return self._connected

    def _take(self, log: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """Take calls again that were accepted before."""
        assert self._connected is not None  # whoever calls it is connected
        for sql, args in log:
            self._connected.execute(sql.encode(), args)
        if self._first:
            self._counts = self._sequences()

    def _sequences(self) -> dict[str, tuple[int, bool]]:
        """Return what the sequences of our schema have come to."""
        assert self._connected is not None  # whoever calls it is connected
        found = self._connected.execute(
            "SELECT sequencename FROM pg_sequences WHERE schemaname = %s ORDER BY 1", (self._schema,)
        ).fetchall()
        if not found:
            return {}
        each = [f"SELECT {_text(name)}, last_value, is_called FROM {quoted(self._schema, name)}" for (name,) in found]
        rows = self._connected.execute(" UNION ALL ".join(each).encode()).fetchall()
        return {name: (last, called) for name, last, called in rows}

    def _count_from(self, counts: dict[str, tuple[int, bool]]) -> None:
        """Put the sequences of our schema back."""
        self._counts = counts
        if not counts:
            return
        assert self._connected is not None  # whoever calls it is connected
        each = [
            f"setval({_text(quoted(self._schema, name))}, {last}, {str(called).lower()})"
            for name, (last, called) in counts.items()
        ]
        self._connected.execute(f"SELECT {', '.join(each)}".encode())

    # -- statements ---------------------------------------------------------------------------------------------------

    def check(self, sql: str, names: Sequence[str]) -> str | None:
        """Return what is wrong with a statement; it is planned and not run. What cannot be planned is not checked."""
        if sql.split(None, 1)[0].lower() not in ("select", "insert", "update", "delete", "with", "values"):
            return None
        connection = self._again()
        connection.execute("SAVEPOINT look" if not self._commit else "BEGIN")
        try:
            connection.execute(f"EXPLAIN {self._written(sql)}".encode(), dict.fromkeys(names))
        except self._psycopg.Error as error:
            return None if (error.sqlstate or "")[:2] == "22" else _first_line(error)
        finally:
            if not connection.closed:
                connection.execute("ROLLBACK TO SAVEPOINT look" if not self._commit else "ROLLBACK")
        return None

    def _written(self, sql: str) -> str:
        return written(sql, "%({})s", "%")

    def attempt(self, sql: str, args: Mapping[str, Any], *, empty: bool) -> Ran | No | Broke:
        """Run a statement."""
        given = {name: self._json(value) if isinstance(value, dict) else value for name, value in args.items()}
        text = self._written(sql)
        try:
            connection = self._again()
            connection.execute("BEGIN" if self._commit else "SAVEPOINT step")
            cursor = connection.execute(text.encode(), given)
            returned: list[tuple[Any, ...]] = []
            if cursor.description is not None:
                returned = cursor.fetchmany(_MOST_RETURNED)
            rows = cursor.rowcount if cursor.rowcount >= 0 else len(returned)
            if not rows and not empty:
                self.undo()
                return No("no row")
        except (self._psycopg.Error, UnicodeEncodeError) as error:
            return self._meaning(error)
        self._pending = text, given
        names = [column.name for column in cursor.description or ()]
        return Ran(rows, tuple(rows_of(names, returned)))

    def undo(self) -> None:
        """Go back to before the statement; sequences too, where they are our own. A lost connection is left alone."""
        connection = self._connected
        if connection is None or connection.broken or connection.closed:
            return
        if self._commit:
            if connection.info.transaction_status != self._psycopg.pq.TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
            return
        connection.execute("ROLLBACK TO SAVEPOINT step")
        connection.execute("RELEASE SAVEPOINT step")
        self._count_from(self._counts)

    def _meaning(self, error: Exception) -> No | Broke:
        """Return whether an error is an answer or a breakdown, and undo what there is to undo."""
        connection = self._connected
        if connection is None or connection.broken or connection.closed:
            return Broke("", f"the connection is lost: {_first_line(error)}")
        try:
            self.undo()
        except self._psycopg.Error as lost:
            self.close()
            return Broke("", f"the connection is lost: {_first_line(lost)}")
        code = getattr(error, "sqlstate", None)
        if not isinstance(error, self._psycopg.Error) or code is None:
            # the driver said it, before the server was asked: a value that it cannot pass on
            return No(type(error).__name__, "", {"message": _first_line(error)})
        if code[:2] not in REFUSALS:
            return Broke(code, _first_line(error))
        told = error.diag
        what = told.constraint_name or ".".join(part for part in (told.table_name, told.column_name) if part)
        info = {"message": told.message_primary, "table": told.table_name, "column": told.column_name}
        return No(code, what, {name: text for name, text in info.items() if text})

    def keep(self) -> No | Broke | None:
        """Make the checks that were put off, and commit, or write down that the call was accepted."""
        connection, pending = self._connected, self._pending
        assert connection is not None  # something was attempted
        assert pending is not None
        try:
            if self._commit:
                connection.execute("COMMIT")
                return None
            if self._deferred:
                connection.execute(f"SET CONSTRAINTS {self._deferred} IMMEDIATE".encode())
                connection.execute(f"SET CONSTRAINTS {self._deferred} DEFERRED".encode())
            counts = self._sequences() if self._first else {}
            connection.execute("RELEASE SAVEPOINT step")
        except self._psycopg.Error as error:
            return self._meaning(error)
        self._counts = counts
        self._log.append(pending)
        return None

    def read(self, sql: str, most: int) -> list[dict[str, Any]]:
        """Return the first rows of a query."""
        if self._connected is None:
            self._again()
        assert self._connected is not None  # it was made
        cursor = self._connected.execute(sql.encode())
        rows = cursor.fetchmany(most)
        return rows_of([column.name for column in cursor.description or ()], rows)

    def save(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Return the calls that were accepted since the start."""
        return tuple(self._log)

    def restore(self, token: tuple[tuple[str, dict[str, Any]], ...]) -> None:
        """Go back to the start, and take the calls again."""
        self._log, self._pending = list(token), None
        if self._connected is None or self._connected.broken or self._connected.closed:
            self._again()
            return
        self._rewind()
        self._take(self._log)

    def close(self) -> None:
        """Close the connection; what was not committed is gone."""
        if self._connected is not None:
            self._connected.close()
            self._connected = None

    # -- the catalogue ------------------------------------------------------------------------------------------------

    def tables(self) -> tuple[Table, ...]:
        """Return the tables that can be named without a schema, in the order of their names."""
        columns: dict[str, dict[str, str]] = {}
        for table, column, kind in self._ask(
            "SELECT t.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_class t "
            "JOIN pg_namespace n ON n.oid = t.relnamespace JOIN pg_attribute a ON a.attrelid = t.oid "
            f"WHERE t.relkind IN ('r', 'p') AND {_SEEN} AND pg_table_is_visible(t.oid) "
            "AND a.attnum > 0 AND NOT a.attisdropped ORDER BY t.relname, a.attnum"
        ):
            columns.setdefault(table, {})[column] = kind
        keys = {table: tuple(names) for table, kind, names, _, _ in self._declared() if kind == "p"}
        return tuple(Table(name, columns[name], keys.get(name, ())) for name in sorted(columns))

    def constraints(self) -> tuple[Constraint, ...]:
        """Return what `pg_constraint` says, the columns that may not be null, and the unique indexes."""
        return tuple(
            sorted(self._constraints(), key=lambda found: (found.table, found.kind, found.columns, found.rule))
        )

    def _constraints(self) -> Iterator[Constraint]:
        for table, column in self._ask(
            "SELECT t.relname, a.attname FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace "
            f"JOIN pg_attribute a ON a.attrelid = t.oid WHERE t.relkind IN ('r', 'p') AND {_SEEN} "
            "AND a.attnum > 0 AND a.attnotnull AND NOT a.attisdropped"
        ):
            yield Constraint(table, "not null", (column,))
        for table, kind, columns, rule, name in self._declared():
            if kind in "pu":
                yield Constraint(table, "unique", tuple(columns), "", name)
            elif kind == "c":
                yield Constraint(table, "check", tuple(columns), rule.removeprefix("CHECK (").removesuffix(")"), name)
            elif kind == "f":
                yield Constraint(table, "foreign key", tuple(columns), rule.partition(" REFERENCES ")[2], name)
        for table, columns, name in self._ask(
            "SELECT t.relname, array_agg(a.attname ORDER BY k.place)::text[], i.relname FROM pg_index x "
            "JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid "
            "JOIN pg_namespace n ON n.oid = t.relnamespace "
            "CROSS JOIN LATERAL unnest(x.indkey::int[]) WITH ORDINALITY AS k(number, place) "
            "JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number "
            f"WHERE x.indisunique AND x.indpred IS NULL AND x.indexprs IS NULL AND {_SEEN} "
            "AND NOT EXISTS "
            "(SELECT 1 FROM pg_constraint c WHERE c.conindid = x.indexrelid AND c.contype IN ('p', 'u')) "
            "GROUP BY t.relname, i.relname"
        ):
            yield Constraint(table, "unique", tuple(columns), "", name)

    def _declared(self) -> list[tuple[Any, ...]]:
        """Return (table, kind, columns, definition, name) of each declared constraint."""
        return self._ask(
            "SELECT t.relname, c.contype::text, coalesce((SELECT array_agg(a.attname ORDER BY k.place)::text[] "
            "FROM unnest(c.conkey) WITH ORDINALITY AS k(number, place) JOIN pg_attribute a "
            "ON a.attrelid = c.conrelid AND a.attnum = k.number), '{}'), pg_get_constraintdef(c.oid, true), c.conname "
            "FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace "
            f"WHERE {_SEEN} ORDER BY 1, 2, 5"
        )

    def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        return self._again().execute(sql.encode()).fetchall()


def _text(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
