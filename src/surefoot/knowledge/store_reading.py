"""From the columns and the journal to what people read: items, questions, explanations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from surefoot import values
from surefoot.journal import Journal
from surefoot.knowledge.fact_events import fact_event_of
from surefoot.knowledge.items import (
    DISPUTED,
    EXPIRED,
    HYPOTHESIS,
    KINDS,
    REFUTED,
    RETRACTED,
    SOURCES,
    STATUSES,
    Assertion,
    Explanation,
    Flag,
    Interval,
    Item,
    Key,
    Question,
    Side,
    said,
    shown,
)
from surefoot.knowledge.store_columns import Columns
from surefoot.knowledge.store_marks import ALWAYS, GONE, MAYBE, OVERRULED, PRESENT, RESOLVES, SURE, TRIAL, as_interval
from surefoot.knowledge.store_rules import beats, overlap, stand, supersedes

__all__ = ["show"]

_text = msgspec.json.Decoder(str | None).decode


def show(fold: Columns, item: int) -> Item:
    """Return an item as it stands.

    Example:
        >>> from surefoot.knowledge.store_fold import StoreFold
        >>> fold = StoreFold()
        >>> fold.takers()["fact"](b'{"o":"north","r":"opens","s":"door","source":"outcome"}', 0)
        >>> fold.check_new()
        >>> show(fold, 0).o
        'north'
    """
    body, scope = fold.body_of(item)
    best = fold.item_best[item]
    valid: tuple[Interval, ...] = ()
    if fold.item_key[item] in fold.dated:
        alive = [row for row in fold.rows_of(item) if fold.row_bits[row] & SURE]
        spans = dict.fromkeys(fold.spans.get(row, ALWAYS) for row in reversed(alive))
        if ALWAYS not in spans:
            valid = tuple(interval for interval in map(as_interval, spans) if interval is not None)
    return Item(
        fold.id_of(item),
        KINDS[fold.item_kind[item]],
        STATUSES[fold.status[item]],
        SOURCES[fold.row_rank[best]],
        _writer(fold, best),
        fold.row_seq[best],
        valid,
        body,
        scope,
    )


def _writer(fold: Columns, row: int) -> str | None:
    name = fold.writer_name[fold.row_by[row]]
    return _text(name) if name else None


def valid_at(fold: Columns, item: int, at: float) -> bool:
    """Say whether a standing assertion of an item is about a moment."""
    k = fold.item_key[item]
    if k not in fold.dated:
        return True
    rows = [row for other in fold.items_of(k) for row in fold.rows_of(other)]
    for row in stand(fold, k, rows)[0]:
        since, until = fold.spans.get(row, ALWAYS)
        if fold.row_item[row] == item and since <= at < until:
            return True
    return False


def rests_on(fold: Columns, items: Iterable[int]) -> list[int]:
    """Return all that the live assertions of some items rest on, directly or not, in order; not the items themselves.

    Cost: linear in what is found.
    """
    first = list(items)
    found: dict[int, None] = {}
    todo = list(first)
    while todo:
        for row in fold.rows_of(todo.pop()):
            if fold.row_bits[row] & (SURE | MAYBE):
                for premise in fold.premises.get(row, ()):
                    if premise not in found:
                        found[premise] = None
                        todo.append(premise)
    return sorted(found.keys() - set(first))


def question_about(fold: Columns, k: int) -> Question | None:
    """Return the open question about a key, None when there is none."""
    items = [item for item in reversed(fold.items_of(k)) if fold.item_bits[item] & PRESENT]
    if len(items) < 2 or not any(fold.status[item] == DISPUTED for item in items):
        return None
    sides = [item for item in items if fold.status[item] == DISPUTED]
    s, r, scope = (values.decode(part) for part in fold.key_name[k].split(b"\n"))
    return Question(Key(scope, s, r), tuple(_side(fold, item) for item in (sides if len(sides) > 1 else items)))


def _side(fold: Columns, item: int) -> Side:
    rows = [row for row in reversed(fold.rows_of(item)) if fold.row_bits[row] & (SURE | MAYBE)]
    names = dict.fromkeys(name for name in (_writer(fold, row) for row in rows) if name is not None)
    source = SOURCES[fold.row_rank[fold.item_best[item]]]
    return Side(values.decode(fold.item_value[item]), fold.id_of(item), source, tuple(names))


def explain(fold: Columns, journal: Journal, item: int) -> Explanation:
    """Return why an item is what it is.

    Cost: linear in the assertions of its key, whose entries are read.
    """
    rows = sorted((*fold.rows_of(item), *fold.gone_of(item)))
    told = [_assertion(fold, journal, row) for row in rows]
    alive = [row for row in rows if fold.row_bits[row] & (SURE | MAYBE)]
    against = _against(fold, item, alive)
    premises = dict.fromkeys(premise for row in alive for premise in fold.premises.get(row, ()))
    refuted_by = tuple((show(fold, fold.row_item[row]), _assertion(fold, journal, row)) for row in against)
    marks = fold.marks.get(item)
    flags = tuple(_flag(journal, flag) for flag in (marks.flags if marks is not None else ()))
    entries = {a.seq for a in told} | {a.ended for a in told if a.ended is not None}
    entries |= {a.seq for _, a in refuted_by} | {flag.id for flag in flags}
    return Explanation(
        show(fold, item),
        tuple(_reasons(fold, item, alive, refuted_by, flags)),
        tuple(told),
        tuple(show(fold, premise) for premise in premises),
        refuted_by,
        flags,
        tuple(sorted(entries)),
    )


def _assertion(fold: Columns, journal: Journal, row: int) -> Assertion:
    """Return one assertion, with what its entry says, and the entry that took it back."""
    told = _fields(journal, fold.row_seq[row])
    ended = fold.ended.get(row)
    end = {} if ended is None else _fields(journal, ended)
    bits = fold.row_bits[row]
    return Assertion(
        fold.row_seq[row],
        SOURCES[fold.row_rank[row]],
        _writer(fold, row),
        _standing(fold, row),
        tuple(fold.id_of(premise) for premise in fold.premises.get(row, ())),
        tuple(fold.id_of(other) for other in fold.supersedes.get(row, ())),
        fold.valid.get(row),
        told.get("reconfirm_after"),
        bool(bits & TRIAL),
        bool(bits & RESOLVES),
        ended,
        end.get("by"),
        values.encode(told.get("evidence", told.get("why"))),
        values.encode(end.get("why")),
    )


def _fields(journal: Journal, seq: int) -> dict[str, Any]:
    """Return what an entry says."""
    (entry,) = journal.entries(seq, seq + 1)
    return fact_event_of(entry.kind, entry.raw).fields


def _standing(fold: Columns, row: int) -> str:
    bits = fold.row_bits[row]
    if bits & GONE:
        return "retracted"
    if bits & OVERRULED:
        return "overruled"
    if not bits & SURE:
        return "undecided" if bits & MAYBE else "without support"
    return "counts" if fold.item_bits[fold.row_item[row]] & (SURE | MAYBE) else "refuted"


def _against(fold: Columns, item: int, alive: list[int]) -> list[int]:
    """Return the alive assertions that beat one of an item's, or that it is in dispute with, the oldest first."""
    k, bits = fold.item_key[item], fold.row_bits
    found = [
        a
        for a in fold.superseders.get(item, ())
        if bits[a] & (SURE | MAYBE) and any(supersedes(fold, a, b) for b in alive)
    ]
    if fold.status[item] not in (REFUTED, DISPUTED):
        return []
    for other in fold.items_of(k):
        if other == item:
            continue
        for a in fold.rows_of(other):
            if not bits[a] & (SURE | MAYBE) or bits[a] & OVERRULED:
                continue
            if fold.status[item] == REFUTED:
                hit = any(beats(fold, a, b) or (bits[b] & OVERRULED and bits[a] & RESOLVES) for b in alive)
            else:
                hit = fold.status[other] == DISPUTED and any(overlap(fold, a, b) for b in alive)
            if hit:
                found.append(a)
    return sorted(set(found))


