"""Put what calls may do into the words of PDDL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod

from surefoot import values
from surefoot.learners._parts import path_in_words
from surefoot.protocols import Call

__all__: list[str] = []  # the parts of an exporter; nothing here is public

GROUNDINGS = 2500
"""In how many ways a planner may have to try to fill in the parameters of one action."""
Path = tuple[str, ...]
Value = bytes | None
Cell = dict[Value, Value]
"""What becomes of each value that a field may hold before a call."""
Branch = dict[Path, Cell]


def write(
    rows: Sequence[tuple[Call, list[Branch]]],
    domain: Mapping[Path, Mapping[Value, None]],
    start: Mapping[Path, Value],
    goal: Mapping[Path, bytes],
    name: str,
) -> tuple[str, str, dict[str, Call]]:
    """Return the text of the domain, that of the problem, and the call behind each action."""
    writer = _Writer(domain)
    named: dict[str, Call] = {}
    actions: list[str] = []
    for call, branches in rows:
        merged = _merged([_split(branch) for branch in branches], domain)
        useful = [branch for branch in merged if any(map(_changes, branch.values()))]  # a plan needs no others
        for branch in (narrow for wide in useful for narrow in _narrowed(wide)):
            action = _unique(_word(" ".join([call.name, *map(_shown, call.args.values())])), named)
            named[action] = call
            actions.append(writer.action(action, branch))
    fields = [path for path in domain if path in writer.used or path in goal]
    init = [writer.holds(path, start[path]) for path in fields] + writer.statics
    objects = " ".join(sorted({writer.value(value) for path in fields for value in domain[path]} | writer.constants))
    predicates = [f"({writer.field(path)} ?v)" for path in fields] + writer.relations
    text = [
        f"(define (domain {name})",
        "  (:requirements :strips)",
        f"  (:constants {objects})",
        "  (:predicates\n    " + "\n    ".join(predicates) + ")",
        *actions,
    ]
    problem = [
        f"(define (problem {name}-problem)",
        f"  (:domain {name})",
        "  (:init\n    " + "\n    ".join(init) + ")",
        "  (:goal (and " + " ".join(writer.holds(path, value) for path, value in goal.items()) + ")))",
    ]
    return "\n".join(text) + ")\n", "\n".join(problem) + "\n", named


def _split(branch: Branch) -> list[Branch]:
    """Return branches in which a field is changed whatever it holds, or whatever it holds is not."""
    sides = []
    for path, cell in branch.items():
        same = {old: new for old, new in cell.items() if old == new}
        other = {old: new for old, new in cell.items() if old != new}
        sides.append([(path, part) for part in (same, other) if part])
    return [dict(choice) for choice in product(*sides)]


def _merged(branches: Iterable[list[Branch]], domain: Mapping[Path, Mapping[Value, None]]) -> list[Branch]:
    """Return fewer branches that say the same: those that differ in one field become one."""
    left = [branch for several in branches for branch in several]
    paths = sorted({path for branch in left for path in branch})
    size = -1
    while len(left) != size:
        size = len(left)
        for path in paths:
            groups: dict[object, Branch] = {}
            for branch in left:
                cell = branch.get(path)
                changed = None if cell is None else _changes(cell)
                rest = frozenset((p, frozenset(c.items())) for p, c in branch.items() if p != path)
                known = groups.setdefault((rest, changed), branch)
                if known is not branch and cell is not None:
                    groups[rest, changed] = {**known, path: {**known[path], **cell}}
            left = [_without_full(branch, path, domain) for branch in groups.values()]
    return left


def _without_full(branch: Branch, path: Path, domain: Mapping[Path, Mapping[Value, None]]) -> Branch:
    """Return a branch without a field that may hold anything and stays as it is."""
    cell = branch.get(path)
    if cell is None or len(cell) < len(domain[path]) or _changes(cell):
        return branch
    return {p: c for p, c in branch.items() if p != path}


def _changes(cell: Cell) -> bool:
    return any(old != new for old, new in cell.items())


def _narrowed(branch: Branch) -> list[Branch]:
    """Return branches that say the same with few parameters: planners try all objects for each of them.

    The fields with the fewest values are written out one by one, until the rest can be filled in in `GROUNDINGS` ways.
    """
    left = sorted((path for path, cell in branch.items() if len(cell) > 1), key=lambda path: len(branch[path]))
    found = [branch]
    while prod(_ways(branch[path]) for path in left) > GROUNDINGS:
        path = left.pop(0)
        found = [{**some, path: {old: new}} for some in found for old, new in branch[path].items()]
    return found


def _ways(cell: Cell) -> int:
    """Return in how many ways a planner may try to fill in a cell's parameters."""
    new = len(set(cell.values()))
    return len(cell) * (new if _changes(cell) and new > 1 else 1)


