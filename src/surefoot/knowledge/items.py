"""What a knowledge store says, for people and programs: items, who asserted them, open questions, explanations.

All of it is frozen and stands as it stood when it was asked for. Bodies, scopes and evidence are decoded afresh each
time they are read, so that nothing here is shared with the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from surefoot import values
from surefoot.errors import BadArgument

__all__ = [
    "KINDS",
    "SOURCES",
    "STATUSES",
    "Assertion",
    "Explanation",
    "Flag",
    "Interval",
    "Item",
    "Key",
    "Question",
    "Side",
    "item_id",
]

KINDS = ("fact", "rule", "skill", "action", "episode")
"""The kinds of items. Facts have a key and compete for its value; the others stand on their own.

Example:
    >>> KINDS[0]
    'fact'
"""
FACT = 0

SOURCES = ("verified", "spec", "person", "outcome")
"""Where a statement comes from, the weakest first: checked by a program, written down, a person, observed.

Example:
    >>> SOURCES.index("outcome") > SOURCES.index("person") > SOURCES.index("spec") > SOURCES.index("verified")
    True
"""
VERIFIED, SPEC, PERSON, OUTCOME = range(4)

STATUSES = ("active", "hypothesis", "disputed", "refuted", "expired", "retracted")
"""What an item can be.

Example:
    >>> STATUSES[0]
    'active'
"""
ACTIVE, HYPOTHESIS, DISPUTED, REFUTED, EXPIRED, RETRACTED = range(6)

Interval = tuple[float | None, float | None]
"""From when (included) until when (excluded) something holds, in the caller's own time; None: open.

Example:
    >>> spring: Interval = (60, 152)
