"""The conditions that an action model may learn from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from surefoot import values
from surefoot.errors import BadArgument, SurefootError, ValueRejected
from surefoot.knowledge.fingerprints import fingerprint_of
from surefoot.learners._unrolled import Reader, reader

__all__ = ["MISSING", "UNREAD", "BrokenPredicate", "Vocabulary"]


class _Mark:
    """A value of its own, equal to nothing else, the same in every copy."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __reduce__(self) -> str:
        return self._name


MISSING = _Mark("MISSING")
"""What a condition holds where it cannot be read: a value of its own that no real value equals.

Example:
    >>> vocabulary = Vocabulary({"status": lambda state, args: state["orders"][args["id"]]})
    >>> vocabulary.features({"orders": {}}, "cancel", {"id": "A1"})
    (MISSING,)
"""

UNREAD = _Mark("UNREAD")
"""What a predicate returns to say that it cannot be read here; the same as raising a `LookupError`.

Example:
    >>> Vocabulary({"age": lambda state, args: UNREAD}).features({}, "vote", {})
    (MISSING,)
"""


class BrokenPredicate(SurefootError, RuntimeError):
    """A predicate raised something that does not mean "cannot be read here"; the message names it.

    Example:
        >>> Vocabulary({"price": lambda state, args: 1 / state["price"]}).features({"price": 0}, "buy", {})
        Traceback (most recent call last):
        surefoot.learners.vocabulary.BrokenPredicate: predicate 'price' raised ZeroDivisionError: division by zero; \
mend it, or return UNREAD where it cannot be read
    """


Predicate = Callable[[Any, Mapping[str, Any]], Any]
_TEXT = frozenset({str})
_SCALARS = frozenset({str, int, bool, type(None)})
"""What needs no check and no copy; a `float` may be infinite or NaN."""


