from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import WorldMap
from surefoot.agent.walker import Step, Stopped, explore, walk
from surefoot.agent.walks import episode_seed
from surefoot.environments.corridor import Corridor
from surefoot.environments.files import Files
from surefoot.errors import BadArgument, WorldUnavailable
from surefoot.protocols import Outcome, ended, faulted, moved, refused

MANY = 20_000
"""No walk of these tests may take so many steps: a loop."""


@dataclass
class Graph:
    """A world written down: for each (state, action) where it may lead ("" for nowhere: refused).

    Args:
        edges: what is on offer, with the places it leads to, each equally likely.
        last: (state, action) pairs that end the episode.
        broken: how many times the action faults, from now on.
        starts: where episodes may start.
        longest: an episode ends after so many steps.
        signs_: what `signs` says, where anything.
    """

    edges: Mapping[tuple[str, str], Sequence[str]]
    last: frozenset[tuple[str, str]] = frozenset()
    broken: dict[tuple[str, str], int] = field(default_factory=dict)
    starts: Sequence[str] = ("a",)
    longest: int = 10**9
    resets: list[int | None] = field(default_factory=list)

    def reset(self, seed: int | None = None) -> str:
        self.resets.append(seed)
        self.dice = random.Random(seed)
        self.here = self.dice.choice(self.starts)
        self.steps = 0
        return self.here

    def actions(self, state: str) -> Sequence[str]:
        return [action for place, action in self.edges if place == state]

    def step(self, action: str) -> Outcome[str]:
        key = (self.here, action)
        if self.broken.get(key, 0):
            self.broken[key] -= 1
            return faulted(self.here, "time-out")
        self.steps += 1
        to = self.dice.choice(self.edges[key])
        if not to:
            return refused(self.here, "no")
        self.here = to
        return (ended if key in self.last or self.steps >= self.longest else moved)(to)


class Signs(Graph):
    """A graph whose signs tell the truth."""

    def signs(self, state: str) -> Sequence[tuple[str, str]]:
        return [(action, to[0]) for (place, action), to in self.edges.items() if place == state and to[0]]


NAMES = "abcdefg"


@st.composite
def graphs(draw: st.DrawFn, *, most: int = 1, kind: Callable[..., Graph] = Graph, odd_ends: bool = True) -> Graph:
    """Draw worlds with refusals, one-way doors, dead ends, ends of episodes, faults.

    Args:
        draw: Hypothesis's.
        most: how many places an action may lead to.
        kind: the class of the world.
        odd_ends: whether one way to a place may end the episode and another one not.
    """
    places = NAMES[: draw(st.integers(1, len(NAMES)))]
    pairs = [(place, action) for place in places for action in "xyz"]
    there = st.lists(st.sampled_from(["", *places]), min_size=1, max_size=most)
    edges = {pair: draw(there) for pair in pairs if draw(st.booleans())}
    if odd_ends:
        last = frozenset(pair for pair in edges if draw(st.integers(0, 5)) == 0)
    else:
        final = draw(st.sets(st.sampled_from(places[1:]))) if places[1:] else set()
        last = frozenset(pair for pair, to in edges.items() if set(to) <= final)
    broken = {pair: draw(st.integers(1, 4)) for pair in edges if draw(st.integers(0, 7)) == 0}
    return kind(edges, last, broken)


def entered(world: Graph) -> dict[str, int]:
    """Return {place from where one can go on: fewest steps to it}, by the definition: breadth first, no map."""
    found = {"a": 0}
    queue = deque("a")
    while queue:
        here = queue.popleft()
        for action in world.actions(here):
            (to,) = world.edges[here, action]
            if to and to not in found and (here, action) not in world.last:
                found[to] = found[here] + 1
                queue.append(to)
    return found


def reachable(world: Graph) -> dict[str, int]:
    """Return {place: fewest steps to it}, those included where an episode ends."""
    found = entered(world)
    for here, fewest in list(found.items()):
        for action in world.actions(here):
            (to,) = world.edges[here, action]
            if to:
                found[to] = min(found.get(to, fewest + 1), fewest + 1)
    return found


def no_loop(step: Step) -> None:
    """Fail when a walk takes too long."""
    no_loop.left -= 1  # type: ignore[attr-defined]  # kept on a function
    assert no_loop.left > 0, f"a loop, at {step}"  # type: ignore[attr-defined]  # kept on a function