"""


def item_id(kind: str, body: Any, scope: Any = None) -> str:
    """Return the id of an item: the whole SHA-256 of the exact encoding of (kind, body, scope).

    Raises:
        BadArgument: there is no such kind.
        ValueRejected: the body or the scope is not plain.

    Example:
        >>> item_id("fact", {"s": "door", "r": "is", "o": 1}) == item_id("fact", {"s": "door", "r": "is", "o": True})
        False
    """
    if kind not in KINDS:
        raise BadArgument(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    return values.digest((kind, body, scope))


class Key(NamedTuple):
    """What facts compete for: one value of one relation of one subject in one scope.

    Example:
        >>> Key(None, "door", "opens")
        Key(scope=None, s='door', r='opens')
    """

    scope: Any
    s: Any
    r: str


@dataclass(frozen=True, slots=True)
class Item:
    """Something known, as it stood when it was asked for.

    Attributes:
        id: the whole SHA-256 of the exact encoding of (kind, body, scope).
        kind: "fact", "rule", "skill", "action" or "episode".
        status: "active", "hypothesis", "disputed", "refuted", "expired" or "retracted".
        source: of the strongest live assertion: "outcome", "person", "spec" or "verified".
        by: who made it, None when not said.
        since: the journal entry that holds it.
        valid: the intervals for which live assertions state it; empty: always.

    Example:
        >>> from surefoot.knowledge.store import KnowledgeStore
        >>> store = KnowledgeStore()
        >>> item = store.get(store.add("fact", {"s": "door", "r": "opens", "o": "north"}, source="outcome"))
        >>> item.status, item.s, item.r, item.o, item.usable
        ('active', 'door', 'opens', 'north', True)
        >>> item.body["o"] = "south"
        >>> item.o
        'north'
    """

    id: str
    kind: str
    status: str
    source: str
    by: str | None
    since: int
    valid: tuple[Interval, ...] = ()
    raw_body: bytes = field(default=b"{}", repr=False)
    raw_scope: bytes = field(default=b"null", repr=False)

    @property
    def usable(self) -> bool:
        """Say whether a decision may rest on it: it is active, and so is all it rests on."""
        return self.status == STATUSES[ACTIVE]

    @property
    def body(self) -> Any:
        """Return its content, a fresh copy."""
        return values.decode(self.raw_body)

    @property
    def scope(self) -> Any:
        """Return where it applies, a fresh copy."""
        return values.decode(self.raw_scope)

    @property
    def key(self) -> Key | None:
        """Return what it competes for, None for what is no fact."""
        if self.kind != KINDS[FACT]:
            return None
        body = self.body
        return Key(self.scope, body["s"], body["r"])

    @property
    def s(self) -> Any:
        """Return a fact's subject, None for what is no fact."""
        return self.body["s"] if self.kind == KINDS[FACT] else None

    @property
    def r(self) -> Any:
        """Return a fact's relation, None for what is no fact."""
        return self.body["r"] if self.kind == KINDS[FACT] else None

    @property
    def o(self) -> Any:
        """Return a fact's value, None for what is no fact."""
        return self.body["o"] if self.kind == KINDS[FACT] else None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, to be recorded with a decision."""
        shown: dict[str, Any] = {"id": self.id, "kind": self.kind, "body": self.body, "scope": self.scope}
        shown |= {"status": self.status, "source": self.source, "by": self.by}
        return shown | ({"valid": self.valid} if self.valid else {})

    def __str__(self) -> str:
        """Show it in one line."""
        what = f"{shown(self.s)} {self.r} {shown(self.o)}" if self.kind == KINDS[FACT] else shown(self.body)
        where = "" if self.raw_scope == b"null" else f" in {shown(self.scope)}"
        return f"{self.kind} {self.id[:12]}: {what}{where}: {self.status} ({said(self.source, self.by)})"


@dataclass(frozen=True, slots=True)
class Assertion:
    """One statement of an item.

    Attributes:
        seq: the journal entry that records it.
        source: "outcome", "person", "spec" or "verified".
        by: who; None when not said.
        standing: what became of it: "counts"; "retracted"; "without support" (something that it rests on is gone);
            "undecided" (that depends on an open question); "refuted"; "overruled" (a person resolved the question).
        derived_from: the ids of what it rests on.
        supersedes: the ids of what it replaces.
        valid: the interval it is about, None: always.
        reconfirm_after: after how many ticks it is too old, None: never.
        trial: it counts only after a promotion.
        resolves: a person answered a question with it.
        ended: the journal entry that took it back, None when none did; `ended_by` and `why` say who did, and why.
        raw_evidence: its evidence, encoded; `evidence` decodes it.

    Example:
        >>> from surefoot.knowledge.store import KnowledgeStore
        >>> store = KnowledgeStore()
        >>> rule = store.add("rule", {"if": "red"}, source="person", by="Kim", evidence={"page": 3})
        >>> [(a.by, a.evidence, a.standing) for a in store.why(rule).assertions]
        [('Kim', {'page': 3}, 'counts')]
    """

    seq: int
    source: str
    by: str | None
    standing: str
    derived_from: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    valid: Interval | None = None
    reconfirm_after: int | None = None
    trial: bool = False
    resolves: bool = False
    ended: int | None = None
    ended_by: str | None = None
    raw_evidence: bytes = field(default=b"null", repr=False)
    raw_why: bytes = field(default=b"null", repr=False)

    @property
    def evidence(self) -> Any:
        """Return what was given as evidence, a fresh copy; None when nothing was."""
        return values.decode(self.raw_evidence)

    @property
    def why(self) -> Any:
        """Return why it was taken back, a fresh copy; None when it was not, or nobody said."""
        return values.decode(self.raw_why)

    def __str__(self) -> str:
        """Show it in one line."""
        notes = [f"rests on {', '.join(i[:12] for i in self.derived_from)}"] if self.derived_from else []
        notes += [f"supersedes {', '.join(i[:12] for i in self.supersedes)}"] if self.supersedes else []
        notes += [f"valid {_bounds(self.valid)}"] if self.valid else []
        notes += [f"for {self.reconfirm_after} ticks"] if self.reconfirm_after else []
        notes += ["on trial"] if self.trial else []
        notes += ["resolves a question"] if self.resolves else []
        notes += [] if self.evidence is None else [f"evidence {shown(self.evidence)}"]
        tail = f"  [{'; '.join(notes)}]" if notes else ""
        end = "" if self.ended is None else f" ({said(f'entry {self.ended}', self.ended_by)})"
        end += "" if self.why is None else f": {shown(self.why)}"
        return f"{self.seq} {said(self.source, self.by)}: {self.standing}{end}{tail}"


@dataclass(frozen=True, slots=True)
class Flag:
    """A doubt about everything that was known of something.

    Attributes:
        id: its number, the journal entry that records it.
        why: any plain value; None when not said.
        by: who; None when not said.

    Example:
        >>> from surefoot.knowledge.store import KnowledgeStore
        >>> store = KnowledgeStore()
        >>> fact = store.add("fact", {"s": "door", "r": "opens", "o": "north"}, source="spec")
        >>> _ = store.flag([fact], why="rebuilt")
        >>> store.why(fact).flags
        (Flag(id=1, why='rebuilt', by=None),)
    """

    id: int
    why: Any = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an item is what it is.

    Attributes:
        item: how it stands.
        reasons: in words, why it is not active; empty when it is.
        assertions: every statement of it, the oldest first.
        premises: what its live assertions rest on.
        refuted_by: pairs (item, statement) that beat its assertions, or that it is in dispute with.
        flags: the doubts that still stand against it.
        entries: the journal entries that this rests on, in order.

    `str(explanation)` is for reading.

    Example:
        >>> from surefoot.knowledge.store import KnowledgeStore
        >>> store = KnowledgeStore()
        >>> told = store.add("fact", {"s": "door", "r": "opens", "o": "north"}, source="spec", by="plan")
        >>> seen = store.add("fact", {"s": "door", "r": "opens", "o": "south"}, source="outcome")
        >>> print(store.why(told))
        fact 563443b62eff: 'door' opens 'north': refuted (spec, plan)
          refuted by 'south' (outcome, entry 1)
          0 spec, plan: refuted
    """

    item: Item
    reasons: tuple[str, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    premises: tuple[Item, ...] = ()
    refuted_by: tuple[tuple[Item, Assertion], ...] = ()
    flags: tuple[Flag, ...] = ()
    entries: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Return the story as text."""
        lines = [str(self.item), *(f"  {reason}" for reason in self.reasons)]
        lines += [f"  {assertion}" for assertion in self.assertions]
        lines += [f"  rests on {premise}" for premise in self.premises]
        return "\n".join(lines)

    def __iter__(self) -> Iterator[Assertion]:
        """Iterate over the assertions."""
        return iter(self.assertions)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the values that a question is about.

    Attributes:
        value: the value.
        id: the item that states it.
        source: of its strongest live assertion.
        by: everybody who asserts it, in the order in which they did.

    Example:
        >>> Side("north", "ab", "spec", ("plan",)).value
        'north'
    """

    value: Any
    id: str
    source: str
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """Facts that contradict each other, of equal rank: a person has to say.

    Attributes:
        key: what the facts are about.
        sides: the values in dispute, the oldest first.

    Example:
        >>> from surefoot.knowledge.store import KnowledgeStore
        >>> store = KnowledgeStore()
        >>> for by, to in (("plan", "north"), ("sign", "south")):
        ...     _ = store.add("fact", {"s": "door", "r": "opens", "o": to}, source="spec", by=by)
        >>> (question,) = store.questions()
        >>> print(question)
        'door' opens: 'north' (spec, plan) or 'south' (spec, sign)?
        >>> _ = store.resolve(question.key, "south", by="Kim")
        >>> store.questions()
        []
    """

    key: Key
    sides: tuple[Side, ...]

    def __str__(self) -> str:
        """Ask it in one line."""
        where = "" if self.key.scope is None else f" in {shown(self.key.scope)}"
        told = (f"{shown(side.value)} ({said(side.source, *side.by)})" for side in self.sides)
        return f"{shown(self.key.s)} {self.key.r}{where}: {' or '.join(told)}?"


def said(source: str, *by: str | None) -> str:
    """Return who said something, in words."""
    return ", ".join([source, *(name for name in by if name is not None)])


def _bounds(interval: Interval) -> str:
    since, until = interval
    return f"[{'…' if since is None else since}, {'…' if until is None else until})"


def shown(value: Any, most: int = 60) -> str:
    """Return a value for people, cut where it is long."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} nested too deep to show"
    return text if len(text) <= most else f"{text[: most - 1]}…"
