"""Variables, and the domains of their values: each value has a whole number for a code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot import values
from surefoot.errors import BadModel
from surefoot.models._arrays import plain

__all__ = ["BoolDomain", "CategoricalDomain", "Domain", "IntDomain", "Variable"]


@dataclass(frozen=True)
class IntDomain:
    """Hold the whole numbers from `lo` to `hi`, both included.

    Args:
        lo: the least value.
        hi: the greatest value, >= `lo`.
        allow_none: whether None is a value too; its code is the last one.

    Example:
        >>> dice = IntDomain(1, 6)
        >>> dice.size, dice.encode(3), dice.decode(2), IntDomain(0, 3, allow_none=True).encode(None)
        (6, 2, 3, 4)
        >>> dice.encode(True)
        Traceback (most recent call last):
        surefoot.errors.BadModel: True is not in IntDomain(1, 6): a whole number is wanted, not a bool
    """

    lo: int
    hi: int
    allow_none: bool = False

    def __post_init__(self) -> None:
        """Check the bounds."""
        for name in ("lo", "hi"):
            bound = getattr(self, name)
            if isinstance(bound, bool | np.bool_) or not isinstance(bound, int | np.integer):
                raise BadModel(f"{name} of IntDomain must be a whole number, got {bound!r}")
            object.__setattr__(self, name, int(bound))
        if self.lo > self.hi:
            raise BadModel(f"IntDomain needs lo <= hi, got lo={self.lo}, hi={self.hi}")
        if max(abs(self.lo), abs(self.hi)) >= 2**62:
            raise BadModel(f"IntDomain holds numbers below 2**62, got lo={self.lo}, hi={self.hi}")
        _check_flag(self.allow_none)

    @property
    def size(self) -> int:
        """Return how many values there are, None included where it is one."""
        return self.hi - self.lo + 1 + self.allow_none

    def encode(self, value: object) -> int:
        """Return the code of a value, in [0, size).

        Raises:
            BadModel: the value is not in the domain.
        """
        if value is None:
            return _none(self)
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            kind = type(value).__name__
            raise BadModel(f"{value!r} is not in {self}: a whole number is wanted, not a {kind}")
        if not self.lo <= value <= self.hi:
            raise BadModel(f"{value!r} is not in {self}")
        return int(value) - self.lo

    def decode(self, code: int) -> int | None:
        """Return the value of a code.

        Raises:
            BadModel: there is no such code.
        """
        return None if _is_none(self, code) else self.lo + int(code)

    def __repr__(self) -> str:
        return f"IntDomain({self.lo}, {self.hi}{', allow_none=True' if self.allow_none else ''})"


@dataclass(frozen=True)
class BoolDomain:
    """Hold False and True, whose codes are 0 and 1.

    Args:
        allow_none: whether None is a value too; its code is 2.

    Example:
        >>> BoolDomain().encode(True), BoolDomain().decode(0), BoolDomain(allow_none=True).size
        (1, False, 3)
        >>> BoolDomain().encode(1)
        Traceback (most recent call last):
        surefoot.errors.BadModel: 1 is not in BoolDomain(): True or False is wanted, not a int
    """

    allow_none: bool = False

    def __post_init__(self) -> None:
        """Check the flag."""
        _check_flag(self.allow_none)

    @property
    def size(self) -> int:
        """Return how many values there are, None included where it is one."""
        return 2 + self.allow_none

    def encode(self, value: object) -> int:
        """Return the code of a value, in [0, size).

        Raises:
            BadModel: the value is not in the domain.
        """
        if value is None:
            return _none(self)
        if not isinstance(value, bool | np.bool_):
            raise BadModel(f"{value!r} is not in {self}: True or False is wanted, not a {type(value).__name__}")
        return int(value)

    def decode(self, code: int) -> bool | None:
        """Return the value of a code.

        Raises:
            BadModel: there is no such code.
        """
        return None if _is_none(self, code) else bool(code)

    def __repr__(self) -> str:
        return "BoolDomain(allow_none=True)" if self.allow_none else "BoolDomain()"


@dataclass(frozen=True, eq=False)
class CategoricalDomain:
    """Hold the listed values; the code of each is its place. 1, True, 1.0 and "1" are four values.

    Args:
        values: plain values that cannot change (see `surefoot.values.encode_state`), each once, at least one.
        allow_none: whether None is a value too; its code is the last one.

    Example:
        >>> colour = CategoricalDomain(("red", "green"), allow_none=True)
        >>> colour.size, colour.encode("green"), colour.decode(2)
        (3, 1, None)
        >>> CategoricalDomain((1, True, 1.0)).encode(True)
        1
        >>> colour.encode("gren")
        Traceback (most recent call last):
        surefoot.errors.BadModel: 'gren' is not in CategoricalDomain(('red', 'green'), allow_none=True)
    """

    values: tuple[Any, ...]
    allow_none: bool = False

    def __post_init__(self) -> None:
        """Check the values."""
        _check_flag(self.allow_none)
        if isinstance(self.values, str) or not isinstance(self.values, Iterable):
            raise BadModel(f"CategoricalDomain needs a sequence of values, got {self.values!r}; put it into a tuple")
        kept = tuple(plain(value, "a value of a CategoricalDomain") for value in self.values)
        if not kept:
            raise BadModel("CategoricalDomain needs at least one value")
        if None in kept:
            raise BadModel("None is no category: leave it out and use allow_none=True")
        if len({values.encode(value) for value in kept}) < len(kept):
            raise BadModel(f"CategoricalDomain has a value twice: {kept!r}")
        object.__setattr__(self, "values", kept)

    @cached_property
    def _codes(self) -> dict[bytes, int]:
        return {values.encode(value): code for code, value in enumerate(self.values)}

    @property
    def size(self) -> int:
        """Return how many values there are, None included where it is one."""
        return len(self.values) + self.allow_none

    def encode(self, value: object) -> int:
        """Return the code of a value, in [0, size).

        Raises:
            BadModel: the value is not in the domain.
        """
        if value is None:
            return _none(self)
        code = self._codes.get(values.encode(plain(value, "a value")))
        if code is None:
            raise BadModel(f"{value!r} is not in {self}")
        return code

    def decode(self, code: int) -> Any:
        """Return the value of a code.

        Raises:
            BadModel: there is no such code.
        """
        return None if _is_none(self, code) else self.values[int(code)]

    def __repr__(self) -> str:
        return f"CategoricalDomain({self.values!r}{', allow_none=True' if self.allow_none else ''})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CategoricalDomain):
            return NotImplemented
        return list(self._codes) == list(other._codes) and self.allow_none == other.allow_none

    def __hash__(self) -> int:
        return hash((tuple(self._codes), self.allow_none))


Domain = IntDomain | BoolDomain | CategoricalDomain
"""What a variable may range over.

