"""Taking assertions in: what one more changes on its own key, in constant time where nothing else can notice.

Where something else may notice, `support.settle` works everything out; the quick ways here give the same. Each says
whether it could be gone: False means that nothing was done.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

from surefoot.errors import UnknownFormat
from surefoot.knowledge.items import ACTIVE, FACT, OUTCOME, RETRACTED, Interval
from surefoot.knowledge.store_columns import Columns
from surefoot.knowledge.store_marks import (
    ALWAYS,
    CONTESTED,
    FIRM,
    MAYBE,
    PRESENT,
    RESOLVES,
    SURE,
    TRIAL,
    Contest,
    Marks,
    Span,
    bounds,
)
from surefoot.knowledge.store_rules import age, closes, is_firm, revive, supersedes
from surefoot.knowledge.support import settle

__all__ = ["Competing", "Details"]


class Details(NamedTuple):
    """What few assertions have.

    Attributes:
        premises: the items it rests on, each once.
        supersedes: the items it replaces, each once.
        valid: the interval it is about; None: always.
        reconfirm_after: after how many ticks it is too old; 0: never.
        trial: it counts only after a promotion.
        resolves: a person answers a question with it.

    Example:
        >>> Details(premises=(3, 4)).trial
        False
    """

    premises: tuple[int, ...] = ()
    supersedes: tuple[int, ...] = ()
    valid: Interval | None = None
    reconfirm_after: int = 0
    trial: bool = False
    resolves: bool = False


class Competing(Columns):
    """The columns, and how an assertion gets into them.

    Example:
        >>> from surefoot.knowledge.store_columns import name_of
        >>> store = Competing()
        >>> store.add(name_of(b'"door"', b'"opens"', b"null"), 0, b'"north"', 3, b"", 0)
        0
    """

    def add(
        self, name: bytes, kind: int, value: bytes, rank: int, by: bytes, seq: int, details: Details | None = None
    ) -> int:
        """Take an assertion in and return its number.

        Args:
            name: of the key, see `key_name`.
            kind: an index into KINDS.
            value: the encoded value of a fact; nothing for others.
            rank: an index into SOURCES.
            by: the encoded name of the writer, or nothing.
            seq: the journal entry.
            details: what few assertions have.

        Cost: constant, unless it changes what something else rests on.
        """
        k = self.key_id.get(name)
        if k is None:
            k = self.key_id[name] = len(self.key_name)
            self.key_name.append(name)
            self.key_item.append(-1)
            item = self._item(k, kind, value)
        else:
            item = self.item_with(k, value)
            if item < 0:
                item = self._item(k, kind, value)
        if details is not None and item in details.premises:
            raise UnknownFormat("an item rests on itself")
        row = len(self.row_item)
        self.row_item.append(item)
        self.row_seq.append(seq)
        self.row_rank.append(rank)
        self.row_by.append(self.writer(by))
        self.row_before.append(self.item_row[item])
        self.item_row[item] = row
        if details is None:
            self.row_bits.append(SURE)
            self.item_ground[item] += 1
            plain = True
        else:
            plain = self._detail(k, item, row, details)
        if not (plain and self._stands(k, item, row, rank)):
            settle(self, {k, *(self.item_key[other] for other in self.supersedes.get(row, ()))})
        return row

    def _item(self, k: int, kind: int, value: bytes) -> int:
        """Add an item of which nothing is known yet."""
        item = len(self.item_key)
        self.item_key.append(k)
        self.item_kind.append(kind)
        self.item_value.append(value)
        self.item_row.append(-1)
        self.item_best.append(-1)
        self.item_ground.append(0)
        self.item_bits.append(0)
        self.status.append(RETRACTED)
        before = self.key_item[k]
        self.item_before.append(before)
        self.key_item[k] = item
        if before >= 0:
            known = self.values_of.get(k)
            if known is None:
                known = self.values_of[k] = {self.item_value[before]: before}
            known[value] = item
        return item

    def _detail(self, k: int, item: int, row: int, details: Details) -> bool:
        """Write down what few assertions have; return whether the quick way may be tried."""
        self.row_bits.append((TRIAL if details.trial else 0) | (RESOLVES if details.resolves else 0))
        if details.premises:
            self.premises[row] = tuple(dict.fromkeys(details.premises))
            for premise in self.premises[row]:
                self.uses.setdefault(premise, {})[row] = None
        elif not details.trial:
            self.item_ground[item] += 1
        if details.valid is not None:
            self.valid[row], self.spans[row] = details.valid, bounds(details.valid)
            self.dated.add(k)
        if details.supersedes:
            self.supersedes[row] = tuple(dict.fromkeys(details.supersedes))
            self.overrides.setdefault(k, {})[row] = None
            for other in self.supersedes[row]:
                if self.item_kind[item] == FACT and self.item_key[other] != k:
                    raise UnknownFormat("a fact supersedes what is no other value of its key")
                self.superseders.setdefault(other, {})[row] = None
                self._close(other, row)
        if details.reconfirm_after:
            self.fades[row] = self.clock + details.reconfirm_after
            heapq.heappush(self._due, (self.fades[row], item))
            self._mark(item).aging = True
        revive(self, row)
        return bool(self.row_bits[row] & SURE) and not details.resolves

    def _close(self, item: int, by: int) -> None:
        """Let an assertion that supersedes an item end what it closes."""
        for row in self.rows_of(item):
            if closes(self, by, row):
                since, until = self.spans.get(row, ALWAYS)
                self.spans[row] = since, min(until, self.spans[by][0])
                self.dated.add(self.item_key[item])

    def _stands(self, k: int, item: int, row: int, rank: int) -> bool:
        """Take in an alive assertion, the newest, where only its own key is touched."""
        if item in self.superseders:
            return False
        if self.key_item[k] == item and self.item_before[item] < 0:
            if row in self.supersedes or self.item_bits[item] & MAYBE:
                return False
            return self._support(item, row, rank, self.item_bits[item] | SURE | PRESENT)
        if row in self.premises:
            return False
        if k in self.dated:
            standing = self.timelines.get(k)
            return standing is not None and self._compete_in_time(standing, item, row, rank)
        contest = self.contests.get(k) or self._first_contest(k, item, row)
        return contest is not None and self._compete(contest, item, row, rank)

    def _first_contest(self, k: int, item: int, row: int) -> Contest | None:
        """Return where a key stands that had one value until now, None when that is not simple."""
        first = self.item_before[item]
        new = self.row_before[row] < 0 and item not in self.gone
        if not new or self.item_before[first] >= 0 or self.item_bits[first] & MAYBE:
            return None
        rows = self.rows_of(first)
        if any(other in self.premises for other in rows):
            return None
        top = max((self.row_rank[other] for other in rows), default=-1)
        contest = self.contests[k] = Contest(top, {first} if self.item_bits[first] & SURE else set())
        return contest

    def _compete(self, contest: Contest, item: int, row: int, rank: int) -> bool:
        """Let a new assertion compete on a key with several values, none of which rests on anything."""
        held, replaced = contest.held, self.supersedes.get(row, ())
        losers: list[int] = []
        if rank == OUTCOME or rank > contest.top:
            losers = [other for other in held if other != item]
        elif rank == contest.top:
            losers = [other for other in replaced if other in held]
        holds = rank >= contest.top or item in held
        size = len(held) - len(losers) + (holds and item not in held)
        contested = [other for other in held if other not in losers] if len(held) == 1 < size else []
        if any(other in self.uses for other in (*losers, *contested)):
            return False
        state = SURE | (CONTESTED if size > 1 else 0) if holds else 0
        if not self._support(item, row, rank, self.item_bits[item] & FIRM | PRESENT | state):
            return False
        held.difference_update(losers)
        if holds:
            held.add(item)
        contest.top = max(contest.top, rank)
        self._tell(losers, contested)
        return True

    def _support(self, item: int, row: int, rank: int, bits: int) -> bool:
        """Count one more alive assertion for an item; False, and nothing done, where others would notice."""
        marks = self.marks.get(item)
        if not bits & FIRM and is_firm(self, row, marks):
            bits |= FIRM
        old = self.item_bits[item]
        ages = (
            (-1, -1, None)
            if marks is None
            else marks.with_one_more(row, rank, self.fades.get(row), bool(old & PRESENT))
        )
        status = self.status_of(bits, marks, ages)
        if item in self.uses and ((old ^ bits) & (SURE | MAYBE) or (status == ACTIVE) != (self.status[item] == ACTIVE)):
            return False
        best = self.item_best[item]
        if not old & PRESENT or rank >= self.row_rank[best]:
            self.item_best[item] = row
        self.item_bits[item] = bits
        if marks is not None:
            marks.first, marks.confirmed, marks.fades = ages
        if status != self.status[item]:
            self.note(item, self.status[item])
            self.status[item] = status
        return True

    def _compete_in_time(self, standing: dict[int, Span], item: int, row: int, rank: int) -> bool:
        """Let a new assertion compete on a key with intervals, where nothing rests on anything."""
        since, until = self.spans.get(row, ALWAYS)
        replaced = self.supersedes.get(row, ())
        closed = [other for older in replaced for other in self.rows_of(older) if closes(self, row, other)]
        lost: list[int] = []
        rivals: dict[int, None] = {}
        stands = True
        for other, (start, end) in standing.items():
            if self.row_item[other] == item or other in closed:
                continue
            if self.row_item[other] in replaced and supersedes(self, row, other):
                lost.append(other)
            elif start < until and since < end:
                theirs = self.row_rank[other]
                if theirs > rank:
                    stands = False
                elif theirs < rank or rank == OUTCOME:
                    lost.append(other)
                else:
                    rivals[self.row_item[other]] = None
        touched = {self.row_item[other] for other in (*lost, *closed)}
        if touched or replaced:  # what these kept from standing must be kept from it by the new one
            covered = all(since <= standing[other][0] and standing[other][1] <= until for other in lost)
            kept = all(other in standing and standing[other][1] <= until for other in closed)
            mine = all(other in standing for other in self.rows_of(item) if other != row)
            if not (stands and covered and kept and mine) or any(self.item_bits[i] & CONTESTED for i in touched):
                return False
        contested = rivals if stands else {}
        fallen = {self.row_item[other] for other in lost}
        if fallen:
            gone = set(lost)
            fallen -= {self.row_item[other] for other in standing if other not in gone}
        if any(other in self.uses for other in (*contested, *fallen)):
            return False
        bits = self.item_bits[item] & (FIRM | SURE | CONTESTED) | PRESENT
        bits |= (SURE | (CONTESTED if contested else 0)) if stands else 0
        if not self._support(item, row, rank, bits):
            return False
        for other in lost:
            del standing[other]
        for other in closed:
            standing[other] = self.spans[other]
        if stands:
            standing[row] = since, until
        self._tell(fallen, contested)
        return True

    def _tell(self, fallen: Iterable[int], contested: Iterable[int]) -> None:
        """Let items hold no longer, and others be contested."""
        for item in fallen:
            self.item_bits[item] &= FIRM | PRESENT
            self.set_status(item)
        for item in contested:
            self.item_bits[item] |= CONTESTED
            self.set_status(item)

    def _mark(self, item: int) -> Marks:
        """Return an item's marks, made when it has none."""
        marks = self.marks.get(item)
        if marks is None:
            marks = self.marks[item] = Marks()
            age(self, marks, [row for row in self.rows_of(item) if self.row_bits[row] & SURE])
        return marks
