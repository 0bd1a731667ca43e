"""What the accepted calls of each action change, by case: what to keep of it, and what follows for a call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from surefoot import values
from surefoot.errors import BadArgument, ValueRejected
from surefoot.learners._cases import exact
from surefoot.learners._outcomes import outcome, outcomes
from surefoot.learners._parts import ABSENT, children, plain, same
from surefoot.learners._spaces import Move, Space, Undetermined
from surefoot.learners.effects import EffectRule, diff
from surefoot.learners.evidence import ActionEvidence
from surefoot.learners.vocabulary import MISSING
from surefoot.protocols import Prediction

__all__: list[str] = []  # the parts of an action model; nothing here is public

FEW = 8
"""Conditions with more different values than this are not tried as what an effect depends on."""
LISTED = 32
"""The most different effects that are counted for one case."""
REMEMBERED = 4096
"""How many reports are remembered, to tell their repetition; it saves time and changes nothing."""
WAITING = 8
"""The most different reports of a case that wait for its programs to be asked for; it changes nothing either."""
_SCALARS = frozenset({str, int, bool, type(None)})


class Report(NamedTuple):
    """An effect as the environment reported it, and the arguments that it may hold; none where it holds no argument."""

    effect: bytes
    args: Mapping[str, Any]
    digest: Any

    def move(self) -> Move:
        """Return it as a move that makes the effect from nothing."""
        return Move(None, self.args, values.decode(self.effect), ABSENT)


class Told(NamedTuple):
    """What an observation tells about effects.

    Attributes:
        state: the state after an accepted call, as a move from the one before; None when it was not told.
        report: the effect that the environment reported; None when it reported none.
    """

    state: Move | None
    report: Report | None


def told(state: Any, args: Mapping[str, Any], accepted: bool, effect: bytes | None, next_state: Any) -> Told | None:
    """Return what an observation tells about effects, None for nothing.

    Raises:
        ValueRejected: the next state is told, and it, the state or an argument is not plain.
        BadArgument: a refused call is told with a next state that is not the state before it.
    """
    if next_state is None and effect is None:
        return None
    move = None
    if next_state is not None:
        before, after = plain(state), plain(next_state)
        if accepted:
            try:
                move = Move(before, plain(dict(args)), after, before)
            except RecursionError:
                raise ValueRejected("next_state is nested too deep to be compared part by part") from None
        elif not same(before, after):
            raise BadArgument("next_state differs from state though the call was refused: a refusal changes nothing")
    if not accepted:
        return None
    if effect is None:
        return Told(move, None)
    scalars = _scalars(args) if args else {}
    if not scalars or _parts(effect).isdisjoint(scalars.values()):
        return Told(move, Report(effect, {}, effect))
    kinds = tuple(map(type, scalars.values()))
    digest = (effect, tuple(scalars.items()), kinds)
    if float in kinds:  # 0.0 and -0.0 are equal
        digest = (effect, tuple((name, exact(value)) for name, value in scalars.items()), kinds)
    return Told(move, Report(effect, scalars, digest))


def _scalars(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are scalars: what is reported may hold them."""
    return {
        name: value
        for name, value in args.items()
        if type(value) in _SCALARS or (type(value) is float and value - value == 0.0)
    }


@lru_cache(maxsize=256)
def _parts(effect: bytes) -> frozenset[Any]:
    """Return what an effect may have from arguments: its scalars, and the names of its parts."""
    parts: set[Any] = set()
    left = [values.decode(effect)]
    while left:
        part = left.pop()
        if isinstance(part, dict | list | tuple):
            below = children(part)
            parts.update(below)
            left += below.values()
        else:
            parts.add(part)
    return frozenset(parts)


def _summed(mine: dict[bytes, int] | None, theirs: dict[bytes, int] | None) -> dict[bytes, int] | None:
    """Return the sum of two counts, None when it counts too many different things."""
    if mine is None or theirs is None:
        return None
    both = {words: mine.get(words, 0) + theirs.get(words, 0) for words in {**mine, **theirs}}
    return both if len(both) <= LISTED else None


class _Waiting:
    """A report of a case: how often it was met since the case's programs were last asked for; whether they know it."""

    __slots__ = ("known", "report", "times")

    def __init__(self, report: Report) -> None:
        self.report, self.times, self.known = report, 1, False


