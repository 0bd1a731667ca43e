from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Agent, Knowledge, RiskBudget, Vocabulary
from surefoot.agent.budget import Budget
from surefoot.agent.episode import Stopped
from surefoot.agent.slow import Proposal, Search
from surefoot.environments.corridor import Corridor
from surefoot.environments.crafting import MEADOW, Crafting
from surefoot.errors import BadArgument, ContractBroken, NotStarted, ValueRejected
from surefoot.protocols import Outcome, ended, faulted, moved, refused

MOVES = {"down": (0, 1), "left": (-1, 0), "right": (1, 0), "up": (0, -1)}


class Grid:
    """A square with a goal in the far corner; walls refuse, slips are seeded, and it can swap left and right."""

    def __init__(self, side: int = 4, *, slip: float = 0.0, press: bool = False, swap_after: int = 10**9) -> None:
        self.side, self.slip, self.press, self.swap_after = side, slip, press, swap_after
        self.episodes = self.steps = 0
        self.random = random.Random(0)
        self.at = (0, 0)

    def reset(self, seed: int | None = None) -> tuple[int, int]:
        self.random, self.at = random.Random(seed), (0, 0)
        self.episodes += 1
        return self.at

    def actions(self, state: tuple[int, int]) -> list[str]:
        return [] if state == (self.side - 1, self.side - 1) else [*MOVES, *(["press"] if self.press else [])]

    def step(self, action: str) -> Outcome[tuple[int, int]]:
        self.steps += 1
        if action == "press":
            return moved(self.at)
        dx, dy = MOVES[action]
        if self.episodes > self.swap_after:
            dx = -dx
        if self.slip and self.random.random() < self.slip:
            turn = self.random.choice((1, -1))
            dx, dy = dy * turn, dx * turn
        x, y = self.at[0] + dx, self.at[1] + dy
        if not (0 <= x < self.side and 0 <= y < self.side):
            return moved(self.at) if self.slip else refused(self.at, "a wall")
        self.at = x, y
        return (ended if self.at == (self.side - 1, self.side - 1) else moved)(self.at)


class Button:
    """A corridor with a button that works in one place."""

    def reset(self, seed: int | None = None) -> int:
        self.at = 0
        return 0

    def actions(self, state: int) -> list[str]:
        return ["left", "press", "right"] if state < 8 else []

    def step(self, action: str) -> Outcome[int]:
        if action == "press":
            return ended(8) if self.at == 5 else moved(self.at)
        to = self.at + (1 if action == "right" else -1)
        if not 0 <= to < 8:
            return refused(self.at, "a wall")
        self.at = to
        return moved(to)


# ── learning ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("make", "fewest"), [(lambda: Corridor(6), 6), (Grid, 6), (Button, 6)])
def test_the_second_episode_of_a_deterministic_world_takes_the_fewest_steps(make: Any, fewest: int) -> None:
    agent = Agent(make(), knowledge=Knowledge())
    episodes = [agent.run() for _ in range(4)]
    assert [episode.steps for episode in episodes[1:]] == [fewest] * 3
    assert all(episodes)
    assert episodes[3].fast == fewest
    assert episodes[3].slow == 0


def test_it_never_gets_worse_with_experience_where_an_action_is_accepted_and_does_nothing() -> None:
    agent = Agent(Grid(press=True), knowledge=Knowledge())
    steps = [agent.run().steps for _ in range(6)]
    assert steps == sorted(steps, reverse=True)
    assert steps[-1] == 6


def test_a_world_of_chance_is_noticed_and_solved() -> None:
    knowledge = Knowledge()
    agent = Agent(Grid(slip=0.2), knowledge=knowledge)
    episodes = [agent.run(steps=200) for _ in range(7)]
    assert knowledge.map().stochastic
    assert all(episodes[1:])
    assert sum(episode.steps for episode in episodes[2:]) / 5 < 14  # the best policy takes about 8


def test_a_world_that_swaps_left_and_right_is_learned_again_within_two_episodes() -> None:
    knowledge = Knowledge()
    agent = Agent(Grid(swap_after=3), knowledge=knowledge)
    episodes = [agent.run(steps=400) for _ in range(6)]
    assert all(episodes)
    assert not knowledge.map().stochastic
    assert episodes[3].steps < episodes[0].steps  # it costs what has changed, not the whole world
    assert episodes[5].steps == 6


