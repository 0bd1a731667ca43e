"""Puts our `ModelEnv` in the place of stormvogel's, for its own tests: `pytest -p in_place`.

Four things differ on purpose, and are bridged here and nowhere else:

- their tests read private tables (`_state_to_index`, …) and set `_current_state`: made here from what is public;
- `info["state"]` of a hidden state is there on request only: requested here;
- a value that is missing is told when the environment is made, theirs when the state is met: kept back until then;
- a state without choices takes any action and stays where it is, theirs takes none: refused here.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import stormvogel.gym_env as theirs

from surefoot.errors import BadModel
from surefoot.gym import ActionUnavailableError, ModelEnv

__all__: list[str] = []


class InPlace(ModelEnv):
    """Take the arguments of theirs, and show what its tests look at."""

    def __init__(self, model: Any, reward_model_name: str | None = None, obs_type: Any = "index") -> None:
        self._theirs = model
        self._missing: BadModel | None = None
        hidden = getattr(getattr(model, "model_type", None), "name", "") in ("POMDP", "HMM")
        options: dict[str, Any] = {"reward_model_name": reward_model_name, "show_state": hidden or None}
        try:
            super().__init__(model, obs_type=obs_type, **options)
        except BadModel as error:
            if "has no value for variable" not in str(error):
                raise
            self._missing = error
            super().__init__(model, obs_type="index", **options)

    def step(self, action: Any) -> Any:
        """Step, or tell of the missing value, or that a state without choices takes no action."""
        if self._missing is not None:
            raise self._missing
        here = self._here
        if here is not None and not list(here.choices):
            raise ActionUnavailableError(f"action {action} is not on offer: {here} has no choices")
        self._here = None
        return super().step(action)

    @cached_property
    def _state_to_index(self) -> dict[Any, int]:
        return {state: number for number, state in enumerate(self._theirs.states)}

    @cached_property
    def _index_to_action(self) -> list[Any]:
        found: dict[Any, None] = {}
        for state in self._theirs.states:
            found.update(dict.fromkeys(action for action, _ in state.choices))
        return list(found)

    @property
    def _action_to_index(self) -> dict[Any, int]:
        return {action: number for number, action in enumerate(self._index_to_action)}

    @cached_property
    def _observation_to_index(self) -> dict[Any, int]:
        found: dict[Any, int] = {}
        for state in self._theirs.states:
            one = state.observation
            for seen in [one] if hasattr(one, "alias") else [each for _, each in one]:
                found.setdefault(seen, len(found))
        return found

    _here: Any = None
    """The state that was set by hand, until the next step."""

    def _go(self, state: Any) -> None:
        self._here = state
        self.reset(options={"state": self._state_to_index[state]})

    _current_state = property(fset=_go)


theirs.ModelEnv = InPlace
theirs.ActionUnavailableError = ActionUnavailableError
