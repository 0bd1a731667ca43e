"""The slow path: plan over what was learned, and where nothing is known, explore. The literature calls it System 2.

`Search` is the one that comes with an agent. Any function of a snapshot can take its place: it is shown plain data and
names an action; what it names is checked like everything else, and never replaced by a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot import values
from surefoot.agent.course import Stride, as_data
from surefoot.agent.decision import Answer, Option
from surefoot.agent.imagining import Plan
from surefoot.agent.situation import Situation, conclude
from surefoot.errors import BadArgument

__all__ = ["HOPED", "Proposal", "Search", "judge", "left_of", "shorter", "snapshot"]

HOPED = "it is hoped to turn out well"
"""Why a step of a course is taken that the risk policy asks about.

Example:
    >>> HOPED
    'it is hoped to turn out well'
"""

_RARE = (1, 3, 7, 15, 31)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a slow path of your own may answer, where a bare action does not say enough.

    Attributes:
        action: one of the options; None to decline.
        why: in words.
        money: what the answer cost, a finite number >= 0.

    Raises:
        BadArgument: the money is out of its range.

    Example:
        >>> Proposal("north", "the garden is there", money=0.002).action
        'north'
    """

    action: Any
    why: str = ""
    money: float = 0.0

    def __post_init__(self) -> None:
        """Check the range."""
        given = self.money
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < float("inf"):
            raise BadArgument(f"money must be a finite number >= 0, got {given!r}")


@dataclass(frozen=True, slots=True)
class Search:
    """Plan over what was learned; explore where nothing is known.

    In this order: a known way to where an open goal was reached, also over what the risk policy asks about; an option
    that is expected to reach one; where the action model names next states, a way to one that is thought out over the
    map and its predictions; an option that reached one elsewhere; the nearest call, in thought, whose outcome is not
    predicted; the nearest thing that nobody has checked; on a
    map of chance the nearest thing that was taken rarely. Where only recent failures stand in the way, a step that is
    known to be harmless, until they may be tried again.

    What was never taken counts as the best there is, so exploring ends with a goal reached or with nothing left.

    Args:
        layered: explore around the place where the episode began (or reached its last goal), what is nearest to that
            first: then a goal that is reached is reached by a shortest way from there the next time. False: what is
            nearest to the agent first, which walks less the first time and may leave a longer way.
        expansions: how many states one look ahead looks at, at most, an int >= 0; 0: it never looks ahead.
        depth: how many steps ahead it looks, at most, an int >= 0.
        whole: how many pairs (state, goals reached) it looks at for a shorter course to all goals, once where an
            episode begins after something was learned, an int >= 0; 0: it follows the shortest that it has walked.

    Raises:
        BadArgument: `expansions`, `depth` or `whole` is out of its range.

    Source: optimism in the face of uncertainty, R-max, Brafman and Tennenholtz 2002, with one try for what is certain
        and more where chance was seen; ways of least expected cost, see `surefoot.knowledge.expected`.

    Example:
        >>> Search().layered
        True
    """

    layered: bool = True
    expansions: int = 256
    depth: int = 24
    whole: int = 4_096

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("expansions", "depth", "whole"):
            given = getattr(self, name)
            if type(given) is not int or given < 0:
                raise BadArgument(f"{name} must be an int >= 0, got {given!r}")

    def find(self, here: Situation) -> Answer:
        """Return what to do, or why there is nothing to do; pure."""
        course = self._course(here) if here.running.course else None
        if course is not None:
            return course
        for goal in here.goals:
            hope = here.hope(goal)
            if hope is not None:
                return Answer(hope.action, "slow", "hope", goal, "it may be likelier to arrive")
            option = self._known(here, goal)
            if option is not None:
                return Answer(option.action, "slow", "way", goal)
        advance = self._untried(here, "advance", _advances)
        if advance is not None:
            return advance
        plan = here.think(self.expansions, self.depth)
        planned = None if plan is None else here.option(values.decode_known(plan.legs[0].action))
        if plan is not None and planned is not None and plan.goal is not None:
            return Answer(planned.action, "slow", "plan", plan.goal, _in_words(plan), plan.as_data())
        skill = self._untried(here, "skill", Situation.skilled)
        if skill is not None:
            return skill
        if plan is not None and planned is not None:
            return Answer(planned.action, "slow", "probe", None, _in_words(plan), plan.as_data())
        return self._explore(here)

    def _course(self, here: Situation) -> Answer | None:
        """Return the first step of a shorter course than the one that is known, or of that one."""
        on, considers = here.on_course(), here.considers()
        if not considers:
            return None if on is None else Answer(on[0].action, "slow", "course", None, HOPED)
        left, bound = left_of(here, on)
        found, expanded = here.consider(left, bound) if left > 0 else (None, 0)
        first = None if found is None else here.option_of(found.strides[0].action)
        if found is None or first is None or not here.accepts(first, 0 in found.hopes):
            return None if on is None else Answer(on[0].action, "slow", "course", None, "no shorter one is known")
        told = as_data(found.strides, expanded, found.hopes, found.bound)
        return Answer(first.action, "slow", "course", None, shorter(found.strides, found.hopes, left), told)

    def _untried(self, here: Situation, rule: str, wanted: Callable[[Situation, Option, str], bool]) -> Answer | None:
        """Return an option that was not tried here and that promises to reach an open goal."""
        for goal in here.goals:
            for option in here.options:
                if option.key not in here.blocked and not here.tried(option) and wanted(here, option, goal):
                    return Answer(option.action, "slow", rule, goal)
        return None

    def _known(self, here: Situation, goal: str) -> Option | None:
        """Return the option that a known way to a goal begins with."""
        action = here.way(goal)
        return None if action is None else here.option(action)

    def _explore(self, here: Situation) -> Answer:
        """Return a step towards what is least known."""
        start = values.decode_known(here.running.anchor) if self.layered else None
        for most in (0, *_RARE) if here.known.stochastic else (0,):
            action = here.known.explore_from(here.state, start, without=here.barred, most=most, unvisited=True)
            if action is None:
                continue
            if here.option(action) is not None:
                return Answer(action, "slow", "rare" if most else "unchecked")
            untold = next((o for o in here.options if o.key not in here.blocked and not here.tried(o)), None)
            if untold is not None:  # the map was not told of it
                return Answer(untold.action, "slow", "unchecked")
        if here.kinds == {"failed"}:
            passing = next((o for o in here.options if o.choice == "take" and o.key not in here.blocked), None)
            if passing is not None:
                return Answer(passing.action, "slow", "wait", None, "until what failed may be tried again")
        return conclude(here)


