"""What a map says about one action, for people and programs: claims, their outcomes and their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Change", "Claim", "Evidence", "Observed", "Why"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One entry that speaks about a claim.

    Attributes:
        seq: its place in the journal.
        kind: "see", "told", "arrive" or "refuse".
        to: the destination it names; None when it names none.
        source: "seen", "told", "human" or "observed".
        step: the caller's own step, when given.
        quote: the words, or the reason of a refusal, when given.
        by: who said so, when given.
        origin: the name (or the entry's hash) it had in the map it was merged from; None when it is this map's own.

    Example:
        >>> from surefoot.knowledge.worldmap import WorldMap
        >>> WorldMap().told("hall", "north", "garden", quote="a sign").claim("hall", "north").evidence[0].quote
        'a sign'
    """

    seq: int
    kind: str
    to: Any
    source: str
    step: Any = None
    quote: Any = None
    by: Any = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """A place that an action led to.

    Attributes:
        to: the place.
        times: how often, since the map was last told to doubt it (`drop`).
        evidence: the arrivals there.

    Example:
        >>> from surefoot.knowledge.worldmap import WorldMap
        >>> m = WorldMap(stochastic=True)
        >>> [m.arrive("ice", "east", to) for to in ("shore", "hole", "shore")]
        [False, True, False]
        >>> [(o.to, o.times) for o in m.claim("ice", "east").outcomes]
        [('shore', 2), ('hole', 1)]
    """

    to: Any
    times: int
    evidence: tuple[Evidence, ...] = field(default=(), compare=False, repr=False)


def _nothing() -> tuple[Evidence, ...]:
    return ()


@dataclass(frozen=True)
class Claim:
    """A claim "(state, action) leads to `to`", as it stood when it was asked for.

    Attributes:
        state, action: what it is about.
        to: where it is believed to lead; None when nobody has said or seen. On a stochastic map the likeliest place.
        status: "confirmed" (the last thing known is an arrival there) or "hypothesis".
        source: whose claim it is: "seen" (the environment showed it), "told", "human", or "observed" (somebody went).
        taken: how often the action was taken.
        refused: the world said no, and nothing new was seen or told since.
        doubtful: it was known once and should be checked again (dropped, stale, contradicted).
        refusals: how often the world said no.
        counts: pairs (place, times) that the action led to since the last drop, most often first.

    `claim["to"]` and the other names of a mapping work too: "to", "status", "source", "evidence", "taken".

    Example:
        >>> from surefoot.knowledge.worldmap import WorldMap
        >>> m = WorldMap().see("hall", "north", to="garden")
        >>> claim = m.claim("hall", "north")
        >>> claim.status, m.arrive("hall", "north", "cellar"), claim.to, m.claim("hall", "north").to
        ('hypothesis', True, 'garden', 'cellar')
    """

    state: Any
    action: Any
    to: Any
    status: str
    source: str
    taken: int = 0
    refused: bool = False
    doubtful: bool = False
    refusals: int = 0
    counts: tuple[tuple[Any, int], ...] = ()
    history: Callable[[], tuple[Evidence, ...]] = field(default=_nothing, compare=False, repr=False)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Return every entry about this claim up to now, oldest first. Cost: reads them from the journal."""
        return self.history()

    @property
    def outcomes(self) -> tuple[Observed, ...]:
        """Return every place the action led to, with its count and its own evidence, most often first."""
        arrivals = [e for e in self.evidence if e.kind == "arrive"]
        return tuple(Observed(to, times, tuple(e for e in arrivals if _same(e.to, to))) for to, times in self.counts)

    def __getitem__(self, name: str) -> Any:
        """Return a field by name; "evidence" as pairs [step, quote] of what supports the destination."""
        if name == "evidence":
            return [[e.step, e.quote] for e in self.evidence if e.to is not None and _same(e.to, self.to)]
        if name in ("to", "status", "source", "taken", "refused", "doubtful", "state", "action"):
            return getattr(self, name)
        raise KeyError(name)

    def keys(self) -> list[str]:
        """Return the names for `dict(claim)`."""
        return ["to", "status", "source", "evidence", "taken"]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the evidence, without the map."""
        kept = _Kept(self.evidence)
        shown = (self.state, self.action, self.to, self.status, self.source, self.taken, self.refused)
        return Claim, (*shown, self.doubtful, self.refusals, self.counts, kept)


