"""The functions that numba compiles, run as plain Python: they are read and tested where numba is not installed."""

from __future__ import annotations

import numpy as np

from surefoot.models._compiled import attract, drop_stuck, fill_branches, search_back, turn_around
from surefoot.models.components import Predecessors, end_components, internal_choices, prob0, reach_back
from surefoot.models.solution import Objective
from surefoot.solvers._intervals import IntervalProblem, IntervalRows, IntervalSweeps
from surefoot.solvers._numba import sweep_all, sweep_intervals, sweep_policy
from surefoot.solvers._numpy import NumpySweeps
from surefoot.solvers._reduce import reduce
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
            sweep_all(*parts, True, plain, policy, 1.0, 0.0)
        sweeps, values = NumpySweeps(problem), np.zeros(problem.size)
        for _ in range(600):
            values, _ = sweeps.improve(values, (1.0, 0.0))
        assert np.allclose(plain, values, atol=1e-9)
        change, before, kept = np.ones(problem.size), np.ones(problem.size), plain.copy()
        sweep_policy(*parts[1:], policy, kept, change, before, 1.0, 0.0, 50)
        assert np.allclose(kept, plain, atol=1e-9)
        assert np.abs(change).max() < 1e-9


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


def test_branches_are_sorted_into_what_becomes_of_them() -> None:
    node, decided = np.array([0, 1, -1]), np.array([0.0, 0.0, 0.5])
    start, stop, home = np.array([0]), np.array([3]), np.array([0])
    branch_start, target, weight = np.zeros(2, np.int64), np.zeros(3, np.int32), np.zeros(3)
    constant, stays, leaves = np.zeros(1), np.zeros(1), np.zeros(1)
    fill_branches(
        start,
        stop,
        home,
        np.array([0, 1, 2]),
        np.array([0.25, 0.25, 0.5]),
        node,
        decided,
        1.0,
        branch_start,
        target,
        weight,
        constant,
        stays,
        leaves,
    )
    assert (branch_start[1], target[0], weight[0]) == (1, 1, 0.25)
    assert (constant[0], stays[0], leaves[0]) == (0.25, 0.25, 0.75)
