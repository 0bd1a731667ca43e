"""Courses: whole runs from where an episode began to all of its goals, the shortest that is known or thought out.

With several goals a way to one at a time is a habit that may be long: what is fetched for the last goal can be fetched
on the way to the first. So the shortest run that reached all goals is kept for each start, and walked again; and when
something was learned since, a shorter one is looked for once, at the start of the next episode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from surefoot import values

__all__ = ["Course", "Courses", "Stride", "Walked", "as_data", "course_of", "from_data", "together"]


class Stride(NamedTuple):
    """One step of a course, encoded.

    Attributes:
        state, action, to: what to take where, and where it leads.
        goals: the goals that are reached there.

    Example:
        >>> Stride(b"0", b'"right"', b"1", ("one",)).goals
        ('one',)
    """

    state: bytes
    action: bytes
    to: bytes
    goals: tuple[str, ...]


Course = dict[tuple[bytes, frozenset[str]], tuple[bytes, bytes, int]]
"""{(state, goals reached so far): (action, where it leads, how many steps are left with it)}, states encoded.

Example:
    >>> course: Course = course_of([Stride(b"0", b'"right"', b"1", ("one",))], ())
    >>> course[b"0", frozenset()]
    (b'"right"', b'1', 1)
"""


def course_of(strides: Iterable[Stride], reached: Iterable[str]) -> Course:
    """Return a course to be followed, from where the goals in `reached` are reached.

    Example:
        >>> len(course_of([Stride(b"0", b'"on"', b"1", ()), Stride(b"1", b'"on"', b"2", ("two",))], ()))
        2
    """
    rows = list(strides)
    done, course = frozenset(reached), {}
    for place, stride in enumerate(rows):
        course[stride.state, done] = stride.action, stride.to, len(rows) - place
        done |= frozenset(stride.goals)
    return course


class Walked:
    """The accepted steps of an episode, without what led back to where it was with the same goals reached.

    Attributes:
        strides: the steps that are left.

    Example:
        >>> walked = Walked(b"0", ())
        >>> for state, to in ((b"0", b"1"), (b"1", b"0"), (b"0", b"2")):
        ...     walked.add(Stride(state, b'"go"', to, ()))
        >>> [stride.to for stride in walked.strides]
        [b'2']
    """

    def __init__(self, start: bytes, reached: Iterable[str]) -> None:
        """Begin."""
        self.strides: list[Stride] = []
        self._reached = frozenset(reached)
        self._places = {(start, self._reached): 0}
        self._at = [(start, self._reached)]

    def add(self, stride: Stride) -> None:
        """Add a step."""
        self._reached |= frozenset(stride.goals)
        place = stride.to, self._reached
        known = self._places.get(place)
        if known is None:
            self.strides.append(stride)
            self._at.append(place)
            self._places[place] = len(self.strides)
            return
        for left in self._at[known + 1 :]:
            del self._places[left]
        del self.strides[known:], self._at[known + 1 :]


class Courses:
    """The shortest whole run from each start, and whether something was learned since a shorter one was looked for.

    Attributes:
        best: {(map, start): (its goals, its steps)}.
        news: {map: how often an outcome was new}; `considered`: {(map, start): how often, when it was looked for}.

    Example:
        >>> courses = Courses()
        >>> courses.finished(("main", b"0"), ["one", "two"], [Stride(b"0", b'"on"', b"1", ("one", "two"))])
        >>> len(courses.of(("main", b"0"), lambda stride: True)), len(courses.of(("main", b"0"), lambda stride: False))
        (1, 0)
    """

    def __init__(self) -> None:
        """Know none."""
        self.best: dict[tuple[str, bytes], tuple[frozenset[str], tuple[Stride, ...]]] = {}
        self.news: dict[str, int] = {}
        self.considered: dict[tuple[str, bytes], int] = {}

    def of(self, place: tuple[str, bytes], holds: Callable[[Stride], bool]) -> tuple[Stride, ...]:
        """Return the course from a (map, start); one with a step that does not hold any more is forgotten."""
        strides = self.best[place][1] if place in self.best else ()
        if all(map(holds, strides)):
            return strides
        del self.best[place]
        return ()

    def finished(self, place: tuple[str, bytes], reached: Iterable[str], strides: list[Stride]) -> None:
        """Keep a run that reached all of several goals, if none is shorter; to one the map knows the shortest way."""
        goals, known = self.best.get(place, (frozenset[str](), ()))
        done = frozenset(reached)
        if len(done) > 1 and strides and (goals != done or len(strides) < len(known)):
            self.best[place] = done, tuple(strides)

    def hear(self, map_: str) -> None:
        """Take in that an outcome was new."""
        self.news[map_] = self.news.get(map_, 0) + 1

    def consider(self, place: tuple[str, bytes]) -> None:
        """Take in that a shorter course was looked for."""
        self.considered[place] = self.news.get(place[0], 0)

    def are_old(self, place: tuple[str, bytes]) -> bool:
        """Say whether something was learned since a shorter course was looked for."""
        return self.considered.get(place) != self.news.get(place[0], 0)

    def as_data(self) -> Any:
        """Return all of it as a plain value."""
        rows = [
            [map_, start.decode(), sorted(goals), [[s.action.decode(), s.to.decode()] for s in strides]]
            for (map_, start), (goals, strides) in self.best.items()
        ]
        return [rows, dict(self.news), [[map_, start.decode(), n] for (map_, start), n in self.considered.items()]]


def as_data(strides: Iterable[Stride], expanded: int, hopes: Sequence[int] = (), bound: int = 0) -> dict[str, Any]:
    """Return a course as it is recorded with a decision.

    Args:
        strides: its steps.
        expanded: how many pairs (state, goals reached) were looked at.
        hopes: the places of those whose outcome is hoped for, see `surefoot.agent.hoping`.
        bound: how many steps it takes at most, whatever comes of these.

    Example:
        >>> as_data([Stride(b"0", b'"on"', b"1", ("one",))], 7)
        {'expanded': 7, 'course': [[0, 'on', 1, ['one']]]}
    """
    decode = values.decode_known
    rows = [[decode(s.state), decode(s.action), decode(s.to), list(s.goals)] for s in strides]
    data: dict[str, Any] = {"expanded": expanded, "course": rows}
    return {**data, "hopes": list(hopes), "bound": bound} if hopes else data


def from_data(data: Mapping[str, Any]) -> list[Stride]:
    """Return a course that was recorded.

    Example:
        >>> from_data({"course": [[0, "on", 1, ["one"]]]})
        [Stride(state=b'0', action=b'"on"', to=b'1', goals=('one',))]
    """
    state, action = values.encode_state, values.encode_action
    return [Stride(state(s), action(a), state(t), tuple(goals)) for s, a, t, goals in data["course"]]


def together(says: Iterable[str], reached: frozenset[str], requires: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return the goals that are reached where their checks say yes, given those reached before and what each requires.

    Example:
        >>> together(["b", "c"], frozenset(), {"a": [], "b": ["a"], "c": []})
        ('c',)
        >>> together(["b", "c"], frozenset(["a"]), {"a": [], "b": ["a"], "c": []})
        ('b', 'c')
    """
    said, found = set(says), list[str]()
    more = True
    while more:
        more = False
        for goal, needs in requires.items():
            if goal in said and goal not in reached and goal not in found:
                if all(need in reached or need in found for need in needs):
                    found.append(goal)
                    more = True
    return tuple(found)
