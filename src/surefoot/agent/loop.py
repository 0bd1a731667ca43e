"""Close the circle in one place: an action goes to the world, and what came of it goes to the map.

Nothing else in the library steps a world, the contract tests apart. What becomes of an outcome:

| verdict | the map is told |
|---|---|
| accepted | `arrive`; then `visit` with what `describe` says of the new state, and `see` for each action there |
| refused | `refuse`, with the world's reason |
| fault | nothing: a fault is evidence of nothing. Whether to try again is the caller's to decide |

After an accepted step that ended the episode nothing is on offer, whatever `actions` says.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import threading
from collections import OrderedDict
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from surefoot import values
from surefoot.agent.experience import Experience
from surefoot.agent.knowledge_base import Knowledge
from surefoot.errors import BadArgument, ContractBroken
from surefoot.knowledge._ledger import Record
from surefoot.knowledge.projection import Change, together
from surefoot.knowledge.worldmap import WorldMap
from surefoot.protocols import Environment, Outcome

__all__ = [
    "MEND",
    "NOT_ON_OFFER",
    "Ask",
    "Episode",
    "Look",
    "Noticed",
    "append",
    "begin",
    "drive",
    "drive_async",
    "look",
    "note",
    "note_all",
    "offer",
    "on_offer",
    "step",
]

NOT_ON_OFFER = "not on offer"
"""Why an action was refused that the world did not offer, and that was therefore not tried.

Example:
    >>> NOT_ON_OFFER
    'not on offer'
"""


_SHORT = 63
"""What is said in so many characters is remembered as it is; a digest has one more."""


class Noticed:
    """Remember what was reported of the states seen last, so that an unchanged state is not reported again.

    Saves time and entries, changes no answer: what was reported is on the map already. Use one for one map and one
    world.

    Args:
        most: how many states to remember, an int >= 1.

    Raises:
        BadArgument: `most` is no int >= 1.

    Cost: about 200 bytes a state.

    Example:
        >>> from surefoot import WorldMap
        >>> from surefoot.environments.corridor import Corridor
        >>> world, known, noticed = Corridor(), WorldMap(), Noticed()
        >>> begin(world, known, noticed=noticed), begin(world, known, noticed=noticed), len(known.claims(0))
        (0, 0, 2)
    """

    def __init__(self, most: int = 4096) -> None:
        """Remember nothing yet."""
        if type(most) is not int or most < 1:
            raise BadArgument(f"most must be an int >= 1, got {most!r}")
        self._most = most
        self._seen: OrderedDict[bytes, str] = OrderedDict()

    def is_news(self, state: bytes, what: object) -> bool:
        """Say whether `what` differs from the last thing noticed under the key `state`, and remember it."""
        said = repr(what)
        digest = said if len(said) <= _SHORT else hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
        if self._seen.get(state) == digest:
            self._seen.move_to_end(state)
            return False
        self._seen[state] = digest
        self._seen.move_to_end(state)
        if len(self._seen) > self._most:
            self._seen.popitem(last=False)
        return True


def begin(
    env: Environment[Any, Any], known: WorldMap, seed: int | None = None, *, noticed: Noticed | None = None
) -> Any:
    """Start an episode, record where it starts and what is on offer there, and return that state.

    Args:
        env: the world.
        known: its map.
        seed: for `env.reset`.
        noticed: what was reported before.

    Raises:
        WorldUnavailable: the world cannot be reached.
        ValueRejected: the state is not a plain value.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> known = WorldMap()
        >>> begin(Corridor(), known, seed=0), known.frontier()
        (0, [(0, 'left'), (0, 'right')])
    """
    state = env.reset(seed=seed)
    look(env, known, state, noticed=noticed)
    return state


def step(
    env: Environment[Any, Any], known: WorldMap, state: Any, action: Any, *, noticed: Noticed | None = None
) -> Outcome[Any]:
    """Take `action`, record what came of it, and return the outcome.

    Args:
        env: the world; it is in `state`.
        known: its map.
        state: where the world is.
        action: what to do there.
        noticed: what was reported before.

    Raises:
        ContractBroken: the world broke a law that the map relies on: it returned no `Outcome`, or it refused and moved
            all the same. The map was told nothing.
        ValueRejected: the state or the action is not a plain value.

    Cost: the world's own, and about 50 µs plus 5 µs for each action that is new.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> world, known = Corridor(), WorldMap()
        >>> state = begin(world, known)
        >>> step(world, known, state, "left").reason, step(world, known, state, "right").state
        ('a wall', 1)
        >>> known.claim(0, "left").refused, known.claim(0, "right").to, known.explore(1)
        (True, 1, 'left')
    """
    outcome = env.step(action)
    if not isinstance(outcome, Outcome):
        raise ContractBroken(f"{_name(env)}.step({action!r}) returned {outcome!r}: it must return an Outcome{MEND}")
    if outcome.verdict == "accepted":
        known.arrive(state, action, outcome.state)
        look(env, known, outcome.state, over=outcome.done, noticed=noticed)
    elif outcome.verdict == "refused":
        if values.encode_state(outcome.state) != values.encode_state(state):
            raise ContractBroken(
                f"{_name(env)} refused {action!r} in {state!r}, and yet went to {outcome.state!r}: "
                f"a refusal leaves the state as it was{MEND}"
            )
        known.refuse(state, action, why=outcome.reason)
        if not outcome.done:
            _see(env, known, state, noticed)
    return outcome


def look(
    env: Environment[Any, Any], known: WorldMap, state: Any, *, over: bool = False, noticed: Noticed | None = None
) -> None:
    """Record that the world is in `state`, with what it says about the state and what it offers there.

    Args:
        env: the world; it is in `state`.
        known: its map.
        state: where the world is.
        over: the episode is over, so nothing is on offer.
        noticed: what was reported before.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> world, known = Corridor(), WorldMap()
        >>> look(world, known, world.reset())
        >>> known.stats()["states"], known.stats()["unchecked"]
        (1, 2)
    """
    facts = _facts(env, state)
    if facts and noticed is not None and not noticed.is_news(b"facts" + values.encode_state(state), facts):
        facts = {}
    if not over:  # before the visit: whoever is killed in between comes again, as to any place that was never visited
        _see(env, known, state, noticed)
    known.visit(state, facts=facts)


def _facts(env: Environment[Any, Any], state: Any) -> dict[str, Any]:
    describe = getattr(env, "describe", None)  # `isinstance(env, Describable)`, at a hundredth of its price
    return dict(describe(state)) if describe is not None else {}


def on_offer(env: Environment[Any, Any], state: Any, action: Any) -> bool:
    """Say whether the world offers exactly this action in `state`.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> world = Corridor()
        >>> on_offer(world, world.reset(), "left"), on_offer(world, 0, "up")
        (True, False)
    """
    alike = [offered for offered in env.actions(state) if offered == action]
    return bool(alike) and values.encode_action(action) in map(values.encode_action, alike)


MEND = "; surefoot.testing.check_environment shows the shortest run that breaks a law"
"""What is to be done about a world that broke its contract.

