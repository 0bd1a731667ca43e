"""The liars themselves: honest worlds but for one thing; `surefoot.testing.liars` says which law each one breaks."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from random import Random
from typing import Any, ClassVar

from surefoot.errors import NotStarted
from surefoot.protocols import moved, refused
from surefoot.testing.honest import DICE, Hallway, Notebook, Windy

__all__: list[str] = []


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Sliding(Hallway):
    def take(self, action: Any) -> Any:
        outcome = super().take(action)
        if outcome.accepted:
            return outcome
        self.cell += 1
        return refused(self.state(), "says no, moves anyway")


class LookAlike(Hallway):
    def take(self, action: Any) -> Any:
        outcome = super().take(action)
        return outcome if outcome.accepted else replace(outcome, state=float(outcome.state))


class LockedOut(Hallway):
    """Lock the door at the third refusal, and say nothing."""

    def reset(self, seed: int | None = None) -> Any:
        self.refusals = 0
        return super().reset(seed)

    def take(self, action: Any) -> Any:
        if action == "right" and self.cell == self.length - 1 and self.refusals >= 3:
            return moved(self.state())
        outcome = super().take(action)
        self.refusals += not outcome.accepted
        return outcome


class RefusalDraws(Windy):
    """Throw the dice before anything else."""

    def take(self, action: Any) -> Any:
        wind = self.dice.random() < 1 / 3
        return moved(self.state()) if wind and action == "right" else Hallway.take(self, action)


# ── what the seed does not govern ───────────────────────────────────────────────────────────────────────────────────


class RandomButTheFirst(Hallway):
    def take(self, action: Any) -> Any:
        return super().take(action if action == "left" or DICE.random() < 0.5 else "wait")


class RandomLater(Hallway):
    """Be honest for 31 steps."""

    length = 10_000

    def reset(self, seed: int | None = None) -> Any:
        self.steps = 0
        return super().reset(seed)

    def take(self, action: Any) -> Any:
        self.steps += 1
        return super().take(DICE.choice(["right", "wait"]) if self.steps > 31 else action)


class SmallClock(Hallway):
    """Put a clock into the state that differs by less than 1e-9."""

    length = 100

    def state(self) -> Any:
        return (self.cell, 0.5 + DICE.randrange(1, 1000) * 1e-13)

    def actions(self, state: Any) -> Any:
        return ["right", "wait"]


class Flicker(Hallway):
    """Count now in numbers, now in text."""

    def state(self) -> Any:
        return {"at": self.cell if DICE.random() < 0.8 else str(self.cell)}

    def actions(self, state: Any) -> Any:
        return ["right", "wait"]


class TrueFlicker(Flicker):
    """Say now 1, now True."""

    def state(self) -> Any:
        return ("lamp", 1 if DICE.random() < 0.8 else True, self.cell)


class RandomEffect(Hallway):
    def take(self, action: Any) -> Any:
        return replace(super().take(action), effect={"noise": DICE.random()})


class RandomReason(Hallway):
    def take(self, action: Any) -> Any:
        outcome = super().take(action)
        return outcome if outcome.accepted else replace(outcome, reason=f"request {DICE.random()}")


class RandomEnd(Hallway):
    length = 50

    def take(self, action: Any) -> Any:
        return replace(super().take(action), done=DICE.random() < 0.1)


class NumberedInstances(Hallway):
    """Have the number of the instance in the state."""

    made: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        self.number = self.made

    def state(self) -> Any:
        return ("cell", self.cell, "of", self.number)


# ── asking, copying, resetting ──────────────────────────────────────────────────────────────────────────────────────


class ShuffledActions(Hallway):
    def actions(self, state: Any) -> Any:
        return DICE.sample(["left", "right", "wait"], 3)


class WhereItIs(Hallway):
    """Answer for the state it is in, whatever state is given."""

    def actions(self, state: Any) -> Any:
        return ["right", "wait"] if self.cell == 0 else super().actions(state)


class NoAnswerElsewhere(Hallway):
    """Know the actions of the cell it is in, and of no other."""

    def actions(self, state: Any) -> Any:
        return {self.cell: super().actions(state)}[state]


class OutOfStock(Hallway):
    """Stop offering to wait after five steps, which no state shows."""

    def reset(self, seed: int | None = None) -> Any:
        self.left = 5
        return super().reset(seed)

    def actions(self, state: Any) -> Any:
        return ["left", "right", *(["wait"] if self.left > 0 else [])] if state != self.length else []

    def take(self, action: Any) -> Any:
        self.left -= 1
        return super().take(action)


class AskingMoves(Hallway):
    def actions(self, state: Any) -> Any:
        if self.cell is not None and 0 < self.cell < self.length - 1:
            self.cell += 1
        return super().actions(state)


class AskingDraws(Windy):
    def actions(self, state: Any) -> Any:
        self.dice.random()
        return super().actions(state)


class Way(StrEnum):
    LEFT = "left"
    RIGHT = "right"


class EnumOnly(Hallway):
    """Take the members of an enum, but not the text that they are."""

    def actions(self, state: Any) -> Any:
        return [] if state == self.length else [*Way]

    def take(self, action: Any) -> Any:
        return super().take(action.name.lower())


class OrderOfKeys(Notebook):
    """Read a call by the order of its keys."""

    def take(self, action: Any) -> Any:
        return super().take({"by": list(action.values())[-1]})


class Battery(Hallway):
    """Forget to load the battery at a reset."""

    battery = 30

    def take(self, action: Any) -> Any:
        self.battery -= 1
        return super().take(action) if self.battery > 0 else moved(self.state(), info={"battery": 0})


class DirtyAfterTheMiddle(Hallway):
    """Be clean only if the episode before came to its end."""

    def reset(self, seed: int | None = None) -> Any:
        late = self.cell is not None and 0 < self.cell < self.length
        super().reset(seed)
        self.cell += late
        return self.state()


class SeededOnce(Windy):
    def reset(self, seed: int | None = None) -> Any:
        self.dice = getattr(self, "dice", None) or Random(seed)
        return Hallway.reset(self, seed)


class OneGenerator(Hallway):
    """Seed one generator that all instances throw."""

    dice: ClassVar[Random] = Random()

    def reset(self, seed: int | None = None) -> Any:
        self.dice.seed(seed)
        return super().reset(seed)

    def take(self, action: Any) -> Any:
        return super().take("wait" if action == "right" and self.dice.random() < 1 / 3 else action)

    def restore_state(self, token: Any) -> Any:
        self.dice.setstate(token[1])
        return super().restore_state(token[0])

    def save_state(self) -> Any:
        return super().save_state(), self.dice.getstate()


class OneCell(Hallway):
    """Keep the cell in the class."""

    here: ClassVar[list[Any]] = [None]

    def __init__(self) -> None:
        """Have nothing of its own."""

    @property
    def cell(self) -> Any:
        return self.here[0]

    @cell.setter
    def cell(self, cell: Any) -> None:
        self.here[0] = cell

    def save_state(self) -> Any:
        return self.cell

    def restore_state(self, token: Any) -> Any:
        self.cell = token
        return self.state()


class StepAfterTheEnd(Hallway):
    """Go on after the end, so that the next episode starts where that led to."""

    late = 0

    def reset(self, seed: int | None = None) -> Any:
        super().reset(seed)
        self.cell, self.late = self.cell + self.late, 0
        return self.state()

    def step(self, action: Any) -> Any:
        if self.cell == self.length:
            self.late = 1
        return super().step(action)


class TakesAnything(Hallway):
    def take(self, action: Any) -> Any:
        return super().take(action if action in ("left", "right") else "wait")


# ── what is optional ────────────────────────────────────────────────────────────────────────────────────────────────


class LiveToken(Hallway):
    def save_state(self) -> Any:
        return vars(self)

    def restore_state(self, token: Any) -> Any:
        vars(self).update(token)
        return self.state()


class HalfToken(Windy):
    """Save the cell, and forget the dice."""

    def save_state(self) -> Any:
        return self.cell

    def restore_state(self, token: Any) -> Any:
        self.cell = token
        return self.state()


class SavingMoves(Hallway):
    def save_state(self) -> Any:
        token = super().save_state()
        self.cell += self.cell < self.length - 1
        return token


class TokenForOnce(Hallway):
    def restore_state(self, token: Any) -> Any:
        self.cell = token.pop("cell", 0)
        return self.state()


class SignsMove(Hallway):
    def signs(self, state: Any) -> Any:
        self.cell -= self.cell == 2
        return super().signs(state)


class SignsOfSets(Hallway):
    def signs(self, state: Any) -> Any:
        return [("right", {state})]


class SignsOfNothing(Hallway):
    def signs(self, state: Any) -> Any:
        return [*super().signs(state), ("up", 9)]


class SignsByDict(Hallway):
    def signs(self, state: Any) -> Any:
        return dict(super().signs(state))


class SignsOfThree(Hallway):
    def signs(self, state: Any) -> Any:
        return [(action, to, "probably") for action, to in super().signs(state)]


class RandomSigns(Hallway):
    def signs(self, state: Any) -> Any:
        return [("right", DICE.randrange(1_000_000))]


class DescribingMoves(Hallway):
    def describe(self, state: Any) -> Any:
        self.cell -= self.cell == 2
        return super().describe(state)


class DescribesByText(Hallway):
    def describe(self, state: Any) -> Any:
        return f"cell {state}"


class DescribesByObjects(Hallway):
    def describe(self, state: Any) -> Any:
        return {"cell": object()}


class ClosesOnce(Hallway):
    closed = False

    def close(self) -> Any:
        if self.closed:
            raise ValueError("closed already")
        self.closed = True


class ClosesWhenStarted(Hallway):
    def close(self) -> Any:
        if self.cell is None:
            raise NotStarted("nothing to close")
