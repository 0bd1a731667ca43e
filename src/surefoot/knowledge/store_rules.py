"""Who wins on a key: what beats what, and what an item is worth once that is settled.

An assertion is *alive* when nobody took it back and each item that it rests on holds. An alive assertion *stands*
when nothing that stands, of another value of the same key, beats it. One assertion *beats* another when they are about
overlapping times, and

1. its source is stronger (outcome, person, spec, verified), or
2. both are outcomes and it is the later one.

An assertion that *supersedes* an item keeps older assertions of it that are not stronger from standing, as long as it
is alive; but one that rests on nothing and is valid from a later time on *closes* them at that time instead. A person
who resolves a question overrules every earlier assertion of the other values. An item *holds* when an assertion of it
stands; items of one key with standing assertions about overlapping times are *contested*.

What is alive may hang on itself through what it beats; then it is neither sure to be alive nor sure not to be, see
`support`. So all of this has three values: sure, perhaps (MAYBE), and no.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from surefoot.knowledge.items import ACTIVE, OUTCOME, PERSON
from surefoot.knowledge.store_marks import (
    ALWAYS,
    CONTESTED,
    FIRM,
    MAYBE,
    OVERRULED,
    PRESENT,
    RESOLVES,
    SURE,
    TRIAL,
    Contest,
    Marks,
    Span,
    bounds,
)

if TYPE_CHECKING:
    from surefoot.knowledge.store_columns import Columns

__all__ = ["Rivals", "stand"]


def overlap(fold: Columns, a: int, b: int) -> bool:
    """Say whether two assertions are about a common moment."""
    return _meet(fold.spans.get(a, ALWAYS), fold.spans.get(b, ALWAYS))


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def closes(fold: Columns, a: int, b: int) -> bool:
    """Say whether assertion `a` replaces `b` from a later time on, so that `b` is right until then."""
    return (
        b < a
        and fold.row_item[b] in fold.supersedes.get(a, ())
        and fold.row_rank[a] >= fold.row_rank[b]
        and a not in fold.premises
        and bounds(fold.valid.get(a))[0] > bounds(fold.valid.get(b))[0]
    )


def beats(fold: Columns, a: int, b: int) -> bool:
    """Say whether assertion `a`, where it stands, beats `b`, which is of another value of the same key."""
    strong, weak = fold.row_rank[a], fold.row_rank[b]
    return (strong > weak or (strong == weak == OUTCOME and a > b)) and overlap(fold, a, b)


def supersedes(fold: Columns, a: int, b: int) -> bool:
    """Say whether assertion `a` replaces the older `b` for good, on whatever key that is, as their times are stated."""
    return (
        a > b
        and fold.row_item[b] in fold.supersedes.get(a, ())
        and fold.row_rank[a] >= fold.row_rank[b]
        and not closes(fold, a, b)
        and _meet(bounds(fold.valid.get(a)), bounds(fold.valid.get(b)))
    )


def overlapping(fold: Columns, rows: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Iterate over the pairs of assertions of different items that are about a common moment.

    Cost: linear in the assertions, apart from sorting them, and in the pairs.
    """
    spans, item_of = fold.spans, fold.row_item
    running: list[tuple[float, int]] = []
    for since, until, row in sorted((*spans.get(row, ALWAYS), row) for row in rows):
        running = [(end, other) for end, other in running if end > since]
        for _, other in running:
            if item_of[other] != item_of[row]:
                yield other, row
        running.append((until, row))


