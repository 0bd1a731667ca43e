"""How cases are judged and put into words: bounds, tests, sentences."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import comb, log, sqrt
from typing import Any

from surefoot import values
from surefoot.learners._cases import EFFECTS, VARIED, Item, Signature
from surefoot.learners.evidence import ActionEvidence
from surefoot.protocols import Prediction

__all__: list[str] = []  # the parts of an action model; nothing here is public

BOUND = log(2 / 0.05) / 2  # Hoeffding, two-sided 95 %


def sign_test(accepted: int, refused: int, rate: tuple[float, float]) -> str:
    """Say on which side of one half the rate of acceptance lies, at 97.5 % one-sided; "unknown" when that is open."""
    if accepted + refused > 50:
        return "accept" if rate[0] > 0.5 else "refuse" if rate[1] < 0.5 else "unknown"
    return _exact_sign_test(accepted, refused)


@lru_cache(maxsize=2048)
def _exact_sign_test(accepted: int, refused: int) -> str:
    """Return the binomial test's verdict."""
    times = accepted + refused
    if sum(comb(times, k) for k in range(min(accepted, refused) + 1)) / 2**times > 0.025:
        return "unknown"
    return "accept" if accepted > refused else "refuse"


def weighed(accepted: int, refused: int) -> tuple[str, str, tuple[float, float]]:
    """Return the verdict of a case seen both ways, the reason, and the bounds of its rate (Hoeffding, 95 %).

    It is worked out each time: after very many observations hardly any two cases were seen as often.
    """
    times = accepted + refused
    share, slack = accepted / times, sqrt(BOUND / times)
    rate = share - slack if share > slack else 0.0, share + slack if share + slack < 1.0 else 1.0
    return sign_test(accepted, refused, rate), f"accepted in {accepted} of {times} cases like this", rate


def excess(accepted: int, refused: int, settled: int, flaked: int) -> float:
    """Return the log-likelihood ratio of a rate of refusals of its own for the first two numbers; 0.0 if not higher."""
    if refused * (settled + flaked) <= flaked * (accepted + refused):
        return 0.0
    pooled = likelihood(accepted + settled, refused + flaked)
    return likelihood(accepted, refused) + likelihood(settled, flaked) - pooled


def exceeds(accepted: int, refused: int, settled: int, flaked: int, limit: float) -> bool:
    """Say whether `excess` is more than `limit`, without logarithms where it is far from it.

    Source: the divergence of two coins is at most (p - q)**2 / (q * (1 - q)), their chi-square distance.
    """
    times, rest = accepted + refused, settled + flaked
    more = refused * rest - flaked * times
    if more <= 0:
        return False
    odd = refused + flaked
    if more * more / (times * rest) * (times + rest) < 0.999 * limit * odd * (times + rest - odd):
        return False
    return excess(accepted, refused, settled, flaked) > limit


def likelihood(a: int, b: int) -> float:
    """Return the largest log-likelihood of a coin that fell so."""
    return (a * log(a / (a + b)) if a else 0.0) + (b * log(b / (a + b)) if b else 0.0)


def effects_of(counts: Mapping[bytes, int], accepted: int) -> tuple[Any, float]:
    """Return the effect that all accepted cases had (None when they differ, or had none), and how sure that is."""
    if not counts:
        return None, 1.0
    if len(counts) == 1:
        ((effect, times),) = counts.items()
        if times == accepted and effect != VARIED:
            return _fresh(effect), 1.0
    return None, 0.0


def _fresh(effect: bytes) -> Any:
    """Return an effect that nobody else holds: decoded, or a copy of what was decoded before."""
    value, flat = _flat(effect)
    if not flat:
        return values.decode_known(effect)
    return dict(value) if type(value) is dict else value


