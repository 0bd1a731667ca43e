"""The breadth-first search behind `build`: it calls the user's functions once for each state, and keeps flat arrays."""

from __future__ import annotations

import copy
import enum
import inspect
import itertools
import operator
import struct
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from surefoot import values
from surefoot.errors import BadModel, ModelError
from surefoot.models._names import name_of
from surefoot.models._numbering import PLAIN, WORDS, Numbering, show
from surefoot.models._progress import Report

__all__ = ["Explorer", "Reward", "arity", "pairs_of"]

_BLOCK = 24
_BRANCHES = 300  # at most in a block: some more would wake the garbage collector in each of them
_WORDS_IN_TUPLES = WORDS | {tuple}


class Reward:
    """Hold one reward function, which part of a reward model it makes, and the numbers so far.

    The part follows from how many arguments the function needs: state, choice or transition.
    """

    def __init__(self, name: str, function: Callable[..., float], decides: bool) -> None:
        self.name, self.function, self.numbers = name, function, array("d")
        needs = arity(function, 2 if decides else 1)
        parts = {1: "state", 2: "choice" if decides else "transition", 3: "transition"}
        if needs not in parts:
            wanted = "(state), (state, action) or (state, action, next)" if decides else "(state) or (state, next)"
            raise BadModel(f"reward {name!r} takes {needs} arguments; it is called with {wanted}")
        self.part = parts[needs]
        self.short = needs == 2 and not decides


