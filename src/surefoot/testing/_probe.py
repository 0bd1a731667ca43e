"""Call a world under test, and look at what it returns: the parts that a `Trial` is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from surefoot import values
from surefoot.errors import MissingExtra, ValueRejected, WorldUnavailable
from surefoot.protocols import Outcome
from surefoot.testing.laws import Law

__all__: list[str] = []

_LET_THROUGH = (WorldUnavailable, MissingExtra)
"""What a world may raise without breaking a law: it says that there is nothing to test."""
_UNKNOWN = b"?"
"""Stands for an effect that is not plain, where that law is left out."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Say what is tested, and under which laws."""

    make: Callable[[], Any]
    seeds: tuple[int, ...] = (0, 1)
    clone: Callable[[Any, Any], Any] | None = None
    offered: bool = False
    without: frozenset[Law] = frozenset()


class Broken(Exception):
    """Carry a law that was seen to be broken, with what was expected and what happened, out of nested calls."""

    def __init__(self, law: Law, expected: str, happened: str, differs: str = "", *, raised: bool = False) -> None:
        super().__init__(law.value)
        self.law, self.expected, self.happened, self.differs = law, expected, happened, differs
        self.raised = raised


class Item(NamedTuple):
    """Keep one call of a run, and its answer exactly; a reset has no action."""

    action: bytes | None
    state: bytes
    verdict: str = "accepted"
    effect: bytes = b"null"
    done: bool = False
    reason: str | None = None

    def call(self, seed: int) -> str:
        """Return the call as text."""
        return f"reset(seed={seed})" if self.action is None else f"step({shown(self.action)})"

    def answer(self) -> str:
        """Return the answer as text."""
        if self.action is None:
            return f"state {shown(self.state)}"
        parts = [self.verdict, f"state {shown(self.state)}"]
        if self.effect != b"null":
            parts.append(f"effect {shown(self.effect)}")
        if self.done:
            parts.append("done")
        if self.reason is not None:
            parts.append(f"because {self.reason!r}")
        return ", ".join(parts)

    def differs(self, other: Item) -> str:
        """Return the path to the first difference between the values of two answers."""
        for mine, theirs, root in ((self.state, other.state, "state"), (self.effect, other.effect, "effect")):
            if _UNKNOWN not in (mine, theirs) and mine != theirs:
                return first_difference(values.decode(mine), values.decode(theirs), root)
        return ""


class Choice(NamedTuple):
    """Hold what a chooser chooses from."""

    state: Any
    code: bytes
    options: Sequence[Any]
    codes: tuple[bytes, ...]


class Chooser:
    """Choose the actions of a run: at most `left` more, fewer when `pick` finds none."""

    anyway = False
    """Whether it also goes on where nothing is on offer."""

    def __init__(self, left: int) -> None:
        self.left = left

    def choose(self, choice: Choice) -> tuple[Any] | None:
        """Return the next action in a tuple, None at the end of the run."""
        if self.left < 1:
            return None
        self.left -= 1
        return self.pick(choice)

    def pick(self, choice: Choice) -> tuple[Any] | None:
        """Return the next action in a tuple, None if there is none."""
        raise NotImplementedError


@dataclass(frozen=True)
class Manner:
    """Say how a replay differs from the run: by default in nothing."""

    asks: int = 1
    copies: bool = False
    vandal: Vandal | None = None
    before: Callable[[Probe, int], None] | None = None


