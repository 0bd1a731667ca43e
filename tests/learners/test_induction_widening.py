"""Shapes of rules that need dearer terms: found when refusals stay without a reason, said in words, exported, sound."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from surefoot.learners._induction.conditions import TESTS
from surefoot.learners._induction.finding import grow
from surefoot.learners._induction.fitting import fit
from surefoot.learners._induction.operations import reader_of
from surefoot.learners._induction.rows import Rows
from surefoot.learners._induction.snapshots import Shelf
from surefoot.learners._induction.terms import NAMED, STATE, Term
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.vocabulary import MISSING

Call = tuple[dict[str, Any], dict[str, Any], bool]


def sums(rng: random.Random) -> Call:
    """Ask for a total of the prices, 7 for each line, and 12 when it is express."""
    goods = {f"g{n}": {"price": 5 * n + 3, "kind": n % 3} for n in range(12)}
    lines = [{"good": f"g{rng.randrange(12)}"} for _ in range(rng.randrange(1, 4))]
    express = rng.choice(("yes", "no"))
    due = sum(goods[line["good"]]["price"] + 7 for line in lines) + 12 * (express == "yes")
    total = due + rng.choice((0, 0, 0, 7, -7, 12, -5, 1))
    return {"goods": goods}, {"lines": lines, "express": express, "total": total}, total == due


def ratios(rng: random.Random) -> Call:
    """Ask for seats at 15 each, which the account must hold."""
    accounts = {f"a{n}": {"credit": 10 * n, "age": (7 * n) % 13} for n in range(20)}
    name, seats = f"a{rng.randrange(20)}", rng.randrange(1, 12)
    return {"accounts": accounts}, {"account": name, "seats": seats}, accounts[name]["credit"] >= 15 * seats


def least(rng: random.Random) -> Call:
    """Ask for nights, none of which may have fewer rooms than there are guests."""
    nights = {f"n{n}": {"free": n % 5, "rate": 40 + n} for n in range(15)}
    chosen = [f"n{rng.randrange(15)}" for _ in range(rng.randrange(1, 4))]
    guests = [{"name": f"p{rng.randrange(50)}"} for _ in range(rng.randrange(1, 4))]
    fits = len(guests) <= min(nights[night]["free"] for night in chosen)
    return {"nights": nights}, {"nights": chosen, "guests": guests}, fits


def exceptions(rng: random.Random) -> Call:
    """Ask for legs, each open, unless the booking has it already: the same route on the same day."""
    routes: dict[str, Any] = {
        f"r{n}": {"days": {f"d{d}": {"state": "open" if (n + 2 * d) % 3 else "shut"} for d in range(6)}}
        for n in range(8)
    }

    def legs(maker: random.Random) -> list[dict[str, str]]:
        return [{"route": f"r{maker.randrange(8)}", "day": f"d{maker.randrange(6)}"} for _ in range(2)]

    bookings: dict[str, Any] = {f"b{n}": {"legs": legs(random.Random(n)), "paid": n % 2} for n in range(12)}
    name = f"b{rng.randrange(12)}"
    kept = bookings[name]["legs"]
    asked = [leg if rng.random() < 0.5 else new for leg, new in zip(kept, legs(rng), strict=True)]
    fine = all(leg in kept or routes[leg["route"]]["days"][leg["day"]]["state"] == "open" for leg in asked)
    return {"routes": routes, "bookings": bookings}, {"booking": name, "legs": [dict(leg) for leg in asked]}, fine


SHAPES: dict[str, tuple[Callable[[random.Random], Call], int, str]] = {
    "sums with constants": (sums, 160, "total comes to ("),
    "ratios": (ratios, 160, "(accounts[account].credit / seats) >= 15"),
    "the least of several": (least, 160, "len(guests[*]) <= min(state.nights[nights[*]].free)"),
    "exceptions by two keys": (exceptions, 200, " unless bookings[booking].legs["),
}


@pytest.fixture(params=sorted(SHAPES))
def world(request: pytest.FixtureRequest) -> tuple[list[Call], list[Call], str]:
    """Give calls to learn from, others to ask about, and what should be said."""
    make, calls, words = SHAPES[request.param]
    rng = random.Random(request.param)
    return [make(rng) for _ in range(calls)], [make(rng) for _ in range(80)], words


def learned(calls: list[Call], caution: str) -> Any:
    """Return a model that has observed calls."""
    model: Any = ConservativeActionModel(caution=caution)
    for state, args, accepted in calls:
        model.observe(state, "act", args, accepted)
    return model.settle()


def test_a_rule_is_recovered_said_and_exported(world: tuple[list[Call], list[Call], str]) -> None:
    """Nothing is answered wrongly, most is answered, and the exported module says the same of the rule."""
    calls, asked, words = world
    model = learned(calls, "balanced")
    said = [model.predict(state, "act", args).verdict for state, args, _ in asked]
    wrong = [pair for pair in zip(said, asked, strict=True) if pair[0] == ("refuse" if pair[1][2] else "accept")]
    assert not wrong
    assert said.count("unknown") <= 0.35 * len(said)
    rules = [rule for rule in model.conditions("act") if words in rule.words]
    assert rules, [rule.words for rule in model.conditions("act")]
    assert rules[0].key in {rule["key"] for rule in model.to_json()["actions"]["act"]}
    scope: dict[str, Any] = {}
    exec(model.to_python(), scope)
    predicate = scope["predicates"][rules[0].words]
    for state, args, accepted in asked:
        assert not accepted or predicate(state, args)
    refused = [(state, args) for state, args, accepted in asked if not accepted]
    assert any(words.split(" comes")[0] in str(model.explain(state, "act", args)) for state, args in refused)


def test_safe_accepts_nothing_that_is_refused(world: tuple[list[Call], list[Call], str]) -> None:
    """Where only what is proved is accepted, there is no false accept."""
    calls, asked, _ = world
    model = learned(calls, "safe")
    for state, args, accepted in asked:
        assert accepted or model.predict(state, "act", args).verdict != "accept"


def test_a_comparison_may_be_asked_for_some_values_only() -> None:
    """Orders to buy must be covered; what no refusal shows of orders to sell is left open until one does."""
    model: Any = ConservativeActionModel()
    rng = random.Random(6)
    for n in range(120):
        kind, amount = rng.choice(("buy", "sell")), rng.randrange(1, 200)
        if kind == "buy" or amount <= 50:
            model.observe({"balance": 60 + n % 80}, "order", {"kind": kind, "amount": amount}, amount <= 60 + n % 80)
    model.settle()
    assert model.predict({"balance": 100}, "order", {"kind": "buy", "amount": 150}).verdict == "refuse"
    assert model.predict({"balance": 100}, "order", {"kind": "sell", "amount": 150}).verdict == "unknown"
    for n in range(6):
        model.observe({"balance": 100}, "order", {"kind": "sell", "amount": 150 + n}, False)
    assert model.settle().predict({"balance": 100}, "order", {"kind": "sell", "amount": 170}).verdict == "refuse"


def test_numbers_are_no_names_of_fields() -> None:
    """Records that are kept by number are a table, also when the same two are always there."""
    held = {"11": {"state": "open"}, "12": {"state": "shut"}}
    keys = {term.key for term in grow([({"orders": held}, {"id": n}) for n in (11, 12) * 4]).offered}
    assert "orders[id].state" in keys
    assert not [key for key in keys if "orders.11" in key]


def test_a_part_of_the_state_may_be_named_as_an_argument_is() -> None:
    """Both are read, and told apart in words."""
    held = {f"r{n}": {"free": n} for n in range(8)}
    sample = [({"rooms": held}, {"rooms": [f"r{n}"]}) for n in range(8)]
    assert {"rooms", "state.rooms", "state.rooms[rooms[*]].free"} <= {term.key for term in grow(sample).offered}
    assert Term("field", (NAMED,), "rooms").parents[0] == STATE


def test_terms_are_read_anew_when_an_argument_takes_a_name_of_the_state() -> None:
    """What was read of the state under that name is not taken for the argument."""
    rows = Rows(shelf := Shelf())
    calls = [({"level": n}, {"n": n} if n < 6 else {"n": n, "level": 50 + n}) for n in range(12)]
    for at, (state, args) in enumerate(calls):
        rows.add(shelf.put(state, args), state, args, refused=at % 2 == 0)
        if at == 5:
            rows.regrow()
            assert list(rows.columns[[term.key for term in rows.terms].index("level")]) == [0, 1, 2, 3, 4, 5]
    rows.regrow()
    found = {term.key: list(column) for term, column in zip(rows.terms, rows.columns, strict=True)}
    assert found["state.level"] == list(range(12))
    assert found["level"] == [MISSING] * 6 + [56, 57, 58, 59, 60, 61]


def test_dearer_terms_are_given_up_when_they_are_no_help() -> None:
    """Refusals that nothing decides are looked into once, and not again until there are twice as many calls."""
    rows = Rows(shelf := Shelf())
    rng = random.Random(4)
    for n in range(60):
        state, args = {"level": n % 7}, {"n": n % 5}
        rows.add(shelf.put(state, args), state, args, refused=rng.random() < 0.3)
    rows.regrow()
    plain = list(rows.terms)
    assert not rows.widen(2)
    assert rows.widen(10)
    assert rows.wide
    rows.narrow()
    assert not rows.wide
    assert rows.terms == plain
    assert not rows.widen(10)


def test_an_expression_is_exact_with_a_constant_or_there_is_none() -> None:
    """The factors of a total are found to the cent; of numbers that no expression gives, nothing is said."""
    total, n, m = (Term("field", (Term("args"),), name) for name in ("total", "n", "m"))
    rng = random.Random(3)
    pairs = [(rng.randrange(30), rng.randrange(30)) for _ in range(60)]
    exact = [2.5 * a + 4 * b + 11 for a, b in pairs]
    columns: list[list[float]] = [exact, [a for a, _ in pairs], [b for _, b in pairs]]
    found = fit([total, n, m], columns, [False] * 60, list(range(60)))
    words = {term.key for term in found if term.parents == (m, n) or term.parents == (n, m)}
    assert words <= {"(4 * m + 2.5 * n + 11)", "(2.5 * n + 4 * m + 11)"}
    assert words
    columns[0] = [a * a + rng.random() for a, _ in pairs]
    assert not [term for term in fit([total, n, m], columns, [False] * 60, list(range(60))) if n in term.parents]


@pytest.mark.parametrize(
    ("op", "ranks", "param", "values", "result"),
    [
        ("min", (1,), None, [(3, MISSING, 1)], 1),
        ("max", (1,), None, [()], MISSING),
        ("over", (0, 0), None, [6, 4], 1.5),
        ("over", (0, 0), None, [6, 0], MISSING),
        ("when", (1, 0, 0), None, [(1, 2), "a", "a"], (1, 2)),
        ("when", (1, 0, 0), None, [(1, 2), "a", "b"], (MISSING, MISSING)),
        ("when", (0, 0, 0), None, [1, MISSING, MISSING], MISSING),
        ("unless", (1, 1), None, [(1, 2), (MISSING, {})], (1, MISSING)),
        ("unless", (1, 1), "x", [(1, 2), ("x", "y")], (MISSING, 2)),
        ("else", (1, 1), None, [(1, MISSING), (5, 6)], (1, 6)),
        ("gated", (0, 0), "yes", [4, "no"], 0),
        ("linear", (0, 0), (2, 0.5, 3), [1, 4], 7),
        ("linear", (0,), (2,), [MISSING], MISSING),
    ],
)
def test_what_an_operation_gives(op: str, ranks: tuple[int, ...], param: Any, values: list[Any], result: Any) -> None:
    """Dearer operations, also where there is nothing."""
    assert reader_of(op, ranks, param, tuple(range(len(values))))(values) == result


def test_what_is_not_there_is_not_repeated() -> None:
    """Two elements without a value are not two equal ones."""
    assert TESTS["distinct"]((MISSING, MISSING, 1))
    assert not TESTS["distinct"]((1, MISSING, 1))
    assert TESTS["comes to"](3.001, 3)
    assert not TESTS["comes to"](3.01, 3)
