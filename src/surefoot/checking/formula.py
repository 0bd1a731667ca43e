"""The property language: text to a tree, with the place of every error.

```
Pmax=? [ F "goal" ]                    how likely at best
P>=0.95 [ !"bad" U<=20 x=3 & y<2 ]     is it that likely, whatever is chosen
R{"cost"}min=? [ F "goal" ]            what it costs at least
R{"cost"}max=? [ C<=100 ]              what 100 steps pay at most; also C, Cdiscount=0.9, I=5, S
S=? [ "busy" ]                         in which part of the time, in the long run
"goal" & P>=1 [ F "home" ]             which states
```

Two words after each other, as in `Pmaxmin`, say who picks choices, and who picks from the intervals of a model that has
them.

Source: the property language of PRISM (Kwiatkowska, Norman, Parker 2011); CTL and LTL in Baier, Katoen 2008.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from surefoot.errors import BadProperty
from surefoot.models._names import nearest
from surefoot.models.components import Direction

__all__ = [
    "Binary",
    "Formula",
    "Label",
    "Name",
    "Number",
    "Operator",
    "Path",
    "Reward",
    "Unary",
    "is_temporal",
    "parse",
]


@dataclass(frozen=True, slots=True)
class Label:
    """Hold a label: `"goal"`. `"init"` and `"deadlock"` are there without being given.

    Example:
        >>> parse('"goal"')
        Label(name='goal', at=0)
    """

    name: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """Hold the name of a variable.

    Example:
        >>> parse("x")
        Name(name='x', at=0)
    """

    name: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """Hold a number, or true or false.

    Example:
        >>> parse("true")
        Number(value=True, at=0)
    """

    value: int | float | bool
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """Hold `!x`, `-x`, or one of the temporal `X x`, `F x`, `G x` with the steps that it is bound to.

    Args:
        operator: `!`, `-`, `X`, `F` or `G`.
        of: what it is applied to.
        least: the first step that counts.
        most: the last step that counts; None: no bound.
        at: where it stands in the text.

    Example:
        >>> parse("!x").operator
        '!'
    """

    operator: str
    of: Formula
    least: int = 0
    most: int | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """Hold two formulas and what stands between them; `U`, `W`, `R` may have steps that they are bound to.

    Example:
        >>> parse("x <= 3").operator
        '<='
    """

    operator: str
    left: Formula
    right: Formula
    least: int = 0
    most: int | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Reward:
    """Hold what rewards are counted: `F x`, `C`, `C<=k`, `Cdiscount=0.9`, `I=k` or `S`.

    Args:
        kind: `F`, `C`, `I` or `S`.
        of: the target of `F`.
        steps: k, or None.
        discount: factor for each step, in (0, 1), or None.
        at: where it stands in the text.

    Example:
        >>> parse('R=? [ C<=5 ]').of
        Reward(kind='C', of=None, steps=5, discount=None, at=6)
    """

    kind: Literal["F", "C", "I", "S"]
    of: Formula | None = None
    steps: int | None = None
    discount: float | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Operator:
    """Hold `P`, `R` or `S` with what it asks.

    Args:
        kind: `P`, `R` or `S`.
        direction: who picks choices; None: not said.
        nature: who picks from intervals; None: not said.
        compare: `=?`, or one of `<`, `<=`, `>`, `>=`.
        bound: the number after it.
        of: a path for `P`, rewards for `R`, states for `S`.
        reward: the name of the reward model, or None.
        at: where it stands in the text.
        text: the text of a path, for Storm.

    Example:
        >>> asked = parse('Pmax>=0.5 [ F "goal" ]')
        >>> asked.direction, asked.compare, asked.bound
        ('max', '>=', 0.5)
    """

    kind: Literal["P", "R", "S"]
    direction: Direction | None
    nature: Direction | None
    compare: str
    bound: float | None
    of: Formula | Reward
    reward: str | None = None
    at: int = field(default=0, compare=False)
    text: str = field(default="", compare=False)


Formula = Label | Name | Number | Unary | Binary | Operator
"""A state formula, a path formula, or an expression over variables: which of them is checked where it is used.

Example:
    >>> isinstance(parse("x + 1 < 3"), Formula)
    True
"""
Path = Unary | Binary
"""What may stand in `P=? [ ]`.

Example:
    >>> isinstance(parse('P=? [ X "a" ]').of, Path)
    True
"""

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?)|(?P<label>"[^"]*")"""
    r"""|(?P<word>[A-Za-z_][A-Za-z_0-9.]*)|(?P<sign><=>|=>|<=|>=|!=|=\?|[-+*/<>=!&|()\[\]{},]))"""
)
_MOST_STEPS = 1_000_000_000
_TEMPORAL = {"X", "F", "G"}
_BETWEEN = {"U", "W", "R"}
_HEAD = re.compile(r"(P|R|S)(?:(min|max)(min|max)?)?$")
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("<=>",),
    ("=>",),
    ("|",),
    ("&",),
    ("=", "!=", "<", "<=", ">", ">="),
    ("+", "-"),
    ("*", "/"),
)
_NOT_LEVEL = 4  # `!` binds weaker than a comparison, as in PRISM