def test_the_first_contradiction_puts_one_place_in_doubt_and_not_the_map() -> None:
    class Moved(Corridor):
        trap = False

        def step(self, action: str) -> Outcome[int]:
            if self.trap and self._cell == 4 and action == "right":
                self._cell = 3
                return moved(3)
            return super().step(action)

    world, knowledge = Moved(length=8), Knowledge()
    agent = Agent(world, knowledge=knowledge)
    agent.run()
    before = knowledge.map().stats()
    world.trap = True
    agent.run(steps=5)  # the fifth step is the one that is no longer what it was
    known = knowledge.map()
    assert before["doubtful"] == 0
    assert [c.action for c in known.claims(4) if c.doubtful] == ["left"]
    assert known.stats()["doubtful"] == 1


def test_a_goal_that_moved_is_found_again() -> None:
    class Moving(Grid):
        goal = (3, 3)

        def actions(self, state: tuple[int, int]) -> list[str]:
            return list(MOVES)

        def step(self, action: str) -> Outcome[tuple[int, int]]:
            dx, dy = MOVES[action]
            x, y = self.at[0] + dx, self.at[1] + dy
            if not (0 <= x < 4 and 0 <= y < 4):
                return refused(self.at, "a wall")
            self.at = x, y
            return (ended if self.at == self.goal else moved)(self.at)

    world = Moving()
    agent = Agent(world, knowledge=Knowledge())
    assert [agent.run().steps for _ in range(2)][1] == 6
    world.goal = (0, 2)
    assert agent.run(steps=400)
    assert agent.run().steps == 2


def test_goals_are_worked_on_in_their_order_and_reported() -> None:
    has = {thing: (lambda s, t=thing: t in dict(s[1])) for thing in ("branch", "stone")}
    knowledge = Knowledge().goal("stone", has["stone"]).goal("branch", has["branch"], requires=["stone"])
    agent = Agent(Crafting(), knowledge=knowledge)
    first, second = agent.run(), agent.run()
    assert first.stopped is Stopped.GOALS
    assert first.goals_done == ("stone", "branch")
    assert not first.done
    assert second.steps <= first.steps
    assert second.steps == 5  # to the brook, a stone, back, to the wood, a branch


def test_rules_learned_with_a_vocabulary_carry_to_another_map() -> None:
    def kind_of(state: Any, args: Any) -> Any:
        return args["0"] if args else None

    vocabulary = Vocabulary(
        {
            "what": kind_of,
            "here": lambda s, a: kind_of(s, a) in {"log", "branch", "stone", "ore"} and s[0],
            "axe": lambda s, a: "axe" in dict(s[1]),
        }
    )
    knowledge = Knowledge(vocabulary=vocabulary).goal("stone", lambda s: "stone" in dict(s[1]))
    agent = Agent(Crafting(replace(MEADOW, room=1)), knowledge=knowledge)
    first = agent.run(map="here")
    again = agent.run(map="there")
    assert again.refused < first.refused
    assert knowledge.maps() == ["here", "there"]


def test_an_action_that_is_refused_now_and_then_is_not_lost() -> None:
    class Flaky(Corridor):
        chance = random.Random(3)

        def step(self, action: str) -> Outcome[int]:
            assert self._cell is not None
            if action == "right" and self.chance.random() < 0.1:
                return refused(self._cell, "busy")
            return super().step(action)

    agent = Agent(Flaky(length=4), knowledge=Knowledge())
    episodes = [agent.run(steps=200) for _ in range(20)]
    assert sum(map(bool, episodes[5:])) >= 14


# ── why it stops ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_closed_corridor_leaves_nothing() -> None:
    class Cell(Corridor):
        def step(self, action: str) -> Outcome[int]:
            return refused(0, "a wall")

    episode = Agent(Cell(), knowledge=Knowledge()).run()
    assert episode.stopped is Stopped.NOTHING_LEFT
    assert (episode.steps, episode.refused) == (2, 2)
    assert not episode


def test_a_gate_blocks_and_an_escalation_asks() -> None:
    for answer, stopped in (("closed today", Stopped.BLOCKED), (("escalate", "ask Kim"), Stopped.UNSURE)):

        def check(state: Any, call: Any, answer: Any = answer) -> Any:
            return answer

        knowledge = Knowledge().gate("way out", check, blocks="right")
        episode = Agent(Corridor(), knowledge=knowledge).run()
        assert episode.stopped is stopped
        assert str(answer[1] if isinstance(answer, tuple) else answer) in episode.why


