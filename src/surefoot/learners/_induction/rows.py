"""The observed calls of one action: what each was, and the values of its terms as columns."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.learners._induction.columns import Frame
from surefoot.learners._induction.finding import grow
from surefoot.learners._induction.fitting import fit
from surefoot.learners._induction.growing import Growth
from surefoot.learners._induction.memory import PLAIN, Memory, reduced
from surefoot.learners._induction.operations import is_number
from surefoot.learners._induction.programs import Program
from surefoot.learners._induction.snapshots import Shelf
from surefoot.learners._induction.terms import Term
from surefoot.learners._induction.widening import widen

__all__ = ["Rows"]

SAMPLE = 64
"""How many calls are looked at to find terms."""
FIRST = 4
"""At twice so few calls terms are looked for again."""
MOST = 4096
"""Of an action at most so many accepted calls, and so many refused ones, are kept: those of the lowest hashes."""
MOST_ODD = 512
"""Beyond these, so many that went against what was said of them are kept."""
UNEXPLAINED = 3
"""So many refusals without a reason at least, ..."""
FEW_UNEXPLAINED = 0.02
"""... and more than this share of them, are worth looking for dearer terms."""
SLACK = 1.25
"""Calls are let go of when there are this many times too many."""
BLOCK = 64
"""The terms' values of so many calls are put into the columns at once."""


_HIGHEST = (1 << 128) - 1


