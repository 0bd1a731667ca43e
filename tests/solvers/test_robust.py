from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadArgument
from surefoot.models import MarkovChain, Model
from surefoot.models.components import Direction
from surefoot.models.solution import Objective, Solution, Status
from surefoot.solvers._enclose import Engine
from surefoot.solvers.optimistic import optimistic
from surefoot.solvers.robust import robust
from surefoot.testing.solvers import assert_bounds, exact_values, random_model

DIRECTIONS: tuple[Direction, ...] = ("max", "min")


def widened(model: Model, seed: int, *, missing: bool) -> Model:
    """Return the model with random intervals around its probabilities, lower ends of 0 among them if `missing`."""
    rng = np.random.default_rng([seed, 7])
    lower = model.probability - rng.integers(0, 4, model.n_branches) / 16
    lower = np.minimum(np.maximum(lower, 0.0 if missing else 1 / 32), model.probability)
    upper = np.minimum(model.probability + rng.integers(0, 4, model.n_branches) / 16, 1.0)
    return model.replace(probability=None, lower=lower, upper=upper)


def corners(lower: Any, upper: Any) -> list[tuple[Fraction, ...]]:
    """Return the extreme points of the distributions inside some intervals."""
    ends = [(Fraction(float(a)), Fraction(float(b))) for a, b in zip(lower, upper, strict=True)]
    found: set[tuple[Fraction, ...]] = set()
    for free in range(len(ends)):
        for rest in itertools.product(*(end for place, end in enumerate(ends) if place != free)):
            value = Fraction(1) - sum(rest)
            if ends[free][0] <= value <= ends[free][1]:
                found.add((*rest[:free], value, *rest[free:]))
    return sorted(found)


def with_corners(model: Model, picked: dict[int, tuple[Fraction, ...]]) -> Model:
    """Return the model with fixed probabilities; these are multiples of 1/32, so floats hold them."""
    choices = []
    branch_start, target, probability = [0], [], []
    for choice in range(model.n_choices):
        part = slice(int(model.branch_start[choice]), int(model.branch_start[choice + 1]))
        row = picked.get(choice) or (Fraction(1), *([Fraction(0)] * (part.stop - part.start - 1)))
        pairs = [(t, float(p)) for t, p in zip(model.target[part].tolist(), row, strict=True) if p]
        target += [t for t, _ in pairs]
        probability += [p for _, p in pairs]
        branch_start.append(len(target))
        choices.append(choice)
    return model.replace(
        branch_start=branch_start,
        target=np.array(target, np.int32),
        probability=probability,
        lower=None,
        upper=None,
        rewards={},
    )


def game_values(model: Model, direction: Direction, nature: Direction) -> list[Any]:
    """Return the exact values, by trying every policy against every corner."""
    assert model.lower is not None
    assert model.upper is not None
    points = [
        corners(
            model.lower[model.branch_start[c] : model.branch_start[c + 1]],
            model.upper[model.branch_start[c] : model.branch_start[c + 1]],
        )
        for c in range(model.n_choices)
    ]
    take: dict[str, Any] = {"max": max, "min": min}
    best: list[Any] | None = None
    for policy in itertools.product(*(model.choices(s) or [-1] for s in range(model.n_states))):
        used = [choice for choice in policy if choice >= 0]
        inner: list[Any] | None = None
        for picks in itertools.product(*(points[choice] for choice in used)):
            chain = chain_of(with_corners(model, dict(zip(used, picks, strict=True))), policy)
            values = exact_values(chain, Objective(model.labels["goal"]))
            inner = values if inner is None else [take[nature](a, b) for a, b in zip(inner, values, strict=True)]
        assert inner is not None
        best = inner if best is None else [take[direction](a, b) for a, b in zip(best, inner, strict=True)]
    assert best is not None
    return best


def chain_of(model: Model, policy: Any) -> MarkovChain:
    """Return the chain of a policy."""
    choice_start, branch_start, target, probability = [0], [0], [], []
    for choice in policy:
        if choice >= 0:
            part = slice(int(model.branch_start[choice]), int(model.branch_start[choice + 1]))
            target += model.target[part].tolist()
            probability += model.probability[part].tolist()
            branch_start.append(len(target))
        choice_start.append(len(branch_start) - 1)
    return MarkovChain(
        choice_start=choice_start,
        branch_start=branch_start,
        target=np.array(target, np.int32),
        probability=np.array(probability, float),
        initial=0,
    )