def test_a_gate_can_terminate() -> None:
    knowledge = Knowledge().gate("fire", lambda s, call: ("terminate", "fire!"), blocks="*")
    episode = Agent(Corridor(), knowledge=knowledge).run()
    assert (episode.stopped, episode.steps) == (Stopped.TERMINATED, 0)
    assert "fire!" in episode.why


def test_a_gate_can_change_a_call() -> None:
    class Counter:
        at = 0

        def reset(self, seed: int | None = None) -> int:
            self.at = 0
            return 0

        def actions(self, state: int) -> list[Any]:
            return [("add", 5)] if state < 6 else []

        def step(self, action: Any) -> Outcome[int]:
            self.at += action[1]
            return moved(self.at, done=self.at >= 6)

    from surefoot.protocols import Call

    knowledge = Knowledge().gate("at most 2", lambda s, call: Call("add", {"0": min(2, call.args["0"])}), blocks="add")
    agent = Agent(Counter(), knowledge=knowledge)
    assert agent.run().steps == 3
    option = next(agent.decisions()).options[0]
    assert (option.action, option.instead_of) == (("add", 2), ("add", 5))
    assert agent.replay().ok


def test_over_with_a_goal_open_is_lost() -> None:
    class Hole(Corridor):
        def step(self, action: str) -> Outcome[int]:
            outcome = super().step(action)
            return ended(-1) if action == "left" else outcome

        def actions(self, state: int) -> Sequence[str]:
            return [] if state < 0 else super().actions(state)

    knowledge = Knowledge().goal("out", lambda s: s == 3)
    agent = Agent(Hole(length=3), knowledge=knowledge)
    episodes = [agent.run() for _ in range(5)]
    assert episodes[0].stopped is Stopped.LOST
    assert episodes[0].goals_open == ("out",)
    assert episodes[0].done
    assert episodes[-1].stopped is Stopped.GOALS
    assert episodes[-1].steps == 3


@pytest.mark.parametrize(("budget", "what"), [(2, "decisions"), (Budget(seconds=0.0), "seconds")])
def test_a_budget_bounds_the_slow_path(budget: Any, what: str) -> None:
    episode = Agent(Corridor(), knowledge=Knowledge(), budget=budget).run()
    assert episode.stopped is Stopped.OUT_OF_BUDGET
    assert what in episode.why
    assert episode.spent.decisions == (2 if what == "decisions" else 0)


def test_a_known_world_needs_no_budget() -> None:
    knowledge = Knowledge()
    Agent(Corridor(), knowledge=knowledge).run()
    assert Agent(Corridor(), knowledge=knowledge, budget=0).run()


def test_steps_and_seconds_bound_an_episode() -> None:
    agent = Agent(Corridor(), knowledge=Knowledge())
    assert agent.run(steps=1).stopped is Stopped.OUT_OF_STEPS
    assert agent.run(seconds=0).stopped is Stopped.OUT_OF_TIME


def test_an_episode_that_ends_in_a_new_place_leaves_it_to_be_looked_at() -> None:
    agent = Agent(Corridor(length=4), knowledge=Knowledge())
    for steps in range(1, 12):
        agent.run(steps=steps)
    assert agent.run().steps == 4


def test_a_check_that_cannot_read_the_state_is_reported_and_leaves_the_goal_open() -> None:
    knowledge = Knowledge().goal("out", lambda s: s["cell"] == 3)
    episode = Agent(Corridor(), knowledge=knowledge).run(steps=3)
    assert "TypeError" in episode.problems["out"]
    assert episode.goals_open == ("out",)


