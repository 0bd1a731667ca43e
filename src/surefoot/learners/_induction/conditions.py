"""The conditions that can be said about terms: what holds, and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from surefoot.learners._induction.operations import is_number
from surefoot.learners._induction.terms import Term
from surefoot.learners.vocabulary import MISSING

__all__ = ["Condition", "joint_cost"]

Check = Callable[[Sequence[Any]], bool]
EXACT = 0.005
"""Amounts that differ by less are the same: half a cent."""
FEW = 12
"""Up to so many elements are counted one by one."""

_KIND_COSTS = {
    "present": 0.5,
    "domain": 0.0,
    "each domain": 0.5,
    "equal": 2.5,
    "differ": 2.5,
    "member": 2.0,
    "not member": 3.0,
    "subset": 2.0,
    "bag": 2.5,
    "distinct": 3.5,
    "disjoint": 3.0,
    "each equal": 3.0,
    "each differ": 3.0,
    "le": 3.5,
    "comes to": 3.0,
    "lt": 3.5,
    "at least": 3.0,
    "at most": 3.0,
    "above": 3.0,
    "known": 1.0,
    "either": 2.0,
    "is": 1.5,
    "is not": 2.0,
    "absent": 1.5,
}


def joint_cost(terms: Sequence[Term]) -> float:
    """Return what it costs to say several terms: what they share is said once."""
    parts: dict[str, float] = {}
    for term in terms:
        parts.update(term.parts)
    return sum(parts.values())


def frozen(value: Any) -> Any:
    """Return what tells a value from others: 1 and 1.0 are one number, True is none."""
    return ("bool", value) if type(value) is bool else value


class Condition:
    """What must hold of a call's terms; a refusal is explained by a condition that no accepted call violates.

    Attributes:
        kind: which template it is.
        terms: what it reads.
        param: the values of a domain (frozen), a bound, or the two conditions of an "either".
        cost: how much there is to say, in nats: the prior probability is exp(-cost).
        near: for a bound, the refused value that is nearest to it: what lies between is not known.
        key: tells it from others; a domain's values and a bound are not in it, since they grow with what is accepted.
    """

    __slots__ = ("cost", "extra", "key", "kind", "near", "param", "terms")

    def __init__(
        self,
        kind: str,
        terms: tuple[Term, ...],
        param: Any = None,
        extra: float = 0.0,
        near: Any = None,
        size: float = 0.0,
    ) -> None:
        """Put a condition together.

        What is paid for the values or the bound is `extra`, by each action, even where others have the same condition.
        How many values of a domain there are costs `size`, paid once by all: of n, the log of n + 1, so that a set of
        none of very many is not cheap (a two-part code: Rissanen 1983).
        """
        self.near = near
        self.kind, self.terms, self.param, self.extra = kind, terms, param, extra
        self.cost = _KIND_COSTS[kind] + joint_cost(terms) + size + extra
        if kind in ("equal", "differ", "le", "lt") and all(t.op == "len" and not t.rooted for t in terms):
            self.cost += 2.0 if kind != "differ" else 3.0  # how many there are of two things in the state
        if kind == "either":
            self.cost += sum(_KIND_COSTS[part.kind] + part.extra for part in param)
        inner = ", ".join(t.key for t in terms)
        if kind == "either":
            self.key = f"either({param[0].key} | {param[1].key})"
        elif kind in ("is", "is not"):
            self.key = f"{kind}({inner}, {param!r})"
        else:
            self.key = f"{kind}({inner})"

    def __repr__(self) -> str:
        """Say it in words."""
        return self.words()

    def words(self) -> str:
        """Say what must hold."""
        names = [t.key for t in self.terms]
        a, b = names[0] if names else "", names[-1] if names else ""
        match self.kind:
            case "present":
                return f"{a} exists"
            case "domain":
                return f"{a} in {_listed(self.param)}"
            case "each domain":
                return f"each {a} in {_listed(self.param)}"
            case "equal":
                return f"{a} == {b}"
            case "differ":
                return f"{a} != {b}"
            case "member":
                return f"{a} among {b}"
            case "not member":
                return f"{a} not among {b}"
            case "subset":
                return f"all of {a} among {b}"
            case "bag":
                return f"all of {a} among {b}, as often"
            case "distinct":
                return f"no two of {a} are equal"
            case "disjoint":
                return f"none of {a} among {b}"
            case "each equal":
                return f"each {a} == {b}"
            case "each differ":
                return f"each {a} != {b}"
            case "le":
                return f"{a} <= {b}"
            case "lt":
                return f"{a} < {b}"
            case "comes to":
                return f"{a} comes to {b}"
            case "known":
                return f"{a} is not null"
            case "above":
                return f"{a} > {self.param!r}"
            case "at least":
                return f"{a} >= {self.param!r}"
            case "at most":
                return f"{a} <= {self.param!r}"
            case "is":
                return f"{a} is {_shown(self.param)}"
            case "is not":
                return f"{a} is not {_shown(self.param)}"
            case "absent":
                return f"{a} does not exist"
            case "either":
                return f"{self.param[0].words()} or {self.param[1].words()}"
        raise AssertionError(self.kind)

    def because(self, values: Sequence[Any]) -> str:
        """Say how a call whose terms hold `values` violates the condition."""
        a = self.terms[0].key
        match self.kind:
            case "domain":
                return f"{a} is {_shown(values[0])}, accepted only for {_listed(self.param, braces=False)}"
            case "each domain":
                if values[0] is MISSING:
                    return f"{a} is MISSING"
                odd = next((v for v in values[0] if not _domain(v, self.param)), MISSING)
                return f"one of {a} is {_shown(odd)}, accepted only for {_listed(self.param, braces=False)}"
            case "present":
                return f"{a} does not exist"
            case "le" | "lt":
                word = "more than" if self.kind == "le" else "not less than"
                return f"{a} is {values[0]!r}, {word} {self.terms[1].key}, which is {values[1]!r}"
            case "comes to":
                return f"{a} is {values[0]!r}, not {values[1]!r}, which is {self.terms[1].key}"
            case "known":
                return f"{a} is {_shown(values[0])}"
            case "above":
                return f"{a} is {values[0]!r}, not more than {self.param!r}"
            case "at least" | "at most":
                word = "less" if self.kind == "at least" else "more"
                return f"{a} is {values[0]!r}, {word} than {self.param!r}"
            case "equal" | "member" | "not member" | "differ":
                return f"{a} is {_shown(values[0])}, which violates: {self.words()}"
        return f"violated: {self.words()}"

    def check(self, index: Mapping[str, int]) -> Check:
        """Return what says, from the slots of a program, whether the condition holds."""
        if self.kind == "either":
            one, other = (part.check(index) for part in self.param)
            return lambda s: one(s) or other(s)
        at = tuple(index[t.key] for t in self.terms)
        test = TESTS[self.kind]
        if len(at) == 1:
            (a,) = at
            if self.kind in WITH_PARAM:
                param = self.param
                return lambda s: test(s[a], param)
            return lambda s: test(s[a])
        a, b = at
        return lambda s: test(s[a], s[b])


def _listed(found: Any, *, braces: bool = True) -> str:
    shown = sorted((_shown(v) for v in found), key=repr)
    words = ", ".join(shown[:8]) + (", …" if len(shown) > 8 else "")
    return "{" + words + "}" if braces else words


def _shown(value: Any) -> str:
    if isinstance(value, tuple) and len(value) == 2 and value[0] == "bool":
        value = value[1]
    return "MISSING" if value is MISSING else repr(value)


WITH_PARAM = {"is", "is not", "domain", "each domain", "at least", "at most", "above"}


def _present(value: Any) -> bool:
    if value is MISSING:
        return False
    if type(value) is tuple:
        for part in value:
            if part is MISSING:
                return False
    return True


def _domain(value: Any, allowed: Any) -> bool:
    try:
        return (("bool", value) if type(value) is bool else value) in allowed
    except TypeError:
        return True


def _each_domain(values: Any, allowed: Any) -> bool:
    if values is MISSING:
        return MISSING in allowed
    return all(_domain(value, allowed) for value in values)


def _is(value: Any, wanted: Any) -> bool:
    return bool((("bool", value) if type(value) is bool else value) == wanted)


def _is_not(value: Any, wanted: Any) -> bool:
    return not _is(value, wanted)


def _absent(value: Any) -> bool:
    return value is MISSING


def _same(a: Any, b: Any) -> bool:
    return a == b and (type(a) is bool) == (type(b) is bool)


def _equal(a: Any, b: Any) -> bool:
    return a is b or _same(a, b)


def _differ(a: Any, b: Any) -> bool:
    return a is MISSING or b is MISSING or not _same(a, b)


def _member(value: Any, values: Any) -> bool:
    return value is MISSING or (values is not MISSING and value in values)


def _not_member(value: Any, values: Any) -> bool:
    return value is MISSING or values is MISSING or value not in values


def _known(value: Any) -> bool:
    return value is not None and value is not MISSING


def _above(a: Any, bound: Any) -> bool:
    return not is_number(a) or a > bound


def _subset(a: Any, b: Any) -> bool:
    if a is MISSING:
        return True
    if b is MISSING:
        return not a
    for value in a:
        if value not in b:
            return False
    return True


def _bag(a: Any, b: Any) -> bool:
    if a is MISSING:
        return True
    if b is MISSING:
        return not a
    if len(a) == 1:
        return a[0] in b
    try:
        hash(a), hash(b)  # elements that have no hash are not compared
        if len(a) <= FEW:
            for value in a:
                if a.count(value) > b.count(value):
                    return False
            return True
        return Counter(a) <= Counter(b)
    except TypeError:
        return True


def _distinct(a: Any) -> bool:
    if a is MISSING or len(a) < 2:
        return True
    there = [value for value in a if value is not MISSING]
    try:
        return len(set(there)) == len(there)
    except TypeError:
        return True


def _disjoint(a: Any, b: Any) -> bool:
    return a is MISSING or b is MISSING or not any(value in b for value in a)


def _each_equal(a: Any, b: Any) -> bool:
    if a is MISSING or b is MISSING:
        return a is b
    return all(_same(x, y) for x, y in zip(a, b, strict=False))


def _each_differ(a: Any, b: Any) -> bool:
    if a is MISSING or b is MISSING:
        return True
    return not any(_same(x, y) for x, y in zip(a, b, strict=False))


def _le(a: Any, b: Any) -> bool:
    return not (is_number(a) and is_number(b)) or a <= b


def _lt(a: Any, b: Any) -> bool:
    return not (is_number(a) and is_number(b)) or a < b


def _comes_to(a: Any, b: Any) -> bool:
    return not (is_number(a) and is_number(b)) or abs(a - b) < EXACT


def _ge(a: Any, bound: Any) -> bool:
    return not is_number(a) or a >= bound


TESTS: dict[str, Callable[..., bool]] = {
    "present": _present,
    "domain": _domain,
    "each domain": _each_domain,
    "equal": _equal,
    "differ": _differ,
    "member": _member,
    "not member": _not_member,
    "subset": _subset,
    "bag": _bag,
    "distinct": _distinct,
    "disjoint": _disjoint,
    "each equal": _each_equal,
    "each differ": _each_differ,
    "le": _le,
    "lt": _lt,
    "comes to": _comes_to,
    "at least": _ge,
    "at most": _le,
    "above": _above,
    "known": _known,
    "is": _is,
    "is not": _is_not,
    "absent": _absent,
}
