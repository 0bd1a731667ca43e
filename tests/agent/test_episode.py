from __future__ import annotations

import pytest

from surefoot.agent.episode import Episode, Stopped


@pytest.mark.parametrize("stopped", Stopped)
def test_it_ended_well_when_the_world_said_done_or_every_goal_is_reached(stopped: Stopped) -> None:
    episode = Episode(0, "main", None, stopped)
    assert bool(episode) == (stopped in (Stopped.DONE, Stopped.GOALS))
    assert episode.done == (stopped in (Stopped.DONE, Stopped.LOST))


def test_it_is_said_in_one_line() -> None:
    episode = Episode(3, "m", 1, Stopped.UNSURE, "ask Kim", 5, goals_done=("a",), goals_open=("b", "c"))
    assert str(episode) == (
        "episode 3 on 'm': unsure (ask Kim) after 5 steps, 0 refused, 0 fast and 0 slow; reached a; open: b, c"
    )
