from __future__ import annotations

import numpy as np
import pytest

from surefoot.checking.shield import shield
from surefoot.errors import BadArgument, BadProperty, UnknownName
from surefoot.models import MDP, Model, RewardModel
from surefoot.models.examples import grid, retries, taxi
from surefoot.models.solution import Objective
from surefoot.testing.solvers import _chain_values, random_model

LEDGE = MDP(
    choice_start=[0, 3, 3, 3],
    choice_action=[0, 1, 2],
    branch_start=[0, 1, 3, 5],
    target=[1, 1, 2, 1, 2],
    probability=[1.0, 0.5, 0.5, 0.9375, 0.0625],
    initial=0,
    action_names=["walk", "jump", "hop"],
    state_names=["edge", "home", "gorge"],
    labels={"bad": ["gorge"], "home": ["home"]},
    rewards={"cost": RewardModel(choice=[5.0, 1.0, 2.0])},
)


def test_what_is_allowed_follows_the_bound() -> None:
    for bound, allowed in ((1, ["walk"]), (0.9, ["walk", "hop"]), (0.5, ["walk", "jump", "hop"])):
        safe = shield(LEDGE, f'P>={bound} [ G !"bad" ]')
        assert safe.actions("edge") == allowed
        assert shield(LEDGE, f'P<={1 - bound} [ F "bad" ]').actions("edge") == allowed
    assert shield(LEDGE, 'P>=0.9 [ !"bad" U "home" ]').actions("edge") == ["walk", "hop"]
    assert shield(LEDGE, 'P>=0.9 [ !"bad" W "home" ]').actions("edge") == ["walk", "hop"]
    assert shield(LEDGE, 'P>=0.9 [ F "home" ]').actions("edge") == ["walk", "hop"]
    assert shield(LEDGE, 'P>=0.9 [ "home" R !"bad" ]').actions("edge") == ["walk", "hop"]


def test_rewards_can_be_kept_too() -> None:
    safe = shield(LEDGE.with_labels(over=["home", "gorge"]), 'R{"cost"}<=2 [ F "over" ]')
    assert safe.actions("edge") == ["jump", "hop"]
    lost = shield(LEDGE, 'R{"cost"}<=2 [ F "home" ]')
    assert lost.actions("edge") == []
    assert "no action keeps it there" in lost.why("edge", "jump")


def test_the_reason_is_given_in_words() -> None:
    safe = shield(LEDGE, 'P>=0.9 [ G !"bad" ]')
    assert safe.why("edge", "jump") == (
        'jump in edge is refused: after it P>=0.9 [ G !"bad" ] can be kept with 0.5 at most; walk keeps it with 1'
    )
    assert safe.why("edge", "walk").startswith("walk in edge is allowed")
    assert "2 of 3 choices allowed, kept in 2 of 3 states" in repr(safe)
    with pytest.raises(UnknownName):
        safe.why("edge", "fly")


def test_masks_are_by_action_and_states_without_choices_allow_nothing() -> None:
    safe = shield(LEDGE, 'P>=1 [ G !"bad" ]')
    assert safe.mask(0).tolist() == [True, False, False]
    assert safe.mask("gorge").tolist() == [False] * 3
    assert safe.keeps.tolist() == [True, True, False]
    assert not safe.allows("home", "walk")


def test_where_nothing_keeps_it_the_best_may_be_asked_for() -> None:
    risky = LEDGE.replace(
        choice_start=[0, 2, 2, 2],
        choice_action=[1, 2],
        branch_start=[0, 2, 4],
        target=[1, 2, 1, 2],
        probability=[0.5, 0.5, 0.9375, 0.0625],
        rewards={},
    )
    assert shield(risky, 'P>=1 [ G !"bad" ]').actions("edge") == []
    assert shield(risky, 'P>=1 [ G !"bad" ]', fallback="best").actions("edge") == ["hop"]
    with pytest.raises(BadArgument, match="fallback must be"):
        shield(risky, 'P>=1 [ G !"bad" ]', fallback="worst")  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('P=? [ G !"bad" ]', "keeps P or R with a bound"),
        ('"bad"', "keeps P or R with a bound"),
        ('P>=0.9 [ G<=5 !"bad" ]', "has no clock"),
        ('P>=0.9 [ X "home" ]', "keeps F, G, U, W or R"),
        ('Pmin>=0.9 [ G !"bad" ]', "a shield picks them"),
        ('R{"cost"}<=9 [ C<=3 ]', "until a target"),
    ],
)
def test_what_is_no_shield_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadProperty, match=message):
        shield(LEDGE, text)


