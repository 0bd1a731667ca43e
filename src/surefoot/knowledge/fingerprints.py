"""Digests of functions, so that what was declared in code can be told apart from what is declared now.

A function cannot be recorded; what it is can. `describe` turns a callable into plain data: its bytecode, constants,
defaults and closure, and the module-level names that it reads; `fingerprint_of` is the digest of that. Bytecode is what
runs, so a file that was edited meanwhile cannot mislead; the price is that each version of Python has its own digests.
"""

from __future__ import annotations

import copyreg
import functools
import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

from surefoot import values
from surefoot.errors import ValueRejected

__all__ = ["describe", "fingerprint_of"]

_HAS_DOCSTRING = 0x4000000
"""The flag that Python 3.14 sets on code whose first constant is its docstring; before, every function's was."""
_LITERALS = (float, complex, bytes, bytearray, range, type(...), type(NotImplemented))


def fingerprint_of(function: Any) -> str:
    """Return a digest of a callable that changes when what it would do changes.

    Covers functions, lambdas, methods, `functools.partial`, decorated functions, callable objects and classes: their
    code, defaults and closure, the globals they read, and the functions they call, as far as those are not of an
    installed package (these count by name). A callable object, and the object of a bound method, count with all they
    hold; any other object counts by its class and its public attributes that are plain values, since an environment or
    a journal that a function holds goes on changing without being another one. Comments, line numbers, file names and
    docstrings do not count.

    Returns:
        64 hexadecimal digits; another version of Python gives others.

    Cost: linear in the code that is reached, about 50 µs for a lambda: for declarations, not for loops.

    Example:
        >>> def above(limit):
        ...     return lambda state, call: state["price"] > limit
        >>> ten = fingerprint_of(above(10))
        >>> ten == fingerprint_of(above(10)), ten == fingerprint_of(above(11))
        (True, False)
    """
    return values.digest(describe(function))


def describe(function: Any) -> tuple[Any, ...]:
    """Return what a callable is made of, as a plain value: nested tuples that start with a word.

    Example:
        >>> describe(len)
        ('named', 'builtins.len')
        >>> describe(functools.partial(len, (1, 2)))
        ('partial', ('named', 'builtins.len'), ('value', ((1, 2),)), ('value', {}))
    """
    return _Describer().of(function, whole=True)


