"""What changes a map's answers is recorded like everything else."""

from __future__ import annotations

import pytest

from surefoot import events
from surefoot.errors import BadArgument
from surefoot.knowledge.settings import Settings


def test_settings_travel_as_an_event() -> None:
    settings = Settings(hypothesis_cost=7, stochastic=True, stale_after=9, stale_visits=4, name="été")
    event = events.event_of("map", settings.encode())
    assert isinstance(event, events.Configured)
    assert Settings.of(event) == settings


@pytest.mark.parametrize("bad", [{"hypothesis_cost": True}, {"hypothesis_cost": None}, {"stale_visits": 2**40}])
def test_settings_out_of_range(bad: dict[str, int]) -> None:
    with pytest.raises(BadArgument, match=next(iter(bad))):
        Settings(**bad)  # type: ignore[arg-type]  # wrong on purpose
