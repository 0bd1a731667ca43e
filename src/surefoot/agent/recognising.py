"""Find the places on a map where a goal would be reached, though nobody has been there with that goal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from surefoot import values
from surefoot.agent import loop
from surefoot.agent.episode_events import Recognised
from surefoot.agent.experience import TARGETS
from surefoot.agent.knowledge_base import Knowledge, raw_of
from surefoot.knowledge.worldmap import WorldMap

__all__ = ["recognise"]


def recognise(
    knowledge: Knowledge,
    known: WorldMap,
    map_: str,
    goals: Iterable[str],
    here: bytes,
    looked: dict[tuple[str, str, str], int],
) -> None:
    """Ask the goals' checks about the states that the map has heard of since they were asked last, and record the yes.

    A check reads a state, so it can be asked about one that was visited for another goal, or that a sign has named. It
    is a place to go to, nothing more: the goal is reached when its check says so there.

    Args:
        knowledge: whose goals.
        known: the map.
        map_: its name.
        goals: the open goals.
        here: where the agent is, encoded: a goal that is open here is not reached here.
        looked: {(map, goal, fingerprint of its check): how many states of the map that was asked about}; brought up to
            date.

    Cost: a call of each open goal's check for each new state.

    Example:
        >>> knowledge = Knowledge().goal("faq", done=lambda page: page == "/faq")
        >>> known, looked = knowledge.map("main").see("/", "FAQ", to="/faq"), {}
        >>> recognise(knowledge, known, "main", ["faq"], b'"/"', looked)
        >>> knowledge.experience.fold.targets, list(looked.values())
        ({'main': {'faq': {b'"/faq"': None}}}, [2])
    """
    found: dict[str, list[Any]] = {}
    for goal in goals:
        which = map_, goal, knowledge.agenda.check_digest(goal)
        states = known.states(since=looked.get(which, 0))
        if not states:
            continue
        looked[which] = looked.get(which, 0) + len(states)
        there = knowledge.experience.fold.targets.get(map_, {}).get(goal, {})
        for state in states:
            key = values.encode_state(state)
            if key != here and key not in there and knowledge.agenda.would(raw_of(state), [goal]):
                found.setdefault(goal, []).append(state)
    if found:
        targets = {goal: states[-TARGETS:] for goal, states in found.items()}
        loop.note(knowledge.experience, Recognised(map_, msgspec.Raw(values.encode(targets))))