Example:
    >>> isinstance(BoolDomain(), Domain)
    True
"""


@dataclass(frozen=True, slots=True)
class Variable:
    """Hold the name of a variable and the domain of its values.

    Args:
        name: its name, not empty.
        domain: what its values are; None: any plain value that cannot change.

    Example:
        >>> Variable("x", IntDomain(0, 3))
        Variable(name='x', domain=IntDomain(0, 3))
    """

    name: str
    domain: Domain | None = None

    def __post_init__(self) -> None:
        """Check the name and the domain."""
        if not isinstance(self.name, str) or not self.name:
            raise BadModel(f"the name of a variable must be text and not empty, got {self.name!r}")
        if self.domain is not None and not isinstance(self.domain, Domain):
            raise BadModel(
                f"the domain of variable {self.name!r} must be an IntDomain, BoolDomain or CategoricalDomain, "
                f"got {self.domain!r}"
            )


def _none(domain: Domain) -> int:
    """Return the code of None, or refuse it."""
    if not domain.allow_none:
        raise BadModel(f"None is not in {domain}; use allow_none=True if it is a value")
    return domain.size - 1


def _is_none(domain: Domain, code: int) -> bool:
    """Say whether a code is that of None; refuse one that does not exist."""
    if not 0 <= code < domain.size:
        raise BadModel(f"{code!r} is no code of {domain}: codes are in [0, {domain.size})")
    return domain.allow_none and code == domain.size - 1


def _check_flag(flag: object) -> None:
    if not isinstance(flag, bool):
        raise BadModel(f"allow_none must be True or False, got {flag!r}")
