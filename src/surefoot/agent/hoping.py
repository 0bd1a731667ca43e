"""Think of a whole run to all goals: over what is known, and where that is safe, over what may turn out well.

What nobody knows counts as the best that it may be: a call whose outcome is not predicted may lead to each of the
states that the plain programs not ruled out make of it, and the search picks. A run that rests on such a *hope* is
taken only if, whatever of these comes of the call, the goals are still reached in no more steps than the best run that
is known takes. So what may shorten a run is tried, and no episode is longer for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import Any, NamedTuple

from surefoot.agent.course import Stride, together

__all__ = ["ALL", "Taken", "Thought", "Whole", "think_whole"]

Node = tuple[bytes, frozenset[str]]
ALL = 32
"""A call that may lead to more states than this leads nowhere in thought.

Example:
    >>> ALL
    32
"""
_TIMES = 8
"""So many hopes that are not safe are given up before the known run is taken."""


class Whole(NamedTuple):
    """A run to all goals.

    Attributes:
        strides: its steps.
        hopes: the places in it of the steps whose outcome is hoped for, in order.
        bound: how many steps the goals take at most, whatever comes of these.
        expanded: how many pairs (state, goals reached) were looked at.

    Example:
        >>> Whole((), (), 0, 1).hopes
        ()
    """

    strides: tuple[Stride, ...]
    hopes: tuple[int, ...]
    bound: int
    expanded: int


class Taken(NamedTuple):
    """A step of a run: whether it is a hope, and the state that it is taken in, as the checks read it.

    Example:
        >>> Taken(Stride(b"0", b'"on"', b"1", ()), True, 0).hope
        True
    """

    stride: Stride
    hope: bool
    raw: Any


class _Step(NamedTuple):
    action: bytes
    to: bytes
    raw: Any
    hope: bool


class Thought:
    """What leads where, each state looked at once.

    Args:
        steps: (encoded state, state) -> (action, where it leads, that state); what is not predicted leads to `b""`.
        possible: (encoded state, state, action, most) -> (whether it may be refused, the states, encoded and as they
            are, that a call which is not predicted may lead to, at most so many).
        would: (state, goals) -> those whose check says yes.
        requires: all goals, each with those that it requires.

    Example:
        >>> def steps(key, state):
        ...     return iter([(b'"on"', b"%d" % (state + 1), state + 1), (b'"jump"', b"", None)])
        >>> def possible(key, state, action, most):
        ...     return False, [(b"%d" % to, to) for to in (state + 1, state + 3)]
        >>> thought = Thought(steps, possible, lambda state, goals: goals if state == 4 else (), {"four": ()})
        >>> [len(thought.run((b"0", 0), frozenset(), 9, 99, hopes=hopes)[0]) for hopes in (False, True)]
        [4, 2]
    """

    def __init__(
        self,
        steps: Callable[[bytes, Any], Iterator[tuple[bytes, bytes, Any]]],
        possible: Callable[[bytes, Any, bytes, int], tuple[bool, list[tuple[bytes, Any]]]],
        would: Callable[[Any, tuple[str, ...]], Iterable[str]],
        requires: Mapping[str, Iterable[str]],
    ) -> None:
        """Look at nothing yet."""
        self._step, self._possible, self._would, self._requires = steps, possible, would, requires
        self._names, self.everything = tuple(requires), frozenset(requires)
        self._known: dict[bytes, list[_Step]] = {}
        self._open: dict[bytes, list[bytes]] = {}
        self._hoped: dict[bytes, list[_Step]] = {}
        self._outcomes: dict[tuple[bytes, bytes], tuple[bool, list[tuple[bytes, Any]]]] = {}
        self._says: dict[bytes, tuple[str, ...]] = {}
        self._left: dict[Node, int] = {}

    def reached(self, key: bytes, raw: Any, before: frozenset[str]) -> frozenset[str]:
        """Return the goals that are reached where one gets to a state with some reached before."""
        says = self._says.get(key)
        if says is None:
            says = self._says[key] = tuple(self._would(raw, self._names))
        return before.union(together(says, before, self._requires)) if says else before

    def outcomes(self, key: bytes, raw: Any, action: bytes) -> tuple[bool, list[tuple[bytes, Any]]]:
        """Return whether a call that is not predicted may be refused, and all that it may lead to; none: too many."""
        found = self._outcomes.get((key, action))
        if found is None:
            refusable, thought = self._possible(key, raw, action, ALL + 1)
            found = self._outcomes[key, action] = refusable, thought if len(thought) <= ALL else []
        return found

    def _look(self, key: bytes, raw: Any) -> list[_Step]:
        """Return the known steps of a state."""
        known = self._known.get(key)
        if known is None:
            found = list(self._step(key, raw))
            known = self._known[key] = [_Step(action, to, there, False) for action, to, there in found if to]
            self._open[key] = [action for action, to, _ in found if not to]
        return known

    def _hopes(self, key: bytes, raw: Any) -> list[_Step]:
        """Return the steps of a state that may turn out well."""
        hoped = self._hoped.get(key)
        if hoped is None:
            hoped = self._hoped[key] = [
                _Step(action, to, there, True)
                for action in self._open[key]
                for to, there in self.outcomes(key, raw, action)[1]
            ]
        return hoped

    def _last(self, key: bytes, raw: Any, done: frozenset[str]) -> Iterator[_Step]:
        """Yield the steps that are not predicted, and reach all that is left whatever comes of them."""
        if len(self.everything - done) == 1:
            for action in self._open[key]:
                refusable, thought = self.outcomes(key, raw, action)
                if thought and not refusable and all(self.reached(*one, done) >= self.everything for one in thought):
                    yield _Step(action, *thought[0], False)

    def run(
        self,
        start: tuple[bytes, Any],
        done: frozenset[str],
        most: int,
        expansions: int,
        *,
        hopes: bool,
        without: Collection[tuple[bytes, bytes]] = (),
    ) -> tuple[list[Taken] | None, int]:
        """Return a shortest run to all goals of fewer than `most` steps, and how many pairs were looked at.

        Of runs of one length, one with the fewest hopes.

        Args:
            start: (encoded, as the checks read it).
            done: the goals that are reached there.
            most: how many steps are too many.
            expansions: how many pairs (state, goals reached) are looked at, at most.
            hopes: whether it may rest on what is not predicted.
            without: hopes, (state, action), that it may not rest on.
        """
        first = start[0], done
        before: dict[Node, tuple[Node, Taken] | None] = {first: None}
        best: dict[Node, tuple[int, int]] = {first: (0, 0)}
        queue: list[tuple[int, int, int, Node, Any]] = [(0, 0, 0, first, start[1])]
        closed: set[Node] = set()
        expanded = count = 0
        while queue and expanded < expansions:
            far, unsure, _, node, raw = heappop(queue)
            if node[1] >= self.everything:
                return _back(before, node), expanded
            if node in closed or far + 1 >= most:
                continue
            closed.add(node)
            expanded += 1
            key, got = node
            steps = [*self._look(key, raw), *self._last(key, raw, got), *(self._hopes(key, raw) if hopes else ())]
            for step in steps:
                if step.hope and (key, step.action) in without:
                    continue
                to = step.to, self.reached(step.to, step.raw, got)
                cost = far + 1, unsure + step.hope
                if to not in best or cost < best[to]:
                    best[to] = cost
                    goals = tuple(goal for goal in self._names if goal in to[1] and goal not in got)
                    before[to] = node, Taken(Stride(key, step.action, step.to, goals), step.hope, raw)
                    count += 1
                    heappush(queue, (*cost, count, to, step.raw))
        return None, expanded

    def within(self, start: tuple[bytes, Any], done: frozenset[str], steps: int, expansions: int) -> bool:
        """Say whether a run that is known reaches all goals from a state in no more than so many steps."""
        first = start[0], done
        before: dict[Node, Node | None] = {first: None}
        queue = deque([(first, start[1], 0)])
        expanded = 0
        while queue and expanded < expansions:
            node, raw, far = queue.popleft()
            left = 0 if node[1] >= self.everything else self._left.get(node)
            if left is not None and far + left <= steps:
                at: Node | None = node
                while at is not None:
                    self._left[at] = min(left, self._left.get(at, left))
                    at, left = before[at], left + 1
                return True
            if far >= steps:
                continue
            expanded += 1
            key, got = node
            for step in (*self._look(key, raw), *self._last(key, raw, got)):
                to = step.to, self.reached(step.to, step.raw, got)
                if to not in before:
                    before[to] = node
                    queue.append((to, step.raw, far + 1))
        return False


def think_whole(
    thought: Thought, start: tuple[bytes, Any], done: frozenset[str], *, most: int, bound: int, expansions: int
) -> tuple[Whole | None, int]:
    """Return a run to all goals of fewer than `most` steps, and how many pairs (state, goals reached) were looked at.

    A shortest one that is known; or a shorter one with hopes, where whatever comes of each the goals are reached in no
    more steps than that, or than `bound` where none is known.

    Args:
        thought: what leads where.
        start: (encoded, as the checks read it).
        done: the goals that are reached there.
        most: how many steps are too many.
        bound: how many steps would do, in the worst case.
        expansions: how many pairs each look takes in, at most.

    Cost: a few searches over what can be reached; each state is predicted for once.

    Source: Dijkstra 1959 over states and goals reached; optimism where nothing is known as in R-max, Brafman and
        Tennenholtz 2002, here within what a known run guarantees.

    Example:
        >>> def steps(key, state):
        ...     return iter([(b'"on"', b"%d" % (state + 1), state + 1), (b'"jump"', b"", None)])
        >>> def possible(key, state, action, most):
        ...     return False, [(b"%d" % to, to) for to in (state + back, state + 3)]
        >>> thought = Thought(steps, possible, lambda state, goals: goals if state == 4 else (), {"four": ()})
        >>> for back in (1, 0):  # a jump goes at least one on; it may go nowhere
        ...     thought = Thought(steps, possible, lambda state, goals: goals if state == 4 else (), {"four": ()})
        ...     found, _ = think_whole(thought, (b"0", 0), frozenset(), most=9, bound=9, expansions=99)
        ...     len(found.strides), found.hopes, found.bound
        (2, (1,), 4)
        (4, (), 4)
    """
    run, expanded = thought.run(start, done, most, expansions, hopes=True)
    if run is None:
        return None, expanded
    known, given_up = None, set[tuple[bytes, bytes]]()
    if any(taken.hope for taken in run):
        known, more = thought.run(start, done, most, expansions, hopes=False)
        expanded += more
        most, bound = (most, bound) if known is None else (len(known), len(known))
    for _ in range(_TIMES):
        unsafe = None if run is None else _unsafe(thought, done, run, bound, expansions)
        if unsafe is None:
            break
        given_up.add(unsafe)
        run, more = thought.run(start, done, most, expansions, hopes=True, without=given_up)
        expanded += more
    else:
        run = None
    run = known if run is None else run
    if run is None:
        return None, expanded
    hopes = tuple(place for place, taken in enumerate(run) if taken.hope)
    bound = bound if hopes else len(run)
    return Whole(tuple(taken.stride for taken in run), hopes, bound, expanded), expanded


def _unsafe(
    thought: Thought, done: frozenset[str], run: list[Taken], bound: int, expansions: int
) -> tuple[bytes, bytes] | None:
    """Return the first hope, (state, action), after which the goals may take more than `bound` steps; None: none."""
    for place, (stride, hope, raw) in enumerate(run):
        if hope:
            refusable, outcomes = thought.outcomes(stride.state, raw, stride.action)
            left = bound - place - 1
            ends = [(*one, thought.reached(*one, done)) for one in outcomes]
            if refusable:
                ends.append((stride.state, raw, done))
            if not all(thought.within((key, there), got, left, expansions) for key, there, got in ends):
                return stride.state, stride.action
        done = done.union(stride.goals)
    return None


def _back(before: Mapping[Node, tuple[Node, Taken] | None], node: Node) -> list[Taken]:
    """Return the steps that lead to a node."""
    run: list[Taken] = []
    link = before[node]
    while link is not None:
        run.append(link[1])
        link = before[link[0]]
    return run[::-1]
