"""Ways that are sampled against ways that are solved."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from surefoot import Agent, Knowledge, WorldMap
from surefoot.agent.decision import Option
from surefoot.agent.experience import ExperienceFold, Running
from surefoot.agent.situation import Situation, situation_of
from surefoot.agent.slow import Search
from surefoot.agent.uct import UCT
from surefoot.agent.ways import Ways
from surefoot.errors import BadArgument
from surefoot.protocols import Outcome, ended, moved

MOVES = {"down": (0, 1), "left": (-1, 0), "right": (1, 0), "up": (0, -1)}
GOAL, HOLE = (2, 2), (1, 1)


def slide(at: tuple[int, int], action: str, turn: int) -> tuple[int, int]:
    """Return where a move leads on ice of 3 x 3 cells, straight (0) or to a side (1, -1)."""
    dx, dy = MOVES[action]
    if turn:
        dx, dy = dy * turn, dx * turn
    there = at[0] + dx, at[1] + dy
    return there if 0 <= there[0] < 3 and 0 <= there[1] < 3 else at


def ice() -> WorldMap:
    """Return a map on which each action was taken ten times: 6 went straight, 2 to each side."""
    known = WorldMap(stochastic=True)
    for x in range(3):
        for y in range(3):
            if (x, y) not in (GOAL, HOLE):
                for action in MOVES:
                    for turn, times in ((0, 6), (1, 2), (-1, 2)):
                        for _ in range(times):
                            known.arrive((x, y), action, slide((x, y), action, turn))
    return known


def at(place: tuple[int, int], known: WorldMap, step: int = 0) -> Situation:
    fold, running = ExperienceFold(), Running(0, "main", b"[0,0]")
    fold.targets["main"] = {"there": {b"[2,2]": None}}
    running.steps = step
    key = b"[%d,%d]" % place
    options = tuple(Option(action, "accept", choice="take") for action in sorted(MOVES))
    return situation_of((place, key), ("there",), options, known, fold, running, Ways(solves=False))


def solved(known: WorldMap, horizon: int) -> dict[Any, float]:
    """Return what each (state, action) is worth by value iteration over the steps that are left: the definition."""
    leads = {(c.state, c.action): [(to, times / 10) for to, times in c.counts] for c in known.claims()}
    value: dict[Any, float] = {}
    for depth in reversed(range(horizon)):
        reached = 1 - (depth + 1) / (2 * horizon)
        worth = {
            pair: sum(odds * (reached if to == GOAL else value.get(to, 0.0)) for to, odds in places)
            for pair, places in leads.items()
        }
        value = {state: max(worth[state, action] for action in MOVES) for state, _ in leads}
    return worth


def test_it_chooses_what_value_iteration_chooses_or_what_is_nearly_as_good() -> None:
    known = ice()
    rules = UCT(simulations=600, horizon=30, hopeful=False)
    worth = solved(known, rules.horizon)
    spread = []
    for place in ((0, 0), (0, 2), (1, 2), (2, 0), (1, 0)):
        answer = rules.find(at(place, known))
        of = [worth[place, action] for action in MOVES]
        spread.append(max(of) - min(of))
        assert answer.rule == "uct"
        assert worth[place, answer.action] >= max(of) - 0.02, place
    assert sum(each > 0.1 for each in spread) >= 2  # there was something to choose


def test_the_dice_are_those_of_the_seed_the_episode_and_the_step() -> None:
    known = ice()
    few = UCT(simulations=6, horizon=10)
    answers = [few.find(at((0, 0), known, step)).action for step in range(12)]
    assert answers == [few.find(at((0, 0), known, step)).action for step in range(12)]
    assert len(set(answers)) > 1
    assert answers != [UCT(simulations=6, horizon=10, seed=1).find(at((0, 0), known, s)).action for s in range(12)]


def test_on_a_certain_map_and_without_a_goal_it_does_what_a_search_does() -> None:
    known = WorldMap().see((0, 0), "left")
    assert UCT().find(at((0, 0), known)) == Search().find(at((0, 0), known))
    alone = at((0, 0), ice())
    alone.fold.targets.clear()
    assert UCT().find(alone) == Search().find(alone)


@pytest.mark.parametrize(
    "bad", [{"simulations": 0}, {"horizon": True}, {"explores": float("nan")}, {"seed": -1}, {"depth": -1}]
)
def test_what_is_out_of_range_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(BadArgument, match=f"{next(iter(bad))} must be"):
        UCT(**bad)


class Ice:
    """The same ice, to walk on."""

    def reset(self, seed: int | None = None) -> tuple[int, int]:
        self._dice, self._at = random.Random(seed), (0, 0)
        return self._at

    def actions(self, state: tuple[int, int]) -> list[str]:
        return [] if state in (GOAL, HOLE) else sorted(MOVES)

    def step(self, action: str) -> Outcome[tuple[int, int]]:
        self._at = slide(self._at, action, self._dice.choice((0, 0, 0, 1, -1)))
        return (ended if self._at in (GOAL, HOLE) else moved)(self._at)


@pytest.mark.parametrize("slow", [UCT(simulations=48, horizon=16), Search()])
def test_what_one_process_began_another_goes_on_with_and_all_of_it_replays(slow: Search, tmp_path: Path) -> None:
    for _ in range(2):
        with Knowledge(tmp_path / "ice.db").goal("there", lambda state: tuple(state) == GOAL) as knowledge:
            agent = Agent(Ice(), knowledge=knowledge, slow=slow)
            for _ in range(2):
                agent.run(steps=20)
            again = agent.replay()
            assert again, again.first