# ── hard checks hold on both paths ──────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=settings().max_examples // 4)
@given(
    st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from(sorted(MOVES))), max_size=14),
    st.booleans(),
    st.integers(0, 3),
)
def test_no_path_ever_crosses_a_gate_or_a_hard_rule(
    shut: set[tuple[int, int, str]], slippery: bool, taboo: int
) -> None:
    class Watched(Grid):
        def step(self, action: str) -> Outcome[tuple[int, int]]:
            assert (*self.at, action) not in shut, "through a gate"
            assert self.at != (taboo, taboo) or action != "up", "against a hard rule"
            return super().step(action)

    vocabulary = Vocabulary(
        {"at": lambda s, a: f"{s}", "allowed": lambda s, a: s != (taboo, taboo)},
        hard={"allowed": True},
        only={name: ["at"] for name in ("down", "left", "right")},
    )
    knowledge = Knowledge(vocabulary=vocabulary)
    knowledge.gate("shut", lambda s, call: (*s, call.name) not in shut, blocks="*")
    agent = Agent(Watched(slip=0.3 if slippery else 0.0), knowledge=knowledge)
    for _ in range(3):
        agent.run(steps=30)
    for decision in agent.decisions():
        for option in decision.options:
            if option.blocked is not None:
                assert option.action != decision.action
    replayed = agent.replay()
    assert replayed.ok, replayed.first


def test_a_risk_budget_is_charged_and_settled() -> None:
    budget = RiskBudget(per_episode=5, min_support=0)
    agent = Agent(Corridor(length=3), knowledge=Knowledge(), risk=budget)
    agent.run()
    agent.run()
    assert budget.spent_overall >= 0
    assert {booking.what for booking in budget.log} >= {"charge", "settle"}
    assert agent.replay().ok


def test_what_there_is_to_gain_can_be_said() -> None:
    agent = Agent(Corridor(2), knowledge=Knowledge(), gain=lambda state, action, goals: 2.0 if action == "right" else 0)
    agent.run()
    assert {o.action: o.gain for o in next(agent.decisions()).options} == {"left": 0.0, "right": 2.0}
    with pytest.raises(BadArgument, match="gain"):
        Agent(Corridor(2), knowledge=Knowledge(), gain=lambda *_: float("nan")).run()


# ── what goes wrong outside ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["reset", "actions", "step"])
def test_an_environment_that_raises_ends_the_episode_and_the_next_begins(method: str) -> None:
    class Failing(Corridor):
        broken = True

    def fail(self: Failing, *args: Any, **kwargs: Any) -> Any:
        if self.broken:
            raise OSError("the wire is cut")
        return getattr(Corridor, method)(self, *args, **kwargs)

    setattr(Failing, method, fail)
    world, knowledge = Failing(), Knowledge()
    agent = Agent(world, knowledge=knowledge)
    episode = agent.run()
    assert episode.stopped is Stopped.RAISED
    assert isinstance(episode.error, OSError)
    assert "the wire is cut" in episode.why
    world.broken = False
    assert agent.run()
    assert not knowledge.experience.fold.running
    assert agent.replay().ok


@pytest.mark.parametrize(
    ("outcome", "error"), [(("a", 0.0, True), ValueRejected), (Outcome(2, accepted=False), ContractBroken)]
)
def test_an_environment_that_breaks_its_contract_ends_the_episode(outcome: Any, error: type[Exception]) -> None:
    class Broken(Corridor):
        def step(self, action: str) -> Any:
            return outcome

    knowledge = Knowledge()
    episode = Agent(Broken(), knowledge=knowledge).run()
    assert episode.stopped is Stopped.RAISED
    assert isinstance(episode.error, error)
    assert not knowledge.map().claims(0)[0].taken
    assert knowledge.actions.predict(0, "left", {}).verdict == "unknown"


def test_faults_are_no_evidence() -> None:
    class Lame(Corridor):
        calls = 0

        def step(self, action: str) -> Outcome[int]:
            self.calls += 1
            assert self._cell is not None
            return faulted(self._cell, "503") if self.calls % 2 else super().step(action)

    agent = Agent(Lame(length=2), knowledge=Knowledge())
    first, second = agent.run(), agent.run()
    assert first.faults > 0
    assert second
    assert second.accepted == 2


def test_a_call_that_does_not_answer_in_time_ends_the_episode() -> None:
    class Stuck(Corridor):
        stuck = True

        def step(self, action: str) -> Outcome[int]:
            if self.stuck:
                time.sleep(0.4)
            return super().step(action)

    world = Stuck(length=1)
    agent = Agent(world, knowledge=Knowledge(), timeout=0.1)
    episode = agent.run()
    assert episode.stopped is Stopped.TIMED_OUT
    assert "did not answer" in episode.why
    world.stuck = False
    time.sleep(0.5)
    assert agent.run()


