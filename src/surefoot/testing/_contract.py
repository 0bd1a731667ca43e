"""What the checks of action models and of risk policies share: laws with a sentence, findings, reports, shrinking."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Generic, NoReturn, Self, TypeVar

from surefoot import values
from surefoot.errors import BadArgument, MissingExtra, ValueRejected
from surefoot.testing._probe import brief
from surefoot.testing.laws import _indented, _wrapped

__all__ = ["Broken", "ContractReport", "Finding", "Findings", "Stated", "Untried", "shown", "skip", "spoiled"]

_MOST_CALLS = 40


class Stated(StrEnum):
    """A law: a text that is its name, and a sentence that says what holds."""

    statement: str

    def __new__(cls, name: str, statement: str = "") -> Self:
        """Make a member that is its name and carries its sentence."""
        law = str.__new__(cls, name)
        law._value_ = name
        law.statement = statement
        return law


L = TypeVar("L", bound=Stated)


@dataclass(frozen=True, slots=True)
class Finding:
    """How a law was seen to be broken.

    Args:
        calls: the calls that show it, each with its answer.
        expected: what should have happened.
        happened: what did.
        how: what is special about these calls.
        shortest: whether a shorter run was looked for.
    """

    calls: Sequence[tuple[str, str]]
    expected: str
    happened: str
    how: str = ""
    shortest: bool = False

    def told(self, name: str, what: str, law: Stated, also: Sequence[Stated], always: bool) -> str:
        """Return the report."""
        parts = [f'{name} breaks the law "{law.value}".', _indented(law.statement), self._run()]
        if self.how:
            parts.append(_wrapped(self.how[0].upper() + self.how[1:] + "."))
        parts.append(f"expected: {self.expected}\nhappened: {self.happened}")
        if also:
            parts.append("Broken too:\n" + "\n".join(f'    "{other.value}"' for other in also))
        if not always:
            parts.append(f'Where this {what} cannot keep it, leave it out:\n    without=["{law.value}"]')
        return "\n\n".join(parts)

    def _run(self) -> str:
        if not self.calls:
            return "It shows before the first call."
        width = min(max(len(call) for call, _ in self.calls), 60)
        lines = [f"    {call:<{width}}  ->  {answer}" for call, answer in self.calls]
        if len(lines) > _MOST_CALLS:
            half = _MOST_CALLS // 2
            lines = [*lines[:half], f"    … {len(lines) - 2 * half} more calls …", *lines[-half:]]
        size = "1 call" if len(self.calls) == 1 else f"{len(self.calls)} calls"
        what = "shortest run found" if self.shortest else "run"
        return f"The {what} that shows it has {size}:\n" + "\n".join(lines)


class Broken(Exception):
    """Tell that a law is broken; holds the finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.happened)
        self.finding = finding


class Untried(Exception):
    """Tell that there was nothing to try a law on; holds the reason."""


@dataclass
class Findings(Generic[L]):
    """What came of trying the laws.

    Args:
        always: the laws that all others stand on.
        without: the laws to leave out.
    """

    always: frozenset[L]
    without: frozenset[L]
    tried: dict[L, int] = field(default_factory=dict)
    untried: dict[L, str] = field(default_factory=dict)
    broken: dict[L, Finding] = field(default_factory=dict)

    def run(self, laws: Mapping[L, Callable[[], int]]) -> None:
        """Try each law; once one that all stand on is broken, the others are not tried."""
        for law, check in laws.items():
            first = next(iter(self.broken), None)
            if law in self.without:
                self.untried[law] = "left out"
            elif first is not None and first in self.always:
                self.untried[law] = f"{first.value!r} is broken, mend that first"
            else:
                self._try(law, check)

    def _try(self, law: L, check: Callable[[], int]) -> None:
        try:
            self.tried[law] = check()
        except Broken as broken:
            self.broken[law] = broken.finding
        except Untried as why:
            self.untried[law] = str(why)


