"""A database is a world that keeps the laws: rows are the state, constraints refuse, what breaks is a fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from surefoot import Agent, Knowledge
from surefoot.environments.database import Database
from surefoot.environments.database.world import MORE
from surefoot.errors import BadArgument, NotStarted, WorldUnavailable
from surefoot.protocols import Closable, Describable, Environment, Signposted, Snapshotable, ended, moved, refused
from surefoot.testing import EnvironmentContract

SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer INTEGER NOT NULL REFERENCES customers (id),
    pieces INTEGER NOT NULL CHECK (pieces > 0),
    status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'sent'))
);
INSERT INTO customers VALUES (1, 'ann@x');
"""
ORDER = {"name": "order", "args": {"customer": 1, "pieces": 2}}


def shop(**options: Any) -> Database:
    given: dict[str, Any] = {
        "setup": SHOP,
        "statements": {
            "order": "INSERT INTO orders (customer, pieces) VALUES (:customer, :pieces)",
            "pay": "UPDATE orders SET status = 'paid' WHERE status = 'open'",
            "send": "UPDATE orders SET status = 'sent' WHERE status = 'paid'",
        },
        "tables": ["customers"],
        "offers": {
            "order": [{"customer": who, "pieces": n} for who in (1, 2) for n in (0, 2)],
            "delete customers": lambda state: [{"id": row["id"]} for row in state["customers"].values()],
        },
        "refuse_empty": ["pay", "send"],
        "done": lambda state: any(row["status"] == "sent" for row in state["orders"].values()),
    }
    return Database(**(given | options))


class TestDatabase(EnvironmentContract):
    seeds, steps, long, examples = (0,), 8, 16, 3

    def make(self) -> Database:
        return shop()

    def walk(self) -> list[Any]:
        bad = {"name": "order", "args": {"customer": 9, "pieces": 2}}
        return ["send", bad, ORDER, {"name": "delete customers", "args": {"id": 1}}, "pay", "send"]


def test_it_is_what_it_says() -> None:
    world = shop()
    for protocol in (Environment, Snapshotable, Describable, Closable):
        assert isinstance(world, protocol)
    assert not isinstance(world, Signposted)


def test_a_walk_step_by_step() -> None:
    with shop() as world:
        start = world.reset(seed=5)
        assert start == {"customers": {"1": {"id": 1, "email": "ann@x"}}, "orders": {}}
        assert [str(action) for action in world.actions(start)][-3:] == [
            "pay",
            "send",
            "{'name': 'delete customers', 'args': {'id': 1}}",
        ]
        assert world.step("pay") == refused(start, "no row")
        outcome = world.step({"name": "order", "args": {"customer": 1, "pieces": 0}})
        assert (outcome.reason, outcome.state) == ("SQLITE_CONSTRAINT_CHECK pieces > 0", start)
        row = {"id": 1, "customer": 1, "pieces": 2, "status": "open"}
        assert world.step(ORDER) == moved({**start, "orders": {"1": row}}, effect={"rows": 1})
        assert world.step({"name": "delete customers", "args": {"id": 1}}).reason == "SQLITE_CONSTRAINT_FOREIGNKEY"
        assert world.step({"name": "insert customers", "args": {"email": "ann@x"}}).reason == (
            "SQLITE_CONSTRAINT_UNIQUE customers.email"
        )
        assert world.step("pay").effect == {"rows": 1}
        last = {**start, "orders": {"1": {**row, "status": "sent"}}}
        assert world.step("send") == ended(last, effect={"rows": 1})
        assert world.actions(last) == []
        with pytest.raises(NotStarted, match="after the episode was over"):
            world.step("pay")


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("drop", "no such statement"),
        ("order", "the arguments are customer, pieces, got none"),
        ({"name": "insert customers", "args": {"mail": "b"}}, "customers has no column mail"),
        ({"name": "update customers", "args": {"email": "b"}}, "update needs the key: id"),
    ],
)
def test_a_call_that_cannot_be_made_is_refused(action: Any, reason: str) -> None:
    world = shop()
    start = world.reset()
    assert world.step(action) == refused(start, reason)


