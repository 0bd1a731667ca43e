"""What can be read before a call: arguments, parts of the state, look-ups and joins, and these element by element."""

from __future__ import annotations

from typing import Any

__all__ = ["ARGS", "MEASURES", "NAMED", "STATE", "Term", "of_state", "way_to"]

_COSTS = {
    "args": 0.0,
    "state": 0.0,
    "field": 0.4,
    "first": 0.8,
    "last": 1.6,
    "item": 0.5,
    "each": 0.3,
    "keys": 0.8,
    "values": 0.8,
    "get": 0.9,
    "join": 0.9,
    "join2": 1.2,
    "len": 0.8,
    "sum": 0.8,
    "sumdiff": 1.2,
    "minus": 1.5,
    "times": 1.5,
    "sumtimes": 1.5,
    "shape": 1.5,
    "number": 0.3,
    "time": 0.3,
    "else": 0.5,
    "symbols": 1.2,
    "plus": 1.5,
    "flat": 0.5,
    "min": 1.0,
    "max": 1.0,
    "over": 2.0,
    "when": 0.5,
    "unless": 0.8,
    "gated": 1.0,
    "flag": 1.0,
    "linear": 1.0,
}
COEFFICIENT = 1.5
"""What each factor of a linear expression costs."""


MEASURES = frozenset(
    {
        *("len", "sum", "sumdiff", "sumtimes", "minus", "plus", "times", "number", "time"),
        *("min", "max", "over", "gated", "flag", "linear"),
    }
)
"""Operations whose values are only compared as numbers."""
DEAR = frozenset({"min", "max", "over", "linear", "gated", "flag", "unless", "when"})
"""Operations that are looked for only where refusals have no other reason: two such terms are not compared."""


class Term:
    """One thing that can be read from (state, args): an operation on other terms.

    Attributes:
        op: the operation, one of those in the table of the module.
        parents: what it is applied to.
        param: a field's or argument's name, the fields of a join, a value, or the factors of a linear expression.
        rank: 0 for one value, 1 for a tuple with one value per element of a list.
        origin: for rank 1, the key of the list whose elements these are.
        cost: how much there is to say, in nats: the prior of a condition falls with it.
        key: the term in words; equal terms have equal keys.
        arguments: the names of the arguments that it reads.
        dear: it is, or is made of, what is looked for only where refusals have no other reason.
        hops: how many references lead to it: look-ups in parts of the state that start at the state itself.
        rooted: it is a part of an argument.
        reads_args: its value comes from an argument other than by the first look-up that leads to it.
    """

    __slots__ = (
        "arguments",
        "cost",
        "dear",
        "depth",
        "hops",
        "key",
        "op",
        "origin",
        "param",
        "parents",
        "parts",
        "rank",
        "reads_args",
        "rooted",
    )

    def __init__(self, op: str, parents: tuple[Term, ...] = (), param: Any = None) -> None:
        """Put a term together; its rank and cost follow from its parts."""
        self.op: str = op
        self.parents: tuple[Term, ...] = parents
        self.param: Any = param
        self.rank: int = max((p.rank for p in parents), default=0)
        self.origin: str = next((p.origin for p in parents if p.rank), "")
        if op in ("each", "keys", "values", "symbols"):
            self.rank, self.origin = 1, parents[0].key
        elif op in ("len", "sum", "sumdiff", "sumtimes", "min", "max", "linear"):
            self.rank, self.origin = 0, ""
        elif op == "flat":
            self.origin = f"flat {parents[0].key}"
        self.rooted: bool = op == "args" or (len(parents) == 1 and parents[0].rooted)
        if self.rooted:
            self.reads_args = op != "args"
        elif op in ("get", "join", "join2"):
            self.reads_args = parents[0].depth > 1 and any(p.reads_args for p in parents[1:])
        else:
            self.reads_args = any(p.reads_args for p in parents)
        self.hops: int = max((p.hops for p in parents), default=0)
        if op in ("get", "join", "join2") and of_state(parents[0]):
            self.hops = 1 + max(p.hops for p in parents[1:])
        self.arguments: frozenset[str] = frozenset().union(*[p.arguments for p in parents])
        if op == "field" and parents[0].op == "args":
            self.arguments = frozenset({str(param)})
        self.dear: bool = op in DEAR or any(p.dear for p in parents)
        own = _COSTS[op] + (COEFFICIENT * len(param) if op == "linear" else 0.0)
        if op in ("first", "last") and param:
            own += 2.0  # one of several, by its place alone
        if op in ("get", "join", "join2"):
            if parents[1].rooted:
                own -= 0.5
            if op == "get" and _visits(parents[1], parents[0].key):
                own += 2.5
        self.depth: int = 1 + max((p.depth for p in parents), default=-1)
        self.key: str = _words(op, parents, param)
        self.parts: dict[str, float] = {}
        for parent in parents:
            self.parts.update(parent.parts)
        self.parts[self.key] = own
        self.cost = sum(self.parts.values())

    def __repr__(self) -> str:
        """Say it in words."""
        return self.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self.key == other.key


