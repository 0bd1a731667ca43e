from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import BadArgument, MissingExtra
from surefoot.models.examples import die
from surefoot.models.solution import Objective, Status
from surefoot.solvers.storm import ask, is_there, linear_time, storm, to_storm


@pytest.mark.skipif(is_there(), reason="the package stormpy is installed")
def test_without_stormpy_the_line_that_mends_it_is_named() -> None:
    model = die()
    with pytest.raises(MissingExtra, match=r"pip install 'surefoot\[storm\]'"):
        storm(model, Objective(model.labels["six"]))
    with pytest.raises(MissingExtra, match="stormpy"):
        linear_time(model, 'G (F "six")', "max")


def test_what_storm_cannot_be_asked_is_refused() -> None:
    model = die()
    with pytest.raises(BadArgument, match="through is not passed on"):
        storm(model, Objective(model.labels["six"], through=~model.labels["five"]))
    interval = model.replace(lower=model.probability, upper=model.probability)
    with pytest.raises(BadArgument, match="LTL on interval models"):
        linear_time(interval, 'G (F "six")', "max")


@pytest.mark.skipif(not is_there(), reason="the package stormpy (extra: storm) is not installed")
def test_what_storm_returns_is_proved() -> None:
    model = die()
    found = storm(model, Objective(model.labels["six"]))
    assert found.status is Status.CERTIFIED
    assert found.lower[0] <= 1 / 6 <= found.upper[0]
    assert abs(ask(to_storm(model), 'P=? [F "six"]')[0] - 1 / 6) < 1e-6
    assert linear_time(model, 'F (G "six")', "max").lower[0] == pytest.approx(1 / 6, abs=1e-5)
    paid = storm(model, Objective(model.labels["done"], reward=model.expected_reward()))
    assert paid.lower[0] <= 11 / 3 <= paid.upper[0]
    assert np.isinf(storm(model, Objective(model.labels["six"], reward=model.expected_reward())).lower[0])
