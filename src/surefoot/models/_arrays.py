"""Arrays and values that nobody can change: how models take them, keep them and compare them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import values as _values
from surefoot.errors import BadModel, ValueRejected

__all__ = ["frozen", "frozen_now", "plain", "rows_with_repeats", "running_sum", "same", "whole"]


def frozen(values: Any, dtype: Any, what: str, shape: tuple[int | None, ...] = (None,)) -> NDArray[Any]:
    """Return a read-only array of `dtype`; what is already one is not copied.

    Raises:
        BadModel: it is no array of numbers, or its shape is another (None in `shape` is any length).
    """
    try:
        array = np.asarray(values)
        made = array.astype(dtype, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadModel(f"{what} must be an array of {np.dtype(dtype).name}: {error}") from None
    if array.dtype.kind not in _KINDS[np.dtype(dtype).kind] and array.size:
        raise BadModel(f"{what} must be an array of {np.dtype(dtype).name}, got {array.dtype.name}")
    if made.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, made.shape, strict=True)):
        wanted = " x ".join("any" if n is None else str(n) for n in shape)
        raise BadModel(f"{what} must have the shape {wanted}, got {' x '.join(map(str, made.shape)) or 'a number'}")
    if made.dtype.kind == "i" and array.dtype.kind in "iu" and array.dtype.itemsize > made.dtype.itemsize and made.size:
        _fits(array, made, what)
    fresh = made is not array or isinstance(values, list | tuple)
    if not fresh and not _is_frozen(made):
        made = made.copy()
    made = np.ascontiguousarray(made)
    made.setflags(write=False)
    return made


_KINDS = {"i": "iu", "f": "iuf", "b": "b"}


def _is_frozen(array: Any) -> bool:
    """Say whether nobody can write to an array, not even through the one that it is a view of."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None


def _fits(array: NDArray[Any], made: NDArray[Any], what: str) -> None:
    """Refuse whole numbers that a smaller type cannot hold."""
    for extreme in (array.min(), array.max()):
        info = np.iinfo(made.dtype)
        if not info.min <= extreme <= info.max:
            raise BadModel(f"{what} holds {extreme}, which is more than a {made.dtype.name} can hold")


def whole(items: Iterable[int], dtype: Any = np.int64) -> NDArray[Any]:
    """Return whole numbers as a read-only array."""
    array = np.fromiter(items, dtype=dtype)
    array.setflags(write=False)
    return array


def frozen_now(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of our own, read-only from now on."""
    array.setflags(write=False)
    return array


def running_sum(counts: Any) -> NDArray[np.int64]:
    """Return where each group starts, and where the last ends, from how many members each has."""
    start = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=start[1:])
    start.setflags(write=False)
    return start


def rows_with_repeats(
    start: NDArray[np.int64], values: NDArray[np.int32], row: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """Return the rows in which a value comes twice, some of them more than once.

    Args:
        start: where each row starts.
        values: the members of all rows, 0 or more.
        row: the row of each member, if it is there already.

    Cost: short rows are compared with themselves, moved by one, by two, …; long ones are sorted.
    """
    lengths = np.diff(start)
    longest = int(lengths.max(initial=0))
    if row is None:
        row = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    if longest > _SHORT:
        keys = np.sort(row * (np.int64(values.max()) + 1) + values)
        again = keys[1:][keys[1:] == keys[:-1]]
        rows: NDArray[np.int32] = (again // (np.int64(values.max()) + 1)).astype(np.int32)
        return rows
    found = [row[by:][(values[by:] == values[:-by]) & (row[by:] == row[:-by])] for by in range(1, longest)]
    return np.concatenate(found) if found else np.zeros(0, np.int32)


_SHORT = 8


def same(one: NDArray[Any] | None, other: NDArray[Any] | None, tolerance: float = 0.0) -> bool:
    """Say whether two arrays are equal, or nowhere further apart than `tolerance`; None is equal to None only."""
    if one is None or other is None:
        return one is other
    if one is other:
        return True
    if one.shape != other.shape:
        return False
    if tolerance and one.dtype.kind == "f":
        return bool(np.all(np.abs(one - other) <= tolerance))
    return bool(np.array_equal(one, other))


def plain(value: object, what: str) -> Any:
    """Return a plain value that cannot change."""
    try:
        given = value.item() if isinstance(value, np.generic) else value
        return _values.decode_known(_values.encode_state(given))
    except ValueRejected as error:
        raise BadModel(f"{what}: {error}") from None
