"""Look several steps ahead over what was learned: a search in imagination, from the state at hand to a goal.

A step of it is one that the map knows, or one that the action model predicts to be accepted, to a state that it names.
Nothing is taken and nothing is recorded; whoever asked checks the first step like any other, and each later step again
when it comes to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from surefoot import values
from surefoot.agent.course import Stride
from surefoot.agent.experience import ExperienceFold, Running
from surefoot.agent.hoping import ALL, Thought, Whole, think_whole
from surefoot.agent.knowledge_base import Place, place_of, raw_of
from surefoot.knowledge.worldmap import WorldMap
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.vocabulary import BrokenPredicate
from surefoot.protocols import ActionModel, Call, call_of

__all__ = ["Ahead", "Leg", "Plan", "Searching", "imagine", "imagine_whole", "leads"]


class Leg(NamedTuple):
    """One step of a plan, encoded.

    Attributes:
        state, action: what to take where.
        to: where it is expected to lead; empty where that is what is to be found out.

    Example:
        >>> Leg(b"0", b'"right"', b"1").to
        b'1'
    """

    state: bytes
    action: bytes
    to: bytes


class Plan(NamedTuple):
    """A way that was thought out.

    Attributes:
        goal: what it reaches; None: it leads to the nearest call whose outcome is not predicted.
        legs: its steps, at least one.
        expanded: how many states were looked at to find it.

    Example:
        >>> Plan("one", (Leg(b"0", b'"right"', b"1"),), 1).as_data()
        {'expanded': 1, 'goal': 'one', 'legs': [[0, 'right', 1]]}
    """

    goal: str | None
    legs: tuple[Leg, ...]
    expanded: int

    def as_data(self) -> dict[str, Any]:
        """Return it as it is recorded with a decision."""
        rows = [[values.decode(part) if part else None for part in leg] for leg in self.legs]
        return {"expanded": self.expanded, "goal": self.goal, "legs": rows}


@dataclass(frozen=True, slots=True)
class Ahead:
    """What a search in imagination asks.

    Attributes:
        model: predicts; None: only what was seen is known.
        would: (state, open goals) -> those that are done in it.
        known: the map: what is on offer where one has been.
        requires: all goals, each with those that it requires; empty where no whole course is to be thought of.
        wide: how many pairs (state, goals reached) a search for a whole course looks at, at most; 0: there is none.

    Example:
        >>> from surefoot import Knowledge, WorldMap
        >>> ahead = Ahead(Knowledge().actions, lambda state, goals: (), WorldMap().see(0, "right"))
        >>> ahead.offered(0), ahead.would(0, ("one",))
        (frozenset({b'"right"'}), ())
    """

    model: ActionModel | None
    would: Callable[[Any, tuple[str, ...]], Iterable[str]]
    known: WorldMap
    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wide: int = 0

    def offered(self, state: Any) -> frozenset[bytes]:
        """Return what is on offer in a state, encoded; nothing where nobody has been."""
        return frozenset([values.encode_action(claim.action) for claim in self.known.claims(state)])


class Searching:
    """What leads where, for one search; see `imagine`.

    Args:
        ahead: what it asks.
        goals: the open goals.
        actions: encoded actions to think of, beside those that were ever accepted.
        fold: what is remembered of all episodes; `running`: of this one.

    Example:
        >>> fold, running = ExperienceFold(), Running(0, "main", b"0")
        >>> fold.runs["main", b"0", b'"add"'] = [[b"1", 1]]
        >>> ahead = Ahead(None, lambda state, goals: (), WorldMap())
        >>> list(Searching(ahead, (), [b'"add"'], fold, running).steps(b"0", 0, ()))
        [(b'"add"', b'1', 1)]
    """

    def __init__(
        self, ahead: Ahead, goals: tuple[str, ...], actions: Iterable[bytes], fold: ExperienceFold, running: Running
    ) -> None:
        self._ahead, self._goals, self._fold, self._running = ahead, goals, fold, running
        self._offered = frozenset(actions)
        self._calls = [(key, call_of(values.decode_known(key))) for key in sorted({*actions, *fold.able})]
        self._by_key = dict(self._calls)
        self._dull: set[tuple[str, str]] = set()
        self._unknown: set[tuple[bytes, bytes]] = set()
        self._states: dict[bytes, bool] = {}
        self._targets = fold.targets.get(running.map, {})

    def reached(self, key: bytes, raw: Any) -> str | None:
        """Return the first open goal that a state reaches."""
        declared = tuple(goal for goal in self._goals if goal)
        done = set(self._ahead.would(raw, declared)) if declared else set()
        return next((goal for goal in self._goals if goal in done or key in self._targets.get(goal, ())), None)

    def begin(self, raw: Any) -> None:
        """Look at what is not on offer here: what is unknown for the same reason elsewhere is not on offer there."""
        for action, call in self._calls:
            if action not in self._offered and self._ahead.model is not None:
                said = self._ahead.model.predict(raw, call.name, call.args)
                if said.verdict == "unknown":
                    self._dull.add((call.name, said.reason))

    def steps(self, key: bytes, raw: Any, barred: Container[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes, Any]]:
        """Yield (action, where it leads, that state) of a state; (action, b"", None) where that is not predicted."""
        fold, map_ = self._fold, self._running.map
        offered = self._ahead.offered(values.decode_known(key))
        for action, call in self._calls:
            if offered and action not in offered:
                continue
            triple = map_, key, action
            if (key, action) in barred or triple in fold.refused:
                continue
            runs = fold.runs.get(triple)
            if runs:
                to = runs[-1][0]
                yield action, to, raw_of(values.decode_known(to))
                continue
            if self._ahead.model is None:
                continue
            said = self._ahead.model.predict(raw, call.name, call.args)
            if said.verdict == "unknown":
                if not said.hard and (call.name, said.reason) not in self._dull:
                    self._unknown.add((key, action))
                    yield action, b"", None
            elif said.verdict == "accept":
                if said.next_state is None:
                    yield action, b"", None
                else:
                    place = place_of(said.next_state, None)
                    yield action, place.key, place.raw

    def outcomes(self, key: bytes, raw: Any, action: bytes, most: int) -> tuple[bool, list[tuple[bytes, Any]]]:
        """Return whether a call may be refused, and the states that it may lead to, encoded and as they are.

        Args:
            key: where, encoded; its steps were asked for.
            raw: the same as the predicates read it.
            action: the action, encoded.
            most: how many states are returned at most.
        """
        model, call = self._ahead.model, self._by_key[action]
        if not isinstance(model, ConservativeActionModel):
            return True, []
        places = [place_of(state, None) for state in model.possible(raw, call.name, call.args, most=most)]
        return (key, action) in self._unknown, [(place.key, place.raw) for place in places if self._is_one(place, call)]

    def _is_one(self, place: Place, call: Call) -> bool:
        """Say whether the predicates can read a state: what is only thought of may be none of the world's."""
        found = self._states.get(place.key)
        if found is None:
            assert self._ahead.model is not None  # it thought of the state
            try:
                self._ahead.model.predict(place.raw, call.name, call.args)
                found = True
            except BrokenPredicate:
                found = False
            self._states[place.key] = found
        return found


