from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import bdtrik, betaincinv

from surefoot.checking.quantitative import check
from surefoot.errors import BadArgument, MergeRefused, ValueRejected
from surefoot.learners.counts import Change, Counts, LearnedModel
from surefoot.models import MDP, Model
from surefoot.models.examples import die, grid, monty_hall, random_mdp, retries

STEPS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 3)), max_size=30)


def most_of(runs: int, rate: float) -> int:
    """Return so many misses of so many runs that more come about once in 10,000 times at that rate."""
    return ceil(bdtrik(0.9999, runs, rate))


def bounds(model: Model, asked: str, nature: Any = "adversarial") -> tuple[float, float]:
    answer = check(model, asked, nature=nature)
    assert answer.lower is not None
    assert answer.upper is not None
    return answer.lower, answer.upper


def counted(steps: list[tuple[int, str, int]], **arguments: Any) -> Counts:
    counts = Counts(**arguments)
    for n, (state, action, to) in enumerate(steps):
        counts.observe(state, action, to, time=n)
    return counts


def simulated(model: Model, tries: int, numbers: np.random.Generator) -> Counts:
    """Return what is counted when every choice of a model is tried so often."""
    counts = Counts()
    for choice in range(model.n_choices):
        where = slice(int(model.branch_start[choice]), int(model.branch_start[choice + 1]))
        here, what = int(model.choice_state[choice]), int(model.choice_action[choice])
        seen = numbers.multinomial(tries, model.probability[where] / model.probability[where].sum())
        for to, count in zip(model.target[where].tolist(), seen.tolist(), strict=True):
            if count:
                counts.observe(here, what, to, times=count)
    for state in np.flatnonzero(np.diff(model.choice_start) == 0).tolist():
        counts.end(state)
    return counts


def inside(model: Model, learned: LearnedModel) -> bool:
    """Say whether all probabilities of a model are inside the intervals; unseen ones inside what is left for them."""
    choices = zip(model.choice_state.tolist(), model.choice_action.tolist(), strict=True)
    for choice, (here, what) in enumerate(choices):
        rest = 0.0
        where = slice(int(model.branch_start[choice]), int(model.branch_start[choice + 1]))
        for to, p in zip(model.target[where].tolist(), model.probability[where].tolist(), strict=True):
            low, high = learned.interval(here, what, to)
            if (low, high) == (0.0, 0.0):
                rest += p
            elif not low <= p <= high:
                return False
        if rest and rest > interval_of_unseen(learned, here, what):
            return False
    return True


def interval_of_unseen(learned: LearnedModel, here: int, what: int) -> float:
    model = learned.model
    assert model.upper is not None
    choice = model.choice(str(here), str(what))
    for branch in range(int(model.branch_start[choice]), int(model.branch_start[choice + 1])):
        if model.state_names[int(model.target[branch])] == "unseen":
            return float(model.upper[branch])
    return 0.0


MODELS: list[Callable[[], Model]] = [
    die,
    monty_hall,
    lambda: grid(3, 3, holes=()),
    lambda: retries(2),
    lambda: random_mdp(6, actions=2, branches=3, seed=4),
]


def misses(make: Callable[[], Model], runs: int, tries: int, **arguments: Any) -> int:
    model, numbers = make(), np.random.default_rng(11)
    return sum(
        not inside(model, simulated(model, tries, numbers).intervals(initial=0, **arguments)) for _ in range(runs)
    )


@pytest.mark.parametrize("make", MODELS[:1] + MODELS[2:], ids=["die", "grid", "retries", "random"])
def test_the_true_model_is_inside_as_often_as_stated(make: Callable[[], Model]) -> None:
    runs = 40
    assert misses(make, runs, 20, confidence=0.8, choices=make().n_choices) <= most_of(runs, 0.2)


@pytest.mark.nightly
@pytest.mark.parametrize("make", MODELS, ids=["die", "monty_hall", "grid", "retries", "random"])
@pytest.mark.parametrize("method", ["clopper-pearson", "hoeffding", "anytime"])
def test_coverage_over_a_thousand_learnings(make: Callable[[], Model], method: str) -> None:
    assert misses(make, 1000, 30, confidence=0.9, method=method) <= 100


