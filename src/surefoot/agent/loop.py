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

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from surefoot import values
from surefoot.errors import BadArgument, ContractBroken
from surefoot.knowledge.worldmap import WorldMap
from surefoot.protocols import Environment, Outcome

__all__ = ["NOT_ON_OFFER", "Noticed", "begin", "look", "on_offer", "step"]

NOT_ON_OFFER = "not on offer"
"""Why an action was refused that the world did not offer, and that was therefore not tried.

Example:
    >>> NOT_ON_OFFER
    'not on offer'
"""


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
        self._seen: OrderedDict[bytes, bytes] = OrderedDict()

    def is_news(self, state: bytes, what: object) -> bool:
        """Say whether `what` differs from the last thing noticed under the key `state`, and remember it."""
        digest = hashlib.sha256(repr(what).encode("utf-8", "surrogatepass")).digest()
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
        raise ContractBroken(f"{_name(env)}.step({action!r}) returned {outcome!r}: it must return an Outcome{_MEND}")
    if outcome.verdict == "accepted":
        known.arrive(state, action, outcome.state)
        look(env, known, outcome.state, over=outcome.done, noticed=noticed)
    elif outcome.verdict == "refused":
        if values.encode_state(outcome.state) != values.encode_state(state):
            raise ContractBroken(
                f"{_name(env)} refused {action!r} in {state!r}, and yet went to {outcome.state!r}: "
                f"a refusal leaves the state as it was{_MEND}"
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
    describe = getattr(env, "describe", None)  # `isinstance(env, Describable)`, at a hundredth of its price
    facts = dict(describe(state)) if describe is not None else {}
    if facts and noticed is not None and not noticed.is_news(b"facts" + values.encode_state(state), facts):
        facts = {}
    known.visit(state, facts=facts)
    if not over:
        _see(env, known, state, noticed)


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


_MEND = "; surefoot.testing.check_environment shows the shortest run that breaks a law"


def _see(env: Environment[Any, Any], known: WorldMap, state: Any, noticed: Noticed | None) -> None:
    """Report each action on offer, with the sign of where it leads."""
    offered = env.actions(state)
    signposts = getattr(env, "signs", None)  # `isinstance(env, Signposted)`
    signs = signposts(state) if signposts is not None else ()
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