class _Describer:
    """Walk through a callable once; what comes up again counts by its number."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, Any]] = {}  # holds what it has seen, so that no id is used twice
        self._home: str | None = None

    def of(self, thing: Any, *, whole: bool = False) -> tuple[Any, ...]:
        """Describe anything; `whole` takes in all that an object holds."""
        try:
            return ("value", values.copy(thing))
        except ValueRejected:
            pass
        if isinstance(thing, _LITERALS):
            return ("literal", type(thing).__name__, repr(thing))
        known = self._seen.get(id(thing))
        if known is not None:
            return ("again", known[0])
        self._seen[id(thing)] = len(self._seen), thing
        return self._compound(thing, whole)

    def _compound(self, thing: Any, whole: bool) -> tuple[Any, ...]:
        if isinstance(thing, types.FunctionType):
            return self._function(thing)
        if isinstance(thing, types.CodeType):
            return self._code(thing)
        if isinstance(thing, types.MethodType):
            return ("method", self.of(thing.__func__), self.of(thing.__self__, whole=True))
        if isinstance(thing, functools.partial):
            return ("partial", self.of(thing.func, whole=True), self.of(thing.args), self.of(thing.keywords))
        if isinstance(thing, types.ModuleType):
            return ("module", thing.__name__)
        if isinstance(thing, type):
            return self._class(thing)
        if isinstance(thing, list | tuple):
            return (type(thing).__name__, *map(self.of, thing))
        if isinstance(thing, set | frozenset):
            return (type(thing).__name__, *self._sorted(thing))
        if isinstance(thing, Mapping):
            return ("mapping", *sorted(((self.of(k), self.of(v)) for k, v in thing.items()), key=values.encode))
        return self._object(thing, whole)

    def _function(self, function: types.FunctionType) -> tuple[Any, ...]:
        name = f"{function.__module__}.{function.__qualname__}"
        if not self._followed(function.__module__, function.__code__.co_filename):
            return ("named", name)
        read = sorted(_names_of(function.__code__) & set(function.__globals__))
        return (
            "function",
            self.of(function.__code__),
            self.of(function.__defaults__),
            self.of(function.__kwdefaults__),
            tuple(map(self._cell, function.__closure__ or ())),
            tuple((name, self.of(function.__globals__[name])) for name in read),
        )

    def _cell(self, cell: types.CellType) -> tuple[Any, ...]:
        try:
            return self.of(cell.cell_contents)
        except ValueError:
            return ("empty",)

    def _code(self, code: types.CodeType) -> tuple[Any, ...]:
        constants = code.co_consts
        told = sys.version_info < (3, 14) or code.co_flags & _HAS_DOCSTRING
        if told and constants and isinstance(constants[0], str) and not code.co_name.startswith("<"):
            constants = (None, *constants[1:])
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return ("code", code.co_code.hex(), code.co_exceptiontable.hex(), counts, names, *map(self.of, constants))

    def _class(self, kind: type) -> tuple[Any, ...]:
        name = f"{kind.__module__}.{kind.__qualname__}"
        if not self._follows(kind):
            return ("named", name)
        members = ((k, v) for k, v in vars(kind).items() if _is_code(v))
        bases = tuple(map(self.of, kind.__bases__))
        return ("class", name, bases, *((k, self.of(_code_of(v))) for k, v in sorted(members, key=lambda m: m[0])))

    def _object(self, thing: Any, whole: bool) -> tuple[Any, ...]:
        """Describe an object: by what it wraps, its name, or its class and what it holds."""
        kind = type(thing)
        if isinstance(thing, Enum):
            return ("member", f"{kind.__module__}.{kind.__qualname__}", thing.name)
        wrapped = getattr(thing, "__wrapped__", None)
        if wrapped is not None:
            return ("wrapped", self.of(wrapped))
        if isinstance(name := getattr(thing, "__qualname__", None), str):
            owner = getattr(thing, "__self__", None)
            if owner is not None and not isinstance(owner, types.ModuleType):  # {"a"}.__contains__
                return ("method", name, self.of(owner, whole=True))
            return ("named", f"{getattr(thing, '__module__', None)}.{name}")
        parameters = getattr(kind, "__dataclass_params__", None)
        held = sorted(_attributes(thing), key=lambda attribute: attribute[0])
        if whole or (is_dataclass(thing) and getattr(parameters, "frozen", False)):
            return ("object", self.of(kind), *((name, self.of(value)) for name, value in held), *self._copied(thing))
        plain = ((name, value) for name, value in held if not name.startswith("_") and _is_plain(value))
        return ("object", self.of(kind), *((name, self.of(value)) for name, value in plain), *self._copied(thing))

    def _copied(self, thing: Any) -> tuple[Any, ...]:
        """Describe what a copy of an object without attributes would be made of, nothing when it cannot be copied."""
        kind = type(thing)
        if hasattr(thing, "__dict__") or (hasattr(kind, "__slots__") and self._follows(kind)):
            return ()
        reduce = copyreg.dispatch_table.get(kind)
        try:
            made = thing.__reduce_ex__(2) if reduce is None else reduce(thing)
        except TypeError:  # a lock, a file, a generator
            return ()
        return (self.of(made[1:] if isinstance(made, tuple) else made),)

    def _sorted(self, things: Iterable[Any]) -> list[tuple[Any, ...]]:
        return sorted(map(self.of, things), key=values.encode)

    def _follows(self, kind: type) -> bool:
        return self._followed(kind.__module__, getattr(sys.modules.get(kind.__module__), "__file__", None) or "")

    def _followed(self, module: str | None, path: str) -> bool:
        """Say whether to look into code: that of the package it all began in, and what nobody installed."""
        package = str(module).partition(".")[0]
        if self._home is None:
            self._home = package
        installed = "site-packages" in path or "dist-packages" in path or package in sys.stdlib_module_names
        return package == self._home or package == "__main__" or not installed


def _names_of(code: types.CodeType) -> set[str]:
    """Return the names that code, and the code inside it, reads."""
    inner = (_names_of(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*inner)


def _is_code(value: Any) -> bool:
    return isinstance(value, types.FunctionType | staticmethod | classmethod | property)


def _code_of(value: Any) -> Any:
    """Return what a member of a class runs."""
    if isinstance(value, property):
        return (value.fget, value.fset, value.fdel)
    return getattr(value, "__func__", value)


def _attributes(thing: Any) -> Iterable[tuple[str, Any]]:
    """Yield the names and values that an object holds, in its dict and in its slots."""
    yield from getattr(thing, "__dict__", {}).items()
    for kind in type(thing).__mro__:
        slots: str | Iterable[str] = getattr(kind, "__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                yield name, getattr(thing, name)


def _is_plain(value: Any) -> bool:
    try:
        values.encode(value)
    except ValueRejected:
        return False
    return True
