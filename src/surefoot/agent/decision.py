"""A decision and its options, as they are recorded, asked about and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import force_setattr, replace

from surefoot import values
from surefoot.agent.episode_events import NOTHING, Decided, sealed
from surefoot.agent.offers import Offers
from surefoot.errors import BadArgument

__all__ = ["DONE", "Answer", "Decision", "Option", "Reader", "decision_of", "event_of"]

DONE = ""
"""The goal of an episode for which none is declared: that the environment says done.

Example:
    >>> DONE
    ''
"""

_ROW = (
    b'{"action":%b,"advances":%b,"choice":"%b","failed":%b,"gain":%b,"gate":%b,"hard":%b,"instead_of":%b,'
    b'"reason":%b,"risk":%b,"said":%b,"support":%d,"verdict":"%b"}'
)
_FLAGS = (b"false", b"true")


class Option(msgspec.Struct, frozen=True, eq=False):
    """An action on offer, with all that is known about taking it.

    Attributes:
        action: as the environment takes it.
        verdict, risk, support, hard, reason: what is predicted, see `Prediction`.
        choice: what the risk policy says: "take", "avoid" or "ask".
        said: why, where that is not the prediction's own reason.
        gate: what the gates say where they do not approve, (word, reason); None where they do.
        failed: why it counts as failed lately; None where it does not.
        gain: what there is to gain, a finite number >= 0.
        advances: the open goals that it is expected to reach.
        instead_of: the action on offer that a gate changed into this one; None for what is on offer itself.
        shield: why the shield of what was learned refuses it; None where it allows it, or nothing is verified.

    Example:
        >>> Option("right", "accept", 0.1, 9).blocked is None, Option("left", "refuse", hard=True).blocked
        (True, ('hard', 'a hard refusal'))
    """

    action: Any
    verdict: str = "unknown"
    risk: float = 0.0
    support: int = 0
    hard: bool = False
    reason: str = ""
    choice: str = "ask"
    said: str | None = None
    gate: tuple[str, str] | None = None
    failed: str | None = None
    gain: float = 0.0
    advances: tuple[str, ...] = ()
    instead_of: Any = None
    key: bytes = b""
    shield: str | None = None
    _row: bytes = b""

    def __post_init__(self) -> None:
        """Encode the action."""
        if not self.key:
            force_setattr(self, "key", values.encode_action(self.action))

    def __eq__(self, other: object) -> bool:
        """Compare what is recorded of two options."""
        return self.encode() == other.encode() if isinstance(other, Option) else NotImplemented

    def __hash__(self) -> int:
        """Hash what is recorded."""
        return hash(self.encode())

    def __repr__(self) -> str:
        """Show what is known of it."""
        shown = [f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in ("key", "_row")]
        return f"Option({', '.join(shown)})"

    def shielded(self, why: str | None) -> Option:
        """Return it with what a shield says of it."""
        return replace(self, shield=why, _row=b"")

    @property
    def blocked(self) -> tuple[str, str] | None:
        """Return (kind, reason) of the hard check that it does not pass; None when it passes all.

        The kinds: "gate", "person" (a gate or a rule that wants somebody asked), "hard", "shield", "avoid", "failed".
        """
        if self.gate is not None:
            return ("person" if self.gate[0] == "escalate" else "gate"), self.gate[1]
        if self.hard and self.verdict != "accept":
            kind = "hard" if self.verdict == "refuse" else "person"
            return kind, self.reason or "a hard refusal"
        if self.shield is not None:
            return "shield", self.shield
        if self.choice == "avoid":
            return "avoid", self.said or self.reason
        return None if self.failed is None else ("failed", self.failed)

    def encode(self) -> bytes:
        """Return its exact encoding; worked out once."""
        if self._row:
            return self._row
        encode = values.encode
        row = _ROW % (
            self.key,
            encode(self.advances) if self.advances else b"[]",
            self.choice.encode(),
            b"null" if self.failed is None else encode(self.failed),
            b"0.0" if not self.gain else float.__repr__(self.gain).encode(),
            b"null" if self.gate is None else encode(self.gate),
            _FLAGS[self.hard],
            b"null" if self.instead_of is None else values.encode_action(self.instead_of),
            encode(self.reason),
            float.__repr__(self.risk).encode(),
            b"null" if self.said is None else encode(self.said),
            self.support,
            self.verdict.encode(),
        )
        if self.shield is not None:
            place = row.index(b',"support":', row.rindex(b',"said":'))
            row = b'%b,"shield":%b%b' % (row[:place], encode(self.shield), row[place:])
        force_setattr(self, "_row", row)
        return row

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Option:
        """Return the option that was recorded as `data`.

        Raises:
            BadArgument: it has not the fields of one.
        """
        try:
            if "key" in data or "_row" in data:
                raise TypeError("these are worked out")
            return cls(**data)
        except TypeError as error:
            raise BadArgument(f"{data!r} is no recorded option: {error}") from None

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        data: dict[str, Any] = values.decode(self.encode())
        return data


class Answer(NamedTuple):
    """What a path says: an action, or for want of what there is none.

    Attributes:
        action: what to take; None for nothing.
        path: "fast", "slow" or "none".
        rule: by which rule: "way", "advance", "skill", "plan", "probe",
            "unchecked", "rare", "wait", "asked"; or "nothing left", "blocked",
            "unsure", "out of budget", "terminated".
        goal: what for.
        why: in words.
        plan: the way that was thought out, as it is recorded; None without one.

    Example:
        >>> Answer("right", "fast", "way", "").action
        'right'
    """

    action: Any
    path: str
    rule: str
    goal: str | None = None
    why: str = ""
    plan: Any = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A recorded decision.

    Attributes:
        seq: its place in the journal.
        episode, step: which one.
        head: the journal's head that it read.
        state: where.
        goals: the open goals.
        options: what was on offer.
        action: what was chosen; None for nothing.
        path, rule, goal, why: by which path and rule, what for, in words; see `Answer`.
        answer: what a slow path that is not ours answered; of a `Search` the plan that it made, if it made one.
        spent: what it cost: "decisions" (of the slow path), "seconds", "money".

    Example:
        >>> from surefoot import Agent, Knowledge
        >>> from surefoot.environments.corridor import Corridor
        >>> agent = Agent(Corridor(length=1), knowledge=Knowledge())
        >>> agent.run().steps, [(d.action, d.path, d.rule) for d in agent.decisions()]
        (2, [('left', 'slow', 'unchecked'), ('right', 'slow', 'unchecked')])
    """

    seq: int
    episode: int
    step: int
    head: str
    state: Any
    goals: tuple[str, ...]
    options: tuple[Option, ...]
    action: Any
    path: str
    rule: str
    goal: str | None
    why: str
    answer: Any = None
    spent: Mapping[str, Any] = field(default_factory=dict)


