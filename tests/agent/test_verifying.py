from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from surefoot import Agent, Environment, Knowledge, Outcome, moved, open_journal
from surefoot.agent.replay import replay
from surefoot.agent.verifying import Verifier, Verify
from surefoot.checking.shield import shield
from surefoot.errors import BadArgument, BadProperty
from surefoot.learners.histories import count_journal

KEEP = 'P>=0.95 [ G !"bad" ]'
ANY: Any = lambda wrong: wrong  # noqa: E731  # hides from the type checker what is wrong on purpose
MAZE = ["S..", ".H.", "..G"]


class Maze(Environment[Any, Any]):
    """A small grid: H is a hole, G the goal; both end the episode."""

    at = (0, 0)

    def reset(self, seed: int | None = None) -> tuple[int, int]:
        self.at = (0, 0)
        return self.at

    def actions(self, state: Any) -> list[str]:
        return ["down", "left", "right", "up"]

    def step(self, action: Any) -> Outcome[Any]:
        row, column = self.at
        by = {"down": (1, 0), "left": (0, -1), "right": (0, 1), "up": (-1, 0)}[action]
        self.at = min(max(row + by[0], 0), 2), min(max(column + by[1], 0), 2)
        return moved(self.at, done=MAZE[self.at[0]][self.at[1]] in "HG")


def hole(state: Any) -> bool:
    return bool(MAZE[state[0]][state[1]] == "H")


def agent_of(knowledge: Knowledge | None = None, **verify: Any) -> Agent:
    knowledge = Knowledge() if knowledge is None else knowledge
    knowledge.goal("goal", done=lambda state: state == (2, 2), replace=True)
    return Agent(Maze(), knowledge=knowledge, verify=Verify(KEEP, {"bad": hole}, support="seen", **verify))


def test_each_way_into_the_hole_is_taken_once_at_most_and_the_replay_finds_the_same_shields() -> None:
    agent = agent_of(trials=1)
    falls = []
    for _ in range(12):
        episode = agent.run(steps=60)
        if hole(episode.state):
            last = list(agent.decisions(episode.number))[-1]
            falls.append((last.state, last.action))
    assert len(falls) == len(set(falls))
    safe = agent.verifier.shield() if agent.verifier is not None else None
    assert safe is not None
    for state, action in falls:
        assert not safe.allows(f"[{state[0]},{state[1]}]", action)
    barred = {option.blocked for one in agent.decisions() for option in one.options if option.shield is not None}
    assert ("shield", f"after it {KEEP} can be kept with 0 at most, by what was learned") in barred
    replayed = agent.replay()
    assert replayed.ok, replayed
    assert replayed.predicted == replayed.decisions


def test_the_shield_is_that_of_the_counts_of_the_journal() -> None:
    agent = agent_of(trials=1)
    for _ in range(5):
        agent.run(steps=60)
    verifier = agent.verifier
    assert verifier is not None
    verifier.catch_up()
    verifier.learn("main")
    counts = count_journal(agent.knowledge.journal, map="main")
    learned = counts.intervals(
        method="anytime", support="seen", labels={"bad": hole}, unseen_labels=["bad"], trials=1, trial_labels=[]
    )
    kept = verifier.learned()
    assert kept is not None
    assert kept.model == learned.model
    made = verifier.shield()
    assert made is not None
    assert made.allowed.tolist() == shield(learned.model, KEEP).allowed.tolist()


def test_who_knows_nothing_and_may_try_nothing_is_blocked_and_told_why() -> None:
    agent = agent_of()
    assert agent.run().stopped.value == "blocked"
    assert f"{KEEP} is not shown of it: it was never tried" in agent.report()
    assert agent.replay().ok


def test_what_was_learned_before_is_what_the_shield_starts_from(tmp_path: Path) -> None:
    path = tmp_path / "maze.jsonl"
    with Knowledge(path) as knowledge:
        knowledge.goal("goal", done=lambda state: state == (2, 2))
        free = Agent(Maze(), knowledge=knowledge)
        ends = [free.run(steps=60) for _ in range(6)]
        assert any(hole(episode.state) for episode in ends)
    with Knowledge(path) as knowledge:
        agent = agent_of(knowledge)
        episode = agent.run(steps=60)
        assert episode.goals_done == ("goal",)
        assert agent_of(knowledge).run(steps=60).goals_done == ("goal",)
        shields = [entry.data for entry in knowledge.journal.entries(kind="shield")]
        assert [one["first"] for one in shields] == [True, True]
        assert agent.replay().ok
        assert f"shield on 'main': {KEEP} allows " in agent.report()


