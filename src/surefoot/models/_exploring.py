"""The breadth-first search behind `build`: it calls the user's functions once for each state, and keeps flat arrays."""

from __future__ import annotations

import copy
import inspect
import marshal
import operator
from array import array
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from surefoot import values
from surefoot.errors import BadModel, ModelError
from surefoot.models._names import name_of
from surefoot.models._progress import Report

__all__ = ["Explorer", "Reward", "arity", "pairs_of", "show"]

_OFTEN = 0x3FF
_MARSHALLED = frozenset({tuple, bool, float, type(None), bytes, complex})
_PLAIN = frozenset({str, int, float, bool, complex, bytes, type(None)})


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

    def add(self, value: Any, *at: object) -> None:
        """Keep one number."""
        try:
            self.numbers.append(value)
        except TypeError:
            raise BadModel(
                f"reward {self.name!r} of {', '.join(map(show, at))} is {value!r}: a number is wanted; "
                f"for several reward models give reward={{name: function}}"
            ) from None


class Explorer:
    """Explore what can be reached, and hold the flat arrays of it.

    Args:
        step: called with a state and an action (a chain's with the state alone, if it takes one argument).
        actions: called with a state; None: a chain.
        rewards: the reward functions.
        each: called with each state when it is its turn (labels, valuations, observations), with what they are called.
        limit: how many states are allowed; None: any number.
    """

    def __init__(
        self,
        step: Callable[..., Any],
        actions: Callable[[Any], Any] | None,
        rewards: list[Reward],
        each: list[tuple[str, Callable[[Any], None]]],
        limit: int | None,
    ) -> None:
        self._step, self._actions, self._each = step, actions, each
        self._alone = actions is None and arity(step, 1) == 1
        self._on_states = [one for one in rewards if one.part == "state"]
        self._on_choices = [one for one in rewards if one.part == "choice"]
        self._on_branches = [one for one in rewards if one.part == "transition"]
        self._limit = limit
        self.states: list[Any] = []
        self.numbers: dict[Any, int] = {}
        self.action_numbers: dict[str, int] = {}
        self.choices = array("i")
        self.action = array("i")
        self.branches = array("i")
        self.target = array("i")
        self.lower = array("d")
        self.upper: array[float] | None = None

    def number(self, state: Any, source: Callable[[], str]) -> int:
        """Return the number of a state; a new one gets the next."""
        kind = type(state)
        key = state if kind is str or kind is int else _key(state, kind, source)
        found = self.numbers.get(key)
        if found is None:
            plain = _without_numpy(state)
            if plain is state:
                return self._new(state, key, source)
            found = self.numbers[key] = self.number(plain, source)  # the number is one state with Python's own
        return found

    def _new(self, state: Any, key: Any, source: Callable[[], str]) -> int:
        number = len(self.states)
        if number == self._limit:
            raise BadModel(
                f"there are more than limit={self._limit} states; {source()} leads to one more, {show(state)}. "
                f"Raise the limit, or see whether a state holds something that only ever grows"
            )
        self.numbers[key] = number
        self.states.append(state)
        return number

    def run(self, report: Report | None) -> None:
        """Explore until every state that was found had its turn."""
        states, place = self.states, 0
        while place < len(states):
            state = states[place]
            place += 1
            if report is not None and not place & _OFTEN:
                report(place, len(states))
            guard = None if type(state) is str or type(state) is int or _is_plain(state) else _Guard(state)
            self._visit(state, guard)
        if report is not None:
            report(place, place)

    def _visit(self, state: Any, guard: _Guard | None) -> None:
        """Call every function for one state."""
        doing, action = "actions", None
        try:
            offered = (None,) if self._actions is None else self._actions(state)
            if guard is not None:
                guard.check("actions")
            before = len(self.action)
            for action in self._listed(offered, state):
                doing = "step"
                found = self._step(state) if self._alone else self._step(state, action)
                if guard is not None:
                    guard.check("step", action)
                if self._actions is None and not found:
                    break  # a chain's way to say that a state is absorbing
                first, targets = len(self.target), self._row(found, state, action)
                self._count(action, len(self.target) - first)
                doing = "reward"
                for reward in self._on_choices:
                    reward.add(reward.function(state, action), state, action)
                for reward in self._on_branches:
                    for target in targets:
                        after = self.states[target]
                        paid = reward.function(state, after) if reward.short else reward.function(state, action, after)
                        reward.add(paid, state, action, after)
                if guard is not None:
                    guard.check("reward", action)
            self.choices.append(len(self.action) - before)
            action = None
            for reward in self._on_states:
                doing = "reward"
                reward.add(reward.function(state), state)
            for doing, function in self._each:  # noqa: B007  (read where an error is told)
                function(state)
            if guard is not None:
                guard.check(doing)
        except ModelError:
            raise
        except Exception as error:
            error.add_note(f"in {doing}(...) of state {show(state)}" + (f", action {action!r}" if action else ""))
            raise

    def _listed(self, offered: Any, state: Any) -> Any:
        """Return the actions of a state, or refuse what is no collection of them."""
        if isinstance(offered, list | tuple):
            return offered
        if offered is None:
            raise BadModel(f"actions({show(state)}) is None: return a list, [] where a state is absorbing")
        if isinstance(offered, str | bytes):
            raise BadModel(f"actions({show(state)}) is the text {offered!r}: return a list, such as [{offered!r}]")
        return list(offered)

    def _count(self, action: Any, branches: int) -> None:
        """Keep the number of an action, and how many branches its choice has."""
        if self._actions is None:
            self.action.append(0)
        else:
            name = action if type(action) is str else action_name_of(action)
            number = self.action_numbers.get(name)
            if number is None:
                number = self.action_numbers[name] = len(self.action_numbers)
            self.action.append(number)
        self.branches.append(branches)

    def _row(self, found: Any, state: Any, action: Any) -> list[int]:
        """Keep the branches of one choice, equal targets added up; return the targets."""
        if type(found) is not list:
            found = pairs_of(found, lambda: self._call(state, action))
        numbers, targets, odds = self.numbers, [], []
        try:
            for odd, after in found:
                kind = type(after)
                if kind is str or kind is int:
                    number = numbers.get(after)
                elif kind is tuple:
                    number = numbers.get(marshal.dumps(after, 2))
                else:
                    number = None
                if odd == 0 or odd == (0, 0):
                    continue
                if number is None:
                    number = self.number(after, lambda: self._call(state, action))
                targets.append(number)
                odds.append(odd)
        except (TypeError, ValueError):  # something is no pair, or cannot be marshalled: slowly, with messages
            return self._careful(found, state, action)
        return self._keep(targets, odds, state, action)

    def _careful(self, found: Any, state: Any, action: Any) -> list[int]:
        """Do what `_row` does, for any state and with a message for what is wrong."""
        call = lambda: self._call(state, action)  # noqa: E731
        targets, odds = [], []
        for odd, after in pairs_of(found, call):
            if odd == 0 or odd == (0, 0):
                continue
            targets.append(self.number(after, call))
            odds.append(odd)
        return self._keep(targets, odds, state, action)

    def _keep(self, targets: list[int], odds: list[Any], state: Any, action: Any) -> list[int]:
        """Append one row to the arrays."""
        if len(targets) > 1 and len(set(targets)) < len(targets):
            summed: dict[int, Any] = {}
            for target, odd in zip(targets, odds, strict=True):
                summed[target] = _added(summed[target], odd) if target in summed else odd
            targets, odds = list(summed), list(summed.values())
        try:
            if self.upper is None:
                before = len(self.lower)
                try:
                    self.lower.extend(odds)
                except TypeError:
                    del self.lower[before:]
                    if not any(isinstance(odd, tuple) for odd in odds):
                        raise
                    self.upper = self.lower[:]
            if self.upper is not None:
                for odd in odds:
                    low, high = odd if isinstance(odd, tuple) else (odd, odd)
                    self.lower.append(low)
                    self.upper.append(high)
        except (TypeError, ValueError):
            raise BadModel(
                f"{self._call(state, action)} has the probabilities {odds!r}: "
                f"numbers or pairs (lower, upper) are wanted"
            ) from None
        self.target.extend(targets)
        return targets

    def _call(self, state: Any, action: Any) -> str:
        """Return how `step` was called, for messages."""
        return f"step({show(state)})" if self._alone else f"step({show(state)}, {action!r})"


