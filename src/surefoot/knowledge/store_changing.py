"""How what is known is taken back, doubted, aged, and put in and out of use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from surefoot import values
from surefoot.errors import BadArgument, UnknownItem
from surefoot.knowledge import store_gate as gate
from surefoot.knowledge.items import STATUSES, Key
from surefoot.knowledge.store_asking import Asking
from surefoot.knowledge.store_columns import name_of
from surefoot.knowledge.store_marks import GONE, TRIAL

__all__ = ["Changing"]


class Changing(Asking):
    """The changes of a store other than stating things; `KnowledgeStore` inherits them.

    Each returns {id: (status before, status now)} of what it changed, when it changes statuses.

    Example:
        >>> from surefoot.knowledge.store import KnowledgeStore
        >>> issubclass(KnowledgeStore, Changing)
        True
    """

    def retract(
        self, id: str, *, only_from: str | None = None, by: str | None = None, why: Any = None
    ) -> dict[str, tuple[str, str]]:
        """Take back what was stated of an item, and with it everything that rests on it alone.

        What it refuted stands again. Afterwards all is as if it had never been stated.

        Args:
            id: the item.
            only_from: take back only what this writer stated.
            by: who takes it back.
            why: any plain value.

        Returns:
            {id: (status before, status now)} of what changed.

        Raises:
            UnknownItem: there is no such item.
            BadArgument: that writer never stated it.

        Cost: linear in the assertions of all that rests on it, directly or not, whatever the depth.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> egg = store.add("fact", {"s": "egg", "r": "is", "o": "fresh"}, source="person", by="Kim")
            >>> cake = store.add("fact", {"s": "cake", "r": "is", "o": "good"}, source="verified", derived_from=egg)
            >>> store.retract(egg)[cake]
            ('active', 'retracted')
        """
        fields = gate.about(by, why)
        writer = b"" if only_from is None else values.encode(gate.name(only_from, "only_from"))
        if writer:
            fields[b"only_from"] = writer

        def decide() -> tuple[str, bytes] | None:
            fold, item = self._fold, self._number(id)
            rows = fold.rows_of(item)
            if writer:
                number = fold.writer_id.get(writer, -1)
                rows = [row for row in rows if fold.row_by[row] == number]
                if not rows and not any(fold.row_by[row] == number for row in fold.gone_of(item)):
                    raise BadArgument(f"{only_from!r} never stated {fold.id_of(item)[:12]}: see why(id)")
            fields[b"id"] = values.encode(fold.id_of(item))
            return ("retract", gate.joined(fields)) if rows else None

        return self._record(decide)

    def forget(self, writer: str, *, by: str | None = None, why: Any = None) -> dict[str, tuple[str, str]]:
        """Take back everything that one writer stated so far, and with it all that rests on that alone.

        Raises:
            BadArgument: nobody of that name ever stated anything.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> id = store.add("fact", {"s": "door", "r": "opens", "o": "north"}, source="spec", by="an old plan")
            >>> store.forget("an old plan") == {id: ("active", "retracted")}
            True
        """
        fields = gate.about(by, why)
        fields[b"writer"] = values.encode(gate.name(writer, "writer"))

        def decide() -> tuple[str, bytes] | None:
            rows = self._fold.rows_by(fields[b"writer"])
            if not rows:
                raise BadArgument(f"nobody called {writer!r} ever stated anything here")
            live = any(not self._fold.row_bits[row] & GONE for row in rows)
            return ("forget", gate.joined(fields)) if live else None

        return self._record(decide)

    def flag(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        scope: Any = ...,
        key: Key | tuple[Any, Any, Any] | None = None,
        why: Any = None,
        by: str | None = None,
    ) -> int:
        """Doubt what is known so far, of some items, in a scope, or of a key; return the flag's number.

        Each is a hypothesis until an outcome or a person states it again, or the flag ends. What is stated for the
        first time later is not doubted.

        Args:
            ids: the items.
            scope: everything in exactly this scope; None: what has none.
            key: everything about this key, see `resolve`.
            why: any plain value.
            by: who.

        Raises:
            UnknownItem: there is no such item or key.
            BadArgument: not exactly one of `ids`, `scope` and `key` is given.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> id = store.add("fact", {"s": "door", "r": "opens", "o": "north"}, "level 1", source="spec")
            >>> flag = store.flag(scope="level 1", why="an earthquake")
            >>> store.get(id).status, store.end_flag(flag) == {id: ("hypothesis", "active")}
            ('hypothesis', True)
        """
        if (ids is not None) + (scope is not ...) + (key is not None) != 1:
            raise BadArgument("flag(...) needs exactly one of ids, scope and key")
        fields = gate.about(by, why)
        wanted = () if ids is None else gate.ids_of(ids, "ids")
        if ids is not None and not wanted:
            raise BadArgument("flag(ids) needs at least one id")
        if scope is not ...:
            fields[b"scope"] = values.encode(scope)
        flagged = -1

        def decide() -> tuple[str, bytes]:
            nonlocal flagged
            flagged = self._read
            if wanted:
                items = dict.fromkeys(map(self._number, wanted))
                fields[b"ids"] = b'["%b"]' % b'","'.join(self._fold.id_of(item).encode() for item in items)
            if key is not None:
                where, s, r = (values.encode(part) for part in gate.key_of(key))
                if name_of(s, r, where) not in self._fold.key_id:
                    raise UnknownItem(f"nothing is known about {tuple(gate.key_of(key))!r}")
                fields[b"key"] = b'{"r":%b,"s":%b,"scope":%b}' % (r, s, where)
            return "flag", gate.joined(fields)

        self._record(decide)
        return flagged

    def end_flag(self, flag: int, *, by: str | None = None, why: Any = None) -> dict[str, tuple[str, str]]:
        """Take a doubt back; see `flag`.

        Raises:
            UnknownItem: no flag of that number stands.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> KnowledgeStore().end_flag(3)
            Traceback (most recent call last):
            surefoot.errors.UnknownItem: no flag 3 stands; those that do: []
        """
        fields = gate.about(by, why)

        def decide() -> tuple[str, bytes]:
            if type(flag) is not int or flag not in self._fold.flags:
                raise UnknownItem(f"no flag {flag!r} stands; those that do: {sorted(self._fold.flags)}")
            fields[b"flag"] = b"%d" % flag
            return "end_flag", gate.joined(fields)

        return self._record(decide)

    def tick(self, k: int = 1) -> dict[str, tuple[str, str]]:
        """Let `k` ticks pass; what has not been confirmed for its `reconfirm_after` is expired.

        Raises:
            BadArgument: `k` is not an int >= 1.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> id = store.add("fact", {"s": "bus", "r": "is", "o": "late"}, source="person", reconfirm_after=2)
            >>> store.tick(), store.tick() == {id: ("active", "expired")}
            ({}, True)
        """
        data = b'{"k":%d}' % gate.at_least_one(k, "k")
        return self._record(lambda: ("tick", data))

    def promote(self, id: str, *, by: str | None = None, why: Any = None) -> dict[str, tuple[str, str]]:
        """Put an item in force that was on trial or retired; anything else is no entry.

        Raises:
            UnknownItem: there is no such item.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> skill = store.add("skill", {"do": ["jump"]}, source="verified", trial=True)
            >>> store.promote(skill) == {skill: ("hypothesis", "active")}, store.promote(skill)
            (True, {})
        """
        fields = gate.about(by, why)

        def decide() -> tuple[str, bytes] | None:
            fold, item = self._fold, self._number(id)
            marks = fold.marks.get(item)
            on_trial = any(fold.row_bits[row] & TRIAL for row in fold.rows_of(item))
            needed = marks.retired or (on_trial and not marks.promoted) if marks is not None else on_trial
            fields[b"id"] = values.encode(fold.id_of(item))
            return ("promote", gate.joined(fields)) if needed else None

        return self._record(decide)

    def retire(self, id: str, *, by: str | None = None, why: Any = None) -> dict[str, tuple[str, str]]:
        """Take an item out of use without saying that it is wrong: it is expired until `promote`.

        Raises:
            UnknownItem: there is no such item.

        Example:
            >>> from surefoot.knowledge.store import KnowledgeStore
            >>> store = KnowledgeStore()
            >>> skill = store.add("skill", {"do": ["jump"]}, source="verified")
            >>> store.retire(skill) == {skill: ("active", "expired")}, store.retire(skill)
            (True, {})
        """
        fields = gate.about(by, why)

        def decide() -> tuple[str, bytes] | None:
            item = self._number(id)
            marks = self._fold.marks.get(item)
            fields[b"id"] = values.encode(self._fold.id_of(item))
            return None if marks is not None and marks.retired else ("retire", gate.joined(fields))

        return self._record(decide)

    def _record(self, decide: Callable[[], tuple[str, bytes] | None]) -> dict[str, tuple[str, str]]:
        """Record what is decided, apply it, and return what it changed."""
        changed: dict[int, int] = {}
        decided: tuple[str, bytes] | None = None

        def remember() -> tuple[str, bytes] | None:
            nonlocal decided
            decided = decide()
            return decided

        def apply(seq: int) -> None:
            assert decided is not None  # else there is no entry to apply
            fold = self._fold
            fold.changed = changed
            try:
                fold.takers()[decided[0]](decided[1], seq)
            finally:
                fold.changed = None

        with self._lock:
            self._change(remember, apply)
            fold = self._fold
            return {
                fold.id_of(item): (STATUSES[was], STATUSES[fold.status[item]])
                for item, was in changed.items()
                if was != fold.status[item]
            }
