"""Scripted tasks for tools that refuse: what is to be reached, and the calls that somebody would try, in that order.

The calls of a task are what is on offer in it. Some come too early, and some are never taken: a name that is taken, a
row that does not exist. Whoever goes through them again and again, in their order, solves every task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot import Vocabulary
from surefoot.environments.database import Database
from surefoot.environments.tools import Git

__all__ = ["GIT_WORDS", "LIMIT", "SHOP", "SHOP_WORDS", "Task", "git_tasks", "shop_tasks"]

LIMIT = 80
"""Steps after which a task is given up."""

State = Mapping[str, Any]
Script = Sequence[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Task:
    """What is to be reached, where, and how somebody would try to.

    Attributes:
        name: its name, and that of its map.
        make: makes its world, which says done when it is solved.
        script: the calls that are tried, in their order.
    """

    name: str
    make: Callable[[], Any]
    script: tuple[Any, ...]


def _offers(script: Script) -> dict[str, list[dict[str, Any]]]:
    offers: dict[str, list[dict[str, Any]]] = {}
    for name, args in script:
        if args not in offers.setdefault(name, []):
            offers[name].append(args)
    return offers


def _actions(script: Script) -> tuple[Any, ...]:
    return tuple({"name": name, "args": args} if args else name for name, args in script)


# -- git --------------------------------------------------------------------------------------------------------------


def _w(file: str, text: str) -> tuple[str, dict[str, Any]]:
    return "write", {"file": file, "text": text}


def _add(file: str) -> tuple[str, dict[str, Any]]:
    return "add", {"file": file}


def _commit(message: str) -> tuple[str, dict[str, Any]]:
    return "commit", {"message": message}


def _n(tool: str, name: str) -> tuple[str, dict[str, Any]]:
    return tool, {"name": name}


def _one(file: str = "readme", text: str = "hello") -> list[tuple[str, dict[str, Any]]]:
    """Return the calls that make a first commit."""
    return [_w(file, text), _add(file), _commit("first")]


def _side(name: str, file: str, text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls that make a branch with a commit of its own, and go back."""
    return [
        _n("branch", name),
        _n("switch", name),
        _w(file, text),
        _add(file),
        _commit(f"work on {name}"),
        _n("switch", "main"),
    ]


_QUIET: dict[str, Any] = {"abort merge": (), "stash": (), "pop stash": ()}


def _git(name: str, setup: Script, script: Script, done: Callable[[State], bool]) -> Task:
    offers = {**_QUIET, **_offers(script)}
    return Task(name, lambda: Git(setup=list(setup), offers=offers, done=done), _actions(script))