def _reasons(
    fold: Columns, item: int, alive: list[int], against: tuple[tuple[Item, Assertion], ...], flags: tuple[Flag, ...]
) -> list[str]:
    """Say in words why an item is not active."""
    status, marks = fold.status[item], fold.marks.get(item)
    if status == RETRACTED:
        gone = any(not fold.row_bits[row] & GONE for row in fold.rows_of(item))
        return ["nothing that it rests on holds any more" if gone else "everything said of it was taken back"]
    if status in (REFUTED, DISPUTED):
        word = "refuted by" if status == REFUTED else "in dispute with"
        told = [
            f"{word} {other.id[:12] if other.key is None else shown(other.o)} ({said(a.source, a.by)}, entry {a.seq})"
            for other, a in against
        ]
        return told or ["undecided: it hangs on an open question, or on itself through what it refutes"]
    if status == EXPIRED and marks is not None:
        return ["retired" if marks.retired else f"not confirmed again before tick {marks.fades}"]
    if status != HYPOTHESIS:
        return []
    if flags and marks is not None and marks.first < fold.flags[flags[-1].id].rows > marks.confirmed:
        return [f"in doubt since entry {flag.id}{f': {flag.why}' if flag.why else ''}" for flag in flags[-1:]]
    weak = dict.fromkeys(p for row in alive for p in fold.premises.get(row, ()) if fold.status[p])
    told = [f"rests on what is {STATUSES[fold.status[premise]]}: {fold.id_of(premise)[:12]}" for premise in weak]
    return told or ["on trial: not promoted yet"]


def _flag(journal: Journal, flag: int) -> Flag:
    fields = _fields(journal, flag)
    return Flag(flag, fields.get("why"), fields.get("by"))