def imagine(
    ahead: Ahead,
    state: tuple[bytes, Any],
    goals: tuple[str, ...],
    actions: Sequence[bytes],
    known: tuple[ExperienceFold, Running],
    barred: Iterable[tuple[bytes, bytes]] = (),
    *,
    expansions: int = 256,
    depth: int = 24,
) -> Plan | None:
    """Return a shortest way in imagination to an open goal, or to the nearest call whose outcome is not predicted.

    Args:
        ahead: what it asks.
        state: (encoded, as the predicates read it), where the way begins.
        goals: the open goals.
        actions: encoded actions to think of, beside those that were ever accepted.
        known: what is remembered of all episodes, and of this one.
        barred: pairs (state, action), encoded, that it does not take.
        expansions: how many states are looked at, at most.
        depth: how many steps it has, at most.

    Returns:
        None where there is neither within the bounds.

    Cost: for each state that is looked at a prediction for each action that was not taken there.

    Source: breadth-first search; going to the nearest unknown is R-max, Brafman and Tennenholtz 2002, where certain
        transitions need one try.

    Example:
        >>> from surefoot import ConservativeActionModel, Vocabulary, WorldMap
        >>> model = ConservativeActionModel(Vocabulary({"always": lambda state, args: True}))
        >>> for n in range(3):
        ...     _ = model.observe(n, "add", {}, True, next_state=n + 1)
        >>> fold, running = ExperienceFold(), Running(0, "main", b"5")
        >>> ahead = Ahead(model, lambda state, goals: goals if state == 8 else (), WorldMap())
        >>> plan = imagine(ahead, (b"5", 5), ("eight",), [b'"add"'], (fold, running))
        >>> [leg.to for leg in plan.legs], plan.expanded
        ([b'6', b'7', b'8'], 3)
    """
    search, start = Searching(ahead, goals, actions, *known), state[0]
    search.begin(state[1])
    shut = frozenset(barred)
    before: dict[bytes, Leg | None] = {start: None}
    queue = deque([(start, state[1], 0)])
    unknown: Leg | None = None
    expanded = 0
    while queue and expanded < expansions:
        key, raw, far = queue.popleft()
        expanded += 1
        for action, to, reached in search.steps(key, raw, shut):
            if not to:
                unknown = unknown or Leg(key, action, b"")
            elif to not in before:
                before[to] = leg = Leg(key, action, to)
                goal = search.reached(to, reached)
                if goal is not None:
                    return Plan(goal, _way(before, leg), expanded)
                if far + 1 < depth:
                    queue.append((to, reached, far + 1))
    return None if unknown is None else Plan(None, _way(before, unknown), expanded)


