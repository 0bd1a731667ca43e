"""Storm, through the package stormpy (the extra `storm`; GPL-3): a second opinion, and paths inside paths."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models.components import Direction, has_choices
from surefoot.models.exchange.storm import stormpy_module
from surefoot.models.model import Model
from surefoot.models.solution import Objective, Solution, Status
from surefoot.solvers._enclose import Enclosure, close, enclose, prove, relative_size, sweeps_of
from surefoot.solvers._problem import Problem
from surefoot.solvers._reduce import answer, first_choices, reduce
from surefoot.solvers.optimistic import check_budget

__all__ = ["ask", "is_there", "linear_time", "storm", "to_storm"]


@cache
def is_there() -> bool:
    """Say whether stormpy is installed.

    Example:
        >>> isinstance(is_there(), bool)
        True
    """
    return find_spec("stormpy") is not None


def to_storm(
    model: Model, *, reward: NDArray[np.float64] | None = None, target: NDArray[np.bool_] | None = None
) -> Any:
    """Return a model of stormpy: a chain or an MDP; a state without choices gets a loop, as Storm wants it.

    Args:
        model: a chain or an MDP; of an interval model the intervals are taken.
        reward: (C,) float64, what each choice pays; becomes the reward model `asked`.
        target: (S,) bool, becomes the label `asked`.

    Raises:
        MissingExtra: stormpy is not installed.

    Cost: about 4 µs a branch: the numbers go through Python.

    Example:
        >>> from surefoot.models.examples import die
        >>> made = to_storm(die()) if is_there() else None
        >>> made is None or made.nr_states == 13
        True
    """
    stormpy = stormpy_module()
    value = stormpy.Interval if model.has_intervals else float
    rows, columns, values, groups = _triples(model, stormpy)
    states = model.n_states
    choices = int(rows[-1]) + 1
    builder = stormpy.datastructures.SparseMatrixBuilder[value](
        choices, states, len(values), True, model.has_actions, states if model.has_actions else 0
    )
    builder.add_next_values(rows.tolist(), columns.tolist(), values, groups.tolist() if model.has_actions else [])
    labels = stormpy.models.StateLabeling(states)
    given = {**model.labels, "init": model.initial > 0}
    if target is not None:
        given["asked"] = target
    for name, mask in given.items():
        labels.add_label(name)
        labels.set_states(name, stormpy.datastructures.BitVector(states, np.flatnonzero(mask).tolist()))
    rewards = {}
    if reward is not None:
        paid = np.insert(reward, model.choice_start[:-1][~has_choices(model)], 0.0)
        rewards["asked"] = stormpy.models.SparseRewardModel[float](optional_state_action_reward_vector=paid.tolist())
    parts = stormpy.models.SparseModelComponents[value](
        transition_matrix=builder.build(), state_labeling=labels, reward_models=rewards
    )
    return (stormpy.models.SparseMdp if model.has_actions else stormpy.models.SparseDtmc)[value](parts)


def _triples(model: Model, stormpy: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Any], NDArray[np.int64]]:
    """Return rows, columns and values of the matrix, columns rising in each row, and where the rows of states start."""
    ends = ~has_choices(model)
    groups = model.choice_start[:-1] + np.cumsum(ends) - ends
    place = np.insert(np.arange(model.n_choices), model.choice_start[:-1][ends], -1)
    new = np.empty(model.n_choices, np.int64)
    new[place[place >= 0]] = np.flatnonzero(place >= 0)
    owner = new[model.branch_choice]
    loops = np.flatnonzero(place < 0)
    rows = np.concatenate([owner, loops])
    columns = np.concatenate([model.target.astype(np.int64), np.flatnonzero(ends)])
    order = np.lexsort((columns, rows))
    if model.lower is not None and model.upper is not None:
        low = np.concatenate([model.lower, np.ones(len(loops))])[order].tolist()
        high = np.concatenate([model.upper, np.ones(len(loops))])[order].tolist()
        values: list[Any] = [stormpy.Interval(a, b) for a, b in zip(low, high, strict=True)]
    else:
        values = np.concatenate([model.probability, np.ones(len(loops))])[order].tolist()
    return rows[order], columns[order], values, groups


def ask(made: Any, property: str, **options: Any) -> NDArray[np.float64]:
    """Return what Storm answers for each state; its numbers, whatever they are worth.

    Args:
        made: a model from `to_storm`.
        property: in Storm's language.
        options: passed to `stormpy.model_checking`.

    Raises:
        MissingExtra: stormpy is not installed.

    Example:
        >>> from surefoot.models.examples import die
        >>> is_there() is False or bool(abs(ask(to_storm(die()), 'P=? [F "six"]')[0] - 1 / 6) < 1e-6)
        True
    """
    stormpy = stormpy_module()
    result = stormpy.model_checking(made, stormpy.parse_properties(property)[0], **options)
    return np.array(result.get_value_vector(), dtype=np.float64)


def storm(
    model: Model,
    objective: Objective,
    /,
    *,
    tolerance: float = 1e-6,
    max_sweeps: int = 1_000_000,
) -> Solution:
    """Return bounds that we prove from the values that Storm returns.

    Storm 2.0 certifies wrong values where rewards are negative; so its values are taken as a guess, and where a sweep
    does not prove them, they are replaced by our own.

    Args:
        model: a chain or an MDP, without intervals.
        objective: what is asked; without `through`.
        tolerance: see `optimistic`.
        max_sweeps: how often to go over all choices at most, where what Storm returned is not proved.

    Raises:
        MissingExtra: stormpy is not installed.
        BadArgument: the objective has a `through`, or does not fit the model.

    Source: Hensel et al. 2022 (Storm); the proof as in `optimistic`.

    Example:
        >>> from surefoot.models.examples import die
        >>> model = die()
        >>> asked = Objective(model.labels["six"])
        >>> is_there() is False or bool(storm(model, asked).lower[0] <= 1 / 6 <= storm(model, asked).upper[0])
        True
    """
    check_budget(tolerance, max_sweeps)
    if objective.through is not None:
        raise BadArgument("through is not passed on to Storm: ask for an until in its language, with ask()")
    made = to_storm(model, reward=objective.reward, target=objective.target)
    which = objective.direction if model.has_actions else ""
    asked = f'R{{"asked"}}{which}=? [F "asked"]' if objective.rewards else f'P{which}=? [F "asked"]'
    values = ask(made, asked)

    reduced = reduce(model, objective)
    guess, node = np.zeros(reduced.problem.size), reduced.made.node
    guess[node[node >= 0]] = values[node >= 0]
    return answer(reduced, _proved(reduced.problem, guess, tolerance, max_sweeps))


def _proved(problem: Problem, guess: NDArray[np.float64], tolerance: float, max_sweeps: int) -> Enclosure:
    """Return the bounds that a sweep proves of a guess, or our own."""
    if problem.size and np.isfinite(guess).all():
        sweeps = sweeps_of(problem)
        _, policy = sweeps.improve(guess, (1.0, 0.0))
        slack = tolerance / 2 * relative_size(problem, guess)
        inner, margin = (0, 4, 16, 64), tolerance / 1000
        upper, above = prove(sweeps, guess + slack, "upper", policy, margin=margin, inner=inner)
        lower, below = prove(sweeps, guess - slack, "lower", policy, margin=margin, inner=inner)
        if lower is not None and upper is not None and close(problem, lower, upper, tolerance):
            return Enclosure(lower, upper, policy, int(above + below), True)
    return enclose(problem, tolerance=tolerance, max_sweeps=max_sweeps)


def linear_time(model: Model, path: str, direction: Direction, *, tolerance: float = 1e-6) -> Solution:
    """Return what Storm answers for a path formula of LTL. Its bounds are its own claim, so the status is LOOSE.

    Args:
        model: a chain or an MDP, without intervals and without variables in the formula.
        path: the path formula, in labels.
        direction: who picks choices.
        tolerance: half the width of the bounds that are put around Storm's value.

    Raises:
        MissingExtra: stormpy is not installed.
        BadArgument: the model has intervals.

    Source: Baier, Katoen 2008, section 10.3 (the automaton that Storm makes).

    Example:
        >>> from surefoot.models.examples import die
        >>> is_there() is False or linear_time(die(), 'F (G "six")', "max").status.name == "LOOSE"
        True
    """
    if model.has_intervals:
        raise BadArgument("LTL on interval models is not worked out")
    which = direction if model.has_actions else ""
    values = ask(to_storm(model), f"P{which}=? [{path}]")
    lower, upper = np.clip(values - tolerance, 0, 1), np.clip(values + tolerance, 0, 1)
    return Solution(Status.LOOSE, lower, upper, None if model.has_actions else first_choices(model), 0)