class Rivals:
    """Who beats whom on one key, asked from the strongest and latest assertion down: nothing beats upwards.

    Args:
        fold: what is known.
        k: the key.
        rows: its assertions, in any order.

    Cost: linear, apart from sorting; for a key with validity intervals linear in the pairs that overlap.

    Example:
        >>> from surefoot.knowledge.store_fold import StoreFold
        >>> Rivals(StoreFold(), 0, []).unbeaten(lambda row: True)
        set()
    """

    def __init__(self, fold: Columns, k: int, rows: Iterable[int]) -> None:
        """Put them in order."""
        rank = fold.row_rank
        self.fold = fold
        self.rows = sorted(rows, key=lambda row: (rank[row], row), reverse=True)
        self.by: dict[int, list[int]] | None = None
        if k in fold.dated:
            self.by = {}
            for a, b in overlapping(fold, self.rows):
                if rank[a] != rank[b] or rank[a] == OUTCOME:
                    strong, weak = (a, b) if (rank[a], a) > (rank[b], b) else (b, a)
                    self.by.setdefault(weak, []).append(strong)

    def unbeaten(self, able: Callable[[int], bool], beating: Callable[[int], bool] | None = None) -> set[int]:
        """Return which assertions stand.

        Args:
            able: says of an assertion whether it stands if nothing beats it; asked from the strongest down.
            beating: says of an assertion whether it beats weaker ones; None: those that stand do.
        """
        item_of, rank = self.fold.row_item, self.fold.row_rank
        found: set[int] = set()
        fighting: set[int] = set()
        best = item = second = -1  # the strongest of those that beat, its item, and the strongest of another item
        for row in self.rows:
            if self.by is not None:
                beaten = not fighting.isdisjoint(self.by.get(row, ()))
            else:
                other = second if item_of[row] == item else best
                beaten = other > rank[row] or other == OUTCOME
            if not beaten and able(row):
                found.add(row)
            if row in found if beating is None else beating(row):
                fighting.add(row)
                if item < 0:
                    best, item = rank[row], item_of[row]
                elif second < 0 and item_of[row] != item:
                    second = rank[row]
        return found


def is_replaced(fold: Columns, row: int, counts: Callable[[int], bool]) -> bool:
    """Say whether an assertion is superseded by one that counts as alive."""
    return any(supersedes(fold, a, row) and counts(a) for a in fold.superseders.get(fold.row_item[row], ()))


def revive(fold: Columns, row: int) -> None:
    """Work out whether an assertion is alive, from what it rests on."""
    state = SURE
    for premise in fold.premises.get(row, ()):
        bits = fold.item_bits[premise]
        if not bits & SURE:
            if not bits & MAYBE:
                state = 0
                break
            state = MAYBE
    fold.row_bits[row] = fold.row_bits[row] & ~(SURE | MAYBE) | state


def judge(fold: Columns, k: int) -> None:
    """Work out everything about the items of a key, from what their assertions rest on."""
    rows = {item: fold.rows_of(item) for item in fold.items_of(k)}
    for some in rows.values():
        for row in some:
            revive(fold, row)
    decide(fold, k, rows)
    for item, some in rows.items():
        weigh(fold, item, some)


def decide(fold: Columns, k: int, rows: dict[int, list[int]]) -> None:
    """Work out which items of a key hold and which are contested, from which of their assertions are alive."""
    fold.contests.pop(k, None)
    fold.timelines.pop(k, None)
    every = [row for some in rows.values() for row in some]
    if len(rows) > 1:
        overrule(fold, every)
    sure, likely = stand(fold, k, every)
    item_of = fold.row_item
    held = {item_of[row] for row in sure}
    standing = {item_of[row] for row in likely}
    contested: set[int] = set()
    if len(standing) > 1:
        contested = standing
        if k in fold.dated:
            contested = {item_of[row] for pair in overlapping(fold, likely) for row in pair}
    for item in rows:
        state = SURE if item in held else MAYBE if item in standing else 0
        fold.item_bits[item] = fold.item_bits[item] & (FIRM | PRESENT) | state | (CONTESTED if item in contested else 0)
    if len(rows) > 1 and held == standing and not any(row in fold.premises for row in every):
        if k not in fold.dated:
            alive = (fold.row_rank[row] for row in every if not fold.row_bits[row] & OVERRULED)
            fold.contests[k] = Contest(max(alive, default=-1), held)
        else:
            fold.timelines[k] = {row: fold.spans.get(row, ALWAYS) for row in sure}