class Vandal:
    """Change everything that was returned and can be changed; `mend` takes it all back."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self.hits = 0

    def hurt(self, value: object, inside: frozenset[int] = frozenset()) -> None:
        """Empty every list and dict in `value`, and leave a mark there."""
        if isinstance(value, list | dict | tuple) and id(value) not in inside:
            for child in [*(value.values() if isinstance(value, dict) else value)]:
                self.hurt(child, inside | {id(value)})
        if isinstance(value, list):
            kept = [*value]
            self._undo.append(lambda: value.__setitem__(slice(None), kept))
            value[:] = ["changed by the caller"]
        elif isinstance(value, dict):
            items = {**value}
            self._undo.append(lambda: value.update(items))
            self._undo.append(value.clear)
            value.clear()
            value["changed"] = "by the caller"
        else:
            return
        self.hits += 1

    def mend(self) -> None:
        """Put everything back, the last change first."""
        while self._undo:
            self._undo.pop()()


class Kept:
    """Remember what a world returned and what it looked like then."""

    def __init__(self) -> None:
        self._things: dict[int, tuple[str, Item, Any, bytes]] = {}

    def add(self, value: Any, what: str, item: Item, code: bytes | None) -> None:
        """Remember a value that can be changed, if it is plain: it came with `item`, `code` is its encoding."""
        if not _can_change(value) or id(value) in self._things:
            return
        try:
            self._things[id(value)] = (what, item, value, code or values.encode(value))
        except ValueRejected:  # an info need not be plain; the laws about plain values speak for the rest
            return

    def changed(self, recent: int | None = None) -> Broken | None:
        """Return the breach when one of the `recent` things (all by default) looks different now."""
        things = self._things.values()
        for what, item, value, before in things if recent is None else islice(reversed(things), recent):
            try:
                after = values.encode(value)
            except ValueRejected as error:
                happened, differs = f"now it is not plain any more: {error}", ""
            else:
                if after == before:
                    continue
                happened = f"now it is {shown(after)}"
                differs = first_difference(values.decode(before), values.decode(after), "$")
            which = "reset(...)" if item.action is None else f"step({shown(item.action)})"
            return Broken(Law.KEPT, f"{what} after {which} stays {shown(before)}", happened, differs)
        return None


class Probe:
    """Call one instance of the world under test, and check the form of each answer."""

    def __init__(self, world: Any, seed: int) -> None:
        self.world, self.seed = world, seed
        self.state: Any = None
        self.place = 0
        self._known: dict[int, tuple[list[type], list[Any], tuple[bytes, ...]]] = {}
        self._pending: tuple[str, tuple[Any, ...], Mapping[str, Any]] = ("", (), {})
        missing = [name for name in ("reset", "actions", "step") if not callable(getattr(world, name, None))]
        if missing:
            raise Broken(
                Law.IS_ENVIRONMENT,
                "methods reset, actions and step",
                f"{type(world).__name__} has no method {' and no method '.join(missing)}",
            )

    @property
    def pending(self) -> str:
        """Return the call that was made last, as text."""
        name, args, options = self._pending
        told = [*map(brief, args), *(f"{key}={brief(value)}" for key, value in options.items())]
        return name if name.endswith(")") else f"{name}({', '.join(told)})"

    def call(self, law: Law, name: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Return what `function` returns; when it raises, `law` is broken."""
        self._pending = (name, args, options)
        try:
            return function(*args, **options)
        except _LET_THROUGH:
            raise
        except Exception as error:  # whatever it is, it becomes the report
            told = f"{self.pending} raised {type(error).__name__}: {error}"
            raise Broken(law, "it returns", told, raised=True) from error

    def reset(self) -> bytes:
        """Start an episode and return the encoding of its first state."""
        self.state = self.call(Law.ANSWERS, "reset", self.world.reset, seed=self.seed)
        return self.plain_state(self.state)

    def offers(self, state: Any) -> Sequence[Any]:
        """Return the actions on offer in `state`."""
        options = self.call(Law.ANSWERS, "actions", self.world.actions, state)
        if not isinstance(options, list | tuple):
            raise Broken(Law.ACTIONS, "a list or a tuple of actions", f"{self.pending} returned {brief(options)}")
        return options

    def ask(self, state: Any) -> tuple[Sequence[Any], tuple[bytes, ...]]:
        """Return the actions on offer in `state` and their encodings."""
        options = self.offers(state)
        kinds = [*map(type, options)]
        known = self._known.get(len(kinds))
        if known is not None and known[0] == kinds and known[1] == [*options]:
            return options, known[2]
        coded = []
        for place, option in enumerate(options):
            try:
                coded.append(values.encode_action(option))
            except ValueRejected as error:
                raise Broken(Law.ACTIONS, "plain actions", f"number {place} of {self.pending}: {error}") from error
        codes = tuple(coded)
        if set(kinds) <= {str, int, bool}:  # of these, equal values of one type are the same value
            self._known[len(kinds)] = (kinds, [*options], codes)
        return options, codes

    def step(self, action: Any) -> Outcome[Any]:
        """Take an action and return the outcome, which has the right form."""
        outcome = self.call(Law.OUTCOMES, "step", self.world.step, action)
        if not isinstance(outcome, Outcome):
            kind = type(outcome)
            name = kind.__name__ if kind.__name__ != "Outcome" else f"{kind.__module__}.{kind.__name__}"
            raise Broken(
                Law.OUTCOMES,
                "an Outcome: moved(...), refused(...), ended(...), faulted(...)",
                f"{self.pending} returned {brief(outcome)} ({name})",
            )
        for name, flag in (("accepted", outcome.accepted), ("done", outcome.done)):
            if type(flag) is not bool:
                raise Broken(Law.FORM, f"{name} is True or False", f"it is {flag!r}")
        for name, text in (("reason", outcome.reason), ("fault", outcome.fault)):
            if text is not None and not isinstance(text, str):
                raise Broken(Law.FORM, f"{name} is text or None", f"it is {text!r}")
        if type(outcome.info) is not dict and not isinstance(outcome.info, Mapping):
            raise Broken(Law.FORM, "info is a mapping", f"it is {brief(outcome.info)}")
        self.state = outcome.state
        return outcome

    def plain_state(self, state: Any) -> bytes:
        """Return the encoding of a state."""
        try:
            return values.encode(state)
        except ValueRejected as error:
            raise Broken(Law.STATES, "a plain value", f"{self.pending} gave {brief(state)}: {error}") from error


