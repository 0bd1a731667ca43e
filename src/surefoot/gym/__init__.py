"""Gymnasium environments: over models `ModelEnv`, in thousands `ModelVectorEnv`; over any world `EnvironmentEnv`.

Importing this package registers `surefoot/Model-v0` with Gymnasium, for `make` and `make_vec`. The names below are
loaded when they are first used.

Example:
    >>> import gymnasium
    >>> import surefoot.gym
    >>> from surefoot.models import MarkovChain
    >>> coin = MarkovChain(choice_start=[0, 1, 1, 1], branch_start=[0, 2], target=[1, 2], probability=[0.5, 0.5],
    ...                    initial=0, state_names=["toss", "heads", "tails"])
    >>> env = gymnasium.make("surefoot/Model-v0", model=coin)
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(0)
    >>> info["state"].name in ("heads", "tails"), terminated
    (True, True)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium

if TYPE_CHECKING:
    from surefoot.errors import ActionUnavailableError
    from surefoot.gym.environment_env import EnvironmentEnv
    from surefoot.gym.model_env import ModelEnv, StateView
    from surefoot.gym.rollouts import Rollout
    from surefoot.gym.shielded import ShieldedEnv
    from surefoot.gym.vector_env import ModelVectorEnv

__all__ = [
    "ActionUnavailableError",
    "EnvironmentEnv",
    "ModelEnv",
    "ModelVectorEnv",
    "Rollout",
    "ShieldedEnv",
    "StateView",
]

_HOMES = {
    "ActionUnavailableError": "surefoot.errors",
    "EnvironmentEnv": "surefoot.gym.environment_env",
    "ModelEnv": "surefoot.gym.model_env",
    "ModelVectorEnv": "surefoot.gym.vector_env",
    "Rollout": "surefoot.gym.rollouts",
    "ShieldedEnv": "surefoot.gym.shielded",
    "StateView": "surefoot.gym.model_env",
}
"""Where each public name is defined (PEP 562)."""

if "surefoot/Model-v0" not in gymnasium.registry:
    gymnasium.register(
        "surefoot/Model-v0",
        entry_point="surefoot.gym.model_env:ModelEnv",
        vector_entry_point="surefoot.gym.vector_env:ModelVectorEnv",
    )


if not TYPE_CHECKING:  # so that a type checker reports a name that is not there

    def __getattr__(name: str) -> Any:
        """Load a public name when it is first used."""
        if name not in _HOMES:
            raise AttributeError(f"module 'surefoot.gym' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
