"""What an exported vocabulary is written in: terms and conditions as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.learners._induction.conditions import TESTS, WITH_PARAM
from surefoot.learners._induction.operations import field_of, reader_of
from surefoot.learners.vocabulary import MISSING

__all__ = ["MISSING", "field", "holds", "read"]

_NONE = object()


def field(value: Any, name: str, rank: int = 0) -> Any:
    """Return a part of a record, or of each of several (rank 1); `MISSING` where there is none.

    Example:
        >>> field({"a": 1}, "a"), field(({"a": 1}, {}), "a", 1), field(MISSING, "a")
        (1, (1, MISSING), MISSING)
    """
    if not rank:
        return MISSING if value is MISSING else field_of(value, name)
    return MISSING if value is MISSING else tuple([field_of(part, name) for part in value])


def read(op: str, values: Sequence[Any], ranks: Sequence[int], param: Any = None) -> Any:
    """Return what an operation on other values gives: one of those in `surefoot.learners._induction.operations`.

    Example:
        >>> read("get", [{"A": 5}, "A"], [0, 0])
        5
        >>> read("sum", [(1, 2)], [1])
        3
    """
    return reader_of(op, tuple(ranks), param, tuple(range(len(values))))(list(values))


def holds(kind: str, values: Sequence[Any], param: Any = _NONE) -> bool:
    """Say whether a condition holds on values.

    Example:
        >>> holds("le", [1, 2]), holds("domain", ["sent"], frozenset(["open"]))
        (True, False)
    """
    given = list(values)
    if kind in WITH_PARAM:
        given.append(param)
    return TESTS[kind](*given)
