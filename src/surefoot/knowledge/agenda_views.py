"""What an agenda answers: frozen results, and how done checks are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

from surefoot.errors import ValueRejected
from surefoot.knowledge.gates import truth_of

__all__ = ["GateView", "GoalView", "Step", "Update", "in_order", "run_checks"]


@dataclass(frozen=True, slots=True)
class GoalView:
    """A goal as it stands.

    Attributes:
        name: its name.
        done: whether it is done.
        open: whether it can be worked on: not done, what it requires is done, and its gates let it.
        requires: the goals that must be done first.
        waits_for: those of them that are not done.
        gates: the gates that were named for it.
        reasons: why gates keep it closed, when it waits for nothing.
        attached: whether its check is at hand in this process.

    Example:
        >>> GoalView("wood").open
        False
    """

    name: str
    done: bool = False
    open: bool = False
    requires: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    attached: bool = False


@dataclass(frozen=True, slots=True)
class GateView:
    """A gate as it stands.

    Attributes:
        name: its name.
        blocks, blocks_goals: what it stands before, in words.
        triggered: whether it has a trigger, and so is asked only at times.
        attached: whether its functions are at hand in this process.
        overridden_by: (who, why) while it is overridden, else None.
        updates_left, steps_left: what is left of the override; None where it has no such end.

    Example:
        >>> GateView("hours", ("buy*",)).overridden_by is None
        True
    """

    name: str
    blocks: tuple[str, ...] = ()
    blocks_goals: tuple[str, ...] = ()
    triggered: bool = False
    attached: bool = False
    overridden_by: tuple[str, str] | None = None
    updates_left: int | None = None
    steps_left: int | None = None


@dataclass(frozen=True, eq=False)
class Update(Mapping[str, tuple[bool, bool]]):
    """What came of running the done checks: a mapping {goal: (done before, done now)} of the goals that changed.

    Attributes:
        changed: that mapping.
        problems: {goal: what its check raised or answered}; where there is one, nothing has changed.
        expired: the gates whose override has ended with this update.

    Example:
        >>> result = Update({"wood": (False, True)})
        >>> result["wood"], result.done, result.ok
        ((False, True), ('wood',), True)
    """

    changed: Mapping[str, tuple[bool, bool]] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    expired: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Return whether every check that was run answered."""
        return not self.problems

    @property
    def done(self) -> tuple[str, ...]:
        """Return the goals that are done now and were not before."""
        return tuple(name for name, (_, now) in self.changed.items() if now)

    def __getitem__(self, goal: str) -> tuple[bool, bool]:
        return self.changed[goal]

    def __iter__(self) -> Iterator[str]:
        return iter(self.changed)

    def __len__(self) -> int:
        return len(self.changed)


class Step(NamedTuple):
    """A goal as `run_checks` needs it: its name, what it requires, whether it is done, its check (None: not needed).

    Example:
        >>> Step("wood", (), False, lambda state: state["wood"] > 0).done
        False
    """

    name: str
    requires: tuple[str, ...]
    done: bool
    check: Callable[[Any], Any] | None


def in_order(requires: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return goals so that each comes after those it requires.

    Raises:
        CycleError (a ValueError): goals require each other.

    Example:
        >>> in_order({"plank": ["wood"], "wood": []})
        ('wood', 'plank')
    """
    return tuple(TopologicalSorter(requires).static_order())


def run_checks(steps: Sequence[Step], state: Any, *, sticky: bool) -> tuple[dict[str, bool], dict[str, str]]:
    """Run the done checks and return ({goal: done now}, {goal: problem}).

    A goal counts as done only when all that it requires are. A goal behind one with a problem is not asked.

    Args:
        steps: the goals, each after those it requires.
        state: what the checks read.
        sticky: what is done stays done, unasked.

    Example:
        >>> steps = [Step("wood", (), False, lambda s: True), Step("plank", ("wood",), False, lambda s: s["planks"])]
        >>> run_checks(steps, {}, sticky=True)
        ({'wood': True, 'plank': False}, {'plank': "KeyError: 'planks'"})
    """
    now: dict[str, bool] = {}
    problems: dict[str, str] = {}
    for step in steps:
        if sticky and step.done:
            now[step.name] = True
            continue
        now[step.name] = False
        if step.check is None or not all(now[name] for name in step.requires):
            continue
        try:
            now[step.name] = truth_of(step.check(state))
        except ValueRejected as error:
            problems[step.name] = str(error)
        except Exception as error:  # reported, and nothing is changed
            problems[step.name] = f"{type(error).__name__}: {error}"
    return now, problems
