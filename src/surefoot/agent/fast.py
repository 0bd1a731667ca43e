"""The fast path: what is known to work is done. The literature calls it System 1."""

from __future__ import annotations

from surefoot.agent.decision import Answer
from surefoot.agent.situation import Situation

__all__ = ["fast"]


def fast(here: Situation, *, settle: bool = False) -> Answer | None:
    """Return what is known to help and what the risk policy takes, None to leave it to the slow path.

    Where there are several goals, and a whole run to all of them is known from where the episode began: its next step.
    For each open goal in order: the first step of the best known way to where it was reached; where that way may be
    lost, and something that was tried little may be better, it is left to the slow path. Then, where no way is
    known: the next step of a plan that was made before, as long as all goes as planned; an option that is expected to
    reach it, by its predicted effects or because it did so elsewhere more often than not, and that was not tried here.

    Args:
        here: the situation.
        settle: take a known way also where something else may be better: there is nobody else to ask.

    Cost: one question to the map for each open goal; see `WorldMap.next`.

    Example:
        >>> from surefoot import WorldMap
        >>> from surefoot.agent.decision import Option
        >>> from surefoot.agent.experience import ExperienceFold, Running
        >>> from surefoot.agent.situation import situation_of
        >>> from surefoot.agent.ways import Ways
        >>> known, memory = WorldMap(), ExperienceFold()
        >>> known.arrive("hall", "north", "garden"), memory.targets.update(main={"": {b'"garden"': None}})
        (False, None)
        >>> options = (Option("north", "accept", 0.1, 3, choice="take"), Option("south"))
        >>> running = Running(0, "main", b'"hall"')
        >>> fast(situation_of(("hall", b'"hall"'), ("",), options, known, memory, running, Ways())).rule
        'way'
    """
    course = here.on_course() if here.running.course else None
    if here.running.course and not settle and here.considers():
        return None
    if course is not None and course[0].choice == "take":
        return Answer(course[0].action, "fast", "course")
    if course is not None and not settle:
        return None
    for goal in here.goals:
        action = here.way(goal)
        if action is None:
            continue
        option = here.option(action)
        if option is None or option.choice != "take" or not (settle or here.hope(goal) is None):
            return None
        return Answer(action, "fast", "way", goal)
    planned = here.follow() if here.running.plan else None
    if planned is not None:
        return planned
    for goal in here.goals:
        for option in here.options:
            if option.choice != "take" or option.key in here.blocked or here.tried(option):
                continue
            if goal in option.advances:
                return Answer(option.action, "fast", "advance", goal)
            if here.skilled(option, goal):
                return Answer(option.action, "fast", "skill", goal)
    return None
