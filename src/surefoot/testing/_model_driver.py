"""What drives an action model while its laws are checked: observations, calls, and what is compared."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from surefoot import values
from surefoot.protocols import Prediction
from surefoot.testing._contract import Broken, Finding, Untried, is_plain, shown
from surefoot.testing._probe import brief, first_difference

__all__: list[str] = []

_PROBES = 40
"""How many calls are asked about where models are compared."""


class Seen(NamedTuple):
    """What an environment did with a call, all of it encoded."""

    state: bytes
    action: str
    args: bytes
    accepted: bool
    effect: bytes
    next_state: bytes = b"null"

    @property
    def call(self) -> tuple[bytes, str, bytes]:
        """Return what it was done to."""
        return self.state, self.action, self.args

    def __str__(self) -> str:
        """Show the call that tells it."""
        return observed(self)


@lru_cache(maxsize=4096)
def observed(row: Seen) -> str:
    effect = "" if row.effect == b"null" else f", effect={shown(row.effect)}"
    after = "" if row.next_state == b"null" else f", next_state={shown(row.next_state)}"
    return f"observe({asked(row.call)}, accepted={row.accepted}{effect}{after})"


@lru_cache(maxsize=4096)
def asked(call: tuple[bytes, str, bytes]) -> str:
    state, action, args = call
    return f"{shown(state)}, {action!r}, {shown(args)}"


@dataclass
class Plan:
    """What is tested."""

    make: Callable[[], Any]
    order_free: bool | None = None
    name: str = field(init=False, default="")
    told_next: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        """Learn the model's name, and whether it claims to be free of order."""
        model = self.make()
        self.name = type(model).__name__
        self.told_next = _takes_next_state(getattr(model, "observe", None))
        if self.order_free is None:
            self.order_free = getattr(model, "order_free", False) is True


def _takes_next_state(observe: Any) -> bool:
    """Say whether a model can be told of next states."""
    if not callable(observe):
        return False
    parameters = inspect.signature(observe).parameters.values()
    return any(each.name == "next_state" or each.kind is each.VAR_KEYWORD for each in parameters)


class Driver:
    """A model, and the calls that were made to it."""

    def __init__(self, plan: Plan) -> None:
        self.model = plan.make()
        self.told_next = plan.told_next
        self.calls: list[tuple[str, str]] = []
        self.given: list[tuple[Any, bytes, str]] = []

    def broken(self, expected: str, happened: str, how: str = "") -> Broken:
        """Return the exception that tells what was found."""
        return Broken(Finding(self.calls, expected, happened, how))

    def observe(self, seen: Seen) -> Any:
        """Tell the model of an observation."""
        words = str(seen)
        state, args, effect = (self._give(code, words) for code in (seen.state, seen.args, seen.effect))
        more = {}
        if self.told_next and seen.next_state != b"null":
            more["next_state"] = self._give(seen.next_state, words)
        return self._call(words, lambda: self.model.observe(state, seen.action, args, seen.accepted, effect, **more))

    def predict(self, call: tuple[bytes, str, bytes], *, quiet: bool = False) -> Any:
        """Ask the model about a call."""
        state, action, args = call
        words = f"predict({asked(call)})"
        values_ = self._give(state, words), self._give(args, words)
        return self._call(words, lambda: self.model.predict(values_[0], action, values_[1]), quiet=quiet)

    def fingerprint(self) -> Any:
        """Ask for the fingerprint."""
        return self._call("fingerprint()", lambda: self.model.fingerprint(), quiet=True)

    def learn(self, seen: Sequence[Seen]) -> Driver:
        """Tell the model of all observations."""
        for row in seen:
            self.observe(row)
        return self

    def _give(self, code: bytes, words: str) -> Any:
        value = values.decode(code)
        self.given.append((value, code, words))
        return value

    def _call(self, words: str, call: Callable[[], Any], *, quiet: bool = False) -> Any:
        try:
            answer = call()
        except Exception as error:
            raise self.broken("it returns", f"{words} raised {type(error).__name__}: {error}") from error
        if not quiet:
            self.calls.append((words, told(answer)))
        return answer


def told(answer: Any) -> str:
    """Return an answer as text."""
    if not isinstance(answer, Prediction):
        return brief(answer)
    effects = "" if answer.effects is None else f", effects {brief(answer.effects, 40)}"
    after = "" if answer.next_state is None else f", next state {brief(answer.next_state, 40)}"
    return f"{answer.verdict}, risk {answer.risk!r}, support {answer.support}{effects}{after}"


def fields_of(answer: Any) -> dict[str, Any]:
    """Return what two predictions are compared by, copied."""
    names = ("verdict", "risk", "support", "hard", "effects", "next_state", "confidence", "rate")
    fields = {name: getattr(answer, name, None) for name in names}
    return {name: values.copy(value) if is_plain(value) else brief(value) for name, value in fields.items()}


def differs(one: Any, other: Any) -> str:
    """Return where two answers differ, to the type; "" when they are equal."""
    return first_difference(one, other, "the answer")


def probes_of(seen: Sequence[Seen]) -> list[tuple[bytes, str, bytes]]:
    """Return calls to ask about: every distinct one, or as many as there is time for."""
    calls = list(dict.fromkeys(row.call for row in seen))
    return calls[:: max(1, len(calls) // _PROBES)]


def answers_of(driver: Driver, probes: Sequence[tuple[bytes, str, bytes]]) -> list[dict[str, Any]]:
    return [fields_of(driver.predict(probe, quiet=True)) for probe in probes]


def finding(check: Callable[[Plan, Sequence[Seen]], int], plan: Plan, seen: Sequence[Seen]) -> Finding | None:
    """Return what a check finds in fewer observations, None for nothing."""
    try:
        check(plan, seen)
    except Broken as broken:
        return broken.finding
    except Untried:
        pass
    return None
