"""A database as a world. Unless that is asked for, nothing that is done in it is kept.

A state holds the rows: `{"customers": {"1": {"id": 1, "email": "a@b.c"}}}`, a table with a primary key of one column by
the key's text, any other table as a list of rows in the order of the key; or what queries of your own return. Values
are plain: numbers of a fixed scale, dates, times and bytes are the text that SQL has for them.

An action is a statement by its name with its arguments, `{"name": "pay", "args": {"order": 7}}`; a bare name where it
has none. Each is a transaction of its own, with all checks that were put off.

Refusals: of the seven shapes this world reads the **exception**, by its code, and, for the statements named in
`refuse_empty`, the **silent no-op**. In PostgreSQL the classes of SQLSTATE in `REFUSALS` refuse (23 is the class of
constraints), in SQLite the constraint errors and what the statement itself is to blame for. The reason is the code and
what stood in the way: `23505 customers_email_key`, `SQLITE_CONSTRAINT_UNIQUE customers.email`. A lost connection, a
lock that is not to be had, a failed serialization, a time-out and a full disk are faults, and so is any code that is
not known to be an answer.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from surefoot import values
from surefoot.environments.database.engine import Broke, Constraint, Engine, No, Ran, Table
from surefoot.environments.database.postgres import Postgres
from surefoot.environments.database.sqlite import SQLite
from surefoot.environments.database.statements import Statement, quoted, statements_of
from surefoot.errors import BadArgument, NotStarted, WorldUnavailable
from surefoot.offering import offered
from surefoot.protocols import Outcome, call_of, ended, faulted, moved, refused

__all__ = ["MORE", "Database", "Offer"]

MORE = "more rows"
"""Where a state says how many rows of a table it does not show; not there when it shows all.

Example:
    >>> world = Database(setup="CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2), (3)", most_rows=2)
    >>> world.reset()
    {'t': [{'n': 1}, {'n': 2}], 'more rows': {'t': 1}}
"""

State: TypeAlias = dict[str, Any]
Offer: TypeAlias = Sequence[Mapping[str, Any]] | Callable[[State], Iterable[Mapping[str, Any]]]
"""The arguments that a statement is on offer with: a list of them, or a function of the state.

Example:
    >>> offer: Offer = lambda state: [{"order": row["id"]} for row in state["orders"].values()]
    >>> offer({"orders": {"7": {"id": 7}}})
    [{'order': 7}]