def _added(one: Any, other: Any) -> Any:
    """Return the sum of two probabilities or intervals."""
    if isinstance(one, tuple) or isinstance(other, tuple):
        low, high = one if isinstance(one, tuple) else (one, one)
        more, most = other if isinstance(other, tuple) else (other, other)
        return low + more, high + most
    return one + other


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


def _key(state: Any, kind: type, source: Callable[[], str]) -> Any:
    """Return a key under which 1, True, 1.0 and (1,), (True,) stay apart."""
    if isinstance(state, list | dict | set | bytearray):
        raise _unhashable(state, source)
    if kind in _MARSHALLED:
        try:
            if kind is tuple:
                hash(state)
            return marshal.dumps(state, 2)
        except ValueError:
            pass  # a tuple with an object in it
        except TypeError:
            raise _unhashable(state, source) from None
    try:
        hash(state)
    except TypeError:
        raise _unhashable(state, source) from None
    return kind, state


def _unhashable(state: Any, source: Callable[[], str]) -> BadModel:
    better: dict[type, str] = {list: "a tuple", dict: "a tuple of its items, sorted", set: "a frozenset"}
    return BadModel(
        f"{source()} leads to {show(state)}, which holds a {type(state).__name__} or another thing that can change: "
        f"use {better.get(type(state), 'tuples and frozen dataclasses')}"
    )