def left_of(here: Situation, course: tuple[Option, int] | None) -> tuple[int, int]:
    """Return how many steps are too many for a new course, and how many it may take in the worst case.

    Example:
        >>> from surefoot import WorldMap
        >>> from surefoot.agent.experience import ExperienceFold, Running
        >>> from surefoot.agent.situation import situation_of
        >>> from surefoot.agent.ways import Ways
        >>> running, option = Running(0, "main", b"0"), Option("up")
        >>> here = situation_of((0, b"0"), ("",), (option,), WorldMap(), ExperienceFold(), running, Ways())
        >>> left_of(here, (option, 7))
        (7, 7)
    """
    if course is not None and not here.running.strayed:
        return course[1], course[1]
    bound = here.running.bound - here.running.steps
    return bound + 1, bound


def shorter(found: Sequence[Stride], hopes: Sequence[int], left: int) -> str:
    """Say how much shorter a course is.

    Example:
        >>> shorter([Stride(b"0", b'"on"', b"1", ())], [], 3), shorter([Stride(b"0", b'"on"', b"1", ())], [0], 3)
        ('1 steps instead of 3, thought out', '1 steps instead of 3, if 1 of them turn out well')
    """
    ending = f"if {len(hopes)} of them turn out well" if hopes else "thought out"
    return f"{len(found)} steps instead of {left}, {ending}"


def _in_words(plan: Plan) -> str:
    """Return what a plan is for."""
    steps = f"{len(plan.legs)} step{'' if len(plan.legs) == 1 else 's'}"
    return f"{steps}, thought out" if plan.goal is not None else f"{steps} to what nothing predicts"


