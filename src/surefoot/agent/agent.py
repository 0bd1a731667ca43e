"""An agent: fast where it knows, searching where it does not, never past a gate, every decision on record."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from surefoot.agent import loop, report
from surefoot.agent.budget import Budget
from surefoot.agent.decision import Decision, Option, Reader
from surefoot.agent.episode import Episode, Stopped
from surefoot.agent.episode_events import Decided
from surefoot.agent.knowledge_base import Knowledge
from surefoot.agent.options import Gain
from surefoot.agent.playing import Mind, Playing
from surefoot.agent.replay import Divergence, Replayed, diff, replay
from surefoot.agent.slow import Search
from surefoot.agent.uct import UCT
from surefoot.agent.walks import episode_seed
from surefoot.agent.ways import Ways
from surefoot.errors import BadArgument, NotStarted, ValueRejected
from surefoot.knowledge.risk import Protect
from surefoot.protocols import Environment, Outcome, RiskPolicy, SlowPath

if TYPE_CHECKING:
    from surefoot.agent.verifying import Verifier, Verify

__all__ = ["Agent"]


class Agent:
    """Act in an environment, and learn it on the way.

    Each decision asks the fast path first: what is known to reach an open goal, and what the risk policy takes. Where
    it has nothing to say the slow path is asked: a search over what was learned, which explores where nothing is known,
    or a function of your own. Neither takes what a gate, a hard rule, the risk policy or a recent failure bars. Each
    decision is one entry of the journal, with all that it was made from, before the action is taken.

    Goals are those of the agenda; where none is declared, the goal is that the environment says done.

    Args:
        env: the world.
        knowledge: what is known of it, and where all is recorded.
        slow: the slow path: a `Search`, a `UCT` for large maps of chance, or a function; None: a `Search`.
        budget: what the slow path may cost in an episode: a `Budget`, or a number of decisions; None: no bound.
        risk: the risk policy; None: `Protect`, which takes what is predicted to be accepted.
        key: makes a plain value of a state, for a world whose states are none; None: they are, or are made of mappings
            and lists.
        gain: what there is to gain from an action, for a risk policy that weighs it, see `Gain`.
        seed: episodes that are given no seed get one made of this and their number; None: resets are left to the world.
        timeout: seconds after which a call of the environment is given up, and the episode with it; None: no bound.
        verify: act only inside the shield of what was learned so far: a property such as 'P>=0.95 [ G !"bad" ]', or a
            `Verify` with its labels, see `surefoot.agent.verifying`. Where the shield allows nothing the episode ends
            as blocked. None: nothing is verified.

    Attributes:
        verifier: holds the shields and the models that they are of, by map; None without `verify`.

    Raises:
        ValueRejected (a TypeError): something is not what it should be.
        BadArgument: a number is out of its range.
        BadProperty: what to verify is no property that can be kept.

    One agent at a time works on one journal: an episode that it finds open was broken off.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> agent = Agent(Corridor(length=5), knowledge=Knowledge())
        >>> [agent.run().steps for _ in range(3)]
        [14, 5, 5]
        >>> agent.replay().ok
        True
    """

    def __init__(
        self,
        env: Environment[Any, Any],
        *,
        knowledge: Knowledge,
        slow: SlowPath | Search | None = None,
        budget: Budget | int | None = None,
        risk: RiskPolicy | None = None,
        key: Callable[[Any], Any] | None = None,
        gain: Gain | None = None,
        seed: int | None = 0,
        timeout: float | None = None,
        verify: str | Verify | None = None,
    ) -> None:
        """Take nothing yet; see the class."""
        if not isinstance(env, Environment) or not all(callable(getattr(env, n)) for n in ("reset", "actions", "step")):
            raise ValueRejected(f"env must have the methods reset, actions and step, got {env!r}")
        if not isinstance(knowledge, Knowledge):
            raise ValueRejected(f"knowledge must be a Knowledge, got {knowledge!r}")
        if risk is not None and not isinstance(risk, RiskPolicy):
            raise ValueRejected(f"risk must have a method decide(prediction, gain, key), got {risk!r}")
        for name, given in (("key", key), ("gain", gain), ("slow", slow)):
            if given is not None and not callable(given) and not isinstance(given, Search):
                raise ValueRejected(f"{name} must be a function, got {given!r}")
        _check_number("seed", seed, whole=True)
        _check_number("timeout", timeout)
        self.env, self.knowledge, self.seed, self.timeout = env, knowledge, seed, timeout
        self.verifier: Verifier | None = None
        if verify is not None:
            # Here, and not above: it loads the checking of models, which most agents do without.
            from surefoot.agent.verifying import Verifier, Verify

            self.verifier = Verifier(Verify.of(verify), knowledge.journal)
        budget, ways = Budget.of(budget), Ways(solves=not isinstance(slow, UCT))
        self._mind = Mind(knowledge, slow or Search(), budget, risk or Protect(), gain, key, self.verifier, ways)
        self._playing: Playing | None = None
        self._option: Option | None = None
        self._next: tuple[str, int | None] = ("main", None)

    # -- episodes -----------------------------------------------------------------------------------------------------

    def run(
        self, seed: int | None = None, steps: int = 1_000, map: str = "main", *, seconds: float | None = None
    ) -> Episode:
        """Play one episode, and return what it came to.

        Whatever the environment does, the episode ends as an event: when it raises, the result says so and holds the
        exception. An exception from outside (Ctrl-C) ends the episode too, and goes on.

        Args:
            seed: what to reset the world with; None: see `Agent`.
            steps: after how many steps to stop, an int >= 0.
            map: the map to walk on. Give worlds that a seed lays out anew a map each.
            seconds: after how many seconds to stop, a number >= 0, looked at between two steps; None: no bound.

        Raises:
            BadArgument: an argument is out of its range.

        Cost: a step is a few entries in the journal, and the predictions for what is on offer; it does not grow with
            the number of steps taken before.

        Example:
            >>> from surefoot.environments.crafting import Crafting
            >>> knowledge = Knowledge().goal("stone", done=lambda s: "stone" in dict(s[1]))
            >>> agent = Agent(Crafting(), knowledge=knowledge)
            >>> agent.run().goals_done, agent.run().steps
            (('stone',), 2)
        """
        return loop.drive(self.env, self._episode(seed, steps, map, seconds), timeout=self.timeout)

    async def run_async(
        self, seed: int | None = None, steps: int = 1_000, map: str = "main", *, seconds: float | None = None
    ) -> Episode:
        """Do what `run` does, for an environment whose methods may be coroutines.

        Example:
            >>> import asyncio
            >>> from surefoot.environments.corridor import Corridor
            >>> class Far(Corridor):
            ...     async def step(self, action):
            ...         await asyncio.sleep(0)
            ...         return Corridor.step(self, action)
            >>> asyncio.run(Agent(Far(length=2), knowledge=Knowledge()).run_async()).stopped.value
            'done'
        """
        return await loop.drive_async(self.env, self._episode(seed, steps, map, seconds), timeout=self.timeout)

    def _episode(self, seed: int | None, steps: int, map_: str, seconds: float | None) -> loop.Episode[Episode]:
        """Play one episode: ask for what is needed, and return what it came to."""
        _check_number("seed", seed, whole=True)
        _check_number("steps", steps, whole=True, optional=False)
        _check_number("seconds", seconds)
        self._break_off()
        given = self._seed_of(seed)
        try:
            state = yield loop.Ask("reset", given)
        except Exception as error:
            return self._not_begun(map_, given, error)
        try:
            playing = self._playing = Playing(self._mind, map_, given, state)
        except BaseException:
            self._refresh()
            raise
        began = time.monotonic()
        try:
            while playing.stopped is None:
                if playing.running.steps >= steps:
                    playing.end(Stopped.OUT_OF_STEPS)
                elif seconds is not None and time.monotonic() - began >= seconds:
                    playing.end(Stopped.OUT_OF_TIME)
                else:
                    yield from self._turn(playing)
        except BaseException as error:
            self._refresh()
            playing.end(Stopped.INTERRUPTED, f"{type(error).__name__}: {error}")
            raise
        finally:
            self._playing = None
        return playing.episode()

    def _refresh(self) -> None:
        """Go back to what is recorded: an exception from outside may have come between recording and taking it in."""
        self.knowledge.refresh()
        self._mind.noticed.clear()
        if self.verifier is not None:
            self.verifier.forget()

    def _turn(self, playing: Playing) -> loop.Episode[None]:
        """Look, decide, take; what the environment raises ends the episode."""
        state = playing.here.raw
        try:
            shown = yield loop.Ask("look", state)
        except Exception as error:
            _failed(playing, error)
            return
        option = playing.decide(shown)
        if option is None:
            return
        try:
            outcome = yield loop.Ask("step", option.action)
        except Exception as error:
            _failed(playing, error)
            return
        try:
            playing.came(option, outcome)
        except (AssertionError, TypeError) as error:  # it broke its contract
            _failed(playing, error)

    def _not_begun(self, map_: str, seed: int | None, error: Exception) -> Episode:
        """Return an episode that the environment did not let begin; nothing was recorded."""
        number = self.knowledge.experience.fold.episodes
        stopped = Stopped.TIMED_OUT if isinstance(error, TimeoutError) else Stopped.RAISED
        return Episode(number, map_, seed, stopped, f"reset: {type(error).__name__}: {error}", error=error)

    def _seed_of(self, seed: int | None) -> int | None:
        return seed if seed is not None else episode_seed(self.seed, self.knowledge.experience.fold.episodes)

    def _break_off(self) -> None:
        if self._playing is not None:
            self._playing.end(Stopped.BROKEN_OFF, "another episode began")
            self._playing = self._option = None

    # -- for those who own the loop -----------------------------------------------------------------------------------

    def new_episode(self, *state: Any, map: str = "main", seed: int | None = None) -> Agent:
        """Begin an episode, for those who reset and step the environment themselves.

        Args:
            state: where it starts, as the environment gave it; without it the next `act(state)` says where.
            map: the map to walk on.
            seed: what the world was reset with, for the record.

        Example:
            >>> from surefoot.environments.corridor import Corridor
            >>> world = Corridor(length=1)
            >>> agent = Agent(world, knowledge=Knowledge()).new_episode(world.reset())
            >>> while (action := agent.act()) is not None:
            ...     episode = agent.observe(world.step(action))
            >>> episode.stopped.value, episode.steps
            ('done', 2)
        """
        _check_number("seed", seed, whole=True)
        if len(state) > 1:
            raise BadArgument(f"new_episode(state) takes one state, got {len(state)}")
        self._break_off()
        self._next = map, seed
        if state:
            self._playing = Playing(self._mind, map, seed, state[0])
        return self

    def act(self, *state: Any) -> Any:
        """Decide, and return the action to take; None when the episode is over.

        Args:
            state: where the world is; only needed where it moves by itself, or to begin an episode.

        Raises:
            NotStarted: no episode has begun, and no state is given.
            BadArgument: the last action's outcome was not told; or there is more than one state.
        """
        if len(state) > 1:
            raise BadArgument(f"act(state) takes one state, got {len(state)}")
        if self._option is not None:
            raise BadArgument(f"tell the outcome of {self._option.action!r} first: observe(outcome)")
        if self._playing is None:
            if not state:
                raise NotStarted("act() before new_episode(state): begin an episode first, or give act(state) a state")
            map_, seed = self._next
            self.new_episode(state[0], map=map_, seed=seed)
        playing = self._playing
        assert playing is not None  # it was begun
        if playing.stopped is not None:
            return None
        if state:
            playing.here = self._mind.place(state[0])
        shown = loop.drive(self.env, _look(playing.here.raw), timeout=self.timeout)
        self._option = playing.decide(shown)
        return None if self._option is None else self._option.action

    def observe(self, outcome: Outcome[Any]) -> Episode | None:
        """Tell what came of the action that `act` returned.

        Returns:
            what the episode came to, when this ended it; else None.

        Raises:
            NotStarted: `act` was not called.
            ValueRejected (a TypeError): it is no `Outcome`.
            ContractBroken: it is a refusal that moved.
        """
        if self._option is None or self._playing is None:
            raise NotStarted("observe(outcome) before act(): there is no action that this is the outcome of")
        playing = self._playing
        playing.came(self._option, outcome)
        self._option = None
        return None if playing.stopped is None else playing.episode()

    @property
    def episode(self) -> Episode | None:
        """Return what the episode of `act` and `observe` came to; None while it goes on, or when there is none."""
        playing = self._playing
        return None if playing is None or playing.stopped is None else playing.episode()

    # -- the record ---------------------------------------------------------------------------------------------------

    def decisions(self, episode: int | None = None) -> Iterator[Decision]:
        """Iterate over the recorded decisions, of one episode or of all.

        Example:
            >>> from surefoot.environments.corridor import Corridor
            >>> agent = Agent(Corridor(length=1), knowledge=Knowledge())
            >>> _ = agent.run(), agent.run()
            >>> [decision.path for decision in agent.decisions(1)]
            ['fast']
        """
        reader = Reader()
        for seq, event in self.knowledge.experience.events():
            if not isinstance(event, Decided):
                continue
            if episode in (None, event.episode):
                yield reader.decision(seq, event)
            else:
                reader.skip(event)

    def replay(self) -> Replayed:
        """Make every recorded decision again from the journal alone, and compare; see `surefoot.agent.replay`.

        Example:
            >>> from surefoot.environments.corridor import Corridor
            >>> agent = Agent(Corridor(length=2), knowledge=Knowledge())
            >>> _ = agent.run(), agent.run()
            >>> print(agent.replay())
            7 decisions made again from the journal: all the same
        """
        return replay(self.knowledge)

    def diff(self, run_a: int | Episode, run_b: int | Episode) -> Divergence | None:
        """Return where two episodes first went apart, None when they did not; see `surefoot.agent.replay.diff`.

        Example:
            >>> from surefoot.environments.corridor import Corridor
            >>> agent = Agent(Corridor(length=2), knowledge=Knowledge())
            >>> one, two, three = agent.run(), agent.run(), agent.run()
            >>> print(agent.diff(one, two)), agent.diff(two, three)
            step 0: 'left' in 0 (slow, unchecked) against 'right' in 0 (fast, way)
            (None, None)
        """
        return diff(self.knowledge, _number(run_a), _number(run_b))

    def report(self, html: str | os.PathLike[str] | None = None) -> str:
        """Return what happened so far, in words; with `html` also write it as one readable page.

        Example:
            >>> from surefoot.environments.corridor import Corridor
            >>> agent = Agent(Corridor(length=1), knowledge=Knowledge())
            >>> _ = agent.run(), agent.run()
            >>> print(agent.report())
            2 episodes, 3 decisions: 1 fast, 2 slow
              episode 0 on 'main': done after 2 steps, 1 refused, 0 fast and 2 slow
              episode 1 on 'main': done after 1 steps, 0 refused, 1 fast and 0 slow
        """
        told = report.gather(self.knowledge)
        if html is not None:
            report.write_page(told, html)
        return report.in_words(told)


def _failed(playing: Playing, error: BaseException) -> None:
    """End an episode because of what the environment raised."""
    playing.error = error
    stopped = Stopped.TIMED_OUT if isinstance(error, TimeoutError) else Stopped.RAISED
    playing.end(stopped, f"{type(error).__name__}: {error}")


def _look(state: Any) -> loop.Episode[loop.Look]:
    shown: loop.Look = yield loop.Ask("look", state)
    return shown


def _number(run: int | Episode) -> int:
    return run.number if isinstance(run, Episode) else run


def _check_number(name: str, given: Any, *, whole: bool = False, optional: bool = True) -> None:
    if given is None and optional:
        return
    kinds = int if whole else (int, float)
    if isinstance(given, bool) or not isinstance(given, kinds) or not 0 <= given < float("inf"):
        what = "an int >= 0" if whole else "a number of seconds >= 0"
        raise BadArgument(f"{name} must be {what}{' or None' if optional else ''}, got {given!r}")
