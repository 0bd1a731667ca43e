"""What can be recorded about a world: one frozen type an event.

Values inside an event are kept in their encoding (`surefoot.values`): what is stored is what was hashed, and nothing
that a caller changes afterwards can change it. `Event.fields` decodes them.

The kinds are a format: a kind that is written today is read for ever. When one has to change, the new layout gets a new
name and the old name gets an *upcaster* in `UPCASTERS`, which turns an old entry's data into today's event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec

from surefoot import values
from surefoot.errors import UnknownFormat

__all__ = [
    "KINDS",
    "UPCASTERS",
    "Arrived",
    "Configured",
    "Dropped",
    "Event",
    "Merged",
    "Refused",
    "Seen",
    "Told",
    "Visited",
    "event_of",
]

_ABSENT = msgspec.Raw(b"")


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that happened: the base of every event.

    Example:
        >>> isinstance(event_of("visit", b'{"state":1}'), Event)
        True
    """

    kind: ClassVar[str] = ""

    @property
    def fields(self) -> dict[str, Any]:
        """Return the event's data, decoded afresh, without what is absent."""
        raws = {name: bytes(getattr(self, name)) for name in self.__struct_fields__}
        return {name: values.decode(raw) for name, raw in raws.items() if raw}

    def encode(self) -> bytes:
        """Return the data of the entry that records this event."""
        raws = ((name, bytes(getattr(self, name))) for name in sorted(self.__struct_fields__))
        return b"{" + b",".join(b'"%b":%b' % (name.encode(), raw) for name, raw in raws if raw) + b"}"


class Configured(Event, frozen=True):
    """The settings of a map, as far as they change an answer.

    Attributes:
        hypothesis_cost: int >= 1, how many confirmed steps an unchecked claim counts as.
        name: the map's name, or null.
        stale_after: int >= 1 or null, after how many events a confirmed claim is doubtful.
        stale_visits: int >= 1 or null, after how many visits to its state.
        stochastic: whether one action may lead to several places.

    Example:
        >>> from surefoot.knowledge.settings import Settings
        >>> event_of("map", Settings().encode()).fields
        {'hypothesis_cost': 3, 'name': None, 'stale_after': None, 'stale_visits': None, 'stochastic': False}
    """

    kind: ClassVar[str] = "map"
    hypothesis_cost: msgspec.Raw
    name: msgspec.Raw
    stale_after: msgspec.Raw
    stale_visits: msgspec.Raw
    stochastic: msgspec.Raw


class Visited(Event, frozen=True):
    """The agent was in `state` and noticed `facts` there.

    Example:
        >>> event_of("visit", b'{"facts":{"title":"Home"},"state":"/"}').fields
        {'state': '/', 'facts': {'title': 'Home'}}
    """

    kind: ClassVar[str] = "visit"
    state: msgspec.Raw
    facts: msgspec.Raw = _ABSENT
    step: msgspec.Raw = _ABSENT


class Seen(Event, frozen=True):
    """The environment shows `action` on offer in `state`, and perhaps where it leads.

    Example:
        >>> event_of("see", b'{"action":"Billing","state":"/","to":"/billing"}').fields
        {'state': '/', 'action': 'Billing', 'to': '/billing'}
    """

    kind: ClassVar[str] = "see"
    state: msgspec.Raw
    action: msgspec.Raw
    to: msgspec.Raw = _ABSENT
    step: msgspec.Raw = _ABSENT


class Told(Event, frozen=True):
    """Somebody says where `action` leads.

    Attributes:
        source: "told" (a document, a sign), "human" (a person) or "seen".
        by: who, in words; absent when not said.
        quote: the words; absent when not given.

    Example:
        >>> event_of("told", b'{"action":"up","source":"human","state":1,"to":2}').fields["source"]
        'human'
    """

    kind: ClassVar[str] = "told"
    state: msgspec.Raw
    action: msgspec.Raw
    to: msgspec.Raw
    source: msgspec.Raw
    by: msgspec.Raw = _ABSENT
    quote: msgspec.Raw = _ABSENT
    step: msgspec.Raw = _ABSENT


