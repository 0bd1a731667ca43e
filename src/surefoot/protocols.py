"""Every extension point on one page: what you implement, and what you get for it.

An *environment* is anything that can be stepped through. It answers each action with an `Outcome`: accepted, refused,
or a fault (which is neither, and never evidence). What an environment can do beyond that it says by having the
methods of
a small protocol of its own: `Snapshotable`, `Closable`, `Describable`, `Signposted`.

The conformance tests are `surefoot.testing.EnvironmentContract` and `surefoot.testing.check_environment`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import msgspec

from surefoot import values
from surefoot.errors import BadArgument, ValueRejected

__all__ = [
    "ActionModel",
    "Call",
    "Closable",
    "Describable",
    "Environment",
    "Outcome",
    "Prediction",
    "RiskPolicy",
    "Signposted",
    "SlowPath",
    "Snapshotable",
    "call_of",
    "ended",
    "faulted",
    "moved",
    "refused",
]

_VERDICTS = frozenset({"accept", "refuse", "unknown"})
_INFINITE = float("inf")

S = TypeVar("S")
A = TypeVar("A")
S_contra = TypeVar("S_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[S]):
    """Say what one step did.

    Args:
        state: the state after the step (what `actions` and the next decision read).
        accepted: whether the environment took the action. False is a refusal (a wall, a rule, a tool that said no) and
            then `state` is the state before the step; or it is a fault, see below.
        effect: what changed, as plain data that the environment itself reports; None when it reports nothing.
        done: the episode is over.
        info: anything else (a score, a message); never read as evidence.
        reason: why it was refused, in the environment's own words or code; used to group refusals, never as truth.
        fault: what broke (a time-out, a lost connection, a server's 5xx). A fault is neither accepted nor refused: it
            is never evidence, and the call may be tried again.

    Raises:
        BadArgument: `accepted` or `done` is not a bool, or a fault claims to be accepted.

    Example:
        >>> Outcome("hall").accepted, Outcome("hall", accepted=False).verdict, faulted("hall", "time-out").verdict
        (True, 'refused', 'fault')
    """

    state: S
    accepted: bool = True
    effect: Any = None
    done: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    fault: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is no outcome."""
        for name, flag in (("accepted", self.accepted), ("done", self.done)):
            if type(flag) is not bool:
                raise BadArgument(f"Outcome.{name} must be True or False, got {flag!r}")
        if self.fault is not None and self.accepted:
            raise BadArgument(
                f"an outcome with a fault ({self.fault!r}) is not accepted: build it with faulted(state, fault)"
            )

    @property
    def verdict(self) -> str:
        """Return `"accepted"`, `"refused"` or `"fault"`."""
        if self.fault is not None:
            return "fault"
        return "accepted" if self.accepted else "refused"


def moved(state: S, *, effect: Any = None, done: bool = False, info: Mapping[str, Any] | None = None) -> Outcome[S]:
    """Return the outcome of an action that was taken; `state` is the state after it.

    Example:
        >>> moved("kitchen", effect={"room": "kitchen"}).accepted
        True
    """
    return Outcome(state, True, effect, done, info or {})


def refused(
    state: S, reason: str | None = None, *, done: bool = False, info: Mapping[str, Any] | None = None
) -> Outcome[S]:
    """Return the outcome of an action that was not taken; `state` is the state before it.

    Example:
        >>> refused("hall", "the door is locked").reason
        'the door is locked'
    """
    return Outcome(state, False, None, done, info or {}, reason)


def ended(state: S, *, effect: Any = None, info: Mapping[str, Any] | None = None) -> Outcome[S]:
    """Return the outcome of an action that was taken and ended the episode.

    Example:
        >>> ended("outside").done
        True
    """
    return Outcome(state, True, effect, True, info or {})


def faulted(state: S, fault: str, *, info: Mapping[str, Any] | None = None) -> Outcome[S]:
    """Return the outcome of a call that broke: neither accepted nor refused, safe to retry, never evidence.

    Example:
        >>> faulted("/billing", "503 Service Unavailable").verdict
        'fault'
    """
    return Outcome(state, False, None, False, info or {}, None, fault)


@runtime_checkable
class Environment(Protocol[S, A]):
    """A world acted in step by step.

    You implement `reset`, `actions` and `step`. States and actions are plain values (see `surefoot.values`); an action
    may also be a mapping such as `{"name": "cancel", "order": "A1"}`. You get: a map of it, a model of what it accepts,
    an agent, a command line and a conformance test.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> world = Corridor(length=2)
        >>> world.reset(seed=0), world.actions(0), world.step("right").state
        (0, ['left', 'right'], 1)
    """

    def reset(self, seed: int | None = None) -> S:
        """Start an episode and return its first state; the same seed gives the same episode."""
        ...

    def actions(self, state: S) -> Sequence[A]:
        """Return the actions on offer in `state`; changes nothing."""
        ...

    def step(self, action: A) -> Outcome[S]:
        """Take `action` and say what it did."""
        ...


@runtime_checkable
class Snapshotable(Protocol):
    """An environment that can be put back to where it was.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> world = Corridor()
        >>> start = world.reset(seed=0)
        >>> token = world.save_state()
        >>> _ = world.step("right")
        >>> world.restore_state(token)
        0
    """

    def save_state(self) -> Any:
        """Return a token for `restore_state`; the token is not changed by later steps."""
        ...

    def restore_state(self, token: Any) -> Any:
        """Go back to where `save_state` gave `token`, and return the state there."""
        ...


@runtime_checkable
class Closable(Protocol):
    """An environment that holds something to let go of (a process, a connection).

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> isinstance(Corridor(), Closable)
        False
    """

    def close(self) -> None:
        """Let go of it; calling twice is harmless."""
        ...


@runtime_checkable
class Describable(Protocol[S_contra]):
    """An environment that can say something about a state for people: a title, a kind.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> isinstance(Corridor(), Describable)
        False
    """

    def describe(self, state: S_contra) -> Mapping[str, Any]:
        """Return facts about `state` as plain data; changes nothing."""
        ...


@runtime_checkable
class Signposted(Protocol[S, A_co]):
    """An environment that shows where actions lead before they are taken (a link's address, a directory entry).

    What a sign says is a hypothesis like any other: taking the action confirms or refutes it.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> isinstance(Corridor(), Signposted)
        False
    """

    def signs(self, state: S) -> Sequence[tuple[A_co, S]]:
        """Return pairs (action, state that it is said to lead to) for `state`; changes nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """An action split into its name and its arguments.

    Attributes:
        name: the name; the key under which knowledge of an action is kept.
        args: the arguments by name, plain values; never changed.

    Example:
        >>> call_of({"name": "cancel", "order": "A1"})
        Call(name='cancel', args={'order': 'A1'})
    """

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)


def call_of(action: Any) -> Call:
    """Split an environment's action into name and arguments.

    A text is a name without arguments. A tuple that starts with a text is a name and its arguments: by name when all
    that follows is one mapping, else by position ("0", "1", …). A mapping has its name under "name" and its arguments
    under "args", or as its other entries. Anything else (a number, another tuple) is a name of its own: `=` and its
    encoding, so that `1` and `"1"` are two actions; a text that starts with `=` gets one more.

    Raises:
        ValueRejected: it is not an action, or a mapping without a "name".

    Example:
        >>> call_of("open"), call_of(("go", 1, 2)), call_of(("cancel", {"order": "A1"})).args, call_of(1).name
        (Call(name='open', args={}), Call(name='go', args={'0': 1, '1': 2}), {'order': 'A1'}, '=1')
    """
    encoded = values.encode_action(action)
    given = values.decode(encoded)
    if isinstance(given, str):
        return Call("=" + given if given.startswith("=") else given)
    if isinstance(given, tuple) and given and isinstance(given[0], str):
        name, *rest = given
        args = rest[0] if len(rest) == 1 and isinstance(rest[0], dict) else {str(n): arg for n, arg in enumerate(rest)}
        return Call("=" + name if name.startswith("=") else name, args)
    if isinstance(given, dict):
        name = given.pop("name", None)
        if not isinstance(name, str):
            raise ValueRejected(f"$ is {action!r}: an action that is a mapping needs a text under 'name'")
        args = given.pop("args") if set(given) == {"args"} and isinstance(given["args"], dict) else given
        return Call("=" + name if name.startswith("=") else name, args)
    return Call("=" + encoded.decode())


class Prediction(msgspec.Struct, frozen=True):
    """What is known about taking an action, before it is taken.

    Attributes:
        verdict: "accept", "refuse" or "unknown".
        risk: finite, >= 0: the probability of refusal or harm if it is taken, times its severity.
        support: how many cases the estimate rests on; -1 for a rate that was written down, not observed.
        reason: why, in words.
        hard: a rule stands behind a refusal that no risk policy trades.
        effects: what it is predicted to change, as the environment reports it; where only next states were observed,
            as a list of edits of the state; None when that is not predicted.
        action: the name of the action.
        next_state: the state it is predicted to lead to; None when the effects do not determine it.
        confidence: in [0, 1]: the share of accepted cases like this one that had these effects.
        rate: (low, high), the probability of acceptance with its confidence bounds.
        evidence: places in the journal of the observations behind the verdict, newest last.

    Raises:
        BadArgument: the verdict is none of the three, or a number is outside its range.

    Example:
        >>> Prediction("refuse", risk=0.9, support=9, reason="status is 'delivered'").verdict
        'refuse'
        >>> Prediction("maybe")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: verdict must be 'accept', 'refuse' or 'unknown', got 'maybe'
    """

    verdict: str
    risk: float = 0.0
    support: int = 0
    reason: str = ""
    hard: bool = False
    effects: Any = None
    action: str | None = None
    next_state: Any = None
    confidence: float = 0.0
    rate: tuple[float, float] = (0.0, 1.0)
    evidence: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.verdict not in _VERDICTS:
            raise BadArgument(f"verdict must be 'accept', 'refuse' or 'unknown', got {self.verdict!r}")
        if not 0 <= self.risk < _INFINITE:
            raise BadArgument(f"risk must be a finite number >= 0, got {self.risk!r}")
        if type(self.support) is not int or self.support < -1:
            raise BadArgument(f"support must be an int >= -1, got {self.support!r}")


@runtime_checkable
class ActionModel(Protocol):
    """What an environment accepts, refuses and changes, learned from outcomes.

    You implement `observe`, `predict` and `fingerprint`; the tests are `surefoot.testing.check_action_model`.

    Example:
        >>> isinstance(object(), ActionModel)
        False
    """

    def observe(
        self, state: Any, action: str, args: Mapping[str, Any], accepted: bool, effect: Any = None
    ) -> Prediction:
        """Take in what the environment did with a call; return the prediction made before it."""
        ...

    def predict(self, state: Any, action: str, args: Mapping[str, Any]) -> Prediction:
        """Say what the environment will do with a call; changes nothing."""
        ...

    def fingerprint(self) -> str:
        """Return a digest of all that was learned; it changes when that does."""
        ...


@runtime_checkable
class RiskPolicy(Protocol):
    """Whether to take an action, given what is predicted and what it may gain.

    You implement `decide`, which is pure: deciding twice gives the same answer, and charging a budget is a call of its
    own. The tests are `surefoot.testing.check_risk_policy`.

    Example:
        >>> isinstance(object(), RiskPolicy)
        False
    """

    def decide(self, prediction: Prediction, gain: float = 0.0, key: Any = None) -> Any:
        """Return a choice: "take", "avoid" or "ask", with the reason."""
        ...


@runtime_checkable
class SlowPath(Protocol):
    """Where an agent turns when it does not know what to do: a planner, a person, a language model.

    You implement the call. It gets a snapshot, plain data that is described at `surefoot.agent.slow.snapshot`, and
    returns one of the snapshot's actions; None to decline; or a `surefoot.agent.slow.Proposal`, which says why and what
    it cost. What it returns is checked like any other action; one that it may not take, or an exception, ends the
    episode as unsure: nothing is taken in its place.

    Example:
        >>> def first_untried(snapshot):
        ...     return next((row["action"] for row in snapshot["options"] if not row["tried"]), None)
        >>> isinstance(first_untried, SlowPath)
        True
    """

    def __call__(self, snapshot: dict[str, Any], /) -> Any:
        """Return an action, None, or a `Proposal`."""
        ...
