"""The compiled steps give the trajectories of NumPy, number for number."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from surefoot.errors import ActionUnavailableError
from surefoot.gym import ModelVectorEnv
from surefoot.models import MarkovChain, RewardModel

COUNT = 7


needs_numba = pytest.mark.skipif(
    find_spec("numba") is None, reason="numba is not installed: pip install 'surefoot[fast]'"
)


def same(one: Any, two: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(held, two[name]) for name, held in one.items())
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two)
    return bool(one == two)


def uneven() -> MarkovChain:
    """Return a chain with one row of 200 branches among short ones, which is not padded."""
    lengths = [200, 1, 2, 3, 5]
    numbers = np.random.default_rng(0)
    return MarkovChain(
        choice_start=[0, 1, 2, 3, 4, 5, *[5] * 195],
        branch_start=np.cumsum([0, *lengths]),
        target=np.concatenate([np.arange(200), *[numbers.choice(5, n, replace=False) for n in lengths[1:]]]),
        probability=np.concatenate([numbers.dirichlet(np.ones(n)) for n in lengths]),
        initial=1,
        rewards={"r": RewardModel(transition=numbers.normal(size=sum(lengths)))},
    )


@needs_numba
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("name", ["hunt", "die", "tiger", "maze", "lamp", "ring", "uneven"])
def test_steps_and_rollouts_are_those_of_numpy(name: str, mode: str, request: pytest.FixtureRequest) -> None:
    model = uneven() if name == "uneven" else request.getfixturevalue(name)
    chosen: dict[str, Any] = {
        "on_unavailable": "terminate" if mode == "NextStep" else "stay",
        "unavailable_reward": -7.0,
        "max_steps": 9,
        "autoreset_mode": mode,
        "terminal_reward": "collect",
    }
    one, two = ModelVectorEnv(model, COUNT, **chosen), ModelVectorEnv(model, COUNT, backend="numba", **chosen)
    assert same(one.reset(seed=3), two.reset(seed=3))
    for row in np.random.default_rng(1).integers(0, model.n_actions, (40, COUNT)):
        assert same(one.step(row), two.step(row))
    rows = getattr(model, "n_observations", model.n_states)
    likely = np.random.default_rng(2).dirichlet(np.ones(model.n_actions), rows)
    for policy in (None, np.zeros(rows, dtype=int), likely):
        for record in (True, False):
            first, second = one.rollout(policy, 25, record=record), two.rollout(policy, 25, record=record)
            for part in first.__slots__:
                assert same(getattr(first, part), getattr(second, part)), part
            assert same(one.save_state(), two.save_state())
    assert same(one.step(np.zeros(COUNT, dtype=int)), two.step(np.zeros(COUNT, dtype=int)))
    again = pickle.loads(pickle.dumps(two))
    assert same(one.step(np.zeros(COUNT, dtype=int)), again.step(np.zeros(COUNT, dtype=int)))


@needs_numba
def test_refusals_are_those_of_numpy(request: pytest.FixtureRequest) -> None:
    envs = ModelVectorEnv(request.getfixturevalue("hunt"), 3, backend="numba")
    envs.reset(seed=0)
    before = envs.save_state()
    with pytest.raises(
        ActionUnavailableError, match=r"environment 1: action 2 \('hunt'\) is not available in state 's0'"
    ):
        envs.step(np.array([0, 2, 0]))
    with pytest.raises(
        ActionUnavailableError, match=r"environment \d: action 0 \('wait'\) is not available in state 's1'"
    ):
        envs.rollout(np.array([1, 0, 0]), steps=40)
    assert same(envs.save_state(), before)


@needs_numba
def test_a_number_right_on_a_sum_goes_to_the_branch_after_it() -> None:
    """The first 16 bits of sums like 1/2 are often those of a number: then the sums themselves decide."""
    chain = MarkovChain(
        choice_start=[0, 1, 2],
        branch_start=[0, 2, 4],
        target=[0, 1, 0, 1],
        probability=[0.5, 0.5, 1 - 2.0**-16, 2.0**-16],
        initial=0,
    )
    one, two = ModelVectorEnv(chain, 20_000), ModelVectorEnv(chain, 20_000, backend="numba")
    one.reset(seed=0)
    two.reset(seed=0)
    assert same(one.rollout(None, 60).observations, two.rollout(None, 60).observations)


def test_without_numba_the_error_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['numba'] = None\n"
        "from surefoot.errors import MissingExtra\n"
        "from surefoot.gym import vector_numba\n"
        "try:\n    vector_numba.engine()\n"
        "except MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "pip install 'surefoot[fast]'" in done.stdout
