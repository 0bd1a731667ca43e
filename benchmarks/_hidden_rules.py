"""Small random worlds with a hidden rule: what a learner of conditions can be held to, since the truth is known.

A world has a table of things (a map or a list), a table of owners, and plain values at its root; names, fields and
values are made up anew for each seed. Its one action takes a thing, a number, a label and a list of labels. The rule is
a conjunction of clauses, each a condition or a disjunction of some, of up to three conditions in all, drawn from those
that the grammar of conditions has: exists, one of some values, a number at most another or a bound, member, length,
through a reference. A condition about what is missing does not hold.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Call", "World"]

LABELS = ("red", "green", "blue", "amber", "grey", "teal", "plum", "lime")
WORDS = ("bolt", "crate", "desk", "lamp", "rope", "sail", "tent", "vase", "wheel", "yarn")
Atom = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the state before it, its arguments, and what the rule says."""

    state: Mapping[str, Any]
    args: Mapping[str, Any]
    accepted: bool


class World:
    """A world of one seed, and its rule."""

    action = "act"

    def __init__(self, seed: int, things: int = 300, owners: int = 40) -> None:
        """Make the tables and the rule; rules that accept under a tenth or over nine tenths of calls are drawn anew."""
        self.rng = rng = random.Random(f"world {seed}")
        self.table, self.owners, *rest = rng.sample(WORDS, 8)
        self.kind, self.level, self.tags, self.owner, self.group, self.credit = rest
        self.listed = rng.random() < 0.3
        people = {f"p{n}": {self.group: rng.choice(LABELS[:4]), self.credit: rng.randrange(10)} for n in range(owners)}
        records = {
            f"t{n}": {
                self.kind: rng.choice(LABELS[:5]),
                self.level: rng.randrange(20),
                self.tags: rng.sample(LABELS, rng.randrange(4)),
                self.owner: f"p{rng.randrange(owners)}",
            }
            for n in range(things)
        }
        self.records = records
        held = [{"id": name, **record} for name, record in records.items()] if self.listed else records
        self.base: dict[str, Any] = {self.table: held, self.owners: people}
        while True:
            self.rule = self._rule()
            share = sum(self.call().accepted for _ in range(200)) / 200
            if 0.1 <= share <= 0.9:
                break

    def call(self) -> Call:
        """Draw a call."""
        rng = self.rng
        name = rng.choice(sorted(self.records)) if rng.random() < 0.92 else f"t{rng.randrange(900, 999)}"
        state = {**self.base, "mode": rng.choice(("day", "night", "dusk")), "limit": rng.randrange(20)}
        labels = [rng.choice(LABELS) for _ in range(rng.randrange(1, 4))]
        args = {"thing": name, "amount": rng.randrange(20), "label": rng.choice(LABELS[:6]), "labels": labels}
        return Call(state, args, self.rule[1](state, args))

    @property
    def words(self) -> str:
        """Return the rule in words."""
        return self.rule[0]

    def _rule(self) -> tuple[str, Atom]:
        rng, left, clauses = self.rng, self.rng.choice((1, 2, 2, 3)), []
        while left:
            size = rng.choice((1, 1, 2))
            size = min(size, left)
            left -= size
            clauses.append([self._atom() for _ in range(size)])
        words = " and ".join("(" + " or ".join(name for name, _ in clause) + ")" for clause in clauses)

        def holds(state: Mapping[str, Any], args: Mapping[str, Any]) -> bool:
            return all(any(atom(state, args) for _, atom in clause) for clause in clauses)

        return words, holds

    def _atom(self) -> tuple[str, Atom]:
        rng = self.rng
        some = frozenset(rng.sample(LABELS[:5], rng.choice((1, 2, 3))))
        groups = frozenset(rng.sample(LABELS[:4], rng.choice((1, 2))))
        modes = frozenset(rng.sample(("day", "night", "dusk"), rng.choice((1, 2))))
        bound, most = rng.randrange(4, 16), rng.choice((1, 2))
        atoms: list[tuple[str, Callable[[Any, Any, Any, Any], bool]]] = [
            ("thing exists", lambda r, o, s, a: True),
            (f"{self.kind} in {sorted(some)}", lambda r, o, s, a: r[self.kind] in some),
            (f"amount <= {self.level}", lambda r, o, s, a: a["amount"] <= r[self.level]),
            (f"label in {self.tags}", lambda r, o, s, a: a["label"] in r[self.tags]),
            (f"{self.owner}.{self.group} in {sorted(groups)}", lambda r, o, s, a: o[self.group] in groups),
            (f"{self.owner}.{self.credit} <= amount", lambda r, o, s, a: o[self.credit] <= a["amount"]),
            (f"mode in {sorted(modes)}", lambda r, o, s, a: s["mode"] in modes),
            (f"amount >= {bound}", lambda r, o, s, a: a["amount"] >= bound),
            ("amount <= limit", lambda r, o, s, a: a["amount"] <= s["limit"]),
            (f"at most {most} labels", lambda r, o, s, a: len(a["labels"]) <= most),
            (f"label is {self.kind}", lambda r, o, s, a: a["label"] == r[self.kind]),
        ]
        name, test = rng.choice(atoms)

        def holds(state: Mapping[str, Any], args: Mapping[str, Any]) -> bool:
            record = self.records.get(args["thing"])
            needs = not name.startswith(("mode", "amount >=", "amount <= limit", "at most"))
            if record is None:
                return False if needs else test({}, {}, state, args)
            return test(record, state[self.owners][record[self.owner]], state, args)

        return name, holds