class Explorer:
    """Explore what can be reached, and hold the flat arrays of it.

    Args:
        step: called with a state and an action (a chain's with the state alone, if it takes one argument).
        actions: called with a state; None: a chain.
        rewards: the reward functions.
        each: called with the states whose turn it is (labels, valuations, observations), with what they are called.
        limit: how many states are allowed; None: any number.
    """

    def __init__(
        self,
        step: Callable[..., Any],
        actions: Callable[[Any], Any] | None,
        rewards: list[Reward],
        each: list[tuple[str, Callable[[Iterator[Any]], None]]],
        limit: int | None,
    ) -> None:
        self._step, self._actions, self._each = step, actions, each
        self._alone = actions is None and arity(step, 1) == 1
        self._on_states = [one for one in rewards if one.part == "state"]
        self._on_choices = [one for one in rewards if one.part == "choice"]
        self._on_branches = [one for one in rewards if one.part == "transition"]
        self.numbering = Numbering(limit, self._source)
        self.states = self.numbering.states
        self.action_numbers: dict[str, int] = {}
        self.choices = array("i")
        self.action = array("i")
        self.branches = array("i")
        self.target = array("i")
        self.lower = array("d")
        self.upper: array[float] | None = None
        self._at: Any = None

    def run(self, report: Report | None) -> None:
        """Explore until every state that was found had its turn.

        States take their turns in blocks, so that what is the same for all is done for many at once; they get their
        numbers in the same order as one by one.
        """
        done, size = 0, _BLOCK
        while done < len(self.states):
            block, before = self.states[done : done + size], len(self.target)
            self._visit(block)
            done += len(block)
            size = max(1, min(2 * _BLOCK, _BRANCHES * len(block) // max(1, len(self.target) - before)))
            if report is not None:
                report(done, len(self.states))

    def _visit(self, block: list[Any]) -> None:
        """Call every function for the states of a block."""
        guards = None
        kinds = set(map(type, block))
        plain = kinds <= WORDS or (self.numbering.worded and kinds <= _WORDS_IN_TUPLES)
        if not plain and not all(map(_is_plain, block)):
            guards = [None if _is_plain(state) else _Guard(state) for state in block]
        asked: _Asked = ([], [], [], [])
        try:
            if guards is None and self._actions is not None:
                self._ask(block, self._actions, asked)
            else:
                self._ask_warily(block, guards, asked)
        except ModelError:
            raise
        except Exception as error:
            acts, counts, lengths, _ = asked
            waits = len(acts) == len(lengths) or self._actions is None
            state = block[len(counts)]
            call = self._first_call(state) if waits else self._call(state, acts[len(lengths)])
            error.add_note(f"in {call}")
            raise
        acts, counts, lengths, pairs = asked
        self.choices.frombytes(_packed("i", counts))
        self._count(acts)
        try:
            numbers = self._numbers_of(pairs)
            self.branches.frombytes(_packed("i", lengths))
        except _Unusual:  # once more, row by row and with messages
            numbers = self._careful(block, acts, counts, lengths, pairs)
        self.target.frombytes(_packed("i", numbers))
        if self._on_choices or self._on_branches:
            self._pay(block, acts, counts, numbers)
            _check_all(guards, "reward")
        for reward in self._on_states:
            self._collect(reward, block)
            _check_all(guards, "reward")
        for name, function in self._each:
            left = iter(block)
            try:
                function(left)
            except ModelError:
                raise
            except Exception as error:
                error.add_note(f"in {name}({show(block[-1 - operator.length_hint(left)])})")
                raise
            _check_all(guards, name)

    def _ask(self, block: list[Any], actions: Callable[[Any], Any], asked: _Asked) -> None:
        """Call `actions` and `step`, and add to the actions, how many a state has, how long rows are, and the pairs."""
        step, (acts, counts, lengths, pairs) = self._step, asked
        for state in block:
            offered = actions(state)
            if type(offered) is not list:
                offered = _listed(offered, state)
            acts += offered
            for action in offered:
                found = step(state, action)
                if type(found) is not list:
                    found = pairs_of(found, partial(self._call, state, action))
                pairs += found  # not the list itself: a function may use it again
                lengths.append(len(found))
            counts.append(len(offered))

    def _ask_warily(self, block: list[Any], guards: list[_Guard | None] | None, asked: _Asked) -> None:
        """Do what `_ask` does, for chains too, and see to it that no state is changed."""
        step, (acts, counts, lengths, pairs) = self._step, asked
        for place, state in enumerate(block):
            guard = None if guards is None else guards[place]
            before = len(acts)
            offered = _ONE if self._actions is None else _listed(self._actions(state), state)
            if guard is not None:
                guard.check("actions")
            for action in offered:
                acts.append(action)
                found = step(state) if self._alone else step(state, action)
                if guard is not None:
                    guard.check("step", action)
                if type(found) is not list:
                    found = pairs_of(found, partial(self._call, state, action))
                if self._actions is None and not found:
                    acts.pop()
                    break  # a chain's way to say that a state is absorbing
                pairs += found
                lengths.append(len(found))
            counts.append(len(acts) - before)

    def _first_call(self, state: Any) -> str:
        """Return what is called first for a state, for messages."""
        return self._call(state, None) if self._actions is None else f"actions({show(state)})"

    def _numbers_of(self, pairs: list[Any]) -> Sequence[int]:
        """Keep the probabilities of many branches, and return the numbers of their targets.

        Raises:
            _Unusual: something is no pair, no number, 0, or an interval; nothing was kept.
        """
        try:
            odds = [odd for odd, _ in pairs]
            afters = [after for _, after in pairs]
            if self.upper is not None or not all(odds):
                raise _Unusual
            lower = _packed("d", odds)
            numbers = self.numbering.number_all(afters) if afters else []
        except (TypeError, ValueError, OverflowError, struct.error):  # a BadModel too
            raise _Unusual from None
        self.lower.frombytes(lower)
        return numbers

    def _careful(
        self, block: list[Any], acts: list[Any], counts: list[int], lengths: list[int], pairs: list[Any]
    ) -> list[int]:
        """Do what `_numbers_of` does one by one: with intervals, without zeros, and with messages for what is wrong."""
        states = [state for state, count in zip(block, counts, strict=True) for _ in range(count)]
        numbers: list[int] = []
        rest = iter(pairs)
        for state, action, length in zip(states, acts, lengths, strict=True):
            self._at, before = (state, action), len(numbers)
            for odd, after in pairs_of(list(itertools.islice(rest, length)), lambda: self._call(*self._at)):
                low, high = self._ends(odd)
                if low or high:
                    numbers.append(self.numbering.number(after))
                    if self.upper is None and isinstance(odd, tuple):
                        self.upper = self.lower[:]
                    self.lower.append(low)
                    if self.upper is not None:
                        self.upper.append(high)
            self.branches.append(len(numbers) - before)
        return numbers

    def _pay(self, block: list[Any], acts: list[Any], counts: list[int], numbers: Sequence[int]) -> None:
        """Call the rewards of choices and of branches."""
        states = list(itertools.chain.from_iterable(map(itertools.repeat, block, counts)))
        for reward in self._on_choices:
            self._collect(reward, states, acts)
        if self._on_branches:
            lengths = self.branches[len(self.branches) - len(acts) :]
            rows = [row for row, length in enumerate(lengths) for _ in range(length)]
            before, after = [states[row] for row in rows], [self.states[number] for number in numbers]
            actions = [acts[row] for row in rows]
            for reward in self._on_branches:
                if reward.short:
                    self._collect(reward, before, after)
                else:
                    self._collect(reward, before, actions, after)

    def _collect(self, reward: Reward, *columns: list[Any]) -> None:
        """Call a reward function for each row of some columns, and keep what it returns."""
        paid: list[Any] = []
        try:
            paid.extend(map(reward.function, *columns))
            reward.numbers.frombytes(_packed("d", paid))
        except Exception as error:
            place = _first_odd(paid)
            arguments = ", ".join(show(column[place]) for column in columns)
            try:
                given = reward.function(*(column[place] for column in columns))
            except Exception:  # it is the function's own error
                error.add_note(f"in reward {reward.name!r} of ({arguments})")
                raise error from None
            raise BadModel(
                f"reward {reward.name!r} of ({arguments}) is {given!r}: a number is wanted; for several reward models "
                f"give reward={{name: function}}"
            ) from error

    def _count(self, acts: list[Any]) -> None:
        """Keep the numbers of the actions of many choices."""
        if self._actions is None:
            self.action.extend([0] * len(acts))
            return
        try:
            self.action.frombytes(_packed("i", list(map(self.action_numbers.__getitem__, acts))))
            return
        except (KeyError, TypeError):  # one that is new, or no text
            pass
        names = acts if set(map(type, acts)) <= {str} else [action_name_of(action) for action in acts]
        for name in dict.fromkeys(names):
            self.action_numbers.setdefault(name, len(self.action_numbers))
        self.action.extend(map(self.action_numbers.__getitem__, names))

    def _ends(self, odd: Any) -> tuple[float, float]:
        """Return the ends of a probability; they are equal where it is no interval."""
        try:
            low, high = odd if isinstance(odd, tuple) else (odd, odd)
            return float(low), float(high)
        except (TypeError, ValueError, OverflowError):
            raise BadModel(
                f"{self._call(*self._at)} has the probability {odd!r}: a number or a pair (lower, upper) is wanted"
            ) from None

    def _call(self, state: Any, action: Any) -> str:
        """Return how `step` is called, for messages."""
        return f"step({show(state)})" if self._alone else f"step({show(state)}, {action!r})"

    def _source(self) -> str:
        """Return what led to a state, for messages."""
        return "initial" if self._at is None else self._call(*self._at)


_Asked = tuple[list[Any], list[int], list[int], list[Any]]
"""Actions, how many of them each state has, how many pairs each action has, and the pairs."""


class _Unusual(Exception):
    """What is to be kept needs the slow way."""


def _packed(kind: str, numbers: Sequence[Any]) -> bytes:
    """Return numbers as an array of that kind holds them: struct takes half the time that array does."""
    return struct.pack(f"{len(numbers)}{kind}", *numbers)


def _first_odd(paid: list[Any]) -> int:
    """Return the place of the first thing that is no number; the end where there is none."""
    for place, one in enumerate(paid):
        try:
            array("d", [one])
        except Exception:
            return place
    return len(paid)


def _check_all(guards: list[_Guard | None] | None, function: str) -> None:
    """Refuse a function that changed one of the states that it was given."""
    for guard in guards or ():
        if guard is not None:
            guard.check(function)


def _listed(offered: Any, state: Any) -> Any:
    """Return the actions of a state, or refuse what is no collection of them."""
    if isinstance(offered, tuple | list):
        return offered
    if offered is None:
        raise BadModel(f"actions({show(state)}) is None: return a list, [] where a state is absorbing")
    if isinstance(offered, str | bytes):
        raise BadModel(f"actions({show(state)}) is the text {offered!r}: return a list, such as [{offered!r}]")
    return list(offered)


_ONE: list[Any] = [None]


def pairs_of(found: Any, call: Callable[[], str]) -> list[tuple[Any, Any]]:
    """Return (probability, value) pairs, or refuse what is none."""
    if isinstance(found, Mapping):
        return [(odd, value) for value, odd in found.items()]
    try:
        pairs = None if found is None or isinstance(found, str) else list(found)
    except TypeError:
        pairs = None
    if pairs is None:
        raise BadModel(f"{call()} returned {show(found)}: a list of pairs (probability, state) is wanted")
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise BadModel(f"{call()} returned {show(pair)} in its list: pairs (probability, state) are wanted")
    return pairs


def _is_plain(state: Any) -> bool:
    """Say whether nothing in a state can change."""
    kind = type(state)
    if kind in PLAIN or isinstance(state, enum.Enum):
        return True
    parameters = getattr(kind, "__dataclass_params__", None)
    if isinstance(state, tuple | frozenset):
        parts: Any = state
    elif parameters is not None and parameters.frozen:
        parts = [getattr(state, field) for field in kind.__dataclass_fields__]
    else:
        return False
    return set(map(type, parts)) <= PLAIN or all(map(_is_plain, parts))


class _Guard:
    """Hold what a state was before the user's functions saw it."""

    def __init__(self, state: Any) -> None:
        self._state, self._hash = state, hash(state)
        self._copy = copy.deepcopy(state)
        self._comparable = bool(self._copy == state)

    def check(self, function: str, action: Any = None) -> None:
        """Refuse a function that changed the state."""
        if hash(self._state) == self._hash and (not self._comparable or self._copy == self._state):
            return
        what = f"{function}({show(self._copy)}{'' if action is None else f', {action!r}'})"
        raise BadModel(
            f"{what} changed the state that it was given, to {show(self._state)}: return new states, and leave the "
            f"given one as it is"
        )


def action_name_of(action: Any) -> str:
    """Return the name of an action; one that is a mapping is named by its exact encoding."""
    return values.encode_action(action).decode() if isinstance(action, Mapping) else name_of(action)


def arity(function: Callable[..., Any], unknown: int) -> int:
    """Return how many arguments a function needs; `unknown` where Python cannot say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return unknown
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = sum(one.kind in positional and one.default is inspect.Parameter.empty for one in parameters)
    return needed or sum(one.kind in positional for one in parameters) or unknown
