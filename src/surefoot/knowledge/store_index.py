"""Find items by what they say, in the time of the answer.

Each index is made the first time somebody asks by it, and afterwards only reads what is new: adding to a store that is
asked nothing costs nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from surefoot.knowledge.items import FACT
from surefoot.knowledge.store_columns import Columns, name_of

__all__ = ["Index", "Wanted"]


class Wanted:
    """What somebody asks for; None: anything.

    Attributes:
        kind, status: indexes into KINDS and STATUSES.
        s, r, o, scope: encoded.

    Example:
        >>> Wanted(s=b'"door"').s
        b'"door"'
    """

    __slots__ = ("kind", "o", "r", "s", "scope", "status")

    def __init__(
        self,
        *,
        kind: int | None = None,
        s: bytes | None = None,
        r: bytes | None = None,
        o: bytes | None = None,
        scope: bytes | None = None,
        status: int | None = None,
    ) -> None:
        """Ask."""
        self.kind, self.s, self.r, self.o, self.scope, self.status = kind, s, r, o, scope, status

    @property
    def factual(self) -> bool:
        """Say whether only a fact can be the answer."""
        return self.s is not None or self.r is not None or self.o is not None


class Index:
    """The ways into the columns of a store.

    Args:
        fold: the columns.

    Example:
        >>> from surefoot.knowledge.store_fold import StoreFold
        >>> Index(StoreFold()).find(Wanted(s=b'"door"'))
        []
    """

    def __init__(self, fold: Columns) -> None:
        """Index nothing yet."""
        self.fold = fold
        self._keys: dict[str, tuple[dict[bytes, list[int]], int]] = {}
        self._values: dict[bytes, list[int]] = {}
        self._valued = 0

    def find(self, wanted: Wanted) -> list[int]:
        """Return the items wanted, the oldest first.

        Cost: linear in the shortest list that one of the indexes gives: by subject, relation, both, value, scope, key,
        status or kind.
        """
        fold = self.fold
        if wanted.factual and wanted.kind not in (None, FACT):
            return []
        found = [item for item in self._candidates(wanted) if self._fits(item, wanted)]
        found.sort()
        return found if wanted.status is None else [item for item in found if fold.status[item] == wanted.status]

    def _candidates(self, wanted: Wanted) -> Iterable[int]:
        """Return a short list that holds every item wanted."""
        fold = self.fold
        if wanted.s is not None and wanted.r is not None and wanted.scope is not None:
            return fold.items_of(fold.key_id.get(name_of(wanted.s, wanted.r, wanted.scope), -1))
        keys: Sequence[int] | None = None
        if wanted.s is not None and wanted.r is not None:
            keys = self._by("s r", b"%b\n%b" % (wanted.s, wanted.r))
        elif wanted.s is not None:
            keys = self._by("s", wanted.s)
        elif wanted.r is not None:
            keys = self._by("r", wanted.r)
        if wanted.scope is not None and wanted.s is None:
            there = fold.keys_in(wanted.scope)
            keys = there if keys is None or len(there) < len(keys) else keys
        if wanted.o is not None:
            valued = self._with_value(wanted.o)
            if keys is None or len(valued) < len(keys):
                return valued
        if keys is not None:
            return [item for k in keys for item in fold.items_of(k)]
        bytes_ = [(fold.status, wanted.status), (fold.item_kind, wanted.kind)]
        ways = [(column, byte) for column, byte in bytes_ if byte is not None]
        if not ways:
            return range(len(fold.item_key))
        column, byte = min(ways, key=lambda way: way[0].count(way[1]))
        return _places(column, byte)

    def _fits(self, item: int, wanted: Wanted) -> bool:
        """Say whether an item is wanted, apart from its status."""
        fold = self.fold
        if wanted.kind is not None and fold.item_kind[item] != wanted.kind:
            return False
        if not wanted.factual and wanted.scope is None:
            return True
        s, r, scope = fold.key_name[fold.item_key[item]].split(b"\n")
        if wanted.scope is not None and scope != wanted.scope:
            return False
        if not wanted.factual:
            return True
        return (
            fold.item_kind[item] == FACT
            and wanted.s in (None, s)
            and wanted.r in (None, r)
            and wanted.o in (None, fold.item_value[item])
        )

    def keep_up(self) -> None:
        """Read what is new by subject, the way that is asked for most, so that no question has to wait for it."""
        self._read("s")

    def _by(self, way: str, what: bytes) -> Sequence[int]:
        """Return the keys of facts with a subject, a relation, or both."""
        return self._read(way).get(what, ())

    def _read(self, way: str) -> dict[bytes, list[int]]:
        table, read = self._keys.get(way, ({}, 0))
        names = self.fold.key_name
        for k in range(read, len(names)):
            s, r, _ = names[k].split(b"\n")
            table.setdefault(s if way == "s" else r if way == "r" else b"%b\n%b" % (s, r), []).append(k)
        self._keys[way] = table, len(names)
        return table

    def _with_value(self, value: bytes) -> Sequence[int]:
        """Return the facts with a value."""
        column = self.fold.item_value
        for item in range(self._valued, len(column)):
            self._values.setdefault(column[item], []).append(item)
        self._valued = len(column)
        return self._values.get(value, ())


def _places(column: bytearray, byte: int) -> Iterator[int]:
    """Iterate over the places of a byte: one scan of memory, a billion or so a second."""
    at = column.find(byte)
    while at >= 0:
        yield at
        at = column.find(byte, at + 1)