def _without_numpy(state: Any) -> Any:
    """Return a state with NumPy's numbers as Python's own; the state itself where it has none."""
    if isinstance(state, np.generic):
        return state.item()
    if type(state) is tuple:
        items = tuple(map(_without_numpy, state))
        return state if all(map(operator.is_, items, state)) else items
    return state


def _is_plain(state: Any) -> bool:
    """Say whether nothing in a state can change."""
    kind = type(state)
    if kind is tuple or kind is frozenset:
        return all(type(item) in _PLAIN or _is_plain(item) for item in state)
    return kind in _PLAIN


class _Guard:
    """Hold what a state was before the user's functions saw it."""

    def __init__(self, state: Any) -> None:
        self._state, self._hash, self._shown = state, hash(state), show(state)
        self._copy = copy.deepcopy(state)
        self._comparable = bool(self._copy == state)

    def check(self, function: str, action: Any = None) -> None:
        """Refuse a function that changed the state."""
        if hash(self._state) == self._hash and (not self._comparable or self._copy == self._state):
            return
        what = f"{function}({self._shown}{'' if action is None else f', {action!r}'})"
        raise BadModel(
            f"{what} changed the state that it was given, to {show(self._state)}: return new states, and leave the "
            f"given one as it is"
        )


def action_name_of(action: Any) -> str:
    """Return the name of an action; one that is a mapping is named by its exact encoding."""
    return values.encode_action(action).decode() if isinstance(action, Mapping) else name_of(action)


def show(value: object) -> str:
    """Return a repr that is not too long for a message."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def arity(function: Callable[..., Any], unknown: int) -> int:
    """Return how many arguments a function needs; `unknown` where Python cannot say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return unknown
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = sum(one.kind in positional and one.default is inspect.Parameter.empty for one in parameters)
    return needed or sum(one.kind in positional for one in parameters) or unknown