class Arrived(Event, frozen=True):
    """`action` was taken in `state` and led to `to`.

    Attributes:
        refutes: what was believed when this was recorded and turned out wrong: {"source", "status", "to"}; for readers,
            since folding the events gives it again.

    Example:
        >>> event_of("arrive", b'{"action":"up","state":1,"to":2}').fields
        {'state': 1, 'action': 'up', 'to': 2}
    """

    kind: ClassVar[str] = "arrive"
    state: msgspec.Raw
    action: msgspec.Raw
    to: msgspec.Raw
    refutes: msgspec.Raw = _ABSENT
    step: msgspec.Raw = _ABSENT


class Refused(Event, frozen=True):
    """The environment did not take `action` in `state`.

    Example:
        >>> event_of("refuse", b'{"action":"open","state":"hall","why":"locked"}').fields["why"]
        'locked'
    """

    kind: ClassVar[str] = "refuse"
    state: msgspec.Raw
    action: msgspec.Raw
    why: msgspec.Raw = _ABSENT
    step: msgspec.Raw = _ABSENT


class Dropped(Event, frozen=True):
    """What was confirmed is in doubt: everywhere, or for the actions of `states`.

    Example:
        >>> event_of("drop", b'{"why":"a new release"}').fields
        {'why': 'a new release'}
    """

    kind: ClassVar[str] = "drop"
    why: msgspec.Raw = _ABSENT
    states: msgspec.Raw = _ABSENT
    step: msgspec.Raw = _ABSENT


class Merged(Event, frozen=True):
    """An event of another journal, taken over with its origin.

    Attributes:
        event: its data.
        hash: the hash of the entry it had there; two entries with one hash are one event.
        of: its kind.
        map: the name of the map it comes from, or null.
        seq: its place there.

    Example:
        >>> event_of("merge", b'{"event":{"state":1},"hash":"ab","map":null,"of":"visit","seq":0}').fields["of"]
        'visit'
    """

    kind: ClassVar[str] = "merge"
    event: msgspec.Raw
    hash: msgspec.Raw
    of: msgspec.Raw
    map: msgspec.Raw
    seq: msgspec.Raw


KINDS: Mapping[str, type[Event]] = {
    kind.kind: kind for kind in (Configured, Visited, Seen, Told, Arrived, Refused, Dropped, Merged)
}
"""The type of each kind.

Example:
    >>> KINDS["see"].__name__
    'Seen'
"""

UPCASTERS: Mapping[str, Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]] = {}
"""For each retired kind, the function from its data to today's (kind, data); none is retired yet.

Example:
    >>> sorted(UPCASTERS)
    []
"""

_DECODERS = {kind: msgspec.json.Decoder(type_).decode for kind, type_ in KINDS.items()}


def event_of(
    kind: str,
    raw: bytes | msgspec.Raw,
    *,
    upcasters: Mapping[str, Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]] = UPCASTERS,
) -> Event:
    """Return the event that an entry of `kind` with the encoded data `raw` records.

    Args:
        kind: the entry's kind, today's or a retired one.
        raw: the entry's encoded data.
        upcasters: how to read retired kinds.

    Raises:
        UnknownFormat: no such kind, or the data does not have its fields.

    Example:
        >>> old = {"went": lambda data: ("arrive", {"state": data["at"], "action": data["do"], "to": data["got"]})}
        >>> event_of("went", b'{"at":1,"do":"up","got":2}', upcasters=old).fields
        {'state': 1, 'action': 'up', 'to': 2}
        >>> event_of("dance", b"{}")
        Traceback (most recent call last):
        surefoot.errors.UnknownFormat: no event of kind 'dance' is known; it may need a newer version of surefoot
    """
    decoder = _DECODERS.get(kind)
    if decoder is None:
        if kind in upcasters:
            newer, data = upcasters[kind](values.decode(bytes(raw)))
            return event_of(newer, values.encode(data), upcasters=upcasters)
        raise UnknownFormat(f"no event of kind {kind!r} is known; it may need a newer version of surefoot")
    try:
        return decoder(raw)
    except RecursionError:
        return _event_deep(kind, bytes(raw))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnknownFormat(f"not the data of a {kind!r} event: {error}") from None


def _event_deep(kind: str, raw: bytes) -> Event:
    """Return an event with a value that is nested too deep for a parser that recurses."""
    try:
        return KINDS[kind](**{name: msgspec.Raw(values.encode(value)) for name, value in values.decode(raw).items()})
    except (TypeError, AttributeError) as error:
        raise UnknownFormat(f"not the data of a {kind!r} event: {error}") from None
