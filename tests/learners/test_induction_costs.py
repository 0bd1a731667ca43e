"""What keeps induction cheap changes nothing: what is remembered, read in one pass, and let go of."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from surefoot.learners._induction import rows as rows_module
from surefoot.learners._induction.conditions import Condition
from surefoot.learners._induction.judging import terms_of
from surefoot.learners._induction.learning import Learner
from surefoot.learners._induction.pools import Pool
from surefoot.learners._induction.programs import Program
from surefoot.learners._induction.rows import Rows
from surefoot.learners._induction.snapshots import Shelf, slice_of
from surefoot.learners._induction.watching import Watch
from surefoot.learners.induction import InducedActionModel

Call = tuple[Any, dict[str, Any], bool]


def calls(seed: int, count: int) -> list[Call]:
    """Return calls to take things out of a store: what is there, in stock, and belongs to the one who asks."""
    rng, found = random.Random(seed), []
    for _ in range(count):
        things: dict[str, Any] = {
            f"t{n}": {"stock": rng.randrange(4), "owner": rng.choice("ab"), "tags": rng.sample("xyz", rng.randrange(3))}
            for n in range(5)
        }
        state = {"things": things, "open": rng.random() < 0.8, "most": rng.randrange(4)}
        args: dict[str, Any] = {
            "what": f"t{rng.randrange(6)}",
            "by": rng.choice("ab"),
            "tags": rng.sample("xyz", rng.randrange(2)),
        }
        thing = things.get(args["what"])
        fine = (
            thing is not None
            and state["open"]
            and thing["stock"] <= state["most"]
            and thing["owner"] == args["by"]
            and set(args["tags"]) <= set(thing["tags"])
        )
        found.append((state, args, bool(fine)))
    return found


def fill(rows: Rows, shelf: Shelf, found: list[Call]) -> None:
    for state, args, accepted in found:
        kept = slice_of(state, args)
        rows.add(shelf.put(kept, args), kept, args, not accepted)


def test_what_is_remembered_of_conditions_is_what_would_be_found_anew() -> None:
    found = calls(1, 90)
    shelf = Shelf()
    grown = Rows(shelf)
    fill(grown, shelf, found[:20])
    grown.regrow()
    for start in (20, 23, 50):
        Pool(grown.frame())
        fill(grown, shelf, found[start : {20: 23, 23: 50, 50: 90}[start]])
    grown.regrow()
    anew = Rows(Shelf())
    fill(anew, anew._shelf, found)
    anew.regrow()
    one, other = Pool(grown.frame()), Pool(anew.frame())
    assert [(c.key, c.param, c.cost) for c, _ in one.found] == [(c.key, c.param, c.cost) for c, _ in other.found]
    assert {"present", "domain", "equal", "subset", "le"} <= {c.kind for c, _ in one.found}
    np.testing.assert_array_equal(one.wrong, other.wrong)
    assert one.frame.prior == pytest.approx(other.frame.prior)


def test_what_is_watched_is_named_as_if_each_condition_were_read_in_turn() -> None:
    learner = Learner()
    for state, args, accepted in calls(2, 60):
        kept = slice_of(state, args)
        learner.take(learner.shelf.put(kept, args), kept, "take", args, accepted)
    learner.settle()
    pool = learner.pools["take"]
    literals, _ = pool.frame.literals()
    pairs = [
        Condition("either", (*a.terms, *b.terms), (a, b)) for a, b in zip(literals[:30], literals[7:37], strict=True)
    ]
    conditions = [*pairs[:3], *(c for c, _ in pool.found), *pairs[3:]]
    program = Program([term for c in conditions for term in terms_of(c)])
    watch = Watch(conditions, program.index)
    assert {"le", "lt", "domain", "either"} <= {c.kind for c in conditions}
    named = set()
    for state, args, _ in calls(3, 150):
        slots = program.run(state, args)
        violated = [c for c in conditions if not c.check(program.index)(slots)]
        assert watch.first(slots) is (violated[0] if violated else None)
        assert watch.violated(slots) == violated
        named.add(watch.first(slots))
    assert len(named) > 3


def test_what_was_foretold_selects_nothing_and_what_was_not_selects_for_its_action_alone() -> None:
    model = InducedActionModel()
    for n in range(44):
        for action in ("enter", "leave"):
            model.observe({"open": n % 2 == 0}, action, {}, n % 2 == 0)
    learner = model._learner
    before = dict(learner.pools)
    for n in range(4):
        assert model.observe({"open": n % 2 == 0}, "enter", {}, n % 2 == 0).verdict != "unknown"
    assert learner.pools == before
    for n in range(30):
        model.observe({"open": True, "odd": n}, "enter", {}, False)
    assert learner.pools["enter"] is not before["enter"]
    assert learner.pools["leave"] is before["leave"]
    judges = dict(learner.judges)
    model.predict({"open": True}, "enter", {})
    assert learner.judges == judges


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(rows_module, "MOST", 20)
    monkeypatch.setattr(rows_module, "MOST_ODD", 4)
    return 20


def test_of_too_many_calls_those_stay_that_do_not_depend_on_the_order(bounded: int) -> None:
    found = calls(4, 160)
    models = []
    for order in (found, found[::-1]):
        model = InducedActionModel()
        learner = model._learner
        for state, args, accepted in order:
            kept = slice_of(state, args)
            learner.take(learner.shelf.put(kept, args), kept, "take", args, accepted)
        models.append(model.settle())
    one, other = (model._learner.rows["take"] for model in models)
    assert one.total == len(found)
    assert models[0].summary("take")["accepted"] == sum(accepted for _, _, accepted in found)  # type: ignore[index]  # it was observed
    for rows in (one, other):
        assert sum(rows.refused) == bounded
        assert len(rows) - sum(rows.refused) == min(bounded, rows.totals[0])
    assert models[0].fingerprint() == models[1].fingerprint()
    assert models[0].to_json() == models[1].to_json()
    assert len(one._shelf) < 10 * len(one)
    again = InducedActionModel().merge(models[0])
    assert again.fingerprint() == models[0].fingerprint()
    assert again._learner.rows["take"].totals == one.totals


def test_a_call_that_went_against_what_was_said_stays(bounded: int) -> None:
    rows = Rows(Shelf())
    fill(rows, rows._shelf, calls(5, 120))
    rows.trim()
    state, args, _ = next(c for c in calls(6, 50) if c[2])
    for n in range(200):
        kept = {**slice_of(state, args), "n": n}
        rows.add(rows._shelf.put(kept, args), kept, args, True, odd=n % 100 == 0)
    rows.trim()
    assert sum(rows.refused) <= bounded + 2
    assert sum(rows._odd) >= 2


def test_parts_that_nothing_needs_are_forgotten() -> None:
    shelf = Shelf()
    one, other = shelf.put({"a": {"b": 1}}, {"n": 1}), shelf.put({"a": {"b": 1}}, {"n": 2})
    many = len(shelf)
    shelf.drop(one)
    assert len(shelf) == many - 1
    assert shelf.get(other) == ({"a": {"b": 1}}, {"n": 2})
    third = shelf.put({"a": {"b": 3}}, {"n": 1})
    assert shelf.get(third) == ({"a": {"b": 3}}, {"n": 1})
    assert shelf.get(other) == ({"a": {"b": 1}}, {"n": 2})