@dataclass(frozen=True, slots=True)
class _Kept:
    """Evidence that was read already."""

    evidence: tuple[Evidence, ...]

    def __call__(self) -> tuple[Evidence, ...]:
        return self.evidence


def _same(a: Any, b: Any) -> bool:
    """Compare two decoded values exactly."""
    return type(a) is type(b) and repr(a) == repr(b)


@dataclass(frozen=True, slots=True)
class Why:
    """The story of one claim: who said what, on what evidence, what was refuted.

    Attributes:
        state, action: what it is about.
        claim: how it stands; None when nobody ever said anything about it.
        steps: pairs (evidence, what came of it in words), oldest first; a `drop` stands here with the claims it
            doubted.

    `str(why)` is for reading.

    Example:
        >>> from surefoot.knowledge.worldmap import WorldMap
        >>> m = WorldMap().see("hall", "north", to="garden")
        >>> m.arrive("hall", "north", "cellar")
        True
        >>> print(m.why("hall", "north"))
        'north' in 'hall' leads to 'cellar' (confirmed, observed)
          1 see     'garden'  seen: a hypothesis
          2 arrive  'cellar'  observed: refutes 'garden' (hypothesis, seen)
    """

    state: Any
    action: Any
    claim: Claim | None
    steps: tuple[tuple[Evidence, str], ...] = ()

    def __str__(self) -> str:
        """Return the story as text."""
        head = f"{self.action!r} in {self.state!r}"
        if self.claim is None:
            return f"{head}: nothing is known"
        claim = self.claim
        notes = [claim.status, claim.source]
        notes += ["refused"] if claim.refused else []
        notes += ["doubtful: to be checked again"] if claim.doubtful else []
        where = f"leads to {claim.to!r}" if claim.to is not None else "leads nobody knows where"
        lines = [f"{head} {where} ({', '.join(notes)})"]
        width = max((len(_shown(e)) for e, _ in self.steps), default=0)
        for e, words in self.steps:
            extra = [f"by {e.by}" for _ in [0] if e.by is not None]
            extra += [f"“{e.quote}”" for _ in [0] if e.quote is not None]
            extra += [f"step {e.step}" for _ in [0] if e.step is not None]
            extra += [f"from {e.origin}" for _ in [0] if e.origin is not None]
            tail = f"  [{', '.join(extra)}]" if extra else ""
            lines.append(f"  {e.seq} {e.kind:7} {_shown(e):{width}}  {words}{tail}")
        return "\n".join(lines)

    def __iter__(self) -> Iterator[tuple[Evidence, str]]:
        """Iterate over the steps."""
        return iter(self.steps)


def _shown(e: Evidence) -> str:
    return "" if e.to is None else repr(e.to)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between a map at two moments.

    Attributes:
        state, action: the claim that differs.
        what: "added", "removed" or the names of the fields that differ, joined by commas.
        before, after: the claim then and now; None when it was not there.

    Example:
        >>> from surefoot.knowledge.worldmap import WorldMap
        >>> m = WorldMap().see("hall", "north", to="garden")
        >>> _ = m.arrive("hall", "north", "cellar")
        >>> [(c.what, c.before.to, c.after.to) for c in m.diff(2, 3)]
        [('to,status,source,taken,counts', 'garden', 'cellar')]
    """

    state: Any
    action: Any
    what: str
    before: Claim | None
    after: Claim | None