@pytest.fixture(autouse=True)
def _count_from_zero() -> None:
    no_loop.left = MANY  # type: ignore[attr-defined]  # kept on a function


@given(graphs())
def test_exploring_ends_and_then_everything_that_can_be_reached_is_known(world: Graph) -> None:
    no_loop.left = MANY  # type: ignore[attr-defined]  # kept on a function
    known = WorldMap()
    gave_up = {pair for pair, times in world.broken.items() if times > 2}
    went = explore(world, known, pause=0, on_step=no_loop)
    if not gave_up:
        assert went.stopped is Stopped.NOTHING_LEFT
        for place in entered(world):
            for action in world.actions(place):
                claim = known.claim(place, action)
                assert claim is not None
                (to,) = world.edges[place, action]
                assert (claim.to, claim.refused) == ((to, False) if to else (None, True))
        assert {c.to for c in known.claims() if c.to} <= set(reachable(world))
    assert went.steps == went.accepted + went.refused + went.faults
    assert bool(known.verify())


@given(graphs(odd_ends=False))
def test_once_explored_each_walk_is_the_shortest_there_is(world: Graph) -> None:
    no_loop.left = MANY  # type: ignore[attr-defined]  # kept on a function
    world.broken.clear()
    known = WorldMap()
    explore(world, known, on_step=no_loop)
    for target, fewest in reachable(world).items():
        went = walk(world, known, {target}, on_step=no_loop)
        assert (went.stopped, went.steps, went.state) == (Stopped.REACHED, fewest, target)
    missing = walk(world, known, {"nowhere"}, on_step=no_loop)
    assert (missing.stopped, missing.steps) == (Stopped.NO_WAY, 0)


@given(graphs(), st.sampled_from(NAMES))
def test_with_an_empty_map_a_walk_gets_to_whatever_can_be_reached(world: Graph, target: str) -> None:
    no_loop.left = MANY  # type: ignore[attr-defined]  # kept on a function
    world.broken = {pair: min(times, 2) for pair, times in world.broken.items()}
    went = walk(world, WorldMap(), {target}, pause=0, on_step=no_loop)
    assert went.stopped is (Stopped.REACHED if target in reachable(world) else Stopped.NO_WAY)


@given(graphs(kind=Signs), st.sampled_from(NAMES))
def test_with_signs_too(world: Signs, target: str) -> None:
    no_loop.left = MANY  # type: ignore[attr-defined]  # kept on a function
    world.broken.clear()
    went = walk(world, WorldMap(), {target}, on_step=no_loop)
    assert went.stopped is (Stopped.REACHED if target in reachable(world) else Stopped.NO_WAY)


@given(graphs())
def test_once_explored_each_walk_gets_there_though_the_map_does_not_know_what_ends_an_episode(world: Graph) -> None:
    no_loop.left = MANY  # type: ignore[attr-defined]  # kept on a function
    world.broken.clear()
    known = WorldMap()
    explore(world, known, on_step=no_loop)
    for target in reachable(world):
        assert walk(world, known, {target}, on_step=no_loop).stopped is Stopped.REACHED


@given(graphs(most=3), st.integers(0, 3))
def test_exploring_with_dice_ends_and_leaves_nothing_that_the_map_shows_a_way_to(world: Graph, seed: int) -> None:
    no_loop.left = MANY  # type: ignore[attr-defined]  # kept on a function
    world.broken.clear()
    known = WorldMap(stochastic=True)
    went = explore(world, known, seed=seed, on_step=no_loop)
    assert went.stopped in (Stopped.NOTHING_LEFT, Stopped.STALLED)
    if went.stopped is Stopped.NOTHING_LEFT:
        assert known.explore("a") is None


@given(graphs(most=3), st.integers(0, 3), st.sampled_from(NAMES))
def test_a_map_that_takes_dice_for_sure_things_ends_its_walks_all_the_same(
    world: Graph, seed: int, target: str
) -> None:
    no_loop.left = MANY  # type: ignore[attr-defined]  # kept on a function
    known = WorldMap()
    assert explore(world, known, seed=seed, pause=0, on_step=no_loop).stopped is not Stopped.OUT_OF_STEPS
    assert walk(world, known, {target}, seed=seed, pause=0, on_step=no_loop).stopped is not Stopped.OUT_OF_STEPS