def git_tasks() -> list[Task]:
    """Return the tasks in a git repository, each in one of its own."""
    return [
        _git(
            "first release",
            [],
            [_n("tag", "v1"), _commit("first"), _add("a"), _w("a", "one")],
            lambda s: "v1" in s["tags"],
        ),
        _git(
            "a feature",
            _one(),
            [
                _n("merge", "feature"),
                _n("switch", "feature"),
                _n("branch", "feature"),
                _commit("the feature"),
                _add("b"),
                _w("b", "two"),
                _n("switch", "main"),
            ],
            lambda s: s["branch"] == "main" and "feature" in s["branches"] and "b" in s["files"] and not s["untracked"]
            and not s["staged"],
        ),
        _git(
            "tidy up",
            [*_one(), *_side("old", "c", "three")],
            [_n("delete branch", "main"), _n("delete branch", "old"), _n("branch", "old"), _n("merge", "old")],
            lambda s: "old" not in s["branches"] and "c" in s["files"],
        ),
        _git(
            "second release",
            [*_one(), _n("tag", "v1")],
            [_n("tag", "v1"), _commit("more"), _add("d"), _n("delete tag", "v2"), _w("d", "four"), _n("tag", "v2")],
            lambda s: "v2" in s["tags"] and s["tags"]["v2"] != s["tags"]["v1"],
        ),
        _git(
            "put aside",
            [*_one(), _n("branch", "other"), _w("readme", "unfinished")],
            [("pop stash", {}), _n("switch", "others"), _add("e"), _commit("e"), _w("e", "five"), ("stash", {}),
             _n("switch", "other")],
            lambda s: s["branch"] == "other" and len(s["stashes"]) == 1 and "e" in s["files"] and not s["staged"]
            and not s["untracked"],
        ),
        _git(
            "a conflict",
            [*_one(), *_side("theirs", "readme", "bye"), _w("readme", "good day"), _add("readme"), _commit("ours")],
            [("pop stash", {}), _n("delete branch", "theirs"), _commit("both"), _n("merge", "theirs"),
             _w("readme", "good day, and bye"), _add("readme")],
            lambda s: "theirs" not in s["branches"] and s["merging"] is None,
        ),
        _git(
            "take away",
            [*_one(), _w("old", "x"), _add("old")],
            [("remove", {"file": "gone"}), ("remove", {"file": "old"}), _commit("without"), _n("tag", "clean")],
            lambda s: "clean" in s["tags"] and "old" not in s["files"] and not s["staged"],
        ),
        _git(
            "a fix",
            _one(),
            [
                _n("merge", "fix"),
                _n("delete branch", "fix"),
                _n("switch", "fix"),
                _n("branch", "fix"),
                _commit("the fix"),
                _add("f"),
                _w("f", "six"),
                _n("switch", "main"),
            ],
            lambda s: s["branch"] == "main" and "f" in s["files"] and "fix" not in s["branches"] and not s["staged"]
            and not s["untracked"],
        ),
        _git(
            "two branches",
            [*_one(), *_side("left", "l", "l")],
            [_n("switch", "right"), _n("branch", "left"), _n("merge", "right"), _n("branch", "right"),
             _n("merge", "left"), _n("tag", "both"), _n("delete branch", "left")],
            lambda s: "right" in s["branches"] and "left" not in s["branches"] and "both" in s["tags"],
        ),
        _git(
            "third release",
            [*_one("news", "1"), _n("tag", "v1"), _n("tag", "v2")],
            [_n("tag", "v2"), _n("tag", "v1"), _commit("news"), _add("plan"), _n("delete tag", "v3"), _w("plan", "2"),
             _n("tag", "v3")],
            lambda s: "v3" in s["tags"] and s["tags"]["v3"] != s["tags"]["v2"],
        ),
    ]  # fmt: skip


def _taken(where: str) -> Callable[[Any, Any], bool]:
    return lambda state, args: args["name"] in state[where]


GIT_WORDS = Vocabulary(
    {
        "the branch exists": _taken("branches"),
        "the tag exists": _taken("tags"),
        "the branch is merged": _taken("merged"),
        "it is the current branch": lambda state, args: args["name"] == state["branch"],
        "there is a commit": lambda state, args: bool(state["merged"]),
        "something is staged": lambda state, args: bool(state["staged"]),
        "something is changed": lambda state, args: bool(state["changed"]),
        "there are conflicts": lambda state, args: bool(state["conflicts"]),
        "a merge is going on": lambda state, args: state["merging"] is not None,
        "the file exists": lambda state, args: args["file"] in state["files"],
        "the file is staged": lambda state, args: args["file"] in state["staged"],
        "something is stashed": lambda state, args: bool(state["stashes"]),
    },
    only={
        "write": [],
        "add": ["the file exists"],
        "remove": ["the file exists", "the file is staged"],
        "commit": ["something is staged", "there are conflicts", "a merge is going on"],
        "branch": ["the branch exists", "there is a commit"],
        "delete branch": ["the branch exists", "the branch is merged", "it is the current branch"],
        "switch": ["the branch exists", "a merge is going on", "something is changed"],
        "merge": ["the branch exists", "a merge is going on", "something is changed", "something is staged"],
        "abort merge": ["a merge is going on"],
        "tag": ["the tag exists", "there is a commit"],
        "delete tag": ["the tag exists"],
        "stash": ["there is a commit", "there are conflicts"],
        "pop stash": ["something is stashed"],
    },
)
"""What somebody who knows git looks at before a call."""


