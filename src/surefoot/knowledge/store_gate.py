"""What a knowledge store lets in: everything is checked and encoded here before it is recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.knowledge.items import (
    FACT,
    KINDS,
    REFUTED,
    RETRACTED,
    SOURCES,
    STATUSES,
    Interval,
    Key,
)
from surefoot.knowledge.store_columns import Columns, name_of
from surefoot.knowledge.store_competing import Details
from surefoot.knowledge.store_fold import StoreFold
from surefoot.knowledge.store_marks import ALWAYS, MAYBE, SURE, as_interval

__all__ = ["Content", "Statement", "content_of", "ids_of", "joined", "key_of", "registry", "statement"]

Fields = dict[bytes, bytes]
_PARTS = frozenset({"s", "r", "o"})


class Content(NamedTuple):
    """What an item says.

    Attributes:
        kind: an index into KINDS.
        name: the name of its key.
        value: a fact's value, encoded; nothing for others.
        fields: the part of its entry that says it.
        id: its id.

    Example:
        >>> content_of("rule", "stop at red", None).fields
        {b'body': b'"stop at red"', b'of': b'"rule"'}
    """

    kind: int
    name: bytes
    value: bytes
    fields: Fields
    id: str


class Statement(NamedTuple):
    """How somebody states it.

    Attributes:
        rank: an index into SOURCES.
        by: the writer's name, encoded; nothing when not said.
        fields: the part of its entry that says so.
        details: what few assertions have, still without other items.

    Example:
        >>> statement("person", "Kim", None, None, None, False).fields
        {b'source': b'"person"', b'by': b'"Kim"'}
    """

    rank: int
    by: bytes
    fields: Fields
    details: Details


def content_of(kind: str, body: Any, scope: Any) -> Content:
    """Return what an item says, encoded.

    Raises:
        BadArgument: there is no such kind, or the body is no fact's.
        ValueRejected: the body or the scope is not plain.

    Example:
        >>> content_of("fact", {"s": 1, "o": 2}, None)
        Traceback (most recent call last):
        surefoot.errors.BadArgument: a fact is {"s": subject, "r": relation, "o": value}, got {'s': 1, 'o': 2}
    """
    if kind not in KINDS:
        raise BadArgument(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    number = KINDS.index(kind)
    where = values.encode(scope)
    fields = {} if where == b"null" else {b"scope": where}
    if number != FACT:
        encoded = values.encode(body)
        fields |= {b"body": encoded, b"of": values.encode(kind)}
        id_ = _digest(kind, encoded, where)
        return Content(number, b"%b\n%b\n%b" % (kind.encode(), encoded, where), b"", fields, id_)
    if not isinstance(body, Mapping) or set(body) != _PARTS:
        raise BadArgument(f'a fact is {{"s": subject, "r": relation, "o": value}}, got {body!r}')
    s, r, o = values.encode(body["s"]), values.encode(name(body["r"], "the relation r")), values.encode(body["o"])
    fields |= {b"s": s, b"r": r, b"o": o}
    id_ = _digest(kind, b'{"o":%b,"r":%b,"s":%b}' % (o, r, s), where)
    return Content(number, name_of(s, r, where), o, fields, id_)


def _digest(kind: str, body: bytes, scope: bytes) -> str:
    return hashlib.sha256(b'["%b",%b,%b]' % (kind.encode(), body, scope)).hexdigest()


def statement(
    source: str, by: str | None, evidence: Any, valid: Interval | None, reconfirm_after: int | None, trial: bool
) -> Statement:
    """Return how an item is stated, encoded.

    Raises:
        BadArgument: an argument is out of its range.
        ValueRejected: the evidence is not plain.

    Example:
        >>> statement("rumour", None, None, None, None, False)
        Traceback (most recent call last):
        surefoot.errors.BadArgument: source must be one of outcome, person, spec, verified, got 'rumour'
    """
    if source not in SOURCES:
        raise BadArgument(f"source must be one of {', '.join(reversed(SOURCES))}, got {source!r}")
    fields = {b"source": values.encode(source)}
    if by is not None:
        fields[b"by"] = values.encode(name(by, "by"))
    if evidence is not None:
        fields[b"evidence"] = values.encode(evidence)
    when = _interval(valid)
    if when is not None:
        fields[b"valid"] = values.encode(when)
    if reconfirm_after is not None:
        fields[b"reconfirm_after"] = b"%d" % at_least_one(reconfirm_after, "reconfirm_after")
    if type(trial) is not bool:
        raise BadArgument(f"trial must be True or False, got {trial!r}")
    if trial:
        fields[b"trial"] = b"true"
    details = Details(valid=when, reconfirm_after=reconfirm_after or 0, trial=trial)
    return Statement(SOURCES.index(source), fields.get(b"by", b""), fields, details)


def entry_of(fold: Columns, content: Content, said: Statement, details: Details) -> tuple[str, bytes]:
    """Return the kind and the data of the entry that records a statement."""
    fields = content.fields | said.fields
    for field, items in ((b"derived_from", details.premises), (b"supersedes", details.supersedes)):
        if items:
            fields[field] = b'["%b"]' % b'","'.join(fold.id_of(item).encode() for item in items)
    return "fact" if content.kind == FACT else "item", joined(fields)


def joined(fields: Fields) -> bytes:
    """Return an object of encoded fields, in the order of an entry.

    Example:
        >>> joined({b"b": b"1", b"a": b'"x"'})
        b'{"a":"x","b":1}'
    """
    return b"{%b}" % b",".join(b'"%b":%b' % field for field in sorted(fields.items()))


def about(by: str | None, why: Any) -> Fields:
    """Return the fields that say who changes something, and why."""
    fields = {} if by is None else {b"by": values.encode(name(by, "by"))}
    return fields if why is None else fields | {b"why": values.encode(why)}


def premises(fold: StoreFold, items: list[int], content: Content) -> tuple[int, ...]:
    """Return what a statement rests on, each once.

    Raises:
        BadArgument: one of them is the item itself, or does not hold.
    """
    for item in items:
        id_ = fold.id_of(item)
        if id_ == content.id:
            raise BadArgument(f"derived_from: {id_[:12]} would rest on itself; leave it out")
        if fold.status[item] in (RETRACTED, REFUTED):
            raise BadArgument(f"derived_from: {id_[:12]} is {STATUSES[fold.status[item]]}; see why({id_[:12]!r})")
    return tuple(dict.fromkeys(items))


def replaced(fold: StoreFold, items: list[int], content: Content, said: Statement) -> tuple[int, ...]:
    """Return what a statement supersedes, each once.

    Raises:
        BadArgument: one of them is the item itself, of another kind, or stated by something stronger.
    """
    for item in items:
        id_ = fold.id_of(item)
        if id_ == content.id:
            raise BadArgument(f"supersedes: {id_[:12]} would supersede itself; leave it out")
        if fold.item_kind[item] != content.kind:
            kinds = KINDS[content.kind], KINDS[fold.item_kind[item]]
            raise BadArgument(f"supersedes: a {kinds[0]} cannot supersede {id_[:12]}, which is a {kinds[1]}")
        if content.kind == FACT and fold.key_name[fold.item_key[item]] != content.name:
            raise BadArgument(f"supersedes: {id_[:12]} is a fact about something else; retract it where it is wrong")
        alive = [fold.row_rank[row] for row in fold.rows_of(item) if fold.row_bits[row] & (SURE | MAYBE)]
        if max(alive, default=0) > said.rank:
            raise BadArgument(
                f"supersedes: {id_[:12]} is stated by {SOURCES[max(alive)]!r}, which is stronger than "
                f"{SOURCES[said.rank]!r}; state it without supersedes"
            )
    return tuple(dict.fromkeys(items))


def refuse_self_defeat(fold: StoreFold, content: Content, said: Statement, details: Details) -> None:
    """Refuse a statement that would refute what it rests on.

    Raises:
        BadArgument: it would.

    Cost: constant, unless something rests on what it refutes; then what adding it and taking it out again cost.
    """
    k = fold.key_id.get(content.name, -1)
    mine = -1 if k < 0 else fold.item_with(k, content.value)
    rivals = [item for item in (*fold.items_of(k), *details.supersedes) if item != mine]
    if not any(item in fold.uses for item in rivals):
        return
    before = fold.size()
    row = fold.add(content.name, content.kind, content.value, said.rank, said.by, -1, details)
    alive = fold.row_bits[row] & SURE
    fallen = [premise for premise in details.premises if not fold.item_bits[premise] & SURE]
    fold.undo(before)
    if not alive and fallen:
        names = ", ".join(fold.id_of(premise)[:12] for premise in fallen)
        raise BadArgument(f"{content.id[:12]} would refute what it rests on: {names} would fall with it")


def newest_that_still_says_all(fold: StoreFold, content: Content, details: Details) -> int:
    """Return the entry of an item's newest assertion, -1 where something happened since that a repeat answers."""
    k = fold.key_id.get(content.name, -1)
    item = -1 if k < 0 else fold.item_with(k, content.value)
    row = -1 if item < 0 else fold.item_row[item]
    if row < 0 or any(fold.item_row[other] > row for other in fold.items_of(k)):
        return -1
    if any(later > row for later in fold.superseders.get(item, ())):
        return -1
    if any(fold.item_row[other] > row for other in details.supersedes):
        return -1
    marks = fold.marks.get(item)
    if marks is not None and marks.flags and fold.flags[marks.flags[-1]].rows > row:
        return -1
    if details.reconfirm_after and fold.fades.get(row) != fold.clock + details.reconfirm_after:
        return -1
    return fold.row_seq[row]


