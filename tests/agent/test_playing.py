from __future__ import annotations

import pytest

from surefoot import Knowledge, Protect, RiskBudget
from surefoot.agent.budget import Budget
from surefoot.agent.episode import Stopped
from surefoot.agent.loop import Look
from surefoot.agent.playing import Mind, Playing, name_of_slow, open_goals
from surefoot.agent.slow import Search
from surefoot.errors import BadArgument, ValueRejected
from surefoot.protocols import moved


def mind(knowledge: Knowledge | None = None) -> Mind:
    return Mind(knowledge or Knowledge(), Search(), Budget(), Protect())


def test_an_episode_has_a_result_only_when_it_has_ended() -> None:
    playing = Playing(mind(), "main", None, 0)
    with pytest.raises(BadArgument, match="not ended"):
        playing.episode()
    playing.end(Stopped.INTERRUPTED)
    playing.end(Stopped.DONE)
    assert playing.episode().stopped is Stopped.INTERRUPTED
    assert playing.decide(Look({}, ["x"], ())) is None


def test_an_episode_that_was_left_behind_is_ended_when_the_next_begins() -> None:
    knowledge = Knowledge()
    Playing(mind(knowledge), "main", None, 0)
    Playing(mind(knowledge), "main", None, 0)
    assert list(knowledge.experience.fold.running) == [1]


def test_a_goal_that_is_reached_at_the_start_ends_it_there() -> None:
    knowledge = Knowledge().goal("here", lambda s: s == 0)
    playing = Playing(mind(knowledge), "main", None, 0)
    assert playing.stopped is Stopped.GOALS
    assert playing.episode().goals_done == ("here",)


def test_what_is_no_outcome_is_refused_and_nothing_is_recorded() -> None:
    knowledge = Knowledge()
    playing = Playing(mind(knowledge), "main", None, 0)
    option = playing.decide(Look({}, ["x"], ()))
    assert option is not None
    before = len(knowledge.journal)
    with pytest.raises(ValueRejected, match="Outcome"):
        playing.came(option, 1)
    assert len(knowledge.journal) == before
    playing.came(option, moved(1))
    assert playing.here.state == 1


def test_what_decides_is_recorded() -> None:
    thought = Mind(Knowledge(), Search(layered=False), Budget(money=2.5), RiskBudget(), key=str)
    assert thought.rules() == {
        "budget": {"decisions": None, "seconds": None, "money": 2.5},
        "courses": True,
        "plain": False,
        "risk": "RiskBudget",
        "slow": {"search": {"depth": 24, "expansions": 256, "layered": False, "whole": 4096}},
    }
    assert name_of_slow(lambda snapshot: None)["name"] == "<lambda>"


def test_the_open_goals() -> None:
    knowledge = Knowledge().goal("a", lambda s: False).goal("b", lambda s: False, requires=["a"])
    assert open_goals(knowledge, 0) == ("a",)