def test_what_is_learned_brackets_the_truth() -> None:
    """Bounds of reachability on learned intervals hold the true value, from both sides, unseen states and all."""
    model = grid(3, 3, holes=((1, 1),))
    asked = 'Pmax=? [ F "goal" ]'
    truth = bounds(model, asked)
    goal = set(np.flatnonzero(model.labels["goal"]).tolist())
    learned = simulated(model, 2000, np.random.default_rng(2)).intervals(
        initial=int(np.argmax(model.initial)), labels={"goal": lambda state: state in goal}
    )
    assert bounds(learned.model, asked)[0] <= truth[1]
    assert bounds(learned.model, asked, "cooperative")[1] >= truth[0]


@given(STEPS, STEPS, STEPS)
@settings(max_examples=40)
def test_merging_is_learning_from_both_in_any_order(one: Any, two: Any, three: Any) -> None:
    a, b, c = counted(one), counted(two), counted(three)
    assert a.merge(b).merge(c) == a.merge(b.merge(c)) == c.merge(b).merge(a) == counted([*one, *two, *three])


@given(STEPS, st.integers(1, 5), st.randoms())
@settings(max_examples=40)
def test_with_a_window_the_times_decide_what_is_kept(steps: Any, window: int, random: Any) -> None:
    whole = counted(steps, window=window)
    mixed = list(enumerate(steps))
    random.shuffle(mixed)
    parts = [Counts(window=window), Counts(window=window)]
    for n, (time, step) in enumerate(mixed):
        parts[n % 2].observe(*step, time=time)
    assert parts[0].merge(parts[1]) == parts[1].merge(parts[0])
    for state, action in {step[:2] for step in steps}:
        kept = [to for at, what, to in steps if (at, what) == (state, action)][-window:]
        merged = parts[0].merge(parts[1])
        assert merged.followed(state, action) == whole.followed(state, action)
        assert merged.followed(state, action) == {to: kept.count(to) for to in set(kept)}


@given(STEPS.filter(bool), st.randoms())
@settings(max_examples=30)
def test_the_models_do_not_depend_on_the_order(steps: Any, random: Any) -> None:
    mixed = list(steps)
    random.shuffle(mixed)
    first = steps[0][0]
    one, two = counted(steps), counted(mixed)
    assert one.estimate(initial=first) == two.estimate(initial=first)
    assert one.intervals(initial=first).model == two.intervals(initial=first).model


@given(STEPS.filter(bool), st.sampled_from(["clopper-pearson", "hoeffding", "anytime"]), st.booleans())
@settings(max_examples=60)
def test_every_history_makes_a_model_with_the_frequencies_inside(steps: Any, method: Any, full: bool) -> None:
    counts = counted(steps)
    learned = counts.intervals(initial=steps[0][0], method=method, unseen="full" if full else "sink")
    for state, action in {step[:2] for step in steps}:
        total = counts.tried(state, action)
        for to, count in counts.followed(state, action).items():
            low, high = learned.interval(state, action, to)
            assert low <= count / total <= high


def test_the_estimate_has_frequencies_rewards_and_starts() -> None:
    counts = Counts()
    counts.start("hall")
    for to, reward in (("room", 1.0), ("room", 3.0), ("hall", 0.0), ("room", 2.0)):
        counts.observe("hall", "open", to, reward=reward, ended=to == "room")
    model = counts.estimate()
    assert model.row("hall", "open")[1].tolist() == [0.25, 0.75]
    assert model.expected_reward("reward").tolist() == [1.5]
    assert model.initial.tolist() == [1.0, 0.0]
    assert model.labels["ended"].tolist() == [False, True]


def test_numbers_and_texts_are_told_apart() -> None:
    counts = Counts()
    counts.observe(1, "go", "1")
    model = counts.estimate(initial=1)
    assert sorted(model.state_names) == ['"1"', "1"]
    assert isinstance(model, MDP)


def test_untried_choices_and_unknown_states_lead_to_the_unseen_one() -> None:
    counts = Counts()
    counts.observe("hall", "open", "room")
    counts.offer("hall", "wait")
    learned = counts.intervals(initial="hall")
    model = learned.model
    assert model.row("hall", "wait")[0].tolist() == [model.state("unseen")]
    assert model.row("room", "?")[0].tolist() == [model.state("unseen")]
    assert len(model.row("unseen", "?")[0]) == model.n_states
    assert learned.tried.tolist() == [1, 0, 0, 0]


def test_an_end_is_an_end_and_a_known_support_leaves_nothing_unseen() -> None:
    counts = Counts()
    for n in range(50):
        counts.observe("toss", "go", "heads" if n % 2 else "tails", ended=True)
    closed = counts.intervals(initial="toss", support="seen")
    assert "unseen" not in list(closed.model.state_names)
    assert "What followed a choice is all that can follow it." in closed.assumes
    assert closed.widest < counts.intervals(initial="toss").widest


