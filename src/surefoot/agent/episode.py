"""What an episode came to, and why it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from surefoot.agent.budget import Spent

__all__ = ["Episode", "Stopped"]


class Stopped(Enum):
    """Say why an episode ended.

    | it ended | because |
    |---|---|
    | DONE | the environment said done, and no declared goal was left open |
    | GOALS | every declared goal is reached |
    | LOST | the environment said done, with a declared goal open |
    | NOTHING_LEFT | all that can be reached was tried, or nothing is on offer |
    | BLOCKED | what is left passes no hard check: a gate, a hard rule, a shield, the risk policy, a recent failure |
    | UNSURE | somebody has to be asked: a gate escalates, the slow path declined or failed, it goes round in circles |
    | OUT_OF_STEPS, OUT_OF_TIME, OUT_OF_BUDGET | of the episode, of the episode, of the slow path |
    | TERMINATED | a gate said so |
    | RAISED, TIMED_OUT | the environment raised, or did not answer in time |
    | INTERRUPTED | Ctrl-C, or another exception from outside |
    | BROKEN_OFF | the process ended; found when the next episode began |

    Example:
        >>> Stopped("nothing left") is Stopped.NOTHING_LEFT
        True
    """

    DONE = "done"
    GOALS = "goals reached"
    LOST = "over with a goal open"
    NOTHING_LEFT = "nothing left"
    BLOCKED = "blocked"
    UNSURE = "unsure"
    OUT_OF_STEPS = "out of steps"
    OUT_OF_TIME = "out of time"
    OUT_OF_BUDGET = "out of budget"
    TERMINATED = "terminated"
    RAISED = "the environment raised"
    TIMED_OUT = "timed out"
    INTERRUPTED = "interrupted"
    BROKEN_OFF = "broken off"


@dataclass(frozen=True, slots=True)
class Episode:
    """Say how an episode went. True when it ended well: every goal reached, or, without any, the environment said done.

    Attributes:
        number: its number in the journal, from 0.
        map: the map it was walked on.
        seed: what the world was reset with.
        stopped: why it ended.
        why: more about it, in words.
        steps: how many outcomes there were: accepted, refused and faults together.
        accepted, refused, faults: how many of each.
        fast, slow: how many decisions each path made.
        goals_done: the goals reached, in order; `goals_open`: those that were not.
        state: where it ended, as it is on the map; None when the world could not be reset.
        spent: what the slow path cost.
        problems: {goal: what its check raised} of the last step.
        error: what the environment raised, None when it raised nothing.

    Example:
        >>> from surefoot import Agent, Knowledge
        >>> from surefoot.environments.corridor import Corridor
        >>> agent = Agent(Corridor(length=3), knowledge=Knowledge())
        >>> first, second = agent.run(), agent.run()
        >>> bool(first), first.slow > 0, second.steps, second.fast, second.slow
        (True, True, 3, 3, 0)
    """

    number: int
    map: str
    seed: int | None
    stopped: Stopped
    why: str = ""
    steps: int = 0
    accepted: int = 0
    refused: int = 0
    faults: int = 0
    fast: int = 0
    slow: int = 0
    goals_done: tuple[str, ...] = ()
    goals_open: tuple[str, ...] = ()
    state: Any = None
    spent: Spent = field(default_factory=Spent)
    problems: Mapping[str, str] = field(default_factory=dict)
    error: BaseException | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        """Say whether it ended well."""
        return self.stopped in (Stopped.DONE, Stopped.GOALS)

    @property
    def done(self) -> bool:
        """Say whether the environment said done."""
        return self.stopped in (Stopped.DONE, Stopped.LOST)

    def __str__(self) -> str:
        """Say it in one line."""
        goals = f"; reached {', '.join(self.goals_done)}" if self.goals_done else ""
        left = f"; open: {', '.join(self.goals_open)}" if self.goals_open else ""
        why = f" ({self.why})" if self.why else ""
        return (
            f"episode {self.number} on {self.map!r}: {self.stopped.value}{why} after {self.steps} steps, "
            f"{self.refused} refused, {self.fast} fast and {self.slow} slow{goals}{left}"
        )
