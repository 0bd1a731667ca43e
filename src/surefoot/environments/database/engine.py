"""What a database engine answers, and what it is asked: the port behind which SQLite and PostgreSQL stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Broke", "Constraint", "Engine", "No", "Ran", "Table", "plain", "rows_of"]


@dataclass(frozen=True, slots=True)
class Table:
    """Name a table, its columns and its primary key.

    Attributes:
        name: as the statements write it.
        columns: {column: type, as it was declared}, in order.
        key: the columns of the primary key; () without one.

    Example:
        >>> Table("orders", {"id": "INTEGER", "status": "TEXT"}, ("id",)).key
        ('id',)
    """

    name: str
    columns: Mapping[str, str]
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Constraint:
    """Say what a database holds itself to, as its catalogue has it.

    Attributes:
        table: whose rows.
        kind: "not null", "unique", "check" or "foreign key". A primary key is "unique", and "not null" for each column
            that may not be null.
        columns: the columns it is about; () for a check whose columns the catalogue does not list.
        rule: the rule in SQL: the expression of a check, the table and columns that a foreign key refers to; else "".
        name: its name; "" where it has none.

    Example:
        >>> print(Constraint("orders", "check", ("quantity",), "quantity > 0"))
        orders (quantity): check quantity > 0
    """

    table: str
    kind: str
    columns: tuple[str, ...]
    rule: str = ""
    name: str = ""

    def __str__(self) -> str:
        """Return it on one line."""
        columns = f" ({', '.join(self.columns)})" if self.columns else ""
        return f"{self.table}{columns}: {self.kind} {self.rule}".rstrip()


@dataclass(frozen=True, slots=True)
class Ran:
    """A statement that ran.

    Attributes:
        rows: how many rows it changed, or returned.
        returned: the rows that it returned, as plain values.

    Example:
        >>> Ran(1).returned
        ()
    """

    rows: int
    returned: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class No:
    """A statement that the database refused; nothing has changed.

    Attributes:
        code: the SQLSTATE, or the name of SQLite's extended result code.
        what: the constraint, or the column, that stood in the way; "" where it is not named.
        info: what else the database says: its message, the table.

    Example:
        >>> No("23505", "orders_pkey").reason, No("22012").reason
        ('23505 orders_pkey', '22012')
    """

    code: str
    what: str = ""
    info: Mapping[str, str] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """Return the code, and what stood in the way."""
        return f"{self.code} {self.what}".rstrip()


@dataclass(frozen=True, slots=True)
class Broke:
    """A statement that was neither taken nor refused: a lost connection, a lock, a time-out. Nothing has changed.

    Example:
        >>> Broke("55P03", "the lock was not to be had").fault
        '55P03: the lock was not to be had'
    """

    code: str
    message: str

    @property
    def fault(self) -> str:
        """Return it in words."""
        return f"{self.code}: {self.message}" if self.code else self.message


class Engine(Protocol):
    """What a world asks of a database.

    You implement the methods; `surefoot.environments.database.sqlite` is the example to copy.

    Example:
        >>> from surefoot.environments.database.sqlite import SQLite
        >>> engine: Engine = SQLite(None, setup="CREATE TABLE t (n INTEGER)")
        >>> engine.start()
        >>> engine.attempt("INSERT INTO t VALUES (:n)", {"n": 1}, empty=True), engine.read("SELECT * FROM t", 9)
        (Ran(rows=1, returned=()), [{'n': 1}])
        >>> engine.keep() is None
        True
    """

    name: str
    errors: tuple[type[Exception], ...]
    """What `read` and `restore` raise where they break."""

    def start(self) -> None:
        """Go to the start of an episode; raises `WorldUnavailable` where that cannot be."""
        ...

    def check(self, sql: str, names: Sequence[str]) -> str | None:
        """Return what is wrong with a statement, None when it can be run; runs nothing."""
        ...

    def attempt(self, sql: str, args: Mapping[str, Any], *, empty: bool) -> Ran | No | Broke:
        """Run a statement, all of it or nothing, and leave it open. `empty=False`: what changes no row is refused."""
        ...

    def keep(self) -> No | Broke | None:
        """Keep what was attempted, and return None; or undo it, and return which check that was put off said no."""
        ...

    def undo(self) -> None:
        """Take back what was attempted; the world is where it was before."""
        ...

    def read(self, sql: str, most: int) -> list[dict[str, Any]]:
        """Return the first `most` rows of a query as plain values; raises one of `errors` where the reading broke."""
        ...

    def save(self) -> Any:
        """Return a token for `restore`."""
        ...

    def restore(self, token: Any) -> None:
        """Go back to where `save` gave `token`."""
        ...

    def tables(self) -> tuple[Table, ...]:
        """Return the tables, in the order of their names."""
        ...

    def constraints(self) -> tuple[Constraint, ...]:
        """Return what the catalogue says of them."""
        ...

    def close(self) -> None:
        """Let go of the connection; twice is harmless."""
        ...


def plain(value: Any) -> Any:
    r"""Return what a driver read as a plain value: what JSON has no word for becomes the text that SQL has for it.

    Bytes become `\x` and hexadecimal digits, numbers of a fixed scale, dates, times and identifiers their text.

    Example:
        >>> from decimal import Decimal
        >>> [plain(value) for value in (1, None, b"\x01\xff", Decimal("9.50"), float("inf"), [Decimal(1)])]
        [1, None, '\\x01ff', '9.50', 'Infinity', ['1']]
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes | bytearray | memoryview):
        return "\\x" + bytes(value).hex()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    isoformat: Callable[[], str] | None = getattr(value, "isoformat", None)
    return str(value) if isoformat is None else isoformat()


def rows_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    """Return rows as mappings of plain values.

    Example:
        >>> from datetime import date
        >>> rows_of(["id", "at"], [(1, date(2026, 5, 4))])
        [{'id': 1, 'at': '2026-05-04'}]
    """
    return [dict(zip(names, map(plain, row), strict=True)) for row in rows]
