"""What an agent records of its episodes: that one began, each decision, what came of it, how it ended.

A decision is recorded before the action is taken, with all that it was made from, so that it can be made again from the
journal alone. Its `seal` is a digest of its other fields: one that was edited is found even where the whole chain was
written anew after it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from surefoot.knowledge._ledger import Record, _encoded

__all__ = [
    "NOTHING",
    "Bars",
    "Began",
    "Came",
    "Configured",
    "Decided",
    "Learned",
    "Over",
    "Shielded",
    "bars_of",
    "seal_of",
    "sealed",
]

NOTHING = msgspec.Raw(b"null")
"""The encoding of None.

Example:
    >>> bytes(NOTHING)
    b'null'
"""


Bars = list[tuple[bytes, tuple[str, str] | None]]
"""For each option its encoded action, and the (kind, reason) of the hard check that bars it.

Example:
    >>> bars: Bars = [(b'"up"', ("gate", "closed")), (b'"down"', None)]
    >>> [action for action, barred in bars if barred is None]
    [b'"down"']
"""


class Configured(Record, frozen=True):
    """An agent keeps its episodes here.

    Example:
        >>> Configured().encode()
        b'{"version":1}'
    """

    kind: ClassVar[str] = "agent"
    version: int = 1


class Began(Record, frozen=True):
    """An episode began.

    Attributes:
        episode: its number, from 0.
        map: the map that it is walked on.
        seed: what the world was reset with, null for none.
        state: where it started.
        rules: what else decides, {"budget", "plain", "risk", "slow"}: the budget, whether the world's states are the
            map's, the name of the risk policy, the slow path.
        goals: the goals that were reached there already.

    Example:
        >>> Began(0, "main", 7, msgspec.Raw(b"0")).encode()
        b'{"episode":0,"goals":[],"map":"main","rules":null,"seed":7,"state":0}'
    """

    kind: ClassVar[str] = "begin"
    episode: int
    map: str
    seed: int | None
    state: msgspec.Raw
    rules: msgspec.Raw = NOTHING
    goals: tuple[str, ...] = ()


class Decided(Record, frozen=True):
    """A decision, before anything came of it.

    Attributes:
        episode, step: which one, both from 0.
        head: the head of the journal that it read.
        state: where.
        goals: the open goals, in order; "" is the end of the episode, where no goal is declared.
        options: what was on offer, each with its prediction, gate and choice, see `Option`; a long list may be recorded
            as a variation of an earlier one, see `surefoot.agent.offers`.
        path: "fast", "slow" or "none".
        rule: by which rule, or for want of what.
        action: what was chosen; null for nothing.
        goal: what for; null for nothing in particular.
        why: in words.
        answer: what a slow path that is not ours answered; null where none was asked.
        spent: what it cost: {"decisions", "money", "seconds"}.
        seal: a digest of all this.

    Example:
        >>> Decided.kind
        'decide'
    """

    kind: ClassVar[str] = "decide"
    episode: int
    step: int
    head: str
    state: msgspec.Raw
    goals: msgspec.Raw
    options: msgspec.Raw
    path: str
    rule: str
    action: msgspec.Raw
    goal: str | None
    why: str
    answer: msgspec.Raw = NOTHING
    spent: msgspec.Raw = NOTHING
    seal: str = ""

    def encode(self) -> bytes:
        """Return the data of the entry that records this event; of the one that was sealed last it is at hand."""
        event, data, _ = _sealed[0]
        return data if event is self else super().encode()


class Came(Record, frozen=True):
    """What came of a decision.

    Attributes:
        episode, step: of which one.
        verdict: "accepted", "refused" or "fault".
        to: the state after it.
        done: the environment said that the episode is over.
        goals: the goals that are reached now and were not before.
        drift: it contradicted what was confirmed.
        why: the world's reason, or what broke; null for none.

    Example:
        >>> Came(0, 0, "accepted", msgspec.Raw(b"1"), False).encode()
        b'{"done":false,"drift":false,"episode":0,"goals":[],"step":0,"to":1,"verdict":"accepted","why":null}'
    """

    kind: ClassVar[str] = "came"
    episode: int
    step: int
    verdict: str
    to: msgspec.Raw
    done: bool
    goals: tuple[str, ...] = ()
    drift: bool = False
    why: str | None = None

    def encode(self) -> bytes:
        """Return the data of the entry that records this event."""
        return _CAME % (
            _FLAGS[self.done],
            _FLAGS[self.drift],
            self.episode,
            _encoded(self.goals),
            self.step,
            bytes(self.to),
            self.verdict.encode(),
            b"null" if self.why is None else _encoded(self.why),
        )


_CAME = b'{"done":%b,"drift":%b,"episode":%d,"goals":%b,"step":%d,"to":%b,"verdict":"%b","why":%b}'
_FLAGS = (b"false", b"true")


class Over(Record, frozen=True):
    """An episode ended.

    Attributes:
        episode: which one.
        stopped: why, one of the values of `Stopped`.
        why: more about it, in words.

    Example:
        >>> Over(0, "done").encode()
        b'{"episode":0,"stopped":"done","why":""}'
    """

    kind: ClassVar[str] = "end"
    episode: int
    stopped: str
    why: str = ""


class Learned(Record, frozen=True):
    """What another agent had learned was taken over.

    Attributes:
        origin: the hash of its journal's head; `length`: how many entries that had.
        targets: {map: {goal: [states]}}, where it reached goals.
        skills: [[goal, action, reached, taken], …]; empty where an earlier part of the journal was taken over before.

    Example:
        >>> Learned("ab", 3, msgspec.Raw(b"{}"), msgspec.Raw(b"[]")).encode()
        b'{"length":3,"origin":"ab","skills":[],"targets":{}}'
    """

    kind: ClassVar[str] = "learned"
    origin: str
    length: int
    targets: msgspec.Raw
    skills: msgspec.Raw


class Recognised(Record, frozen=True):
    """Places on a map were recognised as where goals would be reached: their checks said yes to them.

    Attributes:
        map: which map.
        targets: {goal: [states]}, of which the map has heard; nobody need have been there.

    Example:
        >>> Recognised("main", msgspec.Raw(b'{"page":["/faq"]}')).encode()
        b'{"map":"main","targets":{"page":["/faq"]}}'
    """

    kind: ClassVar[str] = "recognise"
    map: str
    targets: msgspec.Raw


class Shielded(Record, frozen=True):
    """The shield of a map was learned anew, from all outcomes there that are recorded before.

    Attributes:
        map: which map.
        first: nothing of an earlier shield holds on: `marks` are all labels.
        outcomes: from how many outcomes.
        choices: how many choices the model has; `allowed`: how many of them the shield allows.
        digest: of what is allowed where.
        marks: {label: [encoded states]}, those that were not told before.
        rules: what is kept, on what evidence, see `Verify`.

    Example:
        >>> Shielded("main", True, 9, 4, 2, "ab", msgspec.Raw(b"{}"), msgspec.Raw(b"{}")).kind
        'shield'
    """

    kind: ClassVar[str] = "shield"
    map: str
    first: bool
    outcomes: int
    choices: int
    allowed: int
    digest: str
    marks: msgspec.Raw
    rules: msgspec.Raw


def seal_of(decided: Decided) -> str:
    """Return the digest of a decision's other fields, 64 hexadecimal digits.

    Example:
        >>> raw = msgspec.Raw(b"0")
        >>> one = sealed(0, 0, "0:0", raw, raw, raw, "fast", "way", raw, None, "")
        >>> seal_of(one) == one.seal, len(one.seal)
        (True, 64)
    """
    names = [name for name in decided.__struct_fields__ if name != "seal"]
    return _digest([_encoded(getattr(decided, name)) for name in names])


def sealed(
    episode: int,
    step: int,
    head: str,
    state: msgspec.Raw,
    goals: msgspec.Raw,
    options: msgspec.Raw,
    path: str,
    rule: str,
    action: msgspec.Raw,
    goal: str | None,
    why: str,
    answer: msgspec.Raw = NOTHING,
    spent: msgspec.Raw = NOTHING,
    *,
    bars: Bars | None = None,
) -> Decided:
    """Return a decision with its seal; the arguments are the fields of `Decided`.

    `bars` says of each option what bars it, where that is known, see `bars_of`.

    Example:
        >>> raw = msgspec.Raw(b"0")
        >>> sealed(0, 0, "0:0", raw, raw, raw, "fast", "way", raw, None, "").path
        'fast'
    """
    fields = (episode, step, head, state, goals, options, path, rule, action, goal, why, answer, spent)
    parts = [
        b"%d" % episode,
        b"%d" % step,
        b'"%b"' % head.encode(),
        bytes(state),
        bytes(goals),
        bytes(options),
        b'"%b"' % path.encode(),
        b'"%b"' % rule.encode(),
        bytes(action),
        _encoded(goal),
        _encoded(why) if why else b'""',
        bytes(answer),
        bytes(spent),
    ]
    seal = _digest(parts)
    event = Decided(*fields, seal=seal)
    _sealed[0] = event, _LINE % tuple([parts[place] if place >= 0 else seal.encode() for place in _ORDER]), bars
    return event


_PASSES = b'"failed":null,"gain":0.0,"gate":null,"hard":false,'
"""In the encoding of an option that no check bars, the policy's and the shield's apart."""


def bars_of(decided: Decided, *, whole: bool = True, rows: Sequence[bytes] | None = None) -> Bars:
    """Return for each option of a decision what bars it; without `whole` perhaps nothing where nothing bars any.

    `rows` are its options, where they are recorded as a variation of others.

    Example:
        >>> raw = msgspec.Raw(b"0")
        >>> one = sealed(0, 0, "0:0", raw, raw, raw, "fast", "way", raw, None, "", bars=[(b'"up"', None)])
        >>> bars_of(one)
        [(b'"up"', None)]
    """
    event, _, bars = _sealed[0]
    if event is decided and bars is not None:
        return bars
    raw = bytes(decided.options) if rows is None else b"[%b]" % b",".join(rows)
    if not whole and b'"choice":"avoid"' not in raw and b'"shield":"' not in raw:
        if raw.count(_PASSES) == raw.count(b'"verdict":'):
            return []
    return [(bytes(row.action), row.blocked) for row in _rows(raw)]


class _Row(msgspec.Struct):
    """As much of an option as the fold reads."""

    action: msgspec.Raw
    choice: str
    hard: bool
    verdict: str
    failed: str | None = None
    gate: tuple[str, str] | None = None
    reason: str = ""
    said: str | None = None
    shield: str | None = None

    @property
    def blocked(self) -> tuple[str, str] | None:
        """Return the same as `Option.blocked`."""
        if self.gate is not None:
            return ("person" if self.gate[0] == "escalate" else "gate"), self.gate[1]
        if self.hard and self.verdict != "accept":
            return ("hard" if self.verdict == "refuse" else "person"), self.reason or "a hard refusal"
        if self.shield is not None:
            return "shield", self.shield
        if self.choice == "avoid":
            return "avoid", self.said or self.reason
        return None if self.failed is None else ("failed", self.failed)


_rows = msgspec.json.Decoder(list[_Row]).decode


_SORTED = sorted(Decided.__struct_fields__)
_LINE = b"{" + b",".join([b'"%b":%%b' % name.encode() for name in _SORTED]) + b"}"
_LINE = _LINE.replace(b'"seal":%b', b'"seal":"%b"')
_ORDER = [-1 if name == "seal" else Decided.__struct_fields__.index(name) for name in _SORTED]
_sealed: list[tuple[Decided | None, bytes, Bars | None]] = [(None, b"", None)]


def _digest(parts: list[bytes]) -> str:
    """Return a digest of encoded fields; the lengths keep their borders."""
    sizes = b",".join([b"%d" % len(part) for part in parts])
    return hashlib.sha256(b"\n".join([sizes, *parts])).hexdigest()
