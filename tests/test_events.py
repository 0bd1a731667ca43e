"""What can be recorded, and how old kinds are read."""

from __future__ import annotations

import pytest

from surefoot import values
from surefoot.errors import UnknownFormat
from surefoot.events import KINDS, UPCASTERS, event_of

FULL = {
    "map": {"hypothesis_cost": 3, "name": None, "stale_after": None, "stale_visits": 4, "stochastic": True},
    "visit": {"state": "s", "facts": {"title": "T"}, "step": 1},
    "see": {"state": (1, 2), "action": {"name": "go"}, "to": "t", "step": "x"},
    "told": {"state": "s", "action": "a", "to": "t", "source": "told", "by": "Kim", "quote": "q", "step": 2},
    "arrive": {"state": "s", "action": "a", "to": 2**70, "refutes": {"to": "u"}, "step": 3},
    "refuse": {"state": "s", "action": "a", "why": "no", "step": 4},
    "drop": {"why": "new", "states": ("s",), "step": 5},
    "merge": {"event": {"state": 1}, "hash": "ab", "map": None, "of": "visit", "seq": 0},
}


def test_every_kind_is_here() -> None:
    assert set(FULL) == set(KINDS)
    assert not set(UPCASTERS) & set(KINDS)


@pytest.mark.parametrize("kind", sorted(FULL))
def test_an_event_is_what_was_recorded(kind: str) -> None:
    event = event_of(kind, values.encode(FULL[kind]))
    assert event.kind == kind
    assert event.fields == FULL[kind]
    assert event.encode() == values.encode(FULL[kind])


@pytest.mark.parametrize(
    ("kind", "raw", "message"),
    [
        ("see", b"{}", "missing required field"),
        ("see", b'{"state":1,"action":2,"colour":3}', "unknown field"),
        ("see", b"[]", "not the data of a 'see' event"),
        ("see", b"{", "not the data"),
        ("dance", b"{}", "no event of kind 'dance' is known"),
    ],
)
def test_what_is_no_event_is_refused(kind: str, raw: bytes, message: str) -> None:
    with pytest.raises(UnknownFormat, match=message):
        event_of(kind, raw)


def test_a_retired_kind_is_upcast_and_may_be_upcast_again() -> None:
    old = {
        "v0": lambda data: ("v1", {"at": data["here"]}),
        "v1": lambda data: ("visit", {"state": data["at"]}),
    }
    assert event_of("v0", b'{"here":(1)}'.replace(b"(1)", b"1"), upcasters=old).fields == {"state": 1}