def test_what_a_state_does_not_show_it_counts() -> None:
    setup = "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (5), (3), (4)"
    assert Database(setup=setup, most_rows=2).reset() == {"t": [{"n": 3}, {"n": 4}], MORE: {"t": 1}}
    queries = {"high": "SELECT n FROM t WHERE n > 3 ORDER BY n", "sum": "SELECT sum(n) AS n FROM t"}
    assert Database(setup=setup, reads=queries).reset() == {"high": [{"n": 4}, {"n": 5}], "sum": [{"n": 12}]}
    assert Database(setup=setup, reads=queries, most_rows=1).reset()[MORE] == {"high": 1}


def test_a_snapshot_goes_back_rows_keys_and_all() -> None:
    world = shop(done=None)
    world.reset()
    world.step(ORDER)
    token, state = world.save_state(), world.step("pay").state
    assert world.restore_state(token)["orders"]["1"]["status"] == "open"
    assert world.step("pay").state == state
    assert shop(done=None).restore_state(token)["orders"]["1"]["status"] == "open"


def test_rows_that_a_statement_returns_are_in_its_effect() -> None:
    world = shop(statements={"all": "SELECT email FROM customers"}, offers={}, refuse_empty=[])
    start = world.reset()
    assert world.step("all") == moved(start, effect={"rows": 1, "returned": [{"email": "ann@x"}]})


def test_commit_keeps_what_is_done(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    make = {"source": path, "setup": "", "offers": {}}
    with pytest.raises(WorldUnavailable, match="there is no database file"):
        shop(**make)
    import sqlite3

    with sqlite3.connect(path) as file:
        file.executescript(SHOP)
    file.close()
    with shop(**make) as rehearsed:
        rehearsed.reset()
        assert rehearsed.step(ORDER).accepted
        assert rehearsed.reset()["orders"] == {}
    with shop(**make, commit=True) as world:
        world.reset()
        assert world.step(ORDER).accepted
        assert len(world.reset()["orders"]) == 1
        with pytest.raises(BadArgument, match="a world that commits has no snapshots"):
            world.save_state()
    assert len(shop(**make).reset()["orders"]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "timeout must be a number of seconds > 0, got 0"),
        ({"most_rows": 0}, "most_rows must be an int >= 1, got 0"),
        ({"tables": "orders"}, "tables must be a collection of names, got 'orders'"),
        ({"source": 3}, "source must be a file, an address postgresql://… or None, got 3"),
        ({"commit": True}, "setup makes the start of an episode"),
        ({"commit": True, "setup": ""}, "there is no source to keep it in"),
        ({"done": 3}, "done must be a function or a list, got 3"),
    ],
)
def test_bad_arguments_are_refused_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        shop(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"setup": "CREATE TABLE ("}, "setup cannot be run: "),
        ({"tables": ["nowhere"]}, "tables names 'nowhere', which is no table; there are "),
        ({"reads": ["nowhere"]}, "reads names 'nowhere', which is no table"),
        ({"reads": {"a": "SELECT :b AS b"}}, "has parameters"),
        ({"reads": {"a": "SELECT b"}}, r"reads\['a'\] cannot be run by SQLite .*: no such column: b"),
        ({"reads": {MORE: "SELECT 1 AS a"}}, "read that under another name"),
        ({"offers": {"buy": []}}, r"offers names \['buy'\], which are no statements"),
        ({"refuse_empty": ["buy"]}, r"refuse_empty names \['buy'\]"),
        ({"statements": {"order": "INSERT INTO order VALUES (1)"}, "offers": {}, "refuse_empty": []}, 'near "order"'),
        (
            {"statements": {"insert customers": "SELECT 1"}, "offers": {}, "refuse_empty": []},
            "is what the table 'customers' has of its own",
        ),
    ],
)
def test_what_is_no_sql_is_refused_at_the_first_reset(options: dict[str, Any], message: str) -> None:
    world = shop(**options)
    with pytest.raises(BadArgument, match=message):
        world.reset()


def test_step_needs_a_reset() -> None:
    with pytest.raises(NotStarted, match=r"^step\('pay'\) before reset\(\)"):
        shop().step("pay")
    with pytest.raises(NotStarted, match=r"^save_state\(\) before reset\(\)"):
        shop().save_state()


def test_an_agent_learns_it() -> None:
    agent = Agent(shop(), knowledge=Knowledge())
    first, second = agent.run(), agent.run()
    assert (first.stopped.value, second.stopped.value) == ("done", "done")
    assert first.refused > 0
    assert (second.steps, second.refused) == (3, 0)
    assert agent.replay().ok