class Vocabulary:
    """Name the conditions to read before an action: {name: predicate(state, args) -> a plain value}.

    A predicate that cannot be read (a `LookupError`: an entity that is not there; or `UNREAD`) gives `MISSING`. Any
    other exception is a broken predicate and is raised.

    Args:
        predicates: the conditions by name.
        hard: names whose violation is a hard rule, or {name: the value that must hold}; with values, a call is refused
            before the first accident.
        only: {action: names}, the conditions read for that action; all of them when it is not named. What `hard` states
            must hold is read for every action: a rule that protects is not left out by a list of what to learn from.

    Raises:
        BadArgument: there are no predicates, or `hard` or `only` name one that is not there.
        ValueRejected: a predicate cannot be called.

    Example:
        >>> vocabulary = Vocabulary(
        ...     {"status": lambda state, args: state["orders"][args["id"]], "alive": lambda state, _: state["alive"]},
        ...     hard={"alive": True},
        ... )
        >>> vocabulary.features({"orders": {"A1": "open"}, "alive": True}, "cancel", {"id": "A1"})
        (True, 'open')
    """

    def __init__(
        self,
        predicates: Mapping[str, Predicate],
        *,
        hard: Collection[str] | Mapping[str, Any] = (),
        only: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        """Check and sort the names."""
        if not predicates:
            raise BadArgument("a vocabulary needs at least one predicate, got none")
        for name, predicate in predicates.items():
            if not isinstance(name, str):
                raise ValueRejected(f"a predicate's name must be a str, got {name!r}")
            if not callable(predicate):
                raise ValueRejected(
                    f"predicate {name!r} is {predicate!r}: it must be callable as predicate(state, args)"
                )
        if isinstance(hard, str):
            raise BadArgument(f"hard must be a collection of names or a mapping, got {hard!r}: wrap it, [{hard!r}]")
        self.predicates = {name: predicates[name] for name in sorted(predicates)}
        self.names = tuple(self.predicates)
        self.hard = frozenset(hard)
        self.required = {n: values.copy(v) for n, v in hard.items()} if isinstance(hard, Mapping) else {}
        self.only = {action: tuple(sorted({*names, *self.required})) for action, names in (only or {}).items()}
        for what, names in (("hard", self.hard), *((f"only[{a!r}]", n) for a, n in self.only.items())):
            unknown = sorted(set(names) - set(self.names))
            if unknown:
                raise BadArgument(f"{what} names {unknown}, which are no predicates; there are {list(self.names)}")
        self._readers: dict[str, Reader] = {}

    def of(self, action: str) -> tuple[str, ...]:
        """Return the names of the conditions read for `action`, in the order of `features`.

        Example:
            >>> vocabulary = Vocabulary({"b": len, "a": len}, only={"wait": []})
            >>> vocabulary.of("wait"), vocabulary.of("go")
            ((), ('a', 'b'))
        """
        return self.only.get(action, self.names)

    def features(self, state: Any, action: str, args: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the value of each condition for a call, `MISSING` where one cannot be read.

        Raises:
            BrokenPredicate: a predicate raised something else than a `LookupError`.
            ValueRejected: a predicate returned what is not a plain value.

        Cost: that of the predicates, and about 0.2 µs each.

        Example:
            >>> Vocabulary({"rich": lambda state, args: state["gold"] > 9}).features({"gold": 10}, "buy", {})
            (True,)
        """
        return self.read(state, action, args)[0]

    def read(self, state: Any, action: str, args: Mapping[str, Any]) -> tuple[tuple[Any, ...], bool]:
        """Return what `features` returns, and whether all of it is text.

        Example:
            >>> Vocabulary({"name": lambda state, args: state["name"]}).read({"name": "Ann"}, "greet", {})
            (('Ann',), True)
        """
        return self.checked(action, self.raw(state, action, args))

    def raw(self, state: Any, action: str, args: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return what the predicates return, which may not be plain; `MISSING` where one cannot be read.

        Raises:
            BrokenPredicate: a predicate raised something else than a `LookupError`.

        Example:
            >>> Vocabulary({"names": lambda state, args: state["names"]}).raw({"names": ["Ann"]}, "greet", {})
            (['Ann'],)
        """
        read = self._readers.get(action)
        if read is None:
            read = self._readers[action] = reader([self.predicates[name] for name in self.of(action)])
        try:
            return read(state, args)
        except BrokenPredicate:
            raise
        except Exception:  # whatever it was comes again, and is dealt with; from now on one by one
            predicates = [self.predicates[name] for name in self.of(action)]
            read = self._readers[action] = partial(self._read_each, action, predicates)
            return read(state, args)

    def checked(self, action: str, found: tuple[Any, ...]) -> tuple[tuple[Any, ...], bool]:
        """Return what `raw` found as plain values, and whether all of it is text.

        Raises:
            ValueRejected: a predicate returned what is not a plain value.

        Example:
            >>> vocabulary = Vocabulary({"names": lambda state, args: state["names"]})
            >>> vocabulary.checked("greet", (["Ann"],))
            ((('Ann',),), False)
        """
        if _TEXT.issuperset(map(type, found)):
            return found, True
        if _SCALARS.issuperset(map(type, found)):
            return found, False
        plain = list(found)
        for at, value in enumerate(plain):
            kind = type(value)
            if kind not in _SCALARS and (kind is not float or value - value != 0.0):  # infinite, or not a number
                plain[at] = plain_value(self.of(action)[at], value)
        return tuple(plain), _TEXT.issuperset(map(type, plain))

    def _read_each(
        self, action: str, predicates: list[Predicate], state: Any, args: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Return what each predicate says, `MISSING` where it cannot be read."""
        found: list[Any] = []
        left = iter(predicates)
        while True:
            try:
                for predicate in left:
                    found.append(predicate(state, args))
                return tuple(found)
            except LookupError:
                found.append(MISSING)  # and go on with the next
            except Exception as error:
                name = self.of(action)[len(found)]
                raise BrokenPredicate(
                    f"predicate {name!r} raised {type(error).__name__}: {error}; mend it, or return UNREAD where it "
                    "cannot be read"
                ) from error

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made anew when it is needed."""
        return {**self.__dict__, "_readers": {}}

    def fingerprint(self) -> str:
        """Return a digest of the predicates' code, closures and defaults, and of `hard` and `only`.

        Example:
            >>> one, two = Vocabulary({"a": lambda s, args: s > 1}), Vocabulary({"a": lambda s, args: s > 2})
            >>> one.fingerprint() == two.fingerprint()
            False
        """
        return hashlib.sha256(values.encode(self.describe())).hexdigest()

    def describe(self) -> dict[str, Any]:
        """Return what the fingerprint is made of, so that two vocabularies can be compared part by part.

        Example:
            >>> sorted(Vocabulary({"a": len}).describe())
            ['hard', 'only', 'predicates', 'required']
        """
        return {
            "predicates": {name: fingerprint_of(predicate) for name, predicate in self.predicates.items()},
            "hard": sorted(self.hard),
            "required": {name: values.copy(value) for name, value in self.required.items()},
            "only": {action: list(names) for action, names in sorted(self.only.items())},
        }


def plain_value(name: str, value: Any) -> Any:
    """Return a condition's value as a plain value of its own; arrays become tuples."""
    if value is UNREAD or value is MISSING:
        return MISSING
    if type(value) in _SCALARS:
        return value
    if isinstance(value, list):
        value = tuple(value)
    try:
        return values.copy(value)
    except ValueRejected as error:
        raise ValueRejected(f"predicate {name!r} returned a value that is not plain: {error}") from None
