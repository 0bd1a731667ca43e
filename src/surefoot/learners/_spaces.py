"""All programs of edits that explain what was seen of some accepted calls, kept small.

A program is a set of edits whose places do not contain one another, each of which can be made in every call. A `Space`
holds what is common to all programs that explain all the calls seen:

- the *fits*: (kind of edit, place) whose value, call by call, is one constant, or equal to an argument or a part of the
  state. Equality over all calls is kept as labels: quantities that agreed in every call have the same label, and a call
  can only split labels. So a fit and a source agree in every call exactly when their labels are equal.
- the *demands*: for each part that changed in a call, the places of which one must be edited to explain that.

Both only shrink, by intersection, whatever the order of the calls; a space never holds more than its first call had.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from surefoot import values
from surefoot.learners._parts import ABSENT, children, get, is_number, kind_of, same
from surefoot.learners.effects import Arg, Edit, Field, _diff, array_edit, in_order, step_between

__all__: list[str] = []  # the parts of an action model; nothing here is public

Place = tuple[str | int | Arg, ...]
Fit = tuple[str, Place]
"""A kind of edit ("set", "delete", "step", "tally", "append", "insert", "remove") and a place."""
Source = tuple[str, Arg | Place]
"""How a value is read ("=": as it is, "+": as a number, "-": as its negative), and where."""

LARGEST = 2000
"""The most places that a call may offer; larger states are not learned from."""
NUMBERS = ("step", "tally")
_VARIES = ("varies", None)
"""Held by a fit that has had two values; compare its first item: copies are not the same object."""
UP = {"step": "add", "tally": "gain"}
_DOWN = {"step": "subtract", "tally": "lose"}


class TooLarge(Exception):
    """A call offers more than `LARGEST` places."""


class Undetermined(Exception):
    """Programs that explain all that was seen differ about a call."""


class Move:
    """One accepted call: the state before and after, and the arguments, all plain and its own.

    Args:
        before: the state that sources and changed numbers are read from.
        args: the arguments.
        after: what the edits make.
        base: what they make it from: the state before, or `ABSENT` for an effect that is told as a value of its own.
    """

    def __init__(self, before: Any, args: Mapping[str, Any], after: Any, base: Any) -> None:
        self.before, self.args, self.after, self.base = before, args, after, base
        self.steps = _steps(args)
        self.edits: list[Edit] = []
        if base is ABSENT:
            self._build(after, ())
        else:
            _diff(base, after, (), self.edits)

    def _build(self, part: Any, path: tuple[Any, ...]) -> None:
        """Collect the edits that make a value from nothing: one for each leaf of its objects."""
        if isinstance(part, dict) and part:
            for key, value in part.items():
                self._build(value, (*path, key))
        else:
            self.edits.append(Edit("set", path, part))

    def demands(self) -> set[frozenset[Place]]:
        """Return for each change the places of which one must be edited."""
        return {
            frozenset(place for end in range(len(edit.path) + 1) for place in places_of(edit.path[:end], self.steps))
            for edit in self.edits
        }

    def all_fits(self) -> list[Fit]:
        """Return every fit that could be read off this call alone."""
        found: list[Fit] = []
        for path, a, b in _pairs(self.base, self.after, ()):
            kinds = ["set"] if b is not ABSENT else []
            if a is not ABSENT and b is ABSENT:
                kinds.append("delete")
            if self.base is not ABSENT:
                kinds += [
                    kind for kind in ("step", "tally", "append", "insert", "remove") if _fit(kind, a, b) is not ABSENT
                ]
            found += [(kind, place) for place in places_of(path, self.steps) for kind in kinds]
            if len(found) > LARGEST:
                raise TooLarge
        return found

    def all_sources(self) -> list[Source]:
        """Return every way to read a value in this call."""
        found: list[Source] = []
        for name, value in self.args.items():
            found += _readings(value, Arg(name))
            found += [s for path, part in _nodes(value, ()) if path for s in _readings(part, Arg(name, path))]
        if self.base is not ABSENT:
            for path, part in _nodes(self.before, ()):
                for place in places_of(path, self.steps):
                    found += _readings(part, place)
                if len(found) > 3 * LARGEST:
                    raise TooLarge
        return found

    def fit(self, fit: Fit) -> Any:
        """Return what an edit's value is in this call, `ABSENT` when no such edit explains it."""
        kind, place = fit
        path = resolved(place, self.args)
        if path is None:
            return ABSENT
        return _fit(kind, get(self.base, path), get(self.after, path))

    def source(self, source: Source) -> Any:
        """Return what a source holds in this call, `ABSENT` when it is not there."""
        return read(source, self.before, self.args)

    def described(self) -> bytes:
        """Return what changed as text, with arguments in place of what they equal; the same for like changes."""
        alike = {_key("=", value): Arg(name) for name, value in sorted(self.args.items(), reverse=True)}
        told = []
        for edit in self.edits:
            path = tuple((self.steps.get((type(step), step)) or (step,))[0] for step in edit.path)
            value = edit.value
            if type(value) in (str, int, float) and edit.do in ("set", "append", "insert", "remove"):
                value = alike.get(_key("=", value), value)
            told.append(str(Edit(edit.do, path, value)))
        return " and ".join(told).encode() or b"nothing changes"


