"""The laws of an action model, each as a function that raises `Broken`, or returns how often it was tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from surefoot import values
from surefoot.protocols import Prediction
from surefoot.testing._contract import Broken, Finding, Untried, is_plain, shown, spoiled
from surefoot.testing._model_driver import (
    Driver,
    Plan,
    Seen,
    answers_of,
    asked,
    differs,
    fields_of,
    probes_of,
    told,
)
from surefoot.testing._probe import brief

__all__: list[str] = []

_NEVER = "an action that was never observed"
_OFTEN, _SINCE = 30, 50
_ACTIONS = 6
"""How many calls are told of again and again."""
_PREFIXES = 8
"""After how many observations the fingerprint is looked at."""
_SPOILERS: tuple[Any, ...] = ({1, 2}, float("nan"), [b"bytes"], {1: "a key that is no text"})


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
    probes = probes_of(seen)
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
    probes = probes_of(seen)
    honest = Driver(plan).learn(seen)
    driver = Driver(plan)
    for row in seen:
        for _ in range(2):
            driver.predict(row.call)
            driver.fingerprint()
        driver.observe(row)
    once = answers_of(driver, probes)
    again = answers_of(driver, probes)
    for probe, left, right in zip(probes, once, again, strict=True):
        if difference := differs(left, right):
            raise driver.broken(f"predict({asked(probe)}) says the same each time", difference)
    _require_same(driver, honest, probes, "the model was asked in between")
    return 2 * len(seen) + 2 * len(probes)


def same(plan: Plan, seen: Sequence[Seen]) -> int:
    """Compare two models that observed the same."""
    probes = probes_of(seen)
    one, other = Driver(plan).learn(seen), Driver(plan).learn(seen)
    _require_same(one, other, probes, "both models observed this")
    return len(seen)


def apart(plan: Plan, seen: Sequence[Seen]) -> int:
    """Let another model observe the opposite meanwhile."""
    probes = probes_of(seen)
    honest = Driver(plan).learn(seen)
    fingerprint, before = honest.fingerprint(), answers_of(honest, probes)
    driver = Driver(plan)
    other = Driver(plan)
    for row in seen:
        driver.observe(row)
        other.observe(_flipped(row))
    for model, how in ((driver, "another model observed the opposite meanwhile"), (honest, "other models came after")):
        if (model.fingerprint(), answers_of(model, probes)) != (fingerprint, before):
            raise model.broken("its answers are its own", "they depend on what another model observed", how)
    return len(seen)


def order(plan: Plan, seen: Sequence[Seen]) -> int:
    """Observe the same backwards, and dealt out."""
    if not plan.order_free:
        raise Untried("it is not claimed: order_free=True")
    if len(set(seen)) < 2:
        raise Untried("there are no two different observations")
    probes = probes_of(seen)
    honest = Driver(plan).learn(seen)
    for other in (list(reversed(seen)), [*seen[1::2], *seen[::2]]):
        _require_same(Driver(plan).learn(other), honest, probes, "the other model observed the same in another order")
    return 2


def _require_same(driver: Driver, other: Driver, probes: Sequence[tuple[bytes, str, bytes]], how: str) -> None:
    """Require that two models answer the same."""
    one, two = answers_of(driver, probes), answers_of(other, probes)
    for probe, left, right in zip(probes, two, one, strict=True):
        if difference := differs(left, right):
            raise driver.broken(f"predict({asked(probe)}) says what the other model says", difference, how)
    if driver.fingerprint() != other.fingerprint():
        raise driver.broken("the fingerprints are equal", "they differ", how)


# ── what is learned ─────────────────────────────────────────────────────────────────────────────────────────────────


def before(plan: Plan, seen: Sequence[Seen]) -> int:
    """Compare what `observe` returns with what `predict` said just before."""
    driver = Driver(plan)
    for row in seen:
        said = driver.predict(row.call)
        returned = driver.observe(row)
        if differs(fields_of(said), fields_of(returned)):
            raise driver.broken(f"{told(said)} (what predict said)", told(returned))
    return len(seen)


def moves(plan: Plan, seen: Sequence[Seen]) -> int:
    """Compare fingerprints of models that answer differently."""
    fresh, driver = Driver(plan), Driver(plan)
    prints: list[tuple[Any, list[dict[str, Any]]]] = []
    probes = probes_of(seen)
    empty = _fingerprint(fresh)
    stops = {round(n * len(seen) / _PREFIXES) for n in range(_PREFIXES + 1)} | {1}
    for count, row in enumerate(seen, 1):
        driver.observe(row)
        if count not in stops:
            continue
        now = _fingerprint(driver)
        if count == 1 and now == empty:
            raise driver.broken("the fingerprint differs from a fresh model's", f"both are {brief(now)}")
        prints.append((now, answers_of(driver, probes)))
    other = Driver(plan).learn([*seen[:-1], _flipped(seen[-1])])
    prints.append((_fingerprint(other), answers_of(other, probes)))
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
    probes = probes_of(seen)
    fresh, driver = Driver(plan), Driver(plan).learn(seen)
    for probe in probes:
        if (answer := fresh.predict(probe)).verdict == "accept":
            raise fresh.broken("a fresh model does not accept", told(answer))
        fresh.calls.clear()
    for state, _, args in probes:
        answer = driver.predict((state, _NEVER, args), quiet=True)
        if answer.verdict == "accept":
            driver.calls.append((f"predict({asked((state, _NEVER, args))})", told(answer)))
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
            driver.calls.append((f"predict({asked(call)})", told(answer)))
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
            driver.calls.append((f"predict({asked(call)})", told(answer)))
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
            driver.calls.append((f"predict({asked(call)})", told(answer)))
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
    probes = probes_of(seen)
    kept_before = driver.fingerprint(), answers_of(driver, probes)
    row = next((row for row in seen if row.accepted), seen[0])
    spoilers = [("effect", spoiler) for spoiler in _SPOILERS]
    spoilers += [("next_state", spoiler) for spoiler in _SPOILERS if plan.told_next]
    for name, spoiler in spoilers:
        words = f"observe({asked(row.call)}, accepted=True, {name}={spoiler!r})"
        try:
            driver.model.observe(values.decode(row.state), row.action, values.decode(row.args), True, **{name: spoiler})
        except (TypeError, ValueError):
            pass
        except Exception as error:
            raise driver.broken("a TypeError or ValueError", f"{words} raised {type(error).__name__}") from error
        else:
            raise driver.broken("a TypeError or ValueError", f"{words} returned")
        if (driver.fingerprint(), answers_of(driver, probes)) != kept_before:
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