class Programs:
    """The programs of one action: of all its accepted calls, by the value of one condition, and by case."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.whole = Space()
        self.cases: dict[Any, Space] = {}
        self.features: dict[Any, tuple[Any, ...]] = {}
        self.counts: dict[Any, dict[bytes, int] | None] = {}
        self._words: dict[Any, bytes] = {}  # reports that were taken in, by digest: what they changed
        self._waiting: dict[Any, dict[Any, _Waiting]] = {}  # reports by case, of which its programs are not asked yet
        self._groups: dict[int, dict[Any, Space]] | None = None
        self._sorted: set[tuple[int, Any, Any]] = set()  # (condition, value, digest) that is in a group

    def add(self, key: Any, features: tuple[Any, ...], move: Move) -> bytes:
        """Take in an accepted call; return in words what it changed."""
        if key not in self.cases:
            self.cases[key] = Space()
            self.features[key] = features
            self.counts[key] = {}
        spaces = [self.whole, self.cases[key]]
        if self._groups is not None:
            spaces += self._grouped(features).values()
        for known in spaces:
            known.add(move)
        words = move.described()
        self._count(key, words)
        if self.whole.failed and self._groups is None:
            self._group()
        return words

    def add_report(self, key: Any, features: tuple[Any, ...], report: Report) -> None:
        """Take in an accepted call that told its effect.

        A report that was met before narrows no space down that has it already: it is only counted. The programs of one
        case are worked out when they are asked for.
        """
        digest = report.digest
        words = self._words.get(digest)
        move = None
        if words is None:
            if len(self._words) >= REMEMBERED:
                self._words.clear()
            move = report.move()
            words = self._words[digest] = move.described()
            self.whole.add(move)
        else:
            self.whole.times += 1
        if self._groups:
            if len(self._sorted) >= REMEMBERED:
                self._sorted.clear()
            for (at, value), space in self._grouped(features).items():
                if (at, value, digest) in self._sorted:
                    space.times += 1
                else:
                    self._sorted.add((at, value, digest))
                    space.add(move or report.move())
        waiting = self._waiting.get(key)
        if waiting is None:
            self.features.setdefault(key, features)
            self.counts.setdefault(key, {})
            self._waiting[key] = {digest: _Waiting(report)}
        elif digest in waiting:
            waiting[digest].times += 1
        else:
            if len(waiting) >= WAITING:
                self.case(key)
                waiting.clear()
            waiting[digest] = _Waiting(report)
        self._count(key, words)
        if self.whole.failed and self._groups is None:
            self._group()

    def case(self, key: Any) -> Space | None:
        """Return the programs of the calls like one case; None when there were none."""
        waiting = self._waiting.get(key)
        space = self.cases.get(key)
        if waiting is None:
            return space
        if space is None:
            space = self.cases[key] = Space()
        for one in waiting.values():
            if one.times:
                if not one.known:
                    space.add(one.report.move())
                    one.known = True
                    one.times -= 1
                space.times += one.times
                one.times = 0
        return space

    def settle(self) -> None:
        """Work out the programs of each case."""
        for key in self._waiting:
            self.case(key)

    def _count(self, key: Any, words: bytes) -> None:
        counts = self.counts[key]
        if counts is not None:
            counts[words] = counts.get(words, 0) + 1
            if len(counts) > LISTED:
                self.counts[key] = None

    def _grouped(self, features: tuple[Any, ...]) -> dict[tuple[int, Any], Space]:
        """Return the spaces of the conditions' values in a case; drop conditions that decide nothing."""
        assert self._groups is not None  # asked for only then
        found = {}
        for at, group in list(self._groups.items()):
            value = exact(features[at])
            space = group.get(value)
            if space is None:
                space = group[value] = Space()
            if len(group) > FEW or any(other.failed for other in group.values()):
                del self._groups[at]
            else:
                found[at, value] = space
        return found

    def _group(self) -> None:
        """Sort the cases by the values of each condition that has few of them."""
        self.settle()
        self._groups = {}
        self._sorted.clear()
        for at in range(len(next(iter(self.features.values())))):
            group: dict[Any, Space] = {}
            for key, features in self.features.items():
                group.setdefault(exact(features[at]), Space()).merge(self.cases[key])
                if len(group) > FEW:
                    break
            else:
                if not any(space.failed for space in group.values()):
                    self._groups[at] = group

    def deciding(self) -> list[int]:
        """Return the conditions with the fewest values by which the effects are explained."""
        groups = {} if self._groups is None else self._groups
        groups = {at: group for at, group in groups.items() if not any(space.failed for space in group.values())}
        fewest = min(map(len, groups.values()), default=0)
        return sorted(at for at, group in groups.items() if len(group) == fewest)

    def reads(self, key: Any) -> bool:
        """Say whether what explains all calls, or where nothing does, those like one case, may rest on arguments."""
        if not self.whole.failed:
            return self.whole.reads()
        if not all(one.report.args for one in self._waiting.get(key, {}).values()):
            return False  # one call whose effect holds no argument is enough
        return (self.case(key) or self.whole).reads()

    def outcome(
        self, key: Any, features: tuple[Any, ...], before: Any, args: Mapping[str, Any], base: Any, careful: bool
    ) -> Any:
        """Return what an accepted call makes of `base`.

        Raises:
            Undetermined: the programs differ, or none explains what was seen.
        """
        if not careful:
            if not self.whole.failed:
                return outcome(self.whole, before, args, base, careful=False)
            found = [self._groups[at].get(exact(features[at])) for at in self.deciding()] if self._groups else []
            if found and None not in found:
                try:
                    made = [outcome(space, before, args, base, careful=False) for space in found if space is not None]
                    if all(same(made[0], other) for other in made[1:]):
                        return made[0]
                except Undetermined:
                    pass  # the case itself may know better
        space = self.case(key)
        if space is None:
            raise Undetermined
        return outcome(space, before, args, base, careful=careful)

    def outcomes(
        self, key: Any, features: tuple[Any, ...], before: Any, args: Mapping[str, Any], most: int
    ) -> list[Any]:
        """Return what an accepted call may make of a state: by all calls, else by its case, else by those like it."""
        if not self.whole.failed:
            return outcomes(self.whole, before, args, before, most=most)
        space = self.case(key)
        if space is not None:
            return outcomes(space, before, args, before, most=most)
        found: list[Any] = []
        for at in self.deciding():
            space = (self._groups or {})[at].get(exact(features[at]))
            for made in [] if space is None else outcomes(space, before, args, before, most=most):
                if len(found) < most and not any(same(made, other) for other in found):
                    found.append(made)
        return found

    def merge(self, other: Programs) -> None:
        """Take over what another one saw."""
        self.settle()
        other.settle()
        self.whole.merge(other.whole)
        for key, space in other.cases.items():
            self.cases.setdefault(key, Space()).merge(space)
            self.features.setdefault(key, other.features[key])
            self.counts[key] = _summed(self.counts.get(key, {}), other.counts[key])
        self._words, self._waiting, self._groups = {}, {}, None
        if self.whole.failed:
            self._group()

    def keep(self, keys: Collection[Any]) -> None:
        """Forget all cases but some."""
        self.settle()
        self.cases = {key: space for key, space in self.cases.items() if key in keys}
        self.features = {key: features for key, features in self.features.items() if key in keys}
        self.counts = {key: counts for key, counts in self.counts.items() if key in keys}
        self._words, self._waiting, self._groups, self.whole = {}, {}, None, Space()
        for space in self.cases.values():
            self.whole.merge(space)
        if self.whole.failed:
            self._group()

    def rules(self, action: str, names: tuple[str, ...]) -> list[EffectRule]:
        """Return what is known in words; see `EffectRule`."""
        self.settle()
        if not self.whole.failed:
            return [self._rule(action, "", self.whole, self.cases)]
        for at in self.deciding():
            found = []
            for value, space in (self._groups or {})[at].items():
                keys = [key for key, features in self.features.items() if exact(features[at]) == value]
                shown = self.features[keys[0]][at]
                found.append(self._rule(action, f"{names[at]} is {shown!r}", space, keys))
            return sorted(found, key=lambda rule: rule.when)
        found = []
        for key, space in self.cases.items():
            pairs = zip(names, self.features[key], strict=True)
            when = " and ".join(f"{name} is {'unread' if value is MISSING else repr(value)}" for name, value in pairs)
            found.append(self._rule(action, when, space, [key]))
        return sorted(found, key=lambda rule: rule.when)

    def _rule(self, action: str, when: str, space: Space, keys: Iterable[Any]) -> EffectRule:
        seen: dict[bytes, int] | None = {}
        for key in keys:
            seen = _summed(seen, self.counts[key])
        listed = sorted(
            ((words.decode(), times) for words, times in (seen or {}).items()), key=lambda item: (-item[1], item[0])
        )
        edits, settled = (None, False) if space.failed else space.program()
        return EffectRule(action, when, edits, space.times, settled, tuple(listed))

    def canonical(self) -> list[Any]:
        """Return all that is known as plain data, the same for the same calls in any order."""
        self.settle()
        rows = []
        for key, space in self.cases.items():
            shown = [None if feature is MISSING else [feature] for feature in self.features[key]]
            counts = self.counts[key]
            seen = None if counts is None else sorted([words.decode(), times] for words, times in counts.items())
            rows.append([shown, space.canonical(), seen])
        return sorted(rows, key=values.encode)


