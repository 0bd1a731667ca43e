"""Check that a risk policy keeps the laws of its protocol: one call, or one class of tests to inherit.

`check_risk_policy(make)` asks about every kind of prediction and returns a report, or raises `ContractBroken` with the
calls that break a law. `RiskPolicyContract` is the same as one test a law. A policy that has a budget (`charge` and
`left`; perhaps `settle` and `new_episode`) is held to the laws of a budget too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from surefoot import values
from surefoot.errors import BadArgument, ContractBroken
from surefoot.protocols import RiskPolicy
from surefoot.testing import _policy_checks as checks
from surefoot.testing._contract import ContractReport, Findings, Stated, left_out, skip
from surefoot.testing._policy_checks import Plan

__all__ = ["PolicyLaw", "PolicyReport", "RiskPolicyContract", "check_risk_policy"]


class PolicyLaw(Stated):
    """Name the laws of a risk policy, in the order in which they are told.

    Example:
        >>> PolicyLaw.HARD.value
        'a hard rule is never traded'
        >>> PolicyLaw.PURE.statement
        'Asked again, in whatever order, the policy says the same, and no account, log or fingerprint moves.'
    """

    IS_POLICY = ("it is a risk policy", "`decide` is a method that can be called.")
    ANSWERS = (
        "it answers",
        "`decide(prediction, gain, key)` returns for every prediction; gain and key may be left out.",
    )
    CHOICES = (
        "every answer is a choice",
        "It has a `word`, one of 'take', 'avoid', 'ask', and a `reason` in words. Its `charge`, if it has one, is a "
        "finite number >= 0, and 0 unless the word is 'take'.",
    )
    KEPT = ("what it is given stays as it was", "The policy never changes a prediction or a key that it is given.")
    SAME = ("two fresh policies say the same", "The same questions get the same answers from two fresh policies.")
    PURE = (
        "deciding changes nothing",
        "Asked again, in whatever order, the policy says the same, and no account, log or fingerprint moves.",
    )
    HARD = (
        "a hard rule is never traded",
        "What is predicted to be refused by a hard rule is not taken, whatever there is to gain.",
    )
    EVIDENCE = (
        "what rests on nothing is not taken",
        "What is not predicted to be accepted is not taken on an estimate that rests on no case at all.",
    )
    NUMBERS = (
        "what is no amount is refused",
        "A risk or a gain that is NaN, infinite or negative raises a TypeError or ValueError, or is not taken.",
    )
    RISK = ("less risk is never worse", "What is taken at some risk is taken at a lower one, all else equal.")
    GAIN = ("more gain is never worse", "What is taken for some gain is taken for a higher one, all else equal.")
    APART = ("two policies go separate ways", "What one policy is charged changes nothing for another one.")
    EXACT = (
        "accounts are exact",
        "After a charge exactly that much less is left, to the last digit: ten tenths are one.",
    )
    WITHIN = (
        "the budget is kept",
        "No choice charges more than is left, and what is left is never negative, even when an old choice is charged.",
    )
    TAKEN = ("only what is taken is charged", "Charging a choice to avoid or to ask raises, or changes nothing.")
    KEYS = ("look-alike keys stay apart", "A charge for the key 1 changes nothing for True, 1.0, '1' or (1,).")
    SETTLED = (
        "what is settled adds up",
        "A charge that is settled with 0 is given back whole; what is no amount is refused; nothing becomes negative.",
    )
    EPISODES = (
        "a new episode gives back no more than there was",
        "After `new_episode` at least as much is left as before, and no more than at the beginning.",
    )


ALWAYS = frozenset({PolicyLaw.IS_POLICY, PolicyLaw.ANSWERS, PolicyLaw.CHOICES})
"""The laws that cannot be left out, because without them nothing else can be tried."""

_CHECKS: Mapping[PolicyLaw, Callable[[Plan], int]] = {
    PolicyLaw.IS_POLICY: checks.is_policy,
    PolicyLaw.ANSWERS: checks.answers,
    PolicyLaw.CHOICES: checks.choices,
    PolicyLaw.KEPT: checks.kept,
    PolicyLaw.SAME: checks.same,
    PolicyLaw.PURE: checks.pure,
    PolicyLaw.HARD: checks.hard,
    PolicyLaw.EVIDENCE: checks.evidence,
    PolicyLaw.NUMBERS: checks.numbers,
    PolicyLaw.RISK: checks.less_risk,
    PolicyLaw.GAIN: checks.more_gain,
    PolicyLaw.APART: checks.apart,
    PolicyLaw.EXACT: checks.exactly,
    PolicyLaw.WITHIN: checks.within,
    PolicyLaw.TAKEN: checks.only_taken,
    PolicyLaw.KEYS: checks.keys,
    PolicyLaw.SETTLED: checks.settled,
    PolicyLaw.EPISODES: checks.episodes,
}


class PolicyReport(ContractReport):
    """Say which laws of a risk policy were tried how often, and held.

    It is true, reads as a table (`print(report)`), and is a mapping with the keys `questions`, `take`, `avoid` and
    `ask`: what a fresh policy said to how many of the questions.

    Args:
        name: the name of the policy's class.
        what: "a risk policy".
        counts: that mapping.
        tried: how often each law was tried.
        untried: the laws that were not tried, each with the reason.

    Example:
        >>> from surefoot.knowledge.risk import Protect
        >>> report = check_risk_policy(Protect)
        >>> bool(report), report["questions"], report.untried[PolicyLaw.EXACT]
        (True, 480, 'it has no charge')
    """


def check_risk_policy(
    make: Callable[[], RiskPolicy], *, keys: Sequence[Any] = (None, "a key"), without: Collection[str] = ()
) -> PolicyReport:
    """Try the laws of a risk policy, and return what was tried.

    Args:
        make: returns a fresh policy at each call; called about 30 times. A policy with a budget should have one in
            which a few risks of 0.1 fit.
        keys: the keys to ask with, plain values.
        without: names of laws to leave out, for a policy that cannot keep them.

    Returns:
        A report, which is true.

    Raises:
        ContractBroken: a law is broken; the message is a report with the calls that show it.
        BadArgument: an argument is out of its range.

    Cost: about 5,000 decisions.

    Example:
        >>> from surefoot.knowledge.risk import RiskBudget
        >>> from surefoot.testing.risk_policy_liars import POLICY_LIARS
        >>> check_risk_policy(RiskBudget)["take"] > 0
        True
        >>> try:
        ...     check_risk_policy(POLICY_LIARS["a hard refusal is traded"].policy)
        ... except ContractBroken as broken:
        ...     print(str(broken).splitlines()[0])
        Trader breaks the law "a hard rule is never traded".
    """
    plan = _planned(make, keys)
    found = _tried(plan, left_out(without, PolicyLaw, ALWAYS))
    for law in found.broken:
        raise ContractBroken(_told(plan, found, law))
    return PolicyReport(plan.name, "a risk policy", checks.measured(plan), found.tried, found.untried)


def _planned(make: Any, keys: Sequence[Any]) -> Plan:
    if not callable(make):
        raise BadArgument(f"make must be a function that returns a fresh policy, got {make!r}")
    if isinstance(keys, str) or not isinstance(keys, Sequence) or not keys:
        raise BadArgument(f"keys must be a list of one key or more, got {keys!r}")
    return Plan(make, tuple(map(values.copy, keys)))


def _tried(plan: Plan, without: frozenset[PolicyLaw]) -> Findings[PolicyLaw]:
    found = Findings(ALWAYS, without)
    found.run({law: partial(check, plan) for law, check in _CHECKS.items()})
    return found


def _told(plan: Plan, found: Findings[PolicyLaw], law: PolicyLaw) -> str:
    also = [other for other in found.broken if other is not law]
    return found.broken[law].told(plan.name, "policy", law, also, law in ALWAYS)


class _Explored(NamedTuple):
    """What was found for a class of tests."""

    plan: Plan
    found: Findings[PolicyLaw]


class RiskPolicyContract:
    """Inherit a test for every law of a risk policy; write `make`.

    A test is skipped, and says why, where there is nothing to try a law on. All laws are tried once for the class.

    Attributes:
        keys: the keys to ask with, plain values.
        without: names of laws to leave out.

    Example:
        >>> from surefoot.knowledge.risk import RiskBudget
        >>> class TestRiskBudget(RiskPolicyContract):
        ...     def make(self):
        ...         return RiskBudget(per_episode=1)
        >>> TestRiskBudget().test_accounts_are_exact()
    """

    keys: ClassVar[Sequence[Any]] = (None, "a key")
    without: ClassVar[Collection[str]] = ()
    _explored: ClassVar[_Explored | None] = None

    def make(self) -> RiskPolicy:
        """Return a fresh policy."""
        raise NotImplementedError(f"write {type(self).__name__}.make(): it returns a fresh policy")

    def test_it_is_a_risk_policy(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.IS_POLICY)

    def test_it_answers(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.ANSWERS)

    def test_every_answer_is_a_choice(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.CHOICES)

    def test_what_it_is_given_stays_as_it_was(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.KEPT)

    def test_two_fresh_policies_say_the_same(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.SAME)

    def test_deciding_changes_nothing(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.PURE)

    def test_a_hard_rule_is_never_traded(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.HARD)

    def test_what_rests_on_nothing_is_not_taken(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.EVIDENCE)

    def test_what_is_no_amount_is_refused(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.NUMBERS)

    def test_less_risk_is_never_worse(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.RISK)

    def test_more_gain_is_never_worse(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.GAIN)

    def test_two_policies_go_separate_ways(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.APART)

    def test_accounts_are_exact(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.EXACT)

    def test_the_budget_is_kept(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.WITHIN)

    def test_only_what_is_taken_is_charged(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.TAKEN)

    def test_look_alike_keys_stay_apart(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.KEYS)

    def test_what_is_settled_adds_up(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.SETTLED)

    def test_a_new_episode_gives_back_no_more_than_there_was(self) -> None:
        """Hold the policy to the law of this name."""
        self._holds(PolicyLaw.EPISODES)

    def _holds(self, law: PolicyLaw) -> None:
        """Fail where `law` is broken, skip where there was nothing to try it on."""
        explored: _Explored | None = vars(type(self)).get("_explored")
        if explored is None:
            plan = _planned(self.make, self.keys)
            found = _tried(plan, left_out(self.without, PolicyLaw, ALWAYS))
            explored = type(self)._explored = _Explored(plan, found)
        if law in explored.found.broken:
            raise ContractBroken(_told(explored.plan, explored.found, law))
        if law in explored.found.untried:
            skip(f"{law.value}: {explored.found.untried[law]}")
