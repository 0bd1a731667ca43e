"""Taking assertions back, doubting them, letting them age, and putting items in and out of use."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from surefoot.knowledge.store_columns import Standing
from surefoot.knowledge.store_competing import Competing
from surefoot.knowledge.store_marks import ALWAYS, GONE, RESOLVES, TRIAL, bounds
from surefoot.knowledge.support import settle

__all__ = ["Doubting"]


class Doubting(Competing):
    """The columns, and how what is in them is taken back or doubted.

    Example:
        >>> from surefoot.knowledge.store_columns import name_of
        >>> store = Doubting()
        >>> row = store.add(name_of(b'"door"', b'"opens"', b"null"), 0, b'"north"', 3, b"", 0)
        >>> store.retract(0, b"", 1)
        >>> store.rows_of(0), store.gone_of(0)
        ([], [0])
    """

    def retract(self, item: int, by: bytes, seq: int) -> None:
        """Take back what was asserted of an item: everything, or what one writer (encoded) asserted; `seq` says so."""
        rows = self.rows_of(item)
        if by:
            writer = self.writer_id.get(by, -1)
            rows = [row for row in rows if self.row_by[row] == writer]
        self._take_back(rows, seq)

    def forget(self, by: bytes, seq: int) -> None:
        """Take back everything that a writer (encoded) asserted; `seq` says so."""
        self._take_back([row for row in self.rows_by(by) if not self.row_bits[row] & GONE], seq)

    def _take_back(self, rows: list[int], seq: int) -> None:
        seeds: dict[int, None] = {}
        items: dict[int, None] = {}
        for row in rows:
            items[self.row_item[row]] = None
            self.row_bits[row] = self.row_bits[row] & (TRIAL | RESOLVES) | GONE
            seeds |= self._unlink(row)
            self.spans.pop(row, None)
            self.ended[row] = seq
        for item in items:
            seeds[self.item_key[item]] = None
            live, last = [], self.gone.get(item, -1)
            for row in reversed(self.rows_of(item)):
                if self.row_bits[row] & GONE:
                    self.row_before[row] = last
                    last = row
                else:
                    live.append(row)
            self.gone[item] = last
            last = -1
            for row in live:
                self.row_before[row] = last
                last = row
            self.item_row[item] = last
        settle(self, seeds)

    def _unlink(self, row: int) -> dict[int, None]:
        """Let an assertion support and supersede nothing; return the keys that notice."""
        premises = self.premises.get(row, ())
        if not premises and not self.row_bits[row] & TRIAL:
            self.item_ground[self.row_item[row]] -= 1
        for premise in premises:
            _drop(self.uses, premise, row)
        replaced = self.supersedes.get(row, ())
        for other in replaced:
            _drop(self.superseders, other, row)
            self._open_again(other)
        if replaced:
            _drop(self.overrides, self.item_key[self.row_item[row]], row)
        return dict.fromkeys(self.item_key[other] for other in replaced)

    def _open_again(self, item: int) -> None:
        """Give the assertions of an item the intervals that they have without one that superseded it."""
        for row in self.rows_of(item):
            span = bounds(self.valid.get(row))
            if span == ALWAYS:
                self.spans.pop(row, None)
            else:
                self.spans[row] = span
        for by in self.superseders.get(item, ()):
            self._close(item, by)

    def size(self) -> tuple[int, int, int, frozenset[int]]:
        """Return how much there is, for `undo`."""
        return len(self.key_name), len(self.item_key), len(self.writer_name), frozenset(self.dated)

    def flag(self, items: Iterable[int], flag: int) -> None:
        """Doubt what is known of some items until it is confirmed again."""
        self.flags[flag] = Standing(len(self.row_item), tuple(dict.fromkeys(items)))
        for item in self.flags[flag].items:
            self._mark(item).flags.append(flag)
        self._settle_marked(self.flags[flag].items)

    def end_flag(self, flag: int) -> None:
        """Take a doubt back."""
        standing = self.flags.pop(flag)
        for item in standing.items:
            marks = self.marks[item]
            marks.flags.remove(flag)
            if marks.blank:
                del self.marks[item]
        self._settle_marked(standing.items)

    def tick(self, k: int) -> None:
        """Let time pass."""
        self.clock += k
        old = []
        while self._due and self._due[0][0] <= self.clock:
            old.append(heapq.heappop(self._due)[1])
        self._settle_marked(old)

    def promote(self, item: int) -> None:
        """Put an item in force that was on trial or retired."""
        marks = self._mark(item)
        marks.promoted, marks.retired = True, False
        settle(self, [self.item_key[item]])

    def retire(self, item: int) -> None:
        """Take an item out of use."""
        marks = self._mark(item)
        marks.promoted, marks.retired = False, True
        settle(self, [self.item_key[item]])

    def _settle_marked(self, items: Iterable[int]) -> None:
        """Settle what changes because marks of some items did."""
        settle(self, {self.item_key[item]: None for item in items if self.status_now(item) != self.status[item]})

    def undo(self, before: tuple[int, int, int, frozenset[int]]) -> None:
        """Take the last assertion out again, as if it had never been there.

        Args:
            before: what `size` was before it.
        """
        keys, items, writers, dated = before
        row = len(self.row_item) - 1
        item = self.row_item[row]
        k = self.item_key[item]
        seeds = self._unlink(row)
        for kept in (self.premises, self.supersedes, self.valid, self.spans, self.fades):
            kept.pop(row, None)
        self.item_row[item] = self.row_before[row]
        for column in (self.row_item, self.row_seq, self.row_by, self.row_rank, self.row_bits, self.row_before):
            column.pop()
        self.dated = set(dated)
        if len(self.item_key) > items:
            self._remove_item(k)
        if len(self.key_name) > keys:
            del self.key_id[self.key_name.pop()]
            self.key_item.pop()
            self.contests.pop(k, None)
        else:
            seeds[k] = None
        if len(self.writer_name) > writers:
            del self.writer_id[self.writer_name.pop()]
        self._due = [due for due in self._due if due[1] < items]
        heapq.heapify(self._due)
        settle(self, seeds)

    def _remove_item(self, k: int) -> None:
        """Take out the newest item, of key `k`, which nothing speaks of."""
        item = len(self.item_key) - 1
        self.key_item[k] = self.item_before[item]
        known = self.values_of.get(k)
        if known is not None:
            del known[self.item_value[item]]
            if len(known) == 1:
                del self.values_of[k]
        self.marks.pop(item, None)
        for column in (self.item_key, self.item_kind, self.item_value, self.item_row, self.item_best, self.item_before):
            column.pop()
        for more in (self.item_ground, self.item_bits, self.status):
            more.pop()


def _drop(links: dict[int, dict[int, None]], at: int, row: int) -> None:
    """Take a row out of the links of an item or key."""
    rows = links[at]
    del rows[row]
    if not rows:
        del links[at]