def of_state(term: Term) -> bool:
    """Say whether a term is a part of the state that no look-up leads to."""
    while term.op == "field":
        term = term.parents[0]
    return term.op == "state"


def way_to(term: Term) -> tuple[str, list[str]]:
    """Return the name of the part of the state that a term is in, and the fields on the way to it."""
    names: list[str] = []
    while term.parents:
        if term.op == "field":
            if term.parents[0].op == "state":
                return str(term.param), names
            names.append(str(term.param))
        term = term.parents[0]
    return "", names


def _visits(term: Term, table: str) -> bool:
    """Say whether a term was reached through a table."""
    return any(p.key == table or _visits(p, table) for p in term.parents)


def _words(op: str, parents: tuple[Term, ...], param: Any) -> str:
    inner = [p.key for p in parents]
    match op:
        case "args" | "state":
            return op
        case "field":
            if parents[0].op in ("args", "state"):
                return f"state.{param}" if parents[0].param else str(param)
            return f"{inner[0]}.{param}"
        case "first":
            return f"{inner[0]}[0]"
        case "last":
            return f"{inner[0]}[-1]"
        case "item":
            return f"{inner[0]}[{param}]"
        case "each":
            return f"{inner[0]}[*]"
        case "flat":
            return f"{inner[0]}[*]"
        case "keys":
            return f"keys({inner[0]})"
        case "values":
            return f"{inner[0]}[*]"
        case "get":
            return f"{inner[0]}[{inner[1]}]"
        case "join":
            return f"{inner[0]}[{param[0]}={inner[1]}]"
        case "join2":
            return f"{inner[0]}[{param[0]}={inner[1]}, {param[1]}={inner[2]}]"
        case "plus":
            return f"({inner[0]} + {inner[1]})"
        case "else":
            return f"({inner[0]} else {inner[1]})"
        case "len" | "sum" | "shape" | "number" | "time" | "symbols" | "min" | "max":
            return f"{op}({inner[0]})"
        case "sumdiff":
            return f"sum({inner[0]} - {inner[1]})"
        case "sumtimes":
            return f"sum({inner[0]} * {inner[1]})"
        case "minus":
            return f"({inner[0]} - {inner[1]})"
        case "times":
            return f"({inner[0]} * {inner[1]})"
        case "over":
            return f"({inner[0]} / {inner[1]})"
        case "when":
            return f"({inner[0]} when {inner[1]} == {inner[2]})"
        case "unless":
            return f"({inner[0]} unless {inner[1]} {'exists' if param is None else f'is {param!r}'})"
        case "gated":
            return f"({inner[0]} if {inner[1]} is {param!r} else 0)"
        case "flag":
            return f"[{inner[0]} is {param!r}]"
        case "linear":
            said = [one if by == 1 else f"{by!r} * {one}" for one, by in zip(inner, param, strict=False)]
            return f"({' + '.join([*said, *map(repr, param[len(inner) :])])})"
    raise AssertionError(op)


ARGS = Term("args")
STATE = Term("state")
NAMED = Term("state", (), "named")
"""The state too, said in the words for its parts: those that are named as an argument is."""