def test_an_interrupt_ends_the_episode_as_an_event_and_goes_on() -> None:
    class Interrupting(Corridor):
        broken = True

        def step(self, action: str) -> Outcome[int]:
            if self.broken and self._cell == 1:
                raise KeyboardInterrupt
            return super().step(action)

    world, knowledge = Interrupting(), Knowledge()
    agent = Agent(world, knowledge=knowledge)
    with pytest.raises(KeyboardInterrupt):
        agent.run()
    assert "interrupted" in agent.report()
    world.broken = False
    assert agent.run()
    assert agent.replay().ok
    assert knowledge.verify()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
def test_an_interrupt_may_come_at_any_time() -> None:
    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    chance, knowledge = random.Random(1), Knowledge()
    agent = Agent(Corridor(length=12), knowledge=knowledge)
    before = signal.signal(signal.SIGVTALRM, interrupt)
    interrupted, last = 0, time.monotonic() + 60
    gc.disable()  # Hypothesis is called back by each collection: what is raised in there, nobody hears of
    try:
        for _ in range(20):
            try:
                # In time that we run, not on the clock: on a busy machine that stops us before the same step each time,
                # and to walk the same steps three times without getting anywhere is what a loop guard is against.
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0005 + 0.006 * chance.random())
                while time.monotonic() < last:
                    agent.run()
            except KeyboardInterrupt:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        gc.enable()
        signal.signal(signal.SIGVTALRM, before)
    assert interrupted == 20
    assert agent.run()
    assert agent.replay().ok
    assert knowledge.verify()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("name", ["journal.db", "journal.jsonl"])
def test_a_killed_process_loses_nothing_that_was_acknowledged(tmp_path: Path, name: str) -> None:
    program = textwrap.dedent(
        """
        import sys
        from surefoot import Agent, Knowledge
        from surefoot.environments.corridor import Corridor
        class Told(Corridor):
            def step(self, action):
                print(len(knowledge.journal), flush=True)
                return super().step(action)
        knowledge = Knowledge(sys.argv[1])
        agent = Agent(Told(length=40), knowledge=knowledge)
        while True:
            agent.run()
        """
    )
    path = tmp_path / name
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    acknowledged = [int(process.stdout.readline()) for _ in range(60)][-1]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with Knowledge(path, repair=True) as knowledge:
        assert len(knowledge.journal) >= acknowledged
        assert knowledge.verify()
        agent = Agent(Corridor(length=40), knowledge=knowledge)
        assert agent.run()
        assert "broken off" in agent.report()
        assert agent.replay().ok


def test_it_goes_on_in_another_process_where_it_was(tmp_path: Path) -> None:
    with Knowledge(tmp_path / "k.db") as knowledge:
        Agent(Corridor(length=5), knowledge=knowledge).run()
    with Knowledge(tmp_path / "k.db") as knowledge:
        episode = Agent(Corridor(length=5), knowledge=knowledge).run()
        assert (episode.number, episode.steps, episode.slow) == (1, 5, 0)
        assert knowledge.verify()


def test_states_may_be_mappings_and_an_environment_may_reuse_them() -> None:
    class Reusing:
        def __init__(self) -> None:
            self.state: dict[str, Any] = {"pos": 0, "seen": [0]}

        def reset(self, seed: int | None = None) -> dict[str, Any]:
            self.state["pos"], self.state["seen"] = 0, [0]
            return self.state

        def actions(self, state: dict[str, Any]) -> list[str]:
            return ["left", "right"]

        def step(self, action: str) -> Outcome[dict[str, Any]]:
            if action == "left" and self.state["pos"] == 0:
                return refused(self.state, "a wall")
            self.state["pos"] += 1 if action == "right" else -1
            return moved(self.state, done=self.state["pos"] == 3)

    positions = Vocabulary({"pos": lambda s, a: f"at {s['pos']}"})
    knowledge = Knowledge(vocabulary=positions)
    agent = Agent(Reusing(), knowledge=knowledge)
    agent.run()
    assert agent.run().steps == 3
    assert knowledge.actions.predict({"pos": 0}, "left", {}).verdict == "refuse"
    assert agent.replay().ok