def is_temporal(formula: Formula | Reward | None) -> bool:
    """Say whether a formula has X, F, G, U, W or R outside of P, R and S.

    Example:
        >>> is_temporal(parse('P=? [ F "a" ]')), is_temporal(parse('P=? [ F "a" ]').of)
        (False, True)
    """
    if isinstance(formula, Unary):
        return formula.operator in _TEMPORAL or is_temporal(formula.of)
    if isinstance(formula, Binary):
        return formula.operator in _BETWEEN or is_temporal(formula.left) or is_temporal(formula.right)
    return False


def parse(text: str) -> Formula:
    """Return the tree of a property.

    Args:
        text: the property.

    Raises:
        BadProperty: it is none; the message shows the place.

    Example:
        >>> parse('Pmax=? [ F "goal" ]').kind
        'P'
        >>> parse('Pmax=? [ F goal" ]')
        Traceback (most recent call last):
        surefoot.errors.BadProperty: '"' means nothing at column 16:
            Pmax=? [ F goal" ]
                           ^
    """
    if not isinstance(text, str):
        raise BadProperty(f"a property is text, got {text!r}")
    parser = _Parser(text)
    formula = parser.level(0)
    parser.end()
    if is_temporal(formula):
        parser.fail("X, F, G, U, W and R stand inside P=? [ ]", 0)
    return formula