@given(graphs(), st.integers(0, 12))
def test_an_exploration_that_was_cut_off_goes_on_where_it_stopped(world: Graph, steps: int) -> None:
    no_loop.left = MANY  # type: ignore[attr-defined]  # kept on a function
    world.broken.clear()
    whole, pieces = WorldMap(), WorldMap()
    explore(world, whole, on_step=no_loop)
    first = explore(world, pieces, steps=steps, on_step=no_loop)
    assert first.steps <= steps
    tried = {(s.state, s.action) for s in first.trail if s.verdict == "refused"}
    second = explore(world, pieces, on_step=no_loop)
    assert not tried & {(s.state, s.action) for s in second.trail}, "what was refused is not asked again"
    shown = [{(c.state, c.action, c.to, c.refused) for c in m.claims()} for m in (whole, pieces)]
    assert shown[0] == shown[1]


# ── episodes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_episode_gets_to_what_a_one_way_door_cut_off() -> None:
    world = Graph({("a", "x"): ["b"], ("a", "y"): ["c"]})
    known = WorldMap()
    went = explore(world, known)
    assert (went.stopped, went.steps, went.episodes) == (Stopped.NOTHING_LEFT, 2, 2)
    assert known.frontier() == []


def test_no_episode_is_begun_that_has_nothing_to_do() -> None:
    world = Graph({("a", "x"): ["b"]}, frozenset({("a", "x")}))
    assert explore(world, WorldMap()).episodes == 1
    assert walk(world, WorldMap(), {"nowhere"}).episodes == 1
    assert len(world.resets) == 2


def test_a_world_with_several_starts_is_tried_again_in_the_hope_of_another() -> None:
    edges = {(place, action): ["end"] for place in "abc" for action in "xy"}
    world = Graph(edges, frozenset(edges), starts="abc")
    known = WorldMap()
    went = explore(world, known, seed=1)
    assert went.stopped is Stopped.NOTHING_LEFT
    assert {c.state for c in known.claims()} == set("abc")


def test_each_episode_has_a_seed_of_its_own_unless_all_shall_have_the_same() -> None:
    edges = {("a", action): ["b"] for action in "xyz"}
    worlds = [Graph(edges), Graph(edges), Graph(edges)]
    explore(worlds[0], WorldMap(), seed=5)
    explore(worlds[1], WorldMap(), seed=5, reseed=False)
    explore(worlds[2], WorldMap(), seed=None)
    assert worlds[0].resets == [5, episode_seed(5, 1), episode_seed(5, 2)]
    assert len(set(worlds[0].resets)) == 3
    assert worlds[1].resets == [5, 5, 5]
    assert worlds[2].resets == [None, None, None]


def test_what_lies_beyond_the_longest_episode_stalls_no_walk() -> None:
    """Ten rooms in a row, six steps an episode; the side room of the first one is found all the same."""
    rooms = {(f"r{i:02}", "go"): [f"r{i + 1:02}"] for i in range(10)}
    world = Graph({**rooms, ("r00", "side"): ["r99"], ("r05", "back"): [""]}, starts=["r00"], longest=6)
    known = WorldMap()
    went = explore(world, known, on_step=no_loop)
    assert went.stopped is Stopped.NOTHING_LEFT
    assert known.claim("r00", "side") is not None
    assert "r99" in known.states()
    assert "r07" not in known.states(), "nobody can get there in six steps"


def test_an_action_that_ends_the_episode_where_the_map_says_to_go_on_is_given_up() -> None:
    """The short way to b ends the episode; the long one does not."""
    edges = {("a", "short"): ["b"], ("a", "to"): ["c"], ("c", "to"): ["b"], ("b", "look"): ["d"]}
    world = Graph(edges, frozenset({("a", "short")}))
    known = WorldMap()
    known.see("b", "look")
    went = explore(world, known, on_step=no_loop)
    claim = known.claim("b", "look")
    assert claim is not None
    assert claim.taken == 1
    assert went.stopped is Stopped.NOTHING_LEFT


def test_a_stochastic_map_of_episodes_that_end_too_soon_stalls() -> None:
    """Ends wherever it goes, and the map was told that there is more beyond."""
    known = WorldMap(stochastic=True)
    known.see("b", "more")
    went = explore(Graph({("a", "x"): ["b"]}, frozenset({("a", "x")})), known, on_step=no_loop)
    assert (went.stopped, went.episodes) == (Stopped.STALLED, 101)
    assert went.why == "100 episodes in a row ended before anything new"