def imagine_whole(
    ahead: Ahead,
    state: tuple[bytes, Any],
    actions: Sequence[bytes],
    known: tuple[ExperienceFold, Running],
    barred: Iterable[tuple[bytes, bytes]],
    *,
    most: int,
    bound: int,
) -> tuple[Whole | None, int]:
    """Return a course in imagination to all goals, of fewer than `most` steps, and how much was looked at.

    The arguments are those of `imagine`; see `surefoot.agent.hoping`.

    Example:
        >>> fold, running = ExperienceFold(), Running(0, "main", b"0")
        >>> fold.runs["main", b"0", b'"add"'], fold.able[b'"add"'] = [[b"1", 1]], None
        >>> ahead = Ahead(None, lambda state, goals: goals if state == 1 else (), WorldMap(), {"one": ()}, 99)
        >>> found, _ = imagine_whole(ahead, (b"0", 0), [b'"add"'], (fold, running), (), most=3, bound=3)
        >>> [stride.to for stride in found.strides]
        [b'1']
    """
    search, shut = Searching(ahead, (), actions, *known), frozenset(barred)
    thought = Thought(lambda key, raw: search.steps(key, raw, shut), search.outcomes, ahead.would, ahead.requires)
    return think_whole(thought, state, frozenset(known[1].reached), most=most, bound=bound, expansions=ahead.wide)


def leads(
    ahead: Ahead, stride: Stride, known: tuple[ExperienceFold, Running], *, hope: bool = False, last: bool = False
) -> bool:
    """Say whether a step of a course is one that the map knows, or that is predicted; a hope: that may turn out so.

    The last step of a course may be one that is not predicted: all that may come of it was the end.

    Example:
        >>> fold, running = ExperienceFold(), Running(0, "main", b"0")
        >>> fold.runs["main", b"0", b'"add"'] = [[b"1", 1]]
        >>> ahead = Ahead(None, lambda state, goals: (), WorldMap())
        >>> [leads(ahead, Stride(b"0", b'"add"', to, ()), (fold, running)) for to in (b"1", b"2")]
        [True, False]
    """
    search, raw = Searching(ahead, (), [stride.action], *known), raw_of(values.decode_known(stride.state))
    steps = [to for action, to, _ in search.steps(stride.state, raw, ()) if action == stride.action]
    if steps == [b""] and (hope or last):
        return stride.to in [to for to, _ in search.outcomes(stride.state, raw, stride.action, ALL)[1]]
    return stride.to in steps and not hope


def _way(before: dict[bytes, Leg | None], last: Leg) -> tuple[Leg, ...]:
    """Return the legs that lead up to and over the last one."""
    legs, leg = [last], before[last.state]
    while leg is not None:
        legs.append(leg)
        leg = before[leg.state]
    return tuple(reversed(legs))
