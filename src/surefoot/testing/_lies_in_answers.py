"""Liars by what they return: its form, and that it is no window into the world; else as in `_lies`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from surefoot.protocols import Outcome, refused
from surefoot.testing.honest import Hallway, Notebook

__all__: list[str] = []


# ── the form of what is returned ────────────────────────────────────────────────────────────────────────────────────


class NoMethod(Hallway):
    actions = ("left", "right")  # type: ignore[assignment]  # the lie


class LockedSeed(Hallway):
    def reset(self, seed: int | None = None) -> Any:
        if seed == 1:
            raise KeyError(seed)
        return super().reset(seed)


class SeedRequired(Hallway):
    def reset(self, seed: int) -> Any:  # type: ignore[override]  # the lie
        return super().reset(seed)


class SeedByNameOnly(Hallway):
    def reset(self, *, seed: int | None = None) -> Any:  # type: ignore[override]  # the lie
        return super().reset(seed)


class NoListInCellThree(Hallway):
    def actions(self, state: Any) -> Any:
        return {0: ["right"], 1: ["left", "right"], 2: ["left", "right"]}[state]


class SetState(Hallway):
    def state(self) -> Any:
        return {"cell", str(self.cell)}


class IntKeys(Hallway):
    def state(self) -> Any:
        return {self.cell: "here"}


class NanState(Hallway):
    def state(self) -> Any:
        return (self.cell, float("nan") if self.cell == 2 else 0.0)


class BytesActions(Hallway):
    def actions(self, state: Any) -> Any:
        return [b"left", b"right"]


class ListActions(Hallway):
    def actions(self, state: Any) -> Any:
        return [["go", 1], ["go", -1]]


class GeneratedActions(Hallway):
    def actions(self, state: Any) -> Any:
        return (name for name in ("left", "right"))


class OfferedTwice(Hallway):
    def actions(self, state: Any) -> Any:
        return ["left", "right", "wait", *(["right"] if state == 2 else [])]


class GymTuple(Hallway):
    def take(self, action: Any) -> Any:
        outcome = super().take(action)
        return (outcome.state, 0.0, outcome.done, False, {})


class NothingReturned(Hallway):
    def take(self, action: Any) -> Any:
        return None if action == "wait" else super().take(action)


class RaisesAtTheWall(Hallway):
    def take(self, action: Any) -> Any:
        outcome = super().take(action)
        if not outcome.accepted:
            raise PermissionError("a wall")
        return outcome


class AcceptedNone(Hallway):
    def take(self, action: Any) -> Any:
        return Outcome(self.state(), None) if action == "wait" else super().take(action)  # type: ignore[arg-type]  # the lie


@dataclass(frozen=True)
class Lax(Outcome[Any]):
    """Take anything for an outcome."""

    info: Any = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check nothing."""


class AcceptedOne(Hallway):
    def take(self, action: Any) -> Any:
        return Lax(self.state(), 1) if action == "wait" else super().take(action)  # type: ignore[arg-type]  # the lie


class DoneByCount(Hallway):
    def take(self, action: Any) -> Any:
        return Lax(self.state(), True, None, 0) if action == "wait" else super().take(action)  # type: ignore[arg-type]  # the lie


class ReasonByNumber(Hallway):
    def take(self, action: Any) -> Any:
        outcome = super().take(action)
        return outcome if outcome.accepted else replace(outcome, reason=404)


class InfoList(Hallway):
    def take(self, action: Any) -> Any:
        return Lax(self.state(), info=["waited"]) if action == "wait" else super().take(action)


class AcceptedFault(Hallway):
    def take(self, action: Any) -> Any:
        return Lax(self.state(), True, fault="time-out") if action == "wait" else super().take(action)


class SetEffect(Hallway):
    def take(self, action: Any) -> Any:
        return replace(super().take(action), effect={"waited", action}) if action == "wait" else super().take(action)


class NanEffect(Hallway):
    def take(self, action: Any) -> Any:
        outcome = super().take(action)
        return replace(outcome, effect={"speed": [1.0, float("nan")]}) if self.cell == 3 else outcome


# ── what was returned is a window into the world ────────────────────────────────────────────────────────────────────


class OneDict(Notebook):
    """Change the state in place, and return it again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.now: dict[str, Any] = {}

    def state(self) -> Any:
        self.now["cell"] = self.cell
        return self.now


class OneDictRefused(OneDict):
    """Move in place, and say that the move was refused."""

    def take(self, action: Any) -> Any:
        return refused(super().take(action).state, "moved in place") if action["by"] == 1 else super().take(action)


class OneList(Hallway):
    """Fill the list of actions anew at each call."""

    def __init__(self) -> None:
        super().__init__()
        self.list: list[str] = []

    def actions(self, state: Any) -> Any:
        self.list[:] = super().actions(state) if state else ["right", "wait"]
        return self.list


class GrowingEffect(Hallway):
    def reset(self, seed: int | None = None) -> Any:
        self.passed: list[int] = []
        return super().reset(seed)

    def take(self, action: Any) -> Any:
        self.passed.append(self.cell)
        return replace(super().take(action), effect=self.passed)


class GrowingInfo(GrowingEffect):
    def take(self, action: Any) -> Any:
        return replace(super().take(action), effect=None, info={"passed": self.passed})


class ConstantList(Hallway):
    ways: ClassVar[list[str]] = ["left", "right", "wait"]

    def actions(self, state: Any) -> Any:
        return self.ways


class ReadsReturnedState(Notebook):
    def state(self) -> Any:
        self.now = super().state()
        return self.now

    def take(self, action: Any) -> Any:
        self.cell = self.now["cell"]
        return super().take(action)


class ReadsReturnedEffect(Hallway):
    def reset(self, seed: int | None = None) -> Any:
        self.wind = {"wind": 0}
        return super().reset(seed)

    def take(self, action: Any) -> Any:
        self.wind = {"wind": self.wind["wind"] + 1}
        return replace(super().take(action), effect=self.wind)


class ReadsReturnedInfo(ReadsReturnedEffect):
    def take(self, action: Any) -> Any:
        outcome = super().take(action)
        return replace(outcome, info=outcome.effect, effect=self.wind["wind"])