def left_out(without: Collection[str], laws: type[L], always: frozenset[L]) -> frozenset[L]:
    """Return the laws of these names.

    Raises:
        BadArgument: there is no such law, or it cannot be left out.
    """
    names = [law.value for law in laws]
    unknown = [name for name in ([without] if isinstance(without, str) else without) if name not in names]
    if isinstance(without, str) or unknown:
        raise BadArgument(
            f"without must be a collection of names of laws, got {unknown or without!r}; they are {names}"
        )
    chosen = frozenset(laws(name) for name in without)
    if chosen & always:
        raise BadArgument(
            f"these laws cannot be left out, all others stand on them: {sorted(law.value for law in chosen & always)}"
        )
    return chosen


@dataclass(frozen=True)
class ContractReport(Mapping[str, Any]):
    """Say which laws were tried how often, and held. True, reads as a table, and is a mapping of the counts."""

    name: str
    what: str
    counts: Mapping[str, Any]
    tried: Mapping[Any, int]
    untried: Mapping[Any, str]

    def __getitem__(self, key: str) -> Any:
        return self.counts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        """Return the table."""
        told = ((key, f"{v:.3g}" if isinstance(v, float) else v) for key, v in self.counts.items() if v is not None)
        counts = ", ".join(f"{value} {key}" for key, value in told)
        laws: list[Any] = [*self.tried, *self.untried]
        width = max(len(law.value) for law in laws)
        lines = [f"{self.name} keeps the laws of {self.what} ({counts}).", "", f"    {'law':<{width}}  tried"]
        order = {law: place for place, law in enumerate(type(laws[0]).__members__.values())}
        for law in sorted(laws, key=lambda law: order[law]):
            tried = f"{self.tried[law]:>5}" if law in self.tried else f"    -  {self.untried[law]}"
            lines.append(f"    {law.value:<{width}}  {tried}")
        return "\n".join(lines)


T = TypeVar("T")


def shortest(items: Sequence[T], breaks: Callable[[Sequence[T]], Finding | None], tries: int = 100) -> Finding | None:
    """Return the finding of a sublist of `items` from which nothing can be left out, None if all of it shows nothing.

    Source: Zeller and Hildebrandt 2002, "Simplifying and isolating failure-inducing input", section 3 (ddmin).
    """
    best, held = breaks(items), list(items)
    pieces = 2
    while best is not None and len(held) > 1 and tries > 0:
        size = -(-len(held) // pieces)
        for start in range(0, len(held), size):
            shorter = [*held[:start], *held[start + size :]]
            tries -= 1
            found = breaks(shorter)
            if found is not None:
                best, held, pieces = found, shorter, max(pieces - 1, 2)
                break
        else:
            if size == 1:
                break
            pieces = min(pieces * 2, len(held))
    return None if best is None else replace(best, shortest=True)


def shown(code: bytes) -> str:
    """Return the value whose encoding is `code` as text, cut when long."""
    return brief(values.decode(code), 60)


def is_plain(value: Any) -> bool:
    """Say whether a value is plain."""
    try:
        values.encode(value)
    except ValueRejected:
        return False
    return True


def spoiled(value: Any) -> bool:
    """Change whatever can be changed in a plain value, in place; return whether anything could."""
    changed = False
    if isinstance(value, dict):
        for item in value.values():
            changed |= spoiled(item)
        value["spoiled by the check"] = True
        return True
    if isinstance(value, list | tuple):
        for item in value:
            changed |= spoiled(item)
    if isinstance(value, list):
        value.append("spoiled by the check")
        return True
    return changed


def skip(why: str) -> NoReturn:
    """Skip the test that is running.

    Raises:
        MissingExtra: pytest is not installed.
    """
    try:
        import pytest
    except ImportError as error:
        raise MissingExtra.of("pytest", extra="testing", what="contracts") from error
    pytest.skip(why)