def test_a_key_makes_states_of_what_is_no_plain_value() -> None:
    class Odd(Corridor):
        def reset(self, seed: int | None = None) -> Any:
            return {"cell": super().reset(seed), "junk": object()}

        def actions(self, state: Any) -> Sequence[str]:
            return super().actions(state["cell"])

        def step(self, action: str) -> Any:
            out = super().step(action)
            return Outcome({"cell": out.state, "junk": object()}, out.accepted, out.effect, out.done)

    agent = Agent(Odd(), knowledge=Knowledge(), key=lambda state: state["cell"])
    agent.run()
    assert agent.run().steps == 3
    assert agent.replay().ok
    assert Agent(Odd(), knowledge=Knowledge()).run.__doc__
    with pytest.raises(ValueRejected):
        Agent(Odd(), knowledge=Knowledge()).run()
    with pytest.raises(ValueRejected, match="key"):
        Agent(Odd(), knowledge=Knowledge(), key=lambda state: state["junk"]).run()


# ── a slow path of one's own ────────────────────────────────────────────────────────────────────────────────────────


def test_a_slow_path_of_ones_own_is_asked_and_recorded() -> None:
    shown: list[dict[str, Any]] = []

    def rightwards(snapshot: dict[str, Any]) -> Any:
        shown.append(snapshot)
        return Proposal("right", "the door is there", money=0.5)

    agent = Agent(Corridor(), knowledge=Knowledge(), slow=rightwards)
    episode = agent.run()
    assert (episode.steps, episode.spent.money) == (3, 1.5)
    assert shown[0]["options"][0]["action"] == "left"
    assert shown[2]["trail"][-1] == {"state": 1, "action": "right", "to": 2}
    assert [d.why for d in agent.decisions()] == ["the door is there"] * 3
    assert agent.replay().ok
    assert Agent(Corridor(9), knowledge=Knowledge(), slow=rightwards, budget=Budget(money=1)).run().steps == 2


def broken(snapshot: Any) -> Any:
    raise RuntimeError("no answer")


@pytest.mark.parametrize(
    ("slow", "words"),
    [
        (lambda s: None, "declined"),
        (lambda s: "fly", "not on offer"),
        (lambda s: {1, 2}, "failed"),
        (broken, "no answer"),
        (lambda s: Proposal(None, "I would not"), "I would not"),
    ],
)
def test_an_answer_that_cannot_be_used_is_never_replaced_by_a_guess(slow: Any, words: str) -> None:
    agent = Agent(Corridor(), knowledge=Knowledge(), slow=slow)
    episode = agent.run()
    assert (episode.stopped, episode.steps) == (Stopped.UNSURE, 0)
    assert words in episode.why
    assert agent.replay().ok


def test_a_slow_path_of_ones_own_does_not_get_past_the_checks() -> None:
    knowledge = Knowledge().gate("no", lambda s, call: "closed", blocks="right")
    episode = Agent(Corridor(), knowledge=knowledge, slow=lambda s: "right").run()
    assert (episode.stopped, episode.steps) == (Stopped.BLOCKED, 0)
    knowledge = Knowledge().gate("no", lambda s, call: ("terminate", "enough"), blocks="right")
    assert Agent(Corridor(), knowledge=knowledge, slow=lambda s: "right").run().stopped is Stopped.TERMINATED


def test_going_round_in_circles_is_stopped() -> None:
    world = Grid()

    def round_and_round(snapshot: dict[str, Any]) -> str:
        return {(0, 0): "right", (1, 0): "down", (1, 1): "left", (0, 1): "up"}[snapshot["state"]]

    episode = Agent(world, knowledge=Knowledge(), slow=round_and_round).run()
    assert episode.stopped is Stopped.UNSURE
    assert episode.steps == 12
    assert "three times" in episode.why


# ── for those who own the loop ──────────────────────────────────────────────────────────────────────────────────────


def test_act_and_observe() -> None:
    world = Corridor(length=3)
    agent = Agent(world, knowledge=Knowledge())
    for _ in range(2):
        episode, action = None, agent.act(world.reset()) if agent.episode is None else None
        if action is None:
            agent.new_episode(world.reset())
            action = agent.act()
        while action is not None:
            episode = agent.observe(world.step(action))
            action = agent.act()
        assert episode is not None
        assert agent.episode is not None
    assert episode is not None
    assert episode.steps == 3
    assert agent.replay().ok


