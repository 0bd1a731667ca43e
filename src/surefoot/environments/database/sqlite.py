"""SQLite behind a world: each call a transaction, each episode a copy in memory of what the file holds."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from surefoot.environments.database.engine import Broke, Constraint, No, Ran, Table, plain, rows_of
from surefoot.environments.database.statements import quoted
from surefoot.errors import BadArgument, WorldUnavailable

__all__ = ["SQLite", "checks_in"]

_REFUSALS = frozenset(
    {
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_RANGE,
    }
)
"""Primary result codes that are an answer; all others (busy, locked, full, interrupted, I/O, …) are breakdowns."""
_NAMES = {3091: "SQLITE_CONSTRAINT_DATATYPE"}
_MOST_RETURNED = 1_000
_LOOK = 5_000
_FORMAT = slice(18, 20)
_WORD = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|\w+|.", re.DOTALL)


class SQLite:
    """Run statements in SQLite.

    Args:
        path: a database file; None: nothing but what `setup` makes.
        setup: a script to run on the copy, or, with `commit`, nothing.
        commit: work in the file itself, and keep what is done there.
        timeout: seconds that a statement, or waiting for a lock, may take.

    Raises:
        WorldUnavailable: there is no such file, or it is no database.

    Example:
        >>> engine = SQLite(None, setup="CREATE TABLE t (n INTEGER PRIMARY KEY, m INTEGER CHECK (m > 0))")
        >>> engine.start()
        >>> engine.attempt("INSERT INTO t (m) VALUES (:m)", {"m": 0}, empty=True).reason
        'SQLITE_CONSTRAINT_CHECK m > 0'
    """

    errors: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        setup: str = "",
        commit: bool = False,
        timeout: float = 10.0,
    ) -> None:
        """Open it."""
        self.name = f"SQLite {sqlite3.sqlite_version}"
        self._path, self._setup, self._commit, self._timeout = path, setup, commit, timeout
        self._deadline = 0.0
        self._start: bytes | None = None
        self._open: sqlite3.Connection | None = None
        if path is not None and not os.path.isfile(path):
            raise WorldUnavailable(f"there is no database file {os.fspath(path)!r}; give one, or make it with setup=")

    @property
    def _connection(self) -> sqlite3.Connection:
        """Return the connection; opened when it is first needed."""
        if self._open is None:
            try:
                self._open = self._opened(self._path if self._commit and self._path is not None else ":memory:")
            except sqlite3.Error as error:
                raise WorldUnavailable(f"cannot open the database {self._path!r}: {error}") from error
        return self._open

    def _opened(self, path: str | os.PathLike[str]) -> sqlite3.Connection:
        # an agent with a time limit steps in a thread of its own
        made = sqlite3.connect(path, timeout=self._timeout, isolation_level=None, check_same_thread=False)
        made.set_progress_handler(self._is_late, _LOOK)
        made.execute("PRAGMA foreign_keys = ON")
        return made

    def _is_late(self) -> bool:
        return bool(self._deadline) and time.monotonic() > self._deadline

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        self._deadline = time.monotonic() + self._timeout
        try:
            yield
        finally:
            self._deadline = 0.0

    def start(self) -> None:
        """Go to the start: the file as it was when it was first read, with the set-up; with `commit`, as it is."""
        if self._commit and self._path is not None:
            try:
                self._connection.execute("SELECT count(*) FROM sqlite_master")
            except sqlite3.Error as error:
                raise WorldUnavailable(f"cannot read the database {os.fspath(self._path)!r}: {error}") from error
            return
        if self._start is None:
            self._start = self._first()
        self._connection.deserialize(self._start)

    def _first(self) -> bytes:
        """Return the image of what an episode starts with."""
        made = self._opened(":memory:")
        try:
            if self._path is not None:
                with contextlib.closing(sqlite3.connect(f"file:{_uri(self._path)}?mode=ro", uri=True)) as source:
                    source.backup(made)
        except sqlite3.Error as error:
            raise WorldUnavailable(f"cannot read the database {os.fspath(self._path or '')!r}: {error}") from error
        try:
            made.executescript(self._setup)
        except sqlite3.Error as error:
            raise BadArgument(f"setup cannot be run: {error}") from error
        if not made.execute("PRAGMA page_count").fetchone()[0]:
            made.executescript("PRAGMA user_version = 1; PRAGMA user_version = 0")  # one page: nothing has no image
        image = bytearray(made.serialize())
        made.close()
        if image[_FORMAT] == b"\x02\x02":
            image[_FORMAT] = b"\x01\x01"  # a write-ahead log has no place in memory
        return bytes(image)

    def check(self, sql: str, names: Sequence[str]) -> str | None:
        """Return what is wrong with a statement; it is compiled and not run."""
        try:
            self._connection.execute(f"EXPLAIN {sql}", dict.fromkeys(names))
        except sqlite3.Error as error:
            return str(error)
        return None

    def attempt(self, sql: str, args: Mapping[str, Any], *, empty: bool) -> Ran | No | Broke:
        """Run a statement in a transaction of its own."""
        connection = self._connection
        try:
            with self._timed():
                connection.execute("BEGIN IMMEDIATE")
                cursor = connection.execute(sql, args)
                returned = cursor.fetchmany(_MOST_RETURNED)
                cursor.fetchall()  # all of it runs, whatever is shown of it
                rows = max(cursor.rowcount, len(returned))
        except (sqlite3.Error, OverflowError, UnicodeEncodeError) as error:
            self.undo()
            return _meaning(error)
        if not rows and not empty:
            self.undo()
            return No("no row")
        names = [column[0] for column in cursor.description or ()]
        return Ran(rows, tuple(rows_of(names, returned)))

    def keep(self) -> No | Broke | None:
        """Commit."""
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self.undo()
            return _meaning(error)
        return None

    def undo(self) -> None:
        """Roll back; SQLite may have done so already."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def read(self, sql: str, most: int) -> list[dict[str, Any]]:
        """Return the first rows of a query."""
        with self._timed():
            cursor = self._connection.execute(sql)
            rows = cursor.fetchmany(most)
        return rows_of([column[0] for column in cursor.description or ()], rows)

    def save(self) -> bytes:
        """Return an image of the whole database."""
        return self._connection.serialize()

    def restore(self, token: bytes) -> None:
        """Put the image back."""
        self._connection.deserialize(token)

    def close(self) -> None:
        """Close the connection."""
        if self._open is not None:
            self._open.close()
            self._open = None

    # -- the catalogue ------------------------------------------------------------------------------------------------

    def tables(self) -> tuple[Table, ...]:
        """Return the tables, in the order of their names."""
        found = self._ask(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
        made = []
        for name in sorted(name for (name,) in found):
            columns = self._ask(f"PRAGMA table_info({quoted(name)})")
            key = sorted((part[5], part[1]) for part in columns if part[5])
            made.append(Table(name, {part[1]: part[2] for part in columns}, tuple(column for _, column in key)))
        return tuple(made)

    def constraints(self) -> tuple[Constraint, ...]:
        """Return what the tables' pragmas say, and the checks that their definitions hold."""
        return tuple(constraint for table in self.tables() for constraint in self._constraints_of(table))

    def _constraints_of(self, table: Table) -> Iterator[Constraint]:
        name = quoted(table.name)
        for _, column, _, not_null, *_ in self._ask(f"PRAGMA table_info({name})"):
            if not_null:
                yield Constraint(table.name, "not null", (column,))
        unique = {
            tuple(part[2] for part in self._ask(f"PRAGMA index_info({quoted(index)})"))
            for _, index, is_unique, _, partial in self._ask(f"PRAGMA index_list({name})")
            if is_unique and not partial
        }
        for columns in sorted(unique | ({table.key} if table.key else set())):
            yield Constraint(table.name, "unique", columns)
        ((definition,),) = self._ask("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", table.name)
        for rule in checks_in(definition):
            words = {word.strip('"').lower() for word in _WORD.findall(rule)}
            columns = tuple(column for column in table.columns if column.lower() in words)
            yield Constraint(table.name, "check", columns, rule)
        keys: dict[int, list[tuple[Any, ...]]] = {}
        for part in self._ask(f"PRAGMA foreign_key_list({name})"):
            keys.setdefault(part[0], []).append(part)
        for number in sorted(keys, reverse=True):
            parts = sorted(keys[number], key=lambda part: part[1])
            other = parts[0][2]
            to = [part[4] for part in parts]
            if None in to:
                to = list(next(known.key for known in self.tables() if known.name.lower() == other.lower()))
            yield Constraint(table.name, "foreign key", tuple(part[3] for part in parts), f"{other} ({', '.join(to)})")

    def _ask(self, sql: str, *args: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, args).fetchall()


def _uri(path: str | os.PathLike[str]) -> str:
    """Return a path as it is written in a URI."""
    return os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _meaning(error: Exception) -> No | Broke:
    """Return whether an error is an answer or a breakdown."""
    if not isinstance(error, sqlite3.Error):
        return No(type(error).__name__, "", {"message": str(error)})
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # the driver said it, before the database was asked: a value that it cannot pass on
        return No(type(error).__name__, "", {"message": str(error)})
    name, message = str(error.sqlite_errorname), str(error)
    if name == "unknown":  # to the driver, which is older than the code
        name = _NAMES.get(code, f"SQLITE_{code}")
    if code & 0xFF not in _REFUSALS and code != sqlite3.SQLITE_READONLY:
        return Broke(name, message)
    what = message.partition(" constraint failed: ")[2]
    return No(name, str(plain(what)), {"message": message})


def checks_in(definition: str) -> list[str]:
    """Return the expressions of the CHECK constraints in a CREATE TABLE statement.

    SQLite has no catalogue of them but the statement itself.

    Example:
        >>> checks_in("CREATE TABLE t (a TEXT CHECK (a IN ('x', 'CHECK (no)')), b INT, CONSTRAINT c CHECK (b > (0)))")
        ["a IN ('x', 'CHECK (no)')", 'b > (0)']
    """
    found: list[str] = []
    words = [word for word in _WORD.findall(definition) if not word.startswith(("--", "/*"))]
    at = 0
    while at < len(words):
        if words[at].lower() == "check":
            depth, inside = 0, []
            for word in words[at + 1 :]:
                at += 1
                depth += (word == "(") - (word == ")")
                if depth == 0 and not word.isspace():
                    break
                inside.append(word)
            found.append(" ".join("".join(inside).strip().removeprefix("(").split()))
        at += 1
    return found