def test_a_slow_path_of_ones_own_does_not_get_past_it() -> None:
    knowledge = Knowledge()
    agent_of(knowledge, trials=1)
    agent = Agent(
        Maze(),
        knowledge=knowledge,
        slow=lambda snapshot: "right" if snapshot["state"] == (1, 0) else "down",
        verify=Verify(KEEP, {"bad": hole}, support="seen", trials=1),
    )
    first, second = agent.run(steps=9), agent.run(steps=9)
    assert first.state == (1, 1)
    assert (second.stopped.value, second.state) == ("blocked", (1, 0))
    assert second.why == f"the slow path named 'right': after it {KEEP} can be kept with 0 at most, by what was learned"


def test_what_led_where_nothing_said_it_could_is_refused_at_once() -> None:
    """A door led into the yard nine times, and then into the pit; all is told by hand."""
    knowledge = Knowledge()
    agent = Agent(Maze(), knowledge=knowledge, verify=Verify(KEEP, {"bad": hole}, support="seen", trials=1))
    verifier = agent.verifier
    assert verifier is not None

    def once(to: Any) -> None:
        agent.new_episode((0, 0))
        while agent.act() != "right":
            agent.observe(moved((0, 0)))
        agent.observe(moved(to, done=True))

    for _ in range(9):
        once((0, 1))
    agent.new_episode((0, 0)).act()
    assert verifier.why("main", b"[0,0]", b'"right"') is None
    once((1, 1))
    verifier.catch_up()
    why = f"{KEEP} is not shown of it: it led where nothing said that it could"
    assert verifier.why("main", b"[0,0]", b'"right"') == why
    assert agent.replay().ok


def test_a_shield_that_was_edited_is_found() -> None:
    agent = agent_of(trials=1)
    agent.run(steps=60)
    other = open_journal()
    for entry in agent.knowledge.journal.entries():
        data = {**entry.data, "allowed": 99} if entry.kind == "shield" else entry.data
        other.append(entry.kind, data, stream=entry.stream)
    found = replay(Knowledge(journal=other))
    assert found.first is not None
    assert (found.first.field, found.first.recorded) == ("shield.allowed", 99)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Verify("P>=0.9 [ G !"), "expected a formula"),
        (lambda: Verify('Pmax=? [ F "goal" ]'), "an agent keeps P with a bound"),
        (lambda: Verify('P>=0.9 [ G !"bad" ]'), 'nothing says which states are "bad": give labels={"bad": …}'),
        (lambda: Verify('P>=0.9 [ F<=3 "ended" ]'), "a shield has no clock"),
        (lambda: Verify('P>=0.9 [ "a" U !"a" ]', {"a": bool}), "a speaks for .* and against it in another"),
        (lambda: Verify(KEEP, {"bad": ANY(True)}), r"labels\['bad'\] must be a function"),
        (lambda: Verify(KEEP, {"bad": hole}, trials=-1), "trials must be an int >= 0"),
        (lambda: Verify(KEEP, {"bad": hole}, confidence=1.0), r"confidence must be a number in \(0, 1\)"),
        (lambda: Verify(KEEP, {"bad": hole}, method=ANY("wald")), "method must be one of"),
        (lambda: Verify(KEEP, {"bad": hole}, support=ANY("all")), "support must be None or 'seen'"),
        (lambda: Verify.of(ANY(3)), "verify must be a property or a Verify"),
    ],
)
def test_wrong_arguments_are_named(make: Any, message: str) -> None:
    with pytest.raises((BadArgument, BadProperty), match=message):
        make()


def test_a_label_that_raises_says_which_and_where() -> None:
    agent = Agent(Maze(), knowledge=Knowledge(), verify=Verify(KEEP, {"bad": lambda state: state["x"]}, trials=1))
    with pytest.raises(BadArgument, match=r"labels\['bad'\] raised TypeError in \(0, 0\)"):
        agent.run(steps=9)
    assert agent.knowledge.journal.verify()


def test_learning_anew_gets_rarer() -> None:
    agent = agent_of(trials=1)
    while agent.knowledge.experience.fold.episodes < 60:
        agent.run(steps=60)
    outcomes = [entry.data["outcomes"] for entry in agent.knowledge.journal.entries(kind="shield")]
    assert outcomes == sorted(set(outcomes))
    assert all(late >= early * 1.0625 for early, late in zip(outcomes[3:], outcomes[4:], strict=False))
    assert isinstance(agent.verifier, Verifier)