def stand(fold: Columns, k: int, rows: list[int]) -> tuple[set[int], set[int]]:
    """Return which of the assertions of a key stand for sure, and which for sure or perhaps.

    Args:
        fold: what is known; it says which assertions are alive, and which overruled.
        k: the key.
        rows: its live assertions.

    Example:
        >>> from surefoot.knowledge.store_fold import StoreFold
        >>> stand(StoreFold(), 0, [])
        (set(), set())
    """
    bits = fold.row_bits

    def sure(row: int) -> bool:
        return bits[row] & (SURE | OVERRULED) == SURE

    def likely(row: int) -> bool:
        return bool(bits[row] & (SURE | MAYBE)) and not bits[row] & OVERRULED

    alive = [row for row in rows if likely(row)]
    items = {fold.row_item[row] for row in alive}
    replacing = {a for item in items for a in fold.superseders.get(item, ())}
    if not any(bits[row] & MAYBE for row in (*alive, *replacing)):
        if len(items) > 1:
            found = Rivals(fold, k, alive).unbeaten(lambda row: not is_replaced(fold, row, sure))
        else:
            found = {row for row in alive if not is_replaced(fold, row, sure)} if replacing else set(alive)
        return found, found
    rivals = Rivals(fold, k, alive)
    least: set[int] = set()
    while True:  # each pass settles one rank, or one later outcome, more
        most = rivals.unbeaten(lambda row: not is_replaced(fold, row, sure), least.__contains__)
        more = rivals.unbeaten(lambda row: sure(row) and not is_replaced(fold, row, likely), most.__contains__)
        if more == least:
            return least, most
        least = more


def overrule(fold: Columns, rows: list[int]) -> None:
    """Mark which of all the assertions of a key later answers to questions overrule."""
    bits, item_of = fold.row_bits, fold.row_item
    answers = [row for row in rows if bits[row] & RESOLVES]
    for row in rows:
        bits[row] &= ~OVERRULED
        for a in answers:
            if a > row and item_of[a] != item_of[row] and overlap(fold, a, row):
                bits[row] |= OVERRULED
                break


def weigh(fold: Columns, item: int, rows: list[int]) -> None:
    """Work out what else there is to say about an item, once it is known whether it holds, and its status."""
    bits, rank = fold.row_bits, fold.row_rank
    marks = fold.marks.get(item)
    alive = [row for row in rows if bits[row] & SURE]
    likely = alive or [row for row in rows if bits[row] & MAYBE]
    state = fold.item_bits[item] & (SURE | MAYBE | CONTESTED)
    if likely:
        state |= PRESENT
    if any(is_firm(fold, row, marks) for row in alive):
        state |= FIRM
    fold.item_bits[item] = state
    best = max(likely, key=lambda row: (rank[row], row), default=-1)
    fold.item_best[item] = best if best >= 0 else rows[0] if rows else fold.gone[item]
    if marks is not None:
        if marks.aging and not any(row in fold.fades for row in rows):
            marks.aging = False
        if marks.blank:
            del fold.marks[item]
        else:
            age(fold, marks, alive)
    fold.set_status(item)


def age(fold: Columns, marks: Marks, alive: list[int]) -> None:
    """Work out an item's ages from its alive assertions."""
    marks.first = min(alive, default=-1)
    marks.confirmed = max((row for row in alive if fold.row_rank[row] >= PERSON), default=-1)
    fades = [fold.fades.get(row) for row in alive]
    marks.fades = max((tick for tick in fades if tick is not None), default=None) if None not in fades else None


def is_firm(fold: Columns, row: int, marks: Marks | None) -> bool:
    """Say whether an alive assertion makes its item active: it counts, and all that it rests on is active."""
    if fold.row_bits[row] & TRIAL and not (marks is not None and marks.promoted):
        return False
    return all(fold.status[premise] == ACTIVE for premise in fold.premises.get(row, ()))
