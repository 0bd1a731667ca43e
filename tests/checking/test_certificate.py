from __future__ import annotations

import numpy as np
import pytest

from surefoot.checking.certificate import Refuted, confirm
from surefoot.checking.quantitative import check
from surefoot.errors import BadProperty
from surefoot.models import Model
from surefoot.models.examples import die, grid, monty_hall
from surefoot.testing.solvers import random_model

TEXTS = ('Pmax=? [ F "goal" ]', 'Pmin=? [ F "goal" ]', 'Rmin=? [ F "goal" ]', 'Rmax=? [ F "goal" ]')


def not_dyadic(seed: int) -> Model:
    """Return a random model whose probabilities are no short fractions, so that every sum is rounded."""
    model = random_model([80, seed], states=7, actions=3, branches=4, ends=1 + seed % 2)
    weight = model.probability * np.random.default_rng(seed).random(model.n_branches)
    sums = np.add.reduceat(weight, model.branch_start[:-1])
    return model.replace(probability=weight / np.repeat(sums, np.diff(model.branch_start)))


@pytest.mark.parametrize("text", TEXTS)
def test_what_solvers_answer_is_confirmed_in_exact_arithmetic(text: str) -> None:
    for seed in range(25):
        model = not_dyadic(seed)
        found = check(model, text).solution
        assert found is not None
        confirm(model, text, found.policy, found.lower, found.upper)


def test_every_forged_bound_is_refuted() -> None:
    forged = 0
    for seed in range(12):
        model = not_dyadic(seed)
        for text in TEXTS:
            found = check(model, text).solution
            assert found is not None
            for state in range(model.n_states):
                if not 0 < found.upper[state] < np.inf:
                    continue
                for side in ("lower", "upper"):
                    bounds = {"lower": found.lower.copy(), "upper": found.upper.copy()}
                    bounds[side][state] *= 1.01 if side == "lower" else 0.99
                    forged += 1
                    with pytest.raises(Refuted, match="state "):
                        confirm(model, text, found.policy, **bounds)
    assert forged > 100


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_an_infinite_bound_on_the_wrong_side_is_refuted(side: str) -> None:
    model, text = die(), 'R=? [ F "done" ]'
    found = check(model, text).solution
    assert found is not None
    bounds = {"lower": found.lower.copy(), "upper": found.upper.copy()}
    bounds[side][0] = np.inf if side == "lower" else -np.inf
    with pytest.raises(Refuted, match="state 0 "):
        confirm(model, text, found.policy, **bounds)


def test_examples_until_and_always() -> None:
    for model, text in (
        (die(), 'P=? [ !"five" U "six" ]'),
        (die(), 'R=? [ F "done" ]'),
        (grid(), 'Pmax=? [ F "goal" ]'),
        (monty_hall(), 'Pmax=? [ F "won" ]'),
        (monty_hall(), 'Pmin=? [ F "won" ]'),
        (die(), 'P=? [ G !"six" ]'),
    ):
        found = check(model, text).solution
        assert found is not None
        confirm(model, text, found.policy, found.lower, found.upper)


def test_a_policy_that_takes_what_is_not_offered_is_refuted() -> None:
    found = check(die(), 'P=? [ F "six" ]').solution
    assert found is not None
    with pytest.raises(Refuted, match="the policy takes no choice of it"):
        confirm(die(), 'P=? [ F "six" ]', np.full(13, 12), found.lower, found.upper)


@pytest.mark.parametrize("text", ['P=? [ F<=3 "six" ]', 'P=? [ X "six" ]', "R=? [ C<=3 ]", '"six"', 'S=? [ "six" ]'])
def test_other_properties_have_no_certificate(text: str) -> None:
    with pytest.raises(BadProperty, match="a certificate is for"):
        confirm(die(), text, np.zeros(13), np.zeros(13), np.ones(13))