def small_models(count: int) -> list[tuple[int, Model]]:
    """Return models with not too many corners."""
    found = []
    for seed in range(1000):
        model = widened(random_model([30, seed]), seed, missing=seed % 2 == 0)
        assert model.lower is not None
        assert model.upper is not None
        size = 1
        for c in range(model.n_choices):
            part = slice(model.branch_start[c], model.branch_start[c + 1])
            size *= len(corners(model.lower[part], model.upper[part]))
        if 2 <= size <= 24:
            found.append((seed, model))
        if len(found) == count:
            return found
    raise AssertionError("too few small models")


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_bounds_hold_against_every_extreme_point(engine: Engine) -> None:
    if engine == "numba":
        pytest.importorskip("numba", reason="the package numba (extra: fast) is not installed")
    for seed, model in small_models(12):
        for direction, nature in itertools.product(DIRECTIONS, DIRECTIONS):
            found = robust(model, Objective(model.labels["goal"], direction), nature=nature, engine=engine)
            assert_bounds(found, game_values(model, direction, nature), what=f"{seed}, {direction} {nature}: ")
            assert found.status is not Status.LOOSE, f"{seed}, {direction} {nature}: {found}"


def test_the_policy_earns_its_bound_with_any_probabilities() -> None:
    for seed, model in small_models(8):
        found = robust(model, Objective(model.labels["goal"]), nature="adversarial")
        assert found.policy is not None
        rng = np.random.default_rng(seed)
        for _ in range(5):
            fixed = with_corners(model, {c: random_corner(model, c, rng) for c in range(model.n_choices)})
            earned = exact_values(chain_of(fixed, found.policy.tolist()), Objective(model.labels["goal"]))
            assert all(float(low) <= value for low, value in zip(found.lower, earned, strict=True)), seed


def random_corner(model: Model, choice: int, rng: np.random.Generator) -> tuple[Fraction, ...]:
    assert model.lower is not None
    assert model.upper is not None
    part = slice(model.branch_start[choice], model.branch_start[choice + 1])
    points = corners(model.lower[part], model.upper[part])
    return points[int(rng.integers(len(points)))]


def test_intervals_that_are_points_are_an_ordinary_model() -> None:
    for seed in range(30):
        model = random_model([31, seed], states=7, actions=3)
        for direction in DIRECTIONS:
            objective = Objective(model.labels["goal"], direction)
            plain = optimistic(model, objective)
            found = robust(model, objective, nature="adversarial")
            assert np.all(found.lower <= plain.upper)
            assert np.all(plain.lower <= found.upper)


def test_rewards_with_intervals_hold_against_every_extreme_point() -> None:
    """One state, two ways to leave it, and a reward on the branches: worked out by hand."""
    model = MarkovChain(
        choice_start=[0, 1, 1],
        branch_start=[0, 2],
        target=[0, 1],
        lower=[0.25, 0.25],
        upper=[0.75, 0.75],
        initial=0,
        labels={"goal": [1]},
    )

    def solved(nature: Direction, transition: Any = None) -> Solution:
        objective = Objective(model.labels["goal"], nature, reward=np.array([1.0]), transition=transition)
        return robust(model, objective, nature=nature)

    for nature, value in (("max", 4.0), ("min", 4 / 3)):
        lower, upper = solved(nature).bounds(0)  # type: ignore[arg-type]  # one of the words
        assert lower <= value <= upper < value + 1e-4
    # The branch that stays pays -8: who wants much leaves, who wants little stays.
    extra = np.array([-8.0, 0.0])
    for nature, value in (("max", (1 - 0.25 * 8) / 0.75), ("min", (1 - 0.75 * 8) / 0.25)):
        lower, upper = solved(nature, extra).bounds(0)  # type: ignore[arg-type]  # one of the words
        assert lower <= value <= upper < value + 1e-3


def test_rewards_are_infinite_where_the_target_may_be_missed() -> None:
    model = MarkovChain(
        choice_start=[0, 1, 1],
        branch_start=[0, 2],
        target=[0, 1],
        lower=[0.0, 0.0],
        upper=[1.0, 1.0],
        initial=0,
        labels={"goal": [1]},
    )
    objective = Objective(model.labels["goal"], "max", reward=np.array([1.0]))
    assert robust(model, objective, nature="max").bounds(0) == (np.inf, np.inf)
    assert robust(model, objective, nature="min").status is Status.LOOSE


def test_bad_nature_is_refused() -> None:
    model = widened(random_model(3), 1, missing=False)
    with pytest.raises(BadArgument, match="nature must be"):
        robust(model, Objective(model.labels["goal"]), nature="kind")  # type: ignore[arg-type]  # wrong on purpose