def test_act_and_observe_refuse_what_is_out_of_turn() -> None:
    world = Corridor()
    agent = Agent(world, knowledge=Knowledge())
    with pytest.raises(NotStarted):
        agent.act()
    with pytest.raises(NotStarted):
        agent.observe(moved(1))
    with pytest.raises(BadArgument, match="one state"):
        agent.act(1, 2)
    with pytest.raises(BadArgument, match="one state"):
        agent.new_episode(1, 2)
    agent.new_episode(map="cellar", seed=3).act(world.reset())
    assert agent.knowledge.maps() == ["cellar"]
    with pytest.raises(BadArgument, match="tell the outcome"):
        agent.act()
    with pytest.raises(TypeError, match="Outcome"):
        agent.observe((1, 0.0, False))  # type: ignore[arg-type]  # wrong on purpose
    agent.run()
    assert "another episode began" in agent.report()


def test_an_async_environment() -> None:
    import asyncio

    class Remote:
        def __init__(self) -> None:
            self.world = Corridor()

        async def reset(self, seed: int | None = None) -> int:
            return self.world.reset(seed)

        async def actions(self, state: int) -> Sequence[str]:
            await asyncio.sleep(0)
            return self.world.actions(state)

        async def step(self, action: str) -> Outcome[int]:
            return self.world.step(action)

    agent = Agent(Remote(), knowledge=Knowledge())  # type: ignore[arg-type]  # asynchronous

    async def play() -> list[int]:
        return [(await agent.run_async()).steps for _ in range(2)]

    assert asyncio.run(play())[1] == 3
    with pytest.raises(BadArgument):
        asyncio.run(agent.run_async(steps=-1))


# ── arguments ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "wrong",
    [
        {"env": object()},
        {"knowledge": "k.db"},
        {"risk": 3},
        {"slow": "search"},
        {"key": 3},
        {"gain": 1.0},
    ],
)
def test_what_is_not_what_it_should_be_is_refused(wrong: dict[str, Any]) -> None:
    given = {"env": Corridor(), "knowledge": Knowledge(), **wrong}
    with pytest.raises(TypeError):
        Agent(given.pop("env"), **given)


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"seed": 1.5}, {"timeout": -1}, {"budget": -1}, {"budget": "much"}])
def test_a_number_out_of_its_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadArgument):
        Agent(Corridor(), knowledge=Knowledge(), **wrong)


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"steps": -1}, {"steps": None}, {"seconds": -1}, {"map": ""}])
def test_a_run_with_an_argument_out_of_its_range_changes_nothing(wrong: dict[str, Any]) -> None:
    knowledge = Knowledge()
    with pytest.raises(BadArgument):
        Agent(Corridor(), knowledge=knowledge).run(**wrong)
    assert knowledge.experience.fold.episodes == 0


def test_an_unseeded_agent_leaves_resets_to_the_world_and_a_seeded_one_gives_each_episode_its_own() -> None:
    seeds: list[int | None] = []

    class Listening(Corridor):
        def reset(self, seed: int | None = None) -> int:
            seeds.append(seed)
            return super().reset(seed)

    for seed in (None, 0):
        agent = Agent(Listening(1), knowledge=Knowledge(), seed=seed)
        agent.run()
        agent.run()
        agent.run(seed=7)
    assert seeds[:3] == [None, None, 7]
    assert seeds[3] == 0
    assert seeds[4] not in (None, 0)
    assert seeds[5] == 7


def test_exploring_near_the_agent_takes_fewer_steps_the_first_time() -> None:
    near = Agent(Grid(5), knowledge=Knowledge(), slow=Search(layered=False)).run()
    around = Agent(Grid(5), knowledge=Knowledge()).run()
    assert near
    assert near.steps < around.steps


def test_cost_of_a_step_does_not_grow_with_steps() -> None:
    """The work of a step, in function calls: a busy machine does not change it."""

    def calls(agent: Agent) -> int:
        count = 0

        def tick(frame: Any, event: str, arg: Any) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(tick)
        try:
            agent.run()
        finally:
            sys.setprofile(None)
        return count

    agent = Agent(Corridor(length=5), knowledge=Knowledge())
    for _ in range(10):
        agent.run()
    early = calls(agent)
    for _ in range(150):
        agent.run()
    assert calls(agent) <= early * 1.05