Example:
    >>> MEND.split()[1]
    'surefoot.testing.check_environment'
"""


def _see(env: Environment[Any, Any], known: WorldMap, state: Any, noticed: Noticed | None) -> None:
    """Report each action on offer, with the sign of where it leads."""
    signposts = getattr(env, "signs", None)  # `isinstance(env, Signposted)`
    offer(known, state, env.actions(state), signposts(state) if signposts is not None else (), noticed)


def offer(known: WorldMap, state: Any, offered: Sequence[Any], signs: Sequence[Any], noticed: Noticed | None) -> None:
    """Report what is on offer, unless it was reported just so.

    Args:
        known: the map.
        state: where.
        offered: the actions on offer.
        signs: pairs (action, where it is said to lead).
        noticed: what was reported before.

    Example:
        >>> known = WorldMap()
        >>> offer(known, "hall", ["north", "south"], [("north", "garden")], None)
        >>> known.claim("hall", "north").to, known.claim("hall", "south").to
        ('garden', None)
    """
    if noticed is not None and not noticed.is_news(b"offer" + values.encode_state(state), (offered, signs)):
        return
    leads = {values.encode_action(action): to for action, to in signs}
    _offer_again(known, state, offered, leads)
    for action in offered:
        known.see(state, action, leads.get(values.encode_action(action)))


def _offer_again(known: WorldMap, state: Any, offered: Sequence[Any], leads: dict[bytes, Any]) -> None:
    """Put back what was refused only because it was not on offer, and is now."""
    gone = [claim for claim in known.claims(state) if claim.refused]
    if not gone:
        return
    here = set(map(values.encode_action, offered))
    for claim in gone:
        key = values.encode_action(claim.action)
        to = leads.get(key, claim.to)
        if key in here and to is not None and claim.evidence[-1].quote == NOT_ON_OFFER:
            known.told(state, claim.action, to, "seen", quote="on offer again")


def _name(env: Environment[Any, Any]) -> str:
    return type(env).__name__


# ── episodes of an agent ────────────────────────────────────────────────────────────────────────────────────────────


class Ask(NamedTuple):
    """What an episode wants from the environment.

    Attributes:
        what: "reset" (with a seed), "look" (at a state) or "step" (an action).
        value: the seed, the state, the action.

    Example:
        >>> Ask("step", "left").value
        'left'
    """

    what: str
    value: Any = None


class Look(NamedTuple):
    """What an environment shows of a state: facts, the actions on offer, signs of where they lead.

    Example:
        >>> Look({}, ["left"], ()).offered
        ['left']
    """

    facts: dict[str, Any]
    offered: Sequence[Any]
    signs: Sequence[Any]


T = TypeVar("T")
Episode = Generator[Ask, Any, T]
"""An episode: it asks, is answered, and returns what came of it.

