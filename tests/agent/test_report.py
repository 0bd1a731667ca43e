from __future__ import annotations

from pathlib import Path

import pytest

from surefoot import Agent, Knowledge
from surefoot.agent.report import gather, in_words, page, write_page
from surefoot.environments.corridor import Corridor


def played() -> Agent:
    knowledge = Knowledge().goal("<out>", lambda s: s == 3)
    agent = Agent(Corridor(), knowledge=knowledge)
    agent.run()
    agent.run()
    return agent


def test_it_tells_of_each_episode() -> None:
    agent = played()
    told = gather(agent.knowledge)
    assert [episode.steps for episode in told.episodes] == [8, 3]
    assert told.decisions == {"fast": 3, "slow": 8, "none": 0}
    assert "2 episodes, 11 decisions: 3 fast, 8 slow" in in_words(told)
    agent.new_episode(0)
    assert "broken off" in agent.report()


def test_the_page_is_one_file_without_a_network_and_escapes_what_it_shows(tmp_path: Path) -> None:
    agent = played()
    agent.knowledge.gate("no", lambda s, call: "a <b>reason</b>", blocks="*")
    agent.run()
    place = tmp_path / "report.html"
    agent.report(html=place)
    text = place.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "&lt;out&gt;" in text
    assert "<b>" not in text
    assert "http" not in text
    assert "<script" not in text
    assert list(tmp_path.iterdir()) == [place]
    assert str(agent.knowledge.head) in text


def test_a_page_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    told = gather(Knowledge())
    with pytest.raises(OSError, match="nowhere"):
        write_page(told, tmp_path / "nowhere" / "report.html")
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_page(told, tmp_path / "taken")
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]
    assert page(told)
