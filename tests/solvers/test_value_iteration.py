from __future__ import annotations

import pytest

from surefoot.models import MarkovChain
from surefoot.models.solution import Objective, Solver, Status
from surefoot.solvers._enclose import Engine
from surefoot.solvers.optimistic import optimistic
from surefoot.solvers.value_iteration import value_iteration
from surefoot.testing.solvers import SolverContract


class TestValueIteration(SolverContract):
    models = 10
    two_sided = False

    def solver(self) -> Solver:
        return value_iteration


def long_walk(length: int) -> MarkovChain:
    """Return the counter-example: a walk that falls back to the start, so that values move little and long."""
    states = 2 * length + 1
    start, branch_start, target, probability = [0], [0], [], []
    for state in range(states):
        if state not in (0, states - 1):
            target += [state + 1 if state >= length else state - 1, length]
            if state == length:
                target[-2:] = [length - 1, length + 1]
            probability += [0.5, 0.5]
            branch_start.append(len(target))
        start.append(len(branch_start) - 1)
    return MarkovChain(
        choice_start=start,
        branch_start=branch_start,
        target=target,
        probability=probability,
        initial=length,
        labels={"goal": [states - 1]},
    )


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_it_stops_too_early_and_never_says_that_it_is_done(engine: Engine) -> None:
    """Haddad and Monmege 2018, section 2: by symmetry the value is 1/2, but plain value iteration stops far below."""
    if engine == "numba":
        pytest.importorskip("numba", reason="the package numba (extra: fast) is not installed")
    model = long_walk(12)
    asked = Objective(model.labels["goal"])
    plain = value_iteration(model, asked, tolerance=1e-3, engine=engine)
    assert plain.status is Status.LOWER_ONLY
    assert plain.lower[12] < 0.45, "it would have been stopped here by the usual rule"
    assert plain.upper[12] == 1.0
    sound = optimistic(model, asked, engine=engine)
    assert sound.status is Status.CERTIFIED
    assert sound.lower[12] <= 0.5 <= sound.upper[12]
    assert sound.upper[12] - sound.lower[12] < 2e-6


def test_what_the_graph_decides_is_exact() -> None:
    model = long_walk(2)
    found = value_iteration(model, Objective(model.labels["goal"] | model.absorbing))
    assert found.status is Status.EXACT
    assert found.lower.tolist() == found.upper.tolist() == [1.0] * 5
