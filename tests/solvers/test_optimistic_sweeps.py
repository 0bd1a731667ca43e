"""The functions that numba compiles, run as plain Python: they are read and tested where numba is not installed."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.models._compiled import (
    attract,
    drop_stuck,
    fill_rows,
    keep_inside,
    list_choices,
    search_back,
    spread,
    sweep_attract,
    sweep_back,
    turn_around,
    without_numba,
)
from surefoot.models.components import (
    Direction,
    Predecessors,
    end_components,
    internal_choices,
    prob0,
    reach,
    reach_back,
    staying,
)
from surefoot.models.solution import Objective
from surefoot.solvers._intervals import IntervalProblem, IntervalRows, IntervalSweeps
from surefoot.solvers._numba import sum_changes, sweep_all, sweep_intervals, sweep_policy, take_rows
from surefoot.solvers._numpy import NumpySweeps, sums_of_changes
from surefoot.solvers._reduce import reduce
from surefoot.solvers.optimistic import optimistic
from surefoot.testing.solvers import random_model


def test_sweeps_settle_where_those_of_numpy_settle() -> None:
    for seed in range(20):
        model = random_model([95, seed], states=7, actions=3)
        problem = reduce(model, Objective(model.labels["goal"])).problem
        if not problem.size:
            continue
        plain, policy = np.zeros(problem.size), np.zeros(problem.size, np.int64)
        parts = (problem.choice_start, problem.branch_start, problem.target, problem.weight, problem.constant)
        for _ in range(300):
            sweep_all(*parts, 1.0, plain, policy, 1.0, 0.0)
        sweeps, values = NumpySweeps(problem), np.zeros(problem.size)
        for _ in range(600):
            values, _ = sweeps.improve(values, (1.0, 0.0))
        assert np.allclose(plain, values, atol=1e-9)
        change, before, kept = np.ones(problem.size), np.ones(problem.size), plain.copy()
        size, room = problem.size, len(problem.target)
        rows = np.zeros(size + 1, np.int64), np.zeros(room, np.int32), np.zeros(room), np.zeros(size)
        take_rows(*parts[1:], policy, *rows)
        sweep_policy(*rows, kept, change, before, 1.0, 0.0, 50)
        assert np.allclose(kept, plain, atol=1e-9)
        assert np.abs(change).max() < 1e-9
        change, before = np.linspace(-1, 1, size), np.linspace(2, 0, size)
        assert np.allclose(
            sum_changes(kept, change, before, 0.5), sums_of_changes(kept, change, before, 0.5), rtol=1e-12
        )


def test_intervals_are_picked_as_numpy_picks_them() -> None:
    for seed in range(20):
        model = random_model([96, seed], states=6, ends=1)
        rows = IntervalRows(
            model.choice_start[:-1],
            model.branch_start,
            model.target,
            model.probability * 0.5,
            np.minimum(model.probability * 1.5, 1.0),
        )
        constant = np.zeros(model.n_choices)
        problem = IntervalProblem.of(rows, np.ones(1), constant, None, "max", "min")
        sweeps = IntervalSweeps(problem)
        values = np.random.default_rng(seed).random(problem.size)
        expected = sweeps.worth(values)
        for choice in range(model.n_choices):
            one = slice(int(rows.branch_start[choice]), int(rows.branch_start[choice + 1]))
            got, policy = np.r_[values, 1.0], np.zeros(problem.size, np.int64)
            order, picked = np.arange(one.stop - one.start), np.zeros(one.stop - one.start)
            alone = (np.array([0, 1]), np.array([0, one.stop - one.start]))
            sweep_intervals(
                *alone,
                rows.target[one],
                rows.lower[one],
                rows.upper[one],
                np.zeros(1),
                np.zeros(0),
                True,
                False,
                got,
                policy,
                order,
                picked,
                1.0,
                0.0,
            )
            assert got[0] == np.float64(got[0])
            assert abs(got[0] - expected[choice]) < 1e-12
            assert abs(picked.sum() - 1) < 1e-12


def test_searches_find_what_those_of_numpy_find() -> None:
    for seed in range(40):
        model = random_model([97, seed], states=9, actions=3)
        back, states = Predecessors.of(model), model.n_states
        start, choice = np.zeros(states + 1, np.int64), np.zeros(model.n_branches, np.int32)
        turn_around(model.branch_start, model.target, start, choice)
        assert np.array_equal(start, back.start)
        assert np.array_equal(choice, back.choice)
        goal, free = model.labels["goal"], np.ones(states, bool)
        seen, nearer, queue = goal.copy(), np.full(states, -1, np.int64), np.zeros(states, np.int64)
        every = np.ones(model.n_choices, bool)
        search_back(back.start, back.choice, back.state, free, every, seen, nearer, queue)
        found, others = reach_back(model, goal)
        assert np.array_equal(seen, found)
        assert np.array_equal(nearer >= 0, others >= 0)
        hit, left = goal.copy(), np.diff(model.choice_start).copy()
        attract(back.start, back.choice, back.state, free, left, ~every, hit, queue)
        assert np.array_equal(~hit, prob0(model, goal, "min"))
        count, numbers = end_components(model)
        inside, allowed = numbers >= 0, internal_choices(model, numbers) if count else ~every
        kept = inside.copy()
        drop_stuck(back.start, back.choice, back.state, kept, allowed.copy(), np.zeros(states, np.int64), queue)
        assert np.array_equal(kept, inside), "end components have nothing to drop"


def test_sweeps_over_a_graph_find_what_searches_find() -> None:
    """Also where the budget ends them early: then what they marked is right, and a search goes on from there."""
    for seed in range(40):
        model = random_model([98, seed], states=9, actions=3)
        states = model.n_states
        parts = (model.choice_start, model.branch_start, model.target)
        goal, every = model.labels["goal"], np.ones(model.n_choices, bool)
        free, waiting = np.ones(states, bool), np.zeros((2, states), np.int32)
        found = reach_back(model, goal)[0]
        for budget in (10_000, 3):
            seen, nearer = goal.copy(), np.full(states, -1, np.int64)
            done = sweep_back(*parts, free, every, seen, nearer, waiting, budget)
            assert np.array_equal(seen, found) if done else not (seen & ~found).any()
            assert np.array_equal(nearer >= 0, seen & ~goal)
            hit = goal.copy()
            done = sweep_attract(*parts, free, every, False, hit, waiting, budget)
            sure = ~prob0(model, goal, "min")
            assert np.array_equal(hit, sure) if done else not (hit & ~sure).any()
        kept = every.copy()
        keep_inside(model.branch_start, model.target, found, kept)
        assert np.array_equal(kept, staying(model, found))
        begun = np.arange(states) == 0
        seen = begun.copy()
        assert spread(*parts, free, every, seen, 20)
        assert np.array_equal(seen, reach(model, begun))
        assert not spread(*parts, free, every, begun.copy(), 0)


def test_branches_are_sorted_into_what_becomes_of_them() -> None:
    """Half of the first choice is decided, a quarter stays and is shared out; the second never leaves."""
    node, decided, paid = np.array([0, 1, -1]), np.array([0.0, 0.0, 0.5]), np.array([3.0, 1.0])
    kept, home = np.zeros(2, np.int64), np.zeros(2, np.int64)
    assert list_choices(np.array([0]), np.array([0, 2, 2, 2]), np.array([True, True]), kept, home) == 2
    rows = np.array([0, 3, 4]), np.array([0, 1, 2, 0]), np.array([0.25, 0.25, 0.5, 1.0])
    for pay, discount, constant, weight in ((paid, 1.0, 3.25 / 0.75, 0.25 / 0.75), (paid[:0], 0.5, 1 / 7, 1 / 7)):
        start, target, share, due = np.zeros(3, np.int64), np.zeros(4, np.int32), np.zeros(4), np.zeros(2)
        filled = (start, target, share, due)
        count = fill_rows(*rows, kept.copy(), home.copy(), node, decided, pay, discount, *filled)
        assert count == (1 if discount == 1.0 else 2)
        assert (start[1], target[0]) == (1, 1)
        assert np.isclose(due[0], constant)
        assert np.isclose(share[0], weight)


@pytest.mark.parametrize("direction", ["max", "min"])
def test_what_is_compiled_and_what_is_not_make_the_same_problem(direction: Direction) -> None:
    pytest.importorskip("numba", reason="the package numba (extra: fast) is not installed")
    for seed in range(20):
        model = random_model([99, seed], states=8, actions=3)
        paid = model.expected_reward("cost") if seed % 2 else None
        objective = Objective(model.labels["goal"], direction, reward=paid)
        fast = reduce(model, objective)
        with without_numba():
            plain = reduce(model, objective)
        assert np.array_equal(fast.open_, plain.open_), f"{seed}: which states are decided"
        assert np.array_equal(fast.lower, plain.lower), f"{seed}: what is decided"
        one, other = fast.problem, plain.problem
        assert (one.size, one.rounding, one.relative) == (other.size, other.rounding, other.relative)
        # The order of the nodes may differ: so what is equal is what solving both says.
        found = optimistic(model, objective, engine="numba").upper
        with without_numba():
            again = optimistic(model, objective, engine="numpy").upper
        assert np.allclose(found, again, rtol=3e-6, atol=1e-12), f"{seed}: bounds"
