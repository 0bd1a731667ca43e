"""What a walk is asked for, and what it says when it is over: rules, steps, reasons to stop, results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from surefoot import values
from surefoot.errors import BadArgument

__all__ = ["Rules", "Step", "Stopped", "Walk", "episode_seed"]


class Stopped(Enum):
    """Say why a walk ended.

    Example:
        >>> Stopped("nothing left") is Stopped.NOTHING_LEFT
        True
    """

    REACHED = "target reached"
    NOTHING_LEFT = "nothing left"
    OUT_OF_STEPS = "out of steps"
    NO_WAY = "no way known"
    STALLED = "stalled"
    INTERRUPTED = "interrupted"
    FAULTED = "world faulted"


class Step(NamedTuple):
    """One step of a walk.

    Attributes:
        state, action: what was taken where.
        verdict: "accepted", "refused" or "fault".
        to: the state after it.
        why: the world's reason for a refusal, or what broke; else None.

    Example:
        >>> Step("hall", "north", "accepted", "garden", None).to
        'garden'
    """

    state: Any
    action: Any
    verdict: str
    to: Any
    why: str | None


@dataclass(frozen=True, slots=True)
class Walk:
    """Say how a walk went. True when it did what it was for: the target reached, or nothing left to check.

    Attributes:
        stopped: why it ended.
        state: where it ended.
        steps: how many steps were taken: accepted, refused and faults together.
        accepted, refused, faults: how many there were of each.
        episodes: how many episodes it took, the first one included.
        trail: the steps, oldest first; of a long walk the last `keep`.
        given_up: pairs (state, action) that this walk stopped trying.
        why: more about why it ended, in words; None when there is nothing to add.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> from surefoot import WorldMap
        >>> from surefoot.agent import walk
        >>> went = walk(Corridor(length=2), WorldMap(), {2})
        >>> bool(went), went.state, [step.action for step in went.trail]
        (True, 2, ['left', 'right', 'left', 'right', 'right'])
    """

    stopped: Stopped
    state: Any
    steps: int = 0
    accepted: int = 0
    refused: int = 0
    faults: int = 0
    episodes: int = 1
    trail: tuple[Step, ...] = ()
    given_up: tuple[tuple[Any, Any], ...] = ()
    why: str | None = None

    def __bool__(self) -> bool:
        """Say whether it did what it was for."""
        return self.stopped in (Stopped.REACHED, Stopped.NOTHING_LEFT)


def episode_seed(seed: int | None, episode: int, *, reseed: bool = True) -> int | None:
    """Return the seed of an episode, from 0: streams of different seeds and episodes have nothing in common.

    Example:
        >>> episode_seed(7, 0), episode_seed(7, 1) == episode_seed(8, 0), episode_seed(7, 1, reseed=False)
        (7, False, 7)
    """
    if seed is None or episode == 0 or not reseed:
        return seed
    return int(values.digest((seed, episode))[:8], 16) >> 1


@dataclass(frozen=True, slots=True)
class Rules:
    """Hold the arguments that `explore` and `walk` share; each is explained there.

    Raises:
        BadArgument: one of them is out of its range.

    Example:
        >>> Rules(steps=-1)
        Traceback (most recent call last):
        surefoot.errors.BadArgument: steps must be an int >= 0 or None, got -1
    """

    steps: int | None = None
    seed: int | None = 0
    reseed: bool = True
    retries: int = 2
    pause: float = 1.0
    keep: int = 100_000
    interrupt: Callable[[], bool] | None = None
    on_step: Callable[[Step], object] | None = None

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("steps", "seed", "retries", "keep"):
            given = getattr(self, name)
            if given is None and name in ("steps", "seed"):
                continue
            if type(given) is not int or given < 0:
                or_none = " or None" if name in ("steps", "seed") else ""
                raise BadArgument(f"{name} must be an int >= 0{or_none}, got {given!r}")
        if (
            isinstance(self.pause, bool)
            or not isinstance(self.pause, int | float)
            or not 0 <= self.pause < float("inf")
        ):
            raise BadArgument(f"pause must be a number of seconds >= 0, got {self.pause!r}")
