from __future__ import annotations

from typing import Any

import pytest

from surefoot.agent.budget import Budget, Spent
from surefoot.errors import BadArgument


def test_what_was_spent_adds_up() -> None:
    spent = Spent().plus({"decisions": 1, "seconds": 0.5, "money": 0.25}).plus({}).plus({"decisions": 2})
    assert (spent.decisions, spent.seconds, spent.money) == (3, 0.5, 0.25)


@pytest.mark.parametrize(
    ("budget", "spent", "gone"),
    [
        (Budget(), Spent(10**6, 1e9, 1e9), None),
        (Budget(decisions=0), Spent(), "decisions"),
        (Budget(seconds=1), Spent(seconds=1.0), "seconds"),
        (Budget(money=2.5), Spent(money=2.4), None),
        (Budget(decisions=9, money=2.5), Spent(money=2.5), "money"),
    ],
)
def test_it_is_used_up_where_one_of_the_three_is(budget: Budget, spent: Spent, gone: str | None) -> None:
    assert budget.used_up(spent) == gone


@pytest.mark.parametrize(
    "wrong", [{"decisions": -1}, {"decisions": 1.0}, {"seconds": float("nan")}, {"money": True}, {"money": -0.1}]
)
def test_a_bound_out_of_its_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadArgument, match=next(iter(wrong))):
        Budget(**wrong)


def test_a_number_is_one_of_decisions() -> None:
    assert Budget.of(3) == Budget(decisions=3)
    assert Budget.of(None) == Budget()
    with pytest.raises(BadArgument, match="budget"):
        Budget.of(1.5)  # type: ignore[arg-type]  # wrong on purpose
