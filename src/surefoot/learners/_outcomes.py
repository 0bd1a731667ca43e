"""What the programs of a space make of a call: its next state, that they differ, or all that it may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from surefoot.learners._parts import ABSENT, children, rebuilt, same
from surefoot.learners._spaces import NUMBERS, UP, Choice, Place, Space, Taken, Undetermined, read, resolved
from surefoot.learners.effects import Arg, applied

__all__: list[str] = []  # the parts of an action model; nothing here is public


def outcome(space: Space, before: Any, args: Mapping[str, Any], base: Any, *, careful: bool) -> Any:
    """Return what all programs of a space make of a call.

    Args:
        space: the programs.
        before: the state before the call.
        args: its arguments.
        base: what the edits are made to; see `Move`.
        careful: edits that have changed nothing so far count too.

    Raises:
        Undetermined: the programs differ, none is left, or none can be carried out.

    Cost: linear in the places that may be edited.
    """
    if space.failed or not space.times:
        raise Undetermined
    made = _call_of(space, before, args, careful=careful).outcome((), base)
    if made is ABSENT:
        raise Undetermined
    return made


def outcomes(space: Space, before: Any, args: Mapping[str, Any], base: Any, *, most: int) -> list[Any]:
    """Return what the plain programs of a space make of a call, each outcome once, the first `most`.

    The arguments are those of `outcome`. Plain is a program that edits the deepest places that explain the changes, by
    an argument or a constant rather than by a part of the state that happened to equal it. Parts are combined freely.

    Cost: linear in the places that may be edited, times `most`.
    """
    if space.failed or not space.times:
        return []
    try:
        made = _call_of(space, before, args, plain=True).outcomes((), base, most)
    except Undetermined:  # a place cannot be told
        return []
    return [one for one in made if one is not ABSENT]


def _plain(space: Space) -> dict[Place, list[Choice]]:
    """Return the edits of the plain programs by place; see `outcomes`."""
    found: dict[Place, list[Choice]] = {}
    for demand in space.demands:
        deepest = max(map(len, demand))
        for place in demand:
            if len(place) == deepest:
                choices = space.choices()[place]
                told = [c for c in choices if not isinstance(c.value, Taken) or isinstance(c.value.source, Arg)]
                found[place] = told or choices
    return found


def _call_of(
    space: Space, before: Any, args: Mapping[str, Any], *, careful: bool = False, plain: bool = False
) -> _Call:
    """Return what the programs of a space may do in a call.

    Raises:
        Undetermined: a place that may be edited cannot be told.
    """
    demands: list[frozenset[tuple[Any, ...]]] = []
    by_place: dict[Place, tuple[Any, ...]] = {}
    choices = _plain(space) if plain else space.choices()
    for place in choices if careful or plain else {place for demand in space.demands for place in demand}:
        path = resolved(place, args)
        if path is None:
            raise Undetermined
        by_place[place] = path
    for demand in space.demands:
        demands.append(frozenset(by_place[place] for place in demand if place in by_place))
    options: dict[tuple[Any, ...], list[Choice]] = {}
    for place, path in by_place.items():
        options.setdefault(path, []).extend(choices[place])
    below: dict[tuple[Any, ...], set[Any]] = {}
    for path in options:
        for end in range(len(path)):
            below.setdefault(path[:end], set()).add(path[end])
    return _Call(before, args, options, below, demands)


class Lazy(Mapping[str, Any]):
    """An object of which a part is read when it is asked for, so that it is known what an answer rests on."""


@dataclass(frozen=True)
class Overlay:
    """A lazy object with other parts."""

    under: Lazy
    parts: dict[str, Any]

    def changes(self, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
        """Return what is changed, by path; `ABSENT` for what is taken away."""
        found: dict[tuple[str, ...], Any] = {}
        for key, part in self.parts.items():
            if isinstance(part, Overlay):
                found |= part.changes((*path, key))
            elif not isinstance(part, Lazy):
                found[*path, key] = part
        return found


class _Call:
    """What the programs of a space may do in one call, by path."""

    def __init__(
        self,
        before: Any,
        args: Mapping[str, Any],
        options: Mapping[tuple[Any, ...], list[Choice]],
        below: Mapping[tuple[Any, ...], set[Any]],
        demands: list[frozenset[tuple[Any, ...]]],
    ) -> None:
        self.before, self.args, self.options, self.below, self.demands = before, args, options, below, demands

    def outcome(self, path: tuple[Any, ...], part: Any) -> Any:
        """Return what becomes of a part, when nothing above it is edited."""
        found: list[Any] = []
        for choice in self.options.get(path, ()):
            made = self._applied(choice, part)
            if made is None:
                raise Undetermined
            found.append(made[0])
        if not found or not self._forced(path):
            found.append(self._within(path, part))
        if not all(same(found[0], other) for other in found[1:]):
            raise Undetermined
        return found[0]

    def outcomes(self, path: tuple[Any, ...], part: Any, most: int) -> list[Any]:
        """Return what may become of a part, when nothing above it is edited: each outcome once, the first `most`."""
        found: list[Any] = []
        edited = [made for choice in self.options.get(path, ()) if (made := self._applied(choice, part)) is not None]
        within = [] if path in self.options and self._forced(path) else self._any_within(path, part, most)
        for made in [*(made[0] for made in edited), *within]:
            if len(found) < most and not any(same(made, other) for other in found):
                found.append(made)
        return found

    def _applied(self, choice: Choice, part: Any) -> tuple[Any] | None:
        """Return what an edit makes of a part, None where it cannot be made."""
        value = choice.value
        if isinstance(value, Taken):
            family = "+" if choice.kind in NUMBERS else "="
            value = read((family, value.source), self.before, self.args)
            if value is not ABSENT and choice.value.negative:
                value = -value
        return None if value is ABSENT else applied(UP.get(choice.kind, choice.kind), part, value)

    def _any_within(self, path: tuple[Any, ...], part: Any, most: int) -> list[Any]:
        """Return what may become of a part that is not edited itself."""
        keys = self.below.get(path)
        if not keys:
            return [part]
        parts = dict(children(part))
        texts = {type(key) is str for key in (*keys, *parts)}
        if texts != {True} and (part is ABSENT or texts != {False}):
            return []
        if not (part is ABSENT or isinstance(part, dict | list | tuple)):
            return []
        ways = [
            [(key, made) for made in self.outcomes((*path, key), parts.get(key, ABSENT), most)]
            for key in sorted(keys, key=str)
        ]
        found = []
        for made in islice(product(*ways), most):
            changed = {key: value for key, value in (parts | dict(made)).items() if value is not ABSENT}
            if texts == {False} and sorted(changed) != list(range(len(changed))):
                continue
            found.append(ABSENT if part is ABSENT and not changed else rebuilt(part, changed))
        return found

    def _forced(self, path: tuple[Any, ...]) -> bool:
        """Say whether a change can be explained in no other place."""
        above = {path[:end] for end in range(len(path))}
        return any(path in demand and demand <= above | {path} for demand in self.demands)

    def _within(self, path: tuple[Any, ...], part: Any) -> Any:
        """Return what becomes of a part that is not edited itself."""
        keys = self.below.get(path)
        if not keys:
            return part
        if isinstance(part, Lazy):
            return Overlay(
                part, {key: self.outcome((*path, key), part.get(key, ABSENT)) for key in sorted(keys, key=str)}
            )
        parts = dict(children(part))
        texts = {type(key) is str for key in (*keys, *parts)}
        if len(texts) != 1 or not (part is ABSENT or isinstance(part, dict | list | tuple)):
            raise Undetermined  # an array or a scalar where there was an object, or the other way round
        if texts == {False} and part is ABSENT:
            raise Undetermined
        for key in sorted(keys, key=str):
            made = self.outcome((*path, key), parts.get(key, ABSENT))
            if made is ABSENT:
                parts.pop(key, None)
            else:
                parts[key] = made
        if texts == {False} and sorted(parts) != list(range(len(parts))):
            raise Undetermined
        if part is ABSENT and not parts:
            return ABSENT
        return rebuilt(part, parts)
