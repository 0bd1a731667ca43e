"""What holds for every test: doctests run in a folder of their own, random histories are the same each time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

__all__: list[str] = []

settings.register_profile(
    "here", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", settings.get_profile("here"), derandomize=False, max_examples=2_000)
settings.load_profile("here")


@pytest.fixture(autouse=True)
def _doctests_write_into_a_folder_of_their_own(request: pytest.FixtureRequest) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