class _Writer:
    """Names fields and values, and writes actions."""

    def __init__(self, domain: Mapping[Path, Mapping[Value, None]]) -> None:
        self.used: set[Path] = set()
        self.constants: set[str] = set()
        self.relations: list[str] = []
        self.statics: list[str] = []
        self._fields: dict[str, Path] = {}
        self._of_field: dict[Path, str] = {}
        self._values: dict[str, Value] = {}
        self._of_value: dict[Value, str] = {}
        self._known: dict[object, str] = {}
        self._domain = domain

    def field(self, path: Path) -> str:
        """Return the name of a field's predicate."""
        if path not in self._of_field:
            word = _unique("f-" + _word(path_in_words(path)), self._fields)
            self._fields[word] = path
            self._of_field[path] = word
        return self._of_field[path]

    def value(self, value: Value) -> str:
        """Return the name of a value."""
        if value not in self._of_value:
            shown = "nothing" if value is None else _word(_shown(values.decode(value)))
            word = _unique(shown if shown[:1].isalpha() else f"n{shown}", self._values)
            self._values[word] = value
            self._of_value[value] = word
        return self._of_value[value]

    def holds(self, path: Path, value: Value) -> str:
        """Return the fact that a field holds a value."""
        return f"({self.field(path)} {self.value(value)})"

    def action(self, name: str, branch: Branch) -> str:
        """Return the text of one action."""
        parameters: list[str] = []
        needs: list[str] = []
        makes: list[str] = []
        for path, cell in sorted(branch.items()):
            self.used.add(path)
            word = self.field(path)
            changed = _changes(cell)
            if len(cell) == 1:
                ((old, new),) = cell.items()
                needs.append(self.holds(path, old))
                if changed:
                    makes += [f"(not {self.holds(path, old)})", self.holds(path, new)]
                continue
            old_name = f"?v{len(parameters)}"
            parameters.append(old_name)
            needs.append(f"({word} {old_name})")
            if not changed:
                needs.append(f"({self._relation(cell, 'in', 1)} {old_name})")
            elif len(set(cell.values())) == 1:
                (new,) = set(cell.values())
                needs.append(f"({self._relation(cell, 'in', 1)} {old_name})")
                makes += [f"(not ({word} {old_name}))", self.holds(path, new)]
            else:
                new_name = f"?v{len(parameters)}"
                parameters.append(new_name)
                needs.append(f"({self._relation(cell, 'to', 2)} {old_name} {new_name})")
                makes += [f"(not ({word} {old_name}))", f"({word} {new_name})"]
        return (
            f"  (:action {name}\n    :parameters ({' '.join(parameters)})\n"
            f"    :precondition (and {' '.join(needs)})\n    :effect (and {' '.join(makes)}))"
        )

    def _relation(self, cell: Cell, kind: str, size: int) -> str:
        """Return the name of a relation between values that never changes."""
        pairs = frozenset(cell.items()) if size == 2 else frozenset(cell)
        if pairs not in self._known:
            name = f"{kind}-{len(self._known)}"
            self._known[pairs] = name
            self.relations.append(f"({name} {'?v ?w' if size == 2 else '?v'})")
            told = [(old, new) if size == 2 else (old,) for old, new in cell.items()]
            rows = sorted(" ".join(map(self.value, some)) for some in told)
            self.statics += [f"({name} {row})" for row in rows]
            self.constants |= {word for row in rows for word in row.split()}
        return self._known[pairs]


def _shown(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _word(text: str) -> str:
    """Return a text as a PDDL name, or the most that can be kept of it."""
    word = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40]
    return word or "x"


def _unique(word: str, taken: Mapping[str, object]) -> str:
    """Return a name that is not taken yet."""
    number = 1
    found = word
    while found in taken:
        number += 1
        found = f"{word}-{number}"
    return found
