from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadModel, UnknownName
from surefoot.models import BoolDomain, CategoricalDomain, IntDomain, Valuations, Variable
from surefoot.models.valuations import MISSING

X, UP, ANY = Variable("x", IntDomain(1, 3)), Variable("up", BoolDomain(allow_none=True)), Variable("any")
ROWS: list[dict[str, Any]] = [{"x": 2, "up": True, "any": (1, "a")}, {"x": 1, "up": None}, {"any": 1}, {"any": True}]


def test_rows_come_back_as_they_were_given() -> None:
    table = Valuations.from_rows([X, UP, ANY], ROWS)
    assert [table.row(row) for row in range(len(table))] == ROWS
    assert type(table.row(3)["any"]) is bool
    assert table.codes.tolist() == [[1, 1, 0], [0, 2, MISSING], [MISSING, MISSING, 1], [MISSING, MISSING, 2]]
    assert table.tables[2] == ((1, "a"), 1, True)
    assert not table.codes.flags.writeable


def test_variables_are_found_where_none_are_given() -> None:
    table = Valuations.from_rows(None, ROWS)
    assert [variable.name for variable in table.variables] == ["x", "up", "any"]
    assert [table.row(row) for row in range(len(table))] == ROWS


def test_columns_of_numpy_are_taken_as_they_are() -> None:
    x, up, z = np.array([3, 1], np.int8), np.array([True, False]), np.array([1.5, 2])
    table = Valuations.from_columns({X: x, UP: up, "z": z})
    assert [table.row(row) for row in range(2)] == [{"x": 3, "up": True, "z": 1.5}, {"x": 1, "up": False, "z": 2.0}]
    assert table == Valuations.from_rows([X, UP, "z"], [table.row(0), table.row(1)])


def test_equality_is_exact() -> None:
    table = Valuations.from_rows([ANY], [{"any": 1}])
    assert table == Valuations.from_rows([ANY], [{"any": 1}])
    assert table != Valuations.from_rows([ANY], [{"any": True}])
    assert table != Valuations.from_rows([Variable("other")], [{"other": 1}])
    assert table != [{"any": 1}]
    assert pickle.loads(pickle.dumps(table)) == table
    assert hash(pickle.loads(pickle.dumps(table))) == hash(table)
    assert repr(table) == "Valuations(['any'], rows=1)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Valuations.from_rows([X], [{"x": 1}, {"x": 9}]),
            "'x' has a wrong value in row 1: 9 is not in",
        ),
        (
            lambda: Valuations.from_rows([X], [{"x": 9}], owner=lambda i: "state 's0'"),
            "wrong value in state 's0'",
        ),
        (lambda: Valuations.from_rows([UP], [{"ap": 1}]), "row 0 has a value for 'ap', .* did you mean 'up'"),
        (lambda: Valuations.from_rows([X, X], []), "two variables have the name 'x'"),
        (lambda: Valuations.from_rows([ANY], [{"any": [1]}]), "variable 'any' in row 0: .* a list cannot be a state"),
        (lambda: Valuations.from_columns({X: [1], UP: [True, False]}), r"different lengths: \[1, 2\]"),
        (lambda: Valuations.from_columns({X: np.array([1, 4])}), "row 1: 4 is not in"),
        (lambda: Valuations.from_columns({UP: np.array([1, 0])}), "row 0: 1 is not in BoolDomain"),
        (lambda: Valuations((X,), np.array([[3]])), "variable 'x' has the code 3 in row 0; codes are below 3"),
        (lambda: Valuations((X,), np.array([[-2]])), "the code -2 in row 0"),
        (lambda: Valuations((ANY,), np.array([[0]])), "has no domain: give the table"),
        (lambda: Valuations((ANY,), np.array([[1]]), (("a",),)), "codes are below 1"),
        (lambda: Valuations((X, UP), np.array([[0]])), "must have the shape any x 2, got 1 x 1"),
        (lambda: Valuations((X,), np.array([[0]]), (None, None)), "1 variables but 2 tables"),
        (lambda: Valuations(("x",), np.array([[0]])), "a Variable is wanted, got 'x'"),  # type: ignore[arg-type]  # wrong on purpose
    ],
)
def test_what_is_no_table_is_refused(make: Any, message: str) -> None:
    with pytest.raises(BadModel, match=message):
        make()


def test_a_value_that_is_not_there_is_said_so() -> None:
    table = Valuations.from_rows([X, UP], [{"up": True}])
    assert (table.value(0, 1), table.column("up")) == (True, 1)
    with pytest.raises(UnknownName, match="variable 'x' has no value in row 0"):
        table.value(0, 0)
    with pytest.raises(UnknownName, match="there is no variable 'upp': did you mean 'up'"):
        table.column("upp")


def test_categories_are_encoded_exactly() -> None:
    variable = Variable("c", CategoricalDomain((1, True, 1.0)))
    table = Valuations.from_rows([variable], [{"c": 1.0}, {"c": True}, {"c": 1}])
    assert table.codes[:, 0].tolist() == [2, 1, 0]
