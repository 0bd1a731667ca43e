"""What a driver reads becomes a plain value, exactly."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

import pytest

from surefoot import values
from surefoot.environments.database.engine import Broke, Constraint, No, plain, rows_of

UUID = uuid.UUID(int=7)


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (True, True),
        (2**70, 2**70),
        (1.5, 1.5),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (Decimal("1.50"), "1.50"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), "2026-01-02T03:04:00+00:00"),
        (datetime.timedelta(hours=1), "1:00:00"),
        (UUID, str(UUID)),
        (memoryview(b"\x00\xff"), "\\x00ff"),
        ({"a": [Decimal(1), {"b": float("inf")}]}, {"a": ["1", {"b": "Infinity"}]}),
    ],
)
def test_every_value_becomes_a_plain_one(read: Any, value: Any) -> None:
    assert plain(read) == value
    assert type(plain(read)) is type(value)
    values.encode(plain(read))


def test_rows_are_mappings() -> None:
    assert rows_of(["a", "b"], [(1, Decimal(2)), (None, "x")]) == [{"a": 1, "b": "2"}, {"a": None, "b": "x"}]


def test_answers_say_what_they_are_in_words() -> None:
    assert No("23502", "t.a").reason == "23502 t.a"
    assert (Broke("40001", "try again").fault, Broke("", "gone").fault) == ("40001: try again", "gone")
    assert str(Constraint("t", "foreign key", ("a", "b"), "u (c, d)")) == "t (a, b): foreign key u (c, d)"
