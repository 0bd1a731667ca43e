"""What becomes of an outcome: the map, the action model, the failures, the goals and the episode are told.

Who is told first is not free: the episode, so that what is cut off after it is a step that is not yet on the map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from surefoot import values
from surefoot.agent.decision import Option
from surefoot.agent.episode_events import Came
from surefoot.agent.experience import Running
from surefoot.agent.knowledge_base import Knowledge, Place
from surefoot.agent.loop import MEND, NOT_ON_OFFER, Look, Noticed, note, note_all, offer
from surefoot.errors import ContractBroken, ValueRejected
from surefoot.knowledge.worldmap import WorldMap
from surefoot.protocols import Outcome

__all__ = ["arrive_at", "teach", "took"]


def arrive_at(
    known: WorldMap, here: Place, shown: Look, place: Callable[[Any], Place], noticed: Noticed, *, over: bool = False
) -> None:
    """Record what an environment shows of where the agent is, as far as it is news.

    Args:
        known: the map.
        here: where the agent is.
        shown: what is shown.
        place: makes a place of a state, for the signs.
        noticed: what was reported before.
        over: the episode is over, so nothing is on offer.

    Example:
        >>> known, here = WorldMap(), Place("hall", b'"hall"', "hall")
        >>> arrive_at(known, here, Look({}, ["north"], ()), lambda s: here, Noticed())
        >>> known.frontier()
        [('hall', 'north')]
    """
    if noticed.is_news(b"facts" + here.key, shown.facts):
        known.visit(here.state, facts=shown.facts)
    if over:
        return
    signs = [(action, place(to).state) for action, to in shown.signs] if shown.signs else ()
    if not noticed.is_news(b"offer" + here.key, (shown.offered, signs)):
        return
    offered = set(map(values.encode_action, shown.offered))
    for claim in known.claims(here.state):
        if not claim.refused and values.encode_action(claim.action) not in offered:
            known.refuse(here.state, claim.action, why=NOT_ON_OFFER)
    offer(known, here.state, shown.offered, signs, None)


def took(
    knowledge: Knowledge,
    running: Running,
    option: Option,
    here: Place,
    outcome: Outcome[Any],
    there: Place,
    *,
    agenda: bool = True,
) -> Came:
    """Record what came of an action, for the map, the action model, the failures, the goals and the episode.

    What contradicts a place that was confirmed puts the claims of that state in doubt, not the whole map; what goes
    back and forth makes the map one of chance.

    Args:
        knowledge: what is known.
        running: the episode.
        option: what was taken.
        here: where.
        outcome: what the world said.
        there: where it led.
        agenda: there are goals or gates, so that the agenda is to be told of the step.

    Returns:
        the event that was recorded.

    Raises:
        ContractBroken: it is a refusal that moved.
        ValueRejected: the effect is no plain value. In both cases nothing was recorded.

    Example:
        >>> from surefoot.protocols import moved
        >>> from surefoot.agent.decision import Answer, event_of
        >>> from surefoot.agent.episode_events import Began
        >>> import msgspec
        >>> knowledge, a, b = Knowledge(), Place("a", b'"a"', "a"), Place("b", b'"b"', "b")
        >>> note(knowledge.experience, Began(0, "main", None, msgspec.Raw(a.key)))
        >>> decided = event_of((0, 0, "0:0", a.key), ("",), (Option("go"),), Answer("go", "slow", "unchecked"))
        >>> note(knowledge.experience, decided)
        >>> running = knowledge.experience.fold.running[0]
        >>> took(knowledge, running, Option("go"), a, moved("b"), b).verdict, knowledge.map().claim("a", "go").to
        ('accepted', 'b')
    """
    if outcome.verdict == "refused" and there.key != here.key:
        raise ContractBroken(
            f"the world refused {option.action!r} in {here.state!r}, and yet went to {there.state!r}: a refusal leaves "
            f"the state as it was{MEND}"
        )
    observed = None
    if outcome.verdict == "accepted" and not len(knowledge.failures):
        observed = knowledge.observing(here, knowledge.call(option.action, option.key), outcome)
    if observed is None and outcome.effect is not None:
        values.encode(outcome.effect)  # what is no plain value is refused before anything is recorded
    known, surprise = knowledge.map(running.map), ""
    goals: tuple[str, ...] = ()
    if outcome.verdict != "fault":
        to = there.key if outcome.accepted else None
        if not known.stochastic:
            surprise = knowledge.experience.fold.surprise(running.map, here.key, option.key, to)
        if agenda:
            update = knowledge.agenda.update(there.raw)
            goals, knowledge.problems = update.done, update.problems
    event = Came(
        running.episode,
        running.steps,
        outcome.verdict,
        msgspec.Raw(there.key),
        outcome.done,
        goals,
        surprise == "drift",
        outcome.fault or outcome.reason,
    )
    if observed is not None and not surprise:
        record, take = observed
        changes = knowledge.experience.noting(event), known.arriving(here.key, option.key, there.key)
        take(note_all(changes, record))
        return event
    note(knowledge.experience, event)  # first: what is cut off after it is a step that is not yet on the map
    if outcome.verdict == "fault":
        knowledge.failures.tick()
    else:
        teach(knowledge, option, here, outcome, there)
        _tell_the_map(knowledge, known, running, option, here, outcome, there, surprise)
    return event


def teach(knowledge: Knowledge, option: Option, here: Place, outcome: Outcome[Any], there: Place) -> None:
    """Let the action model and the failure memory learn from an outcome that is no fault.

    The model is told the state after an accepted call too, where it learns what calls change (see
    `Knowledge.foresees`) and the states are plain values.

    Example:
        >>> from surefoot.protocols import refused
        >>> knowledge, hall = Knowledge(), Place("hall", b'"hall"', "hall")
        >>> teach(knowledge, Option("open"), hall, refused("hall", "locked"), hall)
        >>> knowledge.actions.predict("hall", "open", {}).verdict
        'refuse'
    """
    call = knowledge.call(option.action, option.key)
    state = here.state if knowledge.exact else here.raw
    after = there.raw if outcome.accepted and knowledge.foresees and _is_plain(here.raw, there.raw) else None
    if after is None:
        knowledge.actions.observe(state, call.name, call.args, outcome.accepted, outcome.effect)
    else:
        told: Any = knowledge.actions  # its `observe` takes a next state, see `Knowledge.foresees`
        told.observe(state, call.name, call.args, True, outcome.effect, next_state=after)
    if outcome.accepted:
        if len(knowledge.failures):  # else there is nothing to forget, and no entry
            knowledge.failures.succeeded(here.state, option.action)
    else:
        knowledge.failures.failed(here.state, option.action, outcome.reason or None)


def _is_plain(*states: Any) -> bool:
    """Say whether states are plain values."""
    try:
        for state in states:
            values.encode(state)
    except ValueRejected:
        return False
    return True


def _tell_the_map(
    knowledge: Knowledge,
    known: WorldMap,
    running: Running,
    option: Option,
    here: Place,
    outcome: Outcome[Any],
    there: Place,
    surprise: str,
) -> None:
    """Record where an action led, or that it was refused, and what it means when that is a surprise."""
    drift = surprise == "drift"
    if surprise == "chance":
        known.stochastic = True
    if outcome.accepted:
        if drift:
            known.drop("contradicted", states=[here.state])
        known.arrive(here.state, option.action, there.state)
        return
    known.refuse(here.state, option.action, why=outcome.reason)
    if drift:  # after the refusal, so that it is in doubt too: what was accepted is refused twice before it is believed
        known.drop("contradicted", states=[here.state])
    runs = knowledge.experience.fold.runs.get((running.map, here.key, option.key))
    if runs:
        call = knowledge.call(option.action, option.key)
        state = here.state if knowledge.exact else here.raw
        if knowledge.actions.predict(state, call.name, call.args).verdict == "accept":  # refused now and then
            known.told(here.state, option.action, values.decode(runs[-1][0]), "seen", quote="refused now and then")