def _advances(here: Situation, option: Option, goal: str) -> bool:
    """Say whether an option is expected to reach a goal by its predicted effects."""
    return goal in option.advances


def snapshot(here: Situation, *, last: int = 20) -> dict[str, Any]:
    """Return a situation as plain data, for a slow path of your own.

    Args:
        here: the situation.
        last: how many steps of this episode are shown, the newest.

    Returns:
        {"episode", "step", "map", "state", "goals", "reached", "options", "way", "trail"}. An option has its "action",
        what is predicted ("verdict", "risk", "reason"), what the risk policy says ("choice"), whether it was tried here
        ("tried"), where that led ("leads_to") and why it may not be taken ("blocked", null where it may). `way` is the
        step that `Search` would take on a known way, null without one.

    Example:
        >>> from surefoot import WorldMap
        >>> from surefoot.agent.experience import ExperienceFold, Running
        >>> from surefoot.agent.situation import situation_of
        >>> from surefoot.agent.ways import Ways
        >>> running, option = Running(0, "main", b"0"), Option("up", gate=("reject", "closed"))
        >>> here = situation_of((0, b"0"), ("",), (option,), WorldMap(), ExperienceFold(), running, Ways())
        >>> snapshot(here)["options"][0]["blocked"]
        'closed'
    """
    running = here.running
    rows = []
    for option in here.options:
        claim = here.known.claim(here.state, option.action)
        blocked = here.blocked.get(option.key)
        rows.append(
            {
                "action": option.action,
                "verdict": option.verdict,
                "risk": option.risk,
                "reason": option.reason,
                "choice": option.choice,
                "tried": here.tried(option),
                "leads_to": None if claim is None else claim.to,
                "blocked": None if blocked is None else blocked[1],
            }
        )
    steps = [running.walked[number] for number in running.trail[-last:]]
    ways = [action for goal in here.goals if (action := here.way(goal)) is not None]
    return {
        "episode": running.episode,
        "step": running.steps,
        "map": running.map,
        "state": here.state,
        "goals": list(here.goals),
        "reached": list(running.reached),
        "options": rows,
        "way": ways[0] if ways else None,
        "trail": [
            {"state": values.decode(s), "action": values.decode(a), "to": values.decode(t) if t else None}
            for s, a, t in steps
        ],
    }


def judge(here: Situation, asked: Mapping[str, Any]) -> Answer:
    """Return what becomes of the answer of a slow path that is not ours: taken as it is, or not at all.

    Args:
        here: the situation that it was asked about.
        asked: its answer as it is recorded: {"action", "why", "error"}.

    Example:
        >>> from surefoot import WorldMap
        >>> from surefoot.agent.experience import ExperienceFold, Running
        >>> from surefoot.agent.situation import situation_of
        >>> from surefoot.agent.ways import Ways
        >>> running = Running(0, "main", b"0")
        >>> here = situation_of((0, b"0"), ("",), (Option("up"),), WorldMap(), ExperienceFold(), running, Ways())
        >>> judge(here, {"action": "up", "why": ""}).rule, judge(here, {"action": "fly", "why": ""}).why
        ('asked', "the slow path named 'fly', which is not on offer")
    """
    if asked.get("error"):
        return Answer(None, "none", "unsure", None, f"the slow path failed: {asked['error']}")
    action, why = asked["action"], asked["why"]
    if action is None:
        return Answer(None, "none", "unsure", None, why or "the slow path declined")
    key = values.encode_action(action)
    option = next((option for option in here.options if option.key == key), None)
    if option is None:
        return Answer(None, "none", "unsure", None, f"the slow path named {action!r}, which is not on offer")
    if key in here.blocked:
        kind, reason = here.blocked[key]
        if option.gate is not None and option.gate[0] == "terminate":
            return Answer(None, "none", "terminated", None, reason)
        rule = "unsure" if kind in ("person", "loop") else "blocked"
        return Answer(None, "none", rule, None, f"the slow path named {action!r}: {reason}")
    return Answer(option.action, "slow", "asked", here.goals[0] if here.goals else None, why)