class Choice(NamedTuple):
    """One edit that a program may hold, and the label or constant behind it."""

    kind: str
    place: Place
    value: Any

    def edit(self) -> Edit:
        """Return it as an edit."""
        value, kind = self.value, self.kind
        if isinstance(value, Taken):
            do = (_DOWN if value.negative else UP).get(kind, kind)
            return Edit(do, self.place, value.source if isinstance(value.source, Arg) else Field(value.source))
        if kind in NUMBERS:
            return Edit((UP if value >= 0 else _DOWN)[kind], self.place, abs(value))
        return Edit(kind, self.place, None if kind == "delete" else value)

    def rank(self) -> tuple[Any, ...]:
        """Return how plain it is: deep places first, then places by argument, then the kind, then the value."""
        taken = isinstance(self.value, Taken)
        way = (0 if isinstance(self.value.source, Arg) else 2) if taken else 1
        args = sum(isinstance(step, Arg) for step in self.place)
        order = ("delete", "step", "tally", "append", "insert", "remove", "set").index(self.kind)
        return -len(self.place), -args, order, way, str(self.edit())


@dataclass(frozen=True)
class Taken:
    """A value read from a source."""

    source: Arg | Place
    negative: bool


class Space:
    """The programs that explain all calls of some kind; see the module."""

    __slots__ = ("_choices", "_reads", "demands", "failed", "fits", "held", "labels", "times")

    def __init__(self) -> None:
        """Start with no calls: any program explains that."""
        self.times = 0
        self.failed = False
        self.fits: dict[Fit, int] = {}
        self.held: dict[Fit, tuple[Any, Any]] = {}  # (key, value) of a fit's only value so far
        self.labels: dict[Source, int] = {}
        self.demands: set[frozenset[Place]] = set()
        self._choices: dict[Place, list[Choice]] | None = None
        self._reads: bool | None = None

    def add(self, move: Move) -> None:
        """Keep the programs that explain one more call. Cost: linear in what is left, at first in the state."""
        self.times += 1
        if self.failed:
            return
        try:
            if self.times == 1:
                self.fits = dict.fromkeys(move.all_fits(), 0)
                self.labels = dict.fromkeys(move.all_sources(), 0)
        except TooLarge:
            self.fail()
            return
        first = self.times == 1
        fresh: dict[Any, int] = {}
        fits: dict[Fit, int] = {}
        for fit, label in self.fits.items():
            value = move.fit(fit)
            if value is ABSENT:
                self.held.pop(fit, None)
                continue
            key = _key("+" if fit[0] in NUMBERS else "=", value)
            fits[fit] = fresh.setdefault((label, key), len(fresh))
            if first:
                self.held[fit] = (key, value)
            elif self.held[fit][0] != key:
                self.held[fit] = _VARIES
        labels: dict[Source, int] = {}
        for source, label in self.labels.items():
            value = move.source(source)
            if value is not ABSENT:
                labels[source] = fresh.setdefault((label, _key(source[0], value)), len(fresh))
        self._settle(fits, labels, self.demands | move.demands())

    def merge(self, other: Space) -> None:
        """Keep the programs that explain the calls of both."""
        if not other.times:
            return
        if not self.times:
            for name in ("times", "failed"):
                setattr(self, name, getattr(other, name))
            self.fits, self.held, self.labels = dict(other.fits), dict(other.held), dict(other.labels)
            self.demands, self._choices, self._reads = set(other.demands), None, None
            return
        self.times += other.times
        if self.failed or other.failed:
            self.fail()
            return
        fresh: dict[Any, int] = {}
        for fit in self.fits:
            if fit in other.fits and self.held[fit][0] != other.held[fit][0]:
                self.held[fit] = _VARIES
        fits = {
            fit: fresh.setdefault((label, other.fits[fit]), len(fresh))
            for fit, label in self.fits.items()
            if fit in other.fits
        }
        labels = {
            source: fresh.setdefault((label, other.labels[source]), len(fresh))
            for source, label in self.labels.items()
            if source in other.labels
        }
        self._settle(fits, labels, self.demands | other.demands)

    def fail(self) -> None:
        """Hold no program any more."""
        self.failed = True
        self.fits, self.held, self.labels, self.demands, self._choices = {}, {}, {}, set(), {}

    def _settle(self, fits: dict[Fit, int], labels: dict[Source, int], demands: set[frozenset[Place]]) -> None:
        """Drop the fits that nothing explains, the sources that explain nothing, and what the demands no longer say."""
        by_label: dict[int, list[Source]] = {}
        for source, label in labels.items():
            by_label.setdefault(label, []).append(source)
        self.fits = {
            fit: label
            for fit, label in fits.items()
            if self.held[fit][0] != _VARIES[0] or any(_explains(source, fit) for source in by_label.get(label, ()))
        }
        self.held = {fit: self.held[fit] for fit in self.fits}
        used = set(self.fits.values())
        self.labels = {source: label for source, label in labels.items() if label in used}
        able = {place for _, place in self.fits}
        left = {demand & able for demand in demands}
        if frozenset() in left:
            self.fail()
            return
        self.demands = {demand for demand in left if not any(other < demand for other in left)}
        self._choices, self._reads = None, None

    # -- reading ------------------------------------------------------------------------------------------------------

    def choices(self) -> dict[Place, list[Choice]]:
        """Return every edit that a program may hold, by place."""
        if self._choices is None:
            by_label: dict[int, list[Source]] = {}
            for source, label in self.labels.items():
                by_label.setdefault(label, []).append(source)
            found: dict[Place, list[Choice]] = {}
            for fit, label in self.fits.items():
                here = found.setdefault(fit[1], [])
                held = self.held[fit]
                if held[0] != _VARIES[0]:
                    here.append(Choice(fit[0], fit[1], held[1]))
                here += [
                    Choice(fit[0], fit[1], Taken(source[1], source[0] == "-"))
                    for source in by_label.get(label, ())
                    if _explains(source, fit)
                ]
            self._choices = found
        return self._choices

    def reads(self) -> bool:
        """Say whether an edit that explains a change may take its place or its value from the call."""
        if self._reads is None:
            self._reads = any(
                isinstance(choice.value, Taken) or any(isinstance(step, Arg) for step in choice.place)
                for place in {place for demand in self.demands for place in demand}
                for choice in self.choices()[place]
            )
        return self._reads

    def program(self) -> tuple[tuple[Edit, ...], bool]:
        """Return the plainest of the smallest programs, and whether it is the only one."""
        chosen: list[Choice] = []
        settled = True
        for demand in sorted(self.demands, key=lambda d: sorted(map(str, d))):
            options = sorted((c for place in demand for c in self.choices()[place]), key=Choice.rank)
            settled = settled and len(options) == 1
            if not any(choice.place in demand for choice in chosen):
                chosen.append(options[0])
        return tuple(sorted((choice.edit() for choice in chosen), key=str)), settled

    def canonical(self) -> list[Any]:
        """Return all that it holds as plain data, the same for the same calls in any order."""
        groups: dict[int, list[str]] = {}
        for fit, label in self.fits.items():
            groups.setdefault(label, []).append(f"{fit[0]} {_told(fit[1])}")
        for source, label in self.labels.items():
            groups.setdefault(label, []).append(f"{source[0]} {_told(source[1])}")
        return [
            self.times,
            self.failed,
            sorted(sorted(group) for group in groups.values()),
            sorted(
                [f"{kind} {_told(place)}", values.encode(held[1]).decode()]
                for (kind, place), held in self.held.items()
                if held[0] != _VARIES[0]
            ),
            sorted(sorted(map(_told, demand)) for demand in self.demands),
        ]