def own(code: bytes, options: Sequence[Any], before: Sequence[bytes]) -> Any:
    """Return the action among `options` whose encoding is `code`; a copy if it is not on offer.

    Cost: that of one comparison where `before`, what was on offer in the run, is what is on offer now.
    """
    if code in before and len(options) == len(before):
        mine, action = options[before.index(code)], _decoded(code)
        if mine == action and type(mine) is type(action):
            return mine
    return next((option for option in options if values.encode_action(option) == code), values.decode(code))


@lru_cache(maxsize=1024)
def _decoded(code: bytes) -> Any:
    """Return the value whose encoding is `code`, to compare with only."""
    return values.decode(code)


def item_of(probe: Probe, code: bytes, outcome: Outcome[Any]) -> tuple[Item, str]:
    """Return a step and its outcome as an item, and what is wrong with the effect ("" if nothing is)."""
    why = ""
    try:
        effect = values.encode(outcome.effect)
    except ValueRejected as error:
        effect = _UNKNOWN
        why = f"the effect is {brief(outcome.effect)}: {error}"
    reason = outcome.fault if outcome.fault is not None else outcome.reason
    return Item(code, probe.plain_state(outcome.state), outcome.verdict, effect, outcome.done, reason), why


def _can_change(value: object) -> bool:
    """Say whether something in `value` can be changed in place."""
    return isinstance(value, list | Mapping) or (isinstance(value, tuple) and any(map(_can_change, value)))


def shown(code: bytes) -> str:
    """Return the value whose encoding is `code` as text, cut when long."""
    return "something that is not plain" if code == _UNKNOWN else brief(values.decode(code))


def offer(state: bytes, codes: Iterable[bytes]) -> str:
    """Return what is on offer in a state as text."""
    return f"actions({shown(state)}) is [{', '.join(map(shown, codes))}]"


def brief(value: object, most: int = 120) -> str:
    """Return the repr of a value, cut in the middle when long; a value without a repr is shown by its type."""
    try:
        text = repr(value)
    except Exception as error:  # an int with too many digits, or somebody's broken __repr__
        text = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= most else f"{text[: most - 30]}…{text[-29:]}"


def first_difference(one: object, other: object, path: str) -> str:
    """Return the path to the first place where two plain values differ, "" when they are equal to the type."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            if key not in one or key not in other:
                return f"{path}[{key!r}] is in one of them only"
            if found := first_difference(one[key], other[key], f"{path}[{key!r}]"):
                return found
        return ""
    if isinstance(one, tuple | list) and isinstance(other, tuple | list) and type(one) is type(other):
        for place, (left, right) in enumerate(zip(one, other, strict=False)):
            if found := first_difference(left, right, f"{path}[{place}]"):
                return found
        return "" if len(one) == len(other) else f"{path} has {len(one)} items, then {len(other)}"
    if values.encode(one) == values.encode(other):
        return ""
    return f"{path} is the {type(one).__name__} {brief(one, 60)}, then the {type(other).__name__} {brief(other, 60)}"