@lru_cache(maxsize=4096)
def _flat(effect: bytes) -> tuple[Any, bool]:
    """Return an effect, and whether it is one that cannot change, or an object of such."""
    value = values.decode_known(effect)
    return value, all(map(_is_fixed, value.values())) if type(value) is dict else _is_fixed(value)


def _is_fixed(value: Any) -> bool:
    return all(map(_is_fixed, value)) if type(value) is tuple else type(value) not in (dict, list)


def summary_of(counts: Mapping[bytes, int]) -> list[list[Any]] | int | str:
    """Return the one effect with its count, or how many different ones there were."""
    if VARIED in counts:
        return f"more than {EFFECTS}"
    if len(counts) == 1:
        return [[values.decode(effect), times] for effect, times in counts.items()]
    return len(counts)


@lru_cache(maxsize=4096)
def always(times: int) -> tuple[str, tuple[float, float]]:
    """Return the reason and the rate of a case that was accepted each time."""
    return f"accepted in all {times} cases like this", (max(0.0, 1.0 - sqrt(BOUND / times)), 1.0)


@lru_cache(maxsize=4096)
def one_by_one(support: int) -> tuple[str, tuple[float, float]]:
    """Return the reason and the rate of a case whose conditions were accepted one by one, the rarest so often."""
    low = 1.0 - sqrt(BOUND / support)
    return f"each condition holds a value seen accepted, the rarest in {support} cases", (max(0.0, low), 1.0)


@lru_cache(maxsize=1024)
def unexplained(action: str, times: int, severity: float) -> Prediction:
    """Return the answer where so many refusals that no condition explains may be about anything."""
    reason = f"{refusals(times)} that no condition explains"
    return Prediction("unknown", 0.5 * severity, 0, reason, False, None, action)


def never(words: str, times: int) -> str:
    """Return the reason of a refusal."""
    return f"{words}, never accepted ({times} refusals)" if times != 1 else f"{words}, never accepted (1 refusal)"


def minimal(signatures: Mapping[Signature, int]) -> dict[Signature, int]:
    """Return the signatures that hold no smaller one, with the number of refusals in which all of each was violated."""
    found: dict[Signature, int] = {}
    for signature in sorted(signatures, key=len):
        parts = [smaller for smaller in found if smaller <= signature]
        if not parts and signature:
            found[signature] = signatures[signature]
        for smaller in parts:
            found[smaller] += signatures[signature]
    return found


def refusals(times: int) -> str:
    return "1 refusal" if times == 1 else f"{times} refusals"


def difference(mine: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Say in which part two vocabularies differ, "" when in none."""
    for part, held in mine.items():
        if held != theirs[part]:
            if isinstance(held, dict):
                names = sorted(n for n in {**held, **theirs[part]} if held.get(n) != theirs[part].get(n))
                return f"{part} differ in {names}"
            return f"{part} is {held!r} here and {theirs[part]!r} there"
    return ""


def say(item: Item, names: tuple[str, ...], evidence: ActionEvidence, features: tuple[Any, ...] | None) -> str:
    """Say one violation in words."""
    if item[0] == "pair":
        (a, x), (b, y) = sorted((evidence.meaning[code] for code in item[1:]), key=lambda pair: pair[0])
        return f"{names[a]} is {x!r} with {names[b]} {y!r}"
    if isinstance(item[0], str):
        verb = {"equal": "is not equal to", "at most": "is more than", "member": "is not in"}[item[0]]
        return f"{names[item[1]]} {verb} {names[item[2]]}"
    name = names[item[0]]
    if len(item) == 3:
        held = "" if features is None else f"{features[item[0]]!r}, "
        if item[2] == "any":
            return f"{name} is {held}a number"
        numbers = evidence.numbers[item[0]]
        return f"{name} is {held}{item[2]} {numbers.high if item[2] == 'above' else numbers.low!r}"
    what = item[1]
    shown = values.decode(what) if isinstance(what, bytes) else what[1] if isinstance(what, tuple) else what
    return f"{name} is {shown!r}"