class Foresight:
    """What the accepted calls of every action change."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.states: dict[str, Programs] = {}
        self.reports: dict[str, Programs] = {}
        self.known = False  # whether there is anything

    def add(self, action: str, key: Any, features: tuple[Any, ...], told: Told) -> None:
        """Take in an accepted call."""
        self.known = True
        if told.state is not None:
            self.states.setdefault(action, Programs()).add(key, features, told.state)
        if told.report is not None:
            self.reports.setdefault(action, Programs()).add_report(key, features, told.report)

    def foresee(
        self,
        answer: Prediction,
        evidence: ActionEvidence,
        key: Any,
        features: tuple[Any, ...],
        state: Any,
        args: Mapping[str, Any],
        caution: str,
    ) -> Prediction:
        """Return a prediction that says what the call will change, as far as that is determined.

        An effect that was always the same is the seed's rule; with another caution it is not taken for granted where it
        may as well have come from the arguments.

        Raises:
            ValueRejected: next states were told of this action, and the state or an argument is not plain.
        """
        if answer.verdict != "accept" or answer.action is None:
            return answer
        more: dict[str, Any] = {}
        careful = caution == "safe"
        states, reports = self.states.get(answer.action), self.reports.get(answer.action)
        if reports is not None and (answer.effects is None or (caution != "seed" and reports.reads(key))):
            case = evidence.cases.get(key)
            all_told = reports.whole.times == evidence.accepted
            here = reports.case(key)
            if all_told or (case is not None and here is not None and here.times == case.accepted):
                try:
                    more["effects"] = values.copy(
                        reports.outcome(key, features, None, _scalars(args), ABSENT, careful or not all_told)
                    )
                    more["confidence"] = 1.0
                except Undetermined:
                    more |= {"effects": None, "confidence": 0.0}
        if states is not None:
            try:
                before = plain(state)
                after = states.outcome(key, features, before, plain(dict(args)), before, careful)
                more["next_state"] = plain(after)
                if reports is None:
                    more |= {"effects": [edit.to_json() for edit in diff(before, after)], "confidence": 1.0}
            except Undetermined:
                if reports is None:
                    more["confidence"] = 0.0
        return msgspec.structs.replace(answer, **more) if more else answer

    def possible(
        self, action: str, key: Any, features: tuple[Any, ...], state: Any, args: Mapping[str, Any], most: int
    ) -> list[Any]:
        """Return the states that an accepted call may lead to, as far as next states were told of the action."""
        states = self.states.get(action)
        if states is None:
            return []
        before = plain(state)
        return [plain(made) for made in states.outcomes(key, features, before, plain(dict(args)), most)]

    def merge(self, other: Foresight) -> None:
        """Take over what another one saw."""
        for mine, theirs in ((self.states, other.states), (self.reports, other.reports)):
            for action, programs in theirs.items():
                self.known = True
                mine.setdefault(action, Programs()).merge(programs)

    def keep(self, action: str, keys: Collection[Any]) -> None:
        """Forget all cases of an action but some."""
        for programs in (self.states, self.reports):
            if action in programs:
                programs[action].keep(keys)

    def rules(self, action: str, names: tuple[str, ...]) -> list[EffectRule]:
        """Return what is known of an action's effects on the state, or when that was not told, of its reports."""
        programs = self.states.get(action) or self.reports.get(action)
        return [] if programs is None else programs.rules(action, names)

    def canonical(self) -> list[bytes]:
        """Return all that is known, encoded; the same for the same calls in any order."""
        return [
            values.encode([kind, action, programs.canonical()])
            for kind, known in (("state", self.states), ("report", self.reports))
            for action, programs in sorted(known.items())
        ]