# -- a shop in SQL ----------------------------------------------------------------------------------------------------

SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, email VARCHAR(40) NOT NULL UNIQUE, credit INTEGER NOT NULL DEFAULT 0 CHECK (credit >= 0));
CREATE TABLE products (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE, stock INTEGER NOT NULL CHECK (stock >= 0));
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer INTEGER NOT NULL REFERENCES customers (id),
    status VARCHAR(10) NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'sent'))
);
CREATE TABLE items (
    "order" INTEGER NOT NULL REFERENCES orders (id),
    product INTEGER NOT NULL REFERENCES products (id),
    pieces INTEGER NOT NULL CHECK (pieces > 0),
    PRIMARY KEY ("order", product)
);
INSERT INTO customers VALUES (1, 'ann@example.org', 20), (2, 'bob@example.org', 0);
INSERT INTO products VALUES (1, 'bolt', 5), (2, 'nut', 0);
INSERT INTO orders VALUES (1, 1, 'open'), (2, 2, 'paid');
INSERT INTO items VALUES (1, 1, 2), (2, 1, 1);
"""  # noqa: E501  # a table a line, like the others
_TABLES = ("customers", "products", "orders", "items")


def _in(table: str, **row: Any) -> tuple[str, dict[str, Any]]:
    return f"insert {table}", row


def _up(table: str, **row: Any) -> tuple[str, dict[str, Any]]:
    return f"update {table}", row


def _del(table: str, **key: Any) -> tuple[str, dict[str, Any]]:
    return f"delete {table}", key


def _shop(name: str, script: Script, done: Callable[[State], bool], source: str | None) -> Task:
    def make() -> Database:
        return Database(source, setup=SHOP, tables=_TABLES, offers=_offers(script), done=done)

    return Task(name, make, _actions(script))


def shop_tasks(source: str | None = None) -> list[Task]:
    """Return the tasks in a shop.

    Args:
        source: an address of PostgreSQL; None: SQLite.
    """

    def has(table: str, **row: Any) -> Callable[[State], bool]:
        def found(state: State) -> bool:
            rows = state[table]
            return any(
                all(one[name] == value for name, value in row.items())
                for one in (rows.values() if isinstance(rows, dict) else rows)
            )

        return found

    tasks: list[tuple[str, Script, Callable[[State], bool]]] = [
        (
            "a first order",
            [
                _in("items", order=3, product=1, pieces=1),
                _in("orders", id=3, customer=3),
                _in("customers", id=3, email=None),
                _in("customers", id=3, email="ann@example.org"),
                _in("customers", id=3, email="cat@example.org"),
            ],
            has("items", order=3, product=1),
        ),
        (
            "more of it",
            [
                _in("items", order=1, product=1, pieces=9),
                _up("items", order=1, product=1, pieces=0),
                _up("items", order=1, product=1, pieces=9),
            ],
            has("items", order=1, product=1, pieces=9),
        ),
        (
            "close an account",
            [_del("customers", id=2), _del("orders", id=2), _del("items", order=2, product=1)],
            lambda state: "2" not in state["customers"],
        ),
        (
            "send it",
            [
                _up("orders", id=1, status="done"),
                _up("orders", id=1, status=None),
                _up("orders", id=1, customer=7),
                _up("orders", id=1, status="sent"),
            ],
            has("orders", id=1, status="sent"),
        ),
        (
            "a new product",
            [
                _in("items", order=1, product=3, pieces=1),
                _in("products", id=3, name="bolt", stock=4),
                _in("products", id=1, name="screw", stock=4),
                _in("products", id=3, name="screw", stock=-4),
                _in("products", id=3, name="screw"),
                _in("products", id=3, name="screw", stock=4),
            ],
            has("items", order=1, product=3),
        ),
        (
            "another address",
            [
                _up("customers", id=2, email="ann@example.org"),
                _up("customers", id=2, email=None),
                _up("customers", id=2, email="robert@example.org"),
            ],
            has("customers", id=2, email="robert@example.org"),
        ),
        (
            "pay with credit",
            [
                _up("customers", id=1, credit=-10),
                _up("orders", id=1, status="payed"),
                _up("customers", id=1, credit=10),
                _up("orders", id=1, status="paid"),
            ],
            lambda state: has("customers", id=1, credit=10)(state) and has("orders", id=1, status="paid")(state),
        ),
        (
            "sell off",
            [_del("products", id=1), _del("items", order=2, product=1), _del("items", order=1, product=1)],
            lambda state: "1" not in state["products"],
        ),
        (
            "an order for two",
            [
                _in("items", order=4, product=2, pieces=0),
                _in("items", order=4, product=2, pieces=2),
                _in("items", order=4, product=9, pieces=2),
                _in("orders", id=4, customer=9),
                _in("orders", id=1, customer=2),
                _in("orders", id=4, customer=2, status="new"),
                _in("orders", id=4, customer=2),
            ],
            has("items", order=4, product=2, pieces=2),
        ),
        (
            "out of stock",
            [
                _up("products", id=2, stock=-1),
                _up("products", id=2, name="bolt"),
                _del("products", id=1),
                _up("products", id=2, stock=7),
            ],
            has("products", id=2, stock=7),
        ),
    ]
    return [_shop(*task, source) for task in tasks]


def _rows(state: Any, table: str) -> list[Any]:
    rows = state[table]
    return list(rows.values()) if isinstance(rows, dict) else rows


def _points_at(table: str, column: str) -> Callable[[Any, Any], Any]:
    return lambda state, args: args[column] is None or str(args[column]) in state[table]


def _pointed_at(table: str, column: str) -> Callable[[Any, Any], Any]:
    return lambda state, args: any(row[column] == args["id"] for row in _rows(state, table))


def _used(table: str, column: str) -> Callable[[Any, Any], Any]:
    return lambda state, args: (
        args[column] is not None
        and any(row[column] == args[column] and row["id"] != args["id"] for row in _rows(state, table))
    )


def _null(column: str) -> Callable[[Any, Any], Any]:
    return lambda state, args: args[column] is None


SHOP_WORDS = Vocabulary(
    {
        "the customer exists": _points_at("customers", "customer"),
        "the order exists": _points_at("orders", "order"),
        "the product exists": _points_at("products", "product"),
        "id is taken: customers": lambda state, args: str(args["id"]) in state["customers"],
        "id is taken: products": lambda state, args: str(args["id"]) in state["products"],
        "id is taken: orders": lambda state, args: str(args["id"]) in state["orders"],
        "the item is there": lambda state, args: any(
            (row["order"], row["product"]) == (args["order"], args["product"]) for row in state["items"]
        ),
        "the email is used": _used("customers", "email"),
        "the name is used": _used("products", "name"),
        "the email is null": _null("email"),
        "the status is null": _null("status"),
        "the status is known": lambda state, args: args["status"] in ("open", "paid", "sent"),
        "pieces are positive": lambda state, args: args["pieces"] > 0,
        "the stock is not negative": lambda state, args: args["stock"] >= 0,
        "the credit is not negative": lambda state, args: args["credit"] >= 0,
        "it has orders": _pointed_at("orders", "customer"),
        "it has items": _pointed_at("items", "order"),
        "it is in items": _pointed_at("items", "product"),
    },
    only={
        "insert customers": [
            "id is taken: customers", "the email is used", "the email is null", "the credit is not negative",
        ],
        "update customers": ["the email is used", "the email is null", "the credit is not negative"],
        "delete customers": ["it has orders"],
        "insert products": ["id is taken: products", "the name is used", "the stock is not negative"],
        "update products": ["the name is used", "the stock is not negative"],
        "delete products": ["it is in items"],
        "insert orders": ["id is taken: orders", "the customer exists", "the status is null", "the status is known"],
        "update orders": ["the customer exists", "the status is null", "the status is known"],
        "delete orders": ["it has items"],
        "insert items": ["the item is there", "the order exists", "the product exists", "pieces are positive"],
        "update items": ["pieces are positive"],
        "delete items": [],
    },
)  # fmt: skip
"""What somebody who knows the schema looks at before a call."""