def resolved(place: Place, args: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return a place as a path of a call, None when an argument is missing or is no step of a path."""
    path: list[Any] = []
    for step in place:
        if isinstance(step, Arg):
            step = get(args, (step.name, *step.path))
            if type(step) is not str and type(step) is not int:
                return None
        path.append(step)
    return tuple(path)


def read(source: Source, before: Any, args: Mapping[str, Any]) -> Any:
    """Return what a source holds in a call, `ABSENT` when it is not there."""
    way, where = source
    if isinstance(where, Arg):
        value = get(args, (where.name, *where.path))
    else:
        path = resolved(where, args)
        value = ABSENT if path is None else get(before, path)
    if way != "=" and not is_number(value):
        return ABSENT
    return -value if way == "-" else value


def places_of(path: tuple[Any, ...], steps: Mapping[tuple[type, Any], list[Arg]]) -> Iterator[Place]:
    """Return every place that a path may stand for: each step as it is, or as an argument equal to it."""
    return product(*((step, *steps.get((type(step), step), ())) for step in path))


def _steps(args: Mapping[str, Any]) -> dict[tuple[type, Any], list[Arg]]:
    """Return the arguments that can be a step of a path, by value."""
    found: dict[tuple[type, Any], list[Arg]] = {}
    for name, value in sorted(args.items()):
        if type(value) is str or type(value) is int:
            found.setdefault((type(value), value), []).append(Arg(name))
    return found


def _nodes(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Return every part of a value with its path."""
    yield path, value
    for key, part in children(value).items():
        yield from _nodes(part, (*path, key))


def _pairs(a: Any, b: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Return every part of two values with its path; parts are paired as far as the two are alike."""
    yield path, a, b
    if a is ABSENT:
        if isinstance(b, dict):
            for key, part in b.items():
                yield from _pairs(ABSENT, part, (*path, key))
        return
    kind = kind_of(a, b)
    if kind == "object" or (kind == "array" and len(a) == len(b)):
        mine, theirs = children(a), children(b)
        for key in sorted({**mine, **theirs}, key=str):
            yield from _pairs(mine.get(key, ABSENT), theirs.get(key, ABSENT), (*path, key))


def _fit(kind: str, a: Any, b: Any) -> Any:
    """Return the value with which an edit of some kind makes `b` out of `a`, `ABSENT` when none does."""
    if kind == "set":
        return b
    if kind == "delete":
        return True if a is not ABSENT and b is ABSENT else ABSENT
    if kind == "step":
        found = step_between(a, b) if a is not ABSENT and b is not ABSENT else None
        return ABSENT if found is None else found
    if kind == "tally":
        if any(part is not ABSENT and (type(part) is not int or part <= 0) for part in (a, b)) or a is b is ABSENT:
            return ABSENT
        return (0 if b is ABSENT else b) - (0 if a is ABSENT else a)
    if kind_of(a, b) not in ("array", "object") or isinstance(a, dict) or abs(len(a) - len(b)) != 1:
        return ABSENT
    if kind == "append":
        return b[-1] if len(b) > len(a) and same(b[:-1], a) else ABSENT
    edit = array_edit(a, b, ())
    if kind == "remove":
        return edit.value if edit is not None and edit.do == "remove" else ABSENT
    if edit is None or len(b) < len(a) or not in_order(b):
        return ABSENT
    return edit.value


def _readings(value: Any, where: Arg | Place) -> list[Source]:
    return [(way, where) for way in (("=", "+", "-") if is_number(value) else ("=",))]


def _explains(source: Source, fit: Fit) -> bool:
    """Say whether a source can be the value of a fit: read in its way, and not the part itself as it was."""
    kind, place = fit
    if kind in NUMBERS:
        return source[0] != "="
    return source[0] == "=" and not (kind == "set" and source[1] == place) and kind != "delete"


def _key(way: str, value: Any) -> Any:
    """Return a value as a key: look-alikes apart, but numbers that are amounts by size."""
    if way != "=":
        return "amount", value
    if type(value) in (str, int, bool) or value is None:
        return type(value), value
    return values.encode(value)


def _told(where: Arg | Iterable[Any]) -> str:
    return str(where) if isinstance(where, Arg) else "/".join(f"{type(step).__name__}:{step}" for step in where)
