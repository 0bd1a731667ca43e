"""Rollouts that JAX compiles: distributed as they should be, and in fact the trajectories of NumPy."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from surefoot.errors import ActionUnavailableError, BadArgument
from surefoot.gym import ModelVectorEnv
from surefoot.models import MDP, POMDP, MarkovChain

COUNT = 7


needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed: pip install 'surefoot[jax]'")


@needs_jax
def test_branches_are_taken_as_often_as_they_should(die: MarkovChain) -> None:
    envs = ModelVectorEnv(die, 6000, backend="jax")
    envs.reset(seed=0)
    thrown = envs.rollout(steps=1).observations[1]
    counts = np.bincount(thrown, minlength=7)
    assert counts[0] == 0
    assert float(((counts[1:] - 1000) ** 2 / 1000).sum()) < 20.5  # 0.999 of chi-square with 5 degrees


def compare(model: Any, policies: list[Any], **chosen: Any) -> None:
    """Follow each policy with both backends; each is compiled, which takes seconds."""
    one, two = ModelVectorEnv(model, COUNT, **chosen), ModelVectorEnv(model, COUNT, backend="jax", **chosen)
    assert one.reset(seed=3)[0].tolist() == two.reset(seed=3)[0].tolist()
    for policy in policies:
        first, second = one.rollout(policy, 25), two.rollout(policy, 25)
        for part in ("observations", "actions", "rewards", "terminated", "truncated", "episodes"):
            assert np.array_equal(getattr(first, part), getattr(second, part)), part
            assert getattr(first, part).dtype == getattr(second, part).dtype
        assert second.total == pytest.approx(first.total)
    actions = np.zeros(COUNT, dtype=int)
    assert one.step(actions)[0].tolist() == two.step(actions)[0].tolist()  # steps go on where rollouts ended


@needs_jax
def test_a_rollout_is_that_of_numpy(tiger: POMDP) -> None:
    likely = np.array([[0.5, 0.25, 0.25], [0.1, 0.9, 0.0]])
    compare(tiger, [likely], max_steps=9)


@needs_jax
@pytest.mark.nightly
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("name", ["hunt", "tiger", "ring", "maze", "lamp", "die"])
def test_rollouts_are_those_of_numpy(name: str, mode: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(name)
    rows = getattr(model, "n_observations", model.n_states)
    policies = [None, np.random.default_rng(2).dirichlet(np.ones(model.n_actions), rows), np.zeros(rows, dtype=int)]
    steps = None if name == "ring" else 9
    compare(model, policies, on_unavailable="terminate", unavailable_reward=-7.0, autoreset_mode=mode, max_steps=steps)


@needs_jax
def test_refusals(hunt: MDP) -> None:
    envs = ModelVectorEnv(hunt, 3, backend="jax")
    envs.reset(seed=0)
    before = envs.save_state()
    with pytest.raises(
        ActionUnavailableError, match=r"environment \d: action 0 \('wait'\) is not available in state 's1'"
    ):
        envs.rollout(np.array([1, 0, 0]), steps=40)
    with pytest.raises(BadArgument, match="policy is a function, and backend='jax' compiles all of a rollout"):
        envs.rollout(lambda observations, masks: observations, steps=2)
    assert all(np.array_equal(one, two) for one, two in zip(envs.save_state(), before, strict=True))


@needs_jax
def test_jaxs_own_setting_stays(die: MarkovChain) -> None:
    import jax

    envs = ModelVectorEnv(die, 2, backend="jax")
    envs.reset(seed=0)
    envs.rollout(steps=1, record=False)
    assert jax.numpy.ones(1).dtype == np.float32


def test_without_jax_the_error_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['jax'] = None\n"
        "from surefoot.errors import MissingExtra\n"
        "from surefoot.gym import vector_jax\n"
        "try:\n    vector_jax.engine()\n"
        "except MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "pip install 'surefoot[jax]'" in done.stdout