def test_a_declared_support_admits_what_was_not_seen() -> None:
    counts = Counts()
    counts.offer("edge")
    for _ in range(50):
        counts.observe("toss", "go", "heads", ended=True)
    learned = counts.intervals(initial="toss", support=lambda state, action: ["heads", "edge"])
    low, high = learned.interval("toss", "go", "edge")
    assert low == 0
    assert 0 < high < 0.2
    with pytest.raises(BadArgument, match="which support excludes"):
        counts.intervals(initial="toss", support=lambda state, action: ["edge"])
    with pytest.raises(BadArgument, match="a state that the learner does not know"):
        counts.intervals(initial="toss", support=lambda state, action: ["heads", "moon"])


def test_full_lets_any_known_state_follow_at_once() -> None:
    counts = counted([(0, "a", 1)] * 30 + [(1, "a", 2)])
    step = 'Pmax=? [ X "two" ]'
    labels = {"two": lambda state: state == 2}
    sink = bounds(counts.intervals(initial=0, labels=labels).model, step, "cooperative")
    full = bounds(counts.intervals(initial=0, labels=labels, unseen="full").model, step, "cooperative")
    assert sink[1] < 0.001 < full[0]


def test_the_unseen_state_has_the_labels_that_it_is_given() -> None:
    counts = counted([(0, "a", 1)] * 10)
    model = counts.intervals(initial=0, labels={"bad": lambda state: False}, unseen_labels=["bad", "worse"]).model
    for label in ("bad", "worse", "unseen"):
        assert model.states_with(label).tolist() == [model.state("unseen")]


def test_a_change_is_found_and_none_is_found_where_there_is_none() -> None:
    numbers = np.random.default_rng(5)
    counts = Counts(window=100)
    for n in range(400):
        counts.observe("hall", "open", "room" if numbers.random() < (0.9 if n < 300 else 0.3) else "hall")
        counts.observe("hall", "wait", "room" if numbers.random() < 0.5 else "hall")
    found = counts.changes()
    assert {(change.state, change.action) for change in found} == {("hall", "open")}
    assert all(isinstance(change, Change) for change in found)
    assert str(found[0]).startswith("'open' in 'hall' leads to 'hall' with [")
    assert 60 < counts.followed("hall", "open")["hall"] < 80


def test_a_number_of_choices_that_is_declared_narrows_the_intervals() -> None:
    counts = counted([(0, "a", n % 2) for n in range(100)])
    known, open_ = counts.intervals(initial=0, choices=1), counts.intervals(initial=0)
    assert known.widest < open_.widest
    assert "1 choices" in known.claim
    assert "not known beforehand" in open_.claim


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.intervals(confidence=1.0), "confidence must be a number in"),
        (lambda c: c.intervals(confidence=1), "confidence must be a number in"),
        (lambda c: c.intervals(method="wald"), "method must be one of clopper-pearson"),
        (lambda c: c.intervals(weight=0), "weight must be a finite number > 0"),
        (lambda c: c.intervals(strength=(3, 1)), "strength must be 0 <= least <= most"),
        (lambda c: c.intervals(strength=3), "strength must be a pair of numbers"),
        (lambda c: c.intervals(trials=-1), "trials must be a whole number >= 0"),
        (lambda c: c.intervals(unseen="none"), "unseen must be 'sink' or 'full'"),
        (lambda c: c.intervals(initial=0, choices=0), "choices must be a whole number and at least those tried, 1"),
        (lambda c: c.intervals(initial=0, support="all"), "support must be None, 'seen' or a function"),
        (lambda c: c.intervals(initial=7), "initial is 7, a state that was never seen"),
        (lambda c: c.changes(), "without a window nothing is older"),
        (lambda c: c.observe(0, "a", 1, reward=float("nan")), "reward must be finite"),
        (lambda c: c.observe(0, "a", 1, times=0), "times must be a whole number >= 1"),
        (lambda c: c.observe(0, "a", 1, time=0.5), "time must be a whole number"),
        (lambda c: Counts(window=0), "window must be a whole number >= 1"),
        (lambda c: Counts().estimate(initial=0), "nothing was counted"),
        (lambda c: counted([(0, "a", 1), (1, "a", 0)]).estimate(), "nothing says where episodes start"),
        (lambda c: Counts.merged([]), "learners is empty"),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[Counts], Any], message: str) -> None:
    counts = counted([(0, "a", 1)])
    with pytest.raises(BadArgument, match=message):
        call(counts)
    assert counts == counted([(0, "a", 1)])