def test_a_stochastic_map_that_hopes_for_ever_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    """It once led to b, and never will again."""
    monkeypatch.setattr("surefoot.agent.walker._IDLE", 100)
    known = WorldMap(stochastic=True)
    known.arrive("a", "x", "b")
    known.see("b", "more")
    went = explore(Graph({("a", "x"): ["a"]}), known, on_step=no_loop)
    assert (went.stopped, went.steps) == (Stopped.STALLED, 201)
    assert went.why == "200 steps have shown nothing new"


# ── faults ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fault_is_tried_again_and_leaves_no_trace_on_the_map() -> None:
    known = WorldMap()
    went = explore(Graph({("a", "x"): ["b"]}, broken={("a", "x"): 2}), known, pause=0)
    assert [step.verdict for step in went.trail] == ["fault", "fault", "accepted"]
    assert (went.stopped, went.faults, went.steps) == (Stopped.NOTHING_LEFT, 2, 3)
    claim = known.claim("a", "x")
    assert claim is not None
    assert [e.kind for e in claim.evidence] == ["see", "arrive"]


def test_what_goes_on_faulting_is_given_up_for_this_walk_only() -> None:
    edges = {("a", "x"): ["b"], ("a", "y"): ["c"], ("b", "x"): ["a"], ("c", "x"): ["a"], ("c", "y"): ["d"]}
    world, known = Graph(edges, broken={("a", "x"): 3}), WorldMap()
    went = explore(world, known, pause=0, on_step=no_loop)
    assert went.stopped is Stopped.FAULTED
    assert went.given_up == (("a", "x"),)
    assert went.why == "1 actions were given up, the last for: time-out"
    assert {c.action for c in known.claims("c") if c.taken} == {"x", "y"}, "the rest was explored"
    assert known.frontier() == [("a", "x")]
    assert explore(world, known).stopped is Stopped.NOTHING_LEFT
    assert known.frontier() == []


def test_a_walk_goes_round_what_is_broken() -> None:
    edges = {("a", "short"): ["c"], ("a", "long"): ["b"], ("b", "on"): ["c"]}
    world, known = Graph(edges), WorldMap()
    explore(world, known)
    world.broken = {("a", "short"): 9}
    went = walk(world, known, {"c"}, retries=0)
    assert (went.stopped, went.steps, went.faults) == (Stopped.REACHED, 3, 1)
    assert [step.action for step in went.trail] == ["short", "long", "on"]


def test_a_world_where_all_is_broken_is_left_alone() -> None:
    edges = {("a", f"x{i}"): ["b"] for i in range(9)}
    went = explore(Graph(edges, broken=dict.fromkeys(edges, 99)), WorldMap(), pause=0)
    assert (went.stopped, went.steps, len(went.given_up)) == (Stopped.FAULTED, 15, 5)
    assert went.why == "5 actions in a row faulted, the last with: time-out"


def test_steps_run_out_in_the_middle_of_retries() -> None:
    world = Graph({("a", "x"): ["b"]}, broken={("a", "x"): 9})
    went = explore(world, WorldMap(), steps=2, retries=9, pause=0)
    assert (went.stopped, went.steps, went.given_up) == (Stopped.OUT_OF_STEPS, 2, ())


