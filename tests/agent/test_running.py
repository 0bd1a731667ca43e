from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from surefoot import Agent, Knowledge
from surefoot.agent.episode import Stopped
from surefoot.agent.running import merge, run_many
from surefoot.environments.corridor import Corridor
from surefoot.errors import BadArgument
from surefoot.protocols import Outcome, moved

MODULE = """
from surefoot import Agent, Knowledge
from surefoot.environments.corridor import Corridor

class Short(Corridor):
    def step(self, action):
        if self.broken:
            raise OSError("the wire is cut")
        return super().step(action)

def make(path):
    world = Short(length=4)
    world.broken = path.name == "seed-3.db"
    if path.name == "seed-4.db":
        raise RuntimeError("no world here")
    return Agent(world, knowledge=Knowledge(path))
"""


def test_episodes_side_by_side_and_what_they_learned_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "side_by_side.py").write_text(textwrap.dedent(MODULE), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import side_by_side  # type: ignore[import-not-found]  # made above

    try:
        many = run_many(side_by_side.make, [1, 3, 4], tmp_path / "journals", episodes=2, workers=1)
    finally:
        sys.modules.pop("side_by_side")
    assert not many
    assert [episode.steps for episode in many.episodes[1]] == [11, 4]
    assert {episode.stopped for episode in many.episodes[3]} == {Stopped.RAISED}
    assert many.failed == {4: "RuntimeError: no world here"}
    lengths = {seed: path.stat().st_size for seed, path in many.journals.items() if path.exists()}
    replayed = many.replay(side_by_side.make)
    assert {seed: (again.ok, again.decisions) for seed, again in replayed.items()} == {1: (True, 15), 3: (True, 2)}
    assert many.diff((1, 0), (1, 0)) is None
    gone = many.diff((1, 0), (3, 1))
    assert gone is not None
    assert (gone.step, gone.what) == (0, "end")
    with pytest.raises(BadArgument, match="no journal of the seed 9"):
        many.diff((1, 0), (9, 0))
    words = many.report(tmp_path / "report.html").splitlines()
    assert words[0].startswith("seed 1: 2 episodes, 15 decisions")
    assert words[-1] == "seed 4: failed: RuntimeError: no world here"
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("<h2>seed") == 2
    assert lengths == {seed: path.stat().st_size for seed, path in many.journals.items() if path.exists()}
    knowledge = Knowledge()
    assert merge(knowledge, [many.journals[1], many.journals[3]])["journals"] == 2
    assert Agent(Corridor(length=4), knowledge=knowledge).run().steps == 4
    assert not merge(knowledge, many.journals[1])["journals"]


def test_merging_again_takes_over_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "there.db"
    here = Knowledge()
    for length, news in ((3, True), (3, True)):
        with Knowledge(path) as there:
            Agent(Corridor(length), knowledge=there).run()
        counts = merge(here, path)
        assert (counts["journals"] == 1) == news
        assert counts["observations"] > 0
    assert merge(here, path) == {"events": 0, "observations": 0, "journals": 0}
    agent = Agent(Corridor(3), knowledge=here)
    assert agent.run().steps == 3
    assert agent.replay().ok
    assert here.verify()


def test_a_map_of_chance_and_a_certain_one_become_one_of_chance(tmp_path: Path) -> None:
    class Slips(Corridor):
        steps = 0

        def step(self, action: str) -> Outcome[int]:
            self.steps += 1
            assert self._cell is not None
            return moved(self._cell) if self.steps % 3 == 0 else super().step(action)

    for number, (first, second) in enumerate(((Slips, Corridor), (Corridor, Slips))):
        path = tmp_path / f"{number}.db"
        here = Knowledge()
        with Knowledge(path) as there:
            for world, knowledge in ((first, here), (second, there)):
                agent = Agent(world(4), knowledge=knowledge)
                for _ in range(4):
                    agent.run(steps=60)
        merge(here, path)
        assert here.map().stochastic


@pytest.mark.parametrize(
    "wrong",
    [{"seeds": [1, 1]}, {"seeds": [-1]}, {"seeds": ["a"]}, {"seeds": [1], "episodes": 0}, {"seeds": [1], "workers": 0}],
)
def test_a_number_out_of_its_range_is_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(BadArgument):
        run_many(len, folder=tmp_path, **wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_there_must_be_something_to_merge(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="no journal to merge"):
        merge(Knowledge(), [tmp_path / "nothing.db"])