"""


class _Call(Protocol):
    """What an action's name stands for."""

    def bind(self, args: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | str:
        """Return the statement and its arguments, or what is wrong with them."""
        ...


class Database:
    """Act in a database by named statements.

    Args:
        source: a database file of SQLite; an address of PostgreSQL (`postgresql://user@host/database`, needs the extra
            `postgres`); None for a database of SQLite that holds what `setup` makes.
        statements: {name: a statement with its parameters as `:name`}.
        tables: tables that may be written to by calls of their own: `insert orders` with any columns, and where there
            is a primary key `update orders` with the key and the columns to change, `delete orders` with the key.
        setup: a script of SQL that makes the start of every episode.
        offers: {name: the arguments it is on offer with}, a list or a function of the state. A statement that is not
            named here is on offer if it has no parameters; `step` takes any of them, with any arguments.
        reads: what a state holds: names of tables, or {name: query}. None: all tables. A query says its order itself.
        done: says of a state whether the episode is over.
        refuse_empty: names of statements that are refused, and undone, when they change no row; all others are accepted
            then, and change nothing.
        commit: keep what is done, and begin each episode with what is there. Otherwise SQLite works in a copy in
            memory, and PostgreSQL in one transaction that is never committed: it holds its locks until the next
            `reset` or `close`.
        timeout: seconds that a call, or waiting for a lock, may take; > 0.
        most_rows: rows of a table, or query, that a state shows; an int >= 1. What more there are `MORE` counts.

    Raises:
        BadArgument: an argument is out of its range; or (at the first `reset`) a statement, a query or the set-up is no
            SQL that this database understands.
        WorldUnavailable: there is no such database.
        MissingExtra: PostgreSQL without psycopg.

    The world takes itself for the only one that writes; what others change shows after the next accepted call. Actions
    that read the clock or a random number do not give the same episode twice. In PostgreSQL without `setup` sequences
    go on counting when a call is refused, as sequences do.

    Cost: a call, and a reading of what the state holds. Going back to a snapshot puts an image back in SQLite; in
    PostgreSQL it takes the accepted calls again.

    Example:
        >>> world = Database(
        ...     setup="CREATE TABLE stock (item TEXT PRIMARY KEY, pieces INTEGER NOT NULL CHECK (pieces >= 0));"
        ...     "INSERT INTO stock VALUES ('bolt', 1)",
        ...     statements={"take": "UPDATE stock SET pieces = pieces - 1 WHERE item = :item"},
        ...     offers={"take": [{"item": "bolt"}]},
        ... )
        >>> world.actions(world.reset())
        [{'name': 'take', 'args': {'item': 'bolt'}}]
        >>> world.step({"name": "take", "args": {"item": "bolt"}}).state
        {'stock': {'bolt': {'item': 'bolt', 'pieces': 0}}}
        >>> world.step({"name": "take", "args": {"item": "bolt"}}).reason
        'SQLITE_CONSTRAINT_CHECK pieces >= 0'
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | None = None,
        statements: Mapping[str, str] | None = None,
        *,
        tables: Collection[str] = (),
        setup: str = "",
        offers: Mapping[str, Offer] | None = None,
        reads: Collection[str] | Mapping[str, str] | None = None,
        done: Callable[[State], Any] | None = None,
        refuse_empty: Collection[str] = (),
        commit: bool = False,
        timeout: float = 10.0,
        most_rows: int = 1_000,
    ) -> None:
        """Check what can be checked without the database; `reset` opens it."""
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
            raise BadArgument(f"timeout must be a number of seconds > 0, got {timeout!r}")
        if type(most_rows) is not int or most_rows < 1:
            raise BadArgument(f"most_rows must be an int >= 1, got {most_rows!r}")
        for name, given in (("tables", tables), ("refuse_empty", refuse_empty), ("reads", reads)):
            if isinstance(given, str):
                raise BadArgument(f"{name} must be a collection of names, got {given!r}: wrap it, [{given!r}]")
        for name, function in (("done", done), *((f"offers[{n!r}]", o) for n, o in (offers or {}).items())):
            if function is not None and not callable(function) and not isinstance(function, list | tuple):
                raise BadArgument(f"{name} must be a function or a list, got {function!r}")
        if commit and setup:
            raise BadArgument("setup makes the start of an episode, and commit begins with what is there: give one")
        self._calls: dict[str, _Call] = {name: Statement(sql) for name, sql in (statements or {}).items()}
        self._tables, self._reads = tuple(tables), reads
        self.offers = dict(offers or {})
        self._done, self._refuse_empty = done, frozenset(refuse_empty)
        self.commit, self.timeout, self.most_rows = bool(commit), float(timeout), most_rows
        self.engine = _engine_of(source, setup=setup, commit=self.commit, timeout=self.timeout)
        self._queries: dict[str, tuple[str, str | None, str | None]] | None = None
        self._state: State | None = None
        self._over = False

    def reset(self, seed: int | None = None) -> State:
        """Go to the start of an episode; `seed` changes nothing.

        Raises:
            WorldUnavailable: the database is not there.
            BadArgument: (the first time) something is no SQL that it understands.

        Example:
            >>> Database(setup="CREATE TABLE t (n INTEGER PRIMARY KEY)").reset(seed=3)
            {'t': {}}
        """
        self.engine.start()
        try:
            if self._queries is None:
                self._prepare()
            self._state = self._read()
        except self.engine.errors as error:
            self.close()
            raise WorldUnavailable(f"cannot read the start: {error}") from error
        except BadArgument:
            self.close()
            raise
        self._over = self._is_over(self._state)
        return _copy(self._state)

    def actions(self, state: State) -> Sequence[Any]:
        """Return the calls on offer in `state`, in the order of the statements.

        Raises:
            BadArgument: an offer is for a statement that is not there, or is no mapping of plain values.

        Cost: that of the offers; the database is not asked.

        Example:
            >>> world = Database(setup="CREATE TABLE t (n)", statements={"clear": "DELETE FROM t"})
            >>> world.actions(world.reset())
            ['clear']
        """
        if self._over_in(state):
            return []
        bare = {name: isinstance(call, Statement) and not call.names for name, call in self._calls.items()}
        return offered(bare, self.offers, values.copy(state))

    def _over_in(self, state: State) -> bool:
        return self._done is not None and self._is_over(state)

    def _is_over(self, state: State) -> bool:
        return self._done is not None and bool(self._done(values.copy(state)))

    def step(self, action: Any) -> Outcome[State]:
        """Run a statement.

        The effect of an accepted call is `{"rows": how many it changed}`, and the rows that it `"returned"`, if any.

        Raises:
            NotStarted: before `reset`, or after the episode was over.

        Example:
            >>> world = Database(setup="CREATE TABLE t (n INTEGER PRIMARY KEY)", tables=["t"])
            >>> _ = world.reset()
            >>> world.step({"name": "insert t", "args": {"n": 1}}).effect, world.step("drop t").reason
            ({'rows': 1}, 'no such statement')
        """
        before = self._state
        if before is None or self._over:
            when = "before reset()" if before is None else "after the episode was over"
            raise NotStarted(f"step({action!r}) {when}: call reset(seed=...) first")
        call = call_of(action)
        known = self._calls.get(call.name)
        bound = "no such statement" if known is None else known.bind(call.args)
        if isinstance(bound, str):
            return refused(values.copy(before), bound)
        answer = self.engine.attempt(*bound, empty=call.name not in self._refuse_empty)
        if not isinstance(answer, Ran):
            return self._not_taken(before, answer)
        try:
            after = self._read()
        except self.engine.errors as error:
            self.engine.undo()
            return faulted(values.copy(before), f"the state cannot be read: {error}")
        put_off = self.engine.keep()
        if put_off is not None:
            return self._not_taken(before, put_off)
        self._state, self._over = after, self._is_over(after)
        effect: dict[str, Any] = {"rows": answer.rows}
        if answer.returned:
            effect["returned"] = list(answer.returned)
        return (ended if self._over else moved)(values.copy(after), effect=effect)

    @staticmethod
    def _not_taken(before: State, answer: No | Broke) -> Outcome[State]:
        if isinstance(answer, No):
            return refused(values.copy(before), answer.reason, info=dict(answer.info))
        return faulted(values.copy(before), answer.fault)

    def describe(self, state: State) -> Mapping[str, Any]:
        """Return the kind of world and how many rows of each table `state` shows.

        Example:
            >>> Database().describe({"t": {"1": {"n": 1}}})
            {'kind': 'database', 'rows': {'t': 1}}
        """
        return {"kind": "database", "rows": {name: len(rows) for name, rows in state.items() if name != MORE}}

    def save_state(self) -> Any:
        """Return a token for `restore_state`.

        Raises:
            NotStarted: before `reset`.
            BadArgument: with `commit`: what was committed cannot be taken back.

        Example:
            >>> world = Database(setup="CREATE TABLE t (n INTEGER PRIMARY KEY)", tables=["t"])
            >>> start, token = world.reset(), world.save_state()
            >>> _ = world.step("insert t")
            >>> world.restore_state(token) == start
            True
        """
        if self._state is None:
            raise NotStarted("save_state() before reset(): call reset(seed=...) first")
        if self.commit:
            raise BadArgument("a world that commits has no snapshots: what was committed cannot be taken back")
        return self.engine.save()

    def restore_state(self, token: Any) -> State:
        """Go back to where `save_state` gave `token`, and return the state there.

        Raises:
            WorldUnavailable: the database is gone, or it does not take again what it took before.
        """
        if self.commit:
            raise BadArgument("a world that commits has no snapshots: what was committed cannot be taken back")
        if self._queries is None:
            self.reset()
        try:
            self.engine.restore(token)
            self._state = self._read()
        except self.engine.errors as error:
            raise WorldUnavailable(f"cannot go back to the snapshot: {error}") from error
        self._over = self._is_over(self._state)
        return _copy(self._state)

    def tables(self) -> tuple[Table, ...]:
        """Return the tables with their columns and keys, from the catalogue.

        Example:
            >>> [table.name for table in Database(setup="CREATE TABLE t (n INTEGER)").tables()]
            ['t']
        """
        if self._queries is None:
            self.reset()
        return self.engine.tables()

    def constraints(self) -> tuple[Constraint, ...]:
        """Return what the database holds itself to, from its catalogue.

        Example:
            >>> world = Database(setup="CREATE TABLE t (n INTEGER NOT NULL UNIQUE CHECK (n > 0))")
            >>> [str(constraint) for constraint in world.constraints()]
            ['t (n): not null', 't (n): unique', 't (n): check n > 0']
        """
        if self._queries is None:
            self.reset()
        return self.engine.constraints()

    def close(self) -> None:
        """Let go of the database; twice is harmless. What was not committed is gone.

        Example:
            >>> Database().close()
        """
        self.engine.close()
        self._state = None

    def __enter__(self) -> Database:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    # -- what a state is made of --------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Make the calls of tables, and check every statement and query once."""
        known = {table.name: table for table in self.engine.tables()}
        calls = dict(self._calls)
        for name in self._tables:
            for label, call in statements_of(_known(known, name, "tables")):
                if label in calls:
                    raise BadArgument(f"statements has {label!r}, which is what the table {name!r} has of its own")
                calls[label] = call
        for what, names in (("offers", self.offers), ("refuse_empty", self._refuse_empty)):
            if unknown := sorted(set(names) - set(calls)):
                raise BadArgument(f"{what} names {unknown}, which are no statements; there are {list(calls)}")
        queries = self._chosen(known)
        for label, statement in calls.items():
            if isinstance(statement, Statement):
                self._check(f"statements[{label!r}]", statement)
        for label, (sql, _, _) in queries.items():
            self._check(f"reads[{label!r}]", Statement(sql))
        self._calls, self._queries = calls, queries

    def _check(self, where: str, statement: Statement) -> None:
        if (wrong := self.engine.check(statement.sql, statement.names)) is not None:
            raise BadArgument(f"{where} cannot be run by {self.engine.name}: {wrong}")

    def _chosen(self, known: Mapping[str, Table]) -> dict[str, tuple[str, str | None, str | None]]:
        """Return {name: (query, the column of the key, the query that counts)} of what a state holds."""
        chosen: dict[str, tuple[str, str | None, str | None]] = {}
        if isinstance(self._reads, Mapping):
            for name, sql in self._reads.items():
                if (statement := Statement(sql)).names:
                    raise BadArgument(f"reads[{name!r}] has parameters {list(statement.names)}: a query has none")
                chosen[name] = sql, None, f"SELECT count(*) AS n FROM ({sql.rstrip().rstrip(';')}) AS counted"
        else:
            for name in known if self._reads is None else self._reads:
                table = _known(known, name, "reads")
                order = ", ".join(map(quoted, table.key or table.columns))
                one = table.key[0] if len(table.key) == 1 else None
                into = quoted(name)
                limit = f" LIMIT {self.most_rows + 1}"
                chosen[name] = (
                    f"SELECT * FROM {into} ORDER BY {order}{limit}",
                    one,
                    f"SELECT count(*) AS n FROM {into}",
                )
        if MORE in chosen:
            raise BadArgument(
                f"{MORE!r} is where a state counts the rows it does not show: read that under another name"
            )
        return chosen

    def _read(self) -> State:
        """Read the state."""
        assert self._queries is not None  # `reset` made them
        state: State = {}
        more: dict[str, int] = {}
        for name, (sql, key, counting) in self._queries.items():
            rows = self.engine.read(sql, self.most_rows + 1)
            if len(rows) > self.most_rows and counting is not None:
                more[name] = int(self.engine.read(counting, 1)[0]["n"]) - self.most_rows
                del rows[self.most_rows :]
            state[name] = rows if key is None else {str(row[key]): row for row in rows}
        if more:
            state[MORE] = more
        return state


def _copy(state: State) -> State:
    copied: State = values.copy(state)
    return copied


def _engine_of(source: Any, *, setup: str, commit: bool, timeout: float) -> Engine:
    """Return the engine for a source."""
    if isinstance(source, str) and source.startswith(("postgresql://", "postgres://")):
        return Postgres(source, setup=setup, commit=commit, timeout=timeout)
    if source is not None and not isinstance(source, str | os.PathLike):
        raise BadArgument(f"source must be a file, an address postgresql://… or None, got {source!r}")
    if commit and source is None:
        raise BadArgument("commit keeps what is done, and there is no source to keep it in: give one")
    return SQLite(source, setup=setup, commit=commit, timeout=timeout)


def _known(known: Mapping[str, Table], name: str, where: str) -> Table:
    if name not in known:
        raise BadArgument(f"{where} names {name!r}, which is no table; there are {list(known)}")
    return known[name]
