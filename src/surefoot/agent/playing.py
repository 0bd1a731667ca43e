"""One episode of an agent, from the first look to its end; who moves the environment is somebody else's matter."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from surefoot import values
from surefoot.agent import loop, telling
from surefoot.agent.budget import Budget
from surefoot.agent.decision import DONE, Answer, Option, event_of
from surefoot.agent.episode import Episode, Stopped
from surefoot.agent.episode_events import Began, Over
from surefoot.agent.experience import DARES, RENEWS, Running
from surefoot.agent.fast import fast
from surefoot.agent.imagining import Ahead
from surefoot.agent.knowledge_base import Knowledge, Place, place_of
from surefoot.agent.options import Gain, Looker
from surefoot.agent.recognising import recognise
from surefoot.agent.situation import Situation, situation_of
from surefoot.agent.slow import Proposal, Search, judge, snapshot
from surefoot.agent.uct import UCT
from surefoot.agent.ways import Ways
from surefoot.errors import BadArgument, ValueRejected
from surefoot.protocols import Outcome, RiskPolicy, SlowPath

if TYPE_CHECKING:  # it loads the checking of models, which most agents do without
    from surefoot.agent.verifying import Verifier

__all__ = ["Mind", "Playing", "name_of_slow", "open_goals"]

_ENDS = {
    "nothing left": Stopped.NOTHING_LEFT,
    "blocked": Stopped.BLOCKED,
    "unsure": Stopped.UNSURE,
    "out of budget": Stopped.OUT_OF_BUDGET,
    "terminated": Stopped.TERMINATED,
}


@dataclass(frozen=True)
class Mind:
    """What an agent decides with.

    Attributes:
        knowledge: what it knows.
        slow: the slow path: a `Search`, or a function of a snapshot.
        budget: what the slow path may cost in an episode.
        risk: the risk policy.
        gain, key: see `Agent`.
        verifier: keeps the shield of what was learned; None without one.
        ways: its plans; `noticed`: what it reported to each map already; `kept`: options of before, see `Looker`.

    Example:
        >>> from surefoot import Protect
        >>> Mind(Knowledge(), Search(), Budget(), Protect()).key is None
        True
    """

    knowledge: Knowledge
    slow: Search | SlowPath
    budget: Budget
    risk: RiskPolicy
    gain: Gain | None = None
    key: Callable[[Any], Any] | None = None
    verifier: Verifier | None = None
    ways: Ways = field(default_factory=Ways)
    noticed: dict[str, loop.Noticed] = field(default_factory=dict)
    looked: dict[tuple[str, str, str], int] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict)

    def place(self, state: Any) -> Place:
        """Return a state in the forms in which it is needed."""
        return place_of(state, self.key)

    @cached_property
    def said(self) -> msgspec.Raw:
        """The rules, encoded."""
        return msgspec.Raw(values.encode(self.rules()))

    def rules(self) -> dict[str, Any]:
        """Return what else decides, as it is recorded with an episode."""
        budget = self.budget
        limits = {"decisions": budget.decisions, "seconds": budget.seconds, "money": budget.money}
        rules = {
            "budget": limits,
            "courses": True,
            "plain": self.key is None,
            "risk": type(self.risk).__name__,
            "slow": name_of_slow(self.slow),
        }
        return rules if self.verifier is None else {**rules, "verify": self.verifier.rules}


def name_of_slow(slow: Search | SlowPath) -> dict[str, Any]:
    """Return how a slow path is recorded.

    Example:
        >>> name_of_slow(Search()), name_of_slow(len)
        ({'search': {'layered': True, 'expansions': 256, 'depth': 24, 'whole': 4096}}, {'name': 'len'})
    """
    if isinstance(slow, Search):
        return {"uct" if isinstance(slow, UCT) else "search": {f.name: getattr(slow, f.name) for f in fields(slow)}}
    return {"name": str(getattr(slow, "__name__", type(slow).__name__))}


def open_goals(knowledge: Knowledge, raw: Any) -> tuple[str, ...]:
    """Return the goals that can be worked on; `DONE` alone where no goal is declared.

    Example:
        >>> open_goals(Knowledge(), 0), open_goals(Knowledge().goal("one", lambda s: s == 1), 0)
        (('',), ('one',))
    """
    views = knowledge.agenda.goals(raw)
    return tuple(view.name for view in views if view.open) if views else (DONE,)


class Playing:
    """One episode that is being played.

    Attributes:
        running: what is remembered of it.
        here: where it is; `stopped`: why it ended, None while it goes on.

    Args:
        mind: what decides.
        map_: the name of the map.
        seed: what the world was reset with.
        state: where it starts.

    Example:
        >>> from surefoot import Protect
        >>> from surefoot.environments.corridor import Corridor
        >>> world = Corridor(length=1)
        >>> playing = Playing(Mind(Knowledge(), Search(), Budget(), Protect()), "main", 0, world.reset())
        >>> option = playing.decide(loop.Look({}, world.actions(0), ()))
        >>> option.action, playing.came(option, world.step("left")), playing.here.state
        ('left', None, 0)
    """

    def __init__(self, mind: Mind, map_: str, seed: int | None, state: Any) -> None:
        """Record that it begins; episodes that a process left behind are ended first."""
        knowledge = mind.knowledge
        self._mind, self._knowledge, self._seed = mind, knowledge, seed
        self.here = mind.place(state)
        known = knowledge.map(map_)  # refuses a bad name
        experience = knowledge.experience
        for number in list(experience.fold.running):
            loop.note(experience, Over(number, Stopped.BROKEN_OFF.value, "found when the next episode began"))
        knowledge.agenda.new_episode()
        for part in (knowledge.failures, mind.risk):
            if hasattr(part, "new_episode"):
                part.new_episode()
        update = knowledge.agenda.update(self.here.raw, steps=0)
        self._problems: Mapping[str, str] = update.problems
        number = experience.fold.episodes
        began = Began(number, map_, seed, msgspec.Raw(self.here.key), mind.said, update.done)
        loop.note(experience, began)
        self.running: Running = experience.fold.running[number]
        self.known = known
        self.stopped: Stopped | None = None
        self.error: BaseException | None = None
        self._why = ""
        self._over = False
        self._noticed = mind.noticed.setdefault(map_, loop.Noticed())
        self._looker = Looker(knowledge, mind.risk, mind.gain, mind.kept)
        self._charged: Any = None
        self._gated = False
        self._declared = bool(knowledge.agenda.goals())
        self._check_goals()

    def _check_goals(self) -> None:
        """End the episode when every declared goal is reached."""
        if not self._declared:
            return
        goals = self._knowledge.agenda.goals()
        if goals and all(goal.done for goal in goals):
            self.end(Stopped.GOALS)

    def decide(self, shown: loop.Look) -> Option | None:
        """Decide, record it, and return what to take; None when the episode is over, `stopped` says why.

        Args:
            shown: what the environment shows of where the agent is.
        """
        while self.stopped is None:
            option = self._decide(shown)
            if option is not None or self.stopped is not None:
                return option
        return None

    def _decide(self, shown: loop.Look) -> Option | None:
        """Decide once; None when it ended, or when everything was put in doubt and has to be decided again."""
        knowledge, running, here = self._knowledge, self.running, self.here
        telling.arrive_at(self.known, here, shown, self._mind.place, self._noticed)
        goals = open_goals(knowledge, here.raw) if self._declared else (DONE,)
        if self._declared and self._mind.key is None:
            recognise(knowledge, self.known, running.map, goals, here.key, self._mind.looked)
        self._gated = knowledge.agenda.gated
        fold = knowledge.experience.fold
        options, choices = self._looker.look(here, shown.offered, goals, running, fold, gated=self._gated)
        verifier = self._mind.verifier
        if verifier is not None:
            options = verifier.judge(running.map, here.key, options, lambda e: loop.note(knowledge.experience, e))
        head = knowledge.experience.read_upto
        situation = situation_of(
            (here.state, here.key),
            goals,
            options,
            self.known,
            fold,
            running,
            self._mind.ways,
            self._ahead(),
        )
        dares, may_doubt = running.dares, fold.may_doubt(running)
        answer, asked, spent = self._answer(situation)
        kinds = situation.kinds if answer.action is None else frozenset()
        place = running.episode, running.steps, head, here.key
        loop.note(knowledge.experience, event_of(place, goals, options, answer, asked, spent, fold.offers))
        if answer.action is None:
            if answer.rule == "blocked" and dares + 1 < len(DARES) and "avoid" in kinds:
                return None
            if answer.rule in RENEWS and may_doubt:
                self.known.drop("what was known leads nowhere")
                return None
            self.end(_ENDS[answer.rule], answer.why)
            return None
        option = situation.option(answer.action)
        assert option is not None  # whoever answered has looked
        choice = choices[option.key]
        if getattr(choice, "charge", 0) and hasattr(self._mind.risk, "charge"):
            self._charged = self._mind.risk.charge(choice)
        return option

    def _ahead(self) -> Ahead | None:
        """Return what a look several steps ahead asks; None where it has nothing to ask."""
        knowledge, slow = self._knowledge, self._mind.slow
        foresees, running = knowledge.foresees, self.running
        thinks = running.strayed or (running.course and not running.steps)
        whole = slow.whole if type(slow) is Search and thinks else 0
        if self._mind.key is not None or not (foresees or whole) or self.known.stochastic:
            return None
        model, agenda = knowledge.actions if foresees else None, knowledge.agenda
        requires = {view.name: view.requires for view in agenda.goals()} if whole else {}
        return Ahead(model, agenda.would, self.known, requires, whole)

    def _answer(self, here: Situation) -> tuple[Answer, Any, dict[str, Any] | None]:
        """Return what is decided, what a slow path that is not ours said, and what it cost."""
        answer = fast(here)
        if answer is not None:
            return answer, None, None
        mind = self._mind
        gone = mind.budget.used_up(self.running.spent)
        if gone is not None:
            settled = fast(here, settle=True)
            if settled is not None:
                return settled, None, None
            return Answer(None, "none", "out of budget", None, f"the slow path has used up its {gone}"), None, None
        began = time.perf_counter()
        if isinstance(mind.slow, Search):
            answer, money = mind.slow.find(here), 0.0
            asked = answer.plan
        else:
            asked, money = _ask(mind.slow, here)
            answer = judge(here, asked)
        seconds = round(time.perf_counter() - began, 6)
        return answer, asked, {"decisions": 1, "money": money, "seconds": seconds}

    def came(self, option: Option, outcome: Any) -> None:
        """Record what came of an action, and end the episode where that ends it.

        Args:
            option: what was taken.
            outcome: what the environment returned.

        Raises:
            ValueRejected: it is no `Outcome`.
            ContractBroken: the environment refused, and moved all the same.
        """
        if not isinstance(outcome, Outcome):
            raise ValueRejected(f"the environment returned {outcome!r}: it must return an Outcome")
        knowledge, there = self._knowledge, self._mind.place(outcome.state)
        telling.took(knowledge, self.running, option, self.here, outcome, there, agenda=self._declared or self._gated)
        if self._charged is not None:
            self._settle(option, outcome)
        self._problems = knowledge.problems
        self.here = there
        if not outcome.done:
            self._check_goals()
            return
        self._over = True
        telling.arrive_at(self.known, there, loop.Look({}, (), ()), self._mind.place, self._noticed, over=True)
        self._check_goals()
        if self.stopped is None:
            self.end(Stopped.LOST if self._declared else Stopped.DONE)

    def _settle(self, option: Option, outcome: Outcome[Any]) -> None:
        """Tell the budget what a taken risk really cost."""
        severity = self._knowledge.options["severity"]
        if isinstance(severity, Mapping):
            severity = severity.get(self._knowledge.call(option.action, option.key).name, 1.0)
        charged, self._charged = self._charged, None
        self._mind.risk.settle(charged, severity if outcome.verdict == "refused" else 0)  # type: ignore[attr-defined]  # it charged

    def end(self, stopped: Stopped, why: str = "") -> None:
        """Record that the episode ended; a second time changes nothing."""
        if self.stopped is None:
            if self.running.episode in self._knowledge.experience.fold.running:
                loop.note(self._knowledge.experience, Over(self.running.episode, stopped.value, why))
            self.stopped, self._why = stopped, why

    def episode(self) -> Episode:
        """Return what it came to.

        Raises:
            BadArgument: it has not ended.
        """
        if self.stopped is None:
            raise BadArgument("the episode has not ended")
        running = self.running
        goals = [goal.name for goal in self._knowledge.agenda.goals()]
        return Episode(
            running.episode,
            running.map,
            self._seed,
            self.stopped,
            self._why,
            running.steps,
            running.verdicts["accepted"],
            running.verdicts["refused"],
            running.verdicts["fault"],
            running.paths["fast"],
            running.paths["slow"],
            tuple(running.reached),
            tuple(goal for goal in goals if goal not in running.reached),
            self.here.state,
            running.spent,
            dict(self._problems),
            self.error,
        )


def _ask(slow: SlowPath, here: Situation) -> tuple[dict[str, Any], float]:
    """Ask a slow path that is not ours; return its answer as it is recorded, and what it cost."""
    try:
        said = slow(snapshot(here))
        proposal = said if isinstance(said, Proposal) else Proposal(said)
        if proposal.action is not None:
            values.encode_action(proposal.action)
    except Exception as error:  # told in the decision, which ends the episode as unsure
        return {"action": None, "error": f"{type(error).__name__}: {error}", "why": ""}, 0.0
    return {"action": proposal.action, "error": "", "why": str(proposal.why)}, float(proposal.money)