def hull(fold: Columns, item: int) -> Interval | None:
    """Return the smallest interval that holds those of an item's alive assertions; None: always."""
    alive = [row for row in fold.rows_of(item) if fold.row_bits[row] & (SURE | MAYBE)]
    spans = [fold.spans.get(row, ALWAYS) for row in alive]
    return as_interval((min(since for since, _ in spans), max(until for _, until in spans)))


def registry(writers: Mapping[str, str | Iterable[str]]) -> dict[str, frozenset[str]]:
    """Return who may write with which sources.

    Raises:
        BadArgument: a name is no text, or a source is none.

    Example:
        >>> registry({"Kim": "person"})
        {'Kim': frozenset({'person'})}
    """
    if not isinstance(writers, Mapping):
        raise BadArgument(f"writers must map names to sources, got {writers!r}")
    found = {}
    for writer, sources in writers.items():
        allowed = frozenset([sources] if isinstance(sources, str) else sources)
        if not allowed <= set(SOURCES):
            raise BadArgument(
                f"the sources of {writer!r} must be among {', '.join(reversed(SOURCES))}, got {sources!r}"
            )
        found[name(writer, "a writer")] = allowed
    return found


def ids_of(ids: str | Iterable[str], argument: str) -> tuple[str, ...]:
    """Return ids as given: one, or several.

    Raises:
        BadArgument: they are no ids.

    Example:
        >>> ids_of("ab12", "ids"), ids_of(["ab", "cd"], "ids")
        (('ab12',), ('ab', 'cd'))
    """
    if ids == ():
        return ()
    if isinstance(ids, str):
        return (ids,)
    if isinstance(ids, Iterable) and not isinstance(ids, bytes | Mapping):
        given = tuple(ids)
        if all(isinstance(id_, str) for id_ in given):
            return given
    raise BadArgument(f"{argument} must be an id or a collection of ids, got {ids!r}")


