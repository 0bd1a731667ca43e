"""The families of models that solvers are measured on: random sparse models, grids where one slips, a shared coin."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.models import MDP

__all__ = ["coin", "grid", "random_sparse", "widened"]


def random_sparse(states: int, *, actions: int = 4, branches: int = 5, ends: float = 0.4, seed: int = 1) -> MDP:
    """Return a model where each choice leads to random states, and with up to `ends` to the goal, or to failure."""
    rng = np.random.default_rng([seed, states])
    rows = (states - 2) * actions
    target = rng.integers(0, states - 2, (rows, branches)).astype(np.int32)
    target.sort(axis=1)
    weight = rng.random((rows, branches)) + 0.05
    # Where two branches lead to one state, the later one goes on to the next free number.
    for column in range(1, branches):
        twice = target[:, column] <= target[:, column - 1]
        target[twice, column] = target[twice, column - 1] + 1
    bad = target[:, -2] >= states - 2
    target[bad] = np.arange(branches, dtype=np.int32)
    target[:, -1] = np.where(rng.random(rows) < 0.5, states - 2, states - 1)
    weight[:, -1] = 0.0
    share = rng.random(rows) * ends + 0.02
    weight *= ((1 - share) / weight.sum(axis=1))[:, None]
    weight[:, -1] = share
    return _model(states, actions, branches, target.ravel(), weight.ravel(), goal=states - 2)


def _model(states: int, actions: int, branches: int, target: Any, probability: Any, *, goal: int) -> MDP:
    rows = (states - 2) * actions
    return MDP(
        choice_start=np.r_[np.arange(states - 1) * actions, rows, rows],
        choice_action=np.tile(np.arange(actions, dtype=np.int32), states - 2),
        branch_start=np.arange(rows + 1) * branches,
        target=target,
        probability=probability,
        initial=0,
        labels={"goal": [goal], "fail": [states - 1]},
    )


def grid(side: int, *, slip: float = 0.1, failure: float = 0.01) -> MDP:
    """Return a grid with four directions, where one slips to either side, and fails for good with some probability."""
    cells = side * side
    x, y = np.arange(cells) % side, np.arange(cells) // side
    moves = ((1, 0), (0, 1), (-1, 0), (0, -1))
    to = np.stack([np.clip(y + dy, 0, side - 1) * side + np.clip(x + dx, 0, side - 1) for dx, dy in moves], 1)
    goal = cells - 1
    parts = []
    for action in range(4):
        parts.append(np.stack([to[:, action], to[:, (action + 1) % 4], to[:, (action + 3) % 4], np.full(cells, -1)], 1))
    target = np.stack(parts, 1).reshape(cells * 4, 4)
    weight = np.tile(np.array([1 - 2 * slip - failure, slip, slip, failure]), (cells * 4, 1))
    target, weight = target[: goal * 4], weight[: goal * 4]
    target[target == -1] = cells
    # One state twice in a row (against a wall, in a corner): add up, and drop what is empty then.
    for one in range(3):
        for other in range(one + 1, 3):
            twice = (target[:, one] == target[:, other]) & (weight[:, other] > 0) & (weight[:, one] > 0)
            weight[twice, one] += weight[twice, other]
            weight[twice, other] = 0.0
    keep = weight > 0
    start = np.r_[0, np.cumsum(keep.sum(1))]
    return MDP(
        choice_start=np.r_[np.arange(goal + 1) * 4, goal * 4, goal * 4],
        choice_action=np.tile(np.arange(4, dtype=np.int32), goal),
        branch_start=start,
        target=target[keep],
        probability=weight[keep],
        initial=0,
        labels={"goal": [goal], "fail": [cells]},
    )


def coin(limit: int, processes: int = 2) -> MDP:
    """Return the shared coin of a randomised consensus protocol: each process walks a common counter to either end.

    Source: Aspnes, Herlihy 1990; the states as they are usually modelled: what each process does next, and its coin.
    """
    end = 2 * (limit + 1) * processes
    start = ((limit + 1) * processes, (0,) * processes, (0,) * processes)
    number, order = {start: 0}, [start]
    choice_start, branch_start, action, target, probability = [0], [0], [], [], []
    for counter, step, coins in order:
        for one in range(processes):
            outcomes: list[tuple[float, int, int, int]] = []
            if step[one] == 0:
                outcomes = [(0.5, counter, 1, 0), (0.5, counter, 1, 1)]
            elif step[one] == 1:
                outcomes = [(1.0, counter + (1 if coins[one] else -1), 2, 0)]
            elif step[one] == 2:
                if counter <= processes:
                    outcomes = [(1.0, counter, 3, 0)]
                elif counter >= end - processes:
                    outcomes = [(1.0, counter, 3, 1)]
                else:
                    outcomes = [(1.0, counter, 0, 0)]
            if not outcomes:
                continue
            for share, value, then, face in outcomes:
                new = (value, (*step[:one], then, *step[one + 1 :]), (*coins[:one], face, *coins[one + 1 :]))
                if new not in number:
                    number[new] = len(order)
                    order.append(new)
                target.append(number[new])
                probability.append(share)
            branch_start.append(len(target))
            action.append(one)
        choice_start.append(len(action))
    over = np.array([all(s == 3 for s in step) for _, step, _ in order])
    heads = np.array([all(coins) for _, _, coins in order])
    tails = np.array([not any(coins) for _, _, coins in order])
    return MDP(
        choice_start=choice_start,
        choice_action=np.array(action, np.int32),
        branch_start=branch_start,
        target=np.array(target, np.int32),
        probability=probability,
        initial=0,
        labels={"heads": over & heads, "split": over & ~heads & ~tails, "over": over},
    )


def widened(model: MDP, by: float = 0.2) -> MDP:
    """Return the model with intervals around its probabilities, a part of each on both sides."""
    lower, upper = model.probability * (1 - by), np.minimum(model.probability * (1 + by), 1.0)
    return model.replace(lower=lower, upper=upper)
