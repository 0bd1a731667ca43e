"""The projection behind an agenda: events in; goals, gates, what is done and what is overridden out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import msgspec

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.knowledge._ledger import EventFold, Record, plain
from surefoot.knowledge.gates import Pattern

__all__ = [
    "AgendaFold",
    "Cleared",
    "Configured",
    "Dropped",
    "GateDeclared",
    "GoalDeclared",
    "KnownGate",
    "KnownGoal",
    "Overridden",
    "Override",
    "Reopened",
    "Updated",
    "pack",
    "unpack",
]


class Configured(Record, frozen=True):
    """How an agenda counts: `sticky`, whether a goal that was done stays done.

    Example:
        >>> Configured(True).encode()
        b'{"sticky":true}'
    """

    kind: ClassVar[str] = "agenda"
    sticky: bool = True

    def __post_init__(self) -> None:
        """Check it."""
        if type(self.sticky) is not bool:
            raise BadArgument(f"sticky must be True or False, got {self.sticky!r}")


class GoalDeclared(Record, frozen=True):
    """A goal: `done` is the fingerprint of its check, made by the version of Python in `python`.

    Example:
        >>> GoalDeclared("wood", "ab", "3.11", (), ()).encode()
        b'{"done":"ab","gates":[],"name":"wood","python":"3.11","requires":[]}'
    """

    kind: ClassVar[str] = "goal"
    name: str
    done: str
    python: str
    requires: tuple[str, ...]
    gates: tuple[str, ...]


class GateDeclared(Record, frozen=True):
    """A gate: `check` and `trigger` are fingerprints, `blocks` and `blocks_goals` packed patterns.

    Example:
        >>> GateDeclared("hours", "ab", None, "3.11", pack(()), pack(())).encode()
        b'{"blocks":[],"blocks_goals":[],"check":"ab","name":"hours","python":"3.11","trigger":null}'
    """

    kind: ClassVar[str] = "gate"
    name: str
    check: str
    trigger: str | None
    python: str
    blocks: msgspec.Raw
    blocks_goals: msgspec.Raw


class Dropped(Record, frozen=True):
    """A goal or a gate is no longer declared.

    Example:
        >>> Dropped("gate", "hours", "open all day").encode()
        b'{"name":"hours","what":"gate","why":"open all day"}'
    """

    kind: ClassVar[str] = "drop"
    what: str
    name: str
    why: str


class Updated(Record, frozen=True):
    """The done checks were run, or steps went by: `done` and `undone` are the goals that changed.

    Example:
        >>> Updated(("wood",), (), 1).encode()
        b'{"done":["wood"],"steps":1,"undone":[]}'
    """

    kind: ClassVar[str] = "update"
    done: tuple[str, ...]
    undone: tuple[str, ...]
    steps: int


class Reopened(Record, frozen=True):
    """Goals are to be done again.

    Example:
        >>> Reopened(("wood",), "a new episode").encode()
        b'{"names":["wood"],"why":"a new episode"}'
    """

    kind: ClassVar[str] = "reopen"
    names: tuple[str, ...]
    why: str


class Overridden(Record, frozen=True):
    """Somebody lets calls pass a gate: for so many updates or steps, or until it is taken back.

    Example:
        >>> Overridden("hours", "Ann", "a test", pack(()), 3, None).encode()
        b'{"calls":[],"gate":"hours","steps":null,"updates":3,"who":"Ann","why":"a test"}'
    """

    kind: ClassVar[str] = "override"
    gate: str
    who: str
    why: str
    calls: msgspec.Raw
    updates: int | None
    steps: int | None


class Cleared(Record, frozen=True):
    """An override was taken back.

    Example:
        >>> Cleared("hours", "Ann", "the test is over").encode()
        b'{"gate":"hours","who":"Ann","why":"the test is over"}'
    """

    kind: ClassVar[str] = "clear"
    gate: str
    who: str
    why: str


def pack(patterns: tuple[Pattern, ...]) -> msgspec.Raw:
    """Return patterns as one encoded value.

    Example:
        >>> bytes(pack((Pattern("name", "buy*"),)))
        b'[["name","buy*"]]'
    """
    rows = tuple((p.kind, p.name, *([values.decode(p.key)] if p.kind == "call" else [])) for p in patterns)
    return msgspec.Raw(values.encode(rows))


def unpack(raw: msgspec.Raw) -> tuple[Pattern, ...]:
    """Return the patterns that `pack` encoded.

    Raises:
        ValueError: it encodes none.

    Example:
        >>> unpack(pack((Pattern("call", "go", b'{"n":1}'),)))
        (Pattern(kind='call', name='go', key=b'{"n":1}'),)
    """
    rows = plain(raw)
    if not isinstance(rows, tuple):
        raise ValueError(f"patterns are {rows!r}")
    return tuple(map(_pattern, rows))


def _pattern(row: Any) -> Pattern:
    match row:
        case ("name" | "code" as kind, str(name)):
            return Pattern(kind, name)
        case ("call", str(name), dict(args)):
            return Pattern("call", name, values.encode(args))
    raise ValueError(f"{row!r} is no pattern")


class Override(NamedTuple):
    """An override in force: who, why, for which calls (none: all), and what is left of it (None: no end).

    Example:
        >>> Override("Ann", "a test", (), 3, None).after(1)
        Override(who='Ann', why='a test', calls=(), updates=2, steps=None)
    """

    who: str
    why: str
    calls: tuple[Pattern, ...]
    updates: int | None
    steps: int | None

    def after(self, steps: int) -> Override:
        """Return it after one more update, which stands for so many steps."""
        updates = None if self.updates is None else self.updates - 1
        return self._replace(updates=updates, steps=None if self.steps is None else self.steps - steps)

    @property
    def over(self) -> bool:
        """Return whether nothing is left of it."""
        return min(1 if left is None else left for left in (self.updates, self.steps)) <= 0

    @property
    def ends(self) -> bool:
        """Return whether it ends by itself."""
        return self.updates is not None or self.steps is not None

    def as_data(self) -> list[Any]:
        """Return it as plain values."""
        return [self.who, self.why, plain(pack(self.calls)), self.updates, self.steps]


@dataclass(slots=True)
class KnownGoal:
    """A goal as the journal has it.

    Example:
        >>> KnownGoal(GoalDeclared("wood", "ab", "3.11", (), ())).done
        False
    """

    declared: GoalDeclared
    done: bool = False


@dataclass(slots=True)
class KnownGate:
    """A gate as the journal has it, its patterns unpacked.

    Example:
        >>> KnownGate(GateDeclared("hours", "ab", None, "3.11", pack(()), pack(())), (), ()).override is None
        True
    """

    declared: GateDeclared
    blocks: tuple[Pattern, ...]
    blocks_goals: tuple[Pattern, ...]
    override: Override | None = None


class AgendaFold(EventFold):
    """What an agenda knows after some events.

    Attributes:
        settings: the settings in force.
        goals, gates: what is declared, by name, in the order in which it first was.
        version: how many events were taken in.

    Example:
        >>> fold = AgendaFold()
        >>> fold.apply(GoalDeclared("wood", "ab", "3.11", (), ()))
        >>> fold.apply(Updated(("wood",), (), 1))
        >>> fold.goals["wood"].done
        True
    """

    kinds = (Configured, GoalDeclared, GateDeclared, Dropped, Updated, Reopened, Overridden, Cleared)
    settings: Configured

    def __init__(self, settings: Configured | None = None) -> None:
        """Know nothing."""
        super().__init__(settings or Configured())
        self.goals: dict[str, KnownGoal] = {}
        self.gates: dict[str, KnownGate] = {}
        self.version = 0

    def apply(self, event: Record) -> None:
        """Take in one event, and count it."""
        super().apply(event)
        self.version += 1

    def take(self, event: Record) -> None:
        """Take in an event that is not about the settings.

        Raises:
            LookupError, ValueError: it speaks of what was never declared.
        """
        match event:
            case GoalDeclared():
                self.goals[event.name] = KnownGoal(event)
            case GateDeclared():
                self.gates[event.name] = KnownGate(event, unpack(event.blocks), unpack(event.blocks_goals))
            case Dropped():
                del (self.goals if event.what == "goal" else self.gates)[event.name]
            case Updated():
                self._update(event)
            case Reopened():
                for goal in [self.goals[name] for name in event.names]:
                    goal.done = False
            case Overridden():
                over = Override(event.who, event.why, unpack(event.calls), event.updates, event.steps)
                self.gates[event.gate].override = over
            case _:
                assert isinstance(event, Cleared)  # there are no other kinds
                self.gates[event.gate].override = None

    def _update(self, event: Updated) -> None:
        changed = [(self.goals[name], True) for name in event.done] + [(self.goals[n], False) for n in event.undone]
        for goal, done in changed:
            goal.done = done
        for gate in self.gates.values():
            if gate.override is not None:
                after = gate.override.after(event.steps)
                gate.override = None if after.over else after

    def counting(self) -> bool:
        """Return whether an override ends by itself, so that every update counts."""
        return any(gate.override is not None and gate.override.ends for gate in self.gates.values())

    def as_data(self) -> Any:
        """Return all that is known, as a plain value."""
        return {
            "goals": [{**goal.declared.as_data(), "is_done": goal.done} for goal in self.goals.values()],
            "gates": [
                {**gate.declared.as_data(), "override": None if gate.override is None else gate.override.as_data()}
                for gate in self.gates.values()
            ],
        }