def key_of(key: Key | tuple[Any, Any, Any]) -> Key:
    """Return a key.

    Raises:
        BadArgument: it is none.

    Example:
        >>> key_of((None, "door", "opens"))
        Key(scope=None, s='door', r='opens')
    """
    if not isinstance(key, tuple) or len(key) != 3 or not isinstance(key[2], str):
        raise BadArgument(f"a key is (scope, subject, relation), got {key!r}")
    return Key(*key)


def name(text: object, argument: str) -> str:
    """Return a name.

    Raises:
        BadArgument: it is no text, or empty.
    """
    if not isinstance(text, str) or not text:
        raise BadArgument(f"{argument} must be a non-empty str, got {text!r}")
    return text


def at_least_one(number: object, argument: str) -> int:
    """Return a count.

    Raises:
        BadArgument: it is no int, or less than one, or too large to count to.
    """
    if type(number) is not int or not 1 <= number < 2**53:
        raise BadArgument(f"{argument} must be an int >= 1, got {number!r}")
    return number


def _interval(valid: Any) -> Interval | None:
    """Return an interval, None for one that is open on both sides."""
    if valid is None:
        return None
    if not isinstance(valid, tuple | list) or len(valid) != 2 or not all(map(_is_moment, valid)):
        raise BadArgument(f"valid must be (since, until), finite numbers or None, got {valid!r}")
    since, until = valid
    if since is not None and until is not None and not since < until:
        raise BadArgument(f"valid must begin before it ends, got {valid!r}")
    return None if since is None and until is None else (since, until)


def _is_moment(moment: Any) -> bool:
    if moment is None:
        return True
    return type(moment) in (int, float) and moment - moment == 0