@lru_cache(maxsize=256)
def _encoded(goals: tuple[str, ...]) -> bytes:
    return values.encode(goals)


def event_of(
    place: tuple[int, int, str, bytes],
    goals: tuple[str, ...],
    options: tuple[Option, ...],
    answer: Answer,
    asked: Any = None,
    spent: Mapping[str, Any] | None = None,
    offers: Offers | None = None,
) -> Decided:
    """Return the event that records a decision.

    Args:
        place: (episode, step, head, encoded state).
        goals: the open goals.
        options: what was on offer.
        answer: what was decided.
        asked: what a slow path that is not ours answered.
        spent: what it cost.
        offers: the long lists of options that were recorded before; this one may be recorded as a variation of one.

    Example:
        >>> event_of((0, 0, "0:0", b"1"), (DONE,), (), Answer(None, "none", "nothing left")).rule
        'nothing left'
    """
    episode, step, head, state = place
    action = NOTHING if answer.action is None else msgspec.Raw(values.encode_action(answer.action))
    rows = [option.encode() for option in options]
    event = sealed(
        episode,
        step,
        head,
        msgspec.Raw(state),
        msgspec.Raw(_encoded(goals)),
        msgspec.Raw(b"[%b]" % b",".join(rows) if offers is None else offers.write(state, rows)),
        answer.path,
        answer.rule,
        action,
        answer.goal,
        answer.why,
        NOTHING if asked is None else msgspec.Raw(values.encode(asked)),
        NOTHING if spent is None else msgspec.Raw(values.encode(spent)),
        bars=[(option.key, option.blocked) for option in options],
    )
    return event


def decision_of(seq: int, event: Decided) -> Decision:
    """Return a recorded decision, decoded; of one whose list varies another see `Reader`.

    Raises:
        ValueError: it does not hold what one holds.

    Example:
        >>> event = event_of((0, 3, "0:0", b"1"), (DONE,), (Option("up"),), Answer("up", "slow", "unchecked"))
        >>> decision_of(9, event).options[0].action, decision_of(9, event).step
        ('up', 3)
    """
    return Reader().decision(seq, event)


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    """An option as it is recorded."""

    action: msgspec.Raw
    advances: tuple[str, ...]
    choice: str
    failed: str | None
    gain: float
    gate: tuple[str, str] | None
    hard: bool
    instead_of: msgspec.Raw
    reason: str
    risk: float
    said: str | None
    support: int
    verdict: str
    shield: str | None = None


_row = msgspec.json.Decoder(_Row).decode
_READ = 65_536


class Reader:
    """Decode decisions in the order in which they are recorded; rows that come again are decoded once.

    Example:
        >>> event = event_of((0, 3, "0:0", b"1"), (DONE,), (Option("up"),), Answer("up", "slow", "unchecked"))
        >>> reader = Reader()
        >>> reader.decision(9, event).options[0] is reader.decision(10, event).options[0]
        True
    """

    def __init__(self) -> None:
        """Have read nothing."""
        self._offers = Offers()
        self._options: dict[bytes, Option] = {}

    def decision(self, seq: int, event: Decided) -> Decision:
        """Return the next decision, decoded.

        Raises:
            ValueError: it does not hold what one holds.
        """
        rows = self._offers.take(event)
        if rows is None:
            rows = self._offers.rows(event)
        plain = values.decode
        return Decision(
            seq,
            event.episode,
            event.step,
            event.head,
            plain(bytes(event.state)),
            plain(bytes(event.goals)),
            tuple([self._options.get(row) or self._option(row) for row in rows]),
            plain(bytes(event.action)),
            event.path,
            event.rule,
            event.goal,
            event.why,
            plain(bytes(event.answer)),
            plain(bytes(event.spent)) or {},
        )

    def skip(self, event: Decided) -> None:
        """Pass over the next decision, on whose list later ones may build."""
        self._offers.take(event)

    def _option(self, raw: bytes) -> Option:
        """Return an option; one whose action can be changed is not kept."""
        row = _row(raw)
        fields = {name: getattr(row, name) for name in row.__struct_fields__}
        key = bytes(row.action)
        fields |= {"action": values.decode(key), "instead_of": values.decode(bytes(row.instead_of)), "key": key}
        option = Option(**fields)
        if option.encode() != raw:
            raise BadArgument(f"{raw!r} is no recorded option: it should read {option.encode()!r}")
        if b"{" not in key and row.instead_of == NOTHING:
            if len(self._options) >= _READ:
                self._options.clear()
            self._options[raw] = option
        return option
