from __future__ import annotations

from typing import Any

import pytest

from surefoot.agent.walks import Rules, Stopped, Walk, episode_seed
from surefoot.errors import BadArgument


def test_seeds_of_episodes_fit_what_takes_31_bits() -> None:
    seeds = [episode_seed(s, e) for s in range(20) for e in range(1, 20)]
    assert len(set(seeds)) == len(seeds)
    assert all(seed is not None and 0 <= seed < 2**31 for seed in seeds)


def test_the_first_episode_has_the_seed_itself_and_the_others_have_their_own() -> None:
    assert episode_seed(5, 0) == 5
    assert episode_seed(5, 1) != episode_seed(6, 0)
    assert episode_seed(5, 3, reseed=False) == 5
    assert episode_seed(None, 3) is None


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ({"steps": -1}, "steps must be an int >= 0 or None, got -1"),
        ({"steps": True}, "steps must be an int >= 0 or None, got True"),
        ({"seed": "0"}, "seed must be an int >= 0 or None, got '0'"),
        ({"retries": None}, "retries must be an int >= 0, got None"),
        ({"keep": 1.5}, "keep must be an int >= 0, got 1.5"),
        ({"pause": -1}, "pause must be a number of seconds >= 0, got -1"),
        ({"pause": float("nan")}, "pause must be a number of seconds >= 0, got nan"),
        ({"pause": float("inf")}, "pause must be a number of seconds >= 0, got inf"),
        ({"pause": True}, "pause must be a number of seconds >= 0, got True"),
    ],
)
def test_a_rule_out_of_its_range_is_refused(rules: dict[str, Any], says: str) -> None:
    with pytest.raises(BadArgument, match=says):
        Rules(**rules)


def test_a_walk_is_true_when_it_did_what_it_was_for() -> None:
    good = {Stopped.REACHED, Stopped.NOTHING_LEFT}
    assert {stopped for stopped in Stopped if Walk(stopped, "a")} == good
