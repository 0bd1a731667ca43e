"""Which states a formula without numbers holds in: labels, variables, and what is put together from them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.checking.formula import Binary, Formula, Label, Name, Number, Operator, Unary
from surefoot.errors import BadProperty
from surefoot.models._names import nearest
from surefoot.models.components import has_choices
from surefoot.models.model import Model
from surefoot.models.valuations import MISSING

__all__ = ["satisfying"]

Mask = NDArray[np.bool_]
_LOGIC: dict[str, Callable[[Mask, Mask], Mask]] = {
    "&": operator.and_,
    "|": operator.or_,
    "=>": lambda a, b: ~a | b,
    "<=>": operator.eq,
}
_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def satisfying(
    model: Model, formula: Formula, text: str = "", *, inner: Callable[[Operator], Mask] | None = None
) -> Mask:
    """Return in which states a formula holds, (S,) bool.

    Args:
        model: the model.
        formula: a state formula.
        text: what it was read from, for messages.
        inner: returns in which states a P, R or S with a bound holds; None: such a formula is refused.

    Raises:
        BadProperty: an unknown label or variable (the message names the nearest), or what is no state formula.

    Cost: linear in the states for each part of the formula.

    Example:
        >>> from surefoot.checking.formula import parse
        >>> from surefoot.models import MarkovChain
        >>> coin = MarkovChain(choice_start=[0, 1, 1, 1], branch_start=[0, 2], target=[1, 2], probability=[0.5, 0.5],
        ...                    initial=0, labels={"heads": [1], "done": [1, 2]})
        >>> satisfying(coin, parse('"done" & !"heads"')).tolist()
        [False, False, True]
    """
    return _Reader(model, text, inner).mask(formula)


class _Reader:
    """Work out formulas on a model."""

    def __init__(self, model: Model, text: str, inner: Callable[[Operator], Mask] | None) -> None:
        self.model, self.text, self.inner = model, text, inner

    def refuse(self, message: str, at: int) -> BadProperty:
        """Return the error that shows the place."""
        if not self.text:
            return BadProperty(message)
        return BadProperty(f"{message}, at column {at + 1}:\n    {self.text}\n    {' ' * at}^")

    def mask(self, formula: Formula) -> Mask:
        """Return where a formula holds."""
        match formula:
            case Label():
                return self.label(formula)
            case Number(value=bool()):
                return np.full(self.model.n_states, formula.value)
            case Unary(operator="!"):
                return ~self.mask(formula.of)
            case Binary() if formula.operator in _LOGIC:
                return _LOGIC[formula.operator](self.mask(formula.left), self.mask(formula.right))
            case Binary() if formula.operator in _ORDER or formula.operator in ("=", "!="):
                return self.compared(formula)
            case Name():
                return self.truths(formula)
            case Operator():
                if self.inner is None:
                    raise self.refuse(f"{formula.kind} cannot stand here", formula.at)
                return self.inner(formula)
            case _:
                raise self.refuse("states are wanted here: a label, a comparison, or true", formula.at)

    def label(self, formula: Label) -> Mask:
        """Return where a label is."""
        if formula.name in self.model.labels:
            return self.model.labels[formula.name]
        if formula.name == "init":
            return self.model.initial > 0
        if formula.name == "deadlock":
            return ~has_choices(self.model)
        known = [*self.model.labels, "init", "deadlock"]
        raise self.refuse(f"there is no label {formula.name!r}: {nearest(formula.name, known)}", formula.at)

    def column(self, formula: Name) -> tuple[NDArray[np.int64], list[Any]]:
        """Return the codes of a variable, and the values of the codes."""
        table = self.model.state_valuations
        names = [] if table is None else [variable.name for variable in table.variables]
        if table is None or formula.name not in names:
            hint = f'; the label is written "{formula.name}"' if formula.name in self.model.labels else ""
            raise self.refuse(
                f"there is no variable {formula.name!r}: {nearest(formula.name, names)}{hint}", formula.at
            )
        place = names.index(formula.name)
        codes = table.codes[:, place]
        if (codes == MISSING).any():
            state = int(np.argmax(codes == MISSING))
            raise self.refuse(
                f"variable {formula.name!r} has no value in state {self.model.state_name(state)!r}", formula.at
            )
        domain, listed = table.variables[place].domain, table.tables[place]
        values = [domain.decode(code) for code in range(domain.size)] if domain is not None else list(listed or ())
        return codes, values

    def truths(self, formula: Name) -> Mask:
        """Return where a variable is true."""
        codes, values = self.column(formula)
        if not all(isinstance(value, bool) for value in values):
            raise self.refuse(f"variable {formula.name!r} is not True or False: compare it with something", formula.at)
        return np.array(values, bool)[codes]

    def compared(self, formula: Binary) -> Mask:
        """Return where a comparison holds."""
        left, right = self.value(formula.left), self.value(formula.right)
        if formula.operator in ("=", "!="):
            equal = _equal(left, right)
            return np.broadcast_to(equal if formula.operator == "=" else ~equal, (self.model.n_states,)).copy()
        for side, part in ((left, formula.left), (right, formula.right)):
            if side.dtype.kind not in "if":
                raise self.refuse(f"only numbers have an order; use = or != instead of {formula.operator}", part.at)
        return np.broadcast_to(_ORDER[formula.operator](left, right), (self.model.n_states,)).copy()

    def value(self, formula: Formula) -> NDArray[Any]:
        """Return the values of an expression, one for each state or one for all."""
        match formula:
            case Number():
                return np.asarray(formula.value)
            case Label():
                # What a label would mean here is no value: so it is a text, to compare a variable with.
                return np.asarray(formula.name, dtype=object)
            case Name():
                codes, values = self.column(formula)
                whole = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
                real = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
                kind: Any = np.int64 if whole else np.float64 if real else object
                table = np.empty(len(values), dtype=kind)
                table[:] = values
                return table[codes]
            case Unary(operator="-"):
                return -self.number(formula.of)
            case Binary() if formula.operator in _ARITHMETIC:
                with np.errstate(divide="ignore", invalid="ignore"):
                    return np.asarray(
                        _ARITHMETIC[formula.operator](self.number(formula.left), self.number(formula.right))
                    )
            case _:
                raise self.refuse("a number or a variable is wanted here", formula.at)

    def number(self, formula: Formula) -> NDArray[Any]:
        """Return the values of an expression that must be numbers."""
        value = self.value(formula)
        if value.dtype.kind not in "if":
            raise self.refuse("a number is wanted here", formula.at)
        return value


def _equal(left: NDArray[Any], right: NDArray[Any]) -> Mask:
    """Return where two values are equal, and of one kind: 1, True and "1" are three values."""
    if left.dtype.kind in "if" and right.dtype.kind in "if":
        return np.asarray(left == right)
    pairs = np.broadcast(left, right)
    found = np.fromiter((_alike(*map(_plain, pair)) for pair in pairs), bool, pairs.size)
    return found.reshape(pairs.shape)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic | np.ndarray) else value


def _alike(one: object, other: object) -> bool:
    kinds = [
        bool if isinstance(x, bool | np.bool_) else float if isinstance(x, int | float) else type(x)
        for x in (one, other)
    ]
    return kinds[0] is kinds[1] and bool(one == other)
