"""A budget of risk: what is taken, what is charged, and that no unit is lost or made up."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import BadArgument, UnknownFormat, ValueRejected
from surefoot.journal import open_journal
from surefoot.knowledge.risk_budget import Booking, Configured, RiskBudget
from surefoot.knowledge.risk_choices import Choice
from surefoot.protocols import Prediction, RiskPolicy


def risky(risk: Any = 0.1, support: int = 9, verdict: str = "refuse", **more: Any) -> Prediction:
    return Prediction(verdict, risk=risk, support=support, **more)


def take(budget: RiskBudget, prediction: Prediction, gain: Any = 100, key: Any = None) -> Choice:
    choice = budget.decide(prediction, gain, key)
    return budget.charge(choice) if choice.word == "take" else choice


# ── the order of a decision ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("prediction", "gain", "word", "charge"),
    [
        (risky(hard=True), 10**9, "avoid", 0),
        (risky(hard=True, risk=0), 10**9, "avoid", 0),
        (risky(verdict="unknown", hard=True), 10**9, "ask", 0),
        (risky(verdict="accept", risk=0), 0, "take", 0),
        (risky(verdict="accept", risk=0.2, support=0), 0, "take", Fraction(1, 5)),
        (risky(verdict="accept", risk=333), 10**9, "avoid", 0),
        (risky(support=2), 10**9, "ask", 0),
        (risky(support=0, verdict="unknown"), 10**9, "ask", 0),
        (risky(support=3), 1, "take", Fraction(1, 10)),
        (risky(support=-1), 1, "take", Fraction(1, 10)),
        (risky(risk=1e-9, support=-1, verdict="unknown"), 1e9, "take", Fraction(1, 10**9)),
        (risky(risk=1e-9, support=5, verdict="unknown"), 1e9, "take", Fraction(1, 10**9)),
        (risky(), 0.0999, "avoid", 0),
        (risky(verdict="unknown"), 0.0999, "ask", 0),
        (risky(), 0.1, "take", Fraction(1, 10)),
        (risky(risk=0), 0, "avoid", 0),
        (risky(risk=0), 1, "take", 0),
        (risky(risk=1), 9, "take", 1),
        (risky(risk=1.0000000001), 9, "avoid", 0),
        (risky(risk=1.0000000001, verdict="unknown"), 9, "ask", 0),
    ],
)
def test_the_order(prediction: Prediction, gain: Any, word: str, charge: Any) -> None:
    budget = RiskBudget()
    choice = budget.decide(prediction, gain)
    assert (choice.word, choice.charge) == (word, charge)
    assert choice.reason
    assert budget.left == 1


def test_the_gain_must_be_so_many_times_the_risk() -> None:
    budget = RiskBudget(min_gain_ratio=3, min_support=0)
    assert budget.decide(risky(support=0), 0.3).word == "take"
    assert budget.decide(risky(support=0), 0.29999).word == "avoid"


def test_reasons_say_the_numbers() -> None:
    budget = RiskBudget(per_episode=0.05)
    reasons = [budget.decide(p, g).reason for p, g in [(risky(), 1), (risky(), 0.05), (risky(support=1), 1)]]
    assert reasons == [
        "a risk of 1/10 is more than the 1/20 that is left",
        "a gain of 1/20 is not worth a risk of 1/10",
        "the risk rests on 1 of the 3 cases that an estimate needs",
    ]
    assert budget.decide(risky(hard=True, reason="never")).reason == "never"
    assert budget.decide(risky(hard=True)).reason == "a hard rule, which is never traded"


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_three_takes_of_a_tenth_fit_in_three_tenths() -> None:
    budget = RiskBudget(per_episode=0.3)
    assert [take(budget, risky(0.1)).word for _ in range(4)] == ["take", "take", "take", "avoid"]
    assert budget.left == 0
    assert budget.spent == Fraction(3, 10)


@pytest.mark.parametrize("name", ["per_episode", "overall", "min_gain_ratio"])
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -1, -0.1])
def test_limits_that_are_none_are_refused(name: str, wrong: Any) -> None:
    with pytest.raises(BadArgument, match=f"{name} must be a"):
        RiskBudget(**{name: wrong})


def test_other_settings_are_checked() -> None:
    for wrong in (-1, 1.5, True):
        with pytest.raises(BadArgument, match="min_support must be an int >= 0"):
            RiskBudget(min_support=wrong)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match="'0.5' is not written as 1/2"):
        Configured(per_episode="0.5")


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -1e-9])
def test_gains_and_harms_that_are_none_are_refused_and_change_nothing(wrong: Any) -> None:
    budget = RiskBudget()
    choice = take(budget, risky())
    before = budget.fingerprint()
    with pytest.raises(BadArgument, match="gain must be a"):
        budget.decide(risky(), wrong)
    with pytest.raises(BadArgument, match="actual must be a"):
        budget.settle(choice, wrong)
    with pytest.raises(BadArgument, match="prediction.risk must be a"):
        budget.decide(SimpleNamespace(verdict="refuse", risk=wrong, support=9, hard=False, reason=""), 1)  # type: ignore[arg-type]  # a stand-in
    with pytest.raises(ValueRejected, match=r"\$ is nan"):
        budget.decide(risky(), 1, key=math.nan)
    assert budget.fingerprint() == before


# ── deciding is pure, charging is an event ──────────────────────────────────────────────────────────────────────────


def test_deciding_is_pure() -> None:
    budget = RiskBudget(journal=open_journal())
    before = budget.fingerprint()
    choices = [budget.decide(risky(0.6), 1, "k") for _ in range(50)]
    assert all(choice == choices[0] for choice in choices)
    assert choices[0].word == "take"
    assert budget.fingerprint() == before
    assert len(budget.journal) == 0
    assert isinstance(budget, RiskPolicy)


def test_charging_is_checked() -> None:
    budget = RiskBudget()
    choice = budget.decide(risky(0.6), 1)
    charged = budget.charge(choice)
    assert (charged.number, choice.number) == (0, None)
    with pytest.raises(BadArgument, match="is charged already, as number 0"):
        budget.charge(charged)
    with pytest.raises(BadArgument, match="a charge of 3/5 is more than the 2/5 that is left: decide again"):
        budget.charge(choice)
    with pytest.raises(BadArgument, match="only a choice to take has a cost, got 'avoid'"):
        budget.charge(budget.decide(risky(hard=True)))
    with pytest.raises(ValueRejected, match="must be a Choice that decide"):
        budget.charge(0.1)  # type: ignore[arg-type]  # wrong on purpose
    assert budget.left == Fraction(2, 5)
    free = budget.decide(risky(0, verdict="accept"))
    assert budget.charge(free) is free


def test_a_key_pays_once_an_episode_and_the_difference_for_more() -> None:
    budget = RiskBudget()
    take(budget, risky(0.1), key="door")
    assert budget.decide(risky(0.1), 1, "door").charge == 0
    assert budget.decide(risky(0.3), 1, "door").charge == Fraction(1, 5)
    assert budget.decide(risky(0.3), 1, "window").charge == Fraction(3, 10)
    assert budget.decide(risky(0.3), 1).charge == Fraction(3, 10)
    assert budget.decide(risky(50), 0, "door").word == "avoid"
    assert budget.decide(risky(50), 100, "door").word == "avoid"
    take(budget, risky(0.3), key="door")
    assert budget.left == Fraction(7, 10)
    budget.new_episode()
    assert budget.decide(risky(0.1), 1, "door").charge == Fraction(1, 10)


def test_keys_are_exact() -> None:
    budget = RiskBudget()
    take(budget, risky(0.1), key=1)
    for key in (True, 1.0, "1", (1,), [1], {"k": 1}, None):
        assert budget.decide(risky(0.1), 1, key).charge == Fraction(1, 10), key
    assert budget.decide(risky(0.1), 1, 1).charge == 0


# ── settling ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_went_well_is_given_back() -> None:
    budget = RiskBudget()
    choice = take(budget, risky(0.4), key="door")
    assert budget.settle(choice, 0).left == 1
    assert budget.spent_overall == 0
    assert budget.decide(risky(0.4), 1, "door").charge == Fraction(2, 5), "so the key pays again"
    with pytest.raises(BadArgument, match="there is no such charge that is not settled"):
        budget.settle(choice, 0)


def test_what_went_worse_is_spent_and_nothing_becomes_negative() -> None:
    budget = RiskBudget(per_episode=1, overall=2)
    budget.settle(take(budget, risky(0.4)), 5)
    assert [budget.left, budget.spent, budget.spent_overall] == [0, 5, 5]
    assert budget.decide(risky(0.001, verdict="accept")).word == "avoid"
    assert budget.decide(risky(0, verdict="accept")).word == "take"
    assert budget.new_episode().left == 0


def test_a_choice_without_a_number_stands_for_the_newest_charge_that_is_the_same() -> None:
    budget = RiskBudget(per_episode=9)
    choice = budget.decide(risky(0.4), 1, "a")
    budget.charge(choice)
    other = take(budget, risky(0.4), key="b")
    budget.settle(choice, 0)
    with pytest.raises(BadArgument, match="no such charge"):
        budget.settle(choice, 0)
    with pytest.raises(BadArgument, match="no such charge"):
        budget.settle(budget.decide(risky(0.5), 1), 0)
    assert budget.settle(other, 0).left == 9


def test_a_choice_that_cost_nothing_may_turn_out_to() -> None:
    budget = RiskBudget(journal=open_journal())
    free = budget.decide(risky(0, verdict="accept"), key="door")
    assert budget.settle(free, 0).left == 1
    assert len(budget.journal) == 0
    assert budget.settle(free, 0.25).left == Fraction(3, 4)
    assert budget.verify()
    with pytest.raises(BadArgument, match="only a choice to take"):
        budget.settle(budget.decide(risky(hard=True)), 1)


def test_a_charge_of_an_earlier_episode_is_settled_overall() -> None:
    budget = RiskBudget(per_episode=1, overall=2)
    choice = take(budget, risky(0.5))
    budget.new_episode()
    take(budget, risky(0.3))
    budget.settle(choice, 0.1)
    assert (budget.spent, budget.spent_overall) == (Fraction(3, 10), Fraction(4, 10))


# ── episodes and limits ─────────────────────────────────────────────────────────────────────────────────────────────


def test_overall_outlasts_the_episodes() -> None:
    budget = RiskBudget(per_episode=1, overall=2.5)
    words = []
    for _ in range(4):
        words.append(take(budget, risky(1)).word)
        budget.new_episode()
    assert words == ["take", "take", "avoid", "avoid"]
    assert budget.left == Fraction(1, 2)
    assert budget.lift_overall().left == 1


def test_a_new_episode_is_an_entry_only_when_something_was_spent() -> None:
    budget = RiskBudget(journal=open_journal())
    budget.new_episode()
    assert len(budget.journal) == 0
    take(budget, risky())
    budget.new_episode().new_episode()
    assert len(budget.journal) == 3


def test_logs_are_bounded() -> None:
    budget = RiskBudget(per_episode=10**6)
    for n in range(1_500):
        budget.charge(budget.decide(risky(1), 1, n))
    assert len(budget.log) == 1_000
    assert budget.log[-1] == Booking("charge", 1_499, Fraction(1), 1_499)
    with pytest.raises(BadArgument, match="no such charge"):
        budget.settle(Choice("take", "", Fraction(1), 0, 0), 0)
    assert budget.spent == 1_500
    budget.new_episode()
    assert budget.log[-1].what == "episode"
    assert len(list(budget.journal.lines())) == 1


def test_keys_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.knowledge.risk_budget._KEYS", 3)
    budget = RiskBudget(per_episode=100)
    for n in range(5):
        take(budget, risky(1), key=n)
    assert [budget.decide(risky(1), 1, n).charge for n in range(5)] == [1, 1, 0, 0, 0]


# ── the journal ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["r.jsonl", "r.db"])
def test_everything_is_restored(tmp_path: Path, name: str) -> None:
    with RiskBudget(0.3, 0.9, path=tmp_path / name) as budget:
        budget.settle(take(budget, risky(0.1), key="a"), 0.05)
        choice = take(budget, risky(0.1), key=("b", 1))
        fingerprint, log = budget.fingerprint(), budget.log
    with RiskBudget(path=tmp_path / name) as budget:
        assert (budget.fingerprint(), budget.log, budget.left) == (fingerprint, log, Fraction(15, 100))
        assert budget.settle(choice, 0).left == Fraction(25, 100)
        assert budget.verify(head=budget.head)
        count = len(budget.journal)
        assert [budget.rebuild(n).left for n in range(count + 1)] == [
            Fraction(n, 100) for n in (100, 30, 20, 25, 15, 25)
        ]
        assert repr(budget) == f"<RiskBudget {tmp_path / name}: 1/4 left>"
    with RiskBudget(path=tmp_path / name, overall=0.1) as budget:
        assert budget.left == Fraction(5, 100)
        assert len(budget.journal) == count + 1


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("charge", {"number": 5, "amount": "1", "key": None}),
        ("charge", {"number": 1, "amount": "-1", "key": None}),
        ("charge", {"number": 1, "amount": "0.1", "key": None}),
        ("charge", {"number": 1, "amount": "nan", "key": None}),
        ("settle", {"number": 7, "actual": "0", "key": None}),
        ("settle", {"number": 0, "actual": "-1", "key": None}),
        ("budget", {"per_episode": "-1", "overall": None, "min_gain_ratio": "1", "min_support": 3}),
        ("other", {}),
    ],
)
def test_an_entry_that_is_no_event_is_refused(kind: str, data: Any) -> None:
    journal = open_journal()
    budget = RiskBudget(journal=journal)
    take(budget, risky())
    journal.append(kind, data, stream="risk")
    with pytest.raises(UnknownFormat, match="entry 2 cannot be read"):
        budget.decide(risky())
    assert budget.rebuild(2).left == Fraction(9, 10)


def test_copies_are_independent() -> None:
    for budget in (RiskBudget(0.5), RiskBudget(0.5, journal=open_journal())):
        take(budget, risky())
        for twin in (copy.deepcopy(budget), pickle.loads(pickle.dumps(budget))):
            assert twin.fingerprint() == budget.fingerprint()
            take(twin, risky())
            assert (twin.left, budget.left) == (Fraction(3, 10), Fraction(4, 10))


def test_threads_never_spend_more_than_there_is() -> None:
    budget = RiskBudget(per_episode=1, journal=open_journal())
    taken: list[Choice] = []

    def work() -> None:
        for _ in range(20):
            choice = budget.decide(risky(0.05), 1)
            try:
                if choice.word == "take":
                    taken.append(budget.charge(choice))
            except BadArgument:
                pass  # somebody was faster

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(taken), budget.left] == [20, 0]
    assert len({choice.number for choice in taken}) == 20
    assert budget.verify()


RISKS = st.sampled_from([0, 0.1, 0.2, 0.3, 0.7, 1e-9, 1, Fraction(1, 3)])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), RISKS, st.sampled_from([None, "a", "b", 1, True])),
        st.tuples(st.just("settle"), RISKS, st.integers(0, 9)),
        st.tuples(st.just("episode")),
    ),
    max_size=25,
)


@given(st.sampled_from([0.3, 1, 5]), st.none() | st.sampled_from([0.3, 2]), STEPS)
def test_it_agrees_with_plain_sums(per_episode: Any, overall: Any, steps: Any) -> None:
    """The twin keeps every charge with its real cost and its episode, and adds them up."""
    journal = open_journal()
    budgets = [RiskBudget(per_episode, overall, journal=journal), RiskBudget(per_episode, overall)]
    limit, most = Fraction(str(per_episode)), None if overall is None else Fraction(str(overall))
    rows: list[list[Any]] = []  # episode, cost, the choices
    episode = 0
    for step in steps:
        spent = sum((row[1] for row in rows if row[0] == episode), Fraction(0))
        total = sum((row[1] for row in rows), Fraction(0))
        left = max(Fraction(0), min(limit - spent, limit if most is None else most - total))
        assert [budget.left for budget in budgets] == [left, left]
        match step:
            case ("take", risk, key):
                choices = [budget.decide(risky(risk), 100, key) for budget in budgets]
                assert choices[0] == choices[1]
                if choices[0].word == "take":
                    assert choices[0].charge <= left
                    charged = [b.charge(c) for b, c in zip(budgets, choices, strict=True)]
                    if charged[0].charge:
                        rows.append([episode, charged[0].charge, charged])
                else:
                    assert (risk if isinstance(risk, Fraction) else Fraction(str(risk))) > left
            case ("settle", actual, n):
                open_rows = [row for row in rows if row[2]]
                if open_rows:
                    row = open_rows[n % len(open_rows)]
                    for budget, choice in zip(budgets, row[2], strict=True):
                        budget.settle(choice, actual)
                    row[1], row[2] = actual if isinstance(actual, Fraction) else Fraction(str(actual)), None
            case _:
                for budget in budgets:
                    budget.new_episode()
                episode += 1
    if len(journal):
        assert RiskBudget(journal=journal).fingerprint() == budgets[0].fingerprint()
    assert budgets[0].verify()
    assert pickle.loads(pickle.dumps(budgets[1])).fingerprint() == budgets[1].fingerprint()
