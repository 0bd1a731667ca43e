"""What a decision is made from: one place, its options, and what is known of the way there and on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefoot import values
from surefoot.agent.decision import Answer, Option
from surefoot.agent.experience import ExperienceFold, Running
from surefoot.agent.guards import looping
from surefoot.agent.hoping import Whole
from surefoot.agent.imagining import Ahead, Plan, imagine, imagine_whole
from surefoot.agent.knowledge_base import raw_of
from surefoot.agent.ways import Ways
from surefoot.knowledge.worldmap import WorldMap

__all__ = ["Situation", "conclude", "situation_of"]

_AGAIN = 3
"""After how many steps a place where something failed is worth a visit again."""


@dataclass(slots=True)
class Situation:
    """All that the fast and the slow path read; deciding twice gives the same answer.

    Attributes:
        state, key: where, as it is on the map, and encoded.
        goals: the open goals, in order.
        options: what is on offer.
        known: the map.
        fold: what is remembered of all episodes; `running`: of this one.
        ways: the plans.
        blocked: {encoded action: (kind, reason)} of the options that do not pass a hard check, a loop guard included.
        without: pairs (state, action) that no way may use, here and elsewhere.
        ahead: what a look several steps ahead asks; None where there is nothing to ask, or chance decides.

    Example:
        >>> from surefoot.agent.situation import Situation
        >>> Situation.__slots__[:2]
        ('state', 'key')
    """

    state: Any
    key: bytes
    goals: tuple[str, ...]
    options: tuple[Option, ...]
    known: WorldMap
    fold: ExperienceFold
    running: Running
    ways: Ways
    blocked: dict[bytes, tuple[str, str]]
    without: list[tuple[Any, Any]]
    ahead: Ahead | None = None

    def option(self, action: Any) -> Option | None:
        """Return the option that is this action, None when it is not on offer or does not pass."""
        return self.option_of(values.encode_action(action))

    def option_of(self, key: bytes) -> Option | None:
        """Return the option whose action is encoded so, None when it is not on offer or does not pass."""
        if key in self.blocked:
            return None
        for option in self.options:
            if option.key == key:
                return option
        return None

    def way(self, goal: str) -> Any:
        """Return the first action of the best known way to where a goal was reached, None without one."""
        running = self.running
        places = self.fold.targets.get(running.map, {}).get(goal)
        if not places:
            return None
        targets = [place for place in places if place != self.key]
        which = running.map, self.fold.version.get(running.map, 0)
        action = self.ways.next(self.known, which, self.state, targets, self.without, self.key)
        if action is None or not self.blocked or values.encode_action(action) not in self.blocked:
            return action
        return self.ways.next(self.known, which, self.state, targets, self.barred)

    def hope(self, goal: str) -> Option | None:
        """Return the option that may make it likelier to reach a goal, where the best known way may be lost."""
        running = self.running
        if not self.known.stochastic or self.without:
            return None
        places = self.fold.targets.get(running.map, {}).get(goal, ())
        which = running.map, self.fold.version.get(running.map, 0)
        action = self.ways.hope(self.known, which, self.state, [place for place in places if place != self.key])
        return None if action is None else self.option(action)

    def follow(self) -> Answer | None:
        """Return the next step of the newest plan of this episode, None where it does not hold any more."""
        running = self.running
        leg = running.plan.get(self.key)
        if leg is None or (running.planned is not None and running.planned not in self.goals):
            return None
        action, to = leg
        triple = running.map, self.key, action
        runs = self.fold.runs.get(triple)
        if action in self.blocked or triple in self.fold.refused or (runs and runs[-1][0] != to):
            return None
        option = next((option for option in self.options if option.key == action), None)
        if option is None or option.choice != "take":
            return None
        return Answer(option.action, "fast", "probe" if running.planned is None else "plan", running.planned)

    def on_course(self) -> tuple[Option, int] | None:
        """Return the next step of the course of this episode and how many are left; None where it does not hold.

        The policy takes it, or asks about it where its outcome is hoped for.
        """
        running = self.running
        leg = running.course.get((self.key, frozenset(running.reached))) if running.course else None
        if leg is None:
            return None
        action, to, left = leg
        triple = running.map, self.key, action
        runs = self.fold.runs.get(triple)
        if action in self.blocked or triple in self.fold.refused or (runs and runs[-1][0] != to):
            return None
        option = next((option for option in self.options if option.key == action), None)
        if option is None or not self.accepts(option, (self.key, action) in running.hopes):
            return None
        return option, left

    @staticmethod
    def accepts(option: Option, hope: bool) -> bool:
        """Say whether the policy takes a step of a course; of one that is hoped for, that it does not avoid it."""
        return option.choice == "take" or (hope and option.choice == "ask")

    def considers(self) -> bool:
        """Say whether a shorter course is to be looked for.

        That is where an episode begins, and once for what was learned; and after a step of the course that did not
        lead to where it was hoped to.
        """
        running, fold = self.running, self.fold
        if self.ahead is None or not self.ahead.wide:
            return False
        if running.strayed:
            return True
        return not running.steps and bool(running.course) and fold.courses.are_old((running.map, running.start))

    def consider(self, most: int, bound: int) -> tuple[Whole | None, int]:
        """Return a course of fewer than `most` steps, at worst of `bound`, and how much was looked at."""
        assert self.ahead is not None  # it was asked for
        barred = {*self.running.shut, *((self.key, action) for action in self.blocked)}
        place, offered = (self.key, raw_of(self.state)), [option.key for option in self.options]
        return imagine_whole(self.ahead, place, offered, (self.fold, self.running), barred, most=most, bound=bound)

    def think(self, expansions: int, depth: int) -> Plan | None:
        """Return a way in imagination, to an open goal or to what is not predicted; None without one."""
        if self.ahead is None or self.ahead.model is None:
            return None
        barred = {*self.running.shut, *((self.key, action) for action in self.blocked)}
        raw = raw_of(self.state)
        offered = [option.key for option in self.options]
        known = self.fold, self.running
        return imagine(
            self.ahead, (self.key, raw), self.goals, offered, known, barred, expansions=expansions, depth=depth
        )

    @property
    def barred(self) -> list[tuple[Any, Any]]:
        """Return `without`, and whatever is blocked here, even where the map holds it for refused."""
        here = [(self.state, option.action) for option in self.options if option.key in self.blocked]
        return [*self.without, *here]

    @property
    def kinds(self) -> set[str]:
        """Return of what kinds the checks are that bar what is left, here or where this episode has been."""
        fold, map_ = self.fold, self.running.map
        here = {kind for key, (kind, _) in self.blocked.items() if (map_, self.key, key) not in fold.refused}
        failed = {kind for kind, _ in self.blocked.values() if kind == "failed"}
        return here | failed | {kind for kind, _, _ in self.running.shut.values()}

    def tried(self, option: Option) -> bool:
        """Say whether the map knows what comes of an option here."""
        triple = self.running.map, self.key, option.key
        return triple in self.fold.runs or triple in self.fold.refused

    def skilled(self, option: Option, goal: str) -> bool:
        """Say whether an option has reached a goal more often than not, elsewhere."""
        skill = self.fold.skills.get((goal, option.key))
        return skill is not None and skill.rate > 0.5 and not self.tried(option)


def situation_of(
    place: tuple[Any, bytes],
    goals: tuple[str, ...],
    options: tuple[Option, ...],
    known: WorldMap,
    fold: ExperienceFold,
    running: Running,
    ways: Ways,
    ahead: Ahead | None = None,
) -> Situation:
    """Return the situation at a place; works out what is blocked.

    Args:
        place: (state, its encoding).
        goals: the open goals.
        options: what is on offer.
        known: the map.
        fold: what is remembered.
        running: the episode.
        ways: the plans.
        ahead: what a look several steps ahead asks.

    Example:
        >>> running = Running(0, "main", b"0")
        >>> here = situation_of((0, b"0"), ("",), (Option("up"),), WorldMap(), ExperienceFold(), running, Ways())
        >>> here.option("up").choice, here.option("down"), here.way("")
        ('ask', None, None)
    """
    state, key = place
    blocked = {option.key: why for option in options if (why := option.blocked) is not None}
    circle = looping(running.trail, running.walked, key)
    if circle is not None and not _by_chance(known, fold, running, key, circle):
        blocked[circle] = "loop", "it was done three times over, and led nowhere"
    shut = running.without
    if not blocked and not shut:
        return Situation(state, key, goals, options, known, fold, running, ways, blocked, [], ahead)
    offered = {option.key for option in options}
    lately = running.steps - _AGAIN
    without = [
        pair
        for (s, a), pair in shut.items()
        if (a in blocked and a in offered if s == key else _holds(running.shut[s, a], lately))
    ]
    for option in options:
        barred = option.key in blocked and (key, option.key) not in shut
        if barred and (running.map, key, option.key) not in fold.refused:
            without.append((state, option.action))
    return Situation(state, key, goals, options, known, fold, running, ways, blocked, without, ahead)


def _holds(barred: tuple[str, str, int], lately: int) -> bool:
    """Say whether what was barred elsewhere still is: a failure is looked at again after a while."""
    return barred[0] != "failed" or barred[2] > lately


def _by_chance(known: WorldMap, fold: ExperienceFold, running: Running, state: bytes, action: bytes) -> bool:
    """Say whether an action leads here and there by chance, so that trying again may help."""
    return known.stochastic and len(fold.runs.get((running.map, state, action), ())) > 1


def conclude(here: Situation) -> Answer:
    """Return why there is nothing to do: what is left is barred, or somebody has to be asked, or nothing is left.

    Example:
        >>> running = Running(0, "main", b"0")
        >>> for option in (Option("up", gate=("reject", "closed")), Option("up", gate=("escalate", "ask Kim"))):
        ...     here = situation_of((0, b"0"), ("",), (option,), WorldMap(), ExperienceFold(), running, Ways())
        ...     conclude(here).rule, conclude(here).why
        ('blocked', "'up': closed")
        ('unsure', "'up': ask Kim")
    """
    running, fold = here.running, here.fold
    barred = [
        (*here.blocked[option.key], repr(option.action), option.gate)
        for option in here.options
        if option.key in here.blocked
        and (here.blocked[option.key][0] == "failed" or (running.map, here.key, option.key) not in fold.refused)
    ]
    words = "; ".join(f"{action}: {reason}" for _, reason, action, _ in barred)
    if any(gate is not None and gate[0] == "terminate" for *_, gate in barred):
        return Answer(None, "none", "terminated", None, words)
    kinds = here.kinds
    if not kinds:
        why = "nothing is on offer" if not here.options else "all that can be reached was tried"
        return Answer(None, "none", "nothing left", None, why)
    if not words:
        words = "; ".join(sorted({reason for _, reason, _ in running.shut.values()}))
    return Answer(None, "none", "unsure" if kinds & {"person", "loop"} else "blocked", None, words)