class Rows:
    """The calls of one action, in the order of observation.

    Attributes:
        kept: what finds each call on the shelf.
        refused: whether each was refused.
        messages: the class of each refusal's message, -1 where there was none.
        seqs: the places in the journal, None without one.
        amounts: by place of an accepted call, the numbers in its effect (their absolute values, to the cent).
        touched: (part of the state, field) that the effects of accepted calls name.
        terms: what is read of each call.
        wide: whether there are dearer terms, since refusals stayed without a reason.
        totals: how many calls were accepted and refused, kept or not.
        digest: of all calls ever appended, whatever their order: the sum of their hashes.
    """

    def __init__(self, shelf: Shelf) -> None:
        """Start with nothing."""
        self._shelf = shelf
        self.kept: list[tuple[int, ...]] = []
        self.refused: list[bool] = []
        self.messages: list[int] = []
        self.seqs: list[int | None] = []
        self.touched: set[tuple[str, str]] = set()
        self.amounts: dict[int, frozenset[float]] = {}
        self.terms: list[Term] = []
        self.totals = [0, 0]
        self.digest = 0
        self._marks: list[int] = []
        self._hashes: list[int] = []
        self._odd: list[bool] = []
        self._limits = [_HIGHEST, _HIGHEST]
        self._memory = Memory()
        self._program = Program(())
        self._slots: list[int] = []
        self._grown = 0
        self._table = _empty(0, 0)
        self._filled = 0
        self._tail: list[list[Any]] = []
        self._names: set[str] = set()
        self._named: frozenset[str] = frozenset()
        self._tried = 0
        self.wide = False
        self._growth = Growth((), frozenset())
        self._plain: list[Term] = []

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.kept)

    @property
    def total(self) -> int:
        """Return how many calls were appended, kept or not."""
        return sum(self.totals)

    def add(
        self,
        kept: tuple[int, ...],
        state: Any,
        args: Mapping[str, Any],
        refused: bool,
        message: int = -1,
        seq: int | None = None,
        *,
        odd: bool = False,
    ) -> None:
        """Append a call; `state` may be its slice. When there are too many, one that is not `odd` may not be kept."""
        data = self._shelf.bytes_of(kept)
        place = int.from_bytes(hashlib.blake2b(data, digest_size=16, key=b"%d" % refused).digest(), "little")
        self.totals[refused] += 1
        self.digest = (self.digest + place) & _HIGHEST
        self._names.update(args)
        if place > self._limits[refused] and not odd:
            self._shelf.drop(kept)
            return
        self.kept.append(kept)
        self.refused.append(refused)
        self.messages.append(message)
        self.seqs.append(seq)
        self._marks.append(zlib.crc32(data))
        self._hashes.append(place)
        self._odd.append(odd)
        if self.terms:
            found = self._program.run(state, args)
            self._tail.append([found[at] for at in self._slots])
            if len(self._tail) >= BLOCK:
                self._fill()
        if len(self) > SLACK * (2 * MOST + MOST_ODD):
            self.trim()

    def trim(self) -> None:
        """Let go of what there is too much of. What stays does not depend on the order, but for what was odd."""
        places: set[int] = set()
        for refused in (False, True):
            mine = sorted((self._hashes[at], at) for at, bad in enumerate(self.refused) if bad == refused)
            if len(mine) > MOST:
                self._limits[refused] = min(self._limits[refused], mine[MOST - 1][0])
            places.update(at for _, at in mine[:MOST])
            places.update([at for _, at in mine[MOST:] if self._odd[at]][: MOST_ODD // 2])
        if len(places) == len(self):
            return
        stay = sorted(places)
        for at in set(range(len(self))) - places:
            self._shelf.drop(self.kept[at])
        moved = {at: new for new, at in enumerate(stay)}
        self.amounts = {moved[at]: found for at, found in self.amounts.items() if at in moved}
        if self.terms:
            self._fill()
            self._table, self._filled = self._table[:, stay], len(stay)
        lists: list[list[Any]] = [self.kept, self.refused, self.messages, self.seqs]
        for held in (*lists, self._marks, self._hashes, self._odd):
            held[:] = [held[at] for at in stay]
        self._memory = Memory()

    @property
    def columns(self) -> list[NDArray[Any]]:
        """Return the values of each term on all calls, as arrays of objects: the garbage collector passes them by."""
        self._fill()
        return list(self._table[:, : self._filled])

    def _fill(self) -> None:
        """Put the values of the calls that came last into the columns."""
        size = self._filled + len(self._tail)
        if size > self._table.shape[1]:
            table = _empty(len(self.terms), max(2 * self._filled, size))
            table[:, : self._filled] = self._table[:, : self._filled]
            self._table = table
        for column, values in zip(self._table, zip(*self._tail, strict=True), strict=False):
            column[self._filled : size] = _reduced(values)
        self._filled = size
        self._tail.clear()

    def due(self) -> bool:
        """Say whether to look for more terms: at twice the first few calls, later at three or four times as many."""
        return self.total >= (2 if self._grown < FIRST else 3 if self._grown < SAMPLE else 4) * self._grown

    def regrow(self) -> None:
        """Look for terms again, in a sample that does not depend on the order of observation."""
        order = sorted(range(len(self)), key=lambda at: (self._marks[at], self.kept[at]))[:SAMPLE]
        sample = [self._shelf.get(self.kept[at]) for at in order]
        self._grown = self.total
        names = frozenset(self._names)
        if names != self._named:  # parts of the state that are named as a new argument are said in other words now
            self._forget(names)
        self._growth = grow(sample, names)
        self._plain = self._growth.offered
        self._take(self._more() if self.wide else self._plain)

    def _forget(self, names: frozenset[str]) -> None:
        """Start anew with the terms, for other names of arguments."""
        self._named, self.terms, self._memory = names, [], Memory()
        self._table, self._filled = _empty(0, len(self)), len(self)
        self._tail.clear()

    def _more(self) -> list[Term]:
        """Return the terms there are with dearer ones."""
        widen(self._growth)
        terms = self._growth.offered
        self._take(terms)
        return [*terms, *fit(terms, self.columns, self.refused, self._marks)]

    def _take(self, terms: list[Term]) -> None:
        """Read these terms from now on, and of the calls that there are those that are new."""
        self._fill()
        known = {term.key: at for at, term in enumerate(self.terms)}
        fresh = [term for term in terms if term.key not in known]
        table = _empty(len(terms), len(self))
        for column, term in zip(table, terms, strict=True):
            if term.key in known:
                column[:] = self._table[known[term.key], : self._filled]
        if fresh:
            program = Program(fresh)
            slots = [program.index[t.key] for t in fresh]
            places = [at for at, term in enumerate(terms) if term.key not in known]
            for start in range(0, len(self), BLOCK):
                read = [program.run(*self._shelf.get(kept)) for kept in self.kept[start : start + BLOCK]]
                for at, slot in zip(places, slots, strict=True):
                    table[at, start : start + BLOCK] = _reduced([found[slot] for found in read])
        self._table, self._filled = table, len(self)
        self.terms = terms
        self._memory.keep({t.key for t in terms})
        self._program = Program(terms)
        self._slots = [self._program.index[t.key] for t in terms]

    def widen(self, leftover: int) -> bool:
        """Look for dearer terms when enough refusals have no reason, and not in vain shortly before; say so."""
        if (
            self.wide
            or leftover < max(UNEXPLAINED, FEW_UNEXPLAINED * sum(self.refused))
            or self.total < 2 * self._tried
        ):
            return False
        self.wide, self._tried = True, self.total
        self._take(self._more())
        return True

    def narrow(self) -> None:
        """Do without dearer terms again."""
        self.wide = False
        self._take(self._plain)

    def anew(self) -> None:
        """Find terms as if all calls had come at once."""
        self.trim()
        self.wide, self._tried = False, 0
        self.regrow()

    def frame(self) -> Frame:
        """Return the columns as arrays."""
        messages = np.array(self.messages, dtype=np.int64)
        frame = Frame(
            self.terms,
            self.columns,
            np.array(self.refused, dtype=bool),
            frozenset(self.touched),
            messages,
            self._memory,
        )
        frame.computed = self.computed()
        frame.seqs = list(self.seqs)
        return frame

    def absorb(self, other: Rows) -> None:
        """Count what another holds no longer, after all that it still holds was added here."""
        for refused, total in enumerate(other.totals):
            self.totals[refused] += total - sum(bad == refused for bad in other.refused)
            self._limits[refused] = min(self._limits[refused], other._limits[refused])
        self.digest = (self.digest + other.digest - sum(other._hashes)) & _HIGHEST
        self.touched |= other.touched

    def touch(self, effect: Any) -> None:
        """Remember what the call that was appended last has changed."""
        if len(self.touched) < 4096:
            _places(effect, self.touched)
        found: set[float] = set()
        _amounts(effect, found)
        self.amounts[len(self) - 1] = frozenset(found)

    def computed(self) -> frozenset[str]:
        """Return the terms whose numbers the effects of accepted calls hold: what the action computes."""
        if not self.amounts:
            return frozenset()
        found = []
        for term, column in zip(self.terms, self.columns, strict=True):
            if term.rank or term.op == "len" or len(self.amounts) < 4:
                continue
            right = wrong = 0
            for row, amounts in self.amounts.items():
                value = column[row]
                if is_number(value) and abs(value) >= 0.005:
                    if round(abs(value), 2) in amounts:
                        right += 1
                    else:
                        wrong += 1
                        if wrong > 3 and wrong > right:
                            break
            if right >= 4 and right >= 3 * wrong:
                found.append(term.key)
        return frozenset(found)


def _empty(terms: int, calls: int) -> NDArray[Any]:
    return np.empty((terms, calls), dtype=object)


def _reduced(values: Sequence[Any]) -> NDArray[Any]:
    """Return values as a column keeps them, each as one object."""
    found: Iterable[Any] = (value if type(value) in PLAIN else reduced(value) for value in values)
    return np.fromiter(found, dtype=object, count=len(values))


def _amounts(value: Any, found: set[float]) -> None:
    if is_number(value):
        found.add(round(abs(value), 2))
    elif isinstance(value, list | tuple):
        for part in value:
            _amounts(part, found)
    elif isinstance(value, dict):
        for part in value.values():
            _amounts(part, found)


def _places(value: Any, found: set[tuple[str, str]]) -> None:
    """Collect (part of the state, field) of what an effect names: paths, or the names of what is set."""
    if isinstance(value, list | tuple):
        names = [part for part in value if isinstance(part, str)]
        if len(names) > 1 and all(isinstance(part, str | int) for part in value):
            found.add((names[0], names[-1]))
        else:
            for part in value:
                _places(part, found)
    elif isinstance(value, dict):
        for name, part in value.items():
            if isinstance(part, dict | list | tuple):
                _places(part, found)
            found.add(("", str(name)))
