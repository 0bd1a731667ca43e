from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from surefoot.cli import main
from surefoot.environments.corridor import Corridor


def test_it_acts_and_goes_on_from_what_it_knows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x.jsonl")
    assert main(["agent", "corridor:5", "--episodes", "2", "--journal", path]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "episode 0 on 'main': done after 14 steps, 1 refused, 0 fast and 14 slow"
    assert shown[1].startswith("episode 1 on 'main': done after 5 steps")
    assert shown[2].startswith(f"{path}: ")
    assert main(["agent", "corridor:5", "--goal", "=3", "--goal", "=1", "--journal", path, "--json"]) == 0
    (episode,) = json.loads(capsys.readouterr().out)["episodes"]
    assert (episode["episode"], episode["steps"], episode["reached"]) == (2, 3, ["be in =1", "be in =3"])
    assert main(["agent", "corridor:5", "--goal", "=2", "--journal", path]) == 0  # the goals before are no goals now
    assert "goals reached after 2 steps" in capsys.readouterr().out


def test_what_is_not_reached_is_a_no_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "corridor:2", "--goal", "1"]) == 1
    assert "The nearest states that the map knows:\n  =1\n" in capsys.readouterr().out
    assert main(["agent", "corridor:9", "--steps", "3"]) == 1
    assert "out of steps after 3 steps" in capsys.readouterr().out


def test_a_world_that_breaks_is_told_by_the_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall(self: Corridor, action: Any) -> Any:
        raise OSError("the floor is gone")

    monkeypatch.setattr(Corridor, "step", fall)
    assert main(["agent", "corridor:2"]) == 3
    assert "OSError: the floor is gone" in capsys.readouterr().out


def test_ctrl_c_ends_the_episode_and_the_record_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = str(tmp_path / "x.jsonl"), Corridor.step

    def step(self: Corridor, action: Any) -> Any:
        if action == "right":
            signal.raise_signal(signal.SIGINT)
        return real(self, action)

    with monkeypatch.context() as patched:
        patched.setattr(Corridor, "step", step)
        assert main(["agent", "corridor:9", "--journal", path, "--episodes", "5"]) == 130
    capsys.readouterr()
    assert main(["report", path]) == 0
    assert "interrupted" in capsys.readouterr().out
    assert main(["agent", "corridor:9", "--journal", path]) == 0
    assert main(["replay", path]) == 0
