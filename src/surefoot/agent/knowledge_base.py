"""Everything an agent knows, as one object over one journal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from surefoot import values
from surefoot.agent.experience import Experience
from surefoot.agent.own_model import OwnModel, exact_vocabulary
from surefoot.errors import BadArgument, ValueRejected
from surefoot.journal import Head, Journal, Verification, open_journal
from surefoot.knowledge.agenda import Agenda
from surefoot.knowledge.failures import FailureMemory
from surefoot.knowledge.store import KnowledgeStore
from surefoot.knowledge.worldmap import WorldMap
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.vocabulary import Vocabulary
from surefoot.protocols import ActionModel, Call, Outcome, Prediction, call_of

if TYPE_CHECKING:
    from surefoot.agent.grown_model import GrownModel

__all__ = ["Knowledge", "Place", "place_of", "raw_of", "stream_of"]

_CALLS = 4_096
_WINDOW = 3
_RESERVED = frozenset({"actions", "agenda", "agent", "facts", "failures", "journal"})


class Place(NamedTuple):
    """A state in the three forms in which it is needed.

    Attributes:
        state: as it is on the map, a plain value that nothing changes.
        key: its encoding.
        raw: as the environment gave it, a copy: what checks and predicates read.

    Example:
        >>> Place(0, b"0", 0).key
        b'0'
    """

    state: Any
    key: bytes
    raw: Any


def _other_each_time(action: str) -> object:
    """Return what is equal to nothing before."""
    return object()


def stream_of(name: str) -> str:
    """Return the stream of a journal that holds the map `name`; "main" is where a `WorldMap` of its own keeps its map.

    Raises:
        BadArgument: it is no non-empty text.

    Example:
        >>> stream_of("main"), stream_of("level 2")
        ('main', 'map level 2')
    """
    if not isinstance(name, str) or not name:
        raise BadArgument(f"the name of a map must be a non-empty text, got {name!r}")
    return name if name == "main" else f"map {name}"


class _Part(Protocol):
    """A fold of the journal."""

    def verify(self, head: Head | str | None = None, key: Any = None) -> Verification: ...

    def refresh(self) -> None: ...


class Knowledge:
    """Hold what an agent knows: maps, what actions do, goals and gates, failures, facts, and its own episodes.

    All of it is one journal. Close it, open the journal elsewhere, and go on; goals and gates are functions, so a
    program declares them again (see `Agenda`).

    Args:
        path: where the journal is kept: `.json` or `.jsonl` for a text file, anything else for SQLite; made when it is
            not there. None: in memory.
        vocabulary: the conditions that actions are learned over. None: the exact state is the only condition, so that
            what was learned in one state says nothing about another.
        journal: use this journal instead of opening one.
        induce: without a vocabulary, induce the conditions from the states, which are then to be JSON-like (mappings,
            with names for what they hold), see `surefoot.learners.induction`. False: the exact state is the condition.
        model: an action model of your own, instead of one over a vocabulary. It keeps its own records.
        caution: for the action model, see `ConservativeActionModel`.
        severity: for the action model, too.
        failures: for how many steps an action that was refused is not tried again where it was, an int >= 1; 3 in a
            new journal.
        durability: see `open_journal`.
        clock: see `open_journal`.
        repair: see `open_journal`.

    Attributes:
        journal, agenda, failures, actions, experience: its parts.
        exact: whether the exact state is the only condition; own: whether the action model is none that was given.
        problems: {goal: what its check raised or answered} of the newest update.

    Raises:
        BadArgument: an argument is out of its range, or two that exclude each other are given.
        BrokenChain, CutTail, UnknownFormat: the stored journal is not whole.

    Example:
        >>> knowledge = Knowledge()
        >>> _ = knowledge.goal("out", done=lambda cell: cell == 3)
        >>> _ = knowledge.gate("not left", lambda state, call: False, blocks="left")
        >>> knowledge.agenda.open(0), knowledge.agenda.allows(0, "left").word, knowledge.map().states()
        (('out',), 'reject', [])
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        vocabulary: Vocabulary | None = None,
        journal: Journal | None = None,
        model: ActionModel | None = None,
        induce: bool = False,
        caution: str = "balanced",
        severity: float | Mapping[str, float] = 1.0,
        failures: int | None = None,
        durability: str = "normal",
        clock: Callable[[], Any] | None = None,
        repair: bool = False,
    ) -> None:
        """Open or make it; see the class."""
        if path is not None and journal is not None:
            raise BadArgument("give a path or a journal, not both")
        if model is not None and vocabulary is not None:
            raise BadArgument("give a vocabulary or a model, not both: a model has conditions of its own")
        self.path = None if path is None else FilePath(path)
        if induce and (model is not None or vocabulary is not None):
            raise BadArgument("induce=True goes without a vocabulary and without a model: it makes its own conditions")
        self.vocabulary = vocabulary
        self.exact = vocabulary is None and model is None and not induce
        self.own = model is None
        self.options = {"caution": caution, "severity": severity}
        if journal is None:
            journal = open_journal(path, durability=durability, clock=clock, repair=repair)
        self.journal = journal
        if failures is None and not len(journal):
            failures = _WINDOW
        self.agenda = Agenda(journal=journal)
        self.failures = FailureMemory(failures, journal=journal)
        self.experience = Experience(journal)
        self.problems: Mapping[str, str] = {}
        self._given = model
        self.actions: ActionModel = self.model(journal) if model is None else model
        self._maps: dict[str, WorldMap] = {}
        self._store: KnowledgeStore | None = None
        self._calls: dict[bytes, Call] = {}

    def model(self, journal: Journal | None) -> OwnModel | GrownModel:
        """Return an action model like this one's: with what a journal holds, or (None) with nothing, kept nowhere.

        Raises:
            BadArgument: this knowledge was given a model of its own.

        Example:
            >>> Knowledge().model(None).predict("hall", "go", {}).verdict
            'unknown'
        """
        if self._given is not None:
            raise BadArgument("this knowledge has a model of its own: make another one yourself")
        if self.vocabulary is None and not self.exact:
            from surefoot.agent.grown_model import GrownModel  # it loads NumPy and more: only where it is used

            return GrownModel.of(journal, **self.options)  # type: ignore[arg-type]  # of several types
        vocabulary = exact_vocabulary() if self.vocabulary is None else self.vocabulary
        made = OwnModel(vocabulary, journal=journal, **self.options)  # type: ignore[arg-type]  # of several types
        return made if journal is None else made.relearn(vocabulary)

    @property
    def foresees(self) -> bool:
        """Say whether the action model learns what calls change: not over the exact state, where the map says it all.

        Example:
            >>> Knowledge().foresees, Knowledge(vocabulary=exact_vocabulary()).foresees
            (False, True)
        """
        return not self.exact and isinstance(self.actions, ConservativeActionModel)

    def map(self, name: str = "main") -> WorldMap:
        """Return a map by name; made when nobody asked for it before.

        Raises:
            BadArgument: the name is empty, or one of a stream that is something else.

        Example:
            >>> knowledge = Knowledge()
            >>> _ = knowledge.map("level 1").arrive("hall", "north", "garden")
            >>> knowledge.map("level 1").states(), knowledge.map("level 2").states(), knowledge.maps()
            (['hall', 'garden'], [], ['level 1', 'level 2'])
        """
        known = self._maps.get(name)
        if known is None:
            known = self._maps[name] = WorldMap(journal=self.journal, stream=stream_of(name))
        return known

    def maps(self) -> list[str]:
        """Return the names of the maps that were asked for, or walked in an episode that the journal holds.

        Example:
            >>> Knowledge().maps()
            []
        """
        return sorted({*self._maps, *self.experience.fold.version})

    @property
    def store(self) -> KnowledgeStore:
        """Return the facts with their sources; opened when first asked for."""
        if self._store is None:
            self._store = KnowledgeStore(journal=self.journal)
        return self._store

    @property
    def head(self) -> Head:
        """Return the journal's head: keep it elsewhere, and `verify(head=…)` catches a cut tail too."""
        return self.journal.head

    def goal(
        self,
        name: str,
        done: Callable[[Any], Any],
        requires: Iterable[str] = (),
        gates: Iterable[str] = (),
        *,
        replace: bool = False,
    ) -> Self:
        """Declare a goal; see `Agenda.goal`. `done` reads the environment's own state.

        Example:
            >>> Knowledge().goal("wood", done=lambda s: s > 0).agenda.open(0)
            ('wood',)
        """
        if name == "":
            raise BadArgument("name must not be empty, got ''")
        self.agenda.goal(name, done, requires, gates, replace=replace)
        return self

    def gate(
        self,
        name: str,
        check: Callable[[Any, Any], Any],
        blocks: Any = (),
        trigger: Callable[[Any, Any], Any] | None = None,
        *,
        blocks_goals: Any = (),
        replace: bool = False,
    ) -> Self:
        """Declare a gate; see `Agenda.gate`. The checks read the environment's own state.

        Example:
            >>> Knowledge().gate("closed", lambda s, call: False, blocks="buy").agenda.allows(0, "buy").word
            'reject'
        """
        self.agenda.gate(name, check, blocks, trigger, blocks_goals=blocks_goals, replace=replace)
        return self

    def call(self, action: Any, key: bytes) -> Call:
        """Return an action split into name and arguments, each action once.

        Example:
            >>> Knowledge().call("open", b'"open"')
            Call(name='open', args={})
        """
        call = self._calls.get(key)
        if call is None:
            if len(self._calls) >= _CALLS:
                self._calls.clear()
            call = self._calls[key] = call_of(action)
        return call

    def stamp(self, action: str) -> Any:
        """Return what changes with each observation of an action; as long as it is equal, so are the predictions.

        Example:
            >>> knowledge = Knowledge()
            >>> before = knowledge.stamp("go")
            >>> _ = knowledge.actions.observe("hall", "go", {}, True)
            >>> before == knowledge.stamp("go"), knowledge.stamp("go") == knowledge.stamp("go")
            (False, True)
        """
        return self.stamps()(action)

    def stamps(self) -> Callable[[str], Any]:
        """Return `stamp`, for those who ask about many actions before the next observation.

        Example:
            >>> knowledge = Knowledge()
            >>> knowledge.stamps()("go") == knowledge.stamp("go")
            True
        """
        return self.actions.stamp if isinstance(self.actions, OwnModel) else _other_each_time

    def unseen(self, state: bytes, action: str) -> bool:
        """Say whether nothing is predicted of an action because only in this state nothing was observed of it.

        Over the exact state this stays so, and so does the prediction, whatever is observed elsewhere.

        Example:
            >>> knowledge = Knowledge()
            >>> _ = knowledge.actions.observe("hall", "go", {}, True)
            >>> knowledge.unseen(b'"hall"', "go"), knowledge.unseen(b'"yard"', "go"), knowledge.unseen(b'"hall"', "fly")
            (False, True, False)
        """
        return self.exact and isinstance(self.actions, OwnModel) and self.actions.unseen(state, action)

    def predict(self, here: Place, call: Call) -> tuple[Prediction, bool]:
        """Return what the action model predicts of a call at a place.

        Returns:
            the prediction, and whether it rests on nothing but observations of this action. Over the exact state its
            effects and its next state, which the map knows better, are left out.

        Example:
            >>> prediction, alone = Knowledge().predict(Place("hall", b'"hall"', "hall"), Call("go"))
            >>> prediction.verdict, alone
            ('unknown', True)
        """
        actions = self.actions
        if self.exact and not call.args and isinstance(actions, OwnModel):
            return actions.predict_exactly(here.key, call.name)
        return actions.predict(here.state if self.exact else here.raw, call.name, call.args), False

    def observing(
        self, here: Place, call: Call, outcome: Outcome[Any]
    ) -> tuple[tuple[str, str, bytes], Callable[[int], object]] | None:
        """Return the record of an observation, to be recorded together with others, and what takes it in.

        None where the action model has to record it by itself.

        Raises:
            ValueRejected: the effect is no plain value.
        """
        actions = self.actions
        if not self.exact or call.args or not isinstance(actions, OwnModel):
            return None
        return actions.observing(here.state, here.key, call.name, outcome.accepted, outcome.effect)

    def verify(self, head: Head | str | None = None, key: Any = None) -> Verification:
        """Check that the journal is whole, and that what is known of episodes, goals and maps is what it says.

        Args:
            head: a head kept elsewhere.
            key: the public key of whoever sealed the journal.

        Cost: a pass over the journal for each part.

        Example:
            >>> bool(Knowledge().verify())
            True
        """
        checked = self.journal.verify(head=head, key=key)
        for part in self._parts():
            if not checked:
                break
            checked = part.verify(head=head, key=key)
        return checked

    def _parts(self) -> list[_Part]:
        """Return all that is a fold of the journal."""
        parts: list[_Part] = [self.experience, self.agenda, self.failures, *self._maps.values()]
        return parts if self._store is None else [*parts, self._store]

    def refresh(self) -> None:
        """Fold the journal again, for when an exception from outside came in between; changes nothing else.

        Example:
            >>> knowledge = Knowledge().goal("one", done=lambda s: s == 1)
            >>> knowledge.refresh(), knowledge.agenda.open(0)
            (None, ('one',))
        """
        for part in self._parts():
            part.refresh()
        if self._given is None:
            self.actions = self.model(self.journal)

    def close(self) -> None:
        """Flush and close the journal; twice is harmless.

        Example:
            >>> knowledge = Knowledge()
            >>> knowledge.close(), knowledge.close()
            (None, None)
        """
        self.journal.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Show where it is and what it holds."""
        return f"<Knowledge {self.path or 'in memory'}: {self.experience.fold.episodes} episodes, maps {self.maps()}>"


def place_of(state: Any, key: Callable[[Any], Any] | None) -> Place:
    """Return a state in its three forms.

    A state that is a mapping, or holds one, or a list, is on the map as the text of its encoding.

    Args:
        state: as the environment gave it.
        key: makes a plain value of it; None: it is one.

    Raises:
        ValueRejected: it (or what `key` made of it) is no plain value.

    Example:
        >>> place_of({"at": "hall"}, None).state
        '{"at":"hall"}'
    """
    if key is not None:
        made = key(state)
        try:
            encoded = values.encode_state(made)
        except ValueRejected as error:
            raise ValueRejected(f"key(state) gave no state: {error}") from None
        return Place(values.decode_known(encoded), encoded, state)
    try:
        encoded = values.encode_state(state)
    except ValueRejected:
        text = values.encode(state)  # raises with the path to what is not plain
        return Place(text.decode(), values.encode_state(text.decode()), values.decode_known(text))
    plain = state if type(state) in (int, str) else values.decode_known(encoded)
    return Place(plain, encoded, plain)


def raw_of(state: Any) -> Any:
    """Return a state of the map as the predicates read it: one of mappings or lists is on the map as a text.

    Example:
        >>> raw_of('{"at":"hall"}'), raw_of("hall")
        ({'at': 'hall'}, 'hall')
    """
    if not isinstance(state, str) or not state.startswith(("{", "[")):
        return state
    try:
        return values.decode(state.encode())
    except ValueError:  # a text that only looks like one
        return state
