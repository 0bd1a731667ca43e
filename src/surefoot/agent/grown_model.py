"""The action model of an agent whose conditions are induced: apart, since it loads NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.agent.own_model import OwnModel, exact_vocabulary
from surefoot.journal import Journal
from surefoot.learners.induction import InducedActionModel
from surefoot.protocols import Prediction

__all__ = ["GrownModel"]


class GrownModel(InducedActionModel):
    """The action model of a knowledge that induces its conditions: what it predicts depends on the observations alone.

    An `InducedActionModel` that is read from a journal selects its conditions once, at the end. This one is grown
    observation by observation, wherever it is read, so that each decision can be made again as it was made. And where
    the conditions say nothing of a call, it says what came of this very call in this very state.

    Example:
        >>> from surefoot import open_journal
        >>> journal = open_journal()
        >>> model = GrownModel.of(journal)
        >>> for n in range(20):
        ...     _ = model.observe({"open": n % 2 == 0}, "enter", {}, n % 2 == 0)
        >>> model.predict({"open": False}, "enter", {}).verdict, len(journal)
        ('refuse', 20)
        >>> GrownModel.of(journal).fingerprint() == model.fingerprint()
        True
    """

    def __init__(self, **options: Any) -> None:
        """Know nothing yet."""
        super().__init__(**options)
        told = {name: value for name, value in options.items() if name in ("severity", "caution")}
        self._exactly = OwnModel(exact_vocabulary(), **told)

    def predict(self, state: Any, action: str, args: Mapping[str, Any] | None = None) -> Prediction:
        """Say what the environment will do with a call; changes nothing."""
        said = super().predict(state, action, args)
        if said.verdict != "unknown" or said.hard:
            return said
        seen = self._exactly.predict(state, action, args)
        return said if seen.verdict == "unknown" else seen

    def observe(
        self, state: Any, action: str, args: Mapping[str, Any] | None, accepted: bool, effect: Any = None, **told: Any
    ) -> Prediction:
        """Take in what the environment did with a call, and return the prediction made before it."""
        before = self.predict(state, action, args)
        super().observe(state, action, args, accepted, effect, **told)
        self._exactly.observe(state, action, args, accepted)
        return before

    @classmethod
    def of(cls, journal: Journal | None, *, stream: str = "actions", **options: Any) -> GrownModel:
        """Return one with what a journal holds, which keeps its records there; None: with nothing, kept nowhere.

        Cost: that of observing it all again: the selections for each action, whose sizes grow by a third each time.
        """
        model = cls(stream=stream, **options)
        if journal is None:
            return model
        for entry in journal.entries(kind="observe", stream=stream):
            data = entry.data
            told = {name: data.get(name) for name in ("effect", "reason", "next_state")}
            model.observe(data["state"], data["action"], data["args"], data["accepted"], **told)
        model._journal = journal
        return model

    @property
    def reads(self) -> str:
        """Return what the observations of this model are marked with in a journal: what it reads states with."""
        return self._fingerprint_of_vocabulary()