def test_the_pauses_double_and_the_world_may_say_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    now = [0.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr("surefoot.agent.walker.time.sleep", sleep)
    monkeypatch.setattr("surefoot.agent.walker.time.monotonic", lambda: now[0])
    explore(Graph({("a", "x"): ["b"]}, broken={("a", "x"): 3}), WorldMap(), retries=3, pause=2)
    assert sum(slept) == pytest.approx(2 + 4 + 8)

    class Busy(Graph):
        def step(self, action: str) -> Outcome[str]:
            outcome = super().step(action)
            return faulted(outcome.state, "busy", info={"retry_after": 1000}) if outcome.fault else outcome

    slept.clear()
    explore(Busy({("a", "x"): ["b"]}, broken={("a", "x"): 1}), WorldMap())
    assert sum(slept) == pytest.approx(60), "but no longer than a minute"


def test_a_world_that_disappears_ends_the_walk_and_keeps_the_map(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)

    def pull_down(step: Step) -> None:
        if tree.exists():
            (tree / "deep").rmdir()
            tree.rmdir()

    known = WorldMap()
    went = explore(Files(tree), known, pause=0, on_step=pull_down)
    assert went.stopped is Stopped.FAULTED
    assert known.claims("deep")[0].action == ".."
    with pytest.raises(WorldUnavailable):
        explore(Files(tree), known)


class Lost(Graph):
    """A world that breaks when a second episode is asked for."""

    def reset(self, seed: int | None = None) -> str:
        if self.resets:
            raise WorldUnavailable("the server is gone")
        return super().reset(seed)


def test_a_reset_that_fails_later_on_ends_the_walk() -> None:
    went = explore(Lost({("a", "x"): ["b"], ("a", "y"): ["c"]}), WorldMap())
    assert (went.stopped, went.why, went.steps) == (Stopped.FAULTED, "the server is gone", 1)


# ── changed worlds ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_not_on_offer_any_more_is_refused_without_asking_the_world(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    known = WorldMap()
    explore(Files(tmp_path), known)
    (tmp_path / "old").rmdir()
    went = walk(Files(tmp_path), known, {"old"})
    assert (went.stopped, went.steps) == (Stopped.NO_WAY, 0)
    claim = known.claim(".", "old")
    assert claim is not None
    assert claim.evidence[-1].quote == "not on offer"
    (tmp_path / "old").mkdir()
    assert walk(Files(tmp_path), known, {"old"}).stopped is Stopped.REACHED, "and when it is back, it is back"


def test_a_way_that_changed_is_learned_again_on_the_walk() -> None:
    edges = {("a", "x"): ["b"], ("b", "x"): ["c"], ("a", "y"): ["d"], ("d", "x"): ["c"], ("d", "y"): ["a"]}
    known = WorldMap()
    explore(Graph(edges), known)
    went = walk(Graph({**edges, ("b", "x"): ["a"]}), known, {"c"})
    assert went.stopped is Stopped.REACHED
    assert [step.to for step in went.trail] == ["b", "a", "d", "c"]


class Fickle(Graph):
    """A world whose sign in a says something else with every look, as a link to a random page does."""

    looks = 0

    def signs(self, state: str) -> Sequence[tuple[str, str]]:
        self.looks += 1
        return [("x", f"page {self.looks}")] if state == "a" else []


@pytest.mark.parametrize("to", ["a", ""])
def test_a_sign_that_changes_with_every_look_does_not_go_on_for_ever(to: str) -> None:
    world = Fickle({("a", "x"): [to], ("a", "y"): ["c"], ("b", "x"): ["a"], ("c", "x"): ["a"]})
    went = explore(world, WorldMap(), on_step=no_loop)
    assert went.stopped is Stopped.NOTHING_LEFT
    assert went.given_up == (("a", "x"),)
    assert went.steps < 20


def test_doubts_that_come_faster_than_checks_do_not_go_on_for_ever() -> None:
    edges = {(place, action): [action] for place in NAMES for action in NAMES}
    known = WorldMap(stale_after=20)
    went = explore(Graph(edges), known, on_step=no_loop)
    assert went.stopped is Stopped.NOTHING_LEFT
    assert went.given_up


def test_an_offer_that_comes_and_goes_does_not_go_on_for_ever() -> None:
    class Flicker(Signs):
        looks = 0

        def actions(self, state: str) -> Sequence[str]:
            self.looks += 1
            offered = super().actions(state)
            return offered[: len(offered) - self.looks % 2]

    edges = {("a", "x"): ["b"], ("a", "y"): ["b"], ("b", "x"): ["a"], ("b", "z"): ["a"]}
    went = explore(Flicker(edges), WorldMap(), on_step=no_loop)
    assert went.steps < 30


# ── limits, interruptions, results ───────────────────────────────────────────────────────────────────────────────────


def test_steps_are_a_limit_and_the_map_keeps_what_was_learned() -> None:
    known = WorldMap()
    went = explore(Corridor(length=9), known, steps=4)
    assert (went.stopped, went.steps, bool(went)) == (Stopped.OUT_OF_STEPS, 4, False)
    assert known.stats()["confirmed"] > 0
    assert explore(Corridor(length=9), known, steps=0).steps == 0


def test_no_reset_is_spent_when_there_are_no_steps_left() -> None:
    world = Graph({("a", "x"): ["b"], ("a", "y"): ["c"]}, frozenset({("a", "x")}))
    assert explore(world, WorldMap(), steps=1).stopped is Stopped.OUT_OF_STEPS
    assert len(world.resets) == 1


def test_a_limit_that_is_just_enough_is_no_limit() -> None:
    edges = {("a", "x"): ["b"], ("b", "x"): ["a"]}
    assert explore(Graph(edges), WorldMap(), steps=2).stopped is Stopped.NOTHING_LEFT
    assert walk(Graph(edges), WorldMap(), {"b"}, steps=1).stopped is Stopped.REACHED


def test_a_walk_is_interrupted_between_two_steps() -> None:
    taken: list[Step] = []
    went = explore(Corridor(length=9), WorldMap(), interrupt=lambda: len(taken) == 3, on_step=taken.append)
    assert (went.stopped, went.steps, went.trail) == (Stopped.INTERRUPTED, 3, tuple(taken))


def test_a_walk_is_interrupted_in_a_pause() -> None:
    taken: list[Step] = []
    world = Graph({("a", "x"): ["b"]}, broken={("a", "x"): 9})
    went = explore(world, WorldMap(), pause=3600, interrupt=lambda: bool(taken), on_step=taken.append)
    assert (went.stopped, went.steps) == (Stopped.INTERRUPTED, 1)


def test_a_target_that_is_here_takes_no_step() -> None:
    went = walk(Corridor(), WorldMap(), {0, 7})
    assert (went.stopped, went.steps, went.state, bool(went)) == (Stopped.REACHED, 0, 0, True)


def test_look_alikes_of_a_target_are_not_the_target() -> None:
    assert walk(Corridor(length=2), WorldMap(), {True}).stopped is Stopped.NO_WAY
    assert walk(Corridor(length=2), WorldMap(), ["1"]).stopped is Stopped.NO_WAY
    assert walk(Corridor(length=2), WorldMap(), {1}).stopped is Stopped.REACHED


def test_without_exploring_only_known_ways_are_gone() -> None:
    known = WorldMap()
    assert walk(Corridor(), known, {3}, explore=False).stopped is Stopped.NO_WAY
    known.told(0, "right", 1).told(1, "right", 2).told(2, "right", 3)
    went = walk(Corridor(), known, {3}, explore=False)
    assert (went.stopped, went.steps) == (Stopped.REACHED, 3)


def test_without_exploring_what_is_broken_is_gone_round_or_not_at_all() -> None:
    known = WorldMap()
    explore(Graph({("a", "x"): ["b"], ("a", "y"): ["c"]}), known)
    went = walk(Graph({("a", "x"): ["b"]}, broken={("a", "x"): 9}), known, {"b"}, explore=False, retries=0)
    assert (went.stopped, went.steps) == (Stopped.FAULTED, 1)


def test_the_trail_of_a_long_walk_keeps_its_end() -> None:
    went = explore(Corridor(length=9), WorldMap(), keep=2)
    assert len(went.trail) == 2
    assert went.trail[-1].to == went.state
    assert explore(Corridor(length=9), WorldMap(), keep=0).trail == ()


def test_a_rule_out_of_its_range_is_refused_and_nothing_happens() -> None:
    world, known = Graph({("a", "x"): ["b"]}), WorldMap()
    with pytest.raises(BadArgument, match="steps must be an int >= 0 or None, got -1"):
        explore(world, known, steps=-1)
    with pytest.raises(BadArgument, match="pause must be a number of seconds >= 0, got -1"):
        walk(world, known, {"b"}, pause=-1)
    assert world.resets == []
    assert len(known.journal) == 0


def test_targets_must_be_some_states() -> None:
    with pytest.raises(BadArgument, match="wrap it"):
        walk(Corridor(), WorldMap(), "3")
    with pytest.raises(BadArgument, match="targets is empty"):
        walk(Corridor(), WorldMap(), set())


def test_a_walk_that_is_cut_off_after_any_entry_finds_all_the_rest() -> None:
    """Also between an arrival, what is on offer there, and the visit."""
    edges = {
        ("a", "x"): ["b"],
        ("a", "y"): [""],
        ("b", "x"): ["c"],
        ("b", "y"): [""],
        ("c", "y"): [""],
        ("c", "z"): ["a"],
    }

    def known_by(known: WorldMap) -> set[tuple[object, ...]]:
        return {(c.state, c.action, c.to, c.refused, c.status) for c in known.claims()}

    whole = WorldMap()
    explore(Graph(edges), whole)
    for upto in range(len(whole.journal) + 1):
        rest = whole.rebuild(upto)
        assert explore(Graph(edges), rest).stopped is Stopped.NOTHING_LEFT
        assert known_by(rest) == known_by(whole), upto
