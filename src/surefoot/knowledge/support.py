"""What rests on what: settle everything that a change reaches, once each, in the order in which it rests.

The nodes are keys. A key depends on another when one of its assertions rests on an item of that key, or when an
assertion there supersedes one of its items. After a change `settle` finds everything reachable from it, takes the
strongly connected components in topological order, and works each out from those before it; a component whose inputs
came out as they were is left alone. So a chain of any depth and a fan of any width cost one step an item, and nothing
is recursive.

Inside a component, where things rest on each other in a circle, the meaning is the well-founded one: what only holds
because it holds does not hold, and what holds only if it does not is undecided (`MAYBE`), which the store shows as
disputed and puts to a person. The well-founded model is the least fixpoint of the operator that assumes the worst
about beating, applied twice.

Sources: Van Gelder, Ross and Schlipf 1991 (the well-founded semantics), Van Gelder 1993, sec. 3 (the alternating
fixpoint); Dowling and Gallier 1984 (a least model in linear time); Tarjan 1972 (components).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from surefoot.knowledge.items import ACTIVE, HYPOTHESIS
from surefoot.knowledge.store_marks import FIRM, MAYBE, OVERRULED, SURE
from surefoot.knowledge.store_rules import Rivals, decide, is_firm, is_replaced, judge, overrule, weigh

if TYPE_CHECKING:
    from surefoot.knowledge.store_columns import Columns

__all__ = ["components", "settle", "successors"]

_EITHER = SURE | MAYBE


def settle(fold: Columns, seeds: Iterable[int]) -> None:
    """Work out the items of some keys again, and everything that this reaches.

    Args:
        fold: what is known; its assertions are right, what follows from them may not be.
        seeds: the keys whose assertions, or whose items' marks, have changed.

    Cost: linear in the assertions of all keys that rest on these, directly or not; circles through what is beaten may
    take several passes over the circle.

    Example:
        >>> from surefoot.knowledge.store_fold import StoreFold
        >>> settle(StoreFold(), [])
    """
    dirty = dict.fromkeys(seeds)
    if not any(_reaches(fold, k) for k in dirty):
        for k in dirty:
            judge(fold, k)
        return
    for component, circular in components(fold, list(dirty)):
        if not any(k in dirty for k in component):
            continue
        items = [item for k in component for item in fold.items_of(k)]
        rows = [row for k in component for row in fold.overrides.get(k, ())]
        before = _shown(fold, items, rows)
        if circular:
            _settle_circle(fold, component)
        else:
            judge(fold, component[0])
        after = _shown(fold, items, rows)
        if after != before:
            for item, was, now in zip(items, before, after, strict=False):
                if was != now:
                    for row in fold.uses.get(item, ()):
                        dirty[fold.item_key[fold.row_item[row]]] = None
            for row, was, now in zip(rows, before[len(items) :], after[len(items) :], strict=True):
                if was != now:
                    for item in fold.supersedes[row]:
                        dirty[fold.item_key[item]] = None


def _reaches(fold: Columns, k: int) -> bool:
    return k in fold.overrides or any(item in fold.uses for item in fold.items_of(k))


def _shown(fold: Columns, items: list[int], rows: list[int]) -> list[int]:
    """Return what others see: whether each item holds and is active, and whether each assertion is alive."""
    found = [fold.item_bits[item] & _EITHER | (fold.status[item] == ACTIVE) << 2 for item in items]
    return found + [fold.row_bits[row] & (_EITHER | OVERRULED) for row in rows]


def successors(fold: Columns, k: int) -> Iterator[int]:
    """Iterate over the keys that depend on a key directly; a key may come several times.

    Example:
        >>> from surefoot.knowledge.store_fold import StoreFold
        >>> list(successors(StoreFold(), 0))
        []
    """
    for item in fold.items_of(k):
        for row in fold.uses.get(item, ()):
            yield fold.item_key[fold.row_item[row]]
    for row in fold.overrides.get(k, ()):
        for item in fold.supersedes[row]:
            yield fold.item_key[item]


def components(fold: Columns, seeds: list[int]) -> list[tuple[list[int], bool]]:
    """Return the strongly connected components reachable from `seeds`, each before those that depend on it.

    Returns:
        pairs (keys, whether they depend on each other or on themselves).

    Cost: linear in what is reachable; it stops at keys that cannot change, because they hold on their own.

    Source: Tarjan 1972, sec. 4, with a stack of our own in place of recursion.

    Example:
        >>> from surefoot.knowledge.store_fold import StoreFold
        >>> components(StoreFold(), [])
        []
    """
    first = set(seeds)
    found: list[tuple[list[int], bool]] = []
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_: list[int] = []
    is_open: set[int] = set()
    circles: set[int] = set()
    for seed in seeds:
        if seed in number:
            continue
        path = [(seed, successors(fold, seed))]
        number[seed] = low[seed] = len(number)
        open_.append(seed)
        is_open.add(seed)
        while path:
            k, rest = path[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    open_.append(other)
                    is_open.add(other)
                    fixed = other not in first and fold.is_anchored(other)
                    path.append((other, iter(()) if fixed else successors(fold, other)))
                    break
                if other in is_open:
                    low[k] = min(low[k], number[other])
                    if other == k:
                        circles.add(k)
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[k])
                if low[k] == number[k]:
                    at = len(open_) - 1
                    while open_[at] != k:
                        at -= 1
                    component = open_[at:]
                    del open_[at:]
                    is_open.difference_update(component)
                    found.append((component, len(component) > 1 or k in circles))
    return found[::-1]


def _settle_circle(fold: Columns, keys: list[int]) -> None:
    """Work out keys that depend on each other."""
    rows = {k: {item: fold.rows_of(item) for item in fold.items_of(k)} for k in keys}
    circle = _Circle(fold, rows)
    sure, likely = circle.alive()
    for k in keys:
        for some in rows[k].values():
            for row in some:
                state = SURE if row in sure else MAYBE if row in likely else 0
                fold.row_bits[row] = fold.row_bits[row] & ~_EITHER | state
    for k in keys:
        decide(fold, k, rows[k])
    _settle_activity(fold, {item: some for k in keys for item, some in rows[k].items()})


def _settle_activity(fold: Columns, rows: dict[int, list[int]]) -> None:
    """Work out which items of a circle are active: those that rest, in the end, on what is active outside it."""
    changed, fold.changed = fold.changed, None
    before = {item: fold.status[item] for item in rows}
    for item in rows:
        if before[item] == ACTIVE:
            fold.status[item] = HYPOTHESIS
    for item, some in rows.items():
        weigh(fold, item, some)
    new = [item for item in rows if fold.status[item] == ACTIVE]
    while new:
        for row in fold.uses.get(new.pop(), ()):
            item = fold.row_item[row]
            done = item not in rows or fold.item_bits[item] & FIRM or not fold.row_bits[row] & SURE
            if not done and is_firm(fold, row, fold.marks.get(item)):
                fold.item_bits[item] |= FIRM
                fold.set_status(item)
                if fold.status[item] == ACTIVE:
                    new.append(item)
    fold.changed = changed
    for item, status in before.items():
        fold.note(item, status)


class _Circle:
    """The assertions of some keys that depend on each other, with everything outside settled."""

    def __init__(self, fold: Columns, rows: dict[int, dict[int, list[int]]]) -> None:
        self.fold = fold
        every = {k: [row for some in items.values() for row in some] for k, items in rows.items()}
        for some in every.values():
            overrule(fold, some)
        self.rivals = [Rivals(fold, k, some) for k, some in every.items()]
        self.inside = {row for some in every.values() for row in some}
        items = {item for some in rows.values() for item in some}
        self.waits: dict[int, int] = {}
        self.outside: dict[int, int] = {}
        for row in self.inside:
            premises = fold.premises.get(row, ())
            self.waits[row] = sum(premise in items for premise in premises)
            states = [fold.item_bits[p] for p in premises if p not in items]
            self.outside[row] = (
                0 if any(not s & _EITHER for s in states) else MAYBE if any(not s & SURE for s in states) else SURE
            )

    def alive(self) -> tuple[set[int], set[int]]:
        """Return the assertions that are alive for sure, and those that are alive perhaps or for sure."""
        alive: set[int] = set()
        standing: set[int] = set()
        while True:
            likely, likely_standing = self._least(alive, standing, SURE, _EITHER)
            surer, surer_standing = self._least(likely, likely_standing, _EITHER, SURE)
            if surer == alive and surer_standing == standing:
                return alive, likely
            alive, standing = surer, surer_standing

    def _least(self, alive: set[int], standing: set[int], beating: int, resting: int) -> tuple[set[int], set[int]]:
        """Return what is alive, and what of that stands, when only what is given beats and supersedes.

        Args:
            alive: the assertions inside that count as alive where they supersede.
            standing: those that count as standing where they beat.
            beating: which of those outside count, SURE or both.
            resting: which states outside an assertion may rest on.
        """
        fold, bits = self.fold, self.fold.row_bits

        def counts(row: int) -> bool:
            if bits[row] & OVERRULED:
                return False
            return row in alive if row in self.inside else bool(bits[row] & beating)

        def able(row: int) -> bool:
            return not bits[row] & OVERRULED and not is_replaced(fold, row, counts)

        free = {row for rivals in self.rivals for row in rivals.unbeaten(able, standing.__contains__)}
        waits = dict(self.waits)
        ready = [row for row, left in waits.items() if not left and self.outside[row] & resting]
        found: set[int] = set()
        held: set[int] = set()
        while ready:
            row = ready.pop()
            found.add(row)
            item = fold.row_item[row]
            if row not in free or item in held:
                continue
            held.add(item)
            for other in fold.uses.get(item, ()):
                if other in waits:
                    waits[other] -= 1
                    if not waits[other] and self.outside[other] & resting:
                        ready.append(other)
        return found, found & free
