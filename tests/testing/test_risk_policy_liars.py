from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from surefoot.testing._contract import left_out
from surefoot.testing.risk_policies import ALWAYS, PolicyLaw, _planned, _tried, check_risk_policy
from surefoot.testing.risk_policy_liars import POLICY_LIARS, Purse


def broken_by(name: str, **more: Any) -> list[str]:
    """Return the laws that a liar breaks, in their order; without the words about them, which take a while."""
    without = left_out(more.get("without", ()), PolicyLaw, ALWAYS)
    return [law.value for law in _tried(_planned(POLICY_LIARS[name].policy, (None, "a key")), without).broken]


@pytest.mark.parametrize("name", POLICY_LIARS)
def test_every_liar_is_caught_by_its_law(name: str) -> None:
    law, laws = POLICY_LIARS[name].law, list(PolicyLaw)
    without = set(laws[laws.index(law) + 1 :]) - ALWAYS
    assert broken_by(name, without=without) == [law.value], "no law before it is broken; those after it do not matter"


@pytest.mark.parametrize(
    "name",
    [
        "the caller's key is changed",
        "reasons by the dice",
        "a hard refusal is traded",
        "taken without a case",
        "a lower risk is avoided",
        "a higher gain is avoided",
        "an old choice makes it negative",
        "avoiding is charged",
        "half is kept when it is settled",
        "settled in the red",
        "nan settles",
        "each episode adds to it",
        "each episode takes from it",
    ],
)
def test_nothing_else_catches_it(name: str) -> None:
    assert broken_by(name, without=[POLICY_LIARS[name].law]) == []


@pytest.mark.parametrize("law", PolicyLaw)
def test_every_law_has_a_liar(law: PolicyLaw) -> None:
    assert law in {liar.law for liar in POLICY_LIARS.values()}, (
        f"add a policy that breaks {law.value!r} to POLICY_LIARS"
    )


def test_every_lie_is_told_once_and_starts_from_the_honest_policy() -> None:
    assert set(Counter(liar.policy for liar in POLICY_LIARS.values()).values()) == {1}
    assert all(issubclass(liar.policy, Purse) for liar in POLICY_LIARS.values())


def test_the_honest_policy_passes() -> None:
    assert check_risk_policy(Purse).untried == {}
