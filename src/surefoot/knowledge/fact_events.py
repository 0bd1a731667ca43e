"""What can be recorded in a knowledge store: one frozen type an event.

As in `surefoot.events`, the values inside are kept in their encoding, the kinds are a format, and what is written today
is read for ever. Optional fields are left out when they say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from surefoot import values
from surefoot.errors import UnknownFormat
from surefoot.events import Event

__all__ = [
    "FACT_KINDS",
    "FactStated",
    "FlagEnded",
    "Flagged",
    "FlaggedKey",
    "Forgotten",
    "ItemStated",
    "Promoted",
    "Resolved",
    "Retired",
    "Retracted",
    "Ticked",
    "fact_event_of",
    "read_event",
]

_ABSENT = msgspec.Raw(b"")


class FactStated(Event, frozen=True, gc=False):
    """Somebody states a fact.

    Attributes:
        s, r, o: the subject, the relation (text), the value.
        source: "outcome", "person", "spec" or "verified".
        scope: where it applies; absent for null.
        by: who; absent when not said.
        evidence: any plain value; absent when none was given.
        derived_from: the ids of what it rests on, an array; absent for nothing.
        supersedes: the ids of what it replaces, an array; absent for nothing.
        valid: [since, until], numbers or null; absent: always.
        reconfirm_after: after how many ticks it is too old; absent: never.
        trial: true when it counts only after a promotion; absent otherwise.

    Example:
        >>> fact_event_of("fact", b'{"o":"north","r":"opens","s":"door","source":"outcome"}').fields
        {'s': 'door', 'r': 'opens', 'o': 'north', 'source': 'outcome'}
    """

    kind: ClassVar[str] = "fact"
    s: msgspec.Raw
    r: msgspec.Raw
    o: msgspec.Raw
    source: msgspec.Raw
    scope: msgspec.Raw = _ABSENT
    by: msgspec.Raw = _ABSENT
    evidence: msgspec.Raw = _ABSENT
    derived_from: msgspec.Raw = _ABSENT
    supersedes: msgspec.Raw = _ABSENT
    valid: msgspec.Raw = _ABSENT
    reconfirm_after: msgspec.Raw = _ABSENT
    trial: msgspec.Raw = _ABSENT


class ItemStated(Event, frozen=True, gc=False):
    """Somebody states a rule, a skill, an action or an episode.

    Attributes:
        of: its kind.
        body: its content.
        source, scope, by, evidence, derived_from, supersedes, valid, reconfirm_after, trial: as in `FactStated`.

    Example:
        >>> fact_event_of("item", b'{"body":{"if":"red"},"of":"rule","source":"person"}').fields["body"]
        {'if': 'red'}
    """

    kind: ClassVar[str] = "item"
    of: msgspec.Raw
    body: msgspec.Raw
    source: msgspec.Raw
    scope: msgspec.Raw = _ABSENT
    by: msgspec.Raw = _ABSENT
    evidence: msgspec.Raw = _ABSENT
    derived_from: msgspec.Raw = _ABSENT
    supersedes: msgspec.Raw = _ABSENT
    valid: msgspec.Raw = _ABSENT
    reconfirm_after: msgspec.Raw = _ABSENT
    trial: msgspec.Raw = _ABSENT


class Resolved(Event, frozen=True):
    """A person says which of the values in dispute is right.

    Example:
        >>> fact_event_of("resolve", b'{"by":"Kim","o":"north","r":"opens","s":"door"}').fields["by"]
        'Kim'
    """

    kind: ClassVar[str] = "resolve"
    s: msgspec.Raw
    r: msgspec.Raw
    o: msgspec.Raw
    by: msgspec.Raw
    scope: msgspec.Raw = _ABSENT
    valid: msgspec.Raw = _ABSENT
    why: msgspec.Raw = _ABSENT


class Retracted(Event, frozen=True):
    """What was stated of an item is taken back, by everybody or by one writer.

    Example:
        >>> fact_event_of("retract", b'{"id":"ab","only_from":"scanner"}').fields
        {'id': 'ab', 'only_from': 'scanner'}
    """

    kind: ClassVar[str] = "retract"
    id: msgspec.Raw
    only_from: msgspec.Raw = _ABSENT
    by: msgspec.Raw = _ABSENT
    why: msgspec.Raw = _ABSENT


class Forgotten(Event, frozen=True):
    """Everything that one writer stated so far is taken back.

    Example:
        >>> fact_event_of("forget", b'{"writer":"scanner"}').fields
        {'writer': 'scanner'}
    """

    kind: ClassVar[str] = "forget"
    writer: msgspec.Raw
    by: msgspec.Raw = _ABSENT
    why: msgspec.Raw = _ABSENT


class Flagged(Event, frozen=True):
    """What is known so far is in doubt: of some items, of a key, or in a scope; one of the three is present.

    Attributes:
        ids: an array of ids.
        key: {"r", "s", "scope"}.
        scope: a scope, compared exactly.
        why, by: why, and who says so.

    Example:
        >>> fact_event_of("flag", b'{"scope":"shop","why":"a new release"}').fields
        {'scope': 'shop', 'why': 'a new release'}
    """

    kind: ClassVar[str] = "flag"
    ids: msgspec.Raw = _ABSENT
    key: msgspec.Raw = _ABSENT
    scope: msgspec.Raw = _ABSENT
    by: msgspec.Raw = _ABSENT
    why: msgspec.Raw = _ABSENT


class FlaggedKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The key of a flag.

    Example:
        >>> bytes(msgspec.json.decode(b'{"r":"opens","s":"door","scope":null}', type=FlaggedKey).s)
        b'"door"'
    """

    r: msgspec.Raw
    s: msgspec.Raw
    scope: msgspec.Raw