class _Parser:
    """Read tokens from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        place = 0
        while place < len(text.rstrip()):
            found = _TOKEN.match(text, place)
            if found is None:
                start = place + len(text[place:]) - len(text[place:].lstrip())
                self.fail(f"{text[start]!r} means nothing", start)
            kind = str(found.lastgroup)
            self.tokens.append((kind, found.group(kind), found.start(kind)))
            place = found.end()
        self.place = 0

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Refuse the text, showing where."""
        if at is None:
            at = self.tokens[self.place][2] if self.place < len(self.tokens) else len(self.text)
        where = "at the end" if at >= len(self.text.rstrip()) else f"at column {at + 1}"
        raise BadProperty(f"{message} {where}:\n    {self.text}\n    {' ' * at}^")

    def peek(self, ahead: int = 0) -> tuple[str, str, int]:
        """Return the next token, or one after it, without taking it."""
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else ("end", "", len(self.text))

    def take(self, *values: str) -> str | None:
        """Take the next token if it is one of these."""
        kind, value, _ = self.peek()
        if kind in ("sign", "word") and value in values:
            self.place += 1
            return value
        return None

    def need(self, value: str) -> None:
        """Take the next token, which must be this one."""
        if self.take(value) is None:
            self.fail(f"expected {value!r}")

    def end(self) -> None:
        """Refuse what is left."""
        if self.peek()[0] != "end":
            self.fail(f"{self.peek()[1]!r} is not expected")

    def path(self) -> Formula:
        """Read what stands in P=? [ ]."""
        at = self.peek()[2]
        left = self.level(0)
        between = self.take(*_BETWEEN)
        if between:
            least, most = self.bound()
            right = self.path()
            return Binary(between, left, right, least, most, at)
        return left

    def level(self, level: int) -> Formula:
        """Read operators of a level and of those that bind tighter."""
        if level == _NOT_LEVEL and self.peek()[:2] == ("sign", "!"):
            at = self.peek()[2]
            self.place += 1
            return Unary("!", self.level(level), at=at)
        if level == _NOT_LEVEL and self.peek()[0] == "word" and self.peek()[1] in _TEMPORAL:
            at, operator = self.peek()[2], self.peek()[1]
            self.place += 1
            least, most = self.bound() if operator != "X" else (0, None)
            return Unary(operator, self.level(level), least, most, at)
        if level == len(_LEVELS):
            return self.atom()
        at = self.peek()[2]
        left = self.level(level + 1)
        while True:
            sign = self.take(*_LEVELS[level])
            if sign is None:
                return left
            # => leans to the right: a => b => c is a => (b => c).
            right = self.level(level if sign == "=>" else level + 1)
            left = Binary(sign, left, right, at=at)

    def bound(self) -> tuple[int, int | None]:
        """Read the steps that F, G, U, W, R are bound to."""
        if self.peek()[:2] == ("sign", "[") and self.peek(1)[0] == "number" and self.peek(2)[1] == ",":
            self.place += 1
            least = self.steps()
            self.need(",")
            most = self.steps()
            self.need("]")
            if most < least:
                self.fail(f"[{least},{most}] holds no step", self.tokens[self.place - 1][2])
            return least, most
        sign = self.take("<=", "<", ">=", ">", "=")
        if sign is None:
            return 0, None
        at, steps = self.peek()[2], self.steps()
        if sign == "<" and steps == 0:
            self.fail("<0 holds no step", at)
        return {
            "<=": (0, steps),
            "<": (0, steps - 1),
            ">=": (steps, None),
            ">": (steps + 1, None),
            "=": (steps, steps),
        }[sign]

    def steps(self) -> int:
        """Read a number of steps."""
        kind, value, _ = self.peek()
        if kind != "number" or not value.isdigit():
            self.fail("expected a whole number of steps")
        if len(value) > 10 or int(value) > _MOST_STEPS:
            self.fail(f"expected at most {_MOST_STEPS:,} steps, or no bound,")
        self.place += 1
        return int(value)

    def number(self) -> float:
        """Read a number."""
        kind, value, _ = self.peek()
        if kind != "number":
            self.fail("expected a number")
        self.place += 1
        return float(value)

    def atom(self) -> Formula:
        """Read a label, a number, a variable, an operator, or what stands in parentheses."""
        kind, value, at = self.peek()
        if kind == "number":
            self.place += 1
            return Number(int(value) if value.isdigit() else float(value), at)
        if kind == "label":
            self.place += 1
            return Label(value[1:-1], at)
        if kind == "word":
            if self._is_operator(value):
                return self.operator()
            self.place += 1
            if value in ("true", "false"):
                return Number(value == "true", at)
            return Name(value, at)
        if self.take("-"):
            return Unary("-", self.level(len(_LEVELS)), at=at)
        if self.take("!"):
            return Unary("!", self.level(len(_LEVELS)), at=at)
        if self.take("("):
            inner = self.path()
            self.need(")")
            return inner
        return self.fail("expected a formula" if kind == "end" else f"{value!r} is not expected")

    def _is_operator(self, word: str) -> bool:
        """Say whether a word is P, R or S with what it asks, and not a variable of that name."""
        after = self.peek(1)[1]
        if not _HEAD.match(word):
            return False
        if after in ("=?", "{") or (word == "R" and after in ("min", "max", "minmin", "minmax", "maxmin", "maxmax")):
            return True
        number = 3 if self.peek(2)[1] == "-" else 2
        return after in ("<", "<=", ">", ">=") and (self.peek(number)[0] == "end" or self.peek(number + 1)[1] == "[")

    def operator(self) -> Operator:
        """Read P, R or S."""
        _, word, at = self.peek()
        self.place += 1
        head = _HEAD.match(word)
        assert head is not None
        kind, direction, nature = head.groups()
        name = self._reward_name() if kind == "R" else None
        after, _, more = self.peek()
        if kind == "R" and direction is None and after == "word":
            found = re.fullmatch(r"(min|max)(min|max)?", self.peek()[1])
            if found is None:
                self.fail(f"expected min or max or =?, got {self.peek()[1]!r}", more)
            direction, nature = found.groups()
            self.place += 1
        compare = self.take("=?", "<", "<=", ">", ">=")
        if compare is None:
            self.fail("expected =? or a bound such as >=0.9")
        where = self.peek()[2]
        negative = compare != "=?" and self.take("-") is not None
        bound = None if compare == "=?" else self.number() * (-1 if negative else 1)
        if kind in "PS" and bound is not None and not 0 <= bound <= 1:
            self.fail(f"a probability is in [0, 1], not {bound:g}", where)
        self.need("[")
        start = self.peek()[2]
        readers: dict[str, Callable[[], Formula | Reward]] = {"P": self.path, "R": self.rewards}
        of = readers.get(kind, self.path)()
        text = self.text[start : self.peek()[2]].strip()
        self.need("]")
        if kind == "P" and not is_temporal(of):
            self.fail("P needs a path: put X, F, G or U before or between the states", start)
        if kind == "S" and is_temporal(of if not isinstance(of, Reward) else None):
            self.fail("S needs states, not a path", start)
        return Operator(kind, direction, nature, compare, bound, of, name, at, text)  # type: ignore[arg-type]  # texts, as read

    def _reward_name(self) -> str | None:
        """Read {"name"}."""
        if self.take("{") is None:
            return None
        kind, value, _ = self.peek()
        if kind not in ("label", "word"):
            self.fail('expected the name of a reward model, as in R{"cost"}')
        self.place += 1
        self.need("}")
        return value.strip('"')

    def rewards(self) -> Reward:
        """Read what stands in R=? [ ]."""
        kind, value, at = self.peek()
        if kind == "word" and value in ("F", "C", "I", "S", "Cdiscount", "LRA"):
            self.place += 1
            if value == "F":
                return Reward("F", self.level(0), at=at)
            if value == "I":
                self.need("=")
                return Reward("I", steps=self.steps(), at=at)
            if value == "Cdiscount":
                self.need("=")
                where, discount = self.peek()[2], self.number()
                if not 0 < discount < 1:
                    self.fail(f"a discount is in (0, 1), not {discount:g}", where)
                return Reward("C", discount=discount, at=at)
            if value == "C":
                return Reward("C", steps=self.steps() if self.take("<=") else None, at=at)
            return Reward("S", at=at)
        known = ["F", "C", "C<=k", "Cdiscount=0.9", "I=k", "S"]
        return self.fail(f"rewards are one of {', '.join(known)}; {nearest(value, known)}; not expected")