Example:
    >>> def two_steps():
    ...     yield Ask("reset", 0)
    ...     return (yield Ask("step", "right")).state
    >>> from surefoot.environments.corridor import Corridor
    >>> drive(Corridor(), two_steps())
    1
"""


def drive(env: Environment[Any, Any], episode: Episode[T], *, timeout: float | None = None) -> T:
    """Let an environment answer what an episode asks, and return the episode's result.

    What the environment raises is raised inside the episode, which can then say how it ended.

    Args:
        env: the world.
        episode: what asks.
        timeout: seconds after which an answer is given up with a `TimeoutError`; the world then goes on in a thread of
            its own until it returns. None: as long as it takes.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> def one():
        ...     return (yield Ask("reset", 0))
        >>> drive(Corridor(), one()), drive(Corridor(), one(), timeout=5.0)
        (0, 0)
    """
    serve = _serve if timeout is None else partial(_serve_in_time, timeout)
    try:
        ask = next(episode)
        while True:
            try:
                answer = serve(env, ask)
            except BaseException as error:
                ask = episode.throw(error)
            else:
                ask = episode.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


async def drive_async(env: Any, episode: Episode[T], *, timeout: float | None = None) -> T:
    """Do what `drive` does for an environment whose `reset`, `actions` and `step` may be coroutines.

    Example:
        >>> import asyncio
        >>> from surefoot.environments.corridor import Corridor
        >>> class Slow(Corridor):
        ...     async def step(self, action):
        ...         return Corridor.step(self, action)
        >>> def one():
        ...     yield Ask("reset", 0)
        ...     return (yield Ask("step", "right")).state
        >>> asyncio.run(drive_async(Slow(), one()))
        1
    """
    try:
        ask = next(episode)
        while True:
            try:
                answer = await asyncio.wait_for(_serve_async(env, ask), timeout)
            except BaseException as error:
                ask = episode.throw(error)
            else:
                ask = episode.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


def _serve(env: Any, ask: Ask) -> Any:
    """Let the environment answer."""
    if ask.what == "step":
        return env.step(ask.value)
    if ask.what == "reset":
        return env.reset(seed=ask.value)
    signs = getattr(env, "signs", None)
    return Look(_facts(env, ask.value), env.actions(ask.value), () if signs is None else signs(ask.value))


async def _serve_async(env: Any, ask: Ask) -> Any:
    if ask.what != "look":
        return await _settled(_serve(env, ask))
    facts, offered, signs = _serve(env, ask)
    return Look(facts, await _settled(offered), await _settled(signs))


async def _settled(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


def _serve_in_time(timeout: float, env: Any, ask: Ask) -> Any:
    """Let the environment answer in a thread, and wait for so long."""
    answers: list[tuple[bool, Any]] = []

    def work() -> None:
        try:
            answers.append((True, _serve(env, ask)))
        except BaseException as error:  # raised again where it was asked
            answers.append((False, error))

    thread = threading.Thread(target=work, name=f"surefoot {ask.what}", daemon=True)
    thread.start()
    thread.join(timeout)
    if not answers:
        raise TimeoutError(f"{_name(env)} did not answer {ask.what}({ask.value!r}) within {timeout:g} s")
    well, answer = answers[0]
    if not well:
        raise answer
    return answer


def note(experience: Experience, event: Record) -> None:
    """Record an event of an episode.

    Example:
        >>> from surefoot import open_journal
        >>> from surefoot.agent.episode_events import Over, Began
        >>> import msgspec
        >>> experience = Experience(open_journal())
        >>> note(experience, Began(0, "main", None, msgspec.Raw(b"0"))), note(experience, Over(0, "done"))
        (None, None)
    """
    experience.note(event)


def note_all(changes: Sequence[Change], record: tuple[str, str, bytes]) -> int:
    """Record what came of a step in one transaction, and return the place of the entry that is `record`, the last one.

    Example:
        >>> knowledge = Knowledge()
        >>> arriving = knowledge.map().arriving(b"0", b'"right"', b"1")
        >>> note_all([arriving], ("notes", "note", b"{}")), len(knowledge.journal)
        (2, 3)
    """
    return together(changes, [record]) + len(changes)


def append(knowledge: Knowledge, records: Sequence[tuple[str, Any]]) -> None:
    """Record observations of actions that were made elsewhere, all or none.

    Example:
        >>> knowledge = Knowledge()
        >>> append(knowledge, [])
        >>> len(knowledge.journal)
        0
    """
    knowledge.journal.append_many(records, stream="actions")
