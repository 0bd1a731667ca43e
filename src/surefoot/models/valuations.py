"""Tables of the values of variables, as arrays of whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import values
from surefoot.errors import BadModel, UnknownName
from surefoot.models._arrays import frozen, plain, same
from surefoot.models._names import nearest
from surefoot.models.spaces import BoolDomain, IntDomain, Variable

__all__ = ["MISSING", "Valuations"]

MISSING = -1
"""The code of a value that was not given.

Example:
    >>> MISSING
    -1
"""


@dataclass(frozen=True, eq=False, repr=False)
class Valuations:
    """Hold the values of variables in N states (or observations): one code for each row and variable.

    Args:
        variables: V variables, each name once.
        codes: (N, V) int64, read-only once here. `codes[i, v]` is the code of the value in the domain of variable v
            (for a variable without domain, its place in `tables[v]`), or -1 where no value was given.
        tables: for each variable, None if it has a domain, else its different values in the order of their codes.

    Raises:
        BadModel: a name twice, or a code that the domain or the table does not have.

    Example:
        >>> from surefoot.models import IntDomain
        >>> x, colour = Variable("x", IntDomain(0, 3)), Variable("colour")
        >>> table = Valuations.from_rows([x, colour], [{"x": 2, "colour": "red"}, {"x": 0}])
        >>> table.codes.tolist(), table.row(0), table.row(1)
        ([[2, 0], [0, -1]], {'x': 2, 'colour': 'red'}, {'x': 0})
    """

    variables: tuple[Variable, ...]
    codes: NDArray[np.int64]
    tables: tuple[tuple[Any, ...] | None, ...] = ()

    def __post_init__(self) -> None:
        """Check and freeze."""
        variables = tuple(self.variables)
        for variable in variables:
            if not isinstance(variable, Variable):
                raise BadModel(f"a Variable is wanted, got {variable!r}")
        _check_once([variable.name for variable in variables])
        codes = frozen(self.codes, np.int64, "the codes of valuations", (None, len(variables)))
        tables = tuple(self.tables) or (None,) * len(variables)
        if len(tables) != len(variables):
            raise BadModel(f"there are {len(variables)} variables but {len(tables)} tables")
        for place, (variable, table) in enumerate(zip(variables, tables, strict=True)):
            self._check_column(variable, table, codes[:, place])
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "tables", tables)

    @staticmethod
    def _check_column(variable: Variable, table: tuple[Any, ...] | None, column: NDArray[np.int64]) -> None:
        if variable.domain is None and table is None and (column >= 0).any():
            raise BadModel(f"variable {variable.name!r} has no domain: give the table of its values")
        size = variable.domain.size if variable.domain is not None else len(table or ())
        bad = (column < MISSING) | (column >= size)
        if bad.any():
            row = int(np.argmax(bad))
            raise BadModel(
                f"variable {variable.name!r} has the code {column[row]} in row {row}; codes are below {size}"
            )

    @classmethod
    def from_rows(
        cls,
        variables: Sequence[Variable | str] | None,
        rows: Sequence[Mapping[str, Any]],
        *,
        owner: Callable[[int], str] = "row {}".format,
    ) -> Valuations:
        """Return the table of values that were given as one mapping a row; a name that is missing has no value there.

        Args:
            variables: the variables in the order of the columns; a text is a variable without domain; None: the names
                that occur, in the order in which they first do.
            rows: N mappings {name of the variable: value}.
            owner: says whose values row i holds, for messages.

        Raises:
            BadModel: a value outside its domain, or a name that is no variable.

        Cost: about 1 µs for each value.

        Example:
            >>> Valuations.from_rows([Variable("x", IntDomain(0, 3))], [{"x": 7}])
            Traceback (most recent call last):
            surefoot.errors.BadModel: variable 'x' has a wrong value in row 0: 7 is not in IntDomain(0, 3)
        """
        names = variables if variables is not None else list(dict.fromkeys(name for row in rows for name in row))
        made = tuple(one if isinstance(one, Variable) else Variable(one) for one in names)
        _check_once([variable.name for variable in made])
        known = {variable.name for variable in made}
        for place, row in enumerate(rows):
            if not row.keys() <= known:
                odd = str(next(name for name in row if name not in known))
                raise BadModel(f"{owner(place)} has a value for {odd!r}, which is no variable: {nearest(odd, known)}")
        columns = [[row.get(variable.name, _ABSENT) for row in rows] for variable in made]
        encoded = [_encoded(variable, column, owner) for variable, column in zip(made, columns, strict=True)]
        codes = np.empty((len(rows), len(made)), dtype=np.int64)
        for place, (column_codes, _) in enumerate(encoded):
            codes[:, place] = column_codes
        return cls(made, codes, tuple(table for _, table in encoded))

    @classmethod
    def from_columns(cls, columns: Mapping[Variable | str, Any]) -> Valuations:
        """Return the table of values that were given as one sequence or array a variable.

        Args:
            columns: {variable: its N values}; a text is a variable without domain.

        Raises:
            BadModel: a value outside its domain, or columns of different lengths.

        Cost: arrays of ints and bools with a domain are taken as a whole; other values about 1 µs each.

        Example:
            >>> Valuations.from_columns({Variable("x", IntDomain(0, 3)): np.array([3, 0])}).row(0)
            {'x': 3}
        """
        made = tuple(one if isinstance(one, Variable) else Variable(one) for one in columns)
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise BadModel(f"the columns of valuations have different lengths: {sorted(lengths)}")
        encoded = [_encoded(one, column, "row {}".format) for one, column in zip(made, columns.values(), strict=True)]
        codes = np.empty((lengths.pop() if lengths else 0, len(made)), dtype=np.int64)
        for place, (column_codes, _) in enumerate(encoded):
            codes[:, place] = column_codes
        return cls(made, codes, tuple(table for _, table in encoded))

    def __len__(self) -> int:
        return len(self.codes)

    def column(self, name: str) -> int:
        """Return the place of a variable.

        Raises:
            UnknownName: there is no such variable.
        """
        for place, variable in enumerate(self.variables):
            if variable.name == name:
                return place
        known = [variable.name for variable in self.variables]
        raise UnknownName(f"there is no variable {name!r}: {nearest(name, known)}")

    def value(self, row: int, place: int) -> Any:
        """Return one value.

        Raises:
            UnknownName: no value was given there.
        """
        code, variable = int(self.codes[row, place]), self.variables[place]
        if code == MISSING:
            raise UnknownName(f"variable {variable.name!r} has no value in row {row}")
        if variable.domain is not None:
            return variable.domain.decode(code)
        return (self.tables[place] or ())[code]

    def row(self, row: int) -> dict[str, Any]:
        """Return the values of one row by the names of the variables; those without a value are left out."""
        codes = self.codes[row]
        return {
            variable.name: self.value(row, place)
            for place, variable in enumerate(self.variables)
            if codes[place] != MISSING
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Valuations):
            return NotImplemented
        return (
            self.variables == other.variables
            and same(self.codes, other.codes)
            and values.encode(self.tables) == values.encode(other.tables)
        )

    def __hash__(self) -> int:
        return hash((self.variables, len(self)))

    def __repr__(self) -> str:
        return f"Valuations({[variable.name for variable in self.variables]}, rows={len(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Valuations, (self.variables, self.codes, self.tables)


_ABSENT = object()


def _encoded(
    variable: Variable, column: Any, owner: Callable[[int], str]
) -> tuple[NDArray[np.int64], tuple[Any, ...] | None]:
    """Return the codes of one column, and its table where the variable has no domain."""
    domain = variable.domain
    if isinstance(column, np.ndarray) and column.ndim == 1:
        if isinstance(domain, IntDomain) and column.dtype.kind in "iu":
            bad = (column < domain.lo) | (column > domain.hi)
            if not bad.any():
                return column.astype(np.int64) - domain.lo, None
        if isinstance(domain, BoolDomain) and column.dtype.kind == "b":
            return column.astype(np.int64), None
        column = column.tolist()
    codes = np.empty(len(column), dtype=np.int64)
    places: dict[bytes, int] = {}
    table: list[Any] = []
    for row, value in enumerate(column):
        if value is _ABSENT:
            codes[row] = MISSING
        elif domain is not None:
            try:
                codes[row] = domain.encode(value)
            except BadModel as error:
                message = f"variable {variable.name!r} has a wrong value in {owner(row)}: {error}"
                raise BadModel(message) from None
        else:
            kept = plain(value, f"variable {variable.name!r} in {owner(row)}")
            code = places.setdefault(values.encode(kept), len(table))
            if code == len(table):
                table.append(kept)
            codes[row] = code
    return codes, None if domain is not None else tuple(table)


def _check_once(names: Sequence[str]) -> None:
    """Refuse a name that comes twice."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadModel(f"two variables have the name {twice!r}; give each a name of its own")
