"""Long lists of options: recorded whole once, later as what differs from the list before in the same state.

A page of 13,000 links has a list of 4 MB, of which a visit changes a few rows. A decision there holds, in place of the
list, `{"of": seal, "rows": [...]}`: the seal of the decision whose list it varies, and in order what its own list is
made of, rows that are new and runs `[first, count]` of the other's. Since a decision's seal covers its options, the
chain of seals vouches for every row.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from surefoot.agent.episode_events import Decided, seal_of

__all__ = ["FORMAT", "LONG", "Offers", "is_varied"]

FORMAT = 2
"""The format of an agent's events: 1 has every list whole, 2 may have varied ones.

Example:
    >>> FORMAT
    2
"""

LONG = 4_096
"""From how many bytes on a list is long: it is kept, and varied.

Example:
    >>> LONG
    4096
"""

_MOST = 1 << 26
"""How many bytes of lists are kept, the newest. Whoever reads has to keep no fewer than whoever wrote."""


class _Varied(msgspec.Struct, forbid_unknown_fields=True):
    """How a varied list is recorded."""

    of: str
    rows: list[msgspec.Raw]


class _Kept(msgspec.Struct):
    """The newest long list of a state."""

    seal: str
    rows: list[bytes]
    size: int


_whole = msgspec.json.Decoder(list[msgspec.Raw]).decode
_varied = msgspec.json.Decoder(_Varied).decode
_run = msgspec.json.Decoder(tuple[int, int]).decode


class Offers:
    """The newest long list of each state; a fold of decisions in the order in which they are recorded.

    Example:
        >>> from surefoot.agent.decision import Answer, Option, event_of
        >>> offers, sizes = Offers(), []
        >>> for seen in range(3):
        ...     options = tuple(Option(n, "accept" if n < seen else "unknown") for n in range(100))
        ...     event = event_of((0, seen, "0:0", b'"hall"'), ("",), options, Answer(None, "none", ""), offers=offers)
        ...     sizes.append(len(bytes(event.options)))
        ...     assert offers.take(event) == [option.encode() for option in options]
        >>> sizes[0] > 100 * 150, max(sizes[1:]) < 500
        (True, True)
    """

    __slots__ = ("_kept", "_size", "_written")

    def __init__(self) -> None:
        """Know no list."""
        self._kept: dict[bytes, _Kept] = {}
        self._size = 0
        self._written: tuple[bytes, list[bytes]] = b"", []

    def write(self, state: bytes, rows: list[bytes]) -> bytes:
        """Return how the options of the next decision in a state are recorded: whole, or varied.

        Args:
            state: where, encoded.
            rows: the options, encoded.

        Cost: linear in the list.
        """
        if sum(map(len, rows)) + len(rows) + 1 < LONG:
            return b"[%b]" % b",".join(rows)
        kept = self._kept.get(state)
        field = b"" if kept is None else _difference(kept, rows)
        if kept is None or 2 * len(field) > kept.size:
            field = b"[%b]" % b",".join(rows)
        self._written = field, rows
        return field

    def holds(self, event: Decided) -> bool:
        """Say whether a decision can be read: its list is whole, or varies the newest one of its state."""
        kept, field = self._kept.get(bytes(event.state)), bytes(event.options)
        if not is_varied(event):
            return True
        return kept is not None and field.startswith(b'{"of":"%b"' % kept.seal.encode())

    def whole(self, event: Decided) -> Decided:
        """Return the decision that was written last with its list whole: for when it can no longer be read as it is."""
        field, rows = self._written
        assert field == bytes(event.options)  # it is the one that was written last
        made = msgspec.structs.replace(event, options=msgspec.Raw(b"[%b]" % b",".join(rows)))
        return msgspec.structs.replace(made, seal=seal_of(made))

    def rows(self, event: Decided) -> Sequence[bytes]:
        """Return the options of the next decision, encoded.

        Raises:
            ValueError: it holds no list of options, or varies one that is not the newest of its state.
        """
        field, rows = self._written
        if field and field == bytes(event.options):
            return rows
        field = bytes(event.options)
        if not field.startswith(b"{"):
            return [bytes(row) for row in _whole(field)]
        varied, kept = _varied(field), self._kept.get(bytes(event.state))
        if kept is None or kept.seal != varied.of:
            raise ValueError(f"the options vary those of the decision sealed {varied.of!r}, not the newest list there")
        return _expanded(varied.rows, kept.rows)

    def take(self, event: Decided) -> Sequence[bytes] | None:
        """Take in a decision; return its options, encoded, where its list is long, and None where it is not.

        Raises:
            ValueError: see `rows`; nothing has changed.
        """
        if len(memoryview(event.options)) < LONG and not is_varied(event):
            return None
        rows = self.rows(event)
        size = sum(map(len, rows)) + len(rows) + 1
        state = bytes(event.state)
        old = self._kept.pop(state, None)
        self._kept[state] = _Kept(event.seal, list(rows), size)
        self._size += size - (0 if old is None else old.size)
        while self._size > _MOST and len(self._kept) > 1:
            self._size -= self._kept.pop(next(iter(self._kept))).size
        return rows

    def as_data(self) -> dict[str, str]:
        """Return the seal of the decision with the newest long list, by state."""
        return {state.decode(): kept.seal for state, kept in self._kept.items()}


def is_varied(event: Decided) -> bool:
    """Say whether the list of a decision is recorded as a variation of another.

    Example:
        >>> from surefoot.agent.decision import Answer, event_of
        >>> is_varied(event_of((0, 0, "0:0", b"1"), ("",), (), Answer(None, "none", "nothing left")))
        False
    """
    return bytes(memoryview(event.options)[:1]) == b"{"


def _difference(kept: _Kept, rows: list[bytes]) -> bytes:
    """Return how a list is recorded as a variation of another."""
    places = {row: place for place, row in enumerate(kept.rows)}
    parts: list[bytes] = []
    first = count = 0
    for row in rows:
        place = places.get(row)
        if count and place == first + count:
            count += 1
            continue
        if count:
            parts.append(b"[%d,%d]" % (first, count))
            count = 0
        if place is None:
            parts.append(row)
        else:
            first, count = place, 1
    if count:
        parts.append(b"[%d,%d]" % (first, count))
    return b'{"of":"%b","rows":[%b]}' % (kept.seal.encode(), b",".join(parts))


def _expanded(parts: list[msgspec.Raw], base: list[bytes]) -> list[bytes]:
    """Return the list that a variation stands for."""
    rows: list[bytes] = []
    for part in parts:
        raw = bytes(part)
        if not raw.startswith(b"["):
            rows.append(raw)
            continue
        first, count = _run(raw)
        if not (first >= 0 and count >= 1 and first + count <= len(base)):
            raise ValueError(f"the options take {count} rows from row {first} on of a list of {len(base)}")
        rows += base[first : first + count]
    return rows
