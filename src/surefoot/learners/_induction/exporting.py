"""What was induced, as plain data and as a Python module that defines a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.learners._induction.conditions import Condition
from surefoot.learners._induction.memory import HERE
from surefoot.learners._induction.results import Chosen
from surefoot.learners._induction.terms import Term
from surefoot.learners.vocabulary import MISSING

__all__ = ["Rule", "as_json", "as_python", "describe_schema"]

SHOWN = 12
"""Terms with at most so many different values have them listed in a schema."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition selected for an action.

    Attributes:
        action: the action's name.
        key: tells the condition from others.
        words: what must hold.
        kind: its template.
        evidence: log odds that it is needed, in nats.
        support: how many refusals violate it.
        unique: how many only it explains.
        rivals: (what else would explain these, how many nats worse).
        source: "induced", or "human" when a person pinned it.
        condition: the condition itself.

    Example:
        >>> Rule("go", "domain(open)", "open in {True}", "domain", 8.0, 5, 5, (), "induced", None).words
        'open in {True}'
    """

    action: str
    key: str
    words: str
    kind: str
    evidence: float
    support: int
    unique: int
    rivals: tuple[tuple[str, float], ...]
    source: str
    condition: Condition | None

    @classmethod
    def of(cls, action: str, one: Chosen, pinned: bool) -> Rule:
        """Describe a chosen condition."""
        c = one.condition
        rivals = tuple((str(r), round(by, 2)) for r, by in one.rivals)
        source = "human" if pinned else "induced"
        return cls(action, c.key, c.words(), c.kind, round(one.score, 2), one.support, one.unique, rivals, source, c)

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.action}: {self.words} ({self.support} refusals, {self.evidence:.1f} nats)"

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "key": self.key,
            "words": self.words,
            "kind": self.kind,
            "evidence": self.evidence,
            "support": self.support,
            "unique": self.unique,
            "rivals": [list(rival) for rival in self.rivals],
            "source": self.source,
        }


def as_json(grammar: str, rules: Mapping[str, Sequence[Rule]]) -> dict[str, Any]:
    """Return rules by action as plain data.

    Example:
        >>> as_json("one", {"go": []})
        {'grammar': 'one', 'actions': {'go': []}}
    """
    return {
        "grammar": grammar,
        "actions": {action: [rule.plain() for rule in found] for action, found in rules.items()},
    }


def term_source(term: Term) -> str:
    """Return the Python expression that reads a term; it raises a LookupError where it cannot be read."""
    p = [term_source(parent) for parent in term.parents]
    match term.op:
        case "state" | "args":
            return term.op
        case "field":
            return f"field({p[0]}, {term.param!r}, {term.parents[0].rank})"
    ranks = ", ".join(str(parent.rank) for parent in term.parents)
    param = "" if term.param is None else f", {term.param!r}"
    return f"read({term.op!r}, [{', '.join(p)}], [{ranks}]{param})"


def condition_source(condition: Condition) -> str:
    """Return the Python expression of a condition: True, False, or the value of a domain's term."""
    if condition.kind == "either":
        one, other = (condition_source(part) for part in condition.param)
        return f"({one} or {other})"
    inner = ", ".join(term_source(t) for t in condition.terms)
    if condition.kind in ("domain", "each domain"):
        allowed = ", ".join(sorted(_literal(v) for v in condition.param))
        return f"holds({condition.kind!r}, [{inner}], frozenset([{allowed}]))"
    if condition.param is not None:
        return f"holds({condition.kind!r}, [{inner}], {_literal(condition.param)})"
    return f"holds({condition.kind!r}, [{inner}])"


def _literal(value: Any) -> str:
    return "MISSING" if value is MISSING else repr(value)


def as_python(rules: Mapping[str, Sequence[Rule]]) -> str:
    """Return the source of a module that defines `vocabulary`.

    Example:
        >>> scope = {}
        >>> exec(as_python({"go": []}), scope)
        >>> sorted(scope["vocabulary"].names)
        ['known']
    """
    names: dict[str, str] = {}
    only: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for action, found in rules.items():
        only[action] = []
        for rule in found:
            if rule.condition is None:
                continue
            source = condition_source(rule.condition)
            name = names.setdefault(source, f"{rule.words}")
            words[source] = rule.words
            only[action].append(name)
    taken: dict[str, str] = {}
    for source, name in names.items():
        taken[name if name not in taken else f"{name} ({len(taken)})"] = source
    lines = [
        '"""Conditions induced from observed calls: edit, and give `vocabulary` to ConservativeActionModel."""',
        "",
        "from surefoot.learners.induction import field, holds, read  # noqa: F401 (for edits)",
        "from surefoot.learners.vocabulary import MISSING, Vocabulary  # noqa: F401 (for edits)",
        "",
        "predicates = {",
        '    "known": lambda state, args: True,',
    ]
    for name, source in taken.items():
        lines += [f"    {name!r}: lambda state, args: (", f"        {source}", "    ),"]
    lines += ["}", "only = {"]
    for action, wanted in only.items():
        lines.append(f"    {action!r}: {['known', *dict.fromkeys(wanted)]!r},")
    lines += ["}", "vocabulary = Vocabulary(predicates, only=only)", ""]
    return "\n".join(lines)


def describe_schema(terms: Sequence[Term], columns: Sequence[Any]) -> dict[str, Any]:
    """Return what terms hold: types, how often they are there, their values when few, and what they refer to.

    Example:
        >>> describe_schema([], [])
        {}
    """
    found: dict[str, Any] = {}
    refers: dict[str, set[str]] = {}
    for term in terms:
        if term.op in ("get", "join", "join2"):
            for key in term.parents[1:]:
                refers.setdefault(key.key, set()).add(term.parents[0].key)
    for term, column in zip(terms, columns, strict=True):
        flat = [v for value in column if value is not MISSING for v in (value if term.rank else (value,))]
        kinds = sorted({"part" if v is HERE else type(v).__name__ for v in flat if v is not MISSING})
        there = sum(value is not MISSING for value in column)
        entry: dict[str, Any] = {"types": kinds, "present": round(there / max(1, len(column)), 4)}
        distinct = {repr(v): v for v in flat if v is not MISSING and v is not HERE}
        if distinct and len(distinct) <= SHOWN:
            entry["values"] = [distinct[name] for name in sorted(distinct)]
        if term.rank:
            entry["each"] = True
        if term.key in refers:
            entry["references"] = sorted(refers[term.key])
        found[term.key] = entry
    return found
