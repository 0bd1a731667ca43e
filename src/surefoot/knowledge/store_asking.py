"""What a knowledge store can be asked: items, questions, reasons, the facts for a decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import EllipsisType
from typing import Any

from surefoot import values
from surefoot.errors import BadArgument, UnknownItem
from surefoot.journal import Head
from surefoot.journal.chain import GENESIS
from surefoot.knowledge.items import (
    ACTIVE,
    DISPUTED,
    EXPIRED,
    HYPOTHESIS,
    KINDS,
    STATUSES,
    Explanation,
    Item,
    Question,
)
from surefoot.knowledge.projection import Projection
from surefoot.knowledge.store_fold import StoreFold
from surefoot.knowledge.store_index import Index, Wanted
from surefoot.knowledge.store_reading import explain, question_about, rests_on, show, valid_at

__all__ = ["Asking", "moment"]

_HEX = frozenset("0123456789abcdef")


class Asking(Projection[StoreFold]):
    """The questions of a store; `KnowledgeStore` inherits them.

    Example:
        >>> from surefoot.knowledge.store import KnowledgeStore
        >>> issubclass(KnowledgeStore, Asking)
        True
    """

    _noun = "store"
    _index: Index | None = None

    def _blank(self) -> StoreFold:
        return StoreFold()

    def get(self, id: str) -> Item:
        """Return an item.

        Args:
            id: its id, or the beginning of it where only one item begins so.

        Raises:
            UnknownItem: there is none.
            BadArgument: several begin so.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> id = store.add("rule", "never run with scissors", source="person", by="Kim")
            >>> store.get(id[:6]).body
            'never run with scissors'
        """
        with self._lock:
            self._catch_up()
            return show(self._fold, self._number(id))

    def __contains__(self, id: object) -> bool:
        """Say whether there is an item of this id, or one that begins so."""
        with self._lock:
            self._catch_up()
            return isinstance(id, str) and bool(id) and bool(self._fold.starting_with(id))

    def __len__(self) -> int:
        """Return how many items there are, whatever their status."""
        with self._lock:
            self._catch_up()
            return len(self._fold.item_key)

    def __bool__(self) -> bool:
        """Return True: an empty store is a store."""
        return True

    def __iter__(self) -> Iterator[Item]:
        """Iterate over all items as they stand now, the oldest first."""
        return iter(self.find())

    def find(
        self,
        *,
        kind: str | None = None,
        s: Any = ...,
        r: str | EllipsisType = ...,
        o: Any = ...,
        scope: Any = ...,
        status: str | None = None,
        at: float | None = None,
    ) -> list[Item]:
        """Return the items that are asked for, the oldest first; what is left out may be anything.

        Args:
            kind: their kind.
            s: the subject of facts, compared exactly: `1`, `True`, `1.0` and `"1"` are four subjects.
            r: the relation of facts.
            o: the value of facts.
            scope: their scope, compared exactly; None: those without.
            status: their status.
            at: a moment, in the time of the `valid` intervals: only items that are stated about it.

        Raises:
            BadArgument: there is no such kind or status.
            ValueRejected: a value is not plain.

        Cost: of the answer, by one index: about 10 µs for one item.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> _ = store.add("fact", {"s": "door", "r": "opens", "o": "north"}, source="outcome")
            >>> [item.o for item in store.find(s="door")], store.find(s="window")
            (['north'], [])
        """
        wanted = Wanted(
            kind=_among(kind, KINDS, "kind"),
            s=None if s is ... else values.encode(s),
            r=None if r is ... else values.encode(r),
            o=None if o is ... else values.encode(o),
            scope=None if scope is ... else values.encode(scope),
            status=_among(status, STATUSES, "status"),
        )
        when = moment(at, "at")
        with self._lock:
            self._catch_up()
            found = self._indexed().find(wanted)
            if when is not None:
                found = [item for item in found if valid_at(self._fold, item, when)]
            return [show(self._fold, item) for item in found]

    def usable(self, id: str, at: float | None = None) -> bool:
        """Say whether a decision may rest on an item: it is active, and so is all that it rests on.

        Args:
            id: the item.
            at: a moment that it must be stated about, in the time of the `valid` intervals.

        Raises:
            UnknownItem: there is no such item.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> id = store.add("fact", {"s": "tea", "r": "costs", "o": 3}, source="spec", valid=(2020, 2022))
            >>> store.usable(id), store.usable(id, at=2021), store.usable(id, at=2022)
            (True, True, False)
        """
        when = moment(at, "at")
        with self._lock:
            self._catch_up()
            item = self._number(id)
            return self._fold.status[item] == ACTIVE and (when is None or valid_at(self._fold, item, when))

    def questions(self) -> list[Question]:
        """Return what a person has to say: the keys with several values of equal rank, the oldest first.

        Cost: of the answer.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> KnowledgeStore().questions()
            []
        """
        with self._lock:
            self._catch_up()
            fold = self._fold
            keys = dict.fromkeys(fold.item_key[item] for item in self._indexed().find(Wanted(status=DISPUTED)))
            found = (question_about(fold, k) for k in keys)
            return [question for question in found if question is not None]

    def why(self, id: str) -> Explanation:
        """Return why an item is what it is: who stated it, on what evidence, what it rests on, what refuted it.

        Raises:
            UnknownItem: there is no such item.

        Cost: reads the entries about it from the journal.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> rule = store.add("rule", {"if": "red", "then": "stop"}, source="person", by="Kim")
            >>> halt = store.add("action", {"do": "stop"}, source="verified", derived_from=[rule])
            >>> _ = store.retract(rule)
            >>> store.why(halt).reasons
            ('nothing that it rests on holds any more',)
        """
        with self._lock:
            self._catch_up()
            return explain(self._fold, self._journal, self._number(id))

    def snapshot(
        self, about: Iterable[Any] | None = None, *, scope: Any = ..., at: float | None = None
    ) -> dict[str, Any]:
        """Return the knowledge that a decision needs, as plain data that can be recorded with it.

        Args:
            about: the subjects it is about; None: everything, rules and skills too.
            scope: only what is known in this scope; left out: in any.
            at: a moment, see `find`.

        Returns:
            {"about", "at", "facts", "doubtful", "rests_on", "ticks", "head"}: what is usable; what is not, but neither
            refuted nor retracted (each as `Item.to_dict`); the ids of what the usable items rest on; the journal's
            head.

        Raises:
            BadArgument: `about` is a single subject and not a collection of them.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> _ = store.add("fact", {"s": "door", "r": "opens", "o": "north"}, source="outcome")
            >>> shot = store.snapshot(about=["door"])
            >>> [fact["body"]["o"] for fact in shot["facts"]], shot["doubtful"], shot["head"] == str(store.head)
            (['north'], [], True)
        """
        subjects = None if about is None else [values.encode(subject) for subject in _subjects(about)]
        where = None if scope is ... else values.encode(scope)
        when = moment(at, "at")
        with self._lock:
            self._catch_up()
            fold, index = self._fold, self._indexed()
            if subjects is None:
                found = index.find(Wanted(scope=where))
            else:
                found = [i for s in dict.fromkeys(subjects) for i in index.find(Wanted(s=s, scope=where))]
            if when is not None:
                found = [item for item in found if valid_at(fold, item, when)]
            usable = [item for item in found if fold.status[item] == ACTIVE]
            doubtful = [item for item in found if fold.status[item] in (HYPOTHESIS, DISPUTED, EXPIRED)]
            return {
                "about": None if subjects is None else [values.decode(subject) for subject in subjects],
                "at": when,
                "facts": [show(fold, item).to_dict() for item in usable],
                "doubtful": [show(fold, item).to_dict() for item in doubtful],
                "rests_on": [fold.id_of(item) for item in rests_on(fold, usable)],
                "ticks": fold.clock,
                "head": str(Head(self._read, self._hash or GENESIS)),
            }

    def stats(self) -> dict[str, int]:
        """Return counts: items, each kind, each status, assertions (live or not), flags, ticks, journal (entries read).

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> KnowledgeStore().stats()["active"]
            0
        """
        with self._lock:
            self._catch_up()
            fold = self._fold
            return {
                "items": len(fold.item_key),
                **{f"{kind}s": fold.item_kind.count(number) for number, kind in enumerate(KINDS)},
                **{status: fold.status.count(number) for number, status in enumerate(STATUSES)},
                "assertions": len(fold.row_item),
                "flags": len(fold.flags),
                "ticks": fold.clock,
                "journal": self._read,
            }

    @property
    def ticks(self) -> int:
        """Return how much time has passed, as `tick` was told."""
        with self._lock:
            self._catch_up()
            return self._fold.clock

    def __repr__(self) -> str:
        """Show where it is and what it holds."""
        with self._lock:
            fold = self._fold
            return f"<KnowledgeStore {self._path or 'in memory'}: {len(fold.item_key)} items>"

    def _indexed(self) -> Index:
        """Return the index of the present fold."""
        if self._index is None or self._index.fold is not self._fold:
            self._index = Index(self._fold)
        return self._index

    def _number(self, id: str) -> int:
        """Return the item that an id, or the beginning of one, names."""
        if not isinstance(id, str) or not id:
            raise BadArgument(f"an id is a non-empty str, got {id!r}")
        found = self._fold.starting_with(id)
        if not found:
            what = "" if set(id) <= _HEX else " (an id is hexadecimal)"
            raise UnknownItem(f"there is no item {id!r} here{what}: add() returns the id, find() looks for items")
        if len(found) > 1:
            raise BadArgument(f"several items begin with {id!r}: give more of the id")
        return found[0]


def moment(at: Any, name: str) -> float | None:
    """Return a moment of the caller's own time.

    Raises:
        BadArgument: it is neither a finite number nor None.

    Example:
        >>> moment(2021, "at"), moment(None, "at")
        (2021, None)
    """
    if at is None or (isinstance(at, int | float) and not isinstance(at, bool) and at - at == 0):
        return at
    raise BadArgument(f"{name} must be a finite number or None, got {at!r}")


def _among(word: str | None, words: tuple[str, ...], name: str) -> int | None:
    if word is None:
        return None
    if word not in words:
        raise BadArgument(f"{name} must be one of {', '.join(words)}, got {word!r}")
    return words.index(word)


def _subjects(about: Iterable[Any]) -> Iterable[Any]:
    if isinstance(about, str | bytes) or not isinstance(about, Iterable):
        raise BadArgument(f"about must be a collection of subjects, got the single {about!r}: wrap it, [{about!r}]")
    return about
