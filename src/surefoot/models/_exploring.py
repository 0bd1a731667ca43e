"""The breadth-first search behind `build`: it calls the user's functions once for each state, and keeps flat arrays."""

from __future__ import annotations

import contextlib
import copy
import enum
import inspect
import itertools
import marshal
import operator
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from surefoot import values
from surefoot.errors import BadModel, ModelError
from surefoot.models._names import name_of
from surefoot.models._progress import Report

__all__ = ["Explorer", "Reward", "arity", "pairs_of", "show"]

_BLOCK = 32
_WORDS = frozenset({str, int})
_WORDS_IN_TUPLES = _WORDS | {tuple}
_MARSHALLED = frozenset({tuple, bool, float, type(None), bytes, complex})
_KEYED = _WORDS | _MARSHALLED
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
        self._worded = True  # every tuple so far holds texts and integers only, and is its own key
        self.action_numbers: dict[str, int] = {}
        self.choices = array("i")
        self.action = array("i")
        self.branches = array("i")
        self.target = array("i")
        self.lower = array("d")
        self.upper: array[float] | None = None
        self._at: Any = None

    def number(self, state: Any) -> int:
        """Return the number of a state; a new one gets the next."""
        kind = type(state)
        try:
            if kind is tuple and self._worded and not set(map(type, state)) <= _WORDS:
                self._key_exactly()
            if kind in _WORDS or (kind is tuple and self._worded):
                key = state
            else:
                key = _key(state, kind) if kind in _KEYED else (kind, state)
            found = self.numbers.get(key)
        except TypeError:
            raise _unhashable(state, self._source) from None
        return self._enter(state, key) if found is None else found

    def _key_exactly(self) -> None:
        """From now on keep 1, True and 1.0 apart in tuples too: the first tuple is there that holds more than words."""
        self._worded = False
        self.numbers = {_key(key, tuple) if _is_worded(key) else key: one for key, one in self.numbers.items()}

    def _enter(self, state: Any, key: Any) -> int:
        """Return the number of a state that is not there yet."""
        try:
            hash(state)
        except TypeError:
            raise _unhashable(state, self._source) from None
        plain = _without_numpy(state)
        number = len(self.states)
        if plain is not state:
            number = self.number(plain)  # one state with Python's own numbers
        elif number == self._limit:
            raise BadModel(
                f"there are more than limit={self._limit} states; {self._source()} leads to one more, {show(state)}. "
                f"Raise the limit, or see whether a state holds something that only ever grows"
            )
        else:
            self.states.append(state)
        self.numbers[key] = number
        return number

    def run(self, report: Report | None) -> None:
        """Explore until every state that was found had its turn.

        States take their turns in blocks, so that what is the same for all is done for many at once; they get their
        numbers in the same order as one by one.
        """
        done = 0
        while done < len(self.states):
            block = self.states[done : done + _BLOCK]
            self._visit(block)
            done += len(block)
            if report is not None:
                report(done, len(self.states))

    def _visit(self, block: list[Any]) -> None:
        """Call every function for the states of a block."""
        guards = None
        kinds = set(map(type, block))
        plain = kinds <= _WORDS or (self._worded and kinds <= _WORDS_IN_TUPLES)
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
            error.add_note(f"in {self._call(state, acts[-1])}" if not waits else f"in {self._first_call(state)}")
            raise
        acts, counts, lengths, pairs = asked
        self.choices.extend(counts)
        self._count(acts)
        try:
            numbers = self._numbers_of(pairs)
            self.branches.extend(lengths)
        except _Unusual:  # once more, row by row and with messages
            numbers = self._careful(block, acts, counts, lengths, pairs)
        self.target.extend(numbers)
        if self._on_choices or self._on_branches:
            self._pay(block, acts, counts, numbers)
            _check_all(guards, "reward")
        for reward in self._on_states:
            self._collect(reward, block)
            _check_all(guards, "reward")
        for name, function in self._each:
            state = None
            try:
                for state in block:
                    function(state)
            except ModelError:
                raise
            except Exception as error:
                error.add_note(f"in {name}({show(state)})")
                raise
            _check_all(guards, name)

    def _ask(self, block: list[Any], actions: Callable[[Any], Any], asked: _Asked) -> None:
        """Call `actions` and `step`, and add to the actions, how many a state has, how long rows are, and the pairs."""
        step, (acts, counts, lengths, pairs) = self._step, asked
        for state in block:
            offered = actions(state)
            if type(offered) is not list:
                offered = _listed(offered, state)
            for action in offered:
                acts.append(action)
                found = step(state, action)
                if type(found) is not list:
                    found = pairs_of(found, partial(self._call, state, action))
                pairs += found
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

    def _numbers_of(self, pairs: list[Any]) -> list[int]:
        """Keep the probabilities of many branches, and return the numbers of their targets.

        Raises:
            _Unusual: something is no pair, no number, 0, or an interval; nothing was kept.
        """
        if not pairs:
            return []
        before = len(self.lower)
        try:
            odds, afters = zip(*pairs, strict=True)
            if self.upper is not None or 0.0 in odds:
                raise _Unusual
            self.lower.extend(odds)
        except (TypeError, ValueError):
            del self.lower[before:]
            raise _Unusual from None
        kinds = set(map(type, afters))
        try:
            if kinds <= _WORDS or (kinds == {tuple} and self._all_worded(afters)):
                return self._number_all(afters)
            keys: Sequence[Any] = ()
            if kinds == {tuple}:
                with contextlib.suppress(ValueError):  # a tuple with an object in it
                    keys = list(map(marshal.dumps, afters, itertools.repeat(2)))
            if not keys:
                return [self.number(after) for after in afters]
            for key, after in dict(zip(keys, afters, strict=True)).items():
                if key not in self.numbers:
                    self._enter(after, key)
            return list(map(self.numbers.__getitem__, keys))
        except BadModel:
            del self.lower[before:]
            raise _Unusual from None

    def _all_worded(self, afters: Sequence[Any]) -> bool:
        """Say whether all tuples until now, and these too, hold texts and integers only."""
        if self._worded and not set(map(type, itertools.chain.from_iterable(afters))) <= _WORDS:
            self._key_exactly()
        return self._worded

    def _number_all(self, afters: Sequence[Any]) -> list[int]:
        """Return the numbers of states that are their own keys; new ones get the next."""
        fresh = dict.fromkeys(itertools.filterfalse(self.numbers.__contains__, afters))
        first = len(self.states)
        if self._limit is not None and first + len(fresh) > self._limit:
            return [self.number(after) for after in afters]  # until there is one too many
        self.numbers.update(zip(fresh, range(first, first + len(fresh)), strict=True))
        self.states.extend(fresh)
        return list(map(self.numbers.__getitem__, afters))

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
                    numbers.append(self.number(after))
                    if self.upper is None and isinstance(odd, tuple):
                        self.upper = self.lower[:]
                    self.lower.append(low)
                    if self.upper is not None:
                        self.upper.append(high)
            self.branches.append(len(numbers) - before)
        return numbers

    def _pay(self, block: list[Any], acts: list[Any], counts: list[int], numbers: list[int]) -> None:
        """Call the rewards of choices and of branches."""
        states = [state for state, count in zip(block, counts, strict=True) for _ in range(count)]
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
        before = len(reward.numbers)
        try:
            reward.numbers.extend(map(reward.function, *columns))
        except Exception as error:
            place = len(reward.numbers) - before
            arguments = ", ".join(show(column[place]) for column in columns)
            try:
                paid = reward.function(*(column[place] for column in columns))
            except Exception:  # it is the function's own error
                error.add_note(f"in reward {reward.name!r} of ({arguments})")
                raise error from None
            raise BadModel(
                f"reward {reward.name!r} of ({arguments}) is {paid!r}: a number is wanted; for several reward models "
                f"give reward={{name: function}}"
            ) from error

    def _count(self, acts: list[Any]) -> None:
        """Keep the numbers of the actions of many choices."""
        if self._actions is None:
            self.action.extend([0] * len(acts))
            return
        before = len(self.action)
        try:
            self.action.extend(map(self.action_numbers.__getitem__, acts))
            return
        except (KeyError, TypeError):  # one that is new, or no text
            del self.action[before:]
        names = acts if set(map(type, acts)) <= {str} else [action_name_of(action) for action in acts]
        for name in dict.fromkeys(names):
            self.action_numbers.setdefault(name, len(self.action_numbers))
        self.action.extend(map(self.action_numbers.__getitem__, names))

    def _ends(self, odd: Any) -> tuple[float, float]:
        """Return the ends of a probability; they are equal where it is no interval."""
        try:
            low, high = odd if isinstance(odd, tuple) else (odd, odd)
            return float(low), float(high)
        except (TypeError, ValueError):
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


def _key(state: Any, kind: type) -> Any:
    """Return a key under which 1, True, 1.0 and (1,), (True,) stay apart."""
    try:
        return marshal.dumps(state, 2)
    except ValueError:  # a tuple with an object in it
        return kind, state


def _is_worded(key: Any) -> bool:
    """Say whether a key is a tuple of texts and integers, and so the state itself."""
    return type(key) is tuple and set(map(type, key)) <= _WORDS


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
    if type(state) is tuple and not set(map(type, state)) <= _PLAIN:
        items = tuple(map(_without_numpy, state))
        return state if all(map(operator.is_, items, state)) else items
    return state


def _is_plain(state: Any) -> bool:
    """Say whether nothing in a state can change."""
    kind = type(state)
    if kind in _PLAIN or isinstance(state, enum.Enum):
        return True
    parameters = getattr(kind, "__dataclass_params__", None)
    if isinstance(state, tuple | frozenset):
        parts: Any = state
    elif parameters is not None and parameters.frozen:
        parts = [getattr(state, field) for field in kind.__dataclass_fields__]
    else:
        return False
    return set(map(type, parts)) <= _PLAIN or all(map(_is_plain, parts))


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
