from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import pytest

from surefoot.testing import _lies, _lies_in_answers
from surefoot.testing._checks import examine
from surefoot.testing._probe import Plan
from surefoot.testing._search import Search, _LeastTried
from surefoot.testing.honest import HONEST, Hallway
from surefoot.testing.laws import Law
from surefoot.testing.liars import LIARS

SMALL: dict[str, Any] = {"steps": 20, "long": 50, "examples": 3}
"""Enough to see every lie, most with one seed; the defaults try twenty times as much."""
OF_TWO_SEEDS = {"a seed that raises", "a lock after three refusals"}


def broken_by(name: str, without: Collection[Law] = ()) -> list[Law]:
    """Return the laws that a liar breaks, in their order."""
    liar = LIARS[name]
    given = {"clone": None, "offered": False, **liar.options}
    seeds = (0, 1) if name in OF_TWO_SEEDS else (0,)
    plan = Plan(liar.world, seeds, given["clone"], given["offered"], frozenset(without))
    search = Search(plan, **SMALL)
    search.explore()
    return [law for law in Law if law in search.breaches]


@pytest.mark.parametrize("name", LIARS)
def test_every_liar_is_caught_by_its_law(name: str) -> None:
    assert broken_by(name)[:1] == [LIARS[name].law]


@pytest.mark.parametrize(
    "name",
    [
        "an action offered twice",
        "actions of where it is",
        "random outcomes after step 31",
        "a clock below 1e-9",
        "now 1, now '1'",
        "asking moves",
        "one list of actions for all",
        "a reset that is dirty in mid-episode",
        "one cell for all instances",
        "a lock after three refusals",
        "a step after the end",
        "a token that lives",
        "reading signs moves",
        "a clone at the start",
    ],
)
def test_nothing_else_catches_it(name: str) -> None:
    assert broken_by(name, without=[LIARS[name].law]) == []


@pytest.mark.parametrize(
    ("law", "name"), [(Law.SEEDED, "random outcomes after step 31"), (Law.COPIES, "an enum by identity")]
)
def test_a_law_that_others_stand_on_is_tried_by_itself(law: Law, name: str) -> None:
    """These two are tried again whenever a replay differs: that could hide that their own replay finds nothing."""
    liar = LIARS[name]
    assert liar.law is law
    trial = examine(Plan(liar.world, (0,)), 0, _LeastTried(SMALL["long"]), only=law)
    assert set(trial.breaches) == {law}


@pytest.mark.parametrize("law", Law)
def test_every_law_has_a_liar(law: Law) -> None:
    assert law in {liar.law for liar in LIARS.values()}, f"add a world that breaks {law.value!r} to LIARS"


def test_every_lie_is_told_once() -> None:
    lies = [
        thing
        for module in (_lies_in_answers, _lies)
        for thing in vars(module).values()
        if getattr(thing, "__module__", "") == module.__name__
    ]
    lies = [lie for lie in lies if issubclass(lie, Hallway)]
    told = Counter(liar.world for liar in LIARS.values() if not liar.options.get("clone"))
    assert told == Counter(lies)


def test_every_liar_would_be_honest_but_for_its_lie() -> None:
    assert all(issubclass(liar.world, tuple(HONEST.values())) for liar in LIARS.values())