def violations(model: Model, bad: np.ndarray, allowed: np.ndarray, start: int, steps: int, seed: int) -> int:
    """Walk at random among what is allowed, many walkers at once, and count those that come to a bad state."""
    rng = np.random.default_rng(seed)
    walkers = 1000
    state = np.full(walkers, start)
    count = 0
    first = np.full(model.n_states, -1)
    options = [np.flatnonzero(allowed & (model.choice_state == s)) for s in range(model.n_states)]
    sums = np.cumsum(model.probability)
    before = np.r_[0.0, sums]
    del first
    for _ in range(steps // walkers):
        pick = rng.random(walkers)
        choice = np.array(
            [o[int(p * len(o))] if len(o := options[s]) else -1 for s, p in zip(state, pick, strict=True)]
        )
        state = np.where(choice < 0, start, state)
        choice = np.where(choice < 0, options[start][0], choice)
        low, high = model.branch_start[choice], model.branch_start[choice + 1]
        drawn = before[low] + rng.random(walkers) * (before[high] - before[low])
        branch = np.clip(np.searchsorted(sums, drawn, side="right"), low, high - 1)
        state = model.target[branch]
        count += int(bad[state].sum())
        state = np.where(bad[state], start, state)
    return count


@pytest.mark.parametrize("steps", [30_000, pytest.param(1_000_000, marks=pytest.mark.nightly)])
def test_a_shielded_random_walk_never_violates(steps: int) -> None:
    cases: list[tuple[Model, str]] = [(grid(), "hole"), (retries(), "failed")]
    cases += [(random_model([70, seed], states=8, actions=3), "goal") for seed in range(4)]
    walked = 0
    for model, label in cases:
        bad = model.labels[label]
        safe = shield(model, f'P>=1 [ G !"{label}" ]')
        for choice in np.flatnonzero(safe.allowed):
            to = model.target[model.branch_start[choice] : model.branch_start[choice + 1]]
            assert safe.keeps[to].all(), "an allowed choice may only lead to where it can be kept"
        starts = np.flatnonzero(safe.keeps & (np.diff(model.choice_start) > 0))
        if len(starts):
            assert violations(model, bad, safe.allowed, int(starts[0]), steps, 1) == 0
            walked += 1
    assert walked >= 2
    unshielded = violations(grid(), grid().labels["hole"], np.ones(grid().n_choices, bool), 0, 30_000, 1)
    assert unshielded > 0, "the walk must be able to fail"


def test_every_allowed_choice_leaves_a_policy_that_is_good_enough() -> None:
    """Exactly, by policies worked out in fractions."""
    for seed in range(30):
        model = random_model([71, seed])
        safe = shield(model, 'P>=0.5 [ F "goal" ]')
        exact = _best_values(model)
        for choice in range(model.n_choices):
            part = slice(int(model.branch_start[choice]), int(model.branch_start[choice + 1]))
            worth = sum(
                float(p) * exact[t] for t, p in zip(model.target[part].tolist(), model.probability[part], strict=True)
            )
            if safe.allowed[choice]:
                assert worth >= 0.5 - 1e-12, seed
            else:
                assert worth < 0.5 + 1e-6, seed


def _best_values(model: Model) -> list[float]:
    from surefoot.testing.solvers import exact_values

    assert _chain_values is not None
    return [float(v) for v in exact_values(model, Objective(model.labels["goal"]))]


def test_a_larger_model() -> None:
    assert shield(taxi(), 'P>=1 [ F "arrived" ]').keeps.any()
