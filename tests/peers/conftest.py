"""Tests that need other people's packages; `make peers` makes an environment that has them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from surefoot.models import Model


def _zoo() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "models" / "exchange" / "conftest.py"
    spec = importlib.util.spec_from_file_location("exchange_models", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


zoo = _zoo()


@pytest.fixture(params=list(zoo.ALL))
def model(request: pytest.FixtureRequest) -> Model:
    """Give each model whose observations are not drawn at random."""
    made: Model = zoo.ALL[request.param]()
    return made


@pytest.fixture(params=list(zoo.NOISY))
def noisy(request: pytest.FixtureRequest) -> Model:
    """Give each model whose observations are drawn at random."""
    made: Model = zoo.NOISY[request.param]()
    return made