def test_linear_updates_are_those_of_the_paper() -> None:
    """Suilen et al. 2022, definition 5, written out: agreeing frequencies move an end slowly, others fast."""

    def naive(prior: tuple[float, float], seen: int, tried: int, agrees: tuple[bool, bool]) -> tuple[float, float]:
        least, most = 2.0, 10.0
        ends = []
        for end, fine in zip(prior, agrees, strict=True):
            weight = most if fine else least
            ends.append((weight * end + seen) / (weight + tried))
        return ends[0], ends[1]

    counts = Counts(window=20)
    for n in range(60):
        counts.observe("hall", "open", "room" if n < 40 and n % 4 or n >= 40 and n % 10 == 0 else "hall")
    learned = counts.intervals(initial="hall", method="linear", support="seen")
    before = naive((0.0, 1.0), 30, 40, (True, True))
    assert before[0] == 0.6
    now = naive(before, 2, 20, (False, False))  # in the window it is 2 of 20, and the rest 18: neither end agrees
    assert learned.interval("hall", "open", "room") == pytest.approx(now, abs=1e-9)
    assert "no confidence is claimed" in learned.claim
    alone = Counts()
    for n in range(20):
        alone.observe("hall", "open", "room" if n % 10 == 0 else "hall")
    open_ = alone.intervals(initial="hall", method="linear", strength=(0.0, 5.0))
    assert open_.interval("hall", "open", "room") == pytest.approx((2 / 25, 7 / 25), abs=1e-9)
    unseen = open_.model.state("unseen")
    target, _ = open_.model.row("hall", "open")
    assert open_.model.upper is not None
    assert open_.model.upper[target.tolist().index(unseen)] == pytest.approx(5 / 25, abs=1e-9)


def test_bayesian_intervals_are_quantiles_of_the_posterior() -> None:
    counts = counted([(0, "a", n % 4 > 0) for n in range(40)])
    learned = counts.intervals(initial=0, method="bayes", support="seen", choices=1, confidence=0.9)
    own = betaincinv(31, 11, [0.025, 0.975])
    assert learned.interval(0, "a", True) == pytest.approx(tuple(own), abs=1e-9)
    with_unseen = counts.intervals(initial=0, method="bayes", choices=1, confidence=0.9, weight=0.5)
    rest = betaincinv(0.5, 41, 1 - 0.1 / 3)
    target, _ = with_unseen.model.row("0", "a")
    place = target.tolist().index(with_unseen.model.state("unseen"))
    assert with_unseen.model.upper is not None
    assert with_unseen.model.upper[place] == pytest.approx(rest, abs=1e-9)
    assert "how often that holds is not claimed" in with_unseen.claim


def test_choices_that_may_be_tried_ask_for_no_proof() -> None:
    counts = counted([(0, "a", 1)] * 30 + [(0, "b", 2)] * 2 + [(1, "a", 0)] * 30)
    labels = {"bad": lambda state: state == 2, "good": lambda state: False}
    given: Any = {"initial": 0, "support": "seen", "labels": labels, "unseen_labels": ["bad"], "trial_labels": ["good"]}
    strict, open_ = (counts.intervals(**given, trials=trials) for trials in (0, 3))
    assert "trial" not in list(strict.model.state_names)
    for asked in ('Pmax=? [ F "good" ]', 'Pmax=? [ F "trial" ]'):
        assert bounds(open_.model, asked)[0] > 0.99
    assert open_.model.row("0", "b")[0].tolist() == [open_.model.state("trial")]
    assert open_.model.row("2", "trial")[0].tolist() == [open_.model.state("trial")]
    assert "Choices that were tried fewer than 3 times may be tried: nothing is asked of them." in open_.assumes


def test_starts_and_ends_may_be_told() -> None:
    counts = counted([(0, "a", 1), (1, "a", 0)])
    assert counts.starts == []
    counts.start(1)
    counts.end(2)
    assert (counts.starts, counted([(0, "a", 1)]).starts) == ([1], [0])
    assert counts.intervals().model.labels["ended"].tolist() == [False, False, True, False]


def test_learners_with_other_windows_do_not_merge() -> None:
    with pytest.raises(MergeRefused, match="give both the same"):
        Counts(window=3).merge(Counts())


def test_what_is_no_plain_value_is_refused_and_nothing_is_counted() -> None:
    counts = Counts()
    with pytest.raises(ValueRejected):
        counts.observe(0, "a", object())
    assert counts == Counts()
    assert counts != 3