class FlagEnded(Event, frozen=True):
    """A doubt is taken back.

    Attributes:
        flag: the entry that raised it.
        why, by: why, and who says so.

    Example:
        >>> fact_event_of("end_flag", b'{"flag":7}').fields
        {'flag': 7}
    """

    kind: ClassVar[str] = "end_flag"
    flag: msgspec.Raw
    by: msgspec.Raw = _ABSENT
    why: msgspec.Raw = _ABSENT


class Ticked(Event, frozen=True):
    """So many ticks have passed.

    Example:
        >>> fact_event_of("tick", b'{"k":3}').fields
        {'k': 3}
    """

    kind: ClassVar[str] = "tick"
    k: msgspec.Raw


class Promoted(Event, frozen=True):
    """An item that was on trial, or retired, is in force.

    Example:
        >>> fact_event_of("promote", b'{"by":"Kim","id":"ab"}').fields
        {'id': 'ab', 'by': 'Kim'}
    """

    kind: ClassVar[str] = "promote"
    id: msgspec.Raw
    by: msgspec.Raw = _ABSENT
    why: msgspec.Raw = _ABSENT


class Retired(Event, frozen=True):
    """An item is out of use, without being wrong.

    Example:
        >>> fact_event_of("retire", b'{"id":"ab","why":"too slow"}').fields
        {'id': 'ab', 'why': 'too slow'}
    """

    kind: ClassVar[str] = "retire"
    id: msgspec.Raw
    by: msgspec.Raw = _ABSENT
    why: msgspec.Raw = _ABSENT


FACT_KINDS: Mapping[str, type[Event]] = {
    type_.kind: type_
    for type_ in (
        FactStated,
        ItemStated,
        Resolved,
        Retracted,
        Forgotten,
        Flagged,
        FlagEnded,
        Ticked,
        Promoted,
        Retired,
    )
}
"""The type of each kind.

Example:
    >>> FACT_KINDS["tick"].__name__
    'Ticked'
"""

_DECODERS = {kind: msgspec.json.Decoder(type_).decode for kind, type_ in FACT_KINDS.items()}


def read_event(kind: str, raw: bytes | msgspec.Raw) -> Event:
    """Return the event of a known kind.

    Raises:
        DecodeError: msgspec's; the data does not have its fields.

    Example:
        >>> read_event("tick", b'{"k":3}').fields
        {'k': 3}
    """
    try:
        return _DECODERS[kind](raw)
    except RecursionError:  # nested too deep for a parser that recurses
        given = values.decode(bytes(raw))
    wanted = FACT_KINDS[kind].__struct_fields__
    if not isinstance(given, dict) or not given.keys() <= set(wanted):
        raise msgspec.DecodeError("an object with other fields")
    try:
        return FACT_KINDS[kind](**{name: msgspec.Raw(values.encode(value)) for name, value in given.items()})
    except TypeError as error:
        raise msgspec.DecodeError(str(error)) from None


def fact_event_of(kind: str, raw: bytes | msgspec.Raw) -> Event:
    """Return the event that an entry of `kind` with the encoded data `raw` records.

    Raises:
        UnknownFormat: no such kind, or the data does not have its fields.

    Example:
        >>> fact_event_of("fact", b'{"o":1}')
        Traceback (most recent call last):
        surefoot.errors.UnknownFormat: not the data of a 'fact' event: Object missing required field `s`
    """
    if kind not in FACT_KINDS:
        raise UnknownFormat(f"no event of kind {kind!r} is known; it may need a newer version of surefoot")
    try:
        return read_event(kind, raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnknownFormat(f"not the data of a {kind!r} event: {error}") from None
