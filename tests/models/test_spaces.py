from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import BadModel
from surefoot.models import BoolDomain, CategoricalDomain, IntDomain, Variable
from surefoot.models.spaces import Domain

LOOK_ALIKES: list[Any] = [1, True, 1.0, "1", 0, False, 0.0, -0.0, (1,), (True,), (1.0,)]


@given(st.integers(-50, 50), st.integers(0, 50), st.booleans())
def test_whole_numbers_go_to_codes_and_back(lo: int, width: int, allow_none: bool) -> None:
    domain = IntDomain(lo, lo + width, allow_none)
    inside = [*range(lo, lo + width + 1), *([None] if allow_none else [])]
    assert [domain.encode(value) for value in inside] == list(range(domain.size))
    assert [domain.decode(code) for code in range(domain.size)] == inside


@pytest.mark.parametrize(
    "domain",
    [
        IntDomain(0, 3),
        BoolDomain(),
        BoolDomain(allow_none=True),
        CategoricalDomain(("a", "b")),
        CategoricalDomain(tuple(LOOK_ALIKES), allow_none=True),
    ],
)
def test_every_code_has_a_value_of_its_own(domain: Domain) -> None:
    values = [domain.decode(code) for code in range(domain.size)]
    assert [domain.encode(value) for value in values] == list(range(domain.size))
    assert pickle.loads(pickle.dumps(domain)) == domain
    assert hash(pickle.loads(pickle.dumps(domain))) == hash(domain)
    for code in (-1, domain.size):
        with pytest.raises(BadModel, match=r"codes are in \[0, "):
            domain.decode(code)


@pytest.mark.parametrize("value", [True, 1.0, "1", (1,), 4, -1, np.float64(1), None, np.bool_(True)])
def test_an_int_domain_takes_whole_numbers_only(value: object) -> None:
    with pytest.raises(BadModel, match="is not in IntDomain"):
        IntDomain(0, 3).encode(value)


def test_numbers_of_numpy_are_numbers() -> None:
    assert IntDomain(0, 3).encode(np.int32(2)) == 2
    assert BoolDomain().encode(np.bool_(True)) == 1
    assert CategoricalDomain((1, True)).encode(np.int64(1)) == 0
    assert CategoricalDomain((1, True)).encode(np.bool_(True)) == 1


@pytest.mark.parametrize("value", [0, 1, 1.0, "True", None])
def test_a_bool_domain_takes_truth_values_only(value: object) -> None:
    with pytest.raises(BadModel, match=r"is not in BoolDomain"):
        BoolDomain().encode(value)


def test_categories_that_look_alike_stay_apart() -> None:
    domain = CategoricalDomain(tuple(LOOK_ALIKES))
    assert [domain.encode(value) for value in LOOK_ALIKES] == list(range(len(LOOK_ALIKES)))
    assert CategoricalDomain((1,)) != CategoricalDomain((True,))
    assert CategoricalDomain((1, 2)) != CategoricalDomain((2, 1))
    assert CategoricalDomain((1, 2)) == CategoricalDomain((1, 2))
    assert CategoricalDomain((1, 2)) != "(1, 2)"
    with pytest.raises(BadModel, match="1.0 is not in"):
        CategoricalDomain((1, True)).encode(1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IntDomain(3, 2), "needs lo <= hi, got lo=3, hi=2"),
        (lambda: IntDomain(0.0, 2), "lo of IntDomain must be a whole number, got 0.0"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: IntDomain(0, True), "hi of IntDomain must be a whole number, got True"),
        (lambda: IntDomain(0, 2**62), "below 2\\*\\*62"),
        (lambda: IntDomain(0, 1, 1), "allow_none must be True or False, got 1"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: BoolDomain(None), "allow_none must be True or False, got None"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: CategoricalDomain(()), "at least one value"),
        (lambda: CategoricalDomain("abc"), "put it into a tuple"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: CategoricalDomain(("a", "a")), "has a value twice"),
        (lambda: CategoricalDomain(("a", None)), "use allow_none=True"),
        (lambda: CategoricalDomain((["a"],)), "a list cannot be a state; use a tuple"),
        (lambda: CategoricalDomain((float("nan"),)), "not a finite number"),
        (lambda: Variable(""), "must be text and not empty"),
        (lambda: Variable("x", "int"), "must be an IntDomain, BoolDomain or CategoricalDomain"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: IntDomain(0, 3).encode(None), "use allow_none=True if it is a value"),
    ],
)
def test_what_is_no_domain_is_refused(make: Any, message: str) -> None:
    with pytest.raises(BadModel, match=message):
        make()


def test_domains_show_how_they_are_made() -> None:
    shown = [IntDomain(0, 3), IntDomain(0, 3, True), BoolDomain(), BoolDomain(True), CategoricalDomain((1, "a"), True)]
    assert [eval(repr(one)) for one in shown] == shown
