"""Observations in a journal: written down with all that another vocabulary would need, and read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from surefoot import values
from surefoot.errors import BadArgument, ValueRejected
from surefoot.learners._programs import Told, told
from surefoot.learners.vocabulary import Vocabulary

if TYPE_CHECKING:
    from surefoot.journal import Journal
    from surefoot.learners._cases import Case
    from surefoot.protocols import Prediction

__all__ = ["VocabularyChanged"]

_OBSERVED = b'{"accepted":%b,"action":%b,"args":%b%b,"state":%b,"vocabulary":"%b"}'
_SEQ = len(b'{"seq":')


class VocabularyChanged(BadArgument):
    """Recorded observations were read with another vocabulary; the message says what differs.

    Example:
        >>> issubclass(VocabularyChanged, ValueError)
        True
    """


class Recalling:
    """What a model does with the journal of its observations; a part of `ConservativeActionModel`."""

    caution: str
    severity: float | dict[str, float]
    _journal: Journal | None
    _stream: str

    if TYPE_CHECKING:

        def __init__(self, vocabulary: Vocabulary | None = None, **options: Any) -> None: ...

        def _learn(
            self,
            action: str,
            features: tuple[Any, ...],
            text: bool,
            case: Case | None,
            accepted: bool,
            effect: bytes | None,
            seq: int | None,
            state: Any,
            args: Mapping[str, Any],
            more: Told | None,
        ) -> Prediction: ...

        def _fingerprint_of_vocabulary(self) -> str: ...

    def _record(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: bytes | None,
        reason: str | None,
        next_state: Any,
    ) -> int:
        """Write an observation down, with all that another vocabulary would need."""
        assert self._journal is not None  # asked for only then
        data = self._written(state, action, args, accepted, effect, reason, next_state)
        (line,) = self._journal.record([("observe", data)], stream=self._stream)
        return int(line[_SEQ : line.index(b",", _SEQ)])

    def _written(
        self,
        state: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: bytes | None,
        reason: str | None,
        next_state: Any,
    ) -> bytes:
        """Return the data of the entry that records an observation."""
        encode = values.encode
        more = b"" if effect is None else b',"effect":%b' % effect
        try:  # part by part, which is quick for the small parts that they are
            if next_state is not None:
                more += b',"next_state":%b' % encode(next_state)
            if reason is not None:
                more += b',"reason":%b' % encode(reason)
            return _OBSERVED % (
                b"true" if accepted else b"false",
                encode(action),
                encode(dict(args)) if args else b"{}",
                more,
                encode(state),
                self._fingerprint_of_vocabulary().encode(),
            )
        except ValueRejected:  # said again with the place of what is not plain
            given = {"args": dict(args), "next_state": next_state, "reason": reason, "state": state}
            values.encode(given)
            raise

    @classmethod
    def replay(
        cls, store: Any, vocabulary: Vocabulary | None = None, *, stream: str = "actions", **options: Any
    ) -> Self:
        """Return the model of the observations recorded in a journal (or a store that has one).

        Without a vocabulary it is the model that induces its own conditions, whatever they were read with.

        Raises:
            VocabularyChanged: they were read with another vocabulary; `relearn` reads them again.

        Example:
            >>> from surefoot import ConservativeActionModel, Vocabulary, open_journal
            >>> journal = open_journal()
            >>> vocabulary = Vocabulary({"open": lambda state, args: state["open"]})
            >>> model = ConservativeActionModel(vocabulary, journal=journal)
            >>> _ = model.observe({"open": True}, "enter", {}, True)
            >>> ConservativeActionModel.replay(journal, vocabulary).fingerprint() == model.fingerprint()
            True
        """
        journal = getattr(store, "journal", store)
        if vocabulary is None:
            return type(cls())._read(journal, None, stream, options)
        wanted = vocabulary.fingerprint()
        for entry in journal.entries(kind="observe", stream=stream):
            recorded = entry.data["vocabulary"]
            if recorded != wanted:
                raise VocabularyChanged(
                    f"entry {entry.seq} was observed with the vocabulary {recorded[:12]}, this one is {wanted[:12]}: "
                    "a predicate, its closure, `hard` or `only` has changed (or the Python version); "
                    "relearn(vocabulary) reads the recorded states again"
                )
        return cls._read(journal, vocabulary, stream, options)

    def relearn(self, vocabulary: Vocabulary) -> Self:
        """Return a model of the same recorded observations, read with another vocabulary.

        Raises:
            BadArgument: the observations were not recorded (the model has no journal).

        Example:
            >>> from surefoot import ConservativeActionModel, Vocabulary, open_journal
            >>> model = ConservativeActionModel(Vocabulary({"open": lambda s, args: s["open"]}), journal=open_journal())
            >>> _ = model.observe({"open": True, "dark": True}, "enter", {}, False)
            >>> model.relearn(Vocabulary({"dark": lambda s, args: s["dark"]})).summary("enter")["refused"]
            1
        """
        if self._journal is None:
            raise BadArgument("relearn needs recorded observations: make the model with journal=open_journal(...)")
        options = {"severity": self.severity, "caution": self.caution}
        return self._read(self._journal, vocabulary, self._stream, options)

    @classmethod
    def _read(cls, journal: Journal, vocabulary: Vocabulary | None, stream: str, options: dict[str, Any]) -> Self:
        if vocabulary is None:
            raise BadArgument("a vocabulary is needed to read observations; without one the conditions are induced")
        model = cls(vocabulary, stream=stream, journal=journal, **options)
        for entry in journal.entries(kind="observe", stream=stream):
            data = entry.data
            state, action, args, accepted = (data[name] for name in ("state", "action", "args", "accepted"))
            features, text = vocabulary.read(state, action, args)
            effect = values.encode(data["effect"]) if "effect" in data else None
            more = told(state, args, accepted, effect, data.get("next_state"))
            model._learn(action, features, text, None, accepted, effect, entry.seq, state, args, more)
        return model
