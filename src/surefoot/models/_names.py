"""Names of states, actions and observations: given, or made from the number when somebody asks."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from surefoot.errors import BadModel, UnknownName

__all__ = ["Names", "name_of", "nearest", "number_of"]

_MOST_COMPARED = 2_000


def name_of(value: object) -> str:
    """Return the name of a state or an action: a text is its own name, anything else is named by its repr.

    So that 1, True, 1.0 and (1,) have names of their own; "1" and 1 have one name between them.
    """
    if isinstance(value, str):
        return str(value)
    return repr(value.item() if isinstance(value, np.generic) else value)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: which known name is nearest, or which there are."""
    some = list(itertools.islice(known, _MOST_COMPARED))
    if not some:
        return "there is none"
    alike = difflib.get_close_matches(name, some, n=1, cutoff=0.5)
    if alike:
        return f"did you mean {alike[0]!r}?"
    shown = ", ".join(repr(one) for one in some[:5])
    return (
        f"there are {shown}, …"
        if len(some) > 5
        else f"there are only {shown}"
        if len(some) > 1
        else f"there is only {shown}"
    )


class Names(Sequence[str]):
    """Hold names in the order of the numbers they stand for.

    Args:
        names: the names, each once; None: `prefix` and the number (`s0`, `s1`, …), which take no memory.
        count: how many there must be.
        prefix: the prefix of names that are not given.
        what: what is named, for messages (`state`).

    Raises:
        BadModel: a name twice, a name that is no text, or another number of names.
    """

    __slots__ = ("_count", "_given", "_named", "_numbers", "_prefix", "_what")

    def __init__(self, names: Sequence[str] | Names | None, count: int, prefix: str, what: str) -> None:
        self._count, self._prefix, self._what = count, prefix, what
        self._numbers: dict[str, int] | None = None
        self._named: Sequence[object] | None = None
        self._given: tuple[str, ...] | None = None
        if isinstance(names, Names):
            if names._named is not None and names._count == count:
                self._named = names._named
                return
            names = names.given if names.given is not None or names._prefix == prefix else tuple(names)
        elif isinstance(names, str):
            raise BadModel(f"the names of {what}s must be a sequence of texts, got the text {names!r}")
        self._given = None if names is None else tuple(names)
        if self._given is not None:
            self._check(self._given)

    @classmethod
    def of(cls, values: Sequence[object], prefix: str, what: str) -> Names:
        """Return the names of values, which are made when somebody asks; they must all be different."""
        names = cls(None, len(values), prefix, what)
        names._named = values
        return names

    @property
    def given(self) -> tuple[str, ...] | None:
        """Return the names that were given; None where they are made from the number."""
        if self._named is not None:
            self._given = tuple(map(name_of, self._named))
            self._named = None
        return self._given

    def _check(self, given: tuple[str, ...]) -> None:
        """Refuse names that are no names."""
        what = self._what
        if len(given) != self._count:
            raise BadModel(f"there are {self._count} {what}s but {len(given)} names; name each of them, in their order")
        if not set(map(type, given)) <= {str}:
            number, bad = next((i, name) for i, name in enumerate(given) if type(name) is not str)
            raise BadModel(f"the name of {what} {number} must be text, got {bad!r}; use str({bad!r})")
        if len(set(given)) != len(given):
            seen: dict[str, int] = {}
            for number, name in enumerate(given):
                if name in seen:
                    raise BadModel(
                        f"{what}s {seen[name]} and {number} have one name, {name!r}; give each a name of its own"
                    )
                seen[name] = number

    def number(self, name: object) -> int:
        """Return the number of a name, or of the value whose name it is.

        Raises:
            UnknownName: there is no such name; the message names the nearest one.
        """
        text = name_of(name)
        found = self._find(text)
        if found is None:
            raise UnknownName(f"there is no {self._what} {text!r}: {nearest(text, self)}")
        return found

    def _find(self, text: str) -> int | None:
        if self.given is None:
            digits = text.removeprefix(self._prefix)
            if digits.isascii() and digits.isdigit() and self._prefix + str(int(digits)) == text:
                return int(digits) if int(digits) < self._count else None
            return None
        if self._numbers is None:
            self._numbers = {one: number for number, one in enumerate(self.given)}
        return self._numbers.get(text)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if self.given is not None:
            return self.given[place]
        numbers = range(self._count)[place]
        return (
            tuple(f"{self._prefix}{n}" for n in numbers) if isinstance(numbers, range) else f"{self._prefix}{numbers}"
        )

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return iter(self.given) if self.given is not None else (f"{self._prefix}{n}" for n in range(self._count))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names) and self.given is None and other.given is None and self._prefix == other._prefix:
            return self._count == other._count
        if not isinstance(other, Names | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(map(str.__eq__, self, other))

    def __hash__(self) -> int:
        return hash((len(self), self[0] if len(self) else None))

    def __repr__(self) -> str:
        shown = ", ".join(repr(one) for one in itertools.islice(self, 4))
        return f"({shown}{', …' if self._count > 4 else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Names, (self.given, self._count, self._prefix, self._what)


def number_of(given: object, names: Names, what: str) -> int:
    """Return the number of what is given by number or by name."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        number = int(given)
        if not 0 <= number < len(names):
            raise UnknownName(f"there is no {what} {number}: numbers are in [0, {len(names)})")
        return number
    return names.number(given)
