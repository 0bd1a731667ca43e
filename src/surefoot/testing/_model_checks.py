"""The laws of an action model, each as a function that raises `Broken`, or returns how often it was tried."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

from surefoot import values
from surefoot.protocols import Prediction
from surefoot.testing._contract import Broken, Finding, Untried, is_plain, shown, spoiled
from surefoot.testing._probe import brief, first_difference

__all__: list[str] = []

_NEVER = "an action that was never observed"
_OFTEN, _SINCE = 30, 50
_PROBES = 40
"""How many calls are asked about where models are compared."""
_ACTIONS = 6
"""How many calls are told of again and again."""
_PREFIXES = 8
"""After how many observations the fingerprint is looked at."""
_SPOILERS: tuple[Any, ...] = ({1, 2}, float("nan"), [b"bytes"], {1: "a key that is no text"})


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
        return _observed(self)


@lru_cache(maxsize=4096)
def _observed(row: Seen) -> str:
    effect = "" if row.effect == b"null" else f", effect={shown(row.effect)}"
    after = "" if row.next_state == b"null" else f", next_state={shown(row.next_state)}"
    return f"observe({_asked(row.call)}, accepted={row.accepted}{effect}{after})"


@lru_cache(maxsize=4096)
def _asked(call: tuple[bytes, str, bytes]) -> str:
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
        words = f"predict({_asked(call)})"
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


def _fields(answer: Any) -> dict[str, Any]:
    """Return what two predictions are compared by, copied."""
    names = ("verdict", "risk", "support", "hard", "effects", "next_state", "confidence", "rate")
    fields = {name: getattr(answer, name, None) for name in names}
    return {name: values.copy(value) if is_plain(value) else brief(value) for name, value in fields.items()}


def _differs(one: Any, other: Any) -> str:
    """Return where two answers differ, to the type; "" when they are equal."""
    return first_difference(one, other, "the answer")


def _probes(seen: Sequence[Seen]) -> list[tuple[bytes, str, bytes]]:
    """Return calls to ask about: every distinct one, or as many as there is time for."""
    calls = list(dict.fromkeys(row.call for row in seen))
    return calls[:: max(1, len(calls) // _PROBES)]


def _answers(driver: Driver, probes: Sequence[tuple[bytes, str, bytes]]) -> list[dict[str, Any]]:
    return [_fields(driver.predict(probe, quiet=True)) for probe in probes]


def finding(check: Callable[[Plan, Sequence[Seen]], int], plan: Plan, seen: Sequence[Seen]) -> Finding | None:
    """Return what a check finds in fewer observations, None for nothing."""
    try:
        check(plan, seen)
    except Broken as broken:
        return broken.finding
    except Untried:
        pass
    return None


# ── the form of answers ─────────────────────────────────────────────────────────────────────────────────────────────


def is_model(plan: Plan, seen: Sequence[Seen]) -> int:
    """Look for the three methods."""
    model = plan.make()
    for name in ("observe", "predict", "fingerprint"):
        if not callable(getattr(model, name, None)):
            raise Broken(Finding([], f"{name} is a method", f"{name} is {brief(getattr(model, name, 'missing'))}"))
    return 3


def answers(plan: Plan, seen: Sequence[Seen]) -> int:
    """Call everything once for each observation; `Driver` tells what raises."""
    driver = Driver(plan)
    driver.fingerprint()
    for row in seen:
        driver.predict(row.call)
        driver.observe(row)
    driver.fingerprint()
    return 2 * len(seen) + 2


def predictions(plan: Plan, seen: Sequence[Seen]) -> int:
    """Look at the type of each answer."""
    driver = Driver(plan)
    for row in seen:
        for answer in (driver.predict(row.call), driver.observe(row)):
            if not isinstance(answer, Prediction):
                raise driver.broken("a Prediction", f"{type(answer).__name__}: {brief(answer)}")
    return 2 * len(seen)


def form(plan: Plan, seen: Sequence[Seen]) -> int:
    """Look at each field of each answer."""
    driver = Driver(plan)
    for row in seen:
        for answer in (driver.predict(row.call), driver.observe(row), driver.predict(row.call)):
            for wrong, expected in _malformed(answer, row.action):
                raise driver.broken(expected, wrong)
    return 3 * len(seen)


def _malformed(answer: Prediction, action: str) -> list[tuple[str, str]]:
    """Return what is wrong with a prediction, and what would be right."""
    low, high = answer.rate if isinstance(answer.rate, tuple) and len(answer.rate) == 2 else (None, None)
    rules = [
        ("verdict", answer.verdict in ("accept", "refuse", "unknown"), "'accept', 'refuse' or 'unknown'"),
        ("risk", _finite(answer.risk) and answer.risk >= 0, "a finite number >= 0"),
        ("support", type(answer.support) is int and answer.support >= -1, "an int >= -1"),
        ("hard", type(answer.hard) is bool, "True or False"),
        ("reason", isinstance(answer.reason, str), "a text"),
        ("action", answer.action in (None, action), f"{action!r} or None"),
        ("confidence", _finite(answer.confidence) and 0 <= answer.confidence <= 1, "a number in [0, 1]"),
        ("rate", _finite(low) and _finite(high) and 0 <= low <= high <= 1, "two numbers 0 <= low <= high <= 1"),
        ("effects", is_plain(answer.effects), "a plain value"),
        ("next_state", is_plain(answer.next_state), "a plain value"),
        ("evidence", is_plain(answer.evidence) and isinstance(answer.evidence, tuple), "a tuple of places"),
    ]
    return [
        (f"the {name} is {brief(getattr(answer, name))}", f"the {name} is {right}")
        for name, holds, right in rules
        if not holds
    ]


def _finite(value: Any) -> Any:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# ── what is given, and what is got ──────────────────────────────────────────────────────────────────────────────────


def kept(plan: Plan, seen: Sequence[Seen]) -> int:
    """Compare everything that was given with what it was, after each call."""
    driver = Driver(plan)
    for row in seen:
        for call in (partial(driver.predict, row.call), partial(driver.observe, row)):
            call()
            for value, code, words in driver.given[-9:]:
                _require_kept(driver, value, code, words)
    for value, code, words in driver.given:
        _require_kept(driver, value, code, words)
    return len(driver.given)


def _require_kept(driver: Driver, value: Any, code: bytes, words: str) -> None:
    if not is_plain(value) or values.encode(value) != code:
        raise driver.broken(f"what was given to {words} is {shown(code)}", f"it became {brief(value)}")


def shared(plan: Plan, seen: Sequence[Seen]) -> int:
    """Spoil what was given and what was got; the answers stay those of a model that nobody spoiled."""
    probes = _probes(seen)
    honest = Driver(plan).learn(seen)
    driver = Driver(plan).learn(seen)
    could = sum(spoiled(value) for value, _, _ in driver.given)
    driver.given.clear()
    for probe in probes:
        answer = driver.predict(probe, quiet=True)
        could += spoiled(answer.effects) + spoiled(answer.next_state)
    _require_same(driver, honest, probes, "what was given and what was got was changed by the caller")
    return could


def pure(plan: Plan, seen: Sequence[Seen]) -> int:
    """Ask a lot in between; the answers stay those of a model that was not asked."""
    probes = _probes(seen)
    honest = Driver(plan).learn(seen)
    driver = Driver(plan)
    for row in seen:
        for _ in range(2):
            driver.predict(row.call)
            driver.fingerprint()
        driver.observe(row)
    once = _answers(driver, probes)
    again = _answers(driver, probes)
    for probe, left, right in zip(probes, once, again, strict=True):
        if differs := _differs(left, right):
            raise driver.broken(f"predict({_asked(probe)}) says the same each time", differs)
    _require_same(driver, honest, probes, "the model was asked in between")
    return 2 * len(seen) + 2 * len(probes)


def same(plan: Plan, seen: Sequence[Seen]) -> int:
    """Compare two models that observed the same."""
    probes = _probes(seen)
    one, other = Driver(plan).learn(seen), Driver(plan).learn(seen)
    _require_same(one, other, probes, "both models observed this")
    return len(seen)


def apart(plan: Plan, seen: Sequence[Seen]) -> int:
    """Let another model observe the opposite meanwhile."""
    probes = _probes(seen)
    honest = Driver(plan).learn(seen)
    fingerprint, before = honest.fingerprint(), _answers(honest, probes)
    driver = Driver(plan)
    other = Driver(plan)
    for row in seen:
        driver.observe(row)
        other.observe(_flipped(row))
    for model, how in ((driver, "another model observed the opposite meanwhile"), (honest, "other models came after")):
        if (model.fingerprint(), _answers(model, probes)) != (fingerprint, before):
            raise model.broken("its answers are its own", "they depend on what another model observed", how)
    return len(seen)


def order(plan: Plan, seen: Sequence[Seen]) -> int:
    """Observe the same backwards, and dealt out."""
    if not plan.order_free:
        raise Untried("it is not claimed: order_free=True")
    if len(set(seen)) < 2:
        raise Untried("there are no two different observations")
    probes = _probes(seen)
    honest = Driver(plan).learn(seen)
    for other in (list(reversed(seen)), [*seen[1::2], *seen[::2]]):
        _require_same(Driver(plan).learn(other), honest, probes, "the other model observed the same in another order")
    return 2


def _require_same(driver: Driver, other: Driver, probes: Sequence[tuple[bytes, str, bytes]], how: str) -> None:
    """Require that two models answer the same."""
    one, two = _answers(driver, probes), _answers(other, probes)
    for probe, left, right in zip(probes, two, one, strict=True):
        if differs := _differs(left, right):
            raise driver.broken(f"predict({_asked(probe)}) says what the other model says", differs, how)
    if driver.fingerprint() != other.fingerprint():
        raise driver.broken("the fingerprints are equal", "they differ", how)


# ── what is learned ─────────────────────────────────────────────────────────────────────────────────────────────────


def before(plan: Plan, seen: Sequence[Seen]) -> int:
    """Compare what `observe` returns with what `predict` said just before."""
    driver = Driver(plan)
    for row in seen:
        said = driver.predict(row.call)
        returned = driver.observe(row)
        if _differs(_fields(said), _fields(returned)):
            raise driver.broken(f"{told(said)} (what predict said)", told(returned))
    return len(seen)


def moves(plan: Plan, seen: Sequence[Seen]) -> int:
    """Compare fingerprints of models that answer differently."""
    fresh, driver = Driver(plan), Driver(plan)
    prints: list[tuple[Any, list[dict[str, Any]]]] = []
    probes = _probes(seen)
    empty = _fingerprint(fresh)
    stops = {round(n * len(seen) / _PREFIXES) for n in range(_PREFIXES + 1)} | {1}
    for count, row in enumerate(seen, 1):
        driver.observe(row)
        if count not in stops:
            continue
        now = _fingerprint(driver)
        if count == 1 and now == empty:
            raise driver.broken("the fingerprint differs from a fresh model's", f"both are {brief(now)}")
        prints.append((now, _answers(driver, probes)))
    other = Driver(plan).learn([*seen[:-1], _flipped(seen[-1])])
    prints.append((_fingerprint(other), _answers(other, probes)))
    known: dict[Any, list[dict[str, Any]]] = {}
    for fingerprint, said in prints:
        if known.setdefault(fingerprint, said) != said:
            how = "the other model observed less of this, or the last outcome the other way round"
            raise driver.broken("models that answer differently have different fingerprints", "they are equal", how)
    return len(prints)


def _fingerprint(driver: Driver) -> str:
    fingerprint = driver.fingerprint()
    if not isinstance(fingerprint, str) or not fingerprint:
        raise driver.broken("the fingerprint is a text", f"it is {brief(fingerprint)}")
    return fingerprint


def unseen(plan: Plan, seen: Sequence[Seen]) -> int:
    """Ask a fresh model about everything, and a learned one about an action that it never saw."""
    probes = _probes(seen)
    fresh, driver = Driver(plan), Driver(plan).learn(seen)
    for probe in probes:
        if (answer := fresh.predict(probe)).verdict == "accept":
            raise fresh.broken("a fresh model does not accept", told(answer))
        fresh.calls.clear()
    for state, _, args in probes:
        answer = driver.predict((state, _NEVER, args), quiet=True)
        if answer.verdict == "accept":
            driver.calls.append((f"predict({_asked((state, _NEVER, args))})", told(answer)))
            raise driver.broken("what was never observed is not accepted", told(answer))
    return 2 * len(probes)


def _flipped(row: Seen) -> Seen:
    """Return an observation of the opposite outcome, without an effect or a next state."""
    return row._replace(accepted=not row.accepted, effect=b"null", next_state=b"null")


def _one_of_each(seen: Sequence[Seen]) -> list[Seen]:
    """Return one accepted and one refused observation of each action, of a few actions."""
    return list({(row.action, row.accepted): row for row in reversed(seen)}.values())[:_ACTIONS]


def often(plan: Plan, seen: Sequence[Seen]) -> int:
    """Tell a fresh model of one outcome, again and again."""
    rows = _one_of_each(seen)
    for row in rows:
        driver = Driver(plan).learn([row] * _OFTEN)
        answer = driver.predict(row.call)
        wanted = "accept" if row.accepted else "refuse"
        if answer.verdict != wanted:
            raise driver.broken(wanted, told(answer))
    return len(rows)


def later(plan: Plan, seen: Sequence[Seen]) -> int:
    """Tell a fresh model of one outcome, then of the other for long."""
    rows = _one_of_each(seen)
    for row in rows:
        driver = Driver(plan).learn([_flipped(row), *[row] * _SINCE])
        answer = driver.predict(row.call)
        wrong = "refuse" if row.accepted else "accept"
        if answer.verdict == wrong:
            raise driver.broken(f"not {wrong!r}", told(answer))
    return len(rows)


def _one_sided(seen: Sequence[Seen]) -> dict[tuple[bytes, str, bytes], list[Seen]]:
    """Return the observations of each call that had one outcome only."""
    rows: dict[tuple[bytes, str, bytes], list[Seen]] = {}
    for row in seen:
        rows.setdefault(row.call, []).append(row)
    return {call: found for call, found in rows.items() if len({row.accepted for row in found}) == 1}


def opposite(plan: Plan, seen: Sequence[Seen]) -> int:
    """Ask about every call that had one outcome only."""
    calls = _one_sided(seen)
    driver = Driver(plan).learn(seen)
    for call, rows in calls.items():
        answer = driver.predict(call, quiet=True)
        if answer.verdict == ("refuse" if rows[0].accepted else "accept"):
            driver.calls.append((f"predict({_asked(call)})", told(answer)))
            happened = "only ever accepted" if rows[0].accepted else "only ever refused"
            raise driver.broken(f"it was {happened} here", told(answer))
    if not calls:
        raise Untried("no call had one outcome only")
    return len(calls)


def effects(plan: Plan, seen: Sequence[Seen]) -> int:
    """Ask about every call that always had the same effect."""
    calls = {
        call: rows[0].effect
        for call, rows in _one_sided(seen).items()
        if rows[0].accepted and len({row.effect for row in rows}) == 1 and rows[0].effect != b"null"
    }
    driver = Driver(plan).learn(seen)
    tried = 0
    for call, effect in calls.items():
        answer = driver.predict(call, quiet=True)
        if answer.effects is None:
            continue
        tried += 1
        if values.encode(answer.effects) != effect:
            driver.calls.append((f"predict({_asked(call)})", told(answer)))
            raise driver.broken(f"the effect is {shown(effect)}, or not predicted", brief(answer.effects))
    if not tried:
        raise Untried("no effect that was always the same is predicted")
    return tried


def next_states(plan: Plan, seen: Sequence[Seen]) -> int:
    """Ask about every call that always led to the same state."""
    calls = {
        call: rows[0].next_state
        for call, rows in _one_sided(seen).items()
        if rows[0].accepted and len({row.next_state for row in rows}) == 1 and rows[0].next_state != b"null"
    }
    driver = Driver(plan).learn(seen)
    tried = 0
    for call, after in calls.items():
        answer = driver.predict(call, quiet=True)
        if answer.next_state is None:
            continue
        tried += 1
        if values.encode(answer.next_state) != after:
            driver.calls.append((f"predict({_asked(call)})", told(answer)))
            raise driver.broken(f"the next state is {shown(after)}, or not predicted", brief(answer.next_state))
    if not tried:
        raise Untried("no next state that was always the same is predicted")
    return tried


def support(plan: Plan, seen: Sequence[Seen]) -> int:
    """Compare each support with the number of observations."""
    counts: dict[str, int] = {}
    driver = Driver(plan)
    for row in seen:
        for answer in (driver.predict(row.call), driver.observe(row)):
            most = counts.get(row.action, 0)
            if answer.support > most:
                raise driver.broken(f"the support is at most {most}", f"it is {answer.support}")
        counts[row.action] = counts.get(row.action, 0) + 1
    return 2 * len(seen)


def plain(plan: Plan, seen: Sequence[Seen]) -> int:
    """Tell of effects and next states that are no plain values."""
    driver = Driver(plan).learn(seen)
    probes = _probes(seen)
    kept_before = driver.fingerprint(), _answers(driver, probes)
    row = next((row for row in seen if row.accepted), seen[0])
    spoilers = [("effect", spoiler) for spoiler in _SPOILERS]
    spoilers += [("next_state", spoiler) for spoiler in _SPOILERS if plan.told_next]
    for name, spoiler in spoilers:
        words = f"observe({_asked(row.call)}, accepted=True, {name}={spoiler!r})"
        try:
            driver.model.observe(values.decode(row.state), row.action, values.decode(row.args), True, **{name: spoiler})
        except (TypeError, ValueError):
            pass
        except Exception as error:
            raise driver.broken("a TypeError or ValueError", f"{words} raised {type(error).__name__}") from error
        else:
            raise driver.broken("a TypeError or ValueError", f"{words} returned")
        if (driver.fingerprint(), _answers(driver, probes)) != kept_before:
            driver.calls.append((words, "refused"))
            raise driver.broken("a refused observation changes nothing", "the model answers differently")
    return len(spoilers)


def measured(plan: Plan, seen: Sequence[Seen], held_out: Sequence[Seen] | None) -> dict[str, Any]:
    """Return the counts of a report."""
    driver = Driver(plan).learn(seen)
    verdicts = {call: driver.predict(call, quiet=True).verdict for call in {row.call for row in seen}}
    counts: dict[str, Any] = {
        "observations": len(seen),
        "actions": len({row.action for row in seen}),
        "accepted": sum(row.accepted for row in seen),
        "refused": sum(not row.accepted for row in seen),
        "answered": sum(verdict != "unknown" for verdict in verdicts.values()),
    }
    if held_out is None:
        return counts
    predicted = [driver.predict(row.call, quiet=True) for row in held_out]
    said = [(row.accepted, answer.verdict) for row, answer in zip(held_out, predicted, strict=True)]
    after = [
        values.encode(answer.next_state) == row.next_state
        for row, answer in zip(held_out, predicted, strict=True)
        if row.accepted and row.next_state != b"null" and answer.next_state is not None
    ]
    if any(row.accepted and row.next_state != b"null" for row in held_out):
        counts |= {"next_states": len(after), "wrong_next_states": after.count(False)}
    refused = [accepted for accepted, verdict in said if verdict == "refuse"]
    answered = [verdict for accepted, verdict in said if not accepted and verdict != "unknown"]
    return counts | {
        "held_out": len(said),
        "precision": _share(refused.count(False), len(refused)),
        "recall": _share(answered.count("refuse"), len(answered)),
        "abstention": _share(sum(verdict == "unknown" for _, verdict in said), len(said)),
        "false_accepts": sum(verdict == "accept" and not accepted for accepted, verdict in said),
        "false_refusals": refused.count(True),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
