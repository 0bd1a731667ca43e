"""Facts with their sources: what is known, who said so, what it rests on, and what falls when that is taken back.

```python
from surefoot.knowledge.store import KnowledgeStore

store = KnowledgeStore("facts.db")                       # made, or opened where it is
told = store.add("fact", {"s": "door", "r": "opens", "o": "north"}, source="spec", by="the plan")
seen = store.add("fact", {"s": "door", "r": "opens", "o": "south"}, source="outcome")  # refutes the plan
way = store.add("skill", {"do": ["open door", "go south"]}, source="verified", derived_from=[seen])
store.usable(way)                                        # may a decision rest on it?
store.retract(seen)                                      # the way falls too, and the plan stands again
print(store.why(told))
```

Sources have ranks: outcome, person, spec, verified. What happens when an assertion comes in:

| before | the same value | another value, stronger | of equal rank | weaker |
|---|---|---|---|---|
| nothing | | holds | holds | holds |
| a value that holds | confirms it | refutes it | both are disputed; an outcome refutes it | is refuted at once |
| values in dispute | stays disputed | ends the dispute | one side more | is refuted at once |

A person ends a dispute with `resolve`. An assertion that rests on others counts while each of them holds; what rests
on itself alone does not hold. Every change is an entry of a hash-chained journal before it is anything else.

What a store does not do: it draws no conclusions, it does not weigh many weak sources against a strong one, and it
does not know whether an assertion is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from surefoot import values
from surefoot.errors import BadArgument, UnknownItem
from surefoot.journal import Journal
from surefoot.knowledge import store_gate as gate
from surefoot.knowledge.items import DISPUTED, PERSON, SOURCES, Interval, Key
from surefoot.knowledge.projection import Path
from surefoot.knowledge.store_changing import Changing
from surefoot.knowledge.store_columns import name_of
from surefoot.knowledge.store_competing import Details
from surefoot.knowledge.store_marks import PRESENT, RESOLVES

__all__ = ["KnowledgeStore"]

_NOTHING = Details()


class KnowledgeStore(Changing):
    """What an agent knows, each piece with its sources and with what it rests on.

    Args:
        path: where its journal is kept: `.json` or `.jsonl` for a text file, anything else for SQLite; made when it
            is not there. None: in memory, until `save(path)`.
        journal: use this journal instead of opening one; the store's entries are those of `stream`.
        stream: the store's name inside the journal.
        clock: see `Journal`.
        writers: who may write, and with which source or sources: `{"the plan": "spec", "Kim": ("person", "spec")}`;
            None: anybody. It binds this object, not the journal.
        durability: "normal" or "full", see `open_journal`.
        repair: keep the whole entries of a file that ends in the middle of one, instead of refusing to open it.

    Raises:
        BadArgument: an argument is out of its range.
        BrokenChain, CutTail, UnknownFormat: the stored journal is not whole; each says where.

    Thread-safe; several stores (processes, too) may write to one SQLite or JSON file. Pickles and deep copies are
    independent stores in memory with the same history.

    Example:
        >>> store = KnowledgeStore()
        >>> plan = store.add("fact", {"s": "door", "r": "opens", "o": "north"}, source="spec", by="the plan")
        >>> seen = store.add("fact", {"s": "door", "r": "opens", "o": "south"}, source="outcome")
        >>> [(item.o, item.status) for item in store.find(s="door")]
        [('north', 'refuted'), ('south', 'active')]
        >>> store.retract(seen, why="the sensor was broken") == {
        ...     plan: ("refuted", "active"), seen: ("active", "retracted")}
        True
        >>> bool(store.verify())
        True
    """

    _writers: dict[str, frozenset[str]] | None = None

    def __init__(
        self,
        path: Path | None = None,
        *,
        journal: Journal | None = None,
        stream: str = "facts",
        clock: Callable[[], Any] | None = None,
        writers: Mapping[str, str | Iterable[str]] | None = None,
        durability: str = "normal",
        repair: bool = False,
    ) -> None:
        """Open or make the store; see the class."""
        self._writers = None if writers is None else gate.registry(writers)
        self._open(path, journal, stream, durability=durability, clock=clock, repair=repair)

    def add(
        self,
        kind: str,
        body: Any,
        scope: Any = None,
        *,
        source: str,
        by: str | None = None,
        evidence: Any = None,
        derived_from: str | Iterable[str] = (),
        supersedes: str | Iterable[str] = (),
        valid: Interval | None = None,
        reconfirm_after: int | None = None,
        trial: bool = False,
    ) -> str:
        """State an item, and return its id. The same statement again, when nothing happened since, is no entry.

        Args:
            kind: "fact", "rule", "skill", "action" or "episode".
            body: its content, any plain value; a fact has a subject, a relation (text) and a value:
                `{"s": …, "r": …, "o": …}`.
            scope: where it applies, any plain value; facts compete in one scope only.
            source: "outcome" (observed), "person", "spec" (written down) or "verified" (checked by a program).
            by: who states it.
            evidence: any plain value.
            derived_from: the ids of what it rests on: it counts as long as each of them holds.
            supersedes: the ids of what it replaces: items of the same kind, not stronger ones. Where its `valid` begins
                later than theirs, it closes them there instead.
            valid: (since, until), numbers of your own time or None, `until` excluded: only facts about overlapping
                times compete.
            reconfirm_after: int >= 1, after so many ticks without another assertion the item is expired.
            trial: it is a hypothesis until `promote`.

        Raises:
            BadArgument: an argument is out of its range; it would rest on itself, or on what is refuted or retracted;
                it would supersede something stronger; the writer may not use this source.
            UnknownItem: there is no item of an id given.
            ValueRejected: something is not plain. In each case nothing has changed.

        Cost: constant, about 25 µs in memory, unless something else rests on what it changes.

        Example:
            >>> store = KnowledgeStore()
            >>> one = store.add("fact", {"s": 1, "r": "is", "o": "one"}, source="spec", by="the manual")
            >>> store.add("fact", {"s": 1, "r": "is", "o": "one"}, source="outcome") == one, len(store)
            (True, 1)
        """
        content = gate.content_of(kind, body, scope)
        said = gate.statement(source, by, evidence, valid, reconfirm_after, trial)
        self._may_write(by, source)
        premises, replaced = gate.ids_of(derived_from, "derived_from"), gate.ids_of(supersedes, "supersedes")
        details: Details | None = None

        def decide() -> tuple[str, bytes] | None:
            nonlocal details
            fold, details = self._fold, said.details
            if premises or replaced:
                details = details._replace(
                    premises=gate.premises(fold, [self._number(id) for id in premises], content),
                    supersedes=gate.replaced(fold, [self._number(id) for id in replaced], content, said),
                )
            word, data = gate.entry_of(fold, content, said, details)
            if self._said_already(content, data, details):
                return None
            if details.premises:
                gate.refuse_self_defeat(fold, content, said, details)
            return word, data

        def apply(seq: int) -> None:
            some = details if details != _NOTHING else None
            fold = self._fold
            row = fold.add(content.name, content.kind, content.value, said.rank, said.by, seq, some)
            fold.keep_id(fold.row_item[row], content.id)
            self._indexed().keep_up()

        self._change(decide, apply)
        return content.id

    def _said_already(self, content: gate.Content, data: bytes, details: Details) -> bool:
        """Say whether the newest assertion of an item is this one, and repeating it would change nothing."""
        seq = gate.newest_that_still_says_all(self._fold, content, details)
        if seq < 0:
            return False
        (entry,) = self._journal.entries(seq, seq + 1)
        return bytes(entry.raw) == data

    def resolve(
        self, key: Key | tuple[Any, Any, Any], value: Any, *, by: str, why: Any = None
    ) -> dict[str, tuple[str, str]]:
        """Answer a question: `value` is the right one; earlier assertions of the other values are overruled.

        Args:
            key: what the question is about: its `key`, or a tuple (scope, s, r).
            value: one of the values somebody asserts.
            by: who says so.
            why: any plain value.

        Returns:
            {id: (status before, status now)} of what changed.

        Raises:
            BadArgument: nobody asserts that value, or nothing was ever in dispute there.
            UnknownItem: nothing is known about the key.

        Example:
            >>> store = KnowledgeStore()
            >>> for by, to in (("plan", "north"), ("sign", "south")):
            ...     _ = store.add("fact", {"s": "door", "r": "opens", "o": to}, source="spec", by=by)
            >>> sorted(store.resolve((None, "door", "opens"), "south", by="Kim").values())
            [('disputed', 'active'), ('disputed', 'refuted')]
        """
        self._may_write(by, SOURCES[PERSON])
        scope, s, r = (values.encode(part) for part in gate.key_of(key))
        o, name = values.encode(value), name_of(s, r, scope)
        fields = {b"by": values.encode(gate.name(by, "by")), b"o": o, b"r": r, b"s": s}
        if scope != b"null":
            fields[b"scope"] = scope
        if why is not None:
            fields[b"why"] = values.encode(why)

        def decide() -> tuple[str, bytes]:
            fold = self._fold
            k = fold.key_id.get(name, -1)
            if k < 0:
                raise UnknownItem(f"nothing is known about {tuple(gate.key_of(key))!r}: see questions()")
            present = [item for item in reversed(fold.items_of(k)) if fold.item_bits[item] & PRESENT]
            asserted = [values.decode(fold.item_value[item]) for item in present]
            if o not in [fold.item_value[item] for item in present]:
                raise BadArgument(
                    f"nobody asserts {value!r} of {tuple(gate.key_of(key))!r}, only {asserted}: add() it first"
                )
            answered = any(fold.row_bits[row] & RESOLVES for item in present for row in fold.rows_of(item))
            if not answered and not any(fold.status[item] == DISPUTED for item in present):
                raise BadArgument(
                    f"there is no question about {tuple(gate.key_of(key))!r}: see questions(), or add() a fact"
                )
            hull = gate.hull(fold, fold.item_with(k, o))
            if hull is not None:
                fields[b"valid"] = values.encode(hull)
            return "resolve", gate.joined(fields)

        return self._record(decide)

    def _may_write(self, by: str | None, source: str) -> None:
        """Refuse a writer who is not registered, or not with this source."""
        if self._writers is None:
            return
        allowed = self._writers.get(by) if isinstance(by, str) else None
        if allowed is None:
            raise BadArgument(f"by={by!r} may not write here: the writers are {sorted(self._writers)}")
        if source not in allowed:
            raise BadArgument(f"{by!r} may not write with the source {source!r}, only with {sorted(allowed)}")

    def _another(self, lines: list[bytes]) -> Self:
        made = super()._another(lines)
        made._writers = self._writers
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the history, and who may write."""
        return {**super().__getstate__(), "writers": self._writers}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Unpickle into memory, independent of the original."""
        self._writers = state["writers"]
        super().__setstate__(state)
