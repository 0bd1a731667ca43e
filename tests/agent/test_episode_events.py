from __future__ import annotations

import msgspec
import pytest

from surefoot import values
from surefoot.agent import episode_events as events


def test_each_event_is_encoded_as_the_gate_would_and_comes_back() -> None:
    raw = msgspec.Raw(b'["hall",1]')
    made = [
        events.Configured(),
        events.Began(0, "main", None, raw),
        events.sealed(0, 1, "2:ab", raw, raw, raw, "fast", "way", raw, None, "so"),
        events.Came(0, 1, "refused", raw, False, ("wood",), True, "locked"),
        events.Over(0, "done", "it is over"),
        events.Learned("ab", 3, msgspec.Raw(b"{}"), msgspec.Raw(b"[]")),
        events.Recognised("main", msgspec.Raw(b"{}")),
    ]
    for event in made:
        data = event.encode()
        assert values.encode(values.decode(data)) == data
        assert msgspec.json.decode(data, type=type(event)) == event


@pytest.mark.parametrize("field", [name for name in events.Decided.__struct_fields__ if name != "seal"])
def test_the_seal_covers_every_field(field: str) -> None:
    raw = msgspec.Raw(b"0")
    one = events.sealed(0, 1, "2:ab", raw, raw, raw, "fast", "way", raw, "wood", "so", raw, raw)
    given = getattr(one, field)
    changed = {int: 9, str: "other"}.get(type(given), msgspec.Raw(b"1"))
    assert events.seal_of(msgspec.structs.replace(one, **{field: changed})) != one.seal


def test_a_sealed_decision_is_encoded_as_any_other() -> None:
    raw = msgspec.Raw(b"[0]")
    one = events.sealed(0, 1, "2:ab", raw, raw, raw, "fast", "way", raw, None, "so", raw)
    at_hand = one.encode()
    events.sealed(0, 2, "2:ab", raw, raw, raw, "fast", "way", raw, None, "so", raw)
    assert one.encode() == at_hand
    assert values.encode(values.decode(at_hand)) == at_hand
    changed = msgspec.structs.replace(one, why="not so")
    assert changed.encode() != at_hand


def test_the_seal_keeps_the_borders_between_fields() -> None:
    raw = msgspec.Raw(b"0")
    one = events.sealed(0, 1, "2:ab", raw, raw, raw, "fast", "way", raw, "a", "b")
    other = events.sealed(0, 1, "2:ab", raw, raw, raw, "fast", "way", raw, 'a"\n"b', "b")
    assert one.seal != other.seal
