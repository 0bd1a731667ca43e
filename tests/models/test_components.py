from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from surefoot.models import MDP, MarkovChain, Model
from surefoot.models.components import (
    Direction,
    Predecessors,
    bottom_components,
    components,
    end_components,
    internal_choices,
    prob0,
    prob1,
    reach,
    reach_back,
    staying,
)
from surefoot.models.solution import Objective
from surefoot.testing.solvers import exact_values, random_model

DIRECTIONS: tuple[Direction, ...] = ("max", "min")
SEEDS = range(60)


def successors(model: Model, state: int, allowed: np.ndarray | None = None) -> set[int]:
    found: set[int] = set()
    for choice in model.choices(state):
        if allowed is None or allowed[choice]:
            found |= set(model.target[model.branch_start[choice] : model.branch_start[choice + 1]].tolist())
    return found


def naive_reach(model: Model, start: set[int]) -> set[int]:
    found, waiting = set(start), list(start)
    while waiting:
        for to in successors(model, waiting.pop()) - found:
            found.add(to)
            waiting.append(to)
    return found


def with_each_seed(check: Callable[[int], None]) -> Callable[[], None]:
    """Make one test of a check with all seeds: as a test each, they take longer to report than to run."""

    def test() -> None:
        for seed in SEEDS:
            try:
                check(seed)
            except Exception as error:
                error.add_note(f"the seed is {seed}")
                raise

    test.__name__, test.__doc__ = check.__name__, check.__doc__
    return test


@with_each_seed
def test_reach_is_what_a_search_finds_forwards_and_backwards(seed: int) -> None:
    model = random_model([40, seed], states=9)
    ways = {state: naive_reach(model, {state}) for state in range(9)}
    for state in range(9):
        mask = np.arange(9) == state
        assert set(np.flatnonzero(reach(model, mask)).tolist()) == ways[state]
        back, nearer = reach_back(model, mask)
        assert set(np.flatnonzero(back).tolist()) == {s for s in range(9) if state in ways[s]}
        assert np.array_equal(nearer >= 0, back & ~mask)


@with_each_seed
def test_components_are_mutual_reach_and_no_branch_leads_up(seed: int) -> None:
    model = random_model([41, seed], states=9, actions=1 + seed % 2)
    ways = [naive_reach(model, {state}) for state in range(9)]
    count, label = components(model)
    assert count == len(set(label.tolist()))
    for one, other in itertools.product(range(9), range(9)):
        assert (label[one] == label[other]) == (other in ways[one] and one in ways[other])
        if other in ways[one]:
            assert label[other] <= label[one]


@with_each_seed
def test_bottom_components_are_those_that_are_never_left(seed: int) -> None:
    model = random_model([42, seed], states=9, actions=1)
    ways = [naive_reach(model, {state}) for state in range(9)]
    count, number = bottom_components(model)
    for state in range(9):
        bottom = all(state in ways[to] for to in ways[state])
        assert (number[state] >= 0) == bottom
    assert set(number.tolist()) - {-1} == set(range(count))


@with_each_seed
def test_end_components_are_the_largest_sets_where_one_can_stay_and_get_about(seed: int) -> None:
    """Against the definition, over all subsets of the states."""
    model = random_model([43, seed], states=6)
    found: list[set[int]] = []
    for size in range(6, 0, -1):
        for subset in map(set, itertools.combinations(range(6), size)):
            if any(subset <= one for one in found):
                continue
            member = np.isin(np.arange(6), list(subset))
            stays = staying(model, member) & member[model.choice_state]
            ways = {}
            for state in subset:
                seen, waiting = set[int](), [state]
                while waiting:
                    for to in successors(model, waiting.pop(), stays) - seen:
                        seen.add(to)
                        waiting.append(to)
                ways[state] = seen
            if all(ways[state] == subset for state in subset):
                found.append(subset)
    count, number = end_components(model)
    assert count == len(found)
    mine = [set(np.flatnonzero(number == one).tolist()) for one in range(count)]
    assert sorted(map(sorted, mine)) == sorted(map(sorted, found))
    inside = internal_choices(model, number)
    for choice in range(model.n_choices):
        home = int(number[model.choice_state[choice]])
        ends = model.target[model.branch_start[choice] : model.branch_start[choice + 1]]
        assert inside[choice] == (home >= 0 and bool((number[ends] == home).all()))


@with_each_seed
def test_0_and_1_are_where_the_exact_values_are(seed: int) -> None:
    model = random_model([44, seed], states=6, ends=1 + seed % 3)
    through = np.random.default_rng(seed).random(6) < 0.8
    back = Predecessors.of(model)
    for direction, free in itertools.product(DIRECTIONS, (None, through)):
        target = model.labels["goal"]
        exact = np.array([float(v) for v in exact_values(model, Objective(target, direction, free))])
        assert np.array_equal(prob0(model, target, direction, through=free, back=back), exact == 0)
        sure, choice = prob1(model, target, direction, through=free)
        assert np.array_equal(sure, exact == 1)
        taken = choice[choice >= 0]
        assert np.all(staying(model, sure)[taken] | target[model.choice_state[taken]])


def test_a_long_line_needs_no_stack() -> None:
    count = 20_000
    line = MarkovChain(
        choice_start=np.append(np.arange(count), count - 1),
        branch_start=np.arange(count),
        target=np.arange(1, count),
        probability=np.ones(count - 1),
        initial=0,
    )
    last = np.arange(count) == count - 1
    assert prob1(line, last)[0].all()
    assert components(line)[0] == count


def test_a_model_without_choices_has_no_end_components() -> None:
    alone = MDP(choice_start=[0, 0], choice_action=[], branch_start=[0], target=[], probability=[], initial=0)
    none = np.zeros(1, bool)
    assert end_components(alone)[0] == 0
    assert prob0(alone, none).all()
    assert not prob1(alone, none)[0].any()
    assert len(internal_choices(alone, np.zeros(1, np.int32))) == len(staying(alone, none)) == 0
