"""A walker without a model: it explores a world until nothing is left, or walks to a state that is named.

Each step it asks the map: the known way to a target if there is one, else the nearest thing that nobody has checked.
What the map says is taken for what it is, a belief, so the walker keeps rules of its own that make every walk end:

| what happens | the rule |
|---|---|
| a fault | the action is tried again, `retries` times, after `pause` seconds, then twice as long, …; then given up |
| an action on the map that is not on offer | it is refused without asking the world |
| a claim is in doubt again and again (a sign that changes with every visit) | checked 3 times, then given up |
| nothing to do from here, or the episode is over | a new episode, if there is something to do from where one started |
| a world with several starts, and nothing to do from those seen so far | 10 more episodes in the hope of another one |
| an action ends an episode that showed nothing new, though the map says to go on | 3 times, then given up |
| episodes end before they get to anything new | after 10 in a row (100 on a stochastic map) the walk has stalled |
| a stochastic map shows a way that never gets there | likewise, after 1,000 steps or 100 for each state |
| 5 actions in a row were given up for their faults | the world is broken, and the walk over |

What is given up is given up for this walk only; the map is not told, since a fault is evidence of nothing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from surefoot import values
from surefoot.agent import loop
from surefoot.agent.detour import Leg, detour, is_open
from surefoot.agent.walks import Rules, Step, Stopped, Walk, episode_seed
from surefoot.errors import BadArgument, WorldUnavailable
from surefoot.knowledge.mapcore import collection
from surefoot.knowledge.worldmap import WorldMap
from surefoot.protocols import Environment, Outcome

__all__ = ["Step", "Stopped", "Walk", "explore", "walk"]

_PATIENCE = 3
_HOPE = 10
_IDLE = 1_000
_BROKEN = 5
_LONGEST_PAUSE = 60.0


def explore(
    env: Environment[Any, Any],
    known: WorldMap,
    *,
    steps: int | None = None,
    seed: int | None = 0,
    reseed: bool = True,
    retries: int = 2,
    pause: float = 1.0,
    keep: int = 100_000,
    interrupt: Callable[[], bool] | None = None,
    on_step: Callable[[Step], object] | None = None,
) -> Walk:
    """Check whatever can be reached and nobody has checked, until nothing is left.

    Args:
        env: the world; it is reset first.
        known: its map. What it knows already is not checked again, so an exploration that was cut off goes on.
        steps: take at most so many steps, an int >= 0; None for no limit.
        seed: the first episode's seed, an int >= 0. None: each reset is left to the world.
        reseed: later episodes get seeds of their own, made of `seed` and their number. False: all get the same one; for
            a world that the seed lays out.
        retries: how often an action that faulted is tried again, an int >= 0.
        pause: seconds before the first retry, >= 0; a world that says how long (`info["retry_after"]`) is obeyed, up to
            a minute.
        keep: how many steps the result's trail keeps, an int >= 0.
        interrupt: called before each step; the walk ends when it returns True.
        on_step: called with each step after it was recorded.

    Raises:
        BadArgument: an argument is out of its range.
        WorldUnavailable: the first reset failed. Later on the walk ends with `Stopped.FAULTED`.
        ContractBroken: see `surefoot.agent.loop.step`.

    Cost: two entries a step, and one for each action on offer that is new.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> known = WorldMap()
        >>> explore(Corridor(length=2), known).steps, known.frontier(), known.path(0, {2})
        (5, [], [(0, 'right'), (1, 'right')])
    """
    rules = Rules(steps, seed, reseed, retries, pause, keep, interrupt, on_step)
    return _Walker(env, known, rules).run()


def walk(
    env: Environment[Any, Any],
    known: WorldMap,
    targets: Iterable[Any],
    *,
    steps: int | None = None,
    seed: int | None = 0,
    explore: bool = True,
    reseed: bool = True,
    retries: int = 2,
    pause: float = 1.0,
    keep: int = 100_000,
    interrupt: Callable[[], bool] | None = None,
    on_step: Callable[[Step], object] | None = None,
) -> Walk:
    """Get to one of `targets`: by the cheapest known way, and where none is known by exploring.

    A sign counts as a way (an unchecked one, see `hypothesis_cost`), so a target that is signposted is gone to at once.
    On a map where the way is confirmed, and in a world that has not changed since, the walk is the shortest there is.

    Args:
        env: the world; it is reset first.
        known: its map.
        targets: the states to get to, at least one; a single one must be wrapped, `{state}`.
        steps: take at most so many steps, an int >= 0; None for no limit.
        seed: see `explore`.
        explore: explore where no way is known. False: stop there.
        reseed: see `explore`.
        retries: see `explore`.
        pause: see `explore`.
        keep: see `explore`.
        interrupt: see `explore`.
        on_step: see `explore`.

    Raises:
        BadArgument: `targets` is empty or a single state, or another argument is out of its range.
        WorldUnavailable: the first reset failed.
        ContractBroken: see `surefoot.agent.loop.step`.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> known = WorldMap()
        >>> [walk(Corridor(length=4), known, {4}).steps for _ in range(2)]
        [11, 4]
    """
    goal = frozenset(map(values.encode_state, collection(targets, "targets")))
    if not goal:
        raise BadArgument("targets is empty: name at least one state to get to")
    rules = Rules(steps, seed, reseed, retries, pause, keep, interrupt, on_step)
    return _Walker(env, known, rules, goal, explore).run()


@dataclass(slots=True)
class _GivenUp:
    """What this walk no longer tries, and how often it looked at what is in doubt."""

    actions: set[tuple[bytes, bytes]] = field(default_factory=set)
    checks: dict[tuple[bytes, bytes], int] = field(default_factory=dict)
    ends: dict[tuple[bytes, bytes], int] = field(default_factory=dict)
    in_a_row: int = 0
    fault: str | None = None

    def checked_too_often(self, key: tuple[bytes, bytes]) -> bool:
        """Count one more check of something that was tried before, and say whether that is enough."""
        self.checks[key] = self.checks.get(key, 0) + 1
        return self.checks[key] > _PATIENCE

    def ended_too_often(self, key: tuple[bytes, bytes]) -> bool:
        """Count one more episode that an action ended before anything new, and say whether that is enough."""
        self.ends[key] = self.ends.get(key, 0) + 1
        return self.ends[key] >= _PATIENCE


class _Walker:
    """One walk: where it is, and what it has left to do."""

    def __init__(
        self,
        env: Environment[Any, Any],
        known: WorldMap,
        rules: Rules,
        targets: frozenset[bytes] | None = None,
        exploring: bool = True,
    ) -> None:
        """Take nothing yet."""
        self._env, self._known, self._rules = env, known, rules
        self._targets, self._exploring = targets, exploring
        self._wanted = None if targets is None else [values.decode(key) for key in targets]
        self._noticed = loop.Noticed()
        self._stochastic = known.settings.stochastic
        self._state: Any = None
        self._over = False
        self._starts: dict[bytes, Any] = {}
        self._counts = {"accepted": 0, "refused": 0, "fault": 0}
        self._steps = self._episodes = 0
        self._idle_steps = self._idle_episodes = 0
        self._news = False  # in this episode
        self._last: tuple[bytes, bytes] | None = None  # the last action taken in it
        self._given_up = _GivenUp()
        self._plan: deque[Leg] = deque()
        self._cut_off: dict[bytes, Any] = {}  # where somebody was killed on arrival
        self._trail: deque[Step] = deque(maxlen=rules.keep)
        self._stopped: Stopped | None = None
        self._why: str | None = None

    def run(self) -> Walk:
        """Walk until there is a reason to stop."""
        if self._exploring:
            self._cut_off = {values.encode_state(state): state for state in self._known.unvisited(arrived=True)}
        self._begin()
        try:
            while self._stopped is None:
                self._advance()
        except WorldUnavailable as error:
            self._stop(Stopped.FAULTED, str(error))
        assert self._stopped is not None
        return Walk(
            self._stopped,
            self._state,
            self._steps,
            self._counts["accepted"],
            self._counts["refused"],
            self._counts["fault"],
            self._episodes,
            tuple(self._trail),
            tuple((values.decode(state), values.decode(action)) for state, action in sorted(self._given_up.actions)),
            self._why,
        )

    def _stop(self, stopped: Stopped, why: str | None = None) -> None:
        self._stopped, self._why = stopped, why

    def _begin(self) -> None:
        """Start an episode."""
        seed = episode_seed(self._rules.seed, self._episodes, reseed=self._rules.reseed)
        self._state = loop.begin(self._env, self._known, seed, noticed=self._noticed)
        self._episodes += 1
        self._over = self._news = False
        self._last = None
        self._plan.clear()
        self._starts.setdefault(values.encode_state(self._state), self._state)

    def _advance(self) -> None:
        """Do one thing: take a step, start an episode, or stop."""
        if self._targets is not None and values.encode_state(self._state) in self._targets:
            self._stop(Stopped.REACHED)
        elif self._interrupted():
            self._stop(Stopped.INTERRUPTED)
        elif self._over:
            self._start_again()
        else:
            leg = self._choose(self._state)
            if leg is None:
                self._start_again()
            elif self._steps == self._rules.steps:
                self._stop(Stopped.OUT_OF_STEPS)
            elif self._is_idle():
                self._stop(Stopped.STALLED, f"{self._idle_steps} steps have shown nothing new")
            else:
                self._take(leg)

    def _interrupted(self) -> bool:
        return self._rules.interrupt is not None and self._rules.interrupt()

    def _is_idle(self) -> bool:
        """Say whether a stochastic map has led to nothing new for too long."""
        if not self._stochastic or self._idle_steps < _IDLE or self._idle_steps % _IDLE:
            return False
        return self._idle_steps >= 100 * self._known.stats()["known"]

    # -- what to do ---------------------------------------------------------------------------------------------------

    def _choose(self, state: Any) -> Leg | None:
        """Return what to take in `state`, None when there is nothing to do from there."""
        if self._given_up.actions:
            return self._choose_around(state)
        action = None if self._wanted is None else self._known.next(state, self._wanted)
        if action is None and (self._wanted is None or self._exploring):
            action = self._known.explore(state)
            if self._cut_off:
                self._cut_off.pop(values.encode_state(state), None)
            if self._cut_off and action is None:
                action = self._known.next(state, self._cut_off.values())
        return None if action is None else Leg(state, action, None)

    def _choose_around(self, state: Any) -> Leg | None:
        """Choose without what was given up: follow a plan as long as it holds."""
        here = values.encode_state(state)
        if self._plan and values.encode_state(self._plan[0].state) != here:
            self._plan.clear()
        if not self._plan:
            without = self._given_up.actions
            legs = detour(self._known, state, without=without, targets=self._targets) if self._targets else []
            if not legs and (self._targets is None or self._exploring):
                legs = detour(self._known, state, without=without)
            self._plan.extend(legs)
        return self._plan[0] if self._plan else None

    def _start_again(self) -> None:
        """Start a new episode if that may help; else stop."""
        if self._over and not self._news and self._last is not None and not self._stochastic:
            if self._given_up.ended_too_often(self._last):
                self._give_up(self._last)
        hopeful = any(self._choose(start) is not None for start in list(self._starts.values()))
        self._plan.clear()
        if not hopeful and len(self._starts) < 2:
            self._stop_for_good()
        elif self._steps == self._rules.steps:
            self._stop(Stopped.OUT_OF_STEPS)
        elif self._idle_episodes >= (100 if self._stochastic else _HOPE):
            if hopeful:
                self._stop(Stopped.STALLED, f"{self._idle_episodes} episodes in a row ended before anything new")
            else:
                self._stop_for_good()
        else:
            self._idle_episodes += 1
            self._begin()

    def _stop_for_good(self) -> None:
        """Stop because nothing is left to do."""
        given_up = self._given_up
        if given_up.fault is not None:
            self._stop(
                Stopped.FAULTED, f"{len(given_up.actions)} actions were given up, the last for: {given_up.fault}"
            )
        else:
            self._stop(Stopped.NOTHING_LEFT if self._targets is None else Stopped.NO_WAY)

    # -- doing it -----------------------------------------------------------------------------------------------------

    def _take(self, leg: Leg) -> None:
        """Take an action, again when it faults, and draw the walk's own conclusions."""
        state, action = self._state, leg.action
        key = (values.encode_state(state), values.encode_action(action))
        claim = self._known.claim(state, action)
        if claim is not None and (claim.taken or claim.refusals) and (claim.doubtful or claim.status != "confirmed"):
            if self._given_up.checked_too_often(key):
                self._give_up(key)
                return
        if not loop.on_offer(self._env, state, action):
            self._plan.clear()
            self._known.refuse(state, action, why=loop.NOT_ON_OFFER)
            return
        outcome = self._try(state, action)
        if outcome.fault is not None:
            if self._stopped is None:
                self._given_up.fault = outcome.fault
                self._given_up.in_a_row += 1
                self._give_up(key)
                if self._given_up.in_a_row >= _BROKEN:
                    self._stop(Stopped.FAULTED, f"{_BROKEN} actions in a row faulted, the last with: {outcome.fault}")
            return
        self._given_up.in_a_row = 0
        self._last = key
        self._over = outcome.done
        self._idle_steps += 1
        if claim is None or is_open(claim) or (outcome.accepted and not _same(claim.to, outcome.state)):
            self._idle_steps = self._idle_episodes = 0
            self._news = True
        if self._plan:
            self._plan.popleft()
            if not outcome.accepted:
                self._plan.clear()

    def _give_up(self, key: tuple[bytes, bytes]) -> None:
        self._given_up.actions.add(key)
        self._idle_episodes = 0
        self._plan.clear()

    def _try(self, state: Any, action: Any) -> Outcome[Any]:
        """Take an action; when it faults again, as often as the rules say."""
        tried = 0
        while True:
            outcome = loop.step(self._env, self._known, state, action, noticed=self._noticed)
            self._steps += 1
            self._counts[outcome.verdict] += 1
            self._state = outcome.state
            step = Step(state, action, outcome.verdict, outcome.state, outcome.fault or outcome.reason)
            self._trail.append(step)
            if self._rules.on_step is not None:
                self._rules.on_step(step)
            if outcome.fault is None or tried == self._rules.retries:
                return outcome
            if self._steps == self._rules.steps:
                self._stop(Stopped.OUT_OF_STEPS)
                return outcome
            asked = outcome.info.get("retry_after")
            self._rest(asked if isinstance(asked, int | float) else self._rules.pause * 2**tried)
            if self._stopped is not None:
                return outcome
            tried += 1

    def _rest(self, seconds: float) -> None:
        """Wait, unless interrupted."""
        end = time.monotonic() + min(seconds, _LONGEST_PAUSE)
        while self._stopped is None:
            if self._interrupted():
                self._stop(Stopped.INTERRUPTED)
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.1))


def _same(a: Any, b: Any) -> bool:
    """Compare a destination, None when nobody knows it, with a state."""
    return a is not None and values.encode_state(a) == values.encode_state(b)
