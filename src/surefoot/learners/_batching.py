"""The part of `ConservativeActionModel` that answers very many calls at once."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.errors import BadArgument
from surefoot.learners._cases import Case
from surefoot.learners.evidence import ActionEvidence
from surefoot.learners.vocabulary import Vocabulary
from surefoot.protocols import Prediction

if TYPE_CHECKING:
    from surefoot.learners._programs import Foresight
    from surefoot.learners.batches import Predictions

__all__: list[str] = []


class Batched:
    """What a model does with very many calls at once; a part of `ConservativeActionModel`.

    Example:
        >>> from surefoot import ConservativeActionModel
        >>> issubclass(ConservativeActionModel, Batched)
        True
    """

    vocabulary: Vocabulary
    caution: str
    severity: float | dict[str, float]
    observations: int
    _actions: dict[str, ActionEvidence]
    _lock: threading.RLock

    _foresight: Foresight

    if TYPE_CHECKING:

        def _judge(
            self, action: str, evidence: ActionEvidence | None, features: tuple[Any, ...], case: Case | None
        ) -> Prediction: ...

    def predict_many(
        self,
        states: Sequence[Any],
        action: str,
        args: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Predictions:
        """Say what the environment will do with a call in each of many states: what `predict` says, sooner.

        Args:
            states: the states.
            action: the action's name.
            args: its arguments, the same for all states or one mapping for each.

        Raises:
            BadArgument: there are not as many arguments as states.
            BrokenPredicate: a predicate is broken.

        Cost: reading the conditions of each state, and about 1 µs for each. With columns, see `predict_columns`. What a
            call changes is worked out when its whole prediction is read: leave the states as they are until then.

        Example:
            >>> from surefoot import ConservativeActionModel, Vocabulary
            >>> model = ConservativeActionModel(Vocabulary({"door": lambda state, args: state[args["name"]]}))
            >>> _ = model.observe({"front": "open"}, "enter", {"name": "front"}, True)
            >>> model.predict_many([{"back": "open"}, {"back": "shut"}], "enter", {"name": "back"}).verdicts
            ['accept', 'unknown']
        """
        from surefoot.learners import _batch  # with NumPy, which single calls do without

        states = list(states)
        call = _batch.calls(states, args, len(states))
        read = self.vocabulary.read
        rows = [read(state, action, one) for state, one in map(call, range(len(states)))]
        with self._lock:
            return _batch.answer_rows(self, rows, action, call)

    def predict_columns(
        self,
        columns: Mapping[str, Any],
        action: str,
        *,
        states: Sequence[Any] | None = None,
        args: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Predictions:
        """Say what the environment will do with many calls, given the values of their conditions as columns.

        Args:
            columns: for each condition that the vocabulary reads for the action, its values by name: a list, an array
                of one dimension, or (the fastest for labels) `Coded`. All have the same length.
            action: the action's name.
            states: the states that the columns were read from, for what the calls change; None: that is not said.
            args: the arguments, the same for all or one mapping for each; only read with `states`.

        Raises:
            BadArgument: a condition is missing or unknown, or the columns, states or arguments do not fit together.
            ValueRejected: a value is not plain.

        Cost: about 0.1 µs for a row with 5 coded conditions and 0.3 µs with 20; the first time for an action, and
            after observing, a few µs for each case that is new or was observed again. Rows with numbers outside what
            was accepted in more than one condition, with relations, or with pairs not all seen yet, cost a single call
            each.

        Example:
            >>> from surefoot import ConservativeActionModel, Vocabulary
            >>> model = ConservativeActionModel(Vocabulary({"door": lambda state, args: state["door"]}))
            >>> _ = model.observe({"door": "open"}, "enter", {}, True)
            >>> model.predict_columns({"door": ["open", "shut", "open"]}, "enter")
            <Predictions: 3 rows, 1 unknown, 2 accept, 0 refuse>
        """
        from surefoot.learners import _batch  # with NumPy, which single calls do without

        names = self.vocabulary.of(action)
        if set(columns) != set(names):
            missing, unknown = sorted(set(names) - set(columns)), sorted(set(columns) - set(names))
            raise BadArgument(f"columns must be those of {list(names)}: {missing} are missing, {unknown} are unknown")
        return _batch.answer_columns(self, columns, action, states, args)
